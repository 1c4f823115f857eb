//! Rest where forces cancel: Newton's loop must not ask for more than the rounding of the terms allows.

use carom_scene::{Overrides, from_str};

const WELL: &str = r#"
version = 1
name = "double well"
[parameters]
k = 1.0
c = 0.5
[model]
kind = "lagrangian"
coordinates = ["x"]
kinetic = "x'^2/2"
potential = "k*(x^4/4 - x^2/2)"
force.x = "-c*x'"
[initial]
x = 0.3
[simulation]
end = 200
step = 0.05
"#;

/// Two masses, each in a well of its own place, with a spring between them and a wall that is not reached.
const COUPLED: &str = r#"
version = 1
name = "two wells"
[parameters]
k = 1e3
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "x'^2/2 + y'^2/2*(1 + 0.1*cos(y))"
potential = "k*(x^4/4 - 7*x^2/2) + k*(1 - cos(y - 2)) + 5*(x - y)^2"
force.x = "-8*x'"
force.y = "-8*y'"
[[contact]]
name = "wall"
gap = "4 - x"
restitution = 0.5
[initial]
x = 1
y = 1.5
[simulation]
end = 40
step = 0.01
"#;

#[test]
fn rest_in_a_well() {
    let schemes = [
        "moreau-jean",
        "direct-projection",
        "combined-projection",
        "position-level",
        "corrected-paoli",
        "schatzman-paoli",
    ];
    for (scheme, tolerance) in schemes.iter().flat_map(|scheme| [(scheme, 1e-10), (scheme, 1e-13)]) {
        // without an impact law there is no restitution
        let coupled = COUPLED.replace("restitution = 0.5\n", "");
        for (text, k) in [(WELL, [1.0f64, 1e-3, 1e6]), (&coupled, [1e3, 1.0, 1e5])] {
            for k in k {
                let set = vec![("k".to_owned(), format!("{k:e}"))];
                // stiff wells need short steps on the way
                let table = format!(r#"{{ name = "{scheme}", newton-tolerance = {tolerance:e} }}"#);
                let step = (0.2 / k.sqrt()).min(0.05);
                let overrides = Overrides {
                    scheme: Some(table.into()),
                    step: Some(step.into()),
                    end: Some(4000.0 * step),
                    set,
                    ..Overrides::default()
                };
                let scene = from_str("well.toml", text, &overrides).unwrap_or_else(|all| panic!("{}", all[0]));
                let mut stepper = scene.stepper().unwrap();
                for i in 0..4000 {
                    let step = stepper
                        .attempt(step)
                        .unwrap_or_else(|e| panic!("{scheme} {} k = {k} step {i}: {e}", scene.name));
                    assert!(step.iterations <= 20, "{scheme} {} {step:?}", scene.name);
                    stepper.accept();
                }
            }
        }
    }
}
