//! Joints: a kind of joint is one file and one row of [`JOINTS`]. It tells the rows that hold and the coordinates that
//! are left, in axes (u, w, d) that are fixed in both bodies and agree where the bodies are drawn.

pub(crate) mod chain;
pub(crate) mod clearance;
mod coupler;
mod cylindrical;
mod distance;
mod fixed;
mod planar;
mod prismatic;
mod revolute;
mod screw;
mod setting;
mod spherical;
mod universal;

use super::contact::Surface;
use super::coordinate::{Coordinate, JointCoordinate};
use super::pair::Rim;
use super::primitive::Primitive;
use super::{AnyPair, Xyz};
pub use chain::{Chain, Link, Numbers};
pub use clearance::{Play, Section};
pub use setting::Setting;

/// All kinds of joints.
pub static JOINTS: &[JointKind] = &[
    fixed::KIND,
    spherical::KIND,
    revolute::KIND,
    cylindrical::KIND,
    prismatic::KIND,
    planar::KIND,
    universal::KIND,
    distance::KIND,
    screw::KIND,
    chain::KIND,
    coupler::GEAR,
    coupler::RACK,
    coupler::COUPLER,
];

/// What a kind of joint must be told besides its bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A point that the bodies share.
    Point,
    /// A point of each body, that differ.
    Ends,
    /// An axis; in the plane of those joints alone whose axis lies in it.
    Axis,
    /// A second axis, perpendicular to the first.
    SecondAxis,
    /// The way along the axis per turn.
    Lead,
    /// Coordinates of other joints with factors, and no bodies.
    Terms,
    /// Turns and ways, one after the other.
    Links,
}

/// In which dimensions a kind of joint is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// In plane and space.
    Both,
    /// In space alone.
    Space,
}

/// A kind of joint.
#[derive(Clone, Copy, Debug)]
pub struct JointKind {
    /// The word of the field.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// What it must be told.
    pub needs: &'static [Need],
    /// In which dimensions it is one.
    pub dimensions: Where,
    /// Names of its coordinates in space, in order. In the plane some of them are not there, and those of chains
    /// follow from their links: see [`Joint::coordinates`].
    pub coordinates: &'static [&'static str],
    /// Whether it may have play.
    pub may_have_play: bool,
    /// Writes rows and coordinates.
    pub lay: fn(&Setting, &mut Laid),
}

impl PartialEq for JointKind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl JointKind {
    /// The kind with this name.
    pub fn find(name: &str) -> Option<&'static JointKind> {
        JOINTS.iter().find(|kind| kind.name == name)
    }

    /// Whether it must be told this.
    pub fn has(&self, need: Need) -> bool {
        self.needs.contains(&need)
    }
}

/// What a joint is made of.
#[derive(Clone, Debug, Default)]
pub struct Laid {
    /// Rows that hold, with the ends of their names.
    pub rows: Vec<(&'static str, Primitive)>,
    /// Coordinates that are left, with the ends of their names.
    pub coordinates: Vec<(&'static str, Coordinate)>,
    /// Contacts in place of rows, where the joint has play: shapes on a and on b.
    pub contacts: Vec<(String, AnyPair, Surface)>,
    /// How play is measured, where the joint has it.
    pub play: Option<Play>,
    /// Directions of a and b that point the same way, which rows alone do not tell from the opposite.
    pub aligned: Vec<([f64; 3], [f64; 3])>,
}

/// Points or axes of a joint on its two bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Anchor {
    /// Not given.
    #[default]
    None,
    /// In axes of the space, where the bodies are drawn: of a and of b.
    Drawn([[f64; 3]; 2]),
    /// In axes of each body, points from its mass centre: of a and of b.
    Bodies([[f64; 3]; 2]),
}

/// Stops of a coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stops {
    /// Least value; may be infinite [rad or m].
    pub lower: f64,
    /// Largest value; may be infinite [rad or m].
    pub upper: f64,
    /// Newton's coefficient of restitution, in [0, 1] [-].
    pub restitution: f64,
}

