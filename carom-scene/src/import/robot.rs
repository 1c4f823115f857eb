//! What all formats say of a robot: parts that hang on each other by joints. Numbers are in SI, angles in radians.

use carom::elementary::sin_cos;
use carom::multibody::Mesh;
use carom::rotation::{Quaternion, normalised, product, rotate};

use std::path::PathBuf;
use std::sync::Arc;

use crate::diagnostic::Place;

/// Where something stands in something else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pose {
    pub at: [f64; 3],
    pub turn: Quaternion,
}

impl Pose {
    pub const HERE: Pose = Pose { at: [0.0; 3], turn: carom::rotation::IDENTITY };

    /// A point of it, in axes of what it stands in.
    pub fn point(&self, s: [f64; 3]) -> [f64; 3] {
        plus(self.at, rotate(self.turn, s))
    }

    /// What stands in it, in axes of what it stands in itself.
    pub fn then(&self, inner: &Pose) -> Pose {
        Pose { at: self.point(inner.at), turn: normalised(product(self.turn, inner.turn)) }
    }
}

pub(super) fn plus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] + b[i])
}

pub(super) fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] - b[i])
}

pub(super) fn times(a: [f64; 3], x: f64) -> [f64; 3] {
    a.map(|a| a * x)
}

pub(super) fn length(a: [f64; 3]) -> f64 {
    a.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The rotation about a unit axis.
pub(super) fn about(axis: [f64; 3], angle: f64) -> Quaternion {
    let (s, c) = sin_cos(angle / 2.0);
    [c, s * axis[0], s * axis[1], s * axis[2]]
}

/// The shortest rotation that takes z to a direction.
pub(super) fn to_axis(d: [f64; 3]) -> Option<Quaternion> {
    let size = length(d);
    if !(size > 1e-150 && size.is_finite()) {
        return None;
    }
    let d = times(d, 1.0 / size);
    if d[2] < -1.0 + 1e-14 {
        return Some([0.0, 1.0, 0.0, 0.0]);
    }
    Some(normalised([1.0 + d[2], -d[1], d[0], 0.0]))
}

/// Mass, mass centre and inertia about it in axes of the part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mass {
    pub mass: f64,
    pub centre: [f64; 3],
    pub inertia: [[f64; 3]; 3],
}

/// What a joint leaves free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freedom {
    Turn,
    Slide,
    Ball,
    Free,
}

/// A joint of a part to the one that carries it.
#[derive(Clone, Debug)]
pub(super) struct Motion {
    pub name: String,
    pub place: Place,
    pub freedom: Freedom,
    /// In axes of the part.
    pub axis: [f64; 3],
    /// In axes of the part.
    pub at: [f64; 3],
    /// Least and largest coordinate, with their places.
    pub limits: Option<([f64; 2], Place)>,
    /// The coordinate where the part is drawn.
    pub reference: f64,
    pub stiffness: f64,
    /// The coordinate where the spring is at rest.
    pub rest: f64,
    pub damping: f64,
    pub friction: f64,
    pub armature: f64,
}

impl Motion {
    pub fn new(name: String, place: &Place, freedom: Freedom) -> Motion {
        Motion {
            name,
            place: place.clone(),
            freedom,
            axis: [0.0, 0.0, 1.0],
            at: [0.0; 3],
            limits: None,
            reference: 0.0,
            stiffness: 0.0,
            rest: 0.0,
            damping: 0.0,
            friction: 0.0,
            armature: 0.0,
        }
    }
}

/// The form of a shape, centred at its pose; axes of cylinders and capsules, and normals of planes, are z.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    Sphere(f64),
    /// Half edges.
    Box([f64; 3]),
    Cylinder {
        radius: f64,
        half: f64,
    },
    Capsule {
        radius: f64,
        half: f64,
    },
    /// Half axes.
    Ellipsoid([f64; 3]),
    Plane,
    /// A mesh of a file.
    Mesh(MeshFile),
    /// The convex hull of points.
    Hull(Arc<Mesh>),
}

