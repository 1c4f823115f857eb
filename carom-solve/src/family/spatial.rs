//! Spatial contact families: stacks, chains, walls, heaps, plates.

use super::Recipe;
use super::mechanics::{Bodies, Meeting, difference, unit};
use crate::{StoredError, StoredProblem};

const UP: [f64; 3] = [0.0, 0.0, 1.0];

/// Density times the volume and inertia of a box with these edges [m].
fn add_box(bodies: &mut Bodies, centre: [f64; 3], edge: [f64; 3]) -> usize {
    let mass = edge[0] * edge[1] * edge[2];
    let [x, y, z] = edge.map(|x| x * x);
    bodies.body(centre, mass, [y + z, x + z, x + y].map(|sum| mass * sum / 12.0))
}

/// Contacts at the corners of a horizontal rectangle.
fn corners(bodies: &mut Bodies, x: [f64; 2], y: [f64; 2], meeting: Meeting, mu: f64) {
    for x in x {
        for y in y {
            bodies.contact(UP, Meeting { point: [x, y, meeting.point[2]], ..meeting }, mu);
        }
    }
}

/// One tower of unit cubes.
pub(super) fn tower(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    stacked(recipe, recipe.size.div_ceil(4))
}

/// Towers of unit cubes, as many as each of them has floors.
pub(super) fn towers(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    stacked(recipe, (recipe.size as f64 / 4.0).sqrt().ceil() as usize)
}

/// Towers of ten unit cubes.
pub(super) fn box_stack(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    stacked(recipe, 10)
}

/// Towers of unit cubes with so many floors.
fn stacked(recipe: &Recipe, floors: usize) -> Result<StoredProblem, StoredError> {
    let mut bodies = Bodies::new(false, recipe);
    for cube in 0..recipe.size.div_ceil(4) {
        let (tower, floor) = ((cube / floors) as f64 * 3.0, (cube % floors) as f64);
        let above = add_box(&mut bodies, [tower, 0.0, floor + 0.5], [1.0; 3]);
        let below = (cube % floors > 0).then(|| above - 1);
        let meeting = Meeting { point: [0.0, 0.0, floor], below, above };
        corners(&mut bodies, [tower - 0.5, tower + 0.5], [-0.5, 0.5], meeting, 0.5);
    }
    bodies.finish()
}

/// A line of slender links on the ground.
pub(super) fn chain(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    let size = recipe.size;
    let mut bodies = Bodies::new(false, recipe);
    for link in 0..size {
        let x = link as f64;
        let above = add_box(&mut bodies, [x, 0.0, 0.1], [1.0, 0.2, 0.2]);
        bodies.contact(UP, Meeting { point: [x, 0.0, 0.0], below: None, above }, 0.4);
        if link > 0 {
            bodies.joint(Meeting { point: [x - 0.5, 0.0, 0.1], below: Some(above - 1), above });
        }
    }
    bodies.finish()
}

/// Bricks of 2 × 1 × 1 in running bond, as many courses as bricks in the first one; every second course is shifted by
/// half a brick and has one less. Bricks meet at the corners of their common faces.
pub(super) fn wall(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    let mut bodies = Bodies::new(false, recipe);
    // nearly all bricks have eight contacts below them
    let length = ((recipe.size as f64 / 8.0).sqrt().ceil() as usize).max(2);
    let mut first = [0, 0]; // first bricks of the course below and of this one
    for course in 0..length {
        let shift = course % 2;
        first = [first[1], bodies.len()];
        for place in 0..length - shift {
            let (x, z) = ((2 * place + shift) as f64, course as f64);
            let above = add_box(&mut bodies, [x, 0.0, z + 0.5], [2.0, 1.0, 1.0]);
            if course == 0 {
                let meeting = Meeting { point: [0.0; 3], below: None, above };
                corners(&mut bodies, [x - 1.0, x + 1.0], [-0.5, 0.5], meeting, 0.6);
            }
            // on the ends of two bricks, or of one at the sides of the wall
            for (below, left) in supports(course, place, length) {
                let meeting = Meeting { point: [0.0, 0.0, z], below: Some(first[0] + below), above };
                corners(&mut bodies, [left, left + 1.0].map(|end| x + end), [-0.5, 0.5], meeting, 0.6);
            }
        }
    }
    bodies.finish()
}

/// The bricks of the course below that a brick of a wall rests on, and where the common face begins, seen from the
/// middle of the brick.
pub(super) fn supports(course: usize, place: usize, length: usize) -> impl Iterator<Item = (usize, f64)> {
    // a shifted course has a brick less and begins half a brick later
    let (left, below) = if course % 2 == 1 { (Some(place), length) } else { (place.checked_sub(1), length - 1) };
    let right = left.map_or(0, |left| left + 1);
    let pairs = [left.map(|left| (left, -1.0)), Some((right, 0.0))];
    pairs.into_iter().flatten().filter(move |pair| course > 0 && pair.0 < below)
}

/// Layers of n², (n − 1)², … unit spheres, each one on four of the layer below.
pub(super) fn sphere_heap(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    let size = recipe.size;
    // a pyramid of n layers has about 2 n³ contacts
    let mut layers = 1;
    while contacts_of_heap(layers) < size {
        layers += 1;
    }
    let mut bodies = Bodies::new(false, recipe);
    let (mut centre, mut previous) = (Vec::new(), 0);
    for layer in 0..layers {
        let (side, first) = (layers - layer, centre.len());
        for place in 0..side * side {
            let (row, column) = (place / side, place % side);
            // pairs of layers in contact are 1/√2 of a diameter apart
            let at = [
                column as f64 + 0.5 * layer as f64,
                row as f64 + 0.5 * layer as f64,
                0.5 + layer as f64 * std::f64::consts::FRAC_1_SQRT_2,
            ];
            let above = bodies.body(at, 1.0, [0.1; 3]);
            centre.push(at);
            let mut touch = |below: usize| {
                let middle = [0, 1, 2].map(|k| 0.5 * (at[k] + centre[below][k]));
                let normal = unit(difference(at, centre[below]));
                bodies.contact(normal, Meeting { point: middle, below: Some(below), above }, 0.3);
            };
            if column > 0 {
                touch(above - 1);
            }
            if row > 0 {
                touch(above - side);
            }
            if layer == 0 {
                let point = [at[0], at[1], 0.0];
                bodies.contact(UP, Meeting { point, below: None, above }, 0.3);
                continue;
            }
            for (down, right) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                touch(previous + (row + down) * (side + 1) + column + right);
            }
        }
        previous = first;
    }
    bodies.finish()
}

/// Contacts of a pyramid: ground, four below each other sphere, and neighbours in each layer.
fn contacts_of_heap(layers: usize) -> usize {
    let inside: usize = (1..layers).map(|side| 4 * side * side).sum();
    let beside: usize = (1..=layers).map(|side| 2 * side * (side - 1)).sum();
    layers * layers + inside + beside
}

/// Plates on a grid of ten by ten contacts, or of the rest for the last one.
pub(super) fn slab(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    let size = recipe.size;
    let mut bodies = Bodies::new(false, recipe);
    for first in (0..size).step_by(100) {
        let x = first as f64 * 0.02;
        let above = add_box(&mut bodies, [x, 0.0, 0.05], [1.0, 1.0, 0.1]);
        for contact in 0..(size - first).min(100) {
            let place = [contact / 10, contact % 10].map(|k| k as f64 / 9.0 - 0.5);
            bodies.contact(UP, Meeting { point: [x + place[0], place[1], 0.0], below: None, above }, 0.5);
        }
    }
    bodies.finish()
}
