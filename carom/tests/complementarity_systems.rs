//! Euler-Moreau on complementarity systems, relays, switches and algebraic equations: checks O13-O15, orders, sliding
//! modes, typed errors.

use carom::model::{FirstOrderSystem, Lcs, LcsError, Matrices, Output};
use carom::scheme::{Bound, Collocation, EulerMoreau, Stepper};
use carom::simulation::{Adaptive, FixedStep, Recorder};
use carom::testbed::{DiodeBridge, ExactState, Rectifier, SlidingMode};
use carom::{FirstOrder, ModelError, Simulation, SimulationError, Solution, Span, simulate_first_order};
use carom_solve::Law;

fn theta(theta: f64) -> EulerMoreau {
    EulerMoreau { theta: Some(theta), ..EulerMoreau::default() }
}

fn midpoint() -> EulerMoreau {
    EulerMoreau { collocation: Collocation::Midpoint, ..EulerMoreau::default() }
}

fn record(scheme: EulerMoreau, model: Box<dyn FirstOrder>, end: f64, h: f64) -> Solution {
    let stepper = Bound::new(scheme, model, carom_solve::solver::default()).unwrap();
    Simulation::new(Box::new(stepper), Box::new(FixedStep { h }), end).unwrap().record().unwrap()
}

/// Largest error of the first state at the nodes of `steps` steps.
fn error(scheme: EulerMoreau, problem: &dyn ExactState, steps: usize) -> f64 {
    let solution = record(scheme, problem.system(), problem.span(), problem.span() / steps as f64);
    let mut x = vec![0.0; problem.dimension()];
    let mut largest = 0.0f64;
    for k in 0..solution.len() {
        problem.at(solution.t[k], &mut x);
        largest = largest.max((solution.q(k)[0] - x[0]).abs());
    }
    largest
}

fn order(errors: [f64; 2]) -> f64 {
    (errors[0] / errors[1]).log2()
}

/// O13, and the first step.
#[test]
fn diode_bridge_reproduces_published_numbers() {
    let s = record(theta(0.5), DiodeBridge::default().system(), 1e-4, 1e-6);
    let close = |k: usize, x: [f64; 2], tolerance: f64| s.q(k).iter().zip(x).all(|(a, b)| (a - b).abs() < tolerance);
    assert!(close(1, [9.98951075147973, 9.99475537573987e-4], 1e-13), "{:?}", s.q(1));
    assert!(close(100, [4.75147525329419, 0.0800878114572444], 1e-10), "{:?}", s.q(100));
}

/// O14 with its neighbours: order 1 with θ = 1 and θ = 1/2, order 2 with laws at the midpoint.
#[test]
fn diode_bridge_orders() {
    let bridge = DiodeBridge::default();
    let mut x = [0.0; 2];
    bridge.at(5e-3, &mut x);
    assert!((x[0] - 0.790322820).abs() < 1e-9 && (x[1] + 2.647850160e-3).abs() < 1e-12, "{x:?}");
    let implicit = [5000, 10_000].map(|n| error(theta(1.0), &bridge, n));
    assert!((implicit[0] - 0.35085).abs() < 1e-4 && (implicit[1] - 0.1795).abs() < 1e-4, "{implicit:?}");
    let trapezoidal = [2500, 5000, 10_000].map(|n| error(theta(0.5), &bridge, n));
    for (measured, wanted) in trapezoidal.iter().zip([0.03941, 0.01909, 0.009394]) {
        assert!((measured - wanted).abs() < 1e-5, "{trapezoidal:?}");
    }
    let centred = [5000, 10_000].map(|n| error(midpoint(), &bridge, n));
    assert!((order(centred) - 2.0).abs() < 0.02, "{centred:?}");
}

