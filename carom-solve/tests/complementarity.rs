//! Solvers of problems without spatial friction: nonsymmetric matrices, degenerate ties, exponential paths, proofs that
//! there is no solution.

mod generated;

use carom_solve::{Law, SolveError, Solver, solver};
use generated::{Problem, law};
use proptest::{prelude::*, test_runner::RngSeed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::json;

fn named(name: &str, options: serde_json::Value) -> Box<dyn Solver> {
    (solver::find(name).unwrap().build)(&options).unwrap()
}

/// The direct methods, each with its options.
fn direct() -> Vec<Box<dyn Solver>> {
    vec![
        named("lemke", json!({})),
        named("newton-min", json!({})),
        named("newton-min", json!({"function": "fischer-burmeister"})),
    ]
}

/// `A Aᵀ/n + shift + skew (B − Bᵀ)/√n`: positive definite, not symmetric.
fn nonsymmetric(n: usize, shift: f64, skew: f64, rng: &mut Pcg64) -> Vec<f64> {
    let mut random = || (0..n * n).map(|_| rng.random_range(-1.0..1.0)).collect::<Vec<f64>>();
    let (a, b) = (random(), random());
    let root = (n as f64).sqrt();
    let mut w = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            let gram: f64 = (0..n).map(|k| a[i * n + k] * a[j * n + k]).sum();
            let diagonal = if i == j { shift } else { 0.0 };
            w[i * n + j] = gram / n as f64 + diagonal + skew * (b[i * n + j] - b[j * n + i]) / root;
        }
    }
    w
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let norm = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
    norm(&mut a.iter().zip(b).map(|(a, b)| a - b)) / norm(&mut a.iter().copied()).max(1e-300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, rng_seed: RngSeed::Fixed(2), failure_persistence: None, ..ProptestConfig::default() })]

    /// Positive definite, not symmetric, all laws of one row: one solution, found by all direct methods, also when the
    /// rows are turned or the units changed.
    #[test]
    fn nonsymmetric_mixtures(kinds in prop::collection::vec(0..5usize, 1..30), skew in 0.0..2.0f64, unit in -6..6i32, seed in any::<u64>()) {
        let laws: Vec<Law> = kinds.iter().map(|&k| law(k, 0.0)).collect();
        let n = laws.len();
        let mut rng = Pcg64::seed_from_u64(seed);
        let w = nonsymmetric(n, 0.1, skew, &mut rng);
        let b: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
        let problem = Problem::reduced(&laws, &w, &b);
        let turned: Vec<usize> = (0..n).map(|i| (i + n / 2) % n).collect();
        let unit = 10f64.powi(unit);
        let other_laws: Vec<Law> = turned.iter().map(|&i| {
            let (lower, upper) = laws[i].bounds();
            Law::interval(lower / unit, upper / unit)
        }).collect();
        let other_w: Vec<f64> = turned.iter().flat_map(|&i| turned.iter().map(move |&j| (i, j))).map(|(i, j)| w[i * n + j] * unit).collect();
        let other_b: Vec<f64> = turned.iter().map(|&i| b[i]).collect();
        let other = Problem::reduced(&other_laws, &other_w, &other_b);
        let mut first: Option<Vec<f64>> = None;
        for mut solver in direct() {
            let name = solver.info().name;
            let (z, certificate) = problem.solve(&mut *solver).map_err(|e| TestCaseError::fail(format!("{name}: {e}")))?;
            prop_assert!(certificate.residual <= solver.info().accuracy, "{name} {:e}", certificate.residual);
            let (y, _) = other.solve(&mut *solver).map_err(|e| TestCaseError::fail(format!("{name}: {e}")))?;
            let mut back = vec![0.0; n];
            for (&i, y) in turned.iter().zip(&y.lambda) {
                back[i] = y * unit;
            }
            prop_assert!(distance(&z.lambda, &back) < 1e-9, "{name}");
            match &first {
                None => first = Some(z.lambda),
                Some(lambda) => prop_assert!(distance(lambda, &z.lambda) < 1e-9, "{name}"),
            }
        }
    }

    /// Planar friction with a slightly nonsymmetric W: Lemke's method certifies.
    #[test]
    fn nonsymmetric_planar_friction(contacts in 1..8usize, kinds in prop::collection::vec(0..5usize, 0..5), mu in 0.0..1.0f64, seed in any::<u64>()) {
        let laws: Vec<Law> = (0..contacts).map(|_| Law::coulomb(mu, 1)).chain(kinds.iter().map(|&k| law(k, 0.0))).collect();
        let n = laws.iter().map(Law::size).sum();
        let mut rng = Pcg64::seed_from_u64(seed);
        let w = nonsymmetric(n, 0.2, 1e-3, &mut rng);
        let b: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
        let result = Problem::reduced(&laws, &w, &b).solve(&mut *named("lemke", json!({})));
        prop_assert!(result.is_ok(), "{}", result.unwrap_err());
    }

    /// Small integers, fewer degrees of freedom than rows: most ratio tests are ties. `b = H v` with a velocity has a
    /// solution.
    #[test]
    fn ties_do_not_cycle(rows in 2..40usize, dof in 1..6usize, boxes in any::<bool>(), seed in any::<u64>()) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let h: Vec<f64> = (0..rows * dof).map(|_| rng.random_range(-1..=1) as f64).collect();
        let velocity: Vec<f64> = (0..dof).map(|_| rng.random_range(-2..=2) as f64).collect();
        let b: Vec<f64> = h.chunks(dof).map(|row| row.iter().zip(&velocity).map(|(a, b)| a * b).sum()).collect();
        let laws: Vec<Law> = (0..rows).map(|i| if boxes && i % 3 == 0 { Law::interval(-1.0, 1.0) } else { Law::UNILATERAL }).collect();
        let result = Problem::mechanical(&laws, dof, &h, &b).solve(&mut *named("lemke", json!({})));
        prop_assert!(result.is_ok(), "{}", result.unwrap_err());
    }

    /// Equalities beyond the rank, consistent: solved; moved apart: refused as without solution.
    #[test]
    fn equalities_beyond_the_rank(equalities in 3..8usize, contacts in 0..5usize, seed in any::<u64>()) {
        let dof = 2;
        let mut rng = Pcg64::seed_from_u64(seed);
        let h: Vec<f64> = (0..(equalities + contacts) * dof).map(|_| rng.random_range(-1.0..1.0)).collect();
        let velocity = [rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0)];
        let mut b: Vec<f64> = h.chunks(dof).map(|row| row[0] * velocity[0] + row[1] * velocity[1]).collect();
        let laws: Vec<Law> = (0..equalities + contacts).map(|i| if i < equalities { Law::EQUALITY } else { Law::UNILATERAL }).collect();
        for mut solver in direct() {
            let result = Problem::mechanical(&laws, dof, &h, &b).solve(&mut *solver);
            prop_assert!(result.is_ok(), "{}: {}", solver.info().name, result.unwrap_err());
        }
        b[0] += 1.0;
        let result = Problem::mechanical(&laws, dof, &h, &b).solve(&mut *named("lemke", json!({})));
        prop_assert!(matches!(result, Err(SolveError::Ray { .. })), "{result:?}");
    }
}

