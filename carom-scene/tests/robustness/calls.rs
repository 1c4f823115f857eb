//! Calls of the library in random order with random options: nothing panics, and a state is always finite.

use super::judge::judge;
use carom::{SCHEMES, Simulation, State};
use carom_mutations::Random;
use carom_scene::{Overrides, examples};
use carom_solve::SOLVERS;
use std::ops::ControlFlow;

const NUMBERS: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    0.01,
    1e-3,
    1e-9,
    -1e-9,
    1e-300,
    1e300,
    -1e300,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    10.0,
    1e6,
    f64::MIN_POSITIVE,
    f64::MAX,
];

/// A number that makes sense, or one at a border.
fn number(random: &mut Random) -> f64 {
    match random.below(2) {
        0 => random.pick(NUMBERS),
        _ => 1e-3 * (1 + random.below(500)) as f64,
    }
}

/// A method by its name, at times with an option that it may have.
fn method(names: &[&str], random: &mut Random) -> String {
    let (name, value) = (random.pick(names), number(random));
    let option = random.pick(&["theta", "tolerance", "iterations", "rtol", "h-max", "newton-tolerance", "max-events"]);
    match random.below(3) {
        0 => format!("{{ name = \"{name}\", {option} = {value:?} }}"),
        _ => name.to_owned(),
    }
}

fn overrides(random: &mut Random) -> Overrides {
    let schemes: Vec<&str> = SCHEMES.iter().map(|row| row.info.name).collect();
    let solvers: Vec<&str> = SOLVERS.iter().map(|row| row.info.name).collect();
    let mut overrides = Overrides::default();
    for _ in 0..random.below(4) {
        match random.below(7) {
            0 => overrides.scheme = Some(method(&schemes, random).into()),
            1 => overrides.solver = Some(method(&solvers, random).into()),
            2 => overrides.step = Some(number(random).into()),
            3 => overrides.end = Some(number(random)),
            4 => overrides.output = Some(number(random).into()),
            5 => overrides.adaptive = Some(format!("{:?}", number(random))),
            _ => overrides.set.push((random.pick(&["e", "mu", "g", "m", "k"]).into(), format!("{:?}", number(random)))),
        }
    }
    overrides
}

fn is_finite(state: &State) -> bool {
    state.t.is_finite() && state.q.iter().chain(&state.v).all(|x| x.is_finite())
}

/// Some calls; each of them may fail and say why.
fn play(simulation: &mut Simulation, random: &mut Random) {
    let mut memory = None;
    for _ in 0..6 {
        let fails = match random.below(7) {
            0 => simulation.run(&mut []).is_err(),
            1 => simulation.advance().is_err(),
            2 => simulation.advance_to(number(random), &mut |_| ControlFlow::Continue(())).is_err(),
            3 => {
                simulation.limit_steps(random.below(20) as u64);
                false
            }
            4 => {
                memory = simulation.save(&mut []).ok();
                false
            }
            5 => match memory.take() {
                Some(mut bytes) => {
                    if let Some(byte) = bytes.get_mut(random.below(3000)) {
                        *byte ^= random.below(2) as u8;
                    }
                    simulation.resume(&mut [], bytes).is_err()
                }
                None => false,
            },
            _ => {
                let mut state = simulation.state().clone();
                state.t = number(random);
                if let Some(x) = state.q.first_mut() {
                    *x = number(random);
                }
                let good = is_finite(&state);
                simulation.restart(&state);
                !good
            }
        };
        if fails {
            return;
        }
        assert!(is_finite(simulation.state()), "{:?}", simulation.state());
    }
}

#[test]
fn calls_in_any_order_with_any_options() {
    let names = ["bouncing-ball", "rocking-block", "double-pendulum", "stick-slip", "diode-bridge", "two-mass-chain"];
    let (mut played, mut refused) = (0, 0);
    for case in 0..600 {
        let random = &mut Random::new(9000 + case);
        let name = random.pick(&names);
        match examples::load(name, &overrides(random)).unwrap() {
            Ok(scene) => {
                let Ok(mut simulation) = scene.simulation() else { continue };
                simulation.limit_steps(20);
                play(&mut simulation, random);
                played += 1;
            }
            Err(found) => {
                judge(&found);
                refused += 1;
            }
        }
    }
    println!("{played} played, {refused} refused");
    assert!(played > 150 && refused > 100, "{played} {refused}");
}
