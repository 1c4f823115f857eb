//! `cargo xtask fuzz [minutes] [what]...`: commands with mutated files and random options, judged by what they leave.
//!
//! Every case is a folder with files and a command line, made from a seed, a part and a number. The command runs in a
//! process of its own with bounds on memory and time ([`process`]); [`oracle`] judges code, messages and written files
//! without any code of carom. What is found is made smaller where it has a text, and kept under `target/fuzz`.

mod case;
mod oracle;
mod process;
mod shrink;
mod words;

use case::{Case, Material, PARTS};
use oracle::Verdict;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    pub time: Duration,
    pub parts: Vec<&'static str>,
    pub seed: u64,
    /// The command; that beside this program where none is given.
    pub carom: Option<PathBuf>,
}

impl Default for Request {
    fn default() -> Request {
        Request { time: Duration::from_secs(60), parts: PARTS.to_vec(), seed: 1, carom: None }
    }
}

impl Request {
    /// From words: minutes, names of parts, `--seed N`, `--carom PATH`.
    pub fn read(words: &[&str]) -> Result<Request, String> {
        let mut request = Request { parts: vec![], ..Request::default() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--seed" => {
                    let seed = words.next().and_then(|seed| seed.parse().ok());
                    request.seed = seed.ok_or("--seed needs a whole number")?;
                }
                "--carom" => request.carom = Some(words.next().ok_or("--carom needs a path")?.into()),
                word => match (PARTS.iter().find(|part| **part == word), word.parse::<f64>()) {
                    (Some(part), _) => request.parts.push(part),
                    (None, Ok(minutes)) if minutes > 0.0 && minutes < 1e5 => {
                        request.time = Duration::from_secs_f64(60.0 * minutes);
                    }
                    _ => return Err(format!("there is no part `{word}`; there are: {}", PARTS.join(", "))),
                },
            }
        }
        if request.parts.is_empty() {
            request.parts = Request::default().parts;
        }
        Ok(request)
    }
}

/// Counts of one part.
#[derive(Default)]
struct Count {
    cases: u64,
    by_grammar: u64,
    codes: BTreeMap<String, u64>,
    found: u64,
    memory: u64,
    longest: f64,
}

/// Runs for the time that is asked for; the number of findings, or why nothing could be run.
pub fn run(request: &Request) -> Result<u64, String> {
    let beside =
        || Some(std::env::current_exe().ok()?.parent()?.join(format!("carom{}", std::env::consts::EXE_SUFFIX)));
    let carom = request.carom.clone().or_else(beside).unwrap_or_default();
    let carom = carom.canonicalize().map_err(|_| format!("there is no command {}: build it first", carom.display()))?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let material = Material::read(root, &carom)?;
    let kept = root.join("target/fuzz");
    let work = std::env::temp_dir().join(format!("carom-fuzz-{}", std::process::id()));
    let counts: Mutex<BTreeMap<&'static str, Count>> = Mutex::default();
    let (next, end) = (AtomicU64::new(0), Instant::now() + request.time);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let (next, counts, material, carom, kept) = (&next, &counts, &material, &carom, &kept);
            let folder = work.join(worker.to_string());
            scope.spawn(move || {
                while Instant::now() < end {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let part = request.parts[number as usize % request.parts.len()];
                    let case = Case::make(part, request.seed, number, material);
                    let verdict = attempt(&case, carom, &folder);
                    if let Some(reason) = &verdict.finding {
                        keep(&case, reason, carom, &folder, kept);
                    }
                    if let Ok(mut counts) = counts.lock() {
                        let count = counts.entry(part).or_default();
                        count.cases += 1;
                        count.by_grammar += u64::from(case.by_grammar);
                        *count.codes.entry(verdict.class.clone()).or_default() += 1;
                        count.found += u64::from(verdict.finding.is_some());
                        count.memory = count.memory.max(verdict.memory);
                        count.longest = count.longest.max(verdict.seconds);
                    }
                }
            });
        }
    });
    let _ = std::fs::remove_dir_all(&work);
    let counts = counts.into_inner().map_err(|_| "a worker has failed".to_owned())?;
    print(&counts, request.seed);
    Ok(counts.values().map(|count| count.found).sum())
}

/// The files of a case in an empty folder, its command, and what the oracle says.
fn attempt(case: &Case, carom: &Path, folder: &Path) -> Verdict {
    let _ = std::fs::remove_dir_all(folder);
    if std::fs::create_dir_all(folder).is_err() {
        return Verdict::class("no folder");
    }
    for (name, bytes) in &case.files {
        if std::fs::write(folder.join(name), bytes).is_err() {
            return Verdict::class("no file");
        }
    }
    let outcome = process::run(carom, &case.arguments, folder, case.may_take_long);
    oracle::judge(case, &outcome, folder)
}

/// A finding made small, with its command and reason.
fn keep(case: &Case, reason: &str, carom: &Path, folder: &Path, kept: &Path) {
    let small = shrink::shrink(case, reason, |case| attempt(case, carom, folder).finding);
    let place = kept.join(&case.name);
    let _ = std::fs::create_dir_all(&place);
    for (name, bytes) in &small.files {
        let _ = std::fs::write(place.join(name), bytes);
    }
    let quoted: Vec<String> = small.arguments.iter().map(|word| format!("{word:?}")).collect();
    let _ = std::fs::write(place.join("finding.txt"), format!("carom {}\n\n{reason}\n", quoted.join(" ")));
    println!("xtask: fuzz: {}: {}", case.name, reason.lines().next().unwrap_or_default());
}

fn print(counts: &BTreeMap<&'static str, Count>, seed: u64) {
    println!("\nfuzz, seed {seed}: cases (by grammar), findings, most memory, longest, and how commands ended");
    for (part, count) in counts {
        let codes: Vec<String> = count.codes.iter().map(|(code, number)| format!("{code}: {number}")).collect();
        println!(
            "  {part:<9} {:>6} ({:>6})  {:>3} found  {:>5} MB  {:>5.1} s  {}",
            count.cases,
            count.by_grammar,
            count.found,
            count.memory >> 20,
            count.longest,
            codes.join(", ")
        );
    }
}
