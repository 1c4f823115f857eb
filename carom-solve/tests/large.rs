//! Large families of contacts, judged by an evaluator that shares nothing with the solvers but the files' numbers.

mod generated;

use carom_solve::family::{self, Recipe};
use carom_solve::solver::Accept;
use carom_solve::{GlobalParts, Law, ProblemWork, Reaction, Shape, SolveError, StoredProblem, solver};
use generated::judge::{natural_map, norm, product};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use rayon::prelude::*;
use serde_json::{Value, json};

/// The scaled residual, and the error of the literature: `u = Hᵀ v + b`, `v = M⁻¹ (q + H r)` with the diagonal of M,
/// and the scales from the same rows.
fn errors(parts: &GlobalParts, laws: &[Law], r: &[f64]) -> (f64, f64) {
    let mass: Vec<f64> = parts
        .mass
        .iter()
        .enumerate()
        .map(|(i, row)| {
            assert!(row.len() == 1 && row[0].0 == i, "masses are diagonal");
            row[0].1
        })
        .collect();
    let mut pushed = parts.q.clone();
    for (row, r) in parts.jacobian.iter().zip(r) {
        row.iter().for_each(|&(j, value)| pushed[j] += value * r);
    }
    let v: Vec<f64> = pushed.iter().zip(&mass).map(|(q, m)| q / m).collect();
    let free: Vec<f64> = parts.q.iter().zip(&mass).map(|(q, m)| q / m).collect();
    let u: Vec<f64> = parts.jacobian.iter().zip(&parts.b).map(|(row, b)| b + product(row, &v)).collect();
    let b: Vec<f64> = parts.jacobian.iter().zip(&parts.b).map(|(row, b)| b + product(row, &free)).collect();
    let diagonal: Vec<f64> =
        parts.jacobian.iter().map(|row| row.iter().map(|&(j, value)| value * value / mass[j]).sum()).collect();
    let (mut scaled, mut plain, mut sizes, mut first) = (0.0, 0.0, [0.0; 3], 0);
    let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    for law in laws {
        let rows = first..first + law.size();
        first = rows.end;
        let scale = diagonal[rows.clone()].iter().sum::<f64>() / law.size() as f64;
        let root = scale.sqrt();
        let times = |x: &[f64], factor: f64| x.iter().map(|x| x * factor).collect::<Vec<f64>>();
        let (r1, u1) = (times(&r[rows.clone()], root), times(&u[rows.clone()], 1.0 / root));
        scaled += square(&natural_map(law, &r1, &u1));
        plain += square(&natural_map(law, &r[rows.clone()], &u[rows.clone()]));
        for (size, x) in sizes.iter_mut().zip([&r1, &u1, &times(&b[rows], 1.0 / root)]) {
            *size += square(x);
        }
    }
    let size = sizes.into_iter().fold(0.0, f64::max).sqrt();
    (scaled.sqrt() / size, plain.sqrt() / norm(r).max(norm(&u)))
}

fn generate(name: &str, size: usize, mu: f64, kick: f64) -> StoredProblem {
    let recipe = Recipe { size, seed: 1, mu: Some(mu), kick: Some(kick) };
    family::find(name).unwrap().generate(&recipe).unwrap()
}

/// Solves and judges; the residual where it is reached.
fn attempt(problem: &StoredProblem, options: Value) -> Result<f64, String> {
    let tolerance = options["tolerance"].as_f64().unwrap();
    let mut solver = (solver::find("auto").unwrap().build)(&options).unwrap();
    let mut z = Reaction::default();
    let result = problem.solve(&mut *solver, &mut z);
    let (scaled, plain) = errors(&problem.global_parts().unwrap(), problem.laws(), &z.lambda);
    println!("{}: {scaled:.1e} {plain:.1e} {}", problem.name(), solver.log());
    assert!(plain.is_finite());
    match result {
        Ok(_) if scaled <= 1.001 * tolerance => Ok(scaled),
        Ok(_) => panic!("{}: claims {tolerance:e}, has {scaled:e}; {}", problem.name(), solver.log()),
        Err(error) => Err(format!("{}: {error}", problem.name())),
    }
}

/// At rest and kicked.
fn assert_solved(names: &[&str], size: usize, mus: &[f64], tolerance: f64) {
    assert_solved_to(names, size, mus, [tolerance; 2]);
}

