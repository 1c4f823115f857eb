//! `carom orbit`: periodic orbits, multipliers, and branches of them over a parameter.

use super::arguments::OrbitArguments;
use super::{
    Setting, bar, csv_number, failed, load_event_driven, period, prepare, sensitivity, varied_parameter, write_report,
    write_text,
};
use crate::console::say;
use crate::failure::Failure;
use crate::list::plain_table;
use crate::progress::interrupted;
use carom::State;
use carom_analysis::report::{Callout, Cell, Chart, Dash, Report, Series, Table};
use carom_analysis::study::StudyError;
use carom_analysis::study::orbit::{Branch, Case, Follow, Options, Orbit, Stability, find};
use carom_analysis::study::range::Values;
use carom_scene::Scene;
use serde_json::json;
use std::fmt::Write;

/// Tolerance of the motion: orbits are as exact as it is.
const TOLERANCE: f64 = 1e-12;

/// Points of the drawing of an orbit.
const DRAWN: usize = 500;

/// What was found.
struct Computed<'a> {
    scene: &'a Scene,
    /// Name of the parameter of the branch.
    parameter: Option<String>,
    multiple: usize,
    branch: Branch,
    /// Positions and velocities of the first orbit, from the section on.
    drawing: Vec<Vec<f64>>,
}

pub fn orbit(arguments: &OrbitArguments) -> Result<(), Failure> {
    let Setting { scene, folder } = load_event_driven(&arguments.study, "orbit", TOLERANCE)?;
    let (multiple, tolerance) = (arguments.multiple as usize, arguments.tolerance);
    let options = Options { multiple, tolerance, iterations: 40 };
    options.check().map_err(failed)?;
    let varied = arguments.parameter.as_deref().map(|text| range(&scene, text)).transpose()?;
    let scene = match &varied {
        Some((name, (first, ..))) => scene.with(&[(name, *first)]).map_err(Failure::Model)?,
        None => scene,
    };
    let length = period(&scene, arguments.period.as_deref())?;
    prepare(&folder, &["orbit.csv", "special.csv", "orbit.html"])?;
    let guess = guess(&scene, arguments, length)?;
    let branch = match &varied {
        Some((name, range)) => {
            let text = arguments.period.as_deref().unwrap_or("period");
            let make = |value: f64| case(&scene, (name, value), text);
            let follow = Follow { make: &make, options, start: guess.t, range: *range };
            let progress = bar(range.2 as u64, "orbits", arguments.study.quiet || arguments.study.json);
            let branch = follow.run(&guess, &interrupted, &|| progress.inc(1)).map_err(failed)?;
            progress.finish_and_clear();
            branch
        }
        None => {
            let mut case = Case { motion: sensitivity(&scene, &[])?, period: (length, 0.0) };
            let orbit = find(&mut case, f64::NAN, &guess, &options).map_err(failed)?;
            Branch { orbits: vec![orbit], ..Branch::default() }
        }
    };
    let drawing = draw(&scene, &branch, guess.t)?;
    let computed = Computed { scene: &scene, parameter: varied.map(|v| v.0), multiple, branch, drawing };
    write_text(&folder.join("orbit.csv"), &computed.csv(&computed.branch.orbits))?;
    if computed.parameter.is_some() {
        write_text(&folder.join("special.csv"), &computed.special_csv())?;
    }
    write_report(&folder.join("orbit.html"), &computed.report())?;
    if arguments.study.json {
        say(serde_json::to_string_pretty(&computed.json()).unwrap_or_default())?;
    } else if !arguments.study.quiet {
        computed.print()?;
        say(format_args!("table  {0}/orbit.csv\nreport {0}/orbit.html", folder.display()))?;
    }
    Ok(())
}

/// The parameter of a branch with its first and last value and the number of steps between them.
fn range(scene: &Scene, text: &str) -> Result<(String, (f64, f64, usize)), Failure> {
    let varied = varied_parameter(scene, "--parameter", text)?;
    match varied.values {
        Values::Range { first, last, count } if count > 1 && first != last => {
            Ok((varied.name, (first, last, count - 1)))
        }
        _ => Err(Failure::usage(
            "--parameter: a branch needs a range with at least two values",
            "for example om=2.5:2.8:60 (first, last, number)",
        )),
    }
}

/// The state at which the search starts.
fn guess(scene: &Scene, arguments: &OrbitArguments, period: f64) -> Result<State, Failure> {
    let initial = &scene.initial;
    let n = initial.q.len();
    if !arguments.start.is_empty() {
        if arguments.start.len() != 2 * n || arguments.start.iter().any(|x| !x.is_finite()) {
            let message = format!(
                "--start has {} numbers, the model has {n} positions and {n} velocities",
                arguments.start.len()
            );
            return Err(Failure::usage(message, "positions first, then velocities, separated by commas"));
        }
        return Ok(State::new(initial.t, &arguments.start[..n], &arguments.start[n..]));
    }
    let mut motion = sensitivity(scene, &[])?;
    motion.set_columns(0);
    for k in 0..arguments.transient {
        motion.advance(initial.t + (k + 1) as f64 * period).map_err(|e| failed(e.into()))?;
        if interrupted() {
            return Err(Failure::Interrupted);
        }
    }
    Ok(State { t: initial.t, ..motion.state().clone() })
}

