//! Newton's loop on an impulse balance, for every scheme that captures its contacts.
//!
//! ```text
//!     v_free = v^n + A⁻¹ (h Σ w F − M (v^n − v)),     A = M + h w δ C + h² w β K        as the balance says        (1)
//!     v^{n+1} = v_free + A⁻¹ B P                      P from the laws, at the rows of the last iterate             (2)
//! ```
//!
//! until the residual h Σ w F − M (v⁺ − v) + B P falls below `tolerance · (h|Σ w F| + |B P|) + round-off` and the
//! laws hold at the new iterate. Impulses and velocities of coordinates in different units are compared by the roots
//! of the diagonal of M: |p| is the largest p_j/√M_jj, |v| the largest v_j √M_jj, in √J. Round-off is that of M v
//! and, once the residual does not fall any more, that of the forces whose sum F is, which cancel at rest in a well,
//! and of the reactions, which cancel on a body that carries many others. A is kept while the residual falls quickly,
//! and where equalities alone act the rows of (2) go on with it: then
//!
//! ```text
//!     v_free = v^n + A⁻¹ (h Σ w F − M (v^n − v) + B P^n − B' P^n),     v^{n+1} = v_free + A⁻¹ B' P                 (3)
//! ```
//!
//! with B' of then. Where (3) changes the impulses alone, along rows that have turned, the balance is tested with these
//! at the iterate as it is. Elsewhere a model that adds what reactions do to A (`brace`: tension stiffens) has it made
//! anew at each iterate. A model whose mass, tangents and rows are constant needs one solve and one factorisation per
//! step size. `guess.rs` has the first v⁺, `shift.rs` what is done where the loop fails with an indefinite A.

mod guess;
mod laws;
mod shift;

pub(crate) use laws::{Laws, Limits, Residual};

use super::mixing::Mixing;
use super::words::{Balance, Place};
use crate::model::{Constancy, mass_roots};
use crate::state::copy;
use crate::{Mechanical, State, Step, StepError, System};

/// The iteration matrix is made anew where an iteration reduces the residual by less than this factor.
const SLOW: f64 = 0.05;

/// The same of the first iteration, whose residual is compared with what its change of the velocity was worth: the next
/// one with this matrix is about twice as slow.
const SLOW_AT_FIRST: f64 = 0.5 * SLOW;

/// A balance and its iterate; buffers in the order in which the loop sets them.
#[derive(Default)]
pub(crate) struct Newton {
    pub balance: Balance,
    pub limits: Limits,
    pub constancy: Constancy,
    pub is_linear: bool,        // one solve is the whole step
    pub h: f64,                 // step size
    pub rate: Vec<f64>, // (n) change of v in the last step, per time: the guess for this one; empty where there is none
    pub displacement: Vec<f64>, // (n) of q⁺ besides that of the velocities, by schemes that project; empty otherwise
    pub at: State,      // where the force is taken
    pub v_free: Vec<f64>, // (n) velocity without reactions
    pub increment: Vec<f64>, // (n) differences of positions and velocities
    pub factorisations: u64, // how often A has changed: W of an older one is not that of now
    pub braced: Vec<f64>, // (rows) impulses that A may count with; empty where there are none
    pub acts_in_middle: bool, // whether impulses act along rows that are taken there
    pub keeps: bool,    // whether A and the rows of the last problem go on
    guess: guess::Guess,
    moved: f64,    // change of the velocity in the last iteration [√J], where rows may go on
    allowed: f64,  // residual that is allowed at the last iterate [√J]
    middle: State, // where the mass is taken, if that is elsewhere
    mass_is_elsewhere: bool,
    roots: Vec<[f64; 2]>, // (n) √M_jj at the initial state and 1/√M_jj: what coordinates are worth beside each other
    known: Vec<f64>,      // (n) h w₀ F at the start; empty where w₀ is zero
    impulse: Vec<f64>,    // (n) h Σ w F
    balanced: Vec<f64>,   // (n) residual without reactions
    whole: Vec<f64>,      // (n) residual
    near: Vec<f64>,       // positions next to others
    factored: Option<f64>, // step size of the constant factorisation
    refactor: bool,       // whether A is to be made anew at the iterate
    last: f64,            // residual of the iterate before
    missed: f64,          // by how much it missed the laws, as a multiple of what is allowed
    shift: f64,           // σ, zero unless the loop has failed
    taken: (Vec<f64>, Vec<f64>), // (n) v and residual without reactions of the last iterate that was taken, with σ
    pub mixing: Mixing,   // iterates of a loop that has failed
}

