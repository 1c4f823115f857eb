//! Proximal-point method with Newton steps inside: the surest way to small residuals [rockafellar1976, alart1991,
//! acary2018].
//!
//! Each step solves the problem with `a` added to the diagonal, pulled to the last point,
//!
//! ```text
//!     u = (W + a I) r + q − a r_k,   r ∈ Law(u)   ⇒   r_{k+1} = r                                 (1)
//! ```
//!
//! whose solutions are those of the problem once `r_{k+1} = r_k`. It is regular where `W` is not: `W` of redundant
//! contacts has a large null space. Inside, the semismooth Newton method on the function of Alart and Curnier (see
//! `newton`) needs a few factorisations; few of them let `a` shrink (by 0.2 up to five, by 0.5 up to ten), a failure
//! restores `r_k`, raises `a` by four and holds it for some steps. The next centre is `r_k + 1.5 (r − r_k)`. The closer
//! the point, the smaller `a`, so that in the end convergence is that of Newton.
//!
//! The first point is the guess (zero where there is none), with `a` as large as its error. A round without a gain of
//! thirty per cent in 150 steps is given up: the next ones start from zero with `a = 0.1`, from the best point with `a
//! = 0.01`, and so on, each with more patience. The best point is kept throughout.

use super::alart_curnier::{AlartCurnier, Target};
use super::deadline::Deadline;
use super::growth::{self, CERTAIN, Trend};
use super::linear_system::LinearSystem;
use super::scaled::Scaled;
use super::{Configured, SolveError, Solver, SolverInfo, Unsupported, admission};
use crate::options::{at_least_one, positive};
use crate::{Certificate, Law, OneStepProblem, OptionError, Options, Reaction};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Newton steps within one proximal step.
const NEWTON: usize = 25;

/// Factor on proximal steps: between one and two they are longer and converge as well.
const RELAXATION: f64 = 1.5;

/// Steps of a round without a gain of thirty per cent.
const PATIENCE: usize = 150;

/// Options of the proximal-point method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ProximalOptions {
    /// Largest residual that is accepted, relative and scaled [-].
    pub tolerance: f64,
    /// Largest number of Newton steps in all, one factorisation each [-].
    pub max_iterations: usize,
}

impl Default for ProximalOptions {
    fn default() -> Self {
        ProximalOptions { tolerance: 1e-10, max_iterations: 5_000 }
    }
}

impl Options for ProximalOptions {
    fn validate(&self) -> Result<(), OptionError> {
        positive("tolerance", self.tolerance)?;
        at_least_one("max-iterations", self.max_iterations)
    }
}

/// What a solve took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effort {
    /// Proximal steps.
    pub proximal: usize,
    /// Newton steps inside them, one factorisation each.
    pub newton: usize,
}

/// The proximal-point method and its workspace.
pub struct Proximal {
    options: ProximalOptions,
    scaled: Scaled,
    rounds: Rounds,
}

impl Configured for Proximal {
    type Options = ProximalOptions;
    const INFO: SolverInfo = SolverInfo {
        name: "proximal",
        title: "proximal points with a semismooth Newton method inside",
        laws: "equality, unilateral, box, planar friction, spatial friction",
        accuracy: 1e-10,
        citations: &["rockafellar1976", "alart1991", "acary2018"],
        source: include_str!("proximal.rs"),
    };

    fn configure(options: ProximalOptions) -> Self {
        Proximal { options, scaled: Scaled::default(), rounds: Rounds::default() }
    }
}

impl Solver for Proximal {
    fn info(&self) -> &'static SolverInfo {
        const { &Proximal::INFO }
    }

    fn admits(&self, laws: &[Law]) -> Result<(), Unsupported> {
        admission::narrow("proximal", laws)
    }

    fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        let w = problem.delassus();
        self.rounds.effort = Effort::default();
        self.admits(problem.laws())?;
        if let Some(certificate) = admission::begin(problem, &w, z)? {
            return Ok(certificate);
        }
        let ProximalOptions { tolerance, max_iterations } = self.options;
        self.scaled.load(problem, &w);
        self.rounds.prepare(problem, &self.scaled)?;
        self.scaled.import(problem, &z.lambda, &mut self.rounds.centre);
        self.rounds.run(&self.scaled, None, Limits { tolerance, max_iterations });
        self.scaled.export(problem, &self.rounds.best, &mut z.lambda);
        growth::conclude(problem, z, tolerance, self.rounds.effort.newton, self.rounds.diverging)
    }

    fn log(&self) -> String {
        format!("proximal {}/{}", self.rounds.effort.proximal, self.rounds.effort.newton)
    }
}

impl Proximal {
    /// Ends the next solves by the clock.
    pub(super) fn until(&mut self, deadline: Deadline) {
        self.rounds.deadline = deadline;
    }

    /// Sets tolerance and most Newton steps of the next solves.
    pub(super) fn limit(&mut self, tolerance: f64, max_iterations: usize) {
        self.options = ProximalOptions { tolerance, max_iterations: max_iterations.max(1) };
    }

    /// What the last solve took.
    pub fn effort(&self) -> Effort {
        self.rounds.effort
    }
}

/// When to stop.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub tolerance: f64,
    pub max_iterations: usize,
}

