//! Everything that the command prints or writes without running: schema, templates, checks, lists and pages.

use super::session::{BALL, Session};
use carom_analysis::study::STUDIES;
use serde_json::Value;

#[test]
fn the_schema_is_json_and_knows_the_tables() {
    let schema: Value = serde_json::from_str(&Session::new().succeed(["schema"])).unwrap();
    assert!(schema["$schema"].as_str().unwrap().starts_with("https://json-schema.org/"));
    for table in ["version", "name", "parameters", "model", "contact", "simulation", "draw", "expect"] {
        assert!(schema["properties"].get(table).is_some(), "{table}");
    }
}

#[test]
fn a_new_model_is_good() {
    let session = Session::new();
    for (arguments, file, name) in [
        (&["new", "foo"][..], "foo.toml", "foo"),
        (&["new", "bar.toml"], "bar.toml", "bar"),
        (&["new", "a \"quoted\\ näme"], "a \"quoted\\ näme.toml", "a \"quoted\\ näme"),
        (&["new", "block", "--from", "rocking-block"], "block.toml", "rocking block"),
    ] {
        assert!(session.succeed(arguments).contains(file));
        assert!(session.succeed(["check", file]).starts_with(&format!("{file}: good\n")));
        session.succeed(["run", file, "--no-report", "--out", "out"]);
        assert_eq!(session.summary("out")["name"], name);
    }
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/rocking-block.toml");
    assert_eq!(session.read("block.toml"), std::fs::read_to_string(example).unwrap());
}

#[test]
fn files_are_not_overwritten_by_accident() {
    let session = Session::new();
    session.write("foo.toml", "precious");
    let outcome = session.carom(["new", "foo"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(2), ""));
    assert!(outcome.err.contains("foo.toml") && outcome.err.contains("--force"), "{}", outcome.err);
    assert_eq!(session.read("foo.toml"), "precious");
    session.succeed(["new", "foo", "--force"]);
    session.succeed(["check", "foo.toml"]);
}

#[test]
fn a_check_tells_what_it_read() {
    let session = Session::new();
    let out = session.succeed(["check", "rocking-block", "--set", "m=2", "--end", "1"]);
    for text in
        ["3 coordinates, 2 contacts, 0 constraints", "0 s to 1 s, step 0.01 s, 100 steps", "moreau-jean", "auto"]
    {
        assert!(out.contains(text), "{text} is not in {out}");
    }
    assert!(!session.path("out").exists());
}

#[test]
fn findings_come_as_json() {
    let session = Session::new();
    session.write("model.toml", BALL);
    let findings = |code: i32| -> Vec<Value> {
        let outcome = session.carom(["check", "model.toml", "--json"]);
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(code), ""));
        serde_json::from_str(&outcome.out).unwrap()
    };
    assert_eq!(findings(0), [] as [Value; 0]);
    session.write("model.toml", BALL.replace("restitution", "restitutoin").replace("step = 0.01", "stepp = 0.01"));
    let found = findings(2);
    assert_eq!(found.len(), 2, "two unknown keys: {found:?}");
    let first = &found[0];
    assert_eq!((&first["file"], &first["severity"]), (&"model.toml".into(), &"error".into()));
    assert_eq!((&first["line"], &first["column"]), (&16.into(), &1.into()));
    assert_eq!(first["hint"], "did you mean `restitution`?");
    let span = &first["span"];
    let range = span["start"].as_u64().unwrap() as usize..span["end"].as_u64().unwrap() as usize;
    assert_eq!(&session.read("model.toml")[range], "restitutoin");
}

#[test]
fn lists_are_complete() {
    let session = Session::new();
    for (what, names) in [
        ("schemes", carom::SCHEMES.iter().map(|row| row.info.name).collect::<Vec<_>>()),
        ("solvers", carom_solve::SOLVERS.iter().map(|row| row.info.name).collect()),
        ("studies", STUDIES.iter().map(|row| row.info.name).collect()),
        ("models", vec!["lagrangian", "linear"]),
    ] {
        let out = session.succeed(["list", what]);
        let listed: Vec<&str> = out.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
        for name in names {
            assert!(listed.contains(&name), "{name} is not in {out}");
        }
    }
}

#[test]
fn pages_have_equations_options_and_citations() {
    let session = Session::new();
    let schemes = carom::SCHEMES.iter().map(|row| (row.info.name, (row.options)(), row.info.citations));
    let solvers = carom_solve::SOLVERS.iter().map(|row| (row.info.name, (row.options)(), row.info.citations));
    let known = include_str!("../../../docs/references.bib");
    let studies = STUDIES.iter().map(|row| (row.info.name, (row.options)(), row.info.citations));
    for (name, options, citations) in schemes.chain(solvers).chain(studies) {
        let page = session.succeed(["show", name]);
        assert!(page.contains(&format!("`{name}`")), "{page}");
        for option in options {
            assert!(
                page.contains(&format!("  {} = {}\n", option.name, option.default.replace("null", "none"))),
                "{name}: {}",
                option.name
            );
        }
        for key in citations {
            assert!(page.contains(key) && known.contains(&format!("{{{key},")), "{name}: {key}");
        }
    }
    let page = session.succeed(["show", "moreau-jean"]);
    for text in
        ["M(q_θ)(v⁺ − v) = h F(t_θ, q_θ, v_θ) + B P", "theta = 0.5", "forecast = \"free\"", "moreau1988", "order 1"]
    {
        assert!(page.contains(text), "{text} is not in {page}");
    }
    let page = session.succeed(["show", "nsgs"]);
    for text in ["λᵢ ∈ Lawᵢ(Wᵢᵢ λᵢ + bᵢ", "max-sweeps = 10000", "tolerance = 1e-10", "jean1999"] {
        assert!(page.contains(text), "{text} is not in {page}");
    }
}

#[test]
fn help_of_a_study_begins_with_its_title() {
    for row in STUDIES {
        let help = Session::new().succeed([row.info.name, "--help"]);
        assert!(help.starts_with(row.info.title), "{help}");
    }
}

#[test]
fn help_tells_the_exit_codes() {
    let session = Session::new();
    let help = session.succeed(["--help"]);
    for code in ["0 finished", "1 ", "2 bad input", "3 the computation failed", "4 ", "130 interrupted"] {
        assert!(help.contains(code), "{code} is not in {help}");
    }
    for command in ["run", "check", "list", "show", "new", "schema"] {
        assert!(session.succeed([command, "--help"]).contains("Usage"), "{command}");
    }
    // each option of a study is a flag, with its meaning
    for row in STUDIES {
        let help = session.succeed([row.info.name, "--help"]);
        let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for option in (row.options)() {
            let meaning: Vec<&str> = option.meaning.split_whitespace().take(5).collect();
            assert!(help.contains(&format!("--{}", option.name)) && words.contains(&meaning.join(" ")), "{help}");
        }
    }
    assert_eq!(session.succeed(["--version"]), format!("carom {}\n", env!("CARGO_PKG_VERSION")));
}
