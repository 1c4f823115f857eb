//! The columns of a run as signals, and the charts that a reader wants first: one axis per unit.

use super::mechanical;
use crate::run::Run;
use carom::simulation::ColumnKind;
use carom_analysis::report::{Chart, Dash, Lane, Outline, Portrait, Series, SeriesStyle, Thinned, Values};
use carom_scene::scene::{ChartInfo, PlayInfo};

/// Prefix of columns and title of their chart; columns without a title are there by choice alone.
type Row = (&'static str, &'static str);

const LOSSES: &str = "Energy lost since the start";
const DRIFTS: &str = "Drift of joints and constraints";
const REACTIONS: &str = "Reactions of joints and constraints";
const MECHANICAL: [Row; 10] = [
    ("q.", "Positions"),
    ("v.", "Velocities"),
    ("gap.", "Gaps"),
    ("force.", "Contact forces"),
    ("force.", REACTIONS),
    ("gap.", DRIFTS),
    ("energy.", "Energies"),
    ("loss.", LOSSES),
    ("output.", "Outputs"),
    ("tau.", "Multipliers of the projection"),
];

const FIRST_ORDER: [Row; 4] =
    [("x.", "States"), ("y.", "Outputs of the rows"), ("lambda.", "Multipliers"), ("output.", "Outputs")];

/// Outputs and multipliers of a circuit are voltages and currents of its elements.
const CIRCUIT: [Row; 5] =
    [("x.", "States"), ("v.", VOLTAGES), ("v.", POTENTIALS), ("i.", "Currents"), ("output.", "Outputs")];
const VOLTAGES: &str = "Voltages of the elements";
const POTENTIALS: &str = "Potentials of the nodes";

/// Every column over time, by name.
pub struct Signals {
    pub list: Vec<Series>,
    rows: &'static [Row],
    held: Vec<String>, // laws of joints and constraints, which are no contacts
}

/// Orbits of pins that a report draws; others may be picked.
const MOST_ORBITS: usize = 8;

/// Coordinates that change by less than this part of the largest one do not move.
const NOISE: f64 = 1e-12;

impl Signals {
    pub fn new(run: &Run) -> Signals {
        let history = &run.recorded.history;
        let rows = match mechanical(run) {
            true => &MECHANICAL[..],
            false if history.names.iter().any(|name| name.starts_with("i.")) => &CIRCUIT,
            false => &FIRST_ORDER,
        };
        let signal = |(name, column): (&String, &Values)| {
            let info = run.recorded.summary.columns.iter().find(|info| info.name == *name);
            let style = match info.map(|info| info.kind) {
                // one value over each step, which stands in the row of its end
                Some(ColumnKind::Held | ColumnKind::Mean | ColumnKind::Sum) => SeriesStyle::Means,
                _ => SeriesStyle::Lines,
            };
            let unit = info.and_then(|info| info.unit.clone()).unwrap_or_default();
            Series::shared(name, style, history.t.clone(), column.clone()).in_unit(unit).jumping()
        };
        // there are no forces before the first step
        let told = |(_, column): &(&String, &Values)| column.iter().any(|x| !x.is_nan());
        let list = history.names.iter().zip(&history.columns).filter(told).map(signal).collect();
        let held = run.scene.laws.iter().filter(|info| !info.law.is_contact()).map(|info| info.name.clone()).collect();
        Signals { list, rows, held }
    }

