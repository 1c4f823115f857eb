//! Shapes that bodies carry: plain data in axes of their body, from its mass centre.
//!
//! Planar models use the same shapes with zero third components: a disc is a sphere, a rectangle is a block without
//! thickness, a hole has the axis (0, 0, 1).

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
}

/// A shape that makes no sense.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShapeError {
    /// A number is infinite or not a number.
    #[error("{what} of the {shape} is not finite")]
    NotFinite {
        /// Kind of the shape.
        shape: &'static str,
        /// What is wrong.
        what: &'static str,
    },
    /// A length is not positive.
    #[error("{what} of the {shape} is {value}; it must be positive")]
    NotPositive {
        /// Kind of the shape.
        shape: &'static str,
        /// What is wrong.
        what: &'static str,
        /// Its value [m].
        value: f64,
    },
    /// A direction has no length.
    #[error("{what} of the {shape} has no direction: its length is zero")]
    NoDirection {
        /// Kind of the shape.
        shape: &'static str,
        /// What is wrong.
        what: &'static str,
    },
    /// Two directions are not normal to each other.
    #[error("{what} of the {shape} are not normal to each other: the cosine of their angle is {cosine:.3e}")]
    NotNormal {
        /// Kind of the shape.
        shape: &'static str,
        /// What is wrong.
        what: &'static str,
        /// Cosine of their angle [-].
        cosine: f64,
    },
}

/// Up to which cosine two directions count as normal to each other.
const NORMAL: f64 = 1e-9;

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
            Shape::Cylinder(_) => "cylinder",
            Shape::Bore(_) => "hole",
            Shape::Socket(_) => "socket",
            Shape::Slot(_) => "slot",
            Shape::Ring(_) => "ring",
            Shape::Curve(_) => "curve",
        }
    }

    /// The same shape with directions of length one, or what is wrong with it.
    pub fn checked(self) -> Result<Shape, ShapeError> {
        let check = Check(self.name());
        Ok(match self {
            Shape::Sphere(s) => {
                check.place("the centre", s.centre)?;
                Shape::Sphere(Sphere { radius: check.not_negative("the radius", s.radius)?, ..s })
            }
            Shape::Plane(p) => {
                check.place("the point", p.point)?;
                Shape::Plane(Plane { normal: check.direction("the normal", p.normal)?, ..p })
            }
            Shape::Segment(s) => {
                check.ends(s.ends)?;
                Shape::Segment(s)
            }
            Shape::Strip(s) => {
                let along = check.direction("the direction", s.along)?;
                check.normal("the segment and the direction", check.ends(s.ends)?, along)?;
                Shape::Strip(Strip { along, ..s })
            }
            Shape::Block(b) => Shape::Block(check.block(b)?),
            Shape::Cylinder(c) => {
                check.place("the centre", c.centre)?;
                check.positive("the radius", c.radius)?;
                check.not_negative("the half length", c.half)?;
                Shape::Cylinder(Cylinder { axis: check.direction("the axis", c.axis)?, ..c })
            }
            Shape::Bore(b) => {
                check.place("the centre", b.centre)?;
                check.positive("the radius", b.radius)?;
                Shape::Bore(Bore { axis: check.direction("the axis", b.axis)?, ..b })
            }
            Shape::Socket(s) => {
                check.place("the centre", s.centre)?;
                Shape::Socket(Socket { radius: check.positive("the radius", s.radius)?, ..s })
            }
            Shape::Slot(s) => {
                let axis = check.direction("the axis", s.axis)?;
                check.normal("the middle line and the axis", check.ends(s.ends)?, axis)?;
                check.positive("the radius", s.radius)?;
                Shape::Slot(Slot { axis, ..s })
            }
            Shape::Ring(r) => {
                check.place("the centre", r.centre)?;
                check.positive("the radius", r.radius)?;
                Shape::Ring(Ring { axis: check.direction("the axis", r.axis)?, ..r })
            }
            Shape::Curve(c) => {
                check.place("the centre", c.centre)?;
                let [u, w] =
                    [check.direction("the first axis", c.axes[0])?, check.direction("the second axis", c.axes[1])?];
                check.normal("the axes", u, w)?;
                Shape::Curve(Curve { axes: [u, w], ..c })
            }
        })
    }

    /// The largest distance of its points from the mass centre of the body [m]; of what has no end, that of its place.
    pub fn reach(&self) -> f64 {
        let of = |p: Triple| p.iter().map(|x| x * x).sum::<f64>().sqrt();
        match self {
            Shape::Sphere(s) => of(s.centre) + s.radius,
            Shape::Plane(p) => of(p.point),
            Shape::Segment(Segment { ends }) | Shape::Strip(Strip { ends, .. }) => of(ends[0]).max(of(ends[1])),
            Shape::Block(b) => (0..8).map(|k| of(b.corner(k))).fold(0.0, f64::max),
            Shape::Cylinder(c) => of(c.centre) + c.radius.hypot(c.half),
            Shape::Bore(Bore { centre, radius, .. })
            | Shape::Socket(Socket { centre, radius })
            | Shape::Ring(Ring { centre, radius, .. }) => of(*centre) + radius,
            Shape::Slot(s) => of(s.ends[0]).max(of(s.ends[1])) + s.radius,
            Shape::Curve(c) => of(c.centre) + c.spline.reach(),
        }
    }
}

