//! The tables of a model of bodies, as they are written.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use toml::de::DeValue;

use crate::diagnostic::Place;
use crate::file::{Formula, Item, OneOrMore, Read, Reader, Text, Words, table};

table! {
    /// Rigid bodies with joints, springs, motors and contacts.
    pub struct MultibodyTable {
        /// "multibody"
        pub kind: Text,
        /// 2: bodies in the plane, at (x, y, angle). 3: bodies in space, at (x, y, z) with a unit quaternion; the
        /// default.
        pub dimension: Option<Formula>,
        /// Acceleration of gravity by components; none by default [m/s²].
        pub gravity: Option<OneOrMore>,
        /// How attitudes in space are moved: "exponential" (the default) or "cayley".
        pub retraction: Option<Text>,
        /// A length that is typical of the model, positive; tolerances of gaps are parts of it. By default the size of
        /// what is drawn: the largest distance of bodies and their shapes from the origin [m].
        pub length: Option<Formula>,
    }
}

table! {
    /// A rigid body. The name "ground" stands for what does not move: it has shapes and nothing else.
    pub struct BodyTable {
        /// Name: letters, digits, `_` and `-`. With `for` it may have expressions in braces: "rod{i}".
        pub name: Text,
        /// Repeats the table: for = { i = "1..n" } makes one body for each whole number i from 1 to n.
        pub repeat as "for": Option<Words>,
        /// Positive; without `mass` and `inertia` both come from shapes with a density [kg].
        pub mass: Option<Formula>,
        /// About the mass centre in axes of the body: three principal values or a 3x3 matrix; in the plane one number
        /// [kg m²].
        pub inertia: Option<Tensor>,
        /// Of the mass centre; where the mass comes from shapes, of the point that shapes and points of the body are
        /// counted from. The origin by default [m].
        pub position: Option<OneOrMore>,
        /// In space: how the axes of the body stand; those of the space by default.
        pub attitude: Option<AttitudeTable>,
        /// In the plane: the angle of the body [rad].
        pub angle: Option<Formula>,
        /// Of the mass centre; zero by default [m/s].
        pub velocity: Option<OneOrMore>,
        /// Angular velocity in axes of the body, or a number in the plane; zero by default [rad/s].
        pub spin: Option<OneOrMore>,
        /// Instead of `spin`: the angular velocity in axes of the space [rad/s].
        pub spin_world: Option<OneOrMore>,
        /// Shapes, for contacts and for drawings.
        pub shape: Option<Vec<BodyShapeTable>>,
    }
}

table! {
    /// How the axes of a body stand: `axis` and `angle`, or `quaternion`, or `rpy`.
    pub struct AttitudeTable {
        /// Axis of a rotation, of any length.
        pub axis: Option<OneOrMore>,
        /// Angle about the axis [rad].
        pub angle: Option<Formula>,
        /// w, x, y, z; it is scaled to length 1.
        pub quaternion: Option<OneOrMore>,
        /// Roll, pitch and yaw: the rotation is Rz(yaw) Ry(pitch) Rx(roll) [rad].
        pub rpy: Option<OneOrMore>,
    }
}

table! {
    /// A shape of a body, in axes of the body from its mass centre.
    pub struct BodyShapeTable {
        /// "sphere", "disc", "box", "cylinder", "capsule", "ellipsoid", "torus", "convex", "mesh", "plane",
        /// "segment", "polygon", "hole", "socket", "slot", "ring", "curve" or "point".
        pub kind: Text,
        /// Name, for contacts: "body/shape".
        pub name: Option<Text>,
        /// Centre of a sphere, disc, box, cylinder, ellipsoid, torus, hole, socket, slot or ring, place of a point, of
        /// the origin of a mesh, or a point of a plane; the mass centre by default [m].
        pub at: Option<OneOrMore>,
        /// Radius of a sphere, disc, cylinder, capsule, hole, socket, slot or ring, or of the middle circle of a torus
        /// [m].
        pub radius: Option<Formula>,
        /// Radius of the section of a torus, less than `radius` [m].
        pub tube: Option<Formula>,
        /// Edges of a box, or lengths of the three axes of an ellipsoid [m].
        pub size: Option<OneOrMore>,
        /// Turns a box by this angle, in the plane [rad].
        pub angle: Option<Formula>,
        /// How the axes of a box, an ellipsoid or a mesh stand in those of the body, in space.
        pub attitude: Option<AttitudeTable>,
        /// Ends of a segment, a capsule, a slot or the axis of a cylinder [m].
        pub ends: Option<Vec<OneOrMore>>,
        /// Axis of a disc, torus, hole or ring in space; the z axis by default.
        pub axis: Option<OneOrMore>,
        /// Outward normal of a plane.
        pub normal: Option<OneOrMore>,
        /// Corners of a polygon one after the other, points of a curve, or points of space whose convex hull is the
        /// "convex" shape [m].
        pub points: Option<Vec<OneOrMore>>,
        /// Of a mesh: an .stl, .obj, .gltf or .glb file, relative to the model file. It is drawn as it is, and touches
        /// by its convex hull or by `parts`.
        pub file: Option<Text>,
        /// Of a mesh: one factor of its coordinates, or one along each axis; 1 by default [m].
        pub scale: Option<OneOrMore>,
        /// Of a mesh: files of convex parts, with the same scale and place, that touch instead of its hull.
        pub parts: Option<Vec<Text>>,
        /// "body" (the default), or "world": at, ends, axis, normal and points are as drawn, in axes of the space at
        /// the initial position.
        pub frame: Option<Text>,
        /// Colour of the line, as in "#334455".
        pub color: Option<Text>,
        /// Colour of the inside.
        pub fill: Option<Text>,
        /// Whether the path of its centre is drawn.
        pub trace: Option<bool>,
        /// With [contacts]: what it is made of, a [[material]].
        pub material: Option<Text>,
        /// With [contacts]: a group, by which contacts are left out.
        pub group: Option<Text>,
        /// With [contacts]: false for a shape that touches nothing by itself.
        pub contact: Option<bool>,
        /// Of a body without `mass` and `inertia`: mass per volume, or per area in the plane [kg/m³, kg/m²].
        pub density: Option<Formula>,
    }
}

