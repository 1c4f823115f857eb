//! Periodic orbits through impacts, their multipliers, and branches of them over a parameter.
//!
//! The mathematics is in `study/orbit/`; sections and rounds by the words of the options in `orbit_section.rs`. The
//! orbit or the whole branch, with those that leave it at period doublings, is one unit.

use super::orbit_section::Rounds;
use super::{document, label, varied_parameter};
use crate::report::{Cell, Chart, Dash, Series, number};
use crate::study::document::{Column, Document, Format, Printed, Section, Table};
use crate::study::orbit::{Branch, Follow, Options as Search, Orbit, Special, SpecialKind, Stability, find};
use crate::study::range::Values;
use crate::study::runner::{Outcome, Plan, Study, StudyInfo, Watch, only};
use crate::study::{StudyError, exact};
use carom::elementary::hypot;
use carom::{State, Subject};
use carom_solve::Options;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// Tolerance of the motion: orbits are as exact as it is.
const TOLERANCE: f64 = 1e-12;

/// Points of the drawing of an orbit.
const DRAWN: usize = 500;

/// Coordinates and multipliers that have charts.
const CHARTS: usize = 8;

/// Options of orbits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Orbits {
    /// Period of the forcing [s], a number or an expression of parameters such as "2*pi/om" [default: the parameter
    /// `period`].
    #[schemars(extend("x-value" = "EXPRESSION"))]
    pub period: Option<String>,
    /// Where states are taken: strobe (once per period), impact or impact:CONTACT (just after an impact), or the zero
    /// from below of a coordinate x, a velocity x' or an event of the file [default: strobe]. Without a period the
    /// orbit is one without forcing, whose length is found.
    #[schemars(extend("x-value" = "SECTION"))]
    pub section: Option<String>,
    /// Periods of the forcing in one of the orbit; without forcing, meetings with the section.
    #[schemars(range(min = 1, max = 1000), extend("x-value" = "K"))]
    pub multiple: u64,
    /// Periods of the motion from the initial state before the search, or meetings with the section: the guess then is
    /// near an attractor.
    #[schemars(range(min = 0, max = 100_000_000), extend("x-value" = "N"))]
    pub transient: u64,
    /// Guess of the state at the section instead, positions then velocities: 0.03,-0.4.
    #[schemars(extend("x-value" = "NUMBERS"))]
    pub start: Vec<f64>,
    /// Follow the orbit over a parameter: om=2.5:2.8:60 (first, last, number of values).
    #[schemars(extend("x-value" = "NAME=FIRST:LAST:NUMBER"))]
    pub parameter: Option<String>,
    /// At period doublings, go over to the orbits of twice the length as well, and from there to the next, so many
    /// times [default: 1].
    #[schemars(range(min = 1, max = 10), extend("x-value" = "LEVELS", "x-missing" = 1))]
    pub switch: Option<u64>,
    /// Largest distance between a state of an orbit and its image.
    #[schemars(extend("x-value" = "DISTANCE"))]
    pub tolerance: f64,
}

impl Default for Orbits {
    fn default() -> Self {
        Orbits {
            period: None,
            section: None,
            multiple: 1,
            transient: 100,
            start: Vec::new(),
            parameter: None,
            switch: None,
            tolerance: 1e-11,
        }
    }
}

impl Options for Orbits {}

impl Study for Orbits {
    const INFO: StudyInfo = StudyInfo {
        citations: &["mueller1995", "leine2004"],
        files: &["orbit.csv", "special.csv", "orbit.html"],
        counts: "orbits",
        ..StudyInfo::new(
            "orbit",
            "Find periodic orbits through impacts, their multipliers, and how both change with a parameter",
            include_str!("orbit.rs"),
        )
    };
    type Plan = OrbitPlan;

