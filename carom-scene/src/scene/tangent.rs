//! The tangent of a scene: its equations once more, with named parameters as inputs.

use carom::State;
use carom::model::Tangent;
use carom::scheme::event_driven::Flow;
use carom::scheme::{EventDriven, Scheme};
use carom::sensitivity::{Sensitivity, SensitivityError, StepSensitivity};
use carom_solve::Options;

use super::blueprint::Energies;
use super::context::Context;
use super::coordinates::Target;
use super::{BuildError, Scene, lagrangian, law};
use crate::diagnostic::Diagnostics;
use crate::equations::{EquationTangent, Live, Slip, Source, SourceLaw};
use crate::expression::{NodeId, parse};
use crate::file::{Content, Formula, LinearTable, Matrix, ModelTable};

/// Largest linear model that is written out in equations.
const LIMIT: usize = 64;

impl Scene {
    /// Exact derivatives of the model, by the state and by the parameters named.
    ///
    /// # Errors
    /// Fails for first-order models, for unknown parameters, and for linear models of more than 64 coordinates.
    pub fn tangent(&self, parameters: &[&str]) -> Result<Box<dyn Tangent>, BuildError> {
        let mut context = Context::new(Diagnostics::default());
        let live = self.declare(parameters, &mut context)?;
        let energies = match &self.file().model {
            ModelTable::Lagrangian(table) => lagrangian::energies(table, &mut context),
            ModelTable::Linear(_) if self.coordinates.len() > LIMIT => {
                return Err(BuildError::Tangent(format!(
                    "derivatives of linear models are made for up to {LIMIT} coordinates, the model has {}",
                    self.coordinates.len()
                )));
            }
            ModelTable::Linear(table) => linear(table, &mut context),
            _ => return Err(BuildError::Family),
        };
        let lost = || BuildError::Tangent("the equations cannot be read with parameters as inputs".into());
        let energies = energies.ok_or_else(lost)?;
        let drafts = law::read(self.file(), &mut context).ok_or_else(lost)?;
        let coefficients = self.coefficients(&mut context);
        let laws = drafts.into_iter().map(|draft| SourceLaw {
            name: draft.name,
            law: draft.law,
            restitution: draft.restitution,
            outputs: draft.outputs.into_iter().map(|(node, _)| node).collect(),
            slip: if matches!(self.file().model, ModelTable::Linear(_)) { Slip::Displacement } else { draft.slip },
            region: draft.region.map(|(node, _)| node),
        });
        let source = Source {
            coordinates: self.coordinates.clone(),
            kinetic: energies.kinetic,
            potential: energies.potential,
            forces: energies.forces,
            laws: laws.collect(),
            initial: State::new(self.initial.t, &self.initial.q, &self.initial.v),
            graph: context.graph,
        };
        Ok(Box::new(EquationTangent::new(source, live, &coefficients)?))
    }

    /// The motion of this scene with its derivatives by the state and by the parameters named. It is event-driven, with the options of the
    /// scene where its scheme is that one, and to 1e-8 otherwise.
    ///
    /// # Errors
    /// As [`Scene::tangent`], and where the scheme does not take the model.
    pub fn sensitivity(&self, parameters: &[&str]) -> Result<Sensitivity, BuildError> {
        let scheme = match self.scheme.name == EventDriven::INFO.name {
            true => EventDriven::read(&self.scheme.options)?,
            false => EventDriven { flow: Flow::Rkf45, atol: 1e-8, rtol: 1e-8, ..EventDriven::default() },
        };
        let scheme = match &self.adaptive {
            Some(adaptive) => scheme.controlled(&adaptive.accuracy()).unwrap_or(scheme),
            None => scheme,
        };
        let solver = carom_solve::solver::find(&self.solver.name);
        let solver = solver.ok_or_else(|| BuildError::Solver(self.solver.name.clone()))?;
        let solver = (solver.build)(&self.solver.options)?;
        let models = [self.mechanical()?, self.mechanical()?];
        let motion = Sensitivity::new(scheme, models, self.tangent(parameters)?, solver);
        motion.map_err(|error| match error {
            SensitivityError::Scheme(error) => BuildError::Bind(error.into()),
            other => BuildError::Tangent(other.to_string()),
        })
    }

