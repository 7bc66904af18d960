//! Standard input, positional words, `@path` references and slash commands.

use std::time::Duration;

use pollux_testkit::{Finished, Pollux, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{FORMATS, Stage, lines_of, make_pipe, texts};

/// Runs the program and returns the texts that the model gets after the session context.
fn sent(stage: &Stage, program: Pollux) -> (Vec<String>, Finished) {
    stage.server.stream(reply().text("ok"));
    let run = program.run();
    run.assert_code(0);
    let first = stage.server.last_request().contents()[0].clone();
    let texts = texts(&first).into_iter().skip(1).map(str::to_owned).collect();
    (texts, run)
}

/// Returns the texts for a prompt.
fn expanded(stage: &Stage, prompt: &str) -> Vec<String> {
    sent(stage, stage.pollux(&["-p", prompt])).0
}

#[test]
fn piped_text_comes_before_the_prompt() {
    let table: [(&[&str], &str, &str); 6] = [
        (&["-p", "PROMPT"], "data\n", "data\n\n\nPROMPT"),
        (&["-p", "PROMPT"], "data", "data\n\nPROMPT"),
        (&["some", "words"], "data", "data\n\nsome words"),
        (&[], "data\n", "data\n"),
        (&["-p", "PROMPT"], "", "PROMPT"),
        (&["--", "-p", "literal"], "", "-p literal"),
    ];
    for (arguments, piped, expected) in table {
        let stage = Stage::new();
        let (texts, run) = sent(&stage, stage.pollux(arguments).stdin(piped));
        assert_eq!(texts, [expected], "{arguments:?} {piped:?}");
        assert_eq!(run.stderr_text(), "");
    }
}

#[test]
fn the_user_line_holds_the_whole_input_as_it_was() {
    let stage = Stage::with([reply().text("ok")]);
    stage.home.project_file("a.txt", "alpha");
    let run = stage.pollux(&["-o", "stream-json", "-p", "see @a.txt"]).stdin("data\n").run();
    assert_eq!(lines_of(&run, "message")[0]["content"], "data\n\n\nsee @a.txt");
}

#[test]
fn input_that_is_no_utf8_is_mended() {
    let stage = Stage::new();
    let (texts, _) = sent(&stage, stage.pollux(&["-p", "go"]).stdin(b"a\xffb".to_vec()));
    assert_eq!(texts, ["a\u{fffd}b\n\ngo"]);
}

#[test]
fn eight_megabytes_are_read_and_the_rest_is_named() {
    const LIMIT: usize = 8 * 1024 * 1024;
    let stage = Stage::new();
    // A character of two bytes lies across the limit.
    let mut input = "x".repeat(LIMIT - 1);
    input.push_str("üü and more");
    let run = stage.pollux(&["-o", "stream-json", "-p", "go"]).stdin(input).run();
    let prompt = taken(&run);
    assert_eq!(prompt.len(), LIMIT - 1 + "\n\ngo".len());
    assert!(prompt.ends_with("x\n\ngo"));
    let reported = run.stderr_text();
    assert!(
        reported.starts_with("Warning: stdin input truncated to 8388608 bytes.\n"),
        "{reported}"
    );
    // The input exceeds the model's context window.
    run.assert_code(1);
}

/// Returns the prompt of a run with stream-json output.
fn taken(run: &Finished) -> String {
    lines_of(run, "message")[0]["content"].as_str().unwrap().to_owned()
}

#[test]
fn a_hundred_megabytes_cost_no_more_than_eight() {
    let stage = Stage::new();
    let program = stage.pollux(&["-o", "stream-json", "-p", "go"]).stdin(vec![b'x'; 100 << 20]);
    let run = program.measure_memory().run();
    assert_eq!(taken(&run).len(), (8 << 20) + "\n\ngo".len());
    let peak = run.peak_rss.unwrap_or_default();
    assert!(peak < 150 << 20, "{} MB", peak >> 20);
}

#[test]
fn an_input_that_stays_open_and_silent_is_left_after_the_time_limit() {
    let stage = Stage::new();
    stage.home.settings(&json!({"pollux": {"stdinTimeout": 2}}));
    let (texts, run) = sent(&stage, stage.pollux(&["-p", "go"]).stdin_held_open());
    assert_eq!(texts, ["go"]);
    let lines = run.stderr_text();
    assert!(lines.contains("Waiting for standard input, at most 2 s"), "{lines}");
    assert!(lines.contains("[WARNING] No data arrived on standard input within 2 s."), "{lines}");
    assert!(lines.contains("Use --no-stdin"), "{lines}");
    assert!(run.duration >= Duration::from_millis(1900), "{:?}", run.duration);
}

#[test]
fn an_input_can_be_declined() {
    let stage = Stage::new();
    let (texts, run) = sent(&stage, stage.pollux(&["--no-stdin", "-p", "go"]).stdin("data"));
    assert_eq!((texts, run.stderr_text()), (vec!["go".to_owned()], String::new()));
    let run = stage.pollux(&["--no-stdin"]).stdin("data").run();
    run.assert_code(42);
}

#[test]
fn an_input_that_begins_late_is_read() {
    // The third input is the prompt itself, which has no time limit.
    for (arguments, limit, expected) in [
        (&["-p", "why"][..], 30, "late data\n\n\nwhy"),
        (&["tell", "me", "why"], 0, "late data\n\n\ntell me why"),
        (&[], 1, "late data\n"),
    ] {
        let stage = Stage::with([reply().text("ok")]);
        stage.home.settings(&json!({"pollux": {"stdinTimeout": limit}}));
        let mut running = stage.pollux(arguments).stdin_held_open().spawn();
        std::thread::sleep(Duration::from_millis(1500));
        running.write_stdin(b"late data\n");
        running.close_stdin();
        running.wait().assert_code(0);
        assert_eq!(texts(&stage.requests()[0].contents()[0])[1], expected, "{arguments:?}");
    }
}

#[test]
fn an_input_that_has_begun_is_waited_for() {
    let stage = Stage::with([reply().text("ok")]);
    stage.home.settings(&json!({"pollux": {"stdinTimeout": 1}}));
    let mut running = stage.pollux(&["-p", "go"]).stdin_held_open().spawn();
    running.write_stdin(b"begun ");
    // Longer than the time limit, which only the first byte has.
    std::thread::sleep(Duration::from_millis(1500));
    running.write_stdin(b"and over");
    running.close_stdin();
    running.wait().assert_code(0);
    assert_eq!(texts(&stage.requests()[0].contents()[0])[1], "begun and over\n\ngo");
}

#[test]
fn nothing_to_say_is_reported_in_every_format() {
    let message = "No input provided via stdin. Input can be provided by piping data into";
    for format in FORMATS {
        for arguments in [&["-p", ""][..], &[]] {
            let stage = Stage::new();
            let run = stage.pollux(&["-o", format]).args(arguments).stdin("").run();
            run.assert_code(42);
            assert!(run.stderr_text().contains(message), "{}", run.report());
            assert_eq!(stage.session_files().len(), 0, "nothing to keep");
        }
    }
}

#[test]
fn referenced_files_follow_the_prompt() {
    let stage = Stage::new();
    stage.home.project_file("a.txt", "alpha").project_file("with space.txt", "space");
    stage.home.project_file("sub/b.txt", "beta").project_file("sub/c.txt", "gamma");
    let heading = "\n--- Content from referenced files ---";
    let closing = "\n--- End of content ---";
    let table: [(&str, &[&str]); 6] = [
        ("see @a.txt.", &["see @a.txt.", heading, "\nContent from @a.txt:\n", "alpha", closing]),
        (
            "@a.txt @a.txt",
            &["@a.txt @a.txt", heading, "\nContent from @a.txt:\n", "alpha", closing],
        ),
        (
            "@with\\ space.txt!",
            &["@with space.txt!", heading, "\nContent from @with space.txt:\n", "space", closing],
        ),
        (
            "@\"with space.txt\"",
            &["@with space.txt", heading, "\nContent from @with space.txt:\n", "space", closing],
        ),
        (
            "all of @sub please",
            &[
                "all of @sub/** please",
                heading,
                "\nContent from @sub/b.txt:\n",
                "beta",
                "\nContent from @sub/c.txt:\n",
                "gamma",
                closing,
            ],
        ),
        ("@b.txt", &["@sub/b.txt", heading, "\nContent from @sub/b.txt:\n", "beta", closing]),
    ];
    for (prompt, expected) in table {
        assert_eq!(expanded(&stage, prompt), expected, "{prompt}");
    }
}

#[test]
fn references_in_piped_text_count_too() {
    let stage = Stage::new();
    stage.home.project_file("a.txt", "alpha");
    let (texts, _) = sent(&stage, stage.pollux(&["-p", "go"]).stdin("see @a.txt"));
    assert_eq!(texts[0], "see @a.txt\n\ngo");
    assert_eq!(texts[3], "alpha");
}

#[test]
fn a_reference_that_cannot_be_read_ends_the_run() {
    for format in FORMATS {
        let stage = Stage::new();
        make_pipe(&stage.home.project().join("pipe"));
        let run = stage.pollux(&["-o", format, "-p", "see @pipe"]).run();
        run.assert_code(42);
        let message = "Exiting due to an error processing the @ command: ";
        assert!(run.stderr_text().contains(message), "{}", run.report());
        assert_eq!(stage.requests().len(), 0);
        if format == "stream-json" {
            // Readers of the lines get the session id before the end.
            let first = run.json_lines()[0].clone();
            assert_eq!(first["type"], "init", "{}", run.report());
        }
    }
}

#[test]
fn references_that_bring_nothing_are_reported() {
    let stage = Stage::new();
    stage.home.project_file(".geminiignore", "secret\n").project_file("secret", "s");
    stage.home.project_file("long.txt", "l\n".repeat(2500));
    let prompt = "see @nosuch.md, @/etc/hostname, @secret and @long.txt";
    let (texts, run) = sent(&stage, stage.pollux(&["-p", prompt]));
    assert_eq!(texts[0], prompt);
    assert_eq!(
        run.stderr_text(),
        "@nosuch.md: no such file; sent as text.\n\
         @/etc/hostname: not in the workspace, or not open to the model; sent as text.\n\
         @secret: ignored; sent as text.\n\
         Only the first 2,000 lines are included: long.txt (2,500 lines).\n"
    );
    assert_eq!(run.stdout_text(), "ok\n");
    let (_, run) = sent(&stage, stage.pollux(&["-p", "and @gone"]).stdin("mail me@x.de, @none\n"));
    assert_eq!(run.stderr_text(), "@gone: no such file; sent as text.\n");
}

#[test]
fn words_beside_an_empty_prompt_are_the_prompt() {
    let stage = Stage::with([reply().text("ok")]);
    stage.pollux(&["-p", "", "hello", "there"]).run().assert_code(0);
    let contents = stage.server.last_request().contents().to_vec();
    assert_eq!(texts(&contents[0]).last(), Some(&"hello there"));
}

#[test]
fn a_search_for_a_referenced_name_needs_the_tool_for_it() {
    let stage = Stage::new();
    stage.home.project_file("d/deep.txt", "deep\n");
    stage.home.settings(&json!({"tools": {"exclude": ["glob"]}}));
    assert_eq!(expanded(&stage, "see @deep.txt"), ["see @deep.txt"]);
}

#[test]
fn slash_commands_that_do_nothing_here_go_to_the_model() {
    for prompt in ["/nosuch x", "/about", "/agents list", "/help", "//comment", "/* comment */"] {
        let stage = Stage::new();
        assert_eq!(expanded(&stage, prompt), [prompt]);
    }
}

#[test]
fn slash_commands_that_cannot_be_done_here_end_the_run() {
    let message = "Exiting due to command result that is not supported in non-interactive mode.";
    for format in FORMATS {
        let stage = Stage::new();
        for command in ["/quit", "/settings", "/theme dark"] {
            let run = stage.prompt(format, command);
            run.assert_code(42);
            assert!(run.stderr_text().contains(message), "{}", run.report());
        }
        assert_eq!(stage.requests().len(), 0);
    }
}

#[test]
fn a_folder_that_is_not_there_is_skipped_with_a_word() {
    let stage = Stage::new();
    let (_, run) = sent(&stage, stage.pollux(&["--include-directories", "gone", "-p", "go"]));
    assert!(
        run.stderr_text().starts_with("[WARN] Skipping unreadable directory: "),
        "{}",
        run.report()
    );
}

#[test]
fn recorded_models_answer_in_place_of_a_server() {
    let stage = Stage::new();
    let turn = |text: &str| {
        let content = json!({"role": "model", "parts": [{"text": text}]});
        let chunk =
            json!({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]});
        json!({"method": "generateContentStream", "response": [chunk]})
    };
    let other = json!({"method": "countTokens", "response": {"totalTokens": 1}});
    stage.home.project_file("strict.jsonl", format!("{}\n\n{other}\n", turn("one")));
    stage.home.project_file("loose.jsonl", format!("{other}\n{}\n", turn("two")));
    let run = stage.pollux(&["--fake-responses", "strict.jsonl", "-p", "go"]).run();
    assert_eq!(run.stdout_text(), "one\n", "{}", run.report());
    let run = stage.pollux(&["--fake-responses-non-strict", "loose.jsonl", "-p", "go"]).run();
    assert_eq!(run.stdout_text(), "two\n", "{}", run.report());
    let mismatch = "Unexpected response type, next response was for countTokens but expected generateContentStream";
    let table = [("loose.jsonl", mismatch), ("gone.jsonl", "gone.jsonl")];
    for (file, message) in table {
        let run = stage.pollux(&["--fake-responses", file, "-p", "go"]).run();
        run.assert_code(1);
        assert!(run.stderr_text().contains(message), "{}", run.report());
    }
    assert_eq!(stage.server.requests().len(), 0);
}

#[test]
fn what_is_recorded_can_be_played_again() {
    let call = reply().thought("**T** x").call("glob", json!({"pattern": "*"})).signature("c2ln");
    let stage = Stage::with([call, reply().text("done")]);
    let first = stage.pollux(&["--record-responses", "tape.jsonl", "-o", "json", "-p", "go"]).run();
    first.assert_code(0);
    let tape = stage.home.read_project_file("tape.jsonl");
    let lines: Vec<Value> = tape.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["method"], "generateContentStream");
    let again = stage.pollux(&["--fake-responses", "tape.jsonl", "-o", "json", "-p", "go"]).run();
    assert_eq!(again.json()["response"], "done", "{}", again.report());
}
