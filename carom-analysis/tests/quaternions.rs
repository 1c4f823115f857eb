//! More coordinates than velocities in every room of this crate: a spinning ball with a quaternion, against closed
//! forms. Two quaternions of opposite sign are one attitude.

use carom::model::{Energy, Space};
use carom::scheme::{Bound, EventDriven, MoreauJean, Scheme};
use carom::sensitivity::{DifferenceTangent, Sensitivity};
use carom::simulation::{FixedStep, LedgerObserver, Observer};
use carom::testbed::{ExactSolution, SpinningBall};
use carom::{Mechanical, Simulation, Solution, State, Stepper};
use carom_analysis::convergence::{Computed, Plan, Reference, measure, study};
use carom_analysis::results::{Columns, Estimate, Inputs, Probe, RecordOptions, RunRecorder};
use carom_analysis::study::basin::{self, Fate};
use carom_analysis::study::bifurcation::{self, Case, Direction, Section};
use carom_analysis::study::{Cyclic, StudyError, lyapunov, orbit, saltation};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::f64::consts::PI;
use std::fs::{self, File};
use std::path::Path;

/// Event-driven, to rounding.
fn tight() -> EventDriven {
    EventDriven { atol: Some(1e-12), rtol: 1e-12, ..EventDriven::default() }
}

fn stepper<S: Scheme<Model = dyn Mechanical> + 'static>(
    ball: &SpinningBall,
    scheme: S,
) -> Result<Box<dyn Stepper>, StudyError> {
    let bound = Bound::new(scheme, Box::new(ball.model()), carom_solve::solver::default());
    Ok(Box::new(bound.map_err(|e| StudyError::Build(e.to_string()))?))
}

fn simulation<S: Scheme<Model = dyn Mechanical> + 'static>(
    ball: &SpinningBall,
    scheme: S,
    (end, h): (f64, f64),
) -> Simulation {
    Simulation::new(stepper(ball, scheme).unwrap(), Box::new(FixedStep { h }), end).unwrap()
}

/// A homogeneous ball far above the floor that turns about a fixed axis: its angle is `spin` t.
fn turning(spin: f64) -> SpinningBall {
    let axis = [0.6, 0.0, 0.8];
    SpinningBall { inertia: [0.4; 2], height: 1e3, spin: axis.map(|a| a * spin), ..SpinningBall::default() }
}

fn turned(mut state: State) -> State {
    state.q[3..].iter_mut().for_each(|x| *x = -*x);
    state
}

fn exact(ball: &SpinningBall, t: f64) -> State {
    let mut state = State::new(t, &[0.0; 7], &[0.0; 6]);
    ball.at(t, &mut state.q, &mut state.v);
    state
}

/// The flow of a free top keeps volumes, and an impact multiplies them by e²: two impacts in 2.25 s.
#[test]
fn exponents_add_up_to_the_loss_of_impacts() {
    let ball = SpinningBall::default();
    let (interval, intervals) = (0.75, 3);
    let options =
        lyapunov::Options { epsilon: 1e-6, interval, transient: 0, intervals, batches: 2, step: 0.1, count: None };
    let spectrum = lyapunov::perturbation(&|| stepper(&ball, tight()), &options, &|| false).unwrap();
    assert_eq!((spectrum.exponents.len(), spectrum.impacts), (12, 2));
    let expected = 4.0 * 0.5f64.ln() / 2.25;
    assert!((spectrum.sum() - expected).abs() < 1e-4, "{} {expected}", spectrum.sum());
}

fn motion(ball: &SpinningBall) -> Sensitivity {
    let model = || -> Box<dyn Mechanical> { Box::new(ball.model()) };
    let (tangent, solver) = (Box::new(DifferenceTangent::new(model())), carom_solve::solver::default());
    Sensitivity::new(tight(), [model(), model()], tangent, solver).unwrap()
}

/// The same by saltation matrices, to rounding, with the trace identity.
#[test]
fn exponents_by_saltation_add_up_to_the_loss_of_impacts() {
    let (interval, intervals) = (0.75, 3);
    let options =
        lyapunov::Options { epsilon: 1e-6, interval, transient: 0, intervals, batches: 2, step: 0.1, count: None };
    let spectrum = saltation::saltation(&mut motion(&SpinningBall::default()), &options, |_| 0.5, &|| false).unwrap();
    assert_eq!((spectrum.exponents.len(), spectrum.impacts), (12, 2));
    let expected = 4.0 * 0.5f64.ln() / 2.25;
    assert!((spectrum.sum() - expected).abs() < 1e-8, "{} {expected}", spectrum.sum());
}

