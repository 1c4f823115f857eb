//! `carom reproduce`: figures and tables of papers, computed anew, drawn and judged.

mod gallery;

use crate::arguments::ReproduceArguments;
use crate::console::{print_line, print_text};
use crate::failure::Failure;
use crate::open::open;
use crate::progress::{Bar, interrupted, watch_for_interrupts};
use crate::table::Table;
use carom_analysis::study::parallel;
use carom_papers::{Effort, Item, Outcome, PAPERS, Paper, Verdict, reproduce};
use carom_scene::suggest;
use std::path::PathBuf;
use std::time::Instant;

/// An item of a paper that was asked for.
#[derive(Clone, Copy)]
struct Wanted {
    paper: &'static Paper,
    item: &'static Item,
}

/// What became of it.
struct Done {
    wanted: Wanted,
    outcome: Outcome,
    seconds: f64,
}

pub fn run(arguments: &ReproduceArguments) -> Result<(), Failure> {
    let wanted = select(&arguments.items)?;
    if arguments.list {
        return list(&wanted);
    }
    watch_for_interrupts();
    let folder = arguments.out.clone().unwrap_or_else(|| PathBuf::from("out/reproduce"));
    let effort = if arguments.quick { Effort::Quick } else { Effort::Full };
    let done = compute(&wanted, effort, arguments.quiet);
    gallery::write(&done, effort, &folder)
        .map_err(|e| Failure::Environment(format!("cannot write into `{}`: {e}", folder.display())))?;
    if !arguments.quiet {
        verdicts(&done).print()?;
        print_line(format_args!("report {0}/index.html\ndata   {0}/PAPER/ITEM/*.csv", folder.display()))?;
    }
    if arguments.open {
        open(&folder.join("index.html"))?;
    }
    let failed = done.iter().filter(|d| matches!(d.outcome.verdict, Verdict::Failed(_))).count();
    match (interrupted(), failed) {
        (true, _) => Err(Failure::Interrupted),
        (false, 0) => Ok(()),
        (false, failed) => Err(Failure::Expectation(failed)),
    }
}

/// The items that the names stand for: nothing for everything, `PAPER`, or `PAPER/ITEM`.
fn select(names: &[String]) -> Result<Vec<Wanted>, Failure> {
    let all = || PAPERS.iter().flat_map(|paper| paper.items.iter().map(move |item| Wanted { paper, item }));
    if names.is_empty() {
        return Ok(all().collect());
    }
    let mut wanted = Vec::new();
    for name in names {
        let (paper, item) = name.split_once('/').unwrap_or((name, ""));
        let found = all().filter(|w| w.paper.key == paper && (item.is_empty() || w.item.key == item));
        let before = wanted.len();
        wanted.extend(found);
        if wanted.len() == before {
            let known: Vec<String> = PAPERS
                .iter()
                .map(|paper| paper.key.to_owned())
                .chain(all().map(|w| format!("{}/{}", w.paper.key, w.item.key)))
                .collect();
            let all = || "`carom reproduce --list` names all".into();
            let hint = suggest(name, known.iter().map(String::as_str), false, all);
            return Err(Failure::usage(format!("there is no paper or item `{name}`"), hint));
        }
    }
    Ok(wanted)
}

fn list(wanted: &[Wanted]) -> Result<(), Failure> {
    for part in wanted.chunk_by(|a, b| a.paper.key == b.paper.key) {
        let paper = part[0].paper;
        print_text(format_args!("{}: {} [{}]", paper.key, paper.title, paper.citation))?;
        let mut table = Table::default();
        part.iter().for_each(|w| table.row([format!("{}/{}", paper.key, w.item.key), w.item.title.to_owned()]));
        table.print()?;
        print_line("")?;
    }
    print_line("papers by their keys: `carom docs references`")
}

/// Runs all items on the cores that there are. Each item runs alone on one of them, so that results do not depend on
/// their number.
fn compute(wanted: &[Wanted], effort: Effort, quiet: bool) -> Vec<Done> {
    let task = |index: usize| {
        let clock = Instant::now();
        let outcome = reproduce(wanted[index].item, effort);
        Done { wanted: wanted[index], outcome, seconds: clock.elapsed().as_secs_f64() }
    };
    let mut all: Vec<Option<Done>> = wanted.iter().map(|_| None).collect();
    let threads = parallel::threads(None, wanted.len());
    let bar = Bar::new("items", wanted.len(), quiet);
    parallel::each(wanted.len(), threads, &|_| !interrupted(), &task, &mut |index, done: Done| {
        if !quiet {
            let (paper, item) = (done.wanted.paper.key, done.wanted.item.key);
            let (verdict, seconds) = (done.outcome.verdict.word(), done.seconds);
            // a closed pipe must not stop the others
            let _ = bar.aside(|| print_line(format_args!("{paper}/{item}: {verdict} ({seconds:.1} s)")));
        }
        bar.add(1);
        all[index] = Some(done);
    });
    all.into_iter().flatten().collect()
}

fn verdicts(done: &[Done]) -> Table {
    let mut table = Table::new(["item", "verdict", "checks", "time"]);
    for d in done {
        let verdict = match d.outcome.verdict.reason() {
            Some(reason) => format!("{}: {reason}", d.outcome.verdict.word()),
            None => d.outcome.verdict.word().to_owned(),
        };
        let held = d.outcome.figure.checks.iter().filter(|check| check.holds()).count();
        table.row([
            format!("{}/{}", d.wanted.paper.key, d.wanted.item.key),
            verdict,
            format!("{held} of {}", d.outcome.figure.checks.len()),
            format!("{:.1} s", d.seconds),
        ]);
    }
    table
}