/// Checks numbers of a shape of this kind.
struct Check(&'static str);

impl Check {
    fn place(&self, what: &'static str, p: Triple) -> Result<Triple, ShapeError> {
        let shape = self.0;
        if p.iter().all(|x| x.is_finite()) { Ok(p) } else { Err(ShapeError::NotFinite { shape, what }) }
    }

    fn not_negative(&self, what: &'static str, value: f64) -> Result<f64, ShapeError> {
        if value == 0.0 { Ok(value) } else { self.positive(what, value) }
    }

    fn positive(&self, what: &'static str, value: f64) -> Result<f64, ShapeError> {
        let shape = self.0;
        match value {
            value if !value.is_finite() => Err(ShapeError::NotFinite { shape, what }),
            value if value <= 0.0 => Err(ShapeError::NotPositive { shape, what, value }),
            value => Ok(value),
        }
    }

    fn direction(&self, what: &'static str, d: Triple) -> Result<Triple, ShapeError> {
        let shape = self.0;
        self.place(what, d)?;
        let most = d.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        if most == 0.0 {
            return Err(ShapeError::NoDirection { shape, what });
        }
        let d = d.map(|x| x / most);
        let length = d.iter().map(|x| x * x).sum::<f64>().sqrt();
        Ok(d.map(|x| x / length))
    }

    /// The direction from the first to the second end.
    fn ends(&self, [p, q]: [Triple; 2]) -> Result<Triple, ShapeError> {
        self.place("the first end", p)?;
        self.place("the second end", q)?;
        self.direction("the line between the ends", std::array::from_fn(|i| q[i] - p[i]))
    }

    fn normal(&self, what: &'static str, u: Triple, w: Triple) -> Result<(), ShapeError> {
        let cosine = u[0] * w[0] + u[1] * w[1] + u[2] * w[2];
        if cosine.abs() <= NORMAL { Ok(()) } else { Err(ShapeError::NotNormal { shape: self.0, what, cosine }) }
    }

    fn block(&self, b: Block) -> Result<Block, ShapeError> {
        self.place("the centre", b.centre)?;
        let whats = ["the first half length", "the second half length", "the third half length"];
        for i in 0..2 {
            self.positive(whats[i], b.half[i])?;
        }
        self.not_negative(whats[2], b.half[2])?;
        let mut axes = b.axes;
        for axis in &mut axes {
            *axis = self.direction("an axis", *axis)?;
        }
        for (i, j) in [(0, 1), (1, 2), (2, 0)] {
            self.normal("the axes", axes[i], axes[j])?;
        }
        Ok(Block { axes, ..b })
    }
}
