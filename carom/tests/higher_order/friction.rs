//! Sliding and sticking phases against closed forms.

use crate::{run, scheme, show, slope};
use carom::model::{Contact, Lagrangian};
use carom::scheme::higher_order::RungeKutta;

const G: f64 = 10.0;

/// Unit mass on a rough plane, pushed along it; the rows are constant.
fn block(spatial: bool, mu: f64, push: impl Fn(f64) -> [f64; 2] + Send + 'static, v: [f64; 2]) -> Lagrangian {
    let unit = |k: usize| {
        move |_: f64, _: &[f64], row: &mut [f64]| {
            row.fill(0.0);
            row[k] = 1.0;
        }
    };
    let mut floor = Contact::new("floor", |_, q| q[2]).gradient(unit(2)).friction(mu, |_, q| q[0]).gradient(unit(0));
    if spatial {
        floor = floor.friction(mu, |_, q| q[1]).gradient(unit(1));
    }
    Lagrangian::new(3)
        .force(move |t, _, _, f| {
            let [x, y] = push(t);
            f.copy_from_slice(&[x, y, -G]);
        })
        .tangents(|_, _, _, k, c| {
            k.fill(0.0);
            c.fill(0.0);
        })
        .contact(floor)
        .initial(&[0.0; 3], &[v[0], v[1], 0.0])
        .linear()
}

/// A block slides to a stop after v²/(2 μ g) and stays, on every grid.
#[test]
fn sliding_block_stops_in_place() {
    let (mu, speed) = (0.3, 1.2);
    for spatial in [false, true] {
        for method in [RungeKutta::RadauIia3, RungeKutta::Herk4, RungeKutta::LobattoIiia2] {
            for steps in [7, 50, 173] {
                let start = if spatial { [speed * 0.6, speed * 0.8] } else { [speed, 0.0] };
                let s = run(block(spatial, mu, |_| [0.0; 2], start), scheme(method, 1e-3), 1.0, steps);
                let (q, v) = (s.q(s.len() - 1), s.v(s.len() - 1));
                let error = q[0].hypot(q[1]) - speed * speed / (2.0 * mu * G);
                assert!(error.abs() < 1e-10, "{method:?} {spatial} {steps}: {error:e}");
                assert!(v[0].hypot(v[1]) < 1e-14 && q[2].abs() < 1e-14, "{v:?}");
            }
        }
    }
}

/// A force that grows with time overcomes friction at t₀ = μ g/k; then x = k (t − t₀)³/6.
#[test]
fn sticking_block_starts_to_slide() {
    let (mu, rate) = (0.3, 4.0);
    let (start, end): (f64, f64) = (mu * G / rate, 1.5);
    for spatial in [false, true] {
        for method in RungeKutta::ALL {
            let s = run(block(spatial, mu, move |t| [rate * t, 0.0], [0.0; 2]), scheme(method, 1e-3), end, 47);
            let (k, exact) = (s.len() - 1, rate * (end - start).powi(3) / 6.0);
            let before = (0..s.len()).filter(|&k| s.t[k] < start).all(|k| s.q(k)[0] == 0.0);
            assert!(before, "{method:?} creeps");
            // the arc is a cubic: methods of order 3 and more are exact but for the start
            let bound = if method.order() > 2 { 1e-9 } else { rate * (end - start) * (end / 47.0).powi(2) / 6.0 };
            assert!((s.q(k)[0] - exact).abs() < bound, "{method:?}: {:e}", s.q(k)[0] - exact);
        }
    }
}

