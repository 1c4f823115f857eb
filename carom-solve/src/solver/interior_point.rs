//! Interior-point method for frictional contact: a primal-dual Newton path through the cones, with the shift of De
//! Saxcé kept inside the equations [desaxce1998, wright1997, acary2018].
//!
//! In the hat variables `r̂ = (μ r_N, r_T)`, `û = (u_N/μ + ‖u_T‖, u_T)` both sides of Coulomb's law lie in the cone
//! `x_0 ≥ ‖x_1‖`, and with the arrow product `r̂ ∘ û = (r̂·û, r̂_0 û_1 + û_0 r̂_1)` the law is `r̂ ∘ û = 0`. Newton's
//! method on
//!
//! ```text
//!     û = P (W r + q) + ‖û_T‖ e,   P = diag(1/μ, 1, 1),   e = (1, 0, 0)                            (1)
//!     r̂ ∘ û = σ γ e,   γ = mean of r̂·û                                                           (2)
//! ```
//!
//! takes the exact derivative of `‖û_T‖`. Eliminating `Δû` leaves one system, factored in the space of contacts or of
//! velocities,
//!
//! ```text
//!     (W + P⁻¹ E A(r̂)⁻¹ A(û) P⁻¹) Δr = P⁻¹ (F₁ − E A(r̂)⁻¹ F₂),   E = I − e tᵀ,   t = (0, û_T/‖û_T‖)    (3)
//! ```
//!
//! with the arrow matrices `A`. After a step that was cut short, below 0.03, `t = 0` is taken until steps are longer
//! than a half again: with the curvature of `‖û_T‖` left out the path goes on where it had jammed. One common step
//! keeps 0.99 of the distance to the boundary; `σ` follows the last step: 0.1 after steps above 0.9, then 0.25, 0.5 and
//! 0.9. Unilateral rows are cones of one dimension, boxes have one barrier for each finite bound, equalities none, and
//! contacts without friction are unilateral rows whose tangential reaction is zero.
//!
//! Large problems of the default solver begin with normal reactions of the size that contacts have which all stick, in
//! the least-squares sense: from small ones the path of a tower takes hundreds of steps, from these ten. Where bodies
//! are nearly at rest the path without the shift comes first, `û = P (W r + q)`: that of a convex problem, whose
//! solution is one of the contacts if nothing slips.
//!
//! Where friction lets the path turn back, long steps jam: it is then followed once more, closely, with `σ ≥ 0.7` and
//! 0.8 of the distance to the boundary, which takes more steps and gets further.
//!
//! The guess is not used: a point near the boundary is a bad start of a path through the interior. Near the end the
//! matrix loses digits, and with large coefficients or redundant contacts the path may end early; so at an error of
//! 1e-6, or where the path ends, proximal Newton steps take over (see `proximal`), which need a few more
//! factorisations. The option `finish = "path"` does without them.

use super::deadline::Deadline;
use super::growth::{self, CERTAIN, HUGE, Trend};
use super::linear_system::LinearSystem;
use super::proximal::{CAREFUL, Effort, Limits, Rounds};
use super::scaled::Scaled;
use super::{Configured, SolveError, Solver, SolverInfo, Unsupported, admission};
use crate::options::{at_least_one, positive};
use crate::{Certificate, Law, OneStepProblem, OptionError, Options, Reaction, Shape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod barrier;

use barrier::{Barrier, Bend};

/// Steps shorter than this end the path.
const SHORTEST: f64 = 1e-10;

/// Steps shorter than this are followed by one with `‖û_T‖` frozen in the derivatives,
const FREEZE: f64 = 0.03;

/// and so on until a step is longer than this.
const THAW: f64 = 0.5;

/// Steps of a path at most.
const LONGEST: usize = 120;

/// Error at which the proximal Newton steps take over.
const HANDOVER: f64 = 1e-6;

/// Newton steps that are granted to them in any case.
const NEAR: usize = 60;

/// Proximal weight of their first step.
const WEIGHT: f64 = 1e-6;

/// Weight on the diagonal where contacts are made to stick.
const STICKING: f64 = 1e-8;

/// Velocities of slip, relative to those that drive the problem, of bodies that are nearly at rest.
const AT_REST: f64 = 0.1;

/// Factor on the tolerance where its point is refused, and the smallest one.
const CLOSER: f64 = 1e-2;
const LEAST: f64 = 1e-13;

/// How closely the path is followed.
#[derive(Clone, Copy)]
struct Pace {
    centring: f64,   // least σ
    keep: f64,       // part of the distance to the boundary,
    keep_last: f64,  // and at small gaps
    patience: usize, // steps in which the error must fall to a half: where it does not, the path is jammed
    bend: Bend,      // of the equations, where steps are long
    missed: f64,     // largest ‖F‖ where others take over, relative to what drives the problem
}

/// A few long steps.
const FAST: Pace =
    Pace { centring: 0.0, keep: 0.99, keep_last: 0.999, patience: 25, bend: Bend::Full, missed: f64::INFINITY };

/// Where these jam.
const CLOSE: Pace =
    Pace { centring: 0.7, keep: 0.8, keep_last: 0.8, patience: 25, bend: Bend::Full, missed: f64::INFINITY };

/// Where reactions may be large, so that errors relative to them tell little.
const FAR: Pace = Pace { missed: 0.01 * CERTAIN, ..FAST };

/// Where bodies are at rest besides.
const STRAIGHT: Pace = Pace { patience: 6, bend: Bend::None, ..FAR };

/// How the last digits are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    /// Proximal Newton steps.
    #[default]
    Proximal,
    /// The path itself, as far as it goes.
    Path,
}

