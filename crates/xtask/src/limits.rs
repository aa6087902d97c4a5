//! Bounds on the tree.

/// The most lines a hand-written source file may have, tests included. The guide is 500, what a
/// newcomer reads in one sitting; past this it is a fault, so that a file just over the guide can
/// wait for the change that splits it well.
pub(crate) const MAX_FILE_LINES: usize = 600;
