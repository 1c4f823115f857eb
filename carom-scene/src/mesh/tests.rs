//! A box in all formats has the volume, centre and inertia of a box; files with mistakes tell where they are.

use super::*;
use base64::Engine as _;

/// A change of bytes, by numbers that are the same in every run.
fn changed(bytes: &[u8], random: &mut impl FnMut(usize) -> usize) -> Vec<u8> {
    let pieces: [&[u8]; 12] = [
        b"-1",
        b"1e300",
        b"nan",
        b"\n",
        b"f 1 2 3\n",
        b"vertex ",
        b"]",
        b"{}",
        b"4294967295",
        b"\xff\xff\xff\x7f",
        b"\0\0\0\0",
        b"null",
    ];
    let mut out = bytes.to_vec();
    let (at, count) = (random(out.len()), 1 + random(20));
    let end = (at + count).min(out.len());
    match random(5) {
        0 => out[at] ^= 1 << random(8),
        1 => drop(out.splice(at..at, pieces[random(pieces.len())].iter().copied())),
        2 => drop(out.drain(at..end)),
        3 => {
            let from = random(bytes.len());
            let piece = bytes[from..(from + count).min(bytes.len())].to_vec();
            drop(out.splice(at..end, piece));
        }
        _ => {
            let piece = pieces[random(pieces.len())];
            drop(out.splice(at..(at + piece.len()).min(bytes.len()), piece.iter().copied()));
        }
    }
    out
}

