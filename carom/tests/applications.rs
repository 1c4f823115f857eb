//! Moreau-Jean on the published applications: rocking block and impacting bar, with the reference numbers of the
//! specification.

use carom::model::{AffineRow, Contact, Lagrangian, Linear, LinearContact, SparseMatrix};
use carom::scheme::{Bound, Forecast, MoreauJean, ReactionDirection};
use carom::simulation::{FixedStep, GapMonitor, LedgerObserver, Observer, StepView};
use carom::{ModelError, Simulation, Span, State, simulate};
use carom_solve::Law;
use std::ops::ControlFlow;

/// The published variant: reactions act along the rows at the end of the step.
fn published() -> MoreauJean {
    MoreauJean { reaction: ReactionDirection::End, ..MoreauJean::default() }
}

fn gamma_zero() -> MoreauJean {
    MoreauJean { forecast: Forecast::Explicit { gamma: 0.0 }, ..published() }
}

/// Block of height 1.5 and width 1, corners ±, frictionless.
fn rocking_block() -> Lagrangian {
    let (l, w, m) = (1.5, 1.0, 1.0);
    let inertia = m * (l * l + w * w) / 12.0;
    let corner = move |name: &str, side: f64| {
        Contact::new(name, move |_, q| q[1] - l / 2.0 * q[2].cos() + side * w / 2.0 * q[2].sin())
            .gradient(move |_, q, row| {
                row[0] = 0.0;
                row[1] = 1.0;
                row[2] = l / 2.0 * q[2].sin() + side * w / 2.0 * q[2].cos();
            })
            .restitution(0.5)
    };
    Lagrangian::new(3)
        .constant_mass(&[m, 0.0, 0.0, 0.0, m, 0.0, 0.0, 0.0, inertia])
        .force(move |_, _, _, f| f.copy_from_slice(&[0.0, -m * 9.81, 0.0]))
        .potential(move |q| m * 9.81 * q[1])
        .contact(corner("A", 1.0))
        .contact(corner("B", -1.0))
        .initial(&[0.0, 1.0, 0.2], &[0.0, 0.0, 0.2])
}

/// Smallest gap and last state of the block.
fn block_run(scheme: MoreauJean) -> (f64, State, f64) {
    let stepper = Bound::new(scheme, Box::new(rocking_block()), carom_solve::solver::default()).unwrap();
    let mut simulation = Simulation::new(Box::new(stepper), Box::new(FixedStep { h: 1e-2 }), 2.0).unwrap();
    let (mut gaps, mut ledger) = (GapMonitor::default(), LedgerObserver::default());
    assert!(simulation.run(&mut [&mut gaps, &mut ledger]).unwrap());
    assert_eq!(simulation.statistics().steps, 200);
    (gaps.overall().unwrap(), simulation.state().clone(), ledger.ledger().unwrap().last.total())
}

fn close(actual: f64, expected: f64, relative: f64) {
    assert!((actual - expected).abs() <= relative * expected.abs(), "{actual:e} is not {expected:e} to {relative:e}");
}

/// Check O15, and the row "MJ free" of the same table (printed with three to six digits).
#[test]
fn rocking_block_reference() {
    let (gap, last, energy) = block_run(gamma_zero());
    close(gap, -1.0771e-2, 1e-4);
    close(last.q[1], 0.747920, 1e-4);
    close(last.q[2], 5.87e-4, 1e-2);
    close(energy, 7.33709, 1e-6);
    let (gap, last, energy) = block_run(published());
    close(gap, -9.505e-5, 1e-3);
    close(last.q[1], 0.750052, 1e-6);
    close(energy, 7.35801, 1e-6);
}

/// Penetration of the block falls with the step (table of spec 5).
#[test]
fn rocking_block_penetration() {
    for (h, expected) in [(5e-3, 7.34e-3), (2e-3, 4.38e-3), (1e-3, 1.86e-3)] {
        let stepper = Bound::new(gamma_zero(), Box::new(rocking_block()), carom_solve::solver::default()).unwrap();
        let mut simulation = Simulation::new(Box::new(stepper), Box::new(FixedStep { h }), 2.0).unwrap();
        let mut gaps = GapMonitor::default();
        simulation.run(&mut [&mut gaps]).unwrap();
        close(-gaps.overall().unwrap(), expected, 5e-3);
    }
}

