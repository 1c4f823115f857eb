//! Friction that depends on the state, against closed forms, with every scheme that treats it.

use carom::scheme::{Claim, Family, SCHEMES, SchemeRow};
use carom::simulation::{LedgerObserver, Solution};
use carom_scene::{Overrides, Scene, from_str};

/// A block on a floor, m = 1 kg and g = 10 m/s²; the rest is filled in.
fn block(slip: &str, friction: &str, potential: &str, initial: &str, end: f64, step: f64) -> String {
    format!(
        r#"
version = 1
name = "block"
[parameters]
mu = 0.1
slope = 0.4
V = 1.0
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "10*y + {potential}"
[[contact]]
name = "floor"
gap = "y"
slip = "{slip}"
friction = {friction}
[initial]
{initial}
[simulation]
end = {end}
step = {step}
"#
    )
}

fn load(text: &str, scheme: &str) -> Scene {
    let overrides = Overrides { scheme: Some(scheme.to_owned().into()), ..Overrides::default() };
    from_str("test.toml", text, &overrides).unwrap_or_else(|all| panic!("{scheme}: {}", all[0]))
}

fn claims(row: &SchemeRow, claim: Claim) -> bool {
    row.info.claims.contains(&claim)
}

fn capable() -> impl Iterator<Item = &'static SchemeRow> {
    SCHEMES.iter().filter(|row| claims(row, Claim::VaryingFriction))
}

/// x and x' at the end.
fn last(solution: &Solution) -> (f64, f64) {
    let k = solution.len() - 1;
    (solution.q(k)[0], solution.v(k)[0])
}

/// Errors allowed: schemes of events and of higher order meet the closed form, others come to it with the step.
fn allowed(row: &SchemeRow, exact: f64, step: f64) -> f64 {
    if row.info.level == "acceleration" { exact } else { step }
}

/// μ = 0.1 + 0.4 x: x + 1/4 is a harmonic motion of 2 rad/s while the block slides. It stops after atan(2)/2 s at
/// (√5 − 1)/4 m and stays.
#[test]
fn friction_of_the_place_stops_a_block_where_it_must() {
    let text = block("x", "\"mu + slope*x\"", "0", "\"x'\" = 1", 1.0, 1e-3);
    for row in capable() {
        let (name, mut x) = (row.info.name, 0.0);
        let solution = load(&text, name).simulation().unwrap().record().unwrap();
        let stop = 0.5 * 2f64.atan();
        for (k, t) in solution.t.iter().enumerate() {
            let s = t.min(stop);
            let exact = 0.25 * (2.0 * s).cos() + 0.5 * (2.0 * s).sin() - 0.25;
            x = f64::max(x, (solution.q(k)[0] - exact).abs());
        }
        assert!(x < allowed(row, 1e-7, 2e-3), "{name}: {x:e}");
        let (end, v) = last(&solution);
        assert!(v.abs() < 1e-12, "{name}: {v:e}");
        assert!((end - 0.25 * (5f64.sqrt() - 1.0)).abs() < allowed(row, 1e-7, 2e-3), "{name}: {end}");
    }
}

/// μ = 0.4 x from x = 0, where there is no friction yet: a quarter of a harmonic motion of 2 rad/s, over 1/2 m.
#[test]
fn friction_may_begin_at_zero() {
    let text = block("x", "\"slope*x\"", "0", "\"x'\" = 1", 1.0, 1e-3);
    for row in capable() {
        let name = row.info.name;
        let solution = load(&text, name).simulation().unwrap().record().unwrap();
        let (end, v) = last(&solution);
        assert!((end - 0.5).abs() < allowed(row, 1e-7, 2e-3), "{name}: {end}");
        assert!(v.abs() < 1e-12, "{name}: {v:e}");
    }
}

/// μ = 0.2 u on a belt at 1 m/s: x' = 1 − exp(−2t), and the block never sticks.
#[test]
fn friction_of_the_sliding_speed_is_viscous() {
    let text = block("x - V*t", "\"0.2*speed\"", "0", "", 1.0, 1e-3);
    for row in capable() {
        let name = row.info.name;
        let solution = load(&text, name).simulation().unwrap().record().unwrap();
        let (x, v) = last(&solution);
        let fall = (-2f64).exp();
        assert!((v - (1.0 - fall)).abs() < allowed(row, 1e-8, 2e-3), "{name}: {v}");
        assert!((x - (1.0 - 0.5 * (1.0 - fall))).abs() < allowed(row, 1e-8, 2e-3), "{name}: {x}");
    }
}

