//! Elimination along trees: each body, then the joint to its parent.
//!
//! In scaled variables, with `M` the block of a body under elimination, `B`, `C` the rows of its joint on the side of
//! the body and `B_p`, `C_p` on that of the parent,
//!
//! ```text
//!     Y = M⁻¹ B,   S = C Y,   Z = S⁻¹ C_p,   M_p ← M_p + B_p Z                              (1)
//!     y = M⁻¹ f,   t = S⁻¹ (g − C y),   f_p ← f_p + B_p t                                   (2)
//!     λ = t − Z x_p,   x = y + Y λ                                                           (3)
//! ```
//!
//! (1) and (2) from the leaves to the root, (3) back. Every `M` stays definite where `A` is and `B = Cᵀ`.

use super::kernel::{add_product, mark_dependent, substitute, triangulate};
use super::plan::{NONE, Node};
use crate::{LinearSolve, Rows};
use std::ops::Range;

/// Largest block of a leaf whose matrix is asked for: wider ones are solved by their owner.
const WIDEST: usize = 12;

/// Part of its own inertia that is left to a row which depends on others of its joint.
const DEPENDENT: f64 = 1e-6;

/// Smallest pivot of a joint, relative to its rows.
const BROKEN: f64 = 1e-11;

/// Does something with sizes of matrices, as constants where they are those of bodies and joints.
macro_rules! sized {
    (($s:expr, $r:expr), |$a:ident, $b:ident| $work:expr) => {
        sized!(@ ($s, $r), $a, $b, $work, (6, 1) (6, 2) (6, 3) (6, 4) (6, 5) (6, 6) (3, 1) (3, 2) (3, 3))
    };
    (@ ($s:expr, $r:expr), $a:ident, $b:ident, $work:expr, $(($x:literal, $y:literal))*) => {
        match ($s, $r) {
            $(($x, $y) => {
                let ($a, $b) = ($x as usize, $y as usize);
                $work
            })*
            ($a, $b) => $work,
        }
    };
}

/// Where the values of a node are.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    at: usize,   // first value: M, C, B (then Y), C_p (then Z), B_p, S
    swap: usize, // first exchange
    is_diagonal: bool,
    is_direct: bool, // solved by the owner of A
}

/// The factors of all trees.
#[derive(Debug, Default)]
pub(super) struct Tree {
    place: Vec<Place>,
    value: Vec<f64>,
    swap: Vec<u32>,
    inverse: Vec<f64>,  // of the blocks of A, each where its node has its M
    pub root: Vec<f64>, // (n) d: x = d x̃
    local: Vec<f64>,
}

/// The parts of a node in its values.
struct Parts<'a> {
    m: &'a mut [f64],
    c: &'a mut [f64],
    y: &'a mut [f64],
    z: &'a mut [f64],
    bp: &'a mut [f64],
    s: &'a mut [f64],
}

impl<'a> Parts<'a> {
    fn of(node: &Node, value: &'a mut [f64]) -> Parts<'a> {
        let (s, r, p) = (node.size, node.rows, node.parent_size);
        let (m, rest) = value.split_at_mut(s * s);
        let (c, rest) = rest.split_at_mut(r * s);
        let (y, rest) = rest.split_at_mut(r * s);
        let (z, rest) = rest.split_at_mut(r * p);
        let (bp, rest) = rest.split_at_mut(r * p);
        Parts { m, c, y, z, bp, s: &mut rest[..r * r] }
    }
}

impl Tree {
    /// Makes room for these nodes over `n` degrees of freedom.
    pub(super) fn lay_out(&mut self, nodes: &[Node], n: usize) {
        self.place.clear();
        let (mut at, mut swap) = (0, 0);
        for node in nodes {
            self.place.push(Place { at, swap, ..Place::default() });
            let (s, r, p) = (node.size, node.rows, node.parent_size);
            at += s * s + 2 * r * (s + p) + r * r;
            swap += s + r;
        }
        self.value.clear();
        self.value.resize(at, 0.0);
        self.inverse.clear();
        self.inverse.resize(at, 0.0);
        self.swap.clear();
        self.swap.resize(swap, 0);
        self.root.clear();
        self.root.resize(n, 1.0);
    }

