//! Mistakes in models of bodies, in the plane and in space.

use super::{LAGRANGIAN, check};
use carom_scene::{Overrides, from_str};

const PLANE: &str = r##"version = 1
name = "test"
[parameters]
l = 0.5
play = 1e-4
[model]
kind = "multibody"
dimension = 2
gravity = [0, -9.81]
[[body]]
name = "ground"
[[body.shape]]
kind = "plane"
name = "floor"
at = [0, -1]
normal = [0, 1]
[[body]]
name = "crank"
mass = 1.0
inertia = 0.1
position = ["l", 0]
velocity = [0, 0]
spin = 0
[[body.shape]]
kind = "disc"
name = "rim"
radius = 0.2
[[body]]
name = "rod"
mass = 1.0
inertia = 0.1
position = ["3*l", 0]
[[body.shape]]
kind = "box"
name = "box"
size = [0.4, 0.1]
[[joint]]
name = "drive"
kind = "revolute"
bodies = ["ground", "crank"]
at = [0, 0]
stops = { lower = -3, upper = 3, restitution = 0.2 }
friction = 0.01
[[joint]]
name = "pin"
kind = "revolute"
bodies = ["crank", "rod"]
at = ["2*l", 0]
[[spring]]
kind = "torsion"
joint = "drive"
stiffness = 1.0
damping = 0.1
[[load]]
body = "rod"
force = ["sin(t)", "-rod.y"]
torque = 0.1
[[motor]]
joint = "pin"
torque = "0.1 - pin.angle'"
[[contact]]
name = "touch"
a = "ground/floor"
b = "rod/box"
restitution = 0.5
friction = 0.3
[simulation]
end = 0.1
step = 0.01
[output.columns]
tip = "rod.x + cos(rod.angle)"
"##;

const SPACE: &str = r##"version = 1
name = "test"
[model]
kind = "multibody"
[[body]]
name = "arm"
mass = 1.0
inertia = [0.1, 0.2, 0.2]
position = [0.5, 0, 0]
attitude = { axis = [0, 0, 1], angle = 0.0 }
[[body]]
name = "hand"
mass = 1.0
inertia = [[0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2]]
position = [1.5, 0, 0]
[[joint]]
name = "shoulder"
kind = "revolute"
bodies = ["ground", "arm"]
at = [0, 0, 0]
axis = [0, 0, 1]
[[joint]]
name = "wrist"
kind = "spherical"
bodies = ["arm", "hand"]
at_a = [0.5, 0, 0]
at_b = [-0.5, 0, 0]
[simulation]
end = 0.1
step = 0.01
"##;

#[test]
fn the_models_without_mistakes_load() {
    for text in [PLANE, SPACE] {
        let scene = from_str("test.toml", text, &Overrides::default());
        let scene = scene.unwrap_or_else(|all| panic!("{}", all.iter().map(|e| format!("{e}\n")).collect::<String>()));
        let found: Vec<&str> = scene.warnings.iter().map(|warning| warning.message.as_str()).collect();
        assert!(found.iter().all(|message| message.contains("`play` is not used")), "{found:?}");
    }
}

