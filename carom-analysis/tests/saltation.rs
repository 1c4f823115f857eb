//! Exponents and orbits through impacts, against closed forms and the verified numbers of the impact oscillator.

use carom::model::{AffineRow, Linear, LinearContact, LinearTangent, SparseMatrix};
use carom::scheme::EventDriven;
use carom::scheme::event_driven::Flow;
use carom::sensitivity::Sensitivity;
use carom::{Mechanical, State};
use carom_analysis::study::lyapunov::Options;
use carom_analysis::study::saltation::{largest, saltation};
use carom_solve::Law;

/// ü + 2αu̇ + u = cos ωt above u = 0.
#[derive(Clone, Copy)]
struct Oscillator {
    damping: f64,
    frequency: f64,
    restitution: f64,
    wall: f64,
}

const SET_A: Oscillator = Oscillator { damping: 0.05, frequency: 2.8, restitution: 0.7, wall: 0.0 };

impl Oscillator {
    fn period(&self) -> f64 {
        std::f64::consts::TAU / self.frequency
    }

    fn model(&self) -> Linear {
        let matrix = |x: f64| SparseMatrix::from_triplets(1, &[(0, 0, x)]).unwrap();
        let frequency = self.frequency;
        let row = AffineRow { entries: vec![(0, 1.0)], constant: -self.wall, rate: 0.0 };
        let contact = LinearContact {
            name: "wall".into(),
            law: Law::UNILATERAL,
            restitution: self.restitution,
            tangential: 0.0,
            rows: vec![row],
        };
        Linear::new(&matrix(1.0), &matrix(2.0 * self.damping), &matrix(1.0), State::new(0.0, &[0.5], &[0.0]))
            .unwrap()
            .with_force(move |t, out| out[0] += (frequency * t).cos())
            .with_contact(contact)
    }

    fn motion(&self, scheme: EventDriven) -> Sensitivity {
        let model = || -> Box<dyn Mechanical> { Box::new(self.model()) };
        let tangent = LinearTangent::new(&mut self.model()).unwrap();
        Sensitivity::new(scheme, [model(), model()], Box::new(tangent), carom_solve::solver::default()).unwrap()
    }
}

fn options(interval: f64, intervals: usize) -> Options {
    Options { epsilon: 1e-7, interval, transient: 300, intervals, batches: 20, step: interval, count: None }
}

/// Check O19: 20000 periods of set A, and the trace identity to 1e-10.
#[test]
fn exponents_of_set_a() {
    let mut motion =
        SET_A.motion(EventDriven { flow: Flow::Rkf45, atol: Some(1e-8), rtol: 1e-8, ..EventDriven::default() });
    let spectrum = saltation(&mut motion, &options(SET_A.period(), 20_000), |_| 0.7, &|| false).unwrap();
    let [first, second] = [0, 1].map(|i| spectrum.exponents[i]);
    assert!((first.value - 0.1648).abs() < 0.005 && (second.value + 0.5827).abs() < 0.005, "{spectrum:?}");
    assert!((spectrum.sum() - spectrum.trace.unwrap()).abs() < 1e-10);
    let counted = -0.1 + 2.0 * 0.7f64.ln() * spectrum.impacts as f64 / spectrum.time;
    assert!((spectrum.sum() - counted).abs() < 1e-10);
    assert!((spectrum.impacts as f64 / 20_000.0 - 1.0).abs() < 1e-3 && spectrum.slowest > 0.1);
    assert_eq!((spectrum.sticks, spectrum.collapsed), (0, 0));
    assert!(first.error > 5e-4 && first.error < 5e-3, "{first:?}");
}

/// At ω = 2.9 the oscillator chatters and rests in every fourth period: superstable.
#[test]
fn rests_collapse_and_are_not_averaged_away() {
    let resting = Oscillator { frequency: 2.9, ..SET_A };
    let mut motion = resting.motion(EventDriven::default());
    let spectrum = saltation(&mut motion, &options(resting.period(), 400), |_| 0.7, &|| false).unwrap();
    assert!(spectrum.sticks >= 90 && spectrum.collapsed >= 90, "{} {}", spectrum.sticks, spectrum.collapsed);
    assert!(spectrum.exponents.iter().all(|e| e.value == f64::NEG_INFINITY));
    assert_eq!(spectrum.trace, None);
    assert_eq!(largest(&mut motion, resting.period(), 40, &|| false).unwrap(), f64::NEG_INFINITY);
}

