//! Runge-Kutta tableaus as tables [hairer1996].
//!
//! | name | stages | order | |
//! |---|---|---|---|
//! | `radau-iia-2`, `radau-iia-3` | 2, 3 | 3, 5 | implicit, L-stable |
//! | `lobatto-iiia-2`, `-3`, `-4` | 2, 3, 4 | 2, 4, 6 | implicit, the first stage is the start; two stages are the trapezoidal rule |
//! | `herk-2`, `-3`, `-4` | 2, 3, 4 | 2, 3, 4 | half-explicit: Heun, Kutta, classical |
//! | `hem5` | 8 | 5 | half-explicit: the coefficients of [brasey1994], see `hem5.rs` |

use super::hem5::{A, STAGES};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A Runge-Kutta method, by family and stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RungeKutta {
    /// Radau IIA, 2 stages, order 3.
    #[serde(rename = "radau-iia-2")]
    RadauIia2,
    /// Radau IIA, 3 stages, order 5.
    #[serde(rename = "radau-iia-3")]
    RadauIia3,
    /// Trapezoidal rule, order 2.
    #[serde(rename = "lobatto-iiia-2")]
    LobattoIiia2,
    /// Lobatto IIIA, 3 stages, order 4.
    #[serde(rename = "lobatto-iiia-3")]
    LobattoIiia3,
    /// Lobatto IIIA, 4 stages, order 6.
    #[serde(rename = "lobatto-iiia-4")]
    LobattoIiia4,
    /// Heun, order 2.
    #[serde(rename = "herk-2")]
    Herk2,
    /// Kutta, order 3.
    #[serde(rename = "herk-3")]
    Herk3,
    /// Classical Runge-Kutta, order 4.
    #[serde(rename = "herk-4")]
    Herk4,
    /// Brasey's table of 8 stages, order 5.
    Hem5,
}

impl RungeKutta {
    /// Every method.
    pub const ALL: [RungeKutta; 9] = [
        RungeKutta::RadauIia2,
        RungeKutta::RadauIia3,
        RungeKutta::LobattoIiia2,
        RungeKutta::LobattoIiia3,
        RungeKutta::LobattoIiia4,
        RungeKutta::Herk2,
        RungeKutta::Herk3,
        RungeKutta::Herk4,
        RungeKutta::Hem5,
    ];

    /// Order p.
    pub const fn order(self) -> u32 {
        match self {
            RungeKutta::LobattoIiia2 | RungeKutta::Herk2 => 2,
            RungeKutta::RadauIia2 | RungeKutta::Herk3 => 3,
            RungeKutta::LobattoIiia3 | RungeKutta::Herk4 => 4,
            RungeKutta::RadauIia3 | RungeKutta::Hem5 => 5,
            RungeKutta::LobattoIiia4 => 6,
        }
    }

