//! Tests of `write_todos`, `update_topic` and the tracker.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use pollux_protocol::{Directive, ModelLimits, Todo, TodoStatus, ToolErrorKind};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::session::{Session, display, text};

fn todo(description: &str, status: &str) -> Value {
    json!({ "description": description, "status": status })
}

#[tokio::test]
async fn a_list_is_reported_and_shown() {
    let session = Session::new();
    let todos =
        json!([todo("read", "completed"), todo("write", "in_progress"), todo("test", "pending")]);
    let output = session.call("write_todos", json!({ "todos": todos })).await;
    assert_eq!(
        text(&output),
        "Successfully updated the todo list. The current list is now:\n\
         1. [completed] read\n2. [in_progress] write\n3. [pending] test"
    );
    assert_eq!(display(&output), json!({ "todos": todos }));
    let listed: Vec<Todo> = serde_json::from_value(todos.clone()).unwrap();
    assert_eq!(output.directives, [Directive::SetTodos(listed.clone())]);
    let recalled = |args: Value| session.tool("write_todos").recall(&args, &json!({"output": ""}));
    assert_eq!(recalled(json!({ "todos": todos })), output.directives.first().cloned());
    // Lists of other programs can contain invalid entries.
    let odd = json!({"todos": [{"description": "a"}, todo("b", "odd"), 7]});
    let only = Todo { description: "a".to_owned(), status: TodoStatus::Pending };
    assert_eq!(recalled(odd), Some(Directive::SetTodos(vec![only])));
    let output = session.call("write_todos", json!({"todos": []})).await;
    assert_eq!(text(&output), "Successfully cleared the todo list.");
    assert_eq!(display(&output), json!({"todos": []}));
}

#[tokio::test]
async fn a_list_that_is_none_is_refused() {
    let session = Session::new();
    let long = "x".repeat(4097);
    let many: Vec<Value> = (0..201).map(|_| todo("a", "pending")).collect();
    let table = [
        (json!({}), "params must have required property 'todos'"),
        (json!({"todos": "x"}), "params/todos must be array"),
        (json!({"todos": ["x"]}), "params/todos/0 must be object"),
        (json!({"todos": [], "x": 1}), "params must NOT have additional properties"),
        (
            json!({"todos": [{"description": "a", "status": "pending", "x": 1}]}),
            "params/todos/0 must NOT have additional properties",
        ),
        (
            json!({"todos": [{"description": "a"}]}),
            "params/todos/0 must have required property 'status'",
        ),
        (
            json!({"todos": [todo("a", "odd")]}),
            "params/todos/0/status must be equal to one of the allowed values",
        ),
        (
            json!({"todos": [todo(" ", "pending")]}),
            "Each todo must have a non-empty description string",
        ),
        (
            json!({"todos": [todo("a", "in_progress"), todo("b", "in_progress")]}),
            "Invalid parameters: Only one task can be \"in_progress\" at a time.",
        ),
        (
            json!({"todos": [todo(&long, "pending")]}),
            "Invalid parameters: A description has at most 4096 bytes.",
        ),
        (json!({"todos": many}), "Invalid parameters: At most 200 todos can be listed."),
    ];
    for (args, expected) in table {
        let (kind, message) = session.err("write_todos", args.clone()).await;
        assert_eq!(
            (kind, message.as_str()),
            (ToolErrorKind::InvalidToolParams, expected),
            "{args}"
        );
    }
}

#[test]
fn lists_are_for_some_models_and_settings() {
    let offered = |session: &Session, model| {
        let of_tasks = ["write_todos", "tracker_create_task", "update_topic"];
        let tools = session.tools.iter().filter(|tool| of_tasks.contains(&tool.name()));
        let there = tools.filter(|tool| tool.is_offered_to(model, ModelLimits::default()));
        there.map(|tool| tool.name().to_owned()).collect::<Vec<_>>()
    };
    let session = Session::new();
    assert_eq!(offered(&session, "gemini-2.5-pro"), ["update_topic", "write_todos"]);
    assert_eq!(offered(&session, "gemini-3-pro-preview"), ["update_topic"]);
    let session = Session::with(|context| context.options.task_tracker = true);
    assert_eq!(offered(&session, "gemini-2.5-pro"), ["update_topic", "tracker_create_task"]);
    let session = Session::with(|context| {
        context.options.write_todos = false;
        context.options.topics = false;
    });
    assert_eq!(offered(&session, "gemini-2.5-pro"), [""; 0]);
}

