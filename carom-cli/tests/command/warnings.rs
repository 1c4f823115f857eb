//! Runs that end with exit code 0 and are wrong say so: one model for each warning, and none for the examples.

use super::session::{BALL, Session};
use serde_json::Value;

/// The warnings of a run that ends with exit code 0; under `--strict` the same run ends with 3.
fn warnings(name: &str, text: &str) -> Vec<Value> {
    let session = Session::new();
    let file = format!("{name}.toml");
    session.write(&file, text);
    let outcome = session.carom(["run", &file]);
    assert_eq!(outcome.code, Some(0), "{name}: {}{}", outcome.out, outcome.err);
    let summary = session.summary(&format!("out/{name}"));
    let found = summary["warnings"].as_array().unwrap().clone();
    for warning in &found {
        let message = warning["message"].as_str().unwrap();
        assert!(outcome.err.contains(message), "{name}: the terminal is silent about {message}: {}", outcome.err);
        assert!(session.read(&format!("out/{name}/report.html")).contains(message), "{name}: so is the report");
    }
    let strict = session.carom(["run", &file, "--strict", "--out", "strict"]);
    assert_eq!(strict.code, Some(if found.is_empty() { 0 } else { 3 }), "{name}: {}", strict.err);
    assert_eq!(session.summary("strict")["status"], "finished", "{name}: results are kept");
    found
}

/// The warning of this kind, with its figure and contact.
fn one<'a>(found: &'a [Value], kind: &str) -> (f64, Option<&'a str>) {
    let warning = found.iter().find(|warning| warning["kind"] == kind);
    let warning = warning.unwrap_or_else(|| panic!("no {kind} in {found:?}"));
    assert!(warning["time"].is_f64() && !warning["hint"].as_str().unwrap().is_empty(), "{warning}");
    (warning["value"].as_f64().unwrap(), warning["contact"].as_str())
}

/// One coordinate with this potential, this start and one contact, if any.
fn model(potential: &str, start: (f64, f64), gap: &str, simulation: &str) -> String {
    let contact = if gap.is_empty() {
        String::new()
    } else {
        format!("[[contact]]\nname = \"wall\"\ngap = \"{gap}\"\nrestitution = 0.5\n")
    };
    format!(
        "version = 1\nname = \"case\"\n[model]\nkind = \"lagrangian\"\ncoordinates = [\"y\"]\nkinetic = \"y'^2/2\"\n\
         potential = \"{potential}\"\n{contact}[initial]\ny = {}\n\"y'\" = {}\n[simulation]\n{simulation}\n",
        start.0, start.1
    )
}

#[test]
fn energy_out_of_nothing() {
    // explicit steps far beyond their limit of stability: the amplitude grows at each of them
    let explicit = "end = 0.2\nstep = 0.01\nscheme = { name = \"moreau-jean\", theta = 0 }";
    let found = warnings("stiff", &model("1e6*y^2/2", (1.0, 0.0), "", explicit));
    assert!((one(&found, "energy-gain").0 - 1.0).abs() < 1e-6, "all that is there was made: {found:?}");
}

#[test]
fn bodies_that_overlap() {
    // a forecast that looks nowhere ahead: from 1 m at rest the ball is y = 1 − g t²/2 until it is seen to be below
    let late = "end = 0.5\nstep = 0.5\nscheme = { name = \"moreau-jean\", forecast = { explicit = { gamma = 0.0 } } }";
    let found = warnings("late", &model("9.81*y", (1.0, 0.0), "y", late));
    // the largest gap at an end of a step is that of the start
    let depth = 9.81 * 0.125 - 1.0;
    let (share, contact) = one(&found, "penetration");
    assert!((share - depth).abs() < 1e-6 && contact == Some("wall"), "{share} of {depth}");
}

#[test]
fn a_ball_that_hovers() {
    // one step would take the ball below the floor, so the contact acts at once and holds it where it is
    let found = warnings("hover", &model("9.81*y", (1.0, 0.0), "y", "end = 10\nstep = 1"));
    let (share, contact) = one(&found, "push-apart");
    assert!((share - 1.0).abs() < 1e-12 && contact == Some("wall"), "{found:?}");
}

