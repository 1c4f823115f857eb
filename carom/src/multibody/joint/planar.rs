//! Planar: P(d), D(u, d), D(w, d). Two ways in the plane and the angle about its normal d are free.

use super::{JointKind, Laid, Need, Setting, Where};

pub(super) const KIND: JointKind = JointKind {
    name: "planar",
    about: "the bodies share a plane, whose normal is the axis",
    needs: &[Need::Point, Need::Axis],
    dimensions: Where::Space,
    coordinates: &["u", "w", "angle"],
    may_have_play: false,
    lay,
};

fn lay(setting: &Setting, out: &mut Laid) {
    out.rows.push(("axial", setting.point(2)));
    setting.share_direction(out);
    out.coordinates.extend([("u", setting.along(0)), ("w", setting.along(1)), ("angle", setting.angle())]);
}