/// Without gravity and far from the floor a ball comes back if it stands and turns by whole turns: from a spin beside
/// that, Newton's method finds the next one. All multipliers are 1.
#[test]
fn orbits_of_attitudes_are_whole_turns() {
    let axis = [0.6, 0.0, 0.8];
    let ball = SpinningBall { gravity: 0.0, velocity: [0.0; 3], ..turning(2.0 * PI + 0.3) };
    let mut case = orbit::Case::strobe(motion(&ball), (1.0, 0.0));
    let orbit = orbit::find(&mut case, f64::NAN, &exact(&ball, 0.0), &orbit::Options::new(1)).unwrap();
    let spin = &orbit.state[10..13];
    assert!(spin.iter().zip(axis).all(|(w, a)| (w - 2.0 * PI * a).abs() < 1e-9), "{orbit:?}");
    assert_eq!((orbit.state.len(), orbit.multipliers.len(), orbit.neutral), (13, 12, 12));
    assert_eq!(orbit.stability, orbit::Stability::Stable);
}

/// A homogeneous ball: rotations about one axis commute, so that attitudes are exact.
fn homogeneous(restitution: f64) -> SpinningBall {
    SpinningBall { restitution, inertia: [0.4; 2], ..SpinningBall::default() }
}

fn diagram(section: Section, observed: usize) -> Vec<bifurcation::Row> {
    let values = [0.4, 0.6, 0.7];
    let make = |index: usize| -> Result<Case, StudyError> {
        Ok(Case {
            stepper: stepper(&homogeneous(values[index]), tight())?,
            period: 0.5,
            step: 0.1,
            observe: Box::new(move |state| state.q[observed]),
            turn: None,
            motion: None,
        })
    };
    let options = bifurcation::Options {
        section,
        directions: vec![Direction::Independent],
        transient: 0,
        recorded: 4,
        epsilon: Some(1e-6),
        tolerance: 1e-9,
        segments: 1,
        threads: 2,
    };
    let rows = bifurcation::diagram(&values, &make, &options, &|| false, &|| {}).unwrap();
    assert!(rows.iter().all(|row| row.failure.is_none() && row.exponent.is_some_and(f64::is_finite)), "{rows:?}");
    rows
}

