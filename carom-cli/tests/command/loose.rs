//! Runs whose contact problems end between the tolerance and what is accepted, and beyond it.

use super::session::Session;

/// Masses of 1 kg, one on top of the other, at rest on a floor: after one step their normal velocities are to be zero.
const COLUMN: &str = r#"version = 1
name = "column"
[model]
kind = "lagrangian"
coordinates = ["a", "b", "c"]
kinetic = "(a'^2 + b'^2 + c'^2)/2"
potential = "9.81*(a + b + c)"
[[contact]]
name = "floor"
gap = "a"
[[contact]]
name = "middle"
gap = "b - a - 1"
[[contact]]
name = "upper"
gap = "c - b - 1"
[initial]
a = 0
b = 1
c = 2
[simulation]
end = 0.01
step = 0.01
"#;

/// W of the column by hand: u = (a', b' − a', c' − b').
const W: [[f64; 3]; 3] = [[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]];

/// The residual of the certificate after so many sweeps of Gauss-Seidel from nothing, and where it is worst.
fn residual_after(sweeps: usize) -> (f64, &'static str) {
    let b = [-9.81 * 0.01, 0.0, 0.0];
    let mut p = [0.0f64; 3];
    let u = |p: &[f64; 3], i: usize| b[i] + (0..3).map(|j| W[i][j] * p[j]).sum::<f64>();
    for i in (0..sweeps).flat_map(|_| 0..3) {
        p[i] = (p[i] - u(&p, i) / W[i][i]).max(0.0);
    }
    // in scaled variables √w p and u/√w
    let (mut missed, mut sizes) = ([0.0; 3], [0.0; 3]);
    for i in 0..3 {
        let root = W[i][i].sqrt();
        let (p, u) = (root * p[i], u(&p, i) / root);
        missed[i] = (p - (p - u).max(0.0)).powi(2);
        for (size, x) in sizes.iter_mut().zip([p, u, b[i] / root]) {
            *size += x * x;
        }
    }
    let size = sizes.into_iter().fold(0.0, f64::max);
    let worst = (0..3).max_by(|&i, &j| missed[i].total_cmp(&missed[j])).unwrap();
    ((missed.iter().sum::<f64>() / size).sqrt(), ["floor", "middle", "upper"][worst])
}

fn solver(tolerance: f64, more: &str) -> String {
    format!("{{ name = \"nsgs\", max-sweeps = 9, tolerance = {tolerance:e}{more} }}")
}

#[test]
fn what_misses_the_tolerance_by_little_is_told() {
    let session = Session::new();
    session.write("column.toml", COLUMN);
    let (residual, contact) = residual_after(9);
    let between = solver(residual / 50.0, "");
    let outcome = session.carom(["run", "column.toml", "--solver", &between]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    let summary = session.summary("out/column");
    let found = summary["warnings"].as_array().unwrap();
    let [warning] = &found[..] else { panic!("{found:?}") };
    assert_eq!((&warning["kind"], &warning["contact"]), (&"loose-solution".into(), &contact.into()));
    assert!((warning["value"].as_f64().unwrap() / residual - 1.0).abs() < 1e-9, "{warning} {residual:e}");
    assert!((summary["certificate"]["residual"].as_f64().unwrap() / residual - 1.0).abs() < 1e-9);
    assert!(outcome.err.contains(contact) && outcome.err.contains("`accept`"), "{}", outcome.err);
    assert!(session.read("out/column/report.html").contains("not solved to its tolerance"));
    let strict = session.carom(["run", "column.toml", "--solver", &between, "--strict", "--out", "strict"]);
    assert_eq!(strict.code, Some(3), "{}", strict.err);
    assert_eq!(session.summary("strict")["status"], "finished");
}

/// All steps that are loose are one warning, at the contact where it is worst.
#[test]
fn loose_steps_are_counted() {
    let session = Session::new();
    session.write("column.toml", COLUMN);
    let (residual, _) = residual_after(9);
    session.succeed(["run", "column.toml", "--quiet", "--end", "0.05", "--solver", &solver(1e-15, ", accept = 0.1")]);
    let summary = session.summary("out/column");
    let found = summary["warnings"].as_array().unwrap();
    let loose: Vec<_> = found.iter().filter(|warning| warning["kind"] == "loose-solution").collect();
    let [warning] = loose[..] else { panic!("{found:?}") };
    // later steps start from the impulses of those before, and are nearer
    assert!(warning["count"] == 5 && warning["time"] == 0.0, "{warning}");
    assert!((warning["value"].as_f64().unwrap() / residual - 1.0).abs() < 1e-9, "{warning}");
}

#[test]
fn beyond_what_is_accepted_it_is_an_error() {
    let session = Session::new();
    session.write("column.toml", COLUMN);
    let (residual, contact) = residual_after(9);
    let accept = |limit: f64| format!(", accept = {limit:e}");
    for (tolerance, more, code) in [
        (residual / 99.0, String::new(), 0),
        (residual / 101.0, String::new(), 3),
        // what the options say counts
        (residual / 1e4, accept(1.01 * residual), 0),
        (residual / 2.0, accept(0.99 * residual), 3),
    ] {
        let solver = solver(tolerance, &more);
        let outcome = session.carom(["run", "column.toml", "--solver", &solver]);
        assert_eq!(outcome.code, Some(code), "{solver}: {}", outcome.err);
        let summary = session.summary("out/column");
        if code == 3 {
            assert_eq!((&summary["status"], &summary["failure"]["contact"]), (&"failed".into(), &contact.into()));
            assert!((summary["failure"]["residual"].as_f64().unwrap() / residual - 1.0).abs() < 1e-9);
        }
    }
    let refused = session.carom(["run", "column.toml", "--solver", &solver(1e-9, ", accept = -1")]);
    assert!(refused.code == Some(2) && refused.err.contains("not positive"), "{}", refused.err);
}

/// A stored problem that is taken with reservations is not called solved without them.
#[test]
fn stored_problems_tell_of_it() {
    let session = Session::new();
    session.write("column.toml", COLUMN);
    session.succeed(["run", "column.toml", "--quiet", "--dump-problems", "problems"]);
    let files: Vec<_> = std::fs::read_dir(session.path("problems")).unwrap().map(|file| file.unwrap().path()).collect();
    let file = files[0].to_str().unwrap();
    let (residual, _) = residual_after(9);
    let said = session.succeed(["solve", file, "--solver", &solver(1e-15, ", accept = 0.1")]);
    assert!(said.contains(&format!("loose-solution: {residual:.3e}")) && !said.contains("solved"), "{said}");
}
