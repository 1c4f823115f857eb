//! How exact: ten small scenes with known answers, ours beside other engines.
//!
//! `cargo xtask bench exact [WORD] [--no-peers]`: all scenes, or those whose name contains the word. A scene is a model
//! file of this folder; its `[[expect]]` are the columns of its table, and each number is what was found less what is
//! right. Engines of PyPI go into a virtual environment below `target`; one that does not install is left out with a
//! message. Their scenes are in `benches/peers/exact`.

mod engines;

use carom_scene::scene::Expectation;
use carom_scene::{Overrides, Scene};
use engines::{Engine, Reading};
use std::time::Instant;

/// A scene with the runs of ours and what other engines tell of it.
struct Case {
    name: &'static str,
    file: &'static str,
    /// Parameters, as `e=0.5 n=1`.
    set: &'static str,
    /// Schemes with the solver; each row of the table names its scheme.
    ours: &'static [Run],
    /// The scene of the other engines, and where its numbers stand, column by column.
    theirs: Option<(&'static str, &'static [Reading])>,
}

/// A scheme and a solver, as the command takes them.
type Run = (&'static str, &'static str);

const EXACT: Run = ("event-driven", "auto");
const CAPTURING: Run = ("moreau-jean", "auto");
const PROJECTED: Run = ("combined-projection", "auto");
const ALL: &[Run] = &[EXACT, CAPTURING, PROJECTED];

/// Problems solved to rounding, where a scene asks for what is left after thousands of steps at rest.
const TIGHT: &[Run] = &[
    ("moreau-jean", "{ name = \"auto\", tolerance = 1e-14 }"),
    ("combined-projection", "{ name = \"auto\", tolerance = 1e-14 }"),
];

const STACK_EQUAL: &[Reading] = &[
    Reading { at: "/1:1/drift", less: 0.0 },
    Reading { at: "/1:1/top_dz", less: 0.0 },
    Reading { at: "/1:1/pen_end", less: 0.0 },
    Reading { at: "/1:1/Fmean_err", less: 0.0 },
];
const STACK_HEAVY: &[Reading] = &[
    Reading { at: "/1:100/drift", less: 0.0 },
    Reading { at: "/1:100/top_dz", less: 0.0 },
    Reading { at: "/1:100/pen_end", less: 0.0 },
    Reading { at: "/1:100/Fmean_err", less: 0.0 },
];