/// Play of a joint: its radial rows give way to contacts of a pin in a hole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clearance {
    /// Difference of the radii of hole and pin [m].
    pub radial: f64,
    /// Radius of the hole [m].
    pub radius: f64,
    /// Length of the bearing [m]; zero in the plane.
    pub length: f64,
    /// Play along the axis [m]; zero keeps the axial row.
    pub axial: f64,
    /// Coefficients of the contacts.
    pub surface: Surface,
    /// How the rims of a pin of some length are taken.
    pub rim: Rim,
    /// Round or square, where a slider is meant.
    pub section: Section,
}

/// A joint between two bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Name in results and messages.
    pub name: String,
    /// Its kind.
    pub kind: &'static JointKind,
    /// The bodies a and b; `ground` is one.
    pub bodies: [String; 2],
    /// The point, or points.
    pub point: Anchor,
    /// The axis.
    pub axis: Anchor,
    /// The second axis.
    pub second_axis: Anchor,
    /// Length of a distance joint, unless it is that where the bodies are drawn [m].
    pub length: Option<f64>,
    /// Way along the axis per turn of a screw [m].
    pub lead: f64,
    /// Links of a chain, the one at body a first.
    pub links: Vec<Link>,
    /// Coordinates of other joints with their factors: their sum keeps its value.
    pub terms: Vec<(JointCoordinate, f64)>,
    /// Play.
    pub clearance: Option<Clearance>,
    /// Stops, by the number of the coordinate.
    pub stops: Vec<(usize, Stops)>,
    /// Largest force or torque of friction, by the number of the coordinate [N or N m].
    pub friction: Vec<(usize, f64)>,
    /// Friction of the first coordinate per load of the joint: μ r of a bearing [m], μ of a guide [-].
    pub bearing: Option<f64>,
}

impl Joint {
    /// A joint of a kind; see the functions with the names of kinds.
    pub fn new(kind: &'static JointKind, name: &str, a: &str, b: &str) -> Joint {
        Joint {
            name: name.into(),
            kind,
            bodies: [a.into(), b.into()],
            point: Anchor::None,
            axis: Anchor::None,
            second_axis: Anchor::None,
            length: None,
            lead: 0.0,
            links: Vec::new(),
            terms: Vec::new(),
            clearance: None,
            stops: Vec::new(),
            friction: Vec::new(),
            bearing: None,
        }
    }

    /// The bodies move as one.
    pub fn fixed(name: &str, a: &str, b: &str) -> Joint {
        Joint::new(&fixed::KIND, name, a, b)
    }

    /// The bodies share a point.
    pub fn spherical(name: &str, a: &str, b: &str) -> Joint {
        Joint::new(&spherical::KIND, name, a, b)
    }

    /// The bodies share a point and an axis; in the plane a point.
    pub fn revolute(name: &str, a: &str, b: &str) -> Joint {
        Joint::new(&revolute::KIND, name, a, b)
    }

    /// The bodies share an axis, turn about it and slide along it.
    pub fn cylindrical(name: &str, a: &str, b: &str) -> Joint {
        Joint::new(&cylindrical::KIND, name, a, b)
    }

    /// The bodies slide along an axis.
    pub fn prismatic(name: &str, a: &str, b: &str) -> Joint {
        Joint::new(&prismatic::KIND, name, a, b)
    }

    /// The bodies share a plane, whose normal is the axis.
    pub fn planar(name: &str, a: &str, b: &str) -> Joint {
        Joint::new(&planar::KIND, name, a, b)
    }

    /// The bodies share a point; an axis of a and a second one of b stay perpendicular.
    pub fn universal(name: &str, a: &str, b: &str) -> Joint {
        Joint::new(&universal::KIND, name, a, b)
    }

    /// A point of each body at a constant distance.
    pub fn distance(name: &str, a: &str, b: &str) -> Joint {
        Joint::new(&distance::KIND, name, a, b)
    }

    /// The bodies share an axis; b goes `lead` along it per turn [m].
    pub fn screw(name: &str, a: &str, b: &str, lead: f64) -> Joint {
        Joint { lead, ..Joint::new(&screw::KIND, name, a, b) }
    }

    /// Turns and ways one after the other, the one at body a first.
    pub fn chain(name: &str, a: &str, b: &str, links: Vec<Link>) -> Joint {
        Joint { links, ..Joint::new(&chain::KIND, name, a, b) }
    }

