//! Tables on a terminal: columns without borders that fit its width. Cells go on in the next line between words. Where
//! not even the longest words fit beside each other, columns of numbers follow in further tables with the same first
//! column, and rows with text become lists.

use crate::console::{print_line, width, wrap};
use crate::failure::Failure;
use console::measure_text_width;

/// Blanks between two columns.
const BETWEEN: usize = 2;

/// A table for people.
#[derive(Default)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Table {
        Table { header: header.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Prints it for the terminal that there is.
    pub fn print(&self) -> Result<(), Failure> {
        print_line(self.text(width()))
    }

    /// The table in lines of at most this width.
    pub fn text(&self, width: Option<usize>) -> String {
        let count = self.lines().map(<[String]>::len).max().unwrap_or(0);
        let widest = |measure: fn(&str) -> usize| -> Vec<usize> {
            (0..count).map(|k| self.lines().filter_map(|row| Some(measure(row.get(k)?))).max().unwrap_or(0)).collect()
        };
        let (natural, least) = (widest(measure_text_width), widest(longest_word));
        let space = |widths: &[usize]| 1 + widths.iter().sum::<usize>() + BETWEEN * count.saturating_sub(1);
        match width {
            Some(width) if space(&least) > width && natural.iter().all(|natural| *natural <= width / 4) => {
                self.parts(&natural, width)
            }
            Some(width) if space(&least) > width => self.lists(width),
            Some(width) if space(&natural) > width => {
                self.columns(&share(natural, least, width - 1 - BETWEEN * count.saturating_sub(1)))
            }
            _ => self.columns(&natural),
        }
    }

    /// Header, where there is one, and rows.
    fn lines(&self) -> impl Iterator<Item = &[String]> {
        Some(self.header.as_slice())
            .filter(|header| !header.is_empty())
            .into_iter()
            .chain(self.rows.iter().map(Vec::as_slice))
    }

    fn columns(&self, widths: &[usize]) -> String {
        let mut out: Vec<String> = Vec::new();
        for row in self.lines() {
            let cells: Vec<Vec<String>> = row.iter().zip(widths).map(|(cell, width)| folded(cell, *width)).collect();
            for k in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
                let mut line = " ".to_owned();
                for (cell, width) in cells.iter().zip(widths) {
                    let part = cell.get(k).map_or("", String::as_str);
                    line += part;
                    line += &" ".repeat(width - measure_text_width(part).min(*width) + BETWEEN);
                }
                out.push(line.trim_end().to_owned());
            }
        }
        out.join("\n")
    }

    /// Several tables, each with the first column and as many others as fit.
    fn parts(&self, natural: &[usize], width: usize) -> String {
        let (mut parts, mut used) = (vec![Vec::new()], 1 + natural[0]);
        for k in 1..natural.len() {
            if used + BETWEEN + natural[k] > width {
                parts.push(Vec::new());
                used = 1 + natural[0];
            }
            used += BETWEEN + natural[k];
            parts.last_mut().into_iter().for_each(|part: &mut Vec<usize>| part.push(k));
        }
        let pick = |row: &[String], part: &[usize]| -> Vec<String> {
            std::iter::once(&0).chain(part).map(|k| row.get(*k).cloned().unwrap_or_default()).collect()
        };
        let tables = parts.iter().map(|part| {
            let rows = self.rows.iter().map(|row| pick(row, part)).collect();
            Table { header: pick(&self.header, part), rows }.text(None)
        });
        tables.collect::<Vec<_>>().join("\n\n")
    }

    /// Row by row: the first cell, then the others under their titles.
    fn lists(&self, width: usize) -> String {
        let mut out = Vec::new();
        for row in &self.rows {
            for (k, cell) in row.iter().enumerate() {
                let title = self.header.get(k).map_or("", String::as_str);
                let indent = if k == 0 { " " } else { "     " };
                let title = if title.is_empty() { String::new() } else { format!("{title}: ") };
                let line = format!("{indent}{title}{cell}");
                if k == 0 || !cell.is_empty() {
                    out.push(wrap(&line, width));
                }
            }
        }
        out.join("\n")
    }
}

/// Widths between the least and the natural ones that fill the space, so that cells have few lines.
fn share(natural: Vec<usize>, least: Vec<usize>, space: usize) -> Vec<usize> {
    let mut widths = least;
    let mut left = space.saturating_sub(widths.iter().sum());
    while left > 0 {
        // the column that has most lines
        let lines = |k: &usize| natural[*k].saturating_mul(1000) / widths[*k].max(1);
        let next = (0..widths.len()).filter(|&k| widths[k] < natural[k]).max_by_key(lines);
        let Some(k) = next else { break };
        widths[k] += 1;
        left -= 1;
    }
    widths
}

fn longest_word(text: &str) -> usize {
    text.split_whitespace().map(measure_text_width).max().unwrap_or(0)
}

/// A cell in lines of at most this width.
fn folded(cell: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in cell.lines() {
        // an indented cell stays indented
        lines.extend(wrap(line, width.max(1)).lines().map(str::to_owned));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["name", "title", "order"]);
        table.row(["moreau-jean", "a scheme with a rather long title", "1"]);
        table.row(["x", "short", "2"]);
        table
    }

    #[test]
    fn a_table_fits_the_width() {
        let whole = " name         title                              order\n \
                     moreau-jean  a scheme with a rather long title  1\n \
                     x            short                              2";
        assert_eq!(table().text(None), whole);
        assert_eq!(table().text(Some(54)), whole);
        let narrow = " name         title             order\n \
                      moreau-jean  a scheme with a   1\n              \
                      rather long\n              \
                      title\n \
                      x            short             2";
        assert_eq!(table().text(Some(37)), narrow);
        for width in 20..80 {
            let text = table().text(Some(width));
            assert!(text.lines().all(|line| measure_text_width(line) <= width), "{width}: {text}");
            // nothing is cut
            for row in table().lines() {
                let words = row.iter().flat_map(|cell| cell.split_whitespace());
                assert!(words.clone().all(|word| text.contains(word)), "{width}: {text}");
            }
        }
    }

    #[test]
    fn columns_of_numbers_follow_in_further_tables() {
        let mut table = Table::new(["step", "error", "order", "time"]);
        table.row(["0.1", "1.25e-3", "1.01", "2.5"]);
        let parts = " step  error\n 0.1   1.25e-3\n\n step  order\n 0.1   1.01\n\n step  time\n 0.1   2.5";
        assert_eq!(table.parts(&[4, 7, 5, 4], 15), parts);
        let mut wide = Table::new((0..20).map(|k| format!("column{k}")));
        wide.row((0..20).map(|k| k.to_string()));
        let text = wide.text(Some(60));
        assert!(text.lines().all(|line| line.len() <= 60) && text.matches("column0").count() > 1, "{text}");
        assert!((0..20).all(|k| text.contains(&format!("column{k}"))), "{text}");
    }

    #[test]
    fn rows_become_lists_where_columns_do_not_fit() {
        let list = " name: moreau-jean\n     title: a scheme\n     with a rather long\n     title\n     order: 1\n \
                    name: x\n     title: short\n     order: 2";
        assert_eq!(table().text(Some(24)), list);
    }
}
