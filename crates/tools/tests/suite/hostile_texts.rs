//! Hostile texts in every text parameter of every built-in tool. The call must return a typed error
//! or a result in time and of bounded size, without access to anything outside.

use std::time::{Duration, Instant};

use pollux_protocol::ToolErrorKind;
use pollux_testkit::Tree;
use serde_json::{Map, Value, json};

use super::hostile_arguments::{properties, run, samples, session};
use super::session::Session;

/// Maximum time of a call, because a model waits for the result. Generous: tests run unoptimised
/// and in parallel.
const LIMIT: Duration = Duration::from_secs(20);
/// Maximum length of an error message: arguments must not be repeated completely.
const MAX_MESSAGE: usize = 33 * 1024;

const MEGABYTE: usize = 1 << 20;

fn texts() -> Vec<(&'static str, String)> {
    let repeated = |text: &str| text.repeat(MEGABYTE / text.len() + 1);
    vec![
        ("nothing", String::new()),
        ("blanks", " \t\n".to_owned()),
        ("NUL", "\0".to_owned()),
        ("NUL inside", "plain\0/../../outside/secret".to_owned()),
        ("dots", "..".to_owned()),
        ("up", "../outside/secret".to_owned()),
        ("up to the root", format!("{}etc/passwd", "../".repeat(40))),
        ("root", "/".to_owned()),
        ("memory", "/proc/self/mem".to_owned()),
        ("environment", "/proc/self/environ".to_owned()),
        ("own files", "/proc/self/fd/0".to_owned()),
        ("zeros", "/dev/zero".to_owned()),
        ("terminal", "/dev/tty".to_owned()),
        ("control", "\u{1b}[2J\u{7}\r\n\u{202e}".to_owned()),
        ("no character", "caf\u{fffd}".to_owned()),
        ("URL", "file://localhost/etc/passwd".to_owned()),
        ("escapes", "%2e%2e/outside/secret%00".to_owned()),
        ("letters", repeated("x")),
        ("NULs", repeated("\0")),
        ("folders", repeated("a/")),
        ("ups", repeated("../")),
        ("lines", repeated("line\n")),
        ("stars", repeated("**/")),
        ("braces", repeated("{")),
        ("brackets", repeated("[a")),
        ("parentheses", repeated("(")),
        ("characters", repeated("🦀")),
    ]
}

/// Returns calls with `text` in one place, for each place that accepts a text.
fn places(schema: &Value, text: &str) -> Vec<(String, Map<String, Value>)> {
    let good = samples(schema);
    let mut calls = Vec::new();
    for (name, schema) in properties(schema) {
        for value in values(&schema, text) {
            let mut args = good.clone();
            args.insert(name.clone(), value);
            calls.push((name.clone(), args));
        }
    }
    calls
}

/// Returns the values of a schema with `text` in one place.
fn values(schema: &Value, text: &str) -> Vec<Value> {
    match schema["type"].as_str() {
        Some("string") if schema.get("enum").is_none() => vec![json!(text)],
        Some("array") => {
            values(&schema["items"], text).into_iter().map(|item| json!([item])).collect()
        }
        Some("object") => {
            places(schema, text).into_iter().map(|(_, args)| Value::Object(args)).collect()
        }
        _ => Vec::new(),
    }
}

/// Runs a call and returns the problems of its result.
async fn ask(session: &Session, tool: &str, args: &Map<String, Value>, about: &str) -> Vec<String> {
    let start = Instant::now();
    let output = run(session, tool, args, about).await;
    let mut wrong = Vec::new();
    if start.elapsed() > LIMIT {
        wrong.push(format!("{:?}", start.elapsed()));
    }
    if let Some(error) = &output.error {
        if error.kind == ToolErrorKind::UnhandledException {
            wrong.push(error.message.clone());
        }
        if error.message.len() > MAX_MESSAGE {
            wrong.push(format!("a message of {} bytes", error.message.len()));
        }
    }
    let reported: String = output.content.iter().filter_map(|part| part.as_text()).collect();
    if reported.contains("secret words") {
        wrong.push("read outside".to_owned());
    }
    wrong.into_iter().map(|what| format!("{tool} {about}: {what}")).collect()
}

#[tokio::test]
async fn no_text_hangs_a_tool_or_leads_outside() {
    let session = session();
    session.file("plain", "text\n");
    std::fs::write(session.outside.join("secret"), "secret words\n").unwrap();
    let before = Tree::of(&session.outside);
    let (mut asked, mut wrong) = (0, Vec::new());
    for tool in &session.tools {
        let (name, schema) = (tool.name().to_owned(), tool.declaration().parameters);
        for (kind, text) in texts() {
            for (property, args) in places(&schema, &text) {
                wrong.extend(ask(&session, &name, &args, &format!("{property}: {kind}")).await);
                asked += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(asked > 500, "only {asked} were asked");
    assert_eq!(Tree::of(&session.outside).changes_since(&before), [""; 0]);
}