/// λ₁ + λ₂ = |v|: the load sees the rectified voltage.
#[test]
fn diode_bridge_rectifies() {
    let model = Box::new(DiodeBridge::default().model());
    let mut stepper = Bound::new(theta(0.5), model as Box<dyn FirstOrder>, carom_solve::solver::default()).unwrap();
    let mut signs = [0, 0];
    for _ in 0..5000 {
        let step = stepper.attempt(1e-6).unwrap();
        assert!(step.worst.residual < 1e-13);
        let (lambda, v) = (&stepper.reactions().multiplier, stepper.to().q[0]);
        assert!((lambda[0] + lambda[1] - v.abs()).abs() < 4e-15, "{lambda:?} {v}");
        assert_eq!(stepper.reactions().impulse[2], 1e-6 * lambda[2]);
        signs[usize::from(v > 0.0)] += 1;
        stepper.accept();
    }
    assert!(signs[0] > 1000 && signs[1] > 1000);
}

/// O15 and θ = 1/2, and the quantities of textbooks.
#[test]
fn rectifier_orders_and_averages() {
    let rectifier = Rectifier::default();
    let degrees = rectifier.extinction().to_degrees();
    assert!((degrees - 201.0).abs() < 0.5, "{degrees}");
    let steps = |h: f64| (rectifier.span() / h).round() as usize;
    let implicit = [2e-5, 1e-5].map(|h| error(theta(1.0), &rectifier, steps(h)));
    assert!((implicit[0] - 1.3323e-3).abs() < 2e-6 && (implicit[1] - 6.675e-4).abs() < 2e-6, "{implicit:?}");
    assert!((order(implicit) - 1.0).abs() < 0.02, "{implicit:?}");
    let centred = [2e-5, 1e-5].map(|h| error(theta(0.5), &rectifier, steps(h)));
    assert!((centred[0] - 9.126e-6).abs() < 2e-8 && (centred[1] - 2.278e-6).abs() < 2e-8, "{centred:?}");
    assert!((order(centred) - 2.0).abs() < 0.02, "{centred:?}");
    let s = record(theta(0.5), rectifier.system(), rectifier.period(), rectifier.period() / 2000.0);
    let mean = |f: &dyn Fn(f64) -> f64| (1..s.len()).map(|k| f(s.q(k)[0])).sum::<f64>() / 2000.0;
    assert!((mean(&|i| i) - 0.308).abs() < 1e-3 && (mean(&|i| i * i).sqrt() - 0.474).abs() < 1e-3);
}

/// θ = γ = 1/2: λ of both ends counts half, from λ = 0 at the start. Against the recursion written out.
#[test]
fn gamma_weighs_the_old_multiplier() {
    let (h, bridge) = (1e-6, DiodeBridge::default());
    let scheme = EulerMoreau { gamma: 0.5, ..theta(0.5) };
    let model = Box::new(bridge.model()) as Box<dyn FirstOrder>;
    let mut stepper = Bound::new(scheme.clone(), model, carom_solve::solver::default()).unwrap();
    let mut old = [0.0; 4];
    for _ in 0..300 {
        let x = stepper.from().q.clone();
        stepper.attempt(h).unwrap();
        let y = stepper.to().q.clone();
        let new = <[f64; 4]>::try_from(stepper.reactions().multiplier.as_slice()).unwrap();
        let (c, l) = (1.0 / bridge.capacitance, 1.0 / bridge.inductance);
        let input = |z: [f64; 4]| c * (z[3] - z[2]);
        let v = x[0] + h * (-c * 0.5 * (x[1] + y[1]) + 0.5 * (input(old) + input(new)));
        let i = x[1] + h * l * 0.5 * (x[0] + y[0]);
        assert!((v - y[0]).abs() < 1e-12 && (i - y[1]).abs() < 1e-15);
        old = new;
        stepper.accept();
    }
    // steps of other sizes would need another memory
    let row = carom::scheme::find("euler-moreau").unwrap();
    let options = serde_json::json!({ "theta": 0.5, "gamma": 0.5 });
    let model = carom::scheme::AnyModel::FirstOrder(Box::new(bridge.model()));
    let refused = (row.bind_adaptive)(&options, Adaptive::default().accuracy(), model, carom_solve::solver::default());
    assert!(refused.err().unwrap().to_string().contains("gamma"));
}

