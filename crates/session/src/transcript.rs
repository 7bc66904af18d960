//! Transcript of a session file, read page by page.
//!
//! A scan of the file finds the live messages and keeps only their locations; a page then reads
//! only its own messages. Messages are live by the rules of [`reader`](crate::reader), so a
//! transcript never shows a message that was taken back or replaced.

use std::io::{self, Read, Seek};
use std::path::PathBuf;

use pollux_protocol::{
    Body, CUT_SHORT, CallId, CallRecord, CallStatus, Compression, Display, Effects, EntryId, Part,
    Severity, Thought, TranscriptAnswer, TranscriptFrom, TranscriptItem, TranscriptPage,
    TranscriptPosition,
};

use crate::layout::{
    HOOK_CONTEXT, INTERRUPTED, INTERRUPTED_RUNNING, SESSION_CONTEXT, interrupted, words,
};
use crate::reader::{LastLine, Living, Scan, load};
use crate::rebuild::{StartedCall, take_finished};
use crate::stored::{StoredCall, StoredMessage};

#[cfg(test)]
mod tests;

/// Maximum number of bytes of the messages of one page. A page with a larger message has no other.
const PAGE_BYTES: usize = 4 << 20;

/// Prefix of the message with which Gemini CLI replaces a compressed conversation.
const SNAPSHOT: &str = "<state_snapshot>";

/// Reader of the transcript of one session file, which may grow between two pages.
#[derive(Debug, Default)]
pub struct Transcript {
    scan: Scan,
    /// Offset behind the last line that was scanned.
    scanned: u64,
}

impl Transcript {
    /// Reads a page with the items of at most `count` messages from the file. `source` must always
    /// be the same file.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn page(
        &mut self,
        source: &mut (impl Read + Seek),
        from: TranscriptFrom,
        count: usize,
    ) -> io::Result<TranscriptPage> {
        match self.scan.read_lines(source, self.scanned, LastLine::MayGrow) {
            Ok(scanned) => self.scanned = scanned,
            Err(error) => {
                // A part of the lines may have been scanned, and no line may be scanned twice.
                *self = Self::default();
                return Err(error);
            }
        }
        let total = self.scan.messages.len();
        let place = |position: TranscriptPosition| position.messages().min(total);
        let (is_forward, start) = match from {
            TranscriptFrom::Start => (true, 0),
            TranscriptFrom::End => (false, total),
            TranscriptFrom::After(position) => (true, place(position)),
            TranscriptFrom::Before(position) => (false, place(position)),
        };
        let (mut first, mut end, mut bytes) = (start, start, 0);
        let mut shown: Vec<Vec<TranscriptItem>> = Vec::new();
        while shown.len() < count {
            let next = if is_forward { Some(end) } else { first.checked_sub(1) };
            let Some(index) = next else { break };
            let Some((_, living)) = self.scan.messages.get_index(index) else { break };
            let size = living.span.length;
            if !shown.is_empty() && bytes + size > PAGE_BYTES {
                break;
            }
            let items = self.items(source, index)?;
            if !items.is_empty() {
                bytes += size;
                shown.push(items);
            }
            (first, end) = (first.min(index), end.max(index + 1));
        }
        if !is_forward {
            shown.reverse();
        }
        Ok(TranscriptPage {
            items: shown.into_iter().flatten().collect(),
            before: (first > 0).then(|| TranscriptPosition::new(first)),
            after: (end < total).then(|| TranscriptPosition::new(end)),
        })
    }

    /// Returns the items of a message, and those of the compressions that follow it.
    fn items(
        &self,
        source: &mut (impl Read + Seek),
        index: usize,
    ) -> io::Result<Vec<TranscriptItem>> {
        let Some((id, living)) = self.scan.messages.get_index(index) else {
            return Ok(Vec::new());
        };
        let text = load(source, living.span)?;
        // A damaged message was reported when the session was resumed.
        let message = text.as_deref().and_then(StoredMessage::parse);
        let item = match message {
            Some(message) if message.kind == "user" => user(message),
            Some(message) if message.kind == "gemini" => {
                // The calls of the last message are running if this process has recorded it.
                let is_last = index + 1 == self.scan.messages.len();
                let opened = self.scan.opened_at;
                let is_new = opened.is_some_and(|opened| living.span.offset > opened);
                answer(source, message, living, is_last && is_new)?
            }
            message => message.as_ref().and_then(notice),
        };
        let mut items = Vec::from_iter(item);
        let follows = |after: &Option<String>| after.as_ref() == Some(id);
        for recorded in self.scan.compressions.iter().filter(|found| follows(&found.after)) {
            let stored = load(source, recorded.span)?;
            let stored = stored.and_then(|text| serde_json::from_str::<Compression>(&text).ok());
            // Without a summary only old results were shortened.
            items.extend(stored.and_then(|Compression { summary, tokens, .. }| {
                let summary = summary?.words;
                Some(TranscriptItem::Compressed { summary, tokens })
            }));
        }
        Ok(items)
    }
}

fn notice(message: &StoredMessage) -> Option<TranscriptItem> {
    let severity = match message.kind.as_str() {
        "info" => Severity::Info,
        "warning" => Severity::Warning,
        "error" => Severity::Error,
        _ => return None,
    };
    Some(TranscriptItem::Notice { severity, text: message.text() })
}

