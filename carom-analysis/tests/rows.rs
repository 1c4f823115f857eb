//! Rows of trajectories inside steps, and before and after impacts, against closed forms.

use carom::testbed::BouncingBall;
use carom_analysis::results::{Inputs, RecordOptions, Recorded, RunRecorder, Sampling};
use carom_scene::Scene;
use tables::{Read, directory, read};

mod tables;

/// The testbed's ball: 1 kg under 2 N from 1 m, restitution 1/2; impacts at 1, 2, 2.5, ... s, rest from 3 s on.
fn ball(simulation: &str) -> Scene {
    let text = format!(
        "version = 1\nname = \"ball\"\n[model]\nkind = \"lagrangian\"\ncoordinates = [\"y\"]\nkinetic = \"y'^2/2\"\n\
         potential = \"2*y\"\n[[contact]]\nname = \"floor\"\ngap = \"y\"\nrestitution = 0.5\n[initial]\ny = 1\n\
         [output.columns]\nsquare = \"y^2\"\n[units]\ny = \"m\"\nsquare = \"m^2\"\n[simulation]\n{simulation}\n"
    );
    carom_scene::from_str("ball.toml", &text, &Default::default()).unwrap_or_else(|e| panic!("{e:?}"))
}

fn run(name: &str, scene: &Scene, options: RecordOptions) -> (Recorded, Read) {
    let path = directory(name);
    let mut simulation = scene.simulation().unwrap();
    let mut evaluator = scene.outputs.evaluator();
    let outputs = carom_analysis::results::Outputs::new(scene.outputs.names.clone(), move |t, q, v, out| {
        out.copy_from_slice(evaluator.eval(t, q, v));
        Ok(())
    });
    let options = RecordOptions {
        sampling: scene.output.map_or(options.sampling, Sampling::Grid),
        units: scene.units.clone(),
        ..options
    };
    let mut recorder = RunRecorder::create(&path, simulation.stepper(), options, Some(outputs)).unwrap();
    let outcome = simulation.run(&mut [&mut recorder]);
    assert_eq!(outcome, Ok(true));
    let recorded = recorder.finish(Inputs::default(), &outcome, &simulation);
    assert!(recorded.error.is_none(), "{:?}", recorded.error);
    (recorded, read(&path.join("trajectory.parquet")))
}

/// Position and velocity of the ball in flight number k, which begins at an impact (the first one at rest in 1 m).
fn exact(t: f64) -> (f64, f64) {
    if t < 1.0 {
        return (1.0 - t * t, -2.0 * t);
    }
    // flight k lasts 2^(1-k) s and begins with the velocity 2^(1-k) m/s, from k = 1 on
    let (mut start, mut v) = (1.0, 1.0);
    while t >= start + v {
        (start, v) = (start + v, v / 2.0);
    }
    (v * (t - start) - (t - start).powi(2), v - 2.0 * (t - start))
}

#[test]
fn the_closed_form_is_that_of_the_testbed() {
    let ball = BouncingBall::default();
    for k in 0..280 {
        let t = f64::from(k) * 0.01 + 0.003;
        let (q, v) = exact(t);
        let (y, rate) = ball.state_at(t);
        assert!((y - q).abs() < 1e-12 && (rate - v).abs() < 1e-12, "{t}");
    }
}

/// Chords between neighbouring rows, checked at ten places: positions, velocities and the square of the position.
fn check_chords(table: &Read, until: f64, own: f64) {
    let (t, q, v, square) = (table.reals("t"), table.reals("q.y"), table.reals("v.y"), table.reals("output.square"));
    for k in (1..t.len()).filter(|k| t[*k] > t[k - 1] && t[*k] <= until) {
        for part in 0..=10 {
            let s = f64::from(part) / 10.0;
            let time = t[k - 1] + s * (t[k] - t[k - 1]);
            // on the side of the chord that the time belongs to
            let (y, rate) = exact(if s == 1.0 { time.next_down() } else { time });
            let chord = |x: &[f64]| x[k - 1] + s * (x[k] - x[k - 1]);
            // ranges 1 m, 3 m/s (from -2 to 1), 1 m²
            assert!((chord(&q) - y).abs() < 1e-3 + own, "{time}: {} {y}", chord(&q));
            assert!((chord(&v) - rate).abs() < 3e-3 + own, "{time}: {} {rate}", chord(&v));
            assert!((chord(&square) - y * y).abs() < 1e-3 + own, "{time}");
        }
    }
}