    /// A run of this scene's scheme with the derivatives of its steps by the state and by the parameters named.
    ///
    /// # Errors
    /// As [`Scene::tangent`], and for schemes whose steps have no derivative.
    pub fn step_sensitivity(&self, parameters: &[&str]) -> Result<StepSensitivity, BuildError> {
        let solver = carom_solve::solver::find(&self.solver.name);
        let solver = solver.ok_or_else(|| BuildError::Solver(self.solver.name.clone()))?;
        let solver = (solver.build)(&self.solver.options)?;
        let models = [self.mechanical()?, self.mechanical()?];
        let scheme = (self.scheme.name.as_str(), &self.scheme.options);
        StepSensitivity::new(scheme, models, self.tangent(parameters)?, solver).map_err(|error| match error {
            SensitivityError::Bind(error) => BuildError::Bind(error),
            other => BuildError::Tangent(other.to_string()),
        })
    }

    /// The value of an expression of parameters, and its derivative by one of them.
    ///
    /// # Errors
    /// Fails for unknown parameters, and for expressions that are not of parameters alone.
    pub fn slope(&self, text: &str, parameter: &str) -> Result<(f64, f64), BuildError> {
        let mut context = Context::new(Diagnostics::default());
        let live = self.declare(&[parameter], &mut context)?;
        let lost = || BuildError::Tangent(format!("{text:?} is not an expression of parameters"));
        let node = context.graph.expression(text, &context.all).map_err(|_| lost())?;
        let slot = context.all.slots() - 1;
        let slope = context.graph.derivative(node, slot);
        let bound = context.graph.bind_all(&[node, slope], &[(slot, live.values[0])]);
        match [bound[0], bound[1]].map(|node| context.graph.is_constant(node)) {
            [Some(value), Some(slope)] => Ok((value, slope)),
            _ => Err(lost()),
        }
    }

    /// Declares time, coordinates and parameters: those named as inputs, those that follow from them as expressions, the rest as numbers.
    fn declare(&self, parameters: &[&str], context: &mut Context) -> Result<Live, BuildError> {
        let _ = context.all.declare_time();
        let _ = context.all.declare_coordinates(&self.coordinates);
        context.index = self.coordinates.iter().enumerate().map(|(i, name)| (name.clone(), i)).collect();
        context.coordinates = self.coordinates.clone();
        let mut live = Live::default();
        for name in parameters {
            let value =
                self.parameter(name).ok_or_else(|| BuildError::Tangent(format!("unknown parameter `{name}`")))?;
            if context.all.declare_parameter(name).is_err() {
                return Err(BuildError::Tangent(format!("the parameter `{name}` is named twice")));
            }
            live.names.push((*name).to_string());
            live.values.push(value);
        }
        for (name, value) in &self.parameters {
            let node = context.graph.constant(*value);
            let _ = context.parameters.define(name, node);
        }
        // definitions may stand in any order if they come from outside
        let mut waiting: Vec<&(String, f64)> = self.parameters.iter().filter(|p| !live.names.contains(&p.0)).collect();
        while !waiting.is_empty() {
            let before = waiting.len();
            waiting.retain(|(name, value)| {
                let node = match self.definition(name) {
                    Some(text) => self.live_node(&text, context),
                    None => Some(context.graph.constant(*value)),
                };
                let Some(node) = node else { return true };
                let follows = !context.graph.slots(node).is_empty();
                let node = if follows { node } else { context.graph.constant(*value) };
                let _ = context.all.define(name, node);
                false
            });
            if waiting.len() == before {
                return Err(BuildError::Tangent(format!("the parameter `{}` cannot be resolved", waiting[0].0)));
            }
        }
        Ok(live)
    }