#[test]
fn mistakes_in_bodies() {
    check(&[
        ("dimension", PLANE, "dimension = 2", "dimension = ‸4", "the dimension is 4", "2 for the plane"),
        ("gravity", PLANE, "[0, -9.81]", "‸[0, 0, -9.81]", "`gravity` has two components", ""),
        (
            "retraction",
            SPACE,
            "\"multibody\"",
            "\"multibody\"\nretraction = ‸\"caley\"",
            "unknown retraction",
            "cayley",
        ),
        ("length", PLANE, "dimension = 2", "dimension = 2\nlength = ‸-1", "not positive", ""),
        ("no mass", PLANE, "name = \"rod\"\nmass = 1.0", "name = ‸\"rod\"", "has no mass", "add mass"),
        ("no inertia", PLANE, "\"rod\"\nmass = 1.0\ninertia = 0.1", "‸\"rod\"\nmass = 1.0", "has no inertia", "add"),
        ("mass zero", PLANE, "mass = 1.0", "mass = ‸0", "the mass is 0, not positive", ""),
        ("mass negative", SPACE, "mass = 1.0", "mass = ‸-2", "the mass is -2, not positive", ""),
        ("mass unknown", PLANE, "mass = 1.0", "mass = \"‸m\"", "unknown name `m`", "[parameters]"),
        ("mass of time", PLANE, "mass = 1.0", "mass = \"‸t\"", "the time", ""),
        ("planar inertia", PLANE, "inertia = 0.1", "inertia = ‸[0.1, 0.1, 0.1]", "is one number", ""),
        ("inertia zero", PLANE, "inertia = 0.1", "inertia = ‸0", "not positive", ""),
        ("inertia count", SPACE, "[0.1, 0.2, 0.2]", "‸[0.1, 0.2]", "3 principal values or 3x3", ""),
        ("inertia symmetric", SPACE, "[[0.2, 0, 0]", "‸[[0.2, 0.1, 0]", "not symmetric", ""),
        ("inertia definite", SPACE, "[0.1, 0.2, 0.2]", "‸[0.1, -0.2, 0.2]", "not positive definite", "positive"),
        ("position count", PLANE, "[\"3*l\", 0]", "‸[\"3*l\", 0, 0]", "`position` has two components", ""),
        ("velocity count", PLANE, "velocity = [0, 0]", "velocity = ‸[0]", "`velocity` has two components", ""),
        ("spin count", PLANE, "spin = 0", "spin = ‸[0, 0, 1]", "`spin` is one number in the plane", ""),
        ("two spins", PLANE, "spin = 0", "spin = 0\nspin_world = ‸1", "either `spin` or `spin_world`", ""),
        ("angle in space", SPACE, "[1.5, 0, 0]", "[1.5, 0, 0]\nangle = ‸1", "has an `attitude`", "axis"),
        ("attitude in plane", PLANE, "spin = 0", "spin = 0\nattitude = ‸{ rpy = [0, 0, 1] }", "has an `angle`", ""),
        (
            "axis of attitude",
            SPACE,
            "axis = [0, 0, 1], angle",
            "axis = ‸[0, 0, 0], angle",
            "has no length",
            "direction",
        ),
        ("no angle", SPACE, "{ axis = [0, 0, 1], angle = 0.0 }", "{ axis = ‸[0, 0, 1] }", "needs an `angle`", ""),
        ("no axis", SPACE, "{ axis = [0, 0, 1], angle = 0.0 }", "{ angle = ‸1 }", "needs an `axis`", ""),
        (
            "quaternion",
            SPACE,
            "{ axis = [0, 0, 1], angle = 0.0 }",
            "{ quaternion = ‸[1, 0, 0] }",
            "four components",
            "",
        ),
        (
            "zero quaternion",
            SPACE,
            "{ axis = [0, 0, 1], angle = 0.0 }",
            "{ quaternion = ‸[0, 0, 0, 0] }",
            "no length",
            "",
        ),
        ("name twice", PLANE, "name = \"rod\"", "name = ‸\"crank\"", "taken by another body", "in line 18"),
        ("bad name", PLANE, "name = \"rod\"", "name = ‸\"a rod\"", "cannot name", "letters"),
        ("name of a number", PLANE, "name = \"rod\"", "name = ‸\"2\"", "cannot name a body", "begins with a letter"),
        ("ground moves", PLANE, "name = \"ground\"", "name = \"ground\"\nmass = ‸1", "does not move", ""),
        ("unknown key", PLANE, "position = [\"3*l\", 0]", "‸positon = [\"3*l\", 0]", "unknown key", "position"),
    ]);
}

