//! glTF 2.0, as a text or as a binary file: triangles of all meshes of the scene, with the places of their nodes.
//! Coordinates are as they are written: y is up. Skins, morphs and materials are not looked at; compressed meshes are
//! refused.

use super::{MOST_BYTES, MOST_TRIANGLES, MeshFileError, Spot, Surface, wrong};
use base64::Engine as _;
use serde_json::Value;
use std::path::Path;

const MAGIC: &[u8] = b"glTF";
const JSON: u32 = 0x4e4f_534a;
const BIN: u32 = 0x004e_4942;

/// A matrix by columns: three directions and a place.
type Place = [[f64; 3]; 4];
const HERE: Place = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]];

fn part(name: &str, number: usize) -> Spot {
    Spot::Part(format!("{name}[{number}]"))
}

pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<Surface, MeshFileError> {
    let (json, binary) = if bytes.starts_with(MAGIC) { chunks(bytes)? } else { (bytes, None) };
    let root: Value =
        serde_json::from_slice(json).map_err(|error| wrong(Spot::Line(error.line()), format!("no JSON: {error}")))?;
    if let Some(name) = root["extensionsRequired"].as_array().and_then(|all| all.first()) {
        return Err(wrong(Spot::Part("extensionsRequired".into()), format!("the extension {name} is not known")));
    }
    let mut file = File { root: &root, buffers: Vec::new(), out: Surface::default(), visits: 0 };
    file.load(binary, path.parent().unwrap_or(Path::new("")))?;
    let list = |value: &Value| value.as_array().map_or(0, Vec::len);
    let scene = index(&root["scene"]).unwrap_or(0);
    match root["scenes"].get(scene) {
        Some(scene) => {
            for node in scene["nodes"].as_array().into_iter().flatten() {
                file.node(index(node), &HERE, 0)?;
            }
        }
        None => (0..list(&root["meshes"])).try_for_each(|mesh| file.mesh(mesh, &HERE))?,
    }
    Ok(file.out)
}

/// The text and the numbers of a binary file.
fn chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), MeshFileError> {
    let word = |at: usize| bytes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let (mut at, mut json, mut binary) = (12, None, None);
    while at < bytes.len() {
        let (Some(length), Some(kind)) = (word(at), word(at + 4)) else {
            return Err(wrong(Spot::Byte(at), "the file ends in the head of a chunk"));
        };
        let length = length as usize;
        let Some(chunk) = bytes.get(at + 8..).and_then(|rest| rest.get(..length)) else {
            let rest = bytes.len() - at - 8;
            return Err(wrong(Spot::Byte(at), format!("a chunk of {length} bytes, of which {rest} are there")));
        };
        match kind {
            JSON if json.is_none() => json = Some(chunk),
            BIN if binary.is_none() => binary = Some(chunk),
            _ => {}
        }
        at += 8 + length;
    }
    let json = json.ok_or_else(|| wrong(Spot::Byte(12), "the file has no text"))?;
    Ok((json, binary))
}

