//! The two problems at the ends of smooth phases: the impact, and which contacts stay closed after it.
//!
//! ```text
//!     impact:   U⁺ = C (v + w M⁻¹F) + ∂y/∂t + W P,   0 ≤ U_N⁺ + e min(U_N⁻, 0) ⊥ P_N ≥ 0,   P_T by Coulomb's law     (1)
//!     contact:  u̇ = C M⁻¹F + γ + W λ,                0 ≤ u̇_N ⊥ λ_N ≥ 0,                     λ_T by Coulomb's law     (2)
//! ```
//!
//! A restitution along tangents adds e_T U_T⁻ in (1). In it all contacts that touch take part at once; w is the width
//! of the critical interval. A contact that separates before the impact has no restitution, so that none approaches
//! after it. In (2) take part those whose normal velocity vanishes; a contact that slips is unilateral with the
//! reaction along C_Nᵀ − μ d C_Tᵀ, one that does not obeys Coulomb's law between λ and u̇.

use super::acceleration::{Acceleration, ROUNDING, size_of};
use super::mode::{Mode, Phase};
use super::projection::Projection;
use crate::impact::{Impacts, Tools, Touching, restitution};
use crate::{Coupling, Key, Mechanical, State, Step, StepError, System};
use carom_solve::{Certificate, Law, OneStepProblem, Parts, ProblemWork, Reaction, Rows, SolveError, Solver};

/// A reaction at less than this part of its limit is inside the cone.
const INSIDE: f64 = 1e-9;

/// Velocities and accelerations at less than this part of the largest one are zero up to the tolerance of solvers.
pub(super) const NEARLY: f64 = 1e-7;

/// A contact that takes part in (2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    pub law: usize,
    /// Direction of slip; `None` if the contact does not slip.
    pub slip: Option<[f64; 2]>,
    /// Whether it has just reached the end of its mode: a tie is then resolved in favour of a change.
    pub leaving: bool,
}

carom_solve::persist!(Candidate { law, slip, leaving });

/// Buffers of both problems.
#[derive(Default)]
pub struct ContactProblem {
    laws: Vec<Law>,
    members: Vec<usize>, // (laws) law of the coupling
    rows: Vec<usize>,    // (m) row of the coupling, normal row for a slipping contact
    output: Rows,
    input: Rows,
    b: Vec<f64>,
    work: ProblemWork,
    z: Reaction,
    targets: Vec<(usize, f64)>,
    velocity: Vec<f64>,             // (n)
    spare: Option<Box<SolveError>>, // for the next failure, so that one from which a step recovers does not allocate
    /// Impacts by other laws than Newton's.
    pub impacts: Impacts,
    /// Whether impacts have no restitution, whatever the contacts say.
    pub is_plastic: bool,
    /// (rows) impulse of the last impact [N s], and the velocity before and after it [m/s].
    pub impulse: Vec<f64>,
    pub before: Vec<f64>,
    pub after: Vec<f64>,
    /// (rows) its work [J], where it is not impulse times mean velocity; empty elsewhere.
    pub works: Vec<f64>,
}

carom_solve::persist!(ContactProblem {
    laws, members, rows, output, input, b, work, z, targets, velocity, impacts, is_plastic, impulse, before, after,
    works,
} skip { spare });

impl ContactProblem {
    fn clear(&mut self, n: usize) {
        self.laws.clear();
        self.members.clear();
        self.rows.clear();
        self.output.clear(n);
        self.input.clear(n);
        self.b.clear();
    }

    fn solve(
        &mut self,
        acceleration: &Acceleration,
        model: &dyn Mechanical,
        solver: &mut dyn Solver,
    ) -> Result<Certificate, StepError> {
        let parts = Parts {
            lhs: model,
            output: &self.output,
            input: &self.input,
            feedthrough: None,
            b: &self.b,
            laws: &self.laws,
        };
        self.z.reset(self.b.len());
        let name = |law: usize| Some(acceleration.coupling.pairs[*self.members.get(law)?].key.0);
        let mut problem = OneStepProblem::new(parts, &mut self.work);
        problem.name_by(&name);
        solver.solve(&problem, &mut self.z).map_err(|error| {
            let contact = error.certificate().and_then(|c| name(c.law)).map(Key);
            let error = match self.spare.take() {
                Some(mut spare) => {
                    *spare = error;
                    spare
                }
                None => Box::new(error),
            };
            StepError::Solve { error, contact }
        })
    }

