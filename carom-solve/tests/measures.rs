//! The two measures of an error, the one that a tolerance means and the other, recomputed from their definitions.

mod generated;

use carom_solve::family::{self, Recipe};
use carom_solve::{
    Certificate, GlobalParts, Law, Measure, ProblemWork, Reaction, Rows, SOLVERS, SolveError, StoredProblem, solver,
};
use generated::judge::{Plain, error_as_given};
use serde_json::{Value, json};

fn solve(name: &str, options: Value, problem: &StoredProblem) -> (Result<Certificate, SolveError>, Reaction) {
    let mut solver = (solver::find(name).unwrap().build)(&options).unwrap();
    let mut z = Reaction::default();
    let result = problem.solve(&mut *solver, &mut z);
    (result, z)
}

/// Residual and error of the literature of an answer, by the judge.
fn judged(problem: &StoredProblem, z: &Reaction) -> (f64, f64) {
    let plain = Plain::of(problem);
    let full = error_as_given(problem, &plain, &z.lambda, problem.velocity(z).as_deref());
    (plain.scaled_error(&z.lambda), full)
}

fn is_near(x: f64, y: f64) -> bool {
    is_near_beside(1.0, x, y)
}

/// Equal but for what rounding leaves of u = W λ + b beside λ.
fn is_near_beside(w: f64, x: f64, y: f64) -> bool {
    (x - y).abs() <= 1e-3 * y + 1e-14 * w
}

/// A generated family as if masses were so many times smaller: velocities are the same, impulses are smaller.
fn lighter(name: &str, size: usize, factor: f64) -> StoredProblem {
    let recipe = Recipe { size, seed: 1, mu: Some(0.5), kick: Some(0.0) };
    let problem = family::find(name).unwrap().generate(&recipe).unwrap();
    let mut parts = problem.global_parts().unwrap();
    let mut mass = Rows::new(parts.q.len());
    for row in parts.mass.iter() {
        mass.push_sparse(row.iter().map(|&(j, x)| (j, x / factor)));
    }
    parts.mass = mass;
    parts.q.iter_mut().for_each(|q| *q /= factor);
    StoredProblem::global(name, parts, problem.laws().to_vec()).unwrap()
}

/// Arches: light bodies, where the error of the literature is far above the residual.
#[test]
fn arches_have_two_errors() {
    let recipe = Recipe { size: 600, seed: 1, mu: Some(0.7), kick: Some(0.0) };
    let arch = family::find("arch").unwrap().generate(&recipe).unwrap();
    let (result, z) = solve("auto", json!({"tolerance": 1e-8}), &arch);
    let (certificate, (residual, full)) = (result.unwrap(), judged(&arch, &z));
    assert!(certificate.measure() == Measure::Residual && certificate.full_error().is_none());
    assert!(is_near(certificate.residual, residual) && residual <= 1e-8 && certificate.error() == certificate.residual);
    println!("{residual:e} {full:e}");
    assert!(full > 10.0 * residual && full > 1e-8, "{residual:e} {full:e}");
    let (result, z) = solve("auto", json!({"tolerance": 1e-8, "measure": "full-error"}), &arch);
    let (certificate, (residual, full)) = (result.unwrap(), judged(&arch, &z));
    assert!(full <= 1e-8 && certificate.measure() == Measure::FullError, "{full:e}");
    assert!(is_near(certificate.residual, residual), "{residual:e} {}", certificate.residual);
    assert!(
        is_near(certificate.full_error().unwrap(), full) && certificate.error() == certificate.full_error().unwrap()
    );
}

