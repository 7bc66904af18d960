//! `mcp serve`: a server of the Model Context Protocol, whose tools run prompts.

#![expect(clippy::needless_pass_by_value, reason = "messages are written in place")]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use pollux_testkit::{Pollux, ReplyGate, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::acp_client::Client;
use super::stage::{MODEL, SOON, Stage};

const EDIT: &str = "write_file";
/// Capabilities of a client that shows forms.
const FORMS: &str = r#"{"elicitation": {"form": {}, "url": {}}}"#;
const NOTHING: &str = "{}";

fn edit() -> Value {
    json!({"file_path": "a.txt", "content": "new\n"})
}

fn program(stage: &Stage) -> Pollux {
    stage.program().args(["mcp", "serve", "-m", MODEL])
}

/// Starts a server for a client with these capabilities.
fn serve(program: Pollux, capabilities: &str) -> Client {
    let mut client = Client::speaking_to(program);
    let capabilities: Value = serde_json::from_str(capabilities).unwrap();
    introduce(&mut client, "2025-11-25", capabilities);
    client
}

fn introduce(client: &mut Client, version: &str, capabilities: Value) -> Value {
    let info = json!({"name": "test", "version": "0"});
    let params =
        json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": info});
    let answer = client.call("initialize", params).unwrap();
    client.notify("notifications/initialized", json!({}));
    answer
}

fn begin(client: &mut Client, tool: &str, arguments: Value) -> i64 {
    let params = json!({
        "name": tool, "arguments": arguments, "_meta": {"progressToken": "t"},
    });
    client.request("tools/call", params)
}

fn run(client: &mut Client, tool: &str, arguments: Value) -> Value {
    let id = begin(client, tool, arguments);
    client.answer(id).unwrap()
}

/// Returns the texts of a result.
fn texts(result: &Value) -> Vec<&str> {
    let content = result["content"].as_array().unwrap();
    content.iter().map(|block| block["text"].as_str().unwrap()).collect()
}

/// Returns the reason of a call that was refused.
fn refusal(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(result.get("structuredContent"), None);
    texts(result)[0]
}

fn session_of(result: &Value) -> &str {
    result["structuredContent"]["session_id"].as_str().unwrap()
}

/// Chooses an option of a form.
fn choose(client: &mut Client, form: &Value, choice: &str) {
    client.respond(form, json!({"action": "accept", "content": {"choice": choice}}));
}

/// Waits for the first progress of a call, and returns the id of its session.
fn begun(client: &mut Client) -> String {
    let messages = client.until(|message| message["method"] == "notifications/progress");
    let message = messages.last().unwrap()["params"]["message"].as_str().unwrap();
    message.strip_prefix("Session ID: ").unwrap().to_owned()
}

#[test]
fn the_handshake_negotiates_the_version() {
    let stage = Stage::new();
    for (offered, accepted) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2024-11-05"),
        ("2030-01-01", "2025-11-25"),
    ] {
        let mut client = Client::speaking_to(program(&stage));
        let answer = introduce(&mut client, offered, json!({}));
        assert_eq!(answer["protocolVersion"], accepted);
        assert_eq!(answer["serverInfo"]["name"], "pollux");
        assert_eq!(client.call("ping", json!({})), Ok(json!({})));
        assert_eq!(client.call("prompts/list", json!({})).unwrap_err()["code"], -32601);
        client.end().assert_code(0);
    }
}

#[test]
fn a_prompt_is_run_and_its_session_continued() {
    let stage = Stage::with([reply().text("one").usage(100, 7), reply().text("two").usage(9, 9)]);
    let mut client = serve(program(&stage), NOTHING);
    let tools = client.call("tools/list", json!({})).unwrap();
    assert_eq!(tools["tools"][0]["name"], "pollux");
    assert_eq!(tools["tools"][1]["name"], "pollux-reply");
    let first = run(&mut client, "pollux", json!({"prompt": "/help me"}));
    let session = session_of(&first).to_owned();
    assert_eq!(texts(&first), ["one", &format!("Session ID: {session}")]);
    assert_eq!(first["isError"], false);
    let tokens = &first["structuredContent"]["stats"]["models"][MODEL]["tokens"];
    assert_eq!((&tokens["prompt"], &tokens["candidates"]), (&json!(100), &json!(7)));
    // A line that would be a command elsewhere is a prompt: the client must not change settings.
    assert_eq!(stage.requests()[0].last_parts()[1]["text"], "/help me");
    let arguments = json!({"session_id": session, "prompt": "go on"});
    let second = run(&mut client, "pollux-reply", arguments.clone());
    assert_eq!((texts(&second)[0], session_of(&second)), ("two", &*session));
    // Each call has its own statistics.
    let tokens = &second["structuredContent"]["stats"]["models"][MODEL]["tokens"];
    assert_eq!(tokens["prompt"], 9);
    assert!(stage.requests()[1].body.to_string().contains("/help me"));
    client.end().assert_code(0);
    // Another server finds the session in the same folder.
    stage.server.stream(reply().text("three"));
    let mut client = serve(program(&stage), NOTHING);
    let third = run(&mut client, "pollux-reply", arguments);
    assert_eq!((texts(&third)[0], session_of(&third)), ("three", &*session));
    assert!(stage.requests()[2].body.to_string().contains("/help me"));
}

