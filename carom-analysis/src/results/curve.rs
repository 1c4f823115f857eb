//! Curves of the recorded columns for the report, thinned out while the run goes on.

use crate::report::Decimator;

/// A column over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Name of the column.
    pub name: String,
    /// Times [s].
    pub t: Vec<f64>,
    /// NaN where the model does not list the contact.
    pub x: Vec<f64>,
}

/// Collects curves. A row waits until its successor is known, because the row before an impact is as important as the
/// one after.
pub(super) struct Curves {
    names: Vec<String>,
    decimator: Decimator,
    t: f64,
    values: Vec<f64>,
    important: bool,
    holds: bool,
}

impl Curves {
    pub fn new(names: Vec<String>, points: usize) -> Curves {
        let decimator = Decimator::new(names.len(), points);
        let values = vec![0.0; names.len()];
        Curves { names, decimator, t: 0.0, values, important: false, holds: false }
    }

    /// Takes a row; it is `important` if a contact closed since the last one.
    pub fn push(&mut self, t: f64, values: impl Iterator<Item = f64>, important: bool) {
        self.release(important);
        self.values.clear();
        self.values.extend(values);
        (self.t, self.important, self.holds) = (t, important, true);
    }

    fn release(&mut self, important: bool) {
        if self.holds && (self.important || important) {
            self.decimator.push_important(self.t, &self.values);
        } else if self.holds {
            self.decimator.push(self.t, &self.values);
        }
        self.holds = false;
    }

    pub fn finish(mut self) -> Vec<Curve> {
        self.release(false);
        let columns = self.decimator.finish();
        self.names.into_iter().zip(columns).map(|(name, (t, x))| Curve { name, t, x }).collect()
    }
}
