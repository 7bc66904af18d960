//! Slash commands.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::{
    ApprovalMode, CancellationToken, Op, Operator, Origin, PromptId, Question, QuestionChoice,
    QuestionReply, QuestionSubject, spelling,
};

/// Error of a command that could not run.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct CommandError(pub String);

/// Outcome of a command, as [`crate::Event::CommandEnded`] reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandOutcome {
    /// The command has finished.
    Done,
    /// The command starts work of the agent, which continues under the same id.
    Continues,
    /// The command failed, with this message.
    Failed(String),
}

/// State of the session when a command starts.
#[derive(Debug, Clone)]
pub struct SessionView {
    /// Id of the session.
    pub session: Arc<str>,
    /// Approval mode.
    pub mode: ApprovalMode,
    /// Model that was requested: a name, an alias or `auto`.
    pub model: String,
    /// Commands of the session.
    pub commands: Arc<CommandSet>,
}

/// Function that sends an operation to the agent.
pub type OpSender = Arc<dyn Fn(Op) + Send + Sync>;
/// Function that shows text to the user immediately.
pub type CommandOutput = Arc<dyn Fn(String) + Send + Sync>;

/// Everything that a command may use while it runs.
pub struct CommandContext {
    /// Id of the run; work that the command starts continues under this id.
    pub id: PromptId,
    /// Rest of the line after the command's name, trimmed.
    pub arguments: String,
    /// Cancelled when the user stops the command. The agent then stops waiting for the command, so
    /// the token matters only to work that the command has started elsewhere.
    pub cancel: CancellationToken,
    /// Sends operations to the agent.
    pub ops: OpSender,
    /// Asks the user questions; see [`CommandContext::ask`].
    pub operator: Arc<dyn Operator>,
    /// Shows text to the user, in any number of pieces.
    pub output: CommandOutput,
    /// State of the session.
    pub session: SessionView,
}

impl CommandContext {
    /// Shows text to the user.
    pub fn say(&self, text: impl Into<String>) {
        (self.output)(text.into());
    }

    /// Asks the user a question of this command. Dropping the future withdraws the question.
    pub async fn ask(
        &self,
        subject: QuestionSubject,
        choices: Vec<QuestionChoice>,
        default: Option<usize>,
    ) -> QuestionReply {
        let origin = Origin {
            session: Arc::clone(&self.session.session),
            prompt: Some(self.id.as_str().into()),
            ..Origin::default()
        };
        self.operator.ask(Question::new(Arc::new(origin), subject, choices, default)).await
    }

    /// Sends an operation to the agent.
    pub fn send(&self, op: Op) {
        (self.ops)(op);
    }
}

impl fmt::Debug for CommandContext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = formatter.debug_struct("CommandContext");
        fields.field("id", &self.id).field("arguments", &self.arguments);
        fields.field("session", &self.session).finish_non_exhaustive()
    }
}

/// One slash command, implemented by the crate that the command belongs to.
#[async_trait]
pub trait Command: Send + Sync {
    /// Name without the slash; a subcommand's name is separated by a space.
    fn name(&self) -> &str;

    /// Other names of the command.
    fn aliases(&self) -> &[&str] {
        &[]
    }

    /// Description in one line, for the help text.
    fn description(&self) -> &str;

    /// Arguments as the help text shows them, such as `NAME` or `[undo]`.
    fn arguments(&self) -> Option<&str> {
        None
    }

    /// True for a command that may run during a prompt: it only reads, or sends operations that
    /// take effect immediately.
    fn runs_while_working(&self) -> bool {
        false
    }

    /// True for a command that is useful only with a user at a terminal.
    fn needs_user(&self) -> bool {
        false
    }

    /// Returns continuations of a partly typed argument.
    async fn complete(&self, _partial: &str) -> Vec<String> {
        Vec::new()
    }

    /// Runs the command. The returned operation continues the work under the id of the command.
    ///
    /// # Errors
    /// The message for the user if the command failed.
    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError>;
}

/// Maximum number of bytes at the start of a line in which a command's name is searched.
const LONGEST_NAME: usize = 200;

/// Function that explains why a known name is not a command of this session.
pub type CommandExplainer = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Slash commands by name. The set of a session is a [`crate::Live`] value.
#[derive(Clone, Default)]
pub struct CommandSet {
    commands: Vec<Arc<dyn Command>>,
    explain: Option<CommandExplainer>,
}

impl CommandSet {
    /// Creates a set of these commands.
    pub fn new(commands: Vec<Arc<dyn Command>>) -> Self {
        Self { commands, explain: None }
    }

    /// Adds commands. A command replaces an existing command of the same name.
    pub fn extend(&mut self, commands: impl IntoIterator<Item = Arc<dyn Command>>) {
        for command in commands {
            self.commands.retain(|known| known.name() != command.name());
            self.commands.push(command);
        }
    }

