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
    reference: "F. Z. Nqi (the copy at hand has no title; its methods are those of nqi2016)",
    citation: "nqi",
    numbered: (0, 1),
    items: &[
        Item {
            key: "section-2",
            title: "The initial scheme reverses velocities in two steps",
            claim: "the scheme reverses the velocity in two steps, by closed forms (2)",
            run: reversal::reversal,
        },
        Item {
            key: "section-3",
            title: "Orders of the initial and of the corrected schemes",
            claim: "the error of the initial scheme is at best O(h); the corrected one reverses in one step (1, 3)",
            run: orders::orders,
        },
        Item {
            key: "table-1",
            title: "Lyapunov exponents by three methods",
            claim: "the corrected scheme is close to exact impacts, the initial one is far off (4)",
            run: exponents::table,
        },
        Item {
            key: "failure",
            title: "Why the initial scheme misses the exponents",
            claim: "its weakness is in the sensitivities (1, 4)",
            run: exponents::failure,
        },
    ],
    absent: &[],
};
