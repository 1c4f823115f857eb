//! The recorded columns for the report.

use crate::report::{Thinned, Thinner, Values};

/// Columns over time: all rows that were recorded, or true rows with the extremes of blocks where there are too many.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Names of the columns, without that of the time.
    pub names: Vec<String>,
    /// Times [s].
    pub t: Values,
    /// One per name; NaN where the model does not list the contact.
    pub columns: Vec<Values>,
    /// Number of rows that were recorded.
    pub total: u64,
    /// Rows per block of which extremes are kept; 1 where all rows are.
    pub block: u64,
}

impl History {
    /// A column by its name.
    pub fn column(&self, name: &str) -> Option<&Values> {
        self.names.iter().position(|known| known == name).map(|k| &self.columns[k])
    }
}

/// Collects the rows of a history.
pub(super) struct Curves {
    names: Vec<String>,
    thinner: Thinner,
}

carom_solve::persist!(Curves { thinner } skip { names });

impl Curves {
    /// Keeps at most `values` numbers in memory.
    pub fn new(names: Vec<String>, values: usize) -> Curves {
        Curves { thinner: Thinner::new(1 + names.len(), values), names }
    }

    pub fn push(&mut self, t: f64, values: impl Iterator<Item = f64>) {
        self.thinner.push(std::iter::once(t).chain(values));
    }

    pub fn finish(self) -> History {
        let Thinned { columns, total, block } = self.thinner.finish();
        let mut columns = columns.into_iter();
        let t = columns.next().unwrap_or_default();
        History { names: self.names, t, columns: columns.collect(), total, block }
    }
}
