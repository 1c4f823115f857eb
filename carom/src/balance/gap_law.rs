//! Laws that are written on gaps instead of velocities, as one-step problems inside Newton's loop.
//!
//! Gaps are taken at points q(v⁺) of the step with dq = r dv⁺, r = h β the `reach` of the point. One iteration
//! linearises at the last v^n:
//!
//! ```text
//!     u_N = C(q^n)(v − v^n) + g(q^n)/r      normal rows: 0 ≤ u_N ⊥ P_N ≥ 0, or u_N = 0                                  (1)
//!     u_T = C(q^n) v + ∂y/∂t                tangents and relays, at the velocity level                             (2)
//!     v   = v_free + A⁻¹ C(q^n)ᵀ P                                                                                 (3)
//! ```
//!
//! so that g ≈ r u_N, with W = C A⁻¹ Cᵀ as everywhere; bilateral reactions may act along the rows at the start, the
//! `base`. The iteration is done when the gap of every law that pushes equals r u_N *on both sides*: a test of g ≥ 0
//! alone accepts the overshoot of the linearisation. Contacts enter the problem when a gap is found closed and stay in
//! it until the step is done.

use super::lengths::Lengths;
use super::newton::{Laws, Newton};
use super::problem::Problem;
use super::words::{Acting, Level, Place, impulse};
use crate::{ContactList, Coupling, Mechanical, ModelError, Pair, Reactions, State, Step, StepError, System};
use carom_solve::{Law, Rows, Unsupported};

/// What a scheme reads of a law besides its gap, and where it takes the gap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum GapLaw {
    /// Restitution: the gap is taken at q + h (v⁺ − e v)/(1 + e); no friction.
    #[default]
    Restitution,
    /// Friction: the gap is taken at the end of a step with this weight θ of v⁺; no restitution.
    Friction(f64),
}

impl GapLaw {
    /// Why a law cannot be treated, if it cannot.
    fn objection(self, law: Law, restitution: f64) -> Option<&'static str> {
        match self {
            GapLaw::Restitution if law.is_relay() => Some("has no relays: its reactions come from gaps alone"),
            GapLaw::Restitution if law.has_friction() => {
                Some("has no friction: use friction coefficients of 0, or a scheme at the velocity level")
            }
            GapLaw::Restitution if !(0.0..=1.0).contains(&restitution) => {
                Some("needs coefficients of restitution in [0, 1]")
            }
            GapLaw::Friction(_) if law.is_contact() && restitution != 0.0 => {
                Some("has no restitution: use coefficients of 0, or a scheme with an impact law")
            }
            _ => None,
        }
    }

    /// The coefficient that decides where the gap is taken.
    #[inline]
    fn restitution(self, pair: &Pair) -> f64 {
        if self == GapLaw::Restitution && pair.law.is_contact() { pair.restitution } else { 0.0 }
    }

    /// Where the gaps of contacts with the restitution `e` are taken.
    fn place(self, e: f64) -> Place {
        let f = 1.0 / (1.0 + e);
        match self {
            GapLaw::Restitution => Place { tau: (1.0 - e) * f, alpha: -e * f, beta: f, gamma: 0.0, delta: 1.0 },
            GapLaw::Friction(theta) => Place::end(theta),
        }
    }

    /// How this place changes with `e`.
    fn slope(self, law: Law, e: f64) -> Option<Place> {
        let f = -1.0 / ((1.0 + e) * (1.0 + e));
        let slope = Place { tau: 2.0 * f, alpha: f, beta: f, gamma: 0.0, delta: 0.0 };
        (self == GapLaw::Restitution && law.is_contact()).then_some(slope)
    }

    /// The law of the problem: without friction the normal row is all.
    #[inline]
    fn law(self, law: Law) -> Law {
        if self == GapLaw::Restitution { law.normal() } else { law }
    }
}

