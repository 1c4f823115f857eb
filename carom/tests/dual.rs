//! Models by dual numbers against closed forms, high-order differences and the same model written as closures.

use carom::model::{AccelerationLevel, Combination, Contact, DualLagrangian, Functions, Lagrangian, NamedLaw, Scalar};
use carom::scheme::MoreauJean;
use carom::{Coupling, Mechanical, ModelError, Space, Span, State, simulate};
use carom_solve::{Law, LinearSolve};

fn close(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance, "{actual:e} is not {expected:e} to {tolerance:e}");
}

/// Slider-crank of the specification, 6.2: T and V from the kinematics of its three bodies.
struct SliderCrank;

const L1: f64 = 0.153;
const L2: f64 = 0.306;
const HALF: [f64; 2] = [0.05, 0.025];
const CLEARANCE: f64 = 0.052;
const MASS: [f64; 3] = [0.038, 0.038, 0.076];
const INERTIA: [f64; 3] = [7.4e-5, 5.9e-4, 2.7e-6];
const CORNERS: [(f64, f64); 4] = [(-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
const GRAVITY: f64 = 9.81;

impl Functions for SliderCrank {
    fn kinetic<D: Scalar>(&self, _t: D, q: &[D], v: &[D]) -> D {
        // velocities of the centres of crank, rod and slider
        let end = [-q[0].sin() * v[0] * L1, q[0].cos() * v[0] * L1];
        let rod = [-q[1].sin() * v[1] * L2, q[1].cos() * v[1] * L2];
        let mut energy = D::zero();
        for k in 0..2 {
            let (crank, middle, slider) = (end[k] * 0.5, end[k] + rod[k] * 0.5, end[k] + rod[k]);
            energy += crank * crank * (0.5 * MASS[0]);
            energy += middle * middle * (0.5 * MASS[1]) + slider * slider * (0.5 * MASS[2]);
        }
        for k in 0..3 {
            energy += v[k] * v[k] * (0.5 * INERTIA[k]);
        }
        energy
    }

    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        let (end, rod) = (q[0].sin() * L1, q[1].sin() * L2);
        (end * (0.5 * MASS[0]) + (end + rod * 0.5) * MASS[1] + (end + rod) * MASS[2]) * GRAVITY
    }

    fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
        let [a, b] = HALF;
        let (x, y) = (q[0].cos() * L1 + q[1].cos() * L2, q[0].sin() * L1 + q[1].sin() * L2);
        for (i, (sx, sy)) in CORNERS.into_iter().enumerate() {
            let height = y + q[2].sin() * (sx * a) + q[2].cos() * (sy * b);
            out[2 * i] = -height * sy + 0.5 * CLEARANCE;
            out[2 * i + 1] = x + q[2].cos() * (sx * a) - q[2].sin() * (sy * b);
        }
    }

    fn laws(&self) -> Vec<NamedLaw> {
        (1..=4).map(|i| NamedLaw::new(&format!("corner {i}"), Law::coulomb(0.01, 1)).restitution(0.4)).collect()
    }
}

const Q: [f64; 3] = [0.7, -0.3, 0.02];
const V: [f64; 3] = [150.0, -75.0, 4.0];

fn slider_crank() -> DualLagrangian<SliderCrank> {
    DualLagrangian::new(SliderCrank, State::new(0.0, &Q, &V)).unwrap()
}

/// M, F, K and C of the specification, differentiated by hand.
struct ClosedForm {
    mass: [[f64; 3]; 3],
    force: [f64; 3],
    stiffness: [[f64; 3]; 3],
    damping: [[f64; 3]; 3],
}

