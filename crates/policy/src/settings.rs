//! Rules that come from settings and flags (`tools.*`, `mcp.*`, `--allowed-tools`).

use pollux_protocol::spelling;

use crate::names::{DISCOVERED, KNOWN, SHELL, current_name};
use crate::prefix::Prefix;
use crate::rule::{Modes, Pattern, Priority, Rule, RuleSource, Ruling, ToolPattern};

/// Source of rules from `tools.confirmationRequired`.
pub(crate) const CONFIRMATION_REQUIRED: &str = "Settings (Confirmation Required)";

/// Lists in the settings that determine which tools may run.
#[derive(Debug, Clone, Default)]
pub struct ToolLists {
    /// `tools.core`: the only available built-in tools; `None` for all.
    pub core: Option<Vec<String>>,
    /// `tools.allowed` or `--allowed-tools`.
    pub allowed: Vec<String>,
    /// `tools.exclude`.
    pub exclude: Vec<String>,
    /// `tools.confirmationRequired`.
    pub confirmation_required: Vec<String>,
    /// `mcp.excluded`: names of servers.
    pub excluded_servers: Vec<String>,
    /// `mcp.allowed`: names of servers.
    pub allowed_servers: Vec<String>,
    /// Servers with `trust` in their settings.
    pub trusted_servers: Vec<String>,
    /// Servers whose tools may run headless without a separate rule (`mcp.autoAllowInHeadless`).
    pub headless_servers: Vec<String>,
}

/// One entry of a list: a tool, and for the shell the first words of a command.
struct Entry {
    tool: ToolPattern,
    prefix: Option<Prefix>,
}

impl Entry {
    /// Parses `tool` or `tool(words)`. As in Gemini CLI, the words are used for the shell only.
    fn new(text: &str) -> Self {
        let text = text.trim();
        let parts = text.strip_suffix(')').and_then(|text| text.split_once('('));
        let (name, words) = parts.map_or((text, None), |(name, words)| (name, Some(words)));
        let name = current_name(name.trim().trim_start_matches('_'));
        let prefix = words.filter(|words| name == SHELL && !words.trim().is_empty());
        Self { tool: ToolPattern::new(name, None), prefix: prefix.map(Prefix::new) }
    }

    fn rule(self, ruling: Ruling, priority: Priority, source: &str) -> Rule {
        let pattern = self.prefix.map(Pattern::Prefix);
        Rule { pattern, ..Rule::new(self.tool, ruling, priority, RuleSource::named(source)) }
    }
}

/// Returns the entries of a list that name no tool of Pollux or Gemini CLI, quoted, each with the
/// name that was probably meant. Names of servers' tools and patterns cannot be checked.
pub fn unknown_tools(entries: &[String]) -> Vec<String> {
    let unknown = |entry: &String| {
        let name = entry.split('(').next().unwrap_or_default().trim().trim_start_matches('_');
        let is_open = name.contains('*') || name.contains("__") || name.starts_with("mcp_");
        let is_known = KNOWN.contains(&current_name(name)) || name.starts_with(DISCOVERED);
        if name.is_empty() || is_open || is_known {
            return None;
        }
        let meant = spelling::nearest(name, KNOWN.iter().copied());
        let meant = meant.map(|meant| format!(" (did you mean \"{meant}\"?)"));
        Some(format!("{name:?}{}", meant.unwrap_or_default()))
    };
    entries.iter().filter_map(unknown).collect()
}

impl ToolLists {
    /// True for a built-in tool that the lists keep. A tool that `tools.exclude` names, or that a
    /// set `tools.core` does not name, is not available at all: no mode or rule can enable it.
    pub fn keeps(&self, tool: &str) -> bool {
        let named = |entry: &Entry| entry.tool == ToolPattern::Tool(tool.to_owned());
        let is_excluded = |text: &String| {
            let entry = Entry::new(text);
            named(&entry) && entry.prefix.is_none()
        };
        let is_core = |core: &Vec<String>| core.iter().any(|text| named(&Entry::new(text)));
        !self.exclude.iter().any(is_excluded) && self.core.as_ref().is_none_or(is_core)
    }

    /// True for a tool of a server that the lists keep. `tools.core` names built-in tools only.
    pub fn keeps_of_server(&self, tool: &str) -> bool {
        Self { core: None, ..self.clone() }.keeps(tool)
    }

    /// Returns the rules, with the priorities that they have in Gemini CLI.
    pub fn rules(&self) -> Vec<Rule> {
        let mut rules = Vec::new();
        let each = |entries: &[String], ruling, rank, source| {
            let priority = Priority::thousandths(rank);
            let rule = move |entry: &String| Entry::new(entry).rule(ruling, priority, source);
            entries.iter().map(rule).collect::<Vec<_>>()
        };
        rules.extend(each(&self.exclude, Ruling::Deny, 4400, "Settings (Tools Excluded)"));
        let required = &self.confirmation_required;
        rules.extend(each(required, Ruling::AskUser, 4350, CONFIRMATION_REQUIRED));
        rules.extend(each(&self.allowed, Ruling::Allow, 4300, "Settings (Tools Allowed)"));
        if self.allowed.iter().any(|entry| Entry::new(entry).prefix.is_some()) {
            // The entries name only some commands, so the others are not allowed.
            let source = RuleSource::named("Settings (Tools Allowed) (Narrowing Enforcement)");
            let tool = ToolPattern::Tool(SHELL.to_owned());
            rules.push(Rule::new(tool, Ruling::Deny, Priority::thousandths(4290), source));
        }
        rules.extend(self.core_rules());
        rules.extend(self.server_rules());
        rules
    }

