//! Pairs of shapes: gap and points against brute force at random poses, rows against differences of the gap, second
//! derivatives, and what must not depend on the point of view.

mod brute;
mod bulk;
mod cases;
mod convex;
mod solids;
mod special;

use brute::*;
use carom::model::Scalar;
use carom::multibody::pair::{AnyPair, Pair, Touch};
use carom::multibody::{Frame, Vector};
use cases::{CASES, Case, Random};
use num_dual::{Dual2_64, Dual64};
use rand::SeedableRng;
use rand_pcg::Pcg64;

/// A vector turned about a unit axis.
pub fn rotate<T: Scalar>(v: V, axis: V, angle: T) -> [T; 3] {
    let (sin, cos) = angle.sin_cos();
    let (turned, along) = (cross(axis, v), scale(axis, dot(axis, v)));
    let flat = sub(v, along);
    std::array::from_fn(|i| cos * flat[i] + sin * turned[i] + along[i])
}

/// Constant velocities of a body: of its centre, and of its turning in axes of the space.
#[derive(Clone, Copy)]
struct Motion {
    velocity: V,
    spin: V,
}

impl Motion {
    fn random(r: &mut Random) -> Self {
        let spin = if r.planar { [0.0, 0.0, r.number(-1.0, 1.0)] } else { r.place(1.0) };
        Motion { velocity: r.place(1.0), spin }
    }

    /// The frame after a time.
    fn moved<T: Scalar>(&self, frame: &Frame, time: T) -> Frame<T> {
        let rate = norm(self.spin);
        let axes = frame.axes.map(|e| Vector(rotate(e.0, scale(self.spin, 1.0 / rate), time * rate)));
        let centre = std::array::from_fn(|i| time * self.velocity[i] + frame.centre.0[i]);
        Frame { centre: Vector(centre), axes }
    }
}

/// Velocity along a row, by its lines on both bodies.
fn rate<T: Scalar>(touch: &Touch<T>, d: Vector<T>, frames: [&Frame<T>; 2], motions: &[Motion; 2]) -> T {
    let lines = touch.lines((frames[0], frames[1]), d);
    let of = |i: usize| {
        lines[i].force.dot(Vector::constant(motions[i].velocity))
            + lines[i].moment.dot(Vector::constant(motions[i].spin))
    };
    of(0) + of(1)
}

fn touch(pair: &AnyPair, place: usize, [a, b]: [&Frame; 2]) -> Touch {
    pair.touch(place, (a, b))
}

/// The places of a case; of pairs with many, those that are near.
fn places(case: &Case) -> Vec<usize> {
    if !case.pair.comes_and_goes() {
        return (0..case.pair.places()).collect();
    }
    let mut near = Vec::new();
    case.pair.near((&case.frames[0], &case.frames[1]), 0.3, &mut near);
    // places of the general pair tell the derivative of the gap where they count; deep inside nothing is unique
    let frames = (&case.frames[0], &case.frames[1]);
    let counts = |place: &usize| match case.pair {
        AnyPair::BulkBulk(_) => {
            case.pair.region(*place, frames) >= 0.0 && case.pair.touch::<f64>(*place, frames).gap > -0.02
        }
        _ => true,
    };
    near.into_iter().map(|place| place as usize).filter(counts).collect()
}

/// Runs `check` on random poses of each pair, in the plane and in space.
fn for_all(poses: usize, mut check: impl FnMut(&str, &mut Random, Case)) {
    for &(name, make, in_plane, in_space) in CASES {
        for planar in [true, false] {
            if (planar && in_plane) || (!planar && in_space) {
                let mut rng = Pcg64::seed_from_u64(7);
                for _ in 0..poses {
                    let mut random = Random { rng: &mut rng, planar };
                    let case = make(&mut random);
                    check(&format!("{name}, {}", if planar { "plane" } else { "space" }), &mut random, case);
                }
            }
        }
    }
}

