//! Adaptive steps on the command line: runs, failures with partial results, studies of tolerances and of work.

use super::session::{BALL, Session};

/// The ball at rest after its impacts at 1, 2, 2.5, ... s, with the closed form at 1.5 s: q = 0.25.
#[test]
fn a_run_with_a_tolerance_meets_it() {
    let session = Session::new();
    session.write("ball.toml", BALL);
    let out = session.succeed(["run", "ball.toml", "--adaptive", "1e-7", "--end", "1.5"]);
    assert!(out.contains("rejected tries"), "{out}");
    let (summary, table) = (session.summary("out/ball"), session.table("out/ball/trajectory.parquet"));
    assert!((table.last("q.y") - 0.25).abs() < 1e-6 && table.last("t") == 1.5);
    assert_eq!(summary["inputs"]["adaptive"]["tolerance"], 1e-7);
    assert_eq!(summary["inputs"]["adaptive"]["estimator"], "impact");
    let count = |name: &str| summary["statistics"][name].as_u64().unwrap();
    assert_eq!(summary["rows"], table.rows.len());
    assert_eq!(count("steps") + 1, table.steps().rows.len() as u64);
    // three linearised steps, and as many evaluations, for every try
    assert!(count("rejected") > 0 && count("iterations") >= 3 * (count("steps") + count("rejected")));
    assert!(count("evaluations") >= count("iterations"));
    let report = session.read("out/ball/report.html");
    assert!(report.contains("Size of steps") && report.contains("accepted after rejected tries"));
    // without it nothing of this appears
    session.succeed(["run", "ball.toml", "--adaptive", "off", "--out", "fixed"]);
    assert!(session.summary("fixed")["inputs"]["adaptive"].is_null());
    assert!(!session.read("fixed/report.html").contains("Size of steps"));
}

#[test]
fn files_may_ask_for_it() {
    let session = Session::new();
    let table = "adaptive = { tolerance = 1e-5, estimator = \"variable-order\", max = 0.05 }";
    session.write("ball.toml", BALL.replace("step = 0.01", table));
    session.succeed(["run", "ball.toml", "--no-report"]);
    let times = session.table("out/ball/trajectory.parquet").steps().column("t");
    assert!(times.windows(2).all(|t| t[1] - t[0] <= 0.05 + 1e-12 && t[1] > t[0]));
    assert!(session.succeed(["check", "ball.toml"]).contains("adaptive steps, tolerance 1e-5"));
}

#[test]
fn the_smallest_step_ends_the_run_and_keeps_the_results() {
    let session = Session::new();
    session.write("ball.toml", BALL);
    let outcome = session.carom(["run", "ball.toml", "--adaptive", "{ tolerance = 1e-9, min = 1e-3 }"]);
    assert_eq!(outcome.code, Some(3), "{}", outcome.err);
    assert!(outcome.err.contains("smallest step h = 1.000e-3"), "{}", outcome.err);
    let (summary, table) = (session.summary("out/ball"), session.table("out/ball/trajectory.parquet"));
    assert_eq!(summary["status"], "failed");
    // free fall until the first impact at t = 1
    let last = table.last("t");
    assert!(last < 1.0 && last > 0.99 && (table.last("q.y") - (1.0 - last * last)).abs() < 1e-9);
    assert!((summary["failure"]["time"].as_f64().unwrap() - last).abs() < 1e-12);
}