/// Rod of length 1 m, steel, radius 1 cm, moving at −0.1 m/s towards a wall at node 0.
fn bar(elements: usize) -> Linear {
    let (e, rho, s) = (210e9, 7800.0, std::f64::consts::PI * 1e-4);
    let (length, n) = (1.0 / elements as f64, elements + 1);
    let (mut mass, mut stiffness) = (Vec::new(), Vec::new());
    let (cm, ck) = (rho * s * length / 6.0, e * s / length);
    for k in 0..elements {
        for (i, j, m, c) in [(k, k, 2.0, 1.0), (k, k + 1, 1.0, -1.0), (k + 1, k, 1.0, -1.0), (k + 1, k + 1, 2.0, 1.0)] {
            mass.push((i, j, m * cm));
            stiffness.push((i, j, c * ck));
        }
    }
    let matrix = |entries: &[_]| SparseMatrix::from_triplets(n, entries).unwrap();
    let initial = State::new(0.0, &vec![4.9265e-5; n], &vec![-0.1; n]);
    Linear::new(&matrix(&mass), &matrix(&[]), &matrix(&stiffness), initial).unwrap().with_contact(LinearContact {
        name: "wall".into(),
        law: Law::UNILATERAL,
        restitution: 0.0,
        tangential: 0.0,
        rows: vec![AffineRow { entries: vec![(0, 1.0)], constant: 0.0, rate: 0.0 }],
    })
}

/// Forces P/h of the wall in each step.
#[derive(Default)]
struct Forces(Vec<f64>);

impl Observer for Forces {
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        self.0.push(view.reactions().impulse[0] / view.step.advanced);
        Ok(ControlFlow::Continue(()))
    }
}

/// E S v0 / c0, the force of an infinite rod [N].
const EXACT: f64 = 1271.4721;

fn bar_run(elements: usize, h: f64) -> (Vec<f64>, f64) {
    let stepper = Bound::new(gamma_zero(), Box::new(bar(elements)), carom_solve::solver::default()).unwrap();
    let mut simulation = Simulation::new(Box::new(stepper), Box::new(FixedStep { h }), 2e-3).unwrap();
    let (mut forces, mut gaps) = (Forces::default(), GapMonitor::default());
    simulation.run(&mut [&mut forces, &mut gaps]).unwrap();
    (forces.0, gaps.overall().unwrap())
}

/// Check O18.
#[test]
fn bar_of_a_thousand_elements() {
    let h = 2e-6;
    let (forces, gap) = bar_run(1000, h);
    let on = forces.iter().position(|f| *f > 0.0).unwrap();
    let steps = forces[on..].iter().take_while(|f| **f > 0.0).count();
    assert!((steps as f64 * h - 3.90e-4).abs() <= 4e-6, "{steps} steps of contact");
    // mean over 30-70 % of 2 L / c0, counted from the first step of contact
    let travel = 3.854496e-4 / h;
    let window = &forces[on + (0.3 * travel) as usize..on + (0.7 * travel) as usize];
    let mean = window.iter().sum::<f64>() / window.len() as f64;
    assert!((mean - 1271.47).abs() <= 0.3, "{mean}");
    close(-gap, 2.35e-7, 1e-3);
}

/// Check O19.
#[test]
fn bar_first_force_on_coarse_meshes() {
    for (elements, expected) in [(10, 11.14), (100, 1.562)] {
        let (forces, _) = bar_run(elements, 5e-7);
        close(forces.into_iter().fold(0.0, f64::max) / EXACT, expected, 1e-2);
    }
}

/// Two runs of the same input give the same bits.
#[test]
fn runs_are_bitwise_repeatable() {
    let bits = || {
        let s = simulate(rocking_block(), MoreauJean::default(), Span { end: 2.0, step: 1e-2 }).unwrap();
        (0..s.len()).flat_map(|k| [s.q(k), s.v(k)].concat()).map(f64::to_bits).collect::<Vec<_>>()
    };
    assert_eq!(bits(), bits());
}
