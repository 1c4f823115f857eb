//! Higher-order event capturing against closed forms and the reference numbers of its specification.

use carom::flow::Method;
use carom::scheme::higher_order::Takeoff as Release;
use carom::scheme::{Bound, HigherOrder};
use carom::simulation::FixedStep;
use carom::testbed::{BouncingBall, ExactSolution, LinearOscillator, PreloadedOscillator, Takeoff};
use carom::{Mechanical, Simulation, Solution};

const GRIDS: [usize; 6] = [13, 23, 43, 83, 163, 323];

fn scheme(method: Method, c: f64) -> HigherOrder {
    HigherOrder { method, c, ..HigherOrder::default() }
}

fn run(model: impl Mechanical + 'static, scheme: HigherOrder, end: f64, steps: usize) -> Solution {
    let stepper = Bound::new(scheme, Box::new(model), carom_solve::solver::default()).unwrap();
    let controller = Box::new(FixedStep { h: end / steps as f64 });
    Simulation::new(Box::new(stepper), controller, end).unwrap().record().unwrap()
}

/// l1 norm of the error in q, with full weights.
fn l1(s: &Solution, exact: &dyn ExactSolution, h: f64) -> f64 {
    let (mut q, mut v) = ([0.0], [0.0]);
    (0..s.len())
        .map(|k| {
            exact.at(s.t[k], &mut q, &mut v);
            h * (s.q(k)[0] - q[0]).abs()
        })
        .sum()
}

/// Least-squares slope of log error over log step, errors at rounding left out.
fn slope(points: &[(f64, f64)]) -> f64 {
    let points: Vec<(f64, f64)> =
        points.iter().filter(|p| p.1 > 2e-13).map(|p| (p.0.ln(), p.1.ln())).collect();
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

/// Errors over the grids of the specification.
fn errors(make: &dyn Fn(usize) -> Solution, exact: &dyn ExactSolution, end: f64) -> Vec<(f64, f64)> {
    GRIDS.iter().map(|&n| (end / n as f64, l1(&make(n), exact, end / n as f64))).collect()
}

/// Check O28.
#[test]
fn orders_on_the_oscillator_with_fine_brackets() {
    let o = LinearOscillator::default();
    for method in Method::ALL {
        let points = errors(&|n| run(o.model(), scheme(method, 1e-3), 5.0, n), &o, 5.0);
        let (slope, p) = (slope(&points), f64::from(method.order()));
        println!("{method:?}: {slope:.2} {points:.1e?}");
        assert!((slope - p).abs() <= 0.15, "{method:?}: {slope}");
    }
}

/// The table of orders: oscillator, ball, preloaded oscillator and take-off, with C = 1.
#[test]
fn orders_with_coarse_brackets() {
    let (o, b, l, t) = (
        LinearOscillator::default(),
        BouncingBall::default(),
        PreloadedOscillator::default(),
        Takeoff::default(),
    );
    for method in Method::ALL {
        let s = scheme(method, 1.0);
        let studies = [
            ("oscillator", errors(&|n| run(o.model(), s.clone(), 5.0, n), &o, 5.0)),
            ("ball", errors(&|n| run(b.model(), s.clone(), 5.0, n), &b, 5.0)),
            ("preloaded", errors(&|n| run(l.model(), s.clone(), 5.0, n), &l, 5.0)),
            ("take-off", errors(&|n| run(t.model(), s.clone(), 2.9, n), &t, 2.9)),
        ];
        for (name, points) in studies {
            let slope = slope(&points);
            println!("{method:?} on {name}: {slope:.2} {points:.1e?}");
            assert!(slope >= f64::from(method.order()) - 0.25, "{method:?} on {name}: {slope} {points:?}");
        }
    }
}

/// Check O29.
#[test]
fn ball_to_rounding() {
    let b = BouncingBall::default();
    for (method, bound) in [(Method::RadauIia3, 3e-11), (Method::LobattoIiia4, 1e-12)] {
        let error = l1(&run(b.model(), scheme(method, 1.0), 5.0, 323), &b, 5.0 / 323.0);
        println!("{method:?}: {error:e}");
        assert!(error < bound, "{method:?}: {error}");
    }
}

/// Check O30: what the location of take-off is worth.
#[test]
fn take_off_located_and_not() {
    let t = Takeoff::default();
    let located = run(t.model(), scheme(Method::RadauIia3, 1.0), 2.9, 83);
    let error = l1(&located, &t, 2.9 / 83.0);
    println!("located: {error:e}");
    assert!(error < 1e-10, "{error}");
    let late = HigherOrder { takeoff: Release::EndOfStep, ..scheme(Method::RadauIia3, 1.0) };
    let points: Vec<(f64, f64)> = GRIDS
        .iter()
        .map(|&count| {
            let worst = (count - 4..count + 4)
                .map(|n| l1(&run(t.model(), late.clone(), 2.9, n), &t, 2.9 / n as f64))
                .fold(0.0, f64::max);
            (2.9 / count as f64, worst)
        })
        .collect();
    let slope = slope(&points);
    println!("not located: {slope:.2} {points:.1e?}");
    assert!((slope - 1.9).abs() <= 0.3, "{slope}");
}
