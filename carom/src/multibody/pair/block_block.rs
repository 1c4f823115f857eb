//! Two boxes: corners of one on faces of the other one, and edges that cross.
//!
//! ```text
//!     corner c of b, face f of a:   gap = n_f·(c − o_f),     counts while the foot of c is on the face             (1)
//!     edges d_a, d_b:               gap = n·(p_b − p_a),     n = ±d_a × d_b/|d_a × d_b|,
//!                                                            counts while both closest points are on the edges    (2)
//! ```
//!
//! Each place is a smooth function of the positions. Which of them count is told by the axis along which the boxes are
//! farthest apart, or lie in each other least: one of the three normals of each box, or of the nine d_a × d_b, that of
//! a face where two are equal. Places with normals near this axis count. Faces on each other touch where their outlines
//! do: at corners of b on the face of a, the border included by a ten-thousandth of the size, at corners of a inside
//! the face of b, and where edges cross inside the edge of b. These are at most eight.

use super::geometry::{crossing_at, offset, touch_crossing};
use super::sphere_plane::touch_plane;
use super::{Block, Pair, Plane, Shape, Sphere, Touch};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Part of the size of both boxes by which a foot may miss a face, and sine of the angle of edges that cross: edges at
/// a smaller angle leave their faces by less.
const BORDER: f64 = 1e-4;

/// Cosine between the normal of a place and the axis.
const NEAR: f64 = 0.9;

/// An edge counts if its normal leaves the wedge of its faces by no more than this sine.
const WEDGE: f64 = 0.1;

/// Part of the size by which the axis of two edges must be better than that of a face.
const BETTER: f64 = 1e-6;

/// Two boxes, or two rectangles in the plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockBlock {
    /// On body a.
    pub first: Block,
    /// On body b.
    pub second: Block,
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

/// Corners times faces.
const FACING: usize = 48;

impl BlockBlock {
    fn kind(place: usize) -> Kind {
        match place {
            0..FACING => Kind::CornerOfB(place / 6, place % 6),
            FACING..96 => Kind::CornerOfA((place - FACING) / 6, (place - FACING) % 6),
            _ => Kind::Edges((place - 96) / 12, (place - 96) % 12),
        }
    }

    fn size(&self) -> f64 {
        self.first.half.into_iter().chain(self.second.half).fold(0.0, f64::max)
    }

    /// How far inside a face of the box on the first body the foot of a point of the second one is.
    fn on_face(block: &Block, face: usize, point: [f64; 3], frames: (&Frame, &Frame)) -> f64 {
        let r = offset(frames, block.centre, point);
        let dimensions = if block.is_planar() { 2 } else { 3 };
        let mut inside = f64::INFINITY;
        for i in 0..dimensions {
            let y = frames.0.direction(block.axes[i]).dot(r);
            inside = inside.min(match i == face / 2 {
                // not on the other side of the box
                true => block.half[i] + y * Block::face_side(face),
                false => block.half[i] - y.abs(),
            });
        }
        inside
    }

    /// Points and directions of two edges.
    fn edges(&self, a: usize, b: usize) -> ([[f64; 3]; 2], [[f64; 3]; 2], [usize; 2]) {
        let ((p, i), (q, j)) = (self.first.edge(a), self.second.edge(b));
        ([p, q], [self.first.axes[i], self.second.axes[j]], [i, j])
    }

    /// The axis along which the boxes are farthest apart, from a to b, and how far; none if by more than the margin.
    fn axis(&self, (a, b): (&Frame, &Frame), margin: f64) -> Option<(Vector, f64)> {
        let (first, second) = (&self.first, &self.second);
        let n = if first.is_planar() { 2 } else { 3 };
        let (of_a, of_b) = (first.axes.map(|e| a.direction(e)), second.axes.map(|e| b.direction(e)));
        let r = offset((a, b), first.centre, second.centre);
        let reach = |block: &Block, axes: &[Vector; 3], d: Vector| {
            (0..n).map(|i| block.half[i] * axes[i].dot(d).abs()).sum::<f64>()
        };
        let apart = |d: Vector| r.dot(d).abs() - reach(first, &of_a, d) - reach(second, &of_b, d);
        let (mut best, mut axis) = (f64::NEG_INFINITY, of_a[0]);
        for d in of_a[..n].iter().chain(&of_b[..n]) {
            let far = apart(*d);
            if far > margin {
                return None;
            }
            if far > best {
                (best, axis) = (far, *d);
            }
        }
        let better = BETTER * self.size();
        for (d, e) in of_a.iter().flat_map(|d| of_b.iter().map(move |e| (*d, *e))).take(if n == 3 { 9 } else { 0 }) {
            let c = d.cross(e);
            let sine = c.length();
            if sine < BORDER {
                continue;
            }
            let d = c * sine.recip();
            let far = apart(d);
            if far > margin {
                return None;
            }
            if far > best + better {
                (best, axis) = (far, d);
            }
        }
        Some((if r.dot(axis) < 0.0 { -axis } else { axis }, best))
    }
}

impl Pair for BlockBlock {
    fn places(&self) -> usize {
        if self.first.is_planar() { 96 } else { 240 }
    }

