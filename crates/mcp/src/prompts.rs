//! Prompts of the servers as slash commands.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::plain_text::one_line;
use pollux_protocol::{CommandContext, CommandError, Content, PromptCommand, PromptInput, Role};
use rmcp::model::{
    ArgumentInfo, ClientRequest, CompleteRequest, CompleteRequestParams, ContentBlock,
    GetPromptRequest, GetPromptRequestParams, Prompt, PromptMessage, Reference, Role as Speaker,
    ServerResult,
};
use rmcp::service::PeerRequestOptions;
use serde_json::{Map, Value};

use crate::servers::{Connected, Server};
use crate::{request_error, result};

/// Time limit for completions, which a user waits for.
const COMPLETION_LIMIT: std::time::Duration = std::time::Duration::from_secs(2);
/// Maximum length of a description, in characters.
const LONGEST_DESCRIPTION: usize = 300;
/// Maximum number of completions that are shown.
const MOST_COMPLETIONS: usize = 100;

/// Prompt of a server.
pub struct ServerPrompt {
    server: Arc<Server>,
    /// Name of the command.
    name: String,
    description: String,
    /// Arguments as the help text shows them.
    usage: String,
    prompt: Prompt,
}

impl std::fmt::Debug for ServerPrompt {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ServerPrompt").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ServerPrompt {
    /// Returns the prompts of a server. Of several with the same name, the first counts.
    pub(crate) fn all(server: &Arc<Server>, prompts: Vec<Prompt>) -> Vec<Arc<Self>> {
        let mut all: BTreeMap<String, Arc<Self>> = BTreeMap::new();
        for prompt in prompts {
            let prompt = Self::new(server, prompt);
            if !prompt.name.is_empty() {
                all.entry(prompt.name.clone()).or_insert_with(|| Arc::new(prompt));
            }
        }
        all.into_values().collect()
    }

    fn new(server: &Arc<Server>, prompt: Prompt) -> Self {
        let description = prompt.description.as_ref().or(prompt.title.as_ref());
        let description = one_line(description.map_or("", String::as_str));
        let arguments = prompt.arguments.iter().flatten();
        let usage = arguments.map(|argument| {
            let name = one_line(&argument.name);
            if argument.required == Some(true) {
                format!("--{name}=VALUE")
            } else {
                format!("[--{name}=VALUE]")
            }
        });
        Self {
            server: Arc::clone(server),
            name: command_name(&prompt.name),
            description: description.chars().take(LONGEST_DESCRIPTION).collect(),
            usage: usage.collect::<Vec<_>>().join(" "),
            prompt,
        }
    }

    /// Returns true if the other prompt looks the same.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.prompt == other.prompt
    }

    /// Describes the arguments, each on a line.
    fn help(&self) -> String {
        let mut lines = vec![format!("/{} {}", self.name, self.usage).trim_end().to_owned()];
        lines.extend(Some(self.description.clone()).filter(|text| !text.is_empty()));
        lines.extend(self.prompt.arguments.iter().flatten().map(|argument| {
            let description = argument.description.as_deref().unwrap_or_default();
            let optional = if argument.required == Some(true) { "" } else { " (optional)" };
            format!("  --{}{optional}: {}", one_line(&argument.name), one_line(description))
        }));
        lines.join("\n")
    }

    async fn get(&self, arguments: Map<String, Value>) -> Result<Vec<PromptMessage>, String> {
        let connected = self.connected().await?;
        let mut params = GetPromptRequestParams::new(self.prompt.name.clone());
        params.arguments = (!arguments.is_empty()).then_some(arguments);
        let request = ClientRequest::GetPromptRequest(GetPromptRequest::new(params));
        let options = PeerRequestOptions::with_timeout(self.server.config.timeout);
        let sent = connected.peer.send_request_with_option(request, options).await;
        let handle = sent.map_err(|error| request_error::message(&error))?;
        let answer = handle.await_response().await;
        match answer.map_err(|error| request_error::message(&error))? {
            ServerResult::GetPromptResult(result) => Ok(result.messages),
            _ => Err("the answer is not valid".to_owned()),
        }
    }

    async fn connected(&self) -> Result<Connected, String> {
        let connected = self.server.in_use().await;
        connected.ok_or_else(|| "the server is not connected. See /mcp".to_owned())
    }

    /// Returns the server's completions of an argument's value.
    async fn values(&self, argument: &str, value: &str) -> Option<Vec<String>> {
        let connected = self.connected().await.ok()?;
        let reference = Reference::for_prompt(self.prompt.name.clone());
        let argument = ArgumentInfo::new(argument, value);
        let params = CompleteRequestParams::new(reference, argument);
        let request = ClientRequest::CompleteRequest(CompleteRequest::new(params));
        let options = PeerRequestOptions::with_timeout(COMPLETION_LIMIT);
        let sent = connected.peer.send_request_with_option(request, options).await.ok()?;
        match sent.await_response().await.ok()? {
            ServerResult::CompleteResult(result) => Some(result.completion.values),
            _ => None,
        }
    }
}

