//! Runs that do not end well: what was computed stays, and the exit code tells the kind of trouble.

use super::session::{BALL, Outcome, Session};
use serde_json::Value;
use std::fs;

/// A free mass with a contact far away, and room for one more line in `[model]`.
fn model(line: &str) -> String {
    BALL.replace("potential = \"2*y\"", line)
}

/// A run that failed on its way: readable results up to the time of the failure, which is told everywhere.
fn failed(session: &Session, outcome: &Outcome, folder: &str) -> Value {
    assert_eq!(outcome.code, Some(3), "{}{}", outcome.out, outcome.err);
    assert!(outcome.out.contains("(FAILED)"), "{}", outcome.out);
    let summary = session.summary(folder);
    assert_eq!(summary["status"], "failed");
    let failure = summary["failure"].clone();
    let message = failure["message"].as_str().unwrap();
    assert!(outcome.err.starts_with("error: ") && outcome.err.contains(message), "{}", outcome.err);
    let table = session.table(&format!("{folder}/trajectory.parquet"));
    assert_eq!(summary["rows"], table.rows.len());
    let (last, time) = (table.last("t"), failure["time"].as_f64().unwrap());
    let step = summary["inputs"]["step"].as_f64().unwrap();
    assert!(last <= time + 1e-12 && time - last <= 1.001 * step, "rows end at {last}, failed at {time}");
    let report = session.read(&format!("{folder}/report.html"));
    assert!(report.contains("The run failed at t = "), "the report is silent about {message}");
    assert_eq!(session.names(folder), ["impacts.parquet", "report.html", "summary.json", "trajectory.parquet"]);
    failure
}

#[test]
fn a_force_that_is_no_number_ends_the_run() {
    let session = Session::new();
    session.write("root.toml", model("force.y = \"sqrt(1 - t)\""));
    let failure = failed(&session, &session.carom(["run", "root.toml"]), "out/root");
    // forces are taken in the middle of steps of 0.01 s: the first one after 1 s is that from 1 s on
    assert!((failure["time"].as_f64().unwrap() - 1.0).abs() <= 1e-12, "{failure}");
    assert_eq!(failure["step"], 100);
    assert!(failure["message"].as_str().unwrap().contains("force"), "{failure}");
    let table = session.table("out/root/trajectory.parquet");
    // v = ∫ sqrt(1 − t) dt = 2/3 at t = 1; the midpoint rule errs by h^(3/2) at the root
    assert_eq!(table.rows.len(), 101);
    assert!((table.last("v.y") - 2.0 / 3.0).abs() <= 1e-3);
}

#[test]
fn a_mass_matrix_that_loses_rank_ends_the_run() {
    let session = Session::new();
    let text = BALL
        .replace("[\"y\"]", "[\"y\", \"x\"]")
        .replace("potential = \"2*y\"", "")
        .replace("y'^2/2", "y'^2/2 + max(2 - y, 0)*x'^2/2")
        .replace("y = 1\n", "y = 1\n\"y'\" = 1\n");
    session.write("rank.toml", text);
    let failure = failed(&session, &session.carom(["run", "rank.toml"]), "out/rank");
    // y = 1 + t
    assert!((failure["time"].as_f64().unwrap() - 1.0).abs() <= 0.02, "{failure}");
    assert!(failure["message"].as_str().unwrap().contains("singular"), "{failure}");
}

#[test]
fn a_newton_loop_that_does_not_converge_ends_the_run() {
    let session = Session::new();
    let scheme = "{ name = \"moreau-jean\", newton-iterations = 4 }";
    let arguments = ["run", "double-pendulum", "--step", "0.02", "--every", "1", "--scheme", scheme];
    let failure = failed(&session, &session.carom(arguments), "out/double-pendulum");
    assert!(failure["residual"].as_f64().unwrap() > 0.0, "{failure}");
    assert!(failure["message"].as_str().unwrap().contains("after 4 iterations"), "{failure}");
}

#[test]
fn an_unsolved_problem_names_its_contact() {
    let session = Session::new();
    // one sweep cannot solve two contacts of the same body
    let solver = "{ name = \"nsgs\", max-sweeps = 1 }";
    let failure = failed(&session, &session.carom(["run", "rocking-block", "--solver", solver]), "out/rocking-block");
    assert!(failure["contact"] == "A" || failure["contact"] == "B", "{failure}");
    assert!(failure["residual"].as_f64().unwrap() > 1e-10, "{failure}");
    assert!(failure["time"].as_f64().unwrap() > 0.0, "the block flies before it falls: {failure}");
}

