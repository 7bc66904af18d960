//! Subagents: their definitions, their work, their limits, and their sessions.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use pollux_testkit::{
    CapturedRequest, Endpoint, Key, ModelReply, ReplyGate, Signal, reply, timed_test,
};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::line::Talk;
use super::mcp_server::ScriptServer;
use super::screen;
use super::stage::{SOON, Stage, texts};

/// Returns a definition of an agent.
fn agent(name: &str, more: &str) -> String {
    format!("---\nname: {name}\ndescription: Tests things\n{more}---\nYou are {name}.\n")
}

fn invoke(name: &str, prompt: &str) -> ModelReply {
    reply().call("invoke_agent", json!({"agent_name": name, "prompt": prompt}))
}

fn complete(result: &str) -> ModelReply {
    reply().call("complete_task", json!({"result": result}))
}

/// Returns the system instruction of a request.
fn instruction(request: &CapturedRequest) -> String {
    texts(&request.body["systemInstruction"]).concat()
}

/// Returns the files of the subagents' sessions.
fn child_files(stage: &Stage) -> Vec<PathBuf> {
    let chats = stage.project_temporary().join("chats");
    let folders = fs::read_dir(chats).unwrap().map(|entry| entry.unwrap().path());
    let folders = folders.filter(|path| path.is_dir());
    folders
        .flat_map(|folder| fs::read_dir(folder).unwrap())
        .map(|file| file.unwrap().path())
        .collect()
}

#[test]
fn a_subagent_works_and_reports() {
    let stage = Stage::with([
        invoke("tester", "check a.txt"),
        reply().call("read_file", json!({"file_path": "a.txt"})),
        complete("all good"),
        reply().text("Done."),
    ]);
    stage.home.user_file("agents/tester.md", agent("tester", "tools: [read_file]\n"));
    stage.home.user_file("agents/_draft.md", "not read");
    stage.home.project_file("a.txt", "content\n");
    let run = stage.prompt("json", "go");
    run.assert_code(0);
    let requests = stage.requests();
    assert!(requests[0].declared_tools().contains(&"invoke_agent"));
    assert_eq!(requests[1].declared_tools(), ["read_file", "complete_task"]);
    assert!(instruction(&requests[1]).starts_with("You are tester."));
    assert_eq!(texts(&requests[1].contents()[0]), ["check a.txt"]);
    assert!(requests[2].last_parts()[0]["functionResponse"]["response"]["output"] == "content\n");
    let expected = "Subagent 'tester' finished.\nTermination Reason: GOAL\nResult:\nall good";
    assert_eq!(stage.response(), expected);
    let stats = &run.json()["stats"];
    assert_eq!(stats["models"]["gemini-2.5-pro"]["roles"]["subagent"]["totalRequests"], 2);
    assert_eq!(stats["tools"]["totalCalls"], 3);
    // The session belongs to that of the main agent, and can be resumed.
    let [file] = &child_files(&stage)[..] else { panic!("not one session") };
    let lines = fs::read_to_string(file).unwrap();
    assert!(lines.starts_with("{\"sessionId\":") && lines.contains("\"kind\":\"subagent\""));
    let id = file.file_stem().unwrap().to_str().unwrap();
    let listed = stage.pollux(&["--list-sessions"]).run();
    let row = format!("       - tester: check a.txt [{id}]");
    assert!(listed.stdout_text().contains(&row), "{}", listed.report());
    stage.server.stream(reply().text("Again."));
    stage.pollux(&["--resume", &id[..8], "-p", "and now?"]).run().assert_code(0);
    let request = stage.server.last_request();
    let contents: Vec<&str> = request.contents().iter().flat_map(texts).collect();
    assert!(contents.contains(&"check a.txt"), "{contents:?}");
    let parent = fs::read_to_string(&stage.session_files()[0]).unwrap();
    assert!(parent.contains(&format!("\"agentId\":\"{id}\"")), "{parent}");
}

