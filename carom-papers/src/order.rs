//! Convergence of schemes on the two archetypes with exact solutions, as figures draw it.

use crate::trace::{Change, scene};
use crate::{Effort, Trouble};
use carom::Simulation;
use carom::elementary::powf;
use carom::scheme::Estimator;
use carom::simulation::{Adaptive, FixedStep};
use carom_analysis::convergence::{NORMS, Plan, Reference, Study, study, study_tolerances};
use carom_analysis::report::{Chart, Dash, Series, SeriesStyle};
use carom_scene::Scene;
use carom_scene::scene::{Choice, Exact};

/// The two archetypes [acary2009]: example and name in figures.
pub const ARCHETYPES: [(&str, &str); 2] =
    [("bouncing-ball", "bouncing ball"), ("linear-oscillator", "linear oscillator")];

/// Grids without ties: with T = 5 the first impact of the ball falls on a grid point for multiples of 5.
pub fn plan(effort: Effort) -> Plan {
    let (levels, grids) = if effort == Effort::Quick { (4, 4) } else { (6, 8) };
    Plan { start: 0.0, end: 5.0, counts: (0..levels).map(|k| 100 << k).collect(), grids, skip_multiples_of: Some(5) }
}

/// Errors of one scheme on an example over a plan.
pub fn errors(example: &str, scheme: &Choice, plan: &Plan) -> Result<Study, Trouble> {
    let scene = scene(example, &Change { end: Some(plan.end), ..Change::scheme(scheme) })?;
    let exact = scene.reference.as_ref().ok_or_else(|| Trouble(format!("`{example}` has no exact solution")))?;
    study(&scene.scheme.describe(), plan, &reference(&exact.solution), |h| simulation(&scene, h))
        .map_err(|e| Trouble(e.to_string()))
}

/// Errors of one scheme with adaptive steps, over tolerances.
pub fn adaptive_errors(
    example: &str,
    scheme: &Choice,
    estimator: Estimator,
    tolerances: &[f64],
) -> Result<Study, Trouble> {
    let scene = scene(example, &Change { step: Some(1e-2), end: Some(5.0), ..Change::scheme(scheme) })?;
    let exact = scene.reference.as_ref().ok_or_else(|| Trouble(format!("`{example}` has no exact solution")))?;
    study_tolerances(&scene.scheme.describe(), tolerances, &reference(&exact.solution), |tolerance| {
        // the factors of the paper, and a floor that only round-off reaches
        let (min, max) = (Some(1e-13), Some(5.0));
        let factors = Adaptive { safety: 1.0, shrink: 0.5, grow: 5.0, min, max, ..Adaptive::default() };
        let mut scene = scene.clone();
        scene.adaptive = Some(Adaptive { tolerance: Some(tolerance), estimator, ..factors });
        scene.simulation()
    })
    .map_err(|e| Trouble(e.to_string()))
}

fn reference(exact: &Exact) -> Reference<'_> {
    match exact {
        Exact::Motion(exact) => Reference::Exact(exact.as_ref()),
        Exact::State(exact) => Reference::State(exact.as_ref()),
    }
}

fn simulation(scene: &Scene, h: f64) -> Result<Simulation, String> {
    let stepper = scene.stepper().map_err(|e| e.to_string())?;
    Simulation::new(stepper, Box::new(FixedStep { h }), scene.span.end).map_err(|e| e.to_string())
}

/// The fitted order.
pub fn slope(study: &Study, of: char, norm: &str) -> Result<f64, Trouble> {
    study.order(of, norm).map(|slope| slope.slope).map_err(|e| Trouble(format!("{}: {e}", study.scheme)))
}

/// Errors against steps in all norms, with a line of slope one through the first point of l1.
pub fn chart(title: &str, study: &Study, of: char) -> Chart {
    let steps: Vec<f64> = study.levels.iter().map(|level| level.step).collect();
    let mut chart = Chart::new(title, "h [s]", format!("error of {of}")).log_log();
    for norm in NORMS {
        let errors = study.levels.iter().map(|level| if of == 'q' { level.q } else { level.v }.get(norm)).collect();
        chart = chart.with(Series::new(norm, SeriesStyle::LinesAndMarkers, steps.clone(), errors));
    }
    let first = study.levels.first().map_or(f64::NAN, |level| if of == 'q' { level.q } else { level.v }.l1);
    chart.with(line("slope 1", &steps, first, 1.0))
}

/// `error ~ h^order` through the first step.
pub fn line(name: &str, steps: &[f64], first: f64, order: f64) -> Series {
    let errors = steps.iter().map(|h| first * powf(h / steps[0], order)).collect();
    Series::lines(name, steps.to_vec(), errors).dashed(Dash::Dot)
}
