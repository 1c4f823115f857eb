//! Higher-order sweeping process: linear systems under constraints of any relative degree [acary2008homsp].
//!
//! ```text
//!     ẋ = A x + a + B λ,   w = C x + c,   0 ≤ w ⊥ λ ≥ 0,    λ a distribution where the relative degree r is 2 or more
//!     z = W x + o:   dz_j − z_{j+1} dt = dν_j (j < r),   dz_r − (...) dt = M dν_r,   ξ̇ = A_ξ ξ + B_ξ z₁ + ...          (1)
//!     dν_j ∈ −N_{T}(z_j(t⁺)),   T = ℝ⁺ if z₁, ..., z_{j−1} ≤ 0 before, else all of ℝ                                 (2)
//!
//!     (I − hĀ) z⁺ = z + h s + B̄ μ,    B̄ = (diag(1, ..., 1, M); 0)                                                    (3)
//!     0 ≤ z_j⁺ ⊥ μ_j ≥ 0   for j = 1, ..., r*,     r* = 1 + max{ j < r : z₁, ..., z_j ≤ 0 }   in each chain            (4)
//! ```
//!
//! W, Ā, M as in `zero_dynamics` (chains of integrators, ξ driven by z₁ alone). The matrix of (4) is the unit matrix up
//! to O(h), with M in the last places: no power of 1/h. It is not symmetric. r = 2 is the Moreau-Jean scheme without
//! restitution; with r = 1 the scheme is backward Euler, and with r = 0 it is handed to `euler-moreau` with θ = 1.
//! Equalities have all levels of their chain active.
//!
//! Relative degrees may differ from row to row if the leading matrix M is regular, and M must be a P-matrix (for the
//! rows under unilateral laws). Otherwise the system is refused, with the rows that are to blame.
//!
//! Sources: o and s are made of derivatives of a and c, o_j = c^{(j−1)} + Σ_{l<j−1} C A^{j−2−l} a^{(l)}. Constant ones
//! have none; those of time are differentiated by central differences of their values, over spans that balance
//! truncation and rounding. They should be smooth to the order in which they enter.
//!
//! After (4) z_j⁺ = 0 exactly where μ_j > 0. In the test of (4) z ≤ 10⁻¹² max(|z|, |ξ|, terms that z is made of) counts
//! as z ≤ 0 (scaled variables); z itself is not touched.
//!
//! Order 1 (in the Hausdorff distance of graphs; pointwise away from jumps). `levels` are the μ of each chain,
//! `impulse` is μ_r.

use super::euler_moreau::{self, EulerMoreau};
use super::{Order, Reactions, Registered, Scheme, SchemeError, SchemeInfo, Step, StepError, System};
use crate::model::Lcs;
use crate::zero_dynamics::{self, ZeroDynamics};
use crate::{FirstOrder, Key, State};
use carom_solve::{
    Archive, ArchiveError, Certificate, DenseLu, Law, LinearSolve, OneStepProblem, Options, Parts, Persist,
    ProblemWork, Reaction, Rows, Solver,
};
use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sources::Sources;

mod sources;

/// z below this part of the state counts as zero in the choice of active levels.
const CLOSED: f64 = 1e-12;

/// The scheme for relative degree 0.
const IMPLICIT: EulerMoreau = EulerMoreau {
    theta: Some(1.0),
    gamma: 1.0,
    collocation: euler_moreau::Collocation::End,
    newton_tolerance: 1e-10,
    newton_iterations: 100,
    any_degree: false,
};

/// Options of the higher-order sweeping process: none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Homsp {}

impl Options for Homsp {}

impl Registered for Homsp {}

/// Relative degree 0 needs no chains.
pub enum Work {
    /// Relative degree 0: the buffers of `euler-moreau`, which does the step.
    Direct(Box<euler_moreau::Work>),
    /// Relative degree 1 or more.
    Chains(Box<Chains>),
}

impl Persist for Work {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        match self {
            Work::Direct(work) => work.persist(archive),
            Work::Chains(work) => work.persist(archive),
        }
    }
}

