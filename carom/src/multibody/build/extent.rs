//! How large a system is, where its description does not say it: tolerances of gaps are parts of this length.

use super::Drawn;
use crate::multibody::Vector;
use crate::multibody::motion::Motion;
use crate::multibody::pair::Pair as _;
use crate::multibody::plan::Plan;
use crate::multibody::primitive::Primitive;

/// Half of the diagonal of the box around all mass centres, points of joints and points of contacts where the bodies
/// are drawn [m]; none for a single point.
pub(super) fn extent(plan: &Plan, drawn: &Drawn) -> Option<f64> {
    let mut motion = Motion::new(plan);
    motion.place(plan, &drawn.q);
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    let mut see = |p: Vector| {
        for i in 0..3 {
            (low[i], high[i]) = (low[i].min(p.0[i]), high[i].max(p.0[i]));
        }
    };
    (1..plan.names.len()).for_each(|body| see(motion.pair([0, body]).1.centre));
    for row in &plan.rows {
        let (a, b) = motion.pair(row.bodies);
        if let Primitive::Point { a: on_a, b: on_b, .. } | Primitive::Length { a: on_a, b: on_b, .. } = row.primitive {
            see(a.point(on_a));
            see(b.point(on_b));
        }
        if let Primitive::Chain { chain, .. } = &row.primitive {
            chain.links().iter().filter(|link| link.turns).for_each(|link| see(a.point(link.at)));
        }
    }
    for solid in plan.solids.all.iter().filter(|solid| solid.radius.is_finite()) {
        let centre = motion.pair([0, solid.body]).1.point(solid.centre);
        see(centre + Vector([solid.radius; 3]));
        see(centre - Vector([solid.radius; 3]));
    }
    for contact in plan.contacts.iter().filter(|contact| !contact.pair.comes_and_goes()) {
        let frames = motion.pair(contact.bodies);
        for place in 0..contact.pair.places() {
            let touch = contact.pair.touch(place, frames);
            see(touch.on_a);
            see(touch.on_b);
        }
    }
    let half = 0.5 * (0..3).map(|i| (high[i] - low[i]).powi(2)).sum::<f64>().sqrt();
    (half > 0.0 && half.is_finite()).then_some(half)
}