/// The surface is reached in one step and held to round-off; λ is the equivalent control, smooth: no chatter.
#[test]
fn sliding_modes_do_not_chatter() {
    let problem = SlidingMode::default();
    for (scheme, h) in [(theta(1.0), 1e-2), (theta(1.0), 1e-3), (theta(0.5), 1e-2), (theta(0.5), 1e-3)] {
        let mut stepper = Bound::new(scheme, problem.system(), carom_solve::solver::default()).unwrap();
        let mut last: Option<f64> = None;
        for k in 0..(3.0 / h) as usize {
            stepper.attempt(h).unwrap();
            let (x, r) = (stepper.to().q.clone(), stepper.reactions());
            let (lambda, sigma) = (r.multiplier[0], r.after[0]);
            let t = (k + 1) as f64 * h;
            if t < problem.reached() - 2.0 * h {
                assert_eq!(lambda, -problem.gain);
            }
            if t > problem.reached() + 2.0 * h {
                assert!(sigma.abs() <= 1e-15 && (x[0] + x[1]).abs() <= 1e-15, "t = {t}: {sigma:e}");
                // the equivalent control is x₁ (up to O(h)), and neighbours differ by O(h)
                assert!((lambda - x[0]).abs() < 3.0 * h, "{lambda} {}", x[0]);
                if let Some(last) = last {
                    assert!((lambda - last).abs() < 2.0 * h, "t = {t}: {last} then {lambda}");
                }
                last = Some(lambda);
            }
            stepper.accept();
        }
    }
    let errors = [300, 600].map(|n| error(theta(1.0), &problem, n));
    assert!((order(errors) - 1.0).abs() < 0.1, "{errors:?}");
}

/// The twisting controller ẍ = −a sgn x − b sgn ẋ reaches the origin in finite time and stays there exactly.
#[test]
fn twisting_stays_at_the_origin() {
    let matrices = Matrices {
        e: None,
        a: vec![0.0, 1.0, 0.0, 0.0],
        b: vec![0.0, 0.0, 2.0, 1.0],
        c: vec![1.0, 0.0, 0.0, 1.0],
        d: vec![],
    };
    let relay = |name: &str| (name.to_string(), Law::interval(-1.0, 1.0));
    let lcs = || Lcs::new(matrices.clone(), vec![relay("position"), relay("speed")], &[1.0, 0.0]).unwrap();
    for h in [1e-2, 1e-3] {
        let s = simulate_first_order(lcs(), EulerMoreau::default(), Span { end: 10.0, step: h }).unwrap();
        // half turns: overshoots of x shrink by (a − b)/(a + b) = 1/3, durations by 1/√3; the sum of the durations is
        // below 6
        let settled: Vec<&[f64]> = (0..s.len()).filter(|&k| s.t[k] > 6.0).map(|k| s.q(k)).collect();
        assert!(settled.iter().all(|x| x[0].abs() < 1e-13 && x[1].abs() < 1e-13), "{:?}", settled[0]);
    }
}

