//! Edges by every method, with every flow, found by regions and by dependent rows, concave and convex, in both
//! directions.
//!
//! Unit mass at q = (z, x) over z = 0 for x < 0 and z = k x + c x² for x > 0. What has no meaning: convex edges without
//! regions (both constraints at once would forbid the descent), and methods of sorting at a kink where the second
//! ground closes by its gap (its rows are independent, it is an impact).

use crate::{Log, run};
use carom::model::dual::{DualLagrangian, Functions, NamedLaw, Scalar};
use carom::model::{Contact, Lagrangian};
use carom::scheme::EventDriven;
use carom::scheme::event_driven::{Control, EdgeMethod, Flow};
use carom::{EventKind, Key, State};
use carom_solve::Law;

const G: f64 = 9.81;

/// How the two grounds know of each other.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Known {
    /// Each one counts on its side of the edge.
    Regions,
    /// Both count everywhere and the second one lies below the first for x < 0, z ≥ k x + c x|x|: it closes at the
    /// edge, with the same rows where k = 0.
    Meeting,
    /// Both count everywhere and are one for x < 0: redundant until they part.
    Redundant,
}

#[derive(Clone, Copy, Debug)]
struct Terrain {
    slope: f64,
    curvature: f64,
    known: Known,
}

impl Functions for Terrain {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        (v[0] * v[0] + v[1] * v[1]) * 0.5
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        q[0] * G
    }
    fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
        let (z, x) = (q[0], q[1]);
        out[0] = z;
        let beyond = x.re() > 0.0;
        let sign = if self.known == Known::Meeting && !beyond { -1.0 } else { 1.0 };
        out[1] = if self.known == Known::Redundant && !beyond {
            z
        } else {
            z - x * self.slope - x * x * (sign * self.curvature)
        };
    }
    fn region<D: Scalar>(&self, law: usize, _t: D, q: &[D]) -> D {
        match (self.known, law) {
            (Known::Regions, 0) => -q[1],
            (Known::Regions, _) => q[1],
            _ => D::from(f64::INFINITY),
        }
    }
    fn laws(&self) -> Vec<NamedLaw> {
        ["flat", "second"].map(|name| NamedLaw::new(name, Law::UNILATERAL)).to_vec()
    }
}

/// Every method with every flow; tolerances 1e-11.
fn schemes() -> impl Iterator<Item = EventDriven> {
    [EdgeMethod::Contact, EdgeMethod::Lcp, EdgeMethod::Sort].into_iter().flat_map(|edge| {
        [Flow::Hem5, Flow::Rkf45, Flow::Dop853].map(|flow| EventDriven {
            edge,
            flow,
            atol: Some(1e-11),
            rtol: 0.0,
            ..EventDriven::default()
        })
    })
}

fn go(terrain: Terrain, scheme: &EventDriven, (q, v): ([f64; 2], [f64; 2]), end: f64) -> Log {
    let model = DualLagrangian::new(terrain, State::new(0.0, &q, &v)).unwrap();
    run(model, scheme.clone(), end, 0.1)
}

fn near(state: &State, expected: [f64; 4], tolerance: f64, what: &str) {
    for (x, e) in state.q.iter().chain(&state.v).zip(expected) {
        assert!((x - e).abs() < tolerance, "{what}: {state:?}, expected {expected:?}");
    }
}

fn name(scheme: &EventDriven, terrain: &Terrain) -> String {
    format!("{:?} {:?} {:?}", scheme.edge, scheme.flow, terrain.known)
}

/// λ on z = c x² from the state.
fn pressure(c: f64, state: &State) -> f64 {
    (G + 2.0 * c * state.v[1] * state.v[1]) / (1.0 + 4.0 * c * c * state.q[1] * state.q[1])
}