/// The obstacle of the test below, which starts 0.99 m before it. Asked for, steps are cut at it, and the ball bounces.
#[test]
fn a_step_that_passes_an_obstacle_is_shortened_where_asked_for() {
    let session = Session::new();
    for scheme in ["moreau-jean", "direct-projection", "combined-projection", "higher-order"] {
        let simulation = format!("end = 0.1\nstep = 0.0037\nshorten = true\nscheme = \"{scheme}\"");
        session.write("cut.toml", model("0", (-1.0, 100.0), "abs(y) - 0.01", &simulation));
        session.succeed(["run", "cut.toml", "--strict"]);
        let (summary, table) = (session.summary("out/cut"), session.table("out/cut/trajectory.parquet"));
        assert!(summary["impacts"] == 1 && table.last("v.y") == -50.0, "{scheme}: {}", table.last("v.y"));
        assert!(summary["statistics"]["rejected"].as_u64().unwrap() <= 2, "{scheme}: {}", summary["statistics"]);
        // back from -0.01 with half of the velocity; a captured jump of 150 m/s is spread over the step
        let back = -0.01 - 50.0 * (0.1 - 0.99 / 100.0);
        assert!(
            (table.last("q.y") - back).abs() < 0.0037 * 75.0 + 0.01,
            "{scheme}: {} against {back}",
            table.last("q.y")
        );
    }
    let file = model("0", (-1.0, 100.0), "abs(y) - 0.01", "end = 0.1\nstep = 0.0037\nshorten = true");
    session.write("cut.toml", file);
    let refused = session.carom(["run", "cut.toml", "--scheme", "schatzman-paoli"]);
    assert!(refused.code == Some(2) && refused.err.contains("nor shortened ones"), "{}", refused.err);
}

#[test]
fn an_obstacle_that_is_passed_inside_a_step() {
    // 100 m/s, obstacle from -0.01 to 0.01: 0.37 m per step
    let found = warnings("tunnel", &model("0", (-1.0, 100.0), "abs(y) - 0.01", "end = 0.1\nstep = 0.0037"));
    let (depth, contact) = one(&found, "passed");
    assert!((depth - 0.01).abs() < 1e-5 && contact == Some("wall"), "{found:?}");
    // and without a word where the steps are short enough to meet it
    let short = warnings("met", &model("0", (-1.0, 100.0), "abs(y) - 0.01", "end = 0.02\nstep = 2e-5"));
    assert!(short.is_empty(), "{short:?}");
}

/// A point flies over the floor at 4 m/s and meets a bump that it passes within 5 ms. Far from it neither the gaps nor
/// the velocities at both ends of a step know of it; bounds of the rate of the gap do.
#[test]
fn a_bump_that_is_narrow_beside_the_step_is_not_passed_in_silence() {
    let text = |rest: &str| {
        format!(
            r#"version = 1
name = "bump"
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[contact]]
name = "floor"
gap = "y - 0.38*exp(-((x - 0.41)/0.011)^2)"
restitution = 0.6
[initial]
x = -0.63
y = 0.69
"x'" = 4.08
[simulation]
end = 0.36
{rest}
"#
        )
    };
    for (name, rest) in [
        ("ten", "step = 0.01"),
        ("twenty", "step = 0.02"),
        ("thirty", "step = 0.03"),
        ("forty", "step = 0.04"),
        ("sixty", "step = 0.06"),
        ("long", "step = 0.09"),
        ("adaptive", "step = 0.001\nadaptive = {}"),
        ("projected", "step = 0.04\nscheme = \"combined-projection\""),
        ("higher", "step = 0.04\nscheme = \"higher-order\""),
    ] {
        let found = warnings(name, &text(rest));
        let (depth, contact) = one(&found, "passed");
        // the point is 0.36 m high there, the bump 0.38
        assert!(depth > 1e-3 && depth < 0.05 && contact == Some("floor"), "{name}: {found:?}");
    }
}

/// Implicit Euler steps damp an oscillator by 1 + h²ω² each; θ = 1/2 keeps its energy.
#[test]
fn energy_that_is_lost() {
    let steps = |theta: f64| format!("end = 1\nstep = 0.01\nscheme = {{ name = \"moreau-jean\", theta = {theta} }}");
    let found = warnings("damps", &model("25*y^2/2", (1.0, 0.0), "", &steps(1.0)));
    let left = (1.0f64 + 0.01f64.powi(2) * 25.0).powi(-100);
    let (share, _) = one(&found, "energy-loss");
    // of the largest kinetic energy and the span of the potential, both between the energy left and that of the start
    let lost = 1.0 - left;
    assert!(share > 0.5 * lost && share < 0.5 * lost / left, "{share} beside {lost}");
    assert!(warnings("keeps", &model("25*y^2/2", (1.0, 0.0), "", &steps(0.5))).is_empty());
}

