//! Packings of spheres, and of discs in the plane: dense regular ones, random close ones, heaps.
//!
//! A sphere of radius R has the mass R³ and the inertia 2/5 m R², a disc R² and 1/2 m R². Bodies are numbered from
//! below to above. Contacts between bodies come first, then those with the floor and with the walls of the box.

use super::mechanics::{Bodies, Meeting, Vector, difference, unit};
use super::{Recipe, grid};
use crate::elementary::cbrt;
use crate::{StoredError, StoredProblem};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::f64::consts::{PI, SQRT_2};

/// Gap below which bodies of a random packing touch, in mean radii.
const TOUCHING: f64 = 1e-3;

/// The same for packings that are exact.
const EXACT: f64 = 1e-6;

/// Steps of the relaxation.
const STEPS: usize = 3000;

/// Length of a step; springs and masses are one.
const STEP: f64 = 0.2;

/// Friction of the relaxation, as a rate.
const DRAG: f64 = 0.15;

/// Distance over which pairs are listed besides those that touch.
const SKIN: f64 = 0.3;

const FRICTION: f64 = 0.3;

/// Bodies in a box that is open at the top.
struct Packing {
    planar: bool,
    centre: Vec<Vector>,
    radius: Vec<f64>,
    side: f64,
}

impl Packing {
    fn up(&self) -> usize {
        if self.planar { 1 } else { 2 }
    }

    /// Pairs that are closer than `gap`, in order.
    fn pairs(&self, gap: f64) -> Vec<(usize, usize)> {
        let largest = self.radius.iter().copied().fold(0.0, f64::max);
        let mut pairs = grid::pairs(&self.centre, 2.0 * largest + gap);
        pairs
            .retain(|&(i, j)| norm(difference(self.centre[j], self.centre[i])) < self.radius[i] + self.radius[j] + gap);
        pairs
    }

    /// Floor, then side walls: inward normal and offset.
    fn planes(&self, walls: bool) -> Vec<(Vector, f64)> {
        let axis = |k: usize, sign: f64| {
            let mut normal = [0.0; 3];
            normal[k] = sign;
            normal
        };
        let mut planes = vec![(axis(self.up(), 1.0), 0.0)];
        for k in (0..self.up()).filter(|_| walls) {
            planes.extend([(axis(k, 1.0), 0.0), (axis(k, -1.0), -self.side)]);
        }
        planes
    }

    /// Sorts bodies by height.
    fn sort(&mut self) {
        let up = self.up();
        let mut order: Vec<usize> = (0..self.centre.len()).collect();
        order.sort_by(|&i, &j| self.centre[i][up].total_cmp(&self.centre[j][up]));
        self.centre = order.iter().map(|&i| self.centre[i]).collect();
        self.radius = order.iter().map(|&i| self.radius[i]).collect();
    }

    /// The contacts: bodies, or a plane and a body, with the normal to the second.
    fn contacts(&self, gap: f64, walls: bool) -> Vec<(Vector, Meeting)> {
        let mut contacts = Vec::new();
        for (below, above) in self.pairs(gap) {
            let apart = difference(self.centre[above], self.centre[below]);
            let normal = unit(apart);
            let part = self.radius[below] / (self.radius[below] + self.radius[above]);
            let point = [0, 1, 2].map(|k| self.centre[below][k] + part * apart[k]);
            contacts.push((normal, Meeting { point, below: Some(below), above }));
        }
        for (normal, offset) in self.planes(walls) {
            for (above, (centre, radius)) in self.centre.iter().zip(&self.radius).enumerate() {
                let height = (0..3).map(|k| normal[k] * centre[k]).sum::<f64>() - offset;
                if height < radius + gap {
                    let point = [0, 1, 2].map(|k| centre[k] - height * normal[k]);
                    contacts.push((normal, Meeting { point, below: None, above }));
                }
            }
        }
        contacts
    }