    /// The coefficients.
    pub(crate) fn tableau(self) -> Tableau {
        let (r, f) = (6.0f64.sqrt(), 5.0f64.sqrt());
        let sixth = 1.0 / 6.0;
        match self {
            RungeKutta::RadauIia2 => Tableau::new(&[&[5.0 / 12.0, -1.0 / 12.0], &[0.75, 0.25]], &[0.75, 0.25]),
            RungeKutta::RadauIia3 => {
                let last = [(16.0 - r) / 36.0, (16.0 + r) / 36.0, 1.0 / 9.0];
                let first = [(88.0 - 7.0 * r) / 360.0, (296.0 - 169.0 * r) / 1800.0, (-2.0 + 3.0 * r) / 225.0];
                let second = [(296.0 + 169.0 * r) / 1800.0, (88.0 + 7.0 * r) / 360.0, (-2.0 - 3.0 * r) / 225.0];
                Tableau::new(&[&first, &second, &last], &last)
            }
            RungeKutta::LobattoIiia2 => Tableau::new(&[&[0.0, 0.0], &[0.5, 0.5]], &[0.5, 0.5]),
            RungeKutta::LobattoIiia3 => {
                let last = [sixth, 4.0 * sixth, sixth];
                Tableau::new(&[&[0.0; 3], &[5.0 / 24.0, 1.0 / 3.0, -1.0 / 24.0], &last], &last)
            }
            RungeKutta::LobattoIiia4 => {
                let last = [1.0 / 12.0, 5.0 / 12.0, 5.0 / 12.0, 1.0 / 12.0];
                let second = [11.0 + f, 25.0 - f, 25.0 - 13.0 * f, -1.0 + f].map(|x| x / 120.0);
                let third = [11.0 - f, 25.0 + 13.0 * f, 25.0 + f, -1.0 - f].map(|x| x / 120.0);
                Tableau::new(&[&[0.0; 4], &second, &third, &last], &last)
            }
            RungeKutta::Herk2 => Tableau::new(&[&[0.0, 0.0], &[1.0, 0.0]], &[0.5, 0.5]),
            RungeKutta::Herk3 => {
                Tableau::new(&[&[0.0; 3], &[0.5, 0.0, 0.0], &[-1.0, 2.0, 0.0]], &[sixth, 4.0 * sixth, sixth])
            }
            RungeKutta::Herk4 => Tableau::new(
                &[&[0.0; 4], &[0.5, 0.0, 0.0, 0.0], &[0.0, 0.5, 0.0, 0.0], &[0.0, 0.0, 1.0, 0.0]],
                &[sixth, 2.0 * sixth, 2.0 * sixth, sixth],
            ),
            RungeKutta::Hem5 => {
                let (weights, stages) = (&A[STAGES - 1], &A[..STAGES - 1]);
                let rows: Vec<&[f64]> = std::iter::once(&[0.0; STAGES]).chain(stages).map(|row| &row[..]).collect();
                Tableau::new(&rows, weights)
            }
        }
    }
}

/// Coefficients `a` (s × s, row-major), `b` and `c = a 1`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tableau {
    pub a: Vec<f64>,
    pub b: Vec<f64>,
    pub c: Vec<f64>,
    /// (s × s) `a a`: positions see the accelerations of the stages through it.
    pub square: Vec<f64>,
    /// (s) `b a`: so does the end of the step.
    pub product: Vec<f64>,
    /// Whether each stage depends on earlier ones alone.
    pub explicit: bool,
    /// (s) weights of the embedded method; none where there is no such method.
    pub embedded: Vec<f64>,
}

impl Tableau {
    fn new(rows: &[&[f64]], b: &[f64]) -> Tableau {
        let s = b.len();
        let a: Vec<f64> = rows.iter().flat_map(|row| row.iter().copied()).collect();
        let entry = |i: usize, j: usize| a[i * s + j];
        let square = (0..s * s).map(|k| (0..s).map(|l| entry(k / s, l) * entry(l, k % s)).sum()).collect();
        let product = (0..s).map(|j| (0..s).map(|i| b[i] * entry(i, j)).sum()).collect();
        let explicit = (0..s).all(|i| (i..s).all(|j| entry(i, j) == 0.0));
        let c = (0..s).map(|i| (0..s).map(|j| entry(i, j)).sum()).collect();
        Tableau { square, product, explicit, b: b.to_vec(), c, a, embedded: Vec::new() }
    }

    /// Fehlberg's pair of orders 4 and 5 [fehlberg1969], continued with the one of this order, the other one embedded.
    pub fn fehlberg(order: u32) -> Tableau {
        let rows: [&[f64]; 6] = [
            &[0.0; 6],
            &[0.25, 0.0, 0.0, 0.0, 0.0, 0.0],
            &[3.0 / 32.0, 9.0 / 32.0, 0.0, 0.0, 0.0, 0.0],
            &[1932.0 / 2197.0, -7200.0 / 2197.0, 7296.0 / 2197.0, 0.0, 0.0, 0.0],
            &[439.0 / 216.0, -8.0, 3680.0 / 513.0, -845.0 / 4104.0, 0.0, 0.0],
            &[-8.0 / 27.0, 2.0, -3544.0 / 2565.0, 1859.0 / 4104.0, -11.0 / 40.0, 0.0],
        ];
        let four = [25.0 / 216.0, 0.0, 1408.0 / 2565.0, 2197.0 / 4104.0, -0.2, 0.0];
        let five = [16.0 / 135.0, 0.0, 6656.0 / 12825.0, 28561.0 / 56430.0, -9.0 / 50.0, 2.0 / 55.0];
        let (b, other) = if order >= 5 { (five, four) } else { (four, five) };
        Tableau { embedded: other.to_vec(), ..Tableau::new(&rows, &b) }
    }

