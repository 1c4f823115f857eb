//! Rest from the start, and the end of a slide, against closed forms.

use crate::{Body, G, both, moreau_jean};
use carom::EventKind;

/// A box that rests on its corners stays in one phase, with reactions inside the cones that carry the weight.
#[test]
fn a_box_at_rest_is_one_phase() {
    // without a load along the floor, with tiny ones and with large ones; a low box does not tip
    for push in [0.0, 1e-10, 1e-6, 0.01, 1.0, 2.8] {
        for (a, b) in [(0.5, 0.5), (0.3, 0.2), (1.0, 0.1)] {
            let body = Body { push: [push, 0.0], ..Body::on_corners(a, b, 0.3) };
            let model = || body.model([0.0, b, 0.0], [0.0; 3]);
            let steps = moreau_jean(model(), 1.0, 0.02);
            for (name, log) in both(model, 1.0, 0.02) {
                let what = format!("{name} {push} {a} {b}");
                assert!(log.events.is_empty(), "{what}: {:?}", log.kinds());
                assert!(log.end.q[0].abs() < 1e-14 && (log.end.q[1] - b).abs() < 1e-14, "{what}: {:?}", log.end);
                assert!(log.is_still(), "{what}: {:?}", log.end);
                assert!(log.evaluations <= 10 * steps.evaluations, "{what}: {} {}", log.evaluations, steps.evaluations);
                let f = &log.force;
                assert!((f[0] + f[2] - G).abs() < 1e-9 && (f[1] + f[3] + push).abs() < 1e-9, "{what}: {f:?}");
                assert!(f.chunks(2).all(|f| f[1].abs() <= 0.3 * f[0] + 1e-9), "{what}: {f:?}");
            }
        }
    }
}

/// A block that slides stops after v/(μ g) at v²/(2 μ g) with both corners, and the stop is what it is called.
#[test]
fn a_sliding_block_sticks_with_both_corners() {
    let (v, mu) = (0.2, 0.3);
    let (time, place) = (v / (mu * G), v * v / (2.0 * mu * G));
    let model = || Body::on_corners(0.3, 0.2, mu).model([0.0, 0.2, 0.0], [v, 0.0, 0.0]);
    let steps = moreau_jean(model(), 0.2, 2e-3);
    for (name, log) in both(model, 0.2, 2e-3) {
        assert_eq!(log.kinds(), [EventKind::Stick; 2], "{name}");
        for event in &log.events {
            assert!((event.t - time).abs() < 1e-11, "{name}: {:e}", event.t - time);
        }
        assert!((log.end.q[0] - place).abs() < 1e-11, "{name}: {:e}", log.end.q[0] - place);
        assert!(log.is_still(), "{name}: {:?}", log.end);
        assert!(log.evaluations <= 10 * steps.evaluations, "{name}: {} {}", log.evaluations, steps.evaluations);
    }
}

/// On a slope below the angle of friction a block that slides up stops and stays; above, it comes back.
#[test]
fn a_block_on_a_slope_stays_or_comes_back() {
    let (v, mu) = (-1.0, 0.4);
    for slope in [0.2f64, 0.5] {
        let body = Body { slope, ..Body::on_corners(0.5, 0.2, mu) };
        let up = G * (slope.sin() + mu * slope.cos());
        let (time, end) = (-v / up, 1.0);
        for (name, log) in both(|| body.model([0.0, 0.2, 0.0], [v, 0.0, 0.0]), end, 0.01) {
            let back = (0.5 * G * (slope.sin() - mu * slope.cos())).max(0.0) * (end - time) * (end - time);
            let kind = if back > 0.0 { EventKind::SlipReversal } else { EventKind::Stick };
            assert_eq!(log.kinds(), [kind; 2], "{name} {slope}");
            let x = -0.5 * v * v / up + back;
            assert!((log.end.q[0] - x).abs() < 1e-9, "{name} {slope}: {:e}", log.end.q[0] - x);
        }
    }
}
