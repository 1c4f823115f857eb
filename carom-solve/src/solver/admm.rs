//! Alternating directions on the De Saxcé form: one factorisation, then products and projections [boyd2011,
//! desaxce1998, acary2018].
//!
//! With the shift `s = μ ‖u_T‖ e_N` of Coulomb's law frozen, the problem is the optimality of `½ rᵀWr + (q + s)ᵀr` over
//! the set K of admissible reactions. Its two halves, the quadratic form and K, are treated in turn,
//!
//! ```text
//!     (W + ρ I) r = ρ (z − y) − q − s                                                            (1)
//!     x = α r + (1 − α) z,    z⁺ = P_K(x + y),    y⁺ = y + x − z⁺                                (2)
//!     u = W z⁺ + q,           s = μ ‖u_T‖ e_N                                                    (3)
//! ```
//!
//! in the scaled variables of the certificate. At rest `r = z` and `−ρ y = u + s` lies in the dual cone. `ρ` is
//! balanced: where the primal residual ‖r − z‖ and the dual one ρ‖z⁺ − z‖ differ by more than a factor of ten, it is
//! doubled or halved, and `W + ρI` factored anew; the tests become rarer, so that the factorisations stay few.
//!
//! Good for a few digits where `W` is rank-deficient and many right-hand sides share it; the last digits come slowly or
//! not at all (stalls between 1e-8 and 1e-6 are usual), and then the error carries the best point. `W` may be
//! asymmetric: (1) is then a fixed point of the same equations, without the theory.

use super::growth::{self, CERTAIN, Trend};
use super::linear_system::LinearSystem;
use super::proximal::CAREFUL;
use super::scaled::Scaled;
use super::{Configured, SolveError, Solver, SolverInfo, Unsupported, admission};
use crate::options::{at_least_one, positive, within};
use crate::{Certificate, Law, OneStepProblem, OptionError, Options, Reaction};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Residuals that differ by more than this factor move ρ.
const BALANCE: f64 = 10.0;

/// Iterations in which the error must fall by ten per cent: otherwise the method has stalled.
const PATIENCE: usize = 3000;

/// Options of the method of alternating directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct AdmmOptions {
    /// Largest residual that is accepted, relative and scaled [-].
    pub tolerance: f64,
    /// Largest number of iterations [-].
    pub max_iterations: usize,
    /// First penalty ρ, in units of the mean diagonal of W [-].
    pub penalty: f64,
    /// Over-relaxation α, at least 1 and below 2 [-].
    pub relaxation: f64,
}

impl Default for AdmmOptions {
    fn default() -> Self {
        AdmmOptions { tolerance: 1e-10, max_iterations: 20_000, penalty: 1.0, relaxation: 1.5 }
    }
}

impl Options for AdmmOptions {
    fn validate(&self) -> Result<(), OptionError> {
        positive("tolerance", self.tolerance)?;
        positive("penalty", self.penalty)?;
        within("relaxation", self.relaxation, 1.0..2.0)?;
        at_least_one("max-iterations", self.max_iterations)
    }
}

/// The method and its workspace.
pub struct Admm {
    options: AdmmOptions,
    scaled: Scaled,
    system: LinearSystem, // W + ρI
    right: Vec<f64>,      // of (1)
    r: Vec<f64>,
    z: Vec<f64>,
    y: Vec<f64>,
    last: Vec<f64>, // z before (2)
    u: Vec<f64>,    // W z + q
    best: Vec<f64>, // z of the smallest error
    iterations: usize,
    factorisations: usize,
}

impl Configured for Admm {
    type Options = AdmmOptions;
    const INFO: SolverInfo = SolverInfo {
        name: "admm",
        title: "alternating directions with a balanced penalty, one factorisation for many steps",
        laws: "equality, unilateral, box, planar friction, spatial friction",
        accuracy: 1e-10,
        citations: &["boyd2011", "desaxce1998", "acary2018"],
        source: include_str!("admm.rs"),
    };

    fn configure(options: AdmmOptions) -> Self {
        Admm {
            options,
            scaled: Scaled::default(),
            system: LinearSystem::default(),
            right: Vec::new(),
            r: Vec::new(),
            z: Vec::new(),
            y: Vec::new(),
            last: Vec::new(),
            u: Vec::new(),
            best: Vec::new(),
            iterations: 0,
            factorisations: 0,
        }
    }
}

impl Solver for Admm {
    fn info(&self) -> &'static SolverInfo {
        const { &Admm::INFO }
    }

    fn admits(&self, laws: &[Law]) -> Result<(), Unsupported> {
        admission::narrow("admm", laws)
    }

    fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        let w = problem.delassus();
        (self.iterations, self.factorisations) = (0, 0);
        self.admits(problem.laws())?;
        if let Some(certificate) = admission::begin(problem, &w, z)? {
            return Ok(certificate);
        }
        self.scaled.load(problem, &w);
        self.system.analyse(problem, &self.scaled)?;
        self.start(problem, z);
        let diverging = self.alternate();
        self.scaled.export(problem, &self.best, &mut z.lambda);
        growth::conclude(problem, z, self.options.tolerance, self.iterations, diverging)
    }

    fn log(&self) -> String {
        format!("admm {}/{}", self.iterations, self.factorisations)
    }
}

