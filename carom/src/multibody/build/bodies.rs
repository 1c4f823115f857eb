//! Bodies of a description.

use super::{Drawn, Multibody};
use crate::State;
use crate::multibody::near::Solids;
use crate::multibody::plan::{Inertial, Plan};
use crate::multibody::{Body, GROUND, MultibodyError};
use nalgebra::Matrix3;
use std::collections::HashSet;

/// The plan with its bodies, and where they are drawn.
pub(super) fn place(description: &Multibody) -> Result<(Plan, Drawn), MultibodyError> {
    let is_planar = description.is_planar;
    let mut drawn = State::default();
    let mut bodies = Vec::new();
    let mut names = vec![GROUND.to_string()];
    if description.gravity.iter().any(|g| !g.is_finite()) || is_planar && description.gravity[2] != 0.0 {
        let value = description.gravity.into_iter().find(|g| !g.is_finite()).unwrap_or(description.gravity[2]);
        return Err(MultibodyError::Number {
            what: "system",
            name: "gravity".into(),
            quantity: "the gravity",
            value,
            range: "it must be finite, and in the plane of planar bodies",
        });
    }
    let mut known = HashSet::from([GROUND]);
    for body in &description.bodies {
        if !known.insert(&body.name) {
            return Err(MultibodyError::Duplicate { what: "bodies", name: body.name.clone() });
        }
        names.push(body.name.clone());
        bodies.push(inertial(body, is_planar)?);
        check_motion(body, is_planar)?;
        if is_planar {
            drawn.q.extend([body.position[0], body.position[1], body.angle]);
            drawn.v.extend([body.velocity[0], body.velocity[1], body.spin[2]]);
        } else {
            drawn.q.extend(body.position.iter().chain(&body.attitude));
            drawn.v.extend(body.velocity.iter().chain(&body.spin));
        }
    }
    let plan = Plan {
        is_planar,
        retraction: description.retraction,
        gravity: description.gravity,
        names,
        joints: Vec::new(),
        bodies,
        rows: Vec::new(),
        aligned: Vec::new(),
        coordinates: Vec::new(),
        of_joint: Vec::new(),
        counted: Vec::new(),
        springs: Vec::new(),
        loads: Vec::new(),
        motors: Vec::new(),
        contacts: Vec::new(),
        plays: Vec::new(),
        items: Vec::new(),
        bearings: Vec::new(),
        drives: Vec::new(),
        length: description.length,
        solids: Solids::default(),
    };
    Ok((plan, drawn))
}

fn inertial(body: &Body, is_planar: bool) -> Result<Inertial, MultibodyError> {
    let name = || body.name.clone();
    if !(body.mass > 0.0 && body.mass.is_finite()) {
        let (quantity, range) = ("the mass", "it must be positive");
        return Err(MultibodyError::Number { what: "body", name: name(), quantity, value: body.mass, range });
    }
    let j = body.inertia.0;
    let refuse = |reason| Err(MultibodyError::Inertia { name: name(), reason });
    if is_planar {
        if !(j[2][2] > 0.0 && j[2][2].is_finite()) {
            return refuse("not positive");
        }
        return Ok(Inertial { mass: body.mass, inertia: j, is_isotropic: true });
    }
    let largest = j.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
    let matrix = Matrix3::from_fn(|i, k| j[i][k]);
    if !largest.is_finite() || !matrix.iter().all(|x| x.is_finite()) {
        return refuse("not finite");
    }
    if (matrix - matrix.transpose()).abs().max() > 1e-12 * largest {
        return refuse("not symmetric");
    }
    let least = matrix.symmetric_eigenvalues().min();
    if least <= 1e-14 * largest {
        return refuse("not positive definite");
    }
    let is_isotropic = (0..3).all(|i| (0..3).all(|k| if i == k { j[i][i] == j[0][0] } else { j[i][k] == 0.0 }));
    Ok(Inertial { mass: body.mass, inertia: j, is_isotropic })
}

fn check_motion(body: &Body, is_planar: bool) -> Result<(), MultibodyError> {
    let vectors = [("the position", body.position), ("the velocity", body.velocity), ("the spin", body.spin)];
    let number = |quantity, value, range| {
        Err(MultibodyError::Number { what: "body", name: body.name.clone(), quantity, value, range })
    };
    for (quantity, vector) in vectors {
        if let Some(value) = vector.into_iter().find(|x| !x.is_finite()) {
            return number(quantity, value, "it must be finite");
        }
        let across = if quantity == "the spin" { vector[0].abs().max(vector[1].abs()) } else { vector[2].abs() };
        if is_planar && across != 0.0 {
            return number(quantity, across, "a planar body stays in the plane");
        }
    }
    let attitude = body.attitude.into_iter().chain([body.angle]).find(|x| !x.is_finite());
    if let Some(value) = attitude {
        return number("the attitude", value, "it must be finite, and an axis must have a length");
    }
    if is_planar && body.attitude[1..] != [0.0; 3] {
        return number("the attitude", body.attitude[1], "a planar body has an angle");
    }
    Ok(())
}

/// The number of a body that an item refers to.
pub(super) fn find(plan: &Plan, name: &str, what: &'static str, by: &str) -> Result<usize, MultibodyError> {
    plan.names.iter().position(|body| body == name).ok_or_else(|| MultibodyError::Unknown {
        what,
        name: by.into(),
        referred: "body",
        missing: name.into(),
    })
}
