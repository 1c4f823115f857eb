//! Every public problem file through the default solver, one call each and no option for any file: complementarity,
//! mixed and relay problems to 1e-10 with the solutions that are known, friction to 1e-8 in the error of the form given
//! and in the unit-free one. The errors are computed by the judge, which shares nothing with the solvers.

#[allow(dead_code)]
#[path = "../../carom-solve/tests/generated/judge.rs"]
mod judge;

use carom_scene::problem_file::{ProblemFile, Reason, read};
use carom_solve::{Law, Reaction, SolveError, StoredProblem, solver};
use judge::Plain;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The files of a part of the data folder with their names; none where it is absent.
fn files(part: &str) -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(part);
    let Ok(list) = std::fs::read_dir(&folder) else {
        println!("skipped: no stored problems ({part})");
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = list.filter_map(|file| file.ok()).map(|file| file.path()).collect();
    files.sort();
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    files.into_iter().map(|path| (name(&path), path)).collect()
}

fn open(path: &Path) -> ProblemFile {
    read(path, None).unwrap_or_else(|error| panic!("{error}"))
}

/// What became of one call.
struct Answer {
    result: Result<(), SolveError>,
    z: Reaction,
    log: String,
    as_given: f64,
    scaled: f64,
}

fn solve(problem: &StoredProblem, options: Value) -> Answer {
    let mut z = Reaction::default();
    let mut solver = (solver::find("auto").unwrap().build)(&options).unwrap();
    let result = problem.solve(&mut *solver, &mut z).map(|_| ());
    let plain = Plain::of(problem);
    let as_given = judge::error_as_given(problem, &plain, &z.lambda, problem.velocity(&z).as_deref());
    Answer { result, log: solver.log(), as_given, scaled: plain.scaled_error(&z.lambda), z }
}

/// Solved to 1e-10 in both errors.
fn solved(name: &str, problem: &StoredProblem) -> Vec<f64> {
    let answer = solve(problem, json!({}));
    assert!(answer.result.is_ok(), "{name}: {}; {}", answer.result.unwrap_err(), answer.log);
    assert!(answer.as_given <= 1e-10, "{name}: {:e}; {}", answer.as_given, answer.log);
    assert!(answer.scaled <= 1e-10, "{name}: {:e}; {}", answer.scaled, answer.log);
    answer.z.lambda
}

fn is_near(a: &[f64], b: &[f64], digits: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= digits * b.abs().max(1.0))
}

#[test]
fn complementarity_files() {
    // problems with one basic solution, by an independent enumeration
    let known: [(&str, &[f64]); 12] = [
        ("lcp_CPS_2", &[0.0, 1.0, 3.0]),
        ("lcp_CPS_4", &[2.0, 2.0, 2.0, 92.0]),
        ("lcp_CPS_4bis", &[3.0, 3.0, 0.0, 83.0]),
        ("lcp_CPS_5", &[0.0, 1.0]),
        ("lcp_Pang_isolated_sol", &[1.0, 0.0, 0.0]),
        ("lcp_deudeu", &[4.0 / 3.0, 7.0 / 3.0]),
        ("lcp_deudeu_block", &[4.0 / 3.0, 7.0 / 3.0]),
        ("lcp_exp_murty", &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]),
        ("lcp_exp_murty2", &[0.0, 0.0, 0.0, 0.0, 0.0, 64.0]),
        ("lcp_inf_sol_perturbed", &[1.0, 0.0, 1e-4]),
        ("lcp_ortiz", &[2.0 / 3.0, 0.0, 1.0 / 3.0, 0.0]),
        ("lcp_ortiz_block", &[2.0 / 3.0, 0.0, 1.0 / 3.0, 0.0]),
    ];
    let (mut count, mut matched) = (0, 0);
    for (name, path) in files("lcp") {
        count += 1;
        let problem = open(&path).problem;
        assert!(problem.laws().iter().all(|law| law.is_unilateral()), "{name}");
        if name == "lcp_Pang_isolated_sol_perturbed" {
            // w₀ = −z₁ − z₂ − 1e-4 cannot be positive: there is no solution
            let answer = solve(&problem, json!({}));
            let error = answer.result.unwrap_err();
            assert!(matches!(error, SolveError::Ray { .. } | SolveError::NoSolution { .. }), "{error}");
            assert!(answer.z.lambda.len() == 3 && answer.scaled.is_finite() && answer.scaled > 1e-10);
            continue;
        }
        let z = solved(&name, &problem);
        if let Some((_, expected)) = known.iter().find(|known| known.0 == name) {
            assert!(is_near(&z, expected, 1e-9), "{name}: {z:?}");
            matched += 1;
        }
        match name.as_str() {
            // all z ≥ 0 with z₁ + z₂ = 1
            "lcp_CPS_1" => assert!((z[0] + z[1] - 1.0).abs() < 1e-9 && z[0] > -1e-9 && z[1] > -1e-9, "{z:?}"),
            // the unit matrix with q = −1/i
            "lcp_trivial" | "lcp_trivial_block" => {
                let expected: Vec<f64> = (1..=z.len()).map(|i| 1.0 / i as f64).collect();
                assert!(is_near(&z, &expected, 1e-9), "{z:?}");
            }
            "lcp_enum_fails" => assert!(z.iter().all(|z| *z <= 1.85e-4), "{z:?}"),
            _ => {}
        }
    }
    assert!(count == 0 || (count, matched) == (20, known.len()), "{count} {matched}");
}