impl Admm {
    /// Sizes the buffers and takes over the guess.
    fn start(&mut self, problem: &OneStepProblem<'_>, z: &Reaction) {
        let n = self.scaled.len();
        for buffer in
            [&mut self.right, &mut self.r, &mut self.z, &mut self.y, &mut self.last, &mut self.u, &mut self.best]
        {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
        self.scaled.import(problem, &z.lambda, &mut self.z);
        self.project();
        self.scaled.velocity(&self.z, &mut self.u);
    }

    /// (1)-(3) until the error is small enough or the iterations are used up; `best` holds the best point. Whether they
    /// diverge.
    fn alternate(&mut self) -> bool {
        let mut penalty = self.options.penalty;
        let (mut least, mut mark) = (f64::INFINITY, (f64::INFINITY, 0));
        // y that would leave z where it is
        for k in 0..self.y.len() {
            self.y[k] = -(self.u[k] + self.shift(k)) / penalty;
        }
        if !self.factor(penalty) {
            return false;
        }
        let (mut test, mut trend) = (10, Trend::default());
        loop {
            let (error, grown) = self.scaled.error(&self.z, &self.u);
            self.scaled.note("admm", self.iterations, error);
            if error < least {
                least = error;
                self.best.copy_from_slice(&self.z);
            }
            if error < 0.9 * mark.0 {
                mark = (error, self.iterations);
            }
            let stalled = self.iterations - mark.1 > PATIENCE;
            let used_up = self.iterations == self.options.max_iterations;
            let diverging = trend.note(error, grown / error) && grown > CERTAIN;
            if (error <= CAREFUL * self.options.tolerance && !diverging) || used_up || stalled {
                return diverging;
            }
            self.iterations += 1;
            for k in 0..self.right.len() {
                self.right[k] = penalty * (self.z[k] - self.y[k]) - self.scaled.q[k] - self.shift(k);
            }
            if !self.system.solve(&self.scaled, &self.right, &mut self.r) {
                return diverging;
            }
            let (primal, dual) = self.iterate(penalty);
            if self.iterations == test {
                // rarer and rarer
                test += test.div_ceil(2);
                let factor = if primal > BALANCE * dual {
                    2.0
                } else if dual > BALANCE * primal {
                    0.5
                } else {
                    continue;
                };
                penalty *= factor;
                self.y.iter_mut().for_each(|y| *y /= factor);
                if !self.factor(penalty) {
                    return diverging;
                }
            }
        }
    }

    /// Entry k of s: De Saxcé's shift on the first row of a law.
    fn shift(&self, k: usize) -> f64 {
        let width = self.scaled.pattern.width;
        if !k.is_multiple_of(width) {
            return 0.0;
        }
        self.scaled.laws[k / width].shift(&self.u[k..])
    }

    /// W + ρI; rows that a law does not have get ρ alone.
    fn factor(&mut self, penalty: f64) -> bool {
        let unit = |x: f64| [x, 0.0, 0.0, 0.0, x, 0.0, 0.0, 0.0, x];
        for block in &mut self.system.diagonal {
            (block.x, block.inverse) = (unit(penalty), unit(1.0 / penalty));
        }
        self.factorisations += 1;
        self.system.factor_shifted(&self.scaled)
    }

    /// (2) and (3); primal and dual residuals.
    fn iterate(&mut self, penalty: f64) -> (f64, f64) {
        let relaxation = self.options.relaxation;
        self.last.copy_from_slice(&self.z);
        for k in 0..self.z.len() {
            let x = relaxation * self.r[k] + (1.0 - relaxation) * self.z[k];
            self.y[k] += x;
            self.z[k] = self.y[k];
        }
        self.project();
        let (mut primal, mut dual) = (0.0, 0.0);
        for k in 0..self.z.len() {
            self.y[k] -= self.z[k];
            primal += (self.r[k] - self.z[k]).powi(2);
            dual += (penalty * (self.z[k] - self.last[k])).powi(2);
        }
        self.scaled.velocity(&self.z, &mut self.u);
        (primal.sqrt(), dual.sqrt())
    }

    /// z onto K, law by law.
    fn project(&mut self) {
        let width = self.scaled.pattern.width;
        for (law, z) in self.scaled.laws.iter().zip(self.z.chunks_mut(width)) {
            let (own, padding) = z.split_at_mut(law.size());
            law.project(own);
            padding.fill(0.0);
        }
    }
}
