//! Gear, rack and coupler: a linear relation of coordinates of other joints, which may have a third body as carrier.
//! The row is made where the coordinates are known.

use super::{JointKind, Need, Where};

const fn kind(name: &'static str, about: &'static str) -> JointKind {
    JointKind {
        name,
        about,
        needs: &[Need::Terms],
        dimensions: Where::Both,
        coordinates: &[],
        may_have_play: false,
        lay: |_, _| {},
    }
}

pub(super) const GEAR: JointKind = kind("gear", "two angles go in a ratio");
pub(super) const RACK: JointKind = kind("rack", "a slide goes by a radius times an angle");
pub(super) const COUPLER: JointKind = kind("coupler", "a sum of coordinates with factors keeps its value");
