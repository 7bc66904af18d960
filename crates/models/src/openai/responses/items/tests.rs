use pollux_protocol::{EntryId, History, Opaque, Part};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::*;
use crate::entry_cache::KEPT_FOR_REQUESTS;

const ITEM: &str = r#"{ "type":"reasoning", "id":"rs_1", "summary":[], "encrypted_content":"gA" }"#;

fn origin() -> Origin {
    Origin { service: "openai".into(), model: "m".into() }
}

fn shape() -> Shape {
    Shape { vision: true, documents: true, origin: Some(origin()) }
}

fn reasoning() -> Part {
    let item = RawValue::from_string(ITEM.to_owned()).unwrap();
    kept::reasoning(&origin(), &item).unwrap()
}

fn user(parts: Vec<Part>) -> Arc<HistoryEntry> {
    HistoryEntry::detached(Content::user(parts))
}

fn model(parts: Vec<Part>) -> Arc<HistoryEntry> {
    HistoryEntry::detached(Content::model(parts))
}

fn written(
    cache: &ItemsCache,
    entries: &[Arc<HistoryEntry>],
    shape: &Shape,
    forgotten: u64,
) -> String {
    let mut body = Body::default();
    body.text("[");
    cache.write(&mut body, entries, shape, forgotten).unwrap();
    body.text("]");
    String::from_utf8(body.finish().concat()).unwrap()
}

fn sent(entries: &[Arc<HistoryEntry>], shape: &Shape) -> Value {
    serde_json::from_str(&written(&ItemsCache::default(), entries, shape, 0)).unwrap()
}

fn conversation() -> Vec<Arc<HistoryEntry>> {
    vec![
        user(vec![Part::text("con"), Part::text("text")]),
        user(vec![Part::text("\"hi\"\n")]),
        model(vec![
            reasoning(),
            kept::phase(&origin(), "commentary").unwrap(),
            Part::text("Look:"),
            Part::call("a", "glob", json!({"pattern": "*"})),
            Part::call("b", "mcp_s_a.b", json!({})),
        ]),
        user(vec![Part::output("a", "glob", "x"), Part::error("b", "mcp_s_a.b", "no")]),
        model(vec![Part::text("Done.")]),
    ]
}

#[test]
fn a_conversation_becomes_items() {
    let items = sent(&conversation(), &shape());
    let other = items[5]["name"].as_str().unwrap();
    assert!(other != "mcp_s_a.b" && !other.contains('.'), "{other}");
    let call = |id: &str, name: &str, arguments: &str| json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments});
    let result = |id: &str, output: &str| json!({"type": "function_call_output", "call_id": id, "output": output});
    assert_eq!(
        items,
        json!([
            {"role": "user", "content": "context"},
            {"role": "user", "content": "\"hi\"\n"},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA"},
            {"role": "assistant", "content": "Look:", "phase": "commentary"},
            call("a", "glob", "{\"pattern\":\"*\"}"),
            call("b", other, "{}"),
            result("a", "x"),
            result("b", "Error: no"),
            {"role": "assistant", "content": "Done."},
        ])
    );
    assert_eq!(sent(&[], &shape()), json!([]));
    assert_eq!(sent(&[user(vec![]), model(vec![Part::thought("x")])], &shape()), json!([]));
}

#[test]
fn reasoning_goes_back_byte_for_byte_to_its_sender_only() {
    let entries = conversation();
    let cache = ItemsCache::default();
    assert!(written(&cache, &entries, &shape(), 0).contains(ITEM));
    for shape in [
        Shape { origin: None, ..shape() },
        Shape { origin: Some(Origin { model: "other".into(), ..origin() }), ..shape() },
        Shape { origin: Some(Origin { service: "gateway".into(), ..origin() }), ..shape() },
    ] {
        let text = written(&cache, &entries, &shape, 0);
        assert!(!text.contains("rs_1") && !text.contains("phase"), "{text}");
        assert!(text.contains("Look:") && text.contains("function_call"), "{text}");
    }
    // Reasoning that the service cannot decrypt is left out up to an entry.
    assert!(!written(&cache, &entries, &shape(), entries[2].serial()).contains("rs_1"));
    assert!(written(&cache, &entries, &shape(), entries[1].serial()).contains("rs_1"));
}

#[test]
fn data_of_other_vendors_stays_here() {
    let opaque = Some(Opaque { dialect: "gemini".to_owned(), data: "QUJD".to_owned() });
    let signed = Part { opaque, ..Part::call("c", "glob", json!({})) };
    let other = Opaque { dialect: "openai".to_owned(), data: "{\"reasoning\":\"x\"}".to_owned() };
    let thought = Part { opaque: Some(other), ..Part::thought("") };
    let entries = [model(vec![thought, Part::text("a"), signed])];
    let expected = json!([
        {"role": "assistant", "content": "a"},
        {"type": "function_call", "call_id": "c", "name": "glob", "arguments": "{}"},
    ]);
    assert_eq!(sent(&entries, &shape()), expected);
}

