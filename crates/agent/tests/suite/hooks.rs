//! The user's hooks at the events of the loop, with every outcome.

use pollux_protocol::{
    CallStatus, Effects, Event, Measurement, PromptOutcome, Record, ToolErrorKind, ToolKind,
    ToolOutput, TurnLimit,
};
use pollux_scripted::{FakeTool, ScriptedReply, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{Stage, Talk};

/// Returns a command line that prints this reply.
fn says(reply: &Value) -> String {
    format!("cat > /dev/null; printf '%s' '{reply}'")
}

/// Returns a command line that prints a reply with this event-specific output.
fn specific(specific: &Value) -> String {
    says(&json!({ "hookSpecificOutput": specific }))
}

/// Command line that appends every event to the file `events` in the project folder.
const KEEP: &str = "cat >> events; echo >> events";

/// Returns the events that [`KEEP`] has saved.
fn kept(stage: &Stage) -> Vec<Value> {
    let text = std::fs::read_to_string(stage.path("events")).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["hook_event_name"].as_str().unwrap()).collect()
}

fn write(path: &str) -> ScriptedReply {
    reply().text("hello").call_with_id("w", "write", json!({"path": path}))
}

/// Returns a tool that changes the file named by its argument, and refuses an argument that is not
/// text.
fn writing() -> FakeTool {
    FakeTool::new("write")
        .kind(ToolKind::Edit)
        .checks(|args| match args["path"].as_str() {
            Some(_) => Ok(()),
            None => Err("params/path must be string".to_owned()),
        })
        .effects(|args| Effects::write(args["path"].as_str().unwrap()))
        .runs(|args, _| std::future::ready(ToolOutput::quiet(format!("wrote {}", args["path"]))))
}

/// Returns a stage whose model writes a file and is done, and the tool.
fn stage(hooks: &[(&str, &str, &str)]) -> (Stage, FakeTool) {
    let tool = writing();
    let stage = Stage::with([write("a.txt"), reply().text("done")]).tool(tool.clone());
    (stage.hooks(hooks), tool)
}

/// Returns the number of prompts of the user in the journal.
fn prompts(talk: &Talk) -> usize {
    let is_prompt = |record: &&Record| matches!(record, Record::User { .. });
    talk.journal.records().iter().filter(is_prompt).count()
}

/// Returns the messages of hooks for the user.
fn said(talk: &Talk) -> Vec<String> {
    talk.log.all(|event| match event {
        Event::HookMessage { message, .. } => Some(message.clone()),
        _ => None,
    })
}

fn stopped(outcome: &PromptOutcome) -> &str {
    let PromptOutcome::Stopped(reason) = outcome else { panic!("{outcome:?}") };
    reason
}

#[tokio::test]
async fn a_prompt_is_refused() {
    let deny = says(&json!({ "decision": "deny", "reason": "not today" }));
    for command in [&*deny, "echo 'not today' >&2; exit 2", "echo 'not today'; exit 3"] {
        let stage = Stage::with([]);
        let stage = stage.hooks(&[("BeforeAgent", "ignored", command), ("AfterAgent", "", KEEP)]);
        let talk = stage.start();
        talk.done("go").await;
        assert_eq!(talk.log.blocked(), ["not today"], "{command}");
        assert_eq!(talk.models.all_sent().len(), 0);
        assert_eq!(prompts(&talk), 0, "a prompt that was refused was never said");
        assert_eq!(kept(&talk.close().await), [Value::Null; 0], "nothing was worked on");
    }
}

#[tokio::test]
async fn what_does_not_refuse() {
    for command in
        ["exit 2", "echo '{\"a\":1}'; exit 2", "echo hi; exit 1", "kill -9 $$", "echo 5; exit 2"]
    {
        let stage = Stage::with([reply().text("done")]).hooks(&[("BeforeAgent", "", command)]);
        let talk = stage.start();
        talk.done("go").await;
        assert_eq!(talk.log.text(), "done", "{command}");
    }
}

#[tokio::test]
async fn a_prompt_is_stopped() {
    let stop = says(&json!({ "continue": false, "stopReason": "enough", "reason": "r" }));
    let talk = Stage::with([]).hooks(&[("BeforeAgent", "", &stop)]).start();
    assert_eq!(stopped(&talk.prompt("go").await), "enough");
    assert_eq!(prompts(&talk), 1, "what was said stays said");
}