/// Up the parabola and back (edge A of the specification): the numbers at 0.7 and 1, the multiplier at points, the way
/// back.
#[test]
fn concave_curvature_in_both_directions() {
    for scheme in schemes() {
        for known in [Known::Regions, Known::Meeting, Known::Redundant] {
            let terrain = Terrain { slope: 0.0, curvature: 1.0, known };
            let what = name(&scheme, &terrain);
            // where the second gap closes it has a double root at the edge: known to the root of its rounding alone
            let tolerance = if known == Known::Meeting { 1e-7 } else { 1e-8 };
            let start = ([0.0, -1.0], [0.0, 2.0]);
            let log = go(terrain, &scheme, start, 0.4);
            // one of two redundant contacts carries, or both share
            let flat = log.lambda(0) + if known == Known::Redundant { log.lambda(1) } else { 0.0 };
            assert!((flat - G).abs() < 1e-9, "{what}: {flat}");
            let log = go(terrain, &scheme, start, 0.7);
            near(log.last(), [0.109712542119, 0.331228836484, 0.750646581305, 1.133123838601], tolerance, &what);
            assert!((log.lambda(1) - 8.6026603314).abs() < 10.0 * tolerance && log.lambda(0) == 0.0, "{what}");
            let log = go(terrain, &scheme, start, 1.0);
            near(log.last(), [0.189437104480, 0.435243729972, -0.349433492173, -0.401422775459], tolerance, &what);
            assert!((log.lambda(1) - 5.7643519323).abs() < 10.0 * tolerance, "{what}");
            // the flat lets go at the edge, and there is nothing else but jumps of rounding of a double root
            let left = log.of(EventKind::TakeOff);
            assert!(left.len() == 1 && left[0].contact == Some(Key(0)), "{what}: {:?}", log.events);
            assert!((left[0].t - 0.5).abs() < 1e-7, "{what}: {:e}", left[0].t - 0.5);
            // just behind the edge
            let log = go(terrain, &scheme, start, 0.5 + 1e-4);
            assert!((log.lambda(1) - pressure(1.0, log.last())).abs() < 1e-6, "{what}: {}", log.lambda(1));
            assert!((log.lambda(1) - 17.81).abs() < 0.02, "{what}: {}", log.lambda(1));
            // symmetric about the turning point; then the flat again
            let log = go(terrain, &scheme, start, 1.6);
            let back = 2.0 * 0.918507065313 - 0.5;
            near(log.last(), [0.0, -2.0 * (1.6 - back), 0.0, -2.0], 1e-7, &what);
            let flat = log.lambda(0) + if known == Known::Redundant { log.lambda(1) } else { 0.0 };
            assert!((flat - G).abs() < 1e-7, "{what}: {flat}");
            assert!(log.of(EventKind::HandOver).is_empty(), "{what}");
            let drift = (log.energy[0] - log.energy[log.energy.len() - 1]).abs();
            assert!(drift < 1e-6, "{what}: {drift:e}");
        }
    }
}

/// Dropped onto the edge itself: the impact leaves both closed with the same rows, and the direction of motion decides
/// which one carries.
#[test]
fn impact_on_the_edge() {
    let fall = (2.0 * 0.5 / G).sqrt();
    for scheme in schemes() {
        for known in [Known::Meeting, Known::Redundant] {
            let terrain = Terrain { slope: 0.0, curvature: 1.0, known };
            let what = name(&scheme, &terrain);
            let log = go(terrain, &scheme, ([0.5, -2.0 * fall], [0.0, 2.0]), fall + 0.2);
            near(log.last(), [0.109712542119, 0.331228836484, 0.750646581305, 1.133123838601], 1e-7, &what);
            assert!((log.lambda(1) - 8.6026603314).abs() < 1e-6 && log.lambda(0) == 0.0, "{what}");
            let log = go(terrain, &scheme, ([0.5, 2.0 * fall], [0.0, -2.0]), fall + 0.2);
            near(log.last(), [0.0, -0.4, 0.0, -2.0], 1e-7, &what);
            let flat = log.lambda(0) + if known == Known::Redundant { log.lambda(1) } else { 0.0 };
            assert!((flat - G).abs() < 1e-7, "{what}: {flat}");
            assert!(log.of(EventKind::HandOver).is_empty(), "{what}");
        }
    }
}

