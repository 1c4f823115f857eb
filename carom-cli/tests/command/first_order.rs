//! First-order models on the command line: what check tells, columns of circuits, convergence of states, mistakes.

use super::session::Session;

/// The check of a linear model tells its structure.
#[test]
fn a_check_tells_the_structure() {
    let session = Session::new();
    // three integrators, and an oscillator as zero dynamics: zeros at ±i
    let out = session.succeed(["check", "higher-order-sweeping"]);
    for text in ["5 states, 1 rows", "relative degree  stop 3", "a P-matrix: well posed", "homsp"] {
        assert!(out.contains(text), "{text} is not in {out}");
    }
    let zeros = out.lines().find(|line| line.contains("zeros")).unwrap();
    assert!(zeros.contains("+ 1.000000 i") && zeros.contains("- 1.000000 i"), "{zeros}");
    assert!(session.succeed(["check", "rectifier"]).contains("relative degree  D 1"));
    assert!(session.succeed(["check", "play-operator"]).contains("1 states, 2 rows"));
    // a sign that is wrong: no solution from the wall on
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/higher-order-sweeping.toml"));
    session.write("wrong.toml", text.unwrap().replace("input = { z3 = 1 }", "input = { z3 = -1 }"));
    let outcome = session.carom(["check", "wrong.toml"]);
    let all = outcome.out + &outcome.err;
    assert_eq!(outcome.code, Some(2), "{all}");
    assert!(all.contains("P-matrix") && all.contains("`stop`"), "{all}");
}

/// Columns of the bridge obey Kirchhoff's laws and those of the diodes, row by row.
#[test]
fn columns_of_a_circuit() {
    let session = Session::new();
    session.succeed(["run", "diode-bridge", "--end", "2e-4", "--csv"]);
    let table = session.table("out/diode-bridge/trajectory.parquet");
    // before the first step there are no multipliers, nor what is computed from them
    let first = |name: &str| table.numbers(name)[0];
    assert_eq!((first("v.D4"), first("v.R"), first("lambda.D4"), first("output.rectified")), (None, None, None, None));
    assert_eq!((first("x.C"), first("v.C"), first("i.L")), (Some(10.0), Some(10.0), Some(0.0)));
    let column = |name: &str| table.numbers(name).into_iter().map(|x| x.unwrap_or(f64::NAN)).collect::<Vec<f64>>();
    let rows = 1..column("t").len();
    for k in rows {
        let [r, c] = ["v.R", "v.C"].map(|name| column(name)[k]);
        assert!((r - c.abs()).abs() < 1e-12, "{k}: {r} {c}");
        assert!((column("i.R")[k] - 1e-3 * r).abs() < 1e-15, "{k}");
        let sum = column("i.D1")[k] + column("i.D2")[k] - column("i.R")[k];
        assert!(sum.abs() < 1e-15, "{k}: {sum}");
        for diode in ["D1", "D2", "D3", "D4"] {
            let (v, i) = (column(&format!("v.{diode}"))[k], column(&format!("i.{diode}"))[k]);
            assert!(v < 1e-12 && i > -1e-14 && (v * i).abs() < 1e-12, "{k}: {diode} {v} {i}");
        }
    }
    assert_eq!(column("x.C"), column("v.C"));
    let report = session.read("out/diode-bridge/report.html");
    assert!(report.contains("Voltages") && !report.contains("[m/s]"), "the report speaks of mechanics");
}

/// States converge to the exact solution, with the order of each scheme; and to a fine run where there is none.
#[test]
fn states_converge() {
    let session = Session::new();
    let out = session.succeed([
        "converge",
        "rectifier",
        "--steps",
        "2e-5:1e-5:2",
        "--grids",
        "1",
        "--scheme",
        "{ name = \"euler-moreau\", theta = 0.5 }",
    ]);
    assert!(out.contains("the exact solution of rectifier") && out.contains("x sup") && !out.contains("v l1"), "{out}");
    let text = session.read("out/rectifier-convergence/convergence.csv");
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    assert_eq!(header[header.len() - 4..], ["x_l1", "x_l2", "x_sup", "x_hausdorff"]);
    let sup: Vec<f64> = text.lines().skip(1).map(|line| line.rsplit(',').nth(1).unwrap().parse().unwrap()).collect();
    // largest errors computed independently: 9.126e-6 at 2e-5, 2.278e-6 at 1e-5
    assert!((sup[0] - 9.126e-6).abs() < 3e-7, "{sup:?}");
    assert!((sup[1] - 2.278e-6).abs() < 1e-7, "{sup:?}");
    let out = session.succeed([
        "converge",
        "twisting-controller",
        "--steps",
        "0.02:0.005:2",
        "--grids",
        "1",
        "--refine",
        "8",
    ]);
    assert!(out.contains("a run of euler-moreau"), "{out}");
}

/// Lists name the kinds and the families.
#[test]
fn lists_know_the_family() {
    let session = Session::new();
    let models = session.succeed(["list", "models"]);
    assert!(["sweeping", "lcs", "first-order", "circuit"].iter().all(|kind| models.contains(kind)), "{models}");
    let schemes = session.succeed(["list", "schemes"]);
    let line = schemes.lines().find(|line| line.starts_with("catching-up") || line.contains(" catching-up ")).unwrap();
    assert!(line.contains("first-order"), "{line}");
}
