//! The table of the paper on documented sets of parameters, and why the initial scheme fails.

use super::{INITIAL, schemes};
use crate::trace::{Change, scene};
use crate::{Check, Effort, Figure, Trouble};
use carom::elementary::{hypot, ln};
use carom::scheme::EventDriven;
use carom::scheme::event_driven::Flow;
use carom::testbed::ImpactOscillator;
use carom_analysis::report::{Block, Chart, Series, SeriesStyle};
use carom_analysis::study::StudyError;
use carom_analysis::study::lyapunov::{Options, perturbation};
use carom_analysis::study::saltation::saltation;
use carom_scene::scene::Choice;

const UNKNOWN: &str =
    "the paper does not state α, a, ω, u_min and e of its table: the methods are compared on documented sets instead";

/// Chaos with one impact per period, without grazing or rest.
const SET_A: ImpactOscillator =
    ImpactOscillator { damping: 0.05, amplitude: 1.0, frequency: 2.8, wall: 0.0, restitution: 0.7, q0: 0.5, v0: 0.0 };

/// Slow forcing, some 27 impacts per period.
const SET_E: ImpactOscillator =
    ImpactOscillator { damping: 0.01, amplitude: 1.0, frequency: 0.25, wall: 0.5, restitution: 0.95, q0: 0.7, v0: 0.0 };

/// Steps per period, as in the paper.
const STEPS: f64 = 2513.0;

/// Both exponents per unit time.
fn by_scheme(p: &ImpactOscillator, scheme: &Choice, epsilon: f64, intervals: usize) -> Result<(f64, f64), Trouble> {
    let step = p.period() / STEPS;
    let set = [("al", p.damping), ("om", p.frequency), ("um", p.wall), ("e", p.restitution), ("u0", p.q0)];
    let scene = scene("chaotic-oscillator", &Change { set: &set, step: Some(step), ..Change::scheme(scheme) })?;
    let make = || scene.stepper().map_err(|e| StudyError::Build(e.to_string()));
    let options = Options { epsilon, interval: p.period(), transient: 300, intervals, batches: 10, step, count: None };
    let spectrum = perturbation(&make, &options, &|| false).map_err(|e| Trouble(format!("{}: {e}", scheme.name)))?;
    Ok((spectrum.exponents[0].value, spectrum.exponents[1].value))
}

/// Both exponents per unit time by variational flow and saltation matrices, and how far the sum is from the trace
/// identity.
fn by_saltation(p: &ImpactOscillator, intervals: usize) -> Result<(f64, f64, f64), Trouble> {
    let set = [("al", p.damping), ("om", p.frequency), ("um", p.wall), ("e", p.restitution), ("u0", p.q0)];
    let events = EventDriven { flow: Flow::Rkf45, atol: Some(1e-8), rtol: 1e-8, ..EventDriven::default() };
    let change = Change { set: &set, ..Change::scheme(&Choice::scheme(&events)) };
    let scene = scene("chaotic-oscillator", &change)?;
    let mut motion = scene.sensitivity(&[]).map_err(|e| Trouble(e.to_string()))?;
    let interval = p.period();
    let options =
        Options { epsilon: 1e-7, interval, transient: 300, intervals, batches: 10, step: interval, count: None };
    let spectrum =
        saltation(&mut motion, &options, |_| p.restitution, &|| false).map_err(|e| Trouble(e.to_string()))?;
    let miss = spectrum.trace.map_or(f64::NAN, |trace| spectrum.sum() - trace);
    Ok((spectrum.exponents[0].value, spectrum.exponents[1].value, miss))
}

/// Both exponents per unit time by exact events and perturbation, the method I.D.P. of the paper.
fn by_events(p: &ImpactOscillator, epsilon: f64, intervals: usize) -> (f64, f64) {
    let period = p.period();
    let mut motion = p.motion();
    motion.advance(300.0 * period);
    let (mut first, mut sums) = ((1.0f64, 0.0f64), (0.0, 0.0));
    for k in 0..intervals {
        let (from, end) = (motion, (301 + k) as f64 * period);
        motion.advance(end);
        // the second direction is the first turned by +90 degrees; a neighbour behind the wall is put on the other side
        let difference = |direction: (f64, f64)| {
            let side = if from.u + epsilon * direction.0 < p.wall { -epsilon } else { epsilon };
            let mut other = p.motion_from(from.t, from.u + side * direction.0, from.v + side * direction.1);
            other.advance(end);
            ((other.u - motion.u) / side, (other.v - motion.v) / side)
        };
        let (d1, d2) = (difference(first), difference((-first.1, first.0)));
        let r1 = hypot(d1.0, d1.1);
        first = (d1.0 / r1, d1.1 / r1);
        let r2 = (first.0 * d2.1 - first.1 * d2.0).abs();
        sums = (sums.0 + ln(r1), sums.1 + ln(r2));
    }
    let time = intervals as f64 * period;
    (sums.0 / time, sums.1 / time)
}

