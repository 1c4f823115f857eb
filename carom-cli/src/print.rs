//! A document on a terminal.

use crate::console::{print_line, print_text};
use crate::failure::Failure;
use crate::table::Table as Columns;
use carom_analysis::study::document::{Document, Printed, Table};
use std::path::Path;

/// Prints headline, tables, facts, warnings and where the files are.
pub fn print(document: &Document, folder: &Path) -> Result<(), Failure> {
    print_text(&document.headline)?;
    for section in &document.sections {
        for table in section.tables.iter().filter(|table| table.printed != Printed::No) {
            print_table(table)?;
        }
        if section.printed_facts {
            section.facts.iter().try_for_each(|(name, value)| print_text(format_args!("{name}: {value}")))?;
        }
    }
    document.warnings.iter().try_for_each(|warning| print_text(format_args!("warning: {warning}")))?;
    document.files.iter().try_for_each(|(word, name)| print_line(format_args!("{word:6} {}/{name}", folder.display())))
}

/// Prints a table with the formats of its columns.
pub fn print_table(document: &Table) -> Result<(), Failure> {
    if !document.heading.is_empty() {
        print_line(format_args!("\n{}", document.heading))?;
    }
    let kept: Vec<usize> = (0..document.columns.len()).filter(|i| !document.columns[*i].title.is_empty()).collect();
    let mut table = Columns::new(kept.iter().map(|i| document.columns[*i].title.as_str()));
    let (rows, note) = document.printed_rows();
    for row in rows {
        table.row(kept.iter().map(|i| row.get(*i).map_or(String::new(), |cell| document.columns[*i].text(cell))));
    }
    table.print()?;
    note.map_or(Ok(()), print_line)
}
