//! Runs that are stopped from outside, folders that are in use, readers that go away. Signals are those of Unix.
#![cfg(unix)]

use super::session::{BALL, Session};
use super::table::Table;
use std::fs::File;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Steps of a run that nobody waits for.
const ENDLESS: &str = "20000000";
const END: f64 = 5.0;

/// Starts a long run and waits for the first full part of its trajectory.
fn long_run(session: &Session) -> Child {
    let mut run = session.start(["run", "bouncing-ball", "--steps", ENDLESS, "--out", "long"]);
    let patience = Instant::now();
    while !session.path("long/.carom/run.new/trajectory.part-00001.parquet").exists() {
        assert!(run.try_wait().unwrap().is_none(), "the run ended before its time");
        assert!(patience.elapsed() < Duration::from_secs(60), "no part after a minute");
        std::thread::sleep(Duration::from_millis(5));
    }
    run
}

fn signal(name: &str, mut run: Child) -> ExitStatus {
    assert!(Command::new("kill").args([name, &run.id().to_string()]).status().unwrap().success());
    run.wait().unwrap()
}

/// Rows are those of equal steps from the start on, without a hole.
fn check_times(table: &Table, first: usize) {
    let step = END / ENDLESS.parse::<f64>().unwrap();
    for (k, t) in table.clone().steps().column("t").into_iter().enumerate() {
        assert!((t - (first + k) as f64 * step).abs() <= 1e-12, "row {k} is at {t}");
    }
}

#[test]
fn an_interrupted_run_keeps_its_results() {
    for name in ["-INT", "-TERM"] {
        let session = Session::new();
        let status = signal(name, long_run(&session));
        assert_eq!(status.code(), Some(130), "{name}");
        assert_eq!(session.names("long"), ["impacts.parquet", "report.html", "summary.json", "trajectory.parquet"]);
        let summary = session.summary("long");
        assert_eq!((&summary["status"], &summary["failure"]), (&"interrupted".into(), &serde_json::Value::Null));
        let table = session.table("long/trajectory.parquet");
        assert_eq!((&summary["rows"], summary["rows"].as_u64() >= Some(65536)), (&table.rows.len().into(), true));
        check_times(&table, 0);
        assert!(session.read("long/report.html").contains("The run was interrupted"));
        let partial = summary["partial"].as_str().unwrap();
        assert!(partial.starts_with("interrupted at t = "), "{partial}");
        assert_eq!(Table::partial(&session.path("long/trajectory.parquet")).as_deref(), Some(partial));
    }
}

#[test]
fn a_killed_run_leaves_readable_parts() {
    let session = Session::new();
    let status = signal("-KILL", long_run(&session));
    assert_eq!(status.code(), None);
    assert!(session.names("long").is_empty());
    let names = session.names("long/.carom/run.new");
    let parts: Vec<_> = names.iter().filter(|n| n.starts_with("trajectory.part-") && n.ends_with(".parquet")).collect();
    let mut rows = 0;
    for part in parts {
        let table = session.table(&format!("long/.carom/run.new/{part}"));
        check_times(&table, rows);
        rows += table.rows.len();
    }
    assert!(rows >= 65536, "{rows} rows");
    // the folder can be used again
    session.succeed(["run", "bouncing-ball", "--out", "long", "--quiet"]);
    assert_eq!(session.names("long"), ["impacts.parquet", "report.html", "summary.json", "trajectory.parquet"]);
}

#[test]
#[cfg(target_os = "linux")] // other systems may lack locks on folders
fn two_runs_do_not_share_a_folder() {
    let session = Session::new();
    let first = long_run(&session);
    let second = session.carom(["run", "rocking-block", "--out", "long"]);
    assert_eq!((second.code, second.out.as_str()), (Some(1), ""), "{}", second.err);
    assert!(second.err.contains("another run") && second.err.contains("--out"), "{}", second.err);
    assert_eq!(signal("-INT", first).code(), Some(130));
    assert_eq!(session.summary("long")["name"], "bouncing ball");
    check_times(&session.table("long/trajectory.parquet"), 0);
}

