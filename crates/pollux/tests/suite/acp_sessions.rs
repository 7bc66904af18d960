//! Sessions of an editor: loaded again, listed, closed, and several at once.

use std::time::Instant;

use pollux_testkit::{ReplyGate, TestHome, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::acp_client::{Client, folder, text_of, updates};
use super::mcp_server::ScriptServer;
use super::stage::{SOON, Stage};

fn load(stage: &Stage, session: &str) -> Value {
    let mut params = folder(stage);
    params["sessionId"] = session.into();
    params
}

/// Runs a conversation with a call in a process of its own, and returns the session's id.
fn earlier(stage: &Stage) -> String {
    stage.server.stream(
        reply()
            .thought("**Look** at it")
            .text("Reading. ")
            .call("read_file", json!({"file_path": "a.txt"})),
    );
    stage.server.stream(reply().text("It says alpha."));
    stage.home.project_file("a.txt", "alpha\n");
    let (mut client, session) = Client::with_session(stage);
    let prompt = client.prompt(&session, "what does a.txt say?");
    client.answer(prompt).unwrap();
    client.end().assert_code(0);
    session
}

#[test]
fn a_session_is_loaded_with_its_conversation() {
    let stage = Stage::new();
    let session = earlier(&stage);
    stage.server.stream(reply().text("Still alpha."));
    let mut client = Client::start(&stage);
    client.initialize(json!({}));
    let request = client.request("session/load", load(&stage, &session));
    let (messages, loaded) = client.answer_with(request);
    let loaded = loaded.unwrap();
    assert_eq!(loaded["modes"]["currentModeId"], "default");
    assert_eq!(loaded.get("sessionId"), None);
    let kinds: Vec<Value> =
        updates(&messages).into_iter().map(|update| update["sessionUpdate"].clone()).collect();
    assert_eq!(
        kinds,
        [
            "user_message_chunk",
            "agent_thought_chunk",
            "agent_message_chunk",
            "tool_call",
            "agent_message_chunk",
        ]
    );
    assert_eq!(text_of(&messages, "user_message_chunk"), "what does a.txt say?");
    assert_eq!(text_of(&messages, "agent_message_chunk"), "Reading. It says alpha.");
    let call = &updates(&messages)[3];
    assert_eq!((&call["kind"], &call["status"]), (&json!("read"), &json!("completed")));
    let prompt = client.prompt(&session, "and now?");
    let (messages, _) = client.answer_with(prompt);
    assert_eq!(text_of(&messages, "agent_message_chunk"), "Still alpha.");
    assert!(stage.requests()[2].contents().len() > 3, "the model gets the conversation");
}

#[test]
fn a_session_is_resumed_without_its_conversation_and_replaces_itself() {
    let stage = Stage::new();
    let session = earlier(&stage);
    let mut client = Client::start(&stage);
    client.initialize(json!({}));
    for method in ["session/resume", "session/load", "session/resume"] {
        let request = client.request(method, load(&stage, &session));
        let (messages, result) = client.answer_with(request);
        result.unwrap();
        let is_load = method == "session/load";
        assert_eq!(text_of(&messages, "user_message_chunk").is_empty(), !is_load, "{method}");
    }
    stage.server.stream(reply().text("one"));
    let prompt = client.prompt(&session, "go on");
    let (messages, _) = client.answer_with(prompt);
    assert_eq!(text_of(&messages, "agent_message_chunk"), "one");
    client.end().assert_code(0);
}

#[test]
fn sessions_are_listed_closed_and_deleted() {
    let stage = Stage::new();
    let session = earlier(&stage);
    let mut client = Client::start(&stage);
    client.initialize(json!({}));
    let cwd = json!({"cwd": stage.home.project()});
    let listed = client.call("session/list", cwd.clone()).unwrap();
    let [entry] = &listed["sessions"].as_array().unwrap()[..] else { panic!("{listed}") };
    assert_eq!((&entry["sessionId"], &entry["cwd"]), (&json!(session), &cwd["cwd"]));
    assert_eq!(entry["title"], "what does a.txt say?");
    client.call("session/load", load(&stage, &session)).unwrap();
    let of = json!({"sessionId": session});
    assert_eq!(client.call("session/delete", of.clone()).unwrap_err()["code"], -32603);
    assert_eq!(client.call("session/close", of.clone()), Ok(json!({})));
    let error = client.call("session/close", of.clone()).unwrap_err();
    assert_eq!(error["message"], format!("Session not found: {session}"));
    assert_eq!(client.call("session/delete", of), Ok(json!({})));
    let listed = client.call("session/list", cwd).unwrap();
    assert_eq!(listed["sessions"], json!([]));
}

#[test]
fn a_session_of_another_folder_than_the_programs_is_deleted() {
    let stage = Stage::with([reply().text("x")]);
    let other = TestHome::new();
    let mut client = Client::start(&stage);
    client.initialize(json!({}));
    let folder = json!({"cwd": other.project(), "mcpServers": []});
    let opened = client.call("session/new", folder).unwrap();
    let of = json!({"sessionId": opened["sessionId"]});
    let prompt = client.prompt(opened["sessionId"].as_str().unwrap(), "go");
    client.answer(prompt).unwrap();
    client.call("session/close", of.clone()).unwrap();
    let cwd = json!({"cwd": other.project()});
    let listed = client.call("session/list", cwd.clone()).unwrap();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(client.call("session/delete", of), Ok(json!({})));
    assert_eq!(client.call("session/list", cwd).unwrap()["sessions"], json!([]));
}

#[test]
fn a_session_is_loaded_once_at_a_time() {
    let stage = Stage::new();
    let session = earlier(&stage);
    let mut client = Client::start(&stage);
    client.initialize(json!({}));
    let ids: Vec<i64> =
        (0..5).map(|_| client.request("session/load", load(&stage, &session))).collect();
    let mut answers = Vec::new();
    while answers.len() < ids.len() {
        answers.extend(client.until(|message| !message["id"].is_null()).pop());
    }
    let failures = answers.iter().filter_map(|answer| answer["error"]["data"]["details"].as_str());
    let failures: Vec<_> = failures.collect();
    assert!(failures.len() < ids.len(), "{answers:?}");
    let expected = "The session is being opened already.";
    assert!(failures.iter().all(|failure| *failure == expected), "{failures:?}");
    let prompt = client.prompt(&session, "go");
    stage.server.stream(reply().text("on"));
    client.answer(prompt).unwrap();
}

#[test]
fn closing_a_session_cancels_its_prompt() {
    let gate = ReplyGate::closed();
    let stage = Stage::with([reply().text("never").held_by(&gate)]);
    let (mut client, session) = Client::with_session(&stage);
    let prompt = client.prompt(&session, "go");
    stage.server.wait_for_requests(1, SOON);
    let close = client.request("session/close", json!({"sessionId": session}));
    assert_eq!(client.answer(prompt), Ok(json!({"stopReason": "cancelled"})));
    assert_eq!(client.answer(close), Ok(json!({})));
    gate.open();
}

#[test]
fn a_prompt_may_follow_the_answer_that_opens_its_session_at_once() {
    let stage = Stage::new();
    let endpoint = pollux_testkit::Endpoint::StreamGenerateContent;
    stage.server.answer_with(endpoint, |_| reply().text("hi"));
    let mut client = Client::start(&stage);
    client.initialize(json!({}));
    for round in 0..20 {
        let session = client.new_session(&stage);
        let prompt = client.prompt(&session, "go");
        let result = client.answer(prompt);
        assert_eq!(result.map(|end| end["stopReason"].clone()), Ok(json!("end_turn")), "{round}");
    }
}

#[test]
fn sessions_work_side_by_side_each_in_its_folder() {
    let gate = ReplyGate::closed();
    let stage = Stage::with([reply().text("slow").held_by(&gate), reply().text("fast")]);
    let other = TestHome::new();
    other.project_file("GEMINI.md", "the other folder");
    let (mut client, slow) = Client::with_session(&stage);
    let params = json!({"cwd": other.project(), "mcpServers": []});
    let opened = client.call("session/new", params).unwrap();
    let fast = opened["sessionId"].as_str().unwrap().to_owned();
    assert_ne!(slow, fast);
    let first = client.prompt(&slow, "one");
    stage.server.wait_for_requests(1, SOON);
    let second = client.prompt(&fast, "two");
    let (messages, result) = client.answer_with(second);
    assert_eq!(result.unwrap()["stopReason"], "end_turn");
    assert_eq!(text_of(&messages, "agent_message_chunk"), "fast");
    let bodies: Vec<String> =
        stage.requests().iter().map(|request| request.body.to_string()).collect();
    assert!(!bodies[0].contains("the other folder") && bodies[1].contains("the other folder"));
    gate.open();
    let (messages, _) = client.answer_with(first);
    assert_eq!(text_of(&messages, "agent_message_chunk"), "slow");
    assert!(messages.iter().all(|message| message["params"]["sessionId"] == *slow));
}

#[test]
fn two_sessions_change_one_file_without_loss() {
    let read = || reply().call("read_file", json!({"file_path": "a.txt"}));
    let replace = |old: &str, new: &str| {
        let change = json!({"file_path": "a.txt", "old_string": old, "new_string": new,
                            "instruction": "change it"});
        reply().call("replace", change)
    };
    let stage = Stage::new();
    stage.home.project_file("a.txt", "one\ntwo\n");
    let mut client = Client::start(&stage);
    client.initialize(json!({}));
    let [first, second] = [(); 2].map(|()| {
        let session = client.new_session(&stage);
        let yolo = json!({"sessionId": session, "modeId": "yolo"});
        client.call("session/set_mode", yolo).unwrap();
        session
    });
    let mut turn = |session: &str, call| {
        stage.server.stream(call).stream(reply().text("done"));
        let prompt = client.prompt(session, "go");
        client.answer(prompt).unwrap();
    };
    turn(&first, read());
    turn(&second, read());
    turn(&first, replace("one", "1"));
    turn(&second, replace("two", "2"));
    assert_eq!(stage.home.read_project_file("a.txt"), "1\n2\n");
    // The first session does not know the second change.
    turn(&first, reply().call("write_file", json!({"file_path": "a.txt", "content": "1\n"})));
    assert_eq!(stage.home.read_project_file("a.txt"), "1\n2\n");
    let last = stage.requests().last().unwrap().body.to_string();
    assert!(last.contains("has changed on disk since it was read"), "{last}");
}

#[test]
fn commands_are_offered_and_run() {
    let stage = Stage::new();
    let mut client = Client::start(&stage);
    client.initialize(json!({}));
    let session = client.new_session(&stage);
    let available = client.update("available_commands_update");
    let names: Vec<&str> = available["availableCommands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|command| command["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"about") && names.contains(&"compress"), "{names:?}");
    assert!(!names.contains(&"quit") && !names.contains(&"shell"), "{names:?}");
    let prompt = client.prompt(&session, "/about");
    let (messages, result) = client.answer_with(prompt);
    let quota = json!({"token_count": {"input_tokens": 0, "output_tokens": 0}, "model_usage": []});
    let expected = json!({"stopReason": "end_turn", "_meta": {"quota": quota}});
    assert_eq!(result, Ok(expected));
    assert!(text_of(&messages, "agent_message_chunk").contains("Pollux 0."));
    let prompt = client.prompt(&session, "/help");
    let help = text_of(&client.answer_with(prompt).0, "agent_message_chunk");
    assert!(help.contains("/compress") && !help.contains("/quit"), "{help}");
    // The client gets the list once.
    let lists = updates(&messages).into_iter();
    let lists = lists.filter(|update| update["sessionUpdate"] == "available_commands_update");
    assert_eq!(lists.count(), 0);
    // What is not offered is a prompt.
    stage.server.stream(reply().text("no shell"));
    let prompt = client.prompt(&session, "/shell touch x");
    client.answer(prompt).unwrap();
    assert!(!stage.home.project().join("x").exists());
}

