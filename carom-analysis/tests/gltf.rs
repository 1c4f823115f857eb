//! Files of spatial motions: their structure, and keys that are those of the closed form.

mod gltf_file;
mod space;

use carom_analysis::gltf;
use carom_analysis::report::{ReportError, Space};
use gltf_file::File;
use space::{height, impacts, rows, zoo};

fn file(space: &Space) -> File {
    let mut bytes = Vec::new();
    gltf::write("zoo", space, &mut bytes).unwrap();
    File::read(&bytes)
}

#[test]
fn files_are_well_formed_for_every_solid() {
    let file = file(&zoo(100));
    // the whole, the ground, twelve bodies, and a part of each
    let count = |key: &str| file.json[key].as_array().unwrap().len();
    assert_eq!((count("nodes"), count("meshes")), (1 + 2 * 13, 13));
    assert_eq!(file.json["animations"][0]["channels"].as_array().unwrap().len(), 24);
}

/// Rows at impacts are keys, once each; places and turns are those of the closed form.
#[test]
fn keys_are_true_at_impacts() {
    let file = file(&zoo(100));
    let (places, turns) = (file.track("block", "translation"), file.track("block", "rotation"));
    let mut times = rows(100);
    times.dedup();
    assert_eq!(places.times, times.iter().map(|t| *t as f32).collect::<Vec<_>>());
    for t in impacts() {
        let key = places.times.iter().position(|key| *key == t as f32).expect("a key at the impact");
        let lowest = f64::from(places.values[key][2]) - 0.2;
        assert!(lowest.abs() < 1e-7, "the body touches the floor at t = {t}: {lowest}");
    }
    for (key, t) in times.iter().enumerate() {
        let expected = [-0.3, -0.6, 0.2 + height(*t)];
        let off = places.values[key].iter().zip(expected).map(|(a, b)| (f64::from(*a) - b).abs());
        assert!(off.fold(0.0, f64::max) < 1e-6, "t = {t}");
        let [x, y, z, w] = turns.values[key][..] else { panic!() };
        let (c, s) = (t.cos(), t.sin());
        // a quaternion and its negative are the same turn
        let side = (f64::from(w) * c + f64::from(x) * s).signum();
        let near = |a: f32, b: f64| (f64::from(a) * side - b).abs() < 1e-6;
        assert!(near(x, s) && near(w, c) && y == 0.0 && z == 0.0, "t = {t}: {:?}", turns.values[key]);
    }
}

/// y is up in such files, whatever is up in the model, and the turn above all keeps angles.
#[test]
fn the_model_stands_upright() {
    for up in [[0.0, 0.0, 9.81], [0.0, 2.0, 0.0], [1.0, -2.0, 0.5], [0.0, 0.0, -1.0]] {
        let space = Space { up, ..zoo(4) };
        let q = file(&space).json["nodes"][0]["rotation"].clone();
        let [x, y, z, w]: [f64; 4] = serde_json::from_value(q).unwrap();
        let length = up.iter().map(|x| x * x).sum::<f64>().sqrt();
        let v = up.map(|x| x / length);
        let cross = |a: [f64; 3], b: [f64; 3]| {
            [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        };
        let t = cross([x, y, z], v).map(|x| 2.0 * x);
        let turned: [f64; 3] = std::array::from_fn(|i| v[i] + w * t[i] + cross([x, y, z], t)[i]);
        let off = turned.iter().zip([0.0, 1.0, 0.0]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-12, "{up:?} becomes {turned:?}");
    }
}

/// Times that differ by less than single precision are one key, the last of them.
#[test]
fn keys_rise_strictly_in_single_precision() {
    let mut space = zoo(4);
    let close: Vec<f64> = (0..space.times.len()).map(|k| 1.0 + 1e-9 * k as f64).chain([]).collect();
    space.times = close.into();
    let file = file(&Space {
        times: space.times.iter().map(|t| t * if *t > 1.0 + 5e-9 { 2.0 } else { 1.0 }).collect(),
        ..space
    });
    assert!(file.track("block", "translation").times.len() < rows(4).len());
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_written() {
    let mut space = zoo(4);
    space.poses.pop();
    let mut bytes = Vec::new();
    let error = gltf::write("zoo", &space, &mut bytes).unwrap_err();
    assert!(bytes.is_empty() && error.to_string().contains("12 bodies move, but there are poses of 11"), "{error}");
    assert_eq!(space.check(), Err(ReportError::Poses { moving: 12, found: 11 }));
}
