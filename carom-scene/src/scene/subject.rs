//! A scene as studies see it.

use std::sync::Arc;

use carom::model::{Mechanical, Tangent};
use carom::scheme::event_driven::Flow;
use carom::scheme::{EventDriven, Family, Scheme, Stepper};
use carom::sensitivity::{DifferenceTangent, Sensitivity, StepSensitivity};
use carom::simulation::{Direction, Simulation};
use carom::subject::{
    Exact as ExactForm, Meter, StateColumn, StateReader, Subject, SubjectError, SubjectLaw, SubjectMethod, ZeroFunction,
};
use carom::{Key, Labels, State};

use super::expect::Names;
use super::{BuildError, Choice, Chosen, Column, Exact, Expectation, Overrides, Quantity, Scene, Watch, units};
use crate::diagnostic::{Diagnostic, Place, SourceText};
use crate::expression::{Graph, Scope};
use crate::nearest::nearest;

/// Final positions that are noted where nothing is asked for.
const POSITIONS: usize = 8;

impl From<BuildError> for SubjectError {
    fn from(error: BuildError) -> Self {
        SubjectError::new(error.to_string(), "")
    }
}

/// The first reason why values are not good.
fn refused(findings: Vec<Diagnostic>) -> SubjectError {
    let message = findings.first().map_or("the model is refused".into(), |finding| finding.message.clone());
    SubjectError::new(message, findings.first().and_then(|f| f.hint.clone()).unwrap_or_default())
}

impl Scene {
    fn changed(&self, overrides: &Overrides) -> Result<Arc<dyn Subject>, SubjectError> {
        let told = |findings: Vec<Diagnostic>| {
            let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
            SubjectError::new(lines.join("\n"), "")
        };
        Ok(Arc::new(self.with_overrides(overrides).map_err(told)?))
    }

    /// Does something with the names that quantities may speak of.
    fn with_names<T>(&self, then: impl FnOnce(&Names<'_>) -> T) -> T {
        let (columns, events) = (self.columns(), Subject::events(self));
        let laws: Vec<&str> = self.laws.iter().map(|law| law.name.as_str()).collect();
        let (family, coordinates, velocities) = (self.family, &self.coordinates[..], &self.velocities[..]);
        then(&Names { family, coordinates, velocities, columns: &columns, events: &events, laws: &laws })
    }
}

impl Subject for Scene {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        self.description.as_deref().unwrap_or_default()
    }

    fn text(&self) -> &str {
        Scene::text(self)
    }

    fn identity(&self) -> String {
        format!("{:?}\n{}", self.overrides, self.content())
    }

    fn family(&self) -> Family {
        self.family
    }

    fn parameters(&self) -> &[(String, f64)] {
        &self.parameters
    }

    fn coordinates(&self) -> &[String] {
        &self.coordinates
    }

    fn velocities(&self) -> &[String] {
        &self.velocities
    }

    fn cyclic(&self) -> &[(usize, f64)] {
        &self.cyclic
    }

    fn unit(&self, name: &str) -> Option<String> {
        let names = match name.strip_suffix('\'') {
            Some(base) => [format!("v.{base}"), String::new()],
            None => [format!("q.{name}"), format!("x.{name}")],
        };
        let named = |column: &str| column == name || names.iter().any(|other| other == column);
        let Some((full, column)) = self.columns().into_iter().find(|(column, _)| named(column)) else {
            return self.units.get(&units::of_parameter(name)).cloned();
        };
        let contacts = self.laws.iter().map(|law| (law.name.clone(), law.law)).collect();
        let (coordinates, velocities) = (self.coordinates.clone(), self.velocities.clone());
        let labels = Labels { coordinates, velocities, contacts, ..Labels::default() };
        let own = || column.unit(self.family, &labels).map(String::from);
        self.units.get(&full).cloned().or_else(own)
    }

