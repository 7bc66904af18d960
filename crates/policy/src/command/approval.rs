//! What "always" means for a command line: as little as is of use next time.

use std::fmt::Write as _;

use pollux_shell::analyse_in;

use super::matching::Coverage;
use super::part::Part;
use super::{classify, escapes, redirection, variables};
use crate::arguments;
use crate::expression::MAX_LENGTH;
use crate::policy::Policy;
use crate::subject::Query;

/// Programs whose first word says what they do.
const WITH_VERBS: &[&str] = &[
    "apt",
    "apt-get",
    "aws",
    "az",
    "brew",
    "bun",
    "bundle",
    "cargo",
    "composer",
    "dart",
    "deno",
    "dnf",
    "docker",
    "dotnet",
    "flutter",
    "gcloud",
    "gh",
    "git",
    "glab",
    "go",
    "gradle",
    "helm",
    "just",
    "kubectl",
    "make",
    "mvn",
    "npm",
    "npx",
    "nx",
    "pip",
    "pip3",
    "pnpm",
    "podman",
    "poetry",
    "rustup",
    "systemctl",
    "terraform",
    "turbo",
    "uv",
    "yarn",
];
/// Programs that run what their first word names.
const INTERPRETERS: &[&str] = &[
    "bash", "dash", "lua", "node", "perl", "php", "pwsh", "python", "python3", "Rscript", "ruby",
    "sh", "ssh", "zsh",
];
/// A verb behind which the next word says what is done.
const LEADING_VERBS: &[&str] = &["run", "run-script", "exec", "compose", "x", "dlx", "tool"];

/// What a rule may say so that it allows a line.
pub(crate) enum Narrow {
    /// Commands that begin with one of these.
    Prefixes(Vec<String>),
    /// This very line, as a pattern.
    Exactly(String),
}

/// The least that allows this line again; none when no rule can.
pub(crate) fn narrow(policy: &Policy, query: &Query<'_>, line: &str) -> Option<Narrow> {
    let analysis = analyse_in(line, policy.facts.dialect);
    let mode = pollux_protocol::ApprovalMode::Default;
    let redirects =
        redirection::in_question(&analysis, &policy.facts, mode, query.effects).next().is_some();
    let sets = variables::sensitive(&analysis.assignments, &policy.facts).is_some();
    if analysis.is_complete() && !redirects && !sets {
        let parts = Part::all(&analysis);
        if let Some(prefixes) = prefixes(&parts).filter(|prefixes| !prefixes.is_empty()) {
            return Some(Narrow::Prefixes(prefixes));
        }
    }
    let pattern = exactly(line);
    (pattern.len() <= MAX_LENGTH).then_some(Narrow::Exactly(pattern))
}

/// A pattern for `commandRegex` that fits this line only.
pub(crate) fn exactly(line: &str) -> String {
    let mut pattern = String::new();
    for letter in arguments::escaped(line.trim()).chars() {
        if letter.is_ascii() && !letter.is_ascii_alphanumeric() && letter != '_' {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    // The quote that ends the command.
    pattern.write_char('"').unwrap_or_default();
    pattern
}

/// One prefix for each command; none when a command cannot be told by its first words.
fn prefixes(parts: &[Part<'_>]) -> Option<Vec<String>> {
    let mut prefixes: Vec<String> = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let runs_another = parts.iter().any(|inner| inner.wrapper == Some(index));
        // Git is only asked about where it may do more than read: then the answer must name it.
        if runs_another || (classify::is_safe(part) && part.name() != "git") {
            continue;
        }
        let own = words_of(part)?;
        let words = match part.wrapper {
            None => own,
            Some(outer) => with_wrapper(&parts[outer], part, &own)?,
        };
        let prefix = words.join(" ");
        if !prefixes.contains(&prefix) {
            prefixes.push(prefix);
        }
    }
    Some(prefixes)
}

/// The wrapper with its options and the command that it runs, as they were written.
fn with_wrapper<'a>(outer: &Part<'a>, inner: &Part<'a>, own: &[&'a str]) -> Option<Vec<&'a str>> {
    if outer.wrapper.is_some() {
        return None;
    }
    let before = outer.words.len().checked_sub(inner.words.len())?;
    let ends = outer.shown.get(before..)? == inner.shown.as_slice();
    let whole: Option<Vec<&str>> = outer.words.get(..before + own.len())?.iter().copied().collect();
    whole.filter(|words| ends && words.iter().all(|word| is_plain(word)))
}

/// The words that say what a command does.
fn words_of<'a>(part: &Part<'a>) -> Option<Vec<&'a str>> {
    let name = part.name();
    let word =
        |at: usize| part.words.get(at).copied().flatten().filter(|word| !word.starts_with('-'));
    let mut words = vec![part.shown[0]];
    if WITH_VERBS.contains(&name) {
        let verb = word(1)?;
        words.push(verb);
        if LEADING_VERBS.contains(&verb) {
            words.push(word(2)?);
        }
    } else if INTERPRETERS.contains(&name) {
        words.push(word(1)?);
    }
    let has_odd_variables = part.environment.iter().any(|name| !variables::is_harmless(name));
    let covered = Coverage { words: words.len(), variables: false };
    let is_narrow = !has_odd_variables
        && !part.runs_code
        && !classify::is_dangerous(part)
        && escapes::escape_of(part, covered.words).is_none()
        && words.iter().all(|word| is_plain(word));
    is_narrow.then_some(words)
}

/// A word that means the same in a prefix and in a shell.
fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && word.chars().all(|letter| letter.is_alphanumeric() || "_-./:@,+%~".contains(letter))
}
