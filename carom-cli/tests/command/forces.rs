//! The columns of forces and of the multiplier of the projection hold what their names say.

use super::session::Session;
use super::table::Table;

/// Schemes with friction; `schatzman-paoli` has none.
const SCHEMES: [&str; 7] = [
    "moreau-jean",
    "direct-projection",
    "combined-projection",
    "higher-order",
    "event-driven",
    "corrected-paoli",
    "position-level",
];

fn run(session: &Session, text: &str, arguments: &[&str]) -> Table {
    session.write("case.toml", text);
    session.succeed(["run", "case.toml", "--no-report"].iter().chain(arguments));
    session.table("out/case/trajectory.parquet")
}

/// A point of 2 kg at rest on a slope of this angle, along it and away from it.
fn slope(angle: f64, mu: f64) -> String {
    format!(
        "version = 1\nname = \"slope\"\n[parameters]\na = {angle}\n[model]\nkind = \"lagrangian\"\n\
         coordinates = [\"s\", \"n\"]\nkinetic = \"s'^2 + n'^2\"\npotential = \"2*9.81*(n*cos(a) - s*sin(a))\"\n\
         [[contact]]\nname = \"floor\"\ngap = \"n\"\nslip = \"s\"\nfriction = {mu}\n\
         [initial]\ns = 0\nn = 0\n[simulation]\nend = 0.1\nstep = 0.01\n"
    )
}

#[test]
fn a_resting_mass_has_its_weight_and_a_block_on_a_slope_its_parts() {
    let session = Session::new();
    for scheme in SCHEMES {
        for (angle, mu) in [(0.0, 0.5), (0.3, 0.5), (0.3, 0.1)] {
            // sticks where tan(angle) < mu
            let (weight, friction) = (2.0 * 9.81 * f64::cos(angle), (2.0 * 9.81 * f64::sin(angle)));
            let friction = friction.min(mu * weight);
            let table = run(&session, &slope(angle, mu), &["--scheme", scheme]);
            let (normal, tangent) = (table.last("force.floor"), table.last("force.floor.t1"));
            let error = (normal - weight).abs().max((tangent + friction).abs());
            assert!(error < 1e-9 * weight, "{scheme}, {angle}, {mu}: {normal}, {tangent}");
        }
    }
}

#[test]
fn a_scheme_of_three_positions_has_the_weight() {
    let text = slope(0.0, 0.0).replace("slip = \"s\"\nfriction = 0\n", "");
    let table = run(&Session::new(), &text, &["--scheme", "schatzman-paoli"]);
    assert!((table.last("force.floor") - 19.62).abs() < 1e-9, "{}", table.last("force.floor"));
}

#[test]
fn a_rod_pulls_with_weight_and_centrifugal_force() {
    let text = "version = 1\nname = \"rod\"\n[model]\nkind = \"lagrangian\"\ncoordinates = [\"x\", \"y\"]\n\
                kinetic = \"x'^2 + y'^2\"\npotential = \"2*9.81*y\"\n\
                [[constraint]]\nname = \"rod\"\nvalue = \"sqrt(x^2 + y^2) - 0.5\"\n\
                [initial]\nx = 0.5\ny = 0\n[simulation]\nend = 0.5\nstep = 1e-3\n";
    let session = Session::new();
    // exact at the end of the step; the mean is that of its middle, but for terms of second order
    for (scheme, tolerance) in [("event-driven", 1e-6), ("moreau-jean", 2e-2)] {
        let table = run(&session, text, &["--scheme", scheme]).steps();
        let [force, x, y, vx, vy] = ["force.rod", "q.x", "q.y", "v.x", "v.y"].map(|name| table.numbers(name));
        assert!(force[0].is_none(), "{scheme}: there is no force before the first step");
        let mut largest = 0.0_f64;
        for k in 1..force.len() {
            let exact = |k: usize| {
                let [x, y, vx, vy] = [&x, &y, &vx, &vy].map(|column| column[k].unwrap());
                -(2.0 * (vx * vx + vy * vy) - 2.0 * 9.81 * y) / (x * x + y * y).sqrt()
            };
            let exact = if scheme == "event-driven" { exact(k) } else { 0.5 * (exact(k - 1) + exact(k)) };
            let force = force[k].unwrap();
            largest = largest.max(force.abs());
            assert!((force - exact).abs() < tolerance, "{scheme}, row {k}: {force}, not {exact}");
        }
        // three times the weight at the bottom
        assert!((largest - 3.0 * 2.0 * 9.81).abs() < 2e-2, "{scheme}: {largest}");
    }
}

