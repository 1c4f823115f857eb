//! Adaptive steps by step doubling: the reference numbers of the specification (O26, O27 and the table of work against
//! error), and what the published estimators cannot see.

use carom::model::{Contact, Lagrangian};
use carom::scheme::{
    AnyModel, BindError, Bound, Doubled, Estimator, Family, Forecast, MoreauJean, SCHEMES, SchemeError,
};
use carom::simulation::{Adaptive, LedgerObserver, Recorder, StandardControl, simulate_adaptive};
use carom::testbed::{BouncingBall, ExactSolution, LinearOscillator};
use carom::{Simulation, SimulationError, Solution, Span, StepError, simulate};
use serde_json::json;

/// The parameters of the published experiments.
fn published(tolerance: f64, estimator: Estimator) -> Adaptive {
    let (safety, shrink, grow) = (1.0, 0.5, 5.0);
    Adaptive {
        tolerance: Some(tolerance),
        estimator,
        safety,
        shrink,
        grow,
        min: Some(1e-13),
        max: Some(5.0),
        ..Adaptive::default()
    }
}

/// Moreau-Jean with the activation at zero, as in the reference runs.
fn scheme(forecast: Forecast) -> MoreauJean {
    MoreauJean { forecast, activation: Some(0.0), ..MoreauJean::default() }
}

/// l1 norm of the error in q, with trapezoidal weights.
fn l1(s: &Solution, exact: &dyn ExactSolution) -> f64 {
    let (mut q, mut v) = ([0.0], [0.0]);
    let mut errors = Vec::new();
    for k in 0..s.len() {
        exact.at(s.t[k], &mut q, &mut v);
        errors.push((s.q(k)[0] - q[0]).abs());
    }
    s.t.windows(2).zip(errors.windows(2)).map(|(t, e)| 0.5 * (t[1] - t[0]) * (e[0] + e[1])).sum()
}

/// Error and work (linearised steps, three per attempt) of the tolerances 1e-2 ... 1e-9.
fn diagram(
    model: impl Fn() -> Lagrangian,
    exact: &dyn ExactSolution,
    scheme: &MoreauJean,
    estimator: Estimator,
) -> Vec<(f64, f64)> {
    (2..=9)
        .map(|k| {
            let adaptive = published(10f64.powi(-k), estimator);
            let s = simulate_adaptive(model(), scheme.clone(), &adaptive, Span { end: 5.0, step: 1e-2 }).unwrap();
            assert_eq!(s.statistics.iterations, 3 * (s.statistics.steps + s.statistics.rejected));
            (l1(&s, exact), s.statistics.iterations as f64)
        })
        .collect()
}

/// The exponent s of work ~ error^{-s}, from a fit of log(error) over log(work) as in the reference.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().map(|(error, work)| (work.ln(), error.ln())).unzip();
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let spread: f64 = x.iter().map(|x| (x - mx).powi(2)).sum();
    let slope = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum::<f64>() / spread;
    -1.0 / slope
}

fn close(actual: f64, expected: f64, relative: f64) {
    assert!((actual / expected - 1.0).abs() <= relative, "{actual:e} is not {expected:e} to {relative:e}");
}

/// The table of section 7: exponents to 0.05, work at the tolerance 1e-9 to a few per cent (its last digits are those
/// of the rounding of accepted or rejected steps), errors to a factor of two.
#[test]
fn work_against_error_is_the_published_one() {
    use Estimator::{Position, VariableOrder};
    let (ball, oscillator) = (BouncingBall::default(), LinearOscillator::default());
    let one = Forecast::Explicit { gamma: 1.0 };
    for (forecast, estimator, s, error, work) in [
        (Forecast::Free, Position, 0.16, 9.4e-10, 2436.0),
        (Forecast::Free, VariableOrder, 0.18, 8.1e-10, 3612.0),
        (one, Position, 0.34, 9.3e-5, 1671.0),
        (one, VariableOrder, 0.32, 9.3e-5, 2046.0),
    ] {
        let points = diagram(|| ball.model(), &ball, &scheme(forecast), estimator);
        assert!((exponent(&points) - s).abs() < 0.05, "{forecast:?} {estimator:?}: {}", exponent(&points));
        close(points[7].1, work, 0.05);
        assert!(points[7].0 < 2.0 * error && points[7].0 > 0.5 * error, "{:e}", points[7].0);
    }
    for (estimator, s, error, work) in [(Position, 0.43, 7.7e-7, 17688.0), (VariableOrder, 0.30, 1.1e-6, 9852.0)] {
        let points = diagram(|| oscillator.model(), &oscillator, &scheme(Forecast::Free), estimator);
        assert!((exponent(&points) - s).abs() < 0.05, "{estimator:?}: {}", exponent(&points));
        close(points[7].1, work, 0.05);
        close(points[7].0, error, 0.1);
    }
}

