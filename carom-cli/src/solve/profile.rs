//! `carom profile`: all solvers on all files of a folder or on generated families, as a performance profile
//! [dolan2002].
//!
//! ```text
//!     ratio r(p, s) = t(p, s) / min over s of t(p, s),     ρ_s(τ) = share of problems with r(p, s) ≤ τ
//! ```

use super::attempt::{Attempt, Method};
use crate::arguments::ProfileArguments;
use crate::console::print_warning;
use crate::failure::Failure;
use crate::generate;
use crate::open::open;
use crate::print::print;
use crate::progress::{Bar, interrupted, watch_for_interrupts, wind_up};
use carom_analysis::folder::{Folder, Sharing};
use carom_analysis::report::{Cell, Chart, Series};
use carom_analysis::study::document::{Column, Document, Printed, Section, Table};
use carom_scene::problem_file;
use carom_solve::family::{Family, Recipe};
use carom_solve::{SOLVERS, StoredProblem};
use std::path::PathBuf;

/// All attempts: one row per problem, one column per solver.
struct Profile {
    solvers: Vec<&'static str>,
    rows: Vec<Vec<Attempt>>,
}

pub fn profile(arguments: &ProfileArguments) -> Result<(), Failure> {
    let names: Vec<String> = match arguments.solvers.as_slice() {
        [] => SOLVERS.iter().map(|row| row.info.name.to_owned()).collect(),
        some => some.to_vec(),
    };
    let (tolerance, measure) = (Some(arguments.tolerance), arguments.measure.as_deref());
    let methods = names.iter().map(|name| Method::find(name, tolerance, measure)).collect::<Result<Vec<_>, _>>()?;
    let sources = match &arguments.folder {
        Some(folder) => files(folder)?.into_iter().map(Source::File).collect(),
        None => recipes(arguments)?,
    };
    watch_for_interrupts();
    let folder = arguments.out.clone().unwrap_or_else(|| PathBuf::from("out/profile"));
    let claim = Folder::claim(&folder, "profile", Sharing::Alone)?;
    claim.check(["profile.csv", "profile.html"])?;
    let mut profile = Profile { solvers: methods.iter().map(|m| m.row.info.name).collect(), rows: Vec::new() };
    let bar = Bar::new("problems", sources.len(), arguments.quiet);
    for source in &sources {
        if interrupted() {
            break;
        }
        match source.problem()? {
            Ok(problem) => {
                let admitted = |m: &&Method| {
                    problem.size() <= arguments.most_rows || m.row.info.name == "auto" || m.row.info.name == "nsgs"
                };
                let row = methods.iter().map(|m| {
                    let skipped = "skipped: too many rows for a dense method (--most-rows)";
                    match admitted(&m) {
                        true => Attempt::run(m, &problem, false),
                        false => Attempt { failure: Some(skipped.into()), ..Attempt::new(m, &problem) },
                    }
                });
                profile.rows.push(row.collect());
            }
            Err(error) => bar.aside(|| print_warning(format_args!("skipped: {error}"))),
        }
        bar.add(1);
    }
    wind_up();
    drop(bar);
    let left = format!("{} of {} problems are in `{}`", profile.rows.len(), sources.len(), folder.display());
    let mut document = profile.document(arguments.tolerance);
    document.partial = interrupted().then(|| left.clone());
    let mut draft = claim.draft()?;
    document.write(&mut draft, "profile")?;
    draft.publish(document.partial.as_deref())?;
    if !arguments.quiet {
        print(&document, &folder)?;
    }
    if arguments.open {
        open(&folder.join("profile.html"))?;
    }
    if interrupted() { Err(Failure::Interrupted(left)) } else { Ok(()) }
}

/// Where a problem comes from.
enum Source {
    File(PathBuf),
    Family(&'static Family, Recipe),
}

impl Source {
    /// The problem, or why a file is skipped.
    fn problem(&self) -> Result<Result<StoredProblem, String>, Failure> {
        match self {
            Source::File(path) => {
                Ok(problem_file::read(path, None).map(|file| file.problem).map_err(|error| error.to_string()))
            }
            Source::Family(family, recipe) => {
                let mut name = format!("{} {}", family.name, recipe.size);
                recipe.mu.iter().for_each(|mu| name += &format!(" mu {mu}"));
                recipe.kick.iter().for_each(|kick| name += &format!(" kick {kick}"));
                name += &format!(" seed {}", recipe.seed);
                Ok(Ok(generate::make(family, *recipe)?.named(name)))
            }
        }
    }
}

/// Problems of a profile at most.
const MOST: usize = 100_000;

/// All combinations of families, sizes, coefficients, kicks and seeds.
fn recipes(arguments: &ProfileArguments) -> Result<Vec<Source>, Failure> {
    let or_none = |values: &[f64]| match values {
        [] => vec![None],
        some => some.iter().copied().map(Some).collect::<Vec<_>>(),
    };
    let (mus, kicks) = (or_none(&arguments.mu), or_none(&arguments.kick));
    let seeds = if arguments.seed.is_empty() { &[(1, 1)] } else { &arguments.seed[..] };
    let mut all = Vec::new();
    for name in &arguments.family {
        let family = generate::find(name)?;
        for (&size, &mu) in arguments.contacts.iter().flat_map(|size| mus.iter().map(move |mu| (size, mu))) {
            for (&kick, &(first, last)) in kicks.iter().flat_map(|kick| seeds.iter().map(move |seed| (kick, seed))) {
                for seed in first..=last {
                    if all.len() == MOST {
                        let hint = "fewer values, or fewer seeds";
                        return Err(Failure::usage(format!("these are more than {MOST} problems"), hint));
                    }
                    all.push(Source::Family(family, Recipe { size, seed, mu, kick }));
                }
            }
        }
    }
    Ok(all)
}

/// Regular files of a folder, by name.
fn files(folder: &PathBuf) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |e: std::io::Error| {
        Failure::usage(
            format!("cannot read the folder `{}`: {e}", folder.display()),
            "name a folder with problem files",
        )
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(unreadable)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(Failure::usage(
            format!("the folder `{}` has no files", folder.display()),
            "name a folder with problem files",
        ));
    }
    Ok(files)
}

