//! Errors, orders and work over a range of steps or tolerances, scheme by scheme.
//!
//! Against the closed form of the model, or a run that is much finer than the finest one. Each unit is one step size of
//! one scheme, with its neighbouring grids, or one tolerance; the mathematics is in `convergence/`. Times are measured,
//! so that units run one after the other unless threads are asked for.

use super::converge_plan::{Range, WORK_STEPS, WORK_TOLERANCES, finest, steps_of};
use super::document;
use crate::convergence::{
    Computed, Level, NORMS, Plan as Steps, Reference, Study as Convergence, WORKS, Work, level, level_of_tolerance,
};
use crate::error::MeasureError;
use crate::report::{Cell, Chart, Dash, Series, SeriesStyle};
use crate::study::document::{Column, Document, Format, Printed, Section, Table};
use crate::study::runner::{Outcome, Plan, Study, StudyInfo, Watch};
use crate::study::{StudyError, exact};
use carom::Subject;
use carom::elementary::log10;
use carom::scheme::Family;
use carom::subject::Exact;
use carom_solve::Options;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::{Arc, OnceLock};

/// Options of a convergence study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Converge {
    /// Step sizes from coarse to fine, with an optional number of levels: 0.1:1e-4 or 0.1:1e-4:7.
    #[schemars(extend("x-value" = "COARSE:FINE[:LEVELS]"))]
    pub steps: Option<String>,
    /// Adaptive steps: tolerances from coarse to fine, one per decade or so many levels: 1e-2:1e-9 or 1e-2..1e-9.
    #[schemars(extend("x-value" = "COARSE:FINE[:LEVELS]"))]
    pub tolerances: Option<String>,
    /// Options of adaptive steps, such as '{ estimator = "position" }'; may be repeated to compare them.
    #[schemars(extend("x-value" = "TABLE"))]
    pub adaptive: Vec<String>,
    /// Print what each decade of accuracy costs; without --steps and --tolerances both are chosen.
    pub work: bool,
    /// Schemes by name, separated by commas.
    #[schemars(extend("x-value" = "NAMES", "x-commas" = true))]
    pub schemes: Vec<String>,
    /// A scheme with options, such as '{ name = "moreau-jean", theta = 1 }'; may be repeated.
    #[schemars(extend("x-value" = "SCHEME"))]
    pub scheme: Vec<String>,
    /// Neighbouring grids per level; geometric means are reported.
    #[schemars(range(min = 1, max = 1000), extend("x-value" = "N"))]
    pub grids: u64,
    /// Skip numbers of steps divisible by this one (impacts that fall on grid points make results a matter of
    /// rounding).
    #[schemars(range(min = 2, max = 1_000_000), extend("x-value" = "N"))]
    pub skip_multiples: Option<u64>,
    /// Without an exact solution: steps of the reference run per finest step.
    #[schemars(range(min = 2, max = 1000), extend("x-value" = "N"))]
    pub refine: u64,
}

impl Default for Converge {
    fn default() -> Self {
        Converge {
            steps: None,
            tolerances: None,
            adaptive: Vec::new(),
            work: false,
            schemes: Vec::new(),
            scheme: Vec::new(),
            grids: 4,
            skip_multiples: None,
            refine: 8,
        }
    }
}

impl Options for Converge {}

impl Study for Converge {
    const INFO: StudyInfo = StudyInfo {
        stem: "convergence",
        citations: &["acary2009"],
        files: &["convergence.csv", "convergence.html", "times.csv", "times.html"],
        counts: "levels",
        timed: true,
        ..StudyInfo::new(
            "converge",
            "Measure errors, orders and work over a range of steps or tolerances, scheme by scheme",
            include_str!("converge.rs"),
        )
    };
    type Plan = ConvergePlan;

    fn plan(&self, subject: Arc<dyn Subject>) -> Result<ConvergePlan, StudyError> {
        let (steps, tolerances) = self.sizes(&*subject)?;
        let methods = self.methods(&*subject, steps.is_some(), !tolerances.is_empty())?;
        let mut units = Vec::new();
        for (k, method) in methods.iter().enumerate() {
            match &steps {
                Some(plan) if !method.adaptive => units.extend(plan.counts.iter().map(|n| (k, Size::Steps(*n)))),
                _ => units.extend(tolerances.iter().map(|x| (k, Size::Tolerance(*x)))),
            }
        }
        let reference = OnceLock::new();
        Ok(ConvergePlan { subject, options: self.clone(), steps, tolerances, methods, units, reference })
    }
}

