//! The scenes that are played. A new item, question or command gets a scene.

use pollux_testkit::{Key, ModelReply, errors, reply};
use serde_json::json;

use super::Step::{Line, Paste, Press, Rest, See, Type};
use super::{READY, Scene};

/// Files of the project.
pub(super) const FILES: [(&str, &str); 2] = [
    (
        "greet.py",
        "def greet(name):\n    msg = \"Hello, \" + name\n    print(msg)\n    return msg\n",
    ),
    ("notes.md", "# Notes\n\nGreet everybody.\n"),
];

const ANSWER: &str = "## Prices\n\nThe **prices** are in `prices.csv`:\n\n\
    | Item | \u{54c1}\u{540d} | Price |\n|---|---|---:|\n| Tea | \u{7dd1}\u{8336} | 3.50 |\n\
    | Coffee | \u{30b3}\u{30fc}\u{30d2}\u{30fc} | 12.00 |\n\n- [x] read the file\n- [ ] check the sums\n\n\
    ```python\ndef total(prices):\n    return sum(prices)  # in euros\n```\n\n\
    > Prices change on Mondays.\n\nSee [the guide](https://example.com/guide).";

/// Returns all scenes.
pub(super) fn all() -> Vec<Scene> {
    [
        start(),
        answers(),
        calls(),
        questions(),
        surveys(),
        work(),
        input(),
        states(),
        lists(),
        commands(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn start() -> Vec<Scene> {
    vec![
        Scene::new("start", vec![See(READY)]),
        Scene::new("start-yolo", vec![See(READY)]).called_with(&["--yolo"]),
        Scene::new("trust", vec![See("Do you trust")]).in_an_unknown_folder(),
        Scene::new(
            "goodbye",
            vec![
                See(READY),
                Line("hello"),
                See("Good day."),
                Rest,
                Line("/quit"),
                See("To resume"),
            ],
        )
        .with([reply().text("Good day.")]),
    ]
}

/// Returns the steps of a prompt up to a text.
fn prompt(text: &'static str, until: &'static str) -> Vec<super::Step> {
    vec![See(READY), Line(text), See(until)]
}

fn answers() -> Vec<Scene> {
    let cut = |reply: ModelReply| reply.stall_after(1);
    vec![
        Scene::new(
            "answer",
            [prompt("show me the prices", "the guide"), vec![Rest]].into_iter().flatten().collect(),
        )
        .with([reply().text(ANSWER)]),
        Scene::new("streaming", prompt("tell me a story", "Once upon a time")).with([cut(reply()
            .text("Once upon a time there was a\nterminal.\n\nIt was ")
            .text("calm."))]),
        Scene::new("thinking", prompt("think", "Reading the tests"))
            .with([cut(reply().thought("**Reading the tests**\n\nFirst the old ones.").text("x"))]),
        Scene::new(
            "stopped",
            [
                prompt("tell me a story", "Once upon a time"),
                vec![Press(Key::Escape), See("cancelled"), Rest],
            ]
            .into_iter()
            .flatten()
            .collect(),
        )
        .with([cut(reply().text("Once upon a time\n").text("calm."))]),
        Scene::new(
            "refused-key",
            [prompt("hello", "API key"), vec![Rest]].into_iter().flatten().collect(),
        )
        .with([errors::invalid_key()]),
        Scene::new("quota", prompt("hello", "Esc stops")).with([errors::retry_info("30s")]),
    ]
}

fn shell(command: &str) -> ModelReply {
    reply().call("run_shell_command", json!({ "command": command }))
}

/// Returns a command that is higher than each window.
fn touches() -> String {
    (1..=60).map(|number| format!("touch file{number}")).collect::<Vec<_>>().join("\n")
}

fn edit() -> ModelReply {
    let (old, new) = (
        "    msg = \"Hello, \" + name\n    print(msg)\n",
        "    msg = f\"Good day, {name}!\"\n    print(msg, flush=True)\n",
    );
    reply().call(
        "replace",
        json!({"file_path": "greet.py", "instruction": "x", "old_string": old, "new_string": new}),
    )
}

fn calls() -> Vec<Scene> {
    let read = || {
        reply()
            .call("read_file", json!({"file_path": "greet.py"}))
            .call("read_file", json!({"file_path": "notes.md"}))
    };
    let todos = json!({"todos": [
        {"description": "Read the tests", "status": "completed"},
        {"description": "Mend the greeting", "status": "in_progress"},
        {"description": "Run the tests", "status": "pending"},
    ]});
    let over = |until| vec![See(READY), Line("go"), See(until), Rest];
    vec![
        Scene::new("read", over("The file greets."))
            .with([read(), reply().text("The file greets.")]),
        Scene::new("command", over("All is well."))
            .with([
                shell("for n in $(seq 20); do echo line $n; done"),
                reply().text("All is well."),
            ])
            .called_with(&["--yolo"]),
        Scene::new("command-failed", over("It failed."))
            .with([shell("echo broken; exit 3"), reply().text("It failed.")])
            .called_with(&["--yolo"]),
        Scene::new("command-running", prompt("go", "line 20"))
            .with([shell("for n in $(seq 20); do echo line $n; done; sleep 60")])
            .called_with(&["--yolo"]),
        Scene::new("edit", over("Changed."))
            .with([edit(), reply().text("Changed.")])
            .called_with(&["--yolo"]),
        Scene::new("todos", prompt("go", "waiting"))
            .with([reply().call("write_todos", todos), reply().text("x").never_answer()]),
    ]
}

fn questions() -> Vec<Scene> {
    let refused = vec![See(READY), Line("go"), See("Allow execution of"), Press(Key::Escape), Rest];
    vec![
        Scene::new("question-command", prompt("go", "Command:"))
            .with([shell("mkdir -p build && echo one | tee build/log.txt && rm -rf build")]),
        Scene::new("question-long", prompt("go", "rows")).with([shell(&touches())]),
        Scene::new("question-edit", prompt("go", "Change of")).with([edit()]),
        Scene::new("question-file", prompt("go", "new.txt"))
            .with([reply()
                .call("write_file", json!({"file_path": "new.txt", "content": "one\ntwo\n"}))]),
        Scene::new("question-hidden", prompt("go", "Command:"))
            .with([shell("touch a\u{200b}b\u{202e}c")]),
        Scene::new("question-fetch", prompt("go", "example.com")).with([
            reply().call("web_fetch", json!({"prompt": "Summarise https://example.com/guide"}))
        ]),
        Scene::new("refused", refused).with([shell("touch made")]),
    ]
}

/// Returns the scenes of questions of the model.
fn surveys() -> Vec<Scene> {
    let database = json!({
        "question": "Which database?", "header": "Database", "type": "choice", "options": [
            {"label": "SQLite", "description": "one file"}, {"label": "PostgreSQL", "description": "a server"},
        ],
    });
    let tests = json!({
        "question": "Which tests?", "header": "Tests", "type": "choice", "multiSelect": true,
        "options": [
            {"label": "Unit", "description": "fast"}, {"label": "Load", "description": "slow"},
        ],
    });
    let name = json!({"question": "What is it called?", "header": "Name", "type": "text"});
    let ask = |questions| reply().call("ask_user", json!({ "questions": questions }));
    let several = || [ask(json!([database, tests, name]))];
    // The smallest window shows the question in parts: Page Down shows the last one.
    let chosen = || {
        vec![
            See(READY),
            Line("go"),
            See("SQLite"),
            Type("1"),
            See("tests?"),
            Type("\x1b[6~"),
            See("Done"),
        ]
    };
    let then = |steps: Vec<super::Step>| chosen().into_iter().chain(steps).collect();
    vec![
        Scene::new("question-ask-user", prompt("go", "database")).with([ask(json!([database]))]),
        Scene::new("question-several", then(vec![Type("2"), See("[x] Load")])).with(several()),
        Scene::new(
            "question-review",
            then(vec![
                Press(Key::BackTab),
                See("database?"),
                Press(Key::BackTab),
                See("Review your"),
            ]),
        )
        .with(several()),
    ]
}

fn work() -> Vec<Scene> {
    let waiting = || [reply().text("x").never_answer()];
    vec![
        Scene::new("waiting", prompt("hello", "waiting")).with(waiting()),
        Scene::new(
            "queued",
            vec![
                See(READY),
                Line("hello"),
                See("waiting"),
                Line("also fix the docs"),
                Line("and commit"),
                See("and commit"),
            ],
        )
        .with(waiting()),
    ]
}

fn input() -> Vec<Scene> {
    vec![
        Scene::new(
            "input",
            vec![
                See(READY),
                Type("Compare these logs and tell me"),
                Press(Key::Ctrl('j')),
                Type("what changed in the last run of the tests"),
            ],
        ),
        Scene::new("paste", vec![See(READY), Type("Compare "), Paste("one line\n".repeat(50))]),
        Scene::new("completion", vec![See(READY), Type("/me"), Press(Key::Tab), See("/memory")]),
        Scene::new("paths", vec![See(READY), Type("explain @gr"), See("greet.py")]),
        Scene::new("keys", vec![See(READY), Type("?"), See("commands")]),
        Scene::new("shell-mode", vec![See(READY), Type("!"), See("shell mode"), Type("ls")]),
        Scene::new(
            "vi",
            vec![See(READY), Line("/vim"), See("[INSERT]"), Type("hello"), See("> hello")],
        ),
    ]
}

/// Returns the scenes of the history and of keys that change the state.
fn states() -> Vec<Scene> {
    vec![
        Scene::new(
            "transcript",
            vec![
                See(READY),
                Line("show me the prices"),
                See("the guide"),
                Rest,
                Press(Key::Ctrl('o')),
                See("transcript"),
            ],
        )
        .with([reply().text(ANSWER)]),
        Scene::new(
            "search",
            vec![
                See(READY),
                Line("an earlier prompt"),
                See("Yes."),
                Rest,
                Press(Key::Ctrl('r')),
                Type("earl"),
                See("earl"),
            ],
        )
        .with([reply().text("Yes.")]),
        Scene::new("leave", vec![See(READY), Press(Key::Ctrl('c')), See("again to exit")]),
        Scene::new(
            "modes",
            vec![
                See(READY),
                Press(Key::BackTab),
                See("auto-accept"),
                Press(Key::BackTab),
                See("plan"),
            ],
        ),
    ]
}

/// Returns the scenes of lists in place of the input.
fn lists() -> Vec<Scene> {
    vec![
        Scene::new("themes", vec![See(READY), Line("/theme"), See("ANSI")]),
        Scene::new("settings", vec![See(READY), Line("/settings"), See("policyPaths")]),
        Scene::new("help", vec![See(READY), Line("/help"), See("> Help")]),
        Scene::new("models", vec![See(READY), Line("/model"), See("(current)")]),
        Scene::new(
            "sessions",
            vec![
                See(READY),
                Line("an earlier prompt"),
                See("Yes."),
                Rest,
                Line("/resume"),
                See("(current)"),
            ],
        )
        .with([reply().text("Yes.")]),
    ]
}

/// Returns the scenes of commands that only show something, or ask.
fn commands() -> Vec<Scene> {
    let command =
        |name, line, until| Scene::new(name, vec![See(READY), Line(line), See(until), Rest]);
    vec![
        command("command-shortcuts", "/shortcuts", "Ctrl-C"),
        command("command-mode", "/mode", "default"),
        command("command-settings", "/settings set", "Usage"),
        command("command-tools", "/tools", "write_todos"),
        command("command-memory", "/memory list", "context files"),
        command("command-directory", "/directory", "shop"),
        command("command-tasks", "/tasks", "background"),
        command("command-commands", "/commands", "commands"),
        command("command-hooks", "/hooks", "hooks"),
        command("command-policies", "/policies list", "ule"),
        command("command-privacy", "/privacy", "data"),
        command("command-clear", "/clear", READY),
        command("command-rewind", "/rewind", "rewind"),
        command("command-unknown", "/nonsense", "nonsense"),
        command("command-shell", "!echo from a shell", "from a shell"),
    ]
}
