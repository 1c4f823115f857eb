//! All solvers on generated problems: certified to their claims, consistent with each other, honest where there is no
//! solution.

mod generated;

use carom_solve::{Law, ProblemWork, Reaction, SOLVERS, SolveError, Solver, solver};
use generated::{Problem, law};
use proptest::{prelude::*, test_runner::RngSeed};
use serde_json::json;

fn admitted(laws: &[Law]) -> Vec<Box<dyn Solver>> {
    let all = SOLVERS.iter().map(|row| (row.build)(&json!({})).unwrap());
    all.filter(|solver| solver.admits(laws).is_ok()).collect()
}

fn named(name: &str) -> Box<dyn Solver> {
    (solver::find(name).unwrap().build)(&json!({})).unwrap()
}

/// Distance in the scaled variables of the certificate, relative to the first.
fn distance(problem: &Problem, a: &[f64], b: &[f64]) -> f64 {
    let (w, m) = (problem.w(), a.len());
    let norm = |x: &dyn Fn(usize) -> f64| (0..m).map(|i| w[i * m + i] * x(i) * x(i)).sum::<f64>().sqrt();
    norm(&|i| a[i] - b[i]) / norm(&|i| a[i]).max(1e-300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

    /// Positive definite and without friction: one solution, found by all.
    #[test]
    fn mixtures_without_friction(kinds in prop::collection::vec(0..5usize, 1..9), seed in any::<u64>()) {
        let laws: Vec<Law> = kinds.iter().map(|&k| law(k, 0.0)).collect();
        let problem = Problem::random(&laws, laws.len() + 3, seed);
        let mut first: Option<Vec<f64>> = None;
        for mut solver in admitted(&laws) {
            let (z, certificate) = problem.solve(&mut *solver).unwrap();
            prop_assert!(certificate.residual <= solver.info().accuracy, "{} {:e}", solver.info().name, certificate.residual);
            match &first {
                None => first = Some(z.lambda),
                // residual 1e-10 times the condition number of a few dofs
                Some(lambda) => prop_assert!(distance(&problem, lambda, &z.lambda) < 1e-5, "{}", solver.info().name),
            }
        }
    }

    /// With friction solutions need not be unique: the certificate is the judge. Gauss-Seidel may fail for large
    /// coefficients, but it must say so.
    #[test]
    fn mixtures_with_planar_friction(kinds in prop::collection::vec(0..6usize, 1..6), mu in 0.0..3.0f64, seed in any::<u64>()) {
        let laws: Vec<Law> = kinds.iter().map(|&k| law(k, mu)).chain([Law::coulomb(mu, 1)]).collect();
        let problem = Problem::random(&laws, 2 * laws.len() + 2, seed);
        for mut solver in admitted(&laws) {
            let name = solver.info().name;
            match problem.solve(&mut *solver) {
                Ok((_, certificate)) => prop_assert!(certificate.residual <= solver.info().accuracy, "{name} {:e}", certificate.residual),
                Err(error) => {
                    prop_assert!(name == "nsgs" && mu > 0.3, "{name}: {error}");
                    prop_assert!(error.certificate().unwrap().residual > 1e-10);
                }
            }
        }
    }

    /// Spatial friction and everything else.
    #[test]
    fn mixtures_with_spatial_friction(kinds in prop::collection::vec(0..7usize, 1..6), mu in 0.0..0.6f64, seed in any::<u64>()) {
        let laws: Vec<Law> = kinds.iter().map(|&k| law(k, mu)).chain([Law::coulomb(mu, 2)]).collect();
        let problem = Problem::random(&laws, 3 * laws.len() + 3, seed);
        for mut solver in admitted(&laws) {
            let (_, certificate) = problem.solve(&mut *solver).unwrap();
            prop_assert!(certificate.residual <= solver.info().accuracy, "{} {:e}", solver.info().name, certificate.residual);
        }
    }

    /// More rows than degrees of freedom, any friction. The b of bodies that move: in the range of the rows.
    #[test]
    fn rank_deficient_planar_contacts(contacts in 2..6usize, mu in 0.0..3.0f64, seed in any::<u64>()) {
        let laws = vec![Law::coulomb(mu, 1); contacts];
        let mut problem = Problem::random(&laws, 3, seed);
        let velocity = [problem.b[0], problem.b[1], problem.b[2]];
        problem.output.mul(&velocity, &mut problem.b);
        for name in ["auto", "lemke", "enumerative"] {
            let result = problem.solve(&mut *named(name));
            prop_assert!(result.is_ok(), "{name}: {}", result.unwrap_err());
        }
    }

    /// Another order of the laws is the same problem.
    #[test]
    fn order_of_laws_does_not_matter(kinds in prop::collection::vec(0..5usize, 2..8), seed in any::<u64>()) {
        let laws: Vec<Law> = kinds.iter().map(|&k| law(k, 0.0)).collect();
        let problem = Problem::random(&laws, laws.len() + 3, seed);
        let m = laws.len();
        let mut turned = Problem { output: Default::default(), ..problem.clone() };
        turned.output.clear(problem.output.columns());
        for i in 0..m {
            turned.output.push_row_of(&problem.output, (i + 1) % m);
            turned.laws[i] = laws[(i + 1) % m];
            turned.b[i] = problem.b[(i + 1) % m];
        }
        turned.input = turned.output.clone();
        for (mut one, mut other) in admitted(&laws).into_iter().zip(admitted(&laws)) {
            let (z, _) = problem.solve(&mut *one).unwrap();
            let (mut y, _) = turned.solve(&mut *other).unwrap();
            y.lambda.rotate_right(1);
            prop_assert!(distance(&problem, &z.lambda, &y.lambda) < 1e-5, "{}", one.info().name);
        }
    }

    /// Grams or tonnes, metres or millimetres: the same states, reactions in the other unit.
    #[test]
    fn units_do_not_matter(kinds in prop::collection::vec(0..2usize, 1..5), mu in 0.0..1.0f64, mass in -12.0..12.0f64, length in -12.0..12.0f64, seed in any::<u64>()) {
        let laws: Vec<Law> = kinds.iter().map(|&k| law(5 * k, mu)).collect();
        let problem = Problem::random(&laws, 2 * laws.len() + 3, seed);
        let (mass, length) = (10f64.powf(mass), 10f64.powf(length));
        let scaled: Vec<f64> = problem.w().iter().map(|w| w / mass).collect();
        let b: Vec<f64> = problem.b.iter().map(|b| b * length).collect();
        let other = Problem::reduced(&laws, &scaled, &b);
        for (mut one, mut two) in admitted(&laws).into_iter().zip(admitted(&laws)) {
            let (z, c) = problem.solve(&mut *one).unwrap();
            let (y, d) = other.solve(&mut *two).unwrap();
            prop_assert!(c.residual <= 1e-10 && d.residual <= 1e-10);
            let back: Vec<f64> = y.lambda.iter().map(|x| x / (mass * length)).collect();
            // one sign of friction may differ where there are several solutions; without friction never
            if laws.iter().all(|law| law.is_unilateral()) {
                prop_assert!(distance(&problem, &z.lambda, &back) < 1e-5, "{}", one.info().name);
            }
        }
    }
}

#[test]
fn redundant_equalities_are_solved_and_contradictions_refused() {
    // three copies of two constraints on two degrees of freedom, and a contact
    let h = [1.0, 0.2, 0.3, 1.0, 1.0, 0.2, 0.3, 1.0, 2.0, 0.4, 1.0, -1.0];
    let laws = [Law::EQUALITY, Law::EQUALITY, Law::EQUALITY, Law::EQUALITY, Law::EQUALITY, Law::UNILATERAL];
    let velocity = [0.7, -1.1];
    let mut b: Vec<f64> = h.chunks(2).map(|row| row[0] * velocity[0] + row[1] * velocity[1]).collect();
    let problem = Problem::mechanical(&laws, 2, &h, &b);
    for mut solver in admitted(&laws) {
        let (z, certificate) = problem.solve(&mut *solver).unwrap();
        assert!(certificate.residual <= solver.info().accuracy, "{}", solver.info().name);
        // the constraints fix both degrees of freedom: the response cancels the velocity
        for (r, v) in z.response.iter().zip(velocity) {
            assert!((r + v).abs() < 1e-8);
        }
    }
    b[0] += 0.1;
    let problem = Problem { b, ..problem };
    for mut solver in admitted(&laws) {
        assert!(problem.solve(&mut *solver).is_err(), "{}", solver.info().name);
    }
}

#[test]
fn equality_without_inertia_of_its_own_is_solved_by_pivoting() {
    // λ₁ with 0 ≤ 2 λ₁ − λ₀ − 1 ⊥ λ₁ ≥ 0 and the multiplier λ₀ of λ₁ = 3: λ₀ = 5
    let problem = Problem::reduced(&[Law::EQUALITY, Law::UNILATERAL], &[0.0, 1.0, -1.0, 2.0], &[-3.0, -1.0]);
    for name in ["auto", "lemke", "enumerative"] {
        let (z, certificate) = problem.solve(&mut *named(name)).unwrap();
        assert!((z.lambda[0] - 5.0).abs() < 1e-13 && (z.lambda[1] - 3.0).abs() < 1e-13, "{name} {:?}", z.lambda);
        assert!(certificate.residual < 1e-14);
    }
}

#[test]
fn infeasible_problems_end_on_a_ray() {
    // two walls that approach each other: u₁ + u₀ = −2 for any λ
    let laws = [Law::UNILATERAL, Law::UNILATERAL];
    let problem = Problem::mechanical(&laws, 1, &[1.0, -1.0], &[-1.0, -1.0]);
    for name in ["lemke", "auto"] {
        match problem.solve(&mut *named(name)) {
            Err(SolveError::Ray { certificate, .. }) => assert!(certificate.residual > 0.1),
            other => panic!("{name}: {other:?}"),
        }
    }
    for name in ["nsgs", "enumerative"] {
        let error = problem.solve(&mut *named(name)).unwrap_err();
        // one of the two gap velocities is −1 at best
        assert!(error.certificate().unwrap().velocity > 1.0 - 1e-9, "{name}: {error}");
    }
}

#[test]
fn numbers_that_are_not_finite_are_never_solved() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for kinds in [vec![0], vec![1], vec![2], vec![5], vec![6], vec![0, 0], vec![0, 1, 2], vec![5, 5], vec![6, 0]] {
            let laws: Vec<Law> = kinds.iter().map(|&k| law(k, 0.3)).collect();
            let good = Problem::random(&laws, 9, 5);
            let mut in_b = good.clone();
            in_b.b[0] = bad;
            let mut w = good.w();
            w[0] = bad;
            for problem in
                [in_b, Problem::reduced(&laws, &w, &good.b), Problem::reduced(&laws, &w, &vec![1.0; good.b.len()])]
            {
                for mut solver in admitted(&laws) {
                    match problem.solve(&mut *solver) {
                        Err(SolveError::NotFinite(_)) => {}
                        Err(error) => assert_eq!(error.certificate().unwrap().residual, f64::INFINITY),
                        Ok(_) => panic!("{} solved {problem:?}", solver.info().name),
                    }
                }
            }
            // a bad guess is no excuse
            for mut solver in admitted(&laws) {
                assert!(good.solve_from(&mut *solver, &[bad; 20]).is_ok(), "{} {laws:?}", solver.info().name);
            }
        }
    }
}