#[test]
fn mistakes_in_shapes_and_contacts() {
    check(&[
        ("kind of shape", PLANE, "\"disc\"", "‸\"disk\"", "unknown kind of shape", "disc"),
        ("sphere in plane", PLANE, "\"disc\"", "‸\"sphere\"", "no sphere", "disc"),
        ("no radius", PLANE, "kind = \"disc\"\nname = \"rim\"\nradius = 0.2", "kind = ‸\"disc\"", "needs `radius`", ""),
        ("radius zero", PLANE, "radius = 0.2", "radius = ‸0", "the radius is 0, not positive", ""),
        (
            "key of another",
            PLANE,
            "radius = 0.2",
            "radius = 0.2\nsize = ‸[1, 1]",
            "a disc has no `size`",
            "it has radius",
        ),
        ("normal", PLANE, "normal = [0, 1]", "normal = ‸[0, 0]", "the normal has no length", ""),
        ("size", PLANE, "size = [0.4, 0.1]", "size = [0.4, ‸-0.1]", "is not positive", ""),
        ("size count", PLANE, "size = [0.4, 0.1]", "size = ‸[0.4]", "`size` has two components", ""),
        ("frame", PLANE, "radius = 0.2", "radius = 0.2\nframe = ‸\"space\"", "unknown frame", "world"),
        ("unknown body", PLANE, "\"rod/box\"", "‸\"red/box\"", "there is no body \"red\"", "rod"),
        ("unknown shape", PLANE, "\"rod/box\"", "‸\"rod/bix\"", "has no shape \"bix\"", "box"),
        ("no slash", PLANE, "\"rod/box\"", "‸\"rod\"", "does not name a shape", "body/shape"),
        ("same body", PLANE, "\"rod/box\"", "‸\"ground/floor\"", "both shapes belong", ""),
        ("missing side", PLANE, "name = \"touch\"\na = \"ground/floor\"", "name = ‸\"touch\"", "has no `a`", ""),
        ("restitution", PLANE, "restitution = 0.5", "restitution = ‸1.5", "outside of [0, 1]", ""),
        ("friction", PLANE, "friction = 0.3", "friction = ‸-0.3", "negative", ""),
        ("spinning", PLANE, "friction = 0.3", "friction = 0.3\nspinning = ‸0.1", "nothing spins", ""),
        ("gap", PLANE, "friction = 0.3", "friction = 0.3\ngap = ‸\"rod.y\"", "given by its shapes", "leave"),
        ("bodies elsewhere", LAGRANGIAN, "gap = \"y\"", "gap = \"y\"\na = ‸\"b/c\"", "kind \"multibody\"", ""),
    ]);
    // a box in a hole has no formulas
    let hole = PLANE.replace("kind = \"disc\"\nname = \"rim\"", "kind = \"hole\"\nname = \"rim\"");
    let found = super::errors(&hole.replace("a = \"ground/floor\"", "a = \"crank/rim\""));
    assert!(found.len() == 1 && (found[0].line, found[0].column) == (63, 5), "{found:?}");
    assert!(found[0].message.contains("make no pair"), "{found:?}");
    // two places penetrate: both are told at the contact
    let found = super::errors(&PLANE.replace("at = [0, -1]", "at = [0, 0]"));
    assert!(!found.is_empty() && found.iter().all(|error| error.line == 62 && error.column == 8), "{found:?}");
    assert!(found[0].message.contains("penetration of 5.0") && found[0].message.contains("`rod`"), "{found:?}");
}

const SOLIDS: &str = r##"version = 1
name = "test"
[model]
kind = "multibody"
gravity = [0, 0, -9.81]
[contacts]
material = "steel"
combine = "minimum"
exclude = [["top", "ground"], ["grains", "low/box"]]
[[material]]
name = "steel"
restitution = 0.1
friction = 0.3
rolling = 1e-3
spinning = 1e-4
density = 7800
[[material]]
name = "ice"
friction = 0.02
[[material_pair]]
materials = ["steel", "ice"]
friction = 0.01
[[body]]
name = "ground"
[[body.shape]]
kind = "plane"
name = "floor"
normal = [0, 0, 1]
[[body]]
name = "low"
position = [0, 0, 0.11]
[[body.shape]]
kind = "box"
name = "box"
size = [0.2, 0.2, 0.2]
attitude = { axis = [0, 0, 1], angle = 0.3 }
material = "steel"
[[body.shape]]
kind = "torus"
at = [0, 0, 0.3]
radius = 0.1
tube = 0.02
contact = false
density = 1000
[[body]]
name = "top"
mass = 1.0
inertia = [0.1, 0.1, 0.1]
position = [0, 0, 0.8]
[[body.shape]]
kind = "sphere"
name = "ball"
group = "grains"
radius = 0.1
material = "ice"
[simulation]
end = 0.01
step = 0.001
"##;

