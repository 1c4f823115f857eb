//! Mass, centre and moments of inertia of shapes with a density, and of bodies made of several of them.
//!
//! ```text
//!     S = ∫ρ x xᵀ about the centre,    J = tr(S) 1 − S,    S of several = Σ S_i + m_i (c_i − c)(c_i − c)ᵀ          (1)
//! ```
//!
//! Shapes that overlap count twice. In the plane densities are per area and J_zz counts.

use super::Vector;
use super::pair::Shape;
use super::pair::shape::Triple;
use std::f64::consts::PI;

/// Mass, its centre in axes of the body, and second moments about the centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mass {
    /// [kg]
    pub mass: f64,
    /// [m]
    pub centre: Triple,
    /// Moments of inertia about the centre, in axes of the body [kg m²].
    pub inertia: [Triple; 3],
}

/// Second moments along unit axes.
fn second(axes: &[Triple; 3], moments: Triple) -> [Triple; 3] {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| moments[k] * axes[k][i] * axes[k][j]).sum::<f64>()))
}

/// J of S, or S of J: tr(J) = 2 tr(S).
fn turned(s: [Triple; 3], trace: f64) -> [Triple; 3] {
    std::array::from_fn(|i| std::array::from_fn(|j| if i == j { trace - s[i][j] } else { -s[i][j] }))
}

fn trace(s: &[Triple; 3]) -> f64 {
    s[0][0] + s[1][1] + s[2][2]
}

/// Three unit vectors of which the third one is given.
fn around(axis: Triple) -> [Triple; 3] {
    let d = Vector::<f64>(axis);
    let helper = if axis[2].abs() < 0.9 { [0.0, 0.0, 1.0] } else { [1.0, 0.0, 0.0] };
    let u = Vector(helper).cross(d);
    let u = u * (1.0 / u.length());
    [u.0, d.cross(u).0, axis]
}

impl Mass {
    /// Of a shape with a density [kg/m³], or [kg/m²] in the plane; none for what has no volume.
    pub fn of(shape: &Shape, density: f64, is_planar: bool) -> Option<Mass> {
        let unit = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        if let Shape::Convex(convex) = shape {
            let (points, triangles) = (convex.hull.points(), convex.hull.triangles());
            let mass =
                if is_planar { Mass::outline(points, density) } else { Mass::inside(points, triangles, density) };
            return mass.map(|mass| Mass { centre: convex.placed(mass.centre), ..mass });
        }
        let (volume, centre, axes, moments) = match shape {
            Shape::Sphere(s) if is_planar => {
                let quarter = s.radius * s.radius / 4.0;
                (PI * s.radius.powi(2), s.centre, unit, [quarter, quarter, 0.0])
            }
            Shape::Sphere(s) => (4.0 / 3.0 * PI * s.radius.powi(3), s.centre, unit, [s.radius * s.radius / 5.0; 3]),
            Shape::Block(b) => {
                let [x, y, z] = b.half;
                let volume = 4.0 * x * y * if is_planar { 1.0 } else { 2.0 * z };
                (volume, b.centre, b.axes, b.half.map(|half| half * half / 3.0))
            }
            Shape::Cylinder(c) if !is_planar => {
                let across = c.radius * c.radius / 4.0;
                let volume = 2.0 * PI * c.radius.powi(2) * c.half;
                (volume, c.centre, around(c.axis), [across, across, c.half * c.half / 3.0])
            }
            Shape::Capsule(c) => {
                let (axis, length) = super::pair::geometry::span(c.ends);
                let centre = std::array::from_fn(|i| 0.5 * (c.ends[0][i] + c.ends[1][i]));
                let (volume, [across, along]) = capsule(length / 2.0, c.radius, is_planar);
                (
                    volume,
                    centre,
                    around(axis),
                    if is_planar { planar(axis, across, along) } else { [across, across, along] },
                )
            }
            Shape::Ellipsoid(e) if !is_planar => {
                let volume = 4.0 / 3.0 * PI * e.half.iter().product::<f64>();
                (volume, e.centre, e.axes, e.half.map(|half| half * half / 5.0))
            }
            Shape::Torus(t) if !is_planar => {
                let (big, small) = (t.radius * t.radius, t.tube * t.tube);
                let across = big / 2.0 + 3.0 / 8.0 * small;
                (2.0 * PI * PI * t.radius * small, t.centre, around(t.axis), [across, across, small / 4.0])
            }
            _ => return None,
        };
        let mass = density * volume;
        let s = second(&axes, moments.map(|m| m * mass));
        let inertia = turned(s, trace(&s));
        (mass > 0.0 && mass.is_finite()).then_some(Mass { mass, centre, inertia })
    }

    /// Of what is inside of a closed surface of triangles, counterclockwise seen from outside, by exact integration;
    /// none where it has no volume or is turned inside out.
    pub fn inside(points: &[Triple], triangles: &[[u32; 3]], density: f64) -> Option<Mass> {
        let corners = triangles.iter().map(|t| t.map(|i| points[i as usize]));
        filled(points, corners, density, |[a, b, c]| Vector(*a).dot(Vector(*b).cross(Vector(*c))))
    }

