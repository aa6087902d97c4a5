//! Points in time as the transcripts write them: `2026-01-02T03:04:05.678Z`.

use ai_hist_connector::model::Timestamp;

/// Parses the ISO form with `Z` or an offset. Anything else is no time: none is guessed.
pub(super) fn parse(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    if bytes.get(4) != Some(&b'-') || bytes.get(7) != Some(&b'-') || bytes.get(13) != Some(&b':') {
        return None;
    }
    if !matches!(bytes.get(10), Some(b'T' | b't' | b' ')) || bytes.get(16) != Some(&b':') {
        return None;
    }
    let (year, month, day) = (number(bytes, 0, 4)?, number(bytes, 5, 2)?, number(bytes, 8, 2)?);
    let (hour, minute, second) =
        (number(bytes, 11, 2)?, number(bytes, 14, 2)?, number(bytes, 17, 2)?);
    let in_range = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !in_range {
        return None;
    }
    let mut rest = &bytes[19..];
    let mut ms = 0;
    if let Some(fraction) = rest.strip_prefix(b".") {
        let n_digits = fraction.iter().take_while(|it| it.is_ascii_digit()).count();
        for (digit, weight) in fraction[..n_digits].iter().zip([100, 10, 1]) {
            ms += i64::from(digit - b'0') * weight;
        }
        rest = &fraction[n_digits..];
    }
    let seconds = days_since_epoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    Some(Timestamp((seconds - offset_seconds(rest)?) * 1000 + ms))
}

fn offset_seconds(zone: &[u8]) -> Option<i64> {
    match zone {
        [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), rest @ ..] => {
            let minutes_at = if rest.get(2) == Some(&b':') { 3 } else { 2 };
            if rest.len() != minutes_at + 2 {
                return None;
            }
            let seconds = number(rest, 0, 2)? * 3600 + number(rest, minutes_at, 2)? * 60;
            Some(if *sign == b'-' { -seconds } else { seconds })
        }
        _ => None,
    }
}

fn number(bytes: &[u8], at: usize, n_digits: usize) -> Option<i64> {
    bytes
        .get(at..at + n_digits)?
        .iter()
        .try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0')))
}

/// Days from 1970-01-01 to a day of the Gregorian calendar, by the rule that counts years from
/// March, so that the leap day is the last.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_time_is_none() {
        let table = [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2024-02-29T12:34:56.789Z", Some(1_709_210_096_789)),
            ("2026-01-02T03:04:05.6Z", Some(1_767_323_045_600)),
            ("2026-01-02T03:04:05.678901234Z", Some(1_767_323_045_678)),
            ("2026-01-02T05:04:05+02:00", Some(1_767_323_045_000)),
            ("2026-01-01T22:34:05-0430", Some(1_767_323_045_000)),
            ("1969-12-31T23:59:59Z", Some(-1000)),
            ("2026-01-02T03:04:05", None),
            ("2026-13-02T03:04:05Z", None),
            ("2026-01-02", None),
            ("20260102T030405Z", None),
            ("2026-01-02T03:04:05+é", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(parse(text), expected.map(Timestamp), "`{text}`");
        }
    }
}
