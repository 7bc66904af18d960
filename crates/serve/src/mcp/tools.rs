//! The tools: what they declare, and the arguments of their calls. Pure.

use std::path::PathBuf;

use pollux_protocol::ApprovalMode;
use serde::Deserialize;
use serde_json::{Value, json};

/// Tool that runs a prompt in a new session.
const START: &str = "pollux";
/// Tool that continues a session.
const REPLY: &str = "pollux-reply";

/// Maximum length of the name of a model, in bytes.
const LONGEST_MODEL: usize = 500;
/// Maximum number of further folders.
const MOST_FOLDERS: usize = 100;

/// Work that a call asks for. The arguments have the names of the flags.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Task {
    pub(crate) prompt: String,
    /// Session to continue.
    pub(crate) session_id: Option<String>,
    /// Folder of the session, relative to that of the server.
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) model: Option<String>,
    #[serde(default, rename = "approval_mode", deserialize_with = "approval_mode")]
    pub(crate) mode: Option<ApprovalMode>,
    /// Workspace folders in addition to that of the session.
    pub(crate) include_directories: Option<Vec<PathBuf>>,
}

fn approval_mode<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<ApprovalMode>, D::Error> {
    let word = Option::<String>::deserialize(deserializer)?;
    word.map(|word| word.parse().map_err(serde::de::Error::custom)).transpose()
}

/// Reason why a call cannot be understood.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Misuse {
    /// There is no such tool.
    UnknownTool,
    /// The arguments are wrong, for this reason.
    Arguments(String),
}

/// Reads the arguments of a call.
pub(crate) fn read(tool: &str, arguments: Value) -> Result<Task, Misuse> {
    if tool != START && tool != REPLY {
        return Err(Misuse::UnknownTool);
    }
    let wrong = |reason: &str| Misuse::Arguments(format!("Wrong arguments: {reason}."));
    let task: Task =
        serde_json::from_value(arguments).map_err(|error| wrong(&error.to_string()))?;
    let is_reply = tool == REPLY;
    match &task {
        Task { session_id: Some(_), .. } if !is_reply => {
            Err(wrong("`session_id` is an argument of pollux-reply"))
        }
        Task { session_id: None, .. } if is_reply => Err(wrong("`session_id` is missing")),
        Task { include_directories: Some(_), .. } if is_reply => {
            Err(wrong("the session has its folders already"))
        }
        Task { prompt, .. } if prompt.trim().is_empty() => Err(wrong("the prompt is empty")),
        Task { model: Some(model), .. }
            if model.trim().is_empty() || model.len() > LONGEST_MODEL =>
        {
            Err(wrong("not the name of a model"))
        }
        Task { include_directories: Some(folders), .. } if folders.len() > MOST_FOLDERS => {
            Err(wrong("too many folders"))
        }
        _ => Ok(task),
    }
}

/// Returns the answer to `tools/list`.
pub(crate) fn list() -> Value {
    let prompt =
        json!({"type": "string", "description": "What Pollux shall do. @path includes a file."});
    let model = json!({"type": "string", "description": "Model, by name or alias"});
    let mode = json!({
        "type": "string",
        "enum": ["plan", "default", "auto_edit", "yolo"],
        "description": "Actions without a question: planning only, only reading, edits too, everything. It cannot exceed the mode of the user.",
    });
    let cwd = json!({
        "type": "string",
        "description": "Folder of the project, relative to the folder of the server, which is the default",
    });
    let further = json!({
        "type": "array", "items": {"type": "string"}, "maxItems": MOST_FOLDERS,
        "description": "More folders to work in. The user is asked about folders outside of the server's.",
    });
    let id = json!({"type": "string", "description": "Id of the session, from the result of an earlier call"});
    let start = json!({
        "prompt": prompt, "cwd": cwd, "model": model, "approval_mode": mode,
        "include_directories": further,
    });
    let reply = json!({
        "session_id": id, "prompt": prompt, "cwd": cwd, "model": model, "approval_mode": mode,
    });
    json!({"tools": [
        tool(
            START,
            "Run Pollux",
            "Runs a prompt in a new session of Pollux, an agent that reads and changes files and runs commands in a folder. Returns its final answer, and the id of the session.",
            &start,
            &["prompt"],
        ),
        tool(
            REPLY,
            "Continue a session of Pollux",
            "Sends another prompt to a session of Pollux, which remembers the conversation.",
            &reply,
            &["session_id", "prompt"],
        ),
    ]})
}

