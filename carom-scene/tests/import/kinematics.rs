//! Chains of joints on one body: what a model of the file has for them, beside motions that are put together by hand.

use super::{read, scene};
use carom_scene::import::{Options, import_text};
use std::path::Path;

type Matrix = [[f64; 3]; 3];

fn about(axis: [f64; 3], angle: f64) -> Matrix {
    let size = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
    let [x, y, z] = axis.map(|a| a / size);
    let (s, c) = angle.sin_cos();
    let d = 1.0 - c;
    [
        [c + x * x * d, x * y * d - z * s, x * z * d + y * s],
        [y * x * d + z * s, c + y * y * d, y * z * d - x * s],
        [z * x * d - y * s, z * y * d + x * s, c + z * z * d],
    ]
}

fn apply(m: &Matrix, v: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| (0..3).map(|j| m[i][j] * v[j]).sum())
}

/// (turns, axis, point)
type Link = (bool, [f64; 3], [f64; 3]);

/// Where a point of the last body goes when each link moves by its coordinate, the first one next to the ground.
fn moved(links: &[Link], values: &[f64], point: [f64; 3]) -> [f64; 3] {
    links.iter().zip(values).rev().fold(point, |p, ((turns, axis, at), value)| {
        let size = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
        if *turns {
            let turned = apply(&about(*axis, *value), std::array::from_fn(|k| p[k] - at[k]));
            std::array::from_fn(|k| at[k] + turned[k])
        } else {
            std::array::from_fn(|k| p[k] + axis[k] / size * value)
        }
    })
}

fn text(links: &[Link]) -> String {
    let vector = |v: [f64; 3]| v.map(|x| x.to_string()).join(" ");
    let joints: Vec<String> = links
        .iter()
        .enumerate()
        .map(|(i, (turns, axis, at))| {
            let kind = if *turns { "hinge" } else { "slide" };
            format!("<joint name='j{i}' type='{kind}' axis='{}' pos='{}'/>", vector(*axis), vector(*at))
        })
        .collect();
    format!(
        "<mujoco><option gravity='1 2 3'/><worldbody><body name='b'>{}
        <inertial pos='.3 .2 -.1' mass='2' fullinertia='.05 .04 .03 .002 .001 -.003'/></body></worldbody></mujoco>",
        joints.join("")
    )
}

const X: [f64; 3] = [1.0, 0.0, 0.0];
const Y: [f64; 3] = [0.0, 1.0, 0.0];
const Z: [f64; 3] = [0.0, 0.0, 1.0];
const O: [f64; 3] = [0.0; 3];

/// Chains that other joints say as well, and those that none of them does.
fn chains() -> Vec<(&'static str, Vec<Link>)> {
    let p = [0.1, -0.2, 0.3];
    let q = [0.2, 0.1, -0.1];
    vec![
        ("two ways", vec![(false, X, O), (false, Z, O)]),
        ("planar", vec![(false, X, O), (false, Z, O), (true, Y, p)]),
        ("universal", vec![(true, Z, p), (true, Y, p)]),
        ("slanted", vec![(true, Z, p), (true, [0.0, 1.0, 1.0], p)]),
        ("two points", vec![(true, Y, p), (true, [1.0, 0.0, 0.5], q)]),
        ("three turns", vec![(true, X, p), (true, Z, p), (true, Y, p)]),
        ("three points", vec![(true, X, p), (true, [0.0, 0.3, 1.0], q), (true, Y, O)]),
        ("polar", vec![(true, Z, p), (false, X, O)]),
        ("way between", vec![(true, Z, p), (false, [1.0, 1.0, 0.0], O), (true, X, q)]),
        ("ways and turns", vec![(false, X, O), (false, Y, O), (false, Z, O), (true, X, p), (true, Y, p), (true, Z, p)]),
        ("slanted ways", vec![(false, X, O), (false, [1.0, 1.0, 0.0], O), (true, Z, q)]),
    ]
}

