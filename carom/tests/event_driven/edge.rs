//! Geometric discontinuities: a flat joined to a parabola, a kink, and the end of a table.

use crate::run;
use carom::model::dual::{DualLagrangian, Functions, NamedLaw, Scalar};
use carom::scheme::EventDriven;
use carom::scheme::event_driven::EdgeMethod;
use carom::{EventKind, Key, State};
use carom_solve::Law;

const G: f64 = 9.81;

/// Unit mass at q = (z, x) over a ground of two parts that meet at x = 0.
#[derive(Clone, Copy)]
struct Ground {
    /// Slope and curvature of the second part, z = slope x + curvature x².
    slope: f64,
    curvature: f64,
    /// Whether the first part ends at x = 0, and whether there is a second one.
    ends: bool,
    second: bool,
}

const PARABOLA: Ground = Ground { slope: 0.0, curvature: 1.0, ends: true, second: true };

impl Functions for Ground {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        (v[0] * v[0] + v[1] * v[1]) * 0.5
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        q[0] * G
    }
    fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
        out[0] = q[0];
        if self.second {
            out[1] = q[0] - q[1] * self.slope - q[1] * q[1] * self.curvature;
        }
    }
    fn region<D: Scalar>(&self, law: usize, _t: D, q: &[D]) -> D {
        match law {
            0 if self.ends => -q[1],
            0 => D::from(f64::INFINITY),
            _ => q[1],
        }
    }
    fn laws(&self) -> Vec<NamedLaw> {
        let names = if self.second { &["flat", "second"][..] } else { &["flat"][..] };
        names.iter().map(|name| NamedLaw::new(name, Law::UNILATERAL)).collect()
    }
}

impl Ground {
    fn model(self, x: f64, vx: f64) -> DualLagrangian<Ground> {
        DualLagrangian::new(self, State::new(0.0, &[0.0, x], &[0.0, vx])).unwrap()
    }
}

/// O17: over the edge, up the parabola, back and over the edge again; with the flat everywhere or up to the edge, by
/// all methods.
#[test]
fn over_the_edge_and_back() {
    for edge in [EdgeMethod::Contact, EdgeMethod::Lcp, EdgeMethod::Sort] {
        for ends in [true, false] {
            let scheme = || EventDriven { edge, atol: Some(1e-12), rtol: 0.0, ..EventDriven::default() };
            let model = || Ground { ends, ..PARABOLA }.model(-1.0, 2.0);
            let log = run(model(), scheme(), 0.7, 0.1);
            let crossing = log.of(EventKind::Edge)[0];
            assert!((crossing.t - 0.5).abs() < 1e-12, "{edge:?} {ends}: {:e}", crossing.t - 0.5);
            let end = log.last();
            let expected = [0.109712542119, 0.331228836484, 0.750646581305, 1.133123838601];
            for (x, e) in end.q.iter().chain(&end.v).zip(expected) {
                assert!((x - e).abs() < 1e-9, "{edge:?} {ends}: {end:?}");
            }
            assert!((log.lambda(1) - 8.6026603314).abs() < 1e-8, "{edge:?} {ends}: {}", log.lambda(1));
            // λ jumps from 9.81 to 17.81 at the edge: the last step before it ends with the first value
            let (t, before) = log.multipliers.iter().rfind(|(t, _)| *t <= crossing.t).unwrap();
            assert!((t - 0.5).abs() < 1e-12 && (before[0] - G).abs() < 1e-9 && before[1] == 0.0, "{t} {before:?}");
            // (g + 2 vx²)/(1 + 4 x²) at every end of a step on the parabola
            let behind = log.states.iter().skip(1).zip(&log.multipliers).filter(|(_, (t, _))| *t > crossing.t);
            for (state, (t, lambda)) in behind {
                let exact = (G + 2.0 * state.v[1].powi(2)) / (1.0 + 4.0 * state.q[1].powi(2));
                assert!((lambda[1] - exact).abs() < 1e-8, "{edge:?} {ends} {t}: {} {exact}", lambda[1]);
            }
            let log = run(model(), scheme(), 1.0, 0.1);
            let end = log.last();
            assert!((log.lambda(1) - 5.7643519323).abs() < 1e-8, "{edge:?} {ends}: {}", log.lambda(1));
            let expected = [0.189437104480, 0.435243729972, -0.349433492173, -0.401422775459];
            for (x, e) in end.q.iter().chain(&end.v).zip(expected) {
                assert!((x - e).abs() < 1e-9, "{edge:?} {ends}: {end:?}");
            }
            // symmetric about the turning point: the edge again at 2 · 0.918507065313 − 0.5
            let log = run(model(), scheme(), 2.0, 0.1);
            let crossings: Vec<f64> = log.of(EventKind::Edge).iter().map(|event| event.t).collect();
            let back = crossings[crossings.len() - 1];
            assert!((0.5 * (back + 0.5) - 0.918507065313).abs() < 1e-8, "{crossings:?}");
            let (end, drift) = (log.last(), (log.energy[0] - log.energy[log.energy.len() - 1]).abs());
            assert!(end.q[0].abs() < 1e-9 && (end.v[1] + 2.0).abs() < 1e-9 && drift < 1e-10, "{end:?} {drift:e}");
            // where the flat goes on below the parabola they touch: rounding of the gap is a speed of 1e-7
            let jumps =
                log.of(EventKind::Impact).iter().map(|e| (e.after.v[0] - e.before.v[0]).abs()).fold(0.0, f64::max);
            assert!(jumps < if ends { 1e-14 } else { 1e-6 }, "{edge:?} {ends}: {jumps:e}");
        }
    }
}

