//! What happens at an edge to the linear system (7) of the paper, and the two ways out of it that the paper proposes:
//! the system as a complementarity problem (13), by Lemke's method, and a velocity step that sorts the contacts.
//!
//! ```text
//!     (7)    [1 −G₁ᵀ; G₂ 0] (V̇, Λ) = (F, r),    r = −G₂ v/(h a₂₁)
//!     (13)   0 ≤ G₂ V̇ − r ⊥ Λ ≥ 0,    V̇ = F + G₁ᵀ Λ          (the paper prints V̇ for the slack)
//!     sort   0 ≤ G (v + h F + Gᵀ P) ⊥ P ≥ 0,    G at q + h v/2
//! ```
//!
//! A point of unit mass with two contacts that touch: rows of G are the gradients of their gaps by (z, x).

use crate::Trouble;
use carom_solve::solver::Configured;
use carom_solve::solver::lemke::{Lemke, LemkeOptions};
use carom_solve::{Identity, Law, OneStepProblem, Parts, ProblemWork, Reaction, Rows, Solver};

/// a₂₁ of HEM5: the first stage reaches so far.
pub const REACH: f64 = 0.1;

/// Two gradients by (z, x).
pub type Gradients = [[f64; 2]; 2];

/// The system (7).
pub struct Stage {
    /// At the stage, and at the one after it.
    pub gradients: [Gradients; 2],
    /// Forces.
    pub force: [f64; 2],
    /// Right-hand side of the constraints.
    pub r: [f64; 2],
}

/// A solution of a complementarity problem.
pub struct Found {
    /// Multipliers, or impulses.
    pub lambda: [f64; 2],
    /// What is complementary to them.
    pub slack: [f64; 2],
}

impl Stage {
    /// The first stage of a step of length h from the edge at x = 0 with velocity v, with gradients there and at
    /// q + a₂₁ h v.
    pub fn first(gradients: impl Fn(f64) -> Gradients, v: [f64; 2], h: f64, weight: f64) -> Stage {
        let (here, there) = (gradients(0.0), gradients(REACH * h * v[1]));
        let r = there.map(|g| -(g[0] * v[0] + g[1] * v[1]) / (REACH * h));
        Stage { gradients: [here, there], force: [-weight, 0.0], r }
    }

    /// Rank of the matrix of (7), by elimination with complete pivoting.
    pub fn rank(&self) -> usize {
        let [here, there] = self.gradients;
        let mut a = [
            [1.0, 0.0, -here[0][0], -here[1][0]],
            [0.0, 1.0, -here[0][1], -here[1][1]],
            [there[0][0], there[0][1], 0.0, 0.0],
            [there[1][0], there[1][1], 0.0, 0.0],
        ];
        let mut rank = 0;
        while rank < 4 {
            let places = (rank..4).flat_map(|i| (rank..4).map(move |j| (i, j)));
            let size = |&(i, j): &(usize, usize)| a[i][j].abs();
            let Some((i, j)) = places.max_by(|p, q| size(p).total_cmp(&size(q))) else { break };
            if a[i][j].abs() < 1e-12 {
                break;
            }
            a.swap(rank, i);
            a.iter_mut().for_each(|row| row.swap(rank, j));
            let pivot = a[rank];
            for row in &mut a[rank + 1..] {
                let factor = row[rank] / pivot[rank];
                row.iter_mut().zip(pivot).for_each(|(x, p)| *x -= factor * p);
            }
            rank += 1;
        }
        rank
    }

    /// By how much both constraints of (7) contradict each other, where gradients are those of floors: (1, ·).
    pub fn contradiction(&self) -> f64 {
        let [_, there] = self.gradients;
        // each of them tells V̇_z, for V̇_x is F_x = 0
        (self.r[0] / there[0][0] - self.r[1] / there[1][0]).abs()
    }

    /// (13), by Lemke's method.
    pub fn lcp(&self) -> Result<Found, Trouble> {
        let [here, there] = self.gradients;
        let b = [0, 1].map(|i| there[i][0] * self.force[0] + there[i][1] * self.force[1] - self.r[i]);
        lemke((here, there), b)
    }
}

/// The velocity step over both contacts, with gradients at q + h v/2.
pub fn sort(gradients: impl Fn(f64) -> Gradients, v: [f64; 2], h: f64, weight: f64) -> Result<Found, Trouble> {
    let g = gradients(0.5 * h * v[1]);
    let free = [v[0] - h * weight, v[1]];
    lemke((g, g), g.map(|g| g[0] * free[0] + g[1] * free[1]))
}

/// 0 ≤ G₂ G₁ᵀ λ + b ⊥ λ ≥ 0.
fn lemke((input, output): (Gradients, Gradients), b: [f64; 2]) -> Result<Found, Trouble> {
    let rows = |g: Gradients| Rows::dense(2, g.as_flattened());
    let (input, output, laws) = (rows(input), rows(output), [Law::UNILATERAL; 2]);
    let mut solver = Lemke::new(LemkeOptions::default()).map_err(|e| Trouble(e.to_string()))?;
    let (mut work, mut z) = (ProblemWork::default(), Reaction::default());
    let parts = Parts { lhs: &Identity(2), output: &output, input: &input, feedthrough: None, b: &b, laws: &laws };
    z.reset(2);
    let solved = solver.solve(&OneStepProblem::new(parts, &mut work), &mut z);
    solved.map_err(|e| Trouble(format!("the problem of the edge: {e}")))?;
    Ok(Found { lambda: [z.lambda[0], z.lambda[1]], slack: [z.u[0], z.u[1]] })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parabola z = x² beside a flat, with speed 2: both problems by hand.
    #[test]
    fn both_ways_pick_the_parabola() {
        let parabola = |x: f64| [[1.0, 0.0], [1.0, -2.0 * x]];
        let stage = Stage::first(parabola, [0.0, 2.0], 1e-2, 9.81);
        assert_eq!(stage.rank(), 3);
        assert!((stage.contradiction() - 8.0).abs() < 1e-12, "{}", stage.contradiction());
        let found = stage.lcp().unwrap();
        let near = |x: [f64; 2], y: [f64; 2]| (x[0] - y[0]).abs().max((x[1] - y[1]).abs()) < 1e-10;
        assert!(near(found.lambda, [0.0, 17.81]) && near(found.slack, [8.0, 0.0]), "{:?}", found.lambda);
        // half of the curvature is seen from the middle of the step: h (g + v²)
        let found = sort(parabola, [0.0, 2.0], 1e-3, 9.81).unwrap();
        assert!(found.lambda[0].abs() < 1e-12 && (found.lambda[1] - 1e-3 * 13.81).abs() < 1e-6, "{:?}", found.lambda);
        // two floors that differ are no edge
        let apart = Stage { gradients: [[[1.0, 0.0], [0.0, 1.0]]; 2], force: [0.0; 2], r: [0.0; 2] };
        assert_eq!(apart.rank(), 4);
    }
}
