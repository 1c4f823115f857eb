//! Where a multiplier, a slip or a region changes its sign within a step.
//!
//! ```text
//!     m = p₀ − |(p₁, p₂)|,    pⱼ(s) ≈ cⱼ(s), the cubic through s = 0, x, 1 − x, 1 with the x of Lobatto's rule              (1)
//!     m(s) ≥ m of the cubics − 2 δ ω(s),    δ the largest miss of a cubic at other places, or more,  ω = 16 s² (1 − s)²     (2)
//! ```
//!
//! The parts p of a monitor are smooth where m is not: μ λ_N and λ_T of a contact that sticks; others have one part.
//! The impulses of the step need the multipliers at x and 1 − x anyway, so that far from zero the middle is all that is
//! looked at besides. Where (2) comes below zero the dense output is searched, sample by sample and for dips between
//! them.
//!
//! What rests has no error and long steps, and a force may come and go within one. A step whose monitors are not on
//! their cubics is too long; one that is long in proportion to the time since the motion began is looked at in many
//! places (`DENSITY`), and a place where something was seen is looked at again. So what lasts for 1/64 of that time is
//! seen, at a cost that grows with the logarithm of the number of steps.

use super::Work;
use super::point::Point;
use super::search::{FINE, FirstEvent, SAMPLES, TRUST};
use crate::{Mechanical, StepError, System};
use carom_solve::elementary::hypot;

/// Places that are looked at in a step as long as the whole motion up to its end.
const DENSITY: f64 = 64.0;

/// Fewer than this are not worth it.
const FEW: f64 = 4.0;

/// Places lie off the grid by this part of their distance, so that no period is in step with them.
pub(super) const OFFSET: f64 = 0.381_966_011_250_105;

/// A monitor that starts below this part of its size starts at zero.
const STARTS: f64 = 1e-3;

/// Part of the size of a monitor that its cubic may miss it by where that was not seen.
const LEAST: f64 = 0.01;

/// Steps shorter than this part of that of the driver are not too long for a monitor: a force may jump.
pub(super) const SHORTEST: f64 = 1e-6;

/// Distances from the ends at which a search looks besides: a monitor may come near zero there without being seen
/// anywhere else.
const NEAR: [f64; 3] = [1.0 / 256.0, 1.0 / 64.0, 1.0 / 24.0];

/// Pieces in which (2) is looked at.
const PIECES: u32 = 16;

/// Most places that are tried for the bottom of a dip.
const TRIALS: u32 = 12;

/// What a step has shown of its monitors.
#[derive(Debug, Default)]
pub(super) struct Watched {
    bounds: Vec<[f64; 2]>,    // (signals) δ and size
    trail: [Vec<f64>; 3],     // (signals) m at the last three samples
    worst: (f64, f64),        // largest δ in units of the size, and its place
    changed: bool,            // whether a change was seen
    pub suspect: Option<f64>, // time at which something was seen that was too long for its step
}

carom_solve::persist!(Watched { bounds, trail, worst, changed, suspect });

/// What a signal is at a point.
fn parts(start: &Point, point: &Point, signal: usize) -> Option<[f64; 3]> {
    let count = start.monitors.len();
    if signal < count {
        // one phase has the same monitors everywhere
        return point.monitors.get(signal).map(|m| m.parts);
    }
    let trace = start.traces.get(signal - count).filter(|trace| trace.region.is_finite())?;
    let region = point.traces.get(signal - count)?.region;
    Some([if trace.region >= 0.0 { region } else { -region }, 0.0, 0.0])
}

/// m of (1).
fn value(parts: [f64; 3]) -> f64 {
    parts[0] - hypot(parts[1], parts[2])
}

/// The cubic of (1) with the inner node `x`, at `s`.
fn cubic(nodes: &[[f64; 3]; 4], x: f64, s: f64) -> [f64; 3] {
    let y = 1.0 - x;
    let (inner, outer) = (x * y * (y - x), x * y);
    let weights = [
        (s - x) * (s - y) * (1.0 - s) / outer,
        s * (y - s) * (1.0 - s) / inner,
        s * (s - x) * (1.0 - s) / inner,
        s * (s - x) * (s - y) / outer,
    ];
    std::array::from_fn(|part| weights.iter().zip(nodes).map(|(w, node)| w * node[part]).sum())
}

