//! The steps of a chore with their outcomes and times, for its closing lines and its exit code.

use std::time::{Duration, Instant};

/// What became of a step.
pub enum Outcome {
    Passed,
    Failed,
    /// The reason.
    Skipped(String),
}

impl From<bool> for Outcome {
    fn from(good: bool) -> Outcome {
        if good { Outcome::Passed } else { Outcome::Failed }
    }
}

#[derive(Default)]
pub struct Report {
    steps: Vec<(String, Outcome, Duration)>,
}

impl Report {
    /// Takes a step and its time.
    pub fn step(&mut self, name: &str, work: impl FnOnce() -> Outcome) {
        let clock = Instant::now();
        let outcome = work();
        self.steps.push((name.to_owned(), outcome, clock.elapsed()));
    }

    /// Appends the steps of another report.
    pub fn append(&mut self, other: Report) {
        self.steps.extend(other.steps);
    }

    /// Prints one line per step and a verdict; the exit code, which is `incomplete` where nothing failed but steps were
    /// skipped.
    pub fn close(&self, incomplete: u8) -> u8 {
        println!();
        for (name, outcome, time) in &self.steps {
            let (word, reason) = match outcome {
                Outcome::Passed => ("passed", String::new()),
                Outcome::Failed => ("FAILED", String::new()),
                Outcome::Skipped(reason) => ("SKIPPED", format!(": {reason}")),
            };
            println!("xtask: {:>7}  {name:<28} {word}{reason}", minutes(*time));
        }
        let (mut failed, mut skipped) = (Vec::new(), Vec::new());
        for (name, outcome, _) in &self.steps {
            match outcome {
                Outcome::Passed => {}
                Outcome::Failed => failed.push(name.as_str()),
                Outcome::Skipped(_) => skipped.push(name.as_str()),
            }
        }
        let total = minutes(self.steps.iter().map(|(_, _, time)| *time).sum());
        let omitted = if skipped.is_empty() { String::new() } else { format!("; NOT CHECKED: {}", skipped.join(", ")) };
        if failed.is_empty() {
            println!("xtask: {total}, nothing failed{omitted}");
            if skipped.is_empty() { 0 } else { incomplete }
        } else {
            println!("xtask: {total}, FAILED: {}{omitted}", failed.join(", "));
            1
        }
    }
}

/// `7:05`, minutes and seconds.
fn minutes(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}
