//! Any pair of shapes: one row for each of them.

use super::bulk::Bulk;
use super::shape::{Shape, ShapeError, Sphere};
use super::{
    BallSocket, BlockBlock, BlockPlane, BlockSegment, BulkBulk, CapsuleCapsule, CapsuleFaceted, CapsulePlane,
    CapsuleSphere, ConvexConvex, ConvexPlane, ConvexSegment, ConvexSphere, CornerWall, CurveSphere, CylinderPlane,
    CylinderStrip, EllipsoidPlane, EllipsoidSphere, Faceted, Pair, PinHole, Rim, RimsBore, RingSphere, SphereBlock,
    SphereCylinder, SpherePlane, SphereSegment, SphereSlot, SphereSphere, SphereStrip, TorusPlane, TorusSphere, Touch,
};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

macro_rules! pairs {
    ($($(#[$doc:meta])* $Pair:ident),* $(,)?) => {
        /// Any pair of shapes.
        #[derive(Clone, Debug, PartialEq)]
        pub enum AnyPair {
            $($(#[$doc])* $Pair($Pair),)*
        }

        impl Pair for AnyPair {
            fn places(&self) -> usize {
                match self { $(AnyPair::$Pair(pair) => pair.places(),)* }
            }

            #[inline]
            fn touch<T: Scalar>(&self, place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
                match self { $(AnyPair::$Pair(pair) => pair.touch(place, frames),)* }
            }

            fn features(&self, place: usize) -> [u32; 2] {
                match self { $(AnyPair::$Pair(pair) => pair.features(place),)* }
            }

            fn region(&self, place: usize, frames: (&Frame, &Frame)) -> f64 {
                match self { $(AnyPair::$Pair(pair) => pair.region(place, frames),)* }
            }

            fn reach(&self) -> f64 {
                match self { $(AnyPair::$Pair(pair) => pair.reach(),)* }
            }

            fn comes_and_goes(&self) -> bool {
                match self { $(AnyPair::$Pair(pair) => pair.comes_and_goes(),)* }
            }

            fn apart(&self, frames: (&Frame, &Frame)) -> (f64, Vector) {
                match self { $(AnyPair::$Pair(pair) => pair.apart(frames),)* }
            }

            fn near(&self, frames: (&Frame, &Frame), margin: f64, out: &mut Vec<u32>) {
                match self { $(AnyPair::$Pair(pair) => pair.near(frames, margin, out),)* }
            }
        }

        $(impl From<$Pair> for AnyPair {
            fn from(pair: $Pair) -> Self {
                AnyPair::$Pair(pair)
            }
        })*
    };
}

pairs! {
    /// A sphere, a disc or a point on a plane.
    SpherePlane,
    /// A sphere or a disc against an edge.
    SphereSegment,
    /// A sphere against an edge that is drawn out.
    SphereStrip,
    /// A sphere, a disc or a point against a box.
    SphereBlock,
    /// Two spheres or discs.
    SphereSphere,
    /// A sphere in a hollow sphere.
    BallSocket,
    /// A pin in a hole.
    PinHole,
    /// Both rims of a pin in a bore.
    RimsBore,
    /// A pin in a slot.
    SphereSlot,
    /// A sphere on its side of a ring.
    RingSphere,
    /// A roller or a point on a cam.
    CurveSphere,
    /// Corners of a box on a plane.
    BlockPlane,
    /// A rectangle against an edge.
    BlockSegment,
    /// Corners of a box in a guide.
    CornerWall,
    /// Rims of a cylinder on a plane.
    CylinderPlane,
    /// Rims of a cylinder against an edge that is drawn out.
    CylinderStrip,
    /// A sphere or a point against a solid cylinder.
    SphereCylinder,
    /// Two boxes.
    BlockBlock,
    /// Ends of a capsule on a plane.
    CapsulePlane,
    /// A sphere against a capsule.
    CapsuleSphere,
    /// Two capsules.
    CapsuleCapsule,
    /// A capsule against a box, a polygon or a polyhedron.
    CapsuleFaceted,
    /// An ellipsoid on a plane.
    EllipsoidPlane,
    /// A sphere against an ellipsoid.
    EllipsoidSphere,
    /// A torus on a plane.
    TorusPlane,
    /// A sphere against a torus.
    TorusSphere,
    /// Corners of a polygon or a polyhedron on a plane.
    ConvexPlane,
    /// A polygon against an edge.
    ConvexSegment,
    /// A sphere, a disc or a point against a polygon or a polyhedron.
    ConvexSphere,
    /// Two polygons or polyhedra; one of them may be a box.
    ConvexConvex,
    /// A cylinder, an ellipsoid or a torus against another solid shape.
    BulkBulk,
}

/// Two shapes that make no pair.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PairError {
    /// A shape makes no sense.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// There are no formulas for them.
    #[error("a {first} and a {second} make no pair of shapes")]
    None {
        /// The first shape.
        first: &'static str,
        /// The second shape.
        second: &'static str,
    },
    /// Both shapes have no inside: nothing tells a penetration.
    #[error("a {first} and a {second} have no thickness: nothing tells on which side they are; give one a radius")]
    Thin {
        /// The first shape.
        first: &'static str,
        /// The second shape.
        second: &'static str,
    },
    /// What is inside is larger than the hollow.
    #[error("the {inner} of radius {radius} does not fit into the {outer} of radius {hollow}")]
    Tight {
        /// The hollow shape.
        outer: &'static str,
        /// What should be in it.
        inner: &'static str,
        /// Radius of the hollow [m].
        hollow: f64,
        /// Radius of what should be in it [m].
        radius: f64,
    },
}

/// The pair of two shapes at their start, and whether the second shape is the one on body a: a caller then exchanges
/// the bodies. Sides of rings and edges are those of the start.
pub fn between(first: &Shape, second: &Shape, frames: (&Frame, &Frame)) -> Result<(AnyPair, bool), PairError> {
    let (first, second) = (first.clone().checked()?, second.clone().checked()?);
    if let Some(pair) = ordered(&first, &second, frames)? {
        return Ok((pair, false));
    }
    match ordered(&second, &first, (frames.1, frames.0))? {
        Some(pair) => Ok((pair, true)),
        None => Err(PairError::None { first: first.name(), second: second.name() }),
    }
}

/// The pair of two shapes that were checked before and whose places at the start do not matter; and whether the second
/// one is on body a.
pub(crate) fn solids(first: &Shape, second: &Shape, frames: (&Frame, &Frame)) -> Option<(AnyPair, bool)> {
    if let Ok(Some(pair)) = ordered(first, second, frames) {
        return Some((pair, false));
    }
    ordered(second, first, (frames.1, frames.0)).ok().flatten().map(|pair| (pair, true))
}

/// The pair with these shapes in this order, where there is one.
fn ordered(first: &Shape, second: &Shape, frames: (&Frame, &Frame)) -> Result<Option<AnyPair>, PairError> {
    let thick = |sphere: &Sphere| match sphere.radius {
        0.0 => Err(PairError::Thin { first: first.name(), second: second.name() }),
        _ => Ok(*sphere),
    };
    let fits = |hollow: f64, radius: f64| match radius < hollow {
        true => Ok(()),
        false => Err(PairError::Tight { outer: first.name(), inner: second.name(), hollow, radius }),
    };
    Ok(Some(match (first, second) {
        (&Shape::Plane(plane), &Shape::Sphere(sphere)) => SpherePlane { plane, sphere }.into(),
        (&Shape::Plane(plane), &Shape::Block(block)) => BlockPlane { plane, block }.into(),
        (&Shape::Plane(plane), &Shape::Cylinder(cylinder)) => CylinderPlane { plane, cylinder }.into(),
        (&Shape::Segment(segment), Shape::Sphere(sphere)) => SphereSegment { segment, sphere: thick(sphere)? }.into(),
        (&Shape::Segment(segment), &Shape::Block(block)) if block.is_planar() => {
            BlockSegment::new(segment, block, frames).into()
        }
        (&Shape::Strip(strip), Shape::Sphere(sphere)) => SphereStrip { strip, sphere: thick(sphere)? }.into(),
        (&Shape::Strip(strip), &Shape::Cylinder(cylinder)) => CylinderStrip { strip, cylinder }.into(),
        (&Shape::Block(block), &Shape::Sphere(sphere)) => SphereBlock { block, sphere }.into(),
        (&Shape::Sphere(one), &Shape::Sphere(other)) => {
            if one.radius + other.radius == 0.0 {
                return Err(PairError::Thin { first: first.name(), second: second.name() });
            }
            SphereSphere { first: one, second: other }.into()
        }
        (&Shape::Socket(socket), &Shape::Sphere(ball)) => {
            fits(socket.radius, ball.radius)?;
            BallSocket { socket, ball }.into()
        }
        (&Shape::Bore(hole), &Shape::Sphere(pin)) => {
            fits(hole.radius, pin.radius)?;
            PinHole { hole, pin }.into()
        }
        (&Shape::Bore(bore), &Shape::Cylinder(pin)) => {
            fits(bore.radius, pin.radius)?;
            RimsBore { bore, pin, rim: Rim::default() }.into()
        }
        (&Shape::Slot(slot), &Shape::Sphere(pin)) => {
            fits(slot.radius, pin.radius)?;
            SphereSlot { slot, pin }.into()
        }
        (&Shape::Ring(ring), &Shape::Sphere(sphere)) => RingSphere::new(ring, sphere, frames).into(),
        (Shape::Curve(curve), &Shape::Sphere(sphere)) => CurveSphere { curve: curve.clone(), sphere }.into(),
        (&Shape::Block(one), &Shape::Block(other)) if one.is_planar() == other.is_planar() => {
            BlockBlock { first: one, second: other }.into()
        }
        (&Shape::Plane(plane), &Shape::Capsule(capsule)) => CapsulePlane { plane, capsule }.into(),
        (&Shape::Capsule(capsule), &Shape::Sphere(sphere)) => CapsuleSphere { capsule, sphere }.into(),
        (&Shape::Capsule(one), &Shape::Capsule(other)) => CapsuleCapsule { first: one, second: other }.into(),
        (Shape::Block(_) | Shape::Convex(_), &Shape::Capsule(capsule)) => {
            let Some(shape) = Faceted::of(first) else { return Ok(None) };
            CapsuleFaceted { shape, capsule }.into()
        }
        (&Shape::Cylinder(cylinder), Shape::Sphere(sphere)) => {
            let sphere = if cylinder.half == 0.0 { thick(sphere)? } else { *sphere };
            SphereCylinder { cylinder, sphere }.into()
        }
        (&Shape::Plane(plane), &Shape::Ellipsoid(ellipsoid)) => EllipsoidPlane { plane, ellipsoid }.into(),
        (&Shape::Ellipsoid(ellipsoid), &Shape::Sphere(sphere)) => EllipsoidSphere { ellipsoid, sphere }.into(),
        (&Shape::Plane(plane), &Shape::Torus(torus)) => TorusPlane { plane, torus }.into(),
        (&Shape::Torus(torus), &Shape::Sphere(sphere)) => TorusSphere { torus, sphere }.into(),
        (&Shape::Plane(plane), Shape::Convex(convex)) => ConvexPlane { plane, convex: convex.clone() }.into(),
        (&Shape::Segment(segment), Shape::Convex(convex)) if convex.hull.is_planar() => {
            ConvexSegment::new(segment, convex.clone(), frames).into()
        }
        (Shape::Convex(convex), &Shape::Sphere(sphere)) => ConvexSphere { convex: convex.clone(), sphere }.into(),
        (Shape::Convex(_), Shape::Convex(_) | Shape::Block(_)) => {
            let (Some(first), Some(second)) = (Faceted::of(first), Faceted::of(second)) else { return Ok(None) };
            if first.is_planar() != second.is_planar() {
                return Ok(None);
            }
            ConvexConvex { first, second }.into()
        }
        _ => match (Bulk::of(first), Bulk::of(second)) {
            (Some(first), Some(second)) if Bulk::make_pair(&first, &second) => BulkBulk { first, second }.into(),
            _ => return Ok(None),
        },
    }))
}
