//! Contacts that come and go: which shapes are near each other, found once per step.
//!
//! ```text
//!     margin of two shapes = 2h (s_a + s_b) + min(2h s_max, r_a/10, r_b/10) + 1e-6 (r_a + r_b)                    (1)
//!     s = |v| + |ω| (distance of the farthest point) + h |g|
//! ```
//!
//! Shapes are listed while their gap is at most (1): at twice the speeds at the start of the step they do not pass it
//! unseen. The second part of (1) is for bodies that are pushed on by others in the same step: it is bounded by their
//! size, so that one fast body does not make neighbours of all others. A contact has the numbers of both shapes and of
//! its place in its key, and the list is in rising order of them.

mod grid;
mod made;
mod passing;

use super::Vector;
use super::contact::Surface;
use super::motion::Motion;
use super::pair::any::solids;
use super::pair::{AnyPair, Pair, Shape};
use super::plan::Plan;
use crate::{Key, WarningKind};
use carom_solve::{Archive, ArchiveError, Law, Persist};
use grid::{Ball, Grid};
use made::{Made, PairOf};

/// Part of the radius of a shape by which it may be pushed on by others in a step.
const PUSHED: f64 = 0.1;

/// Part of the radii that counts as near in any case.
const CLOSE: f64 = 1e-6;

/// A shape with numbers in place of names.
#[derive(Clone, Debug)]
pub(crate) struct PlacedSolid {
    pub body: usize,
    pub shape: Shape,
    /// A ball around it, in axes of the body; infinite where it has no end.
    pub centre: [f64; 3],
    pub radius: f64,
    /// The largest distance of its points from the mass centre.
    pub reach: f64,
    /// Radius of a ball inside of it; zero for a half space.
    pub thickness: f64,
    pub material: usize,
    pub group: usize,
}

/// All shapes that touch by themselves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Solids {
    /// Names of shapes, then those of contacts that come and go.
    pub names: Vec<String>,
    pub all: Vec<PlacedSolid>,
    /// (materials × materials) coefficients and their laws, then those of contacts that come and go.
    pub surfaces: Vec<(Surface, Law)>,
    pub materials: usize,
    /// (groups × groups) whether they do not touch.
    pub parted: Vec<bool>,
    pub groups: usize,
    /// Bodies that do not touch, and shapes, in rising order.
    pub bodies_apart: Vec<[usize; 2]>,
    pub shapes_apart: Vec<[u32; 2]>,
    /// Contacts of the plan that are listed where they are near.
    pub contacts: Vec<usize>,
}

impl Solids {
    pub fn is_empty(&self) -> bool {
        self.all.is_empty() && self.contacts.is_empty()
    }

    /// Whether two shapes may touch.
    pub fn may_touch(&self, i: u32, j: u32) -> bool {
        let (a, b) = (&self.all[i as usize], &self.all[j as usize]);
        let bodies = [a.body.min(b.body), a.body.max(b.body)];
        bodies[0] != bodies[1]
            && !self.parted[a.group * self.groups + b.group]
            && self.bodies_apart.binary_search(&bodies).is_err()
            && self.shapes_apart.binary_search(&[i.min(j), i.max(j)]).is_err()
    }
}

/// Two shapes that are near each other.
#[derive(Clone, Debug)]
pub(crate) struct NearPair {
    /// Their numbers in keys.
    numbers: [u32; 2],
    pub bodies: [usize; 2],
    made: Made,
    /// Number of its coefficients.
    pub surface: u32,
}

