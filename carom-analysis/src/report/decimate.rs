//! Streaming min-max decimation of time series in bounded memory.
//!
//! Samples are kept exactly until there are more than `max_points`. From then on consecutive samples share buckets of a
//! common size; a bucket keeps the first, the smallest, the largest and the last value of each column, each at its own
//! time, and the first gap (non-finite value). When the buckets are full, neighbours are merged pairwise and the bucket
//! size doubles, so that every extreme survives. Buckets count samples, not seconds: where a scheme takes small steps,
//! the curve keeps its resolution.
//!
//! Buckets are bounded by half of `max_points`, for on a smooth curve a bucket has two points: first and last are its
//! extremes. A column that oscillates has more; its buckets are merged further when it is read.
//!
//! A bucket hides what happens between its four values, e.g. the jumps near an accumulation of impacts. Samples given
//! by [`Decimator::push_important`] are therefore kept exactly beside the buckets, up to a quarter of `max_points`. If
//! there are more, every second run of them is dropped, again and again: what remains is spread evenly over the
//! impacts.

use std::mem;

/// The smallest budget that still makes sense.
const MIN_POINTS: usize = 64;
/// Important samples that are kept or dropped together: before and after an impact.
const RUN_LENGTH: usize = 4;

/// Decimates several columns over one time at once.
#[derive(Debug, Clone)]
pub struct Decimator {
    columns: usize,
    max_points: usize,
    /// Number of samples so far; orders samples of equal time.
    count: u64,
    exact: Vec<Sample>,
    buckets: Vec<Bucket>,
    /// Samples per full bucket; 0 while all samples are kept exactly.
    bucket_size: u64,
    important: Important,
}

#[derive(Debug, Clone)]
struct Sample {
    index: u64,
    t: f64,
    values: Box<[f64]>,
}

#[derive(Debug, Clone, Copy)]
struct Point {
    index: u64,
    t: f64,
    x: f64,
}

#[derive(Debug, Clone, Copy)]
struct Extent {
    first: Point,
    last: Point,
    /// Smallest and largest finite value.
    range: Option<(Point, Point)>,
    gap: Option<Point>,
}

#[derive(Debug, Clone)]
struct Bucket {
    samples: u64,
    columns: Box<[Extent]>,
}

/// Runs of important samples, of which every `stride`-th is kept.
#[derive(Debug, Clone)]
struct Important {
    max_runs: usize,
    stride: u64,
    /// Number of the current run.
    run: u64,
    /// Samples in the current run.
    length: usize,
    kept: Vec<(u64, Vec<Sample>)>,
}

impl Decimator {
    /// A decimator for `columns` values per sample that returns at most `max_points` points per column (at least 64).
    pub fn new(columns: usize, max_points: usize) -> Self {
        let max_points = max_points.max(MIN_POINTS);
        let max_runs = max_points / 4 / RUN_LENGTH;
        Self {
            columns,
            max_points,
            count: 0,
            exact: Vec::new(),
            buckets: Vec::new(),
            bucket_size: 0,
            important: Important { max_runs, stride: 1, run: 0, length: 0, kept: Vec::new() },
        }
    }

    /// Takes a sample. Missing values are gaps, values beyond the number of columns are ignored.
    pub fn push(&mut self, t: f64, values: &[f64]) {
        self.important.end_run();
        self.take(self.count, t, values);
        self.count += 1;
    }

    /// Takes a sample that should be shown exactly, e.g. before and after an impact.
    ///
    /// A closed contact that acts at every step is not important in this sense: its samples would crowd out the
    /// impacts.
    pub fn push_important(&mut self, t: f64, values: &[f64]) {
        let sample = Sample { index: self.count, t, values: self.row(values).collect() };
        self.important.take(sample);
        self.take(self.count, t, values);
        self.count += 1;
    }

    /// Number of samples taken so far.
    pub fn samples(&self) -> u64 {
        self.count
    }

    /// Whether every sample is still kept exactly.
    pub fn is_exact(&self) -> bool {
        self.bucket_size == 0
    }

    /// The times and values of each column, in the order in which they came.
    pub fn finish(&self) -> Vec<(Vec<f64>, Vec<f64>)> {
        (0..self.columns).map(|column| self.column(column)).collect()
    }

    fn column(&self, column: usize) -> (Vec<f64>, Vec<f64>) {
        let mut points: Vec<Point> = self.exact.iter().filter_map(|sample| sample.point(column)).collect();
        if !self.is_exact() {
            points.extend(self.important.samples().filter_map(|sample| sample.point(column)));
            let allowed = self.max_points - points.len();
            let mut extents: Vec<Extent> = self.buckets.iter().filter_map(|b| b.columns.get(column)).copied().collect();
            while extents.iter().map(|extent| extent.points().count()).sum::<usize>() > allowed {
                extents = extents.chunks(2).map(Extent::joined).collect();
            }
            points.extend(extents.iter().flat_map(Extent::points));
        }
        points.sort_by_key(|point| point.index);
        points.dedup_by_key(|point| point.index);
        points.iter().map(|point| (point.t, point.x)).unzip()
    }

