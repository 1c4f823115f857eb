//! A ball on a vibrating table: impacts at the phase of the strobe, doublings of doublings.

use super::model::{load, over, strobe, with};
use carom::State;
use carom_analysis::study::StudyError;
use carom_analysis::study::orbit::{Branch, Follow, Options, SpecialKind, find};
use carom_scene::{Overrides, Scene, from_str};
use std::f64::consts::{PI, TAU};

const TABLE: &str = r#"
version = 1
name = "ball on a table"
[parameters]
a = 1.5
e = 0.4
g = 1.0
period = "2*pi"
[model]
kind = "lagrangian"
coordinates = ["y"]
kinetic = "y'^2/2"
potential = "g*y"
[[contact]]
name = "table"
gap = "y - a*sin(t)"
restitution = "e"
[initial]
y = 3.0
[simulation]
end = "period"
step = "period/50"
"#;

/// The amplitude at which one impact per period begins: a cos φ = π g (1 − e)/(1 + e) has a solution φ.
fn fold(e: f64) -> f64 {
    PI * (1.0 - e) / (1.0 + e)
}

/// The state at the phase 0 of the orbit with one impact per period, at the phase φ.
fn single(a: f64, e: f64) -> State {
    let phase = (fold(e) / a).acos();
    let s = TAU - phase;
    State::new(0.0, &[a * phase.sin() + PI * s - 0.5 * s * s], &[PI - s])
}

fn follow(scene: &Scene, guess: &State, range: (f64, f64, usize), multiple: usize) -> Branch {
    let make = over(scene, "a", |scene| strobe(scene, &["a"]));
    let follow = Follow { make: &make, options: Options::new(multiple), start: guess.t, range };
    follow.run(guess, &|| false, &|| {}).unwrap()
}

/// At the fold the impact is at the phase 0, where states are taken: the phase is moved, and no state is inside the
/// table.
#[test]
fn the_phase_moves_when_an_impact_comes_to_it() {
    for e in [0.4, 0.5] {
        let (first, last) = (1.12 * fold(e), 0.9 * fold(e));
        let scene = with(&load(TABLE), &[("e", e), ("a", first)]);
        let branch = follow(&scene, &single(first, e), (first, last, 40), 1);
        let folds: Vec<f64> =
            branch.specials.iter().filter(|s| s.kind == SpecialKind::Fold).map(|s| s.orbit.parameter).collect();
        assert!(folds.len() == 1 && (folds[0] - fold(e)).abs() < 1e-8, "{e}: {folds:?}, {:?}", branch.ended);
        assert!(branch.orbits.iter().any(|orbit| orbit.start != 0.0), "the phase has not moved");
        for orbit in &branch.orbits {
            let gap = orbit.state[0] - orbit.parameter * orbit.start.sin();
            assert!(gap > 0.0 && orbit.impacts.len() == 1, "{e}: a = {}: {gap}", orbit.parameter);
            // the impact at the phase that the closed form has, of either branch
            let phase = (orbit.start + orbit.impacts[0].0).sin();
            let exact = (1.0 - (fold(e) / orbit.parameter).powi(2)).max(0.0).sqrt();
            assert!((phase.abs() - exact).abs() < 1e-6, "{e}: a = {}: {phase} {exact}", orbit.parameter);
        }
        // both of them: after the fold the branch comes back to where it began
        let sines: Vec<f64> = branch.orbits.iter().map(|o| (o.start + o.impacts[0].0).sin()).collect();
        assert!(sines.iter().any(|s| *s > 0.1) && sines.iter().any(|s| *s < -0.1), "{e}");
        assert!(branch.orbits.len() < 200, "{e}: {} orbits", branch.orbits.len());
    }
}

#[test]
fn a_start_inside_the_table_is_refused() {
    let scene = with(&load(TABLE), &[("a", 1.5)]);
    let inside = State::new(0.0, &[-0.2], &[0.1]);
    let error = find(&mut strobe(&scene, &[]), 0.0, &inside, &Options::new(1)).unwrap_err();
    assert!(matches!(&error, StudyError::Inside { contact, gap, .. } if contact == "table" && *gap < -0.1), "{error}");
}

