//! Reach of rules beyond their obvious meaning: whole programs, every call of a tool, and programs
//! that the allowed ones start by themselves.

use std::path::Path;

use pollux_shell::Dialect;
use pollux_shell::command_line::{Does, SimpleCommand, read};

use crate::index::lead;
use crate::names::SHELL;
use crate::one_line::line_of;
use crate::rule::{APPROVALS_FILE, Pattern, Rule, RuleSource, Ruling, ToolPattern};

/// Maximum number of subcommands in a suggestion.
const SHOWN: usize = 3;

/// Fields of a rule for calls with one argument.
const NAMED_ARGUMENT: &str =
    r#"argsPattern = '\x00"ARGUMENT":"VALUE', for calls with this argument"#;

/// Reach of one rule that allows calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleReach {
    /// Location of the rule.
    pub source: RuleSource,
    /// Calls that it allows, as a noun phrase.
    pub allows: String,
    /// Fields of a narrower rule, for a saved rule that is broad.
    pub narrower: Option<String>,
    /// Programs and code that the allowed program starts by itself, as a noun phrase.
    pub starts: Option<String>,
}

impl RuleReach {
    /// Returns the finding in one line.
    pub fn message(&self) -> String {
        let starts = self.starts.as_ref().map(|starts| format!("also starts: {starts}"));
        match (&self.narrower, starts) {
            (Some(narrower), Some(starts)) => {
                format!("allows {}, which {starts}; narrower: {narrower}", self.allows)
            }
            (Some(narrower), None) => format!("allows {}; narrower: {narrower}", self.allows),
            (None, Some(starts)) => format!("allows {}, which {starts}", self.allows),
            (None, None) => format!("allows {}", self.allows),
        }
    }
}

/// Returns the rules that allow more than they seem to: saved rules for a whole program or without
/// any condition, all rules for programs that start other programs by themselves, and patterns that
/// match in any argument.
pub fn rule_reach(rules: &[Rule]) -> Vec<RuleReach> {
    let mut found: Vec<RuleReach> = Vec::new();
    for reach in rules.iter().filter_map(of) {
        if !found.contains(&reach) {
            found.push(reach);
        }
    }
    found
}

/// Returns a sentence about the programs that the first command of `text`, a prefix, starts by
/// itself; `None` if its table lists no such programs.
pub(crate) fn starts_sentence(text: &str) -> Option<String> {
    let starts = first_command(text)?.starts()?;
    Some(format!("{text} also starts: {starts}"))
}

fn first_command(text: &str) -> Option<SimpleCommand> {
    read(text, Dialect::Posix).commands.into_iter().next()
}

fn of(rule: &Rule) -> Option<RuleReach> {
    if rule.ruling != Ruling::Allow {
        return None;
    }
    let file = rule.source.file.as_deref().and_then(Path::file_name);
    let is_saved = file.is_some_and(|name| name == APPROVALS_FILE);
    let reach = |allows: String, narrower: Option<String>, starts: Option<&str>| RuleReach {
        source: rule.source.clone(),
        allows,
        narrower,
        starts: starts.map(str::to_owned),
    };
    match &rule.pattern {
        None => {
            let (allows, narrower) = without_condition(rule).filter(|_| is_saved)?;
            Some(reach(allows, Some(narrower), None))
        }
        Some(Pattern::Prefix(prefix)) => {
            let command = first_command(prefix.as_str())?;
            let starts = command.starts();
            let broad = is_saved && command.words.len() == 1 && prefix.words().len() == 1;
            if let Some((allows, narrower)) = broad.then(|| whole_program(&command)).flatten() {
                return Some(reach(allows, Some(narrower), starts));
            }
            Some(reach(format!("`{} …`", prefix.as_str()), None, Some(starts?)))
        }
        Some(Pattern::Command(expression)) => {
            let text = expression.as_str();
            let line = line_of(text);
            let commands = read(line.as_deref().unwrap_or(lead(text)), Dialect::Posix).commands;
            let starts = commands.iter().find_map(SimpleCommand::starts)?;
            let allows = line.map_or_else(|| format!("/{text}/"), |line| format!("`{line}`"));
            Some(reach(allows, None, Some(starts)))
        }
        Some(Pattern::Arguments(expression)) => {
            let allows = anywhere(expression.as_str())?;
            Some(reach(allows, Some(NAMED_ARGUMENT.to_owned()), None))
        }
        Some(Pattern::Plans) => None,
    }
}

