use super::{Disc, Law, Shape};
use proptest::prelude::*;

fn laws() -> impl Strategy<Value = Law> {
    let disc = |rows| (0.0..4.0f64, 0.0..2.0f64).prop_map(move |(mu, radius)| Disc { rows, mu, radius });
    prop_oneof![
        Just(Law::EQUALITY),
        Just(Law::UNILATERAL),
        (-3.0..1.0f64, 1.0..3.0f64).prop_map(|(lower, upper)| Law::interval(lower, upper)),
        (0.0..10.0f64).prop_map(|mu| Law::coulomb(mu, 1)),
        (0.0..10.0f64).prop_map(|mu| Law::coulomb(mu, 2)),
        (0.0..3.0f64, 1..3usize).prop_map(|(radius, tangents)| Law::tresca(radius, tangents)),
        (0.0..3.0f64, 0.0..3.0f64, 1..3usize).prop_map(|(c, mu, tangents)| Law::adhesion(c, mu, tangents)),
        (0.0..3.0f64, 0.0..3.0f64, 0.0..3.0f64).prop_map(|(mu, rolling, spin)| Law::rolling(mu, rolling, spin)),
        (-3.0..0.0f64, 0.5..3.0f64, disc(2), disc(1), disc(1)).prop_map(|(lower, upper, slide, roll, spin)| Law::new(
            lower,
            upper,
            [slide, roll, spin]
        )),
    ]
}

/// By how much a reaction leaves the set, from its definition alone.
fn outside(law: &Law, x: &[f64]) -> f64 {
    let (lower, upper) = law.bounds();
    let discs = law.discs().map(|(rows, disc)| {
        let size = x[rows].iter().map(|x| x * x).sum::<f64>().sqrt();
        size - disc.radius - disc.mu * x[0]
    });
    discs.fold((lower - x[0]).max(x[0] - upper), f64::max)
}

proptest! {
    /// A projection ends in the set, and its displacement is normal to it: (x − Px)·(y − Px) ≤ 0 for y in K.
    #[test]
    fn projection_is_a_projection(law in laws(), x in prop::array::uniform6(-5.0..5.0f64), y in prop::array::uniform6(-5.0..5.0f64)) {
        let n = law.size();
        let (mut px, mut py) = (x, y);
        law.project(&mut px[..n]);
        law.project(&mut py[..n]);
        prop_assert!(outside(&law, &px[..n]) < 1e-13 && outside(&law, &py[..n]) < 1e-13);
        let mut again = px;
        law.project(&mut again[..n]);
        for i in 0..n {
            prop_assert!((again[i] - px[i]).abs() < 1e-13);
        }
        let angle: f64 = (0..n).map(|i| (x[i] - px[i]) * (py[i] - px[i])).sum();
        prop_assert!(angle < 1e-12, "{angle}");
    }

    /// The natural map vanishes at points built to satisfy the law, and does not where the law is broken.
    #[test]
    fn natural_map_vanishes_exactly_at_solutions(mu in 0.01..3.0f64, n in 0.1..4.0f64, a in 0.0..std::f64::consts::TAU, slip in 0.1..3.0f64, rho in 0.1..10.0f64) {
        let law = Law::coulomb(mu, 2);
        let mut r = [0.0; 3];
        // slip: the force opposes the velocity on the boundary of the cone
        law.natural_map(&[n, mu * n * a.cos(), mu * n * a.sin()], &[0.0, -slip * a.cos(), -slip * a.sin()], rho, &mut r);
        prop_assert!(r.iter().all(|r| r.abs() < 1e-12 * (1.0 + rho)));
        // stick inside the cone, and take-off
        law.natural_map(&[n, 0.5 * mu * n * a.cos(), 0.5 * mu * n * a.sin()], &[0.0; 3], rho, &mut r);
        prop_assert!(r.iter().all(|r| r.abs() < 1e-12));
        law.natural_map(&[0.0; 3], &[n, slip, -slip], rho, &mut r);
        prop_assert!(r.iter().all(|r| r.abs() < 1e-12 * (1.0 + rho)));
        // slip along the force: broken
        law.natural_map(&[n, mu * n * a.cos(), mu * n * a.sin()], &[0.0, slip * a.cos(), slip * a.sin()], rho, &mut r);
        prop_assert!(r.iter().any(|r| r.abs() > 1e-3 * slip.min(1.0) * rho * mu.min(1.0) * n.min(1.0)));
    }

    /// The same for rolling friction: the sphere rolls (no slip), rolling and spinning moments at their limits.
    #[test]
    fn natural_map_of_rolling(mu in 0.01..3.0f64, n in 0.1..4.0f64, a in 0.0..std::f64::consts::TAU, turn in 0.1..3.0f64, rho in 0.1..10.0f64) {
        let (rolling, spinning) = (0.3 * mu, 0.2);
        let law = Law::rolling(mu, rolling, spinning);
        let (c, s) = (a.cos(), a.sin());
        let lambda = [n, 0.4 * mu * n * s, 0.5 * mu * n * c, rolling * n * c, rolling * n * s, -spinning * n];
        let u = [0.0, 0.0, 0.0, -turn * c, -turn * s, 2.0 * turn];
        let mut r = [0.0; 6];
        law.natural_map(&lambda, &u, rho, &mut r);
        prop_assert!(r.iter().all(|r| r.abs() < 1e-12 * (1.0 + rho)), "{r:?}");
        prop_assert!(law.cone_violation(&lambda) < 1e-14 && law.complementarity(&lambda, &u) < 1e-13 * (1.0 + n));
        // one moment of the wrong sign, in the last row alone
        let broken = [0.0, 0.0, 0.0, u[3], u[4], -u[5]];
        law.natural_map(&lambda, &broken, rho, &mut r);
        prop_assert!(r[5].abs() > 1e-3 * rho.min(1.0) * turn.min(n * spinning));
        prop_assert!(law.complementarity(&lambda, &broken) > turn * spinning * n);
    }
}

