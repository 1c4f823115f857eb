//! Section 4 of RR-7151: errors of one step of the Moreau-Jean scheme that starts from the exact solution.

use crate::order::line;
use crate::trace::{Trace, overrides};
use crate::{Check, Data, Effort, Figure, Trouble};
use carom::scheme::{EventDriven, Forecast, MoreauJean};
use carom::testbed::BouncingBall;
use carom::{Span, simulate};
use carom_analysis::error::log_log_slope;
use carom_analysis::report::{Chart, Series, SeriesStyle};
use carom_scene::scene::Choice;

const CLOSED: &str = "closed form";

/// Restitution and force of the ball.
const E: f64 = 0.5;
const F: f64 = -2.0;

/// Errors of velocity and position, exact less computed, of a step of length h from the exact state at t.
fn local_error(theta: f64, forecast: Forecast, t: f64, h: f64) -> Result<[f64; 2], Trouble> {
    let scheme = MoreauJean { theta, forecast, ..MoreauJean::default() };
    let ((q0, v0), exact) = (BouncingBall::default().state_at(t), BouncingBall::default().state_at(t + h));
    let ball = BouncingBall { q0, v0, ..BouncingBall::default() }.model();
    let run = simulate(ball, scheme, Span { end: h, step: h }).map_err(|e| Trouble(e.to_string()))?;
    let last = run.len() - 1;
    Ok([exact.1 - run.v(last)[0], exact.0 - run.q(last)[0]])
}

/// Forecasts that overlook the first impact and that see it.
const OVERLOOKS: Forecast = Forecast::Explicit { gamma: 0.0 };
const SEES: Forecast = Forecast::Explicit { gamma: 1.0 };

/// Example 3: (31) to (33).
pub fn example(_: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure {
        contradicted: Some(
            "(31) and (32) are misprinted: where the impact is forecast e_v is + h f (1 − σ − ρσ), not −, σ is \
             (t* − t_k)/h, and e_q has other terms; (33) is ρ (2 h − 3/2^n), not −2 h − 3/2^n. What follows from them \
             is confirmed: e_q = O(h), and e_v = O(h) where the impact is forecast, else O(1)",
        ),
        ..Figure::default()
    };
    let (mut rows, mut worst, mut printed) = (Vec::new(), [0.0f64; 2], [0.0f64; 2]);
    for theta in [0.5, 1.0] {
        for h in [0.1, 0.01, 0.001] {
            for sigma in [0.1f64, 0.25, 0.5, 0.75, 0.9] {
                let t = 1.0 - sigma * h;
                let v = -2.0 * t;
                let square = 0.5 * (sigma * sigma + (1.0 - sigma).powi(2)) - E * sigma * (1.0 - sigma);
                let cases = [
                    (
                        OVERLOOKS,
                        -(1.0 + E) * (v + h * F * sigma),
                        -(1.0 + E) * (1.0 - sigma) * h * v + F * h * h * (square - theta),
                    ),
                    (
                        SEES,
                        h * F * (1.0 - sigma - E * sigma),
                        -(1.0 + E) * (1.0 - theta - sigma) * h * v + F * h * h * square,
                    ),
                ];
                for (k, (forecast, e_v, e_q)) in cases.into_iter().enumerate() {
                    let [found_v, found_q] = local_error(theta, forecast, t, h)?;
                    worst[k] = worst[k].max((found_v - e_v).abs()).max((found_q - e_q).abs());
                    rows.push(vec![theta, h, sigma, k as f64, found_v, e_v, found_q, e_q]);
                }
                let paper = -h * F * (1.0 - sigma - E * sigma);
                printed[0] = printed[0].max((paper - cases[1].1).abs() / h);
                let paper = -h * (E * (2.0 - sigma) - sigma) * v
                    - 0.5 * F * h * h * (E * (1.0 - sigma) * sigma + (1.0 - sigma).powi(2) - sigma * sigma + theta);
                printed[1] = printed[1].max((paper - cases[0].2).abs() / h);
            }
        }
    }
    figure.check(Check::below("P = 0: largest difference from the closed form", worst[0], 1e-13, CLOSED));
    figure.check(Check::below("P > 0: largest difference from the closed form", worst[1], 1e-13, CLOSED));
    let source = "(32) as printed; 0 would confirm it";
    let far = (0.1, f64::INFINITY);
    figure.check(Check::between("printed e_v with P > 0: largest difference over h", printed[0], far, source));
    figure.check(Check::between("printed e_q with P = 0: largest difference over h", printed[1], far, source));
    let header = ["theta", "h", "sigma", "forecast", "e_v", "e_v, closed form", "e_q", "e_q, closed form"];
    let header = header.map(str::to_owned).to_vec();
    figure.data.push(Data { name: "local errors".into(), header, rows });
    at_the_accumulation(&mut figure)?;
    Ok(figure)
}

