//! A folder of its own in which the command is called.

use super::table::Table;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A ball falls on a floor; positions that tests look for are on lines of their own.
pub const BALL: &str = r#"version = 1
name = "ball"

[parameters]
e = 0.5

[model]
kind = "lagrangian"
coordinates = ["y"]
kinetic = "y'^2/2"
potential = "2*y"

[[contact]]
name = "floor"
gap = "y"
restitution = "e"

[initial]
y = 1

[simulation]
end = 2
step = 0.01
"#;

/// An empty folder, removed at the end.
pub struct Session {
    folder: PathBuf,
}

/// What a command left.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Session {
    pub fn new() -> Session {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("carom-command-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Session { folder }
    }

    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Names in a folder, sorted; none where the folder does not exist. That of carom's own list is left out.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).into_iter().flatten();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.retain(|name| name != ".carom");
        names.sort();
        names
    }

    pub fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_carom"));
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    /// Calls the command. Whatever happens, it must not panic.
    pub fn carom<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Outcome {
        let output = self.command(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the command prints UTF-8");
        let outcome = Outcome { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) };
        assert!(!outcome.err.contains("panicked"), "{}", outcome.err);
        outcome
    }

    /// Calls the command and expects it to succeed without a word on standard error.
    pub fn succeed<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> String {
        let outcome = self.carom(arguments);
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{}", outcome.out);
        outcome.out
    }

    /// Starts the command without waiting for it.
    pub fn start<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    pub fn summary(&self, folder: &str) -> Value {
        serde_json::from_str(&self.read(&format!("{folder}/summary.json"))).unwrap()
    }

    pub fn table(&self, name: &str) -> Table {
        Table::read(&self.path(name))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