/// To one tolerance at rest, and to another one kicked.
fn assert_solved_to(names: &[&str], size: usize, mus: &[f64], tolerances: [f64; 2]) {
    let mut lost = Vec::new();
    for name in names {
        for &mu in mus {
            for (kick, tolerance) in [0.0, 1.0].into_iter().zip(tolerances) {
                let problem = generate(name, size, mu, kick);
                lost.extend(attempt(&problem, json!({"tolerance": tolerance})).err());
            }
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

const FRICTION: &[f64] = &[0.1, 0.3, 0.7];

/// Walls, stacks, towers, arches, chains and cards.
#[test]
fn built_families_of_1e3_contacts_are_solved() {
    let names =
        ["chain", "slab", "bridge", "wall", "wall-2d", "box-stack", "tower", "tower-2d", "towers", "arch", "cards"];
    assert_solved(&names, 1000, FRICTION, 1e-8);
}

#[test]
fn packings_of_1e3_contacts_are_solved() {
    assert_solved(&["fcc", "fcc-2d", "rcp", "rcp-2d"], 1000, FRICTION, 1e-8);
}

/// Free heaps of spheres move: with much friction the sweeps wander, and no method is known to get further.
#[test]
fn heaps_of_1e3_contacts_are_solved() {
    assert_solved(&["heap-2d"], 1000, FRICTION, 1e-8);
    assert_solved(&["heap"], 1000, &[0.1, 0.3], 1e-8);
    assert_solved(&["heap"], 1000, &[0.7], 1e-4);
}

/// What a tolerance decides is where the ladder stops: the sweeps to a loose one are those to a tight one, cut short.
#[test]
fn loose_tolerances_never_take_longer() {
    for (name, size) in [("tower", 1000), ("wall", 1000), ("rcp", 500), ("sphere-heap", 500)] {
        let problem = generate(name, size, 0.3, 0.0);
        let mut last = f64::INFINITY;
        for tolerance in [1e-10, 1e-8, 1e-6, 1e-4, 1e-2] {
            let mut solver = (solver::find("auto").unwrap().build)(&json!({"tolerance": tolerance})).unwrap();
            let result = problem.solve(&mut *solver, &mut Reaction::default());
            assert!(result.is_ok(), "{name} at {tolerance:e}: {}", result.unwrap_err());
            let work = effort(&solver.log());
            assert!(work <= last, "{name} at {tolerance:e}: {work} after {last}; {}", solver.log());
            last = work;
        }
    }
}

/// Balls that move are swept with over-relaxation soon: acceleration, whose sweeps cost 2.5 of the others, is left
/// where it does not pay at once.
#[test]
fn moving_balls_are_accelerated_briefly() {
    for kick in [0.0, 1.0] {
        let problem = generate("heap", 1000, 0.3, kick);
        let mut solver = (solver::find("auto").unwrap().build)(&json!({"tolerance": 1e-4})).unwrap();
        problem.solve(&mut *solver, &mut Reaction::default()).unwrap();
        let log = solver.log();
        let sweeps: Vec<f64> = log
            .split(", ")
            .map(|part| part.strip_prefix("nsgs ").unwrap().split(' ').next().unwrap().parse().unwrap())
            .collect();
        let work = 2.5 * sweeps[0] + sweeps[1..].iter().sum::<f64>();
        assert!(work <= 320.0, "kick {kick}: {work}; {log}");
    }
}

/// Work in a log: sweeps, and factorisations that count as 1000 of them each.
fn effort(log: &str) -> f64 {
    let mut work = 0.0;
    for part in log.split(", ") {
        let mut words = part.split([' ', '/']);
        let name = words.next().unwrap_or("");
        let numbers: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
        match name {
            "nsgs" => work += numbers.iter().sum::<f64>(),
            "interior-point" | "proximal" => work += 1000.0 * numbers.last().unwrap_or(&0.0),
            _ => {}
        }
    }
    work
}

/// The path begins with reactions of the right size, however high a tower is: a few factorisations, not hundreds.
#[test]
fn high_towers_and_long_arches_take_a_short_path() {
    for (name, mu) in [("tower", 0.3), ("tower-2d", 0.7), ("arch", 0.7), ("wall", 0.7)] {
        let problem = generate(name, 10_000, mu, 0.0);
        let mut solver = (solver::find("auto").unwrap().build)(&json!({"tolerance": 1e-8})).unwrap();
        let mut z = Reaction::default();
        problem.solve(&mut *solver, &mut z).unwrap();
        assert!(errors(&problem.global_parts().unwrap(), problem.laws(), &z.lambda).0 <= 1.001e-8, "{name}");
        let factorisations = effort(&solver.log()) / 1000.0;
        assert!(factorisations <= 40.0, "{name}: {}", solver.log());
    }
}

/// Towers that do not touch are solved one by one, and the whole is certified.
#[test]
fn islands_are_solved_apart() {
    let problem = generate("box-stack", 2000, 0.7, 1.0);
    let mut solver = (solver::find("auto").unwrap().build)(&json!({"tolerance": 1e-9})).unwrap();
    let mut z = Reaction::default();
    problem.solve(&mut *solver, &mut z).unwrap();
    assert!(solver.log().starts_with("islands 50 ("), "{}", solver.log());
    assert!(errors(&problem.global_parts().unwrap(), problem.laws(), &z.lambda).0 <= 1.001e-9);
}

/// Many contacts are swept by all threads, from the first sweeps on: none of them changes a bit.
#[test]
fn threads_do_not_change_a_bit_of_the_default() {
    for (name, mu, kick) in [("fcc", 0.3, 1.0), ("wall", 0.3, 1.0), ("rcp-2d", 0.3, 0.0)] {
        let problem = generate(name, 5000, mu, kick);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let options = json!({"tolerance": 1e-4});
                let mut solver = (solver::find("auto").unwrap().build)(&options).unwrap();
                let mut z = Reaction::default();
                problem.solve(&mut *solver, &mut z).unwrap();
                (z.lambda.iter().map(|x| x.to_bits()).collect::<Vec<u64>>(), solver.log())
            })
        };
        let one = run(1);
        println!("{name}: {}", one.1);
        assert!(run(3) == one, "{name}: {}", one.1);
    }
}

