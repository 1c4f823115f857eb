//! What carom has written into a folder: a file that it does not know is somebody else's, and stays as it is.

use super::{FORMAT, FolderError, ROOM, disk};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Bytes at both ends of a file by which it is known again.
const ENDS: u64 = 1 << 16;

/// The list of files.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub format: u32,
    /// By name.
    pub files: BTreeMap<String, Entry>,
    /// Commands whose results are not whole, and why.
    #[serde(default)]
    pub partial: BTreeMap<String, String>,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The command that wrote it.
    pub by: String,
    /// How it is known again; an earlier version kept no marks.
    pub mark: Option<Mark>,
}

/// Length and checksum of both ends: a file that somebody has changed is no longer carom's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    pub bytes: u64,
    pub sum: u64,
}

impl Mark {
    pub fn of(path: &Path) -> std::io::Result<Mark> {
        let mut file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let mut ends = Vec::new();
        (&file).take(ENDS).read_to_end(&mut ends)?;
        if bytes > ENDS {
            file.seek(SeekFrom::Start(bytes.saturating_sub(ENDS).max(ENDS)))?;
            file.read_to_end(&mut ends)?;
        }
        // FNV-1a
        let sum = ends
            .iter()
            .fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
        Ok(Mark { bytes, sum })
    }
}

/// What a file in the folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Nobody,
    Carom,
    Changed,
    Foreign,
}

impl Manifest {
    /// Reads the list of a folder. Where there is none, a summary of an earlier version tells its files.
    pub fn read(folder: &Path) -> Result<Manifest, FolderError> {
        let path = folder.join(ROOM).join("manifest.json");
        let Some(text) = disk::read(&path)? else { return Ok(Manifest::adopt(folder)) };
        let wrong = |reason: String| FolderError::Format { path: path.clone(), reason };
        let value: serde_json::Value = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
        match value["format"].as_u64() {
            Some(format) if format == u64::from(FORMAT) => {}
            Some(other) => return Err(wrong(super::other_format(other))),
            None => return Err(wrong("it has no format version".into())),
        }
        serde_json::from_value(value).map_err(|e| wrong(e.to_string()))
    }

    fn adopt(folder: &Path) -> Manifest {
        let mut manifest = Manifest { format: FORMAT, files: BTreeMap::new(), partial: BTreeMap::new() };
        let text = std::fs::read_to_string(folder.join("summary.json")).unwrap_or_default();
        let summary: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        if let (Some(_), Some(files)) = (summary["carom"].as_str(), summary["files"].as_array()) {
            let names = files.iter().filter_map(|name| name.as_str()).chain(["report.html"]);
            let own = |name: &str| (name.to_owned(), Entry { by: "run".into(), mark: None });
            manifest.files = names.map(own).collect();
        }
        manifest
    }

    pub fn write(&self, folder: &Path) -> Result<(), FolderError> {
        let room = folder.join(ROOM);
        let (path, part) = (room.join("manifest.json"), room.join("manifest.new"));
        let text = serde_json::to_string_pretty(self).unwrap_or_default() + "\n";
        let mut out = disk::Output::create(&part)?;
        let written = out.write_all(text.as_bytes()).and_then(|()| out.sync());
        written.map_err(FolderError::io("write", &part))?;
        disk::rename(&part, &path)
    }

    /// Whose a file is.
    pub fn owner(&self, folder: &Path, name: &str) -> Owner {
        let path = folder.join(name);
        match (path.symlink_metadata(), self.files.get(name)) {
            (Err(_), _) => Owner::Nobody,
            (Ok(_), None) => Owner::Foreign,
            (Ok(_), Some(Entry { mark: None, .. })) => Owner::Carom,
            (Ok(_), Some(Entry { mark: Some(mark), .. })) => match Mark::of(&path) {
                Ok(found) if found == *mark => Owner::Carom,
                _ => Owner::Changed,
            },
        }
    }
}
