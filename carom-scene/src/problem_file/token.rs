//! A text as a stream of tokens between white space, with places for errors.

use super::{FileError, Position, Reason};

/// A cursor over the tokens of a text.
#[derive(Clone)]
pub(super) struct Tokens<'a> {
    file: &'a str,
    text: &'a str,
    at: usize,    // byte after the last token
    last: usize,  // byte where the last token starts
    count: usize, // tokens read
}

impl<'a> Tokens<'a> {
    /// Refuses bytes that are not text.
    pub(super) fn new(file: &'a str, bytes: &'a [u8]) -> Result<Self, FileError> {
        let refuse = |offset| {
            let error = FileError::new(file, Reason::NotText { offset });
            error.hint("problem files are text, or HDF5 for FCLIB")
        };
        let text = std::str::from_utf8(bytes).map_err(|error| refuse(error.valid_up_to()))?;
        let control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{c}');
        match text.find(control) {
            Some(offset) => Err(refuse(offset)),
            None => Ok(Tokens { file, text: text.trim_start_matches('\u{feff}'), at: 0, last: 0, count: 0 }),
        }
    }

    /// Bytes that are left.
    pub(super) fn left(&self) -> usize {
        self.text.len() - self.at
    }

    /// Most tokens that can be left: each one takes a byte and a space.
    pub(super) fn most(&self) -> usize {
        self.left().div_ceil(2)
    }

    pub(super) fn next(&mut self) -> Option<&'a str> {
        let rest = self.text.get(self.at..)?;
        let start = rest.find(|c: char| !c.is_ascii_whitespace())?;
        let length = rest[start..].find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len() - start);
        self.last = self.at + start;
        self.at = self.last + length;
        self.count += 1;
        Some(&rest[start..start + length])
    }

    pub(super) fn peek(&self) -> Option<&'a str> {
        self.clone().next()
    }

    /// An error at the last token.
    pub(super) fn error(&self, reason: Reason) -> FileError {
        let before = &self.text.as_bytes()[..self.last.min(self.text.len())];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        FileError::new(self.file, reason).at(Position::Token { line, token: self.count })
    }

    /// An error where the text ends; it counts as one token further.
    fn end(&self, expected: &'static str) -> FileError {
        let line = 1 + self.text.trim_end().bytes().filter(|&byte| byte == b'\n').count();
        let error = FileError::new(self.file, Reason::End { expected });
        error.at(Position::Token { line, token: self.count + 1 }).hint("is the file truncated?")
    }

    /// The next token.
    pub(super) fn word(&mut self, expected: &'static str) -> Result<&'a str, FileError> {
        self.next().ok_or_else(|| self.end(expected))
    }

    pub(super) fn unexpected(&self, expected: &'static str, found: &str) -> FileError {
        self.error(Reason::Unexpected { expected, found: found.chars().take(40).collect() })
    }

    /// A number that counts something.
    pub(super) fn integer(&mut self, expected: &'static str) -> Result<usize, FileError> {
        let word = self.word(expected)?;
        word.parse().map_err(|_| self.unexpected(expected, word))
    }

    /// A count of things of which the rest of the text must hold at least one token each.
    pub(super) fn count(&mut self, expected: &'static str) -> Result<usize, FileError> {
        let found = self.integer(expected)?;
        let limit = self.most();
        if found > limit {
            let error = self.error(Reason::TooLarge { what: expected, found, limit });
            return Err(error.hint("the file is too short for that"));
        }
        Ok(found)
    }

    /// A number that may be infinite.
    pub(super) fn bound(&mut self, expected: &'static str) -> Result<f64, FileError> {
        let word = self.word(expected)?;
        match word.parse::<f64>() {
            Ok(x) if x.is_nan() => Err(self.error(Reason::NotFinite { what: expected })),
            Ok(x) => Ok(x),
            Err(_) => Err(self.unexpected(expected, word)),
        }
    }

    /// A finite number.
    pub(super) fn number(&mut self, expected: &'static str) -> Result<f64, FileError> {
        let x = self.bound(expected)?;
        if x.is_finite() { Ok(x) } else { Err(self.error(Reason::NotFinite { what: expected })) }
    }

    pub(super) fn numbers(&mut self, n: usize, expected: &'static str) -> Result<Vec<f64>, FileError> {
        // no memory for numbers that cannot be there
        let mut list = Vec::with_capacity(n.min(self.most()));
        for _ in 0..n {
            list.push(self.number(expected)?);
        }
        Ok(list)
    }

    /// A count that must have one value.
    pub(super) fn expect(&mut self, what: &'static str, expected: usize) -> Result<(), FileError> {
        let found = self.integer(what)?;
        self.same(what, found, expected)
    }

    pub(super) fn same(&self, what: &'static str, found: usize, expected: usize) -> Result<(), FileError> {
        if found == expected { Ok(()) } else { Err(self.error(Reason::Mismatch { what, found, expected })) }
    }

    /// The numbers from here to the first token that is none.
    pub(super) fn trailing(mut self) -> Vec<f64> {
        std::iter::from_fn(|| self.next()).map_while(|word| word.parse().ok()).collect()
    }

    /// The first few tokens, for messages.
    pub(super) fn start(mut self) -> String {
        let words: Vec<&str> = std::iter::from_fn(|| self.next()).take(5).collect();
        words.join(" ").chars().take(60).collect()
    }
}
