//! Fixed: P(u), P(w), P(d), D(u, w), D(w, d), D(d, u). Nothing is free.

use super::{JointKind, Laid, Need, Setting, Where};

pub(super) const KIND: JointKind = JointKind {
    name: "fixed",
    about: "the bodies move as one",
    needs: &[Need::Point],
    dimensions: Where::Both,
    coordinates: &[],
    may_have_play: false,
    lay,
};

fn lay(setting: &Setting, out: &mut Laid) {
    setting.share_point(out);
    let turns = [("turn-d", (0, 1)), ("turn-u", (1, 2)), ("turn-w", (2, 0))];
    out.rows.extend(turns.map(|(name, (a, b))| (name, setting.perpendicular(a, b))));
    out.aligned.extend((0..3).map(|i| (setting.axes[0][i], setting.axes[1][i])));
}