/// Returns a server's answers for agents that are told apart by their instructions.
fn by_agent(stage: &Stage, answer: impl Fn(&str, usize) -> ModelReply + Send + Sync + 'static) {
    stage.server.answer_with(Endpoint::StreamGenerateContent, move |request| {
        let instruction = instruction(request);
        let name = instruction.strip_prefix("You are ").and_then(|text| text.split_once('.'));
        let name = name.map(|(name, _)| name).filter(|name| ["one", "two"].contains(name));
        answer(name.unwrap_or("main"), request.contents().len())
    });
}

#[test]
fn agents_side_by_side_do_not_overwrite_each_other() {
    let stage = Stage::new();
    stage.home.user_file("agents/one.md", agent("one", ""));
    stage.home.user_file("agents/two.md", agent("two", ""));
    stage.home.project_file("a.txt", "old\n");
    let written = ReplyGate::closed();
    let wait = written.clone();
    by_agent(&stage, move |agent, length| {
        let read = || reply().call("read_file", json!({"file_path": "a.txt"}));
        let write =
            |text: &str| reply().call("write_file", json!({"file_path": "a.txt", "content": text}));
        match (agent, length) {
            ("main", 0..=2) => reply()
                .call("invoke_agent", json!({"agent_name": "one", "prompt": "write"}))
                .call("invoke_agent", json!({"agent_name": "two", "prompt": "write"})),
            ("main", _) => reply().text("Done."),
            (_, 1) => read(),
            ("one", 3) => write("by one\n"),
            ("one", _) => {
                written.open();
                complete("written")
            }
            ("two", 3) => write("by two\n").held_by(&wait),
            _ => complete("tried"),
        }
    });
    stage.yolo("go");
    assert_eq!(fs::read_to_string(stage.home.project().join("a.txt")).unwrap(), "by one\n");
    let refused = stage.requests().into_iter().find(|request| {
        instruction(request).starts_with("You are two.") && request.contents().len() == 5
    });
    let refused = refused.unwrap().last_parts()[0]["functionResponse"]["response"].clone();
    assert!(refused["error"].as_str().unwrap().contains("changed"), "{refused}");
    assert_eq!(child_files(&stage).len(), 2);
}

#[test]
fn an_end_without_success_is_an_error() {
    let read = || reply().call("read_file", json!({"file_path": "a.txt"}));
    for (more, replies, expected) in [
        (
            "max_turns: 1\n",
            vec![read(), complete("half of it")],
            "Subagent 'tester' did not finish: it has used its 1 turns.\nTermination Reason: MAX_TURNS\nWhat it has so far, which is not complete:\nhalf of it",
        ),
        (
            "max_turns: 1\n",
            vec![read(), read()],
            "Subagent 'tester' did not finish: it has used its 1 turns.\nTermination Reason: MAX_TURNS\nIt has left no result.",
        ),
        (
            "",
            vec![reply().text("I am done."), reply().text("Really.")],
            "Subagent 'tester' failed. Error: it stopped without a report.\nTermination Reason: ERROR_NO_COMPLETE_TASK_CALL\nWhat it has so far, which is not complete:\nReally.",
        ),
    ] {
        let stage = Stage::with([invoke("tester", "check")]);
        for reply in replies {
            stage.server.stream(reply);
        }
        stage.server.stream(reply().text("Done."));
        stage.home.user_file("agents/tester.md", agent("tester", more));
        stage.home.project_file("a.txt", "content\n");
        let run = stage.prompt("stream-json", "go");
        run.assert_code(0);
        let [response] = &stage.responses()[..] else { panic!("not one response") };
        assert_eq!(response["error"], expected);
        assert!(run.stdout_text().contains("\"status\":\"error\""), "{}", run.report());
        // In its last turn it can only report.
        let requests = stage.requests();
        assert_eq!(requests[2].declared_tools(), ["complete_task"], "{more}");
    }
}

