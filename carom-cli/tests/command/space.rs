//! Models in space: the view of the report and glTF files.

#[path = "../../../carom-analysis/tests/gltf_file/mod.rs"]
mod gltf_file;

use super::report::browser;
use super::session::Session;
use gltf_file::File;
use serde_json::Value;
use std::fs;

/// A ball that drops 1 m onto a floor and slides on, without friction.
const BALL: &str = r#"
version = 1
name = "ball"
[model]
kind = "multibody"
gravity = [0, 0, -9.81]
[[body]]
name = "ground"
[[body.shape]]
kind = "plane"
name = "floor"
normal = [0, 0, 1]
[[body]]
name = "ball"
mass = 2
inertia = [0.008, 0.008, 0.008]
position = [0.3, -0.2, 1.1]
velocity = [0.5, 0, 0]
spin = [0, 0, 3]
[[body.shape]]
kind = "sphere"
name = "ball"
radius = 0.1
[[contact]]
name = "floor"
a = "ground/floor"
b = "ball/ball"
restitution = 0.5
[simulation]
end = 0.8
step = 0.1
scheme = "event-driven"
"#;

/// Balls that fall side by side.
fn many(count: usize, steps: usize) -> String {
    format!(
        "version = 1\nname = \"many\"\n[model]\nkind = \"multibody\"\ngravity = [0, 0, -9.81]\n\
         [[body]]\nname = \"ball{{i}}\"\nfor = {{ i = \"1..{count}\" }}\nmass = 1\ninertia = [1, 1, 1]\n\
         position = [\"i\", 0, 0]\nvelocity = [0, \"0.01*i\", 5]\nspin = [1, 0, \"i/{count}\"]\n\
         [[body.shape]]\nkind = \"sphere\"\nradius = 0.3\n\
         [simulation]\nend = 1\nsteps = {steps}\nscheme = \"moreau-jean\"\n"
    )
}

/// Opens a report with a script; what the script returns, or nothing where there is no browser.
fn ask(session: &Session, file: &str, script: &str) -> Option<Value> {
    let page = browser::open_text(&browser::with_script(&session.read(file), script))?;
    assert_eq!(page.root("data-errors"), Some("0"), "{:#?}", page.console);
    page.assert_quiet();
    Some(page.answer())
}

fn close(found: &Value, expected: &[f64], within: f64) {
    let found: Vec<f64> = serde_json::from_value(found.clone()).unwrap();
    assert_eq!(found.len(), expected.len());
    assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= within), "{found:?} instead of {expected:?}");
}

/// At the impact the arrow stands where the ball touches, with m (1 + e) v, and the file has a key there.
#[test]
fn impacts_are_shown_and_exported_where_they_are() {
    let session = Session::new();
    session.write("ball.toml", BALL);
    session.succeed(["run", "ball.toml", "--quiet", "--out", "out", "--gltf"]);
    let (t, speed) = ((2.0f64 / 9.81).sqrt(), (2.0f64 * 9.81).sqrt());
    let x = 0.3 + 0.5 * t;
    let file = File::read(&fs::read(session.path("out/motion.glb")).unwrap());
    let track = file.track("ball", "translation");
    let key = track.times.iter().position(|key| (f64::from(*key) - t).abs() < 1e-7).expect("a key at the impact");
    let place = &track.values[key];
    assert!((f64::from(place[0]) - x).abs() < 1e-6 && (place[2] - 0.1).abs() < 1e-6, "{place:?}");
    let script = "
        report.goto(report.time.marks[0]); report.drawNow();
        const [push] = report.space.pushes.impulses(report.time.t);
        const body = report.space.scene.bodies[1];
        const pose = report.space.scene.pose(body, report.space.scene.frame(report.time.t));
        const before = report.space.arrows().map((arrow) => arrow.text);
        report.goto(report.time.marks[0] - 0.01);
        return {at: push.at, vector: push.vector, place: pose.p, turn: pose.q, before,
            early: report.space.arrows().length, floors: report.space.scene.floors([0, 0]).length};
    ";
    let Some(found) = ask(&session, "out/report.html", script) else { return };
    close(&found["at"], &[x, -0.2, 0.0], 1e-9);
    close(&found["vector"], &[0.0, 0.0, 2.0 * 1.5 * speed], 1e-8);
    close(&found["place"], &[x, -0.2, 0.1], 1e-7);
    close(&found["turn"], &[(1.5 * t).cos(), 0.0, 0.0, (1.5 * t).sin()], 1e-6);
    assert_eq!((&found["before"], &found["early"]), (&serde_json::json!(["13.3 N s"]), &0.into()));
    assert_eq!(found["floors"], 1, "the plane of the file, and no other grid");
}