/// A pendulum on a stiff spring strikes a wall at an angle: the impact leaves a vibration of 1e4 rad/s along the spring
/// that steps of 1e-2 s cannot follow. Where it is damped the run says so; event-driven steps follow it.
#[test]
fn vibrations_that_an_impact_leaves() {
    let text = |rest: &str| {
        format!(
            r#"version = 1
name = "stiff pendulum"
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y + 1e8/2*(sqrt(x^2 + y^2) - 1)^2"
[[contact]]
name = "wall"
gap = "x + 0.3"
restitution = 0.5
[initial]
x = 1.0
[simulation]
end = 0.8
{rest}
"#
        )
    };
    let found = warnings("coarse", &text("step = 1e-2\nscheme = \"higher-order\""));
    let (share, _) = one(&found, "damped");
    // the velocity is across the spring: cos of it is horizontal and jumps by 1 + e, sin of that is along the spring
    let (cos, sin) = (0.91f64.sqrt(), 0.3f64);
    let vibration = (1.5 * cos * sin).powi(2);
    assert!(share > 0.9 * vibration && share < 1.01 * vibration, "{share} beside {vibration}");
    assert!(warnings("fine", &text("step = 1e-2\nscheme = \"event-driven\"")).is_empty());
}

#[test]
fn an_elastic_chain_under_a_scheme_that_gains() {
    let text = r#"version = 1
name = "two masses between walls"
[model]
kind = "lagrangian"
coordinates = ["a", "b"]
kinetic = "(a'^2 + 2*b'^2)/2"
potential = "5e3*(b - a - 0.02)^2"
[[contact]]
name = "left"
gap = "a - 0.005"
restitution = 1
[[contact]]
name = "pair"
gap = "b - a - 0.01"
restitution = 1
[[contact]]
name = "right"
gap = "0.035 - b"
restitution = 1
[initial]
a = 0.01
b = 0.03
"a'" = 0.7
"b'" = -0.9
[simulation]
end = 5
step = 1e-3
scheme = "combined-projection"
"#;
    let found = warnings("chain", text);
    assert!(one(&found, "energy-gain").0 > 0.5, "{found:?}");
    let sound = warnings("sound", &text.replace("combined-projection", "event-driven"));
    assert!(sound.iter().all(|warning| warning["kind"] != "energy-gain"), "{sound:?}");
}

/// Contacts that make energy in one step and take some of it back in the next: the run goes through 25 kJ and ends with
/// 57 J, where there is 1.055 J. Neither the residue nor the gain of one impact stands out beside the largest energy.
#[test]
fn contacts_that_make_energy_again_and_again() {
    let text = r#"version = 1
name = "two masses between walls"
[model]
kind = "lagrangian"
coordinates = ["a", "b"]
kinetic = "(a'^2 + 2*b'^2)/2"
potential = "5e3*(b - a - 0.02)^2"
[[contact]]
name = "left"
gap = "a - 0.005"
restitution = 1
[[contact]]
name = "pair"
gap = "b - a - 0.01"
restitution = 1
[[contact]]
name = "right"
gap = "0.035 - b"
restitution = 1
[initial]
a = 0.01
b = 0.03
"a'" = 0.7
"b'" = -0.9
[simulation]
end = 10
step = 1e-3
scheme = "schatzman-paoli"
"#;
    let found = warnings("made", text);
    assert!(one(&found, "energy-gain").0 > 10.0, "{found:?}");
    let sound = warnings("kept", &text.replace("end = 10", "end = 0.5").replace("1e-3", "1e-5"));
    assert!(sound.iter().all(|warning| warning["kind"] != "energy-gain"), "{sound:?}");
}

/// Studies take the parameter `period`, whether or not the file uses it.
#[test]
fn a_period_is_there_for_studies() {
    let session = Session::new();
    for (name, count) in [("period", 0), ("other", 1)] {
        session.write("ball.toml", BALL.replace("[parameters]\n", &format!("[parameters]\n{name} = 0.02\n")));
        assert_eq!(session.carom(["run", "ball.toml"]).code, Some(0));
        assert_eq!(session.summary("out/ball")["warnings"].as_array().unwrap().len(), count, "{name}");
    }
}

