//! Tables: sortable in the browser, long ones scroll in a box and name the file that has all rows.

use carom::elementary::log10;
use std::fmt::Write as _;

use super::chart::split_unit;
use super::encode::escape;

/// Most decimals of the time column: impacts near an accumulation differ late.
const TIME_DECIMALS: usize = 12;
/// Digits of times that are no round numbers, unless more are needed to tell them apart.
const TIME_DIGITS: i32 = 6;
const DIGITS: usize = 5;
/// Digits in a list that stands beside charts.
const SHORT: usize = 4;
/// Rows of a table on paper.
const PRINTED: usize = 40;

/// A table with a header.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Text above the table; may be empty.
    pub caption: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// Short rows end in empty cells.
    pub rows: Vec<Vec<Cell>>,
    /// At most this many rows are written to the page.
    pub shown: usize,
    /// Number of rows of the full table, if `rows` is only its beginning.
    pub total: Option<usize>,
    /// Name of the file with all rows, for the note below a shortened table.
    pub file: Option<String>,
    /// Column with a time [s]: a click on a row moves the animations and the cursor of the charts there.
    pub time_column: Option<usize>,
    /// A list beside charts whose largest time this is [s]: numbers are short, with SI prefixes at the units of the
    /// header, that of times as on the charts (`t [ms]`).
    pub beside: Option<f64>,
    /// Columns that a narrow screen leaves out.
    pub optional: Vec<usize>,
    /// What marks in cells mean; may be empty.
    pub note: String,
}

/// A cell. Numbers sort as numbers, shown with five significant digits unless formatted by the caller.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Text as it is.
    Text(String),
    /// A number; in the time column it is shown with the decimals that tell times apart.
    Number(f64),
    /// A whole number, shown with all its digits.
    Count(u64),
    /// A number with the text to show for it.
    Formatted {
        /// The number by which rows are sorted.
        value: f64,
        /// What is shown.
        text: String,
    },
    /// Nothing: a value that is not there.
    Empty,
}

impl Table {
    /// An empty table.
    pub fn new<H: Into<String>>(caption: impl Into<String>, header: impl IntoIterator<Item = H>) -> Self {
        Self {
            caption: caption.into(),
            header: header.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
            shown: 200,
            total: None,
            file: None,
            time_column: None,
            beside: None,
            optional: Vec::new(),
            note: String::new(),
        }
    }