/// Between `tolerance` and `accept` the best point is taken with a warning, beyond it is an error; an end by the clock
/// is an error in any case.
#[test]
fn what_is_not_solved_is_accepted_only_where_asked_for() {
    let problem = generate("rcp", 300, 0.3, 1.0);
    let solve = |options: Value| {
        let mut solver = (solver::find("auto").unwrap().build)(&options).unwrap();
        let mut z = Reaction::default();
        let result = problem.solve(&mut *solver, &mut z);
        (result, solver.warning(), errors(&problem.global_parts().unwrap(), problem.laws(), &z.lambda).0)
    };
    let work = json!({"tolerance": 1e-18, "budget": 1e4, "max-sweeps": 300});
    let with = |name: &str, value: f64| {
        let mut options = work.clone();
        options[name] = json!(value);
        options
    };
    let (result, warning, residual) = solve(work.clone());
    assert!(result.is_err() && warning.is_none() && residual < 1e-2, "{residual:e}");
    let (result, warning, taken) = solve(with("accept", 1e-2));
    let (certificate, warning) = (result.unwrap(), warning.unwrap());
    assert_eq!((warning.kind.name, warning.value), ("loose-solution", certificate.residual));
    assert!((taken / residual - 1.0).abs() < 1e-6 && taken > 1e-18, "{taken:e} {residual:e}");
    assert!(solve(with("accept", 1e-17)).0.is_err());
    let (result, warning, _) = solve(json!({"tolerance": 1e-18, "accept": 1.0, "seconds": 1e-9}));
    let error = result.unwrap_err();
    assert!(warning.is_none() && error.to_string().contains("stopped by `seconds`"), "{error}");
    // those who ask afterwards get the same answers
    let (failed, late) = (solve(work.clone()).0.unwrap_err(), error);
    problem.with(&mut ProblemWork::default(), |p| {
        let mut solver = (solver::find("auto").unwrap().build)(&with("accept", 1e-2)).unwrap();
        let mut z = Reaction::default();
        assert_eq!(solver.solve(p, &mut z).unwrap(), certificate);
        assert_eq!(solver.warning().unwrap().law, Some(certificate.law));
        let mut tolerate = |error: &SolveError, accept: Accept| p.tolerate(error, accept, &mut z);
        assert_eq!(tolerate(&failed, Accept::Error(1e-2)), Some(certificate));
        assert_eq!(tolerate(&failed, Accept::Tolerances(1e16)), Some(certificate));
        assert_eq!(tolerate(&failed, Accept::Error(1e-17)), None);
        assert_eq!(tolerate(&late, Accept::Error(1.0)), None);
    });
}