/// Checks O26 and O27.
#[test]
fn variable_order_saves_work_on_the_oscillator() {
    let o = LinearOscillator::default();
    let run = |estimator| {
        simulate_adaptive(o.model(), scheme(Forecast::Free), &published(1e-9, estimator), Span { end: 5.0, step: 1e-2 })
            .unwrap()
    };
    let (position, variable) = (run(Estimator::Position), run(Estimator::VariableOrder));
    assert!(l1(&position, &o) < 2e-6 && position.statistics.iterations < 25_000);
    assert!((variable.statistics.iterations as f64) < 0.7 * position.statistics.iterations as f64);
}

/// Constant steps: the exponent of the same table, from geometric means over 8 neighbouring grids.
#[test]
fn constant_steps_need_work_like_one_over_the_error() {
    fn constant(model: impl Fn() -> Lagrangian, exact: &dyn ExactSolution, forecast: Forecast) -> f64 {
        let level = |base: u32| {
            let grids: Vec<u32> = (base..).filter(|n| n % 5 != 0).take(8).collect();
            let run =
                |n: &u32| simulate(model(), scheme(forecast), Span { end: 5.0, step: 5.0 / f64::from(*n) }).unwrap();
            let errors: f64 = grids.iter().map(|n| l1(&run(n), exact).ln()).sum();
            let work: f64 = grids.iter().map(|n| f64::from(*n).ln()).sum();
            ((errors / 8.0).exp(), (work / 8.0).exp())
        };
        exponent(&[101, 201, 401, 801, 1601, 3201].map(level))
    }
    let (ball, oscillator) = (BouncingBall::default(), LinearOscillator::default());
    for (gamma, expected) in [(None, 0.99), (Some(1.0), 0.98), (Some(0.0), 1.00)] {
        let forecast = gamma.map_or(Forecast::Free, |gamma| Forecast::Explicit { gamma });
        let found = constant(|| ball.model(), &ball, forecast);
        assert!((found - expected).abs() < 0.05, "{forecast:?}: {found} instead of {expected}");
    }
    // on the oscillator 8 neighbours still scatter by 0.1; the reference allows an order of 1 +- 0.15 (O8)
    let found = 1.0 / constant(|| oscillator.model(), &oscillator, Forecast::Free);
    assert!((found - 1.0).abs() < 0.15, "{found}");
}

/// The default estimator: less work than the published ones at the same error, with every forecast.
#[test]
fn impacts_are_controlled_whatever_the_forecast() {
    let (b, o) = (BouncingBall::default(), LinearOscillator::default());
    for gamma in [None, Some(0.0), Some(0.5), Some(1.0), Some(2.0)] {
        let forecast = gamma.map_or(Forecast::Free, |gamma| Forecast::Explicit { gamma });
        for tolerance in [1e-4, 1e-6, 1e-8] {
            let adaptive = Adaptive { tolerance: Some(tolerance), ..Adaptive::default() };
            let s = simulate_adaptive(b.model(), scheme(forecast), &adaptive, Span { end: 5.0, step: 1e-2 }).unwrap();
            let lowest = s.coordinate(0).into_iter().fold(f64::INFINITY, f64::min);
            // every bounce adds an error of the tolerance to the following ones
            assert!(l1(&s, &b) < 100.0 * tolerance, "{forecast:?} {tolerance:e}: {:e}", l1(&s, &b));
            assert!(lowest > -10.0 * tolerance, "{forecast:?} {tolerance:e}: {lowest:e}");
        }
    }
    let adaptive = Adaptive { tolerance: Some(4e-10), ..Adaptive::default() };
    let s = simulate_adaptive(o.model(), scheme(Forecast::Free), &adaptive, Span { end: 5.0, step: 1e-2 }).unwrap();
    assert!(l1(&s, &o) < 1.1e-6 && s.statistics.iterations < 9852, "{:e} {:?}", l1(&s, &o), s.statistics);
}

