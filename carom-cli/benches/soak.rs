//! Long runs: what must neither grow nor drift over a thousand million steps.
//!
//! `cargo xtask bench soak [WORD] [--short]`: all rows, or those whose name contains the word; `--short` does a
//! hundredth of their steps. A row tells steps, impacts, the memory of the process after a hundredth of the run and at
//! its end, and the number that the row is about. Exit code 1 where memory grew or the number is beyond its bound.

use carom::ModelError;
use carom::simulation::{FixedStep, Observer, Simulation, StepView};
use carom_scene::Overrides;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// A run and what it must keep.
struct Row {
    name: &'static str,
    example: &'static str,
    set: &'static [(&'static str, &'static str)],
    step: f64,
    steps: u64,
    /// What is told of the state; its largest distance from the first one is judged.
    what: &'static str,
    kept: fn(&[f64], &[f64]) -> f64,
    bound: f64,
    /// Changes of sign of the first velocity, from below, that there must be.
    impacts: u64,
}

const ROWS: [Row; 3] = [
    Row {
        name: "elastic ball, eight steps a bounce",
        example: "bouncing-ball",
        set: &[("e", "1")],
        step: 0.24,
        steps: 1_000_000_000,
        // 2 s of flight under 2 m/s^2 from 1 m; with 0.25 s all numbers were exact, and there would be nothing to see
        what: "energy [part of it]",
        kept: |q, v| 0.5 * (0.5 * v[0] * v[0] + 2.0 * q[0]),
        bound: 1e-6,
        impacts: 100_000_000,
    },
    Row {
        name: "rocking block, at rest after its rocking",
        example: "rocking-block",
        set: &[],
        step: 1e-4,
        steps: 100_000_000,
        what: "place at rest [m, rad]",
        kept: |q, _| q.iter().map(|x| x.abs()).sum(),
        bound: 1e-6,
        impacts: 0,
    },
    Row {
        name: "two stacks of ten boxes in space",
        example: "box-stack-3d",
        set: &[],
        step: 1e-3,
        steps: 1_000_000,
        what: "all places [m]",
        kept: |q, _| q.iter().map(|x| x.abs()).sum(),
        bound: 1e-5,
        impacts: 0,
    },
];

/// Follows a run from a state that is taken as the first one.
struct Watch<'a> {
    row: &'a Row,
    from: u64,
    steps: u64,
    impacts: u64,
    first: Option<f64>,
    drift: f64,
    memory: Option<f64>,
}

impl Observer for Watch<'_> {
    fn asks_for_contacts(&self) -> bool {
        false
    }

    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        let (before, after) = (view.from(), view.to());
        self.steps += 1;
        self.impacts += u64::from(before.v[0] < 0.0 && after.v[0] > 0.0);
        if self.steps >= self.from {
            let value = (self.row.kept)(&after.q, &after.v);
            let first = *self.first.get_or_insert(value);
            self.drift = self.drift.max((value - first).abs());
            self.memory = self.memory.or_else(resident);
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Memory of this process [MB], where the system tells it.
fn resident() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}

/// Whether the row holds.
fn judge(row: &Row, part: u64) -> bool {
    let steps = row.steps / part;
    let set = row.set.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(row.example).with_extension("toml");
    let scene =
        carom_scene::load(&path, &Overrides { set, ..Overrides::default() }).unwrap_or_else(|all| panic!("{all:?}"));
    let stepper = scene.stepper().expect("a scene that was loaded");
    let end = row.step * steps as f64;
    let mut simulation = Simulation::new(stepper, Box::new(FixedStep { h: row.step }), end).expect("a span");
    simulation.limit_steps(steps + 1);
    let mut watch =
        Watch { row, from: (steps / 100).max(1), steps: 0, impacts: 0, first: None, drift: 0.0, memory: None };
    let clock = Instant::now();
    let outcome = simulation.run(&mut [&mut watch]);
    let seconds = clock.elapsed().as_secs_f64();
    let (before, after) = (watch.memory, resident());
    let grew = before.zip(after).is_some_and(|(before, after)| after > before + 1.0);
    let enough = watch.impacts >= row.impacts / part;
    let holds = outcome.is_ok() && watch.steps == steps && enough && watch.drift <= row.bound && !grew;
    let words = |memory: Option<f64>| memory.map_or("?".into(), |m| format!("{m:.1}"));
    println!(
        "{:42} {:>11} steps {:>10} impacts {:>7.1} s   memory {} -> {} MB   {} {:.1e} (asked {:.0e}){}",
        row.name,
        watch.steps,
        watch.impacts,
        seconds,
        words(before),
        words(after),
        row.what,
        watch.drift,
        row.bound,
        if holds {
            String::new()
        } else {
            format!("   FAILED {}", outcome.err().map_or(String::new(), |e| e.to_string()))
        }
    );
    holds
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` calls this with --test: nothing to measure then
    if words.iter().any(|word| word == "--test") {
        return ExitCode::SUCCESS;
    }
    let part = if words.iter().any(|word| word == "--short") { 100 } else { 1 };
    let word = words.iter().find(|word| !word.starts_with('-')).map_or("", |word| word);
    let mut all = true;
    for row in ROWS.iter().filter(|row| row.name.contains(word)) {
        all &= judge(row, part);
    }
    ExitCode::from(u8::from(!all))
}
