//! Bytes to text and text to TOML values, with hints for the mistakes that equations invite.

use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::reader::Item;
use crate::diagnostic::{Diagnostic, Diagnostics, Place, Severity, SourceText};

/// Syntax errors beyond this many are consequences of the first ones.
const MOST: usize = 10;

/// The text of a file; names the first byte that is not text.
pub(crate) fn text(name: &str, bytes: Vec<u8>) -> Result<Arc<SourceText>, Box<Diagnostic>> {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return Ok(SourceText::new(name, text)),
        Err(error) => error,
    };
    let offset = error.utf8_error().valid_up_to();
    let bytes = error.into_bytes();
    let byte = bytes.get(offset).copied().unwrap_or_default();
    let readable = String::from_utf8_lossy(bytes.get(..offset).unwrap_or_default()).into_owned();
    let place = Place { source: SourceText::new(name, readable), span: offset..offset, field: "".into() };
    let message = format!("this is not UTF-8 text: byte {offset} is 0x{byte:02x}");
    let mut error = Diagnostic::new(Severity::Error, &place, message);
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        error.hint("the file seems to be UTF-16; save it as UTF-8");
    }
    Err(Box::new(error))
}

/// The values of a text.
pub(crate) fn document<'a>(source: &'a Arc<SourceText>, out: &mut Diagnostics) -> Option<Item<'a>> {
    let text = source.text.as_str();
    let place = |span| Place { source: source.clone(), span, field: "".into() };
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        out.error(&place(0..0), "the file is empty").hint("`carom new NAME` writes an example to start from");
        return None;
    }
    let (table, mut errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        let span = table.span();
        return Some(Spanned::new(span, DeValue::Table(table.into_inner())));
    }
    errors.sort_by_key(|error| error.span().map_or(0, |span| span.start));
    // the rest of a broken line is seldom understood, and an open bracket breaks everything after it
    let mut last = (0, String::new());
    let mut count = 0;
    for error in errors {
        let place = place(error.span().unwrap_or(0..0));
        let now = (source.position(place.span.start).0, error.message().to_string());
        let before = std::mem::replace(&mut last, now);
        if before.0 == last.0 || before.1 == last.1 {
            continue;
        }
        let diagnostic = out.error(&place, format!("this is not valid TOML: {}", error.message()));
        diagnostic.hint = hint(text, place.span.start);
        if error.message().contains("between array elements") {
            diagnostic.hint("or is the list above not closed with `]`?");
            break;
        }
        count += 1;
        if count == MOST {
            break;
        }
    }
    None
}

/// What may have been meant at a syntax error.
fn hint(text: &str, offset: usize) -> Option<String> {
    let before = text.get(..offset)?;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text.get(start..)?.lines().next()?;
    let (key, value) = line.split_once('=')?;
    let (key, value) = (key.trim(), value.trim());
    let name = key.trim_end_matches('\'');
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.len() < key.len() && !name.is_empty() && name.chars().all(bare) {
        return Some(format!("quote a key with a prime: \"{key}\" = ..."));
    }
    if value.starts_with('\'') {
        return Some("an expression with primes needs double quotes: \"x' + y'\"".into());
    }
    // an expression without quotes begins like a name, a number or a parenthesis
    let first = value.chars().next()?;
    let letters = value.contains(|c: char| c.is_ascii_alphabetic() || "+*/^(".contains(c));
    let expression = (first.is_ascii_alphanumeric() || first == '(' || first == '-') && letters;
    expression.then(|| "write expressions in quotes: \"...\"".into())
}
