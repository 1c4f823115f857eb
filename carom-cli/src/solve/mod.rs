//! `carom solve` and `carom profile`: stored problems, outside of any simulation.

mod attempt;
mod profile;

pub use profile::profile;

use crate::arguments::SolveArguments;
use crate::console::{complain, say};
use crate::failure::Failure;
use crate::list::plain_table;
use attempt::{Attempt, Method};
use carom_scene::problem_file::{self, Kind, ProblemFile};
use serde_json::json;
use std::path::{Path, PathBuf};

pub fn solve(arguments: &SolveArguments) -> Result<(), Failure> {
    let method = Method::find(&arguments.solver, arguments.tolerance)?;
    let kind = kind(arguments.kind.as_deref())?;
    if let Some(folder) = &arguments.out {
        std::fs::create_dir_all(folder)
            .map_err(|e| Failure::Environment(format!("cannot make the folder `{}`: {e}", folder.display())))?;
    }
    let (mut attempts, mut unreadable) = (Vec::new(), Vec::new());
    for path in &arguments.files {
        match problem_file::read(path, kind) {
            Ok(file) => {
                let attempt = Attempt::run(&method, &file.problem);
                if let Some(folder) = &arguments.out {
                    write(folder, path, &file, &attempt, arguments.fclib)?;
                }
                attempts.push(attempt);
            }
            Err(error) => unreadable.push(error.to_string()),
        }
    }
    if arguments.json {
        let rows: Vec<_> = attempts.iter().map(Attempt::to_json).collect();
        say(serde_json::to_string_pretty(&rows).unwrap_or_default())?;
    } else {
        print(&attempts)?;
    }
    unreadable.iter().for_each(|error| complain(format_args!("error: {error}")));
    if !unreadable.is_empty() {
        return Err(Failure::usage(format!("{} file(s) could not be read", unreadable.len()), "see the lines above"));
    }
    let failed: Vec<&str> = attempts.iter().filter(|a| a.failure.is_some()).map(|a| a.name.as_str()).collect();
    if failed.is_empty() { Ok(()) } else { Err(Failure::Computation(format!("not solved: {}", failed.join(", ")))) }
}

fn kind(name: Option<&str>) -> Result<Option<Kind>, Failure> {
    let Some(name) = name else { return Ok(None) };
    let names = Kind::ALL.map(Kind::name).join(", ");
    Kind::find(name)
        .map(Some)
        .ok_or_else(|| Failure::usage(format!("no kind of problem is named `{name}`"), format!("there are {names}")))
}

fn print(attempts: &[Attempt]) -> Result<(), Failure> {
    let mut table = plain_table();
    table.set_header(["problem", "kind", "laws", "rows", "solver", "path", "residual", "full error", "time", "status"]);
    for a in attempts {
        table.add_row([
            a.name.clone(),
            a.kind.into(),
            a.laws.to_string(),
            a.rows.to_string(),
            a.solver.into(),
            a.log.clone(),
            format!("{:.1e}", a.residual),
            format!("{:.1e}", a.full_error),
            format!("{:.3} ms", 1e3 * a.seconds),
            a.failure.clone().unwrap_or_else(|| "solved".into()),
        ]);
    }
    say(table)
}

/// Solution as JSON, and the problem as FCLIB where asked.
fn write(folder: &Path, path: &Path, file: &ProblemFile, attempt: &Attempt, fclib: bool) -> Result<(), Failure> {
    let name = path.file_stem().map_or_else(|| PathBuf::from("problem"), PathBuf::from);
    let target = folder.join(&name).with_extension("solution.json");
    let text = serde_json::to_string_pretty(&json!({
        "problem": attempt.to_json(),
        "lambda": attempt.z.lambda,
        "u": attempt.z.u,
        "v": attempt.velocity,
    }));
    let written = text.map_err(std::io::Error::from).and_then(|text| std::fs::write(&target, text + "\n"));
    written.map_err(|e| Failure::Environment(format!("cannot write `{}`: {e}", target.display())))?;
    if fclib {
        let target = folder.join(&name).with_extension("hdf5");
        problem_file::write_fclib(&file.problem, &target).map_err(|e| Failure::Environment(e.to_string()))?;
    }
    Ok(())
}
