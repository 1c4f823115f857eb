//! Derivatives of one model in four forms: as a file, over dual numbers, as closures, and by hand where it is short.

use carom::model::{Along, Contact, CouplingTangent, DualLagrangian, Functions, Lagrangian, NamedLaw, Scalar, Tangent};
use carom::scheme::EventDriven;
use carom::scheme::event_driven::Flow;
use carom::sensitivity::{DifferenceTangent, Sensitivity};
use carom::{Mechanical, State};
use carom_scene::{Overrides, from_str};
use carom_solve::Law;

/// A cart with a pendulum, a moving wall, a wall for the tip that counts in a region, and a curved floor with friction.
const FILE: &str = r#"
version = 1
name = "cart"
[parameters]
om = 2.1
e = 0.8
mu = 0.3
[model]
kind = "lagrangian"
coordinates = ["x", "th"]
kinetic = "x'^2/2 + 0.35*(x'^2 + 1.6*x'*th'*cos(th) + 0.64*th'^2)"
potential = "1.5*x^2 + 0.3*x^4 - 5.5*cos(th)"
force.x = "1.5*cos(om*t) - 0.2*x'"
force.th = "-0.05*th'^3"
[[contact]]
name = "cart"
gap = "x + 0.35 + 0.05*sin(3*t)"
restitution = "e"
[[contact]]
name = "tip"
gap = "0.6 - x - 0.8*sin(th)"
restitution = "e - 0.2"
where = "x < 5 - 0.1*t + 0.3*th"
[[contact]]
name = "floor"
gap = "2 + x*th^2 + 0.1*t^2*x"
slip = "x*th + t*x"
friction = "mu"
[initial]
x = 0
[simulation]
end = 1
step = 0.1
scheme = { name = "event-driven", flow = "rkf45", atol = 1e-12, rtol = 1e-12 }
"#;

#[derive(Clone)]
struct Cart {
    om: f64,
    e: f64,
    mu: f64,
}

const CART: Cart = Cart { om: 2.1, e: 0.8, mu: 0.3 };

impl Functions for Cart {
    fn kinetic<D: Scalar>(&self, _t: D, q: &[D], v: &[D]) -> D {
        v[0] * v[0] * 0.5 + (v[0] * v[0] + v[0] * v[1] * q[1].cos() * 1.6 + v[1] * v[1] * 0.64) * 0.35
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        q[0] * q[0] * 1.5 + q[0].powi(4) * 0.3 - q[1].cos() * 5.5
    }
    fn force<D: Scalar>(&self, t: D, _q: &[D], v: &[D], out: &mut [D]) {
        out[0] = (t * self.om).cos() * 1.5 - v[0] * 0.2;
        out[1] = -v[1].powi(3) * 0.05;
    }
    fn outputs<D: Scalar>(&self, t: D, q: &[D], out: &mut [D]) {
        out[0] = q[0] + (t * 3.0).sin() * 0.05 + 0.35;
        out[1] = -q[0] - q[1].sin() * 0.8 + 0.6;
        out[2] = q[0] * q[1] * q[1] + t * t * q[0] * 0.1 + 2.0;
        out[3] = q[0] * q[1] + t * q[0];
    }
    fn region<D: Scalar>(&self, law: usize, t: D, q: &[D]) -> D {
        if law == 1 { -q[0] - t * 0.1 + q[1] * 0.3 + 5.0 } else { D::from(f64::INFINITY) }
    }
    fn laws(&self) -> Vec<NamedLaw> {
        vec![
            NamedLaw::new("cart", Law::UNILATERAL).restitution(self.e),
            NamedLaw::new("tip", Law::UNILATERAL).restitution(self.e - 0.2),
            NamedLaw::new("floor", Law::coulomb(self.mu, 1)),
        ]
    }
}

fn start() -> State {
    State::new(0.1, &[-0.2, 0.3], &[-2.0, 4.0])
}

