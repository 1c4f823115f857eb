use carom_scene::{Overrides, from_str};
fn cpu() -> f64 { let s = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap(); s.split(' ').next().unwrap().parse::<f64>().unwrap() * 1e-9 }
const BALL: &str = r#"
version = 1
name = "ball"
[model]
kind = "lagrangian"
coordinates = ["q"]
kinetic = "q'^2/2"
potential = "2*q"
[[contact]]
name = "floor"
gap = "q"
restitution = 1
[initial]
q = 1
[simulation]
end = 200001
step = 1.0
scheme = { name = "event-driven" }
"#;
#[test]
fn speed() {
    for step in [0.5, 1.0, 3.0, 10.0] {
        for _ in 0..2 {
            let text = BALL.replace("step = 1.0", &format!("step = {step:?}"));
            let scene = from_str("t.toml", &text, &Overrides::default()).unwrap_or_else(|a| panic!("{}", a[0]));
            let mut sim = scene.simulation().unwrap();
            let t = cpu();
            sim.run(&mut []).unwrap();
            let d = cpu() - t;
            println!("{step} steps {} {:.0} ns per step, {:.0} ns per impact evals {}", sim.statistics().steps, d * 1e9 / sim.statistics().steps as f64, d * 1e9 / 100000.0, sim.statistics().evaluations);
        }
    }
}
