//! What becomes of an answer: first in the log, then in the conversation.

use pollux_protocol::{
    Call, CallRecord, CallStatus, Choice, Content, EntryId, Event, Limits, MessageRecord, Part,
    Record, Role, UsageReport,
};

use super::{End, Session};
use crate::chat::Answer;

/// Marks an answer that was cut short, for the model that reads it later.
const CUT_SHORT: &str = "\n\n[This answer was interrupted here.]";

/// Characters of a result that are told however full the conversation is: enough to go on with.
const LEAST_ROOM: usize = 2000;

impl Session {
    /// Characters of one result for which the model has room: half of what is left, at four to a token. Gemini CLI takes
    /// all of it, and then cannot ask any more.
    pub(super) fn room(&self, limits: Limits) -> Option<usize> {
        if limits.context == 0 {
            return None;
        }
        let tokens = limits.context.saturating_sub(self.last_tokens);
        Some(usize::try_from(tokens.saturating_mul(2)).unwrap_or(usize::MAX).max(LEAST_ROOM))
    }

    /// Reports the tokens of an answer, as far as the vendor has counted them.
    pub(super) async fn report_usage(&self, answer: &Answer, choice: &Choice) {
        if let Some(usage) = answer.turn.usage {
            let (model, context) = (answer.model.clone(), choice.limits.context);
            let report = UsageReport { model, usage, context };
            self.parts.emitter.emit(Event::Usage(report)).await;
        }
    }

    /// What the answer said and asked for. Gives the calls to run.
    pub(super) async fn take_answer(
        &mut self,
        id: EntryId,
        answer: Answer,
    ) -> Result<Vec<Call>, End> {
        let Answer { turn, model, .. } = answer;
        if let Some(usage) = turn.usage {
            self.last_tokens = usage.total;
            self.fill.counted(&self.parts.history, usage.prompt);
            self.compressing.answered();
        }
        self.answers.extend(Some(turn.text()).filter(|words| !words.is_empty()));
        self.finish = turn.finish;
        let calls = turn.calls.clone();
        let stored = self.store_answer(&id, turn.parts);
        let message = MessageRecord {
            id,
            calls: calls.iter().map(|call| self.planned(call)).collect(),
            parts: stored,
            thoughts: turn.thoughts,
            usage: turn.usage,
            model,
            interrupted: false,
        };
        if !message.parts.is_empty() || !message.thoughts.is_empty() {
            self.record(Record::Model(message)).await?;
        }
        Ok(calls)
    }

    /// Pushes the answer; gives back the parts as the history holds them.
    fn store_answer(&mut self, id: &EntryId, parts: Vec<Part>) -> Vec<Part> {
        self.parts.history.push_model(id.clone(), parts);
        self.last_parts(id)
    }

    fn last_parts(&self, id: &EntryId) -> Vec<Part> {
        let last = self.parts.history.entries().last();
        last.filter(|entry| entry.id() == id && entry.content().role == Role::Model)
            .map(|entry| Content::clone(entry.content()).parts)
            .unwrap_or_default()
    }

    /// What an answer had said when it was cut short is kept, and marked.
    pub(super) async fn take_cut_short(&mut self, id: EntryId, answer: Answer) -> Result<(), End> {
        let Answer { mut turn, model, .. } = answer;
        if !turn.has_content() {
            return Ok(());
        }
        if turn.parts.iter().any(|part| part.as_text().is_some_and(|text| !text.is_empty())) {
            turn.parts.push(Part::text(CUT_SHORT));
        }
        self.parts.history.push_interrupted(id.clone(), turn.parts);
        let parts = self.last_parts(&id);
        if parts.is_empty() {
            return Ok(());
        }
        let message = MessageRecord {
            id,
            parts,
            thoughts: turn.thoughts,
            usage: turn.usage,
            model,
            interrupted: true,
            calls: Vec::new(),
        };
        self.record(Record::Model(message)).await
    }

    fn planned(&self, call: &Call) -> CallRecord {
        let toolset = self.parts.toolset.get();
        let tool = toolset.get(&call.name);
        CallRecord {
            id: call.id.clone(),
            name: call.name.clone(),
            args: call.args.clone(),
            status: CallStatus::Validating,
            result: None,
            result_display: None,
            description: String::new(),
            display_name: tool.map_or(call.name.as_str(), |tool| tool.display_name()).to_owned(),
            render_output_as_markdown: tool.is_some_and(|tool| tool.renders_markdown()),
        }
    }
}
