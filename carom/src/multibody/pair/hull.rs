//! Convex polygons of the plane and convex polyhedra: corners, faces and edges.
//!
//! ```text
//!     face:   n·(x − p) ≤ 0 of all points;   x over it:   (x − p_k)·w_k ≥ 0 of all sides k, w_k into the face      (1)
//! ```
//!
//! A polygon has its sides as faces. Facets of a polyhedron whose corners are in one plane to a millionth of its size
//! are one face: contacts are exact to rounding where faces are plane to rounding, and to this where they are not, as
//! those of files in single precision.

mod quick;

use super::geometry::span;
use super::shape::Triple;
use crate::multibody::Vector;
use carom_solve::elementary::atan2;

/// Most corners of a polygon or a polyhedron.
pub const MOST: usize = 1000;

/// Part of the size by which corners may be off the plane of their face.
pub const FLAT: f64 = 1e-6;

/// Sine of the angle below which two sides of a polygon are one line.
const STRAIGHT: f64 = 1e-9;

/// What is inside of a few planes, or lines of the plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Hull {
    points: Vec<Triple>, // corners first, then points inside of faces
    corners: usize,
    faces: Vec<Face>,
    edges: Vec<Edge>,
    triangles: Vec<[u32; 3]>,
    centre: Triple,
    radius: f64,
}

/// A face of a polyhedron, or a side of a polygon.
#[derive(Clone, Debug, PartialEq)]
pub struct Face {
    /// Outward unit normal.
    pub normal: Triple,
    /// A corner of it.
    pub corner: usize,
    /// A corner of each side, and the unit vector from the side into the face.
    pub sides: Vec<(usize, Triple)>,
    /// How far the farthest corner is behind it [m].
    pub depth: f64,
}

/// An edge of a polyhedron, or a side of a polygon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Its middle.
    pub at: Triple,
    /// Unit vector along it.
    pub direction: Triple,
    /// Half of its length [m].
    pub half: f64,
    /// Unit vectors from it into its two faces; nothing of polygons.
    pub inward: [Triple; 2],
}

/// Points that make no convex shape.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum HullError {
    /// Too few points.
    #[error("{0} points have no inside")]
    Few(usize),
    /// Too many corners.
    #[error("the convex hull has {0} corners, more than {MOST}")]
    Many(usize),
    /// A number is infinite or not a number; counted from 0.
    #[error("point {} is not finite", .0 + 1)]
    NotFinite(usize),
    /// Two corners at one place.
    #[error("point {} is where the one before it is", .0 + 1)]
    Twice(usize),
    /// The outline turns to the other side.
    #[error("the polygon is not convex at point {}", .0 + 1)]
    NotConvex(usize),
    /// The outline does not turn.
    #[error("the polygon is straight at point {}", .0 + 1)]
    Straight(usize),
    /// The outline goes around more than once.
    #[error("the polygon crosses itself")]
    Crosses,
    /// All points are in a plane.
    #[error("the points have no volume between them")]
    Flat,
}

pub(super) fn minus(a: Triple, b: Triple) -> Triple {
    std::array::from_fn(|i| a[i] - b[i])
}

