//! The motion of spatial models: solids on bodies, joints, contact points with reactions, drawn by WebGL2.
//!
//! Solids are plain data in axes of their body, from its mass centre. Poses are columns: those of the results where the
//! store has them, so that nothing is stored twice. Between rows the page goes straight ahead and turns evenly. A row
//! with a number that is not finite hides its body.

use carom::elementary::hypot;
mod data;
mod mesh;

use super::{Colour, ReportError, Values};
pub(super) use data::SpaceData;
pub use mesh::Mesh;
use std::sync::Arc;

/// Coordinates of a pose: x, y, z of the mass centre [m], and w, x, y, z of the quaternion.
pub const POSE: usize = 7;

/// A spatial motion.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Space {
    /// The direction that is drawn upwards; of any length but zero.
    pub up: [f64; 3],
    /// Bodies; those that move have poses in this order.
    pub bodies: Vec<SpaceBody>,
    /// Times of the rows of poses, not decreasing [s].
    pub times: Values,
    /// Of each body that moves.
    pub poses: Vec<[Values; POSE]>,
    /// Symbols of joints.
    pub joints: Vec<Hinge>,
    /// Lines between two bodies: springs, rods of given length.
    pub links: Vec<[Spot; 2]>,
    /// Impacts, in the order of time.
    pub impacts: Vec<Push>,
    /// Reactions of contacts that last.
    pub forces: Vec<Reactions>,
    /// What was left out, for the reader; empty where nothing was.
    pub note: String,
}

/// A body with its solids.
#[derive(Debug, Clone, PartialEq)]
pub struct SpaceBody {
    /// Its name.
    pub name: String,
    /// Colour of its name and path, and of parts without a colour of their own.
    pub colour: Colour,
    /// Whether it has a pose; what does not move is in axes of the space.
    pub moves: bool,
    /// Its solids.
    pub parts: Vec<Part>,
    /// The point whose path is drawn, in axes of the body [m].
    pub trail: Option<[f64; 3]>,
}

/// A solid at its place in a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What it is, about its own origin.
    pub solid: Solid,
    /// Where the origin is [m].
    pub at: [f64; 3],
    /// How it is turned: a unit quaternion, w first.
    pub turn: [f64; 4],
    /// Its colour, where it is not that of the body.
    pub colour: Option<Colour>,
}

/// Something solid or hollow; lengths in m, axes along z.
#[derive(Debug, Clone, PartialEq)]
pub enum Solid {
    /// A ball.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A box.
    Block {
        /// Half lengths of the edges.
        half: [f64; 3],
    },
    /// A cylinder with flat ends.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Half length.
        half: f64,
    },
    /// A cylinder with round ends.
    Capsule {
        /// Radius.
        radius: f64,
        /// Half length of the middle line.
        half: f64,
    },
    /// An ellipsoid.
    Ellipsoid {
        /// Half lengths of the axes.
        half: [f64; 3],
    },
    /// A ring with a round section about z.
    Torus {
        /// Radius of the middle line.
        radius: f64,
        /// Radius of the section.
        tube: f64,
    },
    /// A half space below z = 0.
    Plane,
    /// A rectangle in z = 0 without thickness, seen from both sides.
    Sheet {
        /// Half lengths along x and y.
        half: [f64; 2],
    },
    /// A round hole, seen from inside.
    Bore {
        /// Radius.
        radius: f64,
        /// Half of the length that is drawn.
        half: f64,
    },
    /// A hollow ball, seen from inside.
    Socket {
        /// Radius.
        radius: f64,
    },
    /// A long hole along x, seen from inside.
    Slot {
        /// Half of its width.
        radius: f64,
        /// Half length of its middle line.
        half: f64,
        /// Half of the depth that is drawn.
        depth: f64,
    },
    /// Triangles.
    Mesh(Arc<Mesh>),
}

/// A point of a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spot {
    /// Number of the body.
    pub body: usize,
    /// In its axes [m].
    pub at: [f64; 3],
}

/// The symbol of a joint.
#[derive(Debug, Clone, PartialEq)]
pub struct Hinge {
    /// Name of the joint.
    pub name: String,
    /// The word of its kind.
    pub kind: &'static str,
    /// Where it is.
    pub at: Spot,
    /// Its symbol, about the point in axes of the body.
    pub parts: Vec<Part>,
}

/// A reaction at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Push {
    /// Time [s].
    pub t: f64,
    /// Number of the contact among the lanes of the page.
    pub contact: usize,
    /// Where it acts [m].
    pub at: [f64; 3],
    /// Force [N] or impulse [N s].
    pub vector: [f64; 3],
}

carom_solve::persist!(Push { t, contact, at, vector });

