//! Folds, grazing, Neimark-Sacker points and branches that cross, located and compared with closed forms and
//! differences.

use super::model::{load, oscillator, over, settled, strobe, with};
use carom::State;
use carom_analysis::study::orbit::{Follow, Options, Orbit, SpecialKind, Stability, find};
use carom_scene::Scene;
use nalgebra::DMatrix;
use std::f64::consts::TAU;

/// One-impact orbits of the oscillator over n periods in closed form: amplitudes obey the quadratic
/// (um − A)² + k² A² = R², whose two roots meet where um = −R √(1 + 1/k²).
struct ClosedForm {
    al: f64,
    om: f64,
    e: f64,
}

impl ClosedForm {
    /// Amplitude of the free response.
    fn response(&self) -> f64 {
        1.0 / ((1.0 - self.om * self.om).powi(2) + 4.0 * self.al * self.al * self.om * self.om).sqrt()
    }

    /// Velocities per A of the homogeneous part just after and just before impacts, of the forced part per A, and B/A.
    fn slopes(&self) -> [f64; 4] {
        let (wd, tau) = ((1.0 - self.al * self.al).sqrt(), TAU / self.om);
        let (c, s, decay) = ((wd * tau).cos(), (wd * tau).sin(), (-self.al * tau).exp());
        let ratio = (1.0 - decay * c) / (decay * s);
        let after = wd * ratio - self.al;
        let before = decay * (after * c - (self.al * ratio + wd) * s);
        [after, before, -(after + self.e * before) / (1.0 + self.e), ratio]
    }

    fn fold(&self) -> f64 {
        let k = self.slopes()[2] / self.om;
        -self.response() * (1.0 + 1.0 / (k * k)).sqrt()
    }

    /// A at a wall, of the branch with this sign.
    fn amplitude(&self, um: f64, sign: f64) -> f64 {
        let (k, r) = (self.slopes()[2] / self.om, self.response());
        let square = um * um - (1.0 + k * k) * (um * um - r * r);
        (um + sign * square.max(0.0).sqrt()) / (1.0 + k * k)
    }

    /// v⁻ there.
    fn velocity(&self, um: f64, sign: f64) -> f64 {
        let [_, before, forced, _] = self.slopes();
        self.amplitude(um, sign) * (before + forced)
    }

    /// State at the phase zero of the forcing.
    fn at_phase_zero(&self, um: f64, sign: f64) -> State {
        let [_, _, forced, ratio] = self.slopes();
        let a = self.amplitude(um, sign);
        // forced part P cos(om s) + Q sin(om s) from the impact on is Re of the response to cos(om (t_c + s))
        let (p, q) = (um - a, a * forced / self.om);
        let (om, al) = (self.om, self.al);
        let lag = (2.0 * al * om).atan2(1.0 - om * om);
        // P = R cos(om t_c − lag), Q = −R sin(om t_c − lag)
        let phase = (-q).atan2(p) + lag;
        let (wd, s) = ((1.0 - al * al).sqrt(), (-phase / om).rem_euclid(TAU / om));
        let (c, d, decay) = ((wd * s).cos(), (wd * s).sin(), (-al * s).exp());
        let b = ratio * a;
        let u = decay * (a * c + b * d) + p * (om * s).cos() + q * (om * s).sin();
        let v =
            decay * ((wd * b - al * a) * c - (al * b + wd * a) * d) + om * (q * (om * s).cos() - p * (om * s).sin());
        State::new(0.0, &[u], &[v])
    }
}

