//! The kinds of models that a file can have. A kind is one file with its table, its names and its equations, and one
//! row of [`KINDS`]: reading, checks, the schema, the list of kinds and new files follow from the row.
//!
//! ```text
//!     table ──names──▶ scope ──compile──▶ Plan (once per file) ──bind──▶ Bound (with values) ──▶ models
//! ```

mod circuit;
mod element;
mod first_order;
mod lagrangian;
mod lcs;
mod linear;
pub(crate) mod multibody;
#[cfg(test)]
mod probe;
mod row;
mod sweeping;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use carom::State;
use carom::model::Tangent;
use carom::multibody::{Combine, MultibodyModel};
use carom::scheme::{AnyModel, Family};
use carom_solve::Law;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

pub use circuit::CircuitTable;
pub use element::{Element, Elements};
pub use first_order::FirstOrderTable;
pub use lagrangian::LagrangianTable;
pub use lcs::LcsTable;
pub use linear::{ChainTable, LinearTable};
pub use multibody::{
    AssembleTable, AttitudeTable, BearingTable, BodyShapeTable, BodyTable, ClearanceTable, ContactsTable, JointTable,
    LinkTable, LoadTable, MaterialPairTable, MaterialTable, MotorTable, MultibodyTable, SpringTable, StopsTable,
    Tensor,
};
#[cfg(test)]
pub use probe::FallTable;
pub use row::RowTable;
pub use sweeping::{SetTable, SweepingTable};

use crate::diagnostic::{Place, suggest};
use crate::equations::{EquationError, EquationPlan};
use crate::expression::NodeId;
use crate::file::{Formula, Integer, Item, ModelFile, Read, Reader, Text};
use crate::scene::context::Context;
use crate::scene::draw::Sketch;
use crate::scene::{BuildError, LawInfo, PlayInfo, Space, coordinates};

/// The kinds of models.
pub static KINDS: &[KindRow] = &[
    lagrangian::ROW,
    linear::ROW,
    sweeping::ROW,
    lcs::ROW,
    first_order::ROW,
    circuit::ROW,
    multibody::ROW,
    #[cfg(test)]
    probe::ROW,
];

/// A row of [`KINDS`].
#[derive(Debug)]
pub struct KindRow {
    /// The word after `kind =`.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// A file to start from; its name is NAME.
    pub template: &'static str,
    definition: fn() -> Cow<'static, str>,
    read: fn(&Item<'_>, &mut Reader<'_>) -> Option<Arc<dyn Kind>>,
    schema: fn(&mut SchemaGenerator) -> Schema,
}

/// The words of a row.
struct Words {
    name: &'static str,
    about: &'static str,
    template: &'static str,
}

impl KindRow {
    const fn of<T: Kind + Read + JsonSchema + 'static>(words: Words) -> KindRow {
        KindRow {
            name: words.name,
            about: words.about,
            template: words.template,
            definition: T::schema_name,
            read: |item, reader| T::read(item, reader).map(|table| Arc::new(table) as Arc<dyn Kind>),
            schema: |generator| generator.subschema_for::<T>(),
        }
    }

    /// Name of the table in the schema.
    pub(crate) fn definition(&self) -> String {
        (self.definition)().into_owned()
    }

    /// The template with the given name.
    pub fn example(&self, name: &str) -> String {
        // the characters that TOML wants escaped in a text
        let escape = |character: char| match character {
            '"' | '\\' => format!("\\{character}"),
            character if character.is_control() => format!("\\u{:04X}", character as u32),
            character => character.to_string(),
        };
        let name: String = name.chars().map(escape).collect();
        self.template.replacen("\"NAME\"", &format!("\"{name}\""), 1)
    }
}

/// The kind of a name.
pub fn find(name: &str) -> Option<&'static KindRow> {
    KINDS.iter().find(|row| row.name == name)
}

