//! Orders of a step, of its error estimate and of its dense output on motion with a closed form.

use super::*;
use crate::integrator::Absolute;
use crate::model::{Lagrangian, Places};
use crate::phase::{Acceleration, FreeMotion};

/// A charge on a spring in a magnetic field that grows, with closed motion: x + i y = e^{iφ(t)}, φ = t + t²/4.
fn spiral(t: f64) -> (State, [f64; 2]) {
    let (angle, rate, second) = (t + 0.25 * t * t, 1.0 + 0.5 * t, 0.5);
    let (sin, cos) = angle.sin_cos();
    let state = State::new(t, &[cos, sin], &[-rate * sin, rate * cos]);
    (state, [-second * sin - rate * rate * cos, second * cos - rate * rate * sin])
}

/// Its equations, with forces that depend on all arguments: ẍ = φ̈ J x − φ̇ |v| x with J the quarter turn, and M =
/// diag(1 + x², 2).
fn model() -> Lagrangian {
    Lagrangian::new(2)
        .mass(|q, m| {
            m.fill(0.0);
            (m[0], m[3]) = (1.0 + q[0] * q[0], 2.0);
        })
        .force(|t, q, v, f| {
            let (rate, speed) = (1.0 + 0.5 * t, v[0].hypot(v[1]));
            f[0] = (1.0 + q[0] * q[0]) * (-0.5 * q[1] - rate * speed * q[0]);
            f[1] = 2.0 * (0.5 * q[0] - rate * speed * q[1]);
        })
        .initial(&[1.0, 0.0], &[0.0, 1.0])
}

fn largest(a: &State, b: &State) -> f64 {
    let pairs = a.q.iter().zip(&b.q).chain(a.v.iter().zip(&b.v));
    pairs.fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

/// One step from t = 0.3: errors at its end, estimated, and inside.
fn step(h: f64) -> [f64; 3] {
    let mut model = model();
    let mut acceleration = Acceleration::new(&mut model);
    let mut flow = Dop853::new(spiral(0.0).0);
    let (from, first) = spiral(0.3);
    let mut to = from.clone();
    let mut motion = FreeMotion { model: &mut model, acceleration: &mut acceleration };
    flow.advance(&mut motion, Some(&first), (&from, h), &mut to).unwrap();
    assert_eq!(motion.acceleration.evaluations, 11);
    let error = largest(&to, &spiral(0.3 + h).0);
    let (absolute, places) = (Absolute::Given(1.0), &Places::default());
    let estimate = flow.error((&from, &to), Tolerances { absolute, places, relative: 0.0 });
    let mut end = vec![0.0; 2];
    motion.free(&to, &mut end).unwrap();
    flow.conclude(&end);
    assert_eq!(motion.acceleration.evaluations, 12);
    let (mut inside, mut state) = (0.0f64, to.clone());
    for k in 1..20 {
        let s = 0.05 * f64::from(k);
        flow.at(&mut motion, s, &mut state).unwrap();
        inside = inside.max(largest(&state, &spiral(0.3 + s * h).0));
    }
    // once for all of them
    assert_eq!(motion.acceleration.evaluations, 15);
    flow.at(&mut motion, 1.0, &mut state).unwrap();
    assert_eq!((&state.q, &state.v), (&to.q, &to.v));
    for (k, s) in Dop853::places().into_iter().enumerate() {
        flow.inside(&motion, k, &mut state);
        assert!(largest(&state, &spiral(0.3 + s * h).0) < 0.1 * h.powi(6), "stage at {s}");
    }
    [error, estimate, inside]
}

#[test]
fn a_step_its_estimate_and_its_inside_have_their_orders() {
    let (coarse, fine) = (step(0.3), step(0.15));
    for ((coarse, fine), order) in coarse.iter().zip(fine).zip([9.0, 8.0, 8.0]) {
        let slope = (coarse / fine).log2();
        // from above where the terms of the next order are not small yet
        assert!(slope > order - 0.3 && slope < order + 0.9, "{slope} in place of {order}: {coarse:e} {fine:e}");
    }
}

#[test]
fn errors_of_many_steps_fall_with_the_eighth_power() {
    let ends = [16u32, 32, 64].map(|count| {
        let mut model = model();
        let mut acceleration = Acceleration::new(&mut model);
        let mut flow = Dop853::new(spiral(0.0).0);
        let h = 4.0 / f64::from(count);
        let (mut from, mut to) = (spiral(0.0).0, spiral(0.0).0);
        for k in 0..count {
            let mut motion = FreeMotion { model: &mut model, acceleration: &mut acceleration };
            flow.advance(&mut motion, None, (&from, h), &mut to).unwrap();
            std::mem::swap(&mut from, &mut to);
            from.t = h * f64::from(k + 1);
        }
        largest(&from, &spiral(4.0).0)
    });
    let slopes = [(ends[0] / ends[1]).log2(), (ends[1] / ends[2]).log2()];
    assert!(slopes.iter().all(|slope| (slope - 8.0).abs() < 0.6), "{slopes:?} {ends:?}");
}
