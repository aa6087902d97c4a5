//! A project that sessions are about: its folder, its files, and the names in its code.

use super::{
    random::Random,
    vocabulary::Vocabulary,
    words::{FOLDERS, PYTHON, RUST, TYPESCRIPT},
};

/// Of its names and files, a project draws some more often than others: this many octaves of them.
const NAME_OCTAVES: u32 = 10;
const FILE_OCTAVES: u32 = 7;

/// A name in code, in its three spellings.
pub(crate) struct Name {
    pub(crate) snake: String,
    pub(crate) camel: String,
    pub(crate) class: String,
}

/// A source file. Its text is made from its seed, line by line, whenever it is shown.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) seed: u64,
    pub(crate) n_lines: u64,
    /// Templates of its lines.
    pub(crate) lines: &'static [&'static str],
}

pub(crate) struct Project {
    pub(crate) cwd: String,
    pub(crate) branch: String,
    pub(crate) commit: String,
    names: Vec<Name>,
    files: Vec<File>,
}

impl Name {
    pub(crate) fn draw(vocabulary: &Vocabulary, random: &mut Random) -> Self {
        let mut name = Self { snake: String::new(), camel: String::new(), class: String::new() };
        for i in 0..random.between(1, 3) {
            let word = vocabulary.draw_name(random);
            let (first, rest) = word.split_at(1);
            let capital = first.to_ascii_uppercase();
            if i == 0 {
                name.camel.push_str(word);
            } else {
                name.snake.push('_');
                name.camel.push_str(&capital);
                name.camel.push_str(rest);
            }
            name.snake.push_str(word);
            name.class.push_str(&capital);
            name.class.push_str(rest);
        }
        name
    }
}

impl Project {
    pub(crate) fn new(seed: u64, vocabulary: &Vocabulary) -> Self {
        let random = &mut Random::new(seed);
        let names: Vec<Name> =
            (0..(1 << NAME_OCTAVES) - 1).map(|_| Name::draw(vocabulary, random)).collect();
        let files = (0..(1 << FILE_OCTAVES) - 1).map(|_| file(&names, random)).collect();
        let words = [(); 4].map(|()| vocabulary.draw_name(random));
        let cwd = match random.below(3) {
            0 => format!("/home/dev/{}", words[0]),
            1 => format!("/home/dev/src/{}-{}", words[0], words[1]),
            _ => format!("/home/dev/{}/{}_{}", words[0], words[1], words[2]),
        };
        let branch = match random.below(3) {
            0 => "main".to_owned(),
            1 => format!("fix/{}-{}", words[2], words[3]),
            _ => format!("{}-{}", words[1], words[3]),
        };
        Self { cwd, branch, commit: random.hex_word(40), names, files }
    }

    pub(crate) fn name(&self, random: &mut Random) -> &Name {
        &self.names[random.rank(NAME_OCTAVES)]
    }

    pub(crate) fn file(&self, random: &mut Random) -> &File {
        &self.files[random.rank(FILE_OCTAVES)]
    }

    /// The name of the folder that Claude Code keeps the project's sessions in.
    pub(crate) fn slug(&self) -> String {
        self.cwd.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '-' }).collect()
    }
}

fn file(names: &[Name], random: &mut Random) -> File {
    let (ending, lines) = match random.below(3) {
        0 => ("rs", RUST),
        1 => ("ts", TYPESCRIPT),
        _ => ("py", PYTHON),
    };
    let folders: Vec<&str> = FOLDERS.split_whitespace().collect();
    let mut path = random.pick(&folders).to_owned();
    for _ in 0..random.below(3) {
        path.push('/');
        path.push_str(&names[random.rank(NAME_OCTAVES)].snake);
    }
    let name = &names[random.index(names.len())].snake;
    File {
        path: format!("{path}/{name}.{ending}"),
        seed: random.next(),
        n_lines: random.spread(140, 18).clamp(8, 1_500),
        lines,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_spelled_in_three_ways() {
        let vocabulary = Vocabulary::new();
        let mut random = Random::new(1);
        for _ in 0..100 {
            let name = Name::draw(&vocabulary, &mut random);
            let words: Vec<&str> = name.snake.split('_').collect();
            assert_eq!(name.class.to_ascii_lowercase(), words.concat());
            assert_eq!(name.camel[1..], name.class[1..]);
            assert!(name.camel.starts_with(words[0]), "{}", name.camel);
        }
    }
}
