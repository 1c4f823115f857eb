//! Triangles of a solid.

/// A surface of triangles.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mesh {
    /// Corners [m].
    pub points: Vec<[f64; 3]>,
    /// Three corners each, counterclockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl Mesh {
    /// What a closed plane outline is when it is drawn out from z = −half to half. The outline does not cross itself;
    /// its corners go counterclockwise or clockwise.
    pub fn prism(outline: &[[f64; 2]], half: f64) -> Self {
        let mut outline = outline.to_vec();
        if area(&outline) < 0.0 {
            outline.reverse();
        }
        let n = outline.len() as u32;
        let level = |z: f64| outline.iter().map(move |[x, y]| [*x, *y, z]);
        let points = level(-half).chain(level(half)).collect();
        let mut triangles: Vec<[u32; 3]> = Vec::new();
        for [a, b, c] in clip_ears(&outline) {
            triangles.extend([[c, b, a], [n + a, n + b, n + c]]);
        }
        for i in 0..n {
            let j = (i + 1) % n;
            triangles.extend([[i, j, n + j], [i, n + j, n + i]]);
        }
        Self { points, triangles }
    }
}

/// Twice the area inside, positive where the corners go counterclockwise.
fn area(outline: &[[f64; 2]]) -> f64 {
    let next = outline.iter().cycle().skip(1);
    outline.iter().zip(next).map(|(a, b)| a[0] * b[1] - b[0] * a[1]).sum()
}

/// The inside of a counterclockwise outline as triangles: corners that no other corner lies in are cut off.
fn clip_ears(outline: &[[f64; 2]]) -> Vec<[u32; 3]> {
    let mut left: Vec<u32> = (0..outline.len() as u32).collect();
    let mut triangles = Vec::new();
    let at = |i: u32| outline[i as usize];
    let side = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    while left.len() > 3 {
        let n = left.len();
        let corner = |k: usize| [left[(k + n - 1) % n], left[k], left[(k + 1) % n]];
        let is_ear = |k: &usize| {
            let [a, b, c] = corner(*k);
            let inside = |p: [f64; 2]| {
                side(at(a), at(b), p) >= 0.0 && side(at(b), at(c), p) >= 0.0 && side(at(c), at(a), p) >= 0.0
            };
            side(at(a), at(b), at(c)) > 0.0 && !left.iter().any(|i| ![a, b, c].contains(i) && inside(at(*i)))
        };
        // an outline that crosses itself may have none: any corner is better than no end
        let ear = (0..n).find(is_ear).unwrap_or(0);
        triangles.push(corner(ear));
        left.remove(ear);
    }
    if let [a, b, c] = left[..] {
        triangles.push([a, b, c]);
    }
    triangles
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six times the volume inside, by the divergence theorem: it is right only for a closed and well turned surface.
    fn volume(mesh: &Mesh) -> f64 {
        let triple = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| mesh.points[i as usize]);
            a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])
        };
        mesh.triangles.iter().map(triple).sum::<f64>() / 6.0
    }

    #[test]
    fn prisms_of_any_outline_are_closed() {
        // an L, both ways round: 3 squares of side 1
        let outline = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]];
        let mut backwards = outline;
        backwards.reverse();
        for outline in [outline, backwards] {
            let mesh = Mesh::prism(&outline, 0.25);
            assert_eq!(mesh.triangles.len(), 2 * 4 + 2 * 6);
            assert!((volume(&mesh) - 1.5).abs() < 1e-12, "{}", volume(&mesh));
        }
    }
}
