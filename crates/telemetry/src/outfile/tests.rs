use pretty_assertions::assert_eq;

use super::*;
use crate::attributes::{Common, pairs};

#[test]
fn a_log_record_has_the_fields_of_the_sdk() {
    let common =
        Common { session_id: "s".to_owned(), installation_id: "i".to_owned(), ..Common::default() };
    let event = LogEvent {
        name: "gemini_cli.user_prompt",
        body: "User prompt. Length: 2.".to_owned(),
        attributes: pairs([("prompt_length", json!(2))]),
    };
    let time = "2026-01-31T12:00:00.25Z".parse().unwrap();
    let record = log_record(event, &json!({}), &common.attributes(), time);
    assert_eq!(
        format!("{record:#}"),
        r#"{
  "hrTime": [
    1769860800,
    250000000
  ],
  "hrTimeObserved": [
    1769860800,
    250000000
  ],
  "resource": {},
  "instrumentationScope": {
    "name": "gemini-cli"
  },
  "attributes": {
    "session.id": "s",
    "installation.id": "i",
    "interactive": false,
    "event.name": "gemini_cli.user_prompt",
    "event.timestamp": "2026-01-31T12:00:00.250Z",
    "prompt_length": 2
  },
  "_body": "User prompt. Length: 2.",
  "_attributesCount": 6,
  "_droppedAttributesCount": 0,
  "_isReadonly": true
}"#
    );
}
