//! The slider-crank with play in the pin between crank and rod, too: bodies and joints in the plane.

use super::{PLAY_TREND, SPEC};
use crate::trace::{Change, Trace, trace};
use crate::{Check, Effort, Figure, Trouble};
use carom::elementary::{cos, sin, sin_cos};
use carom::scheme::{CombinedProjection, Forecast, MoreauJean, ReactionDirection};
use carom::testbed::multibody::SliderCrank;
use carom_analysis::report::{Chart, Series};
use carom_scene::scene::Choice;

/// Step of the figures [s].
const STEP: f64 = 1e-5;

const CLOSED_FORM: &str = "closed form of the first impact";

const COLUMNS: [&str; 14] = [
    "output.revolutions",
    "q.slider.x",
    "q.slider.y",
    "v.crank.angle",
    "v.rod.angle",
    "v.slider.x",
    "gap.pin.pin",
    "impulse.pin.pin",
    "energy.total",
    "q.crank.angle",
    "q.crank.x",
    "q.crank.y",
    "q.rod.x",
    "q.rod.y",
];
const ROD_ANGLE: &str = "q.rod.angle";

/// A run over two revolutions.
struct Run {
    trace: Trace,
    play: f64,
    /// Row at the end of the step with the first impulse of the pin.
    first: usize,
}

/// Reactions at mid-step: at the end of it joints lose energy.
fn plain() -> Choice {
    Choice::scheme(&MoreauJean { forecast: Forecast::Explicit { gamma: 0.0 }, ..MoreauJean::default() })
}

fn projected() -> Choice {
    Choice::scheme(&CombinedProjection { newton_tolerance: 1e-8, ..CombinedProjection::default() })
}

impl Run {
    fn new(scheme: &Choice, play: f64, h: f64) -> Result<Run, Trouble> {
        let change = Change { set: &[("play", play)], step: Some(h), end: Some(0.18), ..Change::scheme(scheme) };
        let names: Vec<&str> = COLUMNS.into_iter().chain([ROD_ANGLE]).collect();
        let trace = trace("slider-crank-play", &change, &names)?;
        let first = trace.column(7).iter().position(|p| *p > 0.0);
        let first = first.filter(|k| *k > 0).ok_or_else(|| Trouble("the pin never touches its hole".into()))?;
        Ok(Run { trace, play, first })
    }

    fn column(&self, name: &str) -> &[f64] {
        let at = COLUMNS.iter().position(|known| *known == name).unwrap_or(COLUMNS.len());
        self.trace.column(at)
    }

    fn last(&self, name: &str) -> f64 {
        self.column(name).last().copied().unwrap_or(f64::NAN)
    }

    fn last_time(&self) -> f64 {
        self.trace.t.last().copied().unwrap_or(f64::NAN)
    }

    /// Deepest penetration of the pin [m].
    fn penetration(&self) -> f64 {
        self.column("gap.pin.pin").iter().fold(0.0, |m, gap| m.max(-gap))
    }

    /// Part of the steps in which the pin presses on its hole.
    fn share(&self) -> f64 {
        let impulses = &self.column("impulse.pin.pin")[1..];
        impulses.iter().filter(|p| **p > 0.0).count() as f64 / impulses.len() as f64
    }

    /// Largest gap of the pin after its first impact [m].
    fn reopened(&self) -> f64 {
        self.column("gap.pin.pin")[self.first..].iter().fold(f64::NEG_INFINITY, |m, gap| m.max(*gap))
    }

    /// Turns of the speed of the crank by more than 1 rad/s, after the first tenth of a revolution.
    fn swings(&self) -> f64 {
        let from = self.column("output.revolutions").iter().position(|r| *r > 0.1).unwrap_or(0);
        turning_points(&self.column("v.crank.angle")[from..], 1.0)
    }

    /// Largest distance of the slider from where an ideal mechanism has it at the same angle of the crank [m].
    fn deviation(&self) -> f64 {
        let (l1, l2) = (SliderCrank::CRANK, SliderCrank::ROD);
        let nominal = |a: f64| l1 * cos(a) + (l2 * l2 - (l1 * sin(a)).powi(2)).sqrt();
        let pairs = self.column("q.crank.angle").iter().zip(self.column("q.slider.x"));
        pairs.fold(0.0, |m, (a, x)| m.max((x - nominal(*a)).abs()))
    }

