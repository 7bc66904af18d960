//! Reader that scans a session file from the first line to the last and finds the messages that are
//! live at its end.
//!
//! The scan keeps only the locations of the live messages and of the notes about their calls; the
//! contents are read again when they are needed. A gigabyte of history before the last checkpoint
//! therefore costs hardly more memory than the checkpoint itself.
//!
//! Lines are recognised in this order: `$rewindTo`, a string `id` (a message), `$set`, `$pollux`,
//! the header. Other lines are skipped; lines that are not JSON are skipped and reported.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::layout::{SubagentLine, words};
use crate::source::{Span, read_span};
use crate::stored::StoredMessage;

#[cfg(test)]
mod tests;

/// Maximum length of a line in bytes; longer lines are skipped as damaged.
const LONGEST_LINE: u64 = 256 << 20;

/// Maximum number of damaged lines that are reported one by one.
const NAMED_DAMAGE: usize = 20;

/// Maximum number of bytes of the first user message that are kept for the title.
const TITLE_BYTES: usize = 2048;

/// Live message, and Pollux's later notes about its calls.
#[derive(Debug, Clone)]
pub(crate) struct Living {
    /// Location of the message itself.
    pub(crate) span: Span,
    /// Calls that ended before their siblings.
    pub(crate) finished: Vec<Span>,
    /// Calls that started to run, with the effects that they declared.
    pub(crate) started: Vec<Span>,
    /// Turn in which the results were sent to the model.
    pub(crate) responses: Option<Span>,
    /// True if the message makes the session resumable; known only in a survey.
    is_resumable: bool,
}

impl Living {
    fn has_notes(&self) -> bool {
        self.responses.is_some() || !self.finished.is_empty() || !self.started.is_empty()
    }
}

/// Compression in a file.
#[derive(Debug, Clone)]
pub(crate) struct RecordedCompression {
    pub(crate) span: Span,
    /// Id of the last message before the compression.
    pub(crate) after: Option<String>,
}

/// Metadata of the session as a whole.
#[derive(Debug, Clone, Default)]
pub(crate) struct Metadata {
    pub(crate) session_id: Option<String>,
    pub(crate) project_hash: Option<String>,
    pub(crate) start_time: Option<String>,
    pub(crate) last_updated: Option<String>,
    pub(crate) summary: Option<String>,
    pub(crate) kind: Option<String>,
    /// Name of the subagent whose session it is.
    pub(crate) agent: Option<String>,
}

impl Metadata {
    pub(crate) fn is_known(&self) -> bool {
        self.session_id.is_some() && self.project_hash.is_some()
    }
}

/// State of a last line without a line feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastLine {
    /// The line is as long as it will be.
    Complete,
    /// The line is being written and is read later.
    MayGrow,
}

/// Live messages at the end of a file, or of the part of it that was read, with the metadata.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub(crate) metadata: Metadata,
    pub(crate) messages: IndexMap<String, Living>,
    /// Messages that a checkpoint did not list. When Gemini CLI opens a file again, it lists first
    /// the context alone, and immediately afterwards the messages; the notes about their calls stay
    /// valid.
    former: IndexMap<String, Living>,
    /// Reports about skipped lines, for the user.
    pub(crate) damage: Vec<String>,
    damaged_lines: usize,
    line: usize,
    last_answer: Option<String>,
    /// Compressions that are in effect, in order.
    pub(crate) compressions: Vec<RecordedCompression>,
    /// Process that opened the file last.
    pub(crate) process: Option<u32>,
    /// Offset of the line with which this process opened the file.
    pub(crate) opened_at: Option<u64>,
    /// True if the content of the messages is examined during the scan.
    surveys: bool,
    /// Beginning of the first user message; known only in a survey.
    pub(crate) first_words: Option<String>,
}

/// Any line, with the keys that can occur in it.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(rename = "$rewindTo", borrow, default)]
    rewind_to: Option<&'a RawValue>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(rename = "type", borrow, default)]
    kind: Option<&'a RawValue>,
    #[serde(rename = "$set", borrow, default)]
    set: Option<&'a RawValue>,
    #[serde(rename = "$pollux", borrow, default)]
    own: Option<&'a RawValue>,
    #[serde(rename = "sessionId", borrow, default)]
    session_id: Option<&'a RawValue>,
    #[serde(rename = "projectHash", borrow, default)]
    project_hash: Option<&'a RawValue>,
}

/// Header, or the changes of it in `$set`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update<'a> {
    #[serde(borrow, default)]
    session_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    project_hash: Option<&'a RawValue>,
    #[serde(borrow, default)]
    start_time: Option<&'a RawValue>,
    #[serde(borrow, default)]
    last_updated: Option<&'a RawValue>,
    #[serde(borrow, default)]
    summary: Option<&'a RawValue>,
    #[serde(borrow, default)]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    messages: Option<&'a RawValue>,
}

