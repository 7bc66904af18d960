//! The sandbox of Gemini CLI: a container that the whole program runs in.

use pollux_config::{Loaded, names as variables};
use pollux_protocol::SessionFailure;

use crate::options::RunOptions;

/// Refuses a requested sandbox that is not available; it must not be ignored. Inside a sandbox the
/// request is already satisfied.
pub(super) fn refuse(options: &RunOptions, loaded: &Loaded) -> Result<(), SessionFailure> {
    if loaded.environment.non_empty(variables::SANDBOX).is_some() {
        return Ok(());
    }
    let environment = loaded.environment.non_empty(variables::GEMINI_SANDBOX);
    let (asked, source) = match (environment, options.sandbox) {
        (Some(word), _) => {
            let off = matches!(word.trim().to_lowercase().as_str(), "0" | "false" | "");
            (!off, variables::GEMINI_SANDBOX)
        }
        (None, Some(true)) => return Err(SessionFailure::Sandbox(NO_SANDBOX.to_owned())),
        (None, Some(false)) => (false, ""),
        (None, None) => {
            let setting = loaded.settings.value("tools.sandbox");
            (setting.is_some_and(asks_for_sandbox), "the setting tools.sandbox")
        }
    };
    if !asked {
        return Ok(());
    }
    Err(SessionFailure::Sandbox(format!(
        "A sandbox is requested by {source}, but sandboxing is not available in this version of Pollux yet. Disable it there to run without one."
    )))
}

/// Error message for `--sandbox`.
const NO_SANDBOX: &str = "The flag --sandbox is not available in this version of Pollux yet. Start Pollux inside a container, or without --sandbox where that is safe.";

fn asks_for_sandbox(setting: &serde_json::Value) -> bool {
    match setting {
        serde_json::Value::Bool(on) => *on,
        serde_json::Value::String(name) => !matches!(name.as_str(), "" | "false" | "0"),
        serde_json::Value::Object(fields) => fields.get("enabled").is_some_and(asks_for_sandbox),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sandbox_settings() {
        use serde_json::json;
        for (setting, asks) in [
            (json!(true), true),
            (json!("docker"), true),
            (json!({"enabled": true}), true),
            (json!({"enabled": "true"}), true),
            (json!(false), false),
            (json!(""), false),
            (json!({"image": "x"}), false),
        ] {
            assert_eq!(asks_for_sandbox(&setting), asks, "{setting}");
        }
    }
}