#[test]
fn an_output_that_is_no_number_ends_the_run() {
    let session = Session::new();
    let text = model("") + "[output.columns]\nbad = \"log(1 - t)\"\n";
    session.write("log.toml", text);
    let failure = failed(&session, &session.carom(["run", "log.toml"]), "out/log");
    assert!(failure["message"].as_str().unwrap().contains("output.bad"), "{failure}");
    assert!((failure["time"].as_f64().unwrap() - 1.0).abs() <= 1e-12, "{failure}");
    assert_eq!(session.table("out/log/trajectory.parquet").rows.len(), 100);
}

#[test]
fn a_missed_expectation_has_its_own_code() {
    let session = Session::new();
    let expect = "[[expect]]\nquantity = \"final t\"\nvalue = 3\ntolerance = 0.5\nsource = \"a wrong guess\"\n";
    session.write("ball.toml", format!("{BALL}{expect}{}", expect.replace("value = 3", "value = 2")));
    let outcome = session.carom(["run", "ball.toml"]);
    assert_eq!(outcome.code, Some(4), "{}", outcome.err);
    assert_eq!((outcome.out.matches(": MISSED").count(), outcome.out.matches(": ok").count()), (1, 1));
    assert_eq!(session.summary("out/ball")["status"], "finished");
    let report = session.read("out/ball/report.html");
    assert!(report.contains("a wrong guess") && report.contains("missed"));
    let outcome = session.carom(["run", "ball.toml", "--quiet"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(4), ""));
    assert!(outcome.err.contains("1 expected"), "{}", outcome.err);
    // expected numbers are those of the file as it is written: a changed run has none
    let out = session.succeed(["run", "ball.toml", "--end", "1"]);
    assert!(!out.contains("MISSED") && !out.contains(": ok"), "{out}");
}

