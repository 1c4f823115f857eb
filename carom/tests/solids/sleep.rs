//! Bodies at rest that sleep: the rule by which they fall asleep and wake, what sleeping changes, what it costs.

use crate::{G, ball, cube, floor, rough, run, stepper};
use carom::State;
use carom::multibody::contact::Surface;
use carom::multibody::{Body, Multibody, MultibodyError, MultibodyModel, Solid};
use carom::scheme::{AnyModel, Claim, Family, MoreauJean, Scheme, Stepper};
use carom::simulation::{FixedStep, LedgerObserver, Simulation};
use serde_json::json;

const H: f64 = 1e-3;

/// Two stacks of three cubes of 0.2 m, 1 cm above each other, at x = 0 and at x = 1; and a ball that is thrown so that
/// it meets the middle of the first one after a second.
fn stacks() -> Multibody {
    let mut all = Multibody::spatial().gravity([0.0, 0.0, -G]).material("wood", rough(0.5, 0.0));
    all = all.solid(Solid::new("ground", "floor", floor()).material("wood"));
    for (stack, x) in [0.0, 1.0].into_iter().enumerate() {
        for i in 0..3 {
            let name = format!("box{stack}{i}");
            let body = Body::new(&name, 1.0, 0.02 / 3.0).at([x, 0.0, 0.11 + 0.21 * i as f64]);
            all = all.body(body).solid(Solid::new(&name, "cube", cube(0.1)).material("wood"));
        }
    }
    let thrown = Body::new("ball", 0.5, 0.4 * 0.5 * 0.01).at([-5.2, 0.0, 0.3]).velocity([5.0, 0.0, 0.5 * G]);
    all.body(thrown).solid(Solid::new("ball", "ball", ball(0.1)).material("wood"))
}

/// Whether the bodies with these numbers stand still: to the last bit, which only what sleeps does.
fn stand(stepper: &dyn Stepper, bodies: std::ops::Range<usize>) -> bool {
    let (from, to) = (stepper.from(), stepper.to());
    let q = 7 * bodies.start..7 * bodies.end;
    let way = from.q[q.clone()].iter().zip(&to.q[q]).fold(0.0f64, |way, (a, b)| way.max((a - b).abs()));
    // quaternions are normalised anew
    to.v[6 * bodies.start..6 * bodies.end].iter().all(|v| *v == 0.0) && way < 1e-15
}

#[test]
fn a_hit_wakes_the_island_that_it_meets_and_no_other() {
    let mut stepper = stepper(stacks().sleep(1e-3, 0.1).build().unwrap());
    let (mut asleep, mut full, mut woken) = (0, 0, None);
    run(&mut *stepper, H, 1300, |stepper| {
        let (t, laws) = (stepper.to().t, stepper.reactions().len());
        let [a, b] = [stand(stepper, 0..3), stand(stepper, 3..6)];
        if t < 0.1 {
            // slow for less than 0.1 s
            assert!(!a && !b && laws > 0, "asleep at {t}");
            full = laws;
        } else if t > 0.5 {
            assert!(b, "the second stack moves at {t}");
            if woken.is_none() && a {
                assert_eq!(laws, 0, "contacts among what sleeps at {t}");
                asleep += 1;
            } else if woken.is_none() {
                // all at once: the contacts of one stack, and that with the ball
                assert_eq!(laws, full / 2 + 1, "contacts of what has woken at {t}");
                woken = Some(t);
            }
        }
    });
    // the ball meets it at (5.2 - 0.2)/5 = 1 s; it is listed when it is nearer than 2h (|v| + |ω| r + h g) of both and
    // a tenth of its radius
    let woken = woken.unwrap();
    let near = (2.0 * H * (5.0f64.hypot(0.5 * G) + 2.0 * H * G) + 0.011) / 5.0;
    assert!(asleep > 450, "{asleep} steps asleep");
    assert!(woken <= 1.0 + H && woken >= 1.0 - near - H, "woken at {woken}");
    // what was hit has moved
    let x = stepper.from().q[7];
    assert!(x > 0.01, "{x}");
}