    fn touch<T: Scalar>(&self, place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        let on = |block: &Block, face: usize| Plane { point: block.face(face), normal: block.face_normal(face) };
        match Self::kind(place) {
            Kind::CornerOfB(corner, face) => {
                touch_plane(&on(&self.first, face), Sphere::point(self.second.corner(corner)), frames)
            }
            Kind::CornerOfA(corner, face) => {
                let point = Sphere::point(self.first.corner(corner));
                touch_plane(&on(&self.second, face), point, (frames.1, frames.0)).exchanged()
            }
            Kind::Edges(a, b) => {
                let (points, directions, [i, _]) = self.edges(a, b);
                let axes = self.first.axes.map(|e| frames.0.direction(e).values());
                // out of the face of a that is nearer to the normal
                let outward = |normal: Vector, _| {
                    let [k, l] = [(i + 1) % 3, (i + 2) % 3];
                    let [along_k, along_l] = [normal.dot(axes[k]), normal.dot(axes[l])];
                    let (axis, along) = if along_k.abs() >= along_l.abs() { (k, along_k) } else { (l, along_l) };
                    along * self.first.edge_side(a, axis) >= 0.0
                };
                touch_crossing(frames, points, directions, [0.0; 2], outward)
            }
        }
    }

    fn features(&self, place: usize) -> [u32; 2] {
        let number = |x: usize| u32::try_from(x).unwrap_or(u32::MAX);
        // corners from 0, faces from 8, edges from 14
        match Self::kind(place) {
            Kind::CornerOfB(corner, face) => [8 + number(face), number(corner)],
            Kind::CornerOfA(corner, face) => [number(corner), 8 + number(face)],
            Kind::Edges(a, b) => [14 + number(a), 14 + number(b)],
        }
    }

    fn region(&self, place: usize, frames: (&Frame, &Frame)) -> f64 {
        let border = BORDER * self.size();
        match Self::kind(place) {
            Kind::CornerOfB(corner, face) => {
                Self::on_face(&self.first, face, self.second.corner(corner), frames) + border
            }
            Kind::CornerOfA(corner, face) => {
                Self::on_face(&self.second, face, self.first.corner(corner), (frames.1, frames.0)) - border
            }
            Kind::Edges(a, b) => {
                let (points, directions, [i, j]) = self.edges(a, b);
                let Some((_, [s, t])) = crossing_at(frames, points, directions) else { return -1.0 };
                (self.first.half[i] + border - s.abs()).min(self.second.half[j] - border - t.abs())
            }
        }
    }

    fn reach(&self) -> f64 {
        Shape::Block(self.first).reach().max(Shape::Block(self.second).reach())
    }

    fn comes_and_goes(&self) -> bool {
        true
    }

    fn apart(&self, frames: (&Frame, &Frame)) -> (f64, Vector) {
        self.axis(frames, f64::INFINITY).map_or((f64::INFINITY, Vector::zero()), |(axis, far)| (far, axis))
    }

    fn near(&self, frames: (&Frame, &Frame), margin: f64, out: &mut Vec<u32>) {
        let Some((axis, _)) = self.axis(frames, margin) else { return };
        let (first, second, solid) = (&self.first, &self.second, !self.first.is_planar());
        let of_a = first.axes.map(|e| frames.0.direction(e).dot(axis));
        let of_b = second.axes.map(|e| frames.1.direction(e).dot(axis));
        let mut take = |place: usize| {
            if self.region(place, frames) >= -margin && self.touch(place, frames).gap <= margin {
                out.push(u32::try_from(place).unwrap_or(u32::MAX));
            }
        };
        let most = |along: &[f64; 3]| (1..3).fold(0, |m, i| if along[i].abs() > along[m].abs() { i } else { m });
        // corners of the face that looks at the other box
        let facing = |block: &Block, along: &[f64; 3], way: f64| {
            let axis = most(along);
            let block = *block;
            let side = (way * along[axis]).signum();
            (0..block.corners()).filter(move |corner| block.side(*corner, axis) == side)
        };
        for face in (0..6).filter(|face| of_a[face / 2] * Block::face_side(*face) >= NEAR) {
            facing(second, &of_b, -1.0).for_each(|corner| take(corner * 6 + face));
        }
        for face in (0..6).filter(|face| -of_b[face / 2] * Block::face_side(*face) >= NEAR) {
            facing(first, &of_a, 1.0).for_each(|corner| take(FACING + corner * 6 + face));
        }
        for (i, j) in (0..9).map(|k| (k / 3, k % 3)).filter(|_| solid) {
            let c = frames.0.direction(first.axes[i]).cross(frames.1.direction(second.axes[j]));
            let sine = c.length();
            let along = c.dot(axis);
            if sine < BORDER || along.abs() < NEAR * sine {
                continue;
            }
            let normal = c * (along.signum() / sine);
            let wedge = |frame: &Frame, block: &Block, edge: usize, of: usize, way: f64| {
                let outside = |k: usize| way * block.edge_side(edge, k) * frame.direction(block.axes[k]).dot(normal);
                (0..3).filter(|k| *k != of).all(|k| outside(k) >= -WEDGE)
            };
            for a in (4 * i..4 * i + 4).filter(|a| wedge(frames.0, first, *a, i, 1.0)) {
                for b in (4 * j..4 * j + 4).filter(|b| wedge(frames.1, second, *b, j, -1.0)) {
                    take(96 + 12 * a + b);
                }
            }
        }
    }
}
