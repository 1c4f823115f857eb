//! Circuits: elements of the file become branches, and the reduced equations a complementarity system with named
//! quantities.

use std::collections::{BTreeMap, HashSet};

use carom::model::Matrices;
use carom_solve::Law;

use super::element::{Element, Elements};
use super::lcs::{Gate, LcsModel, ShortLoop, Shorts};
use super::{Bound, Compile, Kind, KindRow, Plan, Words, declare_states, refuse_mechanical, row};
use crate::circuit::{Branch, CircuitError, ElementKind, Netlist, Quantity, Reduced, Row};
use crate::diagnostic::Place;
use crate::expression::{NodeId, Tape};
use crate::file::{Formula, ModelFile, Text, table};
use crate::scene::context::{Context, label, name_problem};

pub(super) const ROW: KindRow = KindRow::of::<CircuitTable>(Words {
    name: "circuit",
    about: "a netlist of resistors, capacitors, inductors, sources, ideal diodes, switches and Zener diodes",
    template: include_str!("circuit.toml"),
});

table! {
    /// A circuit. Each element is NAME = [NODE, NODE, VALUE]; its current flows from the first node to the second.
    pub struct CircuitTable {
        /// "circuit"
        pub kind: Text,
        /// The node with potential 0; "0" or "gnd" where there is one, else the first node.
        pub ground: Option<Text>,
        /// NAME = [NODE, NODE, RESISTANCE].
        pub resistor: Option<Elements>,
        /// NAME = [NODE, NODE, CAPACITANCE].
        pub capacitor: Option<Elements>,
        /// NAME = [NODE, NODE, INDUCTANCE].
        pub inductor: Option<Elements>,
        /// NAME = [PLUS, MINUS, VOLTAGE], an expression of t.
        pub voltage: Option<Elements>,
        /// NAME = [FROM, TO, CURRENT], an expression of t.
        pub current: Option<Elements>,
        /// NAME = [ANODE, CATHODE]: ideal.
        pub diode: Option<Elements>,
        /// NAME = [NODE, NODE, GATE]: closed while the expression of t is positive.
        pub switch: Option<Elements>,
        /// NAME = [ANODE, CATHODE, BREAKDOWN VOLTAGE].
        pub zener: Option<Elements>,
    }
}

impl Kind for CircuitTable {
    fn place(&self) -> &Place {
        &self.place
    }

    fn names<'a>(&'a self, file: &ModelFile, context: &mut Context) -> Option<Compile<'a>> {
        let before = context.out.errors();
        row::none(file, "a circuit has its laws from its elements", context);
        let draft = read(self, file, context)?;
        refuse_mechanical(file, false, context);
        if context.out.errors() > before {
            return None;
        }
        let rows: Vec<String> = draft.rows().into_iter().map(|(name, _)| name).collect();
        declare_states(draft.states(), &rows, self, context)?;
        context.names.fixed = draft.fixed();
        context.names.units = draft.units();
        Some(Box::new(move |_, context| draft.compile(context)))
    }

    fn check_numbers(&self, _: &ModelFile, _: &mut Context) {}
}

/// The reduced equations, which hold for the values of the elements, with sources of time and parameters.
#[derive(Debug)]
struct CircuitPlan {
    rows: Vec<(String, Law)>,
    matrices: Matrices,
    sources: [Option<Tape>; 2],
    gates: Vec<Gate>,
    columns: Vec<(String, NodeId)>,
    shorts: Option<Shorts>,
}

impl Plan for CircuitPlan {
    fn bind(&self, _: &ModelFile, context: &mut Context) -> Option<Box<dyn Bound>> {
        let parameters = context.vector();
        Some(Box::new(LcsModel {
            states: context.names.coordinates.clone(),
            rows: self.rows.clone(),
            matrices: self.matrices.clone(),
            sources: self.sources.each_ref().map(|tape| tape.as_ref().map(|tape| tape.bind(&parameters))),
            gates: self.gates.iter().map(|gate| Gate { tape: gate.tape.bind(&parameters), ..gate.clone() }).collect(),
            shorts: self.shorts.as_ref().map(|shorts| shorts.bind(&parameters)),
        }))
    }

    fn columns(&self) -> &[(String, NodeId)] {
        &self.columns
    }
}

/// A circuit whose equations are known; sources are expressions of time.
struct Draft {
    netlist: Netlist,
    /// Names of the nodes; those inside elements have none.
    nodes: Vec<Option<String>>,
    /// Branches of the file's elements; a Zener diode has two whose currents are subtracted.
    elements: Vec<(String, Vec<(usize, f64)>)>,
    reduced: Reduced,
    /// (sources) their formulas, and (branches) gates of switches.
    sources: Vec<Formula>,
    gates: BTreeMap<usize, Formula>,
    /// A circuit without capacitors and inductors has a clock as its only state.
    clock: bool,
}