/// The wall moves away from the mass until the orbit turns at the fold, and comes back to where it grazes.
#[test]
fn a_fold_with_both_branches_and_grazing_at_the_end() {
    let exact = ClosedForm { al: 0.05, om: 1.5, e: 0.8 };
    let base = oscillator(&[("al", 0.05), ("om", 1.5), ("e", 0.8)]);
    let make = over(&base, "um", |scene| strobe(scene, &["um"]));
    let follow = Follow { make: &make, options: Options::new(1), start: 0.0, range: (-0.6, -3.0, 24) };
    let branch = follow.run(&exact.at_phase_zero(-0.6, -1.0), &|| false, &|| {}).unwrap();
    let folds: Vec<&Orbit> = branch.specials.iter().filter(|s| s.kind == SpecialKind::Fold).map(|s| &s.orbit).collect();
    assert_eq!(folds.len(), 1, "{:?}", branch.ended);
    assert!((folds[0].parameter - exact.fold()).abs() < 1e-9, "{} {}", folds[0].parameter, exact.fold());
    assert!(folds[0].multipliers.iter().any(|z| (z.0 - 1.0).abs() < 1e-5 && z.1 == 0.0), "{:?}", folds[0].multipliers);
    // before the fold one root of the quadratic, after it the other
    let lowest = |a: &usize, b: &usize| branch.orbits[*a].parameter.total_cmp(&branch.orbits[*b].parameter);
    let last = (0..branch.orbits.len()).min_by(lowest).unwrap();
    let turn = last + usize::from(branch.orbits[last].stability == Stability::Stable);
    let mut seen = [0, 0];
    for (k, orbit) in branch.orbits.iter().enumerate() {
        let side = usize::from(k >= turn);
        let v = exact.velocity(orbit.parameter, [-1.0, 1.0][side]);
        assert!((orbit.impacts[0].2 - v).abs() < 1e-8, "{k}: {} {v}", orbit.impacts[0].2);
        seen[side] += 1;
    }
    assert!(seen[0] > 15 && seen[1] > 15, "{seen:?}");
    assert_eq!(branch.orbits[turn - 1].stability, Stability::Stable);
    assert_eq!(branch.orbits[turn + 1].stability, Stability::Fold);
    let grazing = branch.specials.iter().find(|s| s.kind == SpecialKind::Grazing).unwrap();
    let missed = grazing.orbit.parameter + exact.response();
    assert!(missed.abs() < 1e-8, "{missed:e}");
}

/// A wall below the free response: its clearance is known, and following the wall upwards ends in grazing at
/// −1/√((1−ω²)²+4α²ω²).
#[test]
fn grazing_of_the_free_response() {
    let (al, om) = (0.05f64, 2.5f64);
    let amplitude = ClosedForm { al, om, e: 0.7 }.response();
    let base = oscillator(&[("um", -0.25)]);
    let make = over(&base, "um", |scene| strobe(scene, &["um"]));
    let guess = settled(&base, 200.0);
    let first = find(&mut make(-0.25).unwrap(), -0.25, &guess, &Options::new(1)).unwrap();
    assert!((first.clearance - (0.25 - amplitude)).abs() < 1e-8 && first.impacts.is_empty(), "{first:?}");
    let multiplier = (-al * TAU / om).exp();
    assert!((first.multipliers[0].0.hypot(first.multipliers[0].1) - multiplier).abs() < 1e-10);
    let follow = Follow { make: &make, options: Options::new(1), start: 0.0, range: (-0.25, -0.1, 10) };
    let branch = follow.run(&guess, &|| false, &|| {}).unwrap();
    let grazing = branch.specials.iter().find(|s| s.kind == SpecialKind::Grazing).unwrap();
    assert!((grazing.orbit.parameter + amplitude).abs() < 1e-6, "{} {amplitude}", grazing.orbit.parameter);
}

/// The doubled orbits behind 2.663189976 are followed to their own doubling at 2.741251628, and those to the next.
#[test]
fn doubled_orbits_are_followed_from_the_doubling() {
    let base = oscillator(&[]);
    let make = over(&base, "om", |scene| strobe(scene, &["om"]));
    let follow = Follow { make: &make, options: Options::new(1), start: 0.0, range: (2.64, 2.76, 12) };
    let single = follow.run(&settled(&oscillator(&[("om", 2.64)]), 200.0), &|| false, &|| {}).unwrap();
    let doubling = single.specials.iter().find(|s| s.kind == SpecialKind::PeriodDoubling).unwrap();
    assert!((doubling.orbit.parameter - 2.663189976).abs() < 2e-9);
    let (double, options) = follow.switch(doubling, &|| false, &|| {}).unwrap();
    assert_eq!(options.multiple, 2);
    let first = &double.orbits[0];
    assert!(first.parameter > 2.663189976 && first.parameter < 2.6635 && first.impacts.len() == 2, "{first:?}");
    assert!(double.orbits.iter().all(|o| (o.period - 2.0 * TAU / o.parameter).abs() < 1e-9));
    let second = double.specials.iter().find(|s| s.kind == SpecialKind::PeriodDoubling).unwrap();
    assert!((second.orbit.parameter - 2.741251628).abs() < 2e-9, "{:.12}", second.orbit.parameter);
    let stable = |o: &&Orbit| o.stability == Stability::Stable;
    assert!(double.orbits.iter().filter(stable).all(|o| o.parameter < 2.741251629));
    // the attractors of the literature lie on the branch, at any phase of the section
    let follow = Follow { make: &make, options: Options::new(2), start: 0.0, range: (2.70, 2.72, 1) };
    let direct = follow.run(&settled(&oscillator(&[("om", 2.70)]), 200.0), &|| false, &|| {}).unwrap();
    for (om, speed) in direct.orbits.iter().map(|o| (o.parameter, o.slowest)) {
        let side = double.orbits.windows(2).find(|w| w[0].parameter <= om && om <= w[1].parameter).unwrap();
        let (low, high) = (side[0].slowest.min(side[1].slowest), side[0].slowest.max(side[1].slowest));
        assert!(speed >= low - 1e-3 && speed <= high + 1e-3, "{om}: {low} {speed} {high}");
    }
}

