//! XML files as elements with the places of all their parts; files that include others become one tree.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use roxmltree::{Document, Node, ParsingOptions};

use crate::diagnostic::{Diagnostic, Diagnostics, Place, Severity, SourceText, suggest};

/// Largest size of a file [bytes].
const BYTES: u64 = 16 << 20;
/// Most elements, attributes and texts of a file.
const NODES: u32 = 500_000;
/// Deepest nesting of elements.
const DEPTH: usize = 200;
/// Most files that a file may include, with those that they include.
const FILES: usize = 64;
/// Larger numbers are no lengths, masses or times.
const HUGE: f64 = 1e60;

/// An element.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub name: String,
    /// Its start tag.
    pub place: Place,
    pub attributes: Vec<Attribute>,
    pub children: Vec<Element>,
}

/// An attribute.
#[derive(Clone, Debug)]
pub(super) struct Attribute {
    pub name: String,
    pub value: String,
    /// Its value.
    pub place: Place,
}

/// Reads a file and those that it includes.
pub(super) fn load(path: &Path, out: &mut Diagnostics) -> Option<Element> {
    match text(path) {
        Ok(text) => parse(path, text, out),
        Err(reason) => {
            let hint = "give the path of a URDF or MJCF file";
            out.push(Diagnostic::of_file(&path.display().to_string(), reason)).hint(hint);
            None
        }
    }
}

/// Reads a text and the files that it includes.
pub(super) fn parse(path: &Path, text: String, out: &mut Diagnostics) -> Option<Element> {
    let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
    Reader { folder, trail: Vec::new(), files: 0, out }.parse(path, text)
}

/// The text of a file, if it is one and not too large.
fn text(path: &Path) -> Result<String, String> {
    let size = std::fs::metadata(path).map_err(|error| format!("cannot be read: {error}"))?.len();
    if size > BYTES {
        return Err(format!("has {size} bytes; more than {BYTES} are not read"));
    }
    let bytes = std::fs::read(path).map_err(|error| format!("cannot be read: {error}"))?;
    String::from_utf8(bytes).map_err(|error| {
        format!("is no text in UTF-8: the byte {} is not part of a character", error.utf8_error().valid_up_to())
    })
}

struct Reader<'a> {
    folder: PathBuf,
    trail: Vec<PathBuf>,
    files: usize,
    out: &'a mut Diagnostics,
}

impl Reader<'_> {
    fn parse(&mut self, path: &Path, text: String) -> Option<Element> {
        let source = SourceText::new(path.display().to_string(), text);
        let options = ParsingOptions { allow_dtd: false, nodes_limit: NODES, entity_resolver: None };
        let document = match Document::parse_with_options(&source.text, options) {
            Ok(document) => document,
            Err(error) => {
                self.refuse(&source, &error);
                return None;
            }
        };
        self.trail.push(path.to_path_buf());
        let root = self.element(document.root_element(), &source, 0);
        self.trail.pop();
        root
    }

    /// Tells what the parser says, at the place that it means.
    fn refuse(&mut self, source: &Arc<SourceText>, error: &roxmltree::Error) {
        let at = error.pos();
        let start: usize = source.text.split_inclusive('\n').take(at.row.max(1) as usize - 1).map(str::len).sum();
        let line = source.text[start..].split('\n').next().unwrap_or_default();
        let column = line.char_indices().nth(at.col.max(1) as usize - 1).map_or(line.len(), |(column, _)| column);
        let place = Place { source: source.clone(), span: start + column..start + column, field: "".into() };
        let (message, hint) = match error {
            roxmltree::Error::DtdDetected => {
                ("a document type with entities is not read".to_owned(), "write the text out, without <!DOCTYPE ...>")
            }
            roxmltree::Error::NodesLimitReached => {
                (format!("more than {NODES} elements and texts are not read"), "split the file")
            }
            error => {
                let text = error.to_string();
                let text = text.rsplit_once(" at ").map_or(text.as_str(), |(text, _)| text);
                (format!("this is no XML: {text}"), "see that every tag is closed and every value is in quotes")
            }
        };
        self.out.push(Diagnostic::new(Severity::Error, &place, message)).hint(hint);
    }

    fn element(&mut self, node: Node<'_, '_>, source: &Arc<SourceText>, depth: usize) -> Option<Element> {
        let name = node.tag_name().name().to_owned();
        let range = node.range();
        let tag = source.text[range.clone()].find('>').map_or(range.end, |end| range.start + end + 1);
        let field: Arc<str> = name.as_str().into();
        let place = Place { source: source.clone(), span: range.start..tag, field: field.clone() };
        if depth > DEPTH {
            self.out.error(&place, format!("more than {DEPTH} elements are inside each other"));
            return None;
        }
        let attributes = node.attributes().map(|attribute| Attribute {
            name: attribute.name().to_owned(),
            value: attribute.value().to_owned(),
            place: Place {
                source: source.clone(),
                span: attribute.range_value(),
                field: format!("{name}.{}", attribute.name()).into(),
            },
        });
        let mut element = Element { name: name.clone(), place, attributes: attributes.collect(), children: Vec::new() };
        for child in node.children().filter(Node::is_element) {
            let child = self.element(child, source, depth + 1)?;
            if child.name == "include" {
                element.children.extend(self.include(&child)?);
            } else {
                element.children.push(child);
            }
        }
        Some(element)
    }

    /// The children of the file that an element includes.
    fn include(&mut self, element: &Element) -> Option<Vec<Element>> {
        let Some(file) = element.get("file") else {
            self.out.error(&element.place, "an <include> names its `file`");
            return None;
        };
        let path = self.folder.join(&file.value);
        if self.trail.contains(&path) {
            let error = self.out.error(&file.place, format!("{:?} includes itself", file.value));
            error.hint("a file cannot be part of itself: remove this line");
            return None;
        }
        self.files += 1;
        if self.files > FILES {
            self.out.error(&file.place, format!("more than {FILES} files are included"));
            return None;
        }
        match text(&path) {
            Ok(text) => Some(self.parse(&path, text)?.children),
            Err(reason) => {
                let error = self.out.error(&file.place, format!("{:?} {reason}", file.value));
                error.hint("paths are relative to the folder of the main file");
                None
            }
        }
    }
}

