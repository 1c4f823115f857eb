//! Sweeps, bifurcation diagrams, Lyapunov exponents and basins: numbers, files, resumption, nonsense.

use super::session::{BALL, Session};
use serde_json::Value;
use std::fs;

/// A ball whose restitution and gravity are varied.
const SWEEP: [&str; 6] = ["sweep", "ball.toml", "--vary", "e=0.1:0.9:5", "--measure", "impacts"];

fn with_ball() -> Session {
    let session = Session::new();
    session.write("ball.toml", BALL);
    session
}

pub fn lines(session: &Session, name: &str) -> Vec<Vec<String>> {
    session.read(name).lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// The command fails with this code, and says all this.
pub fn fails(session: &Session, arguments: &[&str], code: i32, words: &[&str]) {
    let outcome = session.carom(arguments);
    assert_eq!(outcome.code, Some(code), "{arguments:?}: {}{}", outcome.out, outcome.err);
    for word in words {
        assert!(outcome.err.contains(word), "{arguments:?}: {word} is not in {}", outcome.err);
    }
}

#[test]
fn a_sweep_has_one_row_per_run() {
    let session = with_ball();
    let out = session.succeed(SWEEP.iter().chain(&["--measure", "final y", "--measure", "max energy.total"]));
    assert!(out.contains("5 runs finished, 0 failed, 0 refused"), "{out}");
    assert_eq!(session.names("out/ball-sweep"), ["sweep.csv", "sweep.html", "sweep.jsonl"]);
    let rows = lines(&session, "out/ball-sweep/sweep.csv");
    assert_eq!(rows[0], ["run", "e", "status", "reason", "impacts", "final y", "max energy.total"]);
    let values: Vec<&str> = rows[1..].iter().map(|row| row[1].as_str()).collect();
    assert_eq!(values, ["0.1", "0.3", "0.5", "0.7", "0.9"]);
    // the energy never exceeds that of the start, whatever the restitution
    assert!(rows[1..].iter().all(|row| row[2] == "finished" && row[6].parse::<f64>().unwrap() <= 2.0 + 1e-12));
}

/// Impacts at t = 1, 1 + 2 e, 1 + 2 e + 2 e², ... They pile up at 1 + 2 e / (1 − e), which is later than the end of the
/// runs.
#[test]
fn a_sweep_counts_the_impacts_of_the_closed_form() {
    let session = Session::new();
    session.write("ball.toml", BALL.replace("end = 2\nstep = 0.01", "end = 3.5\nstep = 0.001"));
    session.succeed(["sweep", "ball.toml", "--vary", "e=0.6:0.9:4", "--measure", "impacts"]);
    let rows = lines(&session, "out/ball-sweep/sweep.csv");
    let counts: Vec<[f64; 2]> = rows[1..].iter().map(|row| [1, 4].map(|k| row[k].parse().unwrap())).collect();
    let expected = [0.6f64, 0.7, 0.8, 0.9].map(|e| {
        let times = (0..).map(|k| 1.0 + 2.0 * (e - e.powi(k + 1)) / (1.0 - e));
        [e, times.take_while(|t| *t < 3.5).count() as f64]
    });
    assert_eq!(counts, expected);
    assert_eq!(expected.map(|[_, count]| count), [4.0, 3.0, 2.0, 2.0]);
}

#[test]
fn a_sweep_goes_on_where_it_ended() {
    let session = with_ball();
    session.succeed(SWEEP);
    let whole = session.read("out/ball-sweep/sweep.csv");
    // parts in another order, some missing, and a piece of the last one
    let parts = session.read("out/ball-sweep/sweep.jsonl");
    let parts: Vec<&str> = parts.lines().collect();
    assert_eq!(parts.len(), 6, "a line that says what it is of, and one per run");
    let (marked, piece) = (parts[4].replace("[", "[77"), &parts[3][..parts[3].len() - 1]);
    session.write("out/ball-sweep/sweep.jsonl", format!("{}\n{marked}\n{}\n{piece}", parts[0], parts[1]));
    let out = session.succeed(SWEEP);
    assert!(out.contains("2 of 5 runs are there already"), "{out}");
    // what was there is not computed again
    let kept = session.read("out/ball-sweep/sweep.csv");
    let rows: Vec<&str> = whole.lines().collect();
    assert_eq!(kept, whole.replace(rows[4], &rows[4].replace("finished,,", "finished,,77")));
    session.succeed(SWEEP.iter().chain(&["--fresh"]));
    assert_eq!(session.read("out/ball-sweep/sweep.csv"), whole);
    // another sweep is not mixed with it
    fails(&session, &["sweep", "ball.toml", "--vary", "e=0.1,0.2"], 2, &["holds another sweep", "--fresh"]);
    assert_eq!(session.read("out/ball-sweep/sweep.csv"), whole);
}

#[test]
fn threads_do_not_change_results() {
    let session = with_ball();
    let run = |threads: &str, out: &str, random: &[&str]| {
        let more = ["--threads", threads, "--out", out, "--quiet"];
        assert_eq!(session.succeed(SWEEP.iter().chain(&more).chain(random)), "");
        session.read(&format!("{out}/sweep.csv"))
    };
    assert_eq!(run("1", "a", &[]), run("4", "b", &[]));
    let sample = run("1", "c", &["--random", "7", "--seed", "3"]);
    assert_eq!(sample, run("3", "d", &["--random", "7", "--seed", "3"]));
    assert_ne!(sample, run("3", "e", &["--random", "7", "--seed", "4"]));
    assert_eq!(sample.lines().count(), 8);
}

#[test]
fn a_failed_run_stops_no_other() {
    let session = with_ball();
    let vary = ["sweep", "ball.toml", "--vary", "e=0.5,-1,0.7", "--json"];
    let rows: Value = serde_json::from_str(&session.succeed(vary)).unwrap();
    let status: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["status"].as_str().unwrap()).collect();
    assert_eq!(status, ["finished", "refused", "finished"]);
    assert!(rows[1]["reason"].as_str().unwrap().contains("restitution"), "{}", rows[1]);
    assert!(rows[0]["measured"]["impacts"].as_f64().unwrap() >= 1.0, "{}", rows[0]);
    // not one good run: the computation failed
    fails(&session, &["sweep", "ball.toml", "--vary", "e=-1,-2", "--out", "none"], 3, &["all 2 runs failed"]);
    assert!(session.read("none/sweep.csv").contains("refused"));
}

