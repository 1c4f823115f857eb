//! The gallery: one report with all figures and verdicts, and the data as CSV.

use super::Done;
use carom_analysis::folder::{Draft, FolderError};
use carom_analysis::report::{Block, Callout, Cell, Report, Section, Table};
use carom_analysis::study::document::{self, Column};
use carom_papers::{Data, Effort, Verdict};

/// Writes the report and the data; the latter in folders of papers and items.
pub fn write(done: &[Done], effort: Effort, draft: &mut Draft) -> Result<(), FolderError> {
    draft.write("index.html", |out| report(done, effort).write(out))?;
    for d in done {
        let place = format!("{}/{}", d.wanted.paper.key, d.wanted.item.key);
        let mut csv = |name: &str, table: &document::Table| {
            draft.write(&format!("{place}/{name}.csv"), |out| out.write_all(table.csv().as_bytes()))
        };
        for data in &d.outcome.figure.data {
            csv(&file_name(&data.name), &table(data))?;
        }
        csv("checks", &checks(d))?;
    }
    Ok(())
}

fn report(done: &[Done], effort: Effort) -> Report {
    let mut report = Report::new("Reproduced figures");
    let count = |word: &str| done.iter().filter(|d| d.outcome.verdict.word() == word).count();
    report.subtitle = format!(
        "{} reproduced, {} in trend, {} not reproduced, {} failed{}",
        count("reproduced"),
        count("reproduced in trend"),
        count("not reproduced"),
        count("FAILED"),
        if effort == Effort::Quick { "; quick: fewer and coarser runs" } else { "" }
    );
    let mut table = Table::new("Verdicts", ["item", "title", "verdict", "reason"]);
    for d in done {
        table.row([
            Cell::from(format!("{}/{}", d.wanted.paper.key, d.wanted.item.key)),
            Cell::from(d.wanted.item.title),
            Cell::from(d.outcome.verdict.word()),
            Cell::from(d.outcome.verdict.reason().unwrap_or_default()),
        ]);
    }
    report.section("Overview").push(table);
    for d in done {
        let title = format!("{} {}: {}", d.wanted.paper.key, d.wanted.item.key.replace('-', " "), d.wanted.item.title);
        fill(report.section(title).gallery(), d);
    }
    report
}

fn fill(section: &mut Section, d: &Done) {
    section.paragraph(format!("{} [{}]", d.wanted.paper.title, d.wanted.paper.citation));
    let kind = match d.outcome.verdict {
        Verdict::Reproduced => Callout::Info,
        Verdict::Trend(_) | Verdict::NotReproduced(_) => Callout::Warning,
        Verdict::Failed(_) => Callout::Failure,
    };
    let reason = d.outcome.verdict.reason().map(|reason| format!(": {reason}")).unwrap_or_default();
    section.callout(kind, format!("{}{reason}", d.outcome.verdict.word()));
    for block in &d.outcome.figure.blocks {
        let mut block = block.clone();
        if let Block::Chart(chart) = &mut block {
            // charts of one item zoom together, not those of the whole gallery
            chart.linked =
                chart.linked.take().map(|group| format!("{group} {}/{}", d.wanted.paper.key, d.wanted.item.key));
        }
        section.push(block);
    }
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
