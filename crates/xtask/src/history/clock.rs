//! Times of a history: none is read from a clock.

use std::fmt::Write as _;

/// Milliseconds since 1970.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Time(pub(crate) u64);

/// When every history begins: 2026-06-01T00:00:00Z.
pub(crate) const EPOCH: Time = Time(1_780_272_000_000);

/// How long a history lasts.
pub(crate) const SPAN_MS: u64 = 150 * DAY_MS;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// A time in the calendar, UTC.
pub(crate) struct Calendar {
    pub(crate) year: u64,
    pub(crate) month: u64,
    pub(crate) day: u64,
    hour: u64,
    minute: u64,
    second: u64,
    millisecond: u64,
}

impl Time {
    pub(crate) fn after(self, milliseconds: u64) -> Self {
        Self(self.0 + milliseconds)
    }

    pub(crate) fn calendar(self) -> Calendar {
        // The usual algorithm: days are counted in eras of 400 years that begin in March.
        let days = self.0 / DAY_MS + 719_468;
        let day_of_era = days % 146_097;
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        let rest = self.0 % DAY_MS;
        Calendar {
            year: year_of_era + days / 146_097 * 400 + u64::from(month <= 2),
            month,
            day: day_of_year - (153 * march_month + 2) / 5 + 1,
            hour: rest / 3_600_000,
            minute: rest / 60_000 % 60,
            second: rest / 1_000 % 60,
            millisecond: rest % 1_000,
        }
    }

    /// As transcripts have it: `2026-06-01T00:00:00.000Z`.
    pub(crate) fn iso(self) -> String {
        let mut text = String::with_capacity(24);
        self.write_iso(&mut text);
        text
    }

    pub(crate) fn write_iso(self, to: &mut String) {
        let it = self.calendar();
        let _ = write!(
            to,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
            it.year, it.month, it.day, it.hour, it.minute, it.second, it.millisecond
        );
    }

    /// As file names have it: `2026-06-01T00-00-00`.
    pub(crate) fn file_name(self) -> String {
        self.iso()[..19].replace(':', "-")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_in_the_calendar() {
        for (milliseconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_001, "2000-03-01T00:00:00.001Z"),
            (1_798_761_599_999, "2026-12-31T23:59:59.999Z"),
            (EPOCH.0, "2026-06-01T00:00:00.000Z"),
        ] {
            assert_eq!(Time(milliseconds).iso(), expected);
        }
        assert_eq!(EPOCH.file_name(), "2026-06-01T00-00-00");
    }
}
