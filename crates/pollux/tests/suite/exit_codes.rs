//! One transcript for each exit code and each format.
//!
//! In each of them the message is on standard error, and in the JSON formats exactly one terminal
//! result is on standard output.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use pollux_testkit::{Finished, ModelReply, Pollux, errors, reply, tiny_disk, tiny_disk_at};
use serde_json::{Value, json};

use super::stage::{FORMATS, MODEL, Stage, terminal_result};

/// Expected end of a run in all formats.
struct Ending<'a> {
    /// Exit code in text, and in the JSON formats.
    codes: (i32, i32),
    /// Name of the error in JSON; empty if it does not matter.
    kind: &'a str,
    /// Part of the message.
    message: &'a str,
}

impl Ending<'_> {
    fn same(code: i32, kind: &'static str, message: &'static str) -> Ending<'static> {
        Ending { codes: (code, code), kind, message }
    }

    /// Runs the scene once for each format.
    fn assert(&self, scene: impl Fn(&Stage, &[&str]) -> Finished) {
        for format in FORMATS {
            let stage = Stage::new();
            self.check(format, &scene(&stage, &["-o", format, "-m", MODEL]));
        }
    }

    fn check(&self, format: &str, run: &Finished) {
        let code = if format == "text" { self.codes.0 } else { self.codes.1 };
        run.assert_code(code);
        let message = self.message;
        // In the JSON format the message is escaped; errors of settings are plain text.
        let quoted = Value::from(message).to_string();
        let is_quoted = format == "json" && code != 52;
        let shown = if is_quoted { quoted.trim_matches('"') } else { message };
        assert!(run.stderr_text().contains(shown), "{format}: no {shown:?}\n{}", run.report());
        let error = match format {
            "text" => return assert!(!run.stdout_text().contains(message), "{}", run.report()),
            "json" => run.json()["error"].clone(),
            _ => {
                let result = terminal_result(run);
                assert_eq!(result["status"], "error", "{}", run.report());
                assert_eq!(result["stats"]["duration_ms"], 0, "{}", run.report());
                result["error"].clone()
            }
        };
        self.check_error(format, &error, run);
    }

    fn check_error(&self, format: &str, error: &Value, run: &Finished) {
        let said = error["message"].as_str().unwrap_or_default();
        assert!(said.contains(self.message), "{format}: {error}\n{}", run.report());
        if !self.kind.is_empty() {
            assert_eq!(error["type"], self.kind, "{format}\n{}", run.report());
        }
        if format == "json" {
            let code = error["code"].as_i64().unwrap_or(1);
            assert_eq!(code.rem_euclid(256), i64::from(self.codes.1), "{}", run.report());
        } else {
            assert_eq!(error.get("code"), None, "{}", run.report());
        }
    }
}

fn run(program: Pollux, arguments: &[&str], more: &[&str]) -> Finished {
    program.args(arguments).args(more).run()
}

#[test]
fn exit_0_is_an_answer() {
    for format in FORMATS {
        let run = Stage::with([reply().text("hi")]).prompt(format, "go");
        run.assert_code(0);
        assert_eq!(run.stderr_text(), "", "{format}");
    }
}

#[test]
fn exit_1_is_a_command_line_that_cannot_be_used() {
    let both = "Cannot use both a positional prompt and the --prompt (-p) flag together";
    let yolo = "Cannot use both --yolo (-y) and --approval-mode together. Use --approval-mode=yolo instead.";
    let format =
        "Argument: output-format, Given: \"xml\", Choices: \"text\", \"json\", \"stream-json\"";
    let table: [(&[&str], &str); 4] = [
        (&["--nosuch", "-p", "go"], "Unknown argument"),
        (&["-p", "go", "gone"], both),
        (&["-y", "--approval-mode", "plan", "-p", "go"], yolo),
        (&["-o", "xml", "-p", "go"], format),
    ];
    for (arguments, message) in table {
        let run = Stage::new().program().args(arguments).run();
        run.assert_code(1);
        assert!(run.stderr_text().contains(message), "{}", run.report());
        assert_eq!(run.stdout_text(), "");
    }
}

#[test]
fn exit_41_is_a_missing_key() {
    let message = "No API key is set. Get one at https://aistudio.google.com/apikey, then run:";
    Ending::same(41, "", message).assert(|stage, arguments| {
        let program = stage.alone().env_remove("GEMINI_API_KEY");
        run(program, arguments, &["-p", "go"])
    });
}

#[test]
fn exit_42_is_no_input() {
    let message = "No input provided via stdin. Input can be provided by piping data into";
    Ending::same(42, "FatalInputError", message)
        .assert(|stage, arguments| run(stage.program(), arguments, &["-p", ""]));
}

