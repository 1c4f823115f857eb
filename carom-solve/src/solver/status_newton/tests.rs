//! Problems built from their solutions: reactions and velocities that satisfy the laws are chosen, b is what makes them
//! fit.

use super::StatusNewton;
use crate::{Law, ProblemWork, Reaction, Rows, StoredProblem};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// A law with a point that satisfies it: λ, u.
type Known = (Law, Vec<f64>, Vec<f64>);

/// Every status of every law.
fn every_status() -> Vec<Known> {
    let (c, s) = (0.6, -0.8);
    let slip = Law::coulomb(0.5, 2);
    let bounds = Law::interval(-1.0, 2.0);
    vec![
        (slip, vec![2.0, 0.5 * 2.0 * c, 0.5 * 2.0 * s], vec![0.0, -0.7 * c, -0.7 * s]),
        (slip, vec![1.5, 0.2, 0.3], vec![0.0; 3]),
        (slip, vec![0.0; 3], vec![0.4, 1.0, -2.0]),
        (Law::coulomb(0.0, 2), vec![1.0, 0.0, 0.0], vec![0.0, 0.3, 0.1]),
        (Law::coulomb(0.3, 1), vec![1.0, -0.3], vec![0.0, 0.9]),
        (Law::coulomb(0.3, 1), vec![1.0, 0.1], vec![0.0; 2]),
        (Law::UNILATERAL, vec![0.8], vec![0.0]),
        (Law::UNILATERAL, vec![0.0], vec![0.6]),
        (Law::EQUALITY, vec![-0.9], vec![0.0]),
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
    let laws = vec![Law::coulomb(0.8, 2); 2];
    let problem = StoredProblem::reduced("twice", Rows::dense(6, &w), b, laws).unwrap();
    let guess = [0.3, 0.01, 0.01, 0.2, 0.0, 0.01];
    assert_eq!(solve(&problem, &guess), (false, guess.to_vec()));
}

/// Up to 16 laws of every kind, at least one of them with spatial friction; coefficients from none to ten.
fn mixture(rng: &mut Pcg64) -> Vec<Law> {
    let count = rng.random_range(1..=16);
    let mut laws: Vec<Law> = (0..count)
        .map(|_| {
            let mu = [0.0, 10.0, rng.random_range(0.0..1.5)][rng.random_range(0..3)];
            match rng.random_range(0..6) {
                0 => Law::EQUALITY,
                1 => Law::UNILATERAL,
                2 => Law::interval(rng.random_range(-1.0..0.0), rng.random_range(0.0..1.0)),
                3 => Law::coulomb(mu, 1),
                _ => Law::coulomb(mu, 2),
            }
        })
        .collect();
    laws[count / 2] = Law::coulomb(rng.random_range(0.0..1.0), 2);
    laws
}

/// `W = H Hᵀ`, of full rank or not, with rows repeated, nearly so, or with a part that is not symmetric.
fn hard_matrix(m: usize, rng: &mut Pcg64) -> Vec<f64> {
    let kind = rng.random_range(0..5);
    let columns = if kind == 1 { (m / 2).max(1) } else { m + 2 };
    let mut h: Vec<f64> = (0..m * columns).map(|_| rng.random_range(-1.0..1.0)).collect();
    if kind == 2 || kind == 3 {
        for k in (3 * columns)..h.len() {
            let noise: f64 = if kind == 3 { rng.random_range(-1e-7..1e-7) } else { 0.0 };
            h[k] = h[k % (3 * columns)] + noise;
        }
    }
    let mut w = vec![0.0; m * m];
    for i in 0..m {
        for j in 0..m {
            w[i * m + j] = (0..columns).map(|k| h[i * columns + k] * h[j * columns + k]).sum();
        }
    }
    if kind == 4 {
        for i in 0..m {
            for j in 0..i {
                let skew: f64 = rng.random_range(-0.3..0.3);
                w[i * m + j] += skew;
                w[j * m + i] -= skew;
            }
        }
    }
    w
}

/// By how much the laws are missed, from their definitions and not by a natural map; in variables scaled by the mean
/// diagonal of each law, relative to the largest of b, λ and u.
fn missed(laws: &[Law], w: &[f64], b: &[f64], lambda: &[f64]) -> f64 {
    let m = b.len();
    let (mut linear, mut bilinear, mut size, mut row) = (0.0f64, 0.0f64, 0.0f64, 0);
    for law in laws {
        let rows = row..row + law.size();
        row = rows.end;
        let root = (rows.clone().map(|i| w[i * m + i]).sum::<f64>() / law.size() as f64).sqrt();
        let r: Vec<f64> = rows.clone().map(|i| root * lambda[i]).collect();
        let velocity = |i: usize| b[i] + (0..m).map(|j| w[i * m + j] * lambda[j]).sum::<f64>();
        let u: Vec<f64> = rows.clone().map(|i| velocity(i) / root).collect();
        rows.for_each(|i| size = size.max((b[i] / root).abs()));
        size = r.iter().chain(&u).fold(size, |size, x| size.max(x.abs()));
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let (force, speed) = (norm(&r[1..]), norm(&u[1..]));
        match law.bounds() {
            (f64::NEG_INFINITY, f64::INFINITY) => linear = linear.max(u[0].abs()),
            (lower, upper) if upper.is_finite() => {
                let (below, above) = (r[0] - root * lower, root * upper - r[0]);
                linear = linear.max(-below).max(-above);
                bilinear = bilinear.max(below * u[0].max(0.0)).max(above * (-u[0]).max(0.0));
            }
            _ => {
                let mu = law.mu();
                linear = linear.max(-r[0]).max(-u[0]).max(force - mu * r[0]);
                bilinear = bilinear.max((r[0] * u[0]).abs());
                for (r_t, u_t) in r[1..].iter().zip(&u[1..]) {
                    bilinear = bilinear.max((mu * r[0] * u_t + speed * r_t).abs());
                }
            }
        }
    }
    if size > 0.0 { (linear / size).max(bilinear / (size * size)) } else { linear }
}

/// Whatever the problem and the guess: a solution by the definitions of the laws, or the guess as it was.
#[test]
fn answers_are_solutions_or_the_guess() {
    let mut rng = Pcg64::seed_from_u64(16);
    let (mut solved, mut newton) = (0, StatusNewton::default());
    for k in 0..20_000 {
        let laws = mixture(&mut rng);
        let m = laws.iter().map(Law::size).sum();
        let w = hard_matrix(m, &mut rng);
        let b: Vec<f64> = (0..m).map(|_| rng.random_range(-1.0..1.0)).collect();
        let size = [0.0, 1.0, 1e8, 1e160, 1e300][rng.random_range(0..5)];
        let mut guess: Vec<f64> = (0..m).map(|_| size * rng.random_range(-1.0..1.0)).collect();
        if rng.random_range(0..50) == 0 {
            guess[rng.random_range(0..m)] = [f64::NAN, f64::INFINITY][k % 2];
        }
        let problem = StoredProblem::reduced("hard", Rows::dense(m, &w), b.clone(), laws.clone()).unwrap();
        let mut z = Reaction { lambda: guess.clone(), ..Reaction::default() };
        match problem.with(&mut ProblemWork::default(), |p| newton.solve(p, 1e-10, &mut z)) {
            // a thousand times the tolerance, for coefficients up to ten and sums of 48 terms
            Some(_) => {
                solved += 1;
                let missed = missed(&laws, &w, &b, &z.lambda);
                assert!(missed <= 1e-7, "{k}: {missed:e} {laws:?}");
            }
            None => {
                let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&z.lambda), bits(&guess), "{k}");
            }
        }
    }
    // or nothing was tested
    assert!(solved > 1000, "{solved}");
}
