//! A spinning ball above a floor: seven coordinates, with the attitude as a unit quaternion, and six velocities
//! [goldstein2002].
//!
//! ```text
//!     m v̇ = −m g e_z + p,   J ω̇ = −ω × Jω + torque of p,   J = diag(J₁, J₁, J₃),   ω in axes of the body       (1)
//!     retract(q, ω τ) = q ⊗ exp(ω τ/2),   difference(a, b) = 2 log(a⁻¹ ⊗ b)                                    (2)
//!     u_T = v_T − r ω × e_z at the contact,   u_N⁺ = −e u_N⁻                                                   (3)
//!     without friction: q = exp(L t/2J₁) ⊗ q₀ ⊗ exp(σ t e₃/2),   L = q₀ J ω₀ q₀⁻¹,   σ = (1 − J₃/J₁) ω₃            (4)
//!     with friction, J₁ = J₃: at an impact P_T = −u_T/(1/m + r²/J), or −μ P_N u_T/|u_T| where that is less           (5)
//! ```
//!
//! The height is that of the bouncing ball. Without friction impacts leave the spin alone, and (4) is the regular
//! precession of a free symmetric top; with friction ω is constant between impacts.

use super::{BouncingBall, Curvature, ExactSolution};
use crate::model::{Chart, Combination, Constancy, DenseOperator, Energy, Labels, Mechanical, ModelError, Space};
use crate::rotation::{Quaternion, Retraction, exponential, matrix, product, rotate, rotate_back};
use crate::{Coupling, Key, Pair, State};
use carom_solve::elementary::{hypot, sin_cos};
use carom_solve::{Law, LinearSolve};

/// A ball with an axis of symmetry, thrown with spin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpinningBall {
    /// Mass, positive [kg].
    pub mass: f64,
    /// Radius, positive [m].
    pub radius: f64,
    /// J₁ across the axis of the body and J₃ along it, positive [kg m²].
    pub inertia: [f64; 2],
    /// Gravity, positive [m/s²].
    pub gravity: f64,
    /// Newton restitution coefficient, in [0, 1] [-].
    pub restitution: f64,
    /// Coefficient of friction, not negative [-]; the closed form with friction needs J₁ = J₃.
    pub friction: f64,
    /// Initial gap, not negative [m].
    pub height: f64,
    /// Initial velocity of the centre [m/s].
    pub velocity: [f64; 3],
    /// Initial angular velocity in axes of the body [rad/s].
    pub spin: [f64; 3],
}

impl Default for SpinningBall {
    fn default() -> Self {
        SpinningBall {
            mass: 1.0,
            radius: 1.0,
            inertia: [0.4, 0.7],
            gravity: 2.0,
            restitution: 0.5,
            friction: 0.0,
            height: 1.0,
            velocity: [0.3, -0.2, 0.0],
            spin: [0.8, -0.5, 1.2],
        }
    }
}

/// The attitude at t = 0, without any symmetry.
const START: Quaternion = [0.8, 0.48, -0.36, 0.0];

impl SpinningBall {
    /// A homogeneous ball that slips in the first impact and rolls after the second one.
    pub fn rough() -> SpinningBall {
        SpinningBall { inertia: [0.4; 2], friction: 0.15, ..SpinningBall::default() }
    }

    /// The same problem as a model, to be simulated.
    pub fn model(&self) -> SpinningBallModel {
        let mut operator = DenseOperator::new(6);
        let [across, along] = self.inertia;
        let diagonal = [self.mass, self.mass, self.mass, across, across, along];
        diagonal.iter().enumerate().for_each(|(i, m)| operator.mass[7 * i] = *m);
        SpinningBallModel { ball: *self, operator }
    }

    /// The motion of the gap.
    fn vertical(&self) -> BouncingBall {
        BouncingBall {
            mass: self.mass,
            force: -self.mass * self.gravity,
            restitution: self.restitution,
            q0: self.height,
            v0: self.velocity[2],
        }
    }

    fn initial(&self) -> State {
        let mut state = State::new(0.0, &[0.0; 7], &[0.0; 6]);
        state.q[2] = self.radius + self.height;
        state.q[3..].copy_from_slice(&START);
        state.v[..3].copy_from_slice(&self.velocity);
        state.v[3..].copy_from_slice(&self.spin);
        state
    }

