//! Shapes that bodies carry: plain data in axes of their body, from its mass centre.
//!
//! Planar models use the same shapes with zero third components: a disc is a sphere, a rectangle is a block without
//! thickness, a hole has the axis (0, 0, 1).

use carom_solve::elementary::hypot;
mod check;
mod convex;

pub use check::ShapeError;
pub use convex::Convex;

use super::spline::{Spline, SplineError};
use std::sync::Arc;

/// Three numbers in axes of a body.
pub type Triple = [f64; 3];

/// A ball, or a disc in the plane; a point where the radius is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// Centre.
    pub centre: Triple,
    /// Radius [m].
    pub radius: f64,
}

impl Sphere {
    /// A point.
    pub fn point(centre: Triple) -> Self {
        Sphere { centre, radius: 0.0 }
    }
}

/// A half space. In the plane, a half plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// A point of the boundary.
    pub point: Triple,
    /// Unit normal, out of the material.
    pub normal: Triple,
}

/// A straight edge without thickness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Both ends.
    pub ends: [Triple; 2],
}

/// A segment that is drawn out without end along a direction: in space what a segment is in the plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strip {
    /// Both ends of the segment.
    pub ends: [Triple; 2],
    /// Unit vector, normal to the segment.
    pub along: Triple,
}

/// A box. Where the third half length is zero it is a rectangle of the plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// Centre.
    pub centre: Triple,
    /// Unit vectors along the edges, normal to each other.
    pub axes: [Triple; 3],
    /// Half lengths of the edges [m].
    pub half: Triple,
}

impl Block {
    /// A box about the mass centre, along the axes of the body.
    pub fn new(half: Triple) -> Self {
        Block { centre: [0.0; 3], axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], half }
    }

    /// Whether it is a rectangle of the plane.
    pub fn is_planar(&self) -> bool {
        self.half[2] == 0.0
    }

    /// Number of corners.
    pub fn corners(&self) -> usize {
        if self.is_planar() { 4 } else { 8 }
    }

    /// On which side of the centre a corner is along an axis: 1 or −1. Bit i of the number tells axis i.
    pub fn side(&self, corner: usize, axis: usize) -> f64 {
        if corner >> axis & 1 == 0 { 1.0 } else { -1.0 }
    }

    /// A corner.
    pub fn corner(&self, corner: usize) -> Triple {
        let part = |i: usize, j: usize| self.side(corner, i) * self.half[i] * self.axes[i][j];
        std::array::from_fn(|j| self.centre[j] + part(0, j) + part(1, j) + part(2, j))
    }

    /// On which side of the centre a face is: faces 2 i and 2 i + 1 are ahead and behind along axis i.
    pub fn face_side(face: usize) -> f64 {
        if face.is_multiple_of(2) { 1.0 } else { -1.0 }
    }

    /// Normal of a face, outward.
    pub fn face_normal(&self, face: usize) -> Triple {
        self.axes[face / 2].map(|x| x * Block::face_side(face))
    }

    /// Centre of a face.
    pub fn face(&self, face: usize) -> Triple {
        let normal = self.face_normal(face);
        std::array::from_fn(|j| self.centre[j] + self.half[face / 2] * normal[j])
    }

    /// On which side of the centre an edge is along an axis other than its own; edges 4 i to 4 i + 3 are along axis i.
    pub fn edge_side(&self, edge: usize, axis: usize) -> f64 {
        let bit = if axis == (edge / 4 + 1) % 3 { 0 } else { 1 };
        if (edge % 4) >> bit & 1 == 0 { 1.0 } else { -1.0 }
    }

    /// The middle of an edge, and the number of its axis.
    pub fn edge(&self, edge: usize) -> (Triple, usize) {
        let axis = edge / 4;
        let [k, l] = [(axis + 1) % 3, (axis + 2) % 3];
        let part = |i: usize, j: usize| self.edge_side(edge, i) * self.half[i] * self.axes[i][j];
        (std::array::from_fn(|j| self.centre[j] + part(k, j) + part(l, j)), axis)
    }
}

