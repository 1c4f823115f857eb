//! Options of `carom run`, and what holds for every run: the same bytes twice, bounded memory.

use super::session::{BALL, Session};
use super::table::Table;
use serde_json::Value;
use std::fs;

/// Runs the ball of `session` with more arguments; the summary and the trajectory.
fn ball(session: &Session, arguments: &[&str]) -> (Value, Table) {
    session.write("ball.toml", BALL);
    // quiet: a few of these runs are too coarse for the ball, and would say so
    session.succeed(["run", "ball.toml", "--no-report", "--quiet"].iter().chain(arguments));
    (session.summary("out/ball"), session.table("out/ball/trajectory.parquet"))
}

#[test]
fn parameters_are_set() {
    let session = Session::new();
    // without restitution the ball never goes up
    let (summary, table) = ball(&session, &["--set", "e=0"]);
    assert_eq!(summary["inputs"]["parameters"]["e"], 0.0);
    assert!(table.column("v.y").iter().all(|v| *v <= 1e-12) && table.last("v.y").abs() <= 1e-12);
    let (_, table) = ball(&session, &[]);
    assert!(table.column("v.y").iter().any(|v| *v > 0.9), "half of 2 m/s");
    // an expression; of two values the last one counts; e = 1 keeps the energy of 2 J
    let (summary, table) = ball(&session, &["--set", "e=0.1", "--set", " e = cos(0) "]);
    assert_eq!(summary["inputs"]["parameters"]["e"], 1.0);
    assert!(table.column("energy.total").iter().all(|energy| (energy - 2.0).abs() <= 1e-12));
}

#[test]
fn the_scheme_and_the_solver_are_chosen() {
    let session = Session::new();
    // the first step of free fall: q = 1 − θ f h², f = 2, h = 0.01
    for (scheme, theta) in [("moreau-jean", 0.5), ("{ name = \"moreau-jean\", theta = 1 }", 1.0)] {
        let (summary, table) = ball(&session, &["--scheme", scheme]);
        assert_eq!(summary["inputs"]["scheme"]["name"], "moreau-jean");
        assert!((table.column("q.y")[1] - (1.0 - theta * 2e-4)).abs() <= 1e-15, "{scheme}");
    }
    let (_, reference) = ball(&session, &[]);
    for solver in ["nsgs", "lemke", "{ name = \"nsgs\", tolerance = 1e-13 }"] {
        let (summary, table) = ball(&session, &["--solver", solver]);
        assert!(solver.contains(summary["inputs"]["solver"]["name"].as_str().unwrap()), "{solver}");
        let pairs = table.column("q.y").into_iter().zip(reference.column("q.y"));
        assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() <= 1e-9), "{solver}");
    }
}

#[test]
fn steps_and_rows_are_chosen() {
    let session = Session::new();
    for (arguments, steps, rows, end) in [
        (&["--step", "0.02"][..], 100, 101, 2.0),
        (&["--steps", "7"], 7, 8, 2.0),
        (&["--end", "0.5"], 50, 51, 0.5),
        (&["--end", "0.505"], 51, 52, 0.505),
        (&["--step", "5"], 1, 2, 2.0),
        (&["--every", "10"], 200, 21, 2.0),
        (&["--every", "7"], 200, 30, 2.0),
        (&["--every", "18446744073709551615"], 200, 2, 2.0),
    ] {
        let (summary, table) = ball(&session, arguments);
        assert_eq!(summary["rows"], table.rows.len());
        assert_eq!(table.last("t"), end, "{arguments:?}");
        assert_eq!((&summary["statistics"]["steps"], table.steps().rows.len()), (&steps.into(), rows), "{arguments:?}");
    }
}

#[test]
fn rows_that_are_left_out_lose_no_impulse() {
    let session = Session::new();
    let sum = |arguments: &[&str]| ball(&session, arguments).1.column("impulse.floor").iter().sum::<f64>();
    let (all, some) = (sum(&[]), sum(&["--every", "7"]));
    assert!(all > 1.0 && (all - some).abs() <= 1e-12 * all);
}

#[test]
fn columns_are_chosen() {
    let session = Session::new();
    assert_eq!(ball(&session, &["--columns", "q.*,energy.total"]).1.names, ["t", "row", "q.y", "energy.total"]);
    assert_eq!(
        ball(&session, &["--columns", "energy.total", "--columns", "v.y"]).1.names,
        ["t", "row", "v.y", "energy.total"]
    );
    assert_eq!(ball(&session, &["--columns", "t"]).1.names, ["t", "row"]);
    let arguments = ["--columns", "all", "--set", "elements=99", "--end", "1e-5"];
    session.succeed(["run", "impacting-bar", "--no-report"].iter().chain(&arguments));
    // time, row, 100 nodes twice, gap, impulse and force, the loss at impacts, three energies
    assert_eq!(session.table("out/impacting-bar/trajectory.parquet").names.len(), 2 + 200 + 3 + 1 + 3);
}

