//! `pollux hooks`: shows the hooks and their effects on a sample, and imports hooks of another
//! program. Starts no session and calls no model.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use pollux_config::{FileScope, LayerFileState, Loaded, Places, edit, edit_file, jsonc};
use pollux_hooks::{
    EventResult, Hook, HookDefinitions, HookOptions, HookResult, HookRun, HookSource, Hooks, sample,
};
use pollux_protocol::plain_text::harmless;
use pollux_protocol::{CancellationToken, HookEvent, ToolMode};
use serde_json::{Map, Value, json};

use crate::arguments::{HooksArguments, HooksVerb};
use crate::exit::Failure;
use crate::process::Process;
use crate::stderr::{notices, stderr_line};
use crate::stdout::print_once;
use pollux_host::extensions;
use pollux_host::hooks::{environment_of_programs, found_in};
use pollux_host::{load_options, revert_left_behind};

/// Default tool of the samples of tool events.
const SAMPLE_TOOL: &str = "run_shell_command";
/// Placeholder for the session id, because samples belong to no session.
const SAMPLE_SESSION: &str = "sample-session";
/// Files with hooks of Claude Code, the preferred one first.
const CLAUDE_SETTINGS: [&str; 2] = [".claude/settings.local.json", ".claude/settings.json"];
/// Maximum size, in bytes, of such a file.
const LARGEST_SETTINGS: usize = 4 << 20;

/// Result of a verb.
struct Answer {
    text: String,
    json: Value,
    code: u8,
}

/// Runs a verb of `hooks`.
pub(crate) fn run(process: &Process, arguments: &HooksArguments) -> ExitCode {
    let answer = match &arguments.verb {
        HooksVerb::List { skip_trust, .. } => {
            HooksContext::open(process, *skip_trust).map(|context| context.list())
        }
        HooksVerb::Test { event, tool, input, skip_trust, .. } => {
            let reverted = revert_left_behind(&process.environment, &*notices());
            let context = reverted
                .map_err(Failure::from)
                .and_then(|()| HooksContext::open(process, *skip_trust));
            context.and_then(|context| {
                context.test(*event, tool.as_deref().unwrap_or(SAMPLE_TOOL), input.clone())
            })
        }
        HooksVerb::Migrate { from_claude: true, .. } => migrate(process),
        HooksVerb::Migrate { from_claude: false, .. } => Ok(usage(process)),
    };
    let answer = answer.unwrap_or_else(|failure| {
        stderr_line(&failure.message);
        let json = json!({ "error": failure.to_json() });
        Answer { text: String::new(), json, code: failure.exit_code(false) }
    });
    let text = if arguments.json() { format!("{:#}", answer.json) } else { answer.text };
    if !text.is_empty() {
        print_once(&(harmless(&text).into_owned() + "\n"));
    }
    ExitCode::from(answer.code)
}

/// Effective settings in the current folder.
struct HooksContext {
    loaded: Loaded,
    cwd: PathBuf,
    found: HookDefinitions,
}

impl HooksContext {
    fn open(process: &Process, skip_trust: bool) -> Result<Self, Failure> {
        let places = Places::new(&process.environment);
        let cwd = Process::folder()?;
        let options = load_options(&places, &cwd, &process.environment, skip_trust);
        let loaded =
            pollux_config::load(&options).map_err(|error| Failure::config(error.to_string()))?;
        loaded.warnings.iter().for_each(|warning| stderr_line(warning));
        let found = found_in(&loaded, &extensions::find(&loaded, &places, &cwd, None));
        found.warnings.iter().for_each(|warning| stderr_line(&format!("[WARNING] {warning}")));
        Ok(Self { loaded, cwd, found })
    }

    fn hooks(&self) -> Hooks {
        Hooks::new(HookOptions {
            hooks: self.found.hooks.clone(),
            accepted: self.loaded.accepted.clone(),
            disabled: self.loaded.settings.texts("hooksConfig.disabled").unwrap_or_default(),
            session_id: SAMPLE_SESSION.to_owned(),
            transcript: None,
            cwd: self.cwd.clone(),
            plans_directory: self.cwd.clone(),
            environment: environment_of_programs(&self.loaded),
        })
    }

