//! Convergence studies: the same model under several schemes and steps, against a closed form or a finer run.
//!
//! Each level takes `grids` neighbouring numbers of steps and reports geometric means: with impacts a single grid
//! scatters by a factor of three, because an impact may or may not fall into the right step [acary2009].

use carom::elementary::{exp, ln};
mod reference;
mod work;

pub use reference::{Computed, Reference};
pub use work::{WORKS, Work};

use crate::error::{
    Graph, HausdorffOptions, MeasureError, Slope, Weights, geometric_mean, hausdorff, log_log_slope, norms,
};
use crate::study::exact;
use carom::simulation::Statistics;
use carom::{Simulation, Solution, Stepper};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Errors of positions or velocities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Errors {
    /// Integral of the error over time.
    #[serde(with = "exact")]
    pub l1: f64,
    /// Root of the integral of the squared error.
    #[serde(with = "exact")]
    pub l2: f64,
    /// Largest error.
    #[serde(with = "exact")]
    pub sup: f64,
    /// Hausdorff distance of filled-in graphs, certified to 2 % of a step and to 5 % of the largest error of positions,
    /// but not finer than 1e-7 of the span.
    #[serde(with = "exact")]
    pub hausdorff: f64,
}

/// Finest tolerance of Hausdorff distances, relative to the span.
const FINEST: f64 = 1e-7;

/// The norms in the order of tables.
pub const NORMS: [&str; 4] = ["l1", "l2", "sup", "hausdorff"];

impl Errors {
    /// No error is known: no grid could be run.
    pub const NONE: Errors = Errors { l1: f64::NAN, l2: f64::NAN, sup: f64::NAN, hausdorff: f64::NAN };

    /// The error in one of the [`NORMS`]; any other name gives the Hausdorff distance.
    pub fn get(&self, norm: &str) -> f64 {
        match norm {
            "l1" => self.l1,
            "l2" => self.l2,
            "sup" => self.sup,
            _ => self.hausdorff,
        }
    }

    fn mean(all: &[Errors]) -> Errors {
        let mean = |f: fn(&Errors) -> f64| {
            let values: Vec<f64> = all.iter().map(f).collect();
            // errors of zero have no logarithm: all zero is zero, some zero are left out
            if values.iter().all(|x| *x == 0.0) { 0.0 } else { geometric_mean(&values).value }
        };
        Errors { l1: mean(|e| e.l1), l2: mean(|e| e.l2), sup: mean(|e| e.sup), hausdorff: mean(|e| e.hausdorff) }
    }
}

/// One step size, or one tolerance, of one scheme.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Mean step of the grids [s].
    #[serde(with = "exact")]
    pub step: f64,
    /// Tolerance of adaptive steps.
    pub tolerance: Option<f64>,
    /// Numbers of steps of the grids that were run.
    pub grids: Vec<usize>,
    /// Errors of positions, geometric means over the grids.
    pub q: Errors,
    /// Zero in first-order systems, which have no velocities.
    pub v: Errors,
    /// One-step problems solved per run, mean; this and the next three count rejected steps as well.
    pub solves: f64,
    /// Linearised steps solved per run (Newton iterations), mean.
    pub iterations: f64,
    /// Evaluations of the right-hand side per run, mean.
    pub evaluations: f64,
    /// Wall time per run, mean [s].
    pub seconds: f64,
    /// Grids that failed, with the reason of the first.
    pub failed: Option<(usize, String)>,
}

impl Level {
    /// A level of which no run is there.
    pub fn failed(step: f64, tolerance: Option<f64>, runs: usize, reason: String) -> Level {
        let failed = Some((runs, reason));
        let (solves, iterations, evaluations, seconds) = (0.0, 0.0, 0.0, 0.0);
        let (q, v) = (Errors::NONE, Errors::NONE);
        Level { step, tolerance, grids: Vec::new(), q, v, solves, iterations, evaluations, seconds, failed }
    }
}

/// One scheme over all steps, or over all tolerances.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Study {
    /// Name of the scheme.
    pub scheme: String,
    /// One for each step size or tolerance.
    pub levels: Vec<Level>,
}

impl Study {
    /// The fitted order in a norm, of positions (`'q'`) or velocities (`'v'`): the power of the step, or of the
    /// tolerance.
    pub fn order(&self, of: char, norm: &str) -> Result<Slope, MeasureError> {
        let steps: Vec<f64> = self.levels.iter().map(|l| l.tolerance.unwrap_or(l.step)).collect();
        let errors: Vec<f64> = self.levels.iter().map(|l| if of == 'q' { l.q } else { l.v }.get(norm)).collect();
        log_log_slope(&steps, &errors)
    }
}

