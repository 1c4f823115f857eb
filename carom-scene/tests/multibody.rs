//! Models of bodies from files: examples, parameters, units, repeated parts, names in expressions, drawings.

use std::ops::ControlFlow;

use carom::multibody::pair::Shape;
use carom_scene::examples;
use carom_scene::scene::{Form, SpacePoint};
use carom_scene::{Overrides, Scene, from_str};

fn load(name: &str) -> Scene {
    let scene = examples::load(name, &Overrides::default()).unwrap_or_else(|| panic!("no example {name}"));
    scene.unwrap_or_else(|all| panic!("{}", all.iter().map(|e| format!("{e}\n")).collect::<String>()))
}

/// Runs an example and tells what it misses.
fn misses(name: &str) -> Vec<String> {
    let scene = load(name);
    let mut found: Vec<String> = scene.warnings.iter().map(ToString::to_string).collect();
    let start = std::time::Instant::now();
    let mut watch = scene.watch();
    if let Err(error) = scene.simulation().unwrap().run(&mut [&mut watch]) {
        println!("{name}: {error}");
        found.push(format!("{name}: {error}"));
        return found;
    }
    println!("{name}: {:.2} s", start.elapsed().as_secs_f64());
    for outcome in watch.outcomes() {
        let e = &outcome.expectation;
        println!("{name}: {} is {:.9e}, expected {:.9e} ± {:.1e}", e.text, outcome.actual, e.value, e.tolerance);
        if !outcome.holds {
            found.push(format!("{name}: {} is {:e}, expected {:e}", e.text, outcome.actual, e.value));
        }
    }
    found
}

