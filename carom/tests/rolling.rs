//! Rolling and spinning friction: a sphere on a plane comes to rest as closed forms say.
//!
//! A sphere of mass m and radius r, with I = ⅖ m r² about its centre, has the rows (normal, two tangents, two axes of
//! rolling, spin). Rolling without slip, the moment μ_r N of rolling friction brakes it,
//!
//! ```text
//!     m v' = F,   I ω' = −r F − μ_r N,   v = r ω    ⇒    v' = −μ_r N r/(I + m r²) = −(5/7) (μ_r/r) g        (1)
//! ```
//!
//! as long as m|v'| ≤ μ N. Spinning in place, I ω_z' = −μ_s N, so that ω_z' = −(5/2) (μ_s/r²) g.

use carom::model::{AffineRow, Linear, LinearContact, SparseMatrix};
use carom::scheme::{Bound, EventDriven, MoreauJean};
use carom::simulation::{EnergyLedger, FixedStep, LedgerObserver, Recorder};
use carom::{Law, Simulation, Solution, State};

const GRAVITY: f64 = 9.81;
const MASS: f64 = 1.7;
const RADIUS: f64 = 0.11;
const INERTIA: f64 = 0.4 * MASS * RADIUS * RADIUS;
const MU: f64 = 0.4;
const ROLLING: f64 = 0.004;
const SPINNING: f64 = 0.002;

/// Deceleration of pure rolling (1).
const BRAKE: f64 = 5.0 / 7.0 * ROLLING / RADIUS * GRAVITY;

/// The sphere at rest on the plane z = 0 with velocities (v, ω).
fn sphere(v: [f64; 6]) -> Linear {
    let matrix = |entries: &[_]| SparseMatrix::from_triplets(6, entries).unwrap();
    let mass: Vec<_> = (0..6).map(|i| (i, i, if i < 3 { MASS } else { INERTIA })).collect();
    let row = |entries: &[(usize, f64)]| AffineRow { entries: entries.to_vec(), ..AffineRow::default() };
    let floor = LinearContact {
        name: "floor".into(),
        law: Law::rolling(MU, ROLLING, SPINNING),
        restitution: 0.0,
        tangential: 0.0,
        // the point of contact is r below the centre: v + ω × (−r e_z)
        rows: vec![
            row(&[(2, 1.0)]),
            row(&[(0, 1.0), (4, -RADIUS)]),
            row(&[(1, 1.0), (3, RADIUS)]),
            row(&[(3, 1.0)]),
            row(&[(4, 1.0)]),
            row(&[(5, 1.0)]),
        ],
    };
    let weight = Box::new(|_, f: &mut [f64]| f[2] = -MASS * GRAVITY);
    Linear::new(&matrix(&mass), &matrix(&[]), &matrix(&[]), State::new(0.0, &[0.0; 6], &v))
        .unwrap()
        .with_force(weight)
        .with_contact(floor)
}

fn run(v: [f64; 6], end: f64, h: f64) -> (Solution, EnergyLedger) {
    let stepper = Bound::new(MoreauJean::default(), Box::new(sphere(v)), carom_solve::solver::default()).unwrap();
    let mut simulation = Simulation::new(Box::new(stepper), Box::new(FixedStep { h }), end).unwrap();
    let (mut recorder, mut ledger) = (Recorder::default(), LedgerObserver::default());
    assert!(simulation.run(&mut [&mut recorder, &mut ledger]).unwrap());
    (recorder.into_solution(), *ledger.ledger().unwrap())
}

fn close(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance, "{actual:e} is not {expected:e} to {tolerance:e}");
}

fn kinetic(v: [f64; 6]) -> f64 {
    let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    0.5 * MASS * square(&v[..3]) + 0.5 * INERTIA * square(&v[3..])
}