/// Stick-slip of a block on a belt, D = (μs − μk) N/k and ω = √(k/m): it begins to slide where k x = μs N, slides for
/// (2π − 2 atan(D ω/V))/ω from D before to D behind the place where μk N holds the spring, and sticks for 2 D/V.
const STICK_SLIP: (f64, f64) = (0.02, 10.0);

fn cycle(belt: f64) -> (f64, f64) {
    let (d, omega) = STICK_SLIP;
    (0.04 / belt, (2.0 * std::f64::consts::PI - 2.0 * (d * omega / belt).atan()) / omega)
}

fn stick_slip(step: f64) -> String {
    block("x - 0.1*t", "{ static = 0.4, kinetic = \"mu + 0.1\" }", "50*x^2", "\"x'\" = 0.1", 2.0, step)
}

#[test]
fn stick_slip_has_its_period() {
    let ((begin, slide), (d, _)) = (cycle(0.1), STICK_SLIP);
    let period = slide + 2.0 * d / 0.1;
    for (name, tolerance) in [("event-driven", 1e-7), ("higher-order", 1e-5)] {
        let solution = load(&stick_slip(1e-3), name).simulation().unwrap().record().unwrap();
        if name == "event-driven" {
            let times: Vec<f64> = solution.events.iter().map(|event| event.t).collect();
            let exact = [begin, begin + slide, begin + period, begin + period + slide];
            assert_eq!(times.len(), exact.len(), "{times:?}");
            for (t, exact) in times.iter().zip(exact) {
                assert!((t - exact).abs() < tolerance, "{name}: {t} instead of {exact}");
            }
        }
        worst(&solution, tolerance, name);
    }
    for flow in ["rkf45", "dop853"] {
        let scheme = format!("{{ name = \"event-driven\", flow = \"{flow}\", atol = 1e-10, rtol = 0.0 }}");
        let solution = load(&stick_slip(1e-2), &scheme).simulation().unwrap().record().unwrap();
        assert_eq!(solution.events.len(), 4, "{flow}");
        worst(&solution, 1e-7, flow);
    }
}

/// Steps by the local error: tries that were refused leave no trace in what sticks.
#[test]
fn stick_slip_is_captured_with_adaptive_steps() {
    let text = stick_slip(1e-3).replace("step = 0.001", "adaptive = 1e-7");
    let solution = load(&text, "moreau-jean").simulation().unwrap().record().unwrap();
    worst(&solution, 2e-3, "adaptive");
}

/// The largest error of positions along the closed form.
fn worst(solution: &Solution, tolerance: f64, name: &str) {
    let ((begin, slide), (d, omega)) = (cycle(0.1), STICK_SLIP);
    let period = slide + 2.0 * d / 0.1;
    let exact = |t: f64| {
        if t <= begin {
            return 0.1 * t;
        }
        let part = (t - begin) % period;
        match part < slide {
            true => 0.02 + d * (omega * part).cos() + 0.1 / omega * (omega * part).sin(),
            false => 0.02 - d + 0.1 * (part - slide),
        }
    };
    let error = |(k, t): (usize, &f64)| (solution.q(k)[0] - exact(*t)).abs();
    let worst = solution.t.iter().enumerate().map(error).fold(0.0, f64::max);
    assert!(worst < tolerance, "{name}: {worst:e}");
}

/// Schemes with steps converge to the cycle, at first order.
#[test]
fn stick_slip_is_captured_to_the_first_order() {
    for row in capable().filter(|row| row.info.level != "acceleration") {
        for step in [1e-3, 1e-4] {
            let solution = load(&stick_slip(step), row.info.name).simulation().unwrap().record().unwrap();
            worst(&solution, 2.0 * step, row.info.name);
        }
    }
}

/// A Stribeck curve on a slope of the spring's own: steady sliding where the spring carries μ(V) N.
#[test]
fn a_falling_curve_has_its_value_in_steady_sliding() {
    let table = "{ static = 0.4, kinetic = 0.2, speed = 0.5 }";
    let exact = (0.2 + 0.2 * (-2f64).exp()) * 10.0 / 100.0;
    let text = block("x - V*t", table, "50*x^2", &format!("x = {exact}"), 0.2, 1e-3);
    let written = block("x - V*t", "\"0.2 + 0.2*exp(-speed/0.5)\"", "50*x^2", &format!("x = {exact}"), 0.2, 1e-3);
    for row in capable() {
        let name = row.info.name;
        let [a, b] = [&text, &written].map(|text| load(text, name).simulation().unwrap().record().unwrap());
        let x = |solution: &Solution| (0..solution.len()).map(|k| solution.q(k)[0]).collect::<Vec<f64>>();
        assert_eq!(x(&a), x(&b), "{name}: the table is the expression");
        let moved = x(&a).iter().map(|x| (x - exact).abs()).fold(0.0, f64::max);
        assert!(moved < 1e-12, "{name}: {moved:e}");
    }
}

