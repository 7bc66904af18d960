//! The whole output of a command on disk, for output too long to keep or to show.

use std::path::PathBuf;

use pollux_fs::CappedFile;

use crate::output::Output;

/// The most bytes a spill file takes unless told otherwise: 100 MB.
pub const DEFAULT_SPILL_CAP: u64 = 100_000_000;

/// Where a command's whole output goes once it is long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spill {
    /// The file, mode 0600, emptied if it exists. Missing folders are made, mode 0700.
    pub path: PathBuf,
    /// The file is made only when the output has more bytes than this. A value above what memory
    /// keeps counts as that: from then on only the file has everything.
    pub above: usize,
    /// The file never has more bytes than this: the middle goes, its two ends stay.
    pub cap: u64,
}

impl Spill {
    /// A spill file with the [`DEFAULT_SPILL_CAP`].
    pub fn new(path: impl Into<PathBuf>, above: usize) -> Self {
        Self { path: path.into(), above, cap: DEFAULT_SPILL_CAP }
    }
}

/// What became of the spill file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spilled {
    /// The file.
    pub path: PathBuf,
    /// Bytes of the output that are in it.
    pub bytes: u64,
    /// Bytes that are not.
    pub dropped: u64,
    /// Why writing stopped early: the disk is full, the folder cannot be made.
    pub failure: Option<String>,
}

/// Watches the output grow and opens the file when it is time. A file that cannot be written never
/// stops the command: the failure is reported with the outcome.
pub(crate) struct Spiller {
    spill: Spill,
    file: Option<CappedFile>,
    spilled: Option<Spilled>,
}

impl Spiller {
    pub(crate) fn new(mut spill: Spill, kept_in_memory: usize) -> Self {
        spill.above = spill.above.min(kept_in_memory);
        Self { spill, file: None, spilled: None }
    }

    /// To be called with each chunk *before* it is added to `so_far`.
    pub(crate) fn take(&mut self, so_far: &Output, chunk: &[u8]) {
        if self.spilled.is_none() {
            if so_far.len() + chunk.len() <= self.spill.above {
                return;
            }
            self.open();
            let (first, second) = so_far.tail();
            for piece in [so_far.head(), first, second] {
                self.write(piece);
            }
        }
        self.write(chunk);
    }

    /// Closes the file, if it was ever opened.
    pub(crate) fn finish(self) -> Option<Spilled> {
        self.spilled
    }

    fn open(&mut self) {
        let path = self.spill.path.clone();
        let mut spilled = Spilled { path, bytes: 0, dropped: 0, failure: None };
        match CappedFile::create(&self.spill.path, self.spill.cap) {
            Ok(file) => self.file = Some(file),
            Err(error) => spilled.failure = Some(error.to_string()),
        }
        self.spilled = Some(spilled);
    }

    fn write(&mut self, bytes: &[u8]) {
        let Some(spilled) = &mut self.spilled else { return };
        let Some(file) = &mut self.file else {
            spilled.dropped += bytes.len() as u64;
            return;
        };
        let written = file.write(bytes);
        (spilled.bytes, spilled.dropped) = (file.written() - file.omitted(), file.omitted());
        if let Err(error) = written {
            spilled.failure = Some(error.to_string());
            self.file = None;
        }
    }
}