/// A configuration at which the gaps of all laws with one restitution are taken.
#[derive(Default)]
struct GapPoint {
    restitution: f64,
    place: Place,
    reach: f64,  // dq/dv⁺ [s]
    q: Vec<f64>, // configuration
    coupling: Coupling,
    active: Vec<bool>, // (laws) whether the law is in the problem
}

carom_solve::persist!(GapPoint { restitution, place, reach, q, coupling, active });

/// A law in the problem.
#[derive(Clone, Copy)]
struct Active {
    index: usize, // of the law in the list of the step
    law: Law,
    point: usize,
    lambda: [f64; Law::MOST_ROWS],
}

carom_solve::persist!(Active { index, law, point, lambda });

impl Active {
    /// The rows along which the reactions act, and the first of them.
    #[inline]
    fn directions<'a>(&self, base: Option<&'a Coupling>, points: &'a [GapPoint]) -> (&'a Rows, usize) {
        let at_base = base.filter(|_| self.law.is_equality());
        let coupling = at_base.unwrap_or(&points[self.point].coupling);
        (&coupling.rows, coupling.offset[self.index])
    }
}

/// Points, the laws that act and the problem they make; buffers keep their capacity.
#[derive(Default)]
pub(crate) struct GapLaws {
    name: &'static str, // of the scheme, for errors
    kind: GapLaw,
    gap_tolerance: Option<f64>, // [m], where an option says it
    lengths: Lengths,
    constant_rows: bool,
    bilateral: bool,       // whether there are bilateral constraints
    pub list: ContactList, // the laws of the step
    points: Vec<GapPoint>,
    active: Vec<Active>,
    guess: Vec<[f64; Law::MOST_ROWS]>, // (laws) impulses of the step before
    problem: Problem,
    base: Option<Coupling>, // where bilateral reactions take their direction, if not at the point
    end: Coupling,          // coupling at the end of the step
    increment: Vec<f64>,    // (n) argument of `retract`
    kept: Vec<usize>,       // laws of the problem whose W is kept
    factorisation: u64,     // for which it is
    changed: bool,          // whether laws came since the last solve
}

carom_solve::persist!(GapLaws {
    lengths, list, points, active, guess, problem, base, end, increment, kept, factorisation, changed,
} skip { name, kind, gap_tolerance, constant_rows, bilateral });

