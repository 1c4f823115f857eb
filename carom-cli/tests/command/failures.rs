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
    for part in ["trajectory.part-00007.parquet", "impacts.part-00001.parquet", "trajectory.parquet.tmp"] {
        session.write(&format!("out/{part}"), "left by a run that was killed");
    }
    session.write("out/notes.txt", "mine");
    // a mistake on the command line comes before anything is touched
    let before = session.names("out");
    assert_eq!(session.carom(["run", "ball.toml", "--out", "out", "--columns", "nope"]).code, Some(2));
    assert_eq!(session.names("out"), before);
    session.succeed(["run", "ball.toml", "--out", "out", "--no-report", "--steps", "3"]);
    assert_eq!(session.names("out"), ["impacts.parquet", "notes.txt", "summary.json", "trajectory.parquet"]);
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
