//! A command in a process of its own, with bounds on memory and time.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Most memory that a command may ask for, in kilobytes.
const MEMORY: u64 = 4_000_000;

/// Seconds of the processor after which reading has hung, and a computation is interrupted.
const BUDGET: f64 = 10.0;

/// Seconds of the clock that a command has to end after an interruption; other work may slow it down.
const GRACE: f64 = 8.0;

/// How a command has ended.
pub struct Outcome {
    /// `None` where a signal has ended it.
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
    /// Whether it was interrupted after [`BUDGET`].
    pub interrupted: bool,
    /// Whether it had to be killed.
    pub killed: bool,
    pub seconds: f64,
    pub memory: u64,
}

/// Runs `carom` in a folder. What may take long is interrupted after the budget, everything else is killed.
pub fn run(carom: &Path, arguments: &[String], folder: &Path, may_take_long: bool) -> Outcome {
    let mut outcome = Outcome {
        code: None,
        out: String::new(),
        err: String::new(),
        interrupted: false,
        killed: false,
        seconds: 0.0,
        memory: 0,
    };
    let (out, err) = (folder.with_extension("out"), folder.with_extension("err"));
    let Ok(mut child) = start(carom, arguments, folder, [&out, &err]) else { return outcome };
    let start = Instant::now();
    let mut asked: Option<Instant> = None;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                outcome.code = status.code();
                break;
            }
            Ok(None) => {}
            Err(_) => break,
        }
        if let Some((seconds, memory)) = usage(child.id()) {
            outcome.seconds = outcome.seconds.max(seconds);
            outcome.memory = outcome.memory.max(memory);
        } else {
            outcome.seconds = start.elapsed().as_secs_f64();
        }
        let late = outcome.seconds > BUDGET || start.elapsed() > Duration::from_secs(120);
        match asked {
            Some(when) if when.elapsed().as_secs_f64() > GRACE => {
                outcome.killed = true;
                let _ = child.kill();
            }
            None if late && may_take_long => {
                outcome.interrupted = true;
                asked = Some(Instant::now());
                let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
            }
            None if late => {
                outcome.killed = true;
                let _ = child.kill();
            }
            _ => {}
        }
        std::thread::sleep(Duration::from_millis(if start.elapsed().as_millis() < 100 { 2 } else { 20 }));
    }
    let text = |path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    (outcome.out, outcome.err) = (text(&out), text(&err));
    outcome
}

fn start(carom: &Path, arguments: &[String], folder: &Path, [out, err]: [&Path; 2]) -> std::io::Result<Child> {
    let mut command = if cfg!(unix) {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -v {MEMORY}; exec \"$@\""), "sh"]).arg(carom);
        shell
    } else {
        Command::new(carom)
    };
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.env("RUST_BACKTRACE", "0").env("NO_COLOR", "1").env("CAROM_OPEN", "0");
    command.stdout(File::create(out)?).stderr(File::create(err)?).spawn()
}

/// Seconds of the processor and most memory of a process, where the system tells.
fn usage(id: u32) -> Option<(f64, u64)> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // the name in brackets may hold spaces
    let words: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: f64 = words.get(11)?.parse::<f64>().ok()? + words.get(12)?.parse::<f64>().ok()?;
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: u64 = peak.and_then(|peak| peak.split_whitespace().next()?.parse().ok()).unwrap_or(0);
    Some((ticks / 100.0, kilobytes << 10))
}
