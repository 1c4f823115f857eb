//! Rest ends where no reaction inside the cones is left, whatever reaction was taken before.

use crate::{Body, G, both};
use carom::EventKind;

/// A push that grows by k N/s moves a box on two, three or four feet at μ g/k, all feet at once.
#[test]
fn a_growing_push_moves_the_box_at_the_limit_of_friction() {
    let (mu, rate, end) = (0.3, 4.0, 1.0);
    let start: f64 = mu * G / rate;
    for feet in [vec![-0.5, 0.5], vec![-0.5, 0.1, 0.5], vec![-0.5, -0.2, 0.3, 0.5]] {
        let mut body = Body { push: [0.0, rate], ..Body::on_corners(0.5, 0.2, mu) };
        body.feet = feet.iter().map(|x| [*x, -0.2]).collect();
        for (name, log) in both(|| body.model([0.0, 0.2, 0.0], [0.0; 3]), end, 0.02) {
            let what = format!("{name} {}", feet.len());
            assert_eq!(log.kinds(), vec![EventKind::Slip; feet.len()], "{what}");
            for event in &log.events {
                assert!((event.t - start).abs() < 1e-8, "{what}: {:e}", event.t - start);
            }
            let x = rate * (end - start).powi(3) / 6.0;
            assert!((log.end.q[0] - x).abs() < 1e-8, "{what}: {:e}", log.end.q[0] - x);
        }
    }
}

/// A high box tips over its front foot before it slides: the moment of the push at the centre is that of half the
/// weight.
#[test]
fn a_growing_push_tips_a_high_box() {
    let (a, b, rate) = (0.1, 0.5, 4.0);
    let start: f64 = G * a / b / rate;
    let body = Body { push: [0.0, rate], ..Body::on_corners(a, b, 0.6) };
    for (name, log) in both(|| body.model([0.0, b, 0.0], [0.0; 3]), start + 0.1, 0.02) {
        assert_eq!(log.events[0].kind, EventKind::TakeOff, "{name}: {:?}", log.kinds());
        assert!((log.events[0].t - start).abs() < 1e-8, "{name}: {:e}", log.events[0].t - start);
        assert_eq!(log.count(EventKind::HandOver), 0, "{name}");
    }
}
