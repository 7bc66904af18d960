//! Report of the changes that confinement undid after a command, and of the access that it refused
//! to a command.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pollux_protocol::{
    AnsiOutput, AnsiToken, ApprovalMode, CallConfinement, ConfinementLevel, Directive, Display,
    Part, ToolError, ToolErrorKind, ToolOutput,
};
use pollux_shell::sandbox::{
    RunningAudit, SandboxChange, SandboxSpec, SandboxSupport, SandboxWall, forget_ended_audits,
    wall_in,
};
use pollux_shell::{BackgroundProcess, Confinement, Ended, ShellCommand, ShellOutcome};

use super::{NAME, RunShellCommand};
use crate::completion::{BackgroundEnd, Reporter};
use crate::context::ToolContext;

/// Reports to the user, once per process, that commands run at a weaker level than their rule
/// requests.
pub(super) fn report_weaker_level(context: &ToolContext, confinement: CallConfinement) {
    static IS_REPORTED: AtomicBool = AtomicBool::new(false);
    let CallConfinement { level, intended, .. } = confinement;
    let Some(reporter) = context.reporter.as_ref().filter(|_| level != intended) else { return };
    let Some(reason) = SandboxSupport::probe().unavailable_reason(intended) else { return };
    if IS_REPORTED.swap(true, Ordering::Relaxed) {
        return;
    }
    reporter(BackgroundEnd::ForUser(format!(
        "Commands that should be confined at {} run at {} here. {reason} See pollux sandbox status.",
        intended.as_str(),
        level.as_str()
    )));
}

/// Confinement of one command, from its start to its report.
pub(super) struct Confined {
    /// Confinement of the command; `None` at [`ConfinementLevel::None`].
    spec: Option<SandboxSpec>,
    audit: Option<RunningAudit>,
    /// Changes of earlier commands that were not reported yet.
    earlier: Vec<SandboxChange>,
    folder: PathBuf,
    line: String,
    /// True if the user can be asked.
    interactive: bool,
    in_plan_mode: bool,
    reporter: Option<Reporter>,
}

impl Confined {
    /// Records the state of the protected files before the command starts.
    pub(super) async fn begin(call: &RunShellCommand, command: &ShellCommand) -> Self {
        let context = &call.context;
        let level = command.child.confinement.level();
        let spec = match &command.child.confinement {
            Confinement::Level(spec) => spec.clone(),
            Confinement::None => SandboxSpec::new(level, Arc::new(context.sandbox_places())),
        };
        let (audit, earlier) = if RunningAudit::is_needless(level) {
            (None, Vec::new())
        } else {
            let spec = spec.clone();
            let begun = tokio::task::spawn_blocking(move || RunningAudit::begin(&spec)).await;
            begun.unwrap_or_default()
        };
        Self {
            spec: (level != ConfinementLevel::None).then_some(spec),
            audit,
            earlier,
            folder: call.folder.clone(),
            line: call.params.command.clone(),
            interactive: context.interactive,
            in_plan_mode: *context.mode.get() == ApprovalMode::Plan,
            reporter: context.reporter.clone(),
        }
    }

    /// Sets the process id of the command.
    pub(super) fn set_process(&mut self, process: u32) {
        if let Some(audit) = &mut self.audit {
            audit.set_process(process);
        }
    }

    /// Undoes the changes of a command that has ended, and adds to its result the changes and the
    /// wall that stopped the command. Blocks; must be called inside a tokio runtime.
    pub(super) fn finish(mut self, outcome: &ShellOutcome, output: ToolOutput) -> ToolOutput {
        let changes = self.audit.take().map(RunningAudit::finish).unwrap_or_default();
        // The result does not wait for this.
        tokio::task::spawn_blocking(forget_ended_audits);
        self.earlier.extend(changes);
        let wall = self.wall(outcome);
        let stopped = wall.iter().map(|kept| {
            let widening = self.widening();
            format!("Confinement stopped this command: {kept}. It was not run again. {widening}")
        });
        let stopped: Vec<String> = stopped.collect();
        let mut output = self.with_earlier(add(output, &stopped));
        if self.interactive && !self.in_plan_mode {
            output.directives.extend(wall.map(|kept| {
                Directive::AskAgain(format!(
                    "confinement stopped it before: {kept}. That run may have had effects. If you allow it once, it runs without confinement"
                ))
            }));
        }
        output
    }

