//! Solid shapes by the distance of points from them, and by the points, lines and circles that they are bounded by.

use super::convex_sphere::touch_convex;
use super::geometry::{span, tangent_of};
use super::hull::Edge;
use super::lowest::Carrier;
use super::shape::Triple;
use super::sphere_block::touch_block;
use super::{
    Capsule, CapsuleSphere, Cylinder, Ellipsoid, EllipsoidSphere, Faceted, Pair, Shape, Sphere, SphereCylinder, Torus,
    TorusSphere, Touch,
};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};
use std::f64::consts::TAU;

/// Parts of a circle with a place each.
pub(super) const SECTORS: usize = 8;

/// Part of a sector by which it reaches over to its neighbours; a search goes twice as far.
pub(super) const OVERLAP: f64 = 0.05;

/// Points of a circle that are fixed in the body, for a circle that lies flat.
const FIXED: usize = 3;

/// A solid shape of space.
#[derive(Clone, Debug, PartialEq)]
pub enum Bulk {
    /// A box or a polyhedron.
    Faceted(Faceted),
    /// A cylinder.
    Cylinder(Cylinder),
    /// A line with round ends.
    Capsule(Capsule),
    /// An ellipsoid.
    Ellipsoid(Ellipsoid),
    /// A ring with a round section.
    Torus(Torus),
}

impl Bulk {
    /// Of a shape that is one.
    pub fn of(shape: &Shape) -> Option<Bulk> {
        Some(match shape {
            Shape::Block(_) | Shape::Convex(_) => Bulk::Faceted(Faceted::of(shape).filter(|f| !f.is_planar())?),
            Shape::Cylinder(cylinder) => Bulk::Cylinder(*cylinder),
            Shape::Capsule(capsule) => Bulk::Capsule(*capsule),
            Shape::Ellipsoid(ellipsoid) => Bulk::Ellipsoid(*ellipsoid),
            Shape::Torus(torus) => Bulk::Torus(*torus),
            _ => return None,
        })
    }

    /// Whether these two, in this order, touch by this pair: one of them is a cylinder, an ellipsoid or a torus. Thin
    /// discs have no inside: they touch what is round.
    pub(super) fn make_pair(first: &Bulk, second: &Bulk) -> bool {
        let is_thin = |shape: &Bulk| matches!(shape, Bulk::Cylinder(cylinder) if cylinder.half == 0.0);
        let is_round = |shape: &Bulk| matches!(shape, Bulk::Capsule(_) | Bulk::Torus(_));
        let is_curved = |shape: &Bulk| !matches!(shape, Bulk::Faceted(_) | Bulk::Capsule(_));
        let rank = |shape: &Bulk| match shape {
            Bulk::Faceted(_) => 0,
            Bulk::Cylinder(_) => 1,
            Bulk::Capsule(_) => 2,
            Bulk::Ellipsoid(_) => 3,
            Bulk::Torus(_) => 4,
        };
        let thin_meets_round = |one: &Bulk, other: &Bulk| !is_thin(one) || is_round(other);
        (is_curved(first) || is_curved(second))
            && rank(first) <= rank(second)
            && thin_meets_round(first, second)
            && thin_meets_round(second, first)
    }

    /// The largest distance of its points from the mass centre [m].
    pub fn reach(&self) -> f64 {
        match self {
            Bulk::Faceted(faceted) => faceted.reach(),
            Bulk::Cylinder(cylinder) => Shape::Cylinder(*cylinder).reach(),
            Bulk::Capsule(capsule) => Shape::Capsule(*capsule).reach(),
            Bulk::Ellipsoid(ellipsoid) => Shape::Ellipsoid(*ellipsoid).reach(),
            Bulk::Torus(torus) => Shape::Torus(*torus).reach(),
        }
    }

    /// A point of space against the shape: its distance, negative inside.
    pub(super) fn distance<T: Scalar>(&self, of: &Frame<T>, point: Vector<T>) -> Touch<T> {
        let at = Frame { centre: point, ..Frame::ground() };
        let (frames, sphere) = ((of, &at), Sphere::point([0.0; 3]));
        match self {
            Bulk::Faceted(Faceted::Block(block)) => touch_block(block, sphere, frames),
            Bulk::Faceted(Faceted::Convex(convex)) => touch_convex(convex, sphere, frames),
            Bulk::Cylinder(cylinder) => SphereCylinder { cylinder: *cylinder, sphere }.touch(0, frames),
            Bulk::Capsule(capsule) => CapsuleSphere { capsule: *capsule, sphere }.touch(0, frames),
            Bulk::Ellipsoid(ellipsoid) => EllipsoidSphere { ellipsoid: *ellipsoid, sphere }.touch(0, frames),
            Bulk::Torus(torus) => TorusSphere { torus: *torus, sphere }.touch(0, frames),
        }
    }

