//! The nearest known word to an unknown one, for "did you mean" hints.
//!
//! The distance is the edit distance with transpositions (optimal string alignment), counted in half edits so that
//! a letter of the wrong case costs half of a wrong letter. A word is suggested only if it is close for its length.

/// Words longer than this are never compared; nobody misspells them by accident.
const LONGEST: usize = 64;

/// Returns the candidate closest to `word`, or `None` if none is close enough to be a plausible misspelling.
///
/// Of equally close candidates the first one wins. An exact match is returned as well.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    search(word, &mut candidates.into_iter())
}

/// [`nearest`] for any iterator: one function, whatever words are made of.
fn search<'a>(word: &str, candidates: &mut dyn Iterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.chars().take(LONGEST + 1).collect();
    if word.is_empty() || word.len() > LONGEST {
        return None;
    }
    let mut best: Option<(usize, &'a str)> = None;
    for candidate in candidates {
        let letters: Vec<char> = candidate.chars().take(LONGEST + 1).collect();
        if letters.len() > LONGEST {
            continue;
        }
        let cost = half_edits(&word, &letters);
        if is_close(cost, &word, &letters) && best.is_none_or(|(least, _)| cost < least) {
            best = Some((cost, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// A third of the letters may be wrong; words that differ by case only are always close.
fn is_close(cost: usize, a: &[char], b: &[char]) -> bool {
    let length = a.len().max(b.len());
    let edits = if length < 2 { 0 } else { (length / 3).max(1) };
    cost <= 2 * edits || a.iter().map(fold).eq(b.iter().map(fold))
}

fn fold(c: &char) -> char {
    c.to_ascii_lowercase()
}

/// Edit distance in half edits: insertion, deletion, substitution and transposition cost 2, a change of case costs 1.
fn half_edits(a: &[char], b: &[char]) -> usize {
    let width = b.len() + 1;
    let mut table = vec![0; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i * width + j] = if i == 0 || j == 0 {
                2 * (i + j)
            } else {
                let (x, y) = (a[i - 1], b[j - 1]);
                let change = if x == y { 0 } else { 2 - usize::from(fold(&x) == fold(&y)) };
                let mut cost = (table[(i - 1) * width + j - 1] + change)
                    .min(table[(i - 1) * width + j] + 2)
                    .min(table[i * width + j - 1] + 2);
                if i > 1 && j > 1 && x == b[j - 2] && a[i - 2] == y {
                    cost = cost.min(table[(i - 2) * width + j - 2] + 2);
                }
                cost
            };
        }
    }
    table[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(word: &str) -> Vec<char> {
        word.chars().collect()
    }

    #[test]
    fn distances_of_known_pairs() {
        for (a, b, cost) in [
            ("kitten", "sitting", 6), // the textbook pair: three edits
            ("theta", "tehta", 2),
            ("theta", "Theta", 1),
            ("", "abc", 6),
            ("same", "same", 0),
        ] {
            assert_eq!(half_edits(&letters(a), &letters(b)), cost, "{a} {b}");
            assert_eq!(half_edits(&letters(b), &letters(a)), cost, "{b} {a}");
        }
    }

    #[test]
    fn suggests_only_plausible_words() {
        let known = ["restitution", "friction", "gap", "m", "l1"];
        assert_eq!(nearest("restituton", known), Some("restitution"));
        assert_eq!(nearest("Friction", known), Some("friction"));
        assert_eq!(nearest("gpa", known), Some("gap"));
        assert_eq!(nearest("M", known), Some("m"));
        assert_eq!(nearest("L2", known), None);
        assert_eq!(nearest("l2", known), Some("l1"));
        assert_eq!(nearest("x", known), None);
        assert_eq!(nearest("stiffness", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest(&"a".repeat(1_000_000), known), None);
    }

    #[test]
    fn case_decides_between_equal_letters() {
        assert_eq!(nearest("gravitY", ["gravita", "gravity"]), Some("gravity"));
    }
}