impl Converge {
    /// Steps, tolerances, or both.
    fn sizes(&self, subject: &dyn Subject) -> Result<(Option<Steps>, Vec<f64>), StudyError> {
        let refine = self.refine as usize;
        let steps = |range: &Range| steps_of(subject, range, (self.grids, self.skip_multiples, refine));
        if self.steps.is_none() && self.tolerances.is_none() {
            if !self.work {
                let hint = "for example --steps 0.1:1e-4, --tolerances 1e-2:1e-8, or --work for both";
                return Err(StudyError::usage("which steps, or which tolerances?", hint));
            }
            let (start, end, _) = subject.span();
            let (coarse, fine) = ((end - start) / WORK_STEPS.0, (end - start) / WORK_STEPS.1);
            let range = Range { option: "--work", coarse, fine, levels: None };
            let (coarse, fine, levels) = WORK_TOLERANCES;
            let tolerances = Range { option: "--work", coarse, fine, levels: Some(levels) }.values(1);
            return Ok((Some(steps(&range)?), tolerances));
        }
        let plan = self.steps.as_ref().map(|text| steps(&Range::read("--steps", text)?)).transpose()?;
        let tolerances = match &self.tolerances {
            Some(text) => Range::read("--tolerances", text)?.values(1),
            None => Vec::new(),
        };
        Ok((plan, tolerances))
    }

    /// Each scheme with equal steps, then each one with adaptive steps, as far as they are asked for.
    fn methods(&self, subject: &dyn Subject, steps: bool, tolerances: bool) -> Result<Vec<Method>, StudyError> {
        let named = self.schemes.iter().filter(|s| !s.trim().is_empty()).chain(&self.scheme);
        let mut named: Vec<Option<&str>> = named.map(|text| Some(text.as_str())).collect();
        if named.is_empty() {
            named.push(None);
        }
        let mut controls: Vec<Option<&str>> = Vec::new();
        if steps {
            controls.push(Some("off"));
        }
        match self.adaptive.as_slice() {
            _ if !tolerances => {}
            // the options of the file, or the defaults
            [] => controls.push((!subject.method().adaptive).then_some("{}")),
            given => controls.extend(given.iter().map(|text| Some(text.as_str()))),
        }
        let mut methods = Vec::new();
        for adaptive in &controls {
            for scheme in &named {
                let subject = subject.with_method(*scheme, *adaptive);
                let subject = subject.map_err(|e| StudyError::usage(e.message, "see `carom list schemes`"))?;
                let method = subject.method();
                // where several controls are compared with their options
                let options = adaptive.filter(|_| self.adaptive.len() > 1);
                let name = match (method.adaptive, options) {
                    (false, _) => method.words,
                    (true, None) => format!("{}, adaptive", method.words),
                    (true, Some(text)) => {
                        format!("{}, adaptive {}", method.words, text.replace(['{', '}', '"'], "").trim())
                    }
                };
                methods.push(Method { name, adaptive: method.adaptive, subject });
            }
        }
        Ok(methods)
    }
}

/// A scheme with equal or adaptive steps.
struct Method {
    name: String,
    adaptive: bool,
    subject: Arc<dyn Subject>,
}

/// A level by its mean number of steps, or by its tolerance.
#[derive(Clone, Copy, Debug)]
enum Size {
    Steps(usize),
    Tolerance(f64),
}

/// Checked work.
pub struct ConvergePlan {
    subject: Arc<dyn Subject>,
    options: Converge,
    steps: Option<Steps>,
    /// From coarse to fine.
    tolerances: Vec<f64>,
    methods: Vec<Method>,
    /// Numbers of methods, and their levels.
    units: Vec<(usize, Size)>,
    /// The fine run, made once where the first unit needs it.
    reference: OnceLock<Result<Computed, String>>,
}

