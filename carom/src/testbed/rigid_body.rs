//! A rigid body that turns about a fixed point: four coordinates, the attitude as a unit quaternion, and three
//! velocities [goldstein2002].
//!
//! ```text
//!     J Ω̇ = −Ω × JΩ − w e₃ × Rᵀe_z,   ṗ = p ⊗ (0, Ω)/2,   J = diag(J₁, J₂, J₃),   Ω in axes of the body          (1)
//!     w = 0: energy Ω·JΩ/2 and momentum R J Ω are constant; w = m g l: a heavy top with w e_z·R e₃ in its energy  (2)
//! ```
//!
//! It is the problem by which orders in attitudes are measured: Ω does not keep its axis.

use crate::model::{Chart, Combination, Constancy, DenseOperator, Energy, Labels, Mechanical, ModelError, Space};
use crate::rotation::{IDENTITY, Quaternion, Retraction, Vector, cross, rotate, rotate_back};
use crate::{Coupling, State};
use carom_solve::LinearSolve;
use carom_solve::elementary::sin_cos;

/// A free body, or a heavy top in the reduced equation of its rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidBody {
    /// Principal moments of inertia about the fixed point, positive [kg m²].
    pub inertia: Vector,
    /// Weight times distance of the mass centre along e₃ [N m]; zero for a free body.
    pub weight: f64,
    /// Attitude at t = 0.
    pub attitude: Quaternion,
    /// Angular velocity at t = 0 in axes of the body [rad/s].
    pub spin: Vector,
    /// What makes an attitude of an increment.
    pub retraction: Retraction,
}

impl Default for RigidBody {
    /// Free and without symmetry.
    fn default() -> Self {
        RigidBody {
            inertia: [1.0, 2.0, 3.0],
            weight: 0.0,
            attitude: IDENTITY,
            spin: [0.3, 1.5, -0.7],
            retraction: Retraction::Exponential,
        }
    }
}

impl RigidBody {
    /// A heavy symmetric top, tilted by 30 degrees about x.
    pub fn top(spin: Vector) -> RigidBody {
        let (sin, cos) = sin_cos(std::f64::consts::PI / 12.0);
        let attitude = [cos, sin, 0.0, 0.0];
        RigidBody { inertia: [0.5, 0.5, 0.3], weight: 2.0, attitude, spin, ..RigidBody::default() }
    }

    /// The same with another retraction.
    pub fn with(self, retraction: Retraction) -> RigidBody {
        RigidBody { retraction, ..self }
    }

    /// The problem as a model, to be simulated.
    pub fn model(&self) -> RigidBodyModel {
        let mut operator = DenseOperator::new(3);
        self.inertia.iter().enumerate().for_each(|(i, j)| operator.mass[4 * i] = *j);
        RigidBodyModel { body: *self, operator }
    }

    /// JΩ, in axes of the body [N m s].
    fn momentum(&self, [x, y, z]: Vector) -> Vector {
        let [a, b, c] = self.inertia;
        [a * x, b * y, c * z]
    }

    /// R J Ω, in axes of the space [N m s].
    pub fn angular_momentum(&self, state: &State) -> Vector {
        rotate(attitude(&state.q), self.momentum(vector(&state.v)))
    }
}

/// A [`RigidBody`] as a model.
pub struct RigidBodyModel {
    body: RigidBody,
    operator: DenseOperator,
}

fn attitude(q: &[f64]) -> Quaternion {
    [q[0], q[1], q[2], q[3]]
}

fn vector(v: &[f64]) -> Vector {
    [v[0], v[1], v[2]]
}

/// The direction upwards in axes of the body.
fn upwards(q: &[f64]) -> Vector {
    rotate_back(attitude(q), [0.0, 0.0, 1.0])
}

impl LinearSolve for RigidBodyModel {
    fn dim(&self) -> usize {
        3
    }
    fn solve(&self, rhs: &mut [f64]) {
        self.operator.solve(rhs);
    }
}

impl Space for RigidBodyModel {
    fn initial(&self) -> State {
        State::new(0.0, &self.body.attitude, &self.body.spin)
    }

    fn positions(&self) -> usize {
        4
    }

    fn couple(&mut self, _t: f64, _q: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        out.clear(3);
        Ok(())
    }