/// Options of the interior-point method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct InteriorPointOptions {
    /// Largest residual that is accepted, relative and scaled [-].
    pub tolerance: f64,
    /// Largest number of Newton steps in all, one factorisation each; at most 240 of them are on the path [-].
    pub max_iterations: usize,
    /// How the last digits are found: `proximal` Newton steps, or the `path` alone [-].
    pub finish: Finish,
}

impl Default for InteriorPointOptions {
    fn default() -> Self {
        InteriorPointOptions { tolerance: 1e-10, max_iterations: 5_000, finish: Finish::Proximal }
    }
}

impl Options for InteriorPointOptions {
    fn validate(&self) -> Result<(), OptionError> {
        positive("tolerance", self.tolerance)?;
        at_least_one("max-iterations", self.max_iterations)
    }
}

/// The interior-point method and its workspace.
pub struct InteriorPoint {
    options: InteriorPointOptions,
    scaled: Scaled,
    path: Path,
    rounds: Rounds,
    steps: usize, // on the path of the last solve
}

impl Configured for InteriorPoint {
    type Options = InteriorPointOptions;
    const INFO: SolverInfo = SolverInfo {
        name: "interior-point",
        title: "interior-point method on the De Saxcé form, one sparse factorisation per step",
        laws: "equality, unilateral, box, planar friction, spatial friction",
        accuracy: 1e-10,
        citations: &["desaxce1998", "wright1997", "acary2018"],
        source: include_str!("interior_point.rs"),
    };

    fn configure(options: InteriorPointOptions) -> Self {
        InteriorPoint { options, scaled: Scaled::default(), path: Path::default(), rounds: Rounds::default(), steps: 0 }
    }
}

impl Solver for InteriorPoint {
    fn info(&self) -> &'static SolverInfo {
        const { &InteriorPoint::INFO }
    }

    fn admits(&self, laws: &[Law]) -> Result<(), Unsupported> {
        admission::known("interior-point", laws, |law| law.shape() != Shape::General)
    }

    fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        let w = problem.delassus();
        self.admits(problem.laws())?;
        if let Some(certificate) = admission::begin(problem, &w, z)? {
            return Ok(certificate);
        }
        self.begin(problem)?;
        let InteriorPointOptions { tolerance, max_iterations, finish } = self.options;
        let handover = if finish == Finish::Path { tolerance } else { tolerance.max(HANDOVER) };
        let path = Limits { tolerance: handover, max_iterations: max_iterations.min(LONGEST) };
        let mut iterations = self.path.follow(&self.scaled, self.rounds.system(), path, FAST, 0.0);
        if self.path.error > handover {
            let left = max_iterations.saturating_sub(iterations);
            let path = Limits { max_iterations: left.min(LONGEST), ..path };
            iterations += self.path.follow(&self.scaled, self.rounds.system(), path, CLOSE, 0.0);
        }
        self.steps = iterations;
        let left = max_iterations.saturating_sub(iterations);
        let finish = (finish == Finish::Proximal).then_some((Some(WEIGHT), left));
        self.finish(problem, z, tolerance, finish)
    }

    fn log(&self) -> String {
        let effort = self.rounds.effort;
        match effort.newton {
            0 => format!("interior-point {}", self.steps),
            newton => format!("interior-point {}, proximal {}/{newton}", self.steps, effort.proximal),
        }
    }
}