#[test]
fn event_driven_rows_lie_on_the_flights_and_chords_within_the_tolerance() {
    let scene = ball("end = 2.9\nstep = 0.5\nscheme = \"event-driven\"");
    let (recorded, table) = run("rows-events", &scene, RecordOptions::default());
    let (t, q, v, kinds) = (table.reals("t"), table.reals("q.y"), table.reals("v.y"), table.texts("row"));
    for k in 0..t.len() {
        // a step may end just before the impact, which then is a step without length
        let is_before = kinds[k] == "before" || t.get(k + 1) == Some(&t[k]) && kinds[k + 1] == "before";
        let (y, rate) = exact(if is_before { t[k] - 1e-9 } else { t[k] + 1e-9 });
        assert!((q[k] - y).abs() < 1e-8 && (v[k] - rate).abs() < 1e-8, "{k}, {}: {} {y}, {} {rate}", t[k], q[k], v[k]);
    }
    check_chords(&table, 2.9, 1e-9);
    let count = |kind: &str| kinds.iter().filter(|known| *known == kind).count();
    assert_eq!((count("start"), count("step") as u64), (1, recorded.summary.statistics.steps));
    assert!(count("output") > 40 && count("output") < 2000, "{}", count("output"));
    // impacts at 1, 2, 2.5, 2.75, 2.875
    let before: Vec<usize> = (0..t.len()).filter(|k| kinds[*k] == "before").collect();
    assert_eq!(before.len(), 5);
    let mut speed = 2.0;
    for k in before {
        assert!(t[k] == t[k + 1] && kinds[k + 1] == "step" && (q[k] - q[k + 1]).abs() < 1e-15);
        assert!((v[k] + speed).abs() < 1e-9 && (v[k + 1] - speed / 2.0).abs() < 1e-9, "{} {}", v[k], v[k + 1]);
        // the impulse belongs to the row after, and so does the loss
        let (impulse, lost) = (table.reals("impulse.floor"), table.reals("loss.impact"));
        assert!(impulse[k] == 0.0 && (impulse[k + 1] - 1.5 * speed).abs() < 1e-9);
        assert!((lost[k + 1] - lost[k] - 0.375 * speed * speed).abs() < 1e-9);
        speed /= 2.0;
    }
    // m v(T) - m v(0) = -2 T + sum of impulses
    let sum: f64 = table.reals("impulse.floor").iter().sum();
    assert!((v[t.len() - 1] + 2.0 * 2.9 - sum).abs() < 1e-9, "{sum}");
    let energy = recorded.summary.energy.unwrap();
    assert_eq!(table.reals("loss.impact").last(), Some(&energy.impact_loss));
}

/// A capturing scheme with adaptive steps: parabolas and straight velocities, no stairs.
#[test]
fn adaptive_rows_lie_on_the_flight_and_chords_within_the_tolerance() {
    let scene = ball("end = 0.99\nadaptive = 1e-8");
    let (recorded, table) = run("rows-adaptive", &scene, RecordOptions::default());
    let (t, q, v) = (table.reals("t"), table.reals("q.y"), table.reals("v.y"));
    for k in 0..t.len() {
        let (y, rate) = exact(t[k]);
        assert!((q[k] - y).abs() < 1e-12 && (v[k] - rate).abs() < 1e-12, "{}: {} {y}", t[k], q[k]);
    }
    check_chords(&table, 0.99, 0.0);
    let kinds = table.texts("row");
    assert!(kinds.iter().filter(|kind| *kind == "output").count() > 8);
    assert_eq!(kinds.iter().filter(|kind| *kind == "step").count() as u64, recorded.summary.statistics.steps);
}

