//! Bodies at rest that sleep: they do not move, and contacts among them are not listed.
//!
//! ```text
//!     a body is slow while   |v| + |ω| r ≤ speed     r: the farthest point of its shapes from the mass centre      (1)
//!     an island is what listed contacts connect, the ground not counted                                            (2)
//!     it falls asleep        where all its bodies may sleep and have been slow for the time `after`                (3)
//!     it wakes, as a whole   where a contact of one of its bodies with a body that is awake is listed, or one of
//!                            them was moved from outside                                                           (4)
//! ```
//!
//! All of it is decided at the start of a step. Contacts are listed where shapes are nearer than the margin of `near`,
//! so that what comes near wakes an island before it touches it. Bodies may sleep that have shapes which touch by
//! themselves and on which nothing acts but these contacts and their weight: joints, springs, loads, motors and
//! contacts with a name keep them awake, and what touches them with them. `after` is longer than 2 speed/|g|: nothing
//! falls asleep in free flight.
//!
//! An island that falls asleep loses its kinetic energy, which is told ([`Sleepers::rest`]); asleep its velocities are
//! zero, its weight is held, and its contacts have no reactions.

use super::MultibodyError;
use super::motion::Motion;
use super::near::Near;
use super::plan::{LoadOn, Plan};
use crate::State;

/// When bodies at rest fall asleep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sleep {
    /// Up to this speed of all its points a body is slow [m/s].
    pub speed: f64,
    /// The time for which all bodies of an island are slow before it falls asleep [s].
    pub after: f64,
}

impl Sleep {
    /// Refuses what makes no sense under this gravity [m/s²].
    ///
    /// # Errors
    /// Fails where a number is not positive, or bodies in free fall could fall asleep.
    pub fn under(self, gravity: [f64; 3]) -> Result<Sleep, MultibodyError> {
        let wrong = |quantity, value, range| {
            let (what, name) = ("setting", "sleep".to_owned());
            Err(MultibodyError::Number { what, name, quantity, value, range })
        };
        let Sleep { speed, after } = self;
        if !(speed > 0.0 && speed.is_finite()) {
            return wrong("the speed", speed, "it must be positive");
        }
        let fall = gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
        if !(after > 0.0 && after.is_finite() && after * fall > 2.0 * speed) {
            let range = "it must be longer than a body in free fall is slow, twice the speed over g";
            return wrong("the time", after, range);
        }
        Ok(self)
    }
}

/// The bodies that sleep; lists by body begin with the ground.
#[derive(Clone, Debug)]
pub(crate) struct Sleepers {
    setting: Sleep,
    may: Vec<bool>,     // whether a body may sleep
    reach: Vec<f64>,    // the farthest point of its shapes
    since: Vec<f64>,    // when it was not slow, last
    island: Vec<usize>, // the least number of a body of its island; zero of bodies that are awake
    still: Vec<bool>,   // whether it sleeps, or is the ground
    woken: Vec<bool>,   // whether it woke at the start of this step
    place: Vec<f64>,    // (q) where it fell asleep
    t: f64,             // of the last look
    parent: Vec<usize>, // islands of those that are awake, by a tree of bodies
    tired: Vec<bool>,   // whether all bodies of such an island have been slow for long
    falls: bool,        // whether an island has fallen asleep that is not stopped yet
}

carom_solve::persist!(Sleepers { since, island, still, woken, place, t } skip {
    setting, may, reach, parent, tired, falls,
});

impl Sleepers {
    /// All bodies awake; the first look tells the time.
    pub fn new(plan: &Plan, setting: Sleep) -> Sleepers {
        let count = plan.bodies.len() + 1;
        let mut reach = vec![0.0f64; count];
        let mut may = vec![false; count];
        for solid in plan.solids.all.iter().filter(|solid| solid.body > 0) {
            may[solid.body] = true;
            reach[solid.body] = reach[solid.body].max(solid.reach);
        }
        may.iter_mut().zip(&reach).for_each(|(may, reach)| *may &= reach.is_finite());
        for body in driven(plan) {
            may[body] = false;
        }
        let mut still = vec![false; count];
        still[0] = true;
        Sleepers {
            setting,
            may,
            reach,
            since: vec![f64::INFINITY; count],
            island: vec![0; count],
            still,
            woken: vec![false; count],
            place: vec![0.0; plan.poses()],
            t: f64::INFINITY,
            parent: (0..count).collect(),
            tired: vec![false; count],
            falls: false,
        }
    }

    /// Whether a body does not move, by its number.
    #[inline]
    pub fn still(&self) -> &[bool] {
        &self.still
    }

    /// How many bodies sleep.
    pub fn count(&self) -> usize {
        self.island.iter().filter(|island| **island > 0).count()
    }

    /// Whether a contact of these two bodies is as old as their sleep.
    pub fn slept(&self, bodies: [usize; 2]) -> bool {
        let woke = |body: usize| self.woken[body];
        bodies.into_iter().any(woke) && bodies.into_iter().all(|body| body == 0 || woke(body))
    }

