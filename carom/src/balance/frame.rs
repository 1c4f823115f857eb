//! A frame of perturbations (δq, δv, δp, δt), column by column.

use super::tangent::{BalanceTangent, TangentError};

/// Columns of perturbations.
///
/// A scheme may carry something else than δv from step to step: Schatzman-Paoli the velocity between grid points. That
/// is what [`columns`](Frame::columns) hold then; [`states`](Frame::states) are perturbations of the state in any case.
/// After a restart both are the same: that is the place to set them.
#[derive(Clone, Debug)]
pub struct Frame {
    n: usize,
    parameters: usize,
    columns: Vec<f64>,
    states: Vec<f64>,
    fresh: bool,   // whether the columns are perturbations of a state from which the scheme starts
    touched: bool, // whether columns were set since the last step
    tied: bool,    // whether the step of this call is to end at a given time
}

/// The parts of a column.
pub(crate) struct Parts<'a> {
    pub q: &'a mut [f64],
    pub v: &'a mut [f64],
    pub p: &'a mut [f64],
    pub t: &'a mut f64,
}

impl Frame {
    /// The unit frame.
    pub fn new(n: usize, parameters: usize) -> Frame {
        let mut frame =
            Frame { n, parameters, columns: Vec::new(), states: Vec::new(), fresh: true, touched: false, tied: false };
        frame.reset();
        frame
    }

    /// Entries of a column: δq, δv, δp, δt.
    pub fn size(&self) -> usize {
        2 * self.n + self.parameters + 1
    }

    /// Units of δq, δv and δp; δt is zero. To be called after a restart, where columns are those of the state.
    pub fn reset(&mut self) {
        let size = self.size();
        self.set_columns(size - 1);
        self.columns.fill(0.0);
        self.columns.chunks_exact_mut(size).enumerate().for_each(|(k, column)| column[k] = 1.0);
        self.states.copy_from_slice(&self.columns);
    }

    /// This many columns.
    pub fn set_columns(&mut self, count: usize) {
        let size = self.size();
        self.columns.resize(count * size, 0.0);
        self.states.resize(count * size, 0.0);
    }

    /// What the scheme carries, one column after the other.
    pub fn columns(&self) -> impl Iterator<Item = &[f64]> {
        self.columns.chunks_exact(self.size())
    }

    /// The columns that the scheme carries, to be set.
    pub fn columns_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        let size = self.size();
        self.touched = true;
        self.columns.chunks_exact_mut(size)
    }

    /// Perturbations of the state.
    pub fn states(&self) -> impl Iterator<Item = &[f64]> {
        let all = if self.fresh { &self.columns } else { &self.states };
        all.chunks_exact(self.size())
    }

    pub(crate) fn restart(&mut self) {
        self.fresh = true;
    }

    /// Starts a step, which may be what is left to a given time.
    pub(crate) fn begin(&mut self, tied: bool) {
        if self.fresh {
            self.states.copy_from_slice(&self.columns);
        }
        (self.fresh, self.tied) = (false, tied);
    }

    /// How many columns there are.
    pub fn len(&self) -> usize {
        self.columns.len() / self.size()
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Column `k` as it is carried.
    pub(crate) fn carried(&mut self, k: usize) -> Parts<'_> {
        let (n, p, size) = (self.n, self.parameters, self.size());
        split(&mut self.columns[k * size..(k + 1) * size], n, p)
    }

    /// Column `k` as the perturbation of the state.
    pub(crate) fn state(&mut self, k: usize) -> Parts<'_> {
        let (n, p, size) = (self.n, self.parameters, self.size());
        split(&mut self.states[k * size..(k + 1) * size], n, p)
    }

    /// What is carried becomes the perturbation of the state.
    pub(crate) fn show(&mut self) {
        self.touched = false;
        self.states.copy_from_slice(&self.columns);
    }

    /// The perturbation of the state becomes what is carried, for a scheme that starts anew; columns that were set
    /// since are such already.
    pub(crate) fn recover(&mut self) {
        if !self.touched {
            self.columns.copy_from_slice(&self.states);
        }
    }

    /// Every column over a balance that is a whole step.
    pub(crate) fn carry_over(&mut self, balance: &mut BalanceTangent) -> Result<(), TangentError> {
        for k in 0..self.len() {
            let dt = *self.carried(k).t;
            let dh = self.length(dt);
            balance.advance_columns(self.carried(k), dh)?;
        }
        self.show();
        Ok(())
    }

    /// The derivative of the length of a step along a column that starts at a time perturbed by `dt`.
    pub(crate) fn length(&self, dt: f64) -> f64 {
        if self.tied { -dt } else { 0.0 }
    }
}

fn split(column: &mut [f64], n: usize, p: usize) -> Parts<'_> {
    let (q, rest) = column.split_at_mut(n);
    let (v, rest) = rest.split_at_mut(n);
    let (p, t) = rest.split_at_mut(p);
    Parts { q, v, p, t: &mut t[0] }
}
