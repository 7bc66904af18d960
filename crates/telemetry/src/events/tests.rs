use pollux_protocol::{
    ApiErrorMeasure, ApiRequestMeasure, ApiResponseMeasure, ApprovalMode, Decision, LoopKind,
    LoopMeasure, ModelRole, Usage,
};
use pretty_assertions::assert_eq;
use serde_json::Value;

use super::*;
use crate::service::Service;

fn events(measurement: &Measurement, log_prompts: bool) -> Vec<LogEvent> {
    let common = Common { auth_type: Some("gemini-api-key".to_owned()), ..Common::default() };
    let service = Service { provider: "gcp.gen_ai".to_owned(), ..Service::default() };
    let asked = Asked { service, system: None };
    log_events(measurement, &Rules { log_prompts, common: &common, asked: &asked })
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
        cost: None,
        is_cost_estimated: false,
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
fn a_failure_has_the_attributes_of_gemini_cli() {
    let failure = |status| {
        Measurement::ApiError(ApiErrorMeasure {
            model: "m".to_owned(),
            prompt_id: "p".to_owned(),
            role: ModelRole::Main,
            duration: Duration::from_millis(18),
            message: "no".to_owned(),
            error_type: "ApiError".to_owned(),
            status,
            cost: None,
            is_cost_estimated: false,
        })
    };
    assert_eq!(
        lines(&events(&failure(Some(503)), false)),
        [
            r#"gemini_cli.api_error | API error for m. Error: no. Duration: 18ms. | {"model":"m","model_name":"m","error":"no","error.message":"no","error.type":"ApiError","status_code":503,"http.status_code":503,"duration":18,"duration_ms":18,"prompt_id":"p","auth_type":"gemini-api-key","role":"main"}"#,
            r#"gen_ai.client.inference.operation.details | GenAI operation error details from m. Error: no. Duration: 18ms. | {"gen_ai.operation.name":"generate_content","gen_ai.provider.name":"gcp.gen_ai","gen_ai.request.model":"m","gen_ai.response.model":"m"}"#,
        ]
    );
    assert!(!lines(&events(&failure(None), false))[0].contains("status_code"));
}

#[test]
fn reasons_are_reported_in_the_words_of_the_conventions() {
    for (vendors, expected) in [
        (Some("STOP"), "stop"),
        (Some("MAX_TOKENS"), "length"),
        (Some("SAFETY"), "content_filter"),
        (Some("RECITATION"), "content_filter"),
        (Some("BLOCKLIST"), "content_filter"),
        (Some("MALFORMED_FUNCTION_CALL"), "error"),
        (Some("UNEXPECTED_TOOL_CALL"), "error"),
        (Some("OTHER"), "stop"),
        (None, "stop"),
    ] {
        let response = Measurement::ApiResponse(ApiResponseMeasure {
            model: "m".to_owned(),
            prompt_id: "p".to_owned(),
            role: ModelRole::Main,
            duration: Duration::ZERO,
            usage: Usage::default(),
            cost: None,
            is_cost_estimated: false,
            finish_reasons: vendors.into_iter().map(str::to_owned).collect(),
            response_text: None,
            response_id: None,
        });
        let reported = events(&response, false);
        assert_eq!(reported[0].attributes["finish_reasons"], json!([expected]), "{vendors:?}");
        assert_eq!(reported[1].attributes["gen_ai.response.finish_reasons"], json!([expected]));
    }
}

#[test]
fn a_request_tells_how_it_is_made() {
    let request = Measurement::ApiRequest(ApiRequestMeasure {
        model: "m".to_owned(),
        prompt_id: "p".to_owned(),
        role: ModelRole::Main,
        request_text: None,
        system: None,
    });
    let settings = json!({
        "temperature": 1, "topP": 0.95, "topK": 64, "seed": 7, "maxOutputTokens": 9,
        "stopSequences": ["x"], "candidateCount": 2, "thinkingConfig": {},
    });
    let service = Service {
        provider: "openai".to_owned(),
        address: Some("host".to_owned()),
        port: Some(443),
        settings: settings.as_object().unwrap().clone(),
    };
    let asked = Asked { service, system: Some("a secret".into()) };
    let details = |log_prompts| {
        let rules = Rules { log_prompts, common: &Common::default(), asked: &asked };
        Value::Object(log_events(&request, &rules).swap_remove(1).attributes)
    };
    let mut expected = json!({
        "gen_ai.operation.name": "generate_content",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.request.temperature": 1,
        "gen_ai.request.top_p": 0.95,
        "gen_ai.request.top_k": 64,
        "gen_ai.request.choice.count": 2,
        "gen_ai.request.seed": 7,
        "gen_ai.request.max_tokens": 9,
        "gen_ai.request.stop_sequences": ["x"],
        "server.address": "host",
        "server.port": 443,
    });
    assert_eq!(details(false), expected);
    expected["gen_ai.system_instructions"] = json!(r#"[{"type":"text","content":"a secret"}]"#);
    assert_eq!(details(true), expected);
}

#[test]
fn attempts_at_an_answer_are_counted_from_nothing() {
    let retry = |delay| StreamRetryMeasure {
        model: "m".to_owned(),
        attempt: 1,
        reason: None,
        error_type: "E".to_owned(),
        delay,
    };
    let again = Measurement::ContentRetry(retry(Some(Duration::from_secs(1))));
    assert_eq!(
        lines(&events(&again, false)),
        [
            r#"gemini_cli.chat.content_retry | Content retry attempt 0 due to E. | {"attempt_number":0,"error_type":"E","retry_delay_ms":1000,"model":"m"}"#
        ]
    );
    let over = events(&Measurement::ContentRetryFailure(retry(None)), false);
    assert_eq!(over[0].attributes["total_attempts"], 1);
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
fn files_are_reported_without_their_paths() {
    let operation = Measurement::File(FileOperation {
        tool: "read_file".to_owned(),
        kind: FileOperationKind::Read,
        path: "/secret/a.rs".into(),
        lines: Some(2),
        mime_type: Some("text/x-rust".to_owned()),
    });
    assert_eq!(
        lines(&events(&operation, true)),
        [
            r#"gemini_cli.file_operation | File operation: read. Lines: 2. | {"tool_name":"read_file","operation":"read","lines":2,"mimetype":"text/x-rust","extension":".rs","programming_language":"rust"}"#
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
        (Measurement::EditCorrection { success: true }, "gemini_cli.edit_correction"),
        (
            Measurement::MalformedJson { model: "m".to_owned() },
            "gemini_cli.malformed_json_response",
        ),
        (Measurement::PlanExecution { mode }, "gemini_cli.plan.execution"),
        (Measurement::ModelCommand { model: "m".to_owned() }, "gemini_cli.slash_command.model"),
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
    ];
    for (measurement, name) in table {
        let names: Vec<_> = events(&measurement, false).iter().map(|event| event.name).collect();
        assert_eq!(names, [name]);
    }
}

#[test]
fn figures_with_several_attributes_have_their_names() {
    let mode = ApprovalMode::Default;
    let table = [
        (
            Measurement::ModelRouting {
                requested: "r".to_owned(),
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

#[test]
fn pages_that_the_vendor_did_not_read_are_reported_with_the_reason() {
    use pollux_protocol::WebFetchFallback;
    for (reason, word) in [
        (WebFetchFallback::PrimaryFailed, "primary_failed"),
        (WebFetchFallback::PrivateIpSkipped, "private_ip_skipped"),
    ] {
        let events = events(&Measurement::WebFetchFallback(reason), false);
        assert_eq!(events[0].name, "gemini_cli.web_fetch_fallback_attempt");
        assert_eq!(events[0].attributes["reason"], word);
    }
}

#[test]
fn masking_tells_what_it_saved() {
    let masked = Measurement::ToolOutputMasked { before: 3, after: 1, count: 1, prunable: 4 };
    let events = events(&masked, false);
    assert_eq!(events[0].name, "gemini_cli.tool_output_masking");
    assert_eq!(events[0].attributes["tokens_before"], 3);
    assert_eq!(events[0].attributes["tokens_after"], 1);
}

#[test]
fn loops_keep_their_names_without_the_common_prefix() {
    let table = [
        (
            Measurement::LoopDetected(LoopMeasure {
                kind: LoopKind::Chant,
                prompt_id: "p".to_owned(),
                count: 1,
                confirmed_by: None,
                analysis: None,
                confidence: None,
            }),
            "loop_detected",
        ),
        (
            Measurement::LoopDetectionDisabled { prompt_id: "p".to_owned() },
            "loop_detection_disabled",
        ),
        (
            Measurement::LoopCheck {
                prompt_id: "p".to_owned(),
                confidence: 0.5,
                second_model: "m".to_owned(),
                second_confidence: None,
            },
            "gemini_cli.llm_loop_check",
        ),
    ];
    for (measurement, name) in table {
        let events = events(&measurement, false);
        assert_eq!(events.iter().map(|event| event.name).collect::<Vec<_>>(), [name]);
    }
}