    /// Appends a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) -> &mut Self {
        self.rows.push(cells.into_iter().collect());
        self
    }

    pub(super) fn render(&self, out: &mut String) {
        out.push_str("<figure class=\"table\">\n");
        if !self.caption.is_empty() {
            let _ = writeln!(out, "<figcaption>{}</figcaption>", escape(&self.caption));
        }
        out.push_str("<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>");
        let columns: Vec<Style> = (0..self.header.len()).map(|column| self.style(column)).collect();
        for (name, Style { class, prefix, unit, .. }) in self.header.iter().zip(&columns) {
            let name = escape(split_unit(name).0);
            let unit = match unit.is_empty() {
                true => String::new(),
                false => format!("<span class=\"u\">{prefix}{}</span>", escape(unit)),
            };
            // no button: browsers leave it out of a head that is repeated on the next sheet of paper
            let _ =
                write!(out, "<th{class} scope=\"col\"><span role=\"button\" tabindex=\"0\">{name}{unit}</span></th>");
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for (index, row) in self.rows.iter().take(self.shown).enumerate() {
            self.render_row(out, row, index, &columns);
        }
        out.push_str("</tbody></table></div>\n");
        self.render_note(out);
        out.push_str("</figure>\n");
    }

    fn render_row(&self, out: &mut String, row: &[Cell], index: usize, columns: &[Style<'_>]) {
        out.push_str(if index < PRINTED { "<tr" } else { "<tr class=\"cut\"" });
        match self.time_column.and_then(|column| row.get(column)).and_then(Cell::value) {
            Some(time) if time.is_finite() => {
                let _ = write!(out, " data-time=\"{time}\">");
            }
            _ => out.push('>'),
        }
        let other = Style { class: " class=\"l\"", factor: 1.0, prefix: "", unit: "", digits: Digits::Most(DIGITS) };
        for column in 0..self.header.len().max(row.len()) {
            let cell = row.get(column).unwrap_or(&Cell::Empty);
            let style = columns.get(column).unwrap_or(&other);
            let text = cell.text(style);
            // the whole number is shown on hover, and sorts the rows
            let full = cell.value().map(|value| value.to_string()).filter(|full| *full != text);
            let unit = if style.prefix.is_empty() { String::new() } else { format!(" {}", escape(style.unit)) };
            let title = full.map(|full| format!(" title=\"{full}{unit}\"")).unwrap_or_default();
            let text = if cell.value().is_some() { minus(&text) } else { text };
            let _ = write!(out, "<td{}{title}>{}</td>", style.class, escape(&text));
        }
        out.push_str("</tr>\n");
    }

    /// How a column is shown.
    fn style(&self, column: usize) -> Style<'_> {
        let class = match (self.is_numeric(column), self.optional.contains(&column)) {
            (true, false) => "",
            (false, false) => " class=\"l\"",
            (true, true) => " class=\"o\"",
            (false, true) => " class=\"l o\"",
        };
        let numbers = || {
            let rows = self.rows.iter().take(self.shown);
            rows.filter_map(move |row| row.get(column)).filter_map(Cell::value).filter(|value| value.is_finite())
        };
        let unit = split_unit(&self.header[column]).1;
        let timed = self.time_column == Some(column);
        let largest = || numbers().map(f64::abs).fold(0.0, f64::max);
        let (factor, prefix) = match self.beside {
            Some(end) => prefix(if timed { end } else { largest() }, unit),
            None => (1.0, ""),
        };
        let digits = match (timed, self.beside.is_some()) {
            (true, _) => Digits::Decimals(decimals(&numbers().map(|t| t / factor).collect::<Vec<_>>())),
            (_, true) => Digits::Most(SHORT),
            _ => Digits::Most(DIGITS),
        };
        Style { class, factor, prefix, unit, digits }
    }

    fn render_note(&self, out: &mut String) {
        let shown = self.rows.len().min(self.shown);
        let total = self.total.unwrap_or(0).max(self.rows.len());
        let more = if total > shown {
            let file = match &self.file {
                Some(file) => format!("all {total} are in <code>{}</code>", escape(file)),
                None => format!("{} more are not shown", total - shown),
            };
            format!("The first {shown} of {total} rows are shown; {file}.")
        } else {
            String::new()
        };
        if !self.note.is_empty() {
            let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(&self.note));
        }
        if !more.is_empty() {
            let _ = writeln!(out, "<p class=\"note\">{more}</p>");
        }
        if shown > PRINTED {
            let file = self.file.as_ref().map(|file| format!("; all {total} are in <code>{}</code>", escape(file)));
            let (more, file) = (total - PRINTED, file.unwrap_or_default());
            let _ = writeln!(out, "<p class=\"note printonly\">{more} more rows are not printed{file}.</p>");
        }
    }

    /// A column is set to the right if it has numbers and no text.
    fn is_numeric(&self, column: usize) -> bool {
        let mut cells =
            self.rows.iter().take(self.shown).filter_map(|row| row.get(column)).filter(|c| **c != Cell::Empty);
        cells.clone().next().is_some() && cells.all(|cell| cell.value().is_some())
    }
}

/// How the cells of a column are shown.
struct Style<'a> {
    /// Attribute of the style sheet.
    class: &'static str,
    /// Of the prefix before the unit.
    factor: f64,
    prefix: &'static str,
    unit: &'a str,
    digits: Digits,
}

/// Significant digits at most, or decimals that all numbers of a column have.
enum Digits {
    Most(usize),
    Decimals(usize),
}

/// Decimals of a column of times: all where few are enough, else those that tell different times apart.
fn decimals(times: &[f64]) -> usize {
    let largest = times.iter().copied().map(f64::abs).fold(0.0, f64::max);
    let whole = |d: usize| {
        times.iter().all(|t| (t - (t * 10f64.powi(d as i32)).round() / 10f64.powi(d as i32)).abs() <= 1e-9 * largest)
    };
    let mut sorted: Vec<f64> = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    let apart = |d: usize| sorted.windows(2).all(|pair| format!("{:.d$}", pair[0]) != format!("{:.d$}", pair[1]));
    let least = if largest > 0.0 { (TIME_DIGITS - 1 - log10(largest).floor() as i32).max(0) as usize } else { 0 };
    let short = (0..=(least + 2).min(TIME_DECIMALS)).find(|d| whole(*d));
    short.or_else(|| (least..TIME_DECIMALS).find(|d| apart(*d))).unwrap_or(TIME_DECIMALS)
}