impl Profile {
    /// Ratio of each solver's time to the best on one problem; none where it was not solved.
    fn ratios(&self, row: &[Attempt]) -> Vec<Option<f64>> {
        let best = row.iter().filter(|a| a.failure.is_none()).map(|a| a.seconds).fold(f64::INFINITY, f64::min);
        row.iter().map(|a| a.failure.is_none().then(|| (a.seconds / best).max(1.0))).collect()
    }

    /// The steps (τ, ρ) of one solver.
    fn curve(&self, solver: usize) -> (Vec<f64>, Vec<f64>) {
        let mut ratios: Vec<f64> = self.rows.iter().filter_map(|row| self.ratios(row)[solver]).collect();
        ratios.sort_by(f64::total_cmp);
        let total = self.rows.len().max(1) as f64;
        let shares = (1..=ratios.len()).map(|k| k as f64 / total).collect();
        (ratios, shares)
    }

    fn solved(&self, solver: usize) -> usize {
        self.rows.iter().filter(|row| row[solver].failure.is_none()).count()
    }
}

impl Profile {
    fn document(&self, tolerance: f64) -> Document {
        let (count, caption) = (self.rows.len(), "Performance profile");
        let text = "Share of problems that a solver solves within a factor τ of the fastest solver on each problem. Higher is \
                    better; the value at the right is the share solved at all.";
        let mut chart = Chart::new(caption, "τ", "share of problems");
        chart.log_x = true;
        for (k, solver) in self.solvers.iter().enumerate() {
            let (tau, share) = self.curve(k);
            chart = chart.with(Series::steps(*solver, tau, share));
        }
        let profile = Section {
            title: "Profile".into(),
            text: vec![text.into()],
            charts: vec![chart],
            tables: vec![self.summary()],
            ..Section::default()
        };
        let problems =
            Section { title: "Problems".into(), tables: vec![self.times(), self.attempts()], ..Section::default() };
        Document {
            title: caption.into(),
            subtitle: format!("{count} problems, tolerance {tolerance:e}"),
            headline: format!("{count} problems, tolerance {tolerance:e}"),
            sections: vec![profile, problems],
            ..Document::default()
        }
    }

    /// Solver by solver.
    fn summary(&self) -> Table {
        let names = ["solver", "solved", "fastest", "within 2x", "within 10x", "total time of the solved"];
        let mut table = Table::new("Solvers", names.map(Column::new));
        for (k, solver) in self.solvers.iter().enumerate() {
            let ratios: Vec<f64> = self.rows.iter().filter_map(|row| self.ratios(row)[k]).collect();
            let within = |bound: f64| Cell::from(ratios.iter().filter(|r| **r <= bound).count());
            let solved = self.rows.iter().map(|row| &row[k]).filter(|a| a.failure.is_none());
            table.row([
                Cell::from(*solver),
                Cell::from(format!("{} of {}", self.solved(k), self.rows.len())),
                within(1.0),
                within(2.0),
                within(10.0),
                Cell::from(format!("{:.3} ms", 1e3 * solved.fold(0.0, |sum, a| sum + a.seconds))),
            ]);
        }
        table
    }

    /// Problem by problem.
    fn times(&self) -> Table {
        let columns = ["problem", "kind", "laws"].map(Column::new).into_iter();
        let columns = columns.chain(self.solvers.iter().map(|s| Column::new(format!("{s} [ms]"))));
        let mut table = Table::new("Time to the tolerance; empty where it was not reached", columns);
        table.printed = Printed::No;
        for row in &self.rows {
            let Some(first) = row.first() else { continue };
            let times = row.iter().map(|a| Cell::from(a.failure.is_none().then_some(1e3 * a.seconds)));
            let names = [Cell::from(first.name.as_str()), Cell::from(first.kind), Cell::from(first.laws)];
            table.row(names.into_iter().chain(times));
        }
        table
    }

    /// Solver by solver on problem by problem.
    fn attempts(&self) -> Table {
        let names =
            ["problem", "kind", "laws", "rows", "solver", "solved", "residual", "full_error", "seconds", "path"];
        let mut table = Table::new("Attempts", names.map(Column::new)).to_file("profile.csv").hidden();
        table.printed = Printed::No;
        for a in self.rows.iter().flatten() {
            let mut cells = vec![Cell::from(a.name.as_str()), Cell::from(a.kind), Cell::from(a.laws)];
            cells.extend([Cell::from(a.rows), Cell::from(a.solver), Cell::from(a.failure.is_none().to_string())]);
            cells.extend([a.residual, a.full_error, a.seconds].map(Cell::from));
            cells.push(Cell::from(a.log.as_str()));
            table.row(cells);
        }
        table
    }
}
