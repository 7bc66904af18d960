//! In which approval mode a run starts.
//!
//! Pure: what was asked for and what is allowed in, the mode and the messages out.

use pollux_protocol::ApprovalMode;

#[cfg(test)]
mod tests;

/// What the command line and the settings say about the mode.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalRequest {
    /// `--approval-mode`, which beats everything else.
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
    /// Whether the folder is trusted.
    pub trusted: bool,
}

/// The mode of the run, with lines for the error stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalDecision {
    /// The mode.
    pub mode: ApprovalMode,
    /// What the person is told, line by line.
    pub messages: Vec<String>,
}

/// Yolo was asked for where it is forbidden; the program ends with the configuration exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ApprovalError {
    /// `security.disableYoloMode` is set.
    #[error("YOLO mode is disabled by the setting security.disableYoloMode.")]
    DisabledBySetting,
    /// The administrator's secure mode is on.
    #[error("YOLO mode is disabled by your administrator (admin.secureModeEnabled).")]
    DisabledByAdministrator,
}

/// Decides the mode: flag, then `--yolo`, then the setting; then what is forbidden; then trust.
pub fn resolve_approval(request: ApprovalRequest) -> Result<ApprovalDecision, ApprovalError> {
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
            return Err(ApprovalError::DisabledByAdministrator);
        }
        if request.yolo_disabled {
            return Err(ApprovalError::DisabledBySetting);
        }
        messages.push(
            "YOLO mode is enabled. All tool calls will be automatically approved.".to_owned(),
        );
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
