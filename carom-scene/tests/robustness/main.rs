//! Whatever the bytes are, loading ends with a scene or with errors that point into the text; it never panics.

mod bodies;
mod calls;
mod judge;
mod robots;

use carom_mutations::{Mutation, PIECES, mutate};
use carom_scene::{Overrides, from_str, new_example};
use judge::judge;
use proptest::prelude::*;

const CHAIN: &str = r#"
version = 1
name = "chain"
[parameters]
n = 4
k = "2*n"
[model]
kind = "linear"
force.q1 = "sin(t)"
[model.chain]
elements = "n"
mass = [[2, 1], [1, 2]]
stiffness = [["k", "-k"], ["-k", "k"]]
[[contact]]
name = "wall"
gap = "q0 + 1"
friction = 0.2
slip = ["q1", "q2"]
[[constraint]]
name = "rod"
value = "q3 - q4"
[initial]
q = 0
"q'" = 1
[simulation]
end = 1
step = 0.1
"#;

fn never_panics(text: &str, overrides: &Overrides) {
    if let Err(found) = from_str("fuzz.toml", text, overrides) {
        judge(&found);
    }
}

fn mutations() -> impl Strategy<Value = Mutation> {
    let own = ["inf", "q4", "\"\"\"", "[model]\n", "elements = 3\n"];
    let pieces = prop::sample::select([PIECES, &own].concat());
    prop_oneof![
        pieces.prop_map(|piece| Mutation::Insert(piece.to_string())),
        ".{0,3}".prop_map(Mutation::Insert),
        (1usize..30).prop_map(Mutation::Delete),
        (any::<usize>(), 1usize..60).prop_map(|(from, count)| Mutation::Copy(from, count)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn arbitrary_texts(text in "\\PC{0,200}") {
        never_panics(&text, &Overrides::default());
        never_panics(&format!("version = 1\n{text}"), &Overrides::default());
    }

    #[test]
    fn mutated_files(which in 0..2usize, changes in prop::collection::vec((any::<usize>(), mutations()), 1..6)) {
        let mut text = if which == 0 { new_example("ball") } else { CHAIN.to_string() };
        for (at, change) in &changes {
            text = mutate(&text, *at, change);
        }
        never_panics(&text, &Overrides::default());
    }

    #[test]
    fn arbitrary_overrides(name in "[a-z ]{0,3}", value in "\\PC{0,12}", step in any::<f64>(), end in any::<f64>()) {
        let text = new_example("ball");
        let set = |name: &str| vec![(name.to_string(), value.clone())];
        never_panics(&text, &Overrides { set: set(&name), ..Overrides::default() });
        never_panics(&text, &Overrides { set: set("m"), ..Overrides::default() });
        never_panics(&text, &Overrides { scheme: Some(value.clone().into()), ..Overrides::default() });
        never_panics(&text, &Overrides { solver: Some(format!("{{{value}}}").into()), ..Overrides::default() });
        never_panics(&text, &Overrides { step: Some(step.into()), end: Some(end), ..Overrides::default() });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let path = std::env::temp_dir().join(format!("carom-scene-bytes-{}.toml", std::process::id()));
        std::fs::write(&path, &bytes).unwrap();
        let outcome = carom_scene::load(&path, &Overrides::default());
        std::fs::remove_file(&path).unwrap();
        prop_assert!(outcome.is_err());
    }
}
