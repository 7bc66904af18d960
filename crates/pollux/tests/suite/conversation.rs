//! What the model is sent: the request's layout, the context, the declared tools.

use pollux_testkit::{CapturedRequest, reply, samples};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{FREE_TOOLS, MODEL, Stage, texts};

/// The first request of a run with this prompt and these arguments more.
fn first_request(stage: &Stage, arguments: &[&str]) -> CapturedRequest {
    stage.server.stream(reply().text("ok"));
    stage.pollux(arguments).args(["-p", "do it"]).run().assert_code(0);
    stage.requests().remove(0)
}

/// The texts of the first content: the session context, then the prompt.
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
        "<!-- Import failed: ./gone.md - ".to_owned(),
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
fn an_import_cannot_leave_the_project() {
    let stage = Stage::new();
    stage.home.project_file("../secret.md", "Secret.");
    stage.home.project_file("GEMINI.md", "@../secret.md and @/etc/hostname\n");
    let request = first_request(&stage, &[]);
    let (context, _) = opening(&request);
    assert!(!request.body.to_string().contains("Secret."), "{context}");
    let refused = "<!-- Import failed: ../secret.md - Path traversal attempt -->";
    assert!(context.contains(refused), "{context}");
}

#[test]
fn context_of_a_folder_comes_when_a_tool_touches_it() {
    let call = reply().call("read_file", json!({"file_path": "sub/a.txt"}));
    let stage = Stage::with([call.clone(), call, reply().text("ok")]);
    stage.home.project_file("sub/a.txt", "alpha").project_file("sub/GEMINI.md", "Sub rule.");
    stage.prompt("text", "go").assert_code(0);
    let requests = stage.requests();
    let told = requests[1].last_parts()[0].to_string();
    let wanted = "\\n\\n--- Newly Discovered Project Context ---\\n";
    assert!(told.contains(wanted) && told.contains("Sub rule."), "{told}");
    assert!(!requests[2].last_parts()[0].to_string().contains("Sub rule."), "told once");
}

#[test]
fn each_mode_declares_what_may_run_in_it() {
    const EVERYTHING: [&str; 17] = [
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
    ];
    let planning = [&FREE_TOOLS[..], &["replace", "write_file"]].concat();
    let editing = [&planning[..], &["web_fetch"]].concat();
    let leaving = |tool: &&str| *tool == "exit_plan_mode";
    let entering = |tool: &&str| *tool == "enter_plan_mode";
    let table: [(&[&str], Vec<&str>); 5] = [
        (&[], FREE_TOOLS.to_vec()),
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
fn calls_and_their_responses_go_back_in_the_layout_of_the_service() {
    let turn = reply()
        .thought("**Plan** look first")
        .call("read_file", json!({"file_path": "a.rs"}))
        .signature("QUJD")
        .call("glob", json!({"pattern": "*.toml"}));
    let stage = Stage::with([turn, reply().text("done")]);
    stage.home.project_file("a.rs", "fn a() {}\n").project_file("b.toml", "");
    stage.prompt("text", "do it").assert_code(0);
    let requests = stage.requests();
    let (before, after) = (requests[0].contents(), requests[1].contents());
    assert_eq!(after[..1], *before, "the past is sent as it was");
    let [call, other] = &after[1]["parts"].as_array().unwrap()[..] else { panic!("{}", after[1]) };
    let ids = [call, other].map(|part| part["functionCall"]["id"].clone());
    for (id, name, position) in [(&ids[0], "read_file_", "_0"), (&ids[1], "glob_", "_1")] {
        let id = id.as_str().unwrap();
        assert!(id.starts_with(name) && id.ends_with(position) && !id.contains("__"), "{id}");
    }
    let expected = json!([
        {"role": "model", "parts": [
            {"functionCall": {"id": ids[0], "name": "read_file", "args": {"file_path": "a.rs"}}, "thoughtSignature": "QUJD"},
            {"functionCall": {"id": ids[1], "name": "glob", "args": {"pattern": "*.toml"}}}]},
        {"role": "user", "parts": [
            {"functionResponse": {"id": ids[0], "name": "read_file", "response": {"output": "fn a() {}\n"}}},
            {"functionResponse": {"id": ids[1], "name": "glob", "response": after[2]["parts"][1]["functionResponse"]["response"]}}]}
    ]);
    assert_eq!(Value::from(after[1..].to_vec()), expected);
    assert!(after[2]["parts"][1].to_string().contains("b.toml"));
}

#[test]
fn signatures_are_kept_to_the_byte() {
    // No base64 at all: nobody may decode and encode it anew.
    let strange = "+/==not base64?\u{e9}\n";
    let turn = reply().text("words").signature("c2ln").call("glob", json!({"pattern": "*"}));
    let turn = turn.signature(strange);
    let stage = Stage::with([turn, reply().text("done")]);
    stage.prompt("text", "go").assert_code(0);
    let model = stage.requests()[1].contents()[1].clone();
    assert_eq!(model["parts"][0], json!({"text": "words", "thoughtSignature": "c2ln"}));
    assert_eq!(model["parts"][1]["thoughtSignature"], strange);
}

#[test]
fn parts_of_every_kind_are_sent_back_as_they_came() {
    let parts = [
        json!({"text": "", "thoughtSignature": "ZW1wdHk="}),
        json!({"executableCode": {"language": "PYTHON", "code": "1 + 1"}}),
        json!({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}),
        json!({"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}),
        json!({"functionCall": {"id": "x", "name": "glob", "args": {"pattern": "*", "n": 1.5e300}}, "thoughtSignature": "c2ln"}),
    ];
    let turn = parts.iter().cloned().fold(reply(), pollux_testkit::Reply::part);
    let stage = Stage::with([turn, reply().text("done"), reply().text("more")]);
    stage.prompt("text", "go").assert_code(0);
    assert_eq!(stage.requests()[1].contents()[1]["parts"], json!(parts));
    stage.pollux(&["-r", "-p", "more"]).run().assert_code(0);
    assert_eq!(stage.requests()[2].contents()[1]["parts"], json!(parts), "after a resume too");
}

#[test]
fn a_call_without_a_signature_gets_the_constant_in_the_turn_at_work() {
    let call = || {
        let call = reply().call("glob", json!({"pattern": "*"}));
        call.call("glob", json!({"pattern": "a*"}))
    };
    let stage = Stage::with([call(), reply().text("done"), reply().text("more")]);
    stage.prompt("text", "go").assert_code(0);
    let constant = json!("skip_thought_signature_validator");
    let parts = stage.requests()[1].contents()[1]["parts"].clone();
    assert_eq!(parts[0]["thoughtSignature"], constant);
    assert_eq!(parts[1].get("thoughtSignature"), None, "the first call of a turn alone");
    // The next prompt begins another turn: what lies before it needs none.
    stage.pollux(&["-r", "-p", "and then"]).run().assert_code(0);
    let parts = stage.requests()[2].contents()[1]["parts"].clone();
    assert_eq!(parts[0].get("thoughtSignature"), None, "{parts}");
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