fn closed_form(q: &[f64], v: &[f64]) -> ClosedForm {
    let [m1, m2, m3] = MASS;
    let a = (m2 / 2.0 + m3) * L1 * L2;
    let (b1, b2) = ((m1 / 2.0 + m2 + m3) * GRAVITY * L1, (m2 / 2.0 + m3) * GRAVITY * L2);
    let (s, c) = (q[0] - q[1]).sin_cos();
    let mut closed = ClosedForm {
        mass: [[0.0; 3]; 3],
        force: [-a * s * v[1] * v[1] - b1 * q[0].cos(), a * s * v[0] * v[0] - b2 * q[1].cos(), 0.0],
        stiffness: [[0.0; 3]; 3],
        damping: [[0.0; 3]; 3],
    };
    closed.mass[0] = [INERTIA[0] + (m1 / 4.0 + m2 + m3) * L1 * L1, a * c, 0.0];
    closed.mass[1] = [a * c, INERTIA[1] + (m2 / 4.0 + m3) * L2 * L2, 0.0];
    closed.mass[2][2] = INERTIA[2];
    closed.stiffness[0] = [a * c * v[1] * v[1] - b1 * q[0].sin(), -a * c * v[1] * v[1], 0.0];
    closed.stiffness[1] = [-a * c * v[0] * v[0], a * c * v[0] * v[0] - b2 * q[1].sin(), 0.0];
    closed.damping[0][1] = 2.0 * a * s * v[1];
    closed.damping[1][0] = -2.0 * a * s * v[0];
    closed
}

#[test]
fn slider_crank_mass_and_force() {
    let mut model = slider_crank();
    let closed = closed_form(&Q, &V);
    let (mut force, mut column) = ([0.0; 3], [0.0; 3]);
    model.force(0.0, &Q, &V, &mut force).unwrap();
    for i in 0..3 {
        close(force[i], closed.force[i], 1e-13 * 30.0);
        let mut unit = [0.0; 3];
        unit[i] = 1.0;
        model.mass_mul(&Q, &unit, &mut column).unwrap();
        for j in 0..3 {
            close(column[j], closed.mass[j][i], 1e-17);
        }
    }
    let energy = model.energy(&State::new(0.0, &Q, &V)).unwrap();
    let kinetic: f64 = (0..3).map(|i| 0.5 * V[i] * (0..3).map(|j| closed.mass[i][j] * V[j]).sum::<f64>()).sum();
    close(energy.kinetic, kinetic, 1e-13 * kinetic);
}

/// A of each combination, known in closed form, times A⁻¹ e_j of the model is e_j.
#[test]
fn slider_crank_tangents() {
    let mut model = slider_crank();
    let closed = closed_form(&Q, &V);
    let state = State::new(0.0, &Q, &V);
    for (mass, damping, stiffness) in [(1.0, 0.0, 0.0), (1.0, 1e-2, 0.0), (1.0, 0.0, 1e-4), (0.5, 3e-3, 2e-4)] {
        model.factor(&state, Combination { mass, damping, stiffness }).unwrap();
        for j in 0..3 {
            let mut x = [0.0; 3];
            x[j] = 1.0;
            model.solve(&mut x);
            for i in 0..3 {
                let product: f64 = (0..3)
                    .map(|k| {
                        let a = mass * closed.mass[i][k]
                            + damping * closed.damping[i][k]
                            + stiffness * closed.stiffness[i][k];
                        a * x[k]
                    })
                    .sum();
                close(product, if i == j { 1.0 } else { 0.0 }, 1e-12);
            }
        }
    }
}

