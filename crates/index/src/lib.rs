//! The search index.
