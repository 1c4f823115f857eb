//! `--estimate` tells the truth: its differences are those of runs of their own, and with the order that it tells they
//! are the distance from closed forms.

use super::session::Session;
use serde_json::Value;

/// A model file with this step; `rest` stands in its table of the simulation.
fn with_step(text: &str, step: f64) -> String {
    text.replace("STEP", &format!("step = {step:e}"))
}

fn row<'a>(summary: &'a Value, what: &str) -> &'a Value {
    let rows = summary["estimate"]["differences"].as_array().unwrap();
    rows.iter().find(|row| row["what"] == what).unwrap_or_else(|| panic!("{what} in {rows:?}"))
}

/// The values of some columns at the end of a run.
fn ends(session: &Session, text: &str, columns: &[(&str, f64)]) -> Vec<f64> {
    session.write("case.toml", text);
    session.succeed(["run", "case.toml"]);
    let table = session.table("out/case/trajectory.parquet");
    columns.iter().map(|(name, _)| table.last(name)).collect()
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |most, (a, b)| most.max((a - b).abs()))
}

/// The difference `what` is that of separate runs with h, h/2, h/4, so is its order; where it is known, the error
/// beside the closed form is the difference over 1 - 2^-p. An `[[expect]]` accepts a little more and refuses less.
fn judge(text: &str, h: f64, what: &str, columns: &[(&str, f64)], order: Option<f64>) {
    let session = Session::new();
    let runs = [h, h / 2.0, h / 4.0].map(|h| ends(&session, &with_step(text, h), columns));
    let exact: Vec<f64> = columns.iter().map(|(_, value)| *value).collect();
    let [first, second] = [apart(&runs[0], &runs[1]), apart(&runs[1], &runs[2])];
    session.write("case.toml", with_step(text, h));
    session.succeed(["run", "case.toml", "--estimate"]);
    let summary = session.summary("out/case");
    let told = row(&summary, what);
    let [difference, finer, p] = ["difference", "finer", "order"].map(|field| told[field].as_f64().unwrap_or(f64::NAN));
    assert!((difference - first).abs() <= 1e-13 && (finer - second).abs() <= 1e-13, "{told} beside {first} {second}");
    assert!((p - (first / second).log2()).abs() < 1e-6, "{told}");
    let error = apart(&runs[0], &exact);
    assert!(error < 10.0 * difference, "{told}: error {error}");
    if let Some(order) = order {
        let expected = difference / (1.0 - 0.5f64.powf(order));
        assert!((p - order).abs() < 0.1, "{told}: order {order}");
        assert!((error - expected).abs() < 0.1 * error, "{told}: error {error} beside {expected}");
    }
    for (part, code) in [(1.01, 0), (0.99, 4)] {
        let expect = format!("[[expect]]\nquantity = \"estimate {what}\"\nvalue = 0\ntolerance = {:e}\n", part * first);
        session.write("case.toml", with_step(text, h) + &expect);
        assert_eq!(session.carom(["run", "case.toml"]).code, Some(code), "{what}");
    }
}

/// A ball falls, bounces once and flies on; steps do not meet the impact.
#[test]
fn of_a_ball() {
    let text = r#"version = 1
name = "case"
[model]
kind = "lagrangian"
coordinates = ["y"]
kinetic = "y'^2/2"
potential = "2*y"
[[contact]]
name = "floor"
gap = "y"
restitution = 0.5
[initial]
y = 1
[simulation]
end = 1.5
STEP
"#;
    // 2 m/s² for one second, half of 2 m/s back
    judge(text, 0.0113, "positions", &[("q.y", 0.5 - 0.25)], None);
}

