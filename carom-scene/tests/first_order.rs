//! First-order models from files: their examples reproduce their numbers, circuits and hand-written matrices agree, and
//! mistakes are told.

use carom::scheme::Family;
use carom::simulation::Recorder;
use carom_scene::{Diagnostic, Overrides, Scene, examples, from_str};

fn scene(name: &str, overrides: &Overrides) -> Scene {
    let scene = examples::load(name, overrides).unwrap();
    scene.unwrap_or_else(|all| panic!("{name}: {}", all.iter().map(|d| d.to_string()).collect::<String>()))
}

fn load(text: &str) -> Result<Scene, Vec<Diagnostic>> {
    from_str("test.toml", text, &Overrides::default())
}

/// States at the end of a run.
fn last(scene: &Scene) -> Vec<f64> {
    let mut simulation = scene.simulation().unwrap();
    let mut recorder = Recorder::default();
    assert!(simulation.run(&mut [&mut recorder]).unwrap());
    let solution = recorder.into_solution();
    solution.q(solution.len() - 1).to_vec()
}

#[test]
fn examples_reproduce_their_numbers() {
    for name in [
        "play-operator",
        "swept-disc",
        "swept-corner",
        "diode-bridge",
        "rectifier",
        "buck-converter",
        "sliding-mode",
        "twisting-controller",
        "higher-order-sweeping",
    ] {
        let scene = scene(name, &Overrides::default());
        assert_eq!(scene.family, Family::FirstOrder);
        assert!(scene.warnings.is_empty(), "{name}: {}", scene.warnings[0]);
        let mut simulation = scene.simulation().unwrap();
        let mut watch = scene.watch();
        assert!(simulation.run(&mut [&mut watch]).unwrap_or_else(|e| panic!("{name}: {e}")));
        for outcome in watch.outcomes() {
            let e = &outcome.expectation;
            println!("{name}: {} is {:e}, expected {:e} ± {:e}", e.text, outcome.actual, e.value, e.tolerance);
            assert!(
                outcome.holds,
                "{name}: {} is {:e}, expected {:e} ± {:e}",
                e.text, outcome.actual, e.value, e.tolerance
            );
        }
    }
}

/// The bridge from its netlist gives the public reference of the theta scheme: at 1e-4 s, and after one step.
#[test]
fn bridge_from_a_netlist() {
    for (end, v, i) in [(1e-4, 4.75147525329419, 0.0800878114572444), (1e-6, 9.98951075147973, 9.99475537573987e-4)] {
        let x = last(&scene("diode-bridge", &Overrides { end: Some(end), ..Overrides::default() }));
        assert!((x[0] - v).abs() < 1e-10 && (x[1] - i).abs() < 1e-10, "{x:?}");
    }
}

/// The same bridge as matrices.
#[test]
fn bridge_from_matrices() {
    let text = r#"
version = 1
name = "bridge"
[parameters]
L = 1e-2
C = 1e-6
R = 1e3
[model]
kind = "lcs"
states = ["v", "i"]
A = [[0, "-1/C"], ["1/L", 0]]
B = [[0, 0, "-1/C", "1/C"], [0, 0, 0, 0]]
C = [[0, 0], [0, 0], [-1, 0], [1, 0]]
D = [["1/R", "1/R", -1, 0], ["1/R", "1/R", 0, -1], [1, 0, 0, 0], [0, 1, 0, 0]]
[initial]
v = 10
[simulation]
end = 1e-4
step = 1e-6
scheme = { name = "euler-moreau", theta = 0.5 }
[[expect]]
quantity = "final x.v"
value = 4.75147525329419
tolerance = 1e-10
"#;
    let scene = load(text).unwrap_or_else(|all| panic!("{}", all[0]));
    let x = last(&scene);
    assert!((x[0] - 4.75147525329419).abs() < 1e-10 && (x[1] - 0.0800878114572444).abs() < 1e-10, "{x:?}");
    let names: Vec<String> = scene.columns().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names[..4], ["t", "x.v", "x.i", "y.y0"]);
    assert!(names.contains(&"lambda.y3".to_string()) && names.contains(&"impulse.y3".to_string()));
}