impl Work {
    /// The first change of a monitor or a region between `start` and `end`, a step of length h whose middle is in
    /// `middle`.
    pub(super) fn watch(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        h: f64,
        may_reject: bool,
    ) -> Result<FirstEvent, StepError> {
        let x = self.rule().1[0].0;
        std::mem::swap(&mut self.trial.middle, &mut self.trial.inner[2]);
        for (k, s) in [x, 1.0 - x].into_iter().enumerate() {
            self.view(system, s)?;
            std::mem::swap(&mut self.trial.middle, &mut self.trial.inner[k]);
        }
        self.trial.inner_length = (!self.transition.phase.is_free()).then_some(h);
        let places = self.examine(system, h, x)?;
        let uneven = self.is_uneven();
        if uneven {
            self.trial.watched.suspect = Some(self.trial.start.state.t + self.trial.watched.worst.1 * h);
            if may_reject && h > SHORTEST * self.trial.span {
                return Ok(FirstEvent::Unresolved);
            }
        }
        if !(uneven || self.trial.watched.changed || self.comes_near(x)) {
            return Ok(FirstEvent::None);
        }
        let pieces = places.max(if uneven { FINE } else { SAMPLES });
        let found = self.scan(system, (h, pieces), uneven)?;
        Ok(found.map_or(FirstEvent::None, |(s, until)| FirstEvent::Change { s, until }))
    }

    /// Compares the cubics with all that is known; returns how many places this were.
    fn examine(&mut self, system: &mut System<'_, dyn Mechanical>, h: f64, x: f64) -> Result<u32, StepError> {
        let signals = self.trial.start.monitors.len() + self.trial.start.traces.len();
        let watched = &mut self.trial.watched;
        watched.bounds.clear();
        watched.bounds.resize(signals, [0.0; 2]);
        (watched.worst, watched.changed) = ((0.0, 0.5), false);
        let known = [&self.trial.inner[0], &self.trial.inner[1], &self.trial.inner[2], &self.trial.end];
        watched.changed = known.iter().any(|point| point.is_changed(&self.trial.start));
        for (signal, bound) in watched.bounds.iter_mut().enumerate() {
            for point in known.into_iter().chain([&self.trial.start]) {
                let Some(p) = parts(&self.trial.start, point, signal) else { continue };
                bound[1] = bound[1].max(p[0].abs()).max(hypot(p[1], p[2]));
            }
        }
        std::mem::swap(&mut self.trial.middle, &mut self.trial.inner[2]);
        self.compare_at(x, 0.5);
        std::mem::swap(&mut self.trial.middle, &mut self.trial.inner[2]);
        let (t, count) = (self.trial.start.state.t, self.places(h));
        for k in 1..=count {
            self.inspect(system, x, (f64::from(k) - OFFSET) / f64::from(count))?;
        }
        match self.trial.watched.suspect {
            Some(suspect) if suspect <= t => self.trial.watched.suspect = None,
            Some(suspect) if suspect < t + h => self.inspect(system, x, (suspect - t) / h)?,
            _ => {}
        }
        Ok(count)
    }

    /// Places at which a step of length h is looked at for its length in proportion to the motion so far.
    pub(super) fn places(&self, h: f64) -> u32 {
        let (t, since) = (self.trial.start.state.t, self.memory.since.unwrap_or(self.trial.start.state.t));
        let count = DENSITY * h / ((t - since).max(0.0) + h);
        if count < FEW { 0 } else { count as u32 }
    }

    /// Compares the cubics with the dense output at `s`.
    fn inspect(&mut self, system: &mut System<'_, dyn Mechanical>, x: f64, s: f64) -> Result<(), StepError> {
        self.view(system, s)?;
        self.trial.watched.changed |= self.trial.middle.is_changed(&self.trial.start);
        self.compare_at(x, s);
        Ok(())
    }

    /// Compares the cubics with `middle`, which is at `s`.
    fn compare_at(&mut self, x: f64, s: f64) {
        for signal in 0..self.trial.watched.bounds.len() {
            let (Some(nodes), Some(p)) = (self.nodes(signal), parts(&self.trial.start, &self.trial.middle, signal))
            else {
                continue;
            };
            let c = cubic(&nodes, x, s);
            let miss = (p[0] - c[0]).abs() + hypot(p[1] - c[1], p[2] - c[2]);
            let bound = &mut self.trial.watched.bounds[signal];
            bound[0] = bound[0].max(miss);
            bound[1] = bound[1].max(p[0].abs()).max(hypot(p[1], p[2]));
            if miss > self.trial.watched.worst.0 * bound[1] {
                self.trial.watched.worst = (miss / bound[1], s);
            }
        }
    }

    /// A signal at the four nodes; nothing where it is not known or not unique.
    fn nodes(&self, signal: usize) -> Option<[[f64; 3]; 4]> {
        let mut nodes = [[0.0; 3]; 4];
        for (node, point) in
            nodes.iter_mut().zip([&self.trial.start, &self.trial.inner[0], &self.trial.inner[1], &self.trial.end])
        {
            *node = parts(&self.trial.start, point, signal).filter(|p| p[0].is_finite())?;
        }
        Some(nodes)
    }

