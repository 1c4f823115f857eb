//! Problems built from their solutions: reactions and velocities that satisfy the laws are chosen, b is what makes them fit.

use super::StatusNewton;
use crate::{Law, ProblemWork, Reaction, Rows, StoredProblem};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// A law with a point that satisfies it: λ, u.
type Known = (Law, Vec<f64>, Vec<f64>);

/// Every status of every law.
fn every_status() -> Vec<Known> {
    let (c, s) = (0.6, -0.8);
    let slip = Law::Coulomb3 { mu: 0.5 };
    let bounds = Law::Box { lower: -1.0, upper: 2.0 };
    vec![
        (slip, vec![2.0, 0.5 * 2.0 * c, 0.5 * 2.0 * s], vec![0.0, -0.7 * c, -0.7 * s]),
        (slip, vec![1.5, 0.2, 0.3], vec![0.0; 3]),
        (slip, vec![0.0; 3], vec![0.4, 1.0, -2.0]),
        (Law::Coulomb3 { mu: 0.0 }, vec![1.0, 0.0, 0.0], vec![0.0, 0.3, 0.1]),
        (Law::Coulomb2 { mu: 0.3 }, vec![1.0, -0.3], vec![0.0, 0.9]),
        (Law::Coulomb2 { mu: 0.3 }, vec![1.0, 0.1], vec![0.0; 2]),
        (Law::Unilateral, vec![0.8], vec![0.0]),
        (Law::Unilateral, vec![0.0], vec![0.6]),
        (Law::Equality, vec![-0.9], vec![0.0]),
        (bounds, vec![0.5], vec![0.0]),
        (bounds, vec![2.0], vec![-0.5]),
    ]
}

/// `W = A Aᵀ + I` and `b = u − W λ`.
fn problem(known: &[Known], seed: u64) -> (StoredProblem, Vec<f64>) {
    let lambda: Vec<f64> = known.iter().flat_map(|k| k.1.clone()).collect();
    let u: Vec<f64> = known.iter().flat_map(|k| k.2.clone()).collect();
    let m = lambda.len();
    let mut rng = Pcg64::seed_from_u64(seed);
    let a: Vec<f64> = (0..m * m).map(|_| rng.random_range(-0.2..0.2)).collect();
    let mut w = vec![0.0; m * m];
    for i in 0..m {
        for j in 0..m {
            w[i * m + j] = (0..m).map(|k| a[i * m + k] * a[j * m + k]).sum::<f64>() + if i == j { 1.0 } else { 0.0 };
        }
    }
    let b = (0..m).map(|i| u[i] - (0..m).map(|j| w[i * m + j] * lambda[j]).sum::<f64>()).collect();
    let laws = known.iter().map(|k| k.0).collect();
    (StoredProblem::reduced("known", Rows::dense(m, &w), b, laws).unwrap(), lambda)
}

fn solve(problem: &StoredProblem, guess: &[f64]) -> (bool, Vec<f64>) {
    let mut z = Reaction { lambda: guess.to_vec(), ..Reaction::default() };
    let solved = problem.with(&mut ProblemWork::default(), |p| StatusNewton::default().solve(p, 1e-12, &mut z));
    (solved.is_some(), z.lambda)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (a, b)| f64::max(m, (a - b).abs()))
}

#[test]
fn right_statuses_lead_to_the_solution() {
    for seed in 0..20 {
        let known = every_status();
        let (problem, lambda) = problem(&known, seed);
        // reactions 5 % off, the direction of the slip turned by 0.2
        let mut guess: Vec<f64> = lambda.iter().map(|x| if *x == 2.0 { 2.0 } else { 1.05 * x }).collect();
        let (c, s) = f64::sin_cos(0.2);
        (guess[1], guess[2]) = (s * lambda[1] - c * lambda[2], c * lambda[1] + s * lambda[2]);
        let (solved, found) = solve(&problem, &guess);
        assert!(solved && distance(&found, &lambda) < 1e-11, "seed {seed}: {}", distance(&found, &lambda));
    }
}

#[test]
fn wrong_statuses_are_changed() {
    let known = every_status();
    let (problem, lambda) = problem(&known, 7);
    // one by one: slip as stick, stick as slip, open as closed and sticking, closed as open, free as bounded
    let wrong: [&[(usize, f64)]; 5] =
        [&[(1, 0.1), (2, 0.1)], &[(4, 0.75), (5, 0.0)], &[(6, 0.5)], &[(16, 0.0)], &[(19, 2.0)]];
    for changes in wrong {
        let mut guess = lambda.clone();
        changes.iter().for_each(|&(row, value)| guess[row] = value);
        let (solved, found) = solve(&problem, &guess);
        assert!(solved && distance(&found, &lambda) < 1e-11, "{changes:?}: {}", distance(&found, &lambda));
    }
}

#[test]
fn the_guess_stays_where_the_matrix_is_singular() {
    // the same contact twice, both sticking
    let block = [2.0, 0.1, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0, 1.5];
    let row = |k: usize| [&block[3 * k..3 * k + 3], &block[3 * k..3 * k + 3]].concat();
    let w: Vec<f64> = (0..6).flat_map(|k| row(k % 3)).collect();
    let b = vec![-1.0, 0.01, 0.02, -1.0, 0.01, 0.02];
    let laws = vec![Law::Coulomb3 { mu: 0.8 }; 2];
    let problem = StoredProblem::reduced("twice", Rows::dense(6, &w), b, laws).unwrap();
    let guess = [0.3, 0.01, 0.01, 0.2, 0.0, 0.01];
    assert_eq!(solve(&problem, &guess), (false, guess.to_vec()));
}
