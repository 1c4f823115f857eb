//! Mistakes in the control of steps.

use carom_scene::{Overrides, from_str};

use super::{LAGRANGIAN, check};

#[test]
fn mistakes_in_adaptive_steps() {
    let step = "step = 0.01";
    check(&[
        ("not a number", LAGRANGIAN, step, "adaptive = ‸\"fine\"", "expected a tolerance", ""),
        ("not positive", LAGRANGIAN, step, "adaptive = ‸0", "0 is not positive", "Largest local error"),
        ("negative", LAGRANGIAN, step, "adaptive = { tolerance = ‸-1e-6 }", "-0.000001 is not positive", ""),
        ("unknown", LAGRANGIAN, step, "adaptive = { ‸tolerence = 1e-6 }", "`adaptive` has no option", "`tolerance`"),
        ("estimator", LAGRANGIAN, step, "adaptive = { estimator = ‸\"graph\" }", "variable-order", "How the error"),
        ("type", LAGRANGIAN, step, "adaptive = { max = ‸\"large\" }", "invalid type", "Largest step"),
        ("order", LAGRANGIAN, step, "adaptive = { min = ‸0.1, max = 0.01 }", "above the largest", ""),
        ("limits", LAGRANGIAN, step, "adaptive = { grow = ‸0.5 }", "not in (1, inf)", ""),
        ("first step", LAGRANGIAN, step, "step = ‸0\nadaptive = 1e-6", "not positive", ""),
        ("two steps", LAGRANGIAN, step, "step = 0.1\nsteps = ‸10\nadaptive = 1e-6", "not both", ""),
        (
            "blind",
            LAGRANGIAN,
            "step = 0.01\nscheme = { name = \"moreau-jean\", theta = 0.5 }",
            "adaptive = ‸{ tolerance = 1e-6, estimator = \"position\" }\n\
             scheme = { name = \"moreau-jean\", forecast = { explicit = { gamma = 0.5 } } }",
            "overlooks impacts",
            "",
        ),
    ]);
}

#[test]
fn mistakes_of_the_command_line() {
    for (text, column, message) in [
        ("tight", 1, ""),
        ("0", 1, "not positive"),
        ("{ tolerance = 1e-6, mx = 1 }", 21, "has no option"),
        ("{ tolerance = ", 14, ""),
    ] {
        let overrides = Overrides { adaptive: Some(text.into()), ..Overrides::default() };
        let found = from_str("test.toml", LAGRANGIAN, &overrides).unwrap_err();
        assert_eq!((found.len(), found[0].file(), found[0].column), (1, "--adaptive", column), "{}", found[0]);
        assert!(found[0].message.contains(message), "{}", found[0]);
    }
}
