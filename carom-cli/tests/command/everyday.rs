//! What makes the command fit into a day's work: JSON for programs, reports that open, checks of schemes, completions.

use super::session::{BALL, Session};
use serde_json::Value;

#[test]
fn a_run_prints_its_summary_as_json_and_nothing_else() {
    let session = Session::new();
    let printed = session.succeed(["run", "bouncing-ball", "--json", "--no-report"]);
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(printed, session.summary("out/bouncing-ball"));
    assert_eq!((&printed["status"], &printed["impacts"]), (&"finished".into(), &8.into()));
    // a run that fails prints what it has, and its reason on standard error
    session.write("bad.toml", BALL.replace("\"2*y\"", "\"2*y + sqrt(1.5 - y) + sqrt(y - 0.5)\""));
    let outcome = session.carom(["run", "bad.toml", "--json"]);
    assert_eq!(outcome.code, Some(3), "{}", outcome.err);
    let printed: Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!(printed["status"], "failed");
    assert!(outcome.err.starts_with("error: "), "{}", outcome.err);
}

#[test]
fn a_check_tells_whether_a_scheme_fits() {
    let session = Session::new();
    let good = session.succeed(["check", "bouncing-ball", "--scheme", "schatzman-paoli"]);
    assert!(good.contains("good") && good.contains("schatzman-paoli"), "{good}");
    for (example, scheme, reason) in
        [("bouncing-ball", "homsp", "first-order"), ("diode-bridge", "moreau-jean", "mechanical")]
    {
        let outcome = session.carom(["check", example, "--scheme", scheme]);
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(2), ""), "{example} {scheme}");
        assert!(outcome.err.contains(scheme) && outcome.err.contains(reason), "{}", outcome.err);
    }
    let table = session.succeed(["check", "bouncing-ball", "--scheme", "{ name = \"moreau-jean\", theta = 1 }"]);
    assert!(table.contains("theta"), "{table}");
    assert_eq!(
        session.carom(["check", "bouncing-ball", "--scheme", "{ name = \"moreau-jean\", theta = 3 }"]).code,
        Some(2)
    );
    assert!(!session.path("out").exists());
}

#[test]
fn shells_complete_commands_and_flags() {
    let session = Session::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = session.succeed(["completions", shell]);
        // those of studies come from their options
        for word in ["reproduce", "completions", "lyapunov", "dump-problems", "transient"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(session.carom(["completions", "tcsh"]).code, Some(2));
}

/// An opener that notes what it was asked to open.
#[test]
#[cfg(target_os = "linux")]
fn reports_are_opened() {
    use std::os::unix::fs::PermissionsExt;
    let session = Session::new();
    session.write("xdg-open", "#!/bin/sh\nprintf '%s' \"$1\" > opened\n");
    let program = session.path("xdg-open");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", session.path("").display(), std::env::var("PATH").unwrap());
    for (words, report) in [
        (&["run", "bouncing-ball", "--open"][..], "out/bouncing-ball/report.html"),
        (&["sweep", "bouncing-ball", "--vary", "e=0:0.5:2", "--open"], "out/bouncing-ball-sweep/sweep.html"),
        (&["reproduce", "rr8029/figure-9", "--quick", "--open"], "out/reproduce/index.html"),
        (&["profile", "--family", "pd", "--contacts", "5", "--solvers", "lemke", "--open"], "out/profile/profile.html"),
    ] {
        let output = session.command(words).env("PATH", &path).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        let opened = session.read("opened");
        assert!(opened.ends_with(report) && session.path(report).is_file(), "{words:?}: {opened}");
        std::fs::remove_file(session.path("opened")).unwrap();
    }
    // where nothing opens files the results are there, and the exit code is that of the environment
    let output = session.command(["run", "bouncing-ball", "--open"]).env("PATH", "/nonexistent").output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("xdg-open") && error.contains("report.html"), "{error}");
    assert_eq!(session.carom(["run", "bouncing-ball", "--open", "--no-report"]).code, Some(2));
}

/// Small things that were said wrongly.
#[test]
fn sentences_are_right() {
    let session = Session::new();
    // what the scheme solves by itself is itemised as well
    let out = session.succeed(["run", "rocking-block-events", "--no-report"]);
    let numbers = |start: &str| -> u64 {
        let lines = out.lines().filter(|line| line.starts_with(start));
        lines.map(|line| line.split_whitespace().last().unwrap().parse::<u64>().unwrap()).sum()
    };
    assert!(numbers(" solves") > 0);
    assert_eq!(numbers(" solves"), numbers("   by "), "{out}");
    // a sum of no times is no time, not minus none
    let words = ["profile", "--family", "arch", "--contacts", "10", "--solvers", "auto,newton-min"];
    let out = session.succeed(words);
    assert!(out.contains("0 of 1") && !out.contains("-0.000"), "{out}");
    // rows that are left out are counted
    let out = session.succeed([
        "bifurcation",
        "chaotic-oscillator",
        "--parameter",
        "om=2.5:2.6:60",
        "--transient",
        "1",
        "--periods",
        "1",
    ]);
    assert!(!out.contains("2th") && out.contains("one of 4 rows is shown"), "{out}");
    // papers are named
    let out = session.succeed(["reproduce", "--list"]);
    for paper in carom_papers::PAPERS {
        assert!(out.contains(paper.title) && out.contains(paper.citation), "{}", paper.key);
    }
    // a list of files none of which can be read has no table
    let outcome = session.carom(["solve", "nothing.dat"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(2), ""));
}

/// Words that only those who wrote them know are in nothing that users read.
#[test]
fn no_words_of_the_trade() {
    for folder in ["examples", "carom-papers/src", "carom-cli/src"] {
        let mut stack = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder)];
        while let Some(path) = stack.pop() {
            if path.is_dir() {
                stack.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            } else if path.extension().is_some_and(|ending| ending == "toml" || ending == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let numbered = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
                assert!(!text.split("check O").skip(1).any(numbered), "{}", path.display());
            }
        }
    }
}
