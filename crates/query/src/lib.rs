//! From words to a page of results.
