//! Bad input: exit code 2, the place and a hint on standard error, nothing else anywhere.

use super::session::{BALL, Session};
use std::fs;

/// Line and column of a text in the model, as an editor counts them.
fn place(model: &str, what: &str) -> String {
    let before = model.split_once(what).unwrap_or_else(|| panic!("{what} is not in the model")).0;
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
    format!("model.toml:{line}:{column}: error: ")
}

/// Runs `model.toml` and returns what was complained about.
fn refused(session: &Session, what: &str, arguments: &[&str]) -> String {
    for command in ["run", "check"] {
        let outcome = session.carom([command, "model.toml"].iter().chain(arguments));
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(2), ""), "{what}: {}", outcome.err);
        assert!(!session.path("out").exists(), "{what} made a folder");
    }
    session.carom(["run", "model.toml"].iter().chain(arguments)).err
}

#[test]
fn mistakes_in_the_text_are_pointed_at() {
    // what is replaced, by what, where the finger points, and what the hint says
    let cases = [
        ("restitution = \"e\"", "restitutoin = 0.5", "restitutoin", "did you mean `restitution`?"),
        ("[simulation]", "[simulation", "\nend = 2", "TOML"),
        ("step = 0.01", "step = -0.01", "-0.01", "not positive"),
        ("step = 0.01", "step = \"1/(e - 0.5)\"", "\"1/(e - 0.5)\"", "finite"),
        ("restitution = \"e\"", "restitution = 2", "2\n\n[initial]", "[0, 1]"),
        ("end = 2", "end = 2\nscheme = \"moreau-jaen\"", "\"moreau-jaen\"", "did you mean \"moreau-jean\"?"),
        ("end = 2", "end = 2\nsolver = { name = \"nsgs\", tolerence = 1 }", "tolerence", "did you mean `tolerance`?"),
        ("gap = \"y\"", "gap = \"z\"", "z\"", "unknown name `z`"),
        ("gap = \"y\"", "gap = \"y +\"", "\"\nrestitution", "found the end"),
        ("version = 1", "version = 7", "7", "version 1"),
        ("kind = \"lagrangian\"", "kind = \"lagrange\"", "\"lagrange\"", "did you mean \"lagrangian\"?"),
    ];
    let session = Session::new();
    for (old, new, at, hint) in cases {
        let model = BALL.replacen(old, new, 1);
        assert_ne!(model, BALL, "{old} is not in the model");
        session.write("model.toml", &model);
        let err = refused(&session, new, &[]);
        let start = place(&model, at);
        assert!(err.starts_with(&start), "{new}: expected {start}, got {err}");
        assert!(err.contains(hint), "{new}: expected a word of {hint:?}, got {err}");
        let colons: Vec<&str> = err.splitn(4, ':').collect();
        assert!(colons[1].parse::<u32>().is_ok() && colons[2].parse::<u32>().is_ok(), "{err}");
    }
}

#[test]
fn files_that_are_no_models_are_refused() {
    let session = Session::new();
    for (what, content, start) in [
        ("an empty file", &b""[..], "model.toml:1:1: error: the file is empty (`carom new"),
        ("binary garbage", b"\x7fELF\x02\x01\x00\xff\xfe\x80", "model.toml:1:"),
        ("text with a NUL", b"version = 1\x00\n", "model.toml:1:"),
        ("a lonely byte order mark", b"\xef\xbb\xbf", "model.toml:1:1: error: "),
    ] {
        session.write("model.toml", content);
        let err = refused(&session, what, &[]);
        assert!(err.starts_with(start), "{what}: {err}");
    }
    fs::remove_file(session.path("model.toml")).unwrap();
    let err = refused(&session, "a missing file", &[]);
    assert!(err.starts_with("model.toml: error: the file does not exist (`carom new"), "{err}");
    fs::create_dir(session.path("model.toml")).unwrap();
    assert!(refused(&session, "a directory", &[]).starts_with("model.toml: error: this is a directory"));
    let err = session.carom(["run", "rockin-block"]).err;
    assert!(err.contains("did you mean the example `rocking-block`?"), "{err}");
}

/// A built-in example is there: what is wrong with an option has a hint of its own.
#[test]
fn options_of_built_in_examples_have_their_own_hints() {
    let session = Session::new();
    for (option, value, hint) in [
        ("--set", "e=1.5", "[0, 1]"),
        ("--set", "E=0.5", "did you mean `e`?"),
        ("--scheme", "mj", "valid schemes: moreau-jean, "),
        ("--scheme", "moreau-jaen", "did you mean \"moreau-jean\"?"),
        ("--adaptive", "foo", "`foo` is no tolerance (write a tolerance such as 1e-6"),
        ("--adaptive", "{ tolerance = }", "write a tolerance"),
    ] {
        let outcome = session.carom(["run", "bouncing-ball", option, value]);
        assert_eq!(outcome.code, Some(2), "{option} {value}");
        let err = outcome.err;
        assert!(err.contains(hint) && !err.contains("the example") && !err.contains("boolean"), "{value}: {err}");
    }
}

