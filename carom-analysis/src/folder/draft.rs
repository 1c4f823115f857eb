//! Results on their way: files aside, then all of them in their places.

use super::manifest::{Entry, Manifest, Mark, Owner};
use super::{Folder, FolderError, ROOM, disk};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The list of a draft that is whole.
const LIST: &str = "list.json";

/// Results that are not in their places yet.
#[derive(Debug)]
#[must_use]
pub struct Draft {
    folder: Folder,
    place: PathBuf,
    names: Vec<String>,
    /// Files of the earlier result that stay.
    kept: BTreeMap<String, Mark>,
}

/// What is to be put in place.
#[derive(Serialize, Deserialize)]
struct List {
    by: String,
    partial: Option<String>,
    files: BTreeMap<String, Mark>,
}

impl Draft {
    pub(super) fn new(folder: Folder) -> Result<Draft, FolderError> {
        let place = folder.place("new");
        // what a killed command has left
        disk::remove_all(&place)?;
        disk::make_folder(&place)?;
        Ok(Draft { folder, place, names: Vec::new(), kept: BTreeMap::new() })
    }

    pub(super) fn resumed(folder: Folder) -> Result<Draft, FolderError> {
        let place = folder.place("new");
        fs::read_dir(&place).map_err(FolderError::io("read", &place))?;
        Ok(Draft { folder, place, names: Vec::new(), kept: BTreeMap::new() })
    }