/// Line that only Pollux writes.
#[derive(Deserialize)]
struct Own<'a> {
    #[serde(borrow, default)]
    call: Option<&'a RawValue>,
    #[serde(borrow, default)]
    started: Option<&'a RawValue>,
    #[serde(borrow, default)]
    responses: Option<&'a RawValue>,
    #[serde(borrow, default)]
    compressed: Option<&'a RawValue>,
    #[serde(default)]
    uncompressed: Option<bool>,
    #[serde(default)]
    opened: Option<Opened>,
    #[serde(default)]
    subagent: Option<SubagentLine>,
}

#[derive(Deserialize)]
struct Opened {
    process: u32,
}

/// Message of a checkpoint, with the fields that identify it.
#[derive(Deserialize)]
struct Labels<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(rename = "type", borrow, default)]
    kind: Option<&'a RawValue>,
}

impl Scan {
    /// Creates a scan that also finds the title and the messages that make the session resumable.
    /// Costs more.
    pub(crate) fn survey() -> Self {
        Self { surveys: true, ..Self::default() }
    }

    /// Reads a whole file, from its beginning.
    pub(crate) fn read(&mut self, source: &mut (impl Read + Seek)) -> io::Result<()> {
        self.read_lines(source, 0, LastLine::Complete)?;
        if !self.metadata.is_known() {
            self.read_legacy(source)?;
        }
        Ok(())
    }

