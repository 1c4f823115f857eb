//! Smaller texts with the same finding.

use super::case::Case;
use std::time::{Duration, Instant};

/// Most commands and most time that are spent on one finding.
const ATTEMPTS: usize = 80;
const TIME: Duration = Duration::from_secs(20);

/// The case without lines that the finding does not need: halves first, then quarters, down to single lines.
pub fn shrink(case: &Case, reason: &str, mut finds: impl FnMut(&Case) -> Option<String>) -> Case {
    let mut small = case.clone();
    let kind = |reason: &str| reason.split(':').next().unwrap_or_default().to_owned();
    let (wanted, mut left, start) = (kind(reason), ATTEMPTS, Instant::now());
    for file in 0..small.files.len() {
        let Ok(text) = std::str::from_utf8(&small.files[file].1) else { continue };
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut size = lines.len().div_ceil(2);
        while size > 0 && left > 0 && lines.len() > 1 {
            let (mut at, before) = (0, lines.len());
            while at < lines.len() && left > 0 {
                let mut fewer = lines.clone();
                fewer.drain(at..(at + size).min(fewer.len()));
                let mut attempt = small.clone();
                attempt.files[file].1 = (fewer.join("\n") + "\n").into_bytes();
                left = if start.elapsed() < TIME { left - 1 } else { 0 };
                if finds(&attempt).is_some_and(|found| kind(&found) == wanted) {
                    (small, lines) = (attempt, fewer);
                } else {
                    at += size;
                }
            }
            size = if size == 1 && lines.len() < before { 1 } else { size / 2 };
        }
    }
    small
}
