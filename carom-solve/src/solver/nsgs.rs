//! Nonsmooth Gauss-Seidel: one law after the other, each solved exactly with the others frozen [jourdan1998, jean1999].
//!
//! ```text
//!     for i = 1, 2, …:   λᵢ ← solution of  λᵢ ∈ Lawᵢ(Wᵢᵢ λᵢ + bᵢ + Σ_{j≠i} Wᵢⱼ λⱼ)          (1)
//! ```
//!
//! Equality, unilateral and box rows have closed forms; planar friction is take-off, stick or one of two slips; spatial
//! friction is take-off, stick, or a slip whose direction solves one equation on the circle, and every single contact
//! is solved for any positive definite block. What else has discs (rolling friction, adhesion, Tresca) goes to one
//! general solver: Newton's method on the function of Alart and Curnier [alart1991], with a bracket of the normal
//! reaction behind it. Over-relaxation moves each law by `ω` times its change, back into its set.
//!
//! The guess is the warm start. After 20 sweeps Anderson acceleration [anderson1965, walker2011] extrapolates from the
//! last eight, which turns thousands of sweeps into hundreds; it is taken back wherever the change of a sweep grows.
//! After each sweep the relative change `‖Δλ'‖/‖λ'‖` in the scaled variables of the certificate tells whether it pays
//! to certify; besides that the certificate is taken at sweeps 1 to 4, then every 4, then every 25 %, and the best
//! point is kept. Sweeps that no longer improve it go round in a cycle: then `ω` is halved, and after the third time
//! the method ends. Convergence is linear; for positive definite `W` without friction it is proven [cottle1992], with
//! friction it is observed, unless the coefficient is large [acary2018, acary2008, moreau1988].
//!
//! The default tolerance is 1e-10: two digits below what a time step of relative error 1e-8 can see, and far above what
//! rounding leaves of `W λ + b`.

use crate::elementary::ln;
mod alone;
mod anderson;
mod blocks;
mod bodies;
mod clusters;
mod colour;
pub(super) mod course;
mod descent;
mod pairs;
mod root;
mod shared;
mod sweep;
mod velocity;

use super::growth::{self, Trend};
use super::{Configured, SolveError, Solver, SolverInfo, Unsupported, admission};
use crate::options::{at_least_one, positive, within};
use crate::{Certificate, Delassus, Law, OneStepProblem, OptionError, Options, Reaction};
use anderson::Anderson;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Bound;
use sweep::{Colours, Sweeper};

/// Sweeps without a gain of ten per cent that count as a cycle, at least.
const PATIENCE: usize = 300;

/// How often the relaxation is halved to leave a cycle.
const HALVINGS: i32 = 3;

/// Sweeps before the acceleration begins: the first ones find who is open, sticks or slips.
const PLAIN: usize = 20;

/// Sweeps after which the rate of convergence is known well enough to predict the rest.
const JUDGED: usize = 28;

/// The residual that predictions aim at.
pub(super) const AIM: f64 = 1e-10;

/// Largest number of threads that may be asked for.
const MOST_THREADS: usize = 256;

/// Options of the nonsmooth Gauss-Seidel method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct NsgsOptions {
    /// Largest residual that is accepted, relative and scaled [-].
    pub tolerance: f64,
    /// Largest number of sweeps over all laws [-].
    pub max_sweeps: usize,
    /// Factor on the change of each law, between 0 and 2; one is plain Gauss-Seidel [-].
    pub relaxation: f64,
    /// Earlier sweeps that Anderson acceleration extrapolates from, up to 16; zero leaves the sweeps alone [-].
    pub memory: usize,
    /// Order of the laws: "sequential" as they come, or "coloured" so that laws which do not see each other may be
    /// solved side by side [-].
    pub sweep: Order,
    /// Threads of coloured sweeps, which do not change the result; zero takes as many as the machine has [-].
    pub threads: usize,
}

/// The order in which a sweep takes the laws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// One law after the other, as the problem lists them.
    #[default]
    Sequential,
    /// Colour after colour; laws of one colour do not see each other.
    Coloured,
}

impl Default for NsgsOptions {
    fn default() -> Self {
        NsgsOptions {
            tolerance: 1e-10,
            max_sweeps: 10_000,
            relaxation: 1.0,
            memory: 8,
            sweep: Order::Sequential,
            threads: 0,
        }
    }
}

impl Options for NsgsOptions {
    fn validate(&self) -> Result<(), OptionError> {
        positive("tolerance", self.tolerance)?;
        at_least_one("max-sweeps", self.max_sweeps)?;
        within("relaxation", self.relaxation, (Bound::Excluded(0.0), Bound::Excluded(2.0)))?;
        within("memory", self.memory, 0..=anderson::LARGEST)?;
        within("threads", self.threads, 0..=MOST_THREADS)
    }
}

