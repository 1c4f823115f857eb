//! Exponents of discrete maps: those of the corrected scheme are those of the motion, those of schemes with impacts on
//! the grid are not.

use carom::model::{AffineRow, Linear, LinearContact, LinearTangent, SparseMatrix};
use carom::sensitivity::StepSensitivity;
use carom::{Mechanical, State};
use carom_analysis::study::lyapunov::{Options, Spectrum};
use carom_analysis::study::tangent::tangent;
use carom_solve::Law;
use serde_json::json;

const PERIOD: f64 = std::f64::consts::TAU / 2.8;

/// Set A: ü + 0.1 u̇ + u = cos 2.8t above u = 0, e = 0.7.
fn model() -> Linear {
    let matrix = |x: f64| SparseMatrix::from_triplets(1, &[(0, 0, x)]).unwrap();
    let row = AffineRow { entries: vec![(0, 1.0)], constant: 0.0, rate: 0.0 };
    let contact =
        LinearContact { name: "wall".into(), law: Law::UNILATERAL, restitution: 0.7, tangential: 0.0, rows: vec![row] };
    Linear::new(&matrix(1.0), &matrix(0.1), &matrix(1.0), State::new(0.0, &[0.5], &[0.0]))
        .unwrap()
        .with_force(|t, out| out[0] += (2.8 * t).cos())
        .with_contact(contact)
}

fn spectrum(scheme: &str, options: serde_json::Value, (steps, intervals): (usize, usize)) -> Spectrum {
    let models = || -> Box<dyn Mechanical> { Box::new(model()) };
    let derivative = Box::new(LinearTangent::new(&mut model()).unwrap());
    let solver = carom_solve::solver::default();
    let mut run = StepSensitivity::new((scheme, &options), [models(), models()], derivative, solver).unwrap();
    let step = PERIOD / steps as f64;
    let options =
        Options { epsilon: 1e-7, interval: PERIOD, transient: 300, intervals, batches: 20, step, count: None };
    let spectrum = tangent(&mut run, &options, &|| false).unwrap();
    println!("{scheme} {steps}: {:?} {:?}", spectrum.exponents, spectrum.sum());
    spectrum
}

/// The values of saltation matrices are 0.1648 and −0.5827, with 20000 periods; here there are 2500, with larger
/// statistical errors.
#[test]
fn the_corrected_scheme_has_the_exponents_of_the_motion() {
    for variant in ["consistent", "printed"] {
        let s = spectrum("corrected-paoli", json!({ "variant": variant }), (200, 2500));
        let [first, second] = [s.exponents[0], s.exponents[1]];
        let bar = |e: f64| 0.002 + 3.0 * e;
        assert!(first.error < 0.008 && (first.value - 0.1648).abs() < bar(first.error), "{variant} {first:?}");
        assert!((second.value + 0.5827).abs() < bar(second.error), "{variant} {second:?}");
        // one impact per period, but for those at the ends
        assert!(s.impacts.abs_diff(2500) <= 2 && s.sticks == 0 && s.collapsed == 0, "{variant} {}", s.impacts);
        // the trace of the motion, 2 ln e for each impact
        let miss = |s: &Spectrum| {
            let trace = -0.1 + 2.0 * 0.7f64.ln() * s.impacts as f64 / s.time;
            (s.sum() - trace).abs()
        };
        if variant == "consistent" {
            assert!(miss(&s) < 2e-3, "{}", s.sum());
        } else {
            // of first order: half the step has half of it
            let finer = spectrum("corrected-paoli", json!({ "variant": variant }), (400, 1000));
            assert!((miss(&s) / miss(&finer) - 2.0).abs() < 0.3, "{} {}", miss(&s), miss(&finer));
        }
    }
}

/// A grid impact has the determinant −e and no damping: the sum is exactly known, and both exponents are negative
/// although the motion is chaotic.
#[test]
fn impacts_on_the_grid_do_not_see_chaos() {
    let steps = 200;
    let s = spectrum("moreau-jean", json!({}), (steps, 1000));
    let h = PERIOD / steps as f64;
    // det of a trapezoidal step of ü + 2αu̇ + u: (1 − αh + h²/4)/(1 + αh + h²/4)
    let free = ((1.0 - 0.05 * h + h * h / 4.0) / (1.0 + 0.05 * h + h * h / 4.0)).ln();
    let impacts = s.impacts as f64 / 1000.0;
    let sum = ((steps as f64 - impacts) * free + impacts * 0.7f64.ln()) / PERIOD;
    assert!((s.sum() - sum).abs() < 1e-10, "{} {sum}", s.sum());
    assert!(s.exponents.iter().all(|e| e.value < -0.1), "{:?}", s.exponents);
    let s = spectrum("schatzman-paoli", json!({}), (steps, 1000));
    assert!(s.collapsed == 0 && s.exponents.iter().all(|e| e.value < -0.1), "{} {:?}", s.collapsed, s.exponents);
}
