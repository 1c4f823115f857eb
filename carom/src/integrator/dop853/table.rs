//! The numbers of the pair of Dormand and Prince of orders 8(5, 3) and of its dense output of order 7 [hairer1993,
//! §II.5, §II.6].

/// Stages of a step, and with those that the dense output needs: the end of the step and three more.
pub const STAGES: usize = 12;
pub const EXTENDED: usize = 16;

/// A row of weights: their sum, and those of the stages from `from` on (counted from 0); the rest belongs to the first
/// stage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    sum: f64,
    from: usize,
    tail: &'static [f64],
}

impl Row {
    /// `h Σ wⱼ xⱼ` of component `k` of n, from the differences to the first stage: a constant is integrated to
    /// rounding.
    #[inline]
    pub fn weigh(&self, h: f64, stages: &[f64], (k, n): (usize, usize)) -> f64 {
        let first = stages[k];
        let mut sum = 0.0;
        for (j, w) in self.tail.iter().enumerate() {
            sum += w * (stages[(self.from + j) * n + k] - first);
        }
        h * (self.sum * first + sum)
    }
}

/// Rows of the stages 2 to 16; that of stage 13, the end of the step, are the weights.
pub(super) const A: [Row; EXTENDED - 1] = [
    Row { sum: 0.05260015195876773, from: 1, tail: &[] },
    Row { sum: 0.0789002279381516, from: 1, tail: &[0.0591751709536137] },
    Row { sum: 0.1183503419072274, from: 2, tail: &[0.08876275643042054] },
    Row { sum: 0.2816496580927726, from: 2, tail: &[-0.8845494793282861, 0.924834003261792] },
    Row { sum: 0.3333333333333333, from: 3, tail: &[0.17082860872947386, 0.12546768756682242] },
    Row { sum: 0.25, from: 3, tail: &[0.17025221101954405, 0.06021653898045596, -0.017578125] },
    Row {
        sum: 0.3076923076923077,
        from: 3,
        tail: &[0.17038392571223998, 0.10726203044637328, -0.015319437748624402, 0.008273789163814023],
    },
    Row {
        sum: 0.6512820512820513,
        from: 3,
        tail: &[-3.3608926294469414, -0.868219346841726, 27.59209969944671, 20.154067550477894, -43.48988418106996],
    },
    Row {
        sum: 0.6,
        from: 3,
        tail: &[
            -2.4881146199716677,
            -0.590290826836843,
            21.230051448181193,
            15.279233632882423,
            -33.28821096898486,
            -0.020331201708508627,
        ],
    },
    Row {
        sum: 0.8571428571428571,
        from: 3,
        tail: &[
            5.186372428844064,
            1.0914373489967295,
            -8.149787010746927,
            -18.52006565999696,
            22.739487099350505,
            2.4936055526796523,
            -3.0467644718982196,
        ],
    },
    Row {
        sum: 1.0,
        from: 3,
        tail: &[
            -10.53449546673725,
            -2.0008720582248625,
            -17.9589318631188,
            27.94888452941996,
            -2.8589982771350235,
            -8.87285693353063,
            12.360567175794303,
            0.6433927460157636,
        ],
    },
    Row {
        sum: 1.0,
        from: 5,
        tail: &[
            4.450312892752409,
            1.8915178993145003,
            -5.801203960010585,
            0.3111643669578199,
            -0.1521609496625161,
            0.20136540080403034,
            0.04471061572777259,
        ],
    },
    Row {
        sum: 0.1,
        from: 6,
        tail: &[
            0.25350021021662483,
            -0.2462390374708025,
            -0.12419142326381637,
            0.15329179827876568,
            0.00820105229563469,
            0.007567897660545699,
            -0.008298,
        ],
    },
    Row {
        sum: 0.2,
        from: 5,
        tail: &[
            0.028300909672366776,
            0.053541988307438566,
            -0.05492374857139099,
            0.0,
            0.0,
            -0.00010834732869724932,
            0.0003825710908356584,
            -0.00034046500868740456,
            0.1413124436746325,
        ],
    },
    Row {
        sum: 0.7777777777777778,
        from: 5,
        tail: &[
            -4.697621415361164,
            7.683421196062599,
            4.06898981839711,
            0.3567271874552811,
            0.0,
            0.0,
            0.0,
            -0.0013990241651590145,
            2.9475147891527724,
            -9.15095847217987,
        ],
    },
];

