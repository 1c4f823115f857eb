//! Semismooth Newton methods for equalities, unilateral and box laws: Newton-min [aganagic1984, hintermueller2002] and
//! Fischer-Burmeister [fischer1992, deluca1996], with a line search.
//!
//! In scaled variables (`W` with a diagonal near one), with `l ≤ λ ≤ h` the bounds of each row, both solve `F(λ) = 0`:
//!
//! ```text
//!     min:                 Fᵢ = λᵢ − P_[l,h](λᵢ − uᵢ),          u = W λ + b                      (1)
//!     fischer-burmeister:  Fᵢ = φ(λᵢ − l, −φ(h − λᵢ, −uᵢ)),     φ(x, y) = x + y − √(x² + y²)     (2)
//! ```
//!
//! An infinite bound drops its φ, two make `Fᵢ = uᵢ`. A step of (1) fixes the rows at their bounds and solves `W` of
//! the others: a method of active sets that ends after a few steps, exactly, if it ends. A step of (2) solves a system
//! of all rows; its `‖F‖²` is smooth, so that its gradient leads down wherever it is not zero [deluca1996]. A step is
//! accepted whole if it takes `½‖F‖²` below the largest of the last five values, halved otherwise; where the step does
//! not lead down, the system is shifted by a multiple of the unit matrix, and at last the gradient is followed.
//!
//! Where one function fails the other one is tried: with (1) a step may lead to a point where no direction helps.
//! The start is the best of the guess, of `λ = 0`, and of some projected Gauss-Seidel sweeps from there. At the end the
//! active rows of the last point are solved once more from the entries of `W` (the step of (1) again), so that both end
//! exactly. The cost is a factorisation of the active rows (1) or of all rows (2) per step. For positive definite `W`
//! some steps suffice whatever the size; on matrices without any property it may fail where Lemke's method does not.

use super::lcp_form::near_root;
use super::product::dot;
use super::ranked::RankedLu;
use super::{Configured, SolveError, Solver, SolverInfo, Unsupported, admission};
use crate::options::{at_least_one, positive};
use crate::{Certificate, Delassus, DenseLu, Law, OneStepProblem, OptionError, Options, Reaction};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod direction;
mod function;
mod point;

use function::Bounds;
use point::{Point, evaluate};

/// Projected Gauss-Seidel sweeps of the start.
const SWEEPS: usize = 8;

/// Values of the merit function that a step is compared with.
const MEMORY: usize = 5;

/// Halvings of a step before another direction is tried.
const HALVINGS: usize = 12;

/// Shifts of the diagonal, relative to that of scaled `W`, in the order in which they are tried.
const SHIFTS: [f64; 4] = [0.0, 1e-8, 1e-4, 1e-1];

/// Factor over the norm of b beyond which reactions are suspected to grow without bound.
const UNBOUNDED: f64 = 1e7;

/// Relative `‖F‖` below which rounding is all that is left.
const ROUNDING: f64 = 1e-15;

/// The function whose zero is a solution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Function {
    /// λ − P(λ − u), with P the projection to the bounds of λ.
    Min,
    /// φ(x, y) = x + y − √(x² + y²), once per bound.
    FischerBurmeister,
}

/// Options of the semismooth Newton methods.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct NewtonMinOptions {
    /// Largest residual that is accepted, relative and scaled [-].
    pub tolerance: f64,
    /// Largest number of Newton steps [-].
    pub max_iterations: usize,
    /// The function whose zero is sought, `min` or `fischer-burmeister` [-].
    pub function: Function,
}

impl Default for NewtonMinOptions {
    fn default() -> Self {
        NewtonMinOptions { tolerance: 1e-10, max_iterations: 100, function: Function::Min }
    }
}

impl Options for NewtonMinOptions {
    fn validate(&self) -> Result<(), OptionError> {
        positive("tolerance", self.tolerance)?;
        at_least_one("max-iterations", self.max_iterations)
    }
}

/// The semismooth Newton methods and their workspace.
pub struct NewtonMin {
    options: NewtonMinOptions,
    function: Function,  // that of the moment
    scale: Vec<f64>,     // (m) s: λ' = s λ, u' = u / s
    w: Vec<f64>,         // (m × m) scaled W
    b: Vec<f64>,         // (m) scaled b
    bounds: Vec<Bounds>, // (m) scaled
    point: Point,
    trial: Point,
    best: Point,
    first: Point,            // result of the first function
    step: Vec<f64>,          // (m)
    gradient: Vec<f64>,      // (m)
    inside: Vec<usize>,      // rows that are not at a bound
    factored: Vec<usize>,    // those of the last factorisation of W alone
    regular: bool,           // that the factorisation was one
    slopes: Vec<(f64, f64)>, // (m) ∂F/∂λ, ∂F/∂u
    right: Vec<f64>,         // right-hand side and solution
    lu: DenseLu,
    ranked: RankedLu,
}

