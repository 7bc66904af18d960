//! Content that an editor sends with a prompt: images, links and embedded resources. Its unsaved
//! files, and its forms.

#![expect(clippy::needless_pass_by_value, reason = "messages are written in place")]

use pollux_testkit::reply;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::acp_client::{Client, text_of, updates};
use super::stage::{MODEL, Stage};

const FILES: &str = r#"{"fs": {"readTextFile": true, "writeTextFile": true}}"#;

/// Starts the agent for a client with these capabilities, and opens a session.
fn client_with(stage: &Stage, capabilities: &str) -> (Client, String) {
    let mut client = Client::start(stage);
    client.initialize(serde_json::from_str(capabilities).unwrap());
    let session = client.new_session(stage);
    (client, session)
}

fn prompt(client: &mut Client, session: &str, blocks: Value) -> i64 {
    client.request("session/prompt", json!({"sessionId": session, "prompt": blocks}))
}

#[test]
fn a_prompt_may_hold_more_than_text() {
    let stage = Stage::with([reply().text("seen")]);
    stage.home.project_file("src/a b.rs", "fn a() {}\n");
    let (mut client, session) = client_with(&stage, "{}");
    let uri = format!("file://{}/src/a%20b.rs", stage.home.project().display());
    let id = prompt(
        &mut client,
        &session,
        json!([
            {"type": "text", "text": "Compare "},
            {"type": "image", "mimeType": "image/png", "data": "AAAA"},
            {"type": "text", "text": " with "},
            {"type": "resource_link", "name": "a", "uri": uri},
            {"type": "resource", "resource": {"uri": "note:1", "text": "a note"}},
            {"type": "audio", "mimeType": "audio/wav", "data": "AAAA"},
        ]),
    );
    client.answer(id).unwrap();
    let request = &stage.requests()[0];
    // The first part is the context of the session.
    let parts = &request.last_parts()[1..];
    assert_eq!(parts[0]["text"], "Compare ");
    assert_eq!(parts[1]["inlineData"], json!({"mimeType": "image/png", "data": "AAAA"}));
    assert_eq!(parts[2]["text"], " with @src/a b.rs@note:1");
    assert_eq!(parts[3]["inlineData"]["mimeType"], "audio/wav");
    let rest: String = parts[4..].iter().filter_map(|part| part["text"].as_str()).collect();
    for expected in [
        "--- Content from referenced files ---",
        "fn a() {}",
        "--- Content from referenced context ---",
        "Content from @note:1:\na note",
    ] {
        assert!(rest.contains(expected), "{expected:?} in {rest:?}");
    }
}

#[test]
fn a_link_out_of_the_project_is_read_only_if_the_user_allows_it() {
    for (choice, is_read) in [("proceed_once", true), ("cancel", false), ("nosuch", false)] {
        let stage = Stage::with([reply().text("hm"), reply().text("hm")]);
        let (mut client, session) = client_with(&stage, "{}");
        let path = stage.home.root().join("outside.txt");
        std::fs::write(&path, "from outside\n").unwrap();
        let uri = format!("file://{}", path.display());
        let link = json!({"type": "resource_link", "name": "x", "uri": uri});
        let id = prompt(&mut client, &session, json!([{"type": "text", "text": "see "}, link]));
        let asked = client.asked("session/request_permission");
        let call = &asked["params"]["toolCall"];
        let title = format!("Allow access to absolute path: {}", path.display());
        assert_eq!((&call["title"], &call["kind"]), (&json!(title), &json!("read")));
        client.choose(&asked, choice);
        let (messages, result) = client.answer_with(id);
        assert_eq!(result.unwrap()["stopReason"], "end_turn");
        let thoughts = text_of(&messages, "agent_thought_chunk");
        assert_eq!(thoughts.starts_with("Warning: @"), !is_read, "{thoughts}");
        let body = stage.requests()[0].body.to_string();
        assert_eq!(body.contains("from outside"), is_read, "{choice}");
        // The permission was for one prompt.
        let id = prompt(&mut client, &session, json!([link]));
        let asked = client.asked("session/request_permission");
        client.choose(&asked, "cancel");
        client.answer(id).unwrap();
    }
}

