//! Answers that satisfy a schema: valid immediately, repaired, or rejected together with their
//! text.

use pollux_testkit::{Finished, ModelReply, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{FORMATS, Stage, lines_of, terminal_result, texts};

const SCHEMA: &str = r#"{"type": "object", "properties": {"count": {"type": "integer"}, "name": {"type": "string"}}, "required": ["count"], "additionalProperties": false}"#;
const RIGHT: &str = r#"{"count":3,"name":"x"}"#;

fn answers(said: &[&str]) -> Stage {
    Stage::with(said.iter().map(|text| reply().text(*text)))
}

fn run(stage: &Stage, format: &str) -> Finished {
    stage.pollux(&["-o", format, "--output-schema", SCHEMA, "-p", "how many?"]).run()
}

#[test]
fn an_answer_that_is_right_at_once_costs_no_request_more() {
    for format in FORMATS {
        let stage = answers(&[RIGHT]);
        let run = run(&stage, format);
        run.assert_code(0);
        let [request] = &stage.requests()[..] else { panic!("{}", run.report()) };
        let system = texts(&request.body["systemInstruction"]).concat();
        assert!(system.contains("\"additionalProperties\""), "the model knows the schema");
        assert!(request.body["tools"].is_array(), "tools as usual");
        match format {
            "text" => assert_eq!(run.stdout_text(), format!("{RIGHT}\n")),
            "json" => {
                assert_eq!(run.json()["response"], RIGHT);
                assert_eq!(run.json()["structured"], json!({"count": 3, "name": "x"}));
            }
            _ => {
                assert_eq!(terminal_result(&run)["structured"], json!({"count": 3, "name": "x"}));
                let messages = lines_of(&run, "message");
                let last = messages.last().unwrap();
                assert_eq!((&last["content"], last.get("delta")), (&json!(RIGHT), None));
            }
        }
    }
}

#[test]
fn tools_run_as_ever_before_the_answer() {
    let look = reply().text("Looking.").call("list_directory", json!({"dir_path": "."}));
    for format in FORMATS {
        let stage = Stage::with([look.clone(), reply().text(RIGHT)]);
        let run = run(&stage, format);
        run.assert_code(0);
        if format == "text" {
            assert_eq!(run.stdout_text(), format!("{RIGHT}\n"), "nothing but the answer");
        }
        assert_eq!(stage.requests().len(), 2);
    }
}

#[test]
fn an_answer_that_is_never_right_exits_58_with_what_was_said() {
    for format in FORMATS {
        let stage = answers(&["no", "never", "[1]", "still not"]);
        let run = run(&stage, format);
        run.assert_code(58);
        assert_eq!(stage.requests().len(), 4, "the answer and three repairs");
        assert!(run.stderr_text().contains("does not satisfy the schema"), "{}", run.report());
        match format {
            "text" => assert_eq!(run.stdout_text(), "still not\n"),
            "json" => {
                let output = run.json();
                assert_eq!(output["response"], "still not");
                assert_eq!(output["error"]["type"], "FatalOutputSchemaError");
                assert_eq!(output["error"]["code"], 58);
                assert!(output["error"]["schema"]["problems"][0].is_string());
                assert!(output["stats"]["cost"].is_number());
                assert_eq!(output.get("structured"), None);
            }
            _ => {
                let result = terminal_result(&run);
                assert_eq!(result["status"], "error");
                assert_eq!(result["error"]["type"], "FatalOutputSchemaError");
            }
        }
        // The conversation is complete nevertheless.
        stage.server.stream(reply().text("yes"));
        stage.pollux(&["--resume", "latest", "-p", "go on"]).run().assert_code(0);
    }
}

#[test]
fn repairs_can_be_set_and_are_paid_from_the_budget() {
    let stage = answers(&["no"]);
    stage.home.settings(&json!({"pollux": {"outputSchema": {"repairs": 0}}}));
    run(&stage, "json").assert_code(58);
    assert_eq!(stage.requests().len(), 1);
    let stage = answers(&["no", "no"]);
    let arguments = ["-o", "json", "--max-turns", "2", "--output-schema", SCHEMA, "-p", "go"];
    stage.pollux(&arguments).run().assert_code(57);
    assert_eq!(stage.requests().len(), 2);
}

#[test]
fn any_kind_of_value_can_be_asked_for_also_from_a_file() {
    let stage = answers(&["[1, 2]"]);
    stage.home.project_file("list.json", r#"{"type": "array", "items": {"type": "integer"}}"#);
    let run = stage.pollux(&["-o", "json", "--output-schema", "list.json", "-p", "go"]).run();
    run.assert_code(0);
    assert_eq!(run.json()["structured"], json!([1, 2]));
}

#[test]
fn a_schema_that_cannot_be_used_is_refused_before_anything_is_sent() {
    let stage = Stage::new();
    for schema in [
        "{",
        "",
        "missing.json",
        r#"{"type": "objekt"}"#,
        r#"{"$ref": "https://example.com/schema.json"}"#,
        r##"{"$ref": "#"}"##,
    ] {
        for format in FORMATS {
            let run = stage.pollux(&["-o", format, "--output-schema", schema, "-p", "go"]).run();
            run.assert_code(1);
            assert!(run.stderr_text().contains("--output-schema"), "{schema}\n{}", run.report());
        }
    }
    assert!(stage.server.requests().is_empty());
    assert!(stage.session_files().is_empty());
}

fn chat(text: &str) -> ModelReply {
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        json!({"id": "c", "object": "chat.completion.chunk", "model": "gpt-test", "choices": [choice]})
    };
    let said = chunk(json!({"role": "assistant", "content": text}), Value::Null);
    let end = chunk(json!({}), json!("stop"));
    reply().status(200, format!("data: {said}\n\ndata: {end}\n\ndata: [DONE]\n\n").into_bytes())
}

#[test]
fn openais_dialect_is_asked_in_its_own_way() {
    let stage = Stage::new();
    let replies = std::sync::Mutex::new(vec![chat(RIGHT), chat("no")]);
    stage.server.route("/v1/chat/completions", move |_| replies.lock().unwrap().pop().unwrap());
    let run = stage
        .alone()
        .env("OPENAI_API_KEY", "k")
        .env("OPENAI_BASE_URL", format!("{}/v1", stage.server.url()))
        .args(["-m", "openai/gpt-test", "-o", "json", "--output-schema", SCHEMA, "-p", "go"])
        .run();
    run.assert_code(0);
    let requests = stage.server.requests();
    assert_eq!(requests.len(), 2, "{}", run.report());
    let format = &requests[1].body["response_format"];
    assert_eq!(format["json_schema"]["schema"]["required"], json!(["count"]));
    assert_eq!(requests[0].body.get("response_format"), None);
    assert_eq!(run.json()["structured"]["count"], 3);
}
