//! Hostile arguments: every parameter of every built-in tool is omitted or has a wrong type, and
//! every kind of file is used as a path. The call must return a typed error or a result in time,
//! without access to anything outside.

use std::time::Duration;

use pollux_protocol::{CancellationToken, ToolErrorKind, ToolOutput};
use pollux_testkit::Tree;
use serde_json::{Map, Value, json};

use super::session::Session;

/// Maximum time of a call; a longer call counts as hanging.
const LIMIT: Duration = Duration::from_mins(1);

/// Returns a session with all tools.
pub(super) fn session() -> Session {
    Session::with(|context| {
        context.options.task_tracker = true;
        context.options.save_memory = true;
        context.options.internal_docs = true;
        let folder = context.spill_directory.parent().unwrap().to_path_buf();
        context.plans_directory = folder.join("plans");
        context.tracker_directory = folder.join("tracker");
        context.memory_file = folder.join("memory/GEMINI.md");
    })
}

/// Returns a value that the schema accepts.
fn sample(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        Some("boolean") => json!(false),
        Some("array") => {
            let count = schema["minItems"].as_u64().unwrap_or(1).max(1);
            (0..count).map(|_| sample(&schema["items"])).collect()
        }
        Some("object") => Value::Object(samples(schema)),
        _ => json!("x"),
    }
}

/// Returns the required properties with values that the schema accepts.
pub(super) fn samples(schema: &Value) -> Map<String, Value> {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    required.map(|name| (name.to_owned(), sample(&schema["properties"][name]))).collect()
}

pub(super) fn properties(schema: &Value) -> Vec<(String, Value)> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.map(|(name, schema)| (name.clone(), schema.clone())).collect()
}

/// Runs a call that may fail but must not hang, panic, or write outside.
pub(super) async fn run(
    session: &Session,
    tool: &str,
    args: &Map<String, Value>,
    about: &str,
) -> ToolOutput {
    let cancel = CancellationToken::new();
    let invocation = match session.prepare(tool, &Value::Object(args.clone())) {
        Ok(invocation) => invocation,
        Err(error) => return error.into(),
    };
    let running = invocation.run(session.run_context(cancel));
    let output = tokio::time::timeout(LIMIT, running).await;
    let output = output.unwrap_or_else(|_| panic!("{tool} hangs: {about}"));
    if let Some(error) = &output.error {
        assert_ne!(error.kind, ToolErrorKind::UnhandledException, "{tool} {about}: {error}");
        assert!(
            error.message.len() <= 64 * 1024,
            "{tool} {about}: a message of {}",
            error.message.len()
        );
    }
    output
}

#[test]
fn what_is_missing_or_of_another_type_is_refused() {
    let session = session();
    let values = [json!(null), json!(true), json!(1.5), json!("x"), json!(["x"]), json!({"x": 1})];
    let mut checked = 0;
    for tool in &session.tools {
        let (name, schema) = (tool.name().to_owned(), tool.declaration().parameters);
        let good = samples(&schema);
        for property in schema["required"].as_array().into_iter().flatten() {
            let property = property.as_str().unwrap();
            let mut args = good.clone();
            args.remove(property);
            let Err(error) = session.prepare(&name, &Value::Object(args)) else {
                panic!("{name} was taken without {property}");
            };
            assert_eq!(error.kind, ToolErrorKind::InvalidToolParams, "{name} {property}");
            let expected = format!("params must have required property '{property}'");
            assert_eq!(error.message, expected, "{name}");
            checked += 1;
        }
        for (property, schema) in properties(&schema) {
            let Some(wanted) = schema["type"].as_str() else { continue };
            for value in &values {
                let fits = match value {
                    Value::Bool(_) => wanted == "boolean",
                    Value::Number(_) => wanted == "number",
                    Value::String(_) => wanted == "string",
                    Value::Array(_) => wanted == "array",
                    Value::Object(_) => wanted == "object",
                    Value::Null => false,
                };
                if fits {
                    continue;
                }
                let mut args = good.clone();
                args.insert(property.clone(), value.clone());
                let Err(error) = session.prepare(&name, &Value::Object(args)) else {
                    panic!("{name} took {value} as {property}");
                };
                assert_eq!(error.kind, ToolErrorKind::InvalidToolParams, "{name} {property}");
                assert!(
                    error.message.starts_with(&format!("params/{property} must be ")),
                    "{}",
                    error.message
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 200, "only {checked} were checked");
}

/// Returns a session with files of every kind that can be created without a device.
#[cfg(unix)]
fn among_every_sort_of_file() -> Session {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    let session = session();
    session.file("plain", "text\n");
    session.file("dir/inner", "text\n");
    session.file("latin/keep", "x\n");
    std::fs::write(session.outside.join("secret"), "secret words\n").unwrap();
    super::session::make_fifo(&session.path("fifo"));
    for (target, name) in [
        ("loop2", "loop1"),
        ("loop1", "loop2"),
        ("self", "self"),
        ("/dev/zero", "zero"),
        ("/proc/self/mem", "mem"),
        ("../outside/secret", "door"),
        ("../outside", "way"),
        ("nowhere", "dangling"),
        ("../outside/new", "out"),
    ] {
        symlink(target, session.path(name)).unwrap();
    }
    std::fs::write(session.path("latin").join(std::ffi::OsStr::from_bytes(b"caf\xe9")), "y\n")
        .unwrap();
    session
}

/// Paths to these files.
#[cfg(unix)]
const PATHS: &[&str] = &[
    "fifo",
    "socket",
    "loop1",
    "self",
    "zero",
    "mem",
    "door",
    "way/secret",
    "way/new",
    "out",
    "dangling",
    "dir",
    "plain/below",
    "plain/../dir",
    "latin",
    "latin/caf\u{fffd}",
    "fifo/x",
    "zero/x",
    "",
    ".",
    "./.",
    "dir/",
];

/// Returns calls of every tool that takes a path.
#[cfg(unix)]
fn calls_about(path: &str) -> Vec<(&'static str, Value)> {
    let pattern = if path.is_empty() { "**" } else { path };
    let edit = |old: &str| json!({"file_path": path, "instruction": "", "old_string": old, "new_string": "w"});
    vec![
        ("read_file", json!({"file_path": path})),
        ("write_file", json!({"file_path": path, "content": "written\n"})),
        ("replace", edit("secret")),
        ("replace", edit("")),
        ("list_directory", json!({"dir_path": path})),
        ("glob", json!({"pattern": "*", "dir_path": path})),
        ("glob", json!({"pattern": pattern})),
        ("grep_search", json!({"pattern": "secret", "dir_path": path})),
        ("read_many_files", json!({"include": [pattern], "useDefaultExcludes": false})),
        ("run_shell_command", json!({"command": "true", "dir_path": path})),
    ]
}

#[cfg(unix)]
#[tokio::test]
async fn no_sort_of_file_hangs_a_tool_or_leads_outside() {
    let session = among_every_sort_of_file();
    let _socket = std::os::unix::net::UnixListener::bind(session.path("socket")).unwrap();
    let before = Tree::of(&session.outside);
    for path in PATHS {
        for (tool, args) in calls_about(path) {
            let output = run(&session, tool, args.as_object().unwrap(), path).await;
            let reported: String =
                output.content.iter().filter_map(|part| part.as_text()).collect();
            assert!(!reported.contains("secret words"), "{tool} {path}: {reported}");
        }
    }
    assert_eq!(Tree::of(&session.outside).changes_since(&before), [""; 0]);
}
