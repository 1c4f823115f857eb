//! The motion of a phase, as integrators see it: without reactions, with constraints at the velocity level, or at that
//! of accelerations.

use super::acceleration::{Acceleration, ModeChange, size_of};
use super::admissible::Admissible;
use super::held::{HeldRow, HeldRows};
use super::mode::Phase;
use super::ranked::RankedLu;
use super::rubbing::Rubbing;
use crate::integrator::{HalfExplicit, IndexOne, Motion};
use crate::model::{Chart, Constancy};
use crate::{Coupling, Mechanical, State, StepError};

/// Motion on which no law acts.
pub(crate) struct FreeMotion<'a> {
    pub model: &'a mut dyn Mechanical,
    pub acceleration: &'a mut Acceleration,
}

impl Motion for FreeMotion<'_> {
    fn retract(&self, q: &[f64], dq: &[f64], out: &mut [f64]) {
        self.model.retract(q, dq, out);
    }

    fn chart(&self) -> Option<&dyn Chart> {
        self.model.chart()
    }

    fn is_free(&self) -> bool {
        true
    }

    fn free(&mut self, at: &State, out: &mut [f64]) -> Result<(), StepError> {
        self.acceleration.free_motion(self.model, (at.t, &at.q, &at.v))?;
        out.copy_from_slice(&self.acceleration.free);
        Ok(())
    }
}

/// The rows held at one point and the reactions at another, for half-explicit methods.
#[derive(Default)]
pub(crate) struct VelocityConstraint {
    constancy: Constancy,
    here: Coupling, // where columns are taken
    next: Coupling, // where rows have to hold
    held: HeldRows,
    rubbing: Rubbing,
    system: RankedLu,
    x: Vec<f64>,            // (held) Λ
    prepared: Option<u64>,  // phase for which W holds, where it is constant
    admissible: Admissible, // for rows that are dependent
    is_deficient: bool,     // whether the rows held were dependent since the start
    /// By how much they contradicted each other then, relative to the terms of their velocities [-].
    pub contradiction: f64,
}

carom_solve::persist!(VelocityConstraint {
    here, next, held, rubbing, system, x, prepared, admissible, is_deficient, contradiction,
} skip { constancy });

impl VelocityConstraint {
    pub fn new(model: &dyn Mechanical) -> VelocityConstraint {
        let rubbing = Rubbing::new(model);
        VelocityConstraint { constancy: model.constancy(), rubbing, ..VelocityConstraint::default() }
    }

    /// The model was factored by someone else.
    pub fn invalidate(&mut self) {
        self.prepared = None;
    }
}

/// The motion of a phase with its constraints at the velocity level.
pub(crate) struct HeldMotion<'a> {
    pub free: FreeMotion<'a>,
    pub phase: &'a Phase,
    pub constraint: &'a mut VelocityConstraint,
}

impl Motion for HeldMotion<'_> {
    fn retract(&self, q: &[f64], dq: &[f64], out: &mut [f64]) {
        self.free.retract(q, dq, out);
    }

    fn chart(&self) -> Option<&dyn Chart> {
        self.free.chart()
    }

    fn is_free(&self) -> bool {
        self.phase.is_free()
    }

    fn free(&mut self, at: &State, out: &mut [f64]) -> Result<(), StepError> {
        self.free.free(at, out)
    }
}

