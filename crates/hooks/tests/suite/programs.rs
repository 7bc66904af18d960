//! Input of programs, and their parallel or sequential execution.

use pollux_hooks::Hooks;
use pollux_protocol::{CancellationToken, HookEvent, HookPayload};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{Bench, hook, options, says, tool_call};

#[tokio::test]
async fn a_program_reads_the_event_from_its_input() {
    let bench = Bench::command("cat > event.json", json!({}));
    let outcome = bench.call().await;
    assert_eq!(outcome.runs.len(), 1);
    assert!(outcome.runs[0].succeeded() && outcome.merged.is_null());
    let text = bench.text("event.json");
    assert!(text.ends_with('}'), "no line end: {text:?}");
    let mut event: Value = serde_json::from_str(&text).unwrap();
    let time = event["timestamp"].take();
    let time = time.as_str().unwrap();
    assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
    let cwd = bench.folder.path().display().to_string();
    let keys: Vec<&String> = event.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "session_id",
            "transcript_path",
            "cwd",
            "hook_event_name",
            "timestamp",
            "tool_name",
            "tool_input"
        ]
    );
    assert_eq!(
        event,
        json!({"session_id": "the-session", "transcript_path": "/chats/file.jsonl", "cwd": cwd,
            "hook_event_name": "BeforeTool", "timestamp": null, "tool_name": "glob", "tool_input": {"pattern": "*"}})
    );
}

#[tokio::test]
async fn a_program_knows_where_it_is() {
    let command = "pwd > out; echo $GEMINI_PROJECT_DIR \"$GEMINI_PLANS_DIR\" $GEMINI_PLANS_DIR '$GEMINI_SESSION_ID' >> out; \
                   printenv GEMINI_CWD CLAUDE_PROJECT_DIR GEMINI_SESSION_ID OWN >> out";
    let bench =
        Bench::command(command, json!({ "env": { "OWN": "mine", "GEMINI_SESSION_ID": "over" } }));
    bench.call().await;
    let cwd = bench.folder.path().display();
    assert_eq!(
        bench.text("out"),
        format!("{cwd}\n{cwd} /plans here /plans here the-session\n{cwd}\n{cwd}\nover\nmine\n")
    );
}

#[tokio::test]
async fn programs_run_beside_each_other_unless_reported_otherwise() {
    // Each waits for the other.
    let wait_for = |other: &str, name: &str| {
        let wait = format!("until test -e {other}; do sleep 0.05; done");
        hook(&format!("touch {name}; {wait}; touch {name}.end"), &json!({ "timeout": 30_000 }))
    };
    let both = json!([{ "hooks": [wait_for("b", "a"), wait_for("a", "b")] }]);
    let bench = Bench::new(json!({ "BeforeTool": both }));
    bench.call().await;
    assert!(["a.end", "b.end"].iter().all(|name| bench.folder.path().join(name).exists()));
    let wait = |name: &str| {
        hook(&format!("echo start {name} >> log; sleep 1; echo end {name} >> log"), &json!({}))
    };
    let one = json!([{ "hooks": [wait("a")] }, { "sequential": true, "hooks": [wait("b")] }]);
    let bench = Bench::new(json!({ "BeforeTool": one }));
    bench.call().await;
    assert_eq!(bench.text("log"), "start a\nend a\nstart b\nend b\n");
}

#[tokio::test]
async fn one_after_the_other_sees_what_was_changed() {
    let first = says(&json!({ "hookSpecificOutput": { "tool_input": { "path": "x" } } }));
    let failing = format!(
        "{}; exit 1",
        says(&json!({ "hookSpecificOutput": { "tool_input": { "path": "y" } } }))
    );
    let hooks = [
        hook(&first, &json!({})),
        hook(&failing, &json!({})),
        hook("cat > event.json", &json!({})),
    ];
    let bench = Bench::new(json!({ "BeforeTool": [{ "sequential": true, "hooks": hooks }] }));
    let outcome = bench.call().await;
    let event: Value = serde_json::from_str(&bench.text("event.json")).unwrap();
    assert_eq!(
        event["tool_input"],
        json!({ "pattern": "*", "path": "x" }),
        "a failure changes nothing here"
    );
    // The last reply decides, even if its program failed.
    assert_eq!(Value::from(outcome.result.tool_input.unwrap()), json!({ "path": "y" }));
}

#[tokio::test]
async fn a_block_does_not_keep_later_programs_from_running() {
    let hooks = [hook("echo no >&2; exit 2", &json!({})), hook("touch ran", &json!({}))];
    let bench = Bench::new(json!({ "BeforeTool": [{ "sequential": true, "hooks": hooks }] }));
    let outcome = bench.call().await;
    assert_eq!(outcome.result.block.as_deref(), Some("no"));
    assert!(bench.folder.path().join("ran").exists());
}

#[tokio::test]
async fn replies_count_in_the_order_of_the_settings() {
    let say = |seconds: f32, words: &str| {
        hook(&format!("sleep {seconds}; echo '{{\"systemMessage\":\"{words}\"}}'"), &json!({}))
    };
    let bench = Bench::new(json!({ "BeforeTool": [{ "hooks": [say(0.5, "a"), say(0.0, "b")] }] }));
    let outcome = bench.call().await;
    assert_eq!(outcome.result.system_message.as_deref(), Some("a\nb"));
}

#[tokio::test]
async fn only_those_that_are_meant_run() {
    let definitions = json!({
        "BeforeTool": [{ "matcher": "^write", "hooks": [hook("touch write", &json!({}))] },
            { "matcher": "glob|grep", "hooks": [hook("touch glob", &json!({ "name": "g" })), hook("touch twice; echo x >> count", &json!({}))] },
            { "hooks": [hook("touch twice; echo x >> count", &json!({}))] }],
        "AfterTool": [{ "hooks": [hook("touch after", &json!({}))] }],
    });
    let bench = Bench::new(definitions.clone());
    assert!(bench.hooks().has(HookEvent::AfterTool) && !bench.hooks().has(HookEvent::BeforeModel));
    bench.call().await;
    let exists = |file: &str| bench.folder.path().join(file).exists();
    assert!(exists("glob") && !exists("write") && !exists("after"));
    assert_eq!(bench.text("count"), "x\n", "the same twice is one");

    let folder = tempfile::tempdir().unwrap();
    let mut options = options(&definitions, folder.path());
    options.disabled = vec!["g".to_owned()];
    let hooks = Hooks::new(options);
    hooks.fire(&tool_call(), &CancellationToken::new()).await;
    assert!(!folder.path().join("glob").exists());
    assert!(folder.path().join("twice").exists());
    hooks.switch("g", true);
    hooks.fire(&tool_call(), &CancellationToken::new()).await;
    assert!(folder.path().join("glob").exists());
}

#[tokio::test]
async fn nobody_to_run_costs_nothing() {
    let bench = Bench::new(json!({}));
    let outcome = bench.fire(HookPayload::BeforeAgent { prompt: "x".to_owned() }).await;
    assert!(outcome.runs.is_empty());
    assert_eq!(outcome.result, pollux_hooks::HookResult::default());
}

#[tokio::test]
async fn many_programs_at_once() {
    let hooks: Vec<Value> =
        (0..80).map(|n| hook(&format!("sleep 0.05; echo {n} >> log"), &json!({}))).collect();
    let bench = Bench::new(json!({ "BeforeTool": [{ "hooks": hooks }] }));
    let outcome = bench.call().await;
    assert_eq!(outcome.runs.iter().filter(|run| run.succeeded()).count(), 80);
    assert_eq!(bench.text("log").lines().count(), 80);
}
