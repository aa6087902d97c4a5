//! Bounds on the work for one keyword.

/// How far a match may reach from where it begins. A secret that goes on past it is replaced up to
/// here. The longest that a rule looks for is a private key block: 4096 bit RSA has 3.3 KB, twice
/// that with line numbers and escapes, and a PGP block with several subkeys has about 20 KB.
pub(crate) const MAX_MATCH_BYTES: usize = 32 * 1024;

/// The longest match that is looked into again after it was turned down. Past it the rule goes on
/// behind the match, so that the work stays linear when every keyword opens a long match. Real
/// tokens that a rule turns down for their shape are shorter than this; the number is a guess.
pub(crate) const MAX_REJECTED_BYTES: usize = 256;

/// The longest secret that may be a placeholder. Longer ones are not written by hand, and in a
/// key block any short word turns up by chance.
pub(crate) const MAX_PLACEHOLDER_BYTES: usize = 200;

/// The longest marker, `[redacted:<rule>]`. A test holds the rules' names to it.
pub(crate) const MAX_MARKER_BYTES: usize = 64;

/// How much of the text before a match an allow-list sees: the longest prefix of a name that says
/// that the value is none, with room to spare.
pub(crate) const MAX_BEFORE_BYTES: usize = 32;

/// How often a text is looked through. The first pass finds what there is; a second can find more,
/// because a marker bounds a word where a secret did not. A third that does takes a text made for
/// it, and past the last such a text keeps what it hides; without a bound it could ask for as many
/// passes as it has bytes.
pub(crate) const MAX_PASSES: usize = 4;
