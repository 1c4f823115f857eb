//! The form of a spatial motion in the page: equal parts and bodies once, numbers in the store.

use serde::Serialize;
use serde_json::{Value, json};

use super::{Hinge, Mesh, POSE, Part, Push, Solid, Space, Spot};
use crate::report::store::{Store, Values};

/// Bodies up to which each coordinate is a column of its own; of more bodies, one column holds that of all of them.
const FEW: usize = 64;

/// Name, colour, whether it moves, parts, point of the path.
type BodyData<'a> = (&'a str, Value, bool, Vec<usize>, Option<[f64; 3]>);

/// What the page reads.
#[derive(Serialize)]
pub(in crate::report) struct SpaceData<'a> {
    up: [f64; 3],
    times: usize,
    /// Columns of each body that moves, or seven columns in which bodies follow each other.
    poses: Vec<Vec<usize>>,
    stacked: bool,
    parts: Vec<Value>,
    bodies: Vec<BodyData<'a>>,
    joints: Vec<(&'a str, &'static str, Value, Vec<usize>)>,
    links: Vec<[Value; 2]>,
    /// Columns: time, contact, place, vector.
    impacts: Vec<usize>,
    forces: ForceData,
    note: &'a str,
}

#[derive(Serialize)]
struct ForceData {
    times: usize,
    /// Of each time, where its reactions begin; one more at the end.
    starts: usize,
    /// Columns: contact, place, vector.
    columns: Vec<usize>,
}

impl Space {
    /// What the page draws; numbers go to the store.
    pub(in crate::report) fn data<'a>(&'a self, store: &mut Store) -> SpaceData<'a> {
        let stacked = self.poses.len() > FEW;
        let poses = match stacked {
            false => self.poses.iter().map(|pose| self.columns(pose, store)).collect(),
            true => vec![(0..POSE).map(|k| store.loose(&self.stack(k))).collect()],
        };
        let mut known = Parts { list: Vec::new(), store };
        let bodies = self.bodies.iter().map(|body| {
            let parts = body.parts.iter().map(|part| known.number(part)).collect();
            (body.name.as_str(), json!(body.colour), body.moves, parts, body.trail)
        });
        let bodies = bodies.collect();
        let joints = self.joints.iter().map(|Hinge { name, kind, at, parts }| {
            (name.as_str(), *kind, spot(at), parts.iter().map(|part| known.number(part)).collect())
        });
        let joints = joints.collect();
        let parts = known.list.into_iter().map(|(_, data)| data).collect();
        SpaceData {
            up: self.up,
            times: store.column(&self.times),
            poses,
            stacked,
            parts,
            bodies,
            joints,
            links: self.links.iter().map(|ends| [spot(&ends[0]), spot(&ends[1])]).collect(),
            impacts: self.impacts(store),
            forces: self.forces(store),
            note: &self.note,
        }
    }

    fn columns(&self, pose: &[Values; POSE], store: &mut Store) -> Vec<usize> {
        pose.iter().map(|column| store.curve(&self.times, column, (false, false)).1).collect()
    }

    /// A coordinate of all bodies, body after body.
    fn stack(&self, k: usize) -> Values {
        self.poses.iter().flat_map(|pose| pose[k].iter().copied()).collect()
    }

    fn impacts(&self, store: &mut Store) -> Vec<usize> {
        let times: Values = self.impacts.iter().map(|push| push.t).collect();
        let mut all = vec![store.instants(&times)];
        all.extend(pushes(&self.impacts, store));
        all
    }

    fn forces(&self, store: &mut Store) -> ForceData {
        let times: Values = self.forces.iter().map(|all| all.t).collect();
        let mut starts = vec![0.0];
        for all in &self.forces {
            starts.push(starts[starts.len() - 1] + all.pushes.len() as f64);
        }
        let all: Vec<Push> = self.forces.iter().flat_map(|all| all.pushes.iter().copied()).collect();
        ForceData { times: store.instants(&times), starts: store.loose(&starts.into()), columns: pushes(&all, store) }
    }
}

fn spot(spot: &Spot) -> Value {
    json!([spot.body, spot.at])
}

/// Contact, place and vector as columns.
fn pushes(all: &[Push], store: &mut Store) -> Vec<usize> {
    let number = |k: usize, push: &Push| match k {
        0 => push.contact as f64,
        1..=3 => push.at[k - 1],
        _ => push.vector[k - 4],
    };
    (0..7).map(|k| store.loose(&all.iter().map(|push| number(k, push)).collect::<Values>())).collect()
}

/// Parts by number, equal ones once.
struct Parts<'a, 's> {
    list: Vec<(&'a Part, Value)>,
    store: &'s mut Store,
}

impl<'a> Parts<'a, '_> {
    fn number(&mut self, part: &'a Part) -> usize {
        // bodies of large models are alike: what was there last is tried first
        if let Some(k) = self.list.iter().rposition(|(known, _)| *known == part) {
            return k;
        }
        let mut data = self.solid(&part.solid);
        data["at"] = json!(part.at);
        data["turn"] = json!(part.turn);
        data["colour"] = json!(part.colour);
        self.list.push((part, data));
        self.list.len() - 1
    }

    /// Kind, three lengths that scale the solid of size one, and the length along which it is drawn out.
    fn solid(&mut self, solid: &Solid) -> Value {
        let form = |kind: &str, scale: [f64; 3], out: f64| json!({ "kind": kind, "scale": scale, "out": out });
        match *solid {
            Solid::Sphere { radius } => form("sphere", [radius; 3], 0.0),
            Solid::Block { half } => form("block", half, 0.0),
            Solid::Cylinder { radius, half } => form("cylinder", [radius, radius, half], 0.0),
            Solid::Capsule { radius, half } => form("capsule", [radius; 3], half),
            Solid::Ellipsoid { half } => form("sphere", half, 0.0),
            Solid::Torus { radius, tube } => form("torus", [tube; 3], radius),
            Solid::Plane => form("plane", [1.0; 3], 0.0),
            Solid::Sheet { half: [x, y] } => form("sheet", [x, y, 0.0], 0.0),
            Solid::Bore { radius, half } => form("bore", [radius, radius, half], 0.0),
            Solid::Socket { radius } => form("socket", [radius; 3], 0.0),
            Solid::Slot { radius, half, depth } => form("slot", [radius, radius, depth], half),
            Solid::Mesh(ref mesh) => {
                let mut data = form("mesh", [1.0; 3], 0.0);
                data["points"] = json!(self.mesh(mesh));
                data
            }
        }
    }

    /// Columns of the corners and of the triangles.
    fn mesh(&mut self, mesh: &Mesh) -> Vec<usize> {
        let point = |k: usize| mesh.points.iter().map(|point| point[k]).collect::<Values>();
        let corner = |k: usize| mesh.triangles.iter().map(|triangle| f64::from(triangle[k])).collect::<Values>();
        let columns = (0..3).map(point).chain((0..3).map(corner)).collect::<Vec<_>>();
        columns.iter().map(|column| self.store.loose(column)).collect()
    }
}
