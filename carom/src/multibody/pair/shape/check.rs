//! What makes no sense in a shape.

use super::*;

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
            Shape::Capsule(c) => {
                check.ends(c.ends)?;
                Shape::Capsule(Capsule { radius: check.positive("the radius", c.radius)?, ..c })
            }
            Shape::Ellipsoid(e) => {
                let block = check.block(Block { centre: e.centre, axes: e.axes, half: e.half })?;
                check.positive("the third half length", e.half[2])?;
                Shape::Ellipsoid(Ellipsoid { axes: block.axes, ..e })
            }
            Shape::Torus(t) => {
                check.place("the centre", t.centre)?;
                check.positive("the radius", t.radius)?;
                check.positive("the radius of the tube", t.tube)?;
                check.positive("the hole, the radius less that of the tube,", t.radius - t.tube)?;
                Shape::Torus(Torus { axis: check.direction("the axis", t.axis)?, ..t })
            }
            Shape::Convex(c) => {
                check.place("the centre", c.centre)?;
                Shape::Convex(c)
            }
        })
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