/// A clamped RC circuit against its closed form: v = 10 (1 − e^{−t/RC}) until the breakdown voltage, which then holds
/// it.
#[test]
fn zener_clamps() {
    let text = r#"
version = 1
name = "clamp"
simulation = { end = 2.0, step = 1e-3 }
[model]
kind = "circuit"
voltage = { V = ["a", 0, 10] }
resistor = { R = ["a", "b", 1] }
capacitor = { K = ["b", 0, 1] }
zener = { Z = [0, "b", 5] }
[[expect]]
quantity = "final K"
value = 5
tolerance = 1e-12
source = "the breakdown voltage"
[[expect]]
quantity = "final i.Z"
value = -5
tolerance = 1e-9
source = "the current through R at 5 V"
[[expect]]
quantity = "final v.Z"
value = -5
tolerance = 1e-12
[[expect]]
quantity = "mean v.b"
value = "10*log(2)/2 - 5/2 + 5*(2 - log(2))/2"   # ∫ 10 (1 - e^-t) over [0, ln 2], then 5
tolerance = 2e-3
"#;
    let scene = load(text).unwrap_or_else(|all| panic!("{}", all[0]));
    let mut simulation = scene.simulation().unwrap();
    let mut watch = scene.watch();
    simulation.run(&mut [&mut watch]).unwrap();
    for outcome in watch.outcomes() {
        assert!(outcome.holds, "{} is {:e}", outcome.expectation.text, outcome.actual);
    }
}

/// Circuits without states and without diodes: a resistive rectifier, and the charge of a capacitor.
#[test]
fn plain_circuits() {
    let text = r#"
version = 1
name = "resistive"
simulation = { end = "2*pi", steps = 1000 }
[model]
kind = "circuit"
voltage = { V = ["a", 0, "sin(t)"] }
diode = { D = ["a", "b"] }
resistor = { R = ["b", 0, 2] }
[[expect]]
quantity = "mean i.R"
value = "1/(2*pi)"
tolerance = 1e-5
source = "half a sine over 2"
[[expect]]
quantity = "min v.D"
value = -1
tolerance = 1e-4
source = "the source at its minimum"
[[expect]]
quantity = "min i.R"
value = 0
tolerance = 1e-15
"#;
    let linear = r#"
version = 1
name = "charge"
simulation = { end = 1, step = 1e-3, scheme = { name = "euler-moreau", theta = 0.5 } }
[model]
kind = "circuit"
voltage = { V = ["a", 0, 1] }
resistor = { R = ["a", "b", 1] }
capacitor = { K = ["b", 0, 1] }
[[expect]]
quantity = "final K"
value = "1 - exp(-1)"
tolerance = 1e-7
"#;
    for text in [text, linear] {
        let scene = load(text).unwrap_or_else(|all| panic!("{}", all[0]));
        let mut simulation = scene.simulation().unwrap();
        let mut watch = scene.watch();
        simulation.run(&mut [&mut watch]).unwrap();
        for outcome in watch.outcomes() {
            assert!(outcome.holds, "{} is {:e}", outcome.expectation.text, outcome.actual);
        }
    }
}

/// A nonlinear system with its tangents: x' = −x³ + λ, 0 ≤ x − 1/2 ⊥ λ ≥ 0. Free until x = 1/2: x = (1 + 2t)^(−1/2),
/// then λ = 1/8.
#[test]
fn nonlinear_equations() {
    let text = r#"
version = 1
name = "cubic"
[model]
kind = "first-order"
states = ["x"]
rate = { x = "-x^3" }
[[row]]
name = "stop"
output = "x - 1/2"
input = { x = 1 }
[initial]
x = 1
[simulation]
end = 1.0
step = 1e-3
"#;
    let free = load(text).unwrap_or_else(|all| panic!("{}", all[0]));
    assert!((last(&free)[0] - 3f64.powf(-0.5)).abs() < 1e-3);
    let stopped = free.with_overrides(&Overrides { end: Some(3.0), ..Overrides::default() }).unwrap();
    assert!((last(&stopped)[0] - 0.5).abs() < 1e-12);
    let lambda = stopped.columns().into_iter().find(|(name, _)| name == "lambda.stop").unwrap().1;
    let (mut sampler, mut row) = (stopped.sampler(&[lambda]), Vec::new());
    let mut simulation = stopped.simulation().unwrap();
    simulation.run(&mut []).unwrap();
    sampler.sample(simulation.stepper(), &mut row).unwrap();
    // after the last step both states are the last one: what is left is λ of that step
    assert!((row[0] - 0.125).abs() < 1e-9, "{row:?}");
}

