//! Schemes that fit: by default from the relative degree and the laws, refused where they are not consistent, with the
//! one to take; and what they leave in the results.

use carom::simulation::Recorder;
use carom_scene::{Diagnostic, Overrides, Scene, from_str};

fn load(text: &str, scheme: &str) -> Result<Scene, Vec<Diagnostic>> {
    let scheme = (!scheme.is_empty()).then(|| scheme.into());
    from_str("test.toml", text, &Overrides { scheme, ..Overrides::default() })
}

fn good(text: &str, scheme: &str) -> Scene {
    load(text, scheme).unwrap_or_else(|all| panic!("{}", all[0]))
}

fn last(scene: &Scene) -> Vec<f64> {
    let mut recorder = Recorder::default();
    scene.simulation().unwrap().run(&mut [&mut recorder]).unwrap();
    let solution = recorder.into_solution();
    solution.q(solution.len() - 1).to_vec()
}

/// x⁽ʳ⁾ = −1 + λ with x = 1 at rest, 0 ≤ x ⊥ λ ≥ 0, as a chain of r integrators.
fn chain(r: usize) -> String {
    let row = |i: usize| (0..r).map(|j| if j == i + 1 { "1" } else { "0" }).collect::<Vec<_>>().join(", ");
    let a: Vec<String> = (0..r).map(|i| format!("[{}]", row(i))).collect();
    let unit = |i: usize| if i + 1 == r { "1" } else { "0" };
    let b: Vec<String> = (0..r).map(|i| format!("[{}]", unit(i))).collect();
    let source: Vec<String> = (0..r).map(|i| if i + 1 == r { "-1".into() } else { "0".to_string() }).collect();
    let c: Vec<&str> = (0..r).map(|i| if i == 0 { "1" } else { "0" }).collect();
    format!(
        "version = 1\nname = \"chain\"\ninitial = {{ x0 = 1 }}\nsimulation = {{ end = 3, step = 1e-3 }}\n\
         [model]\nkind = \"lcs\"\nA = [{}]\nB = [{}]\nC = [[{}]]\na = [{}]\n",
        a.join(", "),
        b.join(", "),
        c.join(", "),
        source.join(", ")
    )
}

#[test]
fn the_scheme_follows_from_the_relative_degree() {
    for (r, name) in [(1, "euler-moreau"), (2, "homsp"), (3, "homsp"), (4, "homsp")] {
        let scene = good(&chain(r), "");
        assert_eq!(scene.scheme.name, name, "relative degree {r}");
        // x = 1 − tʳ/r! comes to zero before t = 3 and stays there
        let x = last(&scene);
        assert!(x.iter().all(|x| x.abs() < 1e-12), "relative degree {r}: {x:?}");
    }
    // laws that bind decide, relays do not
    let relay = format!("{}[[row]]\nname = \"r\"\nlaw = \"relay\"\n", chain(2));
    assert_eq!(good(&relay, "").scheme.name, "euler-moreau");
    let equality = format!("{}[[row]]\nname = \"r\"\nlaw = \"equality\"\n", chain(2));
    assert_eq!(good(&equality, "").scheme.name, "homsp");
}

#[test]
fn an_inconsistent_scheme_is_refused_with_the_one_to_take() {
    for r in [2, 3] {
        let found = load(&chain(r), "euler-moreau").unwrap_err();
        let text = found[0].to_string();
        assert!(text.contains(&format!("relative degree {r}")) && text.contains("take `homsp`"), "{text}");
        assert!(text.contains("schemes that can: homsp"), "{text}");
    }
    good(&chain(1), "euler-moreau");
    // who asks for it gets it, and is told
    let scene = good(&chain(2), "{ name = \"euler-moreau\", any-degree = true }");
    let mut simulation = scene.simulation().unwrap();
    simulation.run(&mut []).unwrap();
    let warnings = simulation.warnings().sorted();
    assert!(warnings.iter().any(|warning| warning.kind.name == "inconsistent"), "{warnings:?}");
}

