//! `carom lyapunov`: exponents with error bars, convergence and the trace identity.

use super::arguments::{ExponentMethod, LyapunovArguments};
use super::{
    Setting, evaluate, failed, load_equal_steps, load_event_driven, period, prepare, sensitivity, write_report,
    write_text,
};
use crate::console::say;
use crate::failure::Failure;
use crate::list::plain_table;
use crate::progress::interrupted;
use carom::scheme::{CorrectedPaoli, Scheme};
use carom_analysis::report::{Callout, Cell, Chart, Dash, Report, Series, Table};
use carom_analysis::study::StudyError;
use carom_analysis::study::lyapunov::{Options, Spectrum, divergence, perturbation, trace};
use carom_analysis::study::saltation::saltation;
use carom_analysis::study::tangent::tangent;
use carom_scene::Scene;
use serde_json::json;
use std::fmt::Write;

/// Tolerance of the motion by saltation: the trace identity holds whatever it is, and the exponents have far larger statistical errors.
const TOLERANCE: f64 = 1e-7;

/// What was computed, and in which units it is told.
struct Computed<'a> {
    scene: &'a Scene,
    method: &'static str,
    options: Options,
    /// [s], where there is one.
    period: Option<f64>,
    spectrum: Spectrum,
}

pub fn lyapunov(arguments: &LyapunovArguments) -> Result<(), Failure> {
    let by_saltation = arguments.method == ExponentMethod::Saltation;
    let Setting { scene, folder } = match by_saltation {
        true => load_event_driven(&arguments.study, "lyapunov", TOLERANCE)?,
        false => load_equal_steps(&arguments.study, "lyapunov")?,
    };
    let period = match (&arguments.period, &arguments.interval) {
        (None, Some(_)) if scene.parameter("period").is_none() => None,
        (text, _) => Some(period(&scene, text.as_deref())?),
    };
    let interval = match &arguments.interval {
        Some(text) => evaluate(&scene, "--interval", text)?,
        None => period.unwrap_or(f64::NAN),
    };
    let options = Options {
        epsilon: arguments.eps,
        interval,
        transient: arguments.transient as usize,
        intervals: arguments.intervals as usize,
        batches: (arguments.batches as usize).min((arguments.intervals as usize).max(2)),
        step: scene.span.step,
        count: arguments.exponents.map(|n| n as usize),
    };
    options.check().map_err(failed)?;
    prepare(&folder, &["lyapunov.csv", "convergence.csv", "lyapunov.html"])?;
    let (spectrum, method) = match arguments.method {
        ExponentMethod::Saltation => (by_saltation_matrices(&scene, &options)?, "saltation matrices"),
        ExponentMethod::Perturbation => (by_perturbation(&scene, &options)?, "perturbation"),
        ExponentMethod::Tangent => (by_tangents_of_steps(&scene, &options)?, "tangents of steps"),
    };
    let computed = Computed { scene: &scene, method, options, period, spectrum };
    write_text(&folder.join("lyapunov.csv"), &computed.csv())?;
    write_text(&folder.join("convergence.csv"), &computed.curve_csv())?;
    write_report(&folder.join("lyapunov.html"), &computed.report())?;
    if arguments.study.json {
        say(serde_json::to_string_pretty(&computed.json()).unwrap_or_default())?;
    } else if !arguments.study.quiet {
        computed.print()?;
        say(format_args!(
            "table  {0}/lyapunov.csv\ncurve  {0}/convergence.csv\nreport {0}/lyapunov.html",
            folder.display()
        ))?;
    }
    Ok(())
}

fn by_perturbation(scene: &Scene, options: &Options) -> Result<Spectrum, Failure> {
    let make = || scene.stepper().map_err(|e| StudyError::Build(e.to_string()));
    Ok(with_trace(scene, perturbation(&make, options, &interrupted).map_err(failed)?))
}

fn by_tangents_of_steps(scene: &Scene, options: &Options) -> Result<Spectrum, Failure> {
    let run = scene.step_sensitivity(&[]);
    let mut run = run.map_err(|error| {
        Failure::usage(error.to_string(), "take one of these with --scheme, or another --method (docs/studies.md)")
    })?;
    Ok(with_trace(scene, tangent(&mut run, options, &interrupted).map_err(failed)?))
}