#[test]
fn csv_equals_parquet() {
    let session = Session::new();
    session.succeed(["run", "planar-ball", "--csv", "--no-report"]);
    for name in ["trajectory", "impacts"] {
        let parquet = session.table(&format!("out/planar-ball/{name}.parquet"));
        let csv = Table::read_csv(&session.path(format!("out/planar-ball/{name}.csv")));
        assert!(parquet.rows.len() > 3, "{name}");
        assert_eq!(parquet, csv, "{name}");
    }
    assert!(session.summary("out/planar-ball")["files"].as_array().unwrap().contains(&"impacts.csv".into()));
}

#[test]
fn quiet_means_silent_and_out_any_folder() {
    let session = Session::new();
    session.write("bäll 球.toml", BALL);
    let out = session.succeed(["run", "bäll 球.toml", "--quiet", "--out", "déep/er/é"]);
    assert_eq!(out, "");
    let files = ["impacts.parquet", "report.html", "summary.json", "trajectory.parquet"];
    assert_eq!(session.names("déep/er/é"), files);
    assert!(!session.path("out").exists());
    // the folder is told, and has the name of the file
    assert!(session.succeed(["run", "bäll 球.toml"]).contains("report     out/bäll 球/report.html"));
    assert_eq!(session.names("out/bäll 球"), files);
    session.succeed(["run", "bäll 球.toml", "--no-report", "--out", "plain"]);
    assert!(!session.names("plain").contains(&"report.html".into()));
}

#[test]
fn models_without_contacts_run() {
    let session = Session::new();
    let ball = BALL.replace("[parameters]\ne = 0.5\n", "");
    let (head, _) = ball.split_once("[[contact]]").unwrap();
    let (_, tail) = BALL.split_once("[initial]").unwrap();
    session.write("fall.toml", format!("{head}[initial]{tail}"));
    session.succeed(["run", "fall.toml"]);
    let table = session.table("out/fall/trajectory.parquet");
    assert_eq!(table.names, ["t", "row", "q.y", "v.y", "energy.kinetic", "energy.potential", "energy.total"]);
    // y = 1 − t² exactly, for θ = 1/2
    assert!((table.last("q.y") + 3.0).abs() <= 1e-12);
    assert_eq!(session.table("out/fall/impacts.parquet").rows.len(), 0);
    // constraints alone: the slope y = x carries half of the weight, the acceleration along y is −1
    let slope = head.replace("[\"y\"]", "[\"y\", \"x\"]").replace("y'^2/2", "(x'^2 + y'^2)/2");
    session.write(
        "slope.toml",
        format!("{slope}[[constraint]]\nname = \"slope\"\nvalue = \"y - x - 1\"\n[initial]{tail}"),
    );
    session.succeed(["run", "slope.toml"]);
    let table = session.table("out/slope/trajectory.parquet");
    assert!((table.last("q.y") + 1.0).abs() <= 1e-9 && (table.last("v.x") + 2.0).abs() <= 1e-9);
    let impulse: f64 = table.column("impulse.slope").iter().sum();
    assert!((impulse.abs() - 2.0).abs() <= 1e-9, "half of 2 N for 2 s, not {impulse}");
}

#[test]
fn the_same_command_gives_the_same_bytes() {
    for name in ["rocking-block", "planar-ball"] {
        let sessions = [Session::new(), Session::new()];
        let out = sessions.each_ref().map(|session| session.succeed(["run", name, "--csv"]));
        let without_time = |text: &String| {
            text.lines().filter(|line| !line.contains("wall time")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(without_time(&out[0]), without_time(&out[1]));
        let files = ["trajectory.parquet", "impacts.parquet", "trajectory.csv", "impacts.csv", "report.html"];
        for file in files.iter().chain(&["summary.json"]) {
            let [a, b] = sessions.each_ref().map(|s| fs::read(s.path(format!("out/{name}/{file}"))).unwrap());
            assert!(a == b, "{name}: {file} differs");
        }
        // the time is apart from them
        let times = sessions[0].read(&format!("out/{name}/.carom/run.times.json"));
        let times: serde_json::Value = serde_json::from_str(&times).unwrap();
        assert!(times["wall_seconds"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn two_million_steps_need_little_memory() {
    let session = Session::new();
    session.write("ball.toml", BALL);
    let mut run = session.start(["run", "ball.toml", "--steps", "2000000"]);
    let status = format!("/proc/{}/status", run.id());
    let mut peak = None;
    while run.try_wait().unwrap().is_none() {
        // the high-water mark of the resident set in kB, on Linux
        let text = fs::read_to_string(&status).unwrap_or_default();
        let mark =
            text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?.trim().parse().ok());
        peak = peak.max(mark);
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(run.wait().unwrap().code(), Some(0));
    // each impact has a row before it
    let impacts = session.summary("out/ball")["impacts"].as_i64().unwrap();
    assert_eq!(Table::count(&session.path("out/ball/trajectory.parquet")), 2_000_001 + impacts);
    let report = fs::metadata(session.path("out/ball/report.html")).unwrap().len();
    assert!(report < 6_000_000, "the report has {report} bytes");
    match peak {
        Some(peak) => assert!((1_000_u64..200_000).contains(&peak), "{peak} kB"),
        None => println!("SKIPPED: this system does not tell the memory of a process"),
    }
}
