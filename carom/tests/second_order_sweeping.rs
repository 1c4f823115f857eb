//! Sweeping processes of second order are the Moreau-Jean scheme: checks O4 and O5 on the ball of [acary2008homsp].

use carom::model::{Contact, Lagrangian};
use carom::scheme::{Bound, Forecast, MoreauJean, Stepper};

/// A ball of 1 kg from 1 m under 10 m/s², stepped with γ = 0 and θ = 1/2.
fn ball(restitution: f64) -> Bound<MoreauJean> {
    let model = Lagrangian::new(1)
        .constant_mass(&[1.0])
        .force(|_, _, _, f| f[0] = -10.0)
        .tangents(|_, _, _, k, c| (k[0], c[0]) = (0.0, 0.0))
        .contact(Contact::new("floor", |_, q| q[0]).gradient(|_, _, row| row[0] = 1.0).restitution(restitution))
        .initial(&[1.0], &[0.0])
        .linear();
    let scheme = MoreauJean { theta: 0.5, forecast: Forecast::Explicit { gamma: 0.0 }, ..MoreauJean::default() };
    Bound::new(scheme, Box::new(model), carom_solve::solver::default()).unwrap()
}

/// O4.
#[test]
fn impulses_of_the_ball() {
    let (mut stepper, h) = (ball(0.8), 5e-3);
    let mut impulses = Vec::new();
    for k in 1..=1200 {
        stepper.attempt(h).unwrap();
        let p = stepper.reactions().normal(0);
        if p > 1e-9 {
            impulses.push((f64::from(k) * h, p));
        }
        stepper.accept();
    }
    let wanted = [(0.455, 8.15), (1.180, 6.53), (1.760, 5.216), (2.220, 4.1072), (2.585, 3.28424), (2.875, 2.592608)];
    for ((t, p), (time, impulse)) in impulses.iter().zip(wanted) {
        assert!((t - time).abs() < 1e-12 && (p - impulse).abs() < 1e-9, "{t} {p}");
    }
    assert!((impulses.iter().map(|(_, p)| p).sum::<f64>() - 60.0).abs() < 1e-8);
}

/// O5: with dyadic steps nothing is rounded, and the energy is the same bits after any number of impacts.
#[test]
fn elastic_impacts_keep_the_energy_to_the_bit() {
    let (mut stepper, h) = (ball(1.0), 1.0 / 256.0);
    let mut impacts = 0;
    while impacts < 100_000 {
        stepper.attempt(h).unwrap();
        impacts += u32::from(stepper.reactions().normal(0) > 0.0);
        stepper.accept();
        let state = stepper.from();
        assert_eq!(0.5 * state.v[0] * state.v[0] + 10.0 * state.q[0], 10.0, "{impacts} impacts");
    }
}
