//! The matrix blocks of Siconos files: `storage rows columns`, then
//!
//! ```text
//!     0 dense          rows columns, values in column-major order
//!     1 sparse-block   blocks, block rows, block columns, ends of row and column groups, sizes of the two index lists,
//!                      row starts, block columns, then per block its number and its values in column-major order
//!     2 sparse         origin, a line of version text, `[triplet:|csr:] m-by-n, nzmax: k nnz: k[, 1-norm: x]`,
//!                      then `col j : locations a to b` groups of `i : value`, or lines `i j : value`
//! ```

use super::token::Tokens;
use super::{FileError, Reason};
use carom_solve::Rows;

/// A matrix as a list of entries; those at the same place add up.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Entries {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) list: Vec<(usize, usize, f64)>,
}

impl Entries {
    pub(super) fn to_rows(&self) -> Rows {
        gather(self.rows, self.columns, self.list.iter().copied())
    }

    /// The rows of the transpose.
    pub(super) fn to_columns(&self) -> Rows {
        gather(self.columns, self.rows, self.list.iter().map(|&(i, j, value)| (j, i, value)))
    }
}

fn gather(rows: usize, columns: usize, list: impl Iterator<Item = (usize, usize, f64)>) -> Rows {
    let mut row: Vec<Vec<(usize, f64)>> = vec![Vec::new(); rows];
    // printed zeros are no entries
    for (i, j, value) in list.filter(|entry| entry.2 != 0.0) {
        row[i].push((j, value));
    }
    let mut out = Rows::new(columns);
    for mut entries in row {
        entries.sort_by_key(|entry| entry.0);
        entries.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
        out.push_sparse(entries);
    }
    out
}

/// Reads one matrix block.
pub(super) fn read(tokens: &mut Tokens<'_>) -> Result<Entries, FileError> {
    let storage = tokens.integer("the storage of a matrix (0, 1 or 2)")?;
    let limit = tokens.left();
    let mut size = [0; 2];
    for (size, what) in size.iter_mut().zip(["the number of rows", "the number of columns"]) {
        *size = tokens.integer(what)?;
        // every row and column of a problem has at least one number somewhere in the file
        if *size > limit {
            let error = tokens.error(Reason::TooLarge { what, found: *size, limit });
            return Err(error.hint("the file is too short for that"));
        }
    }
    let [rows, columns] = size;
    let list = match storage {
        0 => dense(tokens, rows, columns)?,
        1 => sparse_block(tokens, rows, columns)?,
        2 => sparse(tokens, rows, columns)?,
        _ => return Err(tokens.unexpected("the storage of a matrix (0, 1 or 2)", &storage.to_string())),
    };
    Ok(Entries { rows, columns, list })
}

type List = Vec<(usize, usize, f64)>;

fn dense(tokens: &mut Tokens<'_>, rows: usize, columns: usize) -> Result<List, FileError> {
    tokens.expect("the number of rows", rows)?;
    tokens.expect("the number of columns", columns)?;
    let (found, limit) = (rows.saturating_mul(columns), tokens.most());
    if found > limit {
        let error = tokens.error(Reason::TooLarge { what: "the number of entries", found, limit });
        return Err(error.hint("is the file truncated?"));
    }
    let mut list = Vec::with_capacity(found);
    for j in 0..columns {
        for i in 0..rows {
            list.push((i, j, tokens.number("an entry of the matrix")?));
        }
    }
    Ok(list)
}

fn sparse_block(tokens: &mut Tokens<'_>, rows: usize, columns: usize) -> Result<List, FileError> {
    let blocks = tokens.count("the number of blocks")?;
    let block_rows = tokens.count("the number of block rows")?;
    let block_columns = tokens.count("the number of block columns")?;
    let row_ends = ends(tokens, block_rows, rows)?;
    let column_ends = ends(tokens, block_columns, columns)?;
    let starts = tokens.count("the length of the list of row starts")?;
    let filled = tokens.count("the length of the list of block columns")?;
    tokens.same("the length of the list of block columns", filled, blocks)?;
    if starts > block_rows + 1 || starts == 0 {
        let what = "the length of the list of row starts";
        return Err(tokens.error(Reason::Mismatch { what, found: starts, expected: block_rows + 1 }));
    }
    let mut start = Vec::with_capacity(starts);
    for _ in 0..starts {
        let next = tokens.integer("a row start")?;
        if next > blocks || start.last().is_some_and(|&last| next < last) {
            return Err(tokens.error(Reason::NotRising { what: "the list of row starts" }));
        }
        start.push(next);
    }
    // rows that are not listed are empty
    start.resize(block_rows + 1, start.last().copied().unwrap_or(0));
    let mut column = Vec::with_capacity(blocks);
    for _ in 0..blocks {
        let found = tokens.integer("a block column")?;
        if found >= block_columns {
            let limit = block_columns.saturating_sub(1);
            return Err(tokens.error(Reason::TooLarge { what: "a block column", found, limit }));
        }
        column.push(found);
    }
    let mut list = Vec::new();
    for block_row in 0..block_rows {
        let (first, last) = range(&row_ends, block_row);
        for block in start[block_row]..start[block_row + 1] {
            let (left, right) = range(&column_ends, column[block]);
            tokens.expect("the number of a block", block)?;
            for j in left..right {
                for i in first..last {
                    list.push((i, j, tokens.number("an entry of a block")?));
                }
            }
        }
    }
    Ok(list)
}

