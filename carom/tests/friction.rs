//! Moreau-Jean with Coulomb friction against closed forms: sliding, sticking, turning, rolling, impact, conveyor.

use carom::model::{Contact, Lagrangian};
use carom::scheme::{Bound, MoreauJean, ReactionDirection};
use carom::simulation::{EnergyLedger, FixedStep, LedgerObserver, Recorder};
use carom::{Mechanical, Simulation, Solution, Span, simulate};
use std::f64::consts::PI;

const GRAVITY: f64 = 9.81;

fn close(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance, "{actual:e} is not {expected:e} to {tolerance:e}");
}

/// A recorded run with its energies.
fn run(model: impl Mechanical + 'static, scheme: MoreauJean, end: f64, h: f64) -> (Solution, EnergyLedger) {
    let stepper = Bound::new(scheme, Box::new(model), carom_solve::solver::default()).unwrap();
    let mut simulation = Simulation::new(Box::new(stepper), Box::new(FixedStep { h }), end).unwrap();
    let (mut recorder, mut ledger) = (Recorder::default(), LedgerObserver::default());
    assert!(simulation.run(&mut [&mut recorder, &mut ledger]).unwrap());
    (recorder.into_solution(), *ledger.ledger().unwrap())
}

/// Block of 2 kg on a plane inclined by `angle`: x down the slope, y off the plane.
fn block(angle: f64, mu: f64, v0: f64) -> Lagrangian {
    let weight = [2.0 * GRAVITY * angle.sin(), -2.0 * GRAVITY * angle.cos()];
    Lagrangian::new(2)
        .constant_mass(&[2.0, 0.0, 0.0, 2.0])
        .force(move |_, _, _, f| f.copy_from_slice(&weight))
        .tangents(|_, _, _, k, c| {
            k.fill(0.0);
            c.fill(0.0);
        })
        .potential(move |q| -weight[0] * q[0] - weight[1] * q[1])
        .contact(
            Contact::new("plane", |_, q| q[1])
                .gradient(|_, _, row| row.copy_from_slice(&[0.0, 1.0]))
                .friction(mu, |_, q| q[0])
                .gradient(|_, _, row| row.copy_from_slice(&[1.0, 0.0])),
        )
        .initial(&[0.0, 0.0], &[v0, 0.0])
        .linear()
}

/// v = v₀ − μ g t at every grid point, then rest; the place of rest is off by what the last step rounds, at most μ g
/// h²/8.
#[test]
fn block_is_stopped_by_friction() {
    let (mu, v0) = (0.3, 2.0);
    let deceleration = mu * GRAVITY;
    let (stop, place) = (v0 / deceleration, 0.5 * v0 * v0 / deceleration);
    for h in [1e-2, 3.7e-3, 1e-3] {
        let (s, ledger) = run(block(0.0, mu, v0), MoreauJean::default(), 1.0, h);
        for k in 0..s.len() {
            let t = s.t[k].min(stop);
            close(s.v(k)[0], (v0 - deceleration * s.t[k]).max(0.0), 1e-13);
            if s.t[k] <= stop {
                close(s.q(k)[0], v0 * t - 0.5 * deceleration * t * t, 1e-13);
            }
            assert!(s.q(k)[1].abs() < 1e-15);
        }
        // in the last step the velocity falls linearly from r to 0 within h instead of r/(μ g)
        let r = v0 - deceleration * h * (stop / h).floor();
        let last = s.q(s.len() - 1)[0];
        close(last, place + 0.5 * r * (h - r / deceleration), 1e-13);
        close(last, place, deceleration * h * h / 8.0 + 1e-13);
        // the ledger: all kinetic energy went into friction
        close(ledger.friction_loss, 0.5 * 2.0 * v0 * v0, 1e-12);
        close(ledger.impact_loss, 0.0, 1e-13);
        close(ledger.residue(), 0.0, 1e-12);
    }
}