impl GapLaws {
    /// For the scheme `name`, with gaps that must be met to `gap_tolerance` [m], or to a part of the length of the
    /// model. Laws that the scheme cannot treat are refused with a reason and the contact.
    pub fn new<E: From<ModelError>>(
        name: &'static str,
        (kind, gap_tolerance): (GapLaw, Option<f64>),
        model: &mut dyn Mechanical,
        refuse: impl FnOnce(&'static str, String) -> E,
    ) -> Result<GapLaws, E> {
        let (mut coupling, initial) = (Coupling::default(), model.initial());
        model.couple(initial.t, &initial.q, &mut coupling)?;
        // labels also name contacts that are not near yet
        let contacts = model.labels().contacts;
        let named = contacts.iter().find_map(|(contact, law)| Some((kind.objection(*law, 0.0)?, contact.clone())));
        let listed = || {
            let mut pairs = coupling.pairs.iter();
            let (reason, key) = pairs.find_map(|pair| Some((kind.objection(pair.law, pair.restitution)?, pair.key)))?;
            Some((reason, model.contact_name(key)))
        };
        if let Some((reason, contact)) = named.or_else(listed) {
            return Err(refuse(reason, contact));
        }
        let mut laws = contacts.iter().map(|c| c.1).chain(coupling.pairs.iter().map(|pair| pair.law));
        let bilateral = laws.any(|law| law.is_equality());
        let (constant_rows, increment) = (model.constancy().rows, vec![0.0; model.dim()]);
        let lengths = Lengths::of(model);
        let mut laws =
            GapLaws { name, kind, gap_tolerance, lengths, constant_rows, bilateral, increment, ..GapLaws::default() };
        laws.add_points(&coupling.pairs, &initial.q);
        if laws.points.is_empty() {
            laws.add_point(0.0, &initial.q);
        }
        Ok(laws)
    }

    /// Starts a step with the list of its laws, at the start of it. Returns whether they have the numbers of the step
    /// before.
    pub fn start(
        &mut self,
        model: &mut dyn Mechanical,
        (t, q): (f64, &[f64]),
        out: &mut Coupling,
    ) -> Result<bool, StepError> {
        let is_same = out.list(model, (t, q), self.constant_rows, &mut self.list)?;
        if !is_same {
            self.kept.clear();
            let list = &self.list;
            self.active.retain_mut(|law| list.after(law.index).map(|i| law.index = i).is_some());
        }
        Ok(is_same)
    }

    /// Starts a balance: no law acts yet.
    pub fn begin(&mut self) {
        self.guess.clear();
        self.guess.resize(self.list.len(), [0.0; Law::MOST_ROWS]);
        self.active.drain(..).for_each(|law| self.guess[law.index] = law.lambda);
    }

    /// Drops what earlier steps have left.
    pub fn forget(&mut self) {
        self.active.clear();
        self.lengths.forget();
    }

    /// Bilateral reactions shall act along the rows at `(t, q)`.
    pub fn place_base(&mut self, model: &mut dyn Mechanical, t: f64, q: &[f64]) -> Result<(), StepError> {
        if self.bilateral && !self.constant_rows {
            self.base.get_or_insert_default().fill(model, (t, q), false, &self.list)?;
        }
        Ok(())
    }

    /// Places the points for the iterate in `to` and takes gaps and rows there.
    fn couple(&mut self, h: f64, model: &mut dyn Mechanical, (from, to): (&State, &State)) -> Result<(), StepError> {
        loop {
            let known = self.points.len();
            for point in &mut self.points {
                point.reach = h * point.place.beta;
                point.place.way(h, &from.v, |j| to.v[j], &mut self.increment);
                model.retract(&from.q, &self.increment, &mut point.q);
                let t = from.t + point.place.tau * h;
                point.coupling.fill(model, (t, &point.q), self.constant_rows, &self.list)?;
                self.lengths.meet(model, &point.q, &to.v, h);
                for pair in &point.coupling.pairs {
                    if let Some(hint) = self.kind.objection(pair.law, pair.restitution) {
                        let error = Unsupported { solver: self.name, law: pair.law.name(), hint };
                        return Err(StepError::Solve { error: Box::new(error.into()), contact: Some(pair.key) });
                    }
                }
            }
            self.complete();
            if self.points.len() == known {
                return Ok(());
            }
        }
    }

    /// Adds points for restitutions that came up and have none yet.
    fn complete(&mut self) {
        let has_point = |pair: &Pair| {
            let e = self.kind.restitution(pair);
            self.points.iter().any(|point| point.restitution == e)
        };
        if self.points.iter().all(|point| point.coupling.pairs.iter().all(has_point)) {
            return;
        }
        let pairs: Vec<Pair> = self.points.iter().flat_map(|p| p.coupling.pairs.iter().copied()).collect();
        let q = self.points[0].q.clone();
        self.add_points(&pairs, &q);
    }

    fn add_points(&mut self, pairs: &[Pair], q: &[f64]) {
        for pair in pairs {
            let restitution = self.kind.restitution(pair);
            if !self.points.iter().any(|point| point.restitution == restitution) {
                self.add_point(restitution, q);
            }
        }
    }

    fn add_point(&mut self, restitution: f64, q: &[f64]) {
        let place = self.kind.place(restitution);
        self.points.push(GapPoint { restitution, place, q: q.to_vec(), ..GapPoint::default() });
    }

    /// Adds the laws that are closed now: bilateral ones and relays always, contacts with a gap at or below zero in the
    /// first pass and with one missed by the tolerance later. Returns whether the problem changed.
    fn activate(&mut self, first: bool) -> bool {
        for point in &mut self.points {
            point.active.clear();
            point.active.resize(point.coupling.len(), false);
        }
        let before = self.active.len();
        self.active.iter().for_each(|law| self.points[law.point].active[law.index] = true);
        for (p, point) in self.points.iter().enumerate() {
            for (index, pair) in point.coupling.pairs.iter().enumerate() {
                if point.active[index] || self.kind.restitution(pair) != point.restitution {
                    continue;
                }
                let gap = || point.coupling.gap(index);
                let closed = !pair.law.is_contact()
                    || if first { gap() <= 0.0 } else { gap() < -self.allowed(&point.coupling, index) };
                if closed {
                    let law = self.kind.law(pair.law);
                    self.active.push(Active { index, law, point: p, lambda: self.guess[index] });
                }
            }
        }
        self.changed = self.active.len() > before;
        self.changed
    }

    /// What a gap may miss: the tolerance and the rounding of the gap itself [m].
    fn allowed(&self, coupling: &Coupling, i: usize) -> f64 {
        self.lengths.gap_tolerance(self.gap_tolerance, coupling, i) + self.lengths.rounding(coupling, i)
    }

    /// Each law in the problem, by its place in the list, with its impulse [N s].
    pub fn impulses(&self) -> impl Iterator<Item = (usize, &[f64])> {
        self.active.iter().map(|law| (law.index, &law.lambda[..law.law.size()]))
    }

    /// A law of the list with an impulse, as the derivative of a balance wants it.
    pub fn acting(&self, index: usize, p: &[f64]) -> Acting {
        let pair = &self.points[0].coupling.pairs[index];
        let (law, e) = (self.kind.law(pair.law), self.kind.restitution(pair));
        let level = if law.is_relay() { Level::Velocity(None) } else { Level::Gap };
        let output = self.kind.place(e);
        let input = if law.is_equality() && self.base.is_some() { Place::START } else { output };
        Acting { index, law, impulse: impulse(p), level, input, output, slope: self.kind.slope(pair.law, e) }
    }

    /// Velocities at the end of the step of the laws that acted.
    pub fn report(
        &mut self,
        model: &mut dyn Mechanical,
        to: &State,
        reactions: &mut Reactions,
    ) -> Result<(), StepError> {
        if reactions.impulse.iter().any(|p| *p != 0.0) {
            self.end.fill(model, (to.t, &to.q), self.constant_rows, &self.list)?;
            reactions.finish(&self.end, &to.v);
        }
        Ok(())
    }
}

impl Laws for GapLaws {
    fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// Lays out (1) and (2) at the last v^n and solves for P. W is kept where the model is linear and the laws are the
    /// same.
    fn react(
        &mut self,
        newton: &mut Newton,
        system: &mut System<'_, dyn Mechanical>,
        (_, to): (&State, &mut State),
        _: bool,
        step: &mut Step,
    ) -> Result<(), StepError> {
        let again = newton.constancy.linear()
            && self.factorisation == newton.factorisations
            && self.kept.iter().eq(self.active.iter().map(|law| &law.index));
        let GapLaws { problem, points, active, base, list, .. } = self;
        if !again {
            problem.clear(newton.v_free.len());
        }
        problem.b.clear();
        problem.z.lambda.clear();
        for law in &*active {
            let GapPoint { coupling, reach, .. } = &points[law.point];
            let first = coupling.offset[law.index];
            let size = law.law.size();
            problem.z.lambda.extend_from_slice(&law.lambda[..size]);
            for row in first..first + size {
                let free = coupling.rows.dot(row, &newton.v_free);
                let on_gap = row == first && !law.law.is_relay();
                problem.b.push(if on_gap {
                    free - coupling.rows.dot(row, &to.v) + coupling.pairs[law.index].gap / reach
                } else {
                    free + coupling.drift[row]
                });
            }
            if !again {
                problem.laws.push(law.law);
                let (directions, other) = law.directions(base.as_ref(), points);
                for k in 0..size {
                    problem.output.push_row_of(&coupling.rows, first + k);
                    problem.input.push_row_of(directions, other + k);
                }
            }
        }
        let key = |law: usize| Some(list[active.get(law)?.index]);
        problem.solve((&*system.model, &mut *system.solver), again, step, key)?;
        self.kept.clear();
        self.kept.extend(self.active.iter().map(|law| law.index));
        self.factorisation = newton.factorisations;
        let mut rows = self.problem.z.lambda.iter();
        for law in &mut self.active {
            law.lambda[..law.law.size()].iter_mut().zip(&mut rows).for_each(|(p, row)| *p = *row);
        }
        Ok(())
    }

