//! Start of telemetry, with the facts of the run.

use std::sync::Arc;

use pollux_config::{AuthType, names as variables, select_auth_type};
use pollux_telemetry::{Common, Configuration, Telemetry};

use crate::setup::Setup;

mod service;

/// Starts telemetry; returns `None` if the settings do not enable it. A destination that cannot be
/// used is reported in a notice.
pub(crate) fn start(setup: &Setup, session_id: &str) -> Option<Arc<Telemetry>> {
    if !setup.telemetry.enabled {
        return None;
    }
    let settings = &setup.loaded.settings;
    let environment = &setup.loaded.environment;
    let auth = select_auth_type(&settings.auth(), environment);
    let common = Common {
        session_id: session_id.to_owned(),
        installation_id: pollux_config::installation_id(&setup.places),
        interactive: setup.is_interactive(),
        auth_type: auth.as_ref().map(|auth| auth.as_str().to_owned()),
        user_email: None,
    };
    let started =
        Telemetry::start(&setup.telemetry, common, service::services(settings, environment));
    started.warning.iter().for_each(|warning| setup.input.request.notices.warning(warning));
    let telemetry = Arc::new(started.telemetry?);
    let servers = settings.value("mcpServers").and_then(|servers| servers.as_object());
    telemetry.configured(Configuration {
        model: setup.model.clone(),
        embedding_model: pollux_models::names::EMBEDDING_MODEL.to_owned(),
        sandbox: environment.is_set(variables::SANDBOX),
        core_tools: settings.texts("tools.core").unwrap_or_default(),
        approval_mode: setup.mode.as_str().to_owned(),
        api_key: environment.non_empty(variables::GEMINI_API_KEY).is_some(),
        vertex_ai: auth == Some(AuthType::VertexAi),
        respect_git_ignore: settings.boolean("context.fileFiltering.respectGitIgnore"),
        debug: setup.input.options.debug,
        mcp_servers: servers.map(|servers| servers.keys().cloned().collect()).unwrap_or_default(),
        output_format: setup.output_format().to_owned(),
        began: setup.began,
    });
    Some(telemetry)
}