const CASES: &[Case] = &[
    Case {
        name: "1. bounce, e = 0.5, first height",
        file: include_str!("bounce.toml"),
        set: "e=0.5 n=1",
        ours: ALL,
        theirs: Some(("s1", &[Reading { at: "/0.5/r1", less: 0.25 }, Reading { at: "/0.5/pen", less: 0.0 }])),
    },
    Case {
        name: "1. bounce, e = 0.9, tenth height",
        file: include_str!("bounce.toml"),
        set: "e=0.9 n=10",
        ours: ALL,
        theirs: Some((
            "s1",
            &[Reading { at: "/0.9/r10", less: 0.121_576_654_590_569_3 }, Reading { at: "/0.9/pen", less: 0.0 }],
        )),
    },
    Case {
        name: "1. a thousand bounces, e = 1",
        file: include_str!("elastic.toml"),
        set: "",
        ours: &[EXACT, CAPTURING],
        theirs: Some((
            "s1drift",
            &[
                Reading { at: "/Emax", less: 1.0 },
                Reading { at: "/Emin", less: 1.0 },
                Reading { at: "/bounces", less: 1001.0 },
            ],
        )),
    },
    Case {
        name: "2. box on an incline at 0.9 of the angle of friction",
        file: include_str!("incline.toml"),
        set: "share=0.9",
        ours: ALL,
        theirs: Some(("s2", &[Reading { at: "/incline0.9", less: 0.0 }])),
    },
    Case {
        name: "2. box on an incline at 0.99 of the angle of friction",
        file: include_str!("incline.toml"),
        set: "share=0.99",
        ours: ALL,
        theirs: Some(("s2", &[Reading { at: "/incline0.99", less: 0.0 }])),
    },
    Case {
        name: "2. box between two pads",
        file: include_str!("pads.toml"),
        set: "",
        ours: ALL,
        theirs: Some(("s2pad", &[Reading { at: "/creep", less: 0.0 }])),
    },
    Case {
        name: "3. box slides to rest",
        file: include_str!("slide.toml"),
        set: "",
        ours: ALL,
        theirs: Some((
            "s3",
            &[
                Reading { at: "/d_err", less: 0.0 },
                Reading { at: "/t_err", less: 0.0 },
                Reading { at: "/lift", less: 0.0 },
                Reading { at: "/pen", less: 0.0 },
            ],
        )),
    },
    Case {
        name: "4. sphere slips until it rolls",
        file: include_str!("roll.toml"),
        set: "",
        ours: ALL,
        theirs: Some(("s4", &[Reading { at: "/v_err", less: 0.0 }, Reading { at: "/t_err", less: 0.0 }])),
    },
    Case {
        name: "5. body about its middle axis, h = 0.01, 100 s",
        file: include_str!("flip.toml"),
        set: "",
        ours: &[EXACT, CAPTURING],
        theirs: Some((
            "s5",
            &[
                Reading { at: "/flips/0", less: 14.365_712_218_6 },
                Reading { at: "/flips/2", less: 71.828_561_093 },
                Reading { at: "/dE", less: 0.0 },
            ],
        )),
    },
    Case {
        name: "6. double pendulum, 10 s",
        file: include_str!("double.toml"),
        set: "",
        ours: &[("{ name = \"event-driven\", drift-limit = 1e-13 }", "auto"), CAPTURING, PROJECTED],
        theirs: Some((
            "s6",
            &[Reading { at: "/dE", less: 0.0 }, Reading { at: "", less: 0.0 }, Reading { at: "/sep", less: 0.0 }],
        )),
    },
    Case {
        name: "7. ten equal boxes, 5 s",
        file: include_str!("stack.toml"),
        set: "top=1",
        ours: TIGHT,
        theirs: Some(("s7", STACK_EQUAL)),
    },
    Case {
        name: "7. ten boxes, the top a hundred times heavier, 5 s",
        file: include_str!("stack.toml"),
        set: "top=100",
        ours: TIGHT,
        theirs: Some(("s7", STACK_HEAVY)),
    },
    Case {
        name: "8. cradle of five, impacts one after the other",
        file: include_str!("cradle.toml"),
        set: "",
        ours: ALL,
        theirs: Some((
            "s8",
            &[
                Reading { at: "/v/0", less: 0.0 },
                Reading { at: "/v/1", less: 0.0 },
                Reading { at: "/v/2", less: 0.0 },
                Reading { at: "/v/3", less: 0.0 },
                Reading { at: "/v/4", less: 1.0 },
            ],
        )),
    },
    Case {
        name: "9. pin with half a millimetre of play",
        file: include_str!("pin.toml"),
        set: "",
        ours: &[CAPTURING, ("{ name = \"combined-projection\", gap-tolerance = 3e-15 }", "auto")],
        theirs: Some(("s9", &[Reading { at: "/pen_max", less: 0.0 }])),
    },
    Case {
        name: "10. Painleve's rod, tip 1.6 ms after 5 m/s",
        file: include_str!("painleve.toml"),
        set: "",
        ours: ALL,
        theirs: Some(("s10", &[Reading { at: "/mu2.0/tipvel_1ms/0", less: 0.0 }])),
    },
];

fn main() {
    // `cargo test --benches` calls this with --test: nothing to measure then
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if words.iter().any(|word| word == "--test") {
        return;
    }
    let word = words.iter().find(|word| !word.starts_with('-')).cloned().unwrap_or_default();
    let engines = if words.iter().any(|word| word == "--no-peers") { Vec::new() } else { engines::install() };
    for case in CASES.iter().filter(|case| case.name.contains(&word)) {
        println!("## {}\n", case.name);
        table(case, &engines);
    }
    println!("Numbers are what was found less what is right; s/s is CPU time per simulated second, results not kept.");
    println!("`ok` and `!` tell whether a row of ours is within the tolerances of its file.");
}

