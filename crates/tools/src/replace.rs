//! `replace`: replaces text in a file.

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use pollux_fs::{Access, RealPath, TextFile};
use pollux_protocol::{
    ApprovalMode, Args, CallId, CancellationToken, Confirmation, Declaration, Display, Effects,
    Invocation, Measurement, Modification, RunContext, SideModels, SubjectArgument, Tool,
    ToolError, ToolErrorKind, ToolFacts, ToolKind, ToolOutput,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::blocking::{blocking, check};
use crate::change::{Change, Report, Shown, unreadable};
use crate::contents;
use crate::context::{ToolContext, failed};
use crate::diff::Labels;
use crate::edit::{EditStrategy, FoundEdit, changes_no_more, find_edit};
use crate::placeholder::omissions;
use crate::validation::{Schema, invalid};

mod correction;
mod messages;

use correction::{Correction, Corrections, FailedEdit};

/// Name of the tool for models and policies.
const NAME: &str = "replace";
/// Number of characters of the old and new text in a description.
const DESCRIBED: usize = 30;
/// Maximum number of folders that are searched below each folder of the workspace for a file whose
/// path is given incompletely.
const MAX_FOLDERS: usize = 50;

/// The tool `replace`.
pub(crate) struct ReplaceTool {
    context: Arc<ToolContext>,
    schema: Schema,
    corrections: Arc<Corrections>,
}

impl ReplaceTool {
    /// Creates the tool for a session.
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let schema = Schema::new(json!({
            "type": "object",
            "properties": {
                "file_path": {
                    "type": "string",
                    "description": "The file: an absolute path, or a path relative to the project folder."
                },
                "instruction": {
                    "type": "string",
                    "description": "The purpose of the change, in one sentence."
                },
                "old_string": {
                    "type": "string",
                    "description": "The text to replace, exactly as in the file, with enough surrounding lines to \
                                    be unique. Empty: create a new file."
                },
                "new_string": {
                    "type": "string",
                    "description": "The complete new text. Empty: delete old_string."
                },
                "allow_multiple": {
                    "type": "boolean",
                    "description": "Replace every occurrence instead of exactly one. Default: false."
                }
            },
            "required": ["file_path", "instruction", "old_string", "new_string"]
        }));
        Self { context, schema, corrections: Arc::default() }
    }
}

impl ReplaceTool {
    /// Returns the path of the file. A relative path that does not exist can be the end of a longer
    /// path: it then means the only file of the workspace whose path ends in this way.
    fn locate(&self, given: &str) -> Result<RealPath, ToolError> {
        let path = self.context.locate_to_write(given)?;
        if *self.context.mode.get() == ApprovalMode::Plan {
            return Ok(path);
        }
        let suffix = Path::new(given.trim_start_matches("./"));
        if suffix.is_absolute()
            || suffix.file_name().is_none()
            || pollux_fs::link_info(&path).is_ok()
        {
            return Ok(path);
        }
        let rules = self.context.ignore_rules(None, None);
        let roots = self.context.workspace.get().walk_roots();
        let mut found = roots
            .into_iter()
            .flat_map(|root| pollux_fs::find_by_suffix(&root, suffix, Some(&rules), MAX_FOLDERS));
        match (found.next(), found.next()) {
            (Some(only), None) => self.context.locate(&only.to_string_lossy(), Access::Write),
            _ => Ok(path),
        }
    }
}

#[derive(Clone, Deserialize)]
struct Params {
    file_path: String,
    #[serde(default)]
    instruction: String,
    old_string: String,
    new_string: String,
    #[serde(default)]
    allow_multiple: bool,
    /// Set if the user changed the result in an editor; the strings are then whole files.
    #[serde(default)]
    modified_by_user: bool,
    /// Content of the whole file as the model proposed it.
    #[serde(default)]
    ai_proposed_content: Option<String>,
}

impl Tool for ReplaceTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "Edit"
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
                "Replaces one occurrence of a text in a file, or all occurrences with allow_multiple. First \
                 read the file, and copy old_string exactly, including white space and indentation. \
                 If it is not found, the result shows the most similar lines.",
            ),
            parameters: self.schema.document().clone(),
        }
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let params: Params = self.schema.read(args)?;
        if params.file_path.trim().is_empty() {
            return Err(invalid("The 'file_path' parameter must be non-empty."));
        }
        complete(&params.old_string, &params.new_string)?;
        let path = self.locate(&params.file_path)?;
        let context = Arc::clone(&self.context);
        Ok(Box::new(ReplaceInvocation(Arc::new(Replace {
            context,
            path,
            params,
            shown: Shown::default(),
            corrections: Arc::clone(&self.corrections),
            corrected: Mutex::default(),
            is_corrected: Mutex::default(),
        }))))
    }
}

struct ReplaceInvocation(Arc<Replace>);

struct Replace {
    context: Arc<ToolContext>,
    path: RealPath,
    params: Params,
    shown: Shown,
    corrections: Arc<Corrections>,
    /// Correction of the edit by a model, if there is one.
    corrected: Mutex<Option<Correction>>,
    /// Success of the last correction; `None` before one, and after it was measured.
    is_corrected: Mutex<Option<bool>>,
}

