//! The impacting elastic bar: stiff forces that answer to the displacement of a projection within the step.

use super::*;
use carom::model::{AffineRow, Linear, LinearContact, SparseMatrix};
use carom::scheme::Splitting;
use carom_solve::Law;
use std::f64::consts::PI;

const SPEED: f64 = 0.1;
/// Not a multiple of the step's way, so that no impact falls on a grid point.
const GAP: f64 = 4.9265e-5;
const SECTION: f64 = PI * 1e-4;

/// Bar of `elements` linear elements, consistent mass, that flies against a wall.
fn bar(elements: usize, gap: f64) -> Linear {
    let count = elements as f64;
    let (stiffness, mass) = (210e9 * SECTION * count, 7800.0 * SECTION / count / 6.0);
    let (mut m, mut k) = (Vec::new(), Vec::new());
    for e in 0..elements {
        for (i, j, a, b) in [(e, e, 2.0, 1.0), (e, e + 1, 1.0, -1.0), (e + 1, e, 1.0, -1.0), (e + 1, e + 1, 2.0, 1.0)] {
            m.push((i, j, a * mass));
            k.push((i, j, b * stiffness));
        }
    }
    let n = elements + 1;
    let matrix = |entries: &[_]| SparseMatrix::from_triplets(n, entries).unwrap();
    let initial = State::new(0.0, &vec![gap; n], &vec![-SPEED; n]);
    Linear::new(&matrix(&m), &matrix(&[]), &matrix(&k), initial).unwrap().with_contact(LinearContact {
        name: "wall".into(),
        law: Law::UNILATERAL,
        restitution: 0.0,
        tangential: 0.0,
        rows: vec![AffineRow { entries: vec![(0, 1.0)], constant: 0.0, rate: 0.0 }],
    })
}

/// Duration of contact [s], mean and largest force in units of E S v/c, relative energy loss.
fn contact(trace: &Trace) -> (f64, f64, f64, f64) {
    let speed = (210e9f64 / 7800.0).sqrt();
    let exact = 210e9 * SECTION * SPEED / speed;
    let on = trace.impulses.iter().position(|p| p[0] > 0.0).unwrap();
    let length = trace.impulses[on..].iter().take_while(|p| p[0] > 0.0).count();
    let window = |part: f64| on + (part * 2.0 / speed / trace.h) as usize;
    let force: Vec<f64> = trace.impulses.iter().map(|p| p[0] / trace.h / exact).collect();
    let middle = &force[window(0.3)..window(0.7)];
    let mean = middle.iter().sum::<f64>() / middle.len() as f64;
    let energy = (trace.energy[0], *trace.energy.last().unwrap());
    (length as f64 * trace.h, mean, force.iter().copied().fold(0.0, f64::max), (energy.0 - energy.1) / energy.0)
}

/// The row of the combined scheme in the table of the bar.
#[test]
fn combined_projection_of_the_bar() {
    let trace = run(&combined(), bar(1000, GAP), 2e-6, 1000);
    let (duration, mean, largest, loss) = contact(&trace);
    println!("{duration:.4e} {mean:.6} {largest:.4} {loss:.4e}, Newton {:?}", trace.iterations());
    near(duration, 3.900e-4, 1e-6);
    near(mean, 1.0, 1e-4);
    near(largest, 1.027, 1e-3);
    close(loss, 4.64e-3, 2e-3);
    assert!(trace.least_gap() > -1e-15, "{}", trace.least_gap());
}

/// The two arrangements of an iteration and the way there differ, not the result.
#[test]
fn splitting_does_not_change_the_bar() {
    for metric in [Metric::Identity, Metric::InverseMass] {
        for scheme in [direct(gamma(0.0)), direct(Forecast::Free)] {
            let one = run(&DirectProjection { metric, ..scheme.clone() }, bar(100, GAP), 2e-6, 400);
            assert!(one.least_gap() > -1e-12);
            println!("{metric:?}: coupled {:?}", one.iterations());
            let decoupled =
                DirectProjection { metric, coupling: Splitting::Decoupled, newton_iterations: 5000, ..scheme.clone() };
            let two = run(&decoupled, bar(100, GAP), 2e-6, 400);
            println!("{metric:?}: decoupled {:?}", two.iterations());
            near(one.last().v[0], two.last().v[0], 1e-7);
            near(one.last().q[0], two.last().q[0], 1e-12);
        }
    }
}

/// An impact on a grid point, where multipliers are rounded zeros.
#[test]
fn tie_of_the_bar() {
    for forecast in [gamma(0.0), Forecast::Free] {
        let trace = run(&direct(forecast), bar(100, 5e-5), 2e-6, 400);
        assert!(trace.least_gap() > -1e-12 && trace.iterations().1 <= 3, "{:?}", trace.iterations());
    }
    let trace = run(&combined(), bar(100, 5e-5), 2e-6, 400);
    assert!(trace.least_gap() > -1e-12 && trace.iterations().1 <= 3, "{:?}", trace.iterations());
}
