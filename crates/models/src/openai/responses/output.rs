//! Items of a response that is being received.
//!
//! An event refers to its item by index and by id. Some gateways use index 0 for all items, and
//! others use another id in each event, so that an item is found by its id, or else by its index.

use pollux_protocol::{ModelError, Part};
use serde_json::Value;

use super::super::calls::{self, MAX_ARGUMENTS, too_much};
use super::wire::WireItem;
use crate::call_arguments::arguments as arguments_of;
use crate::tool_names::Names;

/// Maximum number of items of a response.
const MAX_ITEMS: usize = 1024;

/// Kind of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Message,
    Call,
    Reasoning,
    /// Kind that is not used: tools of the service itself, for example.
    Other,
}

impl Kind {
    /// Returns the kind of this name.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "message" => Self::Message,
            "function_call" => Self::Call,
            "reasoning" => Self::Reasoning,
            _ => Self::Other,
        }
    }
}

/// Position of an event's item.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    pub(super) index: Option<u64>,
    pub(super) id: String,
}

/// Items that were received so far.
#[derive(Debug, Default)]
pub(super) struct Output {
    items: Vec<OpenItem>,
    /// Size of the arguments of all calls, in bytes.
    size: usize,
}

/// Item, as far as it was received.
#[derive(Debug)]
pub(super) struct OpenItem {
    pub(super) kind: Kind,
    place: Place,
    call_id: String,
    name: String,
    arguments: String,
    /// Number of bytes of its text that were reported.
    pub(super) reported: usize,
    pub(super) is_complete: bool,
    /// True if an event announced the item before its content.
    pub(super) is_announced: bool,
}

impl Output {
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Begins an item; an item that is repeated stays.
    ///
    /// # Errors
    /// [`Broken`](pollux_protocol::ModelErrorKind::Broken) if there are too many items.
    pub(super) fn begin(
        &mut self,
        place: Place,
        kind: Kind,
        wire: Option<&WireItem>,
    ) -> Result<&mut OpenItem, ModelError> {
        let is_repeated = |item: &OpenItem| {
            !item.is_complete
                && item.kind == kind
                && !place.id.is_empty()
                && item.place.id == place.id
        };
        if let Some(found) = self.items.iter().rposition(is_repeated) {
            return Ok(&mut self.items[found]);
        }
        if self.items.len() == MAX_ITEMS {
            return Err(too_much("more items"));
        }
        let text = |words: fn(&WireItem) -> &str| wire.map(words).unwrap_or_default().to_owned();
        self.items.push(OpenItem {
            kind,
            place,
            call_id: text(|wire| &wire.call_id.text),
            name: text(|wire| &wire.name.text),
            arguments: String::new(),
            reported: 0,
            is_complete: false,
            is_announced: wire.is_some(),
        });
        let last = self.items.len() - 1;
        Ok(&mut self.items[last])
    }

    /// Returns the open item of this kind that an event refers to, which it may begin.
    ///
    /// # Errors
    /// The errors of [`Self::begin`].
    pub(super) fn find(&mut self, place: Place, kind: Kind) -> Result<&mut OpenItem, ModelError> {
        let open = |item: &OpenItem| item.kind == kind && !item.is_complete;
        let by_id = |item: &OpenItem| !place.id.is_empty() && item.place.id == place.id;
        let by_index = |item: &OpenItem| place.index.is_none() || item.place.index == place.index;
        let items = &self.items;
        let found = items
            .iter()
            .rposition(|item| open(item) && by_id(item))
            .or_else(|| items.iter().rposition(|item| open(item) && by_index(item)));
        match found {
            Some(found) => Ok(&mut self.items[found]),
            None => self.begin(place, kind, None),
        }
    }

    /// Adds a piece of the arguments of a call.
    ///
    /// # Errors
    /// [`Broken`](pollux_protocol::ModelErrorKind::Broken) if the calls are too large.
    pub(super) fn argue(&mut self, place: Place, piece: &str) -> Result<(), ModelError> {
        self.size = self.size.saturating_add(piece.len());
        if self.size > MAX_ARGUMENTS {
            return Err(too_much("larger calls"));
        }
        self.find(place, Kind::Call)?.arguments.push_str(piece);
        Ok(())
    }

    /// Sets the arguments of a call that are complete.
    ///
    /// # Errors
    /// The errors of [`Self::find`].
    pub(super) fn set_arguments(&mut self, place: Place, whole: Value) -> Result<(), ModelError> {
        let call = self.find(place, Kind::Call)?;
        let whole = calls::words(Some(whole));
        if !whole.is_empty() {
            call.arguments = whole;
        }
        Ok(())
    }

    /// Completes the calls that the service has not completed, and returns them.
    pub(super) fn complete_calls(&mut self, names: &Names) -> Vec<Part> {
        let open =
            self.items.iter_mut().filter(|item| item.kind == Kind::Call && !item.is_complete);
        open.filter_map(|call| call.complete_call(None, names)).collect()
    }
}

impl OpenItem {
    /// Completes a call and returns it; `None` for a call without content.
    pub(super) fn complete_call(&mut self, wire: Option<&WireItem>, names: &Names) -> Option<Part> {
        self.is_complete = true;
        // The complete item counts, as far as it has a value.
        let newest = |last: Option<String>, first: &mut String| {
            let last = last.filter(|last| !last.is_empty());
            last.unwrap_or_else(|| std::mem::take(first))
        };
        let mut id = newest(wire.map(|wire| wire.call_id.text.clone()), &mut self.call_id);
        if id.is_empty() {
            id = std::mem::take(&mut self.place.id);
        }
        let name = newest(wire.map(|wire| wire.name.text.clone()), &mut self.name);
        let arguments = wire.map(|wire| calls::words(wire.arguments.clone()));
        let arguments = newest(arguments, &mut self.arguments);
        if name.is_empty() && arguments.is_empty() {
            return None;
        }
        Some(Part::call(id, names.own(name), arguments_of(&arguments)))
    }
}
