//! Study files: the bits of the same flags, every form of values, mistakes with their places.

use super::session::{BALL, Session};
use super::studies::{fails, lines};
use serde_json::Value;

/// A sweep of the ball; places that tests look for are on lines of their own.
const STUDY: &str = r#"version = 1
model = "ball.toml"
description = "restitution"
set = { g = 2.5 }
step = 0.02
end = 1.5

[sweep]
vary.e = "0.1:0.9:5"
measure = ["final y", "impacts"]

[bifurcation]
parameter = { e = [0.2, 0.4] }
period = 0.5
transient = 3
periods = 4
"#;

/// The ball with a second parameter, in a folder beside study files.
fn session() -> Session {
    let session = Session::new();
    session.write("ball.toml", BALL.replace("e = 0.5\n", "e = 0.5\ng = 2\n").replace("\"2*y\"", "\"g*y\""));
    session.write("study.toml", STUDY);
    session
}

const FLAGS: [&str; 8] = ["sweep", "ball.toml", "--set", "g=2.5", "--step", "0.02", "--end", "1.5"];

#[test]
fn a_study_file_has_the_bytes_of_its_flags() {
    let session = session();
    session.succeed(["sweep", "study.toml"]);
    let flags = ["--vary", "e=0.1:0.9:5", "--measure", "final y", "--measure", "impacts", "--out", "flags"];
    session.succeed(FLAGS.iter().chain(&flags));
    for name in ["sweep.csv", "sweep.html", "sweep.jsonl"] {
        assert_eq!(session.read(&format!("out/study-sweep/{name}")), session.read(&format!("flags/{name}")), "{name}");
    }
    // a flag comes before the file
    session.succeed(["sweep", "study.toml", "--measure", "max y", "--set", "g=3", "--out", "other"]);
    let other = ["--vary", "e=0.1:0.9:5", "--measure", "max y", "--set", "g=3", "--out", "flags", "--fresh"];
    session.succeed(FLAGS.iter().chain(&other));
    assert_eq!(session.read("other/sweep.csv"), session.read("flags/sweep.csv"));
    assert_eq!(lines(&session, "other/sweep.csv")[0], ["run", "e", "status", "reason", "max y"]);
    // the other study of the file
    session.succeed(["bifurcation", "study.toml"]);
    let flags = ["--parameter", "e=0.2,0.4", "--period", "0.5", "--transient", "3", "--periods", "4", "--out", "b"];
    session.succeed(["bifurcation"].iter().chain(&FLAGS[1..]).chain(&flags));
    assert_eq!(session.read("out/study-bifurcation/points.csv"), session.read("b/points.csv"));
    assert!(lines(&session, "b/points.csv").len() > 4);
    // its model is seen from its folder
    std::fs::create_dir(session.path("deep")).unwrap();
    session.write("deep/study.toml", STUDY.replace("ball.toml", "../ball.toml"));
    session.succeed(["sweep", "deep/study.toml", "--out", "deep/out"]);
    assert_eq!(session.read("deep/out/sweep.csv"), session.read("out/study-sweep/sweep.csv"));
}

#[test]
fn values_have_many_forms() {
    let session = session();
    let csv = |vary: &str, more: &str| {
        session.write("forms.toml", STUDY.replace("vary.e = \"0.1:0.9:5\"", &format!("vary = {vary}\n{more}")));
        session.succeed(["sweep", "forms.toml", "--fresh", "--quiet"]);
        session.read("out/forms-sweep/sweep.csv")
    };
    let five = csv("\"e=0.1:0.9:5\"", "");
    assert_eq!(five.lines().count(), 6);
    for form in [
        "[\"e=0.1:0.9:5\"]",
        "{ e = \"0.1:0.9:5\" }",
        "{ e = [0.1, 0.3, 0.5, 0.7, 0.9] }",
        "{ e = { first = 0.1, last = 0.9, count = 5 } }",
    ] {
        assert_eq!(csv(form, ""), five, "{form}");
    }
    let grid = csv("{ e = [0.5, 0.6], g = { first = 1, last = 2, count = 3 } }", "");
    let pairs: Vec<String> = grid.lines().skip(1).map(|line| line.split(',').skip(1).take(2).collect()).collect();
    assert_eq!(pairs, ["0.51.0", "0.51.5", "0.52.0", "0.61.0", "0.61.5", "0.62.0"]);
    // the first points of Sobol's sequence in the plane: 0, 1/2, 3/4, 1/4 and 0, 1/2, 1/4, 3/4
    let points = csv("{ e = { first = 0, last = 1 }, g = \"2:6\" }", "sobol = 4\nseed = 0");
    let points: Vec<String> = points.lines().skip(1).map(|line| line.split(',').skip(1).take(2).collect()).collect();
    assert_eq!(points, ["0.02.0", "0.54.0", "0.753.0", "0.255.0"]);
    let shifted = csv("{ e = { first = 0, last = 1 }, g = \"2:6\" }", "sobol = 4\nseed = 5");
    assert!(!shifted.lines().nth(1).unwrap().starts_with("1,0.0,2.0"), "{shifted}");
    let random = csv("{ e = { first = 0, last = 1 }, g = \"2:6\" }", "random = 4\nseed = 5");
    assert_ne!(random, shifted);
}