/// How the expressions of a model are read and compiled, once its names are declared.
pub(crate) type Compile<'a> = Box<dyn FnOnce(&ModelFile, &mut Context) -> Option<Box<dyn Plan>> + 'a>;

/// The table of a model. All mistakes are reported to the context; `None` means that there were some.
pub(crate) trait Kind: fmt::Debug + Send + Sync {
    /// Where the table stands.
    fn place(&self) -> &Place;

    /// Declares the names: nothing else can be understood before.
    fn names<'a>(&'a self, file: &ModelFile, context: &mut Context) -> Option<Compile<'a>>;

    /// Checks the numbers of a model whose expressions have mistakes; otherwise [`Plan::bind`] does.
    fn check_numbers(&self, file: &ModelFile, context: &mut Context);
}

/// The length of a mechanical model, where its table gives one; `None` where that makes no sense.
fn length(formula: Option<&Formula>, context: &mut Context) -> Option<Option<f64>> {
    let Some(formula) = formula else { return Some(None) };
    let length = context.number(formula)?;
    if length > 0.0 && length.is_finite() {
        return Some(Some(length));
    }
    let error = context.out.error(&formula.place, format!("the length {length} is not positive"));
    error.hint("it is the size of the model's gaps and motions in metres, or leave it out");
    None
}

/// How many operations derived equations may have.
fn most(operations: Option<&Integer>) -> usize {
    operations.map_or(EquationPlan::OPERATIONS, |most| usize::try_from(most.value).unwrap_or(0))
}

/// Equations with more operations than they may have.
fn too_large(error: &EquationError, operations: Option<&Integer>, table: &Place, context: &mut Context) {
    let place = operations.map_or(table, |most| &most.place);
    let error = context.out.error(place, error.to_string());
    error.hint("`operations` under [model] allows more; each takes about 300 bytes");
}

/// A model whose expressions are derived and compiled, with parameters as inputs.
pub(crate) trait Plan: fmt::Debug + Send + Sync {
    /// The model with the values of the context; numbers are read and checked.
    fn bind(&self, file: &ModelFile, context: &mut Context) -> Option<Box<dyn Bound>>;

    /// Columns that every run of the model has, with their full names.
    fn columns(&self) -> &[(String, NodeId)] {
        &[]
    }

    /// The drawing that the model has by itself.
    fn sketch(&self) -> Option<&Sketch> {
        None
    }

    /// The equations by which derivatives are taken.
    fn equations(&self) -> Result<&EquationPlan, BuildError> {
        Err(BuildError::Family)
    }
}

/// A model with values that can be made as often as wanted: sweeps and parallel runs each get their own.
pub(crate) trait Bound: fmt::Debug + Send + Sync {
    /// Contacts, then constraints, or rows.
    fn laws(&self) -> Vec<LawInfo>;

    /// Joints with play.
    fn plays(&self) -> Vec<PlayInfo> {
        Vec::new()
    }

    /// What is seen of a model in space.
    fn space(&self) -> Option<Space> {
        None
    }

    /// The rule by which materials combine, if any; `None` where shapes do not touch by themselves.
    fn combine(&self) -> Option<Option<Combine>> {
        None
    }

    /// The model itself, where it is one of bodies.
    fn multibody(&self, _initial: &State) -> Option<Result<MultibodyModel, BuildError>> {
        None
    }

    /// Positions and velocities at the start, where the model itself has them.
    fn initial(&self) -> Option<State> {
        None
    }

    /// A new model.
    fn model(&self, initial: &State) -> Result<AnyModel, BuildError>;

    /// Derivatives by the state, where the model has its own; those of equations are found by [`Plan::equations`].
    fn tangent(&self, _initial: &State) -> Option<Result<Box<dyn Tangent>, BuildError>> {
        None
    }

    /// Whether derivatives by parameters follow from [`Plan::equations`].
    fn has_equations(&self) -> bool {
        true
    }

