//! A checksum over all bits of the motions of model files: equal on every kind of machine.
//!
//! ```text
//! cargo run -p carom-scene --example bits -- examples/bouncing-ball.toml examples/rocking-block.toml
//! ```
//!
//! `cargo xtask bits` compares those of this machine with those of a virtual one (wasm32, under node).

use std::ops::ControlFlow;
use std::path::Path;

use carom::simulation::{Observer, StepView};
use carom::{ModelError, State};
use carom_scene::{Overrides, load};

/// Steps of a run that are looked at; the rest would take long on the virtual machine.
const STEPS: u64 = 20_000;

/// Bits of all states so far (FNV-1a over words).
struct Bits {
    sum: u64,
    steps: u64,
}

impl Bits {
    fn add(&mut self, state: &State) {
        for x in [state.t].iter().chain(&state.q).chain(&state.v) {
            self.sum = (self.sum ^ x.to_bits()).wrapping_mul(0x100_0000_01b3);
            self.sum ^= self.sum >> 32;
        }
    }
}

impl Observer for Bits {
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        self.add(view.to());
        self.steps += 1;
        Ok(if self.steps < STEPS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }
}

/// What there is to say of one file: its checksum, or why there is none.
fn judge(path: &Path) -> String {
    let scene = match load(path, &Overrides::default()) {
        Ok(scene) => scene,
        Err(all) => return format!("not loaded: {}", all[0]),
    };
    let mut bits = Bits { sum: 0xcbf2_9ce4_8422_2325, steps: 0 };
    let end = match scene.simulation() {
        Ok(mut simulation) => simulation.run(&mut [&mut bits]).map(|_| ()).map_err(|e| e.to_string()),
        Err(error) => Err(error.to_string()),
    };
    match end {
        Ok(()) => format!("{:016x} after {} steps", bits.sum, bits.steps),
        Err(reason) => format!("{:016x} after {} steps, then: {reason}", bits.sum, bits.steps),
    }
}

fn main() {
    for path in std::env::args().skip(1) {
        println!("{path}: {}", judge(Path::new(&path)));
    }
}
