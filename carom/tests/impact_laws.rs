//! Impacts of several contacts at once by the laws of Newton, Poisson and one after the other, against closed forms.

use carom::model::{AffineRow, LinearContact};
use carom::model::{Contact, DualLagrangian, Functions, Lagrangian, Linear, NamedLaw, Scalar, SparseMatrix};
use carom::multibody::contact::Surface;
use carom::multibody::pair::{Plane, Shape, Sphere};
use carom::multibody::{Body, Multibody, Solid};
use carom::scheme::{self, AnyModel, BindError, Claim, SchemeError};
use carom::simulation::{FixedStep, Impact, LedgerObserver, Lists};
use carom::{IMPACT_ORDER, IMPACTS_CUT, ImpactLaw, Mechanical, SCHEMES, Simulation, State, Stepper};
use carom_solve::Law;
use serde_json::{Value, json};

/// Schemes that have all laws.
const SCHEMES_OF_LAWS: [&str; 4] = ["moreau-jean", "direct-projection", "combined-projection", "event-driven"];

fn close(actual: &[f64], expected: &[f64], tolerance: f64) {
    let near = |(a, e): (&f64, &f64)| (a - e).abs() <= tolerance;
    let agrees = actual.len() == expected.len() && actual.iter().zip(expected).all(near);
    assert!(agrees, "{actual:?} is not {expected:?} to {tolerance:e}");
}

fn bind(name: &str, options: &Value, model: Lagrangian, law: ImpactLaw) -> Box<dyn Stepper> {
    let (row, solver) = (scheme::find(name).unwrap(), carom_solve::solver::default());
    let mut stepper = (row.bind)(options, AnyModel::Mechanical(Box::new(model)), solver).unwrap();
    stepper.set_impact_law(law).unwrap();
    stepper
}

