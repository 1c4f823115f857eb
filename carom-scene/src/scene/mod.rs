//! Scenes: model files with all names resolved, all numbers evaluated and all checks passed.

mod build;
mod chart;
pub(crate) mod check;
mod choice;
mod compile;
pub(crate) mod context;
pub(crate) mod coordinates;
mod cyclic;
pub(crate) mod draw;
mod event;
mod expect;
mod fit;
pub(crate) mod law;
mod output;
mod parameters;
mod reference;
mod region;
mod space;
mod span;
mod subject;
mod surface;
mod tangent;
mod units;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use carom::model::Mechanical;
use carom::model::{LcsError, SweepingError};
use carom::multibody::{Combine, MultibodyModel};
use carom::scheme::{AnyModel, BindError, Family, Stepper};
use carom::simulation::{Adaptive, Controller, FixedStep, Simulation, SimulationError};
use carom::{ImpactLaw, ModelError, State};
use carom_solve::{Law, OptionError, Solver};

pub use crate::expression::Evaluator;
pub use crate::kind::multibody::{Form, MeshForm};
pub use carom::simulation::Column;
pub use chart::ChartInfo;
pub use choice::{Choice, Chosen};
pub use draw::{ContactPlace, Drawing, Shape, ShapeKind};
pub use event::EventInfo;
pub use expect::{Expectation, Outcome, Quantity, Watch};
pub use output::{Outputs, Sampler, multipliers};
pub use reference::{Exact, Reference};
pub use space::{Space, SpaceBody, SpaceJoint, SpacePoint, SpaceShape};
pub use span::TimeSpan;

use crate::diagnostic::{Diagnostic, Diagnostics, SourceText};
use crate::equations::EquationError;
use crate::file::{self, ModelFile};
use crate::kind::Bound;
use compile::Plans;

/// What the command line or a program changes of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// Parameters and their values: numbers or expressions of parameters. Of repeated names the last one counts.
    pub set: Vec<(String, String)>,
    /// Scheme: a value ([`Choice::scheme`]), or text.
    pub scheme: Option<Chosen>,
    /// Solver, likewise.
    pub solver: Option<Chosen>,
    /// Step size [s], a number or an expression of parameters, instead of `step` or `steps` of the file.
    pub step: Option<Amount>,
    /// Number of steps, instead of `step` or `steps` of the file.
    pub steps: Option<u64>,
    /// End of the time span [s].
    pub end: Option<f64>,
    /// Time between rows of the results besides the steps [s], a number or an expression of parameters.
    pub output: Option<Amount>,
    /// Adaptive steps: a tolerance, an inline table such as `{ tolerance = 1e-6 }`, or "off".
    pub adaptive: Option<String>,
}

/// A number from outside a file, as such or as an expression of parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Amount {
    /// The number.
    Number(f64),
    /// An expression.
    Text(String),
}

impl From<f64> for Amount {
    fn from(value: f64) -> Amount {
        Amount::Number(value)
    }
}

impl From<String> for Amount {
    fn from(text: String) -> Amount {
        match text.trim().parse() {
            Ok(number) => Amount::Number(number),
            Err(_) => Amount::Text(text),
        }
    }
}

/// A contact or constraint of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct LawInfo {
    /// Name in the file.
    pub name: String,
    /// Law of the multipliers, with its friction.
    pub law: Law,
    /// [-]
    pub restitution: f64,
    /// Along the tangents [-].
    pub tangential: f64,
}

/// A joint with play: a pin in a hole, a ball in a socket or a slider in a guide.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayInfo {
    /// Name of the joint.
    pub joint: String,
    /// The play [m].
    pub size: f64,
    /// Laws of its contacts, by their numbers.
    pub laws: Vec<usize>,
    /// Columns that tell the place in the hole, in parts of the play: one over the other.
    pub orbits: Vec<(String, String)>,
    /// Whether the columns are bound by a square; else by a circle.
    pub is_square: bool,
}

