//! Two polygons or polyhedra, or one of them and a box: corners of one on faces of the other one, and edges that cross.
//!
//! ```text
//!     corner c of b, face f of a:   gap = n_f·(c − o_f),     counts while the foot of c is on the face             (1)
//!     edges d_a, d_b:               gap = n·(p_b − p_a),     n = ±d_a × d_b/|d_a × d_b|,
//!                                                            counts while both closest points are on the edges    (2)
//! ```
//!
//! Each place is a smooth function of the positions, exact to rounding. As with boxes, the axis along which the shapes
//! are farthest apart, or lie in each other least, tells which places count: a normal of a face, or d_a × d_b of two
//! edges whose faces have it between their normals. Faces on each other touch where their outlines do: at corners of b
//! on the face of a, the border included by a ten-thousandth of the size, at corners of a inside the face of b, and
//! where edges cross inside the edge of b.

use super::geometry::{crossing_at, offset, touch_crossing};
use super::hull::{Edge, dot, minus};
use super::sphere_plane::touch_plane;
use super::{Faceted, Pair, Sphere, Touch};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Part of the size of both shapes by which a foot may miss a face, and sine of the angle of edges that cross.
const BORDER: f64 = 1e-4;

/// Cosine between the normal of a place and the axis.
const NEAR: f64 = 0.9;

/// An edge counts if its normal leaves the wedge of its faces by no more than this sine.
const WEDGE: f64 = 0.1;

/// Part of the size by which the axis of two edges must be better than that of a face.
const BETTER: f64 = 1e-6;

/// Two shapes with plane faces.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexConvex {
    /// On body a.
    pub first: Faceted,
    /// On body b.
    pub second: Faceted,
}

/// What a place is.
#[derive(Clone, Copy)]
enum Kind {
    /// Corner of b, face of a.
    CornerOfB(usize, usize),
    /// Corner of a, face of b.
    CornerOfA(usize, usize),
    /// Edge of a, edge of b.
    Edges(usize, usize),
}

/// Two edges that may cross.
struct Crossing {
    edges: [usize; 2],
    /// Out of a, in axes of b.
    normal: Vector,
    /// How far apart they are along it.
    far: f64,
    /// By which sine the normal leaves the wedges of the faces.
    outside: f64,
}

impl ConvexConvex {
    /// Corners of b times faces of a, and corners of a times faces of b.
    fn facing(&self) -> [usize; 2] {
        let (first, second) = (&self.first, &self.second);
        [second.corners() * first.faces(), first.corners() * second.faces()]
    }

    fn kind(&self, place: usize) -> Kind {
        let [of_b, of_a] = self.facing();
        let (first, second) = (&self.first, &self.second);
        match place {
            place if place < of_b => Kind::CornerOfB(place / first.faces(), place % first.faces()),
            place if place < of_b + of_a => {
                Kind::CornerOfA((place - of_b) / second.faces(), (place - of_b) % second.faces())
            }
            place => {
                let place = place - of_b - of_a;
                Kind::Edges(place / second.edges(), place % second.edges())
            }
        }
    }

    fn border(&self) -> f64 {
        BORDER * self.first.ball().1.max(self.second.ball().1)
    }

    /// How far inside of a face of the first shape the foot of a point of the second body is.
    fn over(shape: &Faceted, face: usize, point: [f64; 3], frames: (&Frame, &Frame)) -> f64 {
        let r = offset(frames, [0.0; 3], point);
        shape.over(face, frames.0.body_direction(r).0)
    }

    /// The height of the lowest point of the second shape over a face of the first one, and the normal of this face.
    fn height([one, other]: [&Faceted; 2], face: usize, frames: (&Frame, &Frame)) -> (f64, Vector) {
        let plane = one.face(face);
        let normal = frames.0.direction(plane.normal);
        let below = other.least(frames.1.body_direction(normal).0);
        (normal.dot(offset(frames, plane.point, [0.0; 3])) + below, normal)
    }

    /// Calls `found` for edges that are within this distance of each other, if they cross.
    fn crossings(&self, (a, b): (&Frame, &Frame), within: f64, mut found: impl FnMut(Crossing)) {
        let (centre, radius) = self.second.ball();
        for i in 0..self.first.edges() {
            let Edge { at, direction, half, inward } = self.first.edge(i);
            let at = b.body_direction(offset((b, a), [0.0; 3], at)).0;
            let off = minus(at, centre);
            if dot(off, off) > (radius + half + within).powi(2) {
                continue;
            }
            let into_b = |d: [f64; 3]| b.body_direction(a.direction(d));
            let (d, inward) = (into_b(direction), inward.map(into_b));
            for j in 0..self.second.edges() {
                let other = self.second.edge(j);
                let r = minus(other.at, at);
                if dot(r, r) > (half + other.half + within).powi(2) {
                    continue;
                }
                let c = d.cross(Vector(other.direction));
                let square = c.square();
                if square < BORDER * BORDER {
                    continue;
                }
                // out of the faces of a
                let way = if c.dot(inward[0] + inward[1]) > 0.0 { -1.0 } else { 1.0 };
                let normal = c * (way / square.sqrt());
                let outside = inward.map(|w| normal.dot(w)).into_iter().fold(f64::NEG_INFINITY, f64::max);
                let outside = other.inward.map(|w| -normal.dot(Vector(w))).into_iter().fold(outside, f64::max);
                found(Crossing { edges: [i, j], normal, far: normal.dot(Vector(r)), outside });
            }
        }
    }

