//! Sweeping processes: the pieces of the moving set and the drift.

use std::collections::HashSet;

use carom::State;
use carom::model::{Piece, Shape, Sweeping};
use carom::scheme::AnyModel;
use carom_solve::Law;

use super::{Bound, Compile, Kind, KindRow, Plan, Words, declare_states, refuse_mechanical, row};
use crate::diagnostic::Place;
use crate::expression::{Evaluator, NodeId, Tape};
use crate::file::{Entries, Formula, ModelFile, OneOrMore, Text, table};
use crate::scene::context::{Context, label};
use crate::scene::coordinates::{self, Target};
use crate::scene::{BuildError, LawInfo};

pub(super) const ROW: KindRow = KindRow::of::<SweepingTable>(Words {
    name: "sweeping",
    about: "a state in a moving set: intervals, balls, half-spaces and their intersections; optional drift",
    template: include_str!("sweeping.toml"),
});

table! {
    /// A sweeping process: a state that stays in a moving set, given by [[set]].
    pub struct SweepingTable {
        /// "sweeping"
        pub kind: Text,
        /// Names of the states.
        pub states: Vec<Text>,
        /// Rates inside the set by state, of t and states; 0 where missing.
        pub drift: Option<Entries>,
    }
}

table! {
    /// A piece of the moving set: an interval (state, lower, upper), a ball (center, radius) or half-spaces (inside).
    pub struct SetTable {
        /// Name in results.
        pub name: Text,
        /// The state of an interval.
        pub state: Option<Text>,
        /// Lower end of the interval, of t.
        pub lower: Option<Formula>,
        /// Upper end of the interval, of t.
        pub upper: Option<Formula>,
        /// Centre of a ball: one expression of t per state.
        pub center: Option<OneOrMore>,
        /// Radius of the ball, of t.
        pub radius: Option<Formula>,
        /// Expressions that are not negative inside: affine in the states, of t. Several make a polyhedron.
        pub inside: Option<OneOrMore>,
    }
}

impl Kind for SweepingTable {
    fn place(&self) -> &Place {
        &self.place
    }

    fn names<'a>(&'a self, file: &ModelFile, context: &mut Context) -> Option<Compile<'a>> {
        let before = context.out.errors();
        row::none(file, "a sweeping process has its laws from [[set]]", context);
        let states = coordinates::listed(&self.states, &self.place, context)?;
        let rows = rows(file, &self.place, context)?;
        refuse_mechanical(file, true, context);
        if context.out.errors() > before {
            return None;
        }
        declare_states(states, &rows, self, context)?;
        Some(Box::new(|file, context| self.compile(rows, file, context)))
    }

    fn check_numbers(&self, _: &ModelFile, _: &mut Context) {}
}

/// The names of half-spaces: that of the set, with numbers where there are several.
fn half_spaces(table: &SetTable, inside: &OneOrMore) -> Vec<String> {
    let name = &table.name.value;
    match inside.items.len() {
        1 => vec![name.clone()],
        count => (1..=count).map(|k| format!("{name}{k}")).collect(),
    }
}

/// The rows of all pieces, as the model names them.
fn rows(file: &ModelFile, place: &Place, context: &mut Context) -> Option<Vec<String>> {
    let before = context.out.errors();
    let sets = file.set.as_deref().unwrap_or_default();
    if sets.is_empty() {
        context.out.error(place, "a sweeping process needs a moving set").hint("add [[set]] with a name");
    }
    let mut rows = Vec::new();
    for table in sets {
        let Some(name) = label(&table.name, &mut context.out) else { continue };
        match (&table.state, &table.center, &table.inside) {
            (Some(_), None, None) => rows.extend(["lower", "upper"].map(|end| format!("{name}.{end}"))),
            (None, Some(_), None) => rows.push(name),
            (None, None, Some(inside)) => rows.extend(half_spaces(table, inside)),
            _ => {
                let hint = "an interval has `state` with `lower` and `upper`, a ball `center` and `radius`, half-spaces `inside`";
                context.out.error(&table.place, "a set is an interval, a ball, or half-spaces").hint(hint);
            }
        }
    }
    let mut seen = HashSet::new();
    if let Some(twice) = rows.iter().find(|name| !seen.insert(name.as_str())) {
        let last = sets.iter().rev().find(|table| twice.starts_with(&table.name.value));
        let message = format!("the name `{twice}` is taken by another set");
        context.out.error(last.map_or(place, |table| &table.name.place), message);
    }
    (context.out.errors() == before).then_some(rows)
}

