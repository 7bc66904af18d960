//! Policy files: TOML with `[[rule]]` and `[[safety_checker]]` tables.
//!
//! Parsing is pure. Unknown keys are ignored, as in Gemini CLI. Every other error is reported with
//! its line and column; the valid rules are returned nevertheless, so that their denials remain in
//! effect.

use std::path::Path;

use pollux_config::{Expression, ExpressionError};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::checker::{Checker, CheckerRule};
use crate::fields::{Fault, Fields};
use crate::lint;
use crate::names::{SHELL, current_name};
use crate::prefix::Prefix;
use crate::problem::{Problem, ProblemKind, position};
use crate::rule::{
    MAX_PATTERN_LENGTH, Pattern, Priority, Rule, RuleSource, Ruling, Tier, ToolPattern,
};

/// Maximum size of one file, in bytes.
pub(crate) const MAX_BYTES: usize = 1 << 20;
/// Maximum number of rules of one file, counted for each name and prefix.
const MAX_RULES: usize = 10_000;

/// Contents of a policy file.
#[derive(Debug, Clone, Default)]
pub struct PolicyFile {
    /// Rules, one for each tool and prefix.
    pub rules: Vec<Rule>,
    /// Safety checkers.
    pub checkers: Vec<CheckerRule>,
    /// Problems of the file.
    pub problems: Vec<Problem>,
}

impl PolicyFile {
    /// Adds the contents of another file.
    pub fn extend(&mut self, other: Self) {
        self.rules.extend(other.rules);
        self.checkers.extend(other.checkers);
        self.problems.extend(other.problems);
    }
}

/// Parses a file. `path` is used only in messages; it is not opened.
pub fn read(tier: Tier, path: &Path, text: &str) -> PolicyFile {
    let ends = text.match_indices('\n').map(|(at, _)| at).collect();
    let mut reader = FileReader { tier, path, text, ends, file: PolicyFile::default() };
    if text.len() > MAX_BYTES {
        let message = format!("The file is larger than {MAX_BYTES} bytes");
        reader.fault(ProblemKind::FileRead, Fault { at: 0, message });
        return reader.file;
    }
    match DeTable::parse(text) {
        Ok(table) => reader.tables(table.get_ref()),
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            let message = format!("TOML parsing failed: {}", error.message());
            reader.fault(ProblemKind::TomlParse, Fault { at, message });
        }
    }
    reader.file
}

struct FileReader<'a> {
    tier: Tier,
    path: &'a Path,
    text: &'a str,
    /// Byte offsets of the line ends.
    ends: Vec<usize>,
    file: PolicyFile,
}

/// Conditions common to rules and checkers.
struct Conditions {
    tools: Vec<ToolPattern>,
    server: Option<String>,
    patterns: Vec<Option<Pattern>>,
}