    /// Centre of the pin in the hole, in axes of the crank [m].
    fn orbit(&self) -> (Vec<f64>, Vec<f64>) {
        let column = |name| self.column(name).iter();
        let crank = column("q.crank.angle").zip(column("q.crank.x").zip(column("q.crank.y")));
        let rod = column(ROD_ANGLE).zip(column("q.rod.x").zip(column("q.rod.y")));
        crank
            .zip(rod)
            .map(|((a, (x, y)), (b, (u, w)))| {
                let (half1, half2) = (0.5 * SliderCrank::CRANK, 0.5 * SliderCrank::ROD);
                let ((s, c), (sine, cosine)) = (sin_cos(*a), sin_cos(*b));
                let off = [u - half2 * cosine - x - half1 * c, w - half2 * sine - y - half1 * s];
                (off[0] * c + off[1] * s, off[1] * c - off[0] * s)
            })
            .unzip()
    }
}

/// Number of times at which a curve turns back by more than `size`.
fn turning_points(curve: &[f64], size: f64) -> f64 {
    let (mut count, mut direction) = (0.0, 0.0);
    let start = curve.first().copied().unwrap_or(0.0);
    let (mut low, mut high, mut extreme) = (start, start, start);
    for &x in curve {
        if direction == 0.0 {
            (low, high) = (low.min(x), high.max(x));
            direction = if x > low + size {
                1.0
            } else if x < high - size {
                -1.0
            } else {
                0.0
            };
            extreme = x;
        } else if direction * (x - extreme) > 0.0 {
            extreme = x;
        } else if direction * (extreme - x) > size {
            (direction, extreme) = (-direction, x);
            count += 1.0;
        }
    }
    count
}

/// Charts of the figure: motion, speeds, force and orbit of the pin.
fn draw(figure: &mut Figure, runs: &[(&str, &Run)]) {
    let curves = [
        ("slider, x", "x [m]", "q.slider.x"),
        ("slider, y", "y [m]", "q.slider.y"),
        ("speed of the crank", "ω [rad/s]", "v.crank.angle"),
        ("speed of the rod", "ω [rad/s]", "v.rod.angle"),
        ("speed of the slider", "x' [m/s]", "v.slider.x"),
        ("gap of the pin", "g [m]", "gap.pin.pin"),
        ("impulse of the pin", "P [N s]", "impulse.pin.pin"),
    ];
    for (title, label, column) in curves {
        let mut chart = Chart::new(title, "crank revolutions", label);
        for (name, run) in runs {
            let x = run.column("output.revolutions").to_vec();
            chart = chart.with(Series::lines(*name, x, run.column(column).to_vec()));
        }
        figure.chart(chart);
    }
    for (name, run) in runs {
        let (x, y) = run.orbit();
        let circle = |k: usize| sin_cos(std::f64::consts::TAU * k as f64 / 96.0);
        let edge = (0..=96).map(|k| (run.play * circle(k).1, run.play * circle(k).0)).unzip();
        let title = format!("pin in its hole, axes of the crank: {name}");
        let chart = Chart { equal_axes: true, ..Chart::new(title, "along the crank [m]", "across [m]") };
        let chart = chart.with(Series::lines("centre of the pin", x, y));
        figure.chart(chart.with(Series::lines("edge of the play", edge.0, edge.1)));
    }
}

