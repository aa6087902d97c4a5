//! What a `Cargo.toml` depends on, read without a TOML parser.
//!
//! Understands what our manifests use: `name = …`, `name.workspace = true`, a table
//! `[dependencies.name]`, sections for a target, and a renamed `package`.

/// The prefix of our packages.
pub(crate) const OURS: &str = "ai-hist-";

/// The dependencies of one crate, as package names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// For building and running it.
    pub(crate) normal: Vec<String>,
    /// For its tests.
    pub(crate) dev: Vec<String>,
    /// Whether it takes the workspace's lints.
    pub(crate) has_lints: bool,
}

impl Manifest {
    pub(crate) fn parse(text: &str) -> Self {
        let mut manifest = Self::default();
        let mut section = Section::Other;
        for line in text.lines().map(str::trim) {
            if let Some(header) = line.strip_prefix('[') {
                section = Section::of(header.trim_end_matches(']'));
                if let Section::Dependency(kind, name) = &section {
                    manifest.list(*kind).push((*name).to_owned());
                }
                continue;
            }
            match section {
                Section::Dependencies(kind) => {
                    if let Some(name) = package(line) {
                        manifest.list(kind).push(name.to_owned());
                    }
                }
                Section::Dependency(kind, _) => {
                    if let Some(name) = value(line, "package") {
                        let list = manifest.list(kind);
                        list.pop();
                        list.push(name.to_owned());
                    }
                }
                Section::Lints => manifest.has_lints |= line == "workspace = true",
                Section::Other => {}
            }
        }
        manifest
    }

    fn list(&mut self, kind: Kind) -> &mut Vec<String> {
        match kind {
            Kind::Normal => &mut self.normal,
            Kind::Dev => &mut self.dev,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Normal,
    Dev,
}

enum Section<'a> {
    /// `[dependencies]`: a line is a dependency.
    Dependencies(Kind),
    /// `[dependencies.name]`: a line is a property.
    Dependency(Kind, &'a str),
    Lints,
    Other,
}

impl<'a> Section<'a> {
    fn of(header: &'a str) -> Self {
        if header == "lints" {
            return Self::Lints;
        }
        // `target.'cfg(unix)'.dependencies` is `dependencies` for us.
        for (word, kind) in [
            ("dev-dependencies", Kind::Dev),
            ("build-dependencies", Kind::Normal),
            ("dependencies", Kind::Normal),
        ] {
            let Some((before, after)) = header.rsplit_once(word) else {
                continue;
            };
            let is_for_target = before.starts_with("target.") && before.ends_with('.');
            if !is_for_target && !before.is_empty() {
                continue;
            }
            return match after.strip_prefix('.') {
                Some(name) => Self::Dependency(kind, name.trim_matches('"')),
                None if after.is_empty() => Self::Dependencies(kind),
                None => Self::Other,
            };
        }
        Self::Other
    }
}

/// The package of a dependency line.
fn package(line: &str) -> Option<&str> {
    if line.starts_with('#') {
        return None;
    }
    let (key, properties) = line.split_once('=')?;
    let renamed = properties
        .trim()
        .strip_prefix('{')
        .and_then(|it| it.split([',', '}']).find_map(|it| value(it.trim(), "package")));
    renamed.or_else(|| key.trim().split('.').next().map(|it| it.trim_matches('"')))
}

/// The string that `line` gives to `key`.
fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let (found, value) = line.split_once('=')?;
    (found.trim() == key).then(|| value.trim().trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, normal: &[&str], dev: &[&str]) {
        let manifest = Manifest::parse(text);
        assert_eq!(manifest.normal, normal, "normal of:\n{text}");
        assert_eq!(manifest.dev, dev, "dev of:\n{text}");
    }

    #[test]
    fn every_form_of_a_dependency_is_seen() {
        check("[package]\nname = \"x\"\nversion.workspace = true\n", &[], &[]);
        check(
            "[dependencies]\nai-hist-model.workspace = true\nb = \"1\"\n# c = \"1\"\n",
            &["ai-hist-model", "b"],
            &[],
        );
        check(
            "[dependencies]\na = { path = \"../a\", features = [\"x\"] }\n\n[features]\nb = []\n",
            &["a"],
            &[],
        );
        check("[dev-dependencies]\na = \"1\"\n\n[dependencies]\nb = \"1\"\n", &["b"], &["a"]);
        check("[target.'cfg(unix)'.dependencies]\na = \"1\"\n", &["a"], &[]);
        check("[target.'cfg(unix)'.dev-dependencies.a]\nversion = \"1\"\n", &[], &["a"]);
        check("[build-dependencies]\ncc = \"1\"\n", &["cc"], &[]);
        check(
            "[dependencies.a]\nversion = \"1\"\n[dependencies.b]\nversion = \"1\"\n",
            &["a", "b"],
            &[],
        );
        check("[workspace.dependencies]\na = \"1\"\n", &[], &[]);
    }

    #[test]
    fn a_renamed_package_goes_by_its_own_name() {
        check(
            "[dependencies]\ndb = { version = \"1\", package = \"rusqlite\" }\n",
            &["rusqlite"],
            &[],
        );
        check("[dependencies.db]\nversion = \"1\"\npackage = \"rusqlite\"\n", &["rusqlite"], &[]);
    }

    #[test]
    fn the_lints_of_the_workspace_are_seen() {
        assert!(Manifest::parse("[lints]\nworkspace = true\n").has_lints);
        assert!(!Manifest::parse("[features]\nworkspace = true\n").has_lints);
    }
}