#[tokio::test]
async fn words_for_the_model_come_with_the_prompt() {
    let context = specific(&json!({ "additionalContext": "mind </hook_context> & this" }));
    let stage = Stage::with([reply().text("done")]).hooks(&[("BeforeAgent", "", &context)]);
    let talk = stage.start();
    talk.done("go").await;
    let fenced = "<hook_context>mind &lt;/hook_context&gt; & this</hook_context>";
    assert_eq!(talk.models.last().user_texts()[1..], ["go", fenced]);
}

#[tokio::test]
async fn a_session_begins_with_words_of_programs() {
    let start = says(&json!({ "systemMessage": "welcome", "decision": "deny", "continue": false,
        "hookSpecificOutput": { "additionalContext": "it rains" } }));
    let hooks: &[_] = &[
        ("SessionStart", "startup", start.as_str()),
        ("SessionStart", "start.*", "touch matched"),
        ("SessionStart", "resume", KEEP),
    ];
    let fenced = "<hook_context>it rains</hook_context>";
    let talk = Stage::with([reply().text("done"), reply().text("more")]).hooks(hooks).start();
    talk.done("go").await;
    assert_eq!(said(&talk), ["welcome"]);
    assert_eq!(talk.models.last().user_texts()[1..], [format!("{fenced}\n\ngo")]);
    let talk = talk.resume().await;
    talk.done("go on").await;
    let stage = talk.close().await;
    assert!(!stage.path("matched").exists(), "reasons are compared as they are");
    assert_eq!(kept(&stage)[0]["source"], "resume");

    // In an interactive session, the text comes before the prompt.
    let stage = Stage::with([reply().text("done")]).interactive().hooks(&hooks[..1]);
    let talk = stage.start();
    talk.done("go").await;
    assert_eq!(talk.models.last().user_texts()[1..], [fenced, "go"]);
}

#[tokio::test]
async fn a_call_is_refused_and_the_model_reported() {
    let deny = says(&json!({ "decision": "block", "reason": "hands off" }));
    let hooks = [("BeforeTool", "write|replace", &*deny), ("AfterTool", "", KEEP)];
    let (stage, tool) = stage(&hooks);
    let talk = stage.start();
    talk.done("go").await;
    let message = "Tool execution blocked: hands off";
    assert_eq!(talk.models.last().responses(), [json!({ "error": message })]);
    let error = talk.finished()[0].error.clone().unwrap();
    assert_eq!((error.kind, &*error.message), (ToolErrorKind::PolicyViolation, message));
    assert_eq!(tool.ran().len(), 0);
    assert_eq!(kept(&talk.close().await), [Value::Null; 0], "it did not run");
}

#[tokio::test]
async fn matchers_choose_by_tool() {
    let deny = says(&json!({ "decision": "deny" }));
    for (matcher, refused) in
        [("write", true), ("^read", false), ("*", true), ("(?!write)^.*", false), ("write[", false)]
    {
        let (stage, tool) = stage(&[("BeforeTool", matcher, &deny)]);
        stage.start().done("go").await;
        assert_eq!(tool.ran().is_empty(), refused, "{matcher}");
    }
}

#[tokio::test]
async fn a_call_stops_the_work() {
    let stop = says(&json!({ "continue": false, "stopReason": "enough" }));
    for event in ["BeforeTool", "AfterTool"] {
        let (stage, tool) = stage(&[(event, "", &stop)]);
        let talk = stage.start();
        let outcome = talk.prompt("go").await;
        assert!(stopped(&outcome).ends_with("enough"), "{outcome:?}");
        let error = talk.finished()[0].error.clone().unwrap();
        assert_eq!(error.kind, ToolErrorKind::StopExecution, "{event}");
        assert_eq!(talk.models.streamed().len(), 1);
        assert_eq!(tool.ran().len(), usize::from(event == "AfterTool"));
        talk.models.discard_replies();
    }
}