/// All points within a distance of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    /// Both ends of its axis.
    pub ends: [Triple; 2],
    /// Radius [m].
    pub radius: f64,
}

impl Capsule {
    /// The ball at an end.
    pub fn end(&self, end: usize) -> Sphere {
        Sphere { centre: self.ends[end], radius: self.radius }
    }

    /// Its axis.
    pub fn axis(&self) -> Segment {
        Segment { ends: self.ends }
    }
}

/// An ellipsoid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ellipsoid {
    /// Centre.
    pub centre: Triple,
    /// Unit vectors along its axes, normal to each other.
    pub axes: [Triple; 3],
    /// Half lengths of its axes [m].
    pub half: Triple,
}

/// A ring with a round section: all points within a distance of a circle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Torus {
    /// Centre.
    pub centre: Triple,
    /// Unit vector normal to the plane of the circle.
    pub axis: Triple,
    /// Radius of the circle [m].
    pub radius: f64,
    /// Radius of the section, less than that of the circle [m].
    pub tube: f64,
}

impl Torus {
    /// The disc whose rim is the circle.
    pub fn disc(&self) -> Cylinder {
        Cylinder { centre: self.centre, axis: self.axis, radius: self.radius, half: 0.0 }
    }
}

/// A round cylinder with two flat ends; a thin disc where the half length is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cylinder {
    /// Centre.
    pub centre: Triple,
    /// Unit vector along the axis.
    pub axis: Triple,
    /// Radius [m].
    pub radius: f64,
    /// Half length [m].
    pub half: f64,
}

impl Cylinder {
    /// Centre of a rim: the first one is ahead along the axis.
    pub fn rim(&self, rim: usize) -> Triple {
        let half = if rim == 0 { self.half } else { -self.half };
        std::array::from_fn(|i| self.centre[i] + half * self.axis[i])
    }

    /// A rim as a thin disc whose axis goes out of the cylinder.
    pub fn disc(&self, rim: usize) -> Cylinder {
        let axis = if rim == 0 { self.axis } else { self.axis.map(|x| -x) };
        Cylinder { centre: self.rim(rim), axis, radius: self.radius, half: 0.0 }
    }
}

/// A round hole without end: a bore in space, a round hole in the plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bore {
    /// A point of the axis.
    pub centre: Triple,
    /// Unit vector along the axis.
    pub axis: Triple,
    /// Radius [m].
    pub radius: f64,
}

/// A hollow ball.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Socket {
    /// Centre.
    pub centre: Triple,
    /// Radius [m].
    pub radius: f64,
}

/// A long hole with round ends: all points within a distance of its middle line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slot {
    /// Both ends of the middle line.
    pub ends: [Triple; 2],
    /// Unit vector through the hole, normal to the middle line.
    pub axis: Triple,
    /// Half of its width [m].
    pub radius: f64,
}

/// A thin round wall that things are inside or outside of, without end along its axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ring {
    /// A point of the axis.
    pub centre: Triple,
    /// Unit vector along the axis.
    pub axis: Triple,
    /// Radius [m].
    pub radius: f64,
}

/// A closed smooth curve, as of a cam, drawn out along the normal of its plane. The material is inside.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Where the origin of its points is.
    pub centre: Triple,
    /// Unit vectors along the first and the second number of its points, normal to each other.
    pub axes: [Triple; 2],
    /// The curve through the points.
    pub spline: Arc<Spline>,
}

impl Curve {
    /// A curve through points in the first two axes of the body, from its mass centre.
    pub fn through(points: &[[f64; 2]]) -> Result<Self, SplineError> {
        let spline = Arc::new(Spline::through(points)?);
        Ok(Curve { centre: [0.0; 3], axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], spline })
    }
}

