//! The commands of studies: one for each row of the registry, with flags from the description of its options.

mod emit;
pub mod file;

use crate::arguments::{Changes, Showing};
use crate::console::{print_line, print_text};
use crate::failure::{Failure, print as print_finding};
use crate::figures::Figures;
use crate::flags;
use crate::open::open;
use crate::print::print;
use crate::progress::{Bar, interrupted, watch_for_interrupts, when_left, wind_up};
use crate::run::stem;
use carom_analysis::study::runner::{Progress, Ran, Run, Share, StudyRow};
use carom_analysis::study::{self, STUDIES};
use carom_scene::Overrides;
use clap::{Args, FromArgMatches};
use emit::Emit;
use file::StudyInput;
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What all studies have in common.
#[derive(Args, Debug)]
pub struct StudyArguments {
    /// Model file, the name of a built-in example, or a study file with model and options.
    pub file: PathBuf,
    #[command(flatten)]
    pub changes: Changes,
    /// Folder for the results [default: out/<name of the file>-<study>].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Threads [default: as many as there are processors]; results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub threads: Option<u64>,
    /// Compute the k-th of n shards alone, or what no other has done ("auto"), into a file of its own; the same command
    /// without it joins them.
    #[arg(long, value_name = "K/N|auto", value_parser = share)]
    pub shard: Option<Share>,
    /// Print the script that starts shards and joins them, and compute nothing.
    #[arg(long, value_name = "WHAT", conflicts_with = "shard")]
    pub emit: Option<Emit>,
    /// With --emit: number of shards.
    #[arg(long, value_name = "N", requires = "emit", default_value_t = 8)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub shards: u32,
    /// Forget what an earlier run in the folder has computed; without it only what is missing is.
    #[arg(long)]
    pub fresh: bool,
    #[command(flatten)]
    pub showing: Showing,
}

/// Other methods, where a study does not choose them itself.
#[derive(Args, Debug)]
struct Method {
    /// Use another scheme: a name, or '{ name = "corrected-paoli", variant = "printed" }'.
    #[arg(long)]
    scheme: Option<String>,
    /// Step size [s], a number or an expression of parameters.
    #[arg(long, allow_negative_numbers = true)]
    step: Option<String>,
}

fn share(text: &str) -> Result<Share, String> {
    if text == "auto" {
        return Ok(Share::Auto);
    }
    let read = text.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
    let read = read.filter(|(k, n)| (1..=*n).contains(k)).map(|(k, n)| Share::Shard(k, n));
    read.ok_or_else(|| "write it as K/N, for example 2/5, or auto".into())
}

/// Whether a study has an option of this name.
fn has(schema: &serde_json::Value, name: &str) -> bool {
    schema["properties"].get(name).is_some()
}

/// The commands of all studies.
pub fn commands() -> Vec<clap::Command> {
    STUDIES.iter().map(command).collect()
}

fn command(row: &StudyRow) -> clap::Command {
    let schema = (row.schema)();
    let command = StudyArguments::augment_args(clap::Command::new(row.info.name));
    let command = if has(&schema, "scheme") { command } else { Method::augment_args(command) };
    // the title comes last: groups of arguments bring their own
    command.args(flags::arguments(&schema)).about(row.info.title).long_about(None)
}

/// Runs the study of a name, if there is one; `words` is the command line.
pub fn study(name: &str, matches: &clap::ArgMatches, words: &[OsString]) -> Option<Result<(), Failure>> {
    Some(run(study::find(name)?, matches, words))
}