    fn plan(&self, subject: Arc<dyn Subject>) -> Result<OrbitPlan, StudyError> {
        let mut subject = subject.with_events(TOLERANCE)?;
        let search = Search { tolerance: self.tolerance, ..Search::new(self.multiple as usize) };
        search.check()?;
        let varied = match &self.parameter {
            Some(text) => Some(range(&*subject, text)?),
            None if self.switch.is_some() => {
                let message = "--switch: doublings are those of a branch";
                return Err(StudyError::usage(message, "follow the orbit over a parameter with --parameter"));
            }
            None => None,
        };
        if let Some((name, (first, ..))) = &varied {
            subject = subject.with(&[(name, *first)]).map_err(|e| StudyError::usage(e.message, e.hint))?;
        }
        let (n, m, given) = (subject.initial().q.len(), subject.initial().v.len(), self.start.len());
        if given > 0 && (given != n + m || self.start.iter().any(|x| !x.is_finite())) {
            let message = format!("--start has {given} numbers, the model has {n} positions and {m} velocities");
            return Err(StudyError::usage(message, "positions first, then velocities, separated by commas"));
        }
        let rounds = Rounds::read(&*subject, self)?;
        Ok(OrbitPlan { subject, options: self.clone(), search, varied, rounds })
    }
}

/// The parameter of a branch with its first and last value and the number of steps between them.
fn range(subject: &dyn Subject, text: &str) -> Result<(String, (f64, f64, usize)), StudyError> {
    let varied = varied_parameter(subject, "--parameter", text)?;
    match varied.values {
        Values::Range { first, last, count } if count > 1 && first != last => {
            Ok((varied.name, (first, last, count - 1)))
        }
        _ => Err(StudyError::usage(
            "--parameter: a branch needs a range with at least two values",
            "for example om=2.5:2.8:60 (first, last, number)",
        )),
    }
}

/// Checked work.
pub struct OrbitPlan {
    /// With the first value of the parameter.
    subject: Arc<dyn Subject>,
    options: Orbits,
    search: Search,
    /// The parameter of a branch: first and last value, steps.
    varied: Option<(String, (f64, f64, usize))>,
    rounds: Rounds,
}

/// Orbits of one number of periods.
#[derive(Serialize, Deserialize)]
struct Followed {
    multiple: usize,
    branch: Branch,
}

/// What was found.
#[derive(Serialize, Deserialize)]
pub struct Found {
    /// The branch, then those of doubled orbits.
    all: Vec<Followed>,
    /// Positions and velocities of the first orbit, from the section on.
    drawing: Vec<Vec<f64>>,
}

impl Plan for OrbitPlan {
    type Part = Found;

    fn units(&self) -> usize {
        1
    }

    fn ticks(&self, _unit: usize) -> usize {
        self.varied.as_ref().map_or(1, |(_, (.., steps))| *steps)
    }

    fn label(&self, _unit: usize) -> String {
        match &self.varied {
            Some((name, (first, last, _))) => format!("{name} = {first} to {last}"),
            None => self.options.section.clone().unwrap_or_default(),
        }
    }

    fn compute(&self, _unit: usize, watch: &Watch<'_>) -> Result<Found, StudyError> {
        let (subject, mut rounds, mut search) = (&*self.subject, self.rounds.clone(), self.search);
        let guess = rounds.guess(subject, &self.options, &mut search, watch.stop)?;
        let all = match &self.varied {
            Some((name, range)) => {
                let make = |value: f64| {
                    let subject = subject.with(&[(name, value)]).map_err(|e| StudyError::Build(e.message))?;
                    rounds.case(&*subject, Some(name))
                };
                let follow = Follow { make: &make, options: search, start: guess.t, range: *range };
                let branch = follow.run(&guess, watch.stop, &|| watch.tick())?;
                doubled(&follow, branch, self.options.switch.unwrap_or(0), watch)?
            }
            None => {
                let mut case = rounds.case(subject, None)?;
                let orbit = find(&mut case, f64::NAN, &guess, &search)?;
                let branch = Branch { orbits: vec![orbit], ..Branch::default() };
                vec![Followed { multiple: search.multiple, branch }]
            }
        };
        let drawing = draw(subject, &all[0].branch)?;
        Ok(Found { all, drawing })
    }

