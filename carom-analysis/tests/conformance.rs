//! The conformance suite: every row of the scheme registry, with its default options, does what it claims.

mod claims;

use carom::model::{Contact, Lagrangian};
use carom::scheme::{AnyModel, BindError, Claim, Family, SCHEMES, SchemeError, SchemeRow};
use carom::simulation::{FixedStep, GapMonitor, LedgerObserver};
use carom::testbed::{BouncingBall, ExactSolution, LinearOscillator, PreloadedOscillator, Takeoff};
use carom::{Mechanical, Simulation, Solution};
use carom_analysis::convergence::{Plan, Reference, Study, study};
use carom_analysis::error::log_log_slope;
use carom_solve::{SOLVERS, page};
use claims::{Claimed, claimed};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn simulation(row: &SchemeRow, options: &Value, model: impl Mechanical + 'static, end: f64, h: f64) -> Simulation {
    let model = AnyModel::Mechanical(Box::new(model));
    let stepper = (row.bind)(options, model, carom_solve::solver::default()).unwrap();
    Simulation::new(stepper, Box::new(FixedStep { h }), end).unwrap()
}

/// Check O8's grids: 8 neighbours without multiples of 5 around 100, 200, ..., 3200, over 5 s.
fn plan() -> Plan {
    let counts = (0..6).map(|k| 100 << k).collect();
    Plan { start: 0.0, end: 5.0, counts, grids: 8, skip_multiples_of: Some(5) }
}

/// Restitution of the problems that every scheme is measured on.
fn restitution(row: &SchemeRow) -> f64 {
    if row.info.claims.contains(&Claim::Inelastic) { 0.0 } else { 0.5 }
}

fn ball_study(row: &SchemeRow, options: &Value, plan: &Plan) -> Study {
    let ball = BouncingBall { restitution: restitution(row), ..BouncingBall::default() };
    let make = |h| Ok::<_, String>(simulation(row, options, ball.model(), plan.end, h));
    study(row.info.name, plan, &Reference::Exact(&ball), make).unwrap()
}

fn oscillator_study(row: &SchemeRow, options: &Value, plan: &Plan) -> Study {
    let oscillator = LinearOscillator { restitution: restitution(row), ..LinearOscillator::default() };
    let make = |h| Ok::<_, String>(simulation(row, options, oscillator.model(), plan.end, h));
    study(row.info.name, plan, &Reference::Exact(&oscillator), make).unwrap()
}

/// Claimed orders of first-order schemes through impacts (check O8 for Moreau-Jean with the free forecast).
#[test]
fn orders_through_impacts() {
    for Claimed { row, options, order } in claimed(Family::Mechanical).iter().filter(|claim| claim.order.position < 1.5)
    {
        for (problem, study) in
            [("ball", ball_study(row, options, &plan())), ("oscillator", oscillator_study(row, options, &plan()))]
        {
            let measured = |of, norm| study.order(of, norm).unwrap().slope;
            println!(
                "{} on the {problem}: q l1 {:.3}, sup {:.3}, H {:.3}; v l1 {:.3}, l2 {:.3}, H {:.3}",
                row.info.name,
                measured('q', "l1"),
                measured('q', "sup"),
                measured('q', "hausdorff"),
                measured('v', "l1"),
                measured('v', "l2"),
                measured('v', "hausdorff"),
            );
            let l1 = measured('q', "l1");
            assert!((l1 - order.position).abs() <= 0.15, "{} on the {problem}: order {l1} in l1(q)", row.info.name);
            let l1 = measured('v', "l1");
            assert!((l1 - order.velocity).abs() <= 0.25, "{} on the {problem}: order {l1} in l1(v)", row.info.name);
        }
    }
}

/// Steps with errors of positions and velocities in l1.
type Errors = Vec<(f64, [f64; 2])>;

