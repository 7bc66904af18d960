//! Rules: the calls that a rule applies to, its conditions, and its ruling.

use std::fmt;
use std::path::{Path, PathBuf};

use pollux_config::Expression;
use pollux_protocol::{ApprovalMode, ConfinementLevel};
use serde_json::{Map, Value};

use crate::prefix::Prefix;
use crate::subject::Subject;

/// Name of the file of saved approvals, in the folder of the user's policies.
pub const APPROVALS_FILE: &str = "auto-saved.toml";

/// Used in place of a file as the source of rules that hold for the session. No file has this name,
/// because paths of files are absolute.
pub(crate) const SESSION: &str = "this session";

/// Ruling of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ruling {
    /// The call may run.
    Allow,
    /// The user must approve the call.
    AskUser,
    /// The call must not run.
    Deny,
}

impl Ruling {
    /// Returns the ruling that policy files write as `word`.
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Allow, Self::AskUser, Self::Deny].into_iter().find(|ruling| ruling.as_str() == word)
    }

    /// Returns the string used in policy files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::AskUser => "ask_user",
            Self::Deny => "deny",
        }
    }
}

/// Author of a rule. Rules of a higher tier are checked before all rules of lower tiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Built in.
    Default,
    /// An extension.
    Extension,
    /// The project.
    Workspace,
    /// The user.
    User,
    /// The administrator.
    Admin,
}

impl Tier {
    /// Returns the capitalised name, as in the source of a rule.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "Default",
            Self::Extension => "Extension",
            Self::Workspace => "Workspace",
            Self::User => "User",
            Self::Admin => "Admin",
        }
    }

    fn number(self) -> u32 {
        match self {
            Self::Default => 1,
            Self::Extension => 2,
            Self::Workspace => 3,
            Self::User => 4,
            Self::Admin => 5,
        }
    }
}

/// Priority of a rule, in thousandths: the tier's number, and the rule's own priority as the
/// fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(u32);

impl Priority {
    /// Fraction that is reserved for permanent approvals.
    const ALWAYS: u32 = 950;

    /// Creates the priority of a rule in a file: its own priority is 0 to 999.
    pub fn new(tier: Tier, own: u16) -> Self {
        Self(tier.number() * 1000 + u32::from(own.min(999)))
    }

    /// Creates a priority from thousandths: 4950 means 4.95.
    pub const fn thousandths(value: u32) -> Self {
        Self(value)
    }

    /// True for permanent approvals, recognised by their fraction.
    pub fn is_approval(self) -> bool {
        self.0 % 1000 == Self::ALWAYS
    }

    /// True for built-in rules.
    pub fn is_default(self) -> bool {
        self.0 < 2000
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:03}", self.0 / 1000, self.0 % 1000);
        formatter.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// Tools that a rule applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolPattern {
    /// `*`
    All,
    /// `mcp_*`: every tool of every server.
    Servers,
    /// `mcp_<server>_*`: every tool of this server.
    Server(String),
    /// `mcp_*_<tool>`: a tool of this name on any server.
    OnAnyServer(String),
    /// One tool, by its name or the server's name and its own.
    Tool(String),
}

impl ToolPattern {
    /// Parses `toolName` of a rule, with the server that the rule names separately.
    pub fn new(tool: &str, server: Option<&str>) -> Self {
        match (server, tool) {
            (Some("*"), "*") | (None, "mcp_*") => Self::Servers,
            (Some("*"), tool) => Self::OnAnyServer(tool.to_owned()),
            (Some(server), "*") => Self::Server(server.to_owned()),
            (Some(server), tool) => Self::Tool(format!("mcp_{server}_{tool}")),
            (None, "*") => Self::All,
            (None, tool) => {
                match tool.strip_prefix("mcp_").and_then(|rest| rest.strip_suffix("_*")) {
                    Some(server) if !server.is_empty() && !server.contains('*') => {
                        Self::Server(server.to_owned())
                    }
                    _ => Self::Tool(tool.to_owned()),
                }
            }
        }
    }

    fn matches(&self, subject: &Subject<'_>) -> bool {
        match self {
            Self::All => true,
            Self::Servers => subject.server.is_some(),
            Self::Server(server) => subject.server == Some(server.as_str()),
            Self::OnAnyServer(tool) => {
                subject.server.is_some() && subject.bare_names().any(|name| name == *tool)
            }
            Self::Tool(tool) => subject.is_called(tool),
        }
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => formatter.write_str("*"),
            Self::Servers => formatter.write_str("mcp_*"),
            Self::Server(server) => write!(formatter, "mcp_{server}_*"),
            Self::OnAnyServer(tool) => write!(formatter, "mcp_*_{tool}"),
            Self::Tool(tool) => formatter.write_str(tool),
        }
    }
}

