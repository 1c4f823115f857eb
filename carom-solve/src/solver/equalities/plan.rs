//! In which order bodies and joints are eliminated.
//!
//! Bodies are the blocks of `A`, joints the groups of equality rows that touch the same pair of bodies, or one body and
//! the ground. Each mechanism (bodies that hang together by such rows) has a spanning tree with the ground as its root,
//! or its first body where it floats. Bodies come from the leaves to the root, each one followed by the joint to its
//! parent. What is left is the border: joints that close loops, rows that touch more than two bodies, and rows that
//! depend on others of their joint.

use crate::delassus::BlockInverse;
use std::ops::Range;

/// No body.
pub(super) const NONE: u32 = u32::MAX;

/// The bodies that each row touches.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Touched {
    end: Vec<usize>, // (rows)
    body: Vec<u32>,  // rising within a row
}

impl Touched {
    pub(super) fn clear(&mut self) {
        self.end.clear();
        self.body.clear();
    }

    /// One more row that touches these bodies, in any order.
    pub(super) fn push(&mut self, bodies: impl Iterator<Item = u32>) {
        let first = self.body.len();
        for body in bodies {
            if !self.body[first..].contains(&body) {
                self.body.push(body);
            }
        }
        self.body[first..].sort_unstable();
        self.end.push(self.body.len());
    }

    pub(super) fn rows(&self) -> usize {
        self.end.len()
    }

    pub(super) fn of(&self, row: usize) -> &[u32] {
        let start = if row == 0 { 0 } else { self.end[row - 1] };
        &self.body[start..self.end[row]]
    }
}

/// A body and the joint to its parent.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub first: usize,        // degree of freedom
    pub size: usize,         // degrees of freedom
    pub parent: u32,         // node; none where it is the ground, or where there is no joint
    pub parent_first: usize, // degree of freedom
    pub parent_size: usize,  // zero for the ground
    pub row: usize,          // first place
    pub rows: usize,
    pub is_leaf: bool,
}

/// Bodies that hang together.
#[derive(Clone, Debug)]
pub(super) struct Mechanism {
    pub nodes: Range<usize>,
    pub rows: Range<usize>,   // places in the tree
    pub border: Range<usize>, // places in the border
    pub dofs: Range<usize>,   // from the first to the last one
}

/// The order of elimination.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub nodes: Vec<Node>,
    pub mechanisms: Vec<Mechanism>,
    pub order: Vec<u32>,          // row at each place: those of trees, then those of borders
    pub tree: usize,              // number of places in trees
    pub intervals: Vec<Interval>, // rising
    pub free: Vec<Range<usize>>,  // degrees of freedom of bodies without rows
    pub node_of: Vec<u32>,        // (bodies) none without rows
}

/// Degrees of freedom of whole mechanisms that overlap.
#[derive(Clone, Debug)]
pub(super) struct Interval {
    pub dofs: Range<usize>,
    pub mechanisms: Vec<usize>,
    pub free: Range<usize>, // those of `Plan::free` inside
}

/// A joint: rows that touch the same bodies.
struct Joint {
    bodies: [u32; 2], // the second one is none for the ground
    rows: Vec<u32>,
}

/// What the search for spanning trees needs and leaves.
struct Search<'a> {
    blocks: &'a BlockInverse,
    joints: &'a [Joint],
    near: Vec<Vec<(u32, usize)>>, // (bodies) other body and joint
    node_of: Vec<u32>,            // (bodies)
    in_tree: Vec<bool>,           // (rows)
    is_found: Vec<bool>,          // (bodies)
}

impl Plan {
    /// The order for these rows; those of `apart` go to the border.
    pub(super) fn new(blocks: &BlockInverse, touched: &Touched, apart: &[bool]) -> Plan {
        let bodies = blocks.blocks();
        let joints = joints(touched, apart);
        let mut near = vec![Vec::new(); bodies];
        for (k, joint) in joints.iter().enumerate() {
            for (i, &body) in joint.bodies.iter().enumerate().filter(|x| *x.1 != NONE) {
                near[body as usize].push((joint.bodies[1 - i], k));
            }
        }
        let (node_of, in_tree) = (vec![NONE; bodies], vec![false; touched.rows()]);
        let is_found = vec![false; bodies];
        let mut search = Search { blocks, joints: &joints, near, node_of, in_tree, is_found };
        let leader = leaders(bodies, touched);
        let mut is_touched = vec![false; bodies];
        touched.body.iter().for_each(|&body| is_touched[body as usize] = true);
        let mut members = vec![Vec::new(); bodies];
        for body in 0..bodies {
            members[leader[body] as usize].push(body as u32);
        }
        let mut plan = Plan::default();
        let mut led = Vec::new(); // leader of each mechanism
        for (body, members) in members.iter().enumerate().filter(|x| !x.1.is_empty()) {
            if is_touched[body] {
                plan.add_mechanism(members, &mut search);
                led.push(body);
            } else {
                plan.free.push(blocks.range(body));
            }
        }
        plan.tree = plan.order.len();
        let mut border = vec![Vec::new(); bodies];
        for row in (0..touched.rows()).filter(|&row| !search.in_tree[row]) {
            // a row that touches nothing cannot be solved for
            if let Some(&body) = touched.of(row).first() {
                border[leader[body as usize] as usize].push(row as u32);
            }
        }
        for (mechanism, &leader) in plan.mechanisms.iter_mut().zip(&led) {
            let first = plan.order.len();
            plan.order.extend(&border[leader]);
            mechanism.border = first..plan.order.len();
        }
        plan.node_of = search.node_of;
        plan.find_intervals();
        plan
    }

