//! `carom solve` and `carom profile` on problem files.

use crate::session::Session;
use serde_json::Value;

/// 0 ≤ [2 1; 1 2] z − (5, 6) ⊥ z ≥ 0, solved by (4/3, 7/3).
const LCP: &str = "2\n0\n2\n2\n2 2\n2.0 1.0\n1.0 2.0\n-5.0 -6.0\n";
/// 0 ≤ −z − 1 ⊥ z ≥ 0 has no solution.
const INFEASIBLE: &str = "1\n0\n1\n1\n1 1\n-1.0\n-1.0\n";
/// One spatial contact, W = I, pushed sideways beyond the cone of μ = 0.5: it slips.
const FRICTION: &str = "3\n1\n0\n3\n3\n3 3\n1 0 0\n0 1 0\n0 0 1\n-1.0 -2.0 0.0\n0.5\n";

#[test]
fn solutions_are_those_of_the_closed_forms() {
    let session = Session::new();
    session.write("a_lcp.dat", LCP);
    session.write("FC3D_slip.dat", FRICTION);
    let rows: Value =
        serde_json::from_str(&session.succeed(["solve", "a_lcp.dat", "FC3D_slip.dat", "--json", "--out", "s"]))
            .unwrap();
    assert!(
        rows.as_array().unwrap().iter().all(|row| row["solved"] == true && row["residual"].as_f64().unwrap() < 1e-12),
        "{rows}"
    );
    let solution =
        |name: &str| -> Value { serde_json::from_str(&session.read(&format!("s/{name}.solution.json"))).unwrap() };
    let lambda = |value: &Value| -> Vec<f64> {
        value["lambda"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    };
    for (x, y) in lambda(&solution("a_lcp")).iter().zip([4.0 / 3.0, 7.0 / 3.0]) {
        assert!((x - y).abs() < 1e-12);
    }
    // normal reaction 1, friction μ along the push of the velocity −2
    for (x, y) in lambda(&solution("FC3D_slip")).iter().zip([1.0, 0.5, 0.0]) {
        assert!((x - y).abs() < 1e-9);
    }
}

/// Names with dots keep all of them; two files of one name do not overwrite each other's solution.
#[test]
fn solutions_have_the_names_of_their_problems() {
    let session = Session::new();
    for name in ["mu-0.3.dat", "mu-0.7.dat"] {
        session.write(name, LCP);
    }
    session.succeed(["solve", "mu-0.3.dat", "mu-0.7.dat", "--kind", "lcp", "--out", "s"]);
    assert_eq!(session.names("s"), ["mu-0.3.solution.json", "mu-0.7.solution.json"]);
    // two files of one name have two solutions
    std::fs::create_dir(session.path("q")).unwrap();
    session.write("q/mu-0.3.dat", LCP.replace("-5.0 -6.0", "-6.0 -5.0"));
    session.succeed(["solve", "mu-0.3.dat", "q/mu-0.3.dat", "--kind", "lcp", "--out", "s"]);
    assert_eq!(session.names("s"), ["mu-0.3-2.solution.json", "mu-0.3.solution.json"]);
    for (name, expected) in [("mu-0.3", [4.0 / 3.0, 7.0 / 3.0]), ("mu-0.3-2", [7.0 / 3.0, 4.0 / 3.0])] {
        let solution: Value = serde_json::from_str(&session.read(&format!("s/{name}.solution.json"))).unwrap();
        for (x, y) in solution["lambda"].as_array().unwrap().iter().zip(expected) {
            assert!((x.as_f64().unwrap() - y).abs() < 1e-12, "{name}");
        }
    }
}

#[test]
fn friction_files_are_written_as_fclib_and_read_again() {
    let session = Session::new();
    session.write("FC3D_slip.dat", FRICTION);
    session.succeed(["solve", "FC3D_slip.dat", "--out", "s", "--fclib"]);
    let again = session.succeed(["solve", "s/FC3D_slip.hdf5", "--solver", "nsgs", "--tolerance", "1e-12"]);
    assert!(again.contains("solved") && again.contains("nsgs"), "{again}");
}

/// Options of a solver as a table: what an error recommends can be done.
#[test]
fn solvers_take_their_options() {
    let session = Session::new();
    session.write("a_lcp.dat", LCP);
    let solved = session.succeed(["solve", "a_lcp.dat", "--solver", "{ name = \"nsgs\", max-sweeps = 200 }"]);
    assert!(solved.contains("nsgs") && solved.contains("solved"), "{solved}");
    for (choice, reason) in [
        ("{ name = \"nsgs\", max-sweeps = 0 }", "max-sweeps"),
        ("{ name = \"nsgs\", sweeps = 9 }", "sweeps"),
        ("{ tolerance = 1e-9 }", "has no `name`"),
        ("{ name = ", "is no table"),
    ] {
        let outcome = session.carom(["solve", "a_lcp.dat", "--solver", choice]);
        assert!(outcome.code == Some(2) && outcome.err.contains(reason), "{choice}: {}", outcome.err);
    }
}

#[test]
fn failures_have_their_codes() {
    let session = Session::new();
    session.write("a_lcp.dat", LCP);
    session.write("infeasible_lcp.dat", INFEASIBLE);
    session.write("cut_lcp.dat", &LCP[..20]);
    session.write("garbage.dat", [0u8, 159, 146, 150]);
    let infeasible = session.carom(["solve", "infeasible_lcp.dat"]);
    assert_eq!(infeasible.code, Some(3), "{}", infeasible.err);
    assert!(infeasible.err.contains("infeasible_lcp"), "{}", infeasible.err);
    for (file, part) in [("cut_lcp.dat", "cut_lcp.dat"), ("garbage.dat", "not text"), ("missing.dat", "missing.dat")] {
        let outcome = session.carom(["solve", file, "a_lcp.dat"]);
        assert_eq!(outcome.code, Some(2), "{file}: {}", outcome.err);
        // the good file is solved all the same
        assert!(
            outcome.err.contains(part) && outcome.out.contains("solved"),
            "{file}: {} {}",
            outcome.out,
            outcome.err
        );
    }
    for arguments in [
        ["solve", "a_lcp.dat", "--solver", "lemk"],
        ["solve", "a_lcp.dat", "--tolerance", "-1"],
        ["solve", "a_lcp.dat", "--kind", "lpc"],
    ] {
        let outcome = session.carom(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.err);
        assert!(outcome.err.contains("hint") || outcome.err.contains("error"), "{}", outcome.err);
    }
}

/// The tolerance means what the caller says; both figures are told in any case.
#[test]
fn tolerances_mean_one_of_two_errors() {
    let session = Session::new();
    session.succeed(["generate", "arch", "--contacts", "300", "--mu", "0.7", "-o", "arch.hdf5"]);
    let solve = |measure: &[&str]| -> (f64, f64) {
        let words = ["solve", "arch.hdf5", "--tolerance", "1e-5", "--json"];
        let rows: Value = serde_json::from_str(&session.succeed(words.iter().chain(measure))).unwrap();
        (rows[0]["residual"].as_f64().unwrap(), rows[0]["full_error"].as_f64().unwrap())
    };
    let (residual, full) = solve(&[]);
    assert!(residual <= 1e-5 && full > 1e-5, "{residual:e} {full:e}");
    assert_eq!(solve(&["--measure", "residual"]), (residual, full));
    for solver in ["auto", "interior-point"] {
        let (residual, full) = solve(&["--measure", "full-error", "--solver", solver]);
        assert!(full <= 1e-5 && residual < 1e-6, "{solver}: {residual:e} {full:e}");
    }
    let outcome = session.carom(["solve", "arch.hdf5", "--measure", "both"]);
    assert!(outcome.code == Some(2) && outcome.err.contains("full-error"), "{}", outcome.err);
}

#[test]
fn a_profile_compares_all_solvers() {
    let session = Session::new();
    std::fs::create_dir(session.path("problems")).unwrap();
    session.write("problems/a_lcp.dat", LCP);
    session.write("problems/FC3D_slip.dat", FRICTION);
    let text = session.succeed(["profile", "problems", "--out", "p"]);
    assert!(text.contains("auto") && text.contains("2 of 2"), "{text}");
    let csv = session.read("p/profile.csv");
    assert_eq!(csv.lines().count(), 1 + 2 * carom_solve::SOLVERS.len());
    assert!(!csv.contains("NaN") && !csv.contains("inf,"));
    assert!(session.read("p/profile.html").contains("Performance profile"));
    assert_eq!(session.carom(["profile", "nowhere"]).code, Some(2));
}

/// All combinations of families, sizes, coefficients, kicks and seeds.
#[test]
fn a_profile_takes_generated_families() {
    let session = Session::new();
    let options =
        "profile --family wall,fcc-2d --contacts 30,60 --mu 0.3,0.7 --seed 1..2,9 --solvers auto,nsgs --out p";
    let said = session.succeed(options.split(' '));
    assert!(said.contains("24 problems") && said.contains("24 of 24"), "{said}");
    let csv = session.read("p/profile.csv");
    let mut names: Vec<&str> = csv.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert!(names.len() == 48 && names.contains(&"fcc-2d 60 mu 0.7 seed 9"), "{names:?}");
    names.dedup();
    assert_eq!(names.len(), 24);
    assert!(session.succeed("profile --family pd --contacts 8 --solvers lemke --out q".split(' ')).contains("1 of 1"));
    for (wrong, reason) in [
        ("profile", "<FOLDER>"),
        ("profile . --family wall --contacts 9", "cannot be used with"),
        ("profile --family wall", "--contacts"),
        ("profile --family walls --contacts 9", "did you mean `wall`"),
        ("profile --family pd --contacts 9 --mu 0.3", "no friction"),
        ("profile --family wall --contacts 9 --seed 5..2", "larger than the last"),
        ("profile --family wall --contacts 9 --seed 1..1000000", "more than 100000"),
    ] {
        let outcome = session.carom(wrong.split(' '));
        assert!(outcome.code == Some(2) && outcome.err.contains(reason), "{wrong}: {}", outcome.err);
    }
}

/// Histories as a table and a report; the solution is the same.
#[test]
fn histories_tell_how_residuals_fell() {
    let session = Session::new();
    session.succeed("generate rcp --contacts 300 --mu 0.3 --kick 1 -o rcp.hdf5".split(' '));
    session.write("a_lcp.dat", LCP);
    let solve =
        |more: &str| session.succeed(format!("solve rcp.hdf5 a_lcp.dat --tolerance 1e-8 {more}").split_whitespace());
    solve("--out plain");
    assert!(!session.path("plain/history.csv").exists() && !session.path("out").exists());
    assert!(solve("--out h --history").contains("history.html"));
    let lambda = |folder: &str| -> Value {
        serde_json::from_str::<Value>(&session.read(&format!("{folder}/rcp.solution.json"))).unwrap()["lambda"].take()
    };
    assert_eq!(lambda("plain"), lambda("h"));
    let csv = session.read("h/history.csv");
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("problem,solver,rung,name,method,iteration,total,residual"));
    let (mut rows, mut last) = (0, (0.0, f64::INFINITY));
    for cells in lines.clone().map(|line| line.split(',').collect::<Vec<_>>()).filter(|cells| cells[0].contains("rcp"))
    {
        let number = |k: usize| cells[k].parse::<f64>().unwrap_or_else(|_| panic!("{cells:?}"));
        assert!(number(6) >= last.0 && cells[1] == "auto", "{cells:?}");
        last = (number(6), number(7));
        rows += 1;
    }
    let solution: Value = serde_json::from_str(&session.read("h/rcp.solution.json")).unwrap();
    assert!(rows > 5 && solution["problem"]["residual"].as_f64() == Some(last.1) && last.1 <= 1e-8, "{csv}");
    assert!(lines.any(|line| line.starts_with("a_lcp,auto,1,lemke,lemke,0,0,")), "{csv}");
    let page = session.read("h/history.html");
    assert!(page.contains("Residual over sweeps and steps"));
    // what the clock tells is apart: seconds go up
    assert!(session.read("h/times.html").contains("Residual over time"));
    let times = session.read("h/times.csv");
    let seconds =
        times.lines().filter(|line| line.contains("rcp")).map(|l| l.rsplit(',').next().unwrap().parse::<f64>());
    let seconds: Vec<f64> = seconds.map(Result::unwrap).collect();
    assert!(seconds.len() == rows && seconds.is_sorted() && seconds[rows - 1] > 0.0, "{times}");
    // what fails has a history too, in the folder of its own
    let solver = "{name=\"nsgs\",max-sweeps=40}";
    let failed = session.carom(["solve", "rcp.hdf5", "--tolerance", "1e-14", "--history", "--solver", solver]);
    assert_eq!(failed.code, Some(3), "{}", failed.err);
    let csv = session.read("out/solve/history.csv");
    assert!(csv.lines().last().unwrap().contains(",nsgs,0,nsgs,nsgs,") && csv.lines().count() > 4, "{csv}");
}