impl HalfExplicit for HeldMotion<'_> {
    fn start(&mut self, at: &State) -> Result<(), StepError> {
        let constraint = &mut *self.constraint;
        (constraint.is_deficient, constraint.contradiction) = (false, 0.0);
        let constant = constraint.constancy.rows;
        Ok(constraint.here.fill(self.free.model, (at.t, &at.q), constant, self.phase.keys())?)
    }

    fn turn(&mut self, at: &State) -> Result<(), StepError> {
        let VelocityConstraint { here, held, rubbing, prepared, .. } = &mut *self.constraint;
        if *prepared != Some(self.phase.version()) {
            *prepared = None;
            rubbing.in_phase(self.free.model, self.phase, (at.t, &at.q, &at.v), here)?;
            held.fill(self.free.model, here, self.phase, &at.v);
        }
        Ok(())
    }

    fn react(&mut self, at: (f64, &[f64]), (v, weight): (&[f64], f64), out: &mut [f64]) -> Result<(), StepError> {
        let VelocityConstraint {
            constancy,
            here,
            next,
            held,
            rubbing,
            system,
            x,
            prepared,
            admissible,
            is_deficient,
            contradiction,
        } = &mut *self.constraint;
        next.fill(self.free.model, at, constancy.rows, self.phase.keys())?;
        if prepared.is_none() {
            held.delassus(next, system.matrix_mut(held.rows.len()));
            let regular = system.factor();
            *is_deficient |= !regular;
            let keeps = constancy.mass && constancy.rows && !held.is_turning && !rubbing.varies && regular;
            *prepared = keeps.then_some(self.phase.version());
        }
        x.clear();
        x.extend(held.rows.iter().map(|held| -(next.rows.dot(held.row, v) + next.drift[held.row]) / weight));
        if *is_deficient {
            let terms = |held: &HeldRow| size_of(next.rows.row(held.row), v) + next.drift[held.row].abs();
            let size = held.rows.iter().map(terms).fold(f64::MIN_POSITIVE, f64::max) / weight;
            *contradiction = contradiction.max(system.solve_checked(x) / size);
            if held.slips() {
                admissible.least_norm(system, &held.response, held.normals(next), x);
            }
        } else {
            system.solve(x);
        }
        held.add(x, out);
        std::mem::swap(here, next);
        Ok(())
    }
}

/// What adds up over the stages of a step at the level of accelerations.
#[derive(Default)]
pub(crate) struct StageLog {
    inexactness: f64,       // of v̇ where a law acts
    starts_deficient: bool, // whether constraints were dependent at the first stage
    /// (rows) ∫λ dt over the last step [N s].
    pub impulse: Vec<f64>,
    /// (rows) work of the reactions over the last step [J].
    pub work: Vec<f64>,
    /// (rows) the part of it that is the obstacles' own motion [J].
    pub driven: Vec<f64>,
    /// Whether a closed contact wanted to open at a stage.
    pub takes_off: bool,
    /// Whether a contact wanted to begin or to end its slip at a stage.
    pub slips: bool,
    /// By how much dependent constraints contradicted each other at a stage of the last step [-]; infinite where
    /// redundant ones have parted.
    pub contradiction: f64,
    /// (stages × laws) slip velocities at the stages of a step with directions of its own [m/s].
    pub turned: Vec<[f64; 2]>,
}

carom_solve::persist!(StageLog {
    inexactness,
    starts_deficient,
    impulse,
    work,
    driven,
    takes_off,
    slips,
    contradiction,
    turned,
});

/// Constraint curvatures by differences are no better than this [-].
const BY_DIFFERENCES: f64 = 1e-7;

/// Reactions cancel forces up to this part of them.
const CANCELS: f64 = 64.0 * f64::EPSILON;

impl StageLog {
    pub fn new(model: &mut dyn Mechanical) -> StageLog {
        let exact = model.constancy().rows || model.acceleration_level().is_some();
        StageLog { inexactness: if exact { 0.0 } else { BY_DIFFERENCES }, ..StageLog::default() }
    }
}

/// The motion of a phase with its constraints at the level of accelerations.
pub(crate) struct StagedMotion<'a> {
    pub free: FreeMotion<'a>,
    pub phase: &'a Phase,
    pub log: &'a mut StageLog,
    /// The phase with the directions of slip of each stage, where they are not those of the velocities.
    pub steered: Option<&'a [Phase]>,
}