#[test]
fn exponential_paths_end() {
    // [murty1988, §6]: 2 above the diagonal of ones, q = −(2ⁿ⁺¹ − 2ⁱ): Lemke's method needs 2ⁿ pivots to z = 2ⁿ eₙ
    for n in [6, 9, 12] {
        let mut w = vec![0.0; n * n];
        for i in 0..n {
            w[i * n + i] = 1.0;
            w[i * n + i + 1..(i + 1) * n].fill(2.0);
        }
        let power = |k: usize| f64::powi(2.0, k as i32);
        let b: Vec<f64> = (0..n).map(|i| power(i + 1) - power(n + 1)).collect();
        let problem = Problem::reduced(&vec![Law::UNILATERAL; n], &w, &b);
        let (z, _) = problem.solve(&mut *named("lemke", json!({}))).unwrap();
        assert!((z.lambda[n - 1] - power(n)).abs() < 1e-9 && z.lambda[..n - 1].iter().all(|x| x.abs() < 1e-9));
        // a limit that is too small is named as such
        let error = problem.solve(&mut *named("lemke", json!({"max-pivots": 5}))).unwrap_err();
        assert!(matches!(error, SolveError::NotConverged { iterations: 5, .. }), "{error}");
    }
    // the symmetric positive definite L Lᵀ of the same matrix, whose paths are exponential as well
    for n in [4, 8, 11] {
        let entry = |i: usize, j: usize| match i.cmp(&j) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => 1.0,
            std::cmp::Ordering::Greater => 2.0,
        };
        let w: Vec<f64> = (0..n * n).map(|k| (0..n).map(|l| entry(k / n, l) * entry(k % n, l)).sum::<f64>()).collect();
        let problem = Problem::reduced(&vec![Law::UNILATERAL; n], &w, &vec![-1.0; n]);
        for mut solver in direct() {
            let (_, certificate) = problem.solve(&mut *solver).unwrap();
            assert!(certificate.residual <= 1e-12, "{} {:e}", solver.info().name, certificate.residual);
        }
    }
}

