//! The documentation, as a reader uses it: commands run, settings and policies are valid, links
//! lead somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use pollux_config::schema;
use pollux_testkit::{Endpoint, Finished, ModelServer, Pollux, TestHome, reply};
use serde_json::{Value, json};

mod command;
mod page;

use command::DocumentedCommand;
use page::{CodeBlock, Page, Passage};

/// Folders with the pages for users.
const FOR_USERS: &[&str] = &["", "docs"];

/// Folders with pages.
const ALL: &[&str] = &["", "docs", "docs/generated", "bench"];

/// Options in the pages that are not those of the program, or that its help does not list.
const OTHER_OPTIONS: &[&str] = &[
    "--acp",
    "--checkpoint-action",
    "--extensions",
    "--fake-responses",
    "--grep",
    "--no-sandbox",
    "--record-responses",
    "--sandbox",
    "--screen-reader",
    "--worktree",
];

/// Last line of the message about a command line with an error.
const USAGE_ERROR: &str = "For the usage:";

/// Reads the pages for users, without those for developers.
fn pages_for_users() -> Vec<Page> {
    let mut pages = page::pages(FOR_USERS);
    let developers = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "STYLE.md"];
    pages.retain(|page| developers.iter().all(|name| page.path != Path::new(name)));
    pages
}

/// Fails the test if there is a problem.
fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let pages = page::pages(ALL);
    let anchors: BTreeMap<&Path, BTreeSet<String>> =
        pages.iter().map(|page| (page.path.as_path(), page.anchors())).collect();
    let mut problems = Vec::new();
    for page in &pages {
        for Passage { line, text: link } in page.links() {
            if link.contains("://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let folder = page.path.parent().unwrap();
            let target = if file.is_empty() { page.path.clone() } else { joined(folder, file) };
            let exists = page::root().join(&target).exists();
            let known = anchors.get(target.as_path());
            if !exists || !anchor.is_empty() && !known.is_some_and(|known| known.contains(anchor)) {
                problems.push(format!("{}: {link} leads nowhere", page.position(line)));
            }
        }
    }
    assert_none(&problems);
}

#[test]
fn the_index_has_every_page() {
    let pages = page::pages(&["docs", "docs/generated"]);
    let index = pages.iter().find(|page| page.path == Path::new("docs/README.md")).unwrap();
    let links = index.links();
    let linked: BTreeSet<_> = links.iter().map(|link| Path::new("docs").join(&link.text)).collect();
    let is_missing = |page: &&Page| page.path != index.path && !linked.contains(&page.path);
    let missing = pages.iter().filter(is_missing).map(|page| page.path.display().to_string());
    assert_none(&missing.collect::<Vec<_>>());
}

/// Joins a link to the folder of its page.
fn joined(folder: &Path, link: &str) -> PathBuf {
    let mut path = folder.to_owned();
    for component in Path::new(link).components() {
        match component {
            Component::ParentDir => assert!(path.pop(), "{link} leaves the repository"),
            component => path.push(component),
        }
    }
    path
}

#[test]
fn every_command_of_the_pages_runs() {
    let mut problems = Vec::new();
    for page in pages_for_users() {
        let blocks = page.blocks();
        let in_blocks = blocks.iter().map(|block| (Place::Block, command::in_block(block)));
        let codes = page.inline_code();
        let in_codes = codes.iter().map(|code| (Place::Sentence, command::in_code(code)));
        for (place, commands) in in_blocks.chain(in_codes) {
            match commands {
                Ok(commands) => problems.extend(failures(&page, place, &commands)),
                Err(code) => {
                    let position = page.position(code.line);
                    problems.push(format!("{position}: no line of a shell: {}", code.text));
                }
            }
        }
    }
    assert_none(&problems);
}

/// Place of a command in its page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Block of commands to type.
    Block,
    /// Sentence or table, in which a command may be only the name of a subcommand.
    Sentence,
}