#[tokio::test]
async fn arguments_are_replaced_and_judged_again() {
    let rewrite = |arguments: Value| specific(&json!({ "tool_input": arguments }));
    let other = rewrite(json!({ "path": "b.txt" }));
    let (stage_of_other, tool) = stage(&[("BeforeTool", "", &other), ("AfterTool", "", KEEP)]);
    let talk = stage_of_other.start();
    talk.done("go").await;
    assert_eq!(tool.ran()[0]["path"], "b.txt");
    let reported = talk.models.last().response();
    let remark = "\n\n[System] Tool input parameters were modified by a hook before execution.";
    assert_eq!(reported, format!("wrote \"b.txt\"{remark}"));
    let events = kept(&talk.close().await);
    assert_eq!(events[0]["tool_input"]["path"], "b.txt", "what has run");

    let bad = rewrite(json!({ "path": 5 }));
    let (stage, tool) = stage(&[("BeforeTool", "", &bad)]);
    let talk = stage.start();
    talk.done("go").await;
    let reported = talk.models.last().response();
    let failed =
        "Tool parameter modification by hook failed validation: params/path must be string";
    assert_eq!((reported.as_str(), tool.ran().len()), (failed, 0));
}

#[tokio::test]
async fn policy_judges_what_programs_made_of_a_call() {
    let rules = "[[rule]]\ntoolName = \"write\"\ndecision = \"allow\"\npriority = 1\n\
        argsPattern = \"a.txt\"\n[[rule]]\ntoolName = \"write\"\ndecision = \"deny\"\npriority = 1\n\
        argsPattern = \"code.rs\"\n";
    let other = specific(&json!({ "tool_input": { "path": "code.rs" } }));
    for decision in ["allow", "approve", "ask"] {
        let allow = says(&json!({ "decision": decision }));
        let (stage, tool) = stage(&[("BeforeTool", "", &other), ("BeforeTool", "write.*", &allow)]);
        let talk = Stage { rules: rules.to_owned(), ..stage }.start();
        talk.done("go").await;
        assert_eq!(tool.ran().len(), 0, "{decision}");
        let reported = talk.models.last().response();
        assert!(reported.starts_with("Tool execution denied by policy."), "{reported}");
    }
}

#[tokio::test]
async fn asking_needs_a_person() {
    let ask = says(&json!({ "decision": "ask", "systemMessage": "sure?" }));
    let (stage, tool) = stage(&[("BeforeTool", "", &ask)]);
    let talk = stage.start();
    talk.done("go").await;
    assert_eq!(said(&talk), ["sure?"]);
    let refused = "Tool execution for \"write\" requires user confirmation, which is not supported in non-interactive mode.";
    assert_eq!(talk.models.last().response(), refused);
    assert_eq!(tool.ran().len(), 0);
}

#[tokio::test]
async fn a_result_is_withheld() {
    let deny = says(&json!({ "decision": "deny", "reason": "secret" }));
    let (stage, tool) = stage(&[("AfterTool", "", &deny)]);
    let talk = stage.start();
    talk.done("go").await;
    assert_eq!(tool.ran().len(), 1, "it ran");
    assert_eq!(talk.models.last().responses(), [json!({ "error": "secret" })]);
    assert_eq!(talk.finished()[0].status, CallStatus::Error);
}

#[tokio::test]
async fn words_follow_a_result() {
    let context = specific(&json!({ "additionalContext": "lint: <ok>" }));
    let (stage, _) = stage(&[("AfterTool", "", &context)]);
    let talk = stage.start();
    talk.done("go").await;
    let reported = talk.models.last().response();
    assert!(reported.ends_with("\n\n<hook_context>lint: &lt;ok&gt;</hook_context>"), "{reported}");
}

#[tokio::test]
async fn another_call_takes_the_place_of_one() {
    let tail = |name: &str, arguments: Value| {
        specific(&json!({ "tailToolCallRequest": { "name": name, "args": arguments } }))
    };
    let look = tail("look", json!({ "path": "a.txt" }));
    let (with_look, _) = stage(&[("AfterTool", "write", &look), ("BeforeTool", "", KEEP)]);
    let talk = with_look.start();
    talk.done("go").await;
    assert_eq!(talk.models.last().response(), "done", "what the other tool answered");
    let events = kept(&talk.close().await);
    let named =
        |place: usize| (&events[place]["tool_name"], &events[place]["original_request_name"]);
    assert_eq!(named(0), (&json!("write"), &Value::Null));
    assert_eq!(named(1), (&json!("look"), &json!("write")));

    let unknown = tail("nope", json!({}));
    let (stage, _) = stage(&[("AfterTool", "write", &unknown)]);
    let talk = stage.start();
    talk.done("go").await;
    let reported = talk.models.last().response();
    assert!(reported.starts_with("Tool \"nope\" not found."), "{reported}");
}