pub fn table(effort: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure { trend: Some(UNKNOWN), ..Figure::default() };
    let intervals = if effort == Effort::Quick { 150 } else { 3000 };
    // the standard deviation of the first exponent is 0.0035 for 3000 periods
    let band = 4.0 * 0.0035 * (3000.0 / intervals as f64).sqrt();
    let h = SET_A.period() / STEPS;
    let source = "exact events with saltation: 16 runs of 20000 periods";
    let (long, narrow) = if effort == Effort::Quick { (3000, 4.0 * 0.0035) } else { (20_000, 0.005) };
    let (first, second, miss) = by_saltation(&SET_A, long)?;
    let mut rows = vec![(format!("saltation, {long} periods"), vec![first, second, first + second])];
    figure.check(Check::near("set A, saltation: λ1", first, (0.1648, narrow), source));
    figure.check(Check::near("set A, saltation: λ2", second, (-0.5827, narrow), source));
    figure.check(Check::near("set A, saltation: sum against the trace identity", miss, (0.0, 1e-10), "trace identity"));
    for (name, epsilon) in [("ε = 1e-7", 1e-7), ("ε = h", h)] {
        let exact = by_events(&SET_A, epsilon, intervals);
        rows.push((format!("exact events, {name}"), vec![exact.0, exact.1, exact.0 + exact.1]));
        if epsilon < h {
            figure.check(Check::near("set A, exact events: λ1", exact.0, (0.1648, band), source));
            figure.check(Check::near("set A, exact events: sum", exact.0 + exact.1, (-0.4179, 0.01), "trace identity"));
        }
        for (scheme, label) in &schemes() {
            let (first, second) = by_scheme(&SET_A, scheme, epsilon, intervals)?;
            rows.push((format!("{label}, {name}"), vec![first, second, first + second]));
            if epsilon >= h {
                continue;
            }
            if *label == INITIAL {
                let what = "set A, initial scheme: λ1, declared stable";
                figure.check(Check::between(what, first, (-0.214, -0.189), "tangent −e I of its impacts"));
            } else {
                figure.check(Check::near(format!("set A, {label}: λ1"), first, (0.1648, band), source));
                figure.check(Check::near(
                    format!("set A, {label}: sum"),
                    first + second,
                    (-0.4179, 0.01),
                    "trace identity",
                ));
            }
        }
    }
    figure.data.push(exponents("set A", &rows));
    figure.table("Set A (α = 0.05, ω = 2.8, u_min = 0, e = 0.7), per unit time", &["method", "λ1", "λ2", "sum"], rows);
    if effort == Effort::Full {
        set_e(&mut figure)?;
    }
    figure.blocks.push(Block::Paragraph(
        "The sum of the exponents is −2α + 2 ln(e) times the impacts per unit time, −0.4179 for set A, whatever the \
         motion. The sums of the paper's three methods, −12.00, −13.96 and −9.49, differ by up to a third: accurate \
         methods on one attractor cannot. A perturbation as large as the step, as in the paper, does the same here: \
         even with exact events λ2 is off by 15 %. 3000 periods leave a standard deviation of 2 % on λ1: the third \
         decimal of the paper's table is not significant. Its size, 3 and −15, fits exponents per period of a slow \
         forcing (ω near 1/4) and not exponents per unit time; no unique set of parameters was found. What the paper \
         concludes is confirmed: the corrected scheme gives the exponents, the initial one does not."
            .into(),
    ));
    let printed = [("I.D.P.", 3.057, -15.061), ("C.N.S.P.", 2.486, -16.448), ("I.N.S.P.", 0.623, -10.116)];
    let rows: Vec<_> = printed.iter().map(|(name, a, b)| ((*name).to_owned(), vec![*a, *b, a + b])).collect();
    let sums = rows.iter().map(|row| row.1[2]);
    let (least, most) = sums.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    let source = "arithmetic on the paper's table; accurate methods on one attractor agree";
    figure.check(Check::between("printed table: range of the sums of the exponents", most - least, (4.0, 5.0), source));
    figure.data.push(exponents("paper", &rows));
    figure.table("The paper's table, in a unit that it does not tell", &["method", "λ1", "λ2", "sum"], rows);
    Ok(figure)
}

/// Rows of exponents as data.
fn exponents(name: &str, rows: &[(String, Vec<f64>)]) -> crate::Data {
    let names = ["lambda 1", "lambda 2", "sum"];
    let count = rows.first().map_or(0, |row| row.1.len());
    let header = names[..count].iter().map(|name| (*name).to_owned()).collect();
    crate::Data { name: name.into(), header, rows: rows.iter().map(|row| row.1.clone()).collect() }
}