/// Time from the edge to x along z = c x² at speed u over the edge: ∫ √((1 + 4c²x²)/(u² − 2 g c x²)) dx, by Simpson's
/// rule.
fn travel(c: f64, u: f64, x: f64) -> f64 {
    let slowness = |x: f64| ((1.0 + 4.0 * c * c * x * x) / (u * u - 2.0 * G * c * x * x)).sqrt();
    let n = 2000;
    let h = x / f64::from(n);
    let weight = |k: i32| if k == 0 || k == n { 1.0 } else { f64::from(2 + 2 * (k % 2)) };
    (0..=n).map(|k| weight(k) * slowness(h * f64::from(k))).sum::<f64>() * h / 3.0
}

/// A ground that bends away: slowly enough it is followed, with less pressure; faster than g/2 = v² the mass flies.
/// Regions alone.
#[test]
fn convex_curvature_in_both_directions() {
    let terrain = Terrain { slope: 0.0, curvature: -1.0, known: Known::Regions };
    for scheme in schemes() {
        let what = name(&scheme, &terrain);
        let log = go(terrain, &scheme, ([0.0, -1.0], [0.0, 2.0]), 0.8);
        let end = log.last();
        assert!((travel(-1.0, 2.0, end.q[1]) - 0.3).abs() < 1e-8, "{what}: {end:?}");
        assert!((end.q[0] + end.q[1] * end.q[1]).abs() < 1e-9, "{what}");
        assert!((log.lambda(1) - pressure(-1.0, end)).abs() < 1e-8 && log.lambda(1) > 0.0, "{what}");
        let kinds: Vec<_> = log.events.iter().map(|e| (e.kind, e.contact.map(|k| k.0))).collect();
        let expected = [
            (EventKind::Edge, Some(0)),
            (EventKind::Edge, Some(1)),
            (EventKind::TakeOff, Some(0)),
            (EventKind::Closing, Some(1)),
        ];
        assert_eq!(kinds, expected, "{what}");
        // just behind the edge: 9.81 − 2·4
        let log = go(terrain, &scheme, ([0.0, -1.0], [0.0, 2.0]), 0.5 + 1e-5);
        assert!((log.lambda(1) - 1.81).abs() < 1e-3, "{what}: {}", log.lambda(1));
        // upwards from x = 1/2 with the speed that is 2 on the flat
        let x = 0.5f64;
        let vx = -((4.0 + 2.0 * G * x * x) / (1.0 + 4.0 * x * x)).sqrt();
        let arrival = travel(-1.0, 2.0, x);
        let log = go(terrain, &scheme, ([-x * x, x], [-2.0 * x * vx, vx]), arrival + 0.25);
        near(log.last(), [0.0, -0.5, 0.0, -2.0], 1e-8, &what);
        assert!((log.lambda(0) - G).abs() < 1e-9, "{what}");
        assert!((log.of(EventKind::Edge)[0].t - arrival).abs() < 1e-9, "{what}");
        // v² = 9 > g/2: off, and never back
        let log = go(terrain, &scheme, ([0.0, -1.0], [0.0, 3.0]), 1.0);
        let s = 2.0 / 3.0;
        near(log.last(), [-0.5 * G * s * s, 2.0, -G * s, 3.0], 1e-9, &what);
        let kinds: Vec<_> = log.events.iter().map(|e| e.kind).collect();
        assert_eq!(kinds, [EventKind::Edge, EventKind::Edge, EventKind::TakeOff], "{what}");
    }
}

