//! Periodic orbits of the impact oscillator against closed forms and verified numbers.

use super::model::{orbit, oscillator, over, settled, strobe, with};
use carom_analysis::study::StudyError;
use carom_analysis::study::orbit::{Branch, Follow, Options, SpecialKind, Stability, find};

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

fn follow(multiple: usize, range: (f64, f64, usize)) -> Branch {
    let base = oscillator(&[]);
    let make = over(&base, "om", |scene| strobe(scene, &["om"]));
    let guess = settled(&with(&base, &[("om", range.0)]), 200.0);
    let follow = Follow { make: &make, options: Options::new(multiple), start: 0.0, range };
    follow.run(&guess, &|| false, &|| {}).unwrap()
}

/// The doublings at 2.663189976 and 2.741251628, and the unstable orbit inside the chaotic attractor.
#[test]
fn doublings_of_the_literature() {
    let branch = follow(1, (2.5, 2.8, 12));
    let doubling = branch.specials.iter().find(|s| s.kind == SpecialKind::PeriodDoubling).unwrap();
    assert!((doubling.orbit.parameter - 2.663189976).abs() < 2e-9, "{:.12}", doubling.orbit.parameter);
    assert_eq!(branch.specials.len(), 1);
    let last = branch.orbits.last().unwrap();
    assert!(branch.ended.is_none() && last.stability == Stability::Flip && (last.parameter - 2.8).abs() < 1e-12);
    let at = last;
    assert!((at.impacts[0].2 + 0.351814056).abs() < 1e-8, "{at:?}");
    assert!((at.multipliers[0].0 + 2.376523).abs() < 1e-6 && (at.multipliers[1].0 + 0.16474).abs() < 1e-5, "{at:?}");
    let branch = follow(2, (2.70, 2.75, 5));
    let doubling = branch.specials.iter().find(|s| s.kind == SpecialKind::PeriodDoubling).unwrap();
    assert!((doubling.orbit.parameter - 2.741251628).abs() < 2e-9, "{:.12}", doubling.orbit.parameter);
}

#[test]
fn nonsense_is_refused() {
    let scene = oscillator(&[]);
    let mut case = strobe(&scene, &[]);
    let guess = scene.initial.clone();
    assert!(find(&mut case, 0.0, &guess, &Options::new(0)).is_err());
    assert!(find(&mut case, 0.0, &guess, &Options { tolerance: 0.0, ..Options::new(1) }).is_err());
    let few = Options { iterations: 1, ..Options::new(1) };
    assert!(matches!(find(&mut case, 0.0, &guess, &few), Err(StudyError::NoOrbit { .. })));
}
