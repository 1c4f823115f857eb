use super::*;
use crate::{ProblemWork, StoredProblem, family};

/// Numbers between −1 and 1.
fn wave(k: usize) -> f64 {
    (1.7 * k as f64 + 0.3).sin()
}

/// Blocks as interior points have them: X positive definite and not symmetric, of sizes from 1e-5 to 1e5.
fn fill(system: &mut LinearSystem, width: usize, unit: bool) {
    for (i, block) in system.diagonal.iter_mut().enumerate() {
        let size = 10f64.powi(i as i32 % 11 - 5);
        for k in 0..9 {
            let on = if k % 4 == 0 { 1.0 } else { 0.0 };
            if k / 3 >= width || k % 3 >= width {
                (block.x[k], block.y[k]) = (on, 0.0);
                continue;
            }
            block.x[k] = size * (on + 0.2 * wave(9 * i + k));
            block.y[k] = if unit { on } else { on + 0.1 * wave(5 * i + k) };
        }
        block.inverse = invert::<3, 9>(&block.x, &block.x);
    }
}

/// The largest entry of `b − (X + Y W) x`, each row relative to the numbers that it adds up.
fn missed(system: &LinearSystem, scaled: &Scaled, b: &[f64], x: &[f64]) -> f64 {
    let (width, pattern) = (scaled.pattern.width, &scaled.pattern);
    let mut worst = 0.0f64;
    for (i, block) in system.diagonal.iter().enumerate() {
        let mut w = vec![(0.0, 0.0); width];
        for k in pattern.start[i]..pattern.start[i + 1] {
            let j = pattern.column[k] as usize;
            for r in 0..width {
                for c in 0..width {
                    let term = scaled.value[(k * width + r) * width + c] * x[j * width + c];
                    w[r] = (w[r].0 + term, w[r].1 + term.abs());
                }
            }
        }
        for r in 0..width {
            let (mut sum, mut size) = (b[i * width + r], b[i * width + r].abs());
            for (c, w) in w.iter().enumerate() {
                let own = block.x[3 * r + c] * x[i * width + c];
                sum -= own + block.y[3 * r + c] * w.0;
                size += own.abs() + (block.y[3 * r + c] * w.1).abs();
            }
            worst = worst.max(sum.abs() / size);
        }
    }
    worst
}

fn with<T>(problem: &StoredProblem, task: impl FnOnce(&OneStepProblem<'_>, &Scaled) -> T) -> T {
    problem.with(&mut ProblemWork::default(), |p| {
        let mut scaled = Scaled::default();
        scaled.load(p, &p.delassus());
        task(p, &scaled)
    })
}

/// Both spaces solve the same systems, mixtures of laws and planar bodies among them.
#[test]
fn both_spaces_solve_the_system() {
    for (name, size) in
        [("wall", 60), ("sphere-heap", 60), ("box-stack", 40), ("slab", 50), ("bridge", 60), ("chain", 20)]
    {
        let problem = family::find(name).unwrap().build(size, 2).unwrap();
        with(&problem, |p, scaled| {
            for (unit, by_velocities) in [(true, true), (false, true), (true, false), (false, false)] {
                let mut system = LinearSystem::default();
                system.analyse(p, scaled).unwrap();
                assert!(system.velocities.size() > 0, "{name}");
                system.by_velocities = by_velocities;
                fill(&mut system, scaled.pattern.width, unit);
                assert!(if unit { system.factor_shifted(scaled) } else { system.factor(scaled) });
                // rows that a law does not have ask for nothing
                let mut b = vec![0.0; scaled.len()];
                for (i, law) in scaled.laws.iter().enumerate() {
                    (0..law.size()).for_each(|r| b[i * scaled.pattern.width + r] = wave(7 * i + r));
                }
                let mut x = vec![0.0; b.len()];
                assert!(system.solve(scaled, &b, &mut x), "{name}");
                assert_eq!((system.by_velocities, system.failures), (by_velocities, 0), "{name}");
                let missed = missed(&system, scaled, &b, &x);
                assert!(missed < 1e-11, "{name} {unit} {by_velocities}: {missed:e}");
            }
        });
    }
}

/// One step without refinement is nearly as good: the groups, rows and signs are right.
#[test]
fn velocities_need_little_refinement() {
    let problem = family::find("sphere-heap").unwrap().build(100, 1).unwrap();
    with(&problem, |p, scaled| {
        let mut system = LinearSystem::default();
        system.analyse(p, scaled).unwrap();
        assert!(system.by_velocities);
        // five layers: 25 + 16 + 9 + 4 + 1 spheres at most
        assert!(system.velocities.size() <= 55 * 6, "{}", system.velocities.size());
        fill(&mut system, 3, true);
        system.velocities.factor(&system.diagonal);
        let b: Vec<f64> = (0..scaled.len()).map(wave).collect();
        let mut x = vec![0.0; b.len()];
        system.velocities.correct(&b, &mut x);
        assert!(missed(&system, scaled, &b, &x) < 1e-9);
    });
}

/// Redundant contacts make the space of velocities the cheaper one; few contacts on many bodies do not.
#[test]
fn the_cheaper_space_is_chosen() {
    for (name, size, expected) in [("slab", 100, true), ("wall", 200, true), ("sphere-heap", 100, true)] {
        let problem = family::find(name).unwrap().build(size, 1).unwrap();
        with(&problem, |p, scaled| {
            let mut system = LinearSystem::default();
            system.analyse(p, scaled).unwrap();
            system.analyse_contacts(scaled).unwrap();
            assert_eq!(system.by_velocities, expected, "{name}");
            let cheaper = system.velocities.multiplications() < system.contacts.multiplications();
            assert_eq!(cheaper, expected, "{name}");
        });
        // W alone says nothing about bodies
        with(&problem.condensed(), |p, scaled| {
            let mut system = LinearSystem::default();
            system.analyse(p, scaled).unwrap();
            assert!(!system.by_velocities);
        });
    }
}
