//! Rolling friction in model files: a sphere rolls to rest as the closed form says, and mistakes are told.

use carom::simulation::Recorder;
use carom_scene::{Overrides, Scene, from_str};

const SPHERE: &str = r#"
version = 1
name = "sphere rolling to rest"
[parameters]
m = 1.7
r = 0.11
J = "2/5*m*r^2"
roll = 0.004
v0 = 0.3
[model]
kind = "lagrangian"
coordinates = ["x", "y", "z", "a", "b", "c"]
kinetic = "m/2*(x'^2 + y'^2 + z'^2) + J/2*(a'^2 + b'^2 + c'^2)"
potential = "m*9.81*z"
[[contact]]
name = "floor"
gap = "z"
friction = 0.4
slip = ["x - r*b", "y + r*a"]
rolling = "roll"
spinning = 0.002
turning = ["a", "b", "c"]
[initial]
"x'" = "v0"
"b'" = "v0/r"
[simulation]
end = 2.0
step = 0.001
"#;

fn load(text: &str) -> Result<Scene, String> {
    let told = |all: Vec<carom_scene::Diagnostic>| all.iter().map(|d| d.to_string()).collect::<String>();
    from_str("test.toml", text, &Overrides::default()).map_err(told)
}

/// v' = −(5/7) (μ_r/r) g while it rolls: rest after v₀/a at the distance v₀²/(2a).
#[test]
fn a_sphere_rolls_to_rest() {
    let brake = 5.0 / 7.0 * 0.004 / 0.11 * 9.81;
    let scene = load(SPHERE).unwrap();
    let mut recorder = Recorder::default();
    assert!(scene.simulation().unwrap().run(&mut [&mut recorder]).unwrap());
    let solution = recorder.into_solution();
    for k in 0..solution.len() {
        let speed = (0.3 - brake * solution.t[k]).max(0.0);
        assert!((solution.v(k)[0] - speed).abs() < 1e-8 && (solution.v(k)[4] - speed / 0.11).abs() < 1e-7, "{k}");
    }
    let (last, distance) = (solution.q(solution.len() - 1), 0.5 * 0.3 * 0.3 / brake);
    assert!(
        solution.t[solution.len() - 1] > 0.3 / brake && (last[0] - distance).abs() < 1e-6,
        "{}",
        last[0] - distance
    );
}

#[test]
fn mistakes_are_told() {
    for (from, to, message) in [
        ("turning = [\"a\", \"b\", \"c\"]", "", "rolling friction needs `turning`"),
        ("[\"a\", \"b\", \"c\"]", "[\"a\", \"b\"]", "found 2"),
        ("spinning = 0.002\n", "", "found 3"),
        ("rolling = \"roll\"", "rolling = -1", "the coefficient of rolling friction is -1, negative"),
        ("rolling = \"roll\"\nspinning = 0.002\n", "", "`turning` without `rolling` or `spinning` has no effect"),
        ("friction = 0.4\n", "", "needs `friction`"),
    ] {
        let text = SPHERE.replace(from, to);
        assert_ne!(text, SPHERE);
        let error = load(&text).err().unwrap();
        assert!(error.contains(message), "{message}: {error}");
    }
}

/// A ball that strikes the floor with spin: R ω' = (10 v − 3 R ω)/7 and v' = (3 v + 4 R ω)/7 where all of the slip is
/// turned back.
#[test]
fn a_superball_turns_its_slip_back() {
    let strike = SPHERE
        .replace("rolling = \"roll\"\nspinning = 0.002\nturning = [\"a\", \"b\", \"c\"]\n", "tangential = 1\n")
        .replace("friction = 0.4", "friction = 4\nrestitution = 0.8")
        .replace("\"b'\" = \"v0/r\"", "\"b'\" = 20\n\"z'\" = -2")
        .replace("end = 2.0\nstep = 0.001", "end = 1e-6\nstep = 1e-7");
    let scene = load(&strike).unwrap();
    assert_eq!(scene.laws[0].tangential, 1.0);
    let mut recorder = Recorder::default();
    assert!(scene.simulation().unwrap().run(&mut [&mut recorder]).unwrap());
    let solution = recorder.into_solution();
    let v = solution.v(solution.len() - 1);
    let (rate, spin) = (0.3, 0.11 * 20.0);
    assert!((v[0] - (3.0 * rate + 4.0 * spin) / 7.0).abs() < 1e-6, "{}", v[0]);
    assert!((0.11 * v[4] - (10.0 * rate - 3.0 * spin) / 7.0).abs() < 1e-6, "{}", v[4]);
    for (from, to, message) in [
        (
            "tangential = 1\n",
            "tangential = 1.5\n",
            "the tangential coefficient of restitution is 1.5, outside of [0, 1]",
        ),
        ("friction = 4\n", "", "tangential restitution needs `friction`"),
    ] {
        let text = strike.replace(from, to).replace("slip = [", if to.is_empty() { "# [" } else { "slip = [" });
        let error = load(&text).err().unwrap();
        assert!(error.contains(message), "{message}: {error}");
    }
}
