//! Shapes that move by more than their thickness in a step: where they meet first.
//!
//! ```text
//!     way of a body:  q ⊕ (s Δ − s (1 − s) B),    s in [0, 1],    B = Δ − h v                                      (1)
//!     d(s + δ) ≥ d(s) − L δ,    L = |Δx_b − Δx_a| + |B_b − B_a| + Σ (|Δθ| + |Bθ|) ρ                                (2)
//! ```
//!
//! Δ is without what contacts have done that were open at the start. (1) is exact under constant forces; B is zero for
//! bodies that other laws have acted on, which go along a line. d is the distance of two shapes, or less, ρ how far
//! their points are from the mass centre. By (2) nothing is passed if s goes on by d/L. Where d is less than a small
//! part of the thickness s goes on by that part, so that the work has a bound: what overlaps by less than half of it
//! may be passed.
//!
//! A step ends just before two shapes meet. The next one begins with the contact and is short, too, where the shapes
//! approach: the mean of the velocities before and after the impact would carry them through each other.

use super::super::motion::frame_of;
use super::super::pair::any::solids;
use super::super::pair::{AnyPair, Pair, Shape};
use super::super::plan::Plan;
use super::super::{Frame, Vector};
use super::grid::Ball;
use super::{Near, PlacedSolid};
use crate::{Coupling, State};

/// Part of thickness and way before which a step ends: more than what schemes take for closed.
const MET: f64 = 1e-9;

/// Parts of the thickness: how much deeper shapes that touch may get in a step, and the shortest way of (2).
const DEEP: f64 = 1e-3;
const LEAST: f64 = 0.02;

/// Part of a step after which a contact that acts in it would have closed, if it has acted too early.
const EARLY: f64 = 1e-8;

/// Parts of the time to the forecast of a contact and of the step to which this is cut, where the contact has acted and
/// the shapes do not meet.
const MISSED: [f64; 2] = [0.99, 0.9];

/// Most places at which a pair is looked at: where shapes go along each other closely the step ends after them.
const MOST: u32 = 1000;

/// Most halves of a piece.
const HALVES: u32 = 60;

/// Turns in a step up to which the ends tell them [rad].
const TURN: f64 = 2.0;

/// (1) of a body: translation first, in the plane two numbers, then rotation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Way {
    q: [f64; 7],
    step: [f64; 6],
    bend: [f64; 6],
    start: [f64; 6], // h v
}

/// Contacts of a step, the impulses of their rows, and the velocities of these before.
pub(crate) type Acted<'a> = (&'a Coupling, &'a [f64], &'a [f64]);

/// Lengths of translation and rotation of a way, or of its difference from another one.
fn lengths(lines: usize, a: &[f64; 6], b: Option<&[f64; 6]>) -> [f64; 2] {
    let square = |i: usize| (a[i] - b.map_or(0.0, |b| b[i])).powi(2);
    [(0..lines).map(square).sum::<f64>().sqrt(), (lines..6).map(square).sum::<f64>().sqrt()]
}

impl Way {
    fn of(plan: &Plan, body: usize, (from, to): (&State, &State), h: f64, added: &[f64]) -> Way {
        let (places, size) = plan.sizes();
        let mut way = Way::default();
        if body == 0 {
            return way;
        }
        let [a, b] = [from, to].map(|state| &state.q[places * (body - 1)..][..places]);
        let [v, w] = [from, to].map(|state| &state.v[size * (body - 1)..][..size]);
        way.q[..places].copy_from_slice(a);
        (0..3).for_each(|i| way.step[i] = b[i] - a[i]);
        if !plan.is_planar {
            let mean: [f64; 3] = std::array::from_fn(|i| 0.5 * h * (v[3 + i] + w[3 + i]));
            let is_short = mean.iter().map(|x| x * x).sum::<f64>() < TURN * TURN;
            let [from, to] = [a, b].map(|q| [q[3], q[4], q[5], q[6]]);
            way.step[3..].copy_from_slice(&if is_short { plan.retraction.difference(from, to) } else { mean });
        }
        let added = added.get(size * (body - 1)..size * body).filter(|added| added.iter().any(|x| *x != 0.0));
        if let Some(added) = added {
            (0..size).for_each(|i| way.step[i] = 0.5 * h * (v[i] + w[i] - added[i]));
        }
        (0..size).for_each(|i| (way.start[i], way.bend[i]) = (h * v[i], way.step[i] - h * v[i]));
        way
    }

