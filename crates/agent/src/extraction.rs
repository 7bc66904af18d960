//! What finished conversations leave behind: the question to a model, and what of its answer is taken.
//!
//! Pure. What was said in those conversations is hostile input, and the answer with it: the model has no tools, and what it
//! proposes is data of bounded size and form. Where proposals go, and that nothing takes effect before a person agrees, is
//! the program's business.

use pollux_protocol::{Body, Content, Entry, JsonRequest, ModelRole, Part, Request, Role, Speaker};
use serde_json::{Value, json};

use crate::context::CONTEXT_ENTRY_ID;

#[cfg(test)]
mod tests;

const INSTRUCTION: &str = include_str!("../prompts/extraction.md");
/// The prompt's name in figures.
const PROMPT_ID: &str = "auto-memory";
/// How often an answer that is none is asked for again.
const ATTEMPTS: u32 = 2;

/// Characters of one conversation that are shown.
const SHOWN: usize = 40_000;
/// Characters of one thing that somebody said, of a call, and of a result.
const SHOWN_WORDS: usize = 2000;
const SHOWN_CALL: usize = 200;
const SHOWN_RESULT: usize = 300;
/// Characters of what is known already.
const SHOWN_KNOWN: usize = 40_000;

/// What is taken of an answer at most.
const SKILLS: usize = 3;
const FACTS: usize = 10;
const FACT_LENGTH: usize = 300;
const SKILL_NAME: usize = 50;
const SKILL_LENGTH: usize = 20_000;
/// Names that mean something else where proposals are looked at.
const TAKEN: [&str; 4] = ["private", "global", "project", "all"];

/// A conversation that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// Its session.
    pub id: String,
    /// What was said.
    pub text: String,
}

/// What is proposed to the person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proposals {
    /// Skills for this project.
    pub skills: Vec<ProposedSkill>,
    /// Sentences for the person's notes on this project.
    pub private: Vec<String>,
    /// Sentences for the person's file for all projects.
    pub global: Vec<String>,
}

/// A skill that is proposed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedSkill {
    /// Letters, digits and hyphens: safe as the name of a folder.
    pub name: String,
    /// When it applies, on one line.
    pub description: String,
    /// The instructions.
    pub body: String,
}

impl ProposedSkill {
    /// The text of its `SKILL.md`.
    pub fn to_markdown(&self) -> String {
        // A string of JSON is one of YAML, whatever is in it.
        let description = Value::from(self.description.as_str());
        format!("---\nname: {}\ndescription: {description}\n---\n\n{}\n", self.name, self.body)
    }
}

/// How many times the person said something in a conversation.
pub fn messages<'a>(contents: impl IntoIterator<Item = (&'a str, &'a Content)>) -> usize {
    contents.into_iter().filter(|(id, content)| is_prompt(id, content)).count()
}

fn is_prompt(id: &str, content: &Content) -> bool {
    content.role == Role::User
        && id != CONTEXT_ENTRY_ID
        && content.responses().next().is_none()
        && content.parts.iter().any(|part| part.as_text().is_some())
}

/// A conversation in words, cut in the middle where it is long.
pub fn transcript<'a>(
    id: &str,
    contents: impl IntoIterator<Item = (&'a str, &'a Content)>,
) -> Transcript {
    let mut text = String::new();
    for (entry, content) in contents {
        if entry == CONTEXT_ENTRY_ID {
            continue;
        }
        let speaker = match content.role {
            Role::User => Speaker::User,
            Role::Model => Speaker::Model,
        };
        for line in content.parts.iter().filter_map(|part| told(speaker, part)) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    Transcript { id: id.to_owned(), text: cut(&text, SHOWN) }
}

fn told(speaker: Speaker, part: &Part) -> Option<String> {
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

/// Head and tail of what is longer than so many characters.
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

/// The question. `index` names all sessions that there are, `known` is what was noted before.
pub fn request(transcripts: &[Transcript], index: &[String], known: &str) -> JsonRequest {
    let mut question = fenced("known", &cut(known, SHOWN_KNOWN));
    question += &fenced("index", &index.join("\n"));
    for transcript in transcripts {
        question += &fenced("session", &transcript.text);
    }
    question += "What of this is worth noting?";
    JsonRequest {
        request: Request {
            entries: vec![Entry::detached(Content::user(vec![Part::text(question)]))],
            system: Some(INSTRUCTION.into()),
            prompt_id: PROMPT_ID.to_owned(),
            role: ModelRole::UtilitySummarizer,
            ..Request::default()
        },
        schema: schema(),
        max_attempts: ATTEMPTS,
    }
}

/// A block that its content cannot close.
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

/// What of an answer is taken: what has the form and is not too much. Nothing in it can be wrong enough to fail.
pub fn read(answer: &Value) -> Proposals {
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
    let is_kept = |letter: &char| !letter.is_control() || matches!(letter, '\n' | '\t');
    let body: String = text("body")?.chars().filter(is_kept).collect();
    let body = body.trim().to_owned();
    let fits = !body.is_empty() && body.len() <= SKILL_LENGTH;
    fits.then_some(ProposedSkill { name, description, body })
}

/// True for a name that can be the name of a skill's folder.
pub fn is_skill_name(name: &str) -> bool {
    let is_plain =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    !name.is_empty()
        && name.len() <= SKILL_NAME
        && name.chars().all(is_plain)
        && !name.starts_with('-')
        && !TAKEN.contains(&name)
}

/// Words as one line of bounded length; none without any.
fn line(words: &str) -> Option<String> {
    let words = words.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let line = words.join(" ");
    (!line.is_empty() && line.chars().count() <= FACT_LENGTH).then_some(line)
}