/// The motion for a value of the parameter, with derivatives by it.
fn case(scene: &Scene, (name, value): (&str, f64), period: &str) -> Result<Case, StudyError> {
    let build = |e: carom_scene::BuildError| StudyError::Build(e.to_string());
    let scene = scene.with(&[(name, value)]).map_err(|all| {
        StudyError::Build(all.first().map_or_else(|| format!("{name} = {value} is refused"), ToString::to_string))
    })?;
    Ok(Case { motion: scene.sensitivity(&[name]).map_err(build)?, period: scene.slope(period, name).map_err(build)? })
}

/// The first orbit in time.
fn draw(scene: &Scene, branch: &Branch, start: f64) -> Result<Vec<Vec<f64>>, Failure> {
    let Some(orbit) = branch.orbits.first() else { return Ok(Vec::new()) };
    let n = scene.coordinates.len();
    let mut motion = sensitivity(scene, &[])?;
    motion.set_columns(0);
    motion.restart(&State::new(start, &orbit.state[..n], &orbit.state[n..]));
    let mut points = Vec::new();
    for k in 0..=DRAWN {
        motion.advance(start + orbit.period * k as f64 / DRAWN as f64).map_err(|e| failed(e.into()))?;
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

impl Computed<'_> {
    /// Names of the entries of a state.
    fn names(&self) -> Vec<String> {
        let names = &self.scene.coordinates;
        names.iter().cloned().chain(names.iter().map(|name| format!("{name}'"))).collect()
    }

    fn csv(&self, orbits: &[Orbit]) -> String {
        let mut text = self.parameter.clone().map_or(String::new(), |name| name + ",");
        text.push_str(&self.names().join(","));
        for k in 1..=self.names().len() {
            let _ = write!(text, ",multiplier_{k}_re,multiplier_{k}_im");
        }
        text.push_str(",stability,impacts,slowest,clearance,rests,residual\n");
        for orbit in orbits {
            let mut cells: Vec<String> = self.parameter.iter().map(|_| csv_number(orbit.parameter)).collect();
            cells.extend(orbit.state.iter().map(|x| csv_number(*x)));
            cells.extend(orbit.multipliers.iter().flat_map(|z| [csv_number(z.0), csv_number(z.1)]));
            cells.extend([orbit.stability.name().to_owned(), orbit.impacts.len().to_string()]);
            cells.extend([csv_number(orbit.slowest), csv_number(orbit.clearance)]);
            cells.extend([orbit.rests.to_string(), csv_number(orbit.residual)]);
            let _ = writeln!(text, "{}", cells.join(","));
        }
        text
    }

    fn special_csv(&self) -> String {
        let mut text = format!("kind,{},{}\n", self.parameter.as_deref().unwrap_or_default(), self.names().join(","));
        for special in &self.branch.specials {
            let state: Vec<String> = special.orbit.state.iter().map(|x| csv_number(*x)).collect();
            let _ = writeln!(text, "{},{:?},{}", special.kind.name(), special.orbit.parameter, state.join(","));
        }
        text
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "model": self.scene.name,
            "scheme": self.scene.scheme.table(),
            "parameter": self.parameter,
            "multiple": self.multiple,
            "orbits": self.branch.orbits,
            "specials": self.branch.specials,
            "ended": self.branch.ended,
        })
    }

    /// Facts of one orbit.
    fn facts(&self, orbit: &Orbit) -> Vec<(String, String)> {
        let mut facts: Vec<(String, String)> =
            self.names().into_iter().zip(orbit.state.iter().map(|x| format!("{x:.12}"))).collect();
        facts.push(("length".into(), format!("{} s, {} period(s) of the forcing", orbit.period, self.multiple)));
        facts.push(("stability".into(), orbit.stability.name().into()));
        let multipliers: Vec<String> = orbit.multipliers.iter().map(|z| complex(*z)).collect();
        facts.push(("multipliers".into(), multipliers.join(", ")));
        for (t, contact, before) in &orbit.impacts {
            let name = self.scene.laws.get(*contact as usize).map_or("?", |law| law.name.as_str());
            facts.push((
                format!("impact at {name}"),
                format!("{t:.9} s after the section, normal velocity {before:.9} m/s"),
            ));
        }
        if orbit.clearance.is_finite() {
            facts.push(("least gap between impacts".into(), format!("{:.3e} m", orbit.clearance)));
        }
        if orbit.rests > 0 {
            facts.push(("contacts that come to rest".into(), format!("{}: perturbations vanish there", orbit.rests)));
        }
        facts.push(("distance from its image".into(), format!("{:.1e}", orbit.residual)));
        facts
    }

    fn print(&self) -> Result<(), Failure> {
        let Some(parameter) = &self.parameter else {
            say(format_args!("{}: periodic orbit", self.scene.name))?;
            let orbit = self.branch.orbits.first();
            return orbit
                .map_or(Vec::new(), |o| self.facts(o))
                .iter()
                .try_for_each(|(a, b)| say(format_args!("{a}: {b}")));
        };
        let stable = self.branch.orbits.iter().filter(|o| o.stability == Stability::Stable).count();
        say(format_args!("{}: {} orbits, {stable} of them stable", self.scene.name, self.branch.orbits.len()))?;
        let mut table = plain_table();
        table.set_header([parameter.as_str(), "what", "largest multipliers"]);
        let row = |value: f64, what: &str, orbit: &Orbit| {
            let largest: Vec<String> = orbit.multipliers.iter().take(2).map(|z| complex(*z)).collect();
            [format!("{value:.9}"), what.to_owned(), largest.join(", ")]
        };
        for orbit in self.branch.orbits.iter().take(1).chain(self.branch.orbits.last()) {
            table.add_row(row(orbit.parameter, orbit.stability.name(), orbit));
        }
        for special in &self.branch.specials {
            table.add_row(row(special.orbit.parameter, special.kind.name(), &special.orbit));
        }
        say(table)?;
        self.branch.ended.iter().try_for_each(|why| say(format_args!("note: {why}")))
    }

    fn report(&self) -> Report {
        let mut report = Report::new(format!("Periodic orbits: {}", self.scene.name));
        report.subtitle = self.scene.description.clone().unwrap_or_default();
        if let Some(orbit) = self.branch.orbits.first() {
            let section = report.section("Orbit");
            section.facts(self.facts(orbit));
            for (i, name) in self.scene.coordinates.iter().enumerate() {
                let column = |k: usize| self.drawing.iter().map(|x| x[k]).collect::<Vec<f64>>();
                let velocity = column(self.scene.coordinates.len() + i);
                let chart = Chart::new(format!("Phase plane of {name}"), name, format!("{name}'"));
                section.push(chart.with(Series::lines("orbit", column(i), velocity)));
                if i >= 7 {
                    break;
                }
            }
        }
        if let Some(parameter) = &self.parameter {
            self.branch_section(parameter, &mut report);
        }
        report.section("Model file").preformatted(self.scene.name.clone(), self.scene.text());
        report
    }

    /// The branch over its parameter.
    fn branch_section(&self, parameter: &str, report: &mut Report) {
        let section = report.section("Branch");
        if let Some(why) = &self.branch.ended {
            section.callout(Callout::Warning, why.clone());
        }
        let name = self.scene.coordinates.first().cloned().unwrap_or_default();
        let mut chart = Chart::new("Orbits", parameter, format!("{name} at the section")).linked("parameter");
        for (label, wanted) in [("stable", true), ("unstable", false)] {
            let kept = |o: &&Orbit| (o.stability == Stability::Stable) == wanted;
            let (a, b) = self.branch.orbits.iter().filter(kept).map(|o| (o.parameter, o.state[0])).unzip();
            chart = chart.with(Series::markers(label, a, b));
        }
        let (a, b) = self.branch.specials.iter().map(|s| (s.orbit.parameter, s.orbit.state[0])).unzip();
        chart = chart.with(Series::markers("special points", a, b));
        let mut moduli = Chart::new("Multipliers", parameter, "modulus").linked("parameter");
        let values: Vec<f64> = self.branch.orbits.iter().map(|o| o.parameter).collect();
        for k in 0..self.names().len().min(8) {
            let modulus = |o: &Orbit| o.multipliers.get(k).map_or(f64::NAN, |z| z.0.hypot(z.1));
            let series = self.branch.orbits.iter().map(modulus).collect();
            moduli = moduli.with(Series::lines(format!("multiplier {}", k + 1), values.clone(), series).coloured(k));
        }
        if let (Some(first), Some(last)) = (values.first(), values.last()) {
            moduli = moduli.with(Series::lines("1", vec![*first, *last], vec![1.0; 2]).dashed(Dash::Dot));
        }
        section.push(chart).push(moduli);
        let mut table = Table::new("Special points", ["kind", parameter, "state at the section", "multipliers"]);
        for special in &self.branch.specials {
            let state: Vec<String> = special.orbit.state.iter().map(|x| format!("{x:.9}")).collect();
            let multipliers: Vec<String> = special.orbit.multipliers.iter().map(|z| complex(*z)).collect();
            table.row([
                Cell::from(special.kind.name()),
                Cell::from(special.orbit.parameter),
                Cell::from(state.join(", ")),
                Cell::from(multipliers.join(", ")),
            ]);
        }
        section.push(table);
    }
}
