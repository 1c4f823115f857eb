use super::*;
use crate::{DenseLu, solver};

/// A planar slider and a particle: M has the components {0, 2} and {1}.
fn example() -> (GlobalParts, Vec<Law>) {
    let mut jacobian = Rows::new(3);
    jacobian.push_sparse([(1, 1.0)]);
    jacobian.push_sparse([(0, 1.0), (2, -0.5)]);
    jacobian.push_sparse([(0, 0.25), (1, 1.0), (2, 1.0)]);
    let parts = GlobalParts {
        mass: Rows::dense(3, &[2.0, 0.0, 0.5, 0.0, 3.0, 0.0, 0.5, 0.0, 1.0]),
        jacobian,
        q: vec![1.0, -6.0, 0.3],
        b: vec![0.1, 0.2, -0.3],
    };
    (parts, vec![Law::coulomb(0.4, 1), Law::UNILATERAL])
}

/// W and the offset by a dense route.
fn by_hand(parts: &GlobalParts) -> (Vec<f64>, Vec<f64>) {
    let (n, m) = (parts.mass.len(), parts.b.len());
    let mut lu = DenseLu::default();
    let full = lu.matrix_mut(n);
    for i in 0..n {
        for &(j, value) in parts.mass.row(i) {
            full[i * n + j] += value;
        }
    }
    lu.factor().unwrap();
    let mut w = vec![0.0; m * m];
    for j in 0..m {
        let mut x = vec![0.0; n];
        parts.jacobian.add_row(j, 1.0, &mut x);
        lu.solve(&mut x);
        for i in 0..m {
            w[i * m + j] = parts.jacobian.dot(i, &x);
        }
    }
    let mut free = parts.q.clone();
    lu.solve(&mut free);
    let b = (0..m).map(|i| parts.jacobian.dot(i, &free) + parts.b[i]).collect();
    (w, b)
}

#[test]
fn both_forms_are_the_same_problem() {
    let (parts, laws) = example();
    let (w, b) = by_hand(&parts);
    let global = StoredProblem::global("slider", parts.clone(), laws).unwrap();
    assert_eq!(global.global_parts().unwrap(), parts);
    assert_eq!(global.dofs(), Some((3, 2)));
    assert!(global.b().iter().zip(&b).all(|(x, y)| (x - y).abs() < 1e-14));
    let reduced = global.condensed();
    for problem in [&global, &reduced] {
        let mut dense = Vec::new();
        problem.with(&mut ProblemWork::default(), |p| p.delassus().to_dense(&mut dense));
        assert!(dense.iter().zip(&w).all(|(x, y)| (x - y).abs() < 1e-14), "{dense:?} {w:?}");
        let mut z = Reaction::default();
        problem.solve(&mut *solver::default(), &mut z).unwrap();
        problem.with(&mut ProblemWork::default(), |p| {
            p.certify(&mut z);
            assert!(problem.full_error(p, &z) < 1e-9);
        });
        let Some(v) = problem.velocity(&z) else { continue };
        // M v = q + H λ in the given order
        let (mut left, mut right) = (vec![0.0; 3], parts.q.clone());
        parts.mass.mul(&v, &mut left);
        parts.jacobian.add_transpose_mul(&z.lambda, &mut right);
        assert!(left.iter().zip(&right).all(|(x, y)| (x - y).abs() < 1e-13));
    }
    assert_eq!((global.kind(), global.contacts(), global.size()), ("mixture", 2, 3));
}

