//! The Schatzman-Paoli scheme on the impact oscillator: two steps to reverse a velocity, in closed form, and errors of
//! case P1.

use carom::model::{Contact, Lagrangian};
use carom::scheme::SchatzmanPaoli;
use carom::testbed::ImpactOscillator;
use carom::{Solution, Span, simulate};

/// Check O16: without forces the rebound is the exact one, delayed by two steps, wherever in the step the impact falls.
#[test]
fn free_rebound_is_delayed_by_two_steps() {
    // Weyl's sequence is even enough, and has no period
    let mut place = 0.0f64;
    let mut between = |low: f64, high: f64| {
        place = (place + std::f64::consts::SQRT_2).fract();
        low + (high - low) * (place * 997.0).fract()
    };
    for _ in 0..200 {
        let (e, u0, v0) = (between(0.05, 1.0), between(0.2, 2.0), -between(0.3, 3.0));
        // the first step must not meet the wall: h ≤ −(1+e) u₀/(2 v₀)
        let h = between(0.02, 0.9) * (1.0 + e) * u0 / (-2.0 * v0);
        let wall = Contact::new("wall", |_, q| q[0]).gradient(|_, _, row| row[0] = 1.0).restitution(e);
        let model = Lagrangian::new(1).constant_mass(&[1.0]).contact(wall).initial(&[u0], &[v0]).linear();
        let steps = 3 * (u0 / (-v0 * h)).ceil() as usize + 6;
        let s = simulate(model, SchatzmanPaoli::default(), Span { end: steps as f64 * h, step: h }).unwrap();
        let m = (((1.0 + e) * u0 + h * (1.0 - e) * v0) / (-(1.0 + e) * v0 * h)).floor() as usize;
        for n in 0..=steps {
            let free = u0 + n as f64 * h * v0;
            let expected = if n <= m + 1 { free } else { -e * (free - 2.0 * h * v0) };
            let deviation = (s.q(n)[0] - expected).abs();
            assert!(deviation <= 1e-10, "e = {e}, u0 = {u0}, v0 = {v0}, h = {h}, n = {n}: {deviation:e}");
        }
        // the exact rebound is at −e v₀ (t − t_c): the error of the position is 2 e h |v₀|
        let late = (s.q(steps)[0] + e * (u0 + steps as f64 * h * v0)).abs();
        assert!((late - 2.0 * e * h * v0.abs()).abs() < 1e-10, "{late}");
    }
}

/// Largest error of u at the nodes, and h Σ|v error| over the inner ones.
fn errors(s: &Solution, p: &ImpactOscillator, h: f64) -> (f64, f64) {
    let (mut largest, mut sum, mut motion) = (0.0f64, 0.0, p.motion());
    for k in 1..s.len() {
        motion.advance(s.t[k]);
        largest = largest.max((s.q(k)[0] - motion.u).abs());
        if k + 1 < s.len() {
            sum += h * (s.v(k)[0] - motion.v).abs();
        }
    }
    (largest, sum)
}

/// Case P1 on [0, 6], section 5.2: order 1 in both.
#[test]
fn errors_of_case_p1() {
    let p1 = ImpactOscillator::default();
    let table =
        [(800, 3.459e-2, 8.086e-2), (1600, 1.560e-2, 4.087e-2), (3200, 8.857e-3, 2.001e-2), (6400, 4.121e-3, 1.001e-2)];
    let mut measured = Vec::new();
    for (n, u, v) in table {
        let h = 6.0 / f64::from(n);
        let s = simulate(p1.model(), SchatzmanPaoli::default(), Span { end: 6.0, step: h }).unwrap();
        let (du, dv) = errors(&s, &p1, h);
        assert!((du - u).abs() < 2e-3 * u && (dv - v).abs() < 2e-3 * v, "N = {n}: {du:e} {dv:e}");
        measured.push((du, dv));
    }
    let order = |f: fn(&(f64, f64)) -> f64| (f(&measured[0]) / f(&measured[3])).log2() / 3.0;
    assert!((order(|e| e.0) - 1.0).abs() < 0.1 && (order(|e| e.1) - 1.0).abs() < 0.1);
}
