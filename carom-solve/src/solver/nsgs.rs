//! Nonsmooth Gauss-Seidel: one law after the other, each solved exactly with the others frozen [jourdan1998, jean1999].
//!
//! ```text
//!     for i = 1, 2, …:   λᵢ ← solution of  λᵢ ∈ Lawᵢ(Wᵢᵢ λᵢ + bᵢ + Σ_{j≠i} Wᵢⱼ λⱼ)          (1)
//! ```
//!
//! Equality, unilateral and box rows have closed forms; planar friction is take-off, stick or one of two slips; spatial
//! friction is take-off, stick, or a slip whose direction solves one equation on the circle, and every single contact is
//! solved for any positive definite block. Over-relaxation moves each law by `ω` times its change, back into its set.
//!
//! The guess is the warm start. After each sweep the relative change `‖Δλ'‖/‖λ'‖` in the scaled variables of the certificate
//! tells whether it pays to certify; besides that the certificate is taken at growing intervals to keep the best point.
//! Sweeps that no longer improve it go round in a cycle: then `ω` is halved, and after the third time the method ends.
//! Convergence is linear; for positive definite `W` without friction it is proven [cottle1992, §5.3], with friction it is
//! observed, unless the coefficient is large [acary2018, acary2008, moreau1988].
//!
//! The default tolerance is 1e-10: two digits below what a time step of relative error 1e-8 can see, and far above what
//! rounding leaves of `W λ + b`.

use super::local::Local;
use super::{Configured, SolveError, Solver, SolverInfo, Unsupported, admission};
use crate::{Certificate, Delassus, Law, OneStepProblem, OptionError, Options, Reaction};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sweeps without a gain of ten per cent that count as a cycle, at least.
const PATIENCE: usize = 300;

/// How often the relaxation is halved to leave a cycle.
const HALVINGS: i32 = 3;

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
}

impl Default for NsgsOptions {
    fn default() -> Self {
        NsgsOptions { tolerance: 1e-10, max_sweeps: 10_000, relaxation: 1.0 }
    }
}

impl Options for NsgsOptions {
    fn validate(&self) -> Result<(), OptionError> {
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return Err(OptionError::new("tolerance", "must be positive and finite"));
        }
        if self.max_sweeps == 0 {
            return Err(OptionError::new("max-sweeps", "must be at least 1"));
        }
        if !(self.relaxation > 0.0 && self.relaxation < 2.0) {
            return Err(OptionError::new("relaxation", "must be between 0 and 2"));
        }
        Ok(())
    }
}

/// The nonsmooth Gauss-Seidel method and its workspace.
pub struct Nsgs {
    options: NsgsOptions,
    local: Vec<Local>, // one per law
    scale: Vec<f64>,   // one per law: its mean diagonal
    relaxation: f64,   // ω of this solve
    best: Vec<f64>,    // (m) the best reactions so far
}

impl Configured for Nsgs {
    type Options = NsgsOptions;
    const INFO: SolverInfo = SolverInfo {
        name: "nsgs",
        title: "nonsmooth Gauss-Seidel with exact local solvers",
        laws: "equality, unilateral, box, planar friction, spatial friction",
        accuracy: 1e-10,
        citations: &["jourdan1998", "jean1999", "moreau1988", "cottle1992", "acary2008", "acary2018"],
        source: include_str!("nsgs.rs"),
    };

    fn configure(options: NsgsOptions) -> Self {
        Nsgs { relaxation: options.relaxation, options, local: Vec::new(), scale: Vec::new(), best: Vec::new() }
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
        self.sweep_up_to(self.options.max_sweeps, problem, z)
    }
}

impl Nsgs {
    /// Solves with another limit on the sweeps than that of the options.
    pub(super) fn sweep_up_to(
        &mut self,
        max_sweeps: usize,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
    ) -> Result<Certificate, SolveError> {
        let w = problem.delassus();
        self.admits(problem.laws())?;
        admission::finite(problem, &w)?;
        if admission::at_rest(problem) {
            z.reset(problem.size());
            return problem.conclude(z, self.options.tolerance, 0);
        }
        self.prepare(problem, &w, z);
        let mut watch = Watch::new(self.options.tolerance);
        let mut sweeps = 0;
        while sweeps < max_sweeps {
            sweeps += 1;
            let change = self.sweep(problem, &w, &mut z.lambda);
            if !watch.wants_certificate(sweeps, change) {
                continue;
            }
            let residual = problem.certify(z).residual;
            if residual < watch.best {
                self.best.copy_from_slice(&z.lambda);
            }
            if residual <= self.options.tolerance || change == 0.0 {
                break;
            }
            if watch.sees_cycle(sweeps, residual) {
                if self.relaxation <= self.options.relaxation * 0.5f64.powi(HALVINGS) {
                    break;
                }
                self.relaxation *= 0.5;
            }
        }
        let last = problem.certify(z).residual;
        if last > watch.best {
            z.lambda.copy_from_slice(&self.best);
        }
        problem.conclude(z, self.options.tolerance, sweeps)
    }

