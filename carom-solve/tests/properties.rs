//! What must not change an answer does not change it: order of the laws, units, tangent frames, the solver; and
//! mixtures of all laws are solved, as judged independently of the solvers.
//!
//! The answer is compared where it is known to be the only one. Let the symmetric part of W be at least α, and ‖W‖ ≤ L.
//! For a given shift s = μ‖u_T‖ the inclusion has one solution, which moves by at most ‖Δs‖/α with s, so that u moves
//! by L‖Δs‖/α: for μ L/α < 1 the map s ↦ μ‖u_T‖ contracts, and friction has one solution. Here α = 1, L ≤ 3.3, μ ≤
//! 0.15. The same argument bounds the distance of two points by about 25 times their residuals.

mod generated;

use carom_solve::{Law, Reaction, SOLVERS, Solver, StoredProblem, solver};
use generated::judge::{Plain, norm, rows};
use generated::law;
use proptest::{prelude::*, test_runner::RngSeed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::json;

/// Residual that is asked for, and a hundred times as much between two answers.
const TOLERANCE: f64 = 1e-12;
const DISTANCE: f64 = 1e-10;

/// Any mixture of laws; coefficients of friction up to `mu`.
fn mixture(kinds: &[usize], mu: f64, rng: &mut Pcg64) -> Vec<Law> {
    kinds.iter().map(|&kind| law(kind, mu * rng.random_range(0.0..1.0))).collect()
}

fn size(laws: &[Law]) -> usize {
    laws.iter().map(Law::size).sum()
}

/// Row-major matrices, to be multiplied and turned.
#[derive(Clone, Debug)]
struct Problem {
    laws: Vec<Law>,
    w: Vec<Vec<f64>>,
    b: Vec<f64>,
}

impl Problem {
    /// Eigenvalues between one and three, and an antisymmetric part of at most 0.3 besides.
    fn unique(laws: Vec<Law>, rng: &mut Pcg64) -> Problem {
        let n = size(&laws);
        let basis = orthonormal(n, rng);
        let eigenvalue: Vec<f64> = (0..n).map(|_| rng.random_range(1.0..3.0)).collect();
        let mut w = vec![vec![0.0; n]; n];
        for i in 0..n {
            for j in 0..n {
                w[i][j] = (0..n).map(|k| eigenvalue[k] * basis[k][i] * basis[k][j]).sum();
            }
        }
        for i in 0..n {
            for j in 0..i {
                // 2 Σ x² ≤ n² (0.3/n)²
                let skew = rng.random_range(-0.3..0.3) / n as f64;
                w[i][j] += skew;
                w[j][i] -= skew;
            }
        }
        let b = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
        Problem { laws, w, b }
    }

    fn plain(&self) -> Plain {
        Plain::dense(&self.laws, &self.w.concat(), &self.b)
    }

    fn stored(&self) -> StoredProblem {
        StoredProblem::reduced("mixture", rows(&self.plain().w, self.b.len()), self.b.clone(), self.laws.clone())
            .unwrap()
    }

    /// Reactions and outputs by a solver, which must hold what it claims.
    fn solve(&self, solver: &mut dyn Solver, tolerance: f64) -> Result<(Vec<f64>, Vec<f64>), TestCaseError> {
        let mut z = Reaction::default();
        let name = solver.info().name;
        let result = self.stored().solve(solver, &mut z);
        prop_assert!(result.is_ok(), "{name}: {}; {}", result.unwrap_err(), solver.log());
        let plain = self.plain();
        let error = plain.scaled_error(&z.lambda);
        // an error near rounding depends on the order of sums
        prop_assert!(error <= 1.001 * tolerance + 1e-15, "{name}: {error:e}");
        let u = plain.u(&z.lambda);
        Ok((z.lambda, u))
    }

    /// The problem in other coordinates `u' = T u`, `λ' = T⁻ᵀ λ`: `W' = T W Tᵀ`, `b' = T b`.
    fn transformed(&self, t: &[Vec<f64>], laws: Vec<Law>) -> Problem {
        let n = self.b.len();
        let half: Vec<Vec<f64>> =
            t.iter().map(|row| (0..n).map(|j| (0..n).map(|k| row[k] * self.w[k][j]).sum()).collect()).collect();
        let w =
            half.iter().map(|row| t.iter().map(|other| (0..n).map(|k| row[k] * other[k]).sum()).collect()).collect();
        let b = t.iter().map(|row| (0..n).map(|k| row[k] * self.b[k]).sum()).collect();
        Problem { laws, w, b }
    }

    /// Solves both and compares in the coordinates of this one: `λ = Tᵀ λ'`, u from it.
    fn assert_same(&self, t: &[Vec<f64>], laws: Vec<Law>) -> Result<(), TestCaseError> {
        let (r, u) = self.solve(&mut *named("auto", TOLERANCE), TOLERANCE)?;
        let (other, _) = self.transformed(t, laws).solve(&mut *named("auto", TOLERANCE), TOLERANCE)?;
        let n = r.len();
        let back: Vec<f64> = (0..n).map(|i| (0..n).map(|k| t[k][i] * other[k]).sum()).collect();
        self.assert_near((&r, &u), (&back, &self.plain().u(&back)), DISTANCE)
    }

    fn assert_near(&self, a: (&[f64], &[f64]), b: (&[f64], &[f64]), limit: f64) -> Result<(), TestCaseError> {
        let size = norm(&self.b).max(norm(a.0)).max(norm(a.1));
        let distance = |a: &[f64], b: &[f64]| norm(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>()) / size;
        let (reactions, outputs) = (distance(a.0, b.0), distance(a.1, b.1));
        prop_assert!(reactions <= limit && outputs <= limit, "{reactions:e} {outputs:e}");
        Ok(())
    }
}

fn named(name: &str, tolerance: f64) -> Box<dyn Solver> {
    (solver::find(name).unwrap().build)(&json!({ "tolerance": tolerance })).unwrap()
}

/// Rows by Gram and Schmidt, twice.
fn orthonormal(n: usize, rng: &mut Pcg64) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    while basis.len() < n {
        let mut v: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
        for _ in 0..2 {
            for other in &basis {
                let along: f64 = v.iter().zip(other).map(|(a, b)| a * b).sum();
                v.iter_mut().zip(other).for_each(|(a, b)| *a -= along * b);
            }
        }
        let size = norm(&v);
        if size > 1e-3 {
            basis.push(v.into_iter().map(|x| x / size).collect());
        }
    }
    basis
}

