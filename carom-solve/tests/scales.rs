//! Problems in other units: what a solver solves in metres and kilograms it solves in nanometres and tons, with the
//! same answer.
//!
//! ```text
//!     u → V u,   b → V b,   λ → Λ λ,   W → (V/Λ) W,   bounds and radii of laws as λ                        (1)
//! ```
//!
//! With powers of four no number loses a bit, and a method without a floor that has a unit finds the same bits.

mod generated;

use carom_solve::family::FAMILIES;
use carom_solve::{Disc, GlobalParts, Law, Reaction, Rows, SOLVERS, Solver, SolverRow, StoredProblem};
use generated::{judge::rows, law};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::json;

/// Powers of two of V and Λ, about 1e±12.
const SCALES: [(i32, i32); 8] = [(40, 0), (-40, 0), (0, 40), (0, -40), (40, -40), (-40, 40), (-40, -40), (40, 40)];

fn times(matrix: &Rows, by: f64) -> Rows {
    let scale = |row: &[(usize, f64)]| row.iter().map(|&(j, value)| (j, by * value)).collect();
    rows(&matrix.iter().map(scale).collect::<Vec<_>>(), matrix.columns())
}

/// The law for reactions `by` times as large.
fn law_times(law: &Law, by: f64) -> Law {
    let mut discs = [Disc::default(); 3];
    let places = if law.name() == "rolling friction" { 3 } else { 1 };
    for ((_, disc), place) in law.discs().zip(discs[..places].iter_mut()) {
        *place = Disc { radius: by * disc.radius, ..disc };
    }
    let (lower, upper) = law.bounds();
    Law::new(by * lower, by * upper, discs)
}

/// (1). In the global form rows scale by `row` and the mass as it has to, so that velocities of bodies are others than
/// those of contacts.
fn scaled(problem: &StoredProblem, (v, lambda): (f64, f64), row: f64) -> StoredProblem {
    let laws = problem.laws().iter().map(|law| law_times(law, lambda)).collect();
    let b = |b: &[f64]| b.iter().map(|b| v * b).collect::<Vec<f64>>();
    match (problem.given_w(), problem.global_parts()) {
        (Some(w), _) => StoredProblem::reduced("scaled", times(w, v / lambda), b(problem.b()), laws),
        (None, Some(parts)) => {
            let mass = row * row * lambda / v;
            let parts = GlobalParts {
                mass: times(&parts.mass, mass),
                jacobian: times(&parts.jacobian, row),
                q: parts.q.iter().map(|q| mass * v / row * q).collect(),
                b: b(&parts.b),
            };
            StoredProblem::global("scaled", parts, laws)
        }
        (None, None) => panic!("a problem is reduced or global"),
    }
    .unwrap()
}

fn build(row: &SolverRow) -> Box<dyn Solver> {
    (row.build)(&json!({})).unwrap()
}

/// Reactions, or the error as text.
fn answer(solver: &mut dyn Solver, problem: &StoredProblem) -> Result<Vec<f64>, String> {
    let mut z = Reaction::default();
    problem.solve(solver, &mut z).map(|_| z.lambda).map_err(|error| error.to_string())
}

fn problems() -> Vec<StoredProblem> {
    let mut all = Vec::new();
    for family in FAMILIES {
        for size in [6, 40] {
            let problem = family.build(size, 3).unwrap();
            if problem.given_w().is_none() {
                all.push(problem.condensed().named(format!("{} condensed", problem.name())));
            }
            all.push(problem);
        }
    }
    // mixtures of all laws: boxes and discs of their own radius bring a reaction of their own
    let general = [Law::tresca(0.2, 2), Law::adhesion(0.1, 0.4, 2), Law::rolling(0.5, 0.02, 0.01)];
    for (seed, kinds) in [(1, 0..5), (2, 0..6), (3, 0..7), (4, 0..10), (5, 5..6), (6, 6..7), (7, 0..1)].into_iter() {
        let pick = |k: usize| if k < 7 { law(k, 0.3) } else { general[k - 7] };
        let laws: Vec<Law> = kinds.clone().chain(kinds).map(pick).collect();
        let mut rng = Pcg64::seed_from_u64(seed);
        let m = laws.iter().map(Law::size).sum::<usize>();
        let mut random = |n: usize| (0..n).map(|_| rng.random_range(-1.0..1.0)).collect::<Vec<f64>>();
        let parts = GlobalParts {
            mass: Rows::dense(
                m + 3,
                &(0..(m + 3) * (m + 3)).map(|k| if k % (m + 4) == 0 { 1.0 } else { 0.0 }).collect::<Vec<_>>(),
            ),
            jacobian: Rows::dense(m + 3, &random(m * (m + 3))),
            q: random(m + 3),
            b: random(m),
        };
        all.push(StoredProblem::global(format!("mixture {seed}"), parts, laws).unwrap());
    }
    all
}

#[test]
fn every_solver_finds_the_scaled_answer_of_the_scaled_problem() {
    let (mut failed, mut compared) = (Vec::new(), 0);
    for problem in problems() {
        for line in SOLVERS {
            let mut solver = build(line);
            let name = solver.info().name;
            if solver.admits(problem.laws()).is_err() {
                continue;
            }
            // what a solver cannot do in one unit it need not do in another
            let Ok(lambda) = answer(&mut *solver, &problem) else { continue };
            for (v, unit) in SCALES {
                let (v, unit) = (2f64.powi(v), 2f64.powi(unit));
                // the reduced form has no rows
                let rows = if problem.given_w().is_some() { vec![1.0] } else { vec![2f64.powi(20), 2f64.powi(-20)] };
                for row in rows {
                    compared += 1;
                    let place = format!("{name}, {}, {v:e} {unit:e} {row:e}", problem.name());
                    match answer(&mut *build(line), &scaled(&problem, (v, unit), row)) {
                        Err(error) => failed.push(format!("{place}: {error}")),
                        Ok(other) => {
                            let miss = |(a, b): (&f64, &f64)| (a - b / unit).abs();
                            let worst = lambda.iter().zip(&other).map(miss).fold(0.0, f64::max);
                            // numbers next to the smallest ones lose digits when they are scaled
                            if worst > 1e-300 {
                                failed.push(format!("{place}: differs by {worst:e}"));
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(compared > 1000, "{compared}");
    assert!(failed.is_empty(), "{} of {compared}:\n{}", failed.len(), failed.join("\n"));
}
