//! Choice of the approval mode in which a run starts.
//!
//! Pure: takes the request and the restrictions, returns the mode and the messages.

use pollux_protocol::ApprovalMode;

#[cfg(test)]
mod tests;

/// Requests and restrictions for the mode, from the command line and the settings.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalRequest {
    /// `--approval-mode`, which overrides everything else.
    pub flag: Option<ApprovalMode>,
    /// `--yolo`.
    pub yolo: bool,
    /// `general.defaultApprovalMode`. Yolo is ignored there.
    pub setting: Option<ApprovalMode>,
    /// `general.plan.enabled`.
    pub plan_enabled: bool,
    /// `security.disableYoloMode`.
    pub yolo_disabled: bool,
    /// `admin.secureModeEnabled`.
    pub secure_mode: bool,
    /// True if the folder is trusted.
    pub trusted: bool,
}

/// Mode of the run, with messages for standard error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalDecision {
    /// Mode of the run.
    pub mode: ApprovalMode,
    /// Messages for the user, one line each.
    pub messages: Vec<String>,
}

/// Error of a request for yolo mode where yolo is forbidden. The program ends with the
/// configuration exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ApprovalModeError {
    /// `security.disableYoloMode` is set.
    #[error("YOLO mode is disabled by the setting security.disableYoloMode.")]
    DisabledBySetting,
    /// The administrator's secure mode is on.
    #[error("YOLO mode is disabled by your administrator (admin.secureModeEnabled).")]
    DisabledByAdministrator,
}

/// Chooses the mode: first by flag, then by `--yolo`, then by setting. Restrictions apply next, and
/// trust last.
pub fn resolve_approval(request: ApprovalRequest) -> Result<ApprovalDecision, ApprovalModeError> {
    let mut messages = Vec::new();
    let mut mode = asked_for(request);
    if mode == ApprovalMode::Plan && !request.plan_enabled {
        messages.push(
            "Approval mode \"plan\" is disabled by the setting general.plan.enabled. \
             Using \"default\"."
                .to_owned(),
        );
        mode = ApprovalMode::Default;
    }
    if mode == ApprovalMode::Yolo {
        if request.secure_mode {
            return Err(ApprovalModeError::DisabledByAdministrator);
        }
        if request.yolo_disabled {
            return Err(ApprovalModeError::DisabledBySetting);
        }
        if request.trusted {
            messages.push(
                "YOLO mode is enabled. All tool calls will be automatically approved.".to_owned(),
            );
        }
    }
    if !request.trusted && mode != ApprovalMode::Default {
        messages.push(
            "Approval mode overridden to \"default\" because the current folder is not trusted."
                .to_owned(),
        );
        mode = ApprovalMode::Default;
    }
    Ok(ApprovalDecision { mode, messages })
}

fn asked_for(request: ApprovalRequest) -> ApprovalMode {
    if let Some(mode) = request.flag {
        return mode;
    }
    if request.yolo {
        return ApprovalMode::Yolo;
    }
    request.setting.filter(|mode| *mode != ApprovalMode::Yolo).unwrap_or(ApprovalMode::Default)
}
