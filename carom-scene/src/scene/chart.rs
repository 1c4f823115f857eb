//! Charts that a file asks for: result columns, and expressions that become result columns.

use carom::simulation::Column;

use super::context::Context;
use crate::diagnostic::suggest;
use crate::expression::NodeId;
use crate::file::{ChartTable, Content, Formula, ModelFile, OneOrMore};

/// A chart of the report.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartInfo {
    /// Its title.
    pub title: String,
    /// Full names of the columns that are drawn.
    pub curves: Vec<String>,
    /// Full name of the column that they are drawn over, where it is not time.
    pub over: Option<String>,
    /// Smallest and largest value shown, where they are given.
    pub range: Option<[f64; 2]>,
    /// The same for what they are drawn over.
    pub over_range: Option<[f64; 2]>,
    /// Whether the axis of values is logarithmic.
    pub log: bool,
}

/// The text of an expression; `None` for the name of a column, such as `q.x`, and for time.
fn expression(formula: &Formula) -> Option<String> {
    match &formula.content {
        Content::Number(value) => Some(value.to_string()),
        Content::Expression(text) => {
            let text = text.trim();
            (text != "t" && !is_column(text)).then(|| text.to_owned())
        }
    }
}

/// Names of columns begin with a word and a dot, which no expression does.
fn is_column(text: &str) -> bool {
    let word = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    let mut rest = text[word..].chars();
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && rest.next() == Some('.') && !rest.as_str().is_empty()
}

fn formulas(table: &ChartTable) -> impl Iterator<Item = &Formula> {
    table.curves.items.iter().chain(&table.over)
}

/// Adds the expressions of all charts to the columns under `[output.columns]`.
pub(super) fn outputs(file: &ModelFile, names: &mut Vec<String>, nodes: &mut Vec<NodeId>, context: &mut Context) {
    for formula in file.chart.iter().flatten().flat_map(formulas) {
        let Some(text) = expression(formula).filter(|text| !names.contains(text)) else { continue };
        if let Some(node) = context.node(formula) {
            names.push(text);
            nodes.push(node);
        }
    }
}

/// The charts, after a look at the names of columns; `None` if one of them has a mistake.
pub(super) fn read(file: &ModelFile, columns: &[(String, Column)], context: &mut Context) -> Option<Vec<ChartInfo>> {
    let before = context.out.errors();
    let charts = file.chart.iter().flatten().filter_map(|table| chart(table, columns, context)).collect();
    (context.out.errors() == before).then_some(charts)
}

fn chart(table: &ChartTable, columns: &[(String, Column)], context: &mut Context) -> Option<ChartInfo> {
    if table.curves.items.is_empty() {
        context.out.error(&table.curves.place, "a chart has at least one curve");
        return None;
    }
    let curves: Vec<Option<String>> =
        table.curves.items.iter().map(|formula| column(formula, columns, context)).collect();
    let over = table.over.as_ref().map(|formula| column(formula, columns, context));
    let range = table.range.as_ref().map(|pair| range(pair, context));
    let over_range = table.over_range.as_ref().map(|pair| self::range(pair, context));
    let curves: Vec<String> = curves.into_iter().collect::<Option<_>>()?;
    let over = match over {
        Some(name) => Some(name?).filter(|name| name != "t"),
        None => None,
    };
    let short = |name: &String| name.strip_prefix("output.").unwrap_or(name).to_owned();
    let title = || {
        let names: Vec<String> = curves.iter().map(short).collect();
        over.as_ref().map_or(names.join(", "), |over| format!("{} over {}", names.join(", "), short(over)))
    };
    let title = table.title.as_ref().map_or_else(title, |title| title.value.clone());
    let given = |range: Option<Option<[f64; 2]>>| match range {
        Some(range) => range.map(Some),
        None => Some(None),
    };
    let (range, over_range) = (given(range)?, given(over_range)?);
    Some(ChartInfo { title, curves, over, range, over_range, log: table.log.unwrap_or(false) })
}

/// The full name of the column that a formula stands for.
fn column(formula: &Formula, columns: &[(String, Column)], context: &mut Context) -> Option<String> {
    let wanted = match (expression(formula), &formula.content) {
        (Some(text), _) => format!("output.{text}"),
        (None, Content::Expression(name)) => name.trim().to_owned(),
        (None, Content::Number(value)) => value.to_string(),
    };
    let known = || columns.iter().map(|(name, _)| name.as_str());
    if known().any(|name| name == wanted) {
        return Some(wanted);
    }
    // a mistake in an expression has been told already
    if expression(formula).is_none() {
        let hint = suggest(&wanted, known(), false, || {
            "write the full name of a result column, as in \"gap.floor\", or an expression of coordinates".into()
        });
        context.out.error(&formula.place, format!("there is no result column `{wanted}`")).hint(hint);
    }
    None
}

fn range(pair: &OneOrMore, context: &mut Context) -> Option<[f64; 2]> {
    let values: Vec<Option<f64>> = pair.items.iter().map(|formula| context.number(formula)).collect();
    match values.into_iter().collect::<Option<Vec<f64>>>()?[..] {
        [low, high] if low < high && low.is_finite() && high.is_finite() => Some([low, high]),
        _ => {
            let error = context.out.error(&pair.place, "a range is a list of two numbers, the smaller one first");
            error.hint("as in range = [0, 1.5]");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_column;

    #[test]
    fn columns_have_a_word_and_a_dot() {
        for name in ["q.x", "gap.floor", "force.A.t1", "mu1.row", "output.x - 1", "energy.total"] {
            assert!(is_column(name), "{name}");
        }
        for text in ["x", "2.5*x", "x*2.5", "sin(x)", "x'", ".5", "x + y.z", "t", "q.", ""] {
            assert!(!is_column(text), "{text}");
        }
    }
}
