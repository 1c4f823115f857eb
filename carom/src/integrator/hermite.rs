//! Quintic Hermite interpolation on values, rates and accelerations at both ends of a step: where event functions are
//! looked for.
//!
//! ```text
//!     d = q₁ − q₀ − h v₀ − h² a₀/2,   e = h (v₁ − v₀ − h a₀),   f = h² (a₁ − a₀)                              (1)
//!     q(s) = q₀ + s h v₀ + (s h)² a₀/2 + s³ [(10d − 4e + f/2) + s ((−15d + 7e − f) + s (6d − 3e + f/2))]      (2)
//! ```
//!
//! With ends of a method of order 5 the local error is O(h⁶) in q and O(h⁵) in v = q'(s)/h. Where increments have a
//! chart (`model/chart.rs`) they are interpolated: v and a are first and second derivatives of the increment.

use crate::{Space, State};

/// An increment of less than this part of its position has lost too many digits for derivatives.
const SHORT: f64 = 1e-9;

/// Pieces in which the sign of a quintic is looked at.
const PIECES: usize = 8;

/// A polynomial of degree five on [0, 1].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Quintic {
    c: [f64; 6],
}

carom_solve::persist!(Quintic { c });

/// Where a quintic goes below zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Crossing {
    /// Part of the step.
    pub s: f64,
    /// A later part at which it is below.
    pub below: f64,
    /// Whether it is the top of an excursion too small to be seen.
    pub is_top: bool,
}

impl Quintic {
    /// (2) from value, rate and second derivative at both ends of an interval of width h.
    #[inline]
    pub fn new(start: [f64; 3], end: [f64; 3], h: f64) -> Quintic {
        let ([g0, u0, a0], [g1, u1, a1]) = (start, end);
        let (rate, second) = (h * u0, h * h * a0);
        let d = g1 - g0 - rate - 0.5 * second;
        let e = h * u1 - rate - second;
        let f = h * h * a1 - second;
        let half = 0.5 * f;
        Quintic {
            c: [g0, rate, 0.5 * second, 10.0 * d - 4.0 * e + half, -15.0 * d + 7.0 * e - f, 6.0 * d - 3.0 * e + half],
        }
    }

    /// The cubic from value and rate at both ends.
    pub fn cubic([g0, u0]: [f64; 2], [g1, u1]: [f64; 2], h: f64) -> Quintic {
        let (d, m0, m1) = (g1 - g0, h * u0, h * u1);
        Quintic { c: [g0, m0, 3.0 * d - 2.0 * m0 - m1, m0 + m1 - 2.0 * d, 0.0, 0.0] }
    }

    /// The quartic from value and rate at both ends and the second derivative at the start.
    pub fn quartic([g0, u0, a0]: [f64; 3], [g1, u1]: [f64; 2], h: f64) -> Quintic {
        let (rate, second) = (h * u0, h * h * a0);
        let (d, e) = (g1 - g0 - rate - 0.5 * second, h * u1 - rate - second);
        Quintic { c: [g0, rate, 0.5 * second, 4.0 * d - e, e - 3.0 * d, 0.0] }
    }

    /// The value at `s`.
    #[inline]
    pub fn at(&self, s: f64) -> f64 {
        let c = &self.c;
        c[0] + s * (c[1] + s * (c[2] + s * (c[3] + s * (c[4] + s * c[5]))))
    }

    /// The derivative by `s`.
    #[inline]
    pub fn slope(&self, s: f64) -> f64 {
        let c = &self.c;
        c[1] + s * (2.0 * c[2] + s * (3.0 * c[3] + s * (4.0 * c[4] + s * 5.0 * c[5])))
    }

    /// The second derivative by `s`.
    fn bend(&self, s: f64) -> f64 {
        let c = &self.c;
        2.0 * c[2] + s * (6.0 * c[3] + s * (12.0 * c[4] + s * 20.0 * c[5]))
    }

    /// The third derivative by `s`.
    fn third(&self, s: f64) -> f64 {
        let c = &self.c;
        6.0 * c[3] + s * (24.0 * c[4] + s * 60.0 * c[5])
    }

