//! Step doubling: an estimate of the local error for any scheme [hairer1993, acary2009].
//!
//! ```text
//!     x₁ = Φ_h(x),   x₂ = Φ_{h/2}(Φ_{h/2}(x)),   accepted: x₂                                     (1)
//!     error = max_i |x₂ − x₁|_i / ((2^p − 1)(atol + rtol max(|x|_i, |x₂|_i))),   2^p − 1 → 1 for p = 0   (2)
//! ```
//!
//! An atol that is not given is 1e-6 of the size that each coordinate has had (`extents.rs`).
//!
//! Velocities jump, so that |v₂ − v₁| does not fall with h in a step with an impact, and there the local error of
//! positions falls like h only (p = 0). What is compared, and with which p, is the choice of an estimator
//! (`estimate.rs`).
//!
//! The full steps keep one workspace and the half steps another: each warm start comes from a step of its own kind, and
//! the two half steps share a factorisation. An attempt costs three steps.
//!
//! | `x₁` = `coarse` | `middle` state after the first half | `reactions` of both halves together |

mod estimate;
mod extents;
mod multipliers;
mod slips;

pub(crate) use estimate::resolved;
pub use estimate::{Accuracy, Estimator};

use super::{Events, LocalError, Motion, Reactions, Scheme, SchemeError, SchemeInfo, Step, StepError, System};
use crate::model::Places;
use crate::{Coupling, ImpactLaw, Space, State, Warnings};
use carom_solve::{Archive, ArchiveError, LinearSolve, OptionError, Persist};
use estimate::Evidence;
use extents::Extents;
use multipliers::{Done, Multipliers};

/// A scheme that estimates its local error by taking each step twice.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubled<S> {
    /// The scheme of the full and the half steps.
    pub base: S,
    /// Tolerances, and how the error is estimated.
    pub accuracy: Accuracy,
}

/// Buffers of a step, in the order in which the step sets them.
pub struct Work<W> {
    full: W,                  // of the step of size h, phase 1
    half: W,                  // of the steps of size h/2, phases 2 and 3
    coarse: State,            // x₁, phase 1
    middle: State,            // after the first half, phase 2
    beyond: State,            // after another half, phase 4, where a slip ends
    reactions: Reactions,     // of the first half, phase 2; of both, phase 5
    end: Coupling,            // gaps at x₂, phase 4, where the estimator looks at them
    velocity: Vec<f64>,       // (rows) relative velocities at x₂, phase 4
    events: Events,           // of both half steps, phase 5
    difference: Vec<f64>,     // (n) q₂ ⊖ q₁, phase 4
    load: Vec<f64>,           // (n) B (P − P₁ − P₂) of first-order systems, phases 2 and 4
    multipliers: Multipliers, // of first-order systems, phase 4
    places: Places,           // coordinates of velocities
    extents: Extents,         // sizes of coordinates, phase 4
}

impl<W: Persist> Persist for Work<W> {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        let Work { full, half, coarse, middle, beyond, reactions, end, velocity, events, .. } = self;
        (full, half).persist(archive)?;
        (coarse, middle, beyond).persist(archive)?;
        (reactions, end, velocity, events).persist(archive)?;
        // coordinates of velocities follow from the model
        let Work { difference, load, multipliers, places: _, extents, .. } = self;
        (difference, load, multipliers, extents).persist(archive)
    }
}

impl<S: Scheme> Scheme for Doubled<S> {
    type Model = S::Model;
    type Work = Work<S::Work>;
    const INFO: SchemeInfo = S::INFO;

    fn check_options(&self) -> Result<(), OptionError> {
        self.base.check_options()?;
        self.accuracy.check()
    }

    fn workspace(&self, model: &mut Self::Model) -> Result<Self::Work, SchemeError> {
        if let Some(reason) = self.base.cannot_be_doubled() {
            let shortens = self.base.needs_equal_steps().is_none();
            return Err(SchemeError::EqualSteps { scheme: Self::INFO.name, reason, shortens });
        }
        if !self.accuracy.estimator.looks_at_gaps()
            && let Some(reason) = self.base.may_miss_contact()
        {
            let estimator = self.accuracy.estimator.name();
            return Err(SchemeError::Blind { scheme: Self::INFO.name, estimator, reason });
        }
        let state = model.initial();
        Ok(Work {
            full: self.base.workspace(model)?,
            half: self.base.workspace(model)?,
            difference: vec![0.0; model.dim()],
            coarse: state.clone(),
            middle: state.clone(),
            beyond: state,
            reactions: Reactions::default(),
            end: Coupling::default(),
            velocity: Vec::new(),
            events: Events::new(),
            multipliers: Multipliers::default(),
            load: vec![0.0; model.dim()],
            places: Places::of(&*model),
            extents: Extents::of(model),
        })
    }

