//! Lemke's complementary pivoting with the lexicographic rule [lemke1965, cottle1992, murty1988].
//!
//! The problem is written as a linear complementarity problem with free unknowns,
//!
//! ```text
//!     w = M z + q,   0 ≤ w ⊥ z ≥ 0,   or  w = 0, z free                                   (1)
//! ```
//!
//! Free unknowns are eliminated first (complete pivoting; redundant rows are dropped if nothing depends on them). Then
//! the path of `w = M z + q + d z₀` with a covering vector `d > 0` is followed from `z = 0`, `z₀` large, to `z₀ = 0`:
//!
//! 1. `z₀` enters the basis, the row with the most negative `q/d` leaves;
//! 2. the complement of the variable that left enters; the row that blocks it leaves, ties by the lexicographic rule;
//! 3. until `z₀` leaves (a solution) or nothing blocks (a ray).
//!
//! The path is followed in revised form: what is kept of the dictionary is the inverse of the entries of the rows with
//! `w = 0` and the unknowns in the basis. A pivot with `k` unknowns in the basis costs about `n k + 3 k²` operations
//! instead of the `n²` of a full dictionary, and rows for the lexicographic rule are computed among ties alone. The
//! equations of the final basis are solved again from the entries of `W`, with iterative refinement: the accuracy does
//! not suffer from the pivots. Where rounding has led the path beside the right basis, a few Newton-min steps (unknowns
//! with `z > w` into the basis) go on from there. The solution is exact up to rounding.
//!
//! Free rows that cannot be eliminated among themselves, as in circuits without a path to ground, are kept as pairs of
//! inequalities, combined so that their part of `M` is as skew as it can be: a monotone problem stays monotone.
//!
//! Attempts, until the certificate holds: `d = 1`, with pivots below 1e-9 refused, then admitted down to 1e-13; then
//! three other covering vectors, since on matrices that are not copositive one may end on a ray where another leads to
//! a solution. Planar friction is first written with three unknowns per contact; where that fails, with the four of
//! [stewart1996], for which Lemke's method has a convergence proof with any coefficient of friction.
//!
//! For copositive-plus `M` a ray proves that the problem is infeasible [cottle1992]. For any `M` the `z` of the
//! ray is tested: `y ≥ 0, Mᵀ y ≤ 0, qᵀ y < 0` is a proof by itself and ends the attempts. Equations that contradict
//! each other end in the same error, [`SolveError::Ray`].
//!
//! Good up to some thousands of unknowns.

mod basis;
mod kernel;
mod path;
mod reduction;

use super::lcp_form::{Friction, LcpForm};
use super::{Configured, SolveError, Solver, SolverInfo, Unsupported, admission};
use crate::options::{at_least_one, positive};
use crate::{Certificate, Law, OneStepProblem, OptionError, Options, Reaction};
use basis::BasisSystem;
use path::{Ending, Lcp, Limits, Path};
use reduction::Reduction;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One try: a covering vector by number, and the relative size below which an entry is no pivot.
#[derive(Clone, Copy)]
struct Attempt {
    cover: usize,
    negligible: f64,
}

/// Residual that leaves nothing to polish.
const EXACT: f64 = 1e-13;

/// Factor by which a step of polish may let the reactions grow.
const GROWTH: f64 = 1e3;

/// Largest number of Newton-min steps after the path.
const POLISH: usize = 4;

/// The tries in their order.
const ATTEMPTS: [Attempt; 5] = [
    Attempt { cover: 0, negligible: 1e-9 },
    Attempt { cover: 0, negligible: 1e-13 },
    Attempt { cover: 1, negligible: 1e-9 },
    Attempt { cover: 2, negligible: 1e-9 },
    Attempt { cover: 3, negligible: 1e-9 },
];

/// Options of Lemke's method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LemkeOptions {
    /// Largest residual that is accepted, relative and scaled [-].
    pub tolerance: f64,
    /// Largest number of pivots [-].
    pub max_pivots: usize,
}

