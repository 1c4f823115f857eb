//! The higher-order sweeping process: checks O6-O12, similarity transforms, badly scaled systems, several constraints
//! against a motion by events, sources, typed errors.

mod extreme;
mod form;
mod refusals;
mod system_65;
mod two_masses;

use carom::model::{Lcs, Matrices};
use carom::scheme::{Bound, EulerMoreau, Homsp, Stepper};
use carom::simulation::FixedStep;
use carom::zero_dynamics::report;
use carom::{Simulation, SimulationError};
use carom_solve::Law;

/// States and μ of every step.
struct Run {
    t: Vec<f64>,
    x: Vec<Vec<f64>>,
    levels: Vec<Vec<f64>>,
    outputs: Vec<Vec<f64>>,
}

impl Run {
    fn last(&self) -> &[f64] {
        self.x.last().unwrap()
    }

    /// Sum of the μ of a level.
    fn total(&self, level: usize) -> f64 {
        self.levels.iter().map(|mu| mu[level]).sum()
    }
}

fn run(model: Lcs, end: f64, h: f64) -> Run {
    try_run(model, end, h).unwrap()
}

fn try_run(model: Lcs, end: f64, h: f64) -> Result<Run, SimulationError> {
    let stepper = Bound::new(Homsp {}, Box::new(model), carom_solve::solver::default())?;
    let mut simulation = Simulation::new(Box::new(stepper), Box::new(FixedStep { h }), end)?;
    let mut run = Run { t: vec![], x: vec![], levels: vec![], outputs: vec![] };
    while simulation.advance()?.is_some() {
        run.t.push(simulation.state().t);
        run.x.push(simulation.state().q.clone());
        let reactions = simulation.stepper().reactions();
        run.levels.push(reactions.levels.clone());
        run.outputs.push(reactions.after.clone());
    }
    Ok(run)
}

fn rows(names: &[&str]) -> Vec<(String, Law)> {
    names.iter().map(|name| (name.to_string(), Law::UNILATERAL)).collect()
}

/// A chain of three integrators, w = x₁ ≥ 0.
fn chain(b: [f64; 3], initial: [f64; 3]) -> Lcs {
    let a = vec![0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
    let matrices = Matrices { e: None, a, b: b.to_vec(), c: vec![1.0, 0.0, 0.0], d: vec![] };
    Lcs::new(matrices, rows(&["stop"]), &initial).unwrap()
}

/// x and λ of the first steps of backward Euler.
fn backward_euler(model: Lcs, h: f64, steps: usize) -> Vec<(Vec<f64>, f64)> {
    let scheme = EulerMoreau { theta: Some(1.0), any_degree: true, ..EulerMoreau::default() };
    let mut stepper = Bound::new(scheme, Box::new(model), carom_solve::solver::default()).unwrap();
    let mut out = Vec::new();
    for _ in 0..steps {
        stepper.attempt(h).unwrap();
        out.push((stepper.to().q.clone(), stepper.reactions().multiplier[0]));
        stepper.accept();
    }
    out
}

fn close(a: &[f64], b: &[f64], relative: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= relative * b.abs().max(f64::MIN_POSITIVE))
}