/// Under a harmonic push the block sticks, slides, stops and turns back; the velocity between is a primitive of the
/// force.
#[test]
fn slip_turns_around() {
    let (mu, amplitude) = (0.3, 7.0f64);
    // slides from t₀ = asin(μg/A) with v = A (cos t₀ − cos t) − μ g (t − t₀) until v = 0
    let start = (mu * G / amplitude).asin();
    let v = |t: f64| amplitude * (start.cos() - t.cos()) - mu * G * (t - start);
    let x = |t: f64| {
        let s = t - start;
        amplitude * (s * start.cos() - t.sin() + start.sin()) - 0.5 * mu * G * s * s
    };
    let (mut low, mut high) = (2.0, 5.0);
    assert!(v(low) > 0.0 && v(high) < 0.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if v(middle) > 0.0 { low = middle } else { high = middle }
    }
    let stop = low;
    // at the stop the force is beyond the limit in the other direction: it slides back at once
    assert!(amplitude * stop.sin() < -mu * G, "{stop}");
    let back = |t: f64| {
        let s = t - stop;
        x(stop) + amplitude * (s * stop.cos() - t.sin() + stop.sin()) + 0.5 * mu * G * s * s
    };
    let end = 5.0;
    for method in [RungeKutta::RadauIia3, RungeKutta::Herk4, RungeKutta::LobattoIiia4] {
        let points: Vec<(f64, f64)> = [43, 83, 163, 323]
            .iter()
            .map(|&n| {
                let model = block(false, mu, move |t| [amplitude * t.sin(), 0.0], [0.0; 2]);
                let s = run(model, scheme(method, 1e-3), end, n);
                (end / n as f64, (s.q(s.len() - 1)[0] - back(end)).abs())
            })
            .collect();
        println!("{method:?}: {}", show(&points));
        assert!(points[3].1 < if method.order() > 4 { 1e-10 } else { 1e-7 }, "{method:?}: {points:?}");
        if method == RungeKutta::Herk4 {
            assert!(slope(&points) > 3.75, "{}", slope(&points));
        }
    }
}

/// On a slope of tan α = μ the sum of speed and downhill velocity is constant while the direction turns.
#[test]
fn turning_slip_keeps_its_invariant() {
    let mu: f64 = 0.4;
    let pull = mu * G; // g sin α for normal force g cos α = G
    for method in RungeKutta::ALL {
        let points: Vec<(f64, f64)> = [10, 20, 40, 80]
            .iter()
            .map(|&n| {
                let s = run(block(true, mu, move |_| [pull, 0.0], [0.0, 1.0]), scheme(method, 1e-3), 0.5, n);
                let missed = |k: usize| (s.v(k)[0].hypot(s.v(k)[1]) + s.v(k)[0] - 1.0).abs();
                (0.5 / n as f64, (0..s.len()).map(missed).fold(0.0, f64::max))
            })
            .collect();
        let p = f64::from(method.order());
        println!("{method:?}: {:.2} {}", slope(&points), show(&points));
        assert!(slope(&points) > p - 0.25, "{method:?}: {points:?}");
    }
}

/// A disc dropped with spin, e = 0: friction of the impact, then sliding until it rolls, all in closed form.
#[test]
fn disc_lands_slides_and_rolls() {
    let (mu, radius, inertia, height, spin): (f64, f64, f64, f64, f64) = (0.1, 0.1, 5e-3, 0.2, 40.0);
    let disc = || {
        Lagrangian::new(3)
            .constant_mass(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, inertia])
            .force(|_, _, _, f| f.copy_from_slice(&[0.0, -G, 0.0]))
            .tangents(|_, _, _, k, c| {
                k.fill(0.0);
                c.fill(0.0);
            })
            .contact(
                Contact::new("floor", |_, q| q[1])
                    .gradient(|_, _, row| row.copy_from_slice(&[0.0, 1.0, 0.0]))
                    .friction(mu, move |_, q| q[0] + radius * q[2])
                    .gradient(move |_, _, row| row.copy_from_slice(&[1.0, 0.0, radius])),
            )
            .initial(&[0.0, height, 0.0], &[0.0, 0.0, spin])
            .linear()
    };
    let (landing, impulse) = ((2.0 * height / G).sqrt(), (2.0 * G * height).sqrt());
    let inverse = 1.0 + radius * radius / inertia;
    // slip u = v + r ω loses μ P w at the impact and μ g w per second after it
    let slip = spin * radius - mu * impulse * inverse;
    assert!(slip > 0.0);
    let sliding = slip / (mu * G * inverse);
    let (v0, v1) = (-mu * impulse, -mu * impulse - mu * G * sliding);
    let end = landing + sliding + 0.3;
    let x = 0.5 * (v0 + v1) * sliding + v1 * 0.3;
    for method in [RungeKutta::RadauIia3, RungeKutta::Herk2] {
        let s = run(disc(), scheme(method, 1e-4), end, 113);
        let (q, v) = (s.q(s.len() - 1), s.v(s.len() - 1));
        let bound = if method == RungeKutta::Herk2 { 1e-6 } else { 1e-10 };
        assert!((q[0] - x).abs() < bound && (v[0] - v1).abs() < bound, "{method:?}: {:e}", q[0] - x);
        assert!((v[0] + radius * v[2]).abs() < 1e-14, "it rolls");
    }
}
