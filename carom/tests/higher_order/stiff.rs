//! A pendulum on a stiff spring: implicit methods go on where the spring turns within a step, explicit ones shorten
//! their parts.

use crate::{scheme, simulation};
use carom::model::Lagrangian;
use carom::scheme::higher_order::RungeKutta;
use carom::scheme::{Bound, EventDriven};
use carom::simulation::{FixedStep, SimulationError};
use carom::{Simulation, State, StepError};

const G: f64 = 9.81;

/// A unit mass on a spring of unit length, from the horizontal, with a velocity along the circle.
fn pendulum(k: f64, speed: f64) -> Lagrangian {
    Lagrangian::new(2)
        .force(move |_, q, _, f| {
            let r = f64::hypot(q[0], q[1]);
            let pull = -k * (r - 1.0) / r;
            f[0] = pull * q[0];
            f[1] = pull * q[1] - G;
        })
        .potential(move |q| G * q[1] + 0.5 * k * (f64::hypot(q[0], q[1]) - 1.0).powi(2))
        .initial(&[1.0, 0.0], &[0.0, speed])
}

/// The same motion by an adaptive method of order eight, which resolves the vibration of the spring.
fn resolved(k: f64, speed: f64, end: f64) -> State {
    let scheme = EventDriven { rtol: 1e-11, atol: Some(1e-12), ..EventDriven::default() };
    let stepper = Bound::new(scheme, Box::new(pendulum(k, speed)), carom_solve::solver::default()).unwrap();
    let mut simulation = Simulation::new(Box::new(stepper), Box::new(FixedStep { h: end }), end).unwrap();
    while simulation.advance().unwrap().is_some() {}
    simulation.state().clone()
}

/// What a method may miss of the slow motion. Stiffness costs order: two are left, three of `radau-iia-3`. A spring
/// that vibrates is stretched by (g + v²)/k, which a long step does not resolve.
fn allowed(method: RungeKutta, h: f64, (k, speed): (f64, f64)) -> f64 {
    let order = if method == RungeKutta::RadauIia3 { 3 } else { 2 };
    20.0 * h.powi(order) + 2.0 * (G + speed * speed) / k
}

/// k from 1e4 to 1e10 and steps up to 3000 time constants: every method is right, but for Heun's, which tells why not.
#[test]
fn stiff_springs_that_turn() {
    for (k, speed) in [(1e4, 0.0), (1e6, -2.0), (1e8, 0.0), (1e8, -3.0), (1e10, 0.0)] {
        let exact = resolved(k, speed, 0.6);
        for h in [1e-3, 1e-2, 3e-2] {
            for method in RungeKutta::ALL {
                let mut simulation = simulation(pendulum(k, speed), scheme(method, 1e-3), 0.6, (0.6 / h) as usize);
                let failed = loop {
                    match simulation.advance() {
                        Ok(Some(_)) => {}
                        Ok(None) => break None,
                        Err(error) => break Some(error),
                    }
                };
                if let Some(error) = failed {
                    let is_unstable = matches!(error, SimulationError::Step { source: StepError::Unstable { reach, .. }, .. } if reach > 1.0);
                    assert!(
                        is_unstable && method == RungeKutta::Herk2 && h * k.sqrt() > 0.99,
                        "{method:?} k {k:e}: {error}"
                    );
                    continue;
                }
                let ends = simulation.state().q.iter().zip(&exact.q);
                let error = ends.fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
                println!("{method:?} k {k:e} v {speed} h {h}: {error:.2e} {:?}", simulation.statistics().evaluations);
                assert!(error < allowed(method, h, (k, speed)), "{method:?} k {k:e} v {speed} h {h}: {error:e}");
            }
        }
    }
}
