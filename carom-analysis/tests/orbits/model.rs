//! The impact oscillator of the examples, its closed forms, and how orbits of a file are asked for.

use carom::State;
use carom_analysis::study::StudyError;
use carom_analysis::study::orbit::{Case, Options, Orbit, find};
use carom_scene::{Overrides, Scene, from_str};

const ACCURATE: &str = r#"{ name = "event-driven", atol = 1e-12, rtol = 1e-12 }"#;

/// A file with the event-driven scheme to 1e-12.
pub fn load(text: &str) -> Scene {
    let overrides = Overrides { scheme: Some(ACCURATE.into()), ..Overrides::default() };
    from_str("test.toml", text, &overrides).unwrap_or_else(|all| panic!("{}", all[0]))
}

/// u'' + 2 al u' + u = cos(om t) above u = um, with al = 0.05, om = 2.5, um = 0, e = 0.7 where nothing else is set.
pub fn oscillator(set: &[(&str, f64)]) -> Scene {
    let scene = load(include_str!("../../../examples/impact-oscillator.toml"));
    let all: Vec<(&str, f64)> = [("um", 0.0)].iter().chain(set).copied().collect();
    with(&scene, &all)
}

pub fn with(scene: &Scene, set: &[(&str, f64)]) -> Scene {
    scene.with(set).unwrap_or_else(|all| panic!("{}", all[0]))
}

/// Once per period, with derivatives by at most one parameter.
pub fn strobe(scene: &Scene, parameters: &[&str]) -> Case {
    let period = match parameters.first() {
        Some(name) => scene.slope("period", name).unwrap(),
        None => (scene.parameter("period").unwrap(), 0.0),
    };
    Case::strobe(scene.sensitivity(parameters).unwrap(), period)
}

/// Makes cases over a parameter.
pub fn over<'a>(
    base: &'a Scene,
    name: &'a str,
    case: impl Fn(&Scene) -> Case + 'a,
) -> impl Fn(f64) -> Result<Case, StudyError> + 'a {
    move |value| {
        let scene = base.with(&[(name, value)]).map_err(|all| StudyError::Build(all[0].to_string()))?;
        Ok(case(&scene))
    }
}

/// The state after so many periods, as a guess.
pub fn settled(scene: &Scene, periods: f64) -> State {
    let mut motion = scene.sensitivity(&[]).unwrap();
    motion.set_columns(0);
    motion.advance(periods * scene.parameter("period").unwrap()).unwrap();
    State { t: 0.0, ..motion.state().clone() }
}

pub fn orbit(set: &[(&str, f64)], multiple: usize) -> Orbit {
    let scene = oscillator(set);
    find(&mut strobe(&scene, &[]), 0.0, &settled(&scene, 40.0), &Options::new(multiple)).unwrap()
}
