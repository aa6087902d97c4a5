//! A recorded machine: a home folder, options and an environment, in `fixtures/`.

use std::{
    collections::BTreeMap,
    fmt, fs,
    path::{Path, PathBuf},
};

use ai_hist_connector::{Availability, Connector, ConnectorSpec, Host, Settings};
use serde_json::{Map, Value};
use tempfile::TempDir;

/// `fixtures/<id>/<version>/<case>/`.
pub(crate) struct Recording {
    dir: PathBuf,
    name: String,
}

/// A copy of a recording, on which a connector may be let loose.
pub(crate) struct Machine {
    /// The folder of the copy, without links in its path.
    root: PathBuf,
    pub(crate) host: Host,
    pub(crate) settings: Settings,
    _folder: TempDir,
}

impl Recording {
    pub(crate) fn all_of(fixtures: &Path, id: &str) -> Vec<Self> {
        let mut recordings = Vec::new();
        for version in folders(&fixtures.join(id)) {
            for dir in folders(&version) {
                let words = [version.file_name(), dir.file_name()];
                let words = words.map(|it| it.unwrap_or_default().to_string_lossy());
                let name = format!("fixtures/{id}/{}", words.join("/"));
                recordings.push(Self { dir, name });
            }
        }
        recordings
    }

    pub(crate) fn copy(&self) -> Result<Machine, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("cannot copy: {error}"))?;
        let root = fs::canonicalize(folder.path())
            .and_then(|root| {
                fs::create_dir_all(root.join("home"))?;
                copy_tree(&self.dir, &root)?;
                Ok(root)
            })
            .map_err(|error| format!("cannot copy: {error}"))?;
        let home = root.join("home");
        let vars = self.vars(&home)?;
        let settings = self.settings(&home)?;
        Ok(Machine { root, host: Host { home, vars }, settings, _folder: folder })
    }

    pub(crate) fn golden_path(&self) -> PathBuf {
        self.dir.join("events.txt")
    }

    /// `env`: a line `NAME=VALUE` each.
    fn vars(&self, home: &Path) -> Result<BTreeMap<String, String>, String> {
        let Some(text) = self.text("env", home)? else {
            return Ok(BTreeMap::new());
        };
        let mut vars = BTreeMap::new();
        for line in text.lines().filter(|it| !it.trim().is_empty()) {
            let (name, value) =
                line.split_once('=').ok_or_else(|| format!("`env`: `{line}` is no NAME=VALUE"))?;
            vars.insert(name.to_owned(), value.to_owned());
        }
        Ok(vars)
    }

    /// `settings.json`: the connector's options.
    fn settings(&self, home: &Path) -> Result<Settings, String> {
        let Some(text) = self.text("settings.json", home)? else {
            return Ok(Settings::default());
        };
        serde_json::from_str::<Map<String, Value>>(&text)
            .map(Settings)
            .map_err(|error| format!("`settings.json`: {error}"))
    }

    /// A file of the recording, in which `{HOME}` stands for the home folder.
    fn text(&self, name: &str, home: &Path) -> Result<Option<String>, String> {
        let path = self.dir.join(name);
        if !path.exists() {
            return Ok(None);
        }
        let text = fs::read_to_string(&path).map_err(|error| format!("`{name}`: {error}"))?;
        Ok(Some(text.replace("{HOME}", &home.to_string_lossy())))
    }
}

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Machine {
    pub(crate) fn connector(&self, spec: &ConnectorSpec) -> Result<Box<dyn Connector>, String> {
        for (name, value) in &self.settings.0 {
            let option = spec.options.iter().find(|it| it.name == name);
            let option = option.ok_or_else(|| format!("`{name}` is none of its options"))?;
            if !option.kind.admits(value) {
                return Err(format!("option `{name}` is to be {}", option.kind));
            }
        }
        match (spec.configure)(&self.settings, &self.host) {
            Ok(Availability::Ready(connector)) => Ok(connector),
            Ok(Availability::Absent(why)) => Err(format!("the connector is absent: {why}")),
            Err(error) => Err(format!("cannot be configured: {error}")),
        }
    }

    /// Every file and folder, and what is in it.
    pub(crate) fn contents(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut contents = BTreeMap::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for path in entries(&folder) {
                if path.is_dir() {
                    folders.push(path.clone());
                    contents.insert(path, Vec::new());
                } else {
                    let bytes = fs::read(&path).unwrap_or_default();
                    contents.insert(path, bytes);
                }
            }
        }
        contents
    }
}

/// The bytes of a transcript, unpacked.
pub(crate) fn transcript(path: &Path) -> Result<Vec<u8>, String> {
    let bytes = fs::read(path).map_err(|error| format!("cannot read the copy: {error}"))?;
    if !is_packed(path) {
        return Ok(bytes);
    }
    zstd::decode_all(&bytes[..]).map_err(|error| format!("cannot unpack the copy: {error}"))
}

/// Makes `bytes` the transcript at `path`.
pub(crate) fn write_transcript(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let written = if is_packed(path) {
        zstd::encode_all(bytes, 1).and_then(|packed| fs::write(path, packed))
    } else {
        fs::write(path, bytes)
    };
    written.map_err(|error| format!("cannot write the copy: {error}"))
}

fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "zst")
}

fn copy_tree(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for path in entries(from) {
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_tree(&path, &target)?;
        } else {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

fn folders(dir: &Path) -> Vec<PathBuf> {
    entries(dir).into_iter().filter(|it| it.is_dir()).collect()
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.filter_map(|it| Some(it.ok()?.path())).collect();
    paths.sort();
    paths
}
