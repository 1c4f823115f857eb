//! Model files as text: every table of the format, version 1, with the place of each value.
//!
//! What a value means is not decided here; see [`crate::scene`].

mod friction;
mod method;
pub(crate) mod reader;
mod schema;
mod study;
mod syntax;
mod value;

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

pub use friction::{Friction, FrictionTable};
pub use method::{Method, Settings};
pub(crate) use reader::{Item, Read, Reader, table};
pub use schema::{schema, study_schema};
pub use study::{STUDY_EXAMPLE, StudyFile, StudyKind, StudyTable};
pub(crate) use value::entries;
pub use value::{Content, Entries, Formula, Integer, Matrix, OneOrMore, Point, Text, Words};

use crate::diagnostic::{Diagnostic, Diagnostics, SourceText};
use crate::kind::{
    AssembleTable, BodyTable, ContactsTable, JointTable, KINDS, LoadTable, MaterialPairTable, MaterialTable,
    ModelTable, MotorTable, RowTable, SetTable, SpringTable,
};

/// The version of the format that this library reads.
pub const VERSION: i64 = 1;

/// Largest accepted file [bytes].
pub const SIZE_LIMIT: u64 = 4 << 20;

table! {
    /// A model file: one experiment, that is a model, an initial state, a time span, a scheme and a solver.
    pub struct ModelFile {
        /// Version of the format: 1.
        pub version: Integer,
        /// Name of the experiment.
        pub name: Text,
        /// What the experiment shows.
        pub description: Option<Text>,
        /// Named numbers, or expressions of parameters above them.
        pub parameters: Option<Entries>,
        /// The equations of the model.
        pub model: ModelTable,
        /// Rigid bodies, of kind "multibody".
        pub body: Option<Vec<BodyTable>>,
        /// Joints between bodies.
        pub joint: Option<Vec<JointTable>>,
        /// Springs and dampers between bodies, or on joints.
        pub spring: Option<Vec<SpringTable>>,
        /// Forces and torques on bodies.
        pub load: Option<Vec<LoadTable>>,
        /// What drives joints.
        pub motor: Option<Vec<MotorTable>>,
        /// Closes the joints of a drawn mechanism before the run.
        pub assemble: Option<AssembleTable>,
        /// Unilateral contacts, with or without friction.
        pub contact: Option<Vec<ContactTable>>,
        /// Lets shapes of bodies touch by themselves.
        pub contacts: Option<ContactsTable>,
        /// What shapes are made of.
        pub material: Option<Vec<MaterialTable>>,
        /// Coefficients between two materials.
        pub material_pair: Option<Vec<MaterialPairTable>>,
        /// Bilateral constraints.
        pub constraint: Option<Vec<ConstraintTable>>,
        /// Laws of a first-order model.
        pub row: Option<Vec<RowTable>>,
        /// Pieces of the moving set of a sweeping process.
        pub set: Option<Vec<SetTable>>,
        /// Initial coordinates or states (in circuits by element), and velocities as keys in quotes with a prime; 0
        /// where missing. Numbers or expressions of parameters. `project = 1e-6` moves a start up to that far inside an
        /// obstacle to its surface.
        pub initial: Option<Entries>,
        /// Units of coordinates or states by name, of columns under [output.columns] by name, and of any result column
        /// by its full name in quotes: x = "m", phi = "rad", "y.diode" = "V". Velocities have the unit of their
        /// coordinate per second. In a model of bodies `length`, `mass` and `angle` are the units in which [[body]],
        /// [[joint]] and the like are written: length = "mm", mass = "g", angle = "deg". Results are in SI.
        pub units: Option<Words>,
        /// Coordinates in which the model repeats itself, with the length after which it does: phi = "2*pi" for an
        /// angle, y = 0 where nothing depends on y, which then may drift. Studies of orbits and attractors compare
        /// states so.
        pub cyclic: Option<Entries>,
        /// Time span, step, scheme and solver.
        pub simulation: SimulationTable,
        /// Events: functions whose zeros are recorded, or end the run.
        pub event: Option<Vec<EventTable>>,
        /// What is recorded.
        pub output: Option<OutputTable>,
        /// Charts of the report, before those that every report has.
        pub chart: Option<Vec<ChartTable>>,
        /// A planar drawing of the model.
        pub draw: Option<DrawTable>,
        /// An exact solution to compare with.
        pub reference: Option<ReferenceTable>,
        /// Numbers that a run must reproduce.
        pub expect: Option<Vec<ExpectTable>>,
    }
}

