//! Requests to the model: their layout, the context, the declared tools.

use pollux_testkit::{CapturedRequest, reply, samples};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::{FREE_TOOLS, MODEL, Stage, texts};

/// Returns the first request of a run with this prompt and these additional arguments.
fn first_request(stage: &Stage, arguments: &[&str]) -> CapturedRequest {
    stage.server.stream(reply().text("ok"));
    stage.pollux(arguments).args(["-p", "do it"]).run().assert_code(0);
    stage.requests().remove(0)
}

/// Returns the texts of the first content: the session context, then the prompt.
fn opening(request: &CapturedRequest) -> (String, String) {
    let first = &request.contents()[0];
    assert_eq!(first["role"], "user");
    let texts = texts(first);
    let [context, prompt] = texts[..] else { panic!("not context and prompt: {first}") };
    (context.to_owned(), prompt.to_owned())
}

fn system_instruction(request: &CapturedRequest) -> String {
    let instruction = &request.body["systemInstruction"];
    assert_eq!(instruction["role"], "user");
    texts(instruction).concat()
}

#[test]
fn a_request_has_the_layout_of_the_service() {
    let stage = Stage::new();
    let request = first_request(&stage, &[]);
    assert_eq!(request.method, "POST");
    assert_eq!(request.path, format!("/v1beta/models/{MODEL}:streamGenerateContent"));
    assert_eq!(request.query, "alt=sse");
    let keys: Vec<&String> = request.body.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["contents", "systemInstruction", "tools", "generationConfig"]);
    let expected = json!({
        "temperature": 1, "topP": 0.95, "topK": 64,
        "thinkingConfig": {"includeThoughts": true, "thinkingBudget": 8192}
    });
    assert_eq!(request.body["generationConfig"], expected);
    assert!(system_instruction(&request).len() > 200);
    for declaration in request.body["tools"][0]["functionDeclarations"].as_array().unwrap() {
        let keys: Vec<&String> = declaration.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["name", "description", "parametersJsonSchema"]);
        assert_eq!(declaration["parametersJsonSchema"]["type"], "object");
    }
}

#[test]
fn headers_carry_the_key_and_what_the_person_adds() {
    let stage = Stage::with([reply().text("ok")]);
    let program = stage.pollux(&["-p", "go"]);
    let program = program.env("GEMINI_CLI_CUSTOM_HEADERS", "X-One: 1, X-Two: a, b");
    program.env("GEMINI_API_KEY_AUTH_MECHANISM", "bearer").run().assert_code(0);
    let request = stage.requests().remove(0);
    let table = [
        ("x-goog-api-key", "test-key"),
        ("authorization", "Bearer test-key"),
        ("content-type", "application/json"),
        ("x-one", "1"),
        ("x-two", "a, b"),
    ];
    for (name, value) in table {
        assert_eq!(request.header(name), Some(value), "{name}");
    }
    let agent = request.header("user-agent").unwrap();
    assert!(agent.starts_with("Pollux") && agent.contains(MODEL), "{agent}");
}

#[test]
fn a_conversation_opens_with_its_context() {
    let stage = Stage::new();
    stage.home.project_file("src/main.rs", "fn main() {}\n").project_file("Cargo.toml", "\n");
    let (context, prompt) = opening(&first_request(&stage, &[]));
    assert_eq!(prompt, "do it");
    assert!(context.starts_with("<session_context>") && context.ends_with("</session_context>"));
    let project = stage.home.project();
    let tree = format!("{}/\n├───Cargo.toml\n└───src/\n    └───main.rs\n", project.display());
    let wanted = [
        std::env::consts::OS.to_owned(),
        stage.project_temporary().display().to_string(),
        format!("- **Workspace Directories:**\n  - {}\n", project.display()),
        "- **Directory Structure:**\n".to_owned(),
        "Showing up to 200 items (files + folders).\n\n".to_owned(),
        tree,
    ];
    let mut rest = context.as_str();
    for words in wanted {
        let (_, after) =
            rest.split_once(&words).unwrap_or_else(|| panic!("{words:?} in {context}"));
        rest = after;
    }
}

#[test]
fn the_tree_can_be_left_out_and_other_folders_added() {
    let stage = Stage::new();
    stage.home.settings(&json!({"context": {"includeDirectoryTree": false}}));
    stage.home.project_file("../other/file.txt", "x");
    let (context, _) = opening(&first_request(&stage, &["--include-directories", "../other"]));
    assert!(!context.contains("Directory Structure"), "{context}");
    let other = stage.home.project().parent().unwrap().join("other");
    assert!(context.contains(&format!("  - {}\n", other.display())), "{context}");
}