#[tokio::test]
async fn a_call_and_the_call_in_its_place_are_recorded_each_under_its_own_name() {
    let tail = |name: &str, arguments: Value| {
        specific(&json!({ "tailToolCallRequest": { "name": name, "args": arguments } }))
    };
    let (look, last) = (tail("look", json!({"path": "a"})), tail("nope", json!({"n": 2})));
    let (stage, _) = stage(&[("AfterTool", "write", &look), ("AfterTool", "look", &last)]);
    let talk = stage.start();
    talk.done("go").await;
    let answer = talk.models.last().response();
    assert!(answer.starts_with("Tool \"nope\" not found."), "{answer}");
    let asked = talk.finished()[0].call.clone();
    assert_eq!(asked.name, "write");
    let measured: Vec<(String, Value, bool)> = talk.log.measured(|measured| match measured {
        Measurement::ToolCall(call) => Some((call.name.clone(), call.args.clone(), call.success)),
        _ => None,
    });
    let expected = [
        ("write".to_owned(), asked.args.clone(), true),
        ("look".to_owned(), json!({"path": "a"}), true),
        ("nope".to_owned(), json!({"n": 2}), false),
    ];
    assert_eq!(measured, expected);
    let records: Vec<_> = talk
        .journal
        .records()
        .into_iter()
        .filter_map(|record| match record {
            Record::CallFinished(call) => Some(call),
            _ => None,
        })
        .collect();
    let id = |end: &str| format!("{}{end}", asked.id);
    let named: Vec<_> = records.iter().map(|call| (call.id.to_string(), &*call.name)).collect();
    // The call of the model is recorded with each result that it might have if the work broke off.
    let expected = [
        (id(""), "write"),
        (id("_tail1"), "look"),
        (id(""), "write"),
        (id("_tail2"), "nope"),
        (id(""), "write"),
    ];
    assert_eq!(named, expected);
    for call in &records {
        let args = measured.iter().find(|(name, ..)| *name == call.name).map(|(_, args, _)| args);
        assert_eq!(Some(&call.args), args, "{}", call.name);
    }
    assert_eq!(records[4].result, records[3].result);
    assert_eq!(records[4].status, CallStatus::Error);
    talk.assert_replays();
}

#[tokio::test]
async fn the_work_goes_on_until_a_program_is_content() {
    let again = "cat | tee -a events | grep -q '\"stop_hook_active\":false' && echo '{\"decision\":\"block\",\"reason\":\"and tests?\"}'; \
                 echo >> events; true";
    let stage = Stage::with([reply().text("a"), reply().text("b")]);
    let talk = stage.hooks(&[("AfterAgent", "", again), ("BeforeAgent", "", KEEP)]).start();
    talk.done("go").await;
    assert_eq!(talk.models.last().user_texts()[1..], ["go", "and tests?"]);
    assert_eq!(talk.log.text(), "ab");
    assert_eq!(talk.log.blocked(), ["and tests?"]);
    let events = kept(&talk.close().await);
    assert_eq!(names(&events), ["BeforeAgent", "AfterAgent", "BeforeAgent", "AfterAgent"]);
    assert_eq!(events[2]["prompt"], "and tests?");
    let last = (&events[3]["prompt"], &events[3]["prompt_response"]);
    assert_eq!(last, (&json!("go"), &json!("a\nb")));
    assert_eq!(events[3]["stop_hook_active"], true);
}

