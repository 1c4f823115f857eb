//! Every command that a page shows is run as the page has it, and ends as the page says.
//!
//! Blocks of `sh` hold commands, one per line. They run one after the other in a copy of `examples`, with the command
//! under test on the path; each must end with exit code 0, or with the one that its comment names. Blocks of any other
//! language are no commands, and a block without a language is a mistake; one whose language is followed by the name of
//! a file (`toml ball.toml`) is written to that file first, and model files among them must be good. Of commands inside
//! sentences, which have placeholders, the words and flags must exist.

use super::session::Session;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Checks the words of a command that is not run.
type Check = fn(&[&str]);

/// What a test cannot run inside itself, why, and what is checked in its place.
const NOT_RUN: [(&str, &str, Check); 3] = [
    ("cargo xtask", "it runs these tests: the chore is one that `cargo xtask help` names", chore_exists),
    ("cargo test", "it waits for the build that this test is part of: package and test exist", test_exists),
    ("cargo install", "it builds and installs: the package is where it says", package_exists),
];

/// Names and texts of all pages.
fn pages() -> Vec<(String, String)> {
    let read = |name: &str| (name.to_owned(), fs::read_to_string(Path::new(ROOT).join(name)).unwrap());
    let mut names = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    for entry in fs::read_dir(Path::new(ROOT).join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        names.extend(name.ends_with(".md").then(|| format!("docs/{name}")));
    }
    names.iter().map(|name| read(name)).collect()
}

/// Language with what follows it, number of the first line and text of each block of code.
fn blocks(text: &str) -> Vec<(&str, usize, Vec<&str>)> {
    let (mut blocks, mut open) = (Vec::new(), false);
    for (number, line) in text.lines().enumerate() {
        match line.trim_start().strip_prefix("```") {
            Some(language) if !open => {
                blocks.push((language, number + 2, Vec::new()));
                open = true;
            }
            Some(_) => open = false,
            None if open => blocks.last_mut().unwrap().2.push(line),
            None => {}
        }
    }
    assert!(!open, "a block of code does not end");
    blocks
}

fn chore_exists(words: &[&str]) {
    let help = include_str!("../../../xtask/src/main.rs").split("const HELP").nth(1).unwrap();
    let help = help.split("\";").next().unwrap();
    // placeholders in brackets are the benchmark's own
    let words: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with('[')).collect();
    let known = |line: &str| words.iter().all(|word| line.split([' ', '[', ']', '|']).any(|known| known == *word));
    assert!(help.lines().any(|line| line.starts_with("  ") && known(line)), "no chore `{}`", words.join(" "));
}

fn test_exists(words: &[&str]) {
    let after = |flag: &str| words.iter().position(|word| *word == flag).map(|at| words[at + 1]);
    let package = after("-p").expect("a package");
    package_exists(&["--path", package]);
    if let Some(test) = after("--test") {
        let tests = Path::new(ROOT).join(package).join("tests");
        assert!(tests.join(format!("{test}.rs")).is_file() || tests.join(test).join("main.rs").is_file(), "{test}");
    }
}

fn package_exists(words: &[&str]) {
    let at = words.iter().position(|word| *word == "--path").expect("a path");
    assert!(Path::new(ROOT).join(words[at + 1]).join("Cargo.toml").is_file(), "{}", words.join(" "));
}