/// Buffers of a step, in the order in which the step sets them; z and μ are scaled by powers of two.
pub struct Chains {
    form: ZeroDynamics,
    laws: Vec<Law>,              // (m)
    levels: Vec<(usize, Law)>,   // chain and law of each place of z below ξ
    units: (Vec<f64>, Vec<f64>), // plain over scaled: z (n), μ_r (m)
    w: Vec<f64>,                 // (n × n) W
    inverse: Vec<f64>,           // (n × n) W⁻¹
    inputs: Rows,                // B̄ᵀ
    sources: Sources,            // o and s
    h: Option<f64>,              // step of `lu`
    lu: DenseLu,                 // I − hĀ
    propagator: Vec<f64>,        // (n × n) |(I − hĀ)⁻¹|
    z: Vec<f64>,                 // (n) phase 1; z⁺, phase 4
    terms: Vec<f64>,             // (n) sizes of the terms of z, phase 1
    free: Vec<f64>,              // (n) z⁺ without μ, phase 2
    active: Vec<usize>,          // places of z under (4), phase 3
    previous: Vec<usize>,        // those of the step before
    kept: bool,                  // W of the problem before is that of the next one, if the places are
    output: Rows,
    input: Rows,
    active_laws: Vec<Law>,
    b: Vec<f64>,
    problem: ProblemWork,
    reaction: Reaction,
    mu: Vec<f64>, // (chains) μ, phase 4
    buffer: Vec<f64>,
    reactions: Reactions,
}

carom_solve::persist!(Chains {
    sources, h, lu, propagator, z, terms, free, active, previous, kept, output, input, active_laws, b, problem,
    reaction, mu, buffer, reactions,
} skip { form, laws, levels, units, w, inverse, inputs });

impl Scheme for Homsp {
    type Model = dyn FirstOrder;
    type Work = Work;

    const INFO: SchemeInfo = SchemeInfo {
        name: "homsp",
        title: "Higher-order sweeping process",
        order: Order { position: 1.0, velocity: 1.0, smooth: 1.0 },
        level: "all derivatives",
        projects: false,
        claims: &[],
        citations: &["acary2008homsp"],
        source: include_str!("homsp.rs"),
    };

    fn workspace(&self, model: &mut Self::Model) -> Result<Work, SchemeError> {
        let scheme = Self::INFO.name;
        let refuse = |reason, contact| SchemeError::Incapable { scheme, reason, contact };
        let Some(lcs) = model.linear() else {
            return Err(refuse("needs a linear complementarity system", None));
        };
        if lcs.is_switched() {
            return Err(refuse("cannot treat laws that change in time", None));
        }
        if let Some((row, _)) = lcs.laws().iter().find(|(_, law)| !law.is_unilateral() && !law.is_equality()) {
            return Err(refuse("treats complementarity and equality, not relays", Some(row.clone())));
        }
        let failed = |error| SchemeError::ZeroDynamics { scheme, source: Box::new(error) };
        let degrees = zero_dynamics::degrees(lcs).map_err(failed)?;
        if !degrees.is_empty() && degrees.iter().all(|r| *r == 0) {
            return Ok(Work::Direct(Box::new(IMPLICIT.workspace(model)?)));
        }
        let form = ZeroDynamics::of(lcs).map_err(failed)?;
        Ok(Work::Chains(Box::new(Chains::new(form, lcs))))
    }

    fn step(
        &self,
        w: &mut Work,
        system: System<'_, Self::Model>,
        from: &State,
        h: f64,
        to: &mut State,
    ) -> Result<Step, StepError> {
        let w = match w {
            Work::Direct(w) => return IMPLICIT.step(w, system, from, h, to),
            Work::Chains(w) => &mut **w,
        };
        let System { model, solver } = system;
        let mut step = Step { advanced: h, iterations: 1, evaluations: 1, ..Step::default() };
        to.t = from.t + h;

        // 1 start: z and the size of its terms
        w.start(model, from, h)?;

        // 2 free motion: (I − hĀ) z_free = z + h s
        w.free(model, to.t, h)?;

        // 3 active levels (4)
        w.choose();

        // 4 solve; z⁺ = z_free + (I − hĀ)⁻¹ B̄ μ, zero where μ > 0
        w.mu.fill(0.0);
        w.z.copy_from_slice(&w.free);
        if !w.active.is_empty() {
            step.worst = w.solve(solver)?;
            step.solves = 1;
        }

        // 5 back to x, and report
        w.finish(model, to)?;
        if !to.is_finite() {
            return Err(StepError::NotFinite);
        }
        Ok(step)
    }

    fn clear_guess(&self, w: &mut Work) {
        match w {
            Work::Direct(w) => IMPLICIT.clear_guess(w),
            Work::Chains(w) => w.reaction.lambda.clear(),
        }
    }

    fn drop_factors(&self, w: &mut Work) {
        // chains have a factorisation of their own
        if let Work::Direct(w) = w {
            IMPLICIT.drop_factors(w);
        }
    }

    fn reactions<'w>(&self, work: &'w Work) -> &'w Reactions {
        match work {
            Work::Direct(w) => IMPLICIT.reactions(w),
            Work::Chains(w) => &w.reactions,
        }
    }
}

