//! Methods of smooth motion, and the motion inside the step that one of them did last.

use super::options::{Dense, EventDriven, Flow, Propagate};
use super::point::Point;
use crate::integrator::{Dop853, Hem5, Hermite, Newton, OrderFour, Stages, Tableau, Tolerances};
use crate::phase::{
    Acceleration, FreeMotion, HeldMotion, Magnitudes, Phase, StageLog, StagedMotion, VelocityConstraint,
};
use crate::{Mechanical, State, StepError};

/// A step shorter than this part of the longest one that the driver has asked for is none.
pub(super) const LEAST: f64 = 1e-290;

/// Fehlberg's pair on accelerations of its own.
struct Fehlberg {
    stages: Stages,
    acceleration: Acceleration,
    log: StageLog,
}

/// The dense output with exact velocity constraints.
struct Fourth {
    output: OrderFour,
    constraint: VelocityConstraint,
}

/// Buffers of all methods that the options ask for.
pub(super) struct Smooth {
    hem5: Hem5,
    constraint: VelocityConstraint,
    fehlberg: Option<Box<Fehlberg>>,
    high: Option<Box<Dop853>>, // for free flights of `flow = "dop853"`
    dense: Hermite,
    fourth: Option<Box<Fourth>>, // for `dense = "order-4"`
}

impl Smooth {
    pub fn new(scheme: &EventDriven, model: &mut dyn Mechanical) -> Smooth {
        let initial = model.initial();
        let fehlberg = (scheme.flow == Flow::Rkf45).then(|| {
            let tableau = Tableau::fehlberg(if scheme.propagate == Propagate::Y5 { 5 } else { 4 });
            let newton = Newton { tolerance: 1e-13, iterations: 1 };
            Box::new(Fehlberg {
                stages: Stages::new(tableau, newton, initial.clone()),
                acceleration: Acceleration::new(model),
                log: StageLog::new(model),
            })
        });
        let fourth = (scheme.dense == Dense::Order4)
            .then(|| Box::new(Fourth { output: OrderFour::default(), constraint: VelocityConstraint::new(model) }));
        Smooth {
            hem5: Hem5::new(initial.clone()),
            constraint: VelocityConstraint::new(model),
            fehlberg,
            high: (scheme.flow == Flow::Dop853).then(|| Box::new(Dop853::new(initial))),
            dense: Hermite::default(),
            fourth,
        }
    }

    /// The method of a phase.
    pub fn method(&self, phase: &Phase) -> Flow {
        match (&self.fehlberg, &self.high) {
            (Some(_), _) => Flow::Rkf45,
            (None, Some(_)) if phase.is_free() => Flow::Dop853,
            (None, _) => Flow::Hem5,
        }
    }

    /// `to` ← the flow over `h` from a point.
    pub fn advance(
        &mut self,
        model: &mut dyn Mechanical,
        (phase, acceleration): (&Phase, &mut Acceleration),
        (from, h): (&Point, f64),
        to: &mut State,
    ) -> Result<(), StepError> {
        // an event at the start: constraints at the velocity level cannot be divided by no time
        if h < LEAST * acceleration.sizes.time {
            to.copy_from(&from.state);
            return Ok(());
        }
        if let Some(fehlberg) = &mut self.fehlberg {
            let Fehlberg { stages, acceleration, log } = &mut **fehlberg;
            let mut motion = StagedMotion { free: FreeMotion { model, acceleration }, phase, log };
            return stages.advance(&mut motion, &from.state, h, to);
        }
        let first = phase.is_free().then_some(from.a.as_slice());
        let mut free = FreeMotion { model, acceleration };
        match &mut self.high {
            Some(high) if phase.is_free() => high.advance(&mut free, first, (&from.state, h), to),
            _ => {
                let mut motion = HeldMotion { free, phase, constraint: &mut self.constraint };
                self.hem5.advance(&mut motion, first, (&from.state, h), to)
            }
        }
    }

    /// The error of the last step, of length h, in units of the tolerances.
    pub fn error(&self, method: Flow, ends: (&State, &State), h: f64, tolerances: Tolerances<'_>) -> f64 {
        match (&self.fehlberg, &self.high) {
            (Some(fehlberg), _) => fehlberg.stages.error(ends, h, tolerances),
            (None, Some(high)) if method == Flow::Dop853 => high.error(ends, tolerances),
            (None, _) => self.hem5.error(ends, h, tolerances),
        }
    }

    /// By how much constraints that depend on each other contradicted each other in the last step [-].
    pub fn contradiction(&self) -> f64 {
        self.fehlberg.as_ref().map_or(self.constraint.contradiction, |fehlberg| fehlberg.log.contradiction)
    }

