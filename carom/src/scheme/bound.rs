//! Typed for authors, `dyn` for the driver: a scheme bound to its model, solver and states.

use super::paths::{Counted, SolverPath};
use super::rates::RateBounds;
use super::{
    Claim, Events, Family, ModelOf, Motion, Reactions, Scheme, SchemeError, SchemeInfo, Step, StepError, System,
};
use crate::balance::Lengths;
use crate::model::{Energy, check_model};
use crate::{Coupling, ImpactLaw, Labels, ModelError, Space, State, Warnings};
use carom_solve::{Archive, ArchiveError, LinearSolve, Persist, Solver};

/// One trajectory that can be stepped. `from` is the last accepted state, `to` the last one tried.
pub trait Stepper: Send {
    /// What the scheme claims.
    fn info(&self) -> &'static SchemeInfo;
    /// Why all steps must be of one size; `None` where they may differ.
    fn needs_equal_steps(&self) -> Option<&'static str>;
    /// Resolves impacts by this law from now on; refused where the scheme does not have it.
    fn set_impact_law(&mut self, law: ImpactLaw) -> Result<(), SchemeError>;
    /// Names of coordinates and contacts.
    fn labels(&self) -> &Labels;
    /// The last accepted state.
    fn from(&self) -> &State;
    /// The last state tried, until it is accepted.
    fn to(&self) -> &State;
    /// What the laws did in the last step tried.
    fn reactions(&self) -> &Reactions;

    /// Events inside the last step tried, from schemes that locate them.
    fn events(&self) -> &Events;

    /// The state at the part `s` in [0, 1] of the last step tried; only between `attempt` and `accept`.
    fn interpolate(&mut self, s: f64, out: &mut State);

    /// What the scheme knows of the motion between the ends of its steps.
    fn motion(&self) -> Motion;

    /// Tries a step of at most `h`; `from` stays as it is.
    fn attempt(&mut self, h: f64) -> Result<Step, StepError>;

    /// Sets the time of `to`: the driver keeps a grid free of accumulated rounding.
    fn set_time(&mut self, t: f64);

    /// Makes `to` the new `from`.
    fn accept(&mut self);

    /// `out ←` about what the laws have added to the velocities in the last step, or to the states of a first-order
    /// system, as sizes: what rounding there is relative to.
    fn law_sizes(&self, out: &mut Vec<f64>);

    /// Starts again from another state, with nothing remembered.
    fn restart(&mut self, state: &State);

    /// What the solver did so far, path by path; problems of steps that were not accepted are among them.
    fn solver_paths(&self) -> &[SolverPath];

    /// Adds what model, scheme and solver have warned of so far; tries that were not accepted are among it.
    fn warnings(&self, out: &mut Warnings);

    /// Energies at `from` and at `to`. This and what follows is worked out once per step, whoever asks how often.
    fn energies(&mut self) -> Option<(Energy, Energy)>;

    /// Mean power of the forces without potential over the last step [W]: along the dense output of the scheme where it
    /// has one, in the middle of the step elsewhere.
    fn applied_power(&mut self) -> f64;

    /// Kinetic energy that bodies have lost by falling asleep at the start of the last step tried [J].
    fn lost_asleep(&self) -> f64;

    /// `out ← |M v|` at `from` and at `to` together: the momenta beside which impulses are large or small. Returns
    /// whether there are such: first-order systems have none.
    fn momenta(&mut self, out: &mut Vec<f64>) -> Result<bool, ModelError>;

    /// Number of directions in which a state can change: velocities twice, or the states of a first-order system. There
    /// may be more coordinates than directions.
    fn dimension(&self) -> usize;

    /// `out ← b ⊖ a`: positions by the model's own difference, then velocities.
    fn difference(&self, a: &State, b: &State, out: &mut [f64]);

    /// `out ← a ⊕ d`, the state that differs from `a` by `d`, at the same time.
    fn retract(&self, a: &State, d: &[f64], out: &mut State);

    /// Laws, gaps and rows at `to` (or at `from`, before the first step).
    fn coupling(&mut self) -> Result<&Coupling, ModelError>;

    /// Laws, gaps and rows at the part `s` in [0, 1] of the last step tried; only between `attempt` and `accept`.
    fn coupling_at(&mut self, s: f64) -> Result<&Coupling, ModelError>;

    /// (laws) Bounds of the rates of gaps between two parts in [0, 1] of the last step tried; none where the model does
    /// not know them, where gaps are affine and the ends of the step tell all, and from schemes that look into their
    /// steps themselves.
    fn rate_bounds(&mut self, part: [f64; 2]) -> &[[f64; 2]];

