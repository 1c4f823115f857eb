//! Filled-in graphs as polylines: jumps are vertical segments [moreau1978].
//!
//! | computed v | staircase of the right-continuous step function, v_k on [t_k, t_{k+1}) |
//! | computed q | polyline |
//! | closed form | chords of a fine sampling, two vertices at each jump |
//!
//! A chord of length dt is at most dt² max|x''|/8 away from a smooth arc. Where the closed form knows that maximum the
//! sampling error is guaranteed, elsewhere it is estimated by refining until the arc's midpoints lie on the chords.

use carom::testbed::{ExactSolution, ExactState};

use super::{MeasureError, matching, ordered, positive};

/// Largest number of vertices of a sampled closed form.
pub const MAX_VERTICES: usize = 1 << 24;

/// A curve t ↦ x with vertical segments at jumps, as a polyline with nondecreasing t.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    dimension: usize,
    times: Vec<f64>,
    values: Vec<f64>,
    sampling: f64,
}

/// Which of the two curves of a closed form.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Position,
    Velocity,
}

impl Graph {
    /// Graph of a continuous series: vertices are joined. `values` has `dimension` components per time.
    pub fn polyline(times: &[f64], values: &[f64], dimension: usize) -> Result<Self, MeasureError> {
        check(times, values, dimension)?;
        Ok(Self { dimension, times: times.to_vec(), values: values.to_vec(), sampling: 0.0 })
    }

    /// Graph of the right-continuous step function that is values_k on [t_k, t_{k+1}), filled in by vertical segments.
    pub fn staircase(times: &[f64], values: &[f64], dimension: usize) -> Result<Self, MeasureError> {
        check(times, values, dimension)?;
        let mut graph = Self::empty(dimension, 0.0);
        for (k, (&time, value)) in times.iter().zip(values.chunks_exact(dimension)).enumerate() {
            if k > 0 {
                graph.push(time, &values[(k - 1) * dimension..k * dimension]);
            }
            graph.push(time, value);
        }
        Ok(graph)
    }

    /// Graph of the position of a closed form on [from, to], sampled to `error` [m].
    pub fn position(exact: &dyn ExactSolution, from: f64, to: f64, error: f64) -> Result<Self, MeasureError> {
        // a jump of v left out bends q by at most jump times duration
        let amplitude = error / (8.0 * (to - from).max(1.0));
        Sampler::new(exact, Side::Position, error)?.sample(from, to, amplitude)
    }

    /// Graph of the velocity of a closed form on [from, to], sampled to `error` [m/s].
    pub fn velocity(exact: &dyn ExactSolution, from: f64, to: f64, error: f64) -> Result<Self, MeasureError> {
        Sampler::new(exact, Side::Velocity, error)?.sample(from, to, error / 8.0)
    }

    /// Graph of the state of a first-order system on [from, to], sampled to `error` [unit of x].
    pub fn state(exact: &dyn ExactState, from: f64, to: f64, error: f64) -> Result<Self, MeasureError> {
        Sampler::new(&StateCurve(exact), Side::Velocity, error)?.sample(from, to, error / 8.0)
    }

    /// Number of components of x.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Times of the vertices [s].
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Values of the vertices, one vertex after the other.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Distance between this polyline and the curve it stands for; zero for computed series [unit of x].
    pub fn sampling(&self) -> f64 {
        self.sampling
    }

    fn empty(dimension: usize, sampling: f64) -> Self {
        Self { dimension, times: Vec::new(), values: Vec::new(), sampling }
    }

    fn push(&mut self, time: f64, value: &[f64]) {
        self.times.push(time);
        self.values.extend_from_slice(value);
    }
}

fn check(times: &[f64], values: &[f64], dimension: usize) -> Result<(), MeasureError> {
    matching(times.len(), dimension, values.len())?;
    ordered(times)?;
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(MeasureError::Value { index, value: values[index] }),
        None => Ok(()),
    }
}

/// A state that may jump, sampled as velocities are.
struct StateCurve<'a>(&'a dyn ExactState);

impl ExactSolution for StateCurve<'_> {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn citation(&self) -> &'static str {
        self.0.citation()
    }
    fn dimension(&self) -> usize {
        self.0.dimension()
    }
    fn at(&self, t: f64, _q: &mut [f64], v: &mut [f64]) {
        self.0.at(t, v);
    }
    fn before(&self, t: f64, v: &mut [f64]) {
        self.0.before(t, v);
    }
    fn jumps(&self, from: f64, to: f64, _amplitude: f64) -> Vec<f64> {
        self.0.jumps(from, to)
    }
}

/// Samples a closed form arc by arc. Half of the error is for chords, the rest for the jumps left out.
struct Sampler<'a> {
    exact: &'a dyn ExactSolution,
    side: Side,
    error: f64,
    q: Vec<f64>,
    v: Vec<f64>,
}

