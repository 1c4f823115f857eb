//! What a model is made of, with numbers in place of names. The ground is body number 0.

use super::contact::Surface;
use super::coordinate::Coordinate;
use super::function::Function;
use super::joint::Play;
use super::load::Axes;
use super::motor::Integral;
use super::near::Solids;
use super::pair::AnyPair;
use super::primitive::Primitive;
use crate::model::Bearing;
use crate::rotation::Retraction;
use carom_solve::Law;
use std::ops::Range;

/// Inertia of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Inertial {
    pub mass: f64,
    pub inertia: [[f64; 3]; 3],
    /// Whether the body turns without gyroscopic torque.
    pub is_isotropic: bool,
}

impl Inertial {
    /// `out ← M v` of one body.
    #[inline]
    pub fn momentum(&self, is_planar: bool, v: &[f64], out: &mut [f64]) {
        if is_planar {
            (out[0], out[1], out[2]) = (self.mass * v[0], self.mass * v[1], self.inertia[2][2] * v[2]);
            return;
        }
        for i in 0..3 {
            out[i] = self.mass * v[i];
            let row = &self.inertia[i];
            out[3 + i] = row[0] * v[3] + row[1] * v[4] + row[2] * v[5];
        }
    }
}

/// A row of a joint.
#[derive(Clone, Debug)]
pub(crate) struct JointRow {
    pub joint: usize,
    /// The end of its name.
    pub name: &'static str,
    pub bodies: [usize; 2],
    pub primitive: Primitive,
    /// Whether it is about the same two points as the row before.
    pub follows: bool,
}

/// Directions of two bodies that point the same way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aligned {
    pub joint: usize,
    pub bodies: [usize; 2],
    pub a: [f64; 3],
    pub b: [f64; 3],
}

/// A coordinate of a joint, or of a torsion spring.
#[derive(Clone, Debug)]
pub(crate) struct PlacedCoordinate {
    pub name: String,
    pub bodies: [usize; 2],
    pub coordinate: Coordinate,
    /// Where its turns are counted, among the last entries of q; in the plane angles count themselves.
    pub counter: Option<usize>,
    /// In the plane: angle of b less that of a where the coordinate is zero.
    pub offset: f64,
}

/// A spring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedSpring {
    pub bodies: [usize; 2],
    pub ends: PlacedEnds,
    pub stiffness: f64,
    pub damping: f64,
    pub preload: f64,
    pub rest: f64,
}

/// What a spring acts between.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PlacedEnds {
    Points([[f64; 3]; 2]),
    Coordinate(usize),
}

/// A number that functions depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PlacedSignal {
    Time,
    Coordinate(usize),
    Rate(usize),
    Position(usize, usize),
    Angle(usize),
    Attitude(usize, usize),
    Velocity(usize, usize),
    Spin(usize, usize),
}

/// A load on a body, or the effort of a motor on a coordinate.
#[derive(Clone, Debug)]
pub(crate) struct PlacedLoad {
    pub name: String,
    pub on: LoadOn,
    pub inputs: Vec<PlacedSignal>,
    pub function: Box<dyn Function>,
}

/// What a load acts on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LoadOn {
    Body { body: usize, point: [f64; 3], axes: Axes },
    Coordinate(usize),
}

impl PlacedLoad {
    /// Whether force and moment on the body stay as they are while bodies move, where the function's values do.
    pub fn is_constant(&self, is_planar: bool) -> bool {
        match self.on {
            LoadOn::Body { point, axes, .. } => is_planar && axes == Axes::World && point == [0.0; 3],
            LoadOn::Coordinate(_) => false,
        }
    }
}

/// A prescribed coordinate.
#[derive(Clone, Debug)]
pub(crate) struct PlacedMotor {
    pub coordinate: usize,
    /// Whether the function is the rate.
    pub is_rate: bool,
    pub function: Box<dyn Function>,
    pub integral: Integral,
    /// The coordinate at the start, where the function is its rate.
    pub start: f64,
}

/// A contact.
#[derive(Clone, Debug)]
pub(crate) struct PlacedContact {
    pub name: String,
    pub bodies: [usize; 2],
    pub pair: AnyPair,
    pub surface: Surface,
    pub law: Law,
}

