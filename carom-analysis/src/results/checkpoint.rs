//! The checkpoint of a run: what it needs to go on with the same bits, beside its rows in `.carom/run.new`.
//!
//! One line of JSON says what the run is; the bytes of its memory follow. The file takes the place of the one before
//! by a rename, after its rows and its own bytes are on the disk. It is refused where version, model or options are
//! others, and where a byte of it was changed.

use super::summary::fingerprint_of;
use crate::folder::{FORMAT, FolderError, Replace, disk, write_file};
use carom::simulation::Keeper;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The name of the file.
const NAME: &str = "checkpoint";

/// Version of its memory: another one for each change of what is remembered.
const MEMORY: u32 = 1;

/// Writing checkpoints may take this part of the time.
const SHARE: u32 = 20;

/// What a run is, as far as its checkpoint has to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// Fingerprint of the model file.
    pub model: String,
    /// All options by name.
    pub options: serde_json::Map<String, Value>,
}

/// The first line.
#[derive(Serialize, Deserialize)]
struct Head {
    format: u32,
    memory: u32,
    carom: String,
    #[serde(flatten)]
    identity: Identity,
    bytes: u64,
    mark: String,
}

/// Writes checkpoints of a run.
pub struct Checkpoints {
    place: PathBuf,
    identity: Identity,
    every: Duration,
    next: Instant,
    /// Why the last one could not be written.
    pub error: Option<FolderError>,
}

impl Checkpoints {
    /// One each time so much time has passed, more rarely where writing takes more than a twentieth of it; in the
    /// folder where the rows are.
    pub fn new(place: &Path, identity: Identity, every: Duration) -> Checkpoints {
        Checkpoints { place: place.to_path_buf(), identity, every, next: Instant::now() + every, error: None }
    }

    /// Writes one, in place of the one before.
    ///
    /// # Errors
    /// Fails where the disk does; then the one before stays.
    pub fn write(&self, memory: &[u8]) -> Result<(), FolderError> {
        let head = Head {
            format: FORMAT,
            memory: MEMORY,
            carom: env!("CARGO_PKG_VERSION").into(),
            identity: self.identity.clone(),
            bytes: memory.len() as u64,
            mark: fingerprint_of(memory),
        };
        let head = serde_json::to_string(&head).unwrap_or_default() + "\n";
        let path = self.place.join(NAME);
        write_file(&path, Replace::Always, &[], |out| {
            out.write_all(head.as_bytes()).and_then(|()| out.write_all(memory))
        })?;
        disk::sync(&self.place)
    }

    /// The memory of the run that was cut short in a folder of results.
    ///
    /// # Errors
    /// Fails where there is none, and where it is that of another run.
    pub fn read(folder: &Path, identity: &Identity) -> Result<Vec<u8>, FolderError> {
        let path = folder.join(".carom/run.new").join(NAME);
        let refuse = |reason: String| FolderError::Checkpoint { path: folder.to_path_buf(), reason };
        let mut bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(refuse("there is none; a run writes them with --checkpoint SECONDS".into()));
            }
            Err(source) => return Err(FolderError::Io { action: "read", path, source }),
        };
        let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0);
        let head: Value = serde_json::from_slice(&bytes[..end]).map_err(|_| refuse("it is damaged".into()))?;
        let number = |key: &str| head.get(key).and_then(Value::as_u64);
        if (number("format"), number("memory")) != (Some(FORMAT.into()), Some(MEMORY.into())) {
            return Err(refuse("another version of carom wrote it".into()));
        }
        let head: Head = serde_json::from_value(head).map_err(|_| refuse("it is damaged".into()))?;
        if head.carom != env!("CARGO_PKG_VERSION") {
            let this = env!("CARGO_PKG_VERSION");
            return Err(refuse(format!("carom {} wrote it, and this is {this}", head.carom)));
        }
        differs(&head.identity, identity).map_or(Ok(()), |reason| Err(refuse(reason)))?;
        let memory = bytes.split_off(end + 1);
        if memory.len() as u64 != head.bytes || fingerprint_of(&memory) != head.mark {
            return Err(refuse("it is damaged".into()));
        }
        Ok(memory)
    }
}

/// In what two runs differ.
fn differs(then: &Identity, now: &Identity) -> Option<String> {
    if then.model != now.model {
        return Some("the model file has changed since".into());
    }
    let keys = then.options.keys().chain(now.options.keys());
    let none = Value::Null;
    keys.map(|key| (key, then.options.get(key).unwrap_or(&none), now.options.get(key).unwrap_or(&none)))
        .find(|(_, then, now)| then != now)
        .map(|(key, then, now)| format!("`{key}` was {then} and is {now}"))
}

impl Keeper for Checkpoints {
    fn is_due(&mut self, _index: u64) -> bool {
        Instant::now() >= self.next
    }

    fn keep(&mut self, memory: Vec<u8>) -> ControlFlow<()> {
        let start = Instant::now();
        self.error = self.write(&memory).err();
        self.next = Instant::now() + self.every.max(start.elapsed().saturating_mul(SHARE));
        if self.error.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(step: f64) -> Identity {
        let options = [("step".to_owned(), step.into()), ("csv".to_owned(), true.into())];
        Identity { model: "fnv1a64:1".into(), options: options.into_iter().collect() }
    }

    #[test]
    fn other_runs_and_damaged_files_are_refused_with_a_reason() {
        let folder = std::env::temp_dir().join(format!("carom-checkpoint-{}", std::process::id()));
        let place = folder.join(".carom/run.new");
        fs::create_dir_all(&place).unwrap();
        let refused = |identity: &Identity| Checkpoints::read(&folder, identity).unwrap_err().to_string();
        assert!(refused(&identity(0.1)).contains("--checkpoint"));
        let checkpoints = Checkpoints::new(&place, identity(0.1), Duration::ZERO);
        let memory: Vec<u8> = (0..=255).collect();
        checkpoints.write(b"before").unwrap();
        checkpoints.write(&memory).unwrap();
        assert_eq!(Checkpoints::read(&folder, &identity(0.1)).unwrap(), memory);
        assert!(refused(&identity(0.2)).contains("`step` was 0.1 and is 0.2"), "{}", refused(&identity(0.2)));
        let other = Identity { model: "fnv1a64:2".into(), ..identity(0.1) };
        assert!(refused(&other).contains("model file has changed"));
        let whole = fs::read(place.join(NAME)).unwrap();
        for place_of in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[place_of] ^= 1;
            fs::write(place.join(NAME), damaged).unwrap();
            refused(&identity(0.1));
        }
        fs::write(place.join(NAME), &whole[..whole.len() - 1]).unwrap();
        assert!(refused(&identity(0.1)).contains("damaged"));
        let text = String::from_utf8_lossy(&whole).replace("\"memory\":1", "\"memory\":9");
        fs::write(place.join(NAME), text.as_bytes()).unwrap();
        assert!(refused(&identity(0.1)).contains("version"));
        fs::remove_dir_all(&folder).unwrap();
    }
}
