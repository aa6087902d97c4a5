//! The connector contract as checks.