carom_solve::persist!(Newton {
    h, rate, displacement, at, v_free, increment, factorisations, braced, keeps, guess, moved, allowed, middle,
    known, impulse, balanced, whole, near, factored, refactor, last, missed, shift, taken,
} skip { balance, limits, constancy, is_linear, acts_in_middle, mass_is_elsewhere, roots, mixing });

impl Newton {
    pub fn new(model: &mut dyn Mechanical, balance: Balance, limits: Limits) -> Newton {
        let n = model.dim();
        let roots = mass_roots(model).into_iter().map(|root| [root, 1.0 / root]).collect();
        Newton {
            balance,
            limits,
            constancy: model.constancy(),
            is_linear: model.constancy().linear(),
            acts_in_middle: balance.input != balance.output && !model.constancy().rows,
            at: model.initial(),
            middle: model.initial(),
            mass_is_elsewhere: !balance.mass.is_at(&balance.force.1),
            known: vec![0.0; if balance.start == 0.0 { 0 } else { n }],
            roots,
            impulse: vec![0.0; n],
            balanced: vec![0.0; n],
            whole: vec![0.0; n],
            v_free: vec![0.0; n],
            increment: vec![0.0; n],
            taken: (vec![0.0; n], vec![0.0; n]),
            ..Newton::default()
        }
    }

    /// The factorisation in the model is not this one any more.
    pub fn invalidate(&mut self) {
        self.factored = None;
    }

    /// The size of the step. It is not written again where it is known: numbers beside it are read together with it,
    /// and would wait for the new one.
    #[inline(always)]
    pub fn set_step(&mut self, h: f64) {
        if self.h != h {
            self.h = h;
        }
    }

    /// Starts a balance over `h` from a state: the force there, and the first iterate with its free motion.
    #[inline(always)]
    pub fn begin(
        &mut self,
        model: &mut dyn Mechanical,
        (from, to): (&State, &mut State),
        h: f64,
        step: &mut Step,
    ) -> Result<(), StepError> {
        self.set_step(h);
        model.begin_step(h);
        if self.balance.start != 0.0 {
            step.evaluations += 1;
            model.force(from.t, &from.q, &from.v, &mut self.known)?;
            self.known.iter_mut().for_each(|f| *f *= h * self.balance.start);
        }
        self.restart(model, (from, to), step)
    }

    /// The first iterate, the matrix A there and its free motion. v⁺ goes on changing as it did last time, where that
    /// is known: in smooth motion one iteration is then enough.
    #[inline(always)]
    pub fn restart(
        &mut self,
        model: &mut dyn Mechanical,
        (from, to): (&State, &mut State),
        step: &mut Step,
    ) -> Result<(), StepError> {
        to.t = from.t + self.h;
        let extrapolates = !self.rate.is_empty();
        let n = self.increment.len();
        let (h, before, after) = (self.h, &from.v[..n], &mut to.v[..n]);
        let buffers = (&mut self.at.v[..], &mut self.increment[..]);
        if extrapolates {
            let rate = &self.rate[..n];
            let guess = |j: usize| {
                after[j] = before[j] + h * rate[j];
                after[j]
            };
            self.balance.force.1.state(h, before, guess, buffers);
        } else {
            self.braced.clear();
            let guess = |j: usize| {
                after[j] = before[j];
                before[j]
            };
            self.balance.force.1.state(h, before, guess, buffers);
        }
        self.place_at(model, (from, to));
        // the matrix first: a model may share work between tangents and forces; but a force that is no number is the
        // better error
        let factored = self.factor(model);
        step.evaluations += 1;
        if extrapolates {
            self.force(model)?;
            factored?;
            self.inertia(model, (from, to))?;
            let parts = self.impulse.iter().zip(&self.balanced);
            self.v_free.iter_mut().zip(parts).for_each(|(free, (p, r))| *free = p - r);
        } else {
            let weights = (self.h * self.balance.force.0, &self.known[..]);
            weighted_force(model, &self.at, weights, &mut self.v_free)?;
            factored?;
        }
        (self.last, self.missed) = (f64::INFINITY, f64::INFINITY);
        self.keeps = false;
        self.add_free(model, to);
        Ok(())
    }