/// O7 and its neighbours: backward Euler runs on relative degree 2 and 3, and depends on h.
#[test]
fn backward_euler_is_inconsistent() {
    for h in [1.0, 0.1, 1e-3] {
        let steps = backward_euler(chain([0.0, 1.0, 0.0], [-1.0, -1.0, 0.0]), h, 3);
        assert!(close(&steps[2].0, &[2.0, 1.0 / h, 0.0], 1e-12), "{h}: {:?}", steps[2]);
        assert!(close(&[steps[0].1], &[(1.0 + h) / (h * h)], 1e-12), "{h}: {:?}", steps[0]);
        let steps = backward_euler(chain([0.0, 1.0, 0.0], [0.0, -1.0, 0.0]), h, 3);
        assert!(steps.iter().all(|s| s.0.iter().all(|x| x.abs() < 1e-14)) && close(&[steps[0].1], &[1.0 / h], 1e-12));
        // relative degree 3: x_k = (h k(k−1)/2, k−1, 1/h)
        let steps = backward_euler(chain([0.0, 0.0, 1.0], [0.0, -1.0, 0.0]), h, 4);
        assert!(close(&steps[3].0, &[6.0 * h, 3.0, 1.0 / h], 1e-11), "{h}: {:?}", steps[3]);
        assert!(close(&[steps[0].1], &[1.0 / (h * h)], 1e-12));
        let steps = backward_euler(chain([0.0, 0.0, 1.0], [0.0, 0.0, -1.0]), h, 2);
        assert!(steps[1].0.iter().all(|x| x.abs() < 1e-14) && close(&[steps[0].1], &[1.0 / h], 1e-12));
    }
    let steps = backward_euler(chain([0.0, 0.0, 1.0], [-1.0, -1.0, 0.0]), 0.1, 2);
    assert!(close(&steps[1].0, &[2.1, 21.0, 110.0], 1e-11) && close(&[steps[0].1], &[1100.0], 1e-11), "{steps:?}");
}

/// O8 and its neighbours.
#[test]
fn chains_are_stopped_in_one_step_whatever_its_size() {
    let cases = [
        ([0.0, 1.0, 0.0], [0.0, -1.0, 0.0], vec![0.0, 1.0]),
        ([0.0, 1.0, 0.0], [-1.0, -1.0, 0.0], vec![1.0, 1.0]),
        ([0.0, 0.0, 1.0], [0.0, -1.0, 0.0], vec![0.0, 1.0, 0.0]),
        ([0.0, 0.0, 1.0], [-1.0, -1.0, 0.0], vec![1.0, 1.0, 0.0]),
        ([0.0, 0.0, 1.0], [0.0, 0.0, -1.0], vec![0.0, 0.0, 1.0]),
    ];
    for h in [1.0, 0.1, 1e-3, 1e-6] {
        for (b, initial, mu) in &cases {
            let run = run(chain(*b, *initial), 5.0 * h, h);
            let (first, rest) = run.levels.split_first().unwrap();
            assert!(first.iter().zip(mu).all(|(a, b)| (a - b).abs() <= 1e-14), "{h} {b:?} {initial:?}: {first:?}");
            assert!(rest.iter().flatten().all(|mu| mu.abs() <= 1e-14));
            assert!(run.x.iter().flatten().all(|x| x.abs() <= 1e-14), "{:?}", run.x);
        }
    }
}

/// r = 2 is Moreau-Jean with e = 0: a ball of 1 kg from 1 m under 10 m/s².
#[test]
fn a_ball_falls_and_rests() {
    let matrices =
        Matrices { e: None, a: vec![0.0, 1.0, 0.0, 0.0], b: vec![0.0, 1.0], c: vec![1.0, 0.0], d: vec![0.0] };
    let ball =
        Lcs::new(matrices, rows(&["floor"]), &[1.0, 0.0]).unwrap().with_constant_state_source(&[0.0, -10.0]).unwrap();
    let run = run(ball, 1.0, 5e-3);
    let impact = run.levels.iter().position(|mu| mu[1] > 0.0).unwrap();
    assert!((run.t[impact] - 0.45).abs() < 1e-12 && (run.levels[impact][1] - 4.5).abs() < 1e-10);
    assert!((run.total(1) - 10.0).abs() < 1e-10, "{}", run.total(1));
    assert!(run.last().iter().all(|x| x.abs() < 1e-14));
}

