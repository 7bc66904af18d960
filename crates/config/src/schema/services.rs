//! `ide`, `privacy`, `telemetry` and `billing`: services outside of the program.

use super::kind::SettingKind;
use super::setting::{Setting, boolean, choice, unset};
use crate::environment::names;

// Rows on one line are easier to read than the formatter's layout.
#[rustfmt::skip]
pub(super) static TABLE: &[Setting] = &[
    boolean("ide.enabled", false, "Connects to the companion in an editor.").restart().idle(),
    boolean("ide.hasSeenNudge", false, "Whether the hint about the companion has been shown.").idle(),

    boolean("privacy.usageStatisticsEnabled", true, "Sends usage statistics. Pollux never sends any.").restart().idle(),

    unset("telemetry.enabled", SettingKind::Boolean, "Produces telemetry.").restart().variables(&[names::GEMINI_TELEMETRY_ENABLED]),
    unset("telemetry.target", SettingKind::Text, "Destination of telemetry: `local` or `gcp`.").restart().variables(&[names::GEMINI_TELEMETRY_TARGET]),
    unset("telemetry.otlpEndpoint", SettingKind::Text, "Address of an OTLP collector.").restart().variables(&[names::GEMINI_TELEMETRY_OTLP_ENDPOINT, names::OTEL_EXPORTER_OTLP_ENDPOINT]).idle(),
    unset("telemetry.otlpProtocol", SettingKind::Choice(&["grpc", "http"]), "Protocol of the OTLP collector.").restart().variables(&[names::GEMINI_TELEMETRY_OTLP_PROTOCOL]).idle(),
    unset("telemetry.logPrompts", SettingKind::Boolean, "Includes the text of prompts.").restart().variables(&[names::GEMINI_TELEMETRY_LOG_PROMPTS]),
    unset("telemetry.outfile", SettingKind::Text, "File that telemetry is written to.").restart().variables(&[names::GEMINI_TELEMETRY_OUTFILE]),
    unset("telemetry.useCollector", SettingKind::Boolean, "Sends to a collector instead of directly to Google Cloud.").restart().variables(&[names::GEMINI_TELEMETRY_USE_COLLECTOR]).idle(),
    unset("telemetry.useCliAuth", SettingKind::Boolean, "Sends with the credentials of the program.").restart().variables(&[names::GEMINI_TELEMETRY_USE_CLI_AUTH]).idle(),
    unset("telemetry.traces", SettingKind::Boolean, "Produces detailed spans.").restart().variables(&[names::GEMINI_TELEMETRY_TRACES_ENABLED]).idle(),

    choice("billing.overageStrategy", &["ask", "always", "never"], "ask", "Whether credits are spent when the quota is used up.").idle(),
    unset("billing.vertexAi.requestType", SettingKind::Choice(&["dedicated", "shared"]), "Request type sent to Vertex AI.").restart(),
    unset("billing.vertexAi.sharedRequestType", SettingKind::Choice(&["priority", "flex"]), "Kind of shared request sent to Vertex AI.").restart(),
];
