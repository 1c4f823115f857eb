//! What a person at a terminal sees: lines that fit it, progress, and help that answers.

use super::session::{BALL, Session};
use std::process::{Command, Stdio};

/// Standard output of a command on a terminal of 80 columns.
fn at_80(session: &Session, words: &[&str]) -> String {
    let output = session.command(words).env("COLUMNS", "80").output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Words without those that titles of columns add where rows become lists.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = text.split_whitespace().map(|word| word.trim_end_matches(':').to_owned()).collect();
    words.sort();
    words.dedup();
    words
}

#[test]
fn nothing_is_wider_than_80_columns_and_nothing_is_cut() {
    let session = Session::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/problems/");
    let (friction, lcp) = (format!("{folder}friction-2d.dat"), format!("{folder}mlcp.dat"));
    let commands: [&[&str]; 22] = [
        &["list", "schemes"],
        &["list", "solvers"],
        &["list", "studies"],
        &["list", "examples"],
        &["list", "models"],
        &["reproduce", "--list"],
        &["docs"],
        &["docs", "model-files"],
        &["docs", "problems"],
        &["docs", "readme"],
        &["docs", "architecture"],
        &["show", "moreau-jean"],
        &["show", "lyapunov"],
        &["check", "diode-bridge"],
        &["check", "slider-crank"],
        &["--help"],
        &["run", "--help"],
        &["basin", "--help"],
        &["run", "rocking-block-events", "--no-report"],
        &["solve", &friction, &lcp],
        &["converge", "bouncing-ball", "--steps", "0.1:0.01"],
        &["sweep", "bouncing-ball", "--vary", "e=0:0.9:3"],
    ];
    for command in commands {
        let narrow = at_80(&session, command);
        // code, links and equations in one word keep a line of their own
        let whole_word = |line: &str| line.split_whitespace().count() == 1;
        let wide: Vec<&str> = narrow.lines().filter(|line| line.chars().count() > 80 && !whole_word(line)).collect();
        assert!(wide.is_empty(), "{command:?}: {wide:#?}");
        if command[0] == "list" || command[0] == "check" {
            let (all, kept) = (words(&session.succeed(command)), words(&narrow));
            let missing: Vec<&String> = all.iter().filter(|word| !kept.contains(word)).collect();
            assert!(missing.is_empty(), "{command:?}: {missing:?}");
        }
    }
}

#[test]
fn pages_are_carried_by_the_command() {
    let session = Session::new();
    let page = session.succeed(["docs", "model-files"]);
    assert_eq!(page, include_str!("../../../docs/model-files.md"), "piped it is the page as it is");
    assert!(session.succeed(["docs"]).contains("model-files"));
    let outcome = session.carom(["docs", "model-file"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.err.contains("did you mean `model-files`?"), "{}", outcome.err);
    // what a message points to is there for an installed user
    let outcome = session.carom(["lyapunov", "chaotic-oscillator", "--method", "tangent", "--scheme", "event-driven"]);
    assert!(outcome.err.contains("carom docs studies") && !outcome.err.contains("docs/"), "{}", outcome.err);
}

/// Runs a command on a terminal of its own, and gives all that was written there.
#[cfg(target_os = "linux")]
fn on_a_terminal(session: &Session, words: &str) -> Option<String> {
    let command = format!("{} {words}", env!("CARGO_BIN_EXE_carom"));
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(session.path("")).stdin(Stdio::null());
    script.output().ok().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Progress is told after a second, on a terminal alone, and not with --quiet.
#[test]
#[cfg(target_os = "linux")]
fn progress_tells_rate_and_remaining_time() {
    let session = Session::new();
    session.write("ball.toml", BALL.replace("end = 2", "end = 1e9"));
    let long = "run ball.toml --no-report --every 1000000";
    // interrupted after a while, wherever it is
    let bounded = |words: &str| -> Option<String> {
        let command = format!("timeout -s INT 4 {} {words}", env!("CARGO_BIN_EXE_carom"));
        let mut script = Command::new("script");
        script.args(["-qec", &command, "/dev/null"]).current_dir(session.path("")).stdin(Stdio::null());
        script.output().ok().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let Some(shown) = bounded(long) else {
        println!("not checked: `script` is not installed, so that there is no terminal");
        return;
    };
    assert!(shown.contains("steps/s") && shown.contains("left"), "{shown}");
    let quiet = bounded(&format!("{long} --quiet")).unwrap();
    assert!(!quiet.contains("steps/s"), "{quiet}");
    // a command that is done in no time shows nothing
    let short = on_a_terminal(&session, "run bouncing-ball --no-report").unwrap();
    assert!(short.contains("finished") && !short.contains("steps/s"), "{short}");
    // nor does a pipe
    let mut piped = Command::new("timeout");
    piped.args(["-s", "INT", "3", env!("CARGO_BIN_EXE_carom")]).args(long.split(' ')).current_dir(session.path(""));
    let error = String::from_utf8_lossy(&piped.output().unwrap().stderr).into_owned();
    assert!(!error.contains("steps"), "{error}");
}

/// A study counts its parts.
#[test]
#[cfg(target_os = "linux")]
fn progress_of_a_study_counts_its_parts() {
    let session = Session::new();
    let command = format!(
        "timeout -s INT 5 {} basin bistable-oscillator --x u=-0.2:1:60 --y \"u'=-1:1:60\"",
        env!("CARGO_BIN_EXE_carom")
    );
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(session.path("")).stdin(Stdio::null());
    let Ok(output) = script.output() else { return };
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("of 3600 cells") && shown.contains("cells/s") && shown.contains("left"), "{shown}");
}
