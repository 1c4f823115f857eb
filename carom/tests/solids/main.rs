//! Shapes that touch by themselves: the same motion as with contacts that are listed one by one, lists that come and
//! go, filters, materials, growth with the number of bodies.

mod bullets;
mod egg;
mod events;
mod mass;
mod sleep;

use carom::multibody::contact::Surface;
use carom::multibody::pair::{
    Block, BlockPlane, Capsule, Convex, Cylinder, Plane, Shape, Sphere, SpherePlane, SphereSphere, between,
};
use carom::multibody::{Body, Combine, Contact, Frame, Joint, Multibody, MultibodyError, MultibodyModel, Solid};
use carom::scheme::{AnyModel, MoreauJean, Scheme, Stepper};
use carom::{Coupling, Space, State, Warnings};
use serde_json::json;

const G: f64 = 9.81;
const UP: [f64; 3] = [0.0, 0.0, 1.0];

fn ball(radius: f64) -> Shape {
    Shape::Sphere(Sphere { centre: [0.0; 3], radius })
}

fn floor() -> Shape {
    Shape::Plane(Plane { point: [0.0; 3], normal: UP })
}

fn cube(half: f64) -> Shape {
    Shape::Block(Block::new([half; 3]))
}

fn rough(friction: f64, restitution: f64) -> Surface {
    Surface { friction, restitution, ..Surface::default() }
}

fn stepper(model: MultibodyModel) -> Box<dyn Stepper> {
    let row = carom::scheme::find(MoreauJean::INFO.name).unwrap();
    (row.bind)(&json!({}), AnyModel::Mechanical(Box::new(model)), carom_solve::solver::default()).unwrap()
}

/// Takes steps and returns the last state; `see` is called after each of them.
fn run(stepper: &mut dyn Stepper, h: f64, steps: usize, mut see: impl FnMut(&mut dyn Stepper)) -> State {
    for k in 0..steps {
        stepper.attempt(h).unwrap_or_else(|error| panic!("step {k}: {error}"));
        see(stepper);
        stepper.accept();
    }
    stepper.from().clone()
}

/// Balls thrown at each other above a floor.
fn thrown() -> Multibody {
    let places = [[0.0, 0.0, 0.3], [0.25, 0.02, 0.35], [-0.3, 0.05, 0.5], [0.05, -0.2, 0.9]];
    let speeds = [[0.0; 3], [-1.5, 0.0, 0.0], [1.0, 0.2, 0.5], [0.0, 0.8, -1.0]];
    let mut all = Multibody::spatial().gravity([0.0, 0.0, -G]);
    for (i, (at, v)) in places.into_iter().zip(speeds).enumerate() {
        all = all.body(Body::new(&format!("b{i}"), 1.0 + i as f64, 0.4 * 0.01).at(at).velocity(v));
    }
    all
}

#[test]
fn automatic_contacts_move_bodies_as_listed_ones_do() {
    let surface = rough(0.3, 0.5);
    let (sphere, plane) = (Sphere { centre: [0.0; 3], radius: 0.1 }, Plane { point: [0.0; 3], normal: UP });
    let mut listed = thrown();
    for i in 0..4 {
        let name = format!("b{i}");
        let contact = Contact::new(&format!("f{i}"), "ground", &name, SpherePlane { plane, sphere });
        listed = listed.contact(Contact { surface, ..contact });
    }
    for j in 0..4 {
        for i in 0..j {
            let pair = SphereSphere { first: sphere, second: sphere };
            let contact = Contact::new(&format!("c{i}{j}"), &format!("b{i}"), &format!("b{j}"), pair);
            listed = listed.contact(Contact { surface, ..contact });
        }
    }
    let mut automatic = thrown().material("rubber", surface);
    automatic = automatic.solid(Solid::new("ground", "floor", floor()).material("rubber"));
    for i in 0..4 {
        automatic = automatic.solid(Solid::new(&format!("b{i}"), "ball", ball(0.1)).material("rubber"));
    }
    let (mut most, mut least, mut hits) = (0, usize::MAX, 0);
    let (mut one, mut other) = (stepper(listed.build().unwrap()), stepper(automatic.build().unwrap()));
    let expected = run(&mut *one, 1e-3, 1500, |_| {});
    let found = run(&mut *other, 1e-3, 1500, |stepper| {
        let (laws, acted) = (stepper.reactions().len(), stepper.reactions().impulse.iter().any(|p| *p > 0.0));
        (most, least, hits) = (most.max(laws), least.min(laws), hits + usize::from(acted));
    });
    assert!(most >= 4 && least == 0 && hits > 500, "{least} to {most} contacts, {hits} steps with one");
    for (x, y) in found.q.iter().zip(&expected.q).chain(found.v.iter().zip(&expected.v)) {
        assert!((x - y).abs() < 1e-9, "{x} {y}");
    }
}