    /// Number of carriers against another shape.
    pub(super) fn carriers(&self, other: &Bulk, is_first: bool) -> usize {
        match (self, other) {
            (Bulk::Faceted(faceted), Bulk::Cylinder(_)) => faceted.corners() + faceted.edges(),
            (Bulk::Faceted(faceted), Bulk::Torus(_)) => 2 * faceted.edges(),
            (Bulk::Cylinder(c), _) if c.half == 0.0 => 0,
            (Bulk::Cylinder(_), Bulk::Faceted(_)) => 2 * (SECTORS + FIXED),
            (Bulk::Cylinder(_), Bulk::Cylinder(_)) => 2 * (SECTORS + FIXED) + usize::from(is_first),
            (Bulk::Cylinder(_), Bulk::Capsule(_) | Bulk::Torus(_)) => 2 * SECTORS,
            (Bulk::Capsule(_), Bulk::Cylinder(_)) => 3,
            (Bulk::Capsule(_), Bulk::Ellipsoid(_)) => 1,
            (Bulk::Ellipsoid(_), Bulk::Faceted(_) | Bulk::Cylinder(_)) => 1,
            (Bulk::Ellipsoid(_), Bulk::Ellipsoid(_)) => usize::from(is_first),
            (Bulk::Torus(_), Bulk::Faceted(_) | Bulk::Cylinder(_)) => SECTORS + FIXED,
            (Bulk::Torus(_), Bulk::Torus(_)) if is_first => SECTORS + FIXED,
            (Bulk::Torus(_), Bulk::Torus(_)) => FIXED,
            (Bulk::Torus(_), _) => SECTORS,
            _ => 0,
        }
    }

    /// A carrier against another shape.
    pub(super) fn carrier(&self, k: usize, other: &Bulk, is_first: bool) -> Carrier {
        match (self, other) {
            (Bulk::Faceted(faceted), Bulk::Torus(_)) => {
                let Edge { at, direction, half, .. } = faceted.edge(k / 2);
                Carrier::Half { at, direction, half, ahead: k.is_multiple_of(2) }
            }
            (Bulk::Faceted(faceted), _) => match k.checked_sub(faceted.corners()) {
                None => Carrier::Point { at: faceted.corner(k), flat: None, radius: 0.0 },
                Some(edge) => {
                    let Edge { at, direction, half, .. } = faceted.edge(edge);
                    Carrier::Line { at, direction, half, radius: 0.0, has_ends: false }
                }
            },
            (Bulk::Cylinder(cylinder), _) => match k {
                k if k < 2 * SECTORS => arc(&cylinder.disc(k / SECTORS), 0.0, k % SECTORS),
                k if k < 2 * (SECTORS + FIXED) => {
                    let k = k - 2 * SECTORS;
                    fixed(&cylinder.disc(k / FIXED), 0.0, k % FIXED)
                }
                _ => {
                    let Cylinder { centre: at, axis: direction, half, radius } = *cylinder;
                    Carrier::Line { at, direction, half, radius, has_ends: false }
                }
            },
            (Bulk::Capsule(capsule), other) => {
                let (direction, length) = span(capsule.ends);
                let [p, q] = capsule.ends;
                let at: Triple = std::array::from_fn(|i| 0.5 * (p[i] + q[i]));
                let has_ends = matches!(other, Bulk::Ellipsoid(_));
                match k {
                    0 => Carrier::Line { at, direction, half: 0.5 * length, radius: capsule.radius, has_ends },
                    k => Carrier::Point { at: capsule.ends[k % 2], flat: None, radius: capsule.radius },
                }
            }
            (Bulk::Ellipsoid(ellipsoid), _) => Carrier::Surface(*ellipsoid),
            (Bulk::Torus(torus), other) => {
                let skipped = if matches!(other, Bulk::Torus(_)) && !is_first { SECTORS } else { 0 };
                match (k + skipped).checked_sub(SECTORS) {
                    None => arc(&torus.disc(), torus.tube, k),
                    Some(k) => fixed(&torus.disc(), torus.tube, k),
                }
            }
        }
    }
}

/// Two unit vectors in the plane of a circle.
pub(super) fn circle_axes(axis: Triple) -> [Triple; 2] {
    let e = tangent_of(axis);
    [e, Vector::<f64>(axis).cross(Vector(e)).0]
}

/// A sector of the rim of a disc.
fn arc(disc: &Cylinder, radius: f64, sector: usize) -> Carrier {
    let width = TAU / SECTORS as f64;
    let low = width * sector as f64;
    let over = 2.0 * OVERLAP * width;
    let range = [low - over, low + width + over];
    Carrier::Arc { centre: disc.centre, axes: circle_axes(disc.axis), circle: disc.radius, range, radius }
}

/// A fixed point of the rim of a disc.
fn fixed(disc: &Cylinder, radius: f64, point: usize) -> Carrier {
    let [e, f] = circle_axes(disc.axis);
    let root = 0.75f64.sqrt();
    let [c, s] = [[1.0, 0.0], [-0.5, root], [-0.5, -root]][point % FIXED];
    let at = std::array::from_fn(|i| disc.centre[i] + disc.radius * (c * e[i] + s * f[i]));
    Carrier::Point { at, flat: Some(disc.axis), radius }
}
