//! Small robots with closed forms.

use super::{coordinate, read, run, scene};
use carom_scene::import::{Options, import_text};
use std::f64::consts::PI;
use std::path::Path;

const G: f64 = 9.81;

/// A physical pendulum of URDF, with its mass centre 0.4 m beside the hinge and a turned inertia.
fn pendulum(damping: f64) -> String {
    format!(
        r#"<robot name="pendulum"><link name="base"/><link name="bob"><inertial>
        <origin xyz="0.4 0 0" rpy="0 0 1.5707963267948966"/><mass value="2"/>
        <inertia ixx="0.05" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.06"/></inertial></link>
        <joint name="hinge" type="continuous"><parent link="base"/><child link="bob"/>
        <origin xyz="0 0 1" rpy="0 1.5707963267948966 0"/><axis xyz="0 1 0"/><dynamics damping="{damping}"/></joint>
        </robot>"#
    )
}

/// Small swings about the lower rest: the period is 2π √(J/(m g l)), J about the hinge.
#[test]
fn a_urdf_pendulum_has_its_period() {
    let options = Options { positions: vec![("hinge".into(), 1e-4)], ..Options::default() };
    let imported = import_text(Path::new("pendulum.urdf"), &pendulum(0.0), &options).unwrap();
    // the axis y of the part: the inertia, turned by a right angle about z, has ixx of the file there
    let inertia = 0.05 + 2.0 * 0.4 * 0.4;
    let period = 2.0 * PI * (inertia / (2.0 * G * 0.4)).sqrt();
    let (scene, state) = run("pendulum.urdf", &imported, period / 4.0, period / 4000.0);
    // the bob hangs below the hinge at z = 1; a quarter of a period later it passes the lowest point
    let x = coordinate(&scene, &state, "bob.x");
    assert!(x.abs() < 0.4e-4 * 1e-5, "{x:e}");
    assert!((coordinate(&scene, &state, "bob.z") - 0.6).abs() < 1e-12);
}

/// Damping takes the energy that it should: a hinge without gravity about its mass centre, θ' = θ'₀ exp(−d t/J).
#[test]
fn damping_armature_and_springs_of_mjcf_have_their_laws() {
    let text = |joint: &str| {
        format!(
            r#"<mujoco><option gravity="0 0 0"/><worldbody><body name="wheel"><joint name="hub" axis="0 0 1" {joint}/>
            <geom type="cylinder" size=".2 .05" mass="3"/></body></worldbody></mujoco>"#
        )
    };
    let moment = 3.0 * 0.04 / 2.0;
    let options = Options { rates: vec![("hub".into(), vec![1.5])], ..Options::default() };
    for (joint, armature, frequency, damping) in [
        ("damping='.06'", 0.0, 0.0, 0.06),
        ("damping='.06' armature='.04'", 0.04, 0.0, 0.06),
        ("stiffness='.8' armature='.02'", 0.02, (0.8f64 / (moment + 0.02)).sqrt(), 0.0),
    ] {
        let imported = import_text(Path::new("wheel.xml"), &text(joint), &options).unwrap();
        let (scene, state) = run("wheel.xml", &imported, 0.5, 1e-3);
        let angle = 2.0 * coordinate(&scene, &state, "wheel.e3").atan2(coordinate(&scene, &state, "wheel.e0"));
        let expected = if frequency > 0.0 {
            1.5 / frequency * (frequency * 0.5).sin()
        } else {
            let rate = damping / (moment + armature);
            1.5 / rate * (1.0 - (-rate * 0.5f64).exp())
        };
        assert!((angle - expected).abs() < 1e-6, "{joint}: {angle} beside {expected}");
    }
}

/// A slide with armature falls slower: a = m g/(m + armature).
#[test]
fn a_slide_with_armature_falls_slower() {
    let text = r#"<mujoco><worldbody><body name="box">
        <joint name="rail" type="slide" axis="0 0 1" armature="0.5"/>
        <geom type="box" size=".1 .1 .1" mass="2"/></body></worldbody></mujoco>"#;
    let imported = read("box.xml", text).unwrap();
    let (scene, state) = run("box.xml", &imported, 0.4, 1e-3);
    let expected = -0.5 * G * 2.0 / 2.5 * 0.16;
    let z = coordinate(&scene, &state, "box.z");
    assert!((z - expected).abs() < 1e-9, "{z} beside {expected}");
}

