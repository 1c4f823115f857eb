//! Chain: turns about axes and ways along axes, one after the other, with nothing that has mass between them. At most
//! three links turn and at most three slide. The rows are those of other joints where they say the same:
//!
//! ```text
//!     first ways, then turns about one point     P(n) across the ways, D of 0, 1 or 2 turns as in other joints     (1)
//!     anything else                              the values of `solve`, which undo the links one by one            (2)
//! ```
//!
//! Two turns at right angles about one point are a universal joint, two ways and a turn across them a planar one.

mod solve;

use super::{Coordinate, JointKind, Laid, Need, Primitive, Setting, Where};
pub use solve::{Chain, Numbers};
use std::sync::Arc;

pub(super) const KIND: JointKind = JointKind {
    name: "chain",
    about: "turns about axes and ways along axes, one after the other",
    needs: &[Need::Links],
    dimensions: Where::Space,
    coordinates: &[],
    may_have_play: false,
    lay,
};

/// Names of coordinates by the place of their link.
pub(super) const ANGLES: [&str; 6] = ["angle1", "angle2", "angle3", "angle4", "angle5", "angle6"];
pub(super) const WAYS: [&str; 6] = ["along1", "along2", "along3", "along4", "along5", "along6"];

const TURNS: [&str; 3] = ["turn-1", "turn-2", "turn-3"];
const SHIFTS: [&str; 3] = ["shift-1", "shift-2", "shift-3"];

/// Points of links that are nearer than this part of their size are one.
const ONE_POINT: f64 = 1e-12;

/// A link of a chain, in axes of the space where the bodies are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Whether it turns about its axis; else it slides along it.
    pub turns: bool,
    /// The axis, of any length.
    pub axis: [f64; 3],
    /// A point of the axis of a turn [m].
    pub at: [f64; 3],
}

impl Link {
    /// The name of its coordinate, as the i-th link.
    pub fn name(&self, i: usize) -> &'static str {
        let names = if self.turns { ANGLES } else { WAYS };
        names.get(i).copied().unwrap_or("")
    }
}

fn lay(setting: &Setting, out: &mut Laid) {
    let Some(chain) = &setting.chain else { return };
    let links = chain.links();
    let turns = chain.turns();
    let free = links.len();
    let whole = |index: usize| Primitive::Chain { chain: chain.clone(), index };
    if !is_plain(links) {
        let rows = 3 - turns.len();
        out.rows.extend((0..rows).map(|k| (TURNS[k], whole(free + k))));
        out.rows.extend((rows..6 - free).map(|k| (SHIFTS[k - rows], whole(free + k))));
    } else {
        shift(chain, out);
        turn(setting, chain, turns, out);
    }
    for (i, link) in links.iter().enumerate() {
        let coordinate = match (is_plain(links) && turns.len() < 3, link.turns) {
            (true, true) => chain.angle(i),
            (true, false) => chain.way(i),
            (false, _) => Coordinate::Chain { chain: chain.clone(), index: i },
        };
        out.coordinates.push((link.name(i), coordinate));
    }
    if let [i] = turns[..] {
        out.aligned.push((links[i].axis, chain.in_b(links[i].axis)));
    }
}

/// Whether (1) holds: ways come first, turns share a point, and two of them are at right angles.
fn is_plain(links: &[Link]) -> bool {
    let first = links.iter().position(|link| link.turns).unwrap_or(links.len());
    let turns = &links[first..];
    let near = |a: [f64; 3], b: [f64; 3]| {
        let size = a.iter().chain(&b).fold(0.0f64, |size, x| size.max(x.abs()));
        (0..3).all(|k| (a[k] - b[k]).abs() <= ONE_POINT * size)
    };
    let right = match turns {
        [a, b] => (0..3).map(|k| a.axis[k] * b.axis[k]).sum::<f64>().abs() < 1e-14,
        _ => true,
    };
    right && turns.iter().all(|link| link.turns && near(link.at, turns[0].at))
}

/// Rows of points.
fn shift(chain: &Arc<Chain>, out: &mut Laid) {
    let [a, b] = chain.pivot();
    for (name, direction) in SHIFTS.into_iter().zip(chain.across()) {
        out.rows.push((name, Primitive::Point { direction, a, b }));
    }
}

/// Rows of directions; three turns have none.
fn turn(setting: &Setting, chain: &Arc<Chain>, turns: &[usize], out: &mut Laid) {
    let links = chain.links();
    let mut hold = |name, a: [f64; 3], b: [f64; 3]| {
        out.rows.push((name, Primitive::Direction { a, b: chain.in_b(b) }));
    };
    match turns {
        [] => {
            let [u, w, d] = setting.axes[0];
            hold(TURNS[0], u, w);
            hold(TURNS[1], w, d);
            hold(TURNS[2], d, u);
            out.aligned.extend([u, w, d].map(|axis| (axis, chain.in_b(axis))));
        }
        [i] => {
            let [u, w] = solve::beside(links[*i].axis);
            hold(TURNS[0], u, links[*i].axis);
            hold(TURNS[1], w, links[*i].axis);
        }
        [i, j] => hold(TURNS[0], links[*i].axis, links[*j].axis),
        _ => {}
    }
}