    /// The part of the last step tried, of length `h[0]` where the usual one is `h[1]`, at which it has to end so that
    /// no body passes through another one, where the model finds it and the scheme does not look into its steps itself.
    fn passing(&mut self, h: [f64; 2]) -> Option<f64>;

    /// A number that changes where the model has looked for contacts and found others.
    fn contact_version(&self) -> u64;

    /// Laws, gaps and rows at any state.
    fn coupling_of(&mut self, state: &State) -> Result<&Coupling, ModelError>;

    /// Energies at any state, where the model knows them.
    fn energy_of(&mut self, state: &State) -> Option<Energy>;

    /// What the laws did in the last step tried, the state `to` at its end, laws, gaps and rows there, and the lengths
    /// behind gaps that steps up to this one have begun with.
    fn end(&mut self) -> Result<(&Reactions, &State, &Coupling, &Lengths), ModelError>;

    /// Writes down what is remembered between two steps, after `accept`, or takes over what was: the steps that follow
    /// have the same bits.
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError>;
}

/// Points and weights of Gauss' rule of order 8 on [0, 1].
const GAUSS: [(f64, f64); 4] = [
    (0.06943184420297371, 0.17392742256872692),
    (0.33000947820757187, 0.32607257743127307),
    (0.6699905217924281, 0.32607257743127307),
    (0.9305681557970263, 0.17392742256872692),
];

/// A scheme with its work, model, solver and the two states.
pub struct Bound<S: Scheme> {
    scheme: S,
    work: S::Work,
    model: Box<S::Model>,
    solver: Counted,
    from: State,
    to: State,
    middle: State,
    increment: Vec<f64>, // (n) of `middle`
    labels: Labels,
    coupling: Coupling,
    between: Coupling, // inside the step, where somebody asks
    rates: RateBounds, // over a piece of it, likewise
    piece: State,      // at the end of the piece
    contacts: u64,     // how often the model has found others
    asleep: f64,       // energy that what fell asleep at the start of this step has lost [J]
    lengths: Lengths,  // behind gaps, at starts of steps that somebody asked about
    known: Known,
}

/// What was worked out of the two states and the step between them; nothing is worked out twice.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    fits: bool,                   // whether the state that the steps began from has the sizes of the model
    is_fresh: bool,               // whether `to` is `from`: no step was tried yet
    from: Option<Option<Energy>>, // none where nobody has asked
    to: Option<Option<Energy>>,
    power: Option<f64>,
    coupling: bool, // whether the coupling is that at `to`
    lengths: bool,  // whether they have met `from`
}

impl Known {
    /// Of a state without a step.
    const FRESH: Known =
        Known { fits: true, is_fresh: true, from: None, to: None, power: None, coupling: false, lengths: false };

    /// After `to` has changed.
    fn changed(&mut self) {
        // field by field: it is done several times in a step
        (self.is_fresh, self.to, self.power, self.coupling, self.lengths) = (false, None, None, false, false);
    }
}

impl<S: Scheme> Bound<S> {
    /// Checks options and model, and that the three fit together; starts at the model's initial state.
    pub fn new(scheme: S, mut model: Box<S::Model>, solver: Box<dyn Solver>) -> Result<Self, SchemeError> {
        scheme.check_options().map_err(|source| SchemeError::Option { scheme: S::INFO.name, source })?;
        let from = model.initial();
        let velocities = match S::Model::FAMILY {
            Family::Mechanical => model.dim(),
            Family::FirstOrder => 0,
        };
        let mut coupling = Coupling::default();
        let labels = check_model(&mut *model, &from, velocities, &mut coupling)?;
        let laws: Vec<_> = coupling.pairs.iter().map(|pair| pair.law).collect();
        solver.admits(&laws)?;
        if model.friction_varies() && !S::INFO.claims.contains(&Claim::VaryingFriction) {
            let reason = "has constant coefficients of friction only";
            return Err(SchemeError::Incapable { scheme: S::INFO.name, reason, contact: None });
        }
        if model.has_rebounds() && !S::INFO.claims.contains(&Claim::Rebounds) {
            let reason = "has no restitution along tangents";
            return Err(SchemeError::Incapable { scheme: S::INFO.name, reason, contact: None });
        }
        if model.sleeps() && !S::INFO.claims.contains(&Claim::Sleep) {
            let reason = "remembers more than the state, or looks into its steps: bodies cannot sleep";
            return Err(SchemeError::Incapable { scheme: S::INFO.name, reason, contact: None });
        }
        if let [bearing, ..] = model.bearings()
            && !S::INFO.claims.contains(&Claim::Bearings)
        {
            let contact = labels.contacts.get(bearing.law).map(|(name, _)| name.clone());
            let reason = "has no friction that follows the load of a joint";
            return Err(SchemeError::Incapable { scheme: S::INFO.name, reason, contact });
        }
        let work = scheme.workspace(&mut *model)?;
        let (to, middle, increment) = (from.clone(), from.clone(), vec![0.0; model.dim()]);
        let known = Known { coupling: true, ..Known::FRESH };
        let solver = Counted::new(solver, model.accept());
        let (between, rates, piece, contacts) = (Coupling::default(), RateBounds::default(), from.clone(), 0);
        let asleep = 0.0;
        let lengths = Lengths::of(&*model);
        Ok(Bound {
            scheme,
            work,
            model,
            solver,
            from,
            to,
            middle,
            increment,
            labels,
            coupling,
            between,
            rates,
            piece,
            contacts,
            asleep,
            lengths,
            known,
        })
    }

