//! Spheres, discs and tops that roll and slide: closed forms, steps of 2 ms, reactions at mid-step.

use super::*;
use carom::multibody::pair::{Cylinder, CylinderPlane, Plane, Sphere, SpherePlane};
use carom::multibody::{Body, Contact};

const H: f64 = 2e-3;
const RADIUS: f64 = 0.1;
const Z: [f64; 3] = [0.0, 0.0, 1.0];

fn floor() -> Plane {
    Plane { point: [0.0; 3], normal: Z }
}

fn sphere(gravity: [f64; 3], mu: f64, velocity: [f64; 3], spin: [f64; 3]) -> Multibody {
    let pair = SpherePlane { plane: floor(), sphere: Sphere { centre: [0.0; 3], radius: RADIUS } };
    Multibody::spatial()
        .gravity(gravity)
        .body(Body::new("ball", 1.0, 0.4 * RADIUS * RADIUS).at([0.0, 0.0, RADIUS]).velocity(velocity).spin(spin))
        .contact(Contact::new("floor", "ground", "ball", pair).friction(mu))
}

fn moreau(system: &Multibody, seconds: f64) -> Trace {
    run(&MoreauJean::default(), system, H, (seconds / H).round() as usize)
}

#[test]
fn a_sliding_sphere_comes_to_roll() {
    let (v0, mu) = (3.0, 0.2);
    let trace = moreau(&sphere([0.0, 0.0, -GRAVITY], mu, [v0, 0.0, 0.0], [0.0; 3]), 0.5);
    let (speed, t) = (v0 / 1.4, 0.4 * v0 / (1.4 * mu * GRAVITY));
    let way = v0 * v0 / (mu * GRAVITY) * (1.0 - 1.0 / (1.4 * 1.4)) / 2.0;
    near(speed, 2.142857, 1e-6);
    near(t, 0.436872, 1e-6);
    near(way, 1.123385, 1e-6);
    let last = trace.last();
    println!("v {:e} x {:e}", last.v[0] - speed, last.q[0] - way - speed * (0.5 - t));
    near(last.v[0], speed, 1e-12);
    near(last.q[0], way + speed * (0.5 - t), 2e-6);
}

#[test]
fn a_sphere_with_any_spin_comes_to_roll() {
    let (v0, spin, mu) = ([2.0, 0.0, 0.0], [20.0, 10.0, 5.0], 0.2);
    let trace = moreau(&sphere([0.0, 0.0, -GRAVITY], mu, v0, spin), 0.5);
    // u0 = v0 − R (ω × z)
    let u: [f64; 2] = [v0[0] - RADIUS * spin[1], v0[1] + RADIUS * spin[0]];
    near(u[0], 1.0, 1e-15);
    near(u[1], 2.0, 1e-15);
    let v = [v0[0] - 2.0 / 7.0 * u[0], v0[1] - 2.0 / 7.0 * u[1]];
    let last = trace.last();
    println!("v error {:e}, spin {:e}", (last.v[0] - v[0]).hypot(last.v[1] - v[1]), vertical(last) - 5.0);
    near((last.v[0] - v[0]).hypot(last.v[1] - v[1]), 0.0, 1e-4);
    near(vertical(last), 5.0, 5e-4);
}

/// Rᵀ z and spin of the first body.
fn up(state: &State) -> [f64; 3] {
    let [w, x, y, z] = [state.q[3], state.q[4], state.q[5], state.q[6]];
    [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z]
}

/// Angular velocity about the vertical.
fn vertical(state: &State) -> f64 {
    let d = up(state);
    (0..3).map(|i| d[i] * state.v[3 + i]).sum()
}

fn slope(angle: f64) -> [f64; 3] {
    [GRAVITY * angle.sin(), 0.0, -GRAVITY * angle.cos()]
}

#[test]
fn a_sphere_on_an_incline_rolls_or_slips() {
    let angle = 30f64.to_radians();
    let rolling = moreau(&sphere(slope(angle), 0.3, [0.0; 3], [0.0; 3]), 0.5);
    near(rolling.last().v[0] / 0.5, 5.0 / 7.0 * GRAVITY * angle.sin(), 1e-12);
    near(5.0 / 7.0 * GRAVITY * angle.sin(), 3.503571, 1e-6);
    let slipping = moreau(&sphere(slope(angle), 0.1, [0.0; 3], [0.0; 3]), 0.5);
    let expected = GRAVITY * (angle.sin() - 0.1 * angle.cos());
    near(expected, 4.055429, 1e-6);
    near(slipping.last().v[0] / 0.5, expected, 1e-12);
    near(slipping.last().v[4] / 0.5, 2.5 * 0.1 * GRAVITY * angle.cos() / RADIUS, 1e-11);
}

/// A sphere in a groove with walls of this slope, which goes down at another one.
fn groove(wall: f64, be: f64, mu: f64) -> Multibody {
    let side = |name: &str, sign: f64| {
        let plane = Plane { point: [0.0; 3], normal: [sign * wall.sin(), 0.0, wall.cos()] };
        let sphere = Sphere { centre: [0.0; 3], radius: RADIUS };
        Contact::new(name, "ground", "ball", SpherePlane { plane, sphere }).friction(mu)
    };
    Multibody::spatial()
        .gravity([0.0, GRAVITY * be.sin(), -GRAVITY * be.cos()])
        .body(Body::new("ball", 1.0, 0.4 * RADIUS * RADIUS).at([0.0, 0.0, RADIUS / wall.cos()]))
        .contact(side("left", 1.0))
        .contact(side("right", -1.0))
}

