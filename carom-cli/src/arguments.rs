//! The command line, as parsed.

use carom_scene::Overrides;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

const CODES: &str = "Exit codes: 0 finished; 1 results could not be written, or another failure of the environment; \
    2 bad input (model file, option, command line); 3 the computation failed, results so far are kept; \
    4 an expected number was not met; 130 interrupted, results so far are kept.";

/// Nonsmooth dynamics: mechanical systems with contact, impact and friction.
#[derive(Parser, Debug)]
#[command(name = "carom", version, after_help = CODES)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Simulate a model file; write trajectory, impacts, summary and report.
    Run(RunArguments),
    /// Put two results side by side: where their columns and impacts differ, and by how much.
    Compare(CompareArguments),
    /// Validate a model file without running it.
    Check(CheckArguments),
    /// Solve stored problems: Siconos .dat files (LCP, MLCP, relay, friction) and FCLIB HDF5 files.
    Solve(SolveArguments),
    /// Write a problem of a generated family (walls, towers, arches, packings, heaps, ...) to a file for `carom solve`.
    Generate(GenerateArguments),
    /// Make a model file of a robot description: URDF, or MJCF of MuJoCo.
    Import(ImportArguments),
    /// Run all solvers on all problem files of a folder, or on generated families, and draw a performance profile.
    Profile(ProfileArguments),
    /// Compute figures and tables of papers anew, draw them and judge them against verified numbers.
    Reproduce(ReproduceArguments),
    /// Run examples and compute figures of papers, and make one page of all of them with pictures and numbers.
    Gallery(GalleryArguments),
    /// List what there is.
    List { what: Listing },
    /// Show the page of a scheme, solver or study: equations, options with defaults, claims, citations.
    Show { name: String },
    /// Write a commented model file to start from.
    New(NewArguments),
    /// Print the JSON Schema of model files, or of study files.
    Schema {
        /// Whose.
        #[arg(default_value = "model")]
        what: SchemaOf,
    },
    /// Print a page of the documentation, name them all, or show them in the browser.
    Docs(DocsArguments),
    /// Print what a shell needs to complete commands and options, to be sourced where it starts.
    Completions { shell: clap_complete::Shell },
}

/// Files with a schema.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaOf {
    /// Model files.
    Model,
    /// Study files.
    Study,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    Schemes,
    Solvers,
    Studies,
    Examples,
    Models,
}

/// What may be changed of a model file.
#[derive(Args, Debug, Clone, Default)]
pub struct Changes {
    /// Give a parameter another value (a number or an expression); may be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// Use another solver: a name, or '{ name = "nsgs", tolerance = 1e-12 }'.
    #[arg(long)]
    pub solver: Option<String>,
    /// End of the time span [s].
    #[arg(long, allow_negative_numbers = true)]
    pub end: Option<f64>,
}

impl Changes {
    pub fn overrides(&self) -> Overrides {
        Overrides {
            set: self.set.clone(),
            solver: self.solver.clone().map(Into::into),
            end: self.end,
            ..Overrides::default()
        }
    }
}

/// A robot description, and how it becomes a model file.
#[derive(Args, Debug)]
pub struct ImportArguments {
    /// A URDF or MJCF file.
    pub file: PathBuf,
    /// The model file to write; without it the text is printed.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite an existing file.
    #[arg(long)]
    pub force: bool,
    /// Let the root of a URDF file move freely; else it stands on the ground.
    #[arg(long)]
    pub floating: bool,
    /// A joint coordinate at the start, by the name of the joint [rad, m]; may be repeated.
    #[arg(long, value_name = "JOINT=VALUE", value_parser = coordinate)]
    pub position: Vec<(String, f64)>,
    /// A joint rate at the start [rad/s, m/s]; of a ball three numbers, of a free joint six; may be repeated.
    #[arg(long, value_name = "JOINT=VALUE,...", value_parser = rates)]
    pub rate: Vec<(String, Vec<f64>)>,
    /// What to leave out: stops, friction, damping, springs, armature, equality, contacts.
    #[arg(long, value_name = "WHAT,...", value_delimiter = ',')]
    pub without: Vec<String>,
}

