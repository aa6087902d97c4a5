//! Text about a project: sentences, code, and what commands print.

use std::fmt::Write as _;

use super::{
    clock::Time,
    project::{File, Name, Project},
    random::Random,
    vocabulary::Vocabulary,
    words::{ANSWERS, ERRORS, OUTPUTS, PROMPTS},
};

/// What text is made of. Cheap to make: it borrows everything.
#[derive(Clone, Copy)]
pub(crate) struct Speech<'a> {
    pub(crate) vocabulary: &'a Vocabulary,
    pub(crate) project: &'a Project,
}

impl Speech<'_> {
    /// What a person asks for, about `n_bytes` of it.
    pub(crate) fn prompt(self, random: &mut Random, n_bytes: u64) -> String {
        self.sentences(PROMPTS, random, n_bytes)
    }

    /// What a model says or thinks, about `n_bytes` of it.
    pub(crate) fn answer(self, random: &mut Random, n_bytes: u64) -> String {
        self.sentences(ANSWERS, random, n_bytes)
    }

    /// A few words that begin with a capital: a title, a description.
    pub(crate) fn title(self, random: &mut Random) -> String {
        let mut text = String::new();
        self.phrase(random, Case::Capital, &mut text);
        text
    }

    /// A command and what it prints, about `n_bytes` of it.
    pub(crate) fn command(self, random: &mut Random, n_bytes: u64) -> (String, String) {
        let (command, lines) = OUTPUTS[random.index(OUTPUTS.len())];
        let mut text = String::new();
        self.expand(command, random, &mut text);
        (text, self.lines(lines, random, n_bytes))
    }

    /// What some command prints, `n_bytes` of it.
    pub(crate) fn output(self, random: &mut Random, n_bytes: u64) -> String {
        self.command(random, n_bytes).1
    }

    /// Adds line `n` of `file`, the same whenever it is asked for.
    pub(crate) fn source_line(self, file: &File, n: u64, to: &mut String) {
        let random = &mut Random::of_part(file.seed, n);
        self.expand(random.pick(file.lines), random, to);
    }

    /// Lines `from` to `to` of `file`, with their ends.
    pub(crate) fn source(self, file: &File, from: u64, to: u64) -> String {
        let mut text = String::new();
        for n in from..to {
            self.source_line(file, n, &mut text);
            text.push('\n');
        }
        text
    }

    /// A line of new code for `file`.
    pub(crate) fn new_line(self, file: &File, random: &mut Random) -> String {
        let mut text = String::new();
        self.expand(random.pick(file.lines), random, &mut text);
        text
    }

    fn sentences(self, templates: &[&str], random: &mut Random, n_bytes: u64) -> String {
        let mut text = String::new();
        while (text.len() as u64) < n_bytes || text.is_empty() {
            if !text.is_empty() {
                text.push_str(if random.percent(25) { "\n\n" } else { " " });
            }
            if random.percent(45) || n_bytes < 80 {
                self.expand(random.pick(templates), random, &mut text);
            } else {
                self.phrase(random, Case::Capital, &mut text);
                for _ in 0..random.below(3) {
                    text.push_str(", ");
                    self.phrase(random, Case::Small, &mut text);
                }
                text.push('.');
            }
        }
        text
    }

    fn lines(self, templates: &[&str], random: &mut Random, n_bytes: u64) -> String {
        let mut text = String::new();
        while (text.len() as u64) < n_bytes {
            if !text.is_empty() {
                text.push('\n');
            }
            self.expand(random.pick(templates), random, &mut text);
        }
        text
    }

    fn phrase(self, random: &mut Random, case: Case, to: &mut String) {
        let begin = to.len();
        for i in 0..random.between(3, 11) {
            if i > 0 {
                to.push(' ');
            }
            to.push_str(self.vocabulary.draw(random));
        }
        if let (Case::Capital, Some(first)) = (case, to.get_mut(begin..=begin)) {
            first.make_ascii_uppercase();
        }
    }

    /// Adds `template` with its places filled: `$` and a letter each.
    fn expand(self, template: &str, random: &mut Random, to: &mut String) {
        let mut rest = template;
        while let Some(at) = rest.find('$') {
            to.push_str(&rest[..at]);
            let place = rest[at + 1..].chars().next().unwrap_or('$');
            if self.fill(place, random, to) {
                rest = &rest[at + 1 + place.len_utf8()..];
            } else {
                to.push('$');
                rest = &rest[at + 1..];
            }
        }
        to.push_str(rest);
    }

    /// Adds what stands for `place`, if it is one.
    fn fill(self, place: char, random: &mut Random, to: &mut String) -> bool {
        match place {
            'i' => to.push_str(&self.project.name(random).snake),
            'c' => to.push_str(&self.project.name(random).camel),
            'T' => to.push_str(&self.project.name(random).class),
            'f' => to.push_str(&Name::draw(self.vocabulary, random).snake),
            'w' => to.push_str(self.vocabulary.draw(random)),
            's' => self.phrase(random, Case::Small, to),
            'S' => self.phrase(random, Case::Capital, to),
            'p' => to.push_str(&self.project.file(random).path),
            'P' => {
                to.push_str(&self.project.cwd);
                to.push('/');
                to.push_str(&self.project.file(random).path);
            }
            'n' => write_number(random.rank(9) + 1, to),
            'N' => write_number(random.rank(17) * 7 + random.index(7), to),
            'd' => {
                write_number(random.index(10), to);
                to.push('.');
                write_number(10 + random.index(90), to);
            }
            'h' => random.hex(7, to),
            'H' => random.hex(40, to),
            'u' => to.push_str(&random.uuid()),
            't' => Time(1_780_272_000_000 + random.below(12_960_000_000)).write_iso(to),
            'e' => self.expand(random.pick(ERRORS), random, to),
            _ => return false,
        }
        true
    }
}

enum Case {
    Small,
    Capital,
}

fn write_number(number: usize, to: &mut String) {
    let _ = write!(to, "{number}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_filled_and_a_file_stays_as_it_is() {
        let vocabulary = Vocabulary::new();
        let project = Project::new(5, &vocabulary);
        let speech = Speech { vocabulary: &vocabulary, project: &project };
        let random = &mut Random::new(1);
        for place in "icTfwsSpPnNdhHute".chars() {
            let mut text = String::new();
            speech.expand(&format!("<${place}>"), random, &mut text);
            assert!(text.len() > 2 && !text.contains('$'), "{place}: {text}");
        }
        let mut text = String::new();
        speech.expand("${x} $", random, &mut text);
        assert_eq!(text, "${x} $");
        let file = project.file(random);
        assert_eq!(speech.source(file, 3, 9), speech.source(file, 3, 9));
        assert_ne!(speech.source(file, 3, 9), speech.source(file, 4, 10));
    }

    #[test]
    fn text_has_about_the_size_that_is_asked_for() {
        let vocabulary = Vocabulary::new();
        let project = Project::new(5, &vocabulary);
        let speech = Speech { vocabulary: &vocabulary, project: &project };
        let random = &mut Random::new(1);
        for n_bytes in [1, 100, 10_000] {
            for text in [
                speech.prompt(random, n_bytes),
                speech.answer(random, n_bytes),
                speech.output(random, n_bytes),
            ] {
                let size = text.len() as u64;
                assert!((n_bytes..n_bytes + 1_000).contains(&size), "{n_bytes}: {size}");
            }
        }
    }
}