/// A ball that rolls with the speed v against rolling friction f goes on for v²/(2a) with a = 5/7 g f/R. Asleep from
/// the speed v₀ on it misses v₀²/(2a), less than v₀ times the time v₀/a.
#[test]
fn what_would_have_stopped_is_off_by_no_more_than_told() {
    let (radius, rolling, start) = (0.1, 2e-3, 1.0);
    let slow = 5.0 / 7.0 * G * rolling / radius;
    let surface = Surface { friction: 0.5, rolling, ..Surface::default() };
    let limit = 0.04;
    let model = |sleeps: bool| {
        let all = Multibody::spatial()
            .gravity([0.0, 0.0, -G])
            .material("felt", surface)
            .body(
                Body::new("ball", 1.0, 0.4 * radius * radius)
                    .at([0.0, 0.0, radius])
                    .velocity([start, 0.0, 0.0])
                    .spin([0.0, start / radius, 0.0]),
            )
            .solid(Solid::new("ground", "floor", floor()).material("felt"))
            .solid(Solid::new("ball", "ball", ball(radius)).material("felt"));
        if sleeps { all.sleep(limit, 0.05) } else { all }.build().unwrap()
    };
    let end = 1.5 * start / slow;
    let mut ledger = LedgerObserver::default();
    let last = |sleeps: bool, ledger: &mut LedgerObserver| {
        let mut run = Simulation::new(stepper(model(sleeps)), Box::new(FixedStep { h: H }), end).unwrap();
        run.run(&mut [ledger]).unwrap();
        run.state().clone()
    };
    let awake = last(false, &mut ledger);
    let way = start * start / (2.0 * slow);
    assert!((awake.q[0] - way).abs() < 1e-3, "{} {way}", awake.q[0]);
    assert_eq!(ledger.ledger().unwrap().sleep_loss, 0.0);
    let slept = last(true, &mut ledger);
    assert!(slept.v.iter().all(|v| *v == 0.0), "{slept:?}");
    // slow is |v| + |ω| r = 2 |v|, and that for 0.05 s
    let speed = 0.5 * limit - 0.05 * slow;
    let missed = awake.q[0] - slept.q[0];
    assert!((missed - speed * speed / (2.0 * slow)).abs() < 1e-4, "{missed}");
    assert!(missed > 0.0 && missed < limit * limit / slow, "{missed}");
    let ledger = ledger.ledger().unwrap();
    assert!((ledger.sleep_loss - 0.7 * speed * speed).abs() < 2e-5, "{ledger:?}");
    assert!(ledger.residue().abs() < 1e-9, "{ledger:?}");
    assert_eq!(ledger.last.kinetic, 0.0);
}

/// Cubes that slide to rest stop before they sleep: the same motion, to rounding.
#[test]
fn what_has_stopped_is_where_it_would_be() {
    let sliding = |sleeps: bool| {
        let mut all = Multibody::spatial().gravity([0.0, 0.0, -G]).material("wood", rough(0.4, 0.0));
        all = all.solid(Solid::new("ground", "floor", floor()).material("wood"));
        for i in 0..4 {
            let name = format!("box{i}");
            let body = Body::new(&name, 1.0, 0.02 / 3.0).at([0.0, i as f64, 0.1]);
            all = all.body(body.velocity([1.0 + 0.7 * i as f64, 0.0, 0.0]));
            all = all.solid(Solid::new(&name, "cube", cube(0.1)).material("wood"));
        }
        let mut stepper = stepper(if sleeps { all.sleep(1e-2, 0.05) } else { all }.build().unwrap());
        let (mut asleep, mut ledger) = (0, 0.0);
        let last = run(&mut *stepper, H, 1000, |stepper| {
            asleep += usize::from(stepper.reactions().is_empty());
            ledger += stepper.lost_asleep();
        });
        (last, asleep, ledger)
    };
    let ((awake, never, _), (slept, asleep, lost)) = (sliding(false), sliding(true));
    // the last one stops after 3.1/(0.4 g) = 0.79 s
    assert!(never == 0 && (130..170).contains(&asleep), "{never} {asleep}");
    for (a, b) in awake.q.iter().zip(&slept.q) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
    assert!(lost < 1e-20 && slept.v.iter().all(|v| *v == 0.0), "{lost:e}");
}

