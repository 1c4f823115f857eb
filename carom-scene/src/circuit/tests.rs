use super::*;

fn branch(name: &str, kind: ElementKind, nodes: [usize; 2]) -> Branch {
    Branch { name: name.into(), kind, nodes }
}

fn netlist(nodes: usize, sources: usize, branches: Vec<Branch>) -> Netlist {
    Netlist { nodes, branches, sources, ground: 0, set: Vec::new() }
}

fn quantity(reduced: &Reduced, wanted: Quantity) -> &[f64] {
    &reduced.quantities.iter().find(|(quantity, _)| *quantity == wanted).unwrap().1
}

/// Kirchhoff's laws and the laws of all elements for every column, from the quantities alone.
fn check(netlist: &Netlist, reduced: &Reduced) {
    let columns = reduced.states.len() + reduced.pairs.len() + 2 * netlist.sources;
    let (n, m) = (reduced.states.len(), reduced.pairs.len());
    for j in 0..columns {
        let v = |b: usize| quantity(reduced, Quantity::Voltage(b))[j];
        let i = |b: usize| quantity(reduced, Quantity::Current(b))[j];
        let e = |node: usize| quantity(reduced, Quantity::Potential(node))[j];
        let size = (0..netlist.branches.len()).fold(1e-300f64, |a, b| a.max(i(b).abs()));
        for node in 0..netlist.nodes {
            let sum: f64 = netlist
                .branches
                .iter()
                .enumerate()
                .map(|(b, branch)| {
                    let sign = f64::from(branch.nodes[0] == node) - f64::from(branch.nodes[1] == node);
                    sign * i(b)
                })
                .sum();
            assert!(sum.abs() <= 1e-13 * size, "node {node}, column {j}: {sum:e}");
        }
        for (b, branch) in netlist.branches.iter().enumerate() {
            let difference = e(branch.nodes[0]) - e(branch.nodes[1]);
            assert!((v(b) - difference).abs() <= 1e-13 * v(b).abs().max(1.0), "{}: {} {difference}", branch.name, v(b));
            let rate = reduced.states.iter().position(|s| *s == b).map(|k| reduced.rates[k][j]);
            match (branch.kind, rate) {
                (ElementKind::Resistor(r), _) => {
                    assert!((v(b) - r * i(b)).abs() <= 1e-12 * v(b).abs().max(r * i(b).abs()))
                }
                (ElementKind::Capacitor(c), Some(rate)) => assert!((c * rate - i(b)).abs() <= 1e-12 * i(b).abs()),
                (ElementKind::Inductor(l), Some(rate)) => assert!((l * rate - v(b)).abs() <= 1e-12 * v(b).abs()),
                (ElementKind::Voltage(s), _) => assert_eq!(v(b), f64::from(j == n + m + s)),
                (ElementKind::Current(s), _) => assert_eq!(i(b), f64::from(j == n + m + s)),
                _ => {}
            }
        }
    }
}

/// Series diode, resistor and inductor at a source: L i' = s − R i + λ with y = i, as textbooks write it.
#[test]
fn rectifier() {
    let n = netlist(
        4,
        1,
        vec![
            branch("V", ElementKind::Voltage(0), [1, 0]),
            branch("D", ElementKind::Diode, [1, 2]),
            branch("R", ElementKind::Resistor(100.0), [2, 3]),
            branch("L", ElementKind::Inductor(0.1), [3, 0]),
        ],
    );
    let r = n.reduce().unwrap();
    assert_eq!((r.states.as_slice(), r.pairs.as_slice()), (&[3][..], &[(1, true)][..]));
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs());
    assert!(close(&r.rates[0], &[-1000.0, 10.0, 10.0, 0.0]), "{:?}", r.rates);
    assert_eq!(r.outputs[0], [1.0, 0.0, 0.0, 0.0]);
    check(&n, &r);
}

