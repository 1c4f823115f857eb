//! Derivatives of discrete maps beside those of the motion, and errors.

use super::check::load;
use super::models::{MOREAU_JEAN, OSCILLATOR, SCHATZMAN_PAOLI, corrected};
use carom::sensitivity::StepSensitivity;

/// The derivative at a given time: that of the corrected scheme tends to the derivative of the motion with the step,
/// although its steps end at impacts; that of Moreau-Jean does not, and has the determinant −e of a grid impact in
/// place of e².
#[test]
fn discrete_maps_and_the_motion() {
    let end = 5.0;
    let columns = |s: &StepSensitivity| s.frame.states().map(|c| [c[0], c[1]]).collect::<Vec<_>>();
    let mut motion = load(OSCILLATOR, r#"{ name = "event-driven", flow = "rkf45", atol = 1e-12, rtol = 1e-12 }"#)
        .sensitivity(&["om", "e"])
        .unwrap();
    motion.advance(end).unwrap();
    assert!(motion.counts.impacts == 2, "{:?}", motion.counts);
    let exact: Vec<[f64; 2]> = motion.columns().map(|c| [c[0], c[1]]).collect();
    let error = |scheme: &str, h: f64| {
        let mut s = load(OSCILLATOR, scheme).step_sensitivity(&["om", "e"]).unwrap();
        s.advance(end, h).unwrap();
        assert_eq!((s.counts.impacts, s.state().t), (2, end), "{scheme} {h}");
        assert!(s.frame.states().all(|c| c[c.len() - 1].abs() < 1e-13), "{scheme}");
        let found = columns(&s);
        let miss = |(a, b): (&[f64; 2], &[f64; 2])| (a[0] - b[0]).abs().max((a[1] - b[1]).abs());
        (found.iter().zip(&exact).map(miss).fold(0.0, f64::max), found)
    };
    // where in a step an impact falls changes the error like a sawtooth: the worst of several steps
    let worst =
        |scheme: &str, h: f64| [1.0, 0.93, 0.87, 0.81].map(|x| error(scheme, x * h).0).into_iter().fold(0.0, f64::max);
    for variant in ["consistent", "printed"] {
        let [coarse, fine] = [0.04, 0.0025].map(|h| worst(&corrected(variant), h));
        println!("{variant} {coarse:e} {fine:e}");
        assert!(fine < 2.5e-3 && coarse > 8.0 * fine, "{variant} {coarse} {fine}");
    }
    let grid = [0.04, 0.01, 0.0025].map(|h| worst(MOREAU_JEAN, h));
    println!("moreau-jean {grid:?}");
    assert!(grid.iter().all(|error| *error > 1.0), "{grid:?}");
    let fine = error(MOREAU_JEAN, 0.005).1;
    // trapezoidal steps over free flight: ((1 − αh)/(1 + αh)) up to h² terms, and −e at each of the two impacts
    let det = |c: &[[f64; 2]]| c[0][0] * c[1][1] - c[0][1] * c[1][0];
    assert!((det(&fine) - (-0.1 * end).exp() * 0.49).abs() < 2e-3, "{}", det(&fine));
    assert!((det(&exact) - (-0.1 * end).exp() * 0.7f64.powi(4)).abs() < 1e-9);
}

#[test]
fn what_has_no_derivative_says_so() {
    let error =
        |text: &str, scheme: &str| load(text, scheme).step_sensitivity(&[]).map(|_| ()).unwrap_err().to_string();
    let message = error(OSCILLATOR, "higher-order");
    assert!(
        message.contains("`higher-order`") && message.contains("moreau-jean, schatzman-paoli, corrected-paoli"),
        "{message}"
    );
    // a perturbation of time cannot be carried by steps of one length
    let mut s = load(OSCILLATOR, SCHATZMAN_PAOLI).step_sensitivity(&[]).unwrap();
    s.frame.columns_mut().for_each(|c| *c.last_mut().unwrap() = 1.0);
    let message = s.step(0.01).unwrap_err().to_string();
    assert!(message.contains("no derivative"), "{message}");
}
