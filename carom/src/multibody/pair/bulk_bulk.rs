//! Solid shapes that have no pair of their own: cylinders, ellipsoids and tori with boxes, polyhedra, capsules and each
//! other.
//!
//! ```text
//!     points x(p) of one shape, d(x) the distance from the other one, negative inside:   gap = min d(x(p)) − r     (1)
//! ```
//!
//! (1) of corners, edges, rims, axes and ellipsoids of one shape against the other one, each a place. It holds of
//! shapes that do not overlap, whatever else touches. A circle has a place for each eighth of it, where its distance
//! has a least value; three points of it that are fixed in the body count where it lies flat. Faces that lie on each
//! other touch where their outlines cross besides. Ellipsoids against faces and edges are in `ellipsoid_faceted`.

use super::bulk::Bulk;
use super::ellipsoid_faceted::touch_faceted;
use super::hull::Edge;
use super::lowest::Carrier;
use super::rim_crossing::{Outline, outlines_region, touch_outlines};
use super::{Cylinder, Pair, Touch};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Two solid shapes.
#[derive(Clone, Debug, PartialEq)]
pub struct BulkBulk {
    /// On body a.
    pub first: Bulk,
    /// On body b.
    pub second: Bulk,
}

/// What a place is.
enum Kind {
    /// Points of the first shape.
    First(Carrier),
    /// Points of the second shape.
    Second(Carrier),
    /// Two outlines, and whether it is their second crossing.
    Crossing(Outline, Cylinder, bool),
}

impl BulkBulk {
    fn carriers(&self) -> [usize; 2] {
        [self.first.carriers(&self.second, true), self.second.carriers(&self.first, false)]
    }

    fn crossings(&self) -> usize {
        match (&self.first, &self.second) {
            (Bulk::Faceted(faceted), Bulk::Cylinder(_)) => 4 * faceted.edges(),
            (Bulk::Cylinder(_), Bulk::Cylinder(_)) => 8,
            _ => 0,
        }
    }

    fn kind(&self, place: usize) -> Kind {
        let [first, second] = self.carriers();
        match place {
            k if k < first => Kind::First(self.first.carrier(k, &self.second, true)),
            k if k < first + second => Kind::Second(self.second.carrier(k - first, &self.first, false)),
            k => {
                let k = k - first - second;
                let outline = match &self.first {
                    Bulk::Faceted(faceted) => {
                        let Edge { at, direction, half, inward } = faceted.edge(k / 4);
                        Outline::Edge { at, direction, half, inward }
                    }
                    Bulk::Cylinder(cylinder) => Outline::Rim(cylinder.disc(k / 4)),
                    _ => Outline::Rim(self.rim(k / 4)),
                };
                Kind::Crossing(outline, self.rim(k / 2 % 2), k % 2 == 1)
            }
        }
    }

    /// How deep flat faces may be in each other.
    fn deep(&self) -> f64 {
        let half = |shape: &Bulk| match shape {
            Bulk::Cylinder(cylinder) => cylinder.half,
            _ => f64::INFINITY,
        };
        0.5 * half(&self.first).min(half(&self.second))
    }

    /// A rim of the second shape.
    fn rim(&self, rim: usize) -> Cylinder {
        match &self.second {
            Bulk::Cylinder(cylinder) => cylinder.disc(rim),
            _ => Cylinder { centre: [0.0; 3], axis: [0.0, 0.0, 1.0], radius: 1.0, half: 0.0 },
        }
    }
}

impl Pair for BulkBulk {
    fn places(&self) -> usize {
        let [first, second] = self.carriers();
        first + second + self.crossings()
    }

    fn touch<T: Scalar>(&self, place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        match self.kind(place) {
            Kind::First(carrier) => carrier.touch(&self.second, (frames.1, frames.0)).exchanged(),
            Kind::Second(carrier) => match (carrier, &self.first) {
                (Carrier::Surface(ellipsoid), Bulk::Faceted(faceted)) => touch_faceted(faceted, ellipsoid, frames),
                (carrier, first) => carrier.touch(first, frames),
            },
            Kind::Crossing(outline, rim, second) => touch_outlines((&outline, &rim), second, frames).0,
        }
    }

    fn region(&self, place: usize, frames: (&Frame, &Frame)) -> f64 {
        match self.kind(place) {
            Kind::First(carrier) => carrier.region(&self.second, (frames.1, frames.0)),
            Kind::Second(carrier) => carrier.region(&self.first, frames),
            Kind::Crossing(outline, rim, second) => outlines_region((&outline, &rim), second, self.deep(), frames),
        }
    }

    fn reach(&self) -> f64 {
        self.first.reach().max(self.second.reach())
    }

    fn comes_and_goes(&self) -> bool {
        true
    }

    fn apart(&self, frames: (&Frame, &Frame)) -> (f64, Vector) {
        // the nearest points are on one of the carriers, whether their place counts or not
        let [first, second] = self.carriers();
        let mut least = (f64::INFINITY, Vector::zero());
        for place in 0..first + second {
            let is_side =
                |carrier: &Carrier| matches!(carrier, Carrier::Line { has_ends: false, radius, .. } if *radius > 0.0);
            let counts = match self.kind(place) {
                Kind::First(c) | Kind::Second(c) => !is_side(&c) || self.region(place, frames) >= 0.0,
                Kind::Crossing(..) => false,
            };
            if counts {
                let Touch { gap, normal, .. } = self.touch(place, frames);
                if gap < least.0 {
                    least = (gap, normal);
                }
            }
        }
        least
    }

    fn near(&self, frames: (&Frame, &Frame), margin: f64, out: &mut Vec<u32>) {
        let back = (frames.1, frames.0);
        for place in 0..self.places() {
            let is_far = |carrier: &Carrier, solid: &Bulk, (of, on): (&Frame, &Frame)| {
                let (centre, radius) = carrier.ball();
                solid.distance(of, on.point(centre)).gap - radius > margin
            };
            let skipped = match self.kind(place) {
                Kind::First(carrier) => is_far(&carrier, &self.second, back),
                Kind::Second(carrier) => is_far(&carrier, &self.first, frames),
                Kind::Crossing(..) => false,
            };
            if !skipped && self.touch(place, frames).gap <= margin && self.region(place, frames) >= -margin {
                out.push(u32::try_from(place).unwrap_or(u32::MAX));
            }
        }
    }
}
