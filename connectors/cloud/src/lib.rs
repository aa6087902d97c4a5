//! Connector.
