//! Periodic orbits of the impact oscillator against closed forms and verified numbers.

use carom::State;
use carom_analysis::study::StudyError;
use carom_analysis::study::orbit::{Case, Follow, Kind, Options, Orbit, Stability, find};
use carom_scene::{Overrides, Scene, from_str};

const TEXT: &str = r#"
version = 1
name = "oscillator"
[parameters]
al = 0.05
om = 2.5
um = 0.0
e = 0.7
period = "2*pi/om"
[model]
kind = "linear"
coordinates = ["u"]
mass = [[1]]
damping = [["2*al"]]
stiffness = [[1]]
force.u = "cos(om*t)"
[[contact]]
name = "wall"
gap = "u - um"
restitution = "e"
[initial]
u = 0.5
[simulation]
end = 1
step = 0.1
scheme = { name = "event-driven", atol = 1e-12, rtol = 1e-12 }
"#;

fn scene(set: &[(&str, f64)]) -> Scene {
    let scene = from_str("test.toml", TEXT, &Overrides::default()).unwrap_or_else(|all| panic!("{}", all[0]));
    scene.with(set).unwrap_or_else(|all| panic!("{}", all[0]))
}

fn case(scene: &Scene, parameters: &[&str]) -> Case {
    let period = match parameters.first() {
        Some(name) => scene.slope("period", name).unwrap(),
        None => (scene.parameter("period").unwrap(), 0.0),
    };
    Case { motion: scene.sensitivity(parameters).unwrap(), period }
}

fn options(multiple: usize) -> Options {
    Options { multiple, tolerance: 1e-11, iterations: 40 }
}

/// The state after so many periods, as a guess.
fn settled(scene: &Scene, periods: f64) -> State {
    let mut motion = scene.sensitivity(&[]).unwrap();
    motion.set_columns(0);
    motion.advance(periods * scene.parameter("period").unwrap()).unwrap();
    State { t: 0.0, ..motion.state().clone() }
}

fn orbit(set: &[(&str, f64)], multiple: usize) -> Orbit {
    let scene = scene(set);
    find(&mut case(&scene, &[]), 0.0, &settled(&scene, 40.0), &options(multiple)).unwrap()
}

/// The table of one-impact orbits of the specification: n, al, om, e, phase, v⁻, multipliers.
#[test]
fn one_impact_orbits_of_the_literature() {
    type Row = (usize, [f64; 3], f64, f64, [(f64, f64); 2]);
    let table: [Row; 4] = [
        (1, [0.05, 2.5, 0.7], 2.384284045, -0.661559206, [(-0.13693, 0.60196), (-0.13693, -0.60196)]),
        (1, [0.0, 2.5, 0.8], 2.458897211, -0.645352178, [(-0.164942, 0.782812), (-0.164942, -0.782812)]),
        (1, [0.05, 2.0, 0.8], 2.333231967, -3.901649291, [(0.690179, 0.0), (0.677299, 0.0)]),
        (2, [0.05, 4.2, 0.8], 1.367043447, -0.758943814, [(0.54695, 0.418747), (0.54695, -0.418747)]),
    ];
    for (multiple, [al, om, e], phase, speed, multipliers) in table {
        let found = orbit(&[("al", al), ("om", om), ("e", e)], multiple);
        let [(t, _, v)] = found.impacts[..] else { panic!("{found:?}") };
        let period = std::f64::consts::TAU / om;
        let wrapped = (t - phase).rem_euclid(period);
        assert!(wrapped.min(period - wrapped) < 1e-8, "{t} {phase}");
        assert!((v - speed).abs() < 1e-8, "{v} {speed}");
        assert_eq!(found.stability, Stability::Stable);
        for (a, b) in found.multipliers.iter().zip(multipliers) {
            assert!((a.0 - b.0).abs() < 2e-6 && (a.1 - b.1).abs() < 2e-6, "{om}: {:?}", found.multipliers);
        }
        // |det| = e² exp(−2 al n T)
        let product = found.multipliers.iter().map(|z| z.0.hypot(z.1)).product::<f64>();
        let exact = e * e * (-2.0 * al * multiple as f64 * period).exp();
        assert!((product - exact).abs() < 1e-10, "{product} {exact}");
    }
    // check O21
    let found = orbit(&[], 1);
    assert!((found.multipliers[0].0.hypot(found.multipliers[0].1) - 0.617338).abs() < 1e-6);
}

