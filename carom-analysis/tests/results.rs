//! Result files read back row by row, compared with the trajectory kept in memory by the library's own recorder.

use carom::model::{Contact, Lagrangian};
use carom::scheme::{AnyModel, Bound, MoreauJean, Stepper};
use carom::simulation::{FixedStep, Impact, Lists, Observer, Recorder, StepView, UserEvent};
use carom::{ModelError, Simulation, Solution};
use carom_analysis::results::{
    Columns, Inputs, Method, Outputs, RecordOptions, Recorded, ResultError, RunRecorder, Status, Summary,
};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tables::{directory, read, steps};

mod tables;

const STEP: f64 = 1e-3;

/// A ball of 1 kg under 2 N, from 1 m, restitution 1/2.
fn ball() -> Lagrangian {
    Lagrangian::new(1)
        .constant_mass(&[1.0])
        .force(|_, _, _, f| f[0] = -2.0)
        .potential(|q| 2.0 * q[0])
        .contact(Contact::new("floor", |_, q| q[0]).gradient(|_, _, row| row[0] = 1.0).restitution(0.5))
        .initial(&[1.0], &[0.0])
}

/// A point that falls obliquely on a rough floor beside a smooth wall that it reaches, too.
fn thrown() -> Lagrangian {
    Lagrangian::new(2)
        .constant_mass(&[1.0, 0.0, 0.0, 1.0])
        .force(|_, _, _, f| f.copy_from_slice(&[0.0, -9.81]))
        .potential(|q| 9.81 * q[1])
        .contact(Contact::new("floor", |_, q| q[1]).friction(0.3, |_, q| q[0]).restitution(0.6))
        .contact(Contact::new("wall, smooth", |_, q| 0.5 - q[0]).restitution(0.8))
        .initial(&[0.0, 0.5], &[2.5, 0.0])
}

fn simulation(model: Lagrangian, end: f64) -> Simulation {
    let model = AnyModel::Mechanical(Box::new(model)).accept::<MoreauJean>().unwrap();
    let stepper = Bound::new(MoreauJean::default(), model, carom_solve::solver::default()).unwrap();
    Simulation::new(Box::new(stepper), Box::new(FixedStep { h: STEP }), end).unwrap()
}

fn energy_output() -> Outputs {
    Outputs::new(vec!["speed".into(), "time".into()], |t, _q, v, out| {
        out[0] = v[0].abs();
        out[1] = t;
        Ok(())
    })
}

struct Run {
    recorded: Recorded,
    solution: Solution,
    impacts: Vec<Impact>,
}

/// Runs with files, and with everything in memory beside them.
fn run(path: &Path, model: Lagrangian, end: f64, options: RecordOptions, outputs: Option<Outputs>) -> Run {
    let mut simulation = simulation(model, end);
    let mut recorder = RunRecorder::create(path, simulation.stepper(), options, outputs).unwrap();
    let mut memory = Recorder::default();
    let mut lists = Lists::new(usize::MAX);
    let outcome = simulation.run(&mut [&mut recorder, &mut memory, &mut lists]);
    let recorded = recorder.finish(inputs(), &outcome, &simulation);
    Run { recorded, solution: memory.into_solution(), impacts: lists.impacts }
}

fn inputs() -> Inputs {
    Inputs {
        name: "ball".into(),
        parameters: serde_json::json!({ "m": 1.0 }),
        scheme: Method { name: "moreau-jean".into(), options: serde_json::json!({ "theta": 0.5 }) },
        end: 1.0,
        step: STEP,
        ..Inputs::default()
    }
}

fn files(path: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != ".carom");
    names.sort();
    names
}

