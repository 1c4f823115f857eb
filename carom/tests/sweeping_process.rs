//! Catching-up on sweeping processes: checks O1-O3, projections against an independent method, sets that jump, typed
//! errors.

use carom::model::{Piece, Sweeping};
use carom::scheme::{Bound, CatchingUp, EulerMoreau, Scheme, StepError, Stepper};
use carom::simulation::FixedStep;
use carom::testbed::{Corner, Disc, ExactState, Play};
use carom::{FirstOrder, Simulation, SimulationError, Solution, Span, simulate_first_order};

fn run<S: Scheme<Model = dyn FirstOrder> + 'static>(scheme: S, problem: &dyn ExactState, steps: usize) -> Solution {
    let stepper = Bound::new(scheme, problem.system(), carom_solve::solver::default()).unwrap();
    let h = problem.span() / steps as f64;
    let mut simulation = Simulation::new(Box::new(stepper), Box::new(FixedStep { h }), problem.span()).unwrap();
    let solution = simulation.record().unwrap();
    assert_eq!(solution.len(), steps + 1);
    solution
}

/// Largest Euclidean error over the nodes.
fn error(solution: &Solution, problem: &dyn ExactState) -> f64 {
    let mut x = vec![0.0; problem.dimension()];
    let distance =
        |k: usize, x: &[f64]| solution.q(k).iter().zip(x).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    let mut largest = 0.0f64;
    for k in 0..solution.len() {
        problem.at(solution.t[k], &mut x);
        largest = largest.max(distance(k, &x));
    }
    largest
}

fn caught(problem: &dyn ExactState, steps: usize) -> f64 {
    error(&run(CatchingUp {}, problem, steps), problem)
}

/// O1.
#[test]
fn play_has_order_two() {
    let errors = [400, 800].map(|n| caught(&Play, n));
    assert!((errors[0] - 1.2337e-4).abs() < 1e-7, "{errors:?}");
    assert!(((errors[0] / errors[1]).log2() - 2.0).abs() < 0.05, "{errors:?}");
}

/// O2, and the closed form itself at t = 2.
#[test]
fn disc_has_order_one() {
    let disc = Disc::default();
    let mut x = [0.0; 2];
    disc.at(2.0, &mut x);
    assert!((x[0] - 1.01915118).abs() < 1e-8 && (x[1] - 0.19477060).abs() < 1e-8);
    let errors = [200, 400, 800].map(|n| caught(&disc, n));
    assert!((errors[1] - 8.7265e-4).abs() < 1e-7, "{errors:?}");
    for pair in errors.windows(2) {
        assert!(((pair[0] / pair[1]).log2() - 1.0).abs() < 0.02, "{errors:?}");
    }
}

/// O3.
#[test]
fn corner_is_exact_at_the_nodes() {
    for steps in [50, 1000, 37] {
        assert!(caught(&Corner, steps) <= 1e-14, "{}", caught(&Corner, steps));
    }
}

/// The law instead of the projection: the same first-order problems through rows and multipliers.
#[test]
fn euler_moreau_follows_the_same_sets() {
    let theta = EulerMoreau { theta: Some(1.0), ..EulerMoreau::default() };
    let implicit = |problem: &dyn ExactState, n| error(&run(theta.clone(), problem, n), problem);
    // intervals and half-planes: the same step in other words
    assert!((implicit(&Play, 400) - 1.2337e-4).abs() < 1e-7);
    assert!(implicit(&Corner, 50) <= 1e-13);
    let disc = Disc::default();
    assert!((implicit(&disc, 400) - 8.7265e-4).abs() < 1e-6, "{}", implicit(&disc, 400));
    // by default the direction of the normal counts at both ends: order 2
    let centred = [200, 400].map(|n| error(&run(EulerMoreau::default(), &disc, n), &disc));
    assert!(((centred[0] / centred[1]).log2() - 2.0).abs() < 0.1 && centred[1] < 2e-6, "{centred:?}");
}

/// One step of the catching-up algorithm from u, onto the set of `pieces` at rest.
fn project(pieces: Vec<Piece>, u: &[f64]) -> Result<(Vec<f64>, Vec<f64>), StepError> {
    let model = Box::new(Sweeping::new(pieces, u).unwrap());
    let mut stepper = Bound::new(CatchingUp {}, model as Box<dyn FirstOrder>, carom_solve::solver::default()).unwrap();
    let step = stepper.attempt(1.0)?;
    assert!(step.worst.residual < 1e-10);
    Ok((stepper.to().q.clone(), stepper.reactions().impulse.clone()))
}

