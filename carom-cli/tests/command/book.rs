//! The book as a site, the gallery, and figures that are reproduced one after the other.

use super::session::Session;
use std::path::Path;

/// Places that a page names in attributes.
fn places(html: &str) -> Vec<String> {
    let of = |mark: &'static str| {
        html.split(mark).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    [of("href=\""), of("src=\"")].concat()
}

/// All files that a page names are there, and nothing is asked of the network.
fn check_places(folder: &Path, page: &str) -> usize {
    let html = std::fs::read_to_string(folder.join(page)).unwrap();
    let places = places(&html);
    for place in &places {
        let path = place.split('#').next().unwrap();
        let is_link = place.starts_with("https://") && !html.contains(&format!("src=\"{place}"));
        assert!(is_link || path.is_empty() || folder.join(path).is_file(), "{page}: {place}");
    }
    places.len()
}

#[test]
fn the_book_is_a_site() {
    let session = Session::new();
    let out = session.succeed(["docs", "--site", "site"]);
    assert!(out.contains("site/index.html"), "{out}");
    let folder = session.path("site");
    for page in ["index", "first-hour", "theory", "model-files", "glossary", "references"] {
        assert!(check_places(&folder, &format!("{page}.html")) > 20, "{page}");
    }
    let page = session.read("site/first-hour.html");
    assert!(page.contains("<h1 id=\"the-first-hour\">") && page.contains("<pre class=\"toml\"><code>version = 1\n"));
    // the same bytes again, over its own files
    session.succeed(["docs", "--site", "site"]);
    assert_eq!(session.read("site/first-hour.html"), page);
    let refused = session.carom(["docs", "theory", "--site", "other"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
}

#[test]
fn reproduced_figures_stay_when_others_come() {
    let session = Session::new();
    let reproduce = |item: &str| session.succeed(["reproduce", item, "--quick", "--out", "r", "--quiet"]);
    reproduce("rr8029/figure-9");
    let first = session.read("r/rr8029/figure-9/checks.csv");
    reproduce("homsp/example-1");
    assert_eq!(session.read("r/rr8029/figure-9/checks.csv"), first);
    let page = session.read("r/index.html");
    for item in ["rr8029/figure-9", "homsp/example-1"] {
        assert!(page.contains(&format!("<h3>{item} ")), "{item}");
    }
    check_places(&session.path("r"), "index.html");
    // an item that is computed again has its new files alone
    session.write("r/notes.txt", "mine");
    reproduce("rr8029/figure-9");
    let page = session.read("r/index.html");
    assert_eq!((page.matches("<article").count(), session.read("r/notes.txt").as_str()), (2, "mine"));
    assert!(session.path("r/homsp/example-1/item.json").is_file());
}

#[test]
fn a_gallery_has_pictures_models_and_numbers() {
    let session = Session::new();
    let items = ["gallery", "bouncing-ball", "diode-bridge", "homsp/figure-1"];
    let out = session.succeed(items.iter().chain(&["--quick", "--out", "g"]));
    assert!(out.contains("g/index.html") && out.contains("bouncing-ball: runs"), "{out}");
    let page = session.read("g/index.html");
    assert_eq!((page.matches("<article").count(), page.matches("<img").count()), (3, 3));
    assert!(check_places(&session.path("g"), "index.html") >= 12);
    assert!(page.contains("3 of 3 met") && page.contains("expected numbers"), "{page}");
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/bouncing-ball.toml");
    assert_eq!(session.read("g/models/bouncing-ball.toml"), std::fs::read_to_string(example).unwrap());
    let unknown = session.carom(["gallery", "bouncing-bal"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("bouncing-ball"), "{}", unknown.err);
}