/// What is left of a run.
struct Run {
    v: Vec<f64>,
    impacts: Vec<Impact>,
    warnings: Vec<(&'static str, f64)>,
    /// Energy lost at impacts and by friction, and what the ledger cannot explain [J].
    losses: (f64, f64, f64),
}

fn run(name: &str, model: Lagrangian, law: ImpactLaw, (h, end): (f64, f64)) -> Run {
    let mut simulation = Simulation::new(bind(name, &json!({}), model, law), Box::new(FixedStep { h }), end).unwrap();
    let (mut lists, mut ledger) = (Lists::new(10_000), LedgerObserver::default());
    assert!(simulation.run(&mut [&mut lists, &mut ledger]).unwrap());
    let warnings = simulation.warnings().sorted().iter().map(|warning| (warning.kind.name, warning.worst)).collect();
    let ledger = ledger.ledger().copied().unwrap();
    let losses = (ledger.impact_loss, ledger.friction_loss, ledger.residue());
    Run { v: simulation.state().v.clone(), impacts: lists.impacts, warnings, losses }
}

/// Balls in a row that touch, with their masses, velocities and the restitution of each pair.
fn row(masses: &[f64], v: &[f64], e: &[f64]) -> Lagrangian {
    let n = masses.len();
    let mut mass = vec![0.0; n * n];
    masses.iter().enumerate().for_each(|(i, m)| mass[i * n + i] = *m);
    let mut model = Lagrangian::new(n).constant_mass(&mass).potential(|_| 0.0).linear();
    for (i, e) in e.iter().enumerate() {
        let contact = Contact::new(&format!("{}-{}", i + 1, i + 2), move |_, q| q[i + 1] - q[i]);
        let gradient = move |_: f64, _: &[f64], row: &mut [f64]| {
            row.fill(0.0);
            (row[i], row[i + 1]) = (-1.0, 1.0);
        };
        model = model.contact(contact.gradient(gradient).restitution(*e));
    }
    model.initial(&vec![0.0; n], v).typical_length(1.0)
}

const STEP: (f64, f64) = (1e-3, 1e-3);

#[test]
fn a_cradle_of_five_passes_velocities_on() {
    for scheme in SCHEMES_OF_LAWS {
        let cradle = |v: [f64; 5], e: f64| run(scheme, row(&[1.0; 5], &v, &[e; 4]), ImpactLaw::Sequential, STEP);
        let one = cradle([1.0, 0.0, 0.0, 0.0, 0.0], 1.0);
        close(&one.v, &[0.0, 0.0, 0.0, 0.0, 1.0], 1e-15);
        let order: Vec<&str> = one.impacts.iter().map(|impact| impact.contact.as_str()).collect();
        assert_eq!(order, ["1-2", "2-3", "3-4", "4-5"], "{scheme}");
        assert!(one.impacts.iter().all(|impact| impact.loss.unwrap().abs() < 1e-15), "{scheme}");

        let two = cradle([1.0, 1.0, 0.0, 0.0, 0.0], 1.0);
        close(&two.v, &[0.0, 0.0, 0.0, 1.0, 1.0], 1e-15);
        assert_eq!(two.impacts.len(), 6, "{scheme}");

        // N8 of the reference numbers: pair and impulse of all ten impacts
        let lossy = cradle([1.0, 0.0, 0.0, 0.0, 0.0], 0.9);
        let end = [0.04352508203125, 0.04537296484375, 0.047296640625, 0.0492990625, 0.81450625];
        close(&lossy.v, &end, 1e-14);
        let impulses = [
            ("1-2", 0.95),
            ("2-3", 0.9025),
            ("3-4", 0.857375),
            ("4-5", 0.81450625),
            ("1-2", 0.002375),
            ("2-3", 0.0045125),
            ("3-4", 0.0064303125),
            ("1-2", 0.002149375),
            ("2-3", 0.004089453125),
            ("1-2", 0.00195054296875),
        ];
        assert_eq!(lossy.impacts.len(), impulses.len(), "{scheme}");
        for (impact, (pair, p)) in lossy.impacts.iter().zip(impulses) {
            assert_eq!(impact.contact, pair, "{scheme}");
            close(&impact.impulse, &[p], 1e-14);
            // of two equal masses: P² (1 − e)/(1 + e)
            close(&[impact.loss.unwrap()], &[p * p * 0.1 / 1.9], 1e-14);
        }
        let lost: f64 = lossy.impacts.iter().map(|impact| impact.loss.unwrap()).sum();
        close(&[0.5 - lost, lossy.losses.0, lossy.losses.2], &[0.3360204698857, lost, 0.0], 1e-13);
        assert!(one.warnings.is_empty() && two.warnings.is_empty() && lossy.warnings.is_empty(), "{scheme}");
    }
}

#[test]
fn three_balls_of_other_masses() {
    let cases = [
        ([1.0, 2.0, 3.0], 1.0, [-1.0 / 3.0, -2.0 / 15.0, 8.0 / 15.0], 2),
        ([1.0, 2.0, 3.0], 0.5, [0.0, 0.05, 0.3], 2),
        ([2.0, 1.0, 1.0], 1.0, [1.0 / 9.0, 4.0 / 9.0, 4.0 / 3.0], 3),
        ([2.0, 1.0, 1.0], 0.5, [0.375, 0.5, 0.75], 0),
        ([3.0, 2.0, 1.0], 1.0, [0.2, 0.4, 1.6], 0),
    ];
    for scheme in SCHEMES_OF_LAWS {
        for (masses, e, after, impacts) in cases {
            let found = run(scheme, row(&masses, &[1.0, 0.0, 0.0], &[e; 2]), ImpactLaw::Sequential, STEP);
            close(&found.v, &after, 1e-14);
            assert!(impacts == 0 || found.impacts.len() == impacts, "{scheme}: {masses:?}, {e}");
        }
    }
}

/// Both ends towards the middle: by hand with the first pair first, and its mirror image.
#[test]
fn the_order_of_equal_approaches_is_told_where_it_decides() {
    for scheme in SCHEMES_OF_LAWS {
        let meet = |e: f64| run(scheme, row(&[1.0; 3], &[1.0, 0.0, -1.0], &[e; 2]), ImpactLaw::Sequential, STEP);
        let lossy = meet(0.5);
        close(&lossy.v, &[-0.359375, 0.046875, 0.3125], 1e-15);
        let [(kind, figure)] = lossy.warnings[..] else { panic!("{scheme}: {:?}", lossy.warnings) };
        assert_eq!(kind, IMPACT_ORDER.name);
        close(&[figure], &[0.140625], 1e-14);
        let told: Vec<bool> = lossy.impacts.iter().map(|impact| impact.order_decides).collect();
        assert_eq!(told, [true, false, false], "{scheme}");
        // equal masses without loss exchange their velocities, whoever is first
        let elastic = meet(1.0);
        close(&elastic.v, &[-1.0, 0.0, 1.0], 1e-15);
        assert!(elastic.warnings.is_empty() && elastic.impacts.iter().all(|impact| !impact.order_decides));
    }
}

/// Without restitution a row comes to rest on itself after impacts without an end.
#[test]
fn a_sequence_without_an_end_is_cut_and_told() {
    let mut v = [0.0; 40];
    v[0] = 1.0;
    for scheme in ["moreau-jean", "event-driven"] {
        let found = run(scheme, row(&[1.0; 40], &v, &[0.0; 39]), ImpactLaw::Sequential, STEP);
        close(&found.v, &[1.0 / 40.0; 40], 1e-12);
        assert_eq!(found.warnings.iter().map(|w| w.0).collect::<Vec<_>>(), [IMPACTS_CUT.name], "{scheme}");
        let lost: f64 = found.impacts.iter().map(|impact| impact.loss.unwrap()).sum();
        close(&[lost], &[0.5 - 0.5 / 40.0], 1e-12);
    }
}

/// A rod (m = l = 1) on frictionless supports at −a and +b from its centre.
fn rod(a: f64, b: f64, before: [f64; 2], e: [f64; 2]) -> Lagrangian {
    let turn = (before[1] - before[0]) / (a + b);
    let mut model = Lagrangian::new(2).constant_mass(&[1.0, 0.0, 0.0, 1.0 / 12.0]).potential(|_| 0.0).linear();
    for (name, arm, e) in [("left", -a, e[0]), ("right", b, e[1])] {
        let contact = Contact::new(name, move |_, q| q[0] + arm * q[1]);
        let gradient = move |_: f64, _: &[f64], row: &mut [f64]| row.copy_from_slice(&[1.0, arm]);
        model = model.contact(contact.gradient(gradient).restitution(e));
    }
    model.initial(&[0.0, 0.0], &[before[0] + a * turn, turn]).typical_length(1.0)
}

#[test]
fn a_rod_on_two_supports_by_poissons_law() {
    // a, b, u before, e, impulses, u after by Poisson, and by Newton as Moreau's scheme has it
    let cases = [
        (0.5, [-1.0, 0.0], [0.5, 0.5], [0.5, 0.25], [0.5, 0.0], [0.5, 0.0]),
        (0.5, [-1.0, 0.3], [0.5, 0.5], [0.425, 0.1375], [0.425, 0.0], [0.5, -0.15]),
        (0.5, [-1.0, -1.0], [0.8, 0.2], [0.9, 0.7], [1.2, 0.0], [0.8, 0.2]),
        (0.2, [-1.0, -1.0], [0.8, 0.2], [0.9, 0.6], [0.644, 0.356], [0.8, 0.2]),
        (0.2, [-1.0, 0.0], [0.5, 0.5], [1.5 / 1.48, 0.0], [0.5, 0.78 / 1.48], [0.5, 0.78 / 1.48]),
    ];
    for scheme in SCHEMES_OF_LAWS {
        for (k, (a, before, e, impulse, after, newton)) in cases.into_iter().enumerate() {
            let ends = |v: &[f64]| [v[0] - a * v[1], v[0] + a * v[1]];
            let found = run(scheme, rod(a, a, before, e), ImpactLaw::Poisson, STEP);
            close(&ends(&found.v), &after, 1e-13);
            let of = |name: &str| found.impacts.iter().find(|i| i.contact == name).map_or(0.0, |i| i.impulse[0]);
            close(&[of("left"), of("right")], &impulse, 1e-13);
            let kinetic = |v: &[f64]| 0.5 * v[0] * v[0] + v[1] * v[1] / 24.0;
            if let Some(energy) = [None, None, Some(0.24), Some(0.1466), None][k] {
                close(&[kinetic(&found.v)], &[energy], 1e-13);
            }
            // a contact that opens takes no part where the gap at the end of a free step tells who does
            if k != 1 {
                close(&ends(&run(scheme, rod(a, a, before, e), ImpactLaw::Newton, STEP).v), &newton, 1e-13);
            }
        }
        if scheme == "moreau-jean" {
            // the contact that opens closes again with the part e of its velocity
            let options = json!({ "forecast": { "explicit": { "gamma": 0.0 } } });
            let model = rod(0.5, 0.5, [-1.0, 0.3], [0.5, 0.5]);
            let mut stepper = bind(scheme, &options, model, ImpactLaw::Newton);
            stepper.attempt(1e-3).unwrap();
            let v = &stepper.to().v;
            close(&[v[0] - 0.5 * v[1], v[0] + 0.5 * v[1]], &[0.5, -0.15], 1e-13);
        }
        let three = |law| run(scheme, row(&[1.0; 3], &[1.0, 0.0, 0.0], &[0.5, 1.0]), law, STEP).v;
        close(&three(ImpactLaw::Poisson), &[0.0, 1.0 / 3.0, 2.0 / 3.0], 1e-13);
        close(&three(ImpactLaw::Newton), &[0.0, 0.5, 0.5], 1e-13);
        let equal = |law| run(scheme, row(&[1.0; 3], &[1.0, 0.0, 0.0], &[0.7; 2]), law, STEP).v;
        close(&equal(ImpactLaw::Poisson), &equal(ImpactLaw::Newton), 1e-13);
    }
}

/// Balls with a second coordinate each that is held: impacts are those of the balls, and joints take part in each.
fn held(v: [f64; 5], e: f64) -> Lagrangian {
    let mut mass = vec![0.0; 100];
    for i in 0..5 {
        (mass[22 * i], mass[22 * i + 1], mass[22 * i + 10], mass[22 * i + 11]) = (1.0, 0.3, 0.3, 2.0);
    }
    let mut model = Lagrangian::new(10).constant_mass(&mass).potential(|_| 0.0).linear();
    let only = |entries: [(usize, f64); 2]| {
        move |_: f64, _: &[f64], row: &mut [f64]| {
            row.fill(0.0);
            entries.iter().for_each(|(j, c)| row[*j] = *c);
        }
    };
    for i in 0..5 {
        // y = x/2: a slope on which the ball moves
        let slope = Contact::bilateral(&format!("slope{i}"), move |_, q: &[f64]| q[2 * i + 1] - 0.5 * q[2 * i]);
        model = model.contact(slope.gradient(only([(2 * i + 1, 1.0), (2 * i, -0.5)])));
        if i < 4 {
            let contact = Contact::new(&format!("{i}"), move |_, q: &[f64]| q[2 * i + 2] - q[2 * i]);
            model = model.contact(contact.gradient(only([(2 * i, -1.0), (2 * i + 2, 1.0)])).restitution(e));
        }
    }
    let start: Vec<f64> = v.iter().flat_map(|v| [*v, 0.5 * v]).collect();
    model.initial(&[0.0; 10], &start).typical_length(1.0)
}

#[test]
fn joints_hold_in_each_impact() {
    for scheme in SCHEMES_OF_LAWS {
        for (law, after) in [
            (ImpactLaw::Sequential, [0.04352508203125, 0.04537296484375, 0.047296640625, 0.0492990625, 0.81450625]),
            // equal restitution: that of Newton, a plastic row and e times what it has lost
            (ImpactLaw::Poisson, [0.2 - 0.9 * 0.8, 0.38, 0.38, 0.38, 0.38]),
        ] {
            let found = run(scheme, held([1.0, 0.0, 0.0, 0.0, 0.0], 0.9), law, STEP);
            let expected: Vec<f64> = after.iter().flat_map(|v| [*v, 0.5 * v]).collect();
            close(&found.v, &expected, 1e-12);
        }
    }
}

/// A disc that strikes a corner with friction: each law keeps Coulomb's cone, and losses are those of the ledger.
fn disc(mu: f64, e: f64) -> Lagrangian {
    let mut model =
        Lagrangian::new(3).constant_mass(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.5]).potential(|_| 0.0).linear();
    for (name, normal, tangent) in
        [("floor", [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]), ("wall", [1.0, 0.0, 0.0], [0.0, 1.0, -1.0])]
    {
        let dot = |row: [f64; 3]| move |_: f64, q: &[f64]| row.iter().zip(q).map(|(a, b)| a * b).sum::<f64>();
        let copy = |row: [f64; 3]| move |_: f64, _: &[f64], out: &mut [f64]| out.copy_from_slice(&row);
        let contact = Contact::new(name, dot(normal)).gradient(copy(normal)).restitution(e);
        model = model.contact(contact.friction(mu, dot(tangent)).gradient(copy(tangent)));
    }
    model.initial(&[0.0; 3], &[-2.0, -1.0, 3.0]).typical_length(1.0)
}