#[test]
fn shapes_that_touch_by_themselves_load() {
    let scene = from_str("test.toml", SOLIDS, &Overrides::default());
    let scene = scene.unwrap_or_else(|all| panic!("{}", all.iter().map(|e| format!("{e}\n")).collect::<String>()));
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
    // a cube of 8 litres and a torus of 2 π² R r²: the mass centre is between them
    let (cube, torus) = (7800.0 * 8e-3, 1000.0 * 2.0 * std::f64::consts::PI.powi(2) * 0.1 * 4e-4);
    let z = scene.initial.q[2];
    assert!((z - 0.11 - torus * 0.3 / (cube + torus)).abs() < 1e-15, "{z}");
}

#[test]
fn mistakes_in_contacts_that_come_by_themselves() {
    check(&[
        ("rule", SOLIDS, "\"minimum\"", "‸\"smallest\"", "unknown rule \"smallest\"", "geometric-mean"),
        (
            "default",
            SOLIDS,
            "[contacts]\nmaterial = \"steel\"",
            "[contacts]\nmaterial = ‸\"stel\"",
            "no material",
            "steel",
        ),
        (
            "excluded",
            SOLIDS,
            "[\"top\", \"ground\"]",
            "[‸\"tap\", \"ground\"]",
            "there is no body, group or shape",
            "top",
        ),
        ("three names", SOLIDS, "[\"top\", \"ground\"]", "[‸\"top\", \"ground\", \"low\"]", "two names, found 3", ""),
        ("of a shape", SOLIDS, "material = \"ice\"", "material = ‸\"icy\"", "there is no material \"icy\"", "ice"),
        ("restitution", SOLIDS, "restitution = 0.1", "restitution = ‸2", "outside of [0, 1]", ""),
        ("friction", SOLIDS, "friction = 0.02", "friction = ‸-1", "negative", ""),
        (
            "rolling",
            SOLIDS,
            "friction = 0.3\nrolling = 1e-3",
            "rolling = ‸1e-3",
            "rolling friction needs `friction`",
            "",
        ),
        ("density", SOLIDS, "density = 7800", "density = ‸0", "the density is 0, not positive", ""),
        (
            "twice",
            SOLIDS,
            "[[material_pair]]",
            "[[material]]\nname = ‸\"ice\"\n[[material_pair]]",
            "two materials with the name \"ice\"",
            "",
        ),
        (
            "one of a pair",
            SOLIDS,
            "[[material_pair]]\nmaterials = [\"steel\", \"ice\"]",
            "‸[[material_pair]]\nmaterials = [\"steel\"]",
            "a pair has two materials",
            "",
        ),
        (
            "unknown of a pair",
            SOLIDS,
            "[\"steel\", \"ice\"]",
            "[\"steel\", ‸\"snow\"]",
            "there is no material \"snow\"",
            "",
        ),
        ("tube", SOLIDS, "tube = 0.02", "tube = ‸0", "the radius of the tube is 0, not positive", ""),
        (
            "wide tube",
            SOLIDS,
            "kind = \"torus\"\nat = [0, 0, 0.3]\nradius = 0.1\ntube = 0.02",
            "kind = ‸\"torus\"\nat = [0, 0, 0.3]\nradius = 0.1\ntube = 0.2",
            "must be positive",
            "",
        ),
        (
            "tube of a sphere",
            SOLIDS,
            "radius = 0.1\nmaterial",
            "radius = 0.1\ntube = ‸0.1\nmaterial",
            "a sphere has no `tube`",
            "it has radius",
        ),
        (
            "attitude",
            SOLIDS,
            "axis = [0, 0, 1], angle = 0.3 }",
            "axis = ‸[0, 0, 0], angle = 0.3 }",
            "the axis has no length",
            "",
        ),
        (
            "mass and density",
            SOLIDS,
            "radius = 0.1\nmaterial",
            "radius = 0.1\ndensity = ‸5\nmaterial",
            "a mass of its own",
            "leave out",
        ),
        (
            "penetration",
            SOLIDS,
            "position = [0, 0, 0.11]\n[[body.shape]]\nkind = \"box\"",
            "position = [0, 0, 0.05]\n[[body.shape]]\nkind = ‸\"box\"",
            "begins with a penetration of 5.0",
            "exclude",
        ),
        (
            "speed of sleep",
            SOLIDS,
            "[contacts]\n",
            "[contacts]\nsleep = { speed = ‸0, after = 0.1 }\n",
            "the speed is 0, not positive",
            "",
        ),
        (
            "time of sleep",
            SOLIDS,
            "[contacts]\n",
            "[contacts]\nsleep = { speed = 1, after = ‸0.1 }\n",
            "longer than a body in free fall is slow",
            "",
        ),
        (
            "group without contacts",
            PLANE,
            "name = \"rim\"",
            "name = \"rim\"\ngroup = ‸\"g\"",
            "only where the file has [contacts]",
            "add [contacts]",
        ),
        (
            "materials elsewhere",
            LAGRANGIAN,
            "[[contact]]",
            "‸[[material]]\nname = \"x\"\n[[contact]]",
            "kind \"multibody\"",
            "",
        ),
    ]);
    // a thin disc on a box has no formulas
    let free = SOLIDS.replace("exclude = [[\"top\", \"ground\"], [\"grains\", \"low/box\"]]\n", "");
    let sphere = "kind = \"sphere\"\nname = \"ball\"\ngroup = \"grains\"\nradius = 0.1";
    assert!(free.contains(sphere));
    let found = super::errors(&free.replace(sphere, "kind = \"disc\"\nname = \"ball\"\nradius = 0.1"));
    assert!(found.len() == 1 && (found[0].line, found[0].column) == (50, 8), "{found:?}");
    assert!(found[0].message.contains("`low/box` and `top/ball` may touch"), "{found:?}");
    // two materials without a rule and without a pair
    let text = SOLIDS
        .replace("combine = \"minimum\"\n", "")
        .replace("materials = [\"steel\", \"ice\"]", "materials = [\"steel\", \"steel\"]");
    let found = super::errors(&text.replace("exclude = [[\"top\", \"ground\"], [\"grains\", \"low/box\"]]\n", ""));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].message.contains("nothing tells the coefficients between \"steel\" and \"ice\""), "{found:?}");
}

