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
use super::plan::Node;
use crate::rows::{RUN, is_run};
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
    at: usize,       // first value: M, C, B (then Y), C_p (then Z), B_p, S
    swap: usize,     // first exchange
    is_direct: bool, // solved by the owner of A
}

/// The factors of all trees.
#[derive(Debug, Default)]
pub(super) struct Tree {
    place: Vec<Place>,
    value: Vec<f64>,
    swap: Vec<u32>,
    pub root: Vec<f64>, // (n) d: x = d x̃
    local: Vec<f64>,
    inverse: Vec<f64>, // of a block of A whose matrix is not told
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
            if is_known {
                sized!((n, 1), |n, _r| scale_block(n, m, root));
                continue;
            }
            let swap = &mut self.swap[place.swap..place.swap + n];
            self.inverse.clear();
            self.inverse.resize(n * n, 0.0);
            for k in 0..n {
                self.local.clear();
                self.local.extend((0..n).map(|i| f64::from(u8::from(i == k))));
                a.solve_block(dofs.clone(), &mut self.local);
                self.local.iter().enumerate().for_each(|(i, &x)| self.inverse[i * n + k] = x);
            }
            scale_block(n, &mut self.inverse, root);
            root.iter_mut().for_each(|x| *x = 1.0 / *x);
            invert(n, &self.inverse, m, swap, &mut self.local);
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
        let Place { at, is_direct, .. } = self.place[k];
        let (n, r, p) = (node.size, node.rows, node.parent_size);
        let (dofs, above) = (node.first..node.first + n, node.parent_first..node.parent_first + p);
        let (root, root_above) = (&self.root[dofs.clone()], if p > 0 { &self.root[above.clone()] } else { &[] });
        let Parts { c, y: b, z, bp, .. } = Parts::of(node, &mut self.value[at..]);
        self.local.resize(2 * (n + p), 0.0);
        let (raw, solved) = self.local.split_at_mut(n + p);
        for (j, row) in rows.enumerate() {
            // bodies in space, as most are: nothing is looked for
            if let (RUN, 0 | RUN, Some(of_output), Some(of_input)) = (
                n,
                p,
                whole(output.row(row), node.first, node.parent_first),
                whole(input.row(row), node.first, node.parent_first),
            ) {
                let mut x = of_input;
                a.solve_block(dofs.clone(), &mut x[0]);
                let mut w = product(&of_output[0], &x[0]);
                if p > 0 {
                    a.solve_block(above.clone(), &mut x[1]);
                    w += product(&of_output[1], &x[1]);
                }
                let s = row_scale(w);
                (own[j], scale[j]) = (w, s);
                let column = if is_direct { x[0] } else { of_input[0] };
                for i in 0..RUN {
                    c[j * RUN + i] = of_output[0][i] * (root[i] * s);
                    b[i * r + j] = column[i] * root[i] * s;
                }
                for i in 0..p {
                    z[j * RUN + i] = of_output[1][i] * (root_above[i] * s);
                    bp[i * r + j] = of_input[1][i] * root_above[i] * s;
                }
                continue;
            }
            let c = &mut c[j * n..(j + 1) * n];
            let z = &mut z[j * p..(j + 1) * p];
            let (b_own, b_above) = raw.split_at_mut(n);
            if !gather(output.row(row), (node.first, c), (node.parent_first, z))
                || !gather(input.row(row), (node.first, b_own), (node.parent_first, b_above))
            {
                return false;
            }
            solved.copy_from_slice(raw);
            let (x, x_above) = solved.split_at_mut(n);
            a.solve_block(dofs.clone(), x);
            let mut w = product(c, x);
            if p > 0 {
                a.solve_block(above.clone(), x_above);
                w += product(z, x_above);
            }
            own[j] = w;
            let s = row_scale(w);
            scale[j] = s;
            c.iter_mut().zip(root).for_each(|(c, root)| *c *= root * s);
            z.iter_mut().zip(root_above).for_each(|(z, root)| *z *= root * s);
            let column = if is_direct { &*x } else { &raw[..n] };
            (0..n).for_each(|i| b[i * r + j] = column[i] * root[i] * s);
            (0..p).for_each(|i| bp[i * r + j] = raw[n + i] * root_above[i] * s);
        }
        true
    }

    /// `x ← A⁻¹ x` in scaled variables, for the body of a node.
    pub(super) fn solve_body(&mut self, node: &Node, a: &dyn LinearSolve, x: &mut [f64]) {
        let dofs = node.first..node.first + node.size;
        let root = &self.root[dofs.clone()];
        x.iter_mut().zip(root).for_each(|(x, root)| *x /= root);
        a.solve_block(dofs, x);
        x.iter_mut().zip(root).for_each(|(x, root)| *x /= root);
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

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The entries of a row at a body and at its parent where it has all of them and no others, as rows of bodies in space
/// have; zeros of the parent where it has none.
#[inline]
fn whole(row: &[(usize, f64)], first: usize, above: usize) -> Option<[[f64; RUN]; 2]> {
    let (runs, rest) = row.as_chunks::<RUN>();
    let values = |run: &[(usize, f64); RUN]| std::array::from_fn(|k| run[k].1);
    let begins = |run: &[(usize, f64); RUN], dof: usize| is_run(run) && run[0].0 == dof;
    match runs {
        _ if !rest.is_empty() => None,
        [own] if begins(own, first) => Some([values(own), [0.0; RUN]]),
        [own, other] if begins(own, first) && begins(other, above) => Some([values(own), values(other)]),
        [other, own] if begins(own, first) && begins(other, above) => Some([values(own), values(other)]),
        _ => None,
    }
}

/// The entries of a row at a body and at its parent, which begin at some degrees of freedom. False where there are
/// others.
#[inline]
fn gather(row: &[(usize, f64)], (first, own): (usize, &mut [f64]), (above, other): (usize, &mut [f64])) -> bool {
    own.fill(0.0);
    other.fill(0.0);
    let (runs, rest) = row.as_chunks::<RUN>();
    for run in runs {
        let is_whole = |dof: usize| is_run(run) && run[0].0 == dof;
        let is_done = is_whole(first) && add_run(run, own) || is_whole(above) && add_run(run, other);
        if !(is_done || gather_each(run, (first, own), (above, other))) {
            return false;
        }
    }
    gather_each(rest, (first, own), (above, other))
}

/// Adds columns that follow each other, where there is room for them.
#[inline]
fn add_run(run: &[(usize, f64); RUN], out: &mut [f64]) -> bool {
    let Some(out) = out.first_chunk_mut::<RUN>() else { return false };
    (0..RUN).for_each(|k| out[k] += run[k].1);
    true
}

/// The same, entry by entry.
#[inline]
fn gather_each(row: &[(usize, f64)], (first, own): (usize, &mut [f64]), (above, other): (usize, &mut [f64])) -> bool {
    for &(dof, value) in row {
        if let Some(x) = own.get_mut(dof.wrapping_sub(first)) {
            *x += value;
        } else if let Some(x) = other.get_mut(dof.wrapping_sub(above)) {
            *x += value;
        } else if value != 0.0 {
            return false;
        }
    }
    true
}

/// Rows and columns times the roots that give a unit diagonal.
#[inline(always)]
fn scale_block(n: usize, m: &mut [f64], root: &mut [f64]) {
    let (m, root) = (&mut m[..n * n], &mut root[..n]);
    for k in 0..n {
        let x = 1.0 / m[k * n + k].abs().sqrt();
        root[k] = if x > 0.0 && x.is_finite() { x } else { 1.0 };
    }
    for i in 0..n {
        for j in 0..n {
            m[i * n + j] *= root[i] * root[j];
        }
    }
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
