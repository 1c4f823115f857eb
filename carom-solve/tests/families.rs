//! The generated families at several sizes and seeds: solved by the default solver, as judged independently, and by
//! every method that claims them where the answer is unique.

mod generated;

use carom_solve::{Reaction, SOLVERS, StoredProblem, family, solver};
use generated::judge::{self, Plain, norm};
use serde_json::json;

#[test]
fn families_are_solved() {
    for family in family::FAMILIES {
        for size in [1, 7, 30, 100, 250] {
            for seed in 1..=3 {
                let problem = family.build(size, seed).unwrap();
                let mut solver = (solver::find("auto").unwrap().build)(&json!({"tolerance": 1e-8})).unwrap();
                let mut z = Reaction::default();
                let result = problem.solve(&mut *solver, &mut z);
                let (name, log) = (problem.name(), solver.log());
                assert!(result.is_ok(), "{name}: {}; {log}", result.unwrap_err());
                let plain = Plain::of(&problem);
                let scaled = plain.scaled_error(&z.lambda);
                // the last digits may differ between two ways to sum
                assert!(scaled <= 1.001e-8, "{name}: {scaled:e}; {log}");
                let v = problem.velocity(&z);
                assert!(judge::error_as_given(&problem, &plain, &z.lambda, v.as_deref()).is_finite(), "{name}");
            }
        }
    }
}

/// Outputs in the scaled variables of the certificate.
fn outputs(plain: &Plain, lambda: &[f64]) -> Vec<f64> {
    plain.u(lambda).iter().zip(plain.scales()).map(|(u, s)| u * s).collect()
}

/// Without friction and with a positive semidefinite W all solutions have the same u where W is symmetric, and u and λ
/// are unique where it is definite. Monotonicity bounds the distance of u by the root of the residual.
#[test]
fn solvers_agree_where_the_outputs_are_unique() {
    for name in ["pd", "aat", "pns", "degenerate", "redundant", "obstacle"] {
        for (size, seed) in [(8, 1), (30, 2), (60, 3)] {
            let problem: StoredProblem = family::find(name).unwrap().build(size, seed).unwrap();
            assert!(problem.laws().iter().all(|law| law.is_unilateral()));
            let plain = Plain::of(&problem);
            let mut first: Option<Vec<f64>> = None;
            let mut solved = 0;
            for row in SOLVERS {
                let mut solver = (row.build)(&json!({"tolerance": 1e-10})).unwrap();
                // enumeration stops at its size
                if solver.admits(problem.laws()).is_err() || row.info.name == "enumerative" && size > 10 {
                    continue;
                }
                let mut z = Reaction::default();
                if let Err(error) = problem.solve(&mut *solver, &mut z) {
                    println!("{} on {}: {error}", row.info.name, problem.name());
                    assert_ne!(row.info.name, "auto", "{}: {error}", problem.name());
                    continue;
                }
                solved += 1;
                let error = plain.scaled_error(&z.lambda);
                assert!(error <= 1.001e-10, "{} on {}: {error:e}", row.info.name, problem.name());
                let u = outputs(&plain, &z.lambda);
                let expected = first.get_or_insert_with(|| u.clone());
                let difference: Vec<f64> = u.iter().zip(&*expected).map(|(a, b)| a - b).collect();
                let distance = norm(&difference) / norm(&u).max(norm(&outputs(&plain, &vec![0.0; u.len()])));
                assert!(distance <= 1e-5, "{} on {}: {distance:e}", row.info.name, problem.name());
            }
            assert!(solved >= 4, "{}: {solved}", problem.name());
        }
    }
}
