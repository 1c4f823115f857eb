//! `carom gallery`: examples and figures of papers on one page, with pictures, model files and numbers.
//!
//! Each example is run and each figure computed by a command of its own, in a folder of its own below that of the
//! gallery, so that what is shown is what users get.

use crate::arguments::GalleryArguments;
use crate::console::{print_line, print_warning};
use crate::failure::Failure;
use crate::open::open;
use crate::progress::{Bar, is_hosted};
use crate::reproduce::gallery::{Record, chapter};
use crate::site::{Card, page, section};
use carom_analysis::folder::{Folder, Sharing};
use carom_papers::{PAPERS, drawing};
use carom_scene::Overrides;
use carom_scene::examples::{EXAMPLES, find};
use carom_scene::suggest;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What was asked for.
struct Wanted {
    examples: Vec<&'static str>,
    figures: Vec<String>,
}

pub fn run(arguments: &GalleryArguments) -> Result<(), Failure> {
    if is_hosted() {
        return Err(Failure::usage("the gallery runs commands of its own", "call the program `carom` in a shell"));
    }
    let wanted = select(&arguments.items)?;
    let folder = arguments.out.clone().unwrap_or_else(|| PathBuf::from("out/gallery"));
    let claim = Folder::claim(&folder, "gallery", Sharing::Alone)?;
    claim.check(["index.html"])?;
    let bar = Bar::new("items", wanted.examples.len() + wanted.figures.len(), arguments.quiet);
    let (mut files, mut cards, mut failed) = (Vec::new(), Vec::new(), 0);
    for name in &wanted.examples {
        let made = example(name, &folder)?;
        failed += usize::from(made.card.word.1 == "bad");
        if !arguments.quiet {
            let line = format!("{name}: {}", made.card.word.0);
            bar.aside(|| print_line(line))?;
        }
        cards.push(made.card);
        files.extend(made.files);
        bar.add(1);
    }
    for name in &wanted.figures {
        let quick = arguments.quick.then_some("--quick");
        let out = folder.join("papers");
        let words = ["reproduce", name, "--quiet", "--out"].into_iter().chain(out.to_str());
        let code = command(words.chain(quick))?;
        if !arguments.quiet {
            let line = format!("{name}: {}", if code == 0 { "done" } else { "failed" });
            bar.aside(|| print_line(line))?;
        }
        failed += usize::from(code != 0);
        bar.add(1);
    }
    drop(bar);
    let records = records(&folder.join("papers"));
    let body = body(&cards, &records);
    let mut draft = claim.draft()?;
    for (name, text) in &files {
        draft.write(name, |out| out.write_all(text.as_bytes()))?;
    }
    draft.write("index.html", |out| out.write_all(page("Gallery of carom", "", &body).as_bytes()))?;
    draft.publish(None)?;
    if !arguments.quiet {
        print_line(format_args!("page   {}/index.html", folder.display()))?;
    }
    if arguments.open {
        open(&folder.join("index.html"))?;
    }
    if failed > 0 { Err(Failure::Expectation(failed)) } else { Ok(()) }
}

/// The examples and items that the names stand for; nothing for everything.
fn select(names: &[String]) -> Result<Wanted, Failure> {
    let items = || PAPERS.iter().flat_map(|p| p.items.iter().map(move |item| format!("{}/{}", p.key, item.key)));
    let mut wanted = Wanted { examples: Vec::new(), figures: Vec::new() };
    if names.is_empty() {
        wanted.examples.extend(EXAMPLES.iter().map(|(name, _)| *name));
        wanted.figures.extend(items());
    }
    for name in names {
        let found: Vec<String> =
            items().filter(|item| item == name || item.split('/').next() == Some(name.as_str())).collect();
        if let Some((example, _)) = EXAMPLES.iter().find(|(known, _)| known == name) {
            wanted.examples.push(example);
        } else if found.is_empty() {
            let known: Vec<String> = EXAMPLES.iter().map(|(name, _)| (*name).to_owned()).chain(items()).collect();
            let all = || "`carom list examples` and `carom reproduce --list` name all".into();
            let hint = suggest(name, known.iter().map(String::as_str), false, all);
            return Err(Failure::usage(format!("there is no example, paper or item `{name}`"), hint));
        } else {
            wanted.figures.extend(found);
        }
    }
    Ok(wanted)
}

