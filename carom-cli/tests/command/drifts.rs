//! Contacts that are held on bent obstacles drift a little: sound runs have no warning of it, and runs that hold bodies
//! apart or let them overlap by a part of their motion do.

use super::session::Session;

/// Kinds of warnings of a run that ends well, with their figures.
fn kinds(session: &Session, text: &str) -> Vec<(String, f64)> {
    session.write("case.toml", text);
    let outcome = session.carom(["run", "case.toml"]);
    assert_eq!(outcome.code, Some(0), "{}\n{text}", outcome.err);
    let summary = session.summary("out/case");
    let found = summary["warnings"].as_array().unwrap().clone();
    found.iter().map(|w| (w["kind"].as_str().unwrap().to_owned(), w["value"].as_f64().unwrap_or(f64::NAN))).collect()
}

fn model(coordinates: &str, energies: [&str; 2], contacts: &str, initial: &str, simulation: &str) -> String {
    let [kinetic, potential] = energies;
    format!(
        "version = 1\nname = \"case\"\n[model]\nkind = \"lagrangian\"\ncoordinates = {coordinates}\n\
         kinetic = \"{kinetic}\"\npotential = \"{potential}\"\n{contacts}\
         [initial]\n{initial}\n[simulation]\n{simulation}\n"
    )
}

/// A bead in the plane under its weight, and one contact.
fn bead(gap: &str, rest: &str, initial: &str, simulation: &str) -> String {
    let contact = format!("[[contact]]\nname = \"wall\"\ngap = \"{gap}\"\n{rest}\n");
    model("[\"x\", \"y\"]", ["(x'^2 + y'^2)/2", "9.81*y"], &contact, initial, simulation)
}

/// Beads that stay on their curves for the whole run, as weights and speeds tell: with Moreau-Jean's scheme the gap at
/// an end of a step is all there is of drift, and the largest gap met as well.
#[test]
fn beads_on_curves_have_nothing_to_tell() {
    let session = Session::new();
    let start = |x: &str, y: &str, v: &str| format!("x = {x}\ny = \"{y}\"\n{v}");
    let cases = [
        ("y - x^2", start("-1", "1", ""), 1.5),
        ("y - x^2", start("-1", "1.00000001", ""), 1.5),
        ("1 - sqrt(x^2 + y^2)", start("0.8", "-0.6", ""), 2.0),
        ("sqrt(x^2 + y^2) - 1", start("0.1", "sqrt(0.99)", ""), 0.8),
        ("y - 0.1*sin(3*x)", start("0", "0", "\"x'\" = 1\n\"y'\" = 0.3"), 2.0),
        ("(y - x)/sqrt(2)", start("0.3", "0.3", ""), 1.0),
    ];
    for (gap, initial, end) in &cases {
        for (rest, scheme, step) in [
            ("", "moreau-jean", 1e-2),
            ("", "moreau-jean", 1e-3),
            ("restitution = 0.5", "moreau-jean", 1e-3),
            ("", "{ name = \"moreau-jean\", reaction = \"end\" }", 1e-3),
            ("", "schatzman-paoli", 1e-3),
            ("", "direct-projection", 1e-3),
            ("", "combined-projection", 1e-2),
            ("", "higher-order", 1e-2),
            ("", "event-driven", 1e-2),
        ] {
            let scheme = if scheme.starts_with('{') { scheme.to_owned() } else { format!("\"{scheme}\"") };
            let simulation = format!("end = {end}\nstep = {step:e}\nscheme = {scheme}");
            let found = kinds(&session, &bead(gap, rest, initial, &simulation));
            let wrong = found.iter().find(|(kind, _)| kind == "push-apart" || kind == "penetration");
            assert_eq!(wrong, None, "{gap}, {rest}, {simulation}: {found:?}");
        }
    }
    // as it was found, with the smaller steps
    let found = kinds(&session, &bead("y - x^2", "", &cases[0].1, "end = 1.5\nstep = 1e-4"));
    assert!(found.is_empty(), "{found:?}");
}

/// Bent obstacles and clearances where the same schemes are wrong by a part of the motion.
#[test]
fn what_is_held_apart_or_overlaps_is_told_on_bent_obstacles_too() {
    let session = Session::new();
    // one step would take the bead through the bowl, so that it is held half a metre above it
    let above = "x = -1\ny = 0.55";
    let found = kinds(&session, &bead("y - 0.05*x^2", "", above, "end = 4\nstep = 0.5"));
    assert!(found.iter().any(|(kind, share)| kind == "push-apart" && (*share - 1.0).abs() < 0.1), "{found:?}");
    // it starts on the bowl and is thrown, and lands in a step that goes deep: no gap opens but by its own motion
    let thrown = "x = -0.1\ny = 0.0005\n\"y'\" = 5";
    let found = kinds(&session, &bead("y - 0.05*x^2", "", thrown, "end = 8\nstep = 1"));
    assert!(found.iter().any(|(kind, share)| kind == "penetration" && *share > 0.1), "{found:?}");
    // from 1 m above a bowl, seen only when it is below
    let late = "end = 0.5\nstep = 0.5\nscheme = { name = \"moreau-jean\", forecast = { explicit = { gamma = 0.0 } } }";
    let found = kinds(&session, &bead("y - x^2", "", "x = 0.1\ny = 1.01", late));
    assert!(found.iter().any(|(kind, share)| kind == "penetration" && *share > 0.1), "{found:?}");
    // a pin in a slot of 1 mm on either side that swings by 1 m: a step of 50 ms moves it by up to 50 mm
    let slot = "[[contact]]\nname = \"left\"\ngap = \"0.001 + x - sin(t)\"\n\
                [[contact]]\nname = \"right\"\ngap = \"0.001 - x + sin(t)\"\n";
    let run = |step: f64| model("[\"x\"]", ["x'^2/2", "0"], slot, "x = 0", &format!("end = 6\nstep = {step}"));
    let found = kinds(&session, &run(0.05));
    assert!(found.iter().any(|(kind, _)| kind == "push-apart" || kind == "penetration"), "{found:?}");
    let fine = kinds(&session, &run(1e-4));
    assert!(fine.iter().all(|(kind, _)| kind != "push-apart" && kind != "penetration"), "{fine:?}");
}

