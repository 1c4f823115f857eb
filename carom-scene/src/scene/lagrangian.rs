//! Models from energies: the tables become the nodes of [`Source`](crate::equations::Source).

use super::blueprint::{Blueprint, Energies};
use super::context::Context;
use super::coordinates::{DENSE_LIMIT, Target};
use super::law::LawDraft;
use crate::diagnostic::Place;
use crate::equations::{EquationError, SourceLaw};
use crate::expression::NodeId;
use crate::file::LagrangianTable;

/// Largest product of expression nodes and squared coordinates: derivation grows with it.
const WORK_LIMIT: usize = 20_000_000;

/// Checks the number of coordinates before anything of that size is made.
pub(super) fn check_size(table: &LagrangianTable, context: &mut Context) -> Option<()> {
    let n = table.coordinates.len();
    if n > DENSE_LIMIT {
        let message = format!("{n} coordinates are too many for a model from energies; the limit is {DENSE_LIMIT}");
        let place = table.coordinates.first().map_or(&table.place, |name| &name.place);
        context.out.error(place, message).hint("use kind = \"linear\" for large linear structures");
        return None;
    }
    Some(())
}

/// The energies and forces of a model; `None` if an expression has a mistake.
pub(super) fn energies(table: &LagrangianTable, context: &mut Context) -> Option<Energies> {
    let before = context.out.errors();
    let kinetic = context.node(&table.kinetic);
    let potential = match &table.potential {
        Some(formula) => context.node_of_positions(formula, "the potential energy"),
        None => Some(context.graph.constant(0.0)),
    };
    let zero = context.graph.constant(0.0);
    let mut forces = vec![zero; context.coordinates.len()];
    for (key, formula) in table.force.iter().flat_map(|force| &force.items) {
        if let (Some(Target::Position(i)), Some(node)) = (context.target(key, None, false), context.node(formula)) {
            forces[i] = node;
        }
    }
    if context.out.errors() > before {
        return None;
    }
    Some(Energies { kinetic: kinetic?, potential: potential?, forces })
}

/// The blueprint; `None` if deriving the equations would take too long.
pub(super) fn blueprint(
    table: &LagrangianTable,
    energies: Energies,
    laws: &[LawDraft],
    context: &mut Context,
) -> Option<Blueprint> {
    let n = context.coordinates.len();
    let work = context.graph.count().saturating_mul(n * n);
    if work > WORK_LIMIT {
        let message = format!(
            "the model is too large: {} terms with {n} coordinates; deriving it would take too long",
            context.graph.count()
        );
        context.out.error(&table.place, message);
        return None;
    }
    let laws = laws.iter().map(|draft| SourceLaw {
        name: draft.name.clone(),
        law: draft.law,
        restitution: draft.restitution,
        outputs: draft.outputs.iter().map(|(node, _)| *node).collect::<Vec<NodeId>>(),
        slip: draft.slip,
        region: draft.region.as_ref().map(|(node, _)| *node),
    });
    Some(Blueprint::lagrangian(context.graph.clone(), context.coordinates.clone(), energies, laws.collect()))
}

/// Where an error of the derivation belongs.
pub(super) fn report(error: &EquationError, table: &LagrangianTable, laws: &[LawDraft], context: &mut Context) {
    let of_law = |name: &str| laws.iter().find(|law| law.name == name).and_then(|law| law.outputs.first());
    let sliding_of = |name: &str| laws.iter().find(|law| law.name == name).and_then(|law| law.outputs.get(1));
    let (place, hint): (&Place, &str) = match error {
        EquationError::NotQuadratic { .. } => (
            &table.kinetic.place,
            "each term has a product of two velocities, as in m/2*x'^2; put other forces under force",
        ),
        EquationError::MassOfTime { .. } => (&table.kinetic.place, "the mass matrix may depend on coordinates only"),
        EquationError::PotentialOfVelocity { .. } => {
            (table.potential.as_ref().map_or(&table.place, |formula| &formula.place), "put it under force")
        }
        EquationError::SlidingNotLinear { law, .. } => (
            sliding_of(law).map_or(&table.place, |(_, place)| place),
            "each term has one velocity as a factor, as in x' + R*phi'",
        ),
        EquationError::OutputOfVelocity { law, .. } | EquationError::Outputs { law, .. } => {
            (of_law(law).map_or(&table.place, |(_, place)| place), "it may depend on t, coordinates and parameters")
        }
    };
    context.out.error(&place.clone(), error.to_string()).hint(hint);
}
