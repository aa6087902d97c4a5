//! Who may depend on whom. The picture in `crates/README.md` is drawn from this table.

use crate::{
    manifest::{Manifest, OURS},
    tree,
};

/// A crate, and the only crates of ours that it may name. A new edge is a change here, and is
/// reviewed as one.
const LAYERS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("fault", &[]),
    ("redact", &[]),
    ("connector", &["model"]),
    ("store", &["model", "fault"]),
    ("index", &["model", "fault"]),
    ("connector-testkit", &["connector"]),
    ("ingest", &["model", "fault", "connector", "store", "index"]),
    ("query", &["model", "store", "index"]),
    ("handoff", &["model", "connector", "store", "ingest", "redact"]),
    ("engine", &["model", "connector", "store", "index", "ingest", "query", "redact", "handoff"]),
    ("mcp", &["model", "engine"]),
    ("ai-hist", &["model", "fault", "connector", "catalog", "engine", "mcp"]),
    ("xtask", &[]),
];

/// A package of others that only some of our crates may name, tests included, and why.
///
/// A heavy dependency stays behind one crate, so that it can be changed there alone.
const OWNERS: &[(&str, &[&str])] = &[
    ("rmcp", &["crates/mcp"]),
    ("tantivy", &["crates/index"]),
    // The binary's tests alone: what stands in a state folder after a crash.
    ("rusqlite", &["crates/store", "crates/connector", "connectors/", "crates/ai-hist"]),
    ("notify", &["crates/ingest"]),
];

/// Says which dependencies are not in the tables.
pub(crate) fn faults() -> Result<Vec<String>, String> {
    let mut faults = Vec::new();
    for top in ["crates", "connectors"] {
        for name in tree::crates_in(top)? {
            let place = format!("{top}/{name}");
            let manifest = Manifest::parse(&tree::read(&format!("{place}/Cargo.toml"))?);
            faults.extend(faults_of(top, &name, &manifest));
        }
    }
    Ok(faults)
}

fn faults_of(top: &str, name: &str, manifest: &Manifest) -> Vec<String> {
    let place = format!("{top}/{name}");
    let mut faults = Vec::new();
    if !manifest.has_lints {
        faults.push(format!("{place}: does not take the workspace's lints"));
    }
    let all = || manifest.normal.iter().chain(&manifest.dev);
    for (package, owners) in OWNERS {
        let is_owner = owners.iter().any(|it| place == *it || is_below(&place, it));
        if !is_owner && all().any(|it| it == package) {
            faults.push(format!("{place}: may not depend on {package}, only {} may", owners[0]));
        }
    }
    if top == "connectors" {
        let forbidden = |it: &&String, allowed: &[&str]| {
            it.starts_with(OURS) && !allowed.contains(&it.as_str())
        };
        let normal = manifest.normal.iter().filter(|it| forbidden(it, &["ai-hist-connector"]));
        let dev = &["ai-hist-connector", "ai-hist-connector-testkit"];
        for used in normal.chain(manifest.dev.iter().filter(|it| forbidden(it, dev))) {
            faults.push(format!(
                "{place}: a connector depends on ai-hist-connector only, not on {used}"
            ));
        }
        return faults;
    }
    // The catalog is generated, and compared with what is generated.
    if name == "catalog" {
        return faults;
    }
    let Some((_, allowed)) = LAYERS.iter().find(|it| it.0 == name) else {
        faults.push(format!("{place}: has no place in crates/xtask/src/layers.rs"));
        return faults;
    };
    for used in manifest.normal.iter().filter_map(|it| it.strip_prefix(OURS)) {
        if !allowed.contains(&used) {
            faults.push(format!("{place}: may not depend on {OURS}{used}"));
        }
    }
    faults
}

/// Whether `place` is in the folder `owner`, where that is one.
fn is_below(place: &str, owner: &str) -> bool {
    owner.ends_with('/') && place.starts_with(owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(place: (&str, &str), dependencies: &str, expected: &[&str]) {
        let text = format!("[lints]\nworkspace = true\n{dependencies}");
        let faults = faults_of(place.0, place.1, &Manifest::parse(&text));
        assert_eq!(faults.len(), expected.len(), "{place:?} {dependencies}: {faults:?}");
        for (fault, expected) in faults.iter().zip(expected) {
            assert!(fault.contains(expected), "{place:?} {dependencies}: {fault}");
        }
    }

    #[test]
    fn only_edges_of_the_table_pass() {
        let store = ("crates", "store");
        check(store, "[dependencies]\nai-hist-model.workspace = true", &[]);
        check(store, "[dependencies]\nai-hist-index.workspace = true", &["ai-hist-index"]);
        check(("crates", "new"), "", &["has no place"]);
        check(("crates", "redact"), "[dependencies]\nai-hist-model.workspace = true", &["model"]);
        check(("crates", "ai-hist"), "[dependencies]\nai-hist-store.workspace = true", &["store"]);
    }

    #[test]
    fn a_connector_names_the_contract_alone() {
        let foo = ("connectors", "foo");
        let connector = "[dependencies]\nai-hist-connector.workspace = true\nserde = \"1\"";
        let testkit = "[dev-dependencies]\nai-hist-connector-testkit.workspace = true";
        check(foo, &format!("{connector}\n{testkit}"), &[]);
        check(foo, "[dependencies]\nai-hist-connector-testkit.workspace = true", &["testkit"]);
        check(foo, "[dependencies]\nai-hist-model.workspace = true", &["ai-hist-model"]);
        check(foo, "[dev-dependencies]\nai-hist-store.workspace = true", &["ai-hist-store"]);
    }

    #[test]
    fn a_heavy_dependency_has_its_owner() {
        check(("crates", "mcp"), "[dependencies]\nrmcp.workspace = true", &[]);
        check(("crates", "engine"), "[dependencies]\nrmcp.workspace = true", &["rmcp"]);
        check(("crates", "query"), "[dev-dependencies]\ntantivy = \"0\"", &["tantivy"]);
        check(("connectors", "foo"), "[dependencies]\nrusqlite.workspace = true", &[]);
        check(("crates", "connector-testkit"), "[dependencies]\nrusqlite = \"0\"", &["rusqlite"]);
    }

    #[test]
    fn every_row_names_rows_above_it() {
        for (i, (name, allowed)) in LAYERS.iter().enumerate() {
            let is_known =
                |it: &&str| *it == "catalog" || LAYERS[..i].iter().any(|row| row.0 == *it);
            assert!(allowed.iter().all(is_known), "{name}");
        }
    }
}
