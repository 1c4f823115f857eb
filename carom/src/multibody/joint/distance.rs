//! Distance: L. A massless rod between two points; five coordinates are free and none is named.

use super::{JointKind, Laid, Need, Primitive, Setting, Where};

pub(super) const KIND: JointKind = JointKind {
    name: "distance",
    about: "a point of each body at a constant distance",
    needs: &[Need::Ends],
    dimensions: Where::Both,
    coordinates: &[],
    may_have_play: false,
    lay,
};

fn lay(setting: &Setting, out: &mut Laid) {
    let [a, b] = setting.points;
    out.rows.push(("length", Primitive::Length { a, b, length: setting.length }));
}