    /// The axis along which the shapes are farthest apart, from a to b, and by how much; none if by more than the
    /// margin.
    fn axis(&self, frames: (&Frame, &Frame), margin: f64) -> Option<(Vector, f64)> {
        let (first, second) = (&self.first, &self.second);
        let (mut best, mut axis) = (f64::NEG_INFINITY, frames.0.axes[0]);
        let back = (frames.1, frames.0);
        for (shapes, frames, way) in [([first, second], frames, 1.0), ([second, first], back, -1.0)] {
            for face in 0..shapes[0].faces() {
                let (far, normal) = Self::height(shapes, face, frames);
                if far > margin {
                    return None;
                }
                if far > best {
                    (best, axis) = (far, normal * way);
                }
            }
        }
        let better = BETTER * first.ball().1.max(second.ball().1);
        let mut separate = false;
        self.crossings(frames, margin + best.abs(), |crossing| {
            if crossing.outside <= 0.0 && crossing.far > best + better {
                (best, axis) = (crossing.far, frames.1.turn(crossing.normal));
                separate |= best > margin;
            }
        });
        (!separate).then_some((axis, best))
    }
}

impl Pair for ConvexConvex {
    fn places(&self) -> usize {
        let [of_b, of_a] = self.facing();
        of_b + of_a + self.first.edges() * self.second.edges()
    }

    fn touch<T: Scalar>(&self, place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        let (first, second) = (&self.first, &self.second);
        match self.kind(place) {
            Kind::CornerOfB(corner, face) => {
                touch_plane(&first.face(face), Sphere::point(second.corner(corner)), frames)
            }
            Kind::CornerOfA(corner, face) => {
                let point = Sphere::point(first.corner(corner));
                touch_plane(&second.face(face), point, (frames.1, frames.0)).exchanged()
            }
            Kind::Edges(a, b) => {
                let (one, other) = (first.edge(a), second.edge(b));
                let inward: Vector =
                    one.inward.map(|w| frames.0.direction(w).values()).into_iter().fold(Vector::zero(), |s, w| s + w);
                let outward = |normal: Vector, _| normal.dot(inward) <= 0.0;
                touch_crossing(frames, [one.at, other.at], [one.direction, other.direction], [0.0; 2], outward)
            }
        }
    }

    fn features(&self, place: usize) -> [u32; 2] {
        let number = |x: usize| u32::try_from(x).unwrap_or(u32::MAX);
        // corners first, then faces, then edges
        let of = |shape: &Faceted| [shape.corners(), shape.corners() + shape.faces()];
        let ([faces_a, edges_a], [faces_b, edges_b]) = (of(&self.first), of(&self.second));
        match self.kind(place) {
            Kind::CornerOfB(corner, face) => [number(faces_a + face), number(corner)],
            Kind::CornerOfA(corner, face) => [number(corner), number(faces_b + face)],
            Kind::Edges(a, b) => [number(edges_a + a), number(edges_b + b)],
        }
    }

    fn region(&self, place: usize, frames: (&Frame, &Frame)) -> f64 {
        let (first, second, border) = (&self.first, &self.second, self.border());
        match self.kind(place) {
            Kind::CornerOfB(corner, face) => Self::over(first, face, second.corner(corner), frames) + border,
            Kind::CornerOfA(corner, face) => {
                Self::over(second, face, first.corner(corner), (frames.1, frames.0)) - border
            }
            Kind::Edges(a, b) => {
                let (one, other) = (first.edge(a), second.edge(b));
                let found = crossing_at(frames, [one.at, other.at], [one.direction, other.direction]);
                let Some((_, [s, t])) = found else { return -1.0 };
                (one.half + border - s.abs()).min(other.half - border - t.abs())
            }
        }
    }

    fn reach(&self) -> f64 {
        self.first.reach().max(self.second.reach())
    }

    fn comes_and_goes(&self) -> bool {
        true
    }

    fn apart(&self, frames: (&Frame, &Frame)) -> (f64, Vector) {
        self.axis(frames, f64::INFINITY).map_or((f64::INFINITY, Vector::zero()), |(axis, far)| (far, axis))
    }

    fn near(&self, frames: (&Frame, &Frame), margin: f64, out: &mut Vec<u32>) {
        let Some((axis, apart)) = self.axis(frames, margin) else { return };
        let (first, second) = (&self.first, &self.second);
        let [of_b, of_a] = self.facing();
        let mut take = |place: usize| {
            if self.region(place, frames) >= -margin && self.touch(place, frames).gap <= margin {
                out.push(u32::try_from(place).unwrap_or(u32::MAX));
            }
        };
        let back = (frames.1, frames.0);
        for (shapes, frames, way, start) in [([first, second], frames, 1.0, 0), ([second, first], back, -1.0, of_b)] {
            let faces = shapes[0].faces();
            for face in 0..faces {
                let plane = shapes[0].face(face);
                let normal = frames.0.direction(plane.normal);
                if normal.dot(axis) * way < NEAR {
                    continue;
                }
                let (height, below) =
                    (normal.dot(offset(frames, plane.point, [0.0; 3])), frames.1.body_direction(normal).0);
                let low = |corner: &usize| height + dot(below, shapes[1].corner(*corner)) <= margin;
                (0..shapes[1].corners()).filter(low).for_each(|corner| take(start + corner * faces + face));
            }
        }
        let along = frames.1.body_direction(axis);
        self.crossings(frames, margin + apart.abs(), |crossing| {
            if crossing.outside <= WEDGE && crossing.normal.dot(along) >= NEAR {
                let [i, j] = crossing.edges;
                take(of_b + of_a + i * second.edges() + j);
            }
        });
    }
}
