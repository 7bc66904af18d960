use pollux_protocol::{CallStatus, DiffStat, InvalidStream};
use pretty_assertions::assert_eq;

use super::*;

fn observe(statistics: &Statistics, measurement: impl std::borrow::Borrow<Measurement>) {
    statistics.measure(&Origin::default(), measurement.borrow());
}

fn response(usage: Usage) -> Measurement {
    Measurement::ApiResponse(ApiResponseMeasure {
        model: "m".to_owned(),
        prompt_id: "p".to_owned(),
        role: ModelRole::Main,
        duration: Duration::from_millis(165),
        usage,
        cost: Money::from_usd(0.25),
        is_cost_estimated: false,
        finish_reasons: Vec::new(),
        response_text: None,
        response_id: None,
    })
}

fn tool(success: bool, decision: Option<Decision>) -> Measurement {
    Measurement::ToolCall(ToolCallMeasure {
        name: "replace".to_owned(),
        prompt_id: "p".to_owned(),
        args: json!({}),
        duration: Duration::from_millis(5),
        success,
        decision,
        error: None,
        content_length: None,
        diff: success.then(|| DiffStat {
            model_added_lines: 3,
            model_removed_lines: 1,
            ..DiffStat::default()
        }),
    })
}

fn run() -> Statistics {
    let statistics = Statistics::new();
    observe(
        &statistics,
        response(Usage { prompt: 10, candidates: 2, total: 12, cached: 4, ..Usage::default() }),
    );
    observe(
        &statistics,
        Measurement::InvalidStream {
            model: "m".to_owned(),
            role: ModelRole::Main,
            reason: InvalidStream::NoResponseText,
        },
    );
    observe(
        &statistics,
        Measurement::ApiError(ApiErrorMeasure {
            model: "m".to_owned(),
            prompt_id: "p".to_owned(),
            role: ModelRole::Main,
            duration: Duration::from_millis(35),
            message: "no".to_owned(),
            error_type: String::new(),
            status: Some(500),
            cost: Some(Money::ZERO),
            is_cost_estimated: false,
        }),
    );
    observe(&statistics, tool(true, Some(Decision::Accept)));
    observe(&statistics, tool(false, None));
    statistics
}

#[test]
fn the_stats_object_has_gemini_clis_shape_and_order() {
    let text = serde_json::to_string(&run().stats()).unwrap();
    let tokens =
        r#"{"input":6,"prompt":10,"candidates":2,"total":12,"cached":4,"thoughts":0,"tool":0}"#;
    let expected = format!(
        concat!(
            r#"{{"models":{{"m":{{"api":{{"totalRequests":2,"totalErrors":2,"totalLatencyMs":200,"#,
            r#""errorsByType":{{"NO_RESPONSE_TEXT":1,"UNKNOWN":1}}}},"tokens":{tokens},"#,
            r#""roles":{{"main":{{"totalRequests":2,"totalErrors":1,"totalLatencyMs":200,"tokens":{tokens}}}}},"cost":0.25}}}},"#,
            r#""tools":{{"totalCalls":2,"totalSuccess":1,"totalFail":1,"totalDurationMs":10,"#,
            r#""totalDecisions":{{"accept":1,"reject":0,"modify":0,"auto_accept":0}},"#,
            r#""byName":{{"replace":{{"count":2,"success":1,"fail":1,"durationMs":10,"#,
            r#""decisions":{{"accept":1,"reject":0,"modify":0,"auto_accept":0}}}}}}}},"#,
            r#""files":{{"totalLinesAdded":3,"totalLinesRemoved":1}},"cost":0.25}}"#
        ),
        tokens = tokens
    );
    assert_eq!(text, expected);
}

#[test]
fn the_flat_stats_have_gemini_clis_order() {
    let text = serde_json::to_string(&run().stream_stats(Duration::from_millis(7))).unwrap();
    assert_eq!(
        text,
        r#"{"total_tokens":12,"input_tokens":10,"output_tokens":2,"cached":4,"input":6,"duration_ms":7,"tool_calls":2,"models":{"m":{"total_tokens":12,"input_tokens":10,"output_tokens":2,"cached":4,"input":6,"cost":0.25}},"cost":0.25}"#
    );
}

#[test]
fn an_estimated_cost_is_marked_at_its_model_and_at_the_sum() {
    let statistics = run();
    let mut uncounted = match response(Usage::default()) {
        Measurement::ApiResponse(measure) => measure,
        other => panic!("{other:?}"),
    };
    (uncounted.model, uncounted.is_cost_estimated) = ("silent".to_owned(), true);
    observe(&statistics, Measurement::ApiResponse(uncounted));
    for stats in [statistics.stats(), statistics.stream_stats(Duration::ZERO)] {
        assert_eq!((&stats["cost"], &stats["cost_estimated"]), (&json!(0.5), &json!(true)));
        assert_eq!(stats["models"]["silent"]["cost_estimated"], true);
        assert_eq!(stats["models"]["m"].get("cost_estimated"), None);
    }
}

#[test]
fn a_resumed_session_goes_on_counting() {
    let mut recorded = RecordedFigures::default();
    recorded.add_answer("m", Some(Usage { prompt: 5, total: 5, ..Usage::default() }));
    recorded.add_call("replace", Some(CallStatus::Success));
    let statistics = Statistics::new();
    statistics.hydrate(&recorded);
    observe(&statistics, tool(true, None));
    observe(&statistics, response(Usage { prompt: 1, total: 1, ..Usage::default() }));
    let stats = statistics.stats();
    assert_eq!(stats["tools"]["totalCalls"], 2);
    assert_eq!(stats["models"]["m"]["tokens"]["prompt"], 6);
    assert_eq!(stats["models"]["m"]["api"]["totalRequests"], 2);
    assert_eq!(stats["cost"], Value::Null, "what was before has no known price");
}

#[test]
fn one_unknown_price_makes_the_sum_unknown_and_never_zero() {
    let statistics = run();
    let mut unpriced = match response(Usage { prompt: 1, total: 1, ..Usage::default() }) {
        Measurement::ApiResponse(measure) => measure,
        other => panic!("{other:?}"),
    };
    (unpriced.model, unpriced.cost) = ("new".to_owned(), None);
    observe(&statistics, Measurement::ApiResponse(unpriced));
    let stats = statistics.stats();
    assert_eq!(stats["models"]["m"]["cost"], 0.25);
    assert_eq!(stats["models"]["new"]["cost"], Value::Null);
    assert_eq!(stats["cost"], Value::Null);
    assert_eq!(statistics.stream_stats(Duration::ZERO)["cost"], Value::Null);
}