#[test]
fn an_interrupted_study_keeps_what_is_measured() {
    let session = Session::new();
    let mut study = session.start(["converge", "bouncing-ball", "--steps", "0.1:2e-6:60", "--out", "study"]);
    let patience = Instant::now();
    // the handler is there right after the folder
    while !session.path("study").exists() {
        assert!(patience.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
    assert!(study.try_wait().unwrap().is_none(), "the study ended before its time");
    assert_eq!(signal("-INT", study).code(), Some(130));
    assert!(session.read("study/convergence.csv").lines().count() > 1);
    assert!(session.path("study/convergence.html").exists());
}

#[test]
fn a_reader_may_go_away() {
    let session = Session::new();
    let commands: [&[&str]; 5] = [
        &["list", "examples"],
        &["show", "moreau-jean"],
        &["schema"],
        &["check", "bouncing-ball"],
        &["run", "bouncing-ball", "--no-report"],
    ];
    for arguments in commands {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = session.command(arguments).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), err.as_ref()), (Some(0), ""), "{arguments:?}");
        // and the other one: the exit code still tells
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let status = session.command(["run", "nothing"]).stdout(Stdio::null()).stderr(writer).status().unwrap();
        assert_eq!(status.code(), Some(2));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told() {
    let session = Session::new();
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let output = session.command(["list", "examples"]).stdout(full()).stderr(Stdio::piped()).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.starts_with("error: cannot print"), "{err}");
}

/// An interrupted sweep keeps its rows, and a rerun computes the others.
#[test]
fn an_interrupted_sweep_goes_on() {
    let session = Session::new();
    let arguments = ["sweep", "bouncing-ball", "--vary", "e=0.1:0.9:30", "--out", "long", "--threads", "1"];
    let lines = || session.read("long/sweep.csv").lines().map(str::to_owned).collect::<Vec<String>>();
    let rows = || lines().iter().filter(|line| !line.starts_with('#')).count() - 1;
    let parts = || session.read("long/sweep.jsonl").lines().count().saturating_sub(1);
    let mut run = session.start(arguments.iter().chain(&["--step", "5e-5"]));
    let patience = Instant::now();
    while !session.path("long/sweep.jsonl").exists() || parts() < 2 {
        assert!(run.try_wait().unwrap().is_none(), "the sweep ended before its time");
        assert!(patience.elapsed() < Duration::from_secs(60), "no rows after a minute");
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(signal("-INT", run).code(), Some(130));
    let done = rows();
    assert!((2..30).contains(&done), "{done}");
    // the file says that it is partial, in a last line
    let mut kept = lines();
    assert_eq!(kept.pop().unwrap(), format!("# partial: interrupted after {done} of 30 units"));
    let out = session.succeed(arguments.iter().chain(&["--step", "5e-5"]));
    assert!(out.contains(&format!("{done} of 30 runs are there already")) && out.contains("30 runs finished"), "{out}");
    assert!(lines().starts_with(&kept) && rows() == 30 && !session.read("long/sweep.csv").contains('#'));
}

/// Ctrl-C ends what does not come to its end by itself within a second: inside transients, searches, runs of a study
/// and figures. The message is true: it speaks of files that are there.
#[test]
fn an_interrupt_is_heard_within_a_second() {
    let transient = ["--period", "0.1", "--transient", "100000000", "--out", "out"];
    let cases: [(&[&str], &[&str]); 7] = [
        (&["basin", "ball.toml", "--x", "y=0:1:2", "--y", "y'=0:1:2"], &transient),
        (&["bifurcation", "ball.toml", "--parameter", "e=0.1,0.2"], &transient),
        (&["lyapunov", "ball.toml", "--method", "perturbation"], &transient),
        (&["lyapunov", "chaotic-oscillator"], &["--transient", "100000000", "--out", "out"]),
        (&["orbit", "double-pendulum", "--set", "l=1e-6", "--section", "impact", "--period", "1"], &["--out", "out"]),
        (&["reproduce", "nqi/failure"], &["--out", "out"]),
        (
            &[
                "converge",
                "two-mass-chain",
                "--set",
                "amplitude=1e16",
                "--set",
                "clearance=pi",
                "--schemes",
                "event-driven",
            ],
            &["--steps", "0.1:0.01:2", "--out", "out"],
        ),
    ];
    for (words, more) in cases {
        let session = Session::new();
        session.write("ball.toml", BALL);
        let mut command = session.command(words.iter().chain(more));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let patience = Instant::now();
        while !session.path("out/.carom/lock").exists() {
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none() && patience.elapsed() < Duration::from_secs(60), "{words:?} {ended:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(300));
        let clock = Instant::now();
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let waited = clock.elapsed();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{words:?}: {err}");
        assert!(err.starts_with("interrupted: "), "{words:?}: {err}");
        // what was done to its end is in the file of parts, and tables of it say that they are partial
        let names = session.names("out");
        for name in names.iter().filter(|name| name.ends_with(".csv")) {
            assert!(session.read(&format!("out/{name}")).contains("# partial: "), "{words:?}: {name}");
        }
        assert!(names.is_empty() || names.iter().any(|name| name.ends_with(".jsonl")), "{words:?}: {names:?}");
        assert!(!names.is_empty() || err.contains("nothing was written"), "{words:?}: {err}");
        // a second, and what a machine that tests on all cores adds
        assert!(waited < Duration::from_millis(2500), "{words:?}: {waited:?}");
    }
}
