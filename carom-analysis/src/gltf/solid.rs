//! Solids as triangles with normals.

use crate::report::{Solid, Space};
use carom::elementary::sin_cos;
use std::f64::consts::{FRAC_PI_2, TAU};

/// Corners around an axis, and from pole to pole.
const AROUND: usize = 48;
const ALONG: usize = 24;

/// What makes two meshes the same: numbers of what cannot be scaled. A mesh is the same as itself alone.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Sphere,
    Block,
    Cylinder,
    Disc,
    Square,
    Capsule([f64; 2]),
    Torus([f64; 2]),
    Bore,
    Socket,
    Slot([f64; 3]),
    Mesh(usize),
}

impl Shape {
    /// Whether its back is seen.
    pub fn is_open(&self) -> bool {
        matches!(self, Shape::Disc | Shape::Square | Shape::Bore | Shape::Socket | Shape::Slot(_))
    }
}

/// Corners with their normals.
#[derive(Default)]
pub struct Surface {
    pub points: Vec<[f32; 3]>,
    pub normals: Vec<[f32; 3]>,
    pub triangles: Vec<[u32; 3]>,
}

/// The shape of a solid, and how it is scaled; half of the side of planes is `reach`.
pub fn shape(solid: &Solid, reach: f64) -> (Shape, [f64; 3]) {
    const ONE: [f64; 3] = [1.0; 3];
    match *solid {
        Solid::Sphere { radius } => (Shape::Sphere, [radius; 3]),
        Solid::Ellipsoid { half } => (Shape::Sphere, half),
        Solid::Block { half: [x, y, 0.0] } => (Shape::Square, [x, y, 1.0]),
        Solid::Block { half } => (Shape::Block, half),
        Solid::Cylinder { radius, half: 0.0 } => (Shape::Disc, [radius, radius, 1.0]),
        Solid::Cylinder { radius, half } => (Shape::Cylinder, [radius, radius, half]),
        Solid::Capsule { radius, half } => (Shape::Capsule([radius, half]), ONE),
        Solid::Torus { radius, tube } => (Shape::Torus([radius, tube]), ONE),
        Solid::Plane => (Shape::Square, [reach, reach, 1.0]),
        Solid::Sheet { half: [x, y] } => (Shape::Square, [x, y, 1.0]),
        Solid::Bore { radius, half } => (Shape::Bore, [radius, radius, half]),
        Solid::Socket { radius } => (Shape::Socket, [radius; 3]),
        Solid::Slot { radius, half, depth } => (Shape::Slot([radius, half, depth]), ONE),
        Solid::Mesh(ref mesh) => (Shape::Mesh(std::sync::Arc::as_ptr(mesh) as usize), ONE),
    }
}

/// How far planes are drawn: twice as far as anything gets from the middle of the way.
pub fn reach(space: &Space) -> f64 {
    let finite = |column: &[f64]| column.iter().filter(|x| x.is_finite()).fold(0.0f64, |most, x| most.max(x.abs()));
    let far = space.poses.iter().flat_map(|pose| &pose[..3]).map(|column| finite(column)).fold(0.0, f64::max);
    let parts = space.bodies.iter().flat_map(|body| &body.parts).map(|part| {
        let (_, scale) = shape(&part.solid, 0.0);
        let own = part.at.iter().chain(&scale).fold(0.0f64, |most, x| most.max(x.abs()));
        if matches!(part.solid, Solid::Mesh(_) | Solid::Plane) { 0.0 } else { own }
    });
    let reach = 2.0 * parts.fold(far, f64::max);
    if reach > 0.0 { reach } else { 1.0 }
}

/// The triangles of a solid of this shape.
pub fn surface(solid: &Solid, shape: &Shape) -> Surface {
    let ball = |out: f64, radius: f64| arc(radius, -FRAC_PI_2, 0.0, -out).chain(arc(radius, 0.0, FRAC_PI_2, out));
    match *shape {
        Shape::Sphere => lathe(&arc(1.0, -FRAC_PI_2, FRAC_PI_2, 0.0).collect::<Vec<_>>(), 1.0),
        Shape::Socket => lathe(&arc(1.0, -FRAC_PI_2, FRAC_PI_2, 0.0).collect::<Vec<_>>(), -1.0),
        Shape::Capsule([radius, half]) => lathe(&ball(half, radius).collect::<Vec<_>>(), 1.0),
        Shape::Cylinder => {
            let ends = [[0.0, -1.0, 0.0, -1.0], [1.0, -1.0, 0.0, -1.0], [1.0, -1.0, 1.0, 0.0]];
            let mut profile = ends.to_vec();
            profile.extend(ends.iter().rev().map(|[r, z, a, b]| [*r, -z, *a, -b]));
            lathe(&profile, 1.0)
        }
        Shape::Disc => lathe(&[[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]], 1.0),
        Shape::Bore => lathe(&[[1.0, -1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0]], -1.0),
        Shape::Torus([radius, tube]) => {
            let section = (0..=ALONG).map(|k| sin_cos(TAU * k as f64 / ALONG as f64));
            let profile: Vec<[f64; 4]> = section.map(|(s, c)| [radius + tube * c, tube * s, c, s]).collect();
            lathe(&profile, 1.0)
        }
        Shape::Slot([radius, half, depth]) => slot(radius, half, depth),
        Shape::Square => block([1.0, 1.0, 0.0], 1),
        Shape::Block => block([1.0; 3], 6),
        Shape::Mesh(_) => match solid {
            Solid::Mesh(mesh) => faceted(&mesh.points, &mesh.triangles),
            _ => Surface::default(),
        },
    }
}