/// The contacts of a step that come and go.
#[derive(Clone, Debug, Default)]
pub(crate) struct Near {
    pub pairs: Vec<NearPair>,
    others: Vec<AnyPair>, // pairs that are large
    /// Number of a pair, and a place of it.
    pub listed: Vec<(u32, u32)>,
    keys: Vec<Key>,
    old: Vec<Key>,
    grid: Grid,
    balls: Vec<Ball>,
    pushed: Vec<f64>, // the second part of (1) of each shape
    own: Vec<f64>,    // 2h s of each shape
    found: Vec<(u32, u32)>,
    spare: Vec<(u32, u32)>, // and the list that they are sorted into
    counts: Vec<u32>,       // how many have a number
    places: Vec<u32>,
    fast: Vec<Fast>,
    ways: Vec<passing::Way>,   // of bodies in a step
    met: Vec<([u32; 2], f64)>, // numbers of pairs that have acted in it, and where they were forecast
}

/// A pair of shapes that move by more than the radius of one of them in the step.
#[derive(Clone, Copy, Debug)]
struct Fast {
    listed: usize, // its first contact
    normal: Vector,
}

/// A body that came out on the other side.
pub const TUNNEL: WarningKind = WarningKind {
    name: "tunnelled",
    message: "a body has gone through another one within a step: it is on the other side",
    unit: "m between them",
    hint: "take a smaller step, or ask for `shorten = true`: the body moves by more than its size in one",
};

impl Near {
    /// The shapes of a pair.
    #[inline]
    pub fn shapes<'a>(&'a self, pair: &'a NearPair) -> PairOf<'a> {
        pair.made.of(&self.others)
    }

    /// Forgets all contacts.
    fn clear(&mut self) {
        self.pairs.clear();
        self.others.clear();
        self.listed.clear();
        self.keys.clear();
    }

    /// The key of a contact.
    #[inline]
    pub fn key(&self, listed: usize) -> Key {
        self.keys[listed]
    }

    /// Finds the contacts of a step of length h, but for those between two bodies that do not move, by their numbers
    /// where there are such. Returns whether the list is another one.
    pub fn find(&mut self, plan: &Plan, motion: &Motion<f64>, h: f64, still: &[bool]) -> bool {
        if plan.solids.is_empty() {
            return false;
        }
        self.old.clone_from(&self.keys);
        self.fast.clear();
        self.surround(plan, motion, h);
        self.search(plan, motion, still);
        self.clear();
        for k in 0..plan.solids.contacts.len() {
            let margin = self.margin_of_contact(plan, motion, (k, h));
            self.take_contact(plan, k);
            self.list(motion, margin);
        }
        for k in 0..self.found.len() {
            let (i, j) = self.found[k];
            let [a, b] = [i as usize, j as usize];
            let least = plan.solids.all[a].radius.min(plan.solids.all[b].radius);
            let margin = self.own[a]
                + self.own[b]
                + self.pushed[a].min(self.pushed[b])
                + if least.is_finite() { CLOSE * 2.0 * least } else { 0.0 };
            if self.take(plan, motion, (i, j)) {
                let first = self.listed.len();
                self.list(motion, margin);
                if self.own[a] + self.own[b] > least {
                    self.watch(motion, first);
                }
            }
        }
        self.keys != self.old
    }

    /// Remembers on which side the shapes of the last pair are, whose contacts are listed from `first` on.
    fn watch(&mut self, motion: &Motion<f64>, first: usize) {
        let Some(near) = self.pairs.last().filter(|_| first < self.listed.len()) else { return };
        let (gap, normal) = self.shapes(near).apart(motion.pair(near.bodies));
        if gap >= 0.0 {
            self.fast.push(Fast { listed: first, normal });
        }
    }

    /// Calls `tell` for fast pairs that are on the other side now, with their gap: a normal that has turned by more
    /// than a right angle within a step.
    pub fn tunnels(&self, motion: &Motion<f64>, mut tell: impl FnMut(Key, f64)) {
        for Fast { listed, normal } in &self.fast {
            let near = &self.pairs[self.listed[*listed].0 as usize];
            let (gap, now) = self.shapes(near).apart(motion.pair(near.bodies));
            if now.dot(*normal) < -0.5 {
                tell(self.keys[*listed], gap);
            }
        }
    }

