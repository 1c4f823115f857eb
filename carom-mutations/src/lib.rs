//! Random changes of texts and bytes, the same for the same seed: for tests of readers and for `cargo xtask fuzz`.
//!
//! Raw changes ([`mutate`], [`damage`]) know letters, lines and bytes. Changes by [`vary`] know what model files, robot
//! descriptions, meshes and stored problems are made of: numbers, names, quoted texts, operators, lines and tables.

#![warn(missing_docs)]

mod grammar;

pub use grammar::vary;

/// A generator of numbers that are the same in every run.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator for a seed; neighbouring seeds have nothing in common.
    pub fn new(seed: u64) -> Random {
        let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Random((mixed ^ (mixed >> 31)) | 1)
    }

    /// A number from 0 to n − 1; 0 where n is 0.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }

    /// One of some things.
    ///
    /// # Panics
    /// Panics where there are none.
    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

/// Whatever is put into any text.
pub const PIECES: &[&str] = &[
    "'",
    "\"",
    "\n",
    "[",
    "]",
    "[[",
    "{",
    "}",
    "=",
    ".",
    ",",
    "-",
    "0",
    "9e9",
    "1e-300",
    "nan",
    "\u{1F3B1}",
    "x'",
    "t",
    "(",
    ")",
    "^",
    "/0",
    "sin(",
    "\\",
    "#",
    "true",
    "name",
];

/// A change of a text.
#[derive(Clone, Debug)]
pub enum Mutation {
    /// A piece is put in.
    Insert(String),
    /// So many letters are taken out.
    Delete(usize),
    /// So many letters from a place on are put in once more.
    Copy(usize, usize),
    /// A line is taken out, and put in at another place where there is one.
    Line(usize, Option<usize>),
}

impl Mutation {
    /// A change of any kind; pieces are those of every text and one's own.
    pub fn any(own: &[&str], random: &mut Random) -> Mutation {
        let piece = PIECES.iter().chain(own).nth(random.below(PIECES.len() + own.len()));
        let other = random.below(usize::MAX);
        match random.below(6) {
            0 | 1 => Mutation::Insert(piece.map_or(String::new(), |piece| piece.to_string())),
            2 => Mutation::Delete(1 + random.below(20)),
            3 => Mutation::Copy(other, 1 + random.below(60)),
            4 => Mutation::Line(other, Some(random.below(usize::MAX))),
            _ => Mutation::Line(other, None),
        }
    }
}

/// The text with a change at a place; places and lines are counted round and round.
pub fn mutate(text: &str, at: usize, with: &Mutation) -> String {
    let letters: Vec<char> = text.chars().collect();
    let place = |i: usize| i % letters.len().max(1);
    let (at, mut new) = (place(at), letters.clone());
    match with {
        Mutation::Insert(piece) => {
            new.splice(at..at, piece.chars());
        }
        Mutation::Delete(count) => {
            new.drain(at..(at + count).min(letters.len()));
        }
        Mutation::Copy(from, count) => {
            let from = place(*from);
            let piece = letters[from..(from + count).min(letters.len())].to_vec();
            new.splice(at..at, piece);
        }
        Mutation::Line(line, to) => {
            let mut lines: Vec<&str> = text.lines().collect();
            if !lines.is_empty() {
                let line = lines.remove(line % lines.len());
                to.iter().for_each(|to| lines.insert(to % (lines.len() + 1), line));
            }
            return lines.join("\n") + "\n";
        }
    }
    new.into_iter().collect()
}

/// Up to four bytes get other values, half of the time near the start, where the structure stands; sometimes the end is
/// cut off.
pub fn damage(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    let span = if random.below(2) == 0 { 2048.min(bytes.len()) } else { bytes.len() };
    for _ in 0..1 + random.below(4) {
        if let Some(byte) = changed.get_mut(random.below(span)) {
            *byte = random.pick(&[0, 1, 0x7f, 0xff, random.clone().below(256) as u8]);
        }
    }
    if random.below(8) == 0 {
        changed.truncate(random.below(bytes.len()));
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::{Mutation, Random, damage, mutate, vary};

    #[test]
    fn equal_seeds_make_equal_changes() {
        let text = "version = 1\n[model]\nkinetic = \"m*x'^2/2\"\n[simulation]\nend = 2.5\n";
        let change = |seed| {
            let mut random = Random::new(seed);
            let (varied, _) = vary(text, &[text], &mut random);
            let raw = Mutation::any(&[], &mut random);
            (mutate(&varied, random.below(1000), &raw), damage(text.as_bytes(), &mut random))
        };
        let all: Vec<_> = (0..200).map(change).collect();
        assert_eq!(all, (0..200).map(change).collect::<Vec<_>>());
        assert!(all.iter().filter(|(new, _)| new != text).count() > 150);
        assert!(all.windows(2).filter(|pair| pair[0] != pair[1]).count() > 150);
    }

    #[test]
    fn every_kind_of_change_is_met() {
        let text = "a = 1 # one\n[model]\nkinetic = \"m*x'^2/2 + sin(q)\"\n[[contact]]\ngap = \"x - 0.5\"\n";
        let mut random = Random::new(3);
        let mut met: Vec<&str> = (0..2000).map(|_| vary(text, &[text], &mut random).1).collect();
        met.sort_unstable();
        met.dedup();
        assert!(met.len() >= 10, "{met:?}");
    }
}
