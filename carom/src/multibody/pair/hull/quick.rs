//! Quickhull: each facet has the points that it sees; the farthest one of them takes the place of all facets that see
//! it. Facets in one plane then become one face.

use super::{Edge, FLAT, Face, Hull, HullError, MOST, bounds, dot, edge, minus};
use crate::multibody::Vector;
use crate::multibody::pair::shape::Triple;
use std::collections::{BTreeMap, HashMap};

/// Part of the size below which a point is in the plane of a facet: points of files have seven digits.
const SEEN: f64 = 1e-7;

/// A triangle of the surface, and the points that it sees.
struct Facet {
    corners: [usize; 3],
    normal: Triple,
    /// Twice its area.
    area: f64,
    outside: Vec<usize>,
}

fn cross(a: Triple, b: Triple) -> Triple {
    Vector::<f64>(a).cross(Vector(b)).0
}

impl Facet {
    fn new(points: &[Triple], corners: [usize; 3]) -> Facet {
        let [a, b, c] = corners.map(|i| points[i]);
        let normal = cross(minus(b, a), minus(c, a));
        let area = dot(normal, normal).sqrt();
        let normal = if area > 0.0 { normal.map(|x| x / area) } else { [0.0; 3] };
        Facet { corners, normal, area, outside: Vec::new() }
    }

    fn height(&self, points: &[Triple], point: usize) -> f64 {
        dot(self.normal, minus(points[point], points[self.corners[0]]))
    }

    fn sides(&self) -> [[usize; 2]; 3] {
        let [a, b, c] = self.corners;
        [[a, b], [b, c], [c, a]]
    }
}

/// The hull of points.
pub(super) fn hull(points: &[Triple]) -> Result<Hull, HullError> {
    if points.len() < 4 {
        return Err(HullError::Few(points.len()));
    }
    if let Some(k) = points.iter().position(|point| !point.iter().all(|x| x.is_finite())) {
        return Err(HullError::NotFinite(k));
    }
    let (low, high) = bounds(points);
    let size = (0..3).map(|k| high[k] - low[k]).fold(0.0, f64::max);
    // squares and products of lengths must be numbers
    if size.is_nan() || size <= 1e-70 || size >= 1e70 {
        return Err(HullError::Flat);
    }
    let facets = grow(points, first(points, size).ok_or(HullError::Flat)?, SEEN * size)?;
    let mut used: Vec<usize> = facets.iter().flat_map(|facet| facet.corners).collect();
    used.sort_unstable();
    used.dedup();
    if used.len() > MOST {
        return Err(HullError::Many(used.len()));
    }
    let number: HashMap<usize, usize> = used.iter().enumerate().map(|(new, old)| (*old, new)).collect();
    let corners: Vec<Triple> = used.iter().map(|i| points[*i]).collect();
    let triangles: Vec<[usize; 3]> = facets.iter().map(|facet| facet.corners.map(|i| number[&i])).collect();
    faced(corners, &triangles, size)
}

/// The point with the largest measure; of those that are as large but for `tie`, the one farthest from a place. It is
/// a corner of the hull wherever the measure is convex.
fn pick(
    points: &[Triple],
    which: impl Iterator<Item = usize> + Clone,
    measure: impl Fn(usize) -> f64,
    (from, tie): (Triple, f64),
) -> Option<usize> {
    let most = which.clone().map(&measure).fold(f64::NEG_INFINITY, f64::max);
    let far = |i: usize| dot(minus(points[i], from), minus(points[i], from));
    which.filter(|&i| measure(i) >= most - tie).max_by(|&i, &j| far(i).total_cmp(&far(j)).then(j.cmp(&i)))
}