    fn list(&self) -> Answer {
        let hooks = self.hooks();
        let allowed: Vec<&Hook> = hooks.iter().collect();
        let state = |hook: &Hook| {
            let is_allowed = allowed.iter().any(|one| one.is_the_same_as(hook));
            match (is_allowed, hooks.is_enabled(hook)) {
                (true, true) => "on",
                (true, false) => "off",
                (false, _) => "not agreed to",
            }
        };
        let (mut lines, mut items) = (Vec::new(), Vec::new());
        for hook in HookEvent::ALL
            .iter()
            .flat_map(|event| self.found.hooks.iter().filter(move |hook| hook.event == *event))
        {
            lines.push(line(hook, state(hook)));
            items.push(item(hook, state(hook)));
        }
        if lines.is_empty() {
            lines.push("No hooks are configured.".to_owned());
        }
        for file in &self.loaded.files {
            if let LayerFileState::Skipped(reason) = &file.state {
                lines.push(format!("{}: not read: {reason}", file.path.display()));
            }
        }
        Answer { text: lines.join("\n"), json: json!({ "hooks": items }), code: 0 }
    }

    fn test(&self, event: HookEvent, tool: &str, input: Option<Value>) -> Result<Answer, Failure> {
        let input = input.unwrap_or_else(|| sample_input(tool));
        let payload = sample(event, tool, input);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| {
            Failure::general(format!("Cannot start the async runtime: {error}."))
        })?;
        let cancel = CancellationToken::new();
        let outcome = runtime.block_on(self.hooks().fire(&payload, &cancel));
        runtime.shutdown_background();
        pollux_shell::reap_all();
        let matchers = self.matchers(event);
        Ok(tested(event, tool, &matchers, &outcome))
    }
}

impl HooksContext {
    /// Returns the matchers of the hooks of an event.
    fn matchers(&self, event: HookEvent) -> Vec<String> {
        let hooks = self.found.hooks.iter().filter(|hook| hook.event == event);
        let mut matchers: Vec<String> = hooks.filter_map(|hook| hook.matcher.clone()).collect();
        matchers.dedup();
        matchers
    }
}

fn sample_input(tool: &str) -> Value {
    match tool {
        SAMPLE_TOOL => json!({ "command": "echo sample" }),
        "write_file" => json!({ "file_path": "sample.txt", "content": "sample\n" }),
        _ => json!({ "file_path": "sample.txt" }),
    }
}

fn line(hook: &Hook, state: &str) -> String {
    let origin = match hook.source {
        HookSource::Extension => format!("extension, {}", hook.file.display()),
        source => format!("{} settings", source.as_str()),
    };
    let mut notes = vec![origin];
    notes.extend(hook.matcher.as_ref().map(|matcher| format!("for {matcher}")));
    notes.extend(hook.sequential.then(|| "one after the other".to_owned()));
    notes.extend(hook.name.as_ref().map(|_| format!("runs {}", hook.command)));
    format!("{:<20} {state:<14} {} ({})", hook.event.as_str(), hook.label(), notes.join("; "))
}

fn item(hook: &Hook, state: &str) -> Value {
    json!({
        "event": hook.event.as_str(),
        "name": hook.name,
        "command": hook.command,
        "description": hook.description,
        "matcher": hook.matcher,
        "sequential": hook.sequential,
        "timeout": hook.timeout.as_millis() as u64,
        "source": hook.source.as_str(),
        "file": hook.file,
        "state": state,
    })
}

/// Returns the result of a sample event. The exit code is 1 if a hook failed.
fn tested(event: HookEvent, tool: &str, matchers: &[String], outcome: &EventResult) -> Answer {
    let effects = effects(&outcome.result);
    let mut lines: Vec<String> = outcome.runs.iter().flat_map(reported).collect();
    if outcome.runs.is_empty() {
        lines.push(match matchers {
            [] => format!("No hook runs at {event}."),
            _ => format!(
                "No hook runs at {event} of {tool}. There are hooks for {}: choose a tool with --tool NAME.",
                matchers.join(", ")
            ),
        });
    } else if effects.is_empty() {
        lines.push("Nothing would change.".to_owned());
    }
    lines.extend(effects.iter().cloned());
    let runs: Vec<Value> = outcome.runs.iter().map(run_item).collect();
    let json = json!({ "event": event.as_str(), "runs": runs, "merged": outcome.merged, "effects": effects });
    let failed = outcome.runs.iter().any(|run| run.failure().is_some());
    Answer { text: lines.join("\n"), json, code: u8::from(failed) }
}

fn reported(run: &HookRun) -> Vec<String> {
    let outcome = run.failure().unwrap_or_else(|| "succeeded".to_owned());
    let mut lines = vec![format!("{}: {outcome}, {} ms", run.hook, run.duration.as_millis())];
    let indented = |title: &str, text: &str| {
        text.trim_end().lines().map(|line| format!("  {title}: {line}")).collect::<Vec<_>>()
    };
    if let Some(reply) = &run.reply {
        lines.push(format!("  decided: {}", Value::Object(reply.fields().clone())));
    }
    lines.extend(indented("stderr", &run.stderr));
    lines
}