    /// Local solvers, scales and a finite guess of the right length.
    fn prepare(&mut self, problem: &OneStepProblem<'_>, w: &Delassus, z: &mut Reaction) {
        z.lambda.resize(problem.size(), 0.0);
        if !z.lambda.iter().all(|x| x.is_finite()) {
            z.lambda.fill(0.0);
        }
        self.relaxation = self.options.relaxation;
        self.local.clear();
        self.scale.clear();
        for (i, &law) in problem.laws().iter().enumerate() {
            self.local.push(Local::new(law, w.diagonal(i)));
            self.scale.push(w.scale(i));
        }
        self.best.clear();
        self.best.extend_from_slice(&z.lambda);
    }

    /// One pass (1) over all laws; returns the relative change.
    fn sweep(&self, problem: &OneStepProblem<'_>, w: &Delassus, lambda: &mut [f64]) -> f64 {
        let (mut change, mut size) = (0.0, 0.0);
        let (mut frozen, mut next) = ([0.0; 3], [0.0; 3]);
        for (i, local) in self.local.iter().enumerate() {
            let rows = problem.rows(i);
            let (frozen, next) = (&mut frozen[..rows.len()], &mut next[..rows.len()]);
            frozen.copy_from_slice(&problem.b()[rows.clone()]);
            for (j, block) in w.row(i) {
                if j != i {
                    add_product(block, &lambda[w.rows(j)], frozen);
                }
            }
            let own = &mut lambda[rows];
            next.copy_from_slice(own);
            local.solve(frozen, next);
            if self.relaxation != 1.0 {
                for (next, old) in next.iter_mut().zip(&*own) {
                    *next = old + self.relaxation * (*next - old);
                }
                problem.laws()[i].project(next);
            }
            let scale = self.scale[i];
            for (old, next) in own.iter_mut().zip(next) {
                change += scale * (*next - *old) * (*next - *old);
                size += scale * *next * *next;
                *old = *next;
            }
        }
        if change == 0.0 { 0.0 } else { (change / size).sqrt() }
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
}

impl Watch {
    fn new(tolerance: f64) -> Watch {
        let (best, progress) = (f64::INFINITY, f64::INFINITY);
        Watch { tolerance, threshold: tolerance, next: 8, best, progress, gained_at: 0 }
    }

    #[inline]
    fn wants_certificate(&mut self, sweeps: usize, change: f64) -> bool {
        if change <= self.threshold {
            // it was not good enough: the next try at half of it
            self.threshold = 0.5 * change.min(self.tolerance);
            return true;
        }
        if sweeps >= self.next {
            self.next = sweeps + sweeps / 4;
            return true;
        }
        false
    }

    /// Notes a residual; tells whether the sweeps have stopped to help, and begins to count again if so.
    fn sees_cycle(&mut self, sweeps: usize, residual: f64) -> bool {
        self.best = self.best.min(residual);
        if residual < 0.9 * self.progress {
            (self.progress, self.gained_at) = (residual, sweeps);
        }
        let cycle = sweeps - self.gained_at > PATIENCE.max(sweeps / 4);
        if cycle {
            self.gained_at = sweeps;
        }
        cycle
    }
}

/// `out ← out + block x`, unrolled for the usual sizes.
#[inline]
fn add_product(block: &[f64], x: &[f64], out: &mut [f64]) {
    match (block, x, &mut *out) {
        (&[a, b, c, d, e, f, g, h, i], &[x, y, z], [p, q, r]) => {
            *p += a * x + b * y + c * z;
            *q += d * x + e * y + f * z;
            *r += g * x + h * y + i * z;
        }
        (&[a, b, c, d], &[x, y], [p, q]) => {
            *p += a * x + b * y;
            *q += c * x + d * y;
        }
        (&[a], &[x], [p]) => *p += a * x,
        _ => {
            for (o, row) in out.iter_mut().zip(block.chunks(x.len())) {
                *o += row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
            }
        }
    }
}
