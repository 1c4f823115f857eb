//! Single files that the user names: whole or not there, and nothing is overwritten that was not meant to be.

use super::{FolderError, disk};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// Whether a file that is there may be overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// No.
    Never,
    /// Where it has the very bytes that are written: a command may be given again.
    Same,
    /// Where these words stand in its first bytes: carom wrote it.
    Marked(&'static str),
    /// Yes: the user asked for it.
    Always,
}

/// Bytes in which words are looked for.
const HEAD: u64 = 4096;

/// Whether a file may be written, before anything is computed for it.
///
/// # Errors
/// Fails where its folder is not there or read-only, and where a file is there that must stay.
pub fn check_file(path: &Path, replace: Replace, inputs: &[&Path]) -> Result<(), FolderError> {
    may_write(path, replace, inputs)?;
    let part = aside(path);
    drop(disk::Output::create(&part).map_err(|error| renamed(error, path))?);
    disk::remove(&part)
}

/// Writes a file beside its place, brings it to the disk and renames it.
///
/// # Errors
/// Fails as [`check_file`] does, and where the file cannot be written: then there is none, or the earlier one.
pub fn write_file(
    path: &Path,
    replace: Replace,
    inputs: &[&Path],
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), FolderError> {
    may_write(path, replace, inputs)?;
    let part = aside(path);
    let mut out = BufWriter::new(disk::Output::create(&part).map_err(|error| renamed(error, path))?);
    let written = fill(&mut out).and_then(|()| out.flush()).and_then(|()| out.get_ref().sync());
    let written = written.map_err(FolderError::io("write", path)).and_then(|()| match replace {
        Replace::Same if path.exists() && !equal(&part, path) => Err(FolderError::Exists { path: path.to_path_buf() }),
        _ => disk::rename(&part, path),
    });
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}

/// Whether two files have the same bytes.
fn equal(a: &Path, b: &Path) -> bool {
    let sizes = [a, b].map(|path| path.metadata().map(|found| found.len()).ok());
    sizes[0].is_some() && sizes[0] == sizes[1] && fs::read(a).is_ok_and(|a| fs::read(b).is_ok_and(|b| a == b))
}

/// The user knows the name of the file alone.
fn renamed(error: FolderError, path: &Path) -> FolderError {
    match error {
        FolderError::Io { source, .. } => FolderError::Io { action: "write", path: path.to_path_buf(), source },
        other => other,
    }
}

fn may_write(path: &Path, replace: Replace, inputs: &[&Path]) -> Result<(), FolderError> {
    let Ok(found) = path.metadata() else { return Ok(()) };
    let path = path.to_path_buf();
    if !found.is_file() {
        return Err(FolderError::NoFile { path });
    }
    let same = |input: &&Path| fs::canonicalize(input).is_ok_and(|a| fs::canonicalize(&path).is_ok_and(|b| a == b));
    if inputs.iter().any(same) {
        return Err(FolderError::Input { path });
    }
    match replace {
        Replace::Always | Replace::Same => Ok(()),
        Replace::Never => Err(FolderError::Exists { path }),
        Replace::Marked(words) => {
            let mut head = Vec::new();
            let read = File::open(&path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
            let marked = read.is_ok() && head.windows(words.len()).any(|part| part == words.as_bytes());
            if marked { Ok(()) } else { Err(FolderError::Foreign { path }) }
        }
    }
}

/// The name of a file while it is written.
fn aside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".carom-new");
    path.with_file_name(name)
}
