//! Angles that turn and coordinates that drift.

use super::model::{load, strobe};
use carom::{State, Subject};
use carom_analysis::study::orbit::{Case, Options, Orbit, Period, Section, Stability, find};
use carom_analysis::study::runner::Run;
use carom_analysis::study::{Cyclic, find as study};
use carom_scene::Scene;
use serde_json::json;
use std::f64::consts::TAU;
use std::sync::Arc;

/// A damped pendulum under a torque of period T; forced strongly enough it turns once per period, either way.
const PENDULUM: &str = r#"
version = 1
name = "turning pendulum"
[parameters]
b = 0.5
a = 1.4
om = "2/3"
period = "2*pi/om"
[model]
kind = "lagrangian"
coordinates = ["x"]
kinetic = "x'^2/2"
potential = "-cos(x)"
force.x = "-b*x' + a*cos(om*t)"
[cyclic]
x = "2*pi"
[initial]
"x'" = 2.0
[simulation]
end = "period"
step = "period/100"
"#;

/// Runge-Kutta of order 4 over one period of the pendulum: a reference of its own.
fn round(x: [f64; 2]) -> [f64; 2] {
    let om = 2.0 / 3.0;
    let (steps, period) = (4000, TAU / om);
    let rate = |t: f64, x: [f64; 2]| [x[1], -x[0].sin() - 0.5 * x[1] + 1.4 * (om * t).cos()];
    let h = period / f64::from(steps);
    (0..steps).fold(x, |x, k| {
        let t = h * f64::from(k);
        let along = |k: [f64; 2], s: f64| [x[0] + s * k[0], x[1] + s * k[1]];
        let k1 = rate(t, x);
        let k2 = rate(t + 0.5 * h, along(k1, 0.5 * h));
        let k3 = rate(t + 0.5 * h, along(k2, 0.5 * h));
        let k4 = rate(t + h, along(k3, h));
        std::array::from_fn(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]))
    })
}

fn rotation(scene: &Scene, start: [f64; 2]) -> Orbit {
    // the motion settles first
    let mut x = start;
    (0..60).for_each(|_| x = round(x));
    let guess = State::new(0.0, &[x[0] - TAU * (x[0] / TAU).round()], &[x[1]]);
    let mut case = Case { cyclic: Cyclic::of(scene), ..strobe(scene, &[]) };
    find(&mut case, 0.0, &guess, &Options::new(1)).unwrap()
}

#[test]
fn rotations_are_orbits() {
    let scene = load(PENDULUM);
    let orbits: Vec<Orbit> = [[0.0, 2.0], [0.0, 0.0]].map(|start| rotation(&scene, start)).to_vec();
    let mut turns: Vec<f64> = Vec::new();
    for orbit in &orbits {
        let x = [orbit.state[0], orbit.state[1]];
        let image = round(x);
        let gain = orbit.advance[0].1;
        assert!((image[0] - x[0] - gain).abs() < 1e-8 && (image[1] - x[1]).abs() < 1e-8, "{x:?} {image:?}");
        assert!((gain.abs() - TAU).abs() < 1e-8, "{gain}");
        assert_eq!(orbit.stability, Stability::Stable);
        // multipliers by differences: their product and sum
        let d = 1e-5;
        let column = |i: usize| {
            let (mut p, mut m) = (x, x);
            (p[i], m[i]) = (x[i] + d, x[i] - d);
            let (p, m) = (round(p), round(m));
            [(p[0] - m[0]) / (2.0 * d), (p[1] - m[1]) / (2.0 * d)]
        };
        let (a, b) = (column(0), column(1));
        let (trace, determinant) = (a[0] + b[1], a[0] * b[1] - a[1] * b[0]);
        let sum: f64 = orbit.multipliers.iter().map(|z| z.0).sum();
        let [z, w] = [orbit.multipliers[0], orbit.multipliers[1]];
        assert!((sum - trace).abs() < 1e-5 && (z.0 * w.0 - z.1 * w.1 - determinant).abs() < 1e-5, "{trace} {sum}");
        turns.push(gain);
    }
    // two of them, mirror images
    assert!(turns[0] * turns[1] < 0.0, "{turns:?}");
}