pub(super) fn dot(a: Triple, b: Triple) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl Hull {
    /// The polygon with these corners, all around in either direction.
    pub fn polygon(points: &[[f64; 2]]) -> Result<Hull, HullError> {
        let n = points.len();
        if n < 3 {
            return Err(HullError::Few(n));
        }
        if n > MOST {
            return Err(HullError::Many(n));
        }
        if let Some(k) = points.iter().position(|point| !point.iter().all(|x| x.is_finite())) {
            return Err(HullError::NotFinite(k));
        }
        let mut corners: Vec<Triple> = points.iter().map(|[x, y]| [*x, *y, 0.0]).collect();
        if let Some(k) = (0..n).find(|&k| corners[k] == corners[(k + n - 1) % n]) {
            return Err(HullError::Twice(k));
        }
        let turns = turns(&corners);
        let way = if turns.iter().map(|(_, angle)| angle).sum::<f64>() < 0.0 { -1.0 } else { 1.0 };
        if let Some(k) = turns.iter().position(|(sine, _)| sine.abs() < STRAIGHT) {
            return Err(HullError::Straight(k));
        }
        if let Some(k) = turns.iter().position(|(sine, _)| sine * way < 0.0) {
            return Err(HullError::NotConvex(k));
        }
        if turns.iter().map(|(_, angle)| angle.abs()).sum::<f64>() > 7.0 {
            return Err(HullError::Crosses);
        }
        if way < 0.0 {
            // the first one stays the first
            corners[1..].reverse();
        }
        let edges: Vec<Edge> = (0..n).map(|k| edge([corners[k], corners[(k + 1) % n]], [[0.0; 3]; 2])).collect();
        let faces = edges.iter().enumerate().map(|(k, edge)| {
            let [x, y, _] = edge.direction;
            Face {
                normal: [y, -x, 0.0],
                corner: k,
                sides: vec![(k, edge.direction), ((k + 1) % n, edge.direction.map(|x| -x))],
                depth: 0.0,
            }
        });
        let faces = faces.collect();
        Ok(Hull::finish((corners, n), faces, edges, Vec::new()))
    }

    /// The smallest polyhedron that has these points inside.
    pub fn around(points: &[Triple]) -> Result<Hull, HullError> {
        quick::hull(points)
    }

    fn finish(
        (points, corners): (Vec<Triple>, usize),
        mut faces: Vec<Face>,
        edges: Vec<Edge>,
        triangles: Vec<[u32; 3]>,
    ) -> Hull {
        for face in &mut faces {
            let behind = |corner: &Triple| dot(face.normal, minus(points[face.corner], *corner));
            face.depth = points.iter().map(behind).fold(0.0, f64::max);
        }
        let (low, high) = bounds(&points);
        let centre: Triple = std::array::from_fn(|i| 0.5 * (low[i] + high[i]));
        let radius = points.iter().map(|c| dot(minus(*c, centre), minus(*c, centre)).sqrt()).fold(0.0, f64::max);
        Hull { points, corners, faces, edges, triangles, centre, radius }
    }

    /// Whether it is a polygon of the plane.
    pub fn is_planar(&self) -> bool {
        self.triangles.is_empty()
    }

    /// Corners; those of a polygon are counterclockwise.
    pub fn corners(&self) -> &[Triple] {
        &self.points[..self.corners]
    }

    /// Corners of triangles: those of the hull, then some inside of faces.
    pub fn points(&self) -> &[Triple] {
        &self.points
    }

    /// Faces, or sides of a polygon.
    pub fn faces(&self) -> &[Face] {
        &self.faces
    }

    /// Edges, or sides of a polygon.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The surface of a polyhedron by triangles of [`points`](Self::points), counterclockwise seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Centre and radius of a ball around it.
    pub fn ball(&self) -> (Triple, f64) {
        (self.centre, self.radius)
    }

    /// Radius of a ball inside of it, about the mean of its corners.
    pub fn thickness(&self) -> f64 {
        let mean = |i: usize| self.corners().iter().map(|p| p[i]).sum::<f64>() / self.corners as f64;
        let middle = [mean(0), mean(1), mean(2)];
        let height = |face: &Face| dot(face.normal, minus(self.points[face.corner], middle));
        self.faces.iter().map(height).fold(f64::INFINITY, f64::min).max(0.0)
    }

    /// How far inside of a face the foot of a point is; negative also where the point is behind the whole shape.
    pub fn over(&self, face: usize, point: Triple) -> f64 {
        let Face { normal, corner, sides, depth } = &self.faces[face];
        let behind = depth + dot(*normal, minus(point, self.points[*corner]));
        sides.iter().map(|(corner, inward)| dot(*inward, minus(point, self.points[*corner]))).fold(behind, f64::min)
    }
}

/// The edge between two corners.
fn edge(ends: [Triple; 2], inward: [Triple; 2]) -> Edge {
    let (direction, length) = span(ends);
    Edge { at: std::array::from_fn(|i| 0.5 * (ends[0][i] + ends[1][i])), direction, half: length / 2.0, inward }
}

/// Sine and angle of the turn at each corner of an outline.
fn turns(corners: &[Triple]) -> Vec<(f64, f64)> {
    let n = corners.len();
    let along = |k: usize| Vector::<f64>(span([corners[k], corners[(k + 1) % n]]).0);
    let turn = |k: usize| {
        let (before, after) = (along((k + n - 1) % n), along(k));
        let sine = before.cross(after).0[2];
        (sine, atan2(sine, before.dot(after)))
    };
    (0..n).map(turn).collect()
}

/// The least and the largest coordinates.
fn bounds(points: &[Triple]) -> (Triple, Triple) {
    let none = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    points.iter().fold(none, |(low, high), p| {
        (std::array::from_fn(|i| low[i].min(p[i])), std::array::from_fn(|i| high[i].max(p[i])))
    })
}