#[test]
fn the_multiplier_of_the_projection_is_that_of_a_hand_computation() {
    // v⁺ = 0 by the law, so that one step goes h v/2 = -0.05 from 0.01: 0.04 below the floor
    let text = "version = 1\nname = \"fall\"\n[model]\nkind = \"lagrangian\"\ncoordinates = [\"y\"]\n\
                kinetic = \"y'^2\"\npotential = \"0\"\n\
                [[contact]]\nname = \"floor\"\ngap = \"y\"\nrestitution = 0\n\
                [initial]\ny = 0.01\n\"y'\" = -1\n[simulation]\nend = 0.1\nstep = 0.1\n";
    let session = Session::new();
    for scheme in ["direct-projection", "combined-projection"] {
        // N = 1, or 1/m with a mass of 2
        for (metric, tau) in [("identity", 0.04), ("inverse-mass", 0.08)] {
            let chosen = format!("{{ name = \"{scheme}\", theta = 0.5, metric = \"{metric}\" }}");
            let table = run(&session, text, &["--scheme", &chosen]);
            assert!((table.last("tau.floor") - tau).abs() < 1e-14, "{scheme}, {metric}: {}", table.last("tau.floor"));
            assert!(table.last("q.y").abs() < 1e-14 && (table.last("force.floor") - 20.0).abs() < 1e-12, "{scheme}");
        }
    }
    let refused = session.carom(["run", "case.toml", "--scheme", "moreau-jean", "--columns", "tau.floor"]);
    assert!(refused.code == Some(2) && refused.err.contains("tau.floor"), "moreau-jean does not project");
    // rows that are left out lose none: the ball is lifted once, in the first of five steps
    let rows = |every: &str| {
        let scheme = "{ name = \"direct-projection\", metric = \"identity\" }";
        let table = run(&session, text, &["--scheme", scheme, "--every", every, "--end", "0.5"]);
        table.column("tau.floor").iter().sum::<f64>()
    };
    assert!((rows("1") - 0.04).abs() < 1e-14 && (rows("5") - 0.04).abs() < 1e-14);
}

#[test]
fn forces_can_be_expected() {
    let session = Session::new();
    let expect = "[[expect]]\nquantity = \"min force.floor\"\nvalue = 19.62\ntolerance = 1e-9\nsource = \"m g\"\n\
                  [[expect]]\nquantity = \"mean force.floor\"\nvalue = 19.62\ntolerance = 1e-9\nsource = \"m g\"\n";
    for scheme in SCHEMES {
        session.write("case.toml", slope(0.0, 0.5) + expect);
        session.succeed(["run", "case.toml", "--no-report", "--scheme", scheme]);
    }
}

/// A platform lifts 2 kg with a constant acceleration, or swings: 2 (9.81 z + z'^2/2) is the work that it does.
#[test]
fn the_work_of_a_platform_is_in_the_ledger() {
    let session = Session::new();
    let residue = |way: &str, scheme: &str, step: &str| {
        let text = slope(0.0, 0.5).replace("gap = \"n\"", &format!("gap = \"n - {way}\""));
        session.write("case.toml", text);
        session.succeed(["run", "case.toml", "--no-report", "--end", "0.7", "--scheme", scheme, "--step", step]);
        let (summary, table) = (session.summary("out/case"), session.table("out/case/trajectory.parquet"));
        let (z, v) = (table.last("q.n"), table.last("v.n"));
        let ledger = &summary["energy"];
        let work = ledger["obstacles"].as_f64().unwrap();
        assert!(work > 0.5, "{scheme}: {ledger}");
        (work - 2.0 * (9.81 * z + v * v / 2.0)).abs()
    };
    for scheme in SCHEMES.into_iter().filter(|scheme| *scheme != "position-level") {
        let exact = residue("0.2*t^2", scheme, "1.3e-3");
        assert!(exact < 1e-9, "{scheme}: {exact}");
        let [coarse, fine] = ["0.02", "0.01"].map(|step| residue("0.1*(1 - cos(3*t))", scheme, step));
        assert!(fine < 1e-9 || coarse / fine > 3.5, "{scheme}: {coarse}, {fine}");
    }
}
