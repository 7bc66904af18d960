//! What the settings take away from the model (`tools.exclude`, `tools.core`) or let it have only with a
//! person's yes (`tools.confirmationRequired`).

use std::collections::HashSet;

/// Names that old settings use for a tool, beside its own.
const ALIASES: &[(&str, &str)] = &[
    ("search_file_content", "grep_search"),
    ("ShellTool", "run_shell_command"),
    ("ReadFileTool", "read_file"),
    ("WriteFileTool", "write_file"),
    ("EditTool", "replace"),
    ("LSTool", "list_directory"),
    ("GlobTool", "glob"),
    ("GrepTool", "grep_search"),
    ("RipGrepTool", "grep_search"),
];

/// Tools that the settings exclude.
#[derive(Debug, Clone, Default)]
pub struct Exclusions {
    excluded: HashSet<String>,
    core: Option<HashSet<String>>,
    confirmed: HashSet<String>,
}

impl Exclusions {
    /// From the lists of the settings. Rules with arguments are not there yet, and an entry with some, such
    /// as `run_shell_command(rm)`, counts on the safe side: in `exclude` it takes the whole tool away, in
    /// `core` it admits nothing.
    pub fn new(exclude: &[String], core: Option<&[String]>) -> Self {
        Self {
            excluded: exclude.iter().map(|entry| tool_name(entry)).collect(),
            core: core.map(|entries| {
                let whole = entries.iter().filter(|entry| !entry.contains('('));
                whole.map(|entry| tool_name(entry)).collect()
            }),
            confirmed: HashSet::new(),
        }
    }

    /// With tools that always need a person's yes (`tools.confirmationRequired`).
    #[must_use]
    pub fn confirming(mut self, tools: &[String]) -> Self {
        self.confirmed = tools.iter().map(|entry| tool_name(entry)).collect();
        self
    }

    /// True when the settings demand a person's yes, whatever the mode.
    pub fn must_confirm(&self, tool: &str) -> bool {
        self.confirmed.contains(tool)
    }

    /// True when the settings take this tool away.
    pub fn excludes(&self, tool: &str) -> bool {
        self.excluded.contains(tool) || self.core.as_ref().is_some_and(|core| !core.contains(tool))
    }
}

fn tool_name(entry: &str) -> String {
    let name = entry.split('(').next().unwrap_or(entry).trim().trim_start_matches('_');
    let found = ALIASES.iter().find(|(alias, _)| *alias == name);
    found.map_or(name, |(_, tool)| tool).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_classes_aliases_and_arguments() {
        let list = ["ShellTool(rm -rf)", "search_file_content", "glob"].map(str::to_owned);
        let exclusions = Exclusions::new(&list, None);
        for tool in ["run_shell_command", "grep_search", "glob"] {
            assert!(exclusions.excludes(tool), "{tool}");
        }
        assert!(!exclusions.excludes("read_file"));
        let exclusions = Exclusions::new(&[], Some(&list));
        assert!(exclusions.excludes("run_shell_command"), "arguments admit nothing");
        assert!(!exclusions.excludes("glob"));
        assert!(exclusions.excludes("read_file"));
    }
}
