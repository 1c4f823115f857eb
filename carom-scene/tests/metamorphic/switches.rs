//! First-order systems with relays and diodes: states and rows in another order, in other units, at another time.

use super::{between, distance, end, shuffled};
use carom_mutations::Random;
use std::fmt::Write;

/// x' = A x + b sin(ω t) + B λ, y = C x + D λ: relays and complementarity, with damping that keeps all small.
struct System {
    a: Vec<Vec<f64>>,
    b: Vec<f64>,
    omega: f64,
    /// Law, its row of C, which is its column of B with the other sign for relays, and D.
    rows: Vec<(&'static str, Vec<f64>, f64)>,
    start: Vec<f64>,
}

impl System {
    fn random(random: &mut Random) -> System {
        let n = 2 + random.below(3);
        let mut vector = |n: usize| (0..n).map(|_| between(-1.0, 1.0, random)).collect::<Vec<f64>>();
        let mut a: Vec<Vec<f64>> = (0..n).map(|_| vector(n)).collect();
        (0..n).for_each(|i| a[i][i] -= 2.0);
        let (b, start) = (vector(n), vector(n));
        let rows = vec![("relay", vector(n), 0.0), ("complementarity", vector(n), 1.0)];
        System { a, b, omega: 3.0, rows, start }
    }

    fn run(&self, states: &[usize], rows: &[usize], shift: f64, scale: f64) -> Vec<f64> {
        let name = |i: usize| format!("s{i}");
        let mut text = String::from("version = 1\nname = \"switches\"\n[model]\nkind = \"first-order\"\n");
        let list: Vec<String> = states.iter().map(|&i| format!("\"{}\"", name(i))).collect();
        writeln!(text, "states = [{}]", list.join(", ")).unwrap();
        let sum = |row: &[f64]| {
            let terms: Vec<String> = states.iter().map(|&j| format!("({:?})*{}", row[j], name(j))).collect();
            terms.join(" + ")
        };
        for &i in states {
            let (b, omega) = (self.b[i] * scale, self.omega);
            let drive = format!("({b:?})*sin({omega:?}*(t - ({shift:?})))");
            writeln!(text, "rate.{} = \"{} + {drive}\"", name(i), sum(&self.a[i])).unwrap();
        }
        for &r in rows {
            let (law, row, feedthrough) = &self.rows[r];
            let by = if *law == "relay" { 0.5 * scale } else { 1.0 };
            writeln!(text, "[[row]]\nname = \"r{r}\"\nlaw = \"{law}\"\noutput = \"{}\"", sum(row)).unwrap();
            let input: Vec<String> = states.iter().map(|&i| format!("{} = {:?}", name(i), by * row[i])).collect();
            writeln!(text, "input = {{ {} }}", input.join(", ")).unwrap();
            if *feedthrough > 0.0 {
                writeln!(text, "feedthrough = {{ r{r} = {feedthrough:?} }}").unwrap();
            }
        }
        writeln!(text, "[initial]").unwrap();
        states.iter().for_each(|&i| writeln!(text, "{} = {:?}", name(i), self.start[i] * scale).unwrap());
        write!(text, "[simulation]\nstart = {shift:?}\nend = {:?}\nstep = {:?}\n", shift + 2.0, 1.0 / 256.0).unwrap();
        let state = end(&text);
        let mut at = vec![0.0; states.len()];
        states.iter().zip(&state.q).for_each(|(&i, x)| at[i] = x / scale);
        at
    }
}

#[test]
fn switches_in_other_words() {
    for case in 800..840 {
        let random = &mut Random::new(case);
        let system = System::random(random);
        let (states, rows): (Vec<usize>, _) = ((0..system.start.len()).collect(), [0, 1]);
        let expected = system.run(&states, &rows, 0.0, 1.0);
        assert!(expected.iter().any(|x| x.abs() > 1e-3), "nothing moves");
        let reordered = system.run(&shuffled(states.len(), random), &[1, 0], 0.0, 1.0);
        let later = system.run(&states, &rows, between(-20.0, 20.0, random), 1.0);
        let larger = system.run(&states, &rows, 0.0, 2f64.powi(random.below(21) as i32 - 10));
        for (what, found) in [("reordered", reordered), ("later", later), ("larger", larger)] {
            let apart = distance(&expected, &found);
            assert!(apart < 1e-6, "case {case}, {what}: {apart:e}");
        }
    }
}