    /// Takes back the buffer of a failure that is dealt with.
    pub fn recycle(&mut self, error: StepError) {
        if let StepError::Solve { error, .. } = error {
            self.spare = Some(error);
        }
    }

    /// (1) over the laws `active` of the coupling in `acceleration`, which belongs to the positions of `state`; changes
    /// velocities.
    pub fn impact(
        &mut self,
        tools: (&mut Acceleration, &mut Projection),
        system: &mut System<'_, dyn Mechanical>,
        active: &[usize],
        width: f64,
        state: &mut State,
    ) -> Result<Certificate, StepError> {
        let (acceleration, projection) = tools;
        acceleration.factor_mass(system.model, (state.t, &state.q, &state.v))?;
        self.works.clear();
        if self.impacts.is_asked() && !self.is_plastic {
            return self.resolve(&acceleration.coupling, system, active, state);
        }
        if let &[law] = active
            && width == 0.0
            && acceleration.coupling.pairs[law].law.is_unilateral()
        {
            return Ok(self.bounce(&acceleration.coupling, system.model, law, state));
        }
        self.velocity.clone_from(&state.v);
        if width > 0.0 {
            acceleration.evaluations += 1;
            system.model.force(state.t, &state.q, &state.v, &mut self.velocity)?;
            system.model.solve(&mut self.velocity);
            self.velocity.iter_mut().zip(&state.v).for_each(|(x, v)| *x = v + width * *x);
        }
        let coupling = &acceleration.coupling;
        coupling.velocity(&state.v, &mut self.before);
        self.clear(system.model.dim());
        for &i in active {
            let pair = coupling.pairs[i];
            self.laws.push(pair.law);
            self.members.push(i);
            for row in coupling.range(i) {
                let restitution = self.restitution(coupling, i, row);
                self.rows.push(row);
                self.output.push_row_of(&coupling.rows, row);
                self.input.push_row_of(&coupling.rows, row);
                self.b.push(coupling.rows.dot(row, &self.velocity) + coupling.drift[row] + restitution);
            }
        }
        let certificate = self.solve(acceleration, system.model, system.solver)?;
        for (v, (free, response)) in state.v.iter_mut().zip(self.velocity.iter().zip(&self.z.response)) {
            *v = free + response;
        }
        self.polish(acceleration);
        projection.impose(acceleration, system.model, &self.targets, state)?;
        let coupling = &acceleration.coupling;
        coupling.velocity(&state.v, &mut self.after);
        self.impulse.clear();
        self.impulse.resize(coupling.drift.len(), 0.0);
        for (row, lambda) in self.rows.iter().zip(&self.z.lambda) {
            self.impulse[*row] = *lambda;
        }
        Ok(certificate)
    }

    /// What the impact law adds to the velocity along a row of law `i`: on tangents only where it closes.
    fn restitution(&self, coupling: &Coupling, i: usize, row: usize) -> f64 {
        let normal = coupling.offset[i];
        if self.is_plastic || self.before[normal] >= 0.0 {
            return 0.0;
        }
        restitution(coupling, i, row - normal, self.before[row])
    }

    /// The impact by another law than (1).
    fn resolve(
        &mut self,
        coupling: &Coupling,
        system: &mut System<'_, dyn Mechanical>,
        active: &[usize],
        state: &mut State,
    ) -> Result<Certificate, StepError> {
        let (impacts, mut step) = (&mut self.impacts, Step::default());
        let at = Touching { coupling, active, v: &state.v };
        impacts.resolve(at, Tools { lhs: &*system.model, solver: &mut *system.solver, step: &mut step })?;
        state.v.copy_from_slice(&impacts.done.velocity);
        self.before.clone_from(&impacts.done.before);
        self.after.clone_from(&impacts.done.after);
        self.impulse.clone_from(&impacts.done.impulse);
        self.works.clone_from(&impacts.done.work);
        Ok(step.worst)
    }