/// A block at rest is held by the static coefficient and let go at it, not at the kinetic one.
#[test]
fn rest_has_the_static_coefficient() {
    // the force t reaches 0.4 N = 4 at 4 s and the kinetic friction at 2 s
    let text = block("x", "{ static = 0.4, kinetic = 0.2 }", "-t*x", "", 4.5, 1e-2);
    for row in capable() {
        let name = row.info.name;
        let solution = load(&text, name).simulation().unwrap().record().unwrap();
        for (k, t) in solution.t.iter().enumerate() {
            let v = solution.v(k)[0];
            let exact = if *t < 4.0 { 0.0 } else { 0.5 * (t * t - 16.0) - 2.0 * (t - 4.0) };
            assert!((v - exact).abs() < allowed(row, 1e-8, 0.05), "{name}: {v} instead of {exact} at {t}");
        }
    }
}

/// What friction took is in the ledger, whatever the coefficient.
#[test]
fn the_energy_ledger_closes() {
    for row in capable() {
        let name = row.info.name;
        let scene = load(&block("x", "\"mu + slope*x\"", "0", "\"x'\" = 1", 1.0, 1e-3), name);
        let mut ledger = LedgerObserver::default();
        assert!(scene.simulation().unwrap().run(&mut [&mut ledger]).unwrap());
        let ledger = ledger.ledger().unwrap();
        assert!((ledger.friction_loss - 0.5).abs() < 1e-9, "{name}: {}", ledger.friction_loss);
        assert!(ledger.residue().abs() < 1e-9, "{name}: {:e}", ledger.residue());
    }
}

/// A coefficient that falls below zero on the way is an error with its time and contact.
#[test]
fn a_negative_coefficient_ends_the_run() {
    let text = block("x", "\"0.1 - 0.4*x\"", "0", "\"x'\" = 1", 1.0, 1e-3);
    for row in capable() {
        let name = row.info.name;
        let message = load(&text, name).simulation().unwrap().record().unwrap_err().to_string();
        for word in ["the coefficient of friction of contact `floor` is -", "at t = 0.2", "not negative"] {
            assert!(message.contains(word), "{name}: {message}");
        }
    }
    for bad in
        ["\"-1 + 0*x + x\"", "\"sqrt(-1 - x)\"", "{ static = -0.1, kinetic = 0.1 }", "{ static = 1, kinetic = -1 }"]
    {
        let found = from_str("test.toml", &block("x", bad, "0", "", 1.0, 1e-3), &Overrides::default()).unwrap_err();
        assert!(found.iter().any(|found| found.message.contains("friction")), "{bad}: {found:?}");
    }
}

#[test]
fn other_schemes_and_derivatives_refuse() {
    let text = block("x", "\"mu + slope*x\"", "0", "\"x'\" = 1", 1.0, 1e-3);
    let others = SCHEMES.iter().filter(|row| row.family == Family::Mechanical && claims(row, Claim::Friction));
    for row in others.filter(|row| !claims(row, Claim::VaryingFriction)) {
        let overrides = Overrides { scheme: Some(row.info.name.to_owned().into()), ..Overrides::default() };
        let error = &from_str("test.toml", &text, &overrides).unwrap_err()[0];
        assert!(error.message.contains("has constant coefficients of friction only"), "{error}");
        let names: Vec<&str> = capable().map(|row| row.info.name).collect();
        assert_eq!(error.hint.as_deref(), Some(format!("schemes that can: {}", names.join(", ")).as_str()));
    }
    let scene = load(&text, "event-driven");
    for parameters in [&[][..], &["mu"]] {
        let refused = scene.sensitivity(parameters).err().expect("no derivatives").to_string();
        assert!(refused.contains("friction that depends on the state"), "{refused}");
    }
}

#[test]
fn mistakes_in_friction_are_told() {
    for (friction, word) in [
        ("{ static = 0.4 }", "the field `kinetic` is missing"),
        ("{ static = 0.4, kinetc = 0.2 }", "unknown key `kinetc`"),
        ("{ static = 0.4, kinetic = 0.2, speed = 0 }", "not positive"),
        ("{ static = 0.4, kinetic = 0.2, speed = \"x\" }", "only parameters may appear here"),
        ("\"mu*spead\"", "spead"),
        ("[0.1, 0.2]", "found a list"),
    ] {
        let text = block("x", friction, "0", "", 1.0, 1e-3);
        let found = from_str("test.toml", &text, &Overrides::default()).unwrap_err();
        assert!(found.iter().any(|found| found.message.contains(word)), "{friction}: {found:?}");
    }
}
