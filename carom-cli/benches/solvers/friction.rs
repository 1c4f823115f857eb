//! The public friction problems: `auto` in one call with the same options for all of them, beside the best of the
//! peer's solvers.

use crate::clock::best;
use crate::peer::Peer;
use crate::peer_file::{lines, temporary, write_friction};
use crate::table::{Claim, Table, duration};
use carom_scene::problem_file::{self, FileFormat, ProblemFile};
use carom_solve::solver::Configured;
use carom_solve::solver::auto::{Auto, AutoOptions};
use carom_solve::{GlobalParts, Law, ProblemWork, Reaction, Solver, StoredProblem};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Error that both sides must reach: ours in two measures, the peer's in the first or in both.
const TOLERANCE: f64 = 1e-8;

/// CPU seconds for one solver of the peer on one file.
const LIMIT: f64 = 3.0;

/// Runs of a solver of the peer, with smaller and smaller tolerances, until it meets both errors.
const TIGHTENED: usize = 4;

/// Largest number of rows for which the peer's dense solvers are tried.
const DENSE: usize = 2000;

/// Largest number of contacts for which the peer enumerates.
const ENUMERATED: usize = 4;

const HEAD: &str = "\
in the clock: ours from the problem as given in memory to the certificate, in global form with the factor of M; \"first\" with a
  new solver that allocates, \"again\" with one that has solved before; Siconos: its driver alone, in global form for global text
  files, all else with W for free (also HDF5 and planar global files, which are written down as W);
  best of 3 or more calls; \"Siconos\" meets the error of the literature, \"both errors\" the unit-free residual as well, as ours do";

/// What became of one file.
struct Row {
    name: String,
    contacts: usize,
    dimension: usize,
    ours: Ours,
    peer: Option<Rival>,
}

/// Our call.
struct Ours {
    path: String,
    full_error: f64,
    residual: f64,
    first: f64,    // seconds of a call with a new solver
    repeated: f64, // seconds of a call with a solver that knows the size
}

impl Ours {
    fn solved(&self) -> bool {
        self.full_error <= TOLERANCE && self.residual <= TOLERANCE
    }
}

/// Seconds, and the solver of the peer that needed them.
type Fastest = Option<(f64, &'static str)>;

/// The peer's solvers on the same problem.
#[derive(Default)]
struct Rival {
    best: Fastest, // by the error of the literature
    both: Fastest, // by that and by the unit-free residual
    missed: Vec<&'static str>,
}

/// The files of the public set; none where the folder is absent.
pub fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/friction");
    let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    files
}

pub fn run(markdown: bool) -> Vec<Claim> {
    println!(
        "Friction problems, one call of `auto` with tolerance and full error {TOLERANCE:e} for every file, beside the best of"
    );
    println!("Siconos' solvers at the same tolerance, {LIMIT} s for each of them\n{HEAD}");
    let files = files();
    if files.is_empty() {
        println!("skipped: the folder ../shared/data/friction is absent\n");
        return Vec::new();
    }
    let peer = Peer::build("friction");
    let rows: Vec<Row> = files.iter().filter_map(|path| row(path, peer.as_ref())).collect();
    print(&rows, markdown);
    claims(&rows)
}

fn row(path: &Path, peer: Option<&Peer>) -> Option<Row> {
    let Ok(file) = problem_file::read(path, None) else {
        println!("skipped: {} holds no problem", path.file_name().unwrap_or_default().display());
        return None;
    };
    let problem = &file.problem;
    let dimension = problem.laws().first().map_or(0, Law::size);
    let ours = ours(problem);
    // no contacts, nothing to ask a peer
    let peer = peer.filter(|_| dimension > 0).and_then(|peer| rival(peer, path, &file, dimension));
    Some(Row { name: problem.name().into(), contacts: problem.contacts(), dimension, ours, peer })
}

/// Solver, buffers and point of repeated calls.
type State = (Auto, ProblemWork, Reaction);

fn ours(problem: &StoredProblem) -> Ours {
    let options = AutoOptions { tolerance: TOLERANCE, full_error: Some(TOLERANCE), ..AutoOptions::default() };
    let new = || (Auto::configure(options.clone()), ProblemWork::default(), Reaction::default());
    let ingredients = |z: &mut Reaction| {
        z.reset(problem.size());
        problem.global_parts().map(|parts| (parts, problem.laws().to_vec()))
    };
    let mut state = new();
    let afresh = |state: &mut State| {
        *state = new();
        ingredients(&mut state.2)
    };
    let first = best(&mut state, afresh, |state, given| solve(problem, state, given));
    let repeated = best(&mut state, |state| ingredients(&mut state.2), |state, given| solve(problem, state, given));
    let (solver, mut work, mut z) = state;
    let (residual, full_error) = judge(problem, &mut work, &mut z);
    Ours { path: solver.log(), full_error, residual, first, repeated }
}