    /// A bottom between two places with these slopes: also one beside a top.
    fn bottom(&self, (left, right): (f64, f64), (mut slope, mut next): (f64, f64)) -> Option<f64> {
        let (mut low, mut high) = (left, right);
        if (slope < 0.0) == (next < 0.0) {
            // the slope itself turns, far enough to change its sign twice
            let [a, b] = [self.bend(left), self.bend(right)];
            if slope < 0.0 && a > 0.0 && b < 0.0 {
                high = fall(left, right, |s| (self.bend(s), self.third(s)));
            } else if slope >= 0.0 && a < 0.0 && b > 0.0 {
                low = fall(left, right, |s| (-self.bend(s), -self.third(s)));
            }
            (slope, next) = (self.slope(low), self.slope(high));
        }
        (slope < 0.0 && next > 0.0).then(|| fall(low, high, |s| (-self.slope(s), -self.bend(s))))
    }

    /// The first place where the quintic goes below `level` by more than `noise`, coming from above. One that starts at
    /// the level (`is_released`) is followed from the top of its first excursion.
    pub fn descent(&self, level: f64, noise: f64, is_released: bool) -> Option<Crossing> {
        let piece = 1.0 / PIECES as f64;
        let floor = level - noise;
        let (mut left, mut slope) = (0.0, self.c[1]);
        for k in 1..=PIECES {
            let right = k as f64 * piece;
            let next = self.slope(right);
            let mut below = (self.at(right) < floor).then_some(right);
            if let Some(bottom) = self.bottom((left, right), (slope, next)) {
                below = (self.at(bottom) < floor).then_some(bottom).or(below);
            }
            if let Some(right) = below {
                let mut start = left;
                if k == 1 && is_released {
                    start = if slope > 0.0 { self.top(0.0, right) } else { 0.0 };
                    if self.at(start) <= level + noise {
                        return Some(Crossing { s: start, below: right, is_top: true });
                    }
                }
                return Some(Crossing { s: self.root(start, right, level), below: right, is_top: false });
            }
            (left, slope) = (right, next);
        }
        None
    }

    /// Whether the quintic, or one that differs from it by `doubt`, a function of the place, comes below a level
    /// inside.
    pub fn may_fall_below(&self, level: f64, doubt: impl Fn(f64) -> f64) -> bool {
        let piece = 1.0 / PIECES as f64;
        let falls = |s: f64| self.at(s) - doubt(s) < level;
        let (mut left, mut slope) = (0.0, self.c[1]);
        (1..=PIECES).any(|k| {
            let right = k as f64 * piece;
            let next = self.slope(right);
            let found = falls(right) && k < PIECES || self.bottom((left, right), (slope, next)).is_some_and(falls);
            (left, slope) = (right, next);
            found
        })
    }

    /// The place in [low, high] where the quintic falls through `level`.
    fn root(&self, low: f64, high: f64, level: f64) -> f64 {
        fall(low, high, |s| (self.at(s) - level, self.slope(s)))
    }

    /// A top in [low, high]: the slope falls through zero.
    fn top(&self, low: f64, high: f64) -> f64 {
        fall(low, high, |s| (self.slope(s), self.bend(s)))
    }
}

/// The place in [low, high] where a function, given with its derivative, ceases to be positive: Newton's method inside
/// a bracket.
#[inline]
fn fall(mut low: f64, mut high: f64, f: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut s = 0.5 * (low + high);
    for _ in 0..60 {
        let (value, slope) = f(s);
        if value > 0.0 {
            low = s
        } else {
            high = s
        }
        let newton = s - value / slope;
        let trusted = slope < 0.0 && newton >= low && newton <= high;
        let next = if trusted { newton } else { 0.5 * (low + high) };
        // the error of Newton's method is about the square of its step
        let near = if trusted { 1e-9 } else { 2.0 * f64::EPSILON };
        if (next - s).abs() <= near * next {
            return next;
        }
        s = next;
    }
    s
}

/// The motion of a step, on both ends and their accelerations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hermite {
    start: State,
    h: f64,
    c: Vec<Quintic>, // (n) increments from the start
    increment: Vec<f64>,
    change: Vec<f64>,     // (n) of velocities, or rates of increments
    is_short: Vec<bool>,  // (n) whether the increment is mostly rounding: then velocities are taken on a line
    rates: [Vec<f64>; 2], // (n) derivatives of the increment at the end, where it has a chart
    between: Vec<f64>,    // (n) its rate inside
}

carom_solve::persist!(Hermite { start, h, c, increment, change, is_short, rates, between });