table! {
    /// Shapes of different bodies touch by themselves, those of kind sphere, disc, box, cylinder, capsule, ellipsoid,
    /// torus, convex, mesh and plane, and convex polygons in the plane. Bodies that a joint connects do not, and shapes
    /// with a [[contact]] of their own have that one.
    pub struct ContactsTable {
        /// The [[material]] of shapes that name none.
        pub material: Option<Text>,
        /// How the coefficients of two materials make those of their contact, where no [[material_pair]] tells them:
        /// "minimum", "maximum", "mean", "geometric-mean" or "product". Without it bodies of one material have its
        /// coefficients, and two materials need a [[material_pair]].
        pub combine: Option<Text>,
        /// What does not touch by itself: pairs of bodies, of shapes as "body/shape" or of groups.
        pub exclude: Option<Vec<Vec<Text>>>,
        /// Whether bodies that a joint connects touch as well; false by default.
        pub joined: Option<bool>,
        /// When bodies at rest fall asleep; without it they stay awake.
        pub sleep: Option<SleepTable>,
    }
}

table! {
    /// When bodies at rest fall asleep.
    pub struct SleepTable {
        /// Up to this speed of all its points a body is slow [m/s].
        pub speed: Formula,
        /// The time for which all bodies that touch each other are slow before they fall asleep [s].
        pub after: Formula,
    }
}

table! {
    /// A material: coefficients of contacts between two bodies of it.
    pub struct MaterialTable {
        /// Name.
        pub name: Text,
        /// Newton's coefficient of restitution, in [0, 1]; 0 by default.
        pub restitution: Option<Formula>,
        /// Coefficient of restitution along the tangents, in [0, 1]; needs `friction`; 0 by default.
        pub tangential: Option<Formula>,
        /// Coulomb's coefficient of friction; 0 by default.
        pub friction: Option<Formula>,
        /// Coefficient of rolling friction, the largest moment per normal force; needs `friction` [m].
        pub rolling: Option<Formula>,
        /// Coefficient of spinning friction about the normal, in space; needs `friction` [m].
        pub spinning: Option<Formula>,
        /// Mass per volume, or per area in the plane, of shapes whose bodies have no `mass` [kg/m³, kg/m²].
        pub density: Option<Formula>,
    }
}

table! {
    /// Coefficients of contacts between two materials, instead of those that `combine` would make.
    pub struct MaterialPairTable {
        /// The two materials, which may be the same one.
        pub materials: Vec<Text>,
        /// Newton's coefficient of restitution, in [0, 1]; 0 by default.
        pub restitution: Option<Formula>,
        /// Coefficient of restitution along the tangents, in [0, 1]; needs `friction`; 0 by default.
        pub tangential: Option<Formula>,
        /// Coulomb's coefficient of friction; 0 by default.
        pub friction: Option<Formula>,
        /// Coefficient of rolling friction, the largest moment per normal force; needs `friction` [m].
        pub rolling: Option<Formula>,
        /// Coefficient of spinning friction about the normal, in space; needs `friction` [m].
        pub spinning: Option<Formula>,
    }
}