/// A checked model file, ready to run as often as wanted.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Name of the model in the file.
    pub name: String,
    /// Free text of the file about the model, if it has any.
    pub description: Option<String>,
    /// Names and values, in the order of the file.
    pub parameters: Vec<(String, f64)>,
    /// Mechanical, or of first order.
    pub family: Family,
    /// Coordinates, or states of a first-order model.
    pub coordinates: Vec<String>,
    /// Names of the velocities: those of the coordinates where they are their rates, none of a first-order model.
    pub velocities: Vec<String>,
    /// Coordinates in which the model repeats itself: number, and length after which it does; zero where nothing
    /// depends on it.
    pub cyclic: Vec<(usize, f64)>,
    /// Contacts, then constraints, or the rows of a first-order model; the position is the key of the law.
    pub laws: Vec<LawInfo>,
    /// Joints with play.
    pub plays: Vec<PlayInfo>,
    /// State at the start of the span, after all checks.
    pub initial: State,
    /// Start, end and step [s].
    pub span: TimeSpan,
    /// Scheme with its options.
    pub scheme: Choice,
    /// Solver with its options.
    pub solver: Choice,
    /// How impacts of contacts that touch at the same time are resolved.
    pub impacts: ImpactLaw,
    /// Steps by the local error; equal ones where there is nothing.
    pub adaptive: Option<Adaptive>,
    /// Zero functions to watch, in the order of the file.
    pub events: Vec<EventInfo>,
    /// Every n-th step is recorded.
    pub every: u64,
    /// Time between rows that are recorded besides the steps [s], where it is given.
    pub output: Option<f64>,
    /// Charts of the report, besides those that every report has.
    pub charts: Vec<ChartInfo>,
    /// Units of result columns by their full names, where they differ from what such columns have by themselves, and
    /// of parameters as `parameter.NAME`.
    pub units: BTreeMap<String, String>,
    /// Expressions to record besides the state.
    pub outputs: Outputs,
    /// Shapes for animations, if the file has any.
    pub drawing: Option<Drawing>,
    /// Exact solution to compare with, if the file names one.
    pub reference: Option<Reference>,
    /// Numbers that a run must reproduce, in the order of the file.
    pub expectations: Vec<Expectation>,
    /// Findings that do not keep the file from running.
    pub warnings: Vec<Diagnostic>,
    source: Arc<SourceText>,
    file: Arc<ModelFile>,
    overrides: Overrides,
    plans: Plans,
    /// Numbers of measures of each row in the higher-order sweeping process; none with other schemes.
    levels: Vec<usize>,
    bound: Arc<dyn Bound>,
}