#[test]
fn literature_errors_by_hand() {
    // one contact, W = diag(2, 4), b = (−1, 0.5), λ = (1, 0): u = (1, 0.5), μ|u_T| = 0.25
    let laws = vec![Law::coulomb(0.5, 1)];
    let problem = StoredProblem::reduced("one", Rows::dense(2, &[2.0, 0.0, 0.0, 4.0]), vec![-1.0, 0.5], laws.clone());
    let mut z = Reaction { lambda: vec![1.0, 0.0], ..Reaction::default() };
    // λ − u − s = (−0.25, −0.5) projects onto the ray (1, −0.5): the coefficient is (−0.25 + 0.25)/1.25 = 0: F = λ
    let expected = 1.0 / f64::max(1.25f64.sqrt(), 1.0);
    problem.unwrap().with(&mut ProblemWork::default(), |p| {
        assert_eq!(p.full_error(&z), f64::INFINITY); // not evaluated
        p.certify(&mut z);
        assert!((p.full_error(&z) - expected).abs() < 1e-15);
    });
    // the same as a global problem with M = diag(1/2, 1/4), H = I, q = M b: the dynamics is exact, ‖b‖ is left out
    let parts = GlobalParts {
        mass: Rows::dense(2, &[0.5, 0.0, 0.0, 0.25]),
        jacobian: Rows::dense(2, &[1.0, 0.0, 0.0, 1.0]),
        q: vec![-0.5, 0.125],
        b: vec![0.0, 0.0],
    };
    let global = StoredProblem::global("one", parts, laws).unwrap();
    global.with(&mut ProblemWork::default(), |p| {
        let mut z = Reaction { lambda: vec![0.25, 0.0], ..Reaction::default() };
        p.certify(&mut z);
        // u = (−0.5, 0.5): λ − u − s = (0.5, −0.5) projects onto 0.6 (1, −0.5); F = (−0.35, 0.3)
        let expected = f64::hypot(0.35, 0.3) / 0.5f64.sqrt();
        assert!((global.full_error(p, &z) - expected).abs() < 1e-15, "{}", global.full_error(p, &z));
        // what a solver is told is the error of the same form
        assert!((p.full_error(&z) - expected).abs() < 1e-15);
    });
    // ‖b‖ = √1.25 is larger, and counts in the reduced form
    global.condensed().with(&mut ProblemWork::default(), |p| {
        let mut z = Reaction { lambda: vec![0.25, 0.0], ..Reaction::default() };
        p.certify(&mut z);
        assert!((p.full_error(&z) - f64::hypot(0.35, 0.3) / 1.25f64.sqrt()).abs() < 1e-15);
    });
}

#[test]
fn asymmetry_and_density_by_hand() {
    let w = |x: &[f64]| StoredProblem::reduced("w", Rows::dense(2, x), vec![0.0; 2], vec![Law::UNILATERAL; 2]).unwrap();
    assert_eq!(w(&[1.0, 2.0, 2.0, 1.0]).asymmetry(), 0.0);
    assert!((w(&[1.0, 2.0, 3.0, 1.0]).asymmetry() - 1.0 / 3.0).abs() < 1e-15);
    assert_eq!(w(&[1.0, 0.0, 3.0, -6.0]).asymmetry(), 0.5);
    assert_eq!((w(&[1.0, 0.0, 3.0, 1.0]).density(), w(&[1.0, 0.0, 0.0, 1.0]).density()), (0.75, 0.5));
}

#[test]
fn bad_numbers_are_refused() {
    let (good, laws) = example();
    let refused = |change: &dyn Fn(&mut GlobalParts)| {
        let mut parts = good.clone();
        change(&mut parts);
        StoredProblem::global("bad", parts, laws.clone()).unwrap_err()
    };
    assert!(matches!(refused(&|p| p.q[1] = f64::NAN), StoredError::NotFinite { what: "q", row: 1 }));
    assert!(matches!(refused(&|p| p.b.push(0.0)), StoredError::Length { what: "b", found: 4, expected: 3 }));
    assert!(matches!(refused(&|p| p.mass = Rows::dense(2, &[1.0; 4])), StoredError::Shape { what: "Hᵀ", .. }));
    let singular = Rows::dense(3, &[0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 1.0]);
    assert!(matches!(refused(&|p| p.mass = singular.clone()), StoredError::SingularMass { dof: 0 }));
    // found in the internal order {0, 2}, {1}, told in the given one
    let singular = Rows::dense(3, &[2.0, 0.0, 1.0, 0.0, 3.0, 0.0, 2.0, 0.0, 1.0]);
    assert!(matches!(refused(&|p| p.mass = singular.clone()), StoredError::SingularMass { dof: 2 }));
    let mut beyond = Rows::new(3);
    for _ in 0..3 {
        beyond.push_sparse([(7, 1.0)]);
    }
    assert!(matches!(refused(&|p| p.jacobian = beyond.clone()), StoredError::Column { row: 0, column: 7, .. }));
    let bad = vec![Law::coulomb(-1.0, 2)];
    let problem = StoredProblem::reduced("bad", Rows::dense(3, &[1.0; 9]), vec![0.0; 3], bad);
    assert!(matches!(problem, Err(StoredError::Law { law: 0, .. })));
    assert!(StoredProblem::reduced("empty", Rows::new(0), vec![], vec![]).is_ok());
}
