//! Rest under loads and preload: which contacts carry, margins to slip and lift-off, ranges of reactions, vibrations.
//!
//! ```text
//!     F(t, q, 0) + Cᵀ λ = 0,   gaps of joints = 0,   gaps of contacts ≥ 0,   λ in its law                          (1)
//!     Zᵀ K Z y = ω² Zᵀ M Z y,   K = −∂F/∂q − Σ λ ∂Cᵀ/∂q,   C Z = 0                                                 (2)
//! ```
//!
//! The position of the file at its start, or at `--time`, is taken where it is one of rest; otherwise the system goes
//! to rest from there without inertia. Friction and redundant joints leave reactions open: each has the least and the
//! largest value over all reactions with (1), by linear programs (round cones are cut out by planes) [charnes1962]. A
//! contact needs the least of |T|/N over all of them: that is the least coefficient of friction with which there is
//! rest while the others keep theirs. `margin` is the part of its coefficient that it can lose, `reserve` the part of
//! all coefficients together that is needed. No reactions means that it moves; reactions mean that it may rest, for
//! Coulomb friction does not prove that it does.
//!
//! Vibrations (2) have the preload: K counts with forces that turn with their bodies. Contacts that carry stay closed,
//! and those that stick do not slide. Where reactions are open, K has those in the middle of their ranges. A contact
//! that touches without carrying, or is at its limit of friction, has no small vibrations.

use super::{document, time};
use crate::report::{Cell, Chart, Series, SeriesStyle, number};
use crate::study::StudyError;
use crate::study::document::{Column, Document, Format, Printed, Section, Table};
use crate::study::runner::{Outcome, Plan, Study, StudyInfo, Watch, only};
use carom::equilibrium::{EquilibriumError, Interval, LawAtRest, Mode, Status, Vibrations, Where, equilibrium};
use carom::scheme::Family;
use carom::{State, Subject};
use carom_solve::Options;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// Rows that are printed.
const PRINTED: usize = 40;

/// Shapes of a chart.
const SHAPES: usize = 6;

/// Entries of a shape in words.
const WORDS: usize = 3;

/// Options of rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Equilibrium {
    /// Time at which loads are taken [s], a number or an expression of parameters [default: the start].
    #[schemars(extend("x-value" = "EXPRESSION"))]
    pub time: Option<String>,
    /// Judge the position of the file alone; nothing is moved.
    pub as_drawn: bool,
}

impl Options for Equilibrium {}

impl Study for Equilibrium {
    const INFO: StudyInfo = StudyInfo {
        citations: &["charnes1962", "lemke1954"],
        files: &["contacts.csv", "reactions.csv", "position.csv", "vibrations.csv", "shapes.csv", "equilibrium.html"],
        ..StudyInfo::new(
            "equilibrium",
            "Find rest under loads: contacts that carry, margins, ranges of reactions, small vibrations",
            include_str!("equilibrium.rs"),
        )
    };
    type Plan = EquilibriumPlan;

    fn plan(&self, subject: Arc<dyn Subject>) -> Result<EquilibriumPlan, StudyError> {
        if subject.family() != Family::Mechanical {
            let message = "the study needs a mechanical model, this one is of first order";
            return Err(StudyError::usage(message, "see `carom docs studies`"));
        }
        let t = match &self.time {
            None => subject.span().0,
            Some(text) if text.trim() == "0" => 0.0,
            Some(text) => time(&*subject, "--time", text)?,
        };
        Ok(EquilibriumPlan { subject, t, place: if self.as_drawn { Where::Here } else { Where::FromHere } })
    }
}

/// What is put to rest.
pub struct EquilibriumPlan {
    subject: Arc<dyn Subject>,
    t: f64,
    place: Where,
}

/// A model at rest, for files.
#[derive(Serialize, Deserialize)]
pub struct AtRest {
    q: Vec<f64>,
    steps: usize,
    residual: f64,
    freedom: usize,
    reserve: Option<f64>,
    laws: Vec<LawPart>,
    vibrations: Option<Vibrations>,
    /// Why there are no vibrations.
    reason: String,
}

/// A law at rest.
#[derive(Serialize, Deserialize)]
struct LawPart {
    name: String,
    law: String,
    status: Status,
    /// Nothing where the contact is absent.
    gap: Option<f64>,
    is_contact: bool,
    /// Role and reaction of each row.
    reactions: Vec<(String, Interval)>,
    /// Role of the first row of each disc, its coefficient, and the part of it that is needed.
    friction: Vec<(String, f64, Option<Interval>)>,
}