    /// (4), and uniform motion in the plane.
    fn fly(&self, state: &mut State, time: f64) {
        let [across, along] = self.inertia;
        let (attitude, spin) = (attitude(&state.q), spin(&state.v));
        let turn = (1.0 - along / across) * spin[2];
        let momentum = rotate(attitude, [across * spin[0], across * spin[1], along * spin[2]]);
        let precession = exponential(momentum.map(|x| x * time / across));
        let q = product(product(precession, attitude), exponential([0.0, 0.0, turn * time]));
        let (sin, cos) = sin_cos(-turn * time);
        state.q[3..].copy_from_slice(&q);
        state.v[3] = cos * spin[0] - sin * spin[1];
        state.v[4] = sin * spin[0] + cos * spin[1];
        for i in 0..2 {
            state.q[i] += time * state.v[i];
        }
        state.t += time;
    }

    /// (5) of an impact with this normal impulse per mass.
    fn strike(&self, state: &mut State, normal: f64) {
        if self.friction == 0.0 {
            return;
        }
        let (mass, inertia, radius) = (self.mass, self.inertia[0], self.radius);
        let attitude = attitude(&state.q);
        let mut spin = rotate(attitude, spin(&state.v));
        let slip = [state.v[0] - radius * spin[1], state.v[1] + radius * spin[0]];
        let speed = hypot(slip[0], slip[1]);
        let stick = speed / (1.0 / mass + radius * radius / inertia);
        let size = stick.min(self.friction * mass * normal);
        let [x, y] = slip.map(|u| if speed > 0.0 { -size * u / speed } else { 0.0 });
        (state.v[0], state.v[1]) = (state.v[0] + x / mass, state.v[1] + y / mass);
        (spin[0], spin[1]) = (spin[0] + radius * y / inertia, spin[1] - radius * x / inertia);
        state.v[3..].copy_from_slice(&rotate_back(attitude, spin));
    }

    /// The state at t; impacts at t itself count where `after` says so.
    fn state(&self, t: f64, after: bool) -> State {
        let (vertical, mut state) = (self.vertical(), self.initial());
        for impact in vertical.impacts(t).filter(|impact| after || impact.time < t) {
            let time = impact.time - state.t;
            self.fly(&mut state, time);
            self.strike(&mut state, impact.amplitude());
        }
        let left = t - state.t;
        self.fly(&mut state, left);
        let (gap, speed) = vertical.state_at(t);
        state.q[2] = self.radius + gap;
        state.v[2] = if after { speed } else { vertical.velocity_before(t) };
        state
    }
}

impl ExactSolution for SpinningBall {
    fn name(&self) -> &'static str {
        "spinning-ball"
    }

    fn citation(&self) -> &'static str {
        "goldstein2002"
    }

    fn dimension(&self) -> usize {
        7
    }

    fn velocities(&self) -> usize {
        6
    }

    fn at(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        let state = self.state(t, true);
        q.copy_from_slice(&state.q);
        v.copy_from_slice(&state.v);
    }

    fn before(&self, t: f64, v: &mut [f64]) {
        v.copy_from_slice(&self.state(t, false).v);
    }

    fn jumps(&self, from: f64, to: f64, amplitude: f64) -> Vec<f64> {
        self.vertical().jumps(from, to, amplitude)
    }

    fn accumulation(&self) -> Option<f64> {
        self.vertical().accumulation()
    }

    fn curvature(&self, _from: f64, _to: f64) -> Option<Curvature> {
        let square: f64 = self.spin.iter().map(|w| w * w).sum();
        let rate = (1.0 - self.inertia[1] / self.inertia[0]).abs() * self.spin[2].abs();
        // friction takes spin away, but may turn its axis: twice the initial one is enough for what is thrown here
        let size = 4.0 * square;
        Some(Curvature { position: self.gravity + size + rate * size.sqrt(), velocity: rate * rate * size.sqrt() })
    }
}

/// A [`SpinningBall`] as a model. Derivatives of its rows along the motion are left to differences.
pub struct SpinningBallModel {
    ball: SpinningBall,
    operator: DenseOperator,
}