/// The stable orbit of period 1 at ω = 2.5: |multiplier| 0.617338, both exponents ln of it per period.
#[test]
fn exponents_of_a_stable_orbit() {
    let stable = Oscillator { frequency: 2.5, ..SET_A };
    let mut motion = stable.motion(EventDriven::default());
    let spectrum = saltation(&mut motion, &options(stable.period(), 2000), |_| 0.7, &|| false).unwrap();
    let exact = 0.617338f64.ln() / stable.period();
    assert!(spectrum.exponents.iter().all(|e| (e.value - exact).abs() < 1e-3), "{spectrum:?}");
    assert!((0.5 * spectrum.sum() - exact).abs() < 1e-6);
    assert!((largest(&mut motion, stable.period(), 2000, &|| false).unwrap() - exact).abs() < 1e-3);
}

/// A mass on a floor, pulled by a spring and a force: two exponents are those of the oscillator, −c/2 each, and two
/// have collapsed with the contact that is never open. With friction that stops the mass in each period one is left,
/// that of the places where it sticks.
#[test]
fn closed_contacts_have_collapsed_exponents() {
    let text = |mu: f64, force: f64| {
        format!(
            r#"
version = 1
name = "mass on a floor"
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "10*y + x^2/2"
force.x = "{force}*cos(2.5*t) - 0.3*x'"
[[contact]]
name = "floor"
gap = "y"
slip = "x"
friction = {mu}
[initial]
x = 0.1
[simulation]
end = 1
step = 0.1
"#
        )
    };
    let period = std::f64::consts::TAU / 2.5;
    let load = |text: &str| {
        let scene = carom_scene::from_str("test.toml", text, &carom_scene::Overrides::default());
        scene.unwrap_or_else(|all| panic!("{}", all[0]))
    };
    let run = |text: &str, intervals: usize| {
        let mut motion = load(text).sensitivity(&[]).unwrap();
        let options = Options { transient: 20, ..options(period, intervals) };
        saltation(&mut motion, &options, |_| 0.0, &|| false).unwrap()
    };
    // without friction: it slides for ever
    let free = run(&text(0.0, 1.0), 400);
    let values: Vec<f64> = free.exponents.iter().map(|e| e.value).collect();
    assert!(values[..2].iter().all(|x| (x + 0.15).abs() < 2e-3), "{values:?}");
    assert!((values[0] + values[1] + 0.3).abs() < 1e-6, "{values:?}");
    assert!(values[2..].iter().all(|x| *x == f64::NEG_INFINITY) && free.collapsed == 400, "{free:?}");
    // with friction it stops twice in a period: the velocity is forgotten, the place where it sticks is not
    let stopped = run(&text(0.05, 0.8), 400);
    assert!(stopped.exponents[1..].iter().all(|e| e.value == f64::NEG_INFINITY), "{:?}", stopped.exponents);
    let mut motion = load(&text(0.05, 0.8)).sensitivity(&[]).unwrap();
    motion.set_columns(0);
    motion.advance(40.0 * period).unwrap();
    while motion.state().v[0].abs() > 1e-12 {
        motion.advance(motion.state().t + 0.01 * period).unwrap();
    }
    let at = motion.state().clone();
    let mut place = |by: f64| {
        motion.restart(&State::new(at.t, &[at.q[0] + by, 0.0], &[0.0, 0.0]));
        motion.advance(at.t + period).unwrap();
        motion.state().q[0]
    };
    let ratio = (place(1e-4) - place(-1e-4)) / 2e-4;
    let exact = ratio.abs().ln() / period;
    assert!((stopped.exponents[0].value - exact).abs() < 5e-3, "{:?} {exact}", stopped.exponents[0]);
}

/// Set E, ω = 1/4 with 26.6 impacts per period: 2.783 and −6.013 per period by the closed-form flow from event to event
/// with the same matrices, over 8 runs of 40000 periods (standard error 0.0013).
#[test]
fn exponents_at_a_low_frequency() {
    let set = Oscillator { damping: 0.01, frequency: 0.25, restitution: 0.95, wall: 0.5 };
    let mut motion =
        set.motion(EventDriven { flow: Flow::Rkf45, atol: Some(1e-7), rtol: 1e-7, ..EventDriven::default() });
    motion.restart(&State::new(0.0, &[0.9], &[0.0]));
    let spectrum = saltation(&mut motion, &options(set.period(), 1000), |_| 0.95, &|| false).unwrap();
    for (exponent, exact) in spectrum.exponents.iter().zip([2.783, -6.013]) {
        let [value, error] = [exponent.value, exponent.error].map(|x| x * set.period());
        assert!((value - exact).abs() < 4.0 * error && error > 0.01 && error < 0.06, "{value} ± {error}");
    }
    assert!((spectrum.sum() - spectrum.trace.unwrap()).abs() < 1e-10 && spectrum.sticks == 0);
}
