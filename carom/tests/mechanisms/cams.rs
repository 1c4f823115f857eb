//! Cams with lift-off, landing and impact: event-driven runs against closed forms and 30-digit roots.

use super::*;
use carom::multibody::pair::{Curve, CurveSphere, Plane, Sphere, SpherePlane};
use carom::multibody::{Body, Contact, Joint, Motor, Spring};
use std::f64::consts::{FRAC_PI_2, TAU};

/// A shaft that turns with a constant speed, and a follower that slides along y with a spring.
fn train(speed: f64, start: f64, follower: Body, spring: Spring) -> Multibody {
    let height = follower.position[1];
    Multibody::planar()
        .gravity([0.0, -GRAVITY])
        .body(Body::new("cam", 1.0, 1e-3).angle(start).turning(speed))
        .body(follower)
        .joint(Joint::revolute("shaft", "ground", "cam").at([0.0, 0.0]))
        .joint(Joint::prismatic("guide", "ground", "follower").at([0.0, height]).axis([0.0, 1.0]))
        .motor(Motor::velocity("drive", "shaft", move |_: &[f64], out: &mut [f64]| out[0] = speed))
        .spring(spring)
}

const ECCENTRICITY: f64 = 0.005;
const RADIUS: f64 = 0.02;

/// A disc off its axis under a flat face: s = e (1 + sin φ).
fn eccentric(speed: f64) -> Multibody {
    // the face is at the height R + e sin φ, R − e at the lowest; at the start φ = 0, s = e, s' = e W
    let follower = Body::new("follower", 0.2, 1e-4).at([0.0, RADIUS]).velocity([0.0, ECCENTRICITY * speed]);
    let plane = Plane { point: [0.0; 3], normal: [0.0, -1.0, 0.0] };
    let disc = Sphere { centre: [ECCENTRICITY, 0.0, 0.0], radius: RADIUS };
    // the coordinate of the guide is s − e
    let spring = Spring::on("spring", "guide", 2000.0).preload(-(20.0 + 2000.0 * ECCENTRICITY));
    train(speed, 0.0, follower, spring).contact(Contact::new(
        "face",
        "follower",
        "cam",
        SpherePlane { plane, sphere: disc },
    ))
}

#[test]
fn an_eccentric_cam_below_the_limit_keeps_contact() {
    let log = located(&eccentric(200.0), TAU / 200.0, 1e-4);
    assert!(log.of(EventKind::TakeOff, "face").is_empty(), "{:?}", log.events.len());
    assert!(log.lowest > -1e-12);
}

/// Forces between the face and a cam that is slow enough, and the speed from which on it is not.
#[test]
fn an_eccentric_cam_presses_as_its_acceleration_says() {
    let (speed, h) = (200.0, 1e-5);
    let trace = run(&MoreauJean::default(), &eccentric(speed), h, (TAU / speed / h) as usize);
    let face = trace.law("face");
    for (state, impulse) in trace.states[1..].iter().zip(&trace.impulses) {
        // impulses of a step are those of its middle
        let (sin, _) = (speed * (state.t - 0.5 * h)).sin_cos();
        let force =
            20.0 + 0.2 * GRAVITY + 2000.0 * ECCENTRICITY * (1.0 + sin) - 0.2 * ECCENTRICITY * speed.powi(2) * sin;
        near(impulse[face][0] / h, force, 1e-3);
    }
    let least = trace.impulses.iter().map(|p| p[face][0] / h).fold(f64::INFINITY, f64::min);
    near(least, 1.962, 1e-3);
    near(trace.impulses[0][face][0] / h, 31.962, 0.05);
    let limit = ((2.0 * 2000.0 * ECCENTRICITY + 20.0 + 0.2 * GRAVITY) / (0.2 * ECCENTRICITY)).sqrt();
    near(limit, 204.846283833, 1e-9);
    let lifts = |speed: f64| located(&eccentric(speed), TAU / speed, 1e-4).of(EventKind::TakeOff, "face").len();
    assert_eq!(lifts(0.9999 * limit), 0);
    assert_eq!(lifts(1.0001 * limit), 1);
}

