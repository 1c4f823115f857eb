//! Memory as plain data: what a computation remembers, written to bytes and read back bit by bit.
//!
//! One method does both ways: [`Persist::persist`] hands its numbers to an [`Archive`], which writes them down or puts
//! the stored ones in their places, so that the two cannot differ in order. [`persist!`](crate::persist) lists the
//! fields of a struct, and does not compile where one is forgotten. Numbers are their bits, little end first: infinite
//! values, not-a-numbers and signs of zeros come back as they were.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Why stored memory cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stored memory does not fit at byte {at}: {reason}")]
pub struct ArchiveError {
    /// Where [bytes].
    pub at: usize,
    /// What is wrong.
    pub reason: &'static str,
}

/// Bytes that memory is written to or read from.
#[derive(Debug, Default)]
pub struct Archive {
    bytes: Vec<u8>,
    at: Option<usize>, // next byte, where it is read
}

impl Archive {
    /// An empty one, to write to.
    pub fn writing() -> Archive {
        Archive::default()
    }

    /// One to read from.
    pub fn reading(bytes: Vec<u8>) -> Archive {
        Archive { bytes, at: Some(0) }
    }

    /// Whether stored memory is put in its places.
    pub fn is_reading(&self) -> bool {
        self.at.is_some()
    }

    /// What was written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// What is wrong at the present place.
    pub fn mismatch(&self, reason: &'static str) -> ArchiveError {
        ArchiveError { at: self.at.unwrap_or(self.bytes.len()), reason }
    }

    /// Refuses bytes that are left over.
    pub fn finish(&self) -> Result<(), ArchiveError> {
        match self.at {
            Some(at) if at < self.bytes.len() => Err(self.mismatch("bytes are left over")),
            _ => Ok(()),
        }
    }

    /// So many bytes, as they are.
    pub fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), ArchiveError> {
        match self.at {
            None => self.bytes.extend_from_slice(bytes),
            Some(at) => {
                let Some(stored) = self.bytes.get(at..at + bytes.len()) else {
                    return Err(self.mismatch("it ends too early"));
                };
                bytes.copy_from_slice(stored);
                self.at = Some(at + bytes.len());
            }
        }
        Ok(())
    }

    /// The length of a list; one that the bytes cannot hold is refused.
    pub fn length(&mut self, length: usize) -> Result<usize, ArchiveError> {
        let mut length = length;
        length.persist(self)?;
        match self.at {
            Some(at) if length > self.bytes.len() - at => Err(self.mismatch("a list is longer than the file")),
            _ => Ok(length),
        }
    }

    /// A number that must be as it was: sizes of the model, for example.
    pub fn same(&mut self, number: usize, reason: &'static str) -> Result<(), ArchiveError> {
        let mut stored = number;
        stored.persist(self)?;
        if stored == number { Ok(()) } else { Err(self.mismatch(reason)) }
    }
}

/// What can be written to an [`Archive`] and read back.
pub trait Persist {
    /// Writes its memory, or takes over the stored one.
    ///
    /// # Errors
    /// Fails where the bytes are none of this memory.
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError>;
}

/// What lists hold: a value to read into.
pub trait Blank: Persist {
    /// Any value.
    fn blank() -> Self;
}

macro_rules! numbers {
    ($($number:ty)*) => { $(
        impl Persist for $number {
            fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
                let mut bytes = self.to_le_bytes();
                archive.bytes(&mut bytes)?;
                if archive.is_reading() {
                    *self = <$number>::from_le_bytes(bytes);
                }
                Ok(())
            }
        }
        impl Blank for $number {
            fn blank() -> Self {
                Default::default()
            }
        }
    )* };
}

numbers!(f64 f32 u8 i8 i16 u32 i32 u64 u128);

impl Persist for usize {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        let mut number = *self as u64;
        number.persist(archive)?;
        *self = usize::try_from(number).map_err(|_| archive.mismatch("a number is too large"))?;
        Ok(())
    }
}

impl Blank for usize {
    fn blank() -> Self {
        0
    }
}

impl Persist for bool {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        let mut number = u8::from(*self);
        number.persist(archive)?;
        *self = match number {
            0 => false,
            1 => true,
            _ => return Err(archive.mismatch("neither true nor false")),
        };
        Ok(())
    }
}

impl Blank for bool {
    fn blank() -> Self {
        false
    }
}

