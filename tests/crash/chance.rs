//! Chance that can be had again, and the parameters that a person sets.

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher as _, Hasher as _},
    str::FromStr,
};

/// The parameter `name` of the environment, else `otherwise`.
#[expect(clippy::disallowed_methods, reason = "a test's parameters have no other way in")]
pub(crate) fn parameter<T: FromStr>(name: &str, otherwise: T) -> T {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("`{name}` is no number: `{text}`")),
        Err(_) => otherwise,
    }
}

/// A seed nobody has had.
pub(crate) fn any_seed() -> u64 {
    RandomState::new().build_hasher().finish() % 1_000_000
}