impl Replace {
    /// Asks a model to correct the edit, if the edit cannot be made and the settings allow it.
    async fn correct(
        self: &Arc<Self>,
        side_models: &Arc<dyn SideModels>,
        cancel: &CancellationToken,
    ) -> Result<(), ToolError> {
        let is_mendable = self.context.options.correct_edits
            && !self.params.modified_by_user
            && correction::applies_to(&self.path);
        if !is_mendable {
            return Ok(());
        }
        let inner = Arc::clone(self);
        let failed = blocking(cancel, move |_| {
            let Err(error) = inner.work_out() else { return Ok(None) };
            let file = contents::read_text(&*inner.context.files, &inner.path).ok().flatten();
            Ok(file.filter(|_| correction::is_mendable(&error)).map(|file| (error, file.text)))
        });
        let Some((error, text)) = failed.await? else { return Ok(()) };
        let Params { instruction, old_string, new_string, .. } = &self.params;
        let edit = FailedEdit {
            instruction: instruction.clone(),
            search: old_string.clone(),
            replace: new_string.clone(),
            failure: error.message.clone(),
            text,
        };
        let Some(correction) = self.corrections.ask(side_models, edit, cancel).await else {
            return Ok(());
        };
        if correction.no_changes_required {
            return Err(messages::nothing_to_do(&correction.explanation, &error));
        }
        *self.correction() = Some(correction);
        let inner = Arc::clone(self);
        // A correction that fails too is dropped, so that the first failure is reported.
        blocking(cancel, move |_| {
            let success = inner.work_out().is_ok();
            if !success {
                *inner.correction() = None;
            }
            *inner.is_corrected.lock().unwrap_or_else(PoisonError::into_inner) = Some(success);
            Ok(())
        })
        .await
    }

    fn correction(&self) -> MutexGuard<'_, Option<Correction>> {
        self.corrected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the text to search for and its replacement.
    fn texts(&self) -> Result<(String, String), ToolError> {
        let Params { old_string, new_string, .. } = &self.params;
        let Some(Correction { search, replace, .. }) = self.correction().clone() else {
            return Ok((old_string.clone(), new_string.clone()));
        };
        complete(&search, &replace)?;
        if !changes_no_more((old_string, new_string), (&search, &replace)) {
            return Err(invalid("The corrected edit changes text that the edit does not name."));
        }
        Ok((search, replace))
    }

    /// Returns the change, and the matches if a search was needed.
    fn work_out(&self) -> Result<(Change, Option<FoundEdit>), ToolError> {
        let before = contents::read_text(&*self.context.files, &self.path).map_err(|error| {
            let kind = ToolErrorKind::EditPreparationFailure;
            ToolError { kind, ..unreadable(&self.path, &error) }
        })?;
        let (old_string, new_string) = self.texts()?;
        match before {
            None if old_string.is_empty() => {
                Ok((Change::create(&self.context, self.path.clone(), &new_string), None))
            }
            None => Err(ToolError::new(
                ToolErrorKind::FileNotFound,
                format!("File not found: {}", self.path.display()),
            )),
            Some(file) if self.replaces_all_of(&file) => {
                let edits = [(0..file.text.len(), new_string.replace("\r\n", "\n"))];
                let change = self.edited(file, &edits, edits[0].1.clone())?;
                Ok((change, None))
            }
            Some(_) if old_string.is_empty() => Err(ToolError::new(
                ToolErrorKind::AttemptToCreateExistingFile,
                format!("File already exists, cannot create: {}", self.path.display()),
            )),
            Some(file) => {
                let found =
                    find_edit(&file.text, &old_string, &new_string, self.params.allow_multiple)
                        .map_err(|failure| messages::failure(&failure, &self.params.file_path))?;
                let after = found.apply(&file.text);
                let change = self.edited(file, &found.replacements, after)?;
                Ok((change, Some(found)))
            }
        }
    }

    /// Returns true if the user has seen and changed the whole file: their text is used byte for
    /// byte.
    fn replaces_all_of(&self, file: &TextFile) -> bool {
        self.params.modified_by_user && self.params.old_string.replace("\r\n", "\n") == file.text
    }

    fn edited(
        &self,
        file: TextFile,
        edits: &[(Range<usize>, String)],
        after: String,
    ) -> Result<Change, ToolError> {
        let bytes = file.edited(edits).map_err(|error| {
            let message = format!("Cannot edit {}: {error}", self.path.display());
            ToolError::new(ToolErrorKind::EditPreparationFailure, message)
        })?;
        Ok(Change { path: self.path.clone(), before: Some(file), after, bytes })
    }

