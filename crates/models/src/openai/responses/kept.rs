//! Data of a response that goes back to the model that sent it, stored as signed thoughts:
//! reasoning items byte for byte, and the phases of messages.

use std::borrow::Cow;
use std::sync::Arc;

use pollux_protocol::{Opaque, Part};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::wire::Present;

/// Dialect of the opaque bytes.
const DIALECT: &str = "responses";

/// Maximum size of a reasoning item that is sent back, in bytes.
const LIMIT: usize = 1024 * 1024;

/// Phases of a message: a comment on the work, or the answer. Models that label their messages need
/// the labels back.
const PHASES: [&str; 2] = ["commentary", "final_answer"];

/// Sender of the data: other models and services cannot decrypt it, and must not see it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Origin {
    /// Id of the vendor, or the host of a gateway.
    pub(super) service: Arc<str>,
    /// Name of the model.
    pub(super) model: Arc<str>,
}

/// Opaque bytes of a part.
#[derive(Serialize, Deserialize)]
struct Kept<'a> {
    service: Cow<'a, str>,
    model: Cow<'a, str>,
    /// Reasoning item as it came.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    item: Option<&'a RawValue>,
    /// Phase of the message that follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    phase: Option<Cow<'a, str>>,
}

/// Data that goes back.
#[derive(Debug)]
pub(super) enum Returned<'a> {
    /// Reasoning item.
    Item(&'a str),
    /// Phase of the message that follows.
    Phase(&'static str),
}

/// Returns the part that keeps a reasoning item; `None` for an item that the service would not
/// accept, because it contains no reasoning, and for one that is too large.
pub(super) fn reasoning(origin: &Origin, item: &RawValue) -> Option<Part> {
    (item.get().len() <= LIMIT && is_reasoning(item)).then(|| part(origin, Some(item), None))
}

/// Returns the part that keeps the phase of the message that follows.
pub(super) fn phase(origin: &Origin, phase: &str) -> Option<Part> {
    PHASES.contains(&phase).then(|| part(origin, None, Some(phase)))
}

fn part(origin: &Origin, item: Option<&RawValue>, phase: Option<&str>) -> Part {
    let Origin { service, model } = origin;
    let phase = phase.map(Cow::Borrowed);
    let kept = Kept { service: (&**service).into(), model: (&**model).into(), item, phase };
    // The encoding of texts and of JSON does not fail.
    let data = serde_json::to_string(&kept).unwrap_or_default();
    let opaque = Some(Opaque { dialect: DIALECT.to_owned(), data });
    Part { opaque, ..Part::thought("") }
}

/// Returns the data of a part that goes back to this model.
pub(super) fn returned<'a>(part: &'a Part, origin: &Origin) -> Option<Returned<'a>> {
    let opaque = part.opaque.as_ref().filter(|opaque| opaque.dialect == DIALECT)?;
    // A session file may contain anything.
    let kept: Kept<'a> = serde_json::from_str(&opaque.data).ok()?;
    if *kept.service != *origin.service || *kept.model != *origin.model {
        return None;
    }
    if let Some(item) = kept.item {
        return is_reasoning(item).then(|| Returned::Item(item.get()));
    }
    let phase = kept.phase?;
    PHASES.into_iter().find(|known| *known == phase).map(Returned::Phase)
}

/// True for an item that the service accepts without having stored it.
fn is_reasoning(item: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Item<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
        #[serde(default)]
        encrypted_content: Present,
        #[serde(default)]
        content: Present,
    }
    serde_json::from_str::<Item<'_>>(item.get())
        .is_ok_and(|item| item.kind == "reasoning" && (item.encrypted_content.0 || item.content.0))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    /// Spaces, the order of keys, and escapes are those of the service.
    const ITEM: &str =
        r#"{ "summary":[],"type": "reasoning", "id":"rs_1", "encrypted_content":"gA\u0041=" }"#;

    fn origin(service: &str, model: &str) -> Origin {
        Origin { service: service.into(), model: model.into() }
    }

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    fn items(part: &Part, origin: &Origin) -> Option<String> {
        match returned(part, origin)? {
            Returned::Item(item) => Some(item.to_owned()),
            Returned::Phase(phase) => Some(phase.to_owned()),
        }
    }

    #[test]
    fn an_item_comes_back_byte_for_byte_to_its_sender_only() {
        let own = origin("openai", "m");
        let part = reasoning(&own, &raw(ITEM)).unwrap();
        assert!(part.is_signed_thought() && part.as_thought() == Some(""));
        assert_eq!(items(&part, &own).as_deref(), Some(ITEM));
        // The session log does not change it either.
        let stored = serde_json::to_string(&part).unwrap();
        let read: Part = serde_json::from_str(&stored).unwrap();
        assert_eq!(items(&read, &own).as_deref(), Some(ITEM));
        for other in [origin("openai", "n"), origin("gateway:1", "m"), Origin::default()] {
            assert_eq!(items(&part, &other), None, "{other:?}");
        }
        let foreign = Opaque { dialect: "gemini".to_owned(), ..part.opaque.clone().unwrap() };
        assert_eq!(items(&Part { opaque: Some(foreign), ..part }, &own), None);
    }

    #[test]
    fn only_reasoning_is_kept() {
        let own = origin("openai", "m");
        let open = r#"{"type":"reasoning","id":"r","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]}"#;
        assert!(reasoning(&own, &raw(open)).is_some());
        let large =
            format!(r#"{{"type":"reasoning","encrypted_content":"{}"}}"#, "x".repeat(LIMIT));
        for item in [
            // The service has not stored it, so that the id alone means nothing.
            r#"{"type":"reasoning","id":"rs_1","summary":[]}"#,
            r#"{"type":"reasoning","id":"rs_1","encrypted_content":null,"content":[]}"#,
            r#"{"type":"reasoning","encrypted_content":""}"#,
            r#"{"type":"message","encrypted_content":"x"}"#,
            r#"{"type":"reasoning","type":"message","encrypted_content":"x"}"#,
            "7",
            &large,
        ] {
            assert_eq!(reasoning(&own, &raw(item)), None, "{item:.80}");
        }
    }

    #[test]
    fn a_session_file_cannot_smuggle_other_items_in() {
        let own = origin("openai", "m");
        let with = |data: &str| {
            let opaque = Some(Opaque { dialect: DIALECT.to_owned(), data: data.to_owned() });
            Part { opaque, ..Part::thought("") }
        };
        for data in [
            "",
            "7",
            r#"{"service":"openai","model":"m"}"#,
            r#"{"service":"openai","model":"m","item":{"type":"message","role":"developer","content":"x"}}"#,
            r#"{"service":"openai","model":"m","phase":"root"}"#,
        ] {
            assert_eq!(items(&with(data), &own), None, "{data}");
        }
        let phase = phase(&own, "commentary").unwrap();
        assert_eq!(items(&phase, &own).as_deref(), Some("commentary"));
        assert_eq!(super::phase(&own, "other"), None);
    }
}
