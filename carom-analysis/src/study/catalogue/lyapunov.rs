//! Lyapunov exponents with error bars, convergence and the trace identity.
//!
//! By saltation matrices (`study/saltation.rs`), by neighbours at a finite distance (`study/lyapunov.rs`), or by the
//! derivatives of the steps of a scheme (`study/tangent.rs`). The whole measurement is one unit.

use super::{document, period, time};
use crate::report::{Cell, Chart, Dash, Series};
use crate::study::document::{Column, Document, Format, Printed, Section, Table};
use crate::study::lyapunov::{Options as Measurement, Spectrum, divergence, perturbation, trace};
use crate::study::runner::{Outcome, Plan, Study, StudyInfo, Watch, only};
use crate::study::saltation::saltation;
use crate::study::tangent::tangent;
use crate::study::{StudyError, exact};
use carom::Subject;
use carom::scheme::{CorrectedPaoli, Scheme};
use carom::subject::PERIOD;
use carom_solve::Options;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;

/// Tolerance of the motion by saltation: the trace identity holds whatever it is, and the exponents have far larger
/// statistical errors.
const TOLERANCE: f64 = 1e-7;

/// How exponents are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum Method {
    /// Infinitely small perturbations: variational flow and saltation matrices, event-driven.
    Saltation,
    /// Neighbouring trajectories at a finite distance, with any scheme.
    Perturbation,
    /// Infinitely small perturbations of the discrete map: derivatives of the steps of moreau-jean, schatzman-paoli or
    /// corrected-paoli.
    Tangent,
}

impl Method {
    fn words(self) -> &'static str {
        match self {
            Method::Saltation => "saltation matrices",
            Method::Perturbation => "perturbation",
            Method::Tangent => "tangents of steps",
        }
    }
}

/// Options of exponents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Lyapunov {
    /// How exponents are computed.
    pub method: Method,
    /// Period of the forcing [s], a number or an expression of parameters such as "2*pi/om" [default: the parameter
    /// `period`].
    #[schemars(extend("x-value" = "EXPRESSION"))]
    pub period: Option<String>,
    /// Time between renormalisations [s], a number or an expression [default: the period].
    #[schemars(extend("x-value" = "EXPRESSION"))]
    pub interval: Option<String>,
    /// Intervals that are measured.
    #[schemars(range(min = 1, max = 1_000_000_000), extend("x-value" = "N"))]
    pub intervals: u64,
    /// Intervals before the measurement.
    #[schemars(range(min = 0, max = 1_000_000_000), extend("x-value" = "N"))]
    pub transient: u64,
    /// With --method perturbation: size of the perturbations.
    #[schemars(extend("x-value" = "EPS"))]
    pub eps: f64,
    /// Number of exponents, the largest first [default: all].
    #[schemars(range(min = 1, max = 1_000_000), extend("x-value" = "N"))]
    pub exponents: Option<u64>,
    /// Parts of the run whose scatter gives the error bars.
    #[schemars(range(min = 2, max = 1_000_000_000), extend("x-value" = "N"))]
    pub batches: u64,
}

impl Default for Lyapunov {
    fn default() -> Self {
        Lyapunov {
            method: Method::Saltation,
            period: None,
            interval: None,
            intervals: 3000,
            transient: 300,
            eps: 1e-7,
            exponents: None,
            batches: 20,
        }
    }
}

impl Options for Lyapunov {}

impl Study for Lyapunov {
    const INFO: StudyInfo = StudyInfo {
        citations: &["mueller1995", "alexopoulos1996"],
        files: &["lyapunov.csv", "convergence.csv", "lyapunov.html"],
        counts: "measurements",
        ..StudyInfo::new(
            "lyapunov",
            "Compute Lyapunov exponents with error bars, convergence and the trace identity",
            include_str!("lyapunov.rs"),
        )
    };
    type Plan = LyapunovPlan;