fn zeros(n: usize) -> Vec<Vec<f64>> {
    vec![vec![0.0; n]; n]
}

fn first_rows(laws: &[Law]) -> Vec<usize> {
    laws.iter().scan(0, |row, law| Some(std::mem::replace(row, *row + law.size()))).collect()
}

/// A law whose reactions are measured in another unit, `λ' = factor λ`.
fn in_units(law: Law, factor: f64) -> Law {
    let (lower, upper) = law.bounds();
    if law.size() == 1 { Law::interval(factor * lower, factor * upper) } else { law }
}

fn kinds() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..7usize, 1..10)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, rng_seed: RngSeed::Fixed(5), failure_persistence: None, ..ProptestConfig::default() })]

    /// The same laws in another order.
    #[test]
    fn order_is_free(kinds in kinds(), seed in any::<u64>()) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let problem = Problem::unique(mixture(&kinds, 0.15, &mut rng), &mut rng);
        let (mut order, first) = ((0..kinds.len()).collect::<Vec<_>>(), first_rows(&problem.laws));
        (1..order.len()).for_each(|i| order.swap(i, rng.random_range(0..=i)));
        let mut t = zeros(problem.b.len());
        let places = order.iter().flat_map(|&i| first[i]..first[i] + problem.laws[i].size());
        places.enumerate().for_each(|(row, place)| t[row][place] = 1.0);
        problem.assert_same(&t, order.iter().map(|&i| problem.laws[i]).collect())?;
    }

    /// Tangents turned by any angle in space, or to the other side in the plane.
    #[test]
    fn tangent_frames_are_free(kinds in kinds(), seed in any::<u64>()) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let problem = Problem::unique(mixture(&kinds, 0.15, &mut rng), &mut rng);
        let mut t = zeros(problem.b.len());
        for (law, row) in problem.laws.iter().zip(first_rows(&problem.laws)) {
            t[row][row] = 1.0;
            match law.size() {
                2 => t[row + 1][row + 1] = -1.0,
                3 => {
                    let (s, c) = rng.random_range(-4.0..4.0f64).sin_cos();
                    (t[row + 1][row + 1], t[row + 1][row + 2]) = (c, s);
                    (t[row + 2][row + 1], t[row + 2][row + 2]) = (-s, c);
                }
                _ => {}
            }
        }
        problem.assert_same(&t, problem.laws.clone())?;
    }

    /// Other units of mass, length and time: u in length/time, λ in mass·length/time, W in 1/mass; and for every law a
    /// unit of its own, as angles and lengths have it.
    #[test]
    fn units_are_free(kinds in kinds(), mass in -9.0..9.0f64, length in -6.0..6.0f64, time in -6.0..6.0f64, own in 0.0..3.0f64, seed in any::<u64>()) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let problem = Problem::unique(mixture(&kinds, 0.15, &mut rng), &mut rng);
        let (mass, speed) = (10f64.powf(mass), 10f64.powf(length - time));
        // u'ᵢ = ownᵢ u and λ'ᵢ = λ/ownᵢ, then the common units
        let mut own_laws = problem.laws.clone();
        let mut t = zeros(problem.b.len());
        for (law, row) in own_laws.iter_mut().zip(first_rows(&problem.laws)) {
            let unit = 10f64.powf(own * rng.random_range(-1.0..1.0));
            (row..row + law.size()).for_each(|i| t[i][i] = unit);
            *law = in_units(*law, 1.0 / unit);
        }
        let mut changed = problem.transformed(&t, own_laws.iter().map(|&law| in_units(law, mass * speed)).collect());
        changed.w.iter_mut().flatten().for_each(|w| *w /= mass);
        changed.b.iter_mut().for_each(|b| *b *= speed);
        let (r, u) = problem.solve(&mut *named("auto", TOLERANCE), TOLERANCE)?;
        let (other, _) = changed.solve(&mut *named("auto", TOLERANCE), TOLERANCE)?;
        let back: Vec<f64> = other.iter().enumerate().map(|(i, x)| x / (mass * speed) * t[i][i]).collect();
        problem.assert_near((&r, &u), (&back, &problem.plain().u(&back)), DISTANCE)?;
    }

    /// Every solver that admits the laws finds the same point.
    #[test]
    fn solvers_agree(kinds in kinds(), seed in any::<u64>()) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let problem = Problem::unique(mixture(&kinds, 0.15, &mut rng), &mut rng);
        let mut first: Option<(Vec<f64>, Vec<f64>)> = None;
        for row in SOLVERS {
            // what every solver claims
            let mut solver = named(row.info.name, 1e-10);
            // enumeration may be beyond its size
            if solver.admits(&problem.laws).is_err() || row.info.name == "enumerative" && size(&problem.laws) > 10 {
                continue;
            }
            let found = problem.solve(&mut *solver, 1e-10)?;
            match &first {
                None => first = Some(found),
                Some((r, u)) => problem.assert_near((r, u), (&found.0, &found.1), 1e-8)?,
            }
        }
    }

    /// Fewer degrees of freedom than rows, friction as large as it likes: `b = H v` plus openings has a solution, and
    /// it is found.
    #[test]
    fn redundant_mixtures_are_solved(kinds in kinds(), dof in 1..12usize, mu in 0.0..1.5f64, seed in any::<u64>()) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let laws = mixture(&kinds, mu, &mut rng);
        let n = size(&laws);
        let h: Vec<Vec<f64>> = (0..n).map(|_| (0..dof).map(|_| rng.random_range(-1.0..1.0)).collect()).collect();
        let velocity: Vec<f64> = (0..dof).map(|_| rng.random_range(-1.0..1.0)).collect();
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut b: Vec<f64> = h.iter().map(|row| product(row, &velocity)).collect();
        for (law, row) in laws.iter().zip(first_rows(&laws)) {
            if law.is_contact() && law.bounds().0 == 0.0 && rng.random_bool(0.5) {
                b[row] += rng.random_range(0.0..0.5);
            }
        }
        let w = h.iter().map(|row| h.iter().map(|other| product(row, other)).collect()).collect();
        Problem { laws, w, b }.solve(&mut *named("auto", 1e-8), 1e-8)?;
    }
}
