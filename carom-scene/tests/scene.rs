//! Valid files build and step; overrides, sweeps, the schema and the columns do what they say.

use carom_scene::file::SIZE_LIMIT;
use carom_scene::scene::{Column, Quantity, ShapeKind};
use carom_scene::{Overrides, Scene, from_str, new_example, schema};
use carom_solve::Law;
use serde_json::Value;

fn build(text: &str) -> Scene {
    from_str("test.toml", text, &Overrides::default()).unwrap_or_else(|all| panic!("{}", all[0]))
}

fn override_with(text: &str, overrides: Overrides) -> Scene {
    from_str("test.toml", text, &overrides).unwrap_or_else(|all| panic!("{}", all[0]))
}

/// The last state of a run.
fn run(scene: &Scene) -> carom::State {
    let mut simulation = scene.simulation().unwrap();
    assert!(simulation.run(&mut []).unwrap());
    simulation.state().clone()
}

/// A block that slides on a floor until friction stops it.
const SLIDER: &str = r#"
version = 1
name = "slider"
[parameters]
mu = 0.3
speed = 2.0
gravity = 9.81
stop = "speed/(mu*gravity)"
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "gravity*y"
[[contact]]
name = "floor"
gap = "y"
friction = "mu"
slip = "x"
[initial]
"x'" = "speed"
[simulation]
end = "2*stop"
steps = 1000
"#;

/// Coulomb's law in closed form: the block stops after v²/(2 mu g).
#[test]
fn friction_stops_the_slider() {
    let scene = build(SLIDER);
    assert_eq!(scene.laws[0].law, Law::coulomb(0.3, 1));
    let end = run(&scene);
    let distance = 2.0 * 2.0 / (2.0 * 0.3 * 9.81);
    assert!((end.q[0] - distance).abs() < 1e-5 * distance, "{} {distance}", end.q[0]);
    assert!(end.v[0].abs() < 1e-12 && end.q[1].abs() < 1e-12);
    let columns: Vec<String> = scene.columns().into_iter().map(|(name, _)| name).collect();
    assert!(columns.contains(&"impulse.floor".into()) && columns.contains(&"impulse.floor.t1".into()));
}

#[test]
fn overrides_and_sweeps_change_parameters() {
    let set = |name: &str, value: &str| (name.to_string(), value.to_string());
    let overrides = Overrides {
        // `mu` stands above `gravity` in the file; a value from outside may use it nevertheless
        set: vec![set("mu", "gravity/100"), set("speed", "1e0")],
        scheme: Some("{ name = \"moreau-jean\", theta = 1 }".into()),
        solver: Some("nsgs".into()),
        step: Some(0.01.into()),
        end: Some(0.5),
        ..Overrides::default()
    };
    let scene = override_with(SLIDER, overrides);
    assert_eq!(scene.parameter("mu"), Some(0.0981));
    assert_eq!(scene.parameter("stop"), Some(1.0 / (0.0981 * 9.81)));
    assert_eq!((scene.span.step, scene.span.end, scene.span.steps()), (0.01, 0.5, 50));
    assert_eq!(scene.scheme.options["theta"], 1);
    assert_eq!((scene.solver.name.as_str(), scene.initial.v[0]), ("nsgs", 1.0));

    let swept = build(SLIDER).with(&[("mu", 0.6)]).unwrap();
    assert_eq!(swept.laws[0].law, Law::coulomb(0.6, 1));
    assert_eq!(
        swept.parameters.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["mu", "speed", "gravity", "stop"]
    );
    assert!((run(&swept).q[0] - 4.0 / (2.0 * 0.6 * 9.81)).abs() < 1e-4);
    assert!(swept.with(&[("mu", -1.0)]).is_err());
    assert!(swept.with(&[("nu", 1.0)]).is_err());
    assert!(swept.with(&[("mu", f64::NAN)]).is_err());
}