#[tokio::test]
async fn the_work_goes_on_without_what_was_said() {
    let again = "grep -q '\"stop_hook_active\":false' && echo '{\"decision\":\"block\",\"reason\":\"anew\",\"hookSpecificOutput\":{\"clearContext\":true}}'; true";
    let stage = Stage::with([reply().text("a"), reply().text("b"), reply().text("c")]);
    let talk = stage.hooks(&[("AfterAgent", "", again)]).start();
    talk.done("go").await;
    let last = talk.models.last();
    assert!(last.user_texts()[0].starts_with("<session_context>"), "{:?}", last.user_texts());
    assert_eq!(last.user_texts()[1..], ["anew"]);
    // The old text does not come back after a restart.
    let stage = Stage { hooks: Value::Null, ..talk.close().await.resumed() };
    let talk = stage.start();
    talk.done("more").await;
    assert_eq!(talk.models.last().user_texts()[1..], ["anew", "more"]);
    assert_eq!(talk.models.last().contents()[2].text(), "b");
}

#[tokio::test]
async fn the_end_of_the_work_is_stopped() {
    let stop = says(&json!({ "continue": false, "stopReason": "enough" }));
    let stage = Stage::with([reply().text("a")]).hooks(&[("AfterAgent", "", &stop)]);
    let talk = stage.start();
    assert_eq!(stopped(&talk.prompt("go").await), "enough");
    assert_eq!(talk.log.text(), "a");
}

#[tokio::test]
async fn a_model_that_is_never_content_ends() {
    let more = "echo '{\"decision\":\"block\",\"reason\":\"more\"}'";
    let stage = Stage::with((0..3).map(|_| reply().text("a")));
    let stage = stage.hooks(&[("AfterAgent", "", more)]);
    let talk = Stage { max_turns: Some(3), ..stage }.start();
    let outcome = talk.prompt("go").await;
    assert!(matches!(outcome, PromptOutcome::TurnLimit(TurnLimit::Session)), "{outcome:?}");
}

#[tokio::test]
async fn a_request_is_refused_stopped_or_answered_by_a_program() {
    let answer = json!({ "candidates": [{ "content": { "role": "model", "parts": ["from the cache"] }, "finishReason": "STOP" }] });
    let cached =
        says(&json!({ "decision": "deny", "hookSpecificOutput": { "llm_response": answer } }));
    let talk = Stage::with([]).hooks(&[("BeforeModel", "", &cached)]).start();
    talk.done("go").await;
    assert_eq!(talk.log.text(), "from the cache");
    assert_eq!(talk.log.blocked(), ["No reason provided"]);
    // The answer that the user saw is also the answer in the resumed conversation.
    let stage = Stage { hooks: Value::Null, ..talk.close().await.resumed() };
    stage.models.stream(reply().text("again"));
    let talk = stage.start();
    talk.done("more").await;
    assert_eq!(talk.models.last().contents()[2].text(), "from the cache");

    let refuse = says(&json!({ "decision": "block", "reason": "no" }));
    let talk = Stage::with([]).hooks(&[("BeforeModel", "", &refuse)]).start();
    talk.done("go").await;
    assert_eq!((talk.log.text().as_str(), talk.log.blocked()), ("", vec!["no".to_owned()]));

    let stop = says(&json!({ "continue": false, "stopReason": "s" }));
    let talk = Stage::with([]).hooks(&[("BeforeModel", "", &stop)]).start();
    assert_eq!(stopped(&talk.prompt("go").await), "s");
    assert_eq!(talk.models.all_sent().len(), 0);
}

#[tokio::test]
async fn a_request_is_changed() {
    let change = specific(
        &json!({ "llm_request": { "model": "other", "config": { "temperature": 0.1, "maxOutputTokens": 50 },
        "messages": [{ "role": "user", "content": "NEW" }, { "role": "user", "content": "MORE" }] } }),
    );
    let stage = Stage::with([reply().text("done")]).hooks(&[("BeforeModel", "", &change)]);
    let talk = stage.start();
    talk.done("go").await;
    let sent = talk.models.last();
    assert_eq!((sent.model.as_str(), sent.user_texts()), ("other", vec!["NEW", "MORE"]));
    let tuning = &sent.request.adjustments.tuning;
    assert_eq!(tuning.temperature.as_ref().and_then(serde_json::Number::as_f64), Some(0.1));
    assert_eq!(tuning.top_p, None, "what is not named stays");
    // The conversation itself keeps the user's text.
    let history = talk.journal.history();
    assert_eq!(history.entries()[1].content().text(), "go");
}