    fn gather(&self, parts: &[Option<Outcome<Found>>]) -> Result<Document, StudyError> {
        let found = only(parts)?;
        let (name, first) = (self.subject.name(), found.all[0].branch.orbits.first());
        let mut document = document("Periodic orbits", &*self.subject);
        document.warnings = found.all.iter().filter_map(|followed| followed.branch.ended.clone()).collect();
        document.data = Some(self.json(found));
        let stable = found.orbits().filter(|(_, o)| o.stability == Stability::Stable).count();
        document.headline = match self.varied {
            Some(_) => format!("{name}: {} orbits, {stable} of them stable", found.orbits().count()),
            None => format!("{name}: periodic orbit"),
        };
        document.sections = vec![Section {
            title: "Orbit".into(),
            facts: first.map_or(Vec::new(), |orbit| self.facts(orbit, found.all[0].multiple)),
            printed_facts: self.varied.is_none(),
            charts: self.phase_planes(found),
            tables: vec![self.table(found)],
            ..Section::default()
        }];
        if let Some((parameter, _)) = &self.varied {
            document.sections.push(Section {
                title: "Branch".into(),
                charts: self.branch_charts(parameter, found),
                tables: vec![self.overview(parameter, found), self.specials(parameter, found)],
                ..Section::default()
            });
        }
        Ok(document)
    }
}

/// The branch, and those that leave it and one another at period doublings, so many levels deep.
fn doubled(follow: &Follow<'_>, branch: Branch, levels: u64, watch: &Watch<'_>) -> Result<Vec<Followed>, StudyError> {
    let mut all = vec![Followed { multiple: follow.options.multiple, branch }];
    let mut options = vec![follow.options];
    let mut first = 0;
    for _ in 0..levels {
        let last = all.len();
        let doublings = |k: usize| all[k].branch.specials.iter().filter(|s| s.kind == SpecialKind::PeriodDoubling);
        let points: Vec<(usize, Special)> =
            (first..last).flat_map(|k| doublings(k).map(move |s| (k, s.clone()))).collect();
        for (k, point) in points {
            match (Follow { options: options[k], ..*follow }).switch(&point, watch.stop, &|| {}) {
                Ok((branch, more)) => {
                    all.push(Followed { multiple: more.multiple, branch });
                    options.push(more);
                }
                Err(StudyError::Interrupted) => return Err(StudyError::Interrupted),
                Err(error) => note_lost(&mut all[k].branch, point.orbit.parameter, &error),
            }
        }
        first = last;
    }
    Ok(all)
}

/// A doubling whose orbits were not found is told with the branch.
fn note_lost(branch: &mut Branch, place: f64, error: &StudyError) {
    let why = format!("the orbits of twice the length at {place} were not found: {error}");
    branch.ended = Some(match branch.ended.take() {
        Some(before) => format!("{before}; {why}"),
        None => why,
    });
}

/// The first orbit in time.
fn draw(subject: &dyn Subject, branch: &Branch) -> Result<Vec<Vec<f64>>, StudyError> {
    let Some(orbit) = branch.orbits.first() else { return Ok(Vec::new()) };
    let (n, start) = (subject.coordinates().len(), orbit.start);
    let mut motion = subject.sensitivity(&[])?;
    motion.set_columns(0);
    motion.restart(&State::new(start, &orbit.state[..n], &orbit.state[n..]));
    let mut points = Vec::new();
    for k in 0..=DRAWN {
        motion.advance(start + orbit.period * k as f64 / DRAWN as f64)?;
        points.push(motion.state().q.iter().chain(&motion.state().v).copied().collect());
    }
    Ok(points)
}

/// A multiplier, for people.
fn complex((re, im): (f64, f64)) -> String {
    if im == 0.0 {
        format!("{re:.6}")
    } else {
        format!("{re:.6} {} {:.6}i", if im < 0.0 { '-' } else { '+' }, im.abs())
    }
}

fn multipliers(orbit: &Orbit, most: usize) -> String {
    orbit.multipliers.iter().take(most).map(|z| complex(*z)).collect::<Vec<_>>().join(", ")
}

impl Found {
    /// All orbits, with the number of periods in each.
    fn orbits(&self) -> impl Iterator<Item = (usize, &Orbit)> {
        self.all.iter().flat_map(|followed| followed.branch.orbits.iter().map(|orbit| (followed.multiple, orbit)))
    }

    fn specials(&self) -> impl Iterator<Item = (usize, &Special)> {
        self.all.iter().flat_map(|followed| followed.branch.specials.iter().map(|point| (followed.multiple, point)))
    }

    /// Number of multipliers: without forcing the one along the orbit is left out.
    fn multipliers(&self) -> usize {
        self.orbits().map(|(_, orbit)| orbit.multipliers.len()).max().unwrap_or(0)
    }
}

