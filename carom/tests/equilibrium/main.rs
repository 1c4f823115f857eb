//! Rest: reactions and their ranges, margins, vibrations, against closed forms and against linear programs of an
//! independent computation.

mod arch;
mod breaker;
mod ranges;
mod searching;
mod vibrations;

use carom::equilibrium::{Equilibrium, EquilibriumError, LawAtRest, Where, equilibrium};
use carom::multibody::{Multibody, MultibodyModel};
use carom::{Mechanical, Space};

const G: f64 = 9.81;

fn build(system: &Multibody) -> MultibodyModel {
    system.build().unwrap_or_else(|error| panic!("{error}"))
}

/// Rest of bodies.
fn rest_of(system: &Multibody, place: Where) -> Result<Equilibrium, EquilibriumError> {
    let mut model = build(system);
    let (from, mut tangent) = (model.initial(), model.tangent());
    equilibrium(&mut model, &mut tangent, &from, place)
}

fn rest(system: &Multibody) -> Equilibrium {
    rest_of(system, Where::FromHere).unwrap_or_else(|error| panic!("{error}"))
}

/// Rest where the bodies are drawn.
fn here(system: &Multibody) -> Equilibrium {
    rest_of(system, Where::Here).unwrap_or_else(|error| panic!("{error}"))
}

fn falls(system: &Multibody) -> bool {
    matches!(rest_of(system, Where::Here), Err(EquilibriumError::NotHere { .. }))
}

fn law<'a>(found: &'a Equilibrium, name: &str) -> &'a LawAtRest {
    found.laws.iter().find(|law| law.name == name).unwrap_or_else(|| panic!("no `{name}`"))
}

/// Least and largest reaction of a row.
fn range(found: &Equilibrium, name: &str, row: usize) -> [f64; 2] {
    let interval = law(found, name).reaction[row];
    [interval.least.unwrap_or(f64::NEG_INFINITY), interval.most.unwrap_or(f64::INFINITY)]
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found:.12} instead of {expected:.12}");
}

#[track_caller]
fn near_both(found: [f64; 2], expected: [f64; 2], tolerance: f64) {
    assert!((0..2).all(|i| (found[i] - expected[i]).abs() <= tolerance), "{found:.12?} instead of {expected:.12?}");
}

/// Angular frequencies, from the slowest up.
fn frequencies(found: &Equilibrium) -> Vec<f64> {
    let vibrations = found.vibrations.as_ref().unwrap_or_else(|why| panic!("{why}"));
    vibrations.modes.iter().map(|mode| mode.omega).collect()
}

/// Rest of any model, with derivatives by differences.
fn rest_by_differences(make: impl Fn() -> Box<dyn Mechanical>) -> Equilibrium {
    let (mut model, mut tangent) = (make(), carom::sensitivity::DifferenceTangent::new(make()));
    let from = model.initial();
    equilibrium(&mut *model, &mut tangent, &from, Where::FromHere).unwrap_or_else(|error| panic!("{error}"))
}
