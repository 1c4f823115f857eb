//! Reads a .glb file and checks its structure: chunks, views, accessors, bounds, indices, normals, quaternions, times.
//!
//! Include it in an integration test with `#[path = "..."] mod gltf_file;`.
#![allow(dead_code)] // not every test that includes this file uses all of it

use serde_json::Value;

/// A file that passed all checks.
pub struct File {
    /// What it says.
    pub json: Value,
    binary: Vec<u8>,
}

/// Times and numbers of what an animation does to a node.
pub struct Track {
    pub times: Vec<f32>,
    pub values: Vec<Vec<f32>>,
}

fn number(value: &Value) -> usize {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no whole number")) as usize
}

fn list<'a>(json: &'a Value, key: &str) -> &'a [Value] {
    json[key].as_array().map_or(&[], Vec::as_slice)
}

impl File {
    /// Reads and checks.
    pub fn read(bytes: &[u8]) -> File {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!((&bytes[..4], word(4), word(8) as usize), (&b"glTF"[..], 2, bytes.len()), "head");
        let text = 20 + word(12) as usize;
        assert_eq!((&bytes[16..20], text % 4), (&b"JSON"[..], 0), "first chunk");
        let json: Value = serde_json::from_slice(&bytes[20..text]).unwrap();
        assert_eq!(&bytes[text + 4..text + 8], b"BIN\0");
        let binary = bytes[text + 8..].to_vec();
        assert_eq!((word(text) as usize, binary.len() % 4), (binary.len(), 0), "second chunk");
        let file = File { json, binary };
        file.check();
        file
    }

    fn check(&self) {
        assert_eq!(self.json["asset"]["version"], "2.0");
        assert_eq!(number(&self.json["buffers"][0]["byteLength"]), self.binary.len());
        for key in ["nodes", "meshes", "materials", "bufferViews", "accessors", "animations", "scenes"] {
            assert!(self.json.get(key).is_none_or(|list| !list.as_array().unwrap().is_empty()), "{key} is empty");
        }
        let mut end = 0;
        for view in list(&self.json, "bufferViews") {
            let (start, length) = (number(&view["byteOffset"]), number(&view["byteLength"]));
            assert_eq!((start % 4, start), (0, end), "views follow each other");
            end = start + length;
        }
        assert_eq!(end, self.binary.len(), "views fill the buffer");
        (0..list(&self.json, "accessors").len()).for_each(|accessor| self.check_accessor(accessor));
        list(&self.json, "meshes").iter().for_each(|mesh| self.check_mesh(mesh));
        self.check_nodes();
        self.check_animations();
    }

    fn width(accessor: &Value) -> usize {
        match accessor["type"].as_str().unwrap() {
            "SCALAR" => 1,
            "VEC3" => 3,
            "VEC4" => 4,
            other => panic!("{other}"),
        }
    }

    fn check_accessor(&self, number_of: usize) {
        let accessor = &self.json["accessors"][number_of];
        let view = &self.json["bufferViews"][number(&accessor["bufferView"])];
        let (count, width) = (number(&accessor["count"]), Self::width(accessor));
        assert!(count > 0 && 4 * width * count == number(&view["byteLength"]), "accessor {number_of}: {accessor}");
        if accessor["componentType"] == 5126 {
            let values = self.values(number_of);
            assert!(values.iter().flatten().all(|x| x.is_finite()));
            for (key, pick) in [("min", f32::min as fn(f32, f32) -> f32), ("max", f32::max)] {
                for (k, bound) in list(accessor, key).iter().enumerate() {
                    let found = values.iter().map(|v| v[k]).reduce(pick).unwrap();
                    assert_eq!(bound.as_f64().unwrap() as f32, found, "{key} of accessor {number_of}");
                }
            }
        }
    }

