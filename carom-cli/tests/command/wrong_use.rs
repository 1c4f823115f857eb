//! Wrong use of each scheme of the registry: refused where the mistake stands, or ended with time and contact and what
//! was computed.

use super::session::{self, Outcome, Session};
use super::table::{Table, Value};
use carom::scheme::{Claim, Family, SCHEMES, SchemeRow};
use serde_json::Value as Json;

/// A body on a rough floor at y = 0 that slides at 1 m/s: it stops after v²/(2 μ g) = 1/6 m.
const BLOCK: &str = r#"version = 1
name = "block"
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "10*y"
[[contact]]
name = "floor"
gap = "y"
friction = 0.3
slip = "x"
[initial]
"x'" = 1
[simulation]
end = 0.5
step = 0.001
scheme = "SCHEME"
"#;

/// The ball of the testbed; `e` is zero unless a test sets it.
const BALL: &str = r#"version = 1
name = "ball"
[model]
kind = "lagrangian"
coordinates = ["y"]
kinetic = "y'^2/2"
force.y = "-2"
[[contact]]
name = "floor"
gap = "y"
restitution = 0
[initial]
y = 1
[simulation]
end = 1.5
step = 0.01
scheme = "SCHEME"
"#;

/// A pendulum of length 1 that starts horizontally, three times on the same rod; it hangs after K(1/√2)/√g =
/// 0.591957... s.
const PENDULUM: &str = r#"version = 1
name = "pendulum"
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[constraint]]
name = "rod"
value = "x^2 + y^2 - 1"
[[constraint]]
name = "same"
value = "x^2 + y^2 - 1"
[[constraint]]
name = "twice"
value = "2*x^2 + 2*y^2 - 2"
[initial]
x = 1
[simulation]
end = "1.8540746773013719/sqrt(9.81)"
steps = 200
scheme = "SCHEME"
"#;

fn name(row: &SchemeRow) -> &'static str {
    row.info.name
}

fn claims(row: &SchemeRow, claim: Claim) -> bool {
    row.info.claims.contains(&claim)
}

/// The schemes that these models are for.
fn mechanical() -> impl Iterator<Item = &'static SchemeRow> {
    SCHEMES.iter().filter(|row| row.family == Family::Mechanical)
}

/// Names of the schemes that fulfil a condition, as a hint lists them.
fn those(condition: impl Fn(&SchemeRow) -> bool) -> String {
    mechanical().filter(|row| condition(row)).map(name).collect::<Vec<_>>().join(", ")
}

/// Writes `model.toml` for a scheme and runs it.
fn run(session: &Session, model: &str, row: &SchemeRow, arguments: &[&str]) -> Outcome {
    session.write("model.toml", model.replace("SCHEME", name(row)));
    session.carom(["run", "model.toml", "--out", "out"].iter().chain(arguments))
}

/// Runs what must succeed and returns the trajectory.
fn motion(session: &Session, model: &str, row: &SchemeRow) -> Table {
    let outcome = run(session, model, row, &["--no-report"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{}", name(row));
    session.table("out/trajectory.parquet")
}

/// Line and column of a text in the model of a scheme, as an error begins.
fn place(model: &str, row: &SchemeRow, what: &str) -> String {
    let model = model.replace("SCHEME", name(row));
    let before = model.split_once(what).unwrap_or_else(|| panic!("{what} is not in the model")).0;
    let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
    format!("model.toml:{}:{column}: error: ", before.matches('\n').count() + 1)
}

/// Refused at load: code 2, the place, and nothing written.
fn refused(session: &Session, outcome: &Outcome, place: &str) {
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(2), ""), "{}", outcome.err);
    assert!(outcome.err.lines().any(|line| line.starts_with(place)), "expected {place}, got {}", outcome.err);
    assert!(!session.path("out").exists(), "a refused model made a folder");
}