    /// (1) of one contact without friction, in closed form.
    fn bounce(&mut self, coupling: &Coupling, model: &dyn Mechanical, law: usize, state: &mut State) -> Certificate {
        let (row, pair) = (coupling.offset[law], coupling.pairs[law]);
        coupling.velocity(&state.v, &mut self.before);
        self.impulse.clear();
        self.impulse.resize(coupling.drift.len(), 0.0);
        let u = self.before[row];
        self.velocity.clear();
        self.velocity.resize(state.v.len(), 0.0);
        coupling.rows.add_row(row, 1.0, &mut self.velocity);
        model.solve(&mut self.velocity);
        let w = coupling.rows.dot(row, &self.velocity);
        if u < 0.0 && w > 0.0 {
            let restitution = if self.is_plastic { 0.0 } else { pair.restitution };
            let p = -(1.0 + restitution) * u / w;
            self.impulse[row] = p;
            state.v.iter_mut().zip(&self.velocity).for_each(|(v, r)| *v += p * r);
        }
        coupling.velocity(&state.v, &mut self.after);
        Certificate::default()
    }

    /// Velocities of the laws `active` become zero along all their rows; returns whether the impulses are in their
    /// cones.
    pub fn stop(
        &mut self,
        tools: (&mut Acceleration, &mut Projection),
        system: &mut System<'_, dyn Mechanical>,
        active: &[usize],
        state: &mut State,
    ) -> Result<bool, StepError> {
        let (acceleration, projection) = tools;
        self.works.clear();
        acceleration.coupling.velocity(&state.v, &mut self.before);
        self.targets.clear();
        self.targets.extend(active.iter().flat_map(|&i| acceleration.coupling.range(i)).map(|row| (row, 0.0)));
        projection.impose(acceleration, system.model, &self.targets, state)?;
        let coupling = &acceleration.coupling;
        coupling.velocity(&state.v, &mut self.after);
        self.impulse.clear();
        self.impulse.resize(coupling.drift.len(), 0.0);
        for ((row, _), p) in self.targets.iter().zip(projection.multipliers()) {
            self.impulse[*row] = *p;
        }
        Ok(active.iter().filter(|&&i| !coupling.pairs[i].law.is_equality()).all(|&i| {
            let p = &self.impulse[coupling.range(i)];
            let tangent = p[1..].iter().map(|x| x * x).sum::<f64>().sqrt();
            p[0] >= 0.0 && tangent <= coupling.pairs[i].law.mu() * p[0] * (1.0 + INSIDE)
        }))
    }

    /// The values that velocities take after the impact where the solver's tolerance left them nearly there.
    fn polish(&mut self, acceleration: &Acceleration) {
        self.targets.clear();
        let coupling = &acceleration.coupling;
        let zero = NEARLY * self.b.iter().fold(0.0f64, |m, b| m.max(b.abs()));
        let mut k = 0;
        for (law, &i) in self.laws.iter().zip(&self.members) {
            let (size, range) = (law.size(), coupling.range(i));
            let (p, u) = (&self.z.lambda[k..k + size], &self.z.u[k..k + size]);
            let normal = if law.is_equality() { 0.0 } else { -self.restitution(coupling, i, range.start) };
            if law.is_equality() || (p[0] > 0.0 && u[0] <= zero) {
                self.targets.push((range.start, normal));
                let tangent = p[1..].iter().map(|x| x * x).sum::<f64>().sqrt();
                let inside = tangent < law.mu() * p[0] * (1.0 - INSIDE);
                if size > 1 && inside && u[1..].iter().all(|u| u.abs() <= zero) {
                    for row in range.skip(1) {
                        let target = -self.restitution(coupling, i, row);
                        self.targets.push((row, target));
                    }
                }
            }
            k += size;
        }
    }

