//! `save_memory`: adds a fact to the user's own context file, which is part of every later session,
//! or to the user's private notes about the project.
//!
//! Gemini CLI had this tool until its memory became ordinary edits of files; recordings and users
//! still rely on it.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_fs::{Access, RealPath};
use pollux_protocol::plain_text::one_line;
use pollux_protocol::{
    Args, CallId, CancellationToken, Confirmation, Declaration, Display, Effects, Invocation,
    ModelLimits, Part, RunContext, SideModels, Tool, ToolError, ToolKind, ToolOutput,
};
use serde::Deserialize;
use serde_json::json;

use crate::blocking::{blocking, check};
use crate::change::{Change, Report, Shown, unreadable};
use crate::contents;
use crate::context::ToolContext;
use crate::diff::{Difference, Labels};
use crate::validation::{Schema, invalid};

/// Name of the tool for models and policies.
pub(crate) const NAME: &str = "save_memory";
/// Heading above the facts.
const HEADING: &str = "## Gemini Added Memories";
/// Maximum size of one fact in bytes.
const MAX_FACT: usize = 4096;

/// The tool `save_memory`.
pub(crate) struct SaveMemoryTool {
    context: Arc<ToolContext>,
    schema: Schema,
}

impl SaveMemoryTool {
    /// Creates the tool for a session.
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let schema = Schema::new(json!({
            "type": "object",
            "properties": {
                "fact": {
                    "type": "string",
                    "description": "The fact, in one self-contained sentence."
                },
                "scope": {
                    "type": "string",
                    "enum": ["global", "project"],
                    "description": "global: for all projects. project: for this project only, private to the user. Default: global."
                }
            },
            "required": ["fact"]
        }));
        Self { context, schema }
    }
}

#[derive(Deserialize)]
struct Params {
    fact: String,
    #[serde(default)]
    scope: Scope,
}

/// Sessions to which a fact applies.
#[derive(Deserialize, Default)]
#[serde(rename_all = "lowercase")]
enum Scope {
    /// Sessions of all projects.
    #[default]
    Global,
    /// Sessions of this project.
    Project,
}

impl Tool for SaveMemoryTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "SaveMemory"
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Edit
    }

    fn declaration(&self) -> Declaration {
        Declaration {
            name: NAME.to_owned(),
            description: "Remembers one fact for later sessions: a fact about the user that applies to \
                          all projects, such as a preference or a name, or with scope project a fact \
                          about the user's work on this project. Use it if the user asks for it or \
                          clearly states such a fact. Never save secrets, or facts that matter only \
                          in this conversation."
                .to_owned(),
            parameters: self.schema.document().clone(),
        }
    }

    /// Gemini CLI writes memories with its file tools; in Pollux this tool must be enabled.
    fn is_offered_to(&self, _model: &str, _limits: ModelLimits) -> bool {
        self.context.options.save_memory
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let params: Params = self.schema.read(args)?;
        if params.fact.len() > MAX_FACT {
            return Err(invalid(format!("Parameter \"fact\" has at most {MAX_FACT} bytes.")));
        }
        let Some(fact) = list_item(&params.fact) else {
            return Err(invalid("Parameter \"fact\" must be a non-empty string."));
        };
        let file = match params.scope {
            Scope::Global => &self.context.memory_file,
            Scope::Project => &self.context.project_memory_file,
        };
        let path = self.context.locate(&file.to_string_lossy(), Access::Write)?;
        let context = Arc::clone(&self.context);
        let inner = SaveMemory { context, path, fact, shown: Shown::default() };
        Ok(Box::new(SaveMemoryInvocation(Arc::new(inner))))
    }
}

struct SaveMemoryInvocation(Arc<SaveMemory>);

struct SaveMemory {
    context: Arc<ToolContext>,
    path: RealPath,
    fact: String,
    shown: Shown,
}

impl SaveMemory {
    fn work_out(&self) -> Result<Change, ToolError> {
        let before = contents::read_text(&*self.context.files, &self.path)
            .map_err(|error| unreadable(&self.path, &error))?;
        let Some(file) = before else {
            return Ok(Change::create(
                &self.context,
                self.path.clone(),
                &remembered("", &self.fact),
            ));
        };
        let after = remembered(&file.text, &self.fact);
        let bytes = file.edited(&Difference::between(&file.text, &after).edits());
        let bytes = bytes.map_err(|error| unreadable(&self.path, &error))?;
        Ok(Change { path: self.path.clone(), before: Some(file), after, bytes })
    }