    /// Number of stored values.
    pub(super) fn entries(&self) -> usize {
        self.value.len()
    }

    /// Reads the blocks of A and scales them to a unit diagonal. Leaves whose matrix is not told are solved by its
    /// owner.
    pub(super) fn load_blocks(&mut self, nodes: &[Node], a: &dyn LinearSolve) {
        for (node, place) in nodes.iter().zip(&mut self.place) {
            let (n, dofs) = (node.size, node.first..node.first + node.size);
            let m = &mut self.value[place.at..place.at + n * n];
            let root = &mut self.root[dofs.clone()];
            let is_known = !(node.is_leaf && n > WIDEST) && a.matrix(dofs.clone(), m);
            place.is_direct = node.is_leaf && !is_known;
            if place.is_direct {
                root.fill(1.0);
                continue;
            }
            let inverse = &mut self.inverse[place.at..place.at + n * n];
            let swap = &mut self.swap[place.swap..place.swap + n];
            if is_known {
                place.is_diagonal = sized!((n, 1), |n, _r| {
                    let is_diagonal = scale_block(n, m, root);
                    if !is_diagonal {
                        invert(n, m, inverse, swap, &mut self.local);
                    }
                    is_diagonal
                });
                continue;
            }
            for k in 0..n {
                self.local.clear();
                self.local.extend((0..n).map(|i| f64::from(u8::from(i == k))));
                a.solve_block(dofs.clone(), &mut self.local);
                self.local.iter().enumerate().for_each(|(i, &x)| inverse[i * n + k] = x);
            }
            place.is_diagonal = scale_block(n, inverse, root);
            root.iter_mut().for_each(|x| *x = 1.0 / *x);
            invert(n, inverse, m, swap, &mut self.local);
        }
    }

    /// Reads the rows of a joint. `rows` has the row of `output` and `input` at each place of the node; `own` and
    /// `scale` get the diagonal of `C A⁻¹ B` and what the row is multiplied by. False where a row touches other bodies.
    pub(super) fn load_rows(
        &mut self,
        (nodes, k): (&[Node], usize),
        a: &dyn LinearSolve,
        (output, input): (&Rows, &Rows),
        rows: impl Iterator<Item = usize>,
        (own, scale): (&mut [f64], &mut [f64]),
    ) -> bool {
        let node = &nodes[k];
        let Place { at, is_direct, is_diagonal, .. } = self.place[k];
        let (n, r, p) = (node.size, node.rows, node.parent_size);
        let length = n * n + 2 * r * (n + p);
        self.value[at + n * n..at + length].fill(0.0);
        let of_parent = (node.parent != NONE).then(|| self.place[node.parent as usize]);
        let (before, inverse, root) = (&mut self.value[at..], &self.inverse, &self.root);
        let Parts { c, y: b, z, bp, .. } = Parts::of(node, before);
        for (j, row) in rows.enumerate() {
            let c = &mut c[j * n..(j + 1) * n];
            let z = &mut z[j * p..(j + 1) * p];
            for &(dof, value) in output.row(row) {
                let (own, other) = (dof.wrapping_sub(node.first), dof.wrapping_sub(node.parent_first));
                if own < n {
                    c[own] += value * root[dof];
                } else if other < p {
                    z[other] += value * root[dof];
                } else if value != 0.0 {
                    return false;
                }
            }
            for &(dof, value) in input.row(row) {
                let (own, other) = (dof.wrapping_sub(node.first), dof.wrapping_sub(node.parent_first));
                if own < n {
                    b[own * r + j] += value * root[dof];
                } else if other < p {
                    bp[other * r + j] += value * root[dof];
                } else if value != 0.0 {
                    return false;
                }
            }
            if is_direct {
                self.local.clear();
                self.local.extend((0..n).map(|i| b[i * r + j]));
                a.solve_block(node.first..node.first + n, &mut self.local);
                (0..n).for_each(|i| b[i * r + j] = self.local[i]);
            }
            let known = is_diagonal || is_direct;
            let own_inverse = (!known).then(|| &inverse[at..at + n * n]);
            let mut w = sized!((n, r), |n, r| form(n, c, |i| b[i * r + j], own_inverse));
            if let Some(parent) = of_parent {
                let inverse = (!parent.is_diagonal).then(|| &inverse[parent.at..parent.at + p * p]);
                w += sized!((p, r), |p, r| form(p, z, |i| bp[i * r + j], inverse));
            }
            own[j] = w;
            let s = row_scale(w);
            scale[j] = s;
            c.iter_mut().for_each(|x| *x *= s);
            z.iter_mut().for_each(|x| *x *= s);
            (0..n).for_each(|i| b[i * r + j] *= s);
            (0..p).for_each(|i| bp[i * r + j] *= s);
        }
        true
    }

