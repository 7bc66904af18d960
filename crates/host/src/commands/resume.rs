//! `/resume`, or `/chat`: other conversations of the project.

use async_trait::async_trait;
use jiff::Timestamp;
use pollux_protocol::{Command, CommandContext, CommandError, Op, SessionEntry, SessionStart};
use pollux_session::{age, to_json, to_markdown};

use super::continuations;
use super::stored::{Stored, agrees, blocking, choice, local, milliseconds};

const VERBS: [&str; 6] = ["list", "save", "resume", "load", "delete", "share"];

/// Number of sessions of one question.
const PAGE: usize = 12;
/// Maximum number of characters of a title.
const TITLE: usize = 60;

/// `/resume`, or `/chat`: one command with two names.
pub(super) struct Resume {
    pub(super) name: &'static str,
    pub(super) stored: Stored,
}

#[async_trait]
impl Command for Resume {
    fn name(&self) -> &'static str {
        self.name
    }

    fn description(&self) -> &'static str {
        match self.name {
            "chat" => "save, resume, delete and share conversations",
            _ => "continue another session",
        }
    }

    fn arguments(&self) -> Option<&str> {
        Some("[TEXT|list|save TAG|resume TAG|delete TAG|share FILE]")
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        let Some((verb, start)) = partial.split_once(' ') else {
            return continuations(partial, VERBS);
        };
        if !["save", "resume", "load", "delete"].contains(&verb) {
            return Vec::new();
        }
        let tagged = self.stored.tagged();
        let found = blocking(move || Ok(tagged.list()?)).await.unwrap_or_default();
        let tags = found.into_iter().map(|conversation| conversation.tag);
        let tags = tags.filter(|tag| tag.starts_with(start.trim_start()));
        tags.map(|tag| format!("{verb} {tag}")).collect()
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let words = context.arguments.trim().to_owned();
        let (first, rest) = split(&words);
        // The list of Gemini CLI's menu has its own name for these subcommands.
        let is_nested = matches!(first, "checkpoints" | "checkpoint");
        let (verb, rest) = if is_nested { split(rest) } else { (first, rest) };
        match (verb, rest) {
            ("", _) if is_nested => self.list(&context).await,
            ("list", "") => self.list(&context).await,
            ("save", tag) => self.save(&context, tag).await,
            ("resume" | "load", tag) => self.load(&context, tag).await,
            ("delete", tag) => self.delete(&context, tag).await,
            ("share", file) => self.share(&context, file).await,
            _ if is_nested => {
                Err(CommandError("Usage: /chat list, save, resume, delete or share".to_owned()))
            }
            _ => self.browse(&context, &words).await,
        }
    }
}

impl Resume {
    /// Lists the tagged conversations.
    async fn list(&self, context: &CommandContext) -> Result<Option<Op>, CommandError> {
        let tagged = self.stored.tagged();
        let found = blocking(move || Ok(tagged.list()?)).await?;
        if found.is_empty() {
            context.say("No saved conversations. To save this one: /chat save TAG");
            return Ok(None);
        }
        // The newest is last, next to the prompt, as in Gemini CLI.
        let lines: Vec<String> = (found.iter().rev())
            .map(|saved| format!("  - {} ({})", saved.tag, local(saved.saved)))
            .collect();
        context.say(format!("Saved conversations, the newest last:\n{}", lines.join("\n")));
        Ok(None)
    }

    async fn save(&self, context: &CommandContext, tag: &str) -> Result<Option<Op>, CommandError> {
        let tag = given(tag, "save")?;
        let tagged = self.stored.tagged();
        let question =
            format!("A checkpoint with the tag {tag} already exists. Do you want to overwrite it?");
        let (looked, wanted) = (tagged.clone(), tag.clone());
        let exists = blocking(move || Ok(looked.find(&wanted).is_some())).await?;
        if exists && !agrees(context, question, "Yes", "No").await {
            return Ok(None);
        }
        let history = self.stored.history().await?;
        let saved = tag.clone();
        blocking(move || Ok(tagged.save(&saved, &history, exists)?)).await?;
        context.say(format!("Conversation checkpoint saved with tag: {tag}."));
        Ok(None)
    }

    /// Continues a copy of a tagged conversation in a new session.
    async fn load(&self, context: &CommandContext, tag: &str) -> Result<Option<Op>, CommandError> {
        let tag = given(tag, "resume")?;
        let (tagged, wanted) = (self.stored.tagged(), tag.clone());
        let path = blocking(move || Ok(tagged.find(&wanted))).await?;
        let path = path.ok_or_else(|| missing(&tag))?;
        if !self.stored.setup.input.request.can_switch {
            return Err(elsewhere(&format!("--session-file {}", path.display())));
        }
        self.stored.switch(context, SessionStart::Import(path)).await
    }

    async fn delete(
        &self,
        context: &CommandContext,
        tag: &str,
    ) -> Result<Option<Op>, CommandError> {
        let tag = given(tag, "delete")?;
        let (tagged, wanted) = (self.stored.tagged(), tag.clone());
        let found = tagged.clone();
        if blocking(move || Ok(found.find(&wanted).is_none())).await? {
            return Err(missing(&tag));
        }
        let question = format!("Delete the saved conversation {tag}?");
        if !agrees(context, question, "Delete it", "Keep it").await {
            return Ok(None);
        }
        let wanted = tag.clone();
        blocking(move || Ok(tagged.delete(&wanted)?)).await?;
        context.say(format!("Conversation checkpoint '{tag}' has been deleted."));
        Ok(None)
    }

