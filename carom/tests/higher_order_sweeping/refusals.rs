//! Systems that are ill posed are refused, with the rows that are to blame.

use super::rows;
use carom::FirstOrder;
use carom::model::{Lcs, Matrices};
use carom::scheme::{Homsp, Scheme, SchemeError};
use carom::zero_dynamics::{ZeroDynamicsError, report};

#[test]
fn ill_posed_systems_are_refused_with_their_rows() {
    let refused = |matrices: Matrices, names: &[&str], n: usize| {
        let mut lcs = Lcs::new(matrices, rows(names), &vec![0.0; n]).unwrap();
        let made = (Homsp {}).workspace(&mut lcs as &mut (dyn FirstOrder + 'static));
        match made {
            Err(SchemeError::ZeroDynamics { source, .. }) => (*source, report(&lcs)),
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("not refused"),
        }
    };
    let integrators = vec![0.0, 1.0, 0.0, 0.0];
    // wrong sign: M = −1
    let wrong = Matrices { e: None, a: integrators.clone(), b: vec![0.0, -1.0], c: vec![1.0, 0.0], d: vec![] };
    let (error, told) = refused(wrong, &["floor"], 2);
    assert!(matches!(&error, ZeroDynamicsError::NotP { rows, minor } if rows == &["floor"] && *minor < 0.0), "{error}");
    assert_eq!((told.degrees, told.problem), (vec![Some(2)], Some(error)));
    // λ does not act at all
    let dead = Matrices { e: None, a: integrators.clone(), b: vec![1.0, 0.0], c: vec![0.0, 1.0], d: vec![] };
    let (error, told) = refused(dead, &["floor"], 2);
    assert_eq!(error, ZeroDynamicsError::Unreachable { row: "floor".into() });
    assert_eq!(told.degrees, [None]);
    // two rows that are one
    let twice = Matrices {
        e: None,
        a: vec![0.0; 9],
        b: vec![1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        c: vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        d: vec![],
    };
    let (error, _) = refused(twice, &["a", "b", "c"], 3);
    assert!(matches!(&error, ZeroDynamicsError::Mixed { rows, .. } if rows == &["a", "b"]), "{error}");
    // one sees λ directly, the other does not
    let mixed = Matrices { e: None, a: vec![0.0], b: vec![0.0, 1.0], c: vec![0.0, 1.0], d: vec![1.0, 0.0, 0.0, 0.0] };
    let (error, _) = refused(mixed, &["instant", "slow"], 1);
    assert!(matches!(&error, ZeroDynamicsError::Direct { direct, .. } if direct == &["instant"]), "{error}");
    assert!(error.to_string().contains("`slow`"));
    // regular, but not P: each row pushes the other one down
    let crossed =
        Matrices { e: None, a: vec![0.0; 4], b: vec![1.0, -2.0, -2.0, 1.0], c: vec![1.0, 0.0, 0.0, 1.0], d: vec![] };
    let (error, _) = refused(crossed, &["a", "b"], 2);
    assert!(matches!(&error, ZeroDynamicsError::NotP { rows, .. } if rows == &["a", "b"]), "{error}");
    // E singular
    let flat =
        Matrices { e: Some(vec![1.0, 0.0, 0.0, 0.0]), a: integrators, b: vec![0.0, 1.0], c: vec![1.0, 0.0], d: vec![] };
    assert_eq!(refused(flat, &["floor"], 2).0, ZeroDynamicsError::SingularInertia);
}