/// Weights of the difference from the embedded method of order 5.
pub(super) const FIFTH: Row = Row {
    sum: 0.0,
    from: 5,
    tail: &[
        -1.2251564463762044,
        -0.4957589496572502,
        1.6643771824549864,
        -0.35032884874997366,
        0.3341791187130175,
        0.08192320648511571,
        -0.022355307863886294,
    ],
};

/// Weights of the embedded method of order 3 on stages 9 and 12; the rest belongs to the first.
pub(super) const THIRD: [(usize, f64); 2] = [(8, 0.7338466882816118), (11, 0.022058823529411766)];

/// Rows of the four highest coefficients of the dense output.
pub(super) const D: [Row; 4] = [
    Row {
        sum: 0.0,
        from: 5,
        tail: &[
            0.5667149535193777,
            -3.0689499459498917,
            2.38466765651207,
            2.117034582445028,
            -0.871391583777973,
            2.2404374302607883,
            0.6315787787694688,
            -0.08899033645133331,
            18.148505520854727,
            -9.194632392478356,
            -4.436036387594894,
        ],
    },
    Row {
        sum: 0.0,
        from: 5,
        tail: &[
            242.28349177525817,
            165.20045171727028,
            -374.5467547226902,
            -22.113666853125306,
            7.733432668472264,
            -30.674084731089398,
            -9.332130526430229,
            15.697238121770845,
            -31.139403219565178,
            -9.35292435884448,
            35.81684148639408,
        ],
    },
    Row {
        sum: 0.0,
        from: 5,
        tail: &[
            -387.0373087493518,
            -189.17813819516758,
            527.8081592054236,
            -11.57390253995963,
            6.8812326946963,
            -1.0006050966910838,
            0.7777137798053443,
            -2.778205752353508,
            -60.19669523126412,
            84.32040550667716,
            11.99229113618279,
        ],
    },
    Row {
        sum: 0.0,
        from: 5,
        tail: &[
            -154.18974869023643,
            -231.5293791760455,
            357.6391179106141,
            93.40532418362432,
            -37.45832313645163,
            104.0996495089623,
            29.8402934266605,
            -43.53345659001114,
            96.32455395918828,
            -39.17726167561544,
            -149.72683625798564,
        ],
    },
];

/// Nodes of the stages.
pub(super) const C: [f64; EXTENDED] = [
    0.0,
    0.05260015195876773,
    0.0789002279381516,
    0.1183503419072274,
    0.2816496580927726,
    0.3333333333333333,
    0.25,
    0.3076923076923077,
    0.6512820512820513,
    0.6,
    0.8571428571428571,
    1.0,
    1.0,
    0.1,
    0.2,
    0.7777777777777778,
];
#[cfg(test)]
mod tests {
    use super::*;

    type Vector = [f64; EXTENDED];

    /// A row as weights of all stages.
    fn full(row: &Row) -> Vector {
        std::array::from_fn(|j| {
            let unit: Vector = std::array::from_fn(|k| if k == j { 1.0 } else { 0.0 });
            row.weigh(1.0, &unit, (0, 1))
        })
    }

    fn dot(a: &Vector, b: &Vector) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    fn times(a: &Vector, b: &Vector) -> Vector {
        std::array::from_fn(|i| a[i] * b[i])
    }

    /// A x, with the first stage on nothing.
    fn apply(x: &Vector) -> Vector {
        std::array::from_fn(|i| if i == 0 { 0.0 } else { dot(&full(&A[i - 1]), x) })
    }

    /// A rooted tree: its order, its density γ, and its weight Φ at each stage [hairer1993, §II.2].
    struct Tree {
        order: u32,
        density: f64,
        weight: Vector,
        image: Vector, // A Φ
    }

    /// All rooted trees up to an order.
    fn trees(highest: u32) -> Vec<Tree> {
        let mut all: Vec<Tree> = Vec::new();
        for order in 1..=highest {
            let mut found = Vec::new();
            graft(&all, (order, order - 1), (0, f64::from(order), [1.0; EXTENDED]), &mut found);
            all.extend(found);
        }
        all
    }

    /// Adds branches number `from` and later ones to a root until `left` nodes are used.
    fn graft(all: &[Tree], (order, left): (u32, u32), root: (usize, f64, Vector), found: &mut Vec<Tree>) {
        let (from, density, weight) = root;
        if left == 0 {
            return found.push(Tree { order, density, weight, image: apply(&weight) });
        }
        for (k, branch) in all.iter().enumerate().skip(from).filter(|(_, branch)| branch.order <= left) {
            let grown = (k, density * branch.density, times(&weight, &branch.image));
            graft(all, (order, left - branch.order), grown, found);
        }
    }

