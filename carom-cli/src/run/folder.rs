//! The folder of a run: one run at a time, nothing of an earlier one.

use super::recording;
use crate::failure::Failure;
use carom_analysis::results::ResultError;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

/// A folder that no other run writes to while this lives.
pub struct Claim {
    _lock: Option<File>,
}

/// Claims the folder, which is made where needed, and opens the files of a run in it.
///
/// Two runs at once would merge each other's parts. The lock is one on the folder itself and leaves no file; where the
/// system has no such locks there is none.
pub fn claim<R>(folder: &Path, open: impl FnOnce() -> Result<R, ResultError>) -> Result<(Claim, R), Failure> {
    let fresh: Vec<&Path> = folder.ancestors().take_while(|path| !path.exists()).collect();
    fs::create_dir_all(folder)
        .map_err(|e| Failure::Environment(format!("cannot create the directory `{}`: {e}", folder.display())))?;
    let lock = File::open(folder).ok();
    if let Some(Err(TryLockError::WouldBlock)) = lock.as_ref().map(File::try_lock) {
        let folder = folder.display();
        return Err(Failure::Environment(format!(
            "another run is writing to `{folder}`; choose another one with --out"
        )));
    }
    let opened = open().and_then(|files| forget_report(folder).map(|()| files));
    let files = opened.map_err(|error| {
        for made in &fresh {
            // removes nothing but empty folders
            let _ = fs::remove_dir(made);
        }
        recording(error, folder)
    })?;
    Ok((Claim { _lock: lock }, files))
}

/// A run may end without a report; that of an earlier run must not pass for its own.
fn forget_report(folder: &Path) -> Result<(), ResultError> {
    let path = folder.join("report.html");
    match fs::remove_file(&path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(ResultError::Io { action: "remove", path, source })
        }
        _ => Ok(()),
    }
}