#[test]
fn mistakes_in_joints() {
    check(&[
        ("kind of joint", PLANE, "\"revolute\"", "‸\"revolut\"", "unknown kind of joint", "revolute"),
        ("spatial joint", PLANE, "\"revolute\"", "‸\"screw\"", "no screw joint in the plane", "planar joints"),
        ("body of a joint", PLANE, "[\"crank\", \"rod\"]", "[\"crank\", ‸\"rid\"]", "there is no body \"rid\"", "rod"),
        ("one body", PLANE, "[\"crank\", \"rod\"]", "[‸\"crank\"]", "two bodies are needed", ""),
        ("same bodies", PLANE, "[\"crank\", \"rod\"]", "[\"rod\", ‸\"rod\"]", "both bodies", "ground"),
        (
            "no point",
            PLANE,
            "kind = \"revolute\"\nbodies = [\"crank\", \"rod\"]\nat = [\"2*l\", 0]",
            "kind = ‸\"revolute\"\nbodies = [\"crank\", \"rod\"]",
            "needs `at`",
            "",
        ),
        ("point count", PLANE, "at = [\"2*l\", 0]", "at = ‸[\"2*l\"]", "`at` has two components", ""),
        ("axis in plane", PLANE, "at = [\"2*l\", 0]", "at = [\"2*l\", 0]\naxis = ‸[0, 0, 1]", "has no `axis`", ""),
        (
            "zero axis",
            SPACE,
            "axis = [0, 0, 1]\n[[joint]]",
            "axis = ‸[0, 0, 0]\n[[joint]]",
            "the axis has no length",
            "",
        ),
        (
            "no axis",
            SPACE,
            "kind = \"revolute\"\nbodies = [\"ground\", \"arm\"]\nat = [0, 0, 0]\naxis = [0, 0, 1]",
            "kind = ‸\"revolute\"\nbodies = [\"ground\", \"arm\"]\nat = [0, 0, 0]",
            "needs an `axis`",
            "",
        ),
        ("two points", PLANE, "at = [\"2*l\", 0]", "at = [\"2*l\", 0]\nat_a = ‸[0, 0]", "either `at`", ""),
        ("name of a body", PLANE, "name = \"pin\"", "name = ‸\"rod\"", "taken by another body", "line"),
        (
            "play zero",
            PLANE,
            "at = [\"2*l\", 0]",
            "at = [\"2*l\", 0]\nclearance = { radial = ‸0, radius = 0.01 }",
            "the play is 0, not positive",
            "",
        ),
        (
            "play of rounding",
            PLANE,
            "at = [\"2*l\", 0]",
            "at = [\"2*l\", 0]\nclearance = { radial = ‸1e-15, radius = 0.01 }",
            "below the rounding",
            "ideal",
        ),
        (
            "play and radius",
            PLANE,
            "at = [\"2*l\", 0]",
            "at = [\"2*l\", 0]\nclearance = { radial = \"play\", radius = ‸5e-5 }",
            "not larger than the play",
            "",
        ),
        (
            "no play",
            PLANE,
            "at = [\"2*l\", 0]",
            "at = [\"2*l\", 0]\nclearance = ‸{ radius = 0.01 }",
            "play is missing",
            "",
        ),
        (
            "play in a planar length",
            PLANE,
            "at = [\"2*l\", 0]",
            "at = [\"2*l\", 0]\nclearance = { radial = \"play\", radius = 0.01, length = ‸0.1 }",
            "only in space",
            "",
        ),
        (
            "fixed with play",
            SPACE,
            "kind = \"spherical\"",
            "kind = \"fixed\"\nclearance = ‸{ radial = 1e-4 }",
            "has no play",
            "revolute",
        ),
        (
            "bearing without radius",
            PLANE,
            "at = [\"2*l\", 0]",
            "at = [\"2*l\", 0]\nbearing = ‸{ friction = 0.1 }",
            "radius of the bearing is missing",
            "radius = 0.01",
        ),
        (
            "bearing without friction",
            PLANE,
            "at = [\"2*l\", 0]",
            "at = [\"2*l\", 0]\nbearing = ‸{ radius = 0.01 }",
            "the coefficient is missing",
            "",
        ),
        (
            "bearing of no radius",
            PLANE,
            "at = [\"2*l\", 0]",
            "at = [\"2*l\", 0]\nbearing = { friction = 0.1, radius = ‸0 }",
            "not positive",
            "",
        ),
        (
            "bearing that drives",
            PLANE,
            "at = [\"2*l\", 0]",
            "at = [\"2*l\", 0]\nbearing = { friction = ‸-0.1, radius = 0.01 }",
            "friction",
            "",
        ),
        (
            "bearing with play",
            PLANE,
            "at = [\"2*l\", 0]",
            "at = [\"2*l\", 0]\nclearance = { radial = \"play\", radius = 0.01 }\nbearing = ‸{ friction = 0.1, radius = 0.01 }",
            "has no `bearing`",
            "clearance",
        ),
        (
            "bearing of a ball",
            SPACE,
            "kind = \"spherical\"",
            "kind = \"spherical\"\nbearing = ‸{ friction = 0.1 }",
            "no friction that follows its load",
            "prismatic",
        ),
        ("stops", PLANE, "upper = 3,", "upper = ‸-4,", "not above the lower one", ""),
        (
            "no stops",
            PLANE,
            "stops = { lower = -3, upper = 3, restitution = 0.2 }",
            "stops = ‸{ restitution = 0.2 }",
            "`lower` or `upper`",
            "",
        ),
        (
            "stops of a kind",
            SPACE,
            "at_a = [0.5, 0, 0]",
            "stops = ‸{ lower = 0 }\nat_a = [0.5, 0, 0]",
            "no coordinate",
            "",
        ),
        ("friction of a joint", PLANE, "friction = 0.01", "friction = ‸-1", "negative", ""),
        (
            "two to gear",
            PLANE,
            "[[spring]]",
            "[[joint]]\nname = \"g\"\nkind = \"gear\"\njoints = [‸\"pin\"]\nratio = 2\n[[spring]]",
            "needs two `joints`",
            "",
        ),
        (
            "unknown to gear",
            PLANE,
            "[[spring]]",
            "[[joint]]\nname = \"g\"\nkind = \"gear\"\njoints = [\"pin\", ‸\"pen\"]\nratio = 2\n[[spring]]",
            "no joint \"pen\"",
            "pin",
        ),
    ]);
    // the joint that is open is named, with how far
    let found = super::errors(&SPACE.replace("at_b = [-0.5, 0, 0]", "at_b = [-0.4, 0, 0]"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].line, found[0].column), (23, 8));
    assert!(
        found[0].message.contains("1.000e-1") && found[0].hint.as_deref().unwrap_or_default().contains("[assemble]")
    );
}