/// A block of n×n×n balls above the floor, between four walls.
fn poured(n: usize, radius: f64) -> Multibody {
    let side = 2.2 * radius * n as f64;
    let mut all = Multibody::spatial().gravity([0.0, 0.0, -G]).material("steel", rough(0.3, 0.2));
    all = all.solid(Solid::new("ground", "floor", floor()).material("steel"));
    for (name, point, normal) in [
        ("left", [0.0; 3], [1.0, 0.0, 0.0]),
        ("right", [side, 0.0, 0.0], [-1.0, 0.0, 0.0]),
        ("front", [0.0; 3], [0.0, 1.0, 0.0]),
        ("back", [0.0, side, 0.0], [0.0, -1.0, 0.0]),
    ] {
        all = all.solid(Solid::new("ground", name, Shape::Plane(Plane { point, normal })).material("steel"));
    }
    for i in 0..n * n * n {
        let (x, y, z) = (i % n, i / n % n, i / n / n);
        // a little aside, so that they do not stand on each other
        let shift = 0.05 * radius * (((7 * i) % 11) as f64 / 11.0 - 0.5);
        let at = |k: usize| radius * (2.2 * k as f64 + 1.1);
        let name = format!("b{i}");
        let mass = 7800.0 * 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
        all = all
            .body(Body::new(&name, mass, 0.4 * mass * radius * radius).at([
                at(x) + shift,
                at(y) - shift,
                at(z) + radius,
            ]))
            .solid(Solid::new(&name, "ball", ball(radius)).material("steel"));
    }
    all
}

#[test]
fn poured_balls_stay_in_their_box_and_lose_energy() {
    let (n, radius, h) = (5, 0.02, 1e-3);
    let mut model = poured(n, radius).build().unwrap();
    let initial = model.initial();
    let before = model.energy(&initial).unwrap().total();
    let mut stepper = stepper(model);
    let mut lists = 0;
    let mut deepest = 0.0f64;
    let last = run(&mut *stepper, h, 300, |stepper| {
        lists = lists.max(stepper.reactions().len());
        let coupling = stepper.coupling().unwrap();
        deepest = (0..coupling.len()).map(|i| coupling.gap(i)).fold(deepest, f64::min);
    });
    assert!(last.is_finite());
    assert!(lists > n * n * n, "{lists} contacts at most");
    // one step of the fastest ball
    assert!(deepest > -1.5 * h, "a gap of {deepest}");
    let side = 2.2 * radius * n as f64;
    for q in last.q.chunks_exact(7) {
        assert!((0..2).all(|i| q[i] > 0.9 * radius && q[i] < side - 0.9 * radius) && q[2] > 0.9 * radius, "{q:?}");
    }
    let mut model = poured(n, radius).build().unwrap();
    let after = model.energy(&last).unwrap().total();
    assert!(after < before, "{before} J, then {after} J");
}

