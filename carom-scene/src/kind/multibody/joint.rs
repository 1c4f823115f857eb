//! Joints: what each kind needs comes from the library's list of kinds.

use carom::multibody::contact::Surface;
use carom::multibody::joint::{Anchor, JOINTS, JointKind, Link, Need, Section, Where};
use carom::multibody::pair::Rim;
use carom::multibody::{Clearance, GROUND, Joint, JointCoordinate, Stops};

use super::Mechanism;
use super::body::part_name;
use super::number::{Measure, refuse, word};
use super::repeat::{Copy, copies, name};
use super::tables::{BearingTable, ClearanceTable, JointTable, LinkTable, StopsTable};
use crate::diagnostic::{Place, suggest};
use crate::expression::NodeId;
use crate::file::{ModelFile, OneOrMore, Text};
use crate::law;
use crate::scene::context::Context;

/// A joint with the place of its name.
#[derive(Clone, Debug)]
pub(super) struct JointInfo {
    pub joint: Joint,
    pub place: Place,
}

/// Reads all joints into the mechanism.
pub(super) fn read(file: &ModelFile, mechanism: &mut Mechanism, context: &mut Context) {
    let before = context.out.errors();
    let copies = copies(file.joint.as_ref(), |table: &JointTable| table.repeat.as_ref(), context);
    mechanism.lost_joints = context.out.errors() > before;
    for Copy { table, index } in copies {
        if context.out.is_full() {
            return;
        }
        context.indexed(&index, |context| match joint(table, mechanism, context) {
            Some(info) => mechanism.joints.push(info),
            None => mechanism.lost_joints = true,
        });
    }
}

fn joint(table: &JointTable, mechanism: &Mechanism, context: &mut Context) -> Option<JointInfo> {
    let measure = &mechanism.measure;
    let name = part_name(&table.name, "joint", context);
    let kind = kind(&table.kind, measure.planar, context)?;
    let before = context.out.errors();
    keys(table, kind, measure.planar, context);
    if context.out.errors() > before {
        return None;
    }
    let mut joint = match kind.has(Need::Terms) {
        true => coupled(table, kind, mechanism, context)?,
        false => {
            let [a, b] = pair(table.bodies.as_deref(), &table.kind, mechanism, context)?;
            Joint::new(kind, "", &a, &b)
        }
    };
    joint.name = name?;
    points(table, kind, measure, &mut joint, context);
    if let Anchor::Bodies(points) = &mut joint.point {
        *points = std::array::from_fn(|k| mechanism.about_centre(&joint.bodies[k], points[k]));
    }
    joint.axis = axes(table, measure, context);
    joint.second_axis = match &table.second_axis {
        Some(list) => drawn(measure.direction(list, "the second axis", context)),
        None => Anchor::None,
    };
    joint.length = table.distance.as_ref().and_then(|formula| measure.size(formula, "the distance", context));
    if let Some(formula) = &table.lead {
        joint.lead = measure.geometry(formula, measure.length, context).unwrap_or_default();
        if joint.lead == 0.0 && context.out.errors() == before {
            let error = context.out.error(&formula.place, "the lead of the screw is zero");
            error.hint("a joint that turns and does not slide is \"revolute\"");
        }
    }
    coordinates(table, kind, measure, &mut joint, context);
    for link in table.link.iter().flatten() {
        links(link, measure, &mut joint, context);
    }
    if let Some(bearings) = &table.bearing {
        joint.bearing = bearing(bearings, kind, table.clearance.is_some(), measure, context).filter(|size| *size > 0.0);
    }
    if let Some(table) = &table.clearance {
        joint.clearance = clearance(table, kind, mechanism, context);
    }
    (context.out.errors() == before).then(|| JointInfo { joint, place: table.name.place.clone() })
}

