//! Circuits with diodes: nodes renamed, elements in another order and turned round, impedances scaled, another time.

use super::{between, named_end, shuffled};
use carom_mutations::Random;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A resistor and a diode lead from node to node; at each there are a capacitor and a load.
struct Ladder {
    /// Ohms before and behind the diode, microfarads, and millihenries in the load.
    stages: Vec<(f64, f64, f64, Option<f64>)>,
    omega: f64,
}

/// How it is told.
struct Words {
    /// Names of nodes end so.
    suffix: &'static str,
    order: Option<u64>,
    is_turned: bool,
    impedance: f64,
    shift: f64,
}

const PLAIN: Words = Words { suffix: "", order: None, is_turned: false, impedance: 1.0, shift: 0.0 };

impl Ladder {
    fn random(random: &mut Random) -> Ladder {
        let n = 1 + random.below(3);
        let mut stage = || {
            let coil = (random.below(2) == 0).then(|| between(1.0, 20.0, random));
            (between(1.0, 10.0, random), between(20.0, 200.0, random), between(5.0, 50.0, random), coil)
        };
        let stages = (0..n).map(|_| stage()).collect();
        Ladder { stages, omega: between(200.0, 800.0, random) }
    }

    /// Voltages and currents at the end, as the plain circuit has them.
    fn run(&self, words: &Words) -> BTreeMap<String, f64> {
        let k = words.impedance;
        let node =
            |i: usize, what: &str| if i == 0 { "\"0\"".into() } else { format!("\"{what}{i}{}\"", words.suffix) };
        let pair = |a: &str, b: &str| if words.is_turned { format!("{b}, {a}") } else { format!("{a}, {b}") };
        let mut lines = vec![];
        let source = format!("10*sin({:?}*(t - ({:?})))", self.omega, words.shift);
        lines.push(format!("voltage.V = [{}, {}, \"{source}\"]", node(1, "a"), node(0, "")));
        for (i, (series, load, capacity, coil)) in self.stages.iter().enumerate().map(|(i, stage)| (i + 1, stage)) {
            let (a, m, c, ground) = (node(i, "a"), node(i, "m"), node(i + 1, "a"), node(0, ""));
            lines.push(format!("resistor.S{i} = [{}, {:?}]", pair(&a, &m), series * k));
            lines.push(format!("diode.D{i} = [{m}, {c}]"));
            lines.push(format!("capacitor.C{i} = [{c}, {ground}, {:?}]", capacity * 1e-6 / k));
            let from = match coil {
                Some(coil) => {
                    lines.push(format!("inductor.L{i} = [{c}, {}, {:?}]", node(i, "l"), coil * 1e-3 * k));
                    node(i, "l")
                }
                None => c,
            };
            lines.push(format!("resistor.R{i} = [{}, {:?}]", pair(&from, &ground), load * k));
        }
        let order = match words.order {
            Some(seed) => shuffled(lines.len(), &mut Random::new(seed)),
            None => (0..lines.len()).collect(),
        };
        let mut text = String::from("version = 1\nname = \"ladder\"\n[model]\nkind = \"circuit\"\n");
        order.iter().for_each(|&i| writeln!(text, "{}", lines[i]).unwrap());
        let (start, end) = (words.shift, words.shift + 0.02);
        write!(text, "[simulation]\nstart = {start:?}\nend = {end:?}\nsteps = 1000\n").unwrap();
        let mut found = named_end(&text);
        assert!(found.keys().all(|name| name.starts_with(['L', 'C'])), "{found:?}");
        found.iter_mut().filter(|(name, _)| name.starts_with('L')).for_each(|(_, current)| *current *= k);
        found
    }
}

#[test]
fn circuits_in_other_words() {
    let mut flowing = 0;
    for case in 900..940 {
        let random = &mut Random::new(case);
        let ladder = Ladder::random(random);
        let expected = ladder.run(&PLAIN);
        flowing += usize::from(expected.values().any(|x| x.abs() > 1e-2));
        for (what, words) in [
            ("renamed", Words { suffix: "_x", ..PLAIN }),
            ("reordered", Words { order: Some(case), ..PLAIN }),
            ("turned round", Words { is_turned: true, ..PLAIN }),
            ("other impedances", Words { impedance: 2f64.powi(random.below(21) as i32 - 10), ..PLAIN }),
            ("later", Words { shift: between(-1.0, 1.0, random), ..PLAIN }),
        ] {
            let found = ladder.run(&words);
            assert!(expected.keys().eq(found.keys()), "case {case}, {what}: {expected:?}, {found:?}");
            let apart = expected.iter().map(|(name, x)| (x - found[name]).abs()).fold(0.0, f64::max);
            // volts and amperes under a source of 10 V
            assert!(apart < 1e-7, "case {case}, {what}: {apart:e}");
        }
    }
    assert!(flowing > 20, "something flows at the end of {flowing} of 40 runs only");
}