/// Sleeping bodies are in checkpoints, and what was moved from outside wakes.
#[test]
fn sleep_is_remembered_and_ends_where_bodies_are_moved() {
    let begin = || {
        let stepper = stepper(stacks().sleep(1e-3, 0.1).build().unwrap());
        Simulation::new(stepper, Box::new(FixedStep { h: H }), 1.3).unwrap()
    };
    let (mut whole, mut first, mut second) = (begin(), begin(), begin());
    while whole.advance().unwrap().is_some() {}
    for cut in [150, 700, 1000, 1010] {
        while first.statistics().steps < cut {
            first.advance().unwrap();
        }
        second = begin();
        second.resume(&mut [], first.save(&mut []).unwrap()).unwrap();
        while second.advance().unwrap().is_some() {}
        assert_eq!(second.state(), whole.state(), "cut after {cut} steps");
    }
    drop(second);
    let mut stepper = stepper(stacks().sleep(1e-3, 0.1).build().unwrap());
    let asleep = run(&mut *stepper, H, 600, |_| {});
    assert!(stand(&*stepper, 0..6));
    // lifted by a centimetre: it falls
    let lifted =
        State { q: asleep.q.iter().enumerate().map(|(i, q)| if i == 16 { q + 0.01 } else { *q }).collect(), ..asleep };
    stepper.restart(&lifted);
    stepper.attempt(H).unwrap();
    assert!((stepper.to().v[14] + G * H).abs() < 1e-9, "{:?}", stepper.to().v);
    assert!(stand(&*stepper, 3..6));
}

/// A pile of balls that sleeps has no contacts, no problems, and the steps of a free flight.
#[test]
fn a_pile_that_sleeps_is_not_solved() {
    let surface = Surface { friction: 0.5, rolling: 1e-2, spinning: 1e-2, ..Surface::default() };
    let mut all = Multibody::spatial().gravity([0.0, 0.0, -G]).material("felt", surface);
    all = all.solid(Solid::new("ground", "floor", floor()).material("felt"));
    for i in 0..30 {
        let (x, y, z) = (i % 3, i / 3 % 3, i / 9);
        let at = [0.19 * x as f64 + 0.01 * z as f64, 0.19 * y as f64 + 0.004 * (i % 7) as f64, 0.1 + 0.25 * z as f64];
        let name = format!("b{i}");
        all = all.body(Body::new(&name, 1.0, 0.004).at([1.2 * at[0], 1.2 * at[1], at[2]]));
        all = all.solid(Solid::new(&name, "ball", ball(0.1)).material("felt"));
    }
    let model = AnyModel::Mechanical(Box::new(all.sleep(0.02, 0.1).build().unwrap()));
    let solver = (carom_solve::solver::find("auto").unwrap().build)(&json!({ "tolerance": 1e-6 })).unwrap();
    let scheme = carom::scheme::find(MoreauJean::INFO.name).unwrap();
    let mut stepper = (scheme.bind)(&json!({}), model, solver).unwrap();
    let (mut most, mut last) = (0, usize::MAX);
    let end = run(&mut *stepper, 2.0 * H, 4000, |stepper| {
        (most, last) = (most.max(stepper.reactions().len()), stepper.reactions().len());
    });
    assert!(most > 30 && last == 0, "{most} contacts, {last} at the end");
    assert!(end.v.iter().all(|v| *v == 0.0));
    let step = stepper.attempt(2.0 * H).unwrap();
    assert_eq!((step.solves, step.iterations), (0, 1), "{step:?}");
}

#[test]
fn sleep_that_makes_no_sense_is_refused() {
    let build = |speed: f64, after: f64| stacks().sleep(speed, after).build().map(|_: MultibodyModel| ());
    for (speed, after) in [(0.0, 1.0), (-1.0, 1.0), (f64::NAN, 1.0), (1e-3, 0.0), (1e-3, f64::INFINITY), (1.0, 0.2)] {
        let error = build(speed, after).unwrap_err();
        assert!(matches!(&error, MultibodyError::Number { name, .. } if name == "sleep"), "{error}");
    }
    assert_eq!(build(1.0, 0.21), Ok(()));
    // schemes that remember more than the state, and those that look into their steps
    for row in carom::scheme::SCHEMES.iter().filter(|row| row.family == Family::Mechanical) {
        let model = stacks().sleep(1e-3, 0.1).build().unwrap();
        let bound = (row.bind)(&json!({}), AnyModel::Mechanical(Box::new(model)), carom_solve::solver::default());
        let refused = matches!(&bound, Err(error) if error.to_string().contains("sleep"));
        assert!(row.info.claims.contains(&Claim::Sleep) != refused, "{}", row.info.name);
    }
}
