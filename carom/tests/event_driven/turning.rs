//! Spatial slips that turn: a particle on a rough saddle against its equation of motion, written by hand and integrated
//! by the classical method.

use crate::run;
use carom::model::dual::{DualLagrangian, Functions, NamedLaw, Scalar};
use carom::scheme::EventDriven;
use carom::scheme::event_driven::{Control, Flow};
use carom::{EventKind, State};
use carom_solve::Law;

const MU: f64 = 0.25;
const G: f64 = 10.0;
const SADDLE: f64 = 0.1;
const SPRINGS: [f64; 2] = [4.0, 10.0];
const END: f64 = 0.4;

/// Unit mass on z = 0.1 x y, held by springs.
struct Particle;

impl Functions for Particle {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) * 0.5
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        q[2] * G + (q[0] * q[0] * SPRINGS[0] + q[1] * q[1] * SPRINGS[1]) * 0.5
    }
    fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
        out.copy_from_slice(&[q[2] - q[0] * q[1] * SADDLE, q[0], q[1]]);
    }
    fn laws(&self) -> Vec<NamedLaw> {
        vec![NamedLaw::new("floor", Law::coulomb(MU, 2))]
    }
}

/// (x, y, x′, y′)′ in slip: x″ = −k x + λ (−c y − μ x′/s) and so on, with λ from z″ = −g + λ = c (x y)″.
fn rate([x, y, u, v]: [f64; 4]) -> [f64; 4] {
    let speed = u.hypot(v);
    let along = [-SADDLE * y - MU * u / speed, -SADDLE * x - MU * v / speed];
    let springs = [-SPRINGS[0] * x, -SPRINGS[1] * y];
    let free = G + SADDLE * (y * springs[0] + x * springs[1] + 2.0 * u * v);
    let lambda = free / (1.0 - SADDLE * (y * along[0] + x * along[1]));
    [u, v, springs[0] + lambda * along[0], springs[1] + lambda * along[1]]
}

/// The classical method of order 4 with a step of 1e-5 s. Returns the end and the largest angle between velocities.
fn reference(start: [f64; 4]) -> ([f64; 4], f64) {
    let steps = 40_000;
    let (h, mut x, mut turned) = (END / f64::from(steps), start, 0.0f64);
    let add = |x: [f64; 4], k: [f64; 4], h: f64| std::array::from_fn(|i| x[i] + h * k[i]);
    for _ in 0..steps {
        let k1 = rate(x);
        let k2 = rate(add(x, k1, 0.5 * h));
        let k3 = rate(add(x, k2, 0.5 * h));
        let k4 = rate(add(x, k3, h));
        x = std::array::from_fn(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]));
        let (along, across) = (start[2] * x[2] + start[3] * x[3], start[2] * x[3] - start[3] * x[2]);
        turned = turned.max(across.atan2(along).abs());
    }
    (x, turned)
}

fn start(by: f64) -> [f64; 4] {
    [0.45 + by, -0.5, 1.2, -0.8]
}

/// Error at the end.
fn error(scheme: EventDriven, h: f64, from: [f64; 4], exact: [f64; 4]) -> f64 {
    let [x, y, u, v] = from;
    let state = State::new(0.0, &[x, y, SADDLE * x * y], &[u, v, SADDLE * (u * y + x * v)]);
    let log = run(DualLagrangian::new(Particle, state).unwrap(), scheme, END, h);
    assert_eq!(log.of(EventKind::SlipReversal).len(), log.events.len(), "{:?}", log.events);
    let end = log.last();
    [end.q[0], end.q[1], end.v[0], end.v[1]].iter().zip(exact).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

/// The velocity turns by far more than a right angle: no tolerance and no start is worse than another.
#[test]
fn turning_slips_keep_their_tolerance() {
    for k in 0..8 {
        let from = start(1e-3 * f64::from(k));
        let (exact, turned) = reference(from);
        assert!(turned > 0.6 * std::f64::consts::PI, "{turned}");
        for flow in [Flow::Hem5, Flow::Rkf45, Flow::Dop853] {
            for tolerance in [1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11] {
                let scheme = EventDriven { flow, atol: Some(tolerance), rtol: tolerance, ..EventDriven::default() };
                let error = error(scheme, 0.1, from, exact);
                assert!(error < 30.0 * tolerance, "{k} {flow:?} {tolerance:e}: {error:e}");
            }
        }
    }
}

/// Order 5 with steps of one length, across the place where the phase ends because the slip has turned.
#[test]
fn turning_slips_keep_the_order() {
    let from = start(0.0);
    let (exact, _) = reference(from);
    for flow in [Flow::Hem5, Flow::Rkf45] {
        let scheme = || EventDriven { flow, control: Control::Fixed, drift_limit: Some(0.0), ..EventDriven::default() };
        let errors = [20, 40, 80, 160].map(|n| error(scheme(), END / f64::from(n), from, exact));
        for pair in errors.windows(2) {
            let slope = (pair[0] / pair[1]).log2();
            assert!(slope > 4.5, "{flow:?}: {slope} {errors:?}");
        }
    }
}