/// Errors at the grid points against a closed form, the median over neighbouring grids: an impact time that falls
/// between a grid point and the exact time makes an error of the size of the jump there, on some grids.
fn l1_errors(claim: &Claimed, exact: &dyn ExactSolution, model: &dyn Fn() -> Lagrangian, plan: &Plan) -> Errors {
    let jumps = exact.jumps(0.0, plan.end, 1e-9);
    let error = |steps: usize| {
        let h = plan.end / steps as f64;
        let solution = simulation(claim.row, &claim.options, model(), plan.end, h).record().unwrap();
        let (mut q, mut v, mut sums) = ([0.0], [0.0], [0.0; 2]);
        for (k, &t) in solution.t.iter().enumerate() {
            // a located impact is a point itself, on one side of the exact time or on the other
            if jumps.iter().any(|jump| (jump - t).abs() < 1e-2 * h) {
                continue;
            }
            exact.at(t, &mut q, &mut v);
            sums[0] += h * (solution.q(k)[0] - q[0]).abs();
            // a step that ends at the impact has the velocity after it there, and the exact impact may be a little
            // later
            let at_impact = k > 0 && k + 1 < solution.len() && t - solution.t[k - 1] < h * (1.0 - 1e-6);
            sums[1] += if at_impact { 0.0 } else { h * (solution.v(k)[0] - v[0]).abs() };
        }
        sums
    };
    let level = |&count: &usize| {
        let errors: Vec<[f64; 2]> = plan.grids_of(count).into_iter().map(error).collect();
        let median = |of: usize| {
            let mut sorted: Vec<f64> = errors.iter().map(|e| e[of]).collect();
            sorted.sort_by(f64::total_cmp);
            sorted[sorted.len() / 2]
        };
        (plan.end / count as f64, [median(0), median(1)])
    };
    plan.counts.iter().map(level).collect()
}

/// An error of an l1 norm that may be due to rounding alone.
const ROUNDING: f64 = 2e-13;

/// The order of an error, with levels at rounding left out. Where fewer than two are left the scheme has to be exact
/// but for rounding, on all grids: its order is infinite then.
fn order_above_rounding(errors: &Errors, of: usize) -> f64 {
    assert!(errors.iter().all(|(_, e)| e[of].is_finite()), "{errors:?}");
    let (steps, above): (Vec<f64>, Vec<f64>) =
        errors.iter().map(|(h, e)| (*h, e[of])).filter(|(_, e)| *e > ROUNDING).unzip();
    if steps.len() >= 2 {
        return log_log_slope(&steps, &above).unwrap().slope;
    }
    assert!(above.iter().all(|e| *e <= 10.0 * ROUNDING), "neither an order nor exact: {errors:?}");
    f64::INFINITY
}

/// Grids on which a scheme of order p is neither coarse nor at rounding.
fn grids(p: f64, end: f64) -> Plan {
    let counts = match p {
        p if p < 4.5 => vec![83, 163, 323, 643],
        p if p < 6.5 => vec![23, 43, 83, 163],
        _ => vec![23, 29, 37, 47],
    };
    Plan { start: 0.0, end, counts, grids: 5, skip_multiples_of: Some(5) }
}

/// Claimed orders of higher-order schemes: as claimed on the oscillator, and not less with accumulations and take-off.
/// (The ball in flight is integrated exactly: what is seen there is how well impacts are located.)
#[test]
fn high_orders_through_impacts() {
    let (ball, oscillator) = (BouncingBall::default(), LinearOscillator::default());
    let (preloaded, takeoff) = (PreloadedOscillator::default(), Takeoff::default());
    let problems: [(&dyn ExactSolution, &dyn Fn() -> Lagrangian, f64); 4] = [
        (&oscillator, &|| oscillator.model(), 5.0),
        (&ball, &|| ball.model(), 5.0),
        (&preloaded, &|| preloaded.model(), 5.0),
        (&takeoff, &|| takeoff.model(), 2.9),
    ];
    for claim in claimed(Family::Mechanical).iter().filter(|claim| claim.order.position > 1.5) {
        for (k, (exact, model, end)) in problems.iter().enumerate() {
            let errors = l1_errors(claim, *exact, *model, &grids(claim.order.position, *end));
            let (q, v) = (order_above_rounding(&errors, 0), order_above_rounding(&errors, 1));
            let name = format!("{} on {}: orders {q:.2} in l1(q), {v:.2} in l1(v)", claim.name(), exact.name());
            println!("{name}");
            assert!(q >= claim.order.position - 0.25 && v >= claim.order.velocity - 0.25, "{name}");
            if k == 0 {
                // coarse grids, where the terms of the next order are not small yet
                let slack = if claim.order.position > 6.5 { 0.3 } else { 0.0 };
                let within = |of: f64, claimed: f64, limit: f64| (of - claimed).abs() <= limit + slack;
                assert!(within(q, claim.order.position, 0.2) && within(v, claim.order.velocity, 0.25), "{name}");
            }
        }
    }
}

