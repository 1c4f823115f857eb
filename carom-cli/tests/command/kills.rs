//! Commands that are killed at random moments (SIGKILL): the folder has the earlier result or the new one, whole, and
//! the same command given again comes to the new one. Moments are fractions of the time that the command takes, drawn
//! from a stated seed.
#![cfg(all(unix, debug_assertions))]

use super::faults::{CASES, Case, content, prepare, same};
use super::session::Session;
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Fractions between 0 and 1: the fractional parts of multiples of the golden ratio, from a place that the seed says.
fn fractions(seed: u64) -> impl Iterator<Item = f64> {
    (1..).map(move |k: u64| (0.618_033_988_749_894_9 * (seed * 1009 + k) as f64).fract())
}

/// What is killed: the command, with results that take some time.
fn longer(case: &Case) -> String {
    match case.words.split(' ').next().unwrap_or_default() {
        "run" => "run ball.toml --csv --out out --quiet --checkpoint 0.001 --steps 3000".into(),
        "sweep" => "sweep ball.toml --out out --quiet --fresh --vary e=0.1:0.9:40".into(),
        _ => format!("{} {}", case.words, case.later).trim().to_owned(),
    }
}

/// Kills a command so many times; returns how many of them were killed while they ran.
fn kill(words: &str, earlier: &str, times: usize, seed: u64) -> usize {
    let session = Session::new();
    prepare(&session);
    let places = ["out", "out.toml"].map(|name| session.path(name));
    let look = || {
        if places[0].is_dir() {
            carom_analysis::folder::settle(&places[0]).unwrap();
        }
        let mut found: BTreeMap<_, _> = places.each_ref().map(|place| content(place)).into_iter().flatten().collect();
        // what was being written when the command was killed: hidden, and replaced by the next one
        found.retain(|name, _| !name.contains(".carom-new"));
        found
    };
    let inputs = || ["ball.toml", "a_lcp.dat", "b_lcp.dat", "arm.urdf"].map(|name| session.read(name));
    let given = inputs();
    let call = |words: &str| {
        let start = Instant::now();
        let outcome = session.carom(words.split(' '));
        assert_eq!(outcome.code, Some(0), "{words}: {}", outcome.err);
        (look(), start.elapsed())
    };
    let forget = || {
        for place in &places {
            let _ = std::fs::remove_dir_all(place);
            let _ = std::fs::remove_file(place);
        }
    };
    // some commands keep what others have written
    call(earlier);
    let (new, time) = call(words);
    let mut killed = 0;
    for fraction in fractions(seed).take(times) {
        forget();
        let (old, _) = call(earlier);
        assert!(!same(words, &old, &new), "{words}: both results are the same");
        let mut command = session.command(words.split(' '));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_secs_f64(fraction * time.as_secs_f64()));
        if child.try_wait().unwrap().is_none() {
            killed += 1;
            let status = Command::new("kill").args(["-KILL", &child.id().to_string()]).status().unwrap();
            assert!(status.success());
        }
        child.wait().unwrap();
        let found = look();
        let names: Vec<&String> = found.keys().collect();
        let whole = same(words, &found, &old) || same(words, &found, &new);
        assert!(whole, "{words}, killed after {fraction:.3} of {time:?}: neither result is there: {names:?}");
        assert_eq!(inputs(), given, "{words}: an input was changed");
        // parts that were left are gone on with, or begun anew
        let can_resume = session.path("out/.carom/run.new/checkpoint").exists();
        let goes_on = format!("{}{}", words.replace(" --fresh", ""), if can_resume { " --resume" } else { "" });
        let outcome = session.carom(goes_on.split(' '));
        // a study that was killed before its first part finds the earlier one in its place
        let refused = outcome.code == Some(2) && outcome.err.contains("holds another");
        assert!(outcome.code == Some(0) || refused, "{goes_on}: {}", outcome.err);
        let again = if refused { call(words).0 } else { look() };
        assert!(same(words, &again, &new), "{goes_on}, killed after {fraction:.3}: the result is another one");
    }
    killed
}

fn earlier(case: &Case) -> String {
    format!("{} {}", case.words, case.earlier()).trim().to_owned()
}

#[test]
fn a_killed_command_leaves_a_whole_result() {
    for case in [&CASES[0], &CASES[1]] {
        let killed = kill(&longer(case), &earlier(case), 3, 1);
        assert!(killed > 0, "{}: no command was killed in time", case.words);
    }
}

#[test]
#[ignore = "long: every command, killed at 20 moments each"]
fn every_killed_command_leaves_a_whole_result() {
    let figures = ["rr8029/figure-9", "rr8029/figure-11"].map(|name| format!("reproduce {name} --quick --out out"));
    for (seed, case) in CASES.iter().enumerate() {
        let killed = kill(&longer(case), &earlier(case), 20, seed as u64 + 2);
        println!("{}: {killed} of 20 killed while they ran", longer(case));
        assert!(killed > 5, "{}: {killed} were killed in time", case.words);
    }
    let killed = kill(&figures[1], &figures[0], 20, 99);
    println!("{}: {killed} of 20", figures[1]);
    assert!(killed > 5);
}
