//! What must be true of a command that has ended, found out without code of carom.

use super::case::Case;
use super::process::Outcome;
use std::path::{Path, PathBuf};

/// What the oracle says.
pub struct Verdict {
    /// How the command has ended, to be counted.
    pub class: String,
    /// What should not be, in words that begin with its kind and a colon.
    pub finding: Option<String>,
    pub memory: u64,
    pub seconds: f64,
}

impl Verdict {
    /// A class alone.
    pub fn class(class: &str) -> Verdict {
        Verdict { class: class.into(), finding: None, memory: 0, seconds: 0.0 }
    }
}

/// Most bytes of one message, and of all messages of a command.
const MESSAGE: usize = 2_000;
const MESSAGES: usize = 20_000;

/// Part of the largest value that energy may grow, and bodies may overlap, without a warning.
const SHARE: f64 = 0.1;

/// Most memory of commands that only read.
const READING: u64 = 1 << 30;

pub fn judge(case: &Case, outcome: &Outcome, folder: &Path) -> Verdict {
    let class = match outcome.code {
        Some(code) if outcome.interrupted => format!("interrupted {code}"),
        Some(code) => format!("code {code}"),
        None if outcome.killed => "killed".into(),
        None => "signal".into(),
    };
    let finding = finding(case, outcome, folder);
    Verdict { class, finding, memory: outcome.memory, seconds: outcome.seconds }
}

fn finding(case: &Case, outcome: &Outcome, folder: &Path) -> Option<String> {
    let err = outcome.err.as_str();
    if let Some(at) = err.find("panicked at") {
        let place = err[at..].split_whitespace().nth(2).unwrap_or_default();
        return Some(format!("panic {}: {}", place.trim_end_matches(':'), &err[at..]));
    }
    if outcome.killed {
        let what = if outcome.interrupted { "deaf" } else { "hang" };
        return Some(format!("{what}: killed after {:.1} s of the processor", outcome.seconds));
    }
    let Some(code) = outcome.code else { return Some(format!("signal: {err}")) };
    let allowed = if outcome.interrupted { &[130, 0, 2, 3, 4][..] } else { &[0, 2, 3, 4] };
    // a folder may be named that cannot be written
    let environment = code == 1 && matches!(case.part, "commands" | "studies");
    if !allowed.contains(&code) && !environment {
        return Some(format!("code {code}: {err}"));
    }
    if code != 0 && err.trim().is_empty() && !outcome.out.contains("error") {
        return Some(format!("silent: code {code} without a word"));
    }
    if let Some(line) = err.lines().find(|line| line.len() > MESSAGE) {
        return Some(format!("long: a line of {} bytes: {line}", line.len()));
    }
    if err.len() > MESSAGES {
        return Some(format!("long: messages of {} bytes", err.len()));
    }
    if outcome.memory > READING && !case.may_take_long {
        return Some(format!("memory: {} MB", outcome.memory >> 20));
    }
    let reads = matches!(case.part, "models" | "bodies" | "robots");
    if code == 2 && reads && !err.is_empty() {
        let file = case.files.first().map(|(name, _)| format!("{name}:")).unwrap_or_default();
        let placed = |line: &str| {
            let rest = line.find(&file).map(|at| &line[at + file.len()..]).unwrap_or_default();
            let mut numbers = rest.split(':').map(|word| word.parse::<u32>().is_ok_and(|number| number > 0));
            numbers.next() == Some(true) && numbers.next() == Some(true)
        };
        if !err.lines().any(placed) {
            return Some(format!("placeless: {err}"));
        }
    }
    written(outcome, &folder.join("out"), code, err)
}

/// Every file that was written: whole, and with finite numbers.
fn written(outcome: &Outcome, folder: &Path, code: i32, err: &str) -> Option<String> {
    let mut files = Vec::new();
    collect(folder, &mut files, 0);
    for path in &files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Ok(bytes) = std::fs::read(path) else { continue };
        let end = path.extension().unwrap_or_default();
        if end == "csv" || end == "json" || end == "svg" || end == "html" {
            let Ok(text) = String::from_utf8(bytes) else { return Some(format!("bytes: {name} is no text")) };
            if text.is_empty() || !text.ends_with(['\n', '}', '>']) {
                return Some(format!("cut: {name} ends in the middle"));
            }
            if text.contains("panicked at") {
                return Some(format!("panic inside: {name}"));
            }
            if let Some(found) = table(&name, &text).filter(|_| end == "csv") {
                return Some(found);
            }
        }
    }
    // an expected number that is not met is no failure of the run
    if matches!(code, 0 | 4) && !outcome.interrupted { quality(folder, err) } else { None }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>, depth: usize) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        // what a command was writing when it was interrupted is no result
        if path.is_dir() && depth < 3 && path.file_name().is_some_and(|name| name != ".carom") {
            collect(&path, files, depth + 1);
        } else if path.is_file() {
            files.push(path);
        }
    }
}