#[test]
fn slider_crank_outputs() {
    let mut model = slider_crank();
    let [a, b] = HALF;
    let mut coupling = Coupling::default();
    model.couple(0.0, &Q, &mut coupling).unwrap();
    let mut curvature = Vec::new();
    model.acceleration_level().unwrap().curvature(0.0, &Q, &V, &mut curvature).unwrap();
    let ((s1, c1), (s2, c2), (s3, c3)) = (Q[0].sin_cos(), Q[1].sin_cos(), Q[2].sin_cos());
    for (i, (sx, sy)) in CORNERS.into_iter().enumerate() {
        let y = L1 * s1 + L2 * s2;
        close(coupling.pairs[i].gap, 0.5 * CLEARANCE - sy * (y + sx * a * s3 + sy * b * c3), 1e-16);
        assert_eq!(coupling.pairs[i].restitution, 0.4);
        let normal = [-sy * L1 * c1, -sy * L2 * c2, -sy * (sx * a * c3 - sy * b * s3)];
        let tangent = [-L1 * s1, -L2 * s2, -sx * a * s3 - sy * b * c3];
        for (row, expected) in [(2 * i, normal), (2 * i + 1, tangent)] {
            for (j, (actual, expected)) in coupling.rows.row(row).iter().zip(expected).enumerate() {
                assert_eq!(actual.0, j);
                close(actual.1, expected, 1e-16);
            }
            assert_eq!(coupling.drift[row], 0.0);
        }
        let w = V.map(|v| v * v);
        let normal = sy * (L1 * s1 * w[0] + L2 * s2 * w[1] + sx * a * s3 * w[2] + sy * b * c3 * w[2]);
        let tangent = -L1 * c1 * w[0] - L2 * c2 * w[1] - sx * a * c3 * w[2] + sy * b * s3 * w[2];
        close(curvature[2 * i], normal, 1e-12 * 3e3);
        close(curvature[2 * i + 1], tangent, 1e-12 * 3e3);
    }
    assert_eq!(model.labels().contacts[3], ("corner 4".into(), Law::coulomb(0.01, 1)));
}

/// Double pendulum whose pivot shakes, with damped joints and a moving wall: every term of (2) and (4) is there.
#[derive(Clone, Copy)]
struct ShakenPendulum;

impl Functions for ShakenPendulum {
    fn kinetic<D: Scalar>(&self, t: D, q: &[D], v: &[D]) -> D {
        // pivot (0.3 sin 2t, 0.1 cos t), rods of 1 m and 0.7 m, masses 1 kg and 0.5 kg
        let pivot = [(t * 2.0).cos() * 0.6, -t.sin() * 0.1];
        let one = [pivot[0] + q[0].cos() * v[0], pivot[1] + q[0].sin() * v[0]];
        let two = [one[0] + q[1].cos() * v[1] * 0.7, one[1] + q[1].sin() * v[1] * 0.7];
        (one[0] * one[0] + one[1] * one[1]) * 0.5 + (two[0] * two[0] + two[1] * two[1]) * 0.25
    }

    fn potential<D: Scalar>(&self, t: D, q: &[D]) -> D {
        (-q[0].cos() * 1.5 - q[1].cos() * 0.35 + t.cos() * 0.15) * 9.81
    }

    fn force<D: Scalar>(&self, t: D, q: &[D], v: &[D], out: &mut [D]) {
        let relative = v[1] - v[0];
        out[0] = relative * relative * relative * 0.2 - v[0] * 0.1 + t.sin();
        out[1] = -relative * relative * relative * 0.2 + q[0] * q[1];
    }

    fn outputs<D: Scalar>(&self, t: D, q: &[D], out: &mut [D]) {
        out[0] = q[0].sin() + q[1].sin() * 0.7 + (t * 2.0).sin() * 0.3 + (t * 3.0).cos() * 0.05 + 0.6;
        out[1] = t * q[0] * q[1] + t * t;
    }

    fn laws(&self) -> Vec<NamedLaw> {
        vec![NamedLaw::new("wall", Law::coulomb(0.0, 1))]
    }
}

/// Eighth-order central difference of `f` at `x`.
fn difference(x: f64, f: impl Fn(f64) -> f64) -> f64 {
    let h = 0.02;
    let weights = [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0];
    let pairs = weights.iter().enumerate().map(|(k, w)| {
        let d = (k + 1) as f64 * h;
        w * (f(x + d) - f(x - d))
    });
    pairs.sum::<f64>() / h
}

