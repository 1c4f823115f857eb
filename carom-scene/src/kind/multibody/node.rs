//! Frames of bodies as expressions of the coordinates: joint coordinates and drawings are made of them.

use std::cell::RefCell;
use std::collections::HashMap;

use carom::multibody::joint::Numbers;

use crate::expression::{Function, Graph, NodeId, Unary};

/// Three components.
pub(super) type Nodes = [NodeId; 3];

/// Centre and axes (as columns) of a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeFrame {
    pub centre: Nodes,
    pub axes: [Nodes; 3],
}

/// Makes frames of bodies, each of them once. The ground is body 0; coordinates of body k follow those of k - 1, and
/// velocities follow all coordinates.
#[derive(Debug)]
pub(super) struct Frames {
    pub planar: bool,
    /// Slot of the first velocity.
    pub velocity: usize,
    made: HashMap<usize, NodeFrame>,
}

/// a + b
pub(super) fn add(graph: &mut Graph, a: Nodes, b: Nodes) -> Nodes {
    std::array::from_fn(|i| graph.add(a[i], b[i]))
}

/// a - b
pub(super) fn subtract(graph: &mut Graph, a: Nodes, b: Nodes) -> Nodes {
    std::array::from_fn(|i| graph.subtract(a[i], b[i]))
}

/// a · b
pub(super) fn dot(graph: &mut Graph, a: Nodes, b: Nodes) -> NodeId {
    let products: Vec<NodeId> = (0..3).map(|i| graph.multiply(a[i], b[i])).collect();
    graph.sum(products)
}

/// a × b
pub(super) fn cross(graph: &mut Graph, a: Nodes, b: Nodes) -> Nodes {
    std::array::from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let (left, right) = (graph.multiply(a[j], b[k]), graph.multiply(a[k], b[j]));
        graph.subtract(left, right)
    })
}

impl NodeFrame {
    /// R d of a direction in axes of the body.
    pub fn direction(&self, graph: &mut Graph, d: [f64; 3]) -> Nodes {
        let d = d.map(|x| graph.constant(x));
        self.turn(graph, d)
    }

    /// R d of a direction that changes.
    pub fn turn(&self, graph: &mut Graph, d: Nodes) -> Nodes {
        std::array::from_fn(|i| {
            let row = [self.axes[0][i], self.axes[1][i], self.axes[2][i]];
            dot(graph, row, d)
        })
    }

    /// x + R s of a point in axes of the body.
    pub fn point(&self, graph: &mut Graph, s: [f64; 3]) -> Nodes {
        let s = self.direction(graph, s);
        add(graph, self.centre, s)
    }
}

impl Frames {
    pub fn new(planar: bool, velocity: usize) -> Frames {
        Frames { planar, velocity, made: HashMap::new() }
    }

    /// Slot of a coordinate of a body.
    pub fn position(&self, body: usize, k: usize) -> usize {
        1 + (body - 1) * if self.planar { 3 } else { 7 } + k
    }

    /// Slot of a velocity of a body.
    fn rate(&self, body: usize, k: usize) -> usize {
        self.velocity + (body - 1) * if self.planar { 3 } else { 6 } + k
    }

    /// The frame of a body.
    pub fn frame(&mut self, graph: &mut Graph, body: usize) -> NodeFrame {
        if let Some(frame) = self.made.get(&body) {
            return *frame;
        }
        let frame = self.make(graph, body);
        self.made.insert(body, frame);
        frame
    }

    fn make(&self, graph: &mut Graph, body: usize) -> NodeFrame {
        let (zero, one) = (graph.constant(0.0), graph.constant(1.0));
        let unit = [[one, zero, zero], [zero, one, zero], [zero, zero, one]];
        if body == 0 {
            return NodeFrame { centre: [zero; 3], axes: unit };
        }
        let mut input = |k: usize| graph.input(self.position(body, k));
        if self.planar {
            let (centre, angle) = ([input(0), input(1), zero], input(2));
            let (s, c) = (graph.unary(Unary::Sin, angle), graph.unary(Unary::Cos, angle));
            let back = graph.negate(s);
            return NodeFrame { centre, axes: [[c, s, zero], [back, c, zero], unit[2]] };
        }
        let centre = [input(0), input(1), input(2)];
        let p = [input(3), input(4), input(5), input(6)];
        NodeFrame { centre, axes: columns(graph, p) }
    }

