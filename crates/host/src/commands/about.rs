//! `/about`: the program, the system and the session.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_config::{names as variables, select_auth_type};
use pollux_protocol::plain_text::visible;
use pollux_protocol::{Command, CommandContext, CommandError, Op};

use super::fields;
use crate::platform::node_platform;
use crate::setup::Setup;

pub(super) struct About(pub(super) Arc<Setup>);

#[async_trait]
impl Command for About {
    fn name(&self) -> &'static str {
        "about"
    }

    fn description(&self) -> &'static str {
        "show the version, the model, the sign-in and the system"
    }

    fn runs_while_working(&self) -> bool {
        true
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let setup = &self.0;
        let sandbox = setup.loaded.environment.non_empty(variables::SANDBOX);
        let mut rows = vec![
            ("Called as", setup.input.called_as.clone()),
            ("Model", context.session.model.clone()),
            ("Sign-in", sign_in(setup)),
            ("Mode", context.session.mode.flag().to_owned()),
            ("System", format!("{}, {}", node_platform(), std::env::consts::ARCH)),
            ("Sandbox", sandbox.unwrap_or("no sandbox").to_owned()),
            ("Folder", setup.input.request.folder.display().to_string()),
            ("Session", context.session.session.to_string()),
        ];
        let memory = tokio::task::spawn_blocking(pollux_fs::memory_in_use).await;
        rows.extend(memory.ok().flatten().map(|size| ("Memory in use", format!("{size} MB"))));
        let rows = rows.iter().map(|(name, value)| (*name, visible(value)));
        context.say(format!("Pollux {}\n{}", env!("CARGO_PKG_VERSION"), fields(rows)));
        Ok(None)
    }
}

/// Returns the method by which requests to Google are signed, or that none of them is sent.
pub(super) fn sign_in(setup: &Setup) -> String {
    if setup.input.options.replay.is_some() {
        return "none: the answers are a recording".to_owned();
    }
    let settings = &setup.loaded.settings;
    let environment = pollux_models::with_google_client(&setup.loaded.environment, settings);
    let method = select_auth_type(&settings.auth(), &environment);
    method.map_or_else(
        || "by the vendor of the model".to_owned(),
        |method| method.as_str().to_owned(),
    )
}