#[test]
fn all_rows_names_and_values_come_back() {
    let path = directory("round-trip");
    let options = RecordOptions { csv: true, ..RecordOptions::default() };
    let Run { recorded, solution, .. } = run(&path, ball(), 3.0, options, Some(energy_output()));
    assert!(recorded.error.is_none());
    let table = steps(&path.join("trajectory.parquet"));
    let names = [
        "t",
        "row",
        "q.q0",
        "v.q0",
        "gap.floor",
        "impulse.floor",
        "force.floor",
        "loss.impact",
        "energy.kinetic",
        "energy.potential",
        "energy.total",
        "output.speed",
        "output.time",
    ];
    assert_eq!(table.names, names);
    let (q, v) = (solution.coordinate(0), solution.velocity(0));
    assert_eq!(table.rows(), 3001);
    assert_eq!(table.reals("t"), solution.t);
    assert_eq!(table.reals("q.q0"), q);
    assert_eq!(table.reals("v.q0"), v);
    assert_eq!(table.reals("gap.floor"), q);
    assert_eq!(table.reals("energy.kinetic"), v.iter().map(|v| 0.5 * v * v).collect::<Vec<_>>());
    assert_eq!(table.reals("energy.potential"), q.iter().map(|q| 2.0 * q).collect::<Vec<_>>());
    assert_eq!(table.reals("output.speed"), v.iter().map(|v| v.abs()).collect::<Vec<_>>());
    assert_eq!(table.reals("output.time"), solution.t);
    // momentum: v(T) − v(0) = −2 T + Σ impulses, up to rounding of 3000 sums
    let impulses: f64 = table.reals("impulse.floor").iter().sum();
    assert!((v[3000] + 2.0 * 3.0 - impulses).abs() < 1e-11, "{impulses}");

    let text = fs::read_to_string(path.join("trajectory.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next().unwrap().split(',').collect::<Vec<_>>(), names);
    // there is no force before the first step
    let cell = |x: &str| (!x.is_empty()).then(|| x.parse::<f64>().unwrap_or(f64::NAN));
    let rows: Vec<Vec<Option<f64>>> = lines.map(|line| line.split(',').map(cell).collect()).collect();
    let table = read(&path.join("trajectory.parquet"));
    assert!(rows.len() == table.rows() && rows.len() > 3001);
    assert!(rows.iter().flatten().filter(|x| x.is_none()).count() == 1 && rows[0][6].is_none());
    for (i, name) in names.iter().enumerate().filter(|(_, name)| **name != "row") {
        let bits = |x: &Option<f64>| x.map(f64::to_bits);
        let stored: Vec<_> = table.optional(name).iter().map(bits).collect();
        assert_eq!(rows.iter().map(|row| bits(&row[i])).collect::<Vec<_>>(), stored, "{name}");
    }
    assert_eq!(
        files(&path),
        ["impacts.csv", "impacts.parquet", "summary.json", "trajectory.csv", "trajectory.parquet"]
    );
}

#[test]
fn thinned_rows_keep_the_first_the_last_and_every_impulse() {
    let (all, some) = (directory("every-1"), directory("every-10"));
    _ = run(&all, thrown(), 1.003, RecordOptions::default(), None);
    let options = RecordOptions { every: 10, ..RecordOptions::default() };
    let Run { recorded, solution, .. } = run(&some, thrown(), 1.003, options, Some(energy_output()));
    let (path, all) = (some, steps(&all.join("trajectory.parquet")));
    let (some, whole) = (steps(&path.join("trajectory.parquet")), read(&path.join("trajectory.parquet")));
    assert_eq!((all.rows(), some.rows(), recorded.summary.rows), (1004, 102, whole.rows() as u64));
    let kept: Vec<usize> = (0..=1000).step_by(10).chain([1003]).collect();
    for name in ["t", "q.q0", "v.q1", "gap.floor", "energy.total"] {
        let values = all.reals(name);
        assert_eq!(some.reals(name), kept.iter().map(|k| values[*k]).collect::<Vec<_>>(), "{name}");
    }
    assert_eq!(some.reals("output.time"), kept.iter().map(|k| solution.t[*k]).collect::<Vec<_>>());
    // rows of impacts take their part: the sums up to a time are those of all steps
    let times = all.reals("t");
    for name in ["impulse.floor", "impulse.floor.t1", "impulse.wall, smooth"] {
        let (steps, mut sum, mut exact, mut k) = (all.reals(name), 0.0, 0.0, 0);
        for ((t, kind), x) in whole.reals("t").iter().zip(whole.texts("row")).zip(whole.reals(name)) {
            let end = times.partition_point(|time| if kind == "before" { time < t } else { time <= t });
            exact = steps[k..end].iter().fold(exact, |sum, x| sum + x);
            (sum, k) = (sum + x, end);
            assert!((sum - exact).abs() < 1e-13, "{name}, {kind} at {t}: {sum} {exact}");
        }
        assert!(sum != 0.0, "{name}");
    }
    assert!(whole.texts("row").iter().any(|kind| kind == "after"));
    assert!(!some.names.contains(&"impulse.floor.t2".to_string()));
}

#[test]
fn parts_are_merged_without_loss() {
    let path = directory("merge");
    let options = RecordOptions { rows_per_group: Some(100), ..RecordOptions::default() };
    let Run { solution, .. } = run(&path, ball(), 1.003, options, None);
    let table = steps(&path.join("trajectory.parquet"));
    // one impact: the row before it
    assert_eq!(table.groups, [vec![100; 10], vec![5]].concat());
    assert_eq!(table.reals("t"), solution.t);
    assert_eq!(table.reals("v.q0"), solution.velocity(0));
    assert_eq!(files(&path), ["impacts.parquet", "summary.json", "trajectory.parquet"]);
}

/// Breaks after some steps.
struct Stop(u64);

impl Observer for Stop {
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        Ok(if view.index >= self.0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}

/// A recorder after 549 steps, not finished.
fn unfinished(path: &Path, options: RecordOptions) -> (RunRecorder, Solution) {
    let mut simulation = simulation(ball(), 1.0);
    let mut recorder = RunRecorder::create(path, simulation.stepper(), options, None).unwrap();
    let mut memory = Recorder::default();
    assert_eq!(simulation.run(&mut [&mut recorder, &mut memory, &mut Stop(549)]), Ok(false));
    (recorder, memory.into_solution())
}

#[test]
fn a_killed_run_leaves_readable_parts() {
    let path = directory("killed");
    let options = RecordOptions { rows_per_group: Some(100), csv: true, ..RecordOptions::default() };
    let (recorder, solution) = unfinished(&path, options);
    // no destructor runs, as in a killed process
    std::mem::forget(recorder);
    let aside = path.join(".carom/run.new");
    let parts: Vec<String> = files(&aside).into_iter().filter(|name| name.starts_with("trajectory.part")).collect();
    assert_eq!(parts.len(), 5);
    assert!(!path.join("trajectory.parquet").exists());
    let t: Vec<f64> = parts.iter().flat_map(|part| read(&aside.join(part)).reals("t")).collect();
    assert_eq!(t, solution.t[..500]);
    let csv = fs::read_to_string(aside.join("trajectory.csv")).unwrap();
    assert!(csv.ends_with('\n') && csv.lines().count() == 501, "{}", csv.lines().count());

    // the next run in the same directory must not mix with it; this process still has its lock, so it is a copy
    let (killed, path) = (path, directory("killed-copy"));
    fs::create_dir_all(path.join(".carom/run.new")).unwrap();
    for name in files(&aside) {
        fs::copy(aside.join(&name), path.join(".carom/run.new").join(&name)).unwrap();
    }
    let created = RunRecorder::create(&killed, simulation(ball(), 1.0).stepper(), RecordOptions::default(), None);
    if cfg!(target_os = "linux") {
        assert!(matches!(created, Err(ResultError::Folder(_))));
    }
    let Run { solution, .. } = run(&path, ball(), 0.2, RecordOptions::default(), None);
    assert_eq!(files(&path), ["impacts.parquet", "summary.json", "trajectory.parquet"]);
    assert_eq!(read(&path.join("trajectory.parquet")).reals("t"), solution.t);
}

#[test]
fn a_dropped_recorder_leaves_all_rows_in_parts() {
    let path = directory("dropped");
    let options = RecordOptions { rows_per_group: Some(100), ..RecordOptions::default() };
    let (recorder, solution) = unfinished(&path, options);
    drop(recorder);
    let aside = path.join(".carom/run.new");
    let parts: Vec<String> = files(&aside).into_iter().filter(|name| name.starts_with("trajectory.part")).collect();
    let t: Vec<f64> = parts.iter().flat_map(|part| read(&aside.join(part)).reals("t")).collect();
    assert_eq!((parts.len(), t), (6, solution.t));
}

#[test]
fn waiting_rows_are_saved_by_the_clock() {
    let path = directory("clock");
    let options = RecordOptions { save_interval: Duration::ZERO, ..RecordOptions::default() };
    let (recorder, solution) = unfinished(&path, options);
    std::mem::forget(recorder);
    let t = read(&path.join(".carom/run.new/trajectory.part-00001.parquet")).reals("t");
    assert!(!t.is_empty());
    assert_eq!(t, solution.t[..t.len()]);
}

#[test]
fn the_clock_does_not_change_the_bytes() {
    let (first, second) = (directory("bytes-1"), directory("bytes-2"));
    let options = |save_interval| RecordOptions {
        save_interval,
        rows_per_group: Some(300),
        csv: true,
        ..RecordOptions::default()
    };
    _ = run(&first, thrown(), 2.0, options(Duration::ZERO), Some(energy_output()));
    _ = run(&second, thrown(), 2.0, options(Duration::MAX), Some(energy_output()));
    for name in ["trajectory.parquet", "impacts.parquet", "trajectory.csv", "impacts.csv"] {
        assert!(fs::read(first.join(name)).unwrap() == fs::read(second.join(name)).unwrap(), "{name}");
    }
    let summary = |path: &Path| fs::read_to_string(path.join("summary.json")).unwrap();
    assert_eq!(summary(&first), summary(&second));
}

/// Events have their own table, which exists where there are any, and goes with the next run without.
#[test]
fn events_are_listed_with_states_and_a_stop_is_a_finish() {
    let path = directory("events");
    let options = RecordOptions { csv: true, ..RecordOptions::default() };
    let event = UserEvent::new("late", |t, _, _| t - 0.3337).stopping();
    let early = UserEvent::new("early, first", |t, _, _| t - 0.1234);
    let mut simulation = simulation(thrown(), 1.5).with_event(event).with_event(early);
    let mut recorder = RunRecorder::create(&path, simulation.stepper(), options.clone(), None).unwrap();
    let outcome = simulation.run(&mut [&mut recorder]);
    let summary = recorder.finish(inputs(), &outcome, &simulation).summary;
    assert_eq!((summary.status, summary.events.get("user")), (Status::Finished, Some(&2)));
    let stop = summary.stopped.clone().unwrap();
    assert!(stop.event == "late" && (stop.time - 0.3337).abs() < 1e-15, "{stop:?}");
    assert!(summary.files.contains(&"events.parquet".into()) && summary.files.contains(&"events.csv".into()));
    let (table, trajectory) = (read(&path.join("events.parquet")), read(&path.join("trajectory.parquet")));
    assert_eq!(table.texts("name"), ["early, first", "late"]);
    assert_eq!((table.texts("kind"), table.texts("contact")), (vec!["user".into(); 2], vec![String::new(); 2]));
    // the last event is the last row
    let state: Vec<&String> = table.names.iter().filter(|name| name.starts_with("after.")).collect();
    assert_eq!(state.len(), trajectory.names.iter().filter(|n| n.starts_with("q.") || n.starts_with("v.")).count());
    for name in state {
        let (event, rows) = (table.reals(name), trajectory.reals(&name["after.".len()..]));
        assert_eq!(event.last(), rows.last(), "{name}");
    }
    assert_eq!(trajectory.reals("t").last(), Some(&stop.time));
    let csv = fs::read_to_string(path.join("events.csv")).unwrap();
    assert!(csv.starts_with("t,name,kind,contact,before.q.") && csv.contains("\"early, first\""));
    let _ = run(&path, thrown(), 0.1, options, None);
    assert!(!path.join("events.parquet").exists() && !path.join("events.csv").exists());
}

#[test]
fn impacts_have_names_and_null_where_there_is_no_tangent() {
    let path = directory("impacts");
    let options = RecordOptions { csv: true, ..RecordOptions::default() };
    let Run { recorded, impacts, .. } = run(&path, thrown(), 1.5, options, None);
    let table = read(&path.join("impacts.parquet"));
    assert!(impacts.len() > 4 && impacts.iter().any(|impact| impact.contact == "wall, smooth"));
    assert_eq!(recorded.summary.impacts as usize, impacts.len());
    assert_eq!(table.reals("t"), impacts.iter().map(|impact| impact.t).collect::<Vec<_>>());
    assert_eq!(table.texts("contact"), impacts.iter().map(|impact| impact.contact.clone()).collect::<Vec<_>>());
    for (k, row) in ["normal", "tangent1", "tangent2"].into_iter().enumerate() {
        let expected = |get: fn(&Impact) -> &Vec<f64>| -> Vec<Option<f64>> {
            impacts.iter().map(|impact| get(impact).get(k).copied()).collect()
        };
        assert_eq!(table.optional(&format!("{row}.before")), expected(|impact| &impact.before));
        assert_eq!(table.optional(&format!("{row}.after")), expected(|impact| &impact.after));
        assert_eq!(table.optional(&format!("{row}.impulse")), expected(|impact| &impact.impulse));
    }
    let csv = fs::read_to_string(path.join("impacts.csv")).unwrap();
    assert_eq!(csv.lines().count(), impacts.len() + 1);
    assert!(csv.contains(",\"wall, smooth\",") && csv.lines().nth(1).unwrap().contains(",,,,"));
    // a unit mass: what is lost is the change of its kinetic energy by the impulse, P (u + u⁺)/2 along each row
    let along = |row: &str| {
        let of = |what: &str| table.optional(&format!("{row}.{what}"));
        let work = |((p, a), b): ((Option<f64>, Option<f64>), Option<f64>)| {
            p.zip(a).zip(b).map_or(0.0, |((p, a), b)| p * (a + b) / 2.0)
        };
        of("impulse").into_iter().zip(of("before")).zip(of("after")).map(work).collect::<Vec<f64>>()
    };
    for ((loss, normal), tangent) in table.reals("loss").iter().zip(along("normal")).zip(along("tangent1")) {
        assert!((loss + normal + tangent).abs() < 1e-15 && *loss > 0.0, "{loss} {normal} {tangent}");
    }
    assert!(table.texts("note").iter().all(String::is_empty));
}

/// A wheel in the plane with rolling friction: its moment has columns of its own, and there is no second tangent.
#[test]
fn impacts_have_moments_where_a_law_has_them() {
    let text = r#"version = 1
name = "wheel"
[model]
kind = "lagrangian"
coordinates = ["x", "y", "phi"]
kinetic = "(x'^2 + y'^2)/2 + phi'^2/4"
potential = "10*y"
[[contact]]
name = "floor"
gap = "y"
slip = "x + phi"
friction = 0.3
rolling = 0.1
turning = "phi"
restitution = 0.5
[initial]
y = 0.05
"x'" = 1.0
"phi'" = 4.0
[simulation]
end = 0.3
step = 0.01
"#;
    let path = directory("moments");
    let scene = carom_scene::from_str("wheel.toml", text, &Default::default()).unwrap();
    let (mut simulation, mut lists) = (scene.simulation().unwrap(), Lists::new(usize::MAX));
    let mut recorder = RunRecorder::create(&path, simulation.stepper(), RecordOptions::default(), None).unwrap();
    let outcome = simulation.run(&mut [&mut recorder, &mut lists]);
    assert!(recorder.finish(inputs(), &outcome, &simulation).error.is_none());
    let (table, impacts) = (read(&path.join("impacts.parquet")), lists.impacts);
    assert!(!impacts.is_empty() && !table.names.iter().any(|name| name.contains("rolling2") || name.contains("spin")));
    let all = |get: fn(&Impact) -> f64| impacts.iter().map(|impact| Some(get(impact))).collect::<Vec<_>>();
    assert_eq!(table.optional("tangent1.impulse"), all(|impact| impact.impulse[1]));
    assert_eq!(table.optional("rolling1.impulse"), all(|impact| impact.impulse[2]));
    assert_eq!(table.optional("rolling1.after"), all(|impact| impact.after[2]));
    assert!(table.optional("tangent2.impulse").iter().all(Option::is_none));
    // on the edge of its disc: |moment| is 0.1 m times the normal impulse of an impact that turns on
    let first = &impacts[0].impulse;
    assert!((first[2].abs() - 0.1 * first[0]).abs() < 1e-9, "{first:?}");
}

#[test]
fn a_number_that_is_not_finite_ends_the_run_and_is_not_written() {
    let path = directory("not-finite");
    let outputs = Outputs::new(vec!["root".into()], |t, _q, _v, out| {
        out[0] = (0.25 - t).sqrt();
        Ok(())
    });
    let Run { recorded, .. } = run(&path, ball(), 1.0, RecordOptions::default(), Some(outputs));
    let Some(ResultError::NotFinite { column, t, .. }) = recorded.error else { panic!("{:?}", recorded.error) };
    assert_eq!(column, "output.root");
    assert!((t - 0.251).abs() < 1e-9, "{t}");
    let failure = recorded.summary.failure.unwrap();
    assert_eq!((recorded.summary.status, failure.time, failure.step), (Status::Failed, t, 251));
    assert!(failure.message.contains("output.root"), "{}", failure.message);
    let table = read(&path.join("trajectory.parquet"));
    assert_eq!(table.rows(), 251);
    assert!(
        table.names.iter().filter(|name| *name != "row").all(|name| table
            .optional(name)
            .into_iter()
            .flatten()
            .all(f64::is_finite))
    );
}

#[test]
fn the_last_good_row_is_kept_when_the_energy_overflows() {
    let path = directory("energy");
    let model = ball().potential(|q| if q[0] < 0.999 { f64::INFINITY } else { 0.0 });
    let options = RecordOptions { every: 1000, ..RecordOptions::default() };
    let Run { recorded, solution, .. } = run(&path, model, 1.0, options, None);
    assert!(matches!(recorded.error, Some(ResultError::NotFinite { column, .. }) if column == "energy.potential"));
    let good = solution.coordinate(0).iter().take_while(|q| **q >= 0.999).count();
    assert_eq!(read(&path.join("trajectory.parquet")).reals("t"), [0.0, solution.t[good - 1]]);
    // the ledger is not finite either: null in the file
    let text = fs::read_to_string(path.join("summary.json")).unwrap();
    assert!(text.contains("\"potential_end\": null"));
    assert!(serde_json::from_str::<Summary>(&text).unwrap().energy.unwrap().potential_end.is_nan());
}

#[test]
fn a_directory_that_cannot_be_written_is_an_error_with_its_path() {
    let path = directory("unwritable");
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("file"), "").unwrap();
    let inside = path.join("file").join("results");
    let created = RunRecorder::create(&inside, simulation(ball(), 1.0).stepper(), RecordOptions::default(), None);
    assert!(matches!(created, Err(ResultError::Io { path, .. }) if path == inside));
}

/// Removes a directory after some steps.
struct Remove(PathBuf);

impl Observer for Remove {
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        if view.index == 120 {
            fs::remove_dir_all(&self.0).unwrap();
        }
        Ok(ControlFlow::Continue(()))
    }
}

#[test]
fn a_disk_that_fails_ends_the_run_and_leaves_the_summary_in_memory() {
    let path = directory("failing");
    let mut simulation = simulation(ball(), 1.0);
    let options = RecordOptions { rows_per_group: Some(50), ..RecordOptions::default() };
    let mut recorder = RunRecorder::create(&path, simulation.stepper(), options, None).unwrap();
    let outcome = simulation.run(&mut [&mut recorder, &mut Remove(path.clone())]);
    assert_eq!(outcome, Ok(false));
    assert!(matches!(recorder.error(), Some(ResultError::Io { path: file, .. }) if file.starts_with(&path)));
    let recorded = recorder.finish(inputs(), &outcome, &simulation);
    assert!(matches!(recorded.error, Some(ResultError::Io { .. })));
    // rows 0..=149 fill three groups; the third cannot be written
    assert_eq!((recorded.summary.status, recorded.summary.statistics.steps), (Status::Failed, 149));
    assert!(recorded.summary.failure.unwrap().message.contains("trajectory.part-00003"));
}

#[test]
fn a_step_that_fails_leaves_complete_files() {
    let path = directory("failed");
    let model = ball().force(|t, _, _, f| f[0] = if t > 0.5 { f64::NAN } else { -2.0 });
    let Run { recorded, solution, .. } = run(&path, model, 1.0, RecordOptions::default(), None);
    assert!(recorded.error.is_none());
    assert_eq!(recorded.summary.status, Status::Failed);
    let failure = recorded.summary.failure.as_ref().unwrap();
    assert_eq!((failure.time, failure.step), (*solution.t.last().unwrap(), solution.len() as u64 - 1));
    assert_eq!(read(&path.join("trajectory.parquet")).reals("t"), solution.t);
    let summary: Summary = serde_json::from_str(&fs::read_to_string(path.join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary.status, Status::Failed);
}

#[test]
fn the_summary_tells_the_figures() {
    let path = directory("summary");
    let mut simulation = simulation(thrown(), 1.0);
    let mut recorder = RunRecorder::create(&path, simulation.stepper(), RecordOptions::default(), None).unwrap();
    let outcome = simulation.run(&mut [&mut recorder, &mut Stop(800)]);
    let recorded = recorder.finish(inputs(), &outcome, &simulation);
    let (text, summary) = (fs::read_to_string(path.join("summary.json")).unwrap(), &recorded.summary);
    assert_eq!(text, serde_json::to_string_pretty(summary).unwrap() + "\n");
    let keys: Vec<&str> = text.lines().filter(|line| line.starts_with("  \"")).collect();
    assert!(keys[0].starts_with("  \"name\": \"ball\"") && keys[3] == "  \"status\": \"interrupted\",", "{text}");
    assert_eq!((summary.status, summary.statistics.steps), (Status::Interrupted, 800));
    assert_eq!(summary.files, ["trajectory.parquet", "impacts.parquet", "summary.json"]);
    assert_eq!(summary.inputs.scheme, inputs().scheme);
    let (table, whole) = (steps(&path.join("trajectory.parquet")), read(&path.join("trajectory.parquet")));
    assert_eq!((table.rows(), summary.rows), (801, whole.rows() as u64));
    let smallest = |name: &str| table.reals(name).into_iter().fold(f64::INFINITY, f64::min);
    let (floor, wall) = (smallest("gap.floor"), smallest("gap.wall, smooth"));
    assert_eq!(summary.smallest_gap.contacts["floor"], Some(floor));
    assert_eq!(summary.smallest_gap.contacts["wall, smooth"], Some(wall));
    assert_eq!(summary.smallest_gap.overall, Some(floor.min(wall)));
    let energy = summary.energy.as_ref().unwrap();
    let total = table.reals("energy.total");
    assert_eq!((energy.kinetic_start, energy.potential_start), (0.5 * 2.5 * 2.5, 9.81 * 0.5));
    assert_eq!(energy.kinetic_end + energy.potential_end, total[800]);
    assert!(energy.impact_loss > 0.0 && energy.friction_loss > 0.0);
    assert_eq!(recorded.history.column("q.q1").unwrap()[..], whole.reals("q.q1"));
}

/// Sees how many rows wait.
struct Watch {
    recorder: RunRecorder,
    most: usize,
}

impl Observer for Watch {
    fn start(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        self.recorder.start(stepper)
    }
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        let flow = self.recorder.observe(view);
        self.most = self.most.max(self.recorder.trajectory().waiting());
        flow
    }
}

#[test]
fn memory_is_bounded() {
    let path = directory("bounded");
    let mut simulation = simulation(ball(), 200.0);
    let options = RecordOptions { report_values: 100_000, ..RecordOptions::default() };
    let recorder = RunRecorder::create(&path, simulation.stepper(), options, None).unwrap();
    let mut watch = Watch { recorder, most: 0 };
    let outcome = simulation.run(&mut [&mut watch]);
    assert_eq!(watch.most, 65535);
    let recorded = watch.recorder.finish(inputs(), &outcome, &simulation);
    // each impact has a row before it
    let impacts = recorded.summary.impacts;
    assert!(impacts > 5 && recorded.summary.rows == 200_001 + impacts, "{impacts}");
    let history = &recorded.history;
    assert!((1 + history.names.len()) * history.t.len() <= 100_000 && history.t.len() > 200);
    assert!(history.block > 1 && history.total == recorded.summary.rows);
    assert_eq!(read(&path.join("trajectory.parquet")).groups, [65536, 65536, 65536, 3393 + impacts as i64]);
}

#[test]
fn large_models_are_thinned_out_unless_all_is_asked_for() {
    let model = || Lagrangian::new(300).initial(&[1.0; 300], &[0.5; 300]);
    let path = directory("large");
    let columns = |columns| {
        let options = RecordOptions { columns, ..RecordOptions::default() };
        _ = run(&path, model(), 0.01, options, None);
        read(&path.join("trajectory.parquet")).names
    };
    let auto = columns(Columns::Auto);
    assert_eq!(auto.iter().filter(|name| name.starts_with("q.")).count(), 17);
    for name in ["t", "q.q0", "q.q299", "v.q0", "v.q299"] {
        assert!(auto.iter().any(|kept| kept == name), "{name}");
    }
    assert_eq!(columns(Columns::All).iter().filter(|name| name.starts_with("v.")).count(), 300);
    assert_eq!(columns(Columns::Only(vec!["q.q33".into()])), ["t", "row", "q.q33"]);
    let options = RecordOptions { columns: Columns::Only(vec!["q.q300".into()]), ..RecordOptions::default() };
    let created = RunRecorder::create(&path, simulation(model(), 1.0).stepper(), options, None);
    assert!(matches!(created, Err(ResultError::UnknownColumn { name, .. }) if name == "q.q300"));
}