    /// Sets the function that explains unknown names.
    #[must_use]
    pub fn explained_by(self, explain: CommandExplainer) -> Self {
        Self { explain: Some(explain), ..self }
    }

    /// Returns the message for a name that no command has: an explanation, or the most similar
    /// name.
    pub fn unknown(&self, name: &str) -> String {
        if let Some(text) = self.explain.as_ref().and_then(|explain| explain(name)) {
            return text;
        }
        let names = self.commands.iter().flat_map(|command| {
            let first = command.name().split(' ').next();
            first.into_iter().chain(command.aliases().iter().copied())
        });
        let meant = spelling::nearest(name, names).map(|known| format!(" Did you mean /{known}?"));
        format!("Unknown command: /{name}.{} Type /help for a list.", meant.unwrap_or_default())
    }

    /// Removes the commands for which `keep` returns false.
    pub fn retain(&mut self, keep: impl Fn(&dyn Command) -> bool) {
        self.commands.retain(|command| keep(command.as_ref()));
    }

    /// Returns all commands in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Command>> {
        self.commands.iter()
    }

    /// Returns the command of this exact name or alias; names win over aliases.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Command>> {
        let named = self.commands.iter().find(|command| command.name() == name);
        named.or_else(|| self.commands.iter().find(|command| command.aliases().contains(&name)))
    }

    /// Returns the command that a line such as `/memory show all` calls, and the rest of the line.
    /// The name is the longest sequence of leading words that names a command.
    pub fn find<'line>(&self, line: &'line str) -> Option<(&Arc<dyn Command>, &'line str)> {
        let line = line.strip_prefix('/')?;
        let mut ends: Vec<usize> =
            line.match_indices(char::is_whitespace).map(|(index, _)| index).collect();
        ends.push(line.len());
        ends.into_iter().rev().filter(|end| *end <= LONGEST_NAME).find_map(|end| {
            let (name, rest) = line.split_at(end);
            let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
            self.get(&name).map(|command| (command, rest.trim()))
        })
    }

    /// Returns the completions of a partly typed line.
    pub async fn complete(&self, line: &str) -> Vec<String> {
        if let Some((command, partial)) = self.find(line)
            && line.contains(char::is_whitespace)
        {
            let head = &line[..line.len() - partial.len()];
            let completed = command.complete(partial).await.into_iter();
            return completed.map(|rest| format!("{head}{rest}")).collect();
        }
        let Some(start) = line.strip_prefix('/') else { return Vec::new() };
        let names = self.commands.iter().map(|command| command.name());
        names.filter(|name| name.starts_with(start)).map(|name| format!("/{name}")).collect()
    }
}

impl fmt::Debug for CommandSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.commands.iter().map(|command| command.name())).finish()
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    struct Named(&'static str, &'static [&'static str]);

    #[async_trait]
    impl Command for Named {
        fn name(&self) -> &str {
            self.0
        }
        fn aliases(&self) -> &[&str] {
            self.1
        }
        fn description(&self) -> &'static str {
            ""
        }
        async fn complete(&self, partial: &str) -> Vec<String> {
            vec![format!("{partial}...")]
        }
        async fn run(&self, _context: CommandContext) -> Result<Option<Op>, CommandError> {
            Ok(None)
        }
    }

    fn commands() -> CommandSet {
        CommandSet::new(vec![
            Arc::new(Named("memory", &["m"])),
            Arc::new(Named("memory show", &[])),
            Arc::new(Named("m", &[])),
        ])
    }

    #[test]
    fn the_longest_name_wins_and_names_beat_aliases() {
        let commands = commands();
        let found =
            |line| commands.find(line).map(|(command, rest)| (command.name().to_owned(), rest));
        assert_eq!(found("/memory show all"), Some(("memory show".into(), "all")));
        assert_eq!(found("/memory  edit x"), Some(("memory".into(), "edit x")));
        assert_eq!(found("/m"), Some(("m".into(), "")));
        assert_eq!(found("/nosuch x"), None);
        assert_eq!(found("memory"), None);
        assert_eq!(found("/"), None);
    }

    #[test]
    fn names_are_completed_and_then_arguments() {
        let commands = commands();
        let complete = |line| commands.complete(line).now_or_never().unwrap();
        assert_eq!(complete("/me"), ["/memory", "/memory show"]);
        assert_eq!(complete("/memory show a"), ["/memory show a..."]);
        assert_eq!(complete("memory"), [""; 0]);
        assert_eq!(complete("/nosuch x"), [""; 0]);
    }

    #[test]
    fn a_command_of_the_same_name_is_replaced() {
        let mut commands = commands();
        commands.extend([Arc::new(Named("m", &["n"])) as Arc<dyn Command>]);
        assert_eq!(commands.iter().count(), 3);
        assert!(commands.get("n").is_some());
        commands.retain(|command| command.name() != "m");
        assert_eq!(commands.get("m").unwrap().name(), "memory");
    }
}
