//! System (65): relative degree 3, five states. The sign of ξ₂ is not clear from the text: both readings are computed.

use super::{Run, SPEC, System, sweeping};
use crate::order::line;
use crate::{Check, Data, Effort, Figure, Trouble};
use carom::testbed::{ExactState, Sign, ThirdDegree};
use carom_analysis::error::log_log_slope;
use carom_analysis::report::{Chart, Series, SeriesStyle};

const SIGNS: [(Sign, &str); 2] = [(Sign::Plus, "+ξ₂ (as printed)"), (Sign::Minus, "-ξ₂ (convention of (26))")];
const END: f64 = 10.0;

fn run(exact: &ThirdDegree, steps: usize) -> Result<Run, Trouble> {
    let matrices = exact.matrices();
    let initial = vec![1.0, 0.0, 0.0, 0.0, 0.0];
    System { a: matrices.a, b: matrices.b, c: matrices.c, initial }.run(sweeping(), END / steps as f64, steps)
}

/// Figure 2: h = 0.1.
pub(super) fn trajectories(_: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure {
        trend: Some(
            "with the printed sign there is one interval of contact, with the other one two: the words of the paper, a sequence of \
             intervals, fit the second",
        ),
        ..Figure::default()
    };
    for (sign, name) in SIGNS {
        let run = run(&ThirdDegree::new(sign, END), 100)?;
        let series = |label: &str, i: usize| Series::steps(label, run.t.clone(), run.column(i));
        let chart = Chart::over_time(format!("z, {name}"), "z");
        figure.chart(chart.with(series("z1", 0)).with(series("z2", 1)).with(series("z3", 2)));
        figure.chart(Chart::over_time(format!("ξ, {name}"), "ξ").with(series("xi1", 3)).with(series("xi2", 4)));
        let mut measures = Chart::over_time(format!("measures, {name}"), "μ per step");
        for i in 0..3 {
            measures = measures.with(Series::steps(format!("mu{}", i + 1), run.t.clone(), run.level(i)));
        }
        figure.chart(measures);
        let contact: Vec<bool> = run.level(2).iter().map(|mu| *mu > 0.0).collect();
        let intervals = contact.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let expected = if sign == Sign::Plus { 1.0 } else { 2.0 };
        figure.check(Check::near(format!("{name}: intervals of contact"), intervals as f64, (expected, 0.0), SPEC));
        if sign == Sign::Plus {
            numbers(&run, &contact, &mut figure);
        }
    }
    Ok(figure)
}

/// The numbers that are known with the printed sign.
fn numbers(run: &Run, contact: &[bool], figure: &mut Figure) {
    for (t, z) in [
        (1.0, [0.89805634, -0.20083509, -0.18705941, 0.47255738, 0.76417702]),
        (10.0, [1.50129299, 0.24256596, -0.75157744, 2.03634158, 0.45622948]),
    ] {
        for (i, expected) in z.into_iter().enumerate() {
            // eight decimals are known
            figure.check(Check::near(format!("component {} at {t} s", i + 1), run.at(t).0[i], (expected, 1e-7), SPEC));
        }
    }
    let mu = |t: f64, i: usize| run.at(t).1.get(i).copied().unwrap_or(f64::NAN);
    for (t, i, expected) in [(4.2, 0, 0.01748377), (4.3, 0, 0.0), (4.3, 1, 0.61854775), (4.3, 2, 0.57726999)] {
        figure.check(Check::near(format!("mu{} at {t} s", i + 1), mu(t, i), (expected, 1e-7), SPEC));
    }
    let times = || run.t.iter().zip(contact).filter(|(_, contact)| **contact).map(|(t, _)| *t);
    let (first, last) = (times().next().unwrap_or(f64::NAN), times().next_back().unwrap_or(f64::NAN));
    figure.check(Check::near("first step of contact", first, (4.3, 1e-9), SPEC));
    figure.check(Check::near("last step of contact", last, (6.1, 1e-9), SPEC));
}

