//! The saddle system of the equality rows, factored:
//!
//! ```text
//!     A x − B λ = f,   C x = g                                                               (1)
//! ```
//!
//! Degrees of freedom are scaled to a unit diagonal of `A`, rows to a unit diagonal of `C A⁻¹ B`. Trees are eliminated
//! first (`tree.rs`); the border of each mechanism is what is left, a dense matrix `T = C_b K⁻¹ B_b` that is factored
//! with complete pivoting: pivots below `cut` are redundant rows. They leave directions `N` of reactions that move
//! nothing; reactions are made orthogonal to these, which is their minimum norm in scaled variables.

use super::plan::{Mechanism, Plan, Touched};
use super::tree::{Tree, row_scale};
use crate::delassus::BlockInverse;
use crate::solver::ranked::RankedLu;
use crate::{LinearSolve, Rows};

/// Largest pivot of a redundant row: in a mechanism that has drifted by δ it is of the order δ².
pub(super) const CUT: f64 = 1e-10;

/// Most rows in the border of one mechanism: its matrix is dense.
const WIDEST: usize = 600;

/// The parts of `Parts` that equality rows see.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub a: &'a dyn LinearSolve,
    pub output: &'a Rows,
    pub input: &'a Rows,
}

/// The border of a mechanism.
#[derive(Debug, Default)]
pub(super) struct Border {
    matrix: Vec<f64>, // T
    pub lu: RankedLu,
    pub rank: usize,
    pub null: Vec<f64>, // N, orthonormal, one direction after the other: places of the tree, then those of the border
}

/// The saddle system, factored, and its buffers.
#[derive(Debug, Default)]
pub(super) struct Saddle {
    blocks: BlockInverse,
    row: Vec<usize>, // equality rows of the problem
    touched: Touched,
    pub plan: Plan,
    pub(super) tree: Tree,
    pub(super) scale: Vec<f64>,      // (places)
    pub(super) own: Vec<f64>,        // (places) diagonal of C A⁻¹ B
    pub(super) output: Rows,         // C of the borders, scaled
    pub(super) input: Rows,          // Bᵀ of the borders, scaled
    pub(super) border: Vec<Border>,  // (mechanisms)
    pub(super) body: Vec<f64>,       // (n)
    pub(super) kept: Vec<f64>,       // (n) f
    pub(super) joint: Vec<f64>,      // (places) g, then λ
    pub(super) kept_joint: Vec<f64>, // (places)
    pub(super) last: Vec<f64>,       // right side of a border
}

impl Saddle {
    /// Factors (1) for these rows. False where the border is too wide, or a number is not finite.
    pub(super) fn factor(&mut self, given: Given<'_>, rows: &[usize], cut: f64) -> bool {
        if self.is_for(given, rows) && self.eliminate(given, None) {
            self.factor_borders(given.a, cut);
            return true;
        }
        self.row.clear();
        self.row.extend_from_slice(rows);
        let is_good = self.analyse(given) && self.eliminate(given, None);
        if is_good {
            self.factor_borders(given.a, cut);
        } else {
            self.row.clear();
        }
        is_good
    }

    /// Whether its order of elimination is that of these rows, unless they touch other bodies now.
    pub(super) fn is_for(&self, given: Given<'_>, rows: &[usize]) -> bool {
        self.row == rows && self.has_blocks(given.a)
    }

    fn has_blocks(&self, a: &dyn LinearSolve) -> bool {
        let blocks = &self.blocks;
        blocks.dim() == a.dim()
            && (0..blocks.blocks()).map(|k| blocks.range(k)).all(|dofs| a.block(dofs.start).end == dofs.end)
    }

