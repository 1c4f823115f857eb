//! All that is needed to make a model, as often as wanted: sweeps and parallel runs each get their own.

use carom::State;
use carom::model::{Linear, LinearContact, SparseMatrix};
use carom::scheme::AnyModel;

use super::BuildError;
use super::first_order::{LcsPlan, SweepingPlan};
use crate::equations::{Equations, Source, SourceLaw, StateEquations, StateSource};
use crate::expression::{Graph, NodeId, Tape};

/// The nodes of a model from energies.
#[derive(Clone, Debug)]
pub(super) struct Energies {
    pub kinetic: NodeId,
    pub potential: NodeId,
    pub forces: Vec<NodeId>,
}

/// The three matrices of a linear model.
#[derive(Clone, Debug)]
pub(super) struct Matrices {
    pub mass: SparseMatrix,
    pub damping: SparseMatrix,
    pub stiffness: SparseMatrix,
}

/// Forces of time on some coordinates.
#[derive(Clone, Debug)]
pub(super) struct TimeForces {
    pub tape: Tape,
    pub coordinates: Vec<usize>,
}

/// A model that can be built.
#[derive(Clone, Debug)]
pub(super) enum Blueprint {
    Lagrangian(Box<LagrangianPlan>),
    Linear(Box<LinearPlan>),
    Sweeping(Box<SweepingPlan>),
    Lcs(Box<LcsPlan>),
    State(Box<StateSource>),
}

#[derive(Clone, Debug)]
pub(super) struct LagrangianPlan {
    graph: Graph,
    coordinates: Vec<String>,
    energies: Energies,
    laws: Vec<SourceLaw>,
}

#[derive(Clone, Debug)]
pub(super) struct LinearPlan {
    pub matrices: Matrices,
    pub coordinates: Vec<String>,
    pub contacts: Vec<LinearContact>,
    pub forces: Option<TimeForces>,
}

impl Blueprint {
    pub fn lagrangian(graph: Graph, coordinates: Vec<String>, energies: Energies, laws: Vec<SourceLaw>) -> Blueprint {
        Blueprint::Lagrangian(Box::new(LagrangianPlan { graph, coordinates, energies, laws }))
    }

    /// Makes the model.
    pub fn build(&self, initial: &State) -> Result<AnyModel, BuildError> {
        Ok(match self {
            Blueprint::Lagrangian(plan) => {
                let source = Source {
                    graph: plan.graph.clone(),
                    coordinates: plan.coordinates.clone(),
                    kinetic: plan.energies.kinetic,
                    potential: plan.energies.potential,
                    forces: plan.energies.forces.clone(),
                    laws: plan.laws.clone(),
                    initial: initial.clone(),
                };
                AnyModel::Mechanical(Box::new(Equations::new(source)?))
            }
            Blueprint::Linear(plan) => AnyModel::Mechanical(Box::new(plan.model(initial)?)),
            Blueprint::Sweeping(plan) => AnyModel::FirstOrder(plan.build(initial)?),
            Blueprint::Lcs(plan) => AnyModel::FirstOrder(plan.build(initial)?),
            Blueprint::State(source) => {
                AnyModel::FirstOrder(Box::new(StateEquations::new((**source).clone(), initial.clone())))
            }
        })
    }
}

impl LinearPlan {
    /// The linear model itself, which can tell whether its mass is positive definite.
    pub fn model(&self, initial: &State) -> Result<Linear, BuildError> {
        let Matrices { mass, damping, stiffness } = &self.matrices;
        let model = Linear::new(mass, damping, stiffness, initial.clone()).ok_or(BuildError::Size)?;
        let mut model = model.with_labels(self.coordinates.clone());
        for contact in &self.contacts {
            model = model.with_contact(contact.clone());
        }
        if let Some(TimeForces { tape, coordinates }) = self.forces.clone() {
            let (mut registers, mut values) = (tape.registers(), vec![0.0; coordinates.len()]);
            // a step starts where the last one ended
            let mut last = f64::NAN;
            model = model.with_force(Box::new(move |t, out| {
                if t != last {
                    tape.eval(&[t], &mut registers, &mut values);
                    last = t;
                }
                for (&i, value) in coordinates.iter().zip(&values) {
                    out[i] += value;
                }
            }));
        }
        Ok(model)
    }
}