/// A mass slides on the floor at a spring, and no step as long as the smallest one has the accuracy that is asked for.
#[test]
fn an_event_driven_run_that_is_handed_over_all_the_time() {
    let text = r#"version = 1
name = "slide"
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "50*x^2 + 9.81*y"
[[contact]]
name = "floor"
gap = "y"
[initial]
x = 1
y = 0
[simulation]
end = 0.5
step = 0.05
scheme = { name = "event-driven", rtol = 1e-10, atol = 1e-10, h-min = 0.05 }
"#;
    let found = warnings("slide", text);
    assert!(one(&found, "hand-overs").0 > 0.9, "{found:?}");
    assert!(warnings("smooth", &text.replace(", h-min = 0.05", "")).is_empty());
}

#[test]
fn the_ball_has_nothing_to_tell() {
    assert!(warnings("ball", BALL).is_empty());
}

/// Free fall has no error in the middle rule, an oscillator has one of second order: x = cos t at t = 1.
#[test]
fn how_far_off() {
    let session = Session::new();
    let text = model("y^2/2", (1.0, 0.0), "", "end = 1\nstep = 0.1");
    let expect = "[[expect]]\nquantity = \"estimate positions\"\nvalue = 0\ntolerance = 1e-3\n\
                  [[expect]]\nquantity = \"final y\"\nvalue = \"cos(1)\"\ntolerance = 1e-3\n";
    session.write("swing.toml", format!("{text}{expect}"));
    let out = session.succeed(["run", "swing.toml"]);
    assert!(out.contains("off by: positions") && out.contains("observed order 2.0"), "{out}");
    let summary = session.summary("out/swing");
    let rows = summary["estimate"]["differences"].as_array().unwrap();
    let row = |what: &str| rows.iter().find(|row| row["what"] == what).unwrap_or_else(|| panic!("{what} in {rows:?}"));
    // the true error is 4/3 of the difference for a scheme of second order
    let error = (session.table("out/swing/trajectory.parquet").last("q.y") - 1f64.cos()).abs();
    let told = row("positions")["difference"].as_f64().unwrap();
    assert!((error / told - 4.0 / 3.0).abs() < 0.02, "{error} against {told}");
    for what in ["positions", "velocities", "positions on the way", "final y"] {
        assert!((row(what)["order"].as_f64().unwrap() - 2.0).abs() < 0.05, "{}", row(what));
    }
    assert!(session.read("out/swing/report.html").contains("How far off"));

    // too much is asked for: exit code 4
    session.write("close.toml", format!("{text}{}", expect.replacen("1e-3", "1e-9", 1)));
    assert_eq!(session.carom(["run", "close.toml"]).code, Some(4));

    // impacts of the ball are found to first order, and those of the event-driven scheme to rounding
    session.write("ball.toml", BALL);
    // the first one comes at 1 s, which is no multiple of the step
    session.succeed(["run", "ball.toml", "--estimate", "--end", "1.5", "--step", "0.0097"]);
    let summary = session.summary("out/ball");
    let times = summary["estimate"]["differences"].as_array().unwrap();
    let times = times.iter().find(|row| row["what"] == "impact times").unwrap();
    // the ends of the steps in which it falls: 104 steps of 0.0097 s, 207 of half that
    assert!((times["difference"].as_f64().unwrap() - 0.00485).abs() < 1e-12, "{times}");
    session.succeed(["run", "ball.toml", "--estimate", "--end", "1.5", "--scheme", "event-driven"]);
    let summary = session.summary("out/ball");
    let times = summary["estimate"]["differences"].as_array().unwrap();
    let times = times.iter().find(|row| row["what"] == "impact times").unwrap();
    assert!(times["difference"].as_f64().unwrap() < 1e-12 && times["order"].is_null(), "{times}");
}

/// A rod strikes the floor with its tip and sticks there. Newton's law turns the normal velocity of the tip around
/// whatever friction does to the rest of the rod: with these velocities the impact has 1.55 times the energy after it,
/// by the two equations of the impulse alone (p_N = 5.1545, p_T = 1.8328 N s).
#[test]
fn an_impact_that_adds_energy() {
    let text = r#"version = 1
name = "rod"
[model]
kind = "lagrangian"
coordinates = ["x", "y", "th"]
kinetic = "(x'^2 + y'^2 + th'^2/3)/2"
[[contact]]
name = "tip"
gap = "y - sin(th)"
slip = "x - cos(th)"
friction = 0.49964634968104404
restitution = 0.9996288487146154
[initial]
x = 0
y = "sin(0.8211007892588412) + 1e-9"
th = 0.8211007892588412
"x'" = 0.18119304529577152
"y'" = -2.234308562816277
"th'" = 3.761038250969694
[simulation]
end = 2e-5
step = 1e-6
"#;
    let found = warnings("rod", text);
    let (share, _) = one(&found, "impact-gain");
    // of the kinetic energy after the impact, which is the largest
    assert!((share - (1.0 - 1.0 / 1.5511393737837413)).abs() < 1e-3, "{found:?}");
}

