//! `carom lyapunov --method tangent`: exponents of discrete maps, and what is said about them.

use super::session::Session;
use serde_json::Value;

const BASE: [&str; 7] = ["lyapunov", "chaotic-oscillator", "--method", "tangent", "--intervals", "400", "--scheme"];

#[test]
fn the_corrected_scheme_sees_the_chaos_and_moreau_jean_does_not() {
    let session = Session::new();
    let run = |scheme: &str| -> Value {
        serde_json::from_str(&session.succeed(BASE.iter().chain(&[scheme, "--json"]))).unwrap()
    };
    let exponent = |found: &Value, k: usize| found["spectrum"]["exponents"][k]["value"].as_f64().unwrap();
    let corrected = run("corrected-paoli");
    assert_eq!(corrected["method"], "tangents of steps");
    assert!((exponent(&corrected, 0) - 0.1648).abs() < 0.04, "{}", corrected["spectrum"]["exponents"]);
    assert!((exponent(&corrected, 1) + 0.5827).abs() < 0.04, "{}", corrected["spectrum"]["exponents"]);
    let grid = run("moreau-jean");
    assert!(exponent(&grid, 0) < -0.1, "{}", grid["spectrum"]["exponents"]);
    // one ln e per impact in place of two, one impact per period, no damping in its step
    let period = std::f64::consts::TAU / 2.8;
    let sum = -0.1 * 199.0 / 200.0 + 0.7f64.ln() / period;
    assert!((grid["sum"].as_f64().unwrap() - sum).abs() < 1e-4, "{} {sum}", grid["sum"]);
    let out = session.succeed(BASE.iter().chain(&["moreau-jean"]));
    assert!(out.contains("the discrete map") && out.contains("does not see the change of impact times"), "{out}");
}

#[test]
fn schemes_without_derivatives_are_told() {
    let session = Session::new();
    let outcome = session.carom(BASE.iter().chain(&["direct-projection"]));
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    for word in ["direct-projection", "moreau-jean", "corrected-paoli", "--scheme"] {
        assert!(outcome.err.contains(word), "{}", outcome.err);
    }
}
