//! The columns of a trajectory: their names, where their values come from, and which of them are kept.

use super::ResultError;
use carom::scheme::Stepper;
use carom::{Labels, ModelError, State};

/// Models with more coordinates (or contacts) than this are thinned out by [`Columns::Auto`].
const FEW: usize = 64;
/// Coordinates (or contacts) that are kept of a large model.
const KEPT: usize = 17;

/// Which columns are kept. The time `t` always is.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Columns {
    /// All columns of models with at most 64 coordinates. Of a larger model 17 coordinates, evenly spaced from the first to the
    /// last, with their velocities. The same holds for contacts. Energies and outputs are always kept.
    #[default]
    Auto,
    /// All columns, however many.
    All,
    /// The columns of these names. A name that ends with `*` stands for all columns that begin with the text before it.
    Only(Vec<String>),
}

/// Where the values of a column come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    Time,
    Position(usize),
    Velocity(usize),
    /// Number of the contact.
    Gap(usize),
    /// Number of the row among those of all contacts.
    Impulse(usize),
    /// Output of a row of a first-order model.
    After(usize),
    /// Multiplier of a row of a first-order model.
    Multiplier(usize),
    Kinetic,
    Potential,
    Total,
    Output(usize),
}

/// Quantities of the user, evaluated from time, positions and velocities; in first-order models from time, states and multipliers.
pub struct Outputs {
    /// Full names of the columns.
    pub(super) names: Vec<String>,
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
        Outputs { names, evaluate: Box::new(evaluate) }
    }

    /// Columns with these full names behind the others; the closure fills their values as well.
    pub fn with_derived(mut self, names: impl IntoIterator<Item = String>) -> Outputs {
        self.names.extend(names);
        self
    }
}

/// One column that a trajectory may have.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub name: String,
    pub source: Source,
    /// [`Columns::Auto`] keeps it.
    pub auto: bool,
}

/// All columns of a run, in the order of the file.
pub(super) fn catalogue(stepper: &mut dyn Stepper, outputs: &[String]) -> Vec<Candidate> {
    let energies = stepper.energies().is_some();
    let (labels, state) = (stepper.labels(), stepper.from());
    let (positions, velocities) = (state.q.len(), state.v.len());
    let mut list = vec![Candidate { name: "t".into(), source: Source::Time, auto: true }];
    let mut add = |name: String, source, auto| list.push(Candidate { name, source, auto });
    let letter = if is_first_order(state) { 'x' } else { 'q' };
    for i in 0..positions {
        let name = labels.coordinates.get(i).map_or_else(|| format!("{letter}.{i}"), |name| format!("{letter}.{name}"));
        add(name, Source::Position(i), kept(i, positions));
    }
    for i in 0..velocities {
        // velocities have the names of the coordinates only where they are their rates
        let name = labels.coordinates.get(i).filter(|_| velocities == positions);
        add(
            name.map_or_else(|| format!("v.{i}"), |name| format!("v.{name}")),
            Source::Velocity(i),
            kept(i, velocities),
        );
    }
    let contacts =
        || labels.contacts.iter().enumerate().map(|(i, (name, _))| (i, name, kept(i, labels.contacts.len())));
    if is_first_order(state) {
        contacts().for_each(|(i, name, auto)| add(format!("y.{name}"), Source::After(i), auto));
        contacts().for_each(|(i, name, auto)| add(format!("lambda.{name}"), Source::Multiplier(i), auto));
    } else {
        contacts().for_each(|(i, name, auto)| add(format!("gap.{name}"), Source::Gap(i), auto));
    }
    let offset = impulse_rows(labels);
    for (i, name, auto) in contacts() {
        for (k, row) in (offset[i]..offset[i + 1]).enumerate() {
            let role = labels.contacts[i].1.role(k);
            let name = if k == 0 { format!("impulse.{name}") } else { format!("impulse.{name}.{role}") };
            add(name, Source::Impulse(row), auto);
        }
    }
    if energies {
        add("energy.kinetic".into(), Source::Kinetic, true);
        add("energy.potential".into(), Source::Potential, true);
        add("energy.total".into(), Source::Total, true);
    }
    for (i, name) in outputs.iter().enumerate() {
        add(name.clone(), Source::Output(i), true);
    }
    list
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
    n <= FEW || (0..KEPT).any(|k| k * (n - 1) / (KEPT - 1) == i)
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
            candidate.source == Source::Time || wanted.iter().any(|wanted| matches(wanted, &candidate.name))
        }
    };
    Ok(list.into_iter().filter(keep).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(names: &[&str]) -> Vec<Candidate> {
        let mut list = vec![Candidate { name: "t".into(), source: Source::Time, auto: true }];
        list.extend(names.iter().enumerate().map(|(i, name)| Candidate {
            name: (*name).into(),
            source: Source::Position(i),
            auto: i != 1,
        }));
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
        for n in [65, 100, 1001, 123_457] {
            let list: Vec<usize> = (0..n).filter(|i| kept(*i, n)).collect();
            assert_eq!((list.len(), list[0], list[16]), (17, 0, n - 1));
        }
        assert_eq!((0..64).filter(|i| kept(*i, 64)).count(), 64);
    }
}