/// θ = 1/2 turns each mode by 2 atan(h ω/2) per step: the discrete motion of a linear model has a closed form.
#[test]
fn matrices_move_as_the_discrete_modes() {
    let text = r#"
version = 1
name = "two masses"
[parameters]
k = 1.0
[model]
kind = "linear"
mass = [[1, 0], [0, 1]]
stiffness = [["2*k", "-k"], ["-k", "2*k"]]
[initial]
q0 = 1.0
[simulation]
end = 10
steps = 1000
"#;
    let scene = build(text);
    assert_eq!(scene.coordinates, ["q0", "q1"]);
    let end = run(&scene);
    let angle = |frequency: f64| 1000.0 * 2.0 * (0.5 * 0.01 * frequency).atan();
    let (slow, fast) = (angle(1.0).cos(), angle(3.0f64.sqrt()).cos());
    assert!((end.q[0] - 0.5 * (slow + fast)).abs() < 1e-11, "{:?}", end.q);
    assert!((end.q[1] - 0.5 * (slow - fast)).abs() < 1e-11, "{:?}", end.q);
}

/// A resonance in closed form tells that forces of time reach their coordinate: x'' = cos t gives x = 1 − cos t.
#[test]
fn forces_of_time_act_on_their_coordinate() {
    let text = r#"
version = 1
name = "pushed"
[model]
kind = "linear"
coordinates = ["a", "b"]
mass = [[2, 0], [0, 1]]
force.b = "cos(t)"
[simulation]
end = "pi"
steps = 4000
"#;
    let end = run(&build(text));
    assert!(end.q[0] == 0.0 && (end.q[1] - 2.0).abs() < 1e-6, "{:?}", end.q);
}

#[test]
fn large_chains_load_quickly() {
    let text = r#"
version = 1
name = "long bar"
[parameters]
n = 100000
[model]
kind = "linear"
[model.chain]
elements = "n"
mass = [[2, 1], [1, 2]]
stiffness = [[1, -1], [-1, 1]]
[[contact]]
name = "wall"
gap = "q0 + 1 - 0.5*q99999 + t/4"
[initial]
q = 0.5
q0 = -1
q99999 = 0
"q'" = -0.25
"q7'" = 2
[simulation]
end = 0.1
step = 0.1
[output.columns]
stretch = "q100000 - q0"
[[expect]]
quantity = "final q50000"
value = 0.475
tolerance = 0.1
"#;
    let start = std::time::Instant::now();
    let scene = build(text);
    let took = start.elapsed();
    assert!(took.as_secs_f64() < 5.0, "{took:?}");
    println!("100000 elements load in {took:?}");
    assert_eq!(scene.initial.q[..3], [-1.0, 0.5, 0.5]);
    assert_eq!((scene.initial.v[7], scene.initial.v[8]), (2.0, -0.25));
    let mut model = scene.mechanical().unwrap();
    let mut coupling = carom::Coupling::default();
    model.couple(0.4, &scene.initial.q, &mut coupling).unwrap();
    assert!((coupling.pairs[0].gap - 0.1).abs() < 1e-15);
    let mut gradient = vec![0.0; 100_001];
    coupling.rows.add_row(0, 1.0, &mut gradient);
    assert_eq!((gradient[0], gradient[99_999], gradient.iter().sum::<f64>()), (1.0, -0.5, 0.5));
    assert_eq!(coupling.drift, [0.25]);
    let mut row = Vec::new();
    let mut stepper = scene.stepper().unwrap();
    scene.sampler(&[Column::Output(0), Column::Gap(0)]).sample(&mut *stepper, &mut row).unwrap();
    assert_eq!(row, [1.5, 0.0]);
}

