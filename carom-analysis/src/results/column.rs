//! The columns of a trajectory: their names, where their values come from, and which of them are kept.

use super::ResultError;
use carom::scheme::{Family, Stepper};
use carom::simulation::{Catalogue, Column, ColumnKind};
use carom::{Labels, ModelError, State};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Models with more coordinates (or contacts) than this are thinned out by [`Columns::Auto`].
const FEW: usize = 256;
/// Coordinates (or contacts) that are kept of a large model.
const KEPT: usize = 17;

/// Which columns are kept. The time `t` always is.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Columns {
    /// All columns of models with at most 256 coordinates. Of a larger model 17 coordinates, evenly spaced from the
    /// first to the last, with their velocities; of bodies, whose coordinates have names `BODY.x`, 17 whole ones. The
    /// same holds for contacts. Energies and outputs are always kept.
    #[default]
    Auto,
    /// All columns, however many.
    All,
    /// The columns of these names. A name that ends with `*` stands for all columns that begin with the text before it.
    Only(Vec<String>),
}

/// What a column of the trajectory is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnInfo {
    /// Its name in the file.
    pub name: String,
    /// Its unit; `null` where none is known.
    pub unit: Option<String>,
    /// How its values are read between rows.
    pub kind: ColumnKind,
}

/// Quantities of the user, evaluated from time, positions and velocities; in first-order models from time, states and
/// multipliers.
pub struct Outputs {
    /// Full names of the columns.
    pub(super) names: Vec<String>,
    /// Those that are computed from multipliers, which are not known before the first step.
    pub(super) of_steps: Vec<bool>,
    pub(super) evaluate: Evaluate,
}

type Evaluate = Box<dyn FnMut(f64, &[f64], &[f64], &mut [f64]) -> Result<(), ModelError> + Send>;

impl Outputs {
    /// Columns `output.NAME`; the closure gets `(t, q, v)` and fills one value per name.
    pub fn new(
        names: Vec<String>,
        evaluate: impl FnMut(f64, &[f64], &[f64], &mut [f64]) -> Result<(), ModelError> + Send + 'static,
    ) -> Outputs {
        let names = names.into_iter().map(|name| format!("output.{name}")).collect();
        Outputs { names, of_steps: Vec::new(), evaluate: Box::new(evaluate) }
    }

    /// Columns with these full names behind the others; the closure fills their values as well.
    pub fn with_derived(mut self, names: impl IntoIterator<Item = String>) -> Outputs {
        self.names.extend(names);
        self
    }

    /// Tells which columns are computed from multipliers: they hold over a step, and have no value before the first.
    pub fn with_multipliers(mut self, of_steps: Vec<bool>) -> Outputs {
        self.of_steps = of_steps;
        self
    }
}

/// One column that a trajectory may have.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub name: String,
    pub column: Column,
    pub kind: ColumnKind,
    pub unit: Option<String>,
    /// [`Columns::Auto`] keeps it.
    pub auto: bool,
}

impl Candidate {
    pub fn info(&self) -> ColumnInfo {
        ColumnInfo { name: self.name.clone(), unit: self.unit.clone(), kind: self.kind }
    }
}

/// All columns of a run, in the order of the file. `units` by name go before those that columns have by themselves.
pub(super) fn catalogue(
    stepper: &mut dyn Stepper,
    outputs: Option<&Outputs>,
    units: &BTreeMap<String, String>,
) -> Vec<Candidate> {
    let names = outputs.map_or(&[][..], |outputs| &outputs.names);
    let (has_energy, projects) = (stepper.energies().is_some(), stepper.info().projects);
    let (labels, state) = (stepper.labels(), stepper.from());
    let dofs = (state.q.len(), state.v.len());
    let family = if is_first_order(state) { Family::FirstOrder } else { Family::Mechanical };
    let contacts = labels.contacts.len();
    let (positions, velocities) = (owners(&labels.coordinates), owners(&labels.velocities));
    // velocities without names of their own have those of the coordinates
    let velocities = if velocities.len() == dofs.1 { &velocities } else { &positions };
    let auto = |column: &Column| match *column {
        Column::Position(i) => kept_whole(i, dofs.0, &positions),
        Column::Velocity(i) => kept_whole(i, dofs.1, velocities),
        Column::Gap(i) | Column::After(i) | Column::Multiplier(i) | Column::Projection(i) => kept(i, contacts),
        Column::Loss(i) => kept(i, contacts),
        Column::Impulse { law, .. } | Column::Force { law, .. } | Column::Level { law, .. } => kept(law, contacts),
        Column::Time | Column::Kinetic | Column::Potential | Column::Total | Column::Output(_) => true,
        Column::ImpactLoss | Column::FrictionLoss => true,
    };
    let levels = stepper.reactions().level_counts();
    let all = Catalogue { family, labels, dofs, has_energy, projects, levels: &levels, outputs: names }.columns();
    let motion = stepper.motion();
    let kind = |column: &Column| match *column {
        Column::Output(i) if outputs.is_some_and(|o| o.of_steps.get(i) == Some(&true)) => ColumnKind::Held,
        _ => column.kind(motion),
    };
    let candidate = |(name, column): (String, Column)| {
        let own = || column.unit(family, labels).map(String::from);
        Candidate {
            unit: units.get(&name).cloned().or_else(own),
            kind: kind(&column),
            auto: auto(&column),
            name,
            column,
        }
    };
    all.into_iter().map(candidate).collect()
}

/// First-order systems have no velocities.
pub(super) fn is_first_order(state: &State) -> bool {
    state.v.is_empty() && !state.q.is_empty()
}