#[test]
fn an_empty_report_is_refused() {
    let stage = Stage::with([
        invoke("tester", "check"),
        complete(""),
        complete(" \n\t"),
        complete("all good"),
        reply().text("Done."),
    ]);
    stage.home.user_file("agents/tester.md", agent("tester", ""));
    stage.yolo("go");
    let requests = stage.requests();
    for refused in &requests[2..4] {
        let response = &refused.last_parts()[0]["functionResponse"]["response"];
        let error = response["error"].as_str().unwrap_or_default();
        assert!(error.starts_with("Missing required \"result\" argument."), "{response}");
    }
    let result = stage.response();
    assert!(result.ends_with("Termination Reason: GOAL\nResult:\nall good"), "{result}");
}

#[test]
fn an_agent_that_never_ends_is_stopped() {
    let stage = Stage::with([
        invoke("tester", "check"),
        reply().text("Still").text("thinking").stall_after(1),
        complete("half of it"),
        reply().text("Done."),
    ]);
    stage.home.user_file("agents/tester.md", agent("tester", "timeout_mins: 0.02\n"));
    stage.yolo("go");
    let result = stage.response();
    assert!(result.starts_with("Subagent 'tester' did not finish: it has used its 0.02 minutes.\nTermination Reason: TIMEOUT\n"), "{result}");
    assert!(result.ends_with("\nhalf of it"), "{result}");
}

#[test]
fn an_agent_that_only_forgot_to_report_may_do_it() {
    let stage = Stage::with([
        invoke("tester", "check"),
        reply().text("I am done."),
        complete("all good"),
        reply().text("Done."),
    ]);
    stage.home.user_file("agents/tester.md", agent("tester", ""));
    stage.yolo("go");
    assert!(stage.response().contains("Termination Reason: GOAL\nResult:\nall good"));
}

#[test]
fn a_subagent_has_no_more_rights_than_its_parent() {
    let stage = Stage::with([
        invoke("tester", "check"),
        invoke("tester", "again").call("write_file", json!({"file_path": "b", "content": "x"})),
        reply().call("run_shell_command", json!({"command": "touch c"})),
        complete("refused"),
        reply().text("Done."),
    ]);
    stage.home.user_file("agents/tester.md", agent("tester", "tools: ['*']\n"));
    stage.prompt("text", "go").assert_code(0);
    let requests = stage.requests();
    let responses = requests[2].last_parts();
    let error = |index: usize| responses[index]["functionResponse"]["response"]["error"].clone();
    let unauthorized = "Unauthorized tool call: 'invoke_agent' is not available to this agent.";
    assert_eq!(error(0), unauthorized);
    assert!(error(1).as_str().unwrap().contains("not found"), "{}", error(1));
    let declared = requests[1].declared_tools();
    for tool in ["invoke_agent", "write_file", "enter_plan_mode", "ask_user", "update_topic"] {
        assert!(!declared.contains(&tool), "{tool}: {declared:?}");
    }
    assert!(!stage.home.project().join("b").exists() && !stage.home.project().join("c").exists());
}

#[test]
fn a_rule_can_be_about_a_subagent() {
    let stage = Stage::with([
        invoke("tester", "check"),
        reply().call("read_file", json!({"file_path": "a.txt"})),
        complete("no"),
        reply().call("read_file", json!({"file_path": "a.txt"})),
        reply().text("Done."),
    ]);
    stage.home.user_file("agents/tester.md", agent("tester", ""));
    stage.home.project_file("a.txt", "content\n");
    let rule = "[[rule]]\ntoolName = \"read_file\"\nsubagent = \"tester\"\ndecision = \"deny\"\npriority = 100\nargsPattern = 'a\\.txt'\n";
    stage.home.user_file("policies/own.toml", rule);
    stage.yolo("go");
    let requests = stage.requests();
    let answer =
        |index: usize| requests[index].last_parts()[0]["functionResponse"]["response"].clone();
    assert!(answer(2)["error"].as_str().unwrap().contains("denied by policy"), "{}", answer(2));
    assert_eq!(answer(4)["output"], "content\n");
}

