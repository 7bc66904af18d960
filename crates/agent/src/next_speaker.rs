//! Detection of answers in which the model only pauses. Clear cases are decided by rules. In other
//! cases another model decides who speaks next.

use std::sync::Arc;

use pollux_protocol::{
    Content, FinishReason, HistoryEntry, JsonRequest, ModelRequest, ModelRole, Part, Role,
    SideModels, Speaker,
};
use serde_json::{Value, json};

use crate::prompt_run::PromptRun;

/// Methods of the detection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NextSpeakerOptions {
    /// True if a model decides (`model.skipNextSpeakerCheck` is off).
    pub asks_model: bool,
    /// True if clear cases are decided by rules, without a model (`pollux.continueUnfinished`).
    pub plain_cases: bool,
}

/// Model configuration for the decision.
const JUDGE: &str = "next-speaker-checker";

/// Maximum number of attempts when the model returns no usable JSON.
const ATTEMPTS: u32 = 5;

const QUESTION: &str = include_str!("../prompts/next_speaker.md");

/// Characters that may follow the last word without a meaning.
const CLOSING: [char; 9] = ['*', '_', '`', '"', '\'', '”', '’', '»', ')'];
const QUESTION_MARKS: [char; 3] = ['?', '？', '؟'];
/// Characters that do not end a sentence or a list.
const OPEN_ENDS: [char; 11] = [',', ';', ':', '(', '[', '{', '，', '、', '：', '；', '（'];
/// Words that do not end a sentence.
const OPEN_WORDS: [&str; 14] = [
    "a", "an", "and", "are", "because", "but", "by", "from", "into", "of", "or", "than", "the",
    "with",
];
/// Phrases that announce an immediate step.
const ANNOUNCEMENTS: [&str; 18] = [
    "first, i will",
    "first, i'll",
    "i am going to",
    "i will begin",
    "i will now",
    "i will start",
    "i'll begin",
    "i'll now",
    "i'll start",
    "i'm going to",
    "let me",
    "let's",
    "next, i will",
    "next, i'll",
    "next, let me",
    "now i will",
    "now i'll",
    "now let me",
];
/// Phrases that make an announcement depend on the user.
const CONDITIONS: [&str; 7] =
    [" if ", " once ", " unless ", " until ", " when ", " you ", "let me know"];

impl NextSpeakerOptions {
    /// True if any method is on.
    pub(crate) fn is_on(self) -> bool {
        self.asks_model || self.plain_cases
    }
}

/// Returns the speaker after the last answer to a prompt, if it is known.
pub(crate) async fn next_speaker(
    options: NextSpeakerOptions,
    entries: &[Arc<HistoryEntry>],
    side_models: &dyn SideModels,
    run: &PromptRun<'_>,
) -> Option<Speaker> {
    match standing(entries) {
        Standing::Model => return Some(Speaker::Model),
        Standing::Unknown => return None,
        Standing::Words => {}
    }
    if options.plain_cases {
        let plain = plain_case(&run.last_answer(), run.finish.as_ref());
        if plain.is_some() || !options.asks_model {
            return plain;
        }
    }
    let asked = async {
        let choice = side_models.select(JUDGE).await.ok()?;
        let request = request(entries, run.id);
        let (answer, _) = choice.model.generate_json(request, run.cancel.clone()).await.ok()?;
        read(&answer)
    };
    run.cancel.run_until_cancelled(asked).await.flatten()
}

/// Result of the conversation's structure alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// The model speaks next, because it has not answered a result.
    Model,
    /// The next speaker is unknown.
    Unknown,
    /// The last message is text of the model, which must be judged.
    Words,
}

/// Returns the result of the conversation's structure.
fn standing(entries: &[Arc<HistoryEntry>]) -> Standing {
    let Some(last) = entries.last().map(|last| last.content()) else { return Standing::Unknown };
    match last.role {
        _ if last.responses().next().is_some() => Standing::Model,
        Role::Model if last.parts.is_empty() => Standing::Model,
        Role::Model => Standing::Words,
        Role::User => Standing::Unknown,
    }
}