const PENDULUM: &str = r#"
version = 1
name = "pendulum above a floor"
simulation = { end = 1, step = 1e-2 }
initial = { p = 1 }
[model]
kind = "first-order"
states = ["p", "w"]
rate = { p = "w", w = "-sin(p)" }
[[row]]
name = "floor"
output = "p"
input = { w = "INPUT" }
"#;

/// Nonlinear systems are judged by their inputs at several states.
#[test]
fn nonlinear_systems_of_high_degree_are_refused() {
    let text = load(&PENDULUM.replace("INPUT", "1 + p^2"), "").unwrap_err()[0].to_string();
    assert!(text.contains("`floor`") && text.contains("relative degree 2 or more"), "{text}");
    // the multiplier acts on the output itself, though not at the initial state
    good(&PENDULUM.replace("w = \"INPUT\"", "p = \"sin(p - 1)^2\""), "");
    // a relay has bounds
    good(&PENDULUM.replace("INPUT", "1").replace("output", "law = \"relay\"\noutput"), "");
}

/// x''' = −1 + λ: x = 1 − t³/6 until t₁ = ∛6, where x' = −t₁²/2 and x'' = −t₁ jump to zero; then λ = 1.
#[test]
fn measures_of_all_levels_are_columns() {
    let text = format!(
        "{}[[expect]]\nquantity = \"sum impulse.y0\"\nvalue = 3\ntolerance = 2e-3\nsource = \"closed form\"\n\
         [[expect]]\nquantity = \"sum mu2.y0\"\nvalue = \"6^(2/3)/2\"\ntolerance = 4e-3\nsource = \"closed form\"\n\
         [[expect]]\nquantity = \"sum mu1.y0\"\nvalue = 0\ntolerance = 4e-3\nsource = \"closed form\"\n",
        chain(3)
    );
    let scene = good(&text, "");
    let names: Vec<String> = scene.columns().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names[names.len() - 3..], ["impulse.y0", "mu1.y0", "mu2.y0"]);
    let mut watch = scene.watch();
    scene.simulation().unwrap().run(&mut [&mut watch]).unwrap();
    for outcome in watch.outcomes() {
        assert!(outcome.holds, "{} is {:e}", outcome.expectation.text, outcome.actual);
    }
    // other schemes and degrees have none
    assert!(good(&chain(1), "").columns().iter().all(|(name, _)| !name.starts_with("mu")));
}

/// A capacitor charged to 1 V through a time constant of 1 ns in steps of 1 us: θ = 1/2 would ring between 0 and 2 V.
/// With 1 s it is of second order: v = 1 − e^{−t}.
#[test]
fn steps_that_do_not_resolve_a_rate_are_damped() {
    let text = r#"
version = 1
name = "charge"
simulation = { end = 1, steps = 10 }
parameters = { R = 1 }
[model]
kind = "circuit"
voltage = { V = ["a", 0, 1] }
resistor = { R = ["a", "b", "R"] }
capacitor = { K = ["b", 0, 1] }
"#;
    let error = |set: &str, steps: u64, exact: f64| {
        let set = vec![("R".to_string(), set.to_string())];
        let overrides = Overrides { set, steps: Some(steps), ..Overrides::default() };
        let scene = from_str("test.toml", text, &overrides).unwrap_or_else(|all| panic!("{}", all[0]));
        (last(&scene)[0] - exact).abs()
    };
    assert!(error("1e-3", 10, 1.0) < 1e-9);
    let errors = [20, 40].map(|steps| error("1", steps, 1.0 - (-1f64).exp()));
    let order = (errors[0] / errors[1]).log2();
    assert!((order - 2.0).abs() < 0.05, "{errors:?}");
}