#[test]
fn filters_leave_out_bodies_groups_and_shapes() {
    let pile = || {
        let mut all = Multibody::spatial();
        for i in 0..4 {
            let name = format!("b{i}");
            all = all
                .body(Body::new(&name, 1.0, 1.0).at([0.1 * i as f64, 0.0, 0.0]))
                .solid(Solid::new(&name, "ball", ball(0.2)).group(if i < 2 { "low" } else { "high" }));
        }
        all
    };
    let count = |all: Multibody| {
        let mut model = all.build().unwrap();
        let (initial, mut coupling) = (model.initial(), Coupling::default());
        model.detect(&initial, 1e-3).unwrap();
        model.couple(0.0, &initial.q, &mut coupling).unwrap();
        coupling.len()
    };
    assert_eq!(count(pile()), 6);
    assert_eq!(count(pile().apart("b0", "b1")), 5);
    assert_eq!(count(pile().apart("low", "low")), 5);
    assert_eq!(count(pile().apart("low", "high")), 2);
    assert_eq!(count(pile().apart("low", "b3")), 4);
    assert_eq!(count(pile().apart("b0/ball", "b2/ball")), 5);
    let joint = Joint::revolute("hinge", "b0", "b1").at([0.0; 3]).axis(UP);
    assert_eq!(count(pile().joint(joint.clone())) - 5, 5, "rows of the joint, and all pairs but one");
    let mut joined = pile().joint(joint);
    joined.joined_touch = true;
    assert_eq!(count(joined) - 5, 6);
    assert!(matches!(pile().apart("b0", "b9").build(), Err(MultibodyError::Unknown { .. })));
}

#[test]
fn materials_combine_by_a_named_rule_or_not_at_all() {
    let two = |rule: Option<Combine>| {
        let mut all = Multibody::spatial()
            .material("ice", rough(0.04, 0.0))
            .material("rubber", rough(0.9, 0.5))
            .body(Body::new("a", 1.0, 1.0))
            .body(Body::new("b", 1.0, 1.0).at([0.2, 0.0, 0.0]))
            .solid(Solid::new("a", "ball", ball(0.1)).material("ice"))
            .solid(Solid::new("b", "ball", ball(0.1)).material("rubber"));
        all.materials.combine = rule;
        all
    };
    let law = |all: Multibody| {
        let mut model = all.build().unwrap();
        let (initial, mut coupling) = (model.initial(), Coupling::default());
        model.detect(&initial, 1e-3).unwrap();
        model.couple(0.0, &initial.q, &mut coupling).unwrap();
        let pair = coupling.pairs[0];
        let mu = pair.law.discs().next().map_or(0.0, |(_, disc)| disc.mu);
        (mu, pair.restitution)
    };
    for (rule, friction, restitution) in [
        (Combine::Minimum, 0.04, 0.0),
        (Combine::Maximum, 0.9, 0.5),
        (Combine::Mean, 0.47, 0.25),
        (Combine::GeometricMean, (0.04f64 * 0.9).sqrt(), 0.0),
        (Combine::Product, 0.04 * 0.9, 0.0),
    ] {
        let (mu, e) = law(two(Some(rule)));
        assert!((mu - friction).abs() < 1e-15 && (e - restitution).abs() < 1e-15, "{}: {mu} {e}", rule.name());
    }
    assert_eq!(law(two(None).material_pair("rubber", "ice", rough(0.2, 0.3))), (0.2, 0.3));
    match two(None).build() {
        Err(MultibodyError::Materials { names, shapes }) => {
            assert_eq!(names, ["ice", "rubber"]);
            assert_eq!(shapes, ["a/ball", "b/ball"]);
        }
        other => panic!("{:?}", other.err()),
    }
}

#[test]
fn shapes_without_formulas_are_refused_by_name() {
    let disc = Shape::Cylinder(Cylinder { centre: [0.0; 3], axis: UP, radius: 0.1, half: 0.0 });
    let two = || {
        Multibody::spatial()
            .body(Body::new("a", 1.0, 1.0))
            .body(Body::new("b", 1.0, 1.0))
            .solid(Solid::new("a", "disc", disc.clone()))
            .solid(Solid::new("b", "box", cube(0.1)))
    };
    let error = two().build().err().unwrap();
    assert!(matches!(error, MultibodyError::Pair { .. }), "{error}");
    assert!(error.to_string().contains("`a/disc` and `b/box`"), "{error}");
    assert!(two().apart("a", "b").build().is_ok());
}

/// Whatever the number of shapes, and wherever in the list the only two are that may touch and make no pair.
#[test]
fn shapes_without_formulas_are_refused_however_many_there_are() {
    let disc = Shape::Cylinder(Cylinder { centre: [0.0; 3], axis: UP, radius: 0.1, half: 0.0 });
    let grouped = |apart: usize| {
        let mut all = Multibody::spatial();
        for i in 0..300 {
            let (can, block) = (format!("can{i}"), format!("box{i}"));
            all = all
                .body(Body::new(&can, 1.0, 1.0))
                .body(Body::new(&block, 1.0, 1.0))
                .solid(Solid::new(&can, "s", disc.clone()).group("cans"))
                .solid(Solid::new(&block, "s", cube(0.1)).group("boxes"));
            if i < apart {
                all = all.apart(&can, "boxes");
            }
        }
        all.apart("cans", "cans")
    };
    let error = grouped(299).build().err().expect("the last can may touch boxes");
    assert!(error.to_string().contains("`can299/s`"), "{error}");
    assert!(grouped(300).build().is_ok());
}