/// Ended on its way: code 3, the failure everywhere, results up to there, and nothing in them that is not a number.
fn ended(session: &Session, outcome: &Outcome, row: &SchemeRow) -> (Json, Table) {
    let scheme = name(row);
    assert_eq!(outcome.code, Some(3), "{scheme}: {}{}", outcome.out, outcome.err);
    assert!(outcome.out.contains("(FAILED)"), "{scheme}: {}", outcome.out);
    assert!(outcome.err.contains("results so far are in `out`"), "{scheme}: {}", outcome.err);
    let summary = session.summary("out");
    assert_eq!(summary["status"], "failed", "{scheme}");
    let failure = summary["failure"].clone();
    assert!(outcome.err.contains(failure["message"].as_str().unwrap()), "{scheme}: {}", outcome.err);
    let table = session.table("out/trajectory.parquet");
    assert_eq!(summary["rows"], table.rows.len(), "{scheme}");
    let finite = |value: &Value| !matches!(value, Value::Number(x) if !x.is_finite());
    assert!(table.rows.iter().flatten().all(finite), "{scheme} wrote numbers that are none");
    assert!(session.path("out/impacts.parquet").exists() && session.path("out/report.html").exists(), "{scheme}");
    // a failed step ends after the last row, by at most a step
    let (last, time) = (table.last("t"), failure["time"].as_f64().unwrap());
    let step = summary["inputs"]["step"].as_f64().unwrap();
    assert!(last <= time + 1e-12 && time - last <= 1.001 * step, "{scheme}: rows end at {last}, failed at {time}");
    (failure, table)
}

#[test]
fn friction_is_solved_or_refused() {
    let session = Session::new();
    for row in mechanical() {
        if claims(row, Claim::Friction) {
            let stopped = motion(&session, BLOCK, row);
            assert!((stopped.last("q.x") - 1.0 / 6.0).abs() <= 1e-3, "{} {}", name(row), stopped.last("q.x"));
            assert!(stopped.last("v.x").abs() <= 1e-9, "{}", name(row));
            std::fs::remove_dir_all(session.path("out")).unwrap();
            continue;
        }
        let hint = format!("schemes that can: {}", those(|row| claims(row, Claim::Friction)));
        let outcome = run(&session, BLOCK, row, &[]);
        refused(&session, &outcome, &place(BLOCK, row, &format!("\"{}\"", name(row))));
        // the scheme may also come from the command line
        let outside = run(&session, BLOCK, &SCHEMES[0], &["--scheme", name(row)]);
        refused(&session, &outside, "--scheme:1:1: error: ");
        for err in [outcome.err, outside.err] {
            for word in [name(row), "friction", "`floor`", &hint] {
                assert!(err.contains(word), "{word:?} is missing in {err}");
            }
        }
    }
}

#[test]
fn restitution_is_obeyed_or_refused() {
    let session = Session::new();
    let model = BALL.replace("restitution = 0", "restitution = 0.5");
    for row in mechanical() {
        if !claims(row, Claim::Inelastic) {
            // the impact at 1 s comes up to two steps late or early, the way back is 0.25 m at 1 m/s at most
            let flight = motion(&session, &model, row);
            assert!((flight.last("q.y") - 0.25).abs() <= 0.02, "{} {}", name(row), flight.last("q.y"));
            std::fs::remove_dir_all(session.path("out")).unwrap();
            continue;
        }
        let outcome = run(&session, &model, row, &[]);
        refused(&session, &outcome, &place(&model, row, &format!("\"{}\"", name(row))));
        let hint = format!("schemes that can: {}", those(|row| !claims(row, Claim::Inelastic)));
        for word in [name(row), "restitution", "`floor`", &hint] {
            assert!(outcome.err.contains(word), "{word:?} is missing in {}", outcome.err);
        }
    }
}