/// Returns the calls that a rule with this pattern for arguments allows; `None` if the pattern
/// names the place of an argument.
fn anywhere(pattern: &str) -> Option<String> {
    let is_placed = ["\\x00", "\\u0000", "\\0", "\0"].iter().any(|nul| pattern.contains(nul));
    let text = "calls with this text anywhere in their arguments, also within another argument";
    (!is_placed).then(|| format!("{text}: /{pattern}/"))
}

/// Returns the calls that a rule for this program allows, and a narrower rule; `None` if the
/// program can only read, or only runs other commands of the line.
fn whole_program(command: &SimpleCommand) -> Option<(String, String)> {
    let name = command.name();
    if !command.has_table() {
        let allows = format!("`{name}` with any arguments, because Pollux has no table for it");
        return Some((allows, format!("commandPrefix = \"{name} FIRST-ARGUMENT\"")));
    }
    if command.greatest_effect().is_none_or(|effect| effect == Does::Reads) {
        return None;
    }
    let subcommands = command.changing_subcommands();
    if subcommands.is_empty() {
        let allows = format!("`{name}` with all arguments that its table knows");
        return Some((allows, format!("commandPrefix = \"{name} FIRST-ARGUMENT\"")));
    }
    let allows = format!("`{name}` with all subcommands that its table knows");
    let preferred = ["commit", "push", "test", "build", "run", "install"];
    let rank = |name: &&str| preferred.iter().position(|other| other == name);
    let mut shown = subcommands;
    shown.sort_by_key(|name| rank(name).unwrap_or(preferred.len()));
    let shown = shown.iter().take(SHOWN).map(|verb| format!("\"{name} {verb}\""));
    let list = shown.collect::<Vec<_>>().join(", ");
    Some((allows, format!("commandPrefix = [ {list} ], or the ones that you use")))
}