/// A block that slides under friction with adaptive steps: the contact acts in all of them, and x is a parabola.
#[test]
fn adaptive_rows_follow_a_contact_that_stays() {
    let text = "version = 1\nname = \"slider\"\n[model]\nkind = \"lagrangian\"\ncoordinates = [\"x\", \"y\"]\n\
                kinetic = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n[[contact]]\nname = \"floor\"\ngap = \"y\"\n\
                slip = \"x\"\nfriction = 0.3\n[initial]\n\"x'\" = 2\n[simulation]\nend = 0.6\nadaptive = 1e-3\n";
    let scene = carom_scene::from_str("slider.toml", text, &Default::default()).unwrap();
    let (recorded, table) = run("rows-slider", &scene, RecordOptions::default());
    let (t, x, v) = (table.reals("t"), table.reals("q.x"), table.reals("v.x"));
    let a = 0.3 * 9.81;
    let range = (2.0 * 0.6 - a * 0.18, a * 0.6);
    for k in 1..t.len() {
        for part in 0..=10 {
            let s = f64::from(part) / 10.0;
            let time = t[k - 1] + s * (t[k] - t[k - 1]);
            let chord = |x: &[f64]| x[k - 1] + s * (x[k] - x[k - 1]);
            assert!((chord(&x) - (2.0 - a * time / 2.0) * time).abs() < 1e-3 * range.0 + 1e-9, "{time}");
            assert!((chord(&v) - (2.0 - a * time)).abs() < 1e-3 * range.1 + 1e-9, "{time}");
        }
    }
    assert!(recorded.summary.statistics.steps < 40, "{}", recorded.summary.statistics.steps);
    assert!(table.texts("row").iter().any(|kind| kind == "output"));
    // friction works inside steps: its loss is told at their ends, and is the kinetic energy that is gone
    let lost = table.optional("loss.friction").into_iter().next_back().flatten().unwrap();
    let end = 2.0 - a * 0.6;
    assert!((lost - (2.0 - end * end / 2.0)).abs() < 1e-9, "{lost}");
}

/// A box that slides on two corners without friction: all columns are straight lines, up to rounding of closed gaps.
#[test]
fn straight_lines_need_no_rows() {
    let text = "version = 1\nname = \"box\"\n[model]\nkind = \"lagrangian\"\ncoordinates = [\"x\", \"y\", \"th\"]\n\
                kinetic = \"(x'^2 + y'^2)/2 + 0.05*th'^2\"\npotential = \"9.81*y\"\n\
                [[contact]]\nname = \"A\"\ngap = \"y - 0.17*cos(th) + 0.31*sin(th)\"\n\
                [[contact]]\nname = \"B\"\ngap = \"y - 0.17*cos(th) - 0.31*sin(th)\"\n\
                [initial]\ny = 0.17\n\"x'\" = 1.3\n[output.columns]\nheight = \"y - 0.17\"\n\
                [simulation]\nend = 1\nstep = 0.1\nscheme = \"event-driven\"\n";
    let scene = carom_scene::from_str("box.toml", text, &Default::default()).unwrap();
    let (recorded, table) = run("rows-box", &scene, RecordOptions::default());
    assert_eq!(table.rows() as u64, recorded.summary.statistics.steps + 1, "{:?}", table.texts("row"));
}

/// Velocities just before and after captured impacts are those of the impact list, and there are no other rows.
#[test]
fn captured_impacts_have_both_sides() {
    let scene = ball("end = 2.9\nsteps = 290");
    let (recorded, table) = run("rows-captured", &scene, RecordOptions::default());
    let impacts = read(&directory_of("rows-captured").join("impacts.parquet"));
    let (t, q, v, kinds) = (table.reals("t"), table.reals("q.y"), table.reals("v.y"), table.texts("row"));
    let before: Vec<usize> = (0..t.len()).filter(|k| kinds[*k] == "before").collect();
    assert_eq!((table.rows(), before.len() as u64), (291 + before.len(), recorded.summary.impacts));
    assert!(before.len() >= 4 && !kinds.iter().any(|kind| kind == "output"));
    for (i, &k) in before.iter().enumerate() {
        assert!(t[k] == t[k + 1] && kinds[k + 1] == "step" && q[k] == q[k + 1]);
        assert_eq!((t[k], v[k], v[k + 1]), {
            let of = |name: &str| impacts.reals(name)[i];
            (of("t"), of("normal.before"), of("normal.after"))
        });
        let impulse = table.reals("impulse.floor");
        assert!(impulse[k] == 0.0 && impulse[k + 1] > 0.0);
    }
}

fn directory_of(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("results").join(name)
}