/// A floor that moves, q ≥ sin t, under gravity: the ball rides on it until the floor falls faster; sources of time
/// enter differentiated.
#[test]
fn sources_of_time_are_differentiated() {
    let model = || {
        let matrices =
            Matrices { e: None, a: vec![0.0, 1.0, 0.0, 0.0], b: vec![0.0, 1.0], c: vec![1.0, 0.0], d: vec![0.0] };
        Lcs::new(matrices, rows(&["floor"]), &[0.0, 1.0])
            .unwrap()
            .with_constant_state_source(&[0.0, -0.5])
            .unwrap()
            .with_output_source(|t, c| {
                c[0] = -t.sin();
                Ok(())
            })
    };
    // contact while −sin t ≥ −1/2, so up to π/6; then free flight
    let release = std::f64::consts::FRAC_PI_6;
    let exact = |t: f64| {
        let s = t - release;
        if s < 0.0 { t.sin() } else { release.sin() + release.cos() * s - 0.25 * s * s }
    };
    let errors = [1e-3, 5e-4].map(|h| {
        let run = run(model(), 1.0, h);
        // the impulse is ∫ (1/2 − sin t) dt
        let wanted = 0.5 * release - (1.0 - release.cos());
        assert!((run.total(1) - wanted).abs() < 2.0 * h, "{} {wanted}", run.total(1));
        (0..run.t.len()).map(|k| (run.x[k][0] - exact(run.t[k])).abs()).fold(0.0, f64::max)
    });
    assert!(errors[1] < 1e-3 && ((errors[0] / errors[1]).log2() - 1.0).abs() < 0.1, "{errors:?}");
}

/// An equality of relative degree 2: x₁ = 0 is reached and held at once; and E is not the unit matrix.
#[test]
fn equalities_hold_all_levels() {
    let matrices = Matrices {
        e: Some(vec![2.0, 0.0, 0.0, 4.0]),
        a: vec![0.0, 2.0, -4.0, 0.0],
        b: vec![0.0, 4.0],
        c: vec![1.0, 0.0],
        d: vec![],
    };
    let lcs = Lcs::new(matrices, vec![("hold".into(), Law::EQUALITY)], &[1.0, -3.0]).unwrap();
    let run = run(lcs, 0.1, 0.01);
    assert!(run.x.iter().flatten().all(|x| x.abs() < 1e-14));
    assert!((run.levels[0][0] + 1.0).abs() < 1e-14 && (run.levels[0][1] - 3.0).abs() < 1e-13, "{:?}", run.levels[0]);
}

#[test]
fn relative_degrees_zero_and_one_work_as_well() {
    // r = 0: y = x − 1 + λ, ẋ = −x + 2λ
    let matrices = Matrices { e: None, a: vec![-1.0], b: vec![2.0], c: vec![1.0], d: vec![1.0] };
    let lcs =
        || Lcs::new(matrices.clone(), rows(&["y"]), &[2.0]).unwrap().with_constant_output_source(&[-1.0]).unwrap();
    assert_eq!(report(&lcs()).zeros, [(-3.0, 0.0)]);
    let solution = carom::simulate_first_order(lcs(), Homsp {}, carom::Span { end: 4.0, step: 1e-3 }).unwrap();
    let first = 2.0f64.ln();
    let wanted = (2.0 + (-3.0 * (4.0 - first)).exp()) / 3.0;
    assert!((solution.q(solution.len() - 1)[0] - wanted).abs() < 1e-6);
    // r = 1: ẋ = −x − 1 + λ, y = x
    let matrices = Matrices { e: None, a: vec![-1.0], b: vec![1.0], c: vec![1.0], d: vec![] };
    let lcs = Lcs::new(matrices, rows(&["y"]), &[2.0]).unwrap().with_constant_state_source(&[-1.0]).unwrap();
    let run = run(lcs, 3.0, 1e-3);
    assert_eq!(run.last(), [0.0]);
    // λ = 1 in contact, from ln 3 on
    assert!((run.total(0) - (3.0 - 3.0f64.ln())).abs() < 2e-3);
}
