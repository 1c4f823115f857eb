//! The folder of results: the one way in which commands write files.
//!
//! ```text
//! Folder::claim ── check names ── Draft: files aside ── sync ── rename: whole ── each file to its place ── manifest
//!     lock           before            DIR/.carom/        │                            │
//!                   computing           WHO.new       before this the            after this the new
//!                                                   earlier result stays       one is put in place
//! ```
//!
//! - **Nothing is lost.** Files are written into `DIR/.carom/WHO.new`, brought to the disk, and that folder is renamed
//!   to `WHO.whole` at once. From then on the new result counts: its files are renamed to their places, and where a
//!   crash comes between, the next command that looks into the folder goes on with it. A killed command leaves what it
//!   had in `WHO.new`, and the earlier result as it was.
//! - **Nothing of others is touched.** `DIR/.carom/manifest.json` lists what carom has written, with marks. A file
//!   that is not listed, or was changed since, is refused before anything is computed, and so is an input.
//! - **One writer.** Commands with one result lock the folder; studies share it and lock their file of parts.
//! - **Equal names are kept apart**: `x.csv`, `x-2.csv`.

pub(crate) mod disk;
mod draft;
mod manifest;
mod single;

pub use draft::Draft;
pub use single::{Replace, check_file, write_file};

use manifest::{Manifest, Owner};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Version of result files; those of the same version and of the one before are read.
pub const FORMAT: u32 = 1;

/// The folder inside a folder of results that belongs to carom.
const ROOM: &str = ".carom";

/// Files of the room that are made with a claim.
const LOCKS: [&str; 2] = ["lock", "swap"];

/// Why results cannot be written to a folder, or read from it.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The file system refuses.
    #[error("cannot {action} `{}`: {source}", path.display())]
    Io {
        /// What was tried, e.g. `create`.
        action: &'static str,
        /// File or folder that it happened to.
        path: PathBuf,
        /// Reason that the system gives.
        source: io::Error,
    },
    /// Another command writes there.
    #[error("another {who} is writing to `{}`; choose another one with --out", path.display())]
    InUse {
        /// The kind of command that asks.
        who: String,
        /// The folder.
        path: PathBuf,
    },
    /// A folder, or something else that is no file, has the name of a result.
    #[error("cannot write `{}`: it is there and is no file", path.display())]
    NoFile {
        /// What is in the way.
        path: PathBuf,
    },
    /// A file that carom did not write.
    #[error("`{}` is not a file that carom wrote, and is not overwritten", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A file that was changed after carom had written it.
    #[error("`{}` was changed since carom wrote it, and is not overwritten", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A file that is there.
    #[error("`{}` exists already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A file that the command reads.
    #[error("`{}` is an input of this command, and is not overwritten", path.display())]
    Input {
        /// The file.
        path: PathBuf,
    },
    /// A run cannot be taken up again.
    #[error("the checkpoint in `{}` cannot be used: {reason}", path.display())]
    Checkpoint {
        /// The folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Files of another version, or none of carom's.
    #[error("cannot use `{}`: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl FolderError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FolderError + use<> {
        let path = path.to_path_buf();
        move |source| FolderError::Io { action, path, source }
    }

    /// What to do, where the user is to blame and not the system.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            FolderError::Foreign { .. } | FolderError::Changed { .. } => {
                Some("choose another folder with --out, or move the file")
            }
            FolderError::Input { .. } => Some("choose another folder or file for the results"),
            FolderError::Exists { .. } => Some("choose another name, or overwrite it with --force"),
            FolderError::Checkpoint { .. } => {
                Some("--resume goes on with the same model file, options and folder; without it the run begins anew")
            }
            FolderError::Format { .. } => Some("choose another folder with --out, or use the carom that wrote it"),
            _ => None,
        }
    }
}

/// Why a version is refused.
pub(crate) fn other_format(found: u64) -> String {
    format!("its format version is {found}, and this carom reads {} and {FORMAT}", FORMAT - 1)
}

/// Whether several commands may write to a folder at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// One at a time.
    Alone,
    /// Several, each to files of its own.
    Shared,
}

/// A folder that a command writes to.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    who: String,
    /// Files that must not be overwritten.
    inputs: Vec<PathBuf>,
    /// Folders that were made for this, the deepest first.
    made: Vec<PathBuf>,
    _lock: File,
}