/// The kind of a joint.
fn kind(text: &Text, planar: bool, context: &mut Context) -> Option<&'static JointKind> {
    let names = || JOINTS.iter().filter(|kind| !planar || kind.dimensions == Where::Both).map(|kind| kind.name);
    match JointKind::find(&text.value) {
        Some(kind) if !planar || kind.dimensions == Where::Both => Some(kind),
        Some(_) => {
            let message = format!("there is no {} joint in the plane", text.value);
            let hint = format!("planar joints: {}", names().collect::<Vec<_>>().join(", "));
            context.out.error(&text.place, message).hint(hint);
            None
        }
        None => {
            let all = || format!("joints: {}", names().collect::<Vec<_>>().join(", "));
            let hint = suggest(&text.value, names(), true, all);
            context.out.error(&text.place, format!("unknown kind of joint {:?}", text.value)).hint(hint);
            None
        }
    }
}

/// Tells keys that are missing or do not belong to the kind.
fn keys(table: &JointTable, kind: &JointKind, planar: bool, context: &mut Context) {
    let has_axis = kind.has(Need::Axis) && (!planar || kind.name == "prismatic");
    let list = |list: &Option<OneOrMore>| list.as_ref().map(|list| list.place.clone());
    let number = |formula: &Option<crate::file::Formula>| formula.as_ref().map(|formula| formula.place.clone());
    let first = |list: Option<&Vec<OneOrMore>>| list.and_then(|list| list.first()).map(|first| first.place.clone());
    let text = |list: &Option<Vec<Text>>| list.as_ref().and_then(|list| list.first()).map(|text| text.place.clone());
    let (point, ends) = (kind.has(Need::Point), kind.has(Need::Ends));
    let rows = [
        ("bodies", text(&table.bodies), !kind.has(Need::Terms)),
        ("at", list(&table.at), point),
        ("at_a", list(&table.at_a), point || ends),
        ("at_b", list(&table.at_b), point || ends),
        ("ends", first(table.ends.as_ref()), ends),
        ("axis", list(&table.axis), has_axis),
        ("axis_a", list(&table.axis_a), has_axis),
        ("axis_b", list(&table.axis_b), has_axis),
        ("second_axis", list(&table.second_axis), kind.has(Need::SecondAxis)),
        ("distance", number(&table.distance), ends),
        ("lead", number(&table.lead), kind.has(Need::Lead)),
        ("joints", text(&table.joints), kind.has(Need::Terms)),
        ("ratio", number(&table.ratio), kind.name == "gear"),
        ("radius", number(&table.radius), kind.name == "rack"),
        ("factors", list(&table.factors), kind.name == "coupler"),
        ("link", table.link.as_ref().and_then(|l| l.first()).map(|link| link.place.clone()), kind.has(Need::Links)),
    ];
    for (key, place, allowed) in &rows {
        if let Some(place) = place.as_ref().filter(|_| !allowed) {
            let message = format!("a {} joint has no `{key}`", kind.name);
            let known: Vec<&str> = rows.iter().filter(|(.., allowed)| *allowed).map(|(key, ..)| *key).collect();
            context.out.error(place, message).hint(format!("it has {}", known.join(", ")));
        }
    }
    let given = |key: &str| rows.iter().any(|(known, place, _)| *known == key && place.is_some());
    let mut need = |is_missing: bool, keys: &str| {
        if is_missing {
            context.out.error(&table.kind.place, format!("a {} joint needs {keys}", kind.name));
        }
    };
    need(point && !given("at") && !given("at_a") && !given("at_b"), "`at`, or `at_a` and `at_b`");
    need(ends && !given("ends") && !given("at_a") && !given("at_b"), "`ends`, or `at_a` and `at_b`");
    need(has_axis && !given("axis") && !given("axis_a") && !given("axis_b"), "an `axis`");
    need(kind.has(Need::SecondAxis) && !given("second_axis"), "a `second_axis`");
    need(kind.has(Need::Lead) && !given("lead"), "a `lead`");
    need(kind.name == "gear" && !given("ratio"), "a `ratio`");
    need(kind.name == "rack" && !given("radius"), "a `radius`");
    need(kind.name == "coupler" && !given("factors"), "`factors`");
    need(kind.has(Need::Links) && !given("link"), "[[joint.link]] with `turn` or `slide`");
}

