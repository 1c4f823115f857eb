//! A corrected scheme for the impact oscillator, and its Lyapunov exponents [nqi2016].
//!
//! The paper does not state α, a, ω, u_min and e of its table: what it says is checked on documented sets of parameters
//! instead.

mod exponents;
mod orders;
mod reversal;

use crate::{Item, Paper};
use carom::scheme::{CorrectedPaoli, ImpactTime, SchatzmanPaoli};
use carom_scene::scene::Choice;

/// The corrected scheme in both forms and the initial one, by the names of the paper.
fn schemes() -> [(Choice, &'static str); 3] {
    let corrected = |variant| Choice::scheme(&CorrectedPaoli { variant, ..CorrectedPaoli::default() });
    [
        (corrected(ImpactTime::Printed), "corrected, printed"),
        (corrected(ImpactTime::Consistent), "corrected, consistent"),
        (Choice::scheme(&SchatzmanPaoli::default()), INITIAL),
    ]
}

/// Name of the initial scheme.
const INITIAL: &str = "initial";

pub const PAPER: Paper = Paper {
    key: "nqi",
    title: "Correction of a numerical scheme for impacts, and Lyapunov exponents of the impact oscillator",
    citation: "nqi2016",
    items: &[
        Item {
            key: "section-2",
            title: "The initial scheme reverses velocities in two steps",
            run: reversal::reversal,
        },
        Item { key: "section-3", title: "Orders of the initial and of the corrected schemes", run: orders::orders },
        Item { key: "table", title: "Lyapunov exponents by three methods", run: exponents::table },
        Item { key: "failure", title: "Why the initial scheme misses the exponents", run: exponents::failure },
    ],
};
