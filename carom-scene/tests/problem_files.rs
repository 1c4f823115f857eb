//! Stored problems: all public files where the data folder is present, malformed variants, and round trips.

use carom_scene::problem_file::{FileFormat, Position, Reason, encode_fclib, parse, read};
use carom_solve::{GlobalParts, Law, ProblemWork, Reaction, Rows, StoredProblem, solver};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::path::{Path, PathBuf};

/// The files of a part of the data folder; none where it is absent.
fn files(part: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(part);
    let Ok(list) = std::fs::read_dir(&folder) else {
        println!("skipped: no stored problems ({part})");
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = list.filter_map(|file| file.ok()).map(|file| file.path()).collect();
    files.sort();
    files
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[test]
fn complementarity_files_have_their_sizes() {
    for path in files("lcp") {
        let name = file_name(&path);
        let file = read(&path, None).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(file.kind, FileFormat::Lcp, "{name}");
        let expected = match name.as_str() {
            "lcp_mmc.dat" => 26..=26,
            "lcp_tobenna.dat" => 40..=40,
            _ => 2..=9,
        };
        assert!(expected.contains(&file.problem.size()), "{name}: {}", file.problem.size());
        assert_eq!(file.problem.kind(), "linear complementarity");
        // the kind can be told by the content alone, unless numbers follow
        let bytes = std::fs::read(&path).unwrap();
        if file.trailing.is_empty() {
            assert_eq!(parse("unknown.txt", &bytes, None).unwrap().kind, FileFormat::Lcp, "{name}");
        }
    }
    for (name, n, m) in
        [("deudeu", 1, 1), ("m2n1", 1, 2), ("m3n2", 2, 3), ("deltasigma", 65, 156), ("Rectangular", 1, 1)]
    {
        let Some(path) = files("mlcp").into_iter().find(|path| file_name(path) == format!("{name}_mlcp.dat")) else {
            continue;
        };
        let file = read(&path, None).unwrap_or_else(|error| panic!("{error}"));
        let equalities = file.problem.laws().iter().filter(|law| law.is_equality()).count();
        assert_eq!((equalities, file.problem.contacts()), (n, m), "{name}");
        assert_eq!(file.notes.len(), usize::from(name == "Rectangular"), "{:?}", file.notes);
    }
    for path in files("mlcp") {
        let bytes = std::fs::read(&path).unwrap();
        let file = parse("unknown.txt", &bytes, None).unwrap_or_else(|error| panic!("{}: {error}", file_name(&path)));
        assert_eq!(file.kind, FileFormat::Mlcp);
    }
    for path in files("relay") {
        let name = file_name(&path);
        let file = read(&path, None).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(file.kind, FileFormat::Relay, "{name}");
        assert!((1..=15).contains(&file.problem.size()), "{name}");
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(parse("unknown.txt", &bytes, None).unwrap().kind, FileFormat::Relay, "{name}");
    }
}

/// Matrix and vectors of a mixed problem with its stored solution: the tail is (u₂ …, v, w).
#[test]
fn stored_mixed_solutions_fit_what_was_read() {
    for name in ["BuckConverter", "deudeu", "m2n1", "m3n2", "relay2", "relay3", "diodeBridge"] {
        let Some(path) = files("mlcp").into_iter().find(|path| file_name(path) == format!("{name}_mlcp.dat")) else {
            continue;
        };
        let file = read(&path, None).unwrap();
        let (problem, tail) = (&file.problem, &file.trailing);
        let n = problem.laws().iter().filter(|law| law.is_equality()).count();
        let m = problem.size() - n;
        assert_eq!(tail.len(), n - 1 + 2 * m, "{name}");
        let (v, w) = (&tail[n - 1..n - 1 + m], &tail[n - 1 + m..]);
        // 0 = A u + C v + a gives the first u that is lost; then w = D u + B v + b. Six decimals are stored.
        let rows = problem.given_w().unwrap();
        let mut z = vec![0.0];
        z.extend_from_slice(&tail[..n - 1 + m]);
        let residual = |i: usize, z: &[f64]| rows.dot(i, z) + problem.b()[i];
        let column: Vec<f64> =
            (0..n).map(|i| rows.row(i).iter().filter(|entry| entry.0 == 0).map(|entry| entry.1).sum()).collect();
        let size: f64 = column.iter().map(|x| x * x).sum();
        z[0] = -(0..n).map(|i| column[i] * residual(i, &z)).sum::<f64>() / size;
        for i in 0..n + m {
            let expected = if i < n { 0.0 } else { w[i - n] };
            let scale: f64 = 1.0 + rows.row(i).iter().map(|entry| entry.1.abs()).sum::<f64>();
            // m2n1 was solved with 4/3 where the file has 1.3333
            let digits = if name == "m2n1" { 1e-4 } else { 1e-5 };
            assert!((residual(i, &z) - expected).abs() < digits * scale, "{name} row {i}: {}", residual(i, &z));
        }
        assert!(v.iter().zip(w).all(|(v, w)| *v >= 0.0 && *w >= 0.0 && v * w < 1e-5), "{name}");
    }
}

#[test]
fn friction_files_have_their_sizes() {
    let contacts = [
        ("Box_Stacks-i0122-82-5.hdf5", 3, 82),
        ("BoxesStack1-i100000-32.hdf5.dat", 3, 52),
        ("Capsules-i100-889.dat", 3, 276),
        ("Capsules-i103-990.dat", 3, 275),
        ("Capsules-i125-1213.hdf5", 3, 286),
        ("Confeti-ex03-Fc3D-SBM.dat", 3, 54),
        ("Confeti-ex13-4contact-Fc3D-SBM.dat", 3, 4),
        ("FC2D_SliderCrankLagrangian00000.dat", 2, 2),
        ("FrictionContactProblem00071.dat", 2, 89),
        ("FrictionContactProblem00237.dat", 2, 376),
        ("GFC3D_Example0_SBM.dat", 3, 1),
        ("GFC3D_Example00.dat", 3, 1),
        ("GFC3D_TwoRods1-condensed.dat", 3, 3),
        ("KaplasTower-i1061-4.hdf5.dat", 3, 570),
        ("NESpheres_10_1.dat", 3, 9),
        ("OneObject-i100000-316.hdf5.dat", 3, 25),
        ("OneObject-i1028-138.hdf5.dat", 3, 23),
        ("fc2d_granularflowonwall_00667_00000.dat", 2, 667),
        ("fc2d_granularflowonwall_07002_00801.dat", 2, 7002),
        ("gfc2d_granularflowonwall_00000_00117.dat", 2, 0),
        ("gfc2d_granularflowonwall_00069_00350.dat", 2, 69),
        ("spheres-in-a-box-98-i10000-256-10.hdf5", 3, 256),
    ];
    let mut seen = 0;
    for path in files("friction") {
        let name = file_name(&path);
        if name == "ACinputs.dat" {
            let error = read(&path, None).unwrap_err();
            assert!(matches!(error.reason, Reason::Unknown { .. }), "{error}");
            continue;
        }
        let file = read(&path, None).unwrap_or_else(|error| panic!("{error}"));
        let reduced = name == "GFC3D_TwoRods1-condensed.dat"; // in spite of its name
        let global = name.to_lowercase().starts_with("gfc") && !reduced
            || name.starts_with("Box_")
            || name.starts_with("spheres");
        assert_eq!(file.problem.dofs().is_some(), global, "{name}");
        if name.ends_with(".dat") {
            assert_eq!(file.kind, if global { FileFormat::GlobalFriction } else { FileFormat::Friction }, "{name}");
            let bytes = std::fs::read(&path).unwrap();
            assert_eq!(parse("unknown", &bytes, None).unwrap().kind, file.kind, "{name}");
        }
        if name.starts_with("gfc2d") {
            assert_eq!(file.problem.dofs(), Some((900, 900)));
        }
        let Some(&(_, dimension, contacts)) = contacts.iter().find(|known| known.0 == name) else { continue };
        seen += 1;
        assert_eq!((file.problem.contacts(), file.problem.size()), (contacts, contacts * dimension), "{name}");
    }
    assert!(seen == 0 || seen == contacts.len(), "{seen}");
}

/// W is symmetric or slightly asymmetric: figures found by an independent program, to one digit.
#[test]
fn asymmetry_is_that_of_the_files() {
    for path in files("friction") {
        let (low, high) = match file_name(&path).as_str() {
            "Capsules-i100-889.dat" => (6.5e-4, 7.5e-4),
            "Capsules-i103-990.dat" => (1.5e-3, 2.5e-3),
            "OneObject-i100000-316.hdf5.dat" => (4.5e-5, 5.5e-5),
            "OneObject-i1028-138.hdf5.dat" => (0.5e-4, 1.5e-4),
            "KaplasTower-i1061-4.hdf5.dat" | "Confeti-ex03-Fc3D-SBM.dat" => (0.0, 1e-6),
            _ => continue,
        };
        let asymmetry = read(&path, None).unwrap().problem.asymmetry();
        assert!((low..=high).contains(&asymmetry), "{path:?} {asymmetry:e}");
    }
}

/// A planar and a spatial problem in both forms, with and without equalities.
fn problems() -> Vec<StoredProblem> {
    let planar = vec![Law::coulomb(0.25, 1), Law::coulomb(0.5, 1)];
    let mut w = Rows::new(4);
    for row in [[2.0, 0.1, -1.0, 0.0], [0.3, 2.0, 0.0, 0.0], [-1.0, 0.0, 3.0, 0.1], [0.0, 0.0, 0.1, 1.0 / 3.0]] {
        w.push_sparse(row.into_iter().enumerate().filter(|entry| entry.1 != 0.0));
    }
    let b = vec![-1.0, 0.1, 1e-20, -7.0];
    let mut jacobian = Rows::new(5);
    for i in 0..5 {
        jacobian.push_sparse([(i, 1.0), ((i + 2) % 5, -0.5)].map(|entry| (entry.0.min(4), entry.1)));
    }
    let mut mass = Rows::new(5);
    for i in 0..5 {
        // 0 and 3 are coupled: the internal order is another one
        let entries = match i {
            0 => vec![(0, 2.0), (3, 0.5)],
            3 => vec![(0, 0.5), (3, 1.0)],
            _ => vec![(i, 1.0 + i as f64)],
        };
        mass.push_sparse(entries);
    }
    let mut sorted = Rows::new(5);
    for row in jacobian.iter() {
        let mut row = row.to_vec();
        row.sort_by_key(|entry| entry.0);
        sorted.push_sparse(row);
    }
    let parts =
        GlobalParts { mass, jacobian: sorted, q: vec![-1.0, -2.0, 0.3, 0.4, -5.0], b: vec![0.0, 0.1, 0.2, 0.3, 0.4] };
    let laws = vec![Law::coulomb(0.7, 2), Law::EQUALITY, Law::EQUALITY];
    let global = StoredProblem::global("global", parts, laws.clone()).unwrap();
    // W and R need not be symmetric
    let mixed = [
        [2.0, 0.5, 0.1, 1.0, -1.0],
        [0.25, 3.0, 0.3, 0.7, 0.6],
        [0.1, 0.2, 4.0, 0.9, 0.8],
        [1.0, 0.7, 0.9, 5.0, 0.1],
        [-1.0, 0.6, 0.8, 0.2, 6.0],
    ]
    .concat();
    vec![
        StoredProblem::reduced("planar", w, b, planar).unwrap(),
        StoredProblem::reduced("local with equalities", Rows::dense(5, &mixed), vec![-1.0, 0.5, 0.25, 3.0, -4.0], laws)
            .unwrap(),
        global,
        StoredProblem::reduced("empty", Rows::new(0), vec![], vec![]).unwrap(),
    ]
}

#[test]
fn fclib_files_come_back_as_they_were() {
    let mut all = problems();
    for path in files("friction") {
        if path.metadata().is_ok_and(|data| data.len() < 500_000) && file_name(&path) != "ACinputs.dat" {
            all.push(read(&path, None).unwrap().problem);
        }
    }
    for problem in all {
        let bytes = encode_fclib(&problem).unwrap_or_else(|error| panic!("{error}"));
        let back = parse(problem.name(), &bytes, None).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(back.kind, FileFormat::Fclib);
        let back = back.problem;
        assert_eq!((problem.name(), problem.laws(), problem.b()), (back.name(), back.laws(), back.b()));
        assert_eq!(problem.given_w(), back.given_w(), "{}", problem.name());
        assert_eq!(problem.global_parts(), back.global_parts(), "{}", problem.name());
    }
    // what the format cannot hold
    let relay = StoredProblem::reduced("r", Rows::dense(1, &[1.0]), vec![0.0], vec![Law::UNILATERAL]).unwrap();
    assert!(matches!(encode_fclib(&relay).unwrap_err().reason, Reason::Law { index: 0, .. }));
}

#[test]
fn every_storage_gives_the_same_matrix() {
    // W = [1 2 0 0; 3 4 0 0; 0 0 5 0; 0 0 0 6] in the three storages
    let dense = "4 0 4 4 4 4  1 3 0 0  2 4 0 0  0 0 5 0  0 0 0 6  -1 -2 -3 -4";
    let blocks = "4 1 4 4 2 2 2  2 4  2 4  3 2  0 1 2  0 1  0  1 3 2 4  1  5 0 0 6  -1 -2 -3 -4";
    let columns = "4 2 4 4 1 \nCSparse Version 3.1.9, May 4, 2016.  Copyright (c) Timothy A. Davis, 2006-2016\n\
        4-by-4, nzmax: 6 nnz: 6, 1-norm: 6\n col 0 : locations 0 to 1\n 0 : 1\n 1 : 3\n col 1 : locations 2 to 3\n 0 : 2\n 1 : 4\n\
        col 2 : locations 4 to 4\n 2 : 5\n col 3 : locations 5 to 5\n 3 : 6\n -1 -2 -3 -4";
    let triplets = "4 2 4 4 1 text triplet: 4-by-4, nzmax: 9 nnz: 7\n 0 0 : 1\n 0 1 : 2\n 1 0 : 3\n 1 1 : 4\n 2 2 : 2\n 2 2 : 3\n 3 3 : 6 -1 -2 -3 -4";
    let expected = {
        let mut rows = Rows::new(4);
        for row in [vec![(0, 1.0), (1, 2.0)], vec![(0, 3.0), (1, 4.0)], vec![(2, 5.0)], vec![(3, 6.0)]] {
            rows.push_sparse(row);
        }
        rows
    };
    for text in [dense, blocks, columns, triplets] {
        let file = parse("some", text.as_bytes(), None).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!((file.kind, file.problem.given_w().unwrap()), (FileFormat::Lcp, &expected));
        assert_eq!(file.problem.b(), [-1.0, -2.0, -3.0, -4.0]);
    }
}

#[test]
fn mistakes_are_told_with_their_place() {
    let fails = |text: &str, kind: Option<FileFormat>| parse("file.dat", text.as_bytes(), kind).unwrap_err();
    let place = |line, token| Some(Position::Token { line, token });
    let error = fails("2\n0\n2 2\n2 2\n1 0 0", None);
    assert_eq!(
        (&error.reason, &error.position),
        (&Reason::TooLarge { what: "the number of entries", found: 4, limit: 3 }, &place(4, 6))
    );
    let error = fails("2\n0\n2 2\n2 2\n1 0 0 1\n1", None);
    assert_eq!((&error.reason, &error.position), (&Reason::End { expected: "an entry of q" }, &place(6, 12)));
    let error = fails("2\n0\n2 2\n2 2\n1 0 nan 1\n1 1", None);
    assert_eq!((&error.reason, &error.position), (&Reason::NotFinite { what: "an entry of the matrix" }, &place(5, 9)));
    let error = fails("2\n0\n2 2\n2 2\n1 0 zero 1\n1 1", None);
    assert_eq!(error.to_string(), "file.dat: line 5, token 9: `zero` stands where an entry of the matrix should");
    // a size that would take a petabyte
    let error = fails("100000000 0 100000000 100000000 100000000 100000000 1 2 3", Some(FileFormat::Lcp));
    assert!(matches!(error.reason, Reason::TooLarge { found: 100_000_000, .. }), "{error}");
    let error = fails("3 18446744073709551615 0 1 1", Some(FileFormat::Friction));
    assert!(matches!(error.reason, Reason::TooLarge { .. }), "{error}");
    assert!(matches!(fails("5 1 0 5 5", None).reason, Reason::Rolling { dimension: 5 }));
    assert!(matches!(fails("", None).reason, Reason::End { .. }));
    assert!(matches!(fails("hello world", None).reason, Reason::Unknown { .. }));
    assert!(matches!(parse("b", &[0, 159, 146, 150], None).unwrap_err().reason, Reason::NotText { .. }));
    assert!(matches!(parse("b", b"1 0 1 1 1 1 2 -1", Some(FileFormat::Fclib)).unwrap_err().reason, Reason::NotHdf5));
    assert!(matches!(read("no/such/file", None).unwrap_err().reason, Reason::Io(_)));
    let negative = "2 1 0 2 2 2 2 1 0 0 1 -1 0 -0.5";
    assert!(matches!(fails(negative, None).reason, Reason::Problem(_)));
    assert!(matches!(fails("1 1 0 1 1 1 0 0 1 -1 0 1", Some(FileFormat::Relay)).reason, Reason::Mismatch { .. }));
}

/// All files up to a size, with names that give nothing away.
fn samples(largest: u64) -> Vec<(String, Vec<u8>)> {
    let mut samples = Vec::new();
    for part in ["lcp", "mlcp", "relay", "friction"] {
        for path in files(part) {
            if path.metadata().is_ok_and(|data| data.len() <= largest) {
                samples.push((file_name(&path), std::fs::read(&path).unwrap()));
            }
        }
    }
    for problem in problems() {
        samples.push((problem.name().to_string(), encode_fclib(&problem).unwrap()));
    }
    samples.push(("lcp".into(), b"2 0 2 2 2 2 2 1 1 2 -5 -6".to_vec()));
    samples
}

#[test]
fn truncated_files_never_panic() {
    for (name, bytes) in samples(5_000_000) {
        for tenth in 0..10 {
            let cut = bytes.len() * tenth / 10;
            for kind in [None, Some(FileFormat::Friction), Some(FileFormat::Mlcp)] {
                let _ = parse(&name, &bytes[..cut], kind);
            }
            if tenth <= 3 && bytes.len() > 1000 {
                assert!(parse(&name, &bytes[..cut], None).is_err(), "{name} at {tenth}/10");
            }
        }
    }
}

#[test]
fn mutated_tokens_never_panic() {
    let mut rng = Pcg64::seed_from_u64(7);
    let words =
        ["nan", "-1", "inf", "1e999", "99999999999", "18446744073709551616", "0", "1", "7", "x", "", "1.5", "-by-"];
    for (name, bytes) in samples(100_000) {
        let Ok(text) = std::str::from_utf8(&bytes) else { continue };
        let tokens: Vec<&str> = text.split_whitespace().collect();
        // heads are the delicate part
        let rounds = if tokens.len() > 3000 { 40 } else { 150 };
        for round in 0..rounds {
            let span = if round % 2 == 0 { 30.min(tokens.len()) } else { tokens.len() };
            let mut changed = tokens.clone();
            changed[rng.random_range(0..span)] = words[rng.random_range(0..words.len())];
            let _ = parse(&name, changed.join(" ").as_bytes(), None);
        }
    }
}

#[test]
fn damaged_hdf5_never_panics() {
    let mut rng = Pcg64::seed_from_u64(8);
    for (name, bytes) in samples(200_000) {
        if std::str::from_utf8(&bytes).is_ok() {
            continue;
        }
        for round in 0..300 {
            let mut changed = bytes.clone();
            // the structure stands at the start of a file, or anywhere
            let span = if round % 2 == 0 { 2048.min(bytes.len()) } else { bytes.len() };
            for _ in 0..1 + round % 4 {
                changed[rng.random_range(0..span)] = rng.random_range(0..=255u32) as u8;
            }
            let _ = parse(&name, &changed, None);
        }
    }
}

#[test]
fn what_was_read_can_be_solved() {
    let problem = parse("p", b"2 0 2 2 2 2 2 1 1 2 -5 -6", None).unwrap().problem;
    let mut z = Reaction::default();
    problem.solve(&mut *solver::default(), &mut z).unwrap();
    assert!((z.lambda[0] - 4.0 / 3.0).abs() < 1e-14 && (z.lambda[1] - 7.0 / 3.0).abs() < 1e-14);
    // Rectangular: u − v = 0, 0 ≤ u + v − 1 ⊥ v ≥ 0
    for path in files("mlcp").into_iter().filter(|path| file_name(path) == "Rectangular_mlcp.dat") {
        let problem = read(&path, None).unwrap().problem;
        problem.solve(&mut *solver::default(), &mut z).unwrap();
        assert!(z.lambda.iter().all(|x| (x - 0.5).abs() < 1e-14), "{:?}", z.lambda);
        problem.with(&mut ProblemWork::default(), |p| assert!(p.full_error(&z) < 1e-14));
    }
}
