//! Every item of every paper meets its checks.

use carom_analysis::report::Block;
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

/// Every numbered figure and table of every paper is an item, or told to be none.
#[test]
fn no_figure_or_table_is_passed_over() {
    for paper in PAPERS {
        let known = |word: &str, n: u32| {
            let name = format!("{word}-{n}");
            // parts of a figure: 7a, 7b
            let is_part = |key: &str| key.strip_prefix(&name).is_some_and(|rest| ["", "a", "b"].contains(&rest));
            (paper.items.iter().any(|item| is_part(item.key)), paper.absent.iter().any(|(key, _)| *key == name))
        };
        for (word, count) in [("figure", paper.numbered.0), ("table", paper.numbered.1)] {
            for n in 1..=count {
                let (is_item, is_absent) = known(word, n);
                assert!(is_item != is_absent, "{}: {word} {n}", paper.key);
            }
        }
        assert!(paper.items.iter().all(|item| !item.claim.is_empty() && !item.claim.ends_with('.')), "{}", paper.key);
    }
}

/// The peaks in chart and CSV are those of the run: what the checks measure is there in full.
#[test]
fn peaks_of_the_impacting_bar_are_in_chart_and_data() {
    let paper = PAPERS.iter().find(|paper| paper.key == "rr8029").unwrap();
    let item = paper.items.iter().find(|item| item.key == "figure-14").unwrap();
    let figure = reproduce(item, Effort::Quick).figure;
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::MIN, f64::max);
    let measured: Vec<f64> =
        figure.checks.iter().filter(|check| check.what.contains("growing")).map(|check| check.measured).collect();
    let charts: Vec<f64> = figure
        .blocks
        .iter()
        .filter_map(|block| if let Block::Chart(chart) = block { Some(chart) } else { None })
        .map(|chart| largest(&mut chart.series[0].y.iter().copied()))
        .collect();
    let data: Vec<f64> = figure.data.iter().map(|data| largest(&mut data.rows.iter().map(|row| row[1]))).collect();
    assert_eq!((charts.len(), &charts), (measured.len(), &data));
    // the checks are in units of the force of the continuous bar: one factor for all
    let factor = charts[0] / measured[0];
    for (peak, measured) in charts.iter().zip(&measured) {
        assert!((peak - factor * measured).abs() < 1e-12 * peak, "{peak} in the chart, {} measured", factor * measured);
    }
}