/// Each mistake is told with its place.
#[test]
fn mistakes() {
    let base = |model: &str, rest: &str| {
        format!("version = 1\nname = \"x\"\nsimulation = {{ end = 1, step = 0.1 }}\n{rest}\n[model]\n{model}\n")
    };
    let circuit = "kind = \"circuit\"\n";
    for (text, message) in [
        (base("kind = \"sweeping\"\nstates = [\"u\"]", ""), "a sweeping process needs a moving set"),
        (
            base("kind = \"sweeping\"\nstates = [\"u\"]\n[[set]]\nname = \"k\"", ""),
            "a set is an interval, a ball, or half-spaces",
        ),
        (
            base("kind = \"sweeping\"\nstates = [\"u\"]\n[[set]]\nname = \"k\"\ninside = \"u^2 - t\"", ""),
            "the expression is not affine in u",
        ),
        (
            base("kind = \"sweeping\"\nstates = [\"u\"]\n[[set]]\nname = \"k\"\ninside = \"sign(u)\"", ""),
            "the expression is not affine in u",
        ),
        (
            base("kind = \"sweeping\"\nstates = [\"u\"]\n[[set]]\nname = \"k\"\nstate = \"w\"\nlower = 0", ""),
            "there is no state `w`",
        ),
        (
            base("kind = \"sweeping\"\nstates = [\"u\"]\n[[set]]\nname = \"k\"\ncenter = [0, 0]\nradius = 1", ""),
            "the centre has 2 coordinates, but there are 1 states",
        ),
        (base("kind = \"lcs\"\nA = [[0, 1]]", ""), "row 1 of A has 2 entries, expected 1"),
        (base("kind = \"lcs\"\nA = [[1]]\nC = [[1]]\nB = [[1, 2]]", ""), "row 1 of B has 2 entries, expected 1"),
        (base("kind = \"lcs\"\nA = [[1]]\na = [1, 2]", ""), "a has 2 entries, expected 1"),
        (base("kind = \"lcs\"\nA = [[1]]\na = \"x0\"", ""), "the source depends on x0"),
        (
            base("kind = \"lcs\"\nA = [[1]]\nC = [[1]]\nB = [[1]]\n[[row]]\nname = \"r\"\nlaw = \"rely\"", ""),
            "unknown law \"rely\"",
        ),
        (
            base("kind = \"lcs\"\nA = [[1]]\nC = [[1]]\nB = [[1]]\n[[row]]\nname = \"r\"\nlower = 0", ""),
            "only a relay has bounds",
        ),
        (
            base(
                "kind = \"lcs\"\nA = [[1]]\nC = [[1]]\nB = [[1]]\n[[row]]\nname = \"r\"\nlaw = \"relay\"\nlower = 2",
                "",
            ),
            "the lower bound 2 is above the upper bound 1",
        ),
        (base("kind = \"first-order\"\nstates = [\"x\"]\n[[row]]\nname = \"r\"", ""), "the row `r` has no `output`"),
        (
            base("kind = \"first-order\"\nstates = [\"x\"]\n[[row]]\nname = \"r\"\noutput = \"x + lambda_r\"", ""),
            "the output depends on the multiplier lambda_r",
        ),
        (base("kind = \"first-order\"\nstates = [\"x\"]\nrate = { y = 1 }", ""), "there is no state `y`"),
        (
            base("kind = \"first-order\"\nstates = [\"x\"]\n[[contact]]\nname = \"c\"\ngap = \"x\"", ""),
            "contacts and constraints belong to mechanical models",
        ),
        (
            base("kind = \"lagrangian\"\ncoordinates = [\"x\"]\nkinetic = \"x'^2\"\n[[row]]\nname = \"c\"", ""),
            "[[row]] and [[set]] belong to first-order models",
        ),
        (base(circuit, ""), "the circuit has no elements"),
        (base(&format!("{circuit}resistor = {{ R = [\"a\", \"b\"] }}"), ""), "the resistor `R` has no value"),
        (
            base(&format!("{circuit}resistor = {{ R = [\"a\", \"b\", -1] }}"), ""),
            "the value of the resistor is -1, not positive",
        ),
        (base(&format!("{circuit}resistor = {{ R = [\"a\", \"a\", 1] }}"), ""), "both ends of `R` are at the node `a`"),
        (
            base(&format!("{circuit}resistor = {{ R = [\"a\"] }}"), ""),
            "an element has two nodes and a value, found 1 items",
        ),
        (base(&format!("{circuit}diode = {{ D = [\"a\", \"b\", 1] }}"), ""), "an ideal diode has no value"),
        (
            base(&format!("{circuit}ground = \"q\"\nresistor = {{ R = [\"a\", \"b\", 1] }}"), ""),
            "no element has the node `q`",
        ),
        (
            base(&format!("{circuit}voltage = {{ V = [\"a\", \"b\", 1], W = [\"b\", \"a\", 2] }}"), ""),
            "the voltage sources `W`, `V` form a loop",
        ),
        (
            base(
                &format!("{circuit}current = {{ I = [\"a\", \"b\", 1] }}\nresistor = {{ R = [\"a\", \"c\", 1] }}"),
                "",
            ),
            "the current sources `I` have no other way for their current",
        ),
        (
            base(
                &format!("{circuit}resistor = {{ R = [\"a\", \"b\", 1] }}\ncapacitor = {{ R = [\"a\", \"b\", 1] }}"),
                "",
            ),
            "another element has the name `R`",
        ),
        (
            base(
                &format!("{circuit}capacitor = {{ K = [\"a\", \"b\", 1] }}\nresistor = {{ R = [\"a\", \"b\", 1] }}"),
                "initial = { R = 1 }",
            ),
            "there is no state `R`",
        ),
    ] {
        let found = load(&text).err().unwrap_or_else(|| panic!("no error for\n{text}"));
        assert!(found.iter().any(|d| d.message.contains(message)), "{message}: {found:?}");
    }
}

