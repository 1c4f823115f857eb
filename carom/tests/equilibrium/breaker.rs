//! The circuit breaker, closed: ranges by linear programs of an independent computation.

use super::*;
use carom::equilibrium::Status;
use carom::testbed::multibody::Breaker;

#[test]
fn closed_it_holds_by_friction_of_the_latch() {
    let found = here(&Breaker::default().describe());
    assert_eq!(found.freedom, 3);
    near_both(range(&found, "latch", 0), [18.003594616, 18.033409958], 2e-9);
    near_both(range(&found, "main", 0), [3.970223325, 4.030226700], 2e-9);
    near_both(range(&found, "trip-stop", 0), [1.941747573, 2.061855670], 2e-9);
    near_both(range(&found, "plunger-rear", 0), [2.0, 2.0], 1e-9);
    near_both(range(&found, "link-pin", 0), [4.332684565; 2], 1e-9);
    let needs = |name: &str, mu: f64| {
        let usage = law(&found, name).usage[0].unwrap();
        [usage.least.unwrap() * mu, usage.most.unwrap() * mu]
    };
    near_both(needs("latch", 0.2), [0.115606367, 0.115621898], 1e-9);
    near_both(needs("link-pin", 0.15), [0.101075488; 2], 1e-9);
    let carrying: Vec<&str> =
        found.laws.iter().filter(|law| law.status == Status::Carries).map(|law| law.name.as_str()).collect();
    assert_eq!(carrying, ["latch", "main", "trip-stop", "plunger-rear", "link-pin"]);
    // of all friction the link pin has least to spare
    let reserve = found.reserve.unwrap();
    assert!((0.673836..0.8).contains(&reserve), "{reserve}");
}

#[test]
fn the_latch_holds_above_its_least_friction() {
    assert!(falls(&Breaker { latch: 0.1156063, ..Breaker::default() }.describe()));
    let found = here(&Breaker { latch: 0.1156065, ..Breaker::default() }.describe());
    near(law(&found, "latch").usage[0].unwrap().least.unwrap() * 0.1156065, 0.115606367, 1e-9);
}

/// In space, where each contact has two points.
#[test]
fn in_space_it_holds_as_in_the_plane() {
    let found = here(&Breaker { is_planar: false, ..Breaker::default() }.describe());
    let least = found.laws.iter().filter(|law| law.name.starts_with("latch")).map(|law| law.reaction[0].most.unwrap());
    for most in least {
        // one of both may carry all of it
        near(most, 18.033409958, 1e-6);
    }
    assert!(falls(&Breaker { is_planar: false, latch: 0.1156063, ..Breaker::default() }.describe()));
}

/// With less friction it opens, and rests where runs of an independent implementation of a scheme come to.
#[test]
fn open_it_rests_on_its_stops() {
    let found = rest(&Breaker { latch: 0.11, ..Breaker::default() }.describe());
    let angle = |body: usize| found.state.q[3 * body + 2];
    for (body, expected) in [(2, -0.3806), (3, -0.1528), (4, 0.0470), (0, 0.4668)] {
        near(angle(body), expected, 1e-4);
    }
    near(law(&found, "main").gap * 1e3, 6.759, 1e-3);
    let forces = [("back-stop", 26.05), ("open-stop", 15.37), ("hook-return", 0.212), ("handle-off", 3.188)];
    for (name, force) in forces {
        // as printed there, to three or four digits
        let [least, most] = range(&found, name, 0);
        assert!(force > least - 5e-3 && force < most + 5e-3, "{name}: {least} {most}");
    }
}