/// The cells of a table; quoted ones are one cell.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            _ => cells.last_mut().expect("there is one").push(letter),
        }
    }
    cells
}

/// Rows of equal length, no number that is not finite, and no empty place among states and energies.
fn table(name: &str, text: &str) -> Option<String> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let head = cells(lines.next()?);
    // voltages of a circuit are not known at the start
    let mechanical = name == "trajectory.csv" && head.iter().any(|column| column.starts_with("q."));
    let full = |column: &str| mechanical && matches!(column.split('.').next(), Some("q" | "v" | "energy" | "t"));
    for (number, line) in lines.enumerate() {
        let row = cells(line);
        if row.len() != head.len() && !text.contains('"') {
            return Some(format!("ragged: {name}, row {}: {line}", number + 1));
        }
        for (cell, column) in row.iter().zip(&head) {
            let word = cell.trim().trim_start_matches('-').to_ascii_lowercase();
            if matches!(word.as_str(), "nan" | "inf" | "infinity") {
                return Some(format!("not finite: {name}, {column} in row {}", number + 1));
            }
            if cell.is_empty() && full(column) {
                return Some(format!("empty: {name}, {column} in row {}", number + 1));
            }
        }
    }
    None
}

/// Energy and overlaps of a run that ended well, against the numbers of its rows: beyond their share they need a
/// warning.
fn quality(folder: &Path, err: &str) -> Option<String> {
    let text = std::fs::read_to_string(folder.join("trajectory.csv")).ok()?;
    let summary = std::fs::read_to_string(folder.join("summary.json")).ok()?;
    let warned = |kinds: &[&str]| kinds.iter().any(|kind| summary.contains(kind) || err.contains(kind));
    let mut lines = text.lines();
    let head = cells(lines.next()?);
    // rows before an impact are no states of the scheme
    let rows: Vec<Vec<f64>> = lines
        .map(cells)
        .filter(|row| row.get(1).is_none_or(|kind| kind != "before"))
        .map(|row| row.iter().map(|cell| cell.parse().unwrap_or(f64::NAN)).collect())
        .collect();
    let column = |name: &str| {
        let at = head.iter().position(|known| known == name)?;
        Some(rows.iter().filter_map(|row| row.get(at).copied()).filter(|x| !x.is_nan()).collect::<Vec<f64>>())
    };
    let largest = |values: &[f64]| values.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
    // forces that work, moving supports and laws of time may bring energy in
    let closed = ["\"applied\": 0.0,", "\"obstacles\": 0.0,", "\"bilateral\": 0.0,"];
    if closed.iter().all(|word| summary.contains(word))
        && let (Some(kinetic), Some(potential), Some(total)) =
            (column("energy.kinetic"), column("energy.potential"), column("energy.total"))
        && let Some(first) = total.first()
    {
        let gain = total.iter().fold(0.0f64, |gain, x| gain.max(x - first));
        let scale = largest(&kinetic).max(largest(&potential));
        if gain > SHARE * scale && gain > 1e-9 && !warned(&["energy-gain", "impact-gain", "damped", "parted-step"]) {
            return Some(format!("energy: {gain:e} J more than at the start, of {scale:e} J, without a warning"));
        }
    }
    for name in head.iter().filter(|name| name.starts_with("gap.")) {
        let gaps = column(name)?;
        let (depth, scale) = (gaps.iter().fold(0.0f64, |depth, gap| depth.max(-gap)), largest(&gaps));
        let start = gaps.first().copied().unwrap_or(0.0);
        if depth > SHARE * scale
            && depth > 1e-6
            && start >= 0.0
            && depth < scale
            && !warned(&["penetration", "passed", "listed-late"])
        {
            return Some(format!("overlap: {name} is {depth:e} m, of {scale:e} m, without a warning"));
        }
    }
    None
}