#[test]
fn servers_of_a_subagent_run_only_while_it_works() {
    let is_running = "test -d /proc/$(cat pid) && echo running || echo ended";
    let check = || reply().call("run_shell_command", json!({"command": is_running}));
    let stage = Stage::with([
        invoke("tester", "look"),
        reply().call("mcp_own_look", json!({"x": "1"})),
        check(),
        complete("seen"),
        check(),
        reply().text("Done."),
    ]);
    let call = "echo $$ > pid; text seen";
    let server = ScriptServer { call, ..ScriptServer::default() };
    let mut servers = json!({"own": server.entry(&stage, "server")});
    servers["dead"] = json!({"command": "no-such-program-for-a-server"});
    let more = format!("tools: [read_file, run_shell_command]\nmcp_servers: {servers}\n");
    stage.home.user_file("agents/tester.md", agent("tester", &more));
    let run = stage.pollux(&["-y", "-p", "look"]).run();
    run.assert_code(0);
    let requests = stage.requests();
    let has = |index: usize, name| requests[index].declared_tools().contains(&name);
    assert!(!has(0, "mcp_own_look") && has(1, "mcp_own_look") && !has(5, "mcp_own_look"));
    let output = |index: usize| {
        let response = &requests[index].last_parts()[0]["functionResponse"]["response"];
        response["output"].as_str().unwrap_or_default().to_owned()
    };
    assert!(output(2).contains("seen"), "{}", output(2));
    assert!(output(3).contains("running"), "{}", output(3));
    assert!(output(5).contains("ended"), "{}", output(5));
    assert!(run.stderr_text().contains("MCP server 'dead' is not available"), "{}", run.report());
}

#[test]
fn the_time_limit_includes_the_start_of_servers() {
    let stage = Stage::with([invoke("tester", "look"), complete("nothing"), reply().text("Done.")]);
    let servers = json!({"own": {"command": "sleep", "args": ["1000"]}});
    let more = format!("timeout_mins: 0.01\nmcp_servers: {servers}\n");
    stage.home.user_file("agents/tester.md", agent("tester", &more));
    stage.home.settings(&json!({"pollux": {"mcp": {"headlessWait": 600}}}));
    stage.yolo("go");
    assert_eq!(stage.requests()[1].declared_tools(), ["complete_task"]);
    let result = stage.response();
    assert!(result.contains("\nTermination Reason: TIMEOUT\n"), "{result}");
    assert!(result.ends_with("\nnothing"), "{result}");
}

#[test]
fn settings_give_a_subagent_tools_and_servers() {
    let stage = Stage::with([invoke("tester", "look"), complete("no"), reply().text("Done.")]);
    stage.home.user_file("agents/tester.md", agent("tester", "tools: [glob]\n"));
    let entry = ScriptServer::default().entry(&stage, "server");
    let changes = json!({"tools": ["read_file"], "mcpServers": {"own": entry}});
    stage.home.settings(&json!({"agents": {"overrides": {"tester": changes}}}));
    stage.yolo("go");
    let expected = ["read_file", "complete_task", "mcp_own_look"];
    assert_eq!(stage.requests()[1].declared_tools(), expected);
}

#[test]
fn definitions_are_checked_one_by_one() {
    let stage = Stage::with([invoke("nosuch", "x"), invoke("off", "x"), reply().text("Done.")]);
    stage.home.user_file("agents/bad.md", "---\nname: Bad Name\nfoo: 1\n---\n");
    stage.home.user_file("agents/good.md", agent("good", ""));
    stage.home.user_file("agents/off.md", agent("off", ""));
    stage.home.user_file(
        "agents/remote.md",
        "---\nkind: remote\nname: r\nagent_card_url: http://x\n---\n",
    );
    stage.home.settings(&json!({"agents": {"overrides": {"off": {"enabled": false}}}}));
    let run = stage.prompt("text", "go");
    run.assert_code(0);
    let stderr = run.stderr_text();
    for expected in [
        "bad.md: Validation failed: Agent Definition:",
        "(Local Agent) name: Name must be a valid slug",
        "(Local Agent) description: Required",
        "(Local Agent) Unrecognized key(s) in object: 'foo'",
        "remote.md: remote agents are not available in this version",
    ] {
        assert!(stderr.contains(expected), "{expected}: {}", run.report());
    }
    let requests = stage.requests();
    let offered = instruction(&requests[0]);
    for (name, is_offered) in
        [("good", true), ("off", false), ("generalist", true), ("codebase_investigator", true)]
    {
        assert_eq!(
            offered.contains(&format!("<subagent><name>{name}</name>")),
            is_offered,
            "{name}"
        );
    }
    for (index, name) in [(1, "nosuch"), (2, "off")] {
        let response = requests[index].last_parts()[0]["functionResponse"]["response"].clone();
        assert_eq!(response["error"], format!("Subagent '{name}' not found."));
    }
}