    /// Appends the bodies of a mechanism and the rows of its tree.
    fn add_mechanism(&mut self, members: &[u32], search: &mut Search<'_>) {
        let Search { near, is_found, .. } = &mut *search;
        let mut found: Vec<(u32, u32, usize)> = Vec::new(); // body, parent, joint
        let grounded = members.iter().filter_map(|&body| {
            let joint = near[body as usize].iter().find(|x| x.0 == NONE)?.1;
            Some((body, NONE, joint))
        });
        found.extend(grounded);
        found.iter().for_each(|x| is_found[x.0 as usize] = true);
        let (mut next, mut seeds) = (0, members.iter());
        while found.len() < members.len() {
            if next == found.len() {
                // a body that floats: the root of a tree of its own
                let Some(&body) = seeds.find(|body| !is_found[**body as usize]) else { break };
                is_found[body as usize] = true;
                found.push((body, NONE, usize::MAX));
            }
            let body = found[next].0;
            next += 1;
            for &(other, joint) in near[body as usize].iter().filter(|x| x.0 != NONE) {
                if !std::mem::replace(&mut is_found[other as usize], true) {
                    found.push((other, body, joint));
                }
            }
        }
        let (first, first_row) = (self.nodes.len(), self.order.len());
        for (k, &(body, ..)) in found.iter().rev().enumerate() {
            search.node_of[body as usize] = (first + k) as u32;
        }
        for &(body, parent, joint) in found.iter().rev() {
            let rows = search.joints.get(joint).map_or(&[][..], |joint| &joint.rows);
            rows.iter().for_each(|&row| search.in_tree[row as usize] = true);
            let of_parent = if parent == NONE { 0..0 } else { search.blocks.range(parent as usize) };
            let dofs = search.blocks.range(body as usize);
            self.nodes.push(Node {
                first: dofs.start,
                size: dofs.len(),
                parent: if parent == NONE { NONE } else { search.node_of[parent as usize] },
                parent_first: of_parent.start,
                parent_size: of_parent.len(),
                row: self.order.len(),
                rows: rows.len(),
                is_leaf: true,
            });
            self.order.extend(rows);
        }
        for k in first..self.nodes.len() {
            if let Some(parent) = self.nodes.get(self.nodes[k].parent as usize) {
                debug_assert!(parent.first == self.nodes[k].parent_first);
                let parent = self.nodes[k].parent as usize;
                self.nodes[parent].is_leaf = false;
            }
        }
        let ends = members.iter().map(|&body| search.blocks.range(body as usize));
        let dofs = ends.clone().map(|r| r.start).min().unwrap_or(0)..ends.map(|r| r.end).max().unwrap_or(0);
        let (nodes, rows) = (first..self.nodes.len(), first_row..self.order.len());
        self.mechanisms.push(Mechanism { nodes, rows, border: 0..0, dofs });
    }

    /// Merges what overlaps.
    fn find_intervals(&mut self) {
        let mut sorted: Vec<usize> = (0..self.mechanisms.len()).collect();
        sorted.sort_by_key(|&k| self.mechanisms[k].dofs.start);
        for k in sorted {
            let dofs = self.mechanisms[k].dofs.clone();
            match self.intervals.last_mut() {
                Some(last) if dofs.start < last.dofs.end => {
                    last.dofs.end = last.dofs.end.max(dofs.end);
                    last.mechanisms.push(k);
                }
                _ => self.intervals.push(Interval { dofs, mechanisms: vec![k], free: 0..0 }),
            }
        }
        for interval in &mut self.intervals {
            let before = |dof: usize| self.free.partition_point(|free| free.start < dof);
            interval.free = before(interval.dofs.start)..before(interval.dofs.end);
        }
    }

    /// The number of the interval that contains a degree of freedom.
    pub(super) fn interval_at(&self, dof: usize) -> Option<usize> {
        let k = self.intervals.partition_point(|interval| interval.dofs.end <= dof);
        (self.intervals.get(k)?.dofs.start <= dof).then_some(k)
    }
}

/// Rows that touch the same one or two bodies, sorted by these.
fn joints(touched: &Touched, apart: &[bool]) -> Vec<Joint> {
    let mut sorted: Vec<([u32; 2], u32)> = Vec::with_capacity(touched.rows());
    for row in (0..touched.rows()).filter(|&row| !apart[row]) {
        match *touched.of(row) {
            [a] => sorted.push(([a, NONE], row as u32)),
            [a, b] => sorted.push(([a, b], row as u32)),
            _ => {}
        }
    }
    sorted.sort_unstable();
    let mut joints: Vec<Joint> = Vec::new();
    for (bodies, row) in sorted {
        match joints.last_mut() {
            Some(last) if last.bodies == bodies => last.rows.push(row),
            _ => joints.push(Joint { bodies, rows: vec![row] }),
        }
    }
    joints
}

/// The first body of the mechanism of each body.
fn leaders(bodies: usize, touched: &Touched) -> Vec<u32> {
    fn root(leader: &mut [u32], mut i: u32) -> u32 {
        while leader[i as usize] != i {
            leader[i as usize] = leader[leader[i as usize] as usize];
            i = leader[i as usize];
        }
        i
    }
    let mut leader: Vec<u32> = (0..bodies as u32).collect();
    for row in 0..touched.rows() {
        for pair in touched.of(row).windows(2) {
            let (a, b) = (root(&mut leader, pair[0]), root(&mut leader, pair[1]));
            leader[a.max(b) as usize] = a.min(b);
        }
    }
    (0..bodies as u32).map(|body| root(&mut leader, body)).collect()
}