    /// The number of a signal.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.list.iter().position(|signal| signal.name == name)
    }

    /// Orbits of pins in their holes, velocities over their coordinates, or the second state over the first.
    pub fn portraits(&self, run: &Run) -> Vec<Portrait> {
        let orbit = |play: &PlayInfo, (x, y): &(String, String)| {
            let bound = Some(if play.is_square { Outline::Square } else { Outline::Circle });
            Some(Portrait { x: self.find(x)?, y: self.find(y)?, bound })
        };
        let orbits =
            run.scene.plays.iter().flat_map(|play| play.orbits.iter().filter_map(move |pair| orbit(play, pair)));
        let pairs = self.phases().into_iter().map(|(x, y)| Portrait { x, y, bound: None });
        orbits.take(MOST_ORBITS).chain(pairs).collect()
    }

    /// Velocities over their coordinates, or the second state over the first.
    fn phases(&self) -> Vec<(usize, usize)> {
        let coordinates = self.list.iter().filter(|signal| signal.name.starts_with("q."));
        let largest = coordinates.flat_map(|signal| signal.y.iter()).fold(0.0f64, |most, y| most.max(y.abs()));
        let velocity = |(x, signal): (usize, &Series)| {
            let name = signal.name.strip_prefix("q.")?;
            let moves = signal.y.iter().any(|y| (*y - signal.y[0]).abs() > NOISE * largest);
            Some((x, self.find(&format!("v.{name}"))?)).filter(|_| moves)
        };
        let mut pairs: Vec<(usize, usize)> = self.list.iter().enumerate().filter_map(velocity).take(2).collect();
        let states: Vec<usize> =
            (0..self.list.len()).filter(|i| self.list[*i].name.starts_with("x.")).take(2).collect();
        if let [x, y] = states[..] {
            pairs.push((x, y));
        }
        pairs
    }

    /// Whether a column, without its prefix, belongs to a joint or a constraint.
    fn is_held(&self, name: &str) -> bool {
        let own = |law: &String| name.strip_prefix(&**law).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        self.held.iter().any(own)
    }

    /// The curves of a chart: those whose names begin with a prefix, under the rest of their names.
    fn curves(&self, (prefix, title): Row) -> Vec<Series> {
        let short = |signal: &Series| {
            let name = signal.name.strip_prefix(prefix)?;
            // elements have a voltage and a current, nodes a potential alone
            let wanted = match title {
                VOLTAGES => self.find(&format!("i.{name}")).is_some(),
                POTENTIALS => self.find(&format!("i.{name}")).is_none(),
                DRIFTS | REACTIONS => self.is_held(name),
                _ if matches!(prefix, "gap." | "force.") => !self.is_held(name),
                _ => true,
            };
            let name = match (title, name) {
                ("Velocities", name) => format!("{name}'"),
                (LOSSES, "impact") => "at impacts".into(),
                (LOSSES, "friction") => "by friction".into(),
                (LOSSES, name) => format!("contact {name}"),
                (_, name) => name.into(),
            };
            wanted.then(|| Series { name, ..signal.clone() })
        };
        self.list.iter().filter_map(short).collect()
    }
}

/// Charts over time; impulses of impacts stand before the forces of contacts.
pub fn charts(run: &Run, signals: &Signals, lanes: &[Lane]) -> Vec<Chart> {
    let history = &run.recorded.history;
    let note = thinned(history.block) + if history.block > 1 { " All are in trajectory.parquet." } else { "" };
    let mut charts: Vec<Chart> = run.scene.charts.iter().filter_map(|chart| chosen(chart, signals, &note)).collect();
    for &(prefix, title) in signals.rows {
        let mut series = signals.curves((prefix, title));
        if matches!(prefix, "gap." | "force." | "lambda." | "y.") {
            series.iter_mut().for_each(|curve| colour(curve, lanes));
        }
        let mut label = "";
        if prefix == "force." {
            if title != REACTIONS {
                charts.extend(impulses(run, lanes));
            }
            label = forces(&mut series, lanes);
        }
        // without a contact that lasts there are no forces
        let silent = prefix == "force." && series.iter().all(|curve| curve.y.iter().all(|y| *y == 0.0 || y.is_nan()));
        if !series.is_empty() && !silent {
            let file = Some("trajectory.parquet".into());
            charts.push(Chart { series, file, note: note.clone(), ..Chart::over_time(title, label) });
        }
    }
    charts.extend(step_sizes(run));
    charts
}

/// A chart that the model file asks for; columns that are not recorded are left out.
fn chosen(info: &ChartInfo, signals: &Signals, note: &str) -> Option<Chart> {
    let signal = |name: &String| signals.find(name).map(|number| &signals.list[number]);
    let short = |name: &str| name.strip_prefix("output.").unwrap_or(name).to_owned();
    let over = match &info.over {
        Some(name) => Some(signal(name)?),
        None => None,
    };
    let series = info.curves.iter().filter_map(signal).map(|curve| match over {
        Some(over) => Series { x: over.y.clone(), jumps: false, name: short(&curve.name), ..curve.clone() },
        None => Series { name: short(&curve.name), ..curve.clone() },
    });
    let series: Vec<Series> = series.collect();
    let unit = |over: &Series| over.unit.as_ref().map_or(String::new(), |unit| format!(" [{unit}]"));
    let chart = match over {
        Some(over) => Chart::new(&info.title, short(&over.name) + &unit(over), ""),
        // a window of its own does not follow the others
        None if info.over_range.is_some() => Chart::new(&info.title, "t [s]", ""),
        None => Chart::over_time(&info.title, ""),
    };
    let (file, note) = (Some("trajectory.parquet".into()), note.to_owned());
    let (x_range, y_range, log_y) = (info.over_range, info.range, info.log);
    (!series.is_empty()).then_some(Chart { series, file, note, x_range, y_range, log_y, ..chart })
}

