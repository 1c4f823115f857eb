//! Reports of the command, opened in a real browser: everything is drawn, nothing fails.

#[path = "../../../carom-analysis/tests/browser/mod.rs"]
mod browser;

use super::session::{BALL, Session};

/// Opens a report and counts what is drawn; nothing where there is no browser.
fn open(session: &Session, file: &str, charts: usize, animations: usize) -> Option<browser::Page> {
    let page = browser::open(&session.path(file))?;
    page.assert_drawn(charts, animations);
    Some(page)
}

#[test]
fn the_report_of_the_block_is_drawn() {
    let session = Session::new();
    session.succeed(["run", "rocking-block", "--quiet"]);
    // positions, velocities, gaps, impulses, forces, energies
    let Some(page) = open(&session, "out/rocking-block/report.html", 6, 1) else { return };
    for text in
        ["rocking block", "Impact list", "Energy ledger", "min gap.B", "independent implementation", "moreau-jean"]
    {
        assert!(page.document.contains(text), "{text} is not on the page");
    }
}

/// Marks of events on the positions, gaps that are missing outside of their regions.
#[test]
fn the_report_of_an_event_driven_run_is_drawn() {
    let session = Session::new();
    session.succeed(["run", "parabola-edge", "--quiet"]);
    let Some(page) = open(&session, "out/parabola-edge/report.html", 6, 1) else { return };
    for text in ["Event list", "turning-point", "edge.parabola"] {
        assert!(page.document.contains(text), "{text} is not on the page");
    }
}

#[test]
fn reports_of_unusual_runs_are_drawn() {
    let session = Session::new();
    // no contact, a drawing whose numbers end on the way, a name full of markup
    let (head, _) = BALL.split_once("[[contact]]").unwrap();
    let (_, tail) = BALL.split_once("[initial]").unwrap();
    let head = head.replace("\"ball\"", "\"<script>throw 1</script> & <b>\"");
    let draw = "[[draw.circle]]\ncenter = [\"log(1 - t)\", \"y\"]\nradius = 0.1\n";
    session.write("fall.toml", format!("{head}[initial]{tail}{draw}"));
    session.succeed(["run", "fall.toml", "--quiet", "--out", "fall"]);
    if open(&session, "fall/report.html", 3, 1).is_none() {
        return;
    }
    // one that failed before its first step ended
    session.write("early.toml", BALL.replace("\"2*y\"", "\"2*y\"\nforce.y = \"1/(1 - sign(t))\""));
    assert_eq!(session.carom(["run", "early.toml", "--out", "early"]).code, Some(3));
    let page = open(&session, "early/report.html", 5, 0).expect("the browser was there a moment ago");
    assert!(page.document.contains("The run failed at t = 0 s"));
}

#[test]
fn the_report_of_a_study_is_drawn() {
    let session = Session::new();
    let bad = "{ name = \"moreau-jean\", newton-iterations = 1 }";
    let arguments =
        ["--steps", "0.05:0.02:3", "--grids", "2", "--scheme", "moreau-jean", "--scheme", bad, "--out", "out"];
    // one of the schemes has no errors to draw
    assert_eq!(session.carom(["converge", "double-pendulum"].iter().chain(&arguments)).code, Some(3));
    // two quantities in four norms, four charts of work
    let Some(page) = open(&session, "out/convergence.html", 12, 0) else { return };
    assert!(page.document.contains("Fitted orders") && page.document.contains("slope 1"));
}
