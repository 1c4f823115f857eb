//! Events in the results of a run: lists, counts, accumulation times, a stop.

use super::session::{BALL, Session};
use super::table::Value;

#[test]
fn the_ball_tells_its_accumulation() {
    let session = Session::new();
    let out = session.succeed(["run", "bouncing-ball-events", "--csv"]);
    let row = |name: &str| out.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name}: {out}"));
    assert!(row("events: impact").contains("21") && row("events: user").contains("20"), "{out}");
    // 3 s in closed form
    assert!(row("accumulation at floor").contains("t = 3.000000000000 s"), "{out}");
    let summary = session.summary("out/bouncing-ball-events");
    assert_eq!((&summary["events"]["impact"], &summary["events"]["accumulation"]), (&21.into(), &1.into()));
    let accumulation = &summary["accumulations"][0];
    assert_eq!(accumulation["contact"], "floor");
    assert!((accumulation["limit"].as_f64().unwrap() - 3.0).abs() < 1e-12, "{accumulation}");
    // impacts at 3 − 2^(2−n), with −2^(2−n) before and half of it after
    let table = session.table("out/bouncing-ball-events/events.parquet");
    let kind = table.names.iter().position(|name| name == "kind").unwrap();
    let (t, before, after) = (table.column("t"), table.column("before.v.y"), table.column("after.v.y"));
    let impacts: Vec<usize> = (0..t.len()).filter(|&k| table.rows[k][kind] == Value::Text("impact".into())).collect();
    assert_eq!(impacts.len(), 21);
    for (n, k) in (1..=20).zip(impacts) {
        let speed = 2f64.powi(2 - n);
        assert!((t[k] - (3.0 - speed)).abs() < 1e-13 && (before[k] + speed).abs() < 1e-13, "impact {n}");
        assert!((after[k] - 0.5 * speed).abs() < 1e-13, "impact {n}");
    }
    let report = session.read("out/bouncing-ball-events/report.html");
    for text in ["Event list", "Accumulations", "impact.floor", "apex"] {
        assert!(report.contains(text), "{text} is not in the report");
    }
}

#[test]
fn a_stop_is_the_last_row_with_any_scheme() {
    let session = Session::new();
    let event = "[[event]]\nname = \"half\"\nwhen = \"y - 0.5\"\naction = \"stop\"\n";
    session.write("fall.toml", format!("{BALL}{event}"));
    for scheme in ["moreau-jean", "schatzman-paoli", "higher-order", "event-driven"] {
        let out = session.succeed(["run", "fall.toml", "--scheme", scheme, "--out", "out", "--no-report"]);
        assert!(out.contains("(finished)") && out.contains("stopped by") && out.contains("half at t = "), "{out}");
        let table = session.table("out/trajectory.parquet");
        assert!((table.last("q.y") - 0.5).abs() < 1e-13, "{scheme}: {}", table.last("q.y"));
        assert_eq!(session.summary("out")["stopped"]["event"], "half");
    }
    // without the event nothing of it is left
    session.write("fall.toml", BALL);
    session.succeed(["run", "fall.toml", "--out", "out", "--no-report", "--quiet"]);
    assert!(!session.path("out/events.parquet").exists());
}