impl LawPart {
    fn of(law: &LawAtRest) -> LawPart {
        let roles = (0..law.law.size()).map(|row| law.law.role(row).to_owned());
        let friction = law.law.discs().zip(&law.usage);
        LawPart {
            name: law.name.clone(),
            law: law.law.name().into(),
            status: law.status,
            gap: law.gap.is_finite().then_some(law.gap),
            is_contact: law.law.is_contact(),
            reactions: roles.zip(law.reaction.iter().copied()).collect(),
            friction: friction.map(|((rows, disc), u)| (law.law.role(rows.start).into(), disc.mu, *u)).collect(),
        }
    }

    /// Coefficient of sliding friction, and the part of it that is needed.
    fn sliding(&self) -> Option<(f64, Interval)> {
        let (_, mu, usage) = self.friction.iter().find(|(role, ..)| role == "t1")?;
        usage.map(|usage| (*mu, usage))
    }
}

impl Plan for EquilibriumPlan {
    type Part = AtRest;

    fn units(&self) -> usize {
        1
    }

    fn label(&self, _unit: usize) -> String {
        String::new()
    }

    fn compute(&self, _unit: usize, _watch: &Watch<'_>) -> Result<AtRest, StudyError> {
        let (mut model, mut tangent) = (self.subject.mechanical()?, self.subject.tangent()?);
        let from = State { t: self.t, ..self.subject.initial().clone() };
        let found = equilibrium(&mut *model, &mut *tangent, &from, self.place).map_err(failed)?;
        let (vibrations, reason) = match found.vibrations {
            Ok(vibrations) => (Some(vibrations), String::new()),
            Err(reason) => (None, reason),
        };
        Ok(AtRest {
            q: found.state.q,
            steps: found.steps,
            residual: found.residual,
            freedom: found.freedom,
            reserve: found.reserve,
            laws: found.laws.iter().map(LawPart::of).collect(),
            vibrations,
            reason,
        })
    }

    fn gather(&self, parts: &[Option<Outcome<AtRest>>]) -> Result<Document, StudyError> {
        let rest = only(parts)?;
        let mut document = document("Rest", &*self.subject);
        document.headline = headline(rest);
        document.data = Some(self.json(rest));
        document.warnings = warnings(rest);
        let mut contacts = Section {
            title: "Contacts".into(),
            facts: facts(rest),
            printed_facts: true,
            tables: vec![contacts(rest), reactions(rest)],
            ..Section::default()
        };
        contacts.tables.retain(|table| !table.rows.is_empty());
        document.sections.push(contacts);
        if let Some(vibrations) = rest.vibrations.as_ref().filter(|vibrations| !vibrations.modes.is_empty()) {
            document.sections.push(vibration_section(vibrations));
        }
        let tables = vec![self.position(rest)];
        document.sections.push(Section { title: "Position".into(), tables, ..Section::default() });
        Ok(document)
    }
}

/// An error with what to do about it.
fn failed(error: EquilibriumError) -> StudyError {
    let hint = match &error {
        EquilibriumError::NotHere { .. } => "; leave out --as-drawn to let it come to rest",
        EquilibriumError::NotFound { .. } => "; supports or friction are missing, `carom run` shows the motion",
        EquilibriumError::Driven { .. } => "; give --time T with a time at which it stands still",
        _ => "",
    };
    StudyError::Computation(format!("{error}{hint}"))
}

fn headline(rest: &AtRest) -> String {
    let carrying = rest.laws.iter().filter(|law| matches!(law.status, Status::Carries | Status::MayCarry)).count();
    let closed = match (carrying, rest.laws.iter().any(|law| law.is_contact)) {
        (_, false) => String::new(),
        (0, _) => ", no contact carries".into(),
        (1, _) => ", one contact carries".into(),
        (n, _) => format!(", {n} contacts carry"),
    };
    match rest.steps {
        0 => format!("it rests where it is drawn{closed}"),
        n => format!("it comes to rest after {n} step{} without inertia{closed}", if n == 1 { "" } else { "s" }),
    }
}

