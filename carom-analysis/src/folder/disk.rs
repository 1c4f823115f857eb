//! The calls of the file system that results go through: one place, so that tests can let the n-th of them fail.
//!
//! In builds with debug assertions the environment variable `CAROM_FAULT` names the call: `7` fails the 7th alone, `7+`
//! all from the 7th on (a disk that stays full), `7~` lets the 7th take half of its bytes, as systems may. What has
//! failed is told on standard error. Other builds have no such layer.

use super::FolderError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    MakeFolder,
    Create,
    Append,
    Write,
    Sync,
    Rename,
    Remove,
    Read,
}

impl Call {
    /// The word of messages: "cannot ...".
    fn word(self) -> &'static str {
        match self {
            Call::MakeFolder => "create the directory",
            Call::Create => "create",
            Call::Append | Call::Write => "write",
            Call::Sync => "bring to the disk",
            Call::Rename => "put in place",
            Call::Remove => "remove",
            Call::Read => "read",
        }
    }
}

/// Does a call, and tells the path where it fails.
fn attempt<R>(call: Call, path: &Path, act: impl FnOnce() -> io::Result<R>) -> Result<R, FolderError> {
    let done = fault::before(call).and_then(|()| act());
    done.map_err(|source| FolderError::Io { action: call.word(), path: path.to_path_buf(), source })
}

pub(crate) fn make_folder(path: &Path) -> Result<(), FolderError> {
    attempt(Call::MakeFolder, path, || fs::create_dir_all(path))
}

/// Opens a file that is made where needed, without changing what is in it.
pub(crate) fn open_lock(path: &Path) -> Result<File, FolderError> {
    attempt(Call::Create, path, || OpenOptions::new().write(true).create(true).truncate(false).open(path))
}

pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), FolderError> {
    attempt(Call::Rename, to, || fs::rename(from, to))
}

/// Removes a file or an empty folder; what is not there is as good as removed.
pub(crate) fn remove(path: &Path) -> Result<(), FolderError> {
    attempt(Call::Remove, path, || {
        let removed = if path.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) };
        removed.or_else(|e| if e.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(e) })
    })
}

/// Removes a folder with all that is in it.
pub(crate) fn remove_all(path: &Path) -> Result<(), FolderError> {
    attempt(Call::Remove, path, || match fs::remove_dir_all(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    })
}

/// Reads a text; none where there is no such file.
pub(crate) fn read(path: &Path) -> Result<Option<String>, FolderError> {
    attempt(Call::Read, path, || match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    })
}

/// Reads a text from a byte on, up to the end of its last whole character; none where there is no such file.
pub(crate) fn read_from(path: &Path, from: u64) -> Result<Option<String>, FolderError> {
    attempt(Call::Read, path, || {
        let mut file = match File::open(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let whole = std::str::from_utf8(&bytes).map_or_else(|e| e.valid_up_to(), str::len);
        bytes.truncate(whole);
        Ok(Some(String::from_utf8(bytes).unwrap_or_default()))
    })
}

/// Waits until a file, or the entries of a folder, are on the disk.
pub(crate) fn sync(path: &Path) -> Result<(), FolderError> {
    attempt(Call::Sync, path, || {
        match path.is_dir() {
            // folders cannot be opened everywhere, and those systems order their entries themselves
            true if !cfg!(unix) => Ok(()),
            true => File::open(path)?.sync_all(),
            // some systems bring to the disk only what may be written
            false => OpenOptions::new().write(true).open(path)?.sync_all(),
        }
    })
}

/// A file that is written.
#[derive(Debug)]
pub(crate) struct Output {
    file: File,
}

impl Output {
    pub fn create(path: &Path) -> Result<Output, FolderError> {
        attempt(Call::Create, path, || File::create(path)).map(|file| Output { file })
    }

    /// A file that grows.
    pub fn append(path: &Path) -> Result<Output, FolderError> {
        attempt(Call::Append, path, || OpenOptions::new().append(true).open(path)).map(|file| Output { file })
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// Waits until the bytes are on the disk.
    pub fn sync(&self) -> io::Result<()> {
        fault::before(Call::Sync)?;
        self.file.sync_all()
    }

    /// Cuts the file; what a full disk has left of a line goes.
    pub fn cut(&self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let most = fault::bytes(Call::Write, bytes.len())?;
        self.file.write(&bytes[..most])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(not(debug_assertions))]
mod fault {
    use super::Call;
    use std::io;

    #[inline]
    pub fn before(_call: Call) -> io::Result<()> {
        Ok(())
    }

    #[inline]
    pub fn bytes(_call: Call, count: usize) -> io::Result<usize> {
        Ok(count)
    }
}

#[cfg(debug_assertions)]
mod fault {
    use super::Call;
    use std::io;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[derive(Clone, Copy, PartialEq)]
    enum Mode {
        Once,
        Stays,
        Short,
    }

    /// Which call fails, and how.
    fn wanted() -> Option<(u64, Mode)> {
        static WANTED: OnceLock<Option<(u64, Mode)>> = OnceLock::new();
        *WANTED.get_or_init(|| {
            let text = std::env::var("CAROM_FAULT").ok()?;
            let number = text.trim_end_matches(['+', '~']).parse().ok()?;
            let mode = if text.ends_with('+') { Mode::Stays } else { Mode::Once };
            Some((number, if text.ends_with('~') { Mode::Short } else { mode }))
        })
    }

    /// How this call fails.
    fn next() -> Option<Mode> {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        let (number, mode) = wanted()?;
        let call = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
        (call == number || mode == Mode::Stays && call > number).then_some(mode)
    }

    fn error(call: Call) -> io::Error {
        let kind = match call {
            Call::Write | Call::Sync => io::ErrorKind::StorageFull,
            Call::Rename => io::ErrorKind::ResourceBusy,
            Call::Read => io::ErrorKind::Interrupted,
            _ => io::ErrorKind::PermissionDenied,
        };
        io::Error::new(kind, format!("injected fault ({call:?})"))
    }

    pub fn before(call: Call) -> io::Result<()> {
        match next() {
            None | Some(Mode::Short) => Ok(()),
            Some(_) => {
                eprintln!("injected fault: {call:?}");
                Err(error(call))
            }
        }
    }

    /// Bytes that a write takes; a disk that fills up has taken half of them before.
    pub fn bytes(call: Call, count: usize) -> io::Result<usize> {
        match next() {
            None => Ok(count),
            Some(Mode::Short) => {
                eprintln!("injected fault: short write");
                Ok(count.div_ceil(2))
            }
            Some(_) => {
                eprintln!("injected fault: {call:?}");
                Err(error(call))
            }
        }
    }
}
