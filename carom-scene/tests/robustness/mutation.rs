//! Changes of texts, and what must be true of the errors that they lead to.

use carom_scene::Diagnostic;

/// Whatever is put into any text.
pub const PIECES: &[&str] = &[
    "'",
    "\"",
    "\n",
    "[",
    "]",
    "[[",
    "{",
    "}",
    "=",
    ".",
    ",",
    "-",
    "0",
    "9e9",
    "1e-300",
    "nan",
    "\u{1F3B1}",
    "x'",
    "t",
    "(",
    ")",
    "^",
    "/0",
    "sin(",
    "\\",
    "#",
    "true",
    "name",
];

/// A change of a text.
#[derive(Clone, Debug)]
pub enum Mutation {
    /// A piece is put in.
    Insert(String),
    /// So many letters are taken out.
    Delete(usize),
    /// So many letters from a place on are put in once more.
    Copy(usize, usize),
    /// A line is taken out, and put in at another place where there is one.
    Line(usize, Option<usize>),
}

/// The text with a change at a place; places and lines are counted round and round.
pub fn mutate(text: &str, at: usize, with: &Mutation) -> String {
    let letters: Vec<char> = text.chars().collect();
    let place = |i: usize| i % letters.len().max(1);
    let (at, mut new) = (place(at), letters.clone());
    match with {
        Mutation::Insert(piece) => {
            new.splice(at..at, piece.chars());
        }
        Mutation::Delete(count) => {
            new.drain(at..(at + count).min(letters.len()));
        }
        Mutation::Copy(from, count) => {
            let from = place(*from);
            let piece = letters[from..(from + count).min(letters.len())].to_vec();
            new.splice(at..at, piece);
        }
        Mutation::Line(line, to) => {
            let mut lines: Vec<&str> = text.lines().collect();
            if !lines.is_empty() {
                let line = lines.remove(line % lines.len());
                to.iter().for_each(|to| lines.insert(to % (lines.len() + 1), line));
            }
            return lines.join("\n") + "\n";
        }
    }
    new.into_iter().collect()
}

/// Errors say something, and point into the text.
pub fn judge(found: &[Diagnostic]) {
    assert!(!found.is_empty());
    for diagnostic in found {
        assert!(!diagnostic.message.is_empty() && diagnostic.line > 0 && diagnostic.column > 0, "{diagnostic}");
        if let Some(span) = &diagnostic.span {
            assert!(span.start <= span.end && span.end <= diagnostic.source.text.len(), "{diagnostic}");
        }
    }
}