table! {
    /// A joint between two bodies.
    pub struct JointTable {
        /// Name: letters, digits, `_` and `-`. Its coordinates in expressions are `NAME.angle`, `NAME.shift`, ...
        pub name: Text,
        /// Repeats the table, as in [[body]].
        pub repeat as "for": Option<Words>,
        /// "fixed", "spherical", "revolute", "cylindrical", "prismatic", "planar", "universal", "distance", "screw" or
        /// "chain"; "gear", "rack" or "coupler" between two joints.
        pub kind: Text,
        /// The two bodies; "ground" is predefined.
        pub bodies: Option<Vec<Text>>,
        /// Where it is, in axes of the space at the initial position; or give `at_a` and `at_b` [m].
        pub at: Option<OneOrMore>,
        /// Its point on the first body, in axes of that body from its mass centre [m].
        pub at_a: Option<OneOrMore>,
        /// Its point on the second body, in axes of that body from its mass centre [m].
        pub at_b: Option<OneOrMore>,
        /// Of a distance joint: its points on both bodies, in axes of the space at the initial position [m].
        pub ends: Option<Vec<OneOrMore>>,
        /// Its axis in axes of the space at the initial position, of any length; of a planar joint the normal.
        pub axis: Option<OneOrMore>,
        /// Its axis in axes of the first body; with `axis_b` instead of `axis`.
        pub axis_a: Option<OneOrMore>,
        /// Its axis in axes of the second body.
        pub axis_b: Option<OneOrMore>,
        /// Of a universal joint: the axis of the second body, perpendicular to `axis` at the initial position.
        pub second_axis: Option<OneOrMore>,
        /// Length of a distance joint; by default that at the initial position [m].
        pub distance: Option<Formula>,
        /// Way along the axis for each turn of a screw [m].
        pub lead: Option<Formula>,
        /// Of "gear", "rack" and "coupler": the joints whose coordinates are coupled.
        pub joints: Option<Vec<Text>>,
        /// Of a gear: angle of the second joint for each radian of the first, negative where wheels meet from outside.
        pub ratio: Option<Formula>,
        /// Of a rack: way of the second joint for each radian of the first [m].
        pub radius: Option<Formula>,
        /// Of a coupler: a factor for each joint; the sum of factor times coordinate keeps its value.
        pub factors: Option<OneOrMore>,
        /// Of a chain: turns and ways, the one at the first body first.
        pub link: Option<Vec<LinkTable>>,
        /// Play in the joint, for revolute, cylindrical, prismatic and spherical joints.
        pub clearance: Option<ClearanceTable>,
        /// Smallest and largest joint coordinate.
        pub stops: Option<StopsTable>,
        /// Largest torque or force of dry friction along the joint coordinate [N m, N].
        pub friction: Option<Formula>,
        /// Friction that follows the load, of revolute and prismatic joints; adds to `friction`.
        pub bearing: Option<BearingTable>,
    }
}

table! {
    /// A link of a chain: it turns about an axis or slides along one. The i-th one has the coordinate `angleI` or
    /// `alongI`.
    pub struct LinkTable {
        /// The axis about which it turns, in axes of the space at the initial position, of any length.
        pub turn: Option<OneOrMore>,
        /// The axis along which it slides, likewise.
        pub slide: Option<OneOrMore>,
        /// A point of the axis of a turn, in axes of the space at the initial position [m].
        pub at: Option<OneOrMore>,
        /// Smallest and largest coordinate.
        pub stops: Option<StopsTable>,
        /// Largest torque or force of dry friction along the coordinate [N m, N].
        pub friction: Option<Formula>,
    }
}

table! {
    /// Friction of a joint by its load: at most friction * radius * the force that the joint carries as a torque about
    /// its axis, or friction * that force along a prismatic joint.
    pub struct BearingTable {
        /// Coulomb's coefficient of friction.
        pub friction: Option<Formula>,
        /// Radius at which a revolute joint rubs [m].
        pub radius: Option<Formula>,
    }
}

table! {
    /// Play in a joint: its radial rows become contacts of a pin in a hole.
    pub struct ClearanceTable {
        /// Radius of the hole less that of the pin, or of the socket less that of the ball [m].
        pub radial: Option<Formula>,
        /// Radius of the hole, or of the socket [m].
        pub radius: Option<Formula>,
        /// Length of the bearing in space, or of the slider of a prismatic joint; 0 for a hole without length [m].
        pub length: Option<Formula>,
        /// Of a bearing with a length: "sphere" (the default) takes the rims of the pin as spheres, "exact" as circles.
        pub rim: Option<Text>,
        /// Of a prismatic joint in space: "round" (the default), or "square".
        pub section: Option<Text>,
        /// Play along the axis of a bearing with a length; 0 by default, where nothing moves along it [m].
        pub axial: Option<Formula>,
        /// Newton's coefficient of restitution, in [0, 1]; 0 by default.
        pub restitution: Option<Formula>,
        /// Coulomb's coefficient of friction; 0 by default.
        pub friction: Option<Formula>,
    }
}

