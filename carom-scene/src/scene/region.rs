//! Where a gap counts: comparisons joined by `and`, turned into one value that is not negative inside.
//!
//! ```text
//!     a < b  gives  b − a,     a > b  gives  a − b,     conditions joined by `and` give the least of their values       (1)
//! ```
//!
//! The boundary belongs to the region, whether it is written with `<` or with `<=`: it is where a crossing is looked
//! for.

use std::ops::Range;

use super::context::Context;
use crate::expression::{Function, NodeId};
use crate::file::{Content, Formula};

/// A comparison sign with its place, and whether the smaller side stands first.
struct Sign {
    span: Range<usize>,
    less: bool,
}

/// The value (1) of a region; `None` if it has a mistake.
pub(super) fn read(formula: &Formula, context: &mut Context) -> Option<NodeId> {
    let Content::Expression(text) = &formula.content else {
        context.out.error(&formula.place, "a region is a comparison, not a number").hint("as in where = \"x < 0\"");
        return None;
    };
    let mut value = None;
    for part in conditions(text) {
        let condition = condition(formula, part, context)?;
        value = Some(match value {
            Some(value) => least(value, condition, context),
            None => condition,
        });
    }
    let value = value?;
    if context.graph.is_fixed(value) {
        context
            .out
            .error(&formula.place, "the region is the same everywhere")
            .hint("it compares expressions of t and coordinates");
        return None;
    }
    Some(value)
}

fn least(a: NodeId, b: NodeId, context: &mut Context) -> NodeId {
    match Function::find("min") {
        Some(min) => context.graph.call(min, &[a, b]),
        None => a,
    }
}

/// The parts between the words `and`.
fn conditions(text: &str) -> Vec<Range<usize>> {
    let word = |c: u8| c.is_ascii_alphanumeric() || c == b'_' || c == b'\'';
    let bytes = text.as_bytes();
    let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        if !word(bytes[at]) {
            at += 1;
            continue;
        }
        let end = at + bytes[at..].iter().position(|&c| !word(c)).unwrap_or(bytes.len() - at);
        if &bytes[at..end] == b"and" {
            parts.push(start..at);
            start = end;
        }
        at = end;
    }
    parts.push(start..text.len());
    parts
}

/// The comparison signs of a condition.
fn signs(text: &str, part: Range<usize>) -> Vec<Sign> {
    let bytes = text.as_bytes();
    let mut found: Vec<Sign> = Vec::new();
    let mut at = part.start;
    while at < part.end {
        let less = bytes[at] == b'<';
        if less || bytes[at] == b'>' {
            let end = if at + 1 < part.end && bytes[at + 1] == b'=' { at + 2 } else { at + 1 };
            found.push(Sign { span: at..end, less });
            at = end;
        } else {
            at += 1;
        }
    }
    found
}

/// The value of one condition: a comparison, or a chain of them as in `0 < x < 1`.
fn condition(formula: &Formula, part: Range<usize>, context: &mut Context) -> Option<NodeId> {
    let Content::Expression(text) = &formula.content else { return None };
    let signs = signs(text, part.clone());
    if signs.is_empty() {
        // what else is wrong with it is said first
        context.node_of_positions(&formula.slice(part.clone()), "the region")?;
        context
            .out
            .error(&formula.part(part), "a region needs a comparison: `<`, `<=`, `>` or `>=`")
            .hint("as in where = \"x < 0\", or where = \"x > 0 and x < 1\"");
        return None;
    }
    let starts = std::iter::once(part.start).chain(signs.iter().map(|sign| sign.span.end));
    let ends = signs.iter().map(|sign| sign.span.start).chain(std::iter::once(part.end));
    let sides: Vec<Option<NodeId>> = starts
        .zip(ends)
        .map(|(start, end)| {
            if text.get(start..end).is_none_or(|side| side.trim().is_empty()) {
                context.out.error(&formula.part(part.clone()), "one side of the comparison is missing");
                return None;
            }
            context.node_of_positions(&formula.slice(start..end), "the region")
        })
        .collect();
    let mut value = None;
    for (sign, pair) in signs.iter().zip(sides.windows(2)) {
        let (left, right) = (pair[0]?, pair[1]?);
        let difference =
            if sign.less { context.graph.subtract(right, left) } else { context.graph.subtract(left, right) };
        value = Some(value.map_or(difference, |value| least(value, difference, context)));
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_and_separates() {
        let parts = |text: &str| conditions(text).into_iter().map(|r| text[r].trim().to_owned()).collect::<Vec<_>>();
        assert_eq!(parts("x < 0"), ["x < 0"]);
        assert_eq!(parts("x < 0 and y>=1 and band < and2"), ["x < 0", "y>=1", "band < and2"]);
        assert_eq!(parts("and"), ["", ""]);
        assert_eq!(parts(""), [""]);
    }

    #[test]
    fn signs_are_found_in_their_part() {
        let text = "0 <= x<1 and y > 2";
        let all: Vec<_> = signs(text, 0..8).into_iter().map(|sign| (sign.span, sign.less)).collect();
        assert_eq!(all, [(2..4, true), (6..7, true)]);
        assert_eq!(signs(text, 12..18).len(), 1);
    }
}