    /// Solves the balance from the iterate in `to`, whose free motion is there.
    #[inline(always)]
    pub fn solve<L: Laws>(
        &mut self,
        laws: &mut L,
        system: &mut System<'_, dyn Mechanical>,
        ends: (&State, &mut State),
        step: &mut Step,
    ) -> Result<(), StepError> {
        self.iterate(laws, system, ends, false, step)
    }

    /// The loop of `solve`; with `mixes` the rows of the first iterate are known, and each one is mixed with others.
    #[inline(always)]
    fn iterate<L: Laws>(
        &mut self,
        laws: &mut L,
        system: &mut System<'_, dyn Mechanical>,
        (from, to): (&State, &mut State),
        mixes: bool,
        step: &mut Step,
    ) -> Result<(), StepError> {
        for iterations in 1u32.. {
            let first = iterations == 1 && !mixes;
            if mixes {
                self.taken.0.copy_from_slice(&to.v);
            }
            // problem and solve: P with the laws at the latest iterate; v⁺ = v_free + A⁻¹ B P
            if !laws.is_empty() {
                laws.react(self, system, (from, to), first, step)?;
                if !self.constancy.matrix() {
                    laws.impulses(&mut self.braced);
                }
            }
            if laws.goes_on() {
                self.moved = self.change(laws, to);
                // impulses along rows that have turned were all that was missing: nothing moves any more
                if self.keeps && self.missed <= 1.0 && self.moved <= self.allowed && self.balances(laws) {
                    step.iterations += 1;
                    break;
                }
            }
            self.advance(laws, system.model, (from, to));
            step.iterations += 1;

            // the new iterate: where the force is taken, and the laws there
            if self.is_linear {
                if laws.follow(self, system.model, (from, to), first)? {
                    continue;
                }
                break;
            }
            self.place(system.model, (from, to));
            laws.follow(self, system.model, (from, to), first)?;
            step.evaluations += 1;
            if self.converged(laws, system.model, (from, to), iterations)? {
                if self.limits.tolerance < f64::EPSILON && laws.is_empty() {
                    self.polish(laws, system.model, (from, to))?;
                }
                break;
            }
            if mixes {
                self.mix(laws, system.model, (from, to), step)?;
            }
            if self.keeps {
                self.go_on(laws, system.model, to);
            } else {
                self.free(system.model, to)?;
            }
        }
        if to.is_finite() { Ok(()) } else { Err(StepError::NotFinite) }
    }

    /// The free motion of the next iterate with A and directions B of an earlier one: v^n + A⁻¹ (residual) − A⁻¹ B P.
    fn go_on<L: Laws>(&mut self, laws: &L, model: &mut dyn Mechanical, to: &State) {
        self.v_free.copy_from_slice(&self.whole);
        self.add_free(model, to);
        self.v_free.iter_mut().zip(laws.response()).for_each(|(free, dv)| *free -= dv);
    }

    /// Takes the correction that the last residual asks for, which is rounding beside the momenta: left out, it adds up
    /// over many steps of a free body.
    #[cold]
    fn polish<L: Laws>(
        &mut self,
        laws: &L,
        model: &mut dyn Mechanical,
        (from, to): (&State, &mut State),
    ) -> Result<(), StepError> {
        self.free(model, to)?;
        self.advance(laws, model, (from, to));
        Ok(())
    }

    /// v_free = v^n + A⁻¹ (h Σ w F − M (v^n − v)), with v^n in `to`.
    #[inline(always)]
    pub fn free(&mut self, model: &mut dyn Mechanical, to: &State) -> Result<(), StepError> {
        // reactions have changed A, and its rows make the problem anew in any case
        if self.refactor || !self.braced.is_empty() && !self.constancy.matrix() {
            self.factor(model)?;
        }
        self.v_free.copy_from_slice(&self.balanced);
        self.add_free(model, to);
        Ok(())
    }