/// What is collected while elements are read.
#[derive(Default)]
struct Reader {
    nodes: Vec<Option<String>>,
    branches: Vec<Branch>,
    places: Vec<Place>,
    elements: Vec<(String, Vec<(usize, f64)>)>,
    sources: Vec<Formula>,
    gates: BTreeMap<usize, Formula>,
    seen: HashSet<String>,
}

/// Reads the elements and reduces the equations.
fn read(table: &CircuitTable, file: &ModelFile, context: &mut Context) -> Option<Draft> {
    let before = context.out.errors();
    let mut reader = Reader::default();
    let kinds: [(&str, &Option<Elements>); 8] = [
        ("voltage", &table.voltage),
        ("current", &table.current),
        ("resistor", &table.resistor),
        ("capacitor", &table.capacitor),
        ("inductor", &table.inductor),
        ("diode", &table.diode),
        ("zener", &table.zener),
        ("switch", &table.switch),
    ];
    let elements = kinds
        .into_iter()
        .flat_map(|(kind, elements)| elements.iter().flat_map(move |e| e.items.iter().map(move |e| (kind, e))));
    let mut elements: Vec<(&str, &Element)> = elements.collect();
    // nodes, rows and columns stand in the order of the file
    elements.sort_by_key(|(_, element)| element.name.place.span.start);
    for (kind, element) in elements {
        reader.element(kind, element, context);
    }
    if reader.branches.is_empty() && context.out.errors() == before {
        context.out.error(&table.place, "the circuit has no elements");
    }
    let ground = reader.ground(table.ground.as_ref(), context);
    if let Some((name, _)) =
        reader.elements.iter().find(|(name, _)| reader.nodes.iter().any(|node| node.as_ref() == Some(name)))
    {
        let message = format!("`{name}` names both a node and an element");
        context.out.error(&table.place, message).hint("their voltages would have the same name in the results");
    }
    if context.out.errors() > before {
        return None;
    }
    let Reader { nodes, branches, places, elements, sources, gates, .. } = reader;
    let given =
        |branch: &Branch| file.initial.iter().flat_map(|all| &all.items).any(|(key, _)| key.value == branch.name);
    let set = (0..branches.len()).filter(|&branch| given(&branches[branch])).collect();
    let netlist = Netlist { nodes: nodes.len(), branches, sources: sources.len(), ground: ground?, set };
    loose(&netlist, &nodes, (&places, &table.place), context);
    match netlist.reduce() {
        Ok(mut reduced) => {
            let clock = reduced.states.is_empty();
            if clock {
                wind(&mut reduced);
            }
            Some(Draft { netlist, nodes, elements, reduced, sources, gates, clock })
        }
        Err(error) => {
            let name = match &error {
                CircuitError::VoltageLoop(names) | CircuitError::CurrentCut(names) => names.first().cloned(),
                CircuitError::Singular(name) | CircuitError::Reference(name) => Some(name.clone()),
                CircuitError::Size(_) => None,
            };
            let at = name.and_then(|name| netlist.branches.iter().position(|branch| branch.name == name));
            context.out.error(at.map_or(&table.place, |at| &places[at]), error.to_string());
            None
        }
    }
}

impl Reader {
    fn node(&mut self, text: &Text, context: &mut Context) -> Option<usize> {
        let name = label(text, &mut context.out)?;
        let known = self.nodes.iter().position(|node| node.as_ref() == Some(&name));
        Some(known.unwrap_or_else(|| {
            self.nodes.push(Some(name));
            self.nodes.len() - 1
        }))
    }

    /// The node of the file, or one that looks like a ground, or the first one.
    fn ground(&mut self, wanted: Option<&Text>, context: &mut Context) -> Option<usize> {
        let find = |name: &str| self.nodes.iter().position(|node| node.as_deref() == Some(name));
        match wanted {
            Some(text) => {
                let found = find(&text.value);
                if found.is_none() {
                    context.out.error(&text.place, format!("no element has the node `{}`", text.value));
                }
                found
            }
            None => find("0").or_else(|| find("gnd")).or(Some(0)),
        }
    }

