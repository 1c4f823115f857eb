//! `carom import`: robot descriptions as model files.

use crate::arguments::ImportArguments;
use crate::console::{print_line, print_warning};
use crate::failure::{Failure, print};
use carom_analysis::folder::{Replace, check_file, write_file};
use carom_scene::import::{FEATURES, Options, import as read};
use carom_scene::{Overrides, suggest};
use std::path::Path;

pub fn import(arguments: &ImportArguments) -> Result<(), Failure> {
    let mut without = Vec::new();
    for word in &arguments.without {
        let names = || FEATURES.iter().map(|(name, _)| *name);
        let Some((_, feature)) = FEATURES.iter().find(|(name, _)| name == word) else {
            let all = || format!("there are {}", names().collect::<Vec<_>>().join(", "));
            let message = format!("nothing that can be left out is named `{word}`");
            return Err(Failure::usage(message, suggest(word, names(), false, all)));
        };
        without.push(*feature);
    }
    let options = Options {
        floating: arguments.floating,
        positions: arguments.position.clone(),
        rates: arguments.rate.clone(),
        without,
        folder: arguments.output.as_deref().and_then(Path::parent).unwrap_or(Path::new("")).to_owned(),
    };
    let replace = if arguments.force { Replace::Always } else { Replace::Same };
    let inputs = [arguments.file.as_path()];
    arguments.output.iter().try_for_each(|path| check_file(path, replace, &inputs))?;
    let imported = read(&arguments.file, &options).map_err(Failure::Model)?;
    imported.warnings.iter().for_each(print);
    let Some(path) = &arguments.output else {
        imported.summary().iter().for_each(|line| print_warning(format_args!("left out: {line}")));
        imported.changes().iter().for_each(|line| print_warning(format_args!("changed: {line}")));
        return print_line(imported.text.trim_end());
    };
    write_file(path, replace, &inputs, |out| out.write_all(imported.text.as_bytes()))?;
    // the file is checked as any other would be
    let scene = carom_scene::load(path, &Overrides::default()).map_err(Failure::Model)?;
    scene.warnings.iter().for_each(print);
    print_line(format_args!(
        "wrote {}: {}, {} bodies, {} joints",
        path.display(),
        imported.format.name,
        imported.bodies,
        imported.joints
    ))?;
    for line in imported.summary() {
        print_line(format_args!("left out: {line}"))?;
    }
    for line in imported.changes() {
        print_line(format_args!("changed: {line}"))?;
    }
    print_line(format_args!("next: carom run {}", path.display()))
}