    /// Number of stages.
    pub fn stages(&self) -> usize {
        self.b.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 17 conditions of rooted trees up to order 5, and quadrature and stage conditions beyond: with B(6), C(4),
    /// D(2) the order is 6.
    fn residual(t: &Tableau, order: u32) -> f64 {
        let s = t.stages();
        let mul = |x: &[f64]| -> Vec<f64> { (0..s).map(|i| (0..s).map(|j| t.a[i * s + j] * x[j]).sum()).collect() };
        let times = |x: &[f64], y: &[f64]| -> Vec<f64> { x.iter().zip(y).map(|(a, b)| a * b).collect() };
        let weigh = |x: &[f64]| -> f64 { t.b.iter().zip(x).map(|(a, b)| a * b).sum() };
        let one = vec![1.0; s];
        let c = mul(&one);
        let (c2, ac) = (times(&c, &c), mul(&c));
        let (c3, ac2, aac) = (times(&c2, &c), mul(&c2), mul(&ac));
        let trees = [
            (1, one.clone(), 1.0),
            (2, c.clone(), 2.0),
            (3, c2.clone(), 3.0),
            (3, ac.clone(), 6.0),
            (4, c3.clone(), 4.0),
            (4, times(&c, &ac), 8.0),
            (4, ac2.clone(), 12.0),
            (4, aac.clone(), 24.0),
            (5, times(&c3, &c), 5.0),
            (5, times(&c2, &ac), 10.0),
            (5, times(&ac, &ac), 20.0),
            (5, times(&c, &ac2), 15.0),
            (5, mul(&c3), 20.0),
            (5, times(&c, &aac), 30.0),
            (5, mul(&times(&c, &ac)), 40.0),
            (5, mul(&ac2), 60.0),
            (5, mul(&aac), 120.0),
            (6, times(&c3, &c2), 6.0),
            (6, mul(&mul(&c3)), 120.0),
            (6, mul(&mul(&aac)), 720.0),
        ];
        trees
            .iter()
            .filter(|tree| tree.0 <= order)
            .map(|(_, tree, density)| (weigh(tree) - 1.0 / density).abs())
            .fold(0.0, f64::max)
    }

    #[test]
    fn order_conditions_hold_up_to_the_order_and_no_further() {
        for method in RungeKutta::ALL {
            let tableau = method.tableau();
            assert!(residual(&tableau, method.order()) < 1e-15, "{method:?}");
            if method.order() < 6 {
                assert!(residual(&tableau, method.order() + 1) > 1e-4, "{method:?}");
            }
        }
    }

    #[test]
    fn both_methods_of_the_pair_have_their_orders() {
        for order in [4, 5] {
            let tableau = Tableau::fehlberg(order);
            assert!(residual(&tableau, order) < 1e-15 && residual(&tableau, order + 1) > 1e-5, "{order}");
            assert!(tableau.explicit && tableau.embedded == Tableau::fehlberg(9 - order).b);
        }
    }

    #[test]
    fn nodes_and_products_belong_to_the_table() {
        let radau = RungeKutta::RadauIia3.tableau();
        for (c, exact) in radau.c.iter().zip([(4.0 - 6.0f64.sqrt()) / 10.0, (4.0 + 6.0f64.sqrt()) / 10.0, 1.0]) {
            assert!((c - exact).abs() < 1e-15);
        }
        // Σ b c = Σ (b a) 1 = 1/2
        assert!((radau.product.iter().sum::<f64>() - 0.5).abs() < 1e-15);
        let explicit: Vec<bool> = RungeKutta::ALL.iter().map(|m| m.tableau().explicit).collect();
        assert_eq!(explicit, [false, false, false, false, false, true, true, true, true]);
        assert_eq!(serde_json::to_string(&RungeKutta::LobattoIiia3).unwrap(), "\"lobatto-iiia-3\"");
    }
}