#[test]
fn a_definition_of_the_project_needs_the_answer_of_the_user() {
    let stage = Stage::new();
    stage.home.project_file(".gemini/agents/tester.md", agent("tester", ""));
    stage.home.trust_project();
    let offers = |stage: &Stage| {
        stage.server.stream(reply().text("ok"));
        let run = stage.pollux(&["-p", "go"]).env_remove("GEMINI_CLI_TRUST_WORKSPACE").run();
        run.assert_code(0);
        instruction(&stage.server.last_request()).contains("<name>tester</name>")
    };
    // The first run pins what is there; a change waits for an answer.
    assert!(offers(&stage));
    stage.home.project_file(".gemini/agents/tester.md", agent("tester", "tools: ['*']\n"));
    assert!(!offers(&stage));
}

#[test]
fn a_refused_definition_is_asked_about_again_on_request() {
    let stage = Stage::with([reply().text("ok")]);
    stage.home.trust_project();
    stage.pollux(&["-p", "go"]).env_remove("GEMINI_CLI_TRUST_WORKSPACE").run().assert_code(0);
    let talk = Talk::start(stage, |program| program.env_remove("GEMINI_CLI_TRUST_WORKSPACE"));
    talk.stage.home.project_file(".gemini/agents/tester.md", agent("tester", ""));
    let count = |text: &str| talk.terminal.screen().matches(text).count();
    talk.type_line("/agents reload");
    talk.wait_for_text("2. Refuse");
    talk.type_line("2");
    talk.wait_for_text("Agents reloaded successfully. 3 are available.");
    talk.wait_for_text("again: /permissions ask, then /agents reload.");
    talk.wait_for_prompt();
    talk.type_line("/agents reload");
    talk.terminal
        .wait_for(|screen| screen.contents().matches("3 are available").count() == 2, SOON);
    assert_eq!(count("2. Refuse"), 1);
    talk.wait_for_prompt();
    talk.type_line("/permissions ask");
    talk.wait_for_text("1 answer forgotten.");
    talk.wait_for_prompt();
    talk.type_line("/agents reload");
    talk.terminal.wait_for(|screen| screen.contents().matches("2. Refuse").count() == 2, SOON);
    talk.type_line("1");
    talk.wait_for_text("Agents reloaded successfully. 4 are available.");
    talk.wait_for_prompt();
    talk.leave();
}

#[test]
fn a_cancel_leaves_the_records_of_the_subagent() {
    let stage = Stage::with([
        invoke("tester", "check"),
        reply().call("run_shell_command", json!({"command": "sleep 1000"})),
    ]);
    stage.home.user_file("agents/tester.md", agent("tester", ""));
    let running = stage.pollux(&["-y", "-o", "json", "-p", "go"]).spawn();
    stage.server.wait_for_requests(2, SOON);
    std::thread::sleep(Duration::from_millis(300));
    let _alone = timed_test();
    running.signal(Signal::INT);
    running.wait().assert_code(130);
    let lines = fs::read_to_string(&child_files(&stage)[0]).unwrap();
    assert!(lines.contains("\"status\":\"cancelled\""), "{lines}");
    assert!(lines.contains("promptEnded"), "{lines}");
}