    fn core_rules(&self) -> Vec<Rule> {
        let Some(core) = &self.core else { return Vec::new() };
        let allow = |entry: &String| Rule {
            modes: Modes::but_plan(),
            ..Entry::new(entry).rule(
                Ruling::Allow,
                Priority::thousandths(4250),
                "Settings (Core Tools)",
            )
        };
        let source = RuleSource::named("Settings (Core Tools Allowlist Enforcement)");
        let others = Rule {
            modes: Modes::but_plan(),
            ..Rule::new(ToolPattern::All, Ruling::Deny, Priority::thousandths(4240), source)
        };
        core.iter().map(allow).chain([others]).collect()
    }

    fn server_rules(&self) -> Vec<Rule> {
        let rule = |server: &String, ruling, rank, source: &str| {
            let tool = ToolPattern::new("*", Some(server));
            Rule::new(tool, ruling, Priority::thousandths(rank), RuleSource::named(source))
        };
        let allow = |server: &String, rank, source: &str| Rule {
            modes: Modes::but_plan(),
            ..rule(server, Ruling::Allow, rank, source)
        };
        let excluded = self.excluded_servers.iter();
        let excluded =
            excluded.map(|name| rule(name, Ruling::Deny, 4900, "Settings (MCP Excluded)"));
        let trusted = self.trusted_servers.iter();
        let trusted = trusted.map(|name| allow(name, 4200, "Settings (MCP Trusted)"));
        let allowed = self.allowed_servers.iter();
        let allowed = allowed.map(|name| allow(name, 4100, "Settings (MCP Allowed)"));
        let headless = self.headless_servers.iter().map(|name| Rule {
            interactive: Some(false),
            ..allow(name, 4100, "Settings (Headless MCP Auto-Allow)")
        });
        excluded.chain(trusted).chain(allowed).chain(headless).collect()
    }
}

#[cfg(test)]
mod tests {
    use pollux_protocol::ApprovalMode;

    use super::*;
    use crate::file::PolicyFile;
    use crate::{Facts, Policy, Subject};

    fn policy(lists: &ToolLists) -> Policy {
        let added = PolicyFile { rules: lists.rules(), ..PolicyFile::default() };
        Policy::new(Facts { interactive: true, ..Facts::default() }, added)
    }

    fn list(entries: &[&str]) -> Vec<String> {
        entries.iter().map(|entry| (*entry).to_owned()).collect()
    }

    #[test]
    fn names_that_no_tool_has() {
        let entries = [
            "a",
            "read_fil",
            "read_file",
            "ShellTool(git status)",
            "run_shell_command(ls)",
            "mcp_x_y",
            "server__tool",
            "*",
            "discovered_tool_x",
            "cli_help",
            "_glob",
            "",
        ];
        let unknown = unknown_tools(&entries.map(str::to_owned));
        assert_eq!(unknown, ["\"a\"", "\"read_fil\" (did you mean \"read_file\"?)"]);
    }

    #[test]
    fn names_classes_and_aliases_are_excluded_in_every_mode() {
        let exclude = list(&["ShellTool", "search_file_content", "glob", "read_file(x)"]);
        let policy = policy(&ToolLists { exclude, ..ToolLists::default() });
        for mode in [ApprovalMode::Default, ApprovalMode::Yolo, ApprovalMode::Plan] {
            for tool in ["run_shell_command", "grep_search", "glob", "read_file"] {
                assert!(!policy.declares(Subject::named(tool), mode), "{tool} {mode}");
            }
            assert!(policy.declares(Subject::named("list_directory"), mode));
        }
    }

    #[test]
    fn an_exclusion_with_arguments_leaves_the_rest() {
        let exclude = list(&["run_shell_command(rm)"]);
        let policy = policy(&ToolLists { exclude, ..ToolLists::default() });
        assert!(policy.declares(Subject::named("run_shell_command"), ApprovalMode::Default));
    }

    #[test]
    fn nothing_is_offered_beside_the_core() {
        let core = Some(list(&["ReadFileTool", "run_shell_command(ls)"]));
        let policy = policy(&ToolLists { core, ..ToolLists::default() });
        for (tool, offered) in [("read_file", true), ("run_shell_command", true), ("glob", false)] {
            assert_eq!(
                policy.declares(Subject::named(tool), ApprovalMode::Default),
                offered,
                "{tool}"
            );
        }
        assert!(policy.declares(Subject::named("glob"), ApprovalMode::Plan), "as in Gemini CLI");
    }

    #[test]
    fn exclusions_and_the_core_list_hold_whatever_rules_say() {
        let texts = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let kept = |lists: &ToolLists| {
            ["run_shell_command", "glob", "read_file"].map(|tool| lists.keeps(tool))
        };
        let exclude = texts(&["ShellTool", "glob"]);
        assert_eq!(kept(&ToolLists { exclude, ..ToolLists::default() }), [false, false, true]);
        let exclude = texts(&["run_shell_command(rm)"]);
        assert_eq!(kept(&ToolLists { exclude, ..ToolLists::default() }), [true; 3]);
        let core = Some(texts(&["run_shell_command(git)", "ReadFileTool"]));
        assert_eq!(kept(&ToolLists { core, ..ToolLists::default() }), [true, false, true]);
    }
}