#[test]
fn a_session_that_does_not_exist_is_reported() {
    let stage = Stage::with([reply().text("one")]);
    let mut client = serve(program(&stage), NOTHING);
    run(&mut client, "pollux", json!({"prompt": "go"}));
    for session in ["nosuch", "latest", "1", ""] {
        let arguments = json!({"session_id": session, "prompt": "go"});
        let result = run(&mut client, "pollux-reply", arguments);
        refusal(&result);
    }
    assert_eq!(stage.requests().len(), 1);
}

#[test]
fn an_edit_is_approved_by_a_form() {
    for (version, is_titled) in [("2025-11-25", true), ("2025-06-18", false)] {
        let stage = Stage::with([reply().call(EDIT, edit()), reply().text("done")]);
        let mut client = Client::speaking_to(program(&stage));
        introduce(&mut client, version, json!({"elicitation": {}}));
        let call = begin(&mut client, "pollux", json!({"prompt": "edit"}));
        let form = client.asked("elicitation/create");
        let params = &form["params"];
        let message = params["message"].as_str().unwrap();
        assert!(message.contains("a.txt") && message.contains("+new"), "{message}");
        let field = &params["requestedSchema"]["properties"]["choice"];
        if is_titled {
            assert_eq!(params["mode"], "form");
            assert_eq!(field["oneOf"][0]["const"], "proceed_once", "{field}");
        } else {
            assert_eq!(params.get("mode"), None);
            assert_eq!(field["enum"][0], "proceed_once", "{field}");
            assert_eq!(field["enumNames"].as_array().unwrap().len(), 3, "{field}");
        }
        assert!(!stage.home.project().join("a.txt").exists());
        choose(&mut client, &form, "proceed_once");
        let result = client.answer(call).unwrap();
        assert_eq!(texts(&result)[0], "done");
        assert_eq!(stage.home.read_project_file("a.txt"), "new\n");
    }
}

#[test]
fn everything_except_an_offered_yes_means_no() {
    for answer in [
        json!({"action": "accept", "content": {"choice": "cancel"}}),
        json!({"action": "accept", "content": {"choice": "proceed_always_and_save"}}),
        json!({"action": "accept", "content": {"choice": 0}}),
        json!({"action": "accept"}),
        json!({"action": "decline"}),
        json!({"action": "cancel"}),
        json!({}),
        json!(null),
    ] {
        let stage = Stage::with([reply().call(EDIT, edit()), reply().text("I see.")]);
        let mut client = serve(program(&stage), FORMS);
        let call = begin(&mut client, "pollux", json!({"prompt": "edit"}));
        let form = client.asked("elicitation/create");
        client.respond(&form, answer.clone());
        let result = client.answer(call).unwrap();
        assert_eq!(texts(&result)[0], "I see.", "{answer}");
        assert!(!stage.home.project().join("a.txt").exists(), "{answer}");
    }
}

#[test]
fn a_client_without_forms_is_refused_what_needs_approval() {
    let stage = Stage::with([
        reply().call("run_shell_command", json!({"command": "touch a.txt"})),
        reply().text("I see."),
    ]);
    let mut client = serve(program(&stage), NOTHING);
    let result = run(&mut client, "pollux", json!({"prompt": "go"}));
    assert_eq!(texts(&result)[0], "I see.");
    assert!(!stage.home.project().join("a.txt").exists());
    let response = stage.response();
    assert!(response.contains("requires user confirmation"), "{response}");
}

