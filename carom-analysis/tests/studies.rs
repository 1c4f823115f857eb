//! Studies of many runs against exact motions, the numbers of the literature and symmetries.

use carom::model::Lagrangian;
use carom::scheme::{Bound, CorrectedPaoli, EventDriven, MoreauJean, SchatzmanPaoli, Scheme};
use carom::testbed::ImpactOscillator;
use carom::{Mechanical, State, Stepper};
use carom_analysis::study::basin::{self, Fate};
use carom_analysis::study::bifurcation::{self, Case, Direction, Section};
use carom_analysis::study::lyapunov::{self, perturbation, trace};
use carom_analysis::study::{Cyclic, Motion, StudyError};

const SET_A: ImpactOscillator =
    ImpactOscillator { damping: 0.05, amplitude: 1.0, frequency: 2.8, wall: 0.0, restitution: 0.7, q0: 0.5, v0: 0.0 };

fn stepper<S: Scheme<Model = dyn Mechanical> + 'static>(
    model: impl Mechanical + 'static,
    scheme: S,
) -> Result<Box<dyn Stepper>, StudyError> {
    let solver = carom_solve::solver::default();
    let bound = Bound::new(scheme, Box::new(model), solver).map_err(|e| StudyError::Build(e.to_string()))?;
    Ok(Box::new(bound))
}

fn options(period: f64, steps: f64, intervals: usize) -> lyapunov::Options {
    lyapunov::Options {
        epsilon: 1e-7,
        interval: period,
        transient: 100,
        intervals,
        batches: 20,
        step: period / steps,
        count: None,
    }
}

/// Without contact both exponents of the oscillator are −α, and the sum is −2α whatever the scheme.
#[test]
fn exponents_of_a_damped_oscillator() {
    let free = ImpactOscillator { wall: -10.0, ..SET_A };
    let make = || stepper(free.model(), CorrectedPaoli::default());
    let spectrum = perturbation(&make, &options(free.period(), 400.0, 2000), &|| false).unwrap();
    // discretisation is of second order: h²/12 relative to the frequency
    assert!((spectrum.sum() + 0.1).abs() < 1e-5, "{:?}", spectrum.exponents);
    assert!(spectrum.exponents.iter().all(|e| (e.value + 0.05).abs() < 2e-3), "{:?}", spectrum.exponents);
    assert_eq!((spectrum.impacts, spectrum.sticks, spectrum.collapsed), (0, 0, 0));
    assert!((trace(&spectrum, -0.1, |_| 0.7) + 0.1).abs() < 1e-15);
}

/// Two oscillators that do not know of each other: each has its own pair, and all four come in order.
#[test]
fn spectrum_of_two_degrees_of_freedom() {
    let model = || {
        Lagrangian::new(2)
            .constant_mass(&[1.0, 0.0, 0.0, 1.0])
            .force(|_, q, v, f| f.copy_from_slice(&[-q[0] - 0.6 * v[0], -4.0 * q[1] - 0.1 * v[1]]))
            .tangents(|_, _, _, k, c| {
                k.copy_from_slice(&[1.0, 0.0, 0.0, 4.0]);
                c.copy_from_slice(&[0.6, 0.0, 0.0, 0.1]);
            })
            .initial(&[1.0, 1.0], &[0.0, 0.0])
            .linear()
    };
    let make = || stepper(model(), CorrectedPaoli::default());
    let options = lyapunov::Options { transient: 20, ..options(1.0, 200.0, 1000) };
    let spectrum = perturbation(&make, &options, &|| false).unwrap();
    for (exponent, expected) in spectrum.exponents.iter().zip([-0.05, -0.05, -0.3, -0.3]) {
        assert!((exponent.value - expected).abs() < 2e-3, "{:?}", spectrum.exponents);
    }
    let divergence = lyapunov::divergence(&mut model()).unwrap();
    assert!((divergence + 0.7).abs() < 1e-12 && (spectrum.sum() + 0.7).abs() < 1e-5, "{divergence} {}", spectrum.sum());
    // fewer of them are the first ones
    let two = perturbation(&make, &lyapunov::Options { count: Some(2), ..options }, &|| false).unwrap();
    assert!(two.exponents.len() == 2 && (two.exponents[0].value - spectrum.exponents[0].value).abs() < 1e-12);
}