/// No option of any scheme means something when it is negative.
#[test]
fn wrong_options_are_pointed_at() {
    let session = Session::new();
    let mut thetas = 0;
    for row in mechanical() {
        for option in (row.options)() {
            let values: &[&str] = match option.name.as_str() {
                "theta" => &["-0.1", "1.5", "nan", "inf"],
                "newton-tolerance" | "gap-tolerance" => &["-1", "0", "nan"],
                _ => &["-1", "nan"],
            };
            thetas += usize::from(option.name == "theta");
            for value in values {
                let start = format!("{{ name = \"{}\", {} = ", name(row), option.name);
                let table = format!("{start}{value} }}");
                let model = BALL.replace("\"SCHEME\"", &table);
                session.write("model.toml", &model);
                let (line, column) = (BALL.lines().count(), "scheme = ".len() + start.len() + 1);
                let outcome = session.carom(["run", "model.toml", "--out", "out"]);
                refused(&session, &outcome, &format!("model.toml:{line}:{column}: error: "));
                assert!(outcome.err.contains(&option.name), "{table}: {}", outcome.err);
                if !matches!(*value, "nan" | "inf") {
                    let default = format!("default {}", option.default);
                    assert!(outcome.err.contains(&default), "{table}: no {default:?} in {}", outcome.err);
                }
            }
        }
    }
    assert!(thetas > 0, "no scheme has a theta");
}

#[test]
fn wrong_steps_are_pointed_at() {
    let session = Session::new();
    for row in mechanical() {
        for step in ["0", "-0.01", "nan", "inf", "\"1/0\""] {
            let model = BALL.replace("0.01", step);
            let outcome = run(&session, &model, row, &[]);
            let at = place(&model, row, &format!("{step}\nscheme"));
            refused(&session, &outcome, &at);
        }
    }
}

#[test]
fn inconsistent_starts_are_refused_or_corrected() {
    let session = Session::new();
    for row in mechanical() {
        let sunk = BALL.replace("y = 1\n", "y = -1e-3\n");
        let outcome = run(&session, &sunk, row, &[]);
        refused(&session, &outcome, &place(&sunk, row, "\"y\"\nrestitution"));
        assert!(outcome.err.contains("`floor` is -1.000000e-3"), "{}", outcome.err);

        let long = PENDULUM.replace("x = 1\n", "x = 1.01\n");
        let outcome = run(&session, &long, row, &[]);
        refused(&session, &outcome, &place(&long, row, "\"x^2 + y^2 - 1\""));
        assert!(outcome.err.contains("`rod` is violated by 2.01"), "{}", outcome.err);

        // along the rod: the part that the constraints forbid is taken away, with a word
        let pulled = PENDULUM.replace("x = 1\n", "x = 1\n\"x'\" = 2\n\"y'\" = -1\n");
        let outcome = run(&session, &pulled, row, &["--no-report"]);
        assert_eq!(outcome.code, Some(0), "{}: {}", name(row), outcome.err);
        assert!(outcome.err.contains("warning: ") && outcome.err.contains("projected"), "{}", outcome.err);
        let table = session.table("out/trajectory.parquet");
        let start = (table.column("v.x")[0], table.column("v.y")[0]);
        assert!(start.0.abs() <= 1e-14 && (start.1 + 1.0).abs() <= 1e-14, "{}: {start:?}", name(row));
        std::fs::remove_dir_all(session.path("out")).unwrap();
    }
}