/// A true minus sign in a number.
pub(super) fn minus(number: &str) -> String {
    number.replace('-', "−")
}

/// A count with thin spaces between thousands.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push('\u{2009}');
        }
        out.push(digit);
    }
    out
}

impl Cell {
    fn value(&self) -> Option<f64> {
        match self {
            Self::Number(value) | Self::Formatted { value, .. } => Some(*value),
            Self::Count(count) => Some(*count as f64),
            Self::Text(_) | Self::Empty => None,
        }
    }

    fn text(&self, style: &Style<'_>) -> String {
        match self {
            Self::Text(text) | Self::Formatted { text, .. } => text.clone(),
            Self::Number(value) => match style.digits {
                Digits::Decimals(decimals) if value.is_finite() => format!("{:.decimals$}", value / style.factor),
                Digits::Decimals(_) => number(*value, DIGITS),
                Digits::Most(digits) => number(value / style.factor, digits),
            },
            Self::Count(count) => count.to_string(),
            Self::Empty => String::new(),
        }
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<usize> for Cell {
    fn from(value: usize) -> Self {
        Self::Count(value as u64)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, Into::into)
    }
}

/// A number with at most `digits` significant digits, without trailing zeros: `0.25`, `1.5e-7`, `12`.
pub fn number(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return if value.is_nan() {
            "NaN"
        } else if value > 0.0 {
            "∞"
        } else {
            "−∞"
        }
        .to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let digits = digits.clamp(1, 17);
    // rounding first: 9.999996 has the exponent of 10
    let scientific = format!("{value:.*e}", digits - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..digits as i32).contains(&exponent) {
        let decimals = usize::try_from(digits as i32 - 1 - exponent).unwrap_or(0);
        trim(&format!("{value:.decimals$}")).to_owned()
    } else {
        format!("{}e{exponent}", trim(mantissa))
    }
}

/// SI prefixes; the page has the same ones.
const PREFIXES: [(f64, &str); 8] =
    [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p")];

/// Units that take a prefix; the page has the same ones.
const PREFIXED: [&str; 15] = ["m", "s", "N", "J", "W", "V", "A", "Pa", "N s", "m/s", "F", "H", "C", "Wb", "Hz"];

/// The prefix for values up to `largest`, and its factor.
pub(super) fn prefix(largest: f64, unit: &str) -> (f64, &'static str) {
    if !PREFIXED.contains(&unit) {
        return (1.0, "");
    }
    // 0.4 m reads better than 400 mm, and 1 mm than 999.99 µm
    let fits =
        |factor: f64| largest >= 0.9995 * factor * if factor == 1.0 && unit.starts_with('m') { 0.1 } else { 1.0 };
    PREFIXES.into_iter().find(|(factor, _)| fits(*factor)).unwrap_or((1.0, ""))
}

/// A number for people with a prefix before its unit: 0.0025 m is `2.5`, `mm`.
pub fn si(value: f64, unit: &str, digits: usize) -> (String, String) {
    let (factor, prefix) = prefix(value.abs(), unit);
    (number(value / factor, digits), format!("{prefix}{unit}"))
}

fn trim(decimal: &str) -> &str {
    if decimal.contains('.') { decimal.trim_end_matches('0').trim_end_matches('.') } else { decimal }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_right() {
        for (value, text) in [
            (0.0, "0"),
            (0.25, "0.25"),
            (12.0, "12"),
            (-3.5, "-3.5"),
            (9.999_996, "10"),
            (0.000_123_456_7, "0.000123457"),
            (1.5e-7, "1.5e-7"),
            (123_456.0, "123456"),
            (1_234_567.0, "1.23457e6"),
            (1e300, "1e300"),
            (100.0, "100"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "∞"),
        ] {
            assert_eq!(number(value, 6), text);
        }
        assert_eq!(number(1.999_999_999, 10), "1.999999999");
        assert_eq!(number(2.0, 0), "2");
    }

    #[test]
    fn prefixes_keep_numbers_short() {
        for (value, text, unit) in [
            (0.0025, "2.5", "mm"),
            (0.4, "0.4", "m"),
            (-1.5e-7, "-150", "nm"),
            (0.0, "0", "m"),
            (0.000_999_99, "1", "mm"),
        ] {
            assert_eq!(si(value, "m", 3), (text.to_owned(), unit.to_owned()));
        }
    }

    #[test]
    fn counts_have_thin_spaces() {
        for (count, text) in [(0, "0"), (999, "999"), (13_757, "13\u{2009}757"), (1_000_000, "1\u{2009}000\u{2009}000")]
        {
            assert_eq!(grouped(count), text);
        }
    }

    /// Steps of 10 µs need two decimals of a millisecond; impacts near an accumulation need as many as differ.
    #[test]
    fn times_have_the_decimals_that_they_need() {
        assert_eq!(decimals(&[2.71, 5.64, 25.9]), 2);
        assert_eq!(decimals(&[0.012_75, 0.062_75, 19.962_75]), 5);
        assert_eq!(decimals(&[1.0, 2.0]), 0);
        assert_eq!(decimals(&[]), 0);
        assert_eq!(decimals(&[0.177_221_937_7, 0.320_976_527_2]), 6);
        // 0.33333333 and 0.33333334 after rounding
        assert_eq!(decimals(&[1.0 / 3.0, 1.0 / 3.0 + 3e-9]), 8);
    }

    #[test]
    fn a_short_list_has_prefixes_in_its_head() {
        let mut table = Table::new("", ["t [s]", "u [m/s]", "angle [rad]", "name"]);
        table.row([0.00271.into(), (-0.843_912_3).into(), 0.001.into(), "a-b".into()]);
        (table.beside, table.time_column, table.optional) = (Some(0.1), Some(0), vec![2]);
        let mut html = String::new();
        table.render(&mut html);
        assert!(html.contains("t<span class=\"u\">ms</span>") && html.contains("u<span class=\"u\">m/s</span>"));
        assert!(html.contains("data-time=\"0.00271\"") && html.contains("<td title=\"0.00271 s\">2.71</td>"), "{html}");
        assert!(html.contains("<td title=\"-0.8439123\">−0.8439</td>"), "{html}");
        assert!(html.contains("<td class=\"o\">0.001</td>") && html.contains("<td class=\"l\">a-b</td>"), "{html}");
    }

    #[test]
    fn a_long_table_says_what_is_missing() {
        let mut table = Table::new("Impacts", ["t", "contact <A>"]);
        for k in 0..7 {
            table.row([Cell::Number(f64::from(k)), "<b>".into()]);
        }
        table.shown = 5;
        table.total = Some(1_000);
        table.file = Some("impacts & more.csv".into());
        table.time_column = Some(0);
        let mut html = String::new();
        table.render(&mut html);
        assert!(
            html.contains("The first 5 of 1000 rows are shown; all 1000 are in <code>impacts &amp; more.csv</code>.")
        );
        assert_eq!(html.matches("<tr data-time=").count(), 5);
        assert!(html.contains("contact &lt;A&gt;") && html.contains("<td class=\"l\">&lt;b&gt;</td>"));
        assert!(!html.contains("<b>"));
    }

    #[test]
    fn ragged_rows_and_missing_times_do_not_fail() {
        let mut table = Table::new("", ["t", "u"]);
        table.row([]).row([Cell::Empty]).row([f64::NAN.into(), 1usize.into(), "extra".into()]);
        table.time_column = Some(0);
        let mut html = String::new();
        table.render(&mut html);
        assert_eq!(html.matches("<tr>").count(), 4);
        assert!(!html.contains("data-time") && html.contains("extra"));
        assert!(!html.contains("rows are shown"));
    }

    #[test]
    fn paper_gets_the_first_rows_and_a_count() {
        let mut table = Table::new("", ["u [m/s]"]);
        (0..100).for_each(|k| _ = table.row([Cell::Number(f64::from(k) / 3.0)]));
        let mut html = String::new();
        table.render(&mut html);
        assert_eq!(html.matches("<tr class=\"cut\">").count(), 60);
        assert!(html.contains("60 more rows are not printed."));
        assert!(html.contains("<td title=\"0.3333333333333333\">0.33333</td>"));
        assert!(html.contains("u<span class=\"u\">m/s</span>"));
    }
}