    /// Takes the contacts with these keys, whatever is near.
    pub fn follow(&mut self, plan: &Plan, motion: &Motion<f64>, keys: &[Key]) {
        self.clear();
        let mut last = [0; 2];
        for key in keys {
            let (numbers, place) = key.parts();
            if numbers == [0; 2] {
                continue;
            }
            let known = numbers == last
                || match numbers[0] {
                    0 => {
                        let first = plan.solids.all.len() as u32 + 1;
                        self.take_contact(plan, (numbers[1] - first) as usize);
                        true
                    }
                    _ => self.take(plan, motion, (numbers[0] - 1, numbers[1] - 1)),
                };
            if known {
                last = numbers;
                self.push(place);
            }
        }
    }

    /// Writes down the list, or takes it over at the motion that it was found at.
    pub fn persist(&mut self, plan: &Plan, motion: &Motion<f64>, archive: &mut Archive) -> Result<(), ArchiveError> {
        let mut keys = self.keys.clone();
        keys.persist(archive)?;
        if archive.is_reading() {
            self.follow(plan, motion, &keys);
            if self.keys != keys {
                return Err(archive.mismatch("the contacts that are listed are others"));
            }
        }
        let mut fast: Vec<(usize, [f64; 3])> = self.fast.iter().map(|fast| (fast.listed, fast.normal.0)).collect();
        fast.persist(archive)?;
        self.fast = fast.into_iter().map(|(listed, normal)| Fast { listed, normal: Vector(normal) }).collect();
        Ok(())
    }

    /// Balls around the shapes, larger by their parts of (1).
    fn surround(&mut self, plan: &Plan, motion: &Motion<f64>, h: f64) {
        let fall = h * plan.gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
        let solids = &plan.solids.all;
        self.own.clear();
        self.own.extend(solids.iter().map(|solid| match solid.body {
            0 => 0.0,
            body => {
                let [velocity, spin] = motion.velocities[body];
                let reach = if solid.reach.is_finite() { solid.reach } else { 0.0 };
                2.0 * h * (velocity.length() + spin.length() * reach + fall)
            }
        }));
        let most = self.own.iter().fold(0.0f64, |most, own| most.max(*own));
        self.pushed.clear();
        self.pushed.extend(solids.iter().map(|solid| most.min(PUSHED * solid.radius)));
        self.balls.clear();
        self.balls.extend(solids.iter().enumerate().map(|(i, solid)| Ball {
            centre: motion.frames[solid.body].point(solid.centre).0,
            radius: solid.radius * (1.0 + CLOSE) + self.own[i] + 0.5 * self.pushed[i],
        }));
    }

    /// Pairs of balls that meet, and balls that meet what has no end, in rising order.
    fn search(&mut self, plan: &Plan, motion: &Motion<f64>, still: &[bool]) {
        let Near { grid, balls, found, spare, counts, own, pushed, .. } = self;
        let solids = &plan.solids;
        let moves = |i: u32| !still.get(solids.all[i as usize].body).is_some_and(|still| *still);
        found.clear();
        grid.pairs(balls, plan.is_planar, |i, j| {
            if (moves(i) || moves(j)) && solids.may_touch(i, j) {
                found.push((i, j));
            }
        });
        for (i, wide) in solids.all.iter().enumerate().filter(|(_, solid)| !solid.radius.is_finite()) {
            let Shape::Plane(plane) = &wide.shape else { continue };
            let frame = &motion.frames[wide.body];
            let (normal, point) = (frame.direction(plane.normal), frame.point(plane.point));
            for (j, ball) in balls.iter().enumerate().filter(|(_, ball)| ball.radius.is_finite()) {
                let far = (0..3).map(|k| normal.0[k] * (ball.centre[k] - point.0[k])).sum::<f64>();
                let (low, high) = (i.min(j) as u32, i.max(j) as u32);
                let is_near = far <= ball.radius + own[i] + 0.5 * pushed[j];
                if is_near && (moves(low) || moves(high)) && solids.may_touch(low, high) {
                    found.push((low, high));
                }
            }
        }
        sort(found, spare, counts, solids.all.len());
        found.dedup();
    }