/// Returns the speaker after this text in clear cases: a question to the user, an incomplete text,
/// or the announcement of a step. `None` leaves the decision open.
fn plain_case(words: &str, finish: Option<&FinishReason>) -> Option<Speaker> {
    if finish == Some(&FinishReason::MaxTokens) {
        return Some(Speaker::Model);
    }
    let lines: Vec<&str> = words.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = bare(lines.last()?);
    if lines.iter().filter(|line| line.starts_with("```")).count() % 2 == 1 {
        return Some(Speaker::Model);
    }
    if asks(&lines) {
        return Some(Speaker::User);
    }
    let sentence = last_sentence(last).to_lowercase().replace('’', "'");
    if sentence.contains("let me know") {
        return Some(Speaker::User);
    }
    let is_open = last.ends_with(OPEN_ENDS) || ends_with_open_word(&sentence);
    (is_open || announces(&sentence)).then_some(Speaker::Model)
}

/// Returns a line without closing marks at its end.
fn bare(line: &str) -> &str {
    line.trim_end_matches(CLOSING)
}

/// True if the last line, or the line before a final list of choices, is a question.
fn asks(lines: &[&str]) -> bool {
    let is_question = |line: &str| bare(line).ends_with(QUESTION_MARKS);
    let before_choices = lines.iter().rev().find(|line| !is_item(line));
    lines.last().is_some_and(|last| is_question(last))
        || before_choices.is_some_and(|line| is_question(line))
}

/// True for an item of a list.
fn is_item(line: &str) -> bool {
    let counted = line.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric());
    let is_counted = line.len() - counted.len() <= 3
        && counted.len() < line.len()
        && (counted.starts_with(". ") || counted.starts_with(") "));
    is_counted || ["- ", "* ", "+ ", "• "].iter().any(|mark| line.starts_with(mark))
}

fn last_sentence(line: &str) -> &str {
    let body = line.trim_end_matches(['.', '!', '…']);
    let start = [". ", "! ", "? "].iter().filter_map(|end| body.rfind(end)).max();
    line[start.map_or(0, |start| start + 2)..].trim_start()
}

fn ends_with_open_word(sentence: &str) -> bool {
    let last = sentence.rsplit(' ').next().unwrap_or_default();
    sentence.split(' ').count() >= 3 && OPEN_WORDS.contains(&last)
}

fn announces(sentence: &str) -> bool {
    let begins = |opening: &str| {
        sentence.strip_prefix(opening).is_some_and(|rest| rest.starts_with([' ', ',']))
    };
    let padded = format!("{sentence} ");
    ANNOUNCEMENTS.iter().any(|opening| begins(opening))
        && !CONDITIONS.iter().any(|condition| padded.contains(condition))
}

/// Returns the request about the end of this conversation.
fn request(entries: &[Arc<HistoryEntry>], prompt_id: &str) -> JsonRequest {
    let question = HistoryEntry::detached(Content::user(vec![Part::text(QUESTION.trim_end())]));
    JsonRequest {
        request: ModelRequest {
            entries: entries.iter().cloned().chain([question]).collect(),
            prompt_id: prompt_id.to_owned(),
            role: ModelRole::UtilityNextSpeaker,
            ..ModelRequest::default()
        },
        schema: json!({
            "type": "object",
            "properties": {
                "reasoning": {
                    "type": "string",
                    "description": "The reason for the decision, in one sentence."
                },
                "next_speaker": {
                    "type": "string",
                    "enum": ["user", "model"],
                    "description": "The next speaker."
                }
            },
            "required": ["reasoning", "next_speaker"]
        }),
        max_attempts: ATTEMPTS,
    }
}

