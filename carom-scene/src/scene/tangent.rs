//! The tangent of a scene: the derivatives of its tapes along the state and along named parameters.

use carom::ImpactLaw;
use carom::model::{Mechanical, Tangent};
use carom::scheme::event_driven::Flow;
use carom::scheme::{AnyModel, EventDriven, Scheme};
use carom::sensitivity::{DifferenceTangent, Sensitivity, SensitivityError, StepSensitivity};
use carom_solve::Options;

use super::context::{Context, Parameter};
use super::{BuildError, LawInfo, Scene, parameters};
use crate::diagnostic::Diagnostics;
use crate::equations::{EquationTangent, Live};
use crate::expression::{Graph, NodeId, Scope, parse};
use crate::file::{Content, Formula};
use crate::law;

impl Scene {
    /// Derivatives of the model, by the state and by the parameters named: exact, but for the parameters of bodies,
    /// which are [differences](DifferenceTangent) of models that are made anew, good to about 1e-10.
    ///
    /// # Errors
    /// Fails for first-order models, for unknown parameters, for linear models of more than 64 coordinates, and for
    /// parameters that decide on the number of bodies or contacts.
    pub fn tangent(&self, parameters: &[&str]) -> Result<Box<dyn Tangent>, BuildError> {
        if let Some(own) = self.bound.tangent(&self.initial).filter(|_| parameters.is_empty()) {
            return own;
        }
        if self.mechanical()?.friction_varies() {
            return Err(BuildError::Tangent(SensitivityError::VaryingFriction.to_string()));
        }
        let lost = || BuildError::Tangent("the equations cannot be read with parameters as inputs".into());
        let mut relations = Relations::new(self, parameters)?;
        if !self.bound.has_equations() {
            return self.difference_tangent(parameters);
        }
        let live: Vec<Live> =
            (0..parameters.len()).map(|k| relations.live(self, k)).collect::<Option<_>>().ok_or_else(lost)?;
        let moves = |i: usize| live.iter().any(|live| live.direction[i] != 0.0);
        let mut context = Context::new(Diagnostics::default());
        let names = self.file().parameters.iter().flat_map(|entries| &entries.items);
        for (i, ((name, _), (_, value))) in names.zip(&self.parameters).enumerate() {
            let node = context.graph.constant(*value);
            let _ = context.parameters.define(&name.value, node);
            context.values.push(Parameter { kept: moves(i), ..Parameter::new(name.clone(), *value) });
        }
        let compiled = self.plans.find(self.file(), &mut context).ok_or_else(lost)?;
        let equations = compiled.model.as_ref().ok_or_else(lost)?.equations()?;
        let laws: Vec<_> = self.laws.iter().map(|law| (law.law, [law.restitution, law.tangential])).collect();
        Ok(Box::new(EquationTangent::new(&equations.bind(&context.vector(), &laws), live)))
    }

    /// The state by the model's own tangent, parameters by differences.
    fn difference_tangent(&self, parameters: &[&str]) -> Result<Box<dyn Tangent>, BuildError> {
        let mut tangent = DifferenceTangent::new(self.mechanical()?);
        if let Some(own) = self.bound.tangent(&self.initial) {
            tangent = tangent.with_state(own?);
        }
        for name in parameters {
            let value = self.parameter(name).unwrap_or(f64::NAN);
            tangent = tangent.with_checked_parameter(name, value, &self.initial, |at| self.model_at(name, at))?;
        }
        Ok(Box::new(tangent))
    }

    /// The model with another value of a parameter, at the same state: it need not be a good one to start from.
    fn model_at(&self, name: &str, value: f64) -> Result<Box<dyn Mechanical>, BuildError> {
        let mut overrides = self.overrides().clone();
        overrides.set.push((name.into(), format!("{value:?}")));
        let mut context = Context::new(Diagnostics::default());
        let bound = parameters::evaluate(self.file().parameters.as_ref(), &overrides, &mut context)
            .and_then(|()| self.plans.find(self.file(), &mut context))
            .and_then(|compiled| compiled.bind(self.file(), &mut context));
        let refused = |why: &str| BuildError::Tangent(format!("no derivative by `{name}`: at {value} {why}"));
        let Some(bound) = bound else {
            let findings = context.out.finish(self.source());
            return Err(refused(findings.first().map_or("there is no model", |finding| &finding.message)));
        };
        let laws = |laws: &[LawInfo]| laws.iter().map(|law| law.name.clone()).collect::<Vec<_>>();
        let same = context.names.coordinates == self.coordinates && laws(&bound.laws()) == laws(&self.laws);
        match bound.model(&self.initial)? {
            AnyModel::Mechanical(model) if same => Ok(model),
            _ => Err(refused("it has other bodies or contacts")),
        }
    }

