//! Event-driven runs of model files: lists of events, and hostile files that must end in typed errors with what was
//! computed before.

use carom::simulation::{Lists, Recorder, SimulationError};
use carom_scene::{Overrides, Scene, from_str, load};
use std::path::Path;

/// Names and times of all events.
fn events(scene: &Scene) -> Vec<(String, f64)> {
    let mut lists = Lists::new(usize::MAX);
    scene.simulation().unwrap().run(&mut [&mut lists]).unwrap();
    lists.events.into_iter().map(|event| (event.name, event.t)).collect()
}

/// Each region ends or begins once, whatever the step and the flow, and the list is that of one instant.
#[test]
fn events_of_the_kinked_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/kinked-table.toml");
    for flow in ["hem5", "rkf45"] {
        for edge in ["contact", "lcp", "sort"] {
            for step in [0.02, 0.1, 0.5, 0.6, 0.037] {
                let scheme = format!(
                    "{{ name = \"event-driven\", flow = \"{flow}\", edge = \"{edge}\", atol = 1e-11, rtol = 0.0 }}"
                );
                let overrides =
                    Overrides { scheme: Some(scheme.into()), step: Some(step.into()), ..Overrides::default() };
                let scene = load(&path, &overrides).unwrap_or_else(|all| panic!("{}", all[0]));
                let found = events(&scene);
                let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
                let expected = ["edge.flat", "edge.ramp", "impact.ramp", "take-off.flat", "closing.ramp"];
                assert_eq!(names, expected, "{flow} {edge} {step}");
                assert!(found.iter().all(|(_, t)| (t - 0.5).abs() < 1e-13), "{flow} {edge} {step}: {found:?}");
            }
        }
    }
}

/// The edge of this example is in the origin, where all terms of the gaps vanish and a gap of 1e-31 m is rounding: the
/// other scheme that places contacts goes over it as well, without a loss of energy.
#[test]
fn an_edge_in_the_origin() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/parabola-edge.toml");
    for step in [0.02, 0.01, 0.007] {
        let overrides =
            Overrides { scheme: Some("higher-order".into()), step: Some(step.into()), ..Overrides::default() };
        let scene = load(&path, &overrides).unwrap_or_else(|all| panic!("{}", all[0]));
        let mut recorder = Recorder::default();
        scene.simulation().unwrap().run(&mut [&mut recorder]).unwrap_or_else(|error| panic!("{step}: {error}"));
        let solution = recorder.into_solution();
        let last = solution.len() - 1;
        let ([z, x], [w, u]) = ([0, 1].map(|k| solution.q(last)[k]), [0, 1].map(|k| solution.v(last)[k]));
        assert!((z - x * x).abs() < 1e-12, "{step}: {z} {x}");
        // 2 m/s on the flat floor; the place is that of an independent implementation
        let energy = 0.5 * (w * w + u * u) + 9.81 * z;
        assert!((energy - 2.0).abs() < 1e-4 && (x - 0.435243729972).abs() < 1e-4, "{step}: {energy} {x}");
    }
}

/// A file of a point (x, y) with some contacts, and what the rest of it says.
fn text(kinetic: &str, potential: &str, contacts: &str, rest: &str) -> String {
    format!(
        "version = 1\nname = \"hostile\"\n[model]\nkind = \"lagrangian\"\ncoordinates = [\"x\", \"y\"]\nkinetic = \"{kinetic}\"\npotential = \"{potential}\"\n{contacts}\n[initial]\n{rest}\n[simulation]\nend = 2\nstep = 0.1\n"
    )
}

fn contact(name: &str, rest: &str) -> String {
    format!("[[contact]]\nname = \"{name}\"\n{rest}\n")
}

const POINT: &str = "(x'^2 + y'^2)/2";

/// The end of a run, with every flow and every method at edges.
fn ends(name: &str, text: &str) -> Vec<Result<f64, (f64, SimulationError)>> {
    let mut all = Vec::new();
    for flow in ["hem5", "rkf45"] {
        for edge in ["contact", "lcp", "sort"] {
            let scheme = format!("{{ name = \"event-driven\", flow = \"{flow}\", edge = \"{edge}\" }}");
            let overrides = Overrides { scheme: Some(scheme.into()), ..Overrides::default() };
            let scene = from_str("hostile.toml", text, &overrides).unwrap_or_else(|all| panic!("{name}: {}", all[0]));
            let mut simulation = scene.simulation().unwrap_or_else(|error| panic!("{name}: {error}"));
            let mut recorder = Recorder::default();
            let outcome = simulation.run(&mut [&mut recorder]);
            assert!(simulation.state().is_finite(), "{name} {flow} {edge}");
            assert!(simulation.statistics().steps < 20_000, "{name} {flow} {edge}: {}", simulation.statistics().steps);
            let t = simulation.state().t;
            // what was computed before is there
            assert_eq!(recorder.into_solution().t.last(), Some(&t), "{name} {flow} {edge}");
            all.push(outcome.map(|_| t).map_err(|error| (t, error)));
        }
    }
    all
}

