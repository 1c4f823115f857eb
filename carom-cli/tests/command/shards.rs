//! Studies in several processes: shards that are killed, writers that complement each other, job scripts; the result is
//! that of one process, byte by byte.
#![cfg(unix)]

use super::session::{BALL, Session};
use super::studies::fails;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const PARTS: [&str; 3] = ["sweep.csv", "sweep.html", "sweep.jsonl"];

/// Runs that take some milliseconds each, and what one process makes of them in the folder `serial`.
fn session(steps: usize) -> (Session, Vec<String>) {
    let session = Session::new();
    session.write("ball.toml", BALL.replace("step = 0.01", &format!("steps = {steps}")));
    session.write("study.toml", "version = 1\nmodel = \"ball.toml\"\n[sweep]\nvary.e = \"0:0.9:60\"\n");
    session.succeed(["sweep", "study.toml", "--out", "serial", "--threads", "1", "--quiet"]);
    let serial = PARTS.map(|name| session.read(&format!("serial/{name}")));
    (session, serial.into())
}

/// The command without a shard joins to the bytes of one process, without computing anything.
fn joins(session: &Session, serial: &[String], computed: bool) {
    let out = session.succeed(["sweep", "study.toml", "--out", "out", "--threads", "1"]);
    assert!(computed || out.contains("60 of 60 runs are there already"), "{out}");
    for (name, serial) in PARTS.iter().zip(serial) {
        assert!(session.read(&format!("out/{name}")) == *serial, "{name} differs");
    }
    assert_eq!(session.names("out"), PARTS, "files of shards stay");
}

fn shard(session: &Session, which: &str) {
    session.succeed(["sweep", "study.toml", "--out", "out", "--threads", "1", "--quiet", "--shard", which]);
}

#[test]
fn a_killed_shard_loses_no_more_than_its_unit() {
    let (session, serial) = session(20_000);
    ["1/3", "3/3"].iter().for_each(|which| shard(&session, which));
    let words = ["sweep", "study.toml", "--out", "out", "--threads", "1", "--quiet", "--shard", "2/3"];
    let mut child = session.start(words);
    let file = session.path("out/sweep.2-of-3.jsonl");
    let rows = || fs::read_to_string(&file).map_or(0, |text| text.lines().count());
    while rows() < 5 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let there = rows();
    assert!((5..21).contains(&there), "killed after {there} of 21 lines");
    // a row that was cut in the middle is none: not even one that reads as a number
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, &text[..text.trim_end().len() - 4]).unwrap();
    joins(&session, &serial, true);
}

#[test]
fn writers_complement_each_other() {
    let (session, serial) = session(20_000);
    let words = ["sweep", "study.toml", "--out", "out", "--threads", "1", "--quiet", "--shard", "auto"];
    let children: Vec<_> = (0..3).map(|_| session.start(words)).collect();
    children.into_iter().for_each(|mut child| assert!(child.wait().unwrap().success()));
    let files: Vec<String> = session.names("out");
    assert!(files.iter().all(|name| name.starts_with("sweep.auto-")), "{files:?}");
    let rows: Vec<usize> = files.iter().map(|name| session.read(&format!("out/{name}")).lines().count() - 1).collect();
    // all that is done twice was on its way when somebody looked, which on a busy machine is much (found: 124; without
    // looks it is 180); who starts late there finds less to do
    let all = rows.iter().sum::<usize>();
    assert!((60..150).contains(&all) && rows.iter().filter(|rows| **rows > 0).count() > 1, "{rows:?}");
    // one more has nothing to do
    shard(&session, "auto");
    joins(&session, &serial, false);
}

#[test]
fn rows_of_something_else_are_refused() {
    let (session, serial) = session(50);
    ["1/2", "2/2"].iter().for_each(|which| shard(&session, which));
    let file = "out/sweep.2-of-2.jsonl";
    let text = session.read(file);
    let join = ["sweep", "study.toml", "--out", "out"];
    for (old, new, why) in [
        ("\"carom\":\"", "\"carom\":\"9.", "carom 9."),
        ("\"model\":\"", "\"model\":\"9", "its model is another one"),
        ("\"seed\":1", "\"seed\":2", "other values of seed"),
    ] {
        assert!(text.contains(old), "{old} is not in {text}");
        session.write(file, text.replacen(old, new, 1));
        fails(&session, &join, 2, &["sweep.2-of-2.jsonl` holds another sweep", why, "--fresh"]);
    }
    session.write(file, "mine");
    fails(&session, &join, 2, &["sweep.2-of-2.jsonl", "not a file that carom wrote"]);
    // two rows of one unit must be equal, and are once
    let other = session.read("out/sweep.1-of-2.jsonl").lines().nth(3).unwrap().to_owned() + "\n";
    session.write(file, format!("{text}{}", other.replace("[", "[77")));
    fails(&session, &join, 2, &["two rows of one unit", "differ"]);
    session.write(file, format!("{text}{other}"));
    joins(&session, &serial, false);
}

/// Job scripts, with and without what they start.
#[test]
fn job_scripts_run_the_shards_and_join_them() {
    let (session, serial) = session(50);
    let shell = |script: &str, more: &[(&str, &str)]| {
        let mut shell = Command::new("sh");
        // from another folder: the script knows its own
        shell.arg(session.path(script)).current_dir(std::env::temp_dir()).stdin(Stdio::null());
        let output = shell.envs(more.iter().copied()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{script}: {text}");
    };
    let emit = |what: &str| {
        let words = ["sweep", "study.toml", "--out", "out", "--emit", what, "--shards", "3", "--threads", "1"];
        let script = session.succeed(words);
        assert!(!session.path("out").exists(), "--emit computed something");
        session.write("job 1.sh", &script);
        script
    };
    emit("parallel");
    shell("job 1.sh", &[]);
    joins(&session, &serial, false);
    fs::remove_dir_all(session.path("out")).unwrap();
    // a queue: `sbatch` that runs its jobs at once
    let script = emit("slurm");
    assert!(script.starts_with("#!/bin/sh\n#SBATCH ") && script.contains("#SBATCH --array=1-3\n"), "{script}");
    session.write("sbatch", SBATCH);
    assert!(Command::new("chmod").arg("+x").arg(session.path("sbatch")).status().unwrap().success());
    let path = format!("{}:{}", session.path("").display(), std::env::var("PATH").unwrap());
    shell("job 1.sh", &[("PATH", &path)]);
    assert_eq!(session.read("submitted"), "array of 3\nafterany:17\n");
    joins(&session, &serial, false);
    // mistakes are told before a queue has them
    fails(&session, &["sweep", "study.toml", "--emit", "slurm", "--vary", "z=1:2:3"], 2, &["unknown parameter `z`"]);
    assert!(Path::new(&session.path("out/sweep.csv")).exists());
}

/// What SLURM's command does with the scripts of these tests.
const SBATCH: &str = r#"#!/bin/sh
set -eu
notes=$(dirname "$0")/submitted
case "$1" in
--parsable)
    count=$(sed -n 's/^#SBATCH --array=1-//p' "$2")
    echo "array of $count" >>"$notes"
    k=1
    while [ "$k" -le "$count" ]; do SLURM_ARRAY_TASK_ID=$k sh "$2"; k=$((k + 1)); done
    echo "17;cluster" ;;
*)
    for word in "$@"; do case "$word" in --dependency=*) echo "${word#*=}" >>"$notes" ;; esac; last=$word; done
    sh -c "$last" ;;
esac
"#;