impl Persist for String {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        let mut bytes = std::mem::take(self).into_bytes();
        bytes.resize(archive.length(bytes.len())?, 0);
        archive.bytes(&mut bytes)?;
        *self = String::from_utf8(bytes).map_err(|_| archive.mismatch("a text is none"))?;
        Ok(())
    }
}

impl Blank for String {
    fn blank() -> Self {
        String::new()
    }
}

/// Words of programs. Those that are read live as long as the process; equal ones are kept once.
impl Persist for &'static str {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        static KNOWN: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
        let mut text = (*self).to_owned();
        text.persist(archive)?;
        if text != *self {
            let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
            *self = match known.iter().find(|word| **word == text) {
                Some(word) => word,
                None => {
                    let word: &'static str = Box::leak(text.into_boxed_str());
                    known.push(word);
                    word
                }
            };
        }
        Ok(())
    }
}

impl Blank for &'static str {
    fn blank() -> Self {
        ""
    }
}

impl<T: Blank> Persist for Vec<T> {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        let length = archive.length(self.len())?;
        self.truncate(length);
        for item in self.iter_mut() {
            item.persist(archive)?;
        }
        while self.len() < length {
            let mut item = T::blank();
            item.persist(archive)?;
            self.push(item);
        }
        Ok(())
    }
}

impl<T: Blank> Blank for Vec<T> {
    fn blank() -> Self {
        Vec::new()
    }
}

impl<T: Blank> Persist for Option<T> {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        let mut is_some = self.is_some();
        is_some.persist(archive)?;
        match (is_some, &mut *self) {
            (true, Some(value)) => value.persist(archive),
            (true, None) => self.insert(T::blank()).persist(archive),
            (false, _) => {
                *self = None;
                Ok(())
            }
        }
    }
}

impl<T: Blank> Blank for Option<T> {
    fn blank() -> Self {
        None
    }
}

/// As many as there are.
impl<T: Persist> Persist for [T] {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        archive.same(self.len(), "a list has another length")?;
        self.iter_mut().try_for_each(|item| item.persist(archive))
    }
}

impl<T: Persist, const N: usize> Persist for [T; N] {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        self.iter_mut().try_for_each(|item| item.persist(archive))
    }
}

impl<T: Blank, const N: usize> Blank for [T; N] {
    fn blank() -> Self {
        std::array::from_fn(|_| T::blank())
    }
}

impl<T: Persist + ?Sized> Persist for &mut T {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        (**self).persist(archive)
    }
}

impl<T: Persist> Persist for Box<T> {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        (**self).persist(archive)
    }
}

impl<T: Blank> Blank for Box<T> {
    fn blank() -> Self {
        Box::new(T::blank())
    }
}

impl<T: Persist> Persist for RefCell<T> {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        self.get_mut().persist(archive)
    }
}

impl<T: Persist> Persist for Cell<T> {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        self.get_mut().persist(archive)
    }
}

impl<T: Blank> Blank for RefCell<T> {
    fn blank() -> Self {
        RefCell::new(T::blank())
    }
}

impl<T: Blank> Blank for Cell<T> {
    fn blank() -> Self {
        Cell::new(T::blank())
    }
}

impl<K: Blank + Ord + Clone, V: Blank> Persist for BTreeMap<K, V> {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        let length = archive.length(self.len())?;
        let mut entries: Vec<(K, V)> = std::mem::take(self).into_iter().collect();
        entries.truncate(length);
        entries.resize_with(length, || (K::blank(), V::blank()));
        entries.iter_mut().try_for_each(|entry| entry.persist(archive))?;
        self.extend(entries);
        Ok(())
    }
}

impl<K: Blank + Ord + Clone, V: Blank> Blank for BTreeMap<K, V> {
    fn blank() -> Self {
        BTreeMap::new()
    }
}

macro_rules! tuples {
    ($(($($name:ident $place:tt),*))*) => { $(
        impl<$($name: Persist),*> Persist for ($($name,)*) {
            fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
                $(self.$place.persist(archive)?;)*
                Ok(())
            }
        }
        impl<$($name: Blank),*> Blank for ($($name,)*) {
            fn blank() -> Self {
                ($($name::blank(),)*)
            }
        }
    )* };
}

tuples!((A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3));