#[test]
fn shapes_and_names_follow_the_data() {
    let none = Disc::default();
    let planar = Law::new(f64::NEG_INFINITY, f64::INFINITY, [Disc::cone(1, 0.4), none, none]);
    assert_eq!((planar, planar.shape()), (Law::coulomb(0.4, 1), Shape::Cone1 { mu: 0.4 }));
    assert_eq!(Law::coulomb(0.4, 2).shape(), Shape::Cone2 { mu: 0.4 });
    assert_eq!(Law::new(0.0, f64::INFINITY, [none; 3]), Law::UNILATERAL);
    let rolling = Law::rolling(0.4, 0.01, 0.02);
    assert_eq!((rolling.shape(), rolling.size(), rolling.name()), (Shape::General, 6, "rolling friction"));
    let roles: Vec<_> = (0..7).map(|row| rolling.role(row)).collect();
    assert_eq!(roles, ["normal", "t1", "t2", "r1", "r2", "spin", "none"]);
    let flat = Law::new(0.0, f64::INFINITY, [Disc::cone(1, 0.4), Disc::cone(1, 0.01), none]);
    assert_eq!([0, 1, 2].map(|row| flat.role(row)), ["normal", "t1", "r1"]);
    assert_eq!(Law::adhesion(2.0, 0.5, 2).bounds(), (-2.0, f64::INFINITY));
    assert!(Law::adhesion(2.0, 0.5, 1).is_contact() && Law::adhesion(2.0, 0.5, 1).has_friction());
    assert!(Law::tresca(1.0, 2).has_friction() && !Law::tresca(0.0, 2).has_friction());
    assert_eq!(Law::adhesion(2.0, 0.5, 2).normal(), Law::interval(-2.0, f64::INFINITY));
    for bad in [Law::coulomb(-1.0, 2), Law::rolling(0.1, f64::NAN, 0.0), Law::tresca(-1.0, 1), Law::interval(1.0, 0.0)]
    {
        assert!(!bad.is_valid(), "{bad:?}");
    }
    assert!(!Law::new(0.0, 1.0, [none, none, Disc::cone(2, 0.1)]).is_valid());
    assert!([rolling, flat, planar, Law::tresca(1.0, 2)].iter().all(Law::is_valid));
}
