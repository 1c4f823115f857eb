//! One-step problems made for tests, with their ingredients owned, and an independent judge of answers.

#[allow(dead_code)] // each test file uses a part
pub mod judge;

use carom_solve::{Certificate, Identity, Law, OneStepProblem, Parts, ProblemWork, Reaction, Rows, SolveError, Solver};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// `W = C Bᵀ` with `A` the unit matrix.
#[derive(Clone, Debug)]
pub struct Problem {
    pub laws: Vec<Law>,
    pub output: Rows,
    pub input: Rows,
    pub b: Vec<f64>,
}

#[allow(dead_code)] // each test file uses a part
impl Problem {
    /// A problem given by `W` itself, row-major.
    pub fn reduced(laws: &[Law], w: &[f64], b: &[f64]) -> Problem {
        let m = b.len();
        let mut unit = vec![0.0; m * m];
        for i in 0..m {
            unit[i * m + i] = 1.0;
        }
        Problem { laws: laws.to_vec(), output: Rows::dense(m, w), input: Rows::dense(m, &unit), b: b.to_vec() }
    }

    /// A problem with `W = H Hᵀ`, H given row-major over `dof` columns.
    pub fn mechanical(laws: &[Law], dof: usize, h: &[f64], b: &[f64]) -> Problem {
        let rows = Rows::dense(dof, h);
        Problem { laws: laws.to_vec(), output: rows.clone(), input: rows, b: b.to_vec() }
    }

    /// Random rows over `dof` degrees of freedom: positive definite if there are at least as many as rows of the
    /// problem.
    pub fn random(laws: &[Law], dof: usize, seed: u64) -> Problem {
        let mut rng = Pcg64::seed_from_u64(seed);
        let m = laws.iter().map(Law::size).sum();
        let h: Vec<f64> = (0..m * dof).map(|_| rng.random_range(-1.0..1.0)).collect();
        let b: Vec<f64> = (0..m).map(|_| rng.random_range(-1.0..1.0)).collect();
        Problem::mechanical(laws, dof, &h, &b)
    }

    pub fn solve(&self, solver: &mut dyn Solver) -> Result<(Reaction, Certificate), SolveError> {
        self.solve_from(solver, &[])
    }

    pub fn solve_from(&self, solver: &mut dyn Solver, guess: &[f64]) -> Result<(Reaction, Certificate), SolveError> {
        let mut work = ProblemWork::default();
        let mut z = Reaction { lambda: guess.to_vec(), ..Reaction::default() };
        self.with(&mut work, |problem| solver.solve(problem, &mut z)).map(|certificate| (z, certificate))
    }

    pub fn with<T>(&self, work: &mut ProblemWork, task: impl FnOnce(&OneStepProblem<'_>) -> T) -> T {
        let parts = Parts {
            lhs: &Identity(self.output.columns()),
            output: &self.output,
            input: &self.input,
            feedthrough: None,
            b: &self.b,
            laws: &self.laws,
        };
        task(&OneStepProblem::new(parts, work))
    }

    /// The Delassus matrix, row-major.
    pub fn w(&self) -> Vec<f64> {
        let mut dense = Vec::new();
        self.with(&mut ProblemWork::default(), |problem| problem.delassus().to_dense(&mut dense));
        dense
    }
}

/// A law by number, to make mixtures.
#[allow(dead_code)]
pub fn law(kind: usize, mu: f64) -> Law {
    match kind % 7 {
        0 => Law::UNILATERAL,
        1 => Law::EQUALITY,
        2 => Law::interval(-0.3, 0.5),
        3 => Law::interval(f64::NEG_INFINITY, 0.2),
        4 => Law::interval(0.1, f64::INFINITY),
        5 => Law::coulomb(mu, 1),
        _ => Law::coulomb(mu, 2),
    }
}
