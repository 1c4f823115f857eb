//! Gauss-Seidel and the ladder on generated families: what must not change the answer does not change it. Residuals are
//! compared, never impulses: with friction or redundant contacts these are not unique.

use carom_solve::{
    Law, OneStepProblem, ProblemWork, Reaction, Rows, SolveError, Solver, StoredProblem, family, solver,
};
use serde_json::{Value, json};

fn built(name: &str, options: Value) -> Box<dyn Solver> {
    (solver::find(name).unwrap().build)(&options).unwrap()
}

fn generated(name: &str, size: usize) -> StoredProblem {
    family::find(name).unwrap().build(size, 3).unwrap()
}

/// W by rows, b and laws of a problem.
fn reduced(problem: &StoredProblem) -> (Vec<Vec<f64>>, Vec<f64>, Vec<Law>) {
    let mut dense = Vec::new();
    problem.with(&mut ProblemWork::default(), |p| p.delassus().to_dense(&mut dense));
    let rows = dense.chunks(problem.size()).map(<[f64]>::to_vec).collect();
    (rows, problem.b().to_vec(), problem.laws().to_vec())
}

fn stored(w: &[Vec<f64>], b: Vec<f64>, laws: Vec<Law>) -> StoredProblem {
    let mut rows = Rows::new(b.len());
    for row in w {
        rows.push_sparse(row.iter().copied().enumerate().filter(|x| x.1 != 0.0));
    }
    StoredProblem::reduced("changed", rows, b, laws).unwrap()
}

/// Solved to 1e-8 as measured here: the natural map of each law with ρ = 1/w.
fn assert_solved(problem: &StoredProblem, name: &str) {
    let mut z = Reaction::default();
    let mut solver = built(name, json!({"tolerance": 1e-8, "max-sweeps": 20_000}));
    let result = problem.solve(&mut *solver, &mut z);
    assert!(result.is_ok(), "{} by {name}: {}; {}", problem.name(), result.unwrap_err(), solver.log());
    let (w, b, laws) = reduced(problem);
    let u: Vec<f64> =
        w.iter().zip(&b).map(|(w, b)| b + w.iter().zip(&z.lambda).map(|(w, x)| w * x).sum::<f64>()).collect();
    let (mut missed, mut sizes, mut row) = (0.0, [0.0; 3], 0);
    for law in laws {
        let rows = row..row + law.size();
        let scale = rows.clone().map(|i| w[i][i]).sum::<f64>() / law.size() as f64;
        let mut f = [0.0; 3];
        law.natural_map(&z.lambda[rows.clone()], &u[rows.clone()], 1.0 / scale, &mut f[..law.size()]);
        let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        missed += scale * square(&f);
        sizes[0] += square(&b[rows.clone()]) / scale;
        sizes[1] += square(&z.lambda[rows.clone()]) * scale;
        sizes[2] += square(&u[rows]) / scale;
        row += law.size();
    }
    let residual = (missed / sizes.iter().copied().fold(0.0, f64::max)).sqrt();
    assert!(residual <= 1.001e-8, "{} by {name}: {residual:e}", problem.name());
}

#[test]
fn families_are_solved() {
    for name in ["box-stack", "chain", "wall", "slab", "bridge", "obstacle", "pd", "pns", "redundant"] {
        assert_solved(&generated(name, 60), "auto");
    }
    for name in ["chain", "wall", "slab", "obstacle", "pd"] {
        assert_solved(&generated(name, 60), "nsgs");
    }
}

#[test]
fn order_of_contacts_is_free() {
    let (w, b, laws) = reduced(&generated("wall", 48));
    let (n, size) = (laws.len(), laws[0].size());
    // 7 has no common factor with the number of contacts, or the order would not be one
    assert!(n % 7 != 0 && laws.iter().all(|law| law.size() == size));
    let place = |i: usize| (7 * (i / size) % n) * size + i % size;
    let moved = (0..b.len()).map(|i| (0..b.len()).map(|j| w[place(i)][place(j)]).collect()).collect::<Vec<Vec<f64>>>();
    let changed =
        stored(&moved, (0..b.len()).map(|i| b[place(i)]).collect(), (0..n).map(|i| laws[7 * i % n]).collect());
    assert_solved(&changed, "auto");
    assert_solved(&changed, "nsgs");
}

