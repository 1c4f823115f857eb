//! A spatial motion as a glTF 2.0 file (.glb): solids as meshes, bodies as nodes, their motion as an animation.
//!
//! - Keys are the rows of the poses, linear for places and along the shortest arc for turns. Times are those since the
//!   first row, in single precision: of rows that fall on the same number the last one stays. Rows at impacts are keys.
//! - glTF has y upwards: a node above all others turns the model. Lengths are metres.
//! - Joints, springs and arrows are not written.

mod buffer;
mod colour;
mod solid;

use crate::report::{Part, Solid, Space, SpaceBody, turn_to};
use buffer::Buffer;
use serde_json::{Value, json};
use std::io;

const MAGIC: u32 = 0x4654_6c67;
const JSON: u32 = 0x4e4f_534a;
const BIN: u32 = 0x004e_4942;

/// Writes the motion under a name. Nothing is written where it does not fit together ([`crate::report::ReportError`]),
/// or where it is larger than the four gigabytes that the format allows.
pub fn write(name: &str, space: &Space, mut out: impl io::Write) -> io::Result<()> {
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
    space.check().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let (json, binary) = Document::new(space).finish(name, space);
    let mut text = serde_json::to_vec(&json).map_err(io::Error::other)?;
    text.resize(text.len().next_multiple_of(4), b' ');
    let whole = 12 + 8 + text.len() + 8 + binary.len();
    let whole = u32::try_from(whole).map_err(|_| invalid("a glTF file has at most four gigabytes"))?;
    let chunks: [(u32, &[u8]); 2] = [(JSON, &text), (BIN, &binary)];
    for number in [MAGIC, 2, whole] {
        out.write_all(&number.to_le_bytes())?;
    }
    for (kind, bytes) in chunks {
        out.write_all(&(bytes.len() as u32).to_le_bytes())?;
        out.write_all(&kind.to_le_bytes())?;
        out.write_all(bytes)?;
    }
    out.flush()
}

/// What the file says, while it grows.
#[derive(Default)]
struct Document {
    buffer: Buffer,
    nodes: Vec<Value>,
    meshes: Vec<(solid::Shape, usize, Value)>,
    materials: Vec<(colour::Paint, Value)>,
    samplers: Vec<Value>,
    channels: Vec<Value>,
}

impl Document {
    fn new(space: &Space) -> Self {
        let mut all = Self::default();
        let reach = solid::reach(space);
        // the node of the whole is filled in at the end
        all.nodes.push(Value::Null);
        let keys = Keys::of(space, &mut all.buffer);
        let mut children = Vec::new();
        let mut moving = 0;
        // an empty node that does not move says nothing
        for body in space.bodies.iter().filter(|body| body.moves || !body.parts.is_empty()) {
            let node = all.body(body, reach);
            children.push(node);
            if body.moves {
                all.animate(node, &space.poses[moving], &keys);
                moving += 1;
            }
        }
        all.nodes[0] = json!({ "name": "model", "rotation": to_y(space.up), "children": children });
        all
    }

