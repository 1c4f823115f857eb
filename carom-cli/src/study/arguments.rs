//! Arguments of the studies of many runs.

use crate::arguments::Changes;
use carom_scene::Overrides;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// What all studies have in common.
#[derive(Args, Debug)]
pub struct StudyArguments {
    /// Model file, or the name of a built-in example.
    pub file: PathBuf,
    #[command(flatten)]
    pub changes: Changes,
    /// Use another scheme: a name, or '{ name = "corrected-paoli", variant = "printed" }'.
    #[arg(long)]
    pub scheme: Option<String>,
    /// Step size [s].
    #[arg(long, allow_negative_numbers = true)]
    pub step: Option<f64>,
    /// Folder for the results [default: out/<name of the file>-<study>].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print the results as JSON.
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors.
    #[arg(long, short)]
    pub quiet: bool,
}

impl StudyArguments {
    pub fn overrides(&self) -> Overrides {
        Overrides { scheme: self.scheme.clone(), step: self.step, ..self.changes.overrides() }
    }
}

#[derive(Args, Debug)]
pub struct SweepArguments {
    #[command(flatten)]
    pub study: StudyArguments,
    /// Threads [default: as many as there are processors]; results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub threads: Option<u64>,
    /// A parameter with its values: e=0.1:0.9:9 (first, last, number) or mu=0.1,0.2; several make a grid.
    #[arg(long, value_name = "NAME=VALUES", required = true)]
    pub vary: Vec<String>,
    /// Draw so many random combinations instead of the whole grid: uniform in a range, or any of a list.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub random: Option<u64>,
    /// Seed of the random numbers.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// What to note of each run: "final NAME", "min NAME", "max NAME", "sum NAME" of a column, or "impacts" [default: final positions,
    /// impacts, and what the file expects].
    #[arg(long, value_name = "QUANTITY")]
    pub measure: Vec<String>,
    /// Forget the rows of an earlier sweep in the folder; without it only missing ones are computed.
    #[arg(long)]
    pub fresh: bool,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionKind {
    /// Once per period.
    Strobe,
    /// At each impact: the normal velocity before it.
    Impact,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Forward,
    Backward,
    Both,
}

#[derive(Args, Debug)]
pub struct BifurcationArguments {
    #[command(flatten)]
    pub study: StudyArguments,
    /// Threads [default: as many as there are processors]; results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub threads: Option<u64>,
    /// The parameter with its values: om=2.5:2.9:400 (first, last, number).
    #[arg(long, value_name = "NAME=VALUES")]
    pub parameter: String,
    /// Period of the section [s], a number or an expression of parameters such as "2*pi/om" [default: the parameter `period`].
    #[arg(long, value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub period: Option<String>,
    /// Where points are taken.
    #[arg(long, value_enum, default_value_t = SectionKind::Strobe)]
    pub section: SectionKind,
    /// Column of the diagram: q.NAME, v.NAME, output.NAME, or a coordinate [default: the first coordinate].
    #[arg(long, value_name = "NAME")]
    pub column: Option<String>,
    /// Periods before points are taken.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(0..=100_000_000))]
    pub transient: u64,
    /// Periods in which points are taken.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub periods: u64,
    /// Order of the values; the motion starts where the value before has left it.
    #[arg(long, value_enum, default_value_t = Order::Both)]
    pub direction: Order,
    /// Start each value from the initial state instead.
    #[arg(long, conflicts_with = "direction")]
    pub independent: bool,
    /// Cut the values into so many parts, each of which starts from the initial state, for more than two threads.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub segments: u64,
    /// Compute the largest Lyapunov exponent as well: by saltation matrices, or with a perturbation of this size.
    #[arg(long, value_name = "EPS", num_args = 0..=1, allow_negative_numbers = true)]
    pub exponent: Option<Option<f64>>,
    /// Points closer than this are the same when periods are counted.
    #[arg(long, value_name = "DISTANCE", default_value_t = 1e-6)]
    pub tolerance: f64,
}

/// How exponents are computed.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExponentMethod {
    /// Infinitely small perturbations: variational flow and saltation matrices, event-driven.
    Saltation,
    /// Neighbouring trajectories at a finite distance, with any scheme.
    Perturbation,
    /// Infinitely small perturbations of the discrete map: derivatives of the steps of moreau-jean, schatzman-paoli or corrected-paoli.
    Tangent,
}

