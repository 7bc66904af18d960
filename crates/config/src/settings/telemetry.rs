//! The group `telemetry`, with the variables that override it.

use serde_json::Value;

use super::Settings;
use crate::environment::names;
use crate::{ConfigError, Environment};

/// Destination of telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TelemetryTarget {
    /// A collector or file on this machine.
    Local,
    /// Google Cloud.
    Gcp,
}

/// Protocol for sending to a collector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtlpProtocol {
    /// gRPC.
    Grpc,
    /// HTTP with protocol buffers.
    Http,
}

/// Telemetry settings of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TelemetrySettings {
    /// True if telemetry is produced.
    pub enabled: bool,
    /// Destination of telemetry.
    pub target: TelemetryTarget,
    /// Address of the collector.
    pub otlp_endpoint: String,
    /// Protocol for sending to the collector.
    pub otlp_protocol: OtlpProtocol,
    /// True if the text of prompts is included. On by default, as in Gemini CLI.
    pub log_prompts: bool,
    /// File to write to. It is used instead of the collector.
    pub outfile: Option<String>,
    /// True if detailed spans are produced.
    pub traces: bool,
    /// True if a collector is used between the program and Google Cloud.
    pub use_collector: bool,
    /// True if the program's own credentials are used.
    pub use_cli_auth: bool,
}

impl TelemetrySettings {
    /// Reads `telemetry.*`. A variable overrides the setting of its name. A boolean variable is
    /// true only for `true` and `1`.
    ///
    /// Fails for an unknown target or protocol, with the message of Gemini CLI.
    pub fn resolve(settings: &Settings, environment: &Environment) -> Result<Self, ConfigError> {
        let flag = |variable: &str, key: &str, default: bool| {
            if environment.is_set(variable) {
                return environment.is_enabled(variable);
            }
            settings.value(key).and_then(Value::as_bool).unwrap_or(default)
        };
        let text = |variable: &str, key: &str| {
            let given = environment.non_empty(variable);
            given.or_else(|| settings.value(key)?.as_str()).filter(|text| !text.is_empty())
        };
        let endpoint = environment
            .non_empty(names::GEMINI_TELEMETRY_OTLP_ENDPOINT)
            .or_else(|| environment.non_empty(names::OTEL_EXPORTER_OTLP_ENDPOINT))
            .or_else(|| text("", "telemetry.otlpEndpoint"))
            .unwrap_or("http://localhost:4317");
        // `telemetry: true` is short for an object with `enabled`.
        let short = settings.value("telemetry").and_then(Value::as_bool).unwrap_or(false);
        let outfile = text(names::GEMINI_TELEMETRY_OUTFILE, "telemetry.outfile");
        Ok(Self {
            enabled: flag(names::GEMINI_TELEMETRY_ENABLED, "telemetry.enabled", short),
            target: target(text(names::GEMINI_TELEMETRY_TARGET, "telemetry.target"))?,
            otlp_endpoint: endpoint.to_owned(),
            otlp_protocol: protocol(text(
                names::GEMINI_TELEMETRY_OTLP_PROTOCOL,
                "telemetry.otlpProtocol",
            ))?,
            log_prompts: flag(names::GEMINI_TELEMETRY_LOG_PROMPTS, "telemetry.logPrompts", true),
            outfile: outfile.map(str::to_owned),
            traces: flag(names::GEMINI_TELEMETRY_TRACES_ENABLED, "telemetry.traces", false),
            use_collector: flag(
                names::GEMINI_TELEMETRY_USE_COLLECTOR,
                "telemetry.useCollector",
                false,
            ),
            use_cli_auth: flag(names::GEMINI_TELEMETRY_USE_CLI_AUTH, "telemetry.useCliAuth", false),
        })
    }
}

fn target(given: Option<&str>) -> Result<TelemetryTarget, ConfigError> {
    match given {
        None | Some("local") => Ok(TelemetryTarget::Local),
        Some("gcp") => Ok(TelemetryTarget::Gcp),
        Some(other) => Err(ConfigError::Telemetry(format!(
            "Invalid telemetry target: {other}. Valid values are: local, gcp."
        ))),
    }
}

fn protocol(given: Option<&str>) -> Result<OtlpProtocol, ConfigError> {
    match given {
        None | Some("grpc") => Ok(OtlpProtocol::Grpc),
        Some("http") => Ok(OtlpProtocol::Http),
        Some(other) => Err(ConfigError::Telemetry(format!(
            "Invalid telemetry OTLP protocol: {other}. Valid values are: grpc, http."
        ))),
    }
}
