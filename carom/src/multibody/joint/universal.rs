//! Universal: P(u), P(w), P(d), D(d_a, e_b) with the axis d of a and the second axis e of b. Two angles are free: that
//! of the cross about d, and that of b about e.

use super::{Coordinate, JointKind, Laid, Need, Setting, Where};

pub(super) const KIND: JointKind = JointKind {
    name: "universal",
    about: "the bodies share a point; an axis of a and a second one of b stay perpendicular",
    needs: &[Need::Point, Need::Axis, Need::SecondAxis],
    dimensions: Where::Space,
    coordinates: &["angle", "second-angle"],
    may_have_play: false,
    lay,
};

fn lay(setting: &Setting, out: &mut Laid) {
    setting.share_point(out);
    out.rows.push(("cross", setting.perpendicular(2, 0)));
    let [u, w, d] = setting.axes[1];
    // about the second axis u, as b sees the axis of a; (d, −w, u) is right-handed
    let second = Coordinate::Angle { axes: [d, w.map(|x| -x), u], mark: setting.axes[0][2], is_in_b: true };
    out.coordinates.extend([("angle", setting.angle()), ("second-angle", second)]);
}