/// Runs one line of a block; `None` where it ends as it should.
fn run(session: &Session, line: &str) -> Option<String> {
    let (command, comment) = line.split_once(" #").unwrap_or((line, ""));
    if let Some((start, _, check)) = NOT_RUN.iter().find(|(start, ..)| command.starts_with(start)) {
        let words: Vec<&str> = command[start.len()..].split_whitespace().collect();
        check(&words);
        return None;
    }
    let command = command.replace("cargo run --release -- ", "carom ");
    if !command.starts_with("carom ") {
        return Some("only `carom` and `cargo` can be shown, see the head of manual.rs".into());
    }
    let expected = comment.split_once("exit code ").map_or("0", |(_, code)| code.split_whitespace().next().unwrap());
    let folder = Path::new(env!("CARGO_BIN_EXE_carom")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", &command]).current_dir(session.path("")).env("PATH", path).stdin(Stdio::null());
    let output = shell.output().unwrap();
    let code = output.status.code().map_or("a signal".to_owned(), |code| code.to_string());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!error.contains("panicked"), "{line}: {error}");
    (code != expected).then(|| format!("ended with {code}, not {expected}: {error}"))
}

/// A copy of the examples with their problems.
fn with_examples() -> Session {
    let session = Session::new();
    for folder in ["examples", "examples/problems", "examples/robots", "examples/meshes", "examples/studies"] {
        fs::create_dir(session.path(folder)).unwrap();
        for entry in fs::read_dir(Path::new(ROOT).join(folder)).unwrap().map(Result::unwrap) {
            if entry.path().is_file() {
                fs::copy(entry.path(), session.path(folder).join(entry.file_name())).unwrap();
            }
        }
    }
    session
}

#[test]
#[cfg(unix)]
fn commands_of_all_pages_end_as_shown() {
    let page = |name: &str, text: &str| -> (usize, Vec<String>) {
        let (session, mut count, mut wrong) = (with_examples(), 0, Vec::new());
        for (info, number, lines) in blocks(text) {
            let (language, file) = info.split_once(' ').unwrap_or((info, ""));
            if language.is_empty() {
                wrong.push(format!("{name}:{number}: a block without a language; commands are `sh`"));
            }
            if !file.is_empty() {
                session.write(file, lines.join("\n") + "\n");
                let checked = file.ends_with(".toml").then(|| session.carom(["check", file]));
                let refused = checked.filter(|outcome| outcome.code != Some(0));
                wrong.extend(refused.map(|outcome| format!("{name}:{number}: {file} is refused: {}", outcome.err)));
            }
            let commands = lines.iter().enumerate().filter(|(_, line)| !line.trim_start().starts_with('#'));
            for (k, line) in commands.filter(|(_, line)| language == "sh" && !line.is_empty()) {
                count += 1;
                wrong.extend(run(&session, line).map(|why| format!("{name}:{}: `{line}` {why}", number + k)));
            }
        }
        (count, wrong)
    };
    let all = thread::scope(|scope| {
        let started: Vec<_> = pages().into_iter().map(|(name, text)| scope.spawn(move || page(&name, &text))).collect();
        started.into_iter().map(|page| page.join().unwrap()).collect::<Vec<_>>()
    });
    let wrong: Vec<String> = all.iter().flat_map(|(_, wrong)| wrong.clone()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // the front page alone has some thirty
    assert!(all.iter().map(|(count, _)| count).sum::<usize>() >= 40);
}

/// Spans of code in sentences, in one line each.
fn spans(text: &str) -> Vec<String> {
    let mut prose = String::new();
    let mut open = false;
    for line in text.lines() {
        match line.trim_start().starts_with("```") {
            true => open = !open,
            false if !open => prose += &format!("{line}\n"),
            false => {}
        }
    }
    let join = |span: &str| span.split_whitespace().collect::<Vec<_>>().join(" ");
    prose.split('`').skip(1).step_by(2).map(join).collect()
}

/// Commands in the comments of example files.
fn commands_of_examples() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(Path::new(ROOT).join("examples")).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if name.ends_with(".toml") {
            let text = fs::read_to_string(entry.path()).unwrap();
            let commands = text.lines().filter_map(|line| line.strip_prefix("# ").filter(|c| c.starts_with("carom ")));
            found.extend(commands.map(|command| (name.clone(), command.to_owned())));
        }
    }
    found
}