/// Reads the answer; `None` if it has another form.
fn read(answer: &Value) -> Option<Speaker> {
    match answer.get("next_speaker")?.as_str()? {
        "model" => Some(Speaker::Model),
        "user" => Some(Speaker::User),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use pollux_protocol::{EntryId, History};
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn plain_cases_are_reported_and_the_rest_is_left_open() {
        let model = Some(Speaker::Model);
        let user = Some(Speaker::User);
        let table = [
            ("Shall I go on?", user),
            ("**Which one do you want?**", user),
            ("どちらにしますか？", user),
            ("Which database?\n\n1. SQLite\n2. PostgreSQL", user),
            ("All tests pass. Let me know if you want more.", user),
            ("Now I'll run the tests.", model),
            ("I found the cause. Let me fix it now.", model),
            ("That is it. Next, I will read `main.rs`...", model),
            ("Now let me look at the parser:", model),
            ("Here is what I will do:", model),
            ("First the file was read, then", None),
            ("The function returns the", model),
            ("It reads the settings, the environment,", model),
            ("```rust\nfn main() {", model),
            ("```rust\nfn main() {}\n```", None),
            ("Done. The file has been written.", None),
            ("The capital of France is Paris", None),
            ("I'll now wait until you have restarted the server.", None),
            ("Let me know when you are ready.", user),
            ("Let me run it if you agree.", None),
            ("I will not change anything else.", None),
            ("Letting go is hard.", None),
            ("Steps:\n- one\n- two", None),
            ("Which one?\na) this\nb) that", user),
            ("Which one?\n* this\n+ that\n• both", user),
            ("Which one?\n100. this", user),
            ("Which one?\n1000. this", None),
            ("Which one?\n1: this", None),
            ("Which one?\n) this", None),
            ("Which one?\nThis one.", None),
            ("- this\n- or that?", user),
            ("```\na\n```\n```\nb", model),
            ("the", None),
            ("into the", None),
            ("goes into the", model),
            ("Is it right? Let me check that.", model),
            ("It works! Now I'll commit", model),
            ("First. Second! Third? I'm going to stop.", model),
            ("Let me, for now, read it.", model),
            ("Let me check once more when", None),
            ("I’ll now run it.", model),
            ("A list (", model),
            ("(A list)", None),
            ("Everything is done!", None),
            ("", None),
            (" \n ", None),
        ];
        for (words, expected) in table {
            assert_eq!(plain_case(words, Some(&FinishReason::Stop)), expected, "{words:?}");
        }
        assert_eq!(plain_case("Done.", Some(&FinishReason::MaxTokens)), model);
    }

    #[test]
    fn a_conversation_settles_it_unless_the_model_spoke_last() {
        let id = |text: &str| EntryId::new(text);
        let mut history = History::new();
        assert_eq!(standing(history.entries()), Standing::Unknown);
        history.push_user(id("1"), vec![Part::text("hi")]);
        assert_eq!(standing(history.entries()), Standing::Unknown);
        history.push_model(id("2"), vec![Part::call("c", "glob", json!({}))]);
        assert_eq!(standing(history.entries()), Standing::Words);
        history.push_responses(id("3"), vec![Part::output("c", "glob", "a")]);
        assert_eq!(standing(history.entries()), Standing::Model);
        let empty = HistoryEntry::detached(Content { role: Role::Model, parts: Vec::new() });
        assert_eq!(standing(&[empty]), Standing::Model);
    }

    #[test]
    fn one_method_is_enough() {
        for (asks_model, plain_cases) in [(false, false), (true, false), (false, true)] {
            let options = NextSpeakerOptions { asks_model, plain_cases };
            assert_eq!(options.is_on(), asks_model || plain_cases, "{options:?}");
        }
    }

    #[test]
    fn only_what_the_schema_allows_is_an_answer() {
        let table = [
            (json!({"reasoning": "r", "next_speaker": "model"}), Some(Speaker::Model)),
            (json!({"next_speaker": "user"}), Some(Speaker::User)),
            (json!({"next_speaker": "nobody"}), None),
            (json!({"next_speaker": 1}), None),
            (json!([]), None),
        ];
        for (answer, expected) in table {
            assert_eq!(read(&answer), expected, "{answer}");
        }
    }
}
