//! Results are never lost: whatever call of the file system fails, the folder has the earlier result or the new one,
//! whole; files of others and inputs stay as they are. The layer that fails is part of builds with debug assertions.
#![cfg(debug_assertions)]

use super::session::{BALL, Outcome, Session};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const LCP: &str = "2\n0\n2\n2\n2 2\n2.0 1.0\n1.0 2.0\n-5.0 -6.0\n";

/// A command with results in `out` (a folder, or a file), and what differs in the earlier result.
pub struct Case {
    pub words: &'static str,
    earlier: &'static str,
    pub later: &'static str,
}

const fn case(words: &'static str, earlier: &'static str, later: &'static str) -> Case {
    Case { words, earlier, later }
}

impl Case {
    /// What differs in the earlier result.
    pub fn earlier(&self) -> &'static str {
        self.earlier
    }
}

/// Small runs of all commands that write.
pub const CASES: [Case; 14] = [
    case("run ball.toml --csv --out out --quiet", "--steps 3", "--steps 4"),
    case("sweep ball.toml --out out --quiet --fresh", "--vary e=0.1", "--vary e=0.2,0.3"),
    case("converge ball.toml --out out --quiet --fresh", "--steps 0.5:0.25:2", "--steps 0.5:0.1:2"),
    case(
        "bifurcation ball.toml --period 0.1 --transient 1 --periods 4 --out out --quiet --fresh",
        "--parameter e=0.1",
        "--parameter e=0.2",
    ),
    case("lyapunov ball.toml --period 0.1 --transient 0 --out out --quiet --fresh", "--intervals 20", "--intervals 30"),
    case("orbit chaotic-oscillator --transient 30 --out out --quiet --fresh", "--set om=2.5", "--set om=2.51"),
    case(
        "basin ball.toml --period 0.1 --transient 1 --x y=0:1:2 --out out --quiet --fresh",
        "--y y'=0:1:2",
        "--y y'=0:1:3",
    ),
    case("equilibrium ladder --out out --quiet --fresh", "--set m=9", "--set m=8"),
    case("solve --out out --history --json", "a_lcp.dat", "a_lcp.dat b_lcp.dat"),
    case("profile p --out out --quiet", "--solvers auto", "--solvers auto,nsgs"),
    case("compare --out out --quiet", "a b", "b a --figures figures"),
    case("generate pd --contacts 4 -o out --force", "--seed 1", "--seed 2"),
    case("import arm.urdf -o out.toml --force", "", "--without stops"),
    case("new out --force", "", "--kind linear"),
];

pub fn prepare(session: &Session) {
    session.write("ball.toml", BALL);
    session.write("a_lcp.dat", LCP);
    session.write("b_lcp.dat", LCP.replace("-5.0", "-4.0"));
    fs::create_dir(session.path("p")).unwrap();
    session.write("p/a_lcp.dat", LCP);
    session.write("arm.urdf", include_str!("../../../examples/robots/arm.urdf"));
    for (folder, steps) in [("a", "3"), ("b", "4")] {
        session.succeed(["run", "ball.toml", "--quiet", "--no-report", "--out", folder, "--steps", steps]);
    }
}

/// Names and bytes of all results below a place; those that resume a study and timings are none.
pub fn content(place: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    if place.is_file() {
        found.insert(String::new(), fs::read(place).unwrap());
    }
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
        match name.as_str() {
            // carom's own
            name if name.starts_with(".carom") => {}
            name if name.ends_with(".jsonl") => {}
            _ => found.extend(content(&path).into_iter().map(|(inner, bytes)| (format!("{name}/{inner}"), bytes))),
        }
    }
    found
}

/// Files of times differ from call to call: their names and numbers of lines tell enough.
pub fn same(words: &str, a: &BTreeMap<String, Vec<u8>>, b: &BTreeMap<String, Vec<u8>>) -> bool {
    let rows = |bytes: &Vec<u8>| bytes.iter().filter(|byte| **byte == b'\n').count();
    let timed = |name: &str| words.starts_with("profile") || name.contains("times.");
    let equal = |name: &String, x: &Vec<u8>| match timed(name) {
        true => name.contains(".html") || rows(x) == rows(&b[name]),
        false => *x == b[name],
    };
    a.keys().eq(b.keys()) && a.iter().all(|(name, x)| equal(name, x))
}

