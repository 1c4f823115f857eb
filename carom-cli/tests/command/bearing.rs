//! Friction of joints that follows their load, from the file to the ledger.

use super::session::Session;

/// A wheel on an axle that it rubs on.
const WHEEL: &str = r#"version = 1
name = "wheel"
[units]
length = "mm"
[model]
kind = "multibody"
dimension = 2
gravity = [0, -9.81]
[[body]]
name = "wheel"
mass = 3
inertia = 2e4
position = [200, 0]
spin = 5
[[joint]]
name = "axle"
kind = "revolute"
bodies = ["ground", "wheel"]
at = [200, 0]
bearing = { friction = 0.15, radius = 12 }
[simulation]
end = 2.5
step = 1e-2
"#;

#[test]
fn a_wheel_stops_and_the_ledger_closes() {
    let session = Session::new();
    session.write("wheel.toml", WHEEL);
    let torque = 0.15 * 0.012 * 3.0 * 9.81;
    let stop = 5.0 * 0.02 / torque;
    for scheme in ["moreau-jean", "combined-projection", "direct-projection"] {
        session.succeed(["run", "wheel.toml", "--no-report", "--scheme", scheme]);
        let table = session.table("out/wheel/trajectory.parquet");
        for (t, spin) in table.column("t").into_iter().zip(table.column("v.wheel.angle")) {
            let expected = 5.0 * (1.0 - t / stop).max(0.0);
            assert!((spin - expected).abs() < 1e-11, "{scheme}: {t}, {spin}, {expected}");
        }
        assert!((table.numbers("force.axle.friction")[1].unwrap() + torque).abs() < 1e-11, "{scheme}");
        assert!(table.last("force.axle.friction").abs() < 1e-11, "{scheme}");
        // all of its energy goes into the joint
        let energy = &session.summary("out/wheel")["energy"];
        assert!((energy["friction_loss"].as_f64().unwrap() - 0.25).abs() < 1e-12, "{scheme}: {energy}");
        assert!(energy["bilateral"].as_f64().unwrap().abs() < 1e-12, "{scheme}: {energy}");
        assert!((table.last("loss.friction") - 0.25).abs() < 1e-12, "{scheme}");
        assert!(energy["residue"].as_f64().unwrap().abs() < 1e-12, "{scheme}: {energy}");
    }
    // bounds that are not constant are no part of a search for rest
    let refused = session.carom(["equilibrium", "wheel.toml"]);
    assert!(refused.code.is_some_and(|code| code != 0) && refused.err.contains("axle.friction"), "{}", refused.err);
    let refused = session.carom(["run", "wheel.toml", "--scheme", "event-driven"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("follows the load") && refused.err.contains("moreau-jean"), "{}", refused.err);
}
