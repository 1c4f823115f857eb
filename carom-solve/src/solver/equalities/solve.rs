//! Answers of the factored saddle system: constrained motions, and reactions.

use super::saddle::Saddle;
use crate::LinearSolve;
use std::cell::RefCell;
use std::ops::Range;

impl Saddle {
    /// Solves mechanism k: f and g are in `body` and `joint`, x and λ in the end, all in scaled variables.
    fn solve_mechanism(&mut self, k: usize, a: &dyn LinearSolve) {
        let mechanism = self.plan.mechanisms[k].clone();
        if mechanism.border.is_empty() {
            return self.solve_tree(&mechanism, a);
        }
        for node in &self.plan.nodes[mechanism.nodes.clone()] {
            let dofs = node.first..node.first + node.size;
            self.kept[dofs.clone()].copy_from_slice(&self.body[dofs]);
        }
        let rows = mechanism.rows.clone();
        self.kept_joint[rows.clone()].copy_from_slice(&self.joint[rows.clone()]);
        self.solve_tree(&mechanism, a);
        let first = mechanism.border.start - self.plan.tree;
        self.last.clear();
        self.last.extend_from_slice(&self.joint[mechanism.border.clone()]);
        for (j, last) in self.last.iter_mut().enumerate() {
            *last -= self.output.dot(first + j, &self.body);
        }
        self.border[k].lu.solve(&mut self.last);
        for node in &self.plan.nodes[mechanism.nodes.clone()] {
            let dofs = node.first..node.first + node.size;
            self.body[dofs.clone()].copy_from_slice(&self.kept[dofs]);
        }
        self.joint[rows.clone()].copy_from_slice(&self.kept_joint[rows]);
        for (j, &last) in self.last.iter().enumerate() {
            self.input.add_row(first + j, last, &mut self.body);
        }
        self.joint[mechanism.border.clone()].copy_from_slice(&self.last);
        self.solve_tree(&mechanism, a);
    }

    /// Takes the directions that move nothing out of the reactions of mechanism k.
    fn take_out(&mut self, k: usize) {
        let mechanism = &self.plan.mechanisms[k];
        let (tree, border) = (mechanism.rows.clone(), mechanism.border.clone());
        for direction in self.border[k].null.chunks_exact((tree.len() + border.len()).max(1)) {
            let (of_tree, of_border) = direction.split_at(tree.len());
            let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
            let along = product(of_tree, &self.joint[tree.clone()]) + product(of_border, &self.joint[border.clone()]);
            for (part, places) in [(of_tree, tree.clone()), (of_border, border.clone())] {
                self.joint[places].iter_mut().zip(part).for_each(|(x, n)| *x -= along * n);
            }
        }
    }

    /// `x ← P x`: the answer of the bodies of mechanism k to the forces `x` where its rows hold; `x` begins at degree
    /// of freedom `start`.
    fn constrain(&mut self, k: usize, a: &dyn LinearSolve, start: usize, x: &mut [f64]) {
        let mechanism = self.plan.mechanisms[k].clone();
        for node in &self.plan.nodes[mechanism.nodes.clone()] {
            for dof in node.first..node.first + node.size {
                self.body[dof] = self.tree.root[dof] * x[dof - start];
            }
        }
        self.joint[mechanism.rows.clone()].fill(0.0);
        self.joint[mechanism.border.clone()].fill(0.0);
        self.solve_mechanism(k, a);
        for node in &self.plan.nodes[mechanism.nodes.clone()] {
            for dof in node.first..node.first + node.size {
                x[dof - start] = self.tree.root[dof] * self.body[dof];
            }
        }
    }

    /// Reactions of minimum norm with `C x = g`, for the forces in `x`, which become the answer of all bodies that
    /// rows touch. `g` and `lambda` are by equality rows.
    pub(super) fn react(&mut self, a: &dyn LinearSolve, g: impl Fn(usize) -> f64, x: &mut [f64], lambda: &mut [f64]) {
        for node in &self.plan.nodes {
            for dof in node.first..node.first + node.size {
                self.body[dof] = self.tree.root[dof] * x[dof];
            }
        }
        for (place, &row) in self.plan.order.iter().enumerate() {
            self.joint[place] = self.scale[place] * g(row as usize);
        }
        for k in 0..self.plan.mechanisms.len() {
            self.solve_mechanism(k, a);
            self.take_out(k);
        }
        lambda.fill(0.0);
        for (place, &row) in self.plan.order.iter().enumerate() {
            lambda[row as usize] = self.scale[place] * self.joint[place];
        }
        for node in &self.plan.nodes {
            for dof in node.first..node.first + node.size {
                x[dof] = self.tree.root[dof] * self.body[dof];
            }
        }
    }
}

/// `A⁻¹` with the equality rows imposed: `x = A⁻¹ (f + B λ)` with `C x = 0`.
pub(super) struct Constrained<'a> {
    pub saddle: RefCell<&'a mut Saddle>,
    pub a: &'a dyn LinearSolve,
}

impl LinearSolve for Constrained<'_> {
    fn dim(&self) -> usize {
        self.a.dim()
    }

    fn solve(&self, x: &mut [f64]) {
        let mut saddle = self.saddle.borrow_mut();
        for k in 0..saddle.plan.mechanisms.len() {
            saddle.constrain(k, self.a, 0, x);
        }
        for free in &saddle.plan.free {
            self.a.solve_block(free.clone(), &mut x[free.clone()]);
        }
    }

    fn block(&self, dof: usize) -> Range<usize> {
        let saddle = self.saddle.borrow();
        let interval = saddle.plan.interval_at(dof);
        interval.map_or_else(|| self.a.block(dof), |k| saddle.plan.intervals[k].dofs.clone())
    }

    fn solve_block(&self, block: Range<usize>, x: &mut [f64]) {
        let mut saddle = self.saddle.borrow_mut();
        let Some(interval) = saddle.plan.interval_at(block.start) else {
            return self.a.solve_block(block, x);
        };
        for at in 0..saddle.plan.intervals[interval].mechanisms.len() {
            let k = saddle.plan.intervals[interval].mechanisms[at];
            saddle.constrain(k, self.a, block.start, x);
        }
        for free in &saddle.plan.free[saddle.plan.intervals[interval].free.clone()] {
            self.a.solve_block(free.clone(), &mut x[free.start - block.start..free.end - block.start]);
        }
    }
}
