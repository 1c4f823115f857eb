//! All that is known at one point of the motion: accelerations, gaps with two derivatives, multipliers and monitors.

use crate::flow::projection::gap_rounding_at;
use crate::flow::{Acceleration, Monitor, Phase};
use crate::{Coupling, Key, State};

/// A law at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trace {
    pub key: Key,
    /// Whether it is a contact that is open and inside its region.
    pub is_open: bool,
    /// Gap, its rate and its second derivative.
    pub y: [f64; 3],
    /// Rounding of the gap [m].
    pub noise: f64,
    /// Function that is ≥ 0 where the contact counts.
    pub region: f64,
}

/// A point of the motion.
#[derive(Debug, Default)]
pub struct Point {
    pub state: State,
    /// (n) v̇.
    pub a: Vec<f64>,
    pub traces: Vec<Trace>,
    pub monitors: Vec<Monitor>,
    /// (rows) λ [N], its power [W], and the part of it that the obstacle's own motion has.
    pub lambda: Vec<f64>,
    pub power: Vec<f64>,
    pub driven: Vec<f64>,
}

impl Point {
    /// Buffers for the laws of a coupling.
    pub fn new(state: &State, coupling: &Coupling) -> Point {
        let (laws, rows) = (coupling.len(), coupling.drift.len());
        Point {
            state: state.clone(),
            a: vec![0.0; state.v.len()],
            traces: Vec::with_capacity(laws),
            monitors: Vec::with_capacity(2 * laws),
            lambda: Vec::with_capacity(rows),
            power: Vec::with_capacity(rows),
            driven: Vec::with_capacity(rows),
        }
    }

    /// Copies without allocating once the sizes agree.
    pub fn copy_from(&mut self, other: &Point) {
        self.state.copy_from(&other.state);
        self.a.clone_from(&other.a);
        self.traces.clone_from(&other.traces);
        self.monitors.clone_from(&other.monitors);
        self.lambda.clone_from(&other.lambda);
        self.power.clone_from(&other.power);
        self.driven.clone_from(&other.driven);
    }

    /// Takes what an evaluation of the accelerations at the state has found.
    pub fn take(&mut self, acceleration: &Acceleration, phase: &Phase) {
        self.a.copy_from_slice(&acceleration.value);
        self.monitors.clone_from(&acceleration.monitors);
        let coupling = &acceleration.coupling;
        self.trace(coupling, phase);
        for (i, trace) in self.traces.iter_mut().enumerate() {
            let row = coupling.offset[i];
            trace.y[2] = coupling.rows.dot(row, &self.a) + acceleration.curvature.value[row];
        }
        self.lambda.clear();
        self.power.clear();
        self.driven.clear();
        if !phase.is_free() {
            self.lambda.clone_from(&acceleration.lambda);
            let velocity = |row: usize| coupling.rows.dot(row, &self.state.v) + coupling.drift[row];
            self.power
                .extend(self.lambda.iter().enumerate().map(|(row, x)| if *x == 0.0 { 0.0 } else { x * velocity(row) }));
            self.driven.extend(self.lambda.iter().zip(&coupling.drift).map(|(x, drift)| x * drift));
        }
    }

    /// Takes gaps and rates from a coupling at the state.
    pub fn trace(&mut self, coupling: &Coupling, phase: &Phase) {
        self.traces.clear();
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let row = coupling.offset[i];
            let rate = coupling.rows.dot(row, &self.state.v) + coupling.drift[row];
            self.traces.push(Trace {
                key: pair.key,
                is_open: !pair.law.is_equality()
                    && coupling.is_present(i)
                    && !phase.mode(pair.key, i, pair.law).is_closed(),
                y: [pair.gap, rate, 0.0],
                noise: gap_rounding_at(coupling, i, &self.state),
                region: coupling.region[i],
            });
        }
    }

    /// The law with this key; `near` is tried first.
    pub fn find(&self, key: Key, near: usize) -> Option<&Trace> {
        match self.traces.get(near) {
            Some(trace) if trace.key == key => Some(trace),
            _ => self.traces.iter().find(|trace| trace.key == key),
        }
    }

    /// Whether a monitor or a region has changed since `start`.
    pub fn is_changed(&self, start: &Point) -> bool {
        self.monitors.iter().any(|m| m.violated) || self.crossed(start).next().is_some()
    }

    /// The laws whose region begins or ends between `start` and here.
    pub fn crossed<'a>(&'a self, start: &'a Point) -> impl Iterator<Item = &'a Trace> + 'a {
        self.traces
            .iter()
            .enumerate()
            .filter(|(i, trace)| {
                trace.region.is_finite()
                    && start.find(trace.key, *i).is_some_and(|s| (s.region >= 0.0) != (trace.region >= 0.0))
            })
            .map(|(_, trace)| trace)
    }
}
