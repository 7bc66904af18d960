//! Transcript of a session: a frontend that opens a session again shows what the events showed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pollux_protocol::{
    Call, CallId, CallStatus, Display, Event, FinishedCall, Op, Part, PreparedCall, PromptOutcome,
    QuestionOutcome, SessionRequest, SessionStart, Thought, ToolKind, TranscriptFrom,
    TranscriptItem,
};
use pollux_scripted::EventLog;
use pollux_testkit::errors::bad_request;
use pollux_testkit::{Endpoint, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{Stage, Talk};

const MODEL: &str = "gemini-2.5-pro";
const SNAPSHOT: &str = "<state_snapshot><overall_goal>Jam.</overall_goal></state_snapshot>";
/// Timeout for an event that never comes; then the test fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// Item of a conversation as a frontend shows it.
#[derive(Debug, PartialEq)]
enum Shown {
    Prompt(String),
    Answer { thoughts: Vec<Thought>, text: String, calls: Vec<ShownCall> },
    Compressed(u64, u64),
    Failure(String),
}

#[derive(Debug, PartialEq)]
struct ShownCall {
    id: CallId,
    name: String,
    args: Value,
    status: CallStatus,
    display: Option<Display>,
    response: Vec<Part>,
    display_name: String,
    description: String,
    kind: Option<ToolKind>,
    locations: Vec<PathBuf>,
}

/// Returns what the events showed. `prompts` are the texts of the prompts by their ids.
fn live(log: &EventLog, prompts: &HashMap<&str, &str>) -> Vec<Shown> {
    let mut prepared = HashMap::<CallId, Arc<PreparedCall>>::new();
    let mut shown = vec![];
    for envelope in log.events() {
        let prompt = envelope.origin.prompt.as_deref();
        match envelope.event {
            Event::PromptStarted => {
                shown
                    .extend(prompts.get(prompt.unwrap()).map(|text| Shown::Prompt((*text).into())));
            }
            Event::TurnStarted { .. } => {
                shown.push(Shown::Answer { thoughts: vec![], text: String::new(), calls: vec![] });
            }
            Event::CallPrepared(call) => drop(prepared.insert(call.call_id.clone(), call)),
            Event::ChatCompressed(report) => {
                shown.push(Shown::Compressed(report.original_tokens, report.new_tokens));
            }
            Event::PromptEnded(PromptOutcome::Failed(error)) => {
                shown.push(Shown::Failure(error.message));
            }
            event => {
                let Some(Shown::Answer { thoughts, text, calls }) = shown.last_mut() else {
                    continue;
                };
                match event {
                    Event::Thought(thought) => thoughts.push(thought),
                    Event::Text(more) => text.push_str(&more),
                    Event::CallsFinished(finished) => calls.extend(
                        finished.iter().map(|call| ended(call, prepared.get(&call.call.id))),
                    ),
                    _ => {}
                }
            }
        }
    }
    shown.retain(|item| match item {
        Shown::Answer { thoughts, text, calls } => {
            !(thoughts.is_empty() && text.is_empty() && calls.is_empty())
        }
        _ => true,
    });
    shown
}

/// Returns a call as its events showed it.
fn ended(call: &FinishedCall, prepared: Option<&Arc<PreparedCall>>) -> ShownCall {
    let Call { id, name, args, .. } = call.call.clone();
    ShownCall {
        id,
        status: call.status,
        args,
        display: call.display.clone(),
        response: call.response.clone(),
        display_name: prepared.map_or(&name, |call| &call.display_name).clone(),
        description: prepared.map(|call| call.description.clone()).unwrap_or_default(),
        kind: prepared.map(|call| call.kind),
        locations: prepared.map(|call| call.locations.clone()).unwrap_or_default(),
        name,
    }
}

/// Returns what the transcript shows, read backwards in small pages.
async fn replayed(talk: &Talk) -> Vec<Shown> {
    let (mut items, mut next) = (Vec::new(), Some(TranscriptFrom::End));
    while let Some(from) = next {
        let page = talk.session.transcript(from, 2).await.unwrap();
        items.splice(..0, page.items);
        next = page.before.map(TranscriptFrom::Before);
    }
    items.into_iter().map(shown).collect()
}

fn text(parts: &[Part]) -> String {
    parts.iter().filter_map(Part::as_text).collect()
}

fn shown(item: TranscriptItem) -> Shown {
    match item {
        TranscriptItem::User { parts, .. } => Shown::Prompt(text(&parts)),
        TranscriptItem::Notice { text, .. } => Shown::Failure(text),
        TranscriptItem::Compressed { tokens, .. } => {
            let (before, after) = tokens.unwrap();
            Shown::Compressed(before, after)
        }
        TranscriptItem::Answer(answer) => {
            let calls = answer.calls.into_iter().map(|call| ShownCall {
                id: call.id,
                name: call.name,
                args: call.args,
                status: call.status,
                display: call.result_display,
                response: call.result.unwrap(),
                display_name: call.display_name,
                description: call.description,
                kind: call.kind,
                locations: call.locations,
            });
            let text = text(&answer.parts);
            Shown::Answer { thoughts: answer.thoughts, text, calls: calls.collect() }
        }
    }
}

async fn resume(stage: &Stage, folder: &Path) -> Talk {
    let start = SessionStart::Resume("latest".to_owned());
    stage.open(SessionRequest { start, ..SessionRequest::new(folder) }, &Arc::default()).await
}

/// Prompts of the conversation in [`converse`], by their ids.
const PROMPTS: [(&str, &str); 4] =
    [("one", "Make jam."), ("two", "Clean up."), ("three", "Tell me."), ("four", "Again.")];

/// Queues the replies for [`converse`], and opens a session.
async fn open(stage: &Stage) -> (Talk, PathBuf) {
    let settings = json!({"model": {"name": MODEL}, "general": {"maxAttempts": 1}});
    let folder = stage.folder("jam", &settings, ("GEMINI.md", ""));
    std::fs::write(folder.join("recipe.txt"), "plums\nsugar\n").unwrap();
    stage.server.answer_with(Endpoint::GenerateContent, |_| reply().text(SNAPSHOT));
    let edit = json!({"file_path": "recipe.txt", "instruction": "Use honey.",
        "old_string": "sugar", "new_string": "honey"});
    let work = reply()
        .thought("**Plan** Read and change.")
        .text("I change ")
        .text("the recipe.")
        .call("replace", edit)
        .call("run_shell_command", json!({"command": "touch pot; echo boiled; echo hot >&2"}))
        .call("read_file", json!({"file_path": "missing.txt"}))
        .call("read_file", json!({"wrong": true}))
        .call("no_such_tool", json!({}));
    stage.reply(MODEL, work);
    stage.reply(MODEL, reply().thought("**Rest** Done.").text("Jam is made.").usage(9000, 5));
    let refused = json!({"command": "rm recipe.txt"});
    stage.reply(MODEL, reply().text("I clean up.").call("run_shell_command", refused));
    stage.reply(MODEL, reply().text("Half an ans").stall_after(1));
    stage.reply(MODEL, bad_request("Too sour"));
    (stage.open(SessionRequest::new(&folder), &Arc::default()).await, folder)
}

/// Has a conversation with an edit, output of a command, calls that fail, a refused call, a
/// compression, an interrupted answer and a failed request.
async fn converse(talk: &Talk) {
    let prompts = HashMap::from(PROMPTS);
    talk.prompt("one", prompts["one"]);
    for number in 0..2 {
        talk.answer(&talk.question(number).await, QuestionOutcome::ProceedOnce);
    }
    talk.log.ended("one").await;
    talk.send(Op::Compress { id: "compress".to_owned() });
    talk.log.ended("compress").await;
    talk.prompt("two", prompts["two"]);
    talk.answer(&talk.question(2).await, QuestionOutcome::Cancel);
    talk.log.ended("two").await;
    talk.prompt("three", prompts["three"]);
    let half = |event: &Event| match event {
        Event::Text(text) if text == "Half an ans" => Some(()),
        _ => None,
    };
    talk.log.first(half).await;
    talk.send(Op::Cancel);
    talk.log.ended("three").await;
    talk.prompt("four", prompts["four"]);
    talk.log.ended("four").await;
}

#[tokio::test]
async fn a_resumed_session_shows_what_the_events_showed() {
    let run = async {
        let stage = Stage::new();
        let (talk, folder) = open(&stage).await;
        converse(&talk).await;
        let now = replayed(&talk).await;
        let log = talk.close().await;
        let mut expected = live(&log, &HashMap::from(PROMPTS));
        let Shown::Answer { calls, .. } = &mut expected[1] else { panic!("{expected:?}") };
        let states: Vec<&str> = calls.iter().map(|call| call.status.as_str()).collect();
        assert_eq!(states, ["success", "success", "error", "error", "error"]);
        let Some(Display::Diff(diff)) = &calls[0].display else { panic!("{calls:?}") };
        assert!(diff.file_diff.contains("+honey"), "{diff:?}");
        assert_eq!(calls[0].locations, [folder.join("recipe.txt")]);
        // A call that was never prepared is not described by events; its record names the tool.
        (calls[3].kind, calls[3].display_name) = (Some(ToolKind::Read), "ReadFile".to_owned());
        assert_eq!(expected.len(), 10, "{expected:#?}");
        assert_eq!(now, expected);
        let resumed = resume(&stage, &folder).await;
        assert_eq!(replayed(&resumed).await, expected);
        resumed.close().await;
    };
    tokio::time::timeout(PATIENCE, run).await.expect("an event did not come");
}

#[tokio::test]
async fn a_running_call_and_text_typed_meanwhile_are_shown() {
    let run = async {
        let stage = Stage::new();
        let settings = json!({"model": {"name": MODEL}});
        let folder = stage.folder("jam", &settings, ("GEMINI.md", ""));
        stage.reply(
            MODEL,
            reply().call("run_shell_command", json!({"command": "touch pot; echo boiled"})),
        );
        stage.reply(MODEL, reply().text("Sweet."));
        let talk = stage.open(SessionRequest::new(&folder), &Arc::default()).await;
        talk.prompt("one", "Make jam.");
        let question = talk.question(0).await;
        let calls = |items: &[TranscriptItem]| match items.last() {
            Some(TranscriptItem::Answer(answer)) => answer.calls.clone(),
            other => panic!("{other:?}"),
        };
        let page = talk.session.transcript(TranscriptFrom::End, 1).await.unwrap();
        let running = calls(&page.items);
        assert_eq!((running[0].status, &running[0].result), (CallStatus::Validating, &None));
        talk.send(Op::Steer("More sugar.".to_owned()));
        talk.answer(&question, QuestionOutcome::ProceedOnce);
        talk.log.ended("one").await;
        let shown = replayed(&talk).await;
        let typed = shown.iter().filter_map(|item| match item {
            Shown::Prompt(text) => Some(text.as_str()),
            _ => None,
        });
        assert_eq!(typed.collect::<Vec<_>>(), ["Make jam.", "More sugar."]);
        talk.close().await;
    };
    tokio::time::timeout(PATIENCE, run).await.expect("an event did not come");
}
