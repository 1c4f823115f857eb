//! Public linear complementarity, mixed and relay problems, where the data folder is present.
//!
//! Formats: a matrix is `storage rows columns`, then for dense storage `rows columns` and the entries by columns, for
//! blocks the cumulative sizes, the pattern and each block by columns. LCP: n, M, q. Mixed: two flags, numbers of
//! equalities and of complementarities, block starts and kinds, M, q, the same as A, B, C, D, a, b by rows, then
//! perhaps a solution. Relay: n, M, q, lower and upper bounds.

mod generated;

use carom_solve::{Law, SolveError, solver};
use generated::Problem;
use serde_json::json;
use std::path::PathBuf;

struct Words(std::vec::IntoIter<f64>);

impl Words {
    /// The numbers of a file up to the first word that is none.
    fn open(path: &PathBuf) -> Words {
        let text = std::fs::read_to_string(path).unwrap();
        let numbers: Vec<f64> = text.split_whitespace().map_while(|word| word.parse().ok()).collect();
        Words(numbers.into_iter())
    }

    fn count(&mut self) -> usize {
        self.0.next().unwrap() as usize
    }

    fn counts(&mut self, n: usize) -> Vec<usize> {
        (0..n).map(|_| self.count()).collect()
    }

    fn take(&mut self, n: usize) -> Vec<f64> {
        self.0.by_ref().take(n).collect()
    }

    /// Entries by columns into rows of `stride` from (row, column) on.
    fn columns(&mut self, at: (usize, usize), size: (usize, usize), stride: usize, out: &mut [f64]) {
        for j in 0..size.1 {
            for i in 0..size.0 {
                out[(at.0 + i) * stride + at.1 + j] = self.0.next().unwrap();
            }
        }
    }

    /// Rows, columns and the matrix, row-major.
    fn matrix(&mut self) -> (usize, usize, Vec<f64>) {
        let (storage, rows, columns) = (self.count(), self.count(), self.count());
        let mut matrix = vec![0.0; rows * columns];
        if storage == 0 {
            self.counts(2);
            self.columns((0, 0), (rows, columns), columns, &mut matrix);
            return (rows, columns, matrix);
        }
        let (_blocks, high, wide) = (self.count(), self.count(), self.count());
        let row_end = [vec![0], self.counts(high)].concat();
        let column_end = [vec![0], self.counts(wide)].concat();
        let (starts, filled) = (self.count(), self.count());
        let (starts, filled) = (self.counts(starts), self.counts(filled));
        for i in 0..starts.len() - 1 {
            for &j in &filled[starts[i]..starts[i + 1]] {
                self.count();
                let size = (row_end[i + 1] - row_end[i], column_end[j + 1] - column_end[j]);
                self.columns((row_end[i], column_end[j]), size, columns, &mut matrix);
            }
        }
        (rows, columns, matrix)
    }
}

/// The files of a folder in the order of their names.
fn files(folder: &str) -> Vec<(String, PathBuf)> {
    let folder = format!("{}/../../shared/data/{folder}", env!("CARGO_MANIFEST_DIR"));
    let Ok(files) = std::fs::read_dir(&folder) else {
        println!("skipped: no stored problems");
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = files.filter_map(|file| file.ok()).map(|file| file.path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), path)).collect()
}

/// A problem given by its matrix.
struct Stored {
    laws: Vec<Law>,
    matrix: Vec<f64>,
    q: Vec<f64>,
}

impl Stored {
    fn solve(&self, name: &str) -> Result<Vec<f64>, SolveError> {
        let problem = Problem::reduced(&self.laws, &self.matrix, &self.q);
        let mut solver = (solver::find(name).unwrap().build)(&json!({})).unwrap();
        let (z, certificate) = problem.solve(&mut *solver)?;
        assert!(certificate.residual <= 1e-10);
        Ok(z.lambda)
    }

    fn u(&self, lambda: &[f64]) -> Vec<f64> {
        let n = lambda.len();
        (0..n).map(|i| self.q[i] + (0..n).map(|j| self.matrix[i * n + j] * lambda[j]).sum::<f64>()).collect()
    }

    /// The natural map without any scaling, judged against 1e-10 and what rounding leaves of `M λ`.
    fn assert_solved(&self, lambda: &[f64], name: &str) {
        let largest = |x: &[f64]| x.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
        let rounding = 4.0 * f64::EPSILON * largest(&self.matrix) * largest(lambda);
        for (i, (&u, law)) in self.u(lambda).iter().zip(&self.laws).enumerate() {
            let mut missed = [0.0];
            law.natural_map(&[lambda[i]], &[u], 1.0, &mut missed);
            assert!(missed[0].abs() <= 1e-10 + rounding, "{name} row {i}: {:e}", missed[0]);
        }
    }
}