#[test]
fn media_in_messages_and_in_results() {
    let pdf = || Part::inline("application/pdf", "UERG");
    let mut response = Part::output("a", "read_file", "Two files.");
    let PartBody::Response(inner) = &mut response.body else { panic!() };
    inner.parts = vec![Part::inline("image/png", "AA=="), pdf()];
    let entries = [
        user(vec![Part::text("see"), Part::inline("image/png", "AA=="), Part::text("and"), pdf()]),
        model(vec![Part::call("a", "read_file", json!({})), Part::inline("image/png", "AA==")]),
        user(vec![response]),
    ];
    let image = json!({"type": "input_image", "detail": "auto",
        "image_url": "data:image/png;base64,AA=="});
    let document = json!({"type": "input_file", "filename": "document.pdf",
        "file_data": "data:application/pdf;base64,UERG"});
    let text = |text: &str| json!({"type": "input_text", "text": text});
    let items = sent(&entries, &shape());
    let message = json!([text("see"), image, text("and"), document]);
    assert_eq!(items[0], json!({"role": "user", "content": message}));
    assert_eq!(items[2]["output"], json!([text("Two files."), image, document]));
    assert_eq!(items.as_array().unwrap().len(), 3, "a model's own media are not sent back");

    let blind = Shape { vision: false, documents: false, ..shape() };
    let items = sent(&entries, &blind);
    let words =
        "[image/png: this model cannot read it.]and[application/pdf: this model cannot read it.]";
    assert_eq!(items[0]["content"], format!("see{words}"));
    assert!(items[2]["output"].as_str().unwrap().starts_with("Two files.[image/png"), "{items}");
    let sound = [user(vec![Part::inline("audio/wav", "AA==")])];
    assert_eq!(sent(&sound, &shape())[0]["content"], "[audio/wav: this model cannot read it.]");
}

#[test]
fn files_are_referred_to_if_the_service_can_fetch_them() {
    let file = |kind: &str, uri: &str| {
        let mime_type = Some(kind.to_owned());
        let part = Part::new(PartBody::File(FileReference { mime_type, file_uri: uri.to_owned() }));
        sent(&[user(vec![part])], &shape())[0]["content"].clone()
    };
    assert_eq!(file("image/png", "https://x/a.png")[0]["image_url"], "https://x/a.png");
    let document = json!([{"type": "input_file", "file_url": "https://x/a.pdf"}]);
    assert_eq!(file("application/pdf", "https://x/a.pdf"), document);
    for (kind, uri) in [("image/png", "gs://x/a.png"), ("video/mp4", "https://x/a.mp4")] {
        assert_eq!(file(kind, uri), format!("[The model cannot read the file {uri}.]"));
    }
}

#[test]
fn an_entry_is_encoded_once_and_forgotten_when_unused() {
    let cache = ItemsCache::default();
    let entries = conversation();
    let first = written(&cache, &entries, &shape(), 0);
    assert_eq!(written(&cache, &entries, &shape(), 0), first);
    let count = cache.encoded.lock().unwrap().len();
    assert_eq!(count, entries.len());
    for _ in 0..=KEPT_FOR_REQUESTS {
        written(&cache, &[], &shape(), 0);
    }
    assert_eq!(cache.encoded.lock().unwrap().len(), 0);
}

proptest! {
    /// The service refuses a call without a result, a result without a call, and reasoning that
    /// nothing follows.
    #[test]
    fn every_history_has_a_form(
        turns in proptest::collection::vec((0_u8..4, any::<bool>(), any::<bool>()), 0..12),
    ) {
        let mut history = History::new();
        for (index, (calls, thinks, cut)) in turns.into_iter().enumerate() {
            let id = |word: &str| EntryId::new(format!("{word}{index}"));
            history.push_user(id("u"), vec![Part::text("go")]);
            let mut parts = if thinks { vec![reasoning()] } else { vec![] };
            parts.extend((0..calls).map(|call| Part::call(format!("c{call}"), "glob", json!({}))));
            if cut {
                history.push_interrupted(id("m"), parts);
            } else {
                history.push_model(id("m"), parts);
            }
        }
        history.push_user(EntryId::new("last"), vec![Part::text("end")]);
        let entries = history.request().unwrap();
        let items = sent(&entries, &shape());
        let mut open = Vec::new();
        let mut before = "";
        for item in items.as_array().unwrap() {
            let kind = item["type"].as_str().unwrap_or("message");
            match kind {
                "function_call" => open.push(item["call_id"].clone()),
                "function_call_output" => {
                    let found = open.iter().position(|id| *id == item["call_id"]);
                    open.remove(found.unwrap());
                }
                _ => {}
            }
            if before == "reasoning" {
                prop_assert!(kind == "function_call" || item["role"] == "assistant", "{items}");
            }
            before = kind;
        }
        prop_assert!(open.is_empty() && before == "message", "{items}");
    }
}
