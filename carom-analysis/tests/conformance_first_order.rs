//! The conformance suite of first-order schemes: every row of the registry, with its variants, has the orders that it
//! claims.

mod claims;

use carom::scheme::{AnyModel, Family};
use carom::simulation::FixedStep;
use carom::testbed::{Corner, DiodeBridge, Disc, ExactState, Play, Rectifier, Sign, SlidingMode, ThirdDegree};
use carom::{Simulation, Solution};
use carom_analysis::error::{Graph, HausdorffOptions, hausdorff, log_log_slope};
use claims::{Claimed, claimed};
use serde_json::{Value, json};

fn find(name: &str, options: Value) -> Claimed {
    claimed(Family::FirstOrder)
        .into_iter()
        .find(|claim| claim.row.info.name == name && claim.options == options)
        .unwrap()
}

/// A run over equal steps; nothing where the scheme does not take the model.
fn run(claim: &Claimed, exact: &dyn ExactState, steps: usize) -> Option<Solution> {
    let model = AnyModel::FirstOrder(exact.system());
    let stepper = (claim.row.bind)(&claim.options, model, carom_solve::solver::default()).ok()?;
    let h = exact.span() / steps as f64;
    let mut simulation = Simulation::new(stepper, Box::new(FixedStep { h }), exact.span()).unwrap();
    Some(simulation.record().unwrap_or_else(|e| panic!("{} on {}: {e}", claim.name(), exact.name())))
}

/// Largest error at the grid points, in the Euclidean norm.
fn error(solution: &Solution, exact: &dyn ExactState) -> f64 {
    let mut x = vec![0.0; exact.dimension()];
    let mut worst = 0.0f64;
    for (k, &t) in solution.t.iter().enumerate() {
        exact.at(t, &mut x);
        let square: f64 = solution.q(k).iter().zip(&x).map(|(a, b)| (a - b) * (a - b)).sum();
        worst = worst.max(square.sqrt());
    }
    worst
}

/// Order of the largest error between numbers of steps, as a fit; nothing where the scheme does not take the model.
fn order(claim: &Claimed, exact: &dyn ExactState, counts: &[usize]) -> Option<f64> {
    let mut errors = Vec::new();
    for &count in counts {
        errors.push(error(&run(claim, exact, count)?, exact));
    }
    let steps: Vec<f64> = counts.iter().map(|n| exact.span() / *n as f64).collect();
    println!("{} on {}: errors {errors:?}", claim.name(), exact.name());
    Some(log_log_slope(&steps, &errors).unwrap().slope)
}

/// The claimed order is that of the problem that makes it hardest among those that a scheme takes: a set that turns, a
/// bridge whose outputs see the multipliers directly, an impact of relative degree 3.
#[test]
fn claimed_orders() {
    for claim in claimed(Family::FirstOrder) {
        let measured = match claim.row.info.name {
            "catching-up" => order(&claim, &Disc::default(), &[200, 400, 800]),
            "euler-moreau" => order(&claim, &DiodeBridge::default(), &[2500, 5000, 10000, 20000]),
            "homsp" => Some(graph_order(&claim, &ThirdDegree::default())),
            name => panic!("the suite has no problem for the scheme {name}"),
        };
        let measured = measured.unwrap();
        println!("{}: {measured:.3}", claim.name());
        assert!((measured - claim.order.position).abs() <= 0.1, "{}: order {measured}", claim.name());
    }
}

/// Order in the Hausdorff distance of filled-in graphs.
fn graph_order(claim: &Claimed, exact: &ThirdDegree) -> f64 {
    let (mut steps, mut distances) = (Vec::new(), Vec::new());
    for count in [500, 1000, 2000] {
        let solution = run(claim, exact, count).unwrap();
        let h = exact.span() / count as f64;
        let staircase = Graph::staircase(&solution.t, solution.positions(), 5).unwrap();
        let graph = Graph::state(exact, 0.0, exact.span(), 0.02 * h).unwrap();
        let options = HausdorffOptions::with_tolerance(0.02 * h);
        distances.push(hausdorff(&staircase, &graph, &options).unwrap().distance);
        steps.push(h);
    }
    println!("{}: distances {distances:?}", claim.name());
    log_log_slope(&steps, &distances).unwrap().slope
}

/// Both readings of the sign in system (65).
#[test]
fn higher_order_sweeping_with_the_other_sign() {
    let claim = find("homsp", json!({}));
    let measured = graph_order(&claim, &ThirdDegree::new(Sign::Minus, 10.0));
    assert!((measured - 1.0).abs() <= 0.1, "{measured}");
}

