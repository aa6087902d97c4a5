//! Reading the archive again with a connector that understands more than when it was written.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write as _},
    path::{Component, Path, PathBuf},
};

use ai_hist_connector::{Budget, Feed, FeedPlace};
use ai_hist_model::FeedId;
use ai_hist_store::{
    Cluster, Commit, FeedAccount, Origin, Replayed, Step, Store, StoreError, Take, Taken,
};
use tempfile::TempDir;

use crate::{
    IngestError, Source,
    limits::{MAX_BATCH_BYTES, MAX_BATCH_RECORDS},
};

/// Reads again, from the archive, the feeds of `cluster`, and replaces by that what their sessions
/// hold. Gives what was taken in; `None` if one of the feeds cannot be read from the archive alone.
///
/// All in one transaction: whoever looks meanwhile sees what was there before. The transcripts are
/// put beside the store while they are read.
pub(crate) fn reparse(
    store: &Store,
    source: &Source,
    cluster: &Cluster,
) -> Result<Option<Taken>, IngestError> {
    let is_ours = |it: &FeedAccount| {
        let can_reread = || source.connector.can_reread(&FeedId(it.name.clone()));
        it.connector == source.id.as_str() && it.path.is_some() && can_reread()
    };
    if !cluster.feeds.iter().all(is_ours) {
        return Ok(None);
    }
    let folder = store.path().parent().unwrap_or(store.path());
    let mut failed = None;
    let replayed = store.writer()?.replay(cluster, &mut |take| {
        for account in &cluster.feeds {
            for generation in 0..=account.generation {
                let again = Again { store, source, account, generation, folder };
                if let Err(error) = again.read(take) {
                    return Err(again.give_up(error, &mut failed));
                }
            }
        }
        Ok(())
    });
    match (replayed, failed) {
        (Ok(taken), _) => Ok(Some(taken)),
        (Err(_), Some(error)) => Err(error),
        (Err(error), None) => Err(error.into()),
    }
}

/// A generation of a feed that is read again.
struct Again<'a> {
    store: &'a Store,
    source: &'a Source,
    account: &'a FeedAccount,
    generation: i64,
    folder: &'a Path,
}

impl Again<'_> {
    fn read(&self, take: &mut Take<'_>) -> Result<(), IngestError> {
        let copy = self.copy().map_err(|source| IngestError::Copy {
            path: self.account.path.clone().unwrap_or_default(),
            source,
        })?;
        let path = copy.path.clone();
        let id = FeedId(self.account.name.clone());
        let feed = Feed { id, place: FeedPlace::AppendedFile(path), stamp: None };
        let mut reader = self.source.connector.open(&feed, None)?;
        let budget = Budget { records: MAX_BATCH_RECORDS, bytes: MAX_BATCH_BYTES };
        while let Some(batch) = reader.next_batch(budget)? {
            let step = Step {
                connector: self.source.id.clone(),
                feed: feed.id.clone(),
                path: None,
                origin: Origin::local(),
                reading: self.source.connector.reading(),
                commit: Commit::End { after: None, stamp: None, rest: Vec::new() },
            };
            let generation = self.generation;
            take(&Replayed { feed: self.account.id, step, generation, batch })?;
        }
        Ok(())
    }

    /// Writes what is archived to a file that is named as its agent named it, since a connector
    /// reads from names too, below a folder of its own.
    fn copy(&self) -> io::Result<Copy> {
        let folder = tempfile::Builder::new().prefix("reparse-").tempdir_in(self.folder)?;
        let original = self.account.path.as_deref().unwrap_or(Path::new(""));
        let names = original.components().filter(|it| matches!(it, Component::Normal(_)));
        let mut path = folder.path().join(names.collect::<PathBuf>());
        // What is archived is unpacked.
        if path.extension().is_some_and(|it| it == "zst") {
            path.set_extension("");
        }
        fs::create_dir_all(path.parent().unwrap_or(folder.path()))?;
        let mut file = BufWriter::new(File::create(&path)?);
        let written = self.store.restore_records(self.account, self.generation, &mut file);
        written.map_err(io::Error::other)?;
        file.flush()?;
        Ok(Copy { path, _folder: folder })
    }

    /// The store's transaction ends with an error of the store's: the true one is put aside.
    fn give_up(&self, error: IngestError, aside: &mut Option<IngestError>) -> StoreError {
        if let IngestError::Store(error) = error {
            return error;
        }
        let what = format!("feed `{}` cannot be read again", self.account.name);
        *aside = Some(error);
        StoreError::Damaged { what }
    }
}

/// A copy that is removed with this.
struct Copy {
    path: PathBuf,
    _folder: TempDir,
}