fn run(name: &str, text: &str, options: serde_json::Value) -> serde_json::Value {
    let scene: Arc<dyn Subject> = Arc::new(carom_scene::from_str("test.toml", text, &Default::default()).unwrap());
    let ran = study(name).unwrap().run(&options, scene, &Run::default()).unwrap_or_else(|e| panic!("{e}"));
    ran.document.unwrap().json()
}

#[test]
fn basins_and_diagrams_know_whole_turns() {
    let options = json!({ "x": "x=-3:3:4", "y": "x'=-2:2:4", "transient": 60, "tolerance": 1e-3 });
    let found = run("basin", PENDULUM, options);
    let attractors = found["attractors"].as_array().unwrap();
    assert_eq!(attractors.len(), 2, "{attractors:?}");
    assert!(attractors.iter().all(|a| a["period"] == 1), "{attractors:?}");
    let rows = run("bifurcation", PENDULUM, json!({ "parameter": "a=1.4,1.41", "transient": 60, "periods": 20 }));
    for row in rows.as_array().unwrap() {
        assert_eq!(row["period"], 1, "{row}");
        assert!(row["points"].as_array().unwrap().iter().all(|x| x.as_f64().unwrap().abs() <= 0.5 * TAU), "{row}");
    }
}

/// Without `[cyclic]` a turning pendulum never comes back: the study says which coordinate goes on, by how much, and
/// what to write. A motion that swings, or none that repeats, has nothing of it.
#[test]
fn basins_tell_what_turns() {
    let told = |text: &str, x: &str| -> Vec<String> {
        let scene: Arc<dyn Subject> = Arc::new(carom_scene::from_str("test.toml", text, &Default::default()).unwrap());
        let options = json!({ "x": x, "y": "x'=-2:2:4", "transient": 60, "tolerance": 1e-3 });
        let ran = study("basin").unwrap().run(&options, scene, &Run::default()).unwrap_or_else(|e| panic!("{e}"));
        ran.document.unwrap().warnings
    };
    let plain = PENDULUM.replace("[cyclic]\nx = \"2*pi\"\n", "");
    assert_ne!(plain, PENDULUM);
    let found = told(&plain, "x=-3:3:4");
    let expected = "16 aperiodic run(s) repeat but for `x`, which goes on by 6.28319 in a period";
    assert!(found.len() == 1 && found[0].starts_with(expected) && found[0].contains("[cyclic]"), "{found:?}");
    assert_eq!(told(PENDULUM, "x=-3:3:4"), Vec::<String>::new());
    // a = 0.5 swings, a = 1.15 is chaotic
    for a in ["a = 0.5", "a = 1.15"] {
        assert_eq!(told(&plain.replace("a = 1.4", a), "x=-0.5:0.5:2"), Vec::<String>::new(), "{a}");
    }
}

/// A mass against a stop, and a slider that a force pushes on: x repeats, y gains (f/2c) T per period.
const DRIFTING: &str = r#"
version = 1
name = "drifting"
[parameters]
c = 0.3
f = 0.8
period = "2*pi"
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "2*x^2"
force.x = "-0.4*x' + cos(t)"
force.y = "-c*y' + f*sin(t)^2"
[[contact]]
name = "stop"
gap = "x + 0.1"
restitution = 0.7
[cyclic]
y = 0
[initial]
x = 0.1
[simulation]
end = "period"
step = "period/100"
"#;