fn dual(cart: &Cart) -> DualLagrangian<Cart> {
    DualLagrangian::new(cart.clone(), start()).unwrap()
}

/// The same as closures; forces of inertia by hand.
fn closures(cart: &Cart) -> Lagrangian {
    let om = cart.om;
    Lagrangian::new(2)
        .mass(|q, m| m.copy_from_slice(&[1.7, 0.56 * q[1].cos(), 0.56 * q[1].cos(), 0.448]))
        .force(move |t, q, v, f| {
            f[0] =
                1.5 * (om * t).cos() - 0.2 * v[0] - 3.0 * q[0] - 1.2 * q[0].powi(3) + 0.56 * v[1] * v[1] * q[1].sin();
            f[1] = -0.05 * v[1].powi(3) - 5.5 * q[1].sin();
        })
        .contact(Contact::new("cart", |t, q| q[0] + 0.35 + 0.05 * (3.0 * t).sin()).restitution(cart.e))
        .contact(
            Contact::new("tip", |_, q| 0.6 - q[0] - 0.8 * q[1].sin())
                .restitution(cart.e - 0.2)
                .region(|t, q| 5.0 - 0.1 * t + 0.3 * q[1] - q[0]),
        )
        .contact(
            Contact::new("floor", |t, q| 2.0 + q[0] * q[1] * q[1] + 0.1 * t * t * q[0])
                .friction(cart.mu, |t, q| q[0] * q[1] + t * q[0]),
        )
}

fn differences(make: impl Fn(&Cart) -> Box<dyn Mechanical>) -> DifferenceTangent {
    DifferenceTangent::new(make(&CART))
        .with_parameter("om", 2.1, |om| make(&Cart { om, ..CART }))
        .with_parameter("e", 0.8, |e| make(&Cart { e, ..CART }))
        .with_parameter("mu", 0.3, |mu| make(&Cart { mu, ..CART }))
}

/// A sequence of numbers in [-1, 1].
struct Draw(u64);
impl Draw {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    fn pair(&mut self) -> [f64; 2] {
        [self.next(), self.next()]
    }
}

/// All that a tangent tells at a point along a direction, one after the other.
fn all(tangent: &mut dyn Tangent, at: (f64, &[f64], &[f64]), along: Along<'_>, x: &[f64]) -> Vec<f64> {
    let (mut force, mut mass, mut curvature) = ([0.0; 2], [0.0; 2], Vec::new());
    let mut coupling = CouplingTangent::default();
    tangent.force(at, Along { t: 0.0, ..along }, &mut force).unwrap();
    tangent.mass(at, x, along, &mut mass).unwrap();
    tangent.coupling(at, along, &mut coupling).unwrap();
    tangent.curvature(at, along, &mut curvature).unwrap();
    let CouplingTangent { gap, region, restitution, friction, drift, rows } = coupling;
    [&force[..], &mass, &gap, &region, &restitution, &friction, &drift, &rows, &curvature].concat()
}

/// The largest differences of two tangents at random points along random directions: of all but the curvature, and of
/// that.
fn distance(tangent: &mut dyn Tangent, parameters: &[&str], seed: u64) -> [f64; 2] {
    let scene = from_str("test.toml", FILE, &Overrides::default()).unwrap_or_else(|all| panic!("{}", all[0]));
    let mut exact = scene.tangent(parameters).unwrap();
    let mut draw = Draw(seed);
    let mut worst = [0.0f64; 2];
    for _ in 0..20 {
        let (t, q, v) = (draw.next(), draw.pair(), draw.pair());
        let (dt, dq, dv, x, p) =
            (draw.next(), draw.pair(), draw.pair(), draw.pair(), [draw.next(), draw.next(), draw.next()]);
        let along = Along { t: dt, q: &dq, v: &dv, p: &p[..parameters.len()] };
        let found = all(tangent, (t, &q, &v), along, &x);
        let wanted = all(&mut *exact, (t, &q, &v), along, &x);
        assert_eq!(found.len(), wanted.len());
        let rows = 4;
        for (k, (a, b)) in found.iter().zip(&wanted).enumerate() {
            let part = usize::from(k >= found.len() - rows);
            worst[part] = worst[part].max((a - b).abs() / (1.0 + b.abs()));
        }
    }
    worst
}