    /// The order of elimination for this pattern, and for the rows that are independent now.
    #[cold]
    fn analyse(&mut self, given: Given<'_>) -> bool {
        self.blocks.index(given.a);
        self.touched.clear();
        for &row in &self.row {
            let entries = given.output.row(row).iter().chain(given.input.row(row));
            self.touched.push(entries.map(|x| self.blocks.block_of(x.0) as u32));
        }
        let mut apart = vec![false; self.row.len()];
        self.lay_out(Plan::new(&self.blocks, &self.touched, &apart), given.a.dim());
        let mut dependent = vec![false; self.plan.tree];
        // whether its pivots are good is asked again without the rows that depend on others
        self.eliminate(given, Some(&mut dependent));
        if dependent.contains(&true) {
            for (place, _) in dependent.iter().enumerate().filter(|x| *x.1) {
                apart[self.plan.order[place] as usize] = true;
            }
            self.lay_out(Plan::new(&self.blocks, &self.touched, &apart), given.a.dim());
        }
        self.plan.mechanisms.iter().all(|mechanism| mechanism.border.len() <= WIDEST)
    }

    fn lay_out(&mut self, plan: Plan, n: usize) {
        self.tree.lay_out(&plan.nodes, n);
        for buffer in [&mut self.scale, &mut self.own, &mut self.joint, &mut self.kept_joint] {
            buffer.clear();
            buffer.resize(plan.order.len(), 0.0);
        }
        for buffer in [&mut self.body, &mut self.kept] {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
        self.border.resize_with(plan.mechanisms.len(), Border::default);
        self.plan = plan;
    }

    /// Reads the numbers and eliminates along the trees, one joint after the other while it is in the cache. False
    /// where rows do not fit the plan, or a pivot is not good.
    fn eliminate(&mut self, given: Given<'_>, mut dependent: Option<&mut [bool]>) -> bool {
        let Given { a, output, input } = given;
        self.tree.load_blocks(&self.plan.nodes, a);
        let mut is_good = true;
        for (k, node) in self.plan.nodes.iter().enumerate() {
            let places = node.row..node.row + node.rows;
            let rows = self.plan.order[places.clone()].iter().map(|&row| self.row[row as usize]);
            let figures = (&mut self.own[places.clone()], &mut self.scale[places]);
            if !self.tree.load_rows((&self.plan.nodes, k), a, (output, input), rows, figures) {
                return false;
            }
            is_good &= self.tree.eliminate(node, k, dependent.as_deref_mut());
        }
        self.load_borders(given) && is_good
    }

    /// Reads the rows of the borders.
    fn load_borders(&mut self, given: Given<'_>) -> bool {
        let root = &self.tree.root;
        self.output.clear(root.len());
        self.input.clear(root.len());
        for place in self.plan.tree..self.plan.order.len() {
            let row = self.plan.order[place] as usize;
            let bodies = self.touched.of(row);
            let (c, b) = (given.output.row(self.row[row]), given.input.row(self.row[row]));
            let is_known = |x: &(usize, f64)| x.1 == 0.0 || bodies.contains(&(self.blocks.block_of(x.0) as u32));
            if !c.iter().chain(b).all(is_known) {
                return false;
            }
            let root = &self.tree.root;
            for &(dof, value) in b {
                self.body[dof] += value * root[dof];
            }
            for &body in bodies {
                let (node, dofs) = (self.plan.node_of[body as usize] as usize, self.blocks.range(body as usize));
                self.tree.solve_body(&self.plan.nodes[node], given.a, &mut self.body[dofs]);
            }
            let root = &self.tree.root;
            let w = c.iter().map(|&(dof, value)| value * root[dof] * self.body[dof]).sum();
            bodies.iter().for_each(|&body| self.body[self.blocks.range(body as usize)].fill(0.0));
            let scale = row_scale(w);
            (self.own[place], self.scale[place]) = (w, scale);
            self.output.push_sparse(c.iter().map(|&(dof, value)| (dof, value * root[dof] * scale)));
            self.input.push_sparse(b.iter().map(|&(dof, value)| (dof, value * root[dof] * scale)));
        }
        true
    }

    /// The matrices of the borders, and the directions that they leave free.
    fn factor_borders(&mut self, a: &dyn LinearSolve, cut: f64) {
        for k in 0..self.plan.mechanisms.len() {
            let mechanism = self.plan.mechanisms[k].clone();
            let (size, first) = (mechanism.border.len(), mechanism.border.start - self.plan.tree);
            self.border[k].matrix.resize(size * size, 0.0);
            for j in 0..size {
                self.clear(&mechanism);
                self.input.add_row(first + j, 1.0, &mut self.body);
                self.solve_tree(&mechanism, a);
                for i in 0..size {
                    self.border[k].matrix[i * size + j] = self.output.dot(first + i, &self.body);
                }
            }
            self.cut(k, a, cut);
        }
    }

    /// Factors the borders again with another cut; whether any rank has changed.
    pub(super) fn cut_again(&mut self, a: &dyn LinearSolve, cut: f64) -> bool {
        let rank = |saddle: &Saddle| saddle.border.iter().map(|border| border.rank).sum::<usize>();
        let before = rank(self);
        (0..self.plan.mechanisms.len()).for_each(|k| self.cut(k, a, cut));
        rank(self) != before
    }

    fn cut(&mut self, k: usize, a: &dyn LinearSolve, cut: f64) {
        let mechanism = self.plan.mechanisms[k].clone();
        let size = mechanism.border.len();
        let border = &mut self.border[k];
        border.null.clear();
        border.rank = size;
        if size == 0 {
            return;
        }
        border.lu.matrix_mut(size).copy_from_slice(&border.matrix);
        border.rank = border.lu.factor_above(cut);
        for direction in border.rank..size {
            self.add_direction(k, &mechanism, direction, a);
        }
    }

    /// One more direction of reactions that move nothing.
    fn add_direction(&mut self, k: usize, mechanism: &Mechanism, direction: usize, a: &dyn LinearSolve) {
        self.last.clear();
        self.last.resize(mechanism.border.len(), 0.0);
        self.border[k].lu.null_vector(direction, &mut self.last);
        self.clear(mechanism);
        let first = mechanism.border.start - self.plan.tree;
        for (j, &x) in self.last.iter().enumerate() {
            self.input.add_row(first + j, x, &mut self.body);
        }
        self.solve_tree(mechanism, a);
        let length = mechanism.rows.len() + mechanism.border.len();
        let null = &mut self.border[k].null;
        null.extend_from_slice(&self.joint[mechanism.rows.clone()]);
        null.extend_from_slice(&self.last);
        // orthonormal, twice for the sake of rounding
        let others = null.len() - length;
        let (before, own) = null.split_at_mut(others);
        for _ in 0..2 {
            for other in before.chunks_exact(length) {
                let along: f64 = other.iter().zip(&*own).map(|(a, b)| a * b).sum();
                own.iter_mut().zip(other).for_each(|(own, other)| *own -= along * other);
            }
            let norm = own.iter().map(|x| x * x).sum::<f64>().sqrt();
            own.iter_mut().for_each(|x| *x /= norm);
        }
    }

    /// The equality rows that were left out as redundant.
    pub(super) fn dropped(&self) -> impl Iterator<Item = usize> {
        let pairs = self.plan.mechanisms.iter().zip(&self.border).filter(|x| !x.0.border.is_empty());
        pairs.flat_map(move |(mechanism, border)| {
            let first = mechanism.border.start;
            border.lu.dropped().iter().map(move |&k| self.plan.order[first + k] as usize)
        })
    }

    /// Numbers that the factors hold.
    pub(super) fn entries(&self) -> usize {
        self.tree.entries() + self.border.iter().map(|border| border.matrix.len() + border.null.len()).sum::<usize>()
    }

    /// Diagonal of C A⁻¹ B by equality rows; zero for rows that touch nothing.
    pub(super) fn own_of_rows(&mut self) -> &[f64] {
        self.last.clear();
        self.last.resize(self.row.len(), 0.0);
        for (place, &row) in self.plan.order.iter().enumerate() {
            self.last[row as usize] = self.own[place];
        }
        &self.last
    }

    fn clear(&mut self, mechanism: &Mechanism) {
        for node in &self.plan.nodes[mechanism.nodes.clone()] {
            self.body[node.first..node.first + node.size].fill(0.0);
        }
        self.joint[mechanism.rows.clone()].fill(0.0);
    }

    pub(super) fn solve_tree(&mut self, mechanism: &Mechanism, a: &dyn LinearSolve) {
        self.tree.solve(&self.plan.nodes, mechanism.nodes.clone(), a, &mut self.body, &mut self.joint);
    }
}
