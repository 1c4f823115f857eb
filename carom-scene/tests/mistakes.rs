//! Seeded mistakes: each one is found once, at the exact place (marked `‸` in the text), with its reason and a hint.

use std::path::Path;

use carom_scene::{Diagnostic, Overrides, Severity, from_str, load};

const LAGRANGIAN: &str = r##"version = 1
name = "test"
[parameters]
m = 1.0
g = 9.81
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "m/2*(x'^2 + y'^2)"
potential = "m*g*y"
[[contact]]
name = "floor"
gap = "y"
restitution = 0.5
friction = 0.3
slip = "x"
[initial]
y = 1.0
"y'" = 0.2
[simulation]
end = 1.0
step = 0.01
scheme = { name = "moreau-jean", theta = 0.5 }
solver = "auto"
[output]
every = 2
[output.columns]
tip = "x + y"
[[draw.circle]]
center = ["x", "y"]
radius = 0.1
color = "#334455"
[[expect]]
quantity = "final y"
value = 0
tolerance = 10
"##;

const LINEAR: &str = r##"version = 1
name = "test"
[parameters]
k = 2.0
[model]
kind = "linear"
coordinates = ["a", "b"]
mass = [[1, 0], [0, 1]]
stiffness = [["k", "-k"], ["-k", "k"]]
force.a = "sin(t)"
[[contact]]
name = "stop"
gap = "1 - b + 0.1*t"
[simulation]
end = 1.0
steps = 100
[reference]
testbed = "bouncing-ball"
[reference.parameters]
mass = 1
force = -2
restitution = 0.5
q0 = 1
v0 = 0
"##;

const CHAIN: &str = r##"version = 1
name = "test"
[parameters]
k = 2.0
[model]
kind = "linear"
[model.chain]
elements = 10
mass = [[2, 1], [1, 2]]
stiffness = [["k", "-k"], ["-k", "k"]]
[[contact]]
name = "stop"
gap = "1 + q0"
[initial]
q = 0.5
q3 = 0.7
"q'" = -1
[simulation]
end = 1.0
steps = 100
"##;

const CONSTRAINED: &str = r##"version = 1
name = "test"
[parameters]
l = 2.0
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[constraint]]
name = "rod"
value = "x^2 + y^2 - l^2"
[initial]
x = "l"
"y'" = 1
[simulation]
end = 1.0
step = 0.01
"##;

/// Name, file, text to replace, replacement with the mark, part of the message, part of the hint.
type Case = (&'static str, &'static str, &'static str, &'static str, &'static str, &'static str);

/// Line and column of the mark, counted in characters.
fn split(text: &str) -> (String, (usize, usize)) {
    let before = text.split('‸').next().unwrap();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
    (text.replace('‸', ""), (line, column))
}

fn errors(text: &str) -> Vec<Diagnostic> {
    let all = match from_str("test.toml", text, &Overrides::default()) {
        Ok(_) => Vec::new(),
        Err(all) => all,
    };
    all.into_iter().filter(|diagnostic| diagnostic.severity == Severity::Error).collect()
}

