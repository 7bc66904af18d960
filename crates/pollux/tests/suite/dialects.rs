//! One conversation in each API dialect: the effects, the log and the output are the same.

use std::collections::VecDeque;
use std::sync::Mutex;

use pollux_testkit::{CapturedRequest, ModelReply, Tree, TreeEntry, reply, responses};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::Stage;

const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0";
/// Thought of each turn; its subject is in bold.
const THOUGHT: &str = "**Plan** Think.";
const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";

/// One turn of the model: its text, and its calls by name and arguments.
type Said = (&'static str, Vec<(&'static str, Value)>);

fn script() -> Vec<Said> {
    let edit = json!({
        "file_path": "app.txt",
        "instruction": "mend it",
        "old_string": "brokn",
        "new_string": "broken"
    });
    vec![
        (
            "Looking.",
            vec![
                ("read_file", json!({"file_path": "app.txt"})),
                ("read_file", json!({"file_path": "missing.txt"})),
                ("read_file", json!({"file_path": "a.png"})),
            ],
        ),
        ("", vec![("replace", edit)]),
        ("", vec![("run_shell_command", json!({"command": "cp app.txt copy.txt; echo done"}))]),
        ("It is mended.", vec![]),
    ]
}

fn gemini((text, calls): &Said) -> ModelReply {
    let begun = reply().thought(THOUGHT);
    let begun = if text.is_empty() { begun } else { begun.text(*text) };
    calls.iter().fold(begun, |reply, (name, args)| reply.call(name, args.clone()))
}

fn openai_responses((text, calls): &Said) -> ModelReply {
    let mut items = vec![responses::reasoning(THOUGHT, "gAAA")];
    if !text.is_empty() {
        items.push(responses::message(text));
    }
    let calls = calls.iter().enumerate();
    items.extend(calls.map(|(index, (name, arguments))| {
        responses::call(&format!("call_{name}_{index}"), name, arguments)
    }));
    responses::turn(&items)
}

fn openai_chat((text, calls): &Said) -> ModelReply {
    let chunk = |delta: Value, reason: Option<&str>| {
        json!({
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "model": "gpt-test",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]
        })
    };
    let thought = json!({"role": "assistant", "reasoning_content": THOUGHT});
    let mut chunks = vec![chunk(thought, None), chunk(json!({"content": text}), None)];
    for (index, (name, args)) in calls.iter().enumerate() {
        // The arguments arrive in two pieces, as from a real service.
        let args = args.to_string();
        let (first, rest) = args.split_at(args.len() / 2);
        let call = json!({
            "index": index,
            "id": format!("call_{name}_{index}"),
            "type": "function",
            "function": {"name": name, "arguments": first}
        });
        chunks.push(chunk(json!({"tool_calls": [call]}), None));
        let more = json!({"index": index, "function": {"arguments": rest}});
        chunks.push(chunk(json!({"tool_calls": [more]}), None));
    }
    let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
    chunks.push(chunk(json!({}), Some(reason)));
    let mut payloads: Vec<String> = chunks.iter().map(Value::to_string).collect();
    payloads.push("[DONE]".to_owned());
    let events = payloads.iter().flat_map(|payload| ["data: ", payload, "\n\n"]);
    reply().status(200, events.collect::<String>().into_bytes())
}

/// State at the end of a run.
#[derive(Debug, PartialEq)]
struct State {
    files: Vec<String>,
    answer: Value,
    tools: Value,
    /// Records of the session without data of one run: ids, times, tokens, the model's name.
    records: Vec<Value>,
}

fn run(stage: &Stage, model: &str, wire: &str) -> State {
    run_with(stage, model, wire, &[])
}

fn run_with(stage: &Stage, model: &str, wire: &str, flags: &[&str]) -> State {
    stage.home.project_file("a.png", PICTURE).project_file("app.txt", "brokn\n");
    let program = stage.program().env("OPENAI_API_KEY", "sk-test");
    let program = program.env("OPENAI_BASE_URL", format!("{}/v1", stage.server.url()));
    let program = program.env("OPENAI_WIRE_API", wire);
    let program = program.env("ANTHROPIC_API_KEY", "sk-ant-test");
    let program = program.env("ANTHROPIC_BASE_URL", stage.server.url());
    let program = program.args(flags);
    let run =
        program.args(["-m", model, "--yolo", "-o", "json", "-p", "mend what @a.png shows"]).run();
    run.assert_code(0);
    let root = stage.home.project().display().to_string();
    let reported = run.json();
    let mut tools = reported["stats"]["tools"].clone();
    forget_the_run(&mut tools, &root);
    let records = stage.session_lines().into_iter().filter(|line| line.get("type").is_some());
    State {
        files: ["app.txt", "copy.txt"].map(|name| stage.home.read_project_file(name)).into(),
        answer: reported["response"].clone(),
        tools,
        records: records.map(|record| essence(&record, &root)).collect(),
    }
}