/// This program with other words; its exit code.
fn command<'a>(words: impl Iterator<Item = &'a str>) -> Result<i32, Failure> {
    let program = std::env::current_exe().map_err(|e| Failure::Environment(format!("the command itself: {e}")))?;
    let words: Vec<&str> = words.collect();
    let output = Command::new(&program).args(&words).stdin(Stdio::null()).output();
    let output = output.map_err(|e| Failure::Environment(format!("`{}`: {e}", program.display())))?;
    if !output.status.success() {
        print_warning(format!("carom {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(output.status.code().unwrap_or(130))
}

/// A card, and files that it needs.
struct Made {
    card: Card,
    files: Vec<(String, String)>,
}

/// Runs an example and draws it.
fn example(name: &'static str, folder: &Path) -> Result<Made, Failure> {
    let text = find(name).unwrap_or_default();
    let scene = carom_scene::from_str(name, text, &Overrides::default()).map_err(Failure::Model)?;
    let place = format!("examples/{name}");
    let out = folder.join(&place);
    let figures = out.join("figures");
    let words = ["run", name, "--quiet", "--out"].into_iter().chain(out.to_str()).chain(["--figures"]);
    let code = command(words.chain(figures.to_str()))?;
    let mut files = vec![(format!("models/{name}.toml"), text.to_owned())];
    let start = scene.stepper().map(|stepper| stepper.from().clone()).ok();
    let drawn = start.and_then(|state| drawing(&format!("{}, at the start", scene.name), &scene, &state).ok());
    let picture = match drawn {
        Some(chart) => {
            files.push((format!("models/{name}.svg"), chart.svg()));
            Some(format!("models/{name}.svg"))
        }
        None => first_figure(&figures).map(|file| format!("{place}/figures/{file}")),
    };
    let word = match code {
        0 => ("runs".to_owned(), "good"),
        4 => ("misses an expected number".to_owned(), "bad"),
        code => (format!("exit code {code}"), "bad"),
    };
    let card = Card {
        title: name.into(),
        word,
        lines: scene.description.iter().cloned().collect(),
        picture,
        numbers: numbers(&out, scene.expectations.len(), code),
        links: vec![
            ("report".into(), format!("{place}/report.html")),
            ("model file".into(), format!("models/{name}.toml")),
            ("summary".into(), format!("{place}/summary.json")),
        ],
    };
    Ok(Made { card, files })
}

/// The first of the pictures of a run, by name.
fn first_figure(folder: &Path) -> Option<String> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.ends_with(".svg")).min()
}

/// What a summary tells in a few numbers.
fn numbers(folder: &Path, expected: usize, code: i32) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(folder.join("summary.json")).unwrap_or_default();
    let summary: Value = serde_json::from_str(&text).unwrap_or_default();
    let mut numbers = Vec::new();
    let mut add = |name: &str, value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        numbers.extend((!value.is_null()).then(|| (name.to_owned(), text)));
    };
    add("scheme", &summary["inputs"]["scheme"]["name"]);
    add("steps", &summary["statistics"]["steps"]);
    add("impacts", &summary["impacts"]);
    if expected > 0 {
        let met = if code == 0 { format!("{expected} of {expected} met") } else { format!("not all {expected} met") };
        numbers.push(("expected numbers".into(), met));
    }
    numbers
}

/// Records of all items in a folder of reproduced figures.
fn records(folder: &Path) -> BTreeMap<String, Record> {
    let items = PAPERS.iter().flat_map(|p| p.items.iter().map(move |item| format!("{}/{}", p.key, item.key)));
    let read = |item: String| {
        let text = std::fs::read_to_string(folder.join(&item).join("item.json")).ok()?;
        Some((item, serde_json::from_str(&text).ok()?))
    };
    items.filter_map(read).collect()
}

fn body(cards: &[Card], records: &BTreeMap<String, Record>) -> String {
    let mut body = "<h1>Gallery</h1>\n<p>Examples of the command, figures and tables of the papers: a \
                    picture, the numbers, and the files behind them.</p>\n"
        .to_owned();
    if !cards.is_empty() {
        let text = ["Run one with `carom run NAME`; write it to a file of your own with `carom new mine --from NAME`."];
        body += &section("Examples", &text.map(str::to_owned), cards);
    }
    PAPERS.iter().for_each(|paper| body += &chapter(paper, records, "papers/"));
    body
}