    /// The model was factored by someone else.
    pub fn invalidate(&mut self) {
        self.constraint.invalidate();
        if let Some(fehlberg) = &mut self.fehlberg {
            fehlberg.acceleration.invalidate();
        }
        if let Some(fourth) = &mut self.fourth {
            fourth.constraint.invalidate();
        }
    }

    /// Takes the sizes that were met.
    pub fn follow(&mut self, sizes: &Magnitudes) {
        if let Some(fehlberg) = &mut self.fehlberg {
            fehlberg.acceleration.sizes.follow(sizes);
        }
    }

    /// Evaluations of forces of its own since the last call.
    pub fn take_evaluations(&mut self) -> u32 {
        self.fehlberg.as_mut().map_or(0, |fehlberg| std::mem::take(&mut fehlberg.acceleration.evaluations))
    }

    /// The dense output of a step of length h in a phase.
    pub fn fill_dense(&mut self, model: &dyn Mechanical, phase: &Phase, (start, end): (&Point, &Point), h: f64) {
        self.dense.fill(model, (&start.state, &start.a), (&end.state, &end.a), h);
        let is_high = self.method(phase) == Flow::Dop853;
        if let Some(high) = &mut self.high {
            if is_high && high.length() == Some(h) { high.conclude(&end.a) } else { high.clear() }
        }
    }

    /// Whether the last step of order 8 is another one than that of length h.
    pub fn is_other_flight(&self, h: f64) -> bool {
        self.high.as_ref().is_some_and(|high| high.length() != Some(h))
    }

    /// The dense output of order 4, for the step over `h` that the half-explicit method did last, if it is asked for.
    pub fn fill_fourth(
        &mut self,
        model: &mut dyn Mechanical,
        (phase, acceleration): (&Phase, &mut Acceleration),
        ends: (&State, &State),
        h: f64,
    ) -> Result<(), StepError> {
        let Some(fourth) = &mut self.fourth else { return Ok(()) };
        let free = FreeMotion { model, acceleration };
        let mut motion = HeldMotion { free, phase, constraint: &mut fourth.constraint };
        fourth.output.fill(&mut motion, &self.hem5, ends, h)
    }

    /// Whether a dense output of order 4 is asked for.
    pub fn has_fourth(&self) -> bool {
        self.fourth.is_some()
    }

    /// Forgets the motion inside the step.
    pub fn clear_dense(&mut self) {
        self.dense.clear();
        if let Some(fourth) = &mut self.fourth {
            fourth.output.clear();
        }
        if let Some(high) = &mut self.high {
            high.clear();
        }
    }

    /// Whether the motion inside the last step is known.
    pub fn is_dense(&self) -> bool {
        self.dense.is_filled() || self.fourth.as_ref().is_some_and(|fourth| fourth.output.is_filled())
    }

    /// Whether it is known to the order of a free flight.
    pub fn is_flight(&self) -> bool {
        self.high.as_ref().is_some_and(|high| high.is_filled())
    }

    /// The quintic through both ends of the step at its part `s`.
    pub fn quintic_at(&mut self, model: &dyn Mechanical, s: f64, out: &mut State) {
        self.dense.at(model, s, out);
    }

    /// The flight of order 8 at the part `s` of the step, or the quintic where it is none.
    pub fn dense_at(&mut self, mut motion: FreeMotion<'_>, s: f64, out: &mut State) -> Result<(), StepError> {
        match self.high.as_mut().filter(|high| high.is_filled()) {
            Some(high) => high.at(&mut motion, s, out),
            None => {
                self.dense.at(&*motion.model, s, out);
                Ok(())
            }
        }
    }

    /// The flight of order 8 at stage number `k` of those inside the step.
    pub fn flight_inside(&mut self, motion: &FreeMotion<'_>, k: usize, out: &mut State) {
        if let Some(high) = &mut self.high {
            high.inside(motion, k, out);
        }
    }

    /// The state at the part `s` of the last step, which was done in `phase`, by the best dense output there is;
    /// whether there is one.
    pub fn at(
        &mut self,
        model: &mut dyn Mechanical,
        (phase, acceleration): (&Phase, &mut Acceleration),
        s: f64,
        out: &mut State,
    ) -> bool {
        let free = FreeMotion { model: &mut *model, acceleration: &mut *acceleration };
        if self.is_flight() && self.dense_at(free, s, out).is_ok() {
            return true;
        }
        if let Some(fourth) = self.fourth.as_mut().filter(|fourth| fourth.output.is_filled()) {
            let free = FreeMotion { model: &mut *model, acceleration };
            let mut motion = HeldMotion { free, phase, constraint: &mut fourth.constraint };
            if fourth.output.at(&mut motion, s, out).is_ok() {
                return true;
            }
        }
        let known = self.dense.is_filled();
        if known {
            self.dense.at(model, s, out);
        }
        known
    }
}
