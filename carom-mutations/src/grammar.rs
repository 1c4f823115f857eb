//! Changes of the parts that texts have in common: numbers, names, quoted texts, operators, lines, tables.

use super::Random;
use std::ops::Range;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Number,
    Name,
    Sign,
    /// What stands between quotes.
    Quoted,
}

/// Numbers at the borders of what makes sense.
const NUMBERS: &[&str] = &[
    "0",
    "-0.0",
    "1",
    "-1",
    "2",
    "3",
    "0.5",
    "1e-3",
    "-1e-3",
    "1e3",
    "1e6",
    "1e-9",
    "1e-16",
    "1e-20",
    "1e16",
    "1e20",
    "1e-300",
    "5e-324",
    "1e300",
    "1.7976931348623157e308",
    "-1e300",
    "1e400",
    "nan",
    "inf",
    "-inf",
    "255",
    "65536",
    "2147483648",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "1e1000",
    "0x10",
    "0.1e",
    "3.141592653589793",
];

const FUNCTIONS: &[&str] =
    &["sin", "cos", "tan", "sqrt", "log", "exp", "abs", "sign", "asin", "acos", "atan", "tanh", "sinh", "cosh", "step"];

/// Pieces of formulas that stand where a formula ends.
const ENDS: &[&str] = &["/0", "^2", "^-1", "^0.5", "^40", "*t", "*0", "+1e300", "*1e-300", "-x", "*x'", "^x", "+q0"];

/// The text with one change that respects what it is made of, and what kind of change that was; lines and tables may
/// come from another text.
pub fn vary(text: &str, donors: &[&str], random: &mut Random) -> (String, &'static str) {
    // kinds of changes that do not fit give way to others
    for _ in 0..20 {
        let (new, what) = match random.below(18) {
            0..=3 => (number(text, random), "number"),
            4..=6 => (scaled(text, random), "scale"),
            7 => (exchange(text, Kind::Name, random), "name"),
            8 => (exchange(text, Kind::Quoted, random), "text"),
            9 | 10 => (sign(text, random), "operator"),
            11 => (function(text, random), "function"),
            12 => (ending(text, random), "ending"),
            13 => (line(text, random, true), "line twice"),
            14 => (line(text, random, false), "line out"),
            15 => (block(text, random), "table"),
            16 => (foreign_line(text, donors, random), "foreign line"),
            _ => (foreign_block(text, donors, random), "foreign table"),
        };
        if let Some(new) = new {
            return (new, what);
        }
    }
    (text.to_owned(), "none")
}

/// The parts of a text, in their order; quoted texts and what is in them as well.
fn parts(text: &str) -> Vec<(Range<usize>, Kind)> {
    let bytes = text.as_bytes();
    let (mut parts, mut at, mut open) = (Vec::new(), 0, None);
    while at < bytes.len() {
        let start = at;
        at += 1;
        match bytes[start] {
            b'"' => match open.take() {
                Some(from) => parts.push((from..start, Kind::Quoted)),
                None => open = Some(at),
            },
            b'\n' => open = None,
            b'0'..=b'9' => {
                while at < bytes.len()
                    && (bytes[at].is_ascii_alphanumeric()
                        || bytes[at] == b'.'
                        || (matches!(bytes[at], b'-' | b'+') && matches!(bytes[at - 1], b'e' | b'E')))
                {
                    at += 1;
                }
                parts.push((start..at, Kind::Number));
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || matches!(bytes[at], b'_' | b'-')) {
                    at += 1;
                }
                parts.push((start..at, Kind::Name));
            }
            b'+' | b'-' | b'*' | b'/' | b'^' => parts.push((start..at, Kind::Sign)),
            _ => {}
        }
    }
    parts
}

fn one(text: &str, kind: Kind, random: &mut Random) -> Option<Range<usize>> {
    let ranges: Vec<Range<usize>> =
        parts(text).into_iter().filter(|(_, found)| *found == kind).map(|(range, _)| range).collect();
    (!ranges.is_empty()).then(|| random.pick(&ranges))
}

fn with(text: &str, range: Range<usize>, new: &str) -> Option<String> {
    let mut changed = text.to_owned();
    changed.replace_range(range, new);
    Some(changed)
}

