//! An ellipsoid against what has faces.
//!
//! ```text
//!     over a face:  gap = that of the ellipsoid and the plane of the face;
//!     beside:       gap = min over points of edges of their distance from the ellipsoid, negative inside           (1)
//! ```
//!
//! Both are one smooth function where the ellipsoid rolls from a face over an edge, also where the shapes are a little
//! in each other. The least distance of points of the ellipsoid from the other shape is not: inside of an edge it has a
//! kink, where the nearest face is another one.

use super::bulk::Bulk;
use super::geometry::tangent;
use super::lowest::{Carrier, value};
use super::{Ellipsoid, EllipsoidPlane, Faceted, Pair, Touch};
use crate::model::Scalar;
use crate::multibody::Frame;

/// The nearest part of what has faces.
enum Part {
    Face(usize),
    Edge(usize),
}

/// A face over which the lowest point of the ellipsoid is, or the edge that is nearest.
fn nearest(faceted: &Faceted, ellipsoid: Ellipsoid, frames: (&Frame, &Frame)) -> Part {
    let lowest = |face: usize| EllipsoidPlane { plane: faceted.face(face), ellipsoid }.touch(0, frames);
    let (mut face, mut highest) = (0, lowest(0));
    for other in 1..faceted.faces() {
        let touch = lowest(other);
        if touch.gap > highest.gap {
            (face, highest) = (other, touch);
        }
    }
    if faceted.over(face, frames.0.body_point(highest.on_b).0) >= 0.0 {
        return Part::Face(face);
    }
    // farther ones by balls around are not looked at
    let size = ellipsoid.half.into_iter().fold(0.0, f64::max);
    let centre = frames.0.body_point(frames.1.point(ellipsoid.centre)).0;
    let (mut best, mut least) = (0, f64::INFINITY);
    for k in 0..faceted.edges() {
        let edge = faceted.edge(k);
        let r: [f64; 3] = std::array::from_fn(|i| centre[i] - edge.at[i]);
        let along = (0..3).map(|i| r[i] * edge.direction[i]).sum::<f64>().clamp(-edge.half, edge.half);
        let far = (0..3).map(|i| (r[i] - along * edge.direction[i]).powi(2)).sum::<f64>().sqrt();
        if far - size > least {
            continue;
        }
        let gap = edge_of(faceted, k).touch(&Bulk::Ellipsoid(ellipsoid), (frames.1, frames.0)).gap;
        if gap < least {
            (best, least) = (k, gap);
        }
    }
    Part::Edge(best)
}

fn edge_of(faceted: &Faceted, k: usize) -> Carrier {
    let edge = faceted.edge(k);
    Carrier::Line { at: edge.at, direction: edge.direction, half: edge.half, radius: 0.0, has_ends: true }
}

/// What has faces on body a, the ellipsoid on body b.
pub(super) fn touch_faceted<T: Scalar>(
    faceted: &Faceted,
    ellipsoid: Ellipsoid,
    frames: (&Frame<T>, &Frame<T>),
) -> Touch<T> {
    let touch = match nearest(faceted, ellipsoid, (&value(frames.0), &value(frames.1))) {
        Part::Face(face) => EllipsoidPlane { plane: faceted.face(face), ellipsoid }.touch(0, frames),
        Part::Edge(k) => edge_of(faceted, k).touch(&Bulk::Ellipsoid(ellipsoid), (frames.1, frames.0)).exchanged(),
    };
    // one choice for both
    Touch { tangent: tangent(touch.normal), ..touch }
}
