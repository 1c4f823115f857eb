use super::*;
use crate::Disc;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// By how much the law is missed, from its definition: bounds and discs kept, `u₀` towards the bound, each disc
/// dissipating the most that it can. Relative to the largest product and sum; in units with a unit diagonal for each
/// row.
fn missed(bounds: (f64, f64), discs: &[Disc], lambda: &[f64], u: &[f64]) -> f64 {
    let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let (force, speed) = (norm(lambda), norm(u));
    let (below, above) = (lambda[0] - bounds.0, bounds.1 - lambda[0]);
    let mut linear = (-below).max(-above);
    let push = |distance: f64, u: f64| if distance.is_finite() { distance * u.max(0.0) } else { u.max(0.0) * force };
    let mut bilinear = push(below, u[0]).max(push(above, -u[0]));
    let mut first = 1;
    for disc in discs {
        let (x, v) = (&lambda[first..first + disc.rows as usize], &u[first..first + disc.rows as usize]);
        first += disc.rows as usize;
        let radius = disc.radius + disc.mu * lambda[0];
        linear = linear.max(norm(x) - radius);
        // x·v = −radius ‖v‖ is the most that a reaction of the disc can take
        bilinear = bilinear.max((x.iter().zip(v).map(|(a, b)| a * b).sum::<f64>() + radius * norm(v)).abs());
    }
    (linear / force.max(1e-300)).max(bilinear / (force * speed).max(1e-300))
}

/// A positive definite block with unit diagonal, of a condition that grows with `spread`.
fn block(rng: &mut Pcg64, n: usize, spread: f64) -> Vec<f64> {
    let factors: Vec<f64> = (0..n * n).map(|_| rng.random_range(-1.0..1.0)).collect();
    let weight: Vec<f64> = (0..n).map(|_| 10f64.powf(-spread * rng.random_range(0.0..1.0))).collect();
    let entry = |i: usize, j: usize| (0..n).map(|k| factors[i * n + k] * weight[k] * factors[j * n + k]).sum::<f64>();
    let raw: Vec<f64> =
        (0..n * n).map(|at| entry(at / n, at % n) + if at / n == at % n { 1e-3 } else { 0.0 }).collect();
    (0..n * n).map(|at| raw[at] / (raw[at / n * (n + 1)] * raw[at % n * (n + 1)]).sqrt()).collect()
}

fn law(rng: &mut Pcg64, kind: usize) -> ((f64, f64), Vec<Disc>) {
    let mu = 10f64.powf(rng.random_range(-2.0..1.0));
    let (rolling, spinning) = (rng.random_range(0.0..1.0), rng.random_range(0.0..1.0));
    match kind % 5 {
        0 => ((0.0, f64::INFINITY), vec![Disc::cone(2, mu), Disc::cone(2, rolling), Disc::cone(1, spinning)]),
        1 => ((-0.5, f64::INFINITY), vec![Disc { rows: 2, mu, radius: 0.5 * mu }]),
        2 => ((0.0, f64::INFINITY), vec![Disc { rows: 2, mu: 0.0, radius: mu }]),
        3 => ((0.0, f64::INFINITY), vec![Disc::cone(1, mu), Disc::cone(1, rolling)]),
        _ => ((-0.3, 0.4), vec![Disc { rows: 2, mu, radius: mu }, Disc { rows: 1, mu: 0.0, radius: rolling }]),
    }
}

/// Every law is solved on every positive definite block, from any guess and in any units.
#[test]
fn laws_with_discs_are_solved() {
    let mut rng = Pcg64::seed_from_u64(7);
    let mut worst = 0.0f64;
    for k in 0..20_000 {
        let (bounds, discs) = law(&mut rng, k);
        let mut places = [Disc::default(); 3];
        places[..discs.len()].copy_from_slice(&discs);
        let n = 1 + discs.iter().map(|disc| disc.rows as usize).sum::<usize>();
        let spread = if k % 2 == 0 { 0.0 } else { 4.0 };
        let a = block(&mut rng, n, spread);
        let b: Vec<f64> = (0..n).map(|i| rng.random_range(-1.0..1.0) - if i == 0 { 0.5 } else { 0.0 }).collect();
        // the same problem in other units for each disc
        let (normal, unit) = (10f64.powf(rng.random_range(-3.0..3.0)), 10f64.powf(rng.random_range(-3.0..3.0)));
        let scale: Vec<f64> = (0..n).map(|i| if i == 0 { normal } else { unit }).collect();
        let moved: Vec<f64> = (0..n * n).map(|at| a[at] * scale[at / n] * scale[at % n]).collect();
        let reading = places.map(|disc| Disc { mu: disc.mu * normal / unit, radius: disc.radius / unit, ..disc });
        let general = General::new(&Law::new(bounds.0 / normal, bounds.1 / normal, reading), &moved);
        let mut lambda: Vec<f64> =
            (0..n).map(|i| if k % 3 == 0 { 0.0 } else { rng.random_range(-1.0..1.0) / scale[i] }).collect();
        let from: Vec<f64> = (0..n).map(|i| b[i] * scale[i]).collect();
        general.solve(&from, &mut lambda);
        let mut own = vec![0.0; n];
        general.own(&lambda, &mut own);
        let lambda: Vec<f64> = (0..n).map(|i| lambda[i] * scale[i]).collect();
        let u: Vec<f64> = (0..n).map(|i| b[i] + (0..n).map(|j| a[i * n + j] * lambda[j]).sum::<f64>()).collect();
        assert!((0..n).all(|i| (own[i] / scale[i] + b[i] - u[i]).abs() < 1e-10 * (1.0 + lambda[i].abs())), "{k}");
        let size = u.iter().chain(&b).chain(&lambda).fold(0.0f64, |m, x| m.max(x.abs()));
        let v: Vec<f64> = u.iter().map(|u| if u.abs() < 1e-12 * size { 0.0 } else { *u }).collect();
        let miss = missed(bounds, &discs, &lambda, &v);
        worst = worst.max(miss);
        assert!(miss < 1e-9, "{k}: {miss:e} λ = {lambda:?} u = {u:?} of {discs:?} b = {b:?}");
    }
    println!("{worst:e}");
}

#[test]
fn the_nearest_point_of_a_disc() {
    let a = [2.0, 0.3, 0.1, 1.0];
    assert_eq!(in_disc(a, [0.0, 0.0], 0.5), [0.0, 0.0]);
    assert_eq!(in_disc(a, [1.0, 2.0], 0.0), [0.0, 0.0]);
    for k in 0..50 {
        let c = [(1.3 * f64::from(k)).sin() * 3.0, (0.7 * f64::from(k)).cos() * 3.0];
        let x = in_disc(a, c, 0.5);
        let u = [a[0] * x[0] + a[1] * x[1] + c[0], a[2] * x[0] + a[3] * x[1] + c[1]];
        let (force, speed) = (x[0].hypot(x[1]), u[0].hypot(u[1]));
        assert!(force <= 0.5 * (1.0 + 1e-15));
        // the velocity is zero, or opposite to a reaction on the boundary
        assert!((x[0] * u[0] + x[1] * u[1] + 0.5 * speed).abs() < 1e-13 * (1.0 + speed), "{k}: {x:?} {u:?}");
    }
}
