//! The active set of the guess, tried before anything else where `W` is that of the problem before, or small.
//!
//! In most steps of a run the same laws act as in the step before. With the states of the guess (λ at a bound or
//! between them) what is left of the problem is a linear system,
//!
//! ```text
//!     W_BB λ_B = −b_B − W_BN λ_N                                                          (1)
//! ```
//!
//! Its solution is one of the problem if λ_B keeps its bounds and u_N its sign, each row judged by its own terms, and
//! if the certificate agrees.

use crate::{Certificate, DenseLu, LinearSolve, OneStepProblem, Reaction};

/// Largest problem that is tried.
const ROWS: usize = 64;

/// Largest problem that is tried with a new `W`, which has to be factored for it.
const NEW_ROWS: usize = 16;

/// Residual of a point that is a solution to rounding, and relative size of a sum that is nothing but rounding.
const EXACT: f64 = 1e-13;

/// Workspace of (1).
#[derive(Debug, Default)]
pub(super) struct ActiveSet {
    stamp: u64,        // of the matrix in `w`
    w: Vec<f64>,       // (m × m)
    factored: bool,    // `lu` is that of `w` and `basic`
    last: Vec<usize>,  // B of the solve before
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
        if z.lambda.len() != m || !(problem.is_kept() || m <= NEW_ROWS && z.lambda.iter().any(|lambda| *lambda != 0.0))
        {
            return None;
        }
        self.guess.clear();
        self.guess.extend_from_slice(&z.lambda);
        self.basic.clear();
        for (i, (law, lambda)) in problem.laws().iter().zip(&mut z.lambda).enumerate() {
            let (lower, upper) = law.bounds();
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
            self.last.reserve(m);
            self.guess.reserve(m);
            self.unknown.reserve(m);
            self.lu.matrix_mut(m);
            self.factored = false;
        }
    }

    /// Factors W_BB, unless it was the last one.
    fn factor(&mut self, problem: &OneStepProblem<'_>) -> Option<()> {
        let (m, k) = (problem.size(), self.basic.len());
        let matrix = problem.delassus();
        if self.stamp != matrix.stamp() {
            matrix.to_dense(&mut self.w);
            self.stamp = matrix.stamp();
            self.factored = false;
        }
        if self.factored && self.last == self.basic {
            return Some(());
        }
        self.factored = false;
        self.last.clone_from(&self.basic);
        let entries = self.lu.matrix_mut(k);
        for (x, &i) in self.basic.iter().enumerate() {
            for (entry, &j) in entries[x * k..(x + 1) * k].iter_mut().zip(&self.basic) {
                *entry = self.w[i * m + j];
            }
        }
        self.lu.factor().ok()?;
        self.factored = true;
        Some(())
    }

    fn solve_basic(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Option<()> {
        self.factor(problem)?;
        let m = problem.size();
        let (w, basic) = (&self.w, &self.basic);
        self.unknown.clear();
        for &i in basic {
            // λ_B is zero so far
            let known: f64 = w[i * m..(i + 1) * m].iter().zip(&z.lambda).map(|(w, l)| w * l).sum();
            self.unknown.push(-problem.b()[i] - known);
        }
        self.lu.solve(&mut self.unknown);
        for (&i, &value) in basic.iter().zip(&self.unknown) {
            let (lower, upper) = problem.laws()[i].bounds();
            if !(lower..=upper).contains(&value) {
                return None;
            }
            z.lambda[i] = value;
        }
        self.keeps_signs(problem, &z.lambda).then_some(())
    }

    /// Whether u points to the bound of each reaction that is at one.
    fn keeps_signs(&self, problem: &OneStepProblem<'_>, lambda: &[f64]) -> bool {
        let m = problem.size();
        problem.laws().iter().enumerate().all(|(i, law)| {
            let (lower, upper) = law.bounds();
            let (at_lower, at_upper) = (lambda[i] <= lower, lambda[i] >= upper);
            // between the bounds u is zero by construction, with equal bounds it is free
            if at_lower == at_upper {
                return true;
            }
            let (mut u, mut size) = (problem.b()[i], problem.b()[i].abs());
            for (w, l) in self.w[i * m..(i + 1) * m].iter().zip(lambda) {
                u += w * l;
                size += (w * l).abs();
            }
            if at_lower { u >= -EXACT * size } else { u <= EXACT * size }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Identity, Law, Parts, ProblemWork, Rows};

    fn laws() -> [Law; 3] {
        [Law::UNILATERAL, Law::interval(-1.0, 2.0), Law::EQUALITY]
    }

    const W: [f64; 9] = [2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 3.0];

    fn solve(b: [f64; 3], guess: [f64; 3]) -> Option<Vec<f64>> {
        solve_with(&W, &laws(), b, guess)
    }

    fn solve_with(w: &[f64; 9], laws: &[Law; 3], b: [f64; 3], guess: [f64; 3]) -> Option<Vec<f64>> {
        let (output, input) = (Rows::dense(3, w), Rows::dense(3, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]));
        let lhs = Identity(3);
        let parts = Parts { lhs: &lhs, output: &output, input: &input, feedthrough: None, b: &b, laws };
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

    /// u₁ = −1e-16 with λ₁ = 0 is none, however large the other rows are.
    #[test]
    fn a_small_row_is_judged_by_its_own_terms() {
        let (w, laws) = ([2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0], [Law::UNILATERAL; 3]);
        assert_eq!(solve_with(&w, &laws, [-1e-16, -4e3, 1e3], [0.0, 1.0, 0.0]), None);
        assert_eq!(solve_with(&w, &laws, [1e-16, -4e3, 1e3], [0.0, 1.0, 0.0]), Some(vec![0.0, 2e3, 0.0]));
    }
}
