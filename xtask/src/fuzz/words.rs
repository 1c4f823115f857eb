//! What cases are made of besides the examples: options, words, numbers at borders, small meshes.

/// Examples that studies like, each with a parameter and a coordinate.
pub const STUDIED: &[(&str, &str, &str)] = &[
    ("bouncing-ball", "e", "y"),
    ("chaotic-oscillator", "om", "u"),
    ("chaotic-oscillator", "e", "u"),
    ("bistable-oscillator", "om", "u"),
    ("linear-oscillator", "stiffness", "q"),
    ("linear-oscillator", "damping", "q"),
    ("impact-oscillator", "um", "u"),
    ("preloaded-oscillator", "damping", "q"),
    ("preloaded-oscillator", "preload", "q"),
    ("two-mass-chain", "clearance", "left"),
    ("double-pendulum", "l", "a"),
    ("stick-slip", "mu_s", "x"),
    ("sliding-block", "m", "x"),
    ("slider-crank-play", "play", "q.slider.x"),
];

pub const SCHEMES: &[&str] = &[
    "moreau-jean",
    "direct-projection",
    "combined-projection",
    "higher-order",
    "event-driven",
    "schatzman-paoli",
    "corrected-paoli",
    "position-level",
    "euler-moreau",
    "catching-up",
    "homsp",
    "{ name = \"moreau-jean\", theta = 1 }",
    "{ name = \"moreau-jean\", theta = 0 }",
    "{ name = \"moreau-jean\", theta = nan }",
    "{ name = \"event-driven\", tolerance = 1e-300 }",
    "{ name = ",
    "moreau",
];

pub const SOLVERS: &[&str] = &[
    "auto",
    "lemke",
    "nsgs",
    "newton",
    "enumerative",
    "interior-point",
    "proximal",
    "{ name = \"nsgs\", tolerance = 1e-14 }",
    "{ name = \"nsgs\", tolerance = -1 }",
    "{ name = \"nsgs\", iterations = 0 }",
    "{ name = \"auto\", budget = 1e3 }",
    "",
];

/// Values of options: numbers at borders.
pub const VALUES: &[&str] = &[
    "0", "1", "-1", "0.5", "2", "3", "1e-3", "1e-9", "1e-300", "1e300", "nan", "inf", "-inf", "1e16", "0.1", "pi",
    "10", "1e-16", "-0.0", "1/0",
];

/// Values of options: words.
pub const WORDS: &[&str] = &[
    "",
    "all",
    "e=0.5",
    "y=0:1:3",
    "1:2",
    "1:2:3",
    "0.1:0.01",
    "1/2",
    "0/0",
    "3/2",
    "final y",
    "max energy.total",
    "off",
    "q.*",
    "impact",
    "strobe",
    "1,2,3",
    "lcp",
    "residual",
    "full-error",
    "{ tolerance = 1e-6 }",
    "../x",
    "\u{1F3B1}",
    "e=",
    "=1",
    "tower",
    "rcp",
];

/// What a command wants, where it is no model.
pub const OPERAND_OF: &[(&str, &str)] = &[
    ("run", "model.toml"),
    ("check", "model.toml"),
    ("solve", "arch.hdf5"),
    ("import", "model.toml"),
    ("sweep", "bouncing-ball --vary e=0:0.5:2 --end 0.5"),
    ("bifurcation", "chaotic-oscillator --parameter om=2.5:2.6:2 --periods 3 --transient 3"),
    ("lyapunov", "chaotic-oscillator --intervals 20 --transient 3"),
    ("basin", "bistable-oscillator --x u=-0.2:1:3 --y u'=-1:1:3 --transient 3"),
    ("equilibrium", "ladder"),
    ("converge", "bouncing-ball --steps 0.1:1e-2"),
    ("generate", "tower --contacts 20 -o tower.hdf5"),
    ("profile", "--family tower --contacts 20"),
    ("compare", "out out"),
    ("show", "moreau-jean"),
    ("list", "schemes"),
    ("docs", "problems"),
    ("schema", ""),
    ("new", "ball"),
    ("completions", "bash"),
];

/// Files and names.
pub const OPERANDS: &[&str] = &[
    "model.toml",
    "bouncing-ball",
    "rocking-block",
    "diode-bridge",
    "slider-crank-play",
    "missing.toml",
    ".",
    "",
    "arch.hdf5",
    "tower",
    "schemes",
    "moreau-jean",
    "sweep",
    "bash",
    "\u{1F3B1}",
    "/dev/null",
    "out",
];

/// What is put into robot descriptions.
pub const ROBOTS: &[&str] = &[
    "<",
    "/>",
    "<!--",
    "-->",
    "&amp;",
    "&x;",
    "<joint/>",
    "<geom/>",
    "</body>",
    "<link name='a'/>",
    "type=\"ball\"",
    "axis=\"0 0 0\"",
    " 1e300",
    " inf",
    " -1",
    "<freejoint/>",
    "floating",
    "<mimic joint=\"grip\"/>",
];

pub const MESH_MODEL: &str = "version = 1\nname = \"mesh\"\n[model]\nkind = \"multibody\"\ngravity = [0, 0, -9.81]\n\
    [[body]]\nname = \"stone\"\nposition = [0, 0, 3]\n[[body.shape]]\nkind = \"mesh\"\nfile = \"FILE\"\n\
    density = 1000\n[simulation]\nend = 0.1\nstep = 0.01\n";

pub const STL: &str = "solid a\n\
    facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendfacet\n\
    facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\nendloop\nendfacet\n\
    facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 1\nvertex 0 1 0\nendloop\nendfacet\n\
    facet normal 0 0 0\nouter loop\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1\nendloop\nendfacet\nendsolid a\n";

/// The same as a binary file.
pub fn binary() -> Vec<u8> {
    let numbers = STL.lines().filter_map(|line| line.strip_prefix("vertex "));
    let corners: Vec<f32> = numbers.flat_map(|line| line.split(' ').map(|x| x.parse().unwrap_or(0.0))).collect();
    let mut bytes = vec![0; 80];
    bytes.extend(((corners.len() / 9) as u32).to_le_bytes());
    for triangle in corners.chunks_exact(9) {
        bytes.extend([0; 12]);
        bytes.extend(triangle.iter().flat_map(|x| x.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

/// A tetrahedron: four corners as floats, twelve indices as bytes.
pub const GLTF: &str = concat!(
    r#"{
"asset": { "version": "2.0" },
"scene": 0,
"scenes": [{ "nodes": [0] }],
"nodes": [{ "mesh": 0 }],
"meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "indices": 1 }] }],
"accessors": [
{ "bufferView": 0, "componentType": 5126, "count": 4,
"type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 1] },
{ "bufferView": 1, "componentType": 5121, "count": 12, "type": "SCALAR" }],
"bufferViews": [
{ "buffer": 0, "byteOffset": 0, "byteLength": 48 },
{ "buffer": 0, "byteOffset": 48, "byteLength": 12 }],
"buffers": [{ "byteLength": 60, "uri": "data:application/octet-stream;base64,"#,
    "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8A",
    "AAAAAAAAAAAAAAAAAIA/AAIBAAEDAAMCAQID",
    r#"" }]
}
"#
);
