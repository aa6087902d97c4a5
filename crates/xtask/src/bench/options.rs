//! What is asked for on the command line.

use std::path::PathBuf;

use crate::history::options::size;

/// What to measure, and on what.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) n_bytes: u64,
    /// A home to measure on, in place of one that is made. It is copied.
    pub(super) home: Option<PathBuf>,
    /// A program to measure, in place of the one that is built from this tree.
    pub(super) binary: Option<PathBuf>,
    pub(super) keeps: Keeps,
    /// Whether a session of 1 GB is measured too.
    pub(super) is_large: bool,
    pub(super) is_json: bool,
}

/// What becomes of the folder that all this happens in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Keeps {
    #[default]
    Nothing,
    Everything,
}

const DEFAULT_BYTES: u64 = 500_000_000;

impl Options {
    pub(super) fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = arguments;
        let mut options = Self { n_bytes: DEFAULT_BYTES, ..Self::default() };
        while let Some(name) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("`{name}` wants a value"));
            match name.as_str() {
                "--bytes" => options.n_bytes = size(&value()?)?,
                "--home" => options.home = Some(PathBuf::from(value()?)),
                "--binary" => options.binary = Some(PathBuf::from(value()?)),
                "--keep" => options.keeps = Keeps::Everything,
                "--large" => options.is_large = true,
                "--json" => options.is_json = true,
                _ => return Err(format!("`{name}` is no option of bench")),
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_read_and_no_other() {
        let parse = |line: &str| Options::parse(line.split_whitespace().map(str::to_owned));
        let options = parse("--bytes 5MB --home /x --keep --large --json").expect("is right");
        assert_eq!(options.n_bytes, 5_000_000);
        assert_eq!(options.home, Some(PathBuf::from("/x")));
        assert_eq!(options.keeps, Keeps::Everything);
        assert!(options.is_large && options.is_json);
        assert_eq!(parse("").expect("is right").n_bytes, DEFAULT_BYTES);
        for line in ["--bytes", "--home", "--fast"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
