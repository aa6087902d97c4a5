//! Places where a test makes the program fail: by an error, a panic, or the sudden end of the process.
//!
//! **Invariant:** without the feature `failpoints`, which no release has, a point does nothing.

/// A failure that a test asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("fault injected at `{point}`")]
pub struct Injected {
    /// Where.
    pub point: String,
}

/// Lets the environment's `FAILPOINTS` decide what points do, for as long as what it gives lives.
#[cfg(feature = "failpoints")]
#[must_use]
pub fn scenario() -> fail::FailScenario<'static> {
    fail::FailScenario::setup()
}

/// What points do, as this is built: nothing.
#[cfg(not(feature = "failpoints"))]
#[derive(Debug)]
pub struct Nothing;

/// Lets the environment decide what points do: nothing, as this is built.
#[cfg(not(feature = "failpoints"))]
#[must_use]
pub const fn scenario() -> Nothing {
    Nothing
}

/// The point `name`. Its action `panic` panics here, `return` gives the error, and `return(exit)`
/// ends the process at once.
#[cfg(feature = "failpoints")]
pub fn point(name: &str) -> Result<(), Injected> {
    match fail::eval(name, Option::unwrap_or_default) {
        None => Ok(()),
        Some(how) if how == "exit" => std::process::abort(),
        Some(_) => Err(Injected { point: name.to_owned() }),
    }
}

/// The point `name`: nothing, as this is built.
#[cfg(not(feature = "failpoints"))]
#[inline]
pub const fn point(_name: &str) -> Result<(), Injected> {
    Ok(())
}
