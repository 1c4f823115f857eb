//! What is tried before the ladder: closed forms of laws that do not see each other, and active sets.

use super::super::{SolveError, Solver, admission};
use super::record::Entry;
use super::rung::Rung;
use super::{Auto, Contact2, Contact3, General, Local};
use crate::{Certificate, Delassus, Law, OneStepProblem, Reaction, Shape};

impl Auto {
    /// One law alone: nothing but its closed form.
    #[inline]
    pub(super) fn one_law(&self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        let w = problem.delassus();
        let law = &problem.laws()[0];
        if !law.is_valid() {
            self.admits(problem.laws())?;
        }
        admission::finite(problem, &w)?;
        z.lambda.resize(problem.size(), 0.0);
        solve_alone(law, w.diagonal(0), problem.b(), &mut z.lambda);
        problem.conclude(z, self.options.tolerance, 0)
    }

    /// Methods that end at once, or not at all; `z.lambda` is a guess where they do not.
    pub(super) fn try_directly(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Option<Certificate> {
        let (rung, certificate) = if let Some(certificate) = self.active_set.solve(problem, z) {
            (Rung::ActiveSet, certificate)
        } else if let Some(certificate) = self.each_law(problem, z).or_else(|| self.one_acting(problem, z)) {
            (Rung::ClosedForm, certificate)
        } else {
            (Rung::ActiveSet, self.planar_set.solve(problem, z)?)
        };
        let certificate = self.measured(problem, certificate, z).ok()?;
        self.record.push(Entry::new(rung, certificate.residual));
        Some(certificate)
    }

    /// Several laws, none of which sees another one.
    fn each_law(&self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Option<Certificate> {
        let w = problem.delassus();
        let laws = problem.laws();
        // one law has had its closed form
        if w.blocks() != laws.len() || laws.len() == 1 {
            return None;
        }
        z.lambda.resize(problem.size(), 0.0);
        for (i, (law, &row)) in laws.iter().zip(problem.offsets()).enumerate() {
            let rows = row..row + law.size();
            solve_alone(law, w.diagonal(i), &problem.b()[rows.clone()], &mut z.lambda[rows]);
        }
        problem.conclude(z, self.options.tolerance, 0).ok()
    }

    /// One law that acts, and others that need not.
    fn one_acting(&self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Option<Certificate> {
        let (i, lambda) = acting_alone(problem, &problem.delassus())?;
        z.reset(problem.size());
        let rows = problem.rows(i);
        z.lambda[rows.clone()].copy_from_slice(&lambda[..rows.len()]);
        problem.conclude(z, self.options.tolerance, 0).ok()
    }
}

/// The law that acts, where all others let it: whether their velocities ask for no reaction is seen before.
fn acting_alone(problem: &OneStepProblem<'_>, w: &Delassus) -> Option<(usize, [f64; Law::MOST_ROWS])> {
    let (laws, b) = (problem.laws(), problem.b());
    let mut acting = (0..laws.len()).filter(|&i| !laws[i].is_at_rest(&b[problem.rows(i)]));
    let (i, None) = (acting.next()?, acting.next()) else { return None };
    let mut lambda = [0.0; Law::MOST_ROWS];
    let own = &mut lambda[..laws[i].size()];
    solve_alone(&laws[i], w.diagonal(i), &b[problem.rows(i)], own);
    let mut u = [0.0; Law::MOST_ROWS];
    for j in (0..laws.len()).filter(|&j| j != i) {
        let Some((_, block)) = w.row(j).find(|x| x.0 == i) else { continue };
        let u = &mut u[..laws[j].size()];
        for ((u, b), row) in u.iter_mut().zip(&b[problem.rows(j)]).zip(block.chunks_exact(own.len())) {
            *u = b + row.iter().zip(&*own).map(|(w, l)| w * l).sum::<f64>();
        }
        if !laws[j].is_at_rest(u) {
            return None;
        }
    }
    Some((i, lambda))
}

/// The law with its own block of W.
#[inline]
fn solve_alone(law: &Law, block: &[f64], b: &[f64], lambda: &mut [f64]) {
    match (law.shape(), b, block, &mut *lambda) {
        (Shape::Interval { lower, upper }, &[b], &[w], [lambda]) if w > 0.0 => {
            *lambda = (-b / w).max(lower).min(upper);
        }
        (Shape::Cone1 { mu }, &[n, t], block, &mut [ref mut x, ref mut y]) => {
            [*x, *y] = Contact2::new(mu, block).solve([n, t]);
        }
        (Shape::Cone2 { mu }, &[n, s, t], block, &mut [ref mut x, ref mut y, ref mut z]) => {
            [*x, *y, *z] = Contact3::new(mu, block).solve([n, s, t], [*x, *y, *z]);
        }
        (Shape::General, ..) => General::new(law, block).solve(b, lambda),
        _ => {
            if let Some(local) = Local::new(law, block) {
                local.solve(b, lambda);
            }
        }
    }
}