    /// The largest residual Σ wⱼ Φⱼ − sᵖ/γ over the trees of orders p in a range.
    fn residual(trees: &[Tree], weights: &Vector, s: f64, orders: std::ops::RangeInclusive<u32>) -> f64 {
        let of = |tree: &Tree| (dot(weights, &tree.weight) - s.powi(tree.order as i32) / tree.density).abs();
        trees.iter().filter(|tree| orders.contains(&tree.order)).map(of).fold(0.0, f64::max)
    }

    #[test]
    fn all_trees_are_met_up_to_the_orders_and_no_further() {
        let trees = trees(9);
        // 1, 1, 2, 4, 9, 20, 48, 115 trees of orders 1 to 8, 286 of order 9
        assert_eq!(trees.len(), 200 + 286);
        let weights = full(&A[STAGES - 1]);
        assert!(residual(&trees, &weights, 1.0, 1..=8) < 1e-14, "{:e}", residual(&trees, &weights, 1.0, 1..=8));
        assert!(residual(&trees, &weights, 1.0, 9..=9) > 1e-7);
        let fifth = full(&FIFTH);
        let fifth: Vector = std::array::from_fn(|j| weights[j] - fifth[j]);
        assert!(residual(&trees, &fifth, 1.0, 1..=5) < 1e-14, "{:e}", residual(&trees, &fifth, 1.0, 1..=5));
        assert!(residual(&trees, &fifth, 1.0, 6..=6) > 1e-5);
        let mut third = [0.0; EXTENDED];
        THIRD.iter().for_each(|&(j, w)| third[j] = w);
        third[0] = 1.0 - third.iter().sum::<f64>();
        assert!(residual(&trees, &third, 1.0, 1..=3) < 1e-14, "{:e}", residual(&trees, &third, 1.0, 1..=3));
        assert!(residual(&trees, &third, 1.0, 4..=4) > 1e-4);
    }

    /// The weights of the first stage, which the rows do not list, are the published ones.
    #[test]
    fn sums_of_the_rows_are_nodes() {
        let first = [
            0.05260015195876773,
            0.0197250569845379,
            0.02958758547680685,
            0.2413651341592667,
            0.037037037037037035,
            0.037109375,
            0.03709200011850479,
            0.6241109587160757,
            0.47766253643826434,
            -0.9371424300859873,
            2.273310147516538,
            0.054293734116568765,
            0.056167502283047954,
            0.03183464816350214,
            -0.42889630158379194,
        ];
        for ((row, c), first) in A.iter().zip(&C[1..]).zip(first) {
            assert_eq!(row.sum, *c);
            assert!((full(row)[0] - first).abs() < 1e-14, "{row:?}");
        }
        let first =
            [0.01312004499419488, -8.428938276109013, 10.427508642579134, 19.985053242002433, -25.69393346270375];
        for (row, first) in std::iter::once(&FIFTH).chain(&D).zip(first) {
            assert!(row.sum == 0.0 && (full(row)[0] - first).abs() < 1e-13, "{row:?}");
        }
    }

    /// The dense output on unit vectors shows its weights, which meet all trees up to order 7 everywhere in the step.
    #[test]
    fn the_dense_output_is_of_order_seven_everywhere() {
        let trees = trees(8);
        let coefficients: Vec<[f64; 7]> = (0..EXTENDED)
            .map(|j| {
                let unit: Vector = std::array::from_fn(|k| if k == j { 1.0 } else { 0.0 });
                super::super::dense::coefficients(1.0, &unit, (0, 1))
            })
            .collect();
        let mut eighth = 0.0f64;
        for k in 0..=20 {
            let s = 0.05 * f64::from(k);
            let weights: Vector = std::array::from_fn(|j| super::super::dense::increment(&coefficients[j], s));
            let worst = residual(&trees, &weights, s, 1..=7);
            assert!(worst < 1e-13, "{s}: {worst:e}");
            eighth = eighth.max(residual(&trees, &weights, s, 8..=8));
            let ends = full(&A[STAGES - 1]);
            if k == 0 {
                assert_eq!(weights, [0.0; EXTENDED]);
            }
            if k == 20 {
                assert!(weights.iter().zip(ends).all(|(a, b)| (a - b).abs() < 1e-15));
            }
        }
        assert!(eighth > 1e-7, "{eighth:e}");
    }
}