    /// Saves the fact. The result does not show the file's other text to the model.
    fn save(&self, change: Change) -> Result<ToolOutput, ToolError> {
        let report = Report {
            tool: NAME,
            done: String::new(),
            remarks: String::new(),
            // Only a line is added; all other text stays unchanged.
            quotes_exactly: true,
            proposed_by_model: None,
            labels: Labels::WRITTEN,
        };
        let output = change.make(&self.context, self.shown.get().as_ref(), &report)?;
        let message = format!("Okay, I've remembered that: \"{}\"", self.fact);
        let reported = json!({ "success": true, "message": message }).to_string();
        Ok(ToolOutput { content: vec![Part::text(reported)], ..output }
            .display(Display::Text(message)))
    }
}

#[async_trait]
impl Invocation for SaveMemoryInvocation {
    fn effects(&self) -> Effects {
        Effects::write(&self.0.path)
    }

    fn describe(&self) -> String {
        format!("\"{}\" in {}", self.0.fact, self.0.path.display())
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
            let title = format!("Confirm Memory Save: {}", inner.path.display());
            Ok(change.confirmation(&call_id, title))
        })
        .await
    }

    async fn run(&self, run: RunContext) -> ToolOutput {
        let inner = Arc::clone(&self.0);
        blocking(&run.cancel, move |stop| {
            let change = inner.work_out()?;
            check(stop)?;
            inner.save(change)
        })
        .await
        .unwrap_or_else(ToolOutput::from)
    }
}

/// Returns the text of a context file with one more fact; `None` if the fact is empty.
pub fn with_fact(text: &str, fact: &str) -> Option<String> {
    list_item(fact).map(|fact| remembered(text, &fact))
}

/// Returns the fact as the text of one list item: without line ends, with which the fact could pose
/// as other instructions of the file, and without leading dashes. `None` if nothing is left.
fn list_item(fact: &str) -> Option<String> {
    let line = one_line(fact);
    let line = line.trim_start_matches(['-', ' ']);
    (!line.is_empty()).then(|| line.to_owned())
}

/// Returns `text` with the fact at the end of the list under the heading. Adds the heading if it is
/// missing.
fn remembered(text: &str, fact: &str) -> String {
    let Some(section) = section_start(text) else {
        let gap = match text {
            "" => "",
            text if text.ends_with("\n\n") => "",
            text if text.ends_with('\n') => "\n",
            _ => "\n\n",
        };
        return format!("{text}{gap}{HEADING}\n- {fact}\n");
    };
    let end = next_heading(text, section).unwrap_or(text.len());
    let (list, rest) = text.split_at(text[..end].trim_end().len());
    let rest = if rest.is_empty() { "\n" } else { rest };
    format!("{list}\n- {fact}{rest}")
}

/// Returns the start of the line after the heading.
fn section_start(text: &str) -> Option<usize> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        start += line.len();
        if line.trim_end() == HEADING {
            return Some(start);
        }
    }
    None
}

/// Returns the start of the next heading of the same or a higher level.
fn next_heading(text: &str, from: usize) -> Option<usize> {
    let mut start = from;
    for line in text[from..].split_inclusive('\n') {
        if line.starts_with("# ") || line.starts_with("## ") {
            return Some(start);
        }
        start += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_fact_is_one_line() {
        let table = [
            ("  Likes tea. ", Some("Likes tea.")),
            ("- -- Likes\n# Title\r\n\ttea\u{0}", Some("Likes # Title tea")),
            (" -\n- ", None),
            ("", None),
        ];
        for (fact, expected) in table {
            assert_eq!(list_item(fact).as_deref(), expected, "{fact:?}");
        }
    }

    #[test]
    fn facts_stand_under_their_heading() {
        let heading = HEADING;
        let table = [
            (String::new(), format!("{heading}\n- F\n")),
            ("Be brief.".to_owned(), format!("Be brief.\n\n{heading}\n- F\n")),
            (format!("a\n\n{heading}\n- one\n"), format!("a\n\n{heading}\n- one\n- F\n")),
            (format!("{heading}\n- one"), format!("{heading}\n- one\n- F\n")),
            (heading.to_owned(), format!("{heading}\n- F\n")),
            (
                format!("{heading}\n- one\n\n\n## Mine\nwords\n"),
                format!("{heading}\n- one\n- F\n\n\n## Mine\nwords\n"),
            ),
            (
                format!("say {heading}\n{heading} \n### sub\n- one\n# Top\n"),
                format!("say {heading}\n{heading} \n### sub\n- one\n- F\n# Top\n"),
            ),
        ];
        for (text, expected) in table {
            assert_eq!(remembered(&text, "F"), expected, "{text:?}");
        }
    }
}
