//! Planar contact families: arches, houses of cards, walls and towers of rectangles.

use super::Recipe;
use super::mechanics::{Bodies, Meeting};
use super::spatial::supports;
use crate::elementary::{cos, sin};
use crate::{StoredError, StoredProblem};
use std::f64::consts::PI;

/// Stones of an arch.
const STONES: usize = 25;

/// Semicircular arches of 25 stones between radii 4 and 5, one beside the other; neighbouring stones meet at both ends
/// of their joint.
pub(super) fn bridge(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    arches(recipe, recipe.size.div_ceil(2 * (STONES + 1)), STONES)
}

/// One such arch with as many stones as it takes.
pub(super) fn arch(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    arches(recipe, 1, (recipe.size / 2).saturating_sub(1).max(3))
}

fn arches(recipe: &Recipe, number: usize, stones: usize) -> Result<StoredProblem, StoredError> {
    let mut bodies = Bodies::new(true, recipe);
    let (inner, outer) = (4.0f64, 5.0f64);
    let step = PI / stones as f64;
    // sector of an annulus: area, distance of the centroid, polar inertia about it
    let area = 0.5 * step * (outer.powi(2) - inner.powi(2));
    let sine = sin(0.5 * step) / (0.5 * step);
    let radius = 2.0 / 3.0 * sine * (outer.powi(3) - inner.powi(3)) / (outer.powi(2) - inner.powi(2));
    let inertia = 0.25 * step * (outer.powi(4) - inner.powi(4)) - area * radius * radius;
    for arch in 0..number {
        let x = 11.0 * arch as f64;
        let mut last = None;
        for stone in 0..=stones {
            // the joint before each stone, and the one after the last
            let angle = PI - step * stone as f64;
            let normal = [sin(angle), -cos(angle), 0.0];
            let above = if stone < stones {
                let middle = angle - 0.5 * step;
                bodies.body([x + radius * cos(middle), radius * sin(middle), 0.0], area, [0.0, 0.0, inertia])
            } else {
                // the last stone stands on the ground: the joint seen from above
                arch * stones + stones - 1
            };
            let (below, normal) = if stone < stones { (last, normal) } else { (None, normal.map(|x| -x)) };
            for distance in [inner, outer] {
                let point = [x + distance * cos(angle), distance * sin(angle), 0.0];
                bodies.contact(normal, Meeting { point, below, above }, 0.6);
            }
            last = Some(above);
        }
    }
    bodies.finish()
}

/// A house of cards of unit length and mass: in each storey pairs that lean against each other, 15° from the vertical,
/// and level cards from tip to tip, each of which carries one pair of the next storey, on feet between its ends.
pub(super) fn cards(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    // a house of n storeys has 3 contacts in each pair and 2 below each level card
    let contacts = |n: usize| 3 * (n * (n + 1) / 2) + 2 * (n * (n - 1) / 2);
    let mut storeys = 1;
    while contacts(storeys) < recipe.size {
        storeys += 1;
    }
    let mut bodies = Bodies::new(true, recipe);
    let (sine, cosine) = (sin(15.0f64.to_radians()), cos(15.0f64.to_radians()));
    let inertia = [0.0, 0.0, 1.0 / 12.0];
    let mut ground: Vec<Option<usize>> = vec![None; storeys]; // what each pair stands on
    for storey in 0..storeys {
        let (base, offset) = (storey as f64 * cosine, 0.5 * storey as f64);
        let mut tips: Vec<[usize; 2]> = Vec::new();
        for (pair, &below) in ground.iter().enumerate() {
            let x = offset + pair as f64;
            let leaning = [-0.5, 0.5].map(|side: f64| {
                let card = bodies.body([x + side * sine, base + 0.5 * cosine, 0.0], 1.0, inertia);
                let point = [x + 2.0 * side * sine, base, 0.0];
                bodies.contact([0.0, 1.0, 0.0], Meeting { point, below, above: card }, 0.4);
                card
            });
            let point = [x, base + cosine, 0.0];
            bodies.contact([1.0, 0.0, 0.0], Meeting { point, below: Some(leaning[0]), above: leaning[1] }, 0.4);
            tips.push(leaning);
        }
        ground.clear();
        for (pair, ends) in tips.windows(2).enumerate() {
            let (x, y) = (offset + pair as f64, base + cosine);
            let above = bodies.body([x + 0.5, y, 0.0], 1.0, inertia);
            for (below, end) in [(ends[0][1], x), (ends[1][0], x + 1.0)] {
                let meeting = Meeting { point: [end, y, 0.0], below: Some(below), above };
                bodies.contact([0.0, 1.0, 0.0], meeting, 0.4);
            }
            ground.push(Some(above));
        }
    }
    bodies.finish()
}

/// Bricks of 2 × 1 in running bond: the spatial wall as a drawing.
pub(super) fn wall(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    let mut bodies = Bodies::new(true, recipe);
    let mut length = 2usize;
    while 2 * length + 4 * (length - 1).pow(2) < recipe.size {
        length += 1;
    }
    let mut first = [0, 0]; // first bricks of the course below and of this one
    for course in 0..length {
        let shift = course % 2;
        first = [first[1], bodies.len()];
        for place in 0..length - shift {
            let (x, y) = ((2 * place + shift) as f64, course as f64);
            let above = bodies.body([x, y + 0.5, 0.0], 2.0, [0.0, 0.0, 2.0 * 5.0 / 12.0]);
            let ground = (course == 0).then_some((None, [-1.0, 1.0]));
            let bricks = supports(course, place, length).map(|(k, left)| (Some(first[0] + k), [left, left + 1.0]));
            for (below, ends) in ground.into_iter().chain(bricks) {
                for end in ends {
                    bodies.contact([0.0, 1.0, 0.0], Meeting { point: [x + end, y, 0.0], below, above }, 0.6);
                }
            }
        }
    }
    bodies.finish()
}

/// One tower of unit squares.
pub(super) fn tower(recipe: &Recipe) -> Result<StoredProblem, StoredError> {
    let mut bodies = Bodies::new(true, recipe);
    for floor in 0..recipe.size.div_ceil(2) {
        let y = floor as f64;
        let above = bodies.body([0.0, y + 0.5, 0.0], 1.0, [0.0, 0.0, 1.0 / 6.0]);
        let below = (floor > 0).then(|| above - 1);
        for x in [-0.5, 0.5] {
            bodies.contact([0.0, 1.0, 0.0], Meeting { point: [x, y, 0.0], below, above }, 0.5);
        }
    }
    bodies.finish()
}
