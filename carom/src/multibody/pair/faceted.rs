//! What has plane faces: boxes and convex shapes, in the plane with sides as faces.

use super::hull::{Edge, dot, minus};
use super::shape::Triple;
use super::{Block, Convex, Plane, Shape};

/// A box, a rectangle, a polygon or a polyhedron.
#[derive(Clone, Debug, PartialEq)]
pub enum Faceted {
    /// A box or a rectangle.
    Block(Block),
    /// A polygon or a polyhedron.
    Convex(Convex),
}

impl Faceted {
    /// Of a shape that is one.
    pub fn of(shape: &Shape) -> Option<Faceted> {
        match shape {
            Shape::Block(block) => Some(Faceted::Block(*block)),
            Shape::Convex(convex) => Some(Faceted::Convex(convex.clone())),
            _ => None,
        }
    }

    /// Whether it lies in the plane.
    pub fn is_planar(&self) -> bool {
        match self {
            Faceted::Block(block) => block.is_planar(),
            Faceted::Convex(convex) => convex.hull.is_planar(),
        }
    }

    /// Number of corners.
    pub fn corners(&self) -> usize {
        match self {
            Faceted::Block(block) => block.corners(),
            Faceted::Convex(convex) => convex.hull.corners().len(),
        }
    }

    /// A corner.
    pub fn corner(&self, corner: usize) -> Triple {
        match self {
            Faceted::Block(block) => block.corner(corner),
            Faceted::Convex(convex) => convex.corner(corner),
        }
    }

    /// Number of faces.
    pub fn faces(&self) -> usize {
        match self {
            Faceted::Block(block) if block.is_planar() => 4,
            Faceted::Block(_) => 6,
            Faceted::Convex(convex) => convex.hull.faces().len(),
        }
    }

    /// A face as a half space.
    pub fn face(&self, face: usize) -> Plane {
        match self {
            Faceted::Block(block) => Plane { point: block.face(face), normal: block.face_normal(face) },
            Faceted::Convex(convex) => convex.face(face),
        }
    }

    /// Number of edges; none in the plane.
    pub fn edges(&self) -> usize {
        match self {
            _ if self.is_planar() => 0,
            Faceted::Block(_) => 12,
            Faceted::Convex(convex) => convex.hull.edges().len(),
        }
    }

    /// An edge.
    pub fn edge(&self, edge: usize) -> Edge {
        match self {
            Faceted::Block(block) => {
                let (at, axis) = block.edge(edge);
                let into = |k: usize| block.axes[k].map(|x| -x * block.edge_side(edge, k));
                let inward = [into((axis + 1) % 3), into((axis + 2) % 3)];
                Edge { at, direction: block.axes[axis], half: block.half[axis], inward }
            }
            Faceted::Convex(convex) => {
                let edge = convex.hull.edges()[edge];
                Edge { at: convex.placed(edge.at), ..edge }
            }
        }
    }

    /// Centre and radius of a ball around it.
    pub fn ball(&self) -> (Triple, f64) {
        match self {
            Faceted::Block(block) => (block.centre, dot(block.half, block.half).sqrt()),
            Faceted::Convex(convex) => (convex.placed(convex.hull.ball().0), convex.hull.ball().1),
        }
    }

    /// The largest distance of its points from the mass centre [m].
    pub fn reach(&self) -> f64 {
        (0..self.corners()).map(|k| self.corner(k)).map(|p| dot(p, p).sqrt()).fold(0.0, f64::max)
    }

    /// The least of d·x of its points.
    pub fn least(&self, d: Triple) -> f64 {
        match self {
            Faceted::Block(block) => {
                dot(block.centre, d) - (0..3).map(|i| block.half[i] * dot(block.axes[i], d).abs()).sum::<f64>()
            }
            Faceted::Convex(convex) => {
                let corners = convex.hull.corners().iter();
                dot(convex.centre, d) + corners.map(|p| dot(*p, d)).fold(f64::INFINITY, f64::min)
            }
        }
    }

    /// How far inside of a face the foot of a point is; negative also where the point is behind the whole shape.
    pub fn over(&self, face: usize, point: Triple) -> f64 {
        match self {
            Faceted::Block(block) => {
                let y = minus(point, block.centre);
                let n = if block.is_planar() { 2 } else { 3 };
                let inside = |i: usize| match i == face / 2 {
                    true => block.half[i] + dot(y, block.axes[i]) * Block::face_side(face),
                    false => block.half[i] - dot(y, block.axes[i]).abs(),
                };
                (0..n).map(inside).fold(f64::INFINITY, f64::min)
            }
            Faceted::Convex(convex) => convex.hull.over(face, minus(point, convex.centre)),
        }
    }
}
