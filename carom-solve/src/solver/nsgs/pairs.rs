//! Sweeps over contacts between pairs of bodies, for as many of them as it takes.
//!
//! ```text
//!     A⁻¹ = S Sᵀ,   G = C S,   y = Gᵀ λ:      u = b + G y,   W = G Gᵀ                        (1)
//! ```
//!
//! With `S` block by block the rows of a contact are those of its two bodies, once for both products: a visit reads
//! half of what [velocities](super::velocity) need. Where `W` is not symmetric, as in time steps that take reactions
//! elsewhere than velocities, there are two sets of rows, `G = C` and those of `(A⁻¹ B)ᵀ` in place of `Gᵀ`. All that a
//! contact needs is in one place, in the order of the sweep. Where its own block of `W` is diagonal (spheres and discs)
//! the relaxed step has a closed form,
//!
//! ```text
//!     λ_N ← max(0, λ_N − ω u_N/w_N),   x = λ_T − ω u_T/w_T,   λ_T ← x min(1, μ λ_N/‖x‖)      (2)
//! ```
//!
//! which is exact for ω = 1; other blocks go to the local solvers. Points that (2) leaves alone satisfy the law
//! whatever the block is: it serves blocks as well that are nearly diagonal where `W` is not symmetric. Nothing is
//! written where nothing changes.

use super::super::local::{Contact2, Contact3};
use super::alone::{Alone, relax};
use super::anderson::Anderson;
use super::bodies::{bodies, respond, whole_bodies};
use super::clusters::Clusters;
use super::colour::Threads;
use super::root::Root;
use super::shared::{self, Readable, Shared};
use crate::inertia::mean_diagonal;
use crate::{Delassus, Law, OneStepProblem, Rows, Shape};
use rayon::prelude::*;
use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

/// Off-diagonal entries of a block, relative to its diagonal, that are rounding.
const ROUNDING: f64 = 1e-13;

/// The same where `W` is not symmetric: what the turning of contacts within a time step leaves.
const NEARLY: f64 = 0.05;

/// Without `W` one of so many blocks may be coupled: contacts of balls that have turned far within a step.
const FEW_COUPLED: usize = 5;

/// Contacts from which on a sweep goes by clusters, whatever the number of threads.
pub(super) const MANY: usize = 4000;

/// Contacts whose parts of a residual are summed first, whatever the number of threads.
const TOGETHER: usize = 512;

/// Rows of a contact in the numbers of its bodies.
pub(super) type Arms<const N: usize, const K: usize> = [[[f64; K]; N]; 2];

/// One contact: everything that a visit reads.
#[derive(Clone, Copy)]
pub(super) struct Place<const N: usize, const K: usize> {
    law: u32,
    alone: u32,              // its local solver; none where the block is diagonal
    pub(super) at: [u32; 2], // first numbers of its bodies in y,
    near: [u32; 2],          // and in the copy of its cluster
    bodies: u32,
    pub(super) mu: f64,
    pull: [f64; 2], // 1/w_N, 1/w_T
    b: [f64; N],
    pub(super) row: Arms<N, K>, // of G
}

const DIAGONAL: u32 = u32::MAX;

/// Contacts of N rows between bodies of up to K degrees of freedom.
pub(super) struct Pairs<const N: usize, const K: usize, A> {
    pub(super) place: Vec<Place<N, K>>,
    pub(super) back: Vec<Arms<N, K>>, // (laws) in the order of the sweep, of (A⁻¹ B)ᵀ; empty where that is Gᵀ
    alone: Vec<A>,
    root: Root,
    response: Vec<(usize, usize, f64)>, // of one contact
    own: Vec<f64>,                      // (laws) diagonal blocks, where they were found without W
    pub(super) scale: Vec<f64>,         // (laws) in the order of the sweep
    pub(super) lambda: Vec<[f64; N]>,   // (laws) in the order of the sweep
    pub(super) y: Vec<f64>,             // (n)
    clusters: Clusters,                 // what threads share; empty where they do not
    shared: Vec<AtomicU64>,             // y of a parallel sweep
}

