//! The man page (section 1). Options and subcommands come from the declaration of the parser.

use std::fmt::Write as _;

use clap::Command;
use clap_mangen::Man;

use super::flags;

/// Name of the program.
const PROGRAM: &str = "pollux";

/// Entries of a section: term and text.
type Entries = &'static [(&'static str, &'static str)];

const EXIT_STATUS: Entries = &[
    ("0", "Success"),
    ("1", "Wrong arguments, an API error in text mode, or an error without a code of its own"),
    ("41", "No credentials, or credentials of another kind than the enforced one"),
    ("42", "No prompt, an unknown session, or a line that is neither a subcommand nor a prompt"),
    ("44", "A sandbox is requested, and sandboxes are not available"),
    (
        "52",
        "Broken settings, policies, prices or trust file; a bad address of a proxy or a service",
    ),
    ("53", "The limit of turns was reached"),
    (
        "54",
        "The disk is full, the session log could not be written, or a change of a protected file cannot be undone",
    ),
    ("55", "An approval mode is requested that an untrusted folder does not permit"),
    ("56", "The model was in a loop"),
    ("57", "A limit of the budget was reached"),
    ("58", "The answer does not satisfy --output-schema"),
    ("59", "The answer was cut off at the output limit of a model other than Gemini"),
    ("60", "The quota of the model is used up"),
    ("61", "The service limited the rate, was overloaded or failed, on all attempts"),
    ("62", "The service could not be reached"),
    ("125, 127", "Only for sandbox run: the level is not available; the program cannot be started"),
    ("129, 130, 143", "Ended by SIGHUP, SIGINT, SIGTERM"),
];

const FILES: Entries = &[
    ("~/.gemini/settings.json, .gemini/settings.json", "Settings of the user and of the project"),
    ("/etc/gemini-cli/settings.json", "Settings of the system, which override all others"),
    ("~/.gemini/GEMINI.md, GEMINI.md", "Context files: text that every conversation begins with"),
    ("~/.gemini/.env, .env", "Variables"),
    ("~/.gemini/policies, .gemini/policies", "Rules for tool calls"),
    ("~/.gemini/trustedFolders.json", "Trusted folders"),
    ("~/.gemini/tmp", "Sessions and other state of each project"),
    (
        "~/.gemini/pollux",
        "State that Gemini CLI does not have: consent, approvals, prices, budgets",
    ),
];

const ENVIRONMENT: Entries = &[
    ("GEMINI_API_KEY", "Key of the Gemini API"),
    ("GEMINI_MODEL", "Model, if --model is not given"),
    ("GOOGLE_GEMINI_BASE_URL", "Address of a gateway in front of the Gemini API"),
    (
        "OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL",
        "Access to a server with an OpenAI-compatible API",
    ),
    (
        "ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, ANTHROPIC_MODEL",
        "Access to Anthropic's API, or to a server with the same API",
    ),
    (
        "GEMINI_CLI_TRUST_WORKSPACE",
        "true or false: whether the current folder is trusted for this run",
    ),
    ("GEMINI_CLI_HOME", "Folder that contains .gemini instead of the home directory"),
    ("HTTPS_PROXY, NO_PROXY", "Proxy, and the hosts that are reached without it"),
    ("SSL_CERT_FILE, NODE_EXTRA_CA_CERTS", "Certificate authorities"),
    ("NO_COLOR", "Disables colours"),
];

/// Returns the page in roff.
pub(crate) fn man() -> Vec<u8> {
    let whole = flags::whole(PROGRAM).version(super::version());
    let subcommands = subcommands(&whole);
    let page = Man::new(whole);
    let mut roff = Vec::new();
    let rendered = page
        .render_title(&mut roff)
        .and_then(|()| page.render_name_section(&mut roff))
        .and_then(|()| page.render_synopsis_section(&mut roff))
        .and_then(|()| page.render_description_section(&mut roff))
        .and_then(|()| page.render_options_section(&mut roff));
    // Writing to memory does not fail.
    rendered.unwrap_or_default();
    roff.extend(subcommands.into_bytes());
    for (title, entries) in
        [("EXIT STATUS", EXIT_STATUS), ("FILES", FILES), ("ENVIRONMENT", ENVIRONMENT)]
    {
        roff.extend(section(title, entries.iter().copied()).into_bytes());
    }
    page.render_version_section(&mut roff).unwrap_or_default();
    roff
}

/// Returns the section about the subcommands, with their verbs.
fn subcommands(whole: &Command) -> String {
    let about =
        |command: &Command| command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut entries = Vec::new();
    for command in whole.get_subcommands() {
        entries.push((command.get_name().to_owned(), about(command)));
        for verb in command.get_subcommands() {
            entries.push((format!("{} {}", command.get_name(), verb.get_name()), about(verb)));
        }
    }
    section("SUBCOMMANDS", entries.iter().map(|(term, text)| (term.as_str(), text.as_str())))
}

fn section<'e>(title: &str, entries: impl Iterator<Item = (&'e str, &'e str)>) -> String {
    let mut roff = format!(".SH \"{title}\"\n");
    for (term, text) in entries {
        // Writing to a string cannot fail.
        let _infallible = write!(roff, ".TP\n\\fB{}\\fR\n{}\n", escaped(term), escaped(text));
    }
    roff
}

/// Returns a text of one line in roff. The escaped dashes can be copied as they are.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('-', "\\-");
    // A line that begins with a dot would be a request.
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn every_documented_exit_code_is_in_the_page() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/exit-codes.md");
        let page = std::fs::read_to_string(path).unwrap();
        let codes: Vec<&str> = page
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.split_once(" |"))
            .map(|(code, _)| code)
            .filter(|code| code.starts_with(|first: char| first.is_ascii_digit()))
            .collect();
        assert_eq!(EXIT_STATUS.iter().map(|(code, _)| *code).collect::<Vec<_>>(), codes);
    }

    #[test]
    fn the_page_has_all_sections() {
        let page = String::from_utf8(man()).unwrap();
        for text in [
            ".TH pollux 1",
            ".SH \"EXIT STATUS\"",
            "\\fB57\\fR",
            ".SH \"FILES\"",
            "~/.gemini",
            "GEMINI_API_KEY",
            "\\fBpolicy explain\\fR",
            "output\\-schema",
        ] {
            assert!(page.contains(text), "{text}\n{page}");
        }
        assert_eq!(escaped(".a-b"), "\\&.a\\-b");
    }
}