fn facts(rest: &AtRest) -> Vec<(String, String)> {
    let mut facts = vec![
        ("open directions of reactions".to_owned(), rest.freedom.to_string()),
        ("balance missed by, of the forces".to_owned(), format!("{:.1e}", rest.residual)),
    ];
    if let Some(reserve) = rest.reserve {
        facts.push(("needed part of all friction".to_owned(), number(reserve, 6)));
    }
    if rest.vibrations.as_ref().is_some_and(|vibrations| vibrations.modes.is_empty()) {
        facts.push(("no small vibrations".to_owned(), "joints, contacts and friction hold everything".to_owned()));
    }
    if !rest.reason.is_empty() {
        facts.push(("no small vibrations".to_owned(), rest.reason.clone()));
    }
    facts
}

fn warnings(rest: &AtRest) -> Vec<String> {
    let mut all = Vec::new();
    let Some(vibrations) = &rest.vibrations else { return all };
    let growing = vibrations.modes.iter().filter(|mode| mode.growth > 0.0).count();
    if growing > 0 {
        all.push(format!("the rest is not stable: {growing} of {} small motions grow", vibrations.modes.len()));
    }
    let idle = vibrations.modes.iter().filter(|mode| mode.growth == 0.0 && mode.omega == 0.0);
    if let Some(mode) = idle.clone().next() {
        let words = words(vibrations, mode);
        let words = if words.is_empty() { String::new() } else { format!(", the first of them {words}") };
        all.push(format!("the rest is not unique: nothing drives {} small motions back{words}", idle.count()));
    }
    if rest.freedom > 0 && !vibrations.modes.is_empty() {
        all.push("reactions are open: vibrations are those with the reactions in the middle of their ranges".into());
    }
    all
}

fn cell(x: Option<f64>) -> Cell {
    x.map_or(Cell::Empty, Cell::from)
}

fn contacts(rest: &AtRest) -> Table {
    let digits = |key: &str, title: &str| Column::new(key).titled(title).shown(Format::Digits(8));
    let columns = [
        Column::new("contact"),
        Column::new("status"),
        digits("gap", "gap [m]"),
        digits("normal_least", "N least [N]"),
        digits("normal", "N [N]"),
        digits("normal_most", "N most [N]"),
        digits("needs_least", "|T|/N needed"),
        digits("needs_most", "|T|/N most"),
        Column::new("friction"),
        digits("margin", "margin to slip"),
    ];
    let mut table = Table::new("Contacts", columns).to_file("contacts.csv").printed(Printed::First(PRINTED));
    for law in rest.laws.iter().filter(|law| law.is_contact) {
        let normal = law.reactions.first().map_or(Interval { least: None, middle: 0.0, most: None }, |row| row.1);
        let mut cells = vec![Cell::from(law.name.as_str()), Cell::from(law.status.name()), cell(law.gap)];
        if law.status == Status::Open {
            table.row(cells);
            continue;
        }
        cells.extend([cell(normal.least), Cell::from(normal.middle), cell(normal.most)]);
        if let Some((mu, usage)) = law.sliding() {
            let part = |x: Option<f64>| cell(x.map(|x| mu * x));
            cells.extend([part(usage.least), part(usage.most), Cell::from(mu), cell(usage.least.map(|x| 1.0 - x))]);
        }
        table.row(cells);
    }
    table
}

fn reactions(rest: &AtRest) -> Table {
    let digits = |key: &str, title: &str| Column::new(key).titled(title).shown(Format::Digits(8));
    let ends = [digits("least", "least [N, N m]"), digits("middle", "one [N, N m]"), digits("most", "most [N, N m]")];
    let columns = [Column::new("law"), Column::new("row")].into_iter().chain(ends);
    let table = Table::new("Reactions; an end that is empty has no bound", columns);
    let mut table = table.to_file("reactions.csv").printed(Printed::No);
    for law in rest.laws.iter().filter(|law| law.status != Status::Open) {
        for (role, interval) in &law.reactions {
            let ends = [cell(interval.least), Cell::from(interval.middle), cell(interval.most)];
            table.row([Cell::from(law.name.as_str()), Cell::from(role.as_str())].into_iter().chain(ends));
        }
    }
    table
}

/// The largest entries of a shape.
fn words(vibrations: &Vibrations, mode: &Mode) -> String {
    let mut order: Vec<usize> = (0..mode.shape.len()).filter(|&i| mode.shape[i].abs() > 1e-3).collect();
    order.sort_by(|&i, &j| mode.shape[j].abs().total_cmp(&mode.shape[i].abs()).then(i.cmp(&j)));
    let entry = |&i: &usize| format!("{} {}", vibrations.velocities[i], number(mode.shape[i], 3));
    order.iter().take(WORDS).map(entry).collect::<Vec<_>>().join(", ")
}