impl<const N: usize, const K: usize, A> Default for Pairs<N, K, A> {
    fn default() -> Self {
        Pairs {
            place: Vec::new(),
            back: Vec::new(),
            alone: Vec::new(),
            root: Root::default(),
            response: Vec::new(),
            own: Vec::new(),
            scale: Vec::new(),
            lambda: Vec::new(),
            y: Vec::new(),
            clusters: Clusters::default(),
            shared: Vec::new(),
        }
    }
}

pub(super) type Space = Pairs<3, 6, Contact3>;
pub(super) type Plane = Pairs<2, 3, Contact2>;

/// A local solver for the coupled blocks.
pub(super) trait Coupled<const N: usize>: Alone<N> + Send + Sync {
    fn of(law: &Law, block: &[f64]) -> Option<Self>
    where
        Self: Sized;
}

impl Coupled<3> for Contact3 {
    fn of(law: &Law, block: &[f64]) -> Option<Contact3> {
        match law.shape() {
            Shape::Cone2 { mu } => Some(Contact3::new(mu, block)),
            _ => None,
        }
    }
}

impl Coupled<2> for Contact2 {
    fn of(law: &Law, block: &[f64]) -> Option<Contact2> {
        match law.shape() {
            Shape::Cone1 { mu } => Some(Contact2::new(mu, block)),
            _ => None,
        }
    }
}

impl<const N: usize, const K: usize, A: Coupled<N>> Pairs<N, K, A> {
    /// Takes over a problem; false where it is not of this kind. Without `W` its blocks are found from the rows, and
    /// most of them must be diagonal.
    pub(super) fn load(&mut self, problem: &OneStepProblem<'_>, w: Option<&Delassus>) -> bool {
        self.place.clear();
        self.back.clear();
        self.own.clear();
        let (parts, laws) = (problem.parts(), problem.laws());
        let n = parts.lhs.dim();
        let square = |law: &Law| law.size() == N && matches!(law.shape(), Shape::Cone1 { .. } | Shape::Cone2 { .. });
        let symmetric = std::ptr::eq(parts.output, parts.input) || parts.output == parts.input;
        let feeds = |d: &Rows| d.iter().flatten().any(|entry| entry.1 != 0.0);
        if n < K || !laws.iter().all(square) || parts.feedthrough.is_some_and(feeds) {
            return false;
        }
        let mut known = std::mem::take(&mut self.root);
        let root = (symmetric && known.find(problem)).then_some(&known);
        self.alone.clear();
        self.scale.clear();
        let fits = (0..laws.len()).all(|i| {
            let place = self.place_of(problem, w, root, i);
            self.place.extend(place);
            place.is_some()
        });
        self.root = known;
        if !fits {
            self.place.clear();
            return false;
        }
        self.arrange(n);
        self.y.clear();
        self.y.resize(n, 0.0);
        self.lambda.clear();
        self.lambda.resize(laws.len(), [0.0; N]);
        true
    }

