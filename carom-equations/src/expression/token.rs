//! Text to tokens, one at a time.
//!
//! Numbers are `1`, `.5`, `1.`, `2.5E+3`; names are ASCII letters, digits and `_`, with at most one prime. Names of
//! parts of a body or a joint have a point inside: `crank.angle`, `rod.x'`.

use std::ops::Range;

use super::error::{SyntaxError, SyntaxProblem};

/// One token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'a> {
    Number(f64),
    Name(&'a str),
    /// A name with a prime, without the prime.
    Velocity(&'a str),
    Plus,
    Minus,
    Star,
    Slash,
    Caret,
    Open,
    Close,
    Comma,
    End,
}

/// Reads tokens from a text.
pub(super) struct Lexer<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, position: 0 }
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes().get(at).copied()
    }

    /// First position from `at` on whose byte does not satisfy `accept`.
    fn skip(&self, at: usize, accept: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes().get(at..).unwrap_or_default();
        at + rest.iter().position(|&byte| !accept(byte)).unwrap_or(rest.len())
    }

    /// The next token with its byte range.
    pub(super) fn next(&mut self) -> Result<(Token<'a>, Range<usize>), SyntaxError> {
        let start = self.skip(self.position, |byte| byte.is_ascii_whitespace());
        self.position = start;
        let Some(byte) = self.byte(start) else {
            return Ok((Token::End, start..start));
        };
        let (token, end) = match byte {
            b'0'..=b'9' => self.number(start)?,
            b'.' if self.byte(start + 1).is_some_and(|next| next.is_ascii_digit()) => self.number(start)?,
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => self.name(start)?,
            b'*' if self.byte(start + 1) == Some(b'*') => {
                let hint = Some("write `^` for a power".into());
                return Err(SyntaxError { problem: SyntaxProblem::DoubleStar, span: start..start + 2, hint });
            }
            b'+' => (Token::Plus, start + 1),
            b'-' => (Token::Minus, start + 1),
            b'*' => (Token::Star, start + 1),
            b'/' => (Token::Slash, start + 1),
            b'^' => (Token::Caret, start + 1),
            b'(' => (Token::Open, start + 1),
            b')' => (Token::Close, start + 1),
            b',' => (Token::Comma, start + 1),
            b'<' | b'>' | b'=' | b'!' => return Err(self.comparison(start)),
            _ => return Err(self.unexpected(start)),
        };
        self.position = end;
        Ok((token, start..end))
    }

    fn slice(&self, range: Range<usize>) -> &'a str {
        self.text.get(range).unwrap_or_default()
    }

    fn number(&self, start: usize) -> Result<(Token<'a>, usize), SyntaxError> {
        let digit = |byte: u8| byte.is_ascii_digit();
        let mut end = self.skip(start, digit);
        if self.byte(end) == Some(b'.') {
            end = self.skip(end + 1, digit);
        }
        // an `e` belongs to the number only if an exponent follows; else it is a name
        if matches!(self.byte(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.byte(end + 1), Some(b'+' | b'-')));
            let digits = end + 1 + sign;
            let stop = self.skip(digits, digit);
            if stop > digits {
                end = stop;
            }
        }
        let literal = self.slice(start..end);
        match literal.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok((Token::Number(value), end)),
            _ => Err(SyntaxError {
                problem: SyntaxProblem::NumberOverflow { literal: literal.into() },
                span: start..end,
                hint: None,
            }),
        }
    }

    fn name(&self, start: usize) -> Result<(Token<'a>, usize), SyntaxError> {
        let letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
        let part = |at| self.skip(at, |byte| letter(byte) || byte.is_ascii_digit());
        let mut stop = part(start);
        while self.byte(stop) == Some(b'.') && self.byte(stop + 1).is_some_and(letter) {
            stop = part(stop + 1);
        }
        let end = self.skip(stop, |byte| byte == b'\'');
        let name = self.slice(start..stop);
        match end - stop {
            0 => Ok((Token::Name(name), end)),
            1 => Ok((Token::Velocity(name), end)),
            primes => Err(SyntaxError {
                problem: SyntaxProblem::Acceleration { name: self.slice(start..end).into(), primes },
                span: start..end,
                hint: Some(format!("`{name}'` is the velocity of `{name}`")),
            }),
        }
    }

    fn comparison(&self, start: usize) -> SyntaxError {
        let end = self.skip(start, |byte| matches!(byte, b'<' | b'>' | b'=' | b'!'));
        let operator = self.slice(start..end);
        if operator.bytes().all(|byte| byte == b'!') {
            return self.unexpected(start);
        }
        let hint = Some("an expression is one value; `min`, `max`, `abs` and `sign` make branches".into());
        SyntaxError { problem: SyntaxProblem::Comparison { operator: operator.into() }, span: start..end, hint }
    }

    fn unexpected(&self, start: usize) -> SyntaxError {
        let character = self.slice(start..self.text.len()).chars().next().unwrap_or('\u{fffd}');
        let hint = match character {
            '×' | '·' | '⋅' | '∙' => Some("write `*`"),
            '÷' => Some("write `/`"),
            '−' | '–' | '—' => Some("write `-`"),
            '²' => Some("write `^2`"),
            '³' => Some("write `^3`"),
            '√' => Some("write `sqrt(...)`"),
            'π' => Some("write `pi`"),
            '\'' | '′' | '’' => Some("a velocity is a name with a prime directly after it, as in x'"),
            '[' | '{' | ']' | '}' => Some("write `(` and `)`"),
            character if character.is_alphabetic() => Some("names are made of the letters a-z, A-Z, digits and `_`"),
            _ => None,
        };
        SyntaxError {
            problem: SyntaxProblem::UnexpectedCharacter { character },
            span: start..start + character.len_utf8(),
            hint: hint.map(Into::into),
        }
    }
}