impl<'a> Sampler<'a> {
    fn new(exact: &'a dyn ExactSolution, side: Side, error: f64) -> Result<Self, MeasureError> {
        positive("sampling error", error)?;
        let dimension = exact.dimension();
        Ok(Self { exact, side, error, q: vec![0.0; dimension], v: vec![0.0; dimension] })
    }

    fn sample(mut self, from: f64, to: f64, amplitude: f64) -> Result<Graph, MeasureError> {
        ordered(&[from, to])?;
        positive("duration", to - from)?;
        let mut breaks = self.exact.jumps(from, to, amplitude);
        breaks.extend(self.exact.accumulation().filter(|&time| time > from && time < to));
        breaks.push(to);
        breaks.sort_by(f64::total_cmp);
        breaks.dedup();
        let mut graph = Graph::empty(self.exact.dimension(), self.error);
        let mut start = from;
        for end in breaks {
            let pieces = self.pieces(start, end, graph.times.len())?;
            for i in 0..pieces {
                let time = start + (end - start) * (i as f64 / pieces as f64);
                graph.push(time, self.value(time));
            }
            let limit = self.left_limit(end);
            graph.push(end, limit);
            start = end;
        }
        // the value after a jump at the very end
        let last = self.value(to).to_vec();
        graph.push(to, &last);
        check(&graph.times, &graph.values, graph.dimension)?;
        Ok(graph)
    }

    /// Number of chords on an arc.
    fn pieces(&mut self, start: f64, end: f64, used: usize) -> Result<usize, MeasureError> {
        let chord = 0.5 * self.error;
        let limit = MAX_VERTICES.saturating_sub(used);
        if let Some(bound) = self.exact.curvature(start, end) {
            let bound = if self.side == Side::Position { bound.position } else { bound.velocity };
            let pieces = ((end - start) * (bound / (8.0 * chord)).sqrt()).ceil().max(1.0);
            if pieces < limit as f64 {
                return Ok(pieces as usize);
            }
        } else {
            let mut pieces = 16;
            while pieces < limit {
                // half of the budget, since the midpoint need not be the worst point
                if self.deviation(start, end, pieces) <= 0.5 * chord {
                    return Ok(pieces);
                }
                pieces *= 2;
            }
        }
        Err(MeasureError::TooFine { error: self.error, limit: MAX_VERTICES })
    }

    /// Largest distance between the midpoints of chords and of arcs.
    fn deviation(&mut self, start: f64, end: f64, pieces: usize) -> f64 {
        let time = |i: usize| start + (end - start) * (i as f64 / (2 * pieces) as f64);
        let mut left = self.value(start).to_vec();
        let mut worst: f64 = 0.0;
        for piece in 1..=pieces {
            let middle = self.value(time(2 * piece - 1)).to_vec();
            let right = if piece == pieces { self.left_limit(end) } else { self.value(time(2 * piece)) }.to_vec();
            let square: f64 = left.iter().zip(&middle).zip(&right).map(|((l, m), r)| (m - 0.5 * (l + r)).powi(2)).sum();
            worst = worst.max(square.sqrt());
            left = right;
        }
        worst
    }

    fn value(&mut self, time: f64) -> &[f64] {
        self.exact.at(time, &mut self.q, &mut self.v);
        if self.side == Side::Position { &self.q } else { &self.v }
    }

    fn left_limit(&mut self, time: f64) -> &[f64] {
        self.exact.at(time, &mut self.q, &mut self.v);
        self.exact.before(time, &mut self.v);
        if self.side == Side::Position { &self.q } else { &self.v }
    }
}

#[cfg(test)]
mod tests {
    use carom::testbed::{BouncingBall, LinearOscillator, Takeoff};

    use super::*;

    #[test]
    fn staircase_is_right_continuous_and_filled() {
        let graph = Graph::staircase(&[0.0, 1.0, 2.0], &[5.0, 6.0, 7.0], 1).unwrap();
        assert_eq!(graph.times(), [0.0, 1.0, 1.0, 2.0, 2.0]);
        assert_eq!(graph.values(), [5.0, 5.0, 6.0, 6.0, 7.0]);
        let pair = Graph::staircase(&[0.0, 1.0], &[1.0, 2.0, 3.0, 4.0], 2).unwrap();
        assert_eq!(pair.values(), [1.0, 2.0, 1.0, 2.0, 3.0, 4.0]);
    }

    /// Largest vertical distance between a graph and a closed form, over many times away from vertices.
    fn vertical_distance(graph: &Graph, exact: impl Fn(f64) -> f64) -> f64 {
        let mut worst: f64 = 0.0;
        for (t, x) in graph.times().windows(2).zip(graph.values().windows(2)).filter(|(t, _)| t[1] > t[0]) {
            for part in [0.1, 0.3, 0.5, 0.8] {
                worst = worst.max((x[0] + part * (x[1] - x[0]) - exact(t[0] + part * (t[1] - t[0]))).abs());
            }
        }
        worst
    }