#[test]
fn lcp_files() {
    // problems with one solution, found by hand or by an independent enumeration
    let known: [(&str, &[f64]); 12] = [
        ("lcp_CPS_2", &[0.0, 1.0, 3.0]),
        ("lcp_CPS_4", &[2.0, 2.0, 2.0, 92.0]),
        ("lcp_CPS_4bis", &[3.0, 3.0, 0.0, 83.0]),
        ("lcp_CPS_5", &[0.0, 1.0]),
        ("lcp_Pang_isolated_sol", &[1.0, 0.0, 0.0]),
        ("lcp_deudeu", &[4.0 / 3.0, 7.0 / 3.0]),
        ("lcp_deudeu_block", &[4.0 / 3.0, 7.0 / 3.0]),
        ("lcp_exp_murty", &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]),
        ("lcp_exp_murty2", &[0.0, 0.0, 0.0, 0.0, 0.0, 64.0]),
        ("lcp_inf_sol_perturbed", &[1.0, 0.0, 1e-4]),
        ("lcp_ortiz", &[2.0 / 3.0, 0.0, 1.0 / 3.0, 0.0]),
        ("lcp_ortiz_block", &[2.0 / 3.0, 0.0, 1.0 / 3.0, 0.0]),
    ];
    for (name, path) in files("lcp") {
        let mut words = Words::open(&path);
        let n = words.count();
        let (_, _, matrix) = words.matrix();
        let stored = Stored { laws: vec![Law::UNILATERAL; n], matrix, q: words.take(n) };
        // w₀ = −z₁ − z₂ − 1e-4 cannot be positive: there is no solution
        if name == "lcp_Pang_isolated_sol_perturbed" {
            assert!(matches!(stored.solve("lemke"), Err(SolveError::Ray { .. })));
            assert!(matches!(stored.solve("enumerative"), Err(SolveError::NoSolution { .. })));
            continue;
        }
        // a bimatrix game, copositive but not plus: the first pivot of Lemke's method is on a ray
        let method = if name == "lcp_CPS_3" { "newton-min" } else { "lemke" };
        let lambda = stored.solve(method).unwrap_or_else(|error| panic!("{name}: {error}"));
        stored.assert_solved(&lambda, &name);
        if let Some((_, expected)) = known.iter().find(|known| known.0 == name) {
            let near = lambda.iter().zip(*expected).all(|(a, b)| (a - b).abs() < 1e-10 * b.abs().max(1.0));
            assert!(near, "{name}: {lambda:?}");
        }
        if name.starts_with("lcp_trivial") {
            assert!(lambda.iter().enumerate().all(|(i, x)| (x - 1.0 / (i + 1) as f64).abs() < 1e-12), "{lambda:?}");
        }
    }
}

#[test]
fn mixed_lcp_files() {
    let valid = ["BuckConverter", "deudeu", "m2n1", "m3n2", "relay2", "relay3", "diodeBridge"];
    for (name, path) in files("mlcp") {
        let mut words = Words::open(&path);
        words.counts(2);
        let (equalities, pairs) = (words.count(), words.count());
        let mut start = vec![words.count()];
        while start[start.len() - 1] < equalities + pairs {
            start.push(words.count());
        }
        let kinds = words.counts(start.len() - 1);
        let mut laws = Vec::new();
        for (kind, range) in kinds.iter().zip(start.windows(2)) {
            laws.extend((range[0]..range[1]).map(|_| if *kind == 0 { Law::EQUALITY } else { Law::UNILATERAL }));
        }
        let (rows, columns, matrix) = words.matrix();
        if rows != columns {
            // three rows for two unknowns and two entries of q: M and q of this file do not belong together
            assert_eq!((name.as_str(), rows, columns, laws.len()), ("Rectangular_mlcp", 3, 2, 2));
            continue;
        }
        let stored = Stored { laws, matrix, q: words.take(rows) };
        let lambda = stored.solve("lemke").unwrap_or_else(|error| panic!("{name}: {error}"));
        stored.assert_solved(&lambda, &name);
        // A, B, C, D, a, b; then all unknowns but the first, and w, with six decimals
        words.take(rows * rows + rows);
        let tail = words.take(equalities + 2 * pairs);
        if valid.iter().any(|valid| name == format!("{valid}_mlcp")) && tail.len() == equalities - 1 + 2 * pairs {
            let u = stored.u(&lambda);
            let found = lambda[1..].iter().chain(&u[equalities..]);
            // the solution of m2n1 belongs to 4/3, the file has 1.3333 and multiplies it by 3
            let accuracy = if name == "m2n1_mlcp" { 1.5e-4 } else { 2e-6 };
            let near = found.zip(&tail).all(|(a, b)| (a - b).abs() < accuracy * b.abs().max(1.0));
            assert!(near, "{name}: {lambda:?} {u:?} {tail:?}");
        }
    }
}

#[test]
fn relay_files() {
    for (name, path) in files("relay") {
        let mut words = Words::open(&path);
        let n = words.count();
        let (_, _, matrix) = words.matrix();
        let (q, lower, upper) = (words.take(n), words.take(n), words.take(n));
        let laws = lower.iter().zip(&upper).map(|(&lower, &upper)| Law::interval(lower, upper)).collect();
        let stored = Stored { laws, matrix, q };
        for method in ["lemke", "newton-min"] {
            let lambda = stored.solve(method).unwrap_or_else(|error| panic!("{name}: {error}"));
            stored.assert_solved(&lambda, &name);
            // each row alone: −q/m, cut to its interval
            let m = &stored.matrix;
            if (0..n * n).all(|k| k / n == k % n || m[k] == 0.0) {
                for i in 0..n {
                    let expected = (-stored.q[i] / m[i * n + i]).max(lower[i]).min(upper[i]);
                    assert!((lambda[i] - expected).abs() < 1e-14, "{name}: {lambda:?}");
                }
            }
        }
    }
}
