//! What is seen of a model of bodies in space: plain data in axes of the bodies.

use crate::kind::multibody::Form;

/// Bodies with their shapes, joints and springs.
#[derive(Clone, Debug, PartialEq)]
pub struct Space {
    /// Gravity [m/s²].
    pub gravity: [f64; 3],
    /// About the size of the model [m].
    pub size: f64,
    /// The ground first. Coordinates of the others follow each other in q: x, y, z and the quaternion.
    pub bodies: Vec<SpaceBody>,
    /// Joints that have a place.
    pub joints: Vec<SpaceJoint>,
    /// Springs between points.
    pub springs: Vec<[SpacePoint; 2]>,
}

/// A body.
#[derive(Clone, Debug, PartialEq)]
pub struct SpaceBody {
    /// Its name.
    pub name: String,
    /// Colour of shapes that have none of their own.
    pub color: &'static str,
    /// Its shapes.
    pub shapes: Vec<SpaceShape>,
}

/// A shape of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct SpaceShape {
    /// What it is.
    pub form: Form,
    /// Colour of the inside, or else of the line, as the file has it.
    pub color: Option<String>,
    /// Whether its path is drawn.
    pub trace: bool,
}

/// A joint.
#[derive(Clone, Debug, PartialEq)]
pub struct SpaceJoint {
    /// Its name.
    pub name: String,
    /// The word of its kind.
    pub kind: &'static str,
    /// Its point on both bodies.
    pub ends: [SpacePoint; 2],
    /// Its axis in axes of the first body.
    pub axis: Option<[f64; 3]>,
}

/// A point of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpacePoint {
    /// Number of the body.
    pub body: usize,
    /// In its axes, from the mass centre [m].
    pub at: [f64; 3],
}