/// Files that keep a solution have all unknowns but the first, then w, with six decimals.
#[test]
fn mixed_files() {
    let kept = ["BuckConverter", "deudeu", "m2n1", "m3n2", "relay2", "relay3", "diodeBridge"];
    let (mut count, mut matched) = (0, 0);
    for (name, path) in files("mlcp") {
        count += 1;
        let file = open(&path);
        let problem = &file.problem;
        let z = solved(&name, problem);
        if name == "Rectangular_mlcp" {
            // u − v = 0 and 0 ≤ u + v − 1 ⊥ v ≥ 0
            assert!(is_near(&z, &[0.5, 0.5], 1e-9), "{z:?}");
        }
        let equalities = problem.laws().iter().filter(|law| law.is_equality()).count();
        if !kept.iter().any(|kept| name == format!("{kept}_mlcp")) {
            continue;
        }
        let u = Plain::of(problem).u(&z);
        let found: Vec<f64> = z[1..].iter().chain(&u[equalities..]).copied().collect();
        // m2n1 was solved with 4/3, the file has 1.3333 and multiplies it by 3
        let digits = if name == "m2n1_mlcp" { 1.5e-4 } else { 2e-6 };
        assert!(is_near(&found, &file.trailing, digits), "{name}: {found:?} {:?}", file.trailing);
        matched += 1;
    }
    assert!(count == 0 || (count, matched) == (18, kept.len()), "{count} {matched}");
}

#[test]
fn relay_files() {
    let (mut count, mut matched) = (0, 0);
    for (name, path) in files("relay") {
        count += 1;
        let problem = open(&path).problem;
        let z = solved(&name, &problem);
        let w = problem.given_w().unwrap();
        // diagonal problems fall apart: each row alone is −q/m, cut to its interval
        if w.iter().enumerate().any(|(i, row)| row.iter().any(|entry| entry.0 != i && entry.1 != 0.0)) {
            continue;
        }
        matched += 1;
        for (i, law) in problem.laws().iter().enumerate() {
            let (lower, upper) = law.bounds();
            let m: f64 = w.row(i).iter().filter(|entry| entry.0 == i).map(|entry| entry.1).sum();
            assert!((z[i] - (-problem.b()[i] / m).clamp(lower, upper)).abs() < 1e-10, "{name}: {z:?}");
        }
    }
    assert!(count == 0 || (count == 7 && matched >= 3), "{count} {matched}");
}

#[test]
fn friction_files() {
    let mut count = 0;
    for (name, path) in files("friction") {
        if name == "ACinputs" {
            // vectors for the test of a function
            let error = read(&path, None).unwrap_err();
            assert!(matches!(error.reason, Reason::Unknown { .. }), "{error}");
            continue;
        }
        count += 1;
        let problem = open(&path).problem;
        if problem.laws().is_empty() {
            let answer = solve(&problem, json!({}));
            assert!(answer.result.is_ok() && answer.z.lambda.is_empty(), "{name}");
            assert!(answer.as_given <= 1e-14 && answer.log.starts_with("at rest"), "{name}: {}", answer.log);
            continue;
        }
        // as it comes; to 1e-8 and no more; and to 1e-10 in both errors
        for (options, limit) in [
            (json!({}), 1e-8),
            (json!({"tolerance": 1e-8, "full-error": 1e-8}), 1e-8),
            (json!({"tolerance": 1e-10, "full-error": 1e-10}), 1e-10),
        ] {
            let answer = solve(&problem, options.clone());
            let (as_given, scaled, log) = (answer.as_given, answer.scaled, answer.log);
            assert!(answer.result.is_ok(), "{name} {options}: {}; {log}", answer.result.unwrap_err());
            // the last digit may differ between two ways to sum
            assert!(as_given <= 1.001 * limit, "{name} {options}: {as_given:e} as given; {log}");
            assert!(scaled <= 1.001 * limit, "{name} {options}: {scaled:e} scaled; {log}");
        }
    }
    assert!(count == 0 || count == 43, "{count}");
}

/// The judge itself: zero at solutions by hand, and not where a law is missed.
#[test]
fn the_judge_knows_solutions() {
    // the unit matrix: slip r_N = −b_N, r_T = −μ r_N b_T/‖b_T‖
    let unit = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let plain = |mu| Plain::dense(&[Law::coulomb(mu, 2)], &unit, &[-2.0, 3.0, 4.0]);
    assert!(plain(0.5).full_error(&[2.0, -0.6, -0.8]) < 1e-15);
    assert!(plain(0.0).full_error(&[2.0, 0.0, 0.0]) < 1e-15);
    assert!(plain(10.0).full_error(&[2.0, -3.0, -4.0]) < 1e-15);
    // friction that pushes, that is too weak, and none at all
    for wrong in [[2.0, 0.6, 0.8], [2.0, -0.3, -0.4], [2.0, 0.0, 0.0], [0.0; 3], [2.1, -0.63, -0.84]] {
        assert!(plain(0.5).full_error(&wrong) > 1e-2, "{wrong:?}");
    }
    assert_eq!(plain(0.5).scaled_error(&[f64::NAN, 0.0, 0.0]), f64::INFINITY);
    // units of its own do not change the scaled error: W 1e6 times as large
    let light = Plain::dense(&[Law::coulomb(0.5, 2)], &unit.map(|x| 1e6 * x), &[-2.0, 3.0, 4.0]);
    let (a, b) = (plain(0.5).scaled_error(&[2.0, 0.0, 0.0]), light.scaled_error(&[2e-6, 0.0, 0.0]));
    assert!((a - b).abs() < 1e-14 && a > 0.1);
    // a relay at its bound, and beyond
    let relay = Plain::dense(&[Law::interval(-1.0, 1.0)], &[4.0], &[-8.0]);
    assert!(relay.scaled_error(&[1.0]) < 1e-15 && relay.scaled_error(&[2.0]) > 0.1 && relay.scaled_error(&[0.5]) > 0.1);
}