#[test]
fn mistakes_have_places() {
    let session = session();
    let check = |old: &str, new: &str, words: &[&str]| {
        let text = STUDY.replace(old, new);
        assert_ne!(text, STUDY, "{old}");
        session.write("wrong.toml", text);
        fails(&session, &["sweep", "wrong.toml"], 2, words);
        assert!(!session.path("out").exists(), "{new} made a folder");
    };
    check("vary.e", "varyy.e", &["wrong.toml:9:1: error: sweep.varyy: unknown option `varyy` (did you mean `vary`?)"]);
    check("[sweep]", "[sweeep]", &["wrong.toml:8:2: error: sweeep: unknown key `sweeep` (did you mean `sweep`?)"]);
    check("vary.e", "vary.ee", &["wrong.toml:9:1: error: sweep.vary:", "unknown parameter `ee`", "did you mean `e`?"]);
    check("0.1:0.9:5", "0.1:0.9:x", &["wrong.toml:9:", "not a number of values"]);
    check("\"0.1:0.9:5\"", "[0.1, true]", &["wrong.toml:9:16: error: sweep.vary.e: expected a finite number"]);
    check(
        "\"0.1:0.9:5\"",
        "{ first = 0.1 }",
        &["wrong.toml:9:10: error: sweep.vary.e.last: the field `last` is missing"],
    );
    check("final y", "finl y", &["wrong.toml:10:11: error: sweep.measure:", "did you mean `final`?"]);
    check(
        "measure =",
        "random = -3\nmeasure =",
        &["wrong.toml:10:10: error: sweep.random: -3 is no whole number from 1"],
    );
    check("measure =", "random = 3\nsobol = 3\nmeasure =", &["wrong.toml:11:9: error: sweep.sobol:", "--random"]);
    check("vary.e = \"0.1:0.9:5\"\n", "", &["wrong.toml:8:1: error: sweep: --vary", "is missing"]);
    check("g = 2.5", "gg = 2.5", &["wrong.toml:4:14: error: set.gg: unknown parameter `gg`", "did you mean `g`?"]);
    check("step = 0.02", "step = \"0.02*x\"", &["wrong.toml:5:8: error: step:"]);
    check(
        "step = 0.02",
        "scheme = \"moreau-jeam\"",
        &["wrong.toml:5:10: error: scheme:", "did you mean \"moreau-jean\"?"],
    );
    check("ball.toml", "bal.toml", &["wrong.toml:2:9: error: model: there is no model file `bal.toml`"]);
    check("version = 1", "version = 2", &["wrong.toml:1:11: error: version: version 2"]);
    check("end = 1.5", "end = 1.5.2", &["wrong.toml:6:", "TOML"]);
    // mistakes of a flag are those of the command line
    fails(&session, &["sweep", "study.toml", "--vary", "ee=1:2:3"], 2, &["error: --vary: unknown parameter `ee`\n"]);
    fails(&session, &["sweep", "study.toml", "--set", "gg=1"], 2, &["--set:1:1: error:"]);
    fails(&session, &["lyapunov", "study.toml"], 2, &["study.toml:1:1: error: lyapunov: there is no table [lyapunov]"]);
    fails(&session, &["run", "study.toml"], 2, &["`study.toml` is a study file", "carom sweep study.toml"]);
    // a model with mistakes of its own
    session.write("ball.toml", BALL.replace("restitution", "restitutoin"));
    fails(&session, &["sweep", "study.toml"], 2, &["ball.toml:16:1: error:"]);
}

#[test]
fn study_files_are_written_checked_and_described() {
    let session = session();
    assert!(session.succeed(["new", "mine", "--kind", "study"]).contains("carom sweep mine.toml"));
    let out = session.succeed(["check", "mine.toml"]);
    assert!(out.starts_with("mine.toml: good\n") && out.contains("sweep        10 runs"), "{out}");
    session.succeed(["sweep", "mine.toml"]);
    assert_eq!(lines(&session, "out/mine-sweep/sweep.csv").len(), 11);
    let out = session.succeed(["check", "study.toml"]);
    assert!(out.contains("sweep        5 runs") && out.contains("bifurcation  2 values"), "{out}");
    session.write("wrong.toml", STUDY.replace("transient = 3", "transient = \"3\""));
    let outcome = session.carom(["check", "wrong.toml", "--json"]);
    let found: Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!((outcome.code, &found[0]["field"]), (Some(2), &"bifurcation.transient".into()));
    let schema: Value = serde_json::from_str(&session.succeed(["schema", "study"])).unwrap();
    for key in ["version", "model", "set", "scheme", "sweep", "bifurcation", "orbit"] {
        assert!(schema["properties"].get(key).is_some(), "{key}");
    }
    assert!(schema["properties"]["sweep"]["properties"]["vary"]["anyOf"].is_array());
}