/// A contact that is closed to rounding does not overlap, whatever sign rounding has; a captured impact does.
#[test]
fn rounding_is_no_overlap() {
    let session = Session::new();
    session.write("ball.toml", BALL);
    for (scheme, side) in [("event-driven", "closed"), ("combined-projection", "closed"), ("moreau-jean", "overlap")] {
        let outcome = session.carom(["run", "ball.toml", "--scheme", scheme, "--end", "5", "--out", scheme]);
        assert_eq!(outcome.code, Some(0), "{scheme}: {}", outcome.err);
        let gap = &session.summary(scheme)["smallest_gap"];
        let (overall, overlap) = (gap["overall"].as_f64().unwrap(), gap["overlap"].as_f64().unwrap());
        let report = session.read(&format!("{scheme}/report.html"));
        assert_eq!(overlap, if side == "overlap" { -overall } else { 0.0 }, "{scheme}: {gap}");
        assert!(overall.abs() < 1e-12 || side == "overlap" && overall < -1e-9, "{scheme}: {gap}");
        assert!(report.contains(&format!("{side}, contact ")), "{scheme}");
    }
}

/// A row of balls that meet from both ends: the list tells every impact with its loss, and where the order decided; so
/// do terminal, summary and report, with the law of impacts.
#[test]
fn the_order_of_impacts_that_decides_is_told() {
    let session = Session::new();
    let ball = |name: &str, v: &str| {
        format!(
            "[[body]]\nname = \"{name}\"\nmass = 1\ninertia = [1, 1, 1]\nposition = [{}, 0, 0]\nvelocity = [{v}, 0, 0]\n\
                 [[body.shape]]\nkind = \"sphere\"\nname = \"s\"\nradius = 0.5\n",
            &name[1..]
        )
    };
    let text = format!(
        "version = 1\nname = \"row\"\n[model]\nkind = \"multibody\"\n[contacts]\nmaterial = \"steel\"\n\
         combine = \"geometric-mean\"\n[[material]]\nname = \"steel\"\nrestitution = 0.5\n{}{}{}\
         [simulation]\nend = 0.01\nstep = 1e-3\nimpacts = \"sequential\"\n",
        ball("b1", "1"),
        ball("b2", "0"),
        ball("b3", "-1")
    );
    session.write("row.toml", &text);
    let outcome = session.carom(["run", "row.toml", "--csv"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    assert!(outcome.err.contains("their order decides"), "{}", outcome.err);
    let line =
        |start: &str, end: &str| outcome.out.lines().any(|line| line.trim().starts_with(start) && line.ends_with(end));
    assert!(line("impact law", "sequential") && line("materials combine by", "geometric-mean"), "{}", outcome.out);
    let summary = session.summary("out/row");
    assert_eq!(summary["inputs"]["impacts"], "sequential");
    assert_eq!(summary["inputs"]["materials"], "geometric-mean");
    assert_eq!(summary["impacts"], 3);
    let warnings = summary["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning["kind"] == "impact-order"), "{warnings:?}");
    let report = std::fs::read_to_string(session.path("out/row/report.html")).unwrap();
    for words in ["order of equal approaches decides", "impact law sequential", "materials combine by geometric-mean"] {
        assert!(report.contains(words), "{words}");
    }
    let impacts = std::fs::read_to_string(session.path("out/row/impacts.csv")).unwrap();
    let rows: Vec<&str> = impacts.lines().skip(1).collect();
    assert!(rows.len() == 3 && rows[0].ends_with("order of equal approaches decides"), "{impacts}");
    // by hand: of relative velocities 1, 1.75 and 0.8125 with the reduced mass 1/2, (1 − e²)/2 of each
    let header: Vec<&str> = impacts.lines().next().unwrap().split(',').collect();
    let loss = header.iter().position(|name| *name == "loss").unwrap();
    for (row, u) in rows.iter().zip([1.0, 1.75, 0.8125]) {
        let found: f64 = row.split(',').nth(loss).unwrap().parse().unwrap();
        assert!((found - 0.1875 * u * u).abs() < 1e-12, "{row}");
    }
}
