//! Friction of joints that follows their load, against closed forms.

use super::*;
use carom::multibody::{Body, Joint};
use carom::scheme::DirectProjection;

const MASS: f64 = 3.0;
const INERTIA: f64 = 0.02;
const MU_R: f64 = 0.15 * 0.012;

/// A wheel on a horizontal axle, turning at `spin`.
fn wheel(is_planar: bool, spin: f64) -> Multibody {
    let system = if is_planar { Multibody::planar() } else { Multibody::spatial() };
    let axle = Joint::revolute("axle", "ground", "wheel").at([0.2, 0.0]).axis([0.0, 0.0, 1.0]).bearing(MU_R);
    let wheel = Body::new("wheel", MASS, INERTIA).at([0.2, 0.0]).spin([0.0, 0.0, spin]);
    system.gravity([0.0, -GRAVITY]).body(wheel).joint(axle)
}

fn spin(state: &State) -> f64 {
    state.v[state.v.len() - 1]
}

fn spins_down<S: Scheme<Model = dyn Mechanical>>(scheme: &S, is_planar: bool) {
    let rate = MU_R * MASS * GRAVITY / INERTIA;
    let (start, h) = (5.0, 1e-2);
    let stop = start / rate;
    let trace = run(scheme, &wheel(is_planar, start), h, 250);
    assert!(trace.last().t > 1.2 * stop);
    for state in &trace.states {
        // the step in which it comes to rest ends at rest
        let expected = (start - rate * state.t).max(0.0);
        assert!((spin(state) - expected).abs() < 1e-11 * start, "{}: {}, {expected}", state.t, spin(state));
    }
    let friction = trace.law("axle.friction");
    let first = trace.impulses[0][friction][0];
    assert!((first + h * MU_R * MASS * GRAVITY).abs() < 1e-13, "{first}");
    // at rest nothing drives it
    assert!(trace.impulses[249][friction][0].abs() < 1e-14);
}

#[test]
fn a_wheel_spins_down_under_its_weight() {
    for is_planar in [true, false] {
        spins_down(&MoreauJean::default(), is_planar);
        spins_down(&CombinedProjection::default(), is_planar);
        spins_down(&DirectProjection::default(), is_planar);
    }
}

#[test]
fn the_load_and_the_constant_part_add_up() {
    let mut system = wheel(true, 5.0);
    system.joints[0] = system.joints[0].clone().friction(0.01);
    let trace = run(&MoreauJean::default(), &system, 1e-2, 20);
    let rate = (MU_R * MASS * GRAVITY + 0.01) / INERTIA;
    assert!((spin(trace.last()) - (5.0 - 0.2 * rate)).abs() < 1e-11);
}

/// A block in a guide that falls along the slope of this angle.
fn slope(angle: f64, mu: f64) -> Multibody {
    let axis = [angle.cos(), -angle.sin(), 0.0];
    let guide = Joint::prismatic("guide", "ground", "block").at([0.0, 0.0]).axis(axis).bearing(mu);
    Multibody::planar().gravity([0.0, -GRAVITY]).body(Body::new("block", MASS, INERTIA)).joint(guide)
}

#[test]
fn a_guide_has_the_friction_of_a_slope() {
    let angle = 20f64.to_radians();
    for (mu, rate) in [(0.3, GRAVITY * (angle.sin() - 0.3 * angle.cos())), (0.4, 0.0), (0.0, GRAVITY * angle.sin())] {
        let trace = run(&MoreauJean::default(), &slope(angle, mu), 1e-2, 100);
        let v = &trace.last().v;
        let along = v[0] * angle.cos() - v[1] * angle.sin();
        assert!((along - rate).abs() < 1e-11, "{mu}: {along}, {rate}");
    }
}

