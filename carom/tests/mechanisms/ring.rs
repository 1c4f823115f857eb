//! A rod that hangs with its hook in a turning ring: a persistent curved contact with friction.

use super::*;
use carom::multibody::pair::{Ring, RingSphere, Side, Sphere};
use carom::multibody::{Body, Contact, Joint};

const HALF: f64 = 0.774_596_669_241_483_4; // √(12 I/m)/2

/// In the plane; in space the same about the axis y, with gravity along z.
fn ring(is_planar: bool) -> Multibody {
    let axis = if is_planar { [0.0, 0.0, 1.0] } else { [0.0, 1.0, 0.0] };
    let up = |height: f64| if is_planar { [0.0, height, 0.0] } else { [0.0, 0.0, height] };
    // about +y the same turn looks the other way round from the front
    let spin = if is_planar { [0.0, 0.0, 10.0] } else { [0.0, -10.0, 0.0] };
    let system = if is_planar { Multibody::planar() } else { Multibody::spatial() };
    let mut wheel = Body::new("ring", 1.0, 0.8);
    wheel.spin = spin;
    let pair = RingSphere {
        ring: Ring { centre: [0.0; 3], axis, radius: 1.0 },
        sphere: Sphere::point(up(HALF)),
        side: Side::Inside,
    };
    system
        .gravity(up(-GRAVITY))
        .body(wheel)
        .body(Body::new("rod", 5.0, 1.0).at(up(-0.99 - HALF)))
        .joint(Joint::revolute("hub", "ground", "ring").at([0.0, 0.0, 0.0]).axis(axis))
        .contact(Contact::new("hook", "ring", "rod", pair).friction(0.3))
}

fn published(forecast: Forecast) -> MoreauJean {
    MoreauJean { forecast, reaction: ReactionDirection::End, ..MoreauJean::default() }
}

fn check_no_drift(is_planar: bool) {
    let trace = run(&published(gamma(0.0)), &ring(is_planar), 5e-4, 20_000);
    near(trace.first("hook").unwrap(), 0.0460, 5.1e-4);
    let hook = trace.law("hook");
    for (state, gaps) in trace.states.iter().zip(&trace.gaps).filter(|(s, _)| s.t >= 0.05) {
        assert!((gaps[hook] + 2.66e-4).abs() < 5e-6, "{} at t = {}", gaps[hook], state.t);
    }
}

fn check_closed(is_planar: bool) {
    let scheme = CombinedProjection {
        reaction: ReactionDirection::End,
        metric: Metric::Identity,
        ..CombinedProjection::default()
    };
    let trace = run(&scheme, &ring(is_planar), 5e-4, 20_000);
    let hook = trace.law("hook");
    let first = trace.impulses.iter().position(|p| p[hook][0] > 0.0).unwrap();
    assert!(trace.least_gap() > -1e-12);
    for k in first..20_000 {
        let gap = trace.gaps[k + 1][hook];
        assert!(gap.abs() < 1e-12 && trace.impulses[k][hook][0] > 0.0, "step {k}: {gap}");
    }
}

#[test]
fn a_capturing_scheme_does_not_drift_in_the_plane() {
    check_no_drift(true);
}

#[test]
fn a_capturing_scheme_does_not_drift_in_space() {
    check_no_drift(false);
}

#[test]
fn a_projection_keeps_the_contact_in_the_plane() {
    check_closed(true);
}

#[test]
fn a_projection_keeps_the_contact_in_space() {
    check_closed(false);
}