    /// The larger lengths of both ways.
    fn longest(&self, lines: usize) -> [f64; 2] {
        let [step, bend, start] = [&self.step, &self.bend, &self.start].map(|way| lengths(lines, way, None));
        [0, 1].map(|i| (step[i] + bend[i]).max(start[i]))
    }

    fn frame(&self, plan: &Plan, body: usize, is_free: bool, s: f64) -> Frame {
        if body == 0 {
            return Frame::ground();
        }
        let moved = |i: usize| match is_free {
            true => s * self.start[i],
            false => s * self.step[i] - s * (1.0 - s) * self.bend[i],
        };
        let mut q = self.q;
        (0..3).for_each(|i| q[i] += moved(i));
        if !plan.is_planar {
            let turned = plan.retraction.retract([q[3], q[4], q[5], q[6]], [moved(3), moved(4), moved(5)]);
            q[3..].copy_from_slice(&turned);
        }
        frame_of(plan.is_planar, &q[..plan.sizes().0])
    }
}

/// Two shapes on their ways.
struct Course<'a> {
    plan: &'a Plan,
    pair: AnyPair,
    bodies: [usize; 2],
    ways: [Way; 2],
    is_free: bool,
    length: f64,    // L
    thickness: f64, // of both
    met: f64,       // distance that counts as met
}

impl Course<'_> {
    /// Distance, or less.
    fn apart(&self, s: f64) -> f64 {
        let frame = |k: usize| self.ways[k].frame(self.plan, self.bodies[k], self.is_free, s);
        self.pair.apart((&frame(0), &frame(1))).0
    }

    /// Where the step is to end; `forecast` is where a contact has been forecast that has acted in it.
    fn end(&self, forecast: Option<f64>) -> Option<f64> {
        let start = self.apart(0.0);
        if self.is_free || self.touches(start) {
            let depth = DEEP * self.thickness;
            return self.follow(start, [start.min(0.0) - 0.5 * depth, start.min(0.0) - depth]);
        }
        // gaps that bend are not where they are forecast: shapes may go by each other, or meet later
        let missed = || forecast.map(|s| (MISSED[0] * s).min(MISSED[1]));
        self.follow(start, [self.met, 0.0]).or_else(missed)
    }

    /// Whether the shapes have met at this distance.
    fn touches(&self, start: f64) -> bool {
        start <= 2.0 * self.met
    }

    /// Where the distance comes down to the first of two levels, if it comes down to the second one.
    fn follow(&self, start: f64, [target, trigger]: [f64; 2]) -> Option<f64> {
        let (mut s, mut gap, mut open) = (0.0, start, 0.0);
        for _ in 0..MOST {
            if gap <= trigger {
                return Some(self.halve([open, s], target));
            }
            if s >= 1.0 {
                return None;
            }
            if gap > target {
                open = s;
            }
            s = (s + gap.max(LEAST * self.thickness) / self.length).min(1.0);
            gap = self.apart(s);
        }
        Some(s)
    }

    /// Where the distance comes down to a level between two places.
    fn halve(&self, [mut open, mut closed]: [f64; 2], level: f64) -> f64 {
        for _ in 0..HALVES {
            let middle = 0.5 * (open + closed);
            let gap = self.apart(middle);
            if gap > level {
                open = middle
            } else {
                closed = middle
            }
            if gap <= level && gap > level - 0.5 * self.met {
                break;
            }
        }
        closed
    }
}

/// Whether a contact has acted in a step.
fn has_acted((coupling, impulse, _): Acted<'_>, i: usize) -> bool {
    coupling.pairs[i].law.is_contact() && impulse.get(coupling.offset[i]).is_some_and(|p| *p > 0.0)
}

