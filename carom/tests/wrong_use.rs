//! Wrong use of each scheme of the registry from a program: typed errors with names and numbers, states kept up to the failure.

use carom::model::{Contact, Lagrangian};
use carom::scheme::{AnyModel, BindError, Claim, Family, SchemeError, SchemeRow};
use carom::simulation::{FixedStep, Recorder};
use carom::{ModelError, SCHEMES, Simulation, SimulationError, Solution, StepError, Stepper};
use serde_json::json;

fn mechanical() -> impl Iterator<Item = &'static SchemeRow> {
    SCHEMES.iter().filter(|row| row.family == Family::Mechanical)
}

fn bind(row: &SchemeRow, model: Lagrangian) -> Result<Box<dyn Stepper>, BindError> {
    (row.bind)(&json!({}), AnyModel::Mechanical(Box::new(model)), carom_solve::solver::default())
}

fn simulation(row: &SchemeRow, model: Lagrangian, h: f64, end: f64) -> Simulation {
    let stepper = bind(row, model).unwrap_or_else(|error| panic!("{}: {error}", row.info.name));
    Simulation::new(stepper, Box::new(FixedStep { h }), end).unwrap()
}

/// Runs what must fail on its way: the error, and the states before it, all of them finite.
fn fails(row: &SchemeRow, model: Lagrangian, h: f64, end: f64) -> (SimulationError, Solution) {
    let mut simulation = simulation(row, model, h, end);
    let mut recorder = Recorder::default();
    let error = simulation.run(&mut [&mut recorder]).expect_err(row.info.name);
    let solution = recorder.into_solution();
    let states = solution.positions().iter().chain(solution.velocities());
    assert!(states.clone().all(|x| x.is_finite()) && !solution.is_empty(), "{}", row.info.name);
    // the simulation stands at the last state that was accepted
    let (last, t) = (solution.len() - 1, simulation.state().t);
    assert_eq!((solution.t[last], solution.q(last)), (t, &simulation.state().q[..]), "{}", row.info.name);
    if let SimulationError::Step { t: at, index, .. } = &error {
        assert_eq!((*at, *index as usize), (t, last), "{}: {error}", row.info.name);
    }
    (error, solution)
}

/// What the step said, and of which contact.
fn parts(error: SimulationError) -> (StepError, Option<String>) {
    match error {
        SimulationError::Step { source, contact, .. } => (source, contact),
        other => panic!("not an error of a step: {other}"),
    }
}

/// A point over a floor at q1 = 0 under the weight 2.
fn point(floor: Contact) -> Lagrangian {
    Lagrangian::new(2)
        .force(|_, _, _, f| f.copy_from_slice(&[0.0, -2.0]))
        .contact(floor)
        .initial(&[0.0, 1.0], &[0.0; 2])
}

fn floor() -> Contact {
    Contact::new("floor", |_, q| q[1])
}

#[test]
fn laws_that_a_scheme_lacks_are_refused_by_name() {
    for row in mechanical() {
        let can = |claim| row.info.claims.contains(&claim);
        for (contact, treated) in [
            (floor().friction(0.3, |_, q| q[0]), can(Claim::Friction)),
            (floor().friction(0.3, |_, q| q[0]).friction(0.3, |_, q| q[0]), can(Claim::Friction)),
            (floor().restitution(0.5), !can(Claim::Inelastic)),
        ] {
            let clear = Contact::new("clear", |_, q| q[1] + 1.0);
            match bind(row, point(clear).contact(contact)) {
                Ok(_) => assert!(treated, "{} takes what it does not claim", row.info.name),
                Err(BindError::Scheme(SchemeError::Incapable { scheme, contact, .. })) => {
                    assert!(!treated && scheme == row.info.name, "{scheme} refuses what it claims");
                    assert_eq!(contact.as_deref(), Some("floor"), "{scheme}");
                }
                Err(other) => panic!("{}: {other}", row.info.name),
            }
        }
    }
}

#[test]
fn steps_that_are_none_are_refused() {
    for row in mechanical() {
        for h in [0.0, -0.01, f64::NAN, f64::INFINITY] {
            let stepper = bind(row, point(floor())).unwrap_or_else(|error| panic!("{}: {error}", row.info.name));
            let refused = Simulation::new(stepper, Box::new(FixedStep { h }), 1.0).err();
            assert!(matches!(refused, Some(SimulationError::Span(_))), "{} with {h}", row.info.name);
        }
    }
}

#[test]
fn options_out_of_range_name_themselves() {
    for row in SCHEMES {
        for option in (row.options)() {
            let error = (row.check)(&json!({ option.name.as_str(): -1 })).expect_err(&option.name);
            // an option of another type is told in words
            let named = error.field.is_none_or(|field| field == option.name);
            assert!(named && !error.reason.is_empty(), "{}: {error}", option.name);
        }
    }
}

