//! Distances of states as their model measures them: there may be more coordinates than directions.

use crate::study::Cyclic;
use carom::{State, Stepper};

/// Differences of states that are kept as lists of numbers, positions then velocities.
pub(crate) struct Metric<'a> {
    stepper: &'a dyn Stepper,
    a: State,
    b: State,
    difference: Vec<f64>,
}

impl<'a> Metric<'a> {
    /// That of the model of a stepper.
    pub fn new(stepper: &'a dyn Stepper) -> Metric<'a> {
        let (a, b) = (stepper.from().clone(), stepper.from().clone());
        Metric { stepper, a, b, difference: vec![0.0; stepper.dimension()] }
    }

    /// b ⊖ a without whole turns: the directions of positions, then velocities.
    pub fn difference(&mut self, a: &[f64], b: &[f64], cyclic: &Cyclic) -> &[f64] {
        for (state, values) in [(&mut self.a, a), (&mut self.b, b)] {
            state.q.iter_mut().chain(&mut state.v).zip(values).for_each(|(x, value)| *x = *value);
        }
        for i in cyclic.coordinates().filter(|i| *i < a.len().min(b.len())) {
            if let Some(x) = self.b.q.get_mut(i) {
                *x = a[i] + cyclic.rest(i, b[i] - a[i]);
            }
        }
        self.stepper.difference(&self.a, &self.b, &mut self.difference);
        &self.difference
    }

    /// Number of coordinates.
    pub fn coordinates(&self) -> usize {
        self.a.q.len()
    }

    /// Number of directions of positions; those of velocities follow.
    pub fn positions(&self) -> usize {
        self.difference.len() - self.a.v.len()
    }
}
