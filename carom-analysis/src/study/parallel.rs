//! Runs on several threads, with results in the order of the tasks: they do not depend on the number of threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Threads to use: as asked, or as many as there are processors, and not more than tasks.
pub fn threads(asked: Option<usize>, tasks: usize) -> usize {
    let there = std::thread::available_parallelism().map_or(1, usize::from);
    asked.unwrap_or(there).clamp(1, tasks.max(1))
}

/// Runs `task(0..count)`; `done` sees each result as it comes, one at a time. Tasks for which `wanted` says no are left
/// out.
pub fn each<R: Send>(
    count: usize,
    threads: usize,
    wanted: &(dyn Fn(usize) -> bool + Sync),
    task: &(dyn Fn(usize) -> R + Sync),
    done: &mut (dyn FnMut(usize, R) + Send),
) {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(done));
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, count.max(1)) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    if !wanted(index) {
                        continue;
                    }
                    let result = task(index);
                    let mut done = done.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                    (*done)(index, result);
                }
            });
        }
    });
}

/// The results of `task(0..count)` in this order.
pub fn map<R: Send>(count: usize, threads: usize, task: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
    let mut all: Vec<Option<R>> = (0..count).map(|_| None).collect();
    each(count, threads, &|_| true, task, &mut |index, result| all[index] = Some(result));
    all.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_does_not_depend_on_threads() {
        let task = |i: usize| (0..1000 * (7 - i % 7)).fold(i as f64, |x, k| (x + k as f64).sin());
        let one = map(50, 1, &task);
        for threads in [2, 3, 8] {
            assert_eq!(map(50, threads, &task), one);
        }
        assert!(map(0, 4, &task).is_empty());
        assert_eq!(super::threads(Some(100), 3), 3);
        assert_eq!(super::threads(Some(0), 3), 1);
    }

    #[test]
    fn some_may_be_left_out() {
        let mut seen = Vec::new();
        each(20, 3, &|i| i % 2 == 0, &|i| i * i, &mut |i, square| seen.push((i, square)));
        seen.sort_unstable();
        assert_eq!(seen, (0..20).step_by(2).map(|i| (i, i * i)).collect::<Vec<_>>());
    }
}