/// With θ = 1 velocities are the same, the place is off by order h.
#[test]
fn implicit_euler_stops_too_early() {
    let (mu, v0) = (0.3, 2.0);
    let place = 0.5 * v0 * v0 / (mu * GRAVITY);
    for h in [1e-2, 1e-3] {
        let (s, _) = run(block(0.0, mu, v0), MoreauJean { theta: 1.0, ..MoreauJean::default() }, 1.0, h);
        // Σ h v_{k+1} is the trapezoidal sum less h v₀/2
        close(s.q(s.len() - 1)[0], place - 0.5 * h * v0, mu * GRAVITY * h * h / 8.0 + 1e-13);
    }
}

#[test]
fn block_sticks_below_the_friction_angle() {
    let mu: f64 = 0.5;
    for angle in [0.0, 0.2, 0.999 * mu.atan()] {
        let (s, ledger) = run(block(angle, mu, 0.0), MoreauJean::default(), 2.0, 1e-2);
        let last = s.len() - 1;
        assert_eq!(s.q(last)[0], 0.0, "creeps at {angle}");
        assert_eq!(ledger.friction_loss, 0.0);
    }
}

#[test]
fn block_slides_above_the_friction_angle() {
    let mu: f64 = 0.5;
    for angle in [1.001 * mu.atan(), 0.7, 1.2] {
        let a = GRAVITY * (angle.sin() - mu * angle.cos());
        let (s, ledger) = run(block(angle, mu, 0.0), MoreauJean::default(), 2.0, 1e-2);
        for k in 0..s.len() {
            close(s.v(k)[0], a * s.t[k], 1e-12);
            close(s.q(k)[0], 0.5 * a * s.t[k] * s.t[k], 1e-12);
        }
        let distance = 0.5 * a * 4.0;
        close(ledger.friction_loss, mu * 2.0 * GRAVITY * angle.cos() * distance, 1e-11);
        close(ledger.residue(), 0.0, 1e-11);
    }
}

/// Block thrown uphill: it decelerates by g(sin + μ cos), then rests or slides back.
#[test]
fn block_thrown_uphill() {
    let (angle, v0) = (0.3f64, -1.5);
    for mu in [0.2, 0.5] {
        let (s, _) = run(block(angle, mu, v0), MoreauJean::default(), 1.0, 1e-3);
        let up = GRAVITY * (angle.sin() + mu * angle.cos());
        let down = (GRAVITY * (angle.sin() - mu * angle.cos())).max(0.0);
        let turn = -v0 / up;
        for k in 0..s.len() {
            let exact = if s.t[k] <= turn { v0 + up * s.t[k] } else { down * (s.t[k] - turn) };
            // the step in which the velocity changes sign is not resolved
            close(s.v(k)[0], exact, 1e-12 + if s.t[k] <= turn { 0.0 } else { (up - down) * 1e-3 });
        }
        assert_eq!(s.v(s.len() - 1)[0] == 0.0, mu > angle.tan());
    }
}

/// Point of 1 kg on a horizontal plane with spatial friction and a force along y.
fn point(mu: f64, v0: [f64; 2], lateral: f64) -> Lagrangian {
    Lagrangian::new(3)
        .force(move |_, _, _, f| f.copy_from_slice(&[0.0, lateral, -GRAVITY]))
        .tangents(|_, _, _, k, c| {
            k.fill(0.0);
            c.fill(0.0);
        })
        .potential(move |q| GRAVITY * q[2] - lateral * q[1])
        .contact(
            Contact::new("plane", |_, q| q[2])
                .gradient(|_, _, row| row.copy_from_slice(&[0.0, 0.0, 1.0]))
                .friction(mu, |_, q| q[0])
                .gradient(|_, _, row| row.copy_from_slice(&[1.0, 0.0, 0.0]))
                .friction(mu, |_, q| q[1])
                .gradient(|_, _, row| row.copy_from_slice(&[0.0, 1.0, 0.0])),
        )
        .initial(&[0.0; 3], &[v0[0], v0[1], 0.0])
        .linear()
}

/// Friction acts against the velocity: a straight line in any direction, with the speed of the planar block.
#[test]
fn spatial_sliding_is_straight() {
    let (mu, speed) = (0.25, 1.7);
    for direction in [0.0, 0.4, 2.0, 4.5] {
        let (s, ledger) = run(
            point(mu, [speed * f64::cos(direction), speed * f64::sin(direction)], 0.0),
            MoreauJean::default(),
            1.0,
            3.1e-3,
        );
        for k in 0..s.len() {
            let expected = (speed - mu * GRAVITY * s.t[k]).max(0.0);
            // the solver certifies to 1e-10
            close(s.v(k)[0], expected * direction.cos(), 1e-9);
            close(s.v(k)[1], expected * direction.sin(), 1e-9);
        }
        close(ledger.friction_loss, 0.5 * speed * speed, 1e-9);
        close(ledger.residue(), 0.0, 1e-9);
    }
}