fn with(x: &[f64; 2], i: usize, value: f64) -> [f64; 2] {
    let mut x = *x;
    x[i] = value;
    x
}

const T0: f64 = 0.4;
const Q2: [f64; 2] = [0.8, -0.5];
const V2: [f64; 2] = [1.3, -2.1];

/// F of (2) by differences of the energies.
fn force_by_differences(i: usize) -> f64 {
    let f = ShakenPendulum;
    let momentum = |t: f64, q: &[f64; 2]| difference(V2[i], |x| f.kinetic(t, q, &with(&V2, i, x)));
    let rate: f64 = difference(T0, |t| momentum(t, &Q2))
        + (0..2).map(|j| V2[j] * difference(Q2[j], |x| momentum(T0, &with(&Q2, j, x)))).sum::<f64>();
    let mut applied = [0.0; 2];
    f.force(T0, &Q2, &V2, &mut applied);
    applied[i] - rate + difference(Q2[i], |x| f.kinetic(T0, &with(&Q2, i, x), &V2) - f.potential(T0, &with(&Q2, i, x)))
}

#[test]
fn shaken_pendulum_force_and_tangents() {
    let state = State::new(T0, &Q2, &V2);
    let mut model = DualLagrangian::new(ShakenPendulum, state.clone()).unwrap();
    let mut force = [0.0; 2];
    model.force(T0, &Q2, &V2, &mut force).unwrap();
    for i in 0..2 {
        close(force[i], force_by_differences(i), 1e-10);
    }
    // A by differences of the force, which was just checked
    let value = |i: usize, q: &[f64; 2], v: &[f64; 2]| {
        let (mut model, mut out) = (DualLagrangian::new(ShakenPendulum, state.clone()).unwrap(), [0.0; 2]);
        model.force(T0, q, v, &mut out).unwrap();
        out[i]
    };
    let c = (Q2[0] - Q2[1]).cos();
    let mass = [[1.5, 0.35 * c], [0.35 * c, 0.245]];
    let combination = Combination { mass: 1.0, damping: 0.3, stiffness: 0.7 };
    model.factor(&state, combination).unwrap();
    for j in 0..2 {
        let mut x = [0.0; 2];
        x[j] = 1.0;
        model.solve(&mut x);
        for i in 0..2 {
            let mut product = 0.0;
            for k in 0..2 {
                let damping = -difference(V2[k], |x| value(i, &Q2, &with(&V2, k, x)));
                let stiffness = -difference(Q2[k], |x| value(i, &with(&Q2, k, x), &V2));
                product += (mass[i][k] + 0.3 * damping + 0.7 * stiffness) * x[k];
            }
            close(product, if i == j { 1.0 } else { 0.0 }, 1e-10);
        }
    }
}

#[test]
fn moving_outputs() {
    let mut model = DualLagrangian::new(ShakenPendulum, State::new(T0, &Q2, &V2)).unwrap();
    let mut coupling = Coupling::default();
    model.couple(T0, &Q2, &mut coupling).unwrap();
    close(coupling.drift[0], 0.6 * (2.0 * T0).cos() - 0.15 * (3.0 * T0).sin(), 1e-15);
    close(coupling.drift[1], Q2[0] * Q2[1] + 2.0 * T0, 1e-15);
    assert_eq!(coupling.rows.row(1), [(0, T0 * Q2[1]), (1, T0 * Q2[0])]);
    let mut curvature = Vec::new();
    model.curvature(T0, &Q2, &V2, &mut curvature).unwrap();
    let wall = -Q2[0].sin() * V2[0] * V2[0]
        - 0.7 * Q2[1].sin() * V2[1] * V2[1]
        - 1.2 * (2.0 * T0).sin()
        - 0.45 * (3.0 * T0).cos();
    close(curvature[0], wall, 1e-14);
    // d²/dt² (t q₀ q₁ + t²) with q̈ = 0
    let product = 2.0 * (V2[0] * Q2[1] + Q2[0] * V2[1]) + 2.0 * T0 * V2[0] * V2[1] + 2.0;
    close(curvature[1], product, 1e-14);
}

