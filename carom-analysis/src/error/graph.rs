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

    /// Graph of the state of a first-order system on [from, to], sampled to `error` [unit of x]. States have kinks:
    /// arcs are halved where they leave their chords.
    pub fn state(exact: &dyn ExactState, from: f64, to: f64, error: f64) -> Result<Self, MeasureError> {
        ordered(&[from, to])?;
        positive("duration", to - from)?;
        let tolerance = 0.5 * positive("sampling error", error)?;
        let mut graph = Self::empty(exact.dimension(), error);
        let mut start = from;
        for end in exact.jumps(from, to).into_iter().filter(|t| *t < to).chain([to]) {
            StateArc { exact, end, finest: 1e-13 * (to - from), tolerance }.sample(start, &mut graph)?;
            start = end;
        }
        let mut last = vec![0.0; exact.dimension()];
        exact.at(to, &mut last);
        graph.push(to, &last);
        check(&graph.times, &graph.values, graph.dimension)?;
        Ok(graph)
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

/// An arc of a state between two jumps.
struct StateArc<'a> {
    exact: &'a dyn ExactState,
    end: f64,
    /// Shorter pieces are not halved [s].
    finest: f64,
    tolerance: f64,
}

/// Pieces of an arc before any is halved.
const PIECES: usize = 64;

impl StateArc<'_> {
    fn value(&self, t: f64) -> Vec<f64> {
        let mut x = vec![0.0; self.exact.dimension()];
        if t == self.end {
            self.exact.before(t, &mut x)
        } else {
            self.exact.at(t, &mut x)
        }
        x
    }

    /// Pushes the vertices from `start` to the left limit at the end.
    fn sample(&self, start: f64, graph: &mut Graph) -> Result<(), MeasureError> {
        let mut left = (start, self.value(start));
        graph.push(left.0, &left.1);
        for k in 1..=PIECES {
            // the last one is the end itself, whatever the rounding
            let t = if k == PIECES { self.end } else { start + (self.end - start) * (k as f64 / PIECES as f64) };
            // right ends that wait, the nearest one on top
            let mut waiting = vec![(t, self.value(t))];
            while let Some(right) = waiting.pop() {
                if graph.times.len() + waiting.len() > MAX_VERTICES {
                    return Err(MeasureError::TooFine { error: graph.sampling, limit: MAX_VERTICES });
                }
                if right.0 - left.0 > self.finest && self.leaves(&left, &right) {
                    let middle = 0.5 * (left.0 + right.0);
                    waiting.push(right);
                    waiting.push((middle, self.value(middle)));
                } else {
                    graph.push(right.0, &right.1);
                    left = right;
                }
            }
        }
        Ok(())
    }

    /// Whether the arc leaves its chord, at three points: one alone may lie on it by chance.
    fn leaves(&self, left: &(f64, Vec<f64>), right: &(f64, Vec<f64>)) -> bool {
        [0.25, 0.5, 0.75].into_iter().any(|s| {
            let value = self.value(left.0 + s * (right.0 - left.0));
            let ends = left.1.iter().zip(&right.1);
            let square: f64 = value.iter().zip(ends).map(|(x, (a, b))| (x - a - s * (b - a)).powi(2)).sum();
            // the arc between these points may be a little farther
            square.sqrt() > 0.5 * self.tolerance
        })
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
        let (q, v) = (vec![0.0; exact.dimension()], vec![0.0; exact.velocities()]);
        Ok(Self { exact, side, error, q, v })
    }

    fn sample(mut self, from: f64, to: f64, amplitude: f64) -> Result<Graph, MeasureError> {
        ordered(&[from, to])?;
        positive("duration", to - from)?;
        let mut breaks = self.exact.jumps(from, to, amplitude);
        breaks.extend(self.exact.accumulation().filter(|&time| time > from && time < to));
        breaks.push(to);
        breaks.sort_by(f64::total_cmp);
        breaks.dedup();
        let dimension = if self.side == Side::Position { self.q.len() } else { self.v.len() };
        let mut graph = Graph::empty(dimension, self.error);
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
    use carom::testbed::{BouncingBall, ExactState as _, LinearOscillator, Takeoff};

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

    /// A kink and a jump cost few vertices, and the graph has both.
    #[test]
    fn states_with_kinks_and_jumps() {
        let play = carom::testbed::Play;
        for error in [1e-3, 1e-6] {
            let graph = Graph::state(&play, 0.0, 14.0, error).unwrap();
            assert!(vertical_distance(&graph, |t| play.value(t)) <= error, "{error}");
            assert!(graph.times().len() < 20_000, "{}", graph.times().len());
        }
        let exact = carom::testbed::ThirdDegree::default();
        let graph = Graph::state(&exact, 0.0, 10.0, 1e-5).unwrap();
        let impact = exact.jumps(0.0, 10.0)[0];
        let k = graph.times().iter().position(|t| *t == impact).unwrap();
        // z2 jumps from -0.70145 to 0
        let z2 = |k: usize| graph.values()[5 * k + 1];
        assert!((z2(k) + 0.7014495873).abs() < 1e-9 && graph.times()[k + 1] == impact && z2(k + 1) == 0.0);
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