impl Hermite {
    /// (1) for a step from `start` to `end` with these accelerations.
    pub fn fill<M: ?Sized + Space>(&mut self, model: &M, start: (&State, &[f64]), end: (&State, &[f64]), h: f64) {
        self.start.copy_from(start.0);
        self.h = h;
        self.increment.resize(start.0.v.len(), 0.0);
        model.difference(&start.0.q, &end.0.q, &mut self.increment);
        self.is_short.clear();
        self.is_short.extend((0..start.0.v.len()).map(|k| {
            let q = model.moves(k).map_or(1.0, |place| start.0.q[place].abs());
            let (v, a) = (start.0.v[k].abs().max(end.0.v[k].abs()), start.1[k].abs().max(end.1[k].abs()));
            h == 0.0 || h * (v + h * a) <= SHORT * q
        }));
        let has_chart = self.bend_end(model, (&end.0.v, end.1));
        let [rate, second] = &self.rates;
        let (v, a) = if has_chart { (&rate[..], &second[..]) } else { (&end.0.v[..], end.1) };
        self.change.clear();
        self.change.extend(start.0.v.iter().zip(v).map(|(a, b)| b - a));
        self.c.clear();
        self.c.extend(
            (0..self.increment.len())
                .map(|k| Quintic::new([0.0, start.0.v[k], start.1[k]], [self.increment[k], v[k], a[k]], h)),
        );
    }

    /// First and second derivative of the increment at the end; false where they are velocity and acceleration.
    fn bend_end<M: ?Sized + Space>(&mut self, model: &M, (v, a): (&[f64], &[f64])) -> bool {
        let Some(chart) = model.chart() else { return false };
        let [rate, second] = &mut self.rates;
        for buffer in [&mut *rate, &mut *second, &mut self.between] {
            buffer.resize(v.len(), 0.0);
        }
        chart.rate(&self.increment, v, rate);
        chart.rate(&self.increment, a, second);
        chart.bend(&self.increment, v, &mut self.between);
        second.iter_mut().zip(&self.between).for_each(|(x, b)| *x += b);
        true
    }

    /// The state at the part `s` of the step. Velocities serve as the buffer of the increment.
    pub fn at<M: ?Sized + Space>(&mut self, model: &M, s: f64, out: &mut State) {
        out.t = self.start.t + s * self.h;
        out.q.clone_from(&self.start.q);
        out.v.clear();
        // the parabola of the velocities, turned to its end
        let bend = 0.5 * self.h * s * (s - 1.0);
        out.v.extend(
            self.c.iter().zip(&self.is_short).enumerate().map(|(k, (c, is_short))| {
                if *is_short { s * self.increment[k] + bend * self.change[k] } else { c.at(s) }
            }),
        );
        model.retract(&self.start.q, &out.v, &mut out.q);
        let chart = model.chart();
        if chart.is_some() {
            self.between.clone_from(&out.v);
        }
        for (k, (v, c)) in out.v.iter_mut().zip(&self.c).enumerate() {
            *v = if self.is_short[k] { self.start.v[k] + s * self.change[k] } else { c.slope(s) / self.h };
        }
        if let Some(chart) = chart {
            let [rate, _] = &mut self.rates;
            rate.clone_from(&out.v);
            chart.velocity(&self.between, rate, &mut out.v);
        }
    }

    /// Forgets the step; buffers stay.
    pub fn clear(&mut self) {
        self.c.clear();
    }