#[test]
fn an_eccentric_cam_throws_its_follower_and_is_hit_by_it() {
    for (speed, lift_off, landing, hit) in [
        (250.0, 0.0026181883523, 0.0176329483449, -1.45488886492),
        (206.0, 0.00679431562268, 0.0101183269927, -0.0103785739642),
    ] {
        let log = located(&eccentric(speed), 1.05 * landing, 1e-4);
        let (up, down) = (log.of(EventKind::TakeOff, "face"), log.of(EventKind::Impact, "face"));
        println!("W {speed}: {:e} {:e}", up[0].t - lift_off, down[0].t - landing);
        near(up[0].t, lift_off, 1e-9);
        near(down[0].t, landing, 1e-9);
        let velocity = |state: &State| state.v[4] - ECCENTRICITY * speed * (speed * state.t).cos();
        near(velocity(&down[0].before), hit, 1e-8);
        near(velocity(&down[0].after), 0.0, 1e-9);
    }
}

#[test]
fn an_eccentric_cam_throws_again() {
    let log = located(&eccentric(250.0), 0.0285, 1e-4);
    near(log.of(EventKind::TakeOff, "face")[1].t, 0.0277509295810, 1e-9);
}

fn profile() -> Curve {
    let at = |j: usize| {
        let angle = TAU * j as f64 / 24.0;
        let radius = 0.03 + 0.003 * (1.0 - (2.0 * angle).cos());
        [radius * angle.cos(), radius * angle.sin()]
    };
    Curve::through(&(0..24).map(at).collect::<Vec<_>>()).unwrap()
}

/// A cam through 24 points under a roller, from its lowest place on.
fn spline(speed: f64, roller: f64) -> Multibody {
    let follower = Body::new("follower", 0.3, 1e-4).at([0.0, 0.03 + roller]);
    let pair = CurveSphere { curve: profile(), sphere: Sphere { centre: [0.0; 3], radius: roller } };
    let spring = Spring::on("spring", "guide", 3000.0).preload(-30.0);
    train(speed, -FRAC_PI_2, follower, spring).contact(Contact::new("roller", "cam", "follower", pair))
}

#[test]
fn a_cam_of_points_throws_its_roller() {
    for (roller, angle, flight, landing, hit) in [
        (0.01, -21.806441276f64, 0.011382822717, 69.499836816f64, -0.6502745316),
        (0.0, -22.037540407, 0.011851168388, 73.025529920, -0.8050572687),
    ] {
        let speed = 140.0;
        let time = |degrees: f64| (degrees.to_radians() + FRAC_PI_2) / speed;
        let log = located(&spline(speed, roller), 1.02 * time(landing), 1e-4);
        let (up, down) = (log.of(EventKind::TakeOff, "roller"), log.of(EventKind::Impact, "roller"));
        println!("roller {roller}: {:e} {:e}", up[0].t - time(angle), down[0].t - time(landing));
        near(up[0].t, time(angle), 1e-9);
        near(down[0].t, time(landing), 1e-9);
        near(down[0].t - up[0].t, flight, 1e-9);
        // rate of the gap along y: the velocity along the normal over the part of the normal along y
        let model = spline(speed, roller).build().unwrap();
        let law = model.labels().contacts.iter().position(|(name, _)| name == "roller").unwrap();
        let mut model: Box<dyn Mechanical> = Box::new(model);
        let mut coupling = Coupling::default();
        model.couple(down[0].t, &down[0].before.q, &mut coupling).unwrap();
        let row = coupling.range(law).start;
        let along = |v: &[f64]| coupling.rows.dot(row, v) / coupling.rows.dot(row, &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        near(along(&down[0].before.v), hit, 1e-9);
        near(along(&down[0].after.v), 0.0, 1e-9);
    }
}

#[test]
fn a_cam_of_points_keeps_contact_below_its_limit() {
    for (roller, limit) in [(0.01, 118.968809616), (0.0, 114.578160904)] {
        let events = |speed: f64| {
            let log = located(&spline(speed, roller), TAU / 2.0 / speed, 1e-4);
            log.of(EventKind::TakeOff, "roller").len()
        };
        assert_eq!(events(0.9999 * limit), 0, "{roller}");
        assert_eq!(events(1.0001 * limit), 1, "{roller}");
    }
}