    /// v_free = v^n + A⁻¹ v_free.
    #[inline(always)]
    fn add_free(&mut self, model: &mut dyn Mechanical, to: &State) {
        model.solve(&mut self.v_free);
        self.v_free.iter_mut().zip(&to.v).for_each(|(free, v)| *free += v);
    }

    /// v⁺ = v_free + A⁻¹ B P.
    #[inline(always)]
    pub fn update<L: Laws>(&self, laws: &L, to: &mut State) {
        if laws.is_empty() {
            copy(&self.v_free, &mut to.v);
        } else {
            let parts = self.v_free.iter().zip(laws.response());
            to.v.iter_mut().zip(parts).for_each(|(v, (free, dv))| *v = free + dv);
        }
    }

    /// Whether the balance holds at the last iterate with the impulses of the last solve.
    fn balances<L: Laws>(&mut self, laws: &L) -> bool {
        let mut sum = std::mem::take(&mut self.whole);
        sum.copy_from_slice(&self.balanced);
        laws.add_reactions(self, &mut sum);
        self.whole = sum;
        self.largest(&self.whole) <= self.allowed
    }

    /// By how much the velocity of the next iterate is another one [√J].
    fn change<L: Laws>(&self, laws: &L, to: &State) -> f64 {
        let parts = self.v_free.iter().zip(laws.response()).zip(&to.v).zip(&self.roots);
        parts.fold(0.0f64, |m, (((free, dv), v), [root, _])| m.max((free + dv - v).abs() * root))
    }

    /// v⁺ as `update` has it and the q⁺ that goes with it, as `place_end` has it.
    #[inline(always)]
    pub fn advance<L: Laws>(&mut self, laws: &L, model: &dyn Mechanical, (from, to): (&State, &mut State)) {
        let n = self.increment.len();
        let (free, after) = (&self.v_free[..n], &mut to.v[..n]);
        if laws.is_empty() {
            let velocity = |j: usize| {
                after[j] = free[j];
                free[j]
            };
            self.balance.end.way(self.h, &from.v, velocity, &mut self.increment);
        } else {
            let response = &laws.response()[..n];
            let velocity = |j: usize| {
                after[j] = free[j] + response[j];
                after[j]
            };
            self.balance.end.way(self.h, &from.v, velocity, &mut self.increment);
        }
        self.displace(self.balance.end, from);
        model.retract(&from.q, &self.increment, &mut to.q);
    }

    /// A of the balance, where the force is taken; once per step size where it is constant.
    #[inline(always)]
    pub fn factor(&mut self, model: &mut dyn Mechanical) -> Result<(), StepError> {
        if self.constancy.matrix() && self.factored == Some(self.h) {
            return Ok(());
        }
        self.factored = None;
        self.factorisations += 1;
        let mut matrix = self.balance.matrix(self.h);
        matrix.mass += self.shift;
        if !self.braced.is_empty() {
            let place = if self.acts_in_middle { self.balance.input } else { self.balance.output };
            let at = if self.mass_is_elsewhere { &self.middle } else { &self.at };
            model.brace(&at.q, self.h * place.beta, &self.braced);
        }
        model.factor(&self.at, matrix)?;
        self.factored = Some(self.h);
        self.refactor = false;
        Ok(())
    }

    /// Where force and mass are taken, for the velocity in `to`.
    #[inline(always)]
    pub fn place(&mut self, model: &dyn Mechanical, (from, to): (&State, &State)) {
        let after = &to.v[..self.increment.len()];
        let buffers = (&mut self.at.v[..], &mut self.increment[..]);
        self.balance.force.1.state(self.h, &from.v, |j| after[j], buffers);
        self.place_at(model, (from, to));
    }

    /// The same where the velocity of the place and the way to it are there.
    #[inline(always)]
    fn place_at(&mut self, model: &dyn Mechanical, (from, to): (&State, &State)) {
        self.at.t = self.displace(self.balance.force.1, from);
        model.retract(&from.q, &self.increment, &mut self.at.q);
        if self.mass_is_elsewhere && !self.is_linear {
            self.middle.t = self.locate(self.balance.mass, (from, to));
            model.retract(&from.q, &self.increment, &mut self.middle.q);
        }
    }

