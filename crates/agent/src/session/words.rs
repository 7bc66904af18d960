//! What is said goes into the log first, and then into the conversation.

use pollux_protocol::{EntryId, Part, Record};

use super::{End, Session};
use crate::context::CONTEXT_ENTRY_ID;

impl Session {
    /// A conversation begins with the context of this place.
    pub(super) async fn open_context(&mut self) -> Result<(), End> {
        let id = EntryId::new(CONTEXT_ENTRY_ID);
        // An imported conversation comes without it.
        if !self.parts.history.entries().iter().any(|entry| *entry.id() == id) {
            let context = vec![Part::text((self.parts.context)().render())];
            self.record(Record::Context { id: id.clone(), parts: context.clone() }).await?;
            self.parts.history.push_user(id, context);
        }
        Ok(())
    }

    /// The person says something: first in the log, then in the conversation.
    pub(super) async fn say(
        &mut self,
        parts: Vec<Part>,
        display: Option<String>,
    ) -> Result<(), End> {
        let id = self.new_id();
        self.record(Record::User { id: id.clone(), parts: parts.clone(), display }).await?;
        self.parts.history.push_user(id, parts);
        Ok(())
    }

    pub(super) async fn record(&self, record: Record) -> Result<(), End> {
        Ok(self.parts.emitter.record(record).await?)
    }

    pub(super) fn new_id(&self) -> EntryId {
        EntryId::new((self.parts.new_id)())
    }
}