    fn response(&self) -> &[f64] {
        &self.problem.z.response
    }

    fn follow(
        &mut self,
        newton: &Newton,
        model: &mut dyn Mechanical,
        ends: (&State, &State),
        first: bool,
    ) -> Result<bool, StepError> {
        self.couple(newton.h, model, ends)?;
        Ok(self.activate(first))
    }

    fn add_reactions(&self, _: &Newton, out: &mut [f64]) {
        for law in &self.active {
            let (rows, first) = law.directions(self.base.as_ref(), &self.points);
            for (k, row) in (first..first + law.law.size()).enumerate() {
                rows.add_row(row, law.lambda[k], out);
            }
        }
    }

    /// By how much the last solution misses the laws at the points, as a multiple of what is allowed: gaps against r
    /// u_N, tangential velocities of `v` against `allowed` [√J]. Infinite where the problem has changed since.
    fn missed(&mut self, newton: &Newton, v: &[f64], allowed: f64) -> f64 {
        if self.changed {
            return f64::INFINITY;
        }
        let (mut k, mut worst) = (0, 0.0f64);
        for law in &self.active {
            let point = &self.points[law.point];
            let first = point.coupling.offset[law.index];
            for row in first..first + law.law.size() {
                let on_gap = row == first && !law.law.is_relay();
                let (missed, allowed) = if on_gap {
                    let gap = point.coupling.pairs[law.index].gap;
                    let idle = law.lambda[0] == 0.0 && !law.law.is_equality();
                    let missed = if idle { -gap } else { (gap - point.reach * self.problem.z.u[k]).abs() };
                    (missed, self.allowed(&point.coupling, law.index))
                } else {
                    let turned = (point.coupling.rows.dot(row, v) - self.problem.output.dot(k, v)).abs();
                    (turned, allowed * newton.size_of_row(point.coupling.rows.row(row)))
                };
                // where lengths and v are zero there is nothing to miss
                let miss = if missed == 0.0 { 0.0 } else { missed / allowed };
                worst = if miss.is_nan() { f64::INFINITY } else { worst.max(miss) };
                k += 1;
            }
        }
        worst
    }

