//! Rules of the tree that neither the compiler nor clippy knows.

use crate::{connectors, layers, sources, tree, words};

/// Checks every rule.
pub(crate) fn check() -> Result<(), String> {
    let mut faults = connectors::faults()?;
    faults.extend(layers::faults()?);
    let files = tree::text_files();
    for file in &files {
        faults.extend(sources::faults_of(file));
        faults.extend(words::faults_of(file));
    }
    if !files.iter().any(|it| sources::is_rust(&it.path)) {
        faults.push("no source file was found to check".to_owned());
    }
    if faults.is_empty() {
        return Ok(());
    }
    Err(format!("the tree is not tidy\n  {}", faults.join("\n  ")))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_tree_is_tidy() {
        if let Err(faults) = super::check() {
            panic!("{faults}");
        }
    }
}