/// Check O8, the l2 norm of the ball's velocity for the free forecast; and the claimed order in l1 for the explicit
/// one.
#[test]
fn moreau_jean_orders_of_the_ball() {
    let row = carom::scheme::find("moreau-jean").unwrap();
    let l2 = ball_study(row, &json!({ "forecast": "free" }), &plan()).order('v', "l2").unwrap().slope;
    assert!((l2 - 0.5).abs() <= 0.1, "{l2}");
    let l1 =
        ball_study(row, &json!({ "forecast": { "explicit": { "gamma": 0.0 } } }), &plan()).order('q', "l1").unwrap();
    assert!((l1.slope - 1.0).abs() <= 0.15, "{}", l1.slope);
}

/// Check O9: the sup norm of the velocity does not converge.
#[test]
fn velocities_do_not_converge_uniformly() {
    let row = carom::scheme::find("moreau-jean").unwrap();
    for count in [400, 1600] {
        for steps in (Plan { counts: vec![count], ..plan() }).grids_of(count) {
            let single = Plan { counts: vec![steps], grids: 1, ..plan() };
            let study = ball_study(row, &json!({ "forecast": { "explicit": { "gamma": 0.0 } } }), &single);
            assert!(study.levels[0].v.sup > 1.0, "N = {steps}: {}", study.levels[0].v.sup);
        }
    }
}

/// Claimed order in smooth motion: the oscillator before its first impact.
#[test]
fn orders_in_smooth_motion() {
    for claim in claimed(Family::Mechanical) {
        let oscillator = LinearOscillator { restitution: restitution(claim.row), ..LinearOscillator::default() };
        // not so fine that high orders end in rounding
        let counts = match claim.order.smooth {
            p if p < 4.5 => vec![20, 40, 80, 160, 320],
            p if p < 6.5 => vec![8, 11, 16, 22, 32],
            _ => vec![3, 4, 5, 6],
        };
        let plan = Plan { start: 0.0, end: 0.8, counts, grids: 1, skip_multiples_of: None };
        let errors = l1_errors(&claim, &oscillator, &|| oscillator.model(), &plan);
        let slope = order_above_rounding(&errors, 0);
        println!("{}: {slope:.2}", claim.name());
        let tolerance = match claim.order.smooth {
            p if p < 4.5 => 0.1,
            p if p < 6.5 => 0.15,
            _ => 0.3,
        };
        assert!((slope - claim.order.smooth).abs() < tolerance, "{}: {slope}", claim.name());
    }
}

/// Check O14, the Moreau-Jean part, for every scheme that claims it and every forecast.
#[test]
fn elastic_energy_is_conserved() {
    let ball = BouncingBall { restitution: 1.0, ..BouncingBall::default() };
    for row in SCHEMES.iter().filter(|row| row.info.claims.contains(&Claim::ConservesEnergyElastic)) {
        let forecasts =
            [json!("free"), json!({ "explicit": { "gamma": 0.0 } }), json!({ "explicit": { "gamma": 1.0 } })];
        let mut options: Vec<Value> = forecasts.map(|forecast| json!({ "forecast": forecast })).to_vec();
        // schemes without a forecast
        options.retain(|options| (row.check)(options).is_ok());
        options.push(json!({}));
        for options in &options {
            for end in [10.0f64, 20.0, 100.0] {
                let h = 0.047;
                let span = (end / h).floor() * h;
                let mut run = simulation(row, options, ball.model(), span, h);
                let mut ledger = LedgerObserver::default();
                run.run(&mut [&mut ledger]).unwrap();
                let energy = ledger.ledger().unwrap().last.total();
                assert!((energy - 2.0).abs() < 1e-9, "{} {options} T = {end}: {energy}", row.info.name);
            }
        }
    }
}

