//! `get_internal_docs`: documentation about Pollux itself.
//!
//! The pages are part of the program, so they always describe the running version, wherever it is
//! installed.

use std::path::{Component, Path};
use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{
    Args, Declaration, Display, Effects, Invocation, ModelLimits, RunContext, Tool, ToolError,
    ToolErrorKind, ToolKind, ToolOutput,
};
use serde::Deserialize;
use serde_json::json;

use crate::context::{ToolContext, failed};
use crate::validation::Schema;

/// Name of the tool for models and policies.
pub(crate) const NAME: &str = "get_internal_docs";

/// Pages by name, sorted: those of `docs/` except for its index, and the README of the repository.
const PAGES: &[(&str, &str)] = &[
    ("README.md", include_str!("../../../README.md")),
    ("background.md", include_str!("../../../docs/background.md")),
    ("beyond-gemini-cli.md", include_str!("../../../docs/beyond-gemini-cli.md")),
    ("budgets.md", include_str!("../../../docs/budgets.md")),
    ("commands.md", include_str!("../../../docs/commands.md")),
    ("consent.md", include_str!("../../../docs/consent.md")),
    ("context.md", include_str!("../../../docs/context.md")),
    ("editors.md", include_str!("../../../docs/editors.md")),
    ("environment.md", include_str!("../../../docs/environment.md")),
    ("exit-codes.md", include_str!("../../../docs/exit-codes.md")),
    ("extensions.md", include_str!("../../../docs/extensions.md")),
    ("generated/cli.md", include_str!("../../../docs/generated/cli.md")),
    ("generated/settings.md", include_str!("../../../docs/generated/settings.md")),
    ("generated/slash-commands.md", include_str!("../../../docs/generated/slash-commands.md")),
    ("generated/starters.md", include_str!("../../../docs/generated/starters.md")),
    ("getting-started.md", include_str!("../../../docs/getting-started.md")),
    ("hooks.md", include_str!("../../../docs/hooks.md")),
    ("line-mode.md", include_str!("../../../docs/line-mode.md")),
    ("mcp-conformance.md", include_str!("../../../docs/mcp-conformance.md")),
    ("mcp.md", include_str!("../../../docs/mcp.md")),
    ("migrating.md", include_str!("../../../docs/migrating.md")),
    ("models.md", include_str!("../../../docs/models.md")),
    ("policy.md", include_str!("../../../docs/policy.md")),
    ("report-a-bug.md", include_str!("../../../docs/report-a-bug.md")),
    ("screen-session.md", include_str!("../../../docs/screen-session.md")),
    ("screen.md", include_str!("../../../docs/screen.md")),
    ("scripting.md", include_str!("../../../docs/scripting.md")),
    ("security.md", include_str!("../../../docs/security.md")),
    ("sessions.md", include_str!("../../../docs/sessions.md")),
    ("settings.md", include_str!("../../../docs/settings.md")),
    ("signing-in.md", include_str!("../../../docs/signing-in.md")),
    ("skills.md", include_str!("../../../docs/skills.md")),
    ("structured-answers.md", include_str!("../../../docs/structured-answers.md")),
    ("subagents.md", include_str!("../../../docs/subagents.md")),
    ("themes.md", include_str!("../../../docs/themes.md")),
    ("tools.md", include_str!("../../../docs/tools.md")),
    ("troubleshooting.md", include_str!("../../../docs/troubleshooting.md")),
];

/// The tool `get_internal_docs`.
pub(crate) struct GetInternalDocsTool {
    context: Arc<ToolContext>,
    schema: Schema,
}

impl GetInternalDocsTool {
    /// Creates the tool for a session.
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let schema = Schema::new(json!({
            "type": "object",
            "properties": {
                "path": {
                    "type": "string",
                    "description": "The page, such as 'exit-codes.md'. Default: list all pages."
                }
            }
        }));
        Self { context, schema }
    }
}

#[derive(Deserialize)]
struct Params {
    #[serde(default)]
    path: Option<String>,
}

