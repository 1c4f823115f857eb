//! `carom solve` and `carom profile`: stored problems, outside of any simulation.

mod attempt;
mod history;
mod profile;

pub use profile::profile;

use crate::arguments::SolveArguments;
use crate::console::{print_line, print_warning};
use crate::failure::Failure;
use crate::print::print_table;
use crate::progress::{Bar, interrupted, watch_for_interrupts, when_left, wind_up};
use attempt::{Attempt, Method};
use carom_analysis::folder::{Draft, Folder, Sharing};
use carom_analysis::report::Cell;
use carom_analysis::study::document::{Column, Format, Table};
use carom_scene::problem_file::{self, FileFormat, ProblemFile};
use serde_json::json;
use std::path::{Path, PathBuf};

pub fn solve(arguments: &SolveArguments) -> Result<(), Failure> {
    let method = Method::find(&arguments.solver, arguments.tolerance, arguments.measure.as_deref())?;
    let kind = kind(arguments.kind.as_deref())?;
    let folder = match (&arguments.out, arguments.history) {
        (Some(folder), _) => Some(folder.clone()),
        (None, true) => Some(PathBuf::from("out/solve")),
        (None, false) => None,
    };
    watch_for_interrupts();
    let mut draft = folder.as_deref().map(|folder| claim(folder, arguments)).transpose()?;
    let place = draft.as_ref().filter(|_| arguments.out.is_some()).map(|draft| draft.place().display().to_string());
    when_left(move || match place {
        Some(place) => format!("inside a solve; solutions of the problems before are in `{place}`"),
        None => "inside a solve".into(),
    });
    let (mut attempts, mut unreadable) = (Vec::new(), Vec::new());
    let bar = Bar::new("problems", arguments.files.len(), false);
    for path in &arguments.files {
        if interrupted() {
            break;
        }
        bar.note(&path.display().to_string());
        match problem_file::read(path, kind) {
            Ok(file) => {
                let attempt = Attempt::run(&method, &file.problem, arguments.history);
                if let Some(draft) = draft.as_mut().filter(|_| arguments.out.is_some()) {
                    write(draft, path, &file, &attempt, arguments.fclib)?;
                }
                attempts.push(attempt);
            }
            Err(error) => unreadable.push(error.to_string()),
        }
        bar.add(1);
    }
    wind_up();
    drop(bar);
    if arguments.json {
        let rows: Vec<_> = attempts.iter().map(Attempt::to_json).collect();
        print_line(serde_json::to_string_pretty(&rows).unwrap_or_default())?;
    } else if !attempts.is_empty() {
        print(&attempts)?;
    }
    let left = interrupted().then(|| format!("{} of {} problems were solved", attempts.len(), arguments.files.len()));
    if let (Some(mut draft), Some(folder)) = (draft, folder) {
        let files = if arguments.history { history::write(&attempts, &mut draft)? } else { Vec::new() };
        draft.publish(left.as_deref())?;
        let mut shown = files.iter().filter(|_| !arguments.json);
        shown.try_for_each(|(word, name)| print_line(format_args!("{word:6} {}/{name}", folder.display())))?;
    }
    if let Some(left) = left {
        return Err(Failure::Interrupted(left));
    }
    unreadable.iter().for_each(|error| print_warning(format_args!("error: {error}")));
    if !unreadable.is_empty() {
        return Err(Failure::usage(format!("{} file(s) could not be read", unreadable.len()), "see the lines above"));
    }
    let failed: Vec<&str> = attempts.iter().filter(|a| a.failure.is_some()).map(|a| a.name.as_str()).collect();
    if failed.is_empty() { Ok(()) } else { Err(Failure::Computation(format!("not solved: {}", failed.join(", ")))) }
}

fn kind(name: Option<&str>) -> Result<Option<FileFormat>, Failure> {
    let Some(name) = name else { return Ok(None) };
    let names = FileFormat::ALL.map(FileFormat::name).join(", ");
    FileFormat::find(name)
        .map(Some)
        .ok_or_else(|| Failure::usage(format!("no kind of problem is named `{name}`"), format!("there are {names}")))
}

fn print(attempts: &[Attempt]) -> Result<(), Failure> {
    let names = ["problem", "kind", "rows", "method"].map(Column::new).into_iter();
    let numbers = ["residual", "full error"].map(|name| Column::new(name).shown(Format::Scientific(1)));
    let mut table = Table::new("Problems", names.chain(numbers).chain(["time", "status"].map(Column::new)));
    for a in attempts {
        let mut cells = vec![Cell::from(a.name.as_str()), Cell::from(a.kind), Cell::from(a.rows)];
        // a ladder tells its rungs
        cells.push(Cell::from(if a.solver == "auto" { a.log.clone() } else { format!("{} {}", a.solver, a.log) }));
        cells.extend([a.residual, a.full_error].map(Cell::from));
        cells.push(Cell::from(format!("{:.3} ms", 1e3 * a.seconds)));
        cells.push(Cell::from(a.failure.as_deref().or(a.warning.as_deref()).unwrap_or("solved")));
        table.row(cells);
    }
    print_table(&table)
}

/// The name of a file with another ending; what follows other dots belongs to the name.
fn named(path: &Path, ending: &str) -> String {
    path.file_stem().unwrap_or("problem".as_ref()).to_string_lossy().into_owned() + ending
}

/// Claims the folder of solutions, in which no problem may be overwritten.
fn claim(folder: &Path, arguments: &SolveArguments) -> Result<Draft, Failure> {
    let mut claim = Folder::claim(folder, "solve", Sharing::Alone)?;
    claim.protect(&arguments.files);
    let endings = [(".solution.json", arguments.out.is_some()), (".hdf5", arguments.fclib)];
    for (ending, _) in endings.iter().filter(|(_, wanted)| *wanted) {
        claim.check(arguments.files.iter().map(|path| named(path, ending)))?;
    }
    claim.check(["history.csv", "history.html", "times.csv", "times.html"].iter().filter(|_| arguments.history))?;
    Ok(claim.draft()?)
}

/// Solution as JSON, and the problem as FCLIB where asked. Files of one name are kept apart.
fn write(draft: &mut Draft, path: &Path, file: &ProblemFile, attempt: &Attempt, fclib: bool) -> Result<(), Failure> {
    let mut problem = attempt.to_json();
    // a file has the same bytes whenever it is computed
    problem.as_object_mut().map(|problem| problem.remove("seconds"));
    let text = serde_json::to_string_pretty(&json!({
        "problem": problem,
        "lambda": attempt.z.lambda,
        "u": attempt.z.u,
        "v": attempt.velocity,
    }));
    let text = text.map_err(|e| Failure::Environment(format!("a solution cannot be written: {e}")))? + "\n";
    draft.write(&named(path, ".solution.json"), |out| out.write_all(text.as_bytes()))?;
    if fclib {
        let bytes = problem_file::encode_fclib(&file.problem).map_err(|e| Failure::Environment(e.to_string()))?;
        draft.write(&named(path, ".hdf5"), |out| out.write_all(&bytes))?;
    }
    Ok(())
}
