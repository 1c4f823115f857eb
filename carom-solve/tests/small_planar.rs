//! A few planar contacts: the default takes active sets, and its answers are solutions whatever `W` and μ are.

mod counting;

use carom_solve::{Law, ProblemWork, Reaction, Rows, Shape, Solver, StoredProblem, solver};
use counting::allocations;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::json;

fn built(name: &str) -> Box<dyn Solver> {
    (solver::find(name).unwrap().build)(&json!({})).unwrap()
}

/// W = H Hᵀ with H of `m` rows and `n` columns, and b = H v: a problem that has a solution, since W λ reaches b.
fn random(rng: &mut Pcg64, laws: Vec<Law>, n: usize) -> StoredProblem {
    let m: usize = laws.iter().map(Law::size).sum();
    let h: Vec<Vec<f64>> = (0..m).map(|_| (0..n).map(|_| rng.random_range(-1.0..1.0)).collect()).collect();
    let v: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let w: Vec<f64> = h.iter().flat_map(|a| h.iter().map(|b| product(a, b)).collect::<Vec<_>>()).collect();
    let b = h.iter().map(|a| product(a, &v)).collect();
    StoredProblem::reduced("random", Rows::dense(m, &w), b, laws).unwrap()
}

/// Largest violation of Signorini's and Coulomb's laws and of bounds, written out, relative to the largest |b|.
fn violation(problem: &StoredProblem, lambda: &[f64]) -> f64 {
    let mut dense = Vec::new();
    problem.with(&mut ProblemWork::default(), |p| p.delassus().to_dense(&mut dense));
    let u: Vec<f64> = dense
        .chunks(problem.size())
        .zip(problem.b())
        .map(|(w, b)| b + w.iter().zip(lambda).map(|(w, l)| w * l).sum::<f64>())
        .collect();
    let (mut worst, mut row) = (0.0f64, 0);
    for law in problem.laws() {
        let (l, u) = (&lambda[row..], &u[row..]);
        let missed = match law.shape() {
            Shape::Interval { lower, upper } => {
                let outside = (lower - l[0]).max(l[0] - upper).max(0.0);
                let (down, up) = (u[0].max(0.0), (-u[0]).max(0.0));
                let gap = |width: f64, u: f64| width.abs().min(1.0) * u;
                outside.max(gap(l[0] - lower, down)).max(gap(upper - l[0], up))
            }
            Shape::Cone1 { mu } => {
                let normal = (-l[0]).max(-u[0]).max((l[0] * u[0]).abs());
                let cone = l[1].abs() - mu * l[0];
                // friction is at its limit and against the motion, or nothing moves
                let friction = (l[1] * u[1] + mu * l[0] * u[1].abs()).abs();
                normal.max(cone).max(friction)
            }
            _ => unreachable!("planar problems"),
        };
        worst = worst.max(missed);
        row += law.size();
    }
    let size = problem.b().iter().chain(lambda).fold(1.0f64, |a, x| a.max(x.abs()));
    worst / (size * size)
}

/// Whether the last solve needed neither pivots nor sweeps.
fn is_direct(auto: &dyn Solver) -> bool {
    let log = auto.log();
    ["at rest", "closed form", "active set"].iter().any(|first| log.starts_with(first))
}

fn contacts(rng: &mut Pcg64, number: usize, mu: f64) -> Vec<Law> {
    (0..number).map(|_| Law::coulomb(if rng.random_bool(0.1) { 0.0 } else { rng.random_range(0.0..mu) }, 1)).collect()
}

/// Well-conditioned W and little friction: the solution is unique, and found without pivots.
#[test]
fn unique_solutions_are_those_of_other_methods() {
    let mut rng = Pcg64::seed_from_u64(7);
    let (mut auto, mut lemke, mut enumerative) = (built("auto"), built("lemke"), built("enumerative"));
    let (mut direct, mut all) = (0, 0);
    for k in 0..600 {
        let number = 2 + k % 5;
        let laws = contacts(&mut rng, number, 0.2);
        let problem = random(&mut rng, laws, 8 * number);
        let (mut z, mut other) = (Reaction::default(), Reaction::default());
        problem.solve(&mut *auto, &mut z).unwrap();
        assert!(violation(&problem, &z.lambda) < 1e-12, "{k}: {}", auto.log());
        problem.solve(&mut *lemke, &mut other).unwrap();
        let same =
            |z: &Reaction, other: &Reaction| z.lambda.iter().zip(&other.lambda).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(same(&z, &other), "{k}: {:?} {:?}", z.lambda, other.lambda);
        if number <= 4 {
            problem.solve(&mut *enumerative, &mut other).unwrap();
            assert!(same(&z, &other), "{k}: {:?} {:?}", z.lambda, other.lambda);
        }
        all += 1;
        direct += usize::from(is_direct(&*auto));
    }
    assert!(direct * 100 >= 97 * all, "{direct} of {all}");
}

