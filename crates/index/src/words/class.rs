//! What a byte or character is, and where that which is no text ends.

use unicode_normalization::char::is_combining_mark;

use crate::limits::MAX_WORD_BYTES;

pub(super) const SEPARATOR: u8 = 0;
pub(super) const LOWER: u8 = 1;
pub(super) const UPPER: u8 = 2;
pub(super) const DIGIT: u8 = 4;
pub(super) const LOW_LINE: u8 = 8;
pub(super) const ESCAPE: u8 = 16;
pub(super) const BACKSLASH: u8 = 32;
pub(super) const NON_ASCII: u8 = 64;
pub(super) const LETTER: u8 = LOWER | UPPER;
pub(super) const WORD: u8 = LOWER | UPPER | DIGIT | LOW_LINE;

/// The class of each byte.
pub(super) static CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [SEPARATOR; 256];
    let mut byte = 0_u8;
    loop {
        classes[byte as usize] = match byte {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'_' => LOW_LINE,
            0x1b => ESCAPE,
            b'\\' => BACKSLASH,
            0x80.. => NON_ASCII,
            _ => SEPARATOR,
        };
        if byte == u8::MAX {
            return classes;
        }
        byte += 1;
    }
}

/// Whether a word may begin with `it`, which is not ASCII.
pub(super) fn starts_word(it: char) -> bool {
    it.is_alphanumeric()
}

/// Whether a word that has begun goes on with `it`.
pub(super) fn joins_word(it: char) -> bool {
    it.is_alphanumeric() || it == '_' || (!it.is_ascii() && (is_mark(it) || is_invisible(it)))
}

/// Whether `it` belongs to the character before it.
pub(super) fn is_mark(it: char) -> bool {
    is_combining_mark(it)
}

/// Characters that may stand within a word and show nothing.
pub(super) const fn is_invisible(it: char) -> bool {
    matches!(it, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// Whether `it` is of a script that puts no spaces between words.
pub(super) const fn is_glyph(it: char) -> bool {
    matches!(it as u32,
        0x0e00..=0x0eff // Thai, Lao
        | 0x1000..=0x109f // Burmese
        | 0x1100..=0x11ff // Hangul, in letters
        | 0x1780..=0x17ff // Khmer
        | 0x3005..=0x3007
        | 0x3040..=0x30ff // Kana
        | 0x3130..=0x318f
        | 0x31f0..=0x31ff
        | 0x3400..=0x4dbf // Han
        | 0x4e00..=0x9fff
        | 0xa960..=0xa97f
        | 0xac00..=0xd7ff // Hangul
        | 0xf900..=0xfaff
        | 0xff66..=0xffdc
        | 0x20000..=0x3ffff)
}

/// Whether `it` is its own normal form, whatever stands beside it.
pub(super) const fn is_stable_glyph(it: char) -> bool {
    matches!(it as u32,
        0x3041..=0x3096 | 0x30a1..=0x30fe | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7a3)
}

/// Whether `it` is a sign that people search for.
pub(super) const fn is_emoji(it: char) -> bool {
    matches!(it as u32, 0x2600..=0x27bf | 0x2b50 | 0x2b55 | 0x1f000..=0x1faff)
}

/// Whether `text` is JSON, whose `\n` is no backslash and no `n`.
pub(super) fn looks_like_json(text: &str) -> bool {
    let text = text.trim_start();
    let within = text.get(1..).unwrap_or_default().trim_start();
    if text.starts_with('{') {
        return within.starts_with(['"', '}']);
    }
    text.starts_with('[') && within.starts_with(['"', '{', '[', ']'])
}

/// Where the terminal's escape sequence ends that begins with the ESC at `at`.
pub fn ansi_end(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at + 1) {
        Some(b'[') => csi_end(bytes, at + 2),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            // A title, a link: until the bell or ESC \. One that does not end is no sequence.
            let rest = &bytes[at + 2..];
            let length = rest.iter().take(MAX_WORD_BYTES).position(|it| matches!(it, 7 | 0x1b));
            match length {
                Some(length) if rest[length] == 7 => at + 2 + length + 1,
                Some(length) if rest.get(length + 1) == Some(&b'\\') => at + 2 + length + 2,
                Some(_) | None => at + 2,
            }
        }
        Some(it) if it.is_ascii() => at + 2,
        Some(_) | None => at + 1,
    }
}

/// Where a control sequence ends whose parameters begin at `at`.
fn csi_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at.min(bytes.len())..];
    let length = rest.iter().take_while(|it| matches!(it, 0x20..=0x3f)).count();
    match rest.get(length) {
        Some(0x40..=0x7e) => at + length + 1,
        Some(_) | None => at + length,
    }
}

/// Where that ends which the backslash at `at` begins: itself, an escape of JSON, or an escape
/// sequence that was written out.
pub(super) fn backslash_end(bytes: &[u8], at: usize, is_json: bool) -> usize {
    let rest = &bytes[at + 1..];
    for written in [&b"u001b"[..], b"u001B", b"x1b", b"x1B", b"033", b"e"] {
        if rest.starts_with(written) && rest.get(written.len()) == Some(&b'[') {
            return csi_end(bytes, at + 1 + written.len() + 1);
        }
    }
    if !is_json {
        return at + 1;
    }
    match rest.first() {
        Some(b'n' | b't' | b'r' | b'b' | b'f' | b'"' | b'\\' | b'/') => at + 2,
        Some(b'u') => {
            let n_digits = rest[1..].iter().take(4).take_while(|it| it.is_ascii_hexdigit()).count();
            at + 2 + n_digits
        }
        Some(_) | None => at + 1,
    }
}

/// Where the encoded data ends that begins at `start`; or else how far it is certain that there is
/// none.
pub(super) fn blob_end(bytes: &[u8], start: usize) -> Result<usize, usize> {
    let mut end = start;
    let mut classes = 0;
    let mut n_marks = 0;
    while let Some(byte) = bytes.get(end) {
        let class = CLASS[usize::from(*byte)];
        if class & WORD == 0 {
            if !b"+/=-".contains(byte) {
                break;
            }
            n_marks += 1;
        }
        classes |= class;
        end += 1;
    }
    // Of 64 signs two are no letters and no digits; in paths and addresses it is one in eight.
    let is_dense = n_marks * 12 <= end - start;
    let is_mixed = classes & (LOWER | UPPER | DIGIT) == LOWER | UPPER | DIGIT;
    if MAX_WORD_BYTES < end - start && is_dense && is_mixed { Ok(end) } else { Err(end) }
}