impl Tool for GetInternalDocsTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "GetInternalDocs"
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Think
    }

    fn declaration(&self) -> Declaration {
        Declaration {
            name: NAME.to_owned(),
            description:
                "Reads the documentation of Pollux, the program that runs you: its command \
                          line, exit codes, and differences from Gemini CLI. Use it to answer \
                          questions about Pollux; do not answer them from memory."
                    .to_owned(),
            parameters: self.schema.document().clone(),
        }
    }

    /// The tool is meant for agents that answer questions about the program. It is offered to a
    /// model that works on a project only if the settings name it.
    fn is_offered_to(&self, _model: &str, _limits: ModelLimits) -> bool {
        self.context.options.internal_docs
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let Params { path } = self.schema.read(args)?;
        Ok(Box::new(GetInternalDocs { path: path.filter(|path| !path.is_empty()) }))
    }
}

struct GetInternalDocs {
    path: Option<String>,
}

#[async_trait]
impl Invocation for GetInternalDocs {
    fn effects(&self) -> Effects {
        Effects::default()
    }

    fn describe(&self) -> String {
        match &self.path {
            Some(path) => format!("Reading internal documentation: {path}"),
            None => "Listing all available internal documentation.".to_owned(),
        }
    }

    async fn run(&self, _run: RunContext) -> ToolOutput {
        let Some(path) = &self.path else {
            let names: Vec<String> = PAGES.iter().map(|(name, _)| format!("- {name}")).collect();
            let list = names.join("\n");
            let reported = format!("Available Pollux documentation files:\n\n{list}");
            let shown = format!("Found {} documentation files.", PAGES.len());
            return ToolOutput::quiet(reported).display(Display::Text(shown));
        };
        match page(path) {
            Ok((name, text)) => {
                let shown = format!("Successfully read documentation: {name}");
                ToolOutput::quiet(text).display(Display::Text(shown))
            }
            Err(message) => {
                let error = ToolError::new(ToolErrorKind::ExecutionFailed, message);
                failed(error, format!("Failed to access documentation: {path}"))
            }
        }
    }
}

/// Returns name and text of the page at a path.
fn page(path: &str) -> Result<(&'static str, &'static str), String> {
    let mut names: Vec<&str> = Vec::new();
    for component in Path::new(path).components() {
        let inside = match component {
            Component::Normal(name) => name.to_str().is_some_and(|name| {
                names.push(name);
                true
            }),
            Component::CurDir => true,
            Component::ParentDir => names.pop().is_some(),
            Component::RootDir | Component::Prefix(_) => false,
        };
        if !inside {
            let reason = "Requested path is outside the documentation directory.";
            return Err(format!("Access denied: {reason}"));
        }
    }
    let wanted = names.join("/");
    let found = PAGES.iter().find(|(name, _)| *name == wanted).copied();
    found.ok_or_else(|| format!("No such page: {path}. Call {NAME} without a path for a list."))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn every_page_of_the_folder_is_there_and_sorted() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let mut expected = vec!["README.md".to_owned()];
        for (folder, prefix) in [(docs.clone(), ""), (docs.join("generated"), "generated/")] {
            let entries = pollux_fs::list_directory(&folder).unwrap();
            let pages = entries
                .iter()
                .filter(|entry| entry.path.extension().is_some_and(|end| end == "md"))
                // The index of the folder: the tool itself lists the pages.
                .filter(|entry| entry.name != "README.md");
            expected.extend(pages.map(|page| format!("{prefix}{}", page.name)));
        }
        expected.sort();
        assert_eq!(PAGES.iter().map(|(name, _)| *name).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_path_stays_among_the_pages() {
        let denied = "Access denied: Requested path is outside the documentation directory.";
        for path in ["../README.md", "/etc/passwd", "generated/../../x", ".."] {
            assert_eq!(page(path), Err(denied.to_owned()), "{path}");
        }
        for path in ["exit-codes.md", "./exit-codes.md", "generated/../exit-codes.md"] {
            assert_eq!(page(path).map(|(name, _)| name), Ok("exit-codes.md"), "{path}");
        }
        for path in ["nope.md", "generated", "./"] {
            assert!(
                page(path).is_err_and(|message| message.starts_with("No such page: ")),
                "{path}"
            );
        }
    }
}
