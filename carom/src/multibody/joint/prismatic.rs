//! Prismatic: P(u), P(w), D(u, d), D(w, d), D(u, w). The way along the axis is free. In the plane the axis lies in it.

use super::cylindrical::share_axis;
use super::{JointKind, Laid, Need, Setting, Where};

pub(super) const KIND: JointKind = JointKind {
    name: "prismatic",
    about: "the bodies slide along an axis",
    needs: &[Need::Point, Need::Axis],
    dimensions: Where::Both,
    coordinates: &["along"],
    may_have_play: true,
    lay,
};

fn lay(setting: &Setting, out: &mut Laid) {
    share_axis(setting, out);
    out.rows.push(("roll", setting.perpendicular(0, 1)));
    out.aligned.push((setting.axes[0][0], setting.axes[1][0]));
    out.coordinates.push(("along", setting.along(2)));
}
