//! Two runs side by side: where their columns differ, and by how much.
//!
//! Rows of the one are compared with the other at the same time: straight lines between rows where a column is one,
//! the value of the step where a column holds over it, and the sum so far of what is counted up. Where both have a jump
//! at the same time, before is compared with before and after with after; where one jumps a little later than the
//! other, the difference in between is the height of the jump, and is told as such.

use super::stored::{Stored, StoredColumn, StoredImpact};
use crate::report::{Cell, Chart, Dash, Series, SeriesStyle, number};
use crate::study::document::{Column, Document, Format, Printed, Section, Table};
use carom::simulation::ColumnKind;
use serde_json::Value;

/// Ranges below this part of the largest value are rounding.
const ROUNDING: f64 = 1e-9;

/// Names of both runs, as charts and tables call them.
pub type Names<'a> = [&'a str; 2];

/// How a column of two runs differs.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Name of the column.
    pub name: String,
    /// Its unit, where it has one.
    pub unit: Option<String>,
    /// The largest difference, and when it is [s].
    pub largest: (f64, f64),
    /// The difference at the end of the common time.
    pub last: f64,
    /// The larger of both ranges of values.
    pub range: f64,
    times: Vec<f64>,
    values: Vec<f64>,
}

impl Difference {
    /// The largest difference as a part of the range; 0 where nothing differs.
    pub fn relative(&self) -> f64 {
        if self.largest.0 == 0.0 { 0.0 } else { self.largest.0 / self.range }
    }
}

/// Columns that both runs have, in the order of the first.
pub fn differences(a: &Stored, b: &Stored) -> Vec<Difference> {
    let common = a.columns.iter().filter_map(|column| {
        let other = b.columns.iter().find(|other| other.info.name == column.info.name)?;
        (column.info.kind != ColumnKind::Time).then(|| difference(column, a.times(), other, b.times()))
    });
    common.collect()
}

fn difference(a: &StoredColumn, at: &[f64], b: &StoredColumn, bt: &[f64]) -> Difference {
    let (left, right) = (readable(a), readable(b));
    let other = Reader { times: bt, values: &right, kind: b.info.kind };
    let end = at.last().copied().unwrap_or(0.0).min(bt.last().copied().unwrap_or(0.0));
    let (mut times, mut values) = (Vec::new(), Vec::new());
    for (i, &t) in at.iter().enumerate().take_while(|(_, t)| **t <= end) {
        let before = at.get(i + 1) == Some(&t);
        let difference = other.at(t, before).map_or(f64::NAN, |value| left[i] - value);
        times.push(t);
        values.push(difference);
    }
    let mut known = times.iter().copied().zip(values.iter().copied()).filter(|(_, d)| d.is_finite());
    let largest = known.clone().map(|(t, d)| (d.abs(), t)).fold((0.0, f64::NAN), |a, b| if b.0 > a.0 { b } else { a });
    let last = known.next_back().map_or(f64::NAN, |(_, d)| d);
    let range = range(&left).max(range(&right));
    let info = a.info.clone();
    Difference { name: info.name, unit: info.unit, largest, last, range, times, values }
}

/// Values as they are compared: what is counted up, as the sum so far.
fn readable(column: &StoredColumn) -> Vec<f64> {
    let mut sum = 0.0;
    let value = |x: &f64| match column.info.kind {
        ColumnKind::Sum => {
            sum += if x.is_finite() { *x } else { 0.0 };
            sum
        }
        _ => *x,
    };
    column.values.iter().map(value).collect()
}

fn range(values: &[f64]) -> f64 {
    let finite = || values.iter().copied().filter(|x| x.is_finite());
    let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    let size = finite().map(f64::abs).fold(f64::MIN_POSITIVE, f64::max);
    // a constant is measured by its size, and so is one up to rounding
    if high - low > ROUNDING * size { high - low } else { size }
}

/// A column at any time.
struct Reader<'a> {
    times: &'a [f64],
    values: &'a [f64],
    kind: ColumnKind,
}

