//! `carom solve` and `carom profile`: stored problems, outside of any simulation.

mod attempt;
mod history;
mod profile;

pub use profile::profile;

use crate::arguments::SolveArguments;
use crate::console::{print_line, print_warning};
use crate::failure::Failure;
use crate::print::print_table;
use crate::progress::Bar;
use attempt::{Attempt, Method};
use carom_analysis::files::write_whole;
use carom_analysis::report::Cell;
use carom_analysis::study::document::{Column, Format, Table};
use carom_scene::problem_file::{self, FileFormat, ProblemFile};
use serde_json::json;
use std::path::{Path, PathBuf};

pub fn solve(arguments: &SolveArguments) -> Result<(), Failure> {
    let method = Method::find(&arguments.solver, arguments.tolerance, arguments.measure.as_deref())?;
    let kind = kind(arguments.kind.as_deref())?;
    if let Some(folder) = &arguments.out {
        refuse_equal_names(&arguments.files)?;
        std::fs::create_dir_all(folder)
            .map_err(|e| Failure::Environment(format!("cannot make the folder `{}`: {e}", folder.display())))?;
    }
    let (mut attempts, mut unreadable) = (Vec::new(), Vec::new());
    let bar = Bar::new("problems", arguments.files.len(), false);
    for path in &arguments.files {
        bar.note(&path.display().to_string());
        match problem_file::read(path, kind) {
            Ok(file) => {
                let attempt = Attempt::run(&method, &file.problem, arguments.history);
                if let Some(folder) = &arguments.out {
                    write(folder, path, &file, &attempt, arguments.fclib)?;
                }
                attempts.push(attempt);
            }
            Err(error) => unreadable.push(error.to_string()),
        }
        bar.add(1);
    }
    drop(bar);
    if arguments.json {
        let rows: Vec<_> = attempts.iter().map(Attempt::to_json).collect();
        print_line(serde_json::to_string_pretty(&rows).unwrap_or_default())?;
    } else if !attempts.is_empty() {
        print(&attempts)?;
    }
    if arguments.history {
        let folder = arguments.out.clone().unwrap_or_else(|| PathBuf::from("out/solve"));
        let files = history::write(&attempts, &folder)?;
        if !arguments.json {
            files
                .iter()
                .try_for_each(|(word, name)| print_line(format_args!("{word:6} {}/{name}", folder.display())))?;
        }
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

/// The file in the folder that has the name of this one and another ending; what follows other dots belongs to the
/// name.
fn beside(folder: &Path, path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_stem().unwrap_or("problem".as_ref()).to_owned();
    name.push(ending);
    folder.join(name)
}

/// An error where two files would write the same solution.
fn refuse_equal_names(files: &[PathBuf]) -> Result<(), Failure> {
    let mut stems: Vec<_> = files.iter().map(|path| path.file_stem()).collect();
    stems.sort();
    match stems.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Failure::usage(
            format!(
                "two files are named `{}`, and so would be their solutions",
                Path::new(pair[0].unwrap_or_default()).display()
            ),
            "solve them by two commands with two folders",
        )),
        None => Ok(()),
    }
}

/// Solution as JSON, and the problem as FCLIB where asked.
fn write(folder: &Path, path: &Path, file: &ProblemFile, attempt: &Attempt, fclib: bool) -> Result<(), Failure> {
    let target = beside(folder, path, ".solution.json");
    let text = serde_json::to_string_pretty(&json!({
        "problem": attempt.to_json(),
        "lambda": attempt.z.lambda,
        "u": attempt.z.u,
        "v": attempt.velocity,
    }));
    let text = text.map_err(std::io::Error::from);
    let written = text.and_then(|text| write_whole(&target, |out| out.write_all((text + "\n").as_bytes())));
    written.map_err(|e| Failure::Environment(format!("cannot write `{}`: {e}", target.display())))?;
    if fclib {
        let target = beside(folder, path, ".hdf5");
        problem_file::write_fclib(&file.problem, &target).map_err(|e| Failure::Environment(e.to_string()))?;
    }
    Ok(())
}
