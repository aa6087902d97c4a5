//! The words of a history: about 130,000, the first of them frequent.

use super::{
    random::{RANK_OCTAVES, Random},
    words::{AFTER, BEFORE, FREQUENT, ROOTS},
};

/// Words by their rank.
pub(crate) struct Vocabulary {
    /// All of them, one after the other.
    text: String,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Vocabulary {
    pub(crate) fn new() -> Self {
        let mut vocabulary = Self { text: String::new(), ends: Vec::new() };
        for word in FREQUENT.split_whitespace() {
            vocabulary.add(&[word]);
        }
        let befores: Vec<&str> = BEFORE.split_whitespace().chain([""]).collect();
        let roots: Vec<&str> = ROOTS.split_whitespace().collect();
        let afters: Vec<&str> = AFTER.split_whitespace().chain([""]).collect();
        let all = befores.len() * roots.len() * afters.len();
        // A step that shares no factor with `all` visits each once, and neighbours far apart.
        let step = (all * 5 / 13..all).find(|it| has_no_common_factor(*it, all)).unwrap_or(1);
        let mut at = 0;
        while vocabulary.ends.len() < (1 << RANK_OCTAVES) - 1 {
            at = (at + step) % all;
            let (root, rest) = (at % roots.len(), at / roots.len());
            let (before, after) = (rest % befores.len(), rest / befores.len());
            vocabulary.add(&[befores[before], roots[root], afters[after]]);
        }
        vocabulary
    }

    /// A word, drawn by Zipf's law.
    pub(crate) fn draw(&self, random: &mut Random) -> &str {
        self.word(random.rank(RANK_OCTAVES))
    }

    /// A word that a name may hold: none of the most frequent, which are not names.
    pub(crate) fn draw_name(&self, random: &mut Random) -> &str {
        self.word((random.rank(RANK_OCTAVES) + 64).min(self.ends.len() - 1))
    }

    fn word(&self, rank: usize) -> &str {
        let begin = if rank == 0 { 0 } else { self.ends[rank - 1] };
        &self.text[begin..self.ends[rank]]
    }

    fn add(&mut self, parts: &[&str]) {
        for part in parts {
            self.text.push_str(part);
        }
        self.ends.push(self.text.len());
    }
}

fn has_no_common_factor(mut a: usize, mut b: usize) -> bool {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a == 1
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_long_text_has_many_words_and_the_first_often() {
        let vocabulary = Vocabulary::new();
        let mut random = Random::new(1);
        let words: Vec<&str> = (0..100_000).map(|_| vocabulary.draw(&mut random)).collect();
        let n_different = words.iter().collect::<HashSet<_>>().len();
        assert!((20_000..50_000).contains(&n_different), "{n_different}");
        let n_the = words.iter().filter(|it| **it == "the").count();
        assert!((5_000..7_000).contains(&n_the), "{n_the}");
    }
}