/// A mechanical scheme is refused with those that can.
#[test]
fn schemes_of_the_other_family_are_refused() {
    let overrides = Overrides { scheme: Some("moreau-jean".into()), ..Overrides::default() };
    let found = examples::load("rectifier", &overrides).unwrap().unwrap_err();
    let text = found[0].to_string();
    assert!(text.contains("first-order") && text.contains("euler-moreau"), "{text}");
    let overrides = Overrides { scheme: Some("euler-moreau".into()), ..Overrides::default() };
    let found = examples::load("bouncing-ball", &overrides).unwrap().unwrap_err();
    assert!(found[0].to_string().contains("mechanical"), "{}", found[0]);
}

/// The model files of the documentation are read without errors.
#[test]
fn documented_files() {
    let text = include_str!("../../docs/model-files.md");
    let blocks = text.split("```toml\n").skip(1).filter_map(|part| part.split_once("```")).map(|(block, _)| block);
    let mut count = 0;
    for block in blocks {
        let kind = |name: &str| block.contains(&format!("kind = \"{name}\""));
        let head = "version = 1\nname = \"d\"\nparameters = { L = 1, C = 1 }\nsimulation = { end = 1, step = 0.1 }\n";
        let whole = if block.starts_with("version") { block.to_string() } else { format!("{head}{block}") };
        if ["sweeping", "lcs", "first-order", "circuit"].into_iter().any(kind) {
            load(&whole).unwrap_or_else(|all| panic!("{}\n{whole}", all[0]));
            count += 1;
        }
    }
    assert_eq!(count, 4);
}