impl Configured for NewtonMin {
    type Options = NewtonMinOptions;
    const INFO: SolverInfo = SolverInfo {
        name: "newton-min",
        title: "semismooth Newton: Newton-min or Fischer-Burmeister",
        laws: "equality, unilateral, box",
        accuracy: 1e-12,
        citations: &["aganagic1984", "hintermueller2002", "fischer1992", "deluca1996"],
        source: include_str!("newton_min.rs"),
    };

    fn configure(options: NewtonMinOptions) -> Self {
        NewtonMin {
            function: options.function,
            options,
            first: Point::default(),
            scale: Vec::new(),
            w: Vec::new(),
            b: Vec::new(),
            bounds: Vec::new(),
            point: Point::default(),
            trial: Point::default(),
            best: Point::default(),
            step: Vec::new(),
            gradient: Vec::new(),
            inside: Vec::new(),
            factored: Vec::new(),
            regular: false,
            slopes: Vec::new(),
            right: Vec::new(),
            lu: DenseLu::default(),
            ranked: RankedLu::default(),
        }
    }
}

impl Solver for NewtonMin {
    fn info(&self) -> &'static SolverInfo {
        const { &NewtonMin::INFO }
    }

    fn admits(&self, laws: &[Law]) -> Result<(), Unsupported> {
        admission::planar("newton-min", laws)?;
        match laws.iter().find(|law| law.size() > 1) {
            None => Ok(()),
            Some(law) => Err(Unsupported { solver: "newton-min", law: law.name(), hint: "use `auto` or `lemke`" }),
        }
    }

    fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        let w = problem.delassus();
        self.admits(problem.laws())?;
        admission::finite(problem, &w)?;
        z.lambda.resize(problem.size(), 0.0);
        if admission::at_rest(problem) {
            z.reset(problem.size());
            return problem.conclude(z, self.options.tolerance, 0);
        }
        self.prepare(problem, &w);
        self.function = self.options.function;
        self.start(&z.lambda);
        let mut iterations = self.iterate();
        self.finish();
        if self.best.norm > self.options.tolerance * self.size() {
            iterations += self.try_other();
        }
        if self.has_grown() {
            self.best.lambda.fill(0.0);
        }
        z.lambda.clear();
        z.lambda.extend(self.best.lambda.iter().zip(&self.scale).map(|(lambda, s)| lambda / s));
        problem.conclude(z, self.options.tolerance, iterations)
    }
}

impl NewtonMin {
    fn prepare(&mut self, problem: &OneStepProblem<'_>, w: &Delassus) {
        let m = problem.size();
        self.scale.clear();
        self.scale.extend((0..w.laws()).map(|i| near_root(w.scale(i))));
        w.to_dense(&mut self.w);
        for (row, s) in self.w.chunks_mut(m.max(1)).zip(&self.scale) {
            for (w, t) in row.iter_mut().zip(&self.scale) {
                *w /= s * t;
            }
        }
        self.b.clear();
        self.b.extend(problem.b().iter().zip(&self.scale).map(|(b, s)| b / s));
        self.bounds.clear();
        self.bounds.extend(problem.laws().iter().zip(&self.scale).map(|(&law, &s)| Bounds::of(law, s)));
        self.factored.clear();
        self.regular = false;
    }

    /// The best of the guess, of zero, and of some sweeps from there.
    fn start(&mut self, guess: &[f64]) {
        let m = self.b.len();
        let zero = self.bounds.iter().map(|bounds| bounds.project(0.0));
        self.point.lambda.clear();
        self.point.lambda.extend(zero);
        self.evaluate_point();
        self.best.copy_from(&self.point);
        if guess.iter().all(|x| x.is_finite()) && guess.iter().any(|&x| x != 0.0) {
            for (i, x) in self.point.lambda.iter_mut().enumerate() {
                *x = self.bounds[i].project(guess[i] * self.scale[i]);
            }
            self.evaluate_point();
            self.keep_best();
        }
        self.point.copy_from(&self.best);
        for _ in 0..SWEEPS {
            for i in 0..m {
                let row = &self.w[i * m..(i + 1) * m];
                if row[i] > 0.0 {
                    let u = self.b[i] + dot(row, &self.point.lambda);
                    self.point.lambda[i] = self.bounds[i].project(self.point.lambda[i] - u / row[i]);
                }
            }
        }
        self.evaluate_point();
        self.keep_best();
        self.point.copy_from(&self.best);
    }