fn drawn(direction: Option<[f64; 3]>) -> Anchor {
    direction.map_or(Anchor::None, |d| Anchor::Drawn([d, d]))
}

/// Both of two keys, or none.
fn both(
    keys: [(&str, &Option<OneOrMore>); 2],
    mut read: impl FnMut(&OneOrMore, &mut Context) -> Option<[f64; 3]>,
    context: &mut Context,
) -> Anchor {
    match keys {
        [(_, Some(a)), (_, Some(b))] => {
            let (a, b) = (read(a, context), read(b, context));
            a.zip(b).map_or(Anchor::None, |(a, b)| Anchor::Bodies([a, b]))
        }
        [(known, Some(list)), (missing, None)] | [(missing, None), (known, Some(list))] => {
            context.out.error(&list.place, format!("`{known}` goes with `{missing}`, which is missing"));
            Anchor::None
        }
        [(_, None), (_, None)] => Anchor::None,
    }
}

/// Points of a joint.
fn points(table: &JointTable, kind: &JointKind, measure: &Measure, joint: &mut Joint, context: &mut Context) {
    let hint = "`at` is a place in the space, `at_a` and `at_b` are points of the bodies";
    let point = |what: &'static str| {
        move |list: &OneOrMore, context: &mut Context| measure.vector(list, measure.length, what, context)
    };
    let body_points = [("at_a", &table.at_a), ("at_b", &table.at_b)];
    if let Some(at) = &table.at {
        let second = table.at_a.as_ref().or(table.at_b.as_ref()).map(|list| &list.place);
        refuse(second, "give either `at`, or `at_a` and `at_b`", hint, context);
        joint.point = drawn(point("`at`")(at, context));
    } else if let Some(ends) = table.ends.as_ref().filter(|_| kind.has(Need::Ends)) {
        match &ends[..] {
            [a, b] => {
                let (a, b) = (point("an end")(a, context), point("an end")(b, context));
                joint.point = a.zip(b).map_or(Anchor::None, |(a, b)| Anchor::Drawn([a, b]));
            }
            ends => {
                let place = ends.first().map_or(&table.kind.place, |end| &end.place);
                context.out.error(place, format!("there are two ends, found {}", ends.len()));
            }
        }
    } else {
        joint.point = both(body_points, point("a point of a body"), context);
    }
}

/// The axis of a joint.
fn axes(table: &JointTable, measure: &Measure, context: &mut Context) -> Anchor {
    let hint = "`axis` is in axes of the space, `axis_a` and `axis_b` in those of the bodies";
    match &table.axis {
        Some(axis) => {
            let second = table.axis_a.as_ref().or(table.axis_b.as_ref()).map(|list| &list.place);
            refuse(second, "give either `axis`, or `axis_a` and `axis_b`", hint, context);
            drawn(measure.direction(axis, "the axis", context))
        }
        None => both(
            [("axis_a", &table.axis_a), ("axis_b", &table.axis_b)],
            |list, context| measure.direction(list, "the axis", context),
            context,
        ),
    }
}

/// Two bodies by their names.
pub(super) fn pair(
    names: Option<&[Text]>,
    place: &Text,
    mechanism: &Mechanism,
    context: &mut Context,
) -> Option<[String; 2]> {
    let Some(names) = names else {
        let error = context.out.error(&place.place, "it is not said which bodies are meant");
        error.hint("as in bodies = [\"ground\", \"crank\"]");
        return None;
    };
    let [a, b] = names else {
        let place = names.first().map_or(&place.place, |text| &text.place);
        context.out.error(place, format!("two bodies are needed, found {}", names.len()));
        return None;
    };
    let (first, second) = (mechanism.body(a, context), mechanism.body(b, context));
    let (first, second) = (first?, second?);
    if first == second {
        let error = context.out.error(&b.place, format!("both bodies are `{second}`"));
        error.hint(format!("two different bodies are needed; {GROUND:?} is one"));
        return None;
    }
    Some([first, second])
}

