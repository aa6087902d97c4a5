//! The files of the project.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A text file of the project.
pub(crate) struct TextFile {
    /// Its path from the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

pub(crate) fn root() -> PathBuf {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_dir.ancestors().nth(2).unwrap_or(crate_dir).to_owned()
}

/// Every file that is in the repository or would be added to it, by path. What is no text is
/// passed over. Without git (in an archive of the sources) these are all files there are.
pub(crate) fn text_files() -> Vec<TextFile> {
    let mut paths = listed_by_git().unwrap_or_else(all_files);
    paths.sort();
    let read = |path: String| {
        let text = fs::read_to_string(root().join(&path)).ok()?;
        Some(TextFile { path, text })
    };
    paths.into_iter().filter_map(read).collect()
}

/// The names of the folders in `top` that are crates, by name.
pub(crate) fn crates_in(top: &str) -> Result<Vec<String>, String> {
    let dir = root().join(top);
    let entries =
        fs::read_dir(&dir).map_err(|error| format!("cannot list `{}`: {error}", dir.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|it| it.path().join("Cargo.toml").is_file())
        .map(|it| it.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names)
}

pub(crate) fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(root().join(path)).map_err(|error| format!("cannot read `{path}`: {error}"))
}

fn listed_by_git() -> Option<Vec<String>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .ok()?;
    let names = String::from_utf8(output.stdout).ok()?;
    let paths: Vec<String> =
        names.split('\0').filter(|it| !it.is_empty()).map(str::to_owned).collect();
    (output.status.success() && !paths.is_empty()).then_some(paths)
}

fn all_files() -> Vec<String> {
    let root = root();
    let mut paths = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
            let path = entry.path();
            let name = entry.file_name();
            if !path.is_dir() {
                let path = path.strip_prefix(&root).unwrap_or(&path);
                paths.push(path.to_string_lossy().replace('\\', "/"));
            } else if name != "target" && name != ".git" {
                folders.push(path);
            }
        }
    }
    paths
}
