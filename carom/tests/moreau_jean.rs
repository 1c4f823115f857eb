//! Moreau-Jean against the reference numbers of its specification: closed-form trajectories and independently computed errors.

use carom::model::{Contact, Lagrangian};
use carom::scheme::{Forecast, MoreauJean};
use carom::testbed::{BouncingBall, ExactSolution, LinearOscillator};
use carom::{Solution, simulate};

fn ball(b: &BouncingBall) -> Lagrangian {
    let f = b.force;
    Lagrangian::new(1)
        .constant_mass(&[b.mass])
        .force(move |_, _, _, out| out[0] = f)
        .tangents(|_, _, _, k, c| {
            k[0] = 0.0;
            c[0] = 0.0;
        })
        .contact(Contact::new("floor", |_, q| q[0]).gradient(|_, _, row| row[0] = 1.0).restitution(b.restitution))
        .initial(&[b.q0], &[b.v0])
        .linear()
}

fn oscillator(o: &LinearOscillator) -> Lagrangian {
    let (k, c) = (o.stiffness, o.damping);
    Lagrangian::new(1)
        .constant_mass(&[o.mass])
        .force(move |_, q, v, out| out[0] = -k * q[0] - c * v[0])
        .tangents(move |_, _, _, kk, cc| {
            kk[0] = k;
            cc[0] = c;
        })
        .contact(Contact::new("stop", |_, q| q[0]).gradient(|_, _, row| row[0] = 1.0).restitution(o.restitution))
        .initial(&[o.q0], &[o.v0])
        .linear()
}

fn explicit(gamma: f64) -> MoreauJean {
    MoreauJean { forecast: Forecast::Explicit { gamma }, ..MoreauJean::default() }
}

/// l1 norms of the errors in q and v, with full weights.
fn l1(s: &Solution, exact: &dyn ExactSolution, h: f64) -> (f64, f64) {
    let (mut eq, mut ev) = (0.0, 0.0);
    let (mut q, mut v) = ([0.0], [0.0]);
    for k in 0..s.len() {
        exact.at(s.t[k], &mut q, &mut v);
        eq += h * (s.q(k)[0] - q[0]).abs();
        ev += h * (s.v(k)[0] - v[0]).abs();
    }
    (eq, ev)
}

fn close(actual: f64, expected: f64, relative: f64) {
    assert!((actual - expected).abs() <= relative * expected.abs(), "{actual:e} is not {expected:e} to {relative:e}");
}

/// Check O3.
#[test]
fn ball_with_gamma_zero() {
    let (b, h) = (BouncingBall::default(), 5.0 / 587.0);
    let s = simulate(ball(&b), explicit(0.0), 5.0, h).unwrap();
    assert_eq!(s.len(), 588);
    let (eq, ev) = l1(&s, &b, h);
    close(eq, 1.854629e-2, 1e-6);
    close(ev, 1.120510e-1, 1e-6);
    close(s.coordinate(0).into_iter().fold(f64::INFINITY, f64::min), -1.452829e-2, 1e-6);
}

/// Check O4.
#[test]
fn ball_with_the_free_forecast() {
    let (b, h) = (BouncingBall::default(), 5.0 / 587.0);
    let s = simulate(ball(&b), MoreauJean::default(), 5.0, h).unwrap();
    close(l1(&s, &b, h).0, 3.503305e-3, 1e-6);
    let mut sup: f64 = 0.0;
    let (mut q, mut v) = ([0.0], [0.0]);
    for k in 0..s.len() {
        b.at(s.t[k], &mut q, &mut v);
        sup = sup.max((s.q(k)[0] - q[0]).abs());
    }
    close(sup, 4.570202e-3, 1e-6);
    close(s.q(587)[0], -5.698544e-6, 1e-6);
}

/// Check O6, the Moreau-Jean part.
#[test]
fn oscillator_with_both_forecasts() {
    let (o, h) = (LinearOscillator::default(), 5.0 / 587.0);
    for (scheme, expected) in [(explicit(0.0), 3.523805e-2), (MoreauJean::default(), 4.242960e-3)] {
        let s = simulate(oscillator(&o), scheme, 5.0, h).unwrap();
        close(l1(&s, &o, h).0, expected, 1e-6);
    }
}
