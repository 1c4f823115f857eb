//! Rigid bodies and their contacts, written down as a global problem.
//!
//! A body has its centre, a diagonal inertia and a free velocity; a contact or joint at a point p compares the
//! velocities `v + ω × (p − c)` of two bodies, or of one body and the ground. In the plane the angular velocity has one
//! component.

use super::Recipe;
use crate::elementary::ln;
use crate::{GlobalParts, Law, Rows, StoredError, StoredProblem};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

pub(super) type Vector = [f64; 3];

/// Step times gravity [m/s].
const FALL: f64 = 0.0981;

/// Random part of the free velocities [m/s, rad/s].
const DISTURBANCE: f64 = 0.01;

/// Two bodies, or the ground below one, that meet at a point.
#[derive(Clone, Copy)]
pub(super) struct Meeting {
    pub(super) point: Vector,
    /// None is the ground.
    pub(super) below: Option<usize>,
    pub(super) above: usize,
}

/// A set of bodies in space, or in the plane z = 0 with y upwards.
pub(super) struct Bodies {
    planar: bool,
    rng: Pcg64,
    mu: Option<f64>,   // in place of that of each contact
    kick: Option<f64>, // in place of the disturbance
    centre: Vec<Vector>,
    mass: Rows,
    q: Vec<f64>,
    contact: Vec<(Vector, Meeting, f64)>, // normal from below to above, place, coefficient of friction
    joint: Vec<Meeting>,
}

impl Bodies {
    pub(super) fn new(planar: bool, recipe: &Recipe) -> Bodies {
        Bodies {
            planar,
            rng: Pcg64::seed_from_u64(recipe.seed),
            mu: recipe.mu,
            kick: recipe.kick,
            centre: Vec::new(),
            mass: Rows::default(),
            q: Vec::new(),
            contact: Vec::new(),
            joint: Vec::new(),
        }
    }

    /// A body that falls for one step, with a random velocity besides; `inertia` about its centre [kg m²].
    pub(super) fn body(&mut self, centre: Vector, mass: f64, inertia: Vector) -> usize {
        let masses = if self.planar {
            vec![mass, mass, inertia[2]]
        } else {
            vec![mass, mass, mass, inertia[0], inertia[1], inertia[2]]
        };
        let upwards = if self.planar { 1 } else { 2 };
        for (k, &mass) in masses.iter().enumerate() {
            let fall = if k == upwards { -FALL } else { 0.0 };
            let velocity = fall
                + match self.kick {
                    None => DISTURBANCE * self.rng.random_range(-1.0..1.0),
                    Some(0.0) => 0.0,
                    Some(kick) => kick * FALL * normal(&mut self.rng),
                };
            self.mass.push_sparse([(self.q.len(), mass)]);
            self.q.push(mass * velocity);
        }
        self.centre.push(centre);
        self.centre.len() - 1
    }

    /// Number of bodies.
    pub(super) fn len(&self) -> usize {
        self.centre.len()
    }

    /// A contact with friction; the unit `normal` points to the body above.
    pub(super) fn contact(&mut self, normal: Vector, meeting: Meeting, mu: f64) {
        self.contact.push((normal, meeting, self.mu.unwrap_or(mu)));
    }

    /// A spherical joint: three equalities.
    pub(super) fn joint(&mut self, meeting: Meeting) {
        self.joint.push(meeting);
    }

    /// One row of Hᵀ: the velocity at the meeting point along a direction, above minus below.
    fn push_row(&self, meeting: Meeting, direction: Vector, rows: &mut Rows) {
        let mut sides = vec![(meeting.above, 1.0)];
        sides.extend(meeting.below.map(|below| (below, -1.0)));
        sides.sort_by_key(|side| side.0);
        let mut entries = Vec::with_capacity(12);
        for (body, sign) in sides {
            let turn = cross(difference(meeting.point, self.centre[body]), direction);
            let [x, y, z] = direction;
            let list = if self.planar { vec![x, y, turn[2]] } else { vec![x, y, z, turn[0], turn[1], turn[2]] };
            let first = body * list.len();
            entries.extend(list.into_iter().enumerate().map(|(k, value)| (first + k, sign * value)));
        }
        rows.push_sparse(entries.into_iter().filter(|entry| entry.1 != 0.0));
    }

    /// Contacts first, then joints.
    pub(super) fn finish(mut self) -> Result<StoredProblem, StoredError> {
        let n = self.q.len();
        let mut mass = Rows::new(n);
        for i in 0..n {
            mass.push_row_of(&self.mass, i);
        }
        let (mut jacobian, mut laws) = (Rows::new(n), Vec::new());
        for &(normal, meeting, mu) in &self.contact {
            self.push_row(meeting, normal, &mut jacobian);
            let tangents = tangents(normal, self.planar);
            for &tangent in &tangents {
                self.push_row(meeting, tangent, &mut jacobian);
            }
            laws.push(Law::coulomb(mu, if self.planar { 1 } else { 2 }));
        }
        for &meeting in &self.joint {
            for k in 0..if self.planar { 2 } else { 3 } {
                let mut axis = [0.0; 3];
                axis[k] = 1.0;
                self.push_row(meeting, axis, &mut jacobian);
                laws.push(Law::EQUALITY);
            }
        }
        let b = vec![0.0; jacobian.len()];
        let q = std::mem::take(&mut self.q);
        StoredProblem::global("", GlobalParts { mass, jacobian, q, b }, laws)
    }
}

/// A number of the standard normal distribution, by Marsaglia's polar method.
fn normal(rng: &mut Pcg64) -> f64 {
    loop {
        let (x, y): (f64, f64) = (rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0));
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * ln(square) / square).sqrt();
        }
    }
}

/// Unit vectors that complete the normal to a right-handed frame; one in the plane.
fn tangents(normal: Vector, planar: bool) -> Vec<Vector> {
    if planar {
        return vec![[normal[1], -normal[0], 0.0]];
    }
    // away from the axis that the normal is closest to
    let axis = if normal[0].abs() < 0.6 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let second = unit(cross(normal, axis));
    vec![cross(second, normal), second]
}

pub(super) fn difference(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(super) fn unit(a: Vector) -> Vector {
    let length = a.iter().map(|x| x * x).sum::<f64>().sqrt();
    a.map(|x| x / length)
}

fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