/// Boxes on each other on the floor: gravity alone, so that sums of forces are known.
#[test]
fn a_stack_of_boxes_stands_and_carries_its_weight() {
    for heavy in [1.0, 100.0] {
        let (half, h, count) = (0.1, 1e-3, 5);
        let mut all = Multibody::spatial().gravity([0.0, 0.0, -G]).material("wood", rough(0.5, 0.0));
        all = all.solid(Solid::new("ground", "floor", floor()).material("wood"));
        let mut masses = Vec::new();
        for i in 0..count {
            let name = format!("b{i}");
            let mass = if i + 1 == count { heavy } else { 1.0 };
            masses.push(mass);
            let z = half * (2.0 * i as f64 + 1.0);
            all = all
                .body(Body::new(&name, mass, 2.0 / 3.0 * mass * half * half).at([0.0, 0.0, z]))
                .solid(Solid::new(&name, "box", cube(half)).material("wood"));
        }
        let mut stepper = stepper(all.build().unwrap());
        let mut forces = vec![0.0; count];
        let labels = stepper.labels().clone();
        let last = run(&mut *stepper, h, 200, |stepper| {
            forces.fill(0.0);
            let reactions = stepper.reactions();
            for i in 0..reactions.len() {
                let name = labels.contact(reactions.key(i));
                let lower = (0..count).rev().find(|i| name.contains(&format!("b{i}/box"))).unwrap();
                forces[lower] += reactions.normal(i) / h;
            }
        });
        let drift = last.q.chunks_exact(7).map(|q| q[0].hypot(q[1])).fold(0.0, f64::max);
        let sunk = (0..count).map(|i| half * (2.0 * i as f64 + 1.0) - last.q[7 * i + 2]).fold(0.0, f64::max);
        println!("1:{heavy}: drift {drift:e}, sunk {sunk:e}");
        assert!(drift < 1e-9 && sunk < 1e-9, "drift {drift:e}, sunk {sunk:e}");
        for (i, force) in forces.iter().enumerate() {
            let weight = G * masses[i..].iter().sum::<f64>();
            assert!((force / weight - 1.0).abs() < 1e-6, "{i}: {force} N of {weight} N");
        }
    }
}

/// A box that slides on another box and on a plane moves alike.
#[test]
fn a_box_slides_on_a_box_as_on_a_plane() {
    let slide = |plane: bool| {
        let shape = Block::new([0.2, 0.1, 0.05]);
        let all = Multibody::spatial()
            .gravity([0.0, 0.0, -G])
            .body(Body::new("box", 2.0, [0.1, 0.1, 0.1]).at([0.0, 0.0, 0.05]).velocity([1.5, 0.2, 0.0]));
        let friction = rough(0.5, 0.0);
        let all = if plane {
            let pair = BlockPlane { plane: Plane { point: [0.0; 3], normal: UP }, block: shape };
            all.contact(Contact { surface: friction, ..Contact::new("floor", "ground", "box", pair) })
        } else {
            let table = Block { centre: [0.0, 0.0, -0.5], ..Block::new([3.0, 3.0, 0.5]) };
            all.material("wood", friction)
                .solid(Solid::new("ground", "table", Shape::Block(table)).material("wood"))
                .solid(Solid::new("box", "box", Shape::Block(shape)).material("wood"))
        };
        run(&mut *stepper(all.build().unwrap()), 1e-3, 400, |_| {})
    };
    let (on_box, on_plane) = (slide(false), slide(true));
    // v²/(2 μ g), to the step
    let speed = 1.5f64.hypot(0.2);
    let way = speed * speed / (2.0 * 0.5 * G);
    assert!((on_plane.q[0].hypot(on_plane.q[1]) - way).abs() < 2e-3, "{:?}", on_plane.q);
    for (x, y) in on_box.q.iter().zip(&on_plane.q) {
        assert!((x - y).abs() < 1e-9, "{x} {y}");
    }
}

