//! Standard output in the three formats.

use pollux_testkit::{Finished, ModelReply, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{FORMATS, MODEL, Stage, lines_of, spoken, terminal_result, without_times};

/// Returns a turn with a call that succeeds and a call that fails, and a last turn.
fn two_turns() -> Stage {
    let first = reply().thought("**Plan** look").text("Looking.").usage(100, 20);
    let first = first.call("read_file", json!({"file_path": "a.txt"}));
    let first = first.call("read_file", json!({"file_path": "missing.txt"}));
    let usage = json!({
        "promptTokenCount": 150, "candidatesTokenCount": 7, "totalTokenCount": 160,
        "cachedContentTokenCount": 90, "thoughtsTokenCount": 3
    });
    let stage = Stage::with([first, reply().text("All ").text("done.").usage_metadata(usage)]);
    stage.home.project_file("a.txt", "alpha\n");
    stage
}

#[test]
fn text_ends_with_exactly_one_newline_of_its_own() {
    for (said, printed) in [("hi", "hi\n"), ("hi\n", "hi\n"), ("a\n\nb\n\n", "a\n\nb\n\n")] {
        let run = Stage::with([reply().thought("**T** hidden").text(said)]).prompt("text", "go");
        run.assert_code(0);
        assert_eq!(run.stdout_text(), printed);
    }
}

#[test]
fn text_holds_all_turns_and_nothing_about_tools() {
    let stage = two_turns();
    let run = stage.prompt("text", "go");
    run.assert_code(0);
    assert_eq!(run.stdout_text(), "Looking.\nAll done.\n");
    let errors = run.stderr_text();
    assert!(errors.contains("Error executing tool read_file: File not found."), "{errors}");
}

#[test]
fn json_is_one_object_with_the_last_turns_words() {
    let stage = two_turns();
    let run = stage.prompt("json", "go");
    run.assert_code(0);
    let answer = run.json();
    let keys: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["session_id", "response", "stats"]);
    assert_eq!(answer["response"], "All done.");
    // Indented by two spaces, without a newline after the brace.
    assert_eq!(run.stdout_text(), serde_json::to_string_pretty(&answer).unwrap());
}

#[test]
fn json_statistics_have_their_keys_in_order() {
    let stage = two_turns();
    let stats = without_times(stage.prompt("json", "go").json()["stats"].clone());
    let tokens = r#"{"input":160,"prompt":250,"candidates":27,"total":280,"cached":90,"thoughts":3,"tool":0}"#;
    // Keys that Gemini CLI does not have come last. 160 tokens are uncached, 90 cached, 30 written.
    let cost = "0.00051125";
    let decisions = r#"{"accept":2,"reject":0,"modify":0,"auto_accept":0}"#;
    let expected = format!(
        r#"{{"models":{{"{MODEL}":{{"api":{{"totalRequests":2,"totalErrors":0,"totalLatencyMs":0,"errorsByType":{{}}}},"tokens":{tokens},"roles":{{"main":{{"totalRequests":2,"totalErrors":0,"totalLatencyMs":0,"tokens":{tokens}}}}},"cost":{cost}}}}},"tools":{{"totalCalls":2,"totalSuccess":1,"totalFail":1,"totalDurationMs":0,"totalDecisions":{decisions},"byName":{{"read_file":{{"count":2,"success":1,"fail":1,"durationMs":0,"decisions":{decisions}}}}}}},"files":{{"totalLinesAdded":0,"totalLinesRemoved":0}},"cost":{cost}}}"#
    );
    assert_eq!(stats.to_string(), expected);
}

#[test]
fn statistics_count_changed_lines_and_unregistered_tools() {
    let write = json!({"file_path": "new.txt", "content": "a\nb\n"});
    let first = reply().call("write_file", write).call("no_such_tool", json!({}));
    let stage = Stage::with([first, reply().text("ok")]);
    let run = stage.pollux(&["-y", "-o", "json", "-p", "go"]).run();
    run.assert_code(0);
    let stats = &run.json()["stats"];
    assert_eq!(stats["files"], json!({"totalLinesAdded": 2, "totalLinesRemoved": 0}));
    assert_eq!(stats["tools"]["totalFail"], 1);
    let unknown = &stats["tools"]["byName"]["no_such_tool"];
    let no_decision = json!({"accept": 0, "reject": 0, "modify": 0, "auto_accept": 0});
    assert_eq!((&unknown["fail"], &unknown["decisions"]), (&json!(1), &no_decision));
}

