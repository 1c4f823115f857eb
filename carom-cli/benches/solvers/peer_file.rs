//! Problems written down for peer programs, and the lines that these print.

use carom_solve::{ProblemWork, StoredProblem};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// One call of a peer.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub seconds: f64,
    pub error: f64,
    pub iterations: usize,
}

/// The lines `seconds error status iterations` of a peer program; one that was cut off is no line.
pub fn lines(output: &str) -> Vec<Line> {
    let line = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [seconds, error, _, iterations] = words[..] else { return None };
        Some(Line { seconds: seconds.parse().ok()?, error: error.parse().ok()?, iterations: iterations.parse().ok()? })
    };
    output.lines().filter_map(line).collect()
}

/// A file in the folder for temporary files of the build.
pub fn temporary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A reduced friction problem as text with sparse-block storage: sizes and columns of blocks are cumulative, entries by
/// columns.
pub fn write_friction(problem: &StoredProblem, dimension: usize, path: &Path) -> std::io::Result<()> {
    let mut text = String::new();
    let laws = problem.laws();
    problem.with(&mut ProblemWork::default(), |p| {
        let w = p.delassus();
        let (contacts, rows) = (laws.len(), problem.size());
        let ends: String = (1..=contacts).map(|i| format!("{} ", dimension * i)).collect();
        let (mut starts, mut columns, mut values) = (String::from("0 "), String::new(), String::new());
        let mut blocks = 0;
        for i in 0..contacts {
            for (j, block) in w.row(i) {
                let _ = write!(columns, "{j} ");
                let _ = writeln!(values, "{blocks}");
                for column in 0..dimension {
                    for row in 0..dimension {
                        let _ = writeln!(values, "{:e}", block[row * dimension + column]);
                    }
                }
                blocks += 1;
            }
            let _ = write!(starts, "{blocks} ");
        }
        let _ = writeln!(
            text,
            "{dimension}\n{contacts}\n1\n{rows} {rows}\n{blocks}\n{contacts} {contacts}\n{ends}\n{ends}"
        );
        let _ = write!(text, "{} {blocks}\n{starts}\n{columns}\n{values}", contacts + 1);
    });
    for b in problem.b() {
        let _ = writeln!(text, "{b:e}");
    }
    for law in laws {
        if law.is_coulomb() {
            let _ = writeln!(text, "{:e}", law.mu());
        }
    }
    std::fs::write(path, text)
}

/// A linear complementarity problem as bytes: number of rows, M by columns, q.
pub fn write_complementarity(problem: &StoredProblem, path: &Path) -> std::io::Result<()> {
    let n = problem.size();
    let mut dense = Vec::new();
    problem.with(&mut ProblemWork::default(), |p| p.delassus().to_dense(&mut dense));
    let mut bytes = (n as u64).to_ne_bytes().to_vec();
    for j in 0..n {
        for i in 0..n {
            bytes.extend(dense[i * n + j].to_ne_bytes());
        }
    }
    problem.b().iter().for_each(|q| bytes.extend(q.to_ne_bytes()));
    std::fs::write(path, bytes)
}
