//! Every item of every paper, with quick runs, meets its checks.

use carom_papers::{Effort, PAPERS, Verdict, reproduce};
use std::collections::BTreeSet;

#[test]
fn every_item_meets_its_checks() {
    for (paper, item) in PAPERS.iter().flat_map(|paper| paper.items.iter().map(move |item| (paper, item))) {
        let outcome = reproduce(item, Effort::Quick);
        let name = format!("{}/{}", paper.key, item.key);
        assert!(!matches!(outcome.verdict, Verdict::Failed(_)), "{name}: {:?}", outcome.verdict);
        assert!(!outcome.figure.checks.is_empty(), "{name} checks nothing");
        assert!(!outcome.figure.blocks.is_empty() && !outcome.figure.data.is_empty(), "{name} shows nothing");
    }
}

#[test]
fn keys_are_unique() {
    for paper in PAPERS {
        let keys: BTreeSet<&str> = paper.items.iter().map(|item| item.key).collect();
        assert_eq!(keys.len(), paper.items.len(), "{}", paper.key);
    }
}
