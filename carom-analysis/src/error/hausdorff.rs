//! Hausdorff distance of filled-in graphs, certified by branch and bound [moreau1978, acary2009].
//! ```text
//!     d((t,x), (s,y)) = max(κ|t - s|, |x - y|)                                                     (1)
//!     H(A,B) = max( sup_A dist(·,B), sup_B dist(·,A) )                                             (2)
//! ```
//! (1) adds seconds to units of x: κ is `time_scale` [unit of x per second], and a distance below a step means that
//! jumps are at most a step out of place. Along a segment of A of half-length r and midpoint value w,
//! ```text
//!     dist(·,B) <= w + r                      since the distance is 1-Lipschitz                    (3)
//!     dist(·,B) <= max over both ends of dist(end, S)   for any one segment S of B, by convexity    (4)
//! ```
//! so that a piece is discarded as soon as one of the bounds is at most best + tolerance, and halved otherwise. (4)
//! settles parallel pieces, such as two vertical jumps side by side, at once; (3) ends every case.

use serde::{Deserialize, Serialize};

use super::graph::Graph;
use super::nearest::Polyline;
use super::{MeasureError, positive};

/// Settings of [`hausdorff`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HausdorffOptions {
    /// Width of the certified interval, positive; 0.02 steps are plenty for orders [unit of x].
    pub tolerance: f64,
    /// Weight κ of time differences [unit of x per second].
    #[serde(default = "unit_time_scale")]
    pub time_scale: f64,
}

fn unit_time_scale() -> f64 {
    1.0
}

impl HausdorffOptions {
    /// Settings with κ = 1 in SI units.
    pub fn with_tolerance(tolerance: f64) -> Self {
        Self { tolerance, time_scale: unit_time_scale() }
    }
}

/// A certified distance: that of the two polylines is in [distance, distance + tolerance].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Hausdorff {
    /// Lower bound, attained at a point that was looked at [unit of x].
    pub distance: f64,
    /// Width of the interval: the asked tolerance, or the rounding level if that is larger [unit of x].
    pub tolerance: f64,
    /// Distance of the polylines from the curves they stand for, both graphs together [unit of x].
    pub sampling: f64,
    /// Number of point-segment distances computed, a measure of the work that no clock disturbs.
    pub evaluations: usize,
}

impl Hausdorff {
    /// Lower bound of the distance of the curves.
    pub fn lower(&self) -> f64 {
        (self.distance - self.sampling).max(0.0)
    }

    /// Upper bound of the distance of the curves.
    pub fn upper(&self) -> f64 {
        self.distance + self.tolerance + self.sampling
    }
}

/// Distance (2) of two graphs.
pub fn hausdorff(a: &Graph, b: &Graph, options: &HausdorffOptions) -> Result<Hausdorff, MeasureError> {
    positive("tolerance", options.tolerance)?;
    let scale = positive("time scale", options.time_scale)?;
    if a.dimension() != b.dimension() {
        return Err(MeasureError::Dimension { first: a.dimension(), second: b.dimension() });
    }
    let first = Polyline::new(a.times(), a.values(), a.dimension(), scale);
    let second = Polyline::new(b.times(), b.values(), b.dimension(), scale);
    let rounding = 16.0 * f64::EPSILON * first.magnitude().max(second.magnitude());
    let tolerance = options.tolerance.max(rounding);
    let mut search = Search::new(a.dimension() + 1, tolerance);
    // vertices first: the larger the lower bound, the more pieces fall at the first look
    search.vertices(&first, &second);
    search.vertices(&second, &first);
    search.segments(&first, &second);
    search.segments(&second, &first);
    let sampling = a.sampling() + b.sampling();
    Ok(Hausdorff { distance: search.best, tolerance, sampling, evaluations: search.evaluations })
}

/// State of the branch and bound.
struct Search {
    best: f64,               // lower bound so far
    tolerance: f64,          // accepted gap
    evaluations: usize,      // point-segment distances so far
    start: Vec<f64>,         // (stride) first end of the piece in hand
    middle: Vec<f64>,        // (stride) its midpoint
    end: Vec<f64>,           // (stride) its other end
    pieces: Vec<(f64, f64)>, // parameter ranges of one segment still to be judged
}

