//! Laws that are written on gaps instead of velocities, as one-step problems inside a Newton loop.
//!
//! A scheme whose unknown is a velocity v places its gaps at points q(v) with dq = r dv, r the `reach` of the point. One iteration
//! linearises at the last v^n:
//!
//! ```text
//!     u_N = C(q^n)(v − v^n) + g(q^n)/r      normal rows of contacts, bilateral constraints: 0 ≤ u_N ⊥ P_N ≥ 0, or u_N = 0   (1)
//!     u_T = C(q^n) v + ∂y/∂t                tangents and relays, at the velocity level                                     (2)
//!     v   = v_free + A⁻¹ C(q^n)ᵀ P                                                                                         (3)
//! ```
//!
//! so that g ≈ r u_N, with W = C A⁻¹ Cᵀ as everywhere; a scheme may ask that bilateral reactions act along the rows at another
//! configuration, the `base`. The iteration is done when the gap of every law that pushes equals r u_N
//! *on both sides*: a test of g ≥ 0 alone accepts the overshoot of the linearisation. Contacts enter the problem when a
//! gap is found closed and stay in it until the step is done.

use super::{Reactions, SchemeError, StepError};
use crate::{ContactList, Coupling, Mechanical, Pair, State};
use carom_solve::{
    Certificate, Law, OneStepProblem, Parts, ProblemWork, Reaction, Rows, SolveError, Solver, Unsupported,
};

/// What a scheme reads of a law besides its gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reading {
    /// Restitution, which decides the point where a gap is taken; no friction.
    #[default]
    Restitution,
    /// Friction; no restitution.
    Friction,
}

impl Reading {
    /// Why a law cannot be treated, if it cannot.
    pub(super) fn objection(self, law: Law, restitution: f64) -> Option<&'static str> {
        match self {
            Reading::Restitution if law.is_relay() => Some("has no relays: its reactions come from gaps alone"),
            Reading::Restitution if law.has_friction() => {
                Some("has no friction: use friction coefficients of 0, or a scheme at the velocity level")
            }
            Reading::Restitution if !(0.0..=1.0).contains(&restitution) => {
                Some("needs coefficients of restitution in [0, 1]")
            }
            Reading::Friction if law.is_contact() && restitution != 0.0 => {
                Some("has no restitution: use coefficients of 0, or a scheme with an impact law")
            }
            _ => None,
        }
    }

    /// The coefficient that decides where the gap is taken.
    #[inline]
    fn restitution(self, pair: &Pair) -> f64 {
        if self == Reading::Restitution && pair.law.is_contact() { pair.restitution } else { 0.0 }
    }

    /// The law of the problem: without friction the normal row is all.
    #[inline]
    fn law(self, law: Law) -> Law {
        if self == Reading::Restitution { law.normal() } else { law }
    }
}

/// A configuration at which the gaps of all laws with one restitution are taken. The scheme places it.
#[derive(Default)]
pub(super) struct Point {
    pub(super) restitution: f64,
    pub(super) reach: f64,  // dq/dv [s]
    pub(super) t: f64,      // [s]
    pub(super) q: Vec<f64>, // configuration
    coupling: Coupling,
    active: Vec<bool>, // (laws) whether the law is in the problem
}

/// A law in the problem.
#[derive(Clone, Copy)]
struct Active {
    index: usize, // of the law in the list of the step
    law: Law,
    point: usize,
    lambda: [f64; Law::MOST_ROWS],
}

impl Active {
    /// The rows along which the reactions act, and the first of them.
    #[inline]
    fn directions<'a>(&self, base: Option<&'a Coupling>, points: &'a [Point]) -> (&'a Rows, usize) {
        let at_base = base.filter(|_| self.law.is_equality());
        let coupling = at_base.unwrap_or(&points[self.point].coupling);
        (&coupling.rows, coupling.offset[self.index])
    }
}

/// Points, the laws that act and the problem they make; buffers keep their capacity.
#[derive(Default)]
pub(super) struct GapProblem {
    name: &'static str, // of the scheme, for errors
    reading: Reading,
    gap_tolerance: f64, // [m]
    constant_rows: bool,
    bilateral: bool,              // whether there are bilateral constraints
    pub(super) list: ContactList, // the laws of the step
    pub(super) points: Vec<Point>,
    active: Vec<Active>,
    guess: Vec<[f64; Law::MOST_ROWS]>, // (laws) impulses of the step before
    laws: Vec<Law>,
    rows: Rows,             // C of the problem
    input: Rows,            // Bᵀ of the problem
    base: Option<Coupling>, // where bilateral reactions take their direction, if not at the point
    b: Vec<f64>,
    z: Reaction,
    work: ProblemWork,
    kept: Vec<usize>, // laws of the problem whose W is kept
    changed: bool,    // whether laws came since the last solve
}

