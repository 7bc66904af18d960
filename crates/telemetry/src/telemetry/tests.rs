use std::path::PathBuf;
use std::time::Instant;

use pollux_config::{OtlpProtocol, TelemetrySettings};
use pollux_protocol::{
    ApiRequestMeasure, ApiResponseMeasure, ApprovalMode, Measurement, ModelRole, Usage,
};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;
use crate::service::Service;

fn settings(outfile: Option<&Path>) -> TelemetrySettings {
    TelemetrySettings {
        enabled: true,
        target: TelemetryTarget::Local,
        otlp_endpoint: "http://localhost:4317".to_owned(),
        otlp_protocol: OtlpProtocol::Grpc,
        log_prompts: true,
        outfile: outfile.map(|path| path.display().to_string()),
        traces: false,
        use_collector: false,
        use_cli_auth: false,
    }
}

fn common() -> Common {
    Common { session_id: "s".to_owned(), installation_id: "i".to_owned(), ..Common::default() }
}

fn services() -> Services {
    Box::new(|requested| Service { provider: format!("who-has-{requested}"), ..Service::default() })
}

fn prompt(text: &str) -> Measurement {
    Measurement::UserPrompt { prompt_id: "p".to_owned(), prompt: text.to_owned() }
}

fn response() -> ApiResponseMeasure {
    ApiResponseMeasure {
        model: "m".to_owned(),
        prompt_id: "p".to_owned(),
        role: ModelRole::Main,
        duration: Duration::from_millis(5),
        usage: Usage { prompt: 10, total: 10, ..Usage::default() },
        cost: None,
        is_cost_estimated: false,
        finish_reasons: Vec::new(),
        response_text: None,
        response_id: None,
    }
}

/// Splits a file at the boundary that readers of Gemini CLI's file use.
fn records(path: &Path) -> Vec<Value> {
    let text = String::from_utf8(pollux_fs::read_bytes(path, 1 << 30).unwrap()).unwrap();
    let joined = text.trim_end().replace("\n}\n{", "\n}\u{1}{");
    joined.split('\u{1}').map(|record| serde_json::from_str(record).unwrap()).collect()
}

fn outfile() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/telemetry.json");
    (folder, path)
}

/// Checks the event with the duration of the start.
fn check_startup(startup: &Value, began: Timestamp) {
    let phases: Value = serde_json::from_str(startup["phases"].as_str().unwrap()).unwrap();
    assert_eq!((phases.as_array().unwrap().len(), &phases[0]["name"]), (1, &json!("cli_startup")));
    assert!(phases[0]["duration_ms"].as_f64().is_some_and(|duration| duration >= 250.0));
    assert_eq!(phases[0]["start_time_usec"], began.as_microsecond());
    for key in ["cpu_usage_user_usec", "cpu_usage_system_usec", "end_time_usec"] {
        assert!(phases[0][key].is_u64(), "{key}: {phases}");
    }
    assert!(startup["os_platform"].is_string() && startup["is_docker"].is_boolean(), "{startup}");
}