fn coordinate(text: &str) -> Result<(String, f64), String> {
    match rates(text)? {
        (name, values) if values.len() == 1 => Ok((name, values[0])),
        (name, _) => Err(format!("one number for `{name}`, for example {name}=0.5")),
    }
}

fn rates(text: &str) -> Result<(String, Vec<f64>), String> {
    let (name, values) = assignment(text)?;
    let values = values.split(',').map(|value| value.trim().parse().ok().filter(|x: &f64| x.is_finite()));
    match values.collect::<Option<Vec<f64>>>() {
        Some(values) => Ok((name, values)),
        None => Err(format!("finite numbers with commas between them, for example {name}=0.5")),
    }
}

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok((name.trim().into(), value.trim().into()))
        }
        _ => Err("write it as NAME=VALUE, for example e=0.5".into()),
    }
}

#[derive(Args, Debug, Default)]
pub struct RunArguments {
    /// Model file, or the name of a built-in example.
    pub file: PathBuf,
    #[command(flatten)]
    pub changes: Changes,
    /// Use another scheme: a name, or '{ name = "moreau-jean", theta = 1 }'.
    #[arg(long)]
    pub scheme: Option<String>,
    /// Step size [s], a number or an expression of parameters.
    #[arg(long, allow_negative_numbers = true, conflicts_with = "steps")]
    pub step: Option<String>,
    /// Number of equal steps.
    #[arg(long)]
    pub steps: Option<u64>,
    /// Adaptive steps: the tolerance of the local error, '{ tolerance = 1e-6, max = 0.1 }', or "off" for equal steps.
    #[arg(long, value_name = "TOLERANCE|TABLE|off", allow_negative_numbers = true)]
    pub adaptive: Option<String>,
    /// Folder for the results [default: out/<name of the file>].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Rows of the results at multiples of this time after the start, besides the steps [s].
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub output: Option<String>,
    /// Record every n-th step.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub every: Option<u64>,
    /// Columns to record, separated by commas; a trailing * stands for any ending, "all" for everything.
    #[arg(long, value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Write trajectory and impacts as CSV as well.
    #[arg(long)]
    pub csv: bool,
    /// Do not write the report.
    #[arg(long)]
    pub no_report: bool,
    /// Most bytes of the report: above it, charts are thinned and keep the extremes.
    #[arg(long, value_name = "BYTES", default_value_t = carom_analysis::report::LIMIT)]
    pub report_size: usize,
    /// Write every chart as an SVG file into this folder, for papers and slides.
    #[arg(long, value_name = "DIR", value_parser = crate::figures::folder)]
    pub figures: Option<PathBuf>,
    /// Write the motion of a model in space as a glTF file with animation [default: motion.glb beside the results].
    #[arg(long, value_name = "FILE", num_args = 0..=1, value_parser = crate::gltf::file)]
    pub gltf: Option<Option<PathBuf>>,
    /// Write the one-step problems into this folder, as files for `carom solve`; those that are not solved in any case.
    #[arg(long, visible_alias = "export-problems", value_name = "DIR")]
    pub dump_problems: Option<PathBuf>,
    /// With --dump-problems: those of every n-th step only.
    #[arg(long, value_name = "N", requires = "dump_problems", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub dump_every: u64,
    /// With --dump-problems: write at most so many files.
    #[arg(long, value_name = "N", requires = "dump_problems", default_value_t = 1000)]
    pub dump_most: u64,
    /// Run twice more, with half the step and a quarter of it (adaptive: a tenth and a hundredth of the tolerance), and
    /// tell how far off positions, velocities, impact times and expected numbers are, with the observed order.
    #[arg(long)]
    pub estimate: bool,
    /// Write a checkpoint so often [s of the clock]: a run that was cut short goes on from the last one with --resume.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, conflicts_with = "dump_problems")]
    pub checkpoint: Option<f64>,
    /// Go on from the last checkpoint in the folder of the results: all files are those of a run that was never cut.
    #[arg(long, conflicts_with = "dump_problems")]
    pub resume: bool,
    /// A run that warns of something ends with exit code 3; its results are written all the same.
    #[arg(long)]
    pub strict: bool,
    /// Print the summary as JSON, and nothing else.
    #[arg(long)]
    pub json: bool,
    /// Open the report in the browser.
    #[arg(long, conflicts_with = "no_report")]
    pub open: bool,
    /// Print nothing but errors.
    #[arg(long, short)]
    pub quiet: bool,
}

