//! Standard output and standard error, either of which may be a closed pipe or a full disk; the width of a terminal.

use crate::failure::Failure;
use carom_scene::brief;
use console::{Term, measure_text_width};
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

/// Prints a line as it is. A reader that went away (`carom list schemes | head -1`) has seen enough: no failure.
pub fn print_line(line: impl Display) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Environment(format!("cannot print: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints lines for people: what is wider than the terminal goes on in the next line.
pub fn print_text(text: impl Display) -> Result<(), Failure> {
    let text = text.to_string();
    match width() {
        Some(width) => print_line(text.lines().map(|line| wrap(line, width)).collect::<Vec<_>>().join("\n")),
        None => print_line(text),
    }
}

/// Prints a line to standard error; where that is closed, the exit code has to do.
pub fn print_warning(line: impl Display) {
    let line = line.to_string();
    // names of any length may be in it
    let short = line.lines().map(brief).collect::<Vec<_>>().join("\n");
    let _ = writeln!(io::stderr().lock(), "{short}{}", if line.ends_with('\n') { "\n" } else { "" });
}

/// Columns of a terminal at least: nothing is narrower than this.
const LEAST: usize = 40;

/// Columns of the terminal: those that `COLUMNS` says, else its own; none where standard output is no terminal.
pub fn width() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse::<usize>().ok());
    let own = || Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    said.filter(|columns| *columns > 0).or_else(own).map(|columns| columns.max(LEAST))
}

/// A line in lines of at most this width. They go on below the last part that stands apart by two blanks or more, which
/// is where the text of an option or an item of a list begins. A word that is wider than a line keeps one to itself.
pub fn wrap(line: &str, width: usize) -> String {
    if measure_text_width(line) <= width {
        return line.to_owned();
    }
    let indent = line.len() - line.trim_start().len();
    let marker = ["- ", "* "].iter().find(|marker| line[indent..].starts_with(**marker)).map_or(0, |m| m.len());
    let apart = line.rfind("  ").map_or(0, |at| measure_text_width(&line[..at]) + 2);
    let below = if apart <= 2 * width / 3 { apart.max(indent + marker) } else { indent + marker };
    fold(line, width, below)
}

/// A line in lines of at most this width, which go on at the column `below`.
pub fn fold(line: &str, width: usize, below: usize) -> String {
    if measure_text_width(line) <= width {
        return line.to_owned();
    }
    let (indent, below) = (line.len() - line.trim_start().len(), " ".repeat(below));
    let (mut out, mut column, mut first) = (line[..indent].to_owned(), indent, true);
    // blanks between words are kept, but for those at which a line ends
    for (blanks, word) in words(&line[indent..]) {
        let size = measure_text_width(word);
        if !first && column + blanks + size > width {
            out.push('\n');
            out.push_str(&below);
            column = below.len();
        } else {
            out.push_str(&" ".repeat(blanks));
            column += blanks;
        }
        out.push_str(word);
        column += size;
        first = false;
    }
    out
}

/// Words, each with the number of blanks before it.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut blanks = 0;
    text.split(' ').filter_map(move |word| {
        if word.is_empty() {
            blanks += 1;
            return None;
        }
        let before = std::mem::replace(&mut blanks, 1);
        Some((before, word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_on_below_their_text() {
        assert_eq!(wrap("short", 40), "short");
        assert_eq!(wrap("one two three", 8), "one two\nthree");
        assert_eq!(wrap("- one two three", 9), "- one two\n  three");
        assert_eq!(wrap("  -q  a line that is long", 16), "  -q  a line\n      that is\n      long");
        assert_eq!(wrap("averyveryverylongword b", 8), "averyveryverylongword\nb");
        assert_eq!(wrap("äöü äöü äöü", 7), "äöü äöü\näöü");
    }
}
