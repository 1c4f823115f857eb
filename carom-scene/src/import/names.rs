//! Names of files become names of model files: letters, digits, `_` and `-`, each of them once.

use std::collections::HashSet;

/// Names that are taken, as expressions write them.
#[derive(Debug, Default)]
pub(super) struct Names(HashSet<String>);

impl Names {
    /// A name for something that is called `wanted`; where it is taken it gets an ending.
    pub fn make(&mut self, wanted: &str, ending: &str) -> String {
        let base = plain(wanted);
        let ended = format!("{base}-{ending}");
        let numbered = (2..).map(|k| format!("{ended}{k}"));
        let mut all = [base, ended.clone()].into_iter().chain(numbered);
        // there are more numbers than names
        all.find(|name| self.0.insert(name.replace('-', "_"))).unwrap_or(ended)
    }
}

/// A name without what names cannot have.
pub(super) fn plain(wanted: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = wanted.chars().take(80).map(letter).collect();
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("n{name}") }
}
