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
    let scheme = EventDriven { atol: Some(1e-10), rtol: 0.0, drift_limit: Some(1e-10), ..EventDriven::default() };
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

/// Adds up impulses.
#[derive(Default)]
struct Sum(f64);

impl carom::simulation::Observer for Sum {
    fn observe(
        &mut self,
        view: &mut carom::simulation::StepView<'_>,
    ) -> Result<std::ops::ControlFlow<()>, carom::ModelError> {
        self.0 += view.reactions().impulse[0];
        Ok(std::ops::ControlFlow::Continue(()))
    }
}

/// 3 + a sin 5t from above, and a table at b cos 4t below a mass of 2 kg.
struct Pressed {
    a: f64,
    b: f64,
}

impl Functions for Pressed {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        v[0] * v[0]
    }
    fn force<D: Scalar>(&self, t: D, _q: &[D], _v: &[D], out: &mut [D]) {
        out[0] = -(t * 5.0).sin() * self.a - 3.0;
    }
    fn outputs<D: Scalar>(&self, t: D, q: &[D], out: &mut [D]) {
        out[0] = q[0] - (t * 4.0).cos() * self.b;
    }
    fn laws(&self) -> Vec<NamedLaw> {
        vec![NamedLaw::new("table", Law::UNILATERAL)]
    }
}

/// Impulses of what rests, on a floor and on a table that moves, are as good as the tolerance in steps of any length.
#[test]
fn impulses_of_rest_are_inside_the_error_control() {
    let end = 6.0f64;
    let flows = [Flow::Hem5, Flow::Rkf45, Flow::Dop853];
    for (flow, h) in flows.into_iter().flat_map(|flow| [0.05, 0.5, 2.0].map(|h| (flow, h))) {
        for (a, b) in [(2.0, 0.0), (0.0, 0.08), (1.0, 0.05)] {
            let model = DualLagrangian::new(Pressed { a, b }, State::new(0.0, &[b], &[0.0])).unwrap();
            let scheme = EventDriven { flow, atol: Some(1e-10), rtol: 1e-10, ..EventDriven::default() };
            let mut sum = Sum::default();
            simulation(model, scheme, end, h).run(&mut [&mut sum]).unwrap();
            let exact = 3.0 * end + 0.2 * a * (1.0 - (5.0 * end).cos()) - 8.0 * b * (4.0 * end).sin();
            assert!((sum.0 - exact).abs() < 2e-8, "{flow:?} {h} {a} {b}: {:e}", sum.0 - exact);
        }
    }
}
