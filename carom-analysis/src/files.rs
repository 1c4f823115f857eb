//! Files that are whole or not there, and the one way to write comma-separated values.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a file whole or not at all: beside it first, then under its name.
pub fn write_whole(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".part");
    let part = path.with_file_name(name);
    let written = File::create(&part).and_then(|file| {
        let mut file = BufWriter::new(file);
        fill(&mut file)?;
        file.flush()?;
        fs::rename(&part, path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}

/// A text of a CSV file: quoted where it must be or `always`, on one line.
pub fn csv_text(text: &str, always: bool) -> Cow<'_, str> {
    if !always && !text.contains([',', '"', '\n', '\r']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"").replace(['\n', '\r'], " ")))
}

/// A number of a CSV file with the digits that read back as the same; nothing where it is not finite.
pub fn csv_number(x: f64) -> String {
    if x.is_finite() { format!("{x:?}") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_one_line_each() {
        assert_eq!((csv_text("plain", false).as_ref(), csv_text("plain", true).as_ref()), ("plain", "\"plain\""));
        assert_eq!(csv_text("a \"b\", c\nd", false), "\"a \"\"b\"\", c d\"");
        assert_eq!(
            (csv_number(0.1).as_str(), csv_number(2.0).as_str(), csv_number(f64::NAN).as_str()),
            ("0.1", "2.0", "")
        );
    }

    #[test]
    fn a_file_that_cannot_be_filled_is_not_there() {
        let folder = std::env::temp_dir().join(format!("carom-files-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.csv");
        write_whole(&path, |out| out.write_all(b"old")).unwrap();
        assert!(write_whole(&path, |out| out.write_all(b"ne").and_then(|()| Err(io::Error::other("full")))).is_err());
        assert_eq!((fs::read(&path).unwrap(), fs::read_dir(&folder).unwrap().count()), (b"old".to_vec(), 1));
        fs::remove_dir_all(&folder).unwrap();
    }
}