/// E singular: the voltage of a node between two resistors is algebraic, v = (x + u)/2 and ẋ = v − x; x = u + (x₀ − u)
/// e^{−t/2} for constant u.
#[test]
fn algebraic_equations_hold_at_the_end() {
    let model = |voltage: f64| {
        let a = vec![-1.0, 1.0, 0.5, -1.0];
        let matrices = Matrices { e: Some(vec![1.0, 0.0, 0.0, 0.0]), a, ..Matrices::default() };
        Lcs::new(matrices, vec![], &[1.0, voltage]).unwrap().with_constant_state_source(&[0.0, 1.5]).unwrap()
    };
    let final_error = |scheme: &EulerMoreau, voltage: f64, n: u32| {
        let s =
            simulate_first_order(model(voltage), scheme.clone(), Span { end: 2.0, step: 2.0 / f64::from(n) }).unwrap();
        for k in 1..s.len() {
            assert!((s.q(k)[1] - 0.5 * (s.q(k)[0] + 3.0)).abs() < 1e-14);
        }
        (s.q(s.len() - 1)[0] - (3.0 - 2.0 * (-1.0f64).exp())).abs()
    };
    for (scheme, wanted) in [(theta(1.0), 1.0), (theta(0.5), 2.0), (theta(0.7), 1.0)] {
        let errors = [50, 100].map(|n| final_error(&scheme, 2.0, n));
        assert!((order(errors) - wanted).abs() < 0.05, "{scheme:?}: {errors:?}");
        // an initial value that contradicts the equation costs one step of wrong rate where θ < 1, and is forgotten
        assert!((order([50, 100].map(|n| final_error(&scheme, 7.0, n))) - 1.0).abs() < 0.05);
    }
    let explicit = simulate_first_order(model(0.0), theta(0.0), Span { end: 1.0, step: 0.1 });
    assert!(explicit.unwrap_err().to_string().contains("theta = 0"));
    // no states at all: a resistor behind a diode, y = λ − u with u = sin t: λ = max(0, u)
    let matrices = Matrices { c: vec![], d: vec![1.0], ..Matrices::default() };
    let circuit = Lcs::new(matrices, vec![("diode".into(), Law::UNILATERAL)], &[]).unwrap();
    let circuit = circuit.with_output_source(|t, c| {
        c[0] = -t.sin();
        Ok(())
    });
    let mut stepper =
        Bound::new(theta(1.0), Box::new(circuit) as Box<dyn FirstOrder>, carom_solve::solver::default()).unwrap();
    for k in 1..100 {
        stepper.attempt(0.1).unwrap();
        let wanted = (0.1 * f64::from(k)).sin().max(0.0);
        assert!((stepper.reactions().multiplier[0] - wanted).abs() < 1e-13);
        stepper.accept();
    }
}

/// A capacitor charged through a switch that conducts on [0.25, 0.75): equality v = 0 across it or current 0.
#[test]
fn switches_open_and_close_in_time() {
    // ẋ = λ (current), y = 1 − x − λ (voltage across the switch behind a resistor)
    let matrices = || Matrices { e: None, a: vec![0.0], b: vec![1.0], c: vec![-1.0], d: vec![-1.0] };
    let model = || {
        let open = Law::interval(0.0, 0.0);
        Lcs::new(matrices(), vec![("switch".into(), open)], &[0.0])
            .unwrap()
            .with_constant_output_source(&[1.0])
            .unwrap()
            .with_timed_law(0, move |t| Ok(if (0.25..0.75).contains(&t) { Law::EQUALITY } else { open }))
            .unwrap()
    };
    let errors = [64, 128].map(|n| {
        let h = 1.0 / f64::from(n);
        let s = simulate_first_order(model(), EulerMoreau::default(), Span { end: 1.0, step: h }).unwrap();
        let exact = |t: f64| 1.0 - (-(t.min(0.75) - 0.25).max(0.0)).exp();
        (0..s.len()).map(|k| (s.q(k)[0] - exact(s.t[k])).abs()).fold(0.0, f64::max)
    });
    assert!((order(errors) - 1.0).abs() < 0.2, "{errors:?}");
    let bad = Lcs::new(matrices(), vec![("switch".into(), Law::EQUALITY)], &[0.0])
        .unwrap()
        .with_timed_law(0, |t| if t > 0.5 { Ok(Law::coulomb(0.1, 1)) } else { Ok(Law::EQUALITY) })
        .unwrap();
    let error = simulate_first_order(bad, EulerMoreau::default(), Span { end: 1.0, step: 0.125 }).unwrap_err();
    assert!(error.to_string().contains("switch"), "{error}");
}

