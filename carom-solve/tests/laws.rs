//! One law alone against closed forms, by every solver that admits it.

mod generated;

use carom_solve::{Law, SOLVERS, SolveError, SolverRow};
use generated::Problem;
use serde_json::json;

/// What a solver must reach on one law: rounding where it has a closed form, its own claim where it iterates to a
/// tolerance.
fn bound(row: &SolverRow) -> f64 {
    if ["interior-point", "proximal", "newton", "admm"].contains(&row.info.name) { row.info.accuracy } else { 1e-14 }
}

/// All solvers find `expected`.
fn check(law: Law, w: &[f64], b: &[f64], expected: &[f64]) {
    let problem = Problem::reduced(&[law], w, b);
    for row in SOLVERS {
        let mut solver = (row.build)(&json!({})).unwrap();
        if solver.admits(&problem.laws).is_err() {
            continue;
        }
        let (z, certificate) = problem.solve(&mut *solver).unwrap();
        assert!(certificate.residual < bound(row), "{} {law:?}: {certificate:?}", row.info.name);
        for (x, y) in z.lambda.iter().zip(expected) {
            assert!(
                // W is well conditioned in all of them: λ is as good as the residual
                (x - y).abs() < if bound(row) > 1e-14 { 10.0 * bound(row) } else { 1e-14 } * (1.0 + y.abs()),
                "{} {law:?} b = {b:?}: {:?}, not {expected:?}",
                row.info.name,
                z.lambda
            );
        }
    }
}

#[test]
fn one_row() {
    check(Law::EQUALITY, &[2.0], &[-3.0], &[1.5]);
    check(Law::EQUALITY, &[2.0], &[3.0], &[-1.5]);
    check(Law::UNILATERAL, &[2.0], &[-3.0], &[1.5]);
    check(Law::UNILATERAL, &[2.0], &[3.0], &[0.0]);
    check(Law::UNILATERAL, &[2.0], &[0.0], &[0.0]);
}

#[test]
fn relay_and_bounded_multipliers() {
    let relay = Law::interval(-1.0, 1.0);
    check(relay, &[2.0], &[-1.0], &[0.5]);
    check(relay, &[2.0], &[-5.0], &[1.0]);
    check(relay, &[2.0], &[5.0], &[-1.0]);
    // without feedthrough the sign decides
    check(relay, &[0.0], &[-0.1], &[1.0]);
    check(relay, &[0.0], &[0.1], &[-1.0]);
    check(Law::interval(0.3, 0.3), &[2.0], &[7.0], &[0.3]);
    check(Law::interval(f64::NEG_INFINITY, 1.0), &[2.0], &[-5.0], &[1.0]);
    check(Law::interval(f64::NEG_INFINITY, 1.0), &[2.0], &[5.0], &[-2.5]);
    check(Law::interval(-1.0, f64::INFINITY), &[2.0], &[5.0], &[-1.0]);
    check(Law::interval(-1.0, f64::INFINITY), &[2.0], &[-5.0], &[2.5]);
    check(Law::interval(f64::NEG_INFINITY, f64::INFINITY), &[2.0], &[5.0], &[-2.5]);
}

#[test]
fn planar_contact() {
    let law = Law::coulomb(0.5, 1);
    let w = [2.0, 0.0, 0.0, 4.0];
    check(law, &w, &[1.0, 5.0], &[0.0, 0.0]);
    // stick: λ = −W⁻¹ b inside the cone
    check(law, &w, &[-4.0, 2.0], &[2.0, -0.5]);
    // slip: λ_N = 2, λ_T = ∓1 against u_T = b_T ∓ 4
    check(law, &w, &[-4.0, 6.0], &[2.0, -1.0]);
    check(law, &w, &[-4.0, -6.0], &[2.0, 1.0]);
    // coupled block: slip with u_T > 0 has λ_N = 4/(2 − ½·1) = 8/3
    check(law, &[2.0, 1.0, 1.0, 2.0], &[-4.0, 6.0], &[8.0 / 3.0, -4.0 / 3.0]);
    // no friction
    check(Law::coulomb(0.0, 1), &w, &[-4.0, 6.0], &[2.0, 0.0]);
}

