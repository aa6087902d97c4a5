//! What is asked for on the command line.

use std::path::PathBuf;

/// What history to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) out: PathBuf,
    pub(crate) n_bytes: u64,
    pub(crate) n_sessions: u64,
    pub(crate) seed: u64,
    /// A session of this size beside the others.
    pub(crate) one_session: Option<u64>,
    /// A session with a line of this size beside the others.
    pub(crate) long_line: Option<u64>,
}

/// How many bytes a session has, taken over all.
const BYTES_PER_SESSION: u64 = 250_000;

const DEFAULT_BYTES: u64 = 500_000_000;

impl Options {
    /// As many sessions as `n_bytes` usually are, and the special ones that are asked for.
    pub(crate) fn new(
        out: PathBuf,
        n_bytes: u64,
        one_session: Option<u64>,
        long_line: Option<u64>,
    ) -> Self {
        let n_sessions = n_bytes.div_ceil(BYTES_PER_SESSION);
        Self { out, n_bytes, n_sessions, seed: 1, one_session, long_line }
    }

    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = arguments;
        let (mut out, mut n_bytes, mut n_sessions, mut seed) = (None, None, None, 1);
        let (mut one_session, mut long_line) = (None, None);
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("`{name}` wants a value"))?;
            match name.as_str() {
                "--out" => out = Some(PathBuf::from(value)),
                "--bytes" => n_bytes = Some(size(&value)?),
                "--sessions" => n_sessions = Some(size(&value)?),
                "--seed" => seed = size(&value)?,
                "--one-session" => one_session = Some(size(&value)?),
                "--long-line" => long_line = Some(size(&value)?),
                _ => return Err(format!("`{name}` is no option of gen-history")),
            }
        }
        let is_alone = one_session.is_some() || long_line.is_some();
        let n_bytes = n_bytes.unwrap_or(if is_alone { 0 } else { DEFAULT_BYTES });
        Ok(Self {
            out: out.ok_or("gen-history wants `--out DIR`")?,
            n_bytes,
            n_sessions: n_sessions.unwrap_or_else(|| n_bytes.div_ceil(BYTES_PER_SESSION)),
            seed,
            one_session,
            long_line,
        })
    }
}

/// Reads a number of bytes: `1000`, `20KB`, `500MB`, `1GB`; by thousands.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let fault = || format!("`{text}` is no size: write it as 500MB");
    let upper = text.to_ascii_uppercase();
    let digits = upper.trim_end_matches(|it: char| it.is_ascii_alphabetic());
    let factor = match &upper[digits.len()..] {
        "" | "B" => 1,
        "K" | "KB" => 1_000,
        "M" | "MB" => 1_000_000,
        "G" | "GB" => 1_000_000_000,
        _ => return Err(fault()),
    };
    let number: u64 = digits.parse().map_err(|_| fault())?;
    number.checked_mul(factor).ok_or_else(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn sizes_are_read_with_their_units() {
        for (text, expected) in [
            ("0", Ok(0)),
            ("1000", Ok(1_000)),
            ("20kb", Ok(20_000)),
            ("500MB", Ok(500_000_000)),
            ("2G", Ok(2_000_000_000)),
        ] {
            assert_eq!(size(text), expected, "{text}");
        }
        for text in ["", "MB", "1.5MB", "-1", "3TB", "99999999999GB"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sessions_are_in_proportion_and_a_single_one_is_alone() {
        let options = parse("--out x").expect("is right");
        assert_eq!((options.n_bytes, options.n_sessions), (DEFAULT_BYTES, 2_000));
        let options = parse("--out x --bytes 5MB --sessions 7").expect("is right");
        assert_eq!((options.n_bytes, options.n_sessions), (5_000_000, 7));
        let options = parse("--out x --one-session 1GB").expect("is right");
        assert_eq!((options.n_bytes, options.n_sessions), (0, 0));
        for line in ["", "--out", "--out x --size 3", "--out x --bytes many"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