impl GapProblem {
    /// For the scheme `name`, with gaps that must be met to `gap_tolerance` [m]. Refuses laws that the scheme cannot treat.
    pub(super) fn new(
        name: &'static str,
        reading: Reading,
        gap_tolerance: f64,
        model: &mut dyn Mechanical,
    ) -> Result<GapProblem, SchemeError> {
        let (mut coupling, initial) = (Coupling::default(), model.initial());
        model.couple(initial.t, &initial.q, &mut coupling)?;
        // labels also name contacts that are not near yet
        let contacts = model.labels().contacts;
        let named = contacts.iter().find_map(|(contact, law)| Some((reading.objection(*law, 0.0)?, contact.clone())));
        let listed = || {
            let mut pairs = coupling.pairs.iter();
            let (reason, key) =
                pairs.find_map(|pair| Some((reading.objection(pair.law, pair.restitution)?, pair.key)))?;
            Some((reason, model.contact_name(key)))
        };
        if let Some((reason, contact)) = named.or_else(listed) {
            return Err(SchemeError::Incapable { scheme: name, reason, contact: Some(contact) });
        }
        let mut laws = contacts.iter().map(|c| c.1).chain(coupling.pairs.iter().map(|pair| pair.law));
        let bilateral = laws.any(|law| law.is_equality());
        let constant_rows = model.constancy().rows;
        let mut problem =
            GapProblem { name, reading, gap_tolerance, constant_rows, bilateral, ..GapProblem::default() };
        problem.add_points(&coupling.pairs, &initial.q);
        if problem.points.is_empty() {
            problem.points.push(Point { q: initial.q, ..Point::default() });
        }
        Ok(problem)
    }