    fn row<'a>(&self, values: &'a [f64]) -> impl Iterator<Item = f64> + use<'a> {
        values.iter().copied().chain(std::iter::repeat(f64::NAN)).take(self.columns)
    }

    fn take(&mut self, index: u64, t: f64, values: &[f64]) {
        if self.is_exact() {
            if self.exact.len() < self.max_points {
                let values = self.row(values).collect();
                self.exact.push(Sample { index, t, values });
                return;
            }
            self.leave_exact();
        }
        self.bucket(index, t, values);
    }

    /// The number of exact samples is reached: from now on buckets.
    fn leave_exact(&mut self) {
        self.bucket_size = 8;
        for sample in mem::take(&mut self.exact) {
            self.bucket(sample.index, sample.t, &sample.values);
        }
    }

    fn bucket(&mut self, index: u64, t: f64, values: &[f64]) {
        let row = self.row(values).map(|x| Point { index, t, x });
        match self.buckets.last_mut().filter(|bucket| bucket.samples < self.bucket_size) {
            Some(bucket) => {
                bucket.samples += 1;
                for (extent, point) in bucket.columns.iter_mut().zip(row) {
                    extent.include(&Extent::of(point));
                }
            }
            None => {
                let bucket = Bucket { samples: 1, columns: row.map(Extent::of).collect() };
                if self.buckets.len() >= self.max_buckets() {
                    self.merge();
                }
                self.buckets.push(bucket);
            }
        }
    }

    /// Even, so that merging leaves full buckets.
    fn max_buckets(&self) -> usize {
        self.max_points / 4 * 2
    }

    fn merge(&mut self) {
        for index in 0..self.buckets.len() / 2 {
            let (left, right) = (self.buckets[2 * index].clone(), &self.buckets[2 * index + 1]);
            let mut merged = left;
            merged.samples += right.samples;
            for (extent, later) in merged.columns.iter_mut().zip(&right.columns) {
                extent.include(later);
            }
            self.buckets[index] = merged;
        }
        self.buckets.truncate(self.buckets.len() / 2);
        self.bucket_size = self.bucket_size.saturating_mul(2);
    }
}

impl Sample {
    fn point(&self, column: usize) -> Option<Point> {
        self.values.get(column).map(|x| Point { index: self.index, t: self.t, x: *x })
    }
}

impl Extent {
    fn of(point: Point) -> Self {
        let finite = point.x.is_finite();
        Self { first: point, last: point, range: finite.then_some((point, point)), gap: (!finite).then_some(point) }
    }

    /// Widens by an extent that comes later; of equal values the earlier stays.
    fn include(&mut self, later: &Self) {
        self.last = later.last;
        self.range = match (self.range, later.range) {
            (Some((low, high)), Some((next_low, next_high))) => Some((
                if next_low.x < low.x { next_low } else { low },
                if next_high.x > high.x { next_high } else { high },
            )),
            (range, next) => range.or(next),
        };
        self.gap = self.gap.or(later.gap);
    }

    /// One extent for neighbours in order of time.
    fn joined(neighbours: &[Self]) -> Self {
        let mut all = neighbours[0];
        neighbours[1..].iter().for_each(|later| all.include(later));
        all
    }

    /// First, smallest, largest, gap and last, each sample once.
    fn points(&self) -> impl Iterator<Item = Point> + use<> {
        let (low, high) = self.range.unzip();
        let points = [Some(self.first), low, high, self.gap, Some(self.last)];
        let seen = points.map(|point| point.map(|point| point.index));
        let fresh =
            move |(k, point): (usize, Option<Point>)| point.filter(|point| !seen[..k].contains(&Some(point.index)));
        points.into_iter().enumerate().filter_map(fresh)
    }
}

impl Important {
    fn take(&mut self, sample: Sample) {
        if self.length == RUN_LENGTH {
            self.end_run();
        }
        self.length += 1;
        if !self.run.is_multiple_of(self.stride) {
            return;
        }
        match self.kept.last_mut().filter(|(run, _)| *run == self.run) {
            Some((_, samples)) => samples.push(sample),
            None => {
                if self.kept.len() >= self.max_runs {
                    self.stride = self.stride.saturating_mul(2);
                    let stride = self.stride;
                    self.kept.retain(|(run, _)| run.is_multiple_of(stride));
                }
                if self.run.is_multiple_of(self.stride) {
                    self.kept.push((self.run, vec![sample]));
                }
            }
        }
    }

    fn end_run(&mut self) {
        if self.length > 0 {
            self.run += 1;
            self.length = 0;
        }
    }

    fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.kept.iter().flat_map(|(_, samples)| samples)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn few_samples_are_exact() {
        let mut decimator = Decimator::new(2, 100);
        let t: Vec<f64> = (0..100).map(f64::from).collect();
        for &t in &t {
            decimator.push(t, &[t.sin(), t.cos()]);
        }
        assert!(decimator.is_exact());
        let columns = decimator.finish();
        assert_eq!(columns[0].0, t);
        assert_eq!(columns[0].1, t.iter().map(|t| t.sin()).collect::<Vec<_>>());
        assert_eq!(columns[1].1, t.iter().map(|t| t.cos()).collect::<Vec<_>>());
    }

