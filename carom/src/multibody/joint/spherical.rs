//! Spherical: P(u), P(w), P(d). Three rotations are free.

use super::{JointKind, Need, Setting, Where};

pub(super) const KIND: JointKind = JointKind {
    name: "spherical",
    about: "the bodies share a point",
    needs: &[Need::Point],
    dimensions: Where::Space,
    coordinates: &[],
    may_have_play: true,
    lay: Setting::share_point,
};