/// Angle and its rate, of a pendulum whose bearing carries m √(aₓ² + (a_y + g)²): classical Runge-Kutta method until it
/// turns back.
fn turning_angle(start: f64, arm: f64) -> f64 {
    let whole = INERTIA + MASS * arm * arm;
    let second = |angle: f64, rate: f64| {
        // the load depends on the acceleration
        let side = if rate == 0.0 { -start.signum() } else { rate.signum() };
        let mut a = -MASS * GRAVITY * arm * angle.sin() / whole;
        for _ in 0..100 {
            let x = arm * (a * angle.cos() - rate * rate * angle.sin());
            let y = arm * (a * angle.sin() + rate * rate * angle.cos()) + GRAVITY;
            a = (-MASS * GRAVITY * arm * angle.sin() - side * MU_R * MASS * x.hypot(y)) / whole;
        }
        a
    };
    let h = 1e-4;
    let (mut angle, mut rate) = (start, 0.0);
    loop {
        let k1 = [rate, second(angle, rate)];
        let k2 = [rate + 0.5 * h * k1[1], second(angle + 0.5 * h * k1[0], rate + 0.5 * h * k1[1])];
        let k3 = [rate + 0.5 * h * k2[1], second(angle + 0.5 * h * k2[0], rate + 0.5 * h * k2[1])];
        let k4 = [rate + h * k3[1], second(angle + h * k3[0], rate + h * k3[1])];
        let step = |i: usize| h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        let (da, dr) = (step(0), step(1));
        if rate != 0.0 && (rate + dr) * rate <= 0.0 {
            // the rest of the way, at constant acceleration
            return angle + 0.5 * rate * rate / k1[1].abs() * rate.signum();
        }
        (angle, rate) = (angle + da, rate + dr);
    }
}

#[test]
fn a_pendulum_loses_amplitude_in_its_bearing() {
    let (start, arm) = (1.0f64, 0.25);
    let hinge = Joint::revolute("hinge", "ground", "rod").at([0.0, 0.0]).bearing(MU_R);
    let rod = Body::new("rod", MASS, INERTIA).at([arm * start.sin(), -arm * start.cos()]).angle(start);
    let system = Multibody::planar().gravity([0.0, -GRAVITY]).body(rod).joint(hinge);
    let expected = turning_angle(start, arm);
    assert!(expected < -0.9 && expected > -0.999, "{expected}");
    let error = |h: f64| {
        let mut was = false;
        let trace = attempt(&CombinedProjection::default(), &system, h, |state| {
            was |= state.v[2] < -1e-3;
            !(was && state.v[2] >= 0.0)
        });
        let least = trace.unwrap().states.iter().map(|state| state.q[2]).fold(f64::INFINITY, f64::min);
        (least - expected).abs()
    };
    let (coarse, fine) = (error(4e-3), error(1e-3));
    assert!(fine < 2e-5 && coarse < 3e-4, "{coarse:e} {fine:e}");
}

#[test]
fn schemes_and_joints_without_it_say_so() {
    let model: Box<dyn Mechanical> = Box::new(wheel(true, 1.0).build().unwrap());
    let error = Bound::new(EventDriven::default(), model, accurate()).err().unwrap().to_string();
    assert!(error.contains("follows the load"), "{error}");
    let joint = |joint: Joint| {
        let system = Multibody::spatial().body(Body::new("arm", 1.0, 0.1));
        system.joint(joint.at([0.0, 0.0])).build().err().map(|error| error.to_string())
    };
    let hinge = || Joint::revolute("joint", "ground", "arm").axis([0.0, 0.0, 1.0]);
    let play = carom::multibody::Clearance::new(1e-3, 0.01);
    assert!(joint(hinge().bearing(0.1)).is_none());
    assert!(joint(hinge().bearing(-0.1)).is_some_and(|e| e.contains("not negative")));
    assert!(joint(hinge().bearing(f64::NAN)).is_some());
    assert!(joint(hinge().clearance(play).bearing(0.1)).is_some_and(|e| e.contains("play")));
    let rod = Joint::cylindrical("joint", "ground", "arm").axis([0.0, 0.0, 1.0]).bearing(0.1);
    assert!(joint(rod).is_some_and(|e| e.contains("revolute and prismatic")));
}