/// A ramp of 30 degrees: upwards 3/4 of vx is left, downwards the mass hits the flat and keeps vx (edge B of the
/// specification).
#[test]
fn concave_kink_in_both_directions() {
    let k = (std::f64::consts::PI / 6.0).tan();
    for scheme in schemes() {
        for known in [Known::Regions, Known::Meeting, Known::Redundant] {
            let terrain = Terrain { slope: k, curvature: 0.0, known };
            let what = name(&scheme, &terrain);
            let log = go(terrain, &scheme, ([0.0, -1.0], [0.0, 2.0]), 0.6);
            let impacts = log.of(EventKind::Impact);
            assert!(impacts.len() == 1 && impacts[0].contact == Some(Key(1)), "{what}: {:?}", log.events);
            assert!((impacts[0].t - 0.5).abs() < 1e-12, "{what}: {:e}", impacts[0].t - 0.5);
            let v = &impacts[0].after.v;
            assert!((v[0] - 0.75f64.sqrt()).abs() < 1e-12 && (v[1] - 1.5).abs() < 1e-12, "{what}: {v:?}");
            assert!((log.lambda(1) - 7.3575).abs() < 1e-9 && log.lambda(0) == 0.0, "{what}");
            // down from x = 1/2 at −1: x = 1/2 − s − b s²/2 with b = g sin 30° cos 30°
            let b = G * 3f64.sqrt() / 4.0;
            let arrival = ((1.0 + b).sqrt() - 1.0) / b;
            let speed = 1.0 + b * arrival;
            let log = go(terrain, &scheme, ([0.5 * k, 0.5], [-k, -1.0]), arrival + 0.1);
            near(log.last(), [0.0, -0.1 * speed, 0.0, -speed], 1e-9, &what);
            if known == Known::Redundant {
                // the two are one again: only the pressure jumps, and the impact is that of the ramp that turned flat
                assert!((log.lambda(0) + log.lambda(1) - G).abs() < 1e-8, "{what}");
                continue;
            }
            let impacts = log.of(EventKind::Impact);
            assert!(impacts.len() == 1 && impacts[0].contact == Some(Key(0)), "{what}: {:?}", log.events);
            assert!((impacts[0].t - arrival).abs() < 1e-11, "{what}: {:e}", impacts[0].t - arrival);
            assert!((log.lambda(0) - G).abs() < 1e-9, "{what}");
        }
    }
}

/// The mass flies over a convex kink in either direction and lands where its parabola meets the ground. Regions alone.
#[test]
fn convex_kink_in_both_directions() {
    let terrain = Terrain { slope: -1.0, curvature: 0.0, known: Known::Regions };
    for scheme in schemes() {
        let what = name(&scheme, &terrain);
        // −g s²/2 = −2 s
        let log = go(terrain, &scheme, ([0.0, -1.0], [0.0, 2.0]), 1.2);
        let landing = log.of(EventKind::Impact)[0];
        assert!((landing.t - 0.5 - 4.0 / G).abs() < 1e-11, "{what}: {:e}", landing.t - 0.5 - 4.0 / G);
        assert_eq!(landing.contact, Some(Key(1)), "{what}");
        // up the slope from x = 1/4: along it the speed falls by g/2 per unit of time in each coordinate; then 2 vz/g
        // in the air
        let (x, u) = (0.25, 2.5);
        let arrival = (u - (u * u - G * x).sqrt()) / (0.5 * G);
        let up = u - 0.5 * G * arrival;
        let log = go(terrain, &scheme, ([-x, x], [u, -u]), 1.2);
        let edges: Vec<f64> = log.of(EventKind::Edge).iter().map(|e| e.t).collect();
        assert!(edges.len() == 2 && edges.iter().all(|t| (t - arrival).abs() < 1e-11), "{what}: {edges:?} {arrival}");
        let landing = log.of(EventKind::Impact)[0];
        assert!((landing.t - arrival - 2.0 * up / G).abs() < 1e-11 && landing.contact == Some(Key(0)), "{what}");
        assert!((landing.after.v[1] + up).abs() < 1e-11 && landing.after.v[0].abs() < 1e-14, "{what}");
    }
}

