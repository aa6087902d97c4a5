//! Secrets, found and replaced.
