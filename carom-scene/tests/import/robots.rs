//! Public robot files, imported and run beside what another engine says of them: masses, mass centres and inertias at
//! the start, and mass centres after a quarter of a second. Skipped where the files are absent.

use super::{coordinate, run, scene};
use carom_scene::import::{FEATURES, Imported, Options, import};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The folder with the files of a format, if it is there.
fn folder(format: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(format);
    if folder.join("reference.json").is_file() {
        return Some(folder);
    }
    println!("skipped: no robot files ({format})");
    None
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(list) => list.iter().flat_map(numbers).collect(),
        value => value.as_f64().into_iter().collect(),
    }
}

/// Nothing but masses and joints, with velocity 0.5 sin(1 + i) in degree of freedom i.
fn options(joints: &Value, text_of_unnamed: impl Fn(usize) -> String) -> Options {
    let mut rates = Vec::new();
    for (k, joint) in joints.as_array().unwrap().iter().enumerate() {
        let first = joint["dof"].as_u64().unwrap() as usize;
        let count = match joint["type"].as_str().unwrap() {
            "free" => 6,
            "ball" => 3,
            _ => 1,
        };
        let name =
            joint["name"].as_str().filter(|name| !name.is_empty()).map_or_else(|| text_of_unnamed(k), Into::into);
        rates.push((name, (first..first + count).map(|i| 0.5 * (1.0 + i as f64).sin()).collect()));
    }
    let without = FEATURES.iter().map(|(_, feature)| *feature).collect();
    Options { rates, without, ..Options::default() }
}

/// Names as model files write them.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect()
}

/// Bodies, masses and inertias of the model file, by its own text.
fn body<'a>(file: &'a toml::Table, name: &str) -> &'a toml::Table {
    let bodies = file["body"].as_array().unwrap().iter().map(|body| body.as_table().unwrap());
    bodies.into_iter().find(|body| body["name"].as_str() == Some(&plain(name))).unwrap_or_else(|| panic!("{name}"))
}

fn list(value: &toml::Value) -> Vec<f64> {
    match value {
        toml::Value::Array(list) => list.iter().flat_map(list_of).collect(),
        value => list_of(value),
    }
}

fn list_of(value: &toml::Value) -> Vec<f64> {
    match value {
        toml::Value::Float(x) => vec![*x],
        toml::Value::Integer(x) => vec![*x as f64],
        toml::Value::Array(_) => list(value),
        other => panic!("{other}"),
    }
}

/// R J Rᵀ of a quaternion.
fn turned(q: &[f64], j: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let (w, x, y, z) = (q[0], q[1], q[2], q[3]);
    let r = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ];
    let mut out = [[0.0; 3]; 3];
    for a in 0..3 {
        for b in 0..3 {
            for c in 0..3 {
                for d in 0..3 {
                    out[a][b] += r[a][c] * j[c][d] * r[b][d];
                }
            }
        }
    }
    out
}

fn near(found: f64, expected: f64, size: f64, tolerance: f64, what: &str) {
    let error = (found - expected).abs();
    assert!(error <= tolerance * size, "{what}: {found} beside {expected}, off by {error:e}");
}

fn compare_masses(name: &str, text: &str, reference: &Value) {
    let file: toml::Table = text.parse().unwrap();
    for expected in reference["bodies"].as_array().unwrap() {
        let of = expected["name"].as_str().unwrap();
        let body = body(&file, of);
        let what = format!("{name}: {of}");
        let mass = expected["mass"].as_f64().unwrap();
        near(list(&body["mass"])[0], mass, mass, 1e-9, &what);
        for (found, expected) in list(&body["position"]).into_iter().zip(numbers(&expected["centre"])) {
            near(found, expected, 1.0, 1e-9, &what);
        }
        let given = list(&body["inertia"]);
        let j = match given[..] {
            [a, b, c] => [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]],
            _ => std::array::from_fn(|i| std::array::from_fn(|k| given[3 * i + k])),
        };
        let attitude = body.get("attitude").map_or_else(|| vec![1.0, 0.0, 0.0, 0.0], |a| list(&a["quaternion"]));
        let expected = numbers(&expected["inertia_world"]);
        let size = expected.iter().fold(0.0f64, |size, x| size.max(x.abs()));
        for (found, expected) in turned(&attitude, j).as_flattened().iter().zip(expected) {
            near(*found, expected, size, 1e-9, &what);
        }
    }
}

