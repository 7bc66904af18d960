//! `pollux prompt show`: what would be sent before the first prompt, and what it costs. Starts no session and asks no
//! model.

use std::path::PathBuf;
use std::sync::Arc;

use pollux_agent::{Section, Situation, Toolset, system_prompt};
use pollux_config::Environment;
use pollux_models::names;
use pollux_protocol::{Declaration, Limits, SelectContext, SharedMode, estimate};
use serde_json::{Value, json};

use crate::arguments::{Arguments, PromptArguments, RuleArguments};
use crate::exit::Failure;
use crate::headless::harmless;
use crate::memory::Memory;
use crate::setup::{Beginning, Setup, Start};

/// Stands for the session that never was, in the paths that name one.
const SESSION: &str = "SESSION";

/// What would be sent.
struct Shown {
    model: String,
    family: &'static str,
    mode: &'static str,
    interactive: bool,
    sections: Vec<(Section, String)>,
    tools: Arc<[Declaration]>,
    context: String,
}

/// The answer for standard output.
///
/// # Errors
/// When the settings, or a system instruction of the person's own, cannot be read.
pub(crate) async fn answer(
    asked: PromptArguments,
    environment: Environment,
    cwd: PathBuf,
) -> Result<String, Failure> {
    let arguments = Arguments {
        model: asked.model,
        approval_mode: asked.approval_mode,
        include_directories: asked.include_directories,
        rules: RuleArguments { skip_trust: asked.skip_trust, ..RuleArguments::default() },
        debug: asked.debug,
        looks_up: true,
        ..Arguments::default()
    };
    let mut beginning = Beginning::read(Start { arguments, environment, cwd, replay: None })?;
    beginning.interactive = asked.interactive;
    let accepted = crate::consent::pinned(&mut beginning);
    let setup = Setup::read(beginning, accepted)?;
    let shown = look(&setup).await?;
    Ok(if asked.json { format!("{:#}\n", in_json(&shown)) } else { in_words(&shown) })
}

async fn look(setup: &Setup) -> Result<Shown, Failure> {
    let wishes = setup.prompt_wishes()?;
    let (model, limits, family) = chosen(setup).await;
    let memory = Arc::new(Memory::read(setup));
    let tool_context =
        Arc::new(setup.tool_context(SESSION, &memory, SharedMode::new(setup.mode), None));
    let toolset = Toolset::new(setup.builtin_tools(&tool_context));
    let offered = toolset.offered(&setup.policy(SESSION), setup.mode, &model, limits);
    let tools = offered.declarations();
    let offered: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let inputs = setup.prompt_inputs(SESSION, &wishes);
    let told = memory.told().system();
    let situation = Situation {
        mode: setup.mode,
        family,
        tools: &offered,
        approved_plan: None,
        topic: None,
        memory: &told,
    };
    let prompt = system_prompt(&inputs, situation);
    let sections = prompt.sections().map(|(section, text)| (section, text.to_owned())).collect();
    let (mode, interactive) = (setup.mode.as_str(), setup.interactive);
    let context = setup.session_context(&memory).render();
    Ok(Shown { model, family, mode, interactive, sections, tools, context })
}

/// The model that would be asked. Who has no credentials is told what its name says.
async fn chosen(setup: &Setup) -> (String, Limits, &'static str) {
    if !setup.is_undecided()
        && let Ok(models) = setup.models().await
    {
        let (requested, mode) = (setup.model.clone(), setup.mode);
        if let Ok(choice) = models.select(&SelectContext { requested, mode, beside: None }).await {
            return (choice.name, choice.limits, choice.family);
        }
    }
    let name = names::resolve(&setup.model);
    (name.to_owned(), names::limits(name), names::family(name))
}

/// Tokens as a whole number, estimated as before a request.
fn tokens(text: &str) -> u64 {
    estimate::text(text).round() as u64
}

fn in_json(shown: &Shown) -> Value {
    let sections: Vec<Value> = shown
        .sections
        .iter()
        .map(
            |(section, text)| json!({"name": section.name(), "tokens": tokens(text), "text": text}),
        )
        .collect();
    let names: Vec<&str> = shown.tools.iter().map(|tool| tool.name.as_str()).collect();
    json!({
        "model": shown.model,
        "family": shown.family,
        "mode": shown.mode,
        "interactive": shown.interactive,
        "tokens": total(shown),
        "system": {"tokens": system_tokens(shown), "sections": sections},
        "tools": {"tokens": tool_tokens(shown), "names": names},
        "context": {"tokens": tokens(&shown.context), "text": shown.context},
    })
}

fn in_words(shown: &Shown) -> String {
    let talk = if shown.interactive { "interactive" } else { "headless" };
    let (model, family, mode) = (harmless(&shown.model), shown.family, shown.mode);
    let figure = |tokens: u64, what: &str| format!("{tokens:>7}  {what}");
    let mut lines = vec![
        format!("Model: {model} ({family}). Mode: {mode}, {talk}.\n"),
        figure(total(shown), "tokens, estimated"),
        figure(system_tokens(shown), "system instruction"),
    ];
    let sections = shown.sections.iter();
    lines.extend(
        sections
            .clone()
            .map(|(section, text)| figure(tokens(text), &format!("  {}", section.name()))),
    );
    lines.push(figure(tool_tokens(shown), &format!("{} tools", shown.tools.len())));
    lines.push(figure(tokens(&shown.context), "first message"));
    let texts = sections.map(|(section, text)| (section.name(), text.as_str()));
    lines.extend(
        texts
            .chain([("first message", shown.context.as_str())])
            .map(|(name, text)| format!("\n----- {name} -----\n{}", harmless(text))),
    );
    lines.join("\n") + "\n"
}

fn system_tokens(shown: &Shown) -> u64 {
    shown.sections.iter().map(|(_, text)| tokens(text)).sum()
}

fn tool_tokens(shown: &Shown) -> u64 {
    estimate::declarations(&shown.tools).round() as u64
}

fn total(shown: &Shown) -> u64 {
    system_tokens(shown) + tool_tokens(shown) + tokens(&shown.context)
}
