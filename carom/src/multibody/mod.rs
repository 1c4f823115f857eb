//! Rigid bodies with joints, play and contacts, in the plane and in space.
//!
//! ```text
//!     m ẍ = f,  J Ω̇ = −Ω × JΩ + Rᵀ τ,  ṗ = p ⊗ (0, Ω)/2              x and f in axes of the space, Ω of the body  (1)
//!     q = (x, p) per body, v = (ẋ, Ω)       in the plane q = (x, y, angle), v = q̇                                 (2)
//!     y of a joint, stop or contact: u = ẏ = Σ_bodies f · ẋ + m · ω     rows (f, Rᵀ m), or (f_x, f_y, m_z)         (3)
//! ```
//!
//! A [`Multibody`] is a description: bodies, joints, contacts, springs, motors and loads by name.
//! [`build`](Multibody::build) makes the model of it. Joints ([`joint`]) and pairs of shapes ([`pair`]) are written
//! once, over frames in space and over any scalar; planar bodies have frames that stay in the plane. What a joint
//! allows are its coordinates, on which stops, springs, friction and motors act.
//!
//! ```
//! use carom::multibody::{Body, Joint, Multibody};
//! use carom::{Span, scheme::MoreauJean, simulate};
//!
//! // a rod of 1 m and 1 kg that swings about one end
//! let pendulum = Multibody::planar()
//!     .gravity([0.0, -9.81])
//!     .body(Body::new("rod", 1.0, 1.0 / 12.0).at([0.5, 0.0]))
//!     .joint(Joint::revolute("hinge", "ground", "rod").at([0.0, 0.0]))
//!     .build()?;
//! let solution = simulate(pendulum, MoreauJean::default(), Span { end: 0.5, step: 1e-3 })?;
//! assert!(solution.q(solution.len() - 1)[1] < 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bend;
pub mod body;
mod build;
pub mod contact;
pub mod coordinate;
mod couple;
pub mod error;
mod force;
pub mod frame;
pub mod function;
pub mod joint;
pub mod line;
pub mod load;
pub mod mass;
pub mod material;
pub mod mesh;
pub mod model;
mod motion;
pub mod motor;
mod near;
mod operator;
pub mod pair;
mod plan;
pub mod primitive;
pub mod sleep;
pub mod solid;
pub mod spring;
pub mod tangent;
pub mod vector;

pub use body::{Body, Inertia};
pub use build::Multibody;
pub use contact::Contact;
pub use coordinate::JointCoordinate;
pub use error::MultibodyError;
pub use frame::Frame;
pub use function::Function;
pub use joint::{Clearance, Joint, Stops};
pub use line::Line;
pub use load::{Axes, Load, Signal};
pub use mass::Mass;
pub use material::{Combine, Material, Materials};
pub use mesh::{Mesh, MeshError};
pub use model::MultibodyModel;
pub use model::coordinates::ModelPlay;
pub use motor::{Drive, Motor};
pub use pair::{AnyPair, Touch};
pub use sleep::Sleep;
pub use solid::Solid;
pub use spring::{Spring, SpringEnds};
pub use tangent::MultibodyTangent;
pub use vector::{Vector, Xyz};

/// The body that does not move, in lists of names.
pub const GROUND: &str = "ground";
