//! The second-order cone `‖λ_T‖ ≤ μ λ_N` of Coulomb friction, planar or spatial [desaxce1998, acary2008], in closed
//! form.

use crate::elementary::hypot;
/// Euclidean norm of the rows of a disc (one or two).
#[inline]
pub(super) fn norm(x: &[f64]) -> f64 {
    match x {
        [a] => a.abs(),
        [a, b] => length(*a, *b),
        _ => 0.0,
    }
}

/// `√(a² + b²)`; the squares are taken as they are where they neither overflow nor vanish.
#[inline]
fn length(a: f64, b: f64) -> f64 {
    let square = a * a + b * b;
    if (1e-280..1e280).contains(&square) { square.sqrt() } else { hypot(a, b) }
}

/// The power of a disc beyond the least one, `λ_d·u_d + radius ‖u_d‖`.
#[inline]
pub(super) fn missed_power(lambda: &[f64], u: &[f64], radius: f64) -> f64 {
    lambda.iter().zip(u).map(|(a, b)| a * b).sum::<f64>() + radius * norm(u)
}

/// Projection onto the second-order cone of slope `mu`.
#[inline]
pub(super) fn project(mu: f64, x: &mut [f64]) {
    let t = norm(&x[1..]);
    let n = x[0];
    // without friction the cone is a ray: 0 ≤ 0·n says nothing about the sign of n
    if t <= mu * n && n >= 0.0 {
        return;
    }
    if mu * t <= -n {
        x.fill(0.0);
        return;
    }
    // no quotient waits for another
    let (share, inverse) = (1.0 / (1.0 + mu * mu), 1.0 / t);
    let normal = (n + mu * t) * share;
    let factor = if inverse < f64::INFINITY { mu * normal * inverse } else { mu * normal / t };
    x[0] = normal;
    for x in &mut x[1..] {
        *x *= factor;
    }
}

#[cfg(test)]
mod tests {
    use super::project;

    #[test]
    fn without_friction_the_cone_is_a_ray() {
        for (from, to) in
            [([-2.0, 0.0, 0.0], [0.0; 3]), ([2.0, 1.0, -1.0], [2.0, 0.0, 0.0]), ([-1.0, 3.0, 0.0], [0.0; 3])]
        {
            let mut x = from;
            project(0.0, &mut x);
            assert_eq!(x, to);
        }
    }

    #[test]
    fn numbers_without_a_reciprocal_are_projected() {
        let mut x = [0.0, 4e-310, 0.0];
        project(1.0, &mut x);
        assert_eq!(x, [2e-310, 2e-310, 0.0]);
    }
}