    pub(crate) fn scheme(&self) -> &S {
        &self.scheme
    }

    /// The scheme, and its buffers to set up.
    pub(crate) fn parts_mut(&mut self) -> (&S, &mut S::Work) {
        (&self.scheme, &mut self.work)
    }

    /// Power of the forces without potential at the part `s` of the last step.
    fn power_at(&mut self, s: f64) -> f64 {
        let ends = (&self.from, &self.to);
        self.scheme.interpolate(&mut self.work, &mut self.model, ends, s, &mut self.middle);
        self.model.applied_power(&self.middle)
    }

    /// The mean power over the last step.
    fn mean_power(&mut self) -> f64 {
        if self.scheme.is_dense(&self.work) {
            return GAUSS.iter().map(|&(s, weight)| weight * self.power_at(s)).sum();
        }
        // midpoint in time, positions and velocities: second order where the motion is smooth
        self.middle.t = 0.5 * (self.from.t + self.to.t);
        self.model.difference(&self.from.q, &self.to.q, &mut self.increment);
        for (m, (a, b)) in self.middle.v.iter_mut().zip(self.from.v.iter().zip(&self.to.v)) {
            *m = 0.5 * (a + b);
        }
        // velocities jump where an impact was located inside the step: then the way tells their mean
        let h = self.to.t - self.from.t;
        if h > 0.0 && !self.scheme.events(&self.work).is_empty() {
            self.middle.v.iter_mut().zip(&self.increment).for_each(|(m, d)| *m = d / h);
        }
        self.increment.iter_mut().for_each(|d| *d *= 0.5);
        self.model.retract(&self.from.q, &self.increment, &mut self.middle.q);
        self.model.applied_power(&self.middle)
    }

    /// The state to start from has not the sizes of the model.
    #[cold]
    fn misfit(&self) -> StepError {
        let size = |state: &State| state.q.len() + state.v.len();
        let (found, needed) = (size(&self.from), size(&self.middle));
        ModelError::Size { what: "numbers of the state to start from", found, needed }.into()
    }

    /// What falls asleep stands still from the start of the step on; its energy does not come back.
    #[cold]
    fn stop_sleepers(&mut self) {
        if let Some(lost) = self.model.rest(&mut self.from) {
            self.scheme.stopped(&mut self.work);
            self.asleep += lost;
            self.known.from = None;
        }
    }

    /// Why a step failed, where the model knows more.
    #[cold]
    fn explained(&mut self, error: StepError) -> StepError {
        let joints = error.may_be_of_length().then(|| self.model.nearly_singular(&self.from)).flatten();
        match joints {
            Some(joints) => StepError::Singular { joints, error: Box::new(error) },
            None => error,
        }
    }

    /// The buffers of the last step tried.
    pub(crate) fn work(&self) -> &S::Work {
        &self.work
    }
}

