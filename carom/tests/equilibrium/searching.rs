//! Rest that is not where the bodies are drawn.

use super::*;
use carom::equilibrium::Status;
use carom::multibody::pair::{Plane, Sphere, SpherePlane};
use carom::multibody::{Body, Contact, Joint, Spring};

fn floor(sphere: Sphere, mu: f64) -> Contact {
    let plane = Plane { point: [0.0; 3], normal: [0.0, 1.0, 0.0] };
    Contact::new("floor", "ground", "body", SpherePlane { plane, sphere }).friction(mu)
}

#[test]
fn a_ball_comes_down_to_the_floor() {
    let system = Multibody::planar()
        .gravity([0.0, -G])
        .body(Body::new("body", 2.0, 0.1).at([0.0, 1.3]))
        .contact(floor(Sphere { centre: [0.0; 3], radius: 0.1 }, 0.4));
    let found = rest(&system);
    near(found.state.q[1], 0.1, 1e-12);
    near_both(range(&found, "floor", 0), [2.0 * G; 2], 1e-8);
    assert!(found.steps > 0 && law(&found, "floor").status == Status::Carries);
}

#[test]
fn a_pendulum_hangs() {
    for (start, is_planar) in [(2.5, true), (0.3, true), (2.5, false), (0.3, false)] {
        let system = if is_planar { Multibody::planar() } else { Multibody::spatial() };
        let (sin, cos) = f64::sin_cos(start);
        let body = Body::new("rod", 1.0, 1.0 / 12.0).at([0.5 * sin, -0.5 * cos]);
        let system = system
            .gravity([0.0, -G])
            .body(body)
            .joint(Joint::revolute("hinge", "ground", "rod").at([0.0, 0.0]).axis([0.0, 0.0, 1.0]));
        let found = rest(&system);
        near(found.state.q[0], 0.0, 1e-9);
        near(found.state.q[1], -0.5, 1e-12);
        let omega = frequencies(&found);
        assert_eq!(omega.len(), 1);
        near(omega[0], (1.5 * G).sqrt(), 1e-9);
    }
}

/// Friction stops a block that a spring pulls where the pull is as large as friction.
#[test]
fn a_block_on_a_spring_stops_where_friction_holds_it() {
    let (k, mu, m) = (100.0, 0.3, 2.0);
    let block = |x: f64| {
        Multibody::planar()
            .gravity([0.0, -G])
            .body(Body::new("body", m, 0.1).at([x, 0.1]))
            .joint(Joint::prismatic("guide", "ground", "body").at([x, 0.1]).axis([1.0, 0.0]))
            .spring(Spring::on("spring", "guide", k).rest(-x))
    };
    // the guide takes the weight: friction has to come from a contact
    let held = |x: f64| {
        let plane = Plane { point: [0.0; 3], normal: [0.0, 1.0, 0.0] };
        let feet = [-0.05, 0.05].map(|s| Sphere::point([s, -0.1, 0.0]));
        let mut system = Multibody::planar()
            .gravity([0.0, -G])
            .body(Body::new("body", m, 0.1).at([x, 0.1]))
            .spring(Spring::between("spring", ("ground", [-1.0, 0.0]), ("body", [x, 0.0]), k).rest(1.0));
        for (i, sphere) in feet.into_iter().enumerate() {
            let contact = Contact::new(&format!("foot{i}"), "ground", "body", SpherePlane { plane, sphere });
            system = system.contact(contact.friction(mu));
        }
        system
    };
    let stop = mu * m * G / k;
    let found = rest(&held(0.2));
    near(found.state.q[0], stop, 1e-6);
    near(found.reserve.unwrap(), 1.0, 1e-6);
    // inside the zone it stays where it is
    let found = rest(&held(0.4 * stop));
    assert_eq!((found.steps, found.state.q[0]), (0, 0.4 * stop));
    near(found.reserve.unwrap(), 0.4, 1e-8);
    // without friction it goes home
    near(rest(&block(0.2)).state.q[0], 0.0, 1e-12);
}

#[test]
fn what_slides_for_ever_is_told() {
    let slope = 0.4f64;
    let system = Multibody::planar()
        .gravity([G * slope.sin(), -G * slope.cos()])
        .body(Body::new("body", 1.0, 0.1).at([0.0, 0.1]))
        .contact(floor(Sphere::point([-0.1, -0.1, 0.0]), 0.3))
        .contact(Contact { name: "other".into(), ..floor(Sphere::point([0.1, -0.1, 0.0]), 0.3) });
    match rest_of(&system, Where::FromHere) {
        Err(EquilibriumError::NotFound { moves, residual, .. }) => {
            assert_eq!(moves, "body.x");
            assert!(residual > 1e-3, "{residual}");
        }
        other => panic!("{other:?}"),
    }
    // nothing holds it at all
    let falling = Multibody::planar().gravity([0.0, -G]).body(Body::new("body", 1.0, 0.1));
    assert!(matches!(rest_of(&falling, Where::FromHere), Err(EquilibriumError::NotFound { .. })));
    // nothing pulls at it
    let found = rest(&Multibody::spatial().body(Body::new("body", 1.0, 0.1)));
    assert_eq!(frequencies(&found), [0.0; 6]);
}

/// A disc in a groove of two planes: N = m g / 2 cos γ.
#[test]
fn a_disc_in_a_groove() {
    let slope = 0.6f64;
    let plane = |sign: f64| Plane { point: [0.0; 3], normal: [sign * slope.sin(), slope.cos(), 0.0] };
    let sphere = Sphere { centre: [0.0; 3], radius: 0.1 };
    let system = Multibody::planar()
        .gravity([0.0, -G])
        .body(Body::new("disc", 3.0, 0.015).at([0.05, 0.4]))
        .contact(Contact::new("left", "ground", "disc", SpherePlane { plane: plane(1.0), sphere }))
        .contact(Contact::new("right", "ground", "disc", SpherePlane { plane: plane(-1.0), sphere }));
    let found = rest(&system);
    near(found.state.q[0], 0.0, 1e-12);
    near(found.state.q[1], 0.1 / slope.cos(), 1e-12);
    for name in ["left", "right"] {
        near_both(range(&found, name, 0), [3.0 * G / (2.0 * slope.cos()); 2], 1e-9);
    }
    // only the turn is free, and nothing drives it
    assert_eq!(frequencies(&found), [0.0]);
}