    fn retract(&self, q: &[f64], dq: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.body.retraction.retract(attitude(q), vector(dq)));
    }

    fn difference(&self, a: &[f64], b: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.body.retraction.difference(attitude(a), attitude(b)));
    }

    fn chart(&self) -> Option<&dyn Chart> {
        Some(self)
    }

    fn labels(&self) -> Labels {
        Labels {
            coordinates: ["e0", "e1", "e2", "e3"].map(String::from).to_vec(),
            contacts: Vec::new(),
            ..Labels::default()
        }
    }

    fn energy(&mut self, at: &State) -> Option<Energy> {
        Some(Energy { kinetic: self.operator.kinetic(&at.v), potential: self.body.weight * upwards(&at.q)[2] })
    }
}

impl Chart for RigidBodyModel {
    fn rate(&self, dq: &[f64], v: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.body.retraction.rate(vector(dq), vector(v)));
    }

    fn velocity(&self, dq: &[f64], rate: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.body.retraction.velocity(vector(dq), vector(rate)));
    }

    fn bend(&self, dq: &[f64], v: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.body.retraction.bend(vector(dq), vector(v)));
    }
}

impl Mechanical for RigidBodyModel {
    fn constancy(&self) -> Constancy {
        Constancy { tangents: false, ..Constancy::LINEAR }
    }

    fn force(&mut self, _t: f64, q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        let gyroscopic = cross(self.body.momentum(vector(v)), vector(v));
        let [x, y, _] = upwards(q).map(|u| self.body.weight * u);
        out.copy_from_slice(&[gyroscopic[0] + y, gyroscopic[1] - x, gyroscopic[2]]);
        Ok(())
    }

    fn mass_mul(&mut self, _q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        out.copy_from_slice(&self.body.momentum(vector(v)));
        Ok(())
    }

    fn factor(&mut self, at: &State, c: Combination) -> Result<(), ModelError> {
        let (spin, up) = (vector(&at.v), upwards(&at.q));
        for j in 0..3 {
            let unit: Vector = std::array::from_fn(|i| f64::from(u8::from(i == j)));
            let turned = cross(self.body.momentum(unit), spin);
            let moved = cross(self.body.momentum(spin), unit);
            // e_z in axes of the body turns the other way
            let lean = cross(up, unit).map(|x| self.body.weight * x);
            let tilted = [lean[1], -lean[0], 0.0];
            for i in 0..3 {
                self.operator.damping[3 * i + j] = -(turned[i] + moved[i]);
                self.operator.stiffness[3 * i + j] = -tilted[i];
            }
        }
        self.operator.factor(c, at.t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rotation::dot;

    /// Damping and stiffness of the iteration matrix are derivatives of the force, along retractions.
    #[test]
    fn matrices_are_derivatives() {
        for body in [RigidBody::default(), RigidBody::top([1.0, -0.4, 5.0])] {
            let mut model = body.model();
            let at = model.initial();
            model.factor(&at, Combination::MASS).unwrap();
            let (damping, stiffness) = (model.operator.damping.clone(), model.operator.stiffness.clone());
            for j in 0..3 {
                let change = |velocities: bool, model: &mut RigidBodyModel, d: f64| {
                    let (mut near, mut force, mut way) = (at.clone(), [0.0; 3], [0.0; 3]);
                    way[j] = d;
                    if velocities {
                        near.v[j] += d
                    } else {
                        model.retract(&at.q, &way, &mut near.q)
                    }
                    model.force(0.0, &near.q, &near.v, &mut force).unwrap();
                    force
                };
                for (velocities, matrix) in [(true, &damping), (false, &stiffness)] {
                    let (a, b) = (change(velocities, &mut model, -1e-5), change(velocities, &mut model, 1e-5));
                    for i in 0..3 {
                        let expected = -(b[i] - a[i]) / 2e-5;
                        assert!((matrix[3 * i + j] - expected).abs() < 1e-8, "{velocities} {i} {j}");
                    }
                }
            }
        }
    }

    /// Power of the torque, against the change of the potential along the motion.
    #[test]
    fn the_weight_has_its_potential() {
        let body = RigidBody::top([1.0, -0.4, 5.0]);
        let mut model = body.model();
        let at = model.initial();
        let mut force = [0.0; 3];
        model.force(0.0, &at.q, &at.v, &mut force).unwrap();
        let mut height = |d: f64| {
            let mut near = at.clone();
            model.retract(&at.q, &body.spin.map(|x| d * x), &mut near.q);
            model.energy(&near).unwrap().potential
        };
        let rate = (height(1e-5) - height(-1e-5)) / 2e-5;
        assert!((dot(force, body.spin) + rate).abs() < 1e-8, "{rate}");
    }
}