impl LinearSolve for SpinningBallModel {
    fn dim(&self) -> usize {
        6
    }
    fn solve(&self, rhs: &mut [f64]) {
        self.operator.solve(rhs);
    }
}

impl Space for SpinningBallModel {
    fn initial(&self) -> State {
        self.ball.initial()
    }

    fn positions(&self) -> usize {
        7
    }

    fn moves(&self, j: usize) -> Option<usize> {
        (j < 3).then_some(j)
    }

    fn couple(&mut self, _t: f64, q: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        let SpinningBall { radius, restitution, friction, .. } = self.ball;
        out.clear(6);
        let law = if friction == 0.0 { Law::UNILATERAL } else { Law::coulomb(friction, 2) };
        out.push(Pair { key: Key(0), law, gap: q[2] - radius, restitution });
        out.rows.push_dense(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
        if friction != 0.0 {
            let [x, y, _] = matrix(attitude(q));
            out.rows.push_dense(&[1.0, 0.0, 0.0, -radius * y[0], -radius * y[1], -radius * y[2]]);
            out.rows.push_dense(&[0.0, 1.0, 0.0, radius * x[0], radius * x[1], radius * x[2]]);
        }
        out.drift.resize(out.rows.len(), 0.0);
        Ok(())
    }

    fn retract(&self, q: &[f64], dq: &[f64], out: &mut [f64]) {
        for i in 0..3 {
            out[i] = q[i] + dq[i];
        }
        out[3..].copy_from_slice(&Retraction::Exponential.retract(attitude(q), spin(dq)));
    }

    fn difference(&self, a: &[f64], b: &[f64], out: &mut [f64]) {
        for i in 0..3 {
            out[i] = b[i] - a[i];
        }
        out[3..].copy_from_slice(&Retraction::Exponential.difference(attitude(a), attitude(b)));
    }

    fn chart(&self) -> Option<&dyn Chart> {
        Some(self)
    }

    fn labels(&self) -> Labels {
        let law = if self.ball.friction == 0.0 { Law::UNILATERAL } else { Law::coulomb(self.ball.friction, 2) };
        let coordinates = ["x", "y", "z", "e0", "e1", "e2", "e3"].map(String::from).to_vec();
        Labels { coordinates, contacts: vec![("floor".into(), law)], ..Labels::default() }
    }

    fn energy(&mut self, at: &State) -> Option<Energy> {
        let potential = self.ball.mass * self.ball.gravity * (at.q[2] - self.ball.radius);
        Some(Energy { kinetic: self.operator.kinetic(&at.v), potential })
    }
}

impl Chart for SpinningBallModel {
    fn rate(&self, dq: &[f64], v: &[f64], out: &mut [f64]) {
        out[..3].copy_from_slice(&v[..3]);
        out[3..].copy_from_slice(&Retraction::Exponential.rate(spin(dq), spin(v)));
    }

    fn velocity(&self, dq: &[f64], rate: &[f64], out: &mut [f64]) {
        out[..3].copy_from_slice(&rate[..3]);
        out[3..].copy_from_slice(&Retraction::Exponential.velocity(spin(dq), spin(rate)));
    }

    fn bend(&self, dq: &[f64], v: &[f64], out: &mut [f64]) {
        out[..3].fill(0.0);
        out[3..].copy_from_slice(&Retraction::Exponential.bend(spin(dq), spin(v)));
    }
}

impl Mechanical for SpinningBallModel {
    fn constancy(&self) -> Constancy {
        let [across, along] = self.ball.inertia;
        Constancy { tangents: across == along, rows: self.ball.friction == 0.0, ..Constancy::LINEAR }
    }

    fn force(&mut self, _t: f64, _q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        let [across, along] = self.ball.inertia;
        out.fill(0.0);
        out[2] = -self.ball.mass * self.ball.gravity;
        out[3] = (across - along) * v[4] * v[5];
        out[4] = (along - across) * v[3] * v[5];
        Ok(())
    }

    fn mass_mul(&mut self, _q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        self.operator.mass_mul(v, out);
        Ok(())
    }