    fn plan(&self, subject: Arc<dyn Subject>) -> Result<LyapunovPlan, StudyError> {
        let subject = match self.method {
            Method::Saltation => subject.with_events(TOLERANCE)?,
            _ => subject.with_equal_steps()?,
        };
        let period = match (&self.period, &self.interval) {
            (None, Some(_)) if subject.parameter(PERIOD).is_none() => None,
            (text, _) => Some(period(&*subject, text.as_deref())?),
        };
        let interval = match &self.interval {
            Some(text) => time(&*subject, "--interval", text)?,
            None => period.unwrap_or(f64::NAN),
        };
        let measurement = Measurement {
            epsilon: self.eps,
            interval,
            transient: self.transient as usize,
            intervals: self.intervals as usize,
            batches: (self.batches as usize).min((self.intervals as usize).max(2)),
            step: subject.span().2,
            count: self.exponents.map(|n| n as usize),
        };
        measurement.check()?;
        Ok(LyapunovPlan { subject, method: self.method, period, measurement })
    }
}

/// Checked work.
pub struct LyapunovPlan {
    subject: Arc<dyn Subject>,
    method: Method,
    /// [s], where there is one.
    period: Option<f64>,
    measurement: Measurement,
}

impl Plan for LyapunovPlan {
    type Part = Spectrum;

    fn units(&self) -> usize {
        1
    }

    fn label(&self, _unit: usize) -> String {
        let pairs = self.subject.parameters().iter().map(|(name, value)| format!("{name} = {value}"));
        pairs.collect::<Vec<_>>().join(", ")
    }

    fn compute(&self, _unit: usize, watch: &Watch<'_>) -> Result<Spectrum, StudyError> {
        let (subject, options) = (&*self.subject, &self.measurement);
        match self.method {
            Method::Saltation => {
                let motion = subject.sensitivity(&[]);
                let mut motion = motion.map_err(|e| StudyError::usage(e.message, "see `carom docs studies`"))?;
                saltation(&mut motion, options, |key| subject.restitution(key), watch.stop)
            }
            Method::Perturbation => Ok(self.with_trace(perturbation(&|| Ok(subject.stepper()?), options, watch.stop)?)),
            Method::Tangent => {
                let hint = "take one of these with --scheme, or another --method (`carom docs studies`)";
                let run = subject.step_sensitivity(&[]);
                let mut run = run.map_err(|e| StudyError::usage(e.message, hint))?;
                Ok(self.with_trace(tangent(&mut run, options, watch.stop)?))
            }
        }
    }

    fn gather(&self, parts: &[Option<Outcome<Spectrum>>]) -> Result<Document, StudyError> {
        let spectrum = only(parts)?;
        let name = self.subject.name();
        let mut document = document("Lyapunov exponents", &*self.subject);
        document.headline = format!("{name}: Lyapunov exponents by {}", self.method.words());
        document.warnings = warnings(spectrum);
        document.data = Some(json!({
            "model": name,
            "scheme": self.subject.method().table,
            "method": self.method.words(),
            "epsilon": (self.method == Method::Perturbation).then_some(self.measurement.epsilon),
            "interval": self.measurement.interval,
            "period": self.period,
            "spectrum": exact::plain(spectrum),
            "sum": spectrum.sum(),
            "impacts_per_period": self.period.map(|p| spectrum.impacts as f64 * p / spectrum.time),
        }));
        document.sections = vec![
            Section {
                title: "Exponents".into(),
                tables: vec![self.table(spectrum)],
                facts: self.facts(spectrum),
                printed_facts: true,
                ..Section::default()
            },
            Section {
                title: "Convergence".into(),
                charts: vec![chart(spectrum)],
                tables: vec![curve(spectrum)],
                ..Section::default()
            },
        ];
        Ok(document)
    }
}

/// A number, or what a collapsed exponent is called.
fn shown(x: f64) -> String {
    if x == f64::NEG_INFINITY { "collapsed".into() } else { format!("{x:.6}") }
}

impl LyapunovPlan {
    /// With the trace of the motion, where it is known from counts.
    fn with_trace(&self, mut spectrum: Spectrum) -> Spectrum {
        let subject = &*self.subject;
        let full = spectrum.exponents.len() == 2 * subject.coordinates().len();
        // friction and bilateral laws have other volumes
        let plain = subject.laws().iter().all(|law| law.law.is_unilateral());
        if full
            && plain
            && let Ok(mut model) = subject.mechanical()
        {
            spectrum.trace =
                divergence(&mut *model).map(|value| trace(&spectrum, value, |key| subject.restitution(key)));
        }
        spectrum
    }

