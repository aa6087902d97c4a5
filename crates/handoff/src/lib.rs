//! From a reference to something an agent can go on with.