#[test]
fn a_sphere_rolls_down_a_groove() {
    let (wall, be) = (45f64.to_radians(), 20f64.to_radians());
    let system = groove(wall, be, 0.3);
    let expected = GRAVITY * be.sin() / (1.0 + 2.0 / (5.0 * wall.cos().powi(2)));
    near(expected, 1.864010, 1e-6);
    let trace = moreau(&system, 0.5);
    near(trace.last().v[1] / 0.5, expected, 1e-12);
}

/// Rolling without slip in the groove needs a friction of 0.114385.
#[test]
fn a_sphere_slips_in_a_slippery_groove() {
    let (wall, be) = (45f64.to_radians(), 20f64.to_radians());
    let rolls = GRAVITY * be.sin() / (1.0 + 2.0 / (5.0 * wall.cos().powi(2)));
    let limit = 0.4 * rolls / (GRAVITY * be.cos() * wall.cos());
    near(limit, 0.114385, 1e-6);
    let acceleration = |mu: f64| moreau(&groove(wall, be, mu), 0.1).last().v[1] / 0.1;
    near(acceleration(1.001 * limit), rolls, 1e-9);
    // both walls press with N cos ga = m g cos be/2 and rub against the motion
    let slips = |mu: f64| GRAVITY * (be.sin() - mu * be.cos() / wall.cos());
    near(acceleration(0.9 * limit), slips(0.9 * limit), 1e-9);
}

#[test]
fn a_thin_disc_rolls_in_a_circle() {
    let (tilt, turn, r) = (60f64.to_radians(), 3.0, RADIUS);
    let (a, c) = (0.25 * r * r, 0.5 * r * r);
    let (sin, cos) = tilt.sin_cos();
    let spin = (a * turn * turn * sin * cos - GRAVITY * r * cos) / ((c + r * r) * turn * sin);
    near(spin, -12.336236, 1e-6);
    // axis d = (sin, 0, cos): the body is turned about y; u = up in the disc = (−cos, 0, sin), which is −x of the body
    let velocity = [0.0, r * spin * cross_y(sin, cos), 0.0];
    let cylinder = Cylinder { centre: [0.0; 3], axis: Z, radius: r, half: 0.0 };
    let system = Multibody::spatial()
        .gravity([0.0, 0.0, -GRAVITY])
        .body(
            Body::new("disc", 1.0, [a, a, c])
                .at([0.0, 0.0, r * sin])
                .turned([0.0, 1.0, 0.0], tilt)
                .velocity(velocity)
                .spin([-turn * sin, 0.0, spin]),
        )
        .contact(Contact::new("floor", "ground", "disc", CylinderPlane { plane: floor(), cylinder }).friction(1.0));
    // order 2 with friction that lasts
    let errors = [H, 0.5 * H].map(|h| {
        let trace = run(&MoreauJean::default(), &system, h, (1.0 / h).round() as usize);
        let tilts = trace.states.iter().map(|state| (up(state)[2].clamp(-1.0, 1.0).acos() - tilt).abs());
        let worst = tilts.fold(0.0, f64::max);
        let speed = trace.states.iter().map(|s| (s.v[0].hypot(s.v[1]) - r * spin.abs()).abs()).fold(0.0, f64::max);
        println!("tilt {worst:e} speed {speed:e}");
        [worst, speed]
    });
    assert!(errors[0][0] < 5e-5, "{errors:?}");
    for k in 0..2 {
        let order = (errors[0][k] / errors[1][k]).log2();
        assert!((order - 2.0).abs() < 0.1, "{order} {errors:?}");
    }
}

/// y of d × u with d = (sin, 0, cos), u = (−cos, 0, sin).
fn cross_y(sin: f64, cos: f64) -> f64 {
    cos * (-cos) - sin * sin
}

#[test]
fn a_tippe_top_keeps_its_jellett_constant() {
    let (radius, offset, tilt) = (0.02, 0.003, 0.1f64);
    let inertia = [2.3e-6, 2.3e-6, 2.2e-6];
    let pair = SpherePlane { plane: floor(), sphere: Sphere { centre: [0.0, 0.0, offset], radius } };
    let system = Multibody::spatial()
        .gravity([0.0, 0.0, -GRAVITY])
        .body(
            Body::new("top", 0.015, inertia)
                .at([0.0, 0.0, radius - offset * tilt.cos()])
                .turned([0.0, 1.0, 0.0], tilt)
                .spin([0.0, 0.0, 150.0]),
        )
        .contact(Contact::new("floor", "ground", "top", pair).friction(0.3));
    // L · (from the mass centre to the contact), in axes of the body
    let jellett = |state: &State| {
        let d = up(state);
        let arm = [-radius * d[0], -radius * d[1], offset - radius * d[2]];
        (0..3).map(|i| inertia[i] * state.v[3 + i] * arm[i]).sum::<f64>()
    };
    for (h, most) in [(2e-3, 1e-4), (1e-3, 3e-5)] {
        let trace = run(&MoreauJean::default(), &system, h, (1.0 / h) as usize);
        let first = jellett(&trace.states[0]);
        let worst = trace.states.iter().map(|s| (jellett(s) / first - 1.0).abs()).fold(0.0, f64::max);
        println!("h {h}: drift {worst:e}, end tilt {}", up(trace.last())[2].acos());
        assert!(worst < most, "h {h}: {worst:e}");
    }
}
