//! Exact enumeration for small problems: every combination of states is one linear system [murty1988].
//!
//! | law | states |
//! |---|---|
//! | equality | `u = 0` |
//! | unilateral | open `λ = 0`; closed `u = 0` |
//! | box | inside `u = 0`; `λ = lower`; `λ = upper` |
//! | planar friction | open `λ = 0`; stick `u = 0`; slips `u_N = 0, λ_T = ∓μ λ_N` |
//!
//! Each combination is solved by LU with complete pivoting; where the system is singular, the unknowns beyond its rank
//! are zero. A combination whose scaled natural map is below 1e-13 is a solution up to rounding, and the first one in a
//! fixed order (the first law changes fastest, states as in the table) is returned. If there is none, the best one is
//! judged. Several solutions are no trouble, nor are matrices without any property [cottle1992]; the cost is the number
//! of combinations.

use super::lcp_form::near_root;
use super::ranked::RankedLu;
use super::{Configured, SolveError, Solver, SolverInfo, Unsupported, admission};
use crate::options::{at_least_one, positive};
use crate::{Certificate, Delassus, Law, OneStepProblem, OptionError, Options, Reaction, Shape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Scaled natural map of a solution up to rounding.
const SOLVED: f64 = 1e-13;

/// Options of the enumeration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct EnumerativeOptions {
    /// Largest residual that is accepted, relative and scaled [-].
    pub tolerance: f64,
    /// Largest number of combinations that is tried; the default admits 16 unilateral laws or 8 planar contacts [-].
    pub max_candidates: usize,
}

impl Default for EnumerativeOptions {
    fn default() -> Self {
        EnumerativeOptions { tolerance: 1e-10, max_candidates: 100_000 }
    }
}

impl Options for EnumerativeOptions {
    fn validate(&self) -> Result<(), OptionError> {
        positive("tolerance", self.tolerance)?;
        at_least_one("max-candidates", self.max_candidates)
    }
}

/// The enumeration and its workspace.
pub struct Enumerative {
    options: EnumerativeOptions,
    w: Vec<f64>,                 // (m × m) scaled W
    b: Vec<f64>,                 // (m) scaled b
    scale: Vec<f64>,             // (m) s: λ' = s λ, u' = u / s
    state: Vec<usize>,           // (laws) the combination
    unknowns: Vec<(usize, f64)>, // row of u that is zero and of λ that is free; λ of the next row per unit of it
    shift: Vec<f64>,             // (m) reactions that the states fix
    system: RankedLu,
    solution: Vec<f64>,
    lambda: Vec<f64>, // (m) scaled reactions of the combination
    u: Vec<f64>,      // (m)
    best: Vec<f64>,   // (m)
}

impl Configured for Enumerative {
    type Options = EnumerativeOptions;
    const INFO: SolverInfo = SolverInfo {
        name: "enumerative",
        title: "enumeration of all states, for small problems",
        laws: "equality, unilateral, box, planar friction",
        accuracy: 1e-12,
        citations: &["murty1988", "cottle1992"],
        source: include_str!("enumerative.rs"),
    };

    fn configure(options: EnumerativeOptions) -> Self {
        Enumerative {
            options,
            w: Vec::new(),
            b: Vec::new(),
            scale: Vec::new(),
            state: Vec::new(),
            unknowns: Vec::new(),
            shift: Vec::new(),
            system: RankedLu::default(),
            solution: Vec::new(),
            lambda: Vec::new(),
            u: Vec::new(),
            best: Vec::new(),
        }
    }
}

impl Solver for Enumerative {
    fn info(&self) -> &'static SolverInfo {
        const { &Enumerative::INFO }
    }

    fn admits(&self, laws: &[Law]) -> Result<(), Unsupported> {
        admission::planar("enumerative", laws)
    }

    fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        let w = problem.delassus();
        self.admits(problem.laws())?;
        admission::finite(problem, &w)?;
        let (candidates, limit) = (combinations(problem.laws()), self.options.max_candidates);
        if candidates > limit {
            return Err(SolveError::TooLarge { what: "combinations of states", size: candidates, limit });
        }
        self.prepare(problem, &w);
        let mut smallest = f64::INFINITY;
        loop {
            self.lay_out(problem);
            self.solve_combination();
            let missed = self.missed(problem);
            if missed < smallest {
                smallest = missed;
                self.best.copy_from_slice(&self.lambda);
            }
            if missed <= SOLVED || !self.advance(problem.laws()) {
                break;
            }
        }
        z.lambda.clear();
        z.lambda.extend(self.best.iter().zip(&self.scale).map(|(lambda, s)| lambda / s));
        problem.conclude(z, self.options.tolerance, candidates).map_err(|error| match error.certificate() {
            Some(certificate) => SolveError::NoSolution { certificate, candidates },
            None => error,
        })
    }
}

fn states(law: Law) -> usize {
    match law.shape() {
        Shape::Interval { .. } if law.is_equality() => 1,
        Shape::Interval { .. } if law.is_unilateral() => 2,
        Shape::Interval { .. } => 3,
        // the others are refused on admission
        Shape::Cone1 { .. } | Shape::Cone2 { .. } | Shape::General => 4,
    }
}