#[test]
fn gaps_and_points_are_those_of_brute_force() {
    for_all(1000, |name, _, case| {
        let [a, b] = [&case.frames[0], &case.frames[1]];
        for place in places(&case) {
            let touch = touch(&case.pair, place, [a, b]);
            let gap = (case.gap)(place, [a, b]);
            assert!((touch.gap - gap).abs() < 1e-9, "{name}: place {place}: {} and by force {gap}", touch.gap);
            let (off_a, off_b) = ((case.off_a)(place, a, touch.on_a.0), (case.off_b)(place, b, touch.on_b.0));
            assert!(off_a.abs() < 1e-9, "{name}: place {place}: the point of a is off by {off_a:e}");
            assert!(off_b.abs() < 1e-9, "{name}: place {place}: the point of b is off by {off_b:e}");
            // the points are apart by the gap, along the normal
            let apart = norm(sub(sub(touch.on_b.0, touch.on_a.0), scale(touch.normal.0, touch.gap)));
            assert!(apart < 1e-12, "{name}: place {place}: the points are off by {apart:e}");
        }
    });
}

#[test]
fn frames_are_orthonormal_and_lie_in_the_plane() {
    for_all(300, |name, random, case| {
        for place in places(&case) {
            let Touch { normal, tangent, .. } = touch(&case.pair, place, [&case.frames[0], &case.frames[1]]);
            for error in [normal.length() - 1.0, tangent.length() - 1.0, normal.dot(tangent)] {
                assert!(error.abs() < 1e-13, "{name}: {error:e}");
            }
            if random.planar {
                assert!(normal.0[2].abs() < 1e-15 && tangent.0[2].abs() < 1e-15, "{name}: {normal:?} {tangent:?}");
            }
        }
    });
}

