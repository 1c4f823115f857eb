//! Models in nanometres and in millions of kilometres run as they do in metres.

use super::session::Session;

/// A ball that falls from `u`, and a block of 1 by 1.5 `u` that falls on a corner.
const FALLING: &str = r#"version = 1
name = "falling"
[parameters]
u = 1.0
[model]
kind = "lagrangian"
coordinates = ["x", "y", "th", "z"]
kinetic = "(x'^2 + y'^2 + z'^2)/2 + 13/96*u^2*th'^2"
potential = "9.81*u*(y + z)"
[[contact]]
name = "left"
gap = "y - 0.75*u*cos(th) + 0.5*u*sin(th)"
restitution = 0.5
[[contact]]
name = "right"
gap = "y - 0.75*u*cos(th) - 0.5*u*sin(th)"
restitution = 0.5
[[contact]]
name = "floor"
gap = "z"
restitution = 0.5
[initial]
y = "u"
z = "u"
th = 0.2
"th'" = 0.2
[simulation]
end = 0.6
step = 0.01
"#;

#[test]
fn small_and_large_models_run_as_those_of_a_metre() {
    let session = Session::new();
    session.write("falling.toml", FALLING);
    for scheme in ["moreau-jean", "direct-projection", "combined-projection", "corrected-paoli", "schatzman-paoli"] {
        let run = |unit: &str| {
            session.succeed(["run", "falling.toml", "--no-report", "--scheme", scheme, "--set", &format!("u={unit}")]);
            (session.summary("out/falling"), session.table("out/falling/trajectory.parquet"))
        };
        let (summary, table) = run("1");
        for unit in ["1e-12", "1e-9", "1e6", "1e9"] {
            let (other, scaled) = run(unit);
            assert_eq!(other["impacts"], summary["impacts"], "{scheme}, {unit} m");
            assert!(other["warnings"].as_array().unwrap().is_empty(), "{scheme}, {unit} m: {}", other["warnings"]);
            for (column, by) in [("q.y", true), ("q.z", true), ("q.th", false), ("v.z", true), ("v.th", false)] {
                let by = if by { unit.parse::<f64>().unwrap() } else { 1.0 };
                let (a, b) = (table.column(column), scaled.column(column));
                let far = a.iter().zip(&b).fold(0.0f64, |most, (a, b)| most.max((a - b / by).abs()));
                assert!(a.len() == b.len() && far < 1e-8, "{scheme}, {unit} m: {column} is off by {far:e}");
            }
        }
    }
}

/// A tolerance in metres that is no small part of the model is used, and told of; a length that is wrong likewise.
#[test]
fn tolerances_in_metres_are_told_where_they_decide() {
    let session = Session::new();
    session.write("falling.toml", FALLING);
    session.write(
        "long.toml",
        FALLING.replace("[[contact]]\nname = \"left\"", "length = 1\n[[contact]]\nname = \"left\""),
    );
    let kinds = |arguments: &[&str]| {
        let all = ["run", "--set", "u=1e-9", "--no-report", "--out", "told"].iter().chain(arguments);
        assert_eq!(session.carom(all).code, Some(0), "{arguments:?}");
        let summary = session.summary("told");
        let list = summary["warnings"].as_array().unwrap().clone();
        list.iter().map(|warning| warning["kind"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for scheme in ["moreau-jean", "combined-projection", "corrected-paoli"] {
        let coarse = format!("{{ name = \"{scheme}\", activation = 1e-10 }}");
        let found = kinds(&["falling.toml", "--scheme", &coarse]);
        assert!(found.contains(&"coarse-activation".to_owned()), "{scheme}: {found:?}");
        let fine = format!("{{ name = \"{scheme}\", activation = 1e-19 }}");
        assert!(kinds(&["falling.toml", "--scheme", &fine]).is_empty(), "{scheme}");
        let found = kinds(&["long.toml", "--scheme", scheme]);
        assert!(found.contains(&"coarse-activation".to_owned()), "{scheme}: {found:?}");
    }
}
