//! Best time of repeated calls.

use std::time::Instant;

/// Best of three or more calls in about a fifth of a second, fewer of those that take seconds. What `prepare` returns
/// is made outside the clock, and what `call` returns ends there.
///
/// Short calls have the wall clock, longer ones the CPU clock of the thread where the system tells it, as peers have:
/// other work on the machine is not counted.
pub fn best<S, P, R>(state: &mut S, prepare: impl Fn(&mut S) -> P, call: impl Fn(&mut S, P) -> R) -> f64 {
    let (clock, mut least, mut long) = (Instant::now(), f64::INFINITY, false);
    for k in 0..100_000 {
        let spent = clock.elapsed().as_secs_f64();
        if (k >= 3 && spent > 0.2) || (k >= 1 && spent > 2.0) {
            break;
        }
        let prepared = prepare(state);
        let before = if long || k == 0 { processor_seconds() } else { None };
        let wall = Instant::now();
        let left = call(state, prepared);
        let wall = wall.elapsed().as_secs_f64();
        long = wall > 1e-3;
        let processor = before.filter(|_| long).and_then(|before| Some(processor_seconds()? - before));
        least = least.min(processor.map_or(wall, |seconds| seconds.min(wall)));
        drop(left);
    }
    least
}

/// CPU seconds of this thread, where the system tells them.
fn processor_seconds() -> Option<f64> {
    // the account is brought up to date when the thread is scheduled
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: u64 = text.split_whitespace().next()?.parse().ok()?;
    Some(1e-9 * nanoseconds as f64)
}
