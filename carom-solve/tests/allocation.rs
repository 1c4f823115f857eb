//! No solver allocates when it solves problems of sizes that it has seen: assembly, sweeps, acceleration, the ladder.

// a global allocator cannot be written without it
#![allow(unsafe_code)]

use carom_solve::{ProblemWork, Reaction, SOLVERS, family};
use serde_json::json;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts the allocations of each thread: tests run in parallel.
struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // a thread that is being torn down has no counter any more
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(pointer, layout, size) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations() -> u64 {
    COUNT.with(Cell::get)
}

#[test]
fn the_counter_counts() {
    let before = allocations();
    let boxed = std::hint::black_box(Box::new(1.0));
    assert_eq!(allocations() - before, 1, "{boxed}");
}

#[test]
fn repeated_solves_do_not_allocate() {
    for (name, size) in [("wall", 40), ("chain", 30), ("bridge", 30), ("box-stack", 40), ("pns", 20), ("pd", 60)] {
        let problem = family::find(name).unwrap().build(size, 1).unwrap();
        for row in SOLVERS {
            let mut solver = (row.build)(&json!({"tolerance": 1e-8})).unwrap();
            if solver.admits(problem.laws()).is_err() {
                continue;
            }
            let (mut work, mut z) = (ProblemWork::default(), Reaction::default());
            let mut count = 0;
            for _ in 0..3 {
                z.reset(problem.size());
                let before = allocations();
                // whether it is solved is asked elsewhere
                _ = problem.with(&mut work, |p| solver.solve(p, &mut z));
                count = allocations() - before;
            }
            assert_eq!(count, 0, "{} on {name}", row.info.name);
        }
    }
}