    fn factor(&mut self, at: &State, c: Combination) -> Result<(), ModelError> {
        let difference = self.ball.inertia[0] - self.ball.inertia[1];
        // −∂F/∂v of the gyroscopic torque, row by row
        for (row, column, entry) in [(3, 4, at.v[5]), (3, 5, at.v[4]), (4, 3, -at.v[5]), (4, 5, -at.v[3])] {
            self.operator.damping[6 * row + column] = -difference * entry;
        }
        self.operator.factor(c, at.t)
    }
}

fn attitude(q: &[f64]) -> Quaternion {
    [q[3], q[4], q[5], q[6]]
}

fn spin(v: &[f64]) -> [f64; 3] {
    [v[3], v[4], v[5]]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The closed form obeys (1) and (3): derivatives by differences, momentum and energy in flight, the laws at
    /// impacts.
    #[test]
    fn the_motion_solves_the_equations() {
        for ball in [SpinningBall::default(), SpinningBall::rough()] {
            let mut model = ball.model();
            for t in [0.3, 0.9, 1.4, 2.1, 2.7] {
                let (a, b, now) = (ball.state(t - 1e-5, true), ball.state(t + 1e-5, true), ball.state(t, true));
                let (mut rate, mut force, mut momentum) = ([0.0; 6], [0.0; 6], [0.0; 6]);
                model.difference(&a.q, &b.q, &mut rate);
                model.force(t, &now.q, &now.v, &mut force).unwrap();
                let change: Vec<f64> = b.v.iter().zip(&a.v).map(|(b, a)| (b - a) / 2e-5).collect();
                model.mass_mul(&now.q, &change, &mut momentum).unwrap();
                for i in 0..6 {
                    assert!((rate[i] / 2e-5 - now.v[i]).abs() < 1e-9, "{t} {i}: {} {}", rate[i] / 2e-5, now.v[i]);
                    assert!((momentum[i] - force[i]).abs() < 1e-9, "{t} {i}: {} {}", momentum[i], force[i]);
                }
                assert!((now.q[3..].iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-14);
            }
        }
    }

    /// The first impact slips on the cone, the second one sticks: its slip vanishes, and the ball rolls from then on.
    #[test]
    fn impacts_obey_the_laws() {
        let ball = SpinningBall::rough();
        let mut model = ball.model();
        let slip = |model: &mut SpinningBallModel, state: &State| {
            let mut coupling = Coupling::default();
            model.couple(state.t, &state.q, &mut coupling).unwrap();
            [1, 2].map(|row| coupling.rows.dot(row, &state.v))
        };
        let times = ball.jumps(0.0, 3.0, 1e-3);
        let (before, after) = (ball.state(times[0], false), ball.state(times[0], true));
        assert!((after.v[2] + 0.5 * before.v[2]).abs() < 1e-15);
        let impulse = (after.v[0] - before.v[0]).hypot(after.v[1] - before.v[1]);
        assert!((impulse - 0.15 * (after.v[2] - before.v[2])).abs() < 1e-14, "{impulse}");
        let (u, w) = (slip(&mut model, &before), slip(&mut model, &after));
        // along the slip, and less of it
        assert!((u[0] * w[1] - u[1] * w[0]).abs() < 1e-14 && u[0] * w[0] + u[1] * w[1] > 0.0, "{u:?} {w:?}");
        let last = slip(&mut model, &ball.state(times[1], true));
        assert!(last[0].hypot(last[1]) < 1e-14, "{last:?}");
    }

    #[test]
    fn differences_undo_retractions() {
        let model = SpinningBall::default().model();
        let q = model.initial().q;
        for d in [[0.1, 0.2, 0.3, 1.0, -2.0, 0.5], [0.0, 0.0, 0.0, 1e-9, 0.0, -2e-9], [0.0; 6]] {
            let (mut moved, mut back) = ([0.0; 7], [0.0; 6]);
            model.retract(&q, &d, &mut moved);
            model.difference(&q, &moved, &mut back);
            assert!(back.iter().zip(d).all(|(a, b)| (a - b).abs() < 1e-15), "{back:?}");
            // the same attitude with the other sign
            moved[3..].iter_mut().for_each(|x| *x = -*x);
            model.difference(&q, &moved, &mut back);
            assert!(back.iter().zip(d).all(|(a, b)| (a - b).abs() < 1e-15), "{back:?}");
        }
    }
}
