//! How random a text looks.

/// The Shannon entropy of the bytes of `text`, in bits per byte.
///
/// Hexadecimal stays below 4, base64 below 6; English words and names have 2.5 to 3.7, which is
/// why no rule relies on entropy alone.
pub(crate) fn bits_per_byte(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    let mut total = 0_u32;
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
        total += 1;
    }
    let total = f64::from(total);
    counts
        .into_iter()
        .filter(|it| *it != 0)
        .map(|it| {
            let share = f64::from(it) / total;
            -share * share.log2()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn randomness_is_measured() {
        for (text, expected) in
            [("", 0.0), ("aaaa", 0.0), ("abab", 1.0), ("abcd", 2.0), ("0123456789abcdef", 4.0)]
        {
            let bits = bits_per_byte(text);
            assert!((bits - expected).abs() < 1e-9, "`{text}` has {bits}, not {expected}");
        }
    }
}
