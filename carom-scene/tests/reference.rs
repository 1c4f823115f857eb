//! Exact solutions beside models from files: right ones with all parameters, or a reason why there is none.

use carom_scene::scene::Exact;
use carom_scene::{Overrides, Scene, from_str};

fn load(text: &str, set: &[(&str, &str)]) -> Scene {
    let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let scheme = Some(r#"{ name = "event-driven", atol = 1e-12, rtol = 1e-12 }"#.into());
    let overrides = Overrides { set, scheme, end: Some(2.0), step: Some(0.1.into()), ..Overrides::default() };
    from_str("test.toml", text, &overrides).unwrap_or_else(|all| panic!("{}", all[0]))
}

const PRELOADED: &str = include_str!("../../examples/preloaded-oscillator.toml");
const OSCILLATOR: &str = include_str!("../../examples/linear-oscillator.toml");

/// Overdamped, critical, without spring, without both: the closed form is that of the motion, which an event-driven run
/// to 1e-12 computes from the model alone.
#[test]
fn preloaded_oscillators_of_all_dampings_have_their_exact_solution() {
    for (damping, stiffness) in [("0.5", "4"), ("5", "4"), ("4", "4"), ("30", "4"), ("0.5", "0"), ("0", "0")] {
        let scene = load(PRELOADED, &[("damping", damping), ("stiffness", stiffness), ("v0", "0.7")]);
        let Some(Exact::Motion(exact)) = scene.reference.as_ref().map(|reference| &reference.solution) else {
            panic!("no exact solution with damping {damping}, stiffness {stiffness}: {:?}", scene.warnings)
        };
        let solution = scene.simulation().unwrap().record().unwrap();
        let (mut q, mut v) = ([0.0], [0.0]);
        for k in 0..solution.len() {
            let t = solution.t[k];
            exact.at(t, &mut q, &mut v);
            // steps end at impacts: on which side of them is rounding
            if !exact.jumps(t - 1e-8, t + 1e-8, 0.0).is_empty() {
                continue;
            }
            let place = format!("damping {damping}, stiffness {stiffness}, t = {}", solution.t[k]);
            assert!((solution.q(k)[0] - q[0]).abs() < 1e-8, "{place}: {} {}", solution.q(k)[0], q[0]);
            assert!((solution.v(k)[0] - v[0]).abs() < 1e-6, "{place}: {} {}", solution.v(k)[0], v[0]);
        }
    }
}

#[test]
fn parameters_without_an_exact_solution_are_told() {
    let cases = [
        (PRELOADED, [("preload", "-1")], "the preload must be positive"),
        (PRELOADED, [("damping", "-1")], "the damping may not be negative"),
        (OSCILLATOR, [("damping", "5")], "it must be underdamped"),
        (OSCILLATOR, [("stiffness", "0")], "the stiffness must be positive"),
    ];
    for (text, set, reason) in cases {
        let scene = load(text, &set);
        assert!(scene.reference.is_none(), "{set:?}");
        let told = scene.warnings.iter().any(|w| w.message.contains("no exact solution") && w.message.contains(reason));
        assert!(told, "{set:?}: {:?}", scene.warnings.iter().map(ToString::to_string).collect::<Vec<_>>());
    }
}