/// Figure 3: Hausdorff distance of filled-in graphs to the exact solution by events.
pub(super) fn order(effort: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure::default();
    let steps: &[f64] = if effort == Effort::Quick {
        &[0.1, 0.05, 0.02, 0.01, 0.005]
    } else {
        &[0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001]
    };
    // the second one is no logarithm
    #[allow(clippy::approx_constant)]
    let known = [0.57953, 0.30103, 0.12321, 0.06205, 0.03114, 0.01248, 0.00625];
    for (sign, name) in SIGNS {
        let exact = ThirdDegree::new(sign, END);
        let mut distances = Vec::new();
        for &h in steps {
            let count = (END / h).round() as usize;
            let run = run(&exact, count)?;
            distances.push(distance(&samples(&run, h), &exact_samples(&exact, h / 10.0)));
        }
        let mut chart = Chart::new(name, "h [s]", "Hausdorff distance").log_log();
        let first = distances.first().copied().unwrap_or(f64::NAN);
        chart = chart.with(line("slope 1", steps, first, 1.0));
        let style = SeriesStyle::LinesAndMarkers;
        figure.chart(chart.with(Series::new("HOMSP", style, steps.to_vec(), distances.clone())));
        let tail = steps.len().saturating_sub(3);
        let fit = log_log_slope(&steps[tail..], &distances[tail..]).map_err(|e| Trouble(e.to_string()))?;
        // coarse steps are not yet in the range of the order
        let tolerance = if effort == Effort::Full { 0.03 } else { 0.1 };
        figure.check(Check::near(format!("{name}: order"), fit.slope, (1.0, tolerance), SPEC));
        if sign == Sign::Plus {
            for ((h, found), expected) in steps.iter().zip(&distances).zip(known) {
                // sampled at a tenth of a step
                let what = format!("{name}: distance at h = {h}");
                figure.check(Check::near(what, *found, (expected, 0.02 * expected), SPEC));
            }
        }
        let rows = steps.iter().zip(&distances).map(|(h, d)| vec![*h, *d]).collect();
        figure.data.push(Data { name: name.into(), header: vec!["h".into(), "distance".into()], rows });
    }
    Ok(figure)
}

/// A point of a filled-in graph.
type Point = (f64, [f64; 5]);

/// Points along a segment, its first end included.
fn segment(out: &mut Vec<Point>, from: Point, to: Point, spacing: f64) {
    let size = from.1.iter().zip(&to.1).fold((to.0 - from.0).abs(), |a: f64, (x, y)| a.max((x - y).abs()));
    let pieces = (size / spacing).ceil().max(1.0) as usize;
    for k in 0..pieces {
        let s = k as f64 / pieces as f64;
        let mut x = from.1;
        x.iter_mut().zip(&to.1).for_each(|(x, y)| *x += s * (y - *x));
        out.push((from.0 + s * (to.0 - from.0), x));
    }
}

/// The step function that is z_k on [t_k, t_{k+1}), jumps filled in.
fn samples(run: &Run, h: f64) -> Vec<Point> {
    let mut out = Vec::new();
    let state = |k: usize| -> [f64; 5] { std::array::from_fn(|i| run.x[k][i]) };
    for k in 1..run.t.len() {
        segment(&mut out, (run.t[k - 1], state(k - 1)), (run.t[k], state(k - 1)), h / 10.0);
        segment(&mut out, (run.t[k], state(k - 1)), (run.t[k], state(k)), h / 10.0);
    }
    out.extend(run.t.last().map(|t| (*t, state(run.t.len() - 1))));
    out
}

fn exact_samples(exact: &ThirdDegree, spacing: f64) -> Vec<Point> {
    let mut out = Vec::new();
    let at = |t: f64| {
        let mut x = [0.0; 5];
        exact.at(t, &mut x);
        (t, x)
    };
    let mut start = 0.0;
    for end in exact.jumps(0.0, END).into_iter().chain([END]) {
        let pieces = ((end - start) / spacing).ceil().max(1.0) as usize;
        (0..pieces).for_each(|k| out.push(at(start + (end - start) * k as f64 / pieces as f64)));
        let mut before = [0.0; 5];
        exact.before(end, &mut before);
        segment(&mut out, (end, before), at(end), spacing);
        start = end;
    }
    out.push(at(END));
    out
}

/// Hausdorff distance of two sampled graphs in the max norm of (t, x). Times do not decrease, so that the search leaves
/// a point on both sides as soon as time alone is farther away.
fn distance(a: &[Point], b: &[Point]) -> f64 {
    excess(a, b).max(excess(b, a))
}

fn excess(a: &[Point], b: &[Point]) -> f64 {
    let metric =
        |p: &Point, q: &Point| p.1.iter().zip(&q.1).fold((p.0 - q.0).abs(), |m: f64, (x, y)| m.max((x - y).abs()));
    let mut worst = 0.0f64;
    for p in a {
        let middle = b.partition_point(|q| q.0 < p.0);
        let mut best = f64::INFINITY;
        for q in &b[middle..] {
            if q.0 - p.0 >= best {
                break;
            }
            best = best.min(metric(p, q));
        }
        for q in b[..middle].iter().rev() {
            if p.0 - q.0 >= best {
                break;
            }
            best = best.min(metric(p, q));
        }
        worst = worst.max(best);
    }
    worst
}