    /// The model at the initial state, if it can start there.
    fn start(&self, state: &State, file: &ModelFile, context: &mut Context) -> Option<AnyModel> {
        let model = self.model(state);
        model.map_err(|error| context.out.error(file.model.table.place(), error.to_string())).ok()
    }
}

/// The model of a file: the row of its kind and its table.
#[derive(Clone, Debug)]
pub struct ModelTable {
    /// The kind.
    pub row: &'static KindRow,
    pub(crate) table: Arc<dyn Kind>,
}

impl Read for ModelTable {
    fn read(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let table = reader.table(item)?;
        let kind: Text = reader.field(table, "kind", &[], &reader.place(item.span()))?;
        let names = || KINDS.iter().map(|row| row.name);
        let Some(row) = find(&kind.value) else {
            let hint = suggest(&kind.value, names(), true, || {
                format!("valid kinds: {}", names().collect::<Vec<_>>().join(", "))
            });
            reader.out.error(&kind.place, format!("unknown kind of model {:?}", kind.value)).hint(hint);
            return None;
        };
        Some(ModelTable { row, table: (row.read)(item, reader)? })
    }
}

impl JsonSchema for ModelTable {
    fn schema_name() -> Cow<'static, str> {
        "ModelTable".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let kinds: Vec<Schema> = KINDS.iter().map(|row| (row.schema)(generator)).collect();
        json_schema!({ "oneOf": kinds })
    }
}

/// Declares the coordinates of a mechanical model, which has contacts and constraints and nothing else.
fn declare_coordinates(names: Vec<String>, file: &ModelFile, context: &mut Context) {
    let rows = file.row.iter().flatten().map(|row| &row.place);
    if let Some(place) = rows.chain(file.set.iter().flatten().map(|set| &set.place)).next() {
        let hint = "a mechanical model has [[contact]]s and [[constraint]]s";
        context.out.error(place, "[[row]] and [[set]] belong to first-order models").hint(hint);
    }
    multibody::refuse(file, context);
    coordinates::declare(names, context);
}

/// Most rows of a first-order model.
const ROW_LIMIT: usize = 256;

/// Declares states and multipliers of a first-order model. A name that is taken already keeps its meaning: the slot
/// then has a name that cannot be written.
fn declare_states(states: Vec<String>, rows: &[String], table: &dyn Kind, context: &mut Context) -> Option<()> {
    if states.len() > coordinates::DENSE_LIMIT || rows.len() > ROW_LIMIT {
        let message = format!(
            "{} states and {} rows are too many: the matrices are dense, the limits are {} and {ROW_LIMIT}",
            states.len(),
            rows.len(),
            coordinates::DENSE_LIMIT
        );
        context.out.error(table.place(), message);
        return None;
    }
    let multipliers = rows.iter().map(|name| format!("lambda_{}", name.replace(['-', '.'], "_"))).collect();
    context.names.family = Family::FirstOrder;
    coordinates::declare_states(states, multipliers, context);
    Some(())
}

/// Refuses tables that only mechanical models have, and sets unless the model is a moving one.
fn refuse_mechanical(file: &ModelFile, moving: bool, context: &mut Context) {
    let contacts = file.contact.iter().flatten().map(|table| &table.place);
    let constraints = file.constraint.iter().flatten().map(|table| &table.place);
    if let Some(place) = contacts.chain(constraints).next() {
        context
            .out
            .error(place, "contacts and constraints belong to mechanical models")
            .hint("the laws of a first-order model are [[row]]s, those of a sweeping process [[set]]s");
    }
    multibody::refuse(file, context);
    if !moving && let Some(set) = file.set.iter().flatten().next() {
        context.out.error(&set.place, "only a model of kind \"sweeping\" has a moving set");
    }
}

/// The laws of rows, which have no restitution.
fn row_laws(rows: &[(String, Law)]) -> Vec<LawInfo> {
    rows.iter()
        .map(|(name, law)| LawInfo { name: name.clone(), law: *law, restitution: 0.0, tangential: 0.0 })
        .collect()
}