impl Folder {
    /// Claims a folder, which is made where needed, for a command. Swaps that were cut short are finished.
    ///
    /// # Errors
    /// Fails where the folder cannot be written to or another command holds it.
    pub fn claim(path: &Path, who: &str, sharing: Sharing) -> Result<Folder, FolderError> {
        let made: Vec<PathBuf> =
            path.ancestors().take_while(|p| !p.as_os_str().is_empty() && !p.exists()).map(Path::to_path_buf).collect();
        disk::make_folder(path)?;
        let claimed = Folder::lock(path, who, sharing);
        match claimed {
            Ok(lock) => Ok(Folder { path: path.to_path_buf(), who: who.into(), inputs: Vec::new(), made, _lock: lock }),
            Err(error) => {
                unmake(path, &made);
                Err(error)
            }
        }
    }

    fn lock(path: &Path, who: &str, sharing: Sharing) -> Result<File, FolderError> {
        let room = path.join(ROOM);
        disk::make_folder(&room)?;
        // a folder whose room is there may have become read-only
        let probe = path.join(".carom.probe");
        drop(disk::Output::create(&probe)?);
        disk::remove(&probe)?;
        let lock = disk::open_lock(&room.join("lock"))?;
        let locked = match sharing {
            Sharing::Alone => lock.try_lock(),
            Sharing::Shared => lock.try_lock_shared(),
        };
        // where the system has no locks there is none
        if let Err(TryLockError::WouldBlock) = locked {
            return Err(FolderError::InUse { who: who.into(), path: path.to_path_buf() });
        }
        draft::settle(path)?;
        Ok(lock)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Files that the command reads: they are not overwritten, whoever wrote them.
    pub fn protect<P: AsRef<Path>>(&mut self, inputs: impl IntoIterator<Item = P>) {
        self.inputs.extend(inputs.into_iter().filter_map(|path| fs::canonicalize(path).ok()));
    }

    /// Whether files of these names may be written.
    ///
    /// # Errors
    /// Fails for the first that is an input, is no file, or is not carom's.
    pub fn check<N: AsRef<str>>(&self, names: impl IntoIterator<Item = N>) -> Result<(), FolderError> {
        let manifest = Manifest::read(&self.path)?;
        names.into_iter().try_for_each(|name| self.may_write(&manifest, name.as_ref()))
    }

    fn may_write(&self, manifest: &Manifest, name: &str) -> Result<(), FolderError> {
        let path = self.path.join(name);
        if path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            return Err(FolderError::NoFile { path });
        }
        if fs::canonicalize(&path).is_ok_and(|path| self.inputs.contains(&path)) {
            return Err(FolderError::Input { path });
        }
        match manifest.owner(&self.path, name) {
            Owner::Nobody | Owner::Carom => Ok(()),
            Owner::Foreign => Err(FolderError::Foreign { path }),
            Owner::Changed => Err(FolderError::Changed { path }),
        }
    }

    /// A place beside for files to come.
    ///
    /// # Errors
    /// Fails where it cannot be made.
    pub fn draft(self) -> Result<Draft, FolderError> {
        Draft::new(self)
    }

    /// The draft that an earlier command has left, with its files.
    ///
    /// # Errors
    /// Fails where there is none.
    pub fn resumed_draft(self) -> Result<Draft, FolderError> {
        Draft::resumed(self)
    }

    fn place(&self, state: &str) -> PathBuf {
        self.path.join(ROOM).join(format!("{}.{state}", self.who))
    }
}

/// Looks into a folder before its results are read: a swap that was cut short is finished.
///
/// # Errors
/// Fails where the files cannot be put in their places.
pub fn settle(path: &Path) -> Result<(), FolderError> {
    if path.join(ROOM).is_dir() { draft::settle(path) } else { Ok(()) }
}

/// A command that has written nothing leaves the folder as it found it.
impl Drop for Folder {
    fn drop(&mut self) {
        unmake(&self.path, &self.made);
    }
}

/// Removes what a claim has made; nothing but locks and empty folders.
fn unmake(path: &Path, made: &[PathBuf]) {
    let room = path.join(ROOM);
    let holds_only = |folder: &Path, names: &[&str]| {
        let known =
            |entry: io::Result<fs::DirEntry>| entry.is_ok_and(|e| names.iter().any(|name| e.file_name() == *name));
        fs::read_dir(folder).is_ok_and(|mut entries| entries.all(known))
    };
    if made.is_empty() || !holds_only(path, &[ROOM]) || !holds_only(&room, &LOCKS) {
        return;
    }
    LOCKS.iter().for_each(|name| _ = fs::remove_file(room.join(name)));
    let _ = fs::remove_dir(room);
    made.iter().for_each(|path| _ = fs::remove_dir(path));
}
