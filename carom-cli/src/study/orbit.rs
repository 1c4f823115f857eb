//! `carom orbit`: periodic orbits, multipliers, and branches of them over a parameter.

use super::arguments::OrbitArguments;
use super::orbit_section::Rounds;
use super::{
    Setting, bar, csv_number, failed, load_event_driven, prepare, sensitivity, varied_parameter, write_report,
    write_text,
};
use crate::console::say;
use crate::failure::Failure;
use crate::list::plain_table;
use crate::progress::interrupted;
use carom::State;
use carom_analysis::report::{Callout, Cell, Chart, Dash, Report, Series, Table};
use carom_analysis::study::StudyError;
use carom_analysis::study::orbit::{Branch, Follow, Kind, Options, Orbit, Special, Stability, find};
use carom_analysis::study::range::Values;
use carom_scene::Scene;
use serde_json::json;
use std::fmt::Write;

/// Tolerance of the motion: orbits are as exact as it is.
const TOLERANCE: f64 = 1e-12;

/// Points of the drawing of an orbit.
const DRAWN: usize = 500;

/// Orbits of one number of periods.
struct Followed {
    multiple: usize,
    branch: Branch,
}

/// What was found.
struct Computed<'a> {
    scene: &'a Scene,
    /// Name of the parameter of the branch.
    parameter: Option<String>,
    /// The branch, then those of doubled orbits.
    all: Vec<Followed>,
    /// The section in words, and whether there is a forcing.
    section: String,
    forced: bool,
    /// Positions and velocities of the first orbit, from the section on.
    drawing: Vec<Vec<f64>>,
}