    #[test]
    fn a_million_samples_stay_within_the_budget_and_keep_the_spike() {
        let mut decimator = Decimator::new(1, 1000);
        for k in 0..1_000_000_u32 {
            let spike = if k == 777_777 { 50.0 } else { 0.0 };
            decimator.push(f64::from(k), &[(f64::from(k) * 1e-3).sin() + spike]);
            assert!(decimator.exact.len() <= 1000 && decimator.buckets.len() <= 500);
        }
        let (t, x) = decimator.finish().remove(0);
        assert!((200..=1000).contains(&t.len()), "{}", t.len());
        assert_eq!((t[0], t[t.len() - 1]), (0.0, 999_999.0));
        let spike = x.iter().position(|x| *x > 10.0).unwrap();
        assert_eq!(t[spike], 777_777.0);
    }

    #[test]
    fn impacts_stay_visible() {
        // bouncing ball: flights shrink by the factor 0.8, two important samples per impact, many ordinary between
        let mut decimator = Decimator::new(1, 2000);
        let (mut t, mut flight, mut speed) = (0.0, 1.0, 5.0);
        let mut impacts = Vec::new();
        for _ in 0..60 {
            for k in 0..5000 {
                decimator.push(t + flight * f64::from(k) / 5000.0, &[speed * (1.0 - f64::from(k) / 2500.0)]);
            }
            t += flight;
            decimator.push_important(t, &[-speed]);
            decimator.push_important(t, &[0.8 * speed]);
            impacts.push((t, -speed, 0.8 * speed));
            flight *= 0.8;
            speed *= 0.8;
        }
        let (t, x) = decimator.finish().remove(0);
        assert!(t.len() <= 2000);
        for (time, before, after) in impacts {
            let at = t.iter().position(|t| *t == time).unwrap();
            assert_eq!((x[at], x[at + 1], t[at + 1]), (before, after, time));
        }
    }

    #[test]
    fn too_many_impacts_are_thinned_evenly_in_pairs() {
        let mut decimator = Decimator::new(1, 640);
        let impacts = 10_000;
        for k in 0..impacts {
            decimator.push(f64::from(k), &[0.0]);
            decimator.push_important(f64::from(k) + 0.5, &[-1.0]);
            decimator.push_important(f64::from(k) + 0.5, &[1.0]);
        }
        assert!(decimator.important.kept.len() <= 40);
        let stride = decimator.important.stride as f64;
        let times: Vec<f64> = decimator.important.samples().map(|sample| sample.t).collect();
        assert!(times.len() >= 40 && times.chunks(2).all(|pair| pair[0] == pair[1]));
        assert!(times.chunks(2).zip(times.chunks(2).skip(1)).all(|(a, b)| b[0] - a[0] == stride));
        assert!(*times.last().unwrap() > f64::from(impacts) - 1.0 - stride);
    }

    #[test]
    fn gaps_and_short_rows_survive() {
        let mut decimator = Decimator::new(2, 64);
        for k in 0..10_000 {
            let gap = (5000..5010).contains(&k);
            decimator.push(f64::from(k), &[if gap { f64::NAN } else { 1.0 }]);
        }
        let columns = decimator.finish();
        let (t, x) = &columns[0];
        let gap = x.iter().position(|x| x.is_nan()).unwrap();
        assert!((5000.0..5010.0).contains(&t[gap]));
        assert!(columns[1].1.iter().all(|x| x.is_nan()));
        assert!(Decimator::new(0, 0).finish().is_empty());
    }

    proptest! {
        #[test]
        fn extremes_order_and_budget(
            values in prop::collection::vec((-1e6..1e6_f64, any::<bool>()), 1..3000),
            max_points in 64..400_usize,
        ) {
            let mut decimator = Decimator::new(1, max_points);
            for (k, (x, important)) in values.iter().enumerate() {
                let t = k as f64;
                if *important { decimator.push_important(t, &[*x]) } else { decimator.push(t, &[*x]) }
            }
            let (t, x) = decimator.finish().remove(0);
            prop_assert!(t.len() <= max_points.max(64));
            prop_assert!(t.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(t.iter().zip(&x).all(|(t, x)| values[*t as usize].0 == *x));
            let low = values.iter().fold(f64::INFINITY, |low, v| low.min(v.0));
            let high = values.iter().fold(f64::NEG_INFINITY, |high, v| high.max(v.0));
            prop_assert_eq!(x.iter().copied().fold(f64::INFINITY, f64::min), low);
            prop_assert_eq!(x.iter().copied().fold(f64::NEG_INFINITY, f64::max), high);
            prop_assert_eq!((t[0], t[t.len() - 1]), (0.0, (values.len() - 1) as f64));
        }
    }
}
