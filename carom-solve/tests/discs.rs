//! Laws with several discs (rolling and spinning friction), with their own radius (Tresca) and with other bounds
//! (adhesion), by every solver that admits them. The judge knows the definitions of the laws alone.

mod generated;

use carom_solve::{Disc, Law, SOLVERS, SolveError, Solver, solver};
use generated::Problem;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::json;

/// Bounds and discs of a law as the test made it.
#[derive(Clone, Debug)]
struct Data {
    bounds: (f64, f64),
    discs: Vec<Disc>,
}

impl Data {
    fn rolling(mu: f64, rolling: f64, spinning: f64) -> Data {
        let discs = vec![Disc::cone(2, mu), Disc::cone(2, rolling), Disc::cone(1, spinning)];
        Data { bounds: (0.0, f64::INFINITY), discs }
    }

    fn law(&self) -> Law {
        let mut discs = [Disc::default(); 3];
        discs[..self.discs.len()].copy_from_slice(&self.discs);
        Law::new(self.bounds.0, self.bounds.1, discs)
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// How far λ and u are from the definitions: bounds and discs kept, `u₀` zero or towards the bound at which `λ₀` is,
/// each disc taking the most energy that it can. Lengths relative to all reactions and velocities, products to their
/// product.
fn judged(laws: &[Data], lambda: &[f64], u: &[f64]) -> f64 {
    let (force, speed) = (norm(lambda).max(1e-300), norm(u).max(1e-300));
    let (mut first, mut worst) = (0, 0.0f64);
    for law in laws {
        let (x, v) = (lambda[first], u[first]);
        first += 1;
        let (lower, upper) = law.bounds;
        worst = worst.max((lower - x) / force).max((x - upper) / force);
        // u > 0 belongs to the lower bound, u < 0 to the upper one
        let bound = if v > 0.0 { lower } else { upper };
        worst =
            worst.max(if bound.is_finite() { (x - bound).abs() * v.abs() / (force * speed) } else { v.abs() / speed });
        for disc in &law.discs {
            let rows = first..first + disc.rows as usize;
            first = rows.end;
            let (reaction, slip) = (&lambda[rows.clone()], &u[rows]);
            let radius = disc.radius + disc.mu * x;
            worst = worst.max((norm(reaction) - radius) / force);
            let power: f64 = reaction.iter().zip(slip).map(|(a, b)| a * b).sum();
            worst = worst.max((power + radius * norm(slip)).abs() / (force * speed));
        }
    }
    worst
}

/// Solves and judges; returns the reactions.
fn check(laws: &[Data], w: &[f64], b: &[f64], solver: &mut dyn Solver) -> Vec<f64> {
    let list: Vec<Law> = laws.iter().map(Data::law).collect();
    let (z, certificate) =
        Problem::reduced(&list, w, b).solve(solver).unwrap_or_else(|error| panic!("{error}: {laws:?}"));
    let m = b.len();
    let u: Vec<f64> = (0..m).map(|i| b[i] + (0..m).map(|j| w[i * m + j] * z.lambda[j]).sum::<f64>()).collect();
    // what is zero to rounding is zero: products with it have no meaning
    let size = norm(&u).max(norm(b));
    let u: Vec<f64> = u.iter().map(|u| if u.abs() < 1e-8 * size { 0.0 } else { *u }).collect();
    let miss = judged(laws, &z.lambda, &u);
    assert!(miss < 1e-7, "{}: {miss:e} {certificate:?} {laws:?}", solver.info().name);
    z.lambda
}

fn unit(rng: &mut Pcg64) -> [f64; 3] {
    let x: [f64; 3] = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
    let size = norm(&x);
    if size > 0.1 { x.map(|x| x / size) } else { [0.0, 0.0, 1.0] }
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// `W` of spheres in a row, each in contact with the one before and the first one with the ground: velocity of the
/// point of contact along the normal and two tangents, then relative rotation about the tangents and about the normal.
fn chain(rng: &mut Pcg64, spheres: usize) -> Vec<f64> {
    let (m, dof) = (6 * spheres, 6 * spheres);
    let radius = 0.5;
    let mut h = vec![0.0; m * dof];
    for k in 0..spheres {
        let n = unit(rng);
        let other = if n[0].abs() < 0.7 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
        let t = cross(n, other);
        let t = t.map(|x| x / norm(&t));
        let s = cross(n, t);
        // body k is along n from the contact, body k − 1 against it
        for (body, sign) in [(Some(k), 1.0), (k.checked_sub(1), -1.0)] {
            let Some(body) = body else { continue };
            let (mass, inertia) = (1.0 + 0.3 * body as f64, 0.4 * radius * radius * (1.0 + 0.3 * body as f64));
            for (row, d) in [n, t, s].into_iter().enumerate() {
                // d·(v + ω × r) with r = ∓radius n from the centre to the contact
                let turn = cross(n.map(|x| -sign * radius * x), d);
                for c in 0..3 {
                    h[(6 * k + row) * dof + 6 * body + c] = sign * d[c] / f64::sqrt(mass);
                    h[(6 * k + row) * dof + 6 * body + 3 + c] = sign * turn[c] / f64::sqrt(inertia);
                }
            }
            for (row, d) in [t, s, n].into_iter().enumerate() {
                for c in 0..3 {
                    h[(6 * k + 3 + row) * dof + 6 * body + 3 + c] = sign * d[c] / f64::sqrt(inertia);
                }
            }
        }
    }
    let dot = |i: usize, j: usize| (0..dof).map(|c| h[i * dof + c] * h[j * dof + c]).sum::<f64>();
    (0..m * m).map(|at| dot(at / m, at % m)).collect()
}

fn velocities(rng: &mut Pcg64, contacts: usize) -> Vec<f64> {
    (0..6 * contacts).map(|i| rng.random_range(-1.0..1.0) - if i % 6 == 0 { 0.6 } else { 0.0 }).collect()
}

/// `auto`, and Gauss-Seidel in both orders.
fn solvers() -> [Box<dyn Solver>; 3] {
    let build = |name: &str, table| (solver::find(name).unwrap().build)(&table).unwrap();
    let coloured = json!({"sweep": "coloured", "threads": 1});
    [build("auto", json!({})), build("nsgs", json!({})), build("nsgs", coloured)]
}

#[test]
fn rolling_contacts_alone_and_in_chains_are_solved() {
    let mut rng = Pcg64::seed_from_u64(3);
    for k in 0..120 {
        let spheres = [1, 1, 2, 5, 12][k % 5];
        let laws: Vec<Data> = (0..spheres)
            .map(|_| Data::rolling(rng.random_range(0.05..1.0), rng.random_range(0.0..0.2), rng.random_range(0.0..0.2)))
            .collect();
        let (w, b) = (chain(&mut rng, spheres), velocities(&mut rng, spheres));
        for mut solver in solvers() {
            check(&laws, &w, &b, &mut *solver);
        }
    }
}

/// A rolling contact between contacts of all other kinds, with a `W` that ties them all.
#[test]
fn mixtures_with_rolling_are_solved() {
    let mut rng = Pcg64::seed_from_u64(4);
    for _ in 0..60 {
        let none = Vec::new();
        let laws = [
            Data { bounds: (0.0, f64::INFINITY), discs: none.clone() },
            Data::rolling(0.4, 0.1, 0.05),
            Data { bounds: (0.0, f64::INFINITY), discs: vec![Disc::cone(2, 0.5)] },
            Data { bounds: (-0.3, 0.4), discs: none.clone() },
            Data { bounds: (-0.2, f64::INFINITY), discs: vec![Disc { rows: 2, mu: 0.5, radius: 0.1 }] },
            Data { bounds: (f64::NEG_INFINITY, f64::INFINITY), discs: none },
            Data { bounds: (0.0, f64::INFINITY), discs: vec![Disc { rows: 1, mu: 0.0, radius: 0.2 }] },
        ];
        let m = laws.iter().map(|law| law.law().size()).sum::<usize>();
        let h: Vec<f64> = (0..m * 2 * m).map(|_| rng.random_range(-1.0..1.0)).collect();
        let dot = |i: usize, j: usize| (0..2 * m).map(|c| h[i * 2 * m + c] * h[j * 2 * m + c]).sum::<f64>();
        let w: Vec<f64> = (0..m * m).map(|at| dot(at / m, at % m) / m as f64).collect();
        let b: Vec<f64> = (0..m).map(|_| rng.random_range(-1.0..1.0)).collect();
        for mut solver in solvers() {
            check(&laws, &w, &b, &mut *solver);
        }
    }
}

/// Laws of up to three rows go through the methods that factor matrices as well.
#[test]
fn narrow_laws_are_solved_by_all_that_admit_them() {
    let mut rng = Pcg64::seed_from_u64(5);
    let narrow = [
        Data { bounds: (-0.5, f64::INFINITY), discs: vec![Disc { rows: 2, mu: 0.6, radius: 0.3 }] },
        Data { bounds: (0.0, f64::INFINITY), discs: vec![Disc { rows: 2, mu: 0.0, radius: 0.4 }] },
        Data { bounds: (0.0, f64::INFINITY), discs: vec![Disc::cone(1, 0.5), Disc::cone(1, 0.1)] },
    ];
    let mut admitted = Vec::new();
    for k in 0..60 {
        let law = &narrow[k % 3];
        let laws = vec![law.clone(); 3];
        let m = 3 * law.law().size();
        let h: Vec<f64> = (0..m * 2 * m).map(|_| rng.random_range(-1.0..1.0)).collect();
        let dot = |i: usize, j: usize| (0..2 * m).map(|c| h[i * 2 * m + c] * h[j * 2 * m + c]).sum::<f64>();
        let w: Vec<f64> = (0..m * m).map(|at| dot(at / m, at % m) / m as f64).collect();
        let b: Vec<f64> = (0..m).map(|_| rng.random_range(-1.0..1.0)).collect();
        for row in SOLVERS {
            let mut solver = (row.build)(&json!({})).unwrap();
            if solver.admits(&[law.law()]).is_ok() {
                check(&laws, &w, &b, &mut *solver);
                admitted.push(row.info.name);
            }
        }
    }
    admitted.sort_unstable();
    admitted.dedup();
    assert_eq!(admitted, ["admm", "auto", "newton", "nsgs", "proximal"]);
}

/// The certificate sees all six rows: a reaction that is wrong in the last one alone is no solution.
#[test]
fn the_certificate_sees_every_row() {
    let law = Law::rolling(0.5, 0.1, 0.05);
    let w: Vec<f64> = (0..36).map(|at| if at % 7 == 0 { 2.0 } else { 0.0 }).collect();
    let problem = Problem::reduced(&[law], &w, &[-4.0, 0.0, 0.0, 0.0, 0.0, 0.1]);
    let mut work = carom_solve::ProblemWork::default();
    let mut residual = |last: f64| {
        let mut z = carom_solve::Reaction { lambda: vec![2.0, 0.0, 0.0, 0.0, 0.0, last], ..Default::default() };
        problem.with(&mut work, |p| (p.certify(&mut z).residual, p.full_error(&z)))
    };
    let (right, error) = residual(-0.05);
    assert!(right < 1e-15 && error < 1e-15, "{right:e} {error:e}");
    // u = 2·0.04 + 0.1: missed by ρ u = 0.09, of F' = √2 · 0.09; ‖b'‖ = 4/√2 is the largest
    let (wrong, error) = residual(0.04);
    assert!((wrong - 0.09 * 2.0 / (4.0f64 * 4.0 + 0.01).sqrt()).abs() < 1e-4 && error > 1e-2, "{wrong:e} {error:e}");
}

#[test]
fn others_refuse_and_name_who_does_not() {
    let law = Law::rolling(0.5, 0.1, 0.05);
    let w: Vec<f64> = (0..36).map(|at| if at % 7 == 0 { 2.0 } else { 0.0 }).collect();
    let problem = Problem::reduced(&[law], &w, &[-4.0, 1.0, 0.0, 0.0, 0.0, 0.1]);
    for row in SOLVERS {
        let mut solver = (row.build)(&json!({})).unwrap();
        match problem.solve(&mut *solver) {
            Ok(_) => assert!(["auto", "nsgs"].contains(&row.info.name)),
            Err(SolveError::Unsupported(error)) => {
                assert_eq!((error.solver, error.law), (row.info.name, "rolling friction"));
                assert_eq!(error.hint, "use `auto` or `nsgs`");
            }
            Err(error) => panic!("{}: {error}", row.info.name),
        }
    }
}
