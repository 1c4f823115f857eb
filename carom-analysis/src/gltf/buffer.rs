//! The numbers of a file: accessors and their views of one buffer.

use serde_json::{Value, json};

const SINGLE: u32 = 5126;
const WHOLE: u32 = 5125;
/// What a view is for.
const VERTICES: u32 = 34962;
const INDICES: u32 = 34963;

/// One accessor and one view for each list; all numbers have four bytes.
#[derive(Default)]
pub struct Buffer {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Buffer {
    fn add<const N: usize>(&mut self, list: &[[f32; N]], kind: &str, target: Option<u32>, bounds: bool) -> usize {
        let numbers = list.iter().flatten().flat_map(|x| x.to_le_bytes());
        let view = self.view(numbers, target);
        let mut accessor = json!({ "bufferView": view, "componentType": SINGLE, "count": list.len(), "type": kind });
        if bounds {
            let fold = |start: f32, pick: fn(f32, f32) -> f32| -> [f32; N] {
                std::array::from_fn(|k| list.iter().fold(start, |best, x| pick(best, x[k])))
            };
            accessor["min"] = Value::from(fold(f32::INFINITY, f32::min).to_vec());
            accessor["max"] = Value::from(fold(f32::NEG_INFINITY, f32::max).to_vec());
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    fn view(&mut self, bytes: impl Iterator<Item = u8>, target: Option<u32>) -> usize {
        let start = self.bytes.len();
        self.bytes.extend(bytes);
        let mut view = json!({ "buffer": 0, "byteOffset": start, "byteLength": self.bytes.len() - start });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.views.push(view);
        self.views.len() - 1
    }

    /// Corners, with their bounds where they are places.
    pub fn vertices(&mut self, list: &[[f32; 3]], bounds: bool) -> usize {
        self.add(list, "VEC3", Some(VERTICES), bounds)
    }

    /// Places of an animation.
    pub fn places(&mut self, list: &[[f32; 3]]) -> usize {
        self.add(list, "VEC3", None, false)
    }

    /// Turns of an animation: x, y, z, w.
    pub fn turns(&mut self, list: &[[f32; 4]]) -> usize {
        self.add(list, "VEC4", None, false)
    }

    /// Times of an animation.
    pub fn times(&mut self, list: &[f32]) -> usize {
        let list: Vec<[f32; 1]> = list.iter().map(|t| [*t]).collect();
        self.add(&list, "SCALAR", None, true)
    }

    /// Corners of triangles.
    pub fn indices(&mut self, list: &[[u32; 3]]) -> usize {
        let view = self.view(list.iter().flatten().flat_map(|i| i.to_le_bytes()), Some(INDICES));
        let count = 3 * list.len();
        self.accessors.push(json!({ "bufferView": view, "componentType": WHOLE, "count": count, "type": "SCALAR" }));
        self.accessors.len() - 1
    }

    /// Views, accessors and bytes.
    pub fn finish(self) -> (Vec<Value>, Vec<Value>, Vec<u8>) {
        (self.views, self.accessors, self.bytes)
    }
}