#[test]
fn nonsense_is_refused() {
    let session = with_ball();
    let model = "ball.toml";
    for (arguments, words) in [
        (vec!["sweep", model], vec!["--vary"]),
        (vec!["sweep", model, "--vary", "mu=0:1:3"], vec!["unknown parameter `mu`"]),
        (vec!["sweep", model, "--vary", "e=0:1:0"], vec!["number of values"]),
        (vec!["sweep", model, "--vary", "e=0:x:3"], vec!["not a finite number"]),
        (vec!["sweep", model, "--vary", "e=0,1", "--vary", "e=2"], vec!["varied twice"]),
        (vec!["sweep", model, "--vary", "e=0:1:3", "--random", "0"], vec!["--random"]),
        (vec!["sweep", model, "--vary", "e=0:1:3", "--measure", "finl y"], vec!["did you mean `final`"]),
        (vec!["sweep", model, "--vary", "e=0:1:3", "--measure", "max x"], vec!["no result column `x`"]),
        (vec!["sweep", model, "--vary", "e=0:1:3", "--threads", "0"], vec!["--threads"]),
        (vec!["bifurcation", model, "--parameter", "e=0:1:3"], vec!["the period is not known", "--period"]),
        (vec!["bifurcation", model, "--parameter", "q=0:1:3", "--period", "1"], vec!["unknown parameter `q`"]),
        (vec!["bifurcation", model, "--parameter", "e=0:1:3", "--period", "2*pi/om"], vec!["om"]),
        (vec!["bifurcation", model, "--parameter", "e=0:1:3", "--period", "-1"], vec!["positive time"]),
        (vec!["bifurcation", model, "--parameter", "e=0:1:3", "--period", "1", "--periods", "0"], vec!["--periods"]),
        (vec!["bifurcation", model, "--parameter", "e=0:1:3", "--period", "1", "--column", "z"], vec!["column `z`"]),
        (
            vec!["bifurcation", model, "--parameter", "e=0:1:3", "--period", "1", "--column", "energy.total"],
            vec!["not a function of the state"],
        ),
        (vec!["lyapunov", model], vec!["the period is not known"]),
        (vec!["lyapunov", model, "--period", "1", "--eps", "0"], vec!["the perturbation is 0"]),
        (vec!["lyapunov", model, "--period", "1", "--intervals", "0"], vec!["--intervals"]),
        (vec!["lyapunov", model, "--period", "1", "--step", "-1"], vec!["step"]),
        (vec!["basin", model, "--x", "y=0:1:3", "--y", "y=0:1:3", "--period", "1"], vec!["the same"]),
        (vec!["basin", model, "--x", "y=0:1:3", "--y", "z=0:1:3", "--period", "1"], vec!["column `z`"]),
        (vec!["basin", model, "--x", "y=0:1:3", "--y", "energy.total=0:1:3", "--period", "1"], vec!["no coordinate"]),
        (vec!["basin", model, "--x", "y=0:1:100000", "--y", "y'=0:1:100000", "--period", "1"], vec!["too many"]),
        (vec!["basin", "no.toml", "--x", "y=0:1:3", "--y", "y'=0:1:3", "--period", "1"], vec!["no.toml"]),
    ] {
        fails(&session, &arguments, 2, &words);
        assert!(!session.path("out").exists(), "{arguments:?} made a folder");
    }
}