/// Tangent frames turned by an angle of their own at each contact.
#[test]
fn tangent_frames_are_free() {
    let (mut w, mut b, laws) = reduced(&generated("wall", 48));
    for (i, row) in (0..b.len()).step_by(3).enumerate() {
        let (s, c) = (0.7 * i as f64).sin_cos();
        let turn = |x: f64, y: f64| (c * x + s * y, c * y - s * x);
        (b[row + 1], b[row + 2]) = turn(b[row + 1], b[row + 2]);
        for entries in &mut w {
            (entries[row + 1], entries[row + 2]) = turn(entries[row + 1], entries[row + 2]);
        }
        for j in 0..b.len() {
            (w[row + 1][j], w[row + 2][j]) = turn(w[row + 1][j], w[row + 2][j]);
        }
    }
    let changed = stored(&w, b, laws);
    assert_solved(&changed, "auto");
    assert_solved(&changed, "nsgs");
}

/// Other units of mass and length, and a unit of its own for each contact: the same sweeps.
#[test]
fn units_are_free() {
    let original = generated("wall", 48);
    let (w, b, laws) = reduced(&original);
    let count = |problem: &StoredProblem| {
        let mut solver = built("auto", json!({"tolerance": 1e-8}));
        problem.solve(&mut *solver, &mut Reaction::default()).unwrap();
        let log = solver.log();
        log.split(' ').take(2).collect::<Vec<_>>().join(" ")
    };
    let expected = count(&stored(&w, b.clone(), laws.clone()));
    for (mass, speed, own) in [(1e-9, 1e3, 0), (1e12, 1e-6, 0), (1.0, 1.0, 5)] {
        let unit = |i: usize| 2f64.powi((i / 3 % 7) as i32 * own);
        let scaled: Vec<Vec<f64>> =
            (0..b.len()).map(|i| (0..b.len()).map(|j| w[i][j] * mass * unit(i) * unit(j)).collect()).collect();
        let changed = stored(&scaled, (0..b.len()).map(|i| b[i] * speed * unit(i)).collect(), laws.clone());
        assert_solved(&changed, "auto");
        // what a unit does to rounding may change the last sweep
        assert_eq!(count(&changed).split(' ').next(), expected.split(' ').next());
    }
}

/// One more law of another size takes the general way through the blocks: the sweeps are the same.
#[test]
fn mixtures_are_swept_like_uniform_problems() {
    for (name, extra) in [("wall", 1), ("bridge", 1)] {
        let (mut w, mut b, mut laws) = reduced(&generated(name, 40));
        let sweep = |w: &[Vec<f64>], b: &[f64], laws: &[Law]| {
            let problem = stored(w, b.to_vec(), laws.to_vec());
            let mut z = Reaction::default();
            let options = json!({"tolerance": 1e-300, "max-sweeps": 3, "memory": 0});
            assert!(problem.solve(&mut *built("nsgs", options), &mut z).is_err());
            z.lambda
        };
        let plain = sweep(&w, &b, &laws);
        let m = b.len();
        for row in &mut w {
            row.resize(m + extra, 0.0);
        }
        w.push((0..=m).map(|j| if j == m { 1.0 } else { 0.0 }).collect());
        b.push(1.0);
        laws.push(Law::UNILATERAL);
        let mixed = sweep(&w, &b, &laws);
        let size = plain.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
        assert!(size > 0.0 && mixed[m] == 0.0);
        for (x, y) in plain.iter().zip(&mixed) {
            assert!((x - y).abs() <= 1e-9 * size, "{name}: {x} {y}");
        }
    }
}

