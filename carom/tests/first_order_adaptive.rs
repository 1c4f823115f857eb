//! Adaptive steps of first-order systems leave sliding where it ends: random relays, dry friction and clamps against a
//! flow with located mode changes that is written here, and against equal steps of a hundredth of the length.
//!
//! ```text
//!     ẋ = A x + a sin(ω t + φ) + B λ,   y = C x − d,   λ ∈ [lower, upper] against y                            (1)
//!     sliding:  λ = −C (A x + a sin(ω t + φ))/(C B),  while it is inside its bounds                              (2)
//! ```

use carom::model::{FirstOrderSystem, Lcs, Matrices, Output};
use carom::scheme::{AnyModel, Bound, EulerMoreau};
use carom::simulation::{Adaptive, FixedStep};
use carom::{FirstOrder, Simulation, State};
use carom_solve::Law;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// A system (1) with one row.
#[derive(Clone, Debug)]
struct System {
    a: Vec<f64>,
    source: Vec<(f64, f64, f64)>, // amplitude, ω, φ of each state
    b: Vec<f64>,
    c: Vec<f64>,
    d: f64,
    law: Law,
    initial: Vec<f64>,
}

impl System {
    /// Number `k`: relays of three states, friction, clamps in turn.
    fn random(rng: &mut Pcg64, k: usize) -> System {
        let mut number = |low: f64, high: f64| rng.random_range(low..high);
        let forcing = |amplitude: f64, omega: f64, phase: f64| (amplitude, omega, phase);
        match k % 3 {
            0 => {
                let a = (0..9).map(|i| number(-1.0, 1.0) - if i % 4 == 0 { 1.5 } else { 0.0 }).collect();
                let source = (0..3).map(|_| forcing(number(0.0, 2.0), number(0.5, 4.0), number(0.0, 6.0))).collect();
                let b = vec![number(0.5, 2.0), number(-1.0, 1.0), number(-1.0, 1.0)];
                let initial = (0..3).map(|_| number(-1.0, 1.0)).collect();
                let c = vec![1.0, 0.0, 0.0];
                System { a, source, b, c, d: 0.0, law: Law::interval(-1.0, 1.0), initial }
            }
            1 => System {
                a: vec![0.0, 1.0, -number(0.5, 4.0), -number(0.05, 0.5)],
                source: vec![(0.0, 1.0, 0.0), forcing(number(0.0, 2.0), number(0.3, 3.0), number(0.0, 6.0))],
                b: vec![0.0, number(0.3, 1.5)],
                c: vec![0.0, 1.0],
                d: number(-0.5, 0.5),
                law: Law::interval(-1.0, 1.0),
                initial: vec![number(-1.0, 1.0), number(-1.0, 1.0)],
            },
            // the multiplier helps the second state to decay, so that errors do not grow while sliding
            _ => System {
                a: vec![-number(0.2, 2.0), number(0.0, 1.0), number(-1.0, 1.0), -number(0.2, 2.0)],
                source: vec![forcing(number(0.5, 3.0), number(0.5, 4.0), number(0.0, 6.0)), (0.0, 1.0, 0.0)],
                b: vec![number(0.5, 2.0), number(0.0, 1.0)],
                c: vec![1.0, 0.0],
                d: number(-0.5, 0.0),
                law: Law::UNILATERAL,
                initial: vec![number(0.2, 1.0), number(-1.0, 1.0)],
            },
        }
    }

    fn model(&self) -> Box<dyn FirstOrder> {
        let matrices =
            Matrices { e: None, a: self.a.clone(), b: self.b.clone(), c: self.c.clone(), ..Matrices::default() };
        let source = self.source.clone();
        let lcs = Lcs::new(matrices, vec![("row".into(), self.law)], &self.initial).unwrap();
        let lcs = lcs.with_state_source(move |t, out| {
            out.iter_mut().zip(&source).for_each(|(o, (a, w, p))| *o = a * (w * t + p).sin());
            Ok(())
        });
        Box::new(lcs.with_constant_output_source(&[-self.d]).unwrap())
    }

    fn output(&self, x: &[f64]) -> f64 {
        self.c.iter().zip(x).map(|(c, x)| c * x).sum::<f64>() - self.d
    }

