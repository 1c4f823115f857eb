//! Higher-order event capturing against closed forms and the reference numbers of its specification.

mod friction;
mod mechanics;
mod orders;
mod stiff;
mod work;

use carom::scheme::higher_order::RungeKutta;
use carom::scheme::{Bound, HigherOrder};
use carom::simulation::FixedStep;
use carom::{Mechanical, Simulation, Solution};

fn scheme(method: RungeKutta, c: f64) -> HigherOrder {
    HigherOrder { method, c: Some(c), ..HigherOrder::default() }
}

fn simulation(model: impl Mechanical + 'static, scheme: HigherOrder, end: f64, steps: usize) -> Simulation {
    let stepper = Bound::new(scheme, Box::new(model), carom_solve::solver::default()).unwrap();
    Simulation::new(Box::new(stepper), Box::new(FixedStep { h: end / steps as f64 }), end).unwrap()
}

fn run(model: impl Mechanical + 'static, scheme: HigherOrder, end: f64, steps: usize) -> Solution {
    simulation(model, scheme, end, steps).record().unwrap()
}

/// Least-squares slope of log error over log step, errors at rounding left out.
fn slope(points: &[(f64, f64)]) -> f64 {
    let points: Vec<(f64, f64)> = points.iter().filter(|p| p.1 > 2e-13).map(|p| (p.0.ln(), p.1.ln())).collect();
    assert!(points.len() >= 3, "{points:?}");
    let n = points.len() as f64;
    let mean = points.iter().fold((0.0, 0.0), |m, p| (m.0 + p.0 / n, m.1 + p.1 / n));
    let (mut cross, mut square) = (0.0, 0.0);
    for p in &points {
        cross += (p.0 - mean.0) * (p.1 - mean.1);
        square += (p.0 - mean.0) * (p.0 - mean.0);
    }
    cross / square
}

/// Errors for a glance.
fn show(points: &[(f64, f64)]) -> String {
    points.iter().map(|p| format!("{:.1e} ", p.1)).collect()
}