#[tokio::test]
async fn a_topic_is_reported_once_and_an_intent_each_time() {
    let session = Session::new();
    let intent = "> [!STRATEGY]\n> **Intent:**";
    let table = [
        (
            json!({"title": " Mend \n it", "summary": "It breaks.", "strategic_intent": "look"}),
            "Current topic: \"Mend it\"\nTopic summary: It breaks.\n\nStrategic Intent: look",
            format!("## 📂 Topic: **Mend it**\n\n**Summary:**\nIt breaks.\n\n{intent} look"),
            Some("Mend it"),
        ),
        (
            json!({"title": "Mend it", "strategic_intent": "write"}),
            "Strategic Intent: write",
            format!("{intent} write"),
            None,
        ),
        (
            json!({"title": "  ", "strategic_intent": ""}),
            "Strategic Intent: write",
            format!("{intent} write"),
            None,
        ),
        (
            json!({"title": "Next", "strategic_intent": ""}),
            "Current topic: \"Next\"\nTopic summary: ...",
            "## 📂 Topic: **Next**\n\n**Summary:**\n...".to_owned(),
            Some("Next"),
        ),
    ];
    for (args, reported, shown, topic) in table {
        let output = session.call("update_topic", args.clone()).await;
        assert_eq!(text(&output), reported, "{args}");
        assert_eq!(display(&output), shown, "{args}");
        let directives: Vec<_> =
            topic.map(|topic| Directive::SetTopic(topic.to_owned())).into_iter().collect();
        assert_eq!(output.directives, directives, "{args}");
        let recalled = session.tool("update_topic").recall(&args, &json!({"output": reported}));
        assert_eq!(recalled.is_some(), args["title"].as_str().unwrap().trim() != "", "{args}");
    }
    let (_, message) = session.err("update_topic", json!({"title": "x"})).await;
    assert_eq!(message, "params must have required property 'strategic_intent'");
    let (_, message) =
        session.err("update_topic", json!({"strategic_intent": "x".repeat(8193)})).await;
    assert_eq!(message, "Each text has at most 8192 bytes.");
    let invocation = session.prepare("update_topic", &json!({"strategic_intent": "x"})).unwrap();
    assert!(invocation.effects().alone);
}

/// Returns a session with a tracker, and its folder.
fn tracker() -> (Session, PathBuf) {
    let mut folder = PathBuf::new();
    let session = Session::with(|context| {
        context.options.task_tracker = true;
        context.tracker_directory = context.spill_directory.join("../tracker");
        folder.clone_from(&context.tracker_directory);
    });
    (session, folder)
}

/// Creates a task and returns its id.
async fn create(session: &Session, title: &str, more: Value) -> String {
    let mut args = json!({"title": title, "description": "d", "type": "task"});
    args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let reported = session.ok("tracker_create_task", args).await;
    let id = reported.strip_prefix("Created task ").unwrap().split(':').next().unwrap().to_owned();
    assert_eq!(reported, format!("Created task {id}: {title}"));
    id
}