impl Search {
    fn new(stride: usize, tolerance: f64) -> Self {
        let point = vec![0.0; stride];
        let (start, middle, end) = (point.clone(), point.clone(), point);
        Self { best: 0.0, tolerance, evaluations: 0, start, middle, end, pieces: Vec::new() }
    }

    /// Raises the lower bound by the vertices of `a`.
    fn vertices(&mut self, a: &Polyline, b: &Polyline) {
        let mut seed = 0;
        for index in 0..=a.segments() {
            let found = b.nearest(a.vertex(index), seed, self.best);
            self.evaluations += found.evaluations;
            self.best = self.best.max(found.distance);
            seed = found.segment;
        }
    }

    /// Raises the lower bound until no point of `a` is farther from `b` than best + tolerance.
    fn segments(&mut self, a: &Polyline, b: &Polyline) {
        let mut seed = 0;
        for index in 0..a.segments() {
            let (from, to) = (a.vertex(index), a.vertex(index + 1));
            let length = metric(from, to);
            self.pieces.push((0.0, 1.0));
            while let Some((low, high)) = self.pieces.pop() {
                let half = 0.5 * (high - low);
                between(from, to, low, &mut self.start);
                between(from, to, low + half, &mut self.middle);
                between(from, to, high, &mut self.end);
                if self.keep(b, half * length, &mut seed) {
                    self.pieces.push((low + half, high));
                    self.pieces.push((low, low + half));
                }
            }
        }
    }

    /// Judges the piece in hand of the given half-length; true if it must be halved.
    fn keep(&mut self, b: &Polyline, half: f64, seed: &mut usize) -> bool {
        // (4) with the segment that was nearest last
        if self.convex_bound(b, *seed) <= self.best + self.tolerance {
            return false;
        }
        // (3), and the search for the nearest segment may stop as soon as it holds
        let enough = self.best + self.tolerance - half;
        let found = b.nearest(&self.middle, *seed, enough);
        self.evaluations += found.evaluations;
        *seed = found.segment;
        if found.distance <= enough {
            return false;
        }
        // the search was complete: its distance is exact
        self.best = self.best.max(found.distance);
        found.distance + half > self.best + self.tolerance
            && self.convex_bound(b, found.segment) > self.best + self.tolerance
    }

    /// Bound (4) with one segment of `b`.
    fn convex_bound(&mut self, b: &Polyline, segment: usize) -> f64 {
        self.evaluations += 2;
        b.to_segment(&self.start, segment).max(b.to_segment(&self.end, segment))
    }
}

/// Metric (1) of two points (κt, x).
fn metric(p: &[f64], q: &[f64]) -> f64 {
    let square: f64 = (1..p.len()).map(|k| (p[k] - q[k]).powi(2)).sum();
    (p[0] - q[0]).abs().max(square.sqrt())
}

