//! Questions to a model about the tier that a prompt needs. Pure.

use std::sync::Arc;

use pollux_protocol::{
    Classifier, Content, HistoryEntry, JsonRequest, ModelRequest, ModelRole, ModelTier, Part,
};
use serde_json::{Value, json};

/// Score from which a prompt needs the strongest model.
const THRESHOLD: u64 = 90;
/// Number of the latest entries that a classifier with a score sees.
const SCORED: usize = 8;
/// Number of the latest entries that are searched, and of those that are shown, to a classifier
/// that names the tier.
const SEARCHED: usize = 20;
const SHOWN: usize = 4;

const SCORE: &str = include_str!("../../prompts/router_score.md");
const CHOICE: &str = include_str!("../../prompts/router_choice.md");
const QUESTION: &str = include_str!("../../prompts/router_question.md");

/// Returns the request about the prompt at the end of these entries.
pub(super) fn request(method: Classifier, entries: &[Arc<HistoryEntry>]) -> JsonRequest {
    let (system, schema) = match method {
        Classifier::Score => (SCORE, score_schema()),
        Classifier::Choice => (CHOICE, choice_schema()),
    };
    let question = HistoryEntry::detached(Content::user(vec![Part::text(QUESTION.trim_end())]));
    JsonRequest {
        request: ModelRequest {
            entries: shown(method, entries).into_iter().chain([question]).collect(),
            system: Some(system.into()),
            role: ModelRole::UtilityRouter,
            // The prompt waits.
            max_attempts: Some(1),
            ..ModelRequest::default()
        },
        schema,
        max_attempts: 1,
    }
}

/// Returns the entries that the classifier sees.
fn shown(method: Classifier, entries: &[Arc<HistoryEntry>]) -> Vec<Arc<HistoryEntry>> {
    match method {
        Classifier::Score => {
            let last = &entries[entries.len().saturating_sub(SCORED)..];
            last.iter().skip_while(|entry| is_of_tools(entry)).cloned().collect()
        }
        Classifier::Choice => {
            let last = &entries[entries.len().saturating_sub(SEARCHED)..];
            let said: Vec<_> = last.iter().filter(|entry| !is_of_tools(entry)).collect();
            said[said.len().saturating_sub(SHOWN)..].iter().map(|entry| Arc::clone(entry)).collect()
        }
    }
}

/// True for an entry with calls or their results.
fn is_of_tools(entry: &HistoryEntry) -> bool {
    let content = entry.content();
    content.responses().next().is_some()
        || content.parts.iter().any(|part| part.as_call().is_some())
}

fn score_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "complexity_reasoning": {
                "type": "string",
                "description": "The reason for the score, in one sentence."
            },
            "complexity_score": {
                "type": "integer",
                "description": "The complexity, from 1 (trivial) to 100 (strategic)."
            }
        },
        "required": ["complexity_reasoning", "complexity_score"]
    })
}

fn choice_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "reasoning": {
                "type": "string",
                "description": "The reason for the choice, in one sentence."
            },
            "model_choice": {
                "type": "string",
                "enum": ["flash", "pro"],
                "description": "The model that should answer."
            }
        },
        "required": ["reasoning", "model_choice"]
    })
}

/// Reads the answer; `None` if it has another form.
pub(super) fn read(method: Classifier, answer: &Value) -> Option<ModelTier> {
    let is_pro = match method {
        Classifier::Score => {
            let score = answer.get("complexity_score")?.as_u64()?;
            (1..=100).contains(&score).then_some(score >= THRESHOLD)?
        }
        Classifier::Choice => match answer.get("model_choice")?.as_str()? {
            "pro" => true,
            "flash" => false,
            _ => return None,
        },
    };
    Some(if is_pro { ModelTier::Pro } else { ModelTier::Flash })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn answers_of_another_form_decide_nothing() {
        use ModelTier::{Flash, Pro};
        for (answer, expected) in [
            (json!({"complexity_score": 90}), Some(Pro)),
            (json!({"complexity_score": 89}), Some(Flash)),
            (json!({"complexity_score": 1}), Some(Flash)),
            (json!({"complexity_score": 0}), None),
            (json!({"complexity_score": 101}), None),
            (json!({"complexity_score": "95"}), None),
            (json!([]), None),
        ] {
            assert_eq!(read(Classifier::Score, &answer), expected, "{answer}");
        }
        for (answer, expected) in [
            (json!({"model_choice": "pro"}), Some(Pro)),
            (json!({"model_choice": "flash"}), Some(Flash)),
            (json!({"model_choice": "ultra"}), None),
            (json!({"complexity_score": 95}), None),
        ] {
            assert_eq!(read(Classifier::Choice, &answer), expected, "{answer}");
        }
    }

    #[test]
    fn calls_and_their_results_are_left_out() {
        let entry = |text: &str| HistoryEntry::detached(Content::user(vec![Part::text(text)]));
        let many: Vec<_> = (0..12).map(|number| entry(&number.to_string())).collect();
        let texts = |method| -> Vec<String> {
            let request = request(method, &many).request;
            let before = request.entries.iter().take(request.entries.len() - 1);
            before.map(|entry| entry.content().text().into_owned()).collect()
        };
        assert_eq!(texts(Classifier::Score), ["4", "5", "6", "7", "8", "9", "10", "11"]);
        assert_eq!(texts(Classifier::Choice), ["8", "9", "10", "11"]);
    }
}
