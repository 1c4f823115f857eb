//! Orders on problems with closed forms.

use crate::{run, scheme, show, slope};
use carom::Solution;
use carom::scheme::HigherOrder;
use carom::scheme::higher_order::RungeKutta;
use carom::scheme::higher_order::Takeoff as Release;
use carom::testbed::{BouncingBall, ExactSolution, LinearOscillator, PreloadedOscillator, Takeoff};

const GRIDS: [usize; 6] = [13, 23, 43, 83, 163, 323];

/// l1 norm of the error in q, with full weights.
pub fn l1(s: &Solution, exact: &dyn ExactSolution, h: f64) -> f64 {
    let (mut q, mut v) = ([0.0], [0.0]);
    (0..s.len())
        .map(|k| {
            exact.at(s.t[k], &mut q, &mut v);
            h * (s.q(k)[0] - q[0]).abs()
        })
        .sum()
}

/// Errors over the grids of the specification.
fn errors(make: &dyn Fn(usize) -> Solution, exact: &dyn ExactSolution, grids: &[usize], end: f64) -> Vec<(f64, f64)> {
    grids.iter().map(|&n| (end / n as f64, l1(&make(n), exact, end / n as f64))).collect()
}

/// Check O28.
#[test]
fn orders_on_the_oscillator_with_fine_brackets() {
    let o = LinearOscillator::default();
    for method in RungeKutta::ALL {
        let points = errors(&|n| run(o.model(), scheme(method, 1e-3), 5.0, n), &o, &GRIDS, 5.0);
        let (slope, p) = (slope(&points), f64::from(method.order()));
        println!("{method:?}: {slope:.2} {}", show(&points));
        assert!((slope - p).abs() <= 0.15, "{method:?}: {slope}");
    }
}

/// The table of orders: oscillator, ball, preloaded oscillator and take-off, with C = 1.
#[test]
fn orders_with_coarse_brackets() {
    let (o, b, l, t) =
        (LinearOscillator::default(), BouncingBall::default(), PreloadedOscillator::default(), Takeoff::default());
    for method in RungeKutta::ALL {
        let s = scheme(method, 1.0);
        // down to 1e-11 where the order allows it
        let grids: &[usize] = if method.order() <= 4 { &[83, 163, 323, 643, 1283] } else { &GRIDS };
        // HEM5 is at rounding on the take-off from 43 steps on
        let after: &[usize] = if method == RungeKutta::Hem5 { &[5, 7, 9, 13, 23] } else { grids };
        let studies = [
            ("oscillator", errors(&|n| run(o.model(), s.clone(), 5.0, n), &o, grids, 5.0)),
            ("ball", errors(&|n| run(b.model(), s.clone(), 5.0, n), &b, grids, 5.0)),
            ("preloaded", errors(&|n| run(l.model(), s.clone(), 5.0, n), &l, grids, 5.0)),
            ("take-off", errors(&|n| run(t.model(), s.clone(), 2.9, n), &t, after, 2.9)),
        ];
        for (name, points) in studies {
            let slope = slope(&points);
            println!("{method:?} on {name}: {slope:.2} {}", show(&points));
            assert!(slope >= f64::from(method.order()) - 0.25, "{method:?} on {name}: {slope} {points:?}");
        }
    }
}

/// Check O29.
#[test]
fn ball_to_rounding() {
    let b = BouncingBall::default();
    for (method, bound) in [(RungeKutta::RadauIia3, 3e-11), (RungeKutta::LobattoIiia4, 1e-12)] {
        let error = l1(&run(b.model(), scheme(method, 1.0), 5.0, 323), &b, 5.0 / 323.0);
        println!("{method:?}: {error:e}");
        assert!(error < bound, "{method:?}: {error}");
    }
}

/// Check O30: what the location of take-off is worth.
#[test]
fn take_off_located_and_not() {
    let t = Takeoff::default();
    let located = run(t.model(), scheme(RungeKutta::RadauIia3, 1.0), 2.9, 83);
    let error = l1(&located, &t, 2.9 / 83.0);
    println!("located: {error:e}");
    assert!(error < 1e-10, "{error}");
    let late = HigherOrder { takeoff: Release::EndOfStep, ..scheme(RungeKutta::RadauIia3, 1.0) };
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
    println!("not located: {slope:.2} {}", show(&points));
    assert!((slope - 1.9).abs() <= 0.3, "{slope}");
}