#[test]
fn exit_42_is_a_session_that_cannot_be_found() {
    let message = "Error resuming session: No previous sessions found for this project.";
    Ending::same(42, "FatalInputError", message)
        .assert(|stage, arguments| run(stage.program(), arguments, &["-r", "7", "-p", "go"]));

    let message = "Error resuming session: Invalid session identifier \"nope\".";
    Ending::same(42, "FatalInputError", message).assert(|stage, arguments| {
        stage.server.stream(reply().text("one"));
        stage.prompt("text", "first").assert_code(0);
        run(stage.program(), arguments, &["-r", "nope", "-p", "go"])
    });

    let message = "Error importing session from file: File not found or invalid format: no.jsonl";
    Ending::same(42, "FatalInputError", message).assert(|stage, arguments| {
        run(stage.program(), arguments, &["--session-file", "no.jsonl", "-p", "go"])
    });
}

#[test]
fn exit_42_is_a_session_id_that_is_taken() {
    let message = "Error starting session: Session ID \"mine\" already exists. Use --resume to resume it, or provide a different ID.";
    Ending::same(42, "FatalInputError", message).assert(|stage, arguments| {
        stage.server.stream(reply().text("one"));
        let first = run(stage.program(), arguments, &["--session-id", "mine", "-p", "go"]);
        first.assert_code(0);
        run(stage.program(), arguments, &["--session-id", "mine", "-p", "go"])
    });
}

#[test]
fn exit_44_is_a_sandbox_that_cannot_be_had() {
    Ending::same(44, "FatalSandboxError", "andbox").assert(|stage, arguments| {
        run(stage.program().env("GEMINI_SANDBOX", "docker"), arguments, &["-p", "go"])
    });
    Ending::same(44, "FatalSandboxError", "andbox").assert(|stage, arguments| {
        stage.home.settings(&json!({"tools": {"sandbox": true}}));
        run(stage.program(), arguments, &["-p", "go"])
    });
}

#[test]
fn exit_52_is_a_broken_settings_file() {
    let message = "Please fix the configuration file(s) and try again.";
    Ending::same(52, "FatalConfigError", message).assert(|stage, arguments| {
        // A comma before the brace, in line 3, is an error here as in Gemini CLI.
        stage.home.user_file("settings.json", "{\n  // colours\n  \"ui\": {},\n}\n");
        let run = run(stage.program(), arguments, &["-p", "go"]);
        let errors = run.stderr_text();
        let file = stage.home.gemini().join("settings.json");
        assert!(errors.contains(&format!("Error in {}: ", file.display())), "{errors}");
        assert!(errors.contains("line 3") && errors.contains("column"), "{errors}");
        run
    });
}

#[test]
fn exit_52_is_a_configuration_that_makes_no_sense() {
    let message = "Invalid telemetry configuration: Invalid telemetry target: mars. Valid values are: local, gcp.";
    Ending::same(52, "FatalConfigError", message).assert(|stage, arguments| {
        let program = stage.program().env("GEMINI_TELEMETRY_ENABLED", "true");
        run(program.env("GEMINI_TELEMETRY_TARGET", "mars"), arguments, &["-p", "go"])
    });
    let message = "Invalid trust level \"MAYBE\" for path";
    Ending::same(52, "FatalConfigError", message).assert(|stage, arguments| {
        stage.home.trust(&stage.home.project(), "MAYBE");
        let program = stage.program().env_remove("GEMINI_CLI_TRUST_WORKSPACE");
        run(program, arguments, &["-p", "go"])
    });
}

#[test]
fn exit_52_is_yolo_where_it_is_disabled() {
    Ending::same(52, "FatalConfigError", "YOLO").assert(|stage, arguments| {
        stage.home.settings(&json!({"security": {"disableYoloMode": true}}));
        run(stage.program(), arguments, &["-y", "-p", "go"])
    });
}

#[test]
fn exit_53_is_the_limit_of_turns() {
    let message = "Reached max session turns for this session. Increase the number of turns by specifying maxSessionTurns in settings.json.";
    Ending::same(53, "FatalTurnLimitedError", message).assert(|stage, arguments| {
        stage.home.settings(&json!({"model": {"maxSessionTurns": 1}}));
        stage.server.stream(reply().call("glob", json!({"pattern": "*"})));
        let run = run(stage.program(), arguments, &["-p", "go"]);
        assert_eq!(stage.server.requests().len(), 1);
        run
    });
}

