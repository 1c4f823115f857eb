//! Which coordinate a velocity moves: how large what it moves is, in the unit that it has.
//!
//! Where there are more coordinates than velocities lengths stand beside parts of quaternions: a largest coordinate of
//! all would be an absolute length. A translation is as large as its own coordinate, a rotation is a radian.

use super::Space;
use carom_solve::Rows;

/// The coordinates of the velocities of a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(Option<Vec<Option<usize>>>); // none: that of velocity j is j

impl Places {
    pub fn of<M: ?Sized + Space>(model: &M) -> Places {
        let n = model.dim();
        Places((model.positions() != n).then(|| (0..n).map(|j| model.moves(j)).collect()))
    }

    /// The coordinate of velocity `j`, zero where it is a rotation.
    #[inline]
    fn value(&self, q: &[f64], j: usize) -> f64 {
        match &self.0 {
            None => q[j],
            Some(places) => places[j].map_or(0.0, |k| q[k]),
        }
    }

    /// How large what velocity `j` moves is.
    #[inline]
    pub fn size(&self, q: &[f64], j: usize) -> f64 {
        match &self.0 {
            None => q[j].abs(),
            Some(places) => places[j].map_or(1.0, |k| q[k].abs()),
        }
    }

    /// The sizes of the terms of a row, and their sum with the signs that are known.
    pub fn terms(&self, row: &[(usize, f64)], q: &[f64]) -> (f64, f64) {
        if self.0.is_none() {
            return (row.iter().map(|&(j, c)| (c * q[j]).abs()).sum(), Rows::product(row, q));
        }
        row.iter()
            .fold((0.0, 0.0), |(size, sum), &(j, c)| (size + c.abs() * self.size(q, j), sum + c * self.value(q, j)))
    }
}