/// Generated problems are files like any other, the same ones for the same seed.
#[test]
fn families_are_generated_and_solved() {
    let session = Session::new();
    for (family, options) in [("rcp", ["--mu", "0.3", "--kick", "1"]), ("cards", ["--mu", "0.4", "--seed", "3"])] {
        let file = format!("{family}.hdf5");
        let command = ["generate", family, "--contacts", "60"].into_iter().chain(options);
        let said = session.succeed(command.clone().chain(["-o", &file]));
        assert!(said.contains(family) && said.contains("contacts"), "{said}");
        // what is there stays unless it is meant to go
        session.succeed(command.chain(["-o", "again.hdf5", "--force"]));
        let [first, second] = [&file, "again.hdf5"].map(|name: &str| std::fs::read(session.path(name)).unwrap());
        assert!(first == second, "{family}");
        let rows = session.succeed(["solve", &file, "--tolerance", "1e-8", "--json"]);
        let rows: Value = serde_json::from_str(&rows).unwrap();
        assert!(rows[0]["solved"] == true && rows[0]["residual"].as_f64().unwrap() <= 1e-8, "{rows}");
    }
    session.succeed(["generate", "pd", "--contacts", "5", "--output", "a_lcp.dat"]);
    assert!(session.succeed(["solve", "a_lcp.dat"]).contains("solved"));
    for (arguments, reason) in [
        (["heaps", "--contacts", "9", "--seed", "1"], "did you mean `heap`"),
        (["pd", "--contacts", "9", "--mu", "0.1"], "no friction"),
        (["wall", "--contacts", "9", "--mu", "-0.1"], "negative"),
        (["pd", "--contacts", "90000000", "--seed", "1"], "up to size"),
    ] {
        let outcome = session.carom(["generate"].into_iter().chain(arguments).chain(["-o", "x.hdf5"]));
        assert!(outcome.code == Some(2) && outcome.err.contains(reason), "{outcome:?}");
    }
}