/// The part of the step at which its gap is zero at the velocity of the start.
fn forecast((coupling, _, before): Acted<'_>, h: f64, i: usize) -> f64 {
    let way = before.get(coupling.offset[i]).map_or(0.0, |u| h * u.abs());
    coupling.gap(i).max(0.0) / way.max(f64::MIN_POSITIVE)
}

/// Whether it is one of two shapes, has acted and was open at the start.
fn is_early(acted: Acted<'_>, h: f64, i: usize) -> bool {
    let is_followed = acted.0.pairs[i].key.parts().0[0] != 0;
    is_followed && has_acted(acted, i) && forecast(acted, h, i) > EARLY
}

impl Near {
    /// What contacts have added to momenta in a step of length h that were open at its start. Returns whether any has.
    pub fn early(&self, acted: Acted<'_>, h: f64, added: &mut [f64]) -> bool {
        let (coupling, impulse, _) = acted;
        added.fill(0.0);
        let mut is_any = false;
        for i in (0..coupling.len()).filter(|i| is_early(acted, h, *i)) {
            is_any = true;
            for row in coupling.offset[i]..coupling.offset[i + 1] {
                coupling.rows.row(row).iter().for_each(|&(j, c)| added[j] += c * impulse[row]);
            }
        }
        is_any
    }

    /// The part of a step of length h between two states at which it has to end so that no shape passes through another
    /// one; `added` are the velocities that contacts have added which were open at its start. Shapes are followed that
    /// move by more than their thickness in a step of the usual length.
    pub fn passing(
        &mut self,
        plan: &Plan,
        (ends, [h, usual]): ((&State, &State), [f64; 2]),
        acted: Acted<'_>,
        added: &[f64],
    ) -> Option<f64> {
        let lines = if plan.is_planar { 2 } else { 3 };
        self.go(plan, (ends, h), acted, added);
        let way = |solid: &PlacedSolid| {
            let [shift, angle] = self.ways[solid.body].longest(lines);
            shift + angle * solid.reach
        };
        // two shapes do not come nearer by more than both ways
        self.own.clear();
        self.own.extend(plan.solids.all.iter().map(way));
        let scale = if usual > h && usual.is_finite() { usual / h } else { 1.0 };
        if !plan.solids.all.iter().zip(&self.own).any(|(solid, own)| scale * own > solid.thickness) {
            return None;
        }
        self.met.clear();
        let pushed = (0..acted.0.len()).filter(|i| has_acted(acted, *i));
        self.met.extend(pushed.map(|i| (acted.0.pairs[i].key.parts().0, forecast(acted, h, i))));
        self.met.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        self.sweep(plan, scale);
        let mut first = None::<f64>;
        for &(i, j) in &self.found {
            let place = self.met.partition_point(|(pair, _)| *pair < [i + 1, j + 1]);
            let forecast = self.met.get(place).filter(|(pair, _)| *pair == [i + 1, j + 1]).map(|met| met.1);
            let end = self.course(plan, (i, j), scale, forecast.is_some()).and_then(|course| course.end(forecast));
            first = first.into_iter().chain(end).reduce(f64::min);
        }
        first
    }

    /// The ways of all bodies; those that laws have acted on go along lines.
    fn go(&mut self, plan: &Plan, (ends, h): ((&State, &State), f64), acted: Acted<'_>, added: &[f64]) {
        self.ways.clear();
        self.ways.extend((0..=plan.bodies.len()).map(|body| Way::of(plan, body, ends, h, added)));
        let (size, (coupling, impulse, _)) = (plan.sizes().1, acted);
        for i in (0..coupling.len()).filter(|i| !is_early(acted, h, *i)) {
            let rows = coupling.offset[i]..coupling.offset[i + 1];
            for row in rows.filter(|row| impulse.get(*row).is_some_and(|p| *p != 0.0)) {
                for &(j, _) in coupling.rows.row(row) {
                    self.ways[j / size + 1].bend = [0.0; 6];
                }
            }
        }
    }