impl Default for LemkeOptions {
    fn default() -> Self {
        LemkeOptions { tolerance: 1e-10, max_pivots: 10_000 }
    }
}

impl Options for LemkeOptions {
    fn validate(&self) -> Result<(), OptionError> {
        positive("tolerance", self.tolerance)?;
        at_least_one("max-pivots", self.max_pivots)
    }
}

/// Lemke's method and its workspace.
pub struct Lemke {
    options: LemkeOptions,
    form: LcpForm,
    reduction: Reduction,
    cover: Vec<f64>, // (n) d
    path: Path,
    system: BasisSystem,
    best: Vec<f64>,   // (m) reactions of the error that is kept
    before: Vec<f64>, // (m) reactions before a step of polish
}

impl Configured for Lemke {
    type Options = LemkeOptions;
    const INFO: SolverInfo = SolverInfo {
        name: "lemke",
        title: "Lemke's complementary pivoting, lexicographic",
        laws: "equality, unilateral, box, planar friction",
        accuracy: 1e-12,
        citations: &["lemke1965", "cottle1992", "murty1988", "stewart1996"],
        source: include_str!("lemke.rs"),
    };

    fn configure(options: LemkeOptions) -> Self {
        Lemke {
            options,
            form: LcpForm::default(),
            reduction: Reduction::default(),
            cover: Vec::new(),
            path: Path::default(),
            system: BasisSystem::default(),
            best: Vec::new(),
            before: Vec::new(),
        }
    }
}

impl Solver for Lemke {
    fn info(&self) -> &'static SolverInfo {
        const { &Lemke::INFO }
    }

    fn admits(&self, laws: &[Law]) -> Result<(), Unsupported> {
        admission::planar("lemke", laws)
    }

    fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        let w = problem.delassus();
        admission::finite(problem, &w)?;
        z.lambda.resize(problem.size(), 0.0);
        // one unilateral row: λ = max(0, −b/w)
        if let ([law], &[b]) = (problem.laws(), problem.b())
            && law.is_unilateral()
            && let &[w] = w.diagonal(0)
            && w > 0.0
        {
            z.lambda[0] = (-b / w).max(0.0);
            return problem.conclude(z, self.options.tolerance, 0);
        }
        self.admits(problem.laws())?;
        if admission::at_rest(problem) {
            z.reset(problem.size());
            return problem.conclude(z, self.options.tolerance, 0);
        }
        let friction = problem.laws().iter().any(|law| law.size() > 1);
        let forms: &[Friction] =
            if friction { &[Friction::Compact, Friction::Polyhedral] } else { &[Friction::Compact] };
        let mut kept: Option<SolveError> = None;
        'attempts: for attempt in ATTEMPTS {
            for &form in forms {
                // the other covering vectors are for the form with a proof
                if attempt.cover > 0 && forms.last() != Some(&form) {
                    continue;
                }
                self.form.build(problem, &w, form);
                let (error, proven) = match self.attempt(attempt, problem, z) {
                    Ok(certificate) => return Ok(certificate),
                    Err(failure) => failure,
                };
                if proven || is_nearer(&error, kept.as_ref()) {
                    self.best.clear();
                    self.best.extend_from_slice(&z.lambda);
                    kept = Some(error);
                }
                if proven {
                    break 'attempts;
                }
            }
        }
        z.lambda.copy_from_slice(&self.best);
        problem.certify(z);
        Err(kept.unwrap_or(SolveError::NotFinite("W")))
    }
}

/// The first error counts, unless a later attempt came nearer; nothing comes nearer than a ray.
fn is_nearer(error: &SolveError, kept: Option<&SolveError>) -> bool {
    match (kept, error) {
        (None, _) => true,
        (
            Some(SolveError::NotConverged { certificate: old, .. }),
            SolveError::NotConverged { certificate: new, .. },
        ) => new.residual < old.residual,
        _ => false,
    }
}