impl Plan for ConvergePlan {
    type Part = Level;

    fn units(&self) -> usize {
        self.units.len()
    }

    fn label(&self, unit: usize) -> String {
        let (k, size) = self.units[unit];
        match size {
            Size::Steps(count) => format!("{}, {count} steps", self.methods[k].name),
            Size::Tolerance(tolerance) => format!("{}, tolerance {tolerance:e}", self.methods[k].name),
        }
    }

    fn compute(&self, unit: usize, watch: &Watch<'_>) -> Result<Level, StudyError> {
        let computed;
        let reference = match self.subject.exact() {
            Some(Exact::Motion(exact, _)) => Reference::Exact(exact),
            Some(Exact::State(exact, _)) => Reference::State(exact),
            None => {
                computed = self.reference.get_or_init(|| self.reference_run());
                Reference::Computed(computed.as_ref().map_err(|e| StudyError::Computation(e.clone()))?)
            }
        };
        let (k, size) = self.units[unit];
        let subject = &*self.methods[k].subject;
        // after a wish to stop the remaining grids are refused
        let make = |size| match (watch.stop)() {
            true => Err("interrupted".to_owned()),
            false => subject.simulation(Some(size)).map_err(|e| e.message),
        };
        let level = match (size, &self.steps) {
            (Size::Steps(count), Some(plan)) => level(plan, count, &reference, make),
            (Size::Steps(_), None) => return Err(StudyError::Computation("there are no steps".into())),
            (Size::Tolerance(tolerance), _) => level_of_tolerance(tolerance, &reference, make),
        };
        if (watch.stop)() { Err(StudyError::Interrupted) } else { level.map_err(not_measured) }
    }

    fn gather(&self, parts: &[Option<Outcome<Level>>]) -> Result<Document, StudyError> {
        if let Some(Err(reason)) = self.reference.get() {
            return Err(StudyError::Computation(reason.clone()));
        }
        let studies = self.studies(parts);
        let against = self.reference_in_words();
        let mut document = document("Convergence", &*self.subject);
        document.headline = format!("{}: errors against {against}", self.subject.name());
        document.subtitle = format!("Errors against {against}");
        let levels = || studies.iter().flat_map(|study| study.levels.iter().map(move |level| (study, level)));
        for (study, level) in levels() {
            if let Some((count, reason)) = &level.failed {
                document.warnings.push(format!("{}: {count} run(s) {} failed: {reason}", study.scheme, at(level)));
            }
        }
        document.failure = levels().find(|(_, level)| level.grids.is_empty()).and_then(|(study, level)| {
            let (count, reason) = level.failed.as_ref()?;
            Some(format!("{}: all {count} runs {} failed: {reason}", study.scheme, at(level)))
        });
        let data: Vec<_> =
            studies.iter().map(|s| json!({ "method": s.scheme, "levels": exact::plain(&s.levels) })).collect();
        document.data = Some(json!({ "model": self.subject.name(), "reference": against, "methods": data }));
        document.sections = self.sections(&studies);
        document.times = Some(Box::new(self.times(&studies)));
        Ok(document)
    }
}

fn not_measured(error: MeasureError) -> StudyError {
    StudyError::Computation(format!("the errors cannot be measured: {error}"))
}

/// Which level is meant, in words.
fn at(level: &Level) -> String {
    match level.tolerance {
        Some(tolerance) => format!("with the tolerance {tolerance:.3e}"),
        None => format!("with h ≈ {:.3e}", level.step),
    }
}

/// An error of positions or states (`'q'`), or of velocities.
fn error(level: &Level, of: char, norm: &str) -> f64 {
    if of == 'q' { level.q } else { level.v }.get(norm)
}

/// A fitted order as text.
fn order(study: &Convergence, of: char, norm: &str) -> String {
    match study.order(of, norm) {
        Ok(slope) => match slope.standard_error {
            Some(error) => format!("{:.2} ± {error:.2}", slope.slope),
            None => format!("{:.2}", slope.slope),
        },
        Err(_) => "-".into(),
    }
}