/// Stroboscopic u of the attractors over the frequency.
#[test]
fn attractors_of_the_literature() {
    for (om, points) in [(2.5, &[0.0672447][..]), (2.6, &[0.0431665]), (2.66, &[0.0339117])] {
        assert!((orbit(&[("om", om)], 1).state[0] - points[0]).abs() < 1e-7);
    }
    for (om, points) in [(2.67, [0.0074888, 0.0656125]), (2.7, [0.0303622, 0.1165699]), (2.72, [0.0483127, 0.1402952])]
    {
        let found = orbit(&[("om", om)], 2);
        assert!(points.iter().any(|p| (found.state[0] - p).abs() < 1e-6), "{om} {:?}", found.state);
        assert_eq!((found.stability, found.impacts.len()), (Stability::Stable, 2));
    }
}

fn follow(multiple: usize, range: (f64, f64, usize)) -> carom_analysis::study::orbit::Branch {
    let base = scene(&[]);
    let make = |value: f64| {
        let scene = base.with(&[("om", value)]).map_err(|all| StudyError::Build(all[0].to_string()))?;
        Ok(case(&scene, &["om"]))
    };
    let guess = settled(&base.with(&[("om", range.0)]).unwrap(), 200.0);
    let follow = Follow { make: &make, options: options(multiple), start: 0.0, range };
    follow.run(&guess, &|| false, &|| {}).unwrap()
}

/// The doublings at 2.663189976 and 2.741251628, and the unstable orbit inside the chaotic attractor.
#[test]
fn doublings_of_the_literature() {
    let branch = follow(1, (2.5, 2.8, 12));
    let doubling = branch.specials.iter().find(|s| s.kind == Kind::PeriodDoubling).unwrap();
    assert!((doubling.orbit.parameter - 2.663189976).abs() < 2e-9, "{:.12}", doubling.orbit.parameter);
    assert_eq!(branch.specials.len(), 1);
    let last = branch.orbits.last().unwrap();
    assert!(branch.ended.is_none() && last.stability == Stability::Flip && (last.parameter - 2.8).abs() < 1e-12);
    let at = last;
    assert!((at.impacts[0].2 + 0.351814056).abs() < 1e-8, "{at:?}");
    assert!((at.multipliers[0].0 + 2.376523).abs() < 1e-6 && (at.multipliers[1].0 + 0.16474).abs() < 1e-5, "{at:?}");
    let branch = follow(2, (2.70, 2.75, 5));
    let doubling = branch.specials.iter().find(|s| s.kind == Kind::PeriodDoubling).unwrap();
    assert!((doubling.orbit.parameter - 2.741251628).abs() < 2e-9, "{:.12}", doubling.orbit.parameter);
}

/// A wall below the free response: its clearance is known, and following the wall upwards ends in grazing at −1/√((1−ω²)²+4α²ω²).
#[test]
fn grazing_of_the_free_response() {
    let (al, om) = (0.05f64, 2.5f64);
    let amplitude = 1.0 / ((1.0 - om * om).powi(2) + 4.0 * al * al * om * om).sqrt();
    let base = scene(&[("um", -0.25)]);
    let make = |value: f64| {
        let scene = base.with(&[("um", value)]).map_err(|all| StudyError::Build(all[0].to_string()))?;
        Ok(case(&scene, &["um"]))
    };
    let guess = settled(&base, 200.0);
    let first = find(&mut make(-0.25).unwrap(), -0.25, &guess, &options(1)).unwrap();
    assert!((first.clearance - (0.25 - amplitude)).abs() < 1e-8 && first.impacts.is_empty(), "{first:?}");
    let multiplier = (-al * std::f64::consts::TAU / om).exp();
    assert!((first.multipliers[0].0.hypot(first.multipliers[0].1) - multiplier).abs() < 1e-10);
    let follow = Follow { make: &make, options: options(1), start: 0.0, range: (-0.25, -0.1, 10) };
    let branch = follow.run(&guess, &|| false, &|| {}).unwrap();
    let grazing = branch.specials.iter().find(|s| s.kind == Kind::Grazing).unwrap();
    assert!((grazing.orbit.parameter + amplitude).abs() < 1e-6, "{} {amplitude}", grazing.orbit.parameter);
}

#[test]
fn nonsense_is_refused() {
    let scene = scene(&[]);
    let mut case = case(&scene, &[]);
    let guess = scene.initial.clone();
    assert!(find(&mut case, 0.0, &guess, &options(0)).is_err());
    assert!(find(&mut case, 0.0, &guess, &Options { tolerance: 0.0, ..options(1) }).is_err());
    let few = Options { iterations: 1, ..options(1) };
    assert!(matches!(find(&mut case, 0.0, &guess, &few), Err(StudyError::NoOrbit { .. })));
}
