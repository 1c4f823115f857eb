//! Methods of smooth motion, and the motion inside the step that one of them did last.

use super::options::{Dense, EventDriven, Flow, Propagate};
use super::point::Point;
use super::steered::Steered;
use crate::integrator::{Dop853, Hem5, Hermite, Newton, OrderFour, RungeKutta, Stages, Tableau, Tolerances};
use crate::phase::{
    Acceleration, FreeMotion, HeldMotion, Magnitudes, Mode, Phase, StageLog, StagedMotion, VelocityConstraint,
};
use crate::{Mechanical, State, StepError};
use carom_solve::{Archive, ArchiveError, Persist};

/// A step shorter than this part of the longest one that the driver has asked for is none.
pub(super) const LEAST: f64 = 1e-290;

/// Stages on accelerations of their own.
struct Staged {
    stages: Stages,
    acceleration: Acceleration,
    log: StageLog,
}

carom_solve::persist!(Staged { stages, acceleration, log } skip {});

impl Staged {
    fn new(tableau: Tableau, newton: Newton, model: &mut dyn Mechanical) -> Staged {
        let stages = Stages::new(tableau, newton, model.initial());
        Staged { stages, acceleration: Acceleration::new(model), log: StageLog::new(model) }
    }

    fn advance(
        &mut self,
        model: &mut dyn Mechanical,
        phase: &Phase,
        (from, h): (&State, f64),
        to: &mut State,
    ) -> Result<(), StepError> {
        let Staged { stages, acceleration, log } = self;
        let mut motion = StagedMotion { free: FreeMotion { model, acceleration }, phase, log, steered: None };
        stages.advance(&mut motion, from, h, to)
    }

    /// The same with the directions of slips as unknowns: at once where one contact slips, and where nothing else helps
    /// where several do, which act on each other.
    fn steer(
        &mut self,
        steered: &mut Steered,
        model: &mut dyn Mechanical,
        phase: &Phase,
        (from, h): (&State, f64),
        to: &mut State,
    ) -> Result<(), StepError> {
        let slips = (0..phase.keys().len()).filter(|i| matches!(phase.mode(*i), Mode::Slip(_))).count();
        if slips > 1 {
            match self.advance(model, phase, (from, h), to) {
                Err(StepError::Newton { .. }) => {}
                advanced => return advanced,
            }
        }
        let Staged { stages, acceleration, log } = self;
        steered.advance(model, (stages, acceleration, log), phase, (from, h), to)
    }
}

/// Radau's method of order 5, each step twice: friction across a slow slip in space is stiff, μ λ/|u|.
struct Stiff {
    staged: Staged,
    coarse: State, // after one step
    middle: State, // after the first of two
    difference: Vec<f64>,
    steered: Steered,
}

carom_solve::persist!(Stiff { staged, coarse, middle, difference } skip { steered });

/// Newton's loop of its stages.
const NEWTON: Newton = Newton { tolerance: 1e-12, iterations: 30 };

/// 2⁵ − 1: by how much the difference of one step and two is larger than the error of two.
const ORDER_FIVE: f64 = 31.0;

impl Stiff {
    fn new(model: &mut dyn Mechanical) -> Stiff {
        let initial = model.initial();
        let staged = Staged::new(RungeKutta::RadauIia3.tableau(), NEWTON, model);
        let (middle, difference) = (initial.clone(), vec![0.0; model.dim()]);
        Stiff { staged, coarse: initial, middle, difference, steered: Steered::default() }
    }

    fn advance(
        &mut self,
        model: &mut dyn Mechanical,
        phase: &Phase,
        (from, h): (&State, f64),
        to: &mut State,
    ) -> Result<(), StepError> {
        let Stiff { staged, coarse, middle, difference, steered } = self;
        staged.steer(steered, model, phase, (from, h), coarse)?;
        staged.steer(steered, model, phase, (from, 0.5 * h), middle)?;
        staged.steer(steered, model, phase, (middle, 0.5 * h), to)?;
        to.t = from.t + h;
        model.difference(&coarse.q, &to.q, difference);
        Ok(())
    }

    /// The error of the last step, which ended at `to`, in units of the tolerances.
    fn error(&self, (from, to): (&State, &State), tolerances: Tolerances<'_>) -> f64 {
        let velocities = to.v.iter().zip(&self.coarse.v).map(|(a, b)| a - b);
        tolerances.measure(self.difference.iter().copied(), velocities, (from, to)) / ORDER_FIVE
    }
}

/// The dense output with exact velocity constraints.
struct Fourth {
    output: OrderFour,
    constraint: VelocityConstraint,
}

carom_solve::persist!(Fourth { output, constraint } skip {});