fn tool(
    name: &str,
    title: &str,
    description: &str,
    properties: &Value,
    required: &[&str],
) -> Value {
    json!({
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "session_id": {"type": "string"},
                "response": {"type": "string", "description": "Final answer"},
                "stats": {"type": "object", "description": "Tokens, calls and cost of this prompt"},
                "warnings": {"type": "array", "items": {"type": "string"}},
                "error": {
                    "type": "object",
                    "properties": {"message": {"type": "string"}},
                    "required": ["message"],
                },
            },
            "required": ["session_id", "response", "stats"],
        },
        "annotations": {
            "title": title,
            "readOnlyHint": false,
            "destructiveHint": true,
            "idempotentHint": false,
            "openWorldHint": true,
        },
    })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn arguments_have_the_names_of_the_flags() {
        let arguments = json!({
            "prompt": "go", "cwd": "sub", "model": "m", "approval_mode": "auto_edit",
            "include_directories": ["/x"],
        });
        let task = Task {
            prompt: "go".to_owned(),
            session_id: None,
            cwd: Some("sub".into()),
            model: Some("m".to_owned()),
            mode: Some(ApprovalMode::AutoEdit),
            include_directories: Some(vec!["/x".into()]),
        };
        assert_eq!(read(START, arguments), Ok(task));
        let task = Task { prompt: "go".to_owned(), ..Task::default() };
        let nulls = json!({"prompt": "go", "cwd": null, "model": null, "approval_mode": null});
        assert_eq!(read(START, nulls), Ok(task));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for (tool, arguments, reason) in [
            (START, json!({}), "missing field `prompt`"),
            (START, json!(null), "invalid type"),
            (START, json!({"prompt": " "}), "the prompt is empty"),
            (START, json!({"prompt": "go", "yolo": true}), "unknown field `yolo`"),
            (START, json!({"prompt": "go", "session_id": "x"}), "pollux-reply"),
            (START, json!({"prompt": "go", "approval_mode": "all"}), "unknown approval mode"),
            (START, json!({"prompt": "go", "model": ""}), "not the name of a model"),
            (START, json!({"prompt": "go", "include_directories": vec![""; 101]}), "too many"),
            (REPLY, json!({"prompt": "go"}), "`session_id` is missing"),
            (
                REPLY,
                json!({"prompt": "go", "session_id": "x", "include_directories": ["/"]}),
                "has its folders",
            ),
        ] {
            match read(tool, arguments.clone()) {
                Err(Misuse::Arguments(text)) => assert!(text.contains(reason), "{text}"),
                other => panic!("{arguments}: {other:?}"),
            }
        }
        assert_eq!(read("shell", json!({"prompt": "go"})), Err(Misuse::UnknownTool));
    }

    #[test]
    fn every_argument_is_declared() {
        let list = list();
        let names: Vec<_> =
            list["tools"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
        assert_eq!(names, [START, REPLY]);
        for tool in list["tools"].as_array().unwrap() {
            let properties = tool["inputSchema"]["properties"].as_object().unwrap();
            let value = |name: &str| match name {
                "include_directories" => json!(["/x"]),
                "approval_mode" => json!("plan"),
                _ => json!("x"),
            };
            let arguments = properties.keys().map(|name| (name.clone(), value(name))).collect();
            let read = read(tool["name"].as_str().unwrap(), Value::Object(arguments));
            assert!(read.is_ok(), "{read:?}");
        }
    }
}
