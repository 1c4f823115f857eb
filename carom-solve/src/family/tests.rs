use super::*;
use crate::{Law, ProblemWork, Reaction, solver};

/// Smallest eigenvalue bound by the pivots of a symmetric elimination: negative pivots tell an indefinite matrix.
fn is_positive_semidefinite(w: &mut [f64], n: usize) -> bool {
    let size = (0..n).map(|i| w[i * n + i]).fold(0.0, f64::max);
    let mut done = vec![false; n];
    for _ in 0..n {
        // the largest pivot that is left
        let Some(k) = (0..n).filter(|&i| !done[i]).max_by(|&a, &b| w[a * n + a].total_cmp(&w[b * n + b])) else {
            break;
        };
        let pivot = w[k * n + k];
        done[k] = true;
        if pivot < -1e-10 * size {
            return false;
        }
        if pivot <= 1e-10 * size {
            // what is left must vanish with its diagonal
            return (0..n).filter(|&i| !done[i]).all(|i| w[i * n + i] > -1e-10 * size);
        }
        for i in (0..n).filter(|&i| !done[i]) {
            let factor = w[i * n + k] / pivot;
            for j in 0..n {
                w[i * n + j] -= factor * w[k * n + j];
            }
        }
    }
    true
}

#[test]
fn families_are_valid_deterministic_and_positive_semidefinite() {
    for family in FAMILIES {
        for size in [1, 7, 60] {
            let problem = family.build(size, 3).unwrap();
            let again = family.build(size, 3).unwrap();
            let other = family.build(size, 4).unwrap();
            let name = problem.name().to_string();
            assert_eq!(name, format!("{}-{size}-3", family.name));
            assert_eq!((problem.b(), problem.laws()), (again.b(), again.laws()), "{name}");
            assert_eq!(problem.given_w(), again.given_w());
            assert_eq!(problem.global_parts(), again.global_parts());
            assert_ne!(problem.b(), other.b(), "{name}");
            let (mut w, n) = (Vec::new(), problem.size());
            problem.with(&mut ProblemWork::default(), |p| p.delassus().to_dense(&mut w));
            // the symmetric part decides
            let mut symmetric: Vec<f64> = (0..n * n).map(|k| 0.5 * (w[k] + w[(k % n) * n + k / n])).collect();
            assert!(is_positive_semidefinite(&mut symmetric, n), "{name}");
            let asymmetry = problem.asymmetry();
            assert!(if family.name == "pns" && size > 1 { asymmetry > 0.1 } else { asymmetry < 1e-14 }, "{name}");
        }
    }
    assert!(matches!(find("pd").unwrap().build(1_000_000, 1), Err(FamilyError::TooLarge { limit: DENSE, .. })));
}

#[test]
fn sizes_are_about_what_was_asked_for() {
    for family in FAMILIES {
        for size in [100, if family.limit == DENSE { 200 } else { 2000 }] {
            let problem = family.build(size, 1).unwrap();
            let contacts = problem.contacts() as f64 / size as f64;
            assert!((0.75..1.9).contains(&contacts), "{}: {} of {size}", family.name, problem.contacts());
        }
    }
}

/// A box on the ground: normal rows sum up to four times the velocity of the centre, by rigid motion.
#[test]
fn rows_are_those_of_rigid_bodies() {
    let problem = find("box-stack").unwrap().build(4, 5).unwrap();
    let parts = problem.global_parts().unwrap();
    let mut velocity: Vec<f64> = (0..6).map(|k| (k as f64 * 0.7).sin()).collect();
    let mut u = vec![0.0; 12];
    parts.jacobian.mul(&velocity, &mut u);
    let [normal, along, across] = [0, 1, 2].map(|k| u.iter().skip(k).step_by(3).sum::<f64>() / 4.0);
    // at the middle of the lower face, half an edge below the centre: v + ω × (0, 0, −1/2)
    let expected = [velocity[0] - 0.5 * velocity[4], velocity[1] + 0.5 * velocity[3]];
    assert!((normal - velocity[2]).abs() < 1e-14);
    let size = f64::hypot(along, across);
    assert!((size - f64::hypot(expected[0], expected[1])).abs() < 1e-14);
    // a rotation about the vertical axis alone: corners move at r ω, r = 1/√2
    velocity = vec![0.0, 0.0, 0.0, 0.0, 0.0, 2.0];
    parts.jacobian.mul(&velocity, &mut u);
    for corner in u.chunks(3) {
        assert!(corner[0].abs() < 1e-14 && (f64::hypot(corner[1], corner[2]) - 2f64.sqrt()).abs() < 1e-14);
    }
}

