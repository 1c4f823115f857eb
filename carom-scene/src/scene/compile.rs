//! The first pass, once per file: names, expressions and tapes. Parameters are inputs, so that scenes with other values
//! share them.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use super::context::{Context, Names, Parameter, label};
use super::{Drawing, EventInfo, Outputs, chart, draw, event};
use crate::diagnostic::Place;
use crate::expression::{NodeId, Tape};
use crate::file::ModelFile;
use crate::kind::{Bound, Plan};
use carom::scheme::Family;

/// A file whose expressions are compiled. What has a mistake is missing.
#[derive(Debug)]
pub(super) struct Compiled {
    names: Names,
    pub model: Option<Box<dyn Plan>>,
    pub outputs: Option<Outputs>,
    pub events: Option<Vec<EventInfo>>,
    pub drawing: Option<Drawing>,
    /// Expressions of parameters alone, and where they stand.
    fixed: Option<(Tape, Vec<Place>)>,
    /// Names that some expression uses.
    pub used: HashSet<String>,
    /// The parameters as they were; those that are folded may not change.
    parameters: Vec<Parameter>,
}

impl Compiled {
    /// `None` if not even the names are known.
    fn new(file: &ModelFile, context: &mut Context) -> Option<Compiled> {
        let compile = file.model.table.names(file, context)?;
        let model = compile(file, context);
        let columns = model.as_ref().map_or(&[][..], |model| model.columns());
        let events = event::read(file.event.as_deref().unwrap_or_default(), context);
        let outputs = outputs(file, columns, context);
        let sketch = model.as_ref().and_then(|model| model.sketch());
        let drawing = draw::build(file, sketch, context);
        let (nodes, places): (Vec<NodeId>, Vec<Place>) = std::mem::take(&mut context.fixed).into_iter().unzip();
        Some(Compiled {
            names: context.names.clone(),
            model,
            outputs,
            events,
            drawing,
            fixed: (!nodes.is_empty()).then(|| (Tape::compile(&context.graph, &nodes), places)),
            used: context.used.clone(),
            parameters: context.values.clone(),
        })
    }

    /// Whether these values would give the same tapes: a parameter that is folded may not change, and one that is not
    /// may not become one that would be. It does not matter which plans there are already, so that runs in parallel
    /// have the same bits.
    fn suits(&self, values: &[Parameter]) -> bool {
        self.parameters.iter().zip(values).filter(|(then, _)| then.read).all(|(then, now)| match then.folded {
            true => then.value == now.value && (then.kept || !now.kept),
            false => !now.is_plain(),
        })
    }

    /// The model with the values of the context, after a look at all numbers.
    pub fn bind(&self, file: &ModelFile, context: &mut Context) -> Option<Box<dyn Bound>> {
        let before = context.out.errors();
        if let Some((tape, places)) = &self.fixed {
            let values = tape.bind(&context.vector()).constants();
            for (value, place) in values.iter().zip(places).filter(|(value, _)| !value.is_finite()) {
                context.not_finite(*value, place);
            }
        }
        match self.model.as_ref().filter(|_| context.out.errors() == before) {
            Some(plan) => plan.bind(file, context),
            None => {
                file.model.table.check_numbers(file, context);
                None
            }
        }
    }
}

/// Most plans that are kept of one file.
const MOST: usize = 16;

/// What has been compiled of a file, shared by its scenes: one plan, and one more for each set of values that needs
/// another form.
#[derive(Clone, Debug, Default)]
pub(super) struct Plans(Arc<Mutex<Vec<Arc<Compiled>>>>);

impl Plans {
    /// The plan for the values of the context, compiled if there is none. The names of the context are set.
    pub fn find(&self, file: &ModelFile, context: &mut Context) -> Option<Arc<Compiled>> {
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = plans.iter().find(|plan| plan.suits(&context.values)) {
            context.names = known.names.clone();
            return Some(known.clone());
        }
        let before = context.out.errors();
        let compiled = Arc::new(Compiled::new(file, context)?);
        if context.out.errors() == before {
            if plans.len() == MOST {
                plans.remove(1);
            }
            plans.push(compiled.clone());
        }
        Some(compiled)
    }
}

fn outputs(file: &ModelFile, columns: &[(String, NodeId)], context: &mut Context) -> Option<Outputs> {
    let before = context.out.errors();
    let (mut names, mut nodes) = (Vec::new(), Vec::new());
    let asked = file.output.as_ref().and_then(|table| table.columns.as_ref());
    for (name, formula) in asked.iter().flat_map(|columns| &columns.items) {
        names.extend(label(name, &mut context.out));
        nodes.extend(context.node(formula));
    }
    chart::outputs(file, &mut names, &mut nodes, context);
    nodes.extend(columns.iter().map(|(_, node)| *node));
    let derived = columns.iter().map(|(name, _)| name.clone()).collect();
    let multipliers = 1 + context.names.coordinates.len()..;
    let uses = |node: &NodeId| context.graph.slots(*node).iter().any(|slot| multipliers.contains(slot));
    let is_first_order = context.names.family == Family::FirstOrder;
    let of_steps = nodes.iter().map(|node| is_first_order && uses(node)).collect();
    let tape = || Tape::compile(&context.graph, &nodes);
    (context.out.errors() == before).then(|| Outputs { names, derived, of_steps, tape: tape() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::{Diagnostics, SourceText};
    use crate::scene::{Overrides, parameters};

    /// Operations of one evaluation of each tape, with parameters as inputs or as numbers.
    fn operations(name: &str, folded: bool) -> [usize; 6] {
        let source = SourceText::new(name, crate::examples::find(name).unwrap());
        let file = ModelFile::parse(&source).unwrap();
        let mut context = Context::new(Diagnostics::default());
        parameters::evaluate(file.parameters.as_ref(), &Overrides::default(), &mut context).unwrap();
        context.values.iter_mut().for_each(|parameter| parameter.folded = folded);
        let compiled = Compiled::new(&file, &mut context).unwrap();
        compiled.model.unwrap().equations().unwrap().operations()
    }

    /// Parameters as inputs cost hardly anything in a step: what depends on them alone is computed when they are set.
    #[test]
    fn parameters_cost_few_operations() {
        let names = [
            "double-pendulum",
            "slider-crank",
            "rocking-block",
            "four-bar",
            "pendulum-ring",
            "bouncing-ball",
            "planar-ball",
            "hoop",
        ];
        let (mut all, mut least) = (0, 0);
        for name in names {
            let (found, folded) = (operations(name, false), operations(name, true));
            println!("{name}: {found:?}, folded {folded:?}");
            all += found.iter().sum::<usize>();
            least += folded.iter().sum::<usize>();
        }
        println!("all: {all}, folded {least}");
        assert!(100 * all <= 103 * least, "{all} {least}");
    }
}
