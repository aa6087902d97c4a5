//! Numbers that look random and are the same on every machine.
//!
//! Integers only: the floating-point functions of the platforms differ in their last digit, and
//! one digit makes another history.

/// SplitMix64, whose whole state is one number: a generator costs nothing to make, so that every
/// session, file and line can have its own.
#[derive(Clone)]
pub(crate) struct Random {
    state: u64,
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Ranks that `rank` draws from have this many octaves at most.
pub(crate) const RANK_OCTAVES: u32 = 17;

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: mix(seed) }
    }

    /// The generator of part `part` of what `seed` stands for.
    pub(crate) fn of_part(seed: u64, part: u64) -> Self {
        Self::new(seed ^ mix(part.wrapping_add(GOLDEN)))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// A number below `n`, or 0.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        let product = u128::from(self.next()) * u128::from(n);
        u64::try_from(product >> 64).expect("the upper half of 128 bits fits")
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// A place in a list of `len`.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).expect("it is below a length")
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.index(list.len())]
    }

    /// True `n` times out of a hundred.
    pub(crate) fn percent(&mut self, n: u64) -> bool {
        self.below(100) < n
    }

    /// A rank below 2^`octaves` - 1 by Zipf's law: every octave of ranks is as likely as any other.
    pub(crate) fn rank(&mut self, octaves: u32) -> usize {
        let bits = self.next();
        let octave = (bits >> 32) % u64::from(octaves.min(RANK_OCTAVES));
        let width = 1_u64 << octave;
        usize::try_from(width + (bits & (width - 1)) - 1).expect("it has at most 17 bits")
    }

    /// A number around `median` whose logarithm is normal, with a deviation of `sixteenths` of an
    /// octave.
    pub(crate) fn spread(&mut self, median: u64, sixteenths: i64) -> u64 {
        // The sum of twelve uniform numbers is nearly normal, with a deviation of one.
        let mut sum = 0_i64;
        for _ in 0..3 {
            let bits = self.next();
            for part in 0..4 {
                sum += i64::try_from((bits >> (16 * part)) & 0xffff).expect("it has 16 bits");
            }
        }
        let octaves = (sum - 6 * 65_536) * sixteenths / 16;
        let fraction = u64::try_from(octaves & 0xffff).expect("it has 16 bits");
        let scaled = (median * (65_536 + fraction)) >> 16;
        let shift = octaves >> 16;
        let places = u32::try_from(shift.unsigned_abs()).expect("it is a few octaves");
        if shift < 0 { scaled >> places } else { scaled << places }
    }

    pub(crate) fn hex(&mut self, digits: usize, to: &mut String) {
        self.digits(b"0123456789abcdef", digits, to);
    }

    pub(crate) fn base64(&mut self, digits: usize, to: &mut String) {
        const ALPHABET: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        self.digits(ALPHABET, digits, to);
    }

    /// A UUID of version 4.
    pub(crate) fn uuid(&mut self) -> String {
        let digits = self.hex_word(32);
        let variant = ["8", "9", "a", "b"][self.index(4)];
        format!(
            "{}-{}-4{}-{variant}{}-{}",
            &digits[..8],
            &digits[8..12],
            &digits[13..16],
            &digits[17..20],
            &digits[20..]
        )
    }

    /// A UUID of version 7, of the time `at` in milliseconds.
    pub(crate) fn uuid_of_time(&mut self, at: u64) -> String {
        let time = format!("{at:012x}");
        let digits = self.hex_word(18);
        format!(
            "{}-{}-7{}-8{}-{}",
            &time[..8],
            &time[8..],
            &digits[..3],
            &digits[3..6],
            &digits[6..]
        )
    }

    pub(crate) fn hex_word(&mut self, digits: usize) -> String {
        let mut word = String::with_capacity(digits);
        self.hex(digits, &mut word);
        word
    }

    /// `digits` digits of an alphabet that has 16 or 64.
    fn digits(&mut self, alphabet: &[u8], digits: usize, to: &mut String) {
        let n_bits = alphabet.len().trailing_zeros();
        let per_draw = 60 / n_bits as usize;
        let mask = alphabet.len() - 1;
        let mut left = digits;
        while left > 0 {
            let mut bits = self.next();
            for _ in 0..left.min(per_draw) {
                let at = usize::try_from(bits & 0xff).expect("it has 8 bits") & mask;
                to.push(char::from(alphabet[at]));
                bits >>= n_bits;
            }
            left -= left.min(per_draw);
        }
    }
}

fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers_and_another_others() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            [random.next(), random.next(), random.spread(1000, 32)]
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        // The numbers themselves: a change of the generator changes every history.
        let mut random = Random::new(1);
        assert_eq!(random.uuid(), "277d2cdd-0308-4ef7-baa2-f284ec255f7a");
    }

    #[test]
    fn ranks_stay_in_their_octaves_and_the_first_is_frequent() {
        let mut random = Random::new(7);
        let ranks: Vec<usize> = (0..10_000).map(|_| random.rank(5)).collect();
        assert!(ranks.iter().all(|it| *it < 31));
        let n_first = ranks.iter().filter(|it| **it == 0).count();
        assert!((1_800..2_200).contains(&n_first), "{n_first}");
        assert!(ranks.contains(&30));
    }

    #[test]
    fn a_spread_has_its_median_and_a_long_tail() {
        let mut random = Random::new(3);
        let mut sizes: Vec<u64> = (0..10_000).map(|_| random.spread(1_000, 32)).collect();
        sizes.sort_unstable();
        assert!((900..1_100).contains(&sizes[5_000]), "{}", sizes[5_000]);
        assert!(sizes[9_999] > 50_000, "{}", sizes[9_999]);
        assert!(sizes[0] < 50, "{}", sizes[0]);
    }

    #[test]
    fn ids_have_the_form_of_their_version() {
        let mut random = Random::new(4);
        for (id, version) in [(random.uuid(), "4"), (random.uuid_of_time(0x0123_4567_89ab), "7")] {
            let parts: Vec<usize> = id.split('-').map(str::len).collect();
            assert_eq!(parts, [8, 4, 4, 4, 12], "{id}");
            assert_eq!(&id[14..15], version, "{id}");
        }
    }
}