#[test]
fn a_question_says_who_asks_and_one_subagent_is_stopped_alone() {
    let stage = Stage::with([
        invoke("tester", "check"),
        reply().call("run_shell_command", json!({"command": "make all"})),
        reply().text("Waiting").stall_after(0),
        reply().text("The other one continues."),
    ]);
    stage.home.user_file("agents/tester.md", agent("tester", ""));
    let talk = Talk::start(stage, |program| program);
    talk.type_line("go");
    talk.wait_for_text("The subagent tester asks:");
    talk.wait_for_text("Choose 1-");
    talk.type_line("n");
    talk.stage.server.wait_for_requests(3, SOON);
    talk.type_line("/agents stop tester");
    talk.wait_for_text("Stopped subagent tester");
    talk.wait_for_text("The other one continues.");
    let stopped = talk.stage.response();
    assert!(stopped.starts_with("Subagent 'tester' was stopped by the user."), "{stopped}");
    let refused = talk.stage.requests()[2].last_parts()[0]["functionResponse"]["response"].clone();
    assert!(refused["error"].as_str().unwrap().starts_with("[Operation Cancelled]"), "{refused}");
    talk.wait_for_prompt();
    talk.end();
}

#[test]
fn agents_are_listed_and_changed_in_the_conversation() {
    let stage = Stage::new();
    stage.home.user_file("agents/tester.md", agent("tester", ""));
    let talk = Talk::start(stage, |program| program);
    talk.type_line("/agents");
    talk.wait_for_text("- tester (user): Tests things");
    talk.type_line("/agents disable tester");
    talk.wait_for_text("Agent \"tester\" disabled in user");
    talk.type_line("/agents list");
    talk.wait_for_text("- tester (user) [Disabled]");
    talk.type_line("/agents enable tester");
    talk.wait_for_text("Agent \"tester\" enabled");
    talk.type_line("/agents config tester maxTurns 7");
    talk.wait_for_text("\n  maxTurns: 7\n  maxTimeMinutes: 10\n  tools: all\n");
    talk.stage.home.user_file("agents/second.md", agent("second", ""));
    talk.stage.home.user_file("agents/b\u{202e}d.md", "---\nname: bad\nfoo: 1\n---\n");
    talk.type_line("/agents reload");
    talk.wait_for_text("b\\u{202e}d.md");
    talk.wait_for_text("\n(Local Agent) description: Required\n(Local Agent) Unrecognized key");
    talk.wait_for_text("Agents reloaded successfully. 5 are available.");
    talk.wait_for_prompt();
    let (stage, _) = talk.leave();
    let settings: Value =
        serde_json::from_slice(&fs::read(stage.home.gemini().join("settings.json")).unwrap())
            .unwrap();
    assert_eq!(
        settings["agents"]["overrides"],
        json!({"tester": {"enabled": true, "runConfig": {"maxTurns": 7}}})
    );
}

#[test]
fn a_prompt_names_a_subagent_with_an_at_sign() {
    fn said(request: &CapturedRequest) -> Vec<&str> {
        texts(request.contents().last().unwrap())
    }

    let stage = Stage::with([reply().text("Yes."), reply().text("Again.")]);
    stage.home.user_file("agents/tester.md", agent("tester", ""));
    stage.prompt("text", "@tester checks a.txt").assert_code(0);
    let requests = stage.requests();
    let request = said(&requests[0]);
    assert!(request.contains(&"@tester checks a.txt"), "{request:?}");
    let note = request.last().unwrap();
    assert!(note.contains("chosen these subagents with an @: tester."), "{note}");
    let talk = screen::Talk::of(stage);
    talk.terminal.send("@tes");
    talk.wait("\n> tester\n");
    talk.terminal.send_key(Key::Tab);
    talk.wait("\n> @tester\n");
    talk.terminal.send("checks");
    talk.wait("> @tester checks");
    talk.enter();
    talk.wait("Again.");
    talk.idle();
    let requests = talk.stage.requests();
    let request = said(requests.last().unwrap());
    assert!(request.last().unwrap().contains("subagents with an @: tester."), "{request:?}");
    talk.end();
}
