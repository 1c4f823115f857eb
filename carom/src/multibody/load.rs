//! Loads: forces and moments on bodies as functions of the motion.

use super::function::Function;
use super::{JointCoordinate, Xyz};

/// A number that a function may depend on.
#[derive(Clone, Debug, PartialEq)]
pub enum Signal {
    /// [s]
    Time,
    /// A coordinate of a joint [rad or m]; turns are counted.
    Coordinate(JointCoordinate),
    /// Its rate.
    Rate(JointCoordinate),
    /// A component of the mass centre of a body [m].
    Position(String, usize),
    /// The angle of a planar body [rad].
    Angle(String),
    /// A component of the attitude of a body in space, a quaternion [-].
    Attitude(String, usize),
    /// A component of the velocity of a mass centre [m/s].
    Velocity(String, usize),
    /// A component of an angular velocity, in axes of the space [rad/s].
    Spin(String, usize),
}

/// In which axes a load is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Axes {
    /// Those of the space.
    #[default]
    World,
    /// Those of the body: the load turns with it.
    Body,
}

/// A force at a point of a body and a moment on it.
#[derive(Clone, Debug)]
pub struct Load {
    /// Name in messages.
    pub name: String,
    /// The body.
    pub body: String,
    /// Where the force acts, in axes of the body from its mass centre [m].
    pub point: [f64; 3],
    /// Axes of force and moment.
    pub axes: Axes,
    /// What the function depends on, in this order.
    pub inputs: Vec<Signal>,
    /// Force and moment, six numbers [N, N m].
    pub function: Box<dyn Function>,
}

impl Load {
    /// A load at the mass centre, in axes of the space. `function` is given the `inputs` and writes force and moment.
    pub fn new(name: &str, body: &str, inputs: Vec<Signal>, function: impl Function + 'static) -> Load {
        Load {
            name: name.into(),
            body: body.into(),
            point: [0.0; 3],
            axes: Axes::World,
            inputs,
            function: Box::new(function),
        }
    }

    /// Where the force acts, in axes of the body from its mass centre [m].
    pub fn at(mut self, point: impl Into<Xyz>) -> Load {
        self.point = point.into().0;
        self
    }

    /// In axes of the body.
    pub fn in_body(mut self) -> Load {
        self.axes = Axes::Body;
        self
    }
}