impl Element {
    /// An attribute by name.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// The first child of a name.
    pub fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    /// All children of a name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// An attribute that must be there.
    pub fn need(&self, name: &str, out: &mut Diagnostics) -> Option<&Attribute> {
        let found = self.get(name);
        if found.is_none() {
            out.error(&self.place, format!("`{name}` is missing"));
        }
        found
    }
}

impl Attribute {
    /// Words of the value with their places.
    fn words(&self) -> impl Iterator<Item = (&str, Place)> {
        // a value with references to characters stands in the file in other words
        let plain = self.place.source.text.get(self.place.span.clone()) == Some(self.value.as_str());
        let base = self.value.as_ptr() as usize;
        self.value.split_whitespace().map(move |word| {
            let start = self.place.span.start + (word.as_ptr() as usize - base);
            (word, if plain { self.place.at(start..start + word.len()) } else { self.place.clone() })
        })
    }

    /// All numbers of the value, which are finite.
    pub fn numbers(&self, out: &mut Diagnostics) -> Option<Vec<f64>> {
        let mut all = Vec::new();
        for (word, place) in self.words() {
            match word.parse::<f64>() {
                Ok(number) if number.abs() <= HUGE => all.push(number),
                Ok(number) if number.is_nan() || number.is_infinite() && word.to_lowercase().contains('i') => {
                    out.error(&place, format!("{word:?} is not finite"));
                    return None;
                }
                Ok(_) => {
                    out.error(&place, format!("{word} is too large: numbers go up to {HUGE:e}"));
                    return None;
                }
                Err(_) => {
                    let hint = "numbers are separated by spaces, with a point before decimals";
                    out.error(&place, format!("{word:?} is no number")).hint(hint);
                    return None;
                }
            }
        }
        Some(all)
    }

    /// So many numbers.
    pub fn vector<const N: usize>(&self, out: &mut Diagnostics) -> Option<[f64; N]> {
        let all = self.numbers(out)?;
        let found = all.len();
        let vector = all.try_into().ok();
        if vector.is_none() {
            let word = if N == 1 { "number" } else { "numbers" };
            out.error(&self.place, format!("{N} {word} needed, found {found}"));
        }
        vector
    }

    /// One number.
    pub fn number(&self, out: &mut Diagnostics) -> Option<f64> {
        self.vector::<1>(out).map(|[x]| x)
    }

    /// One number that is not negative.
    pub fn size(&self, out: &mut Diagnostics) -> Option<f64> {
        let x = self.number(out)?;
        if x < 0.0 {
            out.error(&self.place, format!("{x} is negative"));
            return None;
        }
        Some(x)
    }

    /// One of some words.
    pub fn word<T: Copy>(&self, known: &[(&str, T)], out: &mut Diagnostics) -> Option<T> {
        if let Some((_, value)) = known.iter().find(|(word, _)| *word == self.value) {
            return Some(*value);
        }
        let names = || known.iter().map(|(word, _)| *word);
        let hint =
            suggest(&self.value, names(), true, || format!("it is one of {}", names().collect::<Vec<_>>().join(", ")));
        out.error(&self.place, format!("{:?} is not known here", self.value)).hint(hint);
        None
    }
}