/// Full and half steps overlook the same impacts if the forecast does not reach the end of the step.
#[test]
fn blind_combinations_are_refused() {
    let row = carom::scheme::find("moreau-jean").unwrap();
    let bind = |gamma: f64, estimator| {
        let options = json!({ "forecast": { "explicit": { "gamma": gamma } } });
        let model = AnyModel::Mechanical(Box::new(BouncingBall::default().model()));
        let accuracy = published(1e-6, estimator).accuracy();
        (row.bind_adaptive)(&options, accuracy, model, carom_solve::solver::default()).map(|_| ())
    };
    for estimator in [Estimator::Position, Estimator::VariableOrder] {
        for gamma in [0.0, 0.5] {
            let error = bind(gamma, estimator).unwrap_err();
            assert!(matches!(error, BindError::Scheme(SchemeError::Blind { scheme: "moreau-jean", .. })), "{error}");
            assert!(error.to_string().contains("gamma < 1") && error.to_string().contains("`impact`"), "{error}");
        }
        assert_eq!(bind(1.0, estimator), Ok(()));
    }
    assert_eq!(bind(0.0, Estimator::Impact), Ok(()));
}

/// A ball thrown at a ceiling that it reaches and leaves between the ends of a half step: free flight is exact, so that
/// positions tell nothing.
#[test]
fn an_impact_inside_a_half_step_is_seen() {
    let (y0, v0, ceiling, e) = (0.82, 1.5, 0.925, 0.5);
    let model = || {
        Lagrangian::new(1)
            .constant_mass(&[1.0])
            .force(|_, _, _, f| f[0] = -10.0)
            .contact(
                Contact::new("ceiling", move |_, q| ceiling - q[0]).gradient(|_, _, row| row[0] = -1.0).restitution(e),
            )
            .initial(&[y0], &[v0])
    };
    let run = |estimator| {
        let adaptive = Adaptive { tolerance: Some(1e-7), estimator, max: Some(0.4), ..Adaptive::default() };
        simulate_adaptive(model(), MoreauJean::default(), &adaptive, Span { end: 0.4, step: 0.4 }).unwrap()
    };
    for blind in [Estimator::Position, Estimator::VariableOrder] {
        assert!(run(blind).impacts.is_empty());
    }
    let s = run(Estimator::Impact);
    let t1 = (v0 - (v0 * v0 - 20.0 * (ceiling - y0)).sqrt()) / 10.0;
    let (after, left) = (-e * (v0 - 10.0 * t1), 0.4 - t1);
    let expected = ceiling + after * left - 5.0 * left * left;
    assert_eq!(s.impacts.len(), 1);
    assert!((s.impacts[0].t - t1).abs() < 1e-6);
    assert!((s.q(s.len() - 1)[0] - expected).abs() < 1e-6, "{} {expected}", s.q(s.len() - 1)[0]);
}

/// Too small a tolerance for the smallest step: a typed error with time, step and error; everything before it is kept.
#[test]
fn the_smallest_step_is_respected() {
    let scheme = Doubled { base: MoreauJean::default(), accuracy: published(1e-9, Estimator::Impact).accuracy() };
    let model = Box::new(BouncingBall::default().model());
    let stepper = Bound::new(scheme, model, carom_solve::solver::default()).unwrap();
    let control = StandardControl { first: 1e-2, safety: 0.9, shrink: 0.2, grow: 5.0, min: 1e-3, max: 0.5 };
    let mut simulation = Simulation::new(Box::new(stepper), Box::new(control), 5.0).unwrap();
    let mut recorder = Recorder::default();
    let error = simulation.run(&mut [&mut recorder]).unwrap_err();
    let SimulationError::StepTooSmall { t, h, error } = error else { panic!("{error}") };
    // the first impact is at t = 1
    assert!(h == 1e-3 && error > 1.0 && t < 1.0 && t > 1.0 - 2e-3, "{t} {h} {error}");
    let kept = recorder.into_solution();
    assert_eq!(kept.len() as u64, simulation.statistics().steps + 1);
    assert!(kept.t.last() == Some(&t) && kept.len() > 2);
    for k in 0..kept.len() {
        assert!((kept.q(k)[0] - (1.0 - kept.t[k] * kept.t[k])).abs() < 1e-12);
    }
}