/// With a lateral force f and κ = μ g/f > 1, v̇ = f e_y − μ g v/|v| has the first integral
/// κ|v| + v_y = κ|v₀| + v_{0y} − f(κ² − 1) t, so that it stops when this is zero.
#[test]
fn lateral_force_turns_the_sliding() {
    let (mu, f, v0) = (0.3, 1.4, [1.0, -0.5]);
    let kappa = mu * GRAVITY / f;
    let start = kappa * f64::hypot(v0[0], v0[1]) + v0[1];
    let rate = f * (kappa * kappa - 1.0);
    let error = |h: f64| {
        let (s, _) = run(point(mu, v0, f), MoreauJean::default(), 1.0, h);
        let mut worst: f64 = 0.0;
        for k in 0..s.len() {
            let (x, y) = (s.v(k)[0], s.v(k)[1]);
            worst = worst.max((kappa * x.hypot(y) + y - (start - rate * s.t[k]).max(0.0)).abs());
            let before = s.v(k.saturating_sub(1));
            assert!(y.atan2(x) >= before[1].atan2(before[0]) - 1e-9 || x.hypot(y) < 1e-9, "turns towards the force");
        }
        let rest = (0..s.len()).find(|&k| s.v(k)[0].hypot(s.v(k)[1]) < 1e-9).unwrap();
        close(s.t[rest], start / rate, 2.0 * h);
        worst
    };
    let (coarse, fine) = (error(4e-3), error(1e-3));
    let order = (coarse / fine).log(4.0);
    assert!((0.8..1.2).contains(&order), "order {order}, errors {coarse:e} {fine:e}");
}

/// κ = 1: |v| + v_y is conserved, and a point that starts across the force ends with half of its speed along it.
#[test]
fn friction_equal_to_the_force_leaves_half_of_the_speed() {
    let mu = 0.2;
    let (s, _) = run(point(mu, [1.0, 0.0], mu * GRAVITY), MoreauJean::default(), 6.0, 1e-3);
    for k in 0..s.len() {
        close(s.v(k)[0].hypot(s.v(k)[1]) + s.v(k)[1], 1.0, 2.5 * mu * GRAVITY * 1e-3);
    }
    let last = s.v(s.len() - 1);
    close(last[1], 0.5, 2.5e-3);
    assert!(last[0].abs() < 1e-3);
}

/// Disc of radius 0.1 on a floor, without rotation at first: q = (x, y, φ), rolling when ẋ = −r φ̇.
fn disc(mu: f64, v0: [f64; 3], height: f64) -> Lagrangian {
    let r = 0.1;
    Lagrangian::new(3)
        .constant_mass(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.5 * r * r])
        .force(|_, _, _, f| f.copy_from_slice(&[0.0, -GRAVITY, 0.0]))
        .tangents(|_, _, _, k, c| {
            k.fill(0.0);
            c.fill(0.0);
        })
        .potential(|q| GRAVITY * q[1])
        .contact(
            Contact::new("floor", move |_, q| q[1] - r)
                .gradient(|_, _, row| row.copy_from_slice(&[0.0, 1.0, 0.0]))
                .restitution(0.5)
                .friction(mu, move |_, q| q[0] + r * q[2])
                .gradient(move |_, _, row| row.copy_from_slice(&[1.0, 0.0, r])),
        )
        .initial(&[0.0, r + height, 0.0], &v0)
        .linear()
}

