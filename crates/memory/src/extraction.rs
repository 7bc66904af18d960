//! Extraction of memory from finished conversations: the request to a model, and the reading of its
//! answer.
//!
//! The functions are pure. The conversations are untrusted input, and therefore the answer is, too:
//! the model has no tools, and its proposals are data of bounded size and form. The program stores
//! the proposals, and ensures that they have no effect before the user approves them.

use pollux_protocol::plain_text::{harmless, one_line};
use pollux_protocol::{
    Body, Content, EntryId, HistoryEntry, JsonRequest, ModelRequest, ModelRole, Part, Role, Speaker,
};
use serde_json::{Value, json};

#[cfg(test)]
mod tests;

const INSTRUCTION: &str = include_str!("../prompts/extraction.md");
/// Name of the prompt in measurements.
const PROMPT_ID: &str = "auto-memory";
/// Maximum number of attempts when the model returns no usable JSON.
const ATTEMPTS: u32 = 2;

/// Maximum number of characters that are shown of one conversation.
const SHOWN: usize = 40_000;
/// Maximum number of characters that are shown of one message, of one call, and of one result.
const SHOWN_WORDS: usize = 2000;
const SHOWN_CALL: usize = 200;
const SHOWN_RESULT: usize = 300;
/// Maximum number of characters that are shown of existing notes.
const SHOWN_KNOWN: usize = 40_000;

/// Limits for one answer: numbers of skills and facts, and their lengths.
const SKILLS: usize = 3;
const FACTS: usize = 10;
const FACT_LENGTH: usize = 300;
const SKILL_NAME: usize = 50;
const SKILL_LENGTH: usize = 20_000;
/// Names that the commands for reviewing proposals use for something else.
const TAKEN: [&str; 4] = ["private", "global", "project", "all"];

/// Conversation that the model reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Transcript {
    /// Id of the session.
    pub(crate) id: String,
    /// Text of the conversation.
    pub(crate) text: String,
}

/// Proposals for the user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Proposals {
    /// Skills for this project.
    pub(crate) skills: Vec<ProposedSkill>,
    /// Sentences for the user's private notes on this project.
    pub(crate) private: Vec<String>,
    /// Sentences for the user's context file for all projects.
    pub(crate) global: Vec<String>,
}

/// Proposed skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProposedSkill {
    /// Name of letters, digits and hyphens: safe as the name of a folder.
    pub(crate) name: String,
    /// Situations in which the skill applies, on one line.
    pub(crate) description: String,
    /// Instructions of the skill.
    pub(crate) body: String,
}

impl ProposedSkill {
    /// Returns the content of the skill's `SKILL.md`.
    pub(crate) fn to_markdown(&self) -> String {
        // Every JSON string is also a valid YAML string.
        let description = Value::from(self.description.as_str());
        format!("---\nname: {}\ndescription: {description}\n---\n\n{}\n", self.name, self.body)
    }
}

/// Returns the number of messages that the user wrote in a conversation.
pub(crate) fn messages<'a>(contents: impl IntoIterator<Item = (&'a str, &'a Content)>) -> usize {
    contents.into_iter().filter(|(id, content)| is_prompt(id, content)).count()
}

fn is_prompt(id: &str, content: &Content) -> bool {
    content.role == Role::User
        && id != EntryId::CONTEXT
        && content.responses().next().is_none()
        && content.parts.iter().any(|part| part.as_text().is_some())
}