/// A capsule comes to rest on two boxes that are apart, and one box on a capsule's middle.
#[test]
fn a_capsule_rests_across_two_boxes() {
    let rod = Capsule { ends: [[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0]], radius: 0.05 };
    let mut all = Multibody::spatial().gravity([0.0, 0.0, -G]).material("wood", rough(0.4, 0.0));
    for (name, x) in [("left", -0.4), ("right", 0.4)] {
        let shape = Shape::Block(Block { centre: [x, 0.0, -0.1], ..Block::new([0.1, 0.3, 0.1]) });
        all = all.solid(Solid::new("ground", name, shape).material("wood"));
    }
    all = all
        .body(Body::new("rod", 1.0, [1e-3, 0.1, 0.1]).at([0.0, 0.0, 0.06]))
        .solid(Solid::new("rod", "rod", Shape::Capsule(rod)).material("wood"));
    let mut lifted = 0.0;
    let mut stepper = stepper(all.build().unwrap());
    let last = run(&mut *stepper, 1e-3, 400, |stepper| {
        let reactions = stepper.reactions();
        lifted = (0..reactions.len()).map(|i| reactions.normal(i)).sum::<f64>() / 1e-3;
    });
    assert!((lifted - G).abs() < 1e-6, "{lifted} N");
    assert!((last.q[2] - 0.05).abs() < 1e-3 && last.v.iter().all(|v| v.abs() < 1e-9), "{last:?}");
}

/// Two explicit boxes: the contact is not in the list of those that are always there, and acts all the same.
#[test]
fn a_contact_of_two_boxes_lists_what_is_near() {
    let shapes = [Shape::Block(Block { centre: [0.0, 0.0, -0.5], ..Block::new([1.0, 1.0, 0.5]) }), cube(0.1)];
    let ground = Frame::ground();
    let (pair, exchanged) = between(&shapes[0], &shapes[1], (&ground, &ground)).unwrap();
    assert!(!exchanged);
    let all = Multibody::spatial()
        .gravity([0.0, 0.0, -G])
        .body(Body::new("box", 1.0, 0.01).at([0.0, 0.0, 0.3]))
        .contact(Contact::new("table", "ground", "box", pair).friction(0.3));
    let mut stepper = stepper(all.build().unwrap());
    assert!(stepper.labels().contacts.is_empty());
    let mut names = Vec::new();
    let last = run(&mut *stepper, 1e-3, 300, |stepper| {
        let reactions = stepper.reactions();
        names = (0..reactions.len()).map(|i| stepper.labels().contact(reactions.key(i))).collect();
    });
    assert_eq!(names.len(), 4);
    assert!(names.iter().all(|name| name.starts_with("table.")), "{names:?}");
    assert!((last.q[2] - 0.1).abs() < 3e-3 && last.v[2].abs() < 1e-12, "{last:?}");
}

/// A ball of 5 mm at 300 m/s and a plate of 2 mm, with steps in which it flies 0.3 m: wherever the plate is within a
/// step, the ball is stopped before it or a warning names the pair.
#[test]
fn a_bullet_does_not_pass_a_thin_plate_unseen() {
    let mut told = 0;
    for k in 0..20 {
        let x = 1.0 + 0.3 * f64::from(k) / 20.0;
        let plate = Shape::Block(Block { centre: [x, 0.0, 0.0], ..Block::new([0.001, 0.5, 0.5]) });
        let all = Multibody::spatial()
            .body(Body::new("bullet", 0.01, 1e-7).velocity([300.0, 0.0, 0.0]))
            .solid(Solid::new("ground", "plate", plate))
            .solid(Solid::new("bullet", "ball", ball(0.005)));
        let mut stepper = stepper(all.build().unwrap());
        let labels = stepper.labels().clone();
        let last = run(&mut *stepper, 1e-3, 10, |_| {});
        let mut warnings = Warnings::default();
        stepper.warnings(&mut warnings);
        let warnings = warnings.sorted();
        let warned = warnings.iter().find(|warning| warning.kind.name == "tunnelled");
        let is_through = last.q[0] > x;
        assert_eq!(is_through, warned.is_some(), "plate at {x}, ball at {}", last.q[0]);
        if let Some(warning) = warned {
            told += 1;
            assert_eq!(labels.contact(warning.contact.unwrap()), "ground/plate - bullet/ball");
        }
    }
    println!("{told} of 20 went through and were told");
    assert!(told > 0, "nothing went through: the test tells nothing");
}

