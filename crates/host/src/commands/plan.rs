//! `/plan`: enters plan mode, and shows the plan.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use pollux_config::ApprovalRequest;
use pollux_protocol::{ApprovalMode, Command, CommandContext, CommandError, Op, Part};

use crate::setup::approval::check;

/// Maximum size, in bytes, of a plan that is shown.
const LARGEST: u64 = 1 << 20;

/// Approval modes that settings and trust allow, and the folder of the plans.
pub(super) struct Plan {
    pub(super) request: ApprovalRequest,
    pub(super) folder: PathBuf,
}

#[async_trait]
impl Command for Plan {
    fn name(&self) -> &'static str {
        "plan"
    }

    fn description(&self) -> &'static str {
        "plan before anything is changed, or show the plan"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[show|PROMPT]")
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        let show = Some("show").filter(|verb| verb.starts_with(partial));
        show.into_iter().map(str::to_owned).collect()
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let prompt = context.arguments.trim();
        if prompt == "show" {
            let folder = self.folder.clone();
            let shown = tokio::task::spawn_blocking(move || show(&folder)).await;
            context.say(shown.map_err(|error| CommandError(error.to_string()))?);
            return Ok(None);
        }
        check(self.request, ApprovalMode::Plan)
            .map_err(|failure| CommandError(failure.to_string()))?;
        context.send(Op::SetMode(ApprovalMode::Plan));
        if prompt.is_empty() {
            return Ok(None);
        }
        let parts = vec![Part::text(prompt)];
        Ok(Some(Op::Prompt { id: context.id, input: parts.into() }))
    }
}

/// Returns the text of the plan that was written last.
fn show(folder: &Path) -> String {
    let entries = pollux_fs::list_directory(folder).unwrap_or_default();
    let is_plan = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
    let plans = entries.into_iter().map(|entry| entry.path).filter(is_plan);
    let written = |path: &PathBuf| pollux_fs::info(path).ok().and_then(|info| info.modified);
    let Some(path) = plans.max_by_key(written) else {
        return "There is no plan in this session.".to_owned();
    };
    match pollux_fs::read_text(&path, LARGEST) {
        Ok(file) => format!("{}\n{}", path.display(), file.text.trim_end()),
        Err(error) => format!("Cannot read the plan: {error}"),
    }
}