/// A block on a belt, held by a spring: it rides until the spring pulls with μ N, then swings about that point.
#[test]
fn of_a_block_that_sticks_and_slips() {
    let text = r#"version = 1
name = "case"
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "8*x^2 + 10*y"
[[contact]]
name = "belt"
gap = "y"
slip = "x - t/4"
friction = 0.3
[initial]
"x'" = 0.25
[simulation]
end = 1.2
STEP
"#;
    // 3 N on 16 N/m: the slip begins at x = 3/16, t = 3/4, with ω = 4
    let x = 3.0 / 16.0 + 0.25 / 4.0 * (4.0 * (1.2 - 0.75f64)).sin();
    judge(text, 0.0113, "positions", &[("q.x", x)], None);
}

/// A capacitor runs down through a resistor.
#[test]
fn of_a_circuit() {
    let text = r#"version = 1
name = "case"
initial = { C = 10 }
[model]
kind = "circuit"
capacitor = { C = ["a", "0", 1e-6] }
resistor = { R = ["a", "0", 1e3] }
[simulation]
end = 2e-3
STEP
scheme = { name = "euler-moreau", theta = THETA }
"#;
    let exact = [("x.C", 10.0 * (-2f64).exp())];
    judge(&text.replace("THETA", "0.5"), 1e-4, "positions", &exact, Some(2.0));
    judge(&text.replace("THETA", "1"), 1e-5, "positions", &exact, Some(1.0));
}

/// A point at the rim of a disc that moves on: tan(φ/2) = tan(φ₀/2) exp(t) [moreau1977].
#[test]
fn of_a_sweeping_process() {
    let text = r#"version = 1
name = "case"
[model]
kind = "sweeping"
states = ["x", "y"]
[[set]]
name = "disc"
center = ["t", 0]
radius = 1
[initial]
x = "cos(0.7*pi)"
y = "sin(0.7*pi)"
[simulation]
end = 1.5
STEP
"#;
    let angle = 2.0 * ((0.35 * std::f64::consts::PI).tan() * 1.5f64.exp()).atan();
    judge(text, 2e-3, "positions", &[("x.x", 1.5 + angle.cos()), ("x.y", angle.sin())], Some(1.0));
}

/// A symmetric body without forces: its spin turns about the axis at (I₃ - I₁)/I₁ ω₃.
#[test]
fn of_a_free_body() {
    let text = r#"version = 1
name = "case"
[model]
kind = "multibody"
[[body]]
name = "top"
mass = 1
inertia = [1, 1, 2]
spin = [0.5, 0, 2]
[simulation]
end = 1.5
STEP
scheme = { name = "moreau-jean", newton-tolerance = 1e-14 }
"#;
    let spin = [("v.top.spin_x", 0.5 * 3f64.cos()), ("v.top.spin_y", 0.5 * 3f64.sin()), ("v.top.spin_z", 2.0)];
    judge(text, 0.02, "velocities", &spin, Some(2.0));
}

const SWING: &str = r#"version = 1
name = "case"
[model]
kind = "lagrangian"
coordinates = ["x"]
kinetic = "x'^2/2"
potential = "x^2/2"
[initial]
x = 1
[simulation]
end = 3
STEP
"#;

/// Steps of a scheme with tolerances that were asked to be of one size: they are halved.
#[test]
fn of_fixed_steps_of_an_event_driven_run() {
    let text = format!("{SWING}scheme = {{ name = \"event-driven\", control = \"fixed\" }}\n");
    judge(&text, 0.25, "positions", &[("q.x", 3f64.cos())], Some(5.0));
}

/// Where two tolerances add up, both are made finer: the difference is about the error.
#[test]
fn of_two_tolerances() {
    let session = Session::new();
    for control in ["adaptive = { tolerance = 1e-12, relative = 1e-5 }", "adaptive = 1e-5"] {
        session.write("case.toml", with_step(SWING, 0.01) + control + "\n");
        session.succeed(["run", "case.toml", "--estimate"]);
        let error = (session.table("out/case/trajectory.parquet").last("q.x") - 3f64.cos()).abs();
        let summary = session.summary("out/case");
        let told = row(&summary, "positions")["difference"].as_f64().unwrap();
        assert!(error < 1.5 * told && told < 1.5 * error, "{control}: {error} beside {told}");
    }
}