/// The decades of error that at least one method reaches, from coarse to fine.
fn targets(studies: &[Convergence]) -> Vec<f64> {
    let errors = || studies.iter().flat_map(|s| &s.levels).map(|l| l.q.l1).filter(|e| *e > 0.0 && e.is_finite());
    let (Some(least), Some(most)) = (errors().reduce(f64::min), errors().reduce(f64::max)) else { return Vec::new() };
    let (first, last) = (log10(most).floor() as i32, log10(least.max(1e-15)).ceil() as i32);
    (last..=first).rev().map(|k| format!("1e{k}").parse().unwrap_or(10f64.powi(k))).collect()
}

impl ConvergePlan {
    /// What has errors, as letters of studies and as written: first-order systems have states alone.
    fn sides(&self) -> &'static [(char, &'static str, &'static str)] {
        match self.subject.family() {
            Family::Mechanical => &[('q', "q", "positions"), ('v', "v", "velocities")],
            Family::FirstOrder => &[('q', "x", "states")],
        }
    }

    /// All sides in all norms.
    fn errors(&self) -> impl Iterator<Item = (char, &'static str, &'static str)> {
        self.sides().iter().flat_map(|(of, name, _)| NORMS.map(|norm| (*of, *name, norm)))
    }

    /// Step or tolerance of the fine run, and the run in words.
    fn fine(&self) -> (f64, String) {
        let name = self.methods.first().map_or("", |method| method.name.as_str());
        match &self.steps {
            Some(plan) if self.methods.first().is_some_and(|method| !method.adaptive) => {
                let finest = finest(plan) * self.options.refine as usize;
                (plan.step(finest), format!("a run of {name} with {finest} steps"))
            }
            _ => {
                let least = self.tolerances.iter().copied().fold(f64::INFINITY, f64::min);
                let tolerance = least / self.options.refine as f64;
                (tolerance, format!("a run of {name} with the tolerance {tolerance:.1e}"))
            }
        }
    }

    fn reference_in_words(&self) -> String {
        match self.subject.exact() {
            Some(Exact::Motion(_, name) | Exact::State(_, name)) => format!("the exact solution of {name}"),
            None => self.fine().1,
        }
    }

    /// A run of the first method that is much finer than the finest one of the study.
    fn reference_run(&self) -> Result<Computed, String> {
        let failed = |e: String| format!("the reference run failed: {e}");
        let method = self.methods.first().ok_or_else(|| failed("there is no method".into()))?;
        let mut simulation = method.subject.simulation(Some(self.fine().0)).map_err(|e| failed(e.message))?;
        let solution = simulation.record().map_err(|e| failed(e.to_string()))?;
        Computed::new(solution).map_err(|e| not_measured(e).to_string())
    }

    /// The levels by method; those that were not done are missing.
    fn studies(&self, parts: &[Option<Outcome<Level>>]) -> Vec<Convergence> {
        let mut studies: Vec<Convergence> = Vec::new();
        for method in &self.methods {
            studies.push(Convergence { scheme: method.name.clone(), levels: Vec::new() });
        }
        for ((k, size), part) in self.units.iter().zip(parts) {
            let level = match (part, size) {
                (None, _) => continue,
                (Some(Ok(level)), _) => level.clone(),
                (Some(Err(failed)), Size::Tolerance(x)) => Level::failed(f64::NAN, Some(*x), 1, failed.message.clone()),
                (Some(Err(failed)), Size::Steps(count)) => {
                    let step = self.steps.as_ref().map_or(f64::NAN, |plan| plan.step(*count));
                    Level::failed(step, None, self.options.grids as usize, failed.message.clone())
                }
            };
            studies[*k].levels.push(level);
        }
        studies.retain(|study| !study.levels.is_empty());
        studies
    }

    fn sections(&self, studies: &[Convergence]) -> Vec<Section> {
        let mut orders = Section { title: "Orders".into(), ..Section::default() };
        if let Some(plan) = &self.steps {
            orders.text.push(format!(
                "Fitted slopes of log(error) over log(h), with standard errors. Each level is the geometric mean of {} \
                 neighbouring grids: with impacts a single grid scatters by a factor of three. In the sup norm velocities with \
                 jumps do not converge.",
                plan.grids
            ));
        }
        if !self.tolerances.is_empty() {
            let text = "Of adaptive methods the slope is that over the tolerance. Norms have trapezoidal weights.";
            orders.text.push(text.into());
        }
        orders.tables = vec![self.table(studies), self.orders(studies)];
        orders.tables.extend(studies.iter().map(|study| self.levels(study)));
        let mut sections = vec![orders];
        for (adaptive, title) in [(false, "Errors over the step"), (true, "Errors over the tolerance")] {
            let chosen: Vec<&Convergence> = studies.iter().filter(|study| study.is_adaptive() == adaptive).collect();
            if chosen.is_empty() {
                continue;
            }
            let sides = self.sides().iter().flat_map(|(of, _, name)| NORMS.map(|norm| (*of, *name, norm)));
            let charts = sides.map(|(of, name, norm)| error_chart(&chosen, adaptive, (of, name, norm))).collect();
            sections.push(Section { title: title.into(), charts, gallery: true, ..Section::default() });
        }
        sections.push(self.work(studies));
        sections
    }

    /// One line per method and level; errors that are not known are left empty.
    fn table(&self, studies: &[Convergence]) -> Table {
        let numbers = ["h", "tolerance", "grids", "solves", "iterations", "evaluations", "failed"];
        let columns = std::iter::once(Column::new("scheme").quoted()).chain(numbers.map(Column::new));
        let columns = columns.chain(self.errors().map(|(_, name, norm)| Column::new(format!("{name}_{norm}"))));
        let mut table = Table::new("Levels", columns).to_file("convergence.csv").printed(Printed::No).hidden();
        for (study, level) in studies.iter().flat_map(|study| study.levels.iter().map(move |level| (study, level))) {
            let failed = level.failed.as_ref().map_or(0, |f| f.0);
            let mut cells = vec![Cell::from(study.scheme.as_str()), level.step.into(), level.tolerance.into()];
            cells.push(Cell::from(level.grids.len()));
            cells.extend([level.solves, level.iterations, level.evaluations].map(Cell::from));
            cells.push(Cell::from(failed));
            cells.extend(self.errors().map(|(of, _, norm)| Cell::from(error(level, of, norm))));
            table.row(cells);
        }
        table
    }

    fn orders(&self, studies: &[Convergence]) -> Table {
        let names = self.errors().map(|(_, name, norm)| Column::new(format!("{name} {norm}")));
        let columns = std::iter::once(Column::new("scheme")).chain(names);
        let mut table = Table::new("Fitted orders", columns).printed(Printed::No);
        for study in studies {
            let orders = self.errors().map(|(of, _, norm)| Cell::from(order(study, of, norm)));
            table.row(std::iter::once(Cell::from(study.scheme.as_str())).chain(orders));
        }
        table
    }

    /// The levels of one method, for a terminal.
    fn levels(&self, study: &Convergence) -> Table {
        let size = if study.is_adaptive() { "tolerance" } else { "h [s]" };
        let mut columns = vec![Column::new(size).shown(Format::Scientific(3))];
        columns.extend(["solves", "evaluations"].map(|name| Column::new(name).shown(Format::Fixed(0))));
        let errors = self.errors().map(|(_, name, norm)| format!("{name} {norm}"));
        columns.extend(errors.map(|name| Column::new(name).shown(Format::Scientific(2))));
        columns.push(Column::new("time [s]").shown(Format::Scientific(1)));
        let mut table = Table::new(&study.scheme, columns).hidden();
        table.heading = study.scheme.clone();
        for level in &study.levels {
            let first = [level.tolerance.unwrap_or(level.step), level.solves, level.evaluations];
            let errors = self.errors().map(|(of, _, norm)| error(level, of, norm));
            table.row(first.into_iter().chain(errors).chain([level.seconds]).map(Cell::from));
        }
        let orders = self.errors().map(|(of, _, norm)| Cell::from(order(study, of, norm)));
        table.row([Cell::from("order"), Cell::Empty, Cell::Empty].into_iter().chain(orders));
        table
    }

    /// What an error costs, method by method: a chart per unit of work, and tables of what each decade of accuracy
    /// costs.
    fn work(&self, studies: &[Convergence]) -> Section {
        let text = "Methods side by side: each point is one step size (mean of the grids) or one tolerance; further down and to \
                    the left is better. Rejected steps count. Exponents s belong to work ~ error^-s, fitted as log(error) over \
                    log(work).";
        let mut section =
            Section { title: "Work".into(), text: vec![text.into()], gallery: true, ..Section::default() };
        let targets = targets(studies);
        for work in [Work::Evaluations, Work::Iterations] {
            let first = ["method", "s"].map(Column::new).into_iter();
            let columns = first.chain(targets.iter().map(|x| Column::new(format!("{x:.0e}"))));
            let mut table = Table::new(format!("{} to reach an l1 error of positions", work.label()), columns);
            table.heading = format!("{}; s in work ~ error^-s", table.caption);
            table.printed = if self.options.work { Printed::All } else { Printed::No };
            for study in studies {
                let exponent = study.work_exponent(work).map_or("-".into(), |s| format!("{s:.2}"));
                let cell = |x: &f64| match study.work_for(*x, work) {
                    Some(value) => Cell::Formatted { value, text: format!("{value:.0}") },
                    None => Cell::from("-"),
                };
                let first = [Cell::from(study.scheme.as_str()), Cell::from(exponent)];
                table.row(first.into_iter().chain(targets.iter().map(cell)));
            }
            section.tables.push(table);
        }
        let counted = WORKS.into_iter().filter(|work| *work != Work::Seconds);
        section.charts.extend(counted.map(|work| work_chart(studies, work)));
        section
    }

    /// What the clock has measured.
    fn times(&self, studies: &[Convergence]) -> Document {
        let columns = [Column::new("scheme").quoted(), Column::new("h"), Column::new("tolerance")].into_iter();
        let columns = columns.chain([Column::new("seconds")]);
        let mut table = Table::new("Times per run", columns).to_file("times.csv").printed(Printed::No);
        for (study, level) in studies.iter().flat_map(|study| study.levels.iter().map(move |level| (study, level))) {
            let cells = [study.scheme.as_str().into(), level.step.into(), level.tolerance.into(), level.seconds.into()];
            table.row(cells);
        }
        let charts = vec![work_chart(studies, Work::Seconds)];
        let section = Section { title: "Times".into(), charts, tables: vec![table], ..Section::default() };
        Document { sections: vec![section], ..document("Times", &*self.subject) }
    }
}