#[test]
fn repeated_solves_give_the_same_bits() {
    for kinds in [vec![0, 0, 1, 2], vec![5, 5, 0], vec![6, 6, 6, 1]] {
        let laws: Vec<Law> = kinds.iter().map(|&k| law(k, 0.4)).collect();
        let (problem, other) = (Problem::random(&laws, 14, 3), Problem::random(&laws[..2], 14, 4));
        for mut solver in admitted(&laws) {
            let first = problem.solve(&mut *solver).unwrap();
            // another problem in between leaves no trace
            other.solve(&mut *solver).unwrap();
            assert_eq!(first, problem.solve(&mut *solver).unwrap(), "{}", solver.info().name);
        }
    }
}

#[test]
fn empty_problems_have_the_empty_solution() {
    let problem = Problem::mechanical(&[], 2, &[], &[]);
    for mut solver in admitted(&[]) {
        let (z, certificate) = problem.solve_from(&mut *solver, &[1.0, 2.0]).unwrap();
        assert!(z.lambda.is_empty() && z.u.is_empty() && certificate.residual == 0.0, "{}", solver.info().name);
    }
}

#[test]
fn degenerate_pivots_do_not_cycle() {
    // many equal rows: every ratio test is a tie
    for n in 2..12 {
        let laws = vec![Law::UNILATERAL; n];
        let problem = Problem::mechanical(&laws, 1, &vec![1.0; n], &vec![-1.0; n]);
        let (z, certificate) = problem.solve(&mut *named("lemke")).unwrap();
        assert!((z.lambda.iter().sum::<f64>() - 1.0).abs() < 1e-14 && certificate.residual < 1e-14);
    }
    // contacts of a square block at rest, planar, all with the same load
    let h: Vec<f64> = [-1.0, -0.5, 0.5, 1.0].iter().flat_map(|&x| [0.0, 1.0, x, 1.0, 0.0, 0.5]).collect();
    for mu in [0.0, 0.3, 1.0, 4.0] {
        let laws = vec![Law::coulomb(mu, 1); 4];
        for slip in [0.0, 0.1, 5.0] {
            let b: Vec<f64> = (0..4).flat_map(|_| [-1.0, slip]).collect();
            let problem = Problem::mechanical(&laws, 3, &h, &b);
            for name in ["lemke", "enumerative", "auto"] {
                let result = problem.solve(&mut *named(name));
                assert!(result.is_ok(), "{name} {mu} {slip}: {}", result.unwrap_err());
            }
        }
    }
}