/// Replaces values that differ between runs by fixed text.
fn steady(run: &Finished) -> Vec<String> {
    let text = run.stdout_text();
    let mut ids: Vec<String> = Vec::new();
    for line in run.json_lines() {
        ids.extend(line["tool_id"].as_str().map(str::to_owned));
        ids.extend(line["session_id"].as_str().map(str::to_owned));
        let time = line["timestamp"].as_str().unwrap();
        let digits = time.replace(|character: char| character.is_ascii_digit(), "0");
        assert_eq!(digits, "0000-00-00T00:00:00.000Z");
        ids.push(time.to_owned());
    }
    ids.sort_by_key(|id| std::cmp::Reverse(id.len()));
    let mut text = text;
    for id in &ids {
        let word = match id.split_once("__") {
            Some((name, rest)) => format!("{name}__{}", rest.rsplit('_').next().unwrap()),
            None if id.ends_with('Z') && id.contains('T') => "NOW".to_owned(),
            None => "SESSION".to_owned(),
        };
        text = text.replace(id.as_str(), &word);
    }
    text.lines().map(str::to_owned).collect()
}

#[test]
fn stream_json_tells_things_as_they_happen() {
    let stage = two_turns();
    let run = stage.prompt("stream-json", "go");
    run.assert_code(0);
    let lines = steady(&run);
    let missing = stage.home.project().join("missing.txt");
    let expected = [
        format!(r#"{{"type":"init","timestamp":"NOW","session_id":"SESSION","model":"{MODEL}"}}"#),
        r#"{"type":"message","timestamp":"NOW","role":"user","content":"go"}"#.to_owned(),
        r#"{"type":"message","timestamp":"NOW","role":"assistant","content":"Looking.","delta":true}"#.to_owned(),
        r#"{"type":"tool_use","timestamp":"NOW","tool_name":"read_file","tool_id":"read_file__0","parameters":{"file_path":"a.txt"}}"#.to_owned(),
        r#"{"type":"tool_use","timestamp":"NOW","tool_name":"read_file","tool_id":"read_file__1","parameters":{"file_path":"missing.txt"}}"#.to_owned(),
        r#"{"type":"tool_result","timestamp":"NOW","tool_id":"read_file__0","status":"success","output":""}"#.to_owned(),
        format!(r#"{{"type":"tool_result","timestamp":"NOW","tool_id":"read_file__1","status":"error","output":"File not found.","error":{{"type":"file_not_found","message":"File not found: {}"}}}}"#, missing.display()),
        r#"{"type":"message","timestamp":"NOW","role":"assistant","content":"All ","delta":true}"#.to_owned(),
        r#"{"type":"message","timestamp":"NOW","role":"assistant","content":"done.","delta":true}"#.to_owned(),
    ];
    assert_eq!(lines[..lines.len() - 1], expected);
    let figures =
        r#"{"total_tokens":280,"input_tokens":250,"output_tokens":27,"cached":90,"input":160"#;
    let cost = "0.00051125";
    let mut result = without_times(terminal_result(&run));
    result["timestamp"] = "NOW".into();
    let expected = format!(
        r#"{{"type":"result","timestamp":"NOW","status":"success","stats":{figures},"duration_ms":0,"tool_calls":2,"models":{{"{MODEL}":{figures},"cost":{cost}}}}},"cost":{cost}}}}}"#
    );
    assert_eq!(result.to_string(), expected);
}

#[test]
fn call_ids_are_made_of_name_time_and_position() {
    let first = reply().call("list_directory", json!({"dir_path": "."})).call_with_id(
        "abc",
        "glob",
        json!({"pattern": "*"}),
    );
    let stage = Stage::with([first, reply().text("ok")]);
    stage.home.project_file("a.txt", "");
    let run = stage.prompt("stream-json", "go");
    let uses = lines_of(&run, "tool_use");
    let made = uses[0]["tool_id"].as_str().unwrap();
    let time = made.strip_prefix("list_directory__list_directory_").unwrap();
    let (time, position) = time.split_once('_').unwrap();
    assert!(time.len() == 13 && time.parse::<u64>().is_ok() && position == "0", "{made}");
    assert_eq!(uses[1]["tool_id"], "glob__abc");
    // A listing is structured data, which has no text for the line.
    let results = lines_of(&run, "tool_result");
    assert_eq!((results[0].get("output"), &results[0]["status"]), (None, &json!("success")));
}

#[test]
fn models_are_named_as_they_were_asked_for() {
    let stage = Stage::with([reply().text("hi")]);
    let run = stage.program().args(["-o", "stream-json", "-p", "go"]).run();
    run.assert_code(0);
    assert_eq!(run.json_lines()[0]["model"], "auto");
    assert_eq!(stage.server.requests().len(), 1, "auto costs no call of its own");
}

/// Returns red text whose escape sequence is split between two chunks.
fn coloured() -> ModelReply {
    reply().text("\u{1b}[31mred\u{1b}[").text("0m\tplain\u{7}").finish("STOP")
}

#[test]
fn escape_sequences_are_taken_out_unless_raw() {
    for format in FORMATS {
        let words = |run: &Finished| match format {
            "text" => run.stdout_text(),
            "json" => run.json()["response"].as_str().unwrap().to_owned(),
            _ => spoken(run),
        };
        let clean = words(&Stage::with([coloured()]).prompt(format, "go"));
        assert_eq!(clean.trim_end(), "red\tplain\u{7}", "{format}");
        for flag in ["--raw-output", "--accept-raw-output-risk"] {
            let stage = Stage::with([coloured()]);
            let raw = stage.pollux(&[flag, "-o", format, "-p", "go"]).run();
            raw.assert_code(0);
            // JSON never contains escape sequences.
            let kept = if format == "json" { "red" } else { "\u{1b}[31mred\u{1b}[0m" };
            assert_eq!(words(&raw).trim_end(), format!("{kept}\tplain\u{7}"), "{format} {flag}");
            let warned = raw.stderr_text().contains("[WARNING] --raw-output is enabled.");
            assert_eq!(warned, format == "text" && flag == "--raw-output", "{format} {flag}");
        }
    }
}

#[test]
fn output_format_can_come_from_settings() {
    let stage = Stage::with([reply().text("hi"), reply().text("hi")]);
    stage.home.settings(&json!({"output": {"format": "json"}}));
    assert_eq!(stage.pollux(&["-p", "go"]).run().json()["response"], "hi");
    assert_eq!(stage.prompt("text", "go").stdout_text(), "hi\n", "a flag wins");
}

#[test]
fn a_reader_that_leaves_ends_the_program_quietly() {
    for format in ["text", "stream-json"] {
        let stage = Stage::with([reply().many_text_chunks(20_000)]);
        let run = stage.pollux(&["-o", format, "-p", "go"]).close_stdout_after(10).run();
        run.assert_code(0);
        assert_eq!(run.stderr_text(), "", "{format}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_is_no_success() {
    for format in FORMATS {
        let stage = Stage::with([reply().text("precious words")]);
        let program = stage.redirected("exec \"$0\" \"$@\" > /dev/full");
        let run = program.args(["-m", MODEL, "-o", format, "-p", "go"]).run();
        assert_ne!(run.code, Some(0), "{format}: the answer is lost\n{}", run.report());
        assert!(run.stderr_text().to_lowercase().contains("no space left"), "{}", run.report());
    }
}

#[test]
fn an_unusable_answer_is_reported_and_exits_0() {
    let message = "The model returned an empty response with no text or thoughts. This may be a transient API issue; please try again.";
    let empty = || (0..4).map(|_| reply());
    let answer = Stage::with(empty()).prompt("json", "go");
    answer.assert_code(0);
    let expected = json!({"type": "INVALID_STREAM", "message": message});
    assert_eq!(answer.json()["error"], expected);
    assert_eq!(answer.json()["response"], "");

    let run = Stage::with(empty()).prompt("stream-json", "go");
    run.assert_code(0);
    let errors = lines_of(&run, "error");
    assert_eq!((&errors[0]["severity"], &errors[0]["message"]), (&json!("error"), &json!(message)));
    let result = terminal_result(&run);
    assert_eq!((&result["status"], result.get("error")), (&json!("error"), None::<&Value>));

    let run = Stage::with(empty()).prompt("text", "go");
    run.assert_code(0);
    assert_eq!(run.stdout_text(), "");
    assert!(run.stderr_text().contains(message), "{}", run.report());
}