impl Reader<'_> {
    /// The value just before or just after `t`; `None` outside of the times and where a row has none.
    fn at(&self, t: f64, before: bool) -> Option<f64> {
        // rows [first, after) have this very time
        let first = self.times.partition_point(|x| *x < t);
        let after = self.times.partition_point(|x| *x <= t);
        let value = if first < after {
            self.values[if before { first } else { after - 1 }]
        } else {
            let (i, j) = (first.checked_sub(1)?, first);
            let (t0, t1) = (self.times[i], *self.times.get(j)?);
            let s = (t - t0) / (t1 - t0);
            match self.kind {
                ColumnKind::Line => (1.0 - s) * self.values[i] + s * self.values[j],
                ColumnKind::Sum => self.values[i],
                // one value over each step, in the row of its end
                _ => self.values[j],
            }
        };
        value.is_finite().then_some(value)
    }
}

/// The comparison for terminal, files and report.
pub fn document(a: &Stored, b: &Stored, names: Names<'_>) -> Document {
    let found = differences(a, b);
    let worst = found.iter().max_by(|x, y| x.relative().total_cmp(&y.relative()));
    let headline = match worst.filter(|worst| worst.relative() > 0.0) {
        Some(worst) => format!(
            "largest difference: {} of its range, in {} at t = {} s",
            number(worst.relative(), 3),
            worst.name,
            number(worst.largest.1, 6)
        ),
        None => "no column differs".into(),
    };
    let sections = vec![overview(a, b, names, &found), impacts(a, b, names), curves(a, b, names, &found)];
    Document {
        title: format!("{} and {}", names[0], names[1]),
        subtitle: headline.clone(),
        headline,
        warnings: missing(a, b, names),
        sections,
        ..Document::default()
    }
}

/// Columns and times that only one of them has.
fn missing(a: &Stored, b: &Stored, names: Names<'_>) -> Vec<String> {
    let mut told = Vec::new();
    for (one, other, name) in [(a, b, names[0]), (b, a, names[1])] {
        let has = |column: &&StoredColumn| !other.columns.iter().any(|x| x.info.name == column.info.name);
        let only: Vec<&str> = one.columns.iter().filter(has).map(|column| column.info.name.as_str()).collect();
        if !only.is_empty() {
            told.push(format!("only {name} has the columns {}", only.join(", ")));
        }
    }
    let end = |stored: &Stored| stored.times().last().copied().unwrap_or(0.0);
    if end(a) != end(b) {
        told.push(format!("they end at {} s and {} s: compared is the common time", end(a), end(b)));
    }
    told
}

fn overview(a: &Stored, b: &Stored, names: Names<'_>, found: &[Difference]) -> Section {
    let digits = |name: &str, title: &str| Column::new(name).titled(title).shown(Format::Digits(4));
    let mut columns = Table::new(
        "Differences of the columns",
        [
            Column::new("column"),
            Column::new("unit"),
            digits("largest", "largest"),
            digits("t", "at t [s]"),
            digits("last", "at the end"),
            digits("relative", "largest / range"),
        ],
    )
    .to_file("compare.csv");
    for d in found {
        let time = if d.largest.1.is_finite() { Cell::from(d.largest.1) } else { Cell::Empty };
        let last = if d.last.is_finite() { Cell::from(d.last) } else { Cell::Empty };
        let unit = d.unit.clone().map_or(Cell::Empty, Cell::from);
        columns.row([d.name.as_str().into(), unit, d.largest.0.into(), time, last, d.relative().into()]);
    }
    let mut facts = Table::new("Both runs", ["what", names[0], names[1]].map(Column::new));
    for (name, pointer) in FACTS {
        let [left, right] = [a, b].map(|stored| stored.summary.pointer(pointer).map_or(String::new(), word));
        if !(left.is_empty() && right.is_empty()) {
            facts.row([name.into(), left.into(), right.into()]);
        }
    }
    for (name, left, right) in parameters(a, b) {
        facts.row([format!("parameter {name}").into(), left.into(), right.into()]);
    }
    Section { title: "Overview".into(), tables: vec![facts, columns], ..Section::default() }
}

