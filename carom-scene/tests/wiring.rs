//! Circuits whose wiring is doubtful: parts that float, nodes that dangle, sources that are shorted, parallel
//! capacitors.

use carom_scene::{Diagnostic, Overrides, Scene, from_str};

fn load(model: &str, initial: &str) -> Result<Scene, Vec<Diagnostic>> {
    let text = format!(
        "version = 1\nname = \"x\"\nsimulation = {{ end = 1, step = 0.01 }}\ninitial = {{ {initial} }}\n\
         [model]\nkind = \"circuit\"\n{model}\n"
    );
    from_str("test.toml", &text, &Overrides::default())
}

fn good(model: &str, initial: &str) -> Scene {
    load(model, initial).unwrap_or_else(|all| panic!("{}", all[0]))
}

const CHARGE: &str = "voltage = { V = [\"a\", 0, 1] }\nresistor = { R = [\"a\", \"b\", 1]EXTRA }\n\
                      capacitor = { K = [\"b\", 0, 1]MORE }";

#[test]
fn floating_parts_and_dangling_nodes_are_named() {
    let sound = good(&CHARGE.replace("EXTRA", "").replace("MORE", ""), "");
    assert!(sound.warnings.is_empty(), "{}", sound.warnings[0]);
    let floating = ", S = [\"p\", \"q\", 2]";
    let scene = good(&CHARGE.replace("EXTRA", floating).replace("MORE", ", M = [\"p\", \"q\", 1]"), "M = 1");
    assert_eq!(scene.warnings.len(), 1);
    let text = scene.warnings[0].to_string();
    assert!(text.contains("`p`, `q`") && text.contains("not connected to the ground `0`"), "{text}");
    let scene = good(&CHARGE.replace("EXTRA", ", S = [\"b\", \"bb\", 2]").replace("MORE", ""), "");
    assert_eq!(scene.warnings.len(), 1);
    let text = scene.warnings[0].to_string();
    assert!(text.contains("`bb`") && text.contains("`S`"), "{text}");
}

/// Two capacitors side by side: either may be set, not both. 3 F discharge through 1 Ω from 2 V: v = 2 e^{−t/3}.
#[test]
fn either_of_two_parallel_capacitors_may_be_set() {
    let circuit = "resistor = { R = [\"b\", 0, 1] }\ncapacitor = { K1 = [\"b\", 0, 1], K2 = [0, \"b\", 2] }";
    for (initial, sign) in [("K1 = 2", 1.0), ("K2 = -2", -1.0)] {
        let scene = good(circuit, initial);
        let solution = scene.simulation().unwrap().record().unwrap();
        let v = sign * solution.q(solution.len() - 1)[0];
        assert!((v - 2.0 * (-1f64 / 3.0).exp()).abs() < 1e-5, "{initial}: {v}");
    }
    let text = load(circuit, "K1 = 2, K2 = -2").unwrap_err()[0].to_string();
    assert!(text.contains("is no state: its voltage follows from"), "{text}");
    // inductors in a row likewise
    let circuit = "resistor = { R = [\"a\", 0, 1] }\ninductor = { L1 = [\"a\", \"b\", 1], L2 = [\"b\", 0, 2] }";
    for initial in ["L1 = 2", "L2 = 2"] {
        let scene = good(circuit, initial);
        let solution = scene.simulation().unwrap().record().unwrap();
        let i = solution.q(solution.len() - 1)[0];
        assert!((i - 2.0 * (-1f64 / 3.0).exp()).abs() < 1e-5, "{initial}: {i}");
    }
}

/// A switch that closes at t = 1/2, and a diode that conducts when the source is positive, across the source.
#[test]
fn a_shorted_source_is_named() {
    let run = |circuit: &str| good(circuit, "").simulation().unwrap().run(&mut []).map_err(|error| error.to_string());
    let load = "resistor = { R = [\"a\", 0, 1] }";
    let switch = format!("{load}\nvoltage = {{ V = [\"a\", 0, 5] }}\nswitch = {{ S = [\"a\", 0, \"t - 0.5\"] }}");
    let text = run(&switch).unwrap_err();
    assert!(text.contains("`V` would be shorted through `S` with 5e0 V") && text.contains("t = 0.5"), "{text}");
    let diode = format!("{load}\nvoltage = {{ V = [\"a\", 0, \"sin(2*pi*t + pi)\"] }}\ndiode = {{ D = [\"a\", 0] }}");
    let text = run(&diode).unwrap_err();
    assert!(text.contains("`V` would be shorted through `D`"), "{text}");
    // through a switch and a diode, which must both conduct
    let both = |gate: &str, nodes: &str| {
        format!(
            "{load}\nvoltage = {{ V = [\"a\", 0, 5] }}\nswitch = {{ S = [\"a\", \"c\", {gate:?}] }}\n\
             diode = {{ D = [{nodes}] }}"
        )
    };
    assert!(run(&both("t - 0.5", "\"c\", 0")).unwrap_err().contains("`V` would be shorted through"));
    assert_eq!(run(&both("t - 0.5", "0, \"c\"")), Ok(true));
    assert_eq!(run(&both("t - 5", "\"c\", 0")), Ok(true));
}
