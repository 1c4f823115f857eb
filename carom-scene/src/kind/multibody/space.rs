//! What is seen of a model in space.

use carom::multibody::joint::{Anchor, Joint};
use carom::multibody::{GROUND, SpringEnds};

use super::Mechanism;
use super::body::body_direction;
use super::draw::{COLOURS, GROUND_COLOUR, anchored};
use crate::scene::{Space, SpaceBody, SpaceJoint, SpacePoint, SpaceShape};

/// Bodies, joints and springs; `None` of a planar model.
pub(super) fn of(mechanism: &Mechanism) -> Option<Space> {
    if mechanism.measure.planar {
        return None;
    }
    let bodies = mechanism.bodies.iter().enumerate().map(|(i, body)| SpaceBody {
        name: body.name.clone(),
        color: if i == 0 { GROUND_COLOUR } else { COLOURS[(i - 1) % COLOURS.len()] },
        shapes: body
            .shapes
            .iter()
            .map(|info| SpaceShape {
                form: info.form.clone(),
                color: info.fill.clone().or_else(|| info.color.clone()),
                trace: info.trace,
            })
            .collect(),
    });
    let joints = mechanism.joints.iter().map(|info| &info.joint);
    let joints = joints.filter(|joint| !carries_rotor(mechanism, joint)).filter_map(|joint| {
        let ends = ends(mechanism, joint.point, &joint.bodies)?;
        let axis = match joint.axis {
            Anchor::None => None,
            Anchor::Bodies([a, _]) => Some(a),
            Anchor::Drawn([a, _]) => Some(body_direction(&mechanism.bodies[ends[0].body].frame(false), a)),
        };
        Some(SpaceJoint { name: joint.name.clone(), kind: joint.kind.name, ends, axis })
    });
    let springs = mechanism.springs.iter().filter_map(|info| match &info.spring.ends {
        SpringEnds::Points { bodies, points } => ends(mechanism, *points, bodies),
        _ => None,
    });
    Some(Space {
        gravity: mechanism.gravity,
        size: mechanism.extent(),
        bodies: bodies.collect(),
        joints: joints.collect(),
        springs: springs.collect(),
    })
}

/// Whether a joint does nothing but let a wheel without shapes turn with another joint: the rotor of a drive, which is
/// an inertia and nothing to look at.
fn carries_rotor(mechanism: &Mechanism, joint: &Joint) -> bool {
    let joints = || mechanism.joints.iter().map(|info| &info.joint);
    let [ground, wheel] = &joint.bodies;
    let is_bare = |name: &String| mechanism.index.get(name).is_some_and(|&i| mechanism.bodies[i].shapes.is_empty());
    ground == GROUND
        && wheel != GROUND
        && is_bare(wheel)
        && joints().filter(|other| other.bodies.contains(wheel)).count() == 1
        && joints().any(|other| other.terms.iter().any(|(coordinate, _)| coordinate.joint == joint.name))
}

/// The points of two bodies.
fn ends(mechanism: &Mechanism, anchor: Anchor, bodies: &[String; 2]) -> Option<[SpacePoint; 2]> {
    let point = |k: usize| {
        let body = *mechanism.index.get(&bodies[k])?;
        Some(SpacePoint { body, at: anchored(mechanism, anchor, k, &bodies[k])? })
    };
    Some([point(0)?, point(1)?])
}