    fn step(
        &self,
        w: &mut Self::Work,
        system: System<'_, Self::Model>,
        from: &State,
        h: f64,
        to: &mut State,
    ) -> Result<Step, StepError> {
        let System { model, solver } = system;

        // 1 full step: x₁; the half steps before have left another factorisation in the model
        self.base.drop_factors(&mut w.full);
        let full = self.base.step(&mut w.full, System { model, solver }, from, h, &mut w.coarse)?;
        let half = 0.5 * full.advanced;

        // 2 first half
        self.base.drop_factors(&mut w.half);
        let first = self.base.step(&mut w.half, System { model, solver }, from, half, &mut w.middle)?;
        w.reactions.copy_from(self.base.reactions(&w.half));
        w.events.clear();
        w.events.append(self.base.events(&w.half));
        if to.v.is_empty() {
            w.load.fill(0.0);
            self.base.add_load(&w.full, 1.0, &mut w.load);
            self.base.add_load(&w.half, -1.0, &mut w.load);
        }

        // 3 second half: x₂
        let second = self.base.step(&mut w.half, System { model, solver }, &w.middle, half, to)?;

        let second_half = &self.base.reactions(&w.half).coupling;
        second_half.check(w.middle.t, &w.reactions.coupling.pairs)?;

        // 4 estimate (2); states at different times cannot be compared
        let whole = first.advanced == half && second.advanced == half;
        let mut error = LocalError { value: f64::INFINITY, order: 0 };
        let mut both = full.and(first).and(second);
        if whole {
            w.extents.hold([&w.reactions, self.base.reactions(&w.half)], !to.v.is_empty(), full.advanced);
            w.extents.look(model, (from, to), full.advanced);
            let next = self.look_beyond(w, System { model, solver }, to, half);
            error = self.estimate(w, model, (from, to), full.advanced, next.is_some())?;
            both = both.and(next.unwrap_or_default());
        }

        // 5 reactions of both halves
        w.reactions.append(self.base.reactions(&w.half));
        w.events.append(self.base.events(&w.half));
        if to.v.is_empty() {
            // outputs of first-order systems, whether or not a law acted
            w.reactions.after.clone_from(&self.base.reactions(&w.half).after);
        }
        Ok(Step { advanced: first.advanced + second.advanced, error: Some(error), ..both })
    }

    fn clear_guess(&self, w: &mut Self::Work) {
        self.base.clear_guess(&mut w.full);
        self.base.clear_guess(&mut w.half);
        w.multipliers.forget();
        w.extents.forget();
    }

    fn drop_factors(&self, w: &mut Self::Work) {
        self.base.drop_factors(&mut w.full);
        self.base.drop_factors(&mut w.half);
    }

    fn set_impact_law(&self, w: &mut Self::Work, law: ImpactLaw) -> bool {
        self.base.set_impact_law(&mut w.full, law) && self.base.set_impact_law(&mut w.half, law)
    }

    fn contacts_changed(&self, w: &mut Self::Work) {
        self.base.contacts_changed(&mut w.full);
        self.base.contacts_changed(&mut w.half);
    }

    fn stopped(&self, w: &mut Self::Work) {
        self.base.stopped(&mut w.full);
        self.base.stopped(&mut w.half);
    }

    fn reach(&self) -> f64 {
        self.base.reach()
    }

    fn reactions<'w>(&self, w: &'w Self::Work) -> &'w Reactions {
        &w.reactions
    }

    /// Those of the half steps, whose end is accepted.
    fn warnings<'w>(&self, w: &'w Self::Work) -> Option<&'w Warnings> {
        self.base.warnings(&w.half)
    }

    fn events<'w>(&self, w: &'w Self::Work) -> &'w Events {
        &w.events
    }

    fn motion(&self) -> Motion {
        Motion::Sampled
    }

    fn interpolate(
        &self,
        w: &mut Self::Work,
        model: &mut Self::Model,
        ends: (&State, &State),
        s: f64,
        out: &mut State,
    ) {
        super::interpolate(model, ends, s, is_smooth(&w.reactions, ends), out);
    }
}

/// A relative velocity at most this part of those that its row is made of is rest.
const REST: f64 = 1e-6;

/// Whether the velocities of a mechanical model do not jump in a step: contacts that act stay closed, and go on sliding
/// or sticking.
fn is_smooth(reactions: &Reactions, (from, to): (&State, &State)) -> bool {
    let Reactions { coupling, impulse, before, after, .. } = reactions;
    let goes_on = |row: usize, is_tangent: bool| {
        let made_of = coupling.rows.row(row).iter().map(|&(j, c)| c.abs() * (from.v[j].abs() + to.v[j].abs()));
        let rests = before[row].abs().max(after[row].abs()) <= REST * made_of.sum::<f64>();
        rests || is_tangent && before[row] * after[row] > 0.0
    };
    !from.v.is_empty()
        && (0..reactions.len()).map(|i| reactions.range(i)).all(|rows| {
            impulse[rows.clone()].iter().all(|p| *p == 0.0) || rows.enumerate().all(|(k, row)| goes_on(row, k > 0))
        })
}