    /// Rows of (1) for a law with at most two groups of K degrees of freedom.
    fn place_of(
        &mut self,
        problem: &OneStepProblem<'_>,
        w: Option<&Delassus>,
        root: Option<&Root>,
        i: usize,
    ) -> Option<Place<N, K>> {
        let law = &problem.laws()[i];
        let (first, n) = (problem.offsets()[i], problem.parts().lhs.dim());
        let mut place = Place {
            law: i as u32,
            alone: DIAGONAL,
            at: [0; 2],
            near: [0; 2],
            bodies: 0,
            mu: law.mu(),
            pull: [0.0; 2],
            b: std::array::from_fn(|k| problem.b()[first + k]),
            row: [[[0.0; K]; N]; 2],
        };
        let entries = |rows| (0..N).flat_map(move |k| Rows::row(rows, first + k).iter().map(move |entry| (k, entry)));
        let output = problem.parts().output;
        let rounding = if let Some(root) = root {
            let front = || {
                entries(output).flat_map(|(k, &(dof, value))| {
                    root.row(dof).filter(|entry| entry.1 != 0.0).map(move |(column, s)| (k, column, value * s))
                })
            };
            (place.at, place.bodies) = bodies::<K>(front().map(|entry| entry.1), n)?;
            place.fill(front());
            ROUNDING
        } else if let Some((at, bodies)) = whole_bodies::<N, K>(problem.parts(), first) {
            (place.at, place.bodies) = (at, bodies);
            let mut back = place.row;
            for (side, &at) in at.iter().enumerate().take(bodies as usize) {
                let dofs = at as usize..at as usize + K;
                for k in 0..N {
                    let of = |rows: &Rows| -> [f64; K] { std::array::from_fn(|d| rows.row(first + k)[side * K + d].1) };
                    place.row[side][k] = of(output);
                    back[side][k] = of(problem.parts().input);
                    problem.parts().lhs.solve_block(dofs.clone(), &mut back[side][k]);
                }
            }
            self.back.push(back);
            NEARLY
        } else {
            self.response.clear();
            let back = &mut self.response;
            (0..N).try_for_each(|k| respond::<K>(problem.parts(), first + k, k, back))?;
            let front = || entries(output).map(|(k, &(dof, value))| (k, dof, value));
            let touched = front().map(|entry| entry.1).chain(back.iter().map(|entry| entry.1));
            (place.at, place.bodies) = bodies::<K>(touched, n)?;
            let mut other = place;
            other.fill(back.iter().copied());
            self.back.push(other.row);
            place.fill(front());
            NEARLY
        };
        let mut values = [0.0; 9];
        let block = match w {
            Some(w) => w.diagonal(i),
            None => {
                place.block(place.arms(&self.back, i), &mut values[..N * N]);
                self.own.extend_from_slice(&values[..N * N]);
                &values[..N * N]
            }
        };
        let mean = mean_diagonal(block, N);
        self.scale.push(mean);
        let off = (0..N * N).filter(|k| k % (N + 1) != 0).fold(0.0f64, |m, k| m.max(block[k].abs()));
        let equal = N == 2 || (block[4] - block[8]).abs() <= rounding * mean;
        if off <= rounding * mean && equal && block[0] > 0.0 && block[N + 1] > 0.0 {
            place.pull = [1.0 / block[0], 1.0 / block[N + 1]];
        } else {
            let few = problem.laws().len() / FEW_COUPLED;
            if w.is_none() && self.alone.len() >= few {
                return None;
            }
            place.alone = self.alone.len() as u32;
            self.alone.push(A::of(law, block)?);
        }
        Some(place)
    }

    /// The part of the contacts whose blocks are not diagonal.
    pub(super) fn coupled(&self) -> f64 {
        self.alone.len() as f64 / self.place.len() as f64
    }

    /// Sorts contacts into clusters where they are many.
    fn arrange(&mut self, n: usize) {
        self.clusters.clear();
        if self.place.len() >= MANY {
            let ranges = |i: usize| {
                let place = &self.place[i];
                place.at.into_iter().take(place.bodies as usize).map(|at| at as usize..at as usize + K)
            };
            self.clusters = Clusters::of(ranges, self.place.len(), n);
            self.place = self.clusters.order.iter().map(|&i| self.place[i as usize]).collect();
            self.scale = self.clusters.order.iter().map(|&i| self.scale[i as usize]).collect();
            if !self.back.is_empty() {
                self.back = self.clusters.order.iter().map(|&i| self.back[i as usize]).collect();
            }
            for (cluster, places) in self.clusters.first.windows(2).enumerate() {
                for place in &mut self.place[places[0]..places[1]] {
                    place.near = place.at.map(|at| self.clusters.copied_to(cluster, at as usize) as u32);
                }
            }
        }
    }