#[tokio::test]
async fn a_task_is_one_private_file() {
    let (session, folder) = tracker();
    let id = create(&session, "First", json!({})).await;
    let part =
        create(&session, "Part", json!({"parentId": id, "type": "bug", "dependencies": [id]}))
            .await;
    let expected = format!(
        "{{\n  \"id\": \"{part}\",\n  \"title\": \"Part\",\n  \"description\": \"d\",\n  \"type\": \"bug\",\n  \
         \"status\": \"open\",\n  \"parentId\": \"{id}\",\n  \"dependencies\": [\n    \"{id}\"\n  ]\n}}"
    );
    let path = folder.join(format!("{part}.json"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(session.ok("tracker_get_task", json!({"id": part})).await, expected);
}

#[tokio::test]
async fn tasks_are_closed_in_order() {
    let (session, _) = tracker();
    let first = create(&session, "First", json!({})).await;
    let second = create(&session, "Second", json!({"dependencies": [first]})).await;
    let close = |id: &str| json!({"id": id, "status": "closed"});
    let (kind, message) = session.err("tracker_update_task", close(&second)).await;
    assert_eq!(kind, ToolErrorKind::ExecutionFailed);
    let reason = format!("Cannot close task {second} because dependency {first} is still open.");
    assert_eq!(message, reason);
    let link = |task: &str, on: &str| json!({"taskId": task, "dependencyId": on});
    let (_, message) = session.err("tracker_add_dependency", link(&first, &second)).await;
    assert_eq!(message, format!("Circular dependency detected involving task {first}."));
    let (_, message) = session.err("tracker_add_dependency", link(&first, &first)).await;
    assert_eq!(message, "Task cannot depend on itself");
    let reported = session.ok("tracker_add_dependency", link(&second, "ffffff")).await;
    assert_eq!(reported, "Dependency task ffffff not found.");
    for id in [&first, &second] {
        let reported = session.ok("tracker_update_task", close(id)).await;
        assert_eq!(reported, format!("Updated task {id}. Status: closed"));
    }
}

#[tokio::test]
async fn tasks_are_listed_and_drawn() {
    let (session, folder) = tracker();
    let output = session.call("tracker_visualize", json!({})).await;
    assert_eq!(
        (text(&output), display(&output)),
        ("No tasks to visualize.".into(), "Empty tracker.".into())
    );
    let whole = create(&session, "Whole", json!({"type": "epic"})).await;
    let part = create(&session, "Part", json!({"parentId": whole, "dependencies": [whole]})).await;
    let inner = create(&session, "Inner", json!({"parentId": part})).await;
    let other = create(&session, "Other", json!({"type": "bug"})).await;
    session.ok("tracker_update_task", json!({"id": other, "status": "in_progress"})).await;
    // Files that are not valid tasks are skipped.
    std::fs::write(folder.join("abcdef.json"), "{").unwrap();
    std::fs::write(folder.join("notes.txt"), "x").unwrap();
    let output = session.call("tracker_visualize", json!({})).await;
    let graph = text(&output);
    let tree = format!(
        "⭕ {whole} [EPIC] Whole\n  ⭕ {part} [TASK] Part\n    └─ Depends on: {whole}\n    ⭕ {inner} [TASK] Inner\n"
    );
    assert!(graph.starts_with("Task Tracker Graph:\n") && graph.contains(&tree), "{graph}");
    assert!(graph.contains(&format!("🚧 {other} [BUG] Other\n")), "{graph}");
    let shown = json!({"todos": [
        todo(&format!("bug: Other ({other})"), "in_progress"),
        todo(&format!("epic: Whole ({whole})"), "pending"),
        todo(&format!("  task: Part ({part})"), "pending"),
        todo(&format!("    task: Inner ({inner})"), "pending"),
    ]});
    assert_eq!(display(&output), shown);
    let list = |args| session.ok("tracker_list_tasks", args);
    assert_eq!(list(json!({"parentId": whole})).await, format!("- [{part}] Part (open)"));
    assert_eq!(list(json!({"type": "bug"})).await, format!("- [{other}] Other (in_progress)"));
    assert_eq!(list(json!({})).await.lines().count(), 4);
    assert_eq!(list(json!({"status": "closed"})).await, "No tasks found matching the criteria.");
}

#[tokio::test]
async fn hostile_arguments_reach_no_other_file() {
    let (session, folder) = tracker();
    let id = create(&session, "T", json!({})).await;
    let outside = folder.join("../../stolen.json");
    let stolen =
        json!({"id": "x", "title": "secret", "description": "", "type": "task", "status": "open"});
    std::fs::write(&outside, stolen.to_string()).unwrap();
    let reported = session.ok("tracker_get_task", json!({"id": "../../stolen"})).await;
    assert_eq!(reported, "Task ../../stolen not found.");
    let (_, message) = session.err("tracker_update_task", json!({"id": "../../stolen"})).await;
    assert_eq!(message, "Task with ID ../../stolen not found.");
    let long = "x".repeat(20_000);
    let many: Vec<String> = (0..200).map(|number| format!("{number:06}")).collect();
    for (args, expected) in [
        (json!({"id": id, "title": long}), "A title has at most 1024 bytes."),
        (json!({"id": id, "description": long}), "A description has at most 16384 bytes."),
        (json!({"id": long}), "An id has six characters."),
        (json!({"id": id, "dependencies": many}), "A task has at most 100 dependencies."),
        (json!({"id": id, "dependencies": ["ffffff"]}), "Dependency ffffff not found."),
    ] {
        assert_eq!(session.err("tracker_update_task", args).await.1, expected);
    }
    let (_, message) = session
        .err(
            "tracker_create_task",
            json!({"title": "t", "description": "", "type": "task", "parentId": "ffffff"}),
        )
        .await;
    assert_eq!(message, "Parent task with ID ffffff not found.");
}

#[tokio::test]
async fn there_is_a_limit_to_tasks() {
    let (session, folder) = tracker();
    std::fs::create_dir_all(&folder).unwrap();
    for number in 0..500 {
        let id = format!("{number:06}");
        let task =
            json!({"id": id, "title": "t", "description": "", "type": "task", "status": "open"});
        std::fs::write(folder.join(format!("{id}.json")), task.to_string()).unwrap();
    }
    let args = json!({"title": "t", "description": "", "type": "task"});
    let (_, message) = session.err("tracker_create_task", args).await;
    assert!(message.starts_with("There are already 500 tasks."), "{message}");
}