/// Penetration of the ball, whose largest approach velocity is 2: at most h|u|(1 + 1/2), falling with h.
#[test]
fn penetration_is_of_first_order() {
    for row in SCHEMES.iter().filter(|row| row.info.claims.contains(&Claim::PenetrationFirstOrder)) {
        let ball = BouncingBall { restitution: restitution(row), ..BouncingBall::default() };
        for h in [5.0 / 587.0, 5.0 / 5870.0] {
            let mut run = simulation(row, &json!({}), ball.model(), 5.0, h);
            let mut gaps = GapMonitor::default();
            run.run(&mut [&mut gaps]).unwrap();
            let penetration = -gaps.overall().unwrap();
            assert!(penetration <= 1.5 * h * 2.0, "{}: {penetration} at h = {h}", row.info.name);
        }
    }
}

/// A scheme without an impact law refuses restitution instead of ignoring it.
#[test]
fn inelastic_schemes_refuse_restitution() {
    for row in SCHEMES.iter().filter(|row| row.info.claims.contains(&Claim::Inelastic)) {
        let model = AnyModel::Mechanical(Box::new(BouncingBall::default().model()));
        let refused = (row.bind)(&json!({}), model, carom_solve::solver::default()).err();
        assert!(
            matches!(refused, Some(BindError::Scheme(SchemeError::Incapable { scheme, .. })) if scheme == row.info.name),
            "{}: {refused:?}",
            row.info.name
        );
    }
}

/// Gaps of the ball and of a rocking block stay above the tolerance of a projection, at coarse and fine steps.
#[test]
fn gaps_are_not_violated() {
    let corner = |name: &str, side: f64, e: f64| {
        Contact::new(name, move |_, q| q[1] - 0.75 * q[2].cos() + side * 0.5 * q[2].sin()).restitution(e)
    };
    let block = |e: f64| {
        Lagrangian::new(3)
            .constant_mass(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 3.25 / 12.0])
            .force(|_, _, _, f| f.copy_from_slice(&[0.0, -9.81, 0.0]))
            .contact(corner("left", 1.0, e))
            .contact(corner("right", -1.0, e))
            .initial(&[0.0, 1.0, 0.2], &[0.0, 0.0, 0.2])
    };
    for row in SCHEMES.iter().filter(|row| row.info.claims.contains(&Claim::NoPenetration)) {
        let restitution = restitution(row);
        let ball = BouncingBall { restitution, ..BouncingBall::default() };
        for h in [4e-2, 1e-2, 1e-3] {
            let runs = [
                simulation(row, &json!({}), ball.model(), 5.0, h),
                simulation(row, &json!({}), block(restitution), 2.0, h),
            ];
            for mut run in runs {
                let mut gaps = GapMonitor::default();
                run.run(&mut [&mut gaps]).unwrap();
                let least = gaps.overall().unwrap();
                assert!(least > -1e-10, "{}: {least} at h = {h}", row.info.name);
            }
        }
    }
}