/// A ball joint with damping: ω' = −d ω/J about the mass centre of a sphere.
#[test]
fn damping_of_a_ball_joint_is_a_torque() {
    let text = r#"<mujoco><option gravity="0 0 0"/><worldbody><body name="ball">
        <joint name="b" type="ball" damping=".01"/><geom size=".1" mass="1"/></body></worldbody></mujoco>"#;
    let options = Options { rates: vec![("b".into(), vec![0.3, -0.2, 0.4])], ..Options::default() };
    let imported = import_text(Path::new("ball.xml"), text, &options).unwrap();
    let (_, state) = run("ball.xml", &imported, 0.5, 1e-3);
    let factor = (-0.01f64 / (0.4 * 0.01) * 0.5).exp();
    for (found, start) in state.v[3..6].iter().zip([0.3, -0.2, 0.4]) {
        assert!((found - start * factor).abs() < 1e-6, "{found} beside {}", start * factor);
    }
}

/// Joints of a mimic move together: two equal carts that are pulled apart by a spring-free slope move as one mass.
#[test]
fn a_mimic_is_a_coupler() {
    let link = |name: &str, mass: f64| {
        format!(
            r#"<link name="{name}"><inertial><mass value="{mass}"/>
            <inertia ixx="1" iyy="1" izz="1"/></inertial></link>"#
        )
    };
    let joint = |name: &str, child: &str, axis: &str, more: &str| {
        format!(
            r#"<joint name="{name}" type="prismatic"><parent link="base"/><child link="{child}"/><axis xyz="{axis}"/>
            <limit lower="-9" upper="9" effort="1" velocity="1"/>{more}</joint>"#
        )
    };
    let text = format!(
        "<robot name=\"r\"><link name=\"base\"/>{}{}{}{}</robot>",
        link("a", 3.0),
        link("b", 1.0),
        joint("down", "a", "0 0 1", ""),
        joint("side", "b", "1 0 0", r#"<mimic joint="down" multiplier="2" offset="0.1"/>"#)
    );
    let imported = read("mimic.urdf", &text).unwrap();
    let (scene, state) = run("mimic.urdf", &imported, 0.3, 1e-3);
    // (3 + 1·2²) s'' = −3 g
    let s = -0.5 * 3.0 * G / 7.0 * 0.09;
    assert!((coordinate(&scene, &state, "a.z") - s).abs() < 1e-9);
    assert!((coordinate(&scene, &state, "b.x") - (0.1 + 2.0 * s)).abs() < 1e-9);
}

/// Orientations of MJCF in all five ways, and of Euler's angles by other sequences.
#[test]
fn orientations_agree() {
    let ways = [
        ("", r#"quat="0.7071067811865476 0 0 0.7071067811865476""#),
        ("", r#"axisangle="0 0 2 90""#),
        ("", r#"euler="0 0 90""#),
        ("", r#"xyaxes="0 3 0 -1 1 0""#),
        (r#"<compiler eulerseq="ZYX" angle="radian"/>"#, r#"euler="1.5707963267948966 0 0""#),
        (r#"<compiler eulerseq="zyx" angle="radian"/>"#, r#"euler="1.5707963267948966 0 0""#),
    ];
    for (compiler, way) in ways {
        let text = format!(
            r#"<mujoco>{compiler}<worldbody><body name="b" pos="1 2 3" {way}><freejoint/>
            <geom type="box" size=".1 .2 .3" pos="1 0 0"/></body></worldbody></mujoco>"#
        );
        let imported = read("b.xml", &text).unwrap();
        let scene = scene("b.xml", &imported, 1e-3, 1e-3);
        let start = scene.simulation().unwrap().state().clone();
        for (found, expected) in start.q.iter().zip([1.0, 3.0, 3.0, 0.5f64.sqrt(), 0.0, 0.0, 0.5f64.sqrt()]) {
            assert!((found - expected).abs() < 1e-12, "{way}: {:?}", start.q);
        }
    }
    // z to a direction, capsules from end to end
    let text = r#"<mujoco><worldbody><body name="b"><freejoint/><geom type="capsule" size=".1" fromto="0 0 1 2 0 1"/>
        <geom type="cylinder" size=".1 1" zaxis="1 0 0" pos="1 0 1"/></body></worldbody></mujoco>"#;
    let imported = read("b.xml", text).unwrap();
    assert_eq!(imported.text.matches("ends = [[-1.0").count(), 2, "{}", imported.text);
}

/// Masses by shape, total, bounds and balance.
#[test]
fn masses_follow_the_compiler() {
    let mass = |compiler: &str, inside: &str| {
        let text = format!(
            "<mujoco><compiler {compiler}/><worldbody><body name='b'><freejoint/>{inside}</body></worldbody></mujoco>"
        );
        let imported = read("m.xml", &text).unwrap_or_else(|errors| panic!("{}", errors[0]));
        let file: toml::Table = imported.text.parse().unwrap();
        let body = &file["body"][0];
        let moments: Vec<f64> = body["inertia"].as_array().unwrap().iter().map(|x| x.as_float().unwrap()).collect();
        (body["mass"].as_float().unwrap(), moments)
    };
    let near = |(mass, moments): (f64, Vec<f64>), expected: f64, inertia: [f64; 3]| {
        assert!((mass - expected).abs() < 1e-12 * expected, "{mass} beside {expected}");
        for (found, expected) in moments.iter().zip(inertia) {
            assert!((found - expected).abs() < 1e-12 * expected, "{moments:?} beside {inertia:?}");
        }
    };
    near(mass("", "<geom type='box' size='.5 1 1.5' density='2'/>"), 12.0, [13.0, 10.0, 5.0]);
    near(mass("", "<geom type='ellipsoid' size='1 2 3' mass='5'/>"), 5.0, [13.0, 10.0, 5.0]);
    near(mass("settotalmass='6'", "<geom type='sphere' size='1'/>"), 6.0, [2.4; 3]);
    near(mass("boundmass='9' boundinertia='7'", "<geom size='1' mass='1'/>"), 9.0, [7.0; 3]);
    near(mass("balanceinertia='true'", "<inertial mass='1' diaginertia='1 1 4'/>"), 1.0, [2.0; 3]);
    near(
        mass("inertiafromgeom='true'", "<inertial mass='1' diaginertia='1 1 1'/><geom size='1' mass='5'/>"),
        5.0,
        [2.0; 3],
    );
    near(
        mass("inertiagrouprange='0 1'", "<geom size='1' mass='5'/><geom size='1' mass='7' group='2'/>"),
        5.0,
        [2.0; 3],
    );
}

/// What touches, and with which friction.
#[test]
fn contacts_are_those_of_the_bits() {
    let text = r#"<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" friction="0.4"/>
        <body name="a" pos="0 0 1"><freejoint/><geom name="ball" size=".1" friction="0.7"/></body>
        <body name="b" pos="1 0 1"><freejoint/><geom size=".1" contype="0" conaffinity="0"/></body>
        <body name="c" pos="2 0 1"><freejoint/><geom type="box" size=".1 .1 .1" condim="1" priority="1"/></body>
        <body name="d" pos="3 0 0"><freejoint/><geom size=".1"/></body>
        <body name="e" pos="4 0 1"><freejoint/><geom type="capsule" size=".1 .2"/></body>
        </worldbody><contact><exclude body1="a" body2="c"/><exclude body1="a" body2="d"/></contact></mujoco>"#;
    let imported = read("c.xml", text).unwrap();
    let file: toml::Table = imported.text.parse().unwrap();
    let pairs: Vec<(String, String, Option<f64>)> = file["contact"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| {
            let word = |key: &str| c[key].as_str().unwrap().to_owned();
            (word("a"), word("b"), c.get("friction").map(|x| x.as_float().unwrap()))
        })
        .collect();
    let expected = [
        ("ground/floor", "a/ball", Some(0.7)),
        ("ground/floor", "c/shape1", None),
        ("ground/floor", "e/shape1", Some(1.0)),
        ("a/ball", "e/shape1", Some(1.0)),
        ("c/shape1", "d/shape1", None),
        ("c/shape1", "e/shape1", None),
        ("d/shape1", "e/shape1", Some(1.0)),
    ];
    assert_eq!(pairs.len(), expected.len(), "{pairs:?}");
    for ((a, b, friction), expected) in pairs.iter().zip(expected) {
        assert_eq!((a.as_str(), b.as_str(), *friction), expected);
    }
    let left = imported.summary().join("\n");
    assert!(left.contains("contacts that begin inside each other: c.xml, line 5"), "{left}");
    assert!(!left.contains("contacts of a"), "{left}");
    let (scene, state) = run("c.xml", &imported, 1.0, 1e-3);
    assert!((coordinate(&scene, &state, "a.z") - 0.1).abs() < 1e-2);
}

/// Loops that are closed by constraints, and a joint that is held.
#[test]
fn equalities_become_joints() {
    let text = r#"<mujoco><worldbody><body name="a" pos="0 0 0"><joint name="ja" axis="0 1 0"/>
        <geom type="capsule" size=".02" fromto="0 0 0 1 0 0"/>
        <body name="b" pos="1 0 0"><joint name="jb" axis="0 1 0"/>
        <geom type="capsule" size=".02" fromto="0 0 0 0 0 -1"/>
        </body></body><body name="c" pos="5 0 0"><joint name="jc" type="slide"/><geom size=".1"/></body></worldbody>
        <equality><connect body1="b" anchor="0 0 -1"/><joint joint1="jc"/><weld body1="a" body2="c" active="false"/>
        </equality></mujoco>"#;
    let imported = read("loop.xml", text).unwrap();
    assert!(imported.summary().iter().any(|line| line.starts_with("equality constraints that are not active")));
    let (scene, state) = run("loop.xml", &imported, 0.2, 1e-3);
    // two rods that are held at both ends do not move, nor does the slide
    assert!((coordinate(&scene, &state, "c.z")).abs() < 1e-12);
    assert!((coordinate(&scene, &state, "a.x") - 0.5).abs() < 1e-2);
}

/// Turns in front of their stops, by limits, references and starts.
#[test]
fn limits_are_measured_from_the_start() {
    let joint = |more: &str, options: &Options| {
        let text = format!(
            "<mujoco><worldbody><body name='b'><joint name='j' {more}/><geom size='.1'/></body></worldbody></mujoco>"
        );
        import_text(Path::new("j.xml"), &text, options).unwrap().text
    };
    let free = Options::default();
    let turned = Options { positions: vec![("j".into(), 0.25)], ..Options::default() };
    assert!(joint("type='slide' range='-1 2'", &free).contains("stops = { lower = -1.0, upper = 2.0 }"));
    assert!(joint("type='slide' range='-1 2' ref='.5'", &free).contains("stops = { lower = -1.5, upper = 1.5 }"));
    assert!(joint("type='slide' range='-1 2'", &turned).contains("stops = { lower = -1.25, upper = 1.75 }"));
    assert!(!joint("type='slide' range='-1 2' limited='false'", &free).contains("stops"));
    // drawn before its range it starts at the limit; where it is told to start there the limit is left out
    let late = joint("type='slide' range='1 2'", &free);
    assert!(late.contains("stops = { lower = 0.0, upper = 1.0 }") && late.contains("start at it"), "{late}");
    assert!(late.contains("position = [0.0, 0.0, 1.0]"), "{late}");
    let told = joint("type='slide' range='1 2'", &turned);
    assert!(told.contains("stops = { upper = 1.75 }") && told.contains("that the start violates"), "{told}");
}

/// A ball falls freely until its cord is taut, and hangs.
#[test]
fn a_cord_holds_what_falls() {
    let text = |most: f64| {
        format!(
            r#"<mujoco><worldbody><site name="hook" pos="0 0 1"/><body name="ball" pos="0 0 .9"><freejoint/>
            <geom type="sphere" size=".02" mass="2"/><site name="eye" pos="0 0 .02"/></body></worldbody>
            <tendon><spatial name="cord" range="0 {most}"><site site="hook"/><site site="eye"/></spatial></tendon>
            </mujoco>"#
        )
    };
    let imported = read("ball.xml", &text(0.38)).unwrap();
    let left: Vec<&str> = imported.left_out.iter().map(|omission| omission.what.as_str()).collect();
    assert_eq!(left, ["visuals"; 2]);
    // 0.3 m down in 0.247 s
    let (scene, state) = run("ball.xml", &imported, 0.2, 1e-4);
    let z = coordinate(&scene, &state, "ball.z");
    assert!((z - 0.9 + 0.5 * G * 0.04).abs() < 1e-9, "{z}");
    let (scene, state) = run("ball.xml", &imported, 0.5, 1e-4);
    let z = coordinate(&scene, &state, "ball.z");
    assert!((z - 0.6).abs() < 3e-4, "{z}");
    // a cord that is too short for the start is left out, and said to be
    let short = read("ball.xml", &text(0.05)).unwrap();
    assert!(
        short.summary().iter().any(|line| line.starts_with("limits that the start violates")),
        "{:?}",
        short.summary()
    );
}

/// A mass on an elastic cord, released at rest: z = z₀ − A (1 − cos ωt) about the length where force and weight agree.
#[test]
fn an_elastic_cord_is_a_spring() {
    let text = r#"<mujoco><worldbody><site name="hook" pos="0 0 1"/><body name="ball" pos="0 0 .5"><freejoint/>
        <geom type="sphere" size=".02" mass="2"/><site name="eye"/></body></worldbody>
        <tendon><spatial stiffness="80" springlength=".4"><site site="hook"/><site site="eye"/></spatial></tendon>
        </mujoco>"#;
    let imported = read("ball.xml", text).unwrap();
    let (scene, state) = run("ball.xml", &imported, 0.7, 1e-4);
    let (frequency, sag) = ((80.0f64 / 2.0).sqrt(), 2.0 * G / 80.0 - 0.1);
    let expected = 0.5 - sag * (1.0 - (frequency * 0.7).cos());
    let z = coordinate(&scene, &state, "ball.z");
    assert!((z - expected).abs() < 1e-6, "{z} beside {expected}");
}

/// A turned box in a fluid: each of its axes by itself, u = u₀/(1 + k u₀ t/m) by density, u₀ exp(−c t/m) by viscosity.
#[test]
fn drag_goes_along_the_axes_of_a_body() {
    let (mass, edges, speed, t) = (0.5, [0.1, 0.2, 0.05], 3.0, 0.4);
    let text = |fluid: &str| {
        format!(
            r#"<mujoco><option gravity="0 0 0" {fluid}/><worldbody><body name="brick" euler="0 0 30">
            <freejoint name="free"/>
            <geom type="box" size=".05 .1 .025" euler="20 0 0" mass="{mass}"/></body></worldbody></mujoco>"#
        )
    };
    let travelled = |fluid: &str, rate: Vec<f64>| {
        let options = Options { rates: vec![("free".into(), rate)], ..Options::default() };
        let imported = import_text(Path::new("brick.xml"), &text(fluid), &options).unwrap();
        assert!(imported.left_out.is_empty(), "{:?}", imported.summary());
        let (scene, state) = run("brick.xml", &imported, t, 1e-4);
        ["x", "y", "z", "e0", "e1", "e2", "e3"].map(|k| coordinate(&scene, &state, &format!("brick.{k}")))
    };
    // axes of the box: 30 degrees about z, then 20 degrees about its own x
    let ((s, c), (sx, cx)) = ((PI / 6.0).sin_cos(), (PI / 9.0).sin_cos());
    let axes = [[c, s, 0.0], [-s * cx, c * cx, sx], [s * sx, -c * sx, cx]];
    let along = |way: &dyn Fn(usize, f64) -> f64| -> [f64; 3] {
        let ways: [f64; 3] = std::array::from_fn(|i| way(i, speed * axes[i][0]));
        std::array::from_fn(|k| (0..3).map(|i| axes[i][k] * ways[i]).sum())
    };
    let [x, y, z, ..] = travelled("density='900'", vec![speed, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let expected = along(&|i, u| {
        let k = 0.5 * 900.0 * edges[(i + 1) % 3] * edges[(i + 2) % 3] / mass;
        u.signum() * (1.0 + k * u.abs() * t).ln() / k
    });
    for (found, expected) in [x, y, z].iter().zip(expected) {
        assert!((found - expected).abs() < 1e-6, "{found} beside {expected}");
    }
    // viscosity is the same along all axes; against the wind only what is faster counts
    let width = edges.iter().sum::<f64>() / 3.0;
    let rate = 3.0 * PI * 0.8 * width / mass;
    let [x, y, z, ..] = travelled("viscosity='.8' wind='1 0 0'", vec![speed, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let expected = t + (speed - 1.0) * (1.0 - (-rate * t).exp()) / rate;
    assert!((x - expected).abs() < 1e-7 && y.abs() < 1e-9 && z.abs() < 1e-9, "{x} beside {expected}, {y:e}, {z:e}");
}

/// Turning about an axis of its own, a body is slowed by ω = ω₀/(1 + k ω₀ t/J), k = ρ b_z (b_x⁴ + b_y⁴)/64.
#[test]
fn drag_slows_what_turns() {
    let text = r#"<mujoco><option gravity="0 0 0" density="900"/><worldbody><body name="brick"><freejoint name="free"/>
        <geom type="box" size=".05 .1 .025" mass=".5"/></body></worldbody></mujoco>"#;
    let options = Options { rates: vec![("free".into(), vec![0.0, 0.0, 0.0, 0.0, 0.0, 4.0])], ..Options::default() };
    let imported = import_text(Path::new("brick.xml"), text, &options).unwrap();
    let (scene, state) = run("brick.xml", &imported, 0.3, 1e-4);
    let factor = 900.0 * 0.05 * (0.1f64.powi(4) + 0.2f64.powi(4)) / 64.0 / (0.5 / 12.0 * (0.01 + 0.04));
    let expected = (1.0 + factor * 4.0 * 0.3).ln() / factor;
    let angle = 2.0 * coordinate(&scene, &state, "brick.e3").atan2(coordinate(&scene, &state, "brick.e0"));
    assert!((angle - expected).abs() < 1e-6, "{angle} beside {expected}");
}