/// A step may be an expression of parameters; what is none is told at its place.
#[test]
fn a_step_from_outside_may_be_an_expression() {
    let text = format!("parameters = {{ period = 0.5 }}\n{}", chain(1));
    let with = |step: &str| {
        let overrides = Overrides { step: Some(step.to_string().into()), ..Overrides::default() };
        from_str("test.toml", &text, &overrides)
    };
    assert_eq!(with("period/200").unwrap_or_else(|all| panic!("{}", all[0])).span.step, 0.0025);
    assert_eq!(with(" 1e-2 ").unwrap_or_else(|all| panic!("{}", all[0])).span.step, 0.01);
    for (step, message) in [("periot/200", "--step"), ("period/0", "not"), ("-period", "not positive")] {
        let text = with(step).unwrap_err()[0].to_string();
        assert!(text.contains(message), "{step}: {text}");
    }
}

/// Super-twisting: the input k₁√|s| has no slope where s ends. s = x + v comes to zero and stays, so that x = e^{−t}
/// from there on. Every step that is asked for works.
#[test]
fn an_input_like_a_root_converges() {
    let text = r#"
version = 1
name = "super-twisting"
[parameters]
L = 1.5
[model]
kind = "first-order"
states = ["x", "v", "nu"]
rate = { x = "v", v = "nu + 0.3*sin(5*t)" }
[[row]]
name = "sign"
law = "relay"
output = "x + v"
input = { v = "1.5*sqrt(L)*sqrt(abs(x + v))", nu = "1.1*L" }
[initial]
x = 0.5
[simulation]
end = 6.0
step = 1e-3
"#;
    for step in [1e-2, 4e-3, 1e-3, 2.5e-4] {
        let overrides = Overrides { step: Some(step.into()), ..Overrides::default() };
        let scene = from_str("test.toml", text, &overrides).unwrap_or_else(|all| panic!("{}", all[0]));
        let solution = scene.simulation().unwrap().record().unwrap_or_else(|e| panic!("h = {step}: {e}"));
        let at = |t: f64| {
            let k = (0..solution.len()).min_by(|&a, &b| {
                let far = |k: usize| (solution.t[k] - t).abs();
                far(a).total_cmp(&far(b))
            });
            solution.q(k.unwrap()).to_vec()
        };
        let (early, late) = (at(4.0), at(6.0));
        assert!((late[0] + late[1]).abs() < 20.0 * step * step, "h = {step}: s = {:e}", late[0] + late[1]);
        let decay = late[0] / early[0];
        assert!((decay - (-2f64).exp()).abs() < 0.2 * step, "h = {step}: {decay}");
    }
}

/// Schemes without a law of impacts name those that have it, a law that nobody knows names all, and studies that need
/// derivatives of impacts say so.
#[test]
fn impact_laws_are_refused_with_those_that_can() {
    let cradle = carom_scene::examples::find("newtons-cradle").unwrap();
    let text = cradle.replace("step = 1e-5", "step = 1e-5\nimpacts = \"sequential\"");
    let refused = load(&text, "schatzman-paoli").unwrap_err();
    let told: String = refused.iter().map(ToString::to_string).collect();
    let can = "schemes that can: moreau-jean, direct-projection, combined-projection, event-driven";
    assert!(told.contains("Newton's impact law alone") && told.contains(can), "{told}");
    let scene = load(&text, "moreau-jean").unwrap();
    assert_eq!(scene.impacts, carom::ImpactLaw::Sequential);
    for refused in [scene.sensitivity(&[]).err(), scene.step_sensitivity(&[]).err()] {
        let told = refused.unwrap().to_string();
        assert!(told.contains("Newton's law alone"), "{told}");
    }
    let wrong = load(&text.replace("sequential", "sequentiel"), "moreau-jean").unwrap_err();
    let told: String = wrong.iter().map(ToString::to_string).collect();
    assert!(told.contains("unknown impact law \"sequentiel\"") && told.contains("sequential"), "{told}");
    let first_order = load(
        &carom_scene::examples::find("play-operator")
            .unwrap()
            .replace("[simulation]", "[simulation]\nimpacts = \"poisson\""),
        "euler-moreau",
    );
    let told: String = first_order.unwrap_err().iter().map(ToString::to_string).collect();
    assert!(told.contains("impact law"), "{told}");
}
