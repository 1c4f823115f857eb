//! What a study found: one document, from which terminal, CSV, JSON and report all come.
//!
//! Tables have one list of columns with formats: CSV files have the numbers in full under the column's key, the
//! terminal and the report show them under its title. Images become PNG files beside the report.

use crate::files::{csv_number, csv_partial, csv_text};
use crate::folder::{Draft, FolderError};
use crate::report::{self, Callout, Cell, Chart, Image, Report};
use serde_json::{Map, Value, json};

/// A document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Title of the report.
    pub title: String,
    /// Line below it; may be empty.
    pub subtitle: String,
    /// First line on a terminal.
    pub headline: String,
    /// What must not be overlooked.
    pub warnings: Vec<String>,
    /// What was found, part by part.
    pub sections: Vec<Section>,
    /// Name and text of the model, for the end of the report.
    pub source: Option<(String, String)>,
    /// The results for programs; where there is nothing, the tables as objects.
    pub data: Option<Value>,
    /// Why the whole study counts as failed; it is written all the same.
    pub failure: Option<String>,
    /// Why it is not all: what an interruption has left out. All files say so.
    pub partial: Option<String>,
    /// What was measured with a clock: in files of its own, named `times`, so that all others have the same bytes
    /// whenever they are computed.
    pub times: Option<Box<Document>>,
    /// Names of the files that [`Document::write`] wrote, with a word for each.
    pub files: Vec<(&'static str, String)>,
}

/// A part of a document with a title.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Title in the report.
    pub title: String,
    /// Paragraphs, in the report alone.
    pub text: Vec<String>,
    /// Names and values.
    pub facts: Vec<(String, String)>,
    /// Whether the facts are printed on a terminal as well.
    pub printed_facts: bool,
    /// Tables.
    pub tables: Vec<Table>,
    /// Charts, in the report alone.
    pub charts: Vec<Chart>,
    /// Whether charts stand side by side.
    pub gallery: bool,
    /// Images, each with the name of its file.
    pub images: Vec<(String, Image)>,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Title in the report.
    pub caption: String,
    /// Line above it on a terminal; may be empty.
    pub heading: String,
    /// Name of its CSV file, where it has one.
    pub file: Option<String>,
    /// What stands in the cells of a row.
    pub columns: Vec<Column>,
    /// Short rows end in empty cells.
    pub rows: Vec<Vec<Cell>>,
    /// Rows on a terminal.
    pub printed: Printed,
    /// Whether it is left out of the report.
    pub hidden: bool,
}

/// A column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// Head in the CSV file; a column without one is for people alone.
    pub key: String,
    /// Head for people; a column without one is in the CSV file alone.
    pub title: String,
    /// How its numbers look on a terminal.
    pub format: Format,
    /// Whether its texts are quoted in the CSV file even where they need not be.
    pub quoted: bool,
}

/// How numbers look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// The fewest digits that read back as the same.
    #[default]
    Shortest,
    /// So many significant digits.
    Digits(usize),
    /// So many decimals.
    Fixed(usize),
    /// A power of ten, so many decimals.
    Scientific(usize),
}

/// Rows on a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Printed {
    /// All of them.
    #[default]
    All,
    /// None.
    No,
    /// The first so many.
    First(usize),
    /// At most so many, equally far from one another.
    Spread(usize),
}

impl Column {
    /// The same name in files and for people.
    pub fn new(name: impl Into<String>) -> Column {
        let name = name.into();
        Column { key: name.clone(), title: name, ..Column::default() }
    }

    /// A column of the CSV file alone.
    pub fn key(key: impl Into<String>) -> Column {
        Column { key: key.into(), ..Column::default() }
    }

    /// Another name for people.
    pub fn titled(self, title: impl Into<String>) -> Column {
        Column { title: title.into(), ..self }
    }

    /// With texts that are always quoted.
    pub fn quoted(self) -> Column {
        Column { quoted: true, ..self }
    }

    /// Another look of numbers.
    pub fn shown(self, format: Format) -> Column {
        Column { format, ..self }
    }

    /// A cell as a terminal shows it.
    pub fn text(&self, cell: &Cell) -> String {
        match (cell, self.format) {
            (Cell::Text(text) | Cell::Formatted { text, .. }, _) => text.clone(),
            (Cell::Count(count), _) => count.to_string(),
            (Cell::Empty, _) => String::new(),
            (Cell::Number(x), Format::Shortest) => x.to_string(),
            (Cell::Number(x), Format::Digits(digits)) => report::number(*x, digits),
            (Cell::Number(x), Format::Fixed(decimals)) => format!("{x:.decimals$}"),
            (Cell::Number(x), Format::Scientific(decimals)) => format!("{x:.decimals$e}"),
        }
    }
}

impl Table {
    /// An empty table.
    pub fn new(caption: impl Into<String>, columns: impl IntoIterator<Item = Column>) -> Table {
        Table { caption: caption.into(), columns: columns.into_iter().collect(), ..Table::default() }
    }

    /// With a CSV file.
    pub fn to_file(self, name: impl Into<String>) -> Table {
        Table { file: Some(name.into()), ..self }
    }

    /// With other rows on a terminal.
    pub fn printed(self, printed: Printed) -> Table {
        Table { printed, ..self }
    }

    /// In files and on a terminal alone, not in the report.
    pub fn hidden(self) -> Table {
        Table { hidden: true, ..self }
    }

