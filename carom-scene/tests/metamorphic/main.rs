//! Random models told in other words have the same motion: mirrored, rotated, renamed and reordered, in other units, at
//! another time; and schemes agree as their steps shrink. None of it needs a solution.

mod circuits;
mod joints;
mod particles;
mod solids;
mod sweeping;
mod switches;

use carom_mutations::Random;
use carom_scene::{Overrides, Scene, from_str};
use std::collections::BTreeMap;

/// Schemes for mechanical models with friction and restitution.
const SCHEMES: &[&str] = &["moreau-jean", "direct-projection", "combined-projection", "higher-order", "event-driven"];

fn scene(text: &str) -> Scene {
    from_str("random.toml", text, &Overrides::default()).unwrap_or_else(|all| panic!("{}\n{text}", all[0]))
}

/// The state at the end of a run.
fn end(text: &str) -> carom::State {
    let mut simulation = scene(text).simulation().unwrap();
    let ran = simulation.run(&mut []);
    assert!(matches!(ran, Ok(true)), "{ran:?}\n{text}");
    simulation.state().clone()
}

/// The coordinates at the end of a run, by their names.
fn named_end(text: &str) -> BTreeMap<String, f64> {
    let mut simulation = scene(text).simulation().unwrap();
    let ran = simulation.run(&mut []);
    assert!(matches!(ran, Ok(true)), "{ran:?}\n{text}");
    simulation.labels().coordinates.iter().cloned().zip(simulation.state().q.iter().copied()).collect()
}

/// A number between two others, with few digits, so that files tell it exactly.
fn between(low: f64, high: f64, random: &mut Random) -> f64 {
    let value = low + (high - low) * random.below(1_000_001) as f64 / 1e6;
    (value * 1024.0).round() / 1024.0
}

/// The numbers in a random order.
fn shuffled(n: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    (1..n).rev().for_each(|k| order.swap(k, random.below(k + 1)));
    order
}

/// Largest difference beside the largest value.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let scale = a.iter().fold(1.0f64, |scale, x| scale.max(x.abs()));
    a.iter().zip(b).fold(0.0f64, |most, (a, b)| most.max((a - b).abs())) / scale
}