/// A mesh of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MeshFile {
    /// Its path, as it can be opened from here.
    pub path: PathBuf,
    pub scale: [f64; 3],
    /// Its triangles, with the scale.
    pub mesh: Arc<Mesh>,
}

/// A shape of a part.
#[derive(Clone, Debug)]
pub(super) struct Solid {
    pub name: Option<String>,
    pub place: Place,
    pub form: Form,
    /// In axes of the part.
    pub pose: Pose,
    pub touch: Touch,
}

/// How a shape touches others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Touch {
    /// Bits of what it is and of what it touches; two shapes touch where one of them finds the other.
    pub bits: [u32; 2],
    /// Friction, spinning and rolling friction.
    pub friction: [f64; 3],
    /// 1: no friction, 3: friction, 4: spinning as well, 6: rolling as well.
    pub dimensions: u32,
    pub priority: i64,
}

impl Touch {
    /// Touches nothing.
    pub const NOTHING: Touch = Touch { bits: [0, 0], friction: [0.0; 3], dimensions: 3, priority: 0 };
}

/// A part: what moves as one.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub name: String,
    pub place: Place,
    /// The part that carries it; the ground where there is none.
    pub parent: Option<usize>,
    /// In axes of the parent, where all joints are at their references.
    pub pose: Pose,
    /// The first one is next to the parent.
    pub joints: Vec<Motion>,
    pub mass: Option<Mass>,
    pub shapes: Vec<Solid>,
    /// Whether a part without joints becomes one with its parent.
    pub fuses: bool,
}

/// What holds besides joints.
#[derive(Clone, Debug)]
pub(super) enum Tie {
    /// A point of the first part, in its axes, is one of the second, where they are drawn.
    Point([Option<usize>; 2], [f64; 3]),
    /// Two parts move as one.
    Whole([Option<usize>; 2]),
    /// The first coordinate follows the second, q₁ = constant + factor q₂; none: it keeps its value.
    Follow { joint: String, other: Option<String>, factor: f64, constant: f64 },
}

/// A cord between two points of parts, each in axes of its part.
#[derive(Clone, Debug)]
pub(super) struct Cord {
    pub name: String,
    pub place: Place,
    pub ends: [(Option<usize>, [f64; 3]); 2],
    /// Its length where it is taut.
    pub longest: Option<f64>,
    pub stiffness: f64,
    pub damping: f64,
    /// Length at which its spring is at rest; that of the start where there is none.
    pub rest: Option<f64>,
}

/// What bodies move in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fluid {
    /// [kg/m³]
    pub density: f64,
    /// [Pa s]
    pub viscosity: f64,
    /// Its velocity [m/s].
    pub wind: [f64; 3],
}

/// A robot.
#[derive(Clone, Debug)]
pub(super) struct Robot {
    pub name: String,
    pub gravity: [f64; 3],
    /// Parents come before what they carry.
    pub parts: Vec<Part>,
    /// Shapes of the ground.
    pub ground: Vec<Solid>,
    pub ties: Vec<(String, Tie, Place)>,
    pub cords: Vec<Cord>,
    pub fluid: Option<Fluid>,
    /// Pairs of parts whose shapes do not touch; the ground is none.
    pub excluded: Vec<[Option<usize>; 2]>,
    /// Whether shapes touch at all.
    pub touches: bool,
    /// Step that the file asks for [s].
    pub step: Option<f64>,
}

/// R J Rᵀ
pub(super) fn rotate_inertia(turn: Quaternion, inertia: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let r = carom::rotation::matrix(turn);
    let half: [[f64; 3]; 3] =
        std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| r[i][k] * inertia[k][j]).sum()));
    let mut full: [[f64; 3]; 3] =
        std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| half[i][k] * r[j][k]).sum()));
    for (i, j) in [(0, 1), (0, 2), (1, 2)] {
        let mean = (full[i][j] + full[j][i]) / 2.0;
        (full[i][j], full[j][i]) = (mean, mean);
    }
    full
}
