//! Springs with dampers, between points of two bodies or on a coordinate of a joint.
//!
//! ```text
//!     between points:   tension  F = F₀ + k (l − l₀) + c l̇                  pulls the points together             (1)
//!     on a coordinate:  effort   T = T₀ − k (s − s₀) − c ṡ                  along the coordinate                   (2)
//! ```

use super::joint::Anchor;
use super::{JointCoordinate, Xyz};

/// What a spring acts between.
#[derive(Clone, Debug, PartialEq)]
pub enum SpringEnds {
    /// A point of each body.
    Points {
        /// The bodies.
        bodies: [String; 2],
        /// The points.
        points: Anchor,
    },
    /// A coordinate of a joint.
    Coordinate(JointCoordinate),
    /// The angle of one body beside another, about an axis that both keep; in the plane there is but one.
    Angle {
        /// The bodies.
        bodies: [String; 2],
        /// The axis.
        axis: Anchor,
    },
}

/// A spring with a damper.
#[derive(Clone, Debug, PartialEq)]
pub struct Spring {
    /// Name in messages.
    pub name: String,
    /// What it acts between.
    pub ends: SpringEnds,
    /// k [N/m, or N m/rad].
    pub stiffness: f64,
    /// c [N s/m, or N m s/rad].
    pub damping: f64,
    /// F₀ or T₀: what it has at rest length [N or N m].
    pub preload: f64,
    /// l₀ or s₀; of points the length where they are drawn, of coordinates zero, unless it is given [m or rad].
    pub rest: Option<f64>,
}

impl Spring {
    fn new(name: &str, ends: SpringEnds, stiffness: f64) -> Spring {
        Spring { name: name.into(), ends, stiffness, damping: 0.0, preload: 0.0, rest: None }
    }

    /// A spring (1) between points of two bodies, given in axes of the space where the bodies are drawn.
    pub fn between(name: &str, a: (&str, impl Into<Xyz>), b: (&str, impl Into<Xyz>), stiffness: f64) -> Spring {
        let points = Anchor::Drawn([a.1.into().0, b.1.into().0]);
        Spring::new(name, SpringEnds::Points { bodies: [a.0.into(), b.0.into()], points }, stiffness)
    }

    /// A spring (2) on a coordinate of a joint.
    pub fn on(name: &str, coordinate: impl Into<JointCoordinate>, stiffness: f64) -> Spring {
        Spring::new(name, SpringEnds::Coordinate(coordinate.into()), stiffness)
    }

    /// A torsion spring (2) on the angle of `b` beside `a` about an axis in the space where they are drawn.
    pub fn torsion(name: &str, a: &str, b: &str, axis: impl Into<Xyz>, stiffness: f64) -> Spring {
        let axis = axis.into().0;
        let ends = SpringEnds::Angle { bodies: [a.into(), b.into()], axis: Anchor::Drawn([axis, axis]) };
        Spring::new(name, ends, stiffness)
    }

    /// c [N s/m, or N m s/rad].
    pub fn damping(mut self, c: f64) -> Spring {
        self.damping = c;
        self
    }

    /// F₀ or T₀ [N or N m].
    pub fn preload(mut self, preload: f64) -> Spring {
        self.preload = preload;
        self
    }

    /// l₀ or s₀ [m or rad].
    pub fn rest(mut self, rest: f64) -> Spring {
        self.rest = Some(rest);
        self
    }
}