    /// Looks at the state at the start of a step: which bodies are slow, and what was moved from outside wakes.
    pub fn look(&mut self, plan: &Plan, motion: &Motion<f64>, from: &State) {
        let is_back = from.t < self.t;
        // another try of the same step wakes nothing anew
        if from.t != self.t {
            self.woken.fill(false);
        }
        self.t = from.t;
        for body in 1..self.still.len() {
            let [velocity, spin] = motion.velocities[body];
            let is_slow = velocity.length() + spin.length() * self.reach[body] <= self.setting.speed;
            if !is_slow || is_back {
                self.since[body] = from.t;
            }
            if self.island[body] > 0 && (is_back || !is_slow || self.is_moved(plan, body, &from.q)) {
                self.wake(self.island[body]);
            }
        }
    }

    /// Whether a body is farther from where it fell asleep than it may have gone in the time before.
    fn is_moved(&self, plan: &Plan, body: usize, q: &[f64]) -> bool {
        let size = plan.sizes().0;
        let part = (body - 1) * size..body * size;
        let (translation, rotation) = if plan.is_planar { (2, 1.0) } else { (3, 2.0) };
        let way = q[part.clone()]
            .iter()
            .zip(&self.place[part])
            .enumerate()
            .map(|(k, (a, b))| (a - b).abs() * if k < translation { 1.0 } else { rotation * self.reach[body] });
        way.fold(0.0, f64::max) > self.setting.speed * self.setting.after
    }

    /// Wakes an island.
    fn wake(&mut self, island: usize) {
        for body in 1..self.island.len() {
            if self.island[body] == island {
                (self.island[body], self.since[body]) = (0, self.t);
                (self.still[body], self.woken[body]) = (false, true);
            }
        }
    }

    /// Wakes islands that have a listed contact with a body that is awake. Returns whether there are any: contacts are
    /// to be looked for again.
    pub fn wake_touched(&mut self, near: &Near) -> bool {
        let mut wakes = false;
        for pair in &near.pairs {
            for body in pair.bodies {
                if self.island[body] > 0 {
                    self.wake(self.island[body]);
                    wakes = true;
                }
            }
        }
        wakes
    }

    /// Lets islands fall asleep that have been slow for long enough. Returns whether there are any.
    pub fn settle(&mut self, plan: &Plan, near: &Near, q: &[f64]) -> bool {
        let Sleepers { setting, may, since, island, still, place, t, parent, tired, falls, .. } = self;
        let size = plan.sizes().0;
        parent.iter_mut().enumerate().for_each(|(body, parent)| *parent = body);
        for pair in near.pairs.iter().filter(|pair| pair.bodies.iter().all(|body| *body > 0)) {
            let [a, b] = pair.bodies.map(|body| root(parent, body));
            parent[a.max(b)] = a.min(b);
        }
        tired.fill(true);
        for body in 1..parent.len() {
            let rests = may[body] && *t - since[body] >= setting.after;
            tired[root(parent, body)] &= rests;
        }
        *falls = false;
        for body in 1..parent.len() {
            let first = root(parent, body);
            if tired[first] && island[body] == 0 {
                (island[body], still[body]) = (first, true);
                let part = (body - 1) * size..body * size;
                place[part.clone()].copy_from_slice(&q[part]);
                *falls = true;
            }
        }
        *falls
    }

    /// Stops what has fallen asleep, if anything has; returns the kinetic energy that is lost by it [J].
    pub fn rest(&mut self, plan: &Plan, from: &mut State) -> Option<f64> {
        if !std::mem::take(&mut self.falls) {
            return None;
        }
        let size = plan.sizes().1;
        let mut lost = 0.0;
        let asleep = from.v.chunks_exact_mut(size).zip(&plan.bodies).zip(&self.island[1..]);
        for ((v, body), _) in asleep.filter(|(_, island)| **island > 0) {
            let mut momentum = [0.0; 6];
            body.momentum(plan.is_planar, v, &mut momentum);
            lost += 0.5 * v.iter().zip(momentum).map(|(v, p)| v * p).sum::<f64>();
            v.fill(0.0);
        }
        Some(lost)
    }

    /// Takes the forces from what sleeps.
    pub fn hold(&self, size: usize, force: &mut [f64]) {
        for (force, _) in force.chunks_exact_mut(size).zip(&self.island[1..]).filter(|(_, island)| **island > 0) {
            force.fill(0.0);
        }
    }
}

/// The first body of an island.
fn root(parent: &mut [usize], mut body: usize) -> usize {
    while parent[body] != body {
        parent[body] = parent[parent[body]];
        body = parent[body];
    }
    body
}

/// Bodies on which something acts besides their weight and contacts that come by themselves.
fn driven(plan: &Plan) -> impl Iterator<Item = usize> {
    let coordinates = |i: usize| plan.coordinates[i].bodies;
    let rows = plan.rows.iter().flat_map(|row| row.bodies);
    let free = plan.coordinates.iter().flat_map(|coordinate| coordinate.bodies);
    let contacts = plan.contacts.iter().flat_map(|contact| contact.bodies);
    let springs = plan.springs.iter().flat_map(|spring| spring.bodies);
    let loads = plan.loads.iter().flat_map(move |load| match load.on {
        LoadOn::Body { body, .. } => [body; 2],
        LoadOn::Coordinate(i) => coordinates(i),
    });
    rows.chain(free).chain(contacts).chain(springs).chain(loads)
}