fn call(session: &Session, case: &Case, words: &str, fault: Option<&str>) -> Outcome {
    let words = case.words.split(' ').chain(words.split(' ').filter(|word| !word.is_empty()));
    let mut command = session.command(words);
    if let Some(fault) = fault {
        command.env("CAROM_FAULT", fault);
    }
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Outcome { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Lets the n-th call fail for all n, in one of two ways, and looks at the folder.
fn all_faults(case: &Case, mode: impl Fn(usize) -> &'static str) -> usize {
    let session = Session::new();
    prepare(&session);
    let place = ["out", "out.toml"].map(|name| session.path(name));
    let look = || {
        // what a crash has cut short is finished by whoever looks next
        if place[0].is_dir() {
            carom_analysis::folder::settle(&place[0]).unwrap();
        }
        place.each_ref().map(|place| content(place)).into_iter().flatten().collect::<BTreeMap<_, _>>()
    };
    let good = |words: &str| {
        let outcome = call(&session, case, words, None);
        assert_eq!(outcome.code, Some(0), "{} {words}: {}", case.words, outcome.err);
        look()
    };
    let new = good(case.later);
    let old = good(case.earlier);
    assert!(!old.is_empty() && !same(case.words, &old, &new), "{}: both results are the same", case.words);
    for n in 1..400 {
        let outcome = call(&session, case, case.later, Some(&format!("{n}{}", mode(n))));
        let told = format!("{} {n}{}: {}{}", case.words, mode(n), outcome.out, outcome.err);
        if !outcome.err.contains("injected fault") {
            assert_eq!(outcome.code, Some(0), "{told}");
            assert!(same(case.words, &look(), &new), "{told}");
            return n - 1;
        }
        assert_eq!(outcome.code, Some(1), "{told}");
        assert!(outcome.err.contains("error: "), "{told}");
        let found = look();
        if !same(case.words, &found, &old) {
            let names: Vec<&String> = found.keys().collect();
            assert!(same(case.words, &found, &new), "neither the earlier nor the new result: {names:?}\n{told}");
            good(case.earlier);
        }
    }
    panic!("{}: no end of calls", case.words);
}

/// Odd calls fail alone, even ones and all after them as on a disk that is full.
fn alternating(n: usize) -> &'static str {
    if n.is_multiple_of(2) { "+" } else { "" }
}

#[test]
fn no_fault_loses_the_results_of_a_run() {
    for mode in ["", "+"] {
        assert!(all_faults(&CASES[0], |_| mode) > 20);
    }
}

#[test]
fn no_fault_loses_the_results_of_a_study() {
    for case in [&CASES[1], &CASES[6]] {
        assert!(all_faults(case, alternating) > 15, "{}", case.words);
    }
}

#[test]
fn no_fault_loses_a_file() {
    for case in CASES[8..].iter().filter(|case| !case.words.starts_with("profile")) {
        assert!(all_faults(case, alternating) > 3, "{}", case.words);
    }
}

#[test]
#[ignore = "long: every command, every call, both ways: some two thousand commands"]
fn no_fault_loses_the_results_of_any_command() {
    for case in &CASES {
        for mode in ["", "+"] {
            assert!(all_faults(case, |_| mode) > 3, "{}", case.words);
        }
    }
}

/// A call may write less than it was given: that is no error, and nothing is missing.
#[test]
fn short_writes_are_gone_on_with() {
    let session = Session::new();
    prepare(&session);
    let case = &CASES[0];
    assert_eq!(call(&session, case, case.later, None).code, Some(0));
    let whole = content(&session.path("out"));
    for n in (1..80).step_by(3) {
        let outcome = call(&session, case, case.later, Some(&format!("{n}~")));
        assert_eq!(outcome.code, Some(0), "{n}: {}", outcome.err);
        assert!(content(&session.path("out")) == whole, "{n}");
    }
}

/// A full disk leaves whole lines, and what was there before.
#[test]
fn a_table_is_not_cut_inside_a_number() {
    let session = Session::new();
    session.write("ball.toml", BALL);
    let arguments = ["run", "ball.toml", "--csv", "--quiet", "--out", "out", "--steps", "20000"];
    let mut cut = 0;
    for n in 8..40 {
        let output = session.command(arguments).env("CAROM_FAULT", format!("{n}+")).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{n}");
        let path = session.path("out/.carom/run.new/trajectory.csv");
        if let Ok(text) = fs::read_to_string(path) {
            assert!(text.is_empty() || text.ends_with('\n'), "{n}: {}", &text[text.len().saturating_sub(60)..]);
            cut += usize::from(text.lines().count() > 1);
        }
    }
    assert!(cut > 0, "no table was cut");
}

/// A disk of 1 MB in memory.
struct Disk(PathBuf);

impl Disk {
    /// Mounts it where that is allowed; says so where it is not.
    fn mount(place: PathBuf) -> Option<Disk> {
        fs::create_dir(&place).unwrap();
        let output = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(&place).output();
        let mounted = output.is_ok_and(|output| output.status.success());
        if !mounted {
            eprintln!("skipped: no disk can be mounted here");
        }
        mounted.then(|| Disk(place))
    }

    /// Leaves so many bytes free: a file takes all, and is cut.
    fn leave(&self, bytes: u64) {
        let filler = self.0.join("filler");
        let _ = fs::write(&filler, vec![0; 1 << 20]);
        let length = fs::metadata(&filler).unwrap().len();
        fs::File::options().write(true).open(&filler).unwrap().set_len(length.saturating_sub(bytes)).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

/// The disk is really full, at whatever byte: exit code 1 and the earlier result, or the new one, whole.
#[test]
fn a_full_disk_leaves_a_whole_result() {
    for case in [&CASES[0], &CASES[1], &CASES[8], &CASES[11]] {
        let session = Session::new();
        prepare(&session);
        let Some(disk) = Disk::mount(session.path("disk")) else { return };
        let words = case.words.replace("-o out", "-o disk/out").replace("--out out", "--out disk/out");
        let full = Case { words: words.leak(), ..*case };
        let place = session.path("disk/out");
        let look = || {
            let _ = fs::remove_file(session.path("disk/filler"));
            if place.is_dir() {
                carom_analysis::folder::settle(&place).unwrap();
            }
            content(&place)
        };
        let good = |words: &str| {
            let outcome = call(&session, &full, words, None);
            assert_eq!(outcome.code, Some(0), "{} {words}: {}", full.words, outcome.err);
            look()
        };
        let (new, old) = (good(full.later), good(full.earlier));
        let mut failed = 0;
        for kilobytes in [0, 4, 8, 12, 16, 24, 32, 48, 64, 80, 96, 128, 160, 192, 256] {
            disk.leave(kilobytes << 10);
            let outcome = call(&session, &full, full.later, None);
            let told = format!("{} with {kilobytes} kB: {}{}", full.words, outcome.out, outcome.err);
            let found = look();
            match outcome.code {
                Some(0) => assert!(same(full.words, &found, &new), "{told}"),
                Some(1) => {
                    assert!(outcome.err.contains("error: "), "{told}");
                    assert!([&old, &new].iter().any(|whole| same(full.words, &found, whole)), "{told}");
                    failed += 1;
                }
                _ => panic!("{told}"),
            }
            good(full.earlier);
        }
        assert!(failed > 0, "{}: the disk was never full", full.words);
    }
}

/// `--out .` in a folder of the user's own files, and results that were edited.
#[test]
fn files_of_others_stay() {
    let session = Session::new();
    session.write("ball.toml", BALL);
    for (name, command) in [
        ("trajectory.csv", "run ball.toml --csv --out ."),
        ("report.html", "run ball.toml --out ."),
        ("summary.json", "run ball.toml --out ."),
        ("sweep.csv", "sweep ball.toml --vary e=0.1 --out ."),
        ("sweep.jsonl", "sweep ball.toml --vary e=0.1 --out ."),
        ("history.csv", "solve a_lcp.dat --history --out ."),
        ("a_lcp.solution.json", "solve a_lcp.dat --out ."),
        ("profile.csv", "profile . --out ."),
        ("index.html", "reproduce rr8029/figure-9 --quick --out ."),
        ("m.toml", "new m"),
        ("m.dat", "generate pd --contacts 3 -o m.dat"),
    ] {
        session.write("a_lcp.dat", LCP);
        session.write(name, "mine");
        let outcome = session.carom(command.split(' '));
        assert_eq!(outcome.code, Some(2), "{command}: {}{}", outcome.out, outcome.err);
        assert!(outcome.err.contains(name) && outcome.err.contains("hint: "), "{command}: {}", outcome.err);
        assert_eq!(session.read(name), "mine", "{command}");
        fs::remove_file(session.path(name)).unwrap();
    }
    // files that are not in the way do not matter, and stay
    session.write("events.csv", "mine");
    session.succeed(["run", "ball.toml", "--out", ".", "--quiet"]);
    session.succeed(["run", "ball.toml", "--out", ".", "--quiet"]);
    assert_eq!(session.read("events.csv"), "mine");
    session.write("report.html", "with my notes");
    let outcome = session.carom(["run", "ball.toml", "--out", ".", "--quiet"]);
    assert!(outcome.code == Some(2) && outcome.err.contains("was changed since"), "{}", outcome.err);
    assert_eq!(session.read("report.html"), "with my notes");
}

/// A problem beside its solutions is not overwritten by what is made of it, even where carom wrote it.
#[test]
fn inputs_stay() {
    let session = Session::new();
    session.succeed(["generate", "arch", "--contacts", "20", "-o", "arch.hdf5"]);
    session.write("arm.urdf", include_str!("../../../examples/robots/arm.urdf"));
    let before = fs::read(session.path("arch.hdf5")).unwrap();
    for command in ["solve arch.hdf5 --out . --fclib", "import arm.urdf -o arm.urdf --force"] {
        let outcome = session.carom(command.split(' '));
        assert_eq!(outcome.code, Some(2), "{command}: {}{}", outcome.out, outcome.err);
        assert!(outcome.err.contains("is an input"), "{command}: {}", outcome.err);
    }
    session.succeed(["solve", "arch.hdf5", "--out", "s", "--fclib"]);
    let again = session.carom(["solve", "s/arch.hdf5", "--out", "s", "--fclib"]);
    assert!(again.code == Some(2) && again.err.contains("is an input"), "{}", again.err);
    assert_eq!(fs::read(session.path("arch.hdf5")).unwrap(), before);
}

/// Folders are looked at before anything is computed. Root may write everywhere: a file in the way does for it.
#[test]
fn folders_are_checked_before_the_computation() {
    let session = Session::new();
    session.write("ball.toml", BALL);
    session.write("file", "mine");
    for command in [
        "run ball.toml --steps 100000000 --out file/below",
        "sweep ball.toml --vary e=0.1:0.9:1000 --step 1e-8 --out file/below",
        "basin ball.toml --period 0.1 --transient 100000000 --x y=0:1:2 --y y'=0:1:2 --out file/below",
        "reproduce nqi/failure --out file/below",
        "run ball.toml --steps 100000000 --figures file/below",
    ] {
        let clock = std::time::Instant::now();
        let outcome = session.carom(command.split(' '));
        assert_eq!(outcome.code, Some(1), "{command}: {}{}", outcome.out, outcome.err);
        assert!(clock.elapsed().as_secs() < 20, "{command}");
    }
}

/// Results of another version are refused with a reason; those from before versions are read.
#[test]
fn versions_are_told_apart() {
    let session = Session::new();
    session.write("ball.toml", BALL);
    for folder in ["a", "b"] {
        session.succeed(["run", "ball.toml", "--quiet", "--out", folder]);
    }
    let text = session.read("b/summary.json");
    assert!(text.contains("\"format\": 1,"), "{text}");
    session.write("b/summary.json", text.replace("\"format\": 1,", ""));
    session.succeed(["compare", "a", "b", "--quiet"]);
    session.write("b/summary.json", text.replace("\"format\": 1,", "\"format\": 7,"));
    let outcome = session.carom(["compare", "a", "b", "--out", "c"]);
    assert!(outcome.code == Some(2) && outcome.err.contains("format version is 7"), "{}", outcome.err);
}