/// A tetrahedron of corners that are far apart.
fn first(points: &[Triple], size: f64) -> Option<Vec<Facet>> {
    let (all, tie) = (0..points.len(), SEEN * size);
    let a = pick(points, all.clone(), |_| 0.0, (points[0], 0.0))?;
    let from = (points[a], tie);
    let b = pick(points, all.clone(), |_| 0.0, from)?;
    let along = minus(points[b], points[a]);
    let beside = |i: usize| {
        let n = cross(along, minus(points[i], points[a]));
        (dot(n, n) / dot(along, along)).sqrt()
    };
    let c = pick(points, all.clone(), beside, from).filter(|&c| beside(c) > 10.0 * tie)?;
    let base = Facet::new(points, [a, b, c]);
    let height = |i: usize| base.height(points, i);
    let d = pick(points, all.clone(), |i| height(i).abs(), from).filter(|&d| height(d).abs() > 10.0 * tie)?;
    let (b, c) = if height(d) > 0.0 { (c, b) } else { (b, c) };
    let mut facets = [[a, b, c], [a, d, b], [b, d, c], [c, d, a]].map(|corners| Facet::new(points, corners));
    let all: Vec<usize> = all.collect();
    share(points, &all, &mut facets, tie);
    Some(facets.into())
}

/// Gives each point to the facet that it is farthest from, if any sees it.
fn share(points: &[Triple], which: &[usize], facets: &mut [Facet], least: f64) {
    for &point in which {
        let (mut best, mut most) = (None, least);
        for (k, facet) in facets.iter().enumerate() {
            let height = facet.height(points, point);
            if height > most {
                (best, most) = (Some(k), height);
            }
        }
        if let Some(k) = best {
            facets[k].outside.push(point);
        }
    }
}

fn grow(points: &[Triple], mut facets: Vec<Facet>, least: f64) -> Result<Vec<Facet>, HullError> {
    // each round takes a point for good; facets without area see nothing
    while let Some(k) = facets.iter().position(|facet| !facet.outside.is_empty()) {
        let (seer, which) = (&facets[k], facets[k].outside.iter().copied());
        let middle = std::array::from_fn(|i| seer.corners.iter().map(|c| points[*c][i]).sum::<f64>() / 3.0);
        let Some(new) = pick(points, which, |i| seer.height(points, i), (middle, least)) else { break };
        let (seen, kept): (Vec<Facet>, Vec<Facet>) =
            facets.into_iter().enumerate().fold((Vec::new(), Vec::new()), |(mut seen, mut kept), (i, facet)| {
                if i == k || facet.height(points, new) > least {
                    seen.push(facet)
                } else {
                    kept.push(facet)
                }
                (seen, kept)
            });
        facets = kept;
        let sides: Vec<[usize; 2]> = seen.iter().flat_map(Facet::sides).collect();
        let known: std::collections::HashSet<[usize; 2]> = sides.iter().copied().collect();
        // sides of one seen facet alone are the horizon
        let horizon = sides.iter().filter(|[a, b]| !known.contains(&[*b, *a]));
        let mut fan: Vec<Facet> = horizon.map(|[a, b]| Facet::new(points, [*a, *b, new])).collect();
        let orphans: Vec<usize> = seen.iter().flat_map(|facet| &facet.outside).copied().filter(|p| *p != new).collect();
        share(points, &orphans, &mut fan, least);
        facets.extend(fan);
        if facets.len() > 4 * MOST {
            return Err(HullError::Many(facets.len() / 2 + 2));
        }
    }
    Ok(facets)
}