/// A set with slow forcing, whose exponents per period are of the size of the paper's.
fn set_e(figure: &mut Figure) -> Result<(), Trouble> {
    let period = SET_E.period();
    let exact = by_events(&SET_E, 1e-7, 1500);
    let (first, second, miss) = by_saltation(&SET_E, 3000)?;
    let mut rows = vec![
        ("saltation, 3000 periods".to_owned(), vec![period * first, period * second]),
        ("exact events".to_owned(), vec![period * exact.0, period * exact.1]),
    ];
    figure.check(Check::near("set E, saltation: sum against the trace identity", miss, (0.0, 1e-10), "trace identity"));
    for (scheme, label) in &schemes() {
        let (first, second) = by_scheme(&SET_E, scheme, 1e-7, 400)?;
        rows.push(((*label).to_owned(), vec![period * first, period * second]));
    }
    let source = "exact events with saltation, 2.7846 ± 0.0024 by long runs of an independent implementation";
    // the sum is that of the trace identity, and much sharper than either of them
    figure.check(Check::near("set E, saltation: λ1 per period", period * first, (2.7846, 0.06), source));
    figure.check(Check::near("set E, saltation: sum per period", period * (first + second), (-3.2312, 0.03), source));
    figure.check(Check::near("set E, exact events: λ1 per period", period * exact.0, (2.7846, 0.1), source));
    figure.check(Check::near("set E, exact events: λ2 per period", period * exact.1, (-6.0158, 0.15), source));
    let title = "Set E (α = 0.01, ω = 1/4, u_min = 0.5, e = 0.95), per period, ε = 1e-7";
    figure.data.push(exponents("set E", &rows));
    figure.table(title, &["method", "λ1", "λ2"], rows);
    Ok(())
}

/// λ1 of the initial scheme over the size of the perturbation.
pub fn failure(effort: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure { trend: Some(UNKNOWN), ..Figure::default() };
    let intervals = if effort == Effort::Quick { 80 } else { 1000 };
    // the standard deviation of the first exponent is 0.0035 for 3000 periods
    let band = 4.0 * 0.0035 * (3000.0 / intervals as f64).sqrt();
    let h = SET_A.period() / STEPS;
    let ratios: &[f64] =
        if effort == Effort::Quick { &[1e-3, 0.3] } else { &[1e-4, 1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0] };
    let mut chart = Chart::new("Exponents over the perturbation, set A", "ε/h", "exponent per unit time [1/s]");
    chart.log_x = true;
    let [_, (corrected, _), (initial, name)] = schemes();
    for (k, (scheme, label)) in [(initial, name), (corrected, "corrected")].into_iter().enumerate() {
        let mut curves = (Vec::new(), Vec::new());
        for ratio in ratios {
            let (first, second) = by_scheme(&SET_A, &scheme, ratio * h, intervals)?;
            curves.0.push(first);
            curves.1.push(second);
            let what = |of: &str| format!("{of} of the {label} scheme, ε = {ratio:e} h");
            if label == INITIAL {
                // larger perturbations give numbers that depend on the start
                if *ratio <= 1e-3 {
                    let source = "−α + ln(e) per period; deviations are upward";
                    figure.check(Check::between(what("λ1"), first, (-0.214, -0.189), source));
                    figure.check(Check::between(what("λ2"), second, (-0.221, -0.196), source));
                }
            } else if *ratio <= 0.1 {
                let source = "exact events with saltation: 16 runs of 20000 periods";
                figure.check(Check::near(what("λ1"), first, (0.1648, band), source));
                figure.check(Check::near(what("sum"), first + second, (-0.4179, 0.02), "trace identity"));
            }
        }
        for (name, values) in [("λ1", curves.0), ("λ2", curves.1)] {
            let series = Series::new(format!("{label}, {name}"), SeriesStyle::LinesAndMarkers, ratios.to_vec(), values);
            chart = chart.with(series.coloured(k));
        }
    }
    figure.chart(chart);
    figure.blocks.push(Block::Paragraph(
        "Impacts of the initial scheme happen on grid points. Neighbours that are much closer than h |v⁻| strike in \
         the same step, and what makes trajectories part, the difference of their impact times times the force, is \
         lost: the tangent of an impact is −e I instead of the saltation matrix with its entry (1 + e) F/v⁻. Both \
         exponents then are −α + ln(e) times the impacts per unit time, −0.209 for set A: a chaotic motion is \
         declared stable. For larger perturbations the result depends on ε/h, and no ε gives both exponents. The \
         agreement of λ1 with the reference near ε = h, the paper's choice, is accidental."
            .into(),
    ));
    Ok(figure)
}