/// The run fails at about this time, with words that say why.
fn fails(name: &str, text: &str, at: f64, why: &str) {
    for end in ends(name, text) {
        let Err((t, error)) = end else { panic!("{name} does not fail") };
        assert!(matches!(error, SimulationError::Step { .. }) && error.to_string().contains(why), "{name}: {error}");
        assert!((t - at).abs() < 5e-3, "{name}: fails at {t} instead of {at}: {error}");
    }
}

/// The run comes to its end.
fn succeeds(name: &str, text: &str) {
    for end in ends(name, text) {
        match end {
            Ok(t) => assert!((t - 2.0).abs() < 1e-12, "{name}: {t}"),
            Err((t, error)) => panic!("{name} at {t}: {error}"),
        }
    }
}

fn floor() -> String {
    contact("floor", "gap = \"y\"\nrestitution = 0.5")
}

#[test]
fn regions() {
    let floor = |region: &str| contact("floor", &format!("gap = \"y\"\nwhere = \"{region}\""));
    let slides = "\"x'\" = 1";
    let run = |region: &str| text(POINT, "9.81*y", &floor(region), slides);
    fails("a region that is no number", &run("sqrt(0.5 - x) > 0"), 0.5, "not finite");
    succeeds("a region with a pole", &run("1/(0.5 - x) > 0"));
    // the point falls through the first hole, 1/(0.5 − x) = π, and is below where the floor begins again, at 2π
    let again = 0.5 - 0.5 / std::f64::consts::PI;
    fails("a region that begins above", &run("sin(1/(0.5 - x)) > 0"), again, "already");
    let weightless = text(POINT, "0", &floor("sin(1/(0.5 - x)) > 0"), slides);
    succeeds("a region that ends and begins without end", &weightless);
    succeeds("a region that trembles", &run("sin(1e6*x) > -1.5"));
    succeeds("a region that is empty", &run("x^2 < -1"));
    succeeds("a region of one point", &text(POINT, "0", &floor("x >= 0.5 and x <= 0.5"), slides));
    // a threshold in the way at 0.5: the step in which the point would come to be inside it is not taken
    let low = contact("low", "gap = \"y\"\nwhere = \"x < 0.5\"");
    let high = contact("high", "gap = \"y - 0.1\"\nwhere = \"x > 0.5\"");
    let threshold = text(POINT, "9.81*y", &(low + &high), slides);
    fails("a threshold", &threshold, 0.4, "gap is -1.000e-1 already");
    // nor does the other scheme that places contacts lift it over the threshold
    let overrides = Overrides { scheme: Some("higher-order".into()), ..Overrides::default() };
    let scene = from_str("hostile.toml", &threshold, &overrides).unwrap_or_else(|all| panic!("{}", all[0]));
    let error = scene.simulation().unwrap().run(&mut []).unwrap_err();
    assert!(error.to_string().contains("gap is -1.000e-1 already"), "{error}");
}

#[test]
fn masses_and_forces() {
    let slides = "\"x'\" = 1";
    let melts = "x'^2/2 + (1 - x)*y'^2/2";
    fails("a mass that vanishes, in the air", &text(melts, "0", &floor(), "y = 1\n\"x'\" = 1"), 1.0, "mass matrix");
    fails("a mass that vanishes, on the floor", &text(melts, "9.81*y", &floor(), slides), 1.0, "mass matrix");
    // x² moves to the pole like the logarithm lets it
    fails("a force with a pole", &text(POINT, "9.81*y + log(0.5 - x)", &floor(), "y = 1\n\"x'\" = 1"), 0.3278, "step");
    // it is at the floor at once, with a velocity whose impulse is no number
    fails("no mass to speak of", &text("1e-300*(x'^2 + y'^2)/2", "9.81*y", &floor(), "y = 1"), 0.0, "not solved");
    succeeds("far and fast", &text(POINT, "9.81*y", &floor(), "y = 1e300\n\"y'\" = -1e300"));
    succeeds("next to nothing", &text(POINT, "9.81*y", &floor(), "y = 1e-300"));
    succeeds("stiff", &text(POINT, "1e20*y^2", &floor(), "y = 1"));
}