/// Two floors in the same place, and four legs on one: the ball of one contact, whatever each of them carries.
#[test]
fn redundant_contacts_give_the_right_motion() {
    let session = Session::new();
    let contact = "[[contact]]\nname = \"floor\"\ngap = \"y\"\nrestitution = 0\n";
    let twin = contact.replace("floor", "twin");
    let legs = [("1", "+ a + b"), ("2", "+ a - b"), ("3", "- a + b"), ("4", "- a - b")];
    let legs =
        legs.map(|(leg, arm)| contact.replace("floor", &format!("leg{leg}")).replace("\"y\"", &format!("\"y {arm}\"")));
    let table = BALL
        .replace("[\"y\"]", "[\"y\", \"a\", \"b\"]")
        .replace("y'^2/2", "(y'^2 + a'^2/3 + b'^2/3)/2")
        .replace(contact, &legs.concat());
    for row in mechanical() {
        for (model, tilts) in
            [(BALL.replace(contact, &format!("{contact}{twin}")), &[][..]), (table.clone(), &["a", "b"])]
        {
            let table = motion(&session, &model, row);
            // falls for 1 s, then rests where the impact left it: within h |u| of the floor
            assert!(table.last("q.y").abs() <= 0.02 && table.last("v.y").abs() <= 1e-9, "{}", name(row));
            for tilt in tilts {
                let largest = table.column(&format!("q.{tilt}")).iter().fold(0.0f64, |m, x| m.max(x.abs()));
                assert!(largest <= 1e-9, "{} tilts by {largest:e}", name(row));
            }
            // from rest to rest: the impulses of all contacts are those of the weight
            let impulses = table.names.iter().filter(|column| column.starts_with("impulse."));
            let sum: f64 = impulses.flat_map(|column| table.column(column)).sum();
            assert!((sum - 2.0 * 1.5).abs() <= 1e-9, "{}: {sum}", name(row));
        }
    }
}

#[test]
fn redundant_constraints_give_the_right_motion() {
    let session = Session::new();
    for row in mechanical() {
        let table = motion(&session, PENDULUM, row);
        // first order at least: 200 steps, a path of 1.6 m, a speed of 4.4 m/s
        assert!(table.last("q.x").abs() <= 0.02 && (table.last("q.y") + 1.0).abs() <= 1e-3, "{}", name(row));
        assert!((table.last("v.x") + f64::sqrt(2.0 * 9.81)).abs() <= 0.1, "{} {}", name(row), table.last("v.x"));
    }
}

/// Walls that meet at 1 s with a body between them.
#[test]
fn contacts_in_conflict_are_named() {
    let session = Session::new();
    let second = "restitution = 0\n[[contact]]\nname = \"ceiling\"\ngap = \"1 - y - t\"\n";
    let model = BALL.replace("restitution = 0\n", second).replace("y = 1\n", "y = 0.25\n");
    for row in mechanical() {
        let (failure, _) = ended(&session, &run(&session, &model, row, &[]), row);
        let time = failure["time"].as_f64().unwrap();
        assert!((0.95..=1.03).contains(&time), "{}: {failure}", name(row));
        assert!(failure["contact"] == "floor" || failure["contact"] == "ceiling", "{}: {failure}", name(row));
    }
}

/// The mass of one coordinate vanishes on the way and would be negative, or the speed grows without bound towards its
/// zero.
#[test]
fn a_mass_that_loses_rank_ends_the_run() {
    let session = Session::new();
    let sinking = BALL
        .replace("[\"y\"]", "[\"y\", \"x\"]")
        .replace("y'^2/2", "y'^2/2 + (y - 0.5)*x'^2/2")
        .replace("force.y = \"-2\"", "")
        .replace("y = 1\n", "y = 1\n\"y'\" = -1\n");
    // y y' = -1: y² = 1 − 2t
    let vanishing = BALL
        .replace("y'^2/2", "y^2*y'^2/2")
        .replace("force.y = \"-2\"", "")
        .replace("gap = \"y\"", "gap = \"y + 5\"")
        .replace("y = 1\n", "y = 1\n\"y'\" = -1\n");
    for row in mechanical() {
        let (failure, table) = ended(&session, &run(&session, &sinking, row, &[]), row);
        assert!((failure["time"].as_f64().unwrap() - 0.5).abs() <= 0.0201, "{}: {failure}", name(row));
        let message = failure["message"].as_str().unwrap();
        assert!(message.contains("mass matrix") && message.contains("`x`"), "{}: {message}", name(row));
        assert!((table.last("q.y") - (1.0 - table.last("t"))).abs() <= 1e-9, "{}", name(row));

        let (failure, table) = ended(&session, &run(&session, &vanishing, row, &[]), row);
        assert!((0.44..=0.51).contains(&failure["time"].as_f64().unwrap()), "{}: {failure}", name(row));
        assert!(table.rows.len() >= 45 && table.column("q.y").iter().all(|y| *y > 0.0), "{}", name(row));
    }
}

