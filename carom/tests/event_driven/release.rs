//! Contacts that open, and contacts whose region ends.

use crate::run;
use carom::EventKind;
use carom::State;
use carom::model::dual::{DualLagrangian, Functions, NamedLaw, Scalar};
use carom::scheme::EventDriven;
use carom::scheme::event_driven::Flow;
use carom::testbed::Takeoff;
use carom_solve::Law;

/// Unit mass on a disc of radius 1 m.
struct Disc;

impl Functions for Disc {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        (v[0] * v[0] + v[1] * v[1]) * 0.5
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        q[1] * 9.81
    }
    fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
        out[0] = (q[0] * q[0] + q[1] * q[1] - 1.0) * 0.5;
    }
    fn laws(&self) -> Vec<NamedLaw> {
        vec![NamedLaw::new("disc", Law::UNILATERAL)]
    }
}

/// O18: the mass leaves the disc at two thirds of its height.
#[test]
fn mass_leaves_the_disc() {
    let start = State::new(0.0, &[0.1f64.sin(), 0.1f64.cos()], &[0.0, 0.0]);
    for flow in [Flow::Hem5, Flow::Rkf45] {
        let scheme = EventDriven { flow, atol: Some(1e-12), rtol: 0.0, ..EventDriven::default() };
        let log = run(DualLagrangian::new(Disc, start.clone()).unwrap(), scheme, 1.2, 0.1);
        let releases = log.of(EventKind::TakeOff);
        assert_eq!((log.events.len(), releases.len()), (1, 1), "{:?}", log.events);
        let (t, z) = (releases[0].t, releases[0].after.q[1]);
        assert!((t - 0.90711011104).abs() < 1e-9, "{flow:?}: {t}");
        assert!((z - 2.0 / 3.0 * 0.1f64.cos()).abs() < 1e-9, "{flow:?}: {z}");
        assert!(log.lowest > -1e-11, "{:e}", log.lowest);
        let drift = log.energy.iter().fold(0.0f64, |m, e| m.max((e - log.energy[0]).abs()));
        assert!(drift < 1e-10, "{drift:e}");
    }
}

/// A force that grows lifts a mass off the wall: no jump, and a start that is flat to third order.
#[test]
fn take_off_is_located() {
    let problem = Takeoff::default();
    for h in [0.01, 0.1, 1.0] {
        let log = run(problem.model(), EventDriven::default(), 1.5, h);
        let releases = log.of(EventKind::TakeOff);
        assert_eq!(releases.len(), 1, "{:?}", log.events);
        assert!((releases[0].t - problem.takeoff()).abs() < 1e-10, "{h}: {:e}", releases[0].t - problem.takeoff());
        let (q, v) = problem.state_at(1.5);
        assert!((log.last().q[0] - q).abs() < 1e-9 && (log.last().v[0] - v).abs() < 1e-9);
    }
}