/// A pendulum as a constraint: the projected velocity is tangential, and the energy stays.
#[test]
fn constraints_hold() {
    let text = r#"
version = 1
name = "pendulum"
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "x'^2 + y'^2/2"
potential = "y"
[[constraint]]
name = "rod"
value = "x - y + t"
[initial]
"x'" = 3
[simulation]
end = 1
step = 0.01
"#;
    let scene = build(text);
    assert_eq!((scene.laws[0].name.as_str(), scene.laws[0].law), ("rod", Law::EQUALITY));
    // M = diag(2, 1), C = (1, -1), drift 1: λ = (3 + 1)/(1/2 + 1), v = (3 - λ/2, λ)
    let lambda = 4.0 / 1.5;
    assert!((scene.initial.v[0] - (3.0 - 0.5 * lambda)).abs() < 1e-14, "{:?}", scene.initial.v);
    assert!((scene.initial.v[1] - lambda).abs() < 1e-14);
    assert!(scene.warnings.len() == 1 && scene.warnings[0].message.contains("4.0"));
    let end = run(&scene);
    assert!((end.q[0] - end.q[1] + 1.0).abs() < 1e-9, "{:?}", end.q);
}

#[test]
fn drawings_and_outputs_are_evaluated() {
    let text = r##"
version = 1
name = "drawn"
[parameters]
r = 0.5
[model]
kind = "lagrangian"
coordinates = ["x"]
kinetic = "x'^2/2"
[initial]
x = 2
"x'" = 3
[simulation]
end = 1
step = 0.1
[output.columns]
speed = "abs(x')"
late = "t + x"
[[draw.polygon]]
points = [[0, 0], [1, 0], ["x", 1]]
fill = "tomato"
[[draw.segment]]
from = [0, 0]
to = [1, 1]
width = 3
[[draw.circle]]
center = ["x", "t"]
radius = "r"
color = "#123"
name = "wheel"
[[draw.point]]
at = ["x", 0]
trace = true
"##;
    let scene = build(text);
    let drawing = scene.drawing.as_ref().unwrap();
    let kinds: Vec<ShapeKind> = drawing.shapes.iter().map(|shape| shape.kind).collect();
    assert_eq!(kinds, [ShapeKind::Polygon, ShapeKind::Segment, ShapeKind::Circle, ShapeKind::Point]);
    let moves: Vec<bool> = drawing.shapes.iter().map(|shape| shape.moves).collect();
    assert_eq!(moves, [true, false, true, true]);
    let mut evaluator = drawing.evaluator();
    let frame = evaluator.eval(7.0, &[2.0], &[3.0]);
    assert_eq!(frame[drawing.shapes[0].numbers.clone()], [0.0, 0.0, 1.0, 0.0, 2.0, 1.0]);
    assert_eq!(frame[drawing.shapes[2].numbers.clone()], [2.0, 7.0, 0.5]);
    assert_eq!((drawing.shapes[2].name.as_deref(), drawing.shapes[1].width), (Some("wheel"), Some(3.0)));
    assert!(drawing.shapes[3].trace);
    assert_eq!(scene.outputs.evaluator().eval(7.0, &[2.0], &[-3.0]), [3.0, 9.0]);
}