/// Rolling without slip, obliquely: the speed falls on a line, and all of the energy goes into rolling friction.
#[test]
fn a_rolling_sphere_comes_to_rest() {
    let (v0, c, s) = (0.3f64, 0.6, 0.8);
    let v = [v0 * c, v0 * s, 0.0, -v0 * s / RADIUS, v0 * c / RADIUS, 0.0];
    let (stop, distance) = (v0 / BRAKE, 0.5 * v0 * v0 / BRAKE);
    for h in [1e-2, 3.7e-3] {
        let (solution, ledger) = run(v, 1.2 * stop, h);
        for k in 0..solution.len() {
            let (speed, v) = ((v0 - BRAKE * solution.t[k]).max(0.0), solution.v(k));
            let rolling = [speed * c, speed * s, 0.0, -speed * s / RADIUS, speed * c / RADIUS, 0.0];
            // the step in which it stops ends at rest
            v.iter().zip(rolling).for_each(|(v, expected)| close(*v, expected, 1e-9));
        }
        let last = solution.q(solution.len() - 1);
        // what the last step rounds, as for a block that slides
        close((last[0] * c + last[1] * s) - distance, 0.0, BRAKE * h * h / 8.0 + 1e-10);
        close(last[0] * s - last[1] * c, 0.0, 1e-10);
        close(ledger.friction_loss, kinetic(v), 1e-9);
        close(ledger.residue(), 0.0, 1e-9);
    }
}

/// Spinning in place.
#[test]
fn a_spinning_sphere_comes_to_rest() {
    let brake = 2.5 * SPINNING / (RADIUS * RADIUS) * GRAVITY;
    let spin = 7.0;
    let (stop, angle) = (spin / brake, 0.5 * spin * spin / brake);
    for h in [1e-2, 3.7e-3] {
        let (solution, ledger) = run([0.0, 0.0, 0.0, 0.0, 0.0, spin], 1.2 * stop, h);
        for k in 0..solution.len() {
            let expected = (spin - brake * solution.t[k]).max(0.0);
            solution.v(k)[..5].iter().for_each(|v| close(*v, 0.0, 1e-9));
            close(solution.v(k)[5], expected, 1e-8);
        }
        close(solution.q(solution.len() - 1)[5], angle, brake * h * h / 8.0 + 1e-8);
        close(ledger.residue(), 0.0, 1e-9);
    }
}

/// Thrown without spin: it slides with v' = −μ g and ω' = (μ r − μ_r) m g/I until v = r ω, then it rolls. Time and
/// distance to rest are those of the closed form to first order in h.
#[test]
fn a_thrown_sphere_slides_rolls_and_stops() {
    let v0 = 0.8;
    let begins = v0 / (GRAVITY * (3.5 * MU - 2.5 * ROLLING / RADIUS));
    let speed = v0 - MU * GRAVITY * begins;
    let stop = begins + speed / BRAKE;
    let distance = v0 * begins - 0.5 * MU * GRAVITY * begins * begins + 0.5 * speed * speed / BRAKE;
    for h in [4e-3, 2e-3, 1e-3] {
        let (solution, ledger) = run([v0, 0.0, 0.0, 0.0, 0.0, 0.0], 1.1 * stop, h);
        let rest = (0..solution.len()).find(|&k| solution.v(k)[0].abs() < 1e-9).unwrap();
        close(solution.t[rest], stop, 2.0 * h);
        // both kinds of motion brake by less than μ g, over one step each
        close(solution.q(solution.len() - 1)[0], distance, 2.0 * v0 * h);
        let slides = solution.t.iter().take_while(|t| **t < begins - h).count();
        for k in 0..slides {
            let t = solution.t[k];
            close(solution.v(k)[0], v0 - MU * GRAVITY * t, 1e-9);
            close(solution.v(k)[4], (MU * RADIUS - ROLLING) * MASS * GRAVITY / INERTIA * t, 1e-7);
        }
        close(ledger.residue(), 0.0, 1e-9);
    }
}

/// Phases are known for intervals and Coulomb friction alone.
#[test]
fn event_driven_schemes_refuse_rolling_friction() {
    let bound = Bound::new(EventDriven::default(), Box::new(sphere([0.0; 6])), carom_solve::solver::default());
    let error = bound.err().unwrap().to_string();
    assert!(error.contains("floor") && error.contains("rolling") && error.contains("moreau-jean"), "{error}");
}
