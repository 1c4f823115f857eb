//! What is wrong with a model file, and exactly where: file, line, column, field, reason and a hint.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::nearest::nearest;

/// Characters without a blank between them that a message has at most: names of files and of users may be longer.
const WORD: usize = 240;

/// Characters of a message.
const MESSAGE: usize = 1200;

/// A message in which no word is longer than some lines, and which is no longer than a page: what is left out of names
/// and lists is told by its length. Names come from files, and may have any.
pub fn brief(text: &str) -> String {
    let mut short = String::with_capacity(text.len().min(2 * MESSAGE));
    for (k, word) in text.split(' ').enumerate() {
        if k > 0 {
            short.push(' ');
        }
        cut(word, WORD, &mut short);
    }
    let mut whole = String::new();
    cut(&short, MESSAGE, &mut whole);
    whole
}

/// The first characters of a text that is too long, its length and its last ones.
fn cut(text: &str, most: usize, out: &mut String) {
    let at = |from: usize| text.char_indices().nth(from).map_or(text.len(), |(place, _)| place);
    if text.len() <= most || at(most) == text.len() {
        return out.push_str(text);
    }
    let count = text.chars().count();
    out.push_str(&text[..at(most / 2)]);
    out.push_str(&format!("[... {} characters ...]", count - most / 2 - most / 8));
    out.push_str(&text[at(count - most / 8)..]);
}

/// A text with a name: a model file, or an option of the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceText {
    /// Path of the file, or the option such as `--set`.
    pub name: String,
    /// The whole text; spans are byte ranges of it.
    pub text: String,
}

impl SourceText {
    pub(crate) fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<SourceText> {
        Arc::new(SourceText { name: name.into(), text: text.into() })
    }

    /// Line and column of a byte offset, from 1; columns count characters.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = self.text.get(..offset).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = 1 + before.bytes().filter(|&byte| byte == b'\n').count();
        // a byte order mark is no character
        let column = 1 + before[start..].chars().filter(|&character| character != '\u{feff}').count();
        (line, column)
    }
}

/// Where a value stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The text in which it stands.
    pub source: Arc<SourceText>,
    /// Byte range in the text.
    pub span: Range<usize>,
    /// Dotted path of the field.
    pub field: Arc<str>,
}

impl Place {
    /// The same field at another range of the same text.
    pub fn at(&self, span: Range<usize>) -> Place {
        Place { span, ..self.clone() }
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The file cannot be run.
    Error,
    /// It can, but perhaps it does not mean what was meant.
    Warning,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The text in question; serialised as its name.
    #[serde(rename = "file", serialize_with = "name")]
    pub source: Arc<SourceText>,
    /// Byte range in the text; none where the whole file is meant.
    pub span: Option<Range<usize>>,
    /// Line of the start, from 1.
    pub line: usize,
    /// Column of the start in characters, from 1.
    pub column: usize,
    /// Dotted path of the field, such as `contact[0].gap`; empty where there is none.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Whether the file can still be run.
    pub severity: Severity,
}

fn name<S: Serializer>(source: &Arc<SourceText>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&source.name)
}

impl Diagnostic {
    /// A finding at a place.
    pub fn new(severity: Severity, place: &Place, message: impl Into<String>) -> Diagnostic {
        let (line, column) = place.source.position(place.span.start);
        Diagnostic {
            source: place.source.clone(),
            span: Some(place.span.clone()),
            line,
            column,
            field: brief(&place.field),
            message: brief(&message.into()),
            hint: None,
            severity,
        }
    }

    /// An error about a file as a whole, for example one that cannot be read.
    pub fn of_file(name: &str, message: impl Into<String>) -> Diagnostic {
        let source = SourceText::new(name, "");
        let place = Place { source, span: 0..0, field: "".into() };
        Diagnostic { span: None, ..Diagnostic::new(Severity::Error, &place, message) }
    }

    /// Adds a hint.
    pub fn hint(&mut self, hint: impl Into<String>) -> &mut Self {
        self.hint = Some(brief(&hint.into()));
        self
    }

    /// Name of the file.
    pub fn file(&self) -> &str {
        &self.source.name
    }

    /// The line in question with the place marked below it.
    pub fn picture(&self) -> Option<String> {
        let span = self.span.clone()?;
        let line = self.source.text.lines().nth(self.line - 1)?;
        let marked =
            self.source.text.get(span).map_or(1, |text| text.lines().next().unwrap_or_default().chars().count());
        // of a line that is too long the part around the place
        let skipped = if line.len() > WORD { (self.column - 1).saturating_sub(WORD / 4) } else { 0 };
        let shown: String = line.chars().filter(|&c| c != '\u{feff}').skip(skipped).take(WORD).collect();
        // tabs stay tabs, so that the mark stands below its place
        let blank = |c: char| if c == '\t' { '\t' } else { ' ' };
        let before: String = shown.chars().take(self.column - 1 - skipped).map(blank).collect();
        let room = WORD - before.chars().count().min(WORD - 1);
        let (number, mark) = (self.line.to_string(), "^".repeat(marked.clamp(1, room)));
        let margin = " ".repeat(number.len());
        Some(format!(" {number} | {shown}\n {margin} | {before}{mark}\n"))
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file())?;
        if self.span.is_some() {
            write!(f, "{}:{}:", self.line, self.column)?;
        }
        write!(f, " {}: ", if self.severity == Severity::Error { "error" } else { "warning" })?;
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        write!(f, "{}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Diagnostic {}

/// A hint for an unknown word: the known one that was meant, as a quoted text or as a name, or else what `otherwise`
/// says.
pub fn suggest<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
    quoted: bool,
    otherwise: impl FnOnce() -> String,
) -> String {
    match nearest(word, known) {
        Some(near) if quoted => format!("did you mean {near:?}?"),
        Some(near) => format!("did you mean `{near}`?"),
        None => otherwise(),
    }
}

/// Collects findings while a file is read and built.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    list: Vec<Diagnostic>,
    errors: usize,
    // takes what is not kept
    surplus: Option<Diagnostic>,
}

