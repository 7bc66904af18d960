//! Text and images from the clipboard of the desktop.

use pollux_input::ClipboardRead;

use super::View;
use crate::toast::Toast;

/// The clipboard.
pub(super) struct Pasting<'a> {
    read: Box<dyn Fn() -> ClipboardRead + 'a>,
    /// Reading in progress.
    reading: Option<ClipboardRead>,
}

impl<'a> Pasting<'a> {
    pub(super) fn new(read: Box<dyn Fn() -> ClipboardRead + 'a>) -> Self {
        Self { read, reading: None }
    }

    /// Begins to read the clipboard, unless that is in progress.
    pub(super) fn begin(&mut self) {
        self.reading.get_or_insert_with(&*self.read);
    }

    /// Returns the reading in progress.
    pub(super) fn reading(&mut self) -> Option<&mut ClipboardRead> {
        self.reading.as_mut()
    }
}

impl View<'_> {
    /// Inserts what was read, or shows why there is nothing to insert.
    pub(super) fn insert_pasted(&mut self, pasted: Result<String, String>) {
        self.pasting.reading = None;
        match pasted {
            Ok(text) => {
                let step = self.composer.paste(&text);
                self.take_step(step, None);
            }
            Err(message) => self.toast = Some(Toast::notice(message)),
        }
    }
}