/// Coordinates of the model are those that the body was moved by, and its rows have no residual there.
#[test]
fn chains_undo_what_their_links_do() {
    for (name, links) in chains() {
        let values: Vec<f64> = (0..links.len()).map(|i| 0.35 * (1.7 * i as f64 + 1.0).sin()).collect();
        let imported = read("chain.xml", &text(&links)).unwrap();
        let scene = scene(name, &imported, 0.01, 1e-3);
        let start = scene.simulation().unwrap().state().clone();
        // the body where its links put it: mass centre, and the attitude by images of axes
        let centre = [0.3, 0.2, -0.1];
        let image = |v: [f64; 3]| moved(&links, &values, v);
        let origin = image(O);
        let columns = [X, Y, Z].map(|axis| {
            let end = image(axis);
            std::array::from_fn::<f64, 3, _>(|k| end[k] - origin[k])
        });
        let mut state = start.clone();
        let w = (1.0 + columns[0][0] + columns[1][1] + columns[2][2]).sqrt() / 2.0;
        let attitude = [
            w,
            (columns[1][2] - columns[2][1]) / (4.0 * w),
            (columns[2][0] - columns[0][2]) / (4.0 * w),
            (columns[0][1] - columns[1][0]) / (4.0 * w),
        ];
        state.q[..3].copy_from_slice(&image(centre));
        state.q[3..7].copy_from_slice(&attitude);
        let carom::scheme::AnyModel::Mechanical(mut model) = scene.model().unwrap() else { panic!() };
        let mut coupling = carom::Coupling::default();
        model.couple(0.0, &state.q, &mut coupling).unwrap();
        assert_eq!(coupling.pairs.len(), 6 - links.len(), "{name}");
        for pair in &coupling.pairs {
            assert!(pair.gap.abs() < 1e-12, "{name}: {:e}", pair.gap);
        }
        rows_are_derivatives(name, model.as_mut(), &state);
    }
}

/// Rows are what the differences of gaps along velocities are.
fn rows_are_derivatives(name: &str, model: &mut dyn carom::model::Mechanical, state: &carom::State) {
    let mut coupling = carom::Coupling::default();
    let mut gaps = |model: &mut dyn carom::model::Mechanical, q: &[f64]| -> Vec<f64> {
        model.couple(0.0, q, &mut coupling).unwrap();
        coupling.pairs.iter().map(|pair| pair.gap).collect()
    };
    let n = state.v.len();
    let mut rows = carom::Coupling::default();
    model.couple(0.0, &state.q, &mut rows).unwrap();
    let d = 1e-5;
    for j in 0..n {
        let side = |model: &mut dyn carom::model::Mechanical, sign: f64| {
            let mut step = vec![0.0; n];
            step[j] = sign * d;
            let mut q = state.q.clone();
            model.retract(&state.q, &step, &mut q);
            q
        };
        let (plus, minus) = (side(model, 1.0), side(model, -1.0));
        let (above, below) = (gaps(model, &plus), gaps(model, &minus));
        let mut unit = vec![0.0; n];
        unit[j] = 1.0;
        let mut product = vec![0.0; rows.pairs.len()];
        rows.rows.mul(&unit, &mut product);
        for (k, found) in product.iter().enumerate() {
            let expected = (above[k] - below[k]) / (2.0 * d);
            assert!((found - expected).abs() < 1e-8, "{name}: row {k}, velocity {j}: {found} beside {expected}");
        }
    }
}

/// Columns of results are the coordinates of the links, with their rates.
#[test]
fn links_have_coordinates_with_rates() {
    for (name, links) in chains() {
        let values: Vec<(String, f64)> =
            (0..links.len()).map(|i| (format!("j{i}"), 0.1 * (i as f64 + 1.0).cos())).collect();
        let rates = (0..links.len()).map(|i| (format!("j{i}"), vec![0.2 + 0.1 * i as f64])).collect();
        let text = text(&links).replace("gravity='1 2 3'", "gravity='0 0 0'");
        let options = Options { positions: values, rates, ..Options::default() };
        let imported = import_text(Path::new("chain.xml"), &text, &options).unwrap();
        // the rates of columns over a short time are those that were given
        let short = 1e-4;
        let mut model = imported.text.clone();
        let mut columns = String::from("[output.columns]\n");
        let mut expected = String::new();
        for (i, (turns, ..)) in links.iter().enumerate() {
            let part = if *turns { "angle" } else { "along" };
            let rate = 0.2 + 0.1 * i as f64;
            columns += &format!("s{i} = \"b_joint.{part}{k}\"\nr{i} = \"b_joint.{part}{k}'\"\n", k = i + 1);
            for (name, value, tolerance) in [("s", short * rate, 1e-7), ("r", rate, 1e-3)] {
                let words = format!("quantity = \"final output.{name}{i}\"\nvalue = {value}\ntolerance = {tolerance}");
                expected += &format!("[[expect]]\n{words}\nsource = \"given\"\n");
            }
        }
        model = model.replace("[simulation]", &format!("{columns}[simulation]")) + &expected;
        model = model.replace("end = 1.0\nstep = 0.001", "end = 1e-4\nsteps = 1");
        let scene = carom_scene::from_str(name, &model, &Default::default());
        let scene = scene.unwrap_or_else(|errors| panic!("{name}: {}\n{model}", errors[0]));
        let mut watch = scene.watch();
        assert!(scene.simulation().unwrap().run(&mut [&mut watch]).unwrap());
        for outcome in watch.outcomes() {
            assert!(outcome.holds, "{name}: {outcome:?}");
        }
    }
}
