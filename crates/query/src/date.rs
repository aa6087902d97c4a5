//! Days.

use ai_hist_model::Timestamp;

/// The beginning of the day `YYYY-MM-DD`, in UTC. `None` if there is no such day.
pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let is_number =
        |it: &str, length| it.len() == length && it.bytes().all(|it| it.is_ascii_digit());
    if parts.next().is_some() || !is_number(year, 4) || !is_number(month, 2) || !is_number(day, 2) {
        return None;
    }
    let (year, month, day): (i64, i64, i64) =
        (year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let n_days = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(is_leap),
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=n_days).contains(&day) {
        return None;
    }
    // Years begin in March, so that the leap day is the last one.
    let year = year - i64::from(month <= 2);
    let month = (month + 9) % 12;
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let days = 365 * year + year / 4 - year / 100 + year / 400 + day_of_year - 719_468;
    Some(Timestamp(days * 86_400_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_days() {
        for (text, expected) in [
            ("1970-01-01", Some(0)),
            ("1970-03-01", Some(59)),
            ("2000-02-29", Some(11_016)),
            ("2026-11-01", Some(20_758)),
            ("1969-12-31", Some(-1)),
            ("2026-02-29", None),
            ("2026-13-01", None),
            ("2026-00-01", None),
            ("2026-1-1", None),
            ("2026-11-01T00", None),
            ("2026-11-01-", None),
            ("+026-11-01", None),
            ("yesterday", None),
            ("", None),
        ] {
            let days = parse(text).map(|it| it.0 / 86_400_000);
            assert_eq!(days, expected, "`{text}`");
        }
    }
}