/// What of the summaries stands side by side.
const FACTS: [(&str, &str); 13] = [
    ("status", "/status"),
    ("model", "/inputs/model"),
    ("scheme", "/inputs/scheme/name"),
    ("solver", "/inputs/solver/name"),
    ("impact law", "/inputs/impacts"),
    ("materials combine by", "/inputs/materials"),
    ("step [s]", "/inputs/step"),
    ("adaptive", "/inputs/adaptive/tolerance"),
    ("steps", "/statistics/steps"),
    ("problems solved", "/statistics/solves"),
    ("evaluations", "/statistics/evaluations"),
    ("impacts", "/impacts"),
    ("energy residue [J]", "/energy/residue"),
];

fn word(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(x) if x.is_f64() => number(x.as_f64().unwrap_or(f64::NAN), 6),
        other => other.to_string(),
    }
}

/// Parameters whose values differ.
fn parameters(a: &Stored, b: &Stored) -> Vec<(String, String, String)> {
    let of = |stored: &Stored| stored.summary["inputs"]["parameters"].as_object().cloned().unwrap_or_default();
    let (left, right) = (of(a), of(b));
    let names = left.keys().chain(right.keys().filter(|name| !left.contains_key(*name)));
    let value = |map: &serde_json::Map<String, Value>, name: &String| map.get(name).map_or(String::new(), word);
    let changed = names.filter(|name| left.get(*name) != right.get(*name));
    changed.map(|name| (name.clone(), value(&left, name), value(&right, name))).collect()
}

/// The k-th impact of a contact in both runs.
fn impacts(a: &Stored, b: &Stored, names: Names<'_>) -> Section {
    let time = |name: &str| Column::new(format!("t {name}")).titled(format!("t [s], {name}")).shown(Format::Digits(8));
    let short = |name: &str, unit: &str| Column::new(name).titled(format!("{name}{unit}")).shown(Format::Digits(4));
    let columns = [Column::new("contact"), time(names[0]), time(names[1]), short("difference of t", " [s]")];
    let columns = columns.into_iter().chain([short("difference of impulse", "")]);
    let mut table = Table::new("Impacts, the k-th of each contact", columns).to_file("compare-impacts.csv");
    table.printed = Printed::First(20);
    let mut contacts: Vec<&str> = a.impacts.iter().chain(&b.impacts).map(|impact| impact.contact.as_str()).collect();
    contacts.sort_unstable();
    contacts.dedup();
    for contact in contacts {
        let of = |stored: &'_ Stored| -> Vec<StoredImpact> {
            stored.impacts.iter().filter(|impact| impact.contact == contact).cloned().collect()
        };
        let (left, right) = (of(a), of(b));
        for k in 0..left.len().max(right.len()) {
            let (l, r) = (left.get(k), right.get(k));
            let both = l.zip(r);
            let shift = both.map(|(l, r)| r.t - l.t);
            let impulse = both.map(|(l, r)| r.impulse - l.impulse);
            table.row([contact.into(), l.map(|l| l.t).into(), r.map(|r| r.t).into(), shift.into(), impulse.into()]);
        }
    }
    let text = vec![format!("{} impacts in {}, {} in {}.", a.impacts.len(), names[0], b.impacts.len(), names[1])];
    Section { title: "Impacts".into(), text, tables: vec![table], ..Section::default() }
}

/// Both curves of each column that differs in one chart, and their differences beside.
fn curves(a: &Stored, b: &Stored, names: Names<'_>, found: &[Difference]) -> Section {
    let mut charts = Vec::new();
    let (differ, same): (Vec<_>, Vec<_>) = found.iter().partition(|d| d.largest.0 > 0.0);
    let mut text = Vec::new();
    if !same.is_empty() {
        let names: Vec<&str> = same.iter().map(|d| d.name.as_str()).collect();
        text.push(format!("Equal in both: {}.", names.join(", ")));
    }
    if differ.iter().any(|d| d.name.starts_with("force.")) {
        text.push("Forces that a scheme knows as means over steps have the impulses of impacts in them.".into());
    }
    if differ.iter().any(|d| d.times.iter().any(|t| b.times().binary_search_by(|x| x.total_cmp(t)).is_err())) {
        text.push(format!(
            "Rows of {} at times that {} has no row for are compared with straight lines between its rows: where these \
             are far apart, the bend of a curve between them is part of the difference.",
            names[0], names[1]
        ));
    }
    for d in differ {
        let label = d.unit.as_ref().map_or(String::new(), |unit| format!("[{unit}]"));
        let mut chart = Chart::over_time(&d.name, &label);
        for (stored, name, dash) in [(a, names[0], Dash::Solid), (b, names[1], Dash::Dash)] {
            let Some(column) = stored.columns.iter().find(|column| column.info.name == d.name) else { continue };
            let style = match column.info.kind {
                ColumnKind::Held => SeriesStyle::Steps,
                ColumnKind::Mean => SeriesStyle::Means,
                ColumnKind::Sum => SeriesStyle::Stems,
                _ => SeriesStyle::Lines,
            };
            let (times, values) = (stored.times().to_vec(), column.values.clone());
            chart = chart.with(Series::new(name, style, times, values).dashed(dash).jumping());
        }
        chart.file = Some("trajectory.parquet".into());
        charts.push(chart);
        let title = format!("{}: {} − {}", d.name, names[0], names[1]);
        let series = Series::lines("difference", d.times.clone(), d.values.clone()).jumping();
        charts.push(Chart::over_time(title, label).with(series));
    }
    Section { title: "Columns".into(), text, charts, gallery: true, ..Section::default() }
}