/// Lists the fields of a struct that are its memory; after `skip` those that are not: options, and what follows from
/// the model. A struct without `skip` may be in lists.
#[macro_export]
macro_rules! persist {
    ($type:ty { $($field:ident),* $(,)? } skip { $($skipped:ident),* $(,)? }) => {
        impl $crate::Persist for $type {
            fn persist(&mut self, archive: &mut $crate::Archive) -> Result<(), $crate::ArchiveError> {
                let Self { $($field,)* $($skipped: _,)* } = self;
                $($crate::Persist::persist($field, archive)?;)*
                Ok(())
            }
        }
    };
    ($type:ty { $($field:ident),* $(,)? }) => {
        $crate::persist!($type { $($field),* } skip {});
        impl $crate::Blank for $type {
            fn blank() -> Self {
                Self { $($field: $crate::Blank::blank(),)* }
            }
        }
    };
}

/// Numbers the variants of an enum for [`persist!`](crate::persist); the first one has no fields.
#[macro_export]
macro_rules! persist_enum {
    ($type:ty {
        $first:literal = $blank:ident
        $(, $number:literal = $variant:ident $(($($part:ident),*))? $({ $($field:ident),* })?)* $(,)?
    }) => {
        impl $crate::Persist for $type {
            #[allow(unused_variables)]
            fn persist(&mut self, archive: &mut $crate::Archive) -> Result<(), $crate::ArchiveError> {
                let mut number: u8 = match self {
                    Self::$blank => $first,
                    $(Self::$variant $(($($part),*))? $({ $($field),* })? => $number,)*
                };
                number.persist(archive)?;
                if archive.is_reading() {
                    *self = match number {
                        $first => Self::$blank,
                        $($number => {
                            $($(let $part = $crate::Blank::blank();)*)?
                            $($(let $field = $crate::Blank::blank();)*)?
                            Self::$variant $(($($part),*))? $({ $($field),* })?
                        })*
                        _ => return Err(archive.mismatch("an unknown variant")),
                    };
                }
                match self {
                    Self::$blank => {}
                    $(Self::$variant $(($($part),*))? $({ $($field),* })? => {
                        $($($crate::Persist::persist($part, archive)?;)*)?
                        $($($crate::Persist::persist($field, archive)?;)*)?
                    })*
                }
                Ok(())
            }
        }
        impl $crate::Blank for $type {
            fn blank() -> Self {
                Self::$blank
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    enum Mode {
        Open,
        Slip([f64; 2]),
        Both { at: u32 },
    }
    crate::persist_enum!(Mode { 0 = Open, 1 = Slip(direction), 2 = Both { at } });

    #[derive(Clone, Debug, PartialEq)]
    struct Memory {
        bits: Vec<u64>,
        modes: Vec<Mode>,
        name: String,
        word: &'static str,
        map: BTreeMap<String, Vec<f64>>,
        last: Option<(bool, f64)>,
    }
    crate::persist!(Memory { bits, modes, name, word, map, last });

    fn memory() -> Memory {
        Memory {
            bits: [f64::NAN, -0.0, f64::INFINITY, 1e-320].map(f64::to_bits).to_vec(),
            modes: vec![Mode::Slip([0.1, -0.0]), Mode::Open, Mode::Both { at: 7 }],
            name: "gap".into(),
            word: "impact",
            map: [("a".to_owned(), vec![1.0, 2.0])].into(),
            last: Some((true, f64::MIN_POSITIVE)),
        }
    }

    #[test]
    fn all_bits_come_back() {
        let (mut memory, mut archive) = (memory(), Archive::writing());
        memory.persist(&mut archive).unwrap();
        let bytes = archive.into_bytes();
        for mut other in [Memory::blank(), Memory { bits: vec![1; 9], last: None, ..memory.clone() }] {
            let mut archive = Archive::reading(bytes.clone());
            other.persist(&mut archive).unwrap();
            archive.finish().unwrap();
            assert_eq!(other, memory);
        }
    }

    #[test]
    fn damaged_bytes_are_refused_and_cost_no_memory() {
        let (mut memory, mut archive) = (memory(), Archive::writing());
        memory.persist(&mut archive).unwrap();
        let bytes = archive.into_bytes();
        for end in 0..bytes.len() {
            assert!(Memory::blank().persist(&mut Archive::reading(bytes[..end].to_vec())).is_err(), "{end} bytes");
        }
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 0xff;
            let mut archive = Archive::reading(damaged);
            let mut other = Memory::blank();
            assert!(other.persist(&mut archive).is_err() || archive.finish().is_err() || other != memory);
        }
        let mut archive = Archive::reading(u64::MAX.to_le_bytes().to_vec());
        assert!(Vec::<f64>::new().persist(&mut archive).is_err());
        archive = Archive::reading([bytes, vec![0]].concat());
        Memory::blank().persist(&mut archive).unwrap();
        assert!(archive.finish().is_err());
    }
}
