//! The energy ledger of event-driven runs: what is left over is of the size of the tolerance.

use crate::simulation;
use carom::State;
use carom::model::dual::{DualLagrangian, Functions, NamedLaw, Scalar};
use carom::scheme::EventDriven;
use carom::scheme::event_driven::{Dense, Flow};
use carom::simulation::{EnergyLedger, LedgerObserver};
use carom_solve::Law;

fn ledger(functions: impl Functions + 'static, scheme: EventDriven, (q, v): (f64, f64), end: f64) -> EnergyLedger {
    let model = DualLagrangian::new(functions, State::new(0.0, &[q], &[v])).unwrap();
    let mut observer = LedgerObserver::default();
    simulation(model, scheme, end, 0.5).run(&mut [&mut observer]).unwrap();
    *observer.ledger().unwrap()
}

fn schemes() -> [EventDriven; 3] {
    // a position that is projected by the drift d takes g d with it
    let scheme = EventDriven { atol: 1e-10, rtol: 0.0, drift_limit: 1e-10, ..EventDriven::default() };
    [
        EventDriven { dense: Dense::Order4, ..scheme.clone() },
        EventDriven { flow: Flow::Rkf45, ..scheme.clone() },
        scheme,
    ]
}

/// ü + 2·0.05 u̇ + u = cos 2.5 t over a wall at −0.1.
#[test]
fn driven_oscillator_with_impacts() {
    struct Driven;
    impl Functions for Driven {
        fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
            v[0] * v[0] * 0.5
        }
        fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
            q[0] * q[0] * 0.5
        }
        fn force<D: Scalar>(&self, t: D, _q: &[D], v: &[D], out: &mut [D]) {
            out[0] = (t * 2.5).cos() - v[0] * 0.1;
        }
        fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
            out[0] = q[0] + 0.1;
        }
        fn laws(&self) -> Vec<NamedLaw> {
            vec![NamedLaw::new("wall", Law::UNILATERAL).restitution(0.7)]
        }
    }
    for scheme in schemes() {
        let ledger = ledger(Driven, scheme, (0.5, 0.0), 30.0);
        // energies of the order of one come and go
        assert!(ledger.applied > 0.5 && ledger.impact_loss > 0.5, "{ledger:?}");
        assert!(ledger.residue().abs() < 1e-8, "{:e}", ledger.residue());
    }
}

/// A ball on a table that shakes gently enough for it to come to rest there and to be carried along: the table does the
/// work.
#[test]
fn shaking_table() {
    struct Table;
    impl Functions for Table {
        fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
            v[0] * v[0] * 0.5
        }
        fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
            q[0] * 9.81
        }
        fn outputs<D: Scalar>(&self, t: D, q: &[D], out: &mut [D]) {
            out[0] = q[0] - (t * 3.0).sin() * 0.5;
        }
        fn laws(&self) -> Vec<NamedLaw> {
            vec![NamedLaw::new("table", Law::UNILATERAL).restitution(0.3)]
        }
    }
    for scheme in schemes() {
        let ledger = ledger(Table, scheme, (1.0, 0.0), 10.0);
        // at rest on the table its energy is that of the table
        let (sine, cosine) = 30f64.sin_cos();
        assert!((ledger.last.total() - 0.5 * (9.81 * sine + (1.5 * cosine).powi(2))).abs() < 1e-8, "{ledger:?}");
        assert!(ledger.obstacles.abs() > 0.1, "{ledger:?}");
        assert!(ledger.residue().abs() < 1e-8, "{:e}", ledger.residue());
    }
}