pub fn orbit(arguments: &OrbitArguments) -> Result<(), Failure> {
    let Setting { scene, folder } = load_event_driven(&arguments.study, "orbit", TOLERANCE)?;
    let mut options = Options { tolerance: arguments.tolerance, ..Options::new(arguments.multiple as usize) };
    options.check().map_err(failed)?;
    let varied = arguments.parameter.as_deref().map(|text| range(&scene, text)).transpose()?;
    let scene = match &varied {
        Some((name, (first, ..))) => scene.with(&[(name, *first)]).map_err(Failure::Model)?,
        None => scene,
    };
    let mut rounds = Rounds::read(&scene, arguments)?;
    prepare(&folder, &["orbit.csv", "special.csv", "orbit.html"])?;
    let guess = rounds.guess(&scene, arguments, &mut options)?;
    let all = match &varied {
        Some((name, range)) => {
            let make = |value: f64| {
                let scene = scene.with(&[(name, value)]).map_err(|all| refused(&all, name, value))?;
                rounds.case(&scene, Some(name))
            };
            let follow = Follow { make: &make, options, start: guess.t, range: *range };
            let progress = bar(range.2 as u64, "orbits", arguments.study.quiet || arguments.study.json);
            let branch = follow.run(&guess, &interrupted, &|| progress.inc(1)).map_err(failed)?;
            progress.finish_and_clear();
            doubled(&follow, branch, arguments.switch.unwrap_or(0))?
        }
        None => {
            let mut case = rounds.case(&scene, None).map_err(failed)?;
            let orbit = find(&mut case, f64::NAN, &guess, &options).map_err(failed)?;
            let branch = Branch { orbits: vec![orbit], ..Branch::default() };
            vec![Followed { multiple: options.multiple, branch }]
        }
    };
    let drawing = draw(&scene, &all[0].branch)?;
    let (section, forced) = (rounds.describe(&scene), rounds.is_forced());
    let computed = Computed { scene: &scene, parameter: varied.map(|v| v.0), all, section, forced, drawing };
    write_text(&folder.join("orbit.csv"), &computed.csv())?;
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

/// A value of the parameter that the model does not take.
fn refused(all: &[carom_scene::Diagnostic], name: &str, value: f64) -> StudyError {
    StudyError::Build(all.first().map_or_else(|| format!("{name} = {value} is refused"), ToString::to_string))
}

/// The branch, and those that leave it and one another at period doublings, so many levels deep.
fn doubled(follow: &Follow<'_>, branch: Branch, levels: u64) -> Result<Vec<Followed>, Failure> {
    let mut all = vec![Followed { multiple: follow.options.multiple, branch }];
    let mut options = vec![follow.options];
    let mut first = 0;
    for _ in 0..levels {
        let last = all.len();
        let doublings = |k: usize| all[k].branch.specials.iter().filter(|s| s.kind == Kind::PeriodDoubling);
        let points: Vec<(usize, Special)> =
            (first..last).flat_map(|k| doublings(k).map(move |s| (k, s.clone()))).collect();
        for (k, point) in points {
            match (Follow { options: options[k], ..*follow }).switch(&point, &interrupted, &|| {}) {
                Ok((branch, more)) => {
                    all.push(Followed { multiple: more.multiple, branch });
                    options.push(more);
                }
                Err(StudyError::Interrupted) => return Err(Failure::Interrupted),
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

/// The first orbit in time.
fn draw(scene: &Scene, branch: &Branch) -> Result<Vec<Vec<f64>>, Failure> {
    let Some(orbit) = branch.orbits.first() else { return Ok(Vec::new()) };
    let (n, start) = (scene.coordinates.len(), orbit.start);
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

    fn csv(&self) -> String {
        let mut text = self.parameter.clone().map_or(String::new(), |name| name + ",");
        text.push_str(&self.names().join(","));
        for k in 1..=self.multipliers() {
            let _ = write!(text, ",multiplier_{k}_re,multiplier_{k}_im");
        }
        text.push_str(",stability,impacts,slowest,clearance,rests,residual,start,length,multiple\n");
        for (multiple, orbit) in self.orbits() {
            let mut cells: Vec<String> = self.parameter.iter().map(|_| csv_number(orbit.parameter)).collect();
            cells.extend(orbit.state.iter().map(|x| csv_number(*x)));
            cells.extend(orbit.multipliers.iter().flat_map(|z| [csv_number(z.0), csv_number(z.1)]));
            cells.extend([orbit.stability.name().to_owned(), orbit.impacts.len().to_string()]);
            cells.extend([csv_number(orbit.slowest), csv_number(orbit.clearance)]);
            cells.extend([orbit.rests.to_string(), csv_number(orbit.residual)]);
            cells.extend([csv_number(orbit.start), csv_number(orbit.period), multiple.to_string()]);
            let _ = writeln!(text, "{}", cells.join(","));
        }
        text
    }

    fn special_csv(&self) -> String {
        let parameter = self.parameter.as_deref().unwrap_or_default();
        let mut text = format!("kind,{parameter},{},multiple\n", self.names().join(","));
        for (multiple, special) in self.specials() {
            let state: Vec<String> = special.orbit.state.iter().map(|x| csv_number(*x)).collect();
            let (kind, value) = (special.kind.name(), special.orbit.parameter);
            let _ = writeln!(text, "{kind},{value:?},{},{multiple}", state.join(","));
        }
        text
    }

    fn json(&self) -> serde_json::Value {
        let branch = |followed: &Followed| {
            json!({
                "multiple": followed.multiple,
                "orbits": followed.branch.orbits,
                "specials": followed.branch.specials,
                "ended": followed.branch.ended,
            })
        };
        let mut value = branch(&self.all[0]);
        value["model"] = json!(self.scene.name);
        value["scheme"] = json!(self.scene.scheme.table());
        value["parameter"] = json!(self.parameter);
        value["section"] = json!(self.section);
        value["doubled"] = self.all[1..].iter().map(branch).collect();
        value
    }

    /// Facts of one orbit.
    fn facts(&self, orbit: &Orbit) -> Vec<(String, String)> {
        let mut facts: Vec<(String, String)> =
            self.names().into_iter().zip(orbit.state.iter().map(|x| format!("{x:.12}"))).collect();
        facts.push(("section".into(), format!("{}, at t = {}", self.section, orbit.start)));
        let rounds = if self.forced { "period(s) of the forcing" } else { "round(s), without forcing" };
        facts.push(("length".into(), format!("{} s, {} {rounds}", orbit.period, self.all[0].multiple)));
        facts.push(("stability".into(), orbit.stability.name().into()));
        let multipliers: Vec<String> = orbit.multipliers.iter().map(|z| complex(*z)).collect();
        facts.push(("multipliers".into(), multipliers.join(", ")));
        for (t, contact, before) in &orbit.impacts {
            let name = self.scene.law(*contact).map_or("?", |law| law.name.as_str());
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
        let first = &self.all[0].branch;
        let Some(parameter) = &self.parameter else {
            say(format_args!("{}: periodic orbit", self.scene.name))?;
            let facts = first.orbits.first().map_or(Vec::new(), |o| self.facts(o));
            return facts.iter().try_for_each(|(a, b)| say(format_args!("{a}: {b}")));
        };
        let stable = self.orbits().filter(|(_, o)| o.stability == Stability::Stable).count();
        say(format_args!("{}: {} orbits, {stable} of them stable", self.scene.name, self.orbits().count()))?;
        let mut table = plain_table();
        table.set_header([parameter.as_str(), "what", "rounds", "largest multipliers"]);
        let row = |what: &str, multiple: usize, orbit: &Orbit| {
            let largest: Vec<String> = orbit.multipliers.iter().take(2).map(|z| complex(*z)).collect();
            [format!("{:.9}", orbit.parameter), what.to_owned(), multiple.to_string(), largest.join(", ")]
        };
        for Followed { multiple, branch } in &self.all {
            for orbit in branch.orbits.iter().take(1).chain(branch.orbits.last()) {
                table.add_row(row(orbit.stability.name(), *multiple, orbit));
            }
            for special in &branch.specials {
                table.add_row(row(special.kind.name(), *multiple, &special.orbit));
            }
        }
        say(table)?;
        let notes = self.all.iter().filter_map(|followed| followed.branch.ended.as_ref());
        notes.into_iter().try_for_each(|why| say(format_args!("note: {why}")))
    }

    fn report(&self) -> Report {
        let mut report = Report::new(format!("Periodic orbits: {}", self.scene.name));
        report.subtitle = self.scene.description.clone().unwrap_or_default();
        if let Some(orbit) = self.all[0].branch.orbits.first() {
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
        for why in self.all.iter().filter_map(|followed| followed.branch.ended.as_ref()) {
            section.callout(Callout::Warning, why.clone());
        }
        let name = self.scene.coordinates.first().cloned().unwrap_or_default();
        let mut chart = Chart::new("Orbits", parameter, format!("{name} at the section")).linked("parameter");
        for (label, wanted) in [("stable", true), ("unstable", false)] {
            let kept = |o: &&Orbit| (o.stability == Stability::Stable) == wanted;
            let (a, b) = self.orbits().map(|o| o.1).filter(kept).map(|o| (o.parameter, o.state[0])).unzip();
            chart = chart.with(Series::markers(label, a, b));
        }
        let (a, b) = self.specials().map(|(_, s)| (s.orbit.parameter, s.orbit.state[0])).unzip();
        chart = chart.with(Series::markers("special points", a, b));
        let mut moduli = Chart::new("Multipliers", parameter, "modulus").linked("parameter");
        let first = &self.all[0].branch.orbits;
        let values: Vec<f64> = first.iter().map(|o| o.parameter).collect();
        for k in 0..self.multipliers().min(8) {
            let modulus = |o: &Orbit| o.multipliers.get(k).map_or(f64::NAN, |z| z.0.hypot(z.1));
            let series = first.iter().map(modulus).collect();
            moduli = moduli.with(Series::lines(format!("multiplier {}", k + 1), values.clone(), series).coloured(k));
        }
        if let (Some(first), Some(last)) = (values.first(), values.last()) {
            moduli = moduli.with(Series::lines("1", vec![*first, *last], vec![1.0; 2]).dashed(Dash::Dot));
        }
        section.push(chart).push(moduli);
        let mut table =
            Table::new("Special points", ["kind", parameter, "rounds", "state at the section", "multipliers"]);
        for (multiple, special) in self.specials() {
            let state: Vec<String> = special.orbit.state.iter().map(|x| format!("{x:.9}")).collect();
            let multipliers: Vec<String> = special.orbit.multipliers.iter().map(|z| complex(*z)).collect();
            table.row([
                Cell::from(special.kind.name()),
                Cell::from(special.orbit.parameter),
                Cell::from(multiple.to_string()),
                Cell::from(state.join(", ")),
                Cell::from(multipliers.join(", ")),
            ]);
        }
        section.push(table);
    }
}
