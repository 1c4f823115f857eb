//! `carom docs`: the book, which the command carries: as text, and as a site of static pages.

mod chapters;
mod site;

use crate::arguments::DocsArguments;
use crate::console::{fold, print_line, print_text, width, wrap};
use crate::failure::Failure;
use crate::open::open;
use crate::table::Table;
use carom_scene::suggest;
use chapters::{BOOK, chapters};

pub fn docs(arguments: &DocsArguments) -> Result<(), Failure> {
    if let Some(folder) = &arguments.site {
        site::write(folder)?;
        print_line(format_args!("book {}/index.html", folder.display()))?;
        return if arguments.open { open(&folder.join("index.html")) } else { Ok(()) };
    }
    if arguments.open {
        let folder = site::place();
        site::write(&folder)?;
        let page = arguments.page.as_deref().map_or("index", |name| name.strip_suffix(".md").unwrap_or(name));
        print_line(format_args!("book {}/{page}.html", folder.display()))?;
        return open(&folder.join(format!("{page}.html")));
    }
    let Some(name) = arguments.page.as_deref() else {
        let mut table = Table::new(["page", "title"]);
        for part in BOOK {
            part.chapters.iter().for_each(|chapter| table.row([chapter.name, title(chapter.text)]));
        }
        table.print()?;
        return print_text(
            "\n`carom docs PAGE` prints a page, `carom docs --open` shows all of them in the browser, `carom show \
             NAME` prints the page of a scheme, solver or study",
        );
    };
    let stem = name.strip_suffix(".md").unwrap_or(name);
    let names = || chapters().map(|chapter| chapter.name);
    let found = chapters().find(|chapter| chapter.name == stem);
    let chapter = found.ok_or_else(|| {
        let all = || format!("there are {}", names().collect::<Vec<_>>().join(", "));
        Failure::usage(format!("there is no page `{name}`"), suggest(stem, names(), false, all))
    })?;
    match width() {
        // markdown as it is
        None => print_line(chapter.text.trim_end()),
        Some(width) => print_line(fitted(chapter.text, width)),
    }
}

/// The first heading of a page; that of the bibliography is its name.
fn title(text: &str) -> &str {
    text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or("bibliography (BibTeX)")
}

/// A page in lines of at most this width: paragraphs and tables are laid out anew, code stays as it is where it fits.
fn fitted(text: &str, width: usize) -> String {
    let (mut out, mut lines) = (Vec::new(), text.lines().peekable());
    let is_markdown = text.starts_with('#');
    while let Some(line) = lines.next() {
        let mut block = vec![line];
        if line.starts_with("```") {
            block.extend(lines.by_ref().take_while(|line| !line.starts_with("```")));
            out.extend(block[1..].iter().map(|line| fold(&format!("    {line}"), width, 12)));
        } else if line.starts_with('|') {
            while let Some(next) = lines.next_if(|line| line.starts_with('|')) {
                block.push(next);
            }
            out.push(grid(&block, width));
        } else if line.is_empty() || line.starts_with('#') || !is_markdown {
            out.push(wrap(line, width));
        } else {
            while let Some(next) = lines.next_if(|line| !begins_block(line)) {
                block.push(next.trim());
            }
            out.push(wrap(&block.join(" "), width));
        }
    }
    out.join("\n")
}

/// Whether a line of markdown is no continuation of the paragraph before it.
fn begins_block(line: &str) -> bool {
    let text = line.trim_start();
    let numbered = text.split_once(". ").is_some_and(|(number, _)| number.parse::<u8>().is_ok());
    line.is_empty() || numbered || ["#", "```", "|", "- ", "* "].iter().any(|mark| text.starts_with(mark))
}

/// A table of markdown.
fn grid(block: &[&str], width: usize) -> String {
    let cells = |line: &str| -> Vec<String> {
        let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
        inner.split(" | ").map(|cell| cell.trim().replace("\\|", "|")).collect()
    };
    let mut table = Table::new(cells(block[0]));
    block[1..].iter().filter(|line| !line.starts_with("|--")).for_each(|line| table.row(cells(line)));
    table.text(Some(width))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every page of the folder is known.
    #[test]
    fn all_pages_are_carried() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap();
            let is_text = path.extension().is_some_and(|ending| ending == "md" || ending == "bib");
            assert!(!is_text || chapters().any(|chapter| chapter.name == stem), "{stem}");
        }
    }

    /// No word of a page is lost.
    #[test]
    fn pages_fit_and_keep_their_words() {
        for chapters::Chapter { name, text } in chapters().filter(|chapter| chapter.name != "references") {
            let page = fitted(text, 80);
            let words = |text: &str| -> Vec<String> {
                let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
                let mut words: Vec<String> = words.map(str::to_owned).collect();
                words.sort();
                words.dedup();
                words
            };
            let (all, kept) = (words(text), words(&page));
            let missing: Vec<&String> = all.iter().filter(|word| kept.binary_search(word).is_err()).collect();
            // the language of a block of code is a mark, not a word
            let marks = ["toml", "sh", "text", "rust", "python"];
            assert!(missing.iter().all(|word| marks.contains(&word.as_str())), "{name}: {missing:?}");
        }
    }
}