#[test]
fn commands_in_sentences_have_words_and_flags_that_exist() {
    let session = Session::new();
    let mut seen = 0;
    let of_pages = pages().into_iter().map(|(name, text)| (name, spans(&text)));
    let of_examples = commands_of_examples();
    assert!(of_examples.len() >= 3, "{of_examples:?}");
    for (name, list) in of_pages.chain(of_examples.into_iter().map(|(name, command)| (name, vec![command]))) {
        for span in list {
            if let Some(words) = span.strip_prefix("cargo xtask ") {
                chore_exists(&words.split_whitespace().collect::<Vec<_>>());
            }
            if let Some((package, example)) =
                span.strip_prefix("cargo run -p ").and_then(|words| words.split_once(" --example "))
            {
                let file = Path::new(ROOT).join(package).join(format!("examples/{example}.rs"));
                assert!(file.is_file(), "{name}: `{span}`: there is no {}", file.display());
            }
            let Some(rest) = span.strip_prefix("carom ") else { continue };
            let words: Vec<&str> = rest.split_whitespace().collect();
            let help = session.carom([words[0], "--help"]);
            assert_eq!(help.code, Some(0), "{name}: `{span}`: {}", help.err);
            for flag in words.iter().filter(|word| word.starts_with("--")) {
                let known = help.out.split([' ', '\n', '=', ',']).any(|word| word == *flag);
                assert!(known, "{name}: `{span}`: there is no {flag}");
            }
            seen += 1;
        }
    }
    assert!(seen >= 20, "{seen}");
}

/// The problems of the folder have the solutions that the page tells.
#[test]
fn problems_of_the_folder_have_the_solutions_of_the_page() {
    let session = with_examples();
    let exact: [(&str, &[f64]); 5] = [
        ("lcp", &[4.0 / 3.0, 7.0 / 3.0]),
        ("mlcp", &[1.0, 2.0]),
        ("relay", &[0.5, -1.0]),
        ("friction-2d", &[1.0, 0.2, 2.0, -1.0]),
        ("friction-3d", &[1.0, 0.5, 0.0]),
    ];
    for (name, solution) in exact {
        let file = format!("examples/problems/{name}.dat");
        session.succeed(["solve", &file, "--out", "s"]);
        let told: serde_json::Value = serde_json::from_str(&session.read(&format!("s/{name}.solution.json"))).unwrap();
        let lambda: Vec<f64> = told["lambda"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
        assert_eq!(lambda.len(), solution.len(), "{name}");
        assert!(lambda.iter().zip(solution).all(|(x, y)| (x - y).abs() < 1e-9), "{name}: {lambda:?}");
    }
}

/// Two attractors: the swing beside the wall, and the orbit with one impact in two periods; both in closed form.
#[test]
fn the_basin_of_the_front_page_has_two_attractors() {
    let session = Session::new();
    let words = ["--x", "u=-0.2:1:5", "--y", "u'=-1:1:5", "--transient", "60", "--json"];
    let told = session.succeed(["basin", "bistable-oscillator"].iter().chain(&words));
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let closed: [(u64, &[[f64; 2]]); 2] =
        [(1, &[[-0.107708376, 0.023873025]]), (2, &[[0.368060948, -0.476222988], [0.189395584, 0.734264897]])];
    let found = told["attractors"].as_array().unwrap();
    assert_eq!(found.len(), 2, "{told}");
    for (period, points) in closed {
        let one = found.iter().find(|attractor| attractor["period"] == period).unwrap_or_else(|| panic!("{told}"));
        let near = |point: &serde_json::Value, exact: &[f64; 2]| {
            (0..2).all(|k| (point[k].as_f64().unwrap() - exact[k]).abs() < 1e-3)
        };
        let states = one["points"].as_array().unwrap();
        // cells may meet the orbit in either of its phases
        assert!(points.iter().all(|exact| states.iter().any(|state| near(state, exact))), "{told}");
        assert!(one["cells"].as_u64().unwrap() > 0, "{told}");
    }
}