#[test]
fn exit_54_is_a_full_disk_under_a_tools_file() {
    let ending = Ending::same(54, "FatalToolExecutionError", "No space left on device");
    for format in FORMATS {
        let stage = Stage::new();
        let Some(disk) = tiny_disk(64 * 1024) else { return };
        let file = disk.path().join("big.txt");
        let content = "x".repeat(300 * 1024);
        stage
            .server
            .stream(reply().call("write_file", json!({"file_path": file, "content": content})));
        let program = stage.pollux(&["-y", "-o", format, "-p", "go"]).on_disk(&disk);
        let folder = disk.path().to_str().unwrap();
        let run = program.args(["--include-directories", folder]).run();
        ending.check(format, &run);
        assert_eq!(stage.server.requests().len(), 1, "nothing is asked after that");
    }
}

#[test]
fn exit_54_is_a_full_disk_under_the_session_log() {
    // The disk has space for the prompt but not for the answer, whose calls must not run.
    for format in FORMATS {
        let stage = Stage::new();
        let log = stage.home.gemini().join("tmp");
        fs::create_dir_all(&log).unwrap();
        let Some(disk) = tiny_disk_at(&log, 128 * 1024) else { return };
        let write = json!({"file_path": "made.txt", "content": "x"});
        let answer = reply().text("y".repeat(300 * 1024)).call("write_file", write);
        stage.server.stream(answer);
        let run = stage.pollux(&["-y", "-o", format, "-p", "go"]).on_disk(&disk).run();
        run.assert_code(54);
        assert!(!stage.home.project().join("made.txt").exists(), "an effect without its record");
        let errors = run.stderr_text();
        assert!(errors.to_lowercase().contains("no space left"), "{}", run.report());
        match format {
            "text" => {}
            "json" => assert_eq!(run.json()["error"]["code"], 54),
            _ => assert_eq!(terminal_result(&run)["status"], "error"),
        }
    }
}

#[test]
fn exit_54_is_a_session_log_that_cannot_be_begun() {
    for format in FORMATS {
        let stage = Stage::new();
        let log = stage.home.gemini().join("tmp");
        fs::create_dir_all(&log).unwrap();
        let Some(disk) = tiny_disk_at(&log, 4096) else { return };
        let run = stage.pollux(&["-y", "-o", format, "-p", "go"]).on_disk(&disk).run();
        run.assert_code(54);
        assert!(run.stderr_text().to_lowercase().contains("no space left"), "{}", run.report());
        assert_eq!(stage.server.requests().len(), 0, "{format}");
    }
}

#[test]
fn http_errors_exit_with_the_status_in_json_and_by_their_meaning_in_text() {
    type Scene = (fn() -> ModelReply, usize, (i32, i32), &'static str, &'static str);
    let table: [Scene; 6] = [
        (|| errors::bad_request("No such field."), 1, (1, 144), "ApiError", "No such field."),
        (errors::invalid_key, 1, (1, 144), "ApiError", "API key not valid"),
        (|| errors::not_found(MODEL), 1, (1, 1), "ModelNotFoundError", "is not found"),
        (errors::per_day_quota, 1, (60, 173), "TerminalQuotaError", "exceeded your current quota"),
        (|| errors::plain(429), 3, (61, 173), "RetryableQuotaError", "429"),
        (errors::internal, 3, (61, 244), "ApiError", "An internal error has occurred."),
    ];
    for (error, requests, codes, kind, message) in table {
        let ending = Ending { codes, kind, message };
        ending.assert(|stage, arguments| {
            stage.home.settings(&json!({"general": {"maxAttempts": 3}}));
            for _ in 0..requests {
                stage.server.stream(error());
            }
            let run = run(stage.program(), arguments, &["-p", "go"]);
            stage.server.assert_script_done();
            assert!(run.stderr_text().contains("[API Error: "), "{}", run.report());
            run
        });
    }
}

#[test]
fn a_server_that_cannot_be_reached_is_an_error_like_any_other() {
    let ending = Ending { codes: (62, 1), kind: "", message: "[API Error: " };
    ending.assert(|stage, arguments| {
        stage.home.settings(&json!({"general": {"maxAttempts": 2}}));
        // There is no server on the discard port.
        let program = stage.alone().env("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9");
        run(program, arguments, &["-p", "go"])
    });
}

#[test]
fn a_home_that_cannot_be_used_is_named_and_done_without() {
    for format in FORMATS {
        let stage = Stage::with([reply().text("hi")]);
        let run = stage.pollux(&["-o", format, "-p", "go"]).env("HOME", "/dev/null").run();
        run.assert_code(0);
        let reported = run.stderr_text();
        let line = reported.strip_suffix('\n').filter(|line| !line.contains('\n'));
        let line = line.unwrap_or_else(|| panic!("not one line\n{}", run.report()));
        assert!(line.contains("/dev/null/.gemini"), "{line}");
        let place = stage.home.temporary();
        assert!(line.contains(place.to_str().unwrap()), "where the state is kept: {line}");
        let kept = fs::read_dir(place).unwrap().next().unwrap().unwrap();
        let mode = kept.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "for its owner alone");
    }
}