/// The linear system behind a model; the workspace has seen that there is one.
fn linear(model: &mut dyn FirstOrder) -> Result<&mut Lcs, StepError> {
    let missing = || crate::ModelError::Callback("the model is no linear complementarity system any more".into());
    Ok(model.linear().ok_or_else(missing)?)
}

fn row_major(matrix: &DMatrix<f64>) -> Vec<f64> {
    matrix.transpose().as_slice().to_vec()
}

impl Chains {
    fn new(form: ZeroDynamics, lcs: &Lcs) -> Chains {
        let (n, m) = lcs.sizes();
        let [w, inverse, _, leading] = form.matrices();
        let (w, inverse) = (row_major(w), row_major(inverse));
        let chains = form.chains();
        let laws: Vec<Law> = lcs.laws().iter().map(|(_, law)| *law).collect();
        let mut inputs = Rows::new(n);
        let mut levels = Vec::new();
        for i in 0..m {
            for k in chains[i]..chains[i + 1] {
                levels.push((i, laws[i]));
                if k + 1 < chains[i + 1] {
                    inputs.push_sparse([(k, 1.0)]);
                } else {
                    // the input acts on the ends of all chains
                    inputs.push_sparse((0..m).map(|j| (chains[j + 1] - 1, leading[(j, i)])));
                }
            }
        }
        let units = ((0..n).map(|k| form.unit(k)).collect(), (0..m).map(|i| form.impulse_unit(i)).collect());
        let mut reactions = Reactions { chains: chains.to_vec(), ..Reactions::default() };
        for buffer in [&mut reactions.before, &mut reactions.after, &mut reactions.obstacle, &mut reactions.impulse] {
            buffer.resize(m, 0.0);
        }
        reactions.levels.resize(chains[m], 0.0);
        Chains {
            sources: Sources::new(&form, lcs),
            mu: vec![0.0; chains[m]],
            laws,
            levels,
            units,
            w,
            inverse,
            inputs,
            h: None,
            lu: DenseLu::default(),
            propagator: vec![0.0; n * n],
            z: vec![0.0; n],
            terms: vec![0.0; n],
            free: vec![0.0; n],
            active: Vec::new(),
            previous: Vec::new(),
            kept: false,
            output: Rows::new(n),
            input: Rows::new(n),
            active_laws: Vec::new(),
            b: Vec::new(),
            problem: ProblemWork::default(),
            reaction: Reaction::default(),
            buffer: vec![0.0; n],
            reactions,
            form,
        }
    }

    /// z = W x + o at the start, with the sizes of its terms, and the outputs before.
    fn start(&mut self, model: &mut dyn FirstOrder, from: &State, h: f64) -> Result<(), StepError> {
        let n = self.z.len();
        if self.h != Some(h) {
            self.factor(h, from.t)?;
        }
        self.sources.evaluate(linear(model)?, from.t, h)?;
        let state = &self.form.scaled().state;
        self.buffer.iter_mut().zip(&from.q).zip(state).for_each(|((b, x), t)| *b = x / t);
        for k in 0..n {
            let (mut sum, mut size) = (0.0, 0.0);
            for (w, x) in self.w[k * n..(k + 1) * n].iter().zip(&self.buffer) {
                sum += w * x;
                size += (w * x).abs();
            }
            let offset = self.sources.offset().get(k).copied().unwrap_or(0.0);
            self.z[k] = sum + offset;
            self.terms[k] = size + offset.abs();
        }
        for (i, before) in self.reactions.before.iter_mut().enumerate() {
            let first = self.reactions.chains[i];
            *before = self.z[first] * self.units.0[first];
        }
        Ok(())
    }

    /// I − hĀ, and its inverse for the sizes of terms.
    fn factor(&mut self, h: f64, t: f64) -> Result<(), StepError> {
        let n = self.z.len();
        let eta = h * self.form.scaled().time;
        let a_bar = self.form.matrices()[2];
        self.h = None;
        self.kept = false;
        let matrix = self.lu.matrix_mut(n);
        for i in 0..n {
            for j in 0..n {
                matrix[i * n + j] = f64::from(u8::from(i == j)) - eta * a_bar[(i, j)];
            }
        }
        self.lu.factor().map_err(|source| crate::ModelError::Singular { t, source })?;
        for j in 0..n {
            self.buffer.fill(0.0);
            self.buffer[j] = 1.0;
            self.lu.solve(&mut self.buffer);
            (0..n).for_each(|i| self.propagator[i * n + j] = self.buffer[i].abs());
        }
        self.h = Some(h);
        Ok(())
    }