/// ẋ = −x³ + λ(1 + x²), 0 ≤ x − 1/2 ⊥ λ ≥ 0: x = x₀/√(1 + 2x₀²t) until 1/2 is reached, then λ = (1/8)/(5/4).
#[test]
fn nonlinear_systems_by_newton() {
    let model = |given: bool| {
        let wall = Output::new("wall", Law::UNILATERAL, |_, x| x[0] - 0.5, |_, x, b| b[0] = 1.0 + x[0] * x[0]);
        let wall = if given { wall.gradient(|_, _, g| g[0] = 1.0) } else { wall };
        let system = FirstOrderSystem::new(&[2.0], |_, x, f| f[0] = -x[0].powi(3)).output(wall);
        if given { system.tangent(|_, x, d| d[0] = -3.0 * x[0] * x[0]) } else { system }
    };
    for given in [true, false] {
        for (scheme, wanted) in [(theta(1.0), 1.0), (theta(0.5), 2.0), (midpoint(), 2.0)] {
            // the wall is reached at t = (4 − 1/4)/2 = 15/8; before that, smooth
            let errors = [100, 200].map(|n| {
                let s = simulate_first_order(model(given), scheme.clone(), Span { end: 1.5, step: 1.5 / f64::from(n) })
                    .unwrap();
                let exact = |t: f64| 2.0 / (1.0 + 8.0 * t).sqrt();
                (0..s.len()).map(|k| (s.q(k)[0] - exact(s.t[k])).abs()).fold(0.0, f64::max)
            });
            assert!((order(errors) - wanted).abs() < 0.1, "{scheme:?}: {errors:?}");
        }
        let mut stepper =
            Bound::new(theta(1.0), Box::new(model(given)) as Box<dyn FirstOrder>, carom_solve::solver::default())
                .unwrap();
        for _ in 0..250 {
            stepper.attempt(0.01).unwrap();
            stepper.accept();
        }
        assert!((stepper.from().q[0] - 0.5).abs() < 1e-10);
        assert!((stepper.reactions().multiplier[0] - 0.1).abs() < 1e-9, "{:?}", stepper.reactions().multiplier);
    }
}

/// Full and half steps share the estimate of other schemes: the bridge with adaptive midpoint steps.
#[test]
fn steps_adapt() {
    let bridge = DiodeBridge::default();
    let row = carom::scheme::find("euler-moreau").unwrap();
    let adaptive = Adaptive { tolerance: Some(1e-4), ..Adaptive::default() };
    let options = serde_json::json!({ "collocation": "midpoint" });
    let model = carom::scheme::AnyModel::FirstOrder(bridge.system());
    let stepper = (row.bind_adaptive)(&options, adaptive.accuracy(), model, carom_solve::solver::default()).unwrap();
    let control = adaptive.control(1e-7, (0.0, 5e-3));
    let mut simulation = Simulation::new(stepper, Box::new(control), 5e-3).unwrap();
    let mut recorder = Recorder::default();
    assert!(simulation.run(&mut [&mut recorder]).unwrap());
    let s = recorder.into_solution();
    let mut x = [0.0; 2];
    let largest = (0..s.len()).fold(0.0f64, |m, k| {
        bridge.at(s.t[k], &mut x);
        m.max((s.q(k)[0] - x[0]).abs())
    });
    assert!(largest < 0.05 && s.len() > 50 && s.len() < 5000, "{largest} in {} steps", s.len());
}