#[test]
fn a_call_cannot_exceed_the_mode_of_the_user() {
    let stage = Stage::new();
    for (flags, wanted) in
        [(&[][..], "auto_edit"), (&[], "yolo"), (&["--approval-mode", "auto_edit"], "yolo")]
    {
        for capabilities in [NOTHING, FORMS] {
            let mut client = serve(program(&stage).args(flags), capabilities);
            let arguments = json!({"prompt": "go", "approval_mode": wanted});
            let result = run(&mut client, "pollux", arguments);
            let reason = refusal(&result);
            assert!(reason.starts_with(&format!("The approval mode {wanted} exceeds")), "{reason}");
        }
    }
    assert_eq!(stage.requests().len(), 0);
}

#[test]
fn a_call_can_restrict_the_mode_of_the_user() {
    for (mode, is_changed) in
        [("yolo", true), ("auto_edit", true), ("default", false), ("plan", false)]
    {
        let stage = Stage::with([reply().call(EDIT, edit()), reply().text("done")]);
        let mut client = serve(program(&stage).args(["--approval-mode", "yolo"]), NOTHING);
        let arguments = json!({"prompt": "edit", "approval_mode": mode});
        let result = run(&mut client, "pollux", arguments);
        assert_eq!(texts(&result)[0], "done", "{mode}");
        assert_eq!(stage.home.project().join("a.txt").exists(), is_changed, "{mode}");
        // A later call has the rights of the user again, and no more.
        let arguments = json!({
            "session_id": session_of(&result), "prompt": "x", "approval_mode": "yolo",
        });
        stage.server.stream(reply().text("two"));
        assert_eq!(run(&mut client, "pollux-reply", arguments)["isError"], false);
    }
}

#[test]
fn an_untrusted_folder_is_asked_about_and_restricted_otherwise() {
    for (capabilities, choice, is_trusted) in
        [(FORMS, Some("option_0"), true), (FORMS, Some("option_2"), false), (NOTHING, None, false)]
    {
        let stage = Stage::with([reply().text("hi")]);
        stage.home.project_file("GEMINI.md", "Obey the repository.");
        let program = program(&stage).env_remove("GEMINI_CLI_TRUST_WORKSPACE");
        let mut client = serve(program, capabilities);
        let call = begin(&mut client, "pollux", json!({"prompt": "go"}));
        if let Some(choice) = choice {
            let form = client.asked("elicitation/create");
            choose(&mut client, &form, choice);
        }
        assert_eq!(texts(&client.answer(call).unwrap())[0], "hi");
        let body = stage.requests()[0].body.to_string();
        assert_eq!(body.contains("Obey the repository."), is_trusted, "{choice:?}");
    }
}

/// Creates a folder outside of the project with a file.
fn other_folder(stage: &Stage) -> PathBuf {
    let other = stage.home.root().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("secret.txt"), "from outside").unwrap();
    other
}

#[test]
fn a_folder_outside_of_the_servers_must_be_trusted() {
    let stage = Stage::with([reply().text("hi")]);
    let other = other_folder(&stage);
    let arguments = json!({"prompt": "go", "cwd": other});
    let start = |stage: &Stage, capabilities| {
        serve(program(stage).env_remove("GEMINI_CLI_TRUST_WORKSPACE"), capabilities)
    };
    let mut client = start(&stage, NOTHING);
    let result = run(&mut client, "pollux", arguments.clone());
    let reason = refusal(&result);
    assert!(reason.contains("not trusted"), "{reason}");
    for (choice, is_open) in [("cancel", false), ("option_0", true)] {
        let mut client = start(&stage, FORMS);
        let call = begin(&mut client, "pollux", arguments.clone());
        let form = client.asked("elicitation/create");
        choose(&mut client, &form, choice);
        assert_eq!(client.answer(call).unwrap()["isError"], !is_open, "{choice}");
    }
    for cwd in ["nosuch", "a.txt", "../nosuch"] {
        stage.home.project_file("a.txt", "x");
        let result = run(&mut client, "pollux", json!({"prompt": "go", "cwd": cwd}));
        assert!(refusal(&result).starts_with("Cannot work there: "), "{result}");
    }
}