table! {
    /// A unilateral contact: gap >= 0, with Newton's restitution and Coulomb's friction.
    pub struct ContactTable {
        /// Name in results.
        pub name: Text,
        /// Gap, of coordinates and t; not between bodies [m].
        pub gap: Option<Formula>,
        /// Between bodies: the first shape, "body/shape".
        pub a: Option<Text>,
        /// Between bodies: the second shape, "body/shape".
        pub b: Option<Text>,
        /// Between bodies: repeats the table, as in [[body]].
        pub repeat as "for": Option<Words>,
        /// Newton's coefficient of restitution, in [0, 1]; 0 by default.
        pub restitution: Option<Formula>,
        /// Coefficient of restitution along the tangents, in [0, 1]; needs `friction`; 0 by default.
        pub tangential: Option<Formula>,
        /// Coulomb's coefficient of friction, not negative; needs `slip` or `sliding`. A number, an expression of t,
        /// coordinates, velocities and the sliding `speed` of the contact, or a table with `static` and `kinetic`.
        pub friction: Option<Friction>,
        /// Tangential displacement (planar), or a list of two (spatial) [m].
        pub slip: Option<OneOrMore>,
        /// Instead of `slip`: the sliding velocity, linear in the velocities, where no displacement exists [m/s].
        pub sliding: Option<OneOrMore>,
        /// Coefficient of rolling friction, the largest moment per normal force; needs `turning` and `friction` [m].
        pub rolling: Option<Formula>,
        /// Coefficient of spinning friction about the normal; needs `turning` and `friction` [m].
        pub spinning: Option<Formula>,
        /// Angles about the tangents, and about the normal with `spinning`; their rates where `sliding` is given [rad,
        /// rad/s].
        pub turning: Option<OneOrMore>,
        /// Where the gap counts: comparisons of t and coordinates joined by `and`, as in "x < 0"; everywhere by
        /// default.
        pub region as "where": Option<Formula>,
        /// Where it acts, for drawings: a point of the plane, of t, coordinates and velocities [m].
        pub at: Option<Point>,
        /// With `at`: the direction in which it pushes, of any length.
        pub normal: Option<Point>,
        /// Unit of the gap; "m" by default. Reactions then are energies per unit.
        pub unit: Option<Text>,
    }
}

table! {
    /// A bilateral constraint: value = 0.
    pub struct ConstraintTable {
        /// Name in results.
        pub name: Text,
        /// Expression of coordinates and t that stays zero.
        pub value: Formula,
    }
}

table! {
    /// Time span, step, scheme and solver.
    pub struct SimulationTable {
        /// Start of the time span; 0 by default [s].
        pub start: Option<Formula>,
        /// End of the time span [s].
        pub end: Formula,
        /// Size of a step [s]; or give `steps`. With `adaptive` the first step, a thousandth of the span by default.
        pub step: Option<Formula>,
        /// Number of equal steps; or give `step`.
        pub steps: Option<Formula>,
        /// Steps by the local error: its tolerance, or a table of options.
        pub adaptive: Option<Settings>,
        /// Rows of the results at multiples of this time after the start, besides those of the steps [s]. By default
        /// schemes that choose their steps add as many rows as it takes to draw the motion.
        pub output: Option<Formula>,
        /// Whether a step in which a contact is passed is taken again, shorter, such that it is seen; of shapes that
        /// touch by themselves, such that it ends where they meet.
        pub shorten: Option<bool>,
        /// Whether a step that does not converge is taken in parts, down to a 4096th of it.
        pub part: Option<bool>,
        /// How impacts of contacts that touch at the same time are resolved: "newton" (the default), "poisson", or
        /// "sequential", one after the other.
        pub impacts: Option<Text>,
        /// Time-stepping scheme: a name, or a table with a name and options.
        pub scheme: Option<Method>,
        /// Solver of the one-step problems: a name, or a table with a name and options.
        pub solver: Option<Method>,
    }
}

