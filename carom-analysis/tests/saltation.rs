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
        let contact =
            LinearContact { name: "wall".into(), law: Law::Unilateral, restitution: self.restitution, rows: vec![row] };
        Linear::new(&matrix(1.0), &matrix(2.0 * self.damping), &matrix(1.0), State::new(0.0, &[0.5], &[0.0]))
            .unwrap()
            .with_force(Box::new(move |t, out| out[0] += (frequency * t).cos()))
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
    let mut motion = SET_A.motion(EventDriven { flow: Flow::Rkf45, atol: 1e-8, rtol: 1e-8, ..EventDriven::default() });
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
