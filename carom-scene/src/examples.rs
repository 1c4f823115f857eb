//! The built-in examples: the model files of the folder `examples`.

use crate::{Diagnostic, Overrides, Scene};

/// Name and text of every example.
pub static EXAMPLES: &[(&str, &str)] = &[
    ("bouncing-ball", include_str!("../../examples/bouncing-ball.toml")),
    ("linear-oscillator", include_str!("../../examples/linear-oscillator.toml")),
    ("preloaded-oscillator", include_str!("../../examples/preloaded-oscillator.toml")),
    ("impact-oscillator", include_str!("../../examples/impact-oscillator.toml")),
    ("chaotic-oscillator", include_str!("../../examples/chaotic-oscillator.toml")),
    ("bistable-oscillator", include_str!("../../examples/bistable-oscillator.toml")),
    ("takeoff", include_str!("../../examples/takeoff.toml")),
    ("rocking-block", include_str!("../../examples/rocking-block.toml")),
    ("planar-ball", include_str!("../../examples/planar-ball.toml")),
    ("slider-roller", include_str!("../../examples/slider-roller.toml")),
    ("double-pendulum", include_str!("../../examples/double-pendulum.toml")),
    ("impacting-bar", include_str!("../../examples/impacting-bar.toml")),
    ("slider-crank", include_str!("../../examples/slider-crank.toml")),
    ("pendulum-ring", include_str!("../../examples/pendulum-ring.toml")),
    ("two-mass-chain", include_str!("../../examples/two-mass-chain.toml")),
    ("newtons-cradle", include_str!("../../examples/newtons-cradle.toml")),
    ("bouncing-ball-events", include_str!("../../examples/bouncing-ball-events.toml")),
    ("rocking-block-events", include_str!("../../examples/rocking-block-events.toml")),
    ("sliding-block", include_str!("../../examples/sliding-block.toml")),
    ("pendulum", include_str!("../../examples/pendulum.toml")),
    ("hoop", include_str!("../../examples/hoop.toml")),
    ("four-bar", include_str!("../../examples/four-bar.toml")),
    ("parabola-edge", include_str!("../../examples/parabola-edge.toml")),
    ("kinked-table", include_str!("../../examples/kinked-table.toml")),
    ("belt-block", include_str!("../../examples/belt-block.toml")),
    ("stick-slip", include_str!("../../examples/stick-slip.toml")),
    ("painleve-rod", include_str!("../../examples/painleve-rod.toml")),
    ("disc-release", include_str!("../../examples/disc-release.toml")),
    ("play-operator", include_str!("../../examples/play-operator.toml")),
    ("swept-disc", include_str!("../../examples/swept-disc.toml")),
    ("swept-corner", include_str!("../../examples/swept-corner.toml")),
    ("diode-bridge", include_str!("../../examples/diode-bridge.toml")),
    ("rectifier", include_str!("../../examples/rectifier.toml")),
    ("buck-converter", include_str!("../../examples/buck-converter.toml")),
    ("sliding-mode", include_str!("../../examples/sliding-mode.toml")),
    ("twisting-controller", include_str!("../../examples/twisting-controller.toml")),
    ("higher-order-sweeping", include_str!("../../examples/higher-order-sweeping.toml")),
    ("free-body", include_str!("../../examples/free-body.toml")),
    ("heavy-top", include_str!("../../examples/heavy-top.toml")),
    ("double-pendulum-3d", include_str!("../../examples/double-pendulum-3d.toml")),
    ("four-bar-3d", include_str!("../../examples/four-bar-3d.toml")),
    ("bricard", include_str!("../../examples/bricard.toml")),
    ("stewart-platform", include_str!("../../examples/stewart-platform.toml")),
    ("screw-nut", include_str!("../../examples/screw-nut.toml")),
    ("sphere-slip-to-roll", include_str!("../../examples/sphere-slip-to-roll.toml")),
    ("sphere-in-groove", include_str!("../../examples/sphere-in-groove.toml")),
    ("rolling-disc", include_str!("../../examples/rolling-disc.toml")),
    ("box-stack", include_str!("../../examples/box-stack.toml")),
    ("box-stack-3d", include_str!("../../examples/box-stack-3d.toml")),
    ("sliding-box", include_str!("../../examples/sliding-box.toml")),
    ("newtons-cradle-3d", include_str!("../../examples/newtons-cradle-3d.toml")),
    ("gripper", include_str!("../../examples/gripper.toml")),
    ("painleve-rod-3d", include_str!("../../examples/painleve-rod-3d.toml")),
    ("dominoes", include_str!("../../examples/dominoes.toml")),
    ("tippe-top", include_str!("../../examples/tippe-top.toml")),
    ("rattleback", include_str!("../../examples/rattleback.toml")),
    ("spheres-poured", include_str!("../../examples/spheres-poured.toml")),
    ("cam-follower", include_str!("../../examples/cam-follower.toml")),
    ("chain-of-rods", include_str!("../../examples/chain-of-rods.toml")),
    ("pendulum-in-a-ring-scene", include_str!("../../examples/pendulum-in-a-ring-scene.toml")),
    ("slider-crank-play", include_str!("../../examples/slider-crank-play.toml")),
    ("circuit-breaker", include_str!("../../examples/circuit-breaker.toml")),
    ("four-bar-clearances", include_str!("../../examples/four-bar-clearances.toml")),
    ("geneva-drive", include_str!("../../examples/geneva-drive.toml")),
    ("slider-crank-play-3d", include_str!("../../examples/slider-crank-play-3d.toml")),
    ("circuit-breaker-3d", include_str!("../../examples/circuit-breaker-3d.toml")),
    ("circuit-breaker-play-3d", include_str!("../../examples/circuit-breaker-play-3d.toml")),
    ("ladder", include_str!("../../examples/ladder.toml")),
    ("overhanging-stack", include_str!("../../examples/overhanging-stack.toml")),
    ("masonry-arch", include_str!("../../examples/masonry-arch.toml")),
    ("breaker-clearance", include_str!("../../examples/breaker-clearance.toml")),
];

/// The text of the example of this name.
pub fn find(name: &str) -> Option<&'static str> {
    EXAMPLES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The scene of the example of this name; `None` if there is none.
pub fn load(name: &str, overrides: &Overrides) -> Option<Result<Scene, Vec<Diagnostic>>> {
    find(name).map(|text| crate::from_str(name, text, overrides))
}