    /// `x ← A⁻¹ x` in scaled variables, for the body of a node.
    pub(super) fn solve_body(&mut self, node: &Node, k: usize, a: &dyn LinearSolve, x: &mut [f64]) {
        let Place { at, is_diagonal, is_direct, .. } = self.place[k];
        if is_direct {
            a.solve_block(node.first..node.first + node.size, x);
        } else if !is_diagonal {
            let n = node.size;
            self.local.clear();
            self.local.extend_from_slice(x);
            x.fill(0.0);
            add_product(n, n, 1, 1.0, &self.inverse[at..], &self.local, x);
        }
    }

    /// (1) for one node, after those before it. Whether every pivot is good. With `dependent`, rows that depend on
    /// others of their joint are found, marked by place, and left out.
    pub(super) fn eliminate(&mut self, node: &Node, k: usize, dependent: Option<&mut [bool]>) -> bool {
        let Place { at, swap, is_direct, .. } = self.place[k];
        let (n, r, p) = (node.size, node.rows, node.parent_size);
        let length = n * n + 2 * r * (n + p) + r * r;
        let (own, later) = self.value[at..].split_at_mut(length);
        let Parts { m, c, y, z, bp, s } = Parts::of(node, own);
        let (swap_m, swap_s) = self.swap[swap..swap + n + r].split_at_mut(n);
        let mut is_good = true;
        if !is_direct {
            let pivot = sized!((n, r), |n, r| {
                let pivot = triangulate(n, m, swap_m);
                substitute(n, m, swap_m, r, y);
                pivot
            });
            is_good = pivot > 0.0;
        }
        s.fill(0.0);
        sized!((n, r), |n, r| add_product(r, n, r, 1.0, c, y, s));
        if let Some(dependent) = dependent {
            let mut marked = Vec::new();
            mark_dependent(r, &mut s.to_vec(), DEPENDENT, &mut marked);
            for j in (0..r).filter(|&j| marked[j]) {
                dependent[node.row + j] = true;
                leave_out(j, node, [&mut *c, &mut *y, &mut *z, &mut *bp, &mut *s]);
            }
        }
        let largest = (0..r).map(|j| s[j * r + j]).fold(0.0, f64::max);
        let pivot = sized!((n, r), |_n, r| triangulate(r, s, swap_s));
        is_good &= pivot > BROKEN * largest || r == 0;
        if p > 0 {
            let mp = self.place[node.parent as usize].at - at - length;
            let mp = &mut later[mp..mp + p * p];
            sized!((p, r), |p, r| {
                substitute(r, s, swap_s, p, z);
                add_product(p, r, p, 1.0, bp, z, mp);
            });
        }
        is_good
    }

