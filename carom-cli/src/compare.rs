//! `carom compare`: two results in one report, with their differences.

use crate::arguments::CompareArguments;
use crate::console::print_line;
use crate::failure::Failure;
use crate::figures::Figures;
use crate::open::open as show;
use crate::print::print;
use carom_analysis::folder::{Folder, Sharing};
use carom_analysis::results::{Stored, compare};
use std::path::{Path, PathBuf};

pub fn compare(arguments: &CompareArguments) -> Result<(), Failure> {
    let [a, b] = [open(&arguments.first)?, open(&arguments.second)?];
    let names = names(&arguments.first, &arguments.second);
    let names = [names[0].as_str(), names[1].as_str()];
    let folder =
        arguments.out.clone().unwrap_or_else(|| PathBuf::from("out").join(format!("{}-and-{}", names[0], names[1])));
    let claim = Folder::claim(&folder, "compare", Sharing::Alone)?;
    claim.check(["report.html"])?;
    let figures = arguments.showing.figures.as_deref().map(|place| Figures::claim(place, &folder)).transpose()?;
    let mut document = compare::document(&a, &b, names);
    let mut draft = claim.draft()?;
    document.write(&mut draft, "report")?;
    draft.publish(None)?;
    figures.map_or(Ok(()), |figures| figures.write(&document.report()))?;
    if arguments.showing.json {
        print_line(serde_json::to_string_pretty(&document.json()).unwrap_or_default())?;
    } else if !arguments.showing.quiet {
        print(&document, &folder)?;
    }
    if arguments.showing.open {
        show(&folder.join("report.html"))?;
    }
    let limit = arguments.tolerance.unwrap_or(f64::INFINITY);
    match compare::differences(&a, &b).iter().filter(|d| d.relative() > limit).count() {
        0 => Ok(()),
        over => Err(Failure::Difference { over, limit }),
    }
}

fn open(folder: &Path) -> Result<Stored, Failure> {
    if !folder.is_dir() {
        let hint = "give the folders of two results, for example those that `carom run` wrote to out/";
        return Err(Failure::usage(format!("there is no folder `{}`", folder.display()), hint));
    }
    let hint = "is it a folder that `carom run` has written, and was the run finished?";
    Stored::open(folder).map_err(|error| Failure::usage(error.to_string(), hint))
}

/// The last parts of the paths that tell both apart.
fn names(a: &Path, b: &Path) -> [String; 2] {
    let last = |path: &Path| path.file_name().map_or("result".into(), |name| name.to_string_lossy().into_owned());
    let parent = |path: &Path| path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let (first, second) = (last(a), last(b));
    if first != second {
        return [first, second];
    }
    match (parent(a), parent(b)) {
        (Some(x), Some(y)) if x != y => [format!("{x}-{first}"), format!("{y}-{second}")],
        _ => [format!("{first}-1"), format!("{second}-2")],
    }
}