impl OrbitPlan {
    /// Names of the entries of a state.
    fn names(&self) -> impl Iterator<Item = String> + '_ {
        let (positions, velocities) = (self.subject.coordinates(), self.subject.velocities());
        positions.iter().cloned().chain(velocities.iter().map(|name| format!("{name}'")))
    }

    /// All orbits.
    fn table(&self, found: &Found) -> Table {
        let parameter = self.varied.as_ref().map(|(name, _)| Column::new(name));
        let parts =
            (1..=found.multipliers()).flat_map(|k| [format!("multiplier_{k}_re"), format!("multiplier_{k}_im")]);
        let names = self.subject.coordinates();
        let gains = self.subject.cyclic().iter().map(|(i, _)| Column::new(format!("gain_{}", names[*i])));
        let last = ["stability", "impacts", "slowest", "clearance", "rests", "residual", "start", "length", "multiple"];
        let columns = parameter.into_iter().chain(self.names().chain(parts).map(Column::new));
        let columns = columns.chain(gains).chain(last.map(Column::new));
        let mut table = Table::new("Orbits", columns).to_file("orbit.csv").printed(Printed::No).hidden();
        for (multiple, orbit) in found.orbits() {
            let mut cells: Vec<Cell> = self.varied.iter().map(|_| Cell::from(orbit.parameter)).collect();
            cells.extend(orbit.state.iter().map(|x| Cell::from(*x)));
            cells.extend(orbit.multipliers.iter().flat_map(|z| [Cell::from(z.0), Cell::from(z.1)]));
            cells.extend(orbit.advance.iter().map(|(_, gain)| Cell::from(*gain)));
            cells.extend([Cell::from(orbit.stability.name()), Cell::from(orbit.impacts.len())]);
            cells.extend([Cell::from(orbit.slowest), Cell::from(orbit.clearance), Cell::Count(orbit.rests)]);
            cells.extend([orbit.residual, orbit.start, orbit.period].map(Cell::from));
            cells.push(Cell::from(multiple));
            table.row(cells);
        }
        table
    }

    /// Ends and special points of the branches, for a terminal.
    fn overview(&self, parameter: &str, found: &Found) -> Table {
        let columns = [
            Column::new(parameter).shown(Format::Fixed(9)),
            Column::new("what"),
            Column::new("rounds"),
            Column::new("largest multipliers"),
        ];
        let mut table = Table::new("Ends and special points", columns).hidden();
        for Followed { multiple, branch } in &found.all {
            let ends = branch.orbits.iter().take(1).chain(branch.orbits.last());
            let ends = ends.map(|orbit| (orbit.stability.name(), orbit));
            let specials = branch.specials.iter().map(|special| (special.kind.name(), &special.orbit));
            for (what, orbit) in ends.chain(specials) {
                let cells = [Cell::from(orbit.parameter), Cell::from(what), Cell::from(*multiple)];
                table.row(cells.into_iter().chain([Cell::from(multipliers(orbit, 2))]));
            }
        }
        table
    }

    fn specials(&self, parameter: &str, found: &Found) -> Table {
        let columns = [Column::new("kind"), Column::new(parameter)].into_iter();
        let columns = columns
            .chain(self.names().map(Column::new))
            .chain([Column::new("multiple").titled("rounds"), Column::default().titled("multipliers")]);
        let mut table = Table::new("Special points", columns).to_file("special.csv").printed(Printed::No);
        for (multiple, Special { kind, orbit }) in found.specials() {
            let mut cells = vec![Cell::from(kind.name()), Cell::from(orbit.parameter)];
            cells.extend(orbit.state.iter().map(|x| Cell::from(*x)));
            cells.extend([Cell::from(multiple), Cell::from(multipliers(orbit, usize::MAX))]);
            table.row(cells);
        }
        table
    }

    fn json(&self, found: &Found) -> Value {
        let branch = |followed: &Followed| {
            json!({
                "multiple": followed.multiple,
                "orbits": exact::plain(&followed.branch.orbits),
                "specials": exact::plain(&followed.branch.specials),
                "ended": followed.branch.ended,
            })
        };
        let mut value = branch(&found.all[0]);
        value["model"] = json!(self.subject.name());
        value["scheme"] = self.subject.method().table;
        value["parameter"] = json!(self.varied.as_ref().map(|(name, _)| name));
        value["section"] = json!(self.rounds.words);
        value["doubled"] = found.all[1..].iter().map(branch).collect();
        value
    }

    /// Facts of one orbit.
    fn facts(&self, orbit: &Orbit, multiple: usize) -> Vec<(String, String)> {
        let mut facts: Vec<(String, String)> =
            self.names().zip(orbit.state.iter().map(|x| format!("{x:.12}"))).collect();
        let mut note = |name: &str, value: String| facts.push((name.into(), value));
        note("section", format!("{}, at t = {}", self.rounds.words, orbit.start));
        let forced = self.rounds.is_forced();
        let rounds = if forced { "period(s) of the forcing" } else { "round(s), without forcing" };
        note("length", format!("{} s, {multiple} {rounds}", number(orbit.period, 10)));
        note("stability", orbit.stability.name().into());
        note("multipliers", multipliers(orbit, usize::MAX));
        if orbit.neutral > 0 {
            note("neutral multipliers", format!("{}: the orbit is one of a family", orbit.neutral));
        }
        for (t, contact, before) in &orbit.impacts {
            let laws = self.subject.laws();
            let name = laws.iter().find(|law| law.key == *contact).map_or("?", |law| law.name);
            let text = format!("{t:.9} s after the section, normal velocity {before:.9} m/s");
            note(&format!("impact at {name}"), text);
        }
        for (i, advance) in &orbit.advance {
            let name = self.subject.coordinates().get(*i).map_or("?", String::as_str);
            note(&format!("{name} gains"), format!("{advance:.9} in one orbit"));
        }
        if orbit.clearance.is_finite() {
            note("least gap between impacts", format!("{:.3e} m", orbit.clearance));
        }
        if orbit.rests > 0 {
            note("contacts that come to rest", format!("{}: perturbations vanish there", orbit.rests));
        }
        note("distance from its image", format!("{:.1e}", orbit.residual));
        facts
    }

    fn phase_planes(&self, found: &Found) -> Vec<Chart> {
        let names = self.subject.coordinates();
        let column = |k: usize| found.drawing.iter().map(|x| x[k]).collect::<Vec<f64>>();
        let rate = |name: &String| self.subject.velocities().iter().position(|known| known == name);
        let plane = |(i, name): (usize, &String)| {
            let rate = names.len() + rate(name)?;
            let [x, y] = [name.clone(), format!("{name}'")].map(|axis| label(&*self.subject, &axis, &axis));
            let chart = Chart::new(format!("Phase plane of {name}"), x, y);
            Some(chart.with(Series::lines("orbit", column(i), column(rate))))
        };
        names.iter().enumerate().filter_map(plane).take(CHARTS).collect()
    }

    /// The branch over its parameter.
    fn branch_charts(&self, parameter: &str, found: &Found) -> Vec<Chart> {
        let name = self.subject.coordinates().first().cloned().unwrap_or_default();
        let at_section = label(&*self.subject, &format!("{name} at the section"), &name);
        let parameter = &label(&*self.subject, parameter, parameter);
        let mut chart = Chart::new("Orbits", parameter, at_section).linked("parameter");
        for (label, wanted) in [("stable", true), ("unstable", false)] {
            let kept = |o: &&Orbit| (o.stability == Stability::Stable) == wanted;
            let (a, b) = found.orbits().map(|o| o.1).filter(kept).map(|o| (o.parameter, o.state[0])).unzip();
            chart = chart.with(Series::markers(label, a, b));
        }
        let (a, b) = found.specials().map(|(_, s)| (s.orbit.parameter, s.orbit.state[0])).unzip();
        chart = chart.with(Series::markers("special points", a, b));
        let mut moduli = Chart::new("Multipliers", parameter, "modulus").linked("parameter");
        let first = &found.all[0].branch.orbits;
        let values: Vec<f64> = first.iter().map(|o| o.parameter).collect();
        for k in 0..found.multipliers().min(CHARTS) {
            let modulus = |o: &Orbit| o.multipliers.get(k).map_or(f64::NAN, |z| hypot(z.0, z.1));
            let series = first.iter().map(modulus).collect();
            moduli = moduli.with(Series::lines(format!("multiplier {}", k + 1), values.clone(), series).coloured(k));
        }
        if let (Some(first), Some(last)) = (values.first(), values.last()) {
            moduli = moduli.with(Series::lines("1", vec![*first, *last], vec![1.0; 2]).dashed(Dash::Dot));
        }
        vec![chart, moduli]
    }
}