#[test]
fn problems_without_solution_end_on_a_ray() {
    let problems = [
        // an equality holds the coordinate that a contact wants to move: u₁ = u₀ − 1
        Problem::mechanical(&[Law::EQUALITY, Law::UNILATERAL], 1, &[1.0, 1.0], &[0.0, -1.0]),
        // two equalities that contradict each other
        Problem::mechanical(&[Law::EQUALITY, Law::EQUALITY], 1, &[1.0, 2.0], &[0.5, 0.0]),
        // an equality that no reaction reaches
        Problem::reduced(&[Law::EQUALITY, Law::UNILATERAL], &[0.0, 0.0, 0.0, 1.0], &[1.0, -1.0]),
        // a reaction of at most one against a load of two
        Problem::reduced(&[Law::interval(-1.0, 1.0), Law::UNILATERAL], &[1.0, -1.0, 1.0, 0.0], &[0.0, -2.0]),
        // two walls that approach each other, with a box and an equality elsewhere
        Problem::mechanical(
            &[Law::UNILATERAL, Law::interval(-0.5, 0.5), Law::EQUALITY, Law::UNILATERAL],
            3,
            &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0],
            &[-1.0, 0.3, 0.2, -1.0],
        ),
    ];
    for (k, problem) in problems.iter().enumerate() {
        match problem.solve(&mut *named("lemke", json!({}))) {
            Err(SolveError::Ray { certificate, .. }) => assert!(certificate.residual > 1e-3, "{k}"),
            other => panic!("problem {k} gave {other:?}"),
        }
        for mut solver in direct() {
            assert!(problem.solve(&mut *solver).is_err(), "{k}: {}", solver.info().name);
        }
    }
}

#[test]
fn large_families_are_solved_exactly() {
    for (n, shift, skew) in [(150, 1.0, 0.0), (150, 0.0, 0.0), (150, 0.1, 1.0), (300, 0.1, 1.0)] {
        let mut rng = Pcg64::seed_from_u64(n as u64);
        let w = nonsymmetric(n, shift, skew, &mut rng);
        let b: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
        let problem = Problem::reduced(&vec![Law::UNILATERAL; n], &w, &b);
        for mut solver in direct() {
            let (_, certificate) = problem.solve(&mut *solver).unwrap();
            assert!(certificate.residual <= 1e-12, "{} {:e}", solver.info().name, certificate.residual);
        }
    }
}