/// Steps that the scheme does not choose are cut at the edge all the same.
#[test]
fn fixed_steps_end_at_the_edge() {
    for scheme in schemes() {
        for known in [Known::Regions, Known::Redundant] {
            let terrain = Terrain { slope: 0.0, curvature: 1.0, known };
            let scheme = EventDriven { control: Control::Fixed, ..scheme.clone() };
            let what = name(&scheme, &terrain);
            let model = DualLagrangian::new(terrain, State::new(0.0, &[0.0, -1.0], &[0.0, 2.0])).unwrap();
            let log = run(model, scheme, 0.7, 0.013);
            // order 5 with steps of 0.013 on accelerations of 18
            near(log.last(), [0.109712542119, 0.331228836484, 0.750646581305, 1.133123838601], 1e-6, &what);
            let left = log.of(EventKind::TakeOff);
            assert!(left.len() == 1 && (left[0].t - 0.5).abs() < 1e-9, "{what}: {:?}", log.events);
        }
    }
}

/// A bilateral constraint takes part where contacts are sorted out: a second mass is coupled to x, the pressure at the
/// edge is the same.
#[test]
fn bilateral_constraints_take_part() {
    struct Coupled(Terrain);
    impl Functions for Coupled {
        fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
            (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) * 0.5
        }
        fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
            q[0] * G
        }
        fn outputs<D: Scalar>(&self, t: D, q: &[D], out: &mut [D]) {
            self.0.outputs(t, &q[..2], &mut out[..2]);
            out[2] = q[1] - q[2];
        }
        fn laws(&self) -> Vec<NamedLaw> {
            let mut laws = self.0.laws();
            laws.push(NamedLaw::new("rod", Law::EQUALITY));
            laws
        }
    }
    for scheme in schemes() {
        for known in [Known::Meeting, Known::Redundant] {
            let terrain = Terrain { slope: 0.0, curvature: 1.0, known };
            let what = name(&scheme, &terrain);
            let start = State::new(0.0, &[0.0, -1.0, -1.0], &[0.0, 2.0, 2.0]);
            let model = DualLagrangian::new(Coupled(terrain), start).unwrap();
            let log = run(model, scheme.clone(), 0.5 + 1e-5, 0.1);
            assert!(
                (log.lambda(1) - 17.81).abs() < 1e-2 && log.lambda(0) == 0.0,
                "{what}: {:?}",
                log.multipliers.last()
            );
            assert_eq!(log.of(EventKind::TakeOff).len(), 1, "{what}");
            // half of the curvature term pulls the second mass: λ_rod = λ x to first order, at x = 2e-5
            assert!(log.lambda(2).abs() < 1e-2, "{what}");
            assert!(log.of(EventKind::HandOver).is_empty(), "{what}");
        }
    }
}

/// Two contacts that are one, with rows by differences: no rounding makes them part.
#[test]
fn redundant_contacts_by_differences_stay_together() {
    for scheme in schemes() {
        let bowl = |name: &str| Contact::new(name, |_, q| q[0] - q[1] * q[1]);
        let model = Lagrangian::new(2)
            .force(|_, _, _, f| f.copy_from_slice(&[-G, 0.0]))
            .potential(|q| G * q[0])
            .contact(bowl("one"))
            .contact(bowl("other"))
            .initial(&[0.25, 0.5], &[0.0, 0.0]);
        let scheme = EventDriven { atol: Some(1e-8), rtol: 0.0, ..scheme };
        let log = run(model, scheme.clone(), 3.0, 0.1);
        let what = format!("{:?} {:?}", scheme.edge, scheme.flow);
        assert!(log.events.is_empty(), "{what}: {:?}", log.events[0]);
        let end = log.last();
        assert!((end.q[0] - end.q[1] * end.q[1]).abs() < 1e-6, "{what}: {end:?}");
        let drift = (log.energy[0] - log.energy[log.energy.len() - 1]).abs();
        assert!(drift < 1e-5, "{what}: {drift:e}");
    }
}