table! {
    /// A zero of an expression that is recorded, or ends the run.
    pub struct EventTable {
        /// Name in results.
        pub name: Text,
        /// Expression of t, coordinates and velocities whose zeros are sought.
        pub when: Formula,
        /// Which crossings count: "rising", "falling" or "both" (default).
        pub direction: Option<Text>,
        /// "record" (default) or "stop".
        pub action: Option<Text>,
    }
}

table! {
    /// What is recorded.
    pub struct OutputTable {
        /// Record every n-th step; the last one is always recorded.
        pub every: Option<Integer>,
        /// Further columns: expressions of t, coordinates and velocities; in first-order models of t, states and
        /// multipliers.
        pub columns: Option<Entries>,
    }
}

table! {
    /// A chart of the report.
    pub struct ChartTable {
        /// Its title; the names of its curves by default.
        pub title: Option<Text>,
        /// What is drawn, one or a list: result columns by their full names, as in "gap.floor", or expressions of t,
        /// coordinates and velocities (in first-order models of t, states and multipliers), which become columns.
        pub curves: OneOrMore,
        /// What they are drawn over, a column or an expression; time by default.
        pub over: Option<Formula>,
        /// Smallest and largest value shown; all of them by default.
        pub range: Option<OneOrMore>,
        /// The same for what they are drawn over.
        pub over_range as "over-range": Option<OneOrMore>,
        /// Whether the axis of values is logarithmic.
        pub log: Option<bool>,
    }
}

table! {
    /// A planar drawing; numbers are expressions of t, coordinates and velocities. Later shapes cover earlier ones.
    pub struct DrawTable {
        /// Straight lines.
        pub segment: Option<Vec<SegmentTable>>,
        /// Circles.
        pub circle: Option<Vec<CircleTable>>,
        /// Points.
        pub point: Option<Vec<PointTable>>,
        /// Closed polygons.
        pub polygon: Option<Vec<PolygonTable>>,
        /// Open lines through points.
        pub polyline: Option<Vec<PolygonTable>>,
    }
}

table! {
    /// A straight line.
    pub struct SegmentTable {
        /// First end [m].
        pub from: Point,
        /// Other end [m].
        pub to: Point,
        /// Name in the legend.
        pub name: Option<Text>,
        /// Colour of the line, as in "#334455".
        pub color: Option<Text>,
        /// Width of the line in pixels.
        pub width: Option<Formula>,
    }
}

table! {
    /// A circle.
    pub struct CircleTable {
        /// Centre [m].
        pub center: Point,
        /// Radius [m].
        pub radius: Formula,
        /// Name in the legend.
        pub name: Option<Text>,
        /// Colour of the line, as in "#334455".
        pub color: Option<Text>,
        /// Colour of the inside.
        pub fill: Option<Text>,
        /// Width of the line in pixels.
        pub width: Option<Formula>,
        /// Whether the path of the centre is drawn.
        pub trace: Option<bool>,
    }
}

table! {
    /// A point.
    pub struct PointTable {
        /// Position [m].
        pub at: Point,
        /// Name in the legend.
        pub name: Option<Text>,
        /// Colour, as in "#334455".
        pub color: Option<Text>,
        /// Half of the radius in pixels.
        pub width: Option<Formula>,
        /// Whether the path of the point is drawn.
        pub trace: Option<bool>,
    }
}