impl Lemke {
    /// Solves the LCP in `form`. The error comes with whether it is a proof that there is no solution.
    fn attempt(
        &mut self,
        attempt: Attempt,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
    ) -> Result<Certificate, (SolveError, bool)> {
        self.reduction.reduce(&self.form);
        let tolerance = self.options.tolerance;
        // no reaction changes a row of zeros
        if self.reduction.contradiction() > tolerance * largest(self.form.q()) {
            z.reset(problem.size());
            return Err((SolveError::Ray { certificate: problem.certify(z), pivots: 0 }, true));
        }
        let (matrix, q) = self.reduction.lcp(&self.form);
        fill_cover(attempt.cover, q.len(), &mut self.cover);
        let lcp = Lcp { matrix, q, cover: &self.cover };
        let limits = Limits { negligible: attempt.negligible, max_pivots: self.options.max_pivots };
        let (ending, pivots) = self.path.follow(lcp, limits);
        let proven = ending == Ending::Ray && self.path.ray_proves_infeasibility(lcp);
        match ending {
            Ending::Solved => {
                self.solve_basis();
                self.form.unscale(self.system.lambda(), &mut z.lambda);
                let mut result = problem.conclude(z, tolerance, pivots);
                if !matches!(&result, Ok(certificate) if certificate.residual <= EXACT) {
                    self.polish(problem, z);
                    result = problem.conclude(z, tolerance, pivots);
                }
                result.map_err(|error| (error, false))
            }
            Ending::Ray => {
                z.reset(problem.size());
                Err((SolveError::Ray { certificate: problem.certify(z), pivots }, proven))
            }
            Ending::TooMany => {
                z.reset(problem.size());
                let certificate = problem.certify(z);
                Err((SolveError::NotConverged { certificate, tolerance, iterations: pivots }, false))
            }
        }
    }

    /// Rounding along the path may leave a basis beside the right one: steps of the Newton-min method from there, as
    /// long as they help.
    fn polish(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) {
        let mut residual = problem.certify(z).residual;
        for _ in 0..POLISH {
            if residual <= EXACT || !self.system.choose_again(&self.form) {
                return;
            }
            self.system.solve(&self.form);
            self.before.clear();
            self.before.extend_from_slice(&z.lambda);
            self.form.unscale(self.system.lambda(), &mut z.lambda);
            let next = problem.certify(z).residual;
            // reactions that grow without bound have small relative residuals
            if next >= residual || largest(&z.lambda) > GROWTH * largest(&self.before) {
                z.lambda.copy_from_slice(&self.before);
                return;
            }
            residual = next;
        }
    }

    /// Solves the equations of the final basis from the original entries.
    fn solve_basis(&mut self) {
        let system = &mut self.system;
        let (rows, columns) = self.reduction.eliminated();
        system.rows.clear();
        system.columns.clear();
        system.rows.extend_from_slice(rows);
        system.columns.extend_from_slice(columns);
        let (rows, unknowns) = self.path.basis();
        let pairs = self.reduction.pairs();
        system.rows.extend(rows.iter().map(|&k| pairs[k].0));
        system.columns.extend(unknowns.iter().map(|&k| pairs[k].1));
        let whole = !self.form.has_free();
        if !(whole && system.solve_with(self.path.inverse(), &self.form)) {
            system.solve(&self.form);
        }
    }
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |a: f64, x| a.max(x.abs()))
}

/// The covering vectors: ones, then three others with entries between one and two, in no simple relation to each other.
fn fill_cover(number: usize, n: usize, cover: &mut Vec<f64>) {
    const IRRATIONAL: [f64; 4] = [0.0, 0.6180339887498949, 0.4142135623730950, 0.7320508075688772];
    cover.clear();
    cover.extend((0..n).map(|i| 1.0 + ((i + 1) as f64 * IRRATIONAL[number % 4]).fract()));
}