#[test]
fn gaps() {
    let falls = "y = 1";
    let run =
        |gap: &str| text(POINT, "9.81*y", &contact("floor", &format!("gap = \"{gap}\"\nrestitution = 0.5")), falls);
    succeeds("a gap that does not change at its zero", &run("y^3"));
    succeeds("a gap that is never negative", &run("y^2"));
    fails("a gap that is no number behind its zero", &run("sqrt(y)"), (2.0f64 / 9.81).sqrt(), "not finite");
    fails("a gap that nothing can stop", &run("0.5 - t"), 0.5, "no solution");
    fails("a floor that rises without limit", &run("log(1 - t) + 5 + y"), 1.0, "");
    succeeds("a gap that is constant", &run("1"));
    succeeds("a gap that is closed for ever", &run("0*y"));
    let two = |a: &str, b: &str| floor() + &contact("a", a) + &contact("b", b);
    succeeds("the same contact thrice", &text(POINT, "9.81*y", &two("gap = \"y\"", "gap = \"2*y\""), falls));
    succeeds("no contact", &text(POINT, "9.81*y", "", falls));
}

#[test]
fn contradictions() {
    let walls =
        contact("left", "gap = \"x\"\nrestitution = 0.5") + &contact("right", "gap = \"1 - t - x\"\nrestitution = 0.5");
    fails("walls that meet", &text(POINT, "0", &walls, "x = 0.5\n\"x'\" = 0.7"), 1.0, "no solution");
    let rod = floor() + "[[constraint]]\nname = \"rod\"\nvalue = \"y - 0.5 + t\"\n";
    fails("a rod through the floor", &text(POINT, "9.81*y", &rod, "y = 0.5\n\"y'\" = -1"), 0.5, "no solution");
    let slip = |slip: &str| contact("floor", &format!("gap = \"y\"\nfriction = 0.5\nslip = \"{slip}\""));
    succeeds("a slip that does not depend on the motion", &text(POINT, "9.81*y", &slip("t"), "y = 1\n\"x'\" = 1"));
    succeeds("a slip along the normal", &text(POINT, "9.81*y", &slip("y"), "y = 1\n\"x'\" = 1"));
    let shakes = contact("floor", "gap = \"y - sin(1000*t)\"\nfriction = 10\nslip = \"x - sin(1e4*t)\"");
    succeeds("a floor that shakes", &text(POINT, "9.81*y", &shakes, "y = 1\n\"x'\" = 1"));
}

/// What can be seen before the run is refused then.
#[test]
fn mistakes_at_the_start() {
    for (name, file) in [
        ("a contact that starts inside", text(POINT, "9.81*y", &floor(), "y = -0.1")),
        ("no coordinate", text("0", "0", "", "").replace("[\"x\", \"y\"]", "[]")),
        ("no mass", text("x'^2/2", "9.81*y", &floor(), "y = 1")),
        ("a gap that is no number", text(POINT, "9.81*y", &contact("floor", "gap = \"log(y)\""), "y = 0")),
    ] {
        let overrides = Overrides { scheme: Some("event-driven".into()), ..Overrides::default() };
        let Err(found) = from_str("hostile.toml", &file, &overrides) else { panic!("{name} is not refused") };
        assert!(!found.is_empty() && !found[0].message.is_empty(), "{name}");
    }
}

/// A ball that flies level over a hill far narrower than its steps, sooner or later, against the closed form.
#[test]
fn hills_narrower_than_a_step_are_met() {
    for (width, centre) in [(1.0, 4.1), (0.2, 7.77), (0.1, 33.3), (0.03, 2.9), (0.03, 91.7), (0.02, 58.21)] {
        let hill = contact("hill", &format!("gap = \"y - 0.5*exp(-((x - {centre})/{width})^2)\"\nrestitution = 0.5"));
        let text = text(POINT, "0", &hill, "x = 0\ny = 0.3\n\"x'\" = 10")
            .replace("end = 2", "end = 10")
            .replace("step = 0.1", "step = 1");
        let exact = 0.1 * (centre - width * (5.0f64 / 3.0).ln().sqrt());
        for flow in ["hem5", "rkf45", "dop853"] {
            let scheme = format!("{{ name = \"event-driven\", flow = \"{flow}\" }}");
            let overrides = Overrides { scheme: Some(scheme.into()), ..Overrides::default() };
            let scene = from_str("hill.toml", &text, &overrides).unwrap_or_else(|all| panic!("{}", all[0]));
            let found = events(&scene);
            let first = found.first().unwrap_or_else(|| panic!("{flow}: no impact on {width} at {centre}"));
            assert!((first.1 - exact).abs() < 1e-12, "{flow} {width} {centre}: {first:?} {exact}");
        }
    }
}

/// The period that studies take is not called unused; another parameter is.
#[test]
fn a_period_for_studies_is_used() {
    let scene = |name: &str| {
        let text = text(POINT, "0", "", "x = 0").replace("[model]", &format!("[parameters]\n{name} = 0.5\n[model]"));
        from_str("period.toml", &text, &Overrides::default()).unwrap_or_else(|all| panic!("{}", all[0]))
    };
    assert!(scene("period").warnings.is_empty());
    assert_eq!(scene("interval").warnings.len(), 1);
}