/// The nonsmooth Gauss-Seidel method and its workspace.
pub struct Nsgs {
    options: NsgsOptions,
    sweeper: Sweeper,
    anderson: Anderson,
    relaxation: f64, // ω of this solve
    sweeps: usize,   // of this solve
    best: Vec<f64>,  // (m) the best reactions so far
}

impl Configured for Nsgs {
    type Options = NsgsOptions;
    const INFO: SolverInfo = SolverInfo {
        name: "nsgs",
        title: "nonsmooth Gauss-Seidel with exact local solvers",
        laws: "all: equality, unilateral, box, planar and spatial friction, rolling friction, adhesion",
        accuracy: 1e-10,
        citations: &[
            "jourdan1998",
            "jean1999",
            "moreau1988",
            "cottle1992",
            "acary2008",
            "acary2018",
            "anderson1965",
            "walker2011",
        ],
        source: include_str!("nsgs.rs"),
    };

    fn configure(options: NsgsOptions) -> Self {
        let colours = (options.sweep == Order::Coloured).then(|| Colours::new(options.threads));
        Nsgs {
            relaxation: options.relaxation,
            options,
            sweeper: Sweeper::new(colours),
            anderson: Anderson::default(),
            sweeps: 0,
            best: Vec::new(),
        }
    }
}

impl Solver for Nsgs {
    fn info(&self) -> &'static SolverInfo {
        const { &Nsgs::INFO }
    }

    fn admits(&self, laws: &[Law]) -> Result<(), Unsupported> {
        admission::valid("nsgs", laws)
    }

    fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        self.sweep_while(self.options.tolerance, problem, z, &mut |_, _| true)
    }
}

impl Nsgs {
    /// Sweeps of the last solve.
    pub fn sweeps(&self) -> usize {
        self.sweeps
    }

    /// At most so many sweeps, to another tolerance than that of the options.
    pub(super) fn sweep_at_most(
        &mut self,
        most: usize,
        tolerance: f64,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
    ) -> Result<Certificate, SolveError> {
        let limit = std::mem::replace(&mut self.options.max_sweeps, most);
        let result = self.sweep_while(tolerance, problem, z, &mut |_, _| true);
        self.options.max_sweeps = limit;
        result
    }

    /// A few sweeps that other methods start from; a certificate where they solve the problem.
    pub(super) fn first_sweeps(
        &mut self,
        sweeps: usize,
        tolerance: f64,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
    ) -> Option<Certificate> {
        let w = problem.delassus();
        self.prepare(problem, &w, z);
        for sweep in 1..=sweeps {
            self.sweeps = sweep;
            let change = self.sweeper.sweep(problem, &w, self.relaxation, &mut z.lambda);
            // one sweep may be enough
            if sweep == 1 || change <= tolerance {
                let certificate = problem.certify(z);
                problem.note("nsgs", sweep, certificate.residual);
                if growth::accepts_alone(problem, certificate, tolerance) {
                    return Some(certificate);
                }
            }
        }
        None
    }

    /// Solves to another tolerance than that of the options, and asks from sweep to sweep whether to go on: `worth` is
    /// told the sweeps done and those that the rate of convergence predicts.
    pub(super) fn sweep_while(
        &mut self,
        tolerance: f64,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
        worth: &mut dyn FnMut(usize, f64) -> bool,
    ) -> Result<Certificate, SolveError> {
        let w = problem.delassus();
        self.sweeps = 0;
        self.admits(problem.laws())?;
        admission::finite(problem, &w)?;
        if admission::at_rest(problem) {
            z.reset(problem.size());
            return problem.conclude(z, tolerance, 0);
        }
        self.prepare(problem, &w, z);
        let mut watch = Watch::new(tolerance);
        let (mut trend, mut diverging) = (Trend::default(), false);
        while self.sweeps < self.options.max_sweeps {
            self.sweeps += 1;
            let accelerated = self.sweeps > PLAIN && self.options.memory > 0;
            if accelerated {
                self.accelerate_from(problem, &w, &z.lambda);
            }
            let change = self.sweeper.sweep(problem, &w, self.relaxation, &mut z.lambda);
            let due = watch.is_due(self.sweeps);
            if !watch.is_hopeful(change) && !due {
                if accelerated {
                    self.anderson.after(&mut z.lambda, self.sweeper.companion());
                }
                continue;
            }
            let certificate = problem.certify(z);
            let residual = certificate.residual;
            problem.note("nsgs", self.sweeps, residual);
            // looks that are taken because of the tolerance leave nothing behind: what is decided does not depend on it
            let mut seen = trend;
            diverging = seen.note(residual, certificate.size());
            if growth::accepts(problem, certificate, tolerance, diverging) {
                return Ok(certificate);
            }
            if change == 0.0 {
                break;
            }
            if due {
                trend = seen;
                if residual < watch.best {
                    self.best.copy_from_slice(&z.lambda);
                    watch.best = residual;
                }
            }
            if due && watch.sees_cycle(self.sweeps, residual) {
                if self.relaxation <= self.options.relaxation * 0.5f64.powi(HALVINGS) {
                    break;
                }
                self.relaxation *= 0.5;
                self.anderson.restart();
            }
            if accelerated {
                self.anderson.after(&mut z.lambda, self.sweeper.companion());
            }
            if due && self.sweeps >= JUDGED && !worth(self.sweeps, watch.remaining()) {
                break;
            }
        }
        // the last point may be an extrapolated one
        let last = problem.certify(z).residual;
        problem.note("nsgs", self.sweeps, last);
        if last > watch.best {
            z.lambda.copy_from_slice(&self.best);
        }
        growth::conclude(problem, z, tolerance, self.sweeps, diverging)
    }

