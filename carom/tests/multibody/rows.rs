//! Rows, curvatures and tangents of all joints, against finite differences of retractions.

use carom::model::{AccelerationLevel, Along, CouplingTangent, Tangent};
use carom::multibody::joint::{JOINTS, Joint, Link};
use carom::multibody::pair::{Plane, Sphere, SpherePlane};
use carom::multibody::{Body, Contact, Motor, Multibody, MultibodyModel};
use carom::rotation::Retraction;
use carom::{Coupling, Space};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

fn body(name: &str, is_planar: bool, random: &mut Pcg64) -> Body {
    let mut x = || random.random_range(-1.0..1.0);
    let body = Body::new(name, 1.5, [[2.0, 0.3, -0.1], [0.3, 2.5, 0.2], [-0.1, 0.2, 3.0]]);
    match is_planar {
        true => body.at([x(), x()]).angle(2.0 * x()).velocity([x(), x()]).turning(x()),
        false => {
            body.at([x(), x(), x()]).attitude([x(), x(), x(), x()]).velocity([x(), x(), x()]).spin([x(), x(), x()])
        }
    }
}

/// Two bodies with a joint of a kind, where they are drawn; its coordinates have stops and one a motor.
fn model(kind: usize, is_planar: bool, retraction: Retraction, random: &mut Pcg64) -> Option<MultibodyModel> {
    let kind = &JOINTS[kind];
    let system = if is_planar { Multibody::planar() } else { Multibody::spatial() }.retraction(retraction);
    let system = system.body(body("a", is_planar, random)).body(body("b", is_planar, random));
    let mut x = || random.random_range(-1.0..1.0);
    let at = if is_planar { [x(), x(), 0.0] } else { [x(), x(), x()] };
    let axis = [x(), x(), if is_planar { 0.0 } else { x() }];
    let second = [axis[1], -axis[0], 0.0];
    let mut joint = Joint::new(kind, "joint", "a", "b").at(at);
    joint = match (kind.name, is_planar) {
        ("revolute", true) => joint,
        ("distance", _) => joint.ends(at, [at[0] + 0.4, at[1] - 0.8, at[2]]),
        _ => joint.axis(axis).second_axis(second),
    };
    joint.lead = 0.3;
    if kind.name == "chain" {
        let link = |turns, axis: [f64; 3], at| Link { turns, axis, at };
        let across = [second[0], second[1], 0.5];
        joint.links = vec![link(true, axis, at), link(false, across, at), link(true, second, [at[1], at[0], 0.2])];
    }
    let has_terms = kind.name == "gear" || kind.name == "rack" || kind.name == "coupler";
    let system = if has_terms {
        let pin = Joint::revolute("pin", "ground", "a").at(at);
        let pin = if is_planar { pin } else { pin.axis(axis) };
        let slide = Joint::prismatic("slide", "a", "b").at(at).axis(second);
        let turn = Joint::revolute("turn", "a", "b").at(at);
        let turn = if is_planar { turn } else { turn.axis(axis) };
        let system = system.joint(pin).joint(slide).joint(turn);
        match kind.name {
            "gear" => system.joint(Joint::gear("joint", "pin", "turn", -1.7)),
            "rack" => system.joint(Joint::rack("joint", "pin", "slide", 0.6)),
            _ => system
                .joint(Joint::coupler("joint", vec![("pin".into(), 1.0), ("turn".into(), 2.0), ("slide".into(), 3.0)])),
        }
    } else {
        let count = joint.coordinates().len();
        let stops =
            |joint: Joint, i| joint.stops_of(i, carom::multibody::Stops { lower: -1.0, upper: 2.0, restitution: 0.5 });
        let system = system.joint((0..count).fold(joint, stops));
        if count > 0 {
            system.motor(Motor::position("drive", ("joint", count - 1), |x: &[f64], out: &mut [f64]| {
                out[0] = (2.0 * x[0]).sin()
            }))
        } else {
            system
        }
    };
    let plane = SpherePlane {
        plane: Plane { point: [0.1, -0.3, 0.0], normal: [0.6, 0.8, 0.0] },
        sphere: Sphere { centre: [0.2, 0.5, 0.0], radius: 0.3 },
    };
    let contact = Contact::new("touch", "a", "b", plane).friction(0.4).rolling(0.1).spinning(0.05);
    match system.contact(contact).build() {
        Ok(model) => Some(model),
        Err(carom::multibody::MultibodyError::Misfit { reason: "there is no such joint in the plane", .. }) => None,
        Err(error) => panic!("{} {is_planar}: {error}", kind.name),
    }
}