#[tokio::test]
async fn a_model_that_does_not_exist_is_not_asked() {
    let change = specific(&json!({ "llm_request": { "model": "nobody/nothing" } }));
    let stage = Stage::with([reply().text("done")]).hooks(&[("BeforeModel", "", &change)]);
    stage.models.forget("nobody/nothing");
    let talk = stage.start();
    talk.done("go").await;
    assert_eq!((talk.log.text().as_str(), talk.models.last().model.as_str()), ("done", "main"));
    assert!(talk.log.notices()[0].contains("nobody/nothing"), "{:?}", talk.log.notices());
}

#[tokio::test]
async fn tools_are_chosen() {
    let choose = async |mode: &str, names: &[&str]| {
        let choice =
            specific(&json!({ "toolConfig": { "mode": mode, "allowedFunctionNames": names } }));
        let (stage, _) = stage(&[("BeforeToolSelection", "", &choice)]);
        let talk = stage.start();
        talk.done("go").await;
        let sent = talk.models.last();
        let tools: Vec<String> = sent.tools().into_iter().map(str::to_owned).collect();
        (tools, sent.request.adjustments.tool_choice.clone())
    };
    let all = vec!["look".to_owned(), "write".to_owned()];
    assert_eq!(choose("AUTO", &[]).await, (all.clone(), None));
    let (offered, choice) = choose("NONE", &["look"]).await;
    assert_eq!((offered, choice.unwrap().mode), (all.clone(), pollux_protocol::ToolMode::None));
    let (offered, choice) = choose("ANY", &["look", "nope"]).await;
    let choice = choice.unwrap();
    assert_eq!((offered, choice.mode), (all, pollux_protocol::ToolMode::Any));
    assert_eq!(choice.allowed, ["look"]);
    assert_eq!(choose("AUTO", &["look"]).await, (vec!["look".to_owned()], None));
}

#[tokio::test]
async fn an_answer_is_replaced_piece_by_piece() {
    let cut = json!({ "candidates": [{ "content": { "role": "model", "parts": ["[cut]"] }, "finishReason": "STOP" }] });
    let replace = specific(&json!({ "llm_response": cut }));
    let stage = Stage::with([reply().text("one").text("two")]);
    let talk = stage.hooks(&[("AfterModel", "", &replace)]).start();
    talk.done("go").await;
    assert_eq!(talk.log.text(), "[cut][cut]");
    let history = talk.journal.history();
    let said = history.entries().last().unwrap().content().text();
    assert_eq!(said, "[cut][cut]", "what was shown is what is remembered");
}

#[tokio::test]
async fn an_empty_replacement_replaces_nothing() {
    for response in
        [json!({ "text": "T" }), json!({ "candidates": [{ "content": { "parts": [] } }] })]
    {
        let replace = specific(&json!({ "llm_response": response }));
        let stage = Stage::with([reply().text("done")]).hooks(&[("AfterModel", "", &replace)]);
        let talk = stage.start();
        talk.done("go").await;
        assert_eq!(talk.log.text(), "done");
    }
}

#[tokio::test]
async fn an_answer_is_withheld_with_its_calls() {
    let deny = says(&json!({ "decision": "deny", "reason": "leak" }));
    let (stage, tool) = stage(&[("AfterModel", "", &deny)]);
    let talk = stage.start();
    talk.done("go").await;
    assert_eq!((talk.log.text().as_str(), talk.log.blocked()), ("", vec!["leak".to_owned()]));
    assert_eq!((tool.ran().len(), talk.models.streamed().len()), (0, 1));
    talk.models.discard_replies();
    let stop = says(&json!({ "continue": false, "stopReason": "s" }));
    let stage = Stage::with([reply().text("the secret")]).hooks(&[("AfterModel", "", &stop)]);
    let talk = stage.start();
    assert_eq!(stopped(&talk.prompt("go").await), "s");
    assert_eq!(talk.log.text(), "");
}

#[tokio::test]
async fn pieces_of_an_answer_warn_once() {
    let answer = (0..6).fold(reply(), |answer, number| answer.text(format!("{number} ")));
    let stage = Stage::with([answer]).hooks(&[("AfterModel", "", "echo '{}'; exit 1")]);
    let talk = stage.start();
    talk.done("go").await;
    let warned = talk.log.notices().concat().matches("failed for event AfterModel").count();
    assert_eq!(warned, 1);
}