    /// Pairs of shapes that may meet on their ways.
    fn sweep(&mut self, plan: &Plan, scale: f64) {
        let Near { grid, balls, found, own, ways, .. } = self;
        let solids = &plan.solids;
        let is_fast =
            |i: usize, j: usize| scale * (own[i] + own[j]) > solids.all[i].thickness + solids.all[j].thickness;
        balls.clear();
        balls.extend(solids.all.iter().zip(&*own).map(|(solid, own)| Ball {
            centre: ways[solid.body].frame(plan, solid.body, false, 0.0).point(solid.centre).0,
            radius: solid.radius + own,
        }));
        found.clear();
        grid.pairs(balls, plan.is_planar, |i, j| {
            if is_fast(i as usize, j as usize) && solids.may_touch(i, j) {
                found.push((i, j));
            }
        });
        for (i, wide) in solids.all.iter().enumerate().filter(|(_, solid)| !solid.radius.is_finite()) {
            let Shape::Plane(plane) = &wide.shape else { continue };
            let frame = ways[wide.body].frame(plan, wide.body, false, 0.0);
            let (normal, point) = (frame.direction(plane.normal), frame.point(plane.point));
            for (j, ball) in balls.iter().enumerate().filter(|(_, ball)| ball.radius.is_finite()) {
                let far = normal.dot(Vector(ball.centre) - point);
                let (low, high) = (i.min(j) as u32, i.max(j) as u32);
                if is_fast(i, j) && far <= ball.radius + own[i] && solids.may_touch(low, high) {
                    found.push((low, high));
                }
            }
        }
    }

    /// Two shapes on their ways, where these are longer than both are thick and their balls meet. Shapes that touch and
    /// whose contact has acted go on at the velocities of the start.
    fn course<'a>(&self, plan: &'a Plan, (i, j): (u32, u32), scale: f64, has_acted: bool) -> Option<Course<'a>> {
        let lines = if plan.is_planar { 2 } else { 3 };
        let [a, b] = [i, j].map(|i| &plan.solids.all[i as usize]);
        let ways = [a, b].map(|solid| self.ways[solid.body]);
        let length = |steps: [&[f64; 6]; 2]| {
            let angle = |k: usize| lengths(lines, steps[k], None)[1];
            [lengths(lines, steps[1], Some(steps[0]))[0], angle(0) * a.reach + angle(1) * b.reach]
        };
        let [shift, turn] = length([&ways[0].step, &ways[1].step]);
        let bend: f64 = length([&ways[0].bend, &ways[1].bend]).iter().sum();
        let [own, free] = [shift + turn + bend, length([&ways[0].start, &ways[1].start]).iter().sum()];
        let (longest, thickness) = (if has_acted { own.max(free) } else { own }, a.thickness + b.thickness);
        if !(scale * longest > thickness && thickness > 0.0) {
            return None;
        }
        if !has_acted && a.radius.is_finite() && b.radius.is_finite() {
            // the nearest place of a line
            let [p, q] = [i, j].map(|i| Vector(self.balls[i as usize].centre));
            let (r, mut way) = (q - p, Vector::zero());
            (0..lines).for_each(|k| way.0[k] = ways[1].step[k] - ways[0].step[k]);
            let s = (-r.dot(way) / way.square().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            if (r + way * s).length() > a.radius + b.radius + bend + turn {
                return None;
            }
        }
        let frames = [0, 1].map(|k| ways[k].frame(plan, [a, b][k].body, false, 0.0));
        let (pair, is_exchanged) = solids(&a.shape, &b.shape, (&frames[0], &frames[1]))?;
        let (bodies, ways) = match is_exchanged {
            true => ([b.body, a.body], [ways[1], ways[0]]),
            false => ([a.body, b.body], ways),
        };
        let met = MET * (thickness + scale * longest);
        let course = Course { plan, pair, bodies, ways, is_free: false, length: longest, thickness, met };
        let is_free = has_acted && course.touches(course.apart(0.0));
        let length = if is_free { free } else { own };
        (scale * length > thickness).then_some(Course { is_free, length, ..course })
    }
}