/// Number of combinations; the largest integer where there are more.
pub(super) fn combinations(laws: &[Law]) -> usize {
    laws.iter().fold(1, |product: usize, &law| product.saturating_mul(states(law)))
}

impl Enumerative {
    fn prepare(&mut self, problem: &OneStepProblem<'_>, w: &Delassus) {
        let m = problem.size();
        self.scale.clear();
        for i in 0..w.laws() {
            let s = near_root(w.scale(i));
            self.scale.extend(w.rows(i).map(|_| s));
        }
        w.to_dense(&mut self.w);
        for (row, s) in self.w.chunks_mut(m.max(1)).zip(&self.scale) {
            for (w, t) in row.iter_mut().zip(&self.scale) {
                *w /= s * t;
            }
        }
        self.b.clear();
        self.b.extend(problem.b().iter().zip(&self.scale).map(|(b, s)| b / s));
        self.state.clear();
        self.state.resize(problem.laws().len(), 0);
        for buffer in [&mut self.shift, &mut self.lambda, &mut self.u, &mut self.best] {
            buffer.clear();
            buffer.resize(m, 0.0);
        }
    }

    /// The next combination in the fixed order; false after the last.
    fn advance(&mut self, laws: &[Law]) -> bool {
        for (state, &law) in self.state.iter_mut().zip(laws) {
            *state += 1;
            if *state < states(law) {
                return true;
            }
            *state = 0;
        }
        false
    }

    /// The unknowns and the fixed reactions of the combination.
    fn lay_out(&mut self, problem: &OneStepProblem<'_>) {
        self.unknowns.clear();
        self.shift.fill(0.0);
        for ((&law, &row), &state) in problem.laws().iter().zip(problem.offsets()).zip(&self.state) {
            match (law.shape(), state) {
                (Shape::Interval { .. }, 1) if law.is_unilateral() => self.unknowns.push((row, 0.0)),
                (Shape::Interval { .. }, _) if law.is_unilateral() => {}
                (Shape::Interval { .. }, 0) => self.unknowns.push((row, 0.0)),
                // an infinite bound makes the combination miss by an infinite amount
                (Shape::Interval { lower, .. }, 1) => self.shift[row] = lower * self.scale[row],
                (Shape::Interval { upper, .. }, _) => self.shift[row] = upper * self.scale[row],
                (Shape::Cone1 { .. }, 1) => self.unknowns.extend([(row, 0.0), (row + 1, 0.0)]),
                (Shape::Cone1 { mu }, 2) => self.unknowns.push((row, -mu)),
                (Shape::Cone1 { mu }, 3) => self.unknowns.push((row, mu)),
                (Shape::Cone1 { .. } | Shape::Cone2 { .. } | Shape::General, _) => {}
            }
        }
    }

    fn solve_combination(&mut self) {
        let (m, k) = (self.b.len(), self.unknowns.len());
        let matrix = self.system.matrix_mut(k);
        self.solution.clear();
        for (i, &(row, _)) in self.unknowns.iter().enumerate() {
            let w = &self.w[row * m..(row + 1) * m];
            for (entry, &(column, next)) in matrix[i * k..(i + 1) * k].iter_mut().zip(&self.unknowns) {
                *entry = if next == 0.0 { w[column] } else { w[column] + next * w[column + 1] };
            }
            let fixed: f64 = w.iter().zip(&self.shift).map(|(w, x)| w * x).sum();
            self.solution.push(-self.b[row] - fixed);
        }
        self.system.factor(1e-13);
        self.system.solve(&mut self.solution);
        self.lambda.copy_from_slice(&self.shift);
        for (&(row, next), &x) in self.unknowns.iter().zip(&self.solution) {
            self.lambda[row] += x;
            if next != 0.0 {
                self.lambda[row + 1] += next * x;
            }
        }
    }

    /// The natural map in scaled variables, relative to the largest of b, λ and u.
    fn missed(&mut self, problem: &OneStepProblem<'_>) -> f64 {
        let m = self.b.len();
        for ((u, b), row) in self.u.iter_mut().zip(&self.b).zip(self.w.chunks(m.max(1))) {
            *u = b + row.iter().zip(&self.lambda).map(|(w, x)| w * x).sum::<f64>();
        }
        let (mut sum, mut f) = (0.0, [0.0; 3]);
        for (i, &law) in problem.laws().iter().enumerate() {
            let rows = problem.rows(i);
            let s = self.scale[rows.start];
            let law = law.scaled(|_| s);
            let f = &mut f[..rows.len()];
            law.natural_map(&self.lambda[rows.clone()], &self.u[rows], 1.0, f);
            sum += f.iter().map(|x| x * x).sum::<f64>();
        }
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let size = norm(&self.b).max(norm(&self.lambda)).max(norm(&self.u));
        let missed = if size > 0.0 { sum.sqrt() / size } else { sum.sqrt() };
        if missed.is_finite() && size.is_finite() { missed } else { f64::INFINITY }
    }
}