/// All reactions of contacts that last at a time: they hold since the time before.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reactions {
    /// Time [s].
    pub t: f64,
    /// Reactions; their own times are not looked at.
    pub pushes: Vec<Push>,
}

impl Space {
    /// Whether times, poses, joints and links fit together.
    pub fn check(&self) -> Result<(), ReportError> {
        let mut previous = f64::NEG_INFINITY;
        for (frame, &time) in self.times.iter().enumerate() {
            if !time.is_finite() || time < previous {
                return Err(ReportError::FrameTime { animation: "space".into(), frame, time });
            }
            previous = time;
        }
        let (moving, found) = (self.bodies.iter().filter(|body| body.moves).count(), self.poses.len());
        if moving != found {
            return Err(ReportError::Poses { moving, found });
        }
        let moving = self.bodies.iter().filter(|body| body.moves);
        for (body, pose) in moving.zip(&self.poses) {
            if let Some(column) = pose.iter().find(|column| column.len() != self.times.len()) {
                let (body, found, frames) = (body.name.clone(), column.len(), self.times.len());
                return Err(ReportError::PoseLength { body, found, frames });
            }
        }
        let bodies = self.bodies.len();
        let spots = self.links.iter().flatten().chain(self.joints.iter().map(|joint| &joint.at));
        match spots.map(|spot| spot.body).find(|body| *body >= bodies) {
            Some(body) => Err(ReportError::NoBody { body, bodies }),
            None => Ok(()),
        }
    }
}

impl SpaceBody {
    /// A body without solids.
    pub fn new(name: impl Into<String>, colour: Colour, moves: bool) -> Self {
        Self { name: name.into(), colour, moves, parts: Vec::new(), trail: None }
    }

    /// Adds a solid.
    pub fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }
}

impl Part {
    /// A solid at the mass centre, along the axes of the body.
    pub fn new(solid: Solid) -> Self {
        Self { solid, at: [0.0; 3], turn: [1.0, 0.0, 0.0, 0.0], colour: None }
    }

    /// Moves it to a place.
    pub fn at(mut self, at: [f64; 3]) -> Self {
        self.at = at;
        self
    }

    /// Turns its z axis to a direction of any length but zero, by the shortest way.
    pub fn along(mut self, direction: [f64; 3]) -> Self {
        self.turn = turn_to(direction);
        self
    }

    /// Turns its axes to these, which are unit vectors normal to each other and right-handed.
    pub fn axes(mut self, axes: [[f64; 3]; 3]) -> Self {
        self.turn = quaternion(axes);
        self
    }

    /// A colour of its own.
    pub fn coloured(mut self, colour: Option<Colour>) -> Self {
        self.colour = colour;
        self
    }

    /// A thin capsule between two points, a ball where they are the same.
    pub fn rod([a, b]: [[f64; 3]; 2], radius: f64) -> Self {
        let along: [f64; 3] = std::array::from_fn(|i| b[i] - a[i]);
        let length = along.iter().map(|x| x * x).sum::<f64>().sqrt();
        let part = Self::new(Solid::Capsule { radius, half: length / 2.0 });
        let part = if length > 0.0 { part.along(along) } else { part };
        part.at(std::array::from_fn(|i| (a[i] + b[i]) / 2.0))
    }
}

/// The quaternion (w first) of the shortest turn of z to a direction.
pub fn turn_to(direction: [f64; 3]) -> [f64; 4] {
    let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
    let [x, y, z] = direction.map(|d| d / length);
    let across = hypot(x, y);
    // half of the way from z to d, then normalised; 1 + z would cancel where d points down
    let q = match across {
        0.0 if z < 0.0 => [0.0, 1.0, 0.0, 0.0],
        across if z < 0.0 => [across / (1.0 - z), -y / across, x / across, 0.0],
        _ => [1.0 + z, -y, x, 0.0],
    };
    let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    q.map(|x| x / norm)
}

/// The quaternion of a rotation with these columns.
fn quaternion([x, y, z]: [[f64; 3]; 3]) -> [f64; 4] {
    let trace = x[0] + y[1] + z[2];
    // the largest of the four is found first: nothing cancels
    let q = if trace > 0.0 {
        [1.0 + trace, y[2] - z[1], z[0] - x[2], x[1] - y[0]]
    } else if x[0] > y[1] && x[0] > z[2] {
        [y[2] - z[1], 1.0 + x[0] - y[1] - z[2], x[1] + y[0], z[0] + x[2]]
    } else if y[1] > z[2] {
        [z[0] - x[2], x[1] + y[0], 1.0 + y[1] - x[0] - z[2], y[2] + z[1]]
    } else {
        [x[1] - y[0], z[0] + x[2], y[2] + z[1], 1.0 + z[2] - x[0] - y[1]]
    };
    let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    q.map(|x| x / norm)
}

#[cfg(test)]
mod tests;