/// The bridge of four diodes: two of them in the tree; the matrices in the form that its sample has.
#[test]
fn bridge() {
    let n = netlist(
        4,
        0,
        vec![
            branch("L", ElementKind::Inductor(1e-2), [0, 1]),
            branch("C", ElementKind::Capacitor(1e-6), [0, 1]),
            branch("R", ElementKind::Resistor(1e3), [2, 3]),
            branch("D1", ElementKind::Diode, [0, 2]),
            branch("D2", ElementKind::Diode, [1, 2]),
            branch("D3", ElementKind::Diode, [3, 0]),
            branch("D4", ElementKind::Diode, [3, 1]),
        ],
    );
    let r = n.reduce().unwrap();
    assert_eq!(r.states, [1, 0]);
    assert_eq!(r.pairs.iter().filter(|pair| pair.1).count(), 2);
    check(&n, &r);
    // the load current is the sum of two multipliers over R, with signs
    let load = quantity(&r, Quantity::Current(2));
    assert!(load[2..].iter().all(|x| *x == 0.0 || (x.abs() - 1e-3).abs() < 1e-18), "{load:?}");
    // D + Dᵀ is positive semidefinite: the circuit is passive
    let d: Vec<&[f64]> = r.outputs.iter().map(|row| &row[2..]).collect();
    for s in 0..200u32 {
        let z: Vec<f64> = (0..4u32).map(|k| f64::from((s * 7919 + k * 104_729) % 17) - 8.0).collect();
        let form: f64 = (0..4).map(|i| z[i] * d[i].iter().zip(&z).map(|(d, z)| d * z).sum::<f64>()).sum();
        assert!(form >= -1e-12, "{form}");
    }
}

/// A source with two capacitors in a loop, and a star of three inductors: one of each is no state.
#[test]
fn dependent_states() {
    let n = netlist(
        4,
        2,
        vec![
            branch("V", ElementKind::Voltage(0), [1, 0]),
            branch("C1", ElementKind::Capacitor(2e-6), [1, 2]),
            branch("C2", ElementKind::Capacitor(3e-6), [2, 0]),
            branch("R", ElementKind::Resistor(50.0), [2, 0]),
            branch("L1", ElementKind::Inductor(1e-3), [1, 3]),
            branch("L2", ElementKind::Inductor(2e-3), [2, 3]),
            branch("J", ElementKind::Current(1), [3, 0]),
        ],
    );
    let r = n.reduce().unwrap();
    assert_eq!(r.states.len(), 2);
    let names = |list: &[usize]| list.iter().map(|b| n.branches[*b].name.clone()).collect::<Vec<_>>();
    let dependent: Vec<_> = r.dependent.iter().map(|(b, by)| (n.branches[*b].name.clone(), names(by))).collect();
    assert_eq!(dependent.len(), 2, "{dependent:?}");
    check(&n, &r);
    // the divider: C1 + C2 share the source's charge, v_C2' = (C1 s' − i_R − ...)/(C1 + C2)
    let c = r.states.iter().position(|s| matches!(n.branches[*s].kind, ElementKind::Capacitor(_))).unwrap();
    let sign = if n.branches[r.states[c]].name == "C2" { 1.0 } else { -1.0 };
    let share = if sign > 0.0 { 2.0 / 5.0 } else { -3.0 / 5.0 };
    assert!((r.rates[c][2 + 2] - sign * share).abs() < 1e-15, "{:?}", r.rates[c]);
}

/// Values over eighteen powers of ten.
#[test]
fn badly_scaled() {
    let n = netlist(
        5,
        1,
        vec![
            branch("V", ElementKind::Voltage(0), [1, 0]),
            branch("R1", ElementKind::Resistor(1e-9), [1, 2]),
            branch("D1", ElementKind::Diode, [2, 3]),
            branch("C", ElementKind::Capacitor(1e-9), [3, 0]),
            branch("R2", ElementKind::Resistor(1e9), [3, 0]),
            branch("L", ElementKind::Inductor(1e-9), [3, 4]),
            branch("R3", ElementKind::Resistor(1e6), [4, 0]),
            branch("D2", ElementKind::Diode, [0, 4]),
        ],
    );
    let r = n.reduce().unwrap();
    check(&n, &r);
}

#[test]
fn contradicting_sources_are_named() {
    let parallel = netlist(
        2,
        2,
        vec![branch("V1", ElementKind::Voltage(0), [1, 0]), branch("V2", ElementKind::Voltage(1), [1, 0])],
    );
    assert!(matches!(parallel.reduce(), Err(CircuitError::VoltageLoop(names)) if names == ["V2", "V1"]));
    let series = netlist(
        3,
        2,
        vec![
            branch("J1", ElementKind::Current(0), [1, 0]),
            branch("J2", ElementKind::Current(1), [2, 1]),
            branch("R", ElementKind::Resistor(1.0), [2, 0]),
        ],
    );
    let error = series.reduce().unwrap_err();
    assert!(error.to_string().contains("`J1`") && error.to_string().contains("`J2`"), "{error}");
    let wrong = netlist(2, 0, vec![branch("R", ElementKind::Resistor(1.0), [0, 7])]);
    assert_eq!(wrong.reduce(), Err(CircuitError::Reference("R".into())));
}