/// Returns the calls that a rule without a condition on the arguments allows, and a narrower rule;
/// `None` for a single tool of a server, because no information about a narrower rule exists.
fn without_condition(rule: &Rule) -> Option<(String, String)> {
    let of_server = rule.server.is_some();
    let (allows, narrower) = match &rule.tool {
        ToolPattern::All => ("every call of every tool".to_owned(), "toolName = \"TOOL\""),
        ToolPattern::Servers => {
            ("every tool of every server".to_owned(), "mcpName = \"SERVER\", toolName = \"TOOL\"")
        }
        ToolPattern::Server(server) => (
            format!("every tool of the server {server}"),
            "toolName = \"TOOL\" in addition to mcpName",
        ),
        ToolPattern::OnAnyServer(tool) => {
            (format!("the tool {tool} of every server"), "mcpName = \"SERVER\"")
        }
        ToolPattern::Tool(tool) if tool == SHELL => {
            ("every command line".to_owned(), "commandPrefix = \"PROGRAM SUBCOMMAND\"")
        }
        ToolPattern::Tool(tool) if of_server || tool.starts_with("mcp_") => return None,
        ToolPattern::Tool(tool) => (format!("every call of {tool}"), NAMED_ARGUMENT),
    };
    Some((allows, narrower.to_owned()))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::file::read as read_file;
    use crate::rule::Tier;

    fn reach(file: &str, condition: &str) -> Vec<String> {
        let text = format!("[[rule]]\ndecision = \"allow\"\npriority = 950\n{condition}\n");
        let file = read_file(Tier::User, Path::new(file), &text);
        assert_eq!(file.problems, Vec::new(), "{text}");
        rule_reach(&file.rules).iter().map(RuleReach::message).collect()
    }

    fn of_command(file: &str, condition: &str) -> Vec<String> {
        reach(file, &format!("toolName = \"run_shell_command\"\n{condition}"))
    }

    #[test]
    fn a_question_says_what_a_program_starts() {
        for (text, starts) in [
            ("bundle", Some("bundle also starts: code of the project's Gemfile and gems")),
            (
                "bundle exec x",
                Some("bundle exec x also starts: code of the project's Gemfile and gems"),
            ),
            ("ls", None),
            ("unknown-program", None),
            ("", None),
        ] {
            assert_eq!(starts_sentence(text).as_deref(), starts, "{text}");
        }
    }

    #[test]
    fn saved_rules_for_whole_programs_are_broad() {
        let broad = of_command(
            APPROVALS_FILE,
            r#"commandPrefix = [ "git", "npm", "python3", "rm", "sudo", "sh", "./gradlew" ]"#,
        );
        let names = ["git", "npm", "python3", "rm", "sudo", "sh", "./gradlew"];
        assert_eq!(broad.len(), names.len(), "{broad:?}");
        for (message, name) in broad.iter().zip(names) {
            assert!(message.starts_with(&format!("allows `{name}` with ")), "{message}");
            assert!(message.contains("; narrower: commandPrefix = "), "{message}");
        }
        assert_eq!(
            broad[0],
            "allows `git` with all subcommands that its table knows, which also starts: hooks of the repository, and \
             programs that its configuration names (filters, external diffs, credential helpers); narrower: \
             commandPrefix = [ \"git commit\", \"git push\", \"git add\" ], or the ones that you use"
        );
        let own = r#"commandRegex = "x"
polluxPrefix = "rm""#;
        assert_eq!(of_command(APPROVALS_FILE, own).len(), 1);
        for narrow in [
            r#"commandPrefix = [ "ls", "timeout", "cat", "grep" ]"#,
            r#"commandPrefix = [ "rm a", "python3 x.py", "docker-compose up" ]"#,
            r#"commandRegex = 'rm\ a"\x00'"#,
        ] {
            assert_eq!(of_command(APPROVALS_FILE, narrow), Vec::<String>::new(), "{narrow}");
        }
    }

    #[test]
    fn saved_rules_without_a_condition_are_broad() {
        for (condition, allows) in [
            ("toolName = \"run_shell_command\"", "every command line"),
            ("toolName = \"*\"", "every call of every tool"),
            ("toolName = \"write_file\"", "every call of write_file"),
            ("toolName = \"*\"\nmcpName = \"s\"", "every tool of the server s"),
            ("toolName = \"mcp_*\"", "every tool of every server"),
            ("toolName = \"t\"\nmcpName = \"*\"", "the tool t of every server"),
        ] {
            let found = reach(APPROVALS_FILE, condition);
            assert_eq!(found.len(), 1, "{condition}");
            assert!(found[0].starts_with(&format!("allows {allows}; narrower: ")), "{found:?}");
            assert_eq!(reach("mine.toml", condition), Vec::<String>::new(), "{condition}");
        }
        for condition in [
            "toolName = \"t\"\nmcpName = \"s\"",
            "toolName = \"mcp_s_t\"",
            "toolName = \"write_file\"\nargsPattern = '\\x00\"file_path\":\"x'",
        ] {
            assert_eq!(reach(APPROVALS_FILE, condition), Vec::<String>::new(), "{condition}");
        }
    }

    #[test]
    fn patterns_that_match_in_any_argument_are_listed() {
        let pattern = r#""file_path":"docs/"#;
        for (nul, is_listed) in
            [("", true), (r"\x00", false), (r"\u0000", false), (r"(^|\0)", false)]
        {
            let condition = format!("toolName = \"write_file\"\nargsPattern = '{nul}{pattern}'");
            let found = reach("mine.toml", &condition);
            assert_eq!(!found.is_empty(), is_listed, "{condition} {found:?}");
        }
        let found = reach("mine.toml", "toolName = \"*\"\nargsPattern = 'x'");
        assert_eq!(
            found,
            [
                r#"allows calls with this text anywhere in their arguments, also within another argument: /x/; narrower: argsPattern = '\x00"ARGUMENT":"VALUE', for calls with this argument"#
            ]
        );
    }

    #[test]
    fn rules_for_programs_that_start_others_are_listed() {
        let make = "which also starts: recipes of the project's Makefile";
        for (condition, expected) in [
            (r#"commandPrefix = "make""#, format!("allows `make …`, {make}")),
            (r#"commandPrefix = "make all""#, format!("allows `make all …`, {make}")),
            ("commandRegex = 'make (a|b)'", format!("allows /make (a|b)/, {make}")),
            (
                r#"commandRegex = 'make\ \"a\"\x00'"#,
                format!("allows /make\\ \\\"a\\\"\\x00/, {make}"),
            ),
            (r#"commandRegex = 'make\ a"\x00'"#, format!("allows `make a`, {make}")),
        ] {
            assert_eq!(of_command("mine.toml", condition), [expected], "{condition}");
        }
        assert_eq!(of_command("mine.toml", r#"commandPrefix = "rm""#), Vec::<String>::new());
        let denied = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"make\"\ndecision = \"deny\"\npriority = 1\n";
        assert_eq!(rule_reach(&read_file(Tier::User, Path::new("a.toml"), denied).rules), []);
    }
}
