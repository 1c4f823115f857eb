//! The columns of a page in one packed block.
//!
//! | kind | bytes of a column | error at most |
//! |---|---|---|
//! | `integers` | `round(v / 2^e)`, differences of order 0 to 3, zigzag, varint | 6e-8 of the range; abscissae 1e-12 |
//! | `single` | f32: where values span decades | 6e-8 of each value |
//! | `double` | f64: short and constant columns, and what fits in no other kind | 0 |
//!
//! Gaps (values that are not finite) come back as NaN. The block is raw deflate in base64: browsers inflate it without
//! help. Equal columns are stored once.

use carom::elementary::{exp2, log2};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::Serialize;

use super::thin;

/// Numbers that several curves may share.
pub type Values = Arc<[f64]>;

/// Bits of the range of a column of values, and of one of abscissae: times of impacts differ late.
const BITS: i32 = 24;
const ABSCISSA_BITS: i32 = 40;
/// Columns of at most so many values are stored as they are.
const SHORT: usize = 64;
/// Integers stay below this, so that their third differences are exact in the arithmetic of the page.
const LARGEST: f64 = (1u64 << 47) as f64;
/// A value below this part of the largest is lost among the integers.
const SMALL: f64 = 1e-5;
/// Bytes above which speed counts more than size.
const HURRY_ABOVE: usize = 1 << 21;

/// How a column is stored; the page reads this.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Coding {
    /// Number of values.
    n: usize,
    kind: Kind,
    /// Exponent of the unit of integers.
    #[serde(skip_serializing_if = "is_zero")]
    e: i32,
    /// Order of the differences of integers.
    #[serde(skip_serializing_if = "is_zero")]
    order: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Integers,
    Single,
    Double,
}

fn is_zero(x: &i32) -> bool {
    *x == 0
}

/// Columns by number, grouped in tables: those over the same abscissae.
#[derive(Debug, Default)]
pub struct Store {
    distinct: Vec<Values>,
    by_content: BTreeMap<(usize, u64), Vec<usize>>,
    tables: Vec<Table>,
    /// Table and place in it of each column of the page; place 0 is the abscissa.
    columns: Vec<(usize, usize)>,
}

#[derive(Debug)]
struct Table {
    /// Distinct columns, the abscissa first.
    members: Vec<usize>,
    /// Their numbers in the page.
    numbers: Vec<usize>,
    /// Whether values of all sizes count.
    decades: Vec<bool>,
    /// Bits of one column over nothing.
    loose: Option<i32>,
}

/// The block of a page.
#[derive(Debug)]
pub struct Packed {
    pub codings: Vec<Coding>,
    pub base64: String,
    /// Rows per block of each column; 1 where all are kept.
    pub thinned: Vec<u64>,
}

impl Store {
    /// Adds a curve; the numbers of its abscissa and of its ordinate in the page. `decades`: values of all sizes count,
    /// as on a logarithmic axis.
    pub fn curve(&mut self, x: &Values, y: &Values, decades: (bool, bool)) -> (usize, usize) {
        let (x, y) = (self.distinct(x), self.distinct(y));
        let table = match self.tables.iter().position(|table| table.members[0] == x && table.loose.is_none()) {
            Some(table) => table,
            None => {
                let (members, numbers, decades) = (Vec::new(), Vec::new(), Vec::new());
                self.tables.push(Table { members, numbers, decades, loose: None });
                self.tables.len() - 1
            }
        };
        (self.member(table, x, decades.0), self.member(table, y, decades.1))
    }

    /// Adds abscissae alone; they are thinned with the curves over them, where there are any.
    pub fn column(&mut self, values: &Values) -> usize {
        self.curve(values, values, (false, false)).0
    }

    /// Adds values over no abscissa, as exact as ordinates; all of them stay.
    pub fn loose(&mut self, values: &Values) -> usize {
        self.alone(values, BITS)
    }