#[test]
fn friction_keeps_its_cone_in_every_law() {
    let kinetic = |v: &[f64]| 0.5 * (v[0] * v[0] + v[1] * v[1]) + 0.25 * v[2] * v[2];
    for scheme in SCHEMES_OF_LAWS {
        for law in [ImpactLaw::Poisson, ImpactLaw::Sequential] {
            for (mu, e) in [(0.2, 0.5), (0.8, 0.5), (0.3, 0.0), (0.3, 1.0)] {
                let found = run(scheme, disc(mu, e), law, STEP);
                assert!(found.v[0] > -1e-12 && found.v[1] > -1e-12, "{scheme}, {law:?}: {:?}", found.v);
                let lost: f64 = found.impacts.iter().map(|impact| impact.loss.unwrap()).sum();
                let total = kinetic(&[-2.0, -1.0, 3.0]) - kinetic(&found.v);
                close(&[lost, found.losses.0 + found.losses.1], &[total, total], 1e-10);
                for impact in &found.impacts {
                    assert!(impact.impulse[1].abs() <= mu * impact.impulse[0] * (1.0 + 1e-9), "{impact:?}");
                }
            }
        }
        // one after the other by hand, mu = 0.2: the wall approaches faster and slips, then the floor
        let found = run(scheme, disc(0.2, 0.5), ImpactLaw::Sequential, STEP);
        let (mut v, mut p) = ([-2.0, -1.0, 3.0], 1.5 * 2.0);
        let slip: f64 = v[1] - v[2];
        v = [1.0, v[1] - slip.signum() * 0.2 * p, v[2] + slip.signum() * 0.2 * p / 0.5];
        p = 1.5 * -v[1];
        let slip: f64 = v[0] + v[2];
        assert!(v[1] < 0.0 && slip > 3.0 * 0.2 * p);
        v = [v[0] - 0.2 * p, -0.5 * v[1], v[2] - 0.2 * p / 0.5];
        close(&found.v, &v, 1e-10);
    }
}