/// Set A with the corrected scheme, table of section 5.4: 0.165, −0.583, one impact per period. 600 periods leave a
/// standard deviation of 0.0035·√5 on the first exponent; the sum has next to none.
#[test]
fn exponents_of_set_a() {
    let make = || stepper(SET_A.model(), CorrectedPaoli::default());
    let spectrum = perturbation(&make, &options(SET_A.period(), 500.0, 600), &|| false).unwrap();
    let [first, second] = [spectrum.exponents[0], spectrum.exponents[1]];
    assert!((first.value - 0.1648).abs() < 0.03, "{first:?}");
    assert!((second.value + 0.5827).abs() < 0.03, "{second:?}");
    assert!((0.002..0.02).contains(&first.error), "{first:?}");
    let per_period = spectrum.impacts as f64 / 600.0;
    assert!((per_period - 1.0).abs() < 0.01, "{per_period}");
    let expected = trace(&spectrum, -0.1, |_| 0.7);
    assert!((spectrum.sum() - expected).abs() < 2e-3, "{} {expected}", spectrum.sum());
    assert_eq!((spectrum.sticks, spectrum.collapsed), (0, 0));
}

/// Check O20: perturbations much smaller than a step see no saltation in the initial scheme; a chaotic motion is
/// declared stable.
#[test]
fn the_initial_scheme_overlooks_chaos() {
    let h = SET_A.period() / 2513.0;
    let make = || stepper(SET_A.model(), SchatzmanPaoli::default());
    let small = lyapunov::Options { epsilon: 1e-3 * h, count: Some(1), ..options(SET_A.period(), 2513.0, 1000) };
    let first = perturbation(&make, &small, &|| false).unwrap().exponents[0].value;
    assert!((-0.214..=-0.189).contains(&first), "{first}");
}

/// A contact that comes to rest makes all perturbations vanish; that is told and not averaged.
#[test]
fn rest_collapses_the_tangent() {
    let sticky = ImpactOscillator { frequency: 2.9, ..SET_A };
    let make = || stepper(sticky.model(), CorrectedPaoli::default());
    let spectrum = perturbation(&make, &options(sticky.period(), 300.0, 60), &|| false).unwrap();
    assert!(spectrum.sticks > 0 && spectrum.collapsed > 0, "{} {}", spectrum.sticks, spectrum.collapsed);
    assert_eq!(spectrum.exponents[0].value, f64::NEG_INFINITY);
}

#[test]
fn nonsense_is_refused() {
    let make = || stepper(SET_A.model(), CorrectedPaoli::default());
    let good = options(1.0, 100.0, 40);
    for bad in [
        lyapunov::Options { epsilon: 0.0, ..good },
        lyapunov::Options { interval: f64::NAN, ..good },
        lyapunov::Options { intervals: 0, ..good },
        lyapunov::Options { batches: 1, ..good },
        lyapunov::Options { step: -1.0, ..good },
        lyapunov::Options { count: Some(0), ..good },
    ] {
        assert!(matches!(perturbation(&make, &bad, &|| false), Err(StudyError::Option { .. })), "{bad:?}");
    }
    assert_eq!(perturbation(&make, &options(1.0, 9000.0, 40), &|| true), Err(StudyError::Interrupted));
}

fn diagram_options(directions: Vec<Direction>, threads: usize) -> bifurcation::Options {
    bifurcation::Options {
        section: Section::Stroboscopic,
        directions,
        transient: 150,
        recorded: 64,
        epsilon: None,
        tolerance: 1e-5,
        segments: 1,
        threads,
    }
}

fn case(frequency: f64, steps: f64) -> Result<Case, StudyError> {
    let p = ImpactOscillator { frequency, ..SET_A };
    Ok(Case {
        stepper: stepper(p.model(), CorrectedPaoli::default())?,
        period: p.period(),
        step: p.period() / steps,
        observe: Box::new(|state| state.q[0]),
        turn: None,
        motion: None,
    })
}