impl InteriorPoint {
    /// From the best point of the path to the end: proximal steps where some are granted, with the first weight.
    fn finish(
        &mut self,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
        tolerance: f64,
        proximal: Option<(Option<f64>, usize)>,
    ) -> Result<Certificate, SolveError> {
        let (mut best, mut diverging) = (&self.path.best, self.path.diverging);
        if let Some((weight, max_iterations)) = proximal.filter(|_| self.path.error > CAREFUL * tolerance) {
            self.rounds.centre.copy_from_slice(&self.path.best);
            self.rounds.run(&self.scaled, weight, Limits { tolerance, max_iterations });
            (best, diverging) = (&self.rounds.best, self.rounds.diverging);
        }
        self.scaled.export(problem, best, &mut z.lambda);
        growth::conclude(problem, z, tolerance, self.steps + self.rounds.effort.newton, diverging)
    }

    /// Prepares a problem that needs reactions.
    fn begin(&mut self, problem: &OneStepProblem<'_>) -> Result<(), SolveError> {
        self.admits(problem.laws())?;
        self.scaled.load(problem, &problem.delassus());
        self.path.prepare(&self.scaled);
        self.steps = 0;
        self.rounds.prepare(problem, &self.scaled)
    }

    /// The path with long steps alone, from reactions of the size that sticking contacts have, and proximal steps only
    /// where it leads near a solution: `z` gets its point, also where that is no solution. Where `z` hardly slips, the
    /// straight path comes first; `again` allows another one from small reactions.
    pub(super) fn start(
        &mut self,
        tolerance: f64,
        (steps, again): (usize, bool),
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
    ) -> Result<Certificate, SolveError> {
        self.begin(problem)?;
        // as long as the error falls it goes on
        let limits = Limits { tolerance: tolerance.max(HANDOVER), max_iterations: steps.min(3 * LONGEST) };
        let size = self.path.size_of_reactions(&self.scaled, self.rounds.system());
        let mut legs: [Option<(Pace, f64)>; 3] = [None, Some((FAR, size)), again.then_some((FAR, 0.0))];
        if is_nearly_at_rest(problem, z) {
            legs[0] = Some((STRAIGHT, size));
        }
        for (pace, size) in legs.into_iter().flatten() {
            if self.path.error > limits.tolerance {
                self.steps += self.path.follow(&self.scaled, self.rounds.system(), limits, pace, size);
            }
        }
        let near = self.path.error <= limits.tolerance;
        let proximal = near.then_some((Some(WEIGHT), steps.max(NEAR)));
        let mut result = self.finish(problem, z, tolerance, proximal);
        // where the error is small beside large reactions only, points that are closer are beyond doubt
        let mut aim = tolerance;
        while near
            && aim > LEAST
            && matches!(&result, Err(error) if error.certificate().is_some_and(|c| c.residual <= aim))
        {
            aim *= CLOSER;
            result = self.finish(problem, z, aim, proximal);
        }
        result
    }

    /// The path followed closely, then proximal steps from the better one of its point and the guess.
    pub(super) fn persist(
        &mut self,
        tolerance: f64,
        steps: usize,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
    ) -> Result<Certificate, SolveError> {
        self.begin(problem)?;
        let limits = Limits { tolerance: tolerance.max(HANDOVER), max_iterations: steps.min(LONGEST) };
        self.steps = self.path.follow(&self.scaled, self.rounds.system(), limits, CLOSE, 0.0);
        let better = self.path.offer(&self.scaled, problem, &z.lambda);
        let weight = if better { None } else { Some(WEIGHT) };
        self.finish(problem, z, tolerance, Some((weight, steps.saturating_sub(self.steps))))
    }

    /// What the last solve took: steps on the path, and the proximal ones.
    pub fn effort(&self) -> (usize, Effort) {
        (self.steps, self.rounds.effort)
    }