    /// Where the files are until they are published.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// The folder that they go to.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Writes a file. A name that is taken gets a number; the name that it has.
    ///
    /// # Errors
    /// Fails where the file cannot be written.
    pub fn write(
        &mut self,
        name: &str,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<String, FolderError> {
        let name = self.free(name);
        let path = self.place.join(&name);
        if let Some(parent) = path.parent().filter(|parent| *parent != self.place) {
            disk::make_folder(parent)?;
        }
        let mut out = BufWriter::new(disk::Output::create(&path)?);
        let written = fill(&mut out).and_then(|()| out.flush());
        written.map_err(FolderError::io("write", &path))?;
        self.names.push(name.clone());
        Ok(name)
    }

    /// Takes a file that was written to [`Draft::place`] by others.
    pub fn add(&mut self, name: impl Into<String>) {
        self.names.push(name.into());
    }

    /// Keeps files of the earlier result whose names are wanted, besides those of the draft; their names.
    ///
    /// # Errors
    /// Fails where the list of files cannot be read.
    pub fn keep(&mut self, wanted: impl Fn(&str) -> bool) -> Result<Vec<String>, FolderError> {
        let is_there = |name: &str| self.folder.path.join(name).is_file();
        for (name, entry) in Manifest::read(&self.folder.path)?.files {
            let is_mine = entry.by == self.folder.who && !self.names.contains(&name);
            if let (true, Some(mark)) = (is_mine && wanted(&name) && is_there(&name), entry.mark) {
                self.kept.insert(name, mark);
            }
        }
        Ok(self.kept.keys().cloned().collect())
    }

    /// A name that no other file of the draft has, even where letters of both cases are one.
    fn free(&self, name: &str) -> String {
        let taken = |name: &str| self.names.iter().any(|other| other.to_lowercase() == name.to_lowercase());
        // "a.solution.json" ends with all of ".solution.json"
        let dot = name.find(".solution.").or_else(|| name.rfind('.')).unwrap_or(name.len());
        let mut free = name.to_owned();
        let mut number = 2;
        while taken(&free) {
            free = format!("{}-{number}{}", &name[..dot], &name[dot..]);
            number += 1;
        }
        free
    }

    /// Puts all files in their places, in place of the earlier result; `partial` says why they are not all.
    ///
    /// # Errors
    /// Fails where they cannot be put there. Before they are whole the earlier result stays, and they stay aside.
    pub fn publish(self, partial: Option<&str>) -> Result<Vec<String>, FolderError> {
        let manifest = Manifest::read(&self.folder.path)?;
        self.names.iter().try_for_each(|name| self.folder.may_write(&manifest, name))?;
        let mut files = self.kept;
        for name in &self.names {
            let path = self.place.join(name);
            disk::sync(&path)?;
            files.insert(name.clone(), Mark::of(&path).map_err(FolderError::io("read", &path))?);
        }
        let list = List { by: self.folder.who.clone(), partial: partial.map(str::to_owned), files };
        let text = serde_json::to_string_pretty(&list).unwrap_or_default() + "\n";
        let path = self.place.join(LIST);
        let mut out = disk::Output::create(&path)?;
        out.write_all(text.as_bytes()).and_then(|()| out.sync()).map_err(FolderError::io("write", &path))?;
        drop(out);
        disk::rename(&self.place, &self.folder.place("whole"))?;
        disk::sync(&self.folder.path.join(ROOM))?;
        settle(&self.folder.path)?;
        Ok(self.names)
    }
}

/// Puts whole drafts in their places. Any number of calls that are cut short anywhere come to the same end.
pub(super) fn settle(folder: &Path) -> Result<(), FolderError> {
    let room = folder.join(ROOM);
    let entries = fs::read_dir(&room).map_err(FolderError::io("read", &room))?;
    let mut whole: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    whole.retain(|path| path.extension().is_some_and(|ending| ending == "whole"));
    if whole.is_empty() {
        return Ok(());
    }
    whole.sort();
    // one at a time; where the system has no locks there is none
    let swap = disk::open_lock(&room.join("swap"))?;
    let _ = swap.lock();
    whole.iter().try_for_each(|place| swap_in(folder, place))
}

fn swap_in(folder: &Path, place: &Path) -> Result<(), FolderError> {
    let list = place.join(LIST);
    let Some(text) = disk::read(&list)? else {
        // all is done but the last removal; or another command has done it meanwhile
        return disk::remove_all(place);
    };
    let wrong = |e: serde_json::Error| FolderError::Format { path: list.clone(), reason: e.to_string() };
    let List { by, partial, files } = serde_json::from_str(&text).map_err(wrong)?;
    let mut manifest = Manifest::read(folder)?;
    let earlier = manifest.files.iter().filter(|(name, entry)| entry.by == by && !files.contains_key(*name));
    let earlier: Vec<String> = earlier.map(|(name, _)| name.clone()).collect();
    for name in earlier {
        if manifest.owner(folder, &name) == Owner::Carom {
            disk::remove(&folder.join(&name))?;
        }
        manifest.files.remove(&name);
    }
    for (name, mark) in files {
        let (from, to) = (place.join(&name), folder.join(&name));
        if from.exists() {
            if let Some(parent) = to.parent().filter(|parent| *parent != folder) {
                disk::make_folder(parent)?;
            }
            disk::rename(&from, &to)?;
        }
        manifest.files.insert(name, Entry { by: by.clone(), mark: Some(mark) });
    }
    match partial {
        Some(reason) => _ = manifest.partial.insert(by, reason),
        None => _ = manifest.partial.remove(&by),
    }
    manifest.write(folder)?;
    disk::sync(folder)?;
    disk::remove_all(place)
}

#[cfg(test)]
mod tests {
    use super::super::{Replace, Sharing, settle as look, write_file};
    use super::*;

    struct Room(PathBuf);