    fn table(&self, spectrum: &Spectrum) -> Table {
        let columns = [
            Column::key("exponent"),
            Column::default().titled("exponent"),
            Column::new("per_unit_time").titled("per unit time [1/s]").shown(Format::Fixed(6)),
            Column::new("standard_error").titled("±").shown(Format::Fixed(6)),
            Column::new("per_period").titled("per period").shown(Format::Fixed(6)),
            Column::new("standard_error_per_period").titled("± per period").shown(Format::Fixed(6)),
        ];
        let mut table = Table::new("Spectrum", columns).to_file("lyapunov.csv");
        let cell = |x: f64| match x {
            x if x == f64::NEG_INFINITY => Cell::Formatted { value: x, text: "collapsed".into() },
            x if x.is_nan() => Cell::Empty,
            x => Cell::from(x),
        };
        let period = self.period.unwrap_or(f64::NAN);
        for (k, e) in spectrum.exponents.iter().enumerate() {
            let values = [e.value, e.error, e.value * period, e.error * period];
            table.row([Cell::from(k + 1), Cell::from(format!("λ{}", k + 1))].into_iter().chain(values.map(cell)));
        }
        table
    }

    /// Facts besides the exponents.
    fn facts(&self, s: &Spectrum) -> Vec<(String, String)> {
        let method = self.subject.method();
        let mut facts = vec![("scheme", method.words)];
        if self.method != Method::Saltation {
            facts.push(("step", format!("{} s", self.measurement.step)));
        }
        if self.method == Method::Tangent {
            let words = match method.scheme == CorrectedPaoli::INFO.name {
                true => {
                    "the discrete map, which solves for impact times: they tend to those of the motion with the step"
                }
                false => {
                    "the discrete map with each impact in the step where it is: impact times do not change, as they do in the motion"
                }
            };
            facts.push(("exponents of", words.into()));
        }
        if self.method == Method::Perturbation {
            facts.push(("perturbation", format!("{:e}", self.measurement.epsilon)));
        }
        facts.extend([
            ("renormalised every", format!("{} s", self.measurement.interval)),
            ("intervals", format!("{} after {}", self.measurement.intervals, self.measurement.transient)),
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
        facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// What must not be overlooked.
fn warnings(s: &Spectrum) -> Vec<String> {
    let mut all = Vec::new();
    if s.sticks > 0 || s.collapsed > 0 {
        all.push(format!(
            "A contact came to rest {} time(s), and perturbations vanished in {} interval(s): the motion forgets its past \
             there, the exponents are −∞ (superstable) or undefined. They are not averaged over.",
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
            "The sum of the exponents, {:.4}, is not that of the trace identity, {trace:.4}: the scheme or the perturbation \
             does not see the change of impact times. Perturbations must be small against the motion, and schemes must \
             locate impacts.",
            s.sum()
        ));
    }
    all
}

/// Running means as a table.
fn curve(spectrum: &Spectrum) -> Table {
    let names = (1..=spectrum.exponents.len()).map(|k| Column::new(format!("exponent_{k}")));
    let columns = std::iter::once(Column::new("t")).chain(names);
    let mut table = Table::new("Running means", columns).to_file("convergence.csv").printed(Printed::No).hidden();
    for (t, values) in &spectrum.curve {
        table.row(std::iter::once(Cell::from(*t)).chain(values.iter().map(|x| Cell::from(*x))));
    }
    table
}

/// And as a chart, with the values at the end.
fn chart(spectrum: &Spectrum) -> Chart {
    let mut chart = Chart::new("Running means", "t [s]", "exponent per unit time [1/s]");
    let times: Vec<f64> = spectrum.curve.iter().map(|(t, _)| *t).collect();
    for (k, e) in spectrum.exponents.iter().enumerate() {
        let values = spectrum.curve.iter().map(|(_, values)| values[k]).collect();
        chart = chart.with(Series::lines(format!("λ{}", k + 1), times.clone(), values).coloured(k));
        if let (Some(first), Some(last), true) = (times.first(), times.last(), e.value.is_finite()) {
            let level = Series::lines(format!("λ{} at the end", k + 1), vec![*first, *last], vec![e.value; 2]);
            chart = chart.with(level.dashed(Dash::Dot).coloured(k));
        }
    }
    chart
}