/// Largest distance of a mass centre from the reference after a quarter of a second.
fn distance(name: &str, imported: &Imported, reference: &Value, step: f64) -> f64 {
    let (scene, state) = run(name, imported, 0.25, step);
    let mut worst = 0.0f64;
    for (of, centre) in reference["after"]["centres"].as_object().unwrap() {
        let found = ["x", "y", "z"].map(|k| coordinate(&scene, &state, &format!("{}.{k}", plain(of))));
        let error = numbers(centre).iter().zip(found).map(|(x, found)| (found - x).powi(2)).sum::<f64>();
        worst = worst.max(error.sqrt());
    }
    worst
}

/// Kinds of things that may be left out of a file of which everything is imported.
const ALLOWED: &[&str] = &[
    "actuators",
    "sensors",
    "visuals",
    "contact options",
    "options of solvers",
    "options of limits",
    "limits of actuators",
    "limits of actuators (effort, velocity)",
];

fn all_files(format: &str) {
    let Some(folder) = folder(format) else { return };
    let reference: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("reference.json")).unwrap()).unwrap();
    for (name, reference) in reference.as_object().unwrap() {
        let options = options(&reference["joints"], |k| {
            let of = reference["bodies"][k]["name"].as_str().unwrap();
            format!("{of}.joint1")
        });
        let imported = import(&folder.join(name), &options).unwrap_or_else(|errors| panic!("{}", errors[0]));
        compare_masses(name, &imported.text, reference);
        let error = distance(name, &imported, reference, 1e-4);
        println!("{name}: {error:.2e} m after 0.25 s");
        assert!(error < 1e-6, "{name}: {error:e} m after 0.25 s");
    }
}

#[test]
fn urdf_files_agree_with_another_engine() {
    all_files("urdf");
}

#[test]
fn mjcf_files_agree_with_another_engine() {
    all_files("mjcf");
}

/// Whole files are imported, can be read back, and say what they leave out.
#[test]
fn whole_files_leave_out_what_has_no_counterpart() {
    for format in ["urdf", "mjcf"] {
        let Some(folder) = folder(format) else { return };
        let reference: Value =
            serde_json::from_str(&std::fs::read_to_string(folder.join("reference.json")).unwrap()).unwrap();
        for name in reference.as_object().unwrap().keys() {
            let imported = import(&folder.join(name), &Options::default()).unwrap();
            for omission in &imported.left_out {
                let what = omission.what.as_str();
                assert!(ALLOWED.contains(&what), "{name}: {what}");
            }
            // the knee of one file is drawn beyond its limit
            let changes = imported.changes();
            assert_eq!(changes.len(), usize::from(name == "hopper.xml"), "{name}: {changes:?}");
            println!("{name}: {:#?}", imported.summary());
            scene(name, &imported, 1e-3, 1e-4);
        }
    }
}

/// Files that no engine takes are refused with place, reason and hint.
#[test]
fn files_that_are_no_robots_are_refused() {
    let Some(folder) = folder("urdf") else { return };
    for (name, line, column, reason) in [
        ("humanoid.urdf", 29, 3, "`link1_2` moves and has no mass"),
        ("r2d2-physics.urdf", 282, 25, "is not there: package:// means nothing"),
        ("two-joint-robot.urdf", 123, 7, "add up to less than"),
    ] {
        let errors = import(&folder.join(name), &Options::default()).unwrap_err();
        let first = &errors[0];
        assert_eq!((first.line, first.column), (line, column), "{first}");
        assert!(first.message.contains(reason) && first.hint.is_some(), "{first}");
    }
}
