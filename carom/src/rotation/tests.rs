use super::*;
use num_dual::Dual64;

const BOTH: [Retraction; 2] = [Retraction::Exponential, Retraction::Cayley];

/// Increments on both sides of the places where series end.
fn increments() -> Vec<Vector> {
    let axes = [[0.6, 0.0, 0.8], [-0.36, 0.48, 0.8], [0.0, 1.0, 0.0]];
    let sizes = [0.0, 1e-9, 1e-3, 0.0499, 0.0501, 0.059, 0.061, 0.0999, 0.1001, 0.7, 2.0, 3.0];
    axes.iter().flat_map(|axis| sizes.iter().map(|s| axis.map(|x| x * s))).collect()
}

fn distance<const N: usize>(a: [f64; N], b: [f64; N]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

const ATTITUDE: Quaternion = [0.8, 0.48, -0.36, 0.0];
const SPIN: Vector = [0.3, 1.5, -0.7];

#[test]
fn differences_undo_retractions() {
    for (map, theta) in BOTH.iter().flat_map(|map| increments().into_iter().map(move |theta| (map, theta))) {
        let moved = map.retract(ATTITUDE, theta);
        assert!(distance(map.difference(ATTITUDE, moved), theta) < 1e-14, "{map:?} {theta:?}");
        assert!(distance(map.difference(ATTITUDE, moved.map(|x| -x)), theta) < 1e-14, "{map:?} {theta:?}");
        assert!((moved.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-15);
    }
}

/// (2) holds along an increment that moves at the rate of (3) or (5): exactly, by dual numbers.
#[test]
fn rates_turn_at_the_velocity() {
    for (map, theta) in BOTH.iter().flat_map(|map| increments().into_iter().map(move |theta| (map, theta))) {
        let rate = map.rate(theta, SPIN);
        let moving: Vector<Dual64> = std::array::from_fn(|i| Dual64::new(theta[i], rate[i]));
        let attitude = map.retract(ATTITUDE.map(|x| Dual64::new(x, 0.0)), moving);
        let [x, y, z] = SPIN;
        let expected = product(attitude.map(|x| x.re), [0.0, x, y, z]).map(|x| 0.5 * x);
        assert!(distance(attitude.map(|x| x.eps), expected) < 2e-15, "{map:?} {theta:?}");
        assert!(distance(map.velocity(theta, rate), SPIN) < 4e-15, "{map:?} {theta:?}");
    }
}

/// The second derivative of an increment, against differences of its rate.
#[test]
fn bends_are_derivatives_of_rates() {
    for (map, theta) in BOTH.iter().flat_map(|map| increments().into_iter().map(move |theta| (map, theta))) {
        let rate = map.rate(theta, SPIN);
        let near = |d: f64| map.rate(plus(theta, d, rate), SPIN);
        let (a, b) = (near(-1e-5), near(1e-5));
        let expected: Vector = std::array::from_fn(|i| (b[i] - a[i]) / 2e-5);
        assert!(distance(map.bend(theta, SPIN), expected) < 1e-8, "{map:?} {theta:?}");
    }
}

/// The differential of the logarithm is that of (3) too, also where the attitudes are the same.
#[test]
fn dual_numbers_go_through_logarithms() {
    for theta in increments().into_iter().filter(|theta| dot(*theta, *theta) < 9.0) {
        let turn = exponential(theta);
        let [x, y, z] = SPIN;
        let rate = product(turn, [0.0, x, y, z]);
        let moving = std::array::from_fn(|i| Dual64::new(turn[i], 0.5 * rate[i]));
        let found = logarithm(moving).map(|x| x.eps);
        assert!(distance(found, exponential_rate(theta, SPIN)) < 4e-14, "{theta:?} {found:?}");
    }
}

#[test]
fn vectors_turn() {
    let rows = matrix(ATTITUDE);
    let turned = rotate(ATTITUDE, SPIN);
    assert!(distance(rows.map(|row| dot(row, SPIN)), turned) < 1e-15);
    assert!(distance(rotate_back(ATTITUDE, turned), SPIN) < 1e-15);
    // a quarter turn about z
    let quarter = exponential([0.0, 0.0, std::f64::consts::FRAC_PI_2]);
    assert!(distance(rotate(quarter, [1.0, 2.0, 3.0]), [-2.0, 1.0, 3.0]) < 1e-15);
    let [x, y, z] = SPIN;
    let [_, x, y, z] = product(product(ATTITUDE, [0.0, x, y, z]), conjugate(ATTITUDE));
    assert!(distance([x, y, z], turned) < 1e-15);
}