#[test]
fn a_to_do_list_is_a_plan() {
    let todos = json!({"todos": [
        {"description": "one", "status": "completed"},
        {"description": "two", "status": "in_progress"},
        {"description": "three", "status": "pending"},
    ]});
    let stage = Stage::with([reply().call("write_todos", todos), reply().text("done")]);
    let mut client = Client::start(&stage);
    client.initialize(json!({}));
    let session = client.new_session(&stage);
    let yolo = json!({"sessionId": session, "modeId": "yolo"});
    client.call("session/set_mode", yolo).unwrap();
    client.prompt(&session, "go");
    let plan = client.update("plan");
    let entries: Vec<_> = plan["entries"].as_array().unwrap().iter().collect();
    let entries: Vec<_> =
        entries.iter().map(|entry| (&entry["content"], &entry["status"])).collect();
    assert_eq!(
        entries,
        [
            (&json!("one"), &json!("completed")),
            (&json!("two"), &json!("in_progress")),
            (&json!("three"), &json!("pending")),
        ]
    );
    client.until(|message| message["result"]["stopReason"] == "end_turn");
}

#[test]
fn servers_of_the_client_are_used() {
    let stage = Stage::with([reply().call("mcp_docs_look", json!({})), reply().text("hi")]);
    let server = ScriptServer { call: "text \"seen $KEY\"", ..ScriptServer::default() };
    let command = server.write(&stage, "server");
    let mut client = Client::start(&stage);
    client.initialize(json!({}));
    let mut params = folder(&stage);
    let env = json!([{"name": "KEY", "value": "$HOME"}]);
    params["mcpServers"] = json!([{"name": "docs", "command": command, "args": [], "env": env}]);
    let opened = client.call("session/new", params).unwrap();
    let session = opened["sessionId"].as_str().unwrap().to_owned();
    let deadline = Instant::now() + SOON;
    loop {
        let prompt = client.prompt(&session, "/mcp list");
        let (messages, _) = client.answer_with(prompt);
        if text_of(&messages, "agent_message_chunk").contains("docs (stdio): ready") {
            break;
        }
        assert!(Instant::now() < deadline, "{messages:?}");
    }
    let prompt = client.prompt(&session, "go");
    let asked = client.asked("session/request_permission");
    let options = asked["params"]["options"].to_string();
    assert!(options.contains("proceed_always_server"), "{options}");
    client.choose(&asked, "proceed_once");
    client.answer(prompt).unwrap();
    assert!(stage.response().contains("seen $HOME"), "{}", stage.response());
}