/// Double pendulum of two equal rods and masses, with a wall on the left.
struct WalledPendulum;

impl Functions for WalledPendulum {
    fn kinetic<D: Scalar>(&self, _t: D, q: &[D], v: &[D]) -> D {
        v[0] * v[0] + v[1] * v[1] * 0.5 + v[0] * v[1] * (q[0] - q[1]).cos()
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        -(q[0].cos() * 2.0 + q[1].cos()) * 9.81
    }
    fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
        out[0] = q[0].sin() + q[1].sin() + 0.2;
    }
    fn laws(&self) -> Vec<NamedLaw> {
        vec![NamedLaw::new("wall", Law::UNILATERAL).restitution(0.8)]
    }
}

/// The same by hand.
fn walled_pendulum() -> Lagrangian {
    Lagrangian::new(2)
        .mass(|q, m| {
            let c = (q[0] - q[1]).cos();
            m.copy_from_slice(&[2.0, c, c, 1.0]);
        })
        .force(|_, q, v, f| {
            let s = (q[0] - q[1]).sin();
            f[0] = -s * v[1] * v[1] - 2.0 * 9.81 * q[0].sin();
            f[1] = s * v[0] * v[0] - 9.81 * q[1].sin();
        })
        .contact(
            Contact::new("wall", |_, q| q[0].sin() + q[1].sin() + 0.2)
                .gradient(|_, q, row| row.copy_from_slice(&[q[0].cos(), q[1].cos()]))
                .restitution(0.8),
        )
        .initial(&[1.0, 1.0], &[0.0, 0.0])
}

#[test]
fn a_run_agrees_with_closures() {
    let scheme = || MoreauJean { newton_tolerance: 1e-13, ..MoreauJean::default() };
    let by_hand = simulate(walled_pendulum(), scheme(), Span { end: 4.0, step: 1e-3 }).unwrap();
    let model = DualLagrangian::new(WalledPendulum, State::new(0.0, &[1.0, 1.0], &[0.0, 0.0])).unwrap();
    let dual = simulate(model, scheme(), Span { end: 4.0, step: 1e-3 }).unwrap();
    assert!(by_hand.impacts.len() >= 3, "{} impacts", by_hand.impacts.len());
    assert_eq!(dual.impacts.len(), by_hand.impacts.len());
    assert_eq!(dual.len(), by_hand.len());
    for k in 0..dual.len() {
        for i in 0..2 {
            close(dual.q(k)[i], by_hand.q(k)[i], 1e-9);
            close(dual.v(k)[i], by_hand.v(k)[i], 1e-9);
        }
    }
}

/// A point attracted by a centre: undefined at the origin.
struct Singular;

impl Functions for Singular {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        v[0] * v[0] * 0.5
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        -q[0].recip()
    }
    fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
        out[0] = q[0].ln();
    }
    fn laws(&self) -> Vec<NamedLaw> {
        vec![NamedLaw::new("wall", Law::UNILATERAL)]
    }
}

#[test]
fn undefined_values_are_errors() {
    assert!(DualLagrangian::new(Singular, State::new(0.0, &[1.0], &[])).is_err());
    let mut model = DualLagrangian::new(Singular, State::new(0.0, &[1.0], &[0.0])).unwrap();
    let error = model.force(2.0, &[0.0], &[0.0], &mut [0.0]).unwrap_err();
    assert_eq!(error, ModelError::Force { coordinate: "q0".into(), t: 2.0 });
    let error = model.couple(2.0, &[-1.0], &mut Coupling::default()).unwrap_err();
    assert_eq!(error, ModelError::Gap { contact: "wall".into(), t: 2.0 });
}
