//! Limit cycles without forcing, and impacts as section.

use super::model::{load, orbit, oscillator, over, strobe, with};
use carom::{Key, State};
use carom_analysis::study::orbit::{Case, Follow, Options, Orbit, Period, Section, SpecialKind, Stability, find};
use carom_analysis::study::{Cyclic, StudyError};
use carom_scene::Scene;
use std::f64::consts::{PI, TAU};

/// An oscillator that excites itself, x'' − 2 a x' + x = 0, below a stop at x = d.
const EXCITED: &str = r#"
version = 1
name = "self-excited oscillator"
[parameters]
a = 0.1
d = 1
e = 0.5
[model]
kind = "linear"
coordinates = ["x"]
mass = [[1]]
damping = [["-2*a"]]
stiffness = [[1]]
[[contact]]
name = "stop"
gap = "d - x"
restitution = "e"
[initial]
x = 0.5
[simulation]
end = 10
step = 0.1
"#;

/// v⁺ and e of the cycle of length T: x = exp(a t)(d cos wt + B sin wt) comes back to d.
fn cycle(a: f64, d: f64, t: f64) -> (f64, f64) {
    let w = (1.0 - a * a).sqrt();
    let (c, s, growth) = ((w * t).cos(), (w * t).sin(), (a * t).exp());
    let b = (d / growth - d * c) / s;
    let after = w * b + a * d;
    let before = growth * (after * c + (a * b - w * d) * s);
    (after, -after / before)
}