    /// Lets certificates do without `W`.
    pub(super) fn measure(&self, problem: &OneStepProblem<'_>) {
        problem.measure(|inertia| self.own.chunks_exact(N * N).for_each(|block| inertia.push(N, block)));
    }

    /// Starts from given reactions.
    pub(super) fn set(&mut self, lambda: &[f64], threads: &Threads) {
        let (given, _) = lambda.as_chunks::<N>();
        for (place, own) in self.place.iter().zip(&mut self.lambda) {
            *own = given[place.law as usize];
        }
        self.refresh(threads);
    }

    /// The reactions in the order of the laws.
    pub(super) fn get(&self, lambda: &mut [f64]) {
        let (given, _) = lambda.as_chunks_mut::<N>();
        for (place, own) in self.place.iter().zip(&self.lambda) {
            given[place.law as usize] = *own;
        }
    }

    /// y anew, without the rounding of many updates.
    pub(super) fn refresh(&mut self, threads: &Threads) {
        self.y.fill(0.0);
        if self.clusters.is_empty() {
            let y = shared::cells(&mut self.y);
            for (i, (place, lambda)) in self.place.iter().zip(&self.lambda).enumerate() {
                place.push(place.arms(&self.back, i), *lambda, place.at, y);
            }
            return;
        }
        shared::share(&self.y, &mut self.shared);
        let (place, back, lambda, first) = (&self.place, &self.back, &self.lambda, &self.clusters.first);
        self.clusters.visit(1, threads, &self.shared, |cluster, numbers| {
            numbers.with(|y| {
                for i in first[cluster]..first[cluster + 1] {
                    place[i].push(place[i].arms(back, i), lambda[i], place[i].near, y);
                }
            });
        });
        shared::collect(&mut self.shared, &mut self.y);
    }

    /// The numbers that Anderson's acceleration extrapolates: reactions and y.
    pub(super) fn state(&mut self) -> (&mut [f64], &mut [f64]) {
        (self.lambda.as_flattened_mut(), &mut self.y)
    }

    /// Roots of the scales of all rows.
    pub(super) fn roots(&self) -> impl Iterator<Item = f64> + '_ {
        self.scale.iter().flat_map(|scale| std::iter::repeat_n(scale.sqrt(), N))
    }

    /// Passes over all contacts.
    pub(super) fn sweep(&mut self, sweeps: usize, laws: &[Law], relaxation: f64, threads: &Threads) {
        let pass = Pass { alone: &self.alone, laws, relaxation };
        if self.clusters.is_empty() {
            let y = shared::cells(&mut self.y);
            for _ in 0..sweeps {
                for (i, (place, lambda)) in self.place.iter().zip(&mut self.lambda).enumerate() {
                    pass.visit(place, place.arms(&self.back, i), place.at, lambda, y);
                }
            }
            return;
        }
        shared::share(&self.y, &mut self.shared);
        let (place, back, first) = (&self.place[..], &self.back[..], &self.clusters.first[..]);
        // reactions are where the thread that takes their cluster finds them
        let mut rest = &mut self.lambda[..];
        let lengths = first.windows(2).map(|ends| ends[1] - ends[0]);
        let own: Vec<_> =
            lengths.map(|length| Own(Mutex::new(rest.split_off_mut(..length).unwrap_or_default()))).collect();
        self.clusters.visit(sweeps, threads, &self.shared, |cluster, numbers| {
            if let Ok(mut lambda) = own[cluster].0.lock() {
                let own = first[cluster]..first[cluster + 1];
                let (place, back) = (&place[own.clone()], back.get(own).unwrap_or_default());
                numbers.with(|y| {
                    for (i, (place, lambda)) in place.iter().zip(lambda.iter_mut()).enumerate() {
                        pass.visit(place, place.arms(back, i), place.near, lambda, y);
                    }
                });
            }
        });
        drop(own);
        shared::collect(&mut self.shared, &mut self.y);
    }

    /// Sweeps from whose images Anderson's method extrapolates the points of the next ones. The last image is left as
    /// it is; `goes_on` tells that there is one of earlier sweeps.
    pub(super) fn accelerate(
        &mut self,
        (sweeps, goes_on): (usize, bool),
        laws: &[Law],
        anderson: &mut Anderson,
        threads: &Threads,
    ) {
        let alone = self.clusters.is_empty();
        let mut run = || {
            for sweep in 0..sweeps {
                let (lambda, y) = self.state();
                if sweep > 0 || goes_on {
                    anderson.after(lambda, y);
                }
                anderson.before(lambda);
                self.sweep(1, laws, 1.0, threads);
            }
        };
        // the threads stay awake between sweeps
        if alone { run() } else { threads.run(run) }
    }

    /// The residual of the certificate as this form has it, and the size that it is relative to.
    pub(super) fn residual(&self, laws: &[Law], threads: &Threads) -> (f64, f64) {
        let sums = if self.clusters.is_empty() {
            missed((&self.place, &self.lambda, &self.scale), laws, &self.y)
        } else {
            let y = &self.y[..];
            let all = self.place.par_chunks(TOGETHER).zip(self.lambda.par_chunks(TOGETHER));
            let all = all.zip(self.scale.par_chunks(TOGETHER));
            let parts: Vec<[f64; 4]> =
                threads.run(|| all.map(|((place, lambda), scale)| missed((place, lambda, scale), laws, y)).collect());
            parts.iter().fold([0.0; 4], |sum, part| std::array::from_fn(|k| sum[k] + part[k]))
        };
        let [missed, b, l, v] = sums;
        let size = f64::max(b, l).max(v).sqrt();
        let residual = if size > 0.0 { missed.sqrt() / size } else { missed.sqrt() };
        if residual.is_finite() && size.is_finite() { (residual, size) } else { (f64::INFINITY, f64::INFINITY) }
    }
}

