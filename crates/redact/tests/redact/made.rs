//! Secrets that are made when a test runs, so that no scanner finds one in these files.

/// Letters and digits.
pub(crate) const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/// Digits and lower case `a` to `f`.
pub(crate) const HEX: &str = "0123456789abcdef";
/// Upper case base32.
pub(crate) const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
/// base64 without its padding.
pub(crate) const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// `n` letters of `alphabet`, the same every time.
pub(crate) fn random(alphabet: &str, n: usize) -> String {
    let letters = alphabet.as_bytes();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let at = (state >> 33) as usize % letters.len();
            char::from(letters[at])
        })
        .collect()
}

pub(crate) fn alnum(n: usize) -> String {
    random(ALNUM, n)
}

pub(crate) fn hex(n: usize) -> String {
    random(HEX, n)
}

pub(crate) fn uuid() -> String {
    let digits = hex(32);
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

/// A JSON web token.
pub(crate) fn jwt() -> String {
    format!("eyJ{}.eyJ{}.{}", alnum(33), alnum(60), alnum(43))
}

/// A private key block whose lines end in `line_end`.
pub(crate) fn key_block(kind: &str, line_end: &str) -> String {
    let body = random(BASE64, 64 * 3 + 21);
    let mut block = format!("-----BEGIN {kind}-----");
    for line in body.as_bytes().chunks(64) {
        block += line_end;
        block += &String::from_utf8_lossy(line);
    }
    format!("{block}={line_end}-----END {kind}-----")
}