    /// The numbers of an accessor of floats.
    fn values(&self, accessor: usize) -> Vec<Vec<f32>> {
        let bytes = self.bytes(accessor).chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap()));
        let width = Self::width(&self.json["accessors"][accessor]);
        bytes.collect::<Vec<f32>>().chunks(width).map(<[f32]>::to_vec).collect()
    }

    fn bytes(&self, accessor: usize) -> &[u8] {
        let view = &self.json["bufferViews"][number(&self.json["accessors"][accessor]["bufferView"])];
        &self.binary[number(&view["byteOffset"])..][..number(&view["byteLength"])]
    }

    fn check_mesh(&self, mesh: &Value) {
        for primitive in list(mesh, "primitives") {
            let place = number(&primitive["attributes"]["POSITION"]);
            let accessor = &self.json["accessors"][place];
            assert!(list(accessor, "min").len() == 3 && list(accessor, "max").len() == 3, "places have bounds");
            let normals = self.values(number(&primitive["attributes"]["NORMAL"]));
            assert_eq!(normals.len(), self.values(place).len());
            let length = |v: &Vec<f32>| v.iter().map(|x| x * x).sum::<f32>().sqrt();
            assert!(normals.iter().all(|n| (length(n) - 1.0).abs() < 1e-5), "normals have length 1");
            let indices = self.bytes(number(&primitive["indices"])).chunks(4);
            let indices: Vec<u32> = indices.map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
            assert!(indices.len().is_multiple_of(3) && indices.iter().all(|i| (*i as usize) < normals.len()));
            assert!(number(&primitive["material"]) < list(&self.json, "materials").len());
        }
    }

    /// Nodes are a tree below those of the scene.
    fn check_nodes(&self) {
        let nodes = list(&self.json, "nodes");
        let mut parents = vec![0; nodes.len()];
        let roots = list(&self.json["scenes"][0], "nodes").iter();
        for child in nodes.iter().flat_map(|node| list(node, "children")).chain(roots) {
            parents[number(child)] += 1;
        }
        assert!(parents.iter().all(|count| *count == 1), "each node has one parent: {parents:?}");
        for node in nodes {
            if let Some(mesh) = node.get("mesh") {
                assert!(number(mesh) < list(&self.json, "meshes").len());
            }
            if let Some(turn) = node.get("rotation") {
                let square: f64 = turn.as_array().unwrap().iter().map(|x| x.as_f64().unwrap().powi(2)).sum();
                assert!((square - 1.0).abs() < 1e-5, "{turn}");
            }
        }
    }

    fn check_animations(&self) {
        for animation in list(&self.json, "animations") {
            for channel in list(animation, "channels") {
                assert!(number(&channel["target"]["node"]) < list(&self.json, "nodes").len());
                let track = self.track_of(animation, channel);
                assert_eq!(track.times.len(), track.values.len());
                assert!(track.times[0] >= 0.0 && track.times.windows(2).all(|t| t[0] < t[1]), "times rise strictly");
                if channel["target"]["path"] == "rotation" {
                    let square = |q: &Vec<f32>| q.iter().map(|x| x * x).sum::<f32>();
                    assert!(track.values.iter().all(|q| (square(q) - 1.0).abs() < 1e-5), "turns are unit quaternions");
                    let along = |p: &[Vec<f32>]| p[0].iter().zip(&p[1]).map(|(a, b)| a * b).sum::<f32>();
                    assert!(track.values.windows(2).all(|pair| along(pair) >= 0.0), "turns go the shorter way");
                }
            }
        }
    }

    fn track_of(&self, animation: &Value, channel: &Value) -> Track {
        let sampler = &animation["samplers"][number(&channel["sampler"])];
        assert_eq!(sampler["interpolation"], "LINEAR");
        let input = number(&sampler["input"]);
        assert!(list(&self.json["accessors"][input], "min").len() == 1, "times have bounds");
        let times = self.values(input).into_iter().map(|t| t[0]).collect();
        Track { times, values: self.values(number(&sampler["output"])) }
    }

    /// What the animation does to the node of this name: "translation" or "rotation".
    pub fn track(&self, name: &str, path: &str) -> Track {
        let node = list(&self.json, "nodes").iter().position(|node| node["name"] == name);
        let node = node.unwrap_or_else(|| panic!("no node {name}"));
        let animation = &self.json["animations"][0];
        let own = |c: &&Value| number(&c["target"]["node"]) == node && c["target"]["path"] == path;
        self.track_of(animation, list(animation, "channels").iter().find(own).unwrap())
    }
}