/// Whatever the bytes are, reading ends with a surface of finite numbers or with an error that says something.
#[test]
fn twenty_thousand_changed_files_do_not_panic() {
    let files = [
        ("a.stl", stl_text().into_bytes()),
        ("b.stl", stl_binary()),
        ("c.obj", obj().into_bytes()),
        ("d.gltf", gltf().into_bytes()),
        ("e.glb", glb()),
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % n.max(1)
    };
    let (mut good, mut closed) = (0, 0);
    for case in 0..20_000 {
        let (name, bytes) = &files[case % files.len()];
        let mut bytes = bytes.clone();
        for _ in 0..1 + random(3) {
            bytes = changed(&bytes, &mut random);
        }
        match parsed(name, &bytes) {
            Ok(mesh) => {
                good += 1;
                assert!(mesh.points().iter().flatten().all(|x| x.is_finite()), "{name}");
                if let Ok(mass) = mesh.mass(1.0) {
                    closed += 1;
                    assert!(
                        mass.mass > 0.0 && mass.inertia.iter().flatten().all(|x| x.is_finite()),
                        "{name}: {mass:?}"
                    );
                }
                if let Ok(hull) = mesh.hull() {
                    assert!(hull.faces().iter().all(|face| face.normal.iter().all(|x| x.is_finite())), "{name}");
                    assert!(hull.edges().iter().all(|edge| edge.half > 0.0 && edge.half.is_finite()), "{name}");
                }
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    println!("{good} of 20000 are meshes, {closed} of them closed");
    assert!(good > 2000 && closed > 500 && good < 16_000, "{good} {closed}");
}

/// Corners of a box from (1, 2, 3), with edges 1, 2 and 4, and its triangles.
fn block() -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    let corner = |k: u32| [1.0 + f64::from(k & 1), 2.0 + f64::from(k & 2), 3.0 + f64::from(k & 4)];
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = faces.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
    ((0..8).map(corner).collect(), triangles)
}

fn corners() -> Vec<[[f64; 3]; 3]> {
    let (points, triangles) = block();
    triangles.iter().map(|t| t.map(|i| points[i as usize])).collect()
}

pub fn stl_text() -> String {
    let facet = |t: &[[f64; 3]; 3]| {
        let vertex = |p: &[f64; 3]| format!("      vertex {:e} {} {}\n", p[0], p[1], p[2]);
        format!(
            "  facet normal 0 0 0\n    outer loop\n{}    endloop\n  endfacet\n",
            t.iter().map(vertex).collect::<String>()
        )
    };
    format!("solid box\n{}endsolid box\n", corners().iter().map(facet).collect::<String>())
}

pub fn stl_binary() -> Vec<u8> {
    let mut bytes = b"solid, as some binary files begin".to_vec();
    bytes.resize(80, b' ');
    bytes.extend((corners().len() as u32).to_le_bytes());
    for triangle in corners() {
        bytes.extend([0; 12]);
        bytes.extend(triangle.iter().flatten().flat_map(|x| (*x as f32).to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

pub fn obj() -> String {
    let (points, _) = block();
    let mut text: String = points.iter().map(|[x, y, z]| format!("v {x} {y} {z}\n")).collect();
    // corners with textures and normals, from the end, and over two lines
    text += "# box\no box\nvn 0 0 1\nf 1//1 3//1 4//1 2//1\nf 5/1/1 6/1/1 8/1/1 7/1/1\nf -8 -7 -3 \\\n -4\n";
    text += "f 3 7 8 4\nf 1 5 7 3\nusemtl grey\nf 2 4 8 6\n";
    text
}

/// The text of a glTF file whose numbers are in a buffer at hand, or in the binary part.
fn gltf_text(data: Option<&str>) -> (String, Vec<u8>) {
    let (points, triangles) = block();
    let mut bytes: Vec<u8> = points.iter().flatten().flat_map(|x| ((*x as f32) - 1.0).to_le_bytes()).collect();
    bytes.extend(triangles.iter().flatten().flat_map(|i| (*i as u16).to_le_bytes()));
    let uri = data.map_or_else(String::new, |head| {
        format!(r#""uri": "{head}{}", "#, base64::engine::general_purpose::STANDARD.encode(&bytes))
    });
    // half the size and moved by a node above: the box again
    let text = format!(
        r#"{{"asset": {{"version": "2.0"}}, "scene": 0, "scenes": [{{"nodes": [1]}}],
        "nodes": [{{"mesh": 0, "scale": [2, 2, 2], "rotation": [0, 0, 0, 1]}},
                  {{"children": [0], "matrix": [0.5,0,0,0, 0,0.5,0,0, 0,0,0.5,0, 1,1,1,1]}}],
        "meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0}}, "indices": 1}}]}}],
        "accessors": [{{"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3"}},
                      {{"bufferView": 1, "componentType": 5123, "count": 36, "type": "SCALAR"}}],
        "bufferViews": [{{"buffer": 0, "byteLength": 96}}, {{"buffer": 0, "byteOffset": 96, "byteLength": 72}}],
        "buffers": [{{{uri}"byteLength": {}}}]}}"#,
        bytes.len()
    );
    (text, bytes)
}

pub fn gltf() -> String {
    gltf_text(Some("data:application/octet-stream;base64,")).0
}

pub fn glb() -> Vec<u8> {
    let (mut text, binary) = gltf_text(None);
    while text.len() % 4 > 0 {
        text.push(' ');
    }
    let mut bytes = b"glTF".to_vec();
    bytes.extend(2u32.to_le_bytes());
    bytes.extend((28 + text.len() as u32 + binary.len() as u32).to_le_bytes());
    for (kind, chunk) in [(0x4e4f_534au32, text.as_bytes()), (0x004e_4942, &binary)] {
        bytes.extend((chunk.len() as u32).to_le_bytes());
        bytes.extend(kind.to_le_bytes());
        bytes.extend(chunk);
    }
    bytes
}

fn parsed(name: &str, bytes: &[u8]) -> Result<Mesh, MeshFileError> {
    parse(Path::new(name), bytes)
}

#[test]
fn a_box_in_all_formats_is_a_box() {
    let files = [
        ("text.stl", stl_text().into_bytes()),
        ("binary.STL", stl_binary()),
        ("box.obj", obj().into_bytes()),
        ("box.gltf", gltf().into_bytes()),
        ("box.glb", glb()),
    ];
    for (name, bytes) in files {
        let mesh = parsed(name, &bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((mesh.points().len(), mesh.triangles().len()), (8, 12), "{name}");
        let mass = mesh.mass(3.0).unwrap_or_else(|error| panic!("{name}: {error}"));
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{name}: {a} {b}");
        near(mass.mass, 24.0);
        [1.5, 3.0, 5.0].iter().zip(mass.centre).for_each(|(a, b)| near(*a, b));
        for (i, moment) in [2.0 * 20.0, 2.0 * 17.0, 2.0 * 5.0].into_iter().enumerate() {
            near(mass.inertia[i][i], moment);
            near(mass.inertia[i][(i + 1) % 3], 0.0);
        }
        let hull = mesh.hull().unwrap();
        assert_eq!((hull.corners().len(), hull.faces().len(), hull.edges().len()), (8, 6, 12), "{name}");
    }
}

#[test]
fn open_and_turned_surfaces_tell_the_place() {
    let (points, mut triangles) = block();
    let left = triangles.remove(5);
    let open = Mesh::new(&points, &triangles).unwrap().mass(1.0).unwrap_err();
    let MeshError::Open { from, to, .. } = open else { panic!("{open}") };
    let ends = left.map(|i| points[i as usize]);
    assert!(ends.contains(&from) && ends.contains(&to), "{open}");
    let (points, mut triangles) = block();
    triangles[3].reverse();
    let turned = Mesh::new(&points, &triangles).unwrap().mass(1.0).unwrap_err();
    assert!(matches!(turned, MeshError::Turned { first, second, .. } if first == 4 || second == 4), "{turned}");
    let (points, mut triangles) = block();
    triangles.iter_mut().for_each(|t| t.reverse());
    let inward = Mesh::new(&points, &triangles).unwrap().mass(1.0).unwrap_err();
    assert_eq!(inward, MeshError::Inside(-8.0));
}

#[test]
fn mistakes_in_files_tell_their_place() {
    let swap = |text: &str, old: &str, new: &str| {
        assert!(text.contains(old), "{old}");
        text.replacen(old, new, 1)
    };
    let (text, model, scene) = (stl_text(), obj(), gltf());
    let mut short = stl_binary();
    short[80] = 13;
    let mut broken = stl_binary();
    broken[96..100].copy_from_slice(&f32::NAN.to_le_bytes());
    let mut chunk = glb();
    chunk[13] = 0xff;
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("a.stl", swap(&text, "      vertex 1e0 2 3\n", "").into(), "line 6: a triangle with 2 corners"),
        ("a.stl", swap(&text, "vertex 1e0", "vertex one").into(), "line 4: \"one\" is not a number"),
        ("a.stl", swap(&text, "vertex 1e0", "vertex inf").into(), "line 4: \"inf\" is not a number"),
        ("a.stl", swap(&text, "endloop", "endlop").into(), "line 7: \"endlop\" is not expected here"),
        ("a.stl", text[..text.len() / 2].into(), "the text ends without \"endsolid\""),
        ("a.stl", short, "byte 80: 13 triangles have 734 bytes, the file has 684"),
        ("a.stl", broken, "byte 96: a coordinate of triangle 1 is not finite"),
        ("a.stl", b"hello".to_vec(), "neither a text"),
        ("a.stl", b"solid\nendsolid\n".to_vec(), "it has no triangles"),
        ("a.obj", swap(&model, "f 3 7 8 4", "f 3 7 9 4").into(), "line 16: there is no point 9: there are 8 so far"),
        ("a.obj", swap(&model, "f 3 7 8 4", "f 3 7").into(), "line 16: a face with 2 corners"),
        ("a.obj", swap(&model, "usemtl", "curv2").into(), "\"curv2\" is not known"),
        ("a.obj", swap(&model, "v 1 2 3", "v 1 2").into(), "line 1: a number is missing"),
        ("a.gltf", swap(&scene, "\"count\": 8", "\"count\": 9").into(), "accessors[0]: 9 entries are more than"),
        ("a.gltf", swap(&scene, "\"count\": 36", "\"count\": 4611686018427387904").into(), "accessors[1]: 46116"),
        ("a.gltf", swap(&scene, "\"children\": [0]", "\"children\": [1]").into(), "it is part of itself"),
        ("a.gltf", swap(&scene, "\"mesh\": 0", "\"mesh\": 3").into(), "meshes[3]: it is not there"),
        (
            "a.gltf",
            swap(&scene, "\"scenes\"", "\"extensionsRequired\": [\"KHR_draco\"], \"scenes\"").into(),
            "KHR_draco",
        ),
        ("a.gltf", swap(&scene, "\"type\": \"VEC3\"", "\"type\": \"VEC2\"").into(), "accessors[0]: \"VEC2\""),
        ("a.gltf", swap(&scene, "data:application/octet-stream;base64,", "/etc/data?").into(), "buffers[0]: paths are"),
        ("a.gltf", b"{".to_vec(), "no JSON"),
        ("a.glb", chunk, "byte 12: a chunk of"),
        ("a.dae", Vec::new(), "not .dae"),
    ];
    for (name, bytes, expected) in cases {
        let error = parsed(name, &bytes).expect_err(expected).to_string();
        assert!(error.contains(expected), "{name}: {error:?} instead of {expected:?}");
    }
    assert!(matches!(read(Path::new("not-there.stl")), Err(MeshFileError::Unreadable(_))));
    assert!(matches!(read(Path::new(".")), Err(MeshFileError::Unreadable(_))));
}