/// A time of the clock.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x <= 1e9 => Ok(x),
        _ => Err("a number of seconds above 0 is wanted, at most 1e9".into()),
    }
}

impl RunArguments {
    pub fn overrides(&self) -> Overrides {
        Overrides {
            scheme: self.scheme.clone().map(Into::into),
            step: self.step.clone().map(Into::into),
            steps: self.steps,
            adaptive: self.adaptive.clone(),
            output: self.output.clone().map(Into::into),
            ..self.changes.overrides()
        }
    }
}

/// How results are shown besides their files.
#[derive(Args, Debug)]
pub struct Showing {
    /// Write every chart as an SVG file into this folder, for papers and slides.
    #[arg(long, value_name = "DIR", value_parser = crate::figures::folder)]
    pub figures: Option<PathBuf>,
    /// Open the report in the browser.
    #[arg(long)]
    pub open: bool,
    /// Print the results as JSON.
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors.
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub struct CompareArguments {
    /// Folder of a result, as `carom run` has written it.
    pub first: PathBuf,
    /// Folder of the other result.
    pub second: PathBuf,
    /// End with exit code 4 where a column differs by more than this part of its range.
    #[arg(long)]
    pub tolerance: Option<f64>,
    /// Folder for the comparison [default: out/<first>-and-<second>].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub showing: Showing,
}

#[derive(Args, Debug)]
pub struct CheckArguments {
    /// Model file, or the name of a built-in example.
    pub file: PathBuf,
    #[command(flatten)]
    pub changes: Changes,
    /// Check that another scheme fits the model: a name, or '{ name = "moreau-jean", theta = 1 }'.
    #[arg(long)]
    pub scheme: Option<String>,
    /// Print findings as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct NewArguments {
    /// Name of the model; the file becomes NAME.toml.
    pub name: String,
    /// Start from a built-in example (see `carom list examples`) instead of the commented template.
    #[arg(long, value_name = "EXAMPLE")]
    pub from: Option<String>,
    /// Kind of the model in the template (see `carom list models`), or "study" for a study file; "lagrangian" by
    /// default.
    #[arg(long, value_name = "KIND", conflicts_with = "from")]
    pub kind: Option<String>,
    /// Overwrite an existing file.
    #[arg(long)]
    pub force: bool,
}

#[derive(Args, Debug)]
pub struct SolveArguments {
    /// Problem files.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Solver: a name (see `carom list solvers`), or '{ name = "auto", budget = 1e7 }'.
    #[arg(long, default_value = "auto")]
    pub solver: String,
    /// Tolerance, instead of the solver's default.
    #[arg(long)]
    pub tolerance: Option<f64>,
    /// What the tolerance means: "residual", which does not depend on units, or "full-error", that of the literature.
    #[arg(long, value_parser = ["residual", "full-error"])]
    pub measure: Option<String>,
    /// Kind of the files, where it cannot be told from their content: lcp, mlcp, relay, friction, global-friction,
    /// fclib.
    #[arg(long)]
    pub kind: Option<String>,
    /// Write solutions into this folder.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// With --out: write each problem as an FCLIB file as well.
    #[arg(long, requires = "out")]
    pub fclib: bool,
    /// Write how the residuals fell, rung by rung, over sweeps and time: history.csv, history.html, times.csv and
    /// times.html in the folder of --out, or in out/solve.
    #[arg(long)]
    pub history: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct GenerateArguments {
    /// Family: box-stack, tower, tower-2d, towers, chain, wall, wall-2d, sphere-heap, fcc, fcc-2d, rcp, rcp-2d, heap,
    /// heap-2d, slab, bridge, arch, cards; without friction pd, aat, pns, degenerate, redundant, obstacle.
    pub family: String,
    /// About the number of contacts, or of rows where there is no friction.
    #[arg(long, value_name = "N")]
    pub contacts: usize,
    /// Coefficient of friction of all contacts, instead of the family's own [-].
    #[arg(long, value_name = "M", allow_negative_numbers = true)]
    pub mu: Option<f64>,
    /// Seed of all random numbers.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Random velocities on all components of all bodies, with this standard deviation, in velocities that a body
    /// gains in the step (0.0981) [default: 0].
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    pub kick: Option<f64>,
    /// The file: FCLIB (HDF5) with friction, a text file of the Siconos kind without.
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// Overwrite an existing file.
    #[arg(long)]
    pub force: bool,
}

/// One seed, or a range with both ends.
fn seeds(text: &str) -> Result<(u64, u64), String> {
    let whole = |text: &str| text.trim().parse::<u64>().map_err(|_| format!("`{text}` is no whole number"));
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    match (whole(first)?, whole(last)?) {
        (first, last) if first <= last => Ok((first, last)),
        _ => Err("the first seed is larger than the last one".into()),
    }
}

#[derive(Args, Debug)]
pub struct ProfileArguments {
    /// Folder with problem files.
    #[arg(required_unless_present = "family", conflicts_with = "family")]
    pub folder: Option<PathBuf>,
    /// Generated families instead of files, separated by commas (see `carom generate --help`): all combinations with
    /// the values of the four options that follow.
    #[arg(long, value_name = "FAMILY", value_delimiter = ',', requires = "contacts")]
    pub family: Vec<String>,
    /// With --family: about the numbers of contacts, or of rows where there is no friction.
    #[arg(long, value_name = "N", value_delimiter = ',', requires = "family")]
    pub contacts: Vec<usize>,
    /// With --family: coefficients of friction, instead of the family's own [-].
    #[arg(long, value_name = "M", value_delimiter = ',', requires = "family")]
    pub mu: Vec<f64>,
    /// With --family: sizes of kicks [default: 0].
    #[arg(long, value_name = "K", value_delimiter = ',', requires = "family")]
    pub kick: Vec<f64>,
    /// With --family: seeds, such as 1,2,7 or 1..5 (both ends included) [default: 1].
    #[arg(long, value_name = "S", value_delimiter = ',', value_parser = seeds, requires = "family")]
    pub seed: Vec<(u64, u64)>,
    /// Solvers by name, separated by commas [default: all].
    #[arg(long, value_delimiter = ',')]
    pub solvers: Vec<String>,
    /// Tolerance.
    #[arg(long, default_value_t = 1e-8)]
    pub tolerance: f64,
    /// What the tolerance means: "residual", which does not depend on units, or "full-error", that of the literature.
    #[arg(long, value_parser = ["residual", "full-error"])]
    pub measure: Option<String>,
    /// Problems with more rows are given to `auto` and `nsgs` only.
    #[arg(long, default_value_t = 3000)]
    pub most_rows: usize,
    /// Folder for the results [default: out/profile].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Open the report in the browser.
    #[arg(long)]
    pub open: bool,
    /// Print nothing but errors.
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub struct ReproduceArguments {
    /// Papers and items, such as rr8029 or rr8029/figure-4 [default: all].
    #[arg(value_name = "PAPER[/ITEM]")]
    pub items: Vec<String>,
    /// Name the items instead of computing them.
    #[arg(long)]
    pub list: bool,
    /// Fewer and coarser runs.
    #[arg(long)]
    pub quick: bool,
    /// Folder for the gallery and the data [default: out/reproduce].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Open the gallery in the browser.
    #[arg(long)]
    pub open: bool,
    /// Print nothing but errors.
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub struct GalleryArguments {
    /// Examples, papers and items, such as rocking-block or rr8029/figure-9 [default: all].
    #[arg(value_name = "EXAMPLE|PAPER[/ITEM]")]
    pub items: Vec<String>,
    /// Fewer and coarser runs of the figures.
    #[arg(long)]
    pub quick: bool,
    /// Folder for pages and results [default: out/gallery].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Open the page in the browser.
    #[arg(long)]
    pub open: bool,
    /// Print nothing but errors.
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub struct DocsArguments {
    /// The page to print [default: the names of all].
    pub page: Option<String>,
    /// Write the book as a site of static pages to this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "page")]
    pub site: Option<PathBuf>,
    /// Show it in the browser.
    #[arg(long)]
    pub open: bool,
}