/// Units of coordinates, velocities, gaps and reactions follow from `[units]`, `[cyclic]` and the contact.
#[test]
fn units_and_places_of_contacts() {
    let text = r##"
version = 1
name = "units"
[parameters]
R = 0.5
[model]
kind = "lagrangian"
coordinates = ["x", "phi", "s"]
kinetic = "(x'^2 + phi'^2 + s'^2)/2"
[[contact]]
name = "stop"
gap = "1 - phi"
unit = "rad"
[[contact]]
name = "wall"
gap = "x + R"
at = ["x - R", "t + phi'"]
normal = ["cos(phi)", 2]
[cyclic]
phi = "2*pi"
[units]
x = "mm"
R = "dm"
tip = "m"
"v.s" = "furlong/s"
[simulation]
end = 1
step = 0.1
[output.columns]
tip = "x + phi"
[[draw.point]]
at = ["x", 0]
"##;
    let scene = build(&text.replace("gap = \"1 - phi\"", "gap = \"1 - sin(phi)\""));
    let unit = |name: &str| scene.units.get(name).map(String::as_str);
    assert_eq!((unit("q.x"), unit("v.x")), (Some("mm"), Some("mm/s")));
    assert_eq!((unit("q.phi"), unit("v.phi")), (Some("rad"), Some("rad/s")));
    assert_eq!((unit("q.s"), unit("v.s"), unit("output.tip")), (None, Some("furlong/s"), Some("m")));
    assert_eq!((unit("parameter.R"), carom::Subject::unit(&scene, "R")), (Some("dm"), Some("dm".to_owned())));
    assert_eq!((unit("gap.stop"), unit("impulse.stop"), unit("force.stop")), (Some("rad"), Some("N m s"), Some("N m")));
    // metres and newtons by themselves
    assert_eq!((unit("gap.wall"), unit("force.wall")), (None, None));
    let drawing = scene.drawing.as_ref().unwrap();
    let [place] = &drawing.places[..] else { panic!("{:?}", drawing.places) };
    let mut evaluator = drawing.evaluator();
    let frame = evaluator.eval(7.0, &[2.0, 0.0, 0.0], &[0.0, 3.0, 0.0]);
    assert_eq!((place.law, &frame[place.at.clone()]), (1, &[1.5, 10.0][..]));
    assert_eq!(frame[place.normal.clone().unwrap()], [1.0, 2.0]);
    assert_eq!(frame[drawing.shapes[0].numbers.clone()], [2.0, 0.0]);
    let circuit = "version = 1\nname = \"bridge\"\ninitial = { C = 10 }\nsimulation = { end = 1e-3, step = 1e-6 }\n\
                   [model]\nkind = \"circuit\"\ninductor = { L = [\"a\", \"b\", 1e-2] }\n\
                   capacitor = { C = [\"a\", \"b\", 1e-6] }\nresistor = { R = [\"p\", \"n\", 1e3] }\n\
                   diode = { D1 = [\"a\", \"p\"], D2 = [\"b\", \"p\"], D3 = [\"n\", \"a\"], D4 = [\"n\", \"b\"] }\n";
    let scene = build(circuit);
    let unit = |name: &str| scene.units.get(name).map(String::as_str);
    assert_eq!((unit("x.C"), unit("v.p"), unit("v.R"), unit("i.R")), (Some("V"), Some("V"), Some("V"), Some("A")));
    assert_eq!((unit("x.L"), unit("i.L"), unit("v.D4"), unit("i.D4")), (Some("A"), Some("A"), Some("V"), Some("A")));
    // a law joins a voltage and a current
    for diode in ["D1", "D2", "D3", "D4"] {
        let mut pair = [unit(&format!("y.{diode}")).unwrap(), unit(&format!("lambda.{diode}")).unwrap()];
        pair.sort_unstable();
        assert_eq!(pair, ["A", "V"]);
    }
}

#[test]
fn columns_have_their_names_and_values() {
    let scene = build(&new_example("ball"));
    let columns = scene.columns();
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "t",
            "q.y",
            "v.y",
            "gap.floor",
            "impulse.floor",
            "force.floor",
            "loss.impact",
            "energy.kinetic",
            "energy.potential",
            "energy.total",
            "output.momentum"
        ]
    );
    assert!(matches!(scene.expectations[0].quantity, Quantity::Sum(Column::Impulse { law: 0, row: 0 })));
    let all: Vec<Column> = columns.iter().map(|(_, column)| *column).collect();
    let mut row = Vec::new();
    let mut stepper = scene.stepper().unwrap();
    scene.sampler(&all).sample(&mut *stepper, &mut row).unwrap();
    // there is no force before the first step
    assert!(row.remove(5).is_nan());
    assert_eq!(row, [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 2.0, 0.0]);
    let reference = scene.reference.as_ref().unwrap();
    let (mut q, mut v) = ([0.0], [0.0]);
    reference.solution.at(1.25, &mut q, &mut v);
    assert_eq!(q[0], 0.1875);
}