/// The squares of what contacts miss, of b, λ and u, scaled.
fn missed<const N: usize, const K: usize>(
    (place, lambda, scale): (&[Place<N, K>], &[[f64; N]], &[f64]),
    laws: &[Law],
    y: &[f64],
) -> [f64; 4] {
    let mut sums = [0.0; 4];
    for ((place, lambda), scale) in place.iter().zip(lambda).zip(scale) {
        let u = place.pull(place.at, y);
        let mut f = [0.0; N];
        laws[place.law as usize].natural_map(lambda, &u, 1.0 / scale, &mut f);
        sums[0] += scale * square(&f);
        sums[1] += square(&place.b) / scale;
        sums[2] += square(lambda) * scale;
        sums[3] += square(&u) / scale;
    }
    sums
}

/// The reactions of a cluster, with a lock in cache lines of its own: threads that lock neighbours are not in the way.
#[repr(align(128))]
struct Own<'a, const N: usize>(Mutex<&'a mut [[f64; N]]>);

/// What a pass reads besides the contacts.
struct Pass<'a, A> {
    alone: &'a [A],
    laws: &'a [Law],
    relaxation: f64,
}

impl<A> Pass<'_, A> {
    /// Visits a contact whose bodies have these first numbers in `y`.
    #[inline(always)]
    fn visit<const N: usize, const K: usize>(
        &self,
        place: &Place<N, K>,
        arms: &Arms<N, K>,
        at: [u32; 2],
        lambda: &mut [f64; N],
        y: &[Cell<f64>],
    ) where
        A: Alone<N>,
    {
        let u = place.pull(at, y);
        // two ways to the end: what the closed form finds stays in registers, and no load waits for stores to be done
        if place.alone == DIAGONAL {
            place.move_to(place.step(lambda, u, self.relaxation), arms, at, lambda, y);
        } else {
            let alone = &self.alone[place.alone as usize];
            let next = place.solve(alone, &self.laws[place.law as usize], *lambda, u, self.relaxation);
            place.move_to(next, arms, at, lambda, y);
        }
    }
}

