//! Problems of one degree of freedom with a wall: what they have in common as exact solutions follows from the motion
//! and its impacts.

use super::{Curvature, ExactSolution, Impact, MAX_JUMPS};

/// A motion of one coordinate whose impacts are known.
pub trait OneDegree {
    /// Short name, as in registries and file names.
    const NAME: &'static str;
    /// Citation key of the paper that poses the problem, or that its schemes come from.
    const CITATION: &'static str;

    /// Position and right-continuous velocity at t.
    fn state(&self, t: f64) -> (f64, f64);

    /// Impacts with time <= `until`, in the order of time.
    fn strikes(&self, until: f64) -> impl Iterator<Item = Impact>;

    /// The left limit of the velocity at t.
    fn arriving(&self, t: f64) -> f64 {
        let impact = self.strikes(t).last().filter(|impact| impact.time == t);
        impact.map_or_else(|| self.state(t).1, |impact| impact.before)
    }

    /// The time at which infinitely many impacts accumulate, if there is one.
    fn accumulates(&self) -> Option<f64> {
        None
    }

    /// Why there is no exact solution with these parameters, where there is none.
    fn refusal(&self) -> Option<String> {
        None
    }

    /// Bounds of second derivatives on [from, to) between impacts, if they are known.
    fn bounds(&self, from: f64, to: f64) -> Option<Curvature> {
        let _ = (from, to);
        None
    }
}

/// The first reason that holds.
pub(super) fn first_reason(reasons: &[(bool, &str)]) -> Option<String> {
    reasons.iter().find(|(holds, _)| *holds).map(|(_, reason)| (*reason).to_owned())
}

impl<P: OneDegree> ExactSolution for P {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn citation(&self) -> &'static str {
        P::CITATION
    }

    fn dimension(&self) -> usize {
        1
    }

    fn at(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        let (position, velocity) = self.state(t);
        q.fill(position);
        v.fill(velocity);
    }

    fn before(&self, t: f64, v: &mut [f64]) {
        v.fill(self.arriving(t));
    }

    fn jumps(&self, from: f64, to: f64, amplitude: f64) -> Vec<f64> {
        let counts = |impact: &Impact| impact.time > from && impact.amplitude() >= amplitude;
        self.strikes(to).take(MAX_JUMPS).filter(counts).map(|impact| impact.time).collect()
    }

    fn accumulation(&self) -> Option<f64> {
        self.accumulates()
    }

    fn refusal(&self) -> Option<String> {
        OneDegree::refusal(self)
    }

    fn curvature(&self, from: f64, to: f64) -> Option<Curvature> {
        self.bounds(from, to)
    }
}
