//! Every connector there is.