#[test]
fn drifting_coordinates_are_left_out() {
    let scene = load(DRIFTING);
    let mut motion = scene.sensitivity(&[]).unwrap();
    motion.set_columns(0);
    motion.advance(40.0 * TAU).unwrap();
    let guess = State { t: 0.0, ..motion.state().clone() };
    let case = || Case { cyclic: Cyclic::of(&scene), ..strobe(&scene, &[]) };
    let orbit = find(&mut case(), 0.0, &guess, &Options::new(1)).unwrap();
    assert!((orbit.advance[0].1 - 0.8 / 0.6 * TAU).abs() < 1e-8, "{:?}", orbit.advance);
    // x, x' and y' have multipliers, y has none; that of y' is exp(−c T)
    assert_eq!(orbit.multipliers.len(), 3);
    let decay = (-0.3 * TAU).exp();
    assert!(orbit.multipliers.iter().any(|z| z.1 == 0.0 && (z.0 - decay).abs() < 1e-8), "{:?}", orbit.multipliers);
    assert!(!orbit.impacts.is_empty());
    // the same by its impacts, where the time of the section is found as well
    let at = State { t: orbit.start, q: orbit.state[..2].to_vec(), v: orbit.state[2..].to_vec() };
    let mut section = Case { section: Section::Impact(carom::Key(0)), ..case() };
    section.motion.restart(&at);
    let mut options = Options::new(1);
    let guess = section.approach(0, 20.0 * TAU, &mut options, &|| false).unwrap();
    let other = find(&mut section, 0.0, &guess, &options).unwrap();
    assert!((other.advance[0].1 - 0.8 / 0.6 * TAU).abs() < 1e-8 && other.multipliers.len() == 3);
    assert!((other.multipliers[0].0 - orbit.multipliers[0].0).abs() < 1e-6);
}

/// A pendulum under a constant torque turns for ever: the length of a turn is found, once per turn.
#[test]
fn turns_without_forcing() {
    let text = PENDULUM
        .replace("-b*x' + a*cos(om*t)", "-b*x' + a")
        .replace("period = \"2*pi/om\"\n", "")
        .replace("om = \"2/3\"\n", "")
        .replace("\"period\"", "20")
        .replace("\"period/100\"", "0.1");
    for direction in [1.0, -1.0] {
        let text = text.replace("a = 1.4", &format!("a = {}", 1.4 * direction));
        let scene = load(&text);
        let mut motion = scene.sensitivity(&[]).unwrap();
        motion.set_columns(0);
        motion.advance(60.0).unwrap();
        let start = motion.state().clone();
        let mut case = Case {
            motion: scene.sensitivity(&[]).unwrap(),
            period: Period::Free(20.0),
            section: Section::Turn(0, TAU),
            cyclic: Cyclic::of(&scene),
        };
        case.motion.restart(&start);
        let mut options = Options::new(1);
        let found = case.approach(0, 100.0, &mut options, &|| false);
        if direction < 0.0 {
            // it falls through multiples of 2π and never rises
            assert!(found.is_err());
            continue;
        }
        let orbit = find(&mut case, 0.0, &found.unwrap(), &options).unwrap();
        assert!((orbit.advance[0].1 - TAU).abs() < 1e-8, "{:?}", orbit.advance);
        // energy over a turn: the torque puts in 2π a, the damper takes ∫ b x'² dt out; the mean speed is 2π/T
        assert!(orbit.period > 1.0 && orbit.period < TAU / (1.4 / 0.5) * 1.5, "{}", orbit.period);
        assert_eq!(orbit.multipliers.len(), 1);
        // Liouville: the multiplier is exp(−b T)
        assert!((orbit.multipliers[0].0 - (-0.5 * orbit.period).exp()).abs() < 1e-8);
    }
}

/// A length after which the model is another one is refused.
#[test]
fn wrong_lengths_are_mistakes() {
    for (from, to, what) in [
        ("x = \"2*pi\"", "x = \"pi\"", "the force on `x` differs"),
        ("x = \"2*pi\"", "x = 0", "the force on `x` differs"),
        ("x = \"2*pi\"", "x = -1", "is negative"),
        ("x = \"2*pi\"", "z = 1", "there is no coordinate `z`"),
    ] {
        let text = PENDULUM.replace(from, to);
        let findings = carom_scene::from_str("test.toml", &text, &Default::default()).unwrap_err();
        assert!(findings.iter().any(|finding| finding.message.contains(what)), "{to}: {}", findings[0]);
    }
}