#[test]
fn mistakes_in_springs_loads_and_motors() {
    check(&[
        ("kind of spring", PLANE, "\"torsion\"", "‸\"spiral\"", "unknown kind of spring", "torsion"),
        ("linear on an angle", PLANE, "\"torsion\"", "‸\"linear\"", "the joint `drive` turns", "torsion"),
        ("unknown joint", PLANE, "joint = \"drive\"", "joint = ‸\"drove\"", "no joint \"drove\"", "drive"),
        ("stiffness", PLANE, "stiffness = 1.0", "stiffness = ‸-1", "the stiffness is -1, negative", ""),
        (
            "nothing",
            PLANE,
            "kind = \"torsion\"\njoint = \"drive\"\nstiffness = 1.0\ndamping = 0.1",
            "kind = ‸\"torsion\"\njoint = \"drive\"",
            "does nothing",
            "",
        ),
        (
            "between nothing",
            PLANE,
            "kind = \"torsion\"\njoint = \"drive\"",
            "kind = ‸\"torsion\"",
            "between nothing",
            "",
        ),
        (
            "no points",
            PLANE,
            "kind = \"torsion\"\njoint = \"drive\"",
            "kind = ‸\"linear\"\nbetween = [\"ground\", \"rod\"]",
            "needs its points",
            "",
        ),
        ("body of a load", PLANE, "body = \"rod\"", "body = ‸\"rot\"", "no body \"rot\"", "rod"),
        ("load on ground", PLANE, "body = \"rod\"", "body = ‸\"ground\"", "does nothing", ""),
        ("force count", PLANE, "[\"sin(t)\", \"-rod.y\"]", "‸[\"sin(t)\"]", "`force` has 2 components", ""),
        ("torque count", PLANE, "torque = 0.1\n", "torque = ‸[0, 0, 0.1]\n", "`torque` has 1 component", ""),
        ("name in a load", PLANE, "\"-rod.y\"", "\"-‸rod.z\"", "unknown name `rod.z`", ""),
        (
            "no force",
            PLANE,
            "body = \"rod\"\nforce = [\"sin(t)\", \"-rod.y\"]\ntorque = 0.1",
            "body = ‸\"rod\"",
            "neither",
            "",
        ),
        (
            "spin in axes of the body in a load",
            SPACE,
            "[simulation]",
            "[[load]]\nbody = \"arm\"\nforce = [‸\"arm.spin_x\", 0, 0]\n[simulation]",
            "may not depend on `arm.spin_x`",
            "wx",
        ),
        (
            "motor does nothing",
            PLANE,
            "joint = \"pin\"\ntorque = \"0.1 - pin.angle'\"",
            "joint = ‸\"pin\"",
            "a motor has",
            "",
        ),
        ("motor twice", PLANE, "torque = \"0.1 - pin.angle'\"", "position = 0\ntorque = ‸0", "only one of", ""),
        (
            "motor of a place",
            PLANE,
            "torque = \"0.1 - pin.angle'\"",
            "velocity = ‸\"rod.x\"",
            "depends on rod.x",
            "t and",
        ),
        (
            "motor elsewhere",
            PLANE,
            "joint = \"pin\"\ntorque = \"0.1 - pin.angle'\"",
            "joint = ‸\"pin\"\nposition = 1",
            "beside what the motor prescribes",
            "",
        ),
        (
            "motor on a ball",
            SPACE,
            "[simulation]",
            "[[motor]]\njoint = ‸\"wrist\"\ntorque = 1\n[simulation]",
            "has no coordinate",
            "",
        ),
        ("output", PLANE, "\"rod.x + cos(rod.angle)\"", "\"‸rad.x\"", "unknown name `rad.x`", "rod.x"),
        ("initial", PLANE, "[simulation]", "[initial]\n‸x = 1\n[simulation]", "where its bodies are drawn", "position"),
        (
            "constraint",
            PLANE,
            "[simulation]",
            "‸[[constraint]]\nname = \"c\"\nvalue = \"rod.x\"\n[simulation]",
            "[[joint]]s",
            "",
        ),
        ("unit", PLANE, "[simulation]", "[units]\nlength = ‸\"ft\"\n[simulation]", "not a unit of length", "mm"),
        ("range", PLANE, "name = \"rod\"", "name = \"rod\"\nfor = { i = ‸\"3\" }", "is not a range", "1..n"),
        ("running name", PLANE, "name = \"rod\"", "name = \"rod\"\nfor = { ‸l = \"1..1\" }", "a parameter as well", ""),
        (
            "end of a range",
            PLANE,
            "name = \"rod\"",
            "name = \"rod\"\nfor = { i = \"1..‸l\" }",
            "not at a whole number",
            "",
        ),
        ("brace", PLANE, "name = \"rod\"", "name = ‸\"rod{i\"", "not closed", ""),
        ("tolerance", PLANE, "[simulation]", "[assemble]\ntolerance = ‸0\n[simulation]", "the tolerance is 0", ""),
        ("bodies elsewhere", LAGRANGIAN, "[initial]", "‸[[body]]\nname = \"a\"\n[initial]", "kind \"multibody\"", ""),
    ]);
}

