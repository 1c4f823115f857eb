//! A sphere, a disc or a point against a polygon or a polyhedron.
//!
//! ```text
//!     over a face:  gap = n·(c − p) − R;    beside all faces:  gap = |c − closest point of an edge| − R
//!     inside:       the face of least depth, the first of equal ones                                              (1)
//! ```

use super::geometry::offset;
use super::hull::{dot, minus};
use super::shape::Triple;
use super::sphere_plane::touch_plane;
use super::sphere_segment::touch_round;
use super::{Convex, Pair, Segment, Sphere, Touch};
use crate::model::Scalar;
use crate::multibody::Frame;

/// Polygon or polyhedron on body a, sphere on body b.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexSphere {
    /// On body a.
    pub convex: Convex,
    /// On body b.
    pub sphere: Sphere,
}

impl Pair for ConvexSphere {
    fn places(&self) -> usize {
        1
    }

    fn touch<T: Scalar>(&self, _place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        touch_convex(&self.convex, self.sphere, frames)
    }
}

/// What of a shape is closest to a point.
enum Closest {
    Face(usize),
    Edge(usize),
}

/// The closest face or edge to a point in axes of the hull.
fn closest(convex: &Convex, point: Triple) -> Closest {
    let hull = &convex.hull;
    let height = |k: usize| dot(hull.faces()[k].normal, minus(point, hull.corners()[hull.faces()[k].corner]));
    let (mut highest, mut most) = (0, f64::NEG_INFINITY);
    for k in 0..hull.faces().len() {
        let height = height(k);
        if height > 0.0 && hull.over(k, point) >= 0.0 {
            return Closest::Face(k);
        }
        if height > most {
            (highest, most) = (k, height);
        }
    }
    if most <= 0.0 {
        return Closest::Face(highest);
    }
    let far = |k: usize| {
        let edge = &hull.edges()[k];
        let r = minus(point, edge.at);
        let along = dot(r, edge.direction).clamp(-edge.half, edge.half);
        let off: Triple = std::array::from_fn(|i| r[i] - along * edge.direction[i]);
        dot(off, off)
    };
    let nearer = |(best, least): (usize, f64), k: usize| if far(k) < least { (k, far(k)) } else { (best, least) };
    Closest::Edge((0..hull.edges().len()).fold((0, f64::INFINITY), nearer).0)
}

/// The polygon or polyhedron on body a and a sphere or a point on body b.
pub(super) fn touch_convex<T: Scalar>(convex: &Convex, sphere: Sphere, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
    let point = frames.0.body_direction(offset(frames, convex.centre, sphere.centre)).values().0;
    match closest(convex, point) {
        Closest::Face(face) => touch_plane(&convex.face(face), sphere, frames),
        Closest::Edge(edge) => {
            let edge = &convex.hull.edges()[edge];
            let end =
                |way: f64| convex.placed(std::array::from_fn(|i| edge.at[i] + way * edge.half * edge.direction[i]));
            touch_round(&Segment { ends: [end(-1.0), end(1.0)] }, 0.0, sphere, frames)
        }
    }
}