#[test]
fn context_files_of_the_project_are_in_the_first_message() {
    let stage = Stage::new();
    samples::git_repo(stage.home.project());
    stage.home.project_file("GEMINI.md", "Top rule.\n\n@./docs/more.md\n`@./not.md`\n@./gone.md\n");
    stage.home.project_file("docs/more.md", "Imported rule.\n");
    stage.home.project_file("AGENTS.md", "Rule for agents.\n");
    stage.home.project_file("deep/GEMINI.md", "Deep rule.\n");
    stage.home.user_file("GEMINI.md", "Rule for all projects.\n");
    stage.server.stream(reply().text("ok"));
    let program = stage.pollux(&["-p", "do it"]).directory(stage.home.project().join("deep"));
    program.run().assert_code(0);
    let request = stage.requests().remove(0);
    let (context, _) = opening(&request);
    let project = stage.home.project();
    let wanted = [
        "<loaded_context>".to_owned(),
        "<project_context>".to_owned(),
        format!("--- Context from: {}/AGENTS.md ---\nRule for agents.\n", project.display()),
        format!("--- Context from: {}/GEMINI.md ---\nTop rule.\n", project.display()),
        "<!-- Imported from: ./docs/more.md -->\nImported rule.\n".to_owned(),
        "`@./not.md`".to_owned(),
        "@./gone.md".to_owned(),
        format!("--- End of Context from: {}/GEMINI.md ---", project.display()),
        "Deep rule.".to_owned(),
    ];
    let mut rest = context.as_str();
    for words in wanted {
        let (_, after) =
            rest.split_once(&words).unwrap_or_else(|| panic!("{words:?} in {context}"));
        rest = after;
    }
    assert!(!context.contains("Rule for all projects."), "the global file belongs elsewhere");
    let system = system_instruction(&request);
    assert!(
        system.contains("# Contextual Instructions (") && system.contains("Rule for all projects.")
    );
}

#[test]
fn each_mode_declares_what_may_run_in_it() {
    const EVERYTHING: [&str; 18] = [
        "update_topic",
        "list_directory",
        "read_file",
        "grep_search",
        "glob",
        "replace",
        "write_file",
        "web_fetch",
        "read_many_files",
        "run_shell_command",
        "list_background_processes",
        "read_background_output",
        "stop_background_process",
        "google_web_search",
        "write_todos",
        "exit_plan_mode",
        "enter_plan_mode",
        "invoke_agent",
    ];
    let planning = [&FREE_TOOLS[..], &["replace", "write_file"]].concat();
    let editing = [&planning[..], &["web_fetch", "run_shell_command"]].concat();
    let leaving = |tool: &&str| *tool == "exit_plan_mode";
    let entering = |tool: &&str| *tool == "enter_plan_mode";
    let table: [(&[&str], Vec<&str>); 5] = [
        (&[], [&FREE_TOOLS[..], &["run_shell_command"]].concat()),
        (&["--approval-mode", "auto_edit"], editing),
        (
            &["--approval-mode", "plan"],
            planning.into_iter().filter(|tool| !entering(tool)).chain(["exit_plan_mode"]).collect(),
        ),
        (
            &["--approval-mode", "yolo"],
            EVERYTHING.into_iter().filter(|tool| !leaving(tool)).collect(),
        ),
        (&["-y"], EVERYTHING.into_iter().filter(|tool| !leaving(tool)).collect()),
    ];
    for (arguments, expected) in table {
        let request = first_request(&Stage::new(), arguments);
        let in_order: Vec<&str> =
            EVERYTHING.into_iter().filter(|tool| expected.contains(tool)).collect();
        assert_eq!(request.declared_tools(), in_order, "{arguments:?}");
    }
}

#[test]
fn settings_take_tools_away() {
    let stage = Stage::new();
    let everything = first_request(&Stage::new(), &["-y"]);
    stage.home.settings(&json!({"tools": {"exclude": ["glob", "ShellTool"]}}));
    let request = first_request(&stage, &["-y"]);
    let mut expected = everything.declared_tools();
    expected.retain(|tool| !["glob", "run_shell_command"].contains(tool));
    assert_eq!(request.declared_tools(), expected);
    let stage = Stage::new();
    stage.home.settings(&json!({"tools": {"core": ["read_file", "run_shell_command"]}}));
    assert_eq!(first_request(&stage, &["-y"]).declared_tools(), ["read_file", "run_shell_command"]);
}

#[test]
fn a_large_project_is_shown_in_part() {
    let stage = Stage::new();
    for number in 0..500 {
        stage.home.project_file(&format!("many/file{number:03}.txt"), "");
    }
    stage.home.project_file("node_modules/x/index.js", "").project_file("top.txt", "");
    let (context, _) = opening(&first_request(&stage, &[]));
    let items = context.lines().filter(|line| line.contains("───")).count();
    assert!((200..=210).contains(&items), "{items} items\n{context}");
    assert!(context.contains("node_modules/...") && !context.contains("index.js"), "{context}");
}