#[test]
fn answers_have_the_same_bits_every_time() {
    for name in ["wall", "chain", "bridge", "pns"] {
        let problem = generated(name, 60);
        for method in ["auto", "nsgs"] {
            let mut solver = built(method, json!({"max-sweeps": 500}));
            let run = |solver: &mut dyn Solver| {
                let mut z = Reaction::default();
                let residual = match problem.solve(solver, &mut z) {
                    Ok(certificate) => certificate.residual,
                    Err(error) => error.certificate().unwrap().residual,
                };
                (residual.to_bits(), z.lambda.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
            };
            let first = run(&mut *solver);
            // a used solver and a new one
            assert_eq!(first, run(&mut *solver), "{name} by {method}");
            assert_eq!(first, run(&mut *built(method, json!({"max-sweeps": 500}))), "{name} by {method}");
        }
    }
}

/// The full error of the literature depends on units; where the caller asks for it both are met.
#[test]
fn both_errors_are_met_on_request() {
    let (w, b, laws) = reduced(&generated("wall", 48));
    // light bodies: W large, so that ρ = 1 asks for more digits than the residual
    let heavy: Vec<Vec<f64>> = w.iter().map(|row| row.iter().map(|x| 1e4 * x).collect()).collect();
    let problem = stored(&heavy, b, laws);
    let error = |options: Value| {
        let mut z = Reaction::default();
        problem.with(&mut ProblemWork::default(), |p: &OneStepProblem<'_>| {
            built("auto", options).solve(p, &mut z).unwrap();
            p.full_error(&z)
        })
    };
    assert!(error(json!({"tolerance": 1e-6})) > 1e-9);
    assert!(error(json!({"tolerance": 1e-6, "full-error": 1e-9})) <= 1e-9);
}

/// Two walls that approach each other, with friction: no solution, however large the reactions.
#[test]
fn growing_reactions_are_no_solution() {
    for law in [Law::UNILATERAL, Law::coulomb(0.3, 1), Law::coulomb(0.3, 2)] {
        let size = law.size();
        let mut w = vec![vec![0.0; 2 * size]; 2 * size];
        for i in 0..size {
            for (r, c, sign) in [(i, i, 1.0), (size + i, size + i, 1.0), (i, size + i, -1.0), (size + i, i, -1.0)] {
                w[r][c] = sign;
            }
        }
        let mut b = vec![0.0; 2 * size];
        (b[0], b[size]) = (-1.0, -1.0);
        let problem = stored(&w, b, vec![law; 2]);
        // what diverges is no solution however much is accepted
        for (name, options) in
            ["auto", "nsgs"].into_iter().flat_map(|name| [(name, json!({})), (name, json!({"accept": 0.9}))])
        {
            let result = problem.solve(&mut *built(name, options), &mut Reaction::default());
            match result {
                Err(SolveError::Ray { .. }) => {}
                Err(error) => assert!(error.certificate().unwrap().velocity > 0.5, "{law:?} by {name}: {error}"),
                Ok(certificate) => panic!("{law:?} by {name}: {certificate:?}"),
            }
        }
    }
}

#[test]
fn the_log_tells_the_rungs() {
    let mut solver = built("auto", json!({"tolerance": 1e-8}));
    let problem = stored(&[vec![2.0]], vec![-4.0], vec![Law::UNILATERAL]);
    problem.solve(&mut *solver, &mut Reaction::default()).unwrap();
    assert!(solver.log().starts_with("closed form"), "{}", solver.log());
    let problem = stored(&[vec![2.0, 0.0], vec![0.0, 1.0]], vec![4.0, 1.0], vec![Law::UNILATERAL; 2]);
    problem.solve(&mut *solver, &mut Reaction::default()).unwrap();
    assert!(solver.log().starts_with("at rest"), "{}", solver.log());
    generated("box-stack", 40).solve(&mut *solver, &mut Reaction::default()).unwrap();
    assert!(solver.log().starts_with("nsgs ") && solver.log().contains(", interior-point "), "{}", solver.log());
}

/// A budget that ends leaves the best point with its certificate, and the same one every time.
#[test]
fn budgets_end_with_the_best_point() {
    let problem = generated("sphere-heap", 100);
    let run = |options: Value| {
        let (mut work, mut z) = (ProblemWork::default(), Reaction::default());
        let mut solver = built("auto", options);
        problem.with(&mut work, |p| {
            let error = solver.solve(p, &mut z).unwrap_err();
            let certificate = error.certificate().unwrap();
            assert_eq!(certificate, p.certify(&mut z));
            // what was done is not lost: no reaction at all misses by the order of one
            assert!(certificate.residual < 1e-2, "{error}; {}", solver.log());
        });
        z.lambda
    };
    // beyond what rounding allows: only the budget ends it
    let options = json!({"tolerance": 1e-18, "budget": 1e3});
    assert_eq!(run(options.clone()), run(options));
}