/// Runs commands one after the other in one home, and returns those that fail.
fn failures(page: &Page, place: Place, commands: &[DocumentedCommand]) -> Vec<String> {
    if commands.is_empty() {
        return Vec::new();
    }
    let desk = Desk::new();
    // Commands that continue or delete a session need one.
    let needs_session = |word: &String| ["--resume", "-r", "--delete-session"].contains(&&**word);
    if commands.iter().flat_map(|command| &command.words).any(needs_session) {
        desk.program().args(["-p", "first"]).run().assert_code(0);
    }
    let mut problems = Vec::new();
    for command in commands {
        let run = desk.run(command);
        let is_refused = run.stderr_text().contains(USAGE_ERROR);
        if is_refused && place == Place::Sentence && desk.has_subcommand(&command.words) {
            continue;
        }
        let expected = expected_codes(command);
        if is_refused
            || !expected.is_empty() && !expected.iter().any(|code| run.code == Some(*code))
        {
            let position = page.position(command.line);
            problems.push(format!("{position}: {:?}\n{}", command.words, run.report()));
        }
    }
    problems
}

/// Returns the exit codes that a documented command may have in a test; none if it may have any.
fn expected_codes(command: &DocumentedCommand) -> &'static [i32] {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    let value_of = |flags: [&str; 2]| {
        let place = words.iter().position(|word| flags.contains(word))?;
        words.get(place + 1).copied()
    };
    match words[..] {
        // The program is not a part of Pollux.
        ["sandbox", "run", ..] => return &[],
        // The setting has no value, or there is no such server or program.
        ["config", "get", ..] | ["mcp", "get" | "test" | "auth" | "enable" | "disable", ..] => {
            return &[0, 1];
        }
        // What is wrong depends on the machine.
        ["doctor", ..] => return &[0, 1],
        // There is no OAuth client.
        ["auth", "login"] => return &[41],
        _ => {}
    }
    // There are no Google credentials.
    if command.variables.iter().any(|(name, _)| name.starts_with("GOOGLE_GENAI_USE_")) {
        return &[41];
    }
    let vendor = value_of(["-m", "--model"]).and_then(|model| Some(model.split_once('/')?.0));
    match vendor {
        // Neither a key nor a connection, and no local server.
        Some(vendor) if vendor != "openai" => &[41, 62],
        _ if begins_conversation(&words) => &[42],
        _ => &[0],
    }
}

/// Returns true if a command needs a terminal.
fn begins_conversation(words: &[&str]) -> bool {
    match words {
        [] | ["-i" | "--prompt-interactive", ..] => true,
        [flag, rest @ ..] if ["-r", "--resume", "-m", "--model"].contains(flag) => {
            rest.len() < 2 || begins_conversation(&rest[1..])
        }
        [flag, rest @ ..] => flag.starts_with("--approval-mode=") && begins_conversation(rest),
    }
}

/// A home, a project, and a model with one answer.
struct Desk {
    home: TestHome,
    server: ModelServer,
}

impl Desk {
    fn new() -> Self {
        // It satisfies the schemas of the pages.
        const ANSWER: &str = r#"{"count": 3}"#;
        let (home, server) = (TestHome::new(), ModelServer::start());
        for endpoint in [Endpoint::StreamGenerateContent, Endpoint::GenerateContent] {
            server.answer_with(endpoint, |_| reply().text(ANSWER));
        }
        let choice = json!({"choices": [
            {"index": 0, "delta": {"content": ANSWER}, "finish_reason": "stop"}
        ]});
        let events = format!("data: {choice}\n\ndata: [DONE]\n\n").into_bytes();
        server.route("/v1/chat/completions", move |_| reply().status(200, events.clone()));
        let models = json!({"object": "list", "data": [{"id": "m", "object": "model"}]});
        server.route("/v1/models", move |_| reply().status(200, models.clone()));
        server.route("/v1beta/models", |_| reply().status(200, json!({"models": []})));
        home.project_file("README.md", "# Sample\n");
        home.project_file("src/main.rs", "fn main() {}\n");
        home.project_file("findings.json", "{\"type\": \"object\"}\n");
        home.project_file("ci.toml", "");
        let skill = "---\nname: pdf\ndescription: Fills forms\n---\nFill them.\n";
        home.project_file("my-skills/pdf/SKILL.md", skill);
        let extension = r#"{"name": "acme-tools", "version": "1.2.0"}"#;
        home.project_file("acme-tools/gemini-extension.json", extension);
        home.project_file(".claude/settings.json", "{\"hooks\": {}}");
        Self { home, server }
    }

    fn program(&self) -> Pollux {
        let program = Pollux::new(env!("CARGO_BIN_EXE_pollux")).home(&self.home);
        // A request to a real vendor must not leave this machine.
        let program = program.env("HTTPS_PROXY", "http://127.0.0.1:1").env("NO_PROXY", "127.0.0.1");
        let program = program.env("NO_GCE_CHECK", "true");
        program.server(&self.server).timeout(Duration::from_mins(2))
    }

