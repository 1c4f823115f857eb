//! Every example runs, meets its expected numbers and leaves complete results.

use super::session::Session;
use super::table::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");

/// Marks examples whose scheme chooses its steps.
const CHOSEN: u64 = 0;

/// Name, steps, steps per row, and the columns between `t` and the energies with `output.` at the end.
fn expected() -> Vec<(&'static str, u64, u64, Vec<String>)> {
    let columns = |coordinates: &[&str], laws: &[(&str, &str)], outputs: &[&str]| -> Vec<String> {
        let kinds =
            ["q", "v"].into_iter().flat_map(|kind| coordinates.iter().map(move |name| format!("{kind}.{name}")));
        let gaps = laws.iter().filter(|(kind, _)| *kind != "slip").map(|(_, name)| format!("gap.{name}"));
        let contacts: Vec<&str> = laws.iter().filter(|(kind, _)| *kind == "gap").map(|(_, name)| *name).collect();
        let rubs = laws.iter().any(|(kind, _)| *kind == "slip");
        let mut losses: Vec<&str> = ["impact", "friction"][..if rubs { 2 } else { contacts.len().min(1) }].to_vec();
        losses.extend(contacts.iter().filter(|_| contacts.len() > 1));
        let losses = losses.into_iter().map(|name| format!("loss.{name}"));
        let rows = |what: &'static str| laws.iter().map(move |(_, name)| format!("{what}.{name}"));
        let (impulses, forces) = (rows("impulse"), rows("force"));
        let energies = ["kinetic", "potential", "total"].map(|name| format!("energy.{name}"));
        let outputs = outputs.iter().map(|name| format!("output.{name}"));
        let contacts = gaps.chain(impulses).chain(forces).chain(losses);
        ["t", "row"].map(String::from).into_iter().chain(kinds).chain(contacts).chain(energies).chain(outputs).collect()
    };
    let circuit = |first: &[&str], elements: &[&str]| -> Vec<String> {
        let elements = elements.iter().flat_map(|name| [format!("v.{name}"), format!("i.{name}")]);
        first.iter().map(|name| (*name).to_owned()).chain(elements).collect()
    };
    let first_order = |states: &[&str], rows: &[&str], outputs: &[String]| -> Vec<String> {
        let kinds = ["y", "lambda", "impulse"].into_iter();
        let rows = kinds.flat_map(|kind| rows.iter().map(move |name| format!("{kind}.{name}")));
        let states = states.iter().map(|name| format!("x.{name}"));
        ["t", "row"].map(String::from).into_iter().chain(states).chain(rows).chain(outputs.iter().cloned()).collect()
    };
    let (gap, rod) = (|name| ("gap", name), |name| ("rod", name));
    // the bar has 1001 nodes, of which 17 are kept
    let nodes: Vec<String> = (0..17).map(|k| format!("q{}", k * 1000 / 16)).collect();
    let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
    let period = 1.05 * std::f64::consts::PI / (9.81_f64 / 0.5).sqrt();
    let corners: Vec<(&str, &str)> = [("1", "1.t1"), ("2", "2.t1"), ("3", "3.t1"), ("4", "4.t1")]
        .into_iter()
        .flat_map(|(normal, tangent)| [gap(normal), ("slip", tangent)])
        .collect();
    vec![
        ("bouncing-ball", 587, 1, columns(&["y"], &[gap("floor")], &["momentum"])),
        ("linear-oscillator", 587, 1, columns(&["q"], &[gap("stop")], &[])),
        ("rocking-block", 200, 1, columns(&["x", "y", "theta"], &[gap("A"), gap("B")], &[])),
        ("planar-ball", 4000, 1, columns(&["x", "y", "phi"], &[gap("floor"), ("slip", "floor.t1")], &[])),
        ("double-pendulum", 15000, 5, columns(&["a", "b"], &[gap("wall")], &["tip_x", "tip_y"])),
        ("impacting-bar", 1000, 5, columns(&nodes, &[gap("wall")], &[])),
        ("preloaded-oscillator", 1000, 1, columns(&["q"], &[gap("stop")], &[])),
        // steps end at impacts, and the last one at the end of the span
        ("impact-oscillator", 3201, 1, columns(&["u"], &[gap("wall")], &["phase"])),
        ("chaotic-oscillator", 1002, 1, columns(&["u"], &[gap("wall")], &[])),
        ("bistable-oscillator", CHOSEN, 1, columns(&["u"], &[gap("wall")], &[])),
        ("takeoff", 290, 1, columns(&["q"], &[gap("floor")], &[])),
        ("slider-roller", 800, 1, columns(&["y", "phi"], &[gap("top"), ("slip", "top.t1")], &[])),
        ("pendulum-ring", 20000, 20, columns(&["x", "z", "theta", "phi"], &[gap("hook"), ("slip", "hook.t1")], &[])),
        ("slider-crank", 13757, 1, columns(&["th1", "th2", "th3"], &corners, &["revolutions", "x", "y"])),
        ("two-mass-chain", (10.0_f64 / 0.0037).ceil() as u64, 1, columns(&["left", "right"], &[gap("stop")], &[])),
        (
            "newtons-cradle",
            (period / 1e-5).ceil() as u64,
            20,
            columns(&["x1", "x2", "x3", "x4", "x5"], &[gap("1-2"), gap("2-3"), gap("3-4"), gap("4-5")], &[]),
        ),
        ("bouncing-ball-events", CHOSEN, 1, columns(&["y"], &[gap("floor")], &[])),
        ("rocking-block-events", CHOSEN, 1, columns(&["x", "y", "theta"], &[gap("A"), gap("B")], &[])),
        ("sliding-block", CHOSEN, 1, columns(&["x", "y", "theta"], &[gap("A"), gap("B")], &["rate"])),
        ("pendulum", CHOSEN, 1, columns(&["x", "y"], &[rod("rod")], &[])),
        ("hoop", 80, 1, columns(&["x", "y"], &[rod("hoop")], &[])),
        (
            "four-bar",
            CHOSEN,
            1,
            columns(&["p1", "p2", "p3"], &[rod("g1"), rod("g2")], &["invariant", "rate1", "rate2"]),
        ),
        ("parabola-edge", CHOSEN, 1, columns(&["z", "x"], &[gap("flat"), gap("parabola")], &[])),
        ("kinked-table", CHOSEN, 1, columns(&["z", "x"], &[gap("flat"), gap("ramp")], &[])),
        ("belt-block", CHOSEN, 1, columns(&["x", "y"], &[gap("belt"), ("slip", "belt.t1")], &[])),
        ("stick-slip", CHOSEN, 1, columns(&["x", "y"], &[gap("belt"), ("slip", "belt.t1")], &["spring", "sliding"])),
        ("painleve-rod", CHOSEN, 1, columns(&["x", "y", "theta"], &[gap("tip"), ("slip", "tip.t1"), gap("end")], &[])),
        ("disc-release", CHOSEN, 1, columns(&["x", "z"], &[gap("disc")], &[])),
        ("play-operator", 400, 1, first_order(&["u"], &["gap.lower", "gap.upper"], &[])),
        ("swept-disc", 400, 1, first_order(&["x", "y"], &["disc"], &[])),
        ("swept-corner", 50, 1, first_order(&["x1", "x2"], &["wedge1", "wedge2"], &[])),
        (
            "diode-bridge",
            5000,
            1,
            first_order(
                &["C", "L"],
                &["D1", "D2", "D3", "D4"],
                &circuit(&["output.rectified", "v.b", "v.p", "v.n"], &["L", "C", "R", "D1", "D2", "D3", "D4"]),
            ),
        ),
        (
            "rectifier",
            5000,
            1,
            first_order(&["L"], &["D"], &circuit(&["output.square", "v.a", "v.b", "v.c"], &["V", "D", "R", "L"])),
        ),
        (
            "buck-converter",
            2000,
            1,
            first_order(&["C", "L"], &["S", "D"], &circuit(&["v.in", "v.s", "v.out"], &["V", "S", "D", "L", "C", "R"])),
        ),
        ("sliding-mode", 5000, 1, first_order(&["x", "w"], &["relay"], &["output.late".into()])),
        (
            "higher-order-sweeping",
            100,
            1,
            first_order(&["z1", "z2", "z3", "xi1", "xi2"], &["stop"], &["mu1.stop", "mu2.stop"].map(String::from)),
        ),
        ("twisting-controller", 6000, 1, first_order(&["x", "w"], &["position", "velocity"], &[])),
    ]
}

