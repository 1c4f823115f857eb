//! Peer programs: built on the spot where Siconos is installed (Debian: siconos, libsiconos-kernel-dev,
//! libsiconos-numerics-dev, libsiconos-mechanics-dev), run as processes of their own.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A program of `benches/peers`.
pub struct Peer {
    program: PathBuf,
}

impl Peer {
    /// Compiles the program; nothing where the peer is not installed.
    pub fn build(name: &str) -> Option<Peer> {
        let include = std::env::var("SICONOS_INCLUDE").unwrap_or_else(|_| "/usr/include/siconos".into());
        if !Path::new(&include).join("kernel").exists() {
            return None;
        }
        let sparse = std::env::var("SUITESPARSE_INCLUDE").unwrap_or_else(|_| "/usr/include/suitesparse".into());
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers").join(format!("{name}.cpp"));
        let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let mut compiler = Command::new("g++");
        compiler.args(["-O2", "-std=c++17", "-w"]);
        for folder in ["", "/kernel", "/numerics", "/externals", "/mechanics"] {
            compiler.arg(format!("-I{include}{folder}"));
        }
        compiler.arg(format!("-I{sparse}")).arg("-o").arg(&program).arg(source);
        compiler.args(["-lsiconos_kernel", "-lsiconos_numerics", "-lsiconos_externals"]);
        if Path::new(&include).join("mechanics").exists() {
            compiler.arg("-lsiconos_mechanics");
        }
        if !compiler.status().is_ok_and(|status| status.success()) {
            println!("the peer program {name} does not build");
            return None;
        }
        Some(Peer { program })
    }

    /// What the program printed until it ended, or until the limit of wall time: then it is killed. One thread, as
    /// ours.
    pub fn run(&self, arguments: &[String], limit: Duration) -> String {
        let mut command = Command::new(&self.program);
        command.args(arguments).env("OPENBLAS_NUM_THREADS", "1").env("OMP_NUM_THREADS", "1");
        let Ok(mut child) = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn() else {
            return String::new();
        };
        let Some(mut pipe) = child.stdout.take() else { return String::new() };
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.read_to_end(&mut bytes);
            bytes
        });
        let clock = Instant::now();
        while matches!(child.try_wait(), Ok(None)) {
            if clock.elapsed() > limit {
                let _ = child.kill();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        String::from_utf8_lossy(&reader.join().unwrap_or_default()).into_owned()
    }
}