    /// The expression that defines a parameter; nothing where it is a number.
    fn definition(&self, name: &str) -> Option<String> {
        if let Some((_, value)) = self.overrides().set.iter().rev().find(|(known, _)| known.trim() == name) {
            return value.trim().parse::<f64>().is_err().then(|| value.clone());
        }
        let entries = &self.file().parameters.as_ref()?.items;
        match &entries.iter().find(|(key, _)| key.value == name)?.1.content {
            Content::Number(_) => None,
            Content::Expression(text) => Some(text.clone()),
        }
    }

    /// The node of a definition once all parameters in it are known.
    fn live_node(&self, text: &str, context: &mut Context) -> Option<NodeId> {
        let ast = parse(text).ok()?;
        let known = |name: &str| self.parameter(name).is_none() || context.all.find(name).is_some();
        if !ast.names().all(|(name, _)| known(name)) {
            return None;
        }
        context.graph.build(&ast, &context.all).ok()
    }

    /// Restitution and friction of each law, contacts before constraints.
    fn coefficients(&self, context: &mut Context) -> Vec<[NodeId; 2]> {
        let zero = context.graph.constant(0.0);
        let contacts = self.file().contact.as_deref().unwrap_or_default();
        let mut all = Vec::new();
        for (i, law) in self.laws.iter().enumerate() {
            let table = contacts.get(i).filter(|_| !law.law.is_equality());
            let mut node =
                |formula: Option<&Formula>| formula.and_then(|formula| context.node(formula)).unwrap_or(zero);
            all.push([node(table.and_then(|t| t.restitution.as_ref())), node(table.and_then(|t| t.friction.as_ref()))]);
        }
        all
    }
}

/// A linear model as energies and forces: T = vᵀM v/2, forces f − C v − K q.
fn linear(table: &LinearTable, context: &mut Context) -> Option<Energies> {
    let n = context.coordinates.len();
    let zero = context.graph.constant(0.0);
    let mut forces = vec![zero; n];
    for (key, formula) in table.force.iter().flat_map(|force| &force.items) {
        if let (Some(Target::Position(i)), Some(node)) = (context.target(key, None, false), context.node(formula)) {
            forces[i] = node;
        }
    }
    let (mass, damping, stiffness) = match &table.chain {
        Some(chain) => (Some(&chain.mass), chain.damping.as_ref(), chain.stiffness.as_ref()),
        None => (table.mass.as_ref(), table.damping.as_ref(), table.stiffness.as_ref()),
    };
    let (half, mut kinetic) = (context.graph.constant(0.5), Vec::new());
    for (i, j, node) in entries(mass, table.chain.is_some(), context)? {
        let (a, b) = (context.velocity(i), context.velocity(j));
        let (a, b) = (context.graph.input(a), context.graph.input(b));
        let square = context.graph.multiply(a, b);
        let term = context.graph.multiply(node, square);
        kinetic.push(context.graph.multiply(half, term));
    }
    for (matrix, first) in [(damping, context.velocity(0)), (stiffness, 1)] {
        for (i, j, node) in entries(matrix, table.chain.is_some(), context)? {
            let x = context.graph.input(first + j);
            let term = context.graph.multiply(node, x);
            forces[i] = context.graph.subtract(forces[i], term);
        }
    }
    Some(Energies { kinetic: context.graph.sum(kinetic), potential: zero, forces })
}

/// The entries of a matrix, or of a chain whose elements have this one.
fn entries(matrix: Option<&Matrix>, chain: bool, context: &mut Context) -> Option<Vec<(usize, usize, NodeId)>> {
    let Some(matrix) = matrix else { return Some(Vec::new()) };
    let (n, mut all) = (context.coordinates.len(), Vec::new());
    for (i, row) in matrix.rows.iter().enumerate() {
        for (j, formula) in row.iter().enumerate() {
            let node = context.node(formula)?;
            let elements = if chain { n.saturating_sub(1) } else { 1 };
            all.extend((0..elements).map(|k| (i + k, j + k, node)).filter(|&(i, j, _)| i < n && j < n));
        }
    }
    Some(all)
}