/// Light bodies: all solvers, by either measure.
#[test]
fn every_solver_knows_both_measures() {
    let friction = lighter("wall", 24, 1e6);
    let frictionless = {
        // W = 10⁸ [2 1; 1 2]
        let mass = Rows::dense(3, &[1e-8, 0.0, 0.0, 0.0, 1e-8, 0.0, 0.0, 0.0, 1e-8]);
        let jacobian = Rows::dense(3, &[1.0, 1.0, 0.0, 0.0, 1.0, 1.0]);
        let parts = GlobalParts { mass, jacobian, q: vec![0.0; 3], b: vec![-5.0, -6.0] };
        StoredProblem::global("lcp", parts, vec![Law::UNILATERAL; 2]).unwrap()
    };
    let mut differ = 0;
    for row in SOLVERS {
        let spatial = row.info.laws.contains("spatial friction");
        let problem = if spatial { &friction } else { &frictionless };
        let (result, z) = solve(row.info.name, json!({"tolerance": 1e-4}), problem);
        let plain = result.unwrap_or_else(|error| panic!("{}: {error}", row.info.name));
        let loose = judged(problem, &z).1;
        let (result, z) = solve(row.info.name, json!({"tolerance": 1e-4, "measure": "full-error"}), problem);
        let certificate = result.unwrap_or_else(|error| panic!("{}: {error}", row.info.name));
        let (residual, full) = judged(problem, &z);
        println!("{}: {:e} {loose:e}, {residual:e} {full:e}", row.info.name, plain.residual);
        assert!(full <= 1e-4 && is_near_beside(1e6, certificate.error(), full), "{}: {full:e}", row.info.name);
        assert!(is_near(certificate.residual, residual), "{}: {residual:e}", row.info.name);
        differ += usize::from(loose > 1e-4);
        let same = solve(row.info.name, json!({"tolerance": 1e-4, "measure": "residual"}), problem).0.unwrap();
        assert_eq!(same, plain, "{}", row.info.name);
        for wrong in ["full", "", "Residual"] {
            assert!((row.build)(&json!({ "measure": wrong })).is_err(), "{}: {wrong}", row.info.name);
        }
        let schema = (row.schema)();
        let property = &schema["properties"]["measure"];
        let words = serde_json::to_string(property).unwrap();
        assert!(words.contains("residual") && words.contains("full-error"), "{}: {property}", row.info.name);
    }
    assert!(differ >= 3, "where they agree nothing is tested");
}

/// Heavy bodies: the error of the literature is met long before the residual.
#[test]
fn the_residual_may_be_missed_where_it_is_not_meant() {
    let problem = lighter("wall", 24, 1e-7);
    for name in ["auto", "nsgs"] {
        let options = |measure: &str| {
            let mut options = json!({"tolerance": 1e-8, "measure": measure, "max-sweeps": 4});
            if name == "auto" {
                options["budget"] = json!(1e-9);
            }
            options
        };
        let error = solve(name, options("residual"), &problem).0.unwrap_err();
        assert!(error.to_string().contains("residual"), "{error}");
        let (result, z) = solve(name, options("full-error"), &problem);
        let (residual, full) = judged(&problem, &z);
        println!("{name}: {residual:e} {full:e}");
        match result {
            Ok(certificate) => assert!(full <= 1e-8 && residual > 1e-8 && certificate.residual > 1e-8, "{full:e}"),
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

/// What is missed is said in the words of the measure.
#[test]
fn failures_name_the_measure() {
    let problem = lighter("wall", 24, 1e3);
    for (name, limits) in [
        ("auto", json!({"max-sweeps": 3, "budget": 1e-9})),
        ("nsgs", json!({"max-sweeps": 3})),
        ("admm", json!({"max-iterations": 3})),
    ] {
        let mut options = limits;
        (options["tolerance"], options["measure"]) = (json!(1e-12), json!("full-error"));
        let (result, z) = solve(name, options, &problem);
        let error = result.unwrap_err();
        let (certificate, full) = (error.certificate().unwrap(), judged(&problem, &z).1);
        println!("{error}");
        assert!(full > 1e-9 && is_near(certificate.error(), full), "{name}: {full:e}, {error}");
        assert!(error.to_string().starts_with("full error "), "{name}: {error}");
    }
}

/// The error is not computed where nobody asks; where the caller asks for both, the certificate has both.
#[test]
fn both_are_in_the_certificate_on_request() {
    let problem = lighter("wall", 24, 1.0);
    let besides = solve("auto", json!({"tolerance": 1e-8, "full-error": 1e-6}), &problem);
    let certificate = besides.0.unwrap();
    assert_eq!(certificate.measure(), Measure::Residual);
    assert!(is_near(certificate.full_error().unwrap(), judged(&problem, &besides.1).1));
    let at_rest = StoredProblem::reduced("open", Rows::dense(1, &[2.0]), vec![1.0], vec![Law::UNILATERAL]);
    let mut z = Reaction::default();
    let by = |measure: Measure, z: &mut Reaction| {
        at_rest.as_ref().unwrap().with(&mut ProblemWork::default(), |p| {
            z.lambda = vec![0.25];
            p.certify_by(measure, z)
        })
    };
    assert_eq!(by(Measure::Residual, &mut z).full_error(), None);
    // u = 1.5 and F = λ − max(0, λ − u) = 0.25, relative to u
    assert_eq!(by(Measure::FullError, &mut z).error(), 0.25 / 1.5);
}
