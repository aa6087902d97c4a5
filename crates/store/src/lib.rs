//! The truth.
