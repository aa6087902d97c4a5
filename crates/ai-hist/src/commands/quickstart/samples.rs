//! Sample sessions, in the agents' own layout, for a machine that has none.

use std::{collections::BTreeMap, fs, io, path::Path};

use ai_hist_connector::Host;

const SAMPLES: [(&str, &str); 2] = [
    (
        ".claude/projects/-home-me-shop/5b0c5a0e-7d0e-4d0a-9f3b-1f1f6f0e2a01.jsonl",
        include_str!("../../../samples/claude.jsonl"),
    ),
    (
        ".codex/sessions/2026/11/20/\
         rollout-2026-11-20T09-30-00-019a9f10-52aa-7c10-8c5e-3d9b6a1c7e02.jsonl",
        include_str!("../../../samples/codex.jsonl"),
    ),
];

/// Writes the samples below `home`, and gives the machine that has them.
pub(super) fn write(home: &Path) -> io::Result<Host> {
    for (path, text) in SAMPLES {
        let path = home.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text)?;
    }
    Ok(Host { home: home.to_owned(), vars: BTreeMap::new() })
}