/// Two masses on springs, the first of which strikes a wall.
const PAIR: &str = r#"
version = 1
name = "two masses"
[parameters]
om = 2.4
c = 0.02
e = 0.6
period = "2*pi/om"
[model]
kind = "linear"
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
damping = [["2*c", "-c"], ["-c", "c"]]
stiffness = [[2, -1], [-1, 1]]
force.x = "cos(om*t)"
[[contact]]
name = "wall"
gap = "x"
restitution = "e"
[initial]
x = 0.5
[simulation]
end = 10
step = 0.1
"#;

/// Largest modulus of the eigenvalues of the map over a period, whose derivative is taken by fourth-order differences
/// of the motion alone.
fn largest_by_differences(scene: &Scene, orbit: &Orbit) -> f64 {
    let mut motion = scene.sensitivity(&[]).unwrap();
    motion.set_columns(0);
    let mut map = |x: &[f64]| {
        motion.restart(&State::new(0.0, &x[..2], &x[2..]));
        motion.advance(orbit.period).unwrap();
        [motion.state().q.as_slice(), &motion.state().v].concat()
    };
    let mut derivative = DMatrix::zeros(4, 4);
    let d = 1e-3;
    for j in 0..4 {
        for (k, weight) in [(-2.0, 1.0 / 12.0), (-1.0, -2.0 / 3.0), (1.0, 2.0 / 3.0), (2.0, -1.0 / 12.0)] {
            let mut x = orbit.state.clone();
            x[j] += k * d;
            map(&x).iter().enumerate().for_each(|(i, value)| derivative[(i, j)] += weight * value / d);
        }
    }
    derivative.complex_eigenvalues().iter().fold(0.0, |m, z| m.max(z.norm()))
}

#[test]
fn a_neimark_sacker_point_of_two_masses() {
    let base = load(PAIR);
    let make = over(&base, "om", |scene| strobe(scene, &["om"]));
    let guess = settled(&base, 400.0);
    let follow = Follow { make: &make, options: Options::new(1), start: 0.0, range: (2.4, 2.7, 10) };
    let branch = follow.run(&guess, &|| false, &|| {}).unwrap();
    let points: Vec<&Orbit> =
        branch.specials.iter().filter(|s| s.kind == SpecialKind::NeimarkSacker).map(|s| &s.orbit).collect();
    let [point] = points[..] else { panic!("{:?} {:?}", branch.specials, branch.ended) };
    let (re, im) = point.multipliers[0];
    assert!((re.hypot(im) - 1.0).abs() < 1e-10 && im > 0.5, "{:?}", point.multipliers);
    // differences see the pair cross the circle within 1e-6 of the place
    let miss = [-1e-6, 1e-6].map(|by| {
        let scene = with(&base, &[("om", point.parameter + by)]);
        let near = State::new(0.0, &point.state[..2], &point.state[2..]);
        let orbit = find(&mut strobe(&scene, &[]), 0.0, &near, &Options::new(1)).unwrap();
        largest_by_differences(&scene, &orbit) - 1.0
    });
    assert!(miss[0] * miss[1] < 0.0, "{miss:?} at {}", point.parameter);
    let crossing = point.parameter - 1e-6 - 2e-6 * miss[0] / (miss[1] - miss[0]);
    assert!((point.parameter - crossing).abs() < 1e-9, "{} {crossing}", point.parameter);
    let sides = [branch.orbits.first(), branch.orbits.last()].map(|o| o.unwrap().stability);
    assert!(sides.contains(&Stability::Stable) && sides.contains(&Stability::NeimarkSacker), "{sides:?}");
}