impl<S: Scheme> Doubled<S> {
    /// Another half step where a slip has ended in the last one: it may be a reversal. One that fails tells nothing.
    fn look_beyond(&self, w: &mut Work<S::Work>, system: System<'_, S::Model>, to: &State, half: f64) -> Option<Step> {
        let looks = self.accuracy.estimator.looks_at_gaps() && !to.v.is_empty() && self.base.order().position < 2.0;
        if !looks || !slips::ends_at_rest(self.base.reactions(&w.half), &w.extents) {
            return None;
        }
        // the next full step finds other factors anyway
        self.base.drop_factors(&mut w.full);
        self.base.step(&mut w.full, system, to, half, &mut w.beyond).ok()
    }

    fn estimate(
        &self,
        w: &mut Work<S::Work>,
        model: &mut S::Model,
        (from, to): (&State, &State),
        h: f64,
        looked: bool,
    ) -> Result<LocalError, StepError> {
        let looks = self.accuracy.estimator.looks_at_gaps() && to.v.is_empty();
        if looks || self.accuracy.estimator.compares_gaps() && !to.v.is_empty() {
            w.end.fill(model, (to.t, &to.q), false, &w.reactions.coupling.pairs)?;
        }
        if !to.v.is_empty() && self.accuracy.estimator.compares_gaps() {
            w.end.velocity(&to.v, &mut w.velocity);
        }
        if looks {
            let halves = (&w.reactions, self.base.reactions(&w.half));
            let factors = self.base.state_factors(&w.half);
            self.base.add_load(&w.half, -1.0, &mut w.load);
            let done = Done { t: from.t, h, halves, difference: &w.load, end: &w.end, factors };
            w.multipliers.look(&done, to.q.len());
        }
        model.difference(&w.coarse.q, &to.q, &mut w.difference);
        let evidence = Evidence {
            h,
            states: (from, &w.coarse, to),
            next: looked.then(|| self.base.reactions(&w.full)),
            difference: &w.difference,
            halves: (&w.reactions, self.base.reactions(&w.half)),
            end: (&w.end, &w.velocity),
            multipliers: (&w.multipliers.shift, &w.multipliers.difference),
            order: self.base.order(),
            places: &w.places,
            extents: &w.extents,
        };
        Ok(self.accuracy.estimate(&evidence))
    }
}

impl Step {
    /// Two steps as the parts of one: work is added, of certificates the worst counts.
    fn and(self, other: Step) -> Step {
        Step {
            advanced: self.advanced + other.advanced,
            error: None,
            worst: self.worst.worse(other.worst),
            solves: self.solves + other.solves,
            iterations: self.iterations + other.iterations,
            evaluations: self.evaluations + other.evaluations,
            rejected: self.rejected + other.rejected,
        }
    }
}

impl Reactions {
    /// Copies without allocating once the sizes agree.
    fn copy_from(&mut self, other: &Reactions) {
        self.coupling.copy_from(&other.coupling);
        self.before.clone_from(&other.before);
        self.after.clone_from(&other.after);
        self.obstacle.clone_from(&other.obstacle);
        self.impulse.clone_from(&other.impulse);
        self.projection.clone_from(&other.projection);
        self.work.clear();
        self.work.extend((0..other.impulse.len()).map(|row| other.work(row)));
        self.multiplier.clone_from(&other.multiplier);
        self.levels.clone_from(&other.levels);
        self.chains.clone_from(&other.chains);
        self.collisions.clone_from(&other.collisions);
    }

    /// Adds what the laws did in a step right after this one, with the same list: velocities are those before the first
    /// and after the last action.
    fn append(&mut self, next: &Reactions) {
        // λ is that of the end; measures of higher order add up
        self.multiplier.clone_from(&next.multiplier);
        self.collisions.extend_from_slice(&next.collisions);
        for (sum, more) in self.levels.iter_mut().zip(&next.levels) {
            *sum += more;
        }
        for i in 0..self.len() {
            if let (Some(sum), Some(more)) = (self.projection.get_mut(i), next.projection.get(i)) {
                *sum += more;
            }
            let acted = |r: &Reactions| r.impulse[r.range(i)].iter().any(|p| *p != 0.0);
            let (first, second) = (acted(self), acted(next));
            if !second {
                continue;
            }
            for (row, other) in self.range(i).zip(next.range(i)) {
                if !first {
                    self.before[row] = next.before[other];
                }
                // the obstacle's part of the work is impulse times this velocity
                let (p, more) = (self.impulse[row], next.impulse[other]);
                let weight = if p + more != 0.0 { more / (p + more) } else { 0.5 };
                self.obstacle[row] += weight * (next.obstacle[other] - self.obstacle[row]);
                self.after[row] = next.after[other];
                self.impulse[row] = p + more;
                self.work[row] += next.work(other);
            }
        }
    }
}

#[cfg(test)]
mod tests;
