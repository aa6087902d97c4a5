//! What holds while processes die: the real program, many of them on one state folder, killed,
//! stopped, starved of space, and their files damaged.
//!
//! Linux only: it tells who leads by the system's table of locks.
#![cfg(target_os = "linux")]

mod answers;
mod chance;
mod compare;
mod crowd;
mod damage;
mod database;
#[cfg(feature = "failpoints")]
mod fail_points;
mod fleet;
mod leader;
mod limits;
mod machine;
mod mcp;
mod nemesis;
mod overtaken;
mod snapshot;
mod space;
mod storm;
mod transcript;
mod worker;
mod world;