/// Maximum length of a pattern, in bytes; Gemini CLI has the same limit.
pub(crate) const MAX_PATTERN_LENGTH: usize = 2048;

/// Condition of a rule on the arguments.
#[derive(Debug, Clone)]
pub enum Pattern {
    /// `argsPattern`: occurs anywhere in the arguments as text.
    Arguments(Expression),
    /// `commandPrefix`: the command begins with these words.
    Prefix(Prefix),
    /// `commandRegex`: matches at the beginning of the command.
    Command(Expression),
    /// All files that the call writes are plans. Only built-in rules have this condition.
    Plans,
}

/// Set of approval modes; the empty set means all modes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Modes(u8);

impl Modes {
    /// All modes in the order used in files.
    const ALL: [ApprovalMode; 4] =
        [ApprovalMode::Default, ApprovalMode::AutoEdit, ApprovalMode::Yolo, ApprovalMode::Plan];

    /// Creates a set of these modes.
    pub fn of(modes: &[ApprovalMode]) -> Self {
        Self(modes.iter().fold(0, |set, mode| set | Self::bit(*mode)))
    }

    /// Creates the set of all modes except plan mode.
    pub fn but_plan() -> Self {
        Self::of(&[ApprovalMode::Default, ApprovalMode::AutoEdit, ApprovalMode::Yolo])
    }

    fn bit(mode: ApprovalMode) -> u8 {
        match mode {
            ApprovalMode::Default => 1,
            ApprovalMode::AutoEdit => 2,
            ApprovalMode::Yolo => 4,
            ApprovalMode::Plan => 8,
        }
    }

    /// True for a mode in the set, and for every mode if the set is empty.
    pub fn contains(self, mode: ApprovalMode) -> bool {
        self.0 == 0 || self.0 & Self::bit(mode) != 0
    }

    /// Returns the modes that were named explicitly; empty for the set of all modes.
    pub fn named(self) -> impl Iterator<Item = ApprovalMode> {
        Self::ALL.into_iter().filter(move |mode| self.0 & Self::bit(*mode) != 0)
    }

    /// Returns the union of two sets.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if self.0 == 0 || other.0 == 0 { Self::default() } else { Self(self.0 | other.0) }
    }

    /// True if every mode of `other` is in this set, too.
    pub fn covers(self, other: Self) -> bool {
        Self::ALL.iter().all(|mode| !other.contains(*mode) || self.contains(*mode))
    }
}

/// Origin of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSource {
    /// Description in the format of Gemini CLI: `User: my.toml`, `Settings (Tools Excluded)`.
    pub label: String,
    /// Path of the file, if the rule is in a file.
    pub file: Option<PathBuf>,
    /// Line in the file, from 1.
    pub line: usize,
}

impl RuleSource {
    /// Creates the origin of a rule that is not in a file.
    pub fn named(label: &str) -> Self {
        Self { label: label.to_owned(), file: None, line: 0 }
    }

    /// Creates an origin in a file.
    pub fn file(tier: Tier, path: &Path, line: usize) -> Self {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let label = format!("{}: {name}", tier.name());
        Self { label, file: Some(path.to_owned()), line }
    }
}

impl fmt::Display for RuleSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.label)?;
        if self.line > 0 { write!(formatter, ":{}", self.line) } else { Ok(()) }
    }
}

/// One rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Tools that the rule applies to.
    pub tool: ToolPattern,
    /// Server that the tool must belong to; `*` for any server.
    pub server: Option<String>,
    /// Subagent that must make the call.
    pub subagent: Option<String>,
    /// Condition on the arguments.
    pub pattern: Option<Pattern>,
    /// Annotations that the tool must have, with exactly these values.
    pub annotations: Map<String, Value>,
    /// Ruling of the rule.
    pub ruling: Ruling,
    /// Priority of the rule.
    pub priority: Priority,
    /// Modes in which the rule applies.
    pub modes: Modes,
    /// `Some(true)` if the rule applies only with a user, `Some(false)` only without one.
    pub interactive: Option<bool>,
    /// True if an allowed command may redirect to files.
    pub allow_redirection: bool,
    /// Level of confinement for allowed commands; `None` for the session's level.
    pub confinement: Option<ConfinementLevel>,
    /// Addition to the message for the model if the rule denies the call.
    pub deny_message: Option<String>,
    /// Origin of the rule.
    pub source: RuleSource,
}

impl Rule {
    /// True for an approval that the user has saved, as opposed to a rule that was written.
    pub fn is_saved_approval(&self) -> bool {
        let name = self.source.file.as_ref().and_then(|path| path.file_name());
        name.is_some_and(|name| name == APPROVALS_FILE)
    }

