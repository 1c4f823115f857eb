//! What `reproduce` writes: a page, the data and a record for each item, and a page of all items that the folder has.

use super::Done;
use crate::site::{Card, page, section};
use carom_analysis::folder::{Draft, FolderError};
use carom_analysis::report::{Block, Callout, Cell, Report, Section, Table};
use carom_analysis::study::document::{self, Column};
use carom_papers::{Data, Effort, PAPERS, Paper, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The record of an item.
const RECORD: &str = "item.json";

/// What is remembered of an item, for the page of all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its key, as on the command line.
    pub item: String,
    /// What it shows.
    pub title: String,
    /// What the paper says of it.
    pub claim: String,
    /// The verdict in a word, and why.
    pub verdict: String,
    /// Why it is not simply reproduced.
    pub reason: String,
    /// Checks that hold, and all of them.
    pub checks: [usize; 2],
    /// Whether runs were fewer and coarser.
    pub quick: bool,
    /// Whether it has a picture: tables have none.
    pub picture: bool,
}

/// Writes pages, data and records of what was computed; what other items have left stays.
pub(super) fn write(done: &[Done], effort: Effort, draft: &mut Draft) -> Result<(), FolderError> {
    let mut records = BTreeMap::new();
    for d in done {
        let place = d.name();
        let page = report(d, effort);
        draft.write(&format!("{place}/index.html"), |out| page.write(out))?;
        let picture = page.figures().into_iter().next();
        if let Some((_, svg)) = &picture {
            draft.write(&format!("{place}/picture.svg"), |out| out.write_all(svg.as_bytes()))?;
        }
        let mut csv = |name: &str, table: &document::Table| {
            draft.write(&format!("{place}/{name}.csv"), |out| out.write_all(table.csv().as_bytes()))
        };
        for data in &d.outcome.figure.data {
            csv(&file_name(&data.name), &table(data))?;
        }
        csv("checks", &checks(d))?;
        let record = record(d, effort, picture.is_some());
        let text = serde_json::to_string_pretty(&record).unwrap_or_default() + "\n";
        draft.write(&format!("{place}/{RECORD}"), |out| out.write_all(text.as_bytes()))?;
        records.insert(record.item.clone(), record);
    }
    let is_new = |name: &str| done.iter().any(|d| name.starts_with(&format!("{}/", d.name())));
    let kept = draft.keep(|name| name != "index.html" && !is_new(name))?;
    for name in kept.iter().filter(|name| name.ends_with(RECORD)) {
        let text = std::fs::read_to_string(draft.folder().path().join(name)).unwrap_or_default();
        if let Ok(record) = serde_json::from_str::<Record>(&text) {
            records.entry(record.item.clone()).or_insert(record);
        }
    }
    draft.write("index.html", |out| out.write_all(overview(&records).as_bytes()))?;
    Ok(())
}

fn record(d: &Done, effort: Effort, picture: bool) -> Record {
    let checks = &d.outcome.figure.checks;
    Record {
        item: d.name(),
        title: d.wanted.item.title.into(),
        claim: d.wanted.item.claim.into(),
        verdict: d.outcome.verdict.word().into(),
        reason: d.outcome.verdict.reason().unwrap_or_default().into(),
        checks: [checks.iter().filter(|check| check.holds()).count(), checks.len()],
        quick: effort == Effort::Quick,
        picture,
    }
}

/// The card of an item whose files are below `root`.
pub fn card(record: &Record, root: &str) -> Card {
    let tone = match record.verdict.as_str() {
        "reproduced" => "good",
        "FAILED" => "bad",
        _ => "fair",
    };
    let place = |file: &str| format!("{root}{}/{file}", record.item);
    let mut lines = vec![record.title.clone(), format!("The paper: {}.", record.claim)];
    lines.extend((!record.reason.is_empty()).then(|| format!("{}.", record.reason)));
    let [held, all] = record.checks;
    let runs = if record.quick { "; fewer and coarser runs" } else { "" };
    Card {
        title: record.item.clone(),
        word: (record.verdict.clone(), tone),
        lines,
        picture: record.picture.then(|| place("picture.svg")),
        numbers: vec![("checks".into(), format!("{held} of {all} hold{runs}"))],
        links: vec![("charts and numbers".into(), place("index.html")), ("checks as CSV".into(), place("checks.csv"))],
    }
}

