//! The whole output of a command on disk, for output that is too long to keep in memory or to show.

use std::path::PathBuf;

use pollux_fs::CappedFile;

use crate::output::Output;

/// Default maximum size of a spill file: 100 MB.
pub const DEFAULT_SPILL_CAP: u64 = 100_000_000;

/// File for the whole output of a command, created when the output becomes long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spill {
    /// Path of the file, mode 0600; an existing file is emptied. Missing folders are created, mode
    /// 0700.
    pub path: PathBuf,
    /// Number of output bytes above which the file is created. A value above the number of bytes
    /// kept in memory counts as that number: from then on only the file has the whole output.
    pub above: usize,
    /// Maximum size of the file in bytes: the middle is dropped, the two ends are kept.
    pub cap: u64,
}

impl Spill {
    /// Creates a spill file with the [`DEFAULT_SPILL_CAP`].
    pub fn new(path: impl Into<PathBuf>, above: usize) -> Self {
        Self { path: path.into(), above, cap: DEFAULT_SPILL_CAP }
    }
}

/// Result of writing a spill file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spilled {
    /// Path of the file.
    pub path: PathBuf,
    /// Number of output bytes in the file.
    pub bytes: u64,
    /// Number of output bytes that are not in the file.
    pub dropped: u64,
    /// Reason for which writing stopped early, such as a full disk or a folder that cannot be
    /// created.
    pub failure: Option<String>,
}

/// Writer that opens the spill file when the output becomes long enough. A write failure never
/// stops the command; it is reported with the outcome.
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

    /// Takes a chunk. Must be called *before* the chunk is added to `so_far`.
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

    /// Closes the file and returns the result, if the file was opened.
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
