//! The two bodies of a contact, as its rows tell them.

use crate::Parts;

/// Adds a row of (A⁻¹ B)ᵀ, as row k of a contact: row, degree of freedom and value. None where a block of A is larger
/// than a body.
pub(super) fn respond<const K: usize>(
    parts: &Parts<'_>,
    row: usize,
    k: usize,
    out: &mut Vec<(usize, usize, f64)>,
) -> Option<()> {
    let mut entries = parts.input.row(row).iter().peekable();
    while let Some(&&(dof, _)) = entries.peek() {
        let block = parts.lhs.block(dof);
        let mut column = [0.0; K];
        let column = column.get_mut(..block.len())?;
        while let Some(&(dof, value)) = entries.next_if(|entry| block.contains(&entry.0)) {
            column[dof - block.start] += value;
        }
        parts.lhs.solve_block(block.clone(), column);
        out.extend(block.zip(&*column).filter(|entry| *entry.1 != 0.0).map(|(dof, x)| (k, dof, *x)));
    }
    Some(())
}

/// The bodies of N rows from `first` on, where each row has all K degrees of freedom of one or two blocks of A: nothing
/// is to be sorted then.
pub(super) fn whole_bodies<const N: usize, const K: usize>(parts: &Parts<'_>, first: usize) -> Option<([u32; 2], u32)> {
    let row = parts.output.row(first);
    let count = if row.len() == K { 1 } else { 2 };
    let at: [usize; 2] = [row.first()?.0, row.get((count - 1) * K)?.0];
    let fits = |row: &[(usize, f64)]| {
        row.len() == count * K
            && row.chunks_exact(K).zip(at).all(|(part, at)| part[0].0 == at && part[K - 1].0 == at + K - 1)
    };
    let rows = first..first + N;
    let are_whole = at[..count].iter().all(|&at| parts.lhs.block(at) == (at..at + K))
        && rows.clone().all(|row| fits(parts.output.row(row)) && fits(parts.input.row(row)));
    are_whole.then_some((at.map(|at| at as u32), count as u32))
}

/// One or two groups of K degrees of freedom that hold those given, as first numbers and their count: bodies, where the
/// numbers are those of bodies of K.
pub(super) fn bodies<const K: usize>(touched: impl Iterator<Item = usize>, n: usize) -> Option<([u32; 2], u32)> {
    let (mut low, mut high) = (usize::MAX, 0);
    let mut list = [0; 12];
    let mut count = 0;
    for dof in touched {
        if !list[..count].contains(&dof) {
            (low, high) = (low.min(dof), high.max(dof));
            *list.get_mut(count)? = dof;
            count += 1;
        }
    }
    if count == 0 {
        return None;
    }
    let within =
        |first: [usize; 2]| list[..count].iter().all(|dof| first.iter().any(|&first| (first..first + K).contains(dof)));
    let aligned = [low / K * K, high / K * K];
    let loose = [low.min(n - K), (high + 1).saturating_sub(K)];
    for first in [aligned, loose] {
        if first[1] + K <= n && within(first) {
            match first[1].abs_diff(first[0]) {
                0 => return Some(([first[0] as u32; 2], 1)),
                apart if apart >= K => return Some((first.map(|x| x as u32), 2)),
                _ => {}
            }
        }
    }
    None
}