    /// Reads the lines from an offset on. Returns the offset behind the last of them.
    pub(crate) fn read_lines(
        &mut self,
        source: &mut (impl Read + Seek),
        mut offset: u64,
        last_line: LastLine,
    ) -> io::Result<u64> {
        source.seek(SeekFrom::Start(offset))?;
        let mut reader = BufReader::with_capacity(256 * 1024, source);
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line)? as u64;
            let is_incomplete = length < LONGEST_LINE && !line.ends_with(b"\n");
            if length == 0 || (is_incomplete && last_line == LastLine::MayGrow) {
                return Ok(offset);
            }
            self.line(&line, offset);
            offset += length;
            // One huge line must not hold its memory for the rest of the file.
            line.shrink_to(1 << 20);
        }
    }

    /// True if a live message makes the session resumable. Known only in a survey.
    pub(crate) fn is_resumable(&self) -> bool {
        self.messages.values().any(|message| message.is_resumable)
    }

    /// Processes one line, with or without its line end, that begins at `offset`.
    pub(crate) fn line(&mut self, bytes: &[u8], offset: u64) {
        self.line += 1;
        let Ok(text) = std::str::from_utf8(bytes) else {
            self.damaged("is not UTF-8");
            return;
        };
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return;
        }
        // A JSON array could be deserialised as the struct too.
        let parsed =
            if trimmed.starts_with('{') { serde_json::from_str(trimmed).ok() } else { None };
        match parsed {
            Some(line) => {
                let start = trimmed.as_ptr() as usize - bytes.as_ptr() as usize;
                self.record(&line, trimmed, offset + start as u64);
            }
            None => self.damaged("is incomplete or not valid JSON"),
        }
    }

    fn record(&mut self, line: &Line<'_>, text: &str, offset: u64) {
        if let Some(id) = line.rewind_to.and_then(string) {
            self.rewind(&id);
        } else if let Some(id) = line.id.and_then(string) {
            let span = Span { offset, length: text.len() };
            self.message(id, line.kind.and_then(string).as_deref(), span, text);
        } else if let Some(set) = line.set {
            self.update(set.get(), offset + place(set, text));
        } else if let Some(own) = line.own {
            self.own(own.get(), offset + place(own, text));
        } else if line.session_id.and_then(string).is_some()
            && line.project_hash.and_then(string).is_some()
        {
            self.update(text, offset);
        }
    }

    fn rewind(&mut self, id: &str) {
        // As in Gemini CLI: if the message does not exist, everything is removed.
        let index = self.messages.get_index_of(id).unwrap_or(0);
        self.messages.truncate(index);
    }

    fn message(&mut self, id: String, kind: Option<&str>, span: Span, text: &str) {
        let mut is_resumable = false;
        if self.surveys {
            let stored = StoredMessage::parse(text);
            is_resumable = stored.as_ref().is_some_and(StoredMessage::is_resumable);
            if let Some(mut stored) = stored
                && self.first_words.is_none()
                && is_resumable
                && kind == Some("user")
            {
                let typed = stored.take_typed();
                let mut first = if typed.is_empty() { stored.text() } else { words(&typed) };
                first.truncate(first.floor_char_boundary(TITLE_BYTES));
                self.first_words = Some(first);
            }
        }
        if kind == Some("gemini") {
            self.last_answer = Some(id.clone());
        }
        if let Some(old) = self.messages.get_mut(&id) {
            (old.span, old.is_resumable) = (span, is_resumable);
        } else {
            let (finished, started) = (Vec::new(), Vec::new());
            let living = Living { span, finished, started, responses: None, is_resumable };
            self.messages.insert(id, living);
        }
    }

    fn update(&mut self, text: &str, offset: u64) {
        if !text.starts_with('{') {
            return;
        }
        let Ok(update) = serde_json::from_str::<Update<'_>>(text) else {
            self.damaged("has invalid metadata");
            return;
        };
        if let Some(messages) = update.messages
            && let Ok(messages) = serde_json::from_str::<Vec<&RawValue>>(messages.get())
        {
            self.former.extend(self.messages.drain(..).filter(|(_, message)| message.has_notes()));
            for message in messages {
                let Ok(labels) = serde_json::from_str::<Labels<'_>>(message.get()) else {
                    continue;
                };
                let Some(id) = labels.id.and_then(string) else { continue };
                let place = offset + place(message, text);
                let span = Span { offset: place, length: message.get().len() };
                if let Some(known) = self.former.swap_remove(&id) {
                    self.messages.insert(id.clone(), known);
                }
                self.message(id, labels.kind.and_then(string).as_deref(), span, message.get());
            }
        }
        let metadata = &mut self.metadata;
        for (field, value) in [
            (&mut metadata.session_id, update.session_id),
            (&mut metadata.project_hash, update.project_hash),
            (&mut metadata.start_time, update.start_time),
            (&mut metadata.last_updated, update.last_updated),
            (&mut metadata.summary, update.summary),
            (&mut metadata.kind, update.kind),
        ] {
            if let Some(value) = value.and_then(string) {
                *field = Some(value);
            }
        }
    }

    fn own(&mut self, text: &str, offset: u64) {
        let Ok(own) = serde_json::from_str::<Own<'_>>(text) else { return };
        if let Some(opened) = own.opened {
            (self.process, self.opened_at) = (Some(opened.process), Some(offset));
        }
        if let Some(subagent) = own.subagent {
            self.metadata.agent = Some(subagent.agent);
        }
        let span =
            |raw: &RawValue| Span { offset: offset + place(raw, text), length: raw.get().len() };
        if let Some(compressed) = own.compressed {
            let after = self.messages.last().map(|(id, _)| id.clone());
            self.compressions.push(RecordedCompression { span: span(compressed), after });
        }
        if own.uncompressed == Some(true) {
            self.compressions.clear();
        }
        let answer = self.last_answer.as_ref().and_then(|id| self.messages.get_mut(id));
        let Some(answer) = answer else { return };
        if let Some(call) = own.call {
            answer.finished.push(span(call));
        }
        if let Some(started) = own.started {
            answer.started.push(span(started));
        }
        if let Some(responses) = own.responses {
            answer.responses = Some(span(responses));
        }
    }

    /// Reads the format of old versions: one JSON object, over many lines or on one line without a
    /// project.
    fn read_legacy(&mut self, source: &mut (impl Read + Seek)) -> io::Result<()> {
        source.seek(SeekFrom::Start(0))?;
        let mut bytes = Vec::new();
        source.take(LONGEST_LINE).read_to_end(&mut bytes)?;
        let Ok(text) = std::str::from_utf8(&bytes) else { return Ok(()) };
        let trimmed = text.trim();
        let known = trimmed.starts_with('{')
            && serde_json::from_str::<Line<'_>>(trimmed)
                .is_ok_and(|line| line.session_id.and_then(string).is_some());
        if known {
            *self = Self { surveys: self.surveys, ..Self::default() };
            self.update(trimmed, (trimmed.as_ptr() as usize - bytes.as_ptr() as usize) as u64);
        }
        Ok(())
    }

    fn damaged(&mut self, what: &str) {
        self.damaged_lines += 1;
        if self.damage.len() < NAMED_DAMAGE {
            self.damage.push(format!("line {} {what} and was skipped", self.line));
        } else {
            let more = self.damaged_lines - NAMED_DAMAGE + 1;
            self.damage[NAMED_DAMAGE - 1] = format!("{more} more lines were skipped");
        }
    }

    /// Reports a damaged message that is found only when the message is loaded.
    pub(crate) fn damaged_message(&mut self, id: &str) {
        if self.damage.len() < 2 * NAMED_DAMAGE {
            let id: String = id.chars().take(64).collect();
            self.damage.push(format!("message {id} could not be read and was skipped"));
        }
    }
}

/// Returns the value if it is a string.
fn string(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// Returns the offset of `raw` in the text that it was parsed from.
fn place(raw: &RawValue, text: &str) -> u64 {
    (raw.get().as_ptr() as usize - text.as_ptr() as usize) as u64
}

/// Reads one live message.
pub(crate) fn load(source: &mut (impl Read + Seek), span: Span) -> io::Result<Option<String>> {
    Ok(String::from_utf8(read_span(source, span)?).ok())
}
