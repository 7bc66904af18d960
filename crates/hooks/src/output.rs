//! Parsing of a program's output as a decision.

use serde_json::{Map, Value, json};

/// Decision of one program: the JSON object that it printed, or an object built from its text
/// output and exit code.
#[derive(Debug, Clone, PartialEq)]
pub struct HookReply(pub(crate) Map<String, Value>);

impl HookReply {
    /// Returns the whole object.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.0
    }

    /// Returns the text of a field, unless it is empty.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    /// Returns the fields specific to the event.
    pub(crate) fn specific(&self) -> Option<&Map<String, Value>> {
        self.0.get("hookSpecificOutput").and_then(Value::as_object)
    }

    /// Returns true if the work must stop.
    pub(crate) fn stops(&self) -> bool {
        self.0.get("continue") == Some(&Value::Bool(false))
    }

    /// Returns true for the decisions `deny` and `block`.
    pub(crate) fn blocks(&self) -> bool {
        matches!(self.text("decision"), Some("deny" | "block"))
    }

    /// Returns true if the user must be asked.
    pub(crate) fn asks(&self) -> bool {
        self.text("decision") == Some("ask")
    }
}

/// Parses a program's output. Standard error is used only if standard output is blank. A JSON
/// object is the decision itself. In other output, an object that refuses the event counts wherever
/// it stands, so that a message of the program does not switch off its refusal; nothing else is
/// read from such output. Otherwise the exit code decides: with 0 or 1 the work continues and the
/// text is shown; with any other code the event is refused, with the text as the reason. Returns
/// `None` if there is no output, or if the output is JSON that is not an object.
///
/// `exit_code` is `None` for a program that a signal ended; this counts as 0.
pub fn parse(stdout: &[u8], stderr: &[u8], exit_code: Option<i32>) -> Option<HookReply> {
    let (out, err) = (String::from_utf8_lossy(stdout), String::from_utf8_lossy(stderr));
    let text = [trim(&out), trim(&err)].into_iter().find(|text| !text.is_empty())?;
    let json = json(text);
    if let Some(Value::Object(fields)) = json {
        return Some(HookReply(fields));
    }
    let refusal = [&out, &err].into_iter().find_map(|text| refusal_in(trim(text)));
    if refusal.is_some() {
        return refusal;
    }
    // A list decides nothing, but is not plain text either.
    if json.is_some() {
        return None;
    }
    let fields = match exit_code {
        None | Some(0) => json!({ "decision": "allow", "systemMessage": text }),
        Some(1) => json!({ "decision": "allow", "systemMessage": format!("Warning: {text}") }),
        Some(_) => json!({ "decision": "deny", "reason": text }),
    };
    match fields {
        Value::Object(fields) => Some(HookReply(fields)),
        _ => None,
    }
}

/// Returns the decision and the reason of the first object in a text that refuses the event.
/// Without a reason, the whole text is the reason.
fn refusal_in(text: &str) -> Option<HookReply> {
    let repaired = repaired(text);
    let whole = repaired.as_deref().unwrap_or(text);
    let mut rest = whole;
    while let Some(start) = rest.find('{') {
        rest = &rest[start..];
        let mut objects = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let Some(Ok(Value::Object(fields))) = objects.next() else {
            rest = &rest[1..];
            continue;
        };
        // Objects inside of this object are its data.
        rest = &rest[objects.byte_offset()..];
        let reply = HookReply(fields);
        if reply.blocks() {
            let (decision, reason) = (reply.text("decision"), reply.text("reason"));
            let fields = json!({ "decision": decision, "reason": reason.unwrap_or(whole) });
            return fields.as_object().cloned().map(HookReply);
        }
    }
    None
}

/// Trims white space. JavaScript counts the byte order mark as white space.
fn trim(text: &str) -> &str {
    text.trim_matches(|character: char| character.is_whitespace() || character == '\u{feff}')
}

/// Parses JSON, including JSON that was encoded twice.
fn json(text: &str) -> Option<Value> {
    match serde_json::from_str(text).ok().or_else(|| serde_json::from_str(&repaired(text)?).ok())? {
        Value::String(inner) => serde_json::from_str(&inner).ok(),
        value => Some(value),
    }
}