    /// Notes the point before a sweep; the first time it makes room for the differences.
    fn accelerate_from(&mut self, problem: &OneStepProblem<'_>, w: &Delassus, lambda: &[f64]) {
        if self.sweeps == PLAIN + 1 {
            let roots = problem.laws().iter().zip(w.scales()).flat_map(|(law, scale)| {
                let root = scale.sqrt();
                (0..law.size()).map(move |_| root)
            });
            self.anderson.prepare(self.options.memory, roots, self.sweeper.companion().len());
        }
        self.anderson.before(lambda);
    }

    /// Local solvers, scales and a finite guess of the right length.
    fn prepare(&mut self, problem: &OneStepProblem<'_>, w: &Delassus, z: &mut Reaction) {
        z.lambda.resize(problem.size(), 0.0);
        if !z.lambda.iter().all(|x| x.is_finite()) {
            z.lambda.fill(0.0);
        }
        self.relaxation = self.options.relaxation;
        self.sweeper.prepare(problem, w);
        self.best.clear();
        self.best.extend_from_slice(&z.lambda);
    }
}

/// When to certify, and when to change something.
struct Watch {
    tolerance: f64,
    threshold: f64, // change below which the certificate may be good enough
    next: usize,    // sweep of the next certificate in any case
    best: f64,      // smallest residual so far
    progress: f64,  // residual at the last gain of ten per cent
    gained_at: usize,
    history: [(usize, f64); 3], // the last certificates: sweep and residual
}

impl Watch {
    fn new(tolerance: f64) -> Watch {
        let (best, progress) = (f64::INFINITY, f64::INFINITY);
        Watch {
            tolerance,
            threshold: tolerance,
            next: 1,
            best,
            progress,
            gained_at: 0,
            history: [(0, f64::INFINITY); 3],
        }
    }

    /// Whether so small a change tells that the tolerance may be met.
    #[inline]
    fn is_hopeful(&mut self, change: f64) -> bool {
        let hopeful = change <= self.threshold;
        if hopeful {
            // where it is not good enough: the next try at half of it
            self.threshold = 0.5 * change.min(self.tolerance);
        }
        hopeful
    }

    /// Whether the certificate is taken after this sweep in any case.
    #[inline]
    fn is_due(&mut self, sweeps: usize) -> bool {
        let due = sweeps >= self.next;
        if due {
            // one sweep may be enough; after that a solution shows in the change of the sweep that follows
            self.next = if sweeps < 4 { 4 } else { sweeps + (sweeps / 4).max(4) };
        }
        due
    }

    /// Notes a residual; tells whether the sweeps have stopped to help, and begins to count again if so.
    fn sees_cycle(&mut self, sweeps: usize, residual: f64) -> bool {
        self.history.rotate_left(1);
        self.history[2] = (sweeps, residual);
        if residual < 0.9 * self.progress {
            (self.progress, self.gained_at) = (residual, sweeps);
        }
        let cycle = sweeps - self.gained_at > PATIENCE.max(sweeps / 4);
        if cycle {
            self.gained_at = sweeps;
        }
        cycle
    }

    /// Sweeps that the rate between the last certificates leaves to 1e-10, whatever the tolerance.
    fn remaining(&self) -> f64 {
        let [(first, before), _, (last, now)] = self.history;
        let rate = ln(before / now) / (last - first) as f64;
        if rate > 0.0 { ln(now / AIM) / rate } else { f64::INFINITY }
    }
}

#[cfg(test)]
mod tests;
