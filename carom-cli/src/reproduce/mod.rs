//! `carom reproduce`: figures and tables of papers, computed anew, drawn and judged.

pub mod gallery;

use crate::arguments::ReproduceArguments;
use crate::console::{print_line, print_text};
use crate::failure::Failure;
use crate::open::open;
use crate::progress::{Bar, interrupted, watch_for_interrupts, when_left, wind_up};
use crate::table::Table;
use carom_analysis::folder::{Folder, FolderError, Sharing};
use carom_analysis::study::parallel;
use carom_papers::{Effort, Item, Outcome, PAPERS, Paper, Verdict, reproduce};
use carom_scene::suggest;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
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

impl Done {
    /// `PAPER/ITEM`.
    fn name(&self) -> String {
        format!("{}/{}", self.wanted.paper.key, self.wanted.item.key)
    }
}

pub fn run(arguments: &ReproduceArguments) -> Result<(), Failure> {
    let wanted = select(&arguments.items)?;
    if arguments.list {
        return list(&wanted);
    }
    watch_for_interrupts();
    let folder = arguments.out.clone().unwrap_or_else(|| PathBuf::from("out/reproduce"));
    let claim = Folder::claim(&folder, "reproduce", Sharing::Alone)?;
    claim.check(["index.html"])?;
    let effort = if arguments.quick { Effort::Quick } else { Effort::Full };
    let (count, items) = (wanted.len(), Items::default());
    // an item does not listen: those that are done are written without it
    let (kept, place) = (items.clone(), folder.clone());
    let claim = Arc::new(Mutex::new(Some(claim)));
    let taken = claim.clone();
    when_left(move || {
        let claim = taken.lock().unwrap_or_else(PoisonError::into_inner).take();
        let done = kept.take();
        claim
            .map_or(Ok(String::new()), |claim| write(claim, &done, (count, effort), &place))
            .unwrap_or_else(|e| e.to_string())
    });
    compute(&wanted, effort, arguments.quiet, &items);
    wind_up();
    let (done, claim) = (items.take(), claim.lock().unwrap_or_else(PoisonError::into_inner).take());
    let left = claim.map_or(Ok(String::new()), |claim| write(claim, &done, (count, effort), &folder))?;
    if done.is_empty() {
        return Err(Failure::Interrupted(left));
    }
    if !arguments.quiet {
        verdicts(&done).print()?;
        print_line(format_args!("report {0}/index.html\ndata   {0}/PAPER/ITEM/*.csv", folder.display()))?;
    }
    if arguments.open {
        open(&folder.join("index.html"))?;
    }
    let failed = done.iter().filter(|d| matches!(d.outcome.verdict, Verdict::Failed(_))).count();
    match (interrupted() && done.len() < count, failed) {
        (true, _) => Err(Failure::Interrupted(left)),
        (false, 0) => Ok(()),
        (false, failed) => Err(Failure::Expectation(failed)),
    }
}

/// Items that are done, by their number.
#[derive(Clone, Default)]
struct Items(Arc<Mutex<BTreeMap<usize, Done>>>);

impl Items {
    fn add(&self, index: usize, done: Done) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(index, done);
    }

    /// All so far, in their order.
    fn take(&self) -> Vec<Done> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_values().collect()
    }
}

/// Writes what is done of so many items; says what there is where it is not all.
fn write(claim: Folder, done: &[Done], (count, effort): (usize, Effort), folder: &Path) -> Result<String, FolderError> {
    if done.is_empty() {
        return Ok("no item was computed, and nothing was written".into());
    }
    let left = format!("{} of {count} items were computed, and are in `{}`", done.len(), folder.display());
    let mut draft = claim.draft()?;
    gallery::write(done, effort, &mut draft)?;
    draft.publish(Some(left.as_str()).filter(|_| done.len() < count))?;
    Ok(left)
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
        print_text(format_args!("{}: {}\n{} [{}]", paper.key, paper.title, paper.reference, paper.citation))?;
        let mut table = Table::default();
        part.iter().for_each(|w| table.row([format!("{}/{}", paper.key, w.item.key), w.item.title.to_owned()]));
        table.print()?;
        if part.len() == paper.items.len() {
            for (key, why) in paper.absent {
                print_text(format_args!("no {}: {why}", key.replace('-', " ")))?;
            }
        }
        print_line("")?;
    }
    print_line("papers by their keys: `carom docs references`")
}

/// Runs all items on the cores that there are. Each item runs alone on one of them, so that results do not depend on
/// their number.
fn compute(wanted: &[Wanted], effort: Effort, quiet: bool, items: &Items) {
    let task = |index: usize| {
        let clock = Instant::now();
        let outcome = reproduce(wanted[index].item, effort);
        Done { wanted: wanted[index], outcome, seconds: clock.elapsed().as_secs_f64() }
    };
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
        items.add(index, done);
    });
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
