//! Histories of residuals: what was noted was reached, and noting changes nothing.

mod generated;

use carom_solve::family::{self, Recipe};
use carom_solve::{History, Point, ProblemWork, Reaction, SOLVERS, StoredProblem, solver};
use generated::judge::Plain;
use serde_json::{Value, json};

fn recorded(name: &'static str, options: Value, problem: &StoredProblem) -> (Vec<Point>, Reaction, String) {
    let mut solver = (solver::find(name).unwrap().build)(&options).unwrap();
    let (history, mut z) = (History::new(name), Reaction::default());
    let _ = problem.with(&mut ProblemWork::default(), |p| solver.solve(&p.recorded(&history), &mut z));
    (history.points(), z, solver.log())
}

fn generate(name: &str, size: usize, kick: f64) -> StoredProblem {
    let recipe = Recipe { size, seed: 1, mu: Some(0.3), kick: Some(kick) };
    family::find(name).unwrap().generate(&recipe).unwrap()
}

/// Each noted residual is that of the point after so many sweeps, recomputed by the judge.
#[test]
fn noted_residuals_were_reached() {
    let problem = generate("wall", 48, 0.0);
    let plain = Plain::of(&problem);
    // without extrapolation the last point is that of the last sweep
    let (points, ..) = recorded("nsgs", json!({"max-sweeps": 60, "tolerance": 1e-14, "memory": 0}), &problem);
    let mut least = f64::INFINITY;
    let mut compared = 0;
    for p in &points {
        // a solver that is stopped there returns its best point
        if p.residual < least {
            let mut z = Reaction::default();
            let options = json!({"max-sweeps": p.iteration, "tolerance": 1e-14, "memory": 0});
            let _ = problem.solve(&mut *(solver::find("nsgs").unwrap().build)(&options).unwrap(), &mut z);
            let reached = plain.scaled_error(&z.lambda);
            assert!((p.residual / reached - 1.0).abs() < 1e-6, "{p:?} {reached:e}");
            compared += 1;
        }
        least = least.min(p.residual);
    }
    assert!(compared >= 8, "{points:?}");
}

/// Ladders, from rung to rung; the same bits as without a history.
#[test]
fn ladders_tell_their_rungs() {
    for (name, size, kick, tolerance) in [("tower", 1000, 0.0, 1e-10), ("fcc", 500, 1.0, 1e-8), ("wall", 20, 0.0, 1e-8)]
    {
        let problem = generate(name, size, kick);
        let (points, z, log) = recorded("auto", json!({ "tolerance": tolerance }), &problem);
        let mut other = Reaction::default();
        let mut solver = (solver::find("auto").unwrap().build)(&json!({ "tolerance": tolerance })).unwrap();
        let certificate = problem.solve(&mut *solver, &mut other).unwrap();
        assert!(other == z && solver.log() == log, "{name}: {log}");
        let last = points.last().unwrap();
        assert!(last.residual == certificate.residual && last.residual <= tolerance, "{name}: {last:?}");
        for pair in points.windows(2) {
            let same = (pair[0].rung, pair[0].method) == (pair[1].rung, pair[1].method);
            assert!(pair[0].rung <= pair[1].rung && pair[0].seconds <= pair[1].seconds, "{name}: {pair:?}");
            assert!(!same || pair[0].iteration <= pair[1].iteration, "{name}: {pair:?}");
        }
        // sweeps of the log are those of the history
        let swept = log.split(", ").filter_map(|part| part.strip_prefix("nsgs ")?.split(' ').next()?.parse().ok());
        let mut told: Vec<usize> = Vec::new();
        for part in points.chunk_by(|a, b| (a.rung, a.method) == (b.rung, b.method)) {
            if part[0].method == "nsgs" {
                told.push(part.last().unwrap().iteration);
            }
        }
        assert_eq!(swept.collect::<Vec<usize>>(), told, "{name}: {log}");
        println!("{name}: {} points, {log}", points.len());
    }
}

/// Of groups that are solved apart the largest one is told, and the whole at the end.
#[test]
fn islands_tell_of_the_largest_one() {
    let problem = generate("towers", 500, 1.0);
    let (points, z, log) = recorded("auto", json!({"tolerance": 1e-8}), &problem);
    assert!(log.starts_with("islands ") && !log.contains(','), "{log}");
    assert!(points.len() > 5 && points[0].rung > 1 && points[0].method == "nsgs", "{points:?}");
    let residual = Plain::of(&problem).scaled_error(&z.lambda);
    assert!((points.last().unwrap().residual / residual - 1.0).abs() < 1e-3, "{residual:e}");
    let again = recorded("auto", json!({"tolerance": 1e-8}), &problem).0;
    let told = |points: &[Point]| points.iter().map(|p| (p.rung, p.iteration, p.residual)).collect::<Vec<_>>();
    assert_eq!(told(&points), told(&again));
}

/// Every solver leaves its end at least.
#[test]
fn every_solver_has_a_history() {
    let frictionless = family::find("pd").unwrap().build(6, 1).unwrap();
    let friction = generate("wall", 24, 0.0);
    for row in SOLVERS {
        let spatial = row.info.laws.contains("spatial friction");
        let problem = if spatial { &friction } else { &frictionless };
        let (points, z, _) = recorded(row.info.name, json!({"tolerance": 1e-8}), problem);
        let last = points.last().unwrap_or_else(|| panic!("{}: nothing", row.info.name));
        let residual = Plain::of(problem).scaled_error(&z.lambda);
        assert!(last.residual <= 1e-8 && (last.residual - residual).abs() <= 1e-3 * residual + 1e-14, "{last:?}");
        println!("{}: {} points, {last:?}", row.info.name, points.len());
    }
}
