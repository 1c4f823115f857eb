//! Entries near the ends of the range of numbers end in an answer or an error, never in a loop or a panic.

use super::{rows, try_run};
use carom::model::{Lcs, Matrices};
use carom::zero_dynamics::report;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

#[test]
fn entries_of_any_size_end_in_an_answer_or_an_error() {
    let mut rng = Pcg64::seed_from_u64(21);
    for round in 0..300 {
        let (n, m) = (rng.random_range(1..6usize), rng.random_range(1..4usize));
        let mut draw = |count: usize| -> Vec<f64> {
            let entry = |rng: &mut Pcg64| match rng.random_range(0..6) {
                0 => 0.0,
                1 => f64::MAX,
                2 => f64::MIN_POSITIVE,
                3 => -1e200,
                _ => rng.random_range(-1.0..1.0f64),
            };
            (0..count).map(|_| entry(&mut rng)).collect()
        };
        let d = if round % 3 == 0 { draw(m * m) } else { vec![] };
        let e = if round % 5 == 0 { Some(draw(n * n)) } else { None };
        let matrices = Matrices { e, a: draw(n * n), b: draw(n * m), c: draw(m * n), d };
        let names: Vec<String> = (0..m).map(|i| format!("row{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let lcs = Lcs::new(matrices, rows(&names), &vec![1.0; n]).unwrap();
        let told = report(&lcs);
        assert!(told.degrees.len() == m || told.problem.is_some());
        if let Ok(run) = try_run(lcs, 0.3, 0.1) {
            assert!(run.x.iter().flatten().all(|x| x.is_finite()));
        }
    }
}
