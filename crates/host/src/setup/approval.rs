//! Approval mode of a run.

use pollux_config::{ApprovalRequest, Loaded};
use pollux_protocol::{ApprovalMode, SessionFailure, SessionRequest};

use super::Setup;
use crate::options::RunOptions;

impl Setup {
    /// Returns the options, settings and trust that determine the approval mode.
    pub(crate) fn approval_request(&self) -> ApprovalRequest {
        collect(&self.input.options, &self.input.request, &self.loaded)
    }
}

/// Returns the mode that a run begins in. Reports why it is not the requested one.
pub(super) fn mode(
    options: &RunOptions,
    request: &SessionRequest,
    loaded: &Loaded,
) -> Result<ApprovalMode, SessionFailure> {
    let decision = pollux_config::resolve_approval(collect(options, request, loaded))
        .map_err(|error| SessionFailure::config(&error))?;
    decision.messages.iter().for_each(|message| request.notices.warning(message));
    Ok(decision.mode)
}

/// Collects the approval mode that arguments and settings ask for, and what settings and trust
/// allow.
fn collect(options: &RunOptions, request: &SessionRequest, loaded: &Loaded) -> ApprovalRequest {
    let settings = &loaded.settings;
    ApprovalRequest {
        flag: request.mode,
        yolo: options.yolo,
        setting: settings.text("general.defaultApprovalMode").and_then(|mode| mode.parse().ok()),
        plan_enabled: settings.boolean("general.plan.enabled"),
        yolo_disabled: settings.boolean("security.disableYoloMode"),
        secure_mode: settings.boolean("admin.secureModeEnabled"),
        trusted: loaded.trust.is_trusted(),
    }
}