/// One call from a zero guess; a global problem is built from its parts, and given back so that its end is outside the
/// clock, as the peer's is.
fn solve(
    problem: &StoredProblem,
    (solver, work, z): &mut State,
    given: Option<(GlobalParts, Vec<Law>)>,
) -> Option<StoredProblem> {
    let built = given.and_then(|(parts, laws)| StoredProblem::global("", parts, laws).ok());
    // the outcome is judged by the two errors of the point
    let _ = built.as_ref().unwrap_or(problem).with(work, |p| solver.solve(p, z));
    built
}

/// Unit-free residual, and error of the literature in the form given.
fn judge(problem: &StoredProblem, work: &mut ProblemWork, z: &mut Reaction) -> (f64, f64) {
    problem.with(work, |p| (p.certify(z).residual, problem.full_error(p, z)))
}

/// Whether a text file holds a sparse matrix, which the peer's planar solvers refuse.
fn is_sparse(path: &Path) -> bool {
    let text = std::fs::read(path).unwrap_or_default();
    let head = String::from_utf8_lossy(&text[..text.len().min(200)]);
    head.split_whitespace().nth(2) == Some("2")
}

fn rival(peer: &Peer, path: &Path, file: &ProblemFile, dimension: usize) -> Option<Rival> {
    let (planar, global) = (dimension == 2, file.problem.global_parts().is_some());
    let rewritten = file.kind == FileFormat::Fclib || (planar && (global || is_sparse(path)));
    let source = if rewritten { temporary("friction.dat") } else { path.to_owned() };
    if rewritten && write_friction(&file.problem.condensed(), dimension, &source).is_err() {
        return None;
    }
    let (form, solvers): (&str, &[&'static str]) = match (planar, global && !rewritten) {
        (false, false) => ("local", &["nsgs", "nsgs-full", "nsn-ac", "nsn-ac-hybrid", "admm"]),
        (false, true) => ("global", &["nsgs-wr", "nsgs-global", "nsn-ac-wr", "admm-global"]),
        (true, _) => ("local", &["nsgs-2d", "cpg-2d", "lemke-2d", "enum-2d"]),
    };
    let mut rival = Rival::default();
    for &solver in solvers {
        let dense = planar && solver != "nsgs-2d";
        if (dense && file.problem.size() > DENSE) || (solver == "enum-2d" && file.problem.contacts() > ENUMERATED) {
            continue;
        }
        let arguments = [
            format!("file={}", source.display()),
            format!("form={form}"),
            format!("solver={solver}"),
            format!("limit={LIMIT}"),
            format!("dense={}", u8::from(dense)),
        ];
        rival.enter(solver, peer, &file.problem, &arguments);
    }
    Some(rival)
}

impl Rival {
    /// One solver at the tolerance, then at smaller ones until the unit-free residual is met as well.
    fn enter(&mut self, solver: &'static str, peer: &Peer, problem: &StoredProblem, arguments: &[String]) {
        let answer = temporary("answer.bin");
        let mut tolerance = TOLERANCE;
        for attempt in 0..TIGHTENED {
            let _ = std::fs::remove_file(&answer);
            let mut arguments = arguments.to_vec();
            arguments.push(format!("tolerance={tolerance:e}"));
            arguments.push(format!("answer={}", answer.display()));
            let calls = lines(&peer.run(&arguments, Duration::from_secs(30)));
            let good = calls.into_iter().filter(|line| line.error <= TOLERANCE).map(|line| line.seconds);
            let Some(seconds) = good.min_by(f64::total_cmp) else {
                if attempt == 0 {
                    self.missed.push(solver);
                }
                return;
            };
            if attempt == 0 {
                keep_best(&mut self.best, seconds, solver);
            }
            let residual = residual_of(problem, &answer);
            if residual <= TOLERANCE {
                return keep_best(&mut self.both, seconds, solver);
            }
            tolerance *= (0.3 * TOLERANCE / residual).clamp(1e-4, 0.1);
        }
    }
}

fn keep_best(best: &mut Fastest, seconds: f64, solver: &'static str) {
    if best.is_none_or(|(least, _)| seconds < least) {
        *best = Some((seconds, solver));
    }
}

/// Unit-free residual of the reactions that a peer left in a file.
fn residual_of(problem: &StoredProblem, answer: &Path) -> f64 {
    let bytes = std::fs::read(answer).unwrap_or_default();
    let lambda: Vec<f64> = bytes.as_chunks().0.iter().map(|word| f64::from_ne_bytes(*word)).collect();
    if lambda.len() != problem.size() {
        return f64::INFINITY;
    }
    judge(problem, &mut ProblemWork::default(), &mut Reaction { lambda, ..Reaction::default() }).0
}

/// How often our first call fits into the peer's time.
fn ratio(row: &Row, theirs: Fastest) -> Option<f64> {
    theirs.filter(|_| row.ours.solved()).map(|(seconds, _)| seconds / row.ours.first)
}

fn by_literature(row: &Row) -> Option<f64> {
    ratio(row, row.peer.as_ref()?.best)
}

fn by_both(row: &Row) -> Option<f64> {
    ratio(row, row.peer.as_ref()?.both)
}

fn print(rows: &[Row], markdown: bool) {
    let mut table = Table::new(&[
        "file",
        "dim",
        "contacts",
        "full error",
        "residual",
        "first",
        "again",
        "Siconos",
        "by",
        "ratio",
        "both errors",
        "by",
        "ratio",
        "missed by",
        "our path",
    ]);
    let time = |best: Fastest| best.map_or("-".into(), |(seconds, _)| duration(seconds));
    let solver = |best: Fastest| best.map_or(String::new(), |(_, solver)| solver.into());
    let quotient = |ratio: Option<f64>| ratio.map_or("-".into(), |ratio| format!("{ratio:.2}"));
    for row in rows {
        let ours = &row.ours;
        let (best, both) = row.peer.as_ref().map_or((None, None), |peer| (peer.best, peer.both));
        table.add(vec![
            row.name.clone(),
            row.dimension.to_string(),
            row.contacts.to_string(),
            format!("{:.1e}", ours.full_error),
            format!("{:.1e}", ours.residual),
            duration(ours.first),
            duration(ours.repeated),
            time(best),
            solver(best),
            quotient(by_literature(row)),
            time(both),
            solver(both),
            quotient(by_both(row)),
            row.peer.as_ref().map_or(String::new(), |peer| peer.missed.join(" ")),
            ours.path.clone() + if ours.solved() { "" } else { " NOT SOLVED" },
        ]);
    }
    table.print(markdown);
}

/// Median of the ratios, and their number.
fn median(rows: &[Row], ratio: fn(&Row) -> Option<f64>) -> (Option<f64>, usize) {
    let mut ratios: Vec<f64> = rows.iter().filter_map(ratio).collect();
    ratios.sort_by(f64::total_cmp);
    match ratios.len() {
        0 => (None, 0),
        n => (Some(0.5 * (ratios[(n - 1) / 2] + ratios[n / 2])), n),
    }
}

fn claims(rows: &[Row]) -> Vec<Claim> {
    let ((one, solved), (two, solved_both)) = (median(rows, by_literature), median(rows, by_both));
    let beaten = |row: &&Row| row.peer.as_ref().is_some_and(|peer| peer.best.is_some()) && !row.ours.solved();
    let missed: Vec<&str> = rows.iter().filter(beaten).map(|row| row.name.as_str()).collect();
    let unsolved: Vec<&str> = rows.iter().filter(|row| !row.ours.solved()).map(|row| row.name.as_str()).collect();
    let total: f64 = rows.iter().map(|row| row.ours.first).sum();
    let capsules = rows.iter().filter(|row| row.name.starts_with("Capsules"));
    let slowest = capsules.map(|row| row.ours.first).fold(0.0, f64::max);
    let listed = |names: &[&str]| if names.is_empty() { "none".into() } else { names.join(" ") };
    let known = rows.iter().any(|row| row.peer.is_some());
    vec![
        Claim::at_least(format!("median ratio over the {solved} files that Siconos solves"), 4.0, one),
        Claim::at_least(format!("the same with both errors asked of Siconos, {solved_both} files"), 4.0, two),
        Claim {
            what: "files that Siconos solves and `auto` does not".into(),
            asked: "none".into(),
            measured: listed(&missed),
            holds: known.then_some(missed.is_empty()),
        },
        Claim {
            what: format!("files not solved to {TOLERANCE:e} in both errors, of {}", rows.len()),
            asked: "none".into(),
            measured: listed(&unsolved),
            holds: Some(unsolved.is_empty()),
        },
        Claim {
            what: "whole set, first calls".into(),
            asked: "at most 3 s".into(),
            measured: duration(total),
            holds: Some(total <= 3.0),
        },
        Claim {
            what: "slowest of the Capsules files".into(),
            asked: "at most 10 ms".into(),
            measured: duration(slowest),
            holds: Some(slowest <= 10e-3),
        },
    ]
}