    fn free(&self, t: f64, x: &[f64]) -> Vec<f64> {
        let n = x.len();
        let row = |i: usize| self.a[i * n..(i + 1) * n].iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
        (0..n).map(|i| row(i) + self.source[i].0 * (self.source[i].1 * t + self.source[i].2).sin()).collect()
    }

    /// λ of (2).
    fn sliding(&self, t: f64, x: &[f64]) -> f64 {
        let gain: f64 = self.c.iter().zip(&self.b).map(|(c, b)| c * b).sum();
        let rate: f64 = self.free(t, x).iter().zip(&self.c).map(|(f, c)| f * c).sum();
        -rate / gain
    }

    /// A step of the classical method of order 4 with λ given, or sliding where it is not.
    fn step(&self, t: f64, x: &[f64], lambda: Option<f64>, h: f64) -> Vec<f64> {
        let rate = |t: f64, x: &[f64]| -> Vec<f64> {
            let lambda = lambda.unwrap_or_else(|| self.sliding(t, x));
            self.free(t, x).iter().zip(&self.b).map(|(f, b)| f + b * lambda).collect()
        };
        let add = |k: &[f64], h: f64| -> Vec<f64> { x.iter().zip(k).map(|(x, k)| x + h * k).collect() };
        let k1 = rate(t, x);
        let k2 = rate(t + 0.5 * h, &add(&k1, 0.5 * h));
        let k3 = rate(t + 0.5 * h, &add(&k2, 0.5 * h));
        let k4 = rate(t + h, &add(&k3, h));
        (0..x.len()).map(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i])).collect()
    }

    /// The state at the end with located changes of modes, and the number of these.
    fn located(&self, end: f64) -> (Vec<f64>, usize) {
        let (lower, upper) = self.law.bounds();
        let (mut t, mut x, mut changes) = (0.0, self.initial.clone(), 0);
        // the sign of y, 0 while sliding
        let mut side = self.output(&x).signum();
        while t < end {
            let lambda = match side {
                1.0 => Some(lower),
                -1.0 => Some(upper),
                _ => None,
            };
            // what must not be negative in this mode
            let margin = |t: f64, x: &[f64]| match side {
                0.0 => {
                    let lambda = self.sliding(t, x);
                    (lambda - lower).min(upper - lambda)
                }
                side => side * self.output(x),
            };
            let mut h = f64::min(1e-3, end - t);
            let mut next = self.step(t, &x, lambda, h);
            if margin(t + h, &next) < 0.0 {
                let (mut low, mut high) = (0.0, h);
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    match margin(t + middle, &self.step(t, &x, lambda, middle)) < 0.0 {
                        true => high = middle,
                        false => low = middle,
                    }
                }
                h = high;
                next = self.step(t, &x, lambda, h);
                let lambda = self.sliding(t + h, &next);
                side = match () {
                    _ if lambda > upper => -1.0,
                    _ if lambda < lower => 1.0,
                    _ => 0.0,
                };
                changes += 1;
            }
            (t, x) = (t + h, next);
        }
        (x, changes)
    }
}

/// Largest change of the state at the end by changes of size 1 in the initial state, the input or the source: systems
/// whose sliding ends almost along its bound are sensitive.
fn sensitivity(system: &System, exact: &[f64], end: f64) -> f64 {
    const SMALL: f64 = 1e-5;
    let mut changed = vec![system.clone(); system.initial.len() + 2];
    for (j, other) in changed.iter_mut().enumerate() {
        match j.checked_sub(system.initial.len()) {
            None => other.initial[j] += SMALL,
            Some(0) => other.b.iter_mut().for_each(|b| *b *= 1.0 + SMALL),
            Some(_) => other.source.iter_mut().for_each(|source| source.0 *= 1.0 + SMALL),
        }
    }
    changed.iter().fold(1.0, |most, other| most.max(distance(&other.located(end).0, exact) / SMALL))
}