    /// Names of its coordinates in space, in order.
    pub fn coordinates(&self) -> Vec<&'static str> {
        let links = self.links.iter().enumerate().map(|(i, link)| link.name(i));
        self.kind.coordinates.iter().copied().chain(links).collect()
    }

    /// The second angle goes by `ratio` of the first one; negative where wheels meet from outside.
    pub fn gear(
        name: &str,
        first: impl Into<JointCoordinate>,
        second: impl Into<JointCoordinate>,
        ratio: f64,
    ) -> Joint {
        let terms = vec![(second.into(), 1.0), (first.into(), -ratio)];
        Joint { terms, ..Joint::new(&coupler::GEAR, name, super::GROUND, super::GROUND) }
    }

    /// The rack slides by `radius` times the angle of the pinion.
    pub fn rack(
        name: &str,
        pinion: impl Into<JointCoordinate>,
        rack: impl Into<JointCoordinate>,
        radius: f64,
    ) -> Joint {
        let terms = vec![(rack.into(), 1.0), (pinion.into(), -radius)];
        Joint { terms, ..Joint::new(&coupler::RACK, name, super::GROUND, super::GROUND) }
    }

    /// A sum of coordinates with factors keeps its value.
    pub fn coupler(name: &str, terms: Vec<(JointCoordinate, f64)>) -> Joint {
        Joint { terms, ..Joint::new(&coupler::COUPLER, name, super::GROUND, super::GROUND) }
    }

    /// The common point, in axes of the space where the bodies are drawn [m].
    pub fn at(mut self, point: impl Into<Xyz>) -> Joint {
        self.point = Anchor::Drawn([point.into().0; 2]);
        self
    }

    /// A point of each body, in axes of the space where the bodies are drawn [m].
    pub fn ends(mut self, a: impl Into<Xyz>, b: impl Into<Xyz>) -> Joint {
        self.point = Anchor::Drawn([a.into().0, b.into().0]);
        self
    }

    /// A point of each body in its own axes, from its mass centre [m]; of the ground in axes of the space.
    pub fn at_bodies(mut self, a: impl Into<Xyz>, b: impl Into<Xyz>) -> Joint {
        self.point = Anchor::Bodies([a.into().0, b.into().0]);
        self
    }

    /// The axis, in axes of the space where the bodies are drawn.
    pub fn axis(mut self, axis: impl Into<Xyz>) -> Joint {
        self.axis = Anchor::Drawn([axis.into().0; 2]);
        self
    }

    /// The axis in axes of each body.
    pub fn axis_bodies(mut self, a: impl Into<Xyz>, b: impl Into<Xyz>) -> Joint {
        self.axis = Anchor::Bodies([a.into().0, b.into().0]);
        self
    }

    /// The second axis of a universal joint, in axes of the space where the bodies are drawn.
    pub fn second_axis(mut self, axis: impl Into<Xyz>) -> Joint {
        self.second_axis = Anchor::Drawn([axis.into().0; 2]);
        self
    }

    /// Length of a distance joint [m].
    pub fn length(mut self, length: f64) -> Joint {
        self.length = Some(length);
        self
    }

    /// Play in place of radial rows.
    pub fn clearance(mut self, clearance: Clearance) -> Joint {
        self.clearance = Some(clearance);
        self
    }

    /// Stops of the first coordinate.
    pub fn stops(self, lower: f64, upper: f64, restitution: f64) -> Joint {
        self.stops_of(0, Stops { lower, upper, restitution })
    }

    /// Stops of a coordinate.
    pub fn stops_of(mut self, coordinate: usize, stops: Stops) -> Joint {
        self.stops.push((coordinate, stops));
        self
    }

    /// Friction of the first coordinate, of constant size [N or N m].
    pub fn friction(self, size: f64) -> Joint {
        self.friction_of(0, size)
    }

    /// Friction of a coordinate, of constant size [N or N m].
    pub fn friction_of(mut self, coordinate: usize, size: f64) -> Joint {
        self.friction.push((coordinate, size));
        self
    }

    /// Friction of the first coordinate that follows the load: its force or torque is at most `coefficient` times the
    /// force that the joint carries. The coefficient is μ r of a revolute joint [m], μ of a prismatic one [-].
    pub fn bearing(mut self, coefficient: f64) -> Joint {
        self.bearing = Some(coefficient);
        self
    }
}
