//! Reports of the command, opened in a real browser: everything is drawn, nothing fails.

#[path = "../../../carom-analysis/tests/browser/mod.rs"]
pub mod browser;

use super::session::{BALL, Session};
use std::fs;

/// Opens a report with a script; what the script returns, or nothing where there is no browser.
fn ask(session: &Session, file: &str, script: &str) -> Option<serde_json::Value> {
    let page = browser::open_text(&browser::with_script(&session.read(file), script))?;
    assert_eq!(page.root("data-errors"), Some("0"), "{:#?}", page.console);
    Some(page.answer())
}

/// Columns of a CSV file by name; what is missing is not a number.
fn csv(text: &str, names: [&str; 2]) -> Vec<[f64; 2]> {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let places = names.map(|name| head.iter().position(|known| *known == name).unwrap());
    lines.map(|row| places.map(|place| row[place].parse().unwrap_or(f64::NAN))).collect()
}

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
    // positions, velocities, gaps, impulses, forces, energies, losses
    let Some(page) = open(&session, "out/rocking-block/report.html", 7, 1) else { return };
    let sources = ["min gap.B", "independent implementation", "moreau-jean"];
    for text in ["rocking block", "Impulses of the impacts", "Energy ledger"].iter().chain(&sources) {
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
    // two quantities in four norms, three charts of work; that over seconds stands apart
    let Some(page) = open(&session, "out/convergence.html", 11, 0) else { return };
    assert!(page.document.contains("Fitted orders") && page.document.contains("slope 1"));
    open(&session, "out/times.html", 1, 0);
}

/// Three periods of the switch: the voltage at the diode has two levels, and every drawn corner is a row of the file.
#[test]
fn a_switching_converter_shows_square_waves() {
    let session = Session::new();
    session.succeed(["run", "buck-converter", "--csv", "--quiet"]);
    let (from, to) = (1e-4, 2.5e-4);
    let script = format!(
        "const number = report.charts.findIndex((chart) => chart.spec.title.startsWith('Voltages'));
         const curve = report.charts[number].curves.findIndex((curve) => curve.name === 'D');
         report.zoom({from}, {to}); report.drawNow();
         return report.trace(number, curve).filter(([t]) => t >= {from} && t <= {to});"
    );
    let Some(drawn) = ask(&session, "out/buck-converter/report.html", &script) else { return };
    let drawn: Vec<[f64; 2]> = serde_json::from_value(drawn).unwrap();
    let level = |v: f64| {
        if v.abs() < 1e-3 {
            0
        } else if (v + 24.0).abs() < 1e-3 {
            1
        } else {
            2
        }
    };
    assert!(drawn.len() > 500 && drawn.iter().all(|[_, v]| level(*v) < 2), "there are two levels");
    let edges = drawn.windows(2).filter(|pair| level(pair[0][1]) != level(pair[1][1])).count();
    assert_eq!(edges, 6, "two edges in each of three periods");
    let rows = csv(&session.read("out/buck-converter/trajectory.csv"), ["t", "v.D"]);
    for [t, v] in rows.iter().filter(|[t, _]| (from + 1e-9..to - 1e-9).contains(t)) {
        let near = |point: &&[f64; 2]| (point[0] - t).abs() < 1e-12 && (point[1] - v).abs() < 24.0 * 1e-7;
        assert!(drawn.iter().any(|point| near(&point)), "the row at t = {t} is not drawn");
    }
}

/// The zoomed velocity of the slider-crank is that of the file, row by row, and its report is small.
#[test]
fn a_zoomed_chart_is_the_result_file() {
    let session = Session::new();
    session.succeed(["run", "slider-crank", "--csv", "--quiet"]);
    let size = fs::metadata(session.path("out/slider-crank/report.html")).unwrap().len();
    assert!(size < 500_000, "{size} bytes");
    // short lists: times as on the charts, impacts that are pressed shut explained, parameters with units
    let page = session.read("out/slider-crank/report.html");
    for text in [
        "t<span class=\"u\">ms</span>",
        "<td title=\"0.00271 s\">2.71</td>",
        "† 8.081e−5",
        "pressed shut while opening",
        "<dd>7.4e−5 <i>kg m²</i></dd>",
    ] {
        assert!(page.contains(text), "{text} is not on the page");
    }
    let (from, to) = (0.0255, 0.0265);
    let script = format!("report.zoom({from}, {to}); report.drawNow(); return report.trace(1, 1);");
    let Some(drawn) = ask(&session, "out/slider-crank/report.html", &script) else { return };
    let drawn: Vec<[f64; 2]> = serde_json::from_value(drawn).unwrap();
    let rows = csv(&session.read("out/slider-crank/trajectory.csv"), ["t", "v.th2"]);
    let inside: Vec<&[f64; 2]> = rows.iter().filter(|[t, _]| (from..=to).contains(t)).collect();
    assert!(inside.len() > 5 && drawn.len() >= inside.len());
    for [t, v] in inside {
        let near = |point: &&[f64; 2]| (point[0] - t).abs() < 1e-10 && (point[1] - v).abs() < 200.0 * 1e-7;
        assert!(drawn.iter().any(|point| near(&point)), "the row at t = {t} is not drawn");
    }
}

/// Above the limit rows are left out, and the charts say so.
#[test]
fn a_report_size_is_kept() {
    let session = Session::new();
    session.succeed(["run", "slider-crank", "--quiet", "--every", "1", "--report-size", "200000"]);
    let size = fs::metadata(session.path("out/slider-crank/report.html")).unwrap().len();
    assert!(size <= 200_000, "{size} bytes");
    let Some(page) = browser::open(&session.path("out/slider-crank/report.html")) else { return };
    assert!(page.document.contains("Thinned, extremes kept") && page.document.contains("trajectory.parquet"));
}