    /// The motion of this scene with its derivatives by the state and by the parameters named. It is event-driven, with
    /// the options of the scene where its scheme is that one, and to 1e-8 otherwise.
    ///
    /// # Errors
    /// As [`Scene::tangent`], and where the scheme does not take the model.
    pub fn sensitivity(&self, parameters: &[&str]) -> Result<Sensitivity, BuildError> {
        self.has_newtons_law()?;
        let scheme = match self.scheme.name == EventDriven::INFO.name {
            true => EventDriven::read(&self.scheme.options)?,
            false => EventDriven { flow: Flow::Rkf45, atol: Some(1e-8), rtol: 1e-8, ..EventDriven::default() },
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
        self.has_newtons_law()?;
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

    /// Derivatives of a motion need that of its impacts.
    fn has_newtons_law(&self) -> Result<(), BuildError> {
        if self.impacts == ImpactLaw::Newton {
            return Ok(());
        }
        let law = self.impacts.name();
        let reason = format!("derivatives go through impacts of Newton's law alone, not with impacts = {law:?}");
        Err(BuildError::Tangent(reason))
    }

    /// The value of an expression of parameters, and its derivative by one of them.
    ///
    /// # Errors
    /// Fails for unknown parameters, and for expressions that are not of parameters alone.
    pub fn slope(&self, text: &str, parameter: &str) -> Result<(f64, f64), BuildError> {
        let mut relations = Relations::new(self, &[parameter])?;
        let lost = || BuildError::Tangent(format!("{text:?} is not an expression of parameters"));
        let node = relations.graph.expression(text, &relations.scope).map_err(|_| lost())?;
        let (value, slope) = (relations.value(node), relations.slope(node, 0));
        value.zip(slope).ok_or_else(lost)
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
}

/// All parameters as functions of a few: those named are inputs, those that follow from them expressions, the rest
/// numbers.
struct Relations {
    graph: Graph,
    scope: Scope,
    names: Vec<String>,
    /// Slots and values of those named.
    at: Vec<(usize, f64)>,
}

impl Relations {
    fn new(scene: &Scene, parameters: &[&str]) -> Result<Relations, BuildError> {
        let (mut graph, mut scope, mut at) = (Graph::new(), Scope::new(), Vec::new());
        for name in parameters {
            let value =
                scene.parameter(name).ok_or_else(|| BuildError::Tangent(format!("unknown parameter `{name}`")))?;
            let slot = scope.declare_parameter(name);
            let slot = slot.map_err(|_| BuildError::Tangent(format!("the parameter `{name}` is named twice")))?;
            at.push((slot, value));
        }
        // definitions may stand in any order if they come from outside
        let mut waiting: Vec<_> =
            scene.parameters.iter().filter(|(name, _)| !parameters.contains(&name.as_str())).collect();
        while !waiting.is_empty() {
            let before = waiting.len();
            waiting.retain(|(name, value)| {
                let known = |name: &str| scene.parameter(name).is_none() || scope.find(name).is_some();
                let node = match scene.definition(name).map(|text| parse(&text)) {
                    Some(Ok(ast)) if ast.names().all(|(name, _)| known(name)) => graph.build(&ast, &scope).ok(),
                    Some(_) => None,
                    None => Some(graph.constant(*value)),
                };
                let Some(node) = node else { return true };
                let follows = !graph.slots(node).is_empty();
                let node = if follows { node } else { graph.constant(*value) };
                let _ = scope.define(name, node);
                false
            });
            if waiting.len() == before {
                return Err(BuildError::Tangent(format!("the parameter `{}` cannot be resolved", waiting[0].0)));
            }
        }
        Ok(Relations { graph, scope, names: parameters.iter().map(|name| name.to_string()).collect(), at })
    }

    fn value(&mut self, node: NodeId) -> Option<f64> {
        let bound = self.graph.bind(node, &self.at);
        self.graph.is_constant(bound)
    }

    /// The derivative of a node by the k-th of those named.
    fn slope(&mut self, node: NodeId, k: usize) -> Option<f64> {
        let slope = self.graph.derivative(node, self.at[k].0);
        self.value(slope)
    }

    /// What changes with the k-th of those named.
    fn live(&mut self, scene: &Scene, k: usize) -> Option<Live> {
        let mut direction = Vec::new();
        for (name, _) in &scene.parameters {
            let node = self.graph.expression(name, &self.scope).ok()?;
            direction.push(self.slope(node, k)?);
        }
        let contacts = scene.file().contact.as_deref().unwrap_or_default();
        let (mut restitution, mut friction) = (vec![0.0; scene.laws.len()], Vec::new());
        for (out, table) in restitution.iter_mut().zip(contacts) {
            *out = self.coefficient(table.restitution.as_ref(), k)?;
            friction.push(0.0);
            for disc in law::discs(table) {
                let slope = self.coefficient(disc.coefficient, k)?;
                friction.extend((0..disc.rows).map(|_| slope));
            }
        }
        // constraints have none
        friction.resize(scene.laws.iter().map(|law| law.law.size()).sum(), 0.0);
        Some(Live { name: self.names[k].clone(), direction, restitution, friction })
    }

    fn coefficient(&mut self, formula: Option<&Formula>, k: usize) -> Option<f64> {
        match formula.map(|formula| &formula.content) {
            Some(Content::Expression(text)) => {
                let node = self.graph.expression(text, &self.scope).ok()?;
                self.slope(node, k)
            }
            _ => Some(0.0),
        }
    }
}