/// Ends of groups of rows or columns, rising to `size`.
fn ends(tokens: &mut Tokens<'_>, groups: usize, size: usize) -> Result<Vec<usize>, FileError> {
    let mut ends: Vec<usize> = Vec::with_capacity(groups);
    for _ in 0..groups {
        let end = tokens.integer("the end of a block row or column")?;
        if end < ends.last().copied().unwrap_or(0) || end > size {
            return Err(tokens.error(Reason::NotRising { what: "the list of ends of block rows or columns" }));
        }
        ends.push(end);
    }
    tokens.same("the end of the last block", ends.last().copied().unwrap_or(0), size)?;
    Ok(ends)
}

fn range(ends: &[usize], k: usize) -> (usize, usize) {
    (if k == 0 { 0 } else { ends[k - 1] }, ends[k])
}

/// How a sparse matrix is listed.
#[derive(Clone, Copy, PartialEq)]
enum Listing {
    Triplets,
    Rows,
    Columns,
}

fn sparse(tokens: &mut Tokens<'_>, rows: usize, columns: usize) -> Result<List, FileError> {
    let before = tokens.clone();
    tokens.integer("the origin of a sparse matrix")?;
    // told at the storage: a number here means that it is something else
    if let Some(word) = tokens.peek().filter(|word| word.parse::<f64>().is_ok()) {
        return Err(before.unexpected("the text of a sparse matrix", word));
    }
    let (listing, entries) = sparse_head(tokens, rows, columns)?;
    let mut list = Vec::with_capacity(entries);
    let mut place = |tokens: &mut Tokens<'_>, i: usize, j: usize| -> Result<(), FileError> {
        for (what, found, size) in [("a row index", i, rows), ("a column index", j, columns)] {
            if found >= size {
                return Err(tokens.error(Reason::TooLarge { what, found, limit: size.saturating_sub(1) }));
            }
        }
        symbol(tokens, ":")?;
        list.push((i, j, tokens.number("an entry of the matrix")?));
        Ok(())
    };
    if listing == Listing::Triplets {
        for _ in 0..entries {
            let i = tokens.integer("a row index")?;
            let j = tokens.integer("a column index")?;
            place(tokens, i, j)?;
        }
        return Ok(list);
    }
    let (groups, word) = if listing == Listing::Columns { (columns, "col") } else { (rows, "row") };
    let mut read = 0;
    // an empty matrix may come without its empty columns
    for group in 0..groups {
        if read == entries && !matches!(tokens.peek(), Some("col" | "row")) {
            break;
        }
        let found = tokens.word("`col` or `row`")?;
        if found != word && found != "col" {
            return Err(tokens.unexpected("`col` or `row`", found));
        }
        tokens.expect("the number of a column", group)?;
        let count = locations(tokens, read)?;
        if count > entries - read {
            let what = "the number of entries";
            return Err(tokens.error(Reason::TooLarge { what, found: read + count, limit: entries }));
        }
        for _ in 0..count {
            let index = tokens.integer("an index")?;
            if listing == Listing::Columns { place(tokens, index, group)? } else { place(tokens, group, index)? }
        }
        read += count;
    }
    tokens.same("the number of entries", read, entries)?;
    Ok(list)
}

/// `: locations a to b`; returns how many.
fn locations(tokens: &mut Tokens<'_>, read: usize) -> Result<usize, FileError> {
    symbol(tokens, ":")?;
    symbol(tokens, "locations")?;
    tokens.expect("the first location", read)?;
    symbol(tokens, "to")?;
    let last = tokens.word("the last location")?;
    // an empty group at the very start ends at −1
    let end = last.parse::<i64>().ok().and_then(|last| usize::try_from(last.checked_add(1)?).ok());
    end.and_then(|end| end.checked_sub(read)).ok_or_else(|| tokens.unexpected("the last location", last))
}

/// The version text and the head line; returns the listing and the number of entries.
fn sparse_head(tokens: &mut Tokens<'_>, rows: usize, columns: usize) -> Result<(Listing, usize), FileError> {
    let mut listing = Listing::Columns;
    // the version text has about a dozen words
    for _ in 0..64 {
        let word = tokens.word("the size `m-by-n` of a sparse matrix")?;
        match word {
            "triplet:" => listing = Listing::Triplets,
            "csr:" => listing = Listing::Rows,
            _ => {}
        }
        let Some((m, n)) = word.trim_end_matches(',').split_once("-by-") else { continue };
        for (what, text, expected) in [("the number of rows", m, rows), ("the number of columns", n, columns)] {
            let found = text.parse().map_err(|_| tokens.unexpected("the size `m-by-n` of a sparse matrix", word))?;
            tokens.same(what, found, expected)?;
        }
        symbol(tokens, "nzmax:")?;
        tokens.integer("the number of places")?;
        symbol(tokens, "nnz:")?;
        let word = tokens.word("the number of entries")?;
        let entries: usize =
            word.trim_end_matches(',').parse().map_err(|_| tokens.unexpected("the number of entries", word))?;
        let limit = tokens.most();
        if entries > limit {
            return Err(tokens.error(Reason::TooLarge { what: "the number of entries", found: entries, limit }));
        }
        if tokens.peek() == Some("1-norm:") {
            tokens.next();
            tokens.bound("the norm")?;
        }
        return Ok((listing, entries));
    }
    Err(tokens.unexpected("the size `m-by-n` of a sparse matrix", "text"))
}

fn symbol(tokens: &mut Tokens<'_>, expected: &'static str) -> Result<(), FileError> {
    let word = tokens.word(expected)?;
    if word == expected { Ok(()) } else { Err(tokens.unexpected(expected, word)) }
}
