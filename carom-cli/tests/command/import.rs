//! Robot descriptions from the command line.

use super::session::Session;

const ARM: &str = include_str!("../../../examples/robots/arm.urdf");
const CART: &str = include_str!("../../../examples/robots/cart.xml");

#[test]
fn an_imported_robot_runs() {
    let session = Session::new();
    session.write("arm.urdf", ARM);
    let out = session.succeed(["import", "arm.urdf", "-o", "m.toml"]);
    assert!(out.contains("wrote m.toml: URDF, 4 bodies, 5 joints"), "{out}");
    assert!(out.contains("left out: limits of actuators (effort, velocity) (8): arm.urdf, lines"), "{out}");
    session.succeed(["run", "m.toml", "--end", "0.05", "--no-report", "--out", "out"]);
    assert_eq!(session.summary("out")["name"], "arm");
    session.write("cart.xml", CART);
    let out = session.succeed(["import", "cart.xml", "-o", "c.toml", "--position", "pitch=0.4", "--rate", "rail=0.5"]);
    assert!(out.contains("left out: actuators: cart.xml, line 30"), "{out}");
    session.succeed(["run", "c.toml", "--end", "0.02", "--no-report", "--out", "cart"]);
    // without -o the text is printed, and it is the same file
    let printed = |arguments: &[&str]| {
        let outcome = session.carom(arguments);
        assert_eq!(outcome.code, Some(0), "{}", outcome.err);
        assert!(outcome.err.contains("left out: actuators: cart.xml, line 30"), "{}", outcome.err);
        outcome.out
    };
    let text = printed(&["import", "cart.xml", "--position", "pitch=0.4", "--rate", "rail=0.5"]);
    assert_eq!(text.trim_end(), session.read("c.toml").trim_end());
    let bare = printed(&["import", "cart.xml", "--without", "armature,contacts,stops,friction,damping"]);
    for word in ["[[contact]]", "stops", "friction", "damping", "rotor"] {
        assert!(text.contains(word) && !bare.contains(word), "{word}");
    }
}

#[test]
fn mistakes_of_imports_have_places_and_hints() {
    let session = Session::new();
    session.write("arm.urdf", ARM.replace("link=\"upper\"", "link=\"uper\""));
    let failed = |arguments: &[&str], words: &[&str]| {
        let outcome = session.carom(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.err);
        assert!(words.iter().all(|word| outcome.err.contains(word)), "{arguments:?}: {}", outcome.err);
    };
    failed(&["import", "arm.urdf", "-o", "m.toml"], &["arm.urdf:54:18: error", "no link \"uper\"", "\"upper\"?"]);
    assert!(!session.path("m.toml").exists());
    failed(&["import", "nothing.urdf"], &["nothing.urdf: error: cannot be read"]);
    session.write("arm.urdf", ARM);
    failed(&["import", "arm.urdf", "--without", "stop"], &["`stop`", "`stops`"]);
    failed(&["import", "arm.urdf", "--rate", "elbw=1"], &["--rate: error: there is no joint \"elbw\"", "elbow"]);
    failed(&["import", "arm.urdf", "--rate", "elbow=1,2"], &["needs 1 finite numbers, found 2"]);
    failed(&["import", "arm.urdf", "--position", "elbow=x"], &["elbow"]);
}