    fn element(&mut self, kind: &str, element: &Element, context: &mut Context) -> Option<()> {
        let name = &element.name.value;
        if let Some(problem) = name_problem(name) {
            context.out.error(&element.name.place, problem);
            return None;
        }
        if !self.seen.insert(name.clone()) {
            context.out.error(&element.name.place, format!("another element has the name `{name}`"));
            return None;
        }
        let [first, second] = &element.nodes;
        let nodes = [self.node(first, context)?, self.node(second, context)?];
        if nodes[0] == nodes[1] {
            context.out.error(&element.place, format!("both ends of `{name}` are at the node `{}`", first.value));
            return None;
        }
        let value = match (kind, &element.value) {
            ("diode", Some(value)) => {
                context.out.error(&value.place, "an ideal diode has no value").hint("a Zener diode is a `zener`");
                return None;
            }
            ("diode", None) => None,
            (_, Some(value)) => Some(value),
            (_, None) => {
                let message = format!("the {kind} `{name}` has no value");
                context.out.error(&element.place, message).hint("write [NODE, NODE, VALUE]");
                return None;
            }
        };
        self.branch(kind, (element, nodes), value, context)
    }

    fn branch(
        &mut self,
        kind: &str,
        (element, nodes): (&Element, [usize; 2]),
        value: Option<&Formula>,
        context: &mut Context,
    ) -> Option<()> {
        let name = element.name.value.clone();
        let size = match (kind, value) {
            ("resistor" | "capacitor" | "inductor" | "zener", Some(value)) => positive(kind, value, context)?,
            _ => 0.0,
        };
        let place = &element.place;
        let parts = match kind {
            "resistor" => vec![(self.push(&name, ElementKind::Resistor(size), nodes, place), 1.0)],
            "capacitor" => vec![(self.push(&name, ElementKind::Capacitor(size), nodes, place), 1.0)],
            "inductor" => vec![(self.push(&name, ElementKind::Inductor(size), nodes, place), 1.0)],
            "voltage" | "current" => {
                self.sources.push(value?.clone());
                let source = self.sources.len() - 1;
                let kind = if kind == "voltage" { ElementKind::Voltage(source) } else { ElementKind::Current(source) };
                vec![(self.push(&name, kind, nodes, place), 1.0)]
            }
            "switch" => {
                let branch = self.push(&name, ElementKind::Switch, nodes, place);
                self.gates.insert(branch, value?.clone());
                vec![(branch, 1.0)]
            }
            "zener" => {
                // forward a diode, backward another one against a source of the breakdown voltage
                self.nodes.push(None);
                let inner = self.nodes.len() - 1;
                let forward = self.push(&format!("{name}-forward"), ElementKind::Diode, nodes, place);
                let reverse = self.push(&format!("{name}-reverse"), ElementKind::Diode, [nodes[1], inner], place);
                self.sources.push(value?.clone());
                let source = ElementKind::Voltage(self.sources.len() - 1);
                self.push(&format!("{name}-source"), source, [inner, nodes[0]], place);
                vec![(forward, 1.0), (reverse, -1.0)]
            }
            _ => vec![(self.push(&name, ElementKind::Diode, nodes, place), 1.0)],
        };
        self.elements.push((name, parts));
        Some(())
    }

    fn push(&mut self, name: &str, kind: ElementKind, nodes: [usize; 2], place: &Place) -> usize {
        self.branches.push(Branch { name: name.into(), kind, nodes });
        self.places.push(place.clone());
        self.branches.len() - 1
    }
}

/// Warns of parts without the ground and of nodes with a single element.
fn loose(netlist: &Netlist, names: &[Option<String>], (places, table): (&[Place], &Place), context: &mut Context) {
    let quoted = |node: &usize| names[*node].as_ref().map(|name| format!("`{name}`"));
    for nodes in netlist.floating() {
        let list: Vec<String> = nodes.iter().filter_map(quoted).collect();
        let ground = quoted(&netlist.ground).unwrap_or_default();
        let message = format!("the part with the nodes {} is not connected to the ground {ground}", list.join(", "));
        let place = netlist.branches.iter().position(|branch| nodes.contains(&branch.nodes[0]));
        context
            .out
            .warning(place.map_or(table, |at| &places[at]), message)
            .hint(format!("its potentials count from {}", list.first().map_or("", String::as_str)));
    }
    for (node, branch) in netlist.dangling() {
        let (Some(node), name) = (quoted(&node), &netlist.branches[branch].name) else { continue };
        let message = format!("the node {node} has one element alone, `{name}`: no current flows through it");
        context.out.warning(&places[branch], message).hint("is the name of the node misspelt?");
    }
}