#[test]
fn a_grid_has_its_rows_besides_the_steps() {
    let scene = ball("end = 2\nstep = 0.3\nscheme = \"event-driven\"\noutput = 0.125");
    let (_, table) = run("rows-grid", &scene, RecordOptions::default());
    let (t, q, kinds) = (table.reals("t"), table.reals("q.y"), table.texts("row"));
    assert!(t.windows(2).all(|pair| pair[0] <= pair[1]));
    for k in 1..16 {
        let time = 0.125 * f64::from(k);
        let row = t.iter().position(|t| *t == time).unwrap_or_else(|| panic!("{time}"));
        assert!((q[row] - exact(time).0).abs() < 1e-9, "{time}");
        // 1 s is an impact, and the multiples of 0.3 are steps
        assert!(k == 8 || kinds[row] == "output", "{time}: {}", kinds[row]);
    }
    assert_eq!(kinds.iter().filter(|kind| *kind == "output").count(), 14);
}

/// Corners of the slider that open and are pressed shut: the note is where the velocity changes its sign that way, and
/// Newton's law with u⁺ = -e u holds there.
#[test]
fn impacts_of_the_slider_crank_have_notes() {
    let text = carom_scene::examples::find("slider-crank").unwrap();
    let scene = carom_scene::from_str("slider-crank.toml", text, &Default::default()).unwrap();
    let path = directory("rows-crank");
    let mut simulation = scene.simulation().unwrap();
    let options = RecordOptions { every: 10, parquet: true, ..RecordOptions::default() };
    let mut recorder = RunRecorder::create(&path, simulation.stepper(), options, None).unwrap();
    let outcome = simulation.run(&mut [&mut recorder]);
    let recorded = recorder.finish(Inputs::default(), &outcome, &simulation);
    let impacts = read(&path.join("impacts.parquet"));
    let [before, after] = ["normal.before", "normal.after"].map(|name| impacts.reals(name));
    let notes = impacts.texts("note");
    assert!(notes.iter().filter(|note| !note.is_empty()).count() >= 4);
    for k in 0..notes.len() {
        assert_eq!(notes[k] == "pressed shut while opening", before[k] > 1e-9, "{k}: {}", before[k]);
        if !notes[k].is_empty() {
            assert!((after[k] + 0.4 * before[k]).abs() < 1e-9, "{k}: {} {}", before[k], after[k]);
        }
    }
    // losses per contact add up to those of the ledger
    let (table, energy) = (read(&path.join("trajectory.parquet")), recorded.summary.energy.unwrap());
    let last = |name: &str| table.optional(name).last().unwrap().unwrap();
    assert!((last("loss.impact") - energy.impact_loss).abs() <= 1e-12 * energy.impact_loss);
    assert!((last("loss.friction") - energy.friction_loss).abs() <= 1e-12 * energy.friction_loss);
    let sum: f64 = ["1", "2", "3", "4"].iter().map(|name| last(&format!("loss.{name}"))).sum();
    assert!((sum - energy.impact_loss - energy.friction_loss).abs() <= 1e-12 * sum, "{sum}");
}

#[test]
fn columns_have_units_and_kinds_in_files_and_summary() {
    let scene = ball("end = 0.1\nstep = 0.01");
    let (recorded, table) = run("rows-units", &scene, RecordOptions::default());
    let columns = serde_json::to_value(&recorded.summary.columns).unwrap();
    assert_eq!(columns, table.columns);
    let expected = [
        ("t", Some("s"), "time"),
        ("row", None, "word"),
        ("q.y", Some("m"), "line"),
        ("v.y", Some("m/s"), "line"),
        ("gap.floor", Some("m"), "line"),
        ("impulse.floor", Some("N s"), "sum"),
        ("force.floor", Some("N"), "mean"),
        ("loss.impact", Some("J"), "line"),
        ("energy.kinetic", Some("J"), "line"),
        ("energy.potential", Some("J"), "line"),
        ("energy.total", Some("J"), "line"),
        ("output.square", Some("m^2"), "line"),
    ];
    let expected: Vec<_> = expected
        .into_iter()
        .map(|(name, unit, kind)| serde_json::json!({ "name": name, "unit": unit, "kind": kind }))
        .collect();
    assert_eq!(columns, serde_json::Value::Array(expected));
    assert_eq!(table.names.len(), 12);
}