fn run(row: &StudyRow, matches: &clap::ArgMatches, words: &[OsString]) -> Result<(), Failure> {
    let wrong = |error: clap::Error| Failure::usage(error.to_string(), "see --help");
    let schema = (row.schema)();
    let arguments = StudyArguments::from_arg_matches(matches).map_err(wrong)?;
    let method = match has(&schema, "scheme") {
        true => Method { scheme: None, step: None },
        false => Method::from_arg_matches(matches).map_err(wrong)?,
    };
    let overrides = Overrides {
        scheme: method.scheme.map(Into::into),
        step: method.step.map(Into::into),
        ..arguments.changes.overrides()
    };
    let given = match flags::table(&schema, matches) {
        Value::Object(given) => given,
        _ => serde_json::Map::new(),
    };
    let input = StudyInput::load(row, &arguments.file, &overrides, given)?;
    if !arguments.showing.quiet {
        input.scene.warnings.iter().for_each(print_finding);
    }
    input.check(row)?;
    if let Some(emit) = arguments.emit {
        let here = std::env::current_dir().map_err(|e| Failure::Environment(format!("where is this? {e}")))?;
        return print_text(emit::script(emit, words, &here, arguments.shards as usize).trim_end());
    }
    let folder = arguments.out.clone().unwrap_or_else(|| {
        let mut name = stem(&arguments.file).into_os_string();
        name.push(format!("-{}", row.info.stem));
        PathBuf::from("out").join(name)
    });
    watch_for_interrupts();
    let figures = arguments.showing.figures.as_deref().map(|place| Figures::claim(place, &folder)).transpose()?;
    let silent = arguments.showing.quiet || arguments.showing.json;
    let bar = Bar::new(row.info.counts, 1, silent);
    let run = Run {
        folder: Some(&folder),
        threads: arguments.threads.map(|n| n as usize),
        share: arguments.shard.unwrap_or_default(),
        fresh: arguments.fresh,
        stop: &interrupted,
        progress: &|progress| show(&bar, row.info.counts, silent, progress),
    };
    let place = folder.clone();
    when_left(move || {
        let parts = format!("inside a long computation; units that were done are kept in `{}`", place.display());
        if place.join(".carom").exists() { parts } else { "no results were written".into() }
    });
    let ran = row.run(&input.options, input.scene.clone(), &run);
    wind_up();
    drop(bar);
    let ran = ran.map_err(|error| input.failed(row.info.name, error))?;
    if arguments.shard.is_some() && !silent && !ran.interrupted {
        let (done, units) = (ran.done, ran.units);
        print_line(format_args!("{done} of {units} units are done; the same command without --shard joins them"))?;
    }
    if let Some(document) = &ran.document {
        figures.map_or(Ok(()), |figures| figures.write(&document.report()))?;
        if arguments.showing.json {
            print_line(serde_json::to_string_pretty(&document.json()).unwrap_or_default())?;
        } else if !arguments.showing.quiet {
            print(document, &folder)?;
        }
        if let (true, Some((_, name))) =
            (arguments.showing.open, document.files.iter().find(|(_, n)| n.ends_with(".html")))
        {
            open(&folder.join(name))?;
        }
        if let Some(failure) = document.failure.clone().filter(|_| !ran.interrupted) {
            return Err(Failure::Computation(failure));
        }
    }
    if ran.interrupted { Err(Failure::Interrupted(left(&ran, &folder))) } else { Ok(()) }
}

/// What an interruption has left.
fn left(ran: &Ran, folder: &Path) -> String {
    let (done, units, folder) = (ran.done, ran.units, folder.display());
    match (&ran.document, done) {
        (Some(_), _) => format!("{done} of {units} units are in `{folder}`; the same command goes on"),
        (None, 0) => "nothing was computed to its end, and no results were written".into(),
        (None, _) => format!("{done} of {units} units are kept in `{folder}`; the same command goes on"),
    }
}

/// Shows how far a study is.
fn show(bar: &Bar, counts: &str, silent: bool, progress: Progress) {
    match progress {
        Progress::Begin { ticks, kept, units } => {
            if kept > 0 && !silent {
                let what = if ticks + kept == units { counts } else { "units" };
                // a closed pipe must not stop the study
                let _ = bar.aside(|| print_line(format_args!("{kept} of {units} {what} are there already")));
            }
            bar.set_total(ticks);
        }
        Progress::Done(ticks) => bar.add(ticks),
        Progress::Gather => wind_up(),
    }
}