/// A guess is taken where it is better than nothing, and only there.
#[test]
fn bad_guesses_are_no_worse_than_none() {
    let problem = generate("fcc", 500, 0.3, 1.0);
    let work = |guess: Vec<f64>| {
        let mut solver = (solver::find("auto").unwrap().build)(&json!({"tolerance": 1e-8})).unwrap();
        let mut z = Reaction { lambda: guess, ..Reaction::default() };
        problem.solve(&mut *solver, &mut z).unwrap();
        (effort(&solver.log()), z.lambda)
    };
    let (cold, solution) = work(Vec::new());
    let far: Vec<f64> = solution.iter().enumerate().map(|(i, x)| 1e3 * x + ((i % 3) as f64 - 1.0)).collect();
    assert_eq!(work(far).0, cold);
    assert!(work(solution).0 <= 4.0);
}

/// At rest all of them are solved; of those that are kicked, walls and cards with much friction only nearly.
#[test]
#[ignore = "long: problems of 1e4 contacts"]
fn built_families_of_1e4_contacts_are_solved() {
    let names = ["chain", "slab", "bridge", "wall-2d", "box-stack", "tower", "tower-2d", "towers", "arch"];
    assert_solved(&names, 10_000, FRICTION, 1e-8);
    assert_solved_to(&["wall", "cards"], 10_000, FRICTION, [1e-8, 1e-5]);
}

/// Random packings of spheres that are kicked stop at some 1e-6. Free heaps of spheres wander from coefficients of
/// friction of 0.3 on: see `heaps_of_1e3_contacts_are_solved`; a descent of the residual ends near 1e-5.
#[test]
#[ignore = "long: problems of 1e4 contacts"]
fn packings_of_1e4_contacts_are_solved() {
    assert_solved(&["fcc", "fcc-2d", "rcp-2d"], 10_000, FRICTION, 1e-8);
    assert_solved_to(&["rcp"], 10_000, FRICTION, [1e-8, 1e-5]);
    assert_solved(&["heap-2d"], 10_000, FRICTION, 1e-6);
    assert_solved(&["heap"], 10_000, &[0.1], 1e-8);
    assert_solved_to(&["heap"], 10_000, &[0.3], [1e-5, 1e-5]);
    assert_solved_to(&["heap"], 10_000, &[0.7], [5e-5, 1e-3]);
}

/// The problem with coefficients of friction times numbers in [0.5, 1.5], and right-hand sides times 1 + N(0, 0.1²).
fn perturbed(problem: &StoredProblem, seed: u64) -> StoredProblem {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut parts = problem.global_parts().unwrap();
    for q in &mut parts.q {
        // twelve uniform numbers are normal enough
        let normal = (0..12).map(|_| rng.random_range(-0.5..0.5)).sum::<f64>();
        *q *= 1.0 + 0.1 * normal;
    }
    let laws = problem.laws().iter().map(|law| match law.shape() {
        Shape::Cone1 { mu } | Shape::Cone2 { mu } => Law::coulomb(mu * rng.random_range(0.5..1.5), law.size() - 1),
        _ => *law,
    });
    StoredProblem::global(format!("{}/{seed}", problem.name()), parts, laws.collect()).unwrap()
}

/// Neighbours of each kicked family: nine of ten to 1e-8, all of them to 1e-7. Planar heaps reach coefficients of
/// friction here (0.45) near which heaps begin to wander: one of their hundred stops at 2.5e-7, whatever work is
/// allowed. Pyramids of spheres, which wander earlier, are left out.
#[test]
#[ignore = "long: 1700 problems of 1e3 contacts"]
fn neighbours_of_families_are_solved() {
    for row in family::FAMILIES.iter().filter(|row| row.bodies && row.name != "sphere-heap") {
        let problem = generate(row.name, 1000, 0.3, 1.0);
        let is_missed = |seed: &u64| attempt(&perturbed(&problem, *seed), json!({"tolerance": 1e-8})).is_err();
        let missed: Vec<u64> = (0..100).into_par_iter().filter(is_missed).collect();
        println!("{}: {} of 100 missed", row.name, missed.len());
        assert!(missed.len() <= 10, "{}: {} of 100", row.name, missed.len());
        let loose = json!({"tolerance": if row.name == "heap-2d" { 1e-6 } else { 1e-7 }});
        missed.iter().for_each(|&seed| _ = attempt(&perturbed(&problem, seed), loose.clone()).unwrap());
    }
}