/// Dykstra's alternating projections, slow and independent.
fn dykstra(u: [f64; 3], balls: &[([f64; 3], f64)], planes: &[([f64; 3], f64)]) -> [f64; 3] {
    let dot = |a: [f64; 3], b: [f64; 3]| (0..3).map(|i| a[i] * b[i]).sum::<f64>();
    let mut x = u;
    let mut corrections = vec![[0.0; 3]; balls.len() + planes.len()];
    for _ in 0..200_000 {
        for (k, correction) in corrections.iter_mut().enumerate() {
            let y: [f64; 3] = std::array::from_fn(|i| x[i] + correction[i]);
            if k < balls.len() {
                let (c, r) = balls[k];
                let d: [f64; 3] = std::array::from_fn(|i| y[i] - c[i]);
                let scale = (r / dot(d, d).sqrt()).min(1.0);
                x = std::array::from_fn(|i| c[i] + scale * d[i]);
            } else {
                let (a, b) = planes[k - balls.len()];
                let lack = ((b - dot(a, y)) / dot(a, a)).max(0.0);
                x = std::array::from_fn(|i| y[i] + lack * a[i]);
            }
            *correction = std::array::from_fn(|i| y[i] - x[i]);
        }
    }
    x
}

#[test]
fn balls_cut_by_planes_and_other_balls() {
    let balls = [([0.0, 0.0, 0.0], 1.0), ([0.8, 0.1, 0.0], 0.7)];
    let planes = [([0.3, 1.0, -0.2], 0.1), ([-1.0, 0.2, 0.5], -0.6)];
    for u in [[2.0, -1.0, 0.5], [-3.0, 0.2, 0.1], [0.6, 0.2, 0.0], [5.0, 5.0, -40.0], [0.0, 300.0, 1.0]] {
        let mut pieces = Vec::new();
        for (k, (c, r)) in balls.into_iter().enumerate() {
            pieces.push(Piece::ball(&format!("ball{k}"), r, move |_, out| out.copy_from_slice(&c)));
        }
        for (k, (a, b)) in planes.iter().enumerate() {
            let b = *b;
            pieces.push(Piece::half_space(&format!("plane{k}"), a, move |_| b));
        }
        let (x, lambda) = project(pieces, &u).unwrap();
        let reference = dykstra(u, &balls, &planes);
        assert!((0..3).all(|i| (x[i] - reference[i]).abs() < 1e-6), "{x:?} {reference:?}");
        // the conditions themselves, to rounding: u⁺ = û + Σ λ ∇g, g ≥ 0, λ ≥ 0, λ g = 0
        let mut stationary: Vec<f64> = (0..3).map(|i| x[i] - u[i]).collect();
        let size = 1.0 + stationary.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        for (k, (c, r)) in balls.iter().enumerate() {
            let distance = (0..3).map(|i| (x[i] - c[i]).powi(2)).sum::<f64>().sqrt();
            assert!(distance <= r + 1e-14 && lambda[k] >= 0.0 && lambda[k] * (r - distance) < 1e-13 * size);
            (0..3).for_each(|i| stationary[i] += lambda[k] * (x[i] - c[i]) / r);
        }
        for (k, (a, b)) in planes.iter().enumerate() {
            let slack = (0..3).map(|i| a[i] * x[i]).sum::<f64>() - b;
            let lambda = lambda[balls.len() + k];
            assert!(slack >= -1e-14 && lambda >= 0.0 && lambda * slack < 1e-13 * size);
            (0..3).for_each(|i| stationary[i] -= lambda * a[i]);
        }
        assert!(stationary.iter().all(|s| s.abs() < 2e-14 * size), "{stationary:?}");
    }
}

