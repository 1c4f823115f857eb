//! Mistakes that need no understanding of the model: TOML, keys, types and the syntax of expressions.

use super::{LAGRANGIAN, check};

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
