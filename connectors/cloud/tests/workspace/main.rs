//! A workspace as its members meet it: pushed to by one, read by another.

mod damage;
mod folder;
mod many;
mod push;
mod read;
mod recorded;
mod support;
