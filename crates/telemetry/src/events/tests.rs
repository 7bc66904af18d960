use pollux_protocol::{ApprovalMode, Decision, ModelRole, Usage};
use pretty_assertions::assert_eq;
use serde_json::Value;

use super::*;

fn events(measurement: &Measurement, log_prompts: bool) -> Vec<LogEvent> {
    let common = Common { auth_type: Some("gemini-api-key".to_owned()), ..Common::default() };
    log_events(measurement, &Rules { log_prompts, common: &common })
}

fn lines(events: &[LogEvent]) -> Vec<String> {
    let line = |event: &LogEvent| {
        format!("{} | {} | {}", event.name, event.body, Value::Object(event.attributes.clone()))
    };
    events.iter().map(line).collect()
}

#[test]
fn a_prompt_keeps_its_words_to_itself_unless_allowed() {
    let prompt =
        Measurement::UserPrompt { prompt_id: "p".to_owned(), prompt: "héllo😀".to_owned() };
    assert_eq!(
        lines(&events(&prompt, true)),
        [
            r#"gemini_cli.user_prompt | User prompt. Length: 7. | {"prompt_length":7,"prompt_id":"p","auth_type":"gemini-api-key","prompt":"héllo😀"}"#
        ]
    );
    assert!(!lines(&events(&prompt, false))[0].contains("llo"));
}

#[test]
fn a_response_has_the_attributes_of_gemini_cli() {
    let response = Measurement::ApiResponse(ApiResponseMeasure {
        model: "m".to_owned(),
        prompt_id: "p".to_owned(),
        role: ModelRole::Main,
        duration: Duration::from_millis(158),
        usage: Usage { prompt: 10, candidates: 2, total: 12, ..Usage::default() },
        finish_reasons: vec!["STOP".to_owned()],
        response_text: Some("secret".to_owned()),
        response_id: None,
    });
    assert_eq!(
        lines(&events(&response, false)),
        [
            r#"gemini_cli.api_response | API response from m. Status: 200. Duration: 158ms. | {"model":"m","duration_ms":158,"input_token_count":10,"output_token_count":2,"cached_content_token_count":0,"thoughts_token_count":0,"tool_token_count":0,"total_token_count":12,"prompt_id":"p","auth_type":"gemini-api-key","status_code":200,"http.status_code":200,"finish_reasons":["stop"],"role":"main"}"#,
            r#"gen_ai.client.inference.operation.details | GenAI operation details from m. Status: 200. Duration: 158ms. | {"gen_ai.operation.name":"generate_content","gen_ai.provider.name":"gcp.gen_ai","gen_ai.request.model":"m","gen_ai.response.model":"m","gen_ai.response.finish_reasons":["stop"],"gen_ai.usage.input_tokens":10,"gen_ai.usage.output_tokens":2}"#,
        ]
    );
    assert!(lines(&events(&response, true))[0].contains("secret"));
}

#[test]
fn a_call_has_the_attributes_of_gemini_cli() {
    let call = |decision, error| {
        Measurement::ToolCall(ToolCallMeasure {
            name: "read_file".to_owned(),
            prompt_id: "p".to_owned(),
            args: json!({ "file_path": "a.txt" }),
            duration: Duration::from_millis(24),
            success: true,
            decision,
            error,
            content_length: Some(3),
            diff: None,
        })
    };
    assert_eq!(
        lines(&events(&call(Some(Decision::Accept), None), true)),
        [
            r#"gemini_cli.tool_call | Tool call: read_file. Decision: accept. Success: true. Duration: 24ms. | {"function_name":"read_file","duration_ms":24,"success":true,"decision":"accept","prompt_id":"p","tool_type":"native","content_length":3,"function_args":"{\n  \"file_path\": \"a.txt\"\n}"}"#
        ]
    );
    let failed = lines(&events(&call(None, Some(("no".to_owned(), "unknown"))), false));
    assert!(failed[0].contains("Tool call: read_file. Success"), "{failed:?}");
    assert!(failed[0].ends_with(
        r#""error":"no","error.message":"no","error_type":"unknown","error.type":"unknown"}"#
    ));
    assert!(!failed[0].contains("function_args"));
}

#[test]
fn files_are_told_without_their_paths() {
    let operation = Measurement::File(FileOperation {
        tool: "read_file".to_owned(),
        kind: FileOperationKind::Read,
        path: "/secret/a.txt".into(),
        lines: Some(2),
        mime_type: Some("text/plain".to_owned()),
    });
    assert_eq!(
        lines(&events(&operation, true)),
        [
            r#"gemini_cli.file_operation | File operation: read. Lines: 2. | {"tool_name":"read_file","operation":"read","lines":2,"mimetype":"text/plain","extension":".txt"}"#
        ]
    );
}

#[test]
fn every_other_figure_has_its_name() {
    let retry = || StreamRetryMeasure {
        model: "m".to_owned(),
        attempt: 1,
        reason: None,
        error_type: "E".to_owned(),
        delay: Some(Duration::from_secs(1)),
    };
    let mode = ApprovalMode::Default;
    let table = [
        (Measurement::InvalidChunk { message: "x".to_owned() }, "gemini_cli.chat.invalid_chunk"),
        (Measurement::ContentRetry(retry()), "gemini_cli.chat.content_retry"),
        (Measurement::ContentRetryFailure(retry()), "gemini_cli.chat.content_retry_failure"),
        (Measurement::EditStrategy("exact".to_owned()), "gemini_cli.edit_strategy"),
        (Measurement::ModeSwitch { from: mode, to: mode }, "gemini_cli.plan.approval_mode_switch"),
        (
            Measurement::ModeDuration { mode, duration: Duration::ZERO },
            "gemini_cli.plan.approval_mode_duration",
        ),
        (Measurement::ConversationFinished { mode, turns: 1 }, "gemini_cli.conversation_finished"),
        (
            Measurement::SlashCommand { command: "c".to_owned(), subcommand: None, success: true },
            "gemini_cli.slash_command",
        ),
        (
            Measurement::ModelRouting {
                model: "m".to_owned(),
                source: "s".to_owned(),
                latency: Duration::ZERO,
                error: None,
                mode,
            },
            "gemini_cli.model_routing",
        ),
        (
            Measurement::ToolOutputTruncated {
                tool: "t".to_owned(),
                prompt_id: "p".to_owned(),
                original: 2,
                truncated: 1,
                threshold: 1,
            },
            "gemini_cli.tool_output_truncated",
        ),
        (
            Measurement::NetworkRetry {
                model: "m".to_owned(),
                attempt: 1,
                max_attempts: 3,
                error_type: "E".to_owned(),
                delay: Duration::ZERO,
            },
            "gemini_cli.network_retry_attempt",
        ),
    ];
    for (measurement, name) in table {
        let names: Vec<_> = events(&measurement, false).iter().map(|event| event.name).collect();
        assert_eq!(names, [name]);
    }
}
