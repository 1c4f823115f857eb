//! Public linear complementarity problems, where the data folder is present (dense files alone).
//!
//! Format: n, storage, rows, columns, rows, columns, entries in column-major order, q.

mod generated;

use carom_solve::{Law, SOLVERS};
use generated::Problem;
use serde_json::json;
use std::path::Path;

/// The matrix in row-major order and q, if the file is a dense LCP.
fn read(path: &Path) -> Option<(Vec<f64>, Vec<f64>)> {
    let text = std::fs::read_to_string(path).ok()?;
    let numbers: Vec<f64> = text.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let n = *numbers.first()? as usize;
    if *numbers.get(1)? != 0.0 {
        return None;
    }
    let entries = numbers.get(6..6 + n * n)?;
    let q = numbers.get(6 + n * n..6 + n * n + n)?;
    let m = (0..n * n).map(|k| entries[(k % n) * n + k / n]).collect();
    Some((m, q.to_vec()))
}

#[test]
fn dense_lcp_files() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/lcp");
    let Ok(files) = std::fs::read_dir(folder) else {
        println!("skipped: no stored problems");
        return;
    };
    // problems with one solution, found by enumeration by hand or by an independent program
    let known: [(&str, &[f64]); 6] = [
        ("lcp_CPS_2.dat", &[0.0, 1.0, 3.0]),
        ("lcp_CPS_4.dat", &[2.0, 2.0, 2.0, 92.0]),
        ("lcp_CPS_5.dat", &[0.0, 1.0]),
        ("lcp_deudeu.dat", &[4.0 / 3.0, 7.0 / 3.0]),
        ("lcp_exp_murty.dat", &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]),
        ("lcp_ortiz.dat", &[2.0 / 3.0, 0.0, 1.0 / 3.0, 0.0]),
    ];
    let mut solved = 0;
    for path in files.filter_map(|file| file.ok()).map(|file| file.path()) {
        let Some((m, q)) = read(&path) else { continue };
        let (n, name) = (q.len(), path.file_name().unwrap_or_default().to_string_lossy().into_owned());
        let problem = Problem::reduced(&vec![Law::Unilateral; n], &m, &q);
        let expected = known.iter().find(|known| known.0 == name).map(|known| known.1);
        for row in SOLVERS {
            let mut solver = (row.build)(&json!({})).unwrap();
            let result = problem.solve(&mut *solver);
            if let (Err(error), Some(_)) = (&result, expected) {
                assert!(row.info.name == "nsgs", "{name} by {}: {error}", row.info.name);
            }
            let Ok((z, _)) = result else { continue };
            solved += 1;
            // judged by hand: min(z, Mz + q) = 0
            let size = q.iter().chain(&z.lambda).fold(0.0, |a: f64, x| a.max(x.abs()));
            for i in 0..n {
                let w = q[i] + (0..n).map(|j| m[i * n + j] * z.lambda[j]).sum::<f64>();
                let scale = m[i * n..(i + 1) * n].iter().fold(1.0, |a: f64, x| a.max(x.abs()));
                assert!(w.min(z.lambda[i]).abs() < 1e-8 * scale * size, "{name} by {}: {w}", row.info.name);
            }
            if let Some(expected) = expected {
                let near = z.lambda.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-8 * size);
                assert!(near, "{name} by {}: {:?}", row.info.name, z.lambda);
            }
        }
    }
    assert!(solved > 20, "{solved}");
}