/// Returns a conversation as text. The middle of a long conversation is cut out.
pub(crate) fn transcript<'a>(
    id: &str,
    contents: impl IntoIterator<Item = (&'a str, &'a Content)>,
) -> Transcript {
    let mut text = String::new();
    for (entry, content) in contents {
        if entry == EntryId::CONTEXT {
            continue;
        }
        let speaker = match content.role {
            Role::User => Speaker::User,
            Role::Model => Speaker::Model,
        };
        for line in content.parts.iter().filter_map(|part| reported(speaker, part)) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    Transcript { id: id.to_owned(), text: cut(&text, SHOWN) }
}

fn reported(speaker: Speaker, part: &Part) -> Option<String> {
    if part.thought {
        return None;
    }
    match &part.body {
        Body::Text(words) => Some(format!("{}: {}", speaker.as_str(), cut(words, SHOWN_WORDS))),
        Body::Call(call) => {
            Some(format!("call: {} {}", call.name, cut(&call.args.to_string(), SHOWN_CALL)))
        }
        Body::Response(answer) => {
            Some(format!("result: {}", cut(&answer.response.to_string(), SHOWN_RESULT)))
        }
        _ => None,
    }
}

/// Returns the beginning and the end of a text of more than `limit` characters.
fn cut(text: &str, limit: usize) -> String {
    let length = text.chars().count();
    if length <= limit {
        return text.to_owned();
    }
    let half = limit / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(length - half).collect();
    format!("{head} [...] {tail}")
}

/// Returns the request to the model. `index` names all existing sessions, `known` holds the
/// existing notes.
pub(crate) fn request(transcripts: &[Transcript], index: &[String], known: &str) -> JsonRequest {
    let mut question = fenced("known", &cut(known, SHOWN_KNOWN));
    question += &fenced("index", &index.join("\n"));
    for transcript in transcripts {
        question += &fenced("session", &transcript.text);
    }
    question += "What of this is worth noting?";
    JsonRequest {
        request: ModelRequest {
            entries: vec![HistoryEntry::detached(Content::user(vec![Part::text(question)]))],
            system: Some(INSTRUCTION.into()),
            prompt_id: PROMPT_ID.to_owned(),
            role: ModelRole::UtilitySummarizer,
            ..ModelRequest::default()
        },
        schema: schema(),
        max_attempts: ATTEMPTS,
    }
}

/// Returns a block whose content cannot contain its end tag.
fn fenced(tag: &str, text: &str) -> String {
    format!("<{tag}>\n{}\n</{tag}>\n\n", text.replace("</", "&lt;/"))
}

fn schema() -> Value {
    let facts = json!({"type": "array", "items": {"type": "string"}});
    json!({
        "type": "object",
        "properties": {
            "private_facts": facts,
            "global_facts": facts,
            "skills": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "description": "Lower-case letters, digits and hyphens."},
                        "description": {"type": "string", "description": "When it applies, in a sentence."},
                        "body": {"type": "string", "description": "The instructions, in Markdown."}
                    },
                    "required": ["name", "description", "body"]
                }
            }
        },
        "required": ["private_facts", "global_facts", "skills"]
    })
}

/// Returns the valid proposals of an answer, up to the limits. Invalid parts are ignored, so
/// reading cannot fail.
pub(crate) fn read(answer: &Value) -> Proposals {
    let list = |key: &str| answer.get(key).and_then(Value::as_array).into_iter().flatten();
    let facts = |key: &str| -> Vec<String> {
        list(key).filter_map(|fact| line(fact.as_str()?)).take(FACTS).collect()
    };
    let mut skills: Vec<ProposedSkill> = Vec::new();
    for skill in list("skills").filter_map(skill) {
        if skills.len() < SKILLS && skills.iter().all(|other| other.name != skill.name) {
            skills.push(skill);
        }
    }
    Proposals { skills, private: facts("private_facts"), global: facts("global_facts") }
}

fn skill(value: &Value) -> Option<ProposedSkill> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let name = text("name").filter(|name| is_skill_name(name))?.to_owned();
    let description = line(text("description")?)?;
    let body = harmless(text("body")?).trim().to_owned();
    let fits = !body.is_empty() && body.len() <= SKILL_LENGTH;
    fits.then_some(ProposedSkill { name, description, body })
}

/// True for a name that can be the name of a skill's folder.
pub(crate) fn is_skill_name(name: &str) -> bool {
    let is_plain =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    !name.is_empty()
        && name.len() <= SKILL_NAME
        && name.chars().all(is_plain)
        && !name.starts_with('-')
        && !TAKEN.contains(&name)
}

/// Returns the text as one line. `None` if the line is empty or too long.
fn line(text: &str) -> Option<String> {
    let line = one_line(text);
    (!line.is_empty() && line.chars().count() <= FACT_LENGTH).then_some(line)
}