/// The play of a joint.
#[derive(Clone, Debug)]
pub(crate) struct PlacedPlay {
    pub joint: usize,
    pub bodies: [usize; 2],
    pub play: Play,
    /// The contacts across its axis.
    pub contacts: Range<usize>,
}

/// What an output of the model is; the order is that of the laws.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Item {
    Row(usize),
    Motor(usize),
    /// Coordinate, bound, +1 for a lower and −1 for an upper stop, restitution.
    Stop {
        coordinate: usize,
        bound: f64,
        sign: f64,
        restitution: f64,
    },
    /// Friction on a coordinate, and the part of it that has a constant size.
    Friction {
        coordinate: usize,
        size: f64,
    },
    Contact {
        contact: usize,
        place: usize,
    },
}

/// All of it.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub is_planar: bool,
    pub retraction: Retraction,
    pub gravity: [f64; 3],
    pub names: Vec<String>,    // of bodies, the ground first
    pub joints: Vec<String>,   // names of joints
    pub bodies: Vec<Inertial>, // without the ground
    pub rows: Vec<JointRow>,
    pub aligned: Vec<Aligned>,
    pub of_joint: Vec<Range<usize>>, // coordinates of each joint
    pub coordinates: Vec<PlacedCoordinate>,
    pub counted: Vec<usize>, // coordinates whose turns are counted, in the order of the last entries of q
    pub springs: Vec<PlacedSpring>,
    pub loads: Vec<PlacedLoad>,
    pub motors: Vec<PlacedMotor>,
    pub contacts: Vec<PlacedContact>,
    pub plays: Vec<PlacedPlay>,
    pub items: Vec<(String, Item)>, // laws, with their names
    pub bearings: Vec<Bearing>,     // friction that follows reactions
    pub drives: Vec<usize>,         // coordinates that motors prescribe
    pub length: Option<f64>,
    pub solids: Solids, // shapes that touch by themselves
}

impl Plan {
    /// Coordinates of a body: of q, of v.
    pub fn sizes(&self) -> (usize, usize) {
        if self.is_planar { (3, 3) } else { (7, 6) }
    }

    /// Number of velocities.
    pub fn dim(&self) -> usize {
        self.bodies.len() * self.sizes().1
    }

    /// Entries of q without the counted angles.
    pub fn poses(&self) -> usize {
        self.bodies.len() * self.sizes().0
    }

    /// Number of entries of q.
    pub fn positions(&self) -> usize {
        self.poses() + self.counted.len()
    }

    /// Which coordinates are asked for their values: their turns matter.
    pub fn used_coordinates(&self) -> Vec<bool> {
        let mut used = vec![false; self.coordinates.len()];
        for row in &self.rows {
            if let Primitive::Relation { terms, .. } = &row.primitive {
                terms.iter().for_each(|&(i, _)| used[i] = true);
            }
        }
        for spring in &self.springs {
            if let PlacedEnds::Coordinate(i) = spring.ends {
                used[i] = true;
            }
        }
        self.motors.iter().for_each(|motor| used[motor.coordinate] = true);
        for signal in self.loads.iter().flat_map(|load| &load.inputs) {
            if let PlacedSignal::Coordinate(i) = signal {
                used[*i] = true;
            }
        }
        for (_, item) in &self.items {
            if let Item::Stop { coordinate, .. } = item {
                used[*coordinate] = true;
            }
        }
        used
    }

    /// Marks rows about the same two points as the row before.
    pub fn mark_pins(&mut self) {
        let mut before = None;
        for (_, item) in &self.items {
            let Item::Row(i) = *item else { break };
            let row = &mut self.rows[i];
            let points = match &row.primitive {
                Primitive::Point { a, b, .. } => Some((row.bodies, *a, *b)),
                _ => None,
            };
            row.follows = points.is_some() && points == before;
            before = points;
        }
    }

    /// The law of an item.
    pub fn law(&self, item: &Item, h: f64) -> Law {
        match item {
            Item::Row(_) | Item::Motor(_) => Law::EQUALITY,
            Item::Stop { .. } => Law::UNILATERAL,
            Item::Friction { size, .. } => Law::interval(-h * size, h * size),
            Item::Contact { contact, .. } => self.contacts[*contact].law,
        }
    }
}
