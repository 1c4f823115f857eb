//! Random boxes with friction, dropped, thrown and rocking: both schemes with phases bring them to rest.

use crate::{Body, Log, moreau_jean, run};
use carom::EventKind;
use carom::scheme::{EventDriven, HigherOrder};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const END: f64 = 3.0;

/// Step of the Moreau-Jean scheme, and of the others.
const STEPS: (f64, f64) = (1e-3, 1e-2);

struct Case {
    body: Body,
    q: [f64; 3],
    v: [f64; 3],
}

fn case(random: &mut Pcg64) -> Case {
    let mut within = |low: f64, high: f64| random.random_range(low..high);
    let (a, b) = (within(0.2, 0.5), within(0.1, 0.3));
    let mut body = Body::on_corners(a, b, within(0.2, 0.7));
    body.restitution = within(0.0, 0.4);
    match within(0.0, 3.0) as u32 {
        0 => {}
        1 => body.feet.push([within(-0.5, 0.5) * a, b]),
        _ => body.feet.extend([[-a, b], [a, b]]),
    }
    let tilt = within(-0.3, 0.3);
    // the lowest corner at the floor
    let down = a * tilt.abs().sin() + b * tilt.cos();
    let (height, v) = match within(0.0, 3.0) as u32 {
        0 => (within(0.05, 0.3), [0.0; 3]),
        1 => (within(0.05, 0.3), [within(-2.0, 2.0), within(-1.0, 1.0), within(-3.0, 3.0)]),
        _ => (0.0, [0.0; 3]),
    };
    Case { body, q: [0.0, down + height, tilt], v }
}

/// How far the place of rest is from that of another run.
fn distance(a: &Log, b: &Log) -> f64 {
    a.end.q.iter().zip(&b.end.q).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()))
}

fn all_come_to_rest(count: usize, seed: u64) {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut worst = (0.0f64, 0.0f64);
    for k in 0..count {
        let case = case(&mut random);
        let model = || case.body.model(case.q, case.v);
        let steps = moreau_jean(model(), END, STEPS.0);
        let tight = EventDriven { atol: Some(1e-12), rtol: 1e-12, ..EventDriven::default() };
        let exact = run(model(), tight, END, STEPS.1);
        let driven = run(model(), EventDriven::default(), END, STEPS.1);
        let high = run(model(), HigherOrder::default(), END, STEPS.1);
        for (name, log) in [("event-driven", driven), ("higher-order", high)] {
            let what = format!("{k} {name}, {:?} from {:?} {:?}", case.body, case.q, case.v);
            assert_eq!(log.count(EventKind::HandOver), 0, "{what}");
            assert!(log.is_still(), "{what}: {:?}", log.end);
            assert!(log.lowest > -1e-9, "{what}: {:e}", log.lowest);
            assert!(log.evaluations <= 10 * steps.evaluations, "{what}: {} {}", log.evaluations, steps.evaluations);
            let (own, other) = (distance(&log, &exact), distance(&steps, &exact));
            assert!(own <= other.max(1e-7), "{what}: {own:e}, moreau-jean {other:e}");
            let cost = log.evaluations as f64 / steps.evaluations as f64;
            worst = (worst.0.max(cost), worst.1.max(own));
        }
    }
    println!("{count} boxes: at most {:.2} times the evaluations, place of rest to {:e}", worst.0, worst.1);
}

#[test]
fn a_hundred_boxes_come_to_rest() {
    all_come_to_rest(100, 15);
}

#[test]
#[ignore = "long: a thousand boxes"]
fn a_thousand_boxes_come_to_rest() {
    all_come_to_rest(1000, 16);
}