/// Coulomb friction against closed forms: a block on a plane, planar and spatial, slides to a stop after v²/(2 μ g) and
/// sticks under a push below the limit.
#[test]
fn friction_is_treated() {
    let (mu, g, speed) = (0.3, 10.0, 1.2);
    let block = |spatial: bool, push: f64, v: [f64; 3]| {
        let mut floor = Contact::new("floor", |_, q| q[2]).gradient(|_, _, row| row.copy_from_slice(&[0.0, 0.0, 1.0]));
        floor = floor.friction(mu, |_, q| q[0]).gradient(|_, _, row| row.copy_from_slice(&[1.0, 0.0, 0.0]));
        if spatial {
            floor = floor.friction(mu, |_, q| q[1]).gradient(|_, _, row| row.copy_from_slice(&[0.0, 1.0, 0.0]));
        }
        Lagrangian::new(3)
            .force(move |_, _, _, f| f.copy_from_slice(&[push, 0.0, -g]))
            .contact(floor)
            .initial(&[0.0; 3], &v)
    };
    for row in SCHEMES.iter().filter(|row| row.info.claims.contains(&Claim::Friction)) {
        for spatial in [false, true] {
            let h = 1e-3;
            let stop = simulation(row, &json!({}), block(spatial, 0.0, [speed, 0.0, 0.0]), 1.0, h).record().unwrap();
            let last = stop.len() - 1;
            let error = stop.q(last)[0] - speed * speed / (2.0 * mu * g);
            assert!(error.abs() <= speed * h && stop.v(last)[0].abs() < 1e-12, "{}: {error}", row.info.name);
            let stick = simulation(row, &json!({}), block(spatial, 0.99 * mu * g, [0.0; 3]), 1.0, h).record().unwrap();
            assert!(stick.q(stick.len() - 1)[0].abs() < 1e-9, "{}", row.info.name);
            // 1 % above the limit it slides with the excess force
            let slide = simulation(row, &json!({}), block(spatial, 1.01 * mu * g, [0.0; 3]), 1.0, h).record().unwrap();
            assert!((slide.v(slide.len() - 1)[0] - 0.01 * mu * g).abs() < 0.01 * mu * g * 0.01, "{}", row.info.name);
        }
    }
}

/// A bilateral constraint is kept: a pendulum in Cartesian coordinates returns after the period of the elliptic
/// integral, and its length stays within the order of the step.
#[test]
fn bilateral_constraints_are_kept() {
    let (g, amplitude) = (9.81f64, 1.0f64);
    // T = 2π √(l/g) / agm(1, cos(a/2)), with l = 1
    let (mut a, mut b) = (1.0, (amplitude / 2.0).cos());
    for _ in 0..30 {
        (a, b) = (0.5 * (a + b), f64::sqrt(a * b));
    }
    let period = std::f64::consts::TAU / g.sqrt() / a;
    let pendulum = || {
        let rod = Contact::bilateral("rod", |_, q| q[0] * q[0] + q[1] * q[1] - 1.0)
            .gradient(|_, q, row| row.copy_from_slice(&[2.0 * q[0], 2.0 * q[1]]));
        let start = [amplitude.sin(), -amplitude.cos()];
        Lagrangian::new(2)
            .force(move |_, _, _, f| f.copy_from_slice(&[0.0, -g]))
            .contact(rod)
            .initial(&start, &[0.0; 2])
    };
    for row in SCHEMES.iter().filter(|row| row.info.claims.contains(&Claim::Bilateral)) {
        let error = |steps: usize| {
            let run = simulation(row, &json!({}), pendulum(), period, period / steps as f64).record().unwrap();
            let (q, last) = (run.q(steps), [amplitude.sin(), -amplitude.cos()]);
            let length = (0..run.len()).map(|k| (run.q(k)[0].hypot(run.q(k)[1]) - 1.0).abs()).fold(0.0, f64::max);
            ((q[0] - last[0]).hypot(q[1] - last[1]), length)
        };
        // a scheme of first order in smooth motion damps: it needs smaller steps for the same bounds
        let finer = if row.info.order.smooth < 1.5 { 4 } else { 1 };
        let (coarse, fine) = (error(500 * finer), error(2000 * finer));
        assert!(fine.0 < coarse.0 / 3.0 && fine.0 < 1e-2, "{}: {coarse:?} {fine:?}", row.info.name);
        // schemes on positions keep the length to their tolerance whatever the step
        let kept = fine.1 < 2e-12 && coarse.1 < 2e-12;
        assert!(kept || (fine.1 < coarse.1 / 3.0 && fine.1 < 1e-2), "{}: {coarse:?} {fine:?}", row.info.name);
    }
}

