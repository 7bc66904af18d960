//! Session files: their names and lines, and the flags that list, name, import and delete them.

use std::fs;

use pollux_testkit::{Finished, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{FORMATS, MODEL, Stage};

/// Runs one prompt in a new session with this id.
fn session(stage: &Stage, id: &str, prompt: &str) {
    stage.server.stream(reply().text(format!("answer to {prompt}")));
    stage.pollux(&["--session-id", id, "-p", prompt]).run().assert_code(0);
    // Sessions are ordered by their start time, in milliseconds.
    std::thread::sleep(std::time::Duration::from_millis(5));
}

fn list(stage: &Stage) -> Finished {
    let run = stage.program().args(["--list-sessions"]).run();
    run.assert_code(0);
    run
}

/// Returns the session id in the output of a run.
fn id_of(run: &Finished) -> String {
    run.json()["session_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_session_is_resumed_by_the_beginning_of_its_id() {
    let stage = Stage::new();
    for id in ["alpha-one", "alpha-two", "beta-one", "1234-x"] {
        session(&stage, id, id);
    }
    for (prefix, id) in [("beta", "beta-one"), ("alpha-t", "alpha-two"), ("1234", "1234-x")] {
        stage.server.stream(reply().text("more"));
        let run = stage.pollux(&["-r", prefix, "-o", "json", "-p", "go"]).run();
        run.assert_code(0);
        assert_eq!(id_of(&run), id);
    }
    let run = stage.pollux(&["-r", "alpha", "-p", "go"]).run();
    run.assert_code(42);
    let expected = "Error resuming session: Several sessions have an id that begins with \"alpha\":\n  1. alpha-one [alpha-one]\n  2. alpha-two [alpha-two]\n";
    assert_eq!(run.stderr_text(), expected);
    for unknown in ["bet", "gamma", "session-"] {
        let run = stage.pollux(&["-r", unknown, "-p", "go"]).run();
        run.assert_code(42);
        assert!(run.stderr_text().contains("Invalid session identifier"), "{}", run.report());
    }
    // A deletion needs the whole id.
    let run = stage.pollux(&["--delete-session", "beta"]).run();
    assert!(run.stderr_text().contains("Invalid session identifier"), "{}", run.report());
}

#[test]
fn a_session_of_a_moved_project_is_resumed_by_its_id() {
    let stage = Stage::new();
    let moved = stage.home.project().with_file_name("moved");
    let id = "11111111-2222-4333-8444-555555555555";
    session(&stage, id, "remember");
    let resume = |folder: &std::path::Path, id: &str| {
        stage.pollux(&["--resume", id, "-p", "again"]).directory(folder).run()
    };
    fs::create_dir(&moved).unwrap();
    let run = resume(&moved, id);
    run.assert_code(42);
    let project = stage.home.project().canonicalize().unwrap();
    let expected = format!("Session {id} belongs to the project {}.\n", project.display());
    assert!(run.stderr_text().contains(&expected), "{}", run.report());

    fs::remove_dir(&moved).unwrap();
    fs::rename(&project, &moved).unwrap();
    for unknown in ["11111111", "latestest", "11111111-2222-4333-8444-555555555556"] {
        let run = resume(&moved, unknown);
        run.assert_code(42);
        assert!(run.stderr_text().contains("No previous sessions found"), "{}", run.report());
    }
    stage.server.stream(reply().text("more"));
    let run = resume(&moved, id);
    run.assert_code(0);
    let hint = format!("It continues in {}", moved.canonicalize().unwrap().display());
    assert!(run.stderr_text().contains(&hint), "{}", run.report());
    let requests = stage.server.requests();
    let request = requests.last().unwrap().body.to_string();
    assert!(request.contains("answer to remember"), "{request}");
    // The session now belongs to the new folder, without another word.
    stage.server.stream(reply().text("more"));
    let run = resume(&moved, "latest");
    run.assert_code(0);
    assert_eq!(run.stderr_text(), "");
}

#[test]
fn the_list_of_sessions_can_be_json() {
    let stage = Stage::new();
    let list = |flags: &[&str]| {
        let run = stage.program().args(["--list-sessions"]).args(flags).run();
        run.assert_code(0);
        run
    };
    assert_eq!(list(&["-o", "json"]).json(), json!([]));
    session(&stage, "one", "first \u{1b}[31mprompt");
    session(&stage, "two", "second prompt");
    let listed = list(&["-o", "json"]).json();
    let fields = |key: &str| {
        let sessions = listed.as_array().unwrap().iter();
        sessions.map(|session| session[key].clone()).collect::<Vec<_>>()
    };
    assert_eq!(fields("index"), [1, 2]);
    assert_eq!(fields("id"), ["one", "two"]);
    assert_eq!(fields("title")[1], "second prompt");
    assert!(!fields("title")[0].as_str().unwrap().contains('\u{1b}'), "{listed}");
    let cwd = stage.home.project().canonicalize().unwrap();
    assert_eq!(fields("cwd"), [json!(cwd), json!(cwd)]);
    for key in ["startTime", "lastUpdated"] {
        let time = fields(key)[0].as_str().unwrap().parse::<jiff::Timestamp>();
        assert!(time.is_ok(), "{listed}");
    }
    // A setting does not change the output that scripts for Gemini CLI read.
    stage.home.settings(&json!({"output": {"format": "json"}}));
    assert!(list(&[]).stdout_text().contains("Available sessions for this project (2):"));
}

#[test]
fn a_run_that_fails_before_it_begins_leaves_its_id_free() {
    let stage = Stage::with([reply().text("ok")]);
    stage.pollux(&["--session-id", "build-1"]).run().assert_code(42);
    stage.pollux(&["--session-id", "build-1", "-p", "go"]).run().assert_code(0);
    stage.pollux(&["--session-id", "build-1", "-p", "go"]).run().assert_code(42);
}

#[test]
fn a_session_file_is_named_after_its_minute_and_its_id() {
    let stage = Stage::with([reply().text("hi")]);
    let id = id_of(&stage.prompt("json", "go"));
    let name = stage.session_file().file_name().unwrap().to_str().unwrap().to_owned();
    let digits = name.replace(|character: char| character.is_ascii_digit(), "0");
    let (time, rest) = (&digits[..24], &name[24..]);
    assert_eq!(time, "session-0000-00-00T00-00");
    assert_eq!(rest, format!("-{}.jsonl", &id[..8]));
    let header = &stage.session_lines()[0];
    assert_eq!((&header["sessionId"], &header["kind"]), (&json!(id), &json!("main")));
    let marker = stage.project_temporary().join(".project_root");
    assert_eq!(fs::read_to_string(marker).unwrap(), stage.home.project().to_str().unwrap());
    let projects = fs::read_to_string(stage.home.gemini().join("projects.json")).unwrap();
    let projects: Value = serde_json::from_str(&projects).unwrap();
    assert_eq!(projects["projects"][stage.home.project().to_str().unwrap()], "project");
}

/// Reduces a line to the parts that Gemini CLI reads, as the names of its keys.
fn outline(line: &Value) -> Option<String> {
    let fields = line.as_object().unwrap();
    let keys: Vec<&str> = fields.keys().map(String::as_str).collect();
    let joined = keys.join(" ");
    match keys[..] {
        ["$pollux"] => None,
        ["$set"] => {
            let set = line["$set"].as_object().unwrap();
            let names: Vec<&str> = set.keys().map(String::as_str).collect();
            Some(format!("$set: {}", names.join(" ")))
        }
        _ => {
            let kind = line["type"].as_str().unwrap_or("header");
            let calls = line["toolCalls"].as_array();
            let status = calls.map(|calls| format!(" ({})", calls[0]["status"].as_str().unwrap()));
            Some(format!("{kind}{}: {joined}", status.unwrap_or_default()))
        }
    }
}

#[test]
fn the_lines_are_those_of_gemini_cli_and_some_that_it_ignores() {
    let call = reply().thought("**Look** around").call("read_file", json!({"file_path": "a.txt"}));
    let stage = Stage::with([call.usage(10, 5), reply().text("done")]);
    stage.home.project_file("a.txt", "alpha\n");
    stage.prompt("text", "go").assert_code(0);
    let lines = stage.session_lines();
    let outlines: Vec<String> = lines.iter().filter_map(outline).collect();
    let answer = "id timestamp type content thoughts tokens model";
    let expected = [
        "header: sessionId projectHash startTime lastUpdated kind".to_owned(),
        "$set: messages lastUpdated".to_owned(),
        "user: id timestamp type content".to_owned(),
        "$set: lastUpdated".to_owned(),
        format!("gemini (validating): {answer} toolCalls"),
        "$set: lastUpdated".to_owned(),
        format!("gemini (success): {answer} toolCalls"),
        "$set: lastUpdated".to_owned(),
        format!("gemini: {answer}"),
        "$set: lastUpdated".to_owned(),
    ];
    assert_eq!(outlines, expected);
    let messages: Vec<&Value> = lines.iter().filter(|line| line.get("id").is_some()).collect();
    assert_eq!(messages[1]["id"], messages[2]["id"], "the same message again");
    assert_eq!(messages[0]["content"], json!([{"text": "go"}]));
}

#[test]
fn a_call_is_recorded_with_its_result() {
    let stage = Stage::with([
        reply().text("Look.").call_with_id("x", "read_file", json!({"file_path": "a.txt"})),
        reply().text("done"),
    ]);
    stage.home.project_file("a.txt", "alpha\n");
    stage.prompt("text", "go").assert_code(0);
    let lines = stage.session_lines();
    let last = lines.iter().rfind(|line| line["toolCalls"].is_array()).unwrap();
    let mut call = last["toolCalls"][0].clone();
    assert!(call["timestamp"].as_str().unwrap().ends_with('Z'));
    call["timestamp"] = "NOW".into();
    let response = json!({"functionResponse": {"id": "read_file__x", "name": "read_file", "response": {"output": "alpha\n"}}});
    let expected = json!({
        "id": "read_file__x", "name": "read_file", "args": {"file_path": "a.txt"},
        "result": [response], "status": "success", "timestamp": "NOW", "resultDisplay": "",
        "description": "a.txt", "displayName": "ReadFile", "renderOutputAsMarkdown": true,
        "$pollux": {"kind": "read", "locations": [stage.home.project().join("a.txt")]}
    });
    assert_eq!(call, expected);
    let tokens =
        json!({"input": 10, "output": 5, "cached": 0, "thoughts": 0, "tool": 0, "total": 15});
    assert_eq!((&last["tokens"], &last["model"]), (&tokens, &json!(MODEL)));
}

#[test]
fn a_call_is_on_disk_before_its_effect() {
    let command = "cat ~/.gemini/tmp/project/chats/*.jsonl";
    let call = reply().call("run_shell_command", json!({"command": command}));
    let stage = Stage::with([call, reply().text("done")]);
    stage.yolo("go");
    let seen = stage.response();
    assert!(seen.contains(r#""status":"validating""#), "{seen}");
    assert!(seen.contains(r#"{"$pollux":{"started":"#), "{seen}");
}

#[test]
fn sessions_are_listed_oldest_first() {
    let stage = Stage::new();
    let none = list(&stage);
    assert_eq!(none.stdout_text(), "No previous sessions found for this project.");
    session(&stage, "first", "Grüße,\n  one");
    session(&stage, "second", &"long ".repeat(40));
    let text = list(&stage).stdout_text();
    let long = format!("{}...", &"long ".repeat(40)[..97]);
    let expected = format!(
        "\nAvailable sessions for this project (2):\n  1. Grüße, one (Just now) [first]\n  2. {long} (Just now) [second]\n"
    );
    assert_eq!(text, expected);
}

#[test]
fn what_nobody_said_anything_in_is_not_listed() {
    let stage = Stage::with([reply().text("hi")]);
    stage.pollux(&["-p", "/nosuch thing"]).run().assert_code(0);
    stage.pollux(&["-p", ""]).run().assert_code(42);
    assert_eq!(stage.session_files().len(), 1, "a run without a prompt leaves no file");
    let listed = list(&stage).stdout_text();
    // The model has answered, so there is a conversation to resume.
    assert!(listed.contains("(1):"), "{listed}");
}

#[test]
fn sessions_belong_to_their_project() {
    let stage = Stage::new();
    session(&stage, "here", "one");
    stage.home.project_file("../other/a.txt", "");
    let other = stage.home.project().join("../other").canonicalize().unwrap();
    let run = stage.program().directory(other).args(["--list-sessions"]).run();
    assert_eq!(run.stdout_text(), "No previous sessions found for this project.");
}

#[test]
fn a_session_is_deleted_by_number_or_id_and_nothing_else_is() {
    let stage = Stage::new();
    let delete = |what: &str| stage.program().args(["--delete-session", what]).run();
    let none = delete("1");
    none.assert_code(42);
    assert_eq!(none.stderr_text().trim_end(), "No sessions found for this project.");
    for (id, prompt) in [("a", "one"), ("b", "two"), ("c", "three")] {
        session(&stage, id, prompt);
    }
    let wrong = delete("9");
    wrong.assert_code(42);
    let message =
        "Invalid session identifier \"9\". Use --list-sessions to see available sessions.";
    assert_eq!((wrong.stdout_text().as_str(), wrong.stderr_text().trim_end()), ("", message));
    assert_eq!(delete("2").stdout_text(), "Deleted session 2: two (Just now)\n");
    assert_eq!(delete("c").stdout_text(), "Deleted session 2: three (Just now)\n");
    session(&stage, "d", "four");
    assert_eq!(delete("latest").stdout_text(), "Deleted session 2: four (Just now)\n");
    let text = list(&stage).stdout_text();
    assert!(text.contains("1. one (Just now) [a]") && text.contains("(1):"), "{text}");
    assert_eq!(stage.session_files().len(), 1);
}

#[test]
fn a_session_file_from_elsewhere_becomes_a_session_of_its_own() {
    for format in FORMATS {
        let stage = Stage::new();
        session(&stage, "origin", "one");
        let file = stage.session_file();
        let before = fs::read(&file).unwrap();
        stage.server.stream(reply().text("two"));
        let name = file.to_str().unwrap();
        let run = stage.pollux(&["--session-file", name, "-o", format, "-p", "more"]).run();
        run.assert_code(0);
        let contents = stage.server.last_request().contents().to_vec();
        assert_eq!(contents.len(), 3, "{contents:?}");
        assert!(contents[1].to_string().contains("answer to one"));
        assert_eq!(fs::read(&file).unwrap(), before, "the original is only read");
        assert_eq!(stage.session_files().len(), 2);
    }
}

#[test]
fn an_id_of_ones_own_is_kept() {
    let stage = Stage::with([reply().text("hi")]);
    let run = stage.pollux(&["--session-id", " Mine_1-a ", "-o", "json", "-p", "go"]).run();
    assert_eq!(id_of(&run), "Mine_1-a");
    let name = stage.session_file().display().to_string();
    assert!(name.ends_with("-Mine_1-a.jsonl"), "{name}");
}

#[test]
fn only_one_way_to_name_a_session_at_a_time() {
    let stage = Stage::new();
    let message = "The flags --resume, --session-id, and --session-file are mutually exclusive. Please provide only one.";
    for arguments in [["-r=1", "--session-id=a"], ["--session-id=a", "--session-file=b"]] {
        let run = stage.program().args(arguments).args(["-p", "go"]).run();
        run.assert_code(1);
        assert!(run.stderr_text().contains(message), "{}", run.report());
    }
}

#[test]
fn an_id_is_no_path() {
    let stage = Stage::new();
    for id in ["../evil", "a/b", "a b", ".."] {
        let run = stage.pollux(&["--session-id", id, "-p", "go"]).run();
        run.assert_code(1);
        let message = format!(
            "Invalid session ID \"{id}\": Only alphanumeric characters, dashes, and underscores are allowed."
        );
        assert!(run.stderr_text().contains(&message), "{}", run.report());
        stage.pollux(&["-r", id, "-p", "go"]).run().assert_code(42);
    }
    session(&stage, "a", "one");
    let run = stage.program().args(["--delete-session", "../../../../project"]).run();
    assert!(run.stderr_text().contains("Invalid session identifier"), "{}", run.report());
    assert!(stage.home.project().is_dir());
}

#[test]
fn nothing_is_purged() {
    let stage = Stage::new();
    session(&stage, "old", "one");
    let file = stage.session_file();
    let old = fs::read_to_string(&file).unwrap();
    // Makes the session look as if it had been written years ago.
    let year = &old[old.find("startTime\":\"").unwrap() + 12..][..4];
    fs::write(&file, old.replace(&format!("\"{year}-"), "\"2019-")).unwrap();
    let time = std::time::SystemTime::UNIX_EPOCH;
    fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
    session(&stage, "new", "two");
    assert_eq!(stage.session_files().len(), 2);
    assert!(list(&stage).stdout_text().contains("day"), "{}", list(&stage).stdout_text());
}

#[test]
fn listing_needs_no_key_and_no_trust() {
    let stage = Stage::new();
    session(&stage, "a", "one");
    let program = stage.alone().env_remove("GEMINI_API_KEY");
    let run = program.env_remove("GEMINI_CLI_TRUST_WORKSPACE").args(["--list-sessions"]).run();
    run.assert_code(0);
    assert!(run.stdout_text().contains("[a]"), "{}", run.report());
}
