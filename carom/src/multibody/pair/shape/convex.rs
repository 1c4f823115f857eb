//! Convex polygons and polyhedra as shapes.

use super::{Plane, Triple};
use crate::multibody::pair::hull::{Hull, HullError};
use std::sync::Arc;

/// A convex polygon of the plane, or a convex polyhedron.
#[derive(Clone, Debug, PartialEq)]
pub struct Convex {
    /// Where the origin of its points is.
    pub centre: Triple,
    /// Its corners, faces and edges, along the axes of the body.
    pub hull: Arc<Hull>,
}

impl Convex {
    /// The polygon with these corners, from the mass centre.
    pub fn polygon(points: &[[f64; 2]]) -> Result<Self, HullError> {
        Ok(Convex { centre: [0.0; 3], hull: Arc::new(Hull::polygon(points)?) })
    }

    /// The smallest polyhedron around points, from the mass centre.
    pub fn around(points: &[Triple]) -> Result<Self, HullError> {
        Ok(Convex { centre: [0.0; 3], hull: Arc::new(Hull::around(points)?) })
    }

    /// A corner.
    pub fn corner(&self, corner: usize) -> Triple {
        self.placed(self.hull.corners()[corner])
    }

    /// A face as a half space.
    pub fn face(&self, face: usize) -> Plane {
        let face = &self.hull.faces()[face];
        Plane { point: self.corner(face.corner), normal: face.normal }
    }

    /// A point of the hull in axes of the body.
    pub fn placed(&self, p: Triple) -> Triple {
        std::array::from_fn(|i| self.centre[i] + p[i])
    }
}
