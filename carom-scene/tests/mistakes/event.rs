//! Mistakes in events and in regions of contacts.

use super::{LAGRANGIAN, LINEAR, check};

#[test]
fn mistakes_in_events() {
    let at = "[output]\n";
    check(&[
        ("no zero function", LAGRANGIAN, at, "‸[[event]]\nname = \"a\"\n[output]\n", "`when` is missing", ""),
        ("no name", LAGRANGIAN, at, "‸[[event]]\nwhen = \"y\"\n[output]\n", "`name` is missing", ""),
        ("single", LAGRANGIAN, at, "‸[event]\nname = \"a\"\nwhen = \"y\"\n[output]\n", "expected a list", "[[event]]"),
        (
            "unknown name",
            LAGRANGIAN,
            at,
            "[[event]]\nname = \"a\"\nwhen = \"y - ‸h\"\n[output]\n",
            "unknown name `h`",
            "",
        ),
        ("syntax", LAGRANGIAN, at, "[[event]]\nname = \"a\"\nwhen = \"y ‸< 1\"\n[output]\n", "comparison", ""),
        (
            "constant",
            LAGRANGIAN,
            at,
            "[[event]]\nname = \"a\"\nwhen = ‸\"m - 1\"\n[output]\n",
            "always 0",
            "depends on",
        ),
        ("a number", LAGRANGIAN, at, "[[event]]\nname = \"a\"\nwhen = ‸3\n[output]\n", "always 3", ""),
        (
            "direction",
            LAGRANGIAN,
            at,
            "[[event]]\nname = \"a\"\nwhen = \"y\"\ndirection = ‸\"rise\"\n[output]\n",
            "unknown direction \"rise\"",
            "rising",
        ),
        (
            "action",
            LAGRANGIAN,
            at,
            "[[event]]\nname = \"a\"\nwhen = \"y\"\naction = ‸\"halt\"\n[output]\n",
            "unknown action \"halt\"",
            "\"stop\"",
        ),
        ("key", LAGRANGIAN, at, "[[event]]\nname = \"a\"\n‸wen = \"y\"\n[output]\n", "unknown key `wen`", "`when`"),
        (
            "two of one name",
            LAGRANGIAN,
            at,
            "[[event]]\nname = \"a\"\nwhen = \"y\"\n[[event]]\nname = ‸\"a\"\nwhen = \"x\"\n[output]\n",
            "taken by another event",
            "line 26",
        ),
        (
            "a name with a space",
            LAGRANGIAN,
            at,
            "[[event]]\nname = ‸\"a b\"\nwhen = \"y\"\n[output]\n",
            "cannot name",
            "",
        ),
    ]);
}

#[test]
fn mistakes_in_expected_events() {
    let old = "\"final y\"";
    check(&[
        ("unknown event", LAGRANGIAN, old, "‸\"events bounce\"", "no event `bounce`", "[[event]]"),
        ("misspelt kind", LAGRANGIAN, old, "‸\"last acumulation\"", "no event `acumulation`", "`accumulation`"),
        ("unknown contact", LAGRANGIAN, old, "‸\"first impact.wall\"", "no event `impact.wall`", "impact.floor"),
        ("no name", LAGRANGIAN, old, "‸\"events\"", "no event ``", ""),
    ]);
}

#[test]
fn mistakes_in_regions() {
    let old = "gap = \"y\"\n";
    check(&[
        ("no comparison", LAGRANGIAN, old, "gap = \"y\"\nwhere = \"‸x\"\n", "needs a comparison", "x < 0"),
        ("a number", LAGRANGIAN, old, "gap = \"y\"\nwhere = ‸1\n", "not a number", "x < 0"),
        (
            "velocity",
            LAGRANGIAN,
            old,
            "gap = \"y\"\nwhere = \"‸x' < 0\"\n",
            "depends on the velocity x'",
            "coordinates",
        ),
        ("unknown name", LAGRANGIAN, old, "gap = \"y\"\nwhere = \"x < 0 and ‸z > 1\"\n", "unknown name `z`", ""),
        ("missing side", LAGRANGIAN, old, "gap = \"y\"\nwhere = \"‸x < \"\n", "side of the comparison is missing", ""),
        ("nothing after and", LAGRANGIAN, old, "gap = \"y\"\nwhere = \"x < 0 and‸\"\n", "empty", ""),
        ("everywhere", LAGRANGIAN, old, "gap = \"y\"\nwhere = ‸\"m < 2\"\n", "the same everywhere", ""),
        ("equal", LAGRANGIAN, old, "gap = \"y\"\nwhere = \"x ‸== 0\"\n", "comparison `==`", ""),
        (
            "linear",
            LINEAR,
            "gap = \"1 - b + 0.1*t\"\n",
            "gap = \"1 - b + 0.1*t\"\nwhere = ‸\"a < 0\"\n",
            "has no regions",
            "lagrangian",
        ),
    ]);
}