#[expect(clippy::too_many_lines, reason = "one session with all events and figures")]
#[test]
fn events_and_figures_have_the_attributes_of_gemini_cli() {
    let (_folder, path) = outfile();
    let telemetry =
        Telemetry::start(&settings(Some(&path)), common(), services()).telemetry.unwrap();
    let began = Timestamp::now() - jiff::SignedDuration::from_millis(250);
    telemetry.configured(Configuration { began, ..Configuration::default() });
    let (mode, model) = (ApprovalMode::AutoEdit, "m".to_owned());
    for measurement in [
        Measurement::PlanExecution { mode },
        Measurement::EditCorrection { success: true },
        Measurement::EditCorrection { success: false },
        Measurement::MalformedJson { model: model.clone() },
        Measurement::ModelCommand { model },
        Measurement::InvalidChunk { message: "cut".to_owned() },
        Measurement::ConversationFinished { mode: ApprovalMode::Yolo, turns: 3 },
        Measurement::ApiResponse(ApiResponseMeasure {
            usage: Usage { prompt: 10, cached: 4, total: 10, ..Usage::default() },
            ..response()
        }),
    ] {
        telemetry.measure(&Origin::default(), &measurement);
    }
    telemetry.shutdown();
    let records = records(&path);
    let named = |name: &str| {
        let is_meant = |record: &&Value| record["attributes"]["event.name"] == name;
        records.iter().filter(is_meant).map(|record| &record["attributes"]).collect::<Vec<_>>()
    };
    for (name, key, expected) in [
        ("gemini_cli.plan.execution", "approval_mode", json!("autoEdit")),
        ("gemini_cli.edit_correction", "correction", json!("success")),
        ("gemini_cli.malformed_json_response", "model", json!("m")),
        ("gemini_cli.slash_command.model", "model_name", json!("m")),
        ("gemini_cli.chat.invalid_chunk", "error.message", json!("cut")),
        ("gemini_cli.conversation_finished", "approvalMode", json!("yolo")),
        ("gemini_cli.conversation_finished", "turnCount", json!(3)),
        ("end_session", "session_id", json!("s")),
    ] {
        assert_eq!(named(name)[0][key], expected, "{name}");
    }
    assert_eq!(named("gemini_cli.edit_correction")[1]["correction"], "failure");
    check_startup(named("gemini_cli.startup_stats")[0], began);
    let metrics = records.last().unwrap()["scopeMetrics"][0]["metrics"].as_array().unwrap();
    let point = |name: &str| {
        let metric = metrics.iter().find(|metric| metric["descriptor"]["name"] == name);
        metric.unwrap_or_else(|| panic!("no {name}"))["dataPoints"][0].clone()
    };
    for (name, key, expected) in [
        ("gemini_cli.plan.execution.count", "approval_mode", "autoEdit"),
        ("gemini_cli.slash_command.model.call_count", "slash_command.model.model_name", "m"),
        ("gemini_cli.startup.duration", "phase", "cli_startup"),
        ("gemini_cli.api.request.breakdown", "phase", "network_latency"),
        ("gemini_cli.token.efficiency", "metric", "cache_hit_rate"),
    ] {
        assert_eq!(point(name)["attributes"][key], expected, "{name}");
    }
    assert_eq!(point("gemini_cli.token.efficiency")["value"]["sum"], 0.4);
    if cfg!(target_os = "linux") {
        let memory = point("gemini_cli.memory.usage");
        assert_eq!(memory["attributes"]["memory_type"], "rss");
        assert!(memory["value"]["sum"].as_u64().is_some_and(|bytes| bytes > 100_000), "{memory}");
        assert_eq!(point("gemini_cli.cpu.usage")["value"]["count"], 1);
    }
}

#[test]
fn the_outfile_splits_at_its_boundaries() {
    let (_folder, path) = outfile();
    for _run in 0..2 {
        let telemetry =
            Telemetry::start(&settings(Some(&path)), common(), services()).telemetry.unwrap();
        telemetry
            .configured(Configuration { model: "auto".to_owned(), ..Configuration::default() });
        telemetry.measure(&Origin::default(), &prompt("a\n}\n{\nb"));
        telemetry.measure(&Origin::default(), &Measurement::ApiResponse(response()));
        telemetry.shutdown();
        telemetry.shutdown();
        telemetry.measure(&Origin::default(), &prompt("too late"));
    }
    let records = records(&path);
    let names: Vec<&str> = records
        .iter()
        .map(|record| record["attributes"]["event.name"].as_str().unwrap_or("metrics"))
        .collect();
    let run = [
        "gemini_cli.config",
        "gemini_cli.startup_stats",
        "gemini_cli.user_prompt",
        "gemini_cli.api_response",
        "gen_ai.client.inference.operation.details",
        "end_session",
        "metrics",
    ];
    assert_eq!(names, [run, run].concat());
    let metrics = records[6]["scopeMetrics"][0]["metrics"].as_array().unwrap();
    let name = |metric: &Value| metric["descriptor"]["name"].as_str().unwrap().to_owned();
    let names: Vec<String> = metrics.iter().map(name).collect();
    #[cfg(target_os = "linux")]
    assert_eq!(
        names,
        [
            "gemini_cli.session.count",
            "gemini_cli.startup.duration",
            "gemini_cli.api.request.count",
            "gemini_cli.api.request.latency",
            "gemini_cli.api.request.breakdown",
            "gemini_cli.token.efficiency",
            "gemini_cli.token.usage",
            "gen_ai.client.token.usage",
            "gen_ai.client.operation.duration",
            "gemini_cli.memory.usage",
            "gemini_cli.cpu.usage",
        ]
    );
    assert_eq!(metrics[0]["dataPoints"][0]["attributes"]["session.id"], "s");
}

