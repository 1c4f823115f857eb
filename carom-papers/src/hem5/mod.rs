//! Index-2 and index-1 solvers in event-driven schemes: HEM5 against Runge-Kutta-Fehlberg [haddouni2013].

mod block;
mod edge;
mod flight;
mod linkage;
mod stage;

use crate::{Item, Paper};
use carom::scheme::EventDriven;
use carom::scheme::event_driven::{Control, Flow, Propagate};

pub const PAPER: Paper = Paper {
    key: "hem5",
    title: "DAE solvers in event-driven schemes: HEM5 against Runge-Kutta-Fehlberg",
    reference: "M. Haddouni, V. Acary, J.-D. Beley, 2013 (the copy at hand has no title)",
    citation: "haddouni2013",
    numbered: (7, 2),
    items: &[
        Item {
            key: "figure-2",
            title: "Four-bar linkage: drift of the positions",
            claim: "HEM5 reduces the drift at the position level drastically (3.1)",
            run: linkage::positions,
        },
        Item {
            key: "figure-3",
            title: "Four-bar linkage: drift of the velocities",
            claim: "HEM5 keeps the constraint at the velocity level, Fehlberg's method does not (3.1)",
            run: linkage::velocities,
        },
        Item {
            key: "figure-4",
            title: "Four-bar linkage: step sizes",
            claim: "Fehlberg's method takes the smallest step, 1e-6 s, throughout; HEM5 costs much less (3.1)",
            run: linkage::steps,
        },
        Item {
            key: "figure-6a",
            title: "Block on a corner: work and precision",
            claim: "HEM5 needs less work at tight tolerances (3.1.1)",
            run: block::work_precision,
        },
        Item {
            key: "figure-6b",
            title: "Block on a corner: error against step",
            claim: "orders 5 (HEM5) and 4 (Fehlberg), by lines in the figure (3.1.1)",
            run: block::orders,
        },
        Item {
            key: "table-1",
            title: "Block on a corner: HEM5 over tolerances",
            claim: "the drift of dg/dt is rounding, that of g falls with the tolerance (table 1)",
            run: block::half_explicit,
        },
        Item {
            key: "table-2",
            title: "Block on a corner: Runge-Kutta-Fehlberg over tolerances, drift by rejection and by projection",
            claim: "lower steps are needed to meet the tolerance on the drift (table 2)",
            run: block::fehlberg,
        },
        Item {
            key: "figure-7a",
            title: "Edge with a jump of curvature: the stage problem, sorting, and the jump of the force",
            claim: "(7) has no solution at the edge; as an LCP, and by sorting, force and acceleration jump rightly \
                (4)",
            run: edge::curvature,
        },
        Item {
            key: "figure-7b",
            title: "Edge with a kink: the stage problem and sorting at an impact",
            claim: "Lemke's algorithm gives the expected accelerations and forces here, too (4)",
            run: edge::kink,
        },
        Item {
            key: "flights",
            title: "Beyond the paper: flights of order 8",
            claim: "nothing: the paper has no such comparison",
            run: flight::work_precision,
        },
    ],
    absent: &[("figure-1", "a sketch of the linkage"), ("figure-5", "a sketch of the block")],
};

const SPEC: &str = "independent implementation";

/// Work units of a step as the paper counts them: evaluations of forces and Jacobians, and linear systems.
const WORK: [f64; 2] = [26.0, 30.0];

/// The two flows by name.
const FLOWS: [(&str, Flow); 2] = [("HEM5", Flow::Hem5), ("RKF45", Flow::Rkf45)];

/// The event-driven scheme as the paper has it: unscaled errors, no rule for the drift, and Fehlberg's pair goes on
/// with its result of order 4.
fn scheme((_, flow): (&str, Flow), control: Control) -> EventDriven {
    let (propagate, control_impulses) = (Propagate::Y4, false);
    EventDriven {
        flow,
        propagate,
        control,
        control_impulses,
        rtol: 0.0,
        drift_limit: Some(0.0),
        ..EventDriven::default()
    }
}

/// The largest absolute value.
fn largest<'a>(values: impl IntoIterator<Item = &'a f64>) -> f64 {
    values.into_iter().fold(0.0, |largest, x| if x.abs() > largest || x.is_nan() { x.abs() } else { largest })
}
