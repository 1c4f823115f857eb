//! Gauss-Seidel: what one sweep over one contact costs, how this grows with the number of contacts, and how far it gets
//! alone.

use crate::clock::best;
use crate::friction::files;
use crate::peer::Peer;
use crate::peer_file::{lines, temporary, write_friction};
use crate::table::{Claim, Table, duration};
use carom_scene::problem_file;
use carom_solve::solver::Configured;
use carom_solve::solver::nsgs::{Nsgs, NsgsOptions};
use carom_solve::{ProblemWork, Reaction, Solver, StoredProblem, family};
use std::time::Duration;

/// The peer's unit cost in its published measurement [s].
const PUBLISHED: f64 = 0.4e-6;

/// Exponent of the time per sweep against the number of contacts that still counts as linear: caches cost a little.
const LINEAR: f64 = 1.1;

/// Generated problems of which sweeps are timed: a pyramid of spheres.
const FAMILY: &str = "sphere-heap";

/// Accuracy that Gauss-Seidel must reach alone.
const TOLERANCE: f64 = 1e-8;

/// Largest number of sweeps of Gauss-Seidel alone.
const SWEEPS: usize = 3000;

fn plain(tolerance: f64, max_sweeps: usize) -> NsgsOptions {
    NsgsOptions { tolerance, max_sweeps, memory: 0, ..NsgsOptions::default() }
}

pub fn run(markdown: bool) -> Vec<Claim> {
    let mut claims = unit_cost(markdown);
    claims.extend(scaling(markdown));
    claims.extend(alone(markdown));
    claims
}

fn unit_cost(markdown: bool) -> Vec<Claim> {
    println!("Gauss-Seidel without acceleration to {TOLERANCE:e}: time of the whole call per contact and sweep");
    let peer = Peer::build("friction");
    let mut table = Table::new(&["file", "contacts", "sweeps", "ours [µs]", "Siconos [µs]", "its sweeps", "ratio"]);
    let mut claims = Vec::new();
    for path in files() {
        let Ok(file) = problem_file::read(&path, None) else { continue };
        let problem = &file.problem;
        if !problem.name().starts_with("Capsules") {
            continue;
        }
        let (seconds, sweeps, _) = sweep(problem, plain(TOLERANCE, 100_000));
        let ours = seconds / (sweeps * problem.contacts()) as f64;
        let theirs = peer.as_ref().and_then(|peer| unit_cost_of(peer, problem));
        table.add(vec![
            problem.name().into(),
            problem.contacts().to_string(),
            sweeps.to_string(),
            format!("{:.4}", 1e6 * ours),
            theirs.map_or("-".into(), |(cost, _)| format!("{:.4}", 1e6 * cost)),
            theirs.map_or("-".into(), |(_, sweeps)| sweeps.to_string()),
            theirs.map_or("-".into(), |(cost, _)| format!("{:.1}", cost / ours)),
        ]);
        let bound = theirs.map_or(PUBLISHED, |(cost, _)| cost.min(PUBLISHED)) / 3.0;
        claims.push(Claim {
            what: format!("sweep of one contact, {}", problem.name()),
            asked: format!("at most {:.3} µs, a third of Siconos'", 1e6 * bound),
            measured: format!("{:.3} µs", 1e6 * ours),
            holds: Some(ours <= bound),
        });
    }
    table.print(markdown);
    claims
}

/// Seconds of a call with W assembled before, its sweeps and residual.
fn sweep(problem: &StoredProblem, options: NsgsOptions) -> (f64, usize, f64) {
    let mut state = (Nsgs::configure(options), Reaction::default());
    problem.with(&mut ProblemWork::default(), |p| {
        drop(p.delassus());
        // a call that is cut short on purpose ends in an error
        let seconds = best(&mut state, |(_, z)| z.reset(p.size()), |(solver, z), ()| drop(solver.solve(p, z)));
        let (solver, z) = &mut state;
        (seconds, solver.sweeps(), p.certify(z).residual)
    })
}

