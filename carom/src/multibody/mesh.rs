//! Surfaces of triangles: whether they are closed, and what is inside of them.

use super::Mass;
use super::pair::hull::{Hull, HullError};
use super::pair::shape::Triple;
use std::collections::HashMap;

/// The largest coordinate.
const LARGEST: f64 = 1e150;

/// A surface of triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    points: Vec<Triple>,
    triangles: Vec<[u32; 3]>,
}

/// A surface that has no inside. Triangles are counted from 1.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshError {
    /// A triangle names a point that is not there.
    #[error("triangle {triangle} has the point {point}, and there are {points}")]
    NoPoint {
        /// Number of the triangle.
        triangle: usize,
        /// Number of the point.
        point: usize,
        /// How many there are.
        points: usize,
    },
    /// A coordinate is not a number, or so large that squares of it are infinite.
    #[error("point {0} is no place: a coordinate is not finite, or beyond 1e150")]
    NotFinite(usize),
    /// An edge has a triangle on one side alone.
    #[error("the surface is open: triangle {triangle} has no neighbour at its edge from {from:?} to {to:?}")]
    Open {
        /// Number of the triangle.
        triangle: usize,
        /// One end of the edge [m].
        from: Triple,
        /// The other one [m].
        to: Triple,
    },
    /// Two neighbours look to different sides.
    #[error("triangles {first} and {second} look to different sides, at the edge from {from:?} to {to:?}")]
    Turned {
        /// Number of a triangle.
        first: usize,
        /// Number of the other one.
        second: usize,
        /// One end of their edge [m].
        from: Triple,
        /// The other one [m].
        to: Triple,
    },
    /// There is no volume, or a negative one.
    #[error("the volume inside is {0:.6e}: the triangles look inwards, or there is nothing between them")]
    Inside(f64),
}

impl Mesh {
    /// A surface; points at the same place become one.
    pub fn new(points: &[Triple], triangles: &[[u32; 3]]) -> Result<Mesh, MeshError> {
        if let Some(k) = points.iter().position(|point| !point.iter().all(|x| x.abs() <= LARGEST)) {
            return Err(MeshError::NotFinite(k + 1));
        }
        let mut known: HashMap<[u64; 3], u32> = HashMap::with_capacity(points.len());
        let mut all = Vec::new();
        let mut number = Vec::with_capacity(points.len());
        for point in points {
            // no negative zeros
            let bits = point.map(|x| (x + 0.0).to_bits());
            let next = u32::try_from(all.len()).unwrap_or(u32::MAX);
            number.push(*known.entry(bits).or_insert_with(|| {
                all.push(*point);
                next
            }));
        }
        let mut made = Vec::with_capacity(triangles.len());
        for (k, triangle) in triangles.iter().enumerate() {
            if let Some(i) = triangle.iter().find(|i| **i as usize >= number.len()) {
                let (triangle, point, points) = (k + 1, *i as usize + 1, number.len());
                return Err(MeshError::NoPoint { triangle, point, points });
            }
            made.push(triangle.map(|i| number[i as usize]));
        }
        Ok(Mesh { points: all, triangles: made })
    }

    /// Corners.
    pub fn points(&self) -> &[Triple] {
        &self.points
    }

    /// Three corners each, counterclockwise seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The same surface with other points; `mirrored` where left and right change places.
    pub fn mapped(&self, mirrored: bool, to: impl Fn(Triple) -> Triple) -> Mesh {
        let turned = |[a, b, c]: [u32; 3]| if mirrored { [a, c, b] } else { [a, b, c] };
        Mesh {
            points: self.points.iter().map(|p| to(*p)).collect(),
            triangles: self.triangles.iter().map(|t| turned(*t)).collect(),
        }
    }

    /// Whether each edge has as many triangles on one side as on the other one.
    pub fn check_closed(&self) -> Result<(), MeshError> {
        let mut sides: HashMap<[u32; 2], (u32, usize)> = HashMap::with_capacity(3 * self.triangles.len());
        let edges = |[a, b, c]: [u32; 3]| [[a, b], [b, c], [c, a]];
        for (k, triangle) in self.triangles.iter().enumerate() {
            for edge in edges(*triangle) {
                sides.entry(edge).or_insert((0, k)).0 += 1;
            }
        }
        for (k, triangle) in self.triangles.iter().enumerate() {
            for [a, b] in edges(*triangle) {
                let (there, back) = (sides[&[a, b]], sides.get(&[b, a]).copied().unwrap_or_default());
                // of two that go the same way the second one tells it
                if a == b || there.0 <= back.0 || there.0 > 1 && there.1 == k {
                    continue;
                }
                let [from, to] = [a, b].map(|i| self.points[i as usize]);
                return Err(match there.0 {
                    1 => MeshError::Open { triangle: k + 1, from, to },
                    _ => MeshError::Turned { first: there.1 + 1, second: k + 1, from, to },
                });
            }
        }
        Ok(())
    }

    /// What is inside, by exact integration over the closed surface, with a density [kg/m³].
    pub fn mass(&self, density: f64) -> Result<Mass, MeshError> {
        self.check_closed()?;
        Mass::inside(&self.points, &self.triangles, density).ok_or_else(|| MeshError::Inside(self.volume()))
    }

    fn volume(&self) -> f64 {
        let part = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| super::Vector::<f64>(self.points[i as usize]));
            a.dot(b.cross(c)) / 6.0
        };
        self.triangles.iter().map(part).sum()
    }

    /// The smallest convex shape around it.
    pub fn hull(&self) -> Result<Hull, HullError> {
        Hull::around(&self.points)
    }
}