/// Bodies that fall as one have no relative velocity inside, only against the ground.
#[test]
fn common_motion_is_not_felt_between_bodies() {
    for (name, dofs, up) in [("wall", 6, 2), ("sphere-heap", 6, 2), ("chain", 6, 2), ("bridge", 3, 1)] {
        let problem = find(name).unwrap().build(60, 5).unwrap();
        let parts = problem.global_parts().unwrap();
        let falling: Vec<f64> = (0..parts.mass.len()).map(|k| if k % dofs == up { -1.0 } else { 0.0 }).collect();
        let mut u = vec![0.0; problem.size()];
        parts.jacobian.mul(&falling, &mut u);
        let mut first = 0;
        let mut grounded = 0;
        for law in problem.laws() {
            let rows = first..first + law.size();
            first = rows.end;
            let bodies: std::collections::BTreeSet<usize> =
                rows.clone().flat_map(|row| parts.jacobian.row(row)).map(|entry| entry.0 / dofs).collect();
            let size = u[rows].iter().map(|x| x * x).sum::<f64>().sqrt();
            if bodies.len() == 2 {
                assert!(size < 1e-14, "{name}: {size}");
            } else {
                grounded += 1;
                assert!((size - 1.0).abs() < 1e-14, "{name}: {size}");
            }
        }
        assert!(grounded > 0);
    }
}

#[test]
fn known_solutions_of_degenerate_families_are_solutions() {
    // M z + q = w by construction: so some solver finds one
    for name in ["degenerate", "redundant", "obstacle", "pd", "pns"] {
        let problem = find(name).unwrap().build(40, 2).unwrap();
        assert!(problem.laws().iter().all(|law| *law == Law::UNILATERAL));
        let mut z = Reaction::default();
        let result = problem.solve(&mut *solver::default(), &mut z);
        assert!(result.is_ok(), "{name}: {}", result.unwrap_err());
    }
}

#[test]
fn splitmix_numbers_are_the_published_ones() {
    // first outputs of splitmix64 with seed 1234567: 6457827717110365317, 3203168211198807973
    let problem = find("aat").unwrap().build(1, 1234567).unwrap();
    let map = |x: u64| 2.0 * ((x >> 11) as f64 * 2f64.powi(-53)) - 1.0;
    let (a, q) = (map(6457827717110365317), map(3203168211198807973));
    assert_eq!(problem.given_w().unwrap().row(0), [(0, a * a)]);
    assert_eq!(problem.b(), [q]);
}

/// A square wall of n courses, n and n − 1 bricks in turn: 4 n contacts on the ground, 8 (n − 1) between courses.
#[test]
fn walls_have_the_contacts_of_their_faces() {
    for (name, size, contacts, bricks, dofs) in [
        ("wall", 1000, 1016, 138, 6),
        ("wall", 10_000, 9944, 1278, 6),
        ("wall-2d", 1000, 2 * 17 + 4 * 16 * 16, 9 * 17 + 8 * 16, 3),
    ] {
        let problem = find(name).unwrap().build(size, 1).unwrap();
        assert_eq!(problem.contacts(), contacts, "{name}");
        assert_eq!(problem.global_parts().unwrap().q.len(), bricks * dofs, "{name}");
    }
    // the first brick of the third course stands on one end of its left neighbour only
    let parts = find("wall").unwrap().build(1000, 1).unwrap().global_parts().unwrap();
    let bodies = |contact: usize| {
        let row = parts.jacobian.row(3 * contact);
        (row[0].0 / 6, row[row.len() - 1].0 / 6)
    };
    let (first, third) = (12 + 11, 48 + 88);
    assert_eq!(
        (third..third + 5).map(bodies).collect::<Vec<_>>(),
        [(12, first), (12, first), (12, first), (12, first), (12, first + 1)]
    );
}