#[async_trait]
impl PromptCommand for ServerPrompt {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn arguments(&self) -> Option<&str> {
        (!self.usage.is_empty()).then_some(self.usage.as_str())
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        let start = partial.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let (head, word) = partial.split_at(start);
        let names = self.prompt.arguments.iter().flatten().map(|argument| argument.name.as_str());
        let assigned = word.strip_prefix("--").and_then(|rest| rest.split_once('='));
        if let Some((name, value)) = assigned {
            if !names.clone().any(|known| known == name) {
                return Vec::new();
            }
            let value = value.trim_matches('"');
            let values = self.values(name, value).await.unwrap_or_default().into_iter();
            return values
                .take(MOST_COMPLETIONS)
                .map(|value| format!("{head}--{name}={}", quoted(&one_line(&value))))
                .collect();
        }
        let unused = names.filter(|name| !head.contains(&format!("--{name}=")));
        let options = unused.map(|name| format!("--{name}="));
        options
            .filter(|option| option.starts_with(word))
            .map(|one| format!("{head}{one}"))
            .collect()
    }

    async fn expand(&self, context: &CommandContext) -> Result<PromptInput, CommandError> {
        if context.arguments == "help" {
            return Err(CommandError(self.help()));
        }
        let explain = |problem: String| {
            let server = &self.server.config.name;
            CommandError(format!("Prompt '{}' of MCP server '{server}': {problem}", self.name))
        };
        let known = self.prompt.arguments.as_deref().unwrap_or_default();
        let required: Vec<&str> = known
            .iter()
            .filter(|argument| argument.required == Some(true))
            .map(|argument| argument.name.as_str())
            .collect();
        let names: Vec<&str> = known.iter().map(|argument| argument.name.as_str()).collect();
        let arguments = read(&context.arguments, &names, &required).map_err(CommandError)?;
        let messages = self.get(arguments).await.map_err(explain)?;
        as_prompt(messages).ok_or_else(|| explain("the server returned no message".to_owned()))
    }
}

/// Returns the messages of a prompt in their roles: the last ones of the user are the prompt, and
/// the others precede it. Returns `None` if there is no content.
///
/// A message of the assistant stays one if it is text, because vendors accept nothing else from it,
/// and if the user's prompt follows, because a conversation continues with the user. Otherwise its
/// content becomes the user's.
fn as_prompt(messages: Vec<PromptMessage>) -> Option<PromptInput> {
    let last = messages.iter().rposition(|message| message.role == Speaker::User);
    let mut dialogue: Vec<Content> = Vec::new();
    for (at, message) in messages.into_iter().enumerate() {
        let is_text = matches!(message.content, ContentBlock::Text(_));
        let parts = result::prompt_parts(message.content);
        let is_model =
            message.role == Speaker::Assistant && is_text && last.is_some_and(|last| at < last);
        let role = if is_model { Role::Model } else { Role::User };
        match dialogue.last_mut() {
            Some(before) if before.role == role => before.parts.extend(parts),
            _ => dialogue.push(Content { role, parts }),
        }
    }
    dialogue.retain(|message| !message.parts.is_empty());
    let prompt = dialogue.pop()?;
    Some(PromptInput { earlier: dialogue, ..prompt.parts.into() })
}

/// Returns the name of a prompt's command: white space and control characters become hyphens.
fn command_name(prompt: &str) -> String {
    let name = one_line(prompt);
    let name: Vec<&str> = name.split_whitespace().collect();
    name.join("-").trim_start_matches('/').to_owned()
}

/// Puts a value into quotes if it has blanks.
fn quoted(value: &str) -> String {
    if value.is_empty() || value.contains([' ', '"']) {
        format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        value.to_owned()
    }
}