    /// Velocity of the mass centre and angular velocity of a body, in axes of the space.
    pub fn motion(&mut self, graph: &mut Graph, body: usize) -> [Nodes; 2] {
        let zero = graph.constant(0.0);
        if body == 0 {
            return [[zero; 3]; 2];
        }
        let input = |graph: &mut Graph, k: usize| graph.input(self.rate(body, k));
        if self.planar {
            let v = [input(graph, 0), input(graph, 1), zero];
            return [v, [zero, zero, input(graph, 2)]];
        }
        let v = [input(graph, 0), input(graph, 1), input(graph, 2)];
        let spin = [input(graph, 3), input(graph, 4), input(graph, 5)];
        let frame = self.frame(graph, body);
        [v, frame.turn(graph, spin)]
    }
}

/// The columns of the rotation of a unit quaternion.
fn columns(graph: &mut Graph, [w, x, y, z]: [NodeId; 4]) -> [Nodes; 3] {
    let two = graph.constant(2.0);
    let one = graph.constant(1.0);
    let mut product = |a: NodeId, b: NodeId| {
        let ab = graph.multiply(a, b);
        graph.multiply(two, ab)
    };
    let (xx, yy, zz) = (product(x, x), product(y, y), product(z, z));
    let (xy, xz, yz) = (product(x, y), product(x, z), product(y, z));
    let (wx, wy, wz) = (product(w, x), product(w, y), product(w, z));
    let mut diagonal = |a: NodeId, b: NodeId| {
        let sum = graph.add(a, b);
        graph.subtract(one, sum)
    };
    let (d0, d1, d2) = (diagonal(yy, zz), diagonal(xx, zz), diagonal(xx, yy));
    [
        [d0, graph.add(xy, wz), graph.subtract(xz, wy)],
        [graph.subtract(xy, wz), d1, graph.add(yz, wx)],
        [graph.add(xz, wy), graph.subtract(yz, wx), d2],
    ]
}

/// Nodes with their rates, as numbers of formulas that the library has written.
pub(super) struct Rated<'a>(pub RefCell<&'a mut Graph>);

impl Rated<'_> {
    fn with<T>(&self, then: impl FnOnce(&mut Graph) -> T) -> T {
        then(&mut self.0.borrow_mut())
    }
}

impl Numbers for Rated<'_> {
    type N = [NodeId; 2];

    fn constant(&self, x: f64) -> [NodeId; 2] {
        self.with(|g| [g.constant(x), g.constant(0.0)])
    }

    fn add(&self, [a, da]: [NodeId; 2], [b, db]: [NodeId; 2]) -> [NodeId; 2] {
        self.with(|g| [g.add(a, b), g.add(da, db)])
    }

    fn subtract(&self, [a, da]: [NodeId; 2], [b, db]: [NodeId; 2]) -> [NodeId; 2] {
        self.with(|g| [g.subtract(a, b), g.subtract(da, db)])
    }

    fn multiply(&self, [a, da]: [NodeId; 2], [b, db]: [NodeId; 2]) -> [NodeId; 2] {
        self.with(|g| {
            let (left, right) = (g.multiply(da, b), g.multiply(a, db));
            [g.multiply(a, b), g.add(left, right)]
        })
    }

    fn divide(&self, [a, da]: [NodeId; 2], [b, db]: [NodeId; 2]) -> [NodeId; 2] {
        self.with(|g| {
            let ratio = g.divide(a, b);
            let part = g.multiply(ratio, db);
            let rest = g.subtract(da, part);
            [ratio, g.divide(rest, b)]
        })
    }

    fn root(&self, [a, da]: [NodeId; 2]) -> [NodeId; 2] {
        self.with(|g| {
            let least = g.constant(Self::LEAST);
            let bounded = g.call(Function::Maximum, &[a, least]);
            let root = g.unary(Unary::Sqrt, bounded);
            let twice = g.add(root, root);
            [root, g.divide(da, twice)]
        })
    }

    fn sine_cosine(&self, [a, da]: [NodeId; 2]) -> [[NodeId; 2]; 2] {
        self.with(|g| {
            let (s, c) = (g.unary(Unary::Sin, a), g.unary(Unary::Cos, a));
            let (rising, falling) = (g.multiply(c, da), g.multiply(s, da));
            [[s, rising], [c, g.negate(falling)]]
        })
    }

    fn angle(&self, [y, dy]: [NodeId; 2], [x, dx]: [NodeId; 2]) -> [NodeId; 2] {
        self.with(|g| {
            let (left, right) = (g.multiply(x, dy), g.multiply(y, dx));
            let (xx, yy) = (g.multiply(x, x), g.multiply(y, y));
            let (turn, square) = (g.subtract(left, right), g.add(xx, yy));
            [angle(g, y, x), g.divide(turn, square)]
        })
    }
}

/// atan2(y, x)
pub(super) fn angle(graph: &mut Graph, y: NodeId, x: NodeId) -> NodeId {
    graph.call(Function::Atan2, &[y, x])
}