    pub fn is_filled(&self) -> bool {
        !self.c.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// s ↦ x(s) on an interval of width 2, that is by t = 2 s.
    fn quintic(value: impl Fn(f64) -> [f64; 3]) -> Quintic {
        let [a, b] = [0.0, 1.0].map(|s| {
            let [x, dx, ddx] = value(s);
            [x, dx / 2.0, ddx / 4.0]
        });
        Quintic::new(a, b, 2.0)
    }

    #[test]
    fn quintics_are_reproduced() {
        let p = quintic(|s| [1.0 - s + s.powi(5), -1.0 + 5.0 * s.powi(4), 20.0 * s.powi(3)]);
        for s in [0.0, 0.3, 0.8, 1.0] {
            assert!((p.at(s) - (1.0 - s + s.powi(5))).abs() < 1e-14);
            assert!((p.slope(s) - (5.0 * s.powi(4) - 1.0)).abs() < 1e-13);
            assert!((p.bend(s) - 20.0 * s.powi(3)).abs() < 1e-12);
        }
        // 1 − s + s² + s⁴ over a length of 2
        let p = Quintic::quartic([1.0, -0.5, 0.5], [2.0, 2.5], 2.0);
        for s in [0.0, 0.3, 0.8, 1.0] {
            assert!((p.at(s) - (1.0 - s + s * s + s.powi(4))).abs() < 1e-14);
        }
    }

    /// One step of a free body, without error at its ends: the attitude in the middle has order 6. With the plain
    /// velocity as the slope at the end it would be 3.
    #[test]
    fn attitudes_are_interpolated_on_their_chart() {
        let body = crate::testbed::RigidBody::default();
        let mut model = body.model();
        let rate = |v: &[f64]| [-v[1] * v[2], v[0] * v[2], -v[0] * v[1] / 3.0];
        // short steps of order 8
        let mut exact = |t: f64| {
            let mut acceleration = crate::phase::Acceleration::new(&mut model);
            let mut flow = crate::integrator::Dop853::new(model.initial());
            let (mut from, mut to) = (model.initial(), model.initial());
            for _ in 0..4 {
                let mut motion = crate::phase::FreeMotion { model: &mut model, acceleration: &mut acceleration };
                flow.advance(&mut motion, None, (&from, t / 4.0), &mut to).unwrap();
                from.copy_from(&to);
            }
            from
        };
        let table = [(0.4, 1.14e-6), (0.2, 1.55e-8), (0.1, 2.29e-10), (0.05, 3.5e-12)];
        let states = table.map(|(h, _)| (exact(0.5 * h), exact(h)));
        for ((h, expected), (middle, end)) in table.into_iter().zip(states) {
            let (mut hermite, mut found, mut far) = (Hermite::default(), end.clone(), [0.0; 3]);
            let start = model.initial();
            hermite.fill(&model, (&start, &rate(&start.v)), (&end, &rate(&end.v)), h);
            hermite.at(&model, 0.5, &mut found);
            model.difference(&middle.q, &found.q, &mut far);
            let angle = far.iter().map(|x| x * x).sum::<f64>().sqrt();
            assert!((angle / expected - 1.0).abs() < 0.02, "{h}: {angle:e} {expected:e}");
        }
    }

    #[test]
    fn descents_are_found_once_and_in_order() {
        // a hop from the floor: s (0.37 − s)
        let hop = quintic(|s| [s * (0.37 - s), 0.37 - 2.0 * s, -2.0]);
        let found = hop.descent(0.0, 1e-15, true).unwrap();
        assert!((found.s - 0.37).abs() < 1e-14 && !found.is_top);
        // a hop far shorter than a piece, and one too small to be seen
        let tiny = quintic(|s| [s * (1e-6 - s), 1e-6 - 2.0 * s, -2.0]);
        let s = tiny.descent(0.0, 1e-15, true).unwrap().s;
        assert!((s - 1e-6).abs() < 1e-18, "{s:e}");
        let unseen = tiny.descent(0.0, 1e-11, true).unwrap();
        assert!(unseen.is_top && (unseen.s - 5e-7).abs() < 1e-12);
        // leaves and stays away; touches without crossing; dips between two samples
        assert_eq!(quintic(|s| [s * s, 2.0 * s, 2.0]).descent(0.0, 1e-15, true), None);
        let graze = |s: f64| [(s - 0.4) * (s - 0.4), 2.0 * (s - 0.4), 2.0];
        assert_eq!(quintic(graze).descent(0.0, 1e-15, false), None);
        let dip = quintic(|s| [graze(s)[0] - 1e-4, graze(s)[1], 2.0]);
        assert!((dip.descent(0.0, 1e-15, false).unwrap().s - 0.39).abs() < 1e-12);
        // a top and a bottom within one piece: s (s − 0.02) (s − 0.1)
        let both = quintic(|s| [s * (s - 0.02) * (s - 0.1), 3.0 * s * s - 0.24 * s + 2e-3, 6.0 * s - 0.24]);
        let found = both.descent(0.0, 1e-15, true).unwrap();
        assert!((found.s - 0.02).abs() < 1e-12 && !found.is_top);
        assert!(both.may_fall_below(0.0, |_| 0.0));
    }
}