/// Reads the arguments of a command: `--name=value`, `--name="a value"`, and words for the required
/// arguments that remain, in their order. If only one remains, it gets all words.
///
/// # Errors
/// A message for the user.
fn read(line: &str, names: &[&str], required: &[&str]) -> Result<Map<String, Value>, String> {
    let mut values = Map::new();
    let mut words = Vec::new();
    for word in words_of(line) {
        let assigned = word.strip_prefix("--").and_then(|rest| rest.split_once('='));
        match assigned {
            Some((name, value)) if names.contains(&name) => {
                values.insert(name.to_owned(), Value::from(value));
            }
            Some((name, _)) => {
                let known: Vec<String> = names.iter().map(|name| format!("--{name}")).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(format!("Unknown argument: --{name}. Arguments: {known}"));
            }
            None => words.push(word),
        }
    }
    let open: Vec<&str> =
        required.iter().copied().filter(|name| !values.contains_key(*name)).collect();
    if let [only] = open[..]
        && !words.is_empty()
    {
        values.insert(only.to_owned(), Value::from(words.join(" ")));
    } else {
        let given = open.iter().zip(words);
        values.extend(given.map(|(name, word)| ((*name).to_owned(), Value::from(word))));
    }
    let missing = required.iter().filter(|name| !values.contains_key(**name));
    let missing: Vec<String> = missing.map(|name| format!("--{name}")).collect();
    if missing.is_empty() {
        Ok(values)
    } else {
        Err(format!("Missing required argument(s): {}", missing.join(", ")))
    }
}

/// Splits a line into words. Double quotes keep blanks together, also in the middle of a word; a
/// backslash before a quote or a backslash stands for that character.
fn words_of(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut is_quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            '\\' if matches!(characters.peek(), Some('"' | '\\')) => {
                word.get_or_insert_default().extend(characters.next());
            }
            blank if blank.is_whitespace() && !is_quoted => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use pollux_protocol::Part;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_named_or_fill_what_is_required() {
        let names = ["a", "b", "c"];
        for (line, required, expected) in [
            ("", &[][..], json!({})),
            ("--a=1 --b=\"x y\"", &[], json!({"a": "1", "b": "x y"})),
            ("one two words", &["a"], json!({"a": "one two words"})),
            ("one two", &["a", "b"], json!({"a": "one", "b": "two"})),
            ("two --a=1", &["a", "b"], json!({"a": "1", "b": "two"})),
            ("\"one more\" two", &["a", "b"], json!({"a": "one more", "b": "two"})),
            (r#"--c="say \"hi\" \\ now""#, &[], json!({"c": "say \"hi\" \\ now"})),
            ("--c=", &[], json!({"c": ""})),
            ("--c=a=b", &[], json!({"c": "a=b"})),
            ("words that nothing takes", &[], json!({})),
            ("--flag x", &["a"], json!({"a": "--flag x"})),
        ] {
            let values = read(line, &names, required).map(Value::Object);
            assert_eq!(values, Ok(expected), "{line}");
        }
        assert_eq!(
            read("--a=1", &names, &["a", "b", "c"]),
            Err("Missing required argument(s): --b, --c".to_owned())
        );
        assert_eq!(
            read("--x=1", &["a"], &[]),
            Err("Unknown argument: --x. Arguments: --a".to_owned())
        );
    }

    #[test]
    fn messages_keep_their_roles() {
        let user = |text: &str| PromptMessage::new(Speaker::User, ContentBlock::text(text));
        let assistant =
            |text: &str| PromptMessage::new(Speaker::Assistant, ContentBlock::text(text));
        let text = |text: &str| Part::text(text);
        for (messages, earlier, parts) in [
            (vec![], vec![], None),
            (vec![user("a"), user("b")], vec![], Some(vec![text("a"), text("b")])),
            (
                vec![user("a"), assistant("b"), user("c")],
                vec![Content::user(vec![text("a")]), Content::model(vec![text("b")])],
                Some(vec![text("c")]),
            ),
            (
                vec![assistant("a"), user("b"), assistant("c")],
                vec![Content::model(vec![text("a")])],
                Some(vec![text("b"), text("c")]),
            ),
            (vec![assistant("a")], vec![], Some(vec![text("a")])),
        ] {
            let expected = parts.map(|parts| PromptInput { earlier, ..parts.into() });
            assert_eq!(as_prompt(messages), expected);
        }
    }

    #[test]
    fn the_name_of_a_command_is_one_word() {
        for (prompt, name) in
            [("review code", "review-code"), ("a\nb\u{1b}c", "a-b-c"), ("/x", "x"), (" ", "")]
        {
            assert_eq!(command_name(prompt), name);
        }
    }

    proptest::proptest! {
        #[test]
        fn a_completed_value_is_read_back(value in "[^\\s]([^\\n\\t]*[^\\s])?") {
            let line = format!("--a={}", quoted(&value));
            // Only blanks and quotes need care: other white space is not among completions.
            if !value.chars().any(|c| c.is_whitespace() && c != ' ') && !value.contains('\\') {
                let values = read(&line, &["a"], &[]).unwrap();
                proptest::prop_assert_eq!(values["a"].as_str(), Some(value.as_str()));
            }
        }
    }
}