/// Impacts at 1 s and 1 s + 2e s, with −2 m/s and −2e m/s; attitudes once per 0.5 s.
#[test]
fn sections_of_a_diagram() {
    for row in diagram(Section::Impact, 0) {
        let e = row.parameter;
        let expected: Vec<f64> = [-2.0, -2.0 * e].into_iter().take(if 1.0 + 2.0 * e < 2.0 { 2 } else { 1 }).collect();
        assert_eq!(row.points.len(), expected.len(), "{row:?}");
        assert!(row.points.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{row:?}");
    }
    for coordinate in 3..7 {
        for row in diagram(Section::Stroboscopic, coordinate) {
            let ball = homogeneous(row.parameter);
            let expected = (1..=4).map(|k| exact(&ball, 0.5 * f64::from(k)).q[coordinate]);
            assert!(row.points.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{row:?}");
        }
    }
}

/// A ball that lies on the floor and turns once per period comes back to −q, its old attitude: that is period 1, and
/// both signs are the same attractor. With three half turns it has period 2. One that drifts along a coordinate of
/// which nothing depends repeats as well.
#[test]
fn basins_compare_attitudes() {
    let spin = [0.0, 0.0, 2.0 * PI];
    let ball =
        SpinningBall { inertia: [0.4; 2], restitution: 0.0, velocity: [0.0; 3], spin, ..SpinningBall::default() };
    let initial = |cell: usize| {
        let mut state = ball.model().initial();
        match cell {
            1 => return turned(state),
            2 => state.v[5] = 3.0 * PI,
            3 | 4 => state.v[0] = 0.3,
            _ => {}
        }
        if cell == 4 { turned(state) } else { state }
    };
    let options = basin::Options {
        period: 1.0,
        step: 0.05,
        transient: 3,
        longest: 3,
        tolerance: 1e-8,
        escape: 1e3,
        cyclic: Cyclic::new(&[(0, 0.0)]),
        threads: 1,
    };
    let make = || stepper(&ball, MoreauJean::default());
    let found = basin::basins((5, 5), &initial, &make, &options, (&|| false, &|| {})).unwrap();
    let periods: Vec<_> = found.attractors.iter().map(|attractor| (attractor.period, attractor.cells)).collect();
    assert_eq!(periods, [(Some(1), 2), (Some(2), 1), (Some(1), 2)]);
    assert_eq!(found.fates, [0, 0, 1, 2, 2].map(Fate::Attractor));
}

/// The angle of a ball whose spin is wrong by δ is wrong by δ t.
#[test]
fn norms_are_those_of_angles() {
    let (spin, wrong, end, steps) = (2.0, 0.01, 5.0, 50);
    let (ball, h) = (turning(spin), end / f64::from(steps));
    let mut run = simulation(&turning(spin + wrong), MoreauJean::default(), (end, h));
    let solution = run.record().unwrap();
    let (q, v) = measure(&solution, run.stepper(), &Reference::Exact(&ball), h).unwrap();
    let n = f64::from(steps);
    let near = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-9, "{found:e} {expected:e}");
    near(q.l1, wrong * h * h * n * (n + 1.0) / 2.0);
    near(q.l2, wrong * h * (h * n * (n + 1.0) * (2.0 * n + 1.0) / 6.0).sqrt());
    near(q.sup, wrong * end);
    near(v.sup, wrong);
    near(v.l1, wrong * h * (n + 1.0));
    // graphs are those of coordinates, which differ by half the angle
    assert!(q.hausdorff > 0.0 && q.hausdorff <= 2.0 * (wrong * end / 4.0).sin() * (1.0 + 1e-3), "{q:?}");
}

/// Between samples of a fine run attitudes turn on about their axis, and stay of unit length.
#[test]
fn references_turn_between_samples() {
    let ball = turning(2.0);
    let mut run = simulation(&ball, MoreauJean::default(), (2.4, 0.3));
    let computed = Computed::new(run.record().unwrap()).unwrap();
    let (reference, mut found, mut far) = (Reference::Computed(&computed), exact(&ball, 0.0), [0.0; 12]);
    for k in 0..=32 {
        let t = 0.075 * f64::from(k);
        reference.at(t, run.stepper(), &mut found);
        run.stepper().difference(&exact(&ball, t), &found, &mut far);
        assert!(far[3..6].iter().all(|d| d.abs() < 1e-12), "{t}: {far:?}");
        assert!((found.q[3..].iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-14, "{t}: {:?}", found.q);
        // heights lie on the chord of the parabola
        let s = t / 0.3 - (t / 0.3 + 1e-9).floor();
        assert!((far[2] + s.max(0.0) * (1.0 - s) * 0.3 * 0.3 * ball.gravity / 2.0).abs() < 1e-9, "{t}: {far:?}");
    }
}

/// A top in flight under Moreau-Jean has order 2, against the closed form, and in positions against a fine run of
/// another grid as well: between samples of it velocities are steps.
#[test]
fn studies_of_convergence_have_the_order() {
    let ball = SpinningBall { height: 1e3, ..SpinningBall::default() };
    let plan = Plan::between((0.0, 2.0), 0.1, 0.0125, 4, 1);
    let make = |h: f64| Ok::<_, String>(simulation(&ball, MoreauJean::default(), (2.0, h)));
    let fine = Computed::new(simulation(&ball, MoreauJean::default(), (2.0, 2.0 / 4999.0)).record().unwrap()).unwrap();
    let order = |reference: &Reference<'_>, of: char| {
        study("moreau-jean", &plan, reference, make).unwrap().order(of, "l1").unwrap().slope
    };
    let orders = [
        order(&Reference::Exact(&ball), 'q'),
        order(&Reference::Exact(&ball), 'v'),
        order(&Reference::Computed(&fine), 'q'),
    ];
    assert!(orders.iter().all(|order| (order - 2.0).abs() < 0.1), "{orders:?}");
}

/// Two runs whose spins differ by δ differ by the angle δ T in the end, whatever the sign of their quaternions.
#[test]
fn estimates_compare_attitudes() {
    let run = |spin: f64, sign: bool| {
        let (mut run, mut probe) =
            (simulation(&turning(spin), MoreauJean::default(), (2.0, 0.05)), Probe::on_a_grid(40, 1));
        let start = run.state().clone();
        run.restart(&if sign { turned(start) } else { start });
        run.run(&mut [&mut probe as &mut dyn Observer]).unwrap();
        (probe, run)
    };
    let runs = [run(2.0, false).0, run(2.03, false).0, run(2.03, true).0];
    let mut stepper = run(2.0, false).1;
    let estimate = Estimate::of("step", [&runs[0], &runs[1], &runs[2]], true, stepper.stepper());
    for (what, expected) in
        [("positions", 0.06 * 0.8), ("velocities", 0.03 * 0.8), ("positions on the way", 0.06 * 0.8)]
    {
        let row = estimate.differences.iter().find(|row| row.what == what).unwrap();
        assert!((row.difference.unwrap() - expected).abs() < 1e-12, "{row:?}");
        assert!(row.finer.unwrap() < 1e-12 && row.order.is_none(), "{row:?}");
    }
}

/// The last row of the file by names.
fn last_row(path: &Path) -> Vec<(String, f64)> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let row = reader.get_row_iter(None).unwrap().last().unwrap().unwrap();
    let number = |field: &Field| if let Field::Double(x) = field { *x } else { f64::NAN };
    row.get_column_iter().map(|(name, field)| (name.clone(), number(field))).collect()
}