/// Names of the files in the folder of examples.
fn files() -> BTreeSet<String> {
    let names = fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter_map(|name| name.strip_suffix(".toml").map(str::to_owned)).collect()
}

/// Whether an example is one of rigid bodies: their columns follow from bodies and joints.
fn is_of_bodies(name: &str) -> bool {
    fs::read_to_string(Path::new(FOLDER).join(format!("{name}.toml"))).unwrap().contains("kind = \"multibody\"")
}

#[test]
fn examples_of_bodies_run_and_meet_their_numbers() {
    let session = Session::new();
    let names: Vec<String> = files().into_iter().filter(|name| is_of_bodies(name)).collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        let path = Path::new(FOLDER).join(format!("{name}.toml"));
        // redundant joints and contacts that are passed within a step are worth a warning
        let outcome = session.carom(["run".as_ref(), path.as_os_str()]);
        assert_eq!(outcome.code, Some(0), "{name}: {}", outcome.err);
        let out = outcome.out;
        assert!(out.contains("(finished)") && out.contains(": ok") && !out.contains("MISSED"), "{name}: {out}");
        let folder = format!("out/{name}");
        let summary = session.summary(&folder);
        assert_eq!(summary["status"], "finished", "{name}");
        assert_eq!(summary["failure"], serde_json::Value::Null, "{name}");
        // Bricard's rows contradict each other by the drift of positions, which the run says; poured balls ask for 1e-6
        let most = match name.as_str() {
            "bricard" => 1e-5,
            "spheres-poured" => 1e-6,
            _ => 1e-10,
        };
        let says = summary["warnings"].as_array().unwrap().iter().any(|warning| warning["kind"] != "file");
        assert!(name != "bricard" || says, "{name}: {}", summary["warnings"]);
        assert!(summary["certificate"]["residual"].as_f64().unwrap() <= most, "{name}: {}", summary["certificate"]);
        let table = session.table(&format!("{folder}/trajectory.parquet"));
        let first = table.names.iter().find_map(|name| name.strip_prefix("q.")).unwrap().to_owned();
        for column in [format!("q.{first}"), format!("v.{first}"), "energy.total".into()] {
            assert!(table.column(&column).iter().all(|x| x.is_finite()), "{name}: {column}");
        }
    }
}

