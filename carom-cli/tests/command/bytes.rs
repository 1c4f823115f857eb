//! The same command gives the same bytes: again, on other threads, in another folder, with another locale.
#![cfg(debug_assertions)]

use super::faults::{CASES, content, prepare, same};
use super::session::Session;
use std::collections::BTreeMap;
use std::fs;

/// All files that a command leaves, with those that are hidden; times of the clock are apart.
fn files(words: &str, folder: &str, threads: Option<&str>, locale: &str) -> BTreeMap<String, Vec<u8>> {
    let session = Session::new();
    prepare(&session);
    let deep = session.path(folder);
    fs::create_dir_all(&deep).unwrap();
    for name in session.names(".") {
        let to = deep.join(&name);
        if session.path(&name).is_file() && !to.exists() {
            fs::copy(session.path(&name), to).unwrap();
        }
    }
    for name in ["a", "b", "p"].iter().filter(|_| folder != ".") {
        fs::create_dir_all(deep.join(name)).unwrap();
        for file in session.names(name) {
            fs::copy(session.path(name).join(&file), deep.join(name).join(&file)).unwrap();
        }
    }
    let mut command = session.command(words.split(' ').chain(threads.into_iter().flat_map(|n| ["--threads", n])));
    command.current_dir(&deep).env("LC_ALL", locale).env("LANG", locale).env("TZ", "Asia/Tokyo");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    let mut found = content(&deep.join("out"));
    found.extend(content(&deep.join("out.toml")));
    found.extend(content(&deep.join("figures")));
    assert!(!found.is_empty(), "{words}");
    found
}

#[test]
fn all_files_of_all_commands_have_the_same_bytes() {
    for case in CASES {
        let words = format!("{} {}", case.words, case.later).trim().to_owned();
        let study = words.contains("--fresh");
        let first = files(&words, ".", study.then_some("1"), "C");
        let second = files(&words, "d\u{e9}ep/er", study.then_some("3"), "de_DE.UTF-8");
        let differ: Vec<&String> = first.keys().filter(|name| first.get(*name) != second.get(*name)).collect();
        assert!(same(&words, &first, &second), "{words}: {differ:?}");
        // but what is called times, nothing may differ
        let timed = |name: &&&String| !name.contains("times.") && !words.starts_with("profile");
        assert_eq!(differ.iter().filter(timed).count(), 0, "{words}: {differ:?}");
    }
}
