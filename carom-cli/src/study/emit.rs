//! Job scripts: the shards of a study as other programs start them.
//!
//! A script calls itself with the number of a shard, so that no shell has to quote a command twice. The last command
//! joins: it computes what is missing, so that a script that was cut short is simply started again.

use clap::ValueEnum;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;

/// Who starts the shards.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// The processors of this machine: GNU parallel, or xargs where it is missing.
    Parallel,
    /// A batch queue: an array of SLURM jobs, and a last one that joins.
    Slurm,
}

/// Flags that are not those of the shards, and whether they have a value.
const OWN: [(&str, bool); 2] = [("--emit", true), ("--shards", true)];

/// Flags that the shards do not have either.
const LAST: [(&str, bool); 7] = [
    ("--threads", true),
    ("--shard", true),
    ("--figures", true),
    ("--json", false),
    ("--open", false),
    ("--quiet", false),
    ("-q", false),
];

/// Words of the command line without some flags.
fn without(words: &[String], flags: &[(&str, bool)]) -> Vec<String> {
    let (mut kept, mut skip) = (Vec::new(), false);
    for word in words {
        if std::mem::take(&mut skip) {
            continue;
        }
        match flags.iter().find(|(flag, _)| word == flag || word.starts_with(&format!("{flag}="))) {
            Some((flag, has_value)) => skip = *has_value && word == flag,
            None => kept.push(word.clone()),
        }
    }
    kept
}

/// A word for the shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

fn line(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// The script of a command line, whose first word is the program, for a folder in which it is called.
pub fn script(emit: Emit, words: &[OsString], folder: &Path, shards: usize) -> String {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (program, words) = words.split_first().map_or(("carom", &[][..]), |(first, rest)| (first.as_str(), rest));
    let join = without(words, &OWN);
    let study = join.first().map_or("study", String::as_str);
    let shard = line(&without(&join, &LAST));
    let (join, folder, program) = (line(&join), quoted(&folder.to_string_lossy()), quoted(program));
    let version = env!("CARGO_PKG_VERSION");
    let mut text = String::from("#!/bin/sh\n");
    // writing to a text does not fail
    let _ = match emit {
        Emit::Parallel => write!(
            text,
            "\
# {shards} shards of a {study}, JOBS of them at a time (2 by default), and their result at the end; by carom {version}.
# What was computed is not computed again: after a break start this file once more.
set -eu
self=$(cd \"$(dirname \"$0\")\" && pwd)/$(basename \"$0\")
cd {folder}
carom=${{CAROM:-{program}}}
if [ $# -gt 0 ]; then
    exec \"$carom\" {shard} --quiet --threads 1 --shard \"$1/{shards}\"
fi
shards() {{ k=1; while [ \"$k\" -le {shards} ]; do echo \"$k\"; k=$((k + 1)); done; }}
if command -v parallel >/dev/null 2>&1; then
    shards | parallel -j \"${{JOBS:-2}}\" --halt soon,fail=1 sh \"'$self'\"
else
    shards | xargs -n 1 -P \"${{JOBS:-2}}\" sh \"$self\"
fi
exec \"$carom\" {join}
"
        ),
        Emit::Slurm => write!(
            text,
            "\
#SBATCH --job-name=carom-{study}
#SBATCH --array=1-{shards}
#SBATCH --cpus-per-task=1
#SBATCH --output=carom-{study}-%A-%a.txt
# {shards} shards of a {study}, and a job that joins them; by carom {version}. Add lines of your queue above, then
# `sh` this file: it submits itself. What was computed is not computed again: after a break submit it once more.
set -eu
carom=${{CAROM:-{program}}}
if [ \"${{1:-}}\" = join ]; then
    cd {folder}
    exec \"$carom\" {join}
fi
if [ -n \"${{SLURM_ARRAY_TASK_ID:-}}\" ]; then
    cd {folder}
    exec \"$carom\" {shard} --quiet --threads \"${{SLURM_CPUS_PER_TASK:-1}}\" --shard \"$SLURM_ARRAY_TASK_ID/{shards}\"
fi
self=$(cd \"$(dirname \"$0\")\" && pwd)/$(basename \"$0\")
array=$(sbatch --parsable \"$self\")
sbatch --job-name=carom-{study}-join --dependency=\"afterany:${{array%%;*}}\" --wrap \"sh '$self' join\"
"
        ),
    };
    text
}