    fn report(&self, change: &Change, found: Option<&FoundEdit>) -> Report {
        let path = self.path.display();
        let done = match (&change.before, found) {
            (None, _) => format!("Created new file: {path} with provided content."),
            (Some(_), found) => {
                let count = found.map_or(1, |found| found.replacements.len());
                format!("Successfully modified file: {path} ({count} replacements).")
            }
        };
        let mut remarks = found
            .map(|found| {
                messages::match_found(found.strategy, &found.line_ranges(change.original()))
            })
            .unwrap_or_default();
        let corrected = self.correction();
        if let Some(correction) = &*corrected {
            remarks += &messages::corrected(correction);
        }
        if self.params.modified_by_user {
            let content = &self.params.new_string;
            remarks += &messages::modified_by_user(content);
        }
        Report {
            tool: NAME,
            done,
            remarks,
            quotes_exactly: corrected.is_none()
                && found.is_some_and(|found| found.strategy == EditStrategy::Exact),
            proposed_by_model: self.params.ai_proposed_content.clone(),
            labels: Labels::PROPOSAL,
        }
    }

    fn execute(&self, stop: &std::sync::atomic::AtomicBool) -> Result<ToolOutput, ToolError> {
        let (change, found) = self.work_out()?;
        check(stop)?;
        let is_new = change.before.is_none();
        let report = self.report(&change, found.as_ref());
        let mut output = change.make(&self.context, self.shown.get().as_ref(), &report)?;
        if let Some(found) = found {
            let strategy = found.strategy.as_str().to_owned();
            output.measurements.push(Measurement::EditStrategy(strategy));
        }
        if is_new {
            let created = format!("Created {}", self.shown_path());
            return Ok(output.display(Display::Text(created)));
        }
        Ok(output)
    }

    fn shown_path(&self) -> String {
        self.context.workspace.get().display_path(&self.path)
    }
}

#[async_trait]
impl Invocation for ReplaceInvocation {
    fn effects(&self) -> Effects {
        Effects::write(&self.0.path)
    }

    fn describe(&self) -> String {
        let Params { old_string, new_string, .. } = &self.0.params;
        let path = self.0.shown_path();
        if old_string.is_empty() {
            return format!("Create {path}");
        }
        if old_string == new_string {
            return format!("No file changes to {path}");
        }
        let change = format!("{path}: {} => {}", beginning(old_string), beginning(new_string));
        change.trim_end().to_owned()
    }

    async fn confirmation(
        &self,
        call_id: &CallId,
        side_models: &Arc<dyn SideModels>,
    ) -> Result<Confirmation, ToolError> {
        let (inner, call_id) = (Arc::clone(&self.0), call_id.clone());
        inner.correct(side_models, &CancellationToken::new()).await?;
        blocking(&CancellationToken::new(), move |_| {
            let (change, _) = inner.work_out()?;
            inner.shown.remember(&change);
            Ok(change.confirmation(&call_id, format!("Confirm Edit: {}", inner.shown_path())))
        })
        .await
    }

    fn modify(&self, modification: &Modification) -> Result<Args, ToolError> {
        let Modification::NewContent(content) = modification else {
            return Err(invalid("To modify an edit, give the new content of the file."));
        };
        let seen = self.0.shown.get().ok_or_else(|| {
            invalid("This edit cannot be modified before it has been worked out for confirmation.")
        })?;
        let params = &self.0.params;
        let proposed = params.ai_proposed_content.as_ref().unwrap_or(&seen.proposed);
        let args: [(&str, Value); 6] = [
            ("file_path", params.file_path.as_str().into()),
            ("instruction", params.instruction.as_str().into()),
            ("old_string", seen.original.as_deref().unwrap_or_default().into()),
            ("new_string", content.as_str().into()),
            ("ai_proposed_content", proposed.as_str().into()),
            ("modified_by_user", true.into()),
        ];
        Ok(args.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    async fn run(&self, run: RunContext) -> ToolOutput {
        let inner = Arc::clone(&self.0);
        let outer = Arc::clone(&self.0);
        let work = async {
            if inner.correction().is_none() {
                inner.correct(&run.models, &run.cancel).await?;
            }
            blocking(&run.cancel, move |stop| inner.execute(stop)).await
        };
        let mut output = work.await.unwrap_or_else(|error| {
            let display = format!("Error: {}", error.message);
            failed(error, display)
        });
        let corrected = outer.is_corrected.lock().unwrap_or_else(PoisonError::into_inner).take();
        let measurement = corrected.map(|success| Measurement::EditCorrection { success });
        output.measurements.extend(measurement);
        output
    }
}

/// Refuses a replacement that omits text.
fn complete(old: &str, new: &str) -> Result<(), ToolError> {
    let known: HashSet<&str> = omissions(old).collect();
    match omissions(new).find(|line| !known.contains(line)) {
        None => Ok(()),
        Some(line) => Err(invalid(format!(
            "`new_string` omits text (\"{line}\"). Placeholders such as \"rest of methods ...\" are not expanded. \
             Send the complete replacement."
        ))),
    }
}

/// Returns the first line of a text, cut. Dots follow if the text is longer than a cut line.
fn beginning(text: &str) -> String {
    let line = text.split('\n').next().unwrap_or_default();
    let line: String = line.chars().take(DESCRIBED).collect();
    if text.chars().nth(DESCRIBED).is_some() { format!("{line}...") } else { line }
}