#[test]
fn forces_and_gaps_that_are_no_numbers_end_the_run() {
    let session = Session::new();
    let high = BALL.replace("y = 1\n", "y = 10\n");
    for (model, time, word, contact) in [
        (high.replace("\"-2\"", "\"-sqrt(0.5 - t)\""), 0.5, "force on `y`", Json::Null),
        (high.replace("\"-2\"", "\"-1/max(0.5 - t, 0)\""), 0.5, "force on `y`", Json::Null),
        // y = 1 − t² falls below 0.64 at 0.6 s
        (BALL.replace("gap = \"y\"", "gap = \"sqrt(y - 0.64)\""), 0.6, "gap of contact `floor`", "floor".into()),
    ] {
        for row in mechanical() {
            let outcome = run(&session, &model, row, &[]);
            // parts that end before the gap has no value any more find the floor at y = 0.64, where the ball rests
            if name(row) == "higher-order" && contact == "floor" && outcome.code == Some(0) {
                let y = session.table("out/trajectory.parquet").last("q.y");
                assert!(
                    (y - 0.64).abs() < 1e-9 && outcome.out.contains("impacts                  1\n"),
                    "{}",
                    outcome.out
                );
                continue;
            }
            let (failure, table) = ended(&session, &outcome, row);
            let at = failure["time"].as_f64().unwrap();
            assert!((at - time).abs() <= 0.0201, "{}: {failure}", name(row));
            let message = failure["message"].as_str().unwrap();
            // a scheme that chooses its steps may never reach a pole
            let stuck = name(row) == "event-driven" && message.contains("smallest step");
            assert!(message.contains(word) || stuck, "{}: {failure}", name(row));
            assert!(failure["contact"] == contact || stuck, "{}: {failure}", name(row));
            assert!(table.last("t") >= time - 0.03, "{}: rows end at {}", name(row), table.last("t"));
        }
    }
}

/// A speed that overflows when it is squared: states are numbers, energies are none.
#[test]
fn energies_that_overflow_end_the_run() {
    let session = Session::new();
    let model = BALL.replace("\"-2\"", "\"exp(700*t)\"");
    for row in mechanical() {
        let (failure, _) = ended(&session, &run(&session, &model, row, &[]), row);
        // exp(350) is the root of the largest number
        let time = failure["time"].as_f64().unwrap();
        assert!((0.45..=1.02).contains(&time), "{}: {failure}", name(row));
    }
}

/// Friction smoothed over 0.1 mm/s, from 0.5 s on: Newton's loop jumps from one side of zero to the other.
#[test]
fn a_step_that_is_too_large_for_newton_says_so() {
    let session = Session::new();
    let model = BALL
        .replace("\"-2\"", "\"-2 - 2e4*max(t - 0.5, 0)*atan(1e4*y')\"")
        .replace("y = 1\n", "y = 10\n\"y'\" = 0.3\n")
        .replace("step = 0.01", "step = 0.1");
    // the event-driven scheme is explicit: it takes the small steps that it needs, and has no such loop
    for row in mechanical().filter(|row| name(row) != "event-driven") {
        let outcome = run(&session, &model, row, &[]);
        // damped iterations may solve the stages of a step that is too large for the motion: then that is told
        if name(row) == "higher-order" && outcome.code == Some(0) {
            assert!(
                outcome.err.contains("has added energy") && outcome.err.contains("smaller step"),
                "{}",
                outcome.err
            );
            continue;
        }
        let (failure, table) = ended(&session, &outcome, row);
        assert!(failure["message"].as_str().unwrap().contains("smaller step"), "{}: {failure}", name(row));
        assert!(failure["residual"].as_f64().unwrap() > 0.0, "{}: {failure}", name(row));
        // free flight until 0.5 s, exact but for the first order of the smooth motion
        let (t, y) = (table.last("t"), table.last("q.y"));
        assert!((0.3..=0.9).contains(&t) && (y - (10.0 + 0.3 * t - t * t)).abs() <= 0.1, "{}: {t} {y}", name(row));
    }
}

