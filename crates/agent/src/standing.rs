//! Where a conversation stands, as it tells itself: what it is about, the plan that is carried out, the list of what is to
//! be done. A conversation that goes on has no other memory of that.

use std::sync::Arc;

use pollux_protocol::{Entry, FunctionCall, FunctionResponse, History, Part};
use serde_json::Value;

/// Characters of a topic; the rest says nothing more.
const LONGEST_TOPIC: usize = 200;

/// The tool that puts a plan before the user.
pub(crate) const PLAN_TOOL: &str = "exit_plan_mode";
/// How its answer begins when the plan was refused with words about it: that is no failure of the call.
const REFUSED: &str = "Plan rejected";

/// What is known of a conversation from its calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// What the work is about.
    pub topic: Option<String>,
    /// The file of the plan that the user has approved, as the model named it.
    pub plan: Option<String>,
    /// What is to be done: status and description.
    pub todos: Vec<(String, String)>,
}

impl Standing {
    /// Looks through a conversation, from its end.
    pub fn of(history: &History) -> Self {
        // What is out of sight of the model holds all the same.
        let entries = history.whole();
        let calls = || calls(&entries);
        let topic = calls()
            .filter(|(call, _)| call.name == "update_topic")
            .find_map(|(call, _)| clean(call.args.get("title")?.as_str()?));
        let plan = calls()
            .filter(|(call, answer)| call.name == PLAN_TOOL && answer.is_some_and(is_approval))
            .find_map(|(call, _)| plan_of(&call.args));
        let done = |answer: &FunctionResponse| answer.response.get("error").is_none();
        let list =
            calls().find(|(call, answer)| call.name == "write_todos" && answer.is_some_and(done));
        let todos = list.map(|(call, _)| todos(&call.args)).unwrap_or_default();
        Self { topic, plan, todos }
    }
}

/// The calls of a conversation with their answers, the last first.
fn calls(
    entries: &[Arc<Entry>],
) -> impl Iterator<Item = (&FunctionCall, Option<&FunctionResponse>)> {
    entries.iter().enumerate().rev().flat_map(move |(place, entry)| {
        let answers = entries.get(place + 1);
        entry.content().parts.iter().rev().filter_map(Part::as_call).map(move |call| {
            let mut responses =
                answers.into_iter().flat_map(|answers| answers.content().responses());
            (call, responses.find(|answer| answer.id == call.id))
        })
    })
}

fn is_approval(answer: &FunctionResponse) -> bool {
    let output = answer.response.get("output").and_then(Value::as_str);
    answer.response.get("error").is_none()
        && !output.is_some_and(|output| output.starts_with(REFUSED))
}

/// The plan that a call of [`PLAN_TOOL`] names.
pub(crate) fn plan_of(args: &Value) -> Option<String> {
    let name = args.get("plan_filename")?.as_str()?.trim();
    (!name.is_empty() && !name.contains(char::is_control)).then(|| name.to_owned())
}

fn todos(args: &Value) -> Vec<(String, String)> {
    let list = args.get("todos").and_then(Value::as_array).into_iter().flatten();
    let todo = |todo: &Value| {
        let text = |key: &str| todo.get(key).and_then(Value::as_str).and_then(clean);
        Some((text("status")?, text("description")?))
    };
    list.filter_map(todo).collect()
}

/// A title as one line of bounded length; none when there is nothing to it. It stands among instructions, so a model
/// that was talked into a long or many-lined one gains nothing by it.
pub(crate) fn clean(title: &str) -> Option<String> {
    let words = title.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let line: String = words.join(" ").chars().take(LONGEST_TOPIC).collect();
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use pollux_protocol::EntryId;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    /// A prompt, a call and its answer.
    fn step(history: &mut History, id: &str, name: &str, args: Value, answer: Part) {
        history.push_user(EntryId::new(format!("u{id}")), vec![Part::text("go")]);
        history.push_model(EntryId::new(format!("m{id}")), vec![Part::call(id, name, args)]);
        history.push_responses(EntryId::new(format!("r{id}")), vec![answer]);
    }

    #[test]
    fn a_topic_is_one_bounded_line() {
        assert_eq!(clean(" Mend\n\n the\u{1b} parser\t"), Some("Mend the parser".to_owned()));
        assert_eq!(clean(" \n\u{0}"), None);
        assert_eq!(clean(&"é".repeat(5000)), Some("é".repeat(LONGEST_TOPIC)));
    }

    #[test]
    fn the_last_topic_counts() {
        let mut history = History::new();
        assert_eq!(Standing::of(&history), Standing::default());
        for (id, args) in [
            ("a", json!({"title": "First", "strategic_intent": "i"})),
            ("b", json!({"title": "Second", "strategic_intent": "i"})),
            ("c", json!({"strategic_intent": "i"})),
        ] {
            step(&mut history, id, "update_topic", args, Part::output(id, "update_topic", "x"));
        }
        assert_eq!(Standing::of(&history).topic.as_deref(), Some("Second"));
    }

    #[test]
    fn the_last_plan_counts_that_was_approved() {
        let mut history = History::new();
        let refused = "Plan rejected. User feedback: smaller\n\nThe plan is in /p/four.md.";
        for (id, name, answer) in [
            ("a", "one.md", Part::output("a", PLAN_TOOL, "Plan approved. It is in /p/one.md.")),
            ("b", "two.md", Part::output("b", PLAN_TOOL, "Plan approved. It is in /p/two.md.")),
            ("c", "three.md", Part::error("c", PLAN_TOOL, "no")),
            ("d", "four.md", Part::output("d", PLAN_TOOL, refused)),
        ] {
            step(&mut history, id, PLAN_TOOL, json!({"plan_filename": name}), answer);
        }
        assert_eq!(Standing::of(&history).plan.as_deref(), Some("two.md"));
        assert_eq!(plan_of(&json!({"plan_filename": "a\n# Rules"})), None);
    }

    #[test]
    fn the_last_list_counts_that_was_taken() {
        let mut history = History::new();
        let list = |description: &str| json!({"todos": [{"description": description, "status": "pending"}, 7]});
        let answered = Part::output("a", "write_todos", "ok");
        step(&mut history, "a", "write_todos", list("read\non"), answered);
        let refused = Part::error("b", "write_todos", "Invalid parameters");
        step(&mut history, "b", "write_todos", list("other"), refused);
        let todos = [("pending".to_owned(), "read on".to_owned())];
        assert_eq!(Standing::of(&history).todos, todos);
        let cleared = Part::output("c", "write_todos", "cleared");
        step(&mut history, "c", "write_todos", json!({"todos": []}), cleared);
        assert_eq!(Standing::of(&history).todos, []);
    }
}