/// Returns a message of the user's side as the user typed it; `None` if a program wrote it.
pub(crate) fn user(mut message: StoredMessage) -> Option<TranscriptItem> {
    if message.extra.hidden || message.id == EntryId::CONTEXT {
        return None;
    }
    let mut parts = message.take_typed();
    let has_results =
        message.extra.with_results || message.parts.iter().any(|part| part.as_response().is_some());
    if parts.is_empty() {
        let text = words(&message.parts);
        let begins = |prefix: &&str| text.trim_start().starts_with(prefix);
        if begins(&SNAPSHOT) {
            return Some(TranscriptItem::Compressed { summary: message.text(), tokens: None });
        }
        let is_context = [SESSION_CONTEXT, HOOK_CONTEXT].iter().any(begins);
        if has_results || (is_context && !message.extra.said) {
            return None;
        }
        parts = message.parts.into_iter().filter(is_content).collect();
    } else if !has_results {
        let media = |part: &Part| matches!(part.body, Body::Inline(_) | Body::File(_));
        parts.extend(message.parts.into_iter().filter(media));
    }
    let is_blank = |part: &Part| part.as_text().is_some_and(|text| text.trim().is_empty());
    (!parts.iter().all(is_blank))
        .then(|| TranscriptItem::User { id: EntryId::new(message.id), parts })
}

/// Returns an answer of the model; `None` if it has no content.
fn answer(
    source: &mut (impl Read + Seek),
    mut message: StoredMessage,
    living: &Living,
    is_running: bool,
) -> io::Result<Option<TranscriptItem>> {
    let mut started = Vec::<StartedCall>::new();
    for span in &living.started {
        let text = load(source, *span)?;
        started.extend(text.and_then(|text| serde_json::from_str(&text).ok()));
    }
    if !message.calls.iter().all(StoredCall::is_final) {
        let mut finished = Vec::new();
        for span in &living.finished {
            finished.extend(load(source, *span)?.as_deref().and_then(StoredCall::parse));
        }
        take_finished(&mut message.calls, finished);
    }
    let mut thoughts = message.take_thoughts();
    if thoughts.is_empty() {
        thoughts.extend(message.parts.iter().filter_map(Part::as_thought).map(Thought::parse));
    }
    let mut calls = std::mem::take(&mut message.calls);
    let requested = message.parts.iter().filter_map(Part::as_call);
    let is_recorded = |id: &str, name: &str| {
        calls.iter().any(|call| call.id == id || (id.is_empty() && call.name == name))
    };
    let unrecorded: Vec<StoredCall> = requested
        .filter(|call| !is_recorded(&call.id, &call.name))
        .map(|call| StoredCall::requested(&call.id, &call.name, call.args.clone()))
        .collect();
    calls.extend(unrecorded);
    let to_record = |(place, mut call): (usize, StoredCall)| {
        let started = started.iter().find(|started| started.call_id == call.id);
        if call.id.is_empty() {
            call.id = format!("{}_{place}", message.id);
        }
        call_record(call, started, is_running)
    };
    let calls: Vec<CallRecord> = calls.into_iter().enumerate().map(to_record).collect();
    let mut parts: Vec<Part> = message.parts.into_iter().filter(is_content).collect();
    if message.extra.interrupted && parts.last().and_then(Part::as_text) == Some(CUT_SHORT) {
        parts.pop();
    }
    if thoughts.is_empty() && parts.is_empty() && calls.is_empty() {
        return Ok(None);
    }
    Ok(Some(TranscriptItem::Answer(TranscriptAnswer {
        id: EntryId::new(message.id),
        model: message.model.unwrap_or_default(),
        thoughts,
        parts,
        interrupted: message.extra.interrupted,
        calls,
    })))
}

/// True for a part of a message that is shown as its content.
fn is_content(part: &Part) -> bool {
    let is_shown = !matches!(part.body, Body::Call(_) | Body::Response(_));
    is_shown && !part.thought && !part.is_empty()
}

/// Returns a call for display. A call that has not ended and is not running was interrupted.
fn call_record(
    mut call: StoredCall,
    started: Option<&StartedCall>,
    is_running: bool,
) -> CallRecord {
    let extra = call.take_extra();
    let display_name = call.take_shown("displayName");
    let mut record = CallRecord {
        status: call.final_status().unwrap_or(CallStatus::Cancelled),
        description: call.take_shown("description"),
        display_name: if display_name.is_empty() { call.name.clone() } else { display_name },
        result_display: call.take_display(),
        kind: extra.kind,
        locations: extra.locations.into_iter().map(PathBuf::from).collect(),
        render_output_as_markdown: call.is_markdown(),
        result: None,
        id: CallId::new(&*call.id),
        name: call.name.clone(),
        args: std::mem::take(&mut call.args),
    };
    if let Some(started) = started {
        if record.description.is_empty() {
            record.description.clone_from(&started.description);
        }
        if record.locations.is_empty() {
            record.locations = started.effects.as_ref().map(Effects::locations).unwrap_or_default();
        }
    }
    if call.is_final() {
        record.result = Some(call.result).filter(|result| !result.is_empty());
    } else if is_running {
        let waiting = call.status.unwrap_or(CallStatus::Validating);
        record.status = if started.is_some() { CallStatus::Executing } else { waiting };
    } else {
        let reason = if started.is_some() { INTERRUPTED_RUNNING } else { INTERRUPTED };
        record.result_display.get_or_insert_with(|| Display::Text(reason.to_owned()));
        record.result = Some(vec![interrupted(&call.id, &call.name, reason)]);
    }
    record
}