fn index(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

/// A number that is zero where it is missing.
fn size(value: &Value, spot: impl Fn() -> Spot) -> Result<usize, MeshFileError> {
    match value {
        Value::Null => Ok(0),
        value => index(value).ok_or_else(|| wrong(spot(), format!("{value} is no size"))),
    }
}

fn numbers<const N: usize>(value: &Value, otherwise: [f64; N]) -> Option<[f64; N]> {
    let Some(list) = value.as_array() else { return value.is_null().then_some(otherwise) };
    let numbers: Vec<f64> = list.iter().map(Value::as_f64).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

struct File<'a> {
    root: &'a Value,
    buffers: Vec<Vec<u8>>,
    out: Surface,
    visits: usize,
}

impl File<'_> {
    fn load(&mut self, binary: Option<&[u8]>, folder: &Path) -> Result<(), MeshFileError> {
        let mut room = MOST_BYTES;
        for (k, buffer) in self.root["buffers"].as_array().into_iter().flatten().enumerate() {
            let bytes = match buffer["uri"].as_str() {
                None if k == 0 && binary.is_some() => binary.unwrap_or_default().to_vec(),
                None => return Err(wrong(part("buffers", k), "it has no `uri`")),
                Some(uri) if uri.starts_with("data:") => {
                    let (_, data) = uri.split_once(";base64,").ok_or_else(|| wrong(part("buffers", k), "no base64"))?;
                    let decoded = base64::engine::general_purpose::STANDARD.decode(data);
                    decoded.map_err(|error| wrong(part("buffers", k), error.to_string()))?
                }
                Some(uri) if uri.contains(':') || uri.starts_with('/') => {
                    return Err(wrong(part("buffers", k), "paths are relative to the file"));
                }
                Some(uri) => super::bytes(&folder.join(uri), room).map_err(|error| match error {
                    MeshFileError::Unreadable(why) => wrong(part("buffers", k), format!("{uri:?}: {why}")),
                    other => other,
                })?,
            };
            let declared = size(&buffer["byteLength"], || part("buffers", k))?;
            if declared > bytes.len() {
                let what = format!("{declared} bytes, of which {} are there", bytes.len());
                return Err(wrong(part("buffers", k), what));
            }
            room = room.saturating_sub(bytes.len());
            self.buffers.push(bytes);
        }
        Ok(())
    }

    fn node(&mut self, number: Option<usize>, outer: &Place, depth: usize) -> Result<(), MeshFileError> {
        let all = self.root["nodes"].as_array().map_or(0, Vec::len);
        let known = number.filter(|number| *number < all);
        let number = known.ok_or_else(|| wrong(Spot::Part("nodes".into()), "a node is not there"))?;
        self.visits += 1;
        // nodes are a tree: each is met once
        if depth > 100 || self.visits > all {
            return Err(wrong(part("nodes", number), "it is part of itself, or of two others"));
        }
        let node = &self.root["nodes"][number];
        let inner = place(node).ok_or_else(|| wrong(part("nodes", number), "its place is no list of numbers"))?;
        let here = then(outer, &inner);
        if let Some(mesh) = node.get("mesh") {
            let mesh = index(mesh).ok_or_else(|| wrong(part("nodes", number), "its mesh is no number"))?;
            self.mesh(mesh, &here)?;
        }
        for child in node["children"].as_array().into_iter().flatten() {
            self.node(index(child), &here, depth + 1)?;
        }
        Ok(())
    }

    fn mesh(&mut self, number: usize, place: &Place) -> Result<(), MeshFileError> {
        let root = self.root;
        let mesh = root["meshes"].get(number).ok_or_else(|| wrong(part("meshes", number), "it is not there"))?;
        for primitive in mesh["primitives"].as_array().into_iter().flatten() {
            let spot = || part("meshes", number);
            let mode = if primitive["mode"].is_null() { Some(4) } else { index(&primitive["mode"]) };
            if !matches!(mode, Some(4..=6)) {
                return Err(wrong(spot(), format!("mode {}: only triangles are known", primitive["mode"])));
            }
            let position = index(&primitive["attributes"]["POSITION"]);
            let points = self.points(position.ok_or_else(|| wrong(spot(), "it has no POSITION"))?)?;
            let corners = match index(&primitive["indices"]) {
                Some(accessor) => self.indices(accessor)?,
                None => (0..points.len() as u32).collect(),
            };
            if let Some(bad) = corners.iter().find(|i| **i as usize >= points.len()) {
                return Err(wrong(spot(), format!("the corner {bad} of {}", points.len())));
            }
            self.add(&points, &corners, mode.unwrap_or(4), place)?;
        }
        Ok(())
    }

    fn add(&mut self, points: &[[f64; 3]], corners: &[u32], mode: usize, at: &Place) -> Result<(), MeshFileError> {
        let first = self.out.points.len();
        let count = if mode == 4 { corners.len() / 3 } else { corners.len().saturating_sub(2) };
        if self.out.triangles.len() + count > MOST_TRIANGLES || first + points.len() > 3 * MOST_TRIANGLES {
            return Err(MeshFileError::Many);
        }
        let [x, y, z, o] = at;
        let to = |p: &[f64; 3]| std::array::from_fn(|i| x[i] * p[0] + y[i] * p[1] + z[i] * p[2] + o[i]);
        self.out.points.extend(points.iter().map(to));
        let mirrored = carom::rotation::cross(*x, *y).iter().zip(z).map(|(a, b)| a * b).sum::<f64>() < 0.0;
        for k in 0..count {
            let [a, b, c] = match mode {
                4 => [3 * k, 3 * k + 1, 3 * k + 2],
                5 if k % 2 == 1 => [k + 1, k, k + 2],
                5 => [k, k + 1, k + 2],
                _ => [0, k + 1, k + 2],
            };
            let [b, c] = if mirrored { [c, b] } else { [b, c] };
            self.out.triangles.push([a, b, c].map(|i| corners[i] + first as u32));
        }
        Ok(())
    }

    /// Calls `each` with the bytes of each entry of an accessor; `words` of so many bytes each.
    fn entries(
        &self,
        number: usize,
        (kind, words): (&str, usize),
        width: impl Fn(u64) -> Option<usize>,
    ) -> Result<(usize, u64, impl Iterator<Item = &[u8]>), MeshFileError> {
        let spot = || part("accessors", number);
        let accessor = self.root["accessors"].get(number).ok_or_else(|| wrong(spot(), "it is not there"))?;
        let component = accessor["componentType"].as_u64().unwrap_or(0);
        let width = width(component)
            .filter(|_| accessor["type"].as_str() == Some(kind))
            .ok_or_else(|| wrong(spot(), format!("{} of {component} is not expected", accessor["type"])))?;
        let view = index(&accessor["bufferView"]).filter(|_| accessor.get("sparse").is_none());
        let view = view.ok_or_else(|| wrong(spot(), "sparse and compressed numbers are not known"))?;
        let view = self.root["bufferViews"].get(view).ok_or_else(|| wrong(part("bufferViews", view), "not there"))?;
        let buffer = size(&view["buffer"], spot)?;
        let buffer = self.buffers.get(buffer).ok_or_else(|| wrong(part("buffers", buffer), "it is not there"))?;
        let (count, entry) = (size(&accessor["count"], spot)?, words * width);
        let stride = size(&view["byteStride"], spot)?.max(entry);
        let [start, length, offset] = [&view["byteOffset"], &view["byteLength"], &accessor["byteOffset"]]
            .map(|value| size(value, spot))
            .into_iter()
            .collect::<Result<Vec<_>, _>>()?[..]
        else {
            return Err(wrong(spot(), "no sizes"));
        };
        // all of it is there before anything is allocated
        let needed = count.checked_sub(1).map_or(Some(0), |n| n.checked_mul(stride)?.checked_add(entry));
        let needed = needed.and_then(|n| n.checked_add(offset)).filter(|n| *n <= length);
        let bytes = start.checked_add(length).and_then(|end| buffer.get(start..end)).filter(|_| needed.is_some());
        let bytes = bytes.ok_or_else(|| wrong(spot(), format!("{count} entries are more than its bytes")))?;
        let bytes = bytes.get(offset..).unwrap_or_default();
        Ok((count, component, (0..count).map(move |k| &bytes[k * stride..k * stride + entry])))
    }

    fn points(&self, accessor: usize) -> Result<Vec<[f64; 3]>, MeshFileError> {
        let (count, _, entries) = self.entries(accessor, ("VEC3", 3), |kind| (kind == 5126).then_some(4))?;
        let mut points = Vec::with_capacity(count);
        for entry in entries {
            points.push(
                [0, 4, 8]
                    .map(|at| f64::from(f32::from_le_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]]))),
            );
        }
        Ok(points)
    }

    fn indices(&self, accessor: usize) -> Result<Vec<u32>, MeshFileError> {
        let width = |kind| match kind {
            5121 => Some(1),
            5123 => Some(2),
            5125 => Some(4),
            _ => None,
        };
        let (count, _, entries) = self.entries(accessor, ("SCALAR", 1), width)?;
        let mut all = Vec::with_capacity(count);
        all.extend(entries.map(|entry| entry.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte))));
        Ok(all)
    }
}

