//! Closing joints of bodies that are drawn out of place.

use carom::multibody::{Body, Joint, Multibody, MultibodyError};
use carom::{Coupling, Space};

/// A triangle of three planar rods whose ends do not meet where they are drawn.
fn triangle(scale: f64) -> Multibody {
    let rod = |name: &str, x: f64, y: f64, angle: f64| Body::new(name, 1.0, 0.1).at([x, y]).angle(angle);
    let end = |s: f64| [0.5 * s, 0.0];
    Multibody::planar()
        .body(rod("a", 0.5, 0.05, 0.1).velocity([0.3, 0.2]).turning(1.0))
        .body(rod("b", 0.8, 0.5, 2.0))
        .body(rod("c", 0.2, 0.4, 4.3))
        .joint(Joint::revolute("ab", "a", "b").at_bodies(end(1.0), end(-1.0)))
        .joint(Joint::revolute("bc", "b", "c").at_bodies(end(1.0), end(-1.0)))
        .joint(Joint::revolute("ca", "c", "a").at_bodies(end(1.0), end(-scale)))
}

#[test]
fn a_drawn_triangle_is_closed() {
    let error = triangle(1.0).build().err().unwrap();
    assert!(matches!(&error, MultibodyError::Open { residual, .. } if *residual > 1e-3), "{error}");
    let mut model = triangle(1.0).assemble(1e-12).build().unwrap();
    let at = model.initial();
    let (mut coupling, mut u) = (Coupling::default(), Vec::new());
    model.couple(0.0, &at.q, &mut coupling).unwrap();
    assert!(coupling.pairs.iter().all(|pair| pair.gap.abs() < 1e-12));
    // a rigid triangle: all turn together, and velocities fit
    coupling.velocity(&at.v, &mut u);
    assert!(u.iter().all(|u| u.abs() < 1e-13), "{u:?}");
    assert!((at.v[2] - at.v[5]).abs() < 1e-12 && (at.v[2] - at.v[8]).abs() < 1e-12);
    // closest in kinetic energy: momentum and angular momentum are those of the drawn velocities
    assert!((at.v[0] + at.v[3] + at.v[6] - 0.3).abs() < 1e-12);
    assert!((at.v[1] + at.v[4] + at.v[7] - 0.2).abs() < 1e-12);
}

#[test]
fn joints_that_cannot_be_closed_are_refused() {
    // sides 1, 1 and 4
    let far = triangle(1.0).joint(Joint::distance("rod", "a", "b").at_bodies([-0.5, 0.0], [0.5, 0.0]).length(4.0));
    let error = far.assemble(1e-10).build().err().unwrap();
    assert!(matches!(&error, MultibodyError::Assembly { residual, .. } if *residual > 0.1), "{error}");
}

/// The rows of a hinge hold as well with its axis turned round.
#[test]
fn the_wrong_branch_of_a_hinge_is_refused() {
    let hinge = Joint::revolute("hinge", "ground", "b")
        .at_bodies([0.0; 3], [0.0; 3])
        .axis_bodies([0.0, 0.0, 1.0], [0.0, 0.0, -1.0]);
    let error = Multibody::spatial().body(Body::new("b", 1.0, 1.0)).joint(hinge).build().err().unwrap();
    assert_eq!(error, MultibodyError::Branch { name: "hinge".into() });
}

#[test]
fn velocities_that_do_not_fit_are_told() {
    let pendulum = Multibody::planar()
        .body(Body::new("rod", 1.0, 0.1).at([0.5, 0.0]).velocity([0.0, 1.0]))
        .joint(Joint::revolute("hinge", "ground", "rod").at([0.0, 0.0]));
    let model = pendulum.clone().build().unwrap();
    assert!(model.warnings().unwrap().clone().sorted().iter().any(|warning| warning.kind.name == "unfit-velocities"));
    let model = pendulum.assemble(1e-12).build().unwrap();
    assert!(model.warnings().unwrap().clone().sorted().iter().all(|warning| warning.kind.name != "unfit-velocities"));
}