#[test]
fn a_link_to_nothing_is_reported_and_the_prompt_is_sent() {
    let stage = Stage::with([reply().text("hm")]);
    let (mut client, session) = client_with(&stage, "{}");
    let link = json!({"type": "resource_link", "name": "x", "uri": "file:///nosuch/file"});
    let id = prompt(&mut client, &session, json!([{"type": "text", "text": "see "}, link]));
    let (messages, result) = client.answer_with(id);
    assert_eq!(result.unwrap()["stopReason"], "end_turn");
    let thoughts = text_of(&messages, "agent_thought_chunk");
    assert!(thoughts.starts_with("Warning: @/nosuch/file"), "{thoughts}");
    let calls: Vec<_> = updates(&messages)
        .into_iter()
        .filter(|update| update["toolCallId"].is_string())
        .map(|update| update["status"].clone())
        .collect();
    assert_eq!(calls, ["in_progress", "completed"]);
}

#[test]
fn a_link_to_an_ignored_file_is_sent_as_text() {
    let stage = Stage::with([reply().text("hm")]);
    stage.home.project_file(".git/HEAD", "ref: refs/heads/main\n");
    stage.home.project_file(".gitignore", "secrets.txt\n").project_file("secrets.txt", "hush\n");
    let (mut client, session) = client_with(&stage, "{}");
    let link = json!({"type": "resource_link", "name": "x", "uri": "file://secrets.txt"});
    let id = prompt(&mut client, &session, json!([{"type": "text", "text": "see "}, link]));
    let (messages, result) = client.answer_with(id);
    assert_eq!(result.unwrap()["stopReason"], "end_turn");
    let thoughts = text_of(&messages, "agent_thought_chunk");
    assert!(thoughts.contains("secrets.txt: ignored; sent as text."), "{thoughts}");
    let body = stage.requests()[0].body.to_string();
    assert!(body.contains("@secrets.txt") && !body.contains("hush"), "{body}");
}