/// (33): a step over the accumulation, from 3 − h to 3 + h.
fn at_the_accumulation(figure: &mut Figure) -> Result<(), Trouble> {
    let (mut steps, mut errors, mut rows, mut worst) = (Vec::new(), Vec::new(), Vec::new(), 0.0f64);
    for n in 3..=10 {
        for part in [1.0, 1.25, 1.75] {
            let scale = 0.5f64.powi(n);
            let h = part * scale;
            // h in (2^-n, 2^(1-n)]: at its left end the flight before is the one of n + 1
            let h = if part == 1.0 { h * (1.0 + 1e-12) } else { h };
            let [e_v, _] = local_error(0.5, Forecast::Free, 3.0 - h, 2.0 * h)?;
            let closed = E * (2.0 * h - 3.0 * scale);
            worst = worst.max((e_v - closed).abs());
            rows.push((format!("n = {n}, h = {h:.4e}"), vec![e_v, closed, -2.0 * h - 3.0 * scale]));
            steps.push(h);
            errors.push(e_v.abs() / h);
        }
    }
    figure.check(Check::below(
        "step over the accumulation: e_v, difference from the closed form",
        worst,
        1e-12,
        CLOSED,
    ));
    let most = errors.iter().copied().fold(0.0, f64::max);
    figure.check(Check::below("the same: largest |e_v| over h", most, 1.0, "stated in the paper: O(h)"));
    let header = ["step [3 − h, 3 + h]", "e_v", "ρ (2 h − 3/2^n)", "(33) as printed"];
    figure.table("Errors of the velocity at the accumulation", &header, rows);
    let series = Series::new("|e_v|/h", SeriesStyle::LinesAndMarkers, steps, errors);
    let mut chart = Chart::new("step over the accumulation", "h [s]", "|e_v|/h [m/s²]");
    chart.log_x = true;
    figure.chart(chart.with(series));
    Ok(())
}

/// Times of impacts and jumps of the velocity of the ball.
fn jumps() -> impl Iterator<Item = (f64, f64)> {
    (1..50).map(|n| (3.0 - 0.5f64.powi(n - 2), 3.0 * 0.5f64.powi(n - 1)))
}

/// Lemma 1: a bound of the θ-rule by the variation, and that it is sharp.
pub fn lemma(_: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure::default();
    let ball = BouncingBall::default();
    let constant = |theta: f64| theta.max(1.0 - theta);
    let (mut rows, mut ratios, mut thetas) = (Vec::new(), Vec::new(), Vec::new());
    for k in 0..=10 {
        let theta = 0.1 * f64::from(k);
        let mut most = 0.0f64;
        for h in [0.37, 0.1, 0.013] {
            for i in 0..((4.5 / h) as usize) {
                let (a, b) = (h * i as f64, h * (i + 1) as f64);
                let ((q0, v0), (q1, v1)) = (ball.state_at(a), ball.state_at(b));
                let rule = h * (theta * v1 + (1.0 - theta) * v0);
                // ends are right-continuous
                let jumped: f64 = jumps().filter(|(t, _)| *t > a && *t <= b).map(|j| j.1).sum();
                let variation = 2.0 * (b.min(3.0) - a.min(3.0)) + jumped;
                if variation > 1e-9 {
                    most = most.max((q1 - q0 - rule).abs() / (constant(theta) * h * variation));
                }
            }
        }
        // the example of the proof: f = α inside, 1 at the start, β at the end
        let (alpha, beta): (f64, f64) = if theta >= 0.5 { (1.0, 0.25) } else { (0.25, 0.25) };
        let (h, variation) = (0.1, (1.0 - alpha).abs() + (alpha - beta).abs());
        let error: f64 = h * alpha - h * (theta * beta + (1.0 - theta));
        let sharp = error.abs() / (constant(theta) * h * variation);
        rows.push((format!("θ = {theta:.1}"), vec![most, sharp]));
        thetas.push(theta);
        ratios.push((most, sharp));
    }
    let source = "lemma 1 of the paper";
    let most = ratios.iter().map(|r| r.0).fold(0.0, f64::max);
    figure.check(Check::below("velocity of the ball: largest error over the bound", most, 1.0 + 1e-9, source));
    let least = ratios.iter().map(|r| r.1).fold(f64::INFINITY, f64::min);
    figure.check(Check::near("example of the proof: error over the bound, least over θ", least, (1.0, 1e-12), source));
    let line = |name: &str, y: Vec<f64>| Series::new(name, SeriesStyle::LinesAndMarkers, thetas.clone(), y);
    let chart = Chart::new("error of the θ-rule over C(θ) h var(f)", "θ", "error over the bound");
    figure.chart(
        chart
            .with(line("velocity of the ball, largest", ratios.iter().map(|r| r.0).collect()))
            .with(line("example of the proof", ratios.iter().map(|r| r.1).collect())),
    );
    figure.table("Error over the bound", &["", "velocity of the ball", "example of the proof"], rows);
    Ok(figure)
}