/// Which steps to take.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Start of all runs [s].
    pub start: f64,
    /// End of all runs [s].
    pub end: f64,
    /// Mean number of steps of each level, rising.
    pub counts: Vec<usize>,
    /// Neighbouring grids per level.
    pub grids: usize,
    /// Numbers of steps divisible by this are skipped: impacts that fall on grid points make results a matter of
    /// rounding.
    pub skip_multiples_of: Option<usize>,
}

impl Plan {
    /// `levels` numbers of steps between the step sizes `coarse` and `fine`, equally spaced in the logarithm.
    pub fn between(span: (f64, f64), coarse: f64, fine: f64, levels: usize, grids: usize) -> Plan {
        let length = span.1 - span.0;
        let ratio = ln(coarse / fine) / (levels.max(2) - 1) as f64;
        let mut counts: Vec<usize> =
            (0..levels).map(|k| (length / (coarse * exp(-ratio * k as f64))).round().max(1.0) as usize).collect();
        counts.dedup();
        Plan { start: span.0, end: span.1, counts, grids: grids.max(1), skip_multiples_of: None }
    }

    /// The numbers of steps of one level: `grids` of them around the mean one.
    pub fn grids_of(&self, count: usize) -> Vec<usize> {
        let first = count.saturating_sub(self.grids / 2).max(1);
        (first..).filter(|n| self.skip_multiples_of.is_none_or(|k| !n.is_multiple_of(k))).take(self.grids).collect()
    }

    /// The step of so many of them [s].
    pub fn step(&self, steps: usize) -> f64 {
        (self.end - self.start) / steps as f64
    }
}

/// Runs a scheme over all levels of a plan. `make` builds a simulation with the given step, ready to run to the end of
/// the plan.
pub fn study<E: std::fmt::Display>(
    scheme: &str,
    plan: &Plan,
    reference: &Reference<'_>,
    mut make: impl FnMut(f64) -> Result<Simulation, E>,
) -> Result<Study, MeasureError> {
    let levels = plan.counts.iter().map(|&count| level(plan, count, reference, &mut make)).collect::<Result<_, _>>()?;
    Ok(Study { scheme: scheme.to_owned(), levels })
}

/// Runs a scheme over the grids of one level.
pub fn level<E: std::fmt::Display>(
    plan: &Plan,
    count: usize,
    reference: &Reference<'_>,
    mut make: impl FnMut(f64) -> Result<Simulation, E>,
) -> Result<Level, MeasureError> {
    let mut runs = Runs::default();
    for steps in plan.grids_of(count) {
        let h = plan.step(steps);
        runs.add(steps, || make(h), |solution, stepper| measure(solution, stepper, reference, h))?;
    }
    let steps: Vec<f64> = runs.grids.iter().map(|&n| plan.step(n)).collect();
    let step = if steps.is_empty() { plan.step(count) } else { geometric_mean(&steps).value };
    Ok(runs.level(step, None))
}

/// Runs a scheme with adaptive steps over tolerances. `make` builds a simulation with the given one.
pub fn study_tolerances<E: std::fmt::Display>(
    scheme: &str,
    tolerances: &[f64],
    reference: &Reference<'_>,
    mut make: impl FnMut(f64) -> Result<Simulation, E>,
) -> Result<Study, MeasureError> {
    let levels = tolerances.iter().map(|&tolerance| level_of_tolerance(tolerance, reference, &mut make));
    Ok(Study { scheme: scheme.to_owned(), levels: levels.collect::<Result<_, _>>()? })
}

/// Runs a scheme with adaptive steps to one tolerance.
pub fn level_of_tolerance<E: std::fmt::Display>(
    tolerance: f64,
    reference: &Reference<'_>,
    make: impl FnOnce(f64) -> Result<Simulation, E>,
) -> Result<Level, MeasureError> {
    let mut runs = Runs::default();
    let mut step = f64::NAN;
    runs.add(
        0,
        || make(tolerance),
        |solution, stepper| {
            let steps = solution.len().saturating_sub(1).max(1) as f64;
            step = (solution.t.last().unwrap_or(&0.0) - solution.t.first().unwrap_or(&0.0)) / steps;
            measure_adaptive(solution, stepper, reference)
        },
    )?;
    Ok(runs.level(step, Some(tolerance)))
}

/// The runs of one level.
#[derive(Default)]
struct Runs {
    grids: Vec<usize>,
    q: Vec<Errors>,
    v: Vec<Errors>,
    total: [f64; 4], // solves, iterations, evaluations, seconds
    failures: Vec<String>,
}

