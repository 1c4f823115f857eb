//! Nearest point of a polyline in the metric d = max(|t - s|, |x - y|), |x - y| Euclidean.
//!
//! Point to segment is exact: along a segment the two terms are |a + σb| and |c + σd|, both convex, so that the
//! smallest maximum is attained at an end, at the minimum of one term or where the two are equal. In one dimension
//! these are σ in {0, 1, -a/b, -c/d, (c-a)/(b-d), -(a+c)/(b+d)}; in more, equality of the squares is a quadratic
//! equation.
//!
//! A tree of bounding boxes over consecutive segments finds the nearest one in about log N steps. Walking outwards from
//! t is as good while the distance is a few steps, but costs N per point when graphs are far apart.

/// Number of segments per leaf of the tree.
const LEAF: usize = 4;

/// Vertices (t, x) one after the other, with a tree of boxes over the segments.
pub(super) struct Polyline {
    stride: usize,    // 1 + dimension of x
    points: Vec<f64>, // (vertices x stride), at least two vertices
    boxes: Vec<f64>,  // (2 x leaves x 2 x stride) lower then upper corner; node 1 is the root, 2i and 2i+1 its children
    leaves: usize,    // power of two
}

/// Nearest segment found, with the number of point-segment distances it took.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub distance: f64,
    pub segment: usize,
    pub evaluations: usize,
}

impl Polyline {
    /// Builds the tree. Times are multiplied by `time_scale`; `values` has `dimension` entries per time, and there is
    /// at least one time.
    pub(super) fn new(times: &[f64], values: &[f64], dimension: usize, time_scale: f64) -> Self {
        let stride = dimension + 1;
        let mut points = Vec::with_capacity((times.len() + 1) * stride);
        for (time, value) in times.iter().zip(values.chunks_exact(dimension)) {
            points.push(time * time_scale);
            points.extend_from_slice(value);
        }
        if times.len() == 1 {
            points.extend_from_within(..stride); // a point is a segment of length zero
        }
        let segments = points.len() / stride - 1;
        let leaves = segments.div_ceil(LEAF).next_power_of_two();
        let mut polyline = Self { stride, points, boxes: Vec::new(), leaves };
        polyline.build(segments);
        polyline
    }

    fn build(&mut self, segments: usize) {
        let (stride, leaves) = (self.stride, self.leaves);
        let width = 2 * stride;
        self.boxes = [vec![f64::INFINITY; stride], vec![f64::NEG_INFINITY; stride]].concat().repeat(2 * leaves);
        for leaf in 0..segments.div_ceil(LEAF) {
            let corners = &mut self.boxes[(leaves + leaf) * width..][..width];
            for vertex in leaf * LEAF..=((leaf + 1) * LEAF).min(segments) {
                for (k, &x) in self.points[vertex * stride..][..stride].iter().enumerate() {
                    corners[k] = corners[k].min(x);
                    corners[stride + k] = corners[stride + k].max(x);
                }
            }
        }
        for node in (1..leaves).rev() {
            for k in 0..width {
                let (one, other) = (self.boxes[2 * node * width + k], self.boxes[(2 * node + 1) * width + k]);
                self.boxes[node * width + k] = if k < stride { one.min(other) } else { one.max(other) };
            }
        }
    }

    pub(super) fn segments(&self) -> usize {
        self.points.len() / self.stride - 1
    }

    pub(super) fn vertex(&self, index: usize) -> &[f64] {
        &self.points[index * self.stride..][..self.stride]
    }

    /// Largest absolute coordinate, the scale of rounding errors.
    pub(super) fn magnitude(&self) -> f64 {
        self.points.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()))
    }

    /// Distance of a point to one segment.
    pub(super) fn to_segment(&self, point: &[f64], segment: usize) -> f64 {
        let ends = &self.points[segment * self.stride..][..2 * self.stride];
        let (start, end) = ends.split_at(self.stride);
        if let (&[t, x], &[t0, x0], &[t1, x1]) = (point, start, end) {
            scalar_distance(t0 - t, t1 - t0, x0 - x, x1 - x0)
        } else {
            vector_distance(point, start, end)
        }
    }

    /// Finds the nearest segment, trying `seed` first; stops early with an upper bound once it is at most `enough`.
    pub(super) fn nearest(&self, point: &[f64], seed: usize, enough: f64) -> Found {
        let mut found = Found { distance: self.to_segment(point, seed), segment: seed, evaluations: 1 };
        let mut stack = [(1_usize, 0.0_f64); 2 * usize::BITS as usize];
        let mut height = 1;
        while height > 0 && found.distance > enough {
            height -= 1;
            let (node, bound) = stack[height];
            if bound >= found.distance {
                continue;
            }
            if node >= self.leaves {
                self.scan(point, node - self.leaves, &mut found);
                continue;
            }
            let near = (2 * node, self.to_box(point, 2 * node));
            let far = (2 * node + 1, self.to_box(point, 2 * node + 1));
            let (near, far) = if near.1 <= far.1 { (near, far) } else { (far, near) };
            for child in [far, near] {
                if child.1 < found.distance {
                    stack[height] = child;
                    height += 1;
                }
            }
        }
        found
    }

    fn scan(&self, point: &[f64], leaf: usize, found: &mut Found) {
        for segment in leaf * LEAF..((leaf + 1) * LEAF).min(self.segments()) {
            let distance = self.to_segment(point, segment);
            found.evaluations += 1;
            if distance < found.distance {
                (found.distance, found.segment) = (distance, segment);
            }
        }
    }

    /// Distance of a point to the box of a node, infinite for an empty node.
    fn to_box(&self, point: &[f64], node: usize) -> f64 {
        let corners = &self.boxes[node * 2 * self.stride..][..2 * self.stride];
        let gap = |k: usize| (corners[k] - point[k]).max(point[k] - corners[self.stride + k]).max(0.0);
        if self.stride == 2 {
            return gap(0).max(gap(1));
        }
        // rounded down a little, so that a box never hides a segment
        let square: f64 = (1..self.stride).map(|k| gap(k).powi(2)).sum();
        gap(0).max(square.sqrt() * (1.0 - 1e-15))
    }
}