/// One contact alone is the same by all laws, bounces with gravity among them.
#[test]
fn one_contact_is_the_same_by_all_laws() {
    let ball = || {
        let contact = Contact::new("floor", |_, q| q[0]).gradient(|_, _, row| row[0] = 1.0).restitution(0.6);
        let model = Lagrangian::new(1).constant_mass(&[2.0]).force(|_, _, _, f| f[0] = -2.0 * 9.81).linear();
        let still = |_: f64, _: &[f64], _: &[f64], k: &mut [f64], c: &mut [f64]| {
            k.fill(0.0);
            c.fill(0.0);
        };
        model.tangents(still).potential(|q| 2.0 * 9.81 * q[0]).contact(contact).initial(&[0.5], &[0.0])
    };
    for scheme in SCHEMES_OF_LAWS {
        let [newton, poisson, sequential] = ImpactLaw::ALL.map(|law| run(scheme, ball(), law, (1e-3, 0.9)));
        for other in [poisson, sequential] {
            assert_eq!(newton.impacts.len(), other.impacts.len(), "{scheme}");
            for (a, b) in newton.impacts.iter().zip(&other.impacts).take(4) {
                close(&[b.t, b.before[0], b.after[0]], &[a.t, a.before[0], a.after[0]], 1e-9);
            }
            close(&other.v, &newton.v, 1e-9);
        }
    }
}