#[cfg(test)]
mod tests {
    use super::super::ColumnInfo;
    use super::*;

    fn column(name: &str, kind: ColumnKind, values: &[f64]) -> StoredColumn {
        StoredColumn { info: ColumnInfo { name: name.into(), unit: None, kind }, values: values.to_vec() }
    }

    fn stored(t: &[f64], kind: ColumnKind, x: &[f64]) -> Stored {
        let columns = vec![column("t", ColumnKind::Time, t), column("x", kind, x)];
        Stored { summary: Value::Null, columns, impacts: Vec::new() }
    }

    #[test]
    fn lines_are_compared_at_equal_times() {
        // x = t against x = t + 0.5 t on other rows: the difference is -t/2
        let a = stored(&[0.0, 0.5, 1.0, 2.0], ColumnKind::Line, &[0.0, 0.5, 1.0, 2.0]);
        let b = stored(&[0.0, 0.8, 1.6, 3.0], ColumnKind::Line, &[0.0, 1.2, 2.4, 4.5]);
        let d = &differences(&a, &b)[0];
        assert!((d.largest.0 - 1.0).abs() < 1e-15 && d.largest.1 == 2.0 && (d.last + 1.0).abs() < 1e-15, "{d:?}");
        assert_eq!(d.values.len(), 4);
        assert!((d.relative() - 1.0 / 4.5).abs() < 1e-15);
    }

    #[test]
    fn jumps_are_compared_side_by_side() {
        let a = stored(&[0.0, 1.0, 1.0, 2.0], ColumnKind::Line, &[1.0, 1.0, -1.0, -1.0]);
        let same = differences(&a, &a.clone())[0].largest.0;
        assert_eq!(same, 0.0);
        let b = stored(&[0.0, 1.5, 1.5, 2.0], ColumnKind::Line, &[1.0, 1.0, -1.0, -1.0]);
        let d = &differences(&a, &b)[0];
        assert_eq!(d.values, [0.0, 0.0, -2.0, 0.0]);
    }

    #[test]
    fn steps_and_sums_are_read_as_what_they_are() {
        let a = stored(&[0.0, 1.0, 2.0], ColumnKind::Held, &[f64::NAN, 3.0, 4.0]);
        let b = stored(&[0.0, 0.5, 1.0, 1.5, 2.0], ColumnKind::Held, &[f64::NAN, 7.0, 3.0, 9.0, 4.0]);
        assert_eq!(differences(&a, &b)[0].largest.0, 0.0);
        assert_eq!(differences(&b, &a)[0].largest, (5.0, 1.5));
        let a = stored(&[0.0, 1.0, 2.0], ColumnKind::Sum, &[0.0, 1.0, 1.0]);
        let b = stored(&[0.0, 0.5, 1.0, 2.0], ColumnKind::Sum, &[0.0, 0.5, 0.5, 0.0]);
        assert_eq!(differences(&a, &b)[0].values, [0.0, 0.0, 1.0]);
        assert_eq!(differences(&b, &a)[0].values, [0.0, 0.5, 0.0, -1.0]);
    }
}