/// Rounds of proximal steps, in scaled variables.
#[derive(Default)]
pub(super) struct Rounds {
    newton: AlartCurnier,
    pub centre: Vec<f64>, // r_k; on entry the first point
    r: Vec<f64>,          // current point of the Newton method
    u: Vec<f64>,          // its velocity
    pub best: Vec<f64>,   // point of the smallest error
    error: f64,           // that error
    pub effort: Effort,
    trend: Trend,
    pub deadline: Deadline,
    pub diverging: bool, // whether the last error is small only because the reactions are large
}

impl Rounds {
    /// Sizes the buffers and analyses the pattern; the first point is zero until it is set.
    pub fn prepare(&mut self, problem: &OneStepProblem<'_>, scaled: &Scaled) -> Result<(), SolveError> {
        self.newton.prepare(problem, scaled)?;
        for buffer in [&mut self.r, &mut self.u, &mut self.centre, &mut self.best] {
            buffer.clear();
            buffer.resize(scaled.len(), 0.0);
        }
        self.error = f64::INFINITY;
        (self.trend, self.diverging) = (Trend::default(), false);
        self.effort = Effort::default();
        Ok(())
    }

    /// The linear systems of the Newton method.
    pub fn system(&mut self) -> &mut LinearSystem {
        &mut self.newton.system
    }

    /// Newton's method without a proximal term from `centre`. Whether the tolerance is met.
    pub fn newton(&mut self, scaled: &Scaled, limits: Limits) -> bool {
        self.r.copy_from_slice(&self.centre);
        let tolerance = inner_floor(limits.tolerance);
        let target = Target { weight: 0.0, centre: &[], tolerance, max_iterations: limits.max_iterations };
        self.effort.newton += self.newton.solve(scaled, target, &mut self.r).0;
        let error = self.judge(scaled);
        scaled.note("newton", self.effort.newton, error.0);
        self.is_met(error, limits)
    }

    /// Rounds from `centre` until the tolerance is met or the iterations are used up. The first `a` is the error, if
    /// not given.
    pub fn run(&mut self, scaled: &Scaled, weight: Option<f64>, limits: Limits) {
        self.r.copy_from_slice(&self.centre);
        let error = self.judge(scaled).0;
        let (mut weight, mut patience) = (weight.unwrap_or(error.clamp(1e-6, 0.1)), PATIENCE);
        let mut from_zero = true;
        while !self.round(scaled, (weight, patience), limits)
            && self.effort.newton < limits.max_iterations
            && !self.deadline.is_over()
        {
            if from_zero {
                self.centre.fill(0.0);
                weight = 0.1;
            } else {
                self.centre.copy_from_slice(&self.best);
                weight = 1e-2;
                patience *= 2;
            }
            from_zero = !from_zero;
        }
    }

    /// Proximal steps from `centre`. Whether the tolerance was met.
    fn round(&mut self, scaled: &Scaled, (mut weight, patience): (f64, usize), limits: Limits) -> bool {
        let (mut hold, mut failures) = (0, 0);
        self.r.copy_from_slice(&self.centre);
        let mut error = self.judge(scaled);
        let (mut mark, mut since) = (error.0, 0);
        while !self.is_met(error, limits) {
            let left = limits.max_iterations.saturating_sub(self.effort.newton);
            if left == 0 || since > patience || self.deadline.is_over() {
                return false;
            }
            // no need to solve a step far beyond what the tolerance asks for
            let tolerance = (1e-3 * weight * error.1).max(inner_floor(limits.tolerance));
            let target = Target { weight, centre: &self.centre, tolerance, max_iterations: NEWTON.min(left) };
            let (iterations, solved) = self.newton.solve(scaled, target, &mut self.r);
            self.effort.proximal += 1;
            self.effort.newton += iterations.max(1);
            since += 1;
            let now = self.judge(scaled);
            scaled.note("proximal", self.effort.newton, now.0);
            if self.is_met(now, limits) {
                return true;
            }
            if solved {
                error = now;
                for (centre, r) in self.centre.iter_mut().zip(&self.r) {
                    *centre += RELAXATION * (r - *centre);
                }
                failures = 0;
                if hold > 0 {
                    hold -= 1;
                } else if iterations <= 5 {
                    weight *= 0.2;
                } else if iterations <= 10 {
                    weight *= 0.5;
                }
                weight = weight.max(1e-12);
            } else {
                self.r.copy_from_slice(&self.centre);
                failures += 1;
                weight = (weight * 4.0).min(1e3);
                hold = (2 + failures).min(8);
            }
            if error.0 < 0.7 * mark {
                (mark, since) = (error.0, 0);
            }
        }
        true
    }

    /// Whether an error is below the tolerance, and not by divergence.
    fn is_met(&self, error: (f64, f64), limits: Limits) -> bool {
        error.0 <= CAREFUL * limits.tolerance && !(self.diverging && error.1 > CERTAIN)
    }

    /// The error of `r`, relative and absolute; keeps the best point.
    fn judge(&mut self, scaled: &Scaled) -> (f64, f64) {
        scaled.velocity(&self.r, &mut self.u);
        let error = scaled.error(&self.r, &self.u);
        self.diverging = self.trend.note(error.0, error.1 / error.0);
        if error.0 < self.error {
            self.error = error.0;
            self.best.copy_from_slice(&self.r);
        }
        error
    }
}

/// The scaled residual that stops the iteration, relative to the tolerance: the certificate is computed along another
/// way and may differ by rounding.
pub(super) const CAREFUL: f64 = 0.9;

/// ‖F‖ below which a Newton method need not go.
fn inner_floor(tolerance: f64) -> f64 {
    (1e-2 * tolerance).clamp(1e-15, 1e-12)
}