    /// Starts a step with the list of its laws, at the start of it. Returns whether they have the numbers of the step before.
    pub(super) fn start(
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
    pub(super) fn begin(&mut self) {
        self.guess.clear();
        self.guess.resize(self.list.len(), [0.0; Law::MOST_ROWS]);
        self.active.drain(..).for_each(|law| self.guess[law.index] = law.lambda);
    }

    /// Drops the guess of earlier steps.
    pub(super) fn forget(&mut self) {
        self.active.clear();
    }

    /// Bilateral reactions shall act along the rows at `(t, q)`.
    pub(super) fn place_base(&mut self, model: &mut dyn Mechanical, t: f64, q: &[f64]) -> Result<(), StepError> {
        if self.bilateral && !self.constant_rows {
            self.base.get_or_insert_default().fill(model, (t, q), false, &self.list)?;
        }
        Ok(())
    }

    /// The matrix A is about to change: W cannot be kept.
    pub(super) fn refactored(&mut self) {
        self.kept.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// Gaps and rows at the points. Returns whether a restitution came up that has no point yet: place again.
    pub(super) fn couple(&mut self, model: &mut dyn Mechanical) -> Result<bool, StepError> {
        let known = self.points.len();
        for i in 0..known {
            let point = &mut self.points[i];
            point.coupling.fill(model, (point.t, &point.q), self.constant_rows, &self.list)?;
            for pair in &point.coupling.pairs {
                if let Some(hint) = self.reading.objection(pair.law, pair.restitution) {
                    let error = Unsupported { solver: self.name, law: pair.law.name(), hint };
                    return Err(StepError::Solve { error: Box::new(error.into()), contact: Some(pair.key) });
                }
            }
        }
        let complete = |p: &Point| {
            p.coupling.pairs.iter().all(|pair| {
                let e = self.reading.restitution(pair);
                self.points.iter().any(|point| point.restitution == e)
            })
        };
        if !self.points.iter().all(complete) {
            let pairs: Vec<Pair> = self.points.iter().flat_map(|p| p.coupling.pairs.iter().copied()).collect();
            let q = self.points[0].q.clone();
            self.add_points(&pairs, &q);
        }
        Ok(self.points.len() > known)
    }

    fn add_points(&mut self, pairs: &[Pair], q: &[f64]) {
        for pair in pairs {
            let restitution = self.reading.restitution(pair);
            if !self.points.iter().any(|point| point.restitution == restitution) {
                self.points.push(Point { restitution, q: q.to_vec(), ..Point::default() });
            }
        }
    }

    /// Adds the laws that are closed now: bilateral ones and relays always, contacts with a gap at or below zero in the
    /// first pass and with one missed by the tolerance later. Returns whether the problem changed.
    pub(super) fn activate(&mut self, first: bool) -> bool {
        for point in &mut self.points {
            point.active.clear();
            point.active.resize(point.coupling.len(), false);
        }
        let before = self.active.len();
        self.active.iter().for_each(|law| self.points[law.point].active[law.index] = true);
        for (p, point) in self.points.iter().enumerate() {
            for (index, pair) in point.coupling.pairs.iter().enumerate() {
                if point.active[index] || self.reading.restitution(pair) != point.restitution {
                    continue;
                }
                let gap = || point.coupling.gap(index);
                let closed = !pair.law.is_contact()
                    || if first { gap() <= 0.0 } else { gap() < -point.tolerance(index, self.gap_tolerance) };
                if closed {
                    let law = self.reading.law(pair.law);
                    self.active.push(Active { index, law, point: p, lambda: self.guess[index] });
                }
            }
        }
        self.changed = self.active.len() > before;
        self.changed
    }

    /// Lays out (1) and (2) at the last v^n and solves for P. W is kept where the model is linear and the laws are the same.
    pub(super) fn solve(
        &mut self,
        model: &dyn Mechanical,
        solver: &mut dyn Solver,
        (v, v_free): (&[f64], &[f64]),
    ) -> Result<Certificate, StepError> {
        let again = model.constancy().linear() && self.kept.iter().eq(self.active.iter().map(|law| &law.index));
        if !again {
            self.laws.clear();
            self.rows.clear(model.dim());
            self.input.clear(model.dim());
        }
        self.b.clear();
        self.z.lambda.clear();
        for law in &self.active {
            let Point { coupling, reach, .. } = &self.points[law.point];
            let first = coupling.offset[law.index];
            let size = law.law.size();
            self.z.lambda.extend_from_slice(&law.lambda[..size]);
            for row in first..first + size {
                let free = coupling.rows.dot(row, v_free);
                let on_gap = row == first && !law.law.is_relay();
                self.b.push(if on_gap {
                    free - coupling.rows.dot(row, v) + coupling.pairs[law.index].gap / reach
                } else {
                    free + coupling.drift[row]
                });
                if !again {
                    self.rows.push_row_of(&coupling.rows, row);
                }
            }
            if !again {
                self.laws.push(law.law);
                let (directions, first) = law.directions(self.base.as_ref(), &self.points);
                (first..first + size).for_each(|row| self.input.push_row_of(directions, row));
            }
        }
        let solved = self.call(model, solver, again);
        self.kept.clear();
        self.kept.extend(self.active.iter().map(|law| law.index));
        let certificate = solved.map_err(|error| {
            let law = error.certificate().and_then(|c| self.active.get(c.law));
            StepError::Solve { contact: law.map(|law| self.list[law.index]), error: Box::new(error) }
        })?;
        let mut first = 0;
        for law in &mut self.active {
            let size = law.law.size();
            law.lambda[..size].copy_from_slice(&self.z.lambda[first..first + size]);
            first += size;
        }
        Ok(certificate)
    }

    fn call(
        &mut self,
        model: &dyn Mechanical,
        solver: &mut dyn Solver,
        again: bool,
    ) -> Result<Certificate, SolveError> {
        let (output, input, b, laws) = (&self.rows, &self.input, &self.b, &self.laws);
        let parts = Parts { lhs: model, output, input, feedthrough: None, b, laws };
        let problem = if again {
            OneStepProblem::again(parts, &mut self.work)
        } else {
            OneStepProblem::new(parts, &mut self.work)
        };
        solver.solve(&problem, &mut self.z)
    }

    /// `A⁻¹ Cᵀ P` of the last solve.
    pub(super) fn response(&self) -> &[f64] {
        &self.z.response
    }

    /// `out ← out + B P` with the rows at the points (or the base).
    pub(super) fn add_reactions(&self, out: &mut [f64]) {
        for law in &self.active {
            let (rows, first) = law.directions(self.base.as_ref(), &self.points);
            for (k, row) in (first..first + law.law.size()).enumerate() {
                rows.add_row(row, law.lambda[k], out);
            }
        }
    }

    /// By how much the last solution misses the laws at the points, as a multiple of what is allowed: gaps against r u_N, tangential
    /// velocities of `v` against `allowed` [m/s]. Infinite where the problem has changed since.
    pub(super) fn missed(&self, v: &[f64], allowed: f64) -> f64 {
        if self.changed {
            return f64::INFINITY;
        }
        let (mut k, mut worst) = (0, 0.0f64);
        for law in &self.active {
            let point = &self.points[law.point];
            let first = point.coupling.offset[law.index];
            for row in first..first + law.law.size() {
                let on_gap = row == first && !law.law.is_relay();
                let miss = if on_gap {
                    let tolerance = point.tolerance(law.index, self.gap_tolerance);
                    let gap = point.coupling.pairs[law.index].gap;
                    let idle = law.lambda[0] == 0.0 && !law.law.is_equality();
                    if idle { -gap / tolerance } else { (gap - point.reach * self.z.u[k]).abs() / tolerance }
                } else {
                    // where v is zero there is nothing to miss
                    let turned = (point.coupling.rows.dot(row, v) - self.rows.dot(k, v)).abs();
                    if turned == 0.0 { 0.0 } else { turned / allowed }
                };
                worst = if miss.is_nan() { f64::INFINITY } else { worst.max(miss) };
                k += 1;
            }
        }
        worst
    }

    /// Law and restitution of a law of the list, as they are read.
    pub(super) fn pair(&self, index: usize) -> (Law, f64) {
        let pair = &self.points[0].coupling.pairs[index];
        (self.reading.law(pair.law), self.reading.restitution(pair))
    }

    /// Each law in the problem, by its place in the list, with its impulse [N s].
    pub(super) fn impulses(&self) -> impl Iterator<Item = (usize, &[f64])> {
        self.active.iter().map(|law| (law.index, &law.lambda[..law.law.size()]))
    }
}

impl Point {
    /// What a gap may miss: the tolerance and the rounding of the gap itself [m].
    fn tolerance(&self, index: usize, tolerance: f64) -> f64 {
        let largest = self.q.iter().fold(0.0f64, |m, q| m.max(q.abs()));
        let row: f64 = self.coupling.rows.row(self.coupling.offset[index]).iter().map(|(_, c)| c.abs()).sum();
        tolerance + 16.0 * f64::EPSILON * largest * row
    }
}

/// The sizes by which the residual of an impulse balance is judged.
pub(super) struct Balance<'a> {
    pub(super) h: f64,
    pub(super) force: &'a [f64],
    pub(super) jump: &'a [f64],  // v⁺ − v
    pub(super) after: &'a [f64], // v⁺
}

impl Balance<'_> {
    /// Whether not a single bit of v changes.
    pub(super) fn is_still(&self) -> bool {
        self.jump.iter().all(|d| *d == 0.0)
    }

