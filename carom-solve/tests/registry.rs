//! The registry of solvers: names, options, pages, citations.

use carom_solve::{Law, SOLVERS, page, solver};
use serde_json::{Value, json};

#[test]
fn names_are_unique_and_found() {
    for (i, row) in SOLVERS.iter().enumerate() {
        assert!(SOLVERS[..i].iter().all(|other| other.info.name != row.info.name));
        assert!(
            std::ptr::eq(solver::find(row.info.name).unwrap().info, row.info)
                || row.info.name == solver::find(row.info.name).unwrap().info.name
        );
        assert_eq!((row.build)(&json!({})).unwrap().info().name, row.info.name);
    }
    assert!(solver::find("no such solver").is_none());
    assert_eq!(solver::default().info().name, SOLVERS[0].info.name);
}

#[test]
fn defaults_are_valid_and_described() {
    for row in SOLVERS {
        let mut table = serde_json::Map::new();
        for option in (row.options)() {
            let unit = if option.name == "seconds" { "[s]." } else { "[-]." };
            assert!(option.meaning.ends_with(unit), "{}: {}", option.name, option.meaning);
            table.insert(option.name, serde_json::from_str(&option.default).unwrap());
        }
        assert!(table.contains_key("tolerance"));
        assert!((row.build)(&Value::Object(table)).is_ok(), "{}", row.info.name);
    }
}

#[test]
fn options_that_make_no_sense_are_refused() {
    for row in SOLVERS {
        for table in [
            json!({"tolerance": 0.0}),
            json!({"tolerance": -1.0}),
            json!({"tolerence": 1e-8}),
            json!({"tolerance": "small"}),
        ] {
            assert!((row.build)(&table).is_err(), "{} {table}", row.info.name);
        }
    }
    for (name, table) in [
        ("auto", json!({"max-sweeps": 0})),
        ("nsgs", json!({"max-sweeps": 0})),
        ("nsgs", json!({"relaxation": 2.0})),
        ("lemke", json!({"max-pivots": 0})),
        ("enumerative", json!({"max-candidates": 0})),
    ] {
        let error = (solver::find(name).unwrap().build)(&table).err().unwrap();
        assert_eq!(error.field.map(str::to_owned), table.as_object().unwrap().keys().next().cloned());
    }
}

#[test]
fn pages_name_their_citations() {
    for row in SOLVERS {
        let page = page(row.info.source);
        assert!(page.lines().count() > 5, "{}", row.info.name);
        assert!(!row.info.citations.is_empty());
        let cited: Vec<&str> = page
            .split('[')
            .skip(1)
            .filter_map(|rest| rest.split_once(']'))
            .flat_map(|(inside, _)| inside.split([',', ';', ' ', '\n']))
            .collect();
        for key in row.info.citations {
            assert!(cited.contains(key), "{}: {key} in {cited:?}", row.info.name);
        }
    }
}

#[test]
fn laws_without_sense_are_refused_by_all_and_spatial_friction_by_some() {
    for row in SOLVERS {
        let solver = (row.build)(&json!({})).unwrap();
        for law in
            [Law::interval(1.0, 0.0), Law::interval(f64::NAN, 0.0), Law::coulomb(-0.1, 1), Law::coulomb(f64::NAN, 2)]
        {
            assert!(solver.admits(&[Law::UNILATERAL, law]).is_err(), "{} {law:?}", row.info.name);
        }
        let spatial = solver.admits(&[Law::coulomb(0.5, 2)]).is_ok();
        assert_eq!(spatial, row.info.laws.contains("spatial friction"), "{}", row.info.name);
    }
}
