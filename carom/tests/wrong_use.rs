//! Wrong use of each scheme of the registry from a program: typed errors with names and numbers, states kept up to the
//! failure.

use carom::model::{
    AffineRow, Combination, Contact, DualLagrangian, FirstOrderSystem, Functions, Lagrangian, Lcs, LcsError, Linear,
    LinearContact, Matrices, NamedLaw, Output, Piece, Scalar, SparseMatrix, Sweeping,
};
use carom::scheme::{
    AnyModel, BindError, Bound, Claim, CombinedProjection, CorrectedPaoli, DirectProjection, Doubled, EulerMoreau,
    EventDriven, Family, HigherOrder, MoreauJean, PositionLevel, Registered, SchatzmanPaoli, SchemeError, SchemeRow,
};
use carom::simulation::{Adaptive, FixedStep, Recorder, simulate_adaptive};
use carom::solver::{self, Configured};
use carom::{
    Coupling, FirstOrder, Key, Labels, Law, LinearSolve, Mechanical, ModelError, Pair, SCHEMES, Simulation,
    SimulationError, Solution, Space, Span, State, StepError, Stepper, simulate, simulate_first_order,
};
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

/// The error of binding a model to the default scheme.
fn refused(model: impl Mechanical + 'static) -> ModelError {
    match Bound::new(MoreauJean::default(), Box::new(model), carom_solve::solver::default()).err() {
        Some(SchemeError::Model(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn size(error: &ModelError) -> Option<(usize, usize)> {
    if let ModelError::Size { found, needed, .. } = error { Some((*found, *needed)) } else { None }
}

#[test]
fn sizes_of_closure_models_are_checked() {
    let model = || Lagrangian::new(2).contact(floor());
    for (wrong, sizes) in [
        (model().constant_mass(&[1.0, 1.0]), (2, 4)),
        (model().constant_mass(&[1.0; 9]), (9, 4)),
        (model().initial(&[1.0], &[0.0; 2]), (1, 2)),
        (model().initial(&[1.0; 2], &[0.0]), (1, 2)),
        (model().initial(&[1.0; 2], &[]), (0, 2)),
    ] {
        assert_eq!(size(&refused(wrong)), Some(sizes));
    }
    assert_eq!(model().initial(&[1.0; 3], &[0.0; 2]).build().err().as_ref().and_then(size), Some((3, 2)));
    assert!(model().build().is_ok());
    // every other scheme checks as well
    for row in mechanical() {
        let error = bind(row, model().initial(&[1.0], &[0.0; 2])).err();
        assert!(matches!(error, Some(BindError::Scheme(SchemeError::Model(ModelError::Size { .. })))), "{error:?}");
    }
}

#[test]
fn masses_and_states_that_are_none_are_refused() {
    let mass = |m: &[f64]| refused(Lagrangian::new(2).constant_mass(m));
    for m in [[1.0, 2.0, 2.0, 1.0], [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, f64::NAN]] {
        assert!(matches!(mass(&m), ModelError::Mass { coordinate, .. } if &*coordinate == "q1"), "{m:?}");
    }
    for bad in [f64::NAN, f64::INFINITY] {
        let error = refused(Lagrangian::new(1).initial(&[bad], &[0.0]));
        assert!(matches!(error, ModelError::NotFinite { what: "the initial state", .. }), "{error}");
    }
    // the constant mass given last counts, not the closure before it
    let model = || Lagrangian::new(1).mass(|_, m| m[0] = 1.0).constant_mass(&[4.0]).force(|_, _, _, f| f[0] = 4.0);
    let run = simulate(model(), MoreauJean::default(), Span { end: 1.0, step: 0.1 }).unwrap();
    assert!((run.v(run.len() - 1)[0] - 1.0).abs() < 1e-12);
}

#[test]
fn coefficients_out_of_range_name_their_contact() {
    let value = |contact: Contact| match refused(point(Contact::new("clear", |_, q| q[1] + 1.0)).contact(contact)) {
        ModelError::Coefficient { what, contact, value, .. } if &*contact == "floor" => (what, value),
        other => panic!("{other}"),
    };
    assert_eq!(value(floor().restitution(3.0)), ("the restitution", 3.0));
    assert_eq!(value(floor().restitution(-0.1)), ("the restitution", -0.1));
    assert!(value(floor().restitution(f64::NAN)).1.is_nan());
    assert_eq!(value(floor().friction(-0.2, |_, q| q[0])), ("the coefficient of friction", -0.2));
    assert!(value(floor().friction(f64::NAN, |_, q| q[0])).1.is_nan());
    assert_eq!(value(floor().friction(f64::INFINITY, |_, q| q[0])).1, f64::INFINITY);
}

#[test]
fn contacts_that_make_no_sense_name_themselves() {
    let reason = |contact: Contact| match refused(point(contact)) {
        ModelError::Contact { contact, reason } if &*contact == "floor" || &*contact == "rod" => reason,
        other => panic!("{other}"),
    };
    let rough = |mu: f64| floor().friction(0.3, |_, q| q[0]).friction(mu, |_, q| q[0]);
    assert!(reason(rough(0.3).friction(0.3, |_, q| q[0])).contains("a third"));
    assert!(reason(rough(0.4)).contains("one coefficient"));
    let rod = || Contact::bilateral("rod", |_, q| q[0]);
    assert!(reason(rod().friction(0.3, |_, q| q[1])).contains("no friction"));
    assert!(reason(rod().restitution(0.5)).contains("no restitution"));
    let twice = refused(point(floor()).contact(floor()));
    assert!(matches!(&twice, ModelError::Duplicate { name, .. } if &**name == "floor"), "{twice}");
}

/// Gaps, slips, gradients, forces, masses and tangents that fail on their way tell why, with the states before.
#[test]
fn closures_may_fail() {
    let late = |t: f64| if t > 0.5 { Err(ModelError::from("the table ends at 0.5 s")) } else { Ok(()) };
    let gap = move |t: f64, q: &[f64]| late(t).map(|()| q[1] + 9.0);
    let slip = move |t: f64, q: &[f64]| late(t).map(|()| q[0]);
    let force = move |t: f64, _: &[f64], _: &[f64], f: &mut [f64]| {
        f.copy_from_slice(&[0.0, -1.0]);
        late(t)
    };
    let row_of = |t: f64, _: &[f64], row: &mut [f64]| {
        row.copy_from_slice(&[0.0, 1.0]);
        if t > 0.5 { Err("the table ends at 0.5 s".into()) } else { Ok(()) }
    };
    let far = || Contact::new("far", |_, q| q[1] + 9.0);
    for row in mechanical() {
        let models = [
            Lagrangian::new(2).contact(Contact::new("lost", gap)),
            Lagrangian::new(2).contact(far().gradient(row_of)),
            Lagrangian::new(2).contact(far().region(gap)),
            Lagrangian::new(2).contact(far()).force(force),
        ];
        for model in models.into_iter().chain(
            row.info.claims.contains(&Claim::Friction).then(|| Lagrangian::new(2).contact(far().friction(0.3, slip))),
        ) {
            let (error, solution) = fails(row, model, 1e-2, 1.0);
            assert!((solution.t[solution.len() - 1] - 0.5).abs() < 0.0201, "{}: {error}", row.info.name);
            let (source, _) = parts(error);
            let told = |e: &ModelError| *e == ModelError::Callback("the table ends at 0.5 s".into());
            assert!(matches!(&source, StepError::Model(e) if told(e)), "{}: {source}", row.info.name);
        }
        // masses see positions only
        let mass = |q: &[f64], m: &mut [f64]| {
            m.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
            if q[0] > 0.5 { Err(ModelError::from("beyond the rail")) } else { Ok(()) }
        };
        let model = Lagrangian::new(2).mass(mass).contact(far()).initial(&[0.0; 2], &[1.0, 0.0]);
        let (source, _) = parts(fails(row, model, 1e-2, 1.0).0);
        assert!(source.to_string().contains("beyond the rail"), "{}: {source}", row.info.name);
    }
    let broken = |_: f64, x: &[f64], f: &mut [f64]| {
        f[0] = 1.0;
        if x[0] > 0.5 { Err(ModelError::from("no rate here")) } else { Ok(()) }
    };
    let error = simulate_first_order(
        FirstOrderSystem::new(&[0.0], broken),
        EulerMoreau::default(),
        Span { end: 1.0, step: 0.01 },
    );
    assert!(error.unwrap_err().to_string().contains("no rate here"));
}

#[test]
fn options_of_schemes_are_checked_where_they_are_bound() {
    fn field<S: Registered>(scheme: S) -> &'static str {
        let model = point(floor());
        let error = simulate(model, scheme, Span { end: 1.0, step: 0.1 }).unwrap_err();
        let SimulationError::Scheme(SchemeError::Option { scheme, source }) = error else { panic!("{error}") };
        assert_eq!(scheme, S::INFO.name);
        source.field.unwrap()
    }
    assert_eq!(field(MoreauJean { theta: 7.0, ..MoreauJean::default() }), "theta");
    assert_eq!(field(DirectProjection { gap_tolerance: Some(-1.0), ..DirectProjection::default() }), "gap-tolerance");
    assert_eq!(
        field(CombinedProjection { gap_tolerance: Some(0.0), ..CombinedProjection::default() }),
        "gap-tolerance"
    );
    assert_eq!(field(HigherOrder { c: Some(f64::NAN), ..HigherOrder::default() }), "c");
    assert_eq!(field(SchatzmanPaoli { newton_iterations: 0, ..SchatzmanPaoli::default() }), "newton-iterations");
    assert_eq!(field(CorrectedPaoli { stick: 2.0, ..CorrectedPaoli::default() }), "stick");
    assert_eq!(field(PositionLevel { theta: 0.0, ..PositionLevel::default() }), "theta");
    assert_eq!(field(EventDriven { rtol: -1.0, ..EventDriven::default() }), "rtol");
    let first_order = EulerMoreau { gamma: 0.0, ..EulerMoreau::default() };
    let error = simulate_first_order(
        FirstOrderSystem::new(&[0.0], |_, _, f| f[0] = 0.0),
        first_order,
        Span { end: 1.0, step: 0.1 },
    );
    assert!(matches!(error, Err(SimulationError::Scheme(SchemeError::Option { .. }))), "{error:?}");
    // accuracies of adaptive steps, with and without step doubling
    let adaptive = Adaptive { tolerance: Some(-1.0), ..Adaptive::default() };
    let doubled = simulate_adaptive(point(floor()), MoreauJean::default(), &adaptive, Span { end: 1.0, step: 0.1 });
    assert!(matches!(doubled, Err(SimulationError::Scheme(SchemeError::Option { .. }))), "{doubled:?}");
    let doubled = Doubled { base: MoreauJean::default(), accuracy: adaptive.accuracy() };
    let refused = Bound::new(doubled, Box::new(point(floor())), carom_solve::solver::default()).err();
    assert!(matches!(refused, Some(SchemeError::Option { .. })), "{refused:?}");
    for row in mechanical() {
        let model = AnyModel::Mechanical(Box::new(point(floor())));
        let refused = (row.bind_adaptive)(&json!({}), adaptive.accuracy(), model, carom_solve::solver::default()).err();
        assert!(matches!(refused, Some(BindError::Option(_))), "{}: {refused:?}", row.info.name);
    }
    let nsgs = solver::nsgs::NsgsOptions { tolerance: -1.0, ..Default::default() };
    assert_eq!(solver::nsgs::Nsgs::new(nsgs).err().and_then(|error| error.field), Some("tolerance"));
}

/// A model of its own type with something wrong in it: the door does not trust it.
struct Wrong {
    keys: [u128; 2],
    rows: usize,
    restitution: f64,
    velocities: usize,
    names: usize,
}

impl LinearSolve for Wrong {
    fn dim(&self) -> usize {
        2
    }
    fn solve(&self, _rhs: &mut [f64]) {}
}

impl Space for Wrong {
    fn initial(&self) -> State {
        State::new(0.0, &[1.0; 2], &vec![0.0; self.velocities])
    }
    fn couple(&mut self, _t: f64, q: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        out.clear(2);
        for key in self.keys {
            out.push(Pair { key: Key(key), law: Law::UNILATERAL, gap: q[1], restitution: self.restitution });
        }
        for _ in 0..self.rows {
            out.rows.push_dense(&[0.0, 1.0]);
            out.drift.push(0.0);
        }
        Ok(())
    }
    fn labels(&self) -> Labels {
        Labels::numbered(self.names, 2)
    }
}

impl Mechanical for Wrong {
    fn force(&mut self, _t: f64, _q: &[f64], _v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        out.fill(0.0);
        Ok(())
    }
    fn mass_mul(&mut self, _q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        out.copy_from_slice(v);
        Ok(())
    }
    fn factor(&mut self, _at: &State, _c: Combination) -> Result<(), ModelError> {
        Ok(())
    }
}

#[test]
fn types_of_ones_own_are_checked_at_the_door() {
    let right = || Wrong { keys: [0, 1], rows: 2, restitution: 0.5, velocities: 2, names: 2 };
    assert!(Bound::new(MoreauJean::default(), Box::new(right()), carom_solve::solver::default()).is_ok());
    let twice = refused(Wrong { keys: [1, 1], ..right() });
    assert!(matches!(&twice, ModelError::Duplicate { name, .. } if &**name == "key 1"), "{twice}");
    assert_eq!(size(&refused(Wrong { rows: 1, ..right() })), Some((1, 2)));
    assert_eq!(size(&refused(Wrong { velocities: 0, ..right() })), Some((0, 2)));
    assert_eq!(size(&refused(Wrong { names: 3, ..right() })), Some((3, 2)));
    let coefficient = refused(Wrong { restitution: 1.5, ..right() });
    assert!(
        matches!(&coefficient, ModelError::Coefficient { contact, .. } if &**contact == "contact0"),
        "{coefficient}"
    );
    // a restart from a state of another size
    let mut stepper = Bound::new(MoreauJean::default(), Box::new(right()), carom_solve::solver::default()).unwrap();
    stepper.restart(&State::new(0.0, &[1.0], &[0.0]));
    assert!(matches!(stepper.attempt(0.1), Err(StepError::Model(error)) if size(&error) == Some((2, 4))));
}

#[test]
fn matrices_and_energies_are_checked() {
    let matrix = |entries: &[_]| SparseMatrix::from_triplets(2, entries);
    assert!(matches!(matrix(&[(2, 0, 1.0)]), Err(ModelError::Entry { row: 2, .. })));
    assert!(matches!(matrix(&[(0, 1, f64::NAN)]), Err(ModelError::Entry { column: 1, .. })));
    let unit = matrix(&[(0, 0, 1.0), (1, 1, 1.0)]).unwrap();
    let linear = |q: &[f64], v: &[f64]| Linear::new(&unit, &unit, &unit, State::new(0.0, q, v));
    assert_eq!(linear(&[0.0], &[0.0; 2]).err().as_ref().and_then(size), Some((1, 2)));
    assert_eq!(linear(&[0.0; 2], &[0.0; 3]).err().as_ref().and_then(size), Some((3, 2)));
    let small = SparseMatrix::from_triplets(1, &[]).unwrap();
    let state = || State::new(0.0, &[0.0; 2], &[0.0; 2]);
    assert_eq!(Linear::new(&unit, &small, &unit, state()).err().as_ref().and_then(size), Some((1, 2)));
    let with = |law, restitution, entries: Vec<(usize, f64)>| {
        let rows = vec![AffineRow { entries, constant: 1.0, rate: 0.0 }];
        let contact = LinearContact { name: "stop".into(), law, restitution, tangential: 0.0, rows };
        refused(linear(&[0.0; 2], &[0.0; 2]).unwrap().with_contact(contact))
    };
    let reason = |error| if let ModelError::Contact { reason, .. } = error { reason } else { panic!("{error}") };
    assert!(reason(with(Law::UNILATERAL, 0.0, vec![(2, 1.0)])).contains("does not have"));
    assert!(reason(with(Law::UNILATERAL, 0.0, vec![(1, 1.0), (0, 1.0)])).contains("rise"));
    assert!(reason(with(Law::UNILATERAL, 0.0, vec![(1, f64::NAN)])).contains("finite"));
    assert_eq!(size(&with(Law::coulomb(0.3, 1), 0.0, vec![(1, 1.0)])), Some((1, 2)));
    assert!(matches!(with(Law::UNILATERAL, 2.0, vec![(1, 1.0)]), ModelError::Coefficient { .. }));
    let named = linear(&[0.0; 2], &[0.0; 2]).unwrap().with_labels(vec!["x".into()]);
    assert_eq!(size(&refused(named)), Some((1, 2)));
    let late = |t: f64, f: &mut [f64]| f[0] = if t > 0.5 { f64::NAN } else { 0.0 };
    let error = simulate(
        linear(&[0.0; 2], &[0.0; 2]).unwrap().with_force(late),
        MoreauJean::default(),
        Span { end: 1.0, step: 0.1 },
    );
    assert!(error.unwrap_err().to_string().contains("force on `q0`"));

    #[derive(Clone)]
    struct Energies(f64, &'static str);
    impl Functions for Energies {
        fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
            v[0] * v[0] * 0.5
        }
        fn laws(&self) -> Vec<NamedLaw> {
            vec![NamedLaw::new("wall", Law::UNILATERAL).restitution(self.0), NamedLaw::new(self.1, Law::UNILATERAL)]
        }
    }
    let energies = |e, name, v: &[f64]| DualLagrangian::new(Energies(e, name), State::new(0.0, &[1.0], v)).err();
    assert!(energies(0.5, "other", &[0.0]).is_none());
    assert_eq!(energies(0.5, "other", &[]).as_ref().and_then(size), Some((0, 1)));
    assert!(matches!(energies(3.0, "other", &[0.0]), Some(ModelError::Coefficient { .. })));
    assert!(matches!(energies(0.5, "wall", &[0.0]), Some(ModelError::Duplicate { .. })));
}

#[test]
fn first_order_systems_are_checked() {
    fn refused(model: impl FirstOrder + 'static) -> ModelError {
        let error = simulate_first_order(model, EulerMoreau::default(), Span { end: 1.0, step: 0.1 }).unwrap_err();
        match error {
            SimulationError::Scheme(SchemeError::Model(error)) => error,
            other => panic!("{other}"),
        }
    }
    let system = || FirstOrderSystem::new(&[1.0], |_, x, f| f[0] = -x[0]);
    let output = |name: &str, law| Output::new(name, law, |_, x| x[0], |_, _, b| b[0] = 1.0);
    let wall = || output("wall", Law::UNILATERAL);
    assert!(system().output(wall()).build().is_ok());
    assert_eq!(size(&refused(system().output(wall()).feedthrough(&[1.0, 0.0]))), Some((2, 1)));
    assert!(matches!(refused(system().output(wall()).feedthrough(&[f64::NAN])), ModelError::NotFinite { .. }));
    assert!(matches!(refused(system().output(wall()).output(wall())), ModelError::Duplicate { .. }));
    let rough = system().output(output("rough", Law::coulomb(0.3, 1)));
    assert!(matches!(refused(rough), ModelError::Contact { .. }));
    let bounds = system().output(output("relay", Law::interval(1.0, -1.0)));
    assert!(matches!(refused(bounds), ModelError::Coefficient { .. }));
    assert!(matches!(refused(FirstOrderSystem::new(&[f64::NAN], |_, _, _| ())), ModelError::NotFinite { .. }));

    let matrices = Matrices { e: None, a: vec![-1.0], b: vec![1.0], c: vec![1.0], d: vec![] };
    let laws = || vec![("wall".to_string(), Law::UNILATERAL)];
    let lcs = || Lcs::new(matrices.clone(), laws(), &[1.0]).unwrap();
    for error in [lcs().with_constant_state_source(&[1.0, 2.0]).err(), lcs().with_constant_output_source(&[]).err()] {
        assert!(matches!(error, Some(LcsError::Size { .. })), "{error:?}");
    }
    assert!(matches!(lcs().with_constant_state_source(&[f64::NAN]).err(), Some(LcsError::NotFinite { .. })));
    assert!(matches!(refused(lcs().starting_at(f64::NAN)), ModelError::NotFinite { .. }));
    let wide = Sweeping::new(vec![Piece::half_space("wall", &[1.0, 0.0, 0.0], |_| 0.0)], &[1.0, 0.0]).unwrap();
    assert!(matches!(refused(wide), ModelError::Piece { .. }));
    let twice = || vec![Piece::half_space("wall", &[1.0], |_| 0.0), Piece::half_space("wall", &[-1.0], |_| -2.0)];
    assert!(matches!(refused(Sweeping::new(twice(), &[1.0]).unwrap()), ModelError::Duplicate { .. }));
}
