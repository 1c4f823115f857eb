//! Seeded mistakes: each one is found once, at the exact place (marked `‸` in the text), with its reason and a hint.

mod adaptive;
mod event;
mod form;
mod meaning;
mod multibody;
mod outside;

use carom_scene::{Diagnostic, Overrides, Severity, from_str};

const LAGRANGIAN: &str = r##"version = 1
name = "test"
[parameters]
m = 1.0
g = 9.81
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "m/2*(x'^2 + y'^2)"
potential = "m*g*y"
[[contact]]
name = "floor"
gap = "y"
restitution = 0.5
friction = 0.3
slip = "x"
[initial]
y = 1.0
"y'" = 0.2
[simulation]
end = 1.0
step = 0.01
scheme = { name = "moreau-jean", theta = 0.5 }
solver = "auto"
[output]
every = 2
[output.columns]
tip = "x + y"
[[draw.circle]]
center = ["x", "y"]
radius = 0.1
color = "#334455"
[[expect]]
quantity = "final y"
value = 0
tolerance = 10
"##;

const LINEAR: &str = r##"version = 1
name = "test"
[parameters]
k = 2.0
[model]
kind = "linear"
coordinates = ["a", "b"]
mass = [[1, 0], [0, 1]]
stiffness = [["k", "-k"], ["-k", "k"]]
force.a = "sin(t)"
[[contact]]
name = "stop"
gap = "1 - b + 0.1*t"
[simulation]
end = 1.0
steps = 100
[reference]
testbed = "bouncing-ball"
[reference.parameters]
mass = 1
force = -2
restitution = 0.5
q0 = 1
v0 = 0
"##;

const CHAIN: &str = r##"version = 1
name = "test"
[parameters]
k = 2.0
[model]
kind = "linear"
[model.chain]
elements = 10
mass = [[2, 1], [1, 2]]
stiffness = [["k", "-k"], ["-k", "k"]]
[[contact]]
name = "stop"
gap = "1 + q0"
[initial]
q = 0.5
q3 = 0.7
"q'" = -1
[simulation]
end = 1.0
steps = 100
"##;

const CONSTRAINED: &str = r##"version = 1
name = "test"
[parameters]
l = 2.0
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[constraint]]
name = "rod"
value = "x^2 + y^2 - l^2"
[initial]
x = "l"
"y'" = 1
[simulation]
end = 1.0
step = 0.01
"##;

/// Name, file, text to replace, replacement with the mark, part of the message, part of the hint.
type Case<'a> = (&'a str, &'a str, &'a str, &'a str, &'a str, &'a str);

/// Line and column of the mark, counted in characters.
fn split(text: &str) -> (String, (usize, usize)) {
    let before = text.split('‸').next().unwrap();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
    (text.replace('‸', ""), (line, column))
}

fn errors(text: &str) -> Vec<Diagnostic> {
    let all = match from_str("test.toml", text, &Overrides::default()) {
        Ok(_) => Vec::new(),
        Err(all) => all,
    };
    all.into_iter().filter(|diagnostic| diagnostic.severity == Severity::Error).collect()
}

fn check(cases: &[Case<'_>]) {
    let mut failures = Vec::new();
    for (name, base, old, new, message, hint) in cases {
        assert!(base.contains(old) && new.contains('‸'), "{name}: nothing to replace, or no mark");
        let (text, place) = split(&base.replacen(old, new, 1));
        let found = errors(&text);
        let good = |error: &Diagnostic| {
            (error.line, error.column) == place
                && error.message.contains(message)
                && error.hint.as_deref().unwrap_or_default().contains(hint)
        };
        if !(found.len() == 1 && good(&found[0])) {
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            failures.push(format!("{name} at {place:?}: {found:#?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_files_without_mistakes_load() {
    for text in [LAGRANGIAN, CHAIN, CONSTRAINED, &LINEAR[..LINEAR.find("[reference]").unwrap()]] {
        let scene = from_str("test.toml", text, &Overrides::default());
        assert!(scene.is_ok(), "{:?}", scene.err().map(|all| all[0].to_string()));
    }
}

#[test]
fn all_mistakes_are_reported_in_order() {
    let text = LAGRANGIAN
        .replace("restitution = 0.5", "restitution = 2")
        .replace("\"m*g*y\"", "\"m*gg*y\"")
        .replace("every = 2", "evry = 2")
        .replace("step = 0.01", "step = -1")
        .replace("radius = 0.1", "radius = \"r\"")
        .replace("theta = 0.5", "theta = 7");
    let found = errors(&text);
    let fields: Vec<&str> = found.iter().map(|error| error.field.as_str()).collect();
    let expected = [
        "model.potential",
        "contact[0].restitution",
        "simulation.step",
        "simulation.scheme.theta",
        "output.evry",
        "draw.circle[0].radius",
    ];
    assert_eq!(fields, expected);
    assert!(found.iter().all(|error| error.file() == "test.toml"));
}

#[test]
fn warnings_do_not_stop() {
    // the given velocity is tangential; adding a radial one makes it inconsistent: only that part is taken away
    let text = CONSTRAINED.replace("\"y'\" = 1", "\"y'\" = 1\n\"x'\" = 0.25");
    let scene = from_str("test.toml", &text, &Overrides::default()).unwrap();
    assert_eq!(scene.warnings.len(), 1);
    assert_eq!((scene.warnings[0].line, scene.warnings[0].severity), (12, Severity::Warning));
    assert!(scene.warnings[0].message.contains("x'") && scene.warnings[0].message.contains("0.25"));
    assert_eq!(scene.initial.v, [0.0, 1.0]);
    // a small violation of the position, an unused parameter, a reference that starts elsewhere
    let text = CONSTRAINED.replace("- l^2", "- l^2 + 1e-10").replace("l = 2.0", "l = 2.0\nunused = 3");
    let scene = from_str("test.toml", &text, &Overrides::default()).unwrap();
    let messages: Vec<&str> = scene.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert!(messages.len() == 2 && messages[0].contains("`unused`") && messages[1].contains("1.0"), "{messages:?}");
}