    fn problem(&self, contacts: Vec<(Vector, Meeting)>, recipe: &Recipe) -> Result<StoredProblem, StoredError> {
        let mut bodies = Bodies::new(self.planar, recipe);
        for (centre, radius) in self.centre.iter().zip(&self.radius) {
            let (mass, part) = if self.planar { (radius.powi(2), 0.5) } else { (radius.powi(3), 0.4) };
            bodies.body(*centre, mass, [part * mass * radius * radius; 3]);
        }
        for (normal, meeting) in contacts {
            bodies.contact(normal, meeting, FRICTION);
        }
        bodies.finish()
    }
}

/// Square layers of unit spheres, each in the hollows of the one below, in a box that touches the even ones.
pub(super) fn fcc(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    regular(recipe, false, |side| {
        let mut centre = Vec::new();
        for layer in 0..(SQRT_2 * side as f64).round() as usize {
            let hollow = layer % 2;
            for place in 0..(side - hollow).pow(2) {
                let at = |k: usize| 1.0 + 2.0 * k as f64 + hollow as f64;
                let (row, column) = (place / (side - hollow), place % (side - hollow));
                centre.push([at(row), at(column), 1.0 + SQRT_2 * layer as f64]);
            }
        }
        centre
    })
}

/// Rows of unit discs, each in the hollows of the one below, in a box that touches the even ones.
pub(super) fn hexagonal(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    regular(recipe, true, |side| {
        let mut centre = Vec::new();
        for row in 0..(2.0 / 3f64.sqrt() * side as f64).round() as usize {
            let hollow = row % 2;
            let height = 1.0 + 3f64.sqrt() * row as f64;
            centre.extend((0..side - hollow).map(|k| [1.0 + 2.0 * k as f64 + hollow as f64, height, 0.0]));
        }
        centre
    })
}

/// The smallest regular packing with enough contacts.
fn regular(recipe: &Recipe, planar: bool, centres: fn(usize) -> Vec<Vector>) -> Result<StoredProblem, StoredError> {
    let mut side = 1;
    loop {
        let centre = centres(side);
        let packing = Packing { planar, radius: vec![1.0; centre.len()], centre, side: 2.0 * side as f64 };
        let contacts = packing.contacts(EXACT, true);
        if contacts.len() >= recipe.size {
            return packing.problem(contacts, recipe);
        }
        side += 1;
    }
}

/// Spheres with radii of 1 ± 2 %, settled in a box.
pub(super) fn rcp(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    random(recipe, false, 3.3, true)
}

/// Discs with radii of 1 ± 20 %, which do not order, settled in a box.
pub(super) fn rcp_planar(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    random(recipe, true, 2.25, true)
}

/// A cone of slope 0.8 cut out of a random packing of spheres, on a floor without walls.
pub(super) fn heap(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    random(recipe, false, 0.48, false)
}

/// A triangle of slope 0.8 cut out of a random packing of discs, on a floor without walls.
pub(super) fn heap_planar(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    random(recipe, true, 0.68, false)
}

/// A random packing with about as many contacts as asked for, given about how many there are per body.
fn random(recipe: &Recipe, planar: bool, per_body: f64, walls: bool) -> Result<StoredProblem, StoredError> {
    let mut number = recipe.size as f64 / per_body;
    for attempt in 0.. {
        let mut packing = settled((number.round() as usize).max(1), recipe.seed, planar);
        if !walls {
            cut_cone(&mut packing);
        }
        let contacts = packing.contacts(TOUCHING, walls);
        let share = recipe.size as f64 / contacts.len().max(1) as f64;
        if attempt == 3 || (0.93..1.07).contains(&share) {
            return packing.problem(contacts, recipe);
        }
        number *= share.clamp(0.4, 2.5);
    }
    unreachable!("the fourth attempt is taken")
}

