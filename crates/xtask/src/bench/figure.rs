//! What was measured, for people and for programs.

use std::{
    fmt::{self, Write as _},
    time::Duration,
};

/// Something measured, and what it is to be at most.
pub(super) struct Figure {
    name: String,
    value: Unit,
    target: Option<Unit>,
}

/// A number with its unit.
#[derive(Clone, Copy)]
pub(super) enum Unit {
    /// Nanoseconds of a time.
    Time(u128),
    Bytes(u64),
    Ratio {
        of: u64,
        to: u64,
    },
    /// It cannot be measured on this machine.
    Unknown,
}

impl Figure {
    pub(super) fn new(name: &str, value: Unit, target: Option<Unit>) -> Self {
        Self { name: name.to_owned(), value, target }
    }
}

impl Unit {
    /// What a process may have in memory, whatever it reads.
    pub(super) const MEMORY: Self = Self::Bytes(150_000_000);

    pub(super) fn of_memory(n_bytes: Option<u64>) -> Self {
        n_bytes.map_or(Self::Unknown, Self::Bytes)
    }

    /// Its name and a number in it, as JSON has them.
    fn json(self) -> (&'static str, String) {
        match self {
            Self::Time(nanoseconds) => ("ms", decimals(nanoseconds, 1_000_000)),
            Self::Bytes(n_bytes) => ("bytes", n_bytes.to_string()),
            Self::Ratio { of, to } => ("ratio", decimals(of.into(), to.max(1).into())),
            Self::Unknown => ("unknown", "null".to_owned()),
        }
    }
}

impl From<Duration> for Unit {
    fn from(duration: Duration) -> Self {
        Self::Time(duration.as_nanos())
    }
}

impl From<Option<Duration>> for Unit {
    fn from(duration: Option<Duration>) -> Self {
        duration.map_or(Self::Unknown, Self::from)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Time(time) if time < 1_000_000_000 => {
                write!(to, "{} ms", decimals(time, 1_000_000))
            }
            Self::Time(time) => write!(to, "{} s", decimals(time, 1_000_000_000)),
            Self::Bytes(n_bytes) if n_bytes < 1_000_000 => write!(to, "{n_bytes} bytes"),
            Self::Bytes(n_bytes) => write!(to, "{} MB", decimals(n_bytes.into(), 1_000_000)),
            Self::Ratio { of, to: whole } => {
                write!(to, "{}", decimals(of.into(), whole.max(1).into()))
            }
            Self::Unknown => write!(to, "unknown"),
        }
    }
}

/// A table with a row for each figure.
pub(super) fn table(figures: &[Figure]) -> String {
    let width = figures.iter().map(|it| it.name.len()).max().unwrap_or(0);
    let mut text = format!("{:width$}  {:>14}  {:>14}", "figure", "value", "target");
    for Figure { name, value, target } in figures {
        let target = target.map_or(String::new(), |it| format!("<= {it}"));
        let value = value.to_string();
        let _ = write!(text, "\n{name:width$}  {value:>14}  {target:>14}");
    }
    text
}

/// One JSON value.
pub(super) fn json(figures: &[Figure]) -> String {
    let rows: Vec<String> = figures
        .iter()
        .map(|Figure { name, value, target }| {
            let (unit, number) = value.json();
            let target = target.map_or("null".to_owned(), |it| it.json().1);
            // Names are ours, and hold nothing to escape.
            format!(
                "{{\"figure\":\"{name}\",\"value\":{number},\"unit\":\"{unit}\",\"target\":{target}}}"
            )
        })
        .collect();
    format!("{{\"figures\":[{}]}}", rows.join(","))
}

/// `of` / `to` with two decimals.
fn decimals(of: u128, to: u128) -> String {
    let hundredths = (of * 100 + to / 2) / to;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_shown_in_a_unit_that_fits() {
        for (unit, expected, in_json) in [
            (Unit::from(Duration::from_micros(1_500)), "1.50 ms", ("ms", "1.50")),
            (Unit::from(Duration::from_millis(12_345)), "12.35 s", ("ms", "12345.00")),
            (Unit::Bytes(0), "0 bytes", ("bytes", "0")),
            (Unit::Bytes(150_000_000), "150.00 MB", ("bytes", "150000000")),
            (Unit::Ratio { of: 4, to: 10 }, "0.40", ("ratio", "0.40")),
            (Unit::of_memory(None), "unknown", ("unknown", "null")),
        ] {
            assert_eq!(unit.to_string(), expected);
            assert_eq!(unit.json(), (in_json.0, in_json.1.to_owned()));
        }
    }

    #[test]
    fn both_forms_have_every_figure_with_its_target() {
        let figures = [
            Figure::new("a", Unit::Bytes(1), Some(Unit::Bytes(0))),
            Figure::new("long name", Unit::Unknown, None),
        ];
        assert_eq!(
            json(&figures),
            "{\"figures\":[{\"figure\":\"a\",\"value\":1,\"unit\":\"bytes\",\"target\":0},\
             {\"figure\":\"long name\",\"value\":null,\"unit\":\"unknown\",\"target\":null}]}"
        );
        let table = table(&figures);
        assert_eq!(table.lines().count(), 3);
        assert!(table.contains("1 bytes      <= 0 bytes"), "{table}");
    }
}