/// The same heap given by bodies and by W alone, which is factored in another space.
#[test]
fn bodies_and_matrices_are_solved_alike() {
    for (name, size) in [("sphere-heap", 100), ("wall", 100), ("slab", 60)] {
        let problem = generated(name, size);
        for method in ["auto", "interior-point", "proximal"] {
            for problem in [problem.clone(), problem.condensed()] {
                let mut solver = built(method, json!({"tolerance": 1e-9}));
                let result = problem.solve(&mut *solver, &mut Reaction::default());
                assert!(result.is_ok(), "{name} by {method}: {}; {}", result.unwrap_err(), solver.log());
            }
        }
    }
}

/// Alternating directions: a few digits everywhere, and an end where they stall.
#[test]
fn alternating_directions_reach_a_few_digits() {
    for name in ["wall", "slab", "chain", "bridge", "pd"] {
        let problem = generated(name, 48);
        for problem in [problem.clone(), problem.condensed()] {
            let mut solver = built("admm", json!({"tolerance": 1e-4}));
            let result = problem.solve(&mut *solver, &mut Reaction::default());
            assert!(result.is_ok(), "{name}: {}; {}", result.unwrap_err(), solver.log());
        }
    }
    let mut solver = built("admm", json!({"tolerance": 1e-18}));
    let error = generated("wall", 48).solve(&mut *solver, &mut Reaction::default()).unwrap_err();
    assert!(matches!(error, SolveError::NotConverged { iterations, .. } if iterations < 20_000), "{error}");
}

/// An error says which rungs were tried, what they reached, and which option ended them.
#[test]
fn errors_tell_what_was_tried() {
    let problem = generated("sphere-heap", 100);
    let fail = |options: Value| {
        let mut solver = built("auto", options);
        let error = problem.solve(&mut *solver, &mut Reaction::default()).unwrap_err();
        assert!(matches!(error, SolveError::Exhausted { .. }), "{error}");
        (error.to_string(), error.certificate().unwrap().residual)
    };
    let (words, residual) = fail(json!({"tolerance": 1e-18, "budget": 1e3}));
    let begin = format!("residual {residual:.3e} above the tolerance 1.0e-18 (worst law: ");
    assert!(words.starts_with(&begin), "{words}");
    for part in
        ["; tried nsgs ", "slower than what follows), interior-point ", "stopped by `budget`)", "a larger `budget`"]
    {
        assert!(words.contains(part), "{part}: {words}");
    }
    let (words, _) = fail(json!({"tolerance": 1e-18, "budget": 1.0}));
    assert!(words.contains("interior-point 0 (no point, too large for `budget`)"), "{words}");
    let (words, _) = fail(json!({"tolerance": 1e-18, "max-sweeps": 5}));
    assert!(words.contains("tried nsgs 5 (residual") && words.contains("stopped by `max-sweeps`)"), "{words}");
    // two walls that approach each other
    let mut w = vec![vec![0.0; 6]; 6];
    for i in 0..3 {
        (w[i][i], w[i + 3][i + 3], w[i][i + 3], w[i + 3][i]) = (1.0, 1.0, -1.0, -1.0);
    }
    let walls = stored(&w, vec![-1.0, 0.0, 0.0, -1.0, 0.0, 0.0], vec![Law::coulomb(0.3, 2); 2]);
    let error = walls.solve(&mut *built("auto", json!({})), &mut Reaction::default()).unwrap_err();
    assert!(error.to_string().contains("; tried nsgs 3 and newton on statuses (residual"), "{error}");
}

/// Heaps of spheres with about 650 contacts on which long steps jam between 1e-3 and 1e-5: the path that is followed
/// closely goes through.
#[test]
fn jammed_paths_are_followed_closely() {
    for seed in [6, 8] {
        let problem = family::find("sphere-heap").unwrap().build(600, seed).unwrap();
        let mut solver = built("interior-point", json!({"tolerance": 1e-8, "max-iterations": 200}));
        let result = problem.solve(&mut *solver, &mut Reaction::default());
        assert!(result.is_ok(), "seed {seed}: {}; {}", result.unwrap_err(), solver.log());
    }
}