/// A relation of coordinates of other joints.
fn coupled(
    table: &JointTable,
    kind: &'static JointKind,
    mechanism: &Mechanism,
    context: &mut Context,
) -> Option<Joint> {
    let measure = &mechanism.measure;
    let texts = table.joints.as_deref().unwrap_or_default();
    if texts.len() < 2 || (kind.name != "coupler" && texts.len() > 2) {
        let place = texts.first().map_or(&table.kind.place, |text| &text.place);
        context.out.error(place, format!("a {} needs two `joints`, found {}", kind.name, texts.len()));
        return None;
    }
    let joints: Vec<Option<JointCoordinate>> = texts.iter().map(|text| mechanism.coordinate(text, context)).collect();
    let mut joints = joints.into_iter().collect::<Option<Vec<_>>>()?;
    let mut factor = |formula: Option<&crate::file::Formula>, unit: f64| context.number(formula?).map(|x| x * unit);
    Some(match kind.name {
        "gear" => {
            let ratio = factor(table.ratio.as_ref(), 1.0)?;
            let second = joints.remove(1);
            Joint::gear("", joints.remove(0), second, ratio)
        }
        "rack" => {
            let radius = factor(table.radius.as_ref(), measure.length)?;
            let second = joints.remove(1);
            Joint::rack("", joints.remove(0), second, radius)
        }
        _ => {
            let factors = table.factors.as_ref()?;
            if factors.items.len() != joints.len() {
                let message = format!("{} joints need as many factors, found {}", joints.len(), factors.items.len());
                context.out.error(&factors.place, message);
                return None;
            }
            let factors: Option<Vec<f64>> = factors.items.iter().map(|formula| context.number(formula)).collect();
            Joint::coupler("", joints.into_iter().zip(factors?).collect())
        }
    })
}

/// Stops and friction, which act on the first coordinate.
fn coordinates(table: &JointTable, kind: &JointKind, measure: &Measure, joint: &mut Joint, context: &mut Context) {
    let free = kind.coordinates.first().copied();
    let unit = if free == Some("angle") { measure.angle } else { measure.length };
    let none = format!("a {} joint has no coordinate to act on", kind.name);
    if let Some(stops) = &table.stops {
        match free {
            Some(_) => joint.stops = read_stops(stops, unit, context).map(|stops| (0, stops)).into_iter().collect(),
            None => refuse(Some(&stops.place), none.clone(), "leave `stops` out", context),
        }
    }
    if let Some(formula) = &table.friction {
        match free {
            Some(_) => {
                let size = law::coefficient(formula, "the friction", f64::INFINITY, context).filter(|size| *size > 0.0);
                joint.friction = size.map(|size| (0, size)).into_iter().collect();
            }
            None => refuse(Some(&formula.place), none, "leave `friction` out", context),
        }
    }
}