/// A sphere of 0.1 m on a plane with rolling and spinning friction, by its material: closed forms of the six-row law.
fn rolled(
    gravity: [f64; 3],
    (mu, rolling, spinning): (f64, f64, f64),
    (v, spin): ([f64; 3], [f64; 3]),
    end: f64,
) -> State {
    let surface = Surface { friction: mu, rolling, spinning, ..Surface::default() };
    let all = Multibody::spatial()
        .gravity(gravity)
        .material("felt", surface)
        .body(Body::new("ball", 1.0, 0.4 * 0.01).at([0.0, 0.0, 0.1]).velocity(v).spin(spin))
        .solid(Solid::new("ground", "floor", floor()).material("felt"))
        .solid(Solid::new("ball", "ball", ball(0.1)).material("felt"));
    run(&mut *stepper(all.build().unwrap()), 1e-3, (end / 1e-3).round() as usize, |_| {})
}

#[test]
fn rolling_and_spinning_friction_have_their_closed_forms() {
    let down = [0.0, 0.0, -G];
    // v0, ω0 about y, μ, μ_r: where and when it rests
    for (v0, spin, mu, rolling, t, x) in [
        (2.0, 20.0, 0.2, 2e-3, 14.271151885831, 14.271151885831),
        (3.0, 0.0, 0.2, 2e-3, 15.290519878, 16.584333098),
        (2.0, 20.0, 0.01, 2e-3, 20.387359837, 20.387359837),
        (3.0, 0.0, 0.2, 0.025, 1.529051988, 2.293577982),
        (3.0, -20.0, 0.2, 5e-3, 5.137614679, 5.070602314),
    ] {
        let near = |end: f64| rolled(down, (mu, rolling, 0.0), ([v0, 0.0, 0.0], [0.0, spin, 0.0]), end);
        let last = near(t + 0.01);
        assert!(last.v.iter().all(|v| v.abs() < 1e-10), "{:?}", last.v);
        println!("{v0} {spin} {mu} {rolling}: off by {:e}", last.q[0] - x);
        // the step in which the spin changes its sign counts as one of slipping, at first order
        let tolerance = if spin < 0.0 { 7e-4 } else { 1e-6 };
        assert!((last.q[0] - x).abs() < tolerance, "{} and {x}", last.q[0]);
        assert!(near(t - 0.01).v[0] > 1e-4);
    }
    // v' = −c g/(1 + k) while it rolls
    let last = rolled(down, (0.2, 2e-3, 0.0), ([2.0, 0.0, 0.0], [0.0, 20.0, 0.0]), 1.0);
    assert!((last.v[0] - (2.0 - 0.140142857143)).abs() < 1e-11, "{}", last.v[0]);
    // all three at once, obliquely: a reference of two ordinary differential equations
    let oblique = |end: f64| rolled(down, (0.2, 2e-3, 1e-4), ([2.0, 0.0, 0.0], [20.0, 10.0, 5.0]), end);
    let off = |state: &State, x: [f64; 2]| (state.q[0] - x[0]).hypot(state.q[1] - x[1]);
    assert!(off(&oblique(0.5), [0.89285129, -0.18518081]) < 2e-5);
    let last = oblique(12.94);
    // it still spins about the normal
    assert!(last.v[..3].iter().all(|v| v.abs() < 1e-10), "{:?}", last.v);
    assert!(off(&last, [11.1977618, -3.5059672]) < 1e-3, "{:?}", last.q);
    // spin about the normal: ω' = −μ_s g/(k R²)
    let last = rolled(down, (0.2, 0.0, 1e-4), ([0.0; 3], [0.0, 0.0, 5.0]), 2.0);
    assert!((last.v[5] - (5.0 - 2.0 * 0.24525)).abs() < 1e-11, "{}", last.v[5]);
    // down a slope of 2 degrees, and at rest at 1 degree
    let slope = |degrees: f64| {
        let (s, c) = degrees.to_radians().sin_cos();
        rolled([G * s, 0.0, -G * c], (0.3, 2e-3, 0.0), ([0.0; 3], [0.0; 3]), 1.0).v[0]
    };
    assert!((slope(2.0) - 0.104488273136).abs() < 1e-11, "{}", slope(2.0));
    assert!(slope(1.0).abs() < 1e-13 && slope(1.1457).abs() < 1e-13 && slope(1.1458) > 1e-6);
}

