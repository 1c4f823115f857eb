//! The door: a model is checked where it is bound, whoever wrote it. What comes later is checked where it is evaluated.

use super::{Labels, ModelError, Space};
use crate::{Coupling, Key, State};
use carom_solve::Law;

/// Checks the initial state, the laws at it and the names; `velocities` is how many there must be. Leaves the coupling
/// filled.
pub(crate) fn check_model<M: ?Sized + Space>(
    model: &mut M,
    from: &State,
    velocities: usize,
    coupling: &mut Coupling,
) -> Result<Labels, ModelError> {
    model.check()?;
    let (n, positions) = (model.dim(), model.positions());
    require("the initial positions", from.q.len(), positions)?;
    require("the initial velocities", from.v.len(), velocities)?;
    if model.chart().is_some() && positions < n {
        require("the coordinates of increments with a chart", positions, n)?;
    }
    if !from.is_finite() {
        return Err(ModelError::NotFinite { what: "the initial state", t: from.t });
    }
    if let Some(length) = model.length().filter(|length| !(*length > 0.0 && length.is_finite())) {
        return Err(ModelError::Length { length });
    }
    let labels = model.labels();
    require("the names of coordinates", labels.coordinates.len(), positions)?;
    distinct("coordinates", labels.coordinates.iter().map(String::as_str))?;
    distinct("contacts", labels.contacts.iter().map(|(name, _)| name.as_str()))?;
    model.detect(from, 0.0)?;
    model.couple(from.t, &from.q, coupling)?;
    if velocities > 0 {
        require("the drifts of the laws", coupling.drift.len(), coupling.rows.len())?;
    }
    check_coupling(coupling, n, from.t, &|key| model.contact_name(key))?;
    Ok(labels)
}

/// Checks what a model has listed: sizes, keys, coefficients and gaps.
fn check_coupling(coupling: &Coupling, n: usize, t: f64, name: &dyn Fn(Key) -> String) -> Result<(), ModelError> {
    let rows = coupling.offset.last().copied().unwrap_or(0);
    require("the rows of the laws", coupling.rows.len(), rows)?;
    if rows > 0 {
        require("a row of a law", coupling.rows.columns(), n)?;
    }
    if !coupling.input.is_empty() {
        require("the rows of the input", coupling.input.len(), rows)?;
    }
    if !coupling.feedthrough.is_empty() {
        require("the rows of the feedthrough", coupling.feedthrough.len(), rows)?;
        require("a row of the feedthrough", coupling.feedthrough.columns(), rows)?;
    }
    let mut keys: Vec<Key> = coupling.pairs.iter().map(|pair| pair.key).collect();
    keys.sort_unstable();
    if let Some(twice) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(ModelError::Duplicate { what: "contacts", name: format!("key {}", twice[0]).into() });
    }
    for pair in &coupling.pairs {
        if check_law("", pair.law, [pair.restitution, 0.0]).is_err() {
            return check_law(&name(pair.key), pair.law, [pair.restitution, 0.0]);
        }
        if !pair.gap.is_finite() {
            return Err(ModelError::Gap { contact: name(pair.key).into(), t });
        }
    }
    Ok(())
}

/// Refuses coefficients that make no sense.
pub(super) fn check_law(name: &str, law: Law, [restitution, tangential]: [f64; 2]) -> Result<(), ModelError> {
    let refuse = |what, value, range| Err(ModelError::Coefficient { what, contact: name.into(), value, range });
    if !(0.0..=1.0).contains(&restitution) {
        return refuse("the restitution", restitution, "it must lie in [0, 1]");
    }
    if !(0.0..=1.0).contains(&tangential) {
        return refuse("the tangential restitution", tangential, "it must lie in [0, 1]");
    }
    if tangential > 0.0 && law.size() == 1 {
        let reason = "tangential restitution needs friction: without it nothing would turn back";
        return Err(ModelError::Contact { contact: name.into(), reason });
    }
    if law.is_valid() {
        return Ok(());
    }
    let numbers = law.discs().flat_map(|(_, disc)| [disc.mu, disc.radius]);
    match numbers.into_iter().find(|x| !(*x >= 0.0 && x.is_finite())) {
        Some(mu) => refuse("the coefficient of friction", mu, "it must be finite and not negative"),
        None => refuse("the lower bound", law.bounds().0, "it must not be above the upper one"),
    }
}

/// Refuses a wrong number of entries.
pub(super) fn require(what: &'static str, found: usize, needed: usize) -> Result<(), ModelError> {
    if found == needed { Ok(()) } else { Err(ModelError::Size { what, found, needed }) }
}

/// Refuses names that are given twice.
pub(super) fn distinct<'a>(what: &'static str, names: impl Iterator<Item = &'a str>) -> Result<(), ModelError> {
    let mut sorted: Vec<&str> = names.collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => Err(ModelError::Duplicate { what, name: twice[0].into() }),
        None => Ok(()),
    }
}