/// Puts a state in front that nothing depends on, and whose rate is a source of its own.
fn wind(reduced: &mut Reduced) {
    let rows = reduced.outputs.iter_mut().chain(reduced.quantities.iter_mut().map(|(_, row)| row));
    rows.for_each(|row| row.insert(0, 0.0));
    reduced.rates = vec![vec![0.0; 1 + reduced.pairs.len() + 2 * reduced.sources]];
}

fn positive(kind: &str, formula: &Formula, context: &mut Context) -> Option<f64> {
    let value = context.structural(formula)?;
    if value > 0.0 && value.is_finite() {
        return Some(value);
    }
    context.out.error(&formula.place, format!("the value of the {kind} is {value}, not positive"));
    None
}

impl Draft {
    /// Names of the states: those of capacitors and inductors.
    fn states(&self) -> Vec<String> {
        if self.clock {
            return vec!["clock".into()];
        }
        self.reduced.states.iter().map(|&branch| self.netlist.branches[branch].name.clone()).collect()
    }

    /// Units of the states and rows: voltages and currents. Those of potentials, voltages and currents of elements go
    /// with their names.
    fn units(&self) -> Vec<(String, &'static str)> {
        let unit = |is_voltage: bool| if is_voltage { "V" } else { "A" };
        let mut units = vec![("x.clock".to_owned(), "s")];
        for &branch in self.reduced.states.iter().filter(|_| !self.clock) {
            let Branch { name, kind, .. } = &self.netlist.branches[branch];
            units.push((format!("x.{name}"), unit(matches!(kind, ElementKind::Capacitor(_)))));
        }
        for &(branch, in_tree) in &self.reduced.pairs {
            let name = &self.netlist.branches[branch].name;
            units.push((format!("y.{name}"), unit(!in_tree)));
            units.push((format!("lambda.{name}"), unit(in_tree)));
            units.push((format!("impulse.{name}"), if in_tree { "V s" } else { "A s" }));
        }
        let nodes = self.nodes.iter().flatten();
        units.extend(nodes.chain(self.elements.iter().map(|(name, _)| name)).map(|name| (format!("v.{name}"), "V")));
        units.extend(self.elements.iter().map(|(name, _)| (format!("i.{name}"), "A")));
        units
    }

    /// Capacitors and inductors that are no states, and why.
    fn fixed(&self) -> Vec<(String, String)> {
        let name = |branch: &usize| format!("`{}`", self.netlist.branches[*branch].name);
        let reason = |(branch, others): &(usize, Vec<usize>)| {
            let what =
                if let ElementKind::Capacitor(_) = self.netlist.branches[*branch].kind { "voltage" } else { "current" };
            let others: Vec<String> = others.iter().map(name).collect();
            let text = format!("its {what} follows from {}, whose initial values are given or 0", others.join(", "));
            (self.netlist.branches[*branch].name.clone(), text)
        };
        self.reduced.dependent.iter().map(reason).collect()
    }

    /// Loops that would short a source, with the values of the sources.
    fn shorts(&self, sources: &[NodeId], gates: &[Gate], context: &Context) -> Option<Shorts> {
        let name = |branch: &usize| format!("`{}`", self.netlist.branches[*branch].name);
        let list = |branches: &[usize]| branches.iter().map(name).collect::<Vec<_>>().join(", ");
        let row = |branch: &usize| self.reduced.pairs.iter().position(|pair| pair.0 == *branch);
        let gate = |branch: &usize| gates.iter().position(|gate| Some(gate.row) == row(branch));
        let loops = self.reduced.shorts.iter().map(|short| ShortLoop {
            sources: short.sources.clone(),
            gates: short.path.iter().filter_map(gate).collect(),
            drives: short.drives,
            text: format!("{} would be shorted through {}", list(&short.voltages), list(&short.path)),
        });
        let loops: Vec<ShortLoop> = loops.collect();
        (!loops.is_empty()).then(|| Shorts { loops, sources: Tape::compile(&context.graph, sources) })
    }

    /// Names of the rows: those of diodes and switches.
    fn rows(&self) -> Vec<(String, Law)> {
        let rows = self.reduced.pairs.iter().map(|&(branch, _)| {
            let branch = &self.netlist.branches[branch];
            // the law of a switch comes from its gate
            (branch.name.clone(), if branch.kind == ElementKind::Switch { Law::EQUALITY } else { Law::UNILATERAL })
        });
        rows.collect()
    }