#[test]
fn the_end_is_met_exactly_and_steps_have_their_limits() {
    let o = LinearOscillator::default();
    let adaptive = Adaptive { tolerance: Some(1e-3), max: Some(0.03), ..Adaptive::default() };
    let s = simulate_adaptive(o.model(), MoreauJean::default(), &adaptive, Span { end: 4.7, step: 1e-2 }).unwrap();
    assert_eq!(s.t.last(), Some(&4.7));
    let largest = s.t.windows(2).map(|t| t[1] - t[0]).fold(0.0, f64::max);
    assert!(largest <= 0.03 + 1e-15 && largest > 0.029, "{largest}");
    assert_eq!(s.len() as u64, s.statistics.steps + 1);
    assert!(s.statistics.rejected > 0);
}

#[test]
fn runs_are_the_same_every_time() {
    let run = || {
        let adaptive = Adaptive { tolerance: Some(1e-7), relative: 1e-7, ..Adaptive::default() };
        simulate_adaptive(
            LinearOscillator::default().model(),
            MoreauJean::default(),
            &adaptive,
            Span { end: 5.0, step: 1e-2 },
        )
        .unwrap()
    };
    assert_eq!(run(), run());
}

/// The energy ledger of doubled steps: with constant forces the scheme balances energy to round-off, impacts included.
#[test]
fn energy_is_accounted_for() {
    let scheme = Doubled { base: MoreauJean::default(), accuracy: published(1e-5, Estimator::Impact).accuracy() };
    let model = Lagrangian::new(1)
        .constant_mass(&[1.0])
        .force(|_, _, _, f| f[0] = -2.0)
        .potential(|q| 2.0 * q[0])
        .contact(Contact::new("floor", |_, q| q[0]).gradient(|_, _, row| row[0] = 1.0).restitution(0.5))
        .initial(&[1.0], &[0.0]);
    let stepper = Bound::new(scheme, Box::new(model), carom_solve::solver::default()).unwrap();
    let control = published(1e-5, Estimator::Impact).control(1e-2, (0.0, 5.0));
    let mut simulation = Simulation::new(Box::new(stepper), Box::new(control), 5.0).unwrap();
    let mut ledger = LedgerObserver::default();
    assert!(simulation.run(&mut [&mut ledger]).unwrap());
    let ledger = ledger.ledger().unwrap();
    assert!(ledger.residue().abs() < 1e-12 && (ledger.impact_loss - 2.0).abs() < 1e-3, "{ledger:?}");
}

/// Newton's loop fails with the first step; a smaller one is taken instead of giving up.
#[test]
fn a_step_that_fails_is_tried_again_with_a_smaller_one() {
    let pendulum = || {
        Lagrangian::new(1)
            .constant_mass(&[1.0])
            .force(|_, q, _, f| f[0] = -100.0 * q[0].sin() - 10.0 * (3.0 * q[0]).sin())
            .initial(&[2.0], &[0.0])
    };
    let scheme = || MoreauJean { newton_iterations: 3, ..MoreauJean::default() };
    let error = simulate(pendulum(), scheme(), Span { end: 1.0, step: 0.5 }).unwrap_err();
    assert!(matches!(error, SimulationError::Step { source: StepError::Newton { .. }, .. }), "{error}");
    let adaptive = Adaptive { tolerance: Some(1e-8), max: Some(0.5), ..Adaptive::default() };
    let s = simulate_adaptive(pendulum(), scheme(), &adaptive, Span { end: 1.0, step: 0.5 }).unwrap();
    let fine = simulate(pendulum(), MoreauJean::default(), Span { end: 1.0, step: 1e-5 }).unwrap();
    let (end, reference) = (s.q(s.len() - 1)[0], fine.q(fine.len() - 1)[0]);
    assert!((end - reference).abs() < 1e-4, "{end} {reference}");
}