impl<S: Scheme> Stepper for Bound<S> {
    fn info(&self) -> &'static SchemeInfo {
        const { &S::INFO }
    }
    fn needs_equal_steps(&self) -> Option<&'static str> {
        self.scheme.needs_equal_steps()
    }
    fn set_impact_law(&mut self, law: ImpactLaw) -> Result<(), SchemeError> {
        if self.scheme.set_impact_law(&mut self.work, law) {
            return Ok(());
        }
        let reason = "has Newton's impact law alone";
        Err(SchemeError::Incapable { scheme: S::INFO.name, reason, contact: None })
    }
    fn labels(&self) -> &Labels {
        &self.labels
    }
    fn from(&self) -> &State {
        &self.from
    }
    fn to(&self) -> &State {
        &self.to
    }
    fn reactions(&self) -> &Reactions {
        self.scheme.reactions(&self.work)
    }
    fn events(&self) -> &Events {
        self.scheme.events(&self.work)
    }
    fn interpolate(&mut self, s: f64, out: &mut State) {
        self.scheme.interpolate(&mut self.work, &mut self.model, (&self.from, &self.to), s, out);
    }

    fn motion(&self) -> Motion {
        self.scheme.motion()
    }

    fn attempt(&mut self, h: f64) -> Result<Step, StepError> {
        self.known.changed();
        self.solver.t = self.from.t;
        if !self.known.fits {
            return Err(self.misfit());
        }
        if self.model.detect(&self.from, h * self.scheme.reach())? {
            self.scheme.contacts_changed(&mut self.work);
            self.contacts += 1;
            self.stop_sleepers();
        }
        let system = System { model: &mut *self.model, solver: &mut self.solver };
        let done = self.scheme.step(&mut self.work, system, &self.from, h, &mut self.to);
        done.map_err(|error| self.explained(error))
    }

    fn set_time(&mut self, t: f64) {
        if self.to.t != t {
            self.to.t = t;
            self.known.changed();
        }
    }

    fn accept(&mut self) {
        std::mem::swap(&mut self.from, &mut self.to);
        self.asleep = 0.0;
        // the end is the next start
        self.known.from = self.known.to;
        self.known.changed();
    }

    fn law_sizes(&self, out: &mut Vec<f64>) {
        let Reactions { coupling, impulse, .. } = self.reactions();
        out.clear();
        out.resize(self.model.dim(), 0.0);
        let entering = if coupling.input.is_empty() { &coupling.rows } else { &coupling.input };
        for (row, p) in impulse.iter().enumerate().filter(|(_, p)| **p != 0.0) {
            entering.row(row).iter().for_each(|&(j, b)| out[j] += (b * p).abs());
        }
        self.model.solve(out);
        out.iter_mut().for_each(|x| *x = x.abs());
    }

    fn restart(&mut self, state: &State) {
        self.from.copy_from(state);
        self.to.copy_from(state);
        self.scheme.clear_guess(&mut self.work);
        let fits = (state.q.len(), state.v.len()) == (self.middle.q.len(), self.middle.v.len());
        self.known = Known { fits, ..Known::FRESH };
        self.lengths.forget();
    }

    fn solver_paths(&self) -> &[SolverPath] {
        &self.solver.paths
    }

    fn warnings(&self, out: &mut Warnings) {
        let own = [self.model.warnings(), self.scheme.warnings(&self.work), Some(&self.solver.warnings)];
        own.into_iter().flatten().for_each(|list| out.extend(list));
    }

    fn energies(&mut self) -> Option<(Energy, Energy)> {
        let Bound { known, model, from, to, .. } = self;
        let start = *known.from.get_or_insert_with(|| model.energy(from));
        let is_fresh = known.is_fresh;
        let end = *known.to.get_or_insert_with(|| if is_fresh { start } else { model.energy(to) });
        start.zip(end)
    }

    fn applied_power(&mut self) -> f64 {
        if let Some(power) = self.known.power {
            return power;
        }
        let power = if self.model.has_applied_power() { self.mean_power() } else { 0.0 };
        self.known.power = Some(power);
        power
    }

    fn lost_asleep(&self) -> f64 {
        self.asleep
    }

    fn momenta(&mut self, out: &mut Vec<f64>) -> Result<bool, ModelError> {
        out.clear();
        out.resize(self.model.dim(), 0.0);
        for state in [&self.from, &self.to] {
            if !self.model.momentum(state, &mut self.increment)? {
                return Ok(false);
            }
            out.iter_mut().zip(&self.increment).for_each(|(sum, p)| *sum += p.abs());
        }
        Ok(true)
    }

    fn dimension(&self) -> usize {
        self.model.dim() + self.from.v.len()
    }

    fn difference(&self, a: &State, b: &State, out: &mut [f64]) {
        let (q, v) = out.split_at_mut(self.model.dim());
        self.model.difference(&a.q, &b.q, q);
        for (o, (a, b)) in v.iter_mut().zip(a.v.iter().zip(&b.v)) {
            *o = b - a;
        }
    }

    fn retract(&self, a: &State, d: &[f64], out: &mut State) {
        let (q, v) = d.split_at(self.model.dim());
        out.t = a.t;
        self.model.retract(&a.q, q, &mut out.q);
        for (o, (a, d)) in out.v.iter_mut().zip(a.v.iter().zip(v)) {
            *o = a + d;
        }
    }

    fn coupling(&mut self) -> Result<&Coupling, ModelError> {
        Ok(self.end()?.2)
    }

    fn coupling_at(&mut self, s: f64) -> Result<&Coupling, ModelError> {
        let ends = (&self.from, &self.to);
        self.scheme.interpolate(&mut self.work, &mut self.model, ends, s, &mut self.middle);
        self.model.couple(self.middle.t, &self.middle.q, &mut self.between)?;
        Ok(&self.between)
    }

    fn rate_bounds(&mut self, part: [f64; 2]) -> &[[f64; 2]] {
        let Bound { scheme, work, rates, model, from, to, middle, piece, .. } = self;
        rates.values.clear();
        if scheme.motion() == Motion::Dense || !model.gaps_bend() {
            return &rates.values;
        }
        let [left, right] = match part {
            [0.0, 1.0] => [&*from, &*to],
            [a, b] => {
                scheme.interpolate(work, model, (from, to), a, middle);
                scheme.interpolate(work, model, (from, to), b, piece);
                [&*middle, &*piece]
            }
        };
        rates.fill([left, right, right], |t, q, v, out| model.gap_rates(t, q, v, out));
        &rates.values
    }

    fn passing(&mut self, h: [f64; 2]) -> Option<f64> {
        if self.scheme.motion() == Motion::Dense {
            return None;
        }
        let Reactions { coupling, impulse, before, .. } = self.scheme.reactions(&self.work);
        self.model.passing((&self.from, &self.to), h, (coupling, impulse, before))
    }

    fn contact_version(&self) -> u64 {
        self.contacts
    }

    fn coupling_of(&mut self, state: &State) -> Result<&Coupling, ModelError> {
        self.model.couple(state.t, &state.q, &mut self.between)?;
        Ok(&self.between)
    }

    fn energy_of(&mut self, state: &State) -> Option<Energy> {
        self.model.energy(state)
    }

    fn end(&mut self) -> Result<(&Reactions, &State, &Coupling, &Lengths), ModelError> {
        if !self.known.coupling {
            if !self.scheme.couple_end(&mut self.work, &mut self.model, &self.to)? {
                self.model.couple(self.to.t, &self.to.q, &mut self.coupling)?;
            }
            self.known.coupling = true;
        }
        if !self.known.lengths {
            // `to` may be a try that is not accepted
            let State { t, q, v } = &self.from;
            self.lengths.meet(&*self.model, q, v, self.to.t - t);
            self.known.lengths = true;
        }
        let coupling = self.scheme.end_coupling(&self.work).unwrap_or(&self.coupling);
        Ok((self.scheme.reactions(&self.work), &self.to, coupling, &self.lengths))
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        let sizes = (self.middle.q.len(), self.middle.v.len());
        archive.same(sizes.0, "the model has another number of coordinates")?;
        archive.same(sizes.1, "the model has another number of velocities")?;
        // `to` is the start of the last step: its contacts are those that the model lists
        let Bound {
            scheme,
            work,
            model,
            solver,
            from,
            to,
            coupling,
            contacts,
            lengths,
            known,
            asleep: _,
            middle: _,
            increment: _,
            labels: _,
            between: _,
            rates: _,
            piece: _,
        } = self;
        (&mut *from, &mut *to).persist(archive)?;
        let is_factored = model.persist(archive, to)?;
        (&mut *work, solver, coupling).persist(archive)?;
        (contacts, lengths).persist(archive)?;
        if archive.is_reading() {
            // what was worked out of the states is worked out again
            *known = Known { is_fresh: false, ..Known::FRESH };
            if !is_factored {
                scheme.drop_factors(work);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::GAUSS;

    #[test]
    fn the_rule_has_order_eight() {
        for k in 0..8 {
            let sum: f64 = GAUSS.iter().map(|(s, weight)| weight * s.powi(k)).sum();
            assert!((sum - 1.0 / f64::from(k + 1)).abs() < 1e-15, "{k}: {sum}");
        }
    }
}