fn adaptive(model: Box<dyn FirstOrder>, tolerance: f64, end: f64) -> (State, u64) {
    let row = carom::scheme::find("euler-moreau").unwrap();
    let adaptive = Adaptive { tolerance: Some(tolerance), ..Adaptive::default() };
    let options = serde_json::json!({});
    let model = AnyModel::FirstOrder(model);
    let stepper = (row.bind_adaptive)(&options, adaptive.accuracy(), model, carom_solve::solver::default()).unwrap();
    let mut run = Simulation::new(stepper, Box::new(adaptive.control(1e-3, (0.0, end))), end).unwrap();
    assert!(run.run(&mut []).unwrap());
    (run.state().clone(), run.statistics().steps)
}

fn equal(model: Box<dyn FirstOrder>, h: f64, end: f64) -> State {
    let stepper = Bound::new(EulerMoreau::default(), model, carom_solve::solver::default()).unwrap();
    let mut run = Simulation::new(Box::new(stepper), Box::new(FixedStep { h }), end).unwrap();
    assert!(run.run(&mut []).unwrap());
    run.state().clone()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

/// `count` random systems; every `fine`-th one also with equal steps of a hundredth of the mean length.
fn random_systems(seed: u64, count: usize, fine: usize) {
    const END: f64 = 8.0;
    const TOLERANCE: f64 = 1e-6;
    let mut rng = Pcg64::seed_from_u64(seed);
    let (mut changes, mut worst) = (0, 0.0f64);
    for k in 0..count {
        let system = System::random(&mut rng, k);
        let (exact, changed) = system.located(END);
        let (found, steps) = adaptive(system.model(), TOLERANCE, END);
        let unit = TOLERANCE * steps as f64 * sensitivity(&system, &exact, END);
        let error = distance(&found.q, &exact) / unit;
        changes += changed;
        worst = worst.max(error);
        // an error of the tolerance in every step, and as much again: changes of modes have a mean uncertainty
        assert!(error < 2.0, "{k}: {error} tolerances a step, {steps} steps: {:?} {exact:?}\n{system:?}", found.q);
        if k % fine == 0 {
            let h = END / steps as f64 / 100.0;
            let error = distance(&found.q, &equal(system.model(), h, END).q);
            // equal steps do not end at changes: each one leaves a part of a step
            let bound = 2.0 * (unit + h * (changed + 1) as f64);
            assert!(error < bound, "{k}: {error} {bound}, {steps} steps\n{system:?}");
        }
    }
    println!("{count} systems, {changes} changes of modes, worst error {worst} tolerances a step");
    assert!(changes > 4 * count, "{changes}");
}

#[test]
fn random_relays_friction_and_clamps() {
    random_systems(1, 60, 6);
}

#[test]
#[ignore = "long: ten times the systems of the test above"]
fn many_random_relays_friction_and_clamps() {
    random_systems(2, 600, 6);
}

/// Stick-slip on a belt with a Stribeck force: ẍ = −x + 1/(1.2 − v) below the speed 0.2 of the belt, −x − 1/(0.8 + v)
/// above. x(40) and v(40) by located events with 40 digits.
#[test]
fn periodic_stick_slip() {
    let model = || -> Box<dyn FirstOrder> {
        let (low, high) = (|v: f64| 1.0 / (1.2 - v), |v: f64| 1.0 / (0.8 + v));
        let belt = Output::new(
            "belt",
            Law::interval(-1.0, 1.0),
            |_, x| x[1] - 0.2,
            move |_, x, b| (b[0], b[1]) = (0.0, 0.5 * (low(x[1]) + high(x[1]))),
        );
        let rate = move |_: f64, x: &[f64], f: &mut [f64]| {
            (f[0], f[1]) = (x[1], -x[0] + 0.5 * (low(x[1]) - high(x[1])));
        };
        Box::new(FirstOrderSystem::new(&[0.04, -0.01], rate).output(belt))
    };
    for (tolerance, bound) in [(1e-6, 1e-3), (1e-8, 2e-5)] {
        let (found, steps) = adaptive(model(), tolerance, 40.0);
        let error = distance(&found.q, &[0.628943636674, 0.2]);
        println!("tolerance {tolerance:e}: error {error:.3e} in {steps} steps");
        assert!(error < bound, "{tolerance:e}: {error}");
    }
}