impl<const N: usize, const K: usize> Place<N, K> {
    /// Adds entries of G: row, degree of freedom and value.
    fn fill(&mut self, entries: impl Iterator<Item = (usize, usize, f64)>) {
        let first = self.at.map(|at| at as usize);
        for (k, column, value) in entries {
            let side = usize::from(!(first[0]..first[0] + K).contains(&column));
            self.row[side][k][column - first[side]] += value;
        }
    }

    /// The block of W, row-major.
    fn block(&self, arms: &Arms<N, K>, out: &mut [f64]) {
        for (k, out) in out.iter_mut().enumerate() {
            let sides = self.row.iter().zip(arms).take(self.bodies as usize);
            *out = sides.flat_map(|(row, arm)| row[k / N].iter().zip(&arm[k % N])).map(|(x, y)| x * y).sum();
        }
    }

    /// The rows along which the reaction at this place acts.
    #[inline(always)]
    pub(super) fn arms<'a>(&'a self, back: &'a [Arms<N, K>], at: usize) -> &'a Arms<N, K> {
        back.get(at).unwrap_or(&self.row)
    }

    /// b + G y.
    #[inline(always)]
    pub(super) fn pull<S: Readable + ?Sized>(&self, at: [u32; 2], y: &S) -> [f64; N] {
        let product = self.times(&self.row, at, y);
        std::array::from_fn(|k| self.b[k] + product[k])
    }

    /// Rows times y.
    #[inline(always)]
    pub(super) fn times<S: Readable + ?Sized>(&self, arms: &Arms<N, K>, at: [u32; 2], y: &S) -> [f64; N] {
        let mut sum = [[0.0; 2]; N];
        for side in 0..2 {
            if side == 1 && self.bodies < 2 {
                break;
            }
            let x: [f64; K] = y.read(at[side] as usize);
            for (row, sum) in arms[side].iter().zip(&mut sum) {
                for d in 0..K {
                    sum[d % 2] += row[d] * x[d];
                }
            }
        }
        sum.map(|lanes| lanes[0] + lanes[1])
    }

    /// y ← y + rowsᵀ Δλ.
    #[inline(always)]
    pub(super) fn push(&self, arms: &Arms<N, K>, change: [f64; N], at: [u32; 2], y: &[Cell<f64>]) {
        for side in 0..2 {
            if side == 1 && self.bodies < 2 {
                break;
            }
            let first = at[side] as usize;
            let mut x: [f64; K] = y.read(first);
            for (row, change) in arms[side].iter().zip(change) {
                for d in 0..K {
                    x[d] += row[d] * change;
                }
            }
            y.write(first, x);
        }
    }

    /// Takes the next reaction, and y with it.
    #[inline(always)]
    fn move_to(&self, next: [f64; N], arms: &Arms<N, K>, at: [u32; 2], lambda: &mut [f64; N], y: &[Cell<f64>]) {
        if next == *lambda {
            return;
        }
        let change = std::array::from_fn(|k| next[k] - lambda[k]);
        *lambda = next;
        self.push(arms, change, at, y);
    }

    /// The closed form (2).
    #[inline(always)]
    fn step(&self, old: &[f64; N], u: [f64; N], relaxation: f64) -> [f64; N] {
        let normal = (old[0] - relaxation * self.pull[0] * u[0]).max(0.0);
        let mut next = [normal; N];
        let mut square = 0.0;
        for k in 1..N {
            next[k] = old[k] - relaxation * self.pull[1] * u[k];
            square += next[k] * next[k];
        }
        let limit = self.mu * normal;
        if square > limit * limit {
            let shorter = limit / square.sqrt();
            next[1..].iter_mut().for_each(|x| *x *= shorter);
        }
        next
    }

    #[inline]
    fn solve<A: Alone<N>>(&self, alone: &A, law: &Law, old: [f64; N], u: [f64; N], relaxation: f64) -> [f64; N] {
        let own = alone.own(old);
        let mut next = alone.solve(std::array::from_fn(|k| u[k] - own[k]), old);
        relax(relaxation, law, &old, &mut next);
        next
    }
}

fn square(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}