    /// (2) and (3) for some nodes: `x` has f on entry, `lambda` (by places) g.
    pub(super) fn solve(
        &mut self,
        nodes: &[Node],
        range: Range<usize>,
        a: &dyn LinearSolve,
        x: &mut [f64],
        lambda: &mut [f64],
    ) {
        for k in range.clone() {
            let node = &nodes[k];
            let Place { at, swap, is_direct, .. } = self.place[k];
            let (n, r, p) = (node.size, node.rows, node.parent_size);
            let Parts { m, c, bp, s, .. } = Parts::of(node, &mut self.value[at..]);
            let (swap_m, swap_s) = self.swap[swap..swap + n + r].split_at(n);
            let own = &mut x[node.first..node.first + n];
            let t = &mut lambda[node.row..node.row + r];
            if is_direct {
                a.solve_block(node.first..node.first + n, own);
            }
            sized!((n, r), |n, r| {
                if !is_direct {
                    substitute(n, m, swap_m, 1, own);
                }
                add_product(r, n, 1, -1.0, c, own, t);
                substitute(r, s, swap_s, 1, t);
            });
            if p > 0 {
                let above = &mut x[node.parent_first..node.parent_first + p];
                sized!((p, r), |p, r| add_product(p, r, 1, 1.0, bp, t, above));
            }
        }
        for k in range.rev() {
            let node = &nodes[k];
            let (n, r, p) = (node.size, node.rows, node.parent_size);
            let Parts { y, z, .. } = Parts::of(node, &mut self.value[self.place[k].at..]);
            let t = &mut lambda[node.row..node.row + r];
            if p > 0 {
                let above = &x[node.parent_first..node.parent_first + p];
                sized!((p, r), |p, r| add_product(r, p, 1, -1.0, z, above, t));
            }
            let own = &mut x[node.first..node.first + n];
            sized!((n, r), |n, r| add_product(n, r, 1, 1.0, y, t, own));
        }
    }
}

/// What a row with `C A⁻¹ B = w` on the diagonal is multiplied by.
pub(super) fn row_scale(w: f64) -> f64 {
    let s = 1.0 / w.abs().sqrt();
    if s > 0.0 && s.is_finite() { s } else { 1.0 }
}

/// `cᵀ A⁻¹ b`; without an inverse A is the unit matrix.
#[inline(always)]
fn form(n: usize, c: &[f64], b: impl Fn(usize) -> f64, inverse: Option<&[f64]>) -> f64 {
    let c = &c[..n];
    let Some(inverse) = inverse else { return (0..n).map(|i| c[i] * b(i)).sum() };
    let inverse = &inverse[..n * n];
    let mut sum = 0.0;
    for j in 0..n {
        let along: f64 = (0..n).map(|i| c[i] * inverse[i * n + j]).sum();
        sum += along * b(j);
    }
    sum
}

/// Rows and columns times the roots that give a unit diagonal. Whether the matrix is diagonal.
#[inline(always)]
fn scale_block(n: usize, m: &mut [f64], root: &mut [f64]) -> bool {
    let (m, root) = (&mut m[..n * n], &mut root[..n]);
    for k in 0..n {
        let x = 1.0 / m[k * n + k].abs().sqrt();
        root[k] = if x > 0.0 && x.is_finite() { x } else { 1.0 };
    }
    let mut is_diagonal = true;
    for i in 0..n {
        for j in 0..n {
            m[i * n + j] *= root[i] * root[j];
            is_diagonal &= i == j || m[i * n + j] == 0.0;
        }
    }
    is_diagonal
}

/// `out ← A⁻¹`.
#[inline(always)]
fn invert(n: usize, a: &[f64], out: &mut [f64], swap: &mut [u32], work: &mut Vec<f64>) {
    work.clear();
    work.extend_from_slice(&a[..n * n]);
    triangulate(n, work, swap);
    for (k, x) in out[..n * n].iter_mut().enumerate() {
        *x = if k % (n + 1) == 0 { 1.0 } else { 0.0 };
    }
    substitute(n, work, swap, n, out);
}

/// Decouples row j of a joint.
fn leave_out(j: usize, node: &Node, [c, y, z, bp, s]: [&mut [f64]; 5]) {
    let (n, r, p) = (node.size, node.rows, node.parent_size);
    c[j * n..(j + 1) * n].fill(0.0);
    z[j * p..(j + 1) * p].fill(0.0);
    (0..n).for_each(|i| y[i * r + j] = 0.0);
    (0..p).for_each(|i| bp[i * r + j] = 0.0);
    for i in 0..r {
        s[j * r + i] = 0.0;
        s[i * r + j] = 0.0;
    }
    s[j * r + j] = 1.0;
}