fn vibration_section(vibrations: &Vibrations) -> Section {
    let digits = |key: &str, title: &str| Column::new(key).titled(title).shown(Format::Digits(10));
    let columns = [
        Column::new("mode"),
        digits("omega", "omega [rad/s]"),
        digits("frequency", "frequency [Hz]"),
        digits("growth", "growth [1/s]"),
        digits("damping", "damping [-]"),
        Column::new("moves"),
    ];
    let mut table = Table::new("Vibrations", columns).to_file("vibrations.csv").printed(Printed::First(PRINTED));
    let names = (1..=vibrations.modes.len()).map(|k| Column::new(format!("mode{k}")).shown(Format::Digits(8)));
    let mut shapes = Table::new("Shapes", [Column::new("velocity")].into_iter().chain(names)).to_file("shapes.csv");
    shapes.printed = Printed::No;
    for (k, mode) in vibrations.modes.iter().enumerate() {
        let cells = [mode.omega, mode.omega / std::f64::consts::TAU, mode.growth, mode.damping].map(Cell::from);
        let words = Cell::from(words(vibrations, mode));
        table.row([Cell::from(k + 1)].into_iter().chain(cells).chain([words]));
    }
    for (i, name) in vibrations.velocities.iter().enumerate() {
        let entries = vibrations.modes.iter().map(|mode| cell(mode.shape.get(i).copied()));
        shapes.row([Cell::from(name.as_str())].into_iter().chain(entries));
    }
    let mut chart = Chart::new("Shapes", "number of the velocity", "part of the largest");
    for (k, mode) in vibrations.modes.iter().enumerate().filter(|(_, mode)| !mode.shape.is_empty()).take(SHAPES) {
        let x = (1..=mode.shape.len()).map(|i| i as f64).collect();
        let label = format!("{} rad/s, {}", number(mode.omega, 5), k + 1);
        chart = chart.with(Series::new(label, SeriesStyle::LinesAndMarkers, x, mode.shape.clone()));
    }
    let charts = if vibrations.modes.iter().any(|mode| !mode.shape.is_empty()) { vec![chart] } else { Vec::new() };
    Section { title: "Vibrations".into(), tables: vec![table, shapes], charts, ..Section::default() }
}

impl EquilibriumPlan {
    fn position(&self, rest: &AtRest) -> Table {
        let digits = |key: &str| Column::new(key).shown(Format::Digits(10));
        let columns = [Column::new("coordinate"), digits("drawn"), digits("rest")];
        let printed = if rest.steps == 0 { Printed::No } else { Printed::First(PRINTED) };
        let mut table = Table::new("Position", columns).to_file("position.csv").printed(printed);
        let values = self.subject.initial().q.iter().zip(&rest.q);
        for (name, (drawn, rest)) in self.subject.coordinates().iter().zip(values) {
            table.row([Cell::from(name.as_str()), Cell::from(*drawn), Cell::from(*rest)]);
        }
        table
    }

    fn json(&self, rest: &AtRest) -> Value {
        let position: serde_json::Map<String, Value> =
            self.subject.coordinates().iter().cloned().zip(rest.q.iter().map(|q| json!(q))).collect();
        let law = |law: &LawPart| {
            let rows: serde_json::Map<String, Value> =
                law.reactions.iter().map(|(role, interval)| (role.clone(), json!(interval))).collect();
            let friction = |(role, mu, usage): &(String, f64, Option<Interval>)| {
                let needs = usage.map(|u| json!({ "least": u.least.map(|x| mu * x), "most": u.most.map(|x| mu * x) }));
                let margin = usage.and_then(|u| u.least).map(|x| 1.0 - x);
                json!({ "row": role, "coefficient": mu, "used": usage, "needs": needs, "margin": margin })
            };
            let friction: Vec<Value> = law.friction.iter().map(friction).collect();
            let (name, kind, status, gap) = (&law.name, &law.law, law.status, law.gap);
            json!({ "name": name, "law": kind, "status": status, "gap": gap, "reactions": rows, "friction": friction })
        };
        json!({
            "time": self.t,
            "position": position,
            "steps": rest.steps,
            "residual": rest.residual,
            "open": rest.freedom,
            "reserve": rest.reserve,
            "laws": rest.laws.iter().map(law).collect::<Vec<_>>(),
            "vibrations": rest.vibrations,
            "no_vibrations": (!rest.reason.is_empty()).then_some(&rest.reason),
            "warnings": warnings(rest),
        })
    }
}
