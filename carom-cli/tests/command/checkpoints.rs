//! Runs that go on after they were cut short: the files are those of a run that was never cut.

use super::faults::content;
use super::session::{BALL, Session};
use std::process::Command;
use std::time::{Duration, Instant};

/// Runs a model whole and in pieces, cut after these steps, and compares all files.
fn cut_and_compare(session: &Session, words: &[&str], steps: &[u64]) {
    let run = |folder: &'static str, more: &[&'static str]| {
        session.command(["run"].iter().chain(words).chain(&["--quiet", "--csv", "--out", folder]).chain(more))
    };
    assert_eq!(run("whole", &[]).status().unwrap().code(), Some(0));
    let mut more = vec!["--checkpoint", "1000"];
    for step in steps {
        let output = run("parts", &more).env("CAROM_STOP", step.to_string()).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(130), "{told}");
        assert!(told.contains("--resume") && told.contains("t = "), "{told}");
        assert!(session.path("parts/.carom/run.new/checkpoint").exists());
        more = vec!["--checkpoint", "1000", "--resume"];
    }
    let output = run("parts", &["--resume"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let [whole, parts] = ["whole", "parts"].map(|folder| content(&session.path(folder)));
    assert!(whole.len() > 3, "{:?}", whole.keys());
    assert_eq!(whole.keys().collect::<Vec<_>>(), parts.keys().collect::<Vec<_>>());
    let differ: Vec<&String> = whole.keys().filter(|name| whole[*name] != parts[*name]).collect();
    assert!(differ.is_empty(), "{words:?}: {differ:?}");
    assert!(!session.path("parts/.carom/run.new").exists());
}

#[test]
#[cfg(debug_assertions)]
fn a_run_that_was_cut_has_the_files_of_one_that_was_not() {
    for (words, steps) in [
        (&["ball.toml"][..], &[7, 30, 150][..]),
        (&["ball.toml", "--adaptive", "1e-4"], &[5, 20]),
        (&["sliding-block", "--steps", "200", "--every", "3"], &[50, 51]),
        (&["bouncing-ball-events"], &[2]),
        (&["box-stack-3d", "--end", "0.05"], &[9]),
    ] {
        let session = Session::new();
        session.write("ball.toml", BALL);
        cut_and_compare(&session, words, steps);
    }
}

#[test]
fn a_checkpoint_of_another_run_is_refused_with_a_reason() {
    let session = Session::new();
    session.write("ball.toml", BALL);
    let refused = |words: &[&str], reasons: &[&str]| {
        let outcome = session.carom(["run", "ball.toml", "--quiet", "--resume", "--out", "out"].iter().chain(words));
        assert_eq!(outcome.code, Some(2), "{}", outcome.err);
        reasons.iter().for_each(|reason| assert!(outcome.err.contains(reason), "{}", outcome.err));
    };
    refused(&[], &["there is none", "--checkpoint"]);
    if cfg!(debug_assertions) {
        let words = ["run", "ball.toml", "--quiet", "--checkpoint", "9", "--out", "out"];
        let status = session.command(words).env("CAROM_STOP", "5").output().unwrap().status;
        assert_eq!(status.code(), Some(130));
        refused(&["--step", "0.02"], &["`step` was 0.01 and is 0.02"]);
        refused(&["--csv"], &["`csv` was false and is true"]);
        session.write("ball.toml", BALL.replace("e = 0.5", "e = 0.6"));
        refused(&[], &["the model file has changed"]);
        session.write("ball.toml", BALL);
        session.succeed(["run", "ball.toml", "--quiet", "--resume", "--out", "out"]);
        // it is used up
        refused(&[], &["there is none"]);
    }
    for seconds in ["0", "-1", "nan", "inf", "1e300", "soon"] {
        let outcome = session.carom(["run", "ball.toml", &format!("--checkpoint={seconds}")]);
        assert_eq!(outcome.code, Some(2), "{seconds}: {}", outcome.err);
    }
}

/// A mesh is a part of the model: a run does not go on where its file has changed.
#[test]
#[cfg(debug_assertions)]
fn a_checkpoint_knows_the_meshes() {
    let session = Session::new();
    let mesh = include_str!("../../../examples/meshes/stone.obj");
    session.write("stone.obj", mesh);
    session.write(
        "model.toml",
        "version = 1\nname = \"mesh\"\n[model]\nkind = \"multibody\"\ngravity = [0, 0, -9.81]\n[[body]]\n\
         name = \"stone\"\nposition = [0, 0, 3]\n[[body.shape]]\nkind = \"mesh\"\nfile = \"stone.obj\"\n\
         density = 1000\n[simulation]\nend = 0.1\nstep = 0.01\n",
    );
    let words = ["run", "model.toml", "--quiet", "--checkpoint", "9", "--out", "out"];
    let stopped = session.command(words).env("CAROM_STOP", "5").output().unwrap();
    assert_eq!(stopped.status.code(), Some(130), "{}", String::from_utf8_lossy(&stopped.stderr));
    session.write("stone.obj", format!("{mesh}# another line\n"));
    let outcome = session.carom(["run", "model.toml", "--quiet", "--resume", "--out", "out"]);
    assert!(outcome.code == Some(2) && outcome.err.contains("has changed"), "{:?} {}", outcome.code, outcome.err);
    session.write("stone.obj", mesh);
    session.succeed(["run", "model.toml", "--quiet", "--resume", "--out", "out"]);
}

/// A run that is killed at any time goes on from its last checkpoint.
#[test]
#[cfg(unix)]
fn a_killed_run_goes_on() {
    let session = Session::new();
    let words = ["run", "bouncing-ball", "--steps", "40000", "--quiet", "--csv", "--out"];
    session.succeed(words.iter().chain(&["whole"]));
    let mut more = vec!["parts", "--checkpoint", "0.001"];
    for _ in 0..4 {
        let mut run = session.start(words.iter().chain(&more));
        let patience = Instant::now();
        while !session.path("parts/.carom/run.new/checkpoint").exists() && patience.elapsed() < Duration::from_secs(60)
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(60));
        if run.try_wait().unwrap().is_some() {
            break;
        }
        assert!(Command::new("kill").args(["-KILL", &run.id().to_string()]).status().unwrap().success());
        run.wait().unwrap();
        more = vec!["parts", "--checkpoint", "0.001", "--resume"];
    }
    if session.path("parts/.carom/run.new/checkpoint").exists() {
        session.succeed(words.iter().chain(&["parts", "--resume"]));
    }
    let [whole, parts] = ["whole", "parts"].map(|folder| content(&session.path(folder)));
    assert!(whole == parts, "{:?} {:?}", whole.keys(), parts.keys());
}
