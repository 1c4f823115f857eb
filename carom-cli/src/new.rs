//! `carom new` and `carom schema`.

use crate::arguments::NewArguments;
use crate::console::print_line;
use crate::failure::Failure;
use carom_scene::examples::{EXAMPLES, find};
use carom_scene::{KINDS, suggest};
use std::io::Write;

pub fn new(arguments: &NewArguments) -> Result<(), Failure> {
    let stem = arguments.name.strip_suffix(".toml").unwrap_or(&arguments.name);
    let path = std::path::PathBuf::from(format!("{stem}.toml"));
    let name = stem.rsplit(std::path::is_separator).next().unwrap_or(stem);
    if name.is_empty() {
        return Err(Failure::usage("the model needs a name", "for example: carom new ball"));
    }
    let text = match &arguments.from {
        None => {
            let names = || KINDS.iter().map(|row| row.name);
            let kind = arguments.kind.as_deref().unwrap_or(KINDS[0].name);
            let row = KINDS.iter().find(|row| row.name == kind).ok_or_else(|| {
                let all = || format!("there are {}", names().collect::<Vec<_>>().join(", "));
                Failure::usage(format!("no kind of model is named `{kind}`"), suggest(kind, names(), false, all))
            })?;
            row.example(name)
        }
        Some(name) => find(name).map(str::to_owned).ok_or_else(|| {
            let names = || EXAMPLES.iter().map(|(name, _)| *name);
            let all = || format!("there are {}", names().collect::<Vec<_>>().join(", "));
            Failure::usage(format!("no example is named `{name}`"), suggest(name, names(), false, all))
        })?,
    };
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    if !arguments.force {
        options.create_new(true);
    }
    let written = options.open(&path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Failure::usage(
            format!("`{}` exists already", path.display()),
            "choose another name, or overwrite it with --force",
        ),
        _ => Failure::Environment(format!("cannot write `{}`: {error}", path.display())),
    })?;
    print_line(format_args!("wrote {}\nnext: carom run {}", path.display(), path.display()))
}

pub fn schema() -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(&carom_scene::schema()).map_err(|e| Failure::Environment(e.to_string()))?;
    print_line(text)
}