/// Attractors of section 5.6 for α = 0.05, e = 0.7: fixed points, a doubling, a second one, chaos, and rest.
#[test]
fn attractors_over_the_frequency() {
    let values = [2.5, 2.6, 2.66, 2.70, 2.72, 2.75, 2.80, 2.90];
    let make = |k: usize| case(values[k], 800.0);
    let rows =
        bifurcation::diagram(&values, &make, &diagram_options(vec![Direction::Independent], 2), &|| false, &|| {});
    let rows = rows.unwrap();
    let expected: [&[f64]; 6] = [
        &[0.0672447],
        &[0.0431665],
        &[0.0339117],
        &[0.0303622, 0.1165699],
        &[0.0483127, 0.1402952],
        &[0.0573487, 0.0717610, 0.1258325, 0.2012629],
    ];
    for (row, expected) in rows.iter().zip(expected) {
        assert_eq!(row.period, Some(expected.len()), "om = {}: {:?}", row.parameter, &row.points[..8]);
        for point in &row.points {
            let nearest = expected.iter().map(|x| (x - point).abs()).fold(f64::INFINITY, f64::min);
            assert!(nearest < 1e-4, "om = {}: {point}", row.parameter);
        }
        assert!((row.impacts_per_period - 1.0).abs() < 1e-12 && row.sticks == 0);
    }
    assert_eq!((rows[6].period, rows[6].sticks), (None, 0));
    assert!(rows[7].period == Some(4) && rows[7].sticks >= 16, "{:?} {}", rows[7].period, rows[7].sticks);
}

/// The same rows from any number of threads; forward and backward chains; exponents beside them.
#[test]
fn threads_do_not_matter() {
    let values: Vec<f64> = (0..9).map(|k| 2.6 + 0.025 * f64::from(k)).collect();
    let make = |k: usize| case(values[k], 200.0);
    let directions = vec![Direction::Forward, Direction::Backward];
    let run = |threads| {
        let options = bifurcation::Options {
            epsilon: Some(1e-7),
            transient: 40,
            segments: 2,
            ..diagram_options(directions.clone(), threads)
        };
        bifurcation::diagram(&values, &make, &options, &|| false, &|| {}).unwrap()
    };
    let one = run(1);
    assert_eq!(one, run(3));
    assert_eq!(one.len(), 18);
    assert!(one.iter().all(|row| row.failure.is_none() && row.points.len() == 64));
    // stable at 2.6, chaos at 2.8
    let exponent = |k: usize| one[k].exponent.unwrap();
    assert!(exponent(0) < -0.05 && exponent(8) > 0.05, "{} {}", exponent(0), exponent(8));
    // impact sections: one impact per period, at the velocity of the closed form
    let options = bifurcation::Options { section: Section::Impact, ..diagram_options(vec![Direction::Independent], 2) };
    let rows = bifurcation::diagram(&[2.5], &|_| case(2.5, 800.0), &options, &|| false, &|| {}).unwrap();
    assert!(rows[0].points.len() == 64 && rows[0].points.iter().all(|v| (v + 0.661559206).abs() < 1e-4));
    // with one impact in each period they repeat as the stroboscopic points do
    let values = [2.5, 2.70, 2.75, 2.80];
    let rows = bifurcation::diagram(&values, &|k| case(values[k], 800.0), &options, &|| false, &|| {}).unwrap();
    assert_eq!(rows.iter().map(|row| row.period).collect::<Vec<_>>(), [Some(1), Some(2), Some(4), None]);
}

/// A case that cannot be built or run is a row with the reason, and the others go on.
#[test]
fn failures_are_rows() {
    let values = [2.5, f64::NAN, 2.6];
    let make = |k: usize| {
        if values[k].is_nan() { Err(StudyError::Build("no such frequency".into())) } else { case(values[k], 100.0) }
    };
    let rows = bifurcation::diagram(&values, &make, &diagram_options(vec![Direction::Forward], 1), &|| false, &|| {});
    let failures: Vec<Option<String>> = rows.unwrap().into_iter().map(|row| row.failure).collect();
    assert_eq!(failures, [None, Some("no such frequency".to_owned()), None]);
    let nothing = bifurcation::Options { recorded: 0, ..diagram_options(vec![Direction::Forward], 1) };
    assert!(bifurcation::diagram(&values, &make, &nothing, &|| false, &|| {}).is_err());
    assert!(
        bifurcation::diagram(&[], &make, &diagram_options(vec![Direction::Forward], 1), &|| false, &|| {}).is_err()
    );
}

