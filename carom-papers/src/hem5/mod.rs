//! Index-2 and index-1 solvers in event-driven schemes: HEM5 against Runge-Kutta-Fehlberg [haddouni2013].

mod block;
mod edge;
mod flight;
mod linkage;

use crate::{Item, Paper};
use carom::scheme::EventDriven;
use carom::scheme::event_driven::{Control, Flow, Propagate};

pub const PAPER: Paper = Paper {
    key: "hem5",
    title: "DAE solvers in event-driven schemes: HEM5 against Runge-Kutta-Fehlberg",
    citation: "haddouni2013",
    items: &[
        Item { key: "figure-2", title: "Four-bar linkage: drift of the positions", run: linkage::positions },
        Item { key: "figure-3", title: "Four-bar linkage: drift of the velocities", run: linkage::velocities },
        Item { key: "figure-4", title: "Four-bar linkage: step sizes", run: linkage::steps },
        Item { key: "figure-6a", title: "Block on a corner: work and precision", run: block::work_precision },
        Item { key: "figure-6b", title: "Block on a corner: error against step", run: block::orders },
        Item { key: "table-1", title: "Block on a corner: HEM5 over tolerances", run: block::half_explicit },
        Item { key: "table-2", title: "Block on a corner: Runge-Kutta-Fehlberg over tolerances", run: block::fehlberg },
        Item { key: "figure-7a", title: "Edge with a jump of curvature", run: edge::curvature },
        Item { key: "figure-7b", title: "Edge with a kink", run: edge::kink },
        Item { key: "flights", title: "Beyond the paper: flights of order 8", run: flight::work_precision },
    ],
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