/// Faces and edges of a closed surface of triangles.
fn faced(mut corners: Vec<Triple>, triangles: &[[usize; 3]], size: f64) -> Result<Hull, HullError> {
    let facets: Vec<Facet> = triangles.iter().map(|t| Facet::new(&corners, *t)).collect();
    let owner: HashMap<[usize; 2], usize> =
        facets.iter().enumerate().flat_map(|(k, facet)| facet.sides().map(|side| (side, k))).collect();
    let (group, normals) = grouped(&corners, &facets, &owner, FLAT * size);
    // two faces have one edge: the corners on it that are farthest apart
    let mut between: BTreeMap<[usize; 2], Vec<usize>> = BTreeMap::new();
    for (k, facet) in facets.iter().enumerate() {
        for [a, b] in facet.sides() {
            let Some(&other) = owner.get(&[b, a]) else { return Err(HullError::Flat) };
            if group[k] < group[other] {
                between.entry([group[k], group[other]]).or_default().extend([a, b]);
            }
        }
    }
    let mut faces: Vec<Face> = normals
        .iter()
        .map(|normal| Face { normal: *normal, corner: usize::MAX, sides: Vec::new(), depth: 0.0 })
        .collect();
    let (mut edges, mut ends_used): (Vec<Edge>, Vec<usize>) = Default::default();
    for ([mine, its], on) in &between {
        let along = cross(normals[*mine], normals[*its]);
        let far = |i: &usize, j: &usize| dot(along, corners[*i]).total_cmp(&dot(along, corners[*j]));
        let (Some(&a), Some(&b)) = (on.iter().min_by(|i, j| far(i, j)), on.iter().max_by(|i, j| far(i, j))) else {
            continue;
        };
        if a == b {
            continue;
        }
        let ends = [corners[a], corners[b]];
        let along = super::span(ends).0;
        let into = |face: usize, way: f64| unit(cross(normals[face], along).map(|x| way * x));
        // counterclockwise seen from outside the edge goes forwards in one face and backwards in the other one
        for (face, way) in [(*mine, 1.0), (*its, -1.0)] {
            let inward = into(face, way);
            for corner in [a, b] {
                // the highest corner: none is outside of the plane
                let old = faces[face].corner;
                if old == usize::MAX || dot(normals[face], minus(corners[corner], corners[old])) > 0.0 {
                    faces[face].corner = corner;
                }
            }
            faces[face].sides.push((a, inward));
        }
        edges.push(edge(ends, [into(*mine, 1.0), into(*its, -1.0)]));
        ends_used.extend([a, b]);
    }
    if faces.len() < 4 || faces.iter().any(|face| face.sides.len() < 3) {
        return Err(HullError::Flat);
    }
    // corners of edges first: what is inside of a face or an edge touches nothing that its corners do not
    let mut on_edge = vec![false; corners.len()];
    ends_used.into_iter().for_each(|corner| on_edge[corner] = true);
    let mut order: Vec<usize> = (0..corners.len()).collect();
    order.sort_by_key(|&i| !on_edge[i]);
    let mut number = vec![0; corners.len()];
    order.iter().enumerate().for_each(|(new, old)| number[*old] = new);
    corners = order.iter().map(|&i| corners[i]).collect();
    for face in &mut faces {
        face.corner = number[face.corner];
        face.sides.iter_mut().for_each(|(corner, _)| *corner = number[*corner]);
    }
    let triangles = triangles.iter().map(|t| t.map(|i| u32::try_from(number[i]).unwrap_or(u32::MAX))).collect();
    let count = on_edge.iter().filter(|on| **on).count();
    Ok(Hull::finish((corners, count), faces, edges, triangles))
}

fn unit(v: Triple) -> Triple {
    let length = dot(v, v).sqrt();
    v.map(|x| x / length)
}

/// The face of each facet, and normals of faces: that of the largest facet, with all around it that are in its plane.
fn grouped(
    corners: &[Triple],
    facets: &[Facet],
    owner: &HashMap<[usize; 2], usize>,
    flat: f64,
) -> (Vec<usize>, Vec<Triple>) {
    let mut order: Vec<usize> = (0..facets.len()).collect();
    order.sort_by(|&i, &j| facets[j].area.total_cmp(&facets[i].area).then(i.cmp(&j)));
    let mut group = vec![usize::MAX; facets.len()];
    let mut normals = Vec::new();
    for &seed in &order {
        if group[seed] != usize::MAX {
            continue;
        }
        let number = normals.len();
        group[seed] = number;
        normals.push(facets[seed].normal);
        let mut next = vec![seed];
        while let Some(k) = next.pop() {
            for [a, b] in facets[k].sides() {
                let Some(&other) = owner.get(&[b, a]) else { continue };
                let is_flat = || facets[other].corners.iter().all(|&i| facets[seed].height(corners, i).abs() <= flat);
                if group[other] == usize::MAX && is_flat() {
                    group[other] = number;
                    next.push(other);
                }
            }
        }
    }
    (group, normals)
}
