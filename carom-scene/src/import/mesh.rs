//! Mass properties of the convex hull of points: what a mesh weighs that is given by its corners alone.

use super::robot::{Mass, minus, plus, times};

/// Most corners of a hull that is looked for.
pub(super) const MOST: usize = 2000;

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Mass properties of a closed surface of triangles with outward normals, for a density of 1; `None` without volume.
fn integrate(points: &[[f64; 3]], triangles: &[[usize; 3]]) -> Option<Mass> {
    let origin = times(points.iter().fold([0.0; 3], |sum, p| plus(sum, *p)), 1.0 / points.len() as f64);
    let (mut volume, mut first, mut second) = (0.0, [0.0; 3], [[0.0; 3]; 3]);
    for triangle in triangles {
        let [a, b, c] = triangle.map(|i| minus(points[i], origin));
        // a tetrahedron with its fourth corner at the origin
        let six = dot(a, cross(b, c));
        volume += six / 6.0;
        let sum = plus(plus(a, b), c);
        for i in 0..3 {
            first[i] += six / 24.0 * sum[i];
            for j in 0..3 {
                let squares = a[i] * a[j] + b[i] * b[j] + c[i] * c[j];
                second[i][j] += six / 120.0 * (squares + sum[i] * sum[j]);
            }
        }
    }
    if volume.is_nan() || volume <= 0.0 {
        return None;
    }
    let centre = times(first, 1.0 / volume);
    for i in 0..3 {
        for j in 0..3 {
            second[i][j] -= volume * centre[i] * centre[j];
        }
    }
    let trace = second[0][0] + second[1][1] + second[2][2];
    let inertia =
        std::array::from_fn(|i| std::array::from_fn(|j| if i == j { trace - second[i][i] } else { -second[i][j] }));
    Some(Mass { mass: volume, centre: plus(origin, centre), inertia })
}

/// Mass properties of the convex hull of some points, for a density of 1. Points are added one by one: those faces that
/// see a new point give way to a fan around it.
pub(super) fn hull(points: &[[f64; 3]]) -> Option<Mass> {
    let mut low = [f64::INFINITY; 3];
    let mut high = [f64::NEG_INFINITY; 3];
    for p in points {
        for k in 0..3 {
            (low[k], high[k]) = (low[k].min(p[k]), high[k].max(p[k]));
        }
    }
    let size = (0..3).map(|k| high[k] - low[k]).fold(0.0, f64::max);
    let mut faces = first(points, size)?;
    for (new, point) in points.iter().enumerate() {
        let sees = |face: &[usize; 3]| {
            let [a, b, c] = face.map(|i| points[i]);
            let n = cross(minus(b, a), minus(c, a));
            dot(n, minus(*point, a)) > 1e-12 * size * dot(n, n).sqrt()
        };
        let (seen, kept): (Vec<[usize; 3]>, Vec<[usize; 3]>) = faces.iter().partition(|face| sees(face));
        if seen.is_empty() {
            continue;
        }
        faces = kept;
        let edges: Vec<[usize; 2]> = seen.iter().flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]]).collect();
        // edges of one seen face alone are the horizon
        let rim: Vec<[usize; 2]> = edges.iter().filter(|[a, b]| !edges.contains(&[*b, *a])).copied().collect();
        faces.extend(rim.into_iter().map(|[a, b]| [a, b, new]));
        if faces.len() > 4 * points.len() + 8 {
            return None;
        }
    }
    integrate(points, &faces)
}

/// A tetrahedron of points that are far apart, with outward faces.
fn first(points: &[[f64; 3]], size: f64) -> Option<Vec<[usize; 3]>> {
    let far = |measure: &dyn Fn(usize) -> f64| {
        let best = (0..points.len()).max_by(|&i, &j| measure(i).total_cmp(&measure(j)))?;
        (measure(best) > 1e-9 * size).then_some(best)
    };
    let a = 0;
    let span = |i: usize| dot(minus(points[i], points[a]), minus(points[i], points[a])).sqrt();
    let b = far(&span)?;
    let along = minus(points[b], points[a]);
    let beside = |i: usize| {
        let n = cross(along, minus(points[i], points[a]));
        dot(n, n).sqrt() / dot(along, along).sqrt()
    };
    let c = far(&beside)?;
    let normal = cross(along, minus(points[c], points[a]));
    let height = |i: usize| dot(normal, minus(points[i], points[a])) / dot(normal, normal).sqrt();
    let d = far(&|i| height(i).abs())?;
    let (b, c) = if height(d) > 0.0 { (c, b) } else { (b, c) };
    Some(vec![[a, b, c], [a, d, b], [b, d, c], [c, d, a]])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box with points on its faces and inside weighs what a box weighs.
    #[test]
    fn the_hull_of_a_box_is_the_box() {
        let mut points = Vec::new();
        for i in 0..27usize {
            let step = |k: usize, scale: f64| (k % 3) as f64 * scale;
            points.push([step(i, 0.5) + 1.0, step(i / 3, 1.0) - 2.0, step(i / 9, 1.5) + 0.25]);
        }
        let mass = hull(&points).unwrap();
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        near(mass.mass, 6.0);
        [1.5, -1.0, 1.75].iter().zip(mass.centre).for_each(|(a, b)| near(*a, b));
        // m (b² + c²)/12
        let moments = [6.0 * (4.0 + 9.0) / 12.0, 6.0 * (1.0 + 9.0) / 12.0, 6.0 * (1.0 + 4.0) / 12.0];
        for i in 0..3 {
            for j in 0..3 {
                near(mass.inertia[i][j], if i == j { moments[i] } else { 0.0 });
            }
        }
        assert_eq!(hull(&points[..9]), None);
        assert_eq!(hull(&[[0.0; 3]; 5]), None);
    }
}