/// The peer's smaller cost, with a test of its error in every sweep or with a light one, and the sweeps of that call.
fn unit_cost_of(peer: &Peer, problem: &StoredProblem) -> Option<(f64, usize)> {
    let path = temporary("sweeps.dat");
    write_friction(&problem.condensed(), 3, &path).ok()?;
    let mut calls = Vec::new();
    for (solver, tolerance) in [("nsgs", 1e-3), ("nsgs", 1e-5), ("nsgs-full", TOLERANCE)] {
        let arguments = [
            format!("file={}", path.display()),
            format!("solver={solver}"),
            format!("tolerance={tolerance:e}"),
            "limit=3".into(),
        ];
        calls.extend(lines(&peer.run(&arguments, Duration::from_secs(20))));
    }
    let cost = calls
        .iter()
        .filter(|line| line.iterations > 0)
        .map(|line| (line.seconds / (line.iterations * problem.contacts()) as f64, line.iterations));
    cost.min_by(|a, b| a.0.total_cmp(&b.0))
}

fn scaling(markdown: bool) -> Vec<Claim> {
    println!("Gauss-Seidel without acceleration, 200 sweeps, family `{FAMILY}`, W assembled before");
    let mut table =
        Table::new(&["contacts", "blocks per contact", "per sweep", "per contact and sweep [µs]", "per block [ns]"]);
    let mut points = Vec::new();
    for size in [100, 1000, 10_000, 100_000] {
        let Some(Ok(problem)) = family::find(FAMILY).map(|family| family.build(size, 1)) else { continue };
        let contacts = problem.contacts() as f64;
        let blocks = problem.with(&mut ProblemWork::default(), |p| p.delassus().blocks()) as f64;
        let (seconds, sweeps, _) = sweep(&problem, plain(1e-30, 200));
        let per_sweep = seconds / sweeps as f64;
        points.push((contacts.ln(), per_sweep.ln()));
        table.add(vec![
            format!("{contacts}"),
            format!("{:.1}", blocks / contacts),
            duration(per_sweep),
            format!("{:.4}", 1e6 * per_sweep / contacts),
            format!("{:.2}", 1e9 * per_sweep / blocks),
        ]);
    }
    table.print(markdown);
    let exponent = slope(&points);
    vec![Claim {
        what: "time of a sweep against contacts, 1e2 to 1e5: exponent".into(),
        asked: format!("linear: at most {LINEAR}"),
        measured: format!("{exponent:.3}"),
        holds: Some(exponent <= LINEAR),
    }]
}

/// Slope of the least-squares line.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (x, y) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let product: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    product / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
}

/// Families with 1e4 contacts; those that are not solved say how far it got.
fn alone(markdown: bool) -> Vec<Claim> {
    println!(
        "Gauss-Seidel alone with its acceleration on 1e4 contacts to {TOLERANCE:e}, at most {SWEEPS} sweeps, no factorisation"
    );
    let mut table = Table::new(&["family", "contacts", "sweeps", "residual", "time", "solved"]);
    let mut solved = Vec::new();
    for name in ["chain", "slab", "bridge", "wall", "box-stack", "sphere-heap"] {
        let Some(Ok(problem)) = family::find(name).map(|family| family.build(10_000, 1)) else { continue };
        let options = NsgsOptions { tolerance: TOLERANCE, max_sweeps: SWEEPS, ..NsgsOptions::default() };
        let (seconds, sweeps, residual) = sweep(&problem, options);
        let good = residual <= TOLERANCE;
        table.add(vec![
            name.into(),
            problem.contacts().to_string(),
            sweeps.to_string(),
            format!("{residual:.1e}"),
            duration(seconds),
            if good { "yes" } else { "no" }.into(),
        ]);
        if good {
            solved.push(format!("{name} ({sweeps} sweeps, {})", duration(seconds)));
        }
    }
    table.print(markdown);
    vec![Claim {
        what: format!("1e4 generated contacts to {TOLERANCE:e} by Gauss-Seidel alone"),
        asked: "solved".into(),
        holds: Some(!solved.is_empty()),
        measured: if solved.is_empty() { "none".into() } else { solved.join(", ") },
    }]
}