#[test]
fn blind_and_senseless_tables_are_refused() {
    let session = Session::new();
    session.write("ball.toml", BALL);
    let gamma = "{ name = \"moreau-jean\", forecast = { explicit = { gamma = 0.0 } } }";
    let blind = "{ estimator = \"position\" }";
    let outcome = session.carom(["run", "ball.toml", "--scheme", gamma, "--adaptive", blind]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    assert!(outcome.err.contains("gamma < 1") && outcome.err.contains("`impact`"), "{}", outcome.err);
    let outcome = session.carom(["run", "ball.toml", "--scheme", "schatzman-paoli", "--adaptive", "1e-6"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    assert!(outcome.err.contains("cannot have adaptive steps"), "{}", outcome.err);
    for text in ["0", "-1", "{ tolerance = 0 }", "{ max = -1 }", "{", "small", "{ name = \"moreau-jean\" }"] {
        let outcome = session.carom(["run", "ball.toml", "--adaptive", text]);
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(2), ""), "{text}: {}", outcome.err);
        assert!(outcome.err.starts_with("--adaptive:1:"), "{text}: {}", outcome.err);
    }
    assert!(!session.path("out").exists());
}

/// Numbers of the table by the names of the header; the first field is quoted.
fn column(session: &Session, folder: &str, method: &str, name: &str) -> Vec<f64> {
    let text = session.read(&format!("{folder}/convergence.csv"));
    let (header, lines) = text.split_once('\n').unwrap();
    let at = header.split(',').skip(1).position(|known| known == name).unwrap();
    let lines = lines.lines().filter_map(|line| line.strip_prefix(&format!("\"{method}\",")));
    lines.filter_map(|rest| rest.split(',').nth(at).unwrap().parse().ok()).collect()
}

#[test]
fn tolerances_are_studied() {
    let session = Session::new();
    let options = ["--adaptive", "{ estimator = \"position\" }", "--adaptive", "{ estimator = \"impact\" }"];
    let out = session.succeed(
        ["converge", "linear-oscillator", "--tolerances", "1e-3..1e-7", "--out", "out", "--scheme", "moreau-jean"]
            .iter()
            .chain(&options),
    );
    assert!(out.contains("tolerance") && out.contains("estimator = position"), "{out}");
    for estimator in ["position", "impact"] {
        let method = format!("moreau-jean, adaptive estimator = {estimator}");
        let tolerances = column(&session, "out", &method, "tolerance");
        assert_eq!(tolerances.len(), 5);
        assert!(tolerances[0] == 1e-3 && tolerances[4] == 1e-7 && (tolerances[2] / 1e-5 - 1.0).abs() < 1e-12);
        let errors = column(&session, "out", &method, "q_l1");
        assert!(errors.windows(2).all(|pair| pair[1] < pair[0]) && errors[4] < 1e-4, "{errors:?}");
    }
    assert!(session.read("out/convergence.html").contains("Errors over the tolerance"));
    for text in ["1e-3", "1e-3:1e-2", "1e-3:0", "a..b", "1e-3:1e-4:1"] {
        let outcome = session.carom(["converge", "linear-oscillator", "--tolerances", text]);
        assert_eq!(outcome.code, Some(2), "{text}: {}", outcome.err);
        assert!(outcome.err.contains("--tolerances") && outcome.err.contains("hint: "), "{}", outcome.err);
    }
    let outcome = session.carom(["converge", "linear-oscillator"]);
    assert!(outcome.code == Some(2) && outcome.err.contains("--work"), "{}", outcome.err);
}

#[test]
fn work_is_compared() {
    let session = Session::new();
    let arguments = ["--steps", "0.1:1e-3:5", "--tolerances", "1e-2:1e-8", "--scheme", "moreau-jean", "--out", "out"];
    let out = session.succeed(["converge", "linear-oscillator", "--work"].iter().chain(&arguments));
    assert!(out.contains("evaluations of the right-hand side to reach an l1 error"), "{out}");
    // at an error of about 1e-3 adaptive steps need a fraction of the evaluations of equal ones
    let best = |method: &str| {
        let (errors, work) = (column(&session, "out", method, "q_l1"), column(&session, "out", method, "evaluations"));
        errors
            .into_iter()
            .zip(work)
            .filter(|(error, _)| *error < 1.5e-3)
            .map(|(_, work)| work)
            .fold(f64::INFINITY, f64::min)
    };
    let (equal, adaptive) = (best("moreau-jean"), best("moreau-jean, adaptive"));
    assert!(adaptive < 0.4 * equal && equal.is_finite(), "{adaptive} {equal}");
    let report = session.read("out/convergence.html");
    assert!(report.contains("linearised steps solved per run") && report.contains("Errors over the step"));
}

/// Without a closed form a finer run is the reference, adaptive where nothing else is studied.
#[test]
fn a_finer_tolerance_is_the_reference() {
    let session = Session::new();
    let arguments = ["--tolerances", "1e-3:1e-5", "--refine", "100", "--out", "out", "--end", "0.5"];
    let out = session.succeed(["converge", "rocking-block"].iter().chain(&arguments));
    assert!(out.contains("with the tolerance 1.0e-7"), "{out}");
}
