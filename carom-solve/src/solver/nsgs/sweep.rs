//! One pass over all laws.
//!
//! Where all laws have the same number of rows, the blocks of `W` are an array and the loop over them is unrolled: each entry
//! of a block has its own sum, so that no product waits for another. Mixtures take the general way.

use super::super::local::{Contact2, Contact3, Local};
use crate::delassus::Uniform;
use crate::{Delassus, Law, OneStepProblem};

/// The local solvers of a problem, one per law, by the number of rows that all laws have.
#[derive(Default)]
pub(super) struct Sweeper {
    one: Vec<Local>, // laws of one row, or mixtures
    two: Vec<Contact2>,
    three: Vec<Contact3>,
}

/// One law of N rows with the others frozen.
trait Alone<const N: usize> {
    fn solve(&self, frozen: [f64; N], old: [f64; N]) -> [f64; N];
}

impl Alone<1> for Local {
    #[inline]
    fn solve(&self, frozen: [f64; 1], old: [f64; 1]) -> [f64; 1] {
        [self.row(frozen[0], old[0])]
    }
}

impl Alone<2> for Contact2 {
    #[inline]
    fn solve(&self, frozen: [f64; 2], _old: [f64; 2]) -> [f64; 2] {
        Contact2::solve(self, frozen)
    }
}

impl Alone<3> for Contact3 {
    #[inline]
    fn solve(&self, frozen: [f64; 3], old: [f64; 3]) -> [f64; 3] {
        Contact3::solve(self, frozen, old)
    }
}

/// Squared norms in the scaled variables of the certificate.
#[derive(Clone, Copy, Default)]
struct Norms {
    change: f64,
    size: f64,
}

impl Norms {
    /// The relative change of a sweep.
    fn ratio(self) -> f64 {
        if self.change == 0.0 { 0.0 } else { (self.change / self.size).sqrt() }
    }
}

impl Sweeper {
    pub(super) fn prepare(&mut self, laws: &[Law], w: &Delassus) {
        self.one.clear();
        self.two.clear();
        self.three.clear();
        let uniform = (w.uniform::<4>().is_some(), w.uniform::<9>().is_some());
        for (i, &law) in laws.iter().enumerate() {
            match law {
                Law::Coulomb2 { mu } if uniform.0 => self.two.push(Contact2::new(mu, w.diagonal(i))),
                Law::Coulomb3 { mu } if uniform.1 => self.three.push(Contact3::new(mu, w.diagonal(i))),
                _ => self.one.push(Local::new(law, w.diagonal(i))),
            }
        }
    }

    /// One pass; returns the relative change `‖Δλ'‖/‖λ'‖`.
    pub(super) fn sweep(&self, problem: &OneStepProblem<'_>, w: &Delassus, relaxation: f64, lambda: &mut [f64]) -> f64 {
        let (laws, b) = (problem.laws(), problem.b());
        let norms = if let Some(blocks) = w.uniform::<9>() {
            let pass = Pass { w, blocks, alone: &self.three, laws, b: b.as_chunks().0, relaxation };
            pass.run(lambda.as_chunks_mut().0)
        } else if let Some(blocks) = w.uniform::<4>() {
            let pass = Pass { w, blocks, alone: &self.two, laws, b: b.as_chunks().0, relaxation };
            pass.run(lambda.as_chunks_mut().0)
        } else if let Some(blocks) = w.uniform::<1>() {
            let pass = Pass { w, blocks, alone: &self.one, laws, b: b.as_chunks().0, relaxation };
            pass.run(lambda.as_chunks_mut().0)
        } else {
            self.mixed(problem, w, relaxation, lambda)
        };
        norms.ratio()
    }

    fn mixed(&self, problem: &OneStepProblem<'_>, w: &Delassus, relaxation: f64, lambda: &mut [f64]) -> Norms {
        let mut norms = Norms::default();
        let (mut frozen, mut next) = ([0.0; 3], [0.0; 3]);
        for (i, local) in self.one.iter().enumerate() {
            let rows = problem.rows(i);
            let (frozen, next) = (&mut frozen[..rows.len()], &mut next[..rows.len()]);
            frozen.copy_from_slice(&problem.b()[rows.clone()]);
            for (j, block) in w.row(i) {
                if j != i {
                    add_product(block, &lambda[w.rows(j)], frozen);
                }
            }
            let own = &mut lambda[rows];
            next.copy_from_slice(own);
            local.solve(frozen, next);
            relax(relaxation, problem.laws()[i], own, next);
            norms.add(w.scale(i), own, next);
            own.copy_from_slice(next);
        }
        norms
    }
}

/// What a pass over laws of equal size reads.
struct Pass<'a, const N: usize, const NN: usize, A> {
    w: &'a Delassus,
    blocks: Uniform<'a, NN>,
    alone: &'a [A],
    laws: &'a [Law],
    b: &'a [[f64; N]],
    relaxation: f64,
}

impl<const N: usize, const NN: usize, A: Alone<N>> Pass<'_, N, NN, A> {
    fn run(&self, lambda: &mut [[f64; N]]) -> Norms {
        let mut norms = Norms::default();
        let (relaxation, scale) = (self.relaxation, self.w.scales());
        let laws = self.alone.iter().zip(self.b).zip(scale).zip(self.laws);
        for (i, (sides, (((alone, b), &scale), &law))) in self.blocks.rows().zip(laws).enumerate() {
            let mut sum = [0.0; NN];
            for (columns, blocks) in sides {
                for (&j, block) in columns.iter().zip(blocks) {
                    let x = &lambda[j as usize];
                    for k in 0..NN {
                        sum[k] += block[k] * x[k % N];
                    }
                }
            }
            let mut frozen = *b;
            for (frozen, sum) in frozen.iter_mut().zip(sum.chunks_exact(N)) {
                *frozen += sum.iter().sum::<f64>();
            }
            let own = &mut lambda[i];
            let mut next = alone.solve(frozen, *own);
            relax(relaxation, law, own, &mut next);
            norms.add(scale, own, &next);
            *own = next;
        }
        norms
    }
}

impl Norms {
    #[inline]
    fn add(&mut self, scale: f64, old: &[f64], next: &[f64]) {
        let (mut change, mut size) = (0.0, 0.0);
        for (old, next) in old.iter().zip(next) {
            change += (next - old) * (next - old);
            size += next * next;
        }
        self.change += scale * change;
        self.size += scale * size;
    }
}

/// `next ← old + ω (next − old)`, back into the set of the law.
#[inline]
fn relax(relaxation: f64, law: Law, old: &[f64], next: &mut [f64]) {
    if relaxation == 1.0 {
        return;
    }
    for (next, old) in next.iter_mut().zip(old) {
        *next = old + relaxation * (*next - old);
    }
    law.project(next);
}

/// `out ← out + block x`.
#[inline]
fn add_product(block: &[f64], x: &[f64], out: &mut [f64]) {
    for (o, row) in out.iter_mut().zip(block.chunks_exact(x.len())) {
        *o += row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
    }
}