table! {
    /// Stops of a joint coordinate.
    pub struct StopsTable {
        /// Smallest value.
        pub lower: Option<Formula>,
        /// Largest value.
        pub upper: Option<Formula>,
        /// Newton's coefficient of restitution, in [0, 1]; 0 by default.
        pub restitution: Option<Formula>,
    }
}

table! {
    /// A spring with a damper. Between two points it pulls them together with preload + stiffness*(length - rest) +
    /// damping*rate. On a joint coordinate or an angle it acts along the coordinate, with preload - stiffness*(value -
    /// rest) - damping*rate on the second body and the opposite on the first one.
    pub struct SpringTable {
        /// Name in messages.
        pub name: Option<Text>,
        /// Repeats the table, as in [[body]].
        pub repeat as "for": Option<Words>,
        /// "linear", along the line between two points, or "torsion", about the angle between two planar bodies or of a
        /// joint.
        pub kind: Text,
        /// The two bodies; or give `joint`.
        pub between: Option<Vec<Text>>,
        /// Acts along the coordinate of this joint.
        pub joint: Option<Text>,
        /// Of a linear spring: its point on the first body, in axes of the body [m].
        pub at_a: Option<OneOrMore>,
        /// Its point on the second body, in axes of the body [m].
        pub at_b: Option<OneOrMore>,
        /// Both points, in axes of the space at the initial position [m].
        pub ends: Option<Vec<OneOrMore>>,
        /// [N/m], [N m/rad]
        pub stiffness: Option<Formula>,
        /// [N s/m], [N m s/rad]
        pub damping: Option<Formula>,
        /// What acts where the value is `rest`; 0 by default [N], [N m].
        pub preload: Option<Formula>,
        /// Axis of a torsion spring between bodies in space, in axes of the space at the initial position.
        pub axis: Option<OneOrMore>,
        /// Length at which the preload acts, by default that at the initial position; or angle or coordinate, 0 by
        /// default [m], [rad].
        pub rest: Option<Formula>,
    }
}

table! {
    /// A force and a torque on a body, of t, joint coordinates, positions and velocities of bodies.
    pub struct LoadTable {
        /// Name in messages.
        pub name: Option<Text>,
        /// Repeats the table, as in [[body]].
        pub repeat as "for": Option<Words>,
        /// The body.
        pub body: Text,
        /// By components [N].
        pub force: Option<OneOrMore>,
        /// By components; one number in the plane [N m].
        pub torque: Option<OneOrMore>,
        /// Where the force acts, in axes of the body; the mass centre by default [m].
        pub at: Option<OneOrMore>,
        /// "world" (the default) or "body": the axes of force and torque.
        pub frame: Option<Text>,
    }
}

table! {
    /// Drives a joint: a coordinate or a rate that is prescribed, or a torque or force.
    pub struct MotorTable {
        /// Name in results.
        pub name: Option<Text>,
        /// Repeats the table, as in [[body]].
        pub repeat as "for": Option<Words>,
        /// The joint.
        pub joint: Text,
        /// The joint coordinate, of t [rad, m].
        pub position: Option<Formula>,
        /// Its rate, of t [rad/s, m/s].
        pub velocity: Option<Formula>,
        /// Torque, or force of joints that shift, of t, joint coordinates, positions and velocities [N m, N].
        pub torque: Option<Formula>,
    }
}

table! {
    /// Closes the joints of a drawn mechanism before the run: positions and velocities are moved as little as possible.
    pub struct AssembleTable {
        /// Largest violation of a joint that is left; 1e-12 by default [m].
        pub tolerance: Option<Formula>,
    }
}

/// Moments of inertia: a number, a list of principal values, or a matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Formulas by rows; a number or a list is one row.
    pub rows: Vec<Vec<Formula>>,
    /// Whether it was written as a list of lists.
    pub is_matrix: bool,
    /// Where it stands.
    pub place: Place,
}

impl Read for Tensor {
    fn read(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let place = reader.place(item.span());
        let inner = match item.get_ref() {
            DeValue::Array(array) => array.iter().any(|item| matches!(item.get_ref(), DeValue::Array(_))),
            _ => false,
        };
        if !inner {
            return Some(Tensor { rows: vec![OneOrMore::read(item, reader)?.items], is_matrix: false, place });
        }
        let DeValue::Array(array) = item.get_ref() else { return None };
        let rows: Option<Vec<Vec<Formula>>> =
            array.iter().map(|row| OneOrMore::read(row, reader).map(|row| row.items)).collect();
        Some(Tensor { rows: rows?, is_matrix: true, place })
    }
}

impl JsonSchema for Tensor {
    fn schema_name() -> Cow<'static, str> {
        "Tensor".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["number", "string", "array"],
            "items": {
                "type": ["number", "string", "array"],
                "items": { "type": ["number", "string"] }
            }
        })
    }
}
