//! What a request says before the conversation: the system instruction and the tools on offer.

use std::sync::Arc;

use pollux_policy::{Policy, Subject};
use pollux_protocol::{ApprovalMode, Choice, Declaration, History};

use crate::prompt::{PromptInputs, system_prompt};
use crate::toolset::Toolset;

/// Characters of a topic; the rest says nothing more.
const LONGEST_TOPIC: usize = 200;

/// The instruction as it was last made. It is made anew when mode, model or tools change, and with a new prompt when the topic
/// has; else it is the very same bytes, which is what vendors' caches go by.
#[derive(Default)]
pub(crate) struct Instruction {
    topic: Option<String>,
    made: Option<Made>,
}

struct Made {
    /// Of the toolset.
    version: u64,
    mode: ApprovalMode,
    model: String,
    topic: Option<String>,
    system: Arc<str>,
    tools: Arc<[Declaration]>,
}

impl Instruction {
    /// The instruction of a conversation that goes on: its topic is the last one that the model named.
    pub(crate) fn of(history: &History) -> Self {
        let parts =
            history.entries().iter().rev().flat_map(|entry| entry.content().parts.iter().rev());
        let mut titles = parts.filter_map(|part| {
            let call = part.as_call().filter(|call| call.name == "update_topic")?;
            clean(call.args.get("title")?.as_str()?)
        });
        Self { topic: titles.next(), made: None }
    }

    /// The work is about this from now on: the next prompt is told so. A title without words changes nothing.
    pub(crate) fn set_topic(&mut self, title: &str) {
        self.topic = clean(title).or(self.topic.take());
    }

    /// A prompt begins: what names another topic than the present one is out of date.
    pub(crate) fn begin_prompt(&mut self) {
        self.made.take_if(|made| made.topic != self.topic);
    }

    /// System instruction and declarations for this mode and this model.
    pub(crate) fn make(
        &mut self,
        inputs: &PromptInputs,
        toolset: &Toolset,
        policy: &Policy,
        mode: ApprovalMode,
        choice: &Choice,
    ) -> (Arc<str>, Arc<[Declaration]>) {
        if let Some(made) = &self.made
            && made.mode == mode
            && made.model == choice.name
            && made.version == toolset.version()
        {
            return (Arc::clone(&made.system), Arc::clone(&made.tools));
        }
        let mut offered = toolset.clone();
        offered.retain(|tool| {
            tool.is_offered_to(&choice.name, choice.limits)
                && policy.declares(Subject::of(tool), mode)
        });
        let tools = offered.declarations();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let system = system_prompt(inputs, mode, choice.family, &names);
        let system: Arc<str> = match &self.topic {
            // Who has switched topics off since then is not to be told of one.
            Some(topic) if names.contains(&"update_topic") => {
                format!("{system}\n\n[Active Topic: {topic}]").into()
            }
            _ => system.into(),
        };
        let (model, again) = (choice.name.clone(), (Arc::clone(&system), Arc::clone(&tools)));
        let (version, topic) = (toolset.version(), self.topic.clone());
        self.made = Some(Made { version, mode, model, topic, system, tools });
        again
    }
}

/// A title as one line of bounded length; none when there is nothing to it. It stands among instructions, so a model
/// that was talked into a long or many-lined one gains nothing by it.
fn clean(title: &str) -> Option<String> {
    let words = title.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let line: String = words.join(" ").chars().take(LONGEST_TOPIC).collect();
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use pollux_protocol::{EntryId, Part};
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_topic_is_one_bounded_line() {
        assert_eq!(clean(" Mend\n\n the\u{1b} parser\t"), Some("Mend the parser".to_owned()));
        assert_eq!(clean(" \n\u{0}"), None);
        assert_eq!(clean(&"é".repeat(5000)), Some("é".repeat(LONGEST_TOPIC)));
    }

    #[test]
    fn the_last_topic_with_words_is_the_one_that_counts() {
        let mut instruction = Instruction::default();
        for (title, topic) in [("One", "One"), ("  ", "One"), ("Two", "Two")] {
            instruction.set_topic(title);
            assert_eq!(instruction.topic.as_deref(), Some(topic));
        }
    }

    #[test]
    fn a_conversation_that_goes_on_keeps_its_topic() {
        let mut history = History::new();
        let call = |id: &str, args| Part::call(id, "update_topic", args);
        for (id, args) in [
            ("a", json!({"title": "First", "strategic_intent": "i"})),
            ("b", json!({"title": "Second", "strategic_intent": "i"})),
            ("c", json!({"strategic_intent": "i"})),
        ] {
            history.push_user(EntryId::new(format!("u{id}")), vec![Part::text("go")]);
            history.push_model(EntryId::new(format!("m{id}")), vec![call(id, args)]);
        }
        assert_eq!(Instruction::of(&history).topic.as_deref(), Some("Second"));
        assert_eq!(Instruction::of(&History::new()).topic, None);
    }
}