    /// Ends the next solves by the clock.
    pub(super) fn until(&mut self, deadline: Deadline) {
        (self.path.deadline, self.rounds.deadline) = (deadline, deadline);
    }

    /// Limits the Newton steps of the next solves.
    pub fn limit(&mut self, max_iterations: usize) {
        self.options.max_iterations = max_iterations.max(1);
    }

    /// Multiplications of one factorisation for this problem: what a step costs. The analysis is kept for the solve.
    pub fn multiplications(&mut self, problem: &OneStepProblem<'_>) -> Result<f64, SolveError> {
        self.scaled.load(problem, &problem.delassus());
        let system = self.rounds.system();
        system.analyse(problem, &self.scaled)?;
        Ok(system.multiplications())
    }
}

/// Whether contacts hardly slip at the reactions in `z`: ‖u_T'‖ beside ‖b'‖.
pub(super) fn is_nearly_at_rest(problem: &OneStepProblem<'_>, z: &mut Reaction) -> bool {
    z.lambda.resize(problem.size(), 0.0);
    problem.certify(z);
    let w = problem.delassus();
    let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    let (mut slip, mut driving) = (0.0, 0.0);
    for (i, law) in problem.laws().iter().enumerate() {
        let rows = problem.rows(i);
        let scale = w.scale(i);
        driving += square(&problem.b()[rows.clone()]) / scale;
        if matches!(law.shape(), Shape::Cone1 { .. } | Shape::Cone2 { .. }) {
            slip += square(&z.u[rows.start + 1..rows.end]) / scale;
        }
    }
    slip <= AT_REST * AT_REST * driving
}

/// The path through the interior, in scaled variables.
#[derive(Default)]
pub(super) struct Path {
    barrier: Vec<Barrier>, // (laws) reactions and dual variables of each law
    r: Vec<f64>,           // reactions
    u: Vec<f64>,           // W r + q
    right: Vec<f64>,       // right-hand side of (3)
    step: Vec<f64>,        // Δr
    response: Vec<f64>,    // W Δr
    pub best: Vec<f64>,    // reactions of the smallest error
    pub error: f64,        // that error
    trend: Trend,
    deadline: Deadline,
    diverging: bool, // whether the last error is small only because the reactions are large
}

impl Path {
    /// Mean size of the reactions that would make all contacts stick, in the least-squares sense; zero where there is
    /// none.
    fn size_of_reactions(&mut self, scaled: &Scaled, system: &mut LinearSystem) -> f64 {
        for block in &mut system.diagonal {
            (block.x, block.inverse) = ([0.0; 9], [0.0; 9]);
            for k in [0, 4, 8] {
                (block.x[k], block.inverse[k]) = (STICKING, 1.0 / STICKING);
            }
        }
        self.right.iter_mut().zip(&scaled.q).for_each(|(right, q)| *right = -q);
        if !system.factor_shifted(scaled) || !system.solve(scaled, &self.right, &mut self.step) {
            return 0.0;
        }
        let size = (self.step.iter().map(|x| x * x).sum::<f64>() / scaled.laws.len() as f64).sqrt();
        if size.is_finite() { size } else { 0.0 }
    }

    /// Takes over other reactions where their error is smaller.
    fn offer(&mut self, scaled: &Scaled, problem: &OneStepProblem<'_>, lambda: &[f64]) -> bool {
        scaled.import(problem, lambda, &mut self.r);
        scaled.velocity(&self.r, &mut self.u);
        let error = scaled.error(&self.r, &self.u).0;
        let better = error < self.error;
        if better {
            self.best.copy_from_slice(&self.r);
            (self.error, self.diverging) = (error, false);
        }
        better
    }