/// Any shape.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A ball, a disc or a point.
    Sphere(Sphere),
    /// A half space.
    Plane(Plane),
    /// A straight edge.
    Segment(Segment),
    /// A straight edge that is drawn out.
    Strip(Strip),
    /// A box or a rectangle.
    Block(Block),
    /// A cylinder with two rims.
    Cylinder(Cylinder),
    /// A round hole.
    Bore(Bore),
    /// A hollow ball.
    Socket(Socket),
    /// A long hole.
    Slot(Slot),
    /// A thin round wall.
    Ring(Ring),
    /// A cam.
    Curve(Curve),
    /// A line with round ends.
    Capsule(Capsule),
    /// An ellipsoid.
    Ellipsoid(Ellipsoid),
    /// A ring with a round section.
    Torus(Torus),
    /// A convex polygon or polyhedron.
    Convex(Convex),
}

impl Shape {
    /// The word for it in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Shape::Sphere(s) if s.radius == 0.0 => "point",
            Shape::Sphere(_) => "sphere",
            Shape::Plane(_) => "plane",
            Shape::Segment(_) => "segment",
            Shape::Strip(_) => "strip",
            Shape::Block(_) => "box",
            Shape::Cylinder(c) if c.half == 0.0 => "thin disc",
            Shape::Cylinder(_) => "cylinder",
            Shape::Bore(_) => "hole",
            Shape::Socket(_) => "socket",
            Shape::Slot(_) => "slot",
            Shape::Ring(_) => "ring",
            Shape::Curve(_) => "curve",
            Shape::Capsule(_) => "capsule",
            Shape::Ellipsoid(_) => "ellipsoid",
            Shape::Torus(_) => "torus",
            Shape::Convex(c) if c.hull.is_planar() => "polygon",
            Shape::Convex(_) => "polyhedron",
        }
    }

    /// The same shape somewhere else.
    pub fn moved(self, by: Triple) -> Shape {
        let to = |p: Triple| std::array::from_fn(|i| p[i] + by[i]);
        match self {
            Shape::Sphere(s) => Shape::Sphere(Sphere { centre: to(s.centre), ..s }),
            Shape::Plane(p) => Shape::Plane(Plane { point: to(p.point), ..p }),
            Shape::Segment(s) => Shape::Segment(Segment { ends: s.ends.map(to) }),
            Shape::Strip(s) => Shape::Strip(Strip { ends: s.ends.map(to), ..s }),
            Shape::Block(b) => Shape::Block(Block { centre: to(b.centre), ..b }),
            Shape::Cylinder(c) => Shape::Cylinder(Cylinder { centre: to(c.centre), ..c }),
            Shape::Bore(b) => Shape::Bore(Bore { centre: to(b.centre), ..b }),
            Shape::Socket(s) => Shape::Socket(Socket { centre: to(s.centre), ..s }),
            Shape::Slot(s) => Shape::Slot(Slot { ends: s.ends.map(to), ..s }),
            Shape::Ring(r) => Shape::Ring(Ring { centre: to(r.centre), ..r }),
            Shape::Curve(c) => Shape::Curve(Curve { centre: to(c.centre), ..c }),
            Shape::Capsule(c) => Shape::Capsule(Capsule { ends: c.ends.map(to), ..c }),
            Shape::Ellipsoid(e) => Shape::Ellipsoid(Ellipsoid { centre: to(e.centre), ..e }),
            Shape::Torus(t) => Shape::Torus(Torus { centre: to(t.centre), ..t }),
            Shape::Convex(c) => Shape::Convex(Convex { centre: to(c.centre), ..c }),
        }
    }

    /// A number for shapes that make pairs with the same others.
    pub fn kind(&self) -> usize {
        match self {
            Shape::Sphere(s) if s.radius == 0.0 => 0,
            Shape::Sphere(_) => 1,
            Shape::Plane(_) => 2,
            Shape::Segment(_) => 3,
            Shape::Strip(_) => 4,
            Shape::Block(b) if b.is_planar() => 5,
            Shape::Block(_) => 6,
            Shape::Cylinder(c) if c.half == 0.0 => 7,
            Shape::Cylinder(_) => 8,
            Shape::Bore(_) => 9,
            Shape::Socket(_) => 10,
            Shape::Slot(_) => 11,
            Shape::Ring(_) => 12,
            Shape::Curve(_) => 13,
            Shape::Capsule(_) => 14,
            Shape::Ellipsoid(_) => 15,
            Shape::Torus(_) => 16,
            Shape::Convex(c) if c.hull.is_planar() => 17,
            Shape::Convex(_) => 18,
        }
    }

    /// Centre and radius of a ball around a solid shape, infinite for a half space; none for edges and hollows.
    pub fn ball(&self) -> Option<(Triple, f64)> {
        let length = |v: Triple| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        Some(match self {
            Shape::Sphere(s) => (s.centre, s.radius),
            Shape::Plane(p) => (p.point, f64::INFINITY),
            Shape::Block(b) => (b.centre, length(b.half)),
            Shape::Cylinder(c) => (c.centre, hypot(c.radius, c.half)),
            Shape::Capsule(c) => {
                let [p, q] = c.ends;
                let half: Triple = std::array::from_fn(|i| 0.5 * (q[i] - p[i]));
                (std::array::from_fn(|i| 0.5 * (p[i] + q[i])), length(half) + c.radius)
            }
            Shape::Ellipsoid(e) => (e.centre, e.half.into_iter().fold(0.0, f64::max)),
            Shape::Torus(t) => (t.centre, t.radius + t.tube),
            Shape::Convex(c) => (c.placed(c.hull.ball().0), c.hull.ball().1),
            Shape::Segment(_) | Shape::Strip(_) | Shape::Bore(_) | Shape::Socket(_) => return None,
            Shape::Slot(_) | Shape::Ring(_) | Shape::Curve(_) => return None,
        })
    }

    /// Radius of a ball inside a solid shape, the largest but for hulls; zero for half spaces, edges and hollows [m].
    pub fn thickness(&self) -> f64 {
        let least = |half: &[f64]| half.iter().copied().fold(f64::INFINITY, f64::min);
        match self {
            Shape::Sphere(s) => s.radius,
            Shape::Block(b) if b.is_planar() => least(&b.half[..2]),
            Shape::Block(b) => least(&b.half),
            Shape::Cylinder(c) => c.radius.min(c.half),
            Shape::Capsule(c) => c.radius,
            Shape::Ellipsoid(e) => least(&e.half),
            Shape::Torus(t) => t.tube,
            Shape::Convex(c) => c.hull.thickness(),
            _ => 0.0,
        }
    }

    /// The largest distance of its points from the mass centre of the body [m]; of what has no end, that of its place.
    pub fn reach(&self) -> f64 {
        let of = |p: Triple| p.iter().map(|x| x * x).sum::<f64>().sqrt();
        match self {
            Shape::Sphere(s) => of(s.centre) + s.radius,
            Shape::Plane(p) => of(p.point),
            Shape::Segment(Segment { ends }) | Shape::Strip(Strip { ends, .. }) => of(ends[0]).max(of(ends[1])),
            Shape::Block(b) => (0..8).map(|k| of(b.corner(k))).fold(0.0, f64::max),
            Shape::Cylinder(c) => of(c.centre) + hypot(c.radius, c.half),
            Shape::Bore(Bore { centre, radius, .. })
            | Shape::Socket(Socket { centre, radius })
            | Shape::Ring(Ring { centre, radius, .. }) => of(*centre) + radius,
            Shape::Slot(s) => of(s.ends[0]).max(of(s.ends[1])) + s.radius,
            Shape::Curve(c) => of(c.centre) + c.spline.reach(),
            Shape::Capsule(c) => of(c.ends[0]).max(of(c.ends[1])) + c.radius,
            Shape::Ellipsoid(e) => of(e.centre) + e.half.into_iter().fold(0.0, f64::max),
            Shape::Torus(t) => of(t.centre) + t.radius + t.tube,
            Shape::Convex(c) => c.hull.corners().iter().map(|p| of(c.placed(*p))).fold(0.0, f64::max),
        }
    }
}