table! {
    /// A line through points.
    pub struct PolygonTable {
        /// Corners [m].
        pub points: Vec<Point>,
        /// Name in the legend.
        pub name: Option<Text>,
        /// Colour of the line, as in "#334455".
        pub color: Option<Text>,
        /// Colour of the inside.
        pub fill: Option<Text>,
        /// Width of the line in pixels.
        pub width: Option<Formula>,
    }
}

table! {
    /// An exact solution to compare with.
    pub struct ReferenceTable {
        /// Name of the problem with the exact solution.
        pub testbed: Text,
        /// Its parameters, as expressions of those of this file; a parameter of the same name is found by itself.
        pub parameters: Option<Entries>,
    }
}

table! {
    /// A number that a run must reproduce.
    pub struct ExpectTable {
        /// "final NAME", "min NAME", "max NAME", "sum NAME", "mean NAME" with the name of a result column; "impacts";
        /// "events NAME", "first NAME", "last NAME" (number and times) with the name of an event, or a kind of event:
        /// "impact", "impact.CONTACT"; "estimate positions", "estimate velocities", "estimate positions on the way",
        /// "estimate impact times": how far off they are, from runs with finer steps.
        pub quantity: Text,
        /// The number, or an expression of parameters.
        pub value: Formula,
        /// Largest accepted absolute difference; or give `relative`.
        pub tolerance: Option<Formula>,
        /// Largest accepted difference relative to the value.
        pub relative: Option<Formula>,
        /// Where the number comes from.
        pub source: Option<Text>,
    }
}

/// A commented example file with the given name: a bouncing ball with everything explained.
pub fn new_example(name: &str) -> String {
    KINDS[0].example(name)
}

impl ModelFile {
    /// Reads a text. All mistakes of form are reported, in the order of their places.
    ///
    /// # Errors
    /// Fails if the text is not TOML, or not of this format.
    pub fn parse(source: &Arc<SourceText>) -> Result<ModelFile, Vec<Diagnostic>> {
        let mut out = Diagnostics::default();
        match ModelFile::collect(source, &mut out) {
            Some(file) if out.errors() == 0 => Ok(file),
            _ => Err(out.finish(source)),
        }
    }

    /// Reads what can be read, and reports the rest.
    pub(crate) fn collect(source: &Arc<SourceText>, out: &mut Diagnostics) -> Option<ModelFile> {
        let root = syntax::document(source, out)?;
        let mut reader = Reader::new(source, "", out);
        let table = reader.table(&root)?;
        // another version may have any other keys: nothing else is worth saying
        let version: Integer = reader.field(table, "version", &[], &reader.place(root.span()))?;
        if version.value != VERSION {
            out.error(&version.place, format!("version {} of the format is not supported", version.value))
                .hint(format!("this program reads version {VERSION}"));
            return None;
        }
        ModelFile::read(&root, &mut reader)
    }
}

/// Reads a file into memory.
pub(crate) fn read_text(path: &Path) -> Result<Arc<SourceText>, Box<Diagnostic>> {
    let name = path.display().to_string();
    let fail = |message: String| Box::new(Diagnostic::of_file(&name, message));
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => fail("the file does not exist".into()),
        _ => fail(format!("the file cannot be read: {error}")),
    })?;
    if metadata.is_dir() {
        return Err(fail("this is a directory, not a model file".into()));
    }
    let too_large = |size: String| {
        let mut error = fail(format!("the file has {size} bytes, the limit is {SIZE_LIMIT}"));
        error.hint("large structures are written as expressions or as a chain of elements");
        error
    };
    if metadata.len() > SIZE_LIMIT {
        return Err(too_large(metadata.len().to_string()));
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| fail(format!("the file cannot be opened: {error}")))?;
    // devices tell no size
    let read = file.take(SIZE_LIMIT + 1).read_to_end(&mut bytes);
    read.map_err(|error| fail(format!("the file cannot be read: {error}")))?;
    if bytes.len() as u64 > SIZE_LIMIT {
        return Err(too_large(format!("more than {SIZE_LIMIT}")));
    }
    syntax::text(&name, bytes)
}