    /// Sizes the buffers.
    pub fn prepare(&mut self, scaled: &Scaled) {
        let n = scaled.len();
        for buffer in [&mut self.r, &mut self.u, &mut self.right, &mut self.step, &mut self.response, &mut self.best] {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
        self.error = f64::INFINITY;
        (self.trend, self.diverging) = (Trend::default(), false);
    }

    /// Follows the path until the error is below the tolerance, or no further, from normal reactions of this size at
    /// least. The number of steps.
    fn follow(&mut self, scaled: &Scaled, system: &mut LinearSystem, limits: Limits, pace: Pace, size: f64) -> usize {
        let width = scaled.pattern.width;
        let start = 1.0 / (scaled.laws.len() as f64).sqrt();
        self.barrier.clear();
        self.barrier.extend(scaled.laws.iter().map(|law| Barrier::new(*law, start)));
        self.barrier.iter_mut().for_each(|barrier| barrier.enlarge(size));
        let mut halved = (f64::INFINITY, 0); // error when it last fell to a half, and the step
        let (mut last, mut bend, mut iteration) = (0.5, pace.bend, 0);
        loop {
            for (barrier, r) in self.barrier.iter().zip(self.r.chunks_mut(width)) {
                barrier.reaction(r);
            }
            scaled.velocity(&self.r, &mut self.u);
            let (error, grown) = scaled.error(&self.r, &self.u);
            scaled.note("interior-point", iteration, error);
            self.diverging = self.trend.note(error, grown / error);
            if error < self.error {
                self.error = error;
                self.best.copy_from_slice(&self.r);
            }
            if error < 0.5 * halved.0 {
                halved = (error, iteration);
            }
            // where its point would be refused the path goes on: a loose tolerance does not lead elsewhere
            let sure = grown <= CERTAIN || !(self.diverging || grown > HUGE * error);
            let close = limits.tolerance > HANDOVER || grown <= pace.missed;
            if (error <= CAREFUL * limits.tolerance && sure && close)
                || iteration == limits.max_iterations
                || last < SHORTEST
                || iteration - halved.1 > pace.patience
                || !error.is_finite()
                || self.deadline.is_over()
            {
                return iteration;
            }
            iteration += 1;
            let gap = self.gap();
            let aim = gap * centring(last).max(pace.centring);
            // a step that ends at once was led astray by the curvature of ‖û_T‖
            if last > THAW {
                bend = pace.bend;
            } else if last < FREEZE && bend == Bend::Full {
                bend = Bend::Frozen;
            }
            if !self.direction(scaled, system, aim, bend) {
                return iteration;
            }
            let keep = if gap < 1e-6 { pace.keep_last } else { pace.keep };
            last = self.advance(keep);
        }
    }

    /// Mean product of reactions and dual variables over the barriers.
    fn gap(&self) -> f64 {
        let (sum, count) = self.barrier.iter().fold((0.0, 0.0), |(sum, count), b| (sum + b.gap(), count + b.count()));
        if count > 0.0 { sum / count } else { 0.0 }
    }

    /// Solves (3), and finds the step of the dual variables.
    fn direction(&mut self, scaled: &Scaled, system: &mut LinearSystem, aim: f64, bend: Bend) -> bool {
        let width = scaled.pattern.width;
        for (i, barrier) in self.barrier.iter_mut().enumerate() {
            let rows = i * width..(i + 1) * width;
            let side = barrier.eliminate(&self.u[rows.clone()], aim, bend);
            (system.diagonal[i].x, system.diagonal[i].inverse) = (side.block, side.inverse);
            self.right[rows].copy_from_slice(&side.right[..width]);
        }
        if !system.factor_shifted(scaled) || !system.solve(scaled, &self.right, &mut self.step) {
            return false;
        }
        self.response.fill(0.0);
        scaled.pattern.add_mul(&scaled.value, &self.step, &mut self.response);
        let parts = self.step.chunks(width).zip(self.response.chunks(width));
        for (barrier, (step, response)) in self.barrier.iter_mut().zip(parts) {
            barrier.set_step(step, response, aim, bend);
        }
        true
    }

    /// Moves all laws by one common step; its length.
    fn advance(&mut self, keep: f64) -> f64 {
        let longest = self.barrier.iter().map(Barrier::longest).fold(f64::INFINITY, f64::min);
        let length = (keep * longest).min(1.0);
        // written so that a NaN moves nothing
        if length > 0.0 {
            for barrier in &mut self.barrier {
                barrier.advance(length);
            }
            return length;
        }
        0.0
    }
}

/// σ after a step of this length.
fn centring(last: f64) -> f64 {
    match last {
        x if x > 0.9 => 0.1,
        x if x > 0.5 => 0.25,
        x if x > 0.1 => 0.5,
        _ => 0.9,
    }
}
