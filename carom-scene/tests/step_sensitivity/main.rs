//! Derivatives of the steps of capturing schemes, against central differences of the same maps over runs whose branches
//! do not change.

mod check;
mod models;
mod motion;

use carom::State;
use carom_scene::{Overrides, from_str};
use check::{Check, Draw, hanging, load};
use models::*;

#[test]
fn moreau_jean_with_impacts() {
    for theta in ["0.5", "1", "0.7"] {
        let scene = load(OSCILLATOR, &format!(r#"{{ name = "moreau-jean", theta = {theta} }}"#));
        let parameters = &["om", "k", "e", "al", "um"];
        let mut draw = Draw(1);
        let check = Check { scene: &scene, parameters, h: 0.05, steps: 50, reach: 1e-5 };
        let met = check.runs(10, || State::new(draw.next(), &[0.5 + 0.4 * draw.next()], &[2.0 * draw.next()]));
        println!("oscillator {theta}: {met:?}");
        assert!(met.worst < 1e-8 && met.pushes >= 10, "{met:?}");
    }
    for options in ["", ", theta = 0.8, reaction = \"end\"", ", reaction = \"start\""] {
        let scene = load(CART, &MOREAU_JEAN.replace(" }", &format!("{options} }}")));
        let parameters = &["m", "L", "om", "d", "e1"];
        let mut draw = Draw(7);
        let check = Check { scene: &scene, parameters, h: 0.04, steps: 50, reach: REACH };
        let met = check.runs(10, || {
            let q = [0.2 * draw.next(), 0.4 * draw.next()];
            State::new(0.3 * draw.next(), &q, &[2.0 * draw.next(), 3.0 * draw.next()])
        });
        println!("cart{options}: {met:?}");
        assert!(met.worst < 1e-8 && met.pushes >= 15, "{met:?}");
    }
}

#[test]
fn moreau_jean_with_friction_in_the_plane() {
    for options in ["", ", theta = 1", ", theta = 0.75, reaction = \"end\""] {
        let scene = load(BLOCK, &MOREAU_JEAN.replace(" }", &format!("{options} }}")));
        let mut draw = Draw(3);
        let check = Check { scene: &scene, parameters: &["mu", "a", "om", "e"], h: 0.02, steps: 50, reach: 1e-5 };
        let met = check.runs(10, || {
            let x = 0.5 * draw.next();
            // on the floor or just above it
            let y = 0.1 * x * x + 0.02 * (1.0 + draw.next());
            State::new(draw.next(), &[x, y], &[2.0 * draw.next(), 0.2 * draw.next()])
        });
        println!("block{options}: {met:?}");
        assert!(met.worst < 1e-8 && met.slips >= 50 && met.sticks >= 20, "{met:?}");
    }
}

#[test]
fn moreau_jean_with_friction_in_space() {
    let overrides = Overrides {
        scheme: Some(MOREAU_JEAN.into()),
        solver: Some(r#"{ name = "auto", tolerance = 1e-14 }"#.into()),
        ..Overrides::default()
    };
    let scene = from_str("test.toml", PARTICLE, &overrides).unwrap_or_else(|all| panic!("{}", all[0]));
    let mut draw = Draw(5);
    let check = Check { scene: &scene, parameters: &["mu", "e", "k"], h: 0.01, steps: 50, reach: 1e-5 };
    let met = check.runs(10, || {
        let q = [0.3 * draw.next(), 0.3 * draw.next()];
        let z = 0.1 * q[0] * q[1] + 0.02 * (1.0 + draw.next());
        State::new(0.0, &[q[0], q[1], z], &[2.0 * draw.next(), 3.0 * draw.next(), 0.5 * draw.next()])
    });
    println!("particle: {met:?}");
    assert!(met.worst < 1e-8 && met.slips >= 100, "{met:?}");
}

/// Each disc of a law has its own branch: a sphere that slides, rolls and spins, and one that comes to rest.
#[test]
fn rolling_friction() {
    let overrides = Overrides {
        scheme: Some(MOREAU_JEAN.into()),
        solver: Some(r#"{ name = "auto", tolerance = 1e-14 }"#.into()),
        ..Overrides::default()
    };
    let scene = from_str("test.toml", SPHERE, &overrides).unwrap_or_else(|all| panic!("{}", all[0]));
    let parameters = &["mu", "roll", "spin", "e", "k", "r"];
    let check = Check { scene: &scene, parameters, h: 0.01, steps: 50, reach: 1e-5 };
    let mut draw = Draw(17);
    let met = check.runs(10, || {
        let q = [0.3 * draw.next(), 0.3 * draw.next(), 0.01 * (1.0 + draw.next()), 0.0, 0.0, 0.0];
        let [x, y, slip] = [draw.next(), draw.next(), 20.0 * draw.next()];
        State::new(0.0, &q, &[x, y, 0.0, -y / 0.3 + slip, x / 0.3, 5.0 * draw.next()])
    });
    println!("sphere: {met:?}");
    assert!(met.worst < 1e-8 && met.slips >= 50 && met.rolls >= 50, "{met:?}");
    // near the middle of the well rolling friction holds it
    let met = check.runs(10, || {
        let q = [0.05 * draw.next(), 0.05 * draw.next(), 0.0, 0.0, 0.0, 0.0];
        let [x, y] = [0.1 * draw.next(), 0.1 * draw.next()];
        State::new(0.0, &q, &[x, y, 0.0, -y / 0.3, x / 0.3, draw.next()])
    });
    println!("sphere to rest: {met:?}");
    assert!(met.worst < 1e-8 && met.rolls >= 50 && met.sticks >= 100, "{met:?}");
}

/// Slip that comes to an end, stick, and slip in another direction, on a floor that is pulled about, with a second
/// contact that says the same.
#[test]
fn sticking_in_space_and_redundant_contacts() {
    let pulled = PARTICLE.replace("potential", "force.x = \"2.5*sin(3*t)\"\nforce.y = \"2*cos(2*t)\"\npotential");
    let contact = &pulled[pulled.find("[[contact]]").unwrap()..pulled.find("[initial]").unwrap()];
    let twice = pulled.replace(contact, &format!("{contact}{}", contact.replace("floor", "again")));
    for (name, text) in [("one", &pulled), ("two", &twice)] {
        let overrides = Overrides {
            scheme: Some(MOREAU_JEAN.into()),
            solver: Some(r#"{ name = "auto", tolerance = 1e-14 }"#.into()),
            ..Overrides::default()
        };
        let scene = from_str("test.toml", text, &overrides).unwrap_or_else(|all| panic!("{}", all[0]));
        let mut draw = Draw(13);
        let check = Check { scene: &scene, parameters: &["k"], h: 0.01, steps: 50, reach: 1e-5 };
        let met = check.runs(10, || {
            let q = [0.15 * draw.next(), 0.1 * draw.next()];
            let z = 0.1 * q[0] * q[1] + 0.01 * (1.0 + draw.next());
            State::new(draw.next(), &[q[0], q[1], z], &[0.4 * draw.next(), 0.4 * draw.next(), 0.0])
        });
        println!("{name}: {met:?}");
        assert!(met.worst < 1e-8 && met.slips >= 100 && met.sticks >= 50, "{met:?}");
    }
}

#[test]
fn bilateral_constraints() {
    for scheme in [MOREAU_JEAN, r#"{ name = "moreau-jean", theta = 1, newton-tolerance = 1e-14 }"#, SCHATZMAN_PAOLI] {
        let scene = load(PENDULUM, scheme);
        let mut draw = Draw(11);
        let check = Check { scene: &scene, parameters: &["g", "e"], h: 0.02, steps: 50, reach: 1e-5 };
        let met = check.runs(5, || hanging(&mut draw));
        println!("pendulum {scheme}: {met:?}");
        assert!(met.worst < 1e-8 && met.pushes > 250, "{met:?}");
    }
    // a constraint that says the same: impulses are not unique, velocities are
    let twice = PENDULUM
        .replace("[[contact]]", "[[constraint]]\nname = \"rope\"\nvalue = \"2*x^2 + 2*y^2 - 2*L^2\"\n[[contact]]");
    let scene = load(&twice, MOREAU_JEAN);
    let mut draw = Draw(11);
    let met =
        Check { scene: &scene, parameters: &["g"], h: 0.02, steps: 50, reach: 1e-5 }.runs(5, || hanging(&mut draw));
    println!("pendulum twice: {met:?}");
    assert!(met.worst < 1e-8 && met.pushes > 250, "{met:?}");
    for variant in ["consistent", "printed"] {
        let scene = load(PENDULUM, &corrected(variant));
        let mut draw = Draw(11);
        let check = Check { scene: &scene, parameters: &["g", "e"], h: 0.02, steps: 50, reach: 1e-5 };
        let met = check.runs(5, || hanging(&mut draw));
        println!("pendulum {variant}: {met:?}");
        assert!(met.worst < 1e-8 && met.pushes > 250 && met.cut >= 2, "{met:?}");
    }
}

#[test]
fn schatzman_paoli() {
    for velocity in ["centred", "backward"] {
        let scheme = SCHATZMAN_PAOLI.replace(" }", &format!(", velocity = \"{velocity}\" }}"));
        let scene = load(OSCILLATOR, &scheme);
        let mut draw = Draw(1);
        let parameters = &["om", "k", "e", "al", "um"];
        let check = Check { scene: &scene, parameters, h: 0.05, steps: 50, reach: 1e-5 };
        let met = check.runs(10, || State::new(draw.next(), &[0.5 + 0.4 * draw.next()], &[2.0 * draw.next()]));
        println!("oscillator {velocity}: {met:?}");
        assert!(met.worst < 1e-8 && met.pushes >= 10, "{met:?}");
        let scene = load(CART, &scheme);
        let mut draw = Draw(7);
        let check = Check { scene: &scene, parameters: &["m", "L", "om", "d", "e1"], h: 0.04, steps: 50, reach: REACH };
        let met = check.runs(10, || {
            let q = [0.2 * draw.next(), 0.4 * draw.next()];
            State::new(0.3 * draw.next(), &q, &[2.0 * draw.next(), 3.0 * draw.next()])
        });
        println!("cart {velocity}: {met:?}");
        assert!(met.worst < 1e-8 && met.pushes >= 15, "{met:?}");
    }
}

#[test]
fn corrected_paoli() {
    for variant in ["consistent", "printed"] {
        let scene = load(OSCILLATOR, &corrected(variant));
        let mut draw = Draw(1);
        let parameters = &["om", "k", "e", "al", "um"];
        let check = Check { scene: &scene, parameters, h: 0.05, steps: 50, reach: 1e-5 };
        let met = check.runs(10, || State::new(draw.next(), &[0.5 + 0.4 * draw.next()], &[2.0 * draw.next()]));
        println!("oscillator {variant}: {met:?}");
        assert!(met.worst < 1e-8 && met.cut >= 10, "{met:?}");
        let scene = load(CART, &corrected(variant));
        let mut draw = Draw(7);
        let check = Check { scene: &scene, parameters: &["m", "L", "om", "d", "e1"], h: 0.04, steps: 50, reach: REACH };
        let met = check.runs(10, || {
            let q = [0.2 * draw.next(), 0.4 * draw.next()];
            State::new(0.3 * draw.next(), &q, &[2.0 * draw.next(), 3.0 * draw.next()])
        });
        println!("cart {variant}: {met:?}");
        assert!(met.worst < 1e-8 && met.cut >= 15, "{met:?}");
        let scene = load(BLOCK, &corrected(variant));
        let mut draw = Draw(3);
        let check = Check { scene: &scene, parameters: &["mu", "a", "om", "e"], h: 0.02, steps: 50, reach: 1e-5 };
        let met = check.runs(5, || {
            let x = 0.5 * draw.next();
            let y = 0.1 * x * x + 0.02 * (1.0 + draw.next());
            State::new(draw.next(), &[x, y], &[2.0 * draw.next(), 0.2 * draw.next()])
        });
        println!("block {variant}: {met:?}");
        assert!(met.worst < 1e-8 && met.cut >= 5 && met.slips >= 5, "{met:?}");
    }
}

#[test]
fn position_level() {
    let inelastic = |text: &str| {
        let lines = text.lines().filter(|line| !line.starts_with("restitution"));
        lines.collect::<Vec<_>>().join("\n")
    };
    for theta in ["1", "0.6"] {
        let scheme = format!(r#"{{ name = "position-level", theta = {theta}, newton-tolerance = 1e-14 }}"#);
        let scene = load(&inelastic(CART), &scheme);
        let mut draw = Draw(7);
        let check = Check { scene: &scene, parameters: &["m", "L", "om", "d"], h: 0.04, steps: 50, reach: REACH };
        let met = check.runs(5, || {
            let q = [0.2 * draw.next(), 0.4 * draw.next()];
            State::new(0.3 * draw.next(), &q, &[2.0 * draw.next(), 3.0 * draw.next()])
        });
        println!("cart {theta}: {met:?}");
        assert!(met.worst < 1e-8 && met.pushes >= 10, "{met:?}");
        let scene = load(&inelastic(BLOCK), &scheme);
        let mut draw = Draw(3);
        let check = Check { scene: &scene, parameters: &["mu", "a", "om"], h: 0.02, steps: 50, reach: 1e-5 };
        let met = check.runs(5, || {
            let x = 0.5 * draw.next();
            let y = 0.1 * x * x + 0.02 * (1.0 + draw.next());
            State::new(draw.next(), &[x, y], &[2.0 * draw.next(), 0.2 * draw.next()])
        });
        println!("block {theta}: {met:?}");
        assert!(met.worst < 1e-8 && met.slips >= 20, "{met:?}");
        let scene = load(&inelastic(PENDULUM), &scheme);
        let mut draw = Draw(11);
        let check = Check { scene: &scene, parameters: &["g"], h: 0.02, steps: 50, reach: 1e-5 };
        let met = check.runs(5, || hanging(&mut draw));
        println!("pendulum {theta}: {met:?}");
        assert!(met.worst < 1e-8 && met.pushes > 250, "{met:?}");
    }
}

/// One step with the contact that it closes, or holds, for each scheme and each kind of law.
#[test]
fn single_steps() {
    let shaken = BLOCK.replace("restitution = \"e/2\"", "restitution = 0.3");
    let smooth = shaken.replace("slip = \"x\"\nfriction = \"mu\"\n", "");
    let cases = [
        (&shaken, MOREAU_JEAN.to_owned(), true),
        (&shaken, corrected("consistent"), true),
        (&shaken, corrected("printed"), true),
        (&smooth, SCHATZMAN_PAOLI.to_owned(), false),
    ];
    for (text, scheme, friction) in cases {
        let scene = load(text, &scheme);
        let mut draw = Draw(17);
        let check = Check { scene: &scene, parameters: &["a", "om"], h: 0.01, steps: 1, reach: 1e-5 };
        let met = check.runs(20, || {
            let (x, v) = (0.5 * draw.next(), 2.0 * draw.next());
            let y = 0.1 * x * x + 0.005 * (1.0 + draw.next());
            State::new(draw.next(), &[x, y], &[v, -0.6 + 0.4 * draw.next()])
        });
        println!("one step of {scheme}: {met:?}");
        assert!(met.worst < 1e-8 && met.pushes >= 20 && (!friction || met.slips >= 10), "{met:?}");
    }
}
