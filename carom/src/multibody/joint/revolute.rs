//! Revolute: P(u), P(w), P(d), D(u, d), D(w, d). The angle is free.

use super::{JointKind, Laid, Need, Setting, Where};

pub(super) const KIND: JointKind = JointKind {
    name: "revolute",
    about: "the bodies turn about an axis",
    needs: &[Need::Point, Need::Axis],
    dimensions: Where::Both,
    coordinates: &["angle"],
    may_have_play: true,
    lay,
};

fn lay(setting: &Setting, out: &mut Laid) {
    setting.share_point(out);
    setting.share_direction(out);
    out.coordinates.push(("angle", setting.angle()));
}
