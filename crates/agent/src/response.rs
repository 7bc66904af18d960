//! Conversion of a tool's output to parts for the model: one function response, and media in or
//! after it.

use pollux_protocol::{Body, Call, Part, ToolError, ToolOutput};
use serde_json::{Value, json};

/// Converts an output. If `media_in_responses` is true, the model accepts images and documents
/// inside the response. Otherwise they follow the response as separate parts.
pub(crate) fn convert(call: &Call, output: ToolOutput, media_in_responses: bool) -> Vec<Part> {
    if let Some(error) = &output.error {
        return vec![failure(call, error)];
    }
    let mut texts = Vec::new();
    let mut media = Vec::new();
    for part in output.content {
        match part.body {
            Body::Text(text) => texts.push(text),
            Body::Inline(_) | Body::File(_) => media.push(part),
            // A complete response in the output replaces everything else in the output.
            Body::Response(embedded) => {
                return vec![Part::response(call.id.as_str(), &call.name, embedded.response)];
            }
            Body::Call(_) | Body::Other(_) => {}
        }
    }
    let response = match (texts.is_empty(), media.len()) {
        (true, 0) => json!({}),
        (true, _) => json!({ "output": announce(&media) }),
        (false, _) => json!({ "output": texts.join("\n") }),
    };
    with_media(call, response, media, media_in_responses)
}

/// Returns the text of a response that contains only media.
fn announce(media: &[Part]) -> String {
    let played: Vec<&str> = media.iter().filter_map(played).collect();
    if played.is_empty() {
        return format!("Binary content provided ({} item(s)).", media.len());
    }
    format!("Binary content ({}) was read. It follows the results of the calls.", played.join(", "))
}

/// Returns the media type of audio and video.
fn played(part: &Part) -> Option<&str> {
    let Body::Inline(blob) = &part.body else { return None };
    let is_played = ["audio/", "video/"].iter().any(|kind| blob.mime_type.starts_with(kind));
    is_played.then_some(blob.mime_type.as_str())
}

fn with_media(call: &Call, response: Value, media: Vec<Part>, inside: bool) -> Vec<Part> {
    let mut part = Part::response(call.id.as_str(), &call.name, response);
    let mut siblings = Vec::new();
    for item in media {
        let nests = inside && matches!(&item.body, Body::Inline(blob) if nests(&blob.mime_type));
        match &mut part.body {
            Body::Response(response) if nests => response.parts.push(item),
            _ => siblings.push(item),
        }
    }
    siblings.insert(0, part);
    siblings
}

fn nests(mime_type: &str) -> bool {
    mime_type.starts_with("image/") || mime_type == "application/pdf"
}

/// Returns the response of a failed call.
pub(crate) fn failure(call: &Call, error: &ToolError) -> Part {
    Part::error(call.id.as_str(), &call.name, &error.message)
}

/// Returns the response of a call that the user stopped, with its output until then.
pub(crate) fn cancelled(call: &Call, reason: &str, so_far: Option<ToolOutput>) -> Vec<Part> {
    let mut parts = so_far.map_or_else(Vec::new, |output| convert(call, output, false));
    let message = format!("[Operation Cancelled] {reason}");
    match parts.first_mut().map(|part| &mut part.body) {
        Some(Body::Response(response)) => {
            if let Some(fields) = response.response.as_object_mut() {
                fields.insert("error".to_owned(), Value::String(message));
            }
            parts
        }
        _ => vec![Part::error(call.id.as_str(), &call.name, &message)],
    }
}

#[cfg(test)]
mod tests {
    use pollux_protocol::{CallId, ToolErrorKind};

    use super::*;

    fn call() -> Call {
        Call { id: CallId::new("c"), name: "t".into(), args: json!({}), prompt_id: "p".into() }
    }

    fn output(content: Vec<Part>) -> ToolOutput {
        ToolOutput { content, ..ToolOutput::default() }
    }

    fn json_of(parts: &[Part]) -> Value {
        serde_json::to_value(parts).unwrap()
    }

    #[test]
    fn texts_media_and_nothing() {
        let image = Part::inline("image/png", "AA==");
        let both = output(vec![Part::text("a"), image.clone(), Part::text("b")]);
        assert_eq!(
            json_of(&convert(&call(), both.clone(), false)),
            json!([{"functionResponse": {"id": "c", "name": "t", "response": {"output": "a\nb"}}},
                   {"inlineData": {"mimeType": "image/png", "data": "AA=="}}])
        );
        let nested = convert(&call(), both, true);
        assert_eq!(nested.len(), 1);
        assert_eq!(nested[0].as_response().unwrap().parts, vec![image.clone()]);
        let only = convert(&call(), output(vec![image]), false);
        assert_eq!(
            only[0].as_response().unwrap().response,
            json!({"output": "Binary content provided (1 item(s))."})
        );
        let sound = convert(&call(), output(vec![Part::inline("audio/wav", "AA==")]), true);
        let words = "Binary content (audio/wav) was read. It follows the results of the calls.";
        assert_eq!(sound[0].as_response().unwrap().response, json!({ "output": words }));
        assert_eq!(sound.len(), 2, "sound is no part of a response");
        assert_eq!(
            convert(&call(), output(vec![]), false)[0].as_response().unwrap().response,
            json!({})
        );
    }

    #[test]
    fn errors_and_cancellations() {
        let failed =
            ToolOutput::from(ToolError::new(ToolErrorKind::FileNotFound, "File not found: /x"));
        assert_eq!(
            convert(&call(), failed, false)[0].as_response().unwrap().response,
            json!({"error": "File not found: /x"})
        );
        let parts =
            cancelled(&call(), "User cancelled tool execution.", Some(ToolOutput::quiet("half")));
        assert_eq!(
            parts[0].as_response().unwrap().response,
            json!({"output": "half", "error": "[Operation Cancelled] User cancelled tool execution."})
        );
    }
}