    /// Adds the changes that were found until now to a result. A change that cannot be undone ends
    /// the work.
    pub(super) fn with_earlier(&self, output: ToolOutput) -> ToolOutput {
        let notes: Vec<String> = self.earlier.iter().map(note).collect();
        let mut output = add(output, &notes);
        // Without a user at the terminal, only the model reads results.
        if let Some(reporter) = self.reporter.as_ref().filter(|_| !self.interactive) {
            for note in &notes {
                reporter(BackgroundEnd::ForUser(note.clone()));
            }
        }
        if self.earlier.iter().any(|change| change.error.is_some()) {
            output.error = Some(ToolError::new(ToolErrorKind::ChangeNotReverted, notes.join("\n")));
        }
        output
    }

    /// Audits a command in the background when it ends. Must be called inside a tokio runtime.
    pub(super) fn finish_later(&mut self, process: &Arc<BackgroundProcess>) {
        if let Some(mut audit) = self.audit.take() {
            audit.set_process(process.id());
            let (process, reporter) = (Arc::clone(process), self.reporter.clone());
            tokio::spawn(async move {
                process.ended().await;
                let finish = tokio::task::spawn_blocking(|| {
                    let changes = audit.finish_in_background();
                    forget_ended_audits();
                    changes
                });
                let changes = finish.await.unwrap_or_default();
                if let Some(reporter) = reporter {
                    for change in &changes {
                        reporter(BackgroundEnd::ForUser(note(change)));
                    }
                }
            });
        }
    }

    /// Describes the wall that stopped the command, if there is evidence of one.
    fn wall(&self, outcome: &ShellOutcome) -> Option<String> {
        let spec = self.spec.as_ref()?;
        let has_failed = outcome.ended == Ended::Exited
            && outcome.signal.is_none()
            && outcome.exit_code != Some(0);
        if !has_failed || outcome.binary {
            return None;
        }
        let wall = wall_in(spec, &self.folder, false, &outcome.text())?;
        let level = spec.level.as_str();
        let kept = match wall {
            SandboxWall::Path(path) => {
                let path = path.display();
                match spec.level {
                    ConfinementLevel::Inspect => format!(
                        "{path} is secret, cannot be written, or is neither in the workspace nor part of the system"
                    ),
                    ConfinementLevel::WorkspaceWrite => {
                        format!("{path} is outside the workspace, protected or secret")
                    }
                    ConfinementLevel::Protect | ConfinementLevel::None => {
                        format!("{path} is protected")
                    }
                }
            }
            SandboxWall::Unsearched(root) => format!(
                "{} has too many folders to be searched for secrets, so it cannot be read",
                root.display()
            ),
            SandboxWall::Address(address) => format!("{address}: there is no network"),
        };
        Some(format!("at the level {level}, {kept}"))
    }

    /// Describes how the user can allow the line to run without confinement.
    fn widening(&self) -> String {
        if self.in_plan_mode {
            return "In plan mode every command runs at this level.".to_owned();
        }
        let line = toml_string(&self.line);
        let rule = format!(
            "[[rule]]\ntoolName = \"{NAME}\"\ncommandPrefix = {line}\nallowRedirection = true\n\
             decision = \"allow\"\npriority = 950\nconfinement = \"none\""
        );
        let start = if self.interactive {
            "If the user wants it, run the same line once more: they are asked, and can allow it once without confinement. To allow it permanently, they can add this rule to a file in ~/.gemini/policies:"
        } else {
            "Only the user can widen this, with this rule in a file in ~/.gemini/policies:"
        };
        format!("{start}\n{rule}")
    }
}

fn note(change: &SandboxChange) -> String {
    match change.error {
        None => format!("Confinement reverted a change of a command: {change}"),
        Some(_) => format!("A command changed a file that is protected: {change}"),
    }
}

/// Adds lines to a result, for the model and the user.
fn add(mut output: ToolOutput, notes: &[String]) -> ToolOutput {
    if notes.is_empty() {
        return output;
    }
    let text = notes.join("\n");
    if output.error.is_none() {
        output.content.push(Part::text(format!("\n{text}")));
    }
    output.display = Some(match output.display.take() {
        Some(Display::Ansi(AnsiOutput(mut lines))) => {
            lines.extend(
                text.lines()
                    .map(|line| vec![AnsiToken { text: line.to_owned(), ..AnsiToken::default() }]),
            );
            Display::Ansi(AnsiOutput(lines))
        }
        Some(Display::Text(shown)) if !shown.is_empty() => {
            Display::Text(format!("{shown}\n{text}"))
        }
        Some(Display::Text(_)) | None => Display::Text(text),
        Some(other) => other,
    });
    output
}

/// Formats a basic string of TOML.
fn toml_string(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