/// First row of each contact, and the number of rows at the end.
pub(super) fn impulse_rows(labels: &Labels) -> Vec<usize> {
    let mut offset = vec![0];
    offset.extend(labels.contacts.iter().scan(0, |rows, (_, law)| {
        *rows += law.size();
        Some(*rows)
    }));
    offset
}

/// Whether entry `i` of `n` is one of those that stay of a large model: ⌊k (n−1)/16⌋ for k = 0, ..., 16.
fn kept(i: usize, n: usize) -> bool {
    n <= FEW || is_of_kept(i, n)
}

fn is_of_kept(i: usize, n: usize) -> bool {
    (0..KEPT).any(|k| k * (n - 1) / (KEPT - 1) == i)
}

/// For each coordinate the number of the body that has it: neighbours `BODY.x` and `BODY.y` have the same one.
fn owners(names: &[String]) -> Vec<usize> {
    let owner = |name: &str| name.rsplit_once('.').map(|(body, _)| body.to_owned());
    let (mut last, mut number) = (None, 0);
    let next = |(i, name): (usize, &String)| {
        let body = owner(name);
        number += usize::from(i > 0 && (body.is_none() || body != last));
        last = body;
        number
    };
    names.iter().enumerate().map(next).collect()
}

/// Whether coordinate `i` of `n` stays: its body does.
fn kept_whole(i: usize, n: usize, owners: &[usize]) -> bool {
    match (owners.get(i), owners.last()) {
        (Some(_), Some(last)) if n > FEW && *last < KEPT => true,
        (Some(body), Some(last)) if n > FEW => is_of_kept(*body, last + 1),
        _ => kept(i, n),
    }
}

/// The columns that are kept; `t` is the first.
pub(super) fn select(list: Vec<Candidate>, columns: &Columns) -> Result<Vec<Candidate>, ResultError> {
    let mut names: Vec<&str> = list.iter().map(|candidate| candidate.name.as_str()).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(ResultError::DuplicateColumn { name: pair[0].into() });
    }
    let matches = |wanted: &str, name: &str| match wanted.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == wanted,
    };
    if let Columns::Only(wanted) = columns
        && let Some(name) = wanted.iter().find(|wanted| !names.iter().any(|name| matches(wanted, name)))
    {
        // a few names are enough to see how they are built
        let known = list.iter().take(FEW).map(|candidate| candidate.name.clone()).collect();
        return Err(ResultError::UnknownColumn { name: name.clone(), known });
    }
    let keep = |candidate: &Candidate| match columns {
        Columns::Auto => candidate.auto,
        Columns::All => true,
        Columns::Only(wanted) => {
            candidate.column == Column::Time || wanted.iter().any(|wanted| matches(wanted, &candidate.name))
        }
    };
    Ok(list.into_iter().filter(keep).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(names: &[&str]) -> Vec<Candidate> {
        let candidate = |name: &str, column, auto| {
            let (kind, unit) = (ColumnKind::Line, None);
            Candidate { name: name.into(), column, kind, unit, auto }
        };
        let mut list = vec![candidate("t", Column::Time, true)];
        list.extend(names.iter().enumerate().map(|(i, name)| candidate(name, Column::Position(i), i != 1)));
        list
    }

    fn selected(columns: Columns) -> Vec<String> {
        let list = select(candidates(&["q.a", "q.b", "v.a"]), &columns).unwrap();
        list.into_iter().map(|candidate| candidate.name).collect()
    }

    #[test]
    fn columns_are_chosen_by_name_or_beginning() {
        assert_eq!(selected(Columns::Auto), ["t", "q.a", "v.a"]);
        assert_eq!(selected(Columns::All), ["t", "q.a", "q.b", "v.a"]);
        assert_eq!(selected(Columns::Only(vec!["q.*".into()])), ["t", "q.a", "q.b"]);
        assert_eq!(selected(Columns::Only(vec!["v.a".into(), "q.b".into()])), ["t", "q.b", "v.a"]);
    }

    #[test]
    fn unknown_and_equal_names_are_refused() {
        let unknown = select(candidates(&["q.a"]), &Columns::Only(vec!["q.z".into()]));
        assert!(matches!(unknown, Err(ResultError::UnknownColumn { name, .. }) if name == "q.z"));
        let equal = select(candidates(&["q.a", "q.a"]), &Columns::All);
        assert!(matches!(equal, Err(ResultError::DuplicateColumn { name }) if name == "q.a"));
    }

    #[test]
    fn a_large_model_keeps_seventeen_with_first_and_last() {
        for n in [257, 300, 1001, 123_457] {
            let list: Vec<usize> = (0..n).filter(|i| kept(*i, n)).collect();
            assert_eq!((list.len(), list[0], list[16]), (17, 0, n - 1));
        }
        assert_eq!((0..256).filter(|i| kept(*i, 256)).count(), 256);
    }

    #[test]
    fn of_many_bodies_whole_ones_are_kept() {
        let parts = ["x", "y", "z", "e0", "e1", "e2", "e3"];
        let names: Vec<String> = (0..40).flat_map(|b| parts.map(|part| format!("ball.{b}.{part}"))).collect();
        let owners = owners(&names);
        let stays: Vec<usize> = (0..280).filter(|&i| kept_whole(i, 280, &owners)).collect();
        assert_eq!(stays.len(), 17 * 7);
        assert_eq!((stays[0], stays[118]), (0, 279));
        // all seven numbers of a body, or none
        assert!((0..40).all(|b| [0, 7].contains(&stays.iter().filter(|i| *i / 7 == b).count())));
        // coordinates of a continuum are as before
        let plain: Vec<String> = (0..300).map(|i| format!("q{i}")).collect();
        let owners = super::owners(&plain);
        assert!((0..300).all(|i| kept_whole(i, 300, &owners) == kept(i, 300)));
    }
}