#[test]
fn spatial_contact() {
    let law = Law::coulomb(0.5, 2);
    let w = [2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0];
    check(law, &w, &[1.0, 5.0, -2.0], &[0.0, 0.0, 0.0]);
    check(law, &w, &[-20.0, 6.0, -8.0], &[10.0, -3.0, 4.0]);
    check(law, &w, &[-4.0, 6.0, -8.0], &[2.0, -0.6, 0.8]);
    check(Law::coulomb(0.0, 2), &w, &[-4.0, 6.0, -8.0], &[2.0, 0.0, 0.0]);
    // a nonsymmetric block, slip along the first tangent: u_N = 2 λ_N + λ_T − 4 = 0 with λ_T = −½ λ_N
    let w = [2.0, 1.0, 0.0, 0.5, 3.0, 0.0, 0.0, 0.0, 3.0];
    check(law, &w, &[-4.0, 6.0, 0.0], &[8.0 / 3.0, -4.0 / 3.0, 0.0]);
}

#[test]
fn rolling_contact() {
    let law = Law::rolling(0.5, 0.1, 0.05);
    let w: Vec<f64> = (0..36).map(|at| if at % 7 == 0 { 2.0 } else { 0.0 }).collect();
    check(law, &w, &[1.0, 5.0, -2.0, 1.0, 0.0, 3.0], &[0.0; 6]);
    // the diagonal makes each disc a law of its own: λ_N = 2 allows 1, 0.2 and 0.1
    check(law, &w, &[-4.0, 6.0, -8.0, 0.6, 0.8, 0.1], &[2.0, -0.6, 0.8, -0.12, -0.16, -0.05]);
    check(law, &w, &[-4.0, 0.6, -0.8, 0.06, 0.08, -7.0], &[2.0, -0.3, 0.4, -0.03, -0.04, 0.1]);
    // slip along t1 turns a disc whose row t1 is tied to r1: u_N = 2 λ_N − 4, then λ_t = −½ λ_N, u_r = λ_t + 2 λ_r +
    // b_r
    let mut w = w;
    (w[6 + 3], w[18 + 1]) = (1.0, 1.0);
    check(law, &w, &[-4.0, 6.0, 0.0, 0.7, 0.0, 0.0], &[2.0, -1.0, 0.0, 0.15, 0.0, 0.0]);
}

#[test]
fn adhesion_and_tresca() {
    let w = [2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0];
    let law = Law::adhesion(1.0, 0.5, 2);
    // pressed: ½ (2 + 1); pulled: ½ (−½ + 1); pulled off at −1, where friction ends
    check(law, &w, &[-4.0, 6.0, -8.0], &[2.0, -0.9, 1.2]);
    check(law, &w, &[1.0, 6.0, -8.0], &[-0.5, -0.15, 0.2]);
    check(law, &w, &[4.0, 6.0, -8.0], &[-1.0, 0.0, 0.0]);
    check(Law::adhesion(1.0, 0.5, 1), &[2.0, 0.0, 0.0, 2.0], &[1.0, 6.0], &[-0.5, -0.25]);
    // Tresca: the radius, whatever the pressure
    let law = Law::tresca(0.7, 2);
    check(law, &w, &[-4.0, 6.0, -8.0], &[2.0, -0.42, 0.56]);
    check(law, &w, &[1.0, 6.0, -8.0], &[0.0, -0.42, 0.56]);
    check(law, &w, &[-4.0, 0.6, -0.8], &[2.0, -0.3, 0.4]);
}

#[test]
fn a_law_that_sees_no_inertia_is_solved_or_refused() {
    for (law, rows, solvable) in [
        (Law::UNILATERAL, 1, false),
        (Law::EQUALITY, 1, false),
        (Law::interval(0.0, 3.0), 1, true),
        (Law::coulomb(0.5, 1), 2, false),
        (Law::coulomb(0.5, 2), 3, false),
        (Law::rolling(0.5, 0.1, 0.1), 6, false),
    ] {
        let problem = Problem::reduced(&[law], &vec![0.0; rows * rows], &vec![-1.0; rows]);
        for row in SOLVERS {
            let mut solver = (row.build)(&json!({})).unwrap();
            match problem.solve(&mut *solver) {
                Ok(_) => assert!(solvable, "{} {law:?}", row.info.name),
                Err(SolveError::Unsupported(_)) => {}
                Err(error) => {
                    assert!(!solvable, "{} {law:?}: {error}", row.info.name);
                    // the residual is relative to λ, which may have grown without bound; the velocity stays at −1
                    assert!(error.certificate().unwrap().velocity > 0.1, "{} {law:?}: {error:?}", row.info.name);
                }
            }
        }
    }
}
