//! The bytes of a transcript, plain or compressed, from a place on.

use std::{
    fmt,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use xxhash_rust::xxh3::xxh3_64;

use crate::limits::{MAX_FINGERPRINT_BYTES, MAX_UNPACKED_BYTES};

/// Bytes to read on from.
pub(super) struct Source {
    bytes: Box<dyn Read + Send>,
    unpacked: u64,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("unpacked", &self.unpacked).finish_non_exhaustive()
    }
}

/// A file positioned at `offset`, and what tells whether it is the file that it was.
pub(super) struct Positioned {
    pub(super) source: Source,
    /// The bytes before the offset, at most [`MAX_FINGERPRINT_BYTES`]; shorter than asked if the
    /// file ends before the offset.
    pub(super) before: Vec<u8>,
    /// The first bytes of the file, at most [`MAX_FINGERPRINT_BYTES`].
    pub(super) head: Vec<u8>,
    /// Whether the file reaches the offset.
    pub(super) reached: bool,
}

/// Opens `path` at `offset`.
pub(super) fn open(path: &Path, offset: u64) -> io::Result<Positioned> {
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    if path.extension().is_some_and(|it| it == "zst") {
        let mut decoder = zstd::Decoder::new(file)?;
        decoder.window_log_max(27)?;
        return skip_to(Source { bytes: Box::new(decoder), unpacked: 0 }, offset);
    }
    seek_to(file, offset)
}

fn seek_to(mut file: File, offset: u64) -> io::Result<Positioned> {
    let mut head = Vec::new();
    (&mut file).take(MAX_FINGERPRINT_BYTES as u64).read_to_end(&mut head)?;
    let length = file.metadata()?.len();
    let mut before = Vec::new();
    let reached = offset <= length;
    if reached {
        let n_before = offset.min(MAX_FINGERPRINT_BYTES as u64);
        file.seek(SeekFrom::Start(offset - n_before))?;
        (&mut file).take(n_before).read_to_end(&mut before)?;
    }
    let source = Source { bytes: Box::new(file), unpacked: 0 };
    Ok(Positioned { source, before, head, reached })
}

fn skip_to(mut source: Source, offset: u64) -> io::Result<Positioned> {
    let mut head = Vec::new();
    let mut before = Vec::new();
    let mut left = offset;
    let mut block = vec![0; 64 * 1024];
    while 0 < left {
        let want = usize::try_from(left).unwrap_or(usize::MAX).min(block.len());
        let n = source.read(&mut block[..want])?;
        if n == 0 {
            break;
        }
        let room = MAX_FINGERPRINT_BYTES.saturating_sub(head.len()).min(n);
        head.extend_from_slice(&block[..room]);
        keep_last(&mut before, &block[..n]);
        left -= n as u64;
    }
    Ok(Positioned { source, before, head, reached: left == 0 })
}

impl Source {
    pub(super) fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = loop {
            match self.bytes.read(into) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => break done?,
            }
        };
        self.unpacked += n as u64;
        if MAX_UNPACKED_BYTES < self.unpacked {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "unpacks to too much"));
        }
        Ok(n)
    }
}

/// Appends `more` to `kept` and keeps the last [`MAX_FINGERPRINT_BYTES`].
pub(super) fn keep_last(kept: &mut Vec<u8>, more: &[u8]) {
    let more = &more[more.len().saturating_sub(MAX_FINGERPRINT_BYTES)..];
    let excess = (kept.len() + more.len()).saturating_sub(MAX_FINGERPRINT_BYTES);
    kept.drain(..excess.min(kept.len()));
    kept.extend_from_slice(more);
}

/// Names bytes.
pub(super) fn fingerprint(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}
