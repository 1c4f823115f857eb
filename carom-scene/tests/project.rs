//! Starts slightly inside obstacles: refused, or moved to the surface where the file allows it.

use carom::Coupling;
use carom_scene::{Overrides, Scene, from_str};

fn load(text: &str) -> Result<Scene, String> {
    from_str("test.toml", text, &Overrides::default()).map_err(|all| all[0].to_string())
}

/// Two bodies of different mass in a corner, one point 0.88 μm inside the floor and 0.5 μm inside the wall.
const CORNER: &str = r#"
version = 1
name = "corner"
[model]
kind = "lagrangian"
coordinates = ["x", "y", "z"]
kinetic = "x'^2/2 + 4*y'^2/2 + z'^2/2"
potential = "4*9.81*y"
[[contact]]
name = "floor"
gap = "y + z^2"
[[contact]]
name = "wall"
gap = "x + y/2"
[initial]
x = 0.94e-6
y = -2.88e-6
z = 0.00141421356
PROJECT
[simulation]
end = 0.1
step = 0.01
"#;

fn gaps(scene: &Scene) -> Vec<f64> {
    let mut coupling = Coupling::default();
    let mut model = scene.mechanical().unwrap();
    model.couple(0.0, &scene.initial.q, &mut coupling).unwrap();
    coupling.pairs.iter().map(|pair| pair.gap).collect()
}

#[test]
fn mechanical_starts_are_moved_along_the_kinetic_metric() {
    let refused = load(&CORNER.replace("PROJECT", "")).unwrap_err();
    assert!(refused.contains("may not be negative") && refused.contains("project = 1e-6"), "{refused}");
    // farther inside than allowed
    let refused = load(&CORNER.replace("PROJECT", "project = 1e-7")).unwrap_err();
    assert!(refused.contains("may not be negative"), "{refused}");
    let scene = load(&CORNER.replace("PROJECT", "project = \"1e-6\"")).unwrap();
    let gaps = gaps(&scene);
    assert!(gaps.iter().all(|gap| gap.abs() < 1e-15), "{gaps:?}");
    let told = scene.warnings.iter().any(|w| w.message.contains("moved to the surface of `floor`"));
    assert!(told, "{:?}", scene.warnings.iter().map(ToString::to_string).collect::<Vec<_>>());
    // the way is M⁻¹Cᵀτ: M times it lies in the span of the two gradients (0, 1, 2 z) and (1, 1/2, 0)
    let [x, y, z] = [scene.initial.q[0], scene.initial.q[1], scene.initial.q[2]];
    let way = [x - 0.94e-6, 4.0 * (y + 2.88e-6), z - 0.00141421356];
    let left = way[1] - 0.5 * way[0] - way[2] / (2.0 * z);
    assert!(left.abs() < 1e-3 * way[1].abs(), "{way:?} {left}");
    scene.simulation().unwrap().record().unwrap();
}

/// One contact in closed form: of a mass of 1 and one of 4 the light one moves four times as far.
#[test]
fn light_bodies_move_farther() {
    let text = CORNER
        .replace("gap = \"y + z^2\"", "gap = \"y + x\"")
        .replace("gap = \"x + y/2\"", "gap = \"x + y + 1\"")
        .replace("x = 0.94e-6", "x = 0")
        .replace("y = -2.88e-6", "y = -1e-6")
        .replace("PROJECT", "project = 1e-5");
    let scene = load(&text).unwrap();
    assert!((scene.initial.q[0] - 0.8e-6).abs() < 1e-18 && (scene.initial.q[1] + 0.8e-6).abs() < 1e-18);
}

#[test]
fn first_order_starts_are_moved_as_well() {
    let text = r#"
version = 1
name = "relay-free"
[model]
kind = "first-order"
states = ["x", "y"]
rate.x = "-1"
rate.y = "0"
[[row]]
name = "floor"
output = "x + 2*y"
input = { x = "1", y = "2" }
[initial]
x = -1e-4
PROJECT
[simulation]
end = 0.1
step = 0.01
"#;
    let plain = load(&text.replace("PROJECT", "")).unwrap();
    assert!(plain.initial.q == [-1e-4, 0.0] && plain.warnings.iter().any(|w| w.message.contains("at the start")));
    let moved = load(&text.replace("PROJECT", "project = 1e-3")).unwrap();
    // along (1, 2): by 1e-4/5
    assert!((moved.initial.q[0] + 0.8e-4).abs() < 1e-18 && (moved.initial.q[1] - 0.4e-4).abs() < 1e-18);
    assert!(moved.warnings.iter().any(|w| w.message.contains("moved to the surface of `floor`")));
}

/// A coordinate may have the name of the key.
#[test]
fn a_coordinate_called_project_is_one() {
    let text = CORNER.replace("\"z\"", "\"project\"").replace("z'", "project'").replace("z^2", "project^2");
    let text = text.replace("z = 0.00141421356\nPROJECT", "project = 0.1\n").replace("y = -2.88e-6", "y = 0");
    assert_eq!(load(&text).unwrap().initial.q[2], 0.1);
}
