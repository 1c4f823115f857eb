//! `carom orbit`: forced and free orbits, sections, branches and the switch to doubled orbits.

use super::session::{BALL, Session};
use super::studies::{fails, lines};
use serde_json::Value;

/// The doubling at 2.663189976, and the orbit at 2.5 with its impact.
#[test]
fn orbits_of_the_oscillator() {
    let session = Session::new();
    let out = session.succeed(["orbit", "chaotic-oscillator", "--set", "om=2.5"]);
    assert!(out.contains("stability: stable") && out.contains("normal velocity -0.66155920"), "{out}");
    let branch = ["orbit", "chaotic-oscillator", "--parameter", "om=2.5:2.8:13", "--json"];
    let found: Value = serde_json::from_str(&session.succeed(branch)).unwrap();
    let special = &found["specials"][0];
    assert_eq!(special["kind"], "period-doubling");
    assert!((special["orbit"]["parameter"].as_f64().unwrap() - 2.663189976).abs() < 1e-8, "{special}");
    let folder = "out/chaotic-oscillator-orbit";
    assert_eq!(session.names(folder), ["orbit.csv", "orbit.html", "special.csv"]);
    let rows = lines(&session, &format!("{folder}/orbit.csv"));
    assert_eq!((rows[0][0].as_str(), rows.last().unwrap()[0].as_str()), ("om", "2.8"));
    for (arguments, code, word) in [
        (vec!["--multiple", "0"], 2, "--multiple"),
        (vec!["--parameter", "om=2.5"], 2, "range"),
        (vec!["--parameter", "omega=2.5:2.8:3"], 2, "unknown parameter"),
        (vec!["--start", "1"], 2, "--start has 1 numbers"),
        (vec!["--tolerance", "0"], 2, "the tolerance is 0"),
        (vec!["--scheme", "moreau-jean"], 2, "event-driven"),
    ] {
        fails(&session, &[&["orbit", "chaotic-oscillator"][..], &arguments].concat(), code, &[word]);
    }
    fails(&session, &["orbit", "diode-bridge", "--period", "1"], 2, &["mechanical"]);
    // what flies away has no orbit
    session.write("away.toml", BALL.replace("\"2*y\"", "\"-2*y\""));
    fails(&session, &["orbit", "away.toml", "--period", "1", "--transient", "0"], 3, &["no periodic orbit"]);
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn doubled_orbits_and_impacts_as_section() {
    let session = Session::new();
    for section in ["strobe", "impact", "impact:wall"] {
        let range = ["--parameter", "om=2.64:2.76:13", "--switch", "2", "--json", "--section", section];
        let found = read(&session.succeed(["orbit", "chaotic-oscillator"].iter().chain(&range)));
        let doubled = found["doubled"].as_array().unwrap();
        assert!(doubled.len() == 2 && doubled[0]["multiple"] == 2 && doubled[1]["multiple"] == 4, "{section} {found}");
        for (branch, place) in [(&found, 2.663189976), (&doubled[0], 2.741251628)] {
            let special = &branch["specials"][0];
            assert_eq!(special["kind"], "period-doubling");
            assert!((special["orbit"]["parameter"].as_f64().unwrap() - place).abs() < 1e-8, "{special}");
        }
        let rows = lines(&session, "out/chaotic-oscillator-orbit/orbit.csv");
        assert_eq!(rows[0].last().unwrap(), "multiple");
        assert!(rows.last().unwrap().last().unwrap() == "4" && rows.iter().all(|row| row.len() == rows[0].len()));
    }
}

/// x'' − 0.2 x' + x = 0 below a stop: a cycle of its own.
const EXCITED: &str = r#"
version = 1
name = "self-excited oscillator"
[parameters]
e = 0.5
[model]
kind = "linear"
coordinates = ["x"]
mass = [[1]]
damping = [[-0.2]]
stiffness = [[1]]
[[contact]]
name = "stop"
gap = "1 - x"
restitution = "e"
[[event]]
name = "down"
when = "x - 0.2"
direction = "falling"
[initial]
x = 0.5
[simulation]
end = 10
step = 0.1
"#;

/// The one multiplier is e² exp(2aT), wherever the cycle is cut.
#[test]
fn a_cycle_without_forcing() {
    let session = Session::new();
    session.write("excited.toml", EXCITED);
    let mut lengths = Vec::new();
    for section in ["impact", "impact:stop", "x'", "x", "down"] {
        let found = read(&session.succeed(["orbit", "excited.toml", "--section", section, "--json"]));
        let orbit = &found["orbits"][0];
        let (length, multipliers) = (orbit["period"].as_f64().unwrap(), orbit["multipliers"].as_array().unwrap());
        let exact = 0.25 * (0.2 * length).exp();
        assert!(multipliers.len() == 1 && (multipliers[0][0].as_f64().unwrap() - exact).abs() < 1e-8, "{orbit}");
        lengths.push(length);
    }
    assert!(lengths.iter().all(|x| (x - lengths[0]).abs() < 1e-8), "{lengths:?}");
    let out = session.succeed(["orbit", "excited.toml", "--section", "impact"]);
    assert!(out.contains("without forcing") && out.contains("just after an impact at stop"), "{out}");
    let branch = session.succeed(["orbit", "excited.toml", "--section", "impact", "--parameter", "e=0.4:0.6:5"]);
    let counts: Vec<usize> = branch.lines().next().unwrap().split(' ').filter_map(|word| word.parse().ok()).collect();
    assert!(counts.len() == 2 && counts[0] >= 5 && counts[0] == counts[1], "{branch}");
    for (arguments, code, words) in [
        (vec!["excited.toml"], 2, vec!["the period is not known", "--section impact", "--period"]),
        (vec!["excited.toml", "--section", "strobe"], 2, vec!["the period is not known"]),
        (vec!["excited.toml", "--section", "impact:stp"], 2, vec!["no contact `stp`", "did you mean `stop`"]),
        (vec!["excited.toml", "--section", "dwn"], 2, vec!["unknown section `dwn`", "did you mean `down`"]),
        (vec!["newtons-cradle", "--section", "impact"], 2, vec!["several contacts", "impact:"]),
        (vec!["excited.toml", "--section", "x'", "--switch"], 2, vec!["--parameter"]),
        (vec!["excited.toml", "--section", "impact", "--set", "x0=1"], 2, vec!["x0"]),
        (
            vec!["chaotic-oscillator", "--set", "om=2.5", "--section", "impact", "--period", "free"],
            2,
            vec!["depends on time", "--period"],
        ),
    ] {
        fails(&session, &[&["orbit"][..], &arguments].concat(), code, &words);
    }
    // the stop is out of reach for what is at rest
    let rest = EXCITED.replace("x = 0.5", "x = 0");
    session.write("rest.toml", rest);
    fails(&session, &["orbit", "rest.toml", "--section", "impact"], 3, &["does not come to the section"]);
}

/// The woodpecker toy [glocker2005]: it descends by the same length in each period, so that y is cyclic. The period of
/// the literature is 0.146 s; impacts of the beak in a run of the Moreau-Jean scheme are as far apart.
#[test]
fn the_woodpecker_descends_periodically() {
    let session = Session::new();
    session.write("woodpecker.toml", WOODPECKER);
    let found: Vec<Value> = ["impact:beak", "pS'"]
        .map(|section| {
            let arguments = ["orbit", "woodpecker.toml", "--section", section, "--transient", "20", "--json"];
            read(&session.succeed(arguments))
        })
        .to_vec();
    let period_of = |found: &Value| found["orbits"][0]["period"].as_f64().unwrap_or_else(|| panic!("{found}"));
    let period = period_of(&found[0]);
    assert!((period - 0.146).abs() < 5e-4 && (period_of(&found[1]) - period).abs() < 1e-9, "{period} {}", found[1]);
    session.succeed(["run", "woodpecker.toml", "--scheme", "moreau-jean", "--step", "1e-5", "--csv"]);
    let rows = lines(&session, "out/woodpecker/impacts.csv");
    let mut beak: Vec<f64> = rows.iter().filter(|row| row[1] == "beak").map(|row| row[0].parse().unwrap()).collect();
    // the beak strikes once in a period
    beak.dedup_by(|b, a| *b - *a < 0.05);
    let last = beak.len() - 1;
    let mean = (beak[last] - beak[last - 6]) / 6.0;
    assert!((mean - period).abs() < 1e-4, "{mean} {period}");
}

const WOODPECKER: &str = r#"
version = 1
name = "woodpecker"
[parameters]
mM = 0.0003
JM = 5e-9
mS = 0.0045
JS = 7e-7
c = 0.0056
lM = 0.010
lG = 0.015
lS = 0.0201
hM = 0.0058
r0 = 0.0025
rM = 0.0031
hS = 0.02
g = 9.81
[model]
kind = "lagrangian"
coordinates = ["y", "pM", "pS"]
kinetic = "mM/2*y'^2 + JM/2*pM'^2 + JS/2*pS'^2 + mS/2*(y' + lM*pM' + lG*pS')^2"
potential = "mM*g*y + mS*g*(y + lM*pM + lG*pS) + c/2*(pM - pS)^2"
[[contact]]
name = "beak"
gap = "lM + lG - lS - r0 - hS*pS"
slip = "y + lM*pM + (lG - lS)*pS"
restitution = 0.5
friction = 0.3
[[contact]]
name = "low"
gap = "rM - r0 + hM*pM"
slip = "y + rM*pM"
friction = 0.3
[[contact]]
name = "high"
gap = "rM - r0 - hM*pM"
slip = "y + rM*pM"
friction = 0.3
[initial]
pM = "-(rM - r0)/hM"
pS = -0.2788
"y'" = -0.3411
"pS'" = -7.4583
[cyclic]
y = 0
[simulation]
end = 2.0
step = 1e-3
scheme = "event-driven"
"#;

/// The branch of eight rounds bends sharply behind its doubling: the next doubling is on it, in its first step.
#[test]
fn a_doubling_in_the_first_step_of_a_doubled_branch() {
    let text = r#"version = 1
name = "ball on table"
[parameters]
A = 1.2
period = "2*pi"
[model]
kind = "lagrangian"
coordinates = ["y"]
kinetic = "y'^2/2"
potential = "y"
[[contact]]
name = "table"
gap = "y - A*sin(t)"
restitution = 0.5
[initial]
y = 3.0
[simulation]
end = "20*period"
step = "period/50"
scheme = "event-driven"
"#;
    let session = Session::new();
    session.write("table.toml", text);
    let range = ["--start", "2.058,-2.631", "--parameter", "A=1.2:1.9:60", "--switch", "3", "--json"];
    let found = read(&session.succeed(["orbit", "table.toml"].iter().chain(&range)));
    let branches = std::iter::once(&found).chain(found["doubled"].as_array().unwrap());
    // doublings for e = 1/2, from an independent continuation of the impact map
    for (branch, expected) in branches.zip([1.526823701, 1.667130661, 1.696780746, 1.703180526]) {
        let specials = branch["specials"].as_array().unwrap();
        let doubling = specials.iter().find(|special| special["kind"] == "period-doubling");
        let doubling = doubling.unwrap_or_else(|| panic!("none at {expected}: {specials:?}"));
        assert!((doubling["orbit"]["parameter"].as_f64().unwrap() - expected).abs() < 2e-9, "{doubling}");
    }
}