/// A block that slides and stops by friction, with the closed form x = v0²/(2 μ g).
#[test]
fn friction_is_controlled_as_well() {
    let (v0, mu, g) = (1.0, 0.3, 10.0);
    let contact = Contact::new("ground", |_, q| q[1]).gradient(|_, _, row| row.copy_from_slice(&[0.0, 1.0]));
    let model = Lagrangian::new(2)
        .constant_mass(&[2.0, 0.0, 0.0, 2.0])
        .force(move |_, _, _, f| f.copy_from_slice(&[0.0, -2.0 * g]))
        .contact(contact.friction(mu, |_, q| q[0]))
        .initial(&[0.0, 0.0], &[v0, 0.0]);
    let adaptive = Adaptive { tolerance: Some(1e-8), ..Adaptive::default() };
    let s = simulate_adaptive(model, MoreauJean::default(), &adaptive, Span { end: 1.0, step: 1e-2 }).unwrap();
    let last = s.len() - 1;
    assert!((s.q(last)[0] - v0 * v0 / (2.0 * mu * g)).abs() < 1e-6, "{:?}", s.q(last));
    assert!(s.v(last)[0].abs() < 1e-9 && s.statistics.steps < 500, "{:?} {:?}", s.v(last), s.statistics);
}

/// Every scheme of the registry becomes adaptive without a line of its own, or says why it cannot.
#[test]
fn every_scheme_is_adaptive() {
    for row in SCHEMES.iter().filter(|row| row.family == Family::Mechanical) {
        let name = row.info.name;
        for tolerance in [1e-4, 1e-6] {
            let adaptive = Adaptive { tolerance: Some(tolerance), ..Adaptive::default() };
            let bind = |ball: &BouncingBall| {
                let model = AnyModel::Mechanical(Box::new(ball.model()));
                (row.bind_adaptive)(&json!({}), adaptive.accuracy(), model, carom_solve::solver::default())
            };
            let (ball, sticky) =
                (BouncingBall::default(), BouncingBall { restitution: 0.0, ..BouncingBall::default() });
            let (ball, stepper) = match bind(&ball) {
                Err(BindError::Scheme(SchemeError::EqualSteps { scheme, .. }))
                    if scheme == "schatzman-paoli" || scheme == "corrected-paoli" =>
                {
                    break;
                }
                // no restitution
                Err(BindError::Scheme(SchemeError::Incapable { .. })) => (&sticky, bind(&sticky)),
                bound => (&ball, bound),
            };
            let control = Box::new(adaptive.control(1e-2, (0.0, 5.0)));
            let stepper = stepper.unwrap_or_else(|error| panic!("{name}: {error}"));
            let s = Simulation::new(stepper, control, 5.0).unwrap().record();
            let s = s.unwrap_or_else(|error| panic!("{name}: {error}"));
            // every step may add an error of the tolerance, in smooth motion of low order they do
            let (error, steps) = (l1(&s, ball), s.statistics.steps as f64);
            assert!(error < 5.0 * steps * tolerance && steps < 2_000.0, "{name}: {error:e} {:?}", s.statistics);
        }
    }
}

/// A mass at the origin is pressed on the floor until a force lifts it. Nothing has moved before, so what tells how
/// large its motion will be is the way that the floor has held back: without it the tolerance is a part of nothing, and
/// steps behind the take-off have 1e-6 s.
#[test]
fn what_leaves_its_rest_at_the_origin_takes_no_tiny_steps() {
    let model = || {
        let lifts = |t: f64, _: &[f64], _: &[f64], out: &mut [f64]| out[0] = 2.0 * t.sin() - 1.0;
        let floor = Contact::new("floor", |_, q| q[0]).gradient(|_, _, row| row[0] = 1.0);
        Lagrangian::new(1).force(lifts).contact(floor)
    };
    let span = Span { end: 2.9, step: 1e-2 };
    let s = simulate_adaptive(model(), MoreauJean::default(), &Adaptive::default(), span).unwrap();
    let shortest = s.t.windows(2).map(|t| t[1] - t[0]).fold(f64::INFINITY, f64::min);
    assert!(shortest > 1e-4, "{shortest}");
    // q̈ = 2 sin t − 1 from t₀ = π/6 on
    let exact = |t: f64| {
        let t0 = std::f64::consts::FRAC_PI_6;
        -2.0 * (t.sin() - t0.sin()) + 2.0 * t0.cos() * (t - t0) - 0.5 * (t - t0).powi(2)
    };
    let error = (s.q(s.len() - 1)[0] - exact(2.9)).abs();
    assert!(error < 1e-5, "{error} after {} steps", s.statistics.steps);
}