#[test]
fn every_example_runs_and_meets_its_numbers() {
    let session = Session::new();
    let expected = expected();
    let names: BTreeSet<String> = files().into_iter().filter(|name| !is_of_bodies(name)).collect();
    assert_eq!(expected.iter().map(|row| row.0.to_owned()).collect::<BTreeSet<_>>(), names);
    for (name, steps, every, columns) in expected {
        let out = session.succeed(["run".as_ref(), Path::new(FOLDER).join(format!("{name}.toml")).as_os_str()]);
        let folder = format!("out/{name}");
        assert!(out.contains("(finished)") && out.contains(": ok") && !out.contains("MISSED"), "{name}: {out}");
        let summary = session.summary(&folder);
        let mut files = vec!["impacts.parquet", "report.html", "summary.json", "trajectory.parquet"];
        let events: u64 = summary["events"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        if events > 0 {
            files.insert(0, "events.parquet");
            assert_eq!(session.table(&format!("{folder}/events.parquet")).rows.len() as u64, events, "{name}");
        }
        assert_eq!(session.names(&folder), files, "{name}");
        let steps = if steps == CHOSEN { summary["statistics"]["steps"].as_u64().unwrap() } else { steps };
        let rows = 1 + steps / every + u64::from(!steps.is_multiple_of(every));
        assert_eq!(summary["status"], "finished", "{name}");
        assert_eq!(summary["warnings"].as_array().map(Vec::len), Some(0), "{name}: {}", summary["warnings"]);
        assert_eq!(summary["failure"], serde_json::Value::Null, "{name}");
        assert_eq!(summary["statistics"]["steps"], steps, "{name}");
        assert!(summary["certificate"]["residual"].as_f64().unwrap() <= 1e-10, "{name}: {}", summary["certificate"]);
        let table = session.table(&format!("{folder}/trajectory.parquet"));
        assert_eq!(table.names, columns, "{name}");
        assert_eq!(summary["rows"], table.rows.len(), "{name}");
        let table = table.steps();
        assert_eq!(table.rows.len() as u64, rows, "{name}");
        let (t, end) = (table.column("t"), summary["inputs"]["end"].as_f64().unwrap());
        let end = summary["stopped"]["time"].as_f64().unwrap_or(end);
        // the last time is a sum of steps
        assert!(t[0] == 0.0 && (t[t.len() - 1] - end).abs() <= 2.0 * f64::EPSILON * end, "{name}");
        // steps that end at an event may be followed by one of no length
        assert!(t.windows(2).all(|pair| pair[0] < pair[1] || events > 0 && pair[0] == pair[1]), "{name}");
        if table.names.iter().any(|name| name.starts_with("x.")) {
            continue;
        }
        let [kinetic, potential, total] =
            ["kinetic", "potential", "total"].map(|n| table.column(&format!("energy.{n}")));
        assert!((0..t.len()).all(|i| (kinetic[i] + potential[i] - total[i]).abs() <= 1e-12 * total[0].abs()), "{name}");
        let impacts = session.table(&format!("{folder}/impacts.parquet"));
        assert_eq!(summary["impacts"], impacts.rows.len(), "{name}");
        assert!(impacts.column("normal.impulse").iter().all(|impulse| *impulse > 0.0), "{name}");
    }
}

#[test]
fn the_columns_of_the_ball_hold_what_their_names_say() {
    let session = Session::new();
    session.succeed(["run", "bouncing-ball", "--csv"]);
    let table = session.table("out/bouncing-ball/trajectory.parquet").steps();
    let column = |name| table.column(name);
    // m = 1, f = 2: the gap is y, the momentum v, the energies v²/2 and 2 y
    assert_eq!(column("gap.floor"), column("q.y"));
    assert_eq!(column("output.momentum"), column("v.y"));
    for (energy, v) in column("energy.kinetic").iter().zip(column("v.y")) {
        assert!((energy - v * v / 2.0).abs() <= 1e-15);
    }
    for (energy, y) in column("energy.potential").iter().zip(column("q.y")) {
        assert!((energy - 2.0 * y).abs() <= 1e-15);
    }
    // v⁺ − v = P − f h from row to row
    let (v, p, h) = (column("v.y"), column("impulse.floor"), 5.0 / 587.0);
    assert!((1..v.len()).all(|k| (v[k] - v[k - 1] - p[k] + 2.0 * h).abs() <= 1e-12));
    let impacts = session.table("out/bouncing-ball/impacts.parquet");
    // the first impact comes at 1 s with 2 m/s, and half of the velocity remains; the scheme is late by less than two
    // steps
    let first = |name| impacts.column(name)[0];
    assert!((first("t") - 1.0).abs() <= 2.0 * h && (first("normal.before") + 2.0).abs() <= 4.0 * h);
    assert!((first("normal.after") + 0.5 * first("normal.before")).abs() <= 1e-12);
    let contact = impacts.names.iter().position(|name| name == "contact").unwrap();
    assert!(impacts.rows.iter().all(|row| row[contact] == Value::Text("floor".into())));
}

#[test]
fn the_list_names_the_files_of_the_folder() {
    let out = Session::new().succeed(["list", "examples"]);
    let listed: BTreeSet<String> =
        out.lines().skip(1).map(|line| line.split_whitespace().next().unwrap().to_owned()).collect();
    assert_eq!(listed, files());
}

#[test]
fn a_name_means_the_example_unless_there_is_such_a_file() {
    let session = Session::new();
    // a folder of that name is no model file
    fs::create_dir(session.path("rocking-block")).unwrap();
    session.succeed(["run", "rocking-block", "--no-report"]);
    let summary = session.summary("out/rocking-block");
    assert_eq!((&summary["name"], &summary["inputs"]["step"]), (&"rocking block".into(), &0.01.into()));
    session.write("bouncing-ball", super::session::BALL);
    session.succeed(["run", "bouncing-ball", "--no-report"]);
    assert_eq!(session.summary("out/bouncing-ball")["name"], "ball");
}