    /// Whether a monitor is so far from its cubic that it may do anything between its samples.
    fn is_uneven(&self) -> bool {
        let points =
            [&self.trial.start, &self.trial.inner[0], &self.trial.inner[2], &self.trial.inner[1], &self.trial.end];
        self.trial.start.monitors.iter().zip(&self.trial.watched.bounds).enumerate().any(
            |(signal, (start, [miss, size]))| {
                // one that starts at zero and rises, as a slip does, may grow like any power, however short the step
                let rises = || {
                    let m = points.map(|point| parts(&self.trial.start, point, signal).map_or(f64::NAN, value));
                    start.value <= STARTS * size && m.windows(2).all(|pair| pair[0] < pair[1])
                };
                *miss > TRUST * size && !rises()
            },
        )
    }

    /// Whether (2) comes below zero, or goes down from a start near it, or up to an end near it.
    fn comes_near(&self, x: f64) -> bool {
        self.trial.watched.bounds.iter().enumerate().any(|(signal, [miss, size])| {
            let Some(nodes) = self.nodes(signal) else { return false };
            let miss = miss.max(LEAST * size);
            let at = |s: f64| value(cubic(&nodes, x, s));
            let leaves = |end: f64, inside: f64| at(end) < 2.0 * LEAST * size && at(inside) < at(end);
            let below = |k: u32| {
                let s = f64::from(k) / f64::from(PIECES);
                at(s) < 32.0 * miss * (s * (1.0 - s)).powi(2)
            };
            leaves(0.0, NEAR[0]) || leaves(1.0, 1.0 - NEAR[0]) || (1..PIECES).any(below)
        })
    }

    /// The first place where a monitor or a region changes on the dense output, and one where it has changed, by
    /// samples and by dips between them.
    fn scan(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        (h, pieces): (f64, u32),
        is_coarse: bool,
    ) -> Result<Option<(f64, f64)>, StepError> {
        let suspect = self.trial.watched.suspect.map_or(f64::INFINITY, |t| (t - self.trial.start.state.t) / h);
        self.trial.left.copy_from(&self.trial.start);
        let mut places = [0.0; 3];
        self.follow_trail(true);
        let mut k = 1;
        while k <= pieces {
            let grid = f64::from(k) / f64::from(pieces);
            let near = NEAR.into_iter().chain(NEAR.map(|s| 1.0 - s)).chain([suspect]);
            let s = near.filter(|s| *s > places[2]).fold(grid, f64::min);
            k += u32::from(s == grid);
            self.view(system, s)?;
            if self.trial.middle.is_changed(&self.trial.start) {
                std::mem::swap(&mut self.trial.right, &mut self.trial.middle);
                return self.narrow(system, (places[2], s)).map(Some);
            }
            places = [places[1], places[2], s];
            self.follow_trail(false);
            std::mem::swap(&mut self.trial.left, &mut self.trial.middle);
            if let Some(bottom) = self.bottom(system, places, is_coarse)? {
                std::mem::swap(&mut self.trial.right, &mut self.trial.middle);
                self.view(system, places[0])?;
                std::mem::swap(&mut self.trial.left, &mut self.trial.middle);
                return self.narrow(system, (places[0], bottom)).map(Some);
            }
        }
        Ok(None)
    }

    /// Remembers the signals at `middle`, or at `start` where a scan begins.
    fn follow_trail(&mut self, begins: bool) {
        self.trial.watched.trail.rotate_left(1);
        let point = if begins { &self.trial.start } else { &self.trial.middle };
        let count = self.trial.watched.bounds.len();
        let [.., last] = &mut self.trial.watched.trail;
        last.clear();
        last.extend((0..count).map(|signal| parts(&self.trial.start, point, signal).map_or(f64::INFINITY, value)));
        if begins {
            self.trial.watched.trail[..2].iter_mut().for_each(Vec::clear);
        }
    }

