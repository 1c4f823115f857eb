//! `carom run --dump-problems`: problems of a run as files that `carom solve` reads, and what the solver did.

use super::session::{BALL, Session};
use serde_json::Value;
use std::fs;

/// A slider on the floor between two walls, pushed sideways: planar friction, a frictionless contact, a joint.
const SLIDER: &str = r#"version = 1
name = "slider"

[model]
kind = "lagrangian"
coordinates = ["x", "y", "z"]
kinetic = "(x'^2 + y'^2 + z'^2)/2"
potential = "9.81*y"
force.x = "8*cos(6*t)"

[[contact]]
name = "wall"
gap = "0.02 - x"
restitution = 0.2

[[contact]]
name = "floor"
gap = "y"
slip = "x"
friction = 0.3

[[constraint]]
name = "rail"
value = "z"

[initial]
y = 0

[simulation]
end = 0.5
step = 0.01
"#;

/// Solves all files of a folder; one row for each.
fn solve(session: &Session, folder: &str) -> Vec<Value> {
    let names = session.names(folder);
    assert!(!names.is_empty());
    let files = names.iter().map(|name| format!("{folder}/{name}"));
    let arguments = ["solve".to_string(), "--json".to_string()].into_iter().chain(files);
    serde_json::from_str::<Value>(&session.carom(arguments).out).unwrap().as_array().unwrap().clone()
}

#[test]
fn problems_of_the_ball_are_written_and_solved_again() {
    let session = Session::new();
    // without restitution the ball rests on the floor from about t = 1 s on: a problem in most of a hundred steps
    session.write("ball.toml", BALL.replace("e = 0.5", "e = 0"));
    let out = session.succeed(["run", "ball.toml", "--dump-problems", "p"]);
    let summary = session.summary("out/ball");
    let solves = summary["statistics"]["solves"].as_u64().unwrap();
    let names = session.names("p");
    assert_eq!(names.len() as u64, solves, "{names:?}");
    assert!((50..=102).contains(&solves), "{solves}");
    assert!(out.contains(&format!("{solves} in p")), "{out}");
    assert!(names[0].starts_with("lcp-000000") && names[0].contains("-1-t") && names[0].ends_with(".dat"), "{names:?}");
    let rows = solve(&session, "p");
    assert!(rows.iter().all(|row| row["solved"] == true && row["kind"] == "linear complementarity"));
    // names tell step and time: h = 0.01
    for name in &names {
        let step: u64 = name[4..12].parse().unwrap();
        let time: f64 = name.split_once("-t").unwrap().1.strip_suffix(".dat").unwrap().parse().unwrap();
        assert!((time - 0.01 * step as f64).abs() < 1e-9, "{name}");
    }
    // every other step
    let out = session.succeed(["run", "ball.toml", "--dump-problems", "q", "--dump-every", "2"]);
    let fewer = session.names("q");
    assert!(out.contains(&format!("{} in q", fewer.len())));
    let even: Vec<&String> = names.iter().filter(|name| name[4..12].parse::<u64>().unwrap() % 2 == 0).collect();
    assert_eq!(fewer.iter().collect::<Vec<_>>(), even);
}

#[test]
fn mixtures_are_written_as_fclib() {
    let session = Session::new();
    session.write("slider.toml", SLIDER);
    session.succeed(["run", "slider.toml", "--dump-problems", "p"]);
    let names = session.names("p");
    assert_eq!(names.len() as u64, session.summary("out/slider")["statistics"]["solves"].as_u64().unwrap());
    assert!(names.iter().all(|name| name.starts_with("fclib-") && name.ends_with(".hdf5")), "{names:?}");
    let rows = solve(&session, "p");
    assert_eq!(rows.len(), names.len());
    assert!(rows.iter().all(|row| row["solved"] == true), "{rows:?}");
    // floor and rail: 2 + 1 rows; with the wall, which gets a tangent without friction, 2 more
    let sizes: Vec<u64> = rows.iter().map(|row| row["rows"].as_u64().unwrap()).collect();
    assert!(sizes.contains(&3) && sizes.contains(&5), "{sizes:?}");
    // without friction there are complementarity conditions and an equation
    let smooth = SLIDER.replace("slip = \"x\"\nfriction = 0.3\n", "");
    session.write("smooth.toml", smooth);
    session.succeed(["run", "smooth.toml", "--dump-problems", "m"]);
    assert!(session.names("m").iter().all(|name| name.starts_with("mlcp-")), "{:?}", session.names("m"));
    assert!(solve(&session, "m").iter().all(|row| row["solved"] == true));
}