#[test]
fn runs_are_deterministic() {
    let bits = |scene: &Scene| -> Vec<u64> {
        let end = run(scene);
        end.q.iter().chain(&end.v).map(|x| x.to_bits()).collect()
    };
    let scene = build(SLIDER);
    let first = bits(&scene);
    assert_eq!(first, bits(&scene));
    assert_eq!(first, bits(&build(SLIDER)));
    assert_eq!(first, bits(&scene.with(&[("mu", 0.3)]).unwrap()));
    let parallel = std::thread::scope(|scope| scope.spawn(|| bits(&scene)).join().unwrap());
    assert_eq!(first, parallel);
}

/// Follows references and alternatives of a schema to the properties of an object.
fn properties<'a>(root: &'a Value, schema: &'a Value, key: &str) -> Option<&'a Value> {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return properties(root, root.pointer(reference.strip_prefix('#')?)?, key);
    }
    if let Some(found) = schema.get("properties").and_then(|properties| properties.get(key)) {
        return Some(found);
    }
    if let Some(items) = schema.get("items") {
        return properties(root, items, key);
    }
    for choice in ["oneOf", "anyOf"] {
        let choices = schema.get(choice).and_then(Value::as_array);
        if let Some(found) = choices.into_iter().flatten().find_map(|choice| properties(root, choice, key)) {
            return Some(found);
        }
    }
    schema.get("additionalProperties").filter(|schema| schema.is_object())
}

fn check_keys(root: &Value, schema: &Value, value: &toml::Value, path: &str) {
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                let path = format!("{path}.{key}");
                let inner = properties(root, schema, key).unwrap_or_else(|| panic!("{path} is not in the schema"));
                check_keys(root, inner, value, &path);
            }
        }
        toml::Value::Array(items) => items.iter().for_each(|item| check_keys(root, schema, item, path)),
        _ => {}
    }
}

#[test]
fn the_schema_knows_every_key() {
    let schema = schema();
    let text = serde_json::to_string(&schema).unwrap();
    assert!(!text.contains("\"null\""), "TOML has no null");
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut texts = vec![new_example("ball"), SLIDER.to_string()];
    for name in ["bouncing-ball", "linear-oscillator", "rocking-block", "impacting-bar", "two-mass-chain"] {
        texts.push(std::fs::read_to_string(directory.join(name).with_extension("toml")).unwrap());
    }
    for text in texts {
        check_keys(&schema, &schema, &toml::from_str(&text).unwrap(), "file");
    }
    // every reference leads somewhere
    let mut stack = vec![&schema];
    while let Some(value) = stack.pop() {
        match value {
            Value::Object(object) => {
                if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
                    assert!(schema.pointer(reference.strip_prefix('#').unwrap()).is_some(), "{reference}");
                }
                stack.extend(object.values());
            }
            Value::Array(items) => stack.extend(items),
            _ => {}
        }
    }
    let scheme = schema.pointer("/$defs/scheme.moreau-jean").unwrap();
    assert_eq!(scheme["additionalProperties"], false);
    assert_eq!(scheme["properties"]["name"]["const"], "moreau-jean");
    for row in carom_solve::SOLVERS {
        assert!(schema["$defs"].get(format!("solver.{}", row.info.name)).is_some());
    }
    let root = schema["required"].as_array().unwrap();
    assert_eq!(*root, ["version", "name", "model", "simulation"]);
}

#[test]
fn the_size_limit_admits_large_files() {
    // 4 MiB hold a matrix of some hundred rows
    const { assert!(SIZE_LIMIT >= 500 * 500 * 8) };
    let row = |i: usize| -> String {
        let entries: Vec<&str> = (0..300).map(|j| if i == j { "2.000" } else { "0.000" }).collect();
        format!("[{}]", entries.join(","))
    };
    let matrix: Vec<String> = (0..300).map(row).collect();
    let text = format!(
        "version = 1\nname = \"large\"\n[model]\nkind = \"linear\"\nmass = [{}]\n[simulation]\nend = 1\nstep = 1\n",
        matrix.join(",\n")
    );
    assert_eq!(build(&text).coordinates.len(), 300);
}
