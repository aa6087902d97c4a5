//! What is redacted, what is left alone, and what holds for every text.

mod found;
mod laws;
mod left_alone;
mod made;