    fn body(&mut self, body: &SpaceBody, reach: f64) -> usize {
        let parts: Vec<usize> = body.parts.iter().map(|part| self.part(part, body, reach)).collect();
        let mut node = json!({ "name": body.name });
        if !parts.is_empty() {
            node["children"] = json!(parts);
        }
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn part(&mut self, part: &Part, body: &SpaceBody, reach: f64) -> usize {
        let (shape, scale) = solid::shape(&part.solid, reach);
        let paint = colour::paint(part.colour.as_ref().unwrap_or(&body.colour), &body.colour);
        let paint = colour::Paint { two_sided: shape.is_open(), ..paint };
        let mesh = self.mesh(&part.solid, shape, paint);
        let [w, x, y, z] = part.turn;
        let mut node = json!({ "mesh": mesh, "translation": part.at, "rotation": [x, y, z, w] });
        if scale != [1.0; 3] {
            node["scale"] = json!(scale);
        }
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn mesh(&mut self, solid: &Solid, shape: solid::Shape, paint: colour::Paint) -> usize {
        let material = self.material(paint);
        let same = |(known, colour, _): &(solid::Shape, usize, Value)| *known == shape && *colour == material;
        if let Some(number) = self.meshes.iter().rposition(same) {
            return number;
        }
        let surface = solid::surface(solid, &shape);
        let primitive = json!({
            "attributes": {
                "POSITION": self.buffer.vertices(&surface.points, true),
                "NORMAL": self.buffer.vertices(&surface.normals, false),
            },
            "indices": self.buffer.indices(&surface.triangles),
            "material": material,
        });
        self.meshes.push((shape, material, json!({ "primitives": [primitive] })));
        self.meshes.len() - 1
    }

    fn material(&mut self, paint: colour::Paint) -> usize {
        if let Some(number) = self.materials.iter().position(|(known, _)| *known == paint) {
            return number;
        }
        let [r, g, b] = paint.rgb;
        let rough = json!({ "baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.6 });
        let mut material = json!({ "pbrMetallicRoughness": rough });
        if paint.two_sided {
            material["doubleSided"] = json!(true);
        }
        self.materials.push((paint, material));
        self.materials.len() - 1
    }

    fn animate(&mut self, node: usize, pose: &[crate::report::Values; 7], keys: &Keys) {
        let Some(first) = keys.rows.first() else { return };
        let place = |row: usize| [0, 1, 2].map(|k| pose[k][row] as f32);
        let (mut last, mut turns) = ([0.0; 4], Vec::with_capacity(keys.rows.len()));
        for &row in &keys.rows {
            last = nearest([3, 4, 5, 6].map(|k| pose[k][row]), last);
            let [w, x, y, z] = last.map(|x| x as f32);
            turns.push([x, y, z, w]);
        }
        let places: Vec<[f32; 3]> = keys.rows.iter().map(|row| place(*row)).collect();
        self.nodes[node]["translation"] = json!(place(*first));
        self.nodes[node]["rotation"] = json!(turns[0]);
        let Some(input) = keys.input else { return };
        let outputs = [("translation", self.buffer.places(&places)), ("rotation", self.buffer.turns(&turns))];
        for (path, output) in outputs {
            self.channels.push(json!({ "sampler": self.samplers.len(), "target": { "node": node, "path": path } }));
            self.samplers.push(json!({ "input": input, "output": output, "interpolation": "LINEAR" }));
        }
    }

    fn finish(self, name: &str, space: &Space) -> (Value, Vec<u8>) {
        let (views, accessors, binary) = self.buffer.finish();
        let mut all = json!({
            "asset": { "version": "2.0", "generator": format!("carom {}", env!("CARGO_PKG_VERSION")) },
            "scene": 0,
            "scenes": [{ "name": name, "nodes": [0] }],
            "nodes": self.nodes,
        });
        // empty lists are not allowed
        let mut add = |key: &str, list: Vec<Value>| {
            if !list.is_empty() {
                all[key] = Value::Array(list);
            }
        };
        add("meshes", self.meshes.into_iter().map(|(.., mesh)| mesh).collect());
        add("materials", self.materials.into_iter().map(|(_, material)| material).collect());
        add("bufferViews", views);
        add("accessors", accessors);
        if !self.channels.is_empty() {
            add("animations", vec![json!({ "name": name, "samplers": self.samplers, "channels": self.channels })]);
        }
        if !binary.is_empty() {
            add("buffers", vec![json!({ "byteLength": binary.len() })]);
        }
        if !space.note.is_empty() {
            all["asset"]["extras"] = json!({ "note": space.note });
        }
        (all, binary)
    }
}

/// The rows that are keys, and the accessor of their times.
struct Keys {
    rows: Vec<usize>,
    /// Nothing where there is but one row.
    input: Option<usize>,
}

impl Keys {
    fn of(space: &Space, buffer: &mut Buffer) -> Self {
        let (mut rows, mut times): (Vec<usize>, Vec<f32>) = (Vec::new(), Vec::new());
        let start = space.times.first().copied().unwrap_or(0.0);
        let is_finite = |row: usize| space.poses.iter().flatten().all(|column| column[row].is_finite());
        for row in (0..space.times.len()).filter(|row| is_finite(*row)) {
            let t = (space.times[row] - start) as f32;
            if times.last() == Some(&t) {
                rows.pop();
            } else {
                times.push(t);
            }
            rows.push(row);
        }
        let input = (rows.len() > 1 && !space.poses.is_empty()).then(|| buffer.times(&times));
        Self { rows, input }
    }
}

/// A unit quaternion on the same side as the last one.
fn nearest(q: [f64; 4], last: [f64; 4]) -> [f64; 4] {
    let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    let q = if norm > 0.0 { q.map(|x| x / norm) } else { [1.0, 0.0, 0.0, 0.0] };
    let along: f64 = q.iter().zip(&last).map(|(a, b)| a * b).sum();
    if along < 0.0 { q.map(|x| -x) } else { q }
}

/// The turn of a direction to y, as x, y, z, w: to z first, then z to y.
fn to_y(up: [f64; 3]) -> [f64; 4] {
    let [w, x, y, z] = turn_to(up);
    // the way back, then a quarter about -x
    let (w, x, y, z) = (w, -x, -y, -z);
    let half = std::f64::consts::FRAC_1_SQRT_2;
    [half * (x - w), half * (y + z), half * (z - y), half * (w + x)]
}