    /// Returns true if the words are the name of a subcommand.
    fn has_subcommand(&self, words: &[String]) -> bool {
        self.program().args(["help"]).args(words).run().code == Some(0)
    }

    fn run(&self, command: &DocumentedCommand) -> Finished {
        let mut program = self.program().args(&command.words);
        for (name, value) in &command.variables {
            let is_address = name.ends_with("_BASE_URL");
            let address = format!("{}/v1", self.server.url());
            program = program.env(name, if is_address { &address } else { value });
        }
        if command.receives_input {
            program = program.stdin("text\n");
        }
        program.run()
    }
}

#[test]
fn every_option_of_the_pages_is_in_the_help() {
    let desk = Desk::new();
    let help_of = |words: &[&str]| desk.program().args(["help"]).args(words).run().stdout_text();
    let mut help = help_of(&[]);
    for subcommand in subcommands(&help) {
        let of_subcommand = help_of(&[&subcommand]);
        for verb in subcommands(&of_subcommand) {
            help.push_str(&help_of(&[&subcommand, &verb]));
        }
        help.push_str(&of_subcommand);
    }
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '-';
    let known: BTreeSet<&str> = help.split(|c| !is_name(c)).collect();
    let mut problems = Vec::new();
    for page in pages_for_users() {
        for Passage { line, text } in page.inline_code() {
            let options = text.split_whitespace().filter(|word| word.starts_with("--"));
            let names = options.map(|word| word.split(|c| !is_name(c)).next().unwrap_or_default());
            let of_others = !text.starts_with("pollux") && !text.starts_with("--");
            for name in names.filter(|name| name.len() > 2 && !of_others) {
                if !known.contains(name) && !OTHER_OPTIONS.contains(&name) {
                    let position = page.position(line);
                    problems.push(format!("{position}: there is no option {name}"));
                }
            }
        }
    }
    assert_none(&problems);
}

/// Returns the names under `Commands:` of a help.
fn subcommands(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let entries = lines.take_while(|line| !line.is_empty());
    // Further lines of a description are indented more.
    let entries = entries.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    entries.filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect()
}

#[test]
fn every_setting_of_the_pages_exists() {
    let groups: BTreeSet<&str> =
        schema::all().filter_map(|setting| Some(setting.key.split_once('.')?.0)).collect();
    let is_part = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric());
    let mut problems = Vec::new();
    for page in pages_for_users() {
        for Passage { line, text } in page.inline_code() {
            let name = text.split([':', ' ']).next().unwrap_or_default();
            let name = name.strip_suffix(".*").unwrap_or(name).replace("PERIOD", "session");
            let parts: Vec<&str> = name.split('.').collect();
            let is_file = ["json", "md", "sh", "toml"].contains(parts.last().unwrap());
            let is_setting = groups.contains(parts[0])
                && parts.len() > 1
                && parts.iter().all(|part| is_part(part))
                && !is_file;
            if is_setting && schema::owner(&name).is_none() && !schema::is_group(&name) {
                problems.push(format!("{}: there is no setting {name}", page.position(line)));
            }
        }
    }
    assert_none(&problems);
}

#[test]
fn every_example_of_settings_has_an_effect_and_every_policy_is_valid() {
    let mut problems = Vec::new();
    for page in pages_for_users() {
        for block in page.blocks() {
            problems.extend(
                problem_of_example(&block)
                    .map(|problem| format!("{}: {problem}", page.position(block.line))),
            );
        }
    }
    assert_none(&problems);
}

/// Returns what is wrong with a block of settings (`jsonc`) or policy rules (`toml`).
fn problem_of_example(block: &CodeBlock) -> Option<String> {
    let desk = Desk::new();
    match block.language.as_str() {
        "jsonc" => {
            desk.home.user_file("settings.json", &block.text);
            let run = desk.program().args(["config", "report", "--json"]).run();
            let report = run.json();
            let files = report["files"].as_array().unwrap();
            let is_good = |file: &Value| file["notRead"].is_null() && file["remarks"] == json!([]);
            (files.is_empty() || !files.iter().all(is_good)).then(|| report.to_string())
        }
        "toml" => {
            desk.home.user_file("policies/example.toml", &block.text);
            let run = desk.program().args(["policy", "lint"]).run();
            (run.code != Some(0)).then(|| run.report())
        }
        _ => None,
    }
}
