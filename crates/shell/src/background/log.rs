//! The log of one background process: its output as plain text, only on disk.

use std::path::{Path, PathBuf};

use pollux_fs::CappedFile;
use pollux_protocol::plain_text::AnsiStripper;

use crate::output::Output;
use crate::spill::DEFAULT_SPILL_CAP;
use crate::text::Decoder;

/// Log that receives output as it arrives. A write failure never stops the process; it is kept in
/// `failure`.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    file: Option<CappedFile>,
    failure: Option<String>,
    decoder: Decoder,
    stripper: AnsiStripper,
}

impl Log {
    /// Creates a new file. An existing file belongs to an ended process with the same, reused
    /// number.
    pub(super) fn create(path: PathBuf) -> Self {
        let (file, failure) = match CappedFile::replace(&path, DEFAULT_SPILL_CAP) {
            Ok(file) => (Some(file), None),
            Err(error) => (None, Some(error.to_string())),
        };
        Self { path, file, failure, decoder: Decoder::default(), stripper: AnsiStripper::default() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Adds the bytes of one read.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let Some(file) = &mut self.file else { return };
        let text = self.decoder.decode(bytes);
        if let Err(error) = file.write(self.stripper.strip(&text).as_bytes()) {
            self.failure = Some(error.to_string());
            self.file = None;
        }
    }

    /// Adds the output that a command printed before it was moved to the background.
    pub(crate) fn push_output(&mut self, output: &Output) {
        self.push(output.head());
        if output.omitted() > 0 {
            self.push(format!("\n... [{} bytes omitted] ...\n", output.omitted()).as_bytes());
        }
        let (first, second) = output.tail();
        self.push(first);
        self.push(second);
    }
}
