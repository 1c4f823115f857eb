//! Where two shapes are closest: gap, normal and the two points, exact to rounding and written over any scalar.
//!
//! A pair is one file and one row of [`AnyPair`]. It tells a fixed number of places, features of the two shapes that
//! may touch; the place is the identity of a contact. The first shape is on body a, the second one on body b.
//!
//! ```text
//!     normal n from a to b,    u = velocity of b's own closest point − velocity of a's,    n·u = gap'              (1)
//! ```
//!
//! (1) holds because each closest point moves on its shape along the tangent plane. Derivatives of any order are those
//! of the same formulas over dual numbers.

use super::{Frame, Line, Vector};
use crate::model::Scalar;

pub(crate) mod any;
mod ball_socket;
mod block_block;
mod block_plane;
mod block_segment;
mod bulk;
mod bulk_bulk;
mod capsule_capsule;
mod capsule_faceted;
mod capsule_plane;
mod capsule_sphere;
mod convex_convex;
mod convex_plane;
mod convex_segment;
mod convex_sphere;
mod corner_wall;
mod curve_sphere;
mod cylinder_plane;
mod cylinder_strip;
mod ellipsoid_faceted;
mod ellipsoid_plane;
mod ellipsoid_sphere;
mod faceted;
pub(crate) mod geometry;
pub mod hull;
mod lowest;
mod pin_hole;
mod rim_crossing;
mod rims_bore;
mod ring_sphere;
pub mod shape;
mod sphere_block;
mod sphere_cylinder;
mod sphere_plane;
mod sphere_segment;
mod sphere_slot;
mod sphere_sphere;
mod sphere_strip;
pub mod spline;
mod torus_plane;
mod torus_sphere;

pub use any::{AnyPair, PairError, between};
pub use ball_socket::BallSocket;
pub use block_block::BlockBlock;
pub use block_plane::BlockPlane;
pub use block_segment::BlockSegment;
pub use bulk::Bulk;
pub use bulk_bulk::BulkBulk;
pub use capsule_capsule::CapsuleCapsule;
pub use capsule_faceted::CapsuleFaceted;
pub use capsule_plane::CapsulePlane;
pub use capsule_sphere::CapsuleSphere;
pub use convex_convex::ConvexConvex;
pub use convex_plane::ConvexPlane;
pub use convex_segment::ConvexSegment;
pub use convex_sphere::ConvexSphere;
pub use corner_wall::CornerWall;
pub use curve_sphere::CurveSphere;
pub use cylinder_plane::CylinderPlane;
pub use cylinder_strip::CylinderStrip;
pub use ellipsoid_plane::EllipsoidPlane;
pub use ellipsoid_sphere::EllipsoidSphere;
pub use faceted::Faceted;
pub use hull::{Hull, HullError};
pub use pin_hole::PinHole;
pub use rims_bore::{Rim, RimsBore};
pub use ring_sphere::{RingSphere, Side};
pub use shape::{
    Block, Bore, Capsule, Convex, Curve, Cylinder, Ellipsoid, Plane, Ring, Segment, Shape, ShapeError, Slot, Socket,
    Sphere, Strip, Torus,
};
pub use sphere_block::SphereBlock;
pub use sphere_cylinder::SphereCylinder;
pub use sphere_plane::SpherePlane;
pub use sphere_segment::SphereSegment;
pub use sphere_slot::SphereSlot;
pub use sphere_sphere::SphereSphere;
pub use sphere_strip::SphereStrip;
pub use spline::{Spline, SplineError};
pub use torus_plane::TorusPlane;
pub use torus_sphere::TorusSphere;

/// One place where two bodies may touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch<T = f64> {
    /// Distance, not negative where they are apart [m].
    pub gap: T,
    /// Unit normal from body a to body b.
    pub normal: Vector<T>,
    /// Closest point of body a.
    pub on_a: Vector<T>,
    /// Closest point of body b.
    pub on_b: Vector<T>,
    /// First tangent, a unit vector; the second one is normal × first. In the plane it lies in the plane.
    pub tangent: Vector<T>,
}

impl<T: Scalar> Touch<T> {
    /// Lines of one row, of body a and of body b: u = d · (velocity of b's point − velocity of a's point). With the
    /// normal it is the rate of the gap.
    #[inline]
    pub fn lines(&self, (a, b): (&Frame<T>, &Frame<T>), d: Vector<T>) -> [Line<T>; 2] {
        [Line::through(a, self.on_a, d).reversed(), Line::through(b, self.on_b, d)]
    }

    /// The same place, seen from body b.
    pub fn exchanged(self) -> Self {
        Touch { normal: -self.normal, on_a: self.on_b, on_b: self.on_a, ..self }
    }
}

/// A pair of shapes, one on each body.
pub trait Pair: Send + Sync {
    /// Number of places.
    fn places(&self) -> usize;

    /// The place with this number.
    fn touch<T: Scalar>(&self, place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T>;

    /// Numbers of the features of both shapes that may touch there.
    fn features(&self, place: usize) -> [u32; 2] {
        [0, u32::try_from(place).unwrap_or(u32::MAX)]
    }

    /// Not negative where the place counts; where it is negative another place of the pair tells the same contact.
    fn region(&self, _place: usize, _frames: (&Frame, &Frame)) -> f64 {
        f64::INFINITY
    }

    /// The largest distance of points of either shape from the mass centre of its body, where places come and go [m].
    fn reach(&self) -> f64 {
        0.0
    }

    /// Whether there are so many places that only those near contact are listed.
    fn comes_and_goes(&self) -> bool {
        false
    }

    /// The distance of the shapes, or less where they are apart, and its direction from a to b: it vanishes where they
    /// touch.
    fn apart(&self, frames: (&Frame, &Frame)) -> (f64, Vector) {
        let mut least = (f64::INFINITY, Vector::zero());
        for place in (0..self.places()).filter(|place| self.region(*place, frames) >= 0.0) {
            let Touch { gap, normal, .. } = self.touch(place, frames);
            if gap < least.0 {
                least = (gap, normal);
            }
        }
        least
    }

    /// Appends the places that may touch before the shapes have come nearer by `margin`.
    fn near(&self, frames: (&Frame, &Frame), margin: f64, out: &mut Vec<u32>) {
        for place in 0..self.places() {
            let far = self.comes_and_goes() && self.region(place, frames) < -margin;
            if !far && self.touch(place, frames).gap <= margin {
                out.push(u32::try_from(place).unwrap_or(u32::MAX));
            }
        }
    }
}