#[derive(Args, Debug)]
pub struct LyapunovArguments {
    #[command(flatten)]
    pub study: StudyArguments,
    /// How exponents are computed.
    #[arg(long, value_enum, default_value_t = ExponentMethod::Saltation)]
    pub method: ExponentMethod,
    /// Period of the forcing [s], a number or an expression of parameters such as "2*pi/om" [default: the parameter `period`].
    #[arg(long, value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub period: Option<String>,
    /// Time between renormalisations [s], a number or an expression [default: the period].
    #[arg(long, value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub interval: Option<String>,
    /// Intervals that are measured.
    #[arg(long, value_name = "N", default_value_t = 3000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub intervals: u64,
    /// Intervals before the measurement.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    pub transient: u64,
    /// With --method perturbation: size of the perturbations.
    #[arg(long, value_name = "EPS", default_value_t = 1e-7, allow_negative_numbers = true)]
    pub eps: f64,
    /// Number of exponents, the largest first [default: all].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub exponents: Option<u64>,
    /// Parts of the run whose scatter gives the error bars.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(2..))]
    pub batches: u64,
}

#[derive(Args, Debug)]
pub struct OrbitArguments {
    #[command(flatten)]
    pub study: StudyArguments,
    /// Period of the forcing [s], a number or an expression of parameters such as "2*pi/om" [default: the parameter `period`].
    #[arg(long, value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub period: Option<String>,
    /// Where states are taken: strobe (once per period), impact or impact:CONTACT (just after an impact), or the zero from below of a coordinate
    /// x, a velocity x' or an event of the file [default: strobe]. Without a period the orbit is one without forcing, whose length is found.
    #[arg(long, value_name = "SECTION")]
    pub section: Option<String>,
    /// Periods of the forcing in one of the orbit; without forcing, meetings with the section.
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub multiple: u64,
    /// Periods of the motion from the initial state before the search, or meetings with the section: the guess then is near an attractor.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(0..=100_000_000))]
    pub transient: u64,
    /// Guess of the state at the section instead, positions then velocities: 0.03,-0.4.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    pub start: Vec<f64>,
    /// Follow the orbit over a parameter: om=2.5:2.8:60 (first, last, number of values).
    #[arg(long, value_name = "NAME=FIRST:LAST:NUMBER")]
    pub parameter: Option<String>,
    /// At period doublings, go over to the orbits of twice the length as well, and from there to the next, so many times [default: 1].
    #[arg(long, value_name = "LEVELS", num_args = 0..=1, default_missing_value = "1", requires = "parameter", value_parser = clap::value_parser!(u64).range(1..=10))]
    pub switch: Option<u64>,
    /// Largest distance between a state of an orbit and its image.
    #[arg(long, value_name = "DISTANCE", default_value_t = 1e-11)]
    pub tolerance: f64,
}

#[derive(Args, Debug)]
pub struct BasinArguments {
    #[command(flatten)]
    pub study: StudyArguments,
    /// Threads [default: as many as there are processors]; results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub threads: Option<u64>,
    /// The coordinate or velocity across, with its range: u=-1:2:100.
    #[arg(long, value_name = "NAME=FIRST:LAST:NUMBER")]
    pub x: String,
    /// The coordinate or velocity upwards, with its range: "u'=-2:2:100".
    #[arg(long, value_name = "NAME=FIRST:LAST:NUMBER")]
    pub y: String,
    /// Time between states that are compared [s], a number or an expression of parameters such as "2*pi/om" [default: the parameter
    /// `period`].
    #[arg(long, value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub period: Option<String>,
    /// Periods before the comparison.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(0..=100_000_000))]
    pub transient: u64,
    /// Longest period of an attractor that is recognised.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub longest: u64,
    /// States closer than this are the same.
    #[arg(long, value_name = "DISTANCE", default_value_t = 1e-4)]
    pub tolerance: f64,
    /// Runs farther away than this from the origin have escaped.
    #[arg(long, value_name = "DISTANCE", default_value_t = 1e6)]
    pub escape: f64,
}