/// A scene that could not become a model, a stepper or a simulation. Loading has tried all three, so that it does not
/// happen.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// Energies, gaps or forces do not make a mechanical model.
    #[error(transparent)]
    Equations(#[from] EquationError),
    /// Matrices of a linear model that do not fit together.
    #[error("the matrices of the linear model differ in size")]
    Size,
    /// A first-order model where only a mechanical one will do.
    #[error("this is a first-order model, not a mechanical one")]
    Family,
    /// Matrices do not make a linear complementarity system.
    #[error(transparent)]
    Lcs(#[from] LcsError),
    /// Pieces do not make a sweeping process.
    #[error(transparent)]
    Sweeping(#[from] SweepingError),
    /// Derivatives that cannot be had; the reason.
    #[error("{0}")]
    Tangent(String),
    /// No scheme has this name.
    #[error("unknown scheme `{0}`")]
    Scheme(String),
    /// No solver has this name.
    #[error("unknown solver `{0}`")]
    Solver(String),
    /// A wrong option of the solver, or of the scheme in [`Scene::sensitivity`].
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The scheme refuses its options, the model or the solver.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The model cannot answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The time span or the step does not make a run.
    #[error(transparent)]
    Simulation(Box<SimulationError>),
}

impl From<SimulationError> for BuildError {
    fn from(error: SimulationError) -> Self {
        BuildError::Simulation(Box::new(error))
    }
}

/// Reads a model file and checks it.
///
/// # Errors
/// Returns everything that is wrong, in the order of the file; warnings are among it.
pub fn load(path: &Path, overrides: &Overrides) -> Result<Scene, Vec<Diagnostic>> {
    let source = file::read_text(path).map_err(|error| vec![*error])?;
    from_source(&source, overrides)
}

/// Reads a model from a text; `name` stands for the file in messages.
///
/// # Errors
/// As [`load`].
pub fn from_str(name: &str, text: &str, overrides: &Overrides) -> Result<Scene, Vec<Diagnostic>> {
    from_source(&SourceText::new(name, text), overrides)
}

fn from_source(source: &Arc<SourceText>, overrides: &Overrides) -> Result<Scene, Vec<Diagnostic>> {
    let mut out = Diagnostics::default();
    match ModelFile::collect(source, &mut out) {
        Some(file) => build::scene(source, &Arc::new(file), overrides, &Plans::default(), out),
        None => Err(out.finish(source)),
    }
}

impl Scene {
    /// The text of the file.
    pub fn text(&self) -> &str {
        &self.source.text
    }

    /// What the model is made of: the text of the file, and a mark of the bytes of each mesh that it names.
    pub fn content(&self) -> String {
        let folder = Path::new(&self.source.name).parent().unwrap_or(Path::new(""));
        let shapes = self.file.body.iter().flatten().flat_map(|body| body.shape.iter().flatten());
        let names = shapes.flat_map(|shape| shape.file.iter().chain(shape.parts.iter().flatten()));
        let mut content = self.text().to_owned();
        for name in names {
            // FNV-1a, as everywhere
            let mark = std::fs::read(folder.join(&name.value))
                .unwrap_or_default()
                .iter()
                .fold(0xcbf2_9ce4_8422_2325_u64, |mark, byte| {
                    (mark ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
                });
            content.push_str(&format!("\n# {}: {mark:016x}", name.value));
        }
        content
    }

    /// Name and text of the file.
    pub fn source(&self) -> &Arc<SourceText> {
        &self.source
    }

    /// The tables of the file.
    pub fn file(&self) -> &ModelFile {
        &self.file
    }

    /// The law with this key.
    pub fn law(&self, key: carom::Key) -> Option<&LawInfo> {
        self.laws.get(usize::try_from(key.0).ok()?)
    }

    /// The value of a parameter.
    pub fn parameter(&self, name: &str) -> Option<f64> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// The same scene with other values of parameters, for sweeps. The equations are shared, unless a parameter is
    /// changed that decides on their form (a number of elements, an exponent, the value of a circuit's element, a
    /// factor that is 0 or 1); all checks are done anew.
    ///
    /// # Errors
    /// Fails if a parameter does not exist, or if a check fails with the new values.
    pub fn with(&self, values: &[(&str, f64)]) -> Result<Scene, Vec<Diagnostic>> {
        let mut overrides = self.overrides.clone();
        // 17 digits give the same number back
        overrides.set.extend(values.iter().map(|(name, value)| (name.to_string(), format!("{value:?}"))));
        self.with_overrides(&overrides)
    }

    /// The scene of the same file with other overrides; the present ones are [`Scene::overrides`].
    ///
    /// # Errors
    /// As [`load`].
    pub fn with_overrides(&self, overrides: &Overrides) -> Result<Scene, Vec<Diagnostic>> {
        build::scene(&self.source, &self.file, overrides, &self.plans, Diagnostics::default())
    }

    /// What was changed of the file.
    pub fn overrides(&self) -> &Overrides {
        &self.overrides
    }

    /// A new mechanical model at the initial state.
    ///
    /// # Errors
    /// Fails for first-order models.
    pub fn mechanical(&self) -> Result<Box<dyn Mechanical>, BuildError> {
        match self.model()? {
            AnyModel::Mechanical(model) => Ok(model),
            AnyModel::FirstOrder(_) => Err(BuildError::Family),
        }
    }

    /// A new model at the initial state.
    ///
    /// # Errors
    /// Does not fail for a scene that was loaded.
    pub fn model(&self) -> Result<AnyModel, BuildError> {
        self.bound.model(&self.initial)
    }

    /// What is seen of a model of bodies in space; `None` of others.
    pub fn space(&self) -> Option<Space> {
        self.bound.space()
    }

    /// How the coefficients of two materials make those of their contact; `None` where shapes do not touch by
    /// themselves.
    pub fn combine(&self) -> Option<&'static str> {
        self.bound.combine().map(|rule| rule.map_or("pairs as given", Combine::name))
    }

    /// A new model of bodies at the initial state; `None` where the model is none.
    pub fn multibody(&self) -> Option<MultibodyModel> {
        self.bound.multibody(&self.initial)?.ok()
    }

    /// A new stepper: model, scheme and solver.
    ///
    /// # Errors
    /// Does not fail for a scene that was loaded.
    pub fn stepper(&self) -> Result<Box<dyn Stepper>, BuildError> {
        self.stepper_with(|solver| solver)
    }

    /// A new stepper whose solver is wrapped, by one that counts or writes what it is given.
    ///
    /// # Errors
    /// Does not fail for a scene that was loaded.
    pub fn stepper_with(
        &self,
        wrap: impl FnOnce(Box<dyn Solver>) -> Box<dyn Solver>,
    ) -> Result<Box<dyn Stepper>, BuildError> {
        let scheme = carom::scheme::find(&self.scheme.name);
        let scheme = scheme.ok_or_else(|| BuildError::Scheme(self.scheme.name.clone()))?;
        let solver = carom_solve::solver::find(&self.solver.name);
        let solver = solver.ok_or_else(|| BuildError::Solver(self.solver.name.clone()))?;
        let solver = (solver.build)(&self.solver.options)?;
        let (options, model, solver) = (&self.scheme.options, self.model()?, wrap(solver));
        let mut stepper = match &self.adaptive {
            Some(adaptive) => (scheme.bind_adaptive)(options, adaptive.accuracy(), model, solver)?,
            None => (scheme.bind)(options, model, solver)?,
        };
        stepper.set_impact_law(self.impacts).map_err(BindError::Scheme)?;
        Ok(stepper)
    }

    /// A new control of the steps.
    pub fn controller(&self) -> Box<dyn Controller> {
        let TimeSpan { start, end, step } = self.span;
        match &self.adaptive {
            Some(adaptive) => Box::new(adaptive.control(step, (start, end))),
            None => Box::new(FixedStep { h: step }),
        }
    }

    /// A new simulation over the whole time span.
    ///
    /// # Errors
    /// Does not fail for a scene that was loaded.
    pub fn simulation(&self) -> Result<Simulation, BuildError> {
        self.simulation_with(|solver| solver)
    }

    /// A new simulation whose solver is wrapped.
    ///
    /// # Errors
    /// Does not fail for a scene that was loaded.
    pub fn simulation_with(
        &self,
        wrap: impl FnOnce(Box<dyn Solver>) -> Box<dyn Solver>,
    ) -> Result<Simulation, BuildError> {
        let mut simulation = Simulation::new(self.stepper_with(wrap)?, self.controller(), self.span.end)?;
        if self.file.simulation.shorten == Some(true) {
            simulation = simulation.shortening()?;
        }
        if self.file.simulation.part == Some(true) {
            simulation = simulation.parting()?;
        }
        Ok(self.events.iter().fold(simulation, |simulation, event| simulation.with_event(event.build())))
    }
}