    /// Of what is inside of a counterclockwise outline of the plane, likewise.
    pub fn outline(points: &[Triple], density: f64) -> Option<Mass> {
        let sides = points.iter().zip(points.iter().cycle().skip(1)).map(|(a, b)| [*a, *b]);
        filled(points, sides, density, |[a, b]| a[0] * b[1] - a[1] * b[0])
    }

    /// Of several parts; none where there is no part.
    pub fn sum(parts: &[Mass]) -> Option<Mass> {
        let mass: f64 = parts.iter().map(|part| part.mass).sum();
        let centre: Triple =
            std::array::from_fn(|i| parts.iter().map(|part| part.mass * part.centre[i]).sum::<f64>() / mass);
        let mut s = [[0.0; 3]; 3];
        for part in parts {
            let own = turned(part.inertia, trace(&part.inertia) / 2.0);
            let off: Triple = std::array::from_fn(|i| part.centre[i] - centre[i]);
            for i in 0..3 {
                for j in 0..3 {
                    s[i][j] += own[i][j] + part.mass * off[i] * off[j];
                }
            }
        }
        (mass > 0.0 && mass.is_finite()).then(|| Mass { mass, centre, inertia: turned(s, trace(&s)) })
    }
}

/// The sum of simplices with one corner at the middle of the points and the other N in the list.
///
/// ```text
///     V = Σ D/N!,    V c = Σ D/(N+1)! Σx,    S = Σ D/(N+2)! (Σ x xᵀ + (Σx)(Σx)ᵀ),    D = det(x₁ ... x_N)           (3)
/// ```
fn filled<const N: usize>(
    points: &[Triple],
    cells: impl Iterator<Item = [Triple; N]>,
    density: f64,
    determinant: impl Fn(&[Triple; N]) -> f64,
) -> Option<Mass> {
    let middle: Triple = std::array::from_fn(|i| points.iter().map(|p| p[i]).sum::<f64>() / points.len().max(1) as f64);
    let (mut volume, mut first, mut s) = (0.0, [0.0; 3], [[0.0; 3]; 3]);
    for cell in cells {
        let cell = cell.map(|p| std::array::from_fn(|i| p[i] - middle[i]));
        let part = determinant(&cell);
        volume += part;
        let sum: Triple = std::array::from_fn(|i| cell.iter().map(|x| x[i]).sum());
        for i in 0..3 {
            first[i] += part * sum[i];
            for j in 0..3 {
                s[i][j] += part * (cell.iter().map(|x| x[i] * x[j]).sum::<f64>() + sum[i] * sum[j]);
            }
        }
    }
    let n = N as f64;
    let whole: f64 = (1..=N).map(|k| k as f64).product();
    let mass = density * volume / whole;
    let off = first.map(|x| x / (volume * (n + 1.0)));
    for i in 0..3 {
        for j in 0..3 {
            s[i][j] = density * s[i][j] / (whole * (n + 1.0) * (n + 2.0)) - mass * off[i] * off[j];
        }
    }
    let inertia = turned(s, trace(&s));
    let is_finite = inertia.iter().flatten().all(|x| x.is_finite());
    let centre = std::array::from_fn(|i| middle[i] + off[i]);
    (mass > 0.0 && mass.is_finite() && is_finite).then_some(Mass { mass, centre, inertia })
}

/// Volume or area of a capsule of half length h and radius r, and its second moments per mass across and along.
///
/// ```text
///     space:  V = 2π r² h + 4/3 π r³      V ⟨x²⟩ = 2π r² h r²/4 + 4/3 π r³ r²/5
///                                         V ⟨z²⟩ = 2π r² h h²/3 + 4/3 π r³ (r²/5 + h² + 3/4 h r)                  (2)
///     plane:  A = 4 r h + π r²            A ⟨x²⟩ = 4 r h r²/3 + π r² r²/4
///                                         A ⟨z²⟩ = 4 r h h²/3 + π r² (r²/4 + h² + 8/(3π) h r)
/// ```
fn capsule(h: f64, r: f64, is_planar: bool) -> (f64, [f64; 2]) {
    let (side, ends, across, [own, lever]) = match is_planar {
        true => (4.0 * r * h, PI * r * r, r * r / 3.0, [r * r / 4.0, 8.0 / (3.0 * PI) * h * r]),
        false => (2.0 * PI * r * r * h, 4.0 / 3.0 * PI * r.powi(3), r * r / 4.0, [r * r / 5.0, 0.75 * h * r]),
    };
    let volume = side + ends;
    let along = (side * h * h / 3.0 + ends * (own + h * h + lever)) / volume;
    (volume, [(side * across + ends * own) / volume, along])
}

/// Moments along (u, w, axis) of a planar capsule: nothing along z.
fn planar(axis: Triple, across: f64, along: f64) -> Triple {
    let [u, ..] = around(axis);
    if u[2].abs() > 0.5 { [0.0, across, along] } else { [across, 0.0, along] }
}