    /// Writes the conversation to a file, as Markdown or as JSON.
    async fn share(
        &self,
        context: &CommandContext,
        file: &str,
    ) -> Result<Option<Op>, CommandError> {
        let default = || format!("gemini-conversation-{}.json", milliseconds());
        let file = if file.is_empty() { default() } else { file.to_owned() };
        let format: fn(&_) -> String = match file.rsplit_once('.') {
            Some((_, "md")) => to_markdown,
            Some((_, "json")) => to_json,
            _ => {
                let message = "Invalid file format. Only .md and .json are supported.";
                return Err(CommandError(message.to_owned()));
            }
        };
        let history = self.stored.history().await?;
        if history.entries().len() < 2 {
            return Err(CommandError("No conversation found to share.".to_owned()));
        }
        if let Some(path) = self.stored.write(context, &file, format(&history)).await? {
            context.say(format!("Conversation shared to {}", path.display()));
        }
        Ok(None)
    }

    /// Lets the user choose a session whose title or id contains a text. A text that names exactly
    /// one session, as `--resume` does, chooses it.
    async fn browse(
        &self,
        context: &CommandContext,
        text: &str,
    ) -> Result<Option<Op>, CommandError> {
        let (store, wanted) = (self.stored.sessions(), text.to_owned());
        let (named, mut found) = blocking(move || {
            let named = if wanted.is_empty() { None } else { store.find(&wanted).ok() };
            Ok((named, store.list()?))
        })
        .await?;
        if let Some(session) = named {
            return self.open(context, session).await;
        }
        let wanted = text.to_lowercase();
        let contains = |field: &str| field.to_lowercase().contains(&wanted);
        found.retain(|session| {
            let fields = [session.title(), &session.first_message, &session.id];
            !session.is_damaged && fields.into_iter().any(contains)
        });
        found.sort_by(|one, other| other.last_updated.cmp(&one.last_updated));
        if found.is_empty() {
            context.say(if text.is_empty() {
                "No previous sessions found for this project.".to_owned()
            } else {
                format!("No session of this project contains \"{text}\".")
            });
            return Ok(None);
        }
        match self.choose(context, found).await? {
            Some(session) => self.open(context, session).await,
            None => Ok(None),
        }
    }

    /// Shows sessions page by page until the user chooses one, or none.
    async fn choose(
        &self,
        context: &CommandContext,
        mut sessions: Vec<SessionEntry>,
    ) -> Result<Option<SessionEntry>, CommandError> {
        let total = sessions.len();
        let text = format!(
            "Sessions of this project ({total}), the newest first. To search: /resume TEXT"
        );
        loop {
            let rest = sessions.split_off(sessions.len().min(PAGE));
            let (store, page) = (self.stored.sessions(), sessions);
            let (page, counts) = blocking(move || {
                let counts: Vec<_> = page.iter().map(|session| store.count(session)).collect();
                Ok((page, counts))
            })
            .await?;
            let labels = page.iter().zip(counts).map(|(session, count)| self.label(session, count));
            let mut labels: Vec<String> = labels.collect();
            let older = (!rest.is_empty()).then(|| format!("Older sessions ({})", rest.len()));
            labels.extend(older);
            match choice(context, text.clone(), labels, "Stay in this session").await {
                Some(index) if index == page.len() => sessions = rest,
                chosen => {
                    return Ok(chosen.and_then(|index| page.into_iter().nth(index)));
                }
            }
        }
    }

    fn label(&self, session: &SessionEntry, count: Option<usize>) -> String {
        let mut title: String = session.title().chars().take(TITLE).collect();
        if title.len() < session.title().len() {
            title.push_str("...");
        }
        let age = age(&session.last_updated, Timestamp::now());
        let count = count.map(|count| format!(", messages: {count}")).unwrap_or_default();
        let current = if session.id == self.stored.id { ", current" } else { "" };
        format!("{title} ({age}{count}{current})")
    }

    /// Leaves the session for an earlier one.
    async fn open(
        &self,
        context: &CommandContext,
        session: SessionEntry,
    ) -> Result<Option<Op>, CommandError> {
        if session.id == self.stored.id {
            context.say("This session is open already.");
            return Ok(None);
        }
        if !self.stored.setup.input.request.can_switch {
            return Err(elsewhere(&format!("--resume {}", session.id)));
        }
        let (store, id) = (self.stored.sessions(), session.id.clone());
        blocking(move || Ok(store.check_free(&session)?)).await?;
        self.stored.switch(context, SessionStart::Resume(id)).await
    }
}

/// Returns the first word and the rest.
fn split(words: &str) -> (&str, &str) {
    let (first, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    (first, rest.trim())
}

fn given(tag: &str, verb: &str) -> Result<String, CommandError> {
    if tag.is_empty() {
        return Err(CommandError(format!("Missing tag. Usage: /chat {verb} TAG")));
    }
    Ok(tag.to_owned())
}

fn missing(tag: &str) -> CommandError {
    CommandError(format!("No checkpoint found with tag '{tag}'."))
}

/// Returns the error for a session that this frontend cannot change to.
fn elsewhere(flag: &str) -> CommandError {
    CommandError(format!(
        "This client opens sessions itself. Choose the session in its list, or use {flag} at a terminal."
    ))
}
