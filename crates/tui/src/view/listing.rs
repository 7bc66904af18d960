//! Lists in place of the input, whose entries are read while they are on the screen.

use std::time::{Duration, Instant};

use pollux_input::{ListAnswer, ListRead, ReadList};
use pollux_protocol::Event;

use super::View;
use crate::picker::{
    HelpPicker, ModelPicker, Picker, ServersPicker, SessionPicker, SettingsPicker,
};

/// Interval between two readings of the settings while their list is open: other programs change
/// them too.
const AGAIN: Duration = Duration::from_secs(1);

/// The access to what lists show.
pub(super) struct Listing<'a> {
    read: ReadList<'a>,
    /// Id of the session.
    session: String,
    /// Answer that is awaited.
    reading: Option<ListRead<'a>>,
    /// Time at which the entries of the open list are read again.
    again: Option<Instant>,
}

impl<'a> Listing<'a> {
    pub(super) fn new(read: ReadList<'a>, session: &str) -> Self {
        Self { read, session: session.to_owned(), reading: None, again: None }
    }

    /// Returns the answer that is awaited.
    pub(super) fn reading(&mut self) -> Option<&mut ListRead<'a>> {
        self.reading.as_mut()
    }

    /// Returns the time at which the entries of the open list are read again.
    pub(super) fn again(&self) -> Option<Instant> {
        self.again
    }
}

impl View<'_> {
    /// Opens the list that a typed line stands for; returns false if it stands for none.
    pub(super) fn open_list(&mut self, line: &str) -> bool {
        match line {
            "/theme" => self.open_themes(),
            "/resume" | "/chat" => {
                let picker = SessionPicker::new(&self.listing.session);
                self.show_list(Picker::Sessions(picker));
            }
            "/model" | "/model manage" => {
                let picker = ModelPicker::new(self.story.requested_model(), self.story.model());
                self.show_list(Picker::Models(picker));
            }
            "/settings" => self.show_list(Picker::Settings(Box::new(SettingsPicker::new()))),
            "/mcp" => self.show_list(Picker::Servers(ServersPicker::new())),
            "/help" | "/?" => {
                let picker = HelpPicker::new(&self.composer.commands(), &self.keyboard.keys);
                self.show_list(Picker::Help(picker));
            }
            _ => return false,
        }
        true
    }

    fn show_list(&mut self, picker: Picker) {
        (self.listing.reading, self.listing.again) = (None, None);
        self.picker = Some(picker);
        self.read_list();
    }

    /// Handles the answer to a request of the open list.
    pub(super) fn take_list(&mut self, answer: Result<ListAnswer, String>) {
        self.listing.reading = None;
        if let Some(picker) = &mut self.picker {
            picker.take(answer);
        }
        let is_followed = matches!(self.picker, Some(Picker::Settings(_)));
        self.listing.again = is_followed.then(|| Instant::now() + AGAIN);
        self.read_list();
    }

    /// Reads the entries of the open list again if it is time to.
    pub(super) fn follow_list(&mut self, now: Instant) {
        if self.listing.again.take_if(|again| *again <= now).is_some()
            && let Some(picker) = &mut self.picker
        {
            picker.changed();
            self.read_list();
        }
    }

    /// Reads the open list again if an event may have changed its entries.
    pub(super) fn tell_list(&mut self, event: &Event) {
        let may_change = matches!(
            event,
            Event::SettingsChanged { .. }
                | Event::CommandEnded(_)
                | Event::ToolsChanged
                | Event::CommandsChanged
        );
        if let Some(picker) = self.picker.as_mut().filter(|_| may_change) {
            picker.changed();
            self.read_list();
        }
    }

    /// Begins to read what the open list needs next.
    pub(super) fn read_list(&mut self) {
        let listing = &mut self.listing;
        match &mut self.picker {
            None => (listing.reading, listing.again) = (None, None),
            Some(picker) if listing.reading.is_none() => {
                listing.reading = picker.wanted().map(|request| (listing.read)(request));
            }
            Some(_) => {}
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