/// More findings than this help nobody.
const MOST: usize = 100;

impl Diagnostics {
    pub(crate) fn error(&mut self, place: &Place, message: impl Into<String>) -> &mut Diagnostic {
        self.find(Severity::Error, place, message)
    }

    pub(crate) fn warning(&mut self, place: &Place, message: impl Into<String>) -> &mut Diagnostic {
        self.find(Severity::Warning, place, message)
    }

    fn find(&mut self, severity: Severity, place: &Place, message: impl Into<String>) -> &mut Diagnostic {
        if self.is_full() {
            // counting lines is not worth it
            self.errors += usize::from(severity == Severity::Error);
            return self.surplus.insert(Diagnostic::of_file(&place.source.name, ""));
        }
        self.push(Diagnostic::new(severity, place, message))
    }

    pub(crate) fn push(&mut self, diagnostic: Diagnostic) -> &mut Diagnostic {
        self.errors += usize::from(diagnostic.severity == Severity::Error);
        self.list.truncate(MOST);
        self.list.push(diagnostic);
        let last = self.list.len() - 1;
        &mut self.list[last]
    }

    /// Number of errors so far, also of those that were not kept.
    pub(crate) fn errors(&self) -> usize {
        self.errors
    }

    /// Whether so many errors were found that looking on is useless.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= MOST
    }

    /// All findings in the order of their places; those of the command line come first.
    pub(crate) fn finish(mut self, file: &Arc<SourceText>) -> Vec<Diagnostic> {
        self.list
            .sort_by_key(|diagnostic| (diagnostic.source == *file, diagnostic.span.clone().map_or(0, |s| s.start)));
        self.list.dedup();
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters() {
        let source = SourceText::new("a", "\u{feff}x = 1\nθ = 2\n");
        assert_eq!(source.position(0), (1, 1));
        assert_eq!(source.position(3), (1, 1));
        let line = source.text.find('θ').unwrap();
        assert_eq!(source.position(line), (2, 1));
        assert_eq!(source.position(line + 1), (2, 1));
        assert_eq!(source.position(line + 2), (2, 2));
        assert_eq!(source.position(usize::MAX), (3, 1));
    }

    #[test]
    fn the_mark_stands_below_its_place() {
        let text = "a = 1\n\tθ = oops + 1\n";
        let start = text.find("oops").unwrap();
        let place = Place { source: SourceText::new("a", text), span: start..start + 4, field: "".into() };
        let picture = Diagnostic::new(Severity::Error, &place, "unknown").picture().unwrap();
        assert_eq!(picture, " 2 | \tθ = oops + 1\n   | \t    ^^^^\n");
        // a value over several lines is marked on its first one
        let place = Place { span: start..text.len(), ..place };
        let picture = Diagnostic::new(Severity::Error, &place, "unknown").picture().unwrap();
        assert!(picture.ends_with("| \t    ^^^^^^^^\n"), "{picture}");
        assert_eq!(Diagnostic::of_file("a", "is no file").picture(), None);
    }

    #[test]
    fn names_of_any_length_make_short_messages() {
        assert_eq!(brief("unknown name `c`"), "unknown name `c`");
        let (long, wide) = ("a".repeat(20_000), "\u{3b8} ".repeat(20_000));
        for name in [&long, &wide] {
            let told = brief(&format!("unknown name `{name}` in `model`"));
            assert!(told.len() < 2000 && told.contains("characters ...]"), "{} bytes", told.len());
            assert!(told.starts_with("unknown name `") && told.ends_with("` in `model`"), "{told}");
        }
        let text = format!("x = 1\n{long} = 2 + oops");
        let place = |span| Place { source: SourceText::new("a", text.as_str()), span, field: long.as_str().into() };
        for span in [6..text.len(), text.len() - 4..text.len()] {
            let mut found = Diagnostic::new(Severity::Error, &place(span), format!("unknown `{long}`"));
            found.hint(format!("there is {long}"));
            assert!(found.to_string().len() < 2000, "{found}");
            let picture = found.picture().unwrap();
            assert!(picture.len() < 1000 && picture.contains('^'), "{picture}");
        }
        let end = Diagnostic::new(Severity::Error, &place(text.len() - 4..text.len()), "unknown");
        assert!(end.picture().unwrap().contains("a = 2 + oops\n"), "{:?}", end.picture());
    }

    #[test]
    fn one_line_has_everything() {
        let place = Place { source: SourceText::new("ball.toml", "a\nbc"), span: 3..4, field: "model.kinetic".into() };
        let mut diagnostic = Diagnostic::new(Severity::Error, &place, "unknown name `c`");
        diagnostic.hint("did you mean `d`?");
        assert_eq!(diagnostic.to_string(), "ball.toml:2:2: error: model.kinetic: unknown name `c` (did you mean `d`?)");
    }
}