fn essence(record: &Value, root: &str) -> Value {
    let calls = record["toolCalls"].as_array().into_iter().flatten();
    let calls: Vec<Value> = calls
        .map(|call| {
            let response = &call["result"][0]["functionResponse"]["response"];
            json!([call["name"], call["args"], call["status"], response, call["resultDisplay"]])
        })
        .collect();
    // Reasoning that goes back makes the content of a message a list.
    let content = match record["content"].as_array().map(Vec::as_slice) {
        Some([only]) if only.get("text").is_some() => &only["text"],
        _ => &record["content"],
    };
    let thoughts = record["thoughts"].as_array().into_iter().flatten();
    let thoughts: Vec<Value> =
        thoughts.map(|thought| json!([thought["subject"], thought["description"]])).collect();
    let mut essence = json!([record["type"], content, calls, thoughts]);
    forget_the_run(&mut essence, root);
    essence
}

/// Removes values that differ between runs: durations, ids, the folder, process ids.
fn forget_the_run(value: &mut Value, root: &str) {
    match value {
        Value::Object(entries) => {
            entries.retain(|name, _| name != "id" && !name.to_lowercase().contains("duration"));
            entries.values_mut().for_each(|value| forget_the_run(value, root));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| forget_the_run(item, root)),
        Value::String(text) => {
            *text = text.replace(root, "PROJECT");
            if let Some((before, after)) = text.split_once("PGID: ") {
                *text = format!("{before}PGID: {}", after.trim_start_matches(char::is_numeric));
            }
        }
        _ => {}
    }
}

fn serve_openai(stage: &Stage, path: &str, reply: fn(&Said) -> ModelReply) {
    let replies: Mutex<VecDeque<ModelReply>> = Mutex::new(script().iter().map(reply).collect());
    stage.server.route(path, move |_| replies.lock().unwrap().pop_front().expect("a turn is left"));
}

/// Runs the script with a service at this path, in a dialect of OpenAI.
fn run_openai(wire: &str, path: &str, reply: fn(&Said) -> ModelReply) -> (State, Vec<Value>) {
    let stage = Stage::new();
    serve_openai(&stage, path, reply);
    let state = run(&stage, "openai/gpt-test", wire);
    (state, stage.server.requests().into_iter().map(|request| request.body).collect())
}

fn serve_anthropic(stage: &Stage) {
    for turn in script().iter().map(gemini) {
        stage.server.message(turn);
    }
}

fn run_anthropic() -> (State, Vec<CapturedRequest>) {
    let stage = Stage::new();
    serve_anthropic(&stage);
    let state = run(&stage, "anthropic/claude-opus-4-8", "");
    stage.server.assert_all_valid();
    (state, stage.server.requests())
}