/// All columns of a rough ball, with the closed form in the last row of the file.
#[test]
fn files_have_seven_coordinates_and_six_velocities() {
    let (ball, end) = (SpinningBall::rough(), 1.7);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("quaternions");
    _ = fs::remove_dir_all(&path);
    let mut run = simulation(&ball, tight(), (end, 0.1));
    let options = RecordOptions { columns: Columns::All, csv: true, ..RecordOptions::default() };
    let mut recorder = RunRecorder::create(&path, run.stepper(), options, None).unwrap();
    let outcome = run.run(&mut [&mut recorder as &mut dyn Observer]);
    let recorded = recorder.finish(Inputs::default(), &outcome, &run);
    assert!(recorded.error.is_none() && outcome == Ok(true), "{:?} {outcome:?}", recorded.error);
    let row = last_row(&path.join("trajectory.parquet"));
    let names: Vec<&str> = row.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "t",
        "row",
        "q.x",
        "q.y",
        "q.z",
        "q.e0",
        "q.e1",
        "q.e2",
        "q.e3",
        "v.0",
        "v.1",
        "v.2",
        "v.3",
        "v.4",
        "v.5",
        "gap.floor",
        "impulse.floor",
        "impulse.floor.t1",
        "impulse.floor.t2",
        "force.floor",
        "force.floor.t1",
        "force.floor.t2",
        "loss.impact",
        "loss.friction",
        "energy.kinetic",
        "energy.potential",
        "energy.total",
    ];
    assert_eq!(names, expected);
    let csv = fs::read_to_string(path.join("trajectory.csv")).unwrap();
    assert_eq!(csv.lines().next().unwrap(), expected.join(","));
    let State { t, q, v } = exact(&ball, end);
    let numbers = [t].into_iter().chain(q.iter().copied()).chain(v).chain([q[2] - ball.radius]);
    for ((name, found), expected) in row.iter().filter(|(name, _)| name != "row").zip(numbers) {
        assert!((found - expected).abs() < 1e-8, "{name}: {found} {expected}");
    }
    // one impact at 1 s: both losses from the closed form of the velocities
    let energy = |state: &State| ball.model().energy(state).map(|Energy { kinetic, potential }| kinetic + potential);
    let lost = energy(&exact(&ball, 0.0)).unwrap() - energy(&exact(&ball, end)).unwrap();
    let found = row.iter().find(|(name, _)| name == "energy.total").unwrap().1;
    assert!((found + lost - energy(&exact(&ball, 0.0)).unwrap()).abs() < 1e-8);
}

/// Smooth: each impact takes (1 − e²) of the energy of the fall; nothing else is lost, and the ledger closes.
#[test]
fn the_ledger_closes() {
    let ball = SpinningBall::default();
    let mut run = simulation(&ball, tight(), (2.25, 0.1));
    let mut ledger = LedgerObserver::default();
    let solution: Solution = {
        run.run(&mut [&mut ledger as &mut dyn Observer]).unwrap();
        simulation(&ball, tight(), (2.25, 0.1)).record().unwrap()
    };
    assert_eq!((solution.dofs(), solution.impacts.len()), ((7, 6), 2));
    let ledger = ledger.ledger().unwrap();
    let loss = 0.5 * 0.75 * (2.0f64.powi(2) + 1.0);
    assert!((ledger.impact_loss.abs() - loss).abs() < 1e-8, "{ledger:?}");
    assert!(ledger.residue().abs() < 1e-8 && ledger.friction_loss.abs() < 1e-12, "{ledger:?}");
}
