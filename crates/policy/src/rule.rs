//! One rule: what it speaks of, under which conditions, and what it says.

use std::fmt;
use std::path::{Path, PathBuf};

use pollux_protocol::{ApprovalMode, ConfinementLevel};
use serde_json::{Map, Value};

use crate::expression::Expression;
use crate::prefix::Prefix;
use crate::subject::Subject;

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ruling {
    /// The call may run.
    Allow,
    /// A person must say yes.
    AskUser,
    /// The call may not run.
    Deny,
}

impl Ruling {
    /// Returns the ruling that policy files write as `word`.
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Allow, Self::AskUser, Self::Deny].into_iter().find(|ruling| ruling.as_str() == word)
    }

    /// The word of policy files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::AskUser => "ask_user",
            Self::Deny => "deny",
        }
    }
}

/// Who speaks. A rule of a higher tier is looked at before all of the lower ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// What Pollux brings along.
    Default,
    /// An extension.
    Extension,
    /// The project.
    Workspace,
    /// The person.
    User,
    /// The administrator.
    Admin,
}

impl Tier {
    /// The capitalised name, as in the source of a rule.
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

/// The rank of a rule, in thousandths: the tier's number and the rule's own priority behind the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(u32);

impl Priority {
    /// The fraction that belongs to approvals which a person gave for good.
    const ALWAYS: u32 = 950;

    /// A rule of a file: its own priority is 0 to 999.
    pub fn new(tier: Tier, own: u16) -> Self {
        Self(tier.number() * 1000 + u32::from(own.min(999)))
    }

    /// The rank in thousandths: 4950 stands for 4.95.
    pub const fn thousandths(value: u32) -> Self {
        Self(value)
    }

    /// True for approvals that a person gave for good, by their fraction.
    pub fn is_approval(self) -> bool {
        self.0 % 1000 == Self::ALWAYS
    }

    /// True for what Pollux itself brings along.
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

/// The tools that a rule speaks of.
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
    /// Reads `toolName` as rules write it, with the server that they name besides.
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

/// What a rule demands of the arguments.
#[derive(Debug, Clone)]
pub enum Pattern {
    /// `argsPattern`: found anywhere in the arguments as text.
    Arguments(Expression),
    /// `commandPrefix`: the command begins with these words.
    Prefix(Prefix),
    /// `commandRegex`: found at the beginning of the command.
    Command(Expression),
    /// Everything that is written is a plan. Only the rules that Pollux brings along say so.
    Plans,
}

/// A set of approval modes; empty stands for all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Modes(u8);

impl Modes {
    /// All of them in the order of the files.
    const ALL: [ApprovalMode; 4] =
        [ApprovalMode::Default, ApprovalMode::AutoEdit, ApprovalMode::Yolo, ApprovalMode::Plan];

    /// A set of these.
    pub fn of(modes: &[ApprovalMode]) -> Self {
        Self(modes.iter().fold(0, |set, mode| set | Self::bit(*mode)))
    }

    /// All modes but plan mode.
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

    /// True for a mode of the set, and for any mode when the set is empty.
    pub fn contains(self, mode: ApprovalMode) -> bool {
        self.0 == 0 || self.0 & Self::bit(mode) != 0
    }

    /// The modes that were named; none when the set is empty.
    pub fn named(self) -> impl Iterator<Item = ApprovalMode> {
        Self::ALL.into_iter().filter(move |mode| self.0 & Self::bit(*mode) != 0)
    }

    /// The modes of either set.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if self.0 == 0 || other.0 == 0 { Self::default() } else { Self(self.0 | other.0) }
    }

    /// True when every mode of `other` is in this set too.
    pub fn covers(self, other: Self) -> bool {
        Self::ALL.iter().all(|mode| !other.contains(*mode) || self.contains(*mode))
    }
}

/// Where a rule is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// In words, as Gemini CLI says it: `User: my.toml`, `Settings (Tools Excluded)`.
    pub label: String,
    /// The file, when there is one.
    pub file: Option<PathBuf>,
    /// The line in it, from 1.
    pub line: usize,
}

impl Source {
    /// Not from a file.
    pub fn named(label: &str) -> Self {
        Self { label: label.to_owned(), file: None, line: 0 }
    }

    /// A place in a file.
    pub fn file(tier: Tier, path: &Path, line: usize) -> Self {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let label = format!("{}: {name}", tier.name());
        Self { label, file: Some(path.to_owned()), line }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.label)?;
        if self.line > 0 { write!(formatter, ":{}", self.line) } else { Ok(()) }
    }
}

/// One rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// The tools.
    pub tool: ToolPattern,
    /// The server whose tool it must be; `*` for any.
    pub server: Option<String>,
    /// The subagent that must be calling.
    pub subagent: Option<String>,
    /// What the arguments must be like.
    pub pattern: Option<Pattern>,
    /// What the tool must say of itself, each exactly.
    pub annotations: Map<String, Value>,
    /// What it says.
    pub ruling: Ruling,
    /// Its rank.
    pub priority: Priority,
    /// The modes in which it holds.
    pub modes: Modes,
    /// Only with a person there, or only without.
    pub interactive: Option<bool>,
    /// A command that it allows may redirect to files.
    pub allow_redirection: bool,
    /// Level of confinement for commands that it allows; `None` for the session's.
    pub confinement: Option<ConfinementLevel>,
    /// What the model is told besides when it denies.
    pub deny_message: Option<String>,
    /// Where it is written.
    pub source: Source,
}

impl Rule {
    /// A rule about one tool, without further conditions.
    pub fn new(tool: ToolPattern, ruling: Ruling, priority: Priority, source: Source) -> Self {
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

    /// Everything but the arguments fits.
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

    /// True for a rule that a person or an administrator wrote or saved, or that is an approval for this session.
    pub(crate) fn is_of_person(&self) -> bool {
        let is_granted = self.source.file.as_deref() == Some(Path::new(crate::approval::SESSION));
        self.priority >= Priority::new(Tier::User, 0) || is_granted
    }

    /// The rule in a line: `allow <tool>: git …`.
    pub fn in_words(&self) -> String {
        crate::lint::in_words(self)
    }

    /// Nothing but the arguments decides whether it applies.
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
