//! Columns are read back as the page does it.

use std::io::Read as _;

use super::*;

/// The decoder of `script/decode.js`, in Rust.
fn decode(packed: &Packed) -> Vec<Vec<f64>> {
    let deflated = STANDARD.decode(&packed.base64).unwrap();
    let mut bytes = Vec::new();
    flate2::read::DeflateDecoder::new(deflated.as_slice()).read_to_end(&mut bytes).unwrap();
    let mut at = 0;
    let columns = packed.codings.iter().map(|coding| column(coding, &bytes, &mut at)).collect();
    assert_eq!(at, bytes.len());
    columns
}

fn column(coding: &Coding, bytes: &[u8], at: &mut usize) -> Vec<f64> {
    let mut take = |n: usize| {
        *at += n;
        &bytes[*at - n..*at]
    };
    match coding.kind {
        Kind::Double => (0..coding.n).map(|_| f64::from_le_bytes(take(8).try_into().unwrap())).collect(),
        Kind::Single => (0..coding.n).map(|_| f64::from(f32::from_le_bytes(take(4).try_into().unwrap()))).collect(),
        Kind::Integers => {
            let mut number = || {
                let (mut x, mut shift) = (0, 0);
                loop {
                    let byte = take(1)[0];
                    x |= u64::from(byte & 127) << shift;
                    shift += 7;
                    if byte < 128 {
                        return x;
                    }
                }
            };
            let runs: Vec<[u64; 2]> = (0..number()).map(|_| [number(), number()]).collect();
            let unzigzag = |x: u64| (x >> 1) as i64 ^ -((x & 1) as i64);
            let mut integers: Vec<i64> = (0..coding.n).map(|_| unzigzag(number())).collect();
            for _ in 0..coding.order {
                (1..coding.n).for_each(|i| integers[i] += integers[i - 1]);
            }
            let mut values: Vec<f64> = integers.iter().map(|q| *q as f64 * f64::from(coding.e).exp2()).collect();
            let mut start = 0;
            for [since, length] in runs {
                start += since as usize;
                values[start..start + length as usize].fill(f64::NAN);
                start += length as usize;
            }
            values
        }
    }
}

fn round_trip(x: &[f64], y: &[f64], decades: bool) -> (Packed, Vec<f64>, Vec<f64>) {
    let mut store = Store::default();
    assert_eq!(store.curve(&x.into(), &y.into(), (false, decades)), (0, 1));
    let packed = store.pack(0);
    let mut columns = decode(&packed).into_iter();
    let (x, y) = (columns.next().unwrap(), columns.next().unwrap());
    (packed, x, y)
}

fn grid(n: usize) -> Vec<f64> {
    (0..n).map(|k| 0.3 + k as f64 * 1e-5).collect()
}

#[test]
fn values_and_times_are_as_exact_as_stated() {
    let t = grid(20_000);
    let y: Vec<f64> = t.iter().map(|t| 5.0 + (100.0 * t).sin() * (-t).exp()).collect();
    let (packed, times, values) = round_trip(&t, &y, false);
    let worst = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst(&t, &times) <= 0.2 * 1e-12, "{:e}", worst(&t, &times));
    let range = y.iter().copied().fold(f64::MIN, f64::max) - y.iter().copied().fold(f64::MAX, f64::min);
    assert!(worst(&y, &values) <= 6e-8 * range, "{:e}", worst(&y, &values) / range);
    assert_eq!((packed.codings[0].kind, packed.codings[1].kind), (Kind::Integers, Kind::Integers));
    assert!(packed.base64.len() < 60_000, "{} bytes for 20 000 rows", packed.base64.len());
}

#[test]
fn equal_times_stay_equal_and_gaps_stay_gaps() {
    let mut t = grid(100);
    (t[50], t[51]) = (t[49], t[49]);
    let mut y = grid(100);
    y[10..13].fill(f64::NAN);
    (y[0], y[99]) = (f64::INFINITY, f64::NAN);
    let (_, times, values) = round_trip(&t, &y, false);
    assert_eq!((times[50], times[51]), (times[49], times[49]));
    let gaps: Vec<usize> = (0..100).filter(|k| values[*k].is_nan()).collect();
    assert_eq!(gaps, [0, 10, 11, 12, 99]);
    assert!((values[13] - y[13]).abs() < 1e-9);
}

#[test]
fn decades_keep_six_digits_each() {
    let t = grid(500);
    let y: Vec<f64> = (0..500).map(|k| 10f64.powf(-12.0 * f64::from(k) / 499.0)).collect();
    // found without being told, too
    for decades in [true, false] {
        let (packed, _, values) = round_trip(&t, &y, decades);
        assert_eq!(packed.codings[1].kind, Kind::Single);
        assert!(y.iter().zip(&values).all(|(a, b)| (a - b).abs() <= 6e-8 * a));
    }
    let tiny: Vec<f64> = (0..500).map(|k| 1e-100 * f64::from(k + 1)).collect();
    assert_eq!(round_trip(&t, &tiny, true).2, tiny);
}

#[test]
fn short_constant_and_awkward_columns_are_exact() {
    let short = [0.1 + 0.2, 1.0 / 3.0, 5e-324, f64::MAX];
    assert_eq!(round_trip(&[0.0, 1.0, 2.0, 3.0], &short, false).2, short);
    let t = grid(1000);
    for value in [0.1, 0.0, -1e300] {
        assert_eq!(round_trip(&t, &[value; 1000], false).2, [value; 1000]);
    }
    let far: Vec<f64> = (0..1000).map(|k| 1e15 + f64::from(k)).collect();
    assert_eq!(round_trip(&t, &far, false).2, far);
    let counts: Vec<f64> = (0..1000).map(|k| f64::from(k * k)).collect();
    assert_eq!(round_trip(&t, &counts, false).2, counts);
}

#[test]
fn equal_columns_are_stored_once_and_empty_ones_are_no_harm() {
    let mut store = Store::default();
    let t: Values = grid(300).into();
    let with_nan: Values = [vec![f64::NAN], vec![1.0; 299]].concat().into();
    let a = store.curve(&t, &with_nan, (false, false));
    let b = store.curve(&grid(300).into(), &with_nan.to_vec().into(), (false, false));
    let empty = store.curve(&Values::from([]), &Values::from([]), (false, false));
    assert_eq!((a, b, empty), ((0, 1), (0, 1), (2, 2)));
    assert!(decode(&store.pack(0))[2].is_empty());
}

#[test]
fn thinning_keeps_extremes_and_says_so() {
    let n = 5000;
    let t: Values = grid(n).into();
    let mut y = vec![0.0; n];
    (y[1234], y[4321]) = (7.5, -3.25);
    let mut store = Store::default();
    store.curve(&t, &y.into(), (false, false));
    store.curve(&Values::from([1.0, 2.0]), &Values::from([3.0, 4.0]), (false, false));
    let packed = store.pack(6);
    assert_eq!(packed.thinned, [64, 64, 1, 1]);
    let columns = decode(&packed);
    assert!(columns[0].len() < n / 10);
    let at = columns[1].iter().position(|y| (y - 7.5).abs() < 1e-6).unwrap();
    assert!((columns[0][at] - t[1234]).abs() < 1e-12);
    assert!(columns[1].iter().any(|y| (y + 3.25).abs() < 1e-6));
    assert_eq!(columns[3], [3.0, 4.0]);
}