/// Catching-up: order 2 in one dimension with smooth ends (largest errors as computed independently), exact for a
/// polyhedron that translates.
#[test]
fn catching_up_where_it_is_better() {
    let claim = find("catching-up", json!({}));
    let errors = [400, 800].map(|count| error(&run(&claim, &Play, count).unwrap(), &Play));
    assert!((errors[0] - 1.2337e-4).abs() < 1e-7 && (errors[1] - 3.0842e-5).abs() < 1e-7, "{errors:?}");
    let order = (errors[0] / errors[1]).log2();
    assert!((order - 2.0).abs() < 0.05, "{order}");
    for count in [50, 1000] {
        let error = error(&run(&claim, &Corner, count).unwrap(), &Corner);
        assert!(error <= 1e-14, "{error}");
    }
}

/// Theta schemes on the rectifier with an inductive load: the current is continuous, λ acts through relative degree 1.
/// With the law at the middle of steps the current at their ends does not rest after it has ended, but changes sign
/// from step to step with what the last conducting step left: order 1, with scatter.
#[test]
fn theta_schemes_on_the_rectifier() {
    let rectifier = Rectifier::default();
    for (options, expected, tolerance) in
        [(json!({}), 2.0, 0.05), (json!({ "theta": 1.0 }), 1.0, 0.05), (json!({ "collocation": "midpoint" }), 1.0, 0.3)]
    {
        let claim = find("euler-moreau", options);
        let measured = order(&claim, &rectifier, &[1250, 2500, 5000]).unwrap();
        println!("{}: {measured:.3}", claim.name());
        assert!((measured - expected).abs() < tolerance, "{}: {measured}", claim.name());
    }
}

/// Smooth motion: the bridge is a linear resistor; a sine that only drives a resistor and an inductor has no event
/// before the current ends.
#[test]
fn smooth_orders() {
    for claim in claimed(Family::FirstOrder).iter().filter(|claim| claim.row.info.name == "euler-moreau") {
        let rectifier = Smooth(Rectifier::default());
        let measured = order(claim, &rectifier, &[100, 200, 400]).unwrap();
        println!("{}: {measured:.3}", claim.name());
        assert!((measured - claim.order.smooth).abs() < 0.1, "{}: {measured}", claim.name());
    }
}

/// The first half period of the rectifier.
struct Smooth(Rectifier);

impl ExactState for Smooth {
    fn name(&self) -> &'static str {
        "conducting rectifier"
    }
    fn citation(&self) -> &'static str {
        self.0.citation()
    }
    fn dimension(&self) -> usize {
        self.0.dimension()
    }
    fn at(&self, t: f64, x: &mut [f64]) {
        self.0.at(t, x);
    }
    fn system(&self) -> Box<dyn carom::FirstOrder> {
        self.0.system()
    }
    fn span(&self) -> f64 {
        0.5 * self.0.period()
    }
}

/// No scheme that takes a problem does worse than order 1 on it, and relays neither chatter nor leave their surface.
#[test]
fn every_scheme_on_every_problem() {
    let problems: [&dyn ExactState; 4] =
        [&Disc::default(), &DiodeBridge::default(), &Rectifier::default(), &SlidingMode::default()];
    for claim in claimed(Family::FirstOrder) {
        for exact in problems {
            let counts: &[usize] =
                if exact.name() == "diode-bridge" { &[5000, 10000, 20000] } else { &[500, 1000, 2000] };
            let Some(measured) = order(&claim, exact, counts) else { continue };
            assert!(measured > 0.8, "{} on {}: order {measured}", claim.name(), exact.name());
            if exact.name() == "sliding-mode" && claim.options != json!({ "collocation": "midpoint" }) {
                let solution = run(&claim, exact, 2000).unwrap();
                let sum = |k: usize| (solution.q(k)[0] + solution.q(k)[1]).abs();
                let worst = (1500..=2000).map(sum).fold(0.0, f64::max);
                assert!(worst < 1e-14, "{}: the surface is left by {worst:e}", claim.name());
            }
        }
    }
}

/// The same input gives the same bits, also in other threads.
#[test]
fn bits_repeat() {
    fn bits(claim: &Claimed) -> Vec<u64> {
        let problems: [&dyn ExactState; 3] = [&Disc::default(), &DiodeBridge::default(), &ThirdDegree::default()];
        let runs = problems.into_iter().filter_map(|exact| run(claim, exact, 300));
        runs.flat_map(|solution| solution.positions().iter().map(|x| x.to_bits()).collect::<Vec<_>>()).collect()
    }
    for claim in claimed(Family::FirstOrder) {
        let first = bits(&claim);
        assert!(!first.is_empty(), "{}", claim.name());
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| bits(&claim))).collect();
            assert!(threads.into_iter().all(|t| t.join().unwrap() == first), "{}", claim.name());
        });
    }
}
