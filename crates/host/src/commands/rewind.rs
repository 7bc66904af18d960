//! `/rewind`: back to an earlier prompt of the conversation.

use std::path::Path;

use async_trait::async_trait;
use pollux_protocol::plain_text::one_line;
use pollux_protocol::{
    Command, CommandContext, CommandError, CommandReport, EntryId, Op, Part, TranscriptFrom,
    TranscriptItem,
};
use pollux_session::Transcript;

use super::stored::{Failed, Stored, blocking, choice};

mod changes;

use changes::{Changes, Reverted};

/// Number of prompts of one question.
const PAGE: usize = 12;
/// Maximum number of prompts that are offered.
const PROMPTS: usize = 200;
/// Maximum number of characters of a prompt that are shown.
const SHOWN: usize = 60;
/// Number of messages of the session file that are read at a time.
const MESSAGES: usize = 100;

/// `/rewind`.
pub(super) struct Rewind(pub(super) Stored);

/// Prompt that the user may go back to.
struct Prompt {
    id: EntryId,
    text: String,
    /// Number of files that calls have changed since, as the session file names them.
    changed: usize,
}

/// Extent of a rewind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Both,
    Conversation,
    Files,
}

#[async_trait]
impl Command for Rewind {
    fn name(&self) -> &'static str {
        "rewind"
    }

    fn description(&self) -> &'static str {
        "go back to an earlier prompt, with or without its edits"
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let log = self.0.log()?;
        let prompts = blocking({
            let log = log.clone();
            move || prompts(&log)
        })
        .await?;
        if prompts.is_empty() {
            context.say("Nothing to rewind to.");
            return Ok(None);
        }
        let Some(prompt) = choose(&context, prompts).await else { return Ok(None) };
        let Some(extent) = extent(&context, &prompt).await else { return Ok(None) };
        if extent != Extent::Conversation {
            let (workspace, to) = (self.0.setup.workspace.get(), prompt.id.clone());
            let log = log.clone();
            let reverted = blocking(move || {
                let changes = changes_since(&log, &to)?;
                Ok(changes.revert(&workspace))
            });
            context.say(described(&reverted.await?));
        }
        if extent == Extent::Files {
            return Ok(None);
        }
        let to = prompt.id.clone();
        let text = blocking(move || whole_text(&log, &to)).await?;
        context.send(Op::Report(CommandReport::ForInput(text)));
        context.say(format!("The conversation continues before: {}", prompt.text));
        Ok(Some(Op::Rewind { id: context.id.clone(), to: prompt.id }))
    }
}

/// Shows prompts page by page, the newest first, until the user chooses one, or none.
async fn choose(context: &CommandContext, mut prompts: Vec<Prompt>) -> Option<Prompt> {
    let text = "Go back to before which prompt? The newest is first.";
    loop {
        let rest = prompts.split_off(prompts.len().min(PAGE));
        let mut labels: Vec<String> = prompts.iter().map(label).collect();
        let earlier = (!rest.is_empty()).then(|| format!("Earlier prompts ({})", rest.len()));
        labels.extend(earlier);
        let none = "Stay at the current position";
        match choice(context, text.to_owned(), labels, none).await {
            Some(index) if index == prompts.len() => prompts = rest,
            chosen => return chosen.and_then(|index| prompts.into_iter().nth(index)),
        }
    }
}

fn label(prompt: &Prompt) -> String {
    match prompt.changed {
        0 => prompt.text.clone(),
        changed => format!("{} (files changed since: {changed})", prompt.text),
    }
}

async fn extent(context: &CommandContext, prompt: &Prompt) -> Option<Extent> {
    let all = [
        (Extent::Both, "Rewind conversation and revert code changes"),
        (Extent::Conversation, "Rewind conversation"),
        (Extent::Files, "Revert code changes"),
    ];
    let offered: Vec<_> = all
        .into_iter()
        .filter(|(extent, _)| prompt.changed > 0 || *extent == Extent::Conversation)
        .collect();
    let mut text = format!("Confirm Rewind: {}", prompt.text);
    if prompt.changed > 0 {
        text.push_str(
            "\nOnly changes by file tools are reverted, not those of commands. \
             A file that was changed by something else since stays as it is.",
        );
    }
    let labels = offered.iter().map(|(_, label)| (*label).to_owned()).collect();
    let chosen = choice(context, text, labels, "Do nothing").await?;
    offered.get(chosen).map(|(extent, _)| *extent)
}

/// Visits the items of a session file, the newest first, until `visit` returns false.
fn backwards(log: &Path, mut visit: impl FnMut(TranscriptItem) -> bool) -> Result<(), Failed> {
    let mut source = pollux_fs::open_to_read(log)?;
    let (mut transcript, mut from) = (Transcript::default(), TranscriptFrom::End);
    loop {
        let page = transcript.page(&mut source, from, MESSAGES)?;
        for item in page.items.into_iter().rev() {
            if !visit(item) {
                return Ok(());
            }
        }
        match page.before {
            Some(before) => from = TranscriptFrom::Before(before),
            None => return Ok(()),
        }
    }
}

/// Returns the last prompts of a session file, the newest first.
fn prompts(log: &Path) -> Result<Vec<Prompt>, Failed> {
    let (mut prompts, mut changes) = (Vec::new(), Changes::counting());
    backwards(log, |item| {
        match item {
            TranscriptItem::User { id, parts } => {
                let changed = changes.files();
                prompts.push(Prompt { id, text: shown(&parts), changed });
            }
            TranscriptItem::Answer(answer) => changes.add(answer),
            TranscriptItem::Notice { .. } | TranscriptItem::Compressed { .. } => {}
        }
        prompts.len() < PROMPTS
    })?;
    Ok(prompts)
}

/// Returns the changes of files since a prompt.
fn changes_since(log: &Path, to: &EntryId) -> Result<Changes, Failed> {
    let (mut changes, mut is_found) = (Changes::default(), false);
    backwards(log, |item| {
        match item {
            TranscriptItem::User { id, .. } => is_found = id == *to,
            TranscriptItem::Answer(answer) => changes.add(answer),
            TranscriptItem::Notice { .. } | TranscriptItem::Compressed { .. } => {}
        }
        !is_found
    })?;
    if !is_found {
        return Err(Failed("The conversation does not contain this prompt any more.".to_owned()));
    }
    Ok(changes)
}

/// Returns the text of a prompt; empty if it is not in the session file any more.
fn whole_text(log: &Path, wanted: &EntryId) -> Result<String, Failed> {
    let mut found = String::new();
    backwards(log, |item| match item {
        TranscriptItem::User { id, parts } if id == *wanted => {
            found = text(&parts);
            false
        }
        _ => true,
    })?;
    Ok(found)
}

/// Returns the text of the parts of a prompt.
fn text(parts: &[Part]) -> String {
    let text: String = parts.iter().filter_map(Part::as_text).collect();
    text.trim().to_owned()
}

/// Returns the text of a prompt on one line, cut if it is long.
fn shown(parts: &[Part]) -> String {
    let text = one_line(&text(parts));
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    shown
}

fn described(reverted: &Reverted) -> String {
    let Reverted { done, kept } = reverted;
    let mut lines = Vec::new();
    for (text, paths) in [
        ("Reverted:", done),
        ("Not reverted, because something else has changed them since:", kept),
    ] {
        if !paths.is_empty() {
            lines.push(text.to_owned());
            lines.extend(paths.iter().map(|path| format!("  {}", one_line(path))));
        }
    }
    lines.join("\n")
}