/// A link of a chain, with its stops and friction.
fn links(table: &LinkTable, measure: &Measure, joint: &mut Joint, context: &mut Context) {
    let index = joint.links.len();
    let (turns, axis) = match (&table.turn, &table.slide) {
        (Some(axis), None) => (true, axis),
        (None, Some(axis)) => (false, axis),
        (_, slide) => {
            let place = slide.as_ref().map_or(&table.place, |slide| &slide.place);
            context.out.error(place, "a link has either `turn` or `slide`").hint("as in turn = [0, 0, 1]");
            return;
        }
    };
    let at = match (&table.at, turns) {
        (Some(at), true) => measure.vector(at, measure.length, "`at`", context),
        (None, true) => {
            context.out.error(&axis.place, "a link that turns needs `at`, a point of its axis");
            None
        }
        (at, false) => {
            refuse(at.as_ref().map(|at| &at.place), "a link that slides has no `at`", "leave it out", context);
            Some([0.0; 3])
        }
    };
    let axis = measure.direction(axis, "the axis", context);
    let unit = if turns { measure.angle } else { measure.length };
    if let Some(stops) = &table.stops {
        joint.stops.extend(read_stops(stops, unit, context).map(|stops| (index, stops)));
    }
    if let Some(formula) = &table.friction {
        let size = law::coefficient(formula, "the friction", f64::INFINITY, context).filter(|size| *size > 0.0);
        joint.friction.extend(size.map(|size| (index, size)));
    }
    if let (Some(axis), Some(at)) = (axis, at) {
        joint.links.push(Link { turns, axis, at });
    }
}

/// Friction of a bearing or a guide, by its load: μ r or μ.
fn bearing(
    table: &BearingTable,
    kind: &JointKind,
    has_play: bool,
    measure: &Measure,
    context: &mut Context,
) -> Option<f64> {
    if !matches!(kind.name, "revolute" | "prismatic") {
        let message = format!("a {} joint has no friction that follows its load", kind.name);
        context
            .out
            .error(&table.place, message)
            .hint("revolute and prismatic joints have; `friction` is of constant size");
        return None;
    }
    if has_play {
        let error = context.out.error(&table.place, "a joint with play has no `bearing`");
        error.hint("its contacts have friction: give it in `clearance`");
        return None;
    }
    let Some(formula) = &table.friction else {
        context.out.error(&table.place, "the coefficient is missing: give `friction`");
        return None;
    };
    let mu = law::coefficient(formula, "the coefficient of friction", f64::INFINITY, context);
    let radius = match (&table.radius, kind.name) {
        (Some(formula), "revolute") => measure.positive(formula, measure.length, "the radius", context),
        (Some(formula), _) => {
            refuse(Some(&formula.place), "a guide has no radius", "leave `radius` out", context);
            None
        }
        (None, "revolute") => {
            let error = context.out.error(&table.place, "the radius of the bearing is missing");
            error.hint("as in bearing = { friction = 0.1, radius = 0.01 }");
            None
        }
        (None, _) => Some(1.0),
    };
    Some(mu? * radius?)
}

fn read_stops(table: &StopsTable, unit: f64, context: &mut Context) -> Option<Stops> {
    if table.lower.is_none() && table.upper.is_none() {
        context.out.error(&table.place, "stops need `lower` or `upper`");
        return None;
    }
    let mut bound = |formula: Option<&crate::file::Formula>, otherwise: f64| match formula {
        Some(formula) => context.number(formula).map(|x| x * unit),
        None => Some(otherwise),
    };
    let lower = bound(table.lower.as_ref(), f64::NEG_INFINITY);
    let upper = bound(table.upper.as_ref(), f64::INFINITY);
    let restitution = match &table.restitution {
        Some(formula) => law::coefficient(formula, "the coefficient of restitution", 1.0, context),
        None => Some(0.0),
    };
    let stops = Stops { lower: lower?, upper: upper?, restitution: restitution? };
    if stops.lower >= stops.upper {
        let place = table.upper.as_ref().map_or(&table.place, |upper| &upper.place);
        let message =
            format!("the upper stop {} is not above the lower one {}", stops.upper / unit, stops.lower / unit);
        context.out.error(place, message);
        return None;
    }
    Some(stops)
}