#[test]
fn answers_are_reported_with_what_was_asked() {
    let (_folder, path) = outfile();
    let telemetry = Telemetry::start(&settings(Some(&path)), common(), services()).telemetry;
    let telemetry = telemetry.unwrap();
    for (requested, system) in [("a", "first"), ("b", "second")] {
        let measurements = [
            Measurement::ModelRouting {
                requested: requested.to_owned(),
                model: "m".to_owned(),
                source: "s".to_owned(),
                latency: Duration::ZERO,
                error: None,
                mode: ApprovalMode::Default,
            },
            Measurement::ApiRequest(ApiRequestMeasure {
                model: "m".to_owned(),
                prompt_id: "p".to_owned(),
                role: ModelRole::Main,
                request_text: None,
                system: Some(system.into()),
            }),
            Measurement::ApiResponse(response()),
        ];
        for measurement in measurements {
            telemetry.measure(&Origin::default(), &measurement);
        }
    }
    telemetry.shutdown();
    let reported: Vec<String> = records(&path)
        .iter()
        .map(|record| &record["attributes"])
        .filter(|attributes| {
            attributes["event.name"] == "gen_ai.client.inference.operation.details"
        })
        .map(|attributes| {
            let provider = attributes["gen_ai.provider.name"].as_str().unwrap();
            format!("{provider}: {}", attributes["gen_ai.system_instructions"].as_str().unwrap())
        })
        .collect();
    let first = r#"who-has-a: [{"type":"text","content":"first"}]"#;
    let second = r#"who-has-b: [{"type":"text","content":"second"}]"#;
    assert_eq!(reported, [first, first, second, second]);
}

#[cfg(unix)]
#[test]
fn the_outfile_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path) = outfile();
    drop(Telemetry::start(&settings(Some(&path)), common(), services()));
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_cannot_be_recorded_is_said_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let off = TelemetrySettings { enabled: false, ..settings(None) };
    let started = Telemetry::start(&off, common(), services());
    assert!(started.telemetry.is_none() && started.warning.is_none());
    let gcp = TelemetrySettings { target: TelemetryTarget::Gcp, ..settings(None) };
    for (settings, part) in [
        (settings(None), "collector at http://localhost:4317"),
        (gcp, "Google Cloud"),
        (settings(Some(folder.path())), "directory"),
        (
            TelemetrySettings { use_collector: true, use_cli_auth: true, ..settings(None) },
            "cannot be combined",
        ),
    ] {
        let started = Telemetry::start(&settings, common(), services());
        let warning = started.warning.unwrap();
        assert!(started.telemetry.is_none() && warning.contains(part), "{warning}");
        assert_eq!(warning.lines().count(), 1);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_disturbs_nobody() {
    let telemetry = Telemetry::start(&settings(Some(Path::new("/dev/full"))), common(), services())
        .telemetry
        .unwrap();
    let start = Instant::now();
    for _ in 0..10_000 {
        telemetry.measure(&Origin::default(), &prompt("x"));
    }
    telemetry.shutdown();
    // A writer that blocks the observer at each measurement would take minutes.
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}
