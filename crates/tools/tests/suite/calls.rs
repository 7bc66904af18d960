//! Subject, effects and facts of a call, for every built-in tool.

use std::fmt::Write as _;
use std::path::Path;

use pollux_protocol::{Effects, Shortening, SubjectArgument, ToolFacts, ToolSource};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::session::Session;

/// Returns a call of each tool, in the order in which the tools are declared.
fn samples() -> [(&'static str, Value); 26] {
    let todo = json!({"description": "look", "status": "pending"});
    let question = json!({"question": "Which?", "header": "Colour", "type": "text"});
    [
        ("update_topic", json!({"strategic_intent": "look around"})),
        ("list_directory", json!({"dir_path": "src"})),
        ("read_file", json!({"file_path": "src/a.rs"})),
        ("grep_search", json!({"pattern": "fn", "dir_path": "src", "include_pattern": "*.rs"})),
        ("glob", json!({"pattern": "**/*.rs"})),
        (
            "replace",
            json!({"file_path": "src/a.rs", "instruction": "i", "old_string": "a", "new_string": "b"}),
        ),
        ("write_file", json!({"file_path": "new.txt", "content": "x"})),
        ("web_fetch", json!({"prompt": "sum up https://b.example/ and https://a.example/x"})),
        ("read_many_files", json!({"include": ["src", "*.md"], "exclude": ["b"]})),
        (
            "run_shell_command",
            json!({"command": "make", "dir_path": "src", "description": "builds"}),
        ),
        ("list_background_processes", json!({})),
        ("read_background_output", json!({"pid": 7})),
        ("stop_background_process", json!({"pid": 7})),
        ("google_web_search", json!({"query": "rust 2027"})),
        ("ask_user", json!({"questions": [question]})),
        ("write_todos", json!({"todos": [todo]})),
        ("exit_plan_mode", json!({"plan_filename": "a.md"})),
        ("enter_plan_mode", json!({"reason": "it is large"})),
        ("tracker_create_task", json!({"title": "look", "description": "around", "type": "task"})),
        ("tracker_update_task", json!({"id": "abc123", "status": "closed"})),
        ("tracker_get_task", json!({"id": "abc123"})),
        ("tracker_list_tasks", json!({})),
        ("tracker_add_dependency", json!({"taskId": "abc123", "dependencyId": "abc124"})),
        ("tracker_visualize", json!({})),
        ("save_memory", json!({"fact": "I like tabs"})),
        ("get_internal_docs", json!({"path": "index.md"})),
    ]
}

const GOLDEN: &str = "\
update_topic: Update tactical intent: \"look around\"
    alone
list_directory: src
    searches [src]
read_file: src/a.rs
    reads [src/a.rs]
grep_search: 'fn' in *.rs within src
    searches [src]
glob: '**/*.rs'
    searches []
replace: src/a.rs: a => b
    reads [src/a.rs] writes [src/a.rs] alone
write_file: Writing to new.txt
    reads [new.txt] writes [new.txt] alone
web_fetch: Processing URLs and instructions from prompt: \"sum up https://b.example/ and https://a.example/x\"
    network [a.example b.example]
read_many_files: Files of src, *.md, but not b
    searches []
run_shell_command: make [in src] (builds)
    runs make in [src]
list_background_processes: Lists the background processes of this session
    nothing
read_background_output: Reads what background process 7 has printed
    nothing
stop_background_process: Stops background process 7
    alone
google_web_search: Searching the web for: \"rust 2027\"
    network []
ask_user: Asking user: Colour
    nothing
write_todos: Set 1 todo(s)
    nothing
exit_plan_mode: Requesting plan approval for: ~/plans/a.md
    reads [plans/a.md]
enter_plan_mode: it is large
    nothing
tracker_create_task: Creating task: look
    searches [tracker] writes [tracker] alone
tracker_update_task: Updating task abc123
    searches [tracker] writes [tracker] alone
tracker_get_task: Retrieving task abc123
    searches [tracker]
tracker_list_tasks: Listing tasks.
    searches [tracker]
tracker_add_dependency: Adding dependency: abc123 depends on abc124
    searches [tracker] writes [tracker] alone
tracker_visualize: Visualizing the task graph.
    searches [tracker]
save_memory: \"I like tabs\" in ~/GEMINI.md
    reads [GEMINI.md] writes [GEMINI.md] alone
get_internal_docs: Reading internal documentation: index.md
    nothing
";

/// Describes effects as text, with paths relative to the project.
fn reported(effects: &Effects, root: &Path) -> String {
    let mut reported = String::new();
    let shown = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
    for (verb, paths) in [
        ("reads", &effects.reads),
        ("searches", &effects.searches),
        ("writes", &effects.writes),
        ("deletes", &effects.deletes),
    ] {
        for path in paths {
            write!(reported, " {verb} [{}]", shown(path)).unwrap();
        }
    }
    if let (Some(command), Some(folder)) = (&effects.command, &effects.folder) {
        write!(reported, " runs {command} in [{}]", shown(folder)).unwrap();
    }
    if effects.network {
        write!(reported, " network [{}]", effects.hosts.join(" ")).unwrap();
    }
    for (word, is_so) in [("alone", effects.alone), ("unknown", effects.unknown)] {
        if is_so {
            write!(reported, " {word}").unwrap();
        }
    }
    if reported.is_empty() { " nothing".to_owned() } else { reported }
}

#[test]
fn calls_say_what_they_are_about_and_what_they_touch() {
    let session = Session::with(|context| {
        let root = context.workspace.get().target().to_path_buf();
        context.plans_directory = root.join("plans");
        context.tracker_directory = root.join("tracker");
        context.memory_file = root.join("GEMINI.md");
    });
    session.file("src/a.rs", "a");
    let names: Vec<&str> = session.tools.iter().map(|tool| tool.name()).collect();
    assert_eq!(names, samples().map(|(name, _)| name));
    let mut listing = String::new();
    for (name, args) in samples() {
        let invocation = session.prepare(name, &args).unwrap();
        let (described, effects) = (invocation.describe(), invocation.effects());
        let described = described.replace(&session.root.display().to_string(), "~");
        assert!(!described.is_empty() && !described.contains('\n'), "{name}: {described}");
        writeln!(listing, "{name}: {described}\n   {}", reported(&effects, &session.root)).unwrap();
    }
    assert_eq!(listing, GOLDEN);
}

#[test]
fn facts_of_the_built_in_tools() {
    let session = Session::new();
    let subject = |argument| ToolFacts { subject: Some(argument), ..ToolFacts::default() };
    let shortened = |shortening| ToolFacts { shortening, ..ToolFacts::default() };
    for tool in &session.tools {
        let (facts, name) = (tool.facts(), tool.name());
        let expected = match name {
            "list_directory" => subject(SubjectArgument::Path("dir_path")),
            "read_file" | "write_file" | "replace" => subject(SubjectArgument::Path("file_path")),
            "glob" | "grep_search" => subject(SubjectArgument::Value("pattern")),
            "read_many_files" => subject(SubjectArgument::Value("include")),
            "run_shell_command" => shortened(Shortening::CommandOutput),
            "ask_user" | "enter_plan_mode" | "exit_plan_mode" => shortened(Shortening::Never),
            "update_topic" => ToolFacts { announces: true, ..ToolFacts::default() },
            _ => ToolFacts::default(),
        };
        assert_eq!(facts, expected, "{name}");
        assert_eq!(tool.source(), ToolSource::BuiltIn);
        // An approval for an argument that does not exist would never apply.
        let parameters = tool.declaration().parameters;
        let is_declared = |name: &str| parameters["properties"].get(name).is_some();
        assert!(facts.subject.is_none_or(|subject| is_declared(subject.name())), "{name}");
    }
}
