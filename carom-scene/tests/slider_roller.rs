//! A torque below the friction limit: the roller must come to rest under the slider, and with which schemes it does
//! [acary2012].

use carom::Simulation;
use carom_scene::{Overrides, examples};

/// The angle of the roller over the last second, and its last speed.
fn turned(scheme: &str) -> (f64, f64) {
    let overrides = Overrides { scheme: Some(scheme.into()), ..Overrides::default() };
    let scene = examples::load("slider-roller", &overrides).unwrap().unwrap();
    let mut simulation: Simulation = scene.simulation().unwrap();
    let solution = simulation.record().unwrap();
    let last = solution.len() - 1;
    let before = solution.t.iter().position(|t| *t >= solution.t[last] - 1.0).unwrap();
    (solution.q(last)[1] - solution.q(before)[1], solution.v(last)[1])
}

#[test]
fn moreau_jean_and_the_combined_scheme_reach_the_equilibrium() {
    for scheme in ["moreau-jean", "combined-projection"] {
        let (angle, speed) = turned(scheme);
        assert!(angle.abs() < 1e-10 && speed.abs() < 1e-10, "{scheme}: {angle} {speed}");
    }
}

/// The slider chatters, and whenever the contact is open the torque turns the roller on.
#[test]
fn direct_projection_with_the_explicit_forecast_misses_it() {
    let (angle, _) = turned(r#"{ name = "direct-projection", forecast = { explicit = { gamma = 0.0 } } }"#);
    assert!(angle > 1e-3, "{angle}");
}
