//! Approval mode of a run.

use pollux_config::{ApprovalRequest, Loaded};
use pollux_protocol::{ApprovalMode, SessionFailure, SessionRequest};

use super::{Setup, SetupInput};
use crate::options::RunOptions;

impl Setup {
    /// Returns the options, settings and trust that determine the approval mode.
    pub(crate) fn approval_request(&self) -> ApprovalRequest {
        collect(&self.input.options, &self.input.request, &self.loaded)
    }

    /// Refuses a run without a user whose flags ask for automatic approvals in a folder that is not
    /// trusted: it could do nothing, and a script would take that for success.
    ///
    /// # Errors
    /// [`SessionFailure::Untrusted`].
    pub(crate) fn check_requested_mode(&self) -> Result<(), SessionFailure> {
        let ApprovalRequest { flag, yolo, trusted, .. } = self.approval_request();
        let mode = flag.or(yolo.then_some(ApprovalMode::Yolo));
        let approves =
            mode.filter(|mode| matches!(mode, ApprovalMode::AutoEdit | ApprovalMode::Yolo));
        match approves {
            Some(mode) if !trusted && !self.is_interactive() => {
                let SetupInput { request, called_as, .. } = &self.input;
                Err(SessionFailure::Untrusted(format!(
                    "{} is not a trusted folder, so the approval mode \"{}\" is not available in it.\n\
                     Trust the folder with {called_as} trust, or use --skip-trust for this run.",
                    request.folder.display(),
                    mode.as_str()
                )))
            }
            _ => Ok(()),
        }
    }
}

/// Checks that settings and trust allow a mode.
///
/// # Errors
/// [`SessionFailure::Config`] with the reason.
pub(crate) fn check(request: ApprovalRequest, mode: ApprovalMode) -> Result<(), SessionFailure> {
    let request = ApprovalRequest { flag: Some(mode), ..request };
    let decision =
        pollux_config::resolve_approval(request).map_err(|error| SessionFailure::config(&error))?;
    if decision.mode == mode {
        Ok(())
    } else {
        Err(SessionFailure::Config(decision.messages.join("\n")))
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