impl SweepingTable {
    fn compile(&self, rows: Vec<String>, file: &ModelFile, context: &mut Context) -> Option<Box<dyn Plan>> {
        let before = context.out.errors();
        let zero = context.graph.constant(0.0);
        let mut drift = vec![zero; context.names.coordinates.len()];
        for (key, formula) in self.drift.iter().flat_map(|drift| &drift.items) {
            let node = context.node_of_positions(formula, "the drift");
            if let (Some(Target::Position(i)), Some(node)) = (context.target(key, false), node) {
                drift[i] = node;
            }
        }
        let mut pieces = Vec::new();
        for set in file.set.iter().flatten() {
            match (&set.state, &set.center, &set.inside) {
                (Some(_), ..) => pieces.extend(interval(set, context)),
                (_, Some(center), _) => pieces.extend(ball(set, center, context)),
                (.., Some(inside)) => {
                    for (name, formula) in half_spaces(set, inside).into_iter().zip(&inside.items) {
                        pieces.extend(half_space(name, formula, context));
                    }
                }
                _ => {}
            }
        }
        if context.out.errors() > before {
            return None;
        }
        let drifts = self.drift.as_ref().is_some_and(|drift| !drift.items.is_empty());
        let drift = drifts.then(|| Tape::compile(&context.graph, &drift));
        Some(Box::new(SweepingPlan { states: context.names.coordinates.clone(), rows, pieces, drift }))
    }
}

/// A key that another kind of set has.
fn superfluous(formula: Option<&Formula>, what: &str, context: &mut Context) {
    if let Some(formula) = formula {
        context.out.error(&formula.place, format!("{what} has no such value"));
    }
}

fn interval(set: &SetTable, context: &mut Context) -> Option<PiecePlan> {
    superfluous(set.radius.as_ref(), "an interval", context);
    let Some(Target::Position(coordinate)) = context.target(set.state.as_ref()?, false) else { return None };
    if set.lower.is_none() && set.upper.is_none() {
        context.out.error(&set.place, "an interval needs `lower` or `upper`");
        return None;
    }
    let zero = context.graph.constant(0.0);
    let mut end = |formula: &Option<Formula>| match formula {
        Some(formula) => context.node_of_time(formula, "the end of the interval"),
        None => Some(zero),
    };
    let (lower, upper) = (end(&set.lower), end(&set.upper));
    Some(PiecePlan {
        name: set.name.value.clone(),
        shape: Shape::Interval { coordinate },
        numbers: Tape::compile(&context.graph, &[lower?, upper?]),
        open: [set.lower.is_none(), set.upper.is_none()],
    })
}

fn ball(set: &SetTable, center: &OneOrMore, context: &mut Context) -> Option<PiecePlan> {
    superfluous(set.lower.as_ref().or(set.upper.as_ref()), "a ball", context);
    let n = context.names.coordinates.len();
    if center.items.len() != n {
        let message = format!("the centre has {} coordinates, but there are {n} states", center.items.len());
        context.out.error(&center.place, message);
        return None;
    }
    let Some(radius) = &set.radius else {
        context.out.error(&set.place, "a ball needs `radius`");
        return None;
    };
    let nodes: Option<Vec<NodeId>> = center
        .items
        .iter()
        .chain([radius])
        .map(|formula| context.node_of_time(formula, "centre or radius of the ball"))
        .collect();
    let numbers = Tape::compile(&context.graph, &nodes?);
    Some(PiecePlan { name: set.name.value.clone(), shape: Shape::Ball, numbers, open: [false; 2] })
}