    /// Creates a rule about one tool, without further conditions.
    pub fn new(tool: ToolPattern, ruling: Ruling, priority: Priority, source: RuleSource) -> Self {
        Self {
            tool,
            server: None,
            subagent: None,
            pattern: None,
            annotations: Map::new(),
            ruling,
            priority,
            modes: Modes::default(),
            interactive: None,
            allow_redirection: false,
            confinement: None,
            deny_message: None,
            source,
        }
    }

    /// True if all conditions except those on the arguments are fulfilled.
    pub fn concerns(&self, subject: &Subject<'_>, mode: ApprovalMode, interactive: bool) -> bool {
        self.modes.contains(mode)
            && self.interactive.is_none_or(|wanted| wanted == interactive)
            && self.subagent.as_deref().is_none_or(|name| subject.subagent == Some(name))
            && self.is_on_its_server(subject)
            && self.tool.matches(subject)
            && self.annotations_fit(subject)
    }

    fn is_on_its_server(&self, subject: &Subject<'_>) -> bool {
        match self.server.as_deref() {
            None => true,
            Some("*") => subject.server.is_some(),
            Some(server) => subject.server == Some(server),
        }
    }

    fn annotations_fit(&self, subject: &Subject<'_>) -> bool {
        let said = |key: &str| subject.annotations.and_then(|annotations| annotations.get(key));
        self.annotations.iter().all(|(key, value)| said(key) == Some(value))
    }

    /// True for a rule that a user or an administrator wrote or saved, and for an approval for this
    /// session.
    pub(crate) fn is_of_person(&self) -> bool {
        let is_granted = self.source.file.as_deref() == Some(Path::new(SESSION));
        self.priority >= Priority::new(Tier::User, 0) || is_granted
    }

    /// Formats the rule in one line: `allow <tool>: git …`.
    pub fn in_words(&self) -> String {
        let pattern = match &self.pattern {
            Some(Pattern::Prefix(prefix)) => format!(": {} …", prefix.as_str()),
            Some(Pattern::Command(expression) | Pattern::Arguments(expression)) => {
                format!(": /{}/", expression.as_str())
            }
            Some(Pattern::Plans) => ": plans".to_owned(),
            None => String::new(),
        };
        let modes: Vec<&str> = self.modes.named().map(ApprovalMode::as_str).collect();
        let modes =
            if modes.is_empty() { String::new() } else { format!(" [{}]", modes.join(", ")) };
        format!("{} {}{pattern}{modes}", self.ruling.as_str(), self.tool)
    }

    /// Returns true for a rule about particular commands.
    pub(crate) fn is_specific(&self) -> bool {
        matches!(
            self.pattern,
            Some(Pattern::Prefix(_) | Pattern::Command(_) | Pattern::Arguments(_))
        )
    }

    /// True if the rule has a condition on the arguments.
    pub fn is_conditional(&self) -> bool {
        self.pattern.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_tier_and_fraction() {
        for (tier, own, text) in [
            (Tier::Default, 10, "1.01"),
            (Tier::User, 950, "4.95"),
            (Tier::Admin, 999, "5.999"),
            (Tier::Workspace, 0, "3"),
        ] {
            assert_eq!(Priority::new(tier, own).to_string(), text);
        }
        assert!(Priority::new(Tier::User, 0) > Priority::new(Tier::Workspace, 999));
        assert!(Priority::thousandths(4950).is_approval());
        assert!(!Priority::new(Tier::User, 95).is_approval());
        assert!(Priority::new(Tier::Default, 999).is_default());
        for tier in [Tier::Workspace, Tier::User, Tier::Admin] {
            assert!(!Priority::new(tier, 0).is_default(), "{tier:?}");
        }
    }

    #[test]
    fn wildcards() {
        use ToolPattern::{All, OnAnyServer, Server, Servers, Tool};
        for (tool, server, pattern) in [
            ("*", None, All),
            ("mcp_*", None, Servers),
            ("*", Some("*"), Servers),
            ("mcp_git_*", None, Server("git".into())),
            ("*", Some("git"), Server("git".into())),
            ("log", Some("*"), OnAnyServer("log".into())),
            ("log", Some("git"), Tool("mcp_git_log".into())),
            ("discovered_tool_*", None, Tool("discovered_tool_*".into())),
        ] {
            assert_eq!(ToolPattern::new(tool, server), pattern, "{tool} {server:?}");
        }
    }

    #[test]
    fn an_empty_set_of_modes_is_all_of_them() {
        assert!(Modes::default().contains(ApprovalMode::Plan));
        assert!(!Modes::but_plan().contains(ApprovalMode::Plan));
        assert!(Modes::default().covers(Modes::but_plan()));
        assert!(!Modes::but_plan().covers(Modes::default()));
    }
}