#[test]
fn examples_of_bodies_reproduce_their_numbers() {
    let names: Vec<&str> = examples::EXAMPLES
        .iter()
        .filter(|(_, text)| text.contains("kind = \"multibody\""))
        .map(|(name, _)| *name)
        .collect();
    assert!(names.len() >= 10, "{names:?}");
    let found: Vec<String> = names.iter().flat_map(|name| misses(name)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The last state of a text.
fn end(text: &str) -> Vec<f64> {
    let scene = from_str("test.toml", text, &Overrides::default());
    let scene = scene.unwrap_or_else(|all| panic!("{}", all.iter().map(|e| format!("{e}\n")).collect::<String>()));
    let mut simulation = scene.simulation().unwrap();
    simulation.run(&mut []).unwrap();
    simulation.state().q.clone()
}

const PENDULUM: &str = r#"version = 1
name = "pendulum"
[parameters]
l = 0.5
k = 0.3
[model]
kind = "multibody"
dimension = 2
gravity = [0, -9.81]
[[body]]
name = "rod"
mass = 2.0
inertia = "0.04"
position = ["l", 0]
[[joint]]
name = "hinge"
kind = "revolute"
bodies = ["ground", "rod"]
at = [0, 0]
[[spring]]
kind = "torsion"
joint = "hinge"
stiffness = "k"
[simulation]
end = 0.3
step = 1e-3
[output.columns]
angle = "hinge.angle"
rate = "hinge.angle'"
"#;

/// The same pendulum in millimetres, grams and degrees, and in metres.
#[test]
fn units_of_a_file_are_converted() {
    let metres =
        PENDULUM.replace("[\"l\", 0]", "[\"l\", 0]\nspin = 1.5707963267948966\nvelocity = [0, 0.7853981633974483]");
    let other = metres
        .replace("l = 0.5", "l = 500")
        .replace("mass = 2.0", "mass = 2000")
        .replace("inertia = \"0.04\"", "inertia = \"0.04*1e9\"")
        .replace("spin = 1.5707963267948966", "spin = 90")
        .replace("velocity = [0, 0.7853981633974483]", "velocity = [0, 785.3981633974483]")
        .replace("[simulation]", "[units]\nlength = \"mm\"\nmass = \"g\"\nangle = \"deg\"\n[simulation]");
    for (a, b) in end(&metres).iter().zip(end(&other)) {
        assert!((a - b).abs() < 1e-11, "{a} {b}");
    }
}

/// Copies of a table are what the tables written out would be.
#[test]
fn repeated_parts_are_copies() {
    let repeated = PENDULUM
        .replace("name = \"rod\"", "name = \"rod{i}\"\nfor = { i = \"1..n\" }")
        .replace("k = 0.3", "k = 0.3\nn = 2");
    let repeated = repeated
        .replace("[\"l\", 0]", "[\"i*l\", \"1 - i\"]")
        .replace("name = \"hinge\"", "name = \"hinge{i}\"\nfor = { i = \"1..n\" }")
        .replace("[\"ground\", \"rod\"]", "[\"ground\", \"rod{i}\"]")
        .replace("joint = \"hinge\"", "joint = \"hinge{3 - i}\"\nfor = { i = \"1..n\" }")
        .replace("\"k\"", "\"i*k\"")
        .replace("\"hinge.angle\"", "\"hinge1.angle\"")
        .replace("\"hinge.angle'\"", "\"hinge2.angle'\"");
    let state = end(&repeated);
    assert_eq!(state.len(), 6);
    // each of them alone; springs are crossed: rod 1 has 2 k, rod 2 has k
    let first = end(&PENDULUM.replace("k = 0.3", "k = 0.6"));
    let second = end(&PENDULUM.replace("[\"l\", 0]", "[\"2*l\", -1]"));
    for (a, b) in state.iter().zip(first.iter().chain(&second)) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
}

/// Another play needs nothing new but numbers; another length needs new expressions. Both are what a new file would be.
#[test]
fn parameters_are_swept_without_compiling() {
    let scene = load("slider-crank-play");
    let before = carom_scene::expression::compiled();
    let wide = scene.with(&[("play", 1e-3)]).unwrap();
    assert_eq!(carom_scene::expression::compiled(), before);
    assert_eq!(wide.parameter("play"), Some(1e-3));
    for play in [1e-4, 1e-3, 5e-3] {
        let mut simulation = scene.with(&[("play", play)]).unwrap().simulation().unwrap();
        simulation
            .advance_to(5e-3, &mut |_| ControlFlow::Continue(()))
            .unwrap_or_else(|error| panic!("play {play}: {error}"));
    }
    let longer = scene.with(&[("l1", 0.16)]).unwrap();
    assert!((longer.initial.q[0] - 0.08).abs() < 1e-15);
}

/// The latch of the breaker holds by friction from 0.1156 on, and a weak magnet does not open it (equilibrium of the
/// hook; independent implementation).
#[test]
fn the_breaker_holds_and_opens_as_its_latch_says() {
    let angle = |set: &[(&str, f64)]| {
        let scene = load("circuit-breaker").with(set).unwrap();
        let mut simulation = scene.simulation().unwrap();
        simulation.advance_to(0.02, &mut |_| ControlFlow::Continue(())).unwrap();
        let lever = scene.coordinates.iter().position(|name| name == "lever.angle").unwrap();
        simulation.state().q[lever]
    };
    assert!(angle(&[("Fm", 0.0)]).abs() < 1e-12);
    assert!(angle(&[("Fm", 0.0), ("latch", 0.12)]).abs() < 1e-12);
    assert!(angle(&[("Fm", 0.0), ("latch", 0.11)]) < -0.3);
    assert!(angle(&[("Fm", 3.0)]).abs() < 1e-12);
}

/// Iterates of Newton's loop jump from one side of the solution to the other: the direction of a pin in its hole turns
/// with them, and of two balls side by side now this one is pressed, now that one.
#[test]
fn iterates_that_jump_over_the_solution_converge() {
    let crank = load("slider-crank-play").with(&[("play", 1e-3)]).unwrap();
    let mut simulation = crank.simulation().unwrap();
    simulation.advance_to(2e-3, &mut |_| ControlFlow::Continue(())).unwrap();

    // here the plain loop of Moreau-Jean comes no nearer than 1e-6
    let overrides = Overrides {
        scheme: Some("moreau-jean".to_string().into()),
        step: Some(2e-5.into()),
        set: vec![("play".to_string(), "1e-4".to_string())],
        ..Overrides::default()
    };
    let crank = examples::load("slider-crank-play", &overrides).unwrap().unwrap();
    let mut simulation = crank.simulation().unwrap();
    simulation.advance_to(2e-3, &mut |_| ControlFlow::Continue(())).unwrap();

    let overrides = Overrides { scheme: Some("combined-projection".to_string().into()), ..Overrides::default() };
    let breaker = examples::load("circuit-breaker-3d", &overrides).unwrap().unwrap();
    let mut watch = breaker.watch();
    breaker.simulation().unwrap().run(&mut [&mut watch]).unwrap();
    for outcome in watch.outcomes() {
        let e = &outcome.expectation;
        assert!(outcome.holds, "{} is {:e}, expected {:e}", e.text, outcome.actual, e.value);
    }
}

/// In the plane shapes are a drawing; in space they are told as they are, in axes of their bodies.
#[test]
fn shapes_are_drawn_without_a_table() {
    let planar = load("cam-follower");
    assert!(planar.space().is_none());
    let drawing = planar.drawing.as_ref().unwrap();
    assert!(drawing.shapes.iter().any(|shape| shape.name.as_deref() == Some("cam") && shape.moves));
    let mut evaluator = drawing.evaluator();
    let numbers = evaluator.eval(0.0, &planar.initial.q, &planar.initial.v);
    // the rim of the cam: centre and radius
    assert_eq!(&numbers[..3], [0.005, 0.0, 0.02]);
    let spatial = load("free-body");
    assert!(spatial.drawing.is_none());
    let space = spatial.space().unwrap();
    let names: Vec<&str> = space.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["ground", "nut"]);
    let Form::Touching(Shape::Block(block)) = &space.bodies[1].shapes[0].form else { panic!("{:?}", space.bodies[1]) };
    assert_eq!(block.half, [1.0, 0.5, 0.2]);
}

/// Points and axes of joints are in axes of their bodies, whatever axes the file draws them in.
#[test]
fn joints_are_told_in_axes_of_their_bodies() {
    let space = load("double-pendulum-3d").space().unwrap();
    let [hinge, elbow] = &space.joints[..] else { panic!("{:?}", space.joints) };
    let point = |body, at| SpacePoint { body, at };
    assert_eq!(hinge.ends, [point(0, [0.0; 3]), point(1, [-0.5, 0.0, 0.0])]);
    assert_eq!(elbow.ends, [point(1, [0.5, 0.0, 0.0]), point(2, [0.0, -0.5, 0.0])]);
    assert_eq!((hinge.kind, hinge.axis, elbow.axis), ("revolute", Some([0.0, 1.0, 0.0]), Some([1.0, 0.0, 0.0])));
}

/// A body without shapes is a point with lines to its joints.
#[test]
fn bare_bodies_are_drawn_by_their_joints() {
    let scene = from_str("test.toml", PENDULUM, &Overrides::default()).unwrap();
    let drawing = scene.drawing.as_ref().unwrap();
    assert_eq!(drawing.shapes.len(), 2);
    let numbers = drawing.evaluator().eval(0.0, &scene.initial.q, &scene.initial.v).to_vec();
    assert_eq!(numbers, [0.5, 0.0, 0.5, 0.0, 0.0, 0.0]);
}

/// A wheel without shapes that only turns with another joint is the rotor of a drive: its shaft is not drawn.
#[test]
fn rotors_of_drives_are_not_drawn() {
    let text = r#"
version = 1
name = "arm"
[model]
kind = "multibody"
[[body]]
name = "arm"
mass = 1
inertia = [1, 1, 1]
position = [1, 0, 0]
[[body.shape]]
kind = "sphere"
radius = 0.1
[[body]]
name = "rotor"
mass = 1
inertia = [0.01, 0.01, 0.01]
[[body]]
name = "bob"
mass = 1
inertia = [1, 1, 1]
position = [0, 0, -1]
[[joint]]
name = "hip"
kind = "revolute"
bodies = ["ground", "arm"]
at = [0, 0, 0]
axis = [0, 0, 1]
[[joint]]
name = "hip-shaft"
kind = "revolute"
bodies = ["ground", "rotor"]
at = [0, 0, 0]
axis = [0, 0, 1]
[[joint]]
name = "hip-gear"
kind = "gear"
joints = ["hip-shaft", "hip"]
ratio = 1
[[joint]]
name = "string"
kind = "revolute"
bodies = ["ground", "bob"]
at = [0, 0, 0]
axis = [0, 1, 0]
[simulation]
end = 1
step = 0.1
"#;
    let scene = carom_scene::from_str("arm.toml", text, &carom_scene::Overrides::default()).unwrap();
    let space = scene.space().unwrap();
    let names: Vec<&str> = space.joints.iter().map(|joint| joint.name.as_str()).collect();
    assert_eq!(names, ["hip", "string"]);
}

const GENEVA: &str = r#"version = 1
name = "geneva"
[parameters]
c = 60
a = "c/sqrt(2)"
play = 0.05
w = "3 + play"
om = 6.283185307179586
s = "sin(pi/4)"
inner = "c - a - 4"
outer = "c/sqrt(2)"
[units]
length = "mm"
mass = "g"
[model]
kind = "multibody"
dimension = 2
[[body]]
name = "driver"
mass = 200
inertia = 1e5
position = [0, 0]
angle = -0.9
spin = "om"
[[body.shape]]
kind = "disc"
name = "pin"
at = ["a", 0]
radius = 3
[[body]]
name = "wheel"
mass = 150
inertia = 1e5
position = ["c", 0]
[[body.shape]]
kind = "segment"
name = "wall1"
ends = [["(w - inner)*s", "-(w + inner)*s"], ["(w - outer)*s", "-(w + outer)*s"]]
[[body.shape]]
kind = "segment"
name = "wall2"
ends = [["-(w + inner)*s", "(w - inner)*s"], ["-(w + outer)*s", "(w - outer)*s"]]
[[joint]]
name = "drive"
kind = "revolute"
bodies = ["ground", "driver"]
at = [0, 0]
[[joint]]
name = "shaft"
kind = "revolute"
bodies = ["ground", "wheel"]
at = ["c", 0]
friction = 0.02
[[motor]]
joint = "drive"
velocity = "om"
[[contact]]
name = "wall{i}"
for = { i = "1..2" }
a = "wheel/wall{i}"
b = "driver/pin"
friction = 0.05
[simulation]
end = 0.35
step = 1e-4
"#;

/// A pin turns a Geneva wheel by a quarter, leaves it, and the wheel rests: velocities change by the last bit that
/// numbers have then.
#[test]
fn a_geneva_wheel_turns_by_a_quarter() {
    let scene = from_str("geneva.toml", GENEVA, &Overrides::default());
    let scene = scene.unwrap_or_else(|all| panic!("{}", all.iter().map(|e| format!("{e}\n")).collect::<String>()));
    let (mut simulation, mut worst) = (scene.simulation().unwrap(), 0.0f64);
    let (distance, quarter) = (0.06f64, std::f64::consts::FRAC_PI_4);
    let arm = distance / 2f64.sqrt();
    let run = simulation.advance_to(0.35, &mut |view| {
        let (driver, wheel) = (view.to().q[2], view.to().q[5]);
        // the pin seen from the shaft of the wheel: the slot points there, up to its play
        let [x, y] = [arm * driver.cos() - distance, arm * driver.sin()];
        let exact = y.atan2(x).rem_euclid(8.0 * quarter) - 5.0 * quarter;
        if driver.abs() < quarter - 0.02 {
            worst = worst.max((wheel - exact).abs() * x.hypot(y));
        }
        ControlFlow::Continue(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
    assert!(worst > 2e-5 && worst < 5.1e-5, "{worst:e}");
    let turned = simulation.state().q[5];
    assert!((turned + 2.0 * quarter).abs() < 2e-3, "{turned}");
}