fn check(cases: &[Case]) {
    let mut failures = Vec::new();
    for (name, base, old, new, message, hint) in cases {
        assert!(base.contains(old) && new.contains('‸'), "{name}: nothing to replace, or no mark");
        let (text, place) = split(&base.replacen(old, new, 1));
        let found = errors(&text);
        let good = |error: &Diagnostic| {
            (error.line, error.column) == place
                && error.message.contains(message)
                && error.hint.as_deref().unwrap_or_default().contains(hint)
        };
        if !(found.len() == 1 && good(&found[0])) {
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            failures.push(format!("{name} at {place:?}: {found:#?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_files_without_mistakes_load() {
    for text in [LAGRANGIAN, CHAIN, CONSTRAINED, &LINEAR[..LINEAR.find("[reference]").unwrap()]] {
        let scene = from_str("test.toml", text, &Overrides::default());
        assert!(scene.is_ok(), "{:?}", scene.err().map(|all| all[0].to_string()));
    }
}

#[test]
fn mistakes_of_form() {
    check(&[
        ("bare prime", LAGRANGIAN, "\"y'\" = 0.2", "y‸' = 0.2", "not valid TOML", "quote a key with a prime: \"y'\""),
        ("no quotes", LAGRANGIAN, "\"m*g*y\"", "‸m*g*y", "not valid TOML", "in quotes"),
        ("open text", LAGRANGIAN, "\"m*g*y\"", "\"m*g*y‸", "not valid TOML", ""),
        (
            "literal prime",
            LAGRANGIAN,
            "\"m/2*(x'^2 + y'^2)\"",
            "'m/2*(x'‸^2 + y'^2)'",
            "not valid TOML",
            "double quotes",
        ),
        ("double key", LAGRANGIAN, "g = 9.81", "g = 9.81\n‸g = 2", "duplicate key", ""),
        ("double table", LAGRANGIAN, "[output]", "[‸initial]\n[output]", "duplicate key", ""),
        ("unclosed list", LAGRANGIAN, "[\"x\", \"y\"]\nkin", "[\"x\", \"y\"\n‸kin", "missing comma", "not closed"),
        ("version", LAGRANGIAN, "version = 1", "version = ‸2", "version 2", "reads version 1"),
        (
            "version as text",
            LAGRANGIAN,
            "version = 1",
            "version = ‸\"1\"",
            "expected a whole number, found the text",
            "",
        ),
        ("version misspelt", LAGRANGIAN, "version = 1", "‸verson = 1", "`version` is missing", "`verson`"),
        ("unknown key", LAGRANGIAN, "restitution", "‸restituton", "unknown key `restituton`", "`restitution`"),
        ("misspelt required key", LAGRANGIAN, "kinetic", "‸knetic", "unknown key `knetic`", "`kinetic`"),
        (
            "unlike key",
            LAGRANGIAN,
            "every = 2",
            "every = 2\n‸frequency = 3",
            "unknown key",
            "valid keys: every, columns",
        ),
        ("unknown table", LAGRANGIAN, "[output]", "[‸plot]\n[output]", "unknown key `plot`", "valid keys"),
        (
            "missing field",
            LAGRANGIAN,
            "[[contact]]\nname = \"floor\"\ngap = \"y\"",
            "‸[[contact]]\nname = \"floor\"",
            "`gap` is missing",
            "",
        ),
        ("missing table", LAGRANGIAN, "version = 1\nname = \"test\"", "‸version = 1", "`name` is missing", ""),
        ("single brackets", LAGRANGIAN, "[[contact]]", "‸[contact]", "expected a list, found a table", "[[contact]]"),
        ("boolean", LAGRANGIAN, "restitution = 0.5", "restitution = ‸true", "found the boolean true", ""),
        ("date", LAGRANGIAN, "end = 1.0", "end = ‸1979-05-27", "found the date", ""),
        ("list", LAGRANGIAN, "gap = \"y\"", "gap = ‸[\"y\"]", "found a list", ""),
        ("table", LAGRANGIAN, "name = \"test\"", "name = ‸{ a = 1 }", "expected a text in quotes, found a table", ""),
        ("number for text", LAGRANGIAN, "name = \"floor\"", "name = ‸7", "found the integer 7", ""),
        ("text for integer", LAGRANGIAN, "every = 2", "every = ‸\"two\"", "expected a whole number", ""),
        ("coordinates not a list", LAGRANGIAN, "[\"x\", \"y\"]\nkin", "‸\"x\"\nkin", "expected a list", ""),
        ("nan", LAGRANGIAN, "g = 9.81", "g = ‸nan", "not finite", ""),
        ("infinite", LAGRANGIAN, "y = 1.0", "y = ‸-inf", "not finite", ""),
        ("overflow", LAGRANGIAN, "g = 9.81", "g = ‸1e999", "not finite", "1.8e308"),
        ("kind", LAGRANGIAN, "\"lagrangian\"", "‸\"lagrange\"", "unknown kind", "lagrangian"),
        ("kind missing", LAGRANGIAN, "[model]\nkind = \"lagrangian\"", "‸[model]", "`kind` is missing", ""),
        (
            "point of three",
            LAGRANGIAN,
            "[\"x\", \"y\"]\nradius",
            "‸[\"x\", \"y\", 0]\nradius",
            "2 coordinates, found 3",
            "",
        ),
    ]);
}

#[test]
fn mistakes_in_expressions() {
    check(&[
        ("syntax", LAGRANGIAN, "\"m*g*y\"", "\"m*g*‸/y\"", "expected a number, a name", ""),
        ("power", LAGRANGIAN, "\"m*g*y\"", "\"m*g‸**y\"", "`**`", "`^`"),
        ("product", LAGRANGIAN, "\"m*g*y\"", "\"2 ‸m*g*y\"", "operator is missing", "`*`"),
        ("parenthesis", LAGRANGIAN, "\"m*g*y\"", "\"m*‸(g*y\"", "never closed", ""),
        ("empty", LAGRANGIAN, "\"m*g*y\"", "\"‸\"", "empty", ""),
        ("function", LAGRANGIAN, "\"m*g*y\"", "\"m*‸sine(y)\"", "unknown function", "`sin`"),
        ("unknown name", LAGRANGIAN, "\"m*g*y\"", "\"m*g*‸Y\"", "unknown name `Y`", "`y`"),
        ("undeclared name", LAGRANGIAN, "\"m*g*y\"", "\"‸mass*g*y + m\"", "unknown name `mass`", "[parameters]"),
        ("velocity of a parameter", LAGRANGIAN, "\"m*g*y\"", "\"‸g'*m*y*g\"", "only coordinates have velocities", ""),
        ("acceleration", LAGRANGIAN, "\"m*g*y\"", "\"m*g*‸y''\"", "accelerations", "velocity"),
        ("after letters", LAGRANGIAN, "tip = \"x + y\"", "tip = \"\"\"\nx +\n ‸z\"\"\"", "unknown name `z`", ""),
        ("escaped", LAGRANGIAN, "tip = \"x + y\"", "tip = ‸\"x + \\u007a\"", "unknown name `z`", ""),
        ("non-ascii", LAGRANGIAN, "tip = \"x + y\"", "\"tip\" = \"x + ‸θ\"", "unexpected character", "letters"),
        (
            "nested",
            LAGRANGIAN,
            "gap = \"y\"",
            "gap = \"(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((‸((((((((((((y\"",
            "nested deeper",
            "",
        ),
        (
            "coordinate as a number",
            LAGRANGIAN,
            "restitution = 0.5",
            "restitution = \"‸y/2\"",
            "`y` is a coordinate",
            "",
        ),
        ("time as a number", LAGRANGIAN, "end = 1.0", "end = \"2*‸t\"", "`t` is the time", ""),
        ("division by zero", LAGRANGIAN, "end = 1.0", "end = ‸\"1/(m - 1)\"", "evaluates to inf", ""),
        ("constant not finite", LAGRANGIAN, "tip = \"x + y\"", "tip = ‸\"log(-1)\"", "not a finite number", ""),
        ("colour", LAGRANGIAN, "\"#334455\"", "‸\"#33445\"", "not a colour", "#334455"),
    ]);
}

#[test]
fn mistakes_in_names() {
    check(&[
        ("parameter below", LAGRANGIAN, "m = 1.0", "m = \"2*‸g\"", "`g` is defined below", "above"),
        ("parameter by itself", LAGRANGIAN, "m = 1.0", "m = \"‸m + 1\"", "defined by itself", ""),
        ("parameter with a prime", LAGRANGIAN, "m = 1.0", "m = 1.0\n‸\"m'\" = 2", "has a prime", ""),
        ("parameter as a function", LAGRANGIAN, "m = 1.0", "m = 1.0\n‸sin = 2", "name of a function", ""),
        ("parameter as time", LAGRANGIAN, "m = 1.0", "m = 1.0\n‸t = 2", "`t` is the time", ""),
        ("parameter not a name", LAGRANGIAN, "m = 1.0", "m = 1.0\n‸2m = 2", "not a name", ""),
        (
            "coordinate as a parameter",
            LAGRANGIAN,
            "[\"x\", \"y\"]\nkin",
            "[\"x\", ‸\"m\"]\nkin",
            "is a parameter as well",
            "",
        ),
        ("coordinate twice", LAGRANGIAN, "[\"x\", \"y\"]\nkin", "[\"x\", \"y\", ‸\"x\"]\nkin", "listed twice", ""),
        ("coordinate as time", LAGRANGIAN, "[\"x\", \"y\"]\nkin", "[\"x\", \"y\", ‸\"t\"]\nkin", "is the time", ""),
        (
            "coordinate as a constant",
            LAGRANGIAN,
            "[\"x\", \"y\"]\nkin",
            "[\"x\", \"y\", ‸\"e\"]\nkin",
            "is a constant",
            "",
        ),
        (
            "coordinate as a function",
            LAGRANGIAN,
            "[\"x\", \"y\"]\nkin",
            "[\"x\", \"y\", ‸\"max\"]\nkin",
            "name of a function",
            "",
        ),
        ("coordinate not a name", LAGRANGIAN, "[\"x\", \"y\"]\nkin", "[\"x\", \"y\", ‸\"a b\"]\nkin", "not a name", ""),
        (
            "coordinate with a prime",
            LAGRANGIAN,
            "[\"x\", \"y\"]\nkin",
            "[\"x\", \"y\", ‸\"x'\"]\nkin",
            "has a prime",
            "",
        ),
        (
            "no coordinates",
            LAGRANGIAN,
            "[model]\nkind = \"lagrangian\"\ncoordinates = [\"x\", \"y\"]",
            "‸[model]\nkind = \"lagrangian\"\ncoordinates = []",
            "no coordinates",
            "",
        ),
        (
            "two contacts of one name",
            LAGRANGIAN,
            "[initial]",
            "[[contact]]\nname = ‸\"floor\"\ngap = \"x + 1\"\n[initial]",
            "is taken",
            "line 12",
        ),
        (
            "contact with a space",
            LAGRANGIAN,
            "name = \"floor\"",
            "name = ‸\"the floor\"",
            "cannot name a result",
            "letters",
        ),
        ("initial of nothing", LAGRANGIAN, "y = 1.0", "y = 1.0\n‸z = 2", "no coordinate `z`", "x, y"),
        ("initial velocity of nothing", LAGRANGIAN, "y = 1.0", "y = 1.0\n‸\"z'\" = 2", "no velocity `z'`", "x'"),
        ("initial parameter", LAGRANGIAN, "y = 1.0", "y = 1.0\n‸g = 2", "no coordinate `g`", "under [parameters]"),
        ("initial time", LAGRANGIAN, "y = 1.0", "y = 1.0\n‸time = 2", "no coordinate `time`", "simulation.start"),
        ("force on nothing", LAGRANGIAN, "potential", "force.‸yy = 1\npotential", "no coordinate `yy`", "`y`"),
        ("scheme", LAGRANGIAN, "\"moreau-jean\"", "‸\"moreau-jaen\"", "unknown scheme", "moreau-jean"),
        ("solver", LAGRANGIAN, "\"auto\"", "‸\"lemk\"", "unknown solver", "lemke"),
        ("option", LAGRANGIAN, "theta = 0.5", "‸thta = 0.5", "no option `thta`", "`theta`"),
        ("quantity", LAGRANGIAN, "\"final y\"", "‸\"finale y\"", "unknown quantity", "`final`"),
        ("column", LAGRANGIAN, "\"final y\"", "‸\"final gap.flor\"", "no result column", "`gap.floor`"),
        ("testbed", LINEAR, "\"bouncing-ball\"", "‸\"bouncing-bal\"", "unknown testbed", "bouncing-ball"),
        ("testbed parameter", LINEAR, "q0 = 1\nv0 = 0", "q0 = 1\n‸w0 = 0\nv0 = 0", "no parameter `w0`", "0`"),
        (
            "testbed parameter missing",
            LINEAR,
            "[reference.parameters]\nmass = 1",
            "‸[reference.parameters]",
            "`mass`",
            "add mass",
        ),
        (
            "testbed of another size",
            LINEAR,
            "\"bouncing-ball\"",
            "‸\"bouncing-ball\"",
            "1 coordinates, the model has 2",
            "",
        ),
    ]);
}

#[test]
fn mistakes_in_numbers() {
    check(&[
        (
            "restitution above one",
            LAGRANGIAN,
            "restitution = 0.5",
            "restitution = ‸1.5",
            "is 1.5, outside of [0, 1]",
            "",
        ),
        ("restitution below zero", LAGRANGIAN, "restitution = 0.5", "restitution = ‸\"-m\"", "is -1, outside", ""),
        ("friction below zero", LAGRANGIAN, "friction = 0.3", "friction = ‸-0.3", "is -0.3, negative", ""),
        (
            "friction without slip",
            LAGRANGIAN,
            "friction = 0.3\nslip = \"x\"",
            "friction = ‸0.3",
            "needs `slip`",
            "slip =",
        ),
        (
            "slip without friction",
            LAGRANGIAN,
            "friction = 0.3\nslip = \"x\"",
            "slip = ‸\"x\"",
            "without `friction`",
            "friction",
        ),
        ("three slips", LAGRANGIAN, "slip = \"x\"", "slip = ‸[\"x\", \"y\", \"x\"]", "found 3", ""),
        ("zero step", LAGRANGIAN, "step = 0.01", "step = ‸0", "not positive", ""),
        ("negative step", LAGRANGIAN, "step = 0.01", "step = ‸-0.01", "not positive", ""),
        ("tiny step", LAGRANGIAN, "step = 0.01", "step = ‸1e-15", "too many", ""),
        (
            "lost step",
            LAGRANGIAN,
            "end = 1.0\nstep = 0.01",
            "start = 1e10\nend = \"1e10 + 0.001\"\nstep = ‸1e-7",
            "too small to change",
            "",
        ),
        ("end before start", LAGRANGIAN, "end = 1.0", "start = 2\nend = ‸1.0", "1 is not after the start 2", ""),
        ("both step and steps", LAGRANGIAN, "step = 0.01", "step = 0.01\nsteps = ‸100", "not both", ""),
        (
            "neither step nor steps",
            LAGRANGIAN,
            "[simulation]\nend = 1.0\nstep = 0.01",
            "‸[simulation]\nend = 1.0",
            "size of steps is missing",
            "steps = ",
        ),
        ("half a step", LAGRANGIAN, "step = 0.01", "steps = ‸10.5", "not a whole number", ""),
        ("every zero", LAGRANGIAN, "every = 2", "every = ‸0", "at least 1", ""),
        ("option out of range", LAGRANGIAN, "theta = 0.5", "theta = ‸1.5", "not in [0, 1]", "default 0.5"),
        (
            "option of another type",
            LAGRANGIAN,
            "theta = 0.5",
            "activation = 0, theta = ‸\"half\"",
            "invalid type",
            "default 0.5",
        ),
        ("option not finite", LAGRANGIAN, "theta = 0.5", "theta = ‸nan", "not finite", ""),
        (
            "tolerance missing",
            LAGRANGIAN,
            "[[expect]]\nquantity = \"final y\"\nvalue = 0\ntolerance = 10",
            "‸[[expect]]\nquantity = \"final y\"\nvalue = 0",
            "needs `tolerance`",
            "",
        ),
        ("both tolerances", LAGRANGIAN, "tolerance = 10", "tolerance = 10\nrelative = ‸1", "not both", ""),
        ("negative tolerance", LAGRANGIAN, "tolerance = 10", "tolerance = ‸-1", "negative", ""),
        ("elements", CHAIN, "elements = 10", "elements = ‸0", "0 elements", ""),
        ("many elements", CHAIN, "elements = 10", "elements = ‸1e9", "1000000000 elements", ""),
        ("half an element", CHAIN, "elements = 10", "elements = ‸\"k/4\"", "0.5 elements", ""),
    ]);
}

#[test]
fn mistakes_in_mechanics() {
    check(&[
        ("not quadratic", LAGRANGIAN, "\"m/2*(x'^2 + y'^2)\"", "‸\"m/2*(x'^2 + y'^4)\"", "must be quadratic", "force"),
        ("mass of time", LAGRANGIAN, "\"m/2*(x'^2 + y'^2)\"", "‸\"m/2*(x'^2 + (1 + t)*y'^2)\"", "depends on time", ""),
        ("potential of velocity", LAGRANGIAN, "\"m*g*y\"", "‸\"m*g*y + x'\"", "velocity x'", "coordinates"),
        ("gap of velocity", LAGRANGIAN, "gap = \"y\"", "gap = ‸\"y + 0.1*y'\"", "gap depends on the velocity y'", ""),
        ("slip of velocity", LAGRANGIAN, "slip = \"x\"", "slip = ‸\"x'\"", "slip depends on the velocity x'", ""),
        ("massless", LAGRANGIAN, "\"m/2*(x'^2 + y'^2)\"", "‸\"m/2*x'^2\"", "not positive definite", "y'"),
        (
            "negative mass",
            LAGRANGIAN,
            "m = 1.0\ng = 9.81\n[model]\nkind = \"lagrangian\"\ncoordinates = [\"x\", \"y\"]\nkinetic = \"",
            "m = -1.0\ng = 9.81\n[model]\nkind = \"lagrangian\"\ncoordinates = [\"x\", \"y\"]\nkinetic = ‸\"",
            "coordinate `x`",
            "",
        ),
        ("penetration", LAGRANGIAN, "gap = \"y\"", "gap = ‸\"y - 1.25\"", "`floor` is -2.5", "[initial]"),
        (
            "gap not finite at the start",
            LAGRANGIAN,
            "gap = \"y\"\nrestitution = 0.5\nfriction = 0.3\nslip = \"x\"\n[initial]",
            "gap = \"y/x\"\n‸[initial]",
            "not finite",
            "",
        ),
        (
            "violated constraint",
            CONSTRAINED,
            "\"x^2 + y^2 - l^2\"",
            "‸\"x^2 + y^2 - l\"",
            "`rod` is violated by 2.0",
            "[initial]",
        ),
        (
            "constraint of velocity",
            CONSTRAINED,
            "\"x^2 + y^2 - l^2\"",
            "‸\"x^2 + y'^2 - l^2\"",
            "depends on the velocity",
            "",
        ),
        (
            "impossible velocities",
            CONSTRAINED,
            "\"x^2 + y^2 - l^2\"",
            "‸\"(x^2 + y^2 - l^2)^2 + t\"",
            "no velocities satisfy",
            "",
        ),
        ("gap not affine", LINEAR, "\"1 - b + 0.1*t\"", "‸\"1 - b^2\"", "not affine in b", "lagrangian"),
        (
            "gap not affine in time",
            LINEAR,
            "\"1 - b + 0.1*t\"",
            "‸\"1 - b + 0.1*sin(t)\"",
            "not affine in t",
            "lagrangian",
        ),
        ("force of position", LINEAR, "\"sin(t)\"", "‸\"-a\"", "depends on a", "stiffness"),
        ("short row", LINEAR, "[[1, 0], [0, 1]]", "[[1, 0], [‸1]]", "row 2 of the matrix has 1 entries", ""),
        ("few rows", LINEAR, "[[\"k\", \"-k\"], [\"-k\", \"k\"]]", "‸[[\"k\", \"-k\"]]", "1 rows, expected 2", ""),
        ("not a matrix", LINEAR, "[[1, 0], [0, 1]]", "[‸1, 0, 0, 1]", "a row of the matrix", ""),
        ("names and rows", LINEAR, "[\"a\", \"b\"]", "[‸\"a\", \"b\", \"c\"]", "3 coordinates are named", ""),
        ("not symmetric", LINEAR, "[[1, 0], [0, 1]]", "‸[[1, 0.5], [0, 1]]", "not symmetric", ""),
        ("indefinite", LINEAR, "[[1, 0], [0, 1]]", "‸[[1, 2], [2, 1]]", "coordinate `b`", ""),
        (
            "no mass",
            LINEAR,
            "[model]\nkind = \"linear\"\ncoordinates = [\"a\", \"b\"]\nmass = [[1, 0], [0, 1]]",
            "‸[model]\nkind = \"linear\"\ncoordinates = [\"a\", \"b\"]",
            "needs `mass` or `chain`",
            "",
        ),
        (
            "chain names",
            CHAIN,
            "kind = \"linear\"",
            "kind = \"linear\"\ncoordinates = [‸\"a\"]",
            "are numbered",
            "chain.base",
        ),
        ("chain indefinite", CHAIN, "[[2, 1], [1, 2]]", "‸[[1, 2], [2, 1]]", "not positive definite", ""),
        ("chain element", CHAIN, "[[2, 1], [1, 2]]", "‸[[2]]", "1 rows, expected 2", ""),
        ("chain node", CHAIN, "\"1 + q0\"", "\"1 + ‸q11\"", "unknown name `q11`", "q1"),
        ("chain base", CHAIN, "elements = 10", "elements = 10\nbase = ‸\"atan\"", "`atan2`", ""),
    ]);
}

#[test]
fn all_mistakes_are_reported_in_order() {
    let text = LAGRANGIAN
        .replace("restitution = 0.5", "restitution = 2")
        .replace("\"m*g*y\"", "\"m*gg*y\"")
        .replace("every = 2", "evry = 2")
        .replace("step = 0.01", "step = -1")
        .replace("radius = 0.1", "radius = \"r\"")
        .replace("theta = 0.5", "theta = 7");
    let found = errors(&text);
    let fields: Vec<&str> = found.iter().map(|error| error.field.as_str()).collect();
    let expected = [
        "model.potential",
        "contact[0].restitution",
        "simulation.step",
        "simulation.scheme.theta",
        "output.evry",
        "draw.circle[0].radius",
    ];
    assert_eq!(fields, expected);
    assert!(found.iter().all(|error| error.file() == "test.toml"));
}

#[test]
fn mistakes_of_the_command_line() {
    let set = |name: &str, value: &str| Overrides { set: vec![(name.into(), value.into())], ..Default::default() };
    let cases = [
        (set("M", "2"), "--set", 1, "unknown parameter `M`", "`m`"),
        (set("mass", "2"), "--set", 1, "unknown parameter `mass`", "m, g"),
        (set("m", "2*"), "--set", 5, "expected a number", ""),
        (set("m", "2*q"), "--set", 5, "unknown name `q`", ""),
        (set("m", "m + 1"), "--set", 3, "defined by itself", ""),
        (set("m", "nan"), "--set", 3, "unknown name `nan`", ""),
        (Overrides { scheme: Some("moro".into()), ..Default::default() }, "--scheme", 1, "unknown scheme", ""),
        (Overrides { scheme: Some("{ name = ".into()), ..Default::default() }, "--scheme", 9, "", "write a name"),
        (
            Overrides { scheme: Some("{ name = \"moreau-jean\", theta = 2 }".into()), ..Default::default() },
            "--scheme",
            33,
            "not in [0, 1]",
            "",
        ),
        (Overrides { solver: Some("nsg".into()), ..Default::default() }, "--solver", 1, "unknown solver", "nsgs"),
        (Overrides { step: Some(0.0), ..Default::default() }, "--step", 1, "not positive", ""),
        (Overrides { steps: Some(0), ..Default::default() }, "--steps", 1, "whole number", ""),
        (Overrides { end: Some(f64::NAN), ..Default::default() }, "--end", 1, "finite", ""),
        (Overrides { step: Some(0.1), steps: Some(3), ..Default::default() }, "--steps", 1, "not both", ""),
    ];
    for (overrides, file, column, message, hint) in cases {
        let found = from_str("test.toml", LAGRANGIAN, &overrides).unwrap_err();
        let error = &found[0];
        assert_eq!(found.len(), 1, "{overrides:?}: {error}");
        assert_eq!((error.file(), error.line, error.column), (file, 1, column), "{error}");
        assert!(error.message.contains(message), "{error}");
        assert!(error.hint.as_deref().unwrap_or_default().contains(hint), "{error}");
    }
}

#[test]
fn files_that_cannot_be_read() {
    let directory = std::env::temp_dir().join(format!("carom-scene-mistakes-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = directory.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let large = write("large.toml", b"");
    std::fs::OpenOptions::new().write(true).open(&large).unwrap().set_len(100 << 20).unwrap();
    let cases: [(&Path, &str, &str); 7] = [
        (&directory.join("none.toml"), "does not exist", ""),
        (&directory, "is a directory", ""),
        (&large, "104857600 bytes", "chain"),
        (&write("empty.toml", b" \n"), "the file is empty", "carom new"),
        (&write("binary.toml", b"version = 1\nname = \"\xff\""), "byte 20 is 0xff", ""),
        (&write("wide.toml", b"\xff\xfev\0e\0"), "byte 0 is 0xff", "UTF-16"),
        (Path::new("/dev/zero"), "more than", ""),
    ];
    for (path, message, hint) in cases {
        let found = load(path, &Overrides::default()).unwrap_err();
        assert!(found[0].message.contains(message), "{}", found[0]);
        assert!(found[0].hint.as_deref().unwrap_or_default().contains(hint), "{}", found[0]);
    }
    let found = load(&directory.join("binary.toml"), &Overrides::default()).unwrap_err();
    assert_eq!((found[0].line, found[0].column), (2, 9));
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn hostile_texts_end_quickly() {
    let start = std::time::Instant::now();
    let deep = 100_000;
    for text in [
        format!("x = {}", "[".repeat(deep)),
        format!("x = {}", "{a=".repeat(deep)),
        format!("{} = 1", vec!["a"; deep].join(".")),
        LAGRANGIAN.replace("\"m*g*y\"", &format!("\"{}\"", "(".repeat(60_000))),
        LAGRANGIAN.replace("\"m*g*y\"", &format!("\"{}y\"", "-".repeat(60_000))),
        LAGRANGIAN.replace("\"m*g*y\"", &format!("\"{}\"", "y+".repeat(60_000))),
        LAGRANGIAN.replace("[\"x\", \"y\"]\nkin", &format!("[\"x\", \"y\"{}]\nkin", ", \"x\"".repeat(deep))),
        LAGRANGIAN.replace(
            "[parameters]",
            &format!("[parameters]\n{}", (0..deep).map(|i| format!("p{i} = \"p{}\"\n", i + 1)).collect::<String>()),
        ),
        LAGRANGIAN.replace(
            "[initial]",
            &format!("[initial]\n{}", (0..deep).map(|i| format!("z{i} = 1\n")).collect::<String>()),
        ),
        LINEAR.replace("[[1, 0], [0, 1]]", &format!("[[1{}]]", ",1".repeat(deep))),
    ] {
        let found = errors(&text);
        assert!(!found.is_empty() && found.len() <= 101, "{}", found.len());
    }
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn warnings_do_not_stop() {
    // the given velocity is tangential; adding a radial one makes it inconsistent: only that part is taken away
    let text = CONSTRAINED.replace("\"y'\" = 1", "\"y'\" = 1\n\"x'\" = 0.25");
    let scene = from_str("test.toml", &text, &Overrides::default()).unwrap();
    assert_eq!(scene.warnings.len(), 1);
    assert_eq!((scene.warnings[0].line, scene.warnings[0].severity), (12, Severity::Warning));
    assert!(scene.warnings[0].message.contains("x'") && scene.warnings[0].message.contains("0.25"));
    assert_eq!(scene.initial.v, [0.0, 1.0]);
    // a small violation of the position, an unused parameter, a reference that starts elsewhere
    let text = CONSTRAINED.replace("- l^2", "- l^2 + 1e-10").replace("l = 2.0", "l = 2.0\nunused = 3");
    let scene = from_str("test.toml", &text, &Overrides::default()).unwrap();
    let messages: Vec<&str> = scene.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert!(messages.len() == 2 && messages[0].contains("`unused`") && messages[1].contains("1.0"), "{messages:?}");
}
