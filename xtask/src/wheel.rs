//! `cargo xtask wheel`: the Python package as one file, and its tests.
//!
//! Everything is installed from PyPI into a virtual environment below the target folder: maturin, which builds wheels,
//! and what the tests of the package need.

use crate::report::Outcome;
use crate::run as execute;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What builds wheels.
const BUILDER: [&str; 1] = ["maturin>=1.16,<2"];

/// A linker for old systems: wheels of it run wherever the C library is at least that of [`OLD`].
const LINKER: [&str; 1] = ["ziglang"];
const OLD: &str = "manylinux_2_28";

/// What the tests need; the last ones may be missing, for tests of them are left out then.
const TESTERS: [&str; 3] = ["numpy", "pytest", "mypy"];
const WELCOME: [&str; 4] = ["pandas", "sympy", "matplotlib", "scipy"];

/// What long tests need besides: engines that studies run on, and what executes notebooks.
const ENGINES: [&str; 7] =
    ["dask[distributed]", "mpi4py", "openmpi", "hyperqueue", "nbconvert", "ipykernel", "pyarrow"];

/// The sources of the package, for the check of types.
const SOURCES: &str = "carom-py/python/carom";

/// The package.
const MANIFEST: &str = "carom-py/Cargo.toml";

/// Builds the wheel with a profile of cargo and says where it is.
pub fn run(profile: &str) -> Result<PathBuf, String> {
    let environment = Environment::new("python")?;
    environment.install(&BUILDER)?;
    let old = cfg!(target_os = "linux") && profile != "dev" && environment.install(&LINKER).is_ok();
    let built = if old { environment.wheel(profile, true) } else { Err("there is no linker for old systems".into()) };
    let wheel = built.or_else(|reason| {
        println!("xtask: {reason}: the wheel needs a system as new as this one");
        environment.wheel(profile, false)
    })?;
    let size = std::fs::metadata(&wheel).map_or(0, |file| file.len());
    println!("xtask: {} ({:.1} MB)", wheel.display(), size as f64 / 1e6);
    Ok(wheel)
}

/// Builds the wheel as quickly as it goes, installs it and runs the tests of the package on it; `all` those that take
/// long, too, with engines of others.
pub fn test(all: bool) -> Outcome {
    let environment = match Environment::new("python") {
        Ok(environment) => environment,
        Err(reason) => return Outcome::Skipped(reason),
    };
    if let Err(reason) = environment.install(&[&BUILDER[..], &TESTERS].concat()) {
        return Outcome::Skipped(reason);
    }
    if environment.install(&WELCOME).is_err() {
        println!("xtask: {} are not there: their tests are left out", WELCOME.join(", "));
    }
    if all && let Err(reason) = environment.install(&ENGINES) {
        eprintln!("xtask: {reason}");
        return Outcome::Failed;
    }
    let wheel = match environment.wheel("dev", false) {
        Ok(wheel) => wheel,
        Err(reason) => {
            eprintln!("xtask: {reason}");
            return Outcome::Failed;
        }
    };
    let mut pip = environment.command();
    pip.args(["-m", "pip", "install", "-q", "--no-deps", "--force-reinstall"]).arg(&wheel);
    let carom = target().join("debug").join(format!("carom{}", std::env::consts::EXE_SUFFIX));
    let mut tests = environment.command();
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "carom-py/tests"]);
    // results are compared with those of the command, which the steps before have built
    if let Some(carom) = carom.canonicalize().ok().filter(|file| file.is_file()) {
        tests.env("CAROM_COMMAND", carom);
    }
    if all {
        tests.env("CAROM_LONG", "1");
    }
    let mut types = environment.command();
    types.args(["-m", "mypy", "--ignore-missing-imports", "--cache-dir"]).arg(target().join("mypy")).arg(SOURCES);
    (execute(&mut types) && execute(&mut pip) && execute(&mut tests)).into()
}

/// The folder of cargo's results.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from)
}

/// A virtual environment.
struct Environment {
    python: PathBuf,
}

impl Environment {
    /// One of this name below the target folder, made where it is missing.
    fn new(name: &str) -> Result<Environment, String> {
        let home = target().join(name);
        let folder = if cfg!(windows) { "Scripts" } else { "bin" };
        let python = std::path::absolute(home.join(folder).join("python")).map_err(|e| e.to_string())?;
        let there = || crate::has(&python.to_string_lossy(), &["-c", "import pip"]);
        if there() {
            return Ok(Environment { python });
        }
        if !crate::has("python3", &["-c", "import sys; sys.exit(sys.version_info < (3, 11))"]) {
            return Err("python3 of version 3.11 or newer is missing".into());
        }
        if !execute(Command::new("python3").args(["-m", "venv"]).arg(&home)) || !there() {
            return Err("python3 cannot make a virtual environment (Debian: python3-venv)".into());
        }
        Ok(Environment { python })
    }

    fn command(&self) -> Command {
        Command::new(&self.python)
    }

    /// Installs packages from PyPI, where they are missing.
    fn install(&self, packages: &[&str]) -> Result<(), String> {
        let done = execute(self.command().args(["-m", "pip", "install", "-q"]).args(packages));
        if done { Ok(()) } else { Err(format!("{} cannot be installed from PyPI", packages.join(", "))) }
    }

    /// The wheel, built with a profile; for old systems as well where it is asked for.
    fn wheel(&self, profile: &str, old: bool) -> Result<PathBuf, String> {
        let place = target().join("wheels").join(profile);
        // an older one would be taken for the new one
        if place.exists() {
            std::fs::remove_dir_all(&place).map_err(|e| format!("cannot empty {}: {e}", place.display()))?;
        }
        let mut maturin = self.command();
        maturin.args(["-m", "maturin", "build", "--quiet", "--manifest-path", MANIFEST, "--profile", profile]);
        maturin.arg("--out").arg(&place).arg("--interpreter").arg(&self.python);
        if profile == "dev" {
            // for this machine alone: nobody looks at which libraries it needs
            maturin.args(["--compatibility", "linux", "--auditwheel", "skip"]);
        } else if old {
            maturin.args(["--zig", "--compatibility", OLD]);
        }
        if !execute(&mut maturin) {
            return Err("maturin could not build the wheel".into());
        }
        only(&place).ok_or_else(|| format!("maturin left no wheel in {}", place.display()))
    }
}

/// The wheel of a folder.
fn only(folder: &Path) -> Option<PathBuf> {
    let mut files = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    files.find(|file| file.extension().is_some_and(|ending| ending == "whl"))
}