    #[test]
    fn closed_forms_are_sampled_to_the_error() {
        let (ball, oscillator, takeoff) = (BouncingBall::default(), LinearOscillator::default(), Takeoff::default());
        for error in [1e-2, 1e-4, 1e-6] {
            let graph = Graph::position(&ball, 0.0, 5.0, error).unwrap();
            assert!(vertical_distance(&graph, |t| ball.state_at(t).0) <= error);
            let graph = Graph::velocity(&ball, 0.0, 5.0, error).unwrap();
            assert!(vertical_distance(&graph, |t| ball.state_at(t).1) <= error && graph.times().len() < 100);
            let graph = Graph::position(&oscillator, 0.0, 5.0, error).unwrap();
            assert!(vertical_distance(&graph, |t| oscillator.state_at(t).0) <= error);
            let graph = Graph::velocity(&oscillator, 0.3, 5.0, error).unwrap();
            assert!(vertical_distance(&graph, |t| oscillator.state_at(t).1) <= error);
            let graph = Graph::velocity(&takeoff, 0.0, 2.9, error).unwrap();
            assert!(vertical_distance(&graph, |t| takeoff.state_at(t).1) <= error);
        }
    }

    #[test]
    fn a_weak_pull_does_not_spoil_the_sampled_position() {
        // long low flights: heights V²/2a are large even where velocities V are small
        let ball = BouncingBall { force: -1e-3, q0: 1e-2, ..Default::default() };
        let graph = Graph::position(&ball, 0.0, 40.0, 1e-5).unwrap();
        assert!(vertical_distance(&graph, |t| ball.state_at(t).0) <= 1e-5);
    }

    /// A closed form that hides its curvature.
    struct Hidden(LinearOscillator);

    impl ExactSolution for Hidden {
        fn name(&self) -> &'static str {
            "hidden"
        }
        fn citation(&self) -> &'static str {
            "acary2009"
        }
        fn dimension(&self) -> usize {
            1
        }
        fn at(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
            self.0.at(t, q, v);
        }
        fn before(&self, t: f64, v: &mut [f64]) {
            self.0.before(t, v);
        }
        fn jumps(&self, from: f64, to: f64, amplitude: f64) -> Vec<f64> {
            self.0.jumps(from, to, amplitude)
        }
    }

    #[test]
    fn unknown_curvature_is_refined_until_flat() {
        let exact = Hidden(LinearOscillator::default());
        for error in [1e-3, 1e-6] {
            let graph = Graph::velocity(&exact, 0.0, 5.0, error).unwrap();
            assert!(vertical_distance(&graph, |t| exact.0.state_at(t).1) <= error);
        }
    }

    #[test]
    fn jumps_have_two_vertices() {
        let graph = Graph::velocity(&LinearOscillator::default(), 0.0, 5.0, 1e-3).unwrap();
        let jumps: Vec<(f64, f64)> = graph
            .times()
            .windows(2)
            .zip(graph.values().windows(2))
            .filter(|(t, x)| t[0] == t[1] && x[0] != x[1])
            .map(|(_, x)| (x[0], x[1]))
            .collect();
        assert_eq!(jumps.len(), 3);
        assert!((jumps[0].0 + 1.615194887420).abs() < 1e-11 && (jumps[0].1 - 0.807597443710).abs() < 1e-11);
    }

    #[test]
    fn bad_input_is_refused() {
        assert_eq!(Graph::polyline(&[], &[], 1), Err(MeasureError::Empty));
        assert_eq!(Graph::staircase(&[0.0], &[1.0], 0), Err(MeasureError::Empty));
        assert!(matches!(Graph::staircase(&[1.0, 0.0], &[0.0; 2], 1), Err(MeasureError::Time { index: 1, .. })));
        assert!(matches!(Graph::polyline(&[0.0], &[f64::NAN], 1), Err(MeasureError::Value { index: 0, .. })));
        let ball = BouncingBall::default();
        assert!(Graph::velocity(&ball, 0.0, 0.0, 1e-3).is_err());
        assert!(Graph::velocity(&ball, 0.0, f64::INFINITY, 1e-3).is_err());
        assert!(Graph::velocity(&ball, 0.0, 1.0, 0.0).is_err());
        assert!(matches!(Graph::position(&ball, 0.0, 5.0, 1e-30), Err(MeasureError::TooFine { .. })));
        assert!(Graph::velocity(&Takeoff::default(), 0.0, 9.0, 1e-3).is_err(), "no closed form after the landing");
    }
}