/// The play of a joint.
fn clearance(
    table: &ClearanceTable,
    kind: &JointKind,
    mechanism: &Mechanism,
    context: &mut Context,
) -> Option<Clearance> {
    let measure = &mechanism.measure;
    if !kind.may_have_play {
        let known: Vec<&str> = JOINTS.iter().filter(|kind| kind.may_have_play).map(|kind| kind.name).collect();
        let message = format!("a {} joint has no play", kind.name);
        context.out.error(&table.place, message).hint(format!("joints that may have it: {}", known.join(", ")));
        return None;
    }
    let length = |formula: &Option<crate::file::Formula>, what: &str, context: &mut Context| match formula {
        Some(formula) => law::coefficient(formula, what, f64::INFINITY, context).map(|x| x * measure.length),
        None => Some(0.0),
    };
    let Some(radial_formula) = &table.radial else {
        context.out.error(&table.place, "the play is missing: give `radial`");
        return None;
    };
    let radial = measure.positive(radial_formula, measure.length, "the play", context);
    let (radius, bearing) =
        (length(&table.radius, "the radius", context), length(&table.length, "the length", context));
    let axial = length(&table.axial, "the axial play", context);
    let coefficient =
        |formula: &Option<crate::file::Formula>, what: &str, most: f64, context: &mut Context| match formula {
            Some(formula) => law::coefficient(formula, what, most, context),
            None => Some(0.0),
        };
    let restitution = coefficient(&table.restitution, "the coefficient of restitution", 1.0, context);
    let friction = coefficient(&table.friction, "the coefficient of friction", f64::INFINITY, context);
    let (radial, radius) = (radial?, radius?);
    let least = 1e-12 * mechanism.extent();
    if radial < least {
        let message = format!("the play {radial:e} m is below the rounding of the model's lengths, {least:.1e} m");
        context.out.error(&radial_formula.place, message).hint("leave `clearance` out: the joint is ideal then");
        return None;
    }
    if let Some(formula) = table.radius.as_ref().filter(|_| radius <= radial) {
        let message = format!("the radius {radius:e} m of the hole is not larger than the play {radial:e} m");
        context.out.error(&formula.place, message).hint("the radius of the pin is the difference");
        return None;
    }
    if measure.planar && kind.name != "prismatic" {
        let hint = "a planar bearing has no length";
        refuse(table.length.as_ref().or(table.axial.as_ref()).map(|x| &x.place), "only in space", hint, context);
    }
    let rim = match &table.rim {
        Some(text) => word(text, "rim", &[("sphere", Rim::default()), ("exact", Rim::Exact)], context)?,
        None => Rim::default(),
    };
    let section = match &table.section {
        Some(text) => word(text, "section", &[("round", Section::Round), ("square", Section::Square)], context)?,
        None => Section::Round,
    };
    let surface = Surface { restitution: restitution?, friction: friction?, ..Surface::default() };
    Some(Clearance { radial, radius, length: bearing?, axial: axial?, surface, rim, section })
}

/// Play and length of a joint in m, as expressions.
pub(super) fn play_nodes(table: &JointTable, unit: f64, context: &mut Context) -> Option<[NodeId; 2]> {
    let table = table.clearance.as_ref()?;
    let mut node = |formula: Option<&crate::file::Formula>| {
        let node = match formula {
            Some(formula) => context.node(formula)?,
            None => context.graph.constant(0.0),
        };
        let unit = context.graph.constant(unit);
        Some(context.graph.multiply(unit, node))
    };
    Some([node(table.radial.as_ref())?, node(table.length.as_ref())?])
}

/// The name of a joint with running names filled in, as it is known.
pub(super) fn known(text: &Text, mechanism: &Mechanism, context: &mut Context) -> Option<usize> {
    let (wanted, joints) = (name(text, context)?, &mechanism.joints);
    if let Some(i) = joints.iter().position(|info| info.joint.name == wanted) {
        return Some(i);
    }
    if mechanism.lost_joints {
        return None;
    }
    let names = joints.iter().map(|info| info.joint.name.as_str());
    let hint = suggest(&wanted, names.clone(), true, || {
        format!("joints above: {}", names.take(12).collect::<Vec<_>>().join(", "))
    });
    context.out.error(&text.place, format!("there is no joint {wanted:?}")).hint(hint);
    None
}
