//! `pollux prompt show`: the text that would be sent before the first prompt, and its size in
//! tokens. Starts no session and calls no model.

use std::path::PathBuf;
use std::sync::Arc;

use pollux_host::{PromptPreview, RuleOptions, RunOptions};
use pollux_protocol::plain_text::harmless;
use pollux_protocol::{NoUser, Operator, SessionRequest, estimate};
use serde_json::{Value, json};

use crate::arguments::{PromptArguments, PromptVerb};
use crate::exit::Failure;
use crate::inspection::set_up;
use crate::process::Process;

/// Preview, with the settings that it depends on.
struct Shown {
    preview: PromptPreview,
    mode: &'static str,
    interactive: bool,
}

/// Returns the text for standard output.
///
/// # Errors
/// For settings, or a custom system instruction, that cannot be read.
pub(crate) async fn answer(process: &Process, asked: PromptArguments) -> Result<String, Failure> {
    let PromptVerb::Show(asked) = asked.verb;
    let options = RunOptions {
        rules: RuleOptions { skip_trust: asked.skip_trust, ..RuleOptions::default() },
        debug: asked.debug,
        ..RunOptions::default()
    };
    let request = SessionRequest {
        further_folders: asked.include_directories.into_iter().map(PathBuf::from).collect(),
        model: asked.model,
        mode: asked.approval_mode,
        // The preview of a conversation asks no questions.
        operator: asked.interactive.then(|| Arc::new(NoUser) as Arc<dyn Operator>),
        ..SessionRequest::new(Process::folder()?)
    };
    let setup = set_up(process, options, request)?;
    let (mode, interactive) = (setup.mode.as_str(), setup.is_interactive());
    let shown = Shown { preview: setup.preview().await?, mode, interactive };
    Ok(if asked.json { format!("{:#}\n", in_json(&shown)) } else { in_words(&shown) })
}

/// Returns the number of tokens, rounded, with the same estimate as before a request.
fn tokens(text: &str) -> u64 {
    estimate::text(text).round() as u64
}

fn in_json(shown: &Shown) -> Value {
    let sections: Vec<Value> = shown
        .preview
        .sections
        .iter()
        .map(
            |(section, text)| json!({"name": section.name(), "tokens": tokens(text), "text": text}),
        )
        .collect();
    let names: Vec<&str> = shown.preview.tools.iter().map(|tool| tool.name.as_str()).collect();
    json!({
        "model": shown.preview.model,
        "family": shown.preview.family.as_str(),
        "mode": shown.mode,
        "interactive": shown.interactive,
        "tokens": total(shown),
        "system": {"tokens": system_tokens(shown), "sections": sections},
        "tools": {"tokens": tool_tokens(shown), "names": names},
        "context": {"tokens": tokens(&shown.preview.context), "text": shown.preview.context},
    })
}

fn in_words(shown: &Shown) -> String {
    let talk = if shown.interactive { "interactive" } else { "headless" };
    let (model, family, mode) = (harmless(&shown.preview.model), shown.preview.family, shown.mode);
    let figure = |tokens: u64, what: &str| format!("{tokens:>7}  {what}");
    let mut lines = vec![
        format!("Model: {model} ({family}). Mode: {mode}, {talk}.\n"),
        figure(total(shown), "tokens, estimated"),
        figure(system_tokens(shown), "system instruction"),
    ];
    let sections = shown.preview.sections.iter();
    lines.extend(
        sections
            .clone()
            .map(|(section, text)| figure(tokens(text), &format!("  {}", section.name()))),
    );
    lines.push(figure(tool_tokens(shown), &format!("{} tools", shown.preview.tools.len())));
    lines.push(figure(tokens(&shown.preview.context), "first message"));
    let texts = sections.map(|(section, text)| (section.name(), text.as_str()));
    lines.extend(
        texts
            .chain([("first message", shown.preview.context.as_str())])
            .map(|(name, text)| format!("\n----- {name} -----\n{}", harmless(text))),
    );
    lines.join("\n") + "\n"
}

fn system_tokens(shown: &Shown) -> u64 {
    shown.preview.sections.iter().map(|(_, text)| tokens(text)).sum()
}

fn tool_tokens(shown: &Shown) -> u64 {
    estimate::declarations(&shown.preview.tools).round() as u64
}

fn total(shown: &Shown) -> u64 {
    system_tokens(shown) + tool_tokens(shown) + tokens(&shown.preview.context)
}
