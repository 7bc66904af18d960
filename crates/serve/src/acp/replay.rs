//! Earlier conversation of a session, as updates for the client. Pure.

use agent_client_protocol_schema::v1::{
    AudioContent, ContentBlock, ContentChunk, ImageContent, SessionUpdate,
};
use pollux_protocol::{Body, Part, TranscriptAnswer, TranscriptItem};

use super::{calls, content};

/// Returns the updates that show an item of the transcript. Notices belong to the past.
pub(crate) fn updates(item: TranscriptItem) -> Vec<SessionUpdate> {
    match item {
        TranscriptItem::User { parts, .. } => {
            parts.iter().filter_map(chunk).map(SessionUpdate::UserMessageChunk).collect()
        }
        TranscriptItem::Answer(answer) => answered(&answer),
        TranscriptItem::Notice { .. } | TranscriptItem::Compressed { .. } => Vec::new(),
    }
}

fn answered(answer: &TranscriptAnswer) -> Vec<SessionUpdate> {
    let thoughts = answer.thoughts.iter().map(content::thought);
    let thoughts =
        thoughts.map(|thought| SessionUpdate::AgentThoughtChunk(content::chunk(thought)));
    let parts = answer.parts.iter().filter_map(chunk).map(SessionUpdate::AgentMessageChunk);
    let calls = answer.calls.iter().map(|call| SessionUpdate::ToolCall(calls::earlier(call)));
    thoughts.chain(parts).chain(calls).collect()
}

fn chunk(part: &Part) -> Option<ContentChunk> {
    match &part.body {
        Body::Text(text) if !text.is_empty() => Some(content::chunk(text.clone())),
        Body::Inline(blob) if blob.mime_type.starts_with("image/") => {
            let image = ImageContent::new(&*blob.data, &blob.mime_type);
            Some(ContentChunk::new(ContentBlock::Image(image)))
        }
        Body::Inline(blob) if blob.mime_type.starts_with("audio/") => {
            let audio = AudioContent::new(&*blob.data, &blob.mime_type);
            Some(ContentChunk::new(ContentBlock::Audio(audio)))
        }
        _ => None,
    }
}