#[test]
fn further_folders_need_the_yes_of_the_user() {
    for (capabilities, choice, is_open) in [
        (NOTHING, None, false),
        (FORMS, Some("cancel"), false),
        (FORMS, Some("proceed_once"), true),
    ] {
        let stage = Stage::with([]);
        let other = other_folder(&stage);
        if is_open {
            let read = json!({"file_path": other.join("secret.txt")});
            stage.server.stream(reply().call("read_file", read));
            stage.server.stream(reply().text("done"));
        }
        let mut client = serve(program(&stage), capabilities);
        let arguments = json!({"prompt": "go", "include_directories": [other]});
        let call = begin(&mut client, "pollux", arguments);
        if let Some(choice) = choice {
            let form = client.asked("elicitation/create");
            assert!(form["params"]["message"].as_str().unwrap().contains("other"));
            choose(&mut client, &form, choice);
        }
        let result = client.answer(call).unwrap();
        assert_eq!(result["isError"], !is_open, "{result}");
        if is_open {
            assert!(stage.response().contains("from outside"));
        } else {
            assert!(refusal(&result).starts_with("The user has not allowed the folder"));
        }
    }
    // A folder of the command line is open already.
    let stage = Stage::with([reply().text("done")]);
    let other = other_folder(&stage);
    let flags = ["--include-directories", other.to_str().unwrap()];
    let mut client = serve(program(&stage).args(flags), NOTHING);
    let arguments = json!({"prompt": "go", "include_directories": [other]});
    assert_eq!(run(&mut client, "pollux", arguments)["isError"], false);
}

#[test]
fn a_link_does_not_open_another_folder() {
    let stage = Stage::new();
    let other = other_folder(&stage);
    std::os::unix::fs::symlink(&other, stage.home.project().join("link")).unwrap();
    let mut client = serve(program(&stage), NOTHING);
    let arguments = json!({"prompt": "go", "include_directories": ["link"]});
    let result = run(&mut client, "pollux", arguments);
    assert!(refusal(&result).starts_with("The user has not allowed the folder"));
}

#[test]
fn a_cancelled_call_has_no_answer_and_its_session_continues() {
    let gate = ReplyGate::closed();
    let stage = Stage::with([reply().text("never").held_by(&gate), reply().text("after")]);
    let mut client = serve(program(&stage), NOTHING);
    let call = begin(&mut client, "pollux", json!({"prompt": "first words"}));
    let session = begun(&mut client);
    stage.server.wait_for_requests(1, SOON);
    let busy = json!({"session_id": session, "prompt": "again"});
    let result = run(&mut client, "pollux-reply", busy.clone());
    assert_eq!(refusal(&result), "The session works on another prompt.");
    let began = Instant::now();
    client.notify("notifications/cancelled", json!({"requestId": call, "reason": "enough"}));
    let next = begin(&mut client, "pollux-reply", busy);
    let (messages, result) = client.answer_with(next);
    // Many times the promise, for a busy machine.
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    assert!(messages.iter().all(|message| message["id"] != call), "{messages:?}");
    assert_eq!(texts(&result.unwrap())[0], "after");
    assert!(stage.requests()[1].body.to_string().contains("first words"));
    gate.open();
    client.end().assert_code(0);
}

#[test]
fn a_cancel_withdraws_the_question() {
    let stage = Stage::with([reply().call(EDIT, edit())]);
    let mut client = serve(program(&stage), FORMS);
    let call = begin(&mut client, "pollux", json!({"prompt": "edit"}));
    let form = client.asked("elicitation/create");
    client.notify("notifications/cancelled", json!({"requestId": call}));
    let withdrawn = client.until(|message| message["method"] == "notifications/cancelled");
    assert_eq!(withdrawn.last().unwrap()["params"]["requestId"], form["id"]);
    // An answer that comes too late changes nothing.
    choose(&mut client, &form, "proceed_once");
    assert_eq!(client.call("ping", json!({})), Ok(json!({})));
    client.end().assert_code(0);
    assert!(!stage.home.project().join("a.txt").exists());
}

#[test]
fn calls_run_at_the_same_time() {
    let (first, second) = (ReplyGate::closed(), ReplyGate::closed());
    let stage = Stage::new();
    for gate in [&first, &second] {
        stage.server.stream(reply().text("done").held_by(gate));
    }
    let mut client = serve(program(&stage), NOTHING);
    let one = begin(&mut client, "pollux", json!({"prompt": "one"}));
    stage.server.wait_for_requests(1, SOON);
    let two = begin(&mut client, "pollux", json!({"prompt": "two"}));
    stage.server.wait_for_requests(2, SOON);
    second.open();
    let done = client.answer(two).unwrap();
    first.open();
    let other = client.answer(one).unwrap();
    assert_ne!(session_of(&done), session_of(&other));
}