impl Runs {
    /// Runs and measures once; `steps` is the number of steps, or 0 where it is not known before.
    fn add<E: std::fmt::Display>(
        &mut self,
        steps: usize,
        make: impl FnOnce() -> Result<Simulation, E>,
        measure: impl FnOnce(&Solution, &dyn Stepper) -> Result<(Errors, Errors), MeasureError>,
    ) -> Result<(), MeasureError> {
        let clock = Instant::now();
        let record = |mut run: Simulation| run.record().map(|solution| (solution, run)).map_err(|e| e.to_string());
        match make().map_err(|e| e.to_string()).and_then(record) {
            Ok((solution, mut run)) => {
                let Statistics { solves, iterations, evaluations, .. } = solution.statistics;
                let work = [solves as f64, iterations as f64, evaluations as f64, clock.elapsed().as_secs_f64()];
                self.total.iter_mut().zip(work).for_each(|(sum, x)| *sum += x);
                let (q, v) = measure(&solution, run.stepper())?;
                self.q.push(q);
                self.v.push(v);
                self.grids.push(if steps == 0 { solution.statistics.steps as usize } else { steps });
            }
            Err(reason) => self.failures.push(reason),
        }
        Ok(())
    }

    fn level(self, step: f64, tolerance: Option<f64>) -> Level {
        let runs = self.grids.len().max(1) as f64;
        let [solves, iterations, evaluations, seconds] = self.total.map(|sum| sum / runs);
        let empty = self.grids.is_empty();
        Level {
            step,
            tolerance,
            q: if empty { Errors::NONE } else { Errors::mean(&self.q) },
            v: if empty { Errors::NONE } else { Errors::mean(&self.v) },
            grids: self.grids,
            solves,
            iterations,
            evaluations,
            seconds,
            failed: self.failures.first().map(|reason| (self.failures.len(), reason.clone())),
        }
    }
}

/// Errors of positions and velocities of a run with equal steps `h`. Norms are those of differences as the model of
/// `stepper` takes them, Hausdorff distances those of the graphs of all coordinates.
pub fn measure(
    solution: &Solution,
    stepper: &dyn Stepper,
    reference: &Reference<'_>,
    h: f64,
) -> Result<(Errors, Errors), MeasureError> {
    measure_with(solution, stepper, reference, Weights::Uniform { step: h }, 0.02 * h)
}

/// Errors of positions and velocities of a run with steps of any size: trapezoidal weights.
pub fn measure_adaptive(
    solution: &Solution,
    stepper: &dyn Stepper,
    reference: &Reference<'_>,
) -> Result<(Errors, Errors), MeasureError> {
    measure_with(solution, stepper, reference, Weights::Trapezoidal { times: &solution.t }, f64::INFINITY)
}

fn measure_with(
    solution: &Solution,
    stepper: &dyn Stepper,
    reference: &Reference<'_>,
    weights: Weights<'_>,
    most: f64,
) -> Result<(Errors, Errors), MeasureError> {
    let (nq, nv) = solution.dofs();
    let (size, directions) = (stepper.dimension(), stepper.dimension() - nv);
    let (mut errors_q, mut errors_v, mut difference) = (Vec::new(), Vec::new(), vec![0.0; size]);
    let (mut exact, mut found) = (stepper.from().clone(), stepper.from().clone());
    for (k, &t) in solution.t.iter().enumerate() {
        reference.at(t, stepper, &mut exact);
        found.q.copy_from_slice(solution.q(k));
        found.v.copy_from_slice(solution.v(k));
        stepper.difference(&exact, &found, &mut difference);
        errors_q.extend_from_slice(&difference[..directions]);
        errors_v.extend_from_slice(&difference[directions..]);
    }
    let (Some(&from), Some(&to)) = (solution.t.first(), solution.t.last()) else { return Err(MeasureError::Empty) };
    let q = norms(&errors_q, directions, weights)?;
    // fine enough for the error at hand, not finer than a curve can be sampled in reasonable time
    let tolerance = most.min((0.05 * q.sup).max(FINEST * (to - from)));
    let options = HausdorffOptions::with_tolerance(tolerance);
    let graph_q = Graph::polyline(&solution.t, solution.positions(), nq)?;
    let hausdorff_q = hausdorff(&graph_q, &*reference.positions(from, to, tolerance)?, &options)?.distance;
    let q = Errors { l1: q.l1, l2: q.l2, sup: q.sup, hausdorff: hausdorff_q };
    // first-order systems have no velocities
    if nv == 0 {
        return Ok((q, Errors::default()));
    }
    let v = norms(&errors_v, nv, weights)?;
    let graph_v = Graph::staircase(&solution.t, solution.velocities(), nv)?;
    let hausdorff_v = hausdorff(&graph_v, &*reference.velocities(from, to, tolerance)?, &options)?.distance;
    Ok((q, Errors { l1: v.l1, l2: v.l2, sup: v.sup, hausdorff: hausdorff_v }))
}
