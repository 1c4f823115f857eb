//! What is seen of a model in space.

use carom::multibody::SpringEnds;
use carom::multibody::joint::Anchor;

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
    let joints = mechanism.joints.iter().map(|info| &info.joint).filter_map(|joint| {
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

/// The points of two bodies.
fn ends(mechanism: &Mechanism, anchor: Anchor, bodies: &[String; 2]) -> Option<[SpacePoint; 2]> {
    let point = |k: usize| {
        let body = *mechanism.index.get(&bodies[k])?;
        Some(SpacePoint { body, at: anchored(mechanism, anchor, k, &bodies[k])? })
    };
    Some([point(0)?, point(1)?])
}
