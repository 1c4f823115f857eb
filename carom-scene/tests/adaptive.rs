//! Adaptive steps from model files: the file, the library and the command line mean the same.

use carom::scheme::{Estimator, MoreauJean};
use carom::simulation::{Adaptive, Span, simulate_adaptive};
use carom::testbed::BouncingBall;
use carom_scene::{Overrides, Scene, from_str, schema};

const BALL: &str = r#"
version = 1
name = "ball"
[model]
kind = "linear"
coordinates = ["q"]
mass = [[1]]
force.q = -2
[[contact]]
name = "floor"
gap = "q"
restitution = 0.5
[initial]
q = 1
[simulation]
end = 5
"#;

fn build(simulation: &str, overrides: &Overrides) -> Scene {
    from_str("test.toml", &format!("{BALL}{simulation}"), overrides).unwrap_or_else(|all| panic!("{}", all[0]))
}

#[test]
fn files_and_library_take_the_same_steps() {
    let table = "step = 1e-2\nadaptive = { tolerance = 1e-5, estimator = \"variable-order\", max = 0.25, safety = 1 }";
    let scene = build(table, &Overrides::default());
    let estimator = Estimator::VariableOrder;
    let adaptive = Adaptive { tolerance: Some(1e-5), estimator, max: Some(0.25), safety: 1.0, ..Adaptive::default() };
    assert_eq!(scene.adaptive, Some(adaptive));
    let file = scene.simulation().unwrap().record().unwrap();
    let library = simulate_adaptive(
        BouncingBall::default().model(),
        MoreauJean::default(),
        &adaptive,
        Span { end: 5.0, step: 1e-2 },
    )
    .unwrap();
    assert!(file.statistics.rejected > 0 && file.t.len() > 100);
    assert_eq!(
        (file.statistics.steps, file.statistics.rejected),
        (library.statistics.steps, library.statistics.rejected)
    );
    assert_eq!(file.t, library.t);
}

#[test]
fn a_number_is_the_tolerance_and_needs_no_step() {
    let scene = build("adaptive = 1e-4", &Overrides::default());
    assert_eq!(scene.adaptive, Some(Adaptive { tolerance: Some(1e-4), ..Adaptive::default() }));
    assert_eq!(scene.span.step, 5e-3);
    // an integer as well, and the step of the file is the first one
    let scene = build("steps = 100\nadaptive = 1", &Overrides::default());
    assert_eq!((scene.span.step, scene.adaptive.unwrap().tolerance), (0.05, Some(1.0)));
}

#[test]
fn the_command_line_turns_it_on_and_off() {
    let with = |text: &str| Overrides { adaptive: Some(text.into()), step: Some(0.01.into()), ..Overrides::default() };
    let scene = build("steps = 100", &with("{ tolerance = 1e-3, estimator = \"position\" }"));
    assert_eq!(scene.adaptive.map(|a| (a.tolerance, a.estimator)), Some((Some(1e-3), Estimator::Position)));
    assert_eq!(scene.span.step, 0.01);
    let scene = build("adaptive = 1e-3", &with("off"));
    assert_eq!((scene.adaptive, scene.simulation().unwrap().record().unwrap().len()), (None, 501));
}

#[test]
fn the_schema_knows_all_options() {
    let schema = schema();
    let property = &schema["$defs"]["SimulationTable"]["properties"]["adaptive"];
    assert!(property["description"].as_str().unwrap().contains("local error"));
    assert_eq!(property["anyOf"][1]["$ref"], "#/$defs/adaptive");
    let table = &schema["$defs"]["adaptive"];
    assert_eq!(table["additionalProperties"], false);
    assert_eq!(table["properties"]["max"]["type"], "number");
    assert_eq!(table["properties"]["estimator"]["$ref"], "#/$defs/adaptive.Estimator");
    assert!(schema["$defs"]["adaptive.Estimator"].to_string().contains("variable-order"));
}