#[test]
fn a_set_that_jumps_takes_the_point_along() {
    let jump = Piece::interval("jump", 0, |t| if t < 0.5 { (-1.0, 1.0) } else { (3.0, 4.0) });
    let s = simulate_first_order(
        Sweeping::new(vec![jump], &[0.25]).unwrap(),
        CatchingUp {},
        Span { end: 1.0, step: 0.125 },
    )
    .unwrap();
    assert_eq!(s.coordinate(0), [0.25, 0.25, 0.25, 0.25, 3.0, 3.0, 3.0, 3.0, 3.0]);
    // an end at infinity does not act, whether it is clipped or a row
    for more in [false, true] {
        let mut pieces = vec![Piece::interval("half", 0, |t| (t, f64::INFINITY))];
        if more {
            pieces.push(Piece::half_space("plane", &[1.0], |_| -5.0));
        }
        let s =
            simulate_first_order(Sweeping::new(pieces, &[0.5]).unwrap(), CatchingUp {}, Span { end: 2.0, step: 0.25 })
                .unwrap();
        assert!((0..s.len()).all(|k| (s.q(k)[0] - s.t[k].max(0.5)).abs() < 1e-15));
    }
}

/// u̇ = 1 − u under u ≤ 1/2: u = 1 − e⁻ᵗ up to ln 2.
#[test]
fn drift_pushes_towards_the_wall() {
    let errors = [100, 200].map(|n| {
        let wall = Piece::interval("wall", 0, |_| (f64::NEG_INFINITY, 0.5));
        let model = Sweeping::new(vec![wall], &[0.0]).unwrap().with_drift(|_, u, f| {
            f[0] = 1.0 - u[0];
            Ok(())
        });
        let s = simulate_first_order(model, CatchingUp {}, Span { end: 2.0, step: 2.0 / n as f64 }).unwrap();
        assert_eq!(s.q(s.len() - 1)[0], 0.5);
        (0..s.len()).map(|k| (s.q(k)[0] - (1.0 - (-s.t[k]).exp()).min(0.5)).abs()).fold(0.0, f64::max)
    });
    assert!(((errors[0] / errors[1]).log2() - 1.0).abs() < 0.1, "{errors:?}");
}

#[test]
fn sets_that_are_empty_or_senseless_end_in_errors_with_names() {
    let failure = |pieces: Vec<Piece>| {
        let model = Sweeping::new(pieces, &[0.0, 0.0]).unwrap();
        simulate_first_order(model, CatchingUp {}, Span { end: 2.0, step: 0.125 }).unwrap_err()
    };
    // two half-planes that drift apart
    let left = Piece::half_space("left", &[1.0, 0.0], |t| t - 1.0);
    let right = Piece::half_space("right", &[-1.0, 0.0], |t| t - 1.0);
    let error = failure(vec![left, right]);
    assert!(
        matches!(&error, SimulationError::Step { t, source: StepError::Solve { .. }, .. } if *t >= 0.99),
        "{error}"
    );
    // a ball and a plane that leaves it
    let ball = Piece::ball("ball", 1.0, |_, c| c.fill(0.0));
    let error = failure(vec![ball, Piece::half_space("plane", &[0.0, 1.0], |t| t)]);
    assert!(matches!(&error, SimulationError::Step { t, .. } if *t >= 0.99), "{error}");
    // intervals without a common point
    let low = Piece::interval("low", 1, |t| (-1.0, 0.5 - t));
    let error = failure(vec![low, Piece::interval("high", 1, |_| (0.0, 1.0))]);
    assert!(error.to_string().contains("low") && error.to_string().contains("0.5"), "{error}");
    for (piece, reason) in [
        (Piece::interval("odd", 0, |t| (t, 1.0 - t)), "above"),
        (Piece::ball("odd", -1.0, |_, c| c.fill(0.0)), "radius"),
        (Piece::half_space("odd", &[0.0, 0.0], |_| 0.0), "normal"),
        (Piece::half_space("odd", &[1.0, 0.0], |t| (0.5 - t).sqrt()), "finite"),
    ] {
        // the first two steps may be fine
        let model = Sweeping::new(vec![piece], &[0.0, 0.0]).unwrap();
        let error = simulate_first_order(model, CatchingUp {}, Span { end: 2.0, step: 0.125 }).unwrap_err();
        assert!(error.to_string().contains("odd") && error.to_string().contains(reason), "{error}");
    }
}

#[test]
fn catching_up_wants_a_set() {
    let bridge = carom::testbed::DiodeBridge::default().model();
    let error = simulate_first_order(bridge, CatchingUp {}, Span { end: 1e-3, step: 1e-6 }).unwrap_err();
    assert!(error.to_string().contains("moving set"), "{error}");
}