fn all(mut check: impl FnMut(&str, MultibodyModel)) {
    let mut random = Pcg64::seed_from_u64(7);
    let mut count = 0;
    for (i, kind) in JOINTS.iter().enumerate() {
        for (is_planar, retraction) in
            [(true, Retraction::Exponential), (false, Retraction::Exponential), (false, Retraction::Cayley)]
        {
            for _ in 0..3 {
                let Some(model) = model(i, is_planar, retraction, &mut random) else { continue };
                count += 1;
                check(&format!("{} {is_planar} {retraction:?}", kind.name), model);
            }
        }
    }
    assert!(count >= 80, "{count}");
}

#[test]
fn rows_are_derivatives_of_outputs() {
    all(|name, mut model| {
        let (at, n) = (model.initial(), model.initial().v.len());
        let mut coupling = Coupling::default();
        model.couple(at.t, &at.q, &mut coupling).unwrap();
        let (mut near, mut moved) = (Coupling::default(), at.q.clone());
        let h = 1e-4;
        for j in 0..n {
            let mut gaps = [vec![], vec![], vec![], vec![]];
            for (gaps, offset) in gaps.iter_mut().zip([1.0, -1.0, 2.0, -2.0]) {
                let mut way = vec![0.0; n];
                way[j] = offset * h;
                model.retract(&at.q, &way, &mut moved);
                model.couple(at.t, &moved, &mut near).unwrap();
                gaps.extend(near.pairs.iter().map(|pair| pair.gap));
            }
            for i in 0..coupling.len() {
                let slope = (8.0 * (gaps[0][i] - gaps[1][i]) - (gaps[2][i] - gaps[3][i])) / (12.0 * h);
                let row = coupling.rows.row(coupling.offset[i]).iter().filter(|e| e.0 == j).map(|e| e.1).sum::<f64>();
                assert!((slope - row).abs() < 1e-8, "{name} law {i} column {j}: {slope} {row}");
            }
        }
    });
}

/// u̇ = C v̇ + γ, against differences of C v + ∂y/∂t along the motion.
#[test]
fn curvatures_are_derivatives_of_velocities() {
    all(|name, mut model| {
        let at = model.initial();
        let mut found = Vec::new();
        model.curvature(0.3, &at.q, &at.v, &mut found).unwrap();
        let (mut near, mut moved, mut u) = (Coupling::default(), at.q.clone(), Vec::new());
        let mut expected = vec![0.0; found.len()];
        let h = 1e-3;
        for (offset, weight) in [(1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)] {
            let way: Vec<f64> = at.v.iter().map(|v| offset * h * v).collect();
            model.retract(&at.q, &way, &mut moved);
            model.couple(0.3 + offset * h, &moved, &mut near).unwrap();
            // the velocity that belongs to the constant one on the chart
            let mut v = at.v.clone();
            if let Some(chart) = model.chart() {
                chart.velocity(&way, &at.v, &mut v);
            }
            near.velocity(&v, &mut u);
            expected.iter_mut().zip(&u).for_each(|(e, u)| *e += weight * u / (12.0 * h));
        }
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert!((found - expected).abs() < 2e-8, "{name} row {i}: {found} {expected}");
        }
    });
}