/// T for a restitution, by bisection: e falls from exp(−aπ/w) as T grows from π/w.
fn length(a: f64, d: f64, e: f64) -> f64 {
    let (mut low, mut high) = (PI / (1.0 - a * a).sqrt() + 1e-9, 5.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if cycle(a, d, middle).1 > e { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

fn free(scene: &Scene, section: Section, parameters: &[&str]) -> Case {
    let motion = scene.sensitivity(parameters).unwrap();
    Case { motion, period: Period::Free(1.0), section, cyclic: Cyclic::default() }
}

fn velocity() -> Section {
    Section::Zero(Box::new(|_, _, v| v[0]))
}

/// The one multiplier is e² exp(2aT), since all of them with the one along the orbit have the product det Φ.
fn is_the_cycle(orbit: &Orbit, (a, d, e): (f64, f64, f64)) {
    let t = length(a, d, e);
    assert!((orbit.period - t).abs() < 1e-9, "{} {t}", orbit.period);
    let [(multiplier, imaginary)] = orbit.multipliers[..] else { panic!("{:?}", orbit.multipliers) };
    assert!((multiplier - e * e * (2.0 * a * t).exp()).abs() < 1e-9 && imaginary == 0.0, "{multiplier}");
    let before = cycle(a, d, t).0 / e;
    assert!((orbit.impacts[0].2 - before).abs() < 1e-8 && orbit.impacts.len() == 1, "{:?}", orbit.impacts);
    assert_eq!(orbit.stability, Stability::Stable);
}

#[test]
fn a_limit_cycle_from_impact_to_impact() {
    let scene = load(EXCITED);
    let mut case = free(&scene, Section::Impact(Key(0)), &[]);
    let mut options = Options::new(1);
    let guess = case.approach(20, 100.0, &mut options, &|| false).unwrap();
    let found = find(&mut case, f64::NAN, &guess, &options).unwrap();
    is_the_cycle(&found, (0.1, 1.0, 0.5));
    // just after the impact
    let t = length(0.1, 1.0, 0.5);
    assert!((found.state[0] - 1.0).abs() < 1e-12 && (found.state[1] - cycle(0.1, 1.0, t).0).abs() < 1e-9, "{found:?}");
}

#[test]
fn a_limit_cycle_from_rest_to_rest() {
    let scene = load(EXCITED);
    let mut case = free(&scene, velocity(), &[]);
    let mut options = Options::new(1);
    let guess = case.approach(20, 100.0, &mut options, &|| false).unwrap();
    let found = find(&mut case, f64::NAN, &guess, &options).unwrap();
    is_the_cycle(&found, (0.1, 1.0, 0.5));
    assert!(found.state[1].abs() < 1e-11 && found.state[0] < -1.0, "{found:?}");
}

/// Over the restitution, the growth and the place of the stop: every orbit is the closed form.
#[test]
fn limit_cycles_over_a_parameter() {
    let base = load(EXCITED);
    for (name, range) in [("e", (0.3, 0.65, 5)), ("a", (0.05, 0.12, 5)), ("d", (1.0, 2.0, 4))] {
        for impact in [true, false] {
            let section = || if impact { Section::Impact(Key(0)) } else { velocity() };
            let mut options = Options::new(1);
            let mut first = free(&with(&base, &[(name, range.0)]), section(), &[]);
            let guess = first.approach(30, 100.0, &mut options, &|| false).unwrap();
            let period = first.period;
            let make = over(&base, name, |scene| Case { period, ..free(scene, section(), &[name]) });
            let branch = Follow { make: &make, options, start: 0.0, range }.run(&guess, &|| false, &|| {}).unwrap();
            assert!(branch.ended.is_none() && branch.specials.is_empty(), "{name} {:?}", branch.ended);
            assert!(branch.orbits.len() > range.2);
            for orbit in &branch.orbits {
                let value = |known: &str| if known == name { orbit.parameter } else { base.parameter(known).unwrap() };
                is_the_cycle(orbit, (value("a"), value("d"), value("e")));
            }
        }
    }
}

/// A block on a belt that sticks and slips: closed and sticking contacts at the section.
const BELT: &str = r#"
version = 1
name = "belt"
[parameters]
a = 0.1
mu = 0.2
b = 0.5
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "x^2/2 + 10*y"
force.x = "2*a*x'"
[[contact]]
name = "belt"
gap = "y"
slip = "x - b*t"
friction = "mu"
[initial]
"x'" = 0.5
[simulation]
end = 10
step = 0.1
"#;

/// Slip starts at x_s = 10 mu + 2 a b with the velocity of the belt, and goes on as a free oscillator around 10 mu
/// until the velocity is that of the belt again; the rest of the round is stick. Everything is forgotten there: the
/// multipliers are zero.
#[test]
fn stick_and_slip_on_a_belt() {
    let (a, mu, b) = (0.1f64, 0.2, 0.5);
    let w = (1.0 - a * a).sqrt();
    let (first, centre) = (10.0 * mu + 2.0 * a * b, 10.0 * mu);
    let (p, q) = (first - centre, (b - a * (first - centre)) / w);
    let slip = |t: f64| {
        let (c, s, growth) = ((w * t).cos(), (w * t).sin(), (a * t).exp());
        (centre + growth * (p * c + q * s), growth * ((a * p + w * q) * c + (a * q - w * p) * s))
    };
    // velocities are below that of the belt from here to the next time they are equal
    let (mut low, mut high) = (PI, TAU);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if slip(middle).1 < b { low = middle } else { high = middle }
    }
    let t = low + (first - slip(low).0) / b;
    let scene = load(BELT);
    for section in [velocity(), Section::Zero(Box::new(|_, q: &[f64], _| q[0] - 2.05))] {
        let mut case = free(&scene, section, &[]);
        let mut options = Options::new(1);
        let guess = case.approach(5, 100.0, &mut options, &|| false).unwrap();
        let found = find(&mut case, f64::NAN, &guess, &options).unwrap();
        assert!((found.period - t).abs() < 1e-8, "{} {t}", found.period);
        assert!(found.multipliers.len() == 3 && found.multipliers.iter().all(|z| z.0.hypot(z.1) < 1e-6), "{found:?}");
    }
}

/// With forcing the phase of the impact is an unknown: the same orbits and multipliers as once per period, and the same
/// doublings.
#[test]
fn impacts_as_section_of_a_forced_motion() {
    let impact =
        |scene: &Scene, parameters: &[&str]| Case { section: Section::Impact(Key(0)), ..strobe(scene, parameters) };
    let table = [(1, [0.05, 2.5, 0.7], 2.384284045, -0.661559206), (2, [0.05, 4.2, 0.8], 1.367043447, -0.758943814)];
    for (multiple, [al, om, e], phase, speed) in table {
        let scene = oscillator(&[("al", al), ("om", om), ("e", e)]);
        let mut case = impact(&scene, &[]);
        let mut options = Options::new(multiple);
        let guess = case.approach(60, 100.0, &mut options, &|| false).unwrap();
        assert_eq!(options.returns, 1);
        let found = find(&mut case, f64::NAN, &guess, &options).unwrap();
        let missed = (found.start - phase).rem_euclid(TAU / om);
        assert!(missed.min(TAU / om - missed) < 1e-8, "{}", found.start);
        assert!(found.state[0].abs() < 1e-13 && (found.state[1] + e * speed).abs() < 1e-8, "{:?}", found.state);
        let strobed = orbit(&[("al", al), ("om", om), ("e", e)], multiple);
        for (a, b) in found.multipliers.iter().zip(&strobed.multipliers) {
            assert!((a.0 - b.0).hypot(a.1 - b.1) < 1e-8, "{:?} {:?}", found.multipliers, strobed.multipliers);
        }
    }
    let base = oscillator(&[]);
    let make = over(&base, "om", |scene| impact(scene, &["om"]));
    let mut options = Options::new(1);
    let guess = make(2.6).unwrap().approach(100, 100.0, &mut options, &|| false).unwrap();
    let follow = Follow { make: &make, options, start: 0.0, range: (2.6, 2.76, 10) };
    let single = follow.run(&guess, &|| false, &|| {}).unwrap();
    let doubling = single.specials.iter().find(|s| s.kind == SpecialKind::PeriodDoubling).unwrap();
    assert!((doubling.orbit.parameter - 2.663189976).abs() < 2e-9, "{:.12}", doubling.orbit.parameter);
    let (double, _) = follow.switch(doubling, &|| false, &|| {}).unwrap();
    let second = double.specials.iter().find(|s| s.kind == SpecialKind::PeriodDoubling).unwrap();
    assert!((second.orbit.parameter - 2.741251628).abs() < 2e-9, "{:.12}", second.orbit.parameter);
}

#[test]
fn what_has_no_free_period_is_refused() {
    // no section
    let excited = load(EXCITED);
    let start = State::new(0.0, &[1.0], &[-0.5]);
    let none = find(&mut free(&excited, Section::Strobe, &[]), 0.0, &start, &Options::new(1));
    assert!(matches!(none, Err(StudyError::Option { .. })), "{none:?}");
    // forces depend on time
    let forced = oscillator(&[]);
    let mut case = free(&forced, Section::Impact(Key(0)), &[]);
    let mut options = Options::new(1);
    let guess = case.approach(60, 100.0, &mut options, &|| false).unwrap();
    let found = find(&mut case, 0.0, &guess, &options);
    assert!(matches!(found, Err(StudyError::NotAutonomous { .. } | StudyError::NoOrbit { .. })), "{found:?}");
    // a wall that is never struck
    let far = with(&excited, &[("d", 1e6)]);
    let never = free(&far, Section::Impact(Key(0)), &[]).approach(3, 20.0, &mut options, &|| false);
    assert!(matches!(never, Err(StudyError::NoReturn { .. })), "{never:?}");
}