/// An orbit of one round is none of two.
#[test]
fn orbits_of_fewer_rounds_are_refused() {
    let scene = with(&load(TABLE), &[("a", 1.5)]);
    for multiple in [2, 3, 4, 6] {
        let error = find(&mut strobe(&scene, &[]), 0.0, &single(1.5, 0.4), &Options::new(multiple)).unwrap_err();
        assert_eq!(error, StudyError::Shorter { rounds: multiple, least: 1 });
    }
}

/// Doublings for e = 1/2, from an independent continuation of the impact map.
const DOUBLINGS: [f64; 5] = [1.526823701, 1.667130661, 1.696780746, 1.703180526, 1.704556469];

/// Doubled orbits are found at each doubling, and stay doubled.
fn doublings(levels: usize, values: usize) {
    let (scene, e) = (with(&load(TABLE), &[("e", 0.5), ("a", 1.2)]), 0.5);
    let make = over(&scene, "a", |scene| strobe(scene, &["a"]));
    let guess = single(1.2, e);
    let mut follow = Follow { make: &make, options: Options::new(1), start: guess.t, range: (1.2, 1.9, values) };
    let mut branch = follow.run(&guess, &|| false, &|| {}).unwrap();
    for (level, expected) in DOUBLINGS.iter().enumerate().take(levels + 1) {
        let found: Vec<_> = branch.specials.iter().filter(|s| s.kind == SpecialKind::PeriodDoubling).collect();
        let first = found.first().unwrap_or_else(|| panic!("{} rounds: {:?}", 1 << level, branch.ended));
        assert!((first.orbit.parameter - expected).abs() < 2e-9, "{} rounds: {}", 1 << level, first.orbit.parameter);
        if level < levels {
            let point = (*first).clone();
            let (next, options) = follow.switch(&point, &|| false, &|| {}).unwrap();
            assert_eq!(options.multiple, 2 << level);
            (branch, follow.options) = (next, options);
        }
    }
}

#[test]
fn doublings_of_doublings_are_found() {
    doublings(3, 60);
}

#[test]
#[ignore = "long: orbits of sixteen rounds in many steps"]
fn the_fifth_doubling_is_found() {
    doublings(4, 600);
}

/// A ball that rests where states are taken starts on the table, not a rounding above it: the impacts of its orbit are
/// those of its one flight. It leaves where a sin t = g, and comes back where its parabola meets the table.
#[test]
fn a_ball_at_rest_at_the_section_has_no_impacts_there() {
    for (a, e) in [(1.2, 0.2), (1.5, 0.0), (1.3, 0.3)] {
        let scheme = Some("event-driven".into());
        let scene = from_str("test.toml", TABLE, &Overrides { scheme, ..Overrides::default() }).unwrap();
        let scene = with(&scene, &[("a", a), ("e", e)]);
        let mut motion = scene.sensitivity(&[]).unwrap();
        motion.set_columns(0);
        (1..=20).for_each(|k| motion.advance(f64::from(k) * TAU).unwrap());
        let guess = State { t: 0.0, ..motion.state().clone() };
        let orbit = find(&mut strobe(&scene, &[]), 0.0, &guess, &Options::new(1)).unwrap();
        assert!((orbit.state[0]).abs() < 1e-10 && (orbit.state[1] - a).abs() < 1e-10, "{:?}", orbit.state);
        let start = (1.0 / a).asin();
        let gap = |t: f64| 1.0 + a * start.cos() * (t - start) - 0.5 * (t - start).powi(2) - a * t.sin();
        let (mut low, mut high) = (start + 0.5, start + 4.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if gap(middle) > 0.0 { low = middle } else { high = middle }
        }
        let first = orbit.impacts[0].0;
        assert!((first - low).abs() < 1e-8, "a = {a}: the first impact is at {first}, not at {low}");
        assert_eq!(orbit.rests, 1);
    }
}