    /// A place between three samples where a signal that is lowest in the second one changes, with `middle` left there.
    fn bottom(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        places: [f64; 3],
        is_coarse: bool,
    ) -> Result<Option<f64>, StepError> {
        for signal in 0..self.trial.watched.bounds.len() {
            let [first, second, third] = &self.trial.watched.trail;
            let known = (first.get(signal), second.get(signal), third.get(signal));
            let (Some(&a), Some(&b), Some(&c)) = known else { continue };
            if !(b < a && b < c && c < f64::INFINITY) {
                continue;
            }
            let (mut s, mut m) = (places, [a, b, c]);
            for trial in 0..TRIALS {
                // the lowest place of a parabola, or halves where that tells nothing new
                let near = 1e-3 * (s[2] - s[0]);
                let lowest = vertex(s, m).filter(|(place, _)| (place - s[1]).abs() > near);
                // nothing but a bottom near zero deserves a closer look, where samples are close enough to tell
                if !is_coarse && lowest.is_none_or(|(_, least)| least > 0.1 * self.trial.watched.bounds[signal][1]) {
                    break;
                }
                let half = if trial % 2 == 0 { 0.5 * (s[0] + s[1]) } else { 0.5 * (s[1] + s[2]) };
                let place = lowest.map_or(half, |(place, _)| place);
                self.view(system, place)?;
                if self.trial.middle.is_changed(&self.trial.start) {
                    return Ok(Some(place));
                }
                let Some(new) = parts(&self.trial.start, &self.trial.middle, signal).map(value) else { break };
                (s, m) = enclose(s, m, (place, new));
            }
        }
        Ok(None)
    }

    /// The place of a change in a bracket of the dense output, whose ends are in `left` and `right`, and one where it
    /// has changed.
    fn narrow(
        &mut self,
        system: &mut System<'_, dyn Mechanical>,
        (mut a, mut b): (f64, f64),
    ) -> Result<(f64, f64), StepError> {
        let until = b;
        for trial in 0..40 {
            if b - a <= 1e-9 {
                break;
            }
            let s = if trial % 3 == 2 { 0.5 * (a + b) } else { a + (b - a) * self.predict().clamp(0.02, 0.98) };
            self.view(system, s)?;
            if self.trial.middle.is_changed(&self.trial.start) {
                b = s;
                std::mem::swap(&mut self.trial.right, &mut self.trial.middle);
            } else {
                a = s;
                std::mem::swap(&mut self.trial.left, &mut self.trial.middle);
            }
        }
        Ok((a + (b - a) * self.predict(), until))
    }

    /// Gaps, monitors and regions at the part `s` of the dense output, into `middle`; without forces where no law acts.
    pub(super) fn view(&mut self, system: &mut System<'_, dyn Mechanical>, s: f64) -> Result<(), StepError> {
        if self.transition.phase.is_free() || s >= 1.0 { self.glance(system, s) } else { self.sample(system, s) }
    }
}

/// Where the parabola through three points is lowest, and its value there.
fn vertex(s: [f64; 3], m: [f64; 3]) -> Option<(f64, f64)> {
    let first = (m[1] - m[0]) / (s[1] - s[0]);
    let second = ((m[2] - m[1]) / (s[2] - s[1]) - first) / (s[2] - s[0]);
    let place = 0.5 * (s[0] + s[1] - first / second);
    let inside = second > 0.0 && place > s[0] && place < s[2];
    inside.then(|| (place, m[0] + (place - s[0]) * (first + second * (place - s[1]))))
}

/// The three of four points that enclose the lowest.
fn enclose(s: [f64; 3], m: [f64; 3], (place, new): (f64, f64)) -> ([f64; 3], [f64; 3]) {
    match (place < s[1], new < m[1]) {
        (true, true) => ([s[0], place, s[1]], [m[0], new, m[1]]),
        (true, false) => ([place, s[1], s[2]], [new, m[1], m[2]]),
        (false, true) => ([s[1], place, s[2]], [m[1], new, m[2]]),
        (false, false) => ([s[0], s[1], place], [m[0], m[1], new]),
    }
}

#[cfg(test)]
mod tests {
    use super::{cubic, enclose, vertex};

    #[test]
    fn cubics_and_parabolas_are_reproduced() {
        let f = |s: f64| 1.0 - 2.0 * s + 3.0 * s * s - 5.0 * s * s * s;
        let x = 0.27639320225002106;
        let nodes = [0.0, x, 1.0 - x, 1.0].map(|s| [f(s), 2.0 * f(s), 1.0]);
        for s in [0.0, 0.1, 0.5, 0.93, 1.0] {
            let [a, b, c] = cubic(&nodes, x, s);
            assert!((a - f(s)).abs() < 1e-14 && (b - 2.0 * f(s)).abs() < 1e-14 && (c - 1.0).abs() < 1e-14, "{s}");
        }
        let p = |s: f64| 0.2 + 3.0 * (s - 0.4) * (s - 0.4);
        let places = [0.1, 0.35, 0.9];
        let (place, least) = vertex(places, places.map(p)).unwrap();
        assert!((place - 0.4).abs() < 1e-14 && (least - 0.2).abs() < 1e-14);
        assert_eq!(vertex(places, places.map(|s| -p(s))), None);
        assert_eq!(enclose(places, places.map(p), (0.4, 0.2)).0, [0.35, 0.4, 0.9]);
        assert_eq!(enclose(places, places.map(p), (0.5, p(0.5))).0, [0.1, 0.35, 0.5]);
    }
}