#[test]
fn mistakes_in_polygons_and_polyhedra() {
    let dented = "kind = ‸\"polygon\"\nname = \"box\"\npoints = [[0, 0], [1, 0], [0.2, 0.2], [0, 1]]";
    let points = "[[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]";
    let convex = |mark: &str, points: &str| {
        format!("kind = {mark}\"convex\"\nname = \"ball\"\ngroup = \"grains\"\npoints = {points}")
    };
    let ball = "kind = \"sphere\"\nname = \"ball\"\ngroup = \"grains\"\nradius = 0.1";
    let (few, flat) = (convex("‸", "[[0, 0, 0], [1, 0, 0], [0, 1, 0]]"), convex("‸", &points.replace("0.1]]", "0]]")));
    let good = SOLIDS.replace(ball, &convex("", points));
    assert!(from_str("test.toml", &good, &Overrides::default()).is_ok());
    let block = "kind = \"box\"\nname = \"box\"\nsize = [0.4, 0.1]";
    let drawn = PLANE.replace(block, &dented.replace('‸', ""));
    let (before, rest) = PLANE.split_once("[[contact]]").unwrap();
    let with_contacts = format!("{before}[contacts]\n[{}", rest.split_once("\n[").unwrap().1);
    check(&[
        ("dented", &with_contacts, block, dented, "not convex at point 3: with [contacts]", "contact = false"),
        (
            "dented contact",
            &drawn,
            "a = \"ground/floor\"",
            "a = ‸\"ground/floor\"",
            "not convex at point 3: it touches nothing",
            "convex polygons",
        ),
        ("few", SOLIDS, ball, &few, "3 points have no inside", "four or more points"),
        ("flat", SOLIDS, ball, &flat, "no volume between them", "not in one plane"),
        (
            "in the plane",
            PLANE,
            block,
            "kind = ‸\"convex\"\nname = \"box\"\npoints = [[0, 0], [1, 0], [0, 1]]",
            "a planar body has no convex",
            "polygon",
        ),
        (
            "no points",
            SOLIDS,
            ball,
            "kind = ‸\"convex\"\nname = \"ball\"\ngroup = \"grains\"",
            "a convex needs `points`",
            "",
        ),
    ]);
}