/// A concave kink is an impact: a quarter of the energy is lost at 30 degrees, then the mass stays on the ramp.
#[test]
fn a_kink_is_an_impact() {
    let ramp = Ground { slope: (std::f64::consts::PI / 6.0).tan(), curvature: 0.0, ..PARABOLA };
    for ends in [true, false] {
        let log = run(Ground { ends, ..ramp }.model(-1.0, 2.0), EventDriven::default(), 0.6, 0.1);
        let impact = log.of(EventKind::Impact)[0];
        assert!((impact.t - 0.5).abs() < 1e-12 && impact.contact == Some(Key(1)), "{impact:?}");
        let v = &impact.after.v;
        assert!((v[0] - 0.75f64.sqrt()).abs() < 1e-12 && (v[1] - 1.5).abs() < 1e-12, "{v:?}");
        assert!((log.lambda(1) - 7.3575).abs() < 1e-9, "{:?}", log.multipliers);
    }
}

/// A convex edge lets go: the mass flies off the end of the table, and off the top of a slope that falls away.
#[test]
fn a_convex_edge_lets_go() {
    let table = Ground { second: false, ..PARABOLA };
    let log = run(table.model(-1.0, 2.0), EventDriven::default(), 1.0, 0.1);
    let kinds: Vec<EventKind> = log.events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::Edge, EventKind::TakeOff]);
    let end = log.last();
    assert!((end.q[0] + 0.5 * G * 0.25).abs() < 1e-12 && (end.q[1] - 1.0).abs() < 1e-12, "{end:?}");
    // z = −x falls away faster than the flight: landing where −g s²/2 = −2 s
    let slope = Ground { slope: -1.0, curvature: 0.0, ..PARABOLA };
    let log = run(slope.model(-1.0, 2.0), EventDriven::default(), 1.2, 0.1);
    let landing = log.of(EventKind::Impact)[0];
    assert!((landing.t - 0.5 - 4.0 / G).abs() < 1e-12, "{:e}", landing.t - 0.5 - 4.0 / G);
    // a slope that the mass follows: too slow to fly
    let slow = run(slope.model(-0.1, 0.0), EventDriven::default(), 1.2, 0.1);
    assert!(slow.events.is_empty());
}

/// Two grounds that are one up to x = 0 and part there to third order: the contacts are redundant until the upper one
/// carries alone.
#[test]
fn redundant_grounds_part() {
    struct Parting;
    impl Functions for Parting {
        fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
            (v[0] * v[0] + v[1] * v[1]) * 0.5
        }
        fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
            q[0] * G
        }
        fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
            out[0] = q[0];
            out[1] = if q[1].re() > 0.0 { q[0] - q[1] * q[1] * q[1] } else { q[0] };
        }
        fn laws(&self) -> Vec<NamedLaw> {
            ["lower", "upper"].map(|name| NamedLaw::new(name, Law::UNILATERAL)).to_vec()
        }
    }
    for h in [0.013, 0.1, 0.7] {
        let model = DualLagrangian::new(Parting, State::new(0.0, &[0.0, -1.0], &[0.0, 2.0])).unwrap();
        let log = run(model, EventDriven::default(), 0.8, h);
        assert!(log.of(EventKind::HandOver).is_empty(), "{h}");
        let jumps = log.of(EventKind::Impact).iter().map(|e| (e.after.v[0] - e.before.v[0]).abs()).fold(0.0, f64::max);
        assert!(jumps < 1e-6 && log.instants().len() < 5, "{h}: {jumps:e} {:?}", log.instants());
        let (end, drift) = (log.last(), (log.energy[0] - log.energy[log.energy.len() - 1]).abs());
        assert!((end.q[0] - end.q[1].powi(3)).abs() < 1e-8 && drift < 1e-7, "{h}: {end:?} {drift:e}");
    }
}