    /// (2) at the point where `acceleration` was evaluated last (whatever the phase was): writes the modes of the
    /// candidates into `phase`; bilateral laws take part of themselves.
    pub fn choose_modes(
        &mut self,
        acceleration: &Acceleration,
        system: &mut System<'_, dyn Mechanical>,
        candidates: &[Candidate],
        phase: &mut Phase,
    ) -> Result<Certificate, StepError> {
        let coupling = &acceleration.coupling;
        phase.open(coupling);
        if candidates.is_empty() {
            return Ok(Certificate::default());
        }
        self.clear(system.model.dim());
        for (i, pair) in coupling.pairs.iter().enumerate() {
            if pair.law.is_equality() {
                self.admit(acceleration, i, None);
            }
        }
        for candidate in candidates {
            self.admit(acceleration, candidate.law, candidate.slip);
        }
        let certificate = self.solve(acceleration, system.model, system.solver)?;
        // bilateral laws come first, one row each
        let mut k = self.members.len() - candidates.len();
        for candidate in candidates {
            let law = coupling.pairs[candidate.law].law;
            let size = if candidate.slip.is_some() { 1 } else { law.size() };
            phase.set(candidate.law, self.mode(acceleration, *candidate, k, size));
            k += size;
        }
        // forces and accelerations are in other units than impulses and velocities
        let mut relative = certificate;
        (relative.cone, relative.velocity, relative.complementarity, relative.square) = (0.0, 0.0, 0.0, 0.0);
        Ok(relative)
    }

    /// Adds law `i` to (2).
    fn admit(&mut self, acceleration: &Acceleration, i: usize, slip: Option<[f64; 2]>) {
        let (coupling, curvature) = (&acceleration.coupling, &acceleration.curvature.value);
        let (pair, range) = (coupling.pairs[i], coupling.range(i));
        self.members.push(i);
        let rows = if slip.is_some() { 1 } else { range.len() };
        self.laws.push(if slip.is_some() { Law::UNILATERAL } else { pair.law });
        for row in range.clone().take(rows) {
            self.rows.push(row);
            self.output.push_row_of(&coupling.rows, row);
            self.b.push(coupling.rows.dot(row, &acceleration.free) + curvature[row]);
            match slip {
                None => self.input.push_row_of(&coupling.rows, row),
                Some(d) => {
                    self.velocity.clear();
                    self.velocity.resize(coupling.rows.columns(), 0.0);
                    coupling.rows.add_row(row, 1.0, &mut self.velocity);
                    for (tangent, d) in range.clone().skip(1).zip(d) {
                        coupling.rows.add_row(tangent, -pair.law.mu() * d, &mut self.velocity);
                    }
                    self.input.push_dense(&self.velocity);
                }
            }
        }
    }

    /// The mode that the solution of (2) gives to a candidate whose first row in the problem is `k`.
    fn mode(&self, acceleration: &Acceleration, candidate: Candidate, k: usize, size: usize) -> Mode {
        let coupling = &acceleration.coupling;
        let range = coupling.range(candidate.law);
        let (lambda, u) = (&self.z.lambda[k..k + size], &self.z.u[k..k + size]);
        let size =
            |row: usize| size_of(coupling.rows.row(row), &acceleration.free) + acceleration.curvature.value[row].abs();
        // a tie of λ and u̇ keeps the contact closed, unless it is about to leave
        let open = u[0] > NEARLY * size(range.start);
        let tie = u[0] <= ROUNDING * size(range.start) && !candidate.leaving;
        if open || (lambda[0] <= 0.0 && !tie) {
            return Mode::Open;
        }
        let mu = coupling.pairs[candidate.law].law.mu();
        match candidate.slip {
            _ if range.len() == 1 || (mu == 0.0 && !acceleration.rubbing.varies) => Mode::Held,
            Some(d) => Mode::Slip(d),
            None => {
                let tangent = lambda[1..].iter().map(|x| x * x).sum::<f64>().sqrt();
                // one without a share of the load moves with the others
                let speed = u[1..].iter().map(|x| x * x).sum::<f64>().sqrt();
                if speed > NEARLY * range.clone().skip(1).map(size).fold(0.0, f64::max) {
                    let mut d = [0.0; 2];
                    d.iter_mut().zip(&u[1..]).for_each(|(d, u)| *d = u / speed);
                    return Mode::Slip(d);
                }
                let slips = u[1..].iter().zip(range.skip(1)).any(|(u, row)| u.abs() > ROUNDING * size(row));
                let limit = mu * lambda[0].max(0.0);
                if tangent < limit * (1.0 - INSIDE) || !(slips || candidate.leaving) {
                    return Mode::Stick;
                }
                let mut d = [0.0; 2];
                for (d, x) in d.iter_mut().zip(&lambda[1..]) {
                    *d = -x / tangent;
                }
                if tangent > 0.0 { Mode::Slip(d) } else { Mode::Stick }
            }
        }
    }
}