    impl Room {
        fn new(name: &str) -> Room {
            let path = std::env::temp_dir().join(format!("carom-folder-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Room(path)
        }

        fn draft(&self, who: &str) -> Draft {
            Folder::claim(&self.0, who, Sharing::Alone).unwrap().draft().unwrap()
        }

        fn text(&self, name: &str) -> Option<String> {
            fs::read_to_string(self.0.join(name)).ok()
        }
    }

    impl Drop for Room {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn write(draft: &mut Draft, name: &str, text: &str) -> String {
        draft.write(name, |out| out.write_all(text.as_bytes())).unwrap()
    }

    #[test]
    fn a_result_takes_the_place_of_the_earlier_one_at_once() {
        let room = Room::new("swap");
        let mut draft = room.draft("run");
        write(&mut draft, "a.csv", "1");
        write(&mut draft, "b.csv", "1");
        assert!(room.text("a.csv").is_none());
        draft.publish(None).unwrap();
        let mut draft = room.draft("run");
        write(&mut draft, "a.csv", "2");
        assert_eq!((room.text("a.csv").unwrap(), room.text("b.csv").unwrap()), ("1".into(), "1".into()));
        draft.publish(Some("interrupted")).unwrap();
        // a file that the new result lacks goes with the earlier one
        assert_eq!((room.text("a.csv").unwrap(), room.text("b.csv")), ("2".into(), None));
        assert_eq!(Manifest::read(&room.0).unwrap().partial["run"], "interrupted");
    }

    /// What is kept stays where it is, with what it is known by; what is neither kept nor new goes.
    #[test]
    fn files_of_the_earlier_result_are_kept_by_name() {
        let room = Room::new("kept");
        let mut draft = room.draft("run");
        ["a/x.csv", "b/x.csv", "c.csv"].iter().for_each(|name| _ = write(&mut draft, name, "1"));
        draft.publish(None).unwrap();
        let mut draft = room.draft("run");
        write(&mut draft, "b/x.csv", "2");
        let kept = draft.keep(|name| name.contains('/')).unwrap();
        assert_eq!(kept, ["a/x.csv"]);
        draft.publish(None).unwrap();
        let texts = ["a/x.csv", "b/x.csv", "c.csv"].map(|name| room.text(name));
        assert_eq!(texts, [Some("1".into()), Some("2".into()), None]);
        // they are still carom's
        let manifest = Manifest::read(&room.0).unwrap();
        assert!(manifest.owner(&room.0, "a/x.csv") == Owner::Carom && manifest.files.len() == 2);
    }

    #[test]
    fn a_swap_that_was_cut_short_is_finished() {
        let room = Room::new("cut");
        let mut draft = room.draft("run");
        ["a", "b", "c"].iter().for_each(|name| _ = write(&mut draft, name, "1"));
        draft.publish(None).unwrap();
        let mut draft = room.draft("run");
        ["a", "b"].iter().for_each(|name| _ = write(&mut draft, name, "2"));
        // as if killed after the first file: the list is written, the folder renamed, `a` in its place
        let marks = ["a", "b"].map(|name| (name.to_owned(), Mark::of(&draft.place.join(name)).unwrap()));
        let list = List { by: "run".into(), partial: None, files: marks.into() };
        fs::write(draft.place.join(LIST), serde_json::to_string(&list).unwrap()).unwrap();
        fs::rename(draft.place(), room.0.join(".carom/run.whole")).unwrap();
        fs::rename(room.0.join(".carom/run.whole/a"), room.0.join("a")).unwrap();
        drop(draft);
        look(&room.0).unwrap();
        assert_eq!(["a", "b"].map(|name| room.text(name).unwrap()), ["2", "2"]);
        assert!(room.text("c").is_none() && !room.0.join(".carom/run.whole").exists());
    }

    #[test]
    fn files_of_others_are_not_touched() {
        let room = Room::new("foreign");
        fs::create_dir_all(&room.0).unwrap();
        fs::write(room.0.join("mine.csv"), "mine").unwrap();
        let folder = Folder::claim(&room.0, "run", Sharing::Alone).unwrap();
        assert!(matches!(folder.check(["mine.csv"]), Err(FolderError::Foreign { .. })));
        assert!(folder.check(["other.csv"]).is_ok());
        let mut draft = folder.draft().unwrap();
        write(&mut draft, "other.csv", "1");
        // one that appears while the command computes stays, and the result waits beside
        fs::write(room.0.join("other.csv"), "mine").unwrap();
        assert!(matches!(draft.publish(None), Err(FolderError::Foreign { .. })));
        assert_eq!(room.text("other.csv").unwrap(), "mine");
        assert_eq!(room.text(".carom/run.new/other.csv").unwrap(), "1");
        // one that was carom's and has been changed is not any more
        fs::remove_file(room.0.join("other.csv")).unwrap();
        let mut draft = room.draft("run");
        write(&mut draft, "other.csv", "1");
        draft.publish(None).unwrap();
        fs::write(room.0.join("other.csv"), "1, with notes").unwrap();
        let mut folder = Folder::claim(&room.0, "run", Sharing::Alone).unwrap();
        assert!(matches!(folder.check(["other.csv"]), Err(FolderError::Changed { .. })));
        folder.protect([room.0.join("mine.csv")]);
        assert!(matches!(folder.check(["mine.csv"]), Err(FolderError::Input { .. })));
    }

    #[test]
    fn equal_names_are_kept_apart() {
        let room = Room::new("equal");
        let mut draft = room.draft("solve");
        let names = ["x.solution.json", "x.solution.json", "X.solution.json", "p/y.csv", "p/y.csv"];
        let names = names.map(|name| write(&mut draft, name, name));
        assert_eq!(names, ["x.solution.json", "x-2.solution.json", "X-3.solution.json", "p/y.csv", "p/y-2.csv"]);
        draft.publish(None).unwrap();
        assert_eq!(room.text("p/y-2.csv").unwrap(), "p/y.csv");
    }

    #[test]
    fn folders_of_other_versions_are_refused_with_a_reason() {
        let room = Room::new("format");
        room.draft("run").publish(None).unwrap();
        let path = room.0.join(".carom/manifest.json");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("\"format\": 1", "\"format\": 9")).unwrap();
        let folder = Folder::claim(&room.0, "run", Sharing::Alone).unwrap();
        let error = folder.check(["a"]).unwrap_err();
        assert!(error.to_string().contains("format version is 9") && error.hint().is_some(), "{error}");
    }

    #[test]
    fn a_folder_that_was_not_written_to_is_gone() {
        let room = Room::new("gone");
        let deep = room.0.join("a/b");
        drop(Folder::claim(&deep, "run", Sharing::Alone).unwrap());
        assert!(!room.0.exists());
        let folder = Folder::claim(&deep, "sweep", Sharing::Shared).unwrap();
        // another one shares it, and leaves it to the first
        assert!(Folder::claim(&deep, "basin", Sharing::Shared).is_ok() && deep.exists());
        if cfg!(target_os = "linux") {
            assert!(matches!(Folder::claim(&deep, "run", Sharing::Alone), Err(FolderError::InUse { .. })));
        }
        drop(folder);
        assert!(!deep.exists());
    }

    #[test]
    fn a_single_file_is_whole_or_not_there() {
        let room = Room::new("single");
        fs::create_dir_all(&room.0).unwrap();
        let path = room.0.join("a.csv");
        let put = |text: &str, replace| write_file(&path, replace, &[], |out| out.write_all(text.as_bytes()));
        put("old", Replace::Never).unwrap();
        assert!(matches!(put("new", Replace::Never), Err(FolderError::Exists { .. })));
        let cut = write_file(&path, Replace::Always, &[], |out| {
            out.write_all(b"ne").and_then(|()| Err(io::Error::other("full")))
        });
        assert!(cut.is_err());
        assert_eq!((room.text("a.csv").unwrap(), fs::read_dir(&room.0).unwrap().count()), ("old".into(), 1));
        put("old", Replace::Same).unwrap();
        assert!(matches!(put("new", Replace::Same), Err(FolderError::Exists { .. })));
        assert!(matches!(put("new", Replace::Marked("carom")), Err(FolderError::Foreign { .. })));
        let input = write_file(&path, Replace::Always, &[&path], |_| Ok(()));
        assert!(matches!(input, Err(FolderError::Input { .. })));
        put("new", Replace::Always).unwrap();
        assert_eq!(room.text("a.csv").unwrap(), "new");
    }
}
