//! Screw: P(u), P(w), D(u, d), D(w, d) and the relation d · r = lead · angle/2π. The angle is free.

use super::cylindrical::share_axis;
use super::{JointKind, Laid, Need, Primitive, Setting, Where};
use std::f64::consts::TAU;

pub(super) const KIND: JointKind = JointKind {
    name: "screw",
    about: "the bodies share an axis; one goes along it as it turns",
    needs: &[Need::Point, Need::Axis, Need::Lead],
    dimensions: Where::Space,
    coordinates: &["angle", "along"],
    may_have_play: false,
    lay,
};

fn lay(setting: &Setting, out: &mut Laid) {
    share_axis(setting, out);
    out.coordinates.extend([("angle", setting.angle()), ("along", setting.along(2))]);
    out.rows.push(("lead", Primitive::Relation { terms: vec![(1, 1.0), (0, -setting.lead / TAU)], constant: 0.0 }));
}
