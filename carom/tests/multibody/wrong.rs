//! Descriptions that make no sense.

use carom::multibody::pair::{Plane, Sphere, SpherePlane};
use carom::multibody::{Body, Contact, Joint, Load, Motor, Multibody, MultibodyError, Signal, Spring};

fn space() -> Multibody {
    Multibody::spatial().body(Body::new("b", 1.0, 1.0)).body(Body::new("c", 1.0, 1.0).at([1.0, 0.0, 0.0]))
}

fn hinge() -> Joint {
    Joint::revolute("hinge", "ground", "b").at([0.0; 3]).axis([0.0, 0.0, 1.0])
}

fn error(system: Multibody) -> String {
    match system.build() {
        Ok(_) => "no error".into(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn mistakes_are_told_by_name() {
    let zero = |x: &[f64], out: &mut [f64]| out.fill(0.0 * x.first().unwrap_or(&0.0));
    let plane = SpherePlane {
        plane: Plane { point: [0.0; 3], normal: [0.0, 0.0, 1.0] },
        sphere: Sphere { centre: [0.0; 3], radius: 0.1 },
    };
    let cases: Vec<(Multibody, &str)> = vec![
        (space().body(Body::new("b", 1.0, 1.0)), "two bodies are called `b`"),
        (space().body(Body::new("ground", 1.0, 1.0)), "two bodies are called `ground`"),
        (space().body(Body::new("d", 0.0, 1.0)), "the mass of the body `d` is 0"),
        (space().body(Body::new("d", 1.0, [1.0, 1.0, 0.0])), "the inertia of the body `d` is not positive definite"),
        (
            space().body(Body::new("d", 1.0, [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])),
            "the inertia of the body `d` is not symmetric",
        ),
        (space().body(Body::new("d", 1.0, 1.0).turned([0.0; 3], 1.0)), "the attitude of the body `d`"),
        (
            space().joint(Joint::revolute("j", "b", "x").at([0.0; 3]).axis([0.0, 0.0, 1.0])),
            "`j` refers to the body `x`",
        ),
        (space().joint(Joint::revolute("j", "b", "b").at([0.0; 3]).axis([0.0, 0.0, 1.0])), "its two bodies are one"),
        (space().joint(Joint::revolute("j", "b", "c").at([0.0; 3])), "its axis is not given"),
        (space().joint(Joint::revolute("j", "b", "c").axis([0.0, 0.0, 1.0])), "its point is not given"),
        (space().joint(Joint::revolute("j", "b", "c").at([0.0; 3]).axis([0.0; 3])), "its axis has no length"),
        (
            space().joint(Joint::screw("j", "b", "c", 0.0).at([0.0; 3]).axis([1.0, 0.0, 0.0])),
            "the lead of the joint `j` is 0",
        ),
        (
            space().joint(Joint::universal("j", "b", "c").at([0.0; 3]).axis([1.0, 0.0, 0.0])),
            "its second axis is not given",
        ),
        (space().joint(Joint::distance("j", "b", "c").at([0.0; 3])), "the length of the joint `j` is 0"),
        (space().joint(hinge()).joint(hinge()), "two joints are called `hinge`"),
        (space().joint(hinge().stops(1.0, -1.0, 0.0)), "the lower stop of the joint `hinge` is 1"),
        (space().joint(hinge().stops(-1.0, 1.0, 2.0)), "the restitution of the joint `hinge` is 2"),
        (space().joint(hinge().friction(-1.0)), "the friction of the joint `hinge` is -1"),
        (space().joint(hinge()).joint(Joint::gear("g", "hinge", "none", 1.0)), "`g` refers to the joint `none`"),
        (space().joint(hinge()).joint(Joint::gear("g", "hinge", ("hinge", 1), 1.0)), "coordinate `number 1 of hinge`"),
        (space().joint(hinge()).joint(Joint::gear("g", "hinge", "hinge", 0.0)), "a factor of the joint `g`"),
        (space().spring(Spring::on("s", "hinge", 1.0)), "spring `s` refers to the joint `hinge`"),
        (space().joint(hinge()).spring(Spring::on("s", "hinge", -1.0)), "the stiffness of the spring `s` is -1"),
        (space().spring(Spring::between("s", ("b", [0.0; 3]), ("c", [0.0; 3]), 1.0)), "its ends are one point"),
        (space().motor(Motor::velocity("m", "hinge", zero)), "motor `m` refers to the joint `hinge`"),
        (space().load(Load::new("l", "x", vec![], zero)), "load `l` refers to the body `x`"),
        (space().load(Load::new("l", "ground", vec![], zero)), "the ground does not move"),
        (space().load(Load::new("l", "b", vec![Signal::Angle("b".into())], zero)), "only planar bodies have an angle"),
        (space().contact(Contact::new("t", "b", "b", plane)), "its two bodies are one"),
        (space().contact(Contact::new("t", "b", "c", plane).friction(-1.0)), "the friction of the contact `t` is -1"),
        (
            Multibody::planar()
                .body(Body::new("b", 1.0, 1.0))
                .joint(Joint::spherical("j", "ground", "b").at([0.0, 0.0])),
            "there is no such joint in the plane",
        ),
        (Multibody::planar().body(Body::new("b", 1.0, 1.0).at([0.0, 0.0, 1.0])), "a planar body stays in the plane"),
        (Multibody::planar().gravity([0.0, 0.0, -9.81]), "gravity"),
    ];
    for (system, expected) in cases {
        let found = error(system);
        assert!(found.contains(expected), "`{found}` does not say `{expected}`");
    }
}

#[test]
fn joints_without_play_refuse_it() {
    let joint = Joint::fixed("weld", "ground", "b").clearance(carom::multibody::Clearance::default());
    let error = space().joint(joint).build().err().unwrap();
    assert!(matches!(error, MultibodyError::Misfit { reason: "a joint of this kind has no play", .. }));
}
