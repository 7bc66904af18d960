//! `--acp`: an agent for editors. Prompts, approvals, modes, trust, and the end.

use std::time::{Duration, Instant};

use pollux_testkit::{Endpoint, ReplyGate, Signal, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::acp_client::{Client, folder, text_of, updates};
use super::stage::{MODEL, SOON, Stage};

const EDIT: &str = "write_file";

fn edit() -> Value {
    json!({"file_path": "a.txt", "content": "new\n"})
}

#[test]
fn initialize_reports_what_the_agent_can_do() {
    let stage = Stage::new();
    let mut client = Client::start(&stage);
    let answer = client.initialize(json!({"fs": {"readTextFile": true}}));
    assert_eq!(answer["protocolVersion"], 1);
    assert_eq!(answer["agentInfo"]["name"], "pollux");
    let capabilities = &answer["agentCapabilities"];
    assert_eq!(capabilities["loadSession"], true);
    assert_eq!(
        capabilities["promptCapabilities"],
        json!({"image": true, "audio": true, "embeddedContext": true})
    );
    let methods: Vec<_> =
        answer["authMethods"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(methods, ["gemini-api-key", "gateway"]);
    client.end().assert_code(0);
}

#[test]
fn a_prompt_is_answered_piece_by_piece() {
    let stage = Stage::with([reply()
        .thought("**Plan** look first")
        .text("Hello ")
        .text("you")
        .usage(100, 7)]);
    let (mut client, session) = Client::with_session(&stage);
    let id = client.prompt(&session, "hi @nothing");
    let (messages, result) = client.answer_with(id);
    let result = result.unwrap();
    assert_eq!(result["stopReason"], "end_turn");
    let count = json!({"input_tokens": 100, "output_tokens": 7});
    assert_eq!(result["_meta"]["quota"]["token_count"], count);
    let model = json!([{"model": MODEL, "token_count": count}]);
    assert_eq!(result["_meta"]["quota"]["model_usage"], model);
    assert_eq!(text_of(&messages, "agent_message_chunk"), "Hello you");
    assert_eq!(text_of(&messages, "agent_thought_chunk"), "**Plan**\nlook first");
    assert_eq!(stage.requests()[0].last_parts()[1]["text"], "hi @nothing");
    let usage = updates(&messages).into_iter().find(|one| one["sessionUpdate"] == "usage_update");
    let usage = usage.expect("a usage");
    assert_eq!(usage["used"], 107);
    assert_eq!(usage["cost"]["currency"], "USD");
    assert!(usage["size"].as_u64().unwrap() > 100_000, "{usage}");
    client.end().assert_code(0);
}

#[test]
fn the_tokens_of_an_unusable_answer_are_counted() {
    let stage = Stage::new();
    stage
        .server
        .answer_with(Endpoint::StreamGenerateContent, |_| reply().finish("SAFETY").usage(100, 7));
    let (mut client, session) = Client::with_session(&stage);
    let id = client.prompt(&session, "hi");
    let count = json!({"input_tokens": 100, "output_tokens": 7});
    assert_eq!(client.answer(id).unwrap()["_meta"]["quota"]["token_count"], count);
}

#[test]
fn an_edit_is_approved_in_the_client() {
    let stage = Stage::with([reply().call(EDIT, edit()), reply().text("done")]);
    stage.home.project_file("a.txt", "old\n");
    let (mut client, session) = Client::with_session(&stage);
    let prompt = client.prompt(&session, "edit");
    let (before, asked) = client.asked_with("session/request_permission");
    let announced = updates(&before).pop().unwrap();
    // A status that is left out is `pending`.
    assert_eq!((&announced["sessionUpdate"], announced.get("status")), (&json!("tool_call"), None));
    let params = &asked["params"];
    assert_eq!(params["sessionId"], *session);
    let call = &params["toolCall"];
    assert_eq!(call["toolCallId"], announced["toolCallId"]);
    assert_eq!((&call["kind"], &call["status"]), (&json!("edit"), &json!("pending")));
    let path = stage.home.project().join("a.txt");
    assert_eq!(call["locations"], json!([{"path": path}]));
    let diff = json!({
        "type": "diff", "path": path, "oldText": "old\n", "newText": "new\n",
        "_meta": {"kind": "modify"}
    });
    assert_eq!(call["content"], json!([diff]));
    let options: Vec<_> = params["options"].as_array().unwrap().iter().collect();
    let ids: Vec<_> = options.iter().map(|option| (&option["optionId"], &option["kind"])).collect();
    assert_eq!(
        ids,
        [
            (&json!("proceed_always"), &json!("allow_always")),
            (&json!("proceed_once"), &json!("allow_once")),
            (&json!("cancel"), &json!("reject_once")),
        ]
    );
    assert_eq!(stage.home.read_project_file("a.txt"), "old\n");
    client.choose(&asked, "proceed_once");
    let (messages, result) = client.answer_with(prompt);
    assert_eq!(result.unwrap()["stopReason"], "end_turn");
    let calls = updates(&messages).into_iter();
    let calls: Vec<Value> =
        calls.filter(|update| update["sessionUpdate"] == "tool_call_update").collect();
    let statuses: Vec<_> = calls.iter().map(|call| &call["status"]).collect();
    assert_eq!(statuses, ["in_progress", "completed"]);
    assert_eq!(calls[1]["content"], json!([diff]));
    assert_eq!(stage.home.read_project_file("a.txt"), "new\n");
    client.end().assert_code(0);
}

#[test]
fn everything_except_an_offered_yes_means_no() {
    for answer in [
        json!({"outcome": {"outcome": "selected", "optionId": "cancel"}}),
        json!({"outcome": {"outcome": "selected", "optionId": "proceed_always_and_save"}}),
        json!({"outcome": {"outcome": "selected", "optionId": "nosuch"}}),
        json!({"outcome": {"outcome": "cancelled"}}),
        json!({"outcome": "yes"}),
        json!({}),
        json!(null),
    ] {
        let stage = Stage::with([reply().call(EDIT, edit()), reply().text("I see.")]);
        let (mut client, session) = Client::with_session(&stage);
        let prompt = client.prompt(&session, "edit");
        let asked = client.asked("session/request_permission");
        client.respond(&asked, answer.clone());
        let (messages, result) = client.answer_with(prompt);
        // The model gets the refusal, and continues.
        assert_eq!(result.unwrap()["stopReason"], "end_turn", "{answer}");
        assert!(stage.response().contains("User denied execution"), "{}", stage.response());
        let last = updates(&messages).into_iter().rfind(|one| one["toolCallId"].is_string());
        assert_eq!(last.unwrap()["status"], "failed", "{answer}");
        assert!(!stage.home.project().join("a.txt").exists(), "{answer}");
    }
}

#[test]
fn an_approval_of_all_edits_changes_the_mode() {
    let stage = Stage::with([reply().call(EDIT, edit()), reply().text("done")]);
    let (mut client, session) = Client::with_session(&stage);
    let prompt = client.prompt(&session, "edit");
    let asked = client.asked("session/request_permission");
    client.choose(&asked, "proceed_always");
    let (messages, _) = client.answer_with(prompt);
    let updates = updates(&messages);
    let mode = updates.iter().find(|one| one["sessionUpdate"] == "current_mode_update");
    assert_eq!(mode.unwrap()["currentModeId"], "autoEdit");
    let options = updates.iter().find(|one| one["sessionUpdate"] == "config_option_update");
    assert_eq!(options.unwrap()["configOptions"][0]["currentValue"], "autoEdit");
}

#[test]
fn a_cancel_ends_a_stream_at_once() {
    let gate = ReplyGate::closed();
    let stage = Stage::with([reply().text("never").held_by(&gate), reply().text("after")]);
    let (mut client, session) = Client::with_session(&stage);
    let prompt = client.prompt(&session, "go");
    stage.server.wait_for_requests(1, SOON);
    let begun = Instant::now();
    client.notify("session/cancel", json!({"sessionId": session}));
    assert_eq!(client.answer(prompt), Ok(json!({"stopReason": "cancelled"})));
    // Many times the promise, for a busy machine.
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    gate.open();
    let next = client.prompt(&session, "again");
    let (messages, result) = client.answer_with(next);
    assert_eq!(result.unwrap()["stopReason"], "end_turn");
    assert_eq!(text_of(&messages, "agent_message_chunk"), "after");
}

#[test]
fn a_cancel_does_not_wait_for_the_answer_to_a_permission_request() {
    let stage = Stage::with([reply().call(EDIT, edit())]);
    let (mut client, session) = Client::with_session(&stage);
    let prompt = client.prompt(&session, "edit");
    let asked = client.asked("session/request_permission");
    client.notify("session/cancel", json!({"sessionId": session}));
    assert_eq!(client.answer(prompt), Ok(json!({"stopReason": "cancelled"})));
    // An answer that comes too late changes nothing.
    client.choose(&asked, "proceed_once");
    client.call("session/set_mode", json!({"sessionId": session, "modeId": "plan"})).unwrap();
    assert!(!stage.home.project().join("a.txt").exists());
}

#[test]
fn no_cancel_is_lost_however_early_it_comes() {
    let stage = Stage::new();
    let endpoint = pollux_testkit::Endpoint::StreamGenerateContent;
    stage.server.answer_with(endpoint, |_| reply().text("never").never_answer());
    let (mut client, session) = Client::with_session(&stage);
    for round in 0..40 {
        let prompt = client.prompt(&session, "go");
        std::thread::sleep(Duration::from_millis(round % 4));
        client.notify("session/cancel", json!({"sessionId": session}));
        let answer = client.answer(prompt);
        assert_eq!(answer, Ok(json!({"stopReason": "cancelled"})), "{round}");
    }
}

#[test]
fn a_new_prompt_replaces_the_one_before() {
    let gate = ReplyGate::closed();
    let stage = Stage::with([reply().text("never").held_by(&gate), reply().text("second")]);
    let (mut client, session) = Client::with_session(&stage);
    let first = client.prompt(&session, "one");
    stage.server.wait_for_requests(1, SOON);
    let second = client.prompt(&session, "two");
    assert_eq!(client.answer(first), Ok(json!({"stopReason": "cancelled"})));
    gate.open();
    let (messages, result) = client.answer_with(second);
    assert_eq!(result.unwrap()["stopReason"], "end_turn");
    assert_eq!(text_of(&messages, "agent_message_chunk"), "second");
}

#[test]
fn prompts_that_replace_one_another_are_all_answered() {
    let stage = Stage::new();
    let endpoint = pollux_testkit::Endpoint::StreamGenerateContent;
    stage.server.answer_with(endpoint, |request| {
        if request.last_parts().iter().any(|part| part["text"] == "last") {
            reply().text("end")
        } else {
            reply().text("never").never_answer()
        }
    });
    let (mut client, session) = Client::with_session(&stage);
    let replaced: Vec<i64> = (0..20).map(|_| client.prompt(&session, "go")).collect();
    let last = client.prompt(&session, "last");
    let (messages, result) = client.answer_with(last);
    assert_eq!(result.unwrap()["stopReason"], "end_turn");
    for prompt in replaced {
        let answer = messages.iter().find(|message| message["id"] == prompt);
        let answer = answer.expect("an answer to each prompt");
        assert_eq!(answer["result"], json!({"stopReason": "cancelled"}), "{prompt}");
    }
}

#[test]
fn modes_and_models_are_chosen_by_requests() {
    let stage = Stage::with([reply().text("hi")]);
    let mut client = Client::start(&stage);
    client.initialize(json!({}));
    let opened = client.call("session/new", folder(&stage)).unwrap();
    let session = opened["sessionId"].as_str().unwrap().to_owned();
    let of = |rest: Value| {
        let mut params = json!({"sessionId": session});
        params.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        params
    };
    assert_eq!(opened["modes"]["currentModeId"], "default");
    assert_eq!(opened["models"]["currentModelId"], MODEL);
    let models = opened["models"]["availableModels"].as_array().unwrap();
    assert!(models.iter().any(|model| model["modelId"] == "gemini-2.5-flash"), "{models:?}");
    assert_eq!(client.call("session/set_mode", of(json!({"modeId": "autoEdit"}))), Ok(json!({})));
    assert_eq!(client.update("current_mode_update")["currentModeId"], "autoEdit");
    let error = client.call("session/set_mode", of(json!({"modeId": "auto_edit"}))).unwrap_err();
    assert_eq!((&error["code"], &error["message"]), (&json!(-32603), &json!("Internal error")));
    assert_eq!(error["data"]["details"], "Invalid or unavailable mode: auto_edit");
    let model = of(json!({"modelId": "gemini-2.5-flash"}));
    assert_eq!(client.call("session/set_model", model), Ok(json!({})));
    let options = client.update("config_option_update");
    assert_eq!(options["configOptions"][1]["currentValue"], "gemini-2.5-flash");
    let prompt = client.prompt(&session, "go");
    client.answer(prompt).unwrap();
    assert_eq!(stage.requests()[0].model(), Some("gemini-2.5-flash"));
    let option = of(json!({"configId": "model", "value": "auto"}));
    let answer = client.call("session/set_config_option", option).unwrap();
    assert_eq!(answer["configOptions"][1]["currentValue"], "auto");
    let option = of(json!({"configId": "nosuch", "value": "auto"}));
    assert_eq!(client.call("session/set_config_option", option).unwrap_err()["code"], -32602);
}

#[test]
fn an_untrusted_folder_is_decided_about_with_the_first_prompt() {
    for (choice, is_trusted) in [("option_0", true), ("option_2", false), ("nosuch", false)] {
        let stage = Stage::with([reply().text("one"), reply().text("two")]);
        stage.home.project_file("GEMINI.md", "Obey the repository.");
        let program = stage.program().env_remove("GEMINI_CLI_TRUST_WORKSPACE");
        let mut client = Client::of(program.args(["-m", MODEL]));
        client.initialize(json!({}));
        let session = client.new_session(&stage);
        // The commands do not wait for the decision.
        let listed = client.update("available_commands_update")["availableCommands"].to_string();
        assert!(listed.contains("compress") && !listed.contains("quit"), "{listed}");
        let yolo = json!({"sessionId": session, "modeId": "yolo"});
        let prompt = client.prompt(&session, "go");
        let asked = client.asked("session/request_permission");
        let options = asked["params"]["options"].as_array().unwrap();
        assert_eq!(options.last().unwrap()["kind"], "reject_always", "{options:?}");
        assert_eq!(stage.requests().len(), 0);
        client.choose(&asked, choice);
        client.answer(prompt).unwrap();
        let body = stage.requests()[0].body.to_string();
        assert_eq!(body.contains("Obey the repository."), is_trusted, "{choice}");
        assert_eq!(client.call("session/set_mode", yolo).is_ok(), is_trusted, "{choice}");
        // The question is asked once.
        let prompt = client.prompt(&session, "again");
        let (messages, _) = client.answer_with(prompt);
        assert_eq!(text_of(&messages, "agent_message_chunk"), "two");
        client.end().assert_code(0);
    }
}

#[test]
fn a_cancel_of_the_question_about_trust_starts_nothing() {
    let stage = Stage::with([reply().text("one")]);
    let program = stage.program().env_remove("GEMINI_CLI_TRUST_WORKSPACE");
    let mut client = Client::of(program.args(["-m", MODEL]));
    client.initialize(json!({}));
    let session = client.new_session(&stage);
    let prompt = client.prompt(&session, "go");
    client.asked("session/request_permission");
    client.notify("session/cancel", json!({"sessionId": session}));
    assert_eq!(client.answer(prompt), Ok(json!({"stopReason": "cancelled"})));
    let prompt = client.prompt(&session, "go");
    let asked = client.asked("session/request_permission");
    client.choose(&asked, "option_0");
    client.answer(prompt).unwrap();
}

#[test]
fn errors_are_those_of_gemini_cli() {
    let stage = Stage::new();
    let mut client = Client::start(&stage);
    client.initialize(json!({}));
    for (method, params, code, message) in [
        ("session/fork", json!({}), -32601, "\"Method not found\": session/fork"),
        ("session/prompt", json!({"sessionId": "x", "prompt": []}), -32602, "Session not found: x"),
        ("session/prompt", json!({"prompt": 5}), -32602, "Invalid params"),
        ("session/new", json!({"cwd": "relative", "mcpServers": []}), -32602, "Invalid params"),
        ("session/new", json!({"cwd": "/nosuch", "mcpServers": []}), -32602, "Invalid params"),
        (
            "session/load",
            json!({"sessionId": "x", "cwd": stage.home.project(), "mcpServers": []}),
            -32603,
            "Internal error",
        ),
    ] {
        let error = client.call(method, params).unwrap_err();
        assert_eq!((&error["code"], &error["message"]), (&json!(code), &json!(message)));
        let details = error["data"]["details"].as_str().unwrap_or_default();
        assert!(!details.starts_with("Error "), "{details}");
    }
    client.end().assert_code(0);
}

#[test]
fn a_failed_request_has_the_status_of_the_service() {
    let stage = Stage::with([pollux_testkit::errors::plain(400)]);
    let (mut client, session) = Client::with_session(&stage);
    let prompt = client.prompt(&session, "go");
    assert_eq!(client.answer(prompt).unwrap_err()["code"], 400);
}

#[test]
fn without_credentials_a_session_requires_authentication() {
    let stage = Stage::new();
    let program = stage.alone().env_remove("GEMINI_API_KEY");
    let mut client = Client::of(program.env("POLLUX_LOCAL_PORTS", ""));
    client.initialize(json!({}));
    let error = client.call("session/new", folder(&stage)).unwrap_err();
    assert_eq!(error["code"], -32000, "{error}");
}

#[test]
fn credentials_of_the_client_are_used_by_its_sessions() {
    let stage = Stage::with([reply().text("hi")]);
    let program = stage.alone().env_remove("GEMINI_API_KEY").env("POLLUX_LOCAL_PORTS", "");
    let mut client = Client::of(program.args(["-m", MODEL]));
    client.initialize(json!({}));
    let error = client.call("authenticate", json!({"methodId": "nosuch"})).unwrap_err();
    assert_eq!(error["code"], -32602);
    let error = client.call("authenticate", json!({"methodId": "oauth-personal"})).unwrap_err();
    assert_eq!(error["code"], -32000);
    let key = json!({"methodId": "gemini-api-key", "_meta": {"api-key": "from-client"}});
    assert_eq!(client.call("authenticate", key), Ok(json!({})));
    let gateway = json!({"baseUrl": stage.server.url(), "headers": {"X-Team": "a"}});
    let gateway = json!({"methodId": "gateway", "_meta": {"gateway": gateway}});
    assert_eq!(client.call("authenticate", gateway), Ok(json!({})));
    let session = client.new_session(&stage);
    let prompt = client.prompt(&session, "go");
    client.answer(prompt).unwrap();
    let request = &stage.requests()[0];
    assert_eq!(request.header("x-goog-api-key"), Some("from-client"));
    assert_eq!(request.header("x-team"), Some("a"));
    // The user's settings have not changed.
    assert!(!stage.home.gemini().join("settings.json").exists());
}

#[test]
fn what_is_no_message_is_answered_and_changes_nothing() {
    let stage = Stage::new();
    let mut client = Client::start(&stage);
    client.initialize(json!({}));
    for (line, code) in [
        ("hello", -32700),
        ("[]", -32600),
        ("{\"jsonrpc\":\"2.0\"}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"x\"}", -32600),
    ] {
        client.program.write_stdin(format!("{line}\n").as_bytes());
        let error = client.until(|message| message["error"]["code"] == code).pop().unwrap();
        assert_eq!(error["id"], Value::Null, "{line}");
    }
    // Answers and notifications that nobody expects are ignored.
    client.send(json!({"id": 99, "result": {}}));
    client.send(json!({"id": "x", "error": {"code": 1, "message": "no"}}));
    client.notify("session/cancel", json!({"sessionId": "x"}));
    client.notify("$/nosuch", json!(5));
    client.new_session(&stage);
    client.end().assert_code(0);
}

#[test]
fn the_end_of_the_input_ends_everything() {
    let stage = Stage::with([reply().call(
        "run_shell_command",
        json!({"command": "echo $$ > pid; sleep 600", "description": "wait"}),
    )]);
    let (mut client, session) = Client::with_session(&stage);
    client.prompt(&session, "go");
    let asked = client.asked("session/request_permission");
    client.choose(&asked, "proceed_once");
    let file = stage.home.project().join("pid");
    let begun = Instant::now();
    let pid = loop {
        match std::fs::read_to_string(&file).ok().and_then(|text| text.trim().parse::<i32>().ok()) {
            Some(pid) => break pid,
            None => assert!(begun.elapsed() < SOON, "the command does not start"),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    client.end().assert_code(0);
    let process = rustix::process::Pid::from_raw(pid).unwrap();
    assert!(rustix::process::test_kill_process(process).is_err(), "the command still runs");
}

#[test]
fn a_signal_ends_the_agent() {
    let gate = ReplyGate::closed();
    let stage = Stage::with([reply().text("never").held_by(&gate)]);
    let (mut client, session) = Client::with_session(&stage);
    client.prompt(&session, "go");
    stage.server.wait_for_requests(1, SOON);
    client.program.signal(Signal::TERM);
    let ended = client.program.wait();
    assert_eq!(ended.code, Some(143), "{}", ended.report());
    gate.open();
}

#[test]
fn requests_of_an_editor_are_recorded() {
    let stage = Stage::with([reply().text("Hello")]);
    let folder = stage.home.root().join("recording");
    let flags = ["-m", MODEL, "--record-wire", folder.to_str().unwrap()];
    let mut client = Client::of(stage.program().args(flags));
    client.initialize(json!({}));
    let session = client.new_session(&stage);
    let id = client.prompt(&session, "hi");
    client.answer_with(id).1.unwrap();
    client.end().assert_code(0);
    let exchange = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let body = std::fs::read_to_string(exchange.join("response.body")).unwrap();
    assert!(body.contains("Hello"), "{body}");
}