/// Coordinate 0 moves at speed 1; the mass of coordinate 1 is 1/2 − q0.
#[test]
fn a_mass_that_loses_rank_names_its_coordinate() {
    for row in mechanical() {
        let model = Lagrangian::new(2)
            .mass(|q, m| m.copy_from_slice(&[1.0, 0.0, 0.0, 0.5 - q[0]]))
            .contact(Contact::new("floor", |_, q| q[1] + 1.0))
            .initial(&[0.0; 2], &[1.0, 0.0]);
        let (error, solution) = fails(row, model, 1e-2, 1.0);
        assert!((solution.t[solution.len() - 1] - 0.5).abs() < 0.0201, "{}: {error}", row.info.name);
        let (source, _) = parts(error);
        let StepError::Model(source) = source else { panic!("{}: {source}", row.info.name) };
        let ModelError::Mass { coordinate, pivot } = *source else { panic!("{}: {source}", row.info.name) };
        assert!(&*coordinate == "q1" && pivot < 1e-12 && pivot > -0.02, "{}: {pivot}", row.info.name);
    }
}

#[test]
fn forces_and_gaps_that_are_no_numbers_name_their_place() {
    for row in mechanical() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let model = Lagrangian::new(2)
                .force(move |t, _, _, f| f.copy_from_slice(&[0.0, if t > 0.5 { bad } else { -1.0 }]))
                .contact(Contact::new("floor", |_, q| q[1] + 9.0));
            let (error, solution) = fails(row, model, 1e-2, 1.0);
            assert!((solution.t[solution.len() - 1] - 0.5).abs() < 0.0201, "{}: {error}", row.info.name);
            let (source, _) = parts(error);
            let force = |e: &ModelError| matches!(e, ModelError::Force { coordinate, .. } if &**coordinate == "q1");
            assert!(matches!(&source, StepError::Model(e) if force(e)), "{}: {source}", row.info.name);

            let lost = Contact::new("lost", move |t, q| if t > 0.5 { bad } else { q[1] + 9.0 });
            let (error, solution) = fails(row, point(floor()).contact(lost), 1e-2, 1.0);
            assert!((solution.t[solution.len() - 1] - 0.5).abs() < 0.0201, "{}: {error}", row.info.name);
            let (source, contact) = parts(error);
            let gap = |e: &ModelError| matches!(e, ModelError::Gap { contact, .. } if &**contact == "lost");
            assert!(matches!(&source, StepError::Model(e) if gap(e)), "{}: {source}", row.info.name);
            assert_eq!(contact.as_deref(), Some("lost"), "{}", row.info.name);
        }
    }
}

/// A force too small to change a bit of the velocity is no trouble, however nonlinear: free motion remains.
#[test]
fn impulses_below_rounding_are_no_failure() {
    for row in mechanical() {
        for (force, h) in [(1e-20, 1e-2), (1.0, 1e-19)] {
            let model = Lagrangian::new(1)
                .force(move |_, q, v, f| f[0] = force * ((3.0 * q[0]).cos() + v[0].powi(3)))
                .contact(Contact::new("floor", |_, q| q[0] + 9.0))
                .initial(&[0.0], &[1.0]);
            let s = simulation(row, model, h, 20.0 * h).record();
            let s = s.unwrap_or_else(|error| panic!("{} with a force of {force}: {error}", row.info.name));
            let last = s.len() - 1;
            assert!((s.v(last)[0] - 1.0).abs() <= 1e-15, "{}: {}", row.info.name, s.v(last)[0]);
            assert!((s.q(last)[0] - 20.0 * h).abs() <= 1e-14 * h * 20.0, "{}: {}", row.info.name, s.q(last)[0]);
        }
    }
}

/// Walls that meet at 1 s with a body between them; constraints that contradict each other from 0.5 s on.
#[test]
fn laws_in_conflict_are_named() {
    for row in mechanical() {
        let ceiling = Contact::new("ceiling", |t, q| 1.0 - q[1] - t);
        let model = point(floor()).contact(ceiling).initial(&[0.0, 0.25], &[0.0; 2]);
        let (error, solution) = fails(row, model, 1e-2, 2.0);
        assert!((solution.t[solution.len() - 1] - 1.0).abs() < 0.0301, "{}: {error}", row.info.name);
        let (source, contact) = parts(error);
        assert!(matches!(contact.as_deref(), Some("floor" | "ceiling")), "{}: {source}", row.info.name);

        let model = Lagrangian::new(2)
            .contact(Contact::bilateral("here", |_, q| q[0]))
            .contact(Contact::bilateral("there", |t, q| q[0] - (t - 0.5).max(0.0)));
        let (error, solution) = fails(row, model, 1e-2, 1.0);
        assert!((solution.t[solution.len() - 1] - 0.5).abs() < 0.0201, "{}: {error}", row.info.name);
        let (source, contact) = parts(error);
        assert!(matches!(contact.as_deref(), Some("here" | "there")), "{}: {source}", row.info.name);
    }
}