/// Finding contacts and writing their rows for n³ balls that touch.
struct Packed {
    model: MultibodyModel,
    state: State,
    coupling: Coupling,
}

impl Packed {
    fn new(n: usize) -> Packed {
        let model = poured(n, 0.02).build().unwrap();
        let mut state = model.initial();
        // in touch with their neighbours
        state.q.chunks_exact_mut(7).for_each(|q| (0..3).for_each(|i| q[i] *= 2.0 / 2.2));
        let mut packed = Packed { model, state, coupling: Coupling::default() };
        packed.seconds(2);
        assert!(packed.coupling.len() > 2 * n * n * n, "{} contacts", packed.coupling.len());
        packed
    }

    /// Mean time of a few.
    fn seconds(&mut self, times: u32) -> f64 {
        let clock = std::time::Instant::now();
        for _ in 0..times {
            self.model.detect(&self.state, 1e-3).unwrap();
            self.model.couple(0.0, &self.state.q, &mut self.coupling).unwrap();
        }
        clock.elapsed().as_secs_f64() / f64::from(times)
    }
}

/// The speed of a machine wanders: both sizes take turns, for as long each, and the ratio in the middle counts.
#[test]
#[ignore = "long: measures time, alone on its machine"]
fn finding_contacts_is_linear_in_bodies() {
    let (mut small, mut large) = (Packed::new(5), Packed::new(22));
    let mut pairs: Vec<[f64; 2]> = (0..15).map(|_| [small.seconds(85), large.seconds(1)]).collect();
    pairs.sort_by(|a, b| (a[1] / a[0]).total_cmp(&(b[1] / b[0])));
    let [small, large] = pairs[7];
    let exponent = (large / small).ln() / (22f64 / 5.0).powi(3).ln();
    println!("{small:.3e} s for 125, {large:.3e} s for 10648 bodies: exponent {exponent:.3}");
    assert!(exponent <= 1.1, "exponent {exponent}");
}

/// Boxes that fall on each other, as boxes and as polyhedra by their corners: the same motion.
#[test]
fn polyhedra_with_the_corners_of_boxes_move_as_boxes() {
    let block = Block::new([0.1, 0.12, 0.08]);
    let corners: Vec<[f64; 3]> = (0..8).map(|k| block.corner(k)).collect();
    let hull = Shape::Convex(Convex::around(&corners).unwrap());
    let fallen = |shapes: [&Shape; 3]| {
        let mut all = Multibody::spatial().gravity([0.0, 0.0, -G]).material("wood", rough(0.4, 0.0));
        all = all.solid(Solid::new("ground", "floor", floor()).material("wood"));
        for (i, shape) in shapes.into_iter().enumerate() {
            let name = format!("b{i}");
            let at = [0.02 * i as f64, -0.03 * i as f64, 0.081 + 0.165 * i as f64];
            all = all
                .body(Body::new(&name, 1.0, 0.006).at(at))
                .solid(Solid::new(&name, "shape", shape.clone()).material("wood"));
        }
        let mut stepper = stepper(all.build().unwrap());
        run(&mut *stepper, 1e-3, 200, |_| {}).q
    };
    let block = Shape::Block(block);
    let boxes = fallen([&block; 3]);
    for shapes in [[&hull; 3], [&block, &hull, &block], [&hull, &block, &hull]] {
        let off = fallen(shapes).iter().zip(&boxes).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
        assert!(off < 1e-9, "{off:e}");
    }
    // they lie on each other, 0.16 m each, but for the way of an impact within a step
    for i in 0..3 {
        let height = boxes[7 * i + 2] - (0.08 + 0.16 * i as f64);
        assert!(height.abs() < 2e-4, "{height:e}");
    }
}