#[test]
fn a_session_that_was_closed_for_others_is_opened_again() {
    let stage = Stage::new();
    let mut client = serve(program(&stage), NOTHING);
    let mut open = |prompt: String| {
        stage.server.stream(reply().text("done"));
        session_of(&run(&mut client, "pollux", json!({"prompt": prompt}))).to_owned()
    };
    // One more than may be open.
    let sessions: Vec<String> = (0..33).map(|number| open(format!("prompt {number}"))).collect();
    stage.server.stream(reply().text("again"));
    let arguments = json!({"session_id": sessions[0], "prompt": "go on"});
    assert_eq!(texts(&run(&mut client, "pollux-reply", arguments))[0], "again");
    assert!(stage.requests()[33].body.to_string().contains("prompt 0"));
    client.end().assert_code(0);
}

#[test]
fn progress_tells_what_happens() {
    let read = json!({"file_path": "a.txt"});
    let stage = Stage::with([reply().call("read_file", read), reply().text("done")]);
    stage.home.project_file("a.txt", "x");
    let mut client = serve(program(&stage), NOTHING);
    let call = begin(&mut client, "pollux", json!({"prompt": "read"}));
    let (messages, _) = client.answer_with(call);
    let told: Vec<&Value> = messages.iter().map(|message| &message["params"]).collect();
    assert!(told.iter().all(|one| one["progressToken"] == "t"), "{told:?}");
    let counts: Vec<u64> = told.iter().map(|one| one["progress"].as_u64().unwrap()).collect();
    assert!(counts.is_sorted_by(|a, b| a < b) && counts.len() == 2, "{counts:?}");
    assert!(told[1]["message"].as_str().unwrap().contains("a.txt"), "{told:?}");
    // Nothing is told to a client that has not asked.
    stage.server.stream(reply().text("quiet"));
    let params = json!({"name": "pollux", "arguments": {"prompt": "go"}});
    let call = client.request("tools/call", params);
    assert_eq!(client.answer_with(call).0, Vec::<Value>::new());
}

#[test]
fn a_failure_is_an_error_of_the_tool_and_names_the_session() {
    let stage = Stage::with([reply().status(400, "no such thing")]);
    let mut client = serve(program(&stage), NOTHING);
    let result = run(&mut client, "pollux", json!({"prompt": "go"}));
    assert_eq!(result["isError"], true);
    let object = &result["structuredContent"];
    let message = object["error"]["message"].as_str().unwrap();
    assert!(message.contains("no such thing"), "{message}");
    assert_eq!((texts(&result)[0], &object["response"]), (message, &json!("")));
    stage.server.stream(reply().text("better"));
    let arguments = json!({"session_id": session_of(&result), "prompt": "again"});
    assert_eq!(texts(&run(&mut client, "pollux-reply", arguments))[0], "better");
}

#[test]
fn hostile_messages_are_answered_or_ignored() {
    let stage = Stage::with([reply().text("fine")]);
    let mut client = serve(program(&stage), NOTHING);
    client.program.write_stdin(b"not json\n[]\n\n{\"jsonrpc\":\"2.0\"}\n");
    let long = vec![b'x'; 33 << 20];
    client.program.write_stdin(&long);
    client.program.write_stdin(b"\n");
    let answers = client.until(|message| message["error"]["data"] == "the message is too long");
    assert_eq!(answers.len(), 4);
    let unknown = json!({"name": "shell", "arguments": {}});
    assert_eq!(client.call("tools/call", unknown).unwrap_err()["code"], -32602);
    for arguments in [json!({}), json!({"prompt": "go", "yolo": true}), json!([1])] {
        let result = run(&mut client, "pollux", arguments);
        assert!(refusal(&result).starts_with("Wrong arguments: "), "{result}");
    }
    for params in [json!({"requestId": 99}), json!({"requestId": {}}), json!([])] {
        client.notify("notifications/cancelled", params);
    }
    client.send(json!({"id": 77, "result": {}}));
    client.send(json!({"id": "x", "error": {"code": 1, "message": "no"}}));
    assert_eq!(texts(&run(&mut client, "pollux", json!({"prompt": "go"})))[0], "fine");
    client.end().assert_code(0);
}

#[test]
fn a_client_that_is_gone_ends_everything() {
    let gate = ReplyGate::closed();
    let stage = Stage::with([reply().text("never").held_by(&gate)]);
    let mut client = serve(program(&stage), FORMS);
    begin(&mut client, "pollux", json!({"prompt": "go"}));
    stage.server.wait_for_requests(1, SOON);
    let began = Instant::now();
    client.end().assert_code(0);
    assert!(began.elapsed() < SOON);
    gate.open();
}
