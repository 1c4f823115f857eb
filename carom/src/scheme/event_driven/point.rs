//! A step that is tried, and all that is known at one point of it: accelerations, gaps with two derivatives,
//! multipliers and monitors.

use super::control::Judgement;
use super::monitors::Watched;
use crate::phase::{Acceleration, Monitor, Phase, Transition};
use crate::scheme::rates::RateBounds;
use crate::{Coupling, Mechanical, State, StepError, System};

/// A law at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trace {
    /// Whether it is a contact that is open and inside its region.
    pub is_open: bool,
    /// Gap, its rate and its second derivative.
    pub y: [f64; 3],
    /// Rounding of the gap [m].
    pub noise: f64,
    /// Function that is ≥ 0 where the contact counts.
    pub region: f64,
}

carom_solve::persist!(Trace { is_open, y, noise, region });

/// The step that is tried.
pub struct Trial {
    /// Where the smooth part starts, and where it ends or the last attempt did.
    pub start: Point,
    pub end: Point,
    /// A sample between.
    pub middle: Point,
    /// At the inner places of Lobatto's rule, and in the middle, of a step of this length.
    pub inner: [Point; 3],
    pub inner_length: Option<f64>,
    /// Ends of a bracket.
    pub left: Point,
    pub right: Point,
    /// Monitors and regions over the step.
    pub watched: Watched,
    /// (laws) errors of their quintics.
    pub doubt: Vec<f64>,
    /// Bounds of the rates of gaps in a piece of the step.
    pub rates: RateBounds,
    /// Places of the step at which gaps were compared with their quintics, and the one with the last large miss.
    pub places: u32,
    pub doubtful: f64,
    /// The last attempt, and how many were rejected before.
    pub judged: Judgement,
    pub rejected: u32,
    /// The step that the driver asks for [s].
    pub span: f64,
}

carom_solve::persist!(Trial {
    start,
    end,
    middle,
    inner,
    inner_length,
    left,
    right,
    watched,
    doubt,
    rates,
    places,
    doubtful,
    judged,
    rejected,
    span,
});

impl Trial {
    /// Buffers for the laws of a coupling.
    pub fn new(state: &State, coupling: &Coupling) -> Trial {
        let point = || Point::new(state, coupling);
        Trial {
            start: point(),
            end: point(),
            middle: point(),
            inner: [point(), point(), point()],
            inner_length: None,
            left: point(),
            right: point(),
            watched: Watched::default(),
            doubt: Vec::new(),
            rates: RateBounds::default(),
            places: 0,
            doubtful: 0.0,
            judged: Judgement { accepted: true, factor: 1.0, error: 0.0 },
            rejected: 0,
            span: 0.0,
        }
    }
}

/// A point of the motion.
#[derive(Debug, Default)]
pub struct Point {
    pub state: State,
    /// (n) v̇.
    pub a: Vec<f64>,
    /// (laws)
    pub traces: Vec<Trace>,
    pub monitors: Vec<Monitor>,
    /// (rows) λ [N], its power [W], and the part of it that the obstacle's own motion has.
    pub lambda: Vec<f64>,
    pub power: Vec<f64>,
    pub driven: Vec<f64>,
}

carom_solve::persist!(Point { state, a, traces, monitors, lambda, power, driven });

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

    /// All that is to be known at the state, in the phase of the transition.
    pub fn evaluate(
        &mut self,
        transition: &mut Transition,
        system: &mut System<'_, dyn Mechanical>,
    ) -> Result<(), StepError> {
        let State { t, q, v } = &self.state;
        let (phase, acceleration) = transition.evaluator();
        if phase.keys().is_empty() {
            acceleration.evaluate(system.model, phase, (*t, q, v))?;
        } else {
            acceleration.with_monitors(system.model, phase, (*t, q, v))?;
            if acceleration.is_deficient {
                transition.resolve_redundancy(system, v)?;
            }
        }
        self.take(transition);
        Ok(())
    }

    /// Gaps and rates at the state, without accelerations.
    pub fn glance(&mut self, transition: &mut Transition, model: &mut dyn Mechanical) -> Result<(), StepError> {
        let (phase, acceleration) = transition.evaluator();
        acceleration.couple(model, phase, (self.state.t, &self.state.q, &self.state.v))?;
        self.trace(acceleration, phase);
        self.monitors.clear();
        Ok(())
    }

    /// Takes what an evaluation of the accelerations at the state has found.
    pub fn take(&mut self, transition: &Transition) {
        let (phase, acceleration) = (&transition.phase, &transition.acceleration);
        self.a.copy_from_slice(&acceleration.value);
        self.monitors.clone_from(&acceleration.monitors);
        self.traces.clear();
        self.lambda.clear();
        self.power.clear();
        self.driven.clear();
        // without laws there is no coupling
        if phase.keys().is_empty() {
            return;
        }
        let coupling = &acceleration.coupling;
        self.trace(acceleration, phase);
        for (i, trace) in self.traces.iter_mut().enumerate() {
            let row = coupling.offset[i];
            trace.y[2] = coupling.rows.dot(row, &self.a) + acceleration.curvature.value[row];
        }
        if !phase.is_free() {
            self.lambda.clone_from(&acceleration.lambda);
            let velocity = |row: usize| coupling.rows.dot(row, &self.state.v) + coupling.drift[row];
            self.power
                .extend(self.lambda.iter().enumerate().map(|(row, x)| if *x == 0.0 { 0.0 } else { x * velocity(row) }));
            self.driven.extend(self.lambda.iter().zip(&coupling.drift).map(|(x, drift)| x * drift));
        }
    }

    /// Takes gaps and rates from a coupling at the state.
    pub fn trace(&mut self, Acceleration { coupling, sizes, .. }: &Acceleration, phase: &Phase) {
        self.traces.clear();
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let row = coupling.offset[i];
            let rate = coupling.rows.dot(row, &self.state.v) + coupling.drift[row];
            self.traces.push(Trace {
                is_open: !pair.law.is_equality() && coupling.is_present(i) && !phase.mode(i).is_closed(),
                y: [pair.gap, rate, 0.0],
                noise: sizes.gap_rounding_at(coupling, i, &self.state),
                region: coupling.region[i],
            });
        }
    }

    /// Whether a monitor or a region has changed since `start`.
    pub fn is_changed(&self, start: &Point) -> bool {
        self.monitors.iter().any(|m| m.violated) || self.crossed(start).next().is_some()
    }

    /// The laws whose region begins or ends between `start` and here.
    pub fn crossed<'a>(&'a self, start: &'a Point) -> impl Iterator<Item = (usize, &'a Trace)> + 'a {
        let crosses = |(trace, start): &(&Trace, &Trace)| {
            trace.region.is_finite() && (start.region >= 0.0) != (trace.region >= 0.0)
        };
        let both = self.traces.iter().zip(&start.traces).enumerate();
        both.filter(move |(_, pair)| crosses(pair)).map(|(law, (trace, _))| (law, trace))
    }
}
