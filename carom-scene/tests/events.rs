//! Events and regions of model files, with every scheme.

use carom::scheme::{Family, SCHEMES};
use carom::simulation::{Action, Direction};
use carom_scene::{Overrides, Scene, from_str, schema};

const THROWN: &str = r#"
version = 1
name = "thrown"
[parameters]
top = 2.5
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "2*y"
[initial]
y = 1
"x'" = 1
"y'" = 3
[simulation]
end = 9
step = 0.01
[[event]]
name = "apex"
when = "y'"
[[event]]
name = "up"
when = "y - top"
direction = "rising"
[[event]]
name = "landing"
when = "y"
direction = "falling"
action = "stop"
"#;

fn load(text: &str, scheme: &str) -> Scene {
    let scheme = (!scheme.is_empty()).then(|| scheme.to_owned());
    let overrides = Overrides { scheme: scheme.map(Into::into), ..Overrides::default() };
    from_str("test.toml", text, &overrides).unwrap_or_else(|all| panic!("{}", all[0]))
}

/// y = 1 + 3t − t²: apex at 1.5, y = 2.5 at 1.5 − √0.75, y = 0 at (3 + √13)/2. The trapezoidal rule is exact.
#[test]
fn events_of_a_file_are_found() {
    let scene = load(THROWN, "");
    let summary: Vec<_> = scene.events.iter().map(|e| (e.name.as_str(), e.direction, e.action)).collect();
    assert_eq!(
        summary,
        [
            ("apex", Direction::Both, Action::Record),
            ("up", Direction::Rising, Action::Record),
            ("landing", Direction::Falling, Action::Stop)
        ]
    );
    let mut run = scene.simulation().unwrap();
    let solution = run.record().unwrap();
    let exact = [("up", 1.5 - 0.75f64.sqrt()), ("apex", 1.5), ("landing", 0.5 * (3.0 + 13f64.sqrt()))];
    assert_eq!(solution.events.len(), exact.len());
    for (event, (name, t)) in solution.events.iter().zip(exact) {
        assert_eq!(event.name, name);
        assert!((event.t - t).abs() < 1e-14, "{name}: {:e}", event.t - t);
    }
    assert_eq!(run.stopped().unwrap().0, "landing");
    assert_eq!(solution.t.last(), Some(&solution.events[2].t));
    // parameters reach the zero function
    let other = scene.with(&[("top", 3.0)]).unwrap();
    let events = other.simulation().unwrap().record().unwrap().events;
    assert!((events[0].t - (1.5 - 0.25f64.sqrt())).abs() < 1e-14);
}

/// A point slides at 2 m/s on a table that ends at x = 0 and falls 0.5 m onto the floor beside it, 0.319 s later.
const TABLE: &str = r#"
version = 1
name = "table"
[model]
kind = "lagrangian"
coordinates = ["z", "x"]
kinetic = "(x'^2 + z'^2)/2"
potential = "9.81*z"
[[contact]]
name = "table"
gap = "z"
where = "x < 0"
[[contact]]
name = "floor"
gap = "z + 0.5"
where = "x >= 0 and x < 100"
[initial]
x = -1
"x'" = 2
[simulation]
end = 1
step = 1e-3
[[expect]]
quantity = "final z"
value = -0.5
tolerance = 5e-3
"#;

#[test]
fn contacts_count_in_their_regions_with_every_scheme() {
    let height = |end: f64, scheme: &str| {
        let overrides =
            Overrides { scheme: Some(scheme.into()), end: Some(end), step: Some(1e-3.into()), ..Overrides::default() };
        let scene = from_str("test.toml", TABLE, &overrides).unwrap_or_else(|all| panic!("{scheme}: {}", all[0]));
        let solution = scene.simulation().unwrap().record().unwrap_or_else(|e| panic!("{scheme}: {e}"));
        solution.q(solution.len() - 1)[0]
    };
    for row in SCHEMES.iter().filter(|row| row.family == Family::Mechanical) {
        let name = row.info.name;
        // on the table, in the air and on the floor; schemes of first order are off by a step
        for (end, expected) in [(0.45, 0.0), (0.7, -0.5 * 9.81 * 0.04), (1.0, -0.5)] {
            let z = height(end, name);
            assert!((z - expected).abs() < 5e-3, "{name}: z({end}) = {z}, expected {expected}");
        }
    }
}

#[test]
fn absent_contacts_have_no_gap() {
    // below the height of the table, beside it: no mistake
    let text = TABLE.replace("x = -1", "x = 1\nz = -0.3");
    let scene = load(&text, "");
    let mut simulation = scene.simulation().unwrap();
    let columns = scene.columns();
    let named = |name: &str| columns.iter().find(|(known, _)| known == name).map(|(_, column)| *column).unwrap();
    let mut row = Vec::new();
    let mut sampler = scene.sampler(&[named("gap.table"), named("gap.floor")]);
    sampler.sample(simulation.stepper(), &mut row).unwrap();
    assert!(row[0].is_nan() && (row[1] - 0.2).abs() < 1e-15, "{row:?}");
    // inside its region it is a mistake
    let wrong = TABLE.replace("x = -1", "x = -1\nz = -0.3");
    assert!(from_str("test.toml", &wrong, &Overrides::default()).unwrap_err()[0].to_string().contains("negative"));
}

#[test]
fn the_schema_knows_events_and_regions() {
    let schema = schema();
    assert_eq!(
        schema["$defs"]["EventTable"]["properties"]["direction"]["enum"],
        serde_json::json!(["rising", "falling", "both"])
    );
    assert_eq!(schema["$defs"]["EventTable"]["required"], serde_json::json!(["name", "when"]));
    let contact = &schema["$defs"]["ContactTable"]["properties"];
    assert!(contact["where"]["description"].as_str().unwrap().contains("x < 0") && contact.get("region").is_none());
}