/// With the trace of the motion, where it is known from counts.
fn with_trace(scene: &Scene, mut spectrum: Spectrum) -> Spectrum {
    let full = spectrum.exponents.len() == 2 * scene.coordinates.len();
    // friction and bilateral laws have other volumes
    let plain = scene.laws.iter().all(|law| law.law.is_unilateral());
    if full
        && plain
        && let Ok(mut model) = scene.mechanical()
    {
        let restitution = |key: carom::Key| scene.law(key).map_or(f64::NAN, |law| law.restitution);
        spectrum.trace = divergence(&mut *model).map(|value| trace(&spectrum, value, restitution));
    }
    spectrum
}

fn by_saltation_matrices(scene: &Scene, options: &Options) -> Result<Spectrum, Failure> {
    let mut motion = sensitivity(scene, &[])?;
    let restitution = |key: carom::Key| scene.law(key).map_or(f64::NAN, |law| law.restitution);
    saltation(&mut motion, options, restitution, &interrupted).map_err(failed)
}

/// A number, or what a collapsed exponent is called.
fn shown(x: f64) -> String {
    if x == f64::NEG_INFINITY { "collapsed".into() } else { format!("{x:.6}") }
}

impl Computed<'_> {
    fn per_period(&self, x: f64) -> Option<f64> {
        self.period.map(|period| x * period)
    }

    fn csv(&self) -> String {
        let mut text = String::from("exponent,per_unit_time,standard_error,per_period,standard_error_per_period\n");
        for (k, e) in self.spectrum.exponents.iter().enumerate() {
            let period = self.period.unwrap_or(f64::NAN);
            let cells = [e.value, e.error, e.value * period, e.error * period].map(super::csv_number);
            let _ = writeln!(text, "{},{}", k + 1, cells.join(","));
        }
        text
    }

    fn curve_csv(&self) -> String {
        let mut text = String::from("t");
        (1..=self.spectrum.exponents.len()).for_each(|k| text.push_str(&format!(",exponent_{k}")));
        text.push('\n');
        for (t, values) in &self.spectrum.curve {
            let cells: Vec<String> = values.iter().map(|x| super::csv_number(*x)).collect();
            let _ = writeln!(text, "{t:?},{}", cells.join(","));
        }
        text
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "model": self.scene.name,
            "scheme": self.scene.scheme.table(),
            "method": self.method,
            "epsilon": (self.method == "perturbation").then_some(self.options.epsilon),
            "interval": self.options.interval,
            "period": self.period,
            "spectrum": self.spectrum,
            "sum": self.spectrum.sum(),
            "impacts_per_period": self.period.map(|p| self.spectrum.impacts as f64 * p / self.spectrum.time),
        })
    }

    /// Facts besides the exponents.
    fn facts(&self) -> Vec<(&'static str, String)> {
        let s = &self.spectrum;
        let mut facts = vec![("scheme", self.scene.scheme.describe())];
        if self.method != "saltation matrices" {
            facts.push(("step", format!("{} s", self.options.step)));
        }
        if self.method == "tangents of steps" {
            facts.push(("exponents of", self.discrete().into()));
        }
        if self.method == "perturbation" {
            facts.push(("perturbation", format!("{:e}", self.options.epsilon)));
        }
        facts.extend([
            ("renormalised every", format!("{} s", self.options.interval)),
            ("intervals", format!("{} after {}", self.options.intervals, self.options.transient)),
            ("impacts", s.impacts.to_string()),
        ]);
        if let Some(period) = self.period {
            facts.push(("impacts per period", format!("{:.5}", s.impacts as f64 * period / s.time)));
        }
        if s.slowest.is_finite() {
            facts.push(("slowest impact", format!("{:.3e} m/s", s.slowest)));
        }
        facts.push(("contacts that came to rest", s.sticks.to_string()));
        facts.push(("sum of exponents", shown(s.sum())));
        if let Some(trace) = s.trace {
            facts.push(("trace identity", format!("{trace:.6}, difference {:.2e}", s.sum() - trace)));
        }
        facts
    }

    /// What the exponents of a discrete map have to do with those of the motion.
    fn discrete(&self) -> &'static str {
        match self.scene.scheme.name == CorrectedPaoli::INFO.name {
            true => "the discrete map, which solves for impact times: they tend to those of the motion with the step",
            false => {
                "the discrete map with each impact in the step where it is: impact times do not change, as they do in the motion"
            }
        }
    }

    /// What must not be overlooked.
    fn warnings(&self) -> Vec<String> {
        let s = &self.spectrum;
        let mut all = Vec::new();
        if s.sticks > 0 || s.collapsed > 0 {
            all.push(format!(
                "A contact came to rest {} time(s), and perturbations vanished in {} interval(s): the motion forgets its past there, the \
                 exponents are −∞ (superstable) or undefined. They are not averaged over.",
                s.sticks, s.collapsed
            ));
        }
        if s.slowest < 1e-9 {
            all.push(format!("The slowest impact has {:.1e} m/s: grazing, where derivatives are infinite.", s.slowest));
        }
        if let Some(trace) = s.trace.filter(|_| s.sticks == 0)
            && (s.sum() - trace).abs() > 0.02 * trace.abs().max(0.05)
        {
            all.push(format!(
                "The sum of the exponents, {:.4}, is not that of the trace identity, {trace:.4}: the scheme or the perturbation does not see \
                 the change of impact times. Perturbations must be small against the motion, and schemes must locate impacts.",
                s.sum()
            ));
        }
        all
    }

    fn print(&self) -> Result<(), Failure> {
        say(format_args!("{}: Lyapunov exponents by {}", self.scene.name, self.method))?;
        let mut table = plain_table();
        table.set_header(["", "per unit time", "±", "per period", "±"]);
        let number = |x: Option<f64>| x.map_or(String::new(), shown);
        for (k, e) in self.spectrum.exponents.iter().enumerate() {
            let cells = [Some(e.value), Some(e.error), self.per_period(e.value), self.per_period(e.error)];
            let cells = cells.map(|x| number(x.filter(|x| !x.is_nan())));
            table.add_row(std::iter::once(format!("λ{}", k + 1)).chain(cells));
        }
        say(table)?;
        for (name, value) in self.facts() {
            say(format_args!("{name}: {value}"))?;
        }
        self.warnings().iter().try_for_each(|warning| say(format_args!("warning: {warning}")))
    }

    fn report(&self) -> Report {
        let mut report = Report::new(format!("Lyapunov exponents: {}", self.scene.name));
        report.subtitle = self.scene.description.clone().unwrap_or_default();
        let section = report.section("Exponents");
        for warning in self.warnings() {
            section.callout(Callout::Warning, warning);
        }
        let header = ["exponent", "per unit time [1/s]", "standard error", "per period", "standard error per period"];
        let mut table = Table::new("Spectrum", header);
        let cell = |x: Option<f64>| match x.filter(|x| !x.is_nan()) {
            Some(x) if x.is_finite() => Cell::from(x),
            Some(_) => Cell::from("collapsed"),
            None => Cell::Empty,
        };
        for (k, e) in self.spectrum.exponents.iter().enumerate() {
            let first = Cell::from(format!("λ{}", k + 1));
            let values = [Some(e.value), Some(e.error), self.per_period(e.value), self.per_period(e.error)];
            table.row(std::iter::once(first).chain(values.map(cell)));
        }
        section.push(table);
        section.facts(self.facts());
        let mut chart = Chart::new("Running means", "t [s]", "exponent per unit time [1/s]");
        let times: Vec<f64> = self.spectrum.curve.iter().map(|(t, _)| *t).collect();
        for (k, e) in self.spectrum.exponents.iter().enumerate() {
            let values = self.spectrum.curve.iter().map(|(_, values)| values[k]).collect();
            chart = chart.with(Series::lines(format!("λ{}", k + 1), times.clone(), values).coloured(k));
            if let (Some(first), Some(last), true) = (times.first(), times.last(), e.value.is_finite()) {
                let level = Series::lines(format!("λ{} at the end", k + 1), vec![*first, *last], vec![e.value; 2]);
                chart = chart.with(level.dashed(Dash::Dot).coloured(k));
            }
        }
        report.section("Convergence").push(chart);
        report.section("Model file").preformatted(self.scene.name.clone(), self.scene.text());
        report
    }
}