/// A ball that lies on an incline has an arrow as large as the force that holds it, as long as it lies there.
#[test]
fn forces_of_contacts_that_last_are_shown() {
    let session = Session::new();
    session.succeed(["run", "sphere-in-groove", "--quiet"]);
    let script = "
        report.goto(0.6); report.drawNow();
        const pushes = report.space.pushes.lasting(0.6);
        return {sizes: pushes.map((push) => push.vector), contacts: pushes.map((push) => push.contact)};
    ";
    let Some(found) = ask(&session, "out/sphere-in-groove/report.html", script) else { return };
    assert_eq!(found["contacts"], serde_json::json!([0, 1]));
    let vectors: Vec<[f64; 3]> = serde_json::from_value(found["sizes"].clone()).unwrap();
    // m (a - g) along the groove, in axes that are turned so that gravity points down
    let (g, slope) = (9.81f64, std::f64::consts::PI / 9.0);
    let a = g * slope.sin() / 1.8;
    let sum: Vec<f64> = (0..3).map(|k| vectors[0][k] + vectors[1][k]).collect();
    let expected = [a * slope.cos(), 0.0, g - a * slope.sin()];
    assert!(sum.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-6), "{sum:?} instead of {expected:?}");
}

/// The motion of twenty bodies is small. Forty have too many coordinates for a table of all of them: the report keeps
/// poses of its own.
#[test]
fn large_models_keep_their_poses() {
    let session = Session::new();
    session.write("many.toml", many(20, 2000));
    session.succeed(["run", "many.toml", "--quiet", "--out", "out", "--gltf", "many.glb"]);
    let size = session.read("out/report.html").len();
    assert!(size < 1_500_000, "{size} bytes");
    let file = File::read(&fs::read(session.path("many.glb")).unwrap());
    let track = file.track("ball7", "translation");
    assert_eq!(track.times.len(), 2001);
    for (t, place) in track.times.iter().zip(&track.values) {
        let t = f64::from(*t);
        let expected = [7.0, 0.07 * t, 5.0 * t - 9.81 / 2.0 * t * t];
        // the midpoint rule is exact for parabolas
        assert!(place.iter().zip(expected).all(|(a, b)| (f64::from(*a) - b).abs() < 2e-6), "t = {t}: {place:?}");
    }
    let script = "
        const told = document.querySelector('#space .note:not(.warn)').textContent;
        return {frames: report.space.scene.times.length, told};
    ";
    let Some(found) = ask(&session, "out/report.html", script) else { return };
    assert_eq!(found, serde_json::json!({ "frames": 2001, "told": "" }));
    // with less room there are fewer frames, and the view says so
    session.write("crowd.toml", many(40, 2000));
    session.succeed(["run", "crowd.toml", "--quiet", "--out", "crowd"]);
    let found = ask(&session, "crowd/report.html", script).expect("the browser was there a moment ago");
    assert_eq!(found, serde_json::json!({ "frames": 2001, "told": "" }));
    session.succeed(["run", "crowd.toml", "--quiet", "--out", "small", "--report-size", "400000"]);
    let found = ask(&session, "small/report.html", script).expect("the browser was there a moment ago");
    let frames = found["frames"].as_u64().unwrap();
    assert!((100..=360).contains(&frames), "{found}");
    assert!(found["told"].as_str().unwrap().starts_with("Thinned: every 8th step"), "{found}");
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let session = Session::new();
    let planar = session.carom(["run", "bouncing-ball", "--gltf"]);
    assert_eq!(planar.code, Some(2));
    assert!(planar.err.contains("--gltf: the model is not one of bodies in space"), "{}", planar.err);
    let text = session.carom(["run", "heavy-top", "--gltf", "top.gltf"]);
    assert_eq!(text.code, Some(2));
    assert!(text.err.contains("let its name end with .glb"), "{}", text.err);
    let lost = session.carom(["run", "heavy-top", "--no-report", "--gltf", "no/such/folder/top.glb"]);
    assert_eq!(lost.code, Some(1), "{}", lost.err);
}

/// A mesh of a file is in the view and in the glTF file as it is: 12 corners, 20 triangles, at its mass centre.
#[test]
fn meshes_are_shown_and_exported_as_they_are() {
    let session = Session::new();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/meshes");
    let model = folder.join("stone.toml");
    session.succeed(["run", model.to_str().unwrap(), "--quiet", "--out", "out", "--gltf"]);
    let file = File::read(&fs::read(session.path("out/motion.glb")).unwrap());
    let counts: Vec<u64> = file.json["meshes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mesh| &mesh["primitives"][0]["indices"])
        .map(|indices| file.json["accessors"][indices.as_u64().unwrap() as usize]["count"].as_u64().unwrap())
        .collect();
    assert!(counts.contains(&60), "{counts:?}");
    // it lies on its larger face at the end
    let track = file.track("stone", "translation");
    let last = track.values.last().unwrap()[2];
    assert!((last - 0.0463115).abs() < 1e-5, "{last}");
    let script = "
        const part = report.space.scene.bodies[1].parts[0];
        return {kind: part.kind, corners: part.points[0].length, triangles: part.points[3].length};";
    let Some(seen) = ask(&session, "out/report.html", script) else { return };
    assert_eq!(seen, serde_json::json!({ "kind": "mesh", "corners": 12, "triangles": 20 }));
}
