//! The transcript in place of the conversation: it has the whole screen, and the conversation
//! continues behind it.

use pollux_input::{FilePlace, KeyPress, PageRead, ReadPage, clipboard_sequence};
use pollux_protocol::{Event, SessionsError, TranscriptPage};

use super::View;
use crate::markdown::MarkupMarks;
use crate::pager::{Pager, PagerStep};
use crate::screen::Screen;
use crate::surface::{Frame, Narrowing, Surface};

/// Sequence that empties the screen. Only the transcript is on it.
const ERASE: &str = "\x1b[H\x1b[J";

/// Everything that a transcript needs.
pub(super) struct Reading<'a> {
    /// Reads a page of it.
    pub(super) read_page: ReadPage<'a>,
    pub(super) marks: MarkupMarks,
}

/// The transcript on the screen.
pub(super) struct Transcript<'a> {
    pager: Pager,
    /// Page that is being read.
    page: Option<PageRead<'a>>,
    /// The whole screen; `None` while the terminal shows its own text.
    surface: Option<Surface>,
    places: Option<Vec<FilePlace>>,
    /// Sequences for the next frame.
    pending: String,
}

impl<'a> Transcript<'a> {
    fn show(&mut self, size: (usize, usize), screen: &mut Screen, frame: Frame) -> Vec<u8> {
        let surface = self.surface.get_or_insert_with(|| {
            let mut surface = Surface::new(size, screen.palette().clone(), Narrowing::Cuts);
            surface.send(screen.enter());
            surface
        });
        surface.send(&std::mem::take(&mut self.pending));
        surface.draw(Vec::new(), frame)
    }

    /// Returns true while the transcript has the screen.
    pub(super) fn is_shown(&self) -> bool {
        self.surface.is_some()
    }

    /// Returns the page that is being read.
    pub(super) fn page(&mut self) -> Option<&mut PageRead<'a>> {
        self.page.as_mut()
    }

    /// Takes the files of which the user wants to open the first that exists.
    pub(super) fn take_places(&mut self) -> Option<Vec<FilePlace>> {
        self.places.take()
    }

    /// Shows a message until the next key.
    pub(super) fn say(&mut self, message: String) {
        self.pager.say(message);
    }

    /// Sets a new size of the screen, which becomes empty.
    pub(super) fn resize(&mut self, size: (usize, usize)) {
        self.pager.resize((size.0 - 1, size.1));
        if let Some(surface) = &mut self.surface {
            *surface = Surface::new(size, surface.palette().clone(), Narrowing::Cuts);
            surface.send(ERASE);
        }
    }
}

impl View<'_> {
    /// Handles a key for the transcript; returns the key if the conversation has the screen.
    pub(super) fn press_in_transcript(&mut self, key: KeyPress) -> Option<KeyPress> {
        let Some(transcript) = &mut self.transcript else {
            if key != KeyPress::Transcript {
                return Some(key);
            }
            let pager = Pager::new(self.reading.marks, (self.size.0 - 1, self.size.1));
            let (page, surface, places, pending) = (None, None, None, String::new());
            self.transcript = Some(Transcript { pager, page, surface, places, pending });
            self.read_next_page();
            return None;
        };
        match transcript.pager.press(key) {
            PagerStep::Open => {}
            PagerStep::Close => drop(self.close_transcript()),
            PagerStep::Copy(text) => transcript.pending.push_str(&clipboard_sequence(&text)),
            PagerStep::OpenFile(places) => transcript.places = Some(places),
        }
        self.read_next_page();
        None
    }

    /// Handles a page of the transcript.
    pub(super) fn take_page(&mut self, page: Result<TranscriptPage, SessionsError>) {
        let Some(transcript) = &mut self.transcript else { return };
        transcript.page = None;
        transcript.pager.take(page.map_err(|error| error.to_string()));
        self.read_next_page();
    }

    /// Handles an event of the conversation behind the transcript.
    pub(super) fn tell_transcript(&mut self, event: &Event) {
        let is_recorded = matches!(
            event,
            Event::CallMoved { .. }
                | Event::CallsFinished(_)
                | Event::PromptEnded(_)
                | Event::PromptStarted
        );
        if let Some(transcript) = self.transcript.as_mut().filter(|_| is_recorded) {
            transcript.pager.changed();
            self.read_next_page();
        }
    }

    fn read_next_page(&mut self) {
        let Some(transcript) = &mut self.transcript else { return };
        if transcript.page.is_none() {
            transcript.page = transcript.pager.wanted().map(|from| (self.reading.read_page)(from));
        }
    }

    /// Returns the bytes that show the transcript.
    pub(super) fn show_transcript(&mut self) -> Vec<u8> {
        let Some(transcript) = &mut self.transcript else { return Vec::new() };
        let note = self.dialog.as_ref().map(|_| "! a question waits · Esc goes back to it");
        let mut frame = transcript.pager.frame(note);
        if self.screen.palette().has_links() {
            self.place_links.link(&mut frame.rows, self.size.0 - 1);
        }
        let bytes = transcript.show(self.size, &mut self.screen, frame);
        // The rows may need further pages.
        self.read_next_page();
        bytes
    }

    /// Shows the conversation again; returns false if it has the screen.
    pub(super) fn close_transcript(&mut self) -> bool {
        self.hide_transcript();
        self.transcript.take().is_some()
    }

    /// Shows the conversation again, with the live rows at its end.
    pub(super) fn hide_transcript(&mut self) {
        let transcript = self.transcript.as_mut();
        if transcript.and_then(|transcript| transcript.surface.take()).is_some() {
            self.screen.show_again(self.size);
        }
    }
}

#[cfg(test)]
mod tests;