impl Motion for StagedMotion<'_> {
    fn retract(&self, q: &[f64], dq: &[f64], out: &mut [f64]) {
        self.free.retract(q, dq, out);
    }

    fn chart(&self) -> Option<&dyn Chart> {
        self.free.chart()
    }

    fn is_free(&self) -> bool {
        self.phase.is_free()
    }

    fn free(&mut self, at: &State, out: &mut [f64]) -> Result<(), StepError> {
        self.free.free(at, out)
    }
}

impl IndexOne for StagedMotion<'_> {
    fn start(&mut self) {
        let log = &mut *self.log;
        (log.takes_off, log.slips) = (false, false);
        (log.contradiction, log.starts_deficient) = (0.0, false);
        log.impulse.fill(0.0);
        log.work.fill(0.0);
        log.driven.fill(0.0);
    }

    fn stage(&mut self, i: usize, weight: f64, at: &State, out: &mut [f64]) -> Result<(), StepError> {
        let phase = self.steered.map_or(self.phase, |phases| &phases[i]);
        let FreeMotion { model, acceleration } = &mut self.free;
        acceleration.evaluate(&mut **model, phase, (at.t, &at.q, &at.v))?;
        out.copy_from_slice(&acceleration.value);
        acceleration.admit(phase, &at.v);
        let (acceleration, log) = (&*acceleration, &mut *self.log);
        if self.steered.is_some() {
            acceleration.slips(&at.v, &mut log.turned, i);
        }
        log.contradiction = log.contradiction.max(acceleration.contradiction);
        log.starts_deficient |= i == 0 && acceleration.is_deficient;
        if log.starts_deficient && !acceleration.is_deficient {
            log.contradiction = f64::INFINITY;
        }
        if !acceleration.is_deficient {
            for monitor in acceleration.monitors.iter().filter(|m| m.violated) {
                *(if monitor.change == ModeChange::TakeOff { &mut log.takes_off } else { &mut log.slips }) = true;
            }
        }
        if !self.phase.is_free() {
            let coupling = &acceleration.coupling;
            log.impulse.resize(coupling.drift.len(), 0.0);
            log.work.resize(coupling.drift.len(), 0.0);
            log.driven.resize(coupling.drift.len(), 0.0);
            for (row, lambda) in acceleration.lambda.iter().enumerate().filter(|(_, lambda)| **lambda != 0.0) {
                let share = weight * lambda;
                log.impulse[row] += share;
                log.work[row] += share * (coupling.rows.dot(row, &at.v) + coupling.drift[row]);
                log.driven[row] += share * coupling.drift[row];
            }
        }
        Ok(())
    }

    fn rate(&mut self, at: &State, out: &mut [f64]) -> Result<(), StepError> {
        let FreeMotion { model, acceleration } = &mut self.free;
        acceleration.evaluate(&mut **model, self.phase, (at.t, &at.q, &at.v))?;
        out.copy_from_slice(&acceleration.value);
        Ok(())
    }

    fn version(&self) -> u64 {
        self.phase.version()
    }

    fn is_affine(&self) -> bool {
        self.free.acceleration.constancy().linear() && !self.free.acceleration.rubbing.varies
    }

    fn inexactness(&self) -> f64 {
        if self.phase.is_free() { 0.0 } else { self.log.inexactness }
    }

    fn size(&self, is_velocity: bool, j: usize) -> f64 {
        self.free.acceleration.sizes.step(is_velocity, j)
    }

    fn position(&self, q: &[f64], j: usize) -> f64 {
        self.free.acceleration.sizes.places.size(q, j)
    }

    fn unit(&self, j: usize) -> f64 {
        self.free.acceleration.sizes.unit(j)
    }

    fn rounding(&self) -> f64 {
        let largest = |(m, (j, a)): (f64, (usize, &f64))| m.max((a / self.unit(j)).abs());
        let free = &self.free.acceleration.free;
        if self.phase.is_free() { 0.0 } else { CANCELS * free.iter().enumerate().fold(0.0, |m, a| largest((m, a))) }
    }
}
