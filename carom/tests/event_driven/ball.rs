//! The bouncing ball: times and speeds of impacts, the end of its accumulation, its energy.

use crate::run;
use carom::EventKind;
use carom::scheme::EventDriven;
use carom::testbed::BouncingBall;

/// O11: impact n at 3 − 2^(2−n) with speed 2^(2−n).
#[test]
fn impacts_are_located_to_rounding() {
    for h in [0.03, 0.1, 1.0, 10.0] {
        let log = run(BouncingBall::default().model(), EventDriven::default(), 2.9999999, h);
        let impacts = log.of(EventKind::Impact);
        assert!(impacts.len() > 20, "{}", impacts.len());
        for (n, impact) in (1..=20).zip(impacts) {
            let speed = 2.0f64.powi(2 - n);
            assert!((impact.t - (3.0 - speed)).abs() < 1e-13, "{h} {n}: {:e}", impact.t - 3.0 + speed);
            assert!((impact.before.v[0] + speed).abs() < 1e-13, "{h} {n}");
            assert!((impact.after.v[0] - 0.5 * speed).abs() < 1e-13, "{h} {n}");
        }
    }
}

/// O12: the number of events and the state of rest.
#[test]
fn accumulation_ends_after_the_stated_number_of_events() {
    for (veps, count) in [(1e-6, 21), (1e-9, 31), (1e-12, 41)] {
        let scheme = EventDriven { veps: Some(veps), geps: Some(1e-11), ..EventDriven::default() };
        let log = run(BouncingBall::default().model(), scheme, 4.0, 0.5);
        assert_eq!(log.instants().len(), count, "{veps}");
        let end = log.of(EventKind::Accumulation);
        assert_eq!(end.len(), 1);
        assert!((end[0].t - 3.0).abs() <= 2.0 * veps, "{:e}", end[0].t - 3.0);
        assert!(log.last().q[0].abs() < 1e-12 && log.last().v[0] == 0.0, "{:?}", log.last());
        assert!((log.impulse[0] - 2.0).abs() < 1e-9);
    }
}

/// With restitution 1 energy stays for ten thousand bounces.
#[test]
fn elastic_ball_keeps_its_energy() {
    let ball = BouncingBall { restitution: 1.0, ..BouncingBall::default() };
    let log = run(ball.model(), EventDriven::default(), 20001.0, 1.0);
    let (first, last) = (log.energy[0], log.energy[log.energy.len() - 1]);
    assert_eq!(log.of(EventKind::Impact).len(), 10_000);
    assert!(((last - first) / first).abs() < 1e-10, "{:e}", (last - first) / first);
    assert!(log.lowest > -1e-12);
}