#[test]
fn wrong_matrices_and_sources_are_told() {
    let good = Matrices { e: None, a: vec![0.0], b: vec![1.0], c: vec![1.0], d: vec![] };
    let law = || vec![("y".to_string(), Law::UNILATERAL)];
    let bad = Matrices { c: vec![1.0, 2.0], ..good.clone() };
    assert_eq!(Lcs::new(bad, law(), &[0.0]).err(), Some(LcsError::Size { matrix: "C", found: 2, rows: 1, columns: 1 }));
    let bad = Matrices { a: vec![f64::NAN], ..good.clone() };
    assert_eq!(Lcs::new(bad, law(), &[0.0]).err(), Some(LcsError::NotFinite { matrix: "A", row: 0, column: 0 }));
    let friction = vec![("y".to_string(), Law::coulomb(0.1, 1))];
    assert!(matches!(Lcs::new(good.clone(), friction, &[0.0]), Err(LcsError::Law { .. })));
    assert!(matches!(Lcs::new(good.clone(), law(), &[f64::NAN]), Err(LcsError::Initial)));
    // sources that end
    let model = Lcs::new(good.clone(), law(), &[1.0]).unwrap().with_state_source(|t, a| {
        a[0] = (0.5 - t).sqrt();
        Ok(())
    });
    let error = simulate_first_order(model, EulerMoreau::default(), Span { end: 1.0, step: 0.125 }).unwrap_err();
    assert!(matches!(&error, SimulationError::Step { t, .. } if *t == 0.5), "{error}");
    let model = Lcs::new(good.clone(), law(), &[1.0])
        .unwrap()
        .with_output_source(|_, _| Err(ModelError::Callback("the table ends".into())));
    assert!(
        simulate_first_order(model, EulerMoreau::default(), Span { end: 1.0, step: 0.125 })
            .unwrap_err()
            .to_string()
            .contains("ends")
    );
}

/// No solution: 0 ≤ y = −1 − λ; the error names the row and the time.
#[test]
fn problems_without_solution_name_the_row() {
    let matrices =
        Matrices { e: None, a: vec![0.0], b: vec![0.0, 0.0], c: vec![0.0, -1.0], d: vec![1.0, 0.0, 0.0, -1.0] };
    let laws = vec![("fine".to_string(), Law::UNILATERAL), ("ill".to_string(), Law::UNILATERAL)];
    let model = Lcs::new(matrices, laws, &[-1.0]).unwrap().with_constant_state_source(&[1.0]).unwrap();
    // y₂ = −x − λ₂ is fine until x passes 0
    let error = simulate_first_order(model, EulerMoreau::default(), Span { end: 2.0, step: 0.125 }).unwrap_err();
    assert!(matches!(&error, SimulationError::Step { t, .. } if (*t - 1.0).abs() < 1e-12), "{error}");
    assert!(error.to_string().contains("`ill`"), "{error}");
}

/// A capacitor behind a resistor and a diode that blocks from the start, for the source falls faster than the voltage
/// decays: x = e^{−t/RC}. The reverse voltage λ = x − u grows, and the output i = (u − x + λ)/r sees it directly.
#[test]
fn a_diode_that_blocks_does_not_leak() {
    let (decay, charge, fall) = (8.0, 600.0, 20.0);
    let matrices = Matrices { e: None, a: vec![-decay - charge], b: vec![charge], c: vec![-1.0], d: vec![1.0] };
    let source = move |weight: f64| {
        move |t: f64, out: &mut [f64]| {
            out[0] = weight * (1.0 - fall * t);
            Ok(())
        }
    };
    for h in [1e-3, 5e-4] {
        let lcs = Lcs::new(matrices.clone(), vec![("diode".into(), Law::UNILATERAL)], &[1.0]).unwrap();
        let lcs = lcs.with_state_source(source(charge)).with_output_source(source(1.0));
        let solution = record(EulerMoreau::default(), Box::new(lcs), 0.1, h);
        let exact = (-decay * 0.1f64).exp();
        let missed = (solution.q(solution.len() - 1)[0] / exact - 1.0).abs();
        // θ = 1 decays by 1/(1 + h/RC) per step
        assert!(missed < 0.6 * 0.1 * decay * decay * h, "{h}: {missed}");
    }
}