    /// Makes the pair of two shapes the last one.
    fn take(&mut self, plan: &Plan, motion: &Motion<f64>, (i, j): (u32, u32)) -> bool {
        let all = &plan.solids;
        let (a, b) = (&all.all[i as usize], &all.all[j as usize]);
        let Some((pair, is_exchanged)) = solids(&a.shape, &b.shape, motion.pair([a.body, b.body])) else {
            return false;
        };
        let surface = (a.material * all.materials + b.material) as u32;
        let bodies = if is_exchanged { [b.body, a.body] } else { [a.body, b.body] };
        let made = Made::new(pair, &mut self.others);
        self.pairs.push(NearPair { numbers: [i + 1, j + 1], bodies, made, surface });
        true
    }

    fn take_contact(&mut self, plan: &Plan, k: usize) {
        let contact = &plan.contacts[plan.solids.contacts[k]];
        let number = plan.solids.all.len() as u32 + 1 + k as u32;
        let surface = (plan.solids.materials * plan.solids.materials + k) as u32;
        let (made, bodies) = (Made::new(contact.pair.clone(), &mut self.others), contact.bodies);
        self.pairs.push(NearPair { numbers: [0, number], bodies, made, surface });
    }

    /// (1) of a contact whose shapes are not known: by the way of its bodies, and at least as much as they are pushed.
    fn margin_of_contact(&self, plan: &Plan, motion: &Motion<f64>, (k, h): (usize, f64)) -> f64 {
        let contact = &plan.contacts[plan.solids.contacts[k]];
        let fall = h * plan.gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
        let speed = |body: usize| {
            let [velocity, spin] = motion.velocities[body];
            velocity.length() + spin.length() * contact.pair.reach()
        };
        2.0 * h * (contact.bodies.into_iter().map(speed).sum::<f64>() + fall) + PUSHED * contact.pair.reach()
    }

    /// Lists the places of the last pair that are near.
    fn list(&mut self, motion: &Motion<f64>, margin: f64) {
        let Some(last) = self.pairs.last() else { return };
        self.places.clear();
        last.made.of(&self.others).near(motion.pair(last.bodies), margin, &mut self.places);
        if self.places.is_empty() {
            last.made.drop_from(&mut self.others);
            self.pairs.pop();
            return;
        }
        self.places.sort_unstable();
        for k in 0..self.places.len() {
            self.push(self.places[k]);
        }
    }

    /// Lists a place of the last pair.
    fn push(&mut self, place: u32) {
        let number = self.pairs.len() - 1;
        let NearPair { numbers, made, .. } = &self.pairs[number];
        let features = made.of(&self.others).features(place as usize);
        self.keys.push(Key::between(*numbers, features, place));
        self.listed.push((number as u32, place));
    }
}

/// Sorts pairs of numbers below n, by counting: the work is linear.
fn sort(pairs: &mut Vec<(u32, u32)>, spare: &mut Vec<(u32, u32)>, counts: &mut Vec<u32>, n: usize) {
    for by_first in [false, true] {
        let key = |&(first, second): &(u32, u32)| if by_first { first as usize } else { second as usize };
        counts.clear();
        counts.resize(n + 1, 0);
        pairs.iter().for_each(|pair| counts[key(pair) + 1] += 1);
        (0..n).for_each(|k| counts[k + 1] += counts[k]);
        spare.clear();
        spare.resize(pairs.len(), (0, 0));
        for pair in pairs.iter() {
            let at = &mut counts[key(pair)];
            spare[*at as usize] = *pair;
            *at += 1;
        }
        std::mem::swap(pairs, spare);
    }
}
