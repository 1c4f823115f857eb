//! A polygon or a polyhedron on a plane: one place for each of its corners.
//!
//! ```text
//!     gap_k = n·(corner_k − o)                                                                                    (1)
//! ```

use super::sphere_plane::touch_plane;
use super::{Convex, Pair, Plane, Shape, Sphere, Touch};
use crate::model::Scalar;
use crate::multibody::Frame;

/// Corners up to which all of them are listed always.
const FEW: usize = 8;

/// Plane on body a, polygon or polyhedron on body b.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexPlane {
    /// On body a.
    pub plane: Plane,
    /// On body b.
    pub convex: Convex,
}

impl Pair for ConvexPlane {
    fn places(&self) -> usize {
        self.convex.hull.corners().len()
    }

    fn touch<T: Scalar>(&self, place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        touch_plane(&self.plane, Sphere::point(self.convex.corner(place)), frames)
    }

    fn reach(&self) -> f64 {
        Shape::Convex(self.convex.clone()).reach()
    }

    fn comes_and_goes(&self) -> bool {
        self.places() > FEW
    }
}