#[test]
fn an_unwritable_folder_is_told() {
    let session = with_ball();
    session.write("file", "in the way");
    let period = ["--period", "1"];
    for arguments in [
        vec!["sweep", "ball.toml", "--vary", "e=0.1,0.2"],
        [&["bifurcation", "ball.toml", "--parameter", "e=0.1,0.2"], &period[..]].concat(),
        [&["lyapunov", "ball.toml", "--intervals", "30"], &period[..]].concat(),
        [&["basin", "ball.toml", "--x", "y=0:1:2", "--y", "y'=0:1:2"], &period[..]].concat(),
    ] {
        fails(&session, &[&arguments[..], &["--out", "file/out"]].concat(), 1, &["file/out"]);
    }
    assert_eq!(session.read("file"), "in the way");
}

/// Attractors of the literature: one point at 2.6, two at 2.7, chaos at 2.8; exponents to match.
#[test]
fn bifurcations_of_the_oscillator() {
    let session = Session::new();
    let arguments = ["bifurcation", "chaotic-oscillator", "--parameter", "om=2.6,2.7,2.8", "--exponent"];
    let out = session.succeed(arguments.iter().chain(&["--transient", "100", "--periods", "80", "--threads", "2"]));
    assert!(out.contains("6 values of om, 0 failed"), "{out}");
    let folder = "out/chaotic-oscillator-bifurcation";
    assert_eq!(session.names(folder), ["bifurcation.csv", "bifurcation.html", "points.csv"]);
    let rows = lines(&session, &format!("{folder}/bifurcation.csv"));
    let column = |name: &str| rows[0].iter().position(|known| known == name).unwrap();
    let periods: Vec<&str> = rows[1..].iter().map(|row| row[column("period")].as_str()).collect();
    assert_eq!(periods, ["1", "2", "", "1", "2", ""]);
    let exponents: Vec<f64> = rows[1..].iter().map(|row| row[column("exponent")].parse().unwrap()).collect();
    assert!(exponents[0] < -0.1 && exponents[1] < -0.1 && exponents[2] > 0.05, "{exponents:?}");
    let points = lines(&session, &format!("{folder}/points.csv"));
    assert_eq!(points.len(), 1 + 6 * 80);
    for row in points[1..].iter().filter(|row| row[0] == "2.7") {
        let point: f64 = row[2].parse().unwrap();
        assert!((point - 0.0303622).abs() < 1e-3 || (point - 0.1165699).abs() < 1e-3, "{point}");
    }
}

