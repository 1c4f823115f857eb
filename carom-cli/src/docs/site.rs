//! The book as a site: a page for each chapter with the contents beside it, and nothing that needs a network.

use super::chapters::{BOOK, Chapter, chapters};
use super::title;
use crate::failure::Failure;
use crate::site::markdown::html;
use crate::site::{escape, page};
use carom_analysis::folder::{Folder, Sharing};
use std::path::{Path, PathBuf};

/// Pictures that pages show.
const PICTURES: &[(&str, &[u8])] = &[("report.png", include_bytes!("../../../docs/report.png"))];

/// Where the book goes that is only looked at.
pub fn place() -> PathBuf {
    std::env::temp_dir().join(format!("carom-book-{}", env!("CARGO_PKG_VERSION")))
}

/// Writes all pages.
///
/// # Errors
/// Fails where the folder cannot be written to.
pub fn write(folder: &Path) -> Result<(), Failure> {
    let mut draft = Folder::claim(folder, "docs", Sharing::Alone)?.draft()?;
    for (name, text) in pages() {
        draft.write(&name, |out| out.write_all(text.as_bytes()))?;
    }
    for (name, bytes) in PICTURES {
        draft.write(name, |out| out.write_all(bytes))?;
    }
    draft.publish(None)?;
    Ok(())
}

/// Names and texts of all pages; the first chapter is the front page.
fn pages() -> Vec<(String, String)> {
    let all: Vec<&Chapter> = chapters().collect();
    let page = |k: usize| {
        let chapter = all[k];
        let turn = |k: Option<usize>, arrow: [&str; 2]| {
            let other = k.and_then(|k| all.get(k));
            other.map_or("<span></span>".to_owned(), |other| {
                format!("<a href=\"{}\">{}{}{}</a>", file(other.name), arrow[0], escape(title(other.text)), arrow[1])
            })
        };
        let body = if chapter.name == "references" {
            format!("<h1>Bibliography</h1>\n<pre><code>{}</code></pre>\n", escape(chapter.text))
        } else {
            html(chapter.text, &link)
        };
        let turns = [turn(k.checked_sub(1), ["← ", ""]), turn(Some(k + 1), ["", " →"])].join("\n");
        let text = format!("{body}<div class=\"turn\">\n{turns}\n</div>\n");
        (file(chapter.name), page(&format!("{} - carom", title(chapter.text)), &contents(chapter.name), &text))
    };
    (0..all.len()).map(page).collect()
}

/// The file of a chapter.
fn file(name: &str) -> String {
    if name == "readme" { "index.html".into() } else { format!("{name}.html") }
}

/// The contents, with the chapter that is read.
fn contents(here: &str) -> String {
    let mut out = String::new();
    for part in BOOK {
        out += &format!("<p class=\"part\">{}</p>\n<ol>\n", escape(part.title));
        for chapter in part.chapters {
            let mark = if chapter.name == here { " class=\"here\"" } else { "" };
            let name = short(chapter);
            out += &format!("<li><a href=\"{}\"{mark}>{}</a></li>\n", file(chapter.name), escape(name));
        }
        out += "</ol>\n";
    }
    out
}

/// The title of a chapter up to its colon.
fn short(chapter: &Chapter) -> &'static str {
    let title = title(chapter.text);
    title.split(':').next().unwrap_or(title)
}

/// Where a link of a page leads: other pages, pictures and the network; files of the repository are not there.
fn link(target: &str) -> Option<String> {
    let (path, anchor) = target.split_once('#').map_or((target, String::new()), |(p, a)| (p, format!("#{a}")));
    if target.contains("://") || path.is_empty() {
        return Some(target.to_owned());
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    if PICTURES.iter().any(|(known, _)| *known == name) {
        return Some(name.to_owned());
    }
    let stem = name.strip_suffix(".md").or_else(|| name.strip_suffix(".bib"))?.to_lowercase();
    chapters().find(|chapter| chapter.name == stem).map(|chapter| file(chapter.name) + &anchor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Every link leads to a page or picture of the site, and every anchor to a heading.
    #[test]
    fn links_of_the_site_lead_somewhere() {
        let pages = pages();
        let ids = |text: &str| -> BTreeSet<String> {
            text.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
        };
        let mut seen = 0;
        for (name, text) in &pages {
            for target in text.split(" href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
                if target.contains("://") {
                    continue;
                }
                seen += 1;
                let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
                let path = if path.is_empty() { name.as_str() } else { path };
                let page = pages.iter().find(|(other, _)| other == path);
                let page = page.unwrap_or_else(|| panic!("{name}: there is no {target}"));
                assert!(anchor.is_empty() || ids(&page.1).contains(anchor), "{name}: {target} has no heading");
            }
        }
        assert!(seen > 500, "{seen}");
    }

    /// No word of a page is lost on the way.
    #[test]
    fn pages_of_the_site_keep_their_words() {
        let words = |text: &str| -> BTreeSet<String> {
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2);
            words.map(str::to_owned).collect()
        };
        for ((name, text), chapter) in pages().iter().zip(chapters()) {
            let shown = words(&text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"));
            // places of links that are no pages are left out
            let prose: String = chapter.text.split("](").enumerate().fold(String::new(), |all, (k, part)| {
                let part = if k == 0 { part } else { part.split_once(')').map_or(part, |(_, rest)| rest) };
                all + part + " "
            });
            let missing: Vec<String> = words(&prose).difference(&shown).cloned().collect();
            assert!(missing.is_empty(), "{name}: {missing:?}");
        }
    }
}
