//! Repeated tables: `for = { i = "1..n" }` makes one copy for each whole number from 1 to n, and names may have
//! expressions of i in braces, as in "rod{i - 1}".

use crate::file::{Content, Formula, Text, Words};
use crate::scene::context::{Context, name_problem};

/// Most copies of a table.
const LIMIT: f64 = 100_000.0;

/// Values of the running names of one copy.
pub(super) type Index = Vec<(String, f64)>;

/// A copy of a table.
#[derive(Clone, Debug)]
pub(super) struct Copy<'a, T> {
    pub table: &'a T,
    pub index: Index,
}

/// All copies of all tables, in the order of the file; those with a mistake are left out.
pub(super) fn copies<'a, T>(
    tables: Option<&'a Vec<T>>,
    repeat: impl Fn(&T) -> Option<&Words>,
    context: &mut Context,
) -> Vec<Copy<'a, T>> {
    let mut all = Vec::new();
    for table in tables.into_iter().flatten() {
        let values = indices(repeat(table), context).unwrap_or_default();
        all.extend(values.into_iter().map(|index| Copy { table, index }));
    }
    all
}

/// The values of the running names, one list for each copy.
fn indices(repeat: Option<&Words>, context: &mut Context) -> Option<Vec<Index>> {
    let Some(repeat) = repeat else { return Some(vec![Vec::new()]) };
    if repeat.items.is_empty() {
        let error = context.out.error(&repeat.place, "`for` names nothing that runs");
        error.hint("as in for = { i = \"1..n\" }");
        return None;
    }
    let mut all = vec![Vec::new()];
    for (name, range) in &repeat.items {
        let taken = context.parameters.find(&name.value).is_some();
        let problem = name_problem(&name.value)
            .or_else(|| taken.then(|| format!("`{}` is a parameter as well; take another name", name.value)));
        if let Some(problem) = problem {
            context.out.error(&name.place, problem);
            return None;
        }
        let [first, last] = ends(range, context)?;
        if (last - first + 1.0) * all.len() as f64 > LIMIT {
            context.out.error(&range.place, format!("the table is repeated more than {LIMIT} times"));
            return None;
        }
        let count = (last - first + 1.0).max(0.0) as usize;
        let longer = |index: &Index, k: usize| {
            let mut index = index.clone();
            index.push((name.value.clone(), first + k as f64));
            index
        };
        all = all.iter().flat_map(|index| (0..count).map(move |k| longer(index, k))).collect();
    }
    Some(all)
}

/// The text as a formula, with the places of its parts.
fn formula(text: &Text) -> Formula {
    let start = text.place.span.start + 1;
    let plain = text.place.source.text.get(start..start + text.value.len()) == Some(&text.value);
    Formula::new(Content::Expression(text.value.clone()), text.place.clone(), plain.then_some(start))
}

/// Both ends of a range, which belong to it.
fn ends(range: &Text, context: &mut Context) -> Option<[f64; 2]> {
    let Some(at) = range.value.find("..") else {
        context
            .out
            .error(&range.place, format!("{:?} is not a range", range.value))
            .hint("write \"1..n\" for the whole numbers from 1 to n, both included");
        return None;
    };
    let whole = formula(range);
    let mut end = |span: std::ops::Range<usize>| {
        let part = whole.slice(span);
        let value = context.structural(&part)?;
        if value.fract() != 0.0 || value.abs() > LIMIT {
            context.out.error(&part.place, format!("the range ends at {value}, not at a whole number"));
            return None;
        }
        Some(value)
    };
    let (first, last) = (end(0..at), end(at + 2..range.value.len()));
    Some([first?, last?])
}

/// A name with the values of its expressions in braces.
pub(super) fn name(text: &Text, context: &mut Context) -> Option<String> {
    let (mut out, mut rest, mut at) = (String::new(), text.value.as_str(), 0);
    let whole = formula(text);
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        let Some(close) = rest[open..].find('}') else {
            context.out.error(&text.place, format!("the brace in {:?} is not closed", text.value));
            return None;
        };
        let part = whole.slice(at + open + 1..at + open + close);
        let value = context.structural(&part)?;
        if value.fract() != 0.0 || value.abs() > 2.0 * LIMIT {
            context.out.error(&part.place, format!("{value} in a name is not a whole number"));
            return None;
        }
        out.push_str(&format!("{}", value as i64));
        (at, rest) = (at + open + close + 1, &rest[open + close + 1..]);
    }
    out.push_str(rest);
    Some(out)
}

impl Context {
    /// Does something while the running names of a copy have their values.
    pub(super) fn indexed<T>(&mut self, index: &Index, then: impl FnOnce(&mut Context) -> T) -> T {
        for (name, value) in index {
            let node = self.graph.constant(*value);
            // a name of the model that is the same keeps its meaning
            let _ = self.parameters.define(name, node);
            let _ = self.all.define(name, node);
            self.used.insert(name.clone());
        }
        let result = then(self);
        for (name, _) in index.iter().rev() {
            self.parameters.forget(name);
            self.all.forget(name);
        }
        result
    }
}