    /// z_free with the sources at the end of the step.
    fn free(&mut self, model: &mut dyn FirstOrder, t: f64, h: f64) -> Result<(), StepError> {
        self.sources.evaluate(linear(model)?, t, h)?;
        let eta = h * self.form.scaled().time;
        self.free.copy_from_slice(&self.z);
        self.sources.add_forcing(eta, &mut self.free);
        // sizes of what moves in the step
        self.buffer.copy_from_slice(&self.free);
        self.buffer.iter_mut().zip(&self.z).for_each(|(b, z)| *b = z.abs() + (*b - z).abs());
        self.lu.solve(&mut self.free);
        Ok(())
    }

    /// Places of z that are under (4).
    fn choose(&mut self) {
        let n = self.z.len();
        self.active.clear();
        let state = self.z.iter().fold(0.0f64, |m, z| m.max(z.abs()));
        for (i, chain) in self.reactions.chains.windows(2).enumerate() {
            for k in chain[0]..chain[1] {
                self.active.push(k);
                if self.laws[i].is_equality() {
                    continue;
                }
                let row = &self.propagator[k * n..(k + 1) * n];
                let moved: f64 = row.iter().zip(&self.buffer).map(|(p, z)| p * z).sum();
                // written so that a NaN stays in, to be reported by the solver
                if self.z[k] > CLOSED * state.max(self.terms[k] + moved) {
                    break;
                }
            }
        }
    }

    /// The problem (4) on the active places.
    fn solve(&mut self, solver: &mut dyn Solver) -> Result<Certificate, StepError> {
        let n = self.z.len();
        let same = self.kept && self.active == self.previous;
        if !same {
            self.output.clear(n);
            self.input.clear(n);
            self.active_laws.clear();
            for &k in &self.active {
                self.output.push_sparse([(k, 1.0)]);
                self.input.push_row_of(&self.inputs, k);
                self.active_laws.push(self.levels[k].1);
            }
            self.previous.clone_from(&self.active);
            self.reaction.lambda.clear();
        }
        self.b.clear();
        self.b.extend(self.active.iter().map(|&k| self.free[k]));
        let parts = Parts {
            lhs: &self.lu,
            output: &self.output,
            input: &self.input,
            feedthrough: None,
            b: &self.b,
            laws: &self.active_laws,
        };
        let mut problem = match same {
            true => OneStepProblem::again(parts, &mut self.problem),
            false => OneStepProblem::new(parts, &mut self.problem),
        };
        let (active, levels) = (&self.active, &self.levels);
        let name = |law: usize| Some(Key::from(levels[*active.get(law)?].0).0);
        problem.name_by(&name);
        let result = solver.solve(&problem, &mut self.reaction);
        self.kept = true;
        let certificate = result.map_err(|error| {
            let contact = error.certificate().and_then(|c| name(c.law)).map(Key);
            StepError::Solve { error: Box::new(error), contact }
        })?;
        self.z.iter_mut().zip(&self.reaction.response).for_each(|(z, r)| *z += r);
        for (&k, &mu) in self.active.iter().zip(&self.reaction.lambda) {
            self.mu[k] = mu;
            if mu > 0.0 || self.levels[k].1.is_equality() {
                self.z[k] = 0.0;
            }
        }
        Ok(certificate)
    }

    /// x⁺ = T W⁻¹ (z⁺ − o(t⁺)), outputs and μ in the units of the system.
    fn finish(&mut self, model: &mut dyn FirstOrder, to: &mut State) -> Result<(), StepError> {
        let n = self.z.len();
        self.buffer.copy_from_slice(&self.z);
        self.buffer.iter_mut().zip(self.sources.offset()).for_each(|(b, o)| *b -= o);
        let state = &self.form.scaled().state;
        for ((x, row), t) in to.q.iter_mut().zip(self.inverse.chunks_exact(n.max(1))).zip(state) {
            *x = t * row.iter().zip(&self.buffer).map(|(w, z)| w * z).sum::<f64>();
        }
        let r = &mut self.reactions;
        if r.coupling.is_filled() {
            model.refresh(to.t, &to.q, &mut r.coupling)?;
        } else {
            model.couple(to.t, &to.q, &mut r.coupling)?;
        }
        for (level, (mu, unit)) in r.levels.iter_mut().zip(self.mu.iter().zip(&self.units.0)) {
            *level = mu * unit;
        }
        for i in 0..r.impulse.len() {
            let (first, last) = (r.chains[i], r.chains[i + 1] - 1);
            r.after[i] = self.z[first] * self.units.0[first];
            r.levels[last] = self.mu[last] * self.units.1[i];
            r.impulse[i] = r.levels[last];
        }
        Ok(())
    }
}