/// Derivatives of gaps, rows, drifts and γ along a direction, against differences.
#[test]
fn tangents_are_derivatives_of_couplings() {
    let mut random = Pcg64::seed_from_u64(11);
    all(|name, mut model| {
        let at = model.initial();
        let n = at.v.len();
        let mut tangent = model.tangent();
        let mut x = || random.random_range(-1.0..1.0);
        let (dq, dv, dt): (Vec<f64>, Vec<f64>, f64) =
            ((0..n).map(|_| x()).collect(), (0..n).map(|_| x()).collect(), x());
        let along = Along { t: dt, q: &dq, v: &dv, p: &[] };
        let (mut found, mut bends) = (CouplingTangent::default(), Vec::new());
        tangent.coupling((0.3, &at.q, &at.v), along, &mut found).unwrap();
        tangent.curvature((0.3, &at.q, &at.v), along, &mut bends).unwrap();
        let (mut near, mut moved, mut bend) = (Coupling::default(), at.q.clone(), Vec::new());
        let (mut gaps, mut drifts, mut rows, mut curves) = (
            vec![0.0; found.gap.len()],
            vec![0.0; found.drift.len()],
            vec![0.0; found.rows.len()],
            vec![0.0; bends.len()],
        );
        let h = 1e-3;
        for (offset, weight) in [(1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)] {
            let way: Vec<f64> = dq.iter().map(|d| offset * h * d).collect();
            let v: Vec<f64> = at.v.iter().zip(&dv).map(|(v, d)| v + offset * h * d).collect();
            let (t, weight) = (0.3 + offset * h * dt, weight / (12.0 * h));
            model.retract(&at.q, &way, &mut moved);
            model.couple(t, &moved, &mut near).unwrap();
            model.curvature(t, &moved, &v, &mut bend).unwrap();
            gaps.iter_mut().zip(&near.pairs).for_each(|(g, pair)| *g += weight * pair.gap);
            drifts.iter_mut().zip(&near.drift).for_each(|(g, d)| *g += weight * d);
            curves.iter_mut().zip(&bend).for_each(|(g, d)| *g += weight * d);
            for (i, row) in near.rows.iter().enumerate() {
                row.iter().for_each(|&(j, x)| rows[i * n + j] += weight * x);
            }
        }
        for (what, found, expected, tolerance) in [
            ("gap", &found.gap, &gaps, 1e-9),
            ("drift", &found.drift, &drifts, 1e-5),
            ("row", &found.rows, &rows, 1e-8),
            ("curvature", &bends, &curves, 1e-4),
        ] {
            for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
                assert!((found - expected).abs() < tolerance, "{name} {what} {i}: {found} {expected}");
            }
        }
    });
}

/// Numbers of rows as in the table of joints, in space and in the plane.
#[test]
fn joints_have_their_rows() {
    let expected = [
        ("fixed", 6, Some(3)),
        ("spherical", 3, None),
        ("revolute", 5, Some(2)),
        ("cylindrical", 4, None),
        ("prismatic", 5, Some(2)),
        ("planar", 3, None),
        ("universal", 4, None),
        ("distance", 1, Some(1)),
        ("screw", 5, None),
        ("chain", 3, None),
        // one more than a pin, a slide and another pin
        ("gear", 5 + 5 + 5 + 1, Some(2 + 2 + 2 + 1)),
        ("rack", 5 + 5 + 5 + 1, Some(2 + 2 + 2 + 1)),
        ("coupler", 5 + 5 + 5 + 1, Some(2 + 2 + 2 + 1)),
    ];
    let mut random = Pcg64::seed_from_u64(3);
    for (name, space, plane) in expected {
        let kind = JOINTS.iter().position(|kind| kind.name == name).unwrap();
        for (is_planar, expected) in [(false, Some(space)), (true, plane)] {
            let found = model(kind, is_planar, Retraction::Exponential, &mut random).map(|model| {
                model.labels().contacts.iter().filter(|(name, law)| law.is_equality() && name != "drive").count()
            });
            assert_eq!(found, expected, "{name} {is_planar}");
        }
    }
}

/// Turns of angles are counted in the state: three turns of a hinge are three turns.
#[test]
fn turns_are_counted() {
    for is_planar in [true, false] {
        let system = if is_planar { Multibody::planar() } else { Multibody::spatial() };
        let joint = Joint::revolute("hinge", "ground", "b").at([0.0, 0.0]).stops(-1e3, 1e3, 0.0);
        let joint = if is_planar { joint } else { joint.axis([0.0, 0.0, 1.0]) };
        let mut model = system.body(Body::new("b", 1.0, 1.0)).joint(joint).build().unwrap();
        let mut q = model.initial().q;
        let mut moved = q.clone();
        let mut way = vec![0.0; model.initial().v.len()];
        *way.last_mut().unwrap() = -0.3;
        for _ in 0..63 {
            model.retract(&q, &way, &mut moved);
            q.copy_from_slice(&moved);
        }
        assert!((model.coordinate(0, &q) + 18.9).abs() < 1e-12, "{}", model.coordinate(0, &q));
    }
}
