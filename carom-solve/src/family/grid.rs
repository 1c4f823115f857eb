//! Points that are near each other, by cells of a grid.

use super::mechanics::{Vector, difference};

/// Cells along an edge at most.
const MOST: usize = 512;

/// Pairs (i, j) with i < j that are closer than `distance`, in order of i and then of j.
pub(super) fn pairs(points: &[Vector], distance: f64) -> Vec<(usize, usize)> {
    let mut low = [f64::INFINITY; 3];
    let mut high = [f64::NEG_INFINITY; 3];
    for point in points {
        for k in 0..3 {
            low[k] = low[k].min(point[k]);
            high[k] = high[k].max(point[k]);
        }
    }
    let number = [0, 1, 2].map(|k| (((high[k] - low[k]) / distance) as usize + 1).min(MOST));
    let edge = [0, 1, 2].map(|k| ((high[k] - low[k]) / number[k] as f64).max(distance));
    let cell = |point: &Vector| [0, 1, 2].map(|k| (((point[k] - low[k]) / edge[k]) as usize).min(number[k] - 1));
    let index = |[x, y, z]: [usize; 3]| (x * number[1] + y) * number[2] + z;
    // points of each cell, as a counting sort leaves them
    let mut start = vec![0; number.iter().product::<usize>() + 1];
    points.iter().for_each(|point| start[index(cell(point)) + 1] += 1);
    for k in 1..start.len() {
        start[k] += start[k - 1];
    }
    let (mut place, mut member) = (start.clone(), vec![0; points.len()]);
    for (i, point) in points.iter().enumerate() {
        let at = &mut place[index(cell(point))];
        member[*at] = i;
        *at += 1;
    }
    let mut pairs = Vec::new();
    for (i, point) in points.iter().enumerate() {
        let first = pairs.len();
        let middle = cell(point);
        let around = |k: usize| middle[k].saturating_sub(1)..(middle[k] + 2).min(number[k]);
        for x in around(0) {
            for y in around(1) {
                for z in around(2) {
                    let k = index([x, y, z]);
                    pairs.extend(member[start[k]..start[k + 1]].iter().filter(|&&j| j > i).map(|&j| (i, j)));
                }
            }
        }
        let mut kept = first;
        for at in first..pairs.len() {
            let apart = difference(points[pairs[at].1], *point);
            if apart.iter().map(|x| x * x).sum::<f64>() < distance * distance {
                pairs[kept] = pairs[at];
                kept += 1;
            }
        }
        pairs.truncate(kept);
        pairs[first..].sort_unstable();
    }
    pairs
}