/// Points of an arc in the plane of an axis, with their normals: r, z, n_r, n_z.
fn arc(radius: f64, from: f64, to: f64, z: f64) -> impl Iterator<Item = [f64; 4]> {
    (0..=ALONG / 2).map(move |k| {
        let (s, c) = sin_cos(from + (to - from) * k as f64 / (ALONG / 2) as f64);
        [radius * c, z + radius * s, c, s]
    })
}

/// What a profile is when it turns about z; `side` −1 is seen from inside.
fn lathe(profile: &[[f64; 4]], side: f64) -> Surface {
    let mut out = Surface::default();
    for i in 0..=AROUND {
        let (s, c) = sin_cos(TAU * (i % AROUND) as f64 / AROUND as f64);
        for [r, z, a, b] in profile {
            out.points.push([r * c, r * s, *z].map(|x| x as f32));
            out.normals.push(unit([side * a * c, side * a * s, side * b]));
        }
    }
    grid(&mut out, AROUND, profile.len(), side, |k| {
        profile[k][0] != profile[k + 1][0] || profile[k][1] != profile[k + 1][1]
    });
    out
}

/// Triangles between `n` columns of `m` points each; `wanted` tells which rows have some.
fn grid(out: &mut Surface, n: usize, m: usize, side: f64, wanted: impl Fn(usize) -> bool) {
    for i in 0..n {
        for k in (0..m - 1).filter(|k| wanted(*k)) {
            let [a, b] = [i * m + k, (i + 1) * m + k];
            for corners in [[a, b, b + 1], [a, b + 1, a + 1]] {
                let [p, q, r] = corners.map(|i| out.points[i]);
                let mut triangle = corners.map(|i| i as u32);
                if side < 0.0 {
                    triangle.reverse();
                }
                // at poles one side has no length
                if p != q && q != r && r != p {
                    out.triangles.push(triangle);
                }
            }
        }
    }
}

/// A long hole along x.
fn slot(radius: f64, half: f64, depth: f64) -> Surface {
    let mut out = Surface::default();
    let corners = AROUND + 2;
    for i in 0..=corners {
        // the half circle at the right, then the one at the left
        let i = i % corners;
        let (right, k) = (i <= AROUND / 2, i % (AROUND / 2 + 1));
        let start = if right { -FRAC_PI_2 } else { FRAC_PI_2 };
        let (s, c) = sin_cos(start + TAU * k as f64 / AROUND as f64);
        let x = if right { half } else { -half } + radius * c;
        for z in [-depth, depth] {
            out.points.push([x, radius * s, z].map(|x| x as f32));
            out.normals.push(unit([-c, -s, 0.0]));
        }
    }
    grid(&mut out, corners, 2, -1.0, |_| true);
    out
}

/// The first faces of a box, each with corners of its own.
fn block(half: [f64; 3], faces: usize) -> Surface {
    let mut out = Surface::default();
    // up first: a rectangle is the upper face
    let axes = [(2, 1.0), (2, -1.0), (0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0)];
    for &(axis, sign) in &axes[..faces] {
        let (u, w) = ((axis + 1) % 3, (axis + 2) % 3);
        let first = out.points.len() as u32;
        for (a, b) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
            let (mut point, mut normal) = ([0.0; 3], [0.0; 3]);
            (point[axis], point[u], point[w]) = (sign * half[axis], a * half[u] * sign, b * half[w]);
            normal[axis] = sign;
            out.points.push(point.map(|x| x as f32));
            out.normals.push(normal.map(|x| x as f32));
        }
        out.triangles.extend([[0, 1, 2], [0, 2, 3]].map(|t: [u32; 3]| t.map(|i| first + i)));
    }
    out
}

/// Triangles with flat normals.
fn faceted(points: &[[f64; 3]], triangles: &[[u32; 3]]) -> Surface {
    let mut out = Surface::default();
    for triangle in triangles {
        let [a, b, c] = triangle.map(|i| points[i as usize]);
        let (u, w): ([f64; 3], [f64; 3]) = (std::array::from_fn(|i| b[i] - a[i]), std::array::from_fn(|i| c[i] - a[i]));
        let normal = [u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]];
        if normal.iter().all(|x| *x == 0.0) {
            continue;
        }
        let first = out.points.len() as u32;
        out.points.extend([a, b, c].map(|p| p.map(|x| x as f32)));
        out.normals.extend([unit(normal); 3]);
        out.triangles.push([first, first + 1, first + 2]);
    }
    out
}

fn unit(v: [f64; 3]) -> [f32; 3] {
    let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
    v.map(|x| (x / length) as f32)
}