    /// Adds times that no curve is drawn over, as exact as abscissae; all of them stay.
    pub fn instants(&mut self, times: &Values) -> usize {
        self.alone(times, ABSCISSA_BITS)
    }

    fn alone(&mut self, values: &Values, bits: i32) -> usize {
        let (members, number) = (vec![self.distinct(values)], self.columns.len());
        self.columns.push((self.tables.len(), 0));
        self.tables.push(Table { members, numbers: vec![number], decades: vec![false], loose: Some(bits) });
        number
    }

    fn member(&mut self, table: usize, distinct: usize, decades: bool) -> usize {
        let Table { members, numbers, decades: spans, .. } = &mut self.tables[table];
        if let Some(place) = members.iter().position(|member| *member == distinct) {
            spans[place] |= decades;
            return numbers[place];
        }
        let number = self.columns.len();
        self.columns.push((table, members.len()));
        members.push(distinct);
        numbers.push(number);
        spans.push(decades);
        number
    }

    /// The number of a column by its content; unlike `==` this holds for NaN too.
    fn distinct(&mut self, values: &Values) -> usize {
        let key = (values.len(), hash(values));
        let known = self.by_content.entry(key).or_default();
        let same = |other: &Values| {
            Arc::ptr_eq(other, values) || other.iter().zip(values.iter()).all(|(a, b)| a.to_bits() == b.to_bits())
        };
        if let Some(index) = known.iter().find(|index| same(&self.distinct[**index])) {
            return *index;
        }
        known.push(self.distinct.len());
        self.distinct.push(values.clone());
        self.distinct.len() - 1
    }

    /// The block, with tables thinned to the extremes of blocks of `2^level` rows.
    pub fn pack(&self, level: u32) -> Packed {
        let mut bytes = Vec::new();
        let mut packed = Packed { codings: Vec::new(), base64: String::new(), thinned: Vec::new() };
        let rows: Vec<Option<Vec<usize>>> = self.tables.iter().map(|table| self.rows(table, level)).collect();
        for &(table, place) in &self.columns {
            let Table { members, decades, loose, .. } = &self.tables[table];
            let values = &self.distinct[members[place]];
            let kept: Option<Vec<f64>> = rows[table].as_ref().map(|rows| rows.iter().map(|row| values[*row]).collect());
            let bits = loose.unwrap_or(if place == 0 { ABSCISSA_BITS } else { BITS });
            packed.codings.push(encode(kept.as_deref().unwrap_or(values), bits, decades[place], &mut bytes));
            packed.thinned.push(if kept.is_some() { 1 << level } else { 1 });
        }
        packed.base64 = STANDARD.encode(deflate(&bytes));
        packed
    }

    /// The rows that stay of a table; `None` is all of them.
    fn rows(&self, table: &Table, level: u32) -> Option<Vec<usize>> {
        let columns: Vec<&[f64]> = table.members.iter().skip(1).map(|i| &*self.distinct[*i]).collect();
        if level == 0 || columns.is_empty() {
            return None;
        }
        let n = columns[0].len();
        let rows = thin::rows(n, columns.len(), |row, column| columns[column][row], |row| row as u64, level);
        (rows.len() < n).then_some(rows)
    }
}

/// FNV-1a over the bits.
fn hash(values: &[f64]) -> u64 {
    values.iter().fold(0xcbf2_9ce4_8422_2325, |hash, x| (hash ^ x.to_bits()).wrapping_mul(0x0100_0000_01b3))
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let level = if bytes.len() > HURRY_ABOVE { 3 } else { 6 };
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(level));
    // writing into memory does not fail
    encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default()
}