/// Smallest max(|a + σb|, |c + σd|) for σ in [0, 1].
fn scalar_distance(a: f64, b: f64, c: f64, d: f64) -> f64 {
    let at = |s: f64| (a + s * b).abs().max((c + s * d).abs());
    let mut best = at(0.0).min(at(1.0));
    // quotients by zero give NaN, which no comparison accepts, or an end
    for s in [-a / b, -c / d, (c - a) / (b - d), -(a + c) / (b + d)] {
        let value = at(s.clamp(0.0, 1.0));
        if value < best {
            best = value;
        }
    }
    best
}

/// The same with vectors c, d and their Euclidean norm.
fn vector_distance(point: &[f64], start: &[f64], end: &[f64]) -> f64 {
    let (a, b) = (start[0] - point[0], end[0] - start[0]);
    let at = |s: f64| {
        let square: f64 = (1..point.len()).map(|k| (start[k] - point[k] + s * (end[k] - start[k])).powi(2)).sum();
        (a + s * b).abs().max(square.sqrt())
    };
    let (mut cc, mut cd, mut dd) = (0.0, 0.0, 0.0);
    for k in 1..point.len() {
        let (c, d) = (start[k] - point[k], end[k] - start[k]);
        cc += c * c;
        cd += c * d;
        dd += d * d;
    }
    // (a + σb)² = |c + σd|² as x σ² + 2 y σ + z = 0, both roots without cancellation
    let (x, y, z) = (b * b - dd, a * b - cd, a * a - cc);
    let sum = -(y + (y * y - x * z).max(0.0).sqrt().copysign(y));
    let mut best = at(0.0).min(at(1.0));
    for s in [-a / b, -cd / dd, sum / x, z / sum] {
        let value = at(s.clamp(0.0, 1.0));
        if value < best {
            best = value;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Ternary search on a convex function, independent of the closed form.
    fn ternary(f: impl Fn(f64) -> f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..200 {
            let (one, two) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if f(one) <= f(two) { high = two } else { low = one }
        }
        f(0.5 * (low + high)).min(f(0.0)).min(f(1.0))
    }

    fn metric(p: &[f64], q: &[f64]) -> f64 {
        let square: f64 = p[1..].iter().zip(&q[1..]).map(|(x, y)| (x - y) * (x - y)).sum();
        (p[0] - q[0]).abs().max(square.sqrt())
    }

    fn between(p: &[f64], q: &[f64], s: f64) -> Vec<f64> {
        p.iter().zip(q).map(|(x, y)| x + s * (y - x)).collect()
    }

    proptest! {
        #[test]
        fn segment_distance_is_the_minimum(v in prop::collection::vec(-1.0..1.0_f64, 6), flat in 0..4_usize) {
            let (p, a, mut b) = (&v[0..2], &v[2..4], v[4..6].to_vec());
            if flat & 1 > 0 { b[0] = a[0] }
            if flat & 2 > 0 { b[1] = a[1] }
            let exact = ternary(|s| metric(p, &between(a, &b, s)));
            let found = scalar_distance(a[0] - p[0], b[0] - a[0], a[1] - p[1], b[1] - a[1]);
            prop_assert!((found - exact).abs() < 1e-14, "{} {}", found, exact);
            // the general formula covers one component too; its root of a quadratic loses digits where the branches are
            // nearly parallel
            prop_assert!((vector_distance(p, a, &b) - exact).abs() < 1e-12);
        }

        #[test]
        fn vector_segment_distance_is_the_minimum(v in prop::collection::vec(-1.0..1.0_f64, 12), flat in 0..3_usize) {
            let (p, a, mut b) = (&v[0..4], &v[4..8], v[8..12].to_vec());
            if flat == 1 { b[0] = a[0] }
            if flat == 2 { b[1..].copy_from_slice(&a[1..]) }
            let exact = ternary(|s| metric(p, &between(a, &b, s)));
            prop_assert!((vector_distance(p, a, &b) - exact).abs() < 1e-12);
        }

        #[test]
        fn tree_finds_what_a_full_scan_finds(seed in 0..1000_u64, count in 1..200_usize, dimension in 1..4_usize) {
            use rand::{RngExt, SeedableRng};
            let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
            let times: Vec<f64> = (0..count).map(|i| 0.01 * (i / 2) as f64).collect();
            let values: Vec<f64> = (0..count * dimension).map(|_| random.random_range(-1.0..1.0)).collect();
            let line = Polyline::new(&times, &values, dimension, 2.0);
            for _ in 0..20 {
                let point: Vec<f64> = (0..=dimension).map(|_| random.random_range(-2.0..2.0)).collect();
                let scan = (0..line.segments()).map(|s| line.to_segment(&point, s)).fold(f64::INFINITY, f64::min);
                let found = line.nearest(&point, random.random_range(0..line.segments()), 0.0);
                // a box may be an ulp farther than the rounded distance of a segment in it
                prop_assert!((found.distance - scan).abs() < 1e-14, "{} {}", found.distance, scan);
                prop_assert_eq!(line.to_segment(&point, found.segment), found.distance);
            }
        }
    }
}
