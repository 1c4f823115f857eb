//! A rigid body as it is described: mass, inertia, where it is and how it moves at the start.

use super::Xyz;
use crate::rotation::{IDENTITY, Quaternion, exponential, normalised};

/// Moments of inertia about the mass centre, in axes of the body [kg m²]: a symmetric matrix. In the plane its last
/// entry counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inertia(pub [[f64; 3]; 3]);

impl From<f64> for Inertia {
    /// The same about all axes: a ball, or a planar body.
    fn from(moment: f64) -> Inertia {
        Inertia::from([moment; 3])
    }
}

impl From<[f64; 3]> for Inertia {
    /// Principal moments: the axes of the body are principal axes.
    fn from([x, y, z]: [f64; 3]) -> Inertia {
        Inertia([[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]])
    }
}

impl From<[[f64; 3]; 3]> for Inertia {
    fn from(matrix: [[f64; 3]; 3]) -> Inertia {
        Inertia(matrix)
    }
}

/// A body at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Name in results and messages; `ground` is taken.
    pub name: String,
    /// [kg]
    pub mass: f64,
    /// About the mass centre, in axes of the body [kg m²].
    pub inertia: Inertia,
    /// Of the mass centre [m].
    pub position: [f64; 3],
    /// R(p) turns axes of the body into those of the space.
    pub attitude: Quaternion,
    /// In the plane: the angle itself, which may be more than a turn [rad].
    pub angle: f64,
    /// Of the mass centre [m/s].
    pub velocity: [f64; 3],
    /// Angular velocity in axes of the body [rad/s]; in the plane its last entry.
    pub spin: [f64; 3],
}

impl Body {
    /// A body at rest at the origin.
    pub fn new(name: &str, mass: f64, inertia: impl Into<Inertia>) -> Body {
        Body {
            name: name.into(),
            mass,
            inertia: inertia.into(),
            position: [0.0; 3],
            attitude: IDENTITY,
            angle: 0.0,
            velocity: [0.0; 3],
            spin: [0.0; 3],
        }
    }

    /// Where the mass centre is [m].
    pub fn at(mut self, position: impl Into<Xyz>) -> Body {
        self.position = position.into().0;
        self
    }

    /// Attitude in space, (w, x, y, z); it is made a unit quaternion.
    pub fn attitude(mut self, p: Quaternion) -> Body {
        self.attitude = normalised(p);
        self
    }

    /// Turned by an angle about an axis of the space [rad].
    pub fn turned(mut self, axis: [f64; 3], angle: f64) -> Body {
        let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
        self.attitude = exponential(axis.map(|x| x * angle / length));
        self
    }

    /// Turned in the plane [rad].
    pub fn angle(mut self, angle: f64) -> Body {
        self.angle = angle;
        self
    }

    /// Velocity of the mass centre [m/s].
    pub fn velocity(mut self, velocity: impl Into<Xyz>) -> Body {
        self.velocity = velocity.into().0;
        self
    }

    /// Angular velocity in axes of the body [rad/s].
    pub fn spin(mut self, spin: [f64; 3]) -> Body {
        self.spin = spin;
        self
    }

    /// Angular velocity in the plane [rad/s].
    pub fn turning(mut self, omega: f64) -> Body {
        self.spin = [0.0, 0.0, omega];
        self
    }
}
