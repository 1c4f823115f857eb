//! Documents and comments: links lead somewhere, and lines are short enough to read side by side.

use std::fs;
use std::path::{Path, PathBuf};

/// Files of the repository with this extension; build folders and results are left out.
fn files(extension: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut folders, mut found) = (vec![root], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !name.starts_with('.') && !name.starts_with("target") && name != "out" {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    assert!(found.len() > 5, "only {} files end in .{extension}", found.len());
    found
}

/// Rows of tables cannot be broken.
#[test]
fn lines_of_documents_have_at_most_120_characters() {
    let mut long = Vec::new();
    for (path, text) in files("md") {
        for (k, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('|')) {
            if line.chars().count() > 120 {
                long.push(format!("{}:{}", path.display(), k + 1));
            }
        }
    }
    assert!(long.is_empty(), "{long:#?}");
}

/// Blocks of equations and rows of tables cannot be broken.
#[test]
fn lines_of_comments_have_at_most_120_characters() {
    let (mut long, mut seen) = (Vec::new(), 0);
    for (path, text) in files("rs") {
        let mut is_block = false;
        for (k, line) in text.lines().enumerate() {
            let Some(comment) = line.trim_start().strip_prefix("//") else {
                is_block = false;
                continue;
            };
            seen += 1;
            let comment = comment.trim_start_matches(['/', '!']).trim_start();
            is_block ^= comment.starts_with("```");
            if !is_block && !comment.starts_with('|') && line.chars().count() > 120 {
                long.push(format!("{}:{}", path.display(), k + 1));
            }
        }
    }
    assert!(seen > 1000, "the search found only {seen} comments");
    assert!(long.is_empty(), "{long:#?}");
}

/// Targets of `[text](target)` that are files of the repository.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
    targets.map(|target| target.split('#').next().unwrap_or("")).filter(|t| !t.is_empty() && !t.contains("://"))
}

#[test]
fn links_of_documents_lead_to_files() {
    let (mut dead, mut seen) = (Vec::new(), 0);
    for (path, text) in files("md") {
        for target in links(&text) {
            seen += 1;
            if !path.parent().unwrap().join(target).exists() {
                dead.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(seen > 10, "the search found only {seen} links");
    assert!(dead.is_empty(), "{dead:#?}");
}