/// Leaves what is below a cone of slope 0.8 whose base fills the box.
fn cut_cone(packing: &mut Packing) {
    let (up, half) = (packing.up(), 0.5 * packing.side);
    let keep: Vec<bool> = packing
        .centre
        .iter()
        .map(|centre| {
            let distance = (0..up).map(|k| (centre[k] - half).powi(2)).sum::<f64>().sqrt();
            distance < half && centre[up] < 0.8 * (half - distance) + 1.0
        })
        .collect();
    let mut kept = keep.iter();
    packing.centre.retain(|_| kept.next() == Some(&true));
    let mut kept = keep.iter();
    packing.radius.retain(|_| kept.next() == Some(&true));
}

/// Soft bodies from random places, settled under gravity, which is ten times weaker in the last third of the steps.
fn settled(number: usize, seed: u64, planar: bool) -> Packing {
    let mut rng = Pcg64::seed_from_u64(seed);
    let spread = if planar { 0.2 } else { 0.02 };
    let radius: Vec<f64> = (0..number).map(|_| 1.0 + spread * rng.random_range(-1.0..1.0)).collect();
    // the box is a square or cube that the bodies fill to the density of random close packings
    let side = if planar {
        (radius.iter().map(|r| PI * r * r).sum::<f64>() / 0.83).sqrt()
    } else {
        cbrt(radius.iter().map(|r| 4.0 / 3.0 * PI * r.powi(3)).sum::<f64>() / 0.64)
    }
    .max(2.5);
    let dimension = if planar { 2 } else { 3 };
    let mut centre = vec![[0.0; 3]; number];
    for centre in &mut centre {
        centre[..dimension].iter_mut().for_each(|x| *x = rng.random_range(1.0..side - 1.0));
    }
    let mut packing = Packing { planar, centre, radius, side };
    let mut velocity = vec![[0.0; 3]; number];
    let mut force = velocity.clone();
    let (mut listed, mut pairs) = (Vec::new(), Vec::new());
    for step in 0..STEPS {
        let moved = |(a, b): (&Vector, &Vector)| norm(difference(*a, *b)) > 0.5 * SKIN;
        if step == 0 || packing.centre.iter().zip(&listed).any(moved) {
            pairs = packing.pairs(SKIN);
            listed.clone_from(&packing.centre);
        }
        let gravity = if 3 * step < 2 * STEPS { 0.03 } else { 0.003 };
        packing.push(&pairs, gravity, &mut force);
        let mut fastest = 0.0f64;
        for (velocity, force) in velocity.iter_mut().zip(&force) {
            for k in 0..3 {
                velocity[k] = velocity[k] * (1.0 - DRAG * STEP) + STEP * force[k];
                fastest = fastest.max(velocity[k].abs());
            }
        }
        let slower = if fastest > 0.5 { 0.5 / fastest } else { 1.0 };
        for (centre, velocity) in packing.centre.iter_mut().zip(&mut velocity) {
            for k in 0..3 {
                velocity[k] *= slower;
                centre[k] += STEP * velocity[k];
            }
        }
    }
    packing.sort();
    packing
}

impl Packing {
    /// Forces of unit springs between bodies, walls and floor that overlap, and gravity.
    fn push(&self, pairs: &[(usize, usize)], gravity: f64, force: &mut [Vector]) {
        let up = self.up();
        for (i, force) in force.iter_mut().enumerate() {
            let (centre, radius) = (self.centre[i], self.radius[i]);
            *force = [0.0; 3];
            for k in 0..=up {
                force[k] += (radius - centre[k]).max(0.0);
                if k < up {
                    force[k] -= (centre[k] - self.side + radius).max(0.0);
                }
            }
            force[up] -= gravity;
        }
        for &(i, j) in pairs {
            let apart = difference(self.centre[j], self.centre[i]);
            let sum = self.radius[i] + self.radius[j];
            let square = apart.iter().map(|x| x * x).sum::<f64>();
            if square < sum * sum && square > 0.0 {
                let distance = square.sqrt();
                let push = (sum - distance) / distance;
                for k in 0..3 {
                    force[j][k] += push * apart[k];
                    force[i][k] -= push * apart[k];
                }
            }
        }
    }
}

fn norm(x: Vector) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