/// Sliding goes over to rolling at 2/3 v₀, at t = v₀/(3 μ g); friction takes 1/3 of the energy.
#[test]
fn disc_starts_to_roll() {
    let (mu, v0, h) = (0.2, 1.0, 1e-3);
    let (s, ledger) = run(disc(mu, [v0, 0.0, 0.0], 0.0), MoreauJean::default(), 0.5, h);
    let rolling = v0 / (3.0 * mu * GRAVITY);
    for k in 0..s.len() {
        let v = s.v(k);
        let exact = if s.t[k] < rolling { v0 - mu * GRAVITY * s.t[k] } else { 2.0 / 3.0 * v0 };
        close(v[0], exact, 1e-12);
        if s.t[k] >= rolling {
            close(v[0] + 0.1 * v[2], 0.0, 1e-12);
        }
    }
    close(ledger.friction_loss, v0 * v0 / 6.0, 1e-12);
    close(ledger.initial.kinetic - ledger.last.kinetic, ledger.friction_loss, 1e-12);
}

/// Solid sphere on a floor; angular velocities are quasi-velocities, which is exact because its inertia is isotropic.
fn sphere(mu: f64, v0: [f64; 2], spin: [f64; 3]) -> Lagrangian {
    let (r, n) = (0.1, 6);
    let mut mass = [0.0; 36];
    for i in 0..n {
        mass[i * n + i] = if i < 3 { 1.0 } else { 0.4 * r * r };
    }
    Lagrangian::new(n)
        .constant_mass(&mass)
        .force(|_, _, _, f| f.copy_from_slice(&[0.0, 0.0, -GRAVITY, 0.0, 0.0, 0.0]))
        .tangents(|_, _, _, k, c| {
            k.fill(0.0);
            c.fill(0.0);
        })
        .potential(|q| GRAVITY * q[2])
        .contact(
            Contact::new("floor", move |_, q| q[2] - r)
                .gradient(|_, _, row| row.copy_from_slice(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]))
                .friction(mu, move |_, q| q[0] - r * q[4])
                .gradient(move |_, _, row| row.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, -r, 0.0]))
                .friction(mu, move |_, q| q[1] + r * q[3])
                .gradient(move |_, _, row| row.copy_from_slice(&[0.0, 1.0, 0.0, r, 0.0, 0.0])),
        )
        .initial(&[0.0, 0.0, r, 0.0, 0.0, 0.0], &[v0[0], v0[1], 0.0, spin[0], spin[1], spin[2]])
        .linear()
}

/// The slip s₀ keeps its direction and falls by 7/2 μ g t: rolling at v₀ − 2/7 s₀, which is 5/7 v₀ without spin.
#[test]
fn sphere_starts_to_roll() {
    let mu = 0.15;
    for (v0, spin) in [([1.0, 0.0], [0.0; 3]), ([0.6, -0.8], [0.0; 3]), ([1.0, 0.3], [12.0, -4.0, 5.0])] {
        let slip = [v0[0] - 0.1 * spin[1], v0[1] + 0.1 * spin[0]];
        let size = f64::hypot(slip[0], slip[1]);
        let rolling = size / (3.5 * mu * GRAVITY);
        let (s, ledger) = run(sphere(mu, v0, spin), MoreauJean::default(), 2.0, 1e-3);
        for k in 0..s.len() {
            let lost = 2.0 / 7.0 * (3.5 * mu * GRAVITY * s.t[k]).min(size);
            for i in 0..2 {
                // the solver certifies to 1e-10
                close(s.v(k)[i], v0[i] - lost * slip[i] / size, 1e-9);
            }
            close(s.v(k)[5], spin[2], 1e-14);
        }
        assert!(rolling < 1.0);
        // work of friction on a sliding contact of effective mass 2/7
        close(ledger.friction_loss, 0.5 * 2.0 / 7.0 * size * size, 1e-9);
        close(ledger.residue(), 0.0, 1e-9);
    }
}

