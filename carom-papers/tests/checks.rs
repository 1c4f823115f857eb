//! Every item of every paper meets its checks.

use carom_papers::{Effort, PAPERS, Verdict, reproduce};
use std::collections::BTreeSet;

fn every_item_meets_its_checks(effort: Effort) {
    for (paper, item) in PAPERS.iter().flat_map(|paper| paper.items.iter().map(move |item| (paper, item))) {
        let outcome = reproduce(item, effort);
        let name = format!("{}/{}", paper.key, item.key);
        assert!(!matches!(outcome.verdict, Verdict::Failed(_)), "{name}: {:?}", outcome.verdict);
        assert!(!outcome.figure.checks.is_empty(), "{name} checks nothing");
        assert!(!outcome.figure.blocks.is_empty() && !outcome.figure.data.is_empty(), "{name} shows nothing");
    }
}

#[test]
fn every_item_meets_its_checks_with_quick_runs() {
    every_item_meets_its_checks(Effort::Quick);
}

#[test]
#[ignore = "long: the runs are as fine as those of the papers"]
fn every_item_meets_its_checks_with_full_runs() {
    every_item_meets_its_checks(Effort::Full);
}

#[test]
fn keys_are_unique() {
    for paper in PAPERS {
        let keys: BTreeSet<&str> = paper.items.iter().map(|item| item.key).collect();
        assert_eq!(keys.len(), paper.items.len(), "{}", paper.key);
    }
}