/// Two wells: q̈ + 0.3 q̇ = q − q³. The states (q, v) and (−q, −v) lead to opposite rest points, each of which has its
/// neighbourhood.
#[test]
fn basins_of_two_wells() {
    let wells = || {
        Lagrangian::new(1)
            .force(|_, q, v, f| f[0] = q[0] - q[0].powi(3) - 0.3 * v[0])
            .tangents(|_, q, _, k, c| (k[0], c[0]) = (3.0 * q[0] * q[0] - 1.0, 0.3))
            .initial(&[0.0], &[0.0])
    };
    let make = || stepper(wells(), CorrectedPaoli::default());
    let n = 14;
    let at = |k: usize| -1.95 + 0.3 * k as f64;
    let initial = |cell: usize| State::new(0.0, &[at(cell % n)], &[at(cell / n)]);
    let options = basin::Options {
        period: 1.0,
        step: 0.05,
        transient: 100,
        longest: 2,
        tolerance: 1e-4,
        escape: 1e3,
        cyclic: Cyclic::default(),
        threads: 2,
    };
    let found = basin::basins((n * n, n), &initial, &make, &options, (&|| false, &|| {})).unwrap();
    assert_eq!(found.attractors.len(), 2);
    assert!(found.attractors.iter().all(|a| a.period == Some(1) && (a.points[0][0].abs() - 1.0).abs() < 1e-3));
    assert_eq!(found.attractors[0].cells, n * n / 2);
    for cell in 0..n * n {
        assert_ne!(found.fates[cell], found.fates[n * n - 1 - cell], "{cell}");
    }
    let near = |q: f64| {
        let column = (0..n).min_by(|a, b| (at(*a) - q).abs().total_cmp(&(at(*b) - q).abs())).unwrap();
        let Fate::Attractor(k) = found.fates[column + n * 6] else { panic!("{:?}", found.fates[column + n * 6]) };
        found.attractors[k].points[0][0]
    };
    assert!(near(1.0) > 0.0 && near(-1.0) < 0.0);
    let one = basin::Options { threads: 1, ..options };
    assert_eq!(basin::basins((n * n, n), &initial, &make, &one, (&|| false, &|| {})).unwrap(), found);
}

/// Impacts and rests are counted alike by schemes that end steps at impacts and by those that do not.
#[test]
fn counts_of_a_march() {
    let p = ImpactOscillator { frequency: 2.5, wall: 0.0, ..SET_A };
    let exact = p.motion().advance(100.0);
    let schemes = [
        stepper(p.model(), CorrectedPaoli::default()),
        stepper(p.model(), MoreauJean::default()),
        stepper(p.model(), SchatzmanPaoli::default()),
    ];
    for stepper in schemes {
        let mut motion = Motion::new(stepper.unwrap(), 1e-3).unwrap();
        motion.to(100.0).unwrap();
        assert_eq!(motion.state().t, 100.0);
        assert!(motion.impacts.abs_diff(exact.0) <= 1, "{} {exact:?}", motion.impacts);
    }
}

/// Late intervals are no worse than early ones: rounding in the sum of steps leaves no step of 1e-11 s, which would
/// throw a scheme that takes velocities from positions. The oscillator moves with |v| < 10 whatever happens.
#[test]
fn late_intervals_end_without_a_tiny_step() {
    let mut motion = Motion::new(stepper(SET_A.model(), SchatzmanPaoli::default()).unwrap(), 1e-3).unwrap();
    for k in 1..=15_000 {
        motion.to(0.1 * f64::from(k)).unwrap();
        assert!(motion.state().v[0].abs() < 10.0, "{:?}", motion.state());
    }
}

/// Impacts of case P1 as a study sees them: the located ones of the corrected scheme are those of the event-driven one,
/// to second order.
#[test]
fn located_impacts_of_both_schemes_agree() {
    let strikes = |stepper: Result<Box<dyn Stepper>, StudyError>, h: f64| {
        let (mut motion, mut all) = (Motion::new(stepper.unwrap(), h).unwrap(), Vec::new());
        motion.watched(8.5, &|| false, &mut |strike| all.push(*strike)).unwrap();
        assert_eq!(motion.impacts as usize, all.len());
        all
    };
    let p1 = ImpactOscillator::default();
    let tight = EventDriven { atol: Some(1e-12), rtol: 1e-12, ..EventDriven::default() };
    let exact = strikes(stepper(p1.model(), tight), 0.1);
    assert!(exact.len() == 3 && (exact[1].t - 4.967283364699).abs() < 1e-9, "{exact:?}");
    let miss = |n: f64| {
        let found = strikes(stepper(p1.model(), CorrectedPaoli::default()), 8.5 / n);
        assert_eq!(found.len(), exact.len());
        found.iter().zip(&exact).fold(0.0f64, |m, (a, b)| {
            m.max((a.t - b.t).abs()).max((a.before - b.before).abs()).max((a.after - b.after).abs())
        })
    };
    let (coarse, fine) = (miss(2000.0), miss(4000.0));
    assert!(fine < 1e-3 && ((coarse / fine).log2() - 2.0).abs() < 0.3, "{coarse:e} {fine:e}");
}