/// Before and after the first impact, by the closed form: crank a pendulum, rod and slider a free body, no restitution.
fn check_first_impact(figure: &mut Figure, run: &Run, (t, crank, rod): (f64, f64, f64), tolerance: f64) {
    let (before, h) = (run.first - 1, STEP);
    let spread = |name: &str, v: f64| run.column(name)[..=before].iter().fold(0.0f64, |m, w| m.max((w - v).abs()));
    figure.check(Check::near("first impact of the pin [s]", run.trace.t[run.first], (t, 2.0 * h), CLOSED_FORM));
    let source = "stated in the paper: constant; closed form of the free body";
    figure.check(Check::below(
        "change of the rod's speed before it [rad/s]",
        spread("v.rod.angle", -75.0),
        1e-8,
        source,
    ));
    // m g l / 2 over the inertia about the support: the angle of the crank is small
    let (m, l) = (SliderCrank::MASSES[0], SliderCrank::CRANK);
    let fall = 0.5 * m * 9.81 * l / (SliderCrank::INERTIAS[0] + 0.25 * m * l * l) * run.trace.t[before];
    let source = "stated in the paper: constant; gravity on the crank alone, closed form";
    let measured = spread("v.crank.angle", 150.0);
    figure.check(Check::near("change of the crank's speed before it [rad/s]", measured, (fall, 0.02 * fall), source));
    let after = |name: &str| run.column(name)[run.first];
    figure.check(Check::near("crank after it [rad/s]", after("v.crank.angle"), (crank, tolerance), CLOSED_FORM));
    figure.check(Check::near("rod after it [rad/s]", after("v.rod.angle"), (rod, tolerance), CLOSED_FORM));
}

/// The closed form for a play of 0.5 mm, with the error of the step.
const SMALL: ((f64, f64, f64), f64) = ((4.52917e-4, 141.87623, -73.02447), 0.4);
/// That for 5 mm.
const LARGE: ((f64, f64, f64), f64) = ((1.433966e-3, 102.30584, -55.74135), 0.4);

/// Turns of the speed of the crank with an ideal pin, in two revolutions.
fn ideal_swings() -> Result<f64, Trouble> {
    let change = Change { step: Some(STEP), ..Change::scheme(&plain()) };
    let run = trace("slider-crank", &change, &["output.revolutions", "v.th1"])?;
    let from = run.column(0).iter().position(|r| *r > 0.1).unwrap_or(0);
    Ok(turning_points(&run.column(1)[from..], 1.0))
}

/// A higher frequency rides on the motion with an ideal pin.
fn check_swings(figure: &mut Figure, run: &Run, times: f64) -> Result<(), Trouble> {
    let source = "stated in the paper: a higher frequency around the periodic motion";
    let ratio = run.swings() / ideal_swings()?;
    let what = "turns of the crank's speed, over those with an ideal pin";
    figure.check(Check::between(what, ratio, (times, f64::INFINITY), source));
    Ok(())
}

/// Figure 28: Moreau-Jean, play 0.5 mm.
pub fn moreau_jean(effort: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure {
        contradicted: Some(
            "the pin is not lost before the end of the second revolution: with exact circles Moreau-Jean at h = \
             1e-5 s penetrates by 2.7e-5 m, 5 % of the play, its normal stays defined, the gap does not open \
             again after the first impact and the motion stays beside that of the combined projection. What fails \
             in the report is the distance of its CAD library, as it says itself. All else is met: constant \
             speeds up to the first impact, then a higher frequency",
        ),
        ..Figure::default()
    };
    let (run, other) = (Run::new(&plain(), 5e-4, STEP)?, Run::new(&projected(), 5e-4, STEP)?);
    draw(&mut figure, &[("Moreau-Jean", &run), ("combined projection", &other)]);
    check_first_impact(&mut figure, &run, SMALL.0, SMALL.1);
    check_swings(&mut figure, &run, 3.0)?;
    figure.check(Check::near("steps with the pin in contact", run.share(), (0.997, 0.002), SPEC));
    figure.check(Check::near("deepest penetration of the pin [m]", run.penetration(), (2.70e-5, 3e-6), SPEC));
    figure.check(Check::below("largest gap of the pin after its first impact [m]", run.reopened(), 1e-6, SPEC));
    figure.check(Check::near("two revolutions at t [s]", run.last_time(), (0.14105, 4e-4), SPEC));
    figure.check(Check::near("energy there [J]", run.last("energy.total"), (6.770, 0.03), SPEC));
    let published = Run::new(&super::moreau_jean(ReactionDirection::End), 5e-4, STEP)?;
    let what = "reactions at the end of steps, as published: largest gap of the pin after its first impact [m]";
    figure.check(Check::below(what, published.reopened(), 1e-6, SPEC));
    if effort == Effort::Full {
        let fine = Run::new(&plain(), 5e-4, 0.1 * STEP)?;
        let ratio = run.penetration() / fine.penetration();
        let source = "stated in the paper: a smaller step limits the violation";
        figure.check(Check::between("penetration over that at h = 1e-6 s", ratio, (6.0, f64::INFINITY), source));
        figure.check(Check::near("h = 1e-6 s: energy [J]", fine.last("energy.total"), (6.770, 0.01), SPEC));
    }
    Ok(figure)
}