fn encode(values: &[f64], bits: i32, decades: bool, out: &mut Vec<u8>) -> Coding {
    let n = values.len();
    let plain = |kind| Coding { n, kind, e: 0, order: 0 };
    if n > SHORT && (decades || spans_decades(values)) && fits_single(values) {
        values.iter().for_each(|x| out.extend((*x as f32).to_le_bytes()));
        return plain(Kind::Single);
    }
    match (n > SHORT).then(|| unit(values, bits)).flatten() {
        Some(e) if !decades => {
            let order = integers(values, e, out);
            Coding { n, kind: Kind::Integers, e, order }
        }
        _ => {
            let finite = |x: &f64| if x.is_finite() { *x } else { f64::NAN };
            values.iter().for_each(|x| out.extend(finite(x).to_le_bytes()));
            plain(Kind::Double)
        }
    }
}

/// Exponent of the unit in which the range of the values has this many bits.
fn unit(values: &[f64], bits: i32) -> Option<i32> {
    let finite = || values.iter().copied().filter(|x| x.is_finite());
    let (low, high) = (finite().reduce(f64::min)?, finite().reduce(f64::max)?);
    let e = log2(high - low).ceil();
    // constants, and ranges beyond those of normal numbers
    if !(high > low && (-900.0..900.0).contains(&e)) {
        return None;
    }
    let e = e as i32 - bits;
    (high.abs().max(low.abs()) * exp2(f64::from(-e)) < LARGEST).then_some(e)
}

/// Whether a tenth of the values would be lost beside the largest.
fn spans_decades(values: &[f64]) -> bool {
    let largest = values.iter().filter(|x| x.is_finite()).fold(0.0, |m: f64, x| m.max(x.abs()));
    let small = values.iter().filter(|x| **x != 0.0 && x.abs() < SMALL * largest).count();
    10 * small > values.len()
}

fn fits_single(values: &[f64]) -> bool {
    values.iter().all(|x| !x.is_finite() || *x == 0.0 || (1e-37..1e38).contains(&x.abs()))
}

/// Writes gaps and integers; the order of their differences.
fn integers(values: &[f64], e: i32, out: &mut Vec<u8>) -> i32 {
    gaps(values, out);
    let scale = exp2(f64::from(-e));
    let mut last = 0.0;
    let integers: Vec<i64> = values
        .iter()
        .map(|x| {
            // a gap costs nothing as a repeated value
            last = if x.is_finite() { (x * scale).round() } else { last };
            last as i64
        })
        .collect();
    let cost = |order: i32| differences(&integers, order).map(|d| varint_length(zigzag(d))).sum::<usize>();
    let order = (0..4).min_by_key(|order| cost(*order)).unwrap_or(0);
    differences(&integers, order).for_each(|d| varint(zigzag(d), out));
    order
}

/// Number of runs of gaps, then of each the values since the last one and its length.
fn gaps(values: &[f64], out: &mut Vec<u8>) {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let mut end = 0;
    for (i, _) in values.iter().enumerate().filter(|(_, x)| !x.is_finite()) {
        match runs.last_mut() {
            Some(run) if end == i => run.1 += 1,
            _ => runs.push((i - end, 1)),
        }
        end = i + 1;
    }
    varint(runs.len() as u64, out);
    for (since, length) in runs {
        varint(since as u64, out);
        varint(length as u64, out);
    }
}

/// Differences; the first values of an order stand as differences of lower orders.
fn differences(integers: &[i64], order: i32) -> impl Iterator<Item = i64> + '_ {
    let mut last = [0i64; 3];
    integers.iter().map(move |x| {
        let mut d = *x;
        for last in &mut last[..order as usize] {
            (d, *last) = (d - *last, d);
        }
        d
    })
}

fn zigzag(x: i64) -> u64 {
    ((x << 1) ^ (x >> 63)) as u64
}

fn varint(mut x: u64, out: &mut Vec<u8>) {
    while x > 127 {
        out.push(x as u8 | 128);
        x >>= 7;
    }
    out.push(x as u8);
}

fn varint_length(x: u64) -> usize {
    (64 - (x | 1).leading_zeros() as usize).div_ceil(7)
}

#[cfg(test)]
mod tests;
