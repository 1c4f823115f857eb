//! Joints with play: where the pin is in its hole, how long it touches, how deep and how often.

use super::session::Session;
use super::table::Table;
use serde_json::Value;

const PLAY: f64 = 0.0009765625; // 2⁻¹⁰ m

/// A disc whose centre is a pin in a hole of the ground, at this place and with this velocity.
fn pin(place: [f64; 2], velocity: [f64; 2], gravity: f64, rest: &str) -> String {
    let [x, y] = place.map(|part| part * PLAY);
    let [u, v] = velocity;
    format!(
        "version = 1\nname = \"pin\"\n[model]\nkind = \"multibody\"\ndimension = 2\ngravity = [0, {}]\n\
         [[body]]\nname = \"disc\"\nmass = 2\ninertia = 0.1\nposition = [{x:e}, {y:e}]\nvelocity = [{u}, {v}]\n\
         [[joint]]\nname = \"hinge\"\nkind = \"revolute\"\nbodies = [\"ground\", \"disc\"]\nat_a = [0, 0]\n\
         at_b = [0, 0]\nclearance = {{ radial = {PLAY}, radius = 0.01{rest} }}\n\
         [simulation]\nend = 0.2\nstep = 1e-3\nscheme = \"combined-projection\"\n",
        -gravity
    )
}

fn run(session: &Session, text: &str, arguments: &[&str]) -> (Table, Value) {
    session.write("case.toml", text);
    session.succeed(["run", "case.toml", "--no-report"].iter().chain(arguments));
    let play = session.summary("out/case")["plays"][0].clone();
    (session.table("out/case/trajectory.parquet"), play)
}

#[test]
fn a_pin_that_hangs_is_a_point_at_the_bottom() {
    let session = Session::new();
    for scheme in ["combined-projection", "moreau-jean", "event-driven"] {
        let text = pin([0.0, -1.0], [0.0, 0.0], 9.81, "");
        let (table, play) = run(&session, &text, &["--scheme", scheme]);
        for (u, w) in table.column("joint.hinge.play.u").iter().zip(table.column("joint.hinge.play.w")) {
            assert!(u.abs() < 1e-12 && (w + 1.0).abs() < 1e-9, "{scheme}: {u}, {w}");
        }
        assert_eq!((&play["joint"], play["play"].as_f64()), (&Value::from("hinge"), Some(PLAY)), "{scheme}");
        assert_eq!(
            (play["contact_share"].as_f64(), play["impacts"].as_u64()),
            (Some(1.0), Some(0)),
            "{scheme}: {play}"
        );
        assert!(play["penetration"].as_f64().unwrap() < 1e-9, "{scheme}: {play}");
    }
}

#[test]
fn a_pin_that_slides_around_draws_the_circle() {
    // 10 rad/s about the centre of the hole
    let (table, play) = run(&Session::new(), &pin([1.0, 0.0], [0.0, 10.0 * PLAY], 0.0, ""), &[]);
    for (u, w) in table.column("joint.hinge.play.u").iter().zip(table.column("joint.hinge.play.w")) {
        assert!((u.hypot(w) - 1.0).abs() < 1e-9, "{u}, {w}");
    }
    let angle = table.last("joint.hinge.play.w").atan2(table.last("joint.hinge.play.u"));
    assert!((angle - 2.0).abs() < 1e-3, "{angle}");
    assert_eq!((play["contact_share"].as_f64(), play["impacts"].as_u64()), (Some(1.0), Some(0)), "{play}");
}

#[test]
fn a_pin_that_flies_to_and_fro_touches_in_its_impacts_alone() {
    // across the hole in 20 ms: at 10, 30, ..., 190 ms
    let text = pin([0.0, 0.0], [PLAY / 0.01, 0.0], 0.0, ", restitution = 1");
    let (_, play) = run(&Session::new(), &text, &["--step", "1e-4", "--scheme", "moreau-jean"]);
    assert_eq!(play["impacts"].as_u64(), Some(10), "{play}");
    assert!((play["contact_share"].as_f64().unwrap() - 10.0 * 1e-4 / 0.2).abs() < 1e-9, "{play}");
    // a step beyond the wall
    let penetration = play["penetration"].as_f64().unwrap();
    assert!(penetration <= 1e-4 / 0.01 + 1e-9, "{penetration}");
}

#[test]
fn a_slider_in_the_plane_has_two_ends() {
    let text = "version = 1\nname = \"slider\"\n[parameters]\nc = 1e-3\n[model]\nkind = \"multibody\"\ndimension = 2\n\
                gravity = [0, -9.81]\n[[body]]\nname = \"block\"\nmass = 2\ninertia = 0.1\nposition = [0, \"-c\"]\n\
                velocity = [1, 0]\n[[joint]]\nname = \"guide\"\nkind = \"prismatic\"\nbodies = [\"ground\", \"block\"]\n\
                at_a = [0, 0]\nat_b = [0, 0]\naxis = [1, 0]\nclearance = { radial = \"c\", radius = 0.02, length = 0.1 }\n\
                [simulation]\nend = 0.1\nstep = 1e-3\n";
    // the columns follow the play without another file
    for arguments in [&[][..], &["--set", "c=2e-3"]] {
        let (table, play) = run(&Session::new(), text, arguments);
        for name in ["joint.guide.play.1.u", "joint.guide.play.2.u"] {
            assert!(table.column(name).iter().all(|u| (u + 1.0).abs() < 1e-9), "{name}");
        }
        assert_eq!(play["contact_share"].as_f64(), Some(1.0), "{play}");
    }
}

#[test]
fn the_pin_of_the_slider_crank_stays_pressed() {
    let session = Session::new();
    session.succeed(["run", "slider-crank-play"]);
    let play = session.summary("out/slider-crank-play")["plays"][0].clone();
    assert_eq!(play["joint"], "pin");
    // an independent implementation of the scheme: 99.7 % of the time
    assert!((play["contact_share"].as_f64().unwrap() - 0.997).abs() < 0.002, "{play}");
    assert!(play["penetration"].as_f64().unwrap() < 1e-9, "{play}");
    let table = session.table("out/slider-crank-play/trajectory.parquet");
    let (u, w) = (table.column("joint.pin.play.u"), table.column("joint.pin.play.w"));
    assert!(u.iter().zip(&w).all(|(u, w)| u.hypot(*w) < 1.0 + 1e-9));
    let page = session.read("out/slider-crank-play/report.html");
    assert!(page.contains("share of time in contact") && page.contains("\"bound\":\"circle\""));
}
