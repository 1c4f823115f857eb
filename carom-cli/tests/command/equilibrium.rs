//! `carom equilibrium`: rest of model files, against closed forms and against an independent computation.

use super::session::Session;
use super::studies::fails;
use serde_json::Value;

fn rest(arguments: &[&str]) -> Value {
    let session = Session::new();
    let out = session.succeed(["equilibrium"].iter().chain(arguments).chain(&["--json"]));
    serde_json::from_str(&out).unwrap()
}

fn law<'a>(rest: &'a Value, name: &str) -> &'a Value {
    rest["laws"].as_array().unwrap().iter().find(|law| law["name"] == name).unwrap_or_else(|| panic!("no `{name}`"))
}

#[track_caller]
fn near(found: &Value, expected: f64, tolerance: f64) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{found} is no number"));
    assert!((found - expected).abs() <= tolerance, "{found} instead of {expected}");
}

/// A ladder of weight W at 60 degrees: closed form.
#[test]
fn the_ladder_has_ranges() {
    let rest = rest(&["ladder"]);
    let weight = 98.1;
    assert_eq!((&rest["open"], &rest["steps"]), (&Value::from(1), &Value::from(0)));
    for (name, least, most) in [("wall", 0.2460568398, 0.3122497073), ("floor", 0.9261829481, 1.0408323577)] {
        let normal = &law(&rest, name)["reactions"]["normal"];
        near(&normal["least"], least * weight, 1e-7);
        near(&normal["most"], most * weight, 1e-7);
        assert_eq!(law(&rest, name)["status"], "carries");
    }
    // the floor needs N_w/N_f where the wall helps most
    near(&law(&rest, "floor")["friction"][0]["needs"]["least"], 0.2460568398 / 0.9261829481, 1e-9);
    near(&law(&rest, "floor")["friction"][0]["margin"], 1.0 - 0.2460568398 / 0.9261829481 / 0.3, 1e-8);
}

#[test]
fn the_ladder_slips_below_its_angle() {
    let session = Session::new();
    let arguments = ["equilibrium", "ladder", "--as-drawn", "--set"];
    session.succeed(arguments.iter().chain(&["angle=56.60152"]));
    let slips = [&arguments[..], &["angle=56.60150", "--fresh"]].concat();
    fails(&session, &slips, 3, &["does not rest here", "ladder.", "of the forces", "--as-drawn"]);
}

#[test]
fn the_stack_stands_up_to_its_overhang() {
    let told = rest(&["overhanging-stack"]);
    // moments about the edge below the top brick
    near(&law(&told, "rear5")["reactions"]["normal"]["most"], 9.81 * 0.01 / 1.01, 1e-9);
    for share in ["0.999", "1.001"] {
        let session = Session::new();
        let set = format!("share={share}");
        let code = session.carom(["equilibrium", "overhanging-stack", "--as-drawn", "--set", &set]).code;
        assert_eq!(code, Some(if share == "0.999" { 0 } else { 3 }), "{share}");
    }
}

/// The same numbers as linear programs of an independent computation give.
#[test]
fn the_latch_of_the_breaker_holds() {
    let rest = rest(&["circuit-breaker"]);
    assert_eq!(rest["open"], 3);
    let latch = law(&rest, "latch");
    near(&latch["reactions"]["normal"]["least"], 18.003594616, 2e-9);
    near(&latch["reactions"]["normal"]["most"], 18.033409958, 2e-9);
    near(&latch["friction"][0]["needs"]["least"], 0.115606367, 1e-9);
    near(&latch["friction"][0]["needs"]["most"], 0.115621898, 1e-9);
}