#[test]
fn dual_numbers_are_exact() {
    let missed = distance(&mut dual(&CART).tangent(), &[], 3);
    assert!(missed.iter().all(|x| *x < 1e-13), "{missed:?}");
}

#[test]
fn differences_are_as_good_as_they_say() {
    // functions that are exact
    let missed = distance(&mut differences(|cart| Box::new(dual(cart))), &["om", "e", "mu"], 4);
    assert!(missed.iter().all(|x| *x < 1e-10), "{missed:?}");
    // gradients that are differences themselves
    let missed = distance(&mut differences(|cart| Box::new(closures(cart))), &["om", "e", "mu"], 5);
    assert!(missed[0] < 1e-7 && missed[1] < 1e-4, "{missed:?}");
    // a direction of zeros
    let still = Along { t: 0.0, q: &[0.0; 2], v: &[0.0; 2], p: &[0.0; 3] };
    let mut tangent = differences(|cart| Box::new(closures(cart)));
    assert_eq!(tangent.parameters(), ["om", "e", "mu"]);
    assert!(all(&mut tangent, (0.0, &[0.1, 0.2], &[1.0, 2.0]), still, &[1.0, 1.0]).iter().all(|x| *x == 0.0));
}

/// The derivative of a motion with impacts at both walls, from each form of the model.
#[test]
fn motions_have_the_same_derivatives() {
    let scheme = || EventDriven { flow: Flow::Rkf45, atol: Some(1e-12), rtol: 1e-12, ..EventDriven::default() };
    let solver = || carom_solve::solver::default();
    let scene = from_str("test.toml", FILE, &Overrides::default()).unwrap_or_else(|all| panic!("{}", all[0]));
    // the first random start that strikes both walls, none of them slowly
    let (mut draw, mut search) = (Draw(1), scene.sensitivity(&[]).unwrap());
    let from = loop {
        let (q, v) = (draw.pair(), draw.pair());
        let from = State::new(0.1, &[0.2 * q[0], 0.4 * q[1]], &[3.0 * v[0], 4.0 * v[1]]);
        search.counts.clear();
        search.restart(&from);
        search.advance(2.0).unwrap();
        if search.counts.by_contact.len() == 2 && search.counts.slowest > 0.2 {
            break from;
        }
    };
    let run = |mut motion: Sensitivity| {
        motion.restart(&from);
        motion.advance(2.0).unwrap();
        assert!(motion.counts.impacts == search.counts.impacts, "{:?}", motion.counts.listed);
        motion.columns().flat_map(|column| column[..4].to_vec()).collect::<Vec<f64>>()
    };
    let wanted = run(scene.sensitivity(&["om", "e", "mu"]).unwrap());
    let model = || -> Box<dyn Mechanical> { Box::new(dual(&CART)) };
    let exact = run(Sensitivity::new(scheme(), [model(), model()], Box::new(dual(&CART).tangent()), solver()).unwrap());
    let model = || -> Box<dyn Mechanical> { Box::new(closures(&CART)) };
    let tangent = differences(|cart| Box::new(closures(cart)));
    let rough = run(Sensitivity::new(scheme(), [model(), model()], Box::new(tangent), solver()).unwrap());
    let largest = wanted.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let missed = |found: &[f64]| found.iter().zip(&wanted).fold(0.0f64, |m, (a, b)| m.max((a - b).abs())) / largest;
    assert_eq!((exact.len(), rough.len()), (16, wanted.len()));
    assert!(missed(&exact) < 1e-9, "{:e}", missed(&exact));
    assert!(missed(&rough) < 1e-7, "{:e}", missed(&rough));
}
