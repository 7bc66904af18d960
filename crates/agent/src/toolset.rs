//! The registry of tools: look-up, declarations, suggestions.

use std::sync::Arc;

use pollux_protocol::{Declaration, Tool};

/// Longer names are not compared: a model that sends one is not close to anything.
const LONGEST_COMPARED: usize = 64;

/// Names that tools had in older versions of Gemini CLI; recordings and policies still use them.
const OLD_NAMES: &[(&str, &str)] = &[("search_file_content", "grep_search")];

/// The tools on offer. Order is declaration order. Copies are cheap, so that a subagent may have its
/// own.
#[derive(Clone, Default)]
pub struct Toolset {
    tools: Vec<Arc<dyn Tool>>,
}

impl Toolset {
    /// A set of these tools, in this order.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        let mut set = Self::default();
        for tool in tools {
            set.insert(tool);
        }
        set
    }

    /// Adds a tool; one of the same name is replaced where it stands.
    pub fn insert(&mut self, tool: Arc<dyn Tool>) {
        match self.tools.iter_mut().find(|known| known.name() == tool.name()) {
            Some(known) => *known = tool,
            None => self.tools.push(tool),
        }
    }

    /// Keeps only the tools that pass.
    pub fn retain(&mut self, keep: impl Fn(&dyn Tool) -> bool) {
        self.tools.retain(|tool| keep(tool.as_ref()));
    }

    /// The tool of this name, or of the name that it had in older versions.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        let found = |name: &str| self.tools.iter().find(|tool| tool.name() == name);
        found(name).or_else(|| {
            let (_, today) = OLD_NAMES.iter().find(|(old, _)| *old == name)?;
            found(today)
        })
    }

    /// All tools in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.iter()
    }

    /// The declarations in order.
    pub fn declarations(&self) -> Arc<[Declaration]> {
        self.tools.iter().map(|tool| tool.declaration()).collect()
    }

    /// What the model is told when it asks for a tool that is not there: the three nearest names.
    pub fn not_found(&self, name: &str) -> String {
        let mut names: Vec<(usize, &str)> = self
            .tools
            .iter()
            .filter(|_| name.len() <= LONGEST_COMPARED)
            .map(|tool| (distance(name, tool.name()), tool.name()))
            .collect();
        names.sort_by_key(|(distance, _)| *distance);
        let nearest: Vec<String> =
            names.iter().take(3).map(|(_, name)| format!("\"{name}\"")).collect();
        let shown: String = name.chars().take(LONGEST_COMPARED).collect();
        match nearest.as_slice() {
            [] => format!("Tool \"{shown}\" not found."),
            [one] => format!("Tool \"{shown}\" not found. Did you mean {one}?"),
            several => {
                format!("Tool \"{shown}\" not found. Did you mean one of: {}?", several.join(", "))
            }
        }
    }
}

/// Levenshtein distance in characters.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, a) in left.chars().enumerate() {
        let mut diagonal = line;
        row[0] = line + 1;
        for (column, b) in right.iter().enumerate() {
            let substitution = diagonal + usize::from(a != *b);
            diagonal = row[column + 1];
            row[column + 1] = substitution.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        let table =
            [("", "", 0), ("a", "", 1), ("kitten", "sitting", 3), ("read_fil", "read_file", 1)];
        for (left, right, expected) in table {
            assert_eq!(distance(left, right), expected, "{left} {right}");
            assert_eq!(distance(right, left), expected, "{right} {left}");
        }
    }
}