/// Files, terminal and report.
#[test]
fn it_writes_tables_and_a_report() {
    let session = Session::new();
    let out = session.succeed(["equilibrium", "ladder"]);
    assert!(out.contains("it rests where it is drawn, 2 contacts carry"), "{out}");
    assert!(out.contains("wall") && out.contains("margin to slip"), "{out}");
    let names = session.names("out/ladder-equilibrium");
    assert_eq!(names, ["contacts.csv", "equilibrium.html", "position.csv", "reactions.csv"]);
    session.succeed(["equilibrium", "pendulum"]);
    let names = session.names("out/pendulum-equilibrium");
    assert_eq!(names, ["equilibrium.html", "position.csv", "reactions.csv", "shapes.csv", "vibrations.csv"]);
}

/// Models of equations: a mass that hangs on a spring, at (m g/k), with √(k/m).
#[test]
fn models_of_equations_rest_as_well() {
    let session = Session::new();
    let text = r#"version = 1
name = "hanging"
[parameters]
k = 50
[model]
kind = "lagrangian"
coordinates = ["y"]
kinetic = "0.5*2*y'^2"
potential = "2*9.81*y + k*y^2/2"
[initial]
y = 0.3
[simulation]
end = 1
step = 1e-2
"#;
    session.write("hanging.toml", text);
    let out = session.succeed(["equilibrium", "hanging.toml", "--json"]);
    let rest: Value = serde_json::from_str(&out).unwrap();
    near(&rest["position"]["y"], -2.0 * 9.81 / 50.0, 1e-13);
    near(&rest["vibrations"]["modes"][0]["omega"], 5.0, 1e-12);
    // upside down nothing holds it
    fails(&session, &["equilibrium", "hanging.toml", "--set", "k=0"], 3, &["no rest was found", "`y`"]);
    fails(&session, &["equilibrium", "diode-bridge"], 2, &["mechanical"]);
    fails(&session, &["equilibrium", "hanging.toml", "--time", "z"], 2, &["--time"]);
}

/// A sample of ladders: the margin is 1 − (N_w/N_f)/μ, whose quotient does not depend on μ, and percentiles follow.
#[test]
fn a_sweep_measures_margins_and_percentiles() {
    let session = Session::new();
    let words = ["sweep", "ladder", "--random", "8", "--vary", "floor=0.28:0.5:2", "--end", "0.002"];
    let out = session.succeed(words.iter().chain(&["--measure", "margin floor", "--measure", "impacts", "--json"]));
    let told: Value = serde_json::from_str(&out).unwrap();
    let mut margins = Vec::new();
    for run in told["runs"].as_array().unwrap() {
        let mu = run["values"]["floor"].as_f64().unwrap();
        let exact = 1.0 - 0.2460568398 / 0.9261829481 / mu;
        near(&run["measured"]["margin floor"], exact, 1e-8);
        margins.push(exact);
    }
    margins.sort_by(f64::total_cmp);
    let spread = &told["percentiles"][0];
    assert_eq!((&spread["quantity"], &spread["runs"]), (&Value::from("margin floor"), &Value::from(8)));
    // straight lines between eight values: 5 % is at 0.35, 50 % at 3.5, 75 % at 5.25 of the way from 0 to 7
    near(&spread["p5"], 0.65 * margins[0] + 0.35 * margins[1], 1e-8);
    near(&spread["p50"], 0.5 * (margins[3] + margins[4]), 1e-8);
    near(&spread["p75"], 0.75 * margins[5] + 0.25 * margins[6], 1e-8);
    near(&spread["mean"], margins.iter().sum::<f64>() / 8.0, 1e-8);
    assert!(session.read("out/ladder-sweep/percentiles.csv").starts_with("quantity,runs,mean,p5,p25,p50,p75,p95"));
    let wrong = ["sweep", "ladder", "--vary", "floor=0.3,0.4", "--measure", "margin flor"];
    fails(&session, &wrong, 2, &["flor", "floor"]);
    // a latch that does not hold has no margin
    let opens = ["sweep", "circuit-breaker", "--vary", "latch=0.1,0.2", "--measure", "margin latch", "--end", "1e-4"];
    assert!(session.succeed(opens).contains("1 runs finished, 1 failed"));
}