/// Replaces escaped lone surrogates, which JavaScript accepts and Rust does not, by replacement
/// characters. Returns `None` if the text contains no lone surrogates.
fn repaired(text: &str) -> Option<String> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let mut repaired = String::with_capacity(text.len());
    let (mut at, mut changed) = (0, false);
    while let Some(character) = text[at..].chars().next() {
        match (unit(at), unit(at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => {
                repaired.push_str(&text[at..at + 12]);
                at += 12;
            }
            (Some(0xd800..=0xdfff), _) => {
                repaired.push_str("\\ufffd");
                changed = true;
                at += 6;
            }
            _ if character == '\\' => {
                let length = 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8);
                repaired.push_str(&text[at..at + length]);
                at += length;
            }
            _ => {
                repaired.push(character);
                at += character.len_utf8();
            }
        }
    }
    changed.then_some(repaired)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn reply(stdout: &str, stderr: &str, exit_code: Option<i32>) -> Option<Value> {
        parse(stdout.as_bytes(), stderr.as_bytes(), exit_code).map(|reply| Value::Object(reply.0))
    }

    #[test]
    fn words_and_exit_codes() {
        let said = |words: &str| json!({"decision": "allow", "systemMessage": words});
        let refused = |words: &str| json!({"decision": "deny", "reason": words});
        let table = [
            (" hi \n", "", Some(0), Some(said("hi"))),
            ("hi", "", None, Some(said("hi"))),
            ("hi", "", Some(1), Some(said("Warning: hi"))),
            ("hi", "", Some(2), Some(refused("hi"))),
            ("hi", "", Some(127), Some(refused("hi"))),
            ("", "err", Some(2), Some(refused("err"))),
            ("out", "err", Some(2), Some(refused("out"))),
            ("", "", Some(2), None),
            (" \n", "\t", Some(2), None),
            ("{broken", "", Some(0), Some(said("{broken"))),
        ];
        for (stdout, stderr, code, expected) in table {
            assert_eq!(reply(stdout, stderr, code), expected, "{stdout:?} {stderr:?} {code:?}");
        }
    }

    #[test]
    fn json_decides_by_itself() {
        let deny = json!({"decision": "deny"});
        let table = [
            (r#"{"decision":"deny"}"#, "", Some(0), Some(deny.clone())),
            (r#"{"a":1}"#, "", Some(2), Some(json!({"a": 1}))),
            ("", r#"{"decision":"deny"}"#, Some(1), Some(deny.clone())),
            (r#""{\"decision\":\"deny\"}""#, "", Some(0), Some(deny.clone())),
            ("\u{feff}{\"decision\":\"deny\"}\n", "", Some(0), Some(deny)),
            ("5", "", Some(2), None),
            ("null", "", Some(2), None),
            ("true", "", Some(0), None),
            ("[1]", "", Some(0), None),
            (r#"{"a":"\ud800"}"#, "", Some(0), Some(json!({"a": "\u{fffd}"}))),
            (
                r#"{"a":"\\ud800\ud83d\ude00\udc00"}"#,
                "",
                Some(0),
                Some(json!({"a": "\\ud800😀\u{fffd}"})),
            ),
        ];
        for (stdout, stderr, code, expected) in table {
            assert_eq!(reply(stdout, stderr, code), expected, "{stdout:?} {stderr:?}");
        }
    }

    #[test]
    fn a_refusal_counts_wherever_it_stands() {
        let deny = json!({"decision": "deny", "reason": "no"});
        let object = r#"{"decision":"deny","reason":"no","continue":false}"#;
        let pretty = "{\n  \"decision\": \"deny\",\n  \"reason\": \"no\"\n}";
        for text in [
            format!("checking\n{object}"),
            format!("{object}\ndone\n"),
            format!("a {{b}} {object} c"),
            format!("checking\n{pretty}\ndone"),
            format!("{{\"systemMessage\":\"x\"}}\n{object}"),
            format!("{object}\n{{\"decision\":\"allow\"}}"),
            format!("{{\"a\": {object}"),
            format!("[{object}]"),
            format!("\"\\ud800\" {object}"),
        ] {
            for code in [Some(0), Some(1), Some(2), None] {
                assert_eq!(reply(&text, "", code), Some(deny.clone()), "{text} {code:?}");
            }
            assert_eq!(reply("", &text, Some(0)), Some(deny.clone()), "{text}");
        }
        assert_eq!(reply("checking", object, Some(0)), Some(deny), "on standard error");
        let blocked = "x {\"decision\":\"block\"}";
        let expected = json!({"decision": "block", "reason": blocked});
        assert_eq!(reply(blocked, "", Some(0)), Some(expected));
    }

    #[test]
    fn nothing_but_a_refusal_is_read_from_other_text() {
        for text in [
            r#"x {"decision":"allow","systemMessage":"y"}"#,
            r#"x {"decision":"ask"}"#,
            r#"x {"continue":false}"#,
            r#"x {"input":{"decision":"deny"}}"#,
            r#"x {"input":"{\"decision\":\"deny\"}"}"#,
            r#"x {"decision":"deny""#,
            "decision: deny",
        ] {
            let said = json!({"decision": "allow", "systemMessage": text});
            assert_eq!(reply(text, "", Some(0)), Some(said), "{text}");
        }
        assert_eq!(reply(r#"[{"input":{"decision":"deny"}}]"#, "", Some(0)), None);
        let many = "{\"a\":[".repeat(200_000);
        assert!(reply(&many, "", Some(0)).is_some(), "bounded time");
    }

    #[test]
    fn a_text_in_quotes_is_no_reply() {
        // `JSON.parse` fails for the content of the string, so the whole output counts as text.
        assert_eq!(
            reply("\"hello\"", "", Some(0)),
            Some(json!({"decision": "allow", "systemMessage": "\"hello\""}))
        );
    }

    #[test]
    fn bytes_that_are_no_text() {
        let reply = parse(b"\xff\xfe", b"", Some(2)).unwrap();
        assert_eq!(reply.text("reason"), Some("\u{fffd}\u{fffd}"));
        let deep = "[".repeat(100_000);
        assert!(parse(deep.as_bytes(), b"", Some(0)).is_some());
    }

    proptest::proptest! {
        #[test]
        fn anything_can_be_read(out: Vec<u8>, err: Vec<u8>, code: Option<i32>) {
            parse(&out, &err, code);
        }

        #[test]
        fn mending_keeps_what_is_whole(text in "[\\\\ud8-9a-f\"{}]{0,60}") {
            if let Some(repaired) = repaired(&text) {
                proptest::prop_assert!(super::repaired(&repaired).is_none());
            }
        }
    }
}
