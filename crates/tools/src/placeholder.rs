//! Finds `// rest of code ...` and similar lines: signs that a model has omitted text.

/// Phrases before the dots, in lower case.
const OMISSIONS: [&str; 7] = [
    "rest of",
    "rest of method",
    "rest of methods",
    "rest of code",
    "unchanged code",
    "unchanged method",
    "unchanged methods",
];

/// Returns the lines of `text` that stand for omitted text (the rules of Gemini CLI 0.61): an
/// optional `//`, optional parentheses, one of seven phrases, three dots or more, and nothing more.
pub(crate) fn omissions(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| is_omission(line))
}

fn is_omission(line: &str) -> bool {
    // Lines with such a phrase are short, so long lines need not be checked.
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