/// What a thinned chart owes to its reader; nothing where all rows are there.
fn thinned(block: u64) -> String {
    match block {
        0 | 1 => String::new(),
        _ => format!("Thinned, extremes kept: of each {block} rows those with the smallest and largest values."),
    }
}

/// A contact has its colour everywhere; rows of its law along tangents are dotted.
fn colour(curve: &mut Series, lanes: &[Lane]) {
    let own =
        |lane: &Lane| curve.name.strip_prefix(&*lane.name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    if let Some(lane) = lanes.iter().position(own) {
        curve.colour = Some(lane);
        curve.dash = if curve.name == lanes[lane].name { Dash::Solid } else { Dash::Dot };
    }
}

/// Forces are stairs: they jump where contacts close and open, and no row tells the value just after. What they are.
fn forces(series: &mut [Series], lanes: &[Lane]) -> &'static str {
    let means = series.iter().any(|curve| curve.style == SeriesStyle::Means);
    for curve in series {
        if means {
            without_impacts(curve, lanes);
        } else {
            at_ends(curve);
        }
        if let Some(tangent) = curve.colour.and_then(|lane| curve.name.strip_prefix(&*lanes.get(lane)?.name)) {
            // `floor.t1` is the friction of the contact `floor`
            curve.name = match tangent {
                "" => continue,
                ".t1" => format!("friction, {}", curve.name.trim_end_matches(".t1")),
                _ => curve.name.clone(),
            };
        }
    }
    if means { "step means, no impacts" } else { "at the ends of steps" }
}

/// Rows inside steps have no forces: each step has the one at its end.
fn at_ends(curve: &mut Series) {
    let known = || curve.x.iter().zip(curve.y.iter()).filter(|(_, force)| !force.is_nan());
    let (x, y) = (known().map(|(t, _)| *t).collect(), known().map(|(_, force)| *force).collect());
    (curve.x, curve.y, curve.style) = (x, y, SeriesStyle::Means);
}

/// An impulse over the step of an impact is no force: schemes that step over impacts have gaps there.
fn without_impacts(curve: &mut Series, lanes: &[Lane]) {
    let Some(lane) = curve.colour.and_then(|lane| lanes.get(lane)) else { return };
    let is_impact = |t: f64| lane.times.binary_search_by(|other| other.total_cmp(&t)).is_ok();
    let force = |(t, force): (&f64, &f64)| if is_impact(*t) { f64::NAN } else { *force };
    curve.y = curve.x.iter().zip(curve.y.iter()).map(force).collect();
}

/// Impulses of impacts are stems: nothing is between them.
fn impulses(run: &Run, lanes: &[Lane]) -> Option<Chart> {
    let some = |lane: &(usize, &Lane)| !lane.1.times.is_empty();
    let stem = |(k, lane): (usize, &Lane)| {
        Series::shared(&lane.name, SeriesStyle::Stems, lane.times.clone(), lane.impulses.clone()).coloured(k)
    };
    let mut chart = Chart::over_time("Impulses of the impacts", "[N s]");
    chart.series = lanes.iter().enumerate().filter(some).map(stem).collect();
    // a few decades need a logarithm
    let sizes = || lanes.iter().flat_map(|lane| lane.impulses.iter().copied()).filter(|p| *p > 0.0);
    chart.log_y = sizes().fold(0.0, f64::max) > 30.0 * sizes().fold(f64::INFINITY, f64::min);
    let (listed, all) = (run.lists.impacts.len() as u64, run.recorded.summary.impacts);
    if listed < all {
        chart.note = format!("The first {listed} of {all} impacts; all are in impacts.parquet.");
    }
    (!chart.series.is_empty()).then_some(chart)
}

/// Sizes of adaptive steps, and the tries that were rejected.
fn step_sizes(run: &Run) -> Option<Chart> {
    let sizes = run.sizes.as_ref()?;
    let mut chart = Chart::over_time("Size of steps", "[s]");
    chart.log_y = true;
    let (all, retried) = (sizes.all(), sizes.retried());
    let curve =
        |name, style, found: &Thinned| Series::shared(name, style, found.columns[0].clone(), found.columns[1].clone());
    let mut accepted = curve("accepted", SeriesStyle::Steps, &all);
    if let (Some(t), Some(h)) = (accepted.x.last(), accepted.y.last()) {
        // the last step has an end, too
        let with = |values: &Values, last: f64| values.iter().copied().chain([last]).collect();
        (accepted.x, accepted.y) = (with(&accepted.x, t + h), with(&accepted.y, *h));
    }
    chart = chart.with(accepted);
    if retried.total > 0 {
        chart = chart.with(curve("accepted after rejected tries", SeriesStyle::Markers, &retried));
    }
    chart.note = thinned(all.block.max(retried.block));
    Some(chart)
}
