//! Convergence studies: measured orders, files, nonsense, failures.

use super::session::Session;

const HEADER: &str = "scheme,h,tolerance,grids,solves,iterations,evaluations,failed,q_l1,q_l2,q_sup,q_hausdorff,v_l1,v_l2,v_sup,v_hausdorff";

/// A line of the table: the name of the scheme and the numbers; `None` where a field is empty.
type Line = (String, Vec<Option<f64>>);

/// Reads the table strictly: every field but the first is empty or a finite number.
fn read(session: &Session, folder: &str) -> Vec<Line> {
    let text = session.read(&format!("{folder}/convergence.csv"));
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(HEADER));
    let number = |text: &str| match text {
        "" => None,
        _ => Some(text.parse::<f64>().ok().filter(|x| x.is_finite()).unwrap_or_else(|| panic!("{text} is no number"))),
    };
    let line = |line: &str| {
        // the name is quoted, for it may hold commas
        let (name, rest) = line.strip_prefix('"').and_then(|line| line.rsplit_once("\",")).expect(line);
        let numbers: Vec<_> = rest.split(',').map(number).collect();
        assert_eq!(numbers.len(), HEADER.split(',').count() - 1, "{line}");
        (name.to_owned(), numbers)
    };
    lines.map(line).collect()
}

fn position(name: &str) -> usize {
    HEADER.split(',').skip(1).position(|known| known == name).unwrap()
}

/// Slope of the line of least squares through log(error) over log(h).
fn order(lines: &[Line], norm: &str) -> f64 {
    let points: Vec<(f64, f64)> =
        lines.iter().map(|(_, x)| (x[position("h")].unwrap().ln(), x[position(norm)].unwrap().ln())).collect();
    let mean = |f: fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
}

#[test]
fn the_ball_converges_to_its_exact_solution() {
    let session = Session::new();
    let out = session.succeed(["converge", "bouncing-ball", "--steps", "0.1:1e-3:6", "--grids", "8"]);
    assert!(out.contains("the exact solution of bouncing-ball") && out.contains("order"), "{out}");
    let files = ["convergence.csv", "convergence.html", "times.csv", "times.html"];
    assert_eq!(session.names("out/bouncing-ball-convergence"), files);
    let times = session.read("out/bouncing-ball-convergence/times.csv");
    let seconds: Vec<f64> =
        times.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect();
    assert!(seconds.len() == 6 && seconds.iter().all(|x| *x > 0.0), "{times}");
    let lines = read(&session, "out/bouncing-ball-convergence");
    assert_eq!(lines.len(), 6);
    assert!(lines.iter().all(|(_, x)| x[position("grids")] == Some(8.0) && x[position("failed")] == Some(0.0)));
    // the levels run from the coarse to the fine step
    let steps: Vec<f64> = lines.iter().map(|(_, x)| x[position("h")].unwrap()).collect();
    assert!((steps[0] / 0.1 - 1.0).abs() < 0.1 && (steps[5] / 1e-3 - 1.0).abs() < 0.1, "{steps:?}");
    // order one in positions and in the l1 norm of velocities, one half in l2, none in the largest error of a jump
    for (norm, expected, width) in [("q_l1", 1.0, 0.2), ("v_l1", 1.0, 0.2), ("v_l2", 0.5, 0.2), ("v_sup", 0.0, 0.2)] {
        let order = order(&lines, norm);
        assert!((order - expected).abs() <= width, "{norm}: {order}");
    }
}

#[test]
fn without_an_exact_solution_a_fine_run_is_the_reference() {
    let session = Session::new();
    for (name, steps) in [("double-pendulum", "0.02:2e-3:4"), ("rocking-block", "0.02:2e-3:4")] {
        let out = session.succeed(["converge", name, "--steps", steps, "--out", name, "--quiet"]);
        assert_eq!(out, "");
        let lines = read(&session, name);
        let order = order(&lines, "q_l1");
        assert!((order - 1.0).abs() <= 0.3, "{name}: {order}");
        assert!(session.read(&format!("{name}/convergence.html")).contains("Errors against a run of"));
    }
}