/// out = p + s (q - p).
fn between(p: &[f64], q: &[f64], s: f64, out: &mut [f64]) {
    for k in 0..out.len() {
        out[k] = p[k] + s * (q[k] - p[k]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};

    use super::*;

    fn distance(a: &Graph, b: &Graph, tolerance: f64) -> Hausdorff {
        hausdorff(a, b, &HausdorffOptions::with_tolerance(tolerance)).unwrap()
    }

    /// Graph of f by n chords on [from, to].
    fn graph(from: f64, to: f64, n: u32, f: impl Fn(f64) -> f64) -> Graph {
        let times: Vec<f64> = (0..=n).map(|i| from + (to - from) * f64::from(i) / f64::from(n)).collect();
        let values: Vec<f64> = times.iter().map(|&t| f(t)).collect();
        Graph::polyline(&times, &values, 1).unwrap()
    }

    /// Directed distance by dense points on `a` and a ternary search on every segment of `b`, and its error bound.
    fn brute_force(a: &Graph, b: &Graph, density: usize) -> (f64, f64) {
        let n = a.dimension();
        let point = |g: &Graph, i: usize, s: f64| -> Vec<f64> {
            let end = (i + 1).min(g.times().len() - 1);
            let mut p = vec![g.times()[i] + s * (g.times()[end] - g.times()[i])];
            p.extend((0..n).map(|k| g.values()[i * n + k] + s * (g.values()[end * n + k] - g.values()[i * n + k])));
            p
        };
        let (mut worst, mut spacing): (f64, f64) = (0.0, 0.0);
        for i in 0..(a.times().len() - 1).max(1) {
            spacing = spacing.max(0.5 * metric(&point(a, i, 0.0), &point(a, i, 1.0)) / density as f64);
            for j in 0..=density {
                let p = point(a, i, j as f64 / density as f64);
                let mut least = f64::INFINITY;
                for segment in 0..(b.times().len() - 1).max(1) {
                    let value = |s: f64| metric(&p, &point(b, segment, s));
                    let (mut low, mut high) = (0.0, 1.0);
                    for _ in 0..40 {
                        let (one, two) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
                        if value(one) <= value(two) { high = two } else { low = one }
                    }
                    least = least.min(value(low)).min(value(0.0)).min(value(1.0));
                }
                worst = worst.max(least);
            }
        }
        (worst, spacing)
    }

    fn random_graph(random: &mut rand_pcg::Pcg64, vertices: usize, dimension: usize) -> Graph {
        let mut time = random.random_range(-0.2..0.2);
        let times: Vec<f64> = (0..vertices)
            .map(|_| {
                if random.random_range(0..3) > 0 {
                    time += random.random_range(0.0..0.5);
                }
                time
            })
            .collect();
        let values: Vec<f64> = (0..vertices * dimension).map(|_| random.random_range(-1.0..1.0)).collect();
        Graph::polyline(&times, &values, dimension).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn agrees_with_brute_force(seed: u64, m in 1..7_usize, n in 1..7_usize, dimension in 1..4_usize) {
            let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
            let (a, b) = (random_graph(&mut random, m, dimension), random_graph(&mut random, n, dimension));
            let tolerance = 1e-4;
            let found = distance(&a, &b, tolerance);
            let ((one, error_one), (two, error_two)) = (brute_force(&a, &b, 200), brute_force(&b, &a, 200));
            let (brute, error) = (one.max(two), error_one.max(error_two));
            prop_assert!(found.distance + tolerance >= brute - 1e-6, "{} {}", found.distance, brute);
            prop_assert!(found.distance <= brute + error + 1e-6, "{} {} {}", found.distance, brute, error);
        }

        #[test]
        fn is_symmetric_and_refines(seed: u64, dimension in 1..3_usize) {
            let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
            let (a, b) = (random_graph(&mut random, 40, dimension), random_graph(&mut random, 30, dimension));
            let (coarse, fine, swapped) = (distance(&a, &b, 1e-2), distance(&a, &b, 1e-9), distance(&b, &a, 1e-9));
            prop_assert!((fine.distance - swapped.distance).abs() <= 1e-9);
            prop_assert!(coarse.distance <= fine.distance + 1e-9 && fine.distance <= coarse.distance + 1e-2);
            prop_assert!(distance(&a, &a, 1e-9).distance < 1e-14);
        }
    }

    #[test]
    fn shifted_steps_are_their_shift_apart() {
        for shift in [1e-6, 0.05, 0.3] {
            let step = |at: f64| Graph::staircase(&[0.0, at, 2.0], &[0.0, 1.0, 1.0], 1).unwrap();
            let found = distance(&step(1.0), &step(1.0 + shift), 1e-12);
            assert!((found.distance - shift).abs() < 1e-11, "{}", found.distance);
            assert!(found.evaluations < 1000, "parallel jumps are settled by convexity: {}", found.evaluations);
        }
        // steps of different heights, far apart in time: half of the height is the way out
        let low = Graph::staircase(&[0.0, 1.0, 9.0], &[0.0, 0.0, 0.0], 1).unwrap();
        let high = Graph::staircase(&[0.0, 4.0, 9.0], &[0.0, 1.0, 1.0], 1).unwrap();
        assert!((distance(&low, &high, 1e-9).distance - 1.0).abs() < 1e-8);
    }

    #[test]
    fn shifted_line_has_a_closed_form() {
        // x = c t moved up by u: nearest point s = c δ/(1 + c) ahead, distance u/(1 + c), away from the ends
        let (slope, up): (f64, f64) = (3.0, 0.01);
        let a = graph(-1.0, 1.0, 7, |t| slope * t);
        let b = graph(-1.0 - up, 1.0 + up, 5, |t| slope * t + up);
        let found = distance(&a, &b, 1e-10);
        // the ends of b overhang by up(1 + c) in x and up in t, the lower left one less 2·up
        let ends = (up * (1.0 + slope)).max(up);
        assert!((found.distance - ends).abs() < 1e-9, "{}", found.distance);
        let inner = graph(-0.5, 0.5, 3, |t| slope * t + up);
        let one_sided = brute_force(&inner, &a, 50).0;
        assert!((one_sided - up / (1.0 + slope)).abs() < 1e-6);
    }

    #[test]
    fn shifted_sine_is_reached_at_the_crest() {
        // over whole periods the crest (slope 0) is the worst place: up, seen from the raised crest
        let up = 0.02;
        let (from, to) = (-std::f64::consts::PI, 2.0 * std::f64::consts::PI);
        let a = graph(from, to, 4000, f64::sin);
        let b = graph(from, to, 4000, |t| t.sin() + up);
        let found = distance(&a, &b, 1e-6);
        assert!((found.distance - up).abs() < 3e-6, "{}", found.distance);
    }

    #[test]
    fn time_scale_weighs_the_shift() {
        let step = |at: f64| Graph::staircase(&[0.0, at, 2.0], &[0.0, 1.0, 1.0], 1).unwrap();
        for time_scale in [0.1, 1.0, 3.0] {
            let options = HausdorffOptions { tolerance: 1e-9, time_scale };
            let found = hausdorff(&step(1.0), &step(1.1), &options).unwrap();
            assert!((found.distance - 0.1 * time_scale).abs() < 1e-8);
        }
    }

    #[test]
    fn vectors_use_the_euclidean_norm() {
        let a = Graph::polyline(&[0.0, 1.0], &[0.0; 4], 2).unwrap();
        let b = Graph::polyline(&[0.0, 1.0], &[3.0, 4.0, 3.0, 4.0], 2).unwrap();
        assert!((distance(&a, &b, 1e-9).distance - 5.0).abs() < 1e-14);
    }

    #[test]
    fn work_grows_like_the_number_of_vertices() {
        let mut random = rand_pcg::Pcg64::seed_from_u64(7);
        let n = 100_000;
        let times: Vec<f64> = (0..n).map(|i| f64::from(i) * 5e-5).collect();
        let noise: Vec<f64> = times.iter().map(|_| random.random_range(-1.0..1.0)).collect();
        let series = |f: &dyn Fn(usize) -> f64| (0..times.len()).map(f).collect::<Vec<f64>>();
        let flat = series(&|_| 0.0);
        let wave = series(&|i| times[i].sin());
        let near = series(&|i| times[i].sin() + 1e-4 * noise[i]);
        let far = series(&|i| 100.0 + noise[i]);
        let wild = series(&|i| noise[(i * 7919) % noise.len()]);
        for (name, x, y) in
            [("near", &wave, &near), ("far", &flat, &far), ("equal", &wave, &wave), ("wild", &noise, &wild)]
        {
            let a = Graph::staircase(&times, x, 1).unwrap();
            let b = Graph::staircase(&times, y, 1).unwrap();
            let found = distance(&a, &b, 1e-6);
            // four passes of 2·10⁵ segments, against 10¹¹ pairs
            assert!(found.evaluations < 400 * times.len(), "{name}: {}", found.evaluations);
        }
    }

    #[test]
    fn bad_settings_are_refused() {
        let scalar = Graph::polyline(&[0.0], &[1.0], 1).unwrap();
        let pair = Graph::polyline(&[0.0], &[1.0, 2.0], 2).unwrap();
        let options = HausdorffOptions::with_tolerance(1e-3);
        let mixed = hausdorff(&scalar, &pair, &options);
        assert_eq!(mixed, Err(MeasureError::Dimension { first: 1, second: 2 }));
        assert!(hausdorff(&scalar, &scalar, &HausdorffOptions::with_tolerance(0.0)).is_err());
        let timeless = HausdorffOptions { time_scale: f64::NAN, ..options };
        assert!(hausdorff(&scalar, &scalar, &timeless).is_err());
        // a single point is a graph
        assert_eq!(distance(&scalar, &scalar, 1e-300).distance, 0.0);
    }
}