/// Propositions 1 to 3: orders of errors of one step.
pub fn propositions(effort: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure::default();
    let finest = if effort == Effort::Quick { 7 } else { 10 };
    let steps: Vec<f64> = (3..=finest).map(|k| 0.5f64.powi(k)).collect();
    // the first impact anywhere in the step but near its ends, where the forecast with γ = 1 may miss it
    let places: Vec<f64> = (1..=17).map(|k| 0.05 * f64::from(k)).collect();
    let worst = |forecast: Forecast, k: usize| -> Result<Vec<f64>, Trouble> {
        let over = |h: &f64| {
            let errors = places.iter().map(|sigma| Ok(local_error(0.5, forecast, 1.0 - sigma * h, *h)?[k].abs()));
            errors.collect::<Result<Vec<f64>, Trouble>>().map(|all| all.into_iter().fold(0.0, f64::max))
        };
        steps.iter().map(over).collect()
    };
    let cases = [
        ("impact overlooked: e_v", worst(OVERLOOKS, 0)?, 0.0, "propositions 1 and 3.2: O(1)"),
        ("impact overlooked: e_q", worst(OVERLOOKS, 1)?, 1.0, "proposition 1: O(h)"),
        ("impact forecast: e_v", worst(SEES, 0)?, 1.0, "proposition 3.1: O(h)"),
        ("impact forecast: e_q", worst(SEES, 1)?, 1.0, "proposition 1: O(h)"),
    ];
    let mut chart = Chart::new("largest error of a step with an impact", "h [s]", "error").log_log();
    for (k, (name, errors, order, source)) in cases.into_iter().enumerate() {
        let slope = log_log_slope(&steps, &errors).map_err(|e| Trouble(e.to_string()))?.slope;
        figure.check(Check::near(format!("{name}: order"), slope, (order, 0.1), source));
        chart = chart.with(Series::new(name, SeriesStyle::LinesAndMarkers, steps.clone(), errors).coloured(k));
    }
    figure.chart(chart);
    // coarse steps are not yet in the range of the order
    let steps: Vec<f64> = (7..=finest + 4).map(|k| 0.5f64.powi(k)).collect();
    let mut chart = Chart::new("error of a step in persistent contact", "h [s]", "error").log_log();
    for theta in [0.5, 1.0] {
        for (k, name) in ["e_v", "e_q"].into_iter().enumerate() {
            let errors = steps.iter().map(|h| Ok(persistent(theta, *h)?[k])).collect::<Result<Vec<f64>, Trouble>>()?;
            let slope = log_log_slope(&steps, &errors).map_err(|e| Trouble(e.to_string()))?.slope;
            let what = format!("persistent contact, θ = {theta}: order of {name}");
            figure.check(Check::between(what, slope, (1.9, f64::INFINITY), "proposition 2: O(h²)"));
            let first = errors.first().copied().unwrap_or(f64::NAN);
            if theta == 1.0 && k == 0 {
                chart = chart.with(line("slope 2", &steps, first, 2.0));
            }
            let name = format!("θ = {theta}, {name}");
            chart = chart.with(Series::new(name, SeriesStyle::LinesAndMarkers, steps.clone(), errors));
        }
    }
    figure.chart(chart);
    Ok(figure)
}

/// A bead in a bowl, that touches all the time.
const BEAD: &str = "version = 1
name = \"bead in a bowl\"
initial = { x = 0.3, z = 0.09, \"x'\" = 1.0, \"z'\" = 0.6 }
simulation = { end = 1.0, step = 1.0 }
[model]
kind = \"lagrangian\"
coordinates = [\"z\", \"x\"]
kinetic = \"(z'^2 + x'^2)/2\"
potential = \"9.81*z\"
[[contact]]
name = \"bowl\"
gap = \"z - x^2\"
";

/// Errors of velocities and positions of one step in persistent contact.
fn persistent(theta: f64, h: f64) -> Result<[f64; 2], Trouble> {
    let run = |scheme: Choice| -> Result<Trace, Trouble> {
        let change = crate::trace::Change { step: Some(h), end: Some(h), ..crate::trace::Change::scheme(&scheme) };
        let scene = carom_scene::from_str("bead.toml", BEAD, &overrides(&change));
        let scene = scene.map_err(|all| Trouble(all.iter().map(ToString::to_string).collect()))?;
        Trace::of(&scene, &["v.z", "v.x", "q.z", "q.x"])
    };
    let exact = run(Choice::scheme(&EventDriven { atol: Some(1e-13), rtol: 0.0, ..EventDriven::default() }))?;
    let found = run(Choice::scheme(&MoreauJean { theta, forecast: OVERLOOKS, ..MoreauJean::default() }))?;
    let last = |run: &Trace, k: usize| run.column(k).last().copied().unwrap_or(f64::NAN);
    let error = |k: usize| (last(&found, k) - last(&exact, k)).abs();
    Ok([error(0).max(error(1)), error(2).max(error(3))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impacts_of_the_ball_are_those_of_the_testbed() {
        let known: Vec<f64> = BouncingBall::default().impacts(2.99).map(|impact| impact.time).collect();
        for (t, (own, _)) in known.iter().zip(jumps()) {
            assert!((t - own).abs() < 1e-14, "{t} {own}");
        }
        assert!(known.len() > 5);
    }
}
