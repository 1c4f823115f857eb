use super::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// A random rotation times diagonal times its transpose, condition number 10^decades.
fn block(rng: &mut Pcg64, decades: f64) -> [f64; 9] {
    let mut q = [[0.0; 3]; 3];
    for k in 0..3 {
        loop {
            let mut v: [f64; 3] = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
            for _ in 0..2 {
                for row in &q[..k] {
                    let dot: f64 = (0..3).map(|i| row[i] * v[i]).sum();
                    for i in 0..3 {
                        v[i] -= dot * row[i];
                    }
                }
            }
            let size = norm(v);
            if size > 0.1 {
                q[k] = v.map(|x| x / size);
                break;
            }
        }
    }
    let middle = rng.random_range(0.0..1.0) * decades;
    let eigenvalue = [1.0, 10f64.powf(-middle), 10f64.powf(-decades)];
    let mut a = [0.0; 9];
    for i in 0..3 {
        for j in 0..3 {
            a[3 * i + j] = (0..3).map(|k| eigenvalue[k] * q[k][i] * q[k][j]).sum();
        }
    }
    a
}

/// Residual of the certificate, computed from the unscaled numbers alone.
fn residual(a: &[f64; 9], mu: f64, b: Vector, r: Vector) -> f64 {
    let w = (a[0] + a[4] + a[8]) / 3.0;
    let au = mul(a, r);
    let u = [au[0] + b[0], au[1] + b[1], au[2] + b[2]];
    let mut f = [0.0; 3];
    Law::coulomb(mu, 2).natural_map(&r, &u, 1.0 / w, &mut f);
    w.sqrt() * norm(f) / (norm(b) / w.sqrt()).max(norm(r) * w.sqrt()).max(norm(u) / w.sqrt())
}

fn worst(cases: usize, decades: std::ops::Range<f64>, guesses: bool) -> f64 {
    let mut rng = Pcg64::seed_from_u64(7);
    let mut worst: f64 = 0.0;
    for case in 0..cases {
        let spread = rng.random_range(decades.clone());
        let unit = 10f64.powf(rng.random_range(-4.0..4.0));
        let a = block(&mut rng, spread).map(|x| unit * x);
        let mu = match case % 4 {
            0 => rng.random_range(0.0..10.0),
            1 => rng.random_range(0.0..1.0),
            2 => [0.0, 1e-6, 1e-3, 0.1, 1.0, 10.0][case / 4 % 6],
            _ => 10f64.powf(rng.random_range(-3.0..1.0)),
        };
        let b: Vector = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
        let guess = if guesses { std::array::from_fn(|_| rng.random_range(-1.0..1.0)) } else { [0.0; 3] };
        let r = Contact3::new(mu, &a).solve(b, guess);
        let e = residual(&a, mu, b, r);
        assert!(e.is_finite());
        worst = worst.max(e);
    }
    worst
}

#[test]
fn every_well_conditioned_contact_is_solved_to_rounding() {
    assert!(worst(50_000, 0.0..4.0, true) < 1e-12);
}

#[test]
fn every_contact_is_solved() {
    // 1e-12 is what the search asks for before it gives up
    let cold = worst(100_000, 0.0..12.0, false);
    let warm = worst(30_000, 6.0..12.0, true);
    assert!(cold < 1e-11 && warm < 1e-11, "{cold:e} {warm:e}");
}

#[test]
fn inverse_of_a_nonsymmetric_block() {
    let a = [2.0, 1.0, 0.5, -0.3, 3.0, 0.2, 0.1, 0.4, 1.0];
    let (inverse, smallest) = invert(&a, RANK);
    assert!(smallest > 0.5);
    for x in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] {
        let y = mul(&inverse, mul(&a, x));
        assert!((0..3).all(|i| (y[i] - x[i]).abs() < 1e-14));
    }
}

#[test]
fn closed_forms_of_an_isotropic_block() {
    // A = I: stick r = −b; slip r_N = −b_N, r_T = −μ r_N b_T/‖b_T‖
    let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let contact = Contact3::new(0.5, &identity);
    assert_eq!(contact.solve([1.0, 3.0, 4.0], [0.0; 3]), [0.0; 3]);
    assert_eq!(contact.solve([-10.0, 3.0, 4.0], [0.0; 3]), [10.0, -3.0, -4.0]);
    let r = contact.solve([-2.0, 3.0, 4.0], [0.0; 3]);
    assert!(r.iter().zip([2.0, -0.6, -0.8]).all(|(a, b): (&f64, f64)| (a - b).abs() < 1e-15));
}

#[test]
fn blocks_without_inertia_give_finite_reactions() {
    for a in [[0.0; 9], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]] {
        for mu in [0.0, 0.5] {
            let r = Contact3::new(mu, &a).solve([-1.0, 0.3, 0.4], [0.0; 3]);
            assert!(r.iter().all(|x| x.is_finite()), "{r:?}");
        }
    }
    // inertia in the normal direction alone: the tangential velocity is given, the force opposes it
    let r = Contact3::new(0.5, &[2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]).solve([-1.0, 0.3, 0.4], [0.0; 3]);
    assert!(r.iter().zip([0.5, -0.15, -0.2]).all(|(a, b): (&f64, f64)| (a - b).abs() < 1e-12), "{r:?}");
}