    /// The other function from the start without a guess; what was found before is kept where it is better.
    fn try_other(&mut self) -> usize {
        self.first.copy_from(&self.best);
        self.function = match self.options.function {
            Function::Min => Function::FischerBurmeister,
            Function::FischerBurmeister => Function::Min,
        };
        self.start(&[]);
        let iterations = self.iterate();
        self.finish();
        if self.first.norm <= self.best.norm {
            self.best.copy_from(&self.first);
        }
        iterations
    }

    /// Newton steps until nothing is gained; returns their number.
    fn iterate(&mut self) -> usize {
        let mut recent = [self.point.norm; MEMORY];
        for k in 0..self.options.max_iterations {
            if self.point.norm <= ROUNDING * self.size() {
                return k;
            }
            let before = self.point.norm;
            let reference = recent.iter().fold(0.0, |a: f64, x| a.max(*x));
            if !self.advance(reference) {
                return k;
            }
            self.keep_best();
            recent[k % MEMORY] = self.point.norm;
            // at the limit of rounding, another step gains nothing
            if before <= 0.01 * self.options.tolerance * self.size() && self.point.norm > 0.1 * before {
                return k + 1;
            }
        }
        self.options.max_iterations
    }

    /// One step: Newton's, shifted if need be, at last along the gradient. False where nothing leads down.
    fn advance(&mut self, reference: f64) -> bool {
        for shift in SHIFTS {
            match self.function {
                Function::Min => self.direct_min(shift),
                Function::FischerBurmeister => self.direct_all(shift),
            }
            if self.step.iter().all(|x| x.is_finite()) && self.search(reference, 1e-4) {
                return true;
            }
        }
        self.descend();
        self.search(self.point.norm, 1e-8)
    }

    /// Halves the step until `‖F‖` is below the reference by a fraction `share` of the step.
    fn search(&mut self, reference: f64, share: f64) -> bool {
        let mut length = 1.0;
        for _ in 0..HALVINGS {
            self.trial.lambda.clear();
            self.trial.lambda.extend(self.point.lambda.iter().zip(&self.step).map(|(x, d)| x + length * d));
            evaluate(&self.w, &self.b, &self.bounds, self.function, &mut self.trial);
            if self.trial.norm <= (1.0 - share * length) * reference {
                std::mem::swap(&mut self.point, &mut self.trial);
                return true;
            }
            length *= 0.5;
        }
        false
    }

    /// Whether the best point owes its small relative residual to the size of its reactions alone.
    fn has_grown(&self) -> bool {
        let norm = |x: &[f64]| dot(x, x).sqrt();
        let (b, u, lambda) = (norm(&self.b), norm(&self.best.u), norm(&self.best.lambda));
        lambda > UNBOUNDED * b && self.best.norm > self.options.tolerance * b.max(u)
    }

    /// Steps of (1) from the best point, as long as they help.
    fn finish(&mut self) {
        self.function = Function::Min;
        self.point.lambda.clone_from(&self.best.lambda);
        self.evaluate_point();
        self.best.norm = self.point.norm;
        for _ in 0..3 {
            if self.point.norm <= ROUNDING * self.size() {
                break;
            }
            self.direct_min(0.0);
            if !self.step.iter().all(|x| x.is_finite()) {
                break;
            }
            for (x, d) in self.point.lambda.iter_mut().zip(&self.step) {
                *x += d;
            }
            self.evaluate_point();
            if self.point.norm >= self.best.norm {
                break;
            }
            self.keep_best();
        }
    }

    fn evaluate_point(&mut self) {
        evaluate(&self.w, &self.b, &self.bounds, self.function, &mut self.point);
    }

    fn keep_best(&mut self) {
        if self.point.norm < self.best.norm {
            self.best.copy_from(&self.point);
        }
    }

    /// Largest of the norms of b, λ and u.
    fn size(&self) -> f64 {
        let norm = |x: &[f64]| dot(x, x);
        norm(&self.b).max(norm(&self.point.lambda)).max(norm(&self.point.u)).sqrt()
    }
}
