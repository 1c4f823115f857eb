//! A study on its way: a plan, the rows that are known, and the file that keeps them.

use super::store::{self, Parts, Store};
use super::{Failed, Outcome, Plan, Progress, Ran, Run, Share, Study, StudyInfo, Watch, fenced};
use crate::results::fingerprint;
use crate::study::{Stop, StudyError, parallel};
use carom::Subject;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A study on its way. [`Job::compute`] does all that is missing on threads; programs that distribute units by
/// themselves ask for [`Job::rows`] somewhere, and hand them to [`Job::take`].
pub trait Job: Send + Sync {
    /// Number of all units.
    fn units(&self) -> usize;

    /// Units of its share that are not done, in the order in which it does them.
    fn missing(&self) -> Vec<usize>;

    /// Computes what is missing.
    ///
    /// # Errors
    /// Fails where rows cannot be written, and where rows of others contradict.
    fn compute(&mut self, run: &Run<'_>) -> Result<(), StudyError>;

    /// Computes units here and now: a line of text for each that was done, nothing else.
    ///
    /// # Errors
    /// Fails where a row cannot be written as text.
    fn rows(&self, units: &[usize], stop: &Stop<'_>) -> Result<String, StudyError>;

    /// Takes rows that were computed elsewhere, and keeps them in its file; how many of them are new.
    ///
    /// # Errors
    /// Fails where they cannot be written, and where they contradict.
    fn take(&mut self, rows: &str) -> Result<usize, StudyError>;

    /// Makes the document and puts it in its place.
    ///
    /// # Errors
    /// Fails where nothing was found, and where files cannot be written.
    fn finish(self: Box<Self>, interrupted: bool) -> Result<Ran, StudyError>;
}

/// Runs a study.
///
/// # Errors
/// Fails for options that make no sense, for a folder that holds another study or cannot be written, and where nothing
/// was found.
pub fn run_study<S: Study>(study: &S, subject: Arc<dyn Subject>, run: &Run<'_>) -> Result<Ran, StudyError> {
    drive(open(study, subject, run)?, run)
}

/// Computes what is missing of a job, and finishes it.
pub(super) fn drive(mut job: Box<dyn Job>, run: &Run<'_>) -> Result<Ran, StudyError> {
    job.compute(run)?;
    (run.progress)(Progress::Gather);
    job.finish((run.stop)())
}

/// Opens a study with a table of options.
pub(super) fn read_and_open<S: Study>(
    table: &Value,
    subject: Arc<dyn Subject>,
    run: &Run<'_>,
) -> Result<Box<dyn Job>, StudyError> {
    let options = S::read(table).map_err(|e| StudyError::usage(e.to_string(), "see `carom help` of this command"))?;
    open(&options, subject, run)
}

fn open<S: Study>(study: &S, subject: Arc<dyn Subject>, run: &Run<'_>) -> Result<Box<dyn Job>, StudyError> {
    match run.share {
        Share::Shard(k, n) if !(1..=n).contains(&k) => {
            return Err(StudyError::usage(
                format!("there is no shard {k} of {n}"),
                "shards count from 1, as in 2 of 5",
            ));
        }
        Share::Auto if run.folder.is_none() => {
            let hint = "give the folder that all of them write to";
            return Err(StudyError::usage("writers that complement each other need a folder", hint));
        }
        _ => {}
    }
    let plan = study.plan(subject.clone())?;
    let mut parts: Parts<<S::Plan as Plan>::Part> = (0..plan.units()).map(|_| None).collect();
    let head = describe(study, &*subject, parts.len());
    let store = run.folder.map(|folder| Store::open(folder, &S::INFO, &head, run, &mut parts)).transpose()?;
    let threads = run.threads.or(S::INFO.timed.then_some(1));
    Ok(Box::new(Open { info: S::INFO, name: subject.name().to_owned(), plan, parts, store, share: run.share, threads }))
}

/// Everything that rows depend on.
fn describe<S: Study>(study: &S, subject: &dyn Subject, units: usize) -> Value {
    json!({
        "study": S::INFO.name,
        "carom": env!("CARGO_PKG_VERSION"),
        "format": crate::folder::FORMAT,
        "model": fingerprint(&subject.identity()),
        "options": study,
        "units": units,
    })
}

/// The job of a plan.
struct Open<P: Plan> {
    info: StudyInfo,
    /// Name of the model.
    name: String,
    plan: P,
    parts: Parts<P::Part>,
    store: Option<Store>,
    share: Share,
    threads: Option<usize>,
}

/// Does one unit. A part that an interruption has cut short comes as well; none where nothing is left of it.
fn one<P: Plan>(
    (plan, name): (&P, &str),
    unit: usize,
    stop: &Stop<'_>,
    progress: &(dyn Fn(Progress) + Sync),
) -> Option<Outcome<P::Part>> {
    let watch = Watch { stop, progress, ticked: AtomicUsize::new(0), most: plan.ticks(unit) };
    let done = fenced(|| plan.compute(unit, &watch));
    progress(Progress::Done(watch.most.saturating_sub(watch.ticked.load(Ordering::Relaxed))));
    match done {
        Ok(Ok(part)) => Some(Ok(part)),
        Ok(Err(StudyError::Interrupted)) => None,
        Ok(Err(error)) => Some(Err(Failed::of(&error))),
        Err(panic) => Some(Err(Failed::panicked(&panic, name, &plan.label(unit)))),
    }
}

/// Whether all of a unit was done.
fn is_whole<P: Plan>(plan: &P, unit: usize, outcome: &Outcome<P::Part>) -> bool {
    outcome.as_ref().map_or(true, |part| plan.is_whole(unit, part))
}

impl<P: Plan> Open<P> {
    fn contradiction(&self, unit: usize) -> StudyError {
        store::contradiction(self.info.name, &self.plan.label(unit))
    }
}

impl<P: Plan> Job for Open<P> {
    fn units(&self) -> usize {
        self.parts.len()
    }

    fn missing(&self) -> Vec<usize> {
        let mine = |unit: &usize| match self.share {
            Share::Shard(k, n) => unit % n == k - 1,
            Share::All | Share::Auto => true,
        };
        let units = 0..self.parts.len();
        let mut missing: Vec<usize> = units.filter(|unit| self.parts[*unit].is_none()).filter(mine).collect();
        if let (Share::Auto, Some(store), false) = (self.share, &self.store, missing.is_empty()) {
            // each writer begins somewhere else, and leaves out what it sees done
            let start = store.number() % missing.len() as u64;
            missing.rotate_left(start as usize);
        }
        missing
    }

    fn compute(&mut self, run: &Run<'_>) -> Result<(), StudyError> {
        let missing = self.missing();
        let Open { info, name, plan, parts, store, threads, .. } = self;
        let (units, kept) = (parts.len(), parts.iter().flatten().count());
        let ticks = missing.iter().map(|unit| plan.ticks(*unit)).sum();
        (run.progress)(Progress::Begin { ticks, kept, units });
        let others: Vec<AtomicBool> = (0..units).map(|_| AtomicBool::new(false)).collect();
        let broken = AtomicBool::new(false);
        let wanted = |k: usize| {
            let done = others[missing[k]].load(Ordering::Relaxed);
            if done {
                (run.progress)(Progress::Done(plan.ticks(missing[k])));
            }
            !done && !(run.stop)() && !broken.load(Ordering::Relaxed)
        };
        let task = |k: usize| one((&*plan, name), missing[k], run.stop, run.progress);
        let mut keep = |unit: usize, outcome: Outcome<P::Part>| {
            let is_whole = is_whole(&*plan, unit, &outcome);
            let Some(store) = store.as_mut().filter(|_| is_whole) else {
                parts[unit].get_or_insert(outcome);
                return Ok(());
            };
            let contradiction = |unit: usize| store::contradiction(info.name, &plan.label(unit));
            if store::put(parts, unit, outcome, info.timed).map_err(contradiction)? {
                store.append(unit, parts[unit].as_ref())?;
            }
            if store.is_due() {
                store.look(parts, &contradiction, &mut |unit| others[unit].store(true, Ordering::Relaxed))?;
            }
            Ok(())
        };
        let mut trouble = Ok(());
        let threads = parallel::threads(*threads, missing.len());
        parallel::each(missing.len(), threads, &wanted, &task, &mut |k, outcome| {
            if let (Some(outcome), Ok(())) = (outcome, &trouble) {
                trouble = keep(missing[k], outcome);
                broken.store(trouble.is_err(), Ordering::Relaxed);
            }
        });
        trouble
    }

    fn rows(&self, units: &[usize], stop: &Stop<'_>) -> Result<String, StudyError> {
        let mut rows = String::new();
        for unit in units.iter().copied().filter(|unit| *unit < self.parts.len()) {
            if stop() {
                break;
            }
            let done = one((&self.plan, &self.name), unit, stop, &|_| {});
            if let Some(outcome) = done.filter(|outcome| is_whole(&self.plan, unit, outcome)) {
                rows.push_str(&store::line(unit, &outcome)?);
            }
        }
        Ok(rows)
    }

    fn take(&mut self, rows: &str) -> Result<usize, StudyError> {
        let mut new = 0;
        for (unit, outcome) in store::read(rows) {
            let put = store::put(&mut self.parts, unit, outcome, self.info.timed);
            if put.map_err(|unit| self.contradiction(unit))? {
                new += 1;
                if let Some(store) = &mut self.store {
                    store.append(unit, self.parts[unit].as_ref())?;
                }
            }
        }
        Ok(new)
    }

    fn finish(mut self: Box<Self>, interrupted: bool) -> Result<Ran, StudyError> {
        let (done, units) = (self.parts.iter().flatten().count(), self.parts.len());
        let ran = |document| Ran { document, interrupted, done, units };
        if self.share != Share::All {
            return Ok(ran(None));
        }
        let mut document = match self.plan.gather(&self.parts) {
            // there is nothing to show yet
            Err(_) if interrupted => return Ok(ran(None)),
            // what was computed says why: it is not computed again
            Err(error) => {
                let settled = self.store.map_or(Ok(()), |store| store.finish(&self.parts));
                return Err(settled.err().unwrap_or(error));
            }
            Ok(document) => document,
        };
        document.partial = interrupted.then(|| format!("interrupted after {done} of {units} units"));
        if let Some(store) = self.store.take() {
            // parts stay until the document is in its place
            store.publish(&mut document, &self.parts)?;
        }
        Ok(ran(Some(document)))
    }
}