#[test]
fn schemes_are_compared() {
    let session = Session::new();
    let scheme = "{ name = \"moreau-jean\", theta = 1 }";
    let arguments = ["converge", "bouncing-ball", "--steps", "0.1:0.01:3", "--grids", "2", "--skip-multiples", "5"];
    let out =
        session.succeed(arguments.iter().chain(&["--schemes", "moreau-jean", "--scheme", scheme, "--out", "out"]));
    let lines = read(&session, "out");
    assert_eq!(lines.len(), 6);
    let (first, second) = (&lines[0].0, &lines[3].0);
    assert!(first.contains("moreau-jean") && second.contains("theta") && first != second, "{first}, {second}");
    assert!(out.contains(first.as_str()) && out.contains(second.as_str()), "{out}");
    assert_ne!(lines[0].1[position("q_l1")], lines[3].1[position("q_l1")]);
}

#[test]
fn nonsense_is_refused() {
    let session = Session::new();
    for steps in [
        "0.1",
        "0.1:",
        ":",
        "",
        "a:b",
        "0.1:0.2",
        "0.1:0.1",
        "0.1:0",
        "0.1:nan",
        "inf:0.1",
        "100:0.1",
        "0.1:1e-12",
        "0.1:0.01:1",
        "0.1:0.01:0",
        "0.1:0.01:101",
        "0.1:0.01:x",
        "0.1:0.01:3:4",
        "0.1:0.0999999",
        "0.1;0.01",
    ] {
        let outcome = session.carom(["converge", "bouncing-ball", "--steps", steps]);
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(2), ""), "{steps}: {}", outcome.err);
        assert!(outcome.err.contains("--steps") && outcome.err.contains("hint: "), "{steps}: {}", outcome.err);
    }
    for (option, value) in [
        ("--grids", "0"),
        ("--grids", "1001"),
        ("--skip-multiples", "1"),
        ("--refine", "1"),
        ("--schemes", "moreau"),
        ("--scheme", "{"),
        ("--end", "-1"),
        ("--set", "nothing=1"),
    ] {
        let outcome = session.carom(["converge", "bouncing-ball", "--steps", "0.1:0.01", option, value]);
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(2), ""), "{option} {value}: {}", outcome.err);
        assert!(outcome.err.contains(option.trim_end_matches('s')), "{option} {value}: {}", outcome.err);
    }
    // a reference run that would fill the memory
    let outcome = session.carom(["converge", "rocking-block", "--steps", "0.1:1e-6", "--refine", "1000"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    assert!(!session.path("out").exists());
}

#[test]
fn a_scheme_that_fails_does_not_take_the_others_along() {
    let session = Session::new();
    let bad = "{ name = \"moreau-jean\", newton-iterations = 1 }";
    let arguments =
        ["--steps", "0.05:0.02:3", "--grids", "2", "--scheme", "moreau-jean", "--scheme", bad, "--out", "out"];
    let outcome = session.carom(["converge", "double-pendulum"].iter().chain(&arguments));
    assert_eq!(outcome.code, Some(3), "{}", outcome.err);
    assert!(outcome.err.contains("newton-iterations") && outcome.err.contains("Newton's loop"), "{}", outcome.err);
    let lines = read(&session, "out");
    assert_eq!(lines.len(), 6);
    let errors = |line: &Line| line.1[position("q_l1")..].iter().flatten().count();
    for (good, bad) in lines[..3].iter().zip(&lines[3..]) {
        assert_eq!((errors(good), errors(bad)), (8, 0));
        assert_eq!((good.1[position("failed")], bad.1[position("failed")]), (Some(0.0), Some(2.0)));
    }
    assert!(session.read("out/convergence.html").contains("2 run(s) with h"));
    // where the reference run itself fails there is nothing to measure, and the earlier result stays
    let before = session.read("out/convergence.csv");
    let outcome =
        session.carom(["converge", "double-pendulum", "--steps", "0.05:0.02:3", "--scheme", bad, "--out", "out"]);
    assert_eq!(outcome.code, Some(3), "{}", outcome.err);
    assert!(outcome.err.contains("reference run"), "{}", outcome.err);
    assert_eq!(session.read("out/convergence.csv"), before);
}