#[test]
fn values_of_the_command_line_are_pointed_at_too() {
    let session = Session::new();
    session.write("model.toml", BALL);
    for (option, value, start, hint) in [
        ("--set", "restitution=1", "--set:1:1: error: ", "parameters of the file: e"),
        ("--set", "E=1", "--set:1:1: error: ", "did you mean `e`?"),
        ("--set", "e=1 +", "--set:1:6: error: ", "found the end"),
        ("--set", "e=1.5", "model.toml:16:15: error: ", "[0, 1]"),
        ("--set", "e=0/0", "--set:1:3: error: ", "finite"),
        ("--end", "0", "--end:1:1: error: ", "not after the start"),
        ("--end", "inf", "--end:1:1: error: ", "finite"),
        ("--solver", "lemk", "--solver:1:1: error: ", "did you mean \"lemke\"?"),
    ] {
        let err = refused(&session, value, &[option, value]);
        assert!(err.starts_with(start) && err.contains(hint), "{option} {value}: {err}");
    }
    for (option, value, hint) in [
        ("--step", "0", "not positive"),
        ("--step", "-1", "not positive"),
        ("--step", "NaN", "finite"),
        ("--step", "1e-17", "steps are too many"),
        ("--steps", "0", "whole number"),
        ("--steps", "18446744073709551615", "too many"),
        ("--scheme", "moreau-jaen", "did you mean \"moreau-jean\"?"),
        ("--scheme", "{ name = \"moreau-jean\", theta = 2 }", "[0, 1]"),
        ("--scheme", "{ name = ", "unclosed"),
    ] {
        let outcome = session.carom(["run", "model.toml", option, value]);
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(2), ""), "{option} {value}: {}", outcome.err);
        assert!(outcome.err.starts_with(&format!("{option}:1:")), "{option} {value}: {}", outcome.err);
        assert!(outcome.err.contains(hint), "{option} {value}: {}", outcome.err);
    }
    assert!(!session.path("out").exists());
}

#[test]
fn wrong_usage_is_explained() {
    let session = Session::new();
    session.write("model.toml", BALL);
    let cases: &[(&[&str], &str)] = &[
        (&["run", "model.toml", "--set", "e"], "NAME=VALUE"),
        (&["run", "model.toml", "--set", "=1"], "NAME=VALUE"),
        (&["run", "model.toml", "--set", "e="], "NAME=VALUE"),
        (&["run", "model.toml", "--every", "0"], "--every"),
        (&["run", "model.toml", "--steps", "ten"], "--steps"),
        (&["run", "model.toml", "--steps", "10", "--step", "0.1"], "cannot be used with"),
        (&["run", "model.toml", "--columns", "q.x"], "did you mean `q.y`?"),
        (&["run", "model.toml", "--columns", "q.y,"], "there are t, q.y, v.y"),
        (&["run", "model.toml", "--colums", "q.x"], "--columns"),
        (&["run"], "<FILE>"),
        (&["run", ""], "<FILE>"),
        (&["run", "model.toml", "--out", ""], "--out"),
        (&["show", "moro-jean"], "did you mean `moreau-jean`?"),
        (&["show", "x"], "moreau-jean"),
        (&["list", "scheme"], "schemes"),
        (&["new", "x", "--from", "rocking-blok"], "did you mean `rocking-block`?"),
        (&["new", ""], "name"),
        (&["new", "folder/"], "name"),
        (&["dance"], "Usage"),
    ];
    for (arguments, hint) in cases {
        let outcome = session.carom(*arguments);
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(2), ""), "{arguments:?}: {}", outcome.err);
        assert!(outcome.err.contains(hint), "{arguments:?}: {}", outcome.err);
    }
    assert_eq!(session.carom::<&str>([]).code, Some(2));
    assert_eq!(session.names("."), ["model.toml"]);
}

/// Tolerances below rounding, limits that are no numbers, times that are nothing beside a run or a step.
#[test]
fn nonsense_is_refused_with_a_reason() {
    let session = Session::new();
    let cases: [(&[&str], &str); 6] = [
        (&["run", "bouncing-ball", "--adaptive", "1e-300"], "below the rounding of coordinates"),
        (
            &["basin", "bistable-oscillator", "--x", "u=0:1:3", "--y", "u'=0:1:3", "--escape", "nan"],
            "it must be a finite number",
        ),
        (&["orbit", "chaotic-oscillator", "--period", "1e-300"], "nothing beside the run"),
        (&["lyapunov", "chaotic-oscillator", "--interval", "1e-300"], "nothing beside the run"),
        (&["lyapunov", "chaotic-oscillator", "--interval", "1e-5", "--method", "perturbation"], "shorter than a step"),
        (&["solve", "any_lcp.dat", "--tolerance", "1e-300"], "below the rounding of numbers"),
    ];
    for (words, reason) in cases {
        let outcome = session.carom(words);
        assert!(outcome.code == Some(2) && outcome.err.contains(reason), "{words:?}: {outcome:?}");
        assert!(session.names(".").iter().all(|name| name != "out"), "{words:?}: nothing is made for it");
    }
}
