//! Examples 1 and 2: a chain of integrators that starts outside its constraint. Backward Euler leaves it with a
//! velocity of 1/h, the higher-order sweeping process stays at rest.

use super::{System, backward_euler, sweeping};
use crate::{Check, Data, Effort, Figure, Trouble};

const STEPS: [f64; 3] = [0.1, 0.01, 0.001];
const CLOSED: &str = "closed form";

/// A start with what backward Euler gives at step k with steps h, its first multiplier, and the measures of the first
/// step of HOMSP.
struct Case {
    initial: [f64; 3],
    euler: fn(k: f64, h: f64) -> [f64; 3],
    multiplier: fn(h: f64) -> f64,
    measures: &'static [f64],
}

/// Example 1: λ acts on the second integrator.
pub(super) fn second(_: Effort) -> Result<Figure, Trouble> {
    let cases = [
        Case { initial: [0.0, -1.0, 0.0], euler: |_, _| [0.0; 3], multiplier: |h| 1.0 / h, measures: &[0.0, 1.0] },
        Case {
            initial: [-1.0, -1.0, 0.0],
            euler: |k, h| [k - 1.0, 1.0 / h, 0.0],
            multiplier: |h| (1.0 + h) / (h * h),
            measures: &[1.0, 1.0],
        },
    ];
    let mut figure = tables(&[0.0, 1.0, 0.0], &cases)?;
    figure.contradicted = Some(
        "from (-1, -1, 0) backward Euler gives x_k = (k - 1, 1/h, 0) with the first multiplier (1 + h)/h², where the paper prints \
         (k, 1/h, 0) and 1/h²; the statement, a velocity of 1/h, and the values of HOMSP are confirmed",
    );
    Ok(figure)
}

/// Example 2: λ acts on the third integrator.
pub(super) fn third(_: Effort) -> Result<Figure, Trouble> {
    let cases = [
        Case {
            initial: [0.0, -1.0, 0.0],
            euler: |k, h| [h * k * (k - 1.0) / 2.0, k - 1.0, 1.0 / h],
            multiplier: |h| 1.0 / (h * h),
            measures: &[0.0, 1.0, 0.0],
        },
        Case {
            initial: [-1.0, -1.0, 0.0],
            // x₃ is constant after the first step, x₂ and x₁ are sums of it
            euler: |k, h| {
                let third = (1.0 + h) / (h * h);
                let second = -1.0 + k * h * third;
                [-1.0 + h * (-k + h * third * k * (k + 1.0) / 2.0), second, third]
            },
            multiplier: |h| (1.0 + h) / (h * h * h),
            measures: &[1.0, 1.0, 0.0],
        },
        Case { initial: [0.0, 0.0, -1.0], euler: |_, _| [0.0; 3], multiplier: |h| 1.0 / h, measures: &[0.0, 0.0, 1.0] },
    ];
    let mut figure = tables(&[0.0, 0.0, 1.0], &cases)?;
    figure.contradicted = Some(
        "from (0, -1, 0) backward Euler gives x_k = (h k (k - 1)/2, k - 1, 1/h), where the paper prints (k (k + 1)/(2 h), k, 1/h), and HOMSP \
         the measures (0, 1, 0), where the paper prints those of (-1, -1, 0); that backward Euler is inconsistent is confirmed",
    );
    Ok(figure)
}

fn tables(b: &[f64; 3], cases: &[Case]) -> Result<Figure, Trouble> {
    let mut figure = Figure::default();
    for case in cases {
        let system = System {
            a: vec![0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
            b: b.to_vec(),
            c: vec![1.0, 0.0, 0.0],
            initial: case.initial.to_vec(),
        };
        let start = format!("x0 = {:?}", case.initial);
        let (mut rows, mut data) = (Vec::new(), Vec::new());
        for h in STEPS {
            for (is_sweeping, scheme, method) in
                [(false, backward_euler(), "backward Euler"), (true, sweeping(), "HOMSP")]
            {
                let run = system.run(scheme, h, 3)?;
                for k in 1..=3 {
                    let multiplier = run.multipliers[k - 1].iter().sum::<f64>();
                    let numbers = [&run.x[k][..], &[multiplier]].concat();
                    rows.push((format!("{method}, h = {h}, k = {k}"), numbers.clone()));
                    data.push([&[h, f64::from(u8::from(is_sweeping)), k as f64], &numbers[..]].concat());
                }
                if is_sweeping {
                    homsp(case, &run, (&start, h), &mut figure)
                } else {
                    euler(case, &run, (&start, h), &mut figure)
                }
            }
        }
        figure.table(&start, &["", "x1", "x2", "x3", "λ, or sum of μ"], rows);
        let header = ["h", "homsp", "k", "x1", "x2", "x3", "multiplier"].map(str::to_owned).to_vec();
        figure.data.push(Data { name: start, header, rows: data });
    }
    Ok(figure)
}

/// Largest difference, relative to the largest of the expected numbers and 1.
fn difference(found: &[f64], expected: &[f64]) -> f64 {
    let size = expected.iter().fold(1.0f64, |a, x| a.max(x.abs()));
    found.iter().zip(expected).fold(0.0, |a: f64, (x, y)| a.max((x - y).abs() / size))
}

fn euler(case: &Case, run: &super::Run, (start, h): (&str, f64), figure: &mut Figure) {
    let states = (1..=3).map(|k| difference(&run.x[k], &(case.euler)(k as f64, h))).fold(0.0, f64::max);
    let what = format!("backward Euler, {start}, h = {h}: states");
    figure.check(Check::below(what, states, 1e-12, CLOSED));
    let lambda = run.multipliers[0].first().copied().unwrap_or(f64::NAN) / (case.multiplier)(h) - 1.0;
    let what = format!("backward Euler, {start}, h = {h}: first multiplier");
    figure.check(Check::below(what, lambda.abs(), 1e-12, CLOSED));
}

fn homsp(case: &Case, run: &super::Run, (start, h): (&str, f64), figure: &mut Figure) {
    let states = (1..=3).map(|k| difference(&run.x[k], &[0.0; 3])).fold(0.0, f64::max);
    figure.check(Check::below(format!("HOMSP, {start}, h = {h}: states"), states, 1e-14, CLOSED));
    let measures = difference(&run.multipliers[0], case.measures);
    figure.check(Check::below(format!("HOMSP, {start}, h = {h}: measures"), measures, 1e-14, CLOSED));
}