#[test]
fn exponential_path_of_murty_is_followed_to_its_end() {
    // [murty1988, §6]: M lower triangular with 2 below the diagonal; 2ⁿ − 1 pivots for some methods, z = q̂ eₙ in any
    // case
    for n in [4, 8] {
        let mut w = vec![0.0; n * n];
        for i in 0..n {
            w[i * n + i] = 1.0;
            w[i * n..i * n + i].fill(2.0);
        }
        let problem = Problem::reduced(&vec![Law::UNILATERAL; n], &w, &vec![-1.0; n]);
        for mut solver in [named("lemke"), named("enumerative"), named("auto")] {
            let (z, _) = problem.solve(&mut *solver).unwrap();
            let mut expected = vec![0.0; n];
            expected[0] = 1.0;
            assert!(z.lambda.iter().zip(&expected).all(|(x, y)| (x - y).abs() < 1e-13), "{:?}", z.lambda);
        }
    }
}

#[test]
fn the_answer_of_a_failed_solve_is_the_best_point() {
    let laws = vec![Law::coulomb(0.8, 2); 4];
    let problem = Problem::random(&laws, 6, 11);
    let mut solver = (solver::find("nsgs").unwrap().build)(&json!({"tolerance": 1e-300, "max-sweeps": 50})).unwrap();
    let mut z = Reaction::default();
    let mut work = ProblemWork::default();
    problem.with(&mut work, |p| {
        let error = solver.solve(p, &mut z).unwrap_err();
        assert_eq!(p.certify(&mut z.clone()), error.certificate().unwrap());
    });
}
