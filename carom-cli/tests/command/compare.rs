//! Two results side by side, figures as files, and charts that a model file asks for.

use super::session::{BALL, Session};
use std::fs;

/// Two flights that have not met the floor: y = 1 - f t²/2 for both, exactly with theta = 1/2.
fn flights() -> Session {
    let session = Session::new();
    session.write("ball.toml", BALL.replace("e = 0.5", "e = 0.5\nf = 2").replace("2*y", "f*y"));
    let run = ["run", "ball.toml", "--end", "0.8", "--no-report", "--out"];
    session.succeed(run.iter().chain(&["a"]));
    session.succeed(run.iter().chain(&["b", "--set", "f=2.2", "--step", "0.02"]));
    session
}

#[test]
fn differences_are_those_of_the_closed_forms() {
    let session = flights();
    let text = session.succeed(["compare", "a", "b", "--out", "both", "--figures", "svg", "--json"]);
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    let table = found["tables"].as_array().unwrap().iter().find(|t| t["name"] == "Differences of the columns").unwrap();
    let row = |name: &str| table["rows"].as_array().unwrap().iter().find(|r| r["column"] == name).unwrap().clone();
    // rows of the first are compared with chords of the second: 0.02 s apart they are off by at most f h²/8
    let y = row("q.y");
    assert!((y["last"].as_f64().unwrap() - 0.1 * 0.64).abs() < 1e-12, "{y}");
    assert!((y["largest"].as_f64().unwrap() - 0.064).abs() < 2.2 * 4e-4 / 8.0 && y["t"] == 0.8, "{y}");
    assert!((row("v.y")["last"].as_f64().unwrap() - 0.16).abs() < 1e-12);
    let page = fs::read_to_string(session.path("both/report.html")).unwrap();
    assert!(page.contains("parameter f") && session.path("both/compare.csv").exists());
    let svg = fs::read_to_string(session.path("svg/q-y.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains(">a<") && svg.contains(">b<"));
}

#[test]
fn a_result_does_not_differ_from_itself_and_a_tolerance_judges() {
    let session = flights();
    let same = session.succeed(["compare", "a", "a", "--tolerance", "0"]);
    assert!(same.contains("no column differs"), "{same}");
    let other = session.carom(["compare", "a", "b", "--tolerance", "0.05"]);
    assert_eq!(other.code, Some(4));
    assert!(other.err.contains("differ by more than 5e-2 of their range"), "{}", other.err);
    session.succeed(["compare", "a", "b", "--tolerance", "0.2"]);
}

/// The ball meets the floor at t = 1 with the velocity 2: the impulses (1 + e) 2 differ by 2 (0.4 - 0.5).
#[test]
fn impacts_are_compared_one_by_one() {
    let session = Session::new();
    session.write("ball.toml", BALL);
    let run = ["run", "ball.toml", "--no-report", "--out"];
    session.succeed(run.iter().chain(&["a"]));
    session.succeed(run.iter().chain(&["b", "--set", "e=0.4"]));
    session.succeed(["compare", "a", "b", "--out", "both"]);
    let text = session.read("both/compare-impacts.csv");
    let first: Vec<&str> = text.lines().nth(1).unwrap().split(',').collect();
    assert_eq!((first[0], first[3].parse::<f64>().unwrap()), ("floor", 0.0));
    // velocities are known at the ends of steps: off by at most f h
    assert!((first[4].parse::<f64>().unwrap() + 0.2).abs() < 2.0 * 0.01, "{text}");
    assert!(first[1].parse::<f64>().is_ok_and(|t| (t - 1.0).abs() < 0.011), "{text}");
}

#[test]
fn folders_without_results_are_told() {
    let session = flights();
    fs::create_dir(session.path("empty")).unwrap();
    for (folder, word) in [("nowhere", "there is no folder `nowhere`"), ("empty", "summary.json")] {
        let outcome = session.carom(["compare", "a", folder]);
        assert_eq!(outcome.code, Some(2));
        assert!(outcome.err.contains(word) && outcome.err.contains("hint:"), "{}", outcome.err);
    }
}

#[test]
fn every_chart_of_a_run_and_of_a_study_is_a_file() {
    let session = Session::new();
    session.write("ball.toml", BALL);
    session.succeed(["run", "ball.toml", "--no-report", "--figures", "run", "--quiet"]);
    for name in ["positions", "velocities", "gaps", "energies"] {
        let svg = fs::read_to_string(session.path(format!("run/{name}.svg"))).unwrap();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && !svg.contains("NaN"), "{name}");
    }
    assert!(!session.path("out/ball/report.html").exists());
    session.succeed(["sweep", "bouncing-ball", "--vary", "e=0:0.5:3", "--figures", "study", "--quiet"]);
    for (name, unit) in [("final-q-y-over-e", "m]<"), ("max-energy-total-over-e", "J]<")] {
        assert!(session.read(&format!("study/{name}.svg")).contains(unit), "the axis of {name} has its unit");
    }
}

#[test]
fn charts_of_a_model_file_are_drawn_first_and_their_expressions_are_columns() {
    let session = Session::new();
    let chart = "\n[[chart]]\ntitle = \"Speed squared\"\ncurves = [\"y'^2\", \"energy.kinetic\"]\nrange = [0, 5]\n\
                 \n[[chart]]\ncurves = \"v.y\"\nover = \"q.y\"\n";
    session.write("ball.toml", format!("{BALL}{chart}"));
    session.succeed(["run", "ball.toml", "--figures", "svg", "--quiet"]);
    let table = session.table("out/ball/trajectory.parquet");
    let (squared, kinetic) = (table.column("output.y'^2"), table.column("energy.kinetic"));
    assert!(squared.len() > 100 && squared.iter().zip(&kinetic).all(|(s, k)| (s / 2.0 - k).abs() < 1e-12));
    let page = fs::read_to_string(session.path("out/ball/report.html")).unwrap();
    let (first, second) = (page.find("\"title\":\"Speed squared\""), page.find("\"title\":\"Positions\""));
    assert!(first.unwrap() < second.unwrap());
    assert!(page.contains("\"y_range\":[0.0,5.0]"));
    assert!(session.path("svg/speed-squared.svg").exists() && session.path("svg/v-y-over-q-y.svg").exists());
}

#[test]
fn mistakes_in_charts_have_places() {
    let session = Session::new();
    for (chart, place, word) in [
        ("curves = \"gap.flor\"", "25:10", "did you mean `gap.floor`"),
        ("curves = \"z + 1\"", "25:11", "z"),
        ("curves = []", "25:10", "at least one curve"),
        ("curves = \"y\"\nrange = [1, 0]", "26:9", "the smaller one first"),
        ("curves = \"y\"\nover = \"q.z\"", "26:8", "there is no result column `q.z`"),
        ("curve = \"y\"", "25:1", "curves"),
    ] {
        session.write("ball.toml", format!("{BALL}[[chart]]\n{chart}\n"));
        let outcome = session.carom(["check", "ball.toml"]);
        assert_eq!(outcome.code, Some(2), "{chart}");
        assert!(outcome.err.contains(&format!("ball.toml:{place}")) && outcome.err.contains(word), "{}", outcome.err);
    }
}