/// One scene: ours, then the others.
fn table(case: &Case, engines: &[Engine]) {
    let mut header: Option<Vec<String>> = None;
    for run in case.ours {
        match ours(case, run) {
            Err(reason) => println!("{} failed: {reason}", run.0),
            Ok(row) => {
                if header.is_none() {
                    let labels = row.found.iter().map(|(label, _)| format!("{label:>16}"));
                    header = Some(labels.collect());
                    println!("{:24}{}  {:>9}", "", header.as_deref().unwrap_or_default().join("  "), "s/s");
                }
                let cells: Vec<String> =
                    row.found.iter().map(|(label, x)| format!("{x:>w$.2e}", w = label.len().max(16))).collect();
                let verdict = if row.holds { "ok" } else { "!" };
                println!("{:24}{}  {:>9.2e}  {verdict}", named(run.0), cells.join("  "), row.cost);
            }
        }
    }
    let labels: Vec<usize> = header.unwrap_or_default().iter().map(String::len).collect();
    for engine in case
        .theirs
        .iter()
        .flat_map(|(scene, readings)| engines.iter().flat_map(move |engine| engine.rows(scene, readings)))
    {
        let cells: Vec<String> = engine.cells.iter().zip(&labels).map(|(cell, w)| format!("{cell:>w$}")).collect();
        println!("{:24}{}  {:>9}", engine.name, cells.join("  "), engine.cost);
    }
    println!();
}

/// The name of a scheme with or without options.
fn named(scheme: &str) -> &str {
    scheme.split('"').nth(1).unwrap_or(scheme)
}

/// What a run of ours found.
struct Row {
    /// Deviation of each column.
    found: Vec<(String, f64)>,
    holds: bool,
    /// Seconds per simulated second.
    cost: f64,
}

fn ours(case: &Case, &(scheme, solver): &Run) -> Result<Row, String> {
    let pair = |text: &str| text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    let overrides = Overrides {
        set: case.set.split_whitespace().filter_map(pair).collect(),
        scheme: Some(scheme.to_owned().into()),
        solver: Some(solver.to_owned().into()),
        ..Overrides::default()
    };
    let scene: Scene = carom_scene::from_str("scene.toml", case.file, &overrides).map_err(|all| format!("{all:?}"))?;
    let mut watch = scene.watch();
    let mut simulation = scene.simulation().map_err(|e| e.to_string())?;
    simulation.run(&mut [&mut watch]).map_err(|e| e.to_string())?;
    let mut alone = scene.simulation().map_err(|e| e.to_string())?;
    let clock = Instant::now();
    alone.run(&mut []).map_err(|e| e.to_string())?;
    let cost = clock.elapsed().as_secs_f64() / (scene.span.end - scene.span.start);

    let mut found: Vec<(String, f64)> = Vec::new();
    let mut holds = true;
    let mut note = |label: String, deviation: f64| match found.iter_mut().find(|(known, _)| *known == label) {
        Some((_, x)) if deviation.abs() > x.abs() => *x = deviation,
        Some(_) => {}
        None => found.push((label, deviation)),
    };
    let mut sums: Vec<Sum> = Vec::new();
    for outcome in watch.outcomes() {
        let Expectation { text, source, value, tolerance, .. } = &outcome.expectation;
        let (label, deviation) = (source.clone().unwrap_or_default(), outcome.actual - value);
        if !label.starts_with("sum of") {
            holds &= outcome.holds;
            note(label, deviation);
            continue;
        }
        // shares of one force
        let of = text.rsplit_once('.').map_or(text.as_str(), |(of, _)| of).to_owned();
        match sums.iter_mut().find(|sum| sum.of == of) {
            Some(sum) => (sum.deviation, sum.tolerance) = (sum.deviation + deviation, sum.tolerance + tolerance),
            None => sums.push(Sum { of, label, deviation, tolerance: *tolerance }),
        }
    }
    for Sum { label, deviation, tolerance, .. } in sums {
        holds &= deviation.abs() <= tolerance;
        note(label, deviation);
    }
    Ok(Row { found, holds, cost })
}

/// What the shares of one force are together less than they should be, and what they may.
struct Sum {
    of: String,
    label: String,
    deviation: f64,
    tolerance: f64,
}