/// The place of a node: its matrix, or translation, rotation and scale.
fn place(node: &Value) -> Option<Place> {
    if !node["matrix"].is_null() {
        let m = numbers::<16>(&node["matrix"], [0.0; 16])?;
        return Some(std::array::from_fn(|j| std::array::from_fn(|i| m[4 * j + i])));
    }
    let t = numbers::<3>(&node["translation"], [0.0; 3])?;
    let [x, y, z, w] = numbers::<4>(&node["rotation"], [0.0, 0.0, 0.0, 1.0])?;
    let s = numbers::<3>(&node["scale"], [1.0; 3])?;
    let r = carom::rotation::matrix(carom::rotation::normalised([w, x, y, z]));
    let column = |j: usize| std::array::from_fn(|i| r[i][j] * s[j]);
    Some([column(0), column(1), column(2), t])
}

fn then(outer: &Place, inner: &Place) -> Place {
    let turn = |d: [f64; 3]| -> [f64; 3] {
        std::array::from_fn(|i| outer[0][i] * d[0] + outer[1][i] * d[1] + outer[2][i] * d[2])
    };
    let at = turn(inner[3]);
    [turn(inner[0]), turn(inner[1]), turn(inner[2]), std::array::from_fn(|i| at[i] + outer[3][i])]
}