/// Set A: the sum is that of the trace identity, and both exponents are near those of the literature.
#[test]
fn exponents_of_the_oscillator() {
    let session = Session::new();
    let arguments = ["lyapunov", "chaotic-oscillator", "--intervals", "300", "--transient", "100", "--json"];
    let found: Value = serde_json::from_str(&session.succeed(arguments)).unwrap();
    let exponent = |k: usize| found["spectrum"]["exponents"][k]["value"].as_f64().unwrap();
    assert!((exponent(0) - 0.165).abs() < 0.045 && (exponent(1) + 0.583).abs() < 0.045, "{found}");
    let (sum, trace) = (found["sum"].as_f64().unwrap(), found["spectrum"]["trace"].as_f64().unwrap());
    assert!((sum - trace).abs() < 1e-10 && (trace + 0.4179).abs() < 5e-3, "{sum} {trace}");
    let perturbed: Value =
        serde_json::from_str(&session.succeed(arguments.iter().chain(&["--method", "perturbation"]))).unwrap();
    assert!((perturbed["sum"].as_f64().unwrap() - perturbed["spectrum"]["trace"].as_f64().unwrap()).abs() < 2e-3);
    fails(
        &session,
        &["lyapunov", "chaotic-oscillator", "--scheme", "moreau-jean"],
        2,
        &["event-driven", "--method perturbation"],
    );
    let folder = "out/chaotic-oscillator-lyapunov";
    assert_eq!(session.names(folder), ["convergence.csv", "lyapunov.csv", "lyapunov.html"]);
    assert_eq!(lines(&session, &format!("{folder}/convergence.csv")).len(), 301);
    // a contact at rest is told, not averaged
    let sticky = ["lyapunov", "chaotic-oscillator", "--set", "om=2.9", "--intervals", "40"];
    let out = session.succeed(sticky);
    assert!(out.contains("collapsed") && out.contains("came to rest"), "{out}");
    // a failing computation
    session.write("bad.toml", BALL.replace("\"2*y\"", "\"2*y + y^1.5\"").replace("gap = \"y\"", "gap = \"y + 10\""));
    fails(&session, &["lyapunov", "bad.toml", "--period", "1", "--intervals", "30"], 3, &["error"]);
}

#[test]
fn basins_of_the_oscillator() {
    let session = Session::new();
    let out = session.succeed([
        "basin",
        "chaotic-oscillator",
        "--set",
        "om=2.6",
        "--x",
        "u=-0.5:1:4",
        "--y",
        "u'=-1:1:3",
        "--transient",
        "60",
        "--step",
        "0.01",
    ]);
    assert!(out.contains("12 cells") && out.contains("behind a wall: 3"), "{out}");
    let folder = "out/chaotic-oscillator-basin";
    assert_eq!(session.names(folder), ["basin.csv", "basin.html", "basin.png"]);
    assert_eq!(&fs::read(session.path(format!("{folder}/basin.png"))).unwrap()[..8], b"\x89PNG\r\n\x1a\n");
    let rows = lines(&session, &format!("{folder}/basin.csv"));
    assert_eq!(rows.len(), 13);
    assert!(rows[1..].iter().all(|row| (row[0].starts_with('-')) == (row[3] == "behind a wall")), "{rows:?}");
    assert!(session.read(&format!("{folder}/basin.html")).contains("data:image/png;base64,"));
}