/// `a(t)·u − b(t) ≥ 0` from an expression that is affine in the states.
fn half_space(name: String, formula: &Formula, context: &mut Context) -> Option<PiecePlan> {
    let node = context.node_of_positions(formula, "a half-space")?;
    let n = context.names.coordinates.len();
    let mut numbers = context.graph.gradient(node, 1..=n);
    for (i, &slope) in numbers.iter().enumerate() {
        if context.graph.slots(slope).iter().any(|slot| *slot != 0) || context.graph.switches_with(&[node], 1..=n) {
            let message = format!("the expression is not affine in {}", context.names.coordinates[i]);
            context.out.error(&formula.place, message).hint("a half-space needs slopes that depend on t alone");
            return None;
        }
    }
    if numbers.iter().all(|&slope| context.graph.is_constant(slope) == Some(0.0)) {
        context.out.error(&formula.place, "the expression contains no state");
        return None;
    }
    let zeros: Vec<(usize, f64)> = (1..=n).map(|slot| (slot, 0.0)).collect();
    let at_zero = context.graph.bind(node, &zeros);
    let offset = context.graph.negate(at_zero);
    numbers.push(offset);
    let numbers = Tape::compile(&context.graph, &numbers);
    Some(PiecePlan { name, shape: Shape::HalfSpace, numbers, open: [false; 2] })
}

/// A piece of the set with its numbers, of time.
#[derive(Clone, Debug)]
struct PiecePlan {
    name: String,
    shape: Shape,
    numbers: Tape,
    /// Ends of an interval that are not given.
    open: [bool; 2],
}

impl PiecePlan {
    fn build(&self) -> Piece {
        let (mut evaluator, open) = (Evaluator::new(&self.numbers), self.open);
        Piece::new(&self.name, self.shape, move |t, out| {
            out.copy_from_slice(evaluator.eval(t, &[], &[]));
            for (k, end) in [f64::NEG_INFINITY, f64::INFINITY].into_iter().enumerate() {
                if open[k] {
                    out[k] = end;
                }
            }
            Ok(())
        })
    }
}

/// The pieces and the drift, with or without numbers.
#[derive(Clone, Debug)]
struct SweepingPlan {
    states: Vec<String>,
    rows: Vec<String>,
    pieces: Vec<PiecePlan>,
    /// Rates over `[t | u]`.
    drift: Option<Tape>,
}

impl Plan for SweepingPlan {
    fn bind(&self, _: &ModelFile, context: &mut Context) -> Option<Box<dyn Bound>> {
        let parameters = context.vector();
        let mut bound = self.clone();
        bound.pieces.iter_mut().for_each(|piece| piece.numbers = piece.numbers.bind(&parameters));
        bound.drift = bound.drift.map(|tape| tape.bind(&parameters));
        Some(Box::new(bound))
    }
}

impl Bound for SweepingPlan {
    fn laws(&self) -> Vec<LawInfo> {
        super::row_laws(&self.rows.iter().map(|name| (name.clone(), Law::UNILATERAL)).collect::<Vec<_>>())
    }

    fn model(&self, initial: &State) -> Result<AnyModel, BuildError> {
        let pieces = self.pieces.iter().map(PiecePlan::build).collect();
        let mut model = Sweeping::new(pieces, &initial.q)?.with_names(self.states.clone())?.starting_at(initial.t);
        if let Some(tape) = &self.drift {
            let mut evaluator = Evaluator::new(tape);
            model = model.with_drift(move |t, u, out| {
                out.copy_from_slice(evaluator.eval(t, u, &[]));
                Ok(())
            });
        }
        Ok(AnyModel::FirstOrder(Box::new(model)))
    }
}