#[test]
fn other_schemes_refuse() {
    for row in SCHEMES.iter().filter(|row| row.family == scheme::Family::Mechanical) {
        let model = AnyModel::Mechanical(Box::new(row_of_three()));
        let bound = (row.bind)(&json!({}), model, carom_solve::solver::default());
        // some refuse restitution
        let Ok(mut stepper) = bound else {
            assert!(matches!(bound.err(), Some(BindError::Scheme(SchemeError::Incapable { .. }))));
            continue;
        };
        let has = SCHEMES_OF_LAWS.contains(&row.info.name);
        assert_eq!(row.info.claims.contains(&Claim::ImpactLaws), has, "{}", row.info.name);
        assert_eq!(stepper.set_impact_law(ImpactLaw::Sequential).is_ok(), has, "{}", row.info.name);
        assert!(stepper.set_impact_law(ImpactLaw::Newton).is_ok());
    }
}

fn row_of_three() -> Lagrangian {
    row(&[1.0; 3], &[1.0, 0.0, 0.0], &[0.5; 2])
}

/// A ball that strikes a floor with spin: superball for e_T = 1, no slip after it for e_T = 0, and the cone where
/// friction is not enough.
#[test]
fn tangents_turn_back_as_far_as_friction_can() {
    let (r, v, spin) = (0.1, [0.5, 0.0, -2.0], [0.0, 10.0, 0.0]);
    let strike = |scheme: &str, law: ImpactLaw, tangential: f64, mu: f64| {
        let surface = Surface { restitution: 0.8, tangential, friction: mu, ..Surface::default() };
        let floor = Shape::Plane(Plane { point: [0.0; 3], normal: [0.0, 0.0, 1.0] });
        let ball = Shape::Sphere(Sphere { centre: [0.0; 3], radius: r });
        let model = Multibody::spatial()
            .material("rubber", surface)
            .body(Body::new("ball", 1.0, 0.4 * r * r).at([0.0, 0.0, r]).velocity(v).spin(spin))
            .solid(Solid::new("ground", "floor", floor).material("rubber"))
            .solid(Solid::new("ball", "ball", ball).material("rubber"));
        let (row, solver) = (scheme::find(scheme).unwrap(), carom_solve::solver::default());
        let model = AnyModel::Mechanical(Box::new(model.build().unwrap()));
        let mut stepper = (row.bind)(&json!({}), model, solver).map_err(|error| error.to_string())?;
        stepper.set_impact_law(law).unwrap();
        stepper.attempt(1e-9).unwrap();
        Ok::<_, String>([stepper.to().v[0], stepper.to().v[2], r * stepper.to().v[4]])
    };
    let slip = v[0] - r * spin[1];
    for scheme in SCHEMES_OF_LAWS {
        for law in ImpactLaw::ALL {
            for e in [0.0, 0.4, 1.0] {
                // P_T = −(1 + e_T) 2/7 u_T of 1 kg
                let p = -(1.0 + e) * 2.0 / 7.0 * slip;
                let after = [v[0] + p, 1.6, r * spin[1] - 2.5 * p];
                close(&strike(scheme, law, e, 2.0).unwrap(), &after, 1e-7);
            }
            // P_T = μ P_N against the slip
            let p = -slip.signum() * 0.01 * 3.6;
            close(&strike(scheme, law, 1.0, 0.01).unwrap(), &[v[0] + p, 1.6, r * spin[1] - 2.5 * p], 1e-7);
        }
    }
    let refused = strike("corrected-paoli", ImpactLaw::Newton, 0.5, 2.0).unwrap_err();
    assert!(refused.contains("no restitution along tangents"), "{refused}");
}

