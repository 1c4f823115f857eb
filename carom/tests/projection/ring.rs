//! Pendulum in a ring: a persistent curved contact with friction. Checks O24 and O25 (h = 5e-4 s, ten seconds).

use super::*;
use carom::model::{Contact, Lagrangian};

/// Homogeneous rod that hangs with its hook in a ring of radius 1; the ring turns.
fn ring() -> Lagrangian {
    const LENGTH: f64 = 0.774_596_669_241_483_4; // √(12 I/m)/2
    let hook = |q: &[f64]| [q[0] - LENGTH * q[2].sin(), q[1] + LENGTH * q[2].cos()];
    let frame = move |q: &[f64]| {
        let h = hook(q);
        let r = h[0].hypot(h[1]);
        let (n, lever) = ([-h[0] / r, -h[1] / r], [-LENGTH * q[2].cos(), -LENGTH * q[2].sin()]);
        (r, n, lever)
    };
    let contact = Contact::new("hook", move |_, q| 1.0 - frame(q).0)
        .gradient(move |_, q, row| {
            let (_, n, lever) = frame(q);
            row.copy_from_slice(&[n[0], n[1], n[0] * lever[0] + n[1] * lever[1], 0.0]);
        })
        // only the gradient of the slip has a meaning
        .friction(0.3, |_, _| 0.0)
        .gradient(move |_, q, row| {
            let (_, n, lever) = frame(q);
            let t = [-n[1], n[0]];
            row.copy_from_slice(&[t[0], t[1], t[0] * lever[0] + t[1] * lever[1], 1.0]);
        });
    Lagrangian::new(4)
        .constant_mass(&[5.0, 0., 0., 0., 0., 5.0, 0., 0., 0., 0., 1.0, 0., 0., 0., 0., 0.8])
        .force(|_, _, _, f| f.copy_from_slice(&[0.0, -5.0 * 9.81, 0.0, 0.0]))
        .tangents(|_, _, _, k, c| {
            k.fill(0.0);
            c.fill(0.0);
        })
        .contact(contact)
        .initial(&[0.0, -0.99 - LENGTH, 0.0, 0.0], &[0.0, 0.0, 0.0, 10.0])
}

/// Check O24: no drift with rows at the end of the step.
#[test]
fn moreau_jean_does_not_drift() {
    let trace = run(&plain(gamma(0.0)), ring(), 5e-4, 20_000);
    let first = trace.impulses.iter().position(|p| p[0] > 0.0).unwrap();
    near(trace.states[first + 1].t, 0.0460, 5.1e-4);
    for (state, gap) in trace.states.iter().zip(&trace.gaps).filter(|(s, _)| s.t >= 0.05) {
        assert!((gap[0] + 2.66e-4).abs() < 1e-6, "{} at t = {}", gap[0], state.t);
    }
}

/// Check O24: the combined scheme keeps the contact closed.
#[test]
fn combined_projection_keeps_the_contact() {
    let trace = run(&combined(), ring(), 5e-4, 20_000);
    let first = trace.impulses.iter().position(|p| p[0] > 0.0).unwrap();
    assert!(trace.least_gap() > -1e-12);
    for k in first..20_000 {
        assert!(trace.gaps[k + 1][0].abs() < 1e-12 && trace.impulses[k][0] > 0.0, "step {k}: {:?}", trace.gaps[k + 1]);
    }
}

/// Direct projection with gamma = 0 opens the contact again and again: 3087 steps in the specification.
#[test]
fn direct_projection_opens_the_contact() {
    let trace = run(&direct(gamma(0.0)), ring(), 5e-4, 20_000);
    let first = trace.impulses.iter().position(|p| p[0] > 0.0).unwrap();
    let open = trace.impulses[first..].iter().filter(|p| p[0] == 0.0).count();
    println!("{open} open steps");
    assert!(trace.least_gap() > -1e-12);
    assert!(open.abs_diff(3087) < 200, "{open}");
}

/// Check O25: rows frozen at the start drift into the wall, linearly in time and in the step.
#[test]
fn frozen_rows_drift() {
    let scheme = MoreauJean { reaction: ReactionDirection::Start, ..plain(gamma(0.0)) };
    let trace = run(&scheme, ring(), 5e-4, 20_000);
    let gap = |t: f64| trace.gaps[(t / 5e-4).round() as usize][0];
    near(gap(10.0), -1.46e-2, 5e-4);
    for (t, expected) in [(1.0, -1.52e-3), (2.0, -3.05e-3), (5.0, -7.15e-3)] {
        close(gap(t), expected, 0.01);
    }
    let crossing = |trace: &Trace| trace.states[trace.gaps.iter().position(|g| g[0] < -2e-3).unwrap()].t;
    near(crossing(&trace), 1.31, 0.01);
    near(crossing(&run(&scheme, ring(), 2.5e-4, 12_000)), 2.86, 0.02);
}