impl FileReader<'_> {
    fn fault(&mut self, kind: ProblemKind, fault: Fault) {
        let mut problem = Problem::new(self.path, self.tier, kind, fault.message);
        problem.position = Some(position(self.text, fault.at));
        self.file.problems.push(problem);
    }

    /// Returns the line of a byte, from 1.
    fn line(&self, at: usize) -> usize {
        self.ends.partition_point(|end| *end < at) + 1
    }

    fn tables(&mut self, root: &DeTable<'_>) {
        for (key, value) in root {
            match (key.get_ref().as_ref(), value.get_ref()) {
                (name @ ("rule" | "safety_checker"), DeValue::Array(items)) => {
                    for (index, item) in items.iter().enumerate() {
                        self.table(name, index + 1, item);
                    }
                }
                (name @ ("rule" | "safety_checker"), _) => {
                    let message = format!("{name} must be written as [[{name}]]");
                    let at = key.span().start;
                    self.fault(ProblemKind::SchemaValidation, Fault { at, message });
                }
                _ => {}
            }
        }
    }

    fn table(&mut self, name: &str, number: usize, item: &Spanned<DeValue<'_>>) {
        let at = item.span().start;
        let DeValue::Table(table) = item.get_ref() else {
            let message = format!("each {name} must be a table");
            return self.fault(ProblemKind::SchemaValidation, Fault { at, message });
        };
        let fields = Fields { table, at };
        let read = match name {
            "rule" => self.lint(&fields, number).and_then(|()| self.rule(&fields)),
            _ => self.checker(&fields),
        };
        if let Err(fault) = read {
            self.fault(ProblemKind::SchemaValidation, fault);
        }
    }

    /// Reports doubtful names.
    fn lint(&mut self, fields: &Fields<'_, '_>, number: usize) -> Result<(), Fault> {
        let Some((names, _)) = fields.texts("toolName")? else { return Ok(()) };
        if self.tier == Tier::Default || fields.text("mcpName")?.is_some() {
            return Ok(());
        }
        for (message, suggestion) in names.iter().filter_map(|name| lint::name(number, name)) {
            let at = fields.fault("toolName", "").at;
            self.fault(ProblemKind::ToolName, Fault { at, message });
            if let Some(problem) = self.file.problems.last_mut() {
                problem.suggestion = suggestion;
            }
        }
        Ok(())
    }

    fn rule(&mut self, fields: &Fields<'_, '_>) -> Result<(), Fault> {
        let ruling = match fields.text("decision")?.as_deref() {
            Some(word) => Ruling::of_word(word).ok_or_else(|| {
                let message = format!("must be allow, deny or {}", Ruling::AskUser.as_str());
                fields.fault("decision", &message)
            })?,
            None => return Err(fields.fault("decision", "is required")),
        };
        let priority = Priority::new(self.tier, fields.priority()?);
        let conditions = self.conditions(fields)?;
        let line = self.line(fields.at);
        let source = RuleSource::file(self.tier, self.path, line);
        let rule = Rule {
            server: conditions.server,
            subagent: fields.text("subagent")?,
            annotations: fields.annotations()?,
            modes: fields.modes()?,
            interactive: fields.truth("interactive")?,
            allow_redirection: fields.either_truth("allowRedirection", "allow_redirection")?,
            confinement: fields.confinement()?,
            deny_message: fields.either_text("denyMessage", "deny_message")?,
            ..Rule::new(ToolPattern::All, ruling, priority, source)
        };
        if rule.subagent.as_deref() == Some("") {
            let fault = fields.fault("subagent", "must not be empty");
            self.fault(ProblemKind::RuleValidation, fault);
        }
        for tool in conditions.tools {
            for pattern in &conditions.patterns {
                if self.file.rules.len() >= MAX_RULES {
                    let message = format!("The file has more than {MAX_RULES} rules");
                    return Err(Fault { at: fields.at, message });
                }
                let (tool, pattern) = (tool.clone(), pattern.clone());
                self.file.rules.push(Rule { tool, pattern, ..rule.clone() });
            }
        }
        Ok(())
    }

    fn checker(&mut self, fields: &Fields<'_, '_>) -> Result<(), Fault> {
        let checker = Checker::read(fields)?;
        let priority = fields.integer("priority")?.unwrap_or(0);
        let conditions = self.conditions(fields)?;
        let line = self.line(fields.at);
        let rule = Rule {
            server: conditions.server,
            annotations: fields.annotations()?,
            modes: fields.modes()?,
            ..Rule::new(
                ToolPattern::All,
                Ruling::AskUser,
                Priority::new(self.tier, 0),
                RuleSource::file(self.tier, self.path, line),
            )
        };
        for tool in conditions.tools {
            for pattern in &conditions.patterns {
                let (tool, pattern) = (tool.clone(), pattern.clone());
                let rule = Rule { tool, pattern, ..rule.clone() };
                let checker = checker.clone();
                self.file.checkers.push(CheckerRule { rule, priority, checker });
            }
        }
        Ok(())
    }

    fn conditions(&mut self, fields: &Fields<'_, '_>) -> Result<Conditions, Fault> {
        let Some((names, is_list)) = fields.texts("toolName")? else {
            return Err(fields.fault("toolName", "is required"));
        };
        let server = fields.text("mcpName")?;
        if names.iter().any(String::is_empty) {
            let fault = fields.fault("toolName", "must not be empty");
            self.fault(ProblemKind::RuleValidation, fault);
        }
        if server.as_deref() == Some("") {
            let fault = fields.fault("mcpName", "must not be empty");
            self.fault(ProblemKind::RuleValidation, fault);
        }
        let arguments = fields.text("argsPattern")?;
        let prefixes = fields.texts("commandPrefix")?.map(|(prefixes, _)| prefixes);
        let regex = fields.text("commandRegex")?;
        let own = fields.texts("polluxPrefix")?.map(|(prefixes, _)| prefixes);
        let is_of_commands = prefixes.is_some() || regex.is_some();
        if own.is_some() && !is_of_commands {
            // Gemini CLI ignores the field and would treat the rule as unconditional.
            let message = "needs commandRegex or commandPrefix in the same rule, for Gemini CLI";
            let fault = fields.fault("polluxPrefix", message);
            self.fault(ProblemKind::RuleValidation, fault);
        }
        let given = [arguments.is_some(), prefixes.is_some(), regex.is_some()];
        if given.iter().filter(|given| **given).count() > 1 {
            let message = "argsPattern, commandPrefix and commandRegex cannot be combined";
            self.fault(
                ProblemKind::RuleValidation,
                Fault { at: fields.at, message: message.into() },
            );
        } else if is_of_commands
            && (is_list || names.iter().any(|name| current_name(name) != SHELL))
        {
            let message = format!("commandPrefix and commandRegex need toolName = \"{SHELL}\"");
            self.fault(ProblemKind::RuleValidation, Fault { at: fields.at, message });
        }
        let patterns = if let Some(prefixes) = own.or(prefixes) {
            prefixes.iter().map(|prefix| Some(Pattern::Prefix(Prefix::new(prefix)))).collect()
        } else if let Some(regex) = regex {
            self.expression(fields, "commandRegex", &regex, Expression::at_start)
                .map(Pattern::Command)
                .map(Some)
                .into_iter()
                .collect()
        } else if let Some(arguments) = arguments {
            self.expression(fields, "argsPattern", &repaired(&arguments), Expression::new)
                .map(Pattern::Arguments)
                .map(Some)
                .into_iter()
                .collect()
        } else if fields.text("writes")?.as_deref() == Some("plans") && self.tier == Tier::Default {
            vec![Some(Pattern::Plans)]
        } else {
            vec![None]
        };
        let tools = names.iter().map(|name| ToolPattern::new(name, server.as_deref())).collect();
        Ok(Conditions { tools, server, patterns })
    }

    fn expression(
        &mut self,
        fields: &Fields<'_, '_>,
        key: &str,
        pattern: &str,
        parse: fn(&str) -> Result<Expression, ExpressionError>,
    ) -> Option<Expression> {
        let expression = if pattern.len() > MAX_PATTERN_LENGTH {
            Err(format!("it is longer than {MAX_PATTERN_LENGTH} bytes"))
        } else {
            parse(pattern).map_err(|error| error.to_string())
        };
        match expression {
            Ok(expression) => Some(expression),
            Err(error) => {
                let fault = fields.fault(key, &format!("is not a valid pattern: {error}"));
                self.fault(ProblemKind::RegexCompilation, fault);
                None
            }
        }
    }
}

/// Repairs a pattern: Gemini CLI has saved approvals of files with a backslash and a zero in place
/// of a NUL.
fn repaired(pattern: &str) -> String {
    match pattern.strip_prefix(r"\\0").and_then(|rest| rest.strip_suffix(r"\\0")) {
        Some(inner) => format!(r"\x00{inner}\x00"),
        None => pattern.to_owned(),
    }
}

#[cfg(test)]
mod tests;