/// Errors of all methods over a measure of work.
fn work_chart(studies: &[Convergence], work: Work) -> Chart {
    let title = format!("l1 error of positions over {}", work.label());
    let mut chart = Chart::new(title, format!("{} per run", work.label()), "l1 error [m s]").log_log();
    for study in studies {
        let (x, errors) = study.levels.iter().map(|l| (work.of(l), l.q.l1)).unzip();
        chart = chart.with(Series::new(study.scheme.clone(), SeriesStyle::LinesAndMarkers, x, errors));
    }
    chart
}

/// All methods in one norm, with a line of slope 1 through the middle of the first.
fn error_chart(studies: &[&Convergence], adaptive: bool, (of, name, norm): (char, &str, &str)) -> Chart {
    let label = if adaptive { "tolerance [m]" } else { "h [s]" };
    let size = |level: &Level| level.tolerance.unwrap_or(level.step);
    let mut chart = Chart::new(format!("{norm} error of {name}"), label, "error").log_log();
    for study in studies {
        let (x, y) = study.levels.iter().map(|l| (size(l), error(l, of, norm))).unzip();
        chart = chart.with(Series::new(study.scheme.clone(), SeriesStyle::LinesAndMarkers, x, y));
    }
    if let Some(study) = studies.first()
        && let Some(level) = study.levels.get(study.levels.len() / 2)
    {
        let (h, e) = (size(level), error(level, of, norm));
        let ends: Vec<f64> = [study.levels.first(), study.levels.last()].into_iter().flatten().map(size).collect();
        let line = ends.iter().map(|x| e * x / h).collect();
        chart = chart.with(Series::lines("slope 1", ends, line).dashed(Dash::Dot));
    }
    chart
}