fn number(text: &str, random: &mut Random) -> Option<String> {
    let range = one(text, Kind::Number, random)?;
    with(text, range, random.pick(NUMBERS))
}

/// A number some powers of ten away, or with the other sign.
fn scaled(text: &str, random: &mut Random) -> Option<String> {
    let range = one(text, Kind::Number, random)?;
    let value: f64 = text[range.clone()].parse().ok()?;
    let factor = random.pick(&[-1.0, 1e-6, 1e-3, 0.1, 0.5, 2.0, 10.0, 1e3, 1e6, -10.0]);
    with(text, range, &format!("{:?}", value * factor))
}

/// A part takes the place of another one of its kind.
fn exchange(text: &str, kind: Kind, random: &mut Random) -> Option<String> {
    let (range, other) = (one(text, kind, random)?, one(text, kind, random)?);
    with(text, range, &text[other])
}

fn sign(text: &str, random: &mut Random) -> Option<String> {
    let range = one(text, Kind::Sign, random)?;
    with(text, range, random.pick(&["+", "-", "*", "/", "^"]))
}

fn function(text: &str, random: &mut Random) -> Option<String> {
    let range = one(text, Kind::Name, random)?;
    let new = format!("{}({})", random.pick(FUNCTIONS), &text[range.clone()]);
    with(text, range, &new)
}

fn ending(text: &str, random: &mut Random) -> Option<String> {
    let range = one(text, Kind::Quoted, random)?;
    with(text, range.end..range.end, random.pick(ENDS))
}

fn joined(lines: &[&str]) -> Option<String> {
    Some(lines.join("\n") + "\n")
}

fn line(text: &str, random: &mut Random, twice: bool) -> Option<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let at = random.below(lines.len());
    let line = *lines.get(at)?;
    if twice {
        lines.insert(at, line);
    } else {
        lines.remove(at);
    }
    joined(&lines)
}

/// The tables of a model file, or the elements of a robot description that begin on lines of their own.
fn blocks(lines: &[&str]) -> Vec<Range<usize>> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let begins = |line: &str| {
        let line = line.trim_start();
        line.starts_with('[') || (line.starts_with('<') && !line.starts_with("</"))
    };
    let end = |start: usize| {
        let is_table = lines[start].starts_with('[');
        let after = lines[start + 1..].iter().position(|line| match is_table {
            true => line.starts_with('['),
            false => indent(line) <= indent(lines[start]) && !line.trim_start().starts_with("</"),
        });
        after.map_or(lines.len(), |after| start + 1 + after)
    };
    (0..lines.len()).filter(|&start| begins(lines[start])).map(|start| start..end(start)).collect()
}

/// A table is taken out, doubled, or moved to the end.
fn block(text: &str, random: &mut Random) -> Option<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let blocks = blocks(&lines);
    if blocks.is_empty() {
        return None;
    }
    let range = random.pick(&blocks);
    let block = lines[range.clone()].to_vec();
    match random.below(3) {
        0 => drop(lines.drain(range)),
        1 => drop(lines.splice(range.end..range.end, block)),
        _ => {
            lines.drain(range);
            lines.extend(block);
        }
    }
    joined(&lines)
}

fn foreign_line(text: &str, donors: &[&str], random: &mut Random) -> Option<String> {
    let foreign: Vec<&str> = donors.get(random.below(donors.len()))?.lines().collect();
    let line = *foreign.get(random.below(foreign.len()))?;
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(random.below(lines.len() + 1), line);
    joined(&lines)
}

fn foreign_block(text: &str, donors: &[&str], random: &mut Random) -> Option<String> {
    let foreign: Vec<&str> = donors.get(random.below(donors.len()))?.lines().collect();
    let blocks_there = blocks(&foreign);
    if blocks_there.is_empty() {
        return None;
    }
    let block = &foreign[random.pick(&blocks_there)];
    let mut lines: Vec<&str> = text.lines().collect();
    let starts: Vec<usize> = blocks(&lines).into_iter().map(|block| block.start).collect();
    let at = if starts.is_empty() { lines.len() } else { random.pick(&starts) };
    lines.splice(at..at, block.iter().copied());
    joined(&lines)
}