fn run_item(run: &HookRun) -> Value {
    json!({
        "hook": run.hook,
        "source": run.source.as_str(),
        "duration_ms": run.duration.as_millis() as u64,
        "exit_code": run.exit_code,
        "failure": run.failure(),
        "input": serde_json::from_str::<Value>(&run.input).unwrap_or_default(),
        "decision": run.reply.as_ref().map(|reply| reply.fields().clone()),
        "stdout": run.stdout,
        "stderr": run.stderr,
    })
}

/// Returns the effects of a decision as sentences.
fn effects(result: &HookResult) -> Vec<String> {
    let object = |fields: &Map<String, Value>| Value::Object(fields.clone()).to_string();
    let all = [
        result.stop.as_ref().map(|reason| format!("All work would stop: {reason}")),
        result.block.as_ref().map(|reason| format!("It would be blocked: {reason}")),
        result.ask.then(|| "The user would be asked.".to_owned()),
        result
            .tool_input
            .as_ref()
            .map(|args| format!("The arguments would become: {}", object(args))),
        result
            .additional_context
            .as_ref()
            .map(|text| format!("Additional text for the model: {text}")),
        result.tail_call.as_ref().map(|tail| {
            format!("It would be replaced by another call: {} {}", tail.name, object(&tail.args))
        }),
        result
            .llm_request
            .as_ref()
            .map(|change| format!("The request would change: {}", object(change))),
        result.llm_response.as_ref().map(|answer| format!("The answer would become: {answer}")),
        result.tool_choice.as_ref().map(|choice| {
            let mode = match choice.mode {
                ToolMode::Auto => "may call",
                ToolMode::Any => "must call",
                ToolMode::None => "may not call",
            };
            let tools = if choice.allowed.is_empty() {
                "any tool".to_owned()
            } else {
                choice.allowed.join(", ")
            };
            format!("The model {mode}: {tools}")
        }),
        result.clear_context.then(|| "The conversation would be cleared.".to_owned()),
        result.system_message.as_ref().map(|text| format!("The user would see: {text}")),
    ];
    all.into_iter().flatten().collect()
}

fn usage(process: &Process) -> Answer {
    let text = format!("Usage: {} hooks migrate --from-claude", process.called_as);
    Answer { json: json!({ "usage": text }), text, code: 0 }
}

/// Imports the hooks of Claude Code into the project's settings.
fn migrate(process: &Process) -> Result<Answer, Failure> {
    let cwd = Process::folder()?;
    let Some(from) = CLAUDE_SETTINGS.iter().map(|name| cwd.join(name)).find(|path| path.is_file())
    else {
        let text = "There are no settings of Claude Code in this folder (.claude/settings.json)."
            .to_owned();
        return Ok(Answer { json: json!({ "migrated": 0, "remarks": [text] }), text, code: 0 });
    };
    let theirs = parsed(&from)?;
    let path = FileScope::Project.path(&Places::new(&process.environment), &cwd);
    let ours = if path.is_file() { parsed(&path)? } else { json!({}) };
    let existing = ours.get("hooks").and_then(Value::as_object);
    let migrated = match pollux_hooks::migrate(&theirs, existing) {
        Ok(migrated) => migrated,
        Err(error) => {
            let text = format!("No hooks were imported from {}: {error}.", from.display());
            return Ok(Answer { json: json!({ "migrated": 0, "remarks": [text] }), text, code: 0 });
        }
    };
    let changed = migrated
        .hooks
        .iter()
        .filter(|(event, list)| existing.and_then(|have| have.get(*event)) != Some(list));
    let changed: Vec<(&String, &Value)> = changed.collect();
    edit_file(FileScope::Project, &path, &|text| {
        changed.iter().try_fold(text.to_owned(), |text, (event, list)| {
            edit::set(&path, &text, &["hooks", event], list)
        })
    })
    .map_err(|error| Failure::config(error.to_string()))?;
    let mut lines = vec![format!(
        "Hooks imported from {} into {}: {}.",
        from.display(),
        path.display(),
        migrated.count
    )];
    lines.extend(migrated.remarks.iter().cloned());
    let json = json!({ "from": from, "into": path, "migrated": migrated.count, "remarks": migrated.remarks });
    Ok(Answer { text: lines.join("\n"), json, code: 0 })
}

fn parsed(path: &Path) -> Result<Value, Failure> {
    let bytes = pollux_fs::read_head(path, LARGEST_SETTINGS)
        .map_err(|error| Failure::config(error.to_string()))?;
    jsonc::parse(path, &String::from_utf8_lossy(&bytes))
        .map_err(|error| Failure::config(error.to_string()))
}
