//! Syntax of the texts in `prompts/`, and of a user's own system instruction.
//!
//! In the built-in texts, a line may begin with a condition such as `{if interactive !plan} `, and
//! is included if every word of the condition holds. `{name}` stands for a value. In the user's
//! text, `${Name}` stands for a value, as in Gemini CLI. Each text is processed once from start to
//! end: an inserted value is never processed again.

/// Flags for conditions, and values for placeholders.
pub(super) struct Facts {
    pub(super) flags: Vec<(&'static str, bool)>,
    pub(super) values: Vec<(&'static str, String)>,
}

impl Facts {
    /// True if a condition holds. An unknown condition does not hold.
    pub(super) fn holds(&self, flag: &str) -> bool {
        self.flags.iter().any(|(name, holds)| *name == flag && *holds)
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

/// Returns the lines whose condition holds, with placeholders replaced by values.
pub(super) fn render(text: &str, facts: &Facts) -> String {
    let mut rendered = String::with_capacity(text.len());
    for line in text.lines() {
        let (condition, words) = condition(line);
        if condition.split_whitespace().all(|word| is_met(word, facts)) {
            replace(words, "{", |name| facts.value(name).map(str::to_owned), &mut rendered);
            rendered.push('\n');
        }
    }
    rendered
}

/// Returns the condition at the start of a line, and the rest of the line.
pub(super) fn condition(line: &str) -> (&str, &str) {
    let split = line.strip_prefix("{if ").and_then(|rest| rest.split_once('}'));
    let (condition, words) = split.unwrap_or(("", line));
    let words = if split.is_some() { words.strip_prefix(' ').unwrap_or(words) } else { words };
    (condition, words)
}

fn is_met(word: &str, facts: &Facts) -> bool {
    match word.strip_prefix('!') {
        Some(flag) => !facts.holds(flag),
        None => facts.holds(word),
    }
}

/// Returns the user's text with each `${…}` replaced: a block by its name, the tools as a list,
/// and the name of each tool by `NAME_ToolName`.
pub(super) fn substitute(words: &str, blocks: &[(&str, String)], tools: &[&str]) -> String {
    let meant = |name: &str| {
        if name == "AvailableTools" {
            return Some(tool_list(tools));
        }
        let tool = name.strip_suffix("_ToolName").filter(|tool| tools.contains(tool));
        let block = blocks.iter().find(|(known, _)| *known == name);
        tool.map(str::to_owned).or_else(|| block.map(|(_, block)| block.clone()))
    };
    let mut substituted = String::with_capacity(words.len());
    replace(words, "${", meant, &mut substituted);
    substituted
}

fn tool_list(tools: &[&str]) -> String {
    if tools.is_empty() {
        return "No tools are currently available.".to_owned();
    }
    let lines: Vec<String> = tools.iter().map(|tool| format!("- {tool}")).collect();
    lines.join("\n")
}

/// Copies `text`, with each placeholder between `open` and `}` replaced. An unknown placeholder
/// stays unchanged.
fn replace(text: &str, open: &str, meant: impl Fn(&str) -> Option<String>, output: &mut String) {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        output.push_str(before);
        let known = after.split_once('}').and_then(|(name, after)| Some((meant(name)?, after)));
        if let Some((value, after)) = known {
            output.push_str(&value);
            rest = after;
        } else {
            output.push_str(open);
            rest = after;
        }
    }
    output.push_str(rest);
}

/// Returns the text with at most one consecutive empty line.
pub(super) fn without_gaps(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut breaks = 0;
    for character in text.chars() {
        breaks = if character == '\n' { breaks + 1 } else { 0 };
        if breaks <= 2 {
            kept.push(character);
        }
    }
    kept
}
