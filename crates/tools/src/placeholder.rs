//! Finds `// rest of code ...` and its like: a model that leaves text out instead of writing it.

/// What stands before the dots, in small letters.
const OMISSIONS: [&str; 7] = [
    "rest of",
    "rest of method",
    "rest of methods",
    "rest of code",
    "unchanged code",
    "unchanged method",
    "unchanged methods",
];

/// The lines of `text` that stand for text left out (the rules of Gemini CLI 0.61): an optional `//`, optional
/// parentheses, one of seven phrases, three dots or more, and nothing else.
pub(crate) fn omissions(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| is_omission(line))
}

fn is_omission(line: &str) -> bool {
    // Real text is mostly not this short; no need to look at long lines.
    if line.len() > 200 {
        return false;
    }
    let line = line.strip_prefix("//").unwrap_or(line).trim();
    let line = line.strip_prefix('(').and_then(|line| line.strip_suffix(')')).unwrap_or(line);
    let Some((before, after)) = line.split_once("...") else { return false };
    let words: Vec<String> = before.split_whitespace().map(str::to_lowercase).collect();
    OMISSIONS.contains(&words.join(" ").as_str()) && after.trim().chars().all(|dot| dot == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_lines_that_leave_something_out_count() {
        let omission = [
            "// rest of code ...",
            "(rest of methods...)",
            "Unchanged  CODE .....",
            "//rest of ...",
        ];
        for line in omission {
            assert_eq!(omissions(line).count(), 1, "{line}");
        }
        let honest = [
            "...",
            "// ...",
            "for the rest of code ...",
            "rest of code",
            "rest of code ... here",
            "let [a, ...rest] = b;",
            "",
        ];
        for line in honest {
            assert_eq!(omissions(line).count(), 0, "{line}");
        }
    }
}