    fn laws(&self) -> Vec<SubjectLaw<'_>> {
        let laws = self.laws.iter().enumerate();
        laws.map(|(i, info)| SubjectLaw {
            key: Key::from(i),
            name: &info.name,
            law: &info.law,
            restitution: info.restitution,
        })
        .collect()
    }

    fn events(&self) -> Vec<&str> {
        self.events.iter().map(|event| event.name.as_str()).collect()
    }

    fn initial(&self) -> &State {
        &self.initial
    }

    fn span(&self) -> (f64, f64, f64) {
        (self.span.start, self.span.end, self.span.step)
    }

    fn method(&self) -> SubjectMethod {
        SubjectMethod {
            scheme: self.scheme.name.clone(),
            words: self.scheme.describe(),
            table: self.scheme.table(),
            adaptive: self.adaptive.is_some(),
        }
    }

    fn exact(&self) -> Option<ExactForm<'_>> {
        let reference = self.reference.as_ref()?;
        Some(match &reference.solution {
            Exact::Motion(exact) => ExactForm::Motion(exact.as_ref(), &reference.testbed),
            Exact::State(exact) => ExactForm::State(exact.as_ref(), &reference.testbed),
        })
    }

    fn with(&self, values: &[(&str, f64)]) -> Result<Arc<dyn Subject>, SubjectError> {
        Ok(Arc::new(Scene::with(self, values).map_err(refused)?))
    }

    fn with_equal_steps(&self) -> Result<Arc<dyn Subject>, SubjectError> {
        if self.adaptive.is_none() {
            return Ok(Arc::new(self.clone()));
        }
        if self.overrides.step.is_none() {
            let message = "the study needs equal steps, the model file has adaptive ones";
            return Err(SubjectError::new(message, "give --step SECONDS"));
        }
        self.changed(&Overrides { adaptive: Some("off".into()), ..self.overrides.clone() })
    }

    fn with_events(&self, tolerance: f64) -> Result<Arc<dyn Subject>, SubjectError> {
        if self.family != Family::Mechanical {
            let message = "the study needs a mechanical model, this one is of first order";
            return Err(SubjectError::new(message, "see `carom docs studies`"));
        }
        let name = EventDriven::INFO.name;
        if self.scheme.name == name {
            return Ok(Arc::new(self.clone()));
        }
        if self.overrides.scheme.is_some() {
            let scheme = &self.scheme.name;
            return Err(SubjectError::new(
                format!("derivatives go through impacts with the scheme `{name}` alone, not with `{scheme}`"),
                "leave out --scheme, or take `carom lyapunov` with `--method perturbation` or `tangent`",
            ));
        }
        // the flow that is quickest between impacts
        let scheme =
            EventDriven { flow: Flow::Rkf45, atol: Some(tolerance), rtol: tolerance, ..EventDriven::default() };
        let adaptive = self.adaptive.is_some();
        self.changed(&Overrides {
            scheme: Some(Choice::scheme(&scheme).into()),
            adaptive: adaptive.then(|| "off".into()),
            step: self.overrides.step.clone().or_else(|| adaptive.then_some(self.span.step.into())),
            ..self.overrides.clone()
        })
    }

    fn with_method(&self, scheme: Option<&str>, adaptive: Option<&str>) -> Result<Arc<dyn Subject>, SubjectError> {
        let scheme = scheme.map(Chosen::from).or_else(|| self.overrides.scheme.clone());
        self.changed(&Overrides { scheme, adaptive: adaptive.map(str::to_owned), ..self.overrides.clone() })
    }

    fn stepper(&self) -> Result<Box<dyn Stepper>, SubjectError> {
        Ok(Scene::stepper(self)?)
    }

    fn simulation(&self, size: Option<f64>) -> Result<Simulation, SubjectError> {
        let Some(size) = size else { return Ok(Scene::simulation(self)?) };
        let mut scene = self.clone();
        match &mut scene.adaptive {
            Some(adaptive) => adaptive.tolerance = Some(size),
            None => scene.span.step = size,
        }
        Ok(Scene::simulation(&scene)?)
    }

    fn mechanical(&self) -> Result<Box<dyn Mechanical>, SubjectError> {
        Ok(Scene::mechanical(self)?)
    }

    fn tangent(&self) -> Result<Box<dyn Tangent>, SubjectError> {
        match Scene::tangent(self, &[]) {
            Ok(tangent) => Ok(tangent),
            // large linear models
            Err(_) => Ok(Box::new(DifferenceTangent::new(Scene::mechanical(self)?))),
        }
    }

    fn sensitivity(&self, parameters: &[&str]) -> Result<Sensitivity, SubjectError> {
        Ok(Scene::sensitivity(self, parameters)?)
    }

    fn step_sensitivity(&self, parameters: &[&str]) -> Result<StepSensitivity, SubjectError> {
        Ok(Scene::step_sensitivity(self, parameters)?)
    }

    fn value(&self, expression: &str) -> Result<f64, SubjectError> {
        let (mut graph, mut scope) = (Graph::new(), Scope::new());
        for (name, value) in &self.parameters {
            let node = graph.constant(*value);
            // names of a scene are good and different
            let _ = scope.define(name, node);
        }
        let node = graph.expression(expression, &scope).map_err(|error| {
            let hint = error.hint();
            let hint = hint.unwrap_or_else(|| "use numbers and parameters of the model, such as 2*pi/om".into());
            SubjectError::new(error.to_string(), hint)
        })?;
        let none = || SubjectError::new("it is no number", "use numbers and parameters of the model, such as 2*pi/om");
        graph.is_constant(node).ok_or_else(none)
    }

    fn slope(&self, expression: &str, parameter: &str) -> Result<(f64, f64), SubjectError> {
        Ok(Scene::slope(self, expression, parameter)?)
    }

    fn column(&self, name: &str) -> Result<StateColumn, SubjectError> {
        Ok(match self.with_names(|names| names.column(name))? {
            Column::Position(i) => StateColumn::Position(i),
            Column::Velocity(i) => StateColumn::Velocity(i),
            Column::Output(i) => StateColumn::Output(i),
            _ => StateColumn::Other,
        })
    }

    fn reader(&self, column: StateColumn) -> Option<StateReader> {
        Some(match column {
            StateColumn::Position(i) => Box::new(move |state| state.q.get(i).copied().unwrap_or(f64::NAN)),
            StateColumn::Velocity(i) => Box::new(move |state| state.v.get(i).copied().unwrap_or(f64::NAN)),
            StateColumn::Output(i) => {
                let mut outputs = self.outputs.evaluator();
                Box::new(move |state| outputs.eval(state.t, &state.q, &state.v).get(i).copied().unwrap_or(f64::NAN))
            }
            StateColumn::Other => return None,
        })
    }

    fn event(&self, index: usize) -> Option<ZeroFunction> {
        let event = self.events.get(index)?;
        let sign = if event.direction == Direction::Falling { -1.0 } else { 1.0 };
        let mut function = event.function();
        Some(Box::new(move |t, q, v| sign * function(t, q, v)))
    }

    fn suggest<'a>(&self, wrong: &str, known: &[&'a str]) -> Option<&'a str> {
        nearest(wrong, known.iter().copied())
    }

    fn quantities(&self) -> Vec<String> {
        let positions = self.coordinates.iter().take(POSITIONS).enumerate();
        let mut known = vec![Quantity::Impacts];
        let mut all = vec!["impacts".to_owned()];
        for (i, name) in positions {
            known.push(Quantity::Final(Column::Position(i)));
            all.push(format!("final q.{name}"));
        }
        let is_new = |e: &&Expectation| !known.contains(&e.quantity) && !matches!(e.quantity, Quantity::Estimate(_));
        all.extend(self.expectations.iter().filter(is_new).map(|e| e.text.clone()));
        all
    }

    fn meter(&self, quantities: &[String]) -> Result<Box<dyn Meter>, SubjectError> {
        let source = SourceText::new("quantity", String::new());
        let place = Place { source, span: 0..0, field: "quantity".into() };
        let mut scene = self.clone();
        scene.expectations = self.with_names(|names| {
            let expectation = |text: &String| {
                Ok(Expectation {
                    text: text.clone(),
                    quantity: match names.quantity(text)? {
                        Quantity::Estimate(_) => {
                            let message = format!("{text:?} is no quantity of one run");
                            return Err(SubjectError::new(message, "`carom run --estimate` has it"));
                        }
                        quantity => quantity,
                    },
                    value: 0.0,
                    tolerance: f64::INFINITY,
                    source: None,
                    place: place.clone(),
                })
            };
            quantities.iter().map(expectation).collect::<Result<_, SubjectError>>()
        })?;
        Ok(Box::new(scene.watch()))
    }
}

impl Meter for Watch {
    fn values(&self) -> Vec<f64> {
        self.outcomes().iter().map(|outcome| outcome.actual).collect()
    }
}
