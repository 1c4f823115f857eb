//! What a joint is laid in: its points and axes in both bodies.

use super::{Chain, Coordinate, Laid, Primitive};
use std::sync::Arc;

/// Points and axes of a joint, in axes of body a and of body b.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Whether bodies move in the plane z = 0.
    pub is_planar: bool,
    /// The point of a and that of b.
    pub points: [[f64; 3]; 2],
    /// (u, w, d) of a and of b: orthonormal and right-handed; d is the axis, u the second one where there is one.
    pub axes: [[[f64; 3]; 3]; 2],
    /// Length of a distance joint [m].
    pub length: f64,
    /// Way along the axis per turn of a screw [m].
    pub lead: f64,
    /// The links of a chain.
    pub chain: Option<Arc<Chain>>,
}

impl Setting {
    /// d_a · (b − a) = 0 for axis number `axis` of a.
    pub fn point(&self, axis: usize) -> Primitive {
        Primitive::Point { direction: self.axes[0][axis], a: self.points[0], b: self.points[1] }
    }

    /// Axis number `of_a` of a stays perpendicular to number `of_b` of b.
    pub fn perpendicular(&self, of_a: usize, of_b: usize) -> Primitive {
        Primitive::Direction { a: self.axes[0][of_a], b: self.axes[1][of_b] }
    }

    /// The bodies share the point: three rows.
    pub fn share_point(&self, out: &mut Laid) {
        out.rows.extend([("u", self.point(0)), ("w", self.point(1)), ("axial", self.point(2))]);
    }

    /// The axes stay parallel: two rows.
    pub fn share_direction(&self, out: &mut Laid) {
        out.rows.extend([("tilt-u", self.perpendicular(0, 2)), ("tilt-w", self.perpendicular(1, 2))]);
        out.aligned.push((self.axes[0][2], self.axes[1][2]));
    }

    /// The angle of b beside a about the axis.
    pub fn angle(&self) -> Coordinate {
        Coordinate::Angle { axes: self.axes[0], mark: self.axes[1][0], is_in_b: false }
    }

    /// The way of b along axis number `axis` of a.
    pub fn along(&self, axis: usize) -> Coordinate {
        Coordinate::Along { direction: self.axes[0][axis], a: self.points[0], b: self.points[1] }
    }
}
