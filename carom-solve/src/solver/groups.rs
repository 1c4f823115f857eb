//! Laws that do not see each other, neither directly nor through others, are in different groups.

use crate::Delassus;

/// The groups of a problem, in the order of their first laws. Buffers keep their capacity.
#[derive(Debug, Default)]
pub(super) struct Groups {
    leader: Vec<u32>, // (laws) a law of the same group with a smaller number; the first law leads
    place: Vec<u32>,  // (laws) number of the group of each first law
    start: Vec<u32>,  // (groups + 1) first entry in `member`
    member: Vec<u32>, // (laws) by groups, rising in each
}

impl Groups {
    /// All laws as one group.
    pub(super) fn join(&mut self, laws: usize) {
        self.start.clear();
        self.start.extend([0, laws as u32]);
        self.member.clear();
        self.member.extend(0..laws as u32);
    }

    /// Finds the groups.
    pub(super) fn find(&mut self, w: &Delassus) {
        let laws = w.laws();
        // the least number of each group, by union and halving
        self.leader.clear();
        self.leader.extend(0..laws as u32);
        for i in 0..laws {
            for (j, block) in w.row(i) {
                if i != j && block.iter().any(|x| *x != 0.0) {
                    let (a, b) = (self.root(i), self.root(j));
                    self.leader[a.max(b)] = a.min(b) as u32;
                }
            }
        }
        self.place.clear();
        self.place.resize(laws, 0);
        self.start.clear();
        self.start.reserve(laws + 1);
        self.start.push(0);
        for i in 0..laws {
            let root = self.root(i);
            if root == i {
                self.place[i] = self.start.len() as u32;
                self.start.push(0);
            }
            self.start[self.place[root] as usize] += 1;
        }
        for k in 1..self.start.len() {
            self.start[k] += self.start[k - 1];
        }
        // filled from the back, which moves the starts to their places
        self.member.clear();
        self.member.resize(laws, 0);
        for i in (0..laws).rev() {
            let end = &mut self.start[self.place[self.leader[i] as usize] as usize];
            *end -= 1;
            self.member[*end as usize] = i as u32;
        }
        self.start.remove(0);
        self.start.push(laws as u32);
    }

    fn root(&mut self, mut i: usize) -> usize {
        while self.leader[i] as usize != i {
            self.leader[i] = self.leader[self.leader[i] as usize];
            i = self.leader[i] as usize;
        }
        i
    }

    /// Number of groups.
    pub(super) fn number(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// The laws of a group.
    pub(super) fn members(&self, group: usize) -> &[u32] {
        &self.member[self.start[group] as usize..self.start[group + 1] as usize]
    }

    /// The groups, one after the other.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.number()).map(|group| self.members(group))
    }
}

#[cfg(test)]
mod tests {
    use super::Groups;
    use crate::{Law, ProblemWork, Rows, StoredProblem};

    /// Laws 0, 4 and 2 in a line, 1 alone, 3 and 5 coupled in one direction only.
    #[test]
    fn lines_and_one_sided_couplings_are_groups() {
        let mut w = vec![0.0; 36];
        for (i, j) in [(0, 4), (4, 0), (4, 2), (2, 4), (5, 3)] {
            w[i * 6 + j] = 0.1;
        }
        (0..6).for_each(|i| w[i * 7] = 1.0);
        let problem = StoredProblem::reduced("", Rows::dense(6, &w), vec![0.0; 6], vec![Law::UNILATERAL; 6]).unwrap();
        let mut groups = Groups::default();
        // twice: nothing is left from the first time
        for _ in 0..2 {
            problem.with(&mut ProblemWork::default(), |p| groups.find(&p.delassus()));
            assert_eq!(groups.iter().collect::<Vec<_>>(), [&[0, 2, 4][..], &[1], &[3, 5]]);
        }
        groups.join(3);
        assert_eq!(groups.iter().collect::<Vec<_>>(), [&[0, 1, 2][..]]);
    }
}