    /// Appends a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// All rows as comma-separated values with a header.
    pub fn csv(&self) -> String {
        let kept: Vec<usize> = (0..self.columns.len()).filter(|i| !self.columns[*i].key.is_empty()).collect();
        let cell = |column: &Column, cell: &Cell| match cell {
            Cell::Text(word) => csv_text(word, column.quoted).into_owned(),
            Cell::Number(x) | Cell::Formatted { value: x, .. } => csv_number(*x),
            Cell::Count(count) => count.to_string(),
            Cell::Empty => String::new(),
        };
        let mut text = kept.iter().map(|i| csv_text(&self.columns[*i].key, false)).collect::<Vec<_>>().join(",") + "\n";
        for row in &self.rows {
            let cells: Vec<String> =
                kept.iter().map(|i| cell(&self.columns[*i], row.get(*i).unwrap_or(&Cell::Empty))).collect();
            text.push_str(&cells.join(","));
            text.push('\n');
        }
        text
    }

    /// The rows that a terminal shows, and a word about the others.
    pub fn printed_rows(&self) -> (Vec<&Vec<Cell>>, Option<String>) {
        let n = self.rows.len();
        match self.printed {
            Printed::No => (Vec::new(), None),
            Printed::First(most) if n > most => {
                (self.rows.iter().take(most).collect(), Some(format!("the first {most} of {n} rows are shown")))
            }
            Printed::Spread(most) if n > most => {
                let every = n.div_ceil(most.max(1));
                (self.rows.iter().step_by(every).collect(), Some(format!("one of {every} rows is shown")))
            }
            _ => (self.rows.iter().collect(), None),
        }
    }

    /// Its name and rows as objects.
    pub fn json(&self) -> Value {
        let row = |row: &Vec<Cell>| -> Map<String, Value> {
            let cell = |cell: &Cell| match cell {
                Cell::Text(text) => json!(text),
                Cell::Number(x) | Cell::Formatted { value: x, .. } => json!(x),
                Cell::Count(count) => json!(count),
                Cell::Empty => Value::Null,
            };
            let named = self.columns.iter().zip(row).filter(|(column, _)| !column.key.is_empty());
            named.map(|(column, x)| (column.key.clone(), cell(x))).collect()
        };
        json!({ "name": self.caption, "rows": self.rows.iter().map(row).collect::<Vec<_>>() })
    }

    fn report(&self) -> report::Table {
        let kept: Vec<usize> = (0..self.columns.len()).filter(|i| !self.columns[*i].title.is_empty()).collect();
        let mut table = report::Table::new(&self.caption, kept.iter().map(|i| self.columns[*i].title.clone()));
        table.file = self.file.clone();
        for row in &self.rows {
            table.row(kept.iter().map(|i| row.get(*i).cloned().unwrap_or(Cell::Empty)));
        }
        table
    }
}

impl Document {
    /// The results for programs.
    pub fn json(&self) -> Value {
        let tables = || self.sections.iter().flat_map(|section| &section.tables).map(Table::json).collect::<Vec<_>>();
        let facts = || self.sections.iter().flat_map(|section| section.facts.clone()).collect::<Vec<_>>();
        self.data.clone().unwrap_or_else(|| {
            let mut all =
                json!({ "title": self.title, "facts": facts(), "tables": tables(), "warnings": self.warnings });
            if let (Some(reason), Some(all)) = (&self.partial, all.as_object_mut()) {
                all.insert("partial".into(), json!(reason));
            }
            all
        })
    }

    /// The report.
    pub fn report(&self) -> Report {
        let mut report = Report::new(&self.title);
        report.subtitle = self.subtitle.clone();
        for (index, section) in self.sections.iter().enumerate() {
            let page = report.section(&section.title);
            if index == 0 {
                self.partial.iter().for_each(|reason| _ = page.callout(Callout::Warning, format!("partial: {reason}")));
                self.warnings.iter().for_each(|warning| _ = page.callout(Callout::Warning, warning));
            }
            section.text.iter().for_each(|text| _ = page.paragraph(text));
            section.images.iter().for_each(|(_, image)| _ = page.push(image.clone()));
            section.charts.iter().for_each(|chart| _ = page.push(chart.clone()));
            section.tables.iter().filter(|table| !table.hidden).for_each(|table| _ = page.push(table.report()));
            if !section.facts.is_empty() {
                page.facts(section.facts.clone());
            }
            if section.gallery {
                page.gallery();
            }
        }
        if let Some((name, text)) = &self.source {
            report.section("Model file").preformatted(name, text);
        }
        report
    }

    /// Writes tables, images and the report `NAME.html` into a draft, and notes them.
    ///
    /// # Errors
    /// Fails with the file that could not be written.
    pub fn write(&mut self, draft: &mut Draft, name: &str) -> Result<(), FolderError> {
        let mark = self.partial.as_deref().map(csv_partial).unwrap_or_default();
        let mut files = Vec::new();
        for section in &self.sections {
            for (table, file) in section.tables.iter().filter_map(|table| Some((table, table.file.as_ref()?))) {
                let text = table.csv() + &mark;
                files.push(("table", draft.write(file, |out| out.write_all(text.as_bytes()))?));
            }
            for (file, image) in &section.images {
                files.push(("image", draft.write(file, |out| out.write_all(&image.png()))?));
            }
        }
        let report = self.report();
        files.push(("report", draft.write(&format!("{name}.html"), |out| report.write(out))?));
        if let Some(times) = &mut self.times {
            times.partial.clone_from(&self.partial);
            times.write(draft, "times")?;
            files.append(&mut times.files);
        }
        self.files = files;
        Ok(())
    }
}
