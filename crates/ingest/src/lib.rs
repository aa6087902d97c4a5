//! From connectors to the store.