#[test]
fn the_problem_that_fails_is_always_written() {
    let session = Session::new();
    let solver = "{ name = \"nsgs\", max-sweeps = 1 }";
    let arguments = ["run", "rocking-block", "--solver", solver, "--dump-problems", "p", "--dump-every", "1000000"];
    assert_eq!(session.carom(arguments).code, Some(3));
    let names = session.names("p");
    let failed: Vec<&String> = names.iter().filter(|name| name.contains("-failed.")).collect();
    assert_eq!(failed.len(), 1, "{names:?}");
    let step = session.summary("out/rocking-block")["failure"]["step"].as_u64().unwrap();
    assert!(failed[0].contains(&format!("-{step:08}-")), "{failed:?}, step {step}");
    // `auto` solves what one sweep could not
    assert!(solve(&session, "p").iter().all(|row| row["solved"] == true));
}

#[test]
fn the_disk_is_not_filled_in_silence() {
    let session = Session::new();
    session.write("ball.toml", BALL.replace("e = 0.5", "e = 0"));
    let outcome = session.carom(["run", "ball.toml", "--dump-problems", "p", "--dump-most", "2"]);
    assert_eq!((outcome.code, session.names("p").len()), (Some(0), 2), "{}", outcome.err);
    assert!(outcome.err.contains("left out") && outcome.err.contains("--dump-most"), "{}", outcome.err);
    // a folder with problems of another run is refused before anything is written
    let outcome = session.carom(["run", "ball.toml", "--dump-problems", "p", "--out", "again"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    assert!(outcome.err.contains("earlier run") && session.names("again").is_empty(), "{}", outcome.err);
    // a file in the place of the folder
    let outcome = session.carom(["run", "ball.toml", "--dump-problems", "ball.toml"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.err);
    fs::create_dir(session.path("other")).unwrap();
    session.write("other/notes.txt", "kept");
    session.succeed(["run", "ball.toml", "--quiet", "--dump-problems", "other"]);
    assert_eq!(session.read("other/notes.txt"), "kept");
    assert_eq!(session.carom(["run", "ball.toml", "--dump-every", "2"]).code, Some(2));
}

#[test]
fn the_report_tells_what_the_solver_did() {
    let session = Session::new();
    let out = session.succeed(["run", "rocking-block"]);
    let summary = session.summary("out/rocking-block");
    let paths = summary["solver"].as_array().unwrap();
    let problems: u64 = paths.iter().map(|path| path["problems"].as_u64().unwrap()).sum();
    assert_eq!(problems, summary["statistics"]["solves"].as_u64().unwrap());
    let worst = paths.iter().map(|path| path["worst_residual"].as_f64().unwrap()).fold(0.0, f64::max);
    assert_eq!(worst, summary["certificate"]["residual"].as_f64().unwrap());
    let report = session.read("out/rocking-block/report.html");
    for path in paths {
        let methods = path["methods"].as_str().unwrap();
        assert!(out.contains(methods) && report.contains(methods), "{methods}");
    }
    assert!(paths.iter().any(|path| path["methods"] == "closed form"), "{paths:?}");
    // a solver that is one method
    session.succeed(["run", "rocking-block", "--solver", "nsgs"]);
    let summary = session.summary("out/rocking-block");
    assert!(summary["solver"].as_array().unwrap().iter().any(|path| path["methods"] == "nsgs"));
    // nothing to solve
    session.write("fall.toml", BALL.replace("end = 2", "end = 0.5"));
    session.succeed(["run", "fall.toml"]);
    assert_eq!(session.summary("out/fall")["solver"], Value::Array(Vec::new()));
}
