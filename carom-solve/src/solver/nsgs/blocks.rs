//! Sweeps through the blocks of `W`: `frozenᵢ = bᵢ + Σ_{j≠i} Wᵢⱼ λⱼ`.
//!
//! Where all laws have the same number of rows, the blocks of `W` are an array and the loop over them is unrolled: each
//! entry of a block has its own sum, so that no product waits for another. Mixtures take the general way.

use super::alone::{Alone, Norms, relax};
use super::shared::Shared;
use crate::delassus::Uniform;
use crate::{Delassus, Law};
use std::ops::Range;

/// What a pass over laws of equal size reads.
pub(super) struct Pass<'a, const N: usize, const NN: usize, A> {
    pub(super) blocks: Uniform<'a, NN>,
    pub(super) alone: &'a [A],
    pub(super) laws: &'a [Law],
    pub(super) b: &'a [[f64; N]],
    pub(super) relaxation: f64,
}

impl<const N: usize, const NN: usize, A: Alone<N>> Pass<'_, N, NN, A> {
    pub(super) fn run(&self, lambda: &mut [[f64; N]]) -> Norms {
        let mut norms = Norms::default();
        let relaxation = self.relaxation;
        let laws = self.alone.iter().zip(self.b).zip(self.laws);
        for (i, ((scale, sides), ((alone, b), law))) in self.blocks.rows().zip(laws).enumerate() {
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

/// `Σ_{j≠i} Wᵢⱼ λⱼ` for a law of N rows among laws of any size.
#[inline]
pub(super) fn pull<const N: usize, S: Shared + ?Sized>(w: &Delassus, i: usize, lambda: &S) -> [f64; N] {
    let mut sum = [0.0; N];
    for (j, block) in w.row(i) {
        if j == i {
            continue;
        }
        let columns = w.rows(j);
        match columns.len() {
            1 => add_product::<N, 1>(block, lambda.read(columns.start), &mut sum),
            2 => add_product::<N, 2>(block, lambda.read(columns.start), &mut sum),
            3 => add_product::<N, 3>(block, lambda.read(columns.start), &mut sum),
            _ => add_wide(block, lambda, columns, &mut sum),
        }
    }
    sum
}

/// `out ← out + block λ` for a block of many columns, out of line: such laws are rare.
#[inline(never)]
fn add_wide<const N: usize, S: Shared + ?Sized>(block: &[f64], lambda: &S, columns: Range<usize>, out: &mut [f64; N]) {
    let width = columns.len();
    for (c, row) in columns.enumerate() {
        let [x] = lambda.read(row);
        out.iter_mut().zip(block.iter().skip(c).step_by(width)).for_each(|(sum, a)| *sum += a * x);
    }
}

/// `out ← out + block x`.
#[inline]
fn add_product<const N: usize, const M: usize>(block: &[f64], x: [f64; M], out: &mut [f64; N]) {
    for (o, row) in out.iter_mut().zip(block.as_chunks::<M>().0) {
        *o += row.iter().zip(&x).map(|(a, x)| a * x).sum::<f64>();
    }
}