/// Items of a paper among those that are known, with what is no item.
pub fn chapter(paper: &Paper, records: &BTreeMap<String, Record>, root: &str) -> String {
    let known = paper.items.iter().filter_map(|item| records.get(&format!("{}/{}", paper.key, item.key)));
    let cards: Vec<Card> = known.map(|record| card(record, root)).collect();
    if cards.is_empty() {
        return String::new();
    }
    let absent: Vec<String> =
        paper.absent.iter().map(|(key, why)| format!("{}: {why}", key.replace('-', " "))).collect();
    let mut text = vec![format!("{} [{}]", paper.reference, paper.citation)];
    text.extend((!absent.is_empty()).then(|| format!("Not among the items: {}.", absent.join("; "))));
    section(&format!("{}: {}", paper.key, paper.title), &text, &cards)
}

/// The page of all items.
fn overview(records: &BTreeMap<String, Record>) -> String {
    let count = |word: &str| records.values().filter(|record| record.verdict == word).count();
    let mut body = format!(
        "<h1>Figures and tables of papers, computed anew</h1>\n<p>{} reproduced, {} in trend, {} not reproduced, {} \
         failed.</p>\n",
        count("reproduced"),
        count("reproduced in trend"),
        count("not reproduced"),
        count("FAILED")
    );
    PAPERS.iter().for_each(|paper| body += &chapter(paper, records, ""));
    page("Reproduced figures", "", &body)
}

/// The page of an item.
fn report(d: &Done, effort: Effort) -> Report {
    let mut report = Report::new(format!("{} {}", d.wanted.paper.key, d.wanted.item.key.replace('-', " ")));
    report.subtitle = d.wanted.item.title.into();
    if effort == Effort::Quick {
        report.subtitle += "; quick: fewer and coarser runs";
    }
    fill(report.section(d.wanted.item.title).gallery(), d);
    report
}

fn fill(section: &mut Section, d: &Done) {
    section.paragraph(format!("{} [{}]", d.wanted.paper.reference, d.wanted.paper.citation));
    section.paragraph(format!("The paper: {}.", d.wanted.item.claim));
    let kind = match d.outcome.verdict {
        Verdict::Reproduced => Callout::Info,
        Verdict::Trend(_) | Verdict::NotReproduced(_) => Callout::Warning,
        Verdict::Failed(_) => Callout::Failure,
    };
    let reason = d.outcome.verdict.reason().map(|reason| format!(": {reason}")).unwrap_or_default();
    section.callout(kind, format!("{}{reason}", d.outcome.verdict.word()));
    d.outcome.figure.blocks.iter().for_each(|block: &Block| _ = section.push(block.clone()));
    let mut table = Table::new("Checks", ["what", "expected", "measured", "source", ""]);
    for check in &d.outcome.figure.checks {
        table.row([
            Cell::from(check.what.as_str()),
            Cell::from(check.expected()),
            Cell::from(check.measured),
            Cell::from(check.source),
            Cell::from(if check.holds() { "holds" } else { "MISSED" }),
        ]);
    }
    section.push(table);
}

/// Letters, digits, dots and dashes of a name.
fn file_name(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_alphanumeric() || c == '.' {
            out.push(c);
        } else if !out.ends_with('-') {
            out.push('-');
        }
    }
    out.trim_matches('-').to_owned()
}

fn table(data: &Data) -> document::Table {
    let mut table = document::Table::new(&data.name, data.header.iter().map(Column::new));
    data.rows.iter().for_each(|row| table.row(row.iter().map(|x| Cell::from(*x))));
    table
}

fn checks(d: &Done) -> document::Table {
    let columns = ["what", "low", "high", "measured", "holds", "source"].map(Column::new);
    let mut table = document::Table::new("Checks", columns);
    for c in &d.outcome.figure.checks {
        let numbers = [c.range.0, c.range.1, c.measured].map(Cell::from);
        let last = [Cell::from(c.holds().to_string()), Cell::from(c.source)];
        table.row(std::iter::once(Cell::from(c.what.as_str())).chain(numbers).chain(last));
    }
    table
}
