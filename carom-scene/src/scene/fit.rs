//! Whether scheme, solver, control of steps and model fit together; if not, where to point and what would.

use carom::SCHEMES;
use carom::SimulationError;
use carom::scheme::{BindError, SchemeError};
use serde_json::{Map, Value};

use super::context::Context;
use super::{BuildError, Choice, Scene};
use crate::diagnostic::Place;

/// Where the choices stand, in the file or on the command line; those by default stand nowhere.
pub(super) struct Places {
    pub scheme: Option<Place>,
    pub solver: Option<Place>,
    pub adaptive: Option<Place>,
    /// The table that would hold them.
    pub simulation: Place,
}

/// Tries to make a simulation, and complains if that fails.
pub(super) fn check(scene: &Scene, places: &Places, context: &mut Context) {
    let Err(error) = scene.simulation() else { return };
    let reason = match &error {
        BuildError::Bind(BindError::Scheme(reason)) => Some(reason),
        BuildError::Simulation(error) => match &**error {
            SimulationError::Scheme(reason) => Some(reason),
            _ => None,
        },
        _ => None,
    };
    let place = match reason {
        Some(SchemeError::Blind { .. }) => places.adaptive.as_ref().or(places.scheme.as_ref()),
        Some(SchemeError::Unsupported(_)) => places.solver.as_ref(),
        _ => places.scheme.as_ref(),
    };
    let finding = context.out.error(place.unwrap_or(&places.simulation), error.to_string());
    if let Some(SchemeError::Incapable { .. } | SchemeError::EqualSteps { .. } | SchemeError::Degree { .. }) = reason {
        let others = capable(scene);
        if !others.is_empty() {
            finding.hint(format!("schemes that can: {}", others.join(", ")));
        }
    }
}

/// The schemes that, with their default options, can do with this model what is asked.
fn capable(scene: &Scene) -> Vec<&'static str> {
    let can = |name: &&str| {
        let scheme = Choice { name: name.to_string(), options: Value::Object(Map::new()) };
        Scene { scheme, ..scene.clone() }.simulation().is_ok()
    };
    SCHEMES.iter().map(|row| row.info.name).filter(can).collect()
}