    /// q⁺ that goes with the velocity in `to`; leaves the argument of `retract` in `increment`.
    #[inline]
    pub fn place_end(&mut self, model: &dyn Mechanical, (from, to): (&State, &mut State)) {
        self.locate(self.balance.end, (from, to));
        model.retract(&from.q, &self.increment, &mut to.q);
    }

    /// The way to a place in `increment`; returns its time.
    #[inline]
    fn locate(&mut self, place: Place, (from, to): (&State, &State)) -> f64 {
        let after = &to.v[..self.increment.len()];
        place.way(self.h, &from.v, |j| after[j], &mut self.increment);
        self.displace(place, from)
    }

    /// Moves a place by what a projection has added; returns its time.
    #[inline]
    fn displace(&mut self, place: Place, from: &State) -> f64 {
        if !self.displacement.is_empty() {
            self.increment.iter_mut().zip(&self.displacement).for_each(|(d, x)| *d += place.tau * x);
        }
        from.t + place.tau * self.h
    }

    /// Where the mass is taken.
    pub fn middle(&self) -> (f64, &[f64]) {
        let middle = if self.mass_is_elsewhere { &self.middle } else { &self.at };
        (middle.t, &middle.q)
    }

    /// h Σ w F.
    #[inline(always)]
    fn force(&mut self, model: &mut dyn Mechanical) -> Result<(), StepError> {
        weighted_force(model, &self.at, (self.h * self.balance.force.0, &self.known), &mut self.impulse)
    }

    /// M (v⁺ − v), left in `balanced`, with v⁺ − v in `increment`.
    fn inertia(&mut self, model: &mut dyn Mechanical, (from, to): (&State, &State)) -> Result<(), StepError> {
        for (d, (a, b)) in self.increment.iter_mut().zip(to.v.iter().zip(&from.v)) {
            *d = a - b;
        }
        let q = if self.mass_is_elsewhere { &self.middle.q } else { &self.at.q };
        Ok(model.mass_mul(q, &self.increment, &mut self.balanced)?)
    }

    /// Whether the new iterate is the solution.
    fn converged<L: Laws>(
        &mut self,
        laws: &mut L,
        model: &mut dyn Mechanical,
        ends: (&State, &State),
        iterations: u32,
    ) -> Result<bool, StepError> {
        let at = self.residual(laws, model, ends)?;
        let allowed = self.limits.tolerance.max(laws.certified()) * at.speed;
        let missed = if laws.is_empty() { 0.0 } else { laws.missed(self, &ends.1.v, allowed) };
        // tell of the laws where it is they that are missed
        let is_quick = iterations > 1 || at.residual <= SLOW_AT_FIRST * self.moved;
        self.keeps = laws.goes_on() && !self.refactor && is_quick && (missed <= 1.0 || missed <= SLOW * self.missed);
        self.missed = missed;
        let told = match at.is_small() {
            true => (missed * laws.tolerance(allowed), laws.tolerance(allowed)),
            false => (at.residual, at.tolerance),
        };
        self.limits.judge(at.is_small() && missed <= 1.0, told, iterations)
    }