    /// Turns `inertia = M (v⁺ − v)` into the residual `h F − M (v⁺ − v)` and returns what it may be: `relative` times the larger of
    /// h|F| and, under reactions, |M (v⁺ − v)|, and the rounding of M v.
    pub(super) fn residual(&self, inertia: &mut [f64], relative: f64, reactions: bool) -> f64 {
        let largest = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let (momentum, jump, speed) = (largest(inertia), largest(self.jump), largest(self.after));
        let scale = (self.h * largest(self.force)).max(if reactions { momentum } else { 0.0 });
        for (r, f) in inertia.iter_mut().zip(self.force) {
            *r = self.h * f - *r;
        }
        let rounding = 16.0 * f64::EPSILON * momentum * if jump > 0.0 { (speed / jump).max(1.0) } else { 1.0 };
        relative * scale + rounding
    }
}

/// The rounding of M v [N s]: what an impulse balance may miss where the impulse is too small to change a single bit of v.
#[cold]
pub(super) fn unresolved(
    model: &mut dyn Mechanical,
    (q, v): (&[f64], &[f64]),
    buffer: &mut [f64],
) -> Result<f64, StepError> {
    model.mass_mul(q, v, buffer)?;
    Ok(16.0 * f64::EPSILON * buffer.iter().fold(0.0f64, |m, p| m.max(p.abs())))
}

/// The change of the force over some units in the last place of the positions [N]: near an equilibrium large forces cancel, and an impulse
/// balance cannot be met better than that. To be asked for where a residual does not fall any more.
#[cold]
pub(super) fn cancelled(
    model: &mut dyn Mechanical,
    at: &State,
    force: &[f64],
    (q, buffer): (&mut Vec<f64>, &mut [f64]),
) -> Result<f64, StepError> {
    let mut largest = 0.0f64;
    // two patterns of signs: springs between coordinates do not see that all move together
    for alternates in [false, true] {
        q.clone_from(&at.q);
        for (i, q) in q.iter_mut().enumerate() {
            let sign = if alternates && i % 2 == 1 { -1.0 } else { 1.0 };
            *q += sign * 8.0 * f64::EPSILON * *q;
        }
        model.force(at.t, q, &at.v, buffer)?;
        largest = buffer.iter().zip(force).fold(largest, |m, (a, b)| m.max((a - b).abs()));
    }
    Ok(largest)
}

impl Reactions {
    /// Adds `share` of an impulse to a law of this step.
    pub(super) fn add_impulse(&mut self, (law, impulse): (usize, &[f64]), share: f64) {
        let rows = self.range(law);
        for (p, lambda) in self.impulse[rows].iter_mut().zip(impulse) {
            *p += share * lambda;
        }
    }

    /// Velocities after the step of the laws that acted, from the coupling at the end, which has the same list.
    pub(super) fn finish(&mut self, end: &Coupling, v: &[f64]) {
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