#[test]
fn all_dialects_lead_to_the_same_state() {
    let google = Stage::with(script().iter().map(gemini));
    let of_google = run(&google, super::stage::MODEL, "");
    assert_eq!(of_google.files, ["broken\n", "broken\n"]);
    assert_eq!(of_google.answer, "It is mended.");
    assert_eq!(of_google.tools["totalCalls"], 5);
    assert_eq!(of_google.tools["totalFail"], 1);
    let (of_chat, chat) = run_openai("", CHAT, openai_chat);
    assert_eq!(of_google, of_chat);
    let (of_responses, responses) = run_openai("responses", RESPONSES, openai_responses);
    assert_eq!(of_google, of_responses);
    let (of_anthropic, messages) = run_anthropic();
    assert_eq!(of_google, of_anthropic);

    // All models received the picture of the prompt, and then also that of the tool.
    let google: Vec<Value> = google.requests().into_iter().map(|request| request.body).collect();
    let messages: Vec<Value> = messages.into_iter().map(|request| request.body).collect();
    let mut answers = of_google.records.iter().filter(|record| record[0] == "gemini");
    assert!(answers.all(|record| record[3] == json!([["Plan", "Think."]])), "{of_google:?}");
    for (requests, picture) in [
        (&google, r#""mimeType":"image/png""#),
        (&chat, r#""url":"data:image/png;base64,"#),
        (&responses, r#""image_url":"data:image/png;base64,"#),
        (&messages, r#""media_type":"image/png""#),
    ] {
        let pictures = |request: &Value| request.to_string().matches(picture).count();
        assert_eq!(requests.iter().map(pictures).collect::<Vec<_>>(), [1, 2, 2, 2], "{picture}");
    }
    // Reasoning goes back each time, before what it led to.
    let kinds = |request: &Value| -> Vec<String> {
        let items = request["input"].as_array().unwrap().iter();
        items.map(|item| item["type"].as_str().unwrap_or("message").to_owned()).collect()
    };
    let last = kinds(&responses[3]).join(" ");
    let call = "reasoning function_call function_call_output";
    let (calls, outputs) = (["function_call"; 3].join(" "), ["function_call_output"; 3].join(" "));
    let first = format!("reasoning message {calls} {outputs}");
    assert!(last.ends_with(&format!("{first} {call} {call}")), "{last}");

    let breakpoints = |request: &Value| {
        request.to_string().matches(r#""cache_control":{"type":"ephemeral"}"#).count()
    };
    let breakpoints: Vec<usize> = messages.iter().map(breakpoints).collect();
    assert_eq!(breakpoints, [3, 4, 4, 4]);
}

/// A service for the script: its model, `OPENAI_WIRE_API`, and the function that starts it.
type Service = (&'static str, &'static str, fn(&Stage));

#[test]
fn a_recording_leads_to_the_same_state_again() {
    let services: [Service; 4] = [
        (super::stage::MODEL, "", |stage| {
            for turn in script().iter().map(gemini) {
                stage.server.stream(turn);
            }
        }),
        ("openai/gpt-test", "chat", |stage| serve_openai(stage, CHAT, openai_chat)),
        ("openai/gpt-test", "responses", |stage| {
            serve_openai(stage, RESPONSES, openai_responses);
        }),
        ("anthropic/claude-opus-4-8", "", serve_anthropic),
    ];
    for (model, wire, serve) in services {
        let stage = Stage::new();
        serve(&stage);
        let folder = stage.home.root().join("recording");
        let flags = ["--record-wire", folder.to_str().unwrap()];
        let state = run_with(&stage, model, wire, &flags);
        let request = stage.server.last_request();
        let key = ["x-goog-api-key", "authorization", "x-api-key"]
            .iter()
            .find_map(|name| request.header(name))
            .and_then(|value| value.split(' ').next_back());
        let key = key.expect("a key was sent");
        for (path, entry) in Tree::of(&folder).entries {
            let TreeEntry::File(bytes, _) = entry else { continue };
            assert!(!String::from_utf8_lossy(&bytes).contains(key), "{path}");
        }

        let again = Stage::new();
        again.server.serve_recording(&folder);
        assert_eq!(run(&again, model, wire), state, "{model} {wire}");
        assert_eq!(again.server.requests().len(), stage.server.requests().len());
    }
}

#[test]
fn a_conversation_moves_between_dialects_in_the_middle() {
    let stage = Stage::new();
    let think = responses::reasoning("Hm.", "gAAA");
    let call = responses::call("c1", "read_file", &json!({"file_path": "app.txt"}));
    let replies =
        [responses::turn(&[think, call]), responses::turn(&[responses::message("Read.")])];
    let replies: Mutex<VecDeque<ModelReply>> = Mutex::new(replies.into());
    let last = responses::turn(&[responses::message("Back.")]);
    stage.server.route(RESPONSES, move |_| {
        replies.lock().unwrap().pop_front().unwrap_or_else(|| last.clone())
    });
    stage.server.route(CHAT, |_| openai_chat(&("In chat.", vec![])));
    stage.server.stream(reply().text("In Gemini."));
    stage.home.project_file("app.txt", "text\n");
    let ask = |model: &str, wire: &str, resumed: bool| {
        let program = stage.program().env("OPENAI_API_KEY", "sk-test");
        let program = program.env("OPENAI_BASE_URL", format!("{}/v1", stage.server.url()));
        let program = program.env("OPENAI_WIRE_API", wire).args(["-m", model, "-p", "go"]);
        let run = if resumed { program.args(["--resume", "latest"]) } else { program }.run();
        run.assert_code(0);
        let body = stage.server.last_request().body.to_string();
        (run.stdout_text(), body.contains("gAAA"), body.contains("text\\n"))
    };
    for (model, wire, answer, has_reasoning) in [
        ("openai/m", "responses", "Read.\n", true),
        ("openai/m", "chat", "In chat.\n", false),
        (super::stage::MODEL, "", "In Gemini.\n", false),
        ("openai/other", "responses", "Back.\n", false),
        ("openai/m", "responses", "Back.\n", true),
    ] {
        let seen = ask(model, wire, answer != "Read.\n");
        // What the tool has read is there in each dialect.
        assert_eq!(seen, (answer.to_owned(), has_reasoning, true), "{model} {wire}");
    }
}

#[test]
fn a_conversation_with_pictures_and_thoughts_moves_between_three_vendors() {
    let stage = Stage::new();
    stage.home.project_file("a.png", PICTURE);
    let picture = json!({"file_path": "a.png"});
    // Gemini signs the call, and Claude the thought.
    let call = reply().thought(THOUGHT).call("read_file", picture.clone());
    stage.server.stream(call.signature("b2YgR2VtaW5p")).stream(reply().text("Gemini saw it."));
    let thought = reply().thought(THOUGHT).signature("b2YgQ2xhdWRl");
    stage.server.message(thought.call("read_file", picture.clone()));
    stage.server.message(reply().text("Claude saw it."));
    let call = responses::call("c1", "read_file", &picture);
    let replies = [
        responses::turn(&[responses::reasoning(THOUGHT, "b2YgR1BU"), call]),
        responses::turn(&[responses::message("GPT saw it.")]),
        responses::turn(&[responses::message("GPT again.")]),
    ];
    let replies: Mutex<VecDeque<ModelReply>> = Mutex::new(replies.into());
    stage.server.route(RESPONSES, move |_| replies.lock().unwrap().pop_front().unwrap());
    stage.server.stream(reply().text("Gemini again."));
    stage.server.message(reply().text("Claude again."));

    let (gemini, claude, gpt) = (super::stage::MODEL, "anthropic/claude-opus-4-8", "openai/gpt-5");
    let signatures = ["b2YgR2VtaW5p", "b2YgQ2xhdWRl", "b2YgR1BU"];
    let mut said = Vec::new();
    for (model, answer, pictures, signature) in [
        (gemini, "Gemini saw it.", 1, 0),
        (claude, "Claude saw it.", 2, 1),
        (gpt, "GPT saw it.", 3, 2),
        (gemini, "Gemini again.", 3, 0),
        (claude, "Claude again.", 3, 1),
        (gpt, "GPT again.", 3, 2),
    ] {
        let program = stage.program().env("OPENAI_API_KEY", "sk-test");
        let program = program.env("OPENAI_BASE_URL", format!("{}/v1", stage.server.url()));
        let program = program.env("OPENAI_WIRE_API", "responses");
        let program = program.env("ANTHROPIC_API_KEY", "sk-ant-test");
        let program = program.env("ANTHROPIC_BASE_URL", stage.server.url());
        let resumed: &[&str] = if said.is_empty() { &[] } else { &["--resume", "latest"] };
        let run = program.args(["-m", model, "-p", "look at it"]).args(resumed).run();
        run.assert_code(0);
        assert_eq!(run.stdout_text().trim_end(), answer);
        let body = stage.server.last_request().body.to_string();
        // Every model has the pictures and the answers of the others, and only its own thoughts.
        assert_eq!(body.matches("iVBORw0KGgo").count(), pictures, "{model}: {body}");
        assert!(said.iter().all(|answer| body.contains(answer)), "{model}: {body}");
        let sent: Vec<bool> = signatures.iter().map(|one| body.contains(one)).collect();
        assert_eq!(sent, [signature == 0, signature == 1, signature == 2], "{model}: {body}");
        said.push(answer);
    }
    stage.server.assert_all_valid();
}
