//! Free flights of order 8.

use crate::{run, simulation};
use carom::EventKind;
use carom::scheme::EventDriven;
use carom::scheme::event_driven::{Control, Flow, Propagate};
use carom::testbed::{BouncingBall, LinearOscillator};

const FLOWS: [Flow; 3] = [Flow::Hem5, Flow::Rkf45, Flow::Dop853];

#[test]
fn explore() {
    for e in [1.0, 0.5] {
        let problem = LinearOscillator { restitution: e, damping: 0.0, ..LinearOscillator::default() };
        for tol in [1e-3, 1e-6, 1e-9, 1e-12] {
            for flow in FLOWS {
                let scheme = EventDriven { flow, atol: tol, rtol: tol, ..EventDriven::default() };
                let log = run(problem.model(), scheme.clone(), 20.0, 20.0);
                let mut s = simulation(problem.model(), scheme, 20.0, 20.0);
                s.run(&mut []).unwrap();
                let impacts = log.of(EventKind::Impact);
                let exact: Vec<_> = problem.impacts(20.0).collect();
                let worst = impacts.iter().zip(&exact).fold(0.0f64, |m, (a, b)| m.max((a.t - b.time).abs()).max((a.before.v[0] - b.before).abs()));
                println!("e {e} tol {tol:e} {flow:?}: impacts {} of {}, worst {worst:.2e}, steps {}, evaluations {}, rejected {}", impacts.len(), exact.len(), log.states.len() - 1, s.statistics().evaluations, s.statistics().iterations);
            }
        }
    }
}