/// Masses above each other with gaps of a centimetre fall onto the floor.
fn column(n: usize, simulation: &str) -> String {
    let names: Vec<String> = (0..n).map(|k| format!("\"x{k}\"")).collect();
    let sum = |term: &dyn Fn(usize) -> String| (0..n).map(term).collect::<Vec<_>>().join(" + ");
    let contact = |k: usize| match k {
        0 => "[[contact]]\nname = \"c0\"\ngap = \"x0\"\nrestitution = 0.5\n".to_owned(),
        _ => format!("[[contact]]\nname = \"c{k}\"\ngap = \"x{k} - x{} - 0.01\"\nrestitution = 0.5\n", k - 1),
    };
    let (kinetic, potential) = (sum(&|k| format!("x{k}'^2/2")), sum(&|k| format!("9.81*x{k}")));
    let start = |k: usize| (0.02 * (k + 1) as f64, 0.9 * (2.3 * k as f64).sin());
    let initial: Vec<String> = (0..n).map(|k| format!("x{k} = {}\n\"x{k}'\" = {}", start(k).0, start(k).1)).collect();
    let contacts: String = (0..n).map(contact).collect();
    model(&format!("[{}]", names.join(", ")), [&kinetic, &potential], &contacts, &initial.join("\n"), simulation)
}

/// The combined scheme solves a long column many times over in each step, and says so with a number; where it does
/// not, and in a short column, there is nothing to tell.
#[test]
fn a_scheme_that_looks_for_its_contacts_for_long_says_so() {
    let session = Session::new();
    let problems = |n: usize, rest: &str| {
        let found = kinds(&session, &column(n, &format!("end = 0.4\nstep = 2e-3\n{rest}")));
        let told = found.iter().find(|(kind, _)| kind == "many-rounds").map(|(_, figure)| *figure);
        let statistics = session.summary("out/case")["statistics"].clone();
        (told, statistics["solves"].as_f64().unwrap() / statistics["steps"].as_f64().unwrap())
    };
    let scheme = "scheme = \"combined-projection\"";
    let (told, mean) = problems(30, scheme);
    // the worst steps are worse than the mean of all
    let told = told.expect("a column of thirty");
    assert!(told >= mean && mean > 16.0, "{told} beside {mean}");
    let adaptive = format!("{scheme}\nadaptive = {{ tolerance = 1e-4 }}");
    assert!(problems(30, &adaptive).0.is_some_and(|told| told > 16.0), "with adaptive steps");
    assert_eq!(problems(3, scheme).0, None);
    assert_eq!(problems(30, "scheme = \"moreau-jean\"").0, None);
}

/// What a scheme warns of does not depend on who chooses its steps.
#[test]
fn adaptive_steps_warn_as_fixed_ones_do() {
    let session = Session::new();
    let scheme = "end = 0.6\nstep = 1e-3\nscheme = { name = \"moreau-jean\", activation = 0.05 }";
    for rest in ["", "adaptive = 1e-4"] {
        let found = kinds(&session, &bead("y", "restitution = 0.5", "y = 1", &format!("{scheme}\n{rest}")));
        assert!(found.iter().any(|(kind, _)| kind == "coarse-activation"), "{rest}: {found:?}");
    }
}

/// Contacts that are listed where bodies come near each other: what falls on a stack overlaps it by a step's way, which
/// is little beside the height of the fall, however near contacts are listed.
#[test]
fn bodies_that_fall_on_others_have_nothing_to_tell() {
    let text = "version = 1\nname = \"pile\"\n[model]\nkind = \"multibody\"\ngravity = [0, 0, -9.81]\n[contacts]\n\
        material = \"wood\"\n[[material]]\nname = \"wood\"\nfriction = 0.5\n[[body]]\nname = \"ground\"\n\
        [[body.shape]]\nkind = \"plane\"\nname = \"floor\"\nnormal = [0, 0, 1]\n\
        [[body]]\nname = \"box{i}\"\nfor = { i = \"1..3\" }\nmass = 1\ninertia = [\"1/150\", \"1/150\", \"1/150\"]\n\
        position = [0, 0, \"0.21*i - 0.1\"]\n[[body.shape]]\nkind = \"box\"\nname = \"box\"\nsize = [0.2, 0.2, 0.2]\n\
        [[body]]\nname = \"late\"\nmass = 1\ninertia = [1e-2, 1e-2, 1e-2]\nposition = [0, 0.02, 2]\n\
        [[body.shape]]\nkind = \"sphere\"\nname = \"ball\"\nradius = 0.1\n\
        [simulation]\nend = 0.8\nstep = 1e-3\n";
    let session = Session::new();
    for scheme in ["moreau-jean", "direct-projection", "combined-projection"] {
        let found = kinds(&session, &format!("{text}scheme = \"{scheme}\"\n"));
        assert_eq!(found, [], "{scheme}");
    }
}
