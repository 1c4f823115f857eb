//! The active set of the guess, tried before anything else where `W` is that of the problem before.
//!
//! In most steps of a run with constant matrices the same laws act as in the step before. With the states of the guess (λ at a bound or
//! between them) what is left of the problem is a linear system,
//!
//! ```text
//!     W_BB λ_B = −b_B − W_BN λ_N                                                          (1)
//! ```
//!
//! and the certificate tells whether its solution is one of the problem.

use crate::{Certificate, DenseLu, Law, LinearSolve, OneStepProblem, Reaction};

/// Largest problem that is tried.
const ROWS: usize = 64;

/// Residual of a point that is a solution to rounding.
const EXACT: f64 = 1e-13;

/// Workspace of (1).
#[derive(Debug, Default)]
pub(super) struct ActiveSet {
    w: Vec<f64>,       // (m × m)
    guess: Vec<f64>,   // (m) the guess, for the methods that follow
    basic: Vec<usize>, // B
    unknown: Vec<f64>, // (B) right-hand side, then λ_B
    lu: DenseLu,
}

impl ActiveSet {
    /// Solves (1). `z` is as before where its solution is none of the problem.
    pub(super) fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Option<Certificate> {
        let m = problem.size();
        // one row has a closed form
        if !(2..=ROWS).contains(&m) || problem.laws().len() != m {
            return None;
        }
        self.reserve(m);
        if !problem.is_kept() || z.lambda.len() != m {
            return None;
        }
        self.guess.clear();
        self.guess.extend_from_slice(&z.lambda);
        self.basic.clear();
        for (i, (law, lambda)) in problem.laws().iter().zip(&mut z.lambda).enumerate() {
            let (lower, upper) = bounds(law);
            *lambda = lambda.max(lower).min(upper);
            if *lambda > lower && *lambda < upper {
                self.basic.push(i);
                *lambda = 0.0;
            }
        }
        let solved = self.solve_basic(problem, z).and_then(|()| problem.conclude(z, EXACT, 0).ok());
        if solved.is_none() {
            z.lambda.copy_from_slice(&self.guess);
        }
        solved
    }

    /// Room for m rows, so that nothing is allocated when the first guess comes.
    fn reserve(&mut self, m: usize) {
        if self.guess.capacity() < m {
            self.w.reserve(m * m);
            self.basic.reserve(m);
            self.guess.reserve(m);
            self.unknown.reserve(m);
            self.lu.matrix_mut(m);
        }
    }

    fn solve_basic(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Option<()> {
        let m = problem.size();
        problem.delassus().to_dense(&mut self.w);
        let (w, basic, k) = (&self.w, &self.basic, self.basic.len());
        let matrix = self.lu.matrix_mut(k);
        self.unknown.clear();
        for (x, &i) in basic.iter().enumerate() {
            let row = &w[i * m..(i + 1) * m];
            for (entry, &j) in matrix[x * k..(x + 1) * k].iter_mut().zip(basic) {
                *entry = row[j];
            }
            // λ_B is zero so far
            let known: f64 = row.iter().zip(&z.lambda).map(|(w, l)| w * l).sum();
            self.unknown.push(-problem.b()[i] - known);
        }
        self.lu.factor().ok()?;
        self.lu.solve(&mut self.unknown);
        for (&i, value) in basic.iter().zip(&self.unknown) {
            let (lower, upper) = bounds(&problem.laws()[i]);
            z.lambda[i] = value.max(lower).min(upper);
        }
        Some(())
    }
}

/// Bounds of the reaction of a law of one row.
fn bounds(law: &Law) -> (f64, f64) {
    match *law {
        Law::Unilateral => (0.0, f64::INFINITY),
        Law::Box { lower, upper } => (lower, upper),
        Law::Equality | Law::Coulomb2 { .. } | Law::Coulomb3 { .. } => (f64::NEG_INFINITY, f64::INFINITY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Identity, Parts, ProblemWork, Rows};

    const LAWS: [Law; 3] = [Law::Unilateral, Law::Box { lower: -1.0, upper: 2.0 }, Law::Equality];
    const W: [f64; 9] = [2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 3.0];

    fn solve(b: [f64; 3], guess: [f64; 3]) -> Option<Vec<f64>> {
        let (output, input) = (Rows::dense(3, &W), Rows::dense(3, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]));
        let lhs = Identity(3);
        let parts = Parts { lhs: &lhs, output: &output, input: &input, feedthrough: None, b: &b, laws: &LAWS };
        let mut work = ProblemWork::default();
        let mut z = Reaction::default();
        let _ = OneStepProblem::new(parts, &mut work)
            .certify(&mut Reaction { lambda: vec![0.0; 3], ..Reaction::default() });
        z.lambda.extend(guess);
        let problem = OneStepProblem::again(parts, &mut work);
        let solved = ActiveSet::default().solve(&problem, &mut z);
        if solved.is_none() {
            assert_eq!(z.lambda, guess);
        }
        solved.map(|_| z.lambda)
    }

    /// u = W λ + b with λ = (1, 2, −1): the box is at its upper end, where u ≤ 0.
    #[test]
    fn the_right_states_are_enough() {
        let b = [-4.0, -4.5, 1.0];
        let solution = solve(b, [0.3, 2.0, 5.0]).unwrap();
        assert!(solution.iter().zip([1.0, 2.0, -1.0]).all(|(a, b)| (a - b).abs() < 1e-15), "{solution:?}");
        // a box that is not at its end, a contact that is open: other states, no solution
        assert_eq!(solve(b, [0.3, 0.0, 5.0]), None);
        assert_eq!(solve(b, [0.0, 2.0, 5.0]), None);
    }
}