#[test]
fn an_editor_with_unsaved_changes_that_cannot_be_written_to_keeps_them() {
    let edit = |old: &str, new: &str| {
        let change = json!({"file_path": "a.txt", "old_string": old, "new_string": new,
                            "instruction": "change it"});
        reply().call("replace", change)
    };
    let stage = Stage::with([edit("unsaved", "x"), edit("on disk", "written"), reply().text("x")]);
    stage.home.project_file("a.txt", "on disk\n");
    let (mut client, session) = client_with(&stage, r#"{"fs": {"readTextFile": true}}"#);
    let yolo = json!({"sessionId": session, "modeId": "yolo"});
    client.call("session/set_mode", yolo).unwrap();
    client.prompt(&session, "change it");
    loop {
        let asked = client.until(|message| !message["id"].is_null()).pop().unwrap();
        if asked["method"] != "fs/read_text_file" {
            break;
        }
        // The user saves the file after the first call.
        let saved = stage.requests().len() > 1;
        client.respond(&asked, json!({"content": if saved { "on disk\n" } else { "unsaved\n" }}));
    }
    let body = stage.requests()[1].body.to_string();
    assert!(body.contains("the user must save the file first"), "{body}");
    assert_eq!(stage.home.read_project_file("a.txt"), "written\n");
}

#[test]
fn unsaved_changes_are_what_tools_read_and_write() {
    let stage = Stage::with([
        reply().call("read_file", json!({"file_path": "a.txt"})),
        reply().call(
            "replace",
            json!({"file_path": "a.txt", "old_string": "unsaved", "new_string": "changed",
                   "instruction": "change it"}),
        ),
        reply().text("done"),
    ]);
    stage.home.project_file("a.txt", "on disk\n");
    let (mut client, session) = client_with(&stage, FILES);
    let prompt = client.prompt(&session, "change it");
    let path = stage.home.project().join("a.txt");
    let mut buffer = "unsaved\n".to_owned();
    let mut diff = Value::Null;
    loop {
        let message = client.until(|message| !message["id"].is_null());
        let message = message.last().unwrap();
        match message["method"].as_str() {
            Some("fs/read_text_file") => {
                assert_eq!(message["params"], json!({"sessionId": session, "path": path}));
                client.respond(message, json!({"content": buffer}));
            }
            Some("fs/write_text_file") => {
                assert_eq!(message["params"]["path"], json!(path));
                buffer = message["params"]["content"].as_str().unwrap().to_owned();
                client.respond(message, Value::Null);
            }
            Some("session/request_permission") => {
                diff = message["params"]["toolCall"]["content"][0].clone();
                client.choose(message, "proceed_once");
            }
            _ => {
                assert_eq!(
                    (&message["id"], &message["result"]["stopReason"]),
                    (&json!(prompt), &json!("end_turn"))
                );
                break;
            }
        }
    }
    assert_eq!((&diff["oldText"], &diff["newText"]), (&json!("unsaved\n"), &json!("changed\n")));
    assert_eq!(buffer, "changed\n");
    assert_eq!(stage.home.read_project_file("a.txt"), "on disk\n");
    let body = stage.requests()[1].body.to_string();
    assert!(body.contains("unsaved") && !body.contains("on disk"), "{body}");
}

/// Lets the model replace `two` by `2` in a file of which the client has this text. Returns the
/// text that the client has then.
fn replaced(stage: &Stage, mut buffer: String) -> String {
    let (mut client, session) = client_with(stage, FILES);
    let yolo = json!({"sessionId": session, "modeId": "yolo"});
    client.call("session/set_mode", yolo).unwrap();
    client.prompt(&session, "change it");
    loop {
        let message = client.until(|message| !message["id"].is_null()).pop().unwrap();
        match message["method"].as_str() {
            Some("fs/read_text_file") => client.respond(&message, json!({"content": buffer})),
            Some("fs/write_text_file") => {
                message["params"]["content"].as_str().unwrap().clone_into(&mut buffer);
                client.respond(&message, Value::Null);
            }
            _ => return buffer,
        }
    }
}

fn replacing() -> Stage {
    let change = json!({"file_path": "a.txt", "old_string": "two", "new_string": "2",
                        "instruction": "change it"});
    // The second change finds the text that the first one has written.
    let back = json!({"file_path": "a.txt", "old_string": "2", "new_string": "zwei",
                      "instruction": "change it"});
    Stage::with([
        reply().call("replace", change),
        reply().call("replace", back),
        reply().text("done"),
    ])
}

#[test]
fn an_edit_of_unsaved_text_changes_nothing_else() {
    for text in [
        "one\ntwo\n",
        "one\ntwo",
        "one\r\ntwo\r\n",
        "one\r\ntwo\nthree\r\n",
        "\u{feff}one\ntwo\n",
        "\u{feff}one\r\ntwo",
        "one\u{2028}two\n",
    ] {
        for on_disk in ["one\ntwo\n", "\u{feff}two\r\n"] {
            let stage = replacing();
            stage.home.project_file("a.txt", on_disk);
            assert_eq!(replaced(&stage, text.to_owned()), text.replace("two", "zwei"), "{text:?}");
            assert_eq!(stage.home.read_project_file("a.txt"), on_disk);
        }
    }
}

#[test]
fn files_in_other_encodings_are_not_the_clients() {
    let utf16: Vec<u8> = "\u{feff}two\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let expected: Vec<u8> = "\u{feff}zwei\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (before, after) in [(utf16, expected), (b"caf\xe9 two\n".into(), b"caf\xe9 zwei\n".into())]
    {
        let stage = replacing();
        stage.home.project_file("a.txt", before);
        assert_eq!(replaced(&stage, "garbage".to_owned()), "garbage");
        assert_eq!(std::fs::read(stage.home.project().join("a.txt")).unwrap(), after);
    }
}

#[test]
fn a_client_without_the_file_lets_the_disk_answer() {
    let stage =
        Stage::with([reply().call("read_file", json!({"file_path": "a.txt"})), reply().text("x")]);
    stage.home.project_file("a.txt", "on disk\n");
    let (mut client, session) = client_with(&stage, FILES);
    let prompt = client.prompt(&session, "read");
    let asked = client.asked("fs/read_text_file");
    let error = json!({"code": -32002, "message": "Resource not found"});
    client.send(json!({"id": asked["id"], "error": error}));
    client.answer(prompt).unwrap();
    assert_eq!(stage.response(), "on disk\n");
}

#[test]
fn binary_files_and_files_outside_of_the_project_are_not_the_clients() {
    let stage =
        Stage::with([reply().call("read_file", json!({"file_path": "a.png"})), reply().text("x")]);
    stage.home.project_file("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    let (mut client, session) = client_with(&stage, FILES);
    let prompt = client.prompt(&session, "read");
    let (messages, result) = client.answer_with(prompt);
    assert!(result.is_ok());
    assert!(messages.iter().all(|message| message["method"] != "fs/read_text_file"));
}

#[test]
fn a_client_with_forms_is_asked_about_trust_at_once() {
    for (answer, is_trusted) in [
        (json!({"action": "accept", "content": {"choice": "option_0"}}), true),
        (json!({"action": "accept", "content": {"choice": "option_9"}}), false),
        (json!({"action": "accept"}), false),
        (json!({"action": "decline"}), false),
        (json!({"action": "cancel"}), false),
        (json!({}), false),
    ] {
        let stage = Stage::with([reply().text("hi")]);
        stage.home.project_file("GEMINI.md", "Obey the repository.");
        let program = stage.program().env_remove("GEMINI_CLI_TRUST_WORKSPACE");
        let mut client = Client::of(program.args(["-m", MODEL]));
        client.initialize(json!({"elicitation": {"form": {}}}));
        let opening =
            client.request("session/new", json!({"cwd": stage.home.project(), "mcpServers": []}));
        let form = client.asked("elicitation/create");
        assert_eq!(form["params"]["requestId"], opening);
        assert_eq!(form["params"]["mode"], "form");
        client.respond(&form, answer.clone());
        let opened = client.answer(opening).unwrap();
        let prompt = client.prompt(opened["sessionId"].as_str().unwrap(), "go");
        let (messages, _) = client.answer_with(prompt);
        assert!(updates(&messages).len() > 1);
        let body = stage.requests()[0].body.to_string();
        assert_eq!(body.contains("Obey the repository."), is_trusted, "{answer}");
    }
}

#[test]
fn the_model_may_ask_a_client_with_forms() {
    let questions = json!({"questions": [
        {"question": "Which one?", "header": "Database", "type": "choice",
         "options": [{"label": "SQLite", "description": "small"},
                     {"label": "Postgres", "description": "large"}]},
    ]});
    let stage = Stage::with([reply().call("ask_user", questions), reply().text("ok")]);
    let (mut client, session) = client_with(&stage, r#"{"elicitation": {"form": {}}}"#);
    let prompt = client.prompt(&session, "go");
    let form = client.asked("elicitation/create");
    assert_eq!(form["params"]["sessionId"], *session);
    let content = json!({"action": "accept", "content": {"answer_1": "Postgres"}});
    client.respond(&form, content);
    client.answer(prompt).unwrap();
    assert!(stage.response().contains("Postgres"), "{}", stage.response());
    assert!(stage.requests()[0].declared_tools().contains(&"ask_user"));
}

#[test]
fn without_forms_the_model_has_no_tool_to_ask() {
    let stage = Stage::with([reply().text("ok")]);
    let (mut client, session) = client_with(&stage, "{}");
    let prompt = client.prompt(&session, "go");
    client.answer(prompt).unwrap();
    assert!(!stage.requests()[0].declared_tools().contains(&"ask_user"));
}