#[test]
fn the_normal_row_is_the_derivative_of_the_gap() {
    let (mut skipped, mut tried) = (0, 0);
    for_all(300, |name, random, case| {
        let motions = [Motion::random(random), Motion::random(random)];
        for place in places(&case) {
            let at = |time: f64| {
                let frames: [Frame; 2] = std::array::from_fn(|i| motions[i].moved(&case.frames[i], time));
                touch(&case.pair, place, [&frames[0], &frames[1]]).gap
            };
            let slope = |h: f64| (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
            let bend =
                |h: f64| (16.0 * (at(h) + at(-h)) - (at(2.0 * h) + at(-2.0 * h)) - 30.0 * at(0.0)) / (12.0 * h * h);
            tried += 1;
            // next to a kink, where the closest feature changes, differences tell nothing
            if (slope(1e-3) - slope(5e-4)).abs() > 1e-9 || (bend(4e-3) - bend(2e-3)).abs() > 2e-7 {
                skipped += 1;
                continue;
            }
            let now = touch(&case.pair, place, [&case.frames[0], &case.frames[1]]);
            let row = rate(&now, now.normal, [&case.frames[0], &case.frames[1]], &motions);
            assert!((row - slope(1e-3)).abs() < 1e-8, "{name}: place {place}: {row} and {}", slope(1e-3));

            // second derivative: of the gap, and of the row, which the acceleration level takes
            let frames: [Frame<Dual2_64>; 2] =
                std::array::from_fn(|i| motions[i].moved(&case.frames[i], Dual2_64::new(0.0, 1.0, 0.0)));
            let second = case.pair.touch(place, (&frames[0], &frames[1])).gap;
            assert!((second.v1 - row).abs() < 1e-12, "{name}: {} and {row}", second.v1);
            let frames: [Frame<Dual64>; 2] =
                std::array::from_fn(|i| motions[i].moved(&case.frames[i], Dual64::new(0.0, 1.0)));
            let moving: Touch<Dual64> = case.pair.touch(place, (&frames[0], &frames[1]));
            let curvature = rate(&moving, moving.normal, [&frames[0], &frames[1]], &motions).eps;
            assert!(
                (curvature - second.v2).abs() < 1e-10 * (1.0 + second.v2.abs()),
                "{name}: {curvature} {}",
                second.v2
            );
            assert!(
                (second.v2 - bend(2e-3)).abs() < 1e-6 * (1.0 + second.v2.abs()),
                "{name}: {} {}",
                second.v2,
                bend(2e-3)
            );
        }
    });
    assert!(skipped * 10 < tried, "{skipped} of {tried} poses are next to a kink");
}

#[test]
fn tangents_have_the_derivatives_of_their_directions() {
    // first derivatives of normal, tangent and points: dual numbers against differences
    for_all(100, |name, random, case| {
        let motions = [Motion::random(random), Motion::random(random)];
        for place in places(&case) {
            let at = |time: f64| {
                let frames: [Frame; 2] = std::array::from_fn(|i| motions[i].moved(&case.frames[i], time));
                touch(&case.pair, place, [&frames[0], &frames[1]])
            };
            let frames: [Frame<Dual64>; 2] =
                std::array::from_fn(|i| motions[i].moved(&case.frames[i], Dual64::new(0.0, 1.0)));
            let moving: Touch<Dual64> = case.pair.touch(place, (&frames[0], &frames[1]));
            let parts = |t: &Touch| [t.normal.0, t.tangent.0, t.on_a.0, t.on_b.0];
            let exact = [moving.normal, moving.tangent, moving.on_a, moving.on_b].map(|v| v.0.map(|x| x.eps));
            let [low, high, lower, higher] = [-1e-3, 1e-3, -2e-3, 2e-3].map(|t| parts(&at(t)));
            let [low2, high2] = [-5e-4, 5e-4].map(|t| parts(&at(t)));
            for k in 0..4 {
                for i in 0..3 {
                    let fine = (8.0 * (high2[k][i] - low2[k][i]) - (high[k][i] - low[k][i])) / 6e-3;
                    let slope = (8.0 * (high[k][i] - low[k][i]) - (higher[k][i] - lower[k][i])) / 12e-3;
                    if (slope - fine).abs() < 1e-7 {
                        assert!((exact[k][i] - slope).abs() < 1e-6, "{name}: {k} {i}: {} {slope}", exact[k][i]);
                    }
                }
            }
        }
    });
}

#[test]
fn a_rigid_motion_of_both_bodies_turns_everything_with_it() {
    for_all(200, |name, random, case| {
        let (axis, angle) = (random.axis(), random.number(-3.0, 3.0));
        let by = random.place(2.0);
        let moved = |p: V| add(rotate(p, axis, angle), by);
        let frames = case.frames.map(|frame| Frame {
            centre: Vector(moved(frame.centre.0)),
            axes: frame.axes.map(|e| Vector(rotate(e.0, axis, angle))),
        });
        for place in places(&case) {
            let before = touch(&case.pair, place, [&case.frames[0], &case.frames[1]]);
            let after = touch(&case.pair, place, [&frames[0], &frames[1]]);
            let errors = [
                (after.gap - before.gap).abs(),
                norm(sub(after.normal.0, rotate(before.normal.0, axis, angle))),
                norm(sub(after.on_a.0, moved(before.on_a.0))),
                norm(sub(after.on_b.0, moved(before.on_b.0))),
            ];
            assert!(errors.iter().all(|e| *e < 1e-12), "{name}: {errors:?}");
        }
    });
}

#[test]
fn exchanged_bodies_see_the_same_place() {
    for_all(50, |name, random, case| {
        let motions = [Motion::random(random), Motion::random(random)];
        for place in places(&case) {
            let one = touch(&case.pair, place, [&case.frames[0], &case.frames[1]]);
            let other = one.exchanged();
            assert_eq!(other.exchanged(), one, "{name}");
            let there = rate(&one, one.normal, [&case.frames[0], &case.frames[1]], &motions);
            let back = rate(&other, other.normal, [&case.frames[1], &case.frames[0]], &[motions[1], motions[0]]);
            assert!((there - back).abs() < 1e-13, "{name}: {there} {back}");
        }
    });
}

#[test]
fn places_have_features_of_their_own() {
    for_all(5, |name, _, case| {
        let features: Vec<[u32; 2]> = (0..case.pair.places()).map(|place| case.pair.features(place)).collect();
        for (i, one) in features.iter().enumerate() {
            assert!(!features[..i].contains(one), "{name}: {features:?}");
        }
    });
}