/// Buffers of all methods that the options ask for.
pub(super) struct Smooth {
    hem5: Hem5,
    constraint: VelocityConstraint,
    fehlberg: Option<Box<Staged>>,
    stiff: Option<Box<Stiff>>, // where it was needed
    stored: Option<Vec<u8>>,   // what it remembers, where it was needed before a checkpoint
    is_stiff: bool,            // whether the step that is tried needs it
    high: Option<Box<Dop853>>, // for free flights of `flow = "dop853"`
    dense: Hermite,
    fourth: Option<Box<Fourth>>, // for `dense = "order-4"`
}

/// Which methods there are follows from the options.
impl Persist for Smooth {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        let Smooth { hem5, constraint, fehlberg, stiff, stored, is_stiff, high, dense, fourth } = self;
        (hem5, constraint, is_stiff, dense).persist(archive)?;
        fehlberg.iter_mut().try_for_each(|staged| staged.persist(archive))?;
        if let (false, Some(stiff)) = (archive.is_reading(), stiff) {
            let mut own = Archive::writing();
            stiff.persist(&mut own)?;
            *stored = Some(own.into_bytes());
        }
        stored.persist(archive)?;
        high.iter_mut().try_for_each(|high| high.persist(archive))?;
        fourth.iter_mut().try_for_each(|fourth| fourth.persist(archive))
    }
}

impl Smooth {
    pub fn new(scheme: &EventDriven, model: &mut dyn Mechanical) -> Smooth {
        let initial = model.initial();
        let fehlberg = (scheme.flow == Flow::Rkf45).then(|| {
            let tableau = Tableau::fehlberg(if scheme.propagate == Propagate::Y5 { 5 } else { 4 });
            Box::new(Staged::new(tableau, Newton { tolerance: 1e-13, iterations: 1 }, model))
        });
        let fourth = (scheme.dense == Dense::Order4)
            .then(|| Box::new(Fourth { output: OrderFour::default(), constraint: VelocityConstraint::new(model) }));
        Smooth {
            hem5: Hem5::new(initial.clone()),
            constraint: VelocityConstraint::new(model),
            fehlberg,
            stiff: None,
            stored: None,
            is_stiff: false,
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

    /// Chooses the method of stiff phases, or the usual one, for the step that is tried; returns which one it is.
    pub fn set_stiff(&mut self, model: &mut dyn Mechanical, wanted: bool) -> bool {
        self.is_stiff = wanted && self.fehlberg.is_none();
        if let (None, Some(bytes)) = (&self.stiff, self.stored.take()) {
            // it is there again after a checkpoint, whose bytes are known to be whole
            let mut stiff = Box::new(Stiff::new(model));
            let _ = stiff.persist(&mut Archive::reading(bytes));
            self.stiff = Some(stiff);
        }
        if self.is_stiff {
            let stiff = self.stiff.get_or_insert_with(|| Box::new(Stiff::new(model)));
            // whoever worked with the model since has factored it
            stiff.staged.acceleration.invalidate();
            stiff.staged.stages.forget();
        }
        self.is_stiff
    }

    /// Whether the step that is tried is one of a stiff phase.
    pub fn is_stiff(&self) -> bool {
        self.is_stiff
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
            return fehlberg.advance(model, phase, (&from.state, h), to);
        }
        if let Some(stiff) = self.stiff.as_mut().filter(|_| self.is_stiff) {
            stiff.staged.acceleration.sizes.follow(&acceleration.sizes);
            return stiff.advance(model, phase, (&from.state, h), to);
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
        if let Some(stiff) = self.stiff.as_ref().filter(|_| self.is_stiff) {
            return stiff.error(ends, tolerances);
        }
        match (&self.fehlberg, &self.high) {
            (Some(fehlberg), _) => fehlberg.stages.error(ends, h, tolerances),
            (None, Some(high)) if method == Flow::Dop853 => high.error(ends, tolerances),
            (None, _) => self.hem5.error(ends, h, tolerances),
        }
    }

    /// By how much constraints that depend on each other contradicted each other in the last step [-].
    pub fn contradiction(&self) -> f64 {
        let stiff = self.stiff.as_ref().filter(|_| self.is_stiff).map(|stiff| &stiff.staged);
        let staged = stiff.or(self.fehlberg.as_deref());
        staged.map_or(self.constraint.contradiction, |staged| staged.log.contradiction)
    }

    /// The model was factored by someone else.
    pub fn invalidate(&mut self) {
        self.constraint.invalidate();
        if let Some(fehlberg) = &mut self.fehlberg {
            fehlberg.acceleration.invalidate();
        }
        if let Some(stiff) = &mut self.stiff {
            stiff.staged.acceleration.invalidate();
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
        let staged = self.fehlberg.as_deref_mut().into_iter().chain(self.stiff.as_mut().map(|stiff| &mut stiff.staged));
        staged.map(|staged| std::mem::take(&mut staged.acceleration.evaluations)).sum()
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