/// The same ball in the plane by closures, by dual numbers and by matrices: x, z and the angle.
struct Ball {
    tangential: f64,
    mu: f64,
}

const RADIUS: f64 = 0.1;
const INERTIA: f64 = 0.4 * RADIUS * RADIUS;

impl Functions for Ball {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] * INERTIA) * 0.5
    }
    fn potential<D: Scalar>(&self, _t: D, _q: &[D]) -> D {
        D::zero()
    }
    fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
        (out[0], out[1]) = (q[1], q[0] - q[2] * RADIUS);
    }
    fn laws(&self) -> Vec<NamedLaw> {
        vec![NamedLaw::new("floor", Law::coulomb(self.mu, 1)).restitution(0.8).tangential(self.tangential)]
    }
}

/// Models that are no bodies have a restitution along their tangents as well.
#[test]
fn tangents_turn_back_in_all_models_with_coordinates() {
    let v = [0.5, -2.0, 10.0];
    let slip = v[0] - RADIUS * v[2];
    let start = State::new(0.0, &[0.0; 3], &v);
    let mass = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, INERTIA];
    let closures = |tangential: f64, mu: f64| -> Box<dyn Mechanical> {
        let floor = Contact::new("floor", |_, q| q[1]).friction(mu, |_, q| q[0] - RADIUS * q[2]);
        let floor = floor.restitution(0.8).tangential(tangential);
        Box::new(Lagrangian::new(3).constant_mass(&mass).initial(&[0.0; 3], &v).contact(floor))
    };
    let duals = |tangential: f64, mu: f64| -> Box<dyn Mechanical> {
        Box::new(DualLagrangian::new(Ball { tangential, mu }, start.clone()).unwrap())
    };
    let matrices = |tangential: f64, mu: f64| -> Box<dyn Mechanical> {
        let none = SparseMatrix::from_triplets(3, &[]).unwrap();
        let unit = SparseMatrix::from_triplets(3, &[(0, 0, 1.0), (1, 1, 1.0), (2, 2, INERTIA)]).unwrap();
        let row = |entries: &[(usize, f64)]| AffineRow { entries: entries.to_vec(), ..AffineRow::default() };
        let rows = vec![row(&[(1, 1.0)]), row(&[(0, 1.0), (2, -RADIUS)])];
        let floor =
            LinearContact { name: "floor".into(), law: Law::coulomb(mu, 1), restitution: 0.8, tangential, rows };
        Box::new(Linear::new(&unit, &none, &none, start.clone()).unwrap().with_contact(floor))
    };
    let all: [&dyn Fn(f64, f64) -> Box<dyn Mechanical>; 3] = [&closures, &duals, &matrices];
    for (k, make) in all.into_iter().enumerate() {
        for scheme in SCHEMES_OF_LAWS {
            let strike = |tangential: f64, mu: f64| {
                let (row, solver) = (scheme::find(scheme).unwrap(), carom_solve::solver::default());
                let mut stepper = (row.bind)(&json!({}), AnyModel::Mechanical(make(tangential, mu)), solver).unwrap();
                stepper.attempt(1e-9).unwrap();
                stepper.to().v.clone()
            };
            for e in [0.0, 0.4, 1.0] {
                let p = -(1.0 + e) * 2.0 / 7.0 * slip;
                let after = [v[0] + p, 1.6, v[2] - p * RADIUS / INERTIA];
                close(&strike(e, 2.0), &after, 1e-6);
            }
            let p = -slip.signum() * 0.01 * 3.6;
            close(&strike(1.0, 0.01), &[v[0] + p, 1.6, v[2] - p * RADIUS / INERTIA], 1e-6);
        }
        let (row, solver) = (scheme::find("corrected-paoli").unwrap(), carom_solve::solver::default());
        let refused = (row.bind)(&json!({}), AnyModel::Mechanical(make(0.5, 2.0)), solver).err().unwrap().to_string();
        assert!(refused.contains("no restitution along tangents"), "{k}: {refused}");
    }
    for (e, mu, reason) in [(1.5, 2.0, "it must lie in [0, 1]"), (f64::NAN, 2.0, "it must lie in [0, 1]")] {
        let (row, solver) = (scheme::find("moreau-jean").unwrap(), carom_solve::solver::default());
        let refused = (row.bind)(&json!({}), AnyModel::Mechanical(closures(e, mu)), solver).err().unwrap().to_string();
        assert!(refused.contains(reason), "{refused}");
    }
    let bare = Lagrangian::new(1).contact(Contact::new("floor", |_, q| q[0]).tangential(0.5));
    let refused = bare.build().err().unwrap().to_string();
    assert!(refused.contains("needs friction"), "{refused}");
}