/// Figure 29: combined projection, play 0.5 mm.
pub fn combined(_: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure { trend: Some(PLAY_TREND), ..Figure::default() };
    let run = Run::new(&projected(), 5e-4, STEP)?;
    draw(&mut figure, &[("combined projection", &run)]);
    check_first_impact(&mut figure, &run, SMALL.0, SMALL.1);
    check_swings(&mut figure, &run, 3.0)?;
    figure.check(Check::near("steps with the pin in contact", run.share(), (0.997, 0.002), SPEC));
    figure.check(Check::below(
        "deepest penetration of the pin [m]",
        run.penetration(),
        1e-10,
        "tolerance of the paper",
    ));
    figure.check(Check::below("largest gap of the pin after its first impact [m]", run.reopened(), 1e-6, SPEC));
    figure.check(Check::near("two revolutions at t [s]", run.last_time(), (0.14107, 1e-4), SPEC));
    figure.check(Check::near("energy there [J]", run.last("energy.total"), (6.768, 0.01), SPEC));
    Ok(figure)
}

/// Figure 30: combined projection, play 5 mm.
pub fn combined_loose(_: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure { trend: Some(PLAY_TREND), ..Figure::default() };
    let (run, tight) = (Run::new(&projected(), 5e-3, STEP)?, Run::new(&projected(), 5e-4, STEP)?);
    let plain = Run::new(&plain(), 5e-3, STEP)?;
    draw(&mut figure, &[("combined projection", &run), ("Moreau-Jean", &plain)]);
    check_first_impact(&mut figure, &run, LARGE.0, LARGE.1);
    check_swings(&mut figure, &run, 2.0)?;
    let source = "stated in the paper: larger oscillations around the nominal motion";
    let (loose, tight) = (run.deviation(), tight.deviation());
    figure.check(Check::between(
        "slider from its nominal place, over that of 0.5 mm",
        loose / tight,
        (2.0, 10.0),
        source,
    ));
    for (what, measured, play) in [("play 5 mm", loose, 5e-3), ("play 0.5 mm", tight, 5e-4)] {
        let what = format!("{what}: slider from its nominal place [m]");
        figure.check(Check::between(what, measured, (play, reach(play)), "kinematics: play of pin and guide"));
    }
    figure.check(Check::near("steps with the pin in contact", run.share(), (0.991, 0.002), SPEC));
    figure.check(Check::below(
        "deepest penetration of the pin [m]",
        run.penetration(),
        1e-10,
        "tolerance of the paper",
    ));
    let what = "Moreau-Jean: deepest penetration of the pin [m]";
    figure.check(Check::near(what, plain.penetration(), (7.7e-5, 5e-6), SPEC));
    let source = "independent implementation, reactions of contacts at the end of steps, which lose up to 0.07 J";
    figure.check(Check::near("two revolutions at t [s]", run.last_time(), (0.16560, 6e-4), source));
    figure.check(Check::near("energy there [J]", run.last("energy.total"), (5.129, 0.07), source));
    Ok(figure)
}

/// Farthest that the slider can be from its nominal place: the play along it, and that across it by the steepest rod.
fn reach(play: f64) -> f64 {
    let (l1, l2) = (SliderCrank::CRANK, SliderCrank::ROD);
    let across = play + SliderCrank::GUIDE;
    let steepest = (l1 + across) / (l2 * l2 - (l1 + across).powi(2)).sqrt();
    play + across * steepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_of_a_curve_are_counted_by_their_size() {
        let curve: Vec<f64> =
            (0..1000).map(|k| (0.01 * f64::from(k)).sin() + 0.1 * (0.2 * f64::from(k)).sin()).collect();
        // 10 rad: maxima and minima at 1.6, 4.7, 7.9
        assert_eq!(turning_points(&curve, 0.5), 3.0);
        assert!(turning_points(&curve, 0.05) > 20.0);
        assert_eq!(turning_points(&[], 1.0), 0.0);
    }
}
