//! `write_file`: writes a whole file, new or in place of an old one.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_fs::{EntryKind, LineEnding, RealPath, TextFormat};
use pollux_protocol::{
    Args, CallId, CancellationToken, Confirmation, Declaration, Effects, Invocation, Modification,
    RunContext, SideModels, SubjectArgument, Tool, ToolError, ToolErrorKind, ToolFacts, ToolKind,
    ToolOutput,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::blocking::{blocking, check};
use crate::change::{Change, Report, Shown, unreadable};
use crate::contents;
use crate::context::ToolContext;
use crate::diff::{Difference, Labels};
use crate::placeholder::omissions;
use crate::validation::{Schema, invalid};

/// Name of the tool for models and policies.
const NAME: &str = "write_file";

/// The tool `write_file`.
pub(crate) struct WriteFileTool {
    context: Arc<ToolContext>,
    schema: Schema,
}

impl WriteFileTool {
    /// Creates the tool for a session.
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let schema = Schema::new(json!({
            "type": "object",
            "properties": {
                "file_path": {
                    "type": "string",
                    "description": "The file: an absolute path, or a path relative to the project folder. Missing folders are created."
                },
                "content": {
                    "type": "string",
                    "description": "The complete text of the file. Never replace parts with a comment such as \
                                    'rest of code ...'."
                }
            },
            "required": ["file_path", "content"]
        }));
        Self { context, schema }
    }
}

#[derive(Clone, Deserialize)]
struct Params {
    file_path: String,
    content: String,
    /// Set if the user changed the content in an editor.
    #[serde(default)]
    modified_by_user: bool,
    /// Content that the model wrote before the user's change.
    #[serde(default)]
    ai_proposed_content: Option<String>,
}

impl Tool for WriteFileTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "WriteFile"
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Edit
    }

    fn facts(&self) -> ToolFacts {
        ToolFacts { subject: Some(SubjectArgument::Path("file_path")), ..ToolFacts::default() }
    }

    fn declaration(&self) -> Declaration {
        Declaration {
            name: NAME.to_owned(),
            description: self.context.in_plan_mode_only_plans(
                "Writes a complete file: creates it, or replaces its whole content. To change a part of a \
                 file, use replace. The encoding, byte order mark and line endings of an existing \
                 file are preserved.",
            ),
            parameters: self.schema.document().clone(),
        }
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let params: Params = self.schema.read(args)?;
        if params.file_path.is_empty() {
            return Err(invalid("Missing or empty \"file_path\""));
        }
        let path = self.context.locate_to_write(&params.file_path)?;
        if path.info().is_ok_and(|info| info.kind == EntryKind::Directory) {
            return Err(invalid(format!("Path is a directory, not a file: {}", path.display())));
        }
        if let Some(line) = omissions(&params.content).next() {
            return Err(invalid(format!(
                "`content` omits text (\"{line}\"). Placeholders such as \"rest of methods ...\" are not expanded. \
                 Send the complete text of the file."
            )));
        }
        let context = Arc::clone(&self.context);
        let inner = Arc::new(WriteFile { context, path, params, shown: Shown::default() });
        Ok(Box::new(WriteFileInvocation(inner)))
    }
}

struct WriteFileInvocation(Arc<WriteFile>);

struct WriteFile {
    context: Arc<ToolContext>,
    path: RealPath,
    params: Params,
    shown: Shown,
}

impl WriteFile {
    fn work_out(&self) -> Result<Change, ToolError> {
        let content = &self.params.content;
        let before = contents::read_text(&*self.context.files, &self.path)
            .map_err(|error| unreadable(&self.path, &error))?;
        let Some(file) = before else {
            return Ok(Change::create(&self.context, self.path.clone(), content));
        };
        // A byte order mark in the text would become a second one in the file.
        let content =
            if file.format.bom { content.trim_start_matches('\u{FEFF}') } else { content };
        let after = content.replace("\r\n", "\n");
        let bytes = match file.format {
            // All old bytes are replaced, so no content can be lost by a conversion.
            TextFormat { lossy: true, .. } => pollux_fs::encode(content, &TextFormat::default()),
            // Unchanged lines keep their line ends.
            TextFormat { line_ending: LineEnding::Mixed { .. }, .. } => {
                file.edited(&Difference::between(&file.text, &after).edits())
            }
            TextFormat { .. } => file.replaced(&after),
        };
        let bytes = bytes.map_err(|error| {
            let message = format!(
                "Error writing to file '{}': {error} ({})",
                self.path.display(),
                error.code()
            );
            ToolError::new(ToolErrorKind::FileWriteFailure, message)
        })?;
        Ok(Change { path: self.path.clone(), before: Some(file), after, bytes })
    }

    fn report(&self, is_new: bool) -> Report {
        let path = self.path.display();
        let done = if is_new {
            format!("Successfully created and wrote to new file: {path}.")
        } else {
            format!("Successfully overwrote file: {path}.")
        };
        let Params { modified_by_user, content, ai_proposed_content, .. } = &self.params;
        let by_user = if *modified_by_user {
            format!(" User modified the `content` to be: {content}")
        } else {
            String::new()
        };
        Report {
            tool: NAME,
            done: format!("{done}{by_user}"),
            remarks: String::new(),
            quotes_exactly: false,
            proposed_by_model: ai_proposed_content.clone(),
            labels: Labels::WRITTEN,
        }
    }
}

#[async_trait]
impl Invocation for WriteFileInvocation {
    fn effects(&self) -> Effects {
        Effects::write(&self.0.path)
    }

    fn describe(&self) -> String {
        format!("Writing to {}", self.0.context.workspace.get().display_path(&self.0.path))
    }

    async fn confirmation(
        &self,
        call_id: &CallId,
        _side_models: &Arc<dyn SideModels>,
    ) -> Result<Confirmation, ToolError> {
        let (inner, call_id) = (Arc::clone(&self.0), call_id.clone());
        blocking(&CancellationToken::new(), move |_| {
            let change = inner.work_out()?;
            inner.shown.remember(&change);
            let title = format!(
                "Confirm Write: {}",
                inner.context.workspace.get().display_path(&inner.path)
            );
            Ok(change.confirmation(&call_id, title))
        })
        .await
    }

    fn modify(&self, modification: &Modification) -> Result<Args, ToolError> {
        let Modification::NewContent(content) = modification else {
            return Err(invalid("To modify an edit, give the new content of the file."));
        };
        let params = &self.0.params;
        let proposed = params.ai_proposed_content.as_ref().unwrap_or(&params.content);
        let args: [(&str, Value); 4] = [
            ("file_path", params.file_path.as_str().into()),
            ("content", content.as_str().into()),
            ("ai_proposed_content", proposed.as_str().into()),
            ("modified_by_user", true.into()),
        ];
        Ok(args.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    async fn run(&self, run: RunContext) -> ToolOutput {
        let inner = Arc::clone(&self.0);
        blocking(&run.cancel, move |stop| {
            let change = inner.work_out()?;
            check(stop)?;
            let report = inner.report(change.before.is_none());
            change.make(&inner.context, inner.shown.get().as_ref(), &report)
        })
        .await
        .unwrap_or_else(ToolOutput::from)
    }
}
