//! Cylindrical: P(u), P(w), D(u, d), D(w, d). Angle and way along the axis are free.

use super::{JointKind, Laid, Need, Setting, Where};

pub(super) const KIND: JointKind = JointKind {
    name: "cylindrical",
    about: "the bodies turn about an axis and slide along it",
    needs: &[Need::Point, Need::Axis],
    dimensions: Where::Space,
    coordinates: &["angle", "along"],
    may_have_play: true,
    lay,
};

fn lay(setting: &Setting, out: &mut Laid) {
    share_axis(setting, out);
    out.coordinates.extend([("angle", setting.angle()), ("along", setting.along(2))]);
}

/// The four rows of a common axis.
pub(super) fn share_axis(setting: &Setting, out: &mut Laid) {
    out.rows.extend([("u", setting.point(0)), ("w", setting.point(1))]);
    setting.share_direction(out);
}