    fn tolerance(&self, _: f64) -> f64 {
        let allowed = |law: &Active| self.allowed(&self.points[law.point].coupling, law.index);
        self.active.iter().filter(|law| !law.law.is_relay()).map(allowed).fold(0.0, f64::max)
    }

    fn certified(&self) -> f64 {
        if self.active.is_empty() { 0.0 } else { self.problem.residual }
    }
}

impl Reactions {
    /// Adds `share` of an impulse to a law of this step.
    pub fn add_impulse(&mut self, (law, impulse): (usize, &[f64]), share: f64) {
        let rows = self.range(law);
        for (p, lambda) in self.impulse[rows].iter_mut().zip(impulse) {
            *p += share * lambda;
        }
    }

    /// Velocities after the step of the laws that acted, from the coupling at the end, which has the same list.
    pub fn finish(&mut self, end: &Coupling, v: &[f64]) {
        for i in 0..self.len() {
            let rows = self.range(i);
            if self.impulse[rows.clone()].iter().all(|p| *p == 0.0) {
                continue;
            }
            for (row, other) in rows.zip(end.range(i)) {
                self.after[row] = end.rows.dot(other, v) + end.drift[other];
                self.obstacle[row] = 0.5 * (self.coupling.drift[row] + end.drift[other]);
            }
        }
    }
}