/// At rest until 0.5 s; then no step meets the tolerance.
#[test]
fn the_smallest_step_ends_the_run() {
    let session = Session::new();
    let model = BALL
        .replace("\"-2\"", "\"max(t - 0.5, 0)\"")
        .replace("gap = \"y\"", "gap = \"y + 1\"")
        .replace("y = 1\n", "y = 0\n");
    let adaptive = ["--adaptive", "{ tolerance = 1e-30, min = 1e-3, max = 0.1 }"];
    let mut refusals = 0;
    for row in mechanical() {
        let outcome = run(&session, &model, row, &adaptive);
        if outcome.code == Some(2) {
            refusals += 1;
            assert!(outcome.err.starts_with(&place(&model, row, &format!("\"{}\"", name(row)))), "{}", outcome.err);
            assert!(outcome.err.contains("adaptive steps") && outcome.err.contains("schemes that can: "));
            continue;
        }
        assert_eq!(outcome.code, Some(3), "{}: {}", name(row), outcome.err);
        let (summary, table) = (session.summary("out"), session.table("out/trajectory.parquet"));
        let time = summary["failure"]["time"].as_f64().unwrap();
        // forces are taken in the middle of half steps at the latest: a quarter of a step may come after 0.5 s unseen
        assert!(time > 0.499 && time <= 0.525 + 1e-12, "{}: {time}", name(row));
        assert!(table.rows.len() > 2 && table.last("t") == time, "{}", name(row));
        // the event-driven scheme controls its error itself, within its own limits
        let own = name(row) == "event-driven";
        let words = if own {
            ["smallest step", "`h-min`", "tolerance"]
        } else {
            ["smallest step h = 1.000e-3", "`min`", "`tolerance`"]
        };
        for word in words {
            assert!(outcome.err.contains(word), "{}: {}", name(row), outcome.err);
        }
    }
    assert!(refusals < mechanical().count(), "no scheme has adaptive steps");
}

/// Names come from files and command lines, and may have any length; messages have not.
#[test]
fn names_of_any_length_make_short_errors() {
    let session = Session::new();
    let long = "a".repeat(20_000);
    let wide = "word ".repeat(4_000);
    let models = [
        session::BALL.replace("restitution =", &format!("{long} =")),
        session::BALL.replace("restitution =", &format!("\"{wide}\" =")),
        session::BALL.replace("restitution = \"e\"", &format!("restitution = \"{long}\"")),
        session::BALL.replace("kind = \"lagrangian\"", &format!("kind = \"{wide}\"")),
        session::BALL.replace("y = 1", &format!("{long} = 1")),
        session::BALL.replace("version = 1", &format!("version = 1 {long}")),
    ];
    for model in models {
        session.write("model.toml", model);
        for command in [&["check", "model.toml"][..], &["run", "model.toml"], &["check", "model.toml", "--json"]] {
            let outcome = session.carom(command);
            assert_eq!(outcome.code, Some(2), "{command:?}");
            let told = outcome.out.len() + outcome.err.len();
            assert!(told > 20 && told < 4_000, "{command:?}: {told} bytes\n{:.300}", outcome.err);
        }
    }
    session.write("ball.toml", session::BALL);
    for command in [
        &["run", "ball.toml", "--set", &format!("{long}=1")][..],
        &["run", "ball.toml", "--columns", &long],
        &["run", "ball.toml", &format!("--{long}")],
        &["run", "ball.toml", "--scheme", &long],
        &["sweep", "ball.toml", "--vary", &format!("{long}=1")],
        &["show", &long],
        &[&long],
    ] {
        let outcome = session.carom(command);
        assert_ne!(outcome.code, Some(0));
        assert!(outcome.err.len() < 4_000, "{:.60}: {} bytes", command.join(" "), outcome.err.len());
    }
}