/// Redundant contacts, any friction, bounds and equalities beside it: a solution, whichever it is.
#[test]
fn any_small_problem_is_solved() {
    let mut rng = Pcg64::seed_from_u64(8);
    let mut auto = built("auto");
    let mut direct = 0;
    for k in 0..2000 {
        let number = 1 + k % 6;
        let mut laws = contacts(&mut rng, number, 2.0);
        if k % 3 == 0 {
            laws.push(Law::interval(-rng.random_range(0.0..1.0), rng.random_range(0.0..1.0)));
            laws.insert(0, Law::UNILATERAL);
        }
        if k % 5 == 0 {
            laws.push(Law::EQUALITY);
        }
        let m: usize = laws.iter().map(Law::size).sum();
        let columns = if k % 2 == 0 { (m / 2).max(2) } else { 2 * m };
        let problem = random(&mut rng, laws, columns);
        let mut z = Reaction::default();
        if k % 4 == 0 {
            z.lambda.extend((0..m).map(|_| rng.random_range(-1.0..1.0)));
        }
        problem.solve(&mut *auto, &mut z).unwrap_or_else(|error| panic!("{k}: {error}"));
        assert!(violation(&problem, &z.lambda) < 1e-9, "{k}: {} {}", violation(&problem, &z.lambda), auto.log());
        direct += usize::from(is_direct(&*auto));
    }
    assert!(direct > 1800, "{direct}");
}

/// From the solution of a nearby problem one system of equations is enough, and nothing is allocated.
#[test]
fn sequences_allocate_nothing() {
    let mut rng = Pcg64::seed_from_u64(9);
    let laws = contacts(&mut rng, 4, 0.5);
    let problem = random(&mut rng, laws.clone(), 16);
    let alone = StoredProblem::reduced(
        "alone",
        Rows::dense(8, &(0..64).map(|k| if k % 9 == 0 { 1.0 } else { 0.0 }).collect::<Vec<_>>()),
        problem.b().to_vec(),
        laws,
    )
    .unwrap();
    for (problem, path) in [(&problem, "active set"), (&alone, "closed form")] {
        let (mut auto, mut work, mut z) = (built("auto"), ProblemWork::default(), Reaction::default());
        for k in 0..5 {
            let before = allocations();
            problem.with(&mut work, |p| auto.solve(p, &mut z)).unwrap();
            let count = allocations() - before;
            assert!(k == 0 || count == 0, "{count}");
            assert!(auto.log().starts_with(path), "{}", auto.log());
        }
    }
}

/// One of three coupled contacts approaches: its closed form is the solution as long as the others stay open.
#[test]
fn one_contact_that_acts_has_a_closed_form() {
    for tangents in [1, 2] {
        let (n, mut rng) = (1 + tangents, Pcg64::seed_from_u64(10));
        let w = random(&mut rng, vec![Law::coulomb(0.3, tangents); 3], 12).given_w().unwrap().clone();
        // u_N of the second contact changes by as much as the first one gives it
        for (second, path) in [(50.0, "closed form"), (1e-9, "")] {
            let mut b = vec![0.1; 3 * n];
            (b[0], b[n], b[2 * n]) = (-1.0, second, 50.0);
            let problem = StoredProblem::reduced("one", w.clone(), b, vec![Law::coulomb(0.3, tangents); 3]).unwrap();
            let (mut auto, mut z) = (built("auto"), Reaction::default());
            let certificate = problem.solve(&mut *auto, &mut z).unwrap();
            assert!(certificate.residual < 1e-10 && auto.log().starts_with(path), "{}", auto.log());
            let others = z.lambda[n..].iter().all(|x| *x == 0.0);
            assert!(z.lambda[0] > 0.0 && (others || path.is_empty()), "{:?}", z.lambda);
        }
    }
}
