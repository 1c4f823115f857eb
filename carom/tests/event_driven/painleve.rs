//! A rod whose tip slides on a rough floor: where the equations of sliding have no solution, an impulse stops the slip
//! [genot1999].

use crate::{Log, simulation};
use carom::model::dual::{DualLagrangian, Functions, NamedLaw, Scalar};
use carom::scheme::EventDriven;
use carom::{EventKind, State};
use carom_solve::Law;

const G: f64 = 9.81;
const MU: f64 = 2.0;

/// A uniform rod of 1 kg and 2 m, its centre at (x, y), leaning at the angle θ on its tip.
struct Rod {
    restitution: f64,
}

impl Functions for Rod {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] / 3.0) * 0.5
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        q[1] * G
    }
    fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
        for (end, sign) in [(0, 1.0), (1, -1.0)] {
            out[2 * end] = q[1] - q[2].sin() * sign;
            out[2 * end + 1] = q[0] - q[2].cos() * sign;
        }
    }
    fn laws(&self) -> Vec<NamedLaw> {
        ["tip", "top"].map(|n| NamedLaw::new(n, Law::coulomb(MU, 1)).restitution(self.restitution)).to_vec()
    }
}

fn rod(restitution: f64, q: [f64; 3], v: [f64; 3]) -> Log {
    let model = DualLagrangian::new(Rod { restitution }, State::new(0.0, &q, &v)).unwrap();
    let mut log = Log::default();
    let mut simulation = simulation(model, EventDriven::default(), 3.0, 0.01);
    simulation.run(&mut [&mut log]).unwrap();
    assert!(simulation.statistics().steps < 20_000, "{}", simulation.statistics().steps);
    log
}

fn gain(log: &Log) -> f64 {
    log.energy.windows(2).map(|w| w[1] - w[0]).fold(0.0, f64::max)
}

/// Slip to the left at an angle where 1 + 3 cos²θ < 3 μ sin θ cos θ: no force can keep the tip on the floor. The tip
/// stops at once, with the impulse of a perfect stop, and the velocity after it is the projection onto rest of the tip.
#[test]
fn inconsistent_slip_is_stopped_by_an_impulse() {
    let theta = 0.9f64;
    let (sin, cos) = theta.sin_cos();
    assert!(1.0 + 3.0 * cos * cos < 3.0 * MU * sin * cos);
    let log = rod(0.0, [0.0, sin, theta], [-1.0, 0.0, 0.0]);
    let first = &log.events[0];
    assert_eq!((first.kind, first.t), (EventKind::Inconsistency, 0.0));
    // rotation about the tip at rest keeps the angular momentum about the tip: ω = −sin θ · v / (1 + 1/3) with v = −1
    let spin = 0.75 * sin;
    let expected = [-sin * spin, cos * spin, spin];
    for (v, e) in first.after.v.iter().zip(expected) {
        assert!((v - e).abs() < 1e-12, "{:?} {expected:?}", first.after.v);
    }
    assert!(gain(&log) < 1e-9, "{:e}", gain(&log));
    assert!(log.lowest > -1e-9, "{:e}", log.lowest);
}

/// Rods thrown and dropped at many angles and speeds: every run ends, no energy is gained, nothing is penetrated.
#[test]
fn thrown_rods_never_hang_nor_gain_energy() {
    for (k, restitution) in [0.0, 0.3].into_iter().cycle().take(12).enumerate() {
        let theta = 0.25 + 0.1 * k as f64;
        let log = rod(restitution, [0.0, theta.sin() + 0.05, theta], [-2.0 + 0.3 * k as f64, 0.0, 0.4]);
        assert!(gain(&log) < 1e-8, "{k}: {:e} {:?}", gain(&log), log.events.len());
        assert!(log.lowest > -1e-6, "{k}: {:e}", log.lowest);
        assert!(log.last().t == 3.0);
    }
}