    /// The residual at the new iterate, left in `balanced` without the reactions for the next pass.
    pub fn residual<L: Laws>(
        &mut self,
        laws: &L,
        model: &mut dyn Mechanical,
        (from, to): (&State, &State),
    ) -> Result<Residual, StepError> {
        self.force(model)?;
        self.inertia(model, (from, to))?;
        let jump = self.speed(&self.increment);
        let (mut scale, mut inertia) = (0.0f64, 0.0f64);
        for ((r, p), [_, inverse]) in self.balanced.iter_mut().zip(&self.impulse).zip(&self.roots) {
            inertia = inertia.max(r.abs() * inverse);
            scale = scale.max(p.abs() * inverse);
            *r = p - *r;
        }
        self.whole.copy_from_slice(&self.balanced);
        if !laws.is_empty() {
            let mut sum = std::mem::take(&mut self.whole);
            laws.add_reactions(self, &mut sum);
            self.whole = sum;
            scale = scale.max(inertia);
        }
        let (residual, speed) = (self.largest(&self.whole), self.speed(&to.v));
        if !(residual.is_finite() && speed.is_finite()) {
            return Err(StepError::NotFinite);
        }
        let mut tolerance = self.limits.tolerance.max(laws.certified()) * scale;
        // M (v⁺ − v) carries the rounding of M v, which is |v|/|v⁺ − v| times larger; the last bits that a number can
        // have tell nothing of it
        let carried = inertia * (speed / jump).max(1.0);
        if jump > 0.0 && carried.is_finite() {
            tolerance += 16.0 * f64::EPSILON * carried;
        } else if residual > tolerance {
            tolerance += self.unresolved(model, to)?;
        }
        // A is kept as long as the iterates converge quickly with it
        self.refactor = residual > SLOW * self.last;
        self.last = residual;
        if self.refactor && residual > tolerance {
            tolerance += self.cancelled(model)?;
            self.increment.fill(0.0);
            laws.add_sizes(self.acts_in_middle, &mut self.increment);
            model.round_together(&self.at.q, &mut self.increment);
            tolerance += 16.0 * f64::EPSILON * self.largest(&self.increment);
        }
        self.allowed = tolerance;
        Ok(Residual { residual, tolerance, speed })
    }

    /// The rounding of M v [√J]: what a balance may miss where the impulse is too small to change a single bit of v.
    #[cold]
    fn unresolved(&mut self, model: &mut dyn Mechanical, to: &State) -> Result<f64, StepError> {
        model.mass_mul(&self.at.q, &to.v, &mut self.increment)?;
        Ok(16.0 * f64::EPSILON * self.largest(&self.increment))
    }

    /// The change of the impulse over some units in the last place of the positions [√J]: near an equilibrium large
    /// forces cancel, and a balance cannot be met better than that.
    #[cold]
    fn cancelled(&mut self, model: &mut dyn Mechanical) -> Result<f64, StepError> {
        let mut most = 0.0f64;
        // two patterns of signs: springs between coordinates do not see that all move together
        for alternates in [false, true] {
            self.near.clone_from(&self.at.q);
            for (i, q) in self.near.iter_mut().enumerate() {
                let sign = if alternates && i % 2 == 1 { -1.0 } else { 1.0 };
                *q += sign * 8.0 * f64::EPSILON * *q;
            }
            self.increment.copy_from_slice(&self.impulse);
            std::mem::swap(&mut self.near, &mut self.at.q);
            let force = self.force(model);
            std::mem::swap(&mut self.near, &mut self.at.q);
            force?;
            let differences = self.increment.iter().zip(&self.impulse).zip(&self.roots);
            most = differences.fold(most, |m, ((a, b), [_, inverse])| m.max((a - b).abs() * inverse));
            self.impulse.copy_from_slice(&self.increment);
        }
        Ok(most)
    }

    /// The largest of some impulses [√J].
    #[inline]
    fn largest(&self, p: &[f64]) -> f64 {
        p.iter().zip(&self.roots).fold(0.0f64, |m, (p, [_, inverse])| m.max(p.abs() * inverse))
    }

    /// The largest of some velocities [√J].
    #[inline]
    pub fn speed(&self, v: &[f64]) -> f64 {
        v.iter().zip(&self.roots).fold(0.0f64, |m, (v, [root, _])| m.max(v.abs() * root))
    }

    /// What a velocity along a row is of those that are measured in √J [kg^(-1/2)].
    pub fn size_of_row(&self, row: &[(usize, f64)]) -> f64 {
        row.iter().fold(0.0f64, |m, &(j, c)| m.max(c.abs() * self.roots[j][1]))
    }
}

/// `out ←` w F and what is known besides.
#[inline(always)]
fn weighted_force(
    model: &mut dyn Mechanical,
    at: &State,
    (weight, known): (f64, &[f64]),
    out: &mut [f64],
) -> Result<(), StepError> {
    model.force(at.t, &at.q, &at.v, out)?;
    if known.is_empty() {
        out.iter_mut().for_each(|p| *p *= weight);
    } else {
        out.iter_mut().zip(known).for_each(|(p, known)| *p = weight * *p + known);
    }
    Ok(())
}