#[test]
fn results_that_cannot_be_written_are_a_matter_of_the_environment() {
    let session = Session::new();
    session.write("file", "content");
    session.write("ball.toml", BALL);
    for out in ["file", "file/below"] {
        for command in [&["run"][..], &["converge", "--steps", "0.1:0.05:2"]] {
            let outcome = session.carom(command.iter().chain(&["ball.toml", "--out", out]));
            assert_eq!((outcome.code, outcome.out.as_str()), (Some(1), ""), "{command:?} {out}: {}", outcome.err);
            assert!(outcome.err.contains(&format!("`{out}`")), "{}", outcome.err);
        }
    }
    assert_eq!(session.read("file"), "content");
    for name in ["trajectory.parquet", "summary.json", "report.html"] {
        fs::create_dir_all(session.path("taken").join(name)).unwrap();
        let outcome = session.carom(["run", "ball.toml", "--out", "taken"]);
        assert_eq!(outcome.code, Some(1), "{name}: {}", outcome.err);
        assert!(outcome.err.contains(name), "{name}: {}", outcome.err);
        fs::remove_dir_all(session.path("taken")).unwrap();
    }
    let outcome = session.carom(["new", "nowhere/ball"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.err);
}

#[test]
fn nothing_of_an_earlier_run_is_left() {
    let session = Session::new();
    session.write("ball.toml", BALL);
    session.succeed(["run", "ball.toml", "--out", "out", "--csv"]);
    fs::create_dir(session.path("out/.carom/run.new")).unwrap();
    for part in ["trajectory.part-00007.parquet", "impacts.part-00001.parquet", "trajectory.parquet.tmp"] {
        session.write(&format!("out/.carom/run.new/{part}"), "left by a run that was killed");
    }
    session.write("out/notes.txt", "mine");
    // a mistake on the command line comes before anything is touched
    let before = session.names("out");
    assert_eq!(session.carom(["run", "ball.toml", "--out", "out", "--columns", "nope"]).code, Some(2));
    assert_eq!(session.names("out"), before);
    session.succeed(["run", "ball.toml", "--out", "out", "--no-report", "--steps", "3", "--end", "0.3"]);
    assert_eq!(session.names("out"), ["impacts.parquet", "notes.txt", "summary.json", "trajectory.parquet"]);
    assert!(!session.path("out/.carom/run.new").exists());
    assert_eq!(session.table("out/trajectory.parquet").rows.len(), 4);
}

/// Impacts that go on and on within a step: the run says so, and keeps the impacts before.
#[test]
fn a_budget_of_events_that_runs_out_ends_the_run() {
    let session = Session::new();
    session.write("ball.toml", BALL);
    for scheme in ["event-driven", "higher-order"] {
        let scheme = format!("{{ name = \"{scheme}\", max-events = 5 }}");
        let arguments = ["run", "ball.toml", "--scheme", &scheme, "--step", "0.4", "--end", "4", "--out", "out"];
        let outcome = session.carom(arguments);
        assert_eq!(outcome.code, Some(3), "{}{}", outcome.out, outcome.err);
        let failure = session.summary("out")["failure"].clone();
        let message = failure["message"].as_str().unwrap();
        assert!(message.contains("more than 5 events") && message.contains("`max-events`"), "{message}");
        assert!(message.contains("floor"), "{message}");
        // impacts at 3 − 2^(2−n): the first four are before the step that has all others
        let table = session.table("out/events.parquet");
        // the higher-order scheme locates impacts to 1e-3 h⁶
        assert!((table.column("t")[2] - 2.5).abs() < 1e-4, "{scheme}");
    }
}

/// A stiff spring with an explicit scheme: the energy leaves the range of numbers long before the state does.
const GROWING: &str = r#"
version = 1
name = "growing"
[parameters]
k = 1e6
[model]
kind = "lagrangian"
coordinates = ["x"]
kinetic = "x'^2/2"
potential = "k*x^2/2"
[initial]
x = 1.0
[simulation]
end = 2.0
step = 0.01
scheme = { name = "moreau-jean", theta = 0 }
[output.columns]
one = "1"
"#;

/// q grows by √(1 + k h²) = 10.05 per step, so that k q²/2 overflows after 151 steps and q itself after 307.
#[test]
fn an_infinite_energy_is_no_result() {
    let session = Session::new();
    session.write("growing.toml", GROWING);
    let failure = failed(&session, &session.carom(["run", "growing.toml", "--columns", "output.one"]), "out/growing");
    let message = failure["message"].as_str().unwrap();
    assert!(message.contains("`energy.") && message.contains(" is inf at t = 1."), "{failure}");
    assert!((1.49..1.53).contains(&failure["time"].as_f64().unwrap()), "{failure}");
    // what is measured fails the run as well, and its row alone
    let vary = ["sweep", "growing.toml", "--vary", "k=1e6,1", "--measure", "max energy.total", "--measure", "final x"];
    let outcome = session.carom(vary);
    assert_eq!(outcome.code, Some(0), "{}{}", outcome.out, outcome.err);
    let rows: Vec<String> = session.read("out/growing-sweep/sweep.csv").lines().map(str::to_owned).collect();
    assert!(rows[1].contains(",failed,") && rows[1].contains("`max energy.total` is inf at t = 1."), "{}", rows[1]);
    assert!(rows[2].contains(",finished,") && !rows[2].ends_with(','), "{}", rows[2]);
}

/// The words of `[[expect]]` are those of `--measure`: a ball thrown up from 1 m under 2 N.
#[test]
fn sweeps_measure_all_that_files_expect() {
    let session = Session::new();
    let events = "[[event]]\nname = \"apex\"\nwhen = \"y'\"\ndirection = \"falling\"\n";
    let text = BALL.replace("y = 1\n", "y = 1\n\"y'\" = \"up\"\n").replace("e = 0.5\n", "e = 0.5\nup = 1\n");
    session.write("up.toml", text + events);
    let mut arguments = vec!["sweep", "up.toml", "--vary", "up=1,0.5", "--end", "0.9"];
    for measure in ["mean v.y", "events apex", "first apex", "last apex", "first impact.floor", "impacts"] {
        arguments.extend(["--measure", measure]);
    }
    let outcome = session.carom(arguments);
    assert_eq!(outcome.code, Some(0), "{}{}", outcome.out, outcome.err);
    let csv = session.read("out/up-sweep/sweep.csv");
    for (line, up) in csv.lines().skip(1).zip([1.0, 0.5]) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |k: usize| cells[k].parse::<f64>().unwrap();
        // v = up − 2 t: its mean over 0.9 s, and its zero; no impact before (1 + sqrt(5))/2 · up
        assert_eq!(cells[2], "finished", "{line}");
        assert!((number(4) - (up - 0.9)).abs() < 1e-9, "{line}");
        assert!(number(5) == 1.0 && (number(6) - 0.5 * up).abs() < 1e-9 && number(6) == number(7), "{line}");
        assert!(cells[8].is_empty() && number(9) == 0.0, "{line}");
    }
}