/// Impacts of a weightless disc: the impulse is μ P_N while slipping through, and what stops the slip otherwise.
#[test]
fn impact_with_friction() {
    let (approach, e, r) = (1.2, 0.5, 0.1);
    for (mu, v, spin) in [(0.1, 2.0, 0.0), (0.1, -2.0, 5.0), (0.5, 0.3, 0.0), (0.8, 0.2, -11.0)] {
        let weightless = disc(mu, [v, -approach, spin], 1e-2).force(|_, _, _, f| f.fill(0.0));
        let s = simulate(weightless, MoreauJean::default(), Span { end: 0.05, step: 1e-3 }).unwrap();
        assert_eq!(s.impacts.len(), 1);
        let normal = (1.0 + e) * approach;
        let slip: f64 = v + r * spin;
        // the slip sees the mass 1/(1 + m r²/I) = 1/3
        let tangential = -slip.signum() * (mu * normal).min(slip.abs() / 3.0);
        let impact = &s.impacts[0];
        close(impact.impulse[0], normal, 1e-12);
        close(impact.impulse[1], tangential, 1e-12);
        close(impact.after[0], e * approach, 1e-12);
        let last = s.v(s.len() - 1);
        close(last[0], v + tangential, 1e-12);
        close(last[2], spin + tangential * r / (0.5 * r * r), 1e-11);
        let slipping = mu * normal < slip.abs() / 3.0;
        assert_eq!(impact.after[1].abs() > 1e-9, slipping);
    }
}

/// A belt at 1 m/s takes a block along: v = min(μ g t, w). The belt works m w², half of it is lost in friction.
#[test]
fn conveyor() {
    let (mu, w) = (0.3, 1.0);
    let model = Lagrangian::new(2)
        .force(|_, _, _, f| f.copy_from_slice(&[0.0, -GRAVITY]))
        .potential(|q| GRAVITY * q[1])
        .contact(
            Contact::new("belt", |_, q| q[1])
                .gradient(|_, _, row| row.copy_from_slice(&[0.0, 1.0]))
                .friction(mu, move |t, q| q[0] - w * t)
                .gradient(|_, _, row| row.copy_from_slice(&[1.0, 0.0])),
        );
    let (s, ledger) = run(model, MoreauJean::default(), 1.0, 1e-3);
    for k in 0..s.len() {
        // the belt's speed is taken by differences
        close(s.v(k)[0], (mu * GRAVITY * s.t[k]).min(w), 1e-9);
    }
    close(ledger.obstacles, w * w, 1e-8);
    close(ledger.friction_loss, 0.5 * w * w, 1e-8);
    close(ledger.residue(), 0.0, 1e-8);
}

/// Disc rolling in a bowl without slipping: a pendulum of length 3/2 (R − r), here for the period of finite amplitude.
#[test]
fn disc_rolls_in_a_bowl() {
    let (bowl, r, amplitude) = (1.1, 0.1, 1.0);
    let arm = bowl - r;
    let model = || {
        let (s, c) = f64::sin_cos(amplitude);
        Lagrangian::new(3)
            .constant_mass(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.5 * r * r])
            .force(|_, _, _, f| f.copy_from_slice(&[0.0, -GRAVITY, 0.0]))
            .potential(|q| GRAVITY * q[1])
            .contact(
                Contact::new("bowl", move |_, q| arm - q[0].hypot(q[1]))
                    .friction(5.0, move |_, q| arm * q[0].atan2(-q[1]) + r * q[2]),
            )
            .initial(&[arm * s, -arm * c, 0.0], &[0.0; 3])
    };
    // K by the arithmetic-geometric mean
    let (mut a, mut g) = (1.0, f64::cos(amplitude / 2.0));
    for _ in 0..8 {
        (a, g) = (0.5 * (a + g), (a * g).sqrt());
    }
    let quarter = 0.25 * 2.0 * PI * (1.5 * arm / GRAVITY).sqrt() / a;
    let passage = |reaction: ReactionDirection, h: f64| {
        let scheme = MoreauJean { reaction, ..MoreauJean::default() };
        let (s, _) = run(model(), scheme, 1.0, h);
        let k = (1..s.len()).find(|&k| s.q(k)[0] <= 0.0).unwrap();
        let (x, y) = (s.q(k - 1)[0], s.q(k)[0]);
        s.t[k - 1] + (s.t[k] - s.t[k - 1]) * x / (x - y)
    };
    for (reaction, order) in [(ReactionDirection::End, 1.0), (ReactionDirection::Mid, 2.0)] {
        let error = |h| (passage(reaction, h) - quarter).abs();
        let (coarse, fine) = (error(8e-3), error(2e-3));
        assert!(((coarse / fine).log(4.0) - order).abs() < 0.3, "{reaction:?}: errors {coarse:e} {fine:e}");
    }
}