    /// The matrices with the sources compiled, and the columns of all potentials, voltages and currents.
    fn compile(&self, context: &mut Context) -> Option<Box<dyn Plan>> {
        let sources: Vec<NodeId> =
            self.sources.iter().filter_map(|formula| context.node_of_time(formula, "the source")).collect();
        let mut gates = Vec::new();
        for (row, &(branch, in_tree)) in self.reduced.pairs.iter().enumerate() {
            let Some(formula) = self.gates.get(&branch) else { continue };
            let Some(node) = context.node_of_time(formula, "the gate") else { continue };
            // in the tree the multiplier is the voltage: an open switch has no current
            gates.push(Gate { row, tape: Tape::compile(&context.graph, &[node]), on: !in_tree });
        }
        if sources.len() < self.sources.len() || gates.len() < self.gates.len() {
            return None;
        }
        let signals: Vec<NodeId> =
            sources.iter().copied().chain(sources.iter().map(|&node| context.graph.derivative(node, 0))).collect();
        let columns = self.derived(&signals, context);
        let shorts = self.shorts(&sources, &gates, context);
        let (n, m) = (self.reduced.rates.len(), self.reduced.pairs.len());
        let part = |rows: &[Row], from: usize, to: usize| rows.iter().flat_map(|row| row[from..to].to_vec()).collect();
        let matrices = Matrices {
            e: None,
            a: part(&self.reduced.rates, 0, n),
            b: part(&self.reduced.rates, n, n + m),
            c: part(&self.reduced.outputs, 0, n),
            d: part(&self.reduced.outputs, n, n + m),
        };
        let mut tape = |rows: &[Row]| {
            let nodes: Vec<NodeId> = rows.iter().map(|row| combine(&row[n + m..], &signals, context)).collect();
            let any = nodes.iter().any(|&node| context.graph.is_constant(node) != Some(0.0));
            any.then(|| Tape::compile(&context.graph, &nodes))
        };
        let (mut state_source, output_source) = (tape(&self.reduced.rates), tape(&self.reduced.outputs));
        if self.clock {
            let one = context.graph.constant(1.0);
            state_source = Some(Tape::compile(&context.graph, &[one]));
        }
        let (rows, sources) = (self.rows(), [state_source, output_source]);
        Some(Box::new(CircuitPlan { rows, matrices, sources, gates, columns, shorts }))
    }

    /// Columns `v.NODE`, `v.ELEMENT`, `i.ELEMENT`, also as names `v_NODE`, ... in expressions.
    fn derived(&self, signals: &[NodeId], context: &mut Context) -> Vec<(String, NodeId)> {
        let (n, m) = (self.reduced.rates.len(), self.reduced.pairs.len());
        let inputs: Vec<NodeId> =
            (1..=n + m).map(|slot| context.graph.input(slot)).chain(signals.iter().copied()).collect();
        let row = |wanted: Quantity| self.reduced.quantities.iter().find(|(quantity, _)| *quantity == wanted);
        let mut columns = Vec::new();
        let named = self.nodes.iter().enumerate().filter_map(|(k, name)| Some((k, name.as_ref()?)));
        for (node, name) in named.filter(|(node, _)| *node != self.netlist.ground) {
            let row = row(Quantity::Potential(node)).map(|(_, row)| combine(row, &inputs, context));
            columns.extend(row.map(|node| ('v', name.clone(), node)));
        }
        for (name, parts) in &self.elements {
            let voltage = parts.first().and_then(|(branch, _)| row(Quantity::Voltage(*branch)));
            let voltage = voltage.map(|(_, row)| combine(row, &inputs, context));
            columns.extend(voltage.map(|node| ('v', name.clone(), node)));
            let terms: Vec<NodeId> = parts
                .iter()
                .filter_map(|(branch, sign)| {
                    let (_, row) = row(Quantity::Current(*branch))?;
                    let row: Row = row.iter().map(|x| sign * x).collect();
                    Some(combine(&row, &inputs, context))
                })
                .collect();
            columns.push(('i', name.clone(), context.graph.sum(terms)));
        }
        for (letter, name, node) in &columns {
            // a name that is taken keeps its meaning
            if context.parameters.find(&format!("{letter}_{name}")).is_none() {
                let _ = context.all.define(&format!("{letter}_{}", name.replace('-', "_")), *node);
            }
        }
        columns.into_iter().map(|(letter, name, node)| (format!("{letter}.{name}"), node)).collect()
    }
}

/// The sum of factors times nodes.
fn combine(factors: &[f64], nodes: &[NodeId], context: &mut Context) -> NodeId {
    let mut terms = Vec::new();
    for (&factor, &node) in factors.iter().zip(nodes).filter(|(factor, _)| **factor != 0.0) {
        let factor = context.graph.constant(factor);
        terms.push(context.graph.multiply(factor, node));
    }
    context.graph.sum(terms)
}