/// The same input gives the same bits, also when runs go on in other threads at the same time.
#[test]
fn bits_repeat() {
    fn bits(row: &SchemeRow) -> Vec<u64> {
        let oscillator = LinearOscillator { restitution: restitution(row), ..LinearOscillator::default() };
        let solution: Solution = simulation(row, &json!({}), oscillator.model(), 5.0, 5.0 / 587.0).record().unwrap();
        solution.positions().iter().chain(solution.velocities()).map(|x| x.to_bits()).collect()
    }
    for row in SCHEMES.iter().filter(|row| row.family == Family::Mechanical) {
        let first = bits(row);
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(|| bits(row))).collect();
        assert!(threads.into_iter().all(|t| t.join().unwrap() == first), "{}", row.info.name);
    }
}

/// Names are unique, pages are written, options have meanings, and unknown options are refused.
#[test]
fn rows_are_complete() {
    let names: BTreeSet<_> =
        SCHEMES.iter().map(|row| row.info.name).chain(SOLVERS.iter().map(|row| row.info.name)).collect();
    assert_eq!(names.len(), SCHEMES.len() + SOLVERS.len());
    for row in SCHEMES {
        let text = page(row.info.source);
        assert!(text.lines().count() > 5, "{}", row.info.name);
        assert!((row.check)(&json!({})).is_ok());
        assert!((row.check)(&json!({ "no-such-option": 1 })).is_err());
        for option in (row.options)() {
            assert!(!option.meaning.is_empty() && !option.default.is_empty(), "{} {}", row.info.name, option.name);
        }
        for key in row.info.citations {
            assert!(text.contains(key), "the page of {} does not cite {key}", row.info.name);
        }
    }
    assert!(BouncingBall::default().citation().len() > 3);
}

/// Every citation key in the sources and documents stands in `docs/references.bib`.
#[test]
fn citations_exist() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let bibliography = std::fs::read_to_string(format!("{root}/docs/references.bib")).unwrap();
    let known: BTreeSet<&str> =
        bibliography.lines().filter_map(|l| l.strip_prefix('@')?.split_once('{')?.1.strip_suffix(',')).collect();
    let crates =
        ["carom-solve", "carom", "carom-equations", "carom-scene", "carom-analysis", "carom-papers", "carom-cli"];
    let mut folders = crates.map(|d| format!("{root}/{d}/src")).to_vec();
    folders.push(format!("{root}/docs"));
    let (mut missing, mut seen) = (BTreeSet::new(), 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path.to_string_lossy().into_owned());
            } else if path.extension().is_some_and(|e| e == "rs" || e == "md") {
                for key in citations(&std::fs::read_to_string(&path).unwrap()) {
                    seen += 1;
                    if !known.contains(key.as_str()) {
                        missing.insert(format!("[{key}] in {}", path.display()));
                    }
                }
            }
        }
    }
    for key in SCHEMES.iter().flat_map(|r| r.info.citations).chain(SOLVERS.iter().flat_map(|r| r.info.citations)) {
        assert!(known.contains(key), "{key} of a registry row");
    }
    assert!(seen > 10, "the search found only {seen} citations");
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Keys in brackets or quotes: a name of letters, a year of four digits, possibly more letters; several, with commas.
fn citations(text: &str) -> Vec<String> {
    let is_key = |word: &&str| {
        let (name, rest) = word.split_at(word.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(word.len()));
        let (year, more) = rest.split_at_checked(4).unwrap_or_default();
        name.len() > 2
            && year.bytes().all(|b| b.is_ascii_digit())
            && (year.starts_with("19") || year.starts_with("20"))
            && more.bytes().all(|b| b.is_ascii_lowercase())
    };
    let brackets = text.split('[').skip(1).filter_map(|part| Some(part.split_once(']')?.0));
    let quotes = text.split('"').skip(1);
    brackets
        .chain(quotes)
        .flat_map(|inside| inside.split(',').map(str::trim))
        .filter(is_key)
        .map(str::to_owned)
        .collect()
}

/// What `citations` takes for a key, and what not.
#[test]
fn citations_are_found() {
    let text =
        "as in [moreau1988, jean1999] and [acary2008homsp]; citation: \"acary2012\", not [x2000], [1998], [fig2]";
    let mut found = citations(text);
    found.sort();
    assert_eq!(found, ["acary2008homsp", "acary2012", "jean1999", "moreau1988"]);
}
