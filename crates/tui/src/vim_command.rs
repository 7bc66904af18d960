//! `/vim`: the keys of vi in the input, on or off.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use pollux_protocol::{Command, CommandContext, CommandError, Op};

/// Setting that switches the keys of vi on.
pub(crate) const VIM_MODE: &str = "general.vimMode";

/// Command that switches the keys of vi on or off, also for later conversations.
#[derive(Debug, Clone, Default)]
pub struct VimCommand {
    /// True while they are on. The screen keeps it up to date.
    pub(crate) is_on: Arc<AtomicBool>,
}

#[async_trait]
impl Command for VimCommand {
    fn name(&self) -> &'static str {
        "vim"
    }

    fn description(&self) -> &'static str {
        "switch the keys of vi in the input on or off"
    }

    fn runs_while_working(&self) -> bool {
        true
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let is_wanted = !self.is_on.load(Ordering::Relaxed);
        let settings = context.session.commands.get().get("settings").cloned();
        let settings = settings.ok_or_else(|| CommandError("No settings.".to_owned()))?;
        let arguments = format!("set {VIM_MODE} {is_wanted} --scope user");
        context.say(if is_wanted {
            "Entered Vim mode. Run /vim again to exit."
        } else {
            "Exited Vim mode."
        });
        settings.run(CommandContext { arguments, ..context }).await
    }
}
